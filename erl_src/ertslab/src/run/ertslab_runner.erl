%% @doc Makes the runs of a plan, each in a fresh VM. The samples of a run are written as soon as it ends; if arms
%% take turns, as soon as the runs of its pair end. A VM that crashes or hangs loses only its own run.
-module(ertslab_runner).

-export([run_all/2, pilot/2]).
-export_type([progress/0]).

-type progress() :: fun((Done :: non_neg_integer(), Total :: pos_integer(),
                         ertslab_schedule:run() | finished, Label :: binary()) -> ok).

%% @doc Makes the runs of the session's schedule that are not done yet, and then those that replace disturbed ones.
-spec run_all(ertslab_session:session(), progress()) -> ok.
run_all(#{plan := Plan, runs := Before} = Session, Progress) ->
    Made = run_those(Session, ertslab_schedule:of_plan(Plan), Progress),
    case Plan of
        #{replace_disturbed := true} ->
            Replacing = ertslab_disturbed:runs(Plan, ertslab_disturbed:replacements(Plan, Before ++ Made)),
            _ = run_those(Session, Replacing, Progress),
            ok;
        #{} -> ok
    end.

%% The lines of the runs that are made now.
run_those(#{plan := Plan, done := Done} = Session, Schedule, Progress) ->
    Left = [Run || #{run := Number} = Run <- Schedule, not is_map_key(Number, Done)],
    each(Plan, Left, Progress, fun(Lines) ->
                                       ok = ertslab_session:append(Session, Lines),
                                       ertslab_samples:run_line(Lines)
                               end).

%% Makes the runs block by block, and returns the function's result for the lines of each run.
each(#{arms := Arms} = Plan, Runs, Progress, Fun) ->
    Total = length(Runs),
    Results = [begin
                   #{label := Label} = lists:nth(Arm + 1, Arms),
                   Progress(Index - 1, Total, Run, Label),
                   [Fun(Lines) || Lines <- block(Plan, [Only || {_, Only} <- Block])]
               end || [{Index, #{arm := Arm} = Run} | _] = Block <- blocks(Plan, lists:enumerate(Runs))],
    Progress(Total, max(Total, 1), finished, <<"">>),
    lists:append(Results).

%% The runs that are made together: a single one, or those of a pair.
blocks(#{rounds := arms} = Plan, [{_, #{pair := Pair, 'case' := Case}} | _] = Runs) ->
    {Block, Others} = lists:splitwith(fun({_, #{pair := P, 'case' := C}}) -> {P, C} =:= {Pair, Case} end, Runs),
    [Block | blocks(Plan, Others)];
blocks(#{}, Runs) -> [[Run] || Run <- Runs].

%% @doc The lines of all runs of a plan, without storing them; for the pilot.
-spec pilot(ertslab_session:plan(), progress()) -> [map()].
pilot(#{seed := Seed} = Plan, Progress) ->
    lists:append(each(Plan, ertslab_schedule:of_plan(Plan#{seed := Seed + 2}), Progress, fun(Lines) -> Lines end)).

%% The lines of each run of a block.
block(Plan, Runs) ->
    Calls = [call(Plan, Run) || Run <- Runs],
    Started = erlang:system_time(millisecond),
    Outcomes = outcomes(Plan, Runs, Calls),
    Duration = erlang:system_time(millisecond) - Started,
    [lines(Plan, Run, Call, Outcome, {Started, Duration}) || {Run, Call, Outcome} <- lists:zip3(Runs, Calls, Outcomes)].

call(#{arms := Arms} = Plan, #{arm := ArmIndex, pair := Pair, padding := Padding} = Run) ->
    #{vm := VM} = Arm0 = lists:nth(ArmIndex + 1, Arms),
    Arm = Arm0#{vm := ertslab_builds:of_pair(VM, Pair)},
    #{arm => Arm, vm => maps:get(vm, Arm), padding => Padding, cases => cases(Plan, Arm, Run)}.

outcomes(#{rounds := arms, seed := Seed} = Plan, [#{run := Number} | _], Calls) ->
    ertslab_side_by_side:outcomes(Plan, Seed + Number, Calls);
outcomes(Plan, [_], [Call]) -> [in_fresh_vm(Plan, Call)].

%% The lines of one run: its samples, followed by the line that closes it.
lines(Plan, Run, #{arm := Arm, cases := Cases}, Outcome, {Started, Duration}) ->
    Common = common(Plan, Arm, Run),
    samples(Common, units(Plan), maps:from_list(Cases), Outcome)
        ++ [maps:merge(Common#{type => run, params => params(Cases), started_ms => Started, duration_ms => Duration},
                       closing(Outcome, Arm, Duration))].

%% The cases that a run measures, by their numbers, with the parameters of its arm.
cases(#{cases := Cases}, #{params := Overrides}, #{'case' := Wanted}) ->
    [{Index, maps:merge(Params, Overrides)}
     || {Index, Params} <- lists:enumerate(0, Cases), Wanted =:= all orelse Wanted =:= Index].

params([{_, Params}]) -> Params;
params(_All) -> #{}.

%% If a run failed because its machine no longer answers, that says nothing about the VM.
closing({error, Reason}, #{vm := VM}, _Duration) ->
    ok = ertslab_vm:must_answer(VM),
    #{outcome => crashed, reason => ertslab_crash:says(Reason)};
closing({ok, #{facts := Facts, host := Host, measured_ms := Ms, speed := Speed}}, _Arm, Duration) ->
    #{outcome => ok, measured_ms => Ms, facts => Facts, host => Host, speed => [[At, Ns] || {At, Ns} <- Speed],
      disturbed => ertslab_disturbed:reasons(Host, Duration)}.

common(#{experiment := Experiment}, #{label := Label, variant := Variant, vm := VM}, Run) ->
    Run#{experiment => Experiment, label => Label, variant => Variant, build_id => maps:get(build_id, VM)}.

units(#{metrics := Metrics}) -> maps:from_list([{Name, Unit} || #{name := Name, unit := Unit} <- Metrics]).

samples(_Common, _Units, _Cases, {error, _}) -> [];
samples(Common, Units, Cases, {ok, #{samples := Samples}}) ->
    [Common#{type => sample, 'case' := Case, params => maps:get(Case, Cases), metric => Metric,
             values => Values, unit => maps:get(Metric, Units)}
     || {Case, Metric, Values} <- Samples].

in_fresh_vm(#{module := Module, timeout_ms := Timeout, run_ms := RunMs}, #{vm := VM, padding := Padding, cases := Cases}) ->
    ertslab_vm:in_fresh(VM, Padding, ertslab_worker, cases, [Module, Cases, #{run_ms => RunMs}],
                         length(Cases) * Timeout + RunMs).
