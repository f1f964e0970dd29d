%% @doc Tests of ertslab_verdict: the three answers at and around their
%% limits, the number of further pairs by hand and by simulation.
-module(ertslab_verdict_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0]).

-export([changed/1, small_change/1, adjusted_p/1, same/1, at_the_bound/1,
         too_few_pairs/1, pairs_to_exclude_one/1, pairs_to_fit/1,
         pairs_for_a_family/1, at_least_one_more/1, more_than_1000/1,
         measured_ratios/1, each_estimator_has_its_least_pairs/1, wrong_input/1, power_to_exclude_one/1,
         power_to_fit/1, apart_from_both_stays_changed/1, apart_from_the_baseline_only_is_unsure/1,
         apart_on_opposite_sides_is_unsure/1, without_a_ratio_to_a_control_all_stays/1, other_verdicts_stay/1,
         confirmation_takes_more_pairs/1, effect_beside_a_control/1]).

suite() ->
    [{timetrap, {minutes, 10}}].

all() ->
    [changed, small_change, adjusted_p, same, at_the_bound, too_few_pairs,
     pairs_to_exclude_one, pairs_to_fit, pairs_for_a_family,
     at_least_one_more, more_than_1000, each_estimator_has_its_least_pairs, measured_ratios, wrong_input,
     power_to_exclude_one, power_to_fit, apart_from_both_stays_changed, apart_from_the_baseline_only_is_unsure,
     apart_on_opposite_sides_is_unsure, without_a_ratio_to_a_control_all_stays, other_verdicts_stay, confirmation_takes_more_pairs,
     effect_beside_a_control].

%% The three answers

changed(_) ->
    settled(changed, ratio(1.05, {1.02, 1.08}, {1.03, 1.07}), #{}),
    settled(changed, ratio(0.95, {0.92, 0.98}, {0.93, 0.97}), #{}),
    settled(changed, ratio(1.05, {1.02, 1.08}, {1.03, 1.07}),
            #{bound => 0.05}),
    settled(changed, ratio(0.95, {0.92, 0.98}, {0.93, 0.97}),
            #{bound => 0.05}),
    %% A change may be as small as the bound while the interval reaches below.
    settled(changed, ratio(1.012, {1.001, 1.023}, {1.003, 1.02}), #{}).

%% Certain but smaller than the bound: not a change, and the same only where
%% the interval of 90% fits.
small_change(_) ->
    Ratio = ratio(1.006, {1.001, 1.012}, {1.002, 1.011}),
    unsure(Ratio, #{}),
    settled(same, Ratio, #{bound => 0.02}),
    settled(changed, Ratio, #{bound => 0.005}).

adjusted_p(_) ->
    Ratio = ratio(1.05, {1.02, 1.08}, {1.03, 1.07}),
    settled(changed, Ratio#{p_adjusted => 0.05}, #{}),
    unsure(Ratio#{p_adjusted => 0.051}, #{}).

same(_) ->
    settled(same, ratio(1.0, {0.993, 1.007}, {0.995, 1.005}), #{}),
    %% The interval of 95% need not fit, and may exclude 1.
    settled(same, ratio(1.0, {0.985, 1.015}, {0.991, 1.009}), #{}),
    settled(same, ratio(1.004, {1.001, 1.007}, {1.002, 1.006}), #{}),
    %% An adjusted p value is about changes only.
    settled(same, (ratio(1.004, {1.001, 1.007}, {1.002, 1.006}))
            #{p_adjusted => 1.0}, #{}).

%% `changed' takes the bound itself, `same' does not.
at_the_bound(_) ->
    settled(changed, ratio(1.01, {1.005, 1.02}, {1.006, 1.018}), #{}),
    settled(changed, ratio(0.99, {0.98, 0.995}, {0.982, 0.994}), #{}),
    settled(changed, ratio(0.9, {0.8, 0.95}, {0.82, 0.94}),
            #{bound => 0.1}),
    unsure(ratio(1.0, {0.99, 1.005}, {0.99, 1.005}), #{}),
    unsure(ratio(1.0, {0.995, 1.01}, {0.995, 1.01}), #{}),
    unsure(ratio(1.02, {1.0, 1.04}, {1.01, 1.03}), #{}),
    %% The estimate one rounding error below the bound leaves hardly any room,
    %% and a bound that is lost in rounding no effect.
    Wide = ratio(1.01 - 2.220446049250313e-16, {0.98, 1.03}, {0.985, 1.02}),
    ?assertEqual(more_than_1000, unsure(Wide, #{})),
    ?assertEqual(more_than_1000,
                 unsure(Wide#{estimate := 1.0}, #{bound => 1.0e-17})).

%% The number of further pairs

too_few_pairs(_) ->
    One = ertslab_stats:ratio([1.0], [2.0]),
    ?assertEqual(5, unsure(One, #{})),
    %% All five pairs agree as far as five can; one more is the minimum.
    Five = ertslab_stats:ratio([10, 10, 10, 10, 10], [20, 21, 20, 22, 20]),
    ?assertEqual(1, unsure(Five, #{})),
    %% Five pairs are enough for the interval of 90%.
    Close = ertslab_stats:ratio([1000, 1001, 1002, 999, 1000],
                                [1001, 1000, 1003, 999, 1002]),
    settled(same, Close, #{}),
    %% Two equal pairs: no noise to be seen, but five pairs it takes.
    Equal = ertslab_stats:ratio([10, 10], [10, 10]),
    ?assertEqual(3, unsure(Equal, #{})).

%% (1.959964 + 0.841621)^2 = 7.848880; times 0.05^2 / log(1.02)^2 = 6.375211
%% it is 50.0383, times pi / 3 it is 52.4000: 53 pairs, 10 are there.
pairs_to_exclude_one(_) ->
    Ratio = (ratio(1.02, {0.98, 1.06}, {0.99, 1.05}))
        #{pairs => 10, sd_log => 0.05},
    ?assertEqual(43, unsure(Ratio, #{})),
    Inverse = (ratio(1 / 1.02, {0.94, 1.02}, {0.95, 1.01}))
        #{pairs => 10, sd_log => 0.05},
    ?assertEqual(43, unsure(Inverse, #{})).

%% (1.644854 + 1.281552)^2 = 8.563850; times 0.02^2 / log(1.01)^2 = 4.040034
%% it is 34.5982, times pi / 3 it is 36.2312: 37 pairs, 12 are there.
pairs_to_fit(_) ->
    Ratio = (ratio(1.0, {0.98, 1.02}, {0.985, 1.015}))
        #{pairs => 12, sd_log => 0.02},
    ?assertEqual(25, unsure(Ratio, #{})),
    %% Half of the room is left: four times the pairs, and on the other side
    %% of 1 as many but for the bound being a little farther on a log scale.
    Nearer = Ratio#{estimate := math:sqrt(1.01)},
    ?assertEqual(145 - 12, unsure(Nearer, #{})),
    Other = Ratio#{estimate := math:sqrt(0.99)},
    ?assertEqual(143 - 12, unsure(Other, #{})).

%% Ten comparisons: p has to reach 0.005, which 9 pairs can (2 / 2^9).
pairs_for_a_family(_) ->
    Ratio = (ratio(2.0, {1.9, 2.1}, {1.95, 2.05}))
        #{pairs => 6, sd_log => 0.01, p => 0.03125},
    settled(changed, Ratio, #{}),
    ?assertEqual(3, unsure(Ratio#{p_adjusted => 0.3125}, #{})),
    %% (2.807034 + 0.841621)^2 = 13.312684; 13.312684 * 6.375211 * pi / 3 =
    %% 88.877: 89 pairs.
    Noisy = (ratio(1.02, {1.001, 1.04}, {1.005, 1.03}))
        #{pairs => 30, sd_log => 0.05, p => 0.04, p_adjusted => 0.4},
    ?assertEqual(89 - 30, unsure(Noisy, #{})).

at_least_one_more(_) ->
    Ratio = (ratio(1.02, {0.98, 1.06}, {0.99, 1.05})),
    ?assertEqual(1, unsure(Ratio#{pairs => 500, sd_log => 0.05}, #{})),
    ?assertEqual(1, unsure(Ratio#{pairs => 6, sd_log => 0.0}, #{})).

more_than_1000(_) ->
    Ratio = (ratio(1.02, {0.98, 1.06}, {0.99, 1.05}))#{pairs => 10},
    ?assertEqual(more_than_1000, unsure(Ratio#{sd_log => 1.0}, #{})),
    %% 1010 pairs in all are 1000 more, 1011 are one too many.
    Sd = fun(N) -> math:log(1.02) * math:sqrt(N * 3 / math:pi() / 7.848880) end,
    ?assertEqual(1000, unsure(Ratio#{sd_log => Sd(1009.5)}, #{})),
    ?assertEqual(more_than_1000, unsure(Ratio#{sd_log => Sd(1010.5)}, #{})).

%% Where the pairs are too few for any interval, those are asked for that give one.
each_estimator_has_its_least_pairs(_) ->
    Few = (ratio(1.0, {too_few, too_few}, {too_few, too_few}))#{pairs := 2, sd_log := too_few},
    [?assertEqual(ertslab_estimate:min_pairs(Estimator, 0.95) - 2, unsure(Few, #{estimator => Estimator}))
     || Estimator <- [floor, typical]],
    ?assertEqual(ertslab_estimate:min_pairs(typical, 0.95) - 2, unsure(Few, #{})).

measured_ratios(_) ->
    Baseline = [1000 + (K * 7) rem 11 || K <- lists:seq(1, 20)],
    Judged = fun(Scale) ->
                     Variant = [Scale * (1000 + (K * 5) rem 11)
                                || K <- lists:seq(1, 20)],
                     Ratio = ertslab_stats:ratio(Baseline, Variant),
                     maps:get(verdict, ertslab_verdict:verdict(Ratio, #{}))
             end,
    ?assertEqual([changed, same, changed],
                 [Judged(Scale) || Scale <- [0.95, 1.0, 1.05]]).

wrong_input(_) ->
    Ratio = ratio(1.05, {1.02, 1.08}, {1.03, 1.07}),
    [?assertError(function_clause,
                  ertslab_verdict:verdict(Ratio, #{bound => Bound}))
     || Bound <- [0, 0.0, -0.01, 1, 1.0, 5]],
    [?assertError(function_clause,
                  ertslab_verdict:verdict(maps:remove(Key, Ratio), #{}))
     || Key <- maps:keys(Ratio)],
    ok.

%% Beside a control

apart_from_both_stays_changed(_) ->
    [?assertEqual(row(Ratio, ToControl), ertslab_verdict:beside_control(row(Ratio, ToControl)))
     || {Ratio, ToControl} <- [{{1.02, 1.08}, {1.0001, 1.04}}, {{0.92, 0.98}, {0.9, 0.9999}},
                               %% The bound is not asked again.
                               {{1.02, 1.08}, {1.001, 1.003}}]].

%% An end at 1 does not exclude it.
apart_from_the_baseline_only_is_unsure(_) ->
    [?assertEqual((row(Ratio, ToControl))#{verdict := unsure}, ertslab_verdict:beside_control(row(Ratio, ToControl)))
     || {Ratio, ToControl} <- [{{1.02, 1.08}, {0.99, 1.05}}, {{0.92, 0.98}, {0.95, 1.01}}, {{1.02, 1.08}, {1.0, 1.05}},
                               {{0.92, 0.98}, {0.95, 1.0}}, {{1.02, 1.08}, {too_few, too_few}}, {{0.92, 0.98}, {none, none}}]].

apart_on_opposite_sides_is_unsure(_) ->
    [?assertEqual((row(Ratio, ToControl))#{verdict := unsure}, ertslab_verdict:beside_control(row(Ratio, ToControl)))
     || {Ratio, ToControl} <- [{{1.02, 1.08}, {0.9, 0.95}}, {{0.92, 0.98}, {1.05, 1.1}}]].

%% The control's own row, a comparison without a control, a control with too few pairs, a baseline, exact counts, and a count
%% that was zero.
without_a_ratio_to_a_control_all_stays(_) ->
    Row = (row({1.02, 1.08}, {0.9, 1.1}))#{to_control := none},
    [?assertEqual(Same, ertslab_verdict:beside_control(Same))
     || Same <- [Row, Row#{ratio := none}, Row#{ratio := #{estimate => 1.5, exact => true}}]].

other_verdicts_stay(_) ->
    Row = row({1.02, 1.08}, {0.9, 1.1}),
    [?assertEqual(Row#{verdict := Verdict}, ertslab_verdict:beside_control(Row#{verdict := Verdict}))
     || Verdict <- [same, unsure, void, varying, none]].

row({Low, High} = Interval, {ControlLow, ControlHigh}) ->
    #{verdict => changed, more_pairs => none, ratio => ratio((Low + High) / 2, Interval, Interval),
      to_control => #{estimate => 1.0, low => ControlLow, high => ControlHigh}}.

%% By hand: (1.960 + 1.0)^2 / (1.960 + 0.842)^2 = 1.116 times as many; what is to be the same is not confirmed.
confirmation_takes_more_pairs(_) ->
    Ratio = ratio(1.015, {0.9, 1.2}, {0.95, 1.1}),
    ?assert(abs(needed(Ratio#{sd_log := 0.1}, #{control => true}) / needed(Ratio#{sd_log := 0.1}, #{}) - 1.116) < 0.01),
    ?assertEqual(needed(Ratio, #{}), needed(Ratio, #{control => false})),
    Near = ratio(1.0, {0.9, 1.2}, {0.95, 1.1}),
    ?assertEqual(needed(Near, #{}), needed(Near, #{control => true})).

%% By simulation: with the smallest effect about 80% of the experiments pass both tests. Arm, baseline and control have the same
%% noise. For four results the first step of Holm asks for a p value of 0.0125.
effect_beside_a_control(_) ->
    {Pairs, Sd, Count, Results} = {50, 0.03, 400, 4},
    Effect = math:log(1 + ertslab_verdict:smallest_effect(Sd, Pairs, Results, true)),
    Arm = fun(State) -> lists:mapfoldl(fun(_, S) -> rand:normal_s(0.0, Sd * Sd / 2, S) end, State, lists:seq(1, Pairs)) end,
    Ratio = fun(Base, Own) -> ertslab_stats:ratio([math:exp(X) || X <- Base], [math:exp(Effect + X) || X <- Own]) end,
    {Found, _} = lists:foldl(
                   fun(_, {Sum, State0}) ->
                           {Base, State1} = Arm(State0),
                           {Copy, State2} = Arm(State1),
                           {Own, State} = Arm(State2),
                           #{p := P} = First = Ratio(Base, Own),
                           {Sum + passed(P * Results =< 0.05 andalso ertslab_verdict:is_confirmed(First, Ratio(Copy, Own))), State}
                   end, {0, rand:seed_s(exsss, {1, 2, 3})}, lists:seq(1, Count)),
    ?assert(Found / Count > 0.74 andalso Found / Count < 0.88, Found).

%% By simulation: with the pairs asked for about 80% of the experiments are
%% settled. 400 experiments have a standard error of 2%.

power_to_exclude_one(_) ->
    Estimate = 1.015,
    Sd = 0.03,
    Pairs = needed((ratio(Estimate, {0.9, 1.2}, {0.95, 1.1}))
                   #{pairs => 1, sd_log => Sd}, #{}),
    Power = share(fun(Ratio) -> maps:get(low, Ratio) > 1 end,
                  Pairs, math:log(Estimate), Sd),
    ?assert(Power > 0.74 andalso Power < 0.88, {Pairs, Power}).

power_to_fit(_) ->
    Sd = 0.02,
    Pairs = needed((ratio(1.0, {0.9, 1.2}, {0.95, 1.1}))
                   #{pairs => 1, sd_log => Sd}, #{}),
    Power = share(fun(Ratio) ->
                          #{verdict := Verdict} =
                              ertslab_verdict:verdict(Ratio, #{}),
                          Verdict =:= same
                  end, Pairs, 0.0, Sd),
    ?assert(Power > 0.74 andalso Power < 0.88, {Pairs, Power}).

%% The share of 400 experiments with normal logs of ratios that pass.
share(Passes, Pairs, Mean, Sd) ->
    Count = 400,
    {Passed, _} = lists:foldl(
                    fun(_, {Sum, State}) ->
                            {Ratio, Next} = experiment(Pairs, Mean, Sd, State),
                            {Sum + passed(Passes(Ratio)), Next}
                    end,
                    {0, rand:seed_s(exsss, {1, 2, 3})},
                    lists:seq(1, Count)),
    Passed / Count.

passed(true) -> 1;
passed(false) -> 0.

experiment(Pairs, Mean, Sd, State) ->
    {Logs, Next} = lists:mapfoldl(fun(_, S) ->
                                          rand:normal_s(Mean, Sd * Sd, S)
                                  end, State, lists:seq(1, Pairs)),
    Variant = [math:exp(Log) || Log <- Logs],
    {ertslab_stats:ratio([1.0 || _ <- Logs], Variant), Next}.

%% Helpers

ratio(Estimate, {Low, High}, {Low90, High90}) ->
    #{estimate => Estimate, low => Low, high => High,
      low90 => Low90, high90 => High90,
      p => 0.01, pairs => 20, sd_log => 0.03}.

settled(Verdict, Ratio, Options) ->
    ?assertEqual(#{verdict => Verdict, more_pairs => none},
                 ertslab_verdict:verdict(Ratio, Options)).

unsure(Ratio, Options) ->
    Result = ertslab_verdict:verdict(Ratio, Options),
    ?assertMatch(#{verdict := unsure}, Result),
    maps:get(more_pairs, Result).

needed(#{pairs := Pairs} = Ratio, Options) ->
    Pairs + unsure(Ratio, Options).
