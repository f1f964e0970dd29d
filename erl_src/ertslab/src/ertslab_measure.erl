%% @doc One run of an experiment, inside the VM that is measured.
-module(ertslab_measure).

-export([run/2, run/4]).
-export_type([measured/0, counts/0]).

-type measured() :: #{samples := [{Metric :: atom(), [Nanoseconds :: number()]}],
                      facts := #{atom() => term()}}.
%% In place of the experiment's own.
-type counts() :: #{warm_up => non_neg_integer(), iterations => pos_integer()}.

%% @doc All iterations of all metrics after their warm-up, in the order in
%% which the experiment names them. A wrong result is an error, whatever its
%% speed.
-spec run(module(), ertslab_experiment:params()) -> measured().
run(Module, Params) -> run(Module, Params, #{}, fun() -> ok end).

%% @doc The same with other numbers of iterations, and with a function that is
%% called between the setup and the first metric.
-spec run(module(), ertslab_experiment:params(), counts(), fun(() -> ok)) -> measured().
run(Module, Params, Counts, Ready) ->
    #{metrics := Metrics} = Info = maps:merge(Module:info(), Counts),
    Prepared = Module:setup(Params),
    ok = Ready(),
    {Samples, State} = lists:mapfoldl(
                         fun(#{name := Metric}, State) -> metric(Module, Info, Metric, State) end,
                         Prepared, Metrics),
    ok = Module:teardown(State),
    #{samples => Samples, facts => facts()}.

metric(Module, #{warm_up := WarmUp, iterations := Iterations}, Metric, State0) ->
    State = Module:prepare(Metric, State0),
    Values = [iteration(Module, Metric, State) || _ <- lists:seq(1, WarmUp + Iterations)],
    {{Metric, lists:nthtail(WarmUp, Values)}, State}.

iteration(Module, Metric, State) ->
    {Nanoseconds, Result} = Module:run(Metric, State),
    case Module:verify(Metric, Result, State) of
        ok -> Nanoseconds;
        {wrong, Why} -> error({wrong_result, Metric, Why})
    end.

%% What the VM did beside the experiment's own timing.
facts() ->
    {Collections, _, _} = erlang:statistics(garbage_collection),
    #{garbage_collections => Collections,
      memory_bytes => erlang:memory(total),
      memory => ertslab_memory:vm(),
      schedulers => erlang:system_info(schedulers_online)}.
