%% Ratios over all cases, in exact numbers.
-module(ertslab_geometric_mean_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, mean_is_geometric/1, pair_that_a_case_lacks_is_left_out/1, zero_stays_zero/1,
         replacement_takes_the_place_of_its_pair/1, ratio_is_the_mean_within_each_pair/1,
         crashed_run_costs_its_pair_in_all_cases/1, replaced_pair_counts_once/1, interval_is_that_of_the_pairs/1,
         every_case_is_wanted/1, holm_counts_it/1, control_voids_it/1, only_who_asks_gets_it/1,
         table_and_reports_show_it/1, floors_are_of_pairs_that_all_have/1, floors_are_ranked_in_each_case/1,
         replaced_pair_of_a_floor_counts_once/1, floor_of_zero_has_no_ratio/1]).

all() ->
    [mean_is_geometric, pair_that_a_case_lacks_is_left_out, zero_stays_zero, replacement_takes_the_place_of_its_pair,
     ratio_is_the_mean_within_each_pair, crashed_run_costs_its_pair_in_all_cases, replaced_pair_counts_once,
     interval_is_that_of_the_pairs, every_case_is_wanted, holm_counts_it, control_voids_it, only_who_asks_gets_it,
     table_and_reports_show_it, floors_are_of_pairs_that_all_have, floors_are_ranked_in_each_case,
     replaced_pair_of_a_floor_counts_once, floor_of_zero_has_no_ratio].

mean_is_geometric(_) ->
    #{1 := A, 2 := B} = ertslab_geometric_mean:geometric_means([#{1 => 2, 2 => 1}, #{1 => 4, 2 => 10}, #{1 => 8, 2 => 100}]),
    ?assert(abs(A - 4.0) < 1.0e-12 andalso abs(B - 10.0) < 1.0e-12, {A, B}).

pair_that_a_case_lacks_is_left_out(_) ->
    ?assertEqual([2], maps:keys(ertslab_geometric_mean:geometric_means([#{1 => 2, 2 => 1}, #{2 => 3, 3 => 1}]))).

zero_stays_zero(_) ->
    ?assertEqual(#{1 => 0.0}, ertslab_geometric_mean:geometric_means([#{1 => 0}, #{1 => 5}])).

replacement_takes_the_place_of_its_pair(_) ->
    ?assertEqual(#{1 => a, 2 => c}, ertslab_geometric_mean:placed(#{1 => a, 9 => c}, [{9, 2}, {8, 5}])).

%% In pair K the two cases have the ratios K and 1 / 4K: 0.5 in the mean, in each.
ratio_is_the_mean_within_each_pair(_) ->
    #{ratio := #{estimate := Estimate, low := Low, high := High, pairs := 12}, verdict := changed} =
        overall(~"b", summary(opposite())),
    [?assert(abs(Value - 0.5) < 1.0e-12) || Value <- [Estimate, Low, High]].

crashed_run_costs_its_pair_in_all_cases(_) ->
    Samples = [S || #{~"pair" := Pair, ~"arm" := Arm, ~"case" := Case} = S <- opposite(),
                    {Case, Pair, Arm} =/= {1, 4, 1}],
    #{ratio := #{pairs := 11, estimate := Estimate}, runs := 11} = overall(~"b", summary(Samples)),
    ?assert(abs(Estimate - 0.5) < 1.0e-12).

%% Pair 3 of the first case is measured again as pair 13, pair 5 of the other too:
%% both stand for the pairs that they replace, and no pair is lost.
replaced_pair_counts_once(_) ->
    Disturbed = [run(0, 3, [~"other programs ran"]), run(1, 5, [~"other programs ran"]), run(0, 13, []), run(1, 13, [])],
    Again = samples(13, 0, 3.0) ++ samples(13, 1, 1 / 20),
    Summary = ertslab_summary:make(plan(), #{samples => opposite() ++ Again, runs => Disturbed}),
    #{ratio := #{pairs := 12, low := Low, high := High}} = overall(~"b", Summary),
    [?assert(abs(Value - 0.5) < 1.0e-12) || Value <- [Low, High]].

%% Both cases are slower or faster by as much: the means are those
%% of one case, and so is all that follows from them.
interval_is_that_of_the_pairs(_) ->
    Ratios = [0.8, 1.3, 0.9, 1.1, 1.01, 0.95, 1.05, 0.85, 1.15, 1.2, 0.98, 1.02],
    Samples = lists:append([samples(Pair, Case, Ratio) || {Pair, Ratio} <- lists:enumerate(Ratios), Case <- [0, 1]]),
    Expected = ertslab_stats:ratio(lists:duplicate(12, 1.0), Ratios),
    #{ratio := Found, verdict := unsure} = overall(~"b", summary(Samples)),
    [?assert(abs(maps:get(Key, Expected) - maps:get(Key, Found)) < 1.0e-9, Key)
     || Key <- [estimate, low, high, low90, high90, p, sd_log]].

every_case_is_wanted(_) ->
    Samples = [S || #{~"case" := 0} = S <- opposite()],
    ?assertMatch(#{ratio := none, verdict := none, runs := 0}, overall(~"b", summary(Samples))).

%% Two cases and what they say together, of one metric and one arm: three tests, and
%% the least p of 2/2^12 is multiplied by three.
holm_counts_it(_) ->
    #{ratio := #{p := P, p_adjusted := Adjusted}} = overall(~"b", summary(opposite())),
    ?assert(abs(Adjusted / P - 3.0) < 1.0e-9),
    ?assertEqual(3, ertslab_plan:comparisons(plan())),
    ?assertEqual(2, ertslab_plan:comparisons((plan())#{overall := false})).

control_voids_it(_) ->
    #{void := [_ | _]} = Summary =
        ertslab_summary:make((plan())#{control := ~"b"}, #{samples => opposite(), runs => []}),
    ?assertMatch(#{verdict := void}, overall(~"b", Summary)).

only_who_asks_gets_it(_) ->
    [?assertMatch(#{overall := []}, ertslab_summary:make(Plan, #{samples => opposite(), runs => []}))
     || Plan <- [(plan())#{overall := false}, maps:remove(overall, plan())]],
    One = ertslab_summary:make((plan())#{cases := [#{size => 1}]},
                               #{samples => [S || #{~"case" := 0} = S <- opposite()], runs => []}),
    ?assertMatch(#{overall := []}, One).

table_and_reports_show_it(Config) ->
    Summary = summary(opposite()),
    Table = report_fixture:table(Summary),
    ?assertMatch({match, _}, re:run(Table, "Overall, the geometric mean over 2 cases\nmetric +variant +ratio.*\n"
                                           "fast +b +0\\.500 +0\\.500 to 0\\.500 +changed")),
    #{~"overall" := Rows} = json:decode(ertslab_result:encode(Summary)),
    Data = report_fixture:data(Config, (report_fixture:full())#{~"overall" => Rows}),
    ?assertMatch(#{overall := [#{label := ~"b", role := compared, value := none}]}, Data),
    #{evidence := Evidence} = ertslab_report_wording:verdict(Data),
    ?assert(lists:member(~"Over all cases: fast of b 0.500 (0.500 to 0.500) changed: faster.", Evidence), Evidence),
    [?assertMatch({_, _}, binary:match(report_fixture:text(Page:page([Data], [])),
                                       ~"overall, the geometric mean over 1 cases"))
     || Page <- [ertslab_report_html, ertslab_report_markdown]].

%% In the order of the pairs, as numbers of one kind.
floors_are_of_pairs_that_all_have(_) ->
    ?assertEqual([{[10.0, 30.0], [11.0, 31.0]}, {[12.0, 32.0], [13.0, 33.0]}],
                 ertslab_geometric_mean:samples([{#{1 => 10, 2 => 20, 3 => 30}, #{3 => 31, 2 => 21, 1 => 11, 4 => 41}},
                                         {#{1 => 12, 2 => 22, 3 => 32}, #{1 => 13.0, 3 => 33.0, 4 => 43}}])).

%% Not the means within each pair: of each case another run may have met the floor.
floors_are_ranked_in_each_case(_) ->
    #{ratio := Ratio, runs := 12, value := none} = overall(~"b", floors(slow_at_times())),
    [Base0, Own0, Base1, Own1] = [[Value || #{~"case" := Case, ~"arm" := Arm, ~"value" := Value} <- slow_at_times(), Case =:= C, Arm =:= A]
                                  || C <- [0, 1], A <- [0, 1]],
    ?assertEqual(ertslab_floor:overall([{Base0, Own0}, {Base1, Own1}]), maps:remove(p_adjusted, Ratio)),
    #{estimate := Estimate, low := Low, high := High} = Ratio,
    ?assert(abs(Estimate / math:sqrt(0.8 * 0.9) - 1) < 0.01 andalso Low > 0.8 andalso High < 0.9, Ratio),
    #{ratio := Typical} = overall(~"b", summary(slow_at_times())),
    ?assert(math:log(maps:get(high, Typical) / maps:get(low, Typical)) > 10 * math:log(High / Low), Typical).

%% A third of the runs were twice as slow, and other ones in each case.
slow_at_times() ->
    [#{~"run" => 4 * Pair + 2 * Case + Arm, ~"case" => Case, ~"arm" => Arm, ~"metric" => ~"fast", ~"pair" => Pair, ~"iteration" => 1,
       ~"value" => (1000.0 + (5 * Pair + 3 * Case + 2 * Arm) rem 7)
           * lists:nth(1 + (Pair + Case + Arm) rem 3, [2, 1, 1])
           * case {Arm, Case} of {0, _} -> 1; {1, 0} -> 0.8; {1, 1} -> 0.9 end}
     || Pair <- lists:seq(1, 12), Case <- [0, 1], Arm <- [0, 1]].

%% As above: pair 3 of the first case and pair 5 of the other are both measured again as pair 13.
replaced_pair_of_a_floor_counts_once(_) ->
    Disturbed = [run(0, 3, [~"other programs ran"]), run(1, 5, [~"other programs ran"]), run(0, 13, []), run(1, 13, [])],
    Pairs = [Samples || Pair <- lists:seq(1, 12), Case <- [0, 1], Samples <- samples(Pair, Case, 0.5)],
    Again = samples(13, 0, 0.5) ++ samples(13, 1, 0.5),
    Summary = ertslab_summary:make((plan())#{estimator := floor}, #{samples => Pairs ++ Again, runs => Disturbed}),
    ?assertMatch(#{runs := 12, ratio := #{pairs := 12}}, overall(~"b", Summary)).

floor_of_zero_has_no_ratio(_) ->
    Samples = [case S of
                   #{~"pair" := 4, ~"arm" := 1, ~"case" := 1} -> S#{~"value" := 0};
                   #{} -> S
               end || S <- slow_at_times()],
    ?assertMatch(#{ratio := none, verdict := none}, overall(~"b", floors(Samples))).

floors(Samples) -> ertslab_summary:make((plan())#{estimator := floor}, #{samples => Samples, runs => []}).

opposite() ->
    lists:append([samples(Pair, Case, Ratio) || Pair <- lists:seq(1, 12), {Case, Ratio} <- [{0, Pair}, {1, 1 / (4 * Pair)}]]).

%% The baseline drifts from pair to pair, and from case to case.
samples(Pair, Case, Ratio) ->
    Base = 1000.0 * (Pair + 7 * Case),
    [#{~"run" => 4 * Pair + 2 * Case + Arm, ~"case" => Case, ~"arm" => Arm, ~"metric" => ~"fast", ~"pair" => Pair,
       ~"iteration" => 1, ~"value" => Value}
     || {Arm, Value} <- [{0, Base}, {1, Base * Ratio}]].

run(Case, Pair, Disturbed) ->
    #{~"run" => 4 * Pair + 2 * Case + 1, ~"case" => Case, ~"arm" => 1, ~"pair" => Pair, ~"label" => ~"b", ~"outcome" => ~"ok",
      ~"disturbed" => Disturbed}.

summary(Samples) -> ertslab_summary:make(plan(), #{samples => Samples, runs => []}).

overall(Label, #{overall := Rows}) ->
    [Row] = [R || #{label := L} = R <- Rows, L =:= Label],
    Row.

plan() ->
    VM = #{build_id => ~"0"},
    #{format => 1, experiment => ~"toy", title => ~"a toy", otp => ~"27.0", quick => false, exact => false, overall => true,
      pairs => 12, seed => 1, labelled => ~"variant", swept => null, cases => [#{size => 1}, #{size => 2}],
      baseline => 0, baseline_label => ~"a",
      arms => [#{label => Label, variant => Label, params => #{}, vm => VM} || Label <- [~"a", ~"b"]],
      estimator => typical, rounds => metrics, run_ms => 0, same_within => 0.01, control => null, replace_disturbed => true,
      budget => null, preflight => [],
      metrics => [#{name => fast, doc => ~"", unit => ns}], contrasts => [],
      machine => #{cpu => ~"cpu", cores => 2, kernel => null}, module => exp_toy}.
