%% @doc A busy node on the VM that is measured, and a node on a fixed one that looks at it with `diagnose'. Clients call
%% servers there as fast as they can, beside servers that wait and a process with messages that nobody takes.
-module(looked_at_node).
-behaviour(gen_server).

-export([start/2, calls/3, begin_looking/1, end_looking/1]).
%% In the nodes.
-export([populate/2, called/2, look/1, looks/0]).
-export([init/1, handle_call/3, handle_cast/2]).
-export_type([nodes/0, round/0]).

-opaque nodes() :: #{node := program_node:program(), looker := program_node:program(), name := node()}.
%% took: nanoseconds for all of them. p99: for one of them, 99 of 100 take less.
-type round() :: #{took := integer(), calls := non_neg_integer(), p99 := integer()}.

-define(LOOKER, ?MODULE).
-define(BETWEEN_MS, 10).
-define(TRIES, 1000).

%% @doc Starts both. `Idle' servers wait in the node, and `Waiting' messages.
-spec start(program_place:place(), #{idle := non_neg_integer(), waiting := non_neg_integer()}) -> nodes().
start(Place, #{idle := Idle, waiting := Waiting}) ->
    Own = lists:concat([os:getpid(), "_", erlang:unique_integer([positive])]),
    Name = lists:concat(["looked_at_", Own, "@127.0.0.1"]),
    Both = ["-boot", "no_dot_erlang", "-setcookie", Own, "-start_epmd", "false",
            "-erl_epmd_port", integer_to_list(program_place:free_port())],
    Node = program_node:start(Place, #{emulator => measured, words => Both ++ ["-name", Name]}),
    Looker = program_node:start(Place, #{emulator => fixed, words => Both ++ ["-name", "looks_" ++ Name, "-dist_listen", "false" | paths()]}),
    ok = program_node:call(Node, ?MODULE, populate, [Idle, Waiting]),
    #{node => Node, looker => Looker, name => list_to_atom(Name)}.

paths() -> lists:append([["-pa", filename:dirname(code:which(Module))] || Module <- [diagnose, mailbox_audit]]).

%% @doc Calls by so many clients, so many by each.
-spec calls(nodes(), Clients :: pos_integer(), Each :: pos_integer()) -> round().
calls(#{node := Node}, Clients, Each) -> program_node:call(Node, ?MODULE, called, [Clients, Each]).

%% @doc Looks from now on, one whole look after the other. Returns when the first one is going on.
-spec begin_looking(nodes()) -> ok.
begin_looking(#{looker := Looker, node := Node, name := Name}) ->
    _ = program_node:call(Looker, erlang, spawn, [?MODULE, look, [Name]]),
    going_on(Node, ?TRIES).

%% Who looks has a table there.
going_on(_, 0) -> error({cannot_run, "no look at the node begins"});
going_on(Node, Tries) ->
    case program_node:call(Node, ets, whereis, [diagnose_probe]) of
        undefined -> timer:sleep(?BETWEEN_MS), going_on(Node, Tries - 1);
        _ -> ok
    end.

%% @doc Has it end after the look that is going on, and returns how many there were.
-spec end_looking(nodes()) -> Looks :: pos_integer().
end_looking(#{looker := Looker}) -> program_node:call(Looker, ?MODULE, looks, []).

%% @doc In the looker: looks until somebody asks how often.
-spec look(node()) -> ok.
look(Name) ->
    true = register(?LOOKER, self()),
    looked(Name, 0).

looked(Name, Looks) ->
    {ok, _} = diagnose:node(#{node => Name}),
    receive {looks, Alias} -> Alias ! {Alias, Looks + 1}, ok
    after 0 -> looked(Name, Looks + 1)
    end.

%% @doc In the looker: has it end.
-spec looks() -> pos_integer().
looks() ->
    Alias = monitor(process, ?LOOKER, [{alias, reply_demonitor}]),
    ?LOOKER ! {looks, Alias},
    receive
        {Alias, Looks} -> Looks;
        {'DOWN', Alias, process, _, Reason} -> error(Reason)
    end.

%% @doc In the node: so many servers, and messages that wait.
-spec populate(non_neg_integer(), non_neg_integer()) -> ok.
populate(Idle, Waiting) ->
    _ = [{ok, _} = gen_server:start(?MODULE, [], []) || _ <- lists:seq(1, Idle)],
    Deep = spawn(fun() -> receive never -> ok end end),
    _ = [Deep ! {waits, N} || N <- lists:seq(1, Waiting)],
    ok.

%% @doc In the node: clients call a server of their own.
-spec called(pos_integer(), pos_integer()) -> round().
called(Clients, Each) ->
    Began = erlang:monotonic_time(nanosecond),
    Caller = self(),
    Running = [spawn_link(fun() -> Caller ! {self(), client(Each)} end) || _ <- lists:seq(1, Clients)],
    Times = [receive {Client, Own} -> Own end || Client <- Running],
    Took = erlang:monotonic_time(nanosecond) - Began,
    All = lists:append(Times),
    #{took => Took, calls => length(All), p99 => program_latency:p99(All)}.

client(Each) ->
    {ok, Server} = gen_server:start_link(?MODULE, [], []),
    Times = [timed(Server) || _ <- lists:seq(1, Each)],
    ok = gen_server:stop(Server),
    Times.

timed(Server) ->
    Began = erlang:monotonic_time(nanosecond),
    echo = gen_server:call(Server, echo),
    erlang:monotonic_time(nanosecond) - Began.

-spec init([]) -> {ok, []}.
init([]) -> {ok, []}.

-spec handle_call(echo, gen_server:from(), []) -> {reply, echo, []}.
handle_call(echo, _, State) -> {reply, echo, State}.

-spec handle_cast(term(), []) -> {noreply, []}.
handle_cast(_, State) -> {noreply, State}.
