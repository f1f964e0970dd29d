%% @doc The cost of an inspection by `diagnose' for a busy node: the time of a call of a gen_server there, and its 99th
%% percentile, without an inspection and during one, from loading the code into the node to its removal.
%%
%% The node has one half of the cores, the inspecting node the other. `again' repeats `alone': their difference is the noise,
%% and smaller effects cannot be seen here.
-module(exp_diagnose).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "a busy node during an inspection",
      shows => "the cost of diagnose for the inspected node",
      origin => "recon, entop and system_monitor, which walked deep mailboxes of the nodes that they inspected (otp#6494)",
      vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
      parameters =>
          [#{name => work, 'of' => [servers, rabbitmq], quick => [servers], full => [servers],
             doc => "the work of the node: servers that clients call, or RabbitMQ with messages (the other parameters do not apply to it)"},
           #{name => clients, min => 1, max => 8, quick => [4], full => [4],
             doc => "clients that call a server each, as fast as they can"},
           #{name => ms, min => 100, max => 60_000, quick => [4200], full => [4200],
             doc => "milliseconds of calls without an inspection; an inspection takes 5600"},
           #{name => idle, min => 0, max => 1_000_000, quick => [10_000], full => [10_000],
             doc => "idle servers"},
           #{name => waiting, min => 0, max => 10_000_000, quick => [100_000], full => [100_000],
             doc => "messages in a process that receives none"}],
      metrics =>
          [#{name => alone, doc => "the time of all calls, shared out over them, while nobody looks"},
           #{name => alone_p99, doc => "a call meanwhile: 99 of 100 are shorter"},
           #{name => looked_at, doc => "the time of all calls, shared out over them, while one look goes on"},
           #{name => looked_at_p99, doc => "a call meanwhile: 99 of 100 are shorter"},
           #{name => again, doc => "the same as alone once more"},
           #{name => again_p99, doc => "a call meanwhile: 99 of 100 are shorter"}],
      contrasts =>
          [#{name => cost, over => looked_at, under => alone, says => "time of a call, looked at to alone"},
           #{name => nothing, over => again, under => alone, says => "the same, alone to alone"},
           #{name => cost_p99, over => looked_at_p99, under => alone_p99, says => "99th percentile, looked at to alone"},
           #{name => nothing_p99, over => again_p99, under => alone_p99, says => "the same, alone to alone"}],
      estimator => typical,
      rounds => metrics,
      warm_up => 1,
      iterations => 1,
      visit_us => 0,
      run_ms => 88_000,
      timeout_ms => 300_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{work := Work, ms := Ms} = Params) ->
    Place = program_place:new("diagnose"),
    Module = maps:get(Work, #{servers => looked_at_node, rabbitmq => looked_at_rabbitmq}),
    #{place => Place, ms => Ms, last => round_notes:new(), module => Module, nodes => Module:start(Place, Params)}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

%% A percentile is that of the preceding metric's calls.
-spec run(atom(), map()) -> {number(), answered | no_answer}.
run(Metric, #{last := Last}) when Metric =:= alone_p99; Metric =:= looked_at_p99; Metric =:= again_p99 ->
    {round_notes:noted(Last, p99), round_notes:noted(Last, answered)};
run(Metric, #{module := Module, nodes := Nodes, ms := Ms, last := Last}) ->
    Meanwhile = case Metric of
                    looked_at -> fun() -> Module:look(Nodes) end;
                    _ -> fun() -> timer:sleep(Ms) end
                end,
    #{took := Took, calls := Calls, p99 := P99} = Module:busy(Nodes, Meanwhile),
    Answered = case Calls of 0 -> no_answer; _ -> answered end,
    ok = round_notes:note(Last, #{p99 => P99, answered => Answered}),
    {Took / max(1, Calls), Answered}.

-spec verify(atom(), answered | no_answer, map()) -> ok | {wrong, term()}.
verify(_, answered, _) -> ok;
verify(_, no_answer, _) -> {wrong, no_answer}.

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
