%% @doc One run of an experiment, inside the VM that is measured.
-module(ertslab_worker).

-export([run/2, run/4, cases/3, outputs/2, fingerprint/1]).
-export_type([measured/0, measured_cases/0]).

%% `host': what the machine did meanwhile.
-type measured() :: #{samples := [{Metric :: atom(), [ertslab_experiment:value()]}],
                      facts := #{atom() => term()}, host := ertslab_readings:readings(), measured_ms := non_neg_integer()}.
%% `speed': the machine's speed beside the values, as {milliseconds since the epoch,
%% nanoseconds of a fixed piece of work}.
-type measured_cases() :: #{samples := [ertslab_rounds:values()], facts := #{atom() => term()},
                            host := ertslab_readings:readings(), measured_ms := non_neg_integer(), speed := [{integer(), pos_integer()}]}.

%% The speed is looked at so often at most: a look takes a hundredth of that.
-define(SPEED_EVERY_MS, 5).

%% @doc One case with as many rounds as the experiment wants at least, for tests.
-spec run(module(), ertslab_experiment:params()) -> measured().
run(Module, Params) -> run(Module, Params, #{}, fun() -> ok end).

%% @doc The same with other counts, and with a function that is called between
%% the setup and the first metric.
-spec run(module(), ertslab_experiment:params(), ertslab_rounds:counts(), fun(() -> ok)) -> measured().
run(Module, Params, Counts, Ready) ->
    #{samples := Samples} = Measured = cases(Module, [{0, Params}], maps:merge(#{run_ms => 0}, Counts), Ready, fun() -> ok end),
    Measured#{samples := [{Metric, Values} || {0, Metric, Values} <- Samples]}.

%% @doc All values of these cases, which are set up side by side.
-spec cases(module(), [{Case :: non_neg_integer(), ertslab_experiment:params()}, ...], ertslab_rounds:counts()) ->
          measured_cases().
cases(Module, Cases, Counts) ->
    Speed = speed_log(),
    Measured = cases(Module, Cases, Counts, fun() -> ok end, fun() -> note_speed(Speed) end),
    Measured#{speed => noted(Speed)}.

cases(Module, Cases, Counts, Ready, Between) ->
    Before = ertslab_readings:readings(),
    Works = [{Case, Module:setup(Params)} || {Case, Params} <- Cases],
    ok = Ready(),
    Started = erlang:monotonic_time(millisecond),
    {Samples, Done} = ertslab_rounds:measured(Module, Works, Counts, Between),
    MeasuredMs = erlang:monotonic_time(millisecond) - Started,
    Facts = facts(),
    _ = [ok = Module:teardown(State) || {_, State} <- Done],
    #{samples => Samples, facts => Facts, measured_ms => MeasuredMs,
      host => ertslab_readings:during(Before, ertslab_readings:readings())}.

%% The log is a table, so that what it holds is no part of the measuring process's heap.
speed_log() ->
    Table = ets:new(?MODULE, [ordered_set, private]),
    true = ets:insert(Table, {next, erlang:monotonic_time(millisecond)}),
    {Table, ertslab_speed_probe:new()}.

note_speed({Table, Probe}) ->
    Now = erlang:monotonic_time(millisecond),
    case ets:lookup_element(Table, next, 2) of
        Next when Now < Next -> ok;
        _ ->
            Nanoseconds = ertslab_speed_probe:run(Probe),
            true = ets:insert(Table, [{erlang:system_time(millisecond), Nanoseconds}, {next, Now + ?SPEED_EVERY_MS}]),
            ok
    end.

noted({Table, _}) -> [Point || {At, _} = Point <- ets:tab2list(Table), At =/= next].

%% @doc What each metric computes, as a digest, from one iteration of each that
%% is not timed: so that variants can be told to compute the same before any
%% of them is.
-spec outputs(module(), ertslab_experiment:params()) -> [{Metric :: atom(), Digest :: binary()}].
outputs(Module, Params) ->
    #{metrics := Metrics} = Info = Module:info(),
    ok = loaded(maps:get(loads, Info, [])),
    {Outputs, State} = lists:mapfoldl(fun(#{name := Metric}, State) -> output(Module, Metric, State) end,
                                      Module:setup(Params), Metrics),
    ok = Module:teardown(State),
    Outputs.

loaded([]) -> ok;
loaded([Module | Others]) ->
    case code:ensure_loaded(Module) of
        {module, Module} -> loaded(Others);
        {error, _} -> error({does_not_load, Module})
    end.

output(Module, Metric, State0) ->
    State = Module:prepare(Metric, State0),
    {_Untimed, Result} = ertslab_rounds:verified(Module, Metric, State),
    {{Metric, erlang:md5(term_to_binary(Result, [deterministic]))}, State}.

%% @doc A digest of the code that measures, by which two machines are told to use
%% the same.
-spec fingerprint(module()) -> binary().
fingerprint(Module) ->
    erlang:md5([M:module_info(md5) || M <- [?MODULE, ertslab_rounds, ertslab_speed_probe, ertslab_readings,
                                            ertslab_memory, ertslab_experiment, Module]]).

%% What the VM did beside the experiment's own timing.
facts() ->
    {Collections, _, _} = erlang:statistics(garbage_collection),
    #{garbage_collections => Collections,
      memory_bytes => erlang:memory(total),
      memory => ertslab_memory:vm(),
      schedulers => erlang:system_info(schedulers_online)}.
