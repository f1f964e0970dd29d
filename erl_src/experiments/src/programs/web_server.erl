%% @doc A web server on cowboy from RabbitMQ's package, on the VM that is measured. An answer has 1 KB, a part of which
%% comes from the request.
-module(web_server).

-export([start/1]).
%% Called in the program's VM; cowboy calls init/2.
-export([listen/1, init/2]).

-define(LISTENER, ?MODULE).
-define(LINES, 20).

%% @doc Starts it, and returns the address of a page.
-spec start(program_place:place()) -> #{program := program_node:program(), url := string()}.
start(Place) ->
    Program = program_node:start(Place, #{emulator => measured, environment => [{"ERL_LIBS", rabbitmq_server:plugins()}],
                                          words => ["-boot", "no_dot_erlang"]}),
    Port = program_place:free_port(),
    ok = program_node:call(Program, ?MODULE, listen, [Port]),
    #{program => Program, url => lists:concat(["http://127.0.0.1:", Port, "/greeting/joe"])}.

%% @doc Begins to serve.
-spec listen(inet:port_number()) -> ok.
listen(Port) ->
    {ok, _} = application:ensure_all_started(cowboy),
    Dispatch = program_library:call(cowboy_router, compile, [[{'_', [{"/greeting/:name", ?MODULE, []}]}]]),
    {ok, _} = program_library:call(cowboy, start_clear,
                                   [?LISTENER, [{ip, {127, 0, 0, 1}}, {port, Port}], #{env => #{dispatch => Dispatch}}]),
    ok.

%% @doc An answer.
-spec init(map(), State) -> {ok, map(), State}.
init(Request, State) ->
    Name = program_library:call(cowboy_req, binding, [name, Request]),
    Body = [[<<"line ">>, integer_to_binary(Line), <<": good morning, ">>, Name, <<", how are you today?\n">>]
            || Line <- lists:seq(1, ?LINES)],
    {ok, program_library:call(cowboy_req, reply, [200, #{<<"content-type">> => <<"text/plain">>}, Body, Request]), State}.
