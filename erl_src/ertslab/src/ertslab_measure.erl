%% @doc One run of an experiment, inside the VM that is measured.
-module(ertslab_measure).

-export([run/2, run/4, outputs/2, fingerprint/1]).
-export_type([measured/0, counts/0]).

%% `host': what the machine did meanwhile.
-type measured() :: #{samples := [{Metric :: atom(), [ertslab_experiment:value()]}],
                      facts := #{atom() => term()}, host := ertslab_host:readings()}.
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
    Before = ertslab_host:readings(),
    Prepared = Module:setup(Params),
    ok = Ready(),
    {Samples, State} = lists:mapfoldl(
                         fun(#{name := Metric}, State) -> metric(Module, Info, Metric, State) end,
                         Prepared, Metrics),
    Facts = facts(),
    ok = Module:teardown(State),
    #{samples => Samples, facts => Facts,
      host => ertslab_host:during(Before, ertslab_host:readings())}.

%% @doc What each metric computes, as a digest, from one iteration of each that
%% is not timed: so that variants can be told to compute the same before any
%% of them is.
-spec outputs(module(), ertslab_experiment:params()) -> [{Metric :: atom(), Digest :: binary()}].
outputs(Module, Params) ->
    #{metrics := Metrics} = Module:info(),
    {Outputs, State} = lists:mapfoldl(fun(#{name := Metric}, State) -> output(Module, Metric, State) end,
                                      Module:setup(Params), Metrics),
    ok = Module:teardown(State),
    Outputs.

output(Module, Metric, State0) ->
    State = Module:prepare(Metric, State0),
    {_Untimed, Result} = Module:run(Metric, State),
    ok = verified(Module, Metric, Result, State),
    {{Metric, erlang:md5(term_to_binary(Result, [deterministic]))}, State}.

metric(Module, #{warm_up := WarmUp, iterations := Iterations}, Metric, State0) ->
    State = Module:prepare(Metric, State0),
    Values = [iteration(Module, Metric, State) || _ <- lists:seq(1, WarmUp + Iterations)],
    {{Metric, lists:nthtail(WarmUp, Values)}, State}.

iteration(Module, Metric, State) ->
    {Nanoseconds, Result} = Module:run(Metric, State),
    ok = verified(Module, Metric, Result, State),
    Nanoseconds.

verified(Module, Metric, Result, State) ->
    case Module:verify(Metric, Result, State) of
        ok -> ok;
        {wrong, Why} -> error({wrong_result, Metric, Why})
    end.

%% @doc A digest of the code that measures, by which two machines are told to use
%% the same.
-spec fingerprint(module()) -> binary().
fingerprint(Module) ->
    erlang:md5([M:module_info(md5) || M <- [?MODULE, ertslab_host, ertslab_memory, ertslab_experiment, Module]]).

%% What the VM did beside the experiment's own timing.
facts() ->
    {Collections, _, _} = erlang:statistics(garbage_collection),
    #{garbage_collections => Collections,
      memory_bytes => erlang:memory(total),
      memory => ertslab_memory:vm(),
      schedulers => erlang:system_info(schedulers_online)}.
