%% @doc A busy node on the VM that is measured, and a node on a fixed one that looks at it with `diagnose'. Clients call
%% servers there as fast as they can, beside servers that wait and a process with messages that nobody takes.
-module(looked_at_node).
-behaviour(gen_server).

-export([start/2, busy/2, look/1, looker/3, look_at/2]).
%% In the nodes.
-export([populate/2, begin_calls/1, end_calls/1, looked/1]).
-export([init/1, handle_call/3, handle_cast/2]).
-export_type([nodes/0, round/0]).

-opaque nodes() :: #{node := program_node:program(), looker := program_node:program(), name := node(), clients := pos_integer()}.
%% took: nanoseconds for all calls. p99: for one of them, 99 of 100 take less.
-type round() :: #{took := integer(), calls := non_neg_integer(), p99 := integer()}.

-define(LOOK, #{budget => 10_000, nif => false}).

%% @doc Starts both. `Idle' servers wait in the node, and `Waiting' messages; `Clients' will call.
-spec start(program_place:place(), #{clients := pos_integer(), idle := non_neg_integer(), waiting := non_neg_integer(), _ => _}) -> nodes().
start(Place, #{clients := Clients, idle := Idle, waiting := Waiting}) ->
    Own = lists:concat([os:getpid(), "_", erlang:unique_integer([positive])]),
    Name = lists:concat(["looked_at_", Own, "@127.0.0.1"]),
    Both = ["-boot", "no_dot_erlang", "-setcookie", Own, "-start_epmd", "false",
            "-erl_epmd_port", integer_to_list(program_place:free_port())],
    Node = program_node:start(Place, #{emulator => measured, words => Both ++ ["-name", Name]}),
    Looker = looker(Place, [], Both ++ ["-name", "looks_" ++ Name]),
    ok = program_node:call(Node, ?MODULE, populate, [Idle, Waiting]),
    #{node => Node, looker => Looker, name => list_to_atom(Name), clients => Clients}.

%% @doc A node that can look, with these variables of its environment and words of its own.
-spec looker(program_place:place(), [{string(), string()}], [string()]) -> program_node:program().
looker(Place, Environment, Words) ->
    Own = ["-dist_listen", "false", "-pa", filename:dirname(code:which(diagnose))],
    program_node:start(Place, #{emulator => fixed, environment => Environment, words => Words ++ Own}).

%% @doc The clients call a server each, as fast as they can, while a function works.
-spec busy(nodes(), fun(() -> ok)) -> round().
busy(#{node := Node, clients := Clients}, Meanwhile) ->
    Calls = program_node:call(Node, ?MODULE, begin_calls, [Clients]),
    ok = Meanwhile(),
    program_node:call(Node, ?MODULE, end_calls, [Calls]).

%% @doc One look from its beginning to its end, when nothing of it is left there. What was seen is not judged: that is work of
%% the one who looks, a tenth of a second on a core of its own, which may be the other thread of the node's.
-spec look(nodes()) -> ok.
look(#{looker := Looker, name := Name}) -> look_at(Looker, Name).

%% @doc The same at a node of this name.
-spec look_at(program_node:program(), node()) -> ok.
look_at(Looker, Name) -> program_node:call(Looker, ?MODULE, looked, [Name]).

%% @doc In the looker.
-spec looked(node()) -> ok.
looked(Name) ->
    Session = diagnose_session:open(Name, ?LOOK),
    {ok, #{cost := #{ended := finished}, overloaded := false}} = diagnose_session:look(Session),
    diagnose_session:close(Session).

%% @doc In the node: so many servers, and messages that wait.
-spec populate(non_neg_integer(), non_neg_integer()) -> ok.
populate(Idle, Waiting) ->
    _ = [{ok, _} = gen_server:start(?MODULE, [], []) || _ <- lists:seq(1, Idle)],
    Deep = spawn(fun() -> receive never -> ok end end),
    _ = [Deep ! {waits, N} || N <- lists:seq(1, Waiting)],
    ok.

%% @doc In the node: clients begin to call a server of their own each.
-spec begin_calls(pos_integer()) -> pid().
begin_calls(Clients) ->
    program_holder:start(fun() ->
                                 Stop = atomics:new(1, []),
                                 Latencies = program_latency:histogram(),
                                 #{began => erlang:monotonic_time(nanosecond), stop => Stop, latencies => Latencies,
                                   clients => [spawn_monitor(fun() -> client(Stop, Latencies) end) || _ <- lists:seq(1, Clients)]}
                         end).

%% @doc In the node: they end.
-spec end_calls(pid()) -> round().
end_calls(Calls) ->
    Round = program_holder:ask(Calls, fun ended/1),
    true = exit(Calls, kill),
    Round.

ended(#{began := Began, stop := Stop, latencies := Latencies, clients := Clients}) ->
    Took = erlang:monotonic_time(nanosecond) - Began,
    ok = atomics:put(Stop, 1, 1),
    Reasons = [receive {'DOWN', Monitor, process, Pid, Reason} -> Reason end || {Pid, Monitor} <- Clients],
    [normal] = lists:usort(Reasons),
    #{count := Count, p99 := P99} = program_latency:noted(Latencies),
    #{took => Took, calls => Count, p99 => P99}.

client(Stop, Latencies) ->
    {ok, Server} = gen_server:start_link(?MODULE, [], []),
    ok = calls(Server, Stop, Latencies),
    ok = gen_server:stop(Server).

calls(Server, Stop, Latencies) ->
    case atomics:get(Stop, 1) of
        1 -> ok;
        0 ->
            ok = program_latency:note(Latencies, timed(Server)),
            calls(Server, Stop, Latencies)
    end.

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
