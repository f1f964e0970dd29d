%% @doc One run of an experiment, inside the VM that is measured.
-module(ertslab_worker).

-export([run/2, run/4, cases/3, torn_down/2, facts/0, outputs/2]).
-export_type([measured/0, measured_cases/0]).

%% `host': what the machine did during the run.
-type measured() :: #{samples := [{Metric :: atom(), [ertslab_experiment:value()]}],
                      facts := #{atom() => term()}, host := ertslab_readings:readings(), measured_ms := non_neg_integer()}.
-type measured_cases() :: #{samples := [ertslab_rounds:values()], facts := #{atom() => term()},
                            host := ertslab_readings:readings(), measured_ms := non_neg_integer(), speed := ertslab_speed_log:points()}.

%% @doc Measures one case with the least number of rounds that the experiment allows, for tests.
-spec run(module(), ertslab_experiment:params()) -> measured().
run(Module, Params) -> run(Module, Params, #{}, fun(_) -> ok end).

%% @doc The same with other counts, and with a function that is called between
%% the setup, whose state it gets, and the first metric.
-spec run(module(), ertslab_experiment:params(), ertslab_rounds:counts(), fun((State :: term()) -> ok)) -> measured().
run(Module, Params, Counts, Ready) ->
    #{samples := Samples} = Measured = cases(Module, [{0, Params}], maps:merge(#{run_ms => 0}, Counts),
                                             fun([{0, State}]) -> Ready(State) end, fun() -> ok end),
    Measured#{samples := [{Metric, Values} || {0, Metric, Values} <- Samples]}.

%% @doc All values of these cases, which are set up side by side.
-spec cases(module(), [{Case :: non_neg_integer(), ertslab_experiment:params()}, ...], ertslab_rounds:counts()) ->
          measured_cases().
cases(Module, Cases, Counts) ->
    Speed = ertslab_speed_log:new(),
    Measured = cases(Module, Cases, Counts, fun(_) -> ok end, fun() -> ertslab_speed_log:note(Speed) end),
    Measured#{speed => ertslab_speed_log:noted(Speed)}.

%% A comparison has checked in another VM what loads. A profile has not.
cases(Module, Cases, Counts, Ready, Between) ->
    ok = loaded(Module),
    Before = ertslab_readings:readings(),
    Works = [{Case, Module:setup(Params)} || {Case, Params} <- Cases],
    ok = Ready(Works),
    Started = erlang:monotonic_time(millisecond),
    {Samples, Done} = ertslab_rounds:measured(Module, Works, Counts, Between),
    MeasuredMs = erlang:monotonic_time(millisecond) - Started,
    Facts = facts(),
    ok = torn_down(Module, Done),
    #{samples => Samples, facts => Facts, measured_ms => MeasuredMs,
      host => ertslab_readings:during(Before, ertslab_readings:readings())}.

%% @doc Ends the work on these cases.
-spec torn_down(module(), [ertslab_rounds:work()]) -> ok.
torn_down(Module, Works) ->
    _ = [ok = Module:teardown(State) || {_, State} <- Works],
    ok.

%% @doc A digest of what each metric computes, from one iteration that is not timed.
%% This shows whether variants compute the same before any of them is timed.
-spec outputs(module(), ertslab_experiment:params()) -> [{Metric :: atom(), ertslab_digest:digest()}].
outputs(Module, Params) ->
    #{metrics := Metrics} = Module:info(),
    ok = loaded(Module),
    {Outputs, State} = lists:mapfoldl(fun(#{name := Metric}, State) -> output(Module, Metric, State) end,
                                      Module:setup(Params), Metrics),
    ok = Module:teardown(State),
    Outputs.

%% Whether what the experiment needs loads in this VM.
loaded(Module) ->
    lists:foreach(fun(Needed) ->
                          case code:ensure_loaded(Needed) of
                              {module, Needed} -> ok;
                              {error, _} -> error({does_not_load, Needed})
                          end
                  end, maps:get(loads, Module:info(), [])).

output(Module, Metric, State0) ->
    State = Module:prepare(Metric, State0),
    {_Untimed, Result} = ertslab_rounds:verified(Module, Metric, State),
    {{Metric, ertslab_digest:of_term(Result)}, State}.

%% @doc What the VM did apart from the experiment's own timing.
-spec facts() -> #{atom() => term()}.
facts() ->
    {Collections, _, _} = erlang:statistics(garbage_collection),
    #{garbage_collections => Collections,
      memory_bytes => erlang:memory(total),
      memory => ertslab_memory:vm(),
      schedulers => erlang:system_info(schedulers_online)}.
