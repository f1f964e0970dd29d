%% @doc From raw samples to verdicts. Pure: the plan and the lines of
%% samples.jsonl go in, the contents of summary.json come out.
%%
%% A run gives one number a metric, by the estimator that the experiment chose
%% ({@link ertslab_estimator}); two arms are compared by the numbers of the pairs
%% in which both have one. Values of several runs are never pooled: that finds
%% differences where there are none. A value that is a list of points [N, Value]
%% gives its slope over N.
-module(ertslab_summary).

-export([make/2]).

-define(CONFIDENCE, 0.95).
-define(STEADY_LEVEL, 0.05).

-spec make(ertslab_session:plan(), ertslab_samples:samples()) -> ertslab_result:summary().
make(#{cases := Cases} = Plan, #{samples := Samples, runs := Runs}) ->
    Disturbed = ertslab_disturbed:replacements(Plan, Runs),
    LeftOut = ertslab_disturbed:left_out(Disturbed, Runs),
    ByRun = by_run(Plan, [S || #{~"case" := Case, ~"pair" := Pair} = S <- Samples,
                               not ertslab_disturbed:is_left_out(Case, Pair, LeftOut)]),
    {Judged, [Overall]} =
        lists:split(length(Cases), judged(Plan, [case_rows(Plan, ByRun, Index) || Index <- indexes(Cases)]
                                          ++ [overall_rows(Plan, ByRun, Disturbed)])),
    Void = void(Plan, [Overall | Judged]),
    Steady = steady(Plan, ByRun),
    #{format => ertslab_session:format(),
      plan => maps:without([arms, module, manifest], Plan),
      arms => [maps:without([vm], Arm#{build_id => maps:get(build_id, VM),
                                     builds => ertslab_builds:ids(VM)})
               || #{vm := VM} = Arm <- maps:get(arms, Plan)],
      cases => [#{params => Params, rows => [voided(Row, Void) || Row <- Rows],
                  contrasts => contrasts(Plan, ByRun, Index)}
                || {Index, Params, Rows} <- lists:zip3(indexes(Cases), Cases, Judged)],
      overall => [voided(Row, Void) || Row <- Overall],
      speeds => ertslab_speeds:found(ertslab_speeds:of_runs(Runs)),
      void => Void, steady => Steady, disturbed => Disturbed,
      memory => ertslab_run_memory:rows(Plan, Runs),
      crashed => [maps:with([~"run", ~"pair", ~"label", ~"params", ~"reason"], Run)
                  || #{~"outcome" := ~"crashed"} = Run <- Runs],
      warnings => ertslab_warnings:all(Plan, Runs, Disturbed, Steady, lists:append([Overall | Judged]))
          ++ ertslab_layout_luck:warnings(Plan, lists:zip(Cases, Judged))}.

indexes(List) -> lists:seq(0, length(List) - 1).

%% {Case, Arm, Metric} => #{Pair => the run's values}, for either estimator. Floors are of as many values as all arms
%% of a pair have; where arms took turns, medians are without what the turns had in common. `made': as they were measured.
by_run(#{rounds := Rounds}, Samples) ->
    Values = ertslab_samples:by_run(
               fun(#{~"case" := Case, ~"arm" := Arm, ~"metric" := Metric, ~"pair" := Pair}) ->
                       {{Case, Arm, Metric}, Pair}
               end, Samples),
    Compared = fun({{Case, _Arm, Metric}, Pair}) -> {Case, Metric, Pair} end,
    Typical = case Rounds of arms -> ertslab_turn_effect:removed(Compared, Values); _ -> Values end,
    #{made => by_arm(Values), typical => by_arm(Typical), floor => by_arm(ertslab_estimator:levelled(Compared, Values))}.

by_arm(Values) ->
    maps:fold(fun({Key, Pair}, OfRun, Acc) ->
                      maps:update_with(Key, fun(Pairs) -> Pairs#{Pair => OfRun} end, #{Pair => OfRun}, Acc)
              end, #{}, Values).

case_rows(#{metrics := Metrics, arms := Arms} = Plan, ByRun, Case) ->
    lists:append([with_floor(Plan, [row(Plan, ByRun, Case, Metric, IndexedArm)
                                    || IndexedArm <- lists:enumerate(0, Arms)])
                  || Metric <- Metrics]).

row(#{baseline := Baseline, exact := Exact, estimator := Estimator} = Plan, ByRun, Case,
    #{name := Metric, unit := Unit}, {Arm, #{label := Label, params := Overrides}}) ->
    Own = iterations(ByRun, typical, Case, Arm, Metric),
    Row = #{metric => Metric, label => Label, params => Overrides, runs => map_size(Own), unit => Unit},
    Sloped = maps:merge(Row, slope_bounds(Own)),
    Numbers = fun(By, One) -> numbers(By, iterations(ByRun, By, Case, One, Metric)) end,
    [Bases, Owns] = [Numbers(Estimator, One) || One <- [Baseline, Arm]],
    #{value := Value, ratio := Ratio} = Compared = compared(Estimator, Bases, Owns, Arm =:= Baseline),
    case Exact of
        true ->
            maps:merge(Sloped#{value => Value},
                       ertslab_exact:compared(maps:values(Bases), maps:values(Owns), Arm =:= Baseline));
        false ->
            By = ertslab_estimator:other(Estimator),
            Other = compared(By, Numbers(By, Baseline), Numbers(By, Arm), Arm =:= Baseline),
            maps:merge(Sloped#{value => Value, ratio => Ratio, other => Other#{disagrees => disagree(Compared, Other)}},
                       by_build(Plan, Bases, Owns, Ratio))
    end.

%% What an estimator makes of the numbers of an arm.
compared(Estimator, Bases, Owns, IsBaseline) ->
    #{estimator => Estimator, value => value_or_none(Estimator, maps:values(Owns)),
      ratio => case IsBaseline of
                   true -> none;
                   false -> paired_ratio(Estimator, Bases, Owns)
               end}.

disagree(#{ratio := #{low := Low, high := High}}, #{ratio := #{low := OtherLow, high := OtherHigh}}) ->
    Low > OtherHigh orelse High < OtherLow;
disagree(#{}, #{}) -> false.

%% The ratios over all cases, for an experiment that asks for them.
overall_rows(#{overall := true, exact := false, metrics := Metrics, baseline := Baseline, arms := Arms,
               cases := [_, _ | _]} = Plan, ByRun, Disturbed) ->
    lists:append([with_floor(Plan, [overall_row(Plan, ByRun, Disturbed, Metric, IndexedArm)
                                    || {Arm, _} = IndexedArm <- lists:enumerate(0, Arms), Arm =/= Baseline])
                  || Metric <- Metrics]);
overall_rows(#{}, _ByRun, _Disturbed) -> [].

overall_row(#{baseline := Baseline, cases := Cases, estimator := Estimator}, ByRun, Disturbed,
            #{name := Metric, unit := Unit}, {Arm, #{label := Label, params := Overrides}}) ->
    Of = fun(One, Case) ->
                 ertslab_geometric_mean:placed(numbers(Estimator, iterations(ByRun, Estimator, Case, One, Metric)), replacements(Case, Disturbed))
         end,
    {Runs, Ratio} = overall_ratio(Estimator, [{Of(Baseline, Case), Of(Arm, Case)} || Case <- indexes(Cases)]),
    #{metric => Metric, label => Label, params => Overrides, runs => Runs, value => none, unit => Unit, ratio => Ratio}.

overall_ratio(typical, Results) ->
    {Bases, Owns} = lists:unzip(Results),
    Own = ertslab_geometric_mean:geometric_means(Owns),
    {map_size(Own), paired_ratio(typical, ertslab_geometric_mean:geometric_means(Bases), Own)};
overall_ratio(floor, Results) ->
    [{First, _} | _] = Floors = ertslab_geometric_mean:floors(Results),
    {length(First), case has_ratio(floor, length(First), lists:append([Base ++ Own || {Base, Own} <- Floors])) of
                        true -> ertslab_floor:overall(Floors);
                        false -> none
                    end}.

replacements(Case, Disturbed) ->
    [{By, Pair} || #{'case' := C, pair := Pair, replaced_by := By} <- Disturbed, C =:= Case orelse C =:= all, By =/= none].

by_build(_Plan, _Base, _Own, none) -> #{};
by_build(Plan, Base, Own, _Ratio) -> ertslab_layout_luck:by_build(Base, Own, maps:get(builds, Plan, 1)).

%% What the control shows is noise: the interval of its ratio stands beside the
%% others' as the floor.
with_floor(#{control := Control}, Rows) ->
    Floor = case [Ratio || #{label := Label, ratio := Ratio} <- Rows, Label =:= Control] of
                [#{low := Low, high := High}] -> #{low => Low, high => High};
                _ -> none
            end,
    [Row#{floor => case Label of Control -> none; _ -> Floor end} || #{label := Label} = Row <- Rows].

iterations(ByRun, Estimator, Case, Arm, Metric) ->
    maps:get({Case, Arm, atom_to_binary(Metric)}, maps:get(Estimator, ByRun), #{}).

%% Pair => the one number of its run
numbers(Estimator, Runs) -> maps:map(fun(_Pair, Values) -> ertslab_estimator:of_run(Estimator, Values) end, Runs).

slope_bounds(Pairs) ->
    case [Value || Values <- maps:values(Pairs), Value <- Values, is_list(Value)] of
        [] -> #{};
        Curves ->
            Slopes = [ertslab_slope:of_value(Curve, ?CONFIDENCE) || Curve <- Curves],
            #{slope => #{low => middle([Low || #{low := Low} <- Slopes]),
                         high => middle([High || #{high := High} <- Slopes])},
              points => points(Curves)}
    end.

points(Curves) ->
    ByN = maps:groups_from_list(fun([N, _]) -> N end, fun([_, Value]) -> Value end, lists:append(Curves)),
    [[N, ertslab_stats:median(Values)] || {N, Values} <- lists:sort(maps:to_list(ByN))].

middle(Limits) ->
    case lists:member(too_few, Limits) of
        true -> too_few;
        false -> ertslab_stats:median(Limits)
    end.

value_or_none(_, []) -> none;
value_or_none(Estimator, Numbers) -> ertslab_estimator:of_runs(Estimator, Numbers).

%% Ratio of two metrics or arms over the pairs that both have. Where a value is
%% 0 or less, as the slope of what does not grow, there is none.
paired_ratio(Estimator, Under, Over) ->
    Pairs = lists:sort(maps:keys(maps:intersect(Under, Over))),
    [Unders, Overs] = [[float(maps:get(Pair, Numbers)) || Pair <- Pairs] || Numbers <- [Under, Over]],
    case has_ratio(Estimator, length(Pairs), Unders ++ Overs) of
        true -> ertslab_estimator:ratio(Estimator, Unders, Overs);
        false -> none
    end.

has_ratio(Estimator, Pairs, Numbers) ->
    Pairs >= ertslab_estimator:min_pairs(Estimator, ?CONFIDENCE) andalso lists:min(Numbers) > 0.

%% Holm's correction over all that is printed, where there are enough pairs
%% for it ever to say `changed'; a quick comparison goes without, and says so.
judged(#{exact := true}, RowsByCase) -> RowsByCase;
judged(#{quick := Quick} = Plan, RowsByCase) ->
    Ps = [P || Rows <- RowsByCase, #{ratio := #{p := P}} <- Rows],
    Adjusted = case Quick of true -> Ps; false -> ertslab_stats:holm(Ps) end,
    {Judged, []} = lists:mapfoldl(
                     fun(Rows, Left) -> lists:mapfoldl(fun(Row, Ps1) -> judge(Plan, Row, Ps1) end, Left, Rows) end,
                     Adjusted, RowsByCase),
    Judged.

judge(_Plan, #{ratio := none} = Row, Adjusted) ->
    {Row#{verdict => none, more_pairs => none}, Adjusted};
judge(#{same_within := Bound, estimator := Estimator}, #{ratio := Ratio0} = Row, [P | Adjusted]) ->
    Ratio = Ratio0#{p_adjusted => P},
    {maps:merge(Row#{ratio := Ratio}, ertslab_verdict:verdict(Ratio, #{bound => Bound, estimator => Estimator})), Adjusted}.

%% Where the same emulator under another name is found to have changed, the
%% session measured something else than the variants, and no verdict stands. A
%% quick comparison corrects for no number of verdicts, so that of many controls
%% some differ by chance: there it is one more reason not to believe it yet.
void(#{quick := true}, _RowsByCase) -> [];
void(#{control := Control}, RowsByCase) ->
    [ertslab_error:text(
       io_lib:format("~ts, the same as the baseline under another name, came out ~.3f (~.3f to ~.3f)"
                     " in ~ts.", [Control, Estimate, Low, High, Metric]))
     || Rows <- RowsByCase,
        #{label := Label, metric := Metric, verdict := changed,
          ratio := #{estimate := Estimate, low := Low, high := High}} <- Rows, Label =:= Control].

voided(Row, []) -> Row;
voided(#{ratio := none} = Row, _) -> Row;
voided(Row, _) -> Row#{verdict := void, more_pairs := none}.

%% All arms together, so that what is found cannot favour one.
steady(#{exact := true}, _ByRun) -> [];
steady(#{metrics := Metrics, cases := Cases, arms := Arms, estimator := Estimator}, #{made := Made} = ByRun) ->
    Level = ?STEADY_LEVEL / (length(Metrics) * length(Cases)),
    [maps:merge(#{'case' => Case, metric => Metric}, steady_by(Estimator, Runs, Level))
     || Case <- indexes(Cases), #{name := Metric} <- Metrics,
        [_ | _] = Runs <- [[ertslab_slope:numbers(Values)
                            || Arm <- indexes(Arms),
                               Values <- maps:values(iterations(ByRun#{typical := Made}, Estimator, Case, Arm, Metric))]]].

steady_by(floor, Runs, Level) -> ertslab_steady:halves(Runs, Level);
steady_by(typical, Runs, Level) -> ertslab_steady:test(Runs, Level).

contrasts(#{contrasts := Contrasts, arms := Arms, estimator := Estimator}, ByRun, Case) ->
    [#{name => Name, says => ertslab_error:text(Says), label => Label,
       ratio => contrast(Estimator, [iterations(ByRun, Estimator, Case, Arm, Metric) || Metric <- [Under, Over]])}
     || #{name := Name, says := Says, over := Over, under := Under} <- Contrasts,
        {Arm, #{label := Label}} <- lists:enumerate(0, Arms)].

%% The two metrics of an arm, likewise of as many values.
contrast(typical, [Under, Over]) -> paired_ratio(typical, numbers(typical, Under), numbers(typical, Over));
contrast(floor, [Under, Over]) ->
    Both = #{{Metric, Pair} => Values || {Metric, Runs} <- [{under, Under}, {over, Over}], Pair := Values <- Runs},
    Floors = numbers(floor, ertslab_estimator:levelled(fun({_Metric, Pair}) -> Pair end, Both)),
    [Unders, Overs] = [#{Pair => Number || {M, Pair} := Number <- Floors, M =:= Metric} || Metric <- [under, over]],
    paired_ratio(floor, Unders, Overs).
