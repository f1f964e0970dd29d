%% From samples that were made up to the table that they must give.
-module(ertslab_summary_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, run_is_the_median_of_its_iterations/1, ratio_is_of_pairs/1,
         crashed_run_costs_its_pair/1, too_few_pairs_have_no_ratio/1, zero_has_no_ratio/1, control_is_the_same/1,
         holm_covers_all_that_is_printed/1, control_is_the_floor/1, a_change_that_the_control_does_not_confirm_is_unsure/1,
         a_count_is_not_confirmed/1, the_ratio_to_the_control_is_of_the_same_pairs/1,
         control_that_changed_voids_all/1, quick_control_that_changed_is_a_warning/1, disturbed_pair_is_left_out_once_replaced/1,
         iterations_that_change_are_told/1, memory_is_by_arm/1, memory_of_all_cases_is_of_none/1, quick_goes_without_holm/1,
         contrast_is_within_a_vm/1,
         crashes_are_reported/1, builds_have_ratios_of_their_own/1, table_shows_each_arm/1, points_give_their_slope/1,
         growth_is_drawn_for_each/1, few_points_have_no_interval/1, bytes_are_less_and_not_faster/1, summary_is_json/1,
         floor_is_the_low_quantile/1, slow_values_do_not_move_the_floor/1, slow_runs_do_not_move_the_floor/1,
         more_values_do_not_lower_the_floor/1, other_estimator_is_beside/1, disagreement_is_told/1,
         disturbed_run_of_all_cases_is_left_out_of_each/1,
         slower_half_is_told/1, alternating_speeds_are_steady/1, the_speed_of_a_turn_is_no_difference/1, a_drift_of_all_turns_is_told/1,
         a_drift_is_alike_in_all_arms_or_not/1]).

all() ->
    [run_is_the_median_of_its_iterations, ratio_is_of_pairs, crashed_run_costs_its_pair,
     too_few_pairs_have_no_ratio, zero_has_no_ratio, control_is_the_same, holm_covers_all_that_is_printed,
     control_is_the_floor, a_change_that_the_control_does_not_confirm_is_unsure, a_count_is_not_confirmed,
     the_ratio_to_the_control_is_of_the_same_pairs,
     control_that_changed_voids_all, quick_control_that_changed_is_a_warning,
     disturbed_pair_is_left_out_once_replaced, iterations_that_change_are_told,
     memory_is_by_arm, memory_of_all_cases_is_of_none,
     quick_goes_without_holm, contrast_is_within_a_vm, crashes_are_reported,
     builds_have_ratios_of_their_own, table_shows_each_arm, points_give_their_slope, growth_is_drawn_for_each,
     few_points_have_no_interval, bytes_are_less_and_not_faster, summary_is_json,
     floor_is_the_low_quantile, slow_values_do_not_move_the_floor, slow_runs_do_not_move_the_floor,
     more_values_do_not_lower_the_floor, other_estimator_is_beside, disagreement_is_told, disturbed_run_of_all_cases_is_left_out_of_each,
     slower_half_is_told, alternating_speeds_are_steady, the_speed_of_a_turn_is_no_difference, a_drift_of_all_turns_is_told,
     a_drift_is_alike_in_all_arms_or_not].

run_is_the_median_of_its_iterations(_) ->
    Samples = [sample(Pair, 0, ~"fast", I, V) || Pair <- [1, 2, 3],
                                                 {I, V} <- [{1, 10}, {2, 1000 * Pair}, {3, 99999}]],
    #{value := Value, runs := Runs} = row(fast, ~"a", summary(Samples)),
    ?assertEqual({2000, 3}, {round(Value), Runs}).

%% Each pair drifts by itself; its ratio does not.
ratio_is_of_pairs(_) ->
    #{ratio := #{estimate := Estimate}, verdict := Verdict} =
        row(fast, ~"b", summary(twice_as_fast(lists:seq(1, 12)))),
    ?assert(abs(Estimate - 0.5) < 1.0e-9),
    ?assertEqual(changed, Verdict).

crashed_run_costs_its_pair(_) ->
    Samples = [S || #{~"pair" := Pair, ~"arm" := Arm} = S <- twice_as_fast(lists:seq(1, 12)),
                    {Pair, Arm} =/= {4, 1}],
    #{ratio := #{pairs := Pairs}} = row(fast, ~"b", summary(Samples)),
    ?assertEqual(11, Pairs).

%% The machine was slow for half of the turns, one more or less from pair to pair, and disturbed one round. Where each VM has
%% a time of its own, nothing is known of turns, and the medians of the runs jump.
the_speed_of_a_turn_is_no_difference(_) ->
    Turns = fun(Pair, Arm) ->
                    [case {Turn, Arm} of {2, 1} -> 900; _ -> (100 + Turn rem 2 * 60) * (1 + 0.03 * Arm) end
                     || Turn <- lists:seq(1, 8 + Pair rem 2)]
            end,
    Samples = [values(Pair, Arm, Turns(Pair, Arm))
               || Pair <- lists:seq(1, 12), Arm <- [0, 1]],
    Of = fun(Rounds) -> row(fast, ~"b", ertslab_summary:make((plan())#{rounds := Rounds}, #{samples => Samples, runs => []})) end,
    #{ratio := #{estimate := Estimate, low := Low, high := High}, verdict := changed} = Of(arms),
    [?assert(abs(Ratio - 1.03) < 1.0e-6) || Ratio <- [Estimate, Low, High]],
    #{ratio := #{low := OwnLow, high := OwnHigh}} = Of(metrics),
    ?assert(OwnHigh / OwnLow > 1.2, {OwnLow, OwnHigh}).

%% It is no difference between arms, and a change all the same.
a_drift_of_all_turns_is_told(_) ->
    Samples = [values(Pair, Arm, [200 - 5 * Turn || Turn <- lists:seq(1, 8)])
               || Pair <- lists:seq(1, 12), Arm <- [0, 1]],
    ?assertMatch(#{steady := [#{metric := ~"fast", steady := false} | _]},
                 ertslab_summary:make((plan())#{rounds := arms}, #{samples => Samples, runs => []})).

%% Of the verdict the one says nothing, the other may.
a_drift_is_alike_in_all_arms_or_not(_) ->
    Of = fun(Rounds, Later) ->
                 Samples = [#{~"run" => 2 * Pair + Arm, ~"case" => 0, ~"arm" => Arm, ~"metric" => ~"fast", ~"pair" => Pair,
                              ~"values" => [(1000 + Pair + N) * case N > 4 of true -> element(Arm + 1, Later); false -> 1 end
                                            || N <- lists:seq(1, 8)]}
                            || Pair <- lists:seq(1, 12), Arm <- [0, 1]],
                 #{steady := [Found | _], warnings := [Warning | _]} =
                     ertslab_summary:make((plan())#{rounds := Rounds, same_within := 0.01}, #{samples => Samples, runs => []}),
                 {Found, Warning}
         end,
    [begin
         {#{steady := false, alike := true, arms := [#{label := ~"a", ratio := Ratio}, _]}, Alike} = Of(Rounds, {0.9, 0.9}),
         ?assert(abs(Ratio - 0.9) < 0.005, Ratio),
         ?assertMatch({_, _}, binary:match(Alike, ~"in all arms alike. The verdict covers both parts")),
         {#{steady := false, alike := false}, NotAlike} = Of(Rounds, {0.9, 0.8}),
         ?assertMatch({_, _}, binary:match(NotAlike, ~"not alike in all arms (0.80"))
     end || Rounds <- [arms, metrics]].

%% The slope of what does not grow is 0.
zero_has_no_ratio(_) ->
    Samples = [S#{~"value" := case S of #{~"pair" := 3, ~"arm" := 1} -> 0; #{~"value" := V} -> V end}
               || S <- twice_as_fast(lists:seq(1, 12))],
    #{ratio := Ratio, verdict := Verdict} = row(fast, ~"b", summary(Samples)),
    ?assertEqual({none, none}, {Ratio, Verdict}),
    Builds = ertslab_summary:make((plan())#{builds => 2}, #{samples => Samples, runs => []}),
    ?assertNot(is_map_key(builds, row(fast, ~"b", Builds))).

too_few_pairs_have_no_ratio(_) ->
    #{ratio := Ratio, verdict := Verdict} = row(fast, ~"b", summary(twice_as_fast([1, 2, 3]))),
    ?assertEqual({none, none}, {Ratio, Verdict}).

control_is_the_same(_) ->
    Samples = [sample(Pair, Arm, ~"fast", 1, 1000 + 300 * Pair + wobble(Pair, Arm))
               || Pair <- lists:seq(1, 12), Arm <- [0, 1]],
    ?assertMatch(#{verdict := same}, row(fast, ~"b", summary(Samples))).

wobble(_, 0) -> 0;
wobble(Pair, 1) when Pair rem 2 =:= 0 -> 1;
wobble(_, 1) -> -1.

%% Two metrics, one p of 2/2^12 each: Holm doubles the smaller.
holm_covers_all_that_is_printed(_) ->
    #{ratio := #{p := P, p_adjusted := Adjusted}} = row(fast, ~"b", summary(both_metrics())),
    ?assert(abs(Adjusted / P - 2.0) < 1.0e-9).

quick_goes_without_holm(_) ->
    Summary = ertslab_summary:make((plan())#{quick := true}, #{samples => both_metrics(), runs => []}),
    #{ratio := #{p := P, p_adjusted := Adjusted}} = row(fast, ~"b", Summary),
    ?assertEqual(P, Adjusted),
    ?assertMatch(#{warnings := [_]}, Summary).

%% The control's interval stands beside what is judged, not beside itself.
control_is_the_floor(_) ->
    Summary = controlled([{0, 1000}, {1, 1010}, {2, 500}]),
    #{floor := #{low := Low, high := High}} = row(fast, ~"c", Summary),
    ?assert(abs(Low - 1.01) < 1.0e-9 andalso abs(High - 1.01) < 1.0e-9),
    ?assertMatch(#{floor := none}, row(fast, ~"b", Summary)).

%% The control is 12 % slower and faster in turn, and the variant differs from the baseline by 5 % in each pair. So it is in each
%% case, and in the mean over them.
a_change_that_the_control_does_not_confirm_is_unsure(_) ->
    Summary = fun(Own, Changes) ->
                      Samples = [(sample(Pair, Arm, ~"fast", 1, Pair * Value))#{~"case" := Case}
                                 || Case <- [0, 1], Pair <- lists:seq(1, 12),
                                    {Arm, Value} <- [{0, 1000}, {1, 1000 + 120 - 240 * (Pair rem 2)}, {2, Own}]],
                      ertslab_summary:make(maps:merge((three())#{cases := [#{size => 1}, #{size => 2}], overall => true}, Changes),
                                           #{samples => Samples, runs => []})
              end,
    Judged = fun(Label, #{cases := Cases, overall := Overall}) ->
                     [{Verdict, More, is_map(ToControl)}
                      || Rows <- [Overall | [Rows || #{rows := Rows} <- Cases]],
                         #{metric := ~"fast", label := L, verdict := Verdict, more_pairs := More, to_control := ToControl} <- Rows,
                         L =:= Label]
             end,
    Unsure = lists:duplicate(3, {unsure, none, true}),
    [?assertEqual(Unsure, Judged(~"c", Summary(Own, Changes))) || Own <- [1050, 950], Changes <- [#{}, #{quick => true}]],
    [?assertEqual(lists:duplicate(3, {changed, none, true}), Judged(~"c", Summary(Own, #{}))) || Own <- [1200, 800]],
    %% The control is not compared with itself, nor is the baseline, which has no mean over the cases.
    [?assertMatch([{unsure, _, false}, {unsure, _, false}, {unsure, _, false}], Judged(~"b", Summary(Own, #{}))) || Own <- [1050, 1200]],
    ?assertEqual(lists:duplicate(2, {none, none, false}), Judged(~"a", Summary(1050, #{}))),
    %% Without a control its arm is one of those that are judged.
    ?assertEqual(lists:duplicate(3, {changed, none, false}), Judged(~"c", Summary(1050, #{control => null}))),
    Table = report_fixture:table(Summary(1050, #{})),
    ?assertMatch({match, [_, _, _]},
                 re:run(Table, "c +(\\S+ \\S+ +)?1\\.050 .* unsure \\(not apart from the control\\)\n", [global, {capture, first}])).

a_count_is_not_confirmed(_) ->
    Counts = [sample(Pair, Arm, ~"fast", 1, Count) || Pair <- lists:seq(1, 12), {Arm, Count} <- [{0, 1000}, {1, 1000}, {2, 1050}]],
    ?assertMatch(#{verdict := changed, to_control := none},
                 row(fast, ~"c", ertslab_summary:make((three())#{exact := true}, #{samples => Counts, runs => []}))).

%% The pairs that both have, and by the estimator of the comparison.
the_ratio_to_the_control_is_of_the_same_pairs(_) ->
    Samples = [sample(Pair, Arm, ~"fast", 1, Pair * Value) || Pair <- lists:seq(1, 12), {Arm, Value} <- [{0, 1000}, {1, 1100}, {2, 1210}],
                                                              {Pair, Arm} =/= {4, 1}, {Pair, Arm} =/= {5, 2}],
    Made = fun(Estimator) ->
                   #{to_control := ToControl} = row(fast, ~"c", ertslab_summary:make((three())#{estimator := Estimator},
                                                                                     #{samples => Samples, runs => []})),
                   ToControl
           end,
    #{estimate := Estimate, pairs := Pairs} = Made(typical),
    ?assert(abs(Estimate - 1.1) < 1.0e-9),
    ?assertEqual(10, Pairs),
    Numbers = fun(Value, Without) -> [float(Pair * Value) || Pair <- lists:seq(1, 12) -- Without] end,
    [?assertEqual(ertslab_estimate:ratio(Name, Numbers(1100, [4, 5]), Numbers(1210, [4, 5])), Made(Name))
     || Name <- ertslab_estimate:names()].

control_that_changed_voids_all(_) ->
    #{void := [Sentence]} = Summary = controlled([{0, 1000}, {1, 1100}, {2, 500}]),
    ?assertMatch({_, _}, binary:match(Sentence, ~"b, the same as the baseline")),
    ?assertMatch(#{verdict := void}, row(fast, ~"c", Summary)),
    ?assertMatch({match, _}, re:run(report_fixture:table(Summary), "VOID", [unicode])),
    %% What is not apart from the control is void, too.
    ?assertMatch(#{verdict := void, more_pairs := none, to_control := #{}},
                 row(fast, ~"c", controlled([{0, 1000}, {1, 1100}, {2, 1100}]))).

%% Without a correction some of many controls differ by chance.
quick_control_that_changed_is_a_warning(_) ->
    #{void := Void, warnings := [_Quick, Warning | _]} = Summary =
        controlled([{0, 1000}, {1, 1100}, {2, 500}], #{quick => true}),
    ?assertEqual([], Void),
    ?assertMatch(#{verdict := changed}, row(fast, ~"c", Summary)),
    ?assertMatch({_, _}, binary:match(Warning, ~"control itself differs in 1 of its results")).

%% A wobble of 0.1 % keeps the values of pairs apart.
controlled(Arms) -> controlled(Arms, #{quick => false}).

controlled(Arms, #{quick := Quick}) ->
    Samples = [sample(Pair, Arm, ~"fast", 1, Pair * Value) || Pair <- lists:seq(1, 12), {Arm, Value} <- Arms],
    ertslab_summary:make((three())#{quick := Quick}, #{samples => Samples, runs => []}).

three() ->
    VM = #{build_id => ~"0"},
    (plan())#{arms := [#{label => Label, variant => Label, params => #{}, vm => VM} || Label <- [~"a", ~"b", ~"c"]],
              control := ~"b", baseline_label := ~"a"}.

disturbed_pair_is_left_out_once_replaced(_) ->
    Pairs = lists:seq(1, 12),
    Disturbed = run(3, 1, [~"other programs ran"]),
    Replaced = [run(13, Arm, []) || Arm <- [0, 1]],
    Samples = twice_as_fast(Pairs ++ [13]),
    Before = ertslab_summary:make(plan(), #{samples => twice_as_fast(Pairs), runs => [Disturbed]}),
    After = ertslab_summary:make(plan(), #{samples => Samples, runs => [Disturbed | Replaced]}),
    ?assertMatch(#{runs := 12}, row(fast, ~"b", Before)),
    ?assertMatch(#{runs := 12}, row(fast, ~"b", After)),
    ?assertMatch(#{disturbed := [#{pair := 3, replaced_by := 13}]}, After).

run(Pair, Arm, Disturbed) ->
    #{~"run" => 2 * Pair + Arm, ~"case" => 0, ~"arm" => Arm, ~"pair" => Pair, ~"label" => ~"a", ~"outcome" => ~"ok",
      ~"disturbed" => Disturbed}.

%% Each run gets 10 % slower after its third iteration.
iterations_that_change_are_told(_) ->
    Samples = [sample(Pair, Arm, ~"fast", I, Pair * Value)
               || Pair <- lists:seq(1, 12), Arm <- [0, 1],
                  {I, Value} <- lists:enumerate([1000, 1000, 1000, 1100, 1100, 1100])],
    #{steady := [#{steady := false, from := 4}], warnings := [Warning]} = summary(Samples),
    ?assertMatch({_, _}, binary:match(Warning, ~"10.0 % slower from iteration 4 on")).

%% The median of what each arm's runs could read.
memory_is_by_arm(_) ->
    Runs = [(run(Pair, Arm, []))#{~"label" := Label, ~"facts" => #{~"memory" => #{~"rss" => Rss, ~"pss" => null}}}
            || Pair <- [1, 2, 3], {Arm, Label, Rss} <- [{0, ~"a", 1000 * Pair}, {1, ~"b", 500}]],
    #{memory := Rows} = ertslab_summary:make(plan(), #{samples => both_metrics(), runs => Runs}),
    ?assertEqual([{~"a", 2000.0}, {~"b", 500.0}], [{Label, Median} || #{label := Label, median := Median} <- Rows]).

%% Where a VM held them side by side, nobody can tell whose it was.
memory_of_all_cases_is_of_none(_) ->
    Runs = [(run(Pair, Arm, []))#{~"case" := ~"all", ~"label" := Label, ~"facts" => #{~"memory" => #{~"rss" => 1000 * Pair}}}
            || Pair <- [1, 2, 3], {Arm, Label} <- [{0, ~"a"}, {1, ~"b"}]],
    Plan = (plan())#{rounds := cases, cases := [#{size => 1}, #{size => 2}]},
    #{memory := Rows} = ertslab_summary:make(Plan, #{samples => both_metrics(), runs => Runs}),
    ?assertEqual([{all, ~"a", 2000.0, 3}, {all, ~"b", 2000.0, 3}],
                 [{Case, Label, Median, N} || #{'case' := Case, label := Label, median := Median, runs := N} <- Rows]).

contrast_is_within_a_vm(_) ->
    Samples = [sample(Pair, Arm, Metric, 1, Value)
               || Pair <- lists:seq(1, 8), Arm <- [0, 1],
                  {Metric, Value} <- [{~"fast", 100 * Pair}, {~"slow", 1000 * Pair}]],
    #{cases := [#{contrasts := [#{ratio := #{estimate := Estimate}}, _]}]} = summary(Samples),
    ?assert(abs(Estimate - 10.0) < 1.0e-9).

crashes_are_reported(_) ->
    Runs = [#{~"run" => 1, ~"pair" => 1, ~"label" => ~"b", ~"params" => #{}, ~"outcome" => ~"crashed",
              ~"reason" => ~"the VM ended", ~"host" => #{}, ~"duration_ms" => 5}],
    #{crashed := [#{label := ~"b"}], warnings := [Warning]} =
        ertslab_summary:make(plan(), #{samples => both_metrics(), runs => Runs}),
    ?assertMatch({_, _}, binary:match(Warning, ~"the VM ended")).

table_shows_each_arm(_) ->
    Text = report_fixture:table(summary(both_metrics())),
    ?assertMatch({match, _}, re:run(Text, "fast +a +\\S+ (ns|us|ms)")),
    ?assertMatch({match, _}, re:run(Text, "b +\\S+ (ns|us) +0\\.500 +0\\.500 to 0\\.500 +changed")),
    ?assertMatch({match, _}, re:run(Text, "Ratios are to a, below 1 is faster")).

%% The slope of arm a is 8 and that of b 4, whatever a run begins with; the last
%% two points of b are off, by which 14 of its 36 slopes are less.
points_give_their_slope(_) ->
    Samples = [sample(Pair, Arm, ~"fast", 1,
                      [[N, 100 * Pair + Slope * N + off(Arm, N)] || N <- lists:seq(1, 9)])
               || Pair <- lists:seq(1, 12), {Arm, Slope} <- [{0, 8}, {1, 4}]],
    Summary = summary(Samples),
    ?assertMatch(#{value := 8.0, slope := #{low := 8.0, high := 8.0}}, row(fast, ~"a", Summary)),
    #{value := 4.0, slope := #{low := Low, high := High}, ratio := #{estimate := Ratio}} =
        row(fast, ~"b", Summary),
    ?assertEqual({3.2, 4.0}, {Low, High}),
    %% The medians over the runs, which begin with 100 to 1200.
    #{points := Points} = row(fast, ~"a", Summary),
    ?assertEqual([[N, 650.0 + 8 * N] || N <- lists:seq(1, 9)], Points),
    ?assert(abs(Ratio - 0.5) < 1.0e-9),
    Text = report_fixture:table(Summary),
    ?assertMatch({_, _}, binary:match(Text, ~"(3.2 to 4)")).

%% What is drawn is the growth from the first point on, for each; what is less than the
%% first has no place on a logarithmic axis.
growth_is_drawn_for_each(_) ->
    Samples = [sample(Pair, Arm, ~"fast", 1, [[0, 1000 + Pair], [10, 1000 + Pair + 10 * Slope], [20, 900]])
               || Pair <- lists:seq(1, 12), {Arm, Slope} <- [{0, 8}, {1, 4}]],
    Script = unicode:characters_to_binary(ertslab_plot_lines:growth(summary(Samples))),
    [?assertMatch({_, _}, binary:match(Script, Text))
     || Text <- [~"<< EOD\n10 8.00000\nEOD", ~"<< EOD\n10 4.00000\nEOD", ~"title \"fast, a\"", ~"title \"fast, b\""]].

off(1, N) when N >= 8 -> -4;
off(_, _) -> 0.

few_points_have_no_interval(_) ->
    Samples = [sample(Pair, 0, ~"fast", 1, [[1, 5], [2, 7]]) || Pair <- lists:seq(1, 12)],
    Summary = summary(Samples),
    ?assertMatch(#{value := 2.0, slope := #{low := too_few, high := too_few}},
                 row(fast, ~"a", Summary)),
    ?assertMatch({match, _}, re:run(report_fixture:table(Summary), "a +2\\.0 ns *\n")).

bytes_are_less_and_not_faster(_) ->
    Plan = (plan())#{metrics := [#{name => fast, unit => bytes}]},
    Text = report_fixture:table(ertslab_summary:make(Plan, #{samples => both_metrics(), runs => []})),
    ?assertMatch({match, _}, re:run(Text, "Ratios are to a, below 1 is less")).

builds_have_ratios_of_their_own(_) ->
    Samples = [sample(Pair, Arm, ~"fast", 1, Value)
               || Pair <- lists:seq(1, 20),
                  {Arm, Value} <- [{0, 1000 + Pair}, {1, 1000 + Pair + 200 * (Pair rem 2)}]],
    Summary = ertslab_summary:make((plan())#{builds => 2}, #{samples => Samples, runs => []}),
    ?assertMatch(#{builds := [#{build := 1, pairs := 10}, #{build := 2, pairs := 10, ratio := 1.0}]},
                 row(fast, ~"b", Summary)),
    [?assertNot(is_map_key(builds, Row))
     || Row <- [row(fast, ~"a", Summary), row(fast, ~"b", summary(Samples))]],
    #{warnings := Warnings} = Summary,
    ?assertMatch([_], [Warning || <<"Layout matters: fast of b", _/binary>> = Warning <- Warnings]),
    Text = report_fixture:table(Summary),
    ?assertMatch({match, _}, re:run(Text, "b, fast by build: 1\\.19\\d, 1\\.000")).

summary_is_json(_) ->
    Json = ertslab_result:encode(summary(both_metrics())),
    ?assertMatch(#{~"cases" := [_], ~"plan" := #{~"pairs" := 12}}, json:decode(Json)).

%% Two of 101 values of a run lie below its number, and of the runs 1000 to 1010 a tenth below that of the arm.
floor_is_the_low_quantile(_) ->
    Samples = [values(Pair, 0, [1000 * N + Pair || N <- lists:seq(101, 1, -1)]) || Pair <- lists:seq(0, 10)],
    ?assertMatch(#{value := 3001.0, runs := 11, other := #{estimator := typical, value := 51005.0, ratio := none}},
                 row(fast, ~"a", floors(Samples))),
    ?assertMatch(#{value := 51005.0, runs := 11, other := #{estimator := floor, value := 3001.0}},
                 row(fast, ~"a", summary(Samples))).

%% Most values of an arm are from a slow time of the machine, however slow.
slow_values_do_not_move_the_floor(_) ->
    [#{value := Value, ratio := #{estimate := Estimate, high := High} = Ratio, verdict := changed}, #{ratio := Same}] =
        [row(fast, ~"b", floors(mostly_slow(Slow))) || Slow <- [3000, 100_000]],
    ?assert(Value > 900 andalso Value < 904, Value),
    ?assert(abs(Estimate - 0.901) < 0.002 andalso High < 0.91, {Estimate, High}),
    ?assertEqual(Ratio, Same).

mostly_slow(Slow) ->
    lists:append([[values(Pair, 0, lists:duplicate(101, 1000 + Pair)),
                   values(Pair, 1, lists:duplicate(80, Slow + Pair) ++ lists:duplicate(21, 900 + Pair))]
                  || Pair <- lists:seq(1, 20)]).

%% Three runs of twenty met the slow time only, however slow.
slow_runs_do_not_move_the_floor(_) ->
    Samples = fun(Slow) ->
                      [values(Pair, Arm, [Factor * (1000 + 7 * Pair rem 11), Factor * 1100])
                       || Pair <- lists:seq(1, 20), Arm <- [0, 1],
                          Factor <- [case Arm =:= 1 andalso Pair =< 3 of true -> Slow; false -> 1 end]]
              end,
    [#{estimate := Estimate, p := P}, #{estimate := Slower, p := P}] =
        [maps:get(ratio, row(fast, ~"b", floors(Samples(Slow)))) || Slow <- [1.5, 1000]],
    ?assert(abs(Estimate - 1) < 0.005 andalso abs(Estimate - Slower) < 1.0e-3, {Estimate, Slower}),
    ?assert(P > 0.05, P).

%% A run that was faster in anything else had time for more values. Of each pair as many count as both
%% have: ten in odd ones, the first of which are alike, and all where all are there.
more_values_do_not_lower_the_floor(_) ->
    Samples = [values(Pair, Arm, lists:duplicate(10, 1000 + Pair) ++ [800 || _ <- lists:seq(1, More)])
               || Pair <- lists:seq(1, 12), {Arm, More} <- [{0, 90 * ((Pair + 1) rem 2)}, {1, 90}]],
    #{value := Value, ratio := #{estimate := Estimate}} = row(fast, ~"b", floors(Samples)),
    ?assertEqual(800.0, Value),
    ?assert(abs(Estimate - 1) < 1.0e-3, Estimate),
    ?assertMatch(#{value := 800.0}, row(fast, ~"a", floors(Samples))),
    Odd = [S || #{~"pair" := Pair} = S <- Samples, Pair rem 2 =:= 1],
    [?assertMatch(#{value := Low} when Low > 1000, row(fast, Label, floors(Odd))) || Label <- [~"a", ~"b"]],
    ?assertMatch(#{value := 800.0}, row(fast, ~"b", summary(Odd))).

%% Each estimator has the same of the other.
other_estimator_is_beside(_) ->
    Samples = twice_as_fast(lists:seq(1, 12)),
    #{value := Median, ratio := Typical, other := #{estimator := floor} = Floor} = row(fast, ~"b", summary(Samples)),
    #{value := Low, ratio := Own, other := #{estimator := typical} = Other} = row(fast, ~"b", floors(Samples)),
    ?assertEqual(Floor, #{estimator => floor, value => Low, ratio => maps:remove(p_adjusted, Own), disagrees => false}),
    ?assertEqual(Other, #{estimator => typical, value => Median, ratio => maps:remove(p_adjusted, Typical), disagrees => false}),
    ?assertNotEqual(Low, Median),
    ?assertEqual(nomatch, binary:match(table(floors(Samples)), ~"but ")).

disagreement_is_told(Config) ->
    [Floors, Medians] = [Make(mostly_slow(3000)) || Make <- [fun floors/1, fun summary/1]],
    [?assertMatch(#{other := #{disagrees := true}}, row(fast, ~"b", Summary)) || Summary <- [Floors, Medians]],
    [?assertMatch({match, _}, re:run(table(Summary), Text))
     || {Summary, Text} <- [{Floors, "metric +variant +floor +ratio"},
                            {Floors, "b +\\S+ \\S+ +0\\.90\\d .* changed, but median 2\\.9\\d\\d\n"},
                            {Medians, "metric +variant +median +ratio"},
                            {Medians, "b +\\S+ \\S+ +2\\.9\\d\\d .* changed, but floor 0\\.90\\d\n"}]],
    Data = report_fixture:data(Config, json:decode(ertslab_result:encode(Floors))),
    [?assertMatch({match, _}, re:run(report_fixture:text(Page:page([Data], [])), Text))
     || {Page, Text} <- [{ertslab_report_html, "disagrees: by the median it is 2\\.9\\d\\d \\(2\\.9\\d\\d to 2\\.9\\d\\d\\)"},
                         {ertslab_report_markdown, "changed: faster; by the median it is 2\\.9\\d\\d \\(2\\.9"}]].

%% Pair 3, of which one run was five times as slow, is left out of both cases once pair 13 is there.
disturbed_run_of_all_cases_is_left_out_of_each(_) ->
    Plan = (plan())#{rounds := cases, cases := [#{size => 1}, #{size => 2}], overall => true},
    Samples = [(values(Pair, Arm, [case {Pair, Arm} of {3, 1} -> 5000; {_, 1} -> 500; _ -> 1000 end]))#{~"case" := Case}
               || Pair <- lists:seq(1, 13), Arm <- [0, 1], Case <- [0, 1]],
    Run = fun(Pair, Disturbed) -> (run(Pair, 1, Disturbed))#{~"case" := ~"all"} end,
    Disturbed = Run(3, [~"other programs ran"]),
    Made = fun(Pairs, Runs) ->
                   ertslab_summary:make(Plan, #{samples => [S || #{~"pair" := Pair} = S <- Samples, Pair =< Pairs], runs => Runs})
           end,
    Before = Made(12, [Disturbed]),
    After = Made(13, [Disturbed, Run(13, [])]),
    [begin
         #{cases := Cases, overall := Overall, disturbed := Replaced} = Summary,
         ?assertMatch([#{'case' := all, pair := 3, replaced_by := 13}], Replaced),
         ?assertEqual([{12, 12, Alike} || _ <- [case1, case2, overall]],
                      [{Runs, Pairs, Sd < 1.0e-9}
                       || Rows <- [Rows || #{rows := Rows} <- Cases] ++ [Overall],
                          #{label := ~"b", metric := ~"fast", runs := Runs, ratio := #{pairs := Pairs, sd_log := Sd}} <- Rows])
     end || {Summary, Alike} <- [{Before, false}, {After, true}]],
    #{warnings := [Warning]} = After,
    ?assertMatch({_, _}, binary:match(Warning, ~"1 of 2 runs were disturbed (other programs ran); 1 pairs were left out")).

slower_half_is_told(_) ->
    Samples = [values(Pair, Arm, [Value + Pair rem 5 || Value <- [1000, 1002, 1001, 1003, 1000, 1050, 1052, 1051, 1053, 1050]])
               || Pair <- lists:seq(1, 12), Arm <- [0, 1]],
    #{steady := [#{'case' := 0, metric := ~"fast", steady := false, from := 6, ratio := Ratio}], warnings := [Warning]} = floors(Samples),
    ?assert(abs(Ratio - 1.05) < 0.003, Ratio),
    ?assertMatch({_, _}, binary:match(Warning, ~"5.0 % slower from iteration 6 on")).

%% Each speed lasts for half a run, and any may be the first.
alternating_speeds_are_steady(_) ->
    Samples = [values(Pair, Arm, [case (Pair + Arm + N div 10) rem 2 of 0 -> 1000; 1 -> 1400 end + N rem 3 || N <- lists:seq(0, 19)])
               || Pair <- lists:seq(1, 20), Arm <- [0, 1]],
    ?assertMatch(#{steady := [#{steady := true}], warnings := []}, floors(Samples)).

floors(Samples) -> ertslab_summary:make((plan())#{estimator := floor}, #{samples => Samples, runs => []}).

%% All values of a run, as format 2 has them.
values(Pair, Arm, Values) ->
    #{~"run" => 2 * Pair + Arm, ~"case" => 0, ~"arm" => Arm, ~"metric" => ~"fast", ~"pair" => Pair, ~"values" => Values}.

table(Summary) -> report_fixture:table(Summary).

both_metrics() ->
    [S#{~"metric" := Metric} || S <- twice_as_fast(lists:seq(1, 12)), Metric <- [~"fast", ~"slow"]].

twice_as_fast(Pairs) ->
    [sample(Pair, Arm, ~"fast", 1, 1000 * Pair div (Arm + 1)) || Pair <- Pairs, Arm <- [0, 1]].

sample(Pair, Arm, Metric, Iteration, Value) ->
    #{~"run" => 3 * Pair + Arm, ~"case" => 0, ~"arm" => Arm, ~"metric" => Metric, ~"pair" => Pair,
      ~"iteration" => Iteration, ~"value" => Value}.

summary(Samples) -> ertslab_summary:make(plan(), #{samples => Samples, runs => []}).

row(Metric, Label, #{cases := [#{rows := Rows}]}) ->
    [Row] = [R || #{metric := M, label := L} = R <- Rows, M =:= atom_to_binary(Metric), L =:= Label],
    Row.

plan() ->
    VM = #{build_id => ~"0"},
    #{experiment => ~"toy", title => ~"a toy", otp => ~"27.0", quick => false, pairs => 12, seed => 1,
      labelled => ~"variant", cases => [#{size => 3}], baseline => 0, baseline_label => ~"a",
      arms => [#{label => ~"a", variant => ~"a", params => #{}, vm => VM},
               #{label => ~"b", variant => ~"b", params => #{}, vm => VM}],
      estimator => typical, rounds => metrics, run_ms => 0,
      exact => false, same_within => 0.01, control => null, replace_disturbed => true,
      metrics => [#{name => fast, unit => ns}, #{name => slow, unit => ns}],
      contrasts => [#{name => slowdown, says => ~"slow to fast", over => slow, under => fast}],
      machine => #{cpu => ~"cpu", cores => 2, kernel => null}, module => exp_toy}.
