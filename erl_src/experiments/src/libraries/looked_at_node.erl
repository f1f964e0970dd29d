%% @doc A busy node on the VM that is measured, and a node on a fixed VM that inspects it with `diagnose'. In the busy node,
%% clients call servers as fast as they can, beside idle servers and a process with messages that nobody takes.
-module(looked_at_node).
-behaviour(gen_server).

-export([start/2, busy/2, look/1, looker/3, look_at/2]).
%% Called in the nodes.
-export([populate/2, begin_calls/1, end_calls/1, looked/1]).
-export([init/1, handle_call/3, handle_cast/2]).
-export_type([nodes/0, round/0]).

-opaque nodes() :: #{node := program_node:program(), looker := program_node:program(), name := node(), clients := pos_integer()}.
%% took: nanoseconds for all calls. p99: 99 of 100 calls take less than this.
-type round() :: #{took := integer(), calls := non_neg_integer(), p99 := integer()}.

-define(LOOK, #{collect => true, budget => 10_000, nif => false}).

%% @doc Starts both. The node has `Idle' idle servers and `Waiting' waiting messages; `Clients' clients will call.
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

%% @doc A node that can inspect others, with the given environment variables and arguments.
-spec looker(program_place:place(), [{string(), string()}], [string()]) -> program_node:program().
looker(Place, Environment, Words) ->
    Own = ["-dist_listen", "false", "-pa", filename:dirname(code:which(diagnose))],
    program_node:start(Place, #{emulator => fixed, environment => Environment, words => Words ++ Own}).

%% @doc Each client calls a server of its own, as fast as it can, while a function runs.
-spec busy(nodes(), fun(() -> ok)) -> round().
busy(#{node := Node, clients := Clients}, Meanwhile) ->
    Calls = program_node:call(Node, ?MODULE, begin_calls, [Clients]),
    ok = Meanwhile(),
    program_node:call(Node, ?MODULE, end_calls, [Calls]).

%% @doc One inspection, until nothing of it is left in the node. The findings are not judged: that is work of
%% the inspecting node, a tenth of a second on its own core, which may be the other hardware thread of the node's core.
-spec look(nodes()) -> ok.
look(#{looker := Looker, name := Name}) -> look_at(Looker, Name).

%% @doc The same for a node of this name.
-spec look_at(program_node:program(), node()) -> ok.
look_at(Looker, Name) -> program_node:call(Looker, ?MODULE, looked, [Name]).

%% @doc Called in the inspecting node.
-spec looked(node()) -> ok.
looked(Name) ->
    Session = diagnose_session:open(Name, ?LOOK),
    {ok, #{cost := #{ended := finished}, overloaded := false}} = diagnose_session:look(Session),
    diagnose_session:close(Session).

%% @doc Called in the node: starts idle servers, and a process with waiting messages.
-spec populate(non_neg_integer(), non_neg_integer()) -> ok.
populate(Idle, Waiting) ->
    _ = [{ok, _} = gen_server:start(?MODULE, [], []) || _ <- lists:seq(1, Idle)],
    Deep = spawn(fun() -> receive never -> ok end end),
    _ = [Deep ! {waits, N} || N <- lists:seq(1, Waiting)],
    ok.

%% @doc Called in the node: starts clients that call a server of their own each.
-spec begin_calls(pos_integer()) -> pid().
begin_calls(Clients) ->
    program_holder:start(fun() ->
                                 Stop = atomics:new(1, []),
                                 Latencies = program_latency:histogram(),
                                 #{began => erlang:monotonic_time(nanosecond), stop => Stop, latencies => Latencies,
                                   clients => [spawn_monitor(fun() -> client(Stop, Latencies) end) || _ <- lists:seq(1, Clients)]}
                         end).

%% @doc Called in the node: ends the clients.
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
