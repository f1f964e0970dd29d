%% Workers connect to a database that is down, and again at once after each refusal.
-module(sick).
-export([start/0, init/1, handle_info/2]).

start() ->
    {ok, Listens} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listens),
    ok = gen_tcp:close(Listens), % nobody listens there now
    _ = [{ok, _} = gen_server:start(?MODULE, Port, []) || _ <- lists:seq(1, 10)],
    timer:sleep(500),
    ok.

init(Port) ->
    self() ! connect,
    {ok, Port}.

handle_info(connect, Port) ->
    {error, _} = connect(Port),
    self() ! connect,
    {noreply, Port}.

connect(Port) ->
    case gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, once}]) of
        {ok, Socket} -> {ok, Socket};
        {error, Reason} -> {error, {no_database, Reason}}
    end.
