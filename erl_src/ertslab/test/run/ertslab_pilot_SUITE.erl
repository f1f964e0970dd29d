%% What a budget of time is said to buy.
-module(ertslab_pilot_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, spread_is_of_pairs/1, one_pair_has_no_spread/1,
         effect_shrinks_with_pairs/1, effect_is_that_of_the_verdict/1,
         spread_is_by_the_estimator/1, short_runs_where_long_ones_differ_as_much/1, long_runs_where_they_differ_less/1,
         runs_until_the_fast_speed_comes/1, shorter_runs_make_cheaper_pairs/1, counted_runs_have_no_length/1,
         runs_that_end_sooner_save_less/1, runs_beyond_their_time_save_nothing/1,
         levels_are_of_runs_and_of_values/1, levels_are_told/1, pilot_of_counted_runs/1,
         small_budgets_make_short_runs/1, turns_go_on_as_long_as_starting_takes/1,
         a_budget_that_no_machine_keeps_is_refused_before_a_run/1]).

all() ->
    [spread_is_of_pairs, one_pair_has_no_spread, effect_shrinks_with_pairs,
     effect_is_that_of_the_verdict, spread_is_by_the_estimator, short_runs_where_long_ones_differ_as_much,
     long_runs_where_they_differ_less, runs_until_the_fast_speed_comes, shorter_runs_make_cheaper_pairs,
     counted_runs_have_no_length, runs_that_end_sooner_save_less, runs_beyond_their_time_save_nothing,
     levels_are_of_runs_and_of_values, levels_are_told, pilot_of_counted_runs,
     small_budgets_make_short_runs, turns_go_on_as_long_as_starting_takes,
     a_budget_that_no_machine_keeps_is_refused_before_a_run].

%% What all arms of a pair share is no spread: log ratios of 0, log 2 and 0.
spread_is_of_pairs(_) ->
    Lines = [sample(Pair, 0, 10 * Pair) || Pair <- [1, 2, 3]]
        ++ [sample(1, 1, 10), sample(2, 1, 40), sample(3, 1, 30)],
    Spread = ertslab_pilot:spread(plan(), work, Lines),
    ?assert(abs(Spread - math:log(2) / math:sqrt(3)) < 1.0e-9).

one_pair_has_no_spread(_) ->
    ?assertEqual(none, ertslab_pilot:spread(plan(), work, [sample(1, 0, 10), sample(1, 1, 11)])).

effect_shrinks_with_pairs(_) ->
    [#{effect := Few}] = ertslab_pilot:smallest_effects([{work, 0.05}], 10, 4, true),
    [#{effect := Many}] = ertslab_pilot:smallest_effects([{work, 0.05}], 40, 4, true),
    ?assert(abs(math:log(1 + Few) / math:log(1 + Many) - 2) < 1.0e-9).

%% By hand: (1.960 + 0.842) * 0.02 / sqrt(20 * 3/pi) = 0.01282; beside a control (1.960 + 1.0) * 0.02 / sqrt(20 * 3/pi)
%% = 0.01355.
effect_is_that_of_the_verdict(_) ->
    Effect = fun(Comparisons, Control) -> math:log(1 + ertslab_verdict:smallest_effect(0.02, 20, Comparisons, Control)) end,
    ?assert(abs(Effect(1, false) - 0.01282) < 2.0e-5),
    ?assert(abs(Effect(1, true) - 0.01355) < 2.0e-5),
    %% The normal quantile of 1 - 0.05 / 2000 / 2 is 4.215.
    ?assert(abs(Effect(2000, true) - (4.215 + 1.0) * 0.02 / math:sqrt(20 * 3 / math:pi())) < 2.0e-5).

%% The median of 10, 20, 90 differs from pair to pair, the floor does not.
spread_is_by_the_estimator(_) ->
    Lines = [values(Pair, Arm, lists:duplicate(51, 10) ++ lists:duplicate(51, 10 + Pair * Arm * 40) ++ [90])
             || Pair <- [1, 2, 3], Arm <- [0, 1]],
    [Floor, Typical] = [ertslab_pilot:spread((plan())#{estimator := Estimator}, work, Lines) || Estimator <- [floor, typical]],
    ?assert(Floor < 1.0e-9 andalso Typical > 0.1, {Floor, Typical}).

%% Sixteen values of two seconds each; a pair takes 5 s, 4 s of them in its two runs. That long ones
%% differ by a little less is not worth what they cost.
short_runs_where_long_ones_differ_as_much(_) ->
    [begin
         Lines = [values(Pair, Arm, lists:duplicate(4, 100 + 10 * Pair * Arm) ++ lists:duplicate(12, 100 + Late * Pair * Arm))
                  || Pair <- [1, 2, 3], Arm <- [0, 1]],
         ?assertEqual(#{run_ms => 250, pair_ms => 1500}, ertslab_pilot:run_length(plan(), 2000, 5000, infinity, Lines))
     end || Late <- [10, 8]].

%% Only in their second half all runs come to the same floor.
long_runs_where_they_differ_less(_) ->
    ?assertEqual(#{run_ms => 2000, pair_ms => 5000}, run_length_of_floors(8)).

%% Half a second finds it from the third value on, a second from the fifth, and more need not be paid.
runs_until_the_fast_speed_comes(_) ->
    ?assertEqual(#{run_ms => 500, pair_ms => 2000}, run_length_of_floors(2)),
    ?assertEqual(#{run_ms => 1000, pair_ms => 3000}, run_length_of_floors(4)).

run_length_of_floors(Slow) -> run_length_of_floors(Slow, infinity).

run_length_of_floors(Slow, MostMs) ->
    Lines = [values(Pair, Arm, lists:duplicate(Slow, 2000 + 500 * Pair * Arm) ++ lists:duplicate(16 - Slow, 1000 + Pair * Arm))
             || Pair <- [1, 2, 3], Arm <- [0, 1]],
    ertslab_pilot:run_length((plan())#{estimator := floor}, 2000, 5000, MostMs, Lines).

%% Where each run is of one case, a pair has one of each arm and case.
shorter_runs_make_cheaper_pairs(_) ->
    Lines = [(values(Pair, Arm, lists:duplicate(16, 100 + 10 * Pair * Arm)))#{'case' := Case}
             || Pair <- [1, 2, 3], Arm <- [0, 1], Case <- [0, 1]],
    Plan = (plan())#{cases := [#{}, #{}]},
    ?assertEqual(#{run_ms => 250, pair_ms => 10_000 - 2 * 1750}, ertslab_pilot:run_length(Plan, 2000, 10_000, infinity, Lines)),
    [?assertEqual(#{run_ms => 250, pair_ms => 10_000 - 4 * 1750},
                  ertslab_pilot:run_length(Plan#{rounds := Rounds}, 2000, 10_000, infinity, Lines)) || Rounds <- [metrics, none]],
    %% Where nothing was measured nothing is known of shorter runs.
    ?assertEqual(#{run_ms => 2000, pair_ms => 10_000}, ertslab_pilot:run_length(Plan, 2000, 10_000, infinity, [])).

counted_runs_have_no_length(_) ->
    Lines = [sample(Pair, Arm, 100 + 10 * Pair * Arm) || Pair <- [1, 2, 3], Arm <- [0, 1]],
    ?assertEqual(#{run_ms => 0, pair_ms => 123}, ertslab_pilot:run_length(plan(), 0, 123.4, infinity, Lines)).

%% As where a run has enough values before its time is up.
runs_that_end_sooner_save_less(_) ->
    ?assertEqual(#{run_ms => 250, pair_ms => 5000 - 2 * 875}, run_length_of_measured(1000)).

%% As where the least number of rounds takes longer: nothing is paid for more of them.
runs_beyond_their_time_save_nothing(_) ->
    ?assertMatch(#{pair_ms := 5000}, run_length_of_measured(3000)),
    Lines = [values(Pair, Arm, lists:duplicate(12, 100 + 10 * Pair * Arm) ++ lists:duplicate(4, 100 + 9 * Pair * Arm))
             || Pair <- [1, 2, 3], Arm <- [0, 1]],
    [?assertMatch(#{run_ms := Ms}, ertslab_pilot:run_length((plan())#{estimator := floor}, 2000, 5000, infinity, [measured(Took) | Lines]))
     || {Took, Ms} <- [{2000, 250}, {3000, 2000}]].

run_length_of_measured(Took) ->
    Lines = [values(Pair, Arm, lists:duplicate(16, 100 + 10 * Pair * Arm)) || Pair <- [1, 2, 3], Arm <- [0, 1]],
    ertslab_pilot:run_length(plan(), 2000, 5000, infinity, [measured(Took + Noise) || Noise <- [-10, 0, 10]] ++ Lines).

measured(Ms) -> #{type => run, measured_ms => Ms}.

%% Two runs whose logs are D apart have the deviation D / sqrt 2; of 0.1, 0.2 and 0.3 the middle one is told.
levels_are_of_runs_and_of_values(_) ->
    #{run := Run, value := Value} = ertslab_pilot:levels(plan(), apart()),
    ?assert(abs(Run - 0.2 / math:sqrt(2)) < 1.0e-9, Run),
    ?assert(abs(Value - 0.05) < 1.0e-9, Value),
    %% One run does not differ, nor does one value.
    ?assertEqual(#{run => none, value => none}, ertslab_pilot:levels(plan(), [sample(1, 0, 10), sample(1, 1, 11)])).

apart() ->
    [values(Pair, Arm, [1000 * math:exp(Pair * D + Own) || Own <- [-0.05, 0.05, 0]])
     || Pair <- [1, 2], {Arm, D} <- [{0, 0.1}, {1, 0.3}, {2, 0.2}]].

levels_are_told(_) ->
    Budget = #{pairs => 40, pair_ms => 2500, run_ms => 500, levels => ertslab_pilot:levels(plan(), apart()), effects => []},
    ?assertEqual(<<"A pair takes 2.5 s (each run measures for 0.50 s), so 20m is enough for 40 pairs.\n"
                   "  Noise in the pilot: 14.1 % between the runs of an arm, 5.0 % between the values of a run.\n">>,
                 unicode:characters_to_binary(ertslab_pilot:render(~"20m", Budget))),
    ?assertEqual(~"A pair takes 2.5 s, so 20m is enough for 40 pairs.\n",
                 unicode:characters_to_binary(ertslab_pilot:render(~"20m", Budget#{run_ms := 0, levels := #{run => none, value => none}}))).

%% Two seconds would be best, but a pair may take 2.5 s, or less than any.
small_budgets_make_short_runs(_) ->
    ?assertEqual(#{run_ms => 2000, pair_ms => 5000}, run_length_of_floors(8, 5000)),
    [?assertEqual(#{run_ms => 250, pair_ms => 1500}, run_length_of_floors(8, MostMs)) || MostMs <- [2500, 1000]].

%% A pair of two runs took 20 s. What they did not measure is their starting; the least number of rounds may have taken longer than
%% the two seconds of the pilot.
turns_go_on_as_long_as_starting_takes(_) ->
    Length = fun(MeasuredMs, MostMs) ->
                     ertslab_pilot:run_length((plan())#{rounds := arms}, 2000, 20_000, MostMs, [#{type => run, measured_ms => MeasuredMs}])
             end,
    ?assertEqual(#{run_ms => 8000, pair_ms => 32_000}, Length(2000, 90_000)),
    ?assertEqual(#{run_ms => 2000, pair_ms => 20_000}, Length(8000, 90_000)),
    ?assertEqual(#{run_ms => 5100, pair_ms => 20_400}, Length(4900, 90_000)),
    ?assertEqual(#{run_ms => 7000, pair_ms => 30_000}, Length(2000, 45_000)),
    ?assertEqual(#{run_ms => 2000, pair_ms => 20_000}, Length(2000, 10_000)).

%% Real runs, of which each has the values that it has.
pilot_of_counted_runs(_) ->
    Arms = [#{label => Name, variant => Name, params => #{}, vm => ertslab_inventory:find(Name, hd(ertslab_inventory:releases()))}
            || Name <- [~"stock", ~"stock_copy"]],
    Plan = (plan())#{experiment => ~"recorder", module => exp_recorder, seed => 1, pairs => 10, arms := Arms,
                     cases := [#{id => 1}, #{id => 2}], metrics := [#{name => Name, unit => ns} || Name <- [first, second]],
                     overall => false, exact => false, run_ms => 0, timeout_ms => 5000},
    #{run_ms := 0, pairs := Pairs, pair_ms := PairMs, effects := Effects} = ertslab_pilot:plan(Plan, 3_600_000, fun(_, _, _, _) -> ok end),
    ?assert(Pairs > 0 andalso Pairs * PairMs =< 3_600_000, {Pairs, PairMs}),
    ?assertEqual([{first, 0.0}, {second, 0.0}], [{Metric, Effect} || #{metric := Metric, effect := Effect} <- Effects]).

%% Of two arms, ten pairs and three of the pilot take 13 * 2 * 0.3 s at least; where a pair is known to take 10 s, 130 s.
a_budget_that_no_machine_keeps_is_refused_before_a_run(_) ->
    Plan = (plan())#{run_ms => 1000, budget => #{given => ~"7s"}, quick => false, exact => false, overall => false, builds => 1},
    ?assertEqual(ok, ertslab_pilot:must_fit(Plan, 7800)),
    {usage, Error} = try ertslab_pilot:must_fit(Plan, 7799) catch throw:Thrown -> Thrown end,
    ?assertEqual({ertslab_plan, {too_little_time, ~"7s", 9, 600, 10, 1}}, Error),
    ?assertEqual(<<"--budget 7s is enough for the pilot and 9 pairs of 0.6 s, but 1 result needs at least 10 pairs; give 11s or more,"
                   " or fewer variants and cases">>, ertslab_error:sentence(Error)),
    ?assertEqual(ok, ertslab_pilot:must_fit(Plan, 130_000, 10_000)),
    ?assertThrow({usage, {ertslab_plan, {too_little_time, _, 9, 10_000, 10, 1}}}, ertslab_pilot:must_fit(Plan, 129_999, 10_000)),
    ?assertThrow({usage, {ertslab_plan, {too_little_time, _, 0, 10_000, 10, 1}}}, ertslab_pilot:must_fit(Plan, -1, 10_000)).

sample(Pair, Arm, Value) -> values(Pair, Arm, [Value]).

values(Pair, Arm, Values) ->
    #{type => sample, metric => work, 'case' => 0, pair => Pair, arm => Arm, values => Values}.

plan() ->
    #{baseline => 0, estimator => typical, metrics => [#{name => work}], arms => [a, b], cases => [#{}], rounds => cases,
      control => null}.
