%% @doc From raw samples to verdicts. Pure: the plan and the lines of
%% samples.jsonl go in, the contents of summary.json come out.
%%
%% A run gives one number for each metric ({@link ertslab_run_numbers}). Two arms are compared by the numbers of the pairs
%% in which both have one. Values of several runs are never pooled, since that would find
%% differences where there are none. A value that is a list of points [N, Value]
%% stands for its slope over N.
-module(ertslab_summary).

-export([make/2, completed/2]).

-define(CONFIDENCE, 0.95).
-define(STEADY_LEVEL, 0.05).

-spec make(ertslab_session:plan(), ertslab_samples:samples()) -> ertslab_result:summary().
make(#{cases := Cases} = Plan0, #{samples := Samples, runs := Runs}) ->
    Plan = with_names(Plan0),
    Disturbed = ertslab_disturbed:replacements(Plan, Runs),
    ByRun = by_run(Plan, Samples, ertslab_disturbed:left_out(Disturbed, Runs)),
    {Judged, [Overall]} =
        lists:split(length(Cases), judged(Plan, [case_rows(Plan, ByRun, Index) || Index <- indexes(Cases)]
                                          ++ [overall_rows(Plan, ByRun, Disturbed)])),
    Void = void(Plan, [Overall | Judged]),
    Steady = steady(Plan, ByRun),
    Manifest = ertslab_json_reader:decode(iolist_to_binary(maps:get(manifest, Plan, "{}"))),
    maps:merge(
      of_runs(Runs),
      #{format => ertslab_result:format(), plan => recorded(Plan0), arms => arms(Plan, Manifest), built => ertslab_result:built(Manifest),
        cases => [#{params => ertslab_result:params(Params), rows => [voided(Row, Void) || Row <- Rows],
                    contrasts => contrasts(Plan, ByRun, Index)}
                  || {Index, Params, Rows} <- lists:zip3(indexes(Cases), Cases, Judged)],
        overall => [voided(Row, Void) || Row <- Overall],
        void => Void, steady => Steady, disturbed => Disturbed,
        memory => ertslab_run_memory:rows(Plan, Runs),
        crashed => [maps:with([run, pair, label, params, reason], crashed(Run)) || #{<<"outcome">> := <<"crashed">>} = Run <- Runs],
        warnings => ertslab_warnings:all(Plan, Runs, Disturbed, Steady, lists:append([Overall | Judged]))
            ++ ertslab_layout_luck:warnings(Plan, lists:zip(Cases, Judged))}).

%% @doc A result of an older ertslab, which holds no numbers of runs, with those of its samples. What was concluded then stays.
-spec completed(ertslab_result:summary(), ertslab_samples:samples()) -> ertslab_result:summary().
completed(#{plan := #{estimator := Estimator, rounds := Rounds}, disturbed := Disturbed, cases := Cases, arms := Arms} = Summary,
          #{samples := Samples, runs := Runs}) ->
    Points = points(Samples, ertslab_disturbed:left_out(Disturbed, Runs),
                    ertslab_run_numbers:of_runs(Estimator, Rounds, fun together/1, values(Samples))),
    Indexes = maps:from_list([{Label, Arm} || {Arm, #{label := Label}} <- lists:enumerate(0, Arms)]),
    with_runs(Runs, Summary#{cases := [Case#{rows := [with_numbers(Row, Points, {Index, maps:get(Label, Indexes, none), Metric})
                                                 || #{label := Label, metric := Metric} = Row <- Rows]}
                                 || {Index, #{rows := Rows} = Case} <- lists:enumerate(0, Cases)]}).

with_runs(Runs, #{speeds := none} = Summary) -> maps:merge(Summary, of_runs(Runs));
with_runs(Runs, Summary) -> maps:merge(Summary, maps:remove(speeds, of_runs(Runs))).

indexes(List) -> lists:seq(0, length(List) - 1).

%% Names as in the samples and in the result.
with_names(#{metrics := Metrics, contrasts := Contrasts} = Plan) ->
    Plan#{metrics := [Metric#{name := atom_to_binary(Name), unit := atom_to_binary(Unit)}
                      || #{name := Name, unit := Unit} = Metric <- Metrics],
          contrasts := [Contrast#{name := atom_to_binary(Name), over := atom_to_binary(Over), under := atom_to_binary(Under)}
                        || #{name := Name, over := Over, under := Under} = Contrast <- Contrasts]}.

%% The shape that the reader of the file gives it.
recorded(#{control := Control} = Plan) ->
    (ertslab_result:plan(as_json(maps:without([arms, module, manifest], Plan)), []))#{control := Control}.

arms(#{arms := Arms}, Manifest) ->
    [(ertslab_result:arm(ertslab_result:with_origin(as_json(maps:with([label, variant, params], Arm)),
                                                    as_json(maps:with([description, version], VM)), Manifest)))#{
       build_id := maps:get(build_id, VM), builds := ertslab_builds:ids(VM)} || #{vm := VM} = Arm <- Arms].

as_json(Term) -> ertslab_json_reader:decode(iolist_to_binary(ertslab_json:format(Term))).

%% What a result holds of the runs apart from their values.
of_runs(Runs) ->
    Points = ertslab_speeds:of_runs(Runs),
    Speeds = ertslab_speeds:found(Points),
    #{speeds => Speeds, speed_series => ertslab_speed_series:of_points(Points, Speeds),
      runs => lists:sort(fun(#{run := A}, #{run := B}) -> A =< B end, [ertslab_result:run(Run) || Run <- Runs])}.

crashed(#{<<"run">> := Run, <<"pair">> := Pair, <<"label">> := Label, <<"params">> := Params, <<"reason">> := Reason}) ->
    #{run => Run, pair => Pair, label => Label, params => ertslab_result:params(Params), reason => Reason}.

%% The values of each run, by {{Case, Arm, Metric}, Pair}.
values(Samples) -> ertslab_samples:by_run(fun key/1, Samples).

key(#{<<"case">> := Case, <<"arm">> := Arm, <<"metric">> := Metric, <<"pair">> := Pair}) when is_integer(Arm) ->
    {{Case, Arm, Metric}, Pair}.

%% The runs whose numbers are compared.
together({{Case, _Arm, Metric}, Pair}) -> {Case, Metric, Pair}.

%% The numbers of the runs with their places, by {Case, Arm, Metric}.
points(Samples, LeftOut, Numbers) ->
    Runs = lists:foldl(fun(#{<<"run">> := Run} = Sample, Known) -> Known#{key(Sample) => Run} end, #{}, Samples),
    maps:groups_from_list(
      fun({{Key, _}, _}) -> Key end,
      fun({{{Case, _, _}, Pair} = Of, Number}) ->
              Number#{run => maps:get(Of, Runs), pair => Pair, aside => ertslab_disturbed:is_left_out(Case, Pair, LeftOut)}
      end, maps:to_list(Numbers)).

with_numbers(Row, Points, Key) ->
    Of = maps:get(Key, Points, []),
    Row#{numbers => ertslab_run_numbers:shown(Of), iterations => ertslab_run_numbers:iterations(Of)}.

%% `points': the numbers of the runs with their places. `numbers': by estimator (the chosen one and the one shown beside
%% it) and {Case, Arm, Metric} the number of each pair's run. `levelled' and `values': the values of each pair's run, with
%% equal numbers of them in the arms of a pair, if the estimator depends on that, and as measured. Only `points' has pairs
%% that were measured again.
by_run(#{rounds := Rounds, estimator := Estimator}, Samples, LeftOut) ->
    Values = values(Samples),
    Counted = maps:filter(fun({{Case, _, _}, Pair}, _) -> not ertslab_disturbed:is_left_out(Case, Pair, LeftOut) end, Values),
    Numbers = ertslab_run_numbers:of_runs(Estimator, Rounds, fun together/1, Values),
    Other = ertslab_estimate:other(Estimator),
    #{points => points(Samples, LeftOut, Numbers), values => by_arm(Counted),
      levelled => by_arm(ertslab_estimate:levelled(Estimator, fun together/1, Counted)),
      numbers => #{Estimator => by_arm(values_of(maps:with(maps:keys(Counted), Numbers))),
                   Other => by_arm(values_of(ertslab_run_numbers:of_runs(Other, Rounds, fun together/1, Counted)))}}.

by_arm(Values) ->
    maps:fold(fun({Key, Pair}, OfRun, Acc) ->
                      maps:update_with(Key, fun(Pairs) -> Pairs#{Pair => OfRun} end, #{Pair => OfRun}, Acc)
              end, #{}, Values).

case_rows(#{metrics := Metrics, arms := Arms} = Plan, ByRun, Case) ->
    lists:append([with_floor(Plan, [row(Plan, ByRun, Case, Metric, IndexedArm)
                                    || IndexedArm <- lists:enumerate(0, Arms)])
                  || Metric <- Metrics]).

row(#{baseline := Baseline, exact := Exact, estimator := Estimator} = Plan, #{points := Points} = ByRun, Case,
    #{name := Metric, unit := Unit}, {Arm, #{label := Label, params := Overrides}}) ->
    Own = of_arm(values, ByRun, {Case, Arm, Metric}),
    Role = ertslab_result:role(Label, Plan),
    Row = with_numbers(#{metric => Metric, label => Label, role => Role,
                         params => ertslab_result:params(Overrides), runs => map_size(Own), unit => Unit},
                       Points, {Case, Arm, Metric}),
    Sloped = maps:merge(Row, slope_bounds(Own)),
    Numbers = fun(By, One) -> numbers(By, ByRun, {Case, One, Metric}) end,
    [Bases, Owns] = [Numbers(Estimator, One) || One <- [Baseline, Arm]],
    #{value := Value, ratio := Ratio} = Compared = compared(Estimator, Bases, Owns, Arm =:= Baseline),
    case Exact of
        true ->
            maps:merge(Sloped#{value => Value, to_control => none},
                       ertslab_exact:compared(maps:values(Bases), maps:values(Owns), Arm =:= Baseline));
        false ->
            By = ertslab_estimate:other(Estimator),
            Other = compared(By, Numbers(By, Baseline), Numbers(By, Arm), Arm =:= Baseline),
            ToControl = to_control(Role, Plan, fun(Control) ->
                                                       ertslab_estimate:paired_ratio(Estimator, Numbers(Estimator, Control), Owns)
                                               end),
            maps:merge(Sloped#{value => Value, ratio => Ratio, to_control => ToControl,
                              other => Other#{disagrees => disagree(Compared, Other)}},
                       by_build(Plan, Bases, Owns, Ratio))
    end.

%% The value and the ratio of an arm by an estimator.
compared(Estimator, Bases, Owns, IsBaseline) ->
    #{estimator => Estimator, value => value_or_none(Estimator, maps:values(Owns)),
      ratio => case IsBaseline of
                   true -> none;
                   false -> ertslab_estimate:paired_ratio(Estimator, Bases, Owns)
               end}.

%% What a change is confirmed by: {@link ertslab_verdict:beside_control/1}. The function gets the place of the control.
to_control(compared, #{control := Label, arms := Arms}, Ratio) ->
    case [Arm || {Arm, #{label := L}} <- lists:enumerate(0, Arms), L =:= Label] of
        [Control] -> Ratio(Control);
        [] -> none
    end;
to_control(_, #{}, _) -> none.

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

overall_row(#{baseline := Baseline, cases := Cases, estimator := Estimator} = Plan, ByRun, Disturbed,
            #{name := Metric, unit := Unit}, {Arm, #{label := Label, params := Overrides}}) ->
    Of = fun(One, Case) ->
                 ertslab_geometric_mean:placed(numbers(Estimator, ByRun, {Case, One, Metric}), replacements(Case, Disturbed))
         end,
    Over = fun(Base) -> overall_ratio(Estimator, [{Of(Base, Case), Of(Arm, Case)} || Case <- indexes(Cases)]) end,
    {Runs, Ratio} = Over(Baseline),
    Role = ertslab_result:role(Label, Plan),
    #{metric => Metric, label => Label, role => Role, params => ertslab_result:params(Overrides), runs => Runs,
      value => none, unit => Unit, ratio => Ratio, to_control => to_control(Role, Plan, fun(Control) -> element(2, Over(Control)) end),
      numbers => [], iterations => none}.

overall_ratio(Estimator, Results) ->
    {Runs, [{First, _} | _] = Samples} = ertslab_estimate:over_cases(Estimator, Results),
    {Runs, case ertslab_estimate:has_ratio(Estimator, length(First), lists:append([Base ++ Own || {Base, Own} <- Samples])) of
               true -> ertslab_estimate:overall(Estimator, Samples);
               false -> none
           end}.

replacements(Case, Disturbed) ->
    [{By, Pair} || #{'case' := C, pair := Pair, replaced_by := By} <- Disturbed, C =:= Case orelse C =:= all, By =/= none].

by_build(_Plan, _Base, _Own, none) -> #{};
by_build(Plan, Base, Own, _Ratio) -> ertslab_layout_luck:by_build(Base, Own, maps:get(builds, Plan, 1)).

%% A difference of the control is noise: the interval of its ratio is shown as the floor in the
%% other rows.
with_floor(#{control := Control}, Rows) ->
    Floor = case [Ratio || #{label := Label, ratio := Ratio} <- Rows, Label =:= Control] of
                [#{low := Low, high := High}] -> #{low => Low, high => High};
                _ -> none
            end,
    [Row#{floor => case Label of Control -> none; _ -> Floor end} || #{label := Label} = Row <- Rows].

of_arm(What, ByRun, Key) -> maps:get(Key, maps:get(What, ByRun), #{}).

%% Pair => the one number of its run
numbers(Estimator, #{numbers := Numbers}, Key) -> maps:get(Key, maps:get(Estimator, Numbers), #{}).

values_of(Numbers) -> maps:map(fun(_, #{value := Value}) -> Value end, Numbers).

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
value_or_none(Estimator, Numbers) -> ertslab_estimate:of_runs(Estimator, Numbers).

%% Holm's correction over all ratios that are reported, if there are enough pairs
%% for it ever to say `changed'. A quick comparison is not corrected, and says so.
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
judge(#{same_within := Bound, estimator := Estimator}, #{ratio := Ratio0, to_control := ToControl} = Row, [P | Adjusted]) ->
    Ratio = Ratio0#{p_adjusted => P},
    Verdict = ertslab_verdict:verdict(Ratio, #{bound => Bound, estimator => Estimator, control => ToControl =/= none}),
    {ertslab_verdict:beside_control(maps:merge(Row#{ratio := Ratio}, Verdict)), Adjusted}.

%% If the same emulator under another name is found to have changed, the
%% session measured something else than the variants, and no verdict is valid. A
%% quick comparison is not corrected for the number of verdicts, so some of many
%% controls differ by chance. There it is only a reason for caution.
void(#{quick := true}, _RowsByCase) -> [];
void(#{control := Control}, RowsByCase) ->
    [ertslab_text:binary(
       io_lib:format("~ts, the same as the baseline under another name, came out ~.3f (~.3f to ~.3f)"
                     " in ~ts.", [Control, Estimate, Low, High, Metric]))
     || Rows <- RowsByCase,
        #{label := Label, metric := Metric, verdict := changed,
          ratio := #{estimate := Estimate, low := Low, high := High}} <- Rows, Label =:= Control].

voided(Row, []) -> Row;
voided(#{ratio := none} = Row, _) -> Row;
voided(Row, _) -> Row#{verdict := void, more_pairs := none}.

%% Tests all arms together, so that the finding cannot favour one arm.
steady(#{exact := true}, _ByRun) -> [];
steady(#{metrics := Metrics, cases := Cases, arms := Arms, estimator := Estimator} = Plan, ByRun) ->
    Level = ?STEADY_LEVEL / (length(Metrics) * length(Cases)),
    [with_arms(Plan, maps:merge(#{'case' => Case, metric => Metric}, ertslab_estimate:steady(Estimator, Runs, Level)), ByArm)
     || Case <- indexes(Cases), #{name := Metric} <- Metrics,
        ByArm <- [[[ertslab_slope:numbers(Values)
                    || Values <- maps:values(of_arm(levelled, ByRun, {Case, Arm, Metric}))] || Arm <- indexes(Arms)]],
        [_ | _] = Runs <- [lists:append(ByArm)]].

%% A change by the same factor in all arms is no difference between them.
with_arms(#{estimator := Estimator, arms := Arms} = Plan, #{steady := false, from := From} = Found, ByArm) ->
    Number = fun(Values) -> ertslab_estimate:of_run(Estimator, Values) end,
    Known = [#{label => Label, ratio => Ratio}
             || {#{label := Label}, Runs} <- lists:zip(Arms, ByArm),
                Ratio <- [ertslab_steady:ratio_from(Runs, From, Number)], Ratio =/= none],
    Found#{arms => Known, alike => alike(Plan, Known)};
with_arms(_, Found, _) -> Found.

%% They may differ by the smallest change of interest, or by as much as the control differs from the baseline, which is the same.
alike(#{same_within := Within, baseline_label := Baseline, control := Control}, Known) ->
    Ratios = [Ratio || #{ratio := Ratio} <- Known],
    case {Ratios, [Ratio || #{label := Label, ratio := Ratio} <- Known, Label =:= Baseline orelse Label =:= Control]} of
        {[_, _ | _], [A, B]} -> apart(Ratios) =< max(Within, apart([A, B]));
        {[_, _ | _], _} -> apart(Ratios) =< Within;
        {_, _} -> false
    end.

apart(Ratios) -> lists:max(Ratios) / lists:min(Ratios) - 1.

contrasts(#{contrasts := Contrasts, arms := Arms, estimator := Estimator}, #{points := Points}, Case) ->
    [#{name => Name, says => ertslab_text:binary(Says), label => Label,
       ratio => contrast(Estimator, [maps:get({Case, Arm, Metric}, Points, []) || Metric <- [Under, Over]])}
     || #{name := Name, says := Says, over := Over, under := Under} <- Contrasts,
        {Arm, #{label := Label}} <- lists:enumerate(0, Arms)].

%% The ratio of two metrics of an arm, also with equal numbers of values. What turns have in common is out of them already.
contrast(Estimator, [Under, Over]) ->
    Both = maps:from_list([{{Metric, Pair}, Values} || {Metric, Points} <- [{under, Under}, {over, Over}],
                                                       #{pair := Pair, values := Values, aside := false} <- Points]),
    Numbers = values_of(ertslab_run_numbers:of_runs(Estimator, none, fun({_Metric, Pair}) -> Pair end, Both)),
    [Unders, Overs] = [maps:from_list([{Pair, Number} || {{M, Pair}, Number} <- maps:to_list(Numbers), M =:= Metric])
                       || Metric <- [under, over]],
    ertslab_estimate:paired_ratio(Estimator, Unders, Overs).
