%% @doc A RabbitMQ on the VM that is measured, with messages that go through a classic queue as fast as they can, and a node on a
%% fixed VM that inspects it with `diagnose'.
-module(looked_at_rabbitmq).

-export([start/2, busy/2, look/1]).
-export_type([nodes/0]).

-opaque nodes() :: #{load := rabbitmq_load:load(), looker := program_node:program(), name := node()}.

-define(QUEUE, <<"looked_at">>).
-define(MESSAGES, 1000).
-define(TIMEOUT_MS, 60_000).

%% @doc Starts all three.
-spec start(program_place:place(), map()) -> nodes().
start(Place, _) ->
    #{program := Program, address := Port} = rabbitmq_server:start(Place),
    [Name, Cookie] = [program_node:call(Program, erlang, Function, []) || Function <- [node, get_cookie]],
    Epmd = program_node:call(Program, os, getenv, ["ERL_EPMD_PORT"]),
    Looker = looked_at_node:looker(Place, [{"ERL_EPMD_PORT", Epmd}],
                                   ["-start_epmd", "false", "-sname", "looks_at_rabbitmq@localhost", "-setcookie", atom_to_list(Cookie)]),
    Load = rabbitmq_load:start(Place, #{port => Port, queues => #{?QUEUE => classic}, consumed => true}),
    #{load => Load, looker => Looker, name => Name}.

%% @doc Sends messages through in rounds of 1,000 while a function runs. `calls' counts messages; `p99' is the mean over the
%% rounds of the 99th percentile of a message's latency.
-spec busy(nodes(), fun(() -> ok)) -> looked_at_node:round().
busy(#{load := Load}, Meanwhile) ->
    Caller = self(),
    Worker = spawn_link(fun() -> Caller ! {self(), rounds(Load)} end),
    ok = Meanwhile(),
    Worker ! stop,
    {Times, P99s} = receive {Worker, Rounds} -> lists:unzip(Rounds) end,
    #{took => lists:sum(Times), calls => ?MESSAGES * length(Times), p99 => lists:sum(P99s) div length(P99s)}.

%% At least one round.
rounds(Load) ->
    {#{messages := ?MESSAGES, twice := 0}, #{time := Time, p99 := P99}} = rabbitmq_load:round(Load, ?QUEUE, ?MESSAGES, ?TIMEOUT_MS),
    receive stop -> [{Time, P99}]
    after 0 -> [{Time, P99} | rounds(Load)]
    end.

%% @doc One inspection, like {@link looked_at_node:look/1}.
-spec look(nodes()) -> ok.
look(#{looker := Looker, name := Name}) -> looked_at_node:look_at(Looker, Name).
