%% What stands for a run and for an arm, by each of the two estimators.
-module(ertslab_estimator_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, floor_of_a_run_is_its_low_quantile/1, typical_of_a_run_is_its_median/1, runs_are_summed_up_alike/1,
         points_stand_for_their_slope/1, each_has_its_own_ratio/1, each_is_the_other_of_one/1, plans_ask_for_enough_pairs/1,
         what_is_compared_has_as_many_values/1]).

all() ->
    [floor_of_a_run_is_its_low_quantile, typical_of_a_run_is_its_median, runs_are_summed_up_alike,
     points_stand_for_their_slope, each_has_its_own_ratio, each_is_the_other_of_one, plans_ask_for_enough_pairs,
     what_is_compared_has_as_many_values].

%% Of 101 values two are below it; of few it is hardly above the least.
floor_of_a_run_is_its_low_quantile(_) ->
    Values = [1000 + N || N <- lists:seq(0, 100)],
    ?assertEqual(1002.0, ertslab_estimator:of_run(floor, lists:reverse(Values))),
    ?assertEqual(1002.0, ertslab_estimator:of_run(floor, [case V > 1002 of true -> 50 * V; false -> V end || V <- Values])),
    ?assert(abs(ertslab_estimator:of_run(floor, [20, 10, 20]) - 10.4) < 1.0e-9),
    ?assertEqual(7.0, ertslab_estimator:of_run(floor, [7])).

typical_of_a_run_is_its_median(_) ->
    ?assertEqual(20.0, ertslab_estimator:of_run(typical, [10, 900, 20])).

%% The lower tenth of the runs, which need not all have met the machine at its best.
runs_are_summed_up_alike(_) ->
    Numbers = lists:seq(100, 110),
    ?assertEqual(101.0, ertslab_estimator:of_runs(floor, Numbers)),
    ?assertEqual(105.0, ertslab_estimator:of_runs(typical, Numbers)).

points_stand_for_their_slope(_) ->
    [?assertEqual(10.0, ertslab_estimator:of_run(Estimator, [[[10, 105], [20, 205], [30, 305]]])) || Estimator <- [floor, typical]].

each_has_its_own_ratio(_) ->
    {Base, Own} = {[10, 11, 12, 13, 14, 15, 16, 17], [20, 21, 99, 98, 97, 20, 23, 24]},
    ?assertEqual(ertslab_floor:ratio(Base, Own), ertslab_estimator:ratio(floor, Base, Own)),
    ?assertEqual(ertslab_stats:ratio(Base, Own), ertslab_estimator:ratio(typical, Base, Own)).

each_is_the_other_of_one(_) ->
    ?assertEqual([typical, floor], [ertslab_estimator:other(Estimator) || Estimator <- [floor, typical]]).

%% 50 comparisons at once want a p of 0.001: that takes 11 pairs, of which the floor ranks three quarters.
plans_ask_for_enough_pairs(_) ->
    Plan = fun(Estimator) ->
                   #{exact => false, quick => false, builds => 1, budget => null, estimator => Estimator, overall => false,
                     cases => lists:duplicate(50, #{}), metrics => [work], arms => [a, b]}
           end,
    [begin
         ?assertEqual({Estimator, Least}, {Estimator, ertslab_estimator:min_pairs(Estimator, 0.999)}),
         ?assertMatch(#{pairs := Least}, ertslab_plan:with_pairs(Plan(Estimator), Least)),
         ?assertThrow({usage, _}, ertslab_plan:with_pairs(Plan(Estimator), Least - 1))
     end || {Estimator, Least} <- [{typical, 11}, {floor, 14}]].

%% The arms of each pair, and not of all pairs.
what_is_compared_has_as_many_values(_) ->
    Runs = #{{stock, 1} => [5, 6, 7], {tuned, 1} => [3, 2, 4, 1], {stock, 2} => [9, 8], {tuned, 2} => [7]},
    ?assertEqual(Runs#{{tuned, 1} := [3, 2, 4], {stock, 2} := [9]},
                 ertslab_estimator:levelled(fun({_Arm, Pair}) -> Pair end, Runs)),
    ?assertEqual(#{}, ertslab_estimator:levelled(fun(Run) -> Run end, #{})).
