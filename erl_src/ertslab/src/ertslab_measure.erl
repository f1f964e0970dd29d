%% @doc One run of an experiment, inside the VM that is measured.
-module(ertslab_measure).

-export([run/2]).
-export_type([measured/0]).

-type measured() :: #{samples := [{Metric :: atom(), [Nanoseconds :: number()]}],
                      facts := #{atom() => term()}}.

%% @doc All iterations of all metrics after their warm-up, in the order in
%% which the experiment names them. A wrong result is an error, whatever its
%% speed.
-spec run(module(), ertslab_experiment:params()) -> measured().
run(Module, Params) ->
    #{metrics := Metrics} = Info = Module:info(),
    {Samples, State} = lists:mapfoldl(
                         fun(#{name := Metric}, State) -> metric(Module, Info, Metric, State) end,
                         Module:setup(Params), Metrics),
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
      schedulers => erlang:system_info(schedulers_online)}.
