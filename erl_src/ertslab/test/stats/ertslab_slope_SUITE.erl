%% Slopes: published examples, what is exact, and what is refused. The values of
%% SciPy are checked by ertslab_stats_SUITE.
-module(ertslab_slope_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, line_is_exact/1, sen_1968/1, cloud_seeding/1, one_point_far_off_moves_nothing/1,
         order_of_points_does_not_matter/1, few_points_have_no_interval/1,
         interval_leaves_out_what_chance_allows/1, normal_follows_exact/1,
         other_arguments_are_refused/1]).

all() -> [line_is_exact, sen_1968, cloud_seeding, one_point_far_off_moves_nothing,
          order_of_points_does_not_matter, few_points_have_no_interval,
          interval_leaves_out_what_chance_allows, normal_follows_exact,
          other_arguments_are_refused].

line_is_exact(_) ->
    Line = [{N, 2640 * N + 14_000_000} || N <- [100, 200, 500, 1000, 100_000]],
    ?assertEqual(#{estimate => 2640.0, low => 2640.0, high => 2640.0},
                 ertslab_slope:theil_sen(Line, 0.95)).

%% The example of Sen (1968): slope 4, interval from 26/7 to 35/8. Of the 7! orders
%% 1 + 6 + 20 + 49 = 76 have up to 3 discordant pairs, so its confidence is
%% 1 - 2 * 76 / 5040, which is 96.98 %.
sen_1968(_) ->
    Points = lists:zip([1, 2, 3, 4, 10, 12, 18], [9, 15, 19, 20, 45, 55, 78]),
    [?assertEqual(#{estimate => 4.0, low => 26 / 7, high => 35 / 8},
                  ertslab_slope:theil_sen(Points, Confidence)) || Confidence <- [0.95, 0.9698]],
    #{low := Low, high := High} = ertslab_slope:theil_sen(Points, 0.9699),
    ?assert(Low < 26 / 7 andalso High > 35 / 8).

%% Hollander and Wolfe, example 9.1; all ten slopes are quickly written down.
cloud_seeding(_) ->
    Points = lists:enumerate([1.26, 1.27, 1.12, 1.16, 1.03]),
    #{estimate := Estimate, low := Low, high := High} = ertslab_slope:theil_sen(Points, 0.95),
    [?assert(abs(Expected - Value) < 1.0e-9)
     || {Expected, Value} <- [{-0.05625, Estimate}, {-0.15, Low}, {0.04, High}]].

one_point_far_off_moves_nothing(_) ->
    Points = [{N, 3 * N} || N <- lists:seq(1, 9)] ++ [{10, 1_000_000}],
    ?assertMatch(#{estimate := 3.0, low := 3.0}, ertslab_slope:theil_sen(Points, 0.95)).

order_of_points_does_not_matter(_) ->
    Points = [{N, N * N rem 17} || N <- lists:seq(1, 12)],
    ?assertEqual(ertslab_slope:theil_sen(Points, 0.95),
                 ertslab_slope:theil_sen(lists:reverse(Points), 0.95)).

%% Of n points all n! orders are as likely, and two of them are in order.
few_points_have_no_interval(_) ->
    ?assertEqual([3, 4, 5, 6], [ertslab_slope:min_points(C) || C <- [0.6, 0.90, 0.95, 0.99]]),
    Four = [{N, N * N} || N <- lists:seq(1, 4)],
    ?assertEqual(#{estimate => 5.0, low => too_few, high => too_few},
                 ertslab_slope:theil_sen(Four, 0.95)),
    ?assertEqual(#{estimate => 5.0, low => 3.0, high => 7.0}, ertslab_slope:theil_sen(Four, 0.90)).

%% The slopes of a parabola through powers of 2 all differ, so the bounds show
%% how many are left out on each side. By the definition: as many as there are
%% numbers of discordant pairs whose cumulative chance is at most 2.5 %.
interval_leaves_out_what_chance_allows(_) ->
    [begin
         Points = [{X, X * X} || K <- lists:seq(1, N), X <- [1 bsl K]],
         Slopes = lists:sort([float(X1 + X2) || {X1, _} <- Points, {X2, _} <- Points, X1 < X2]),
         Left = length(left_out(N)),
         ?assertMatch({N, Low, High, #{low := Low, high := High}}
                        when Left > 0,
                      {N, lists:nth(Left, Slopes), lists:nth(Left, lists:reverse(Slopes)),
                       ertslab_slope:theil_sen(Points, 0.95)})
     end || N <- [5, 6, 7]].

left_out(N) ->
    Discordant = [discordant(Order) || Order <- permutations(lists:seq(1, N))],
    [D || D <- lists:seq(0, N * (N - 1) div 2),
          length([1 || Other <- Discordant, Other =< D]) =< 0.025 * length(Discordant)].

discordant([]) -> 0;
discordant([First | Rest]) -> length([1 || Other <- Rest, Other < First]) + discordant(Rest).

permutations([]) -> [[]];
permutations(List) -> [[First | Rest] || First <- List, Rest <- permutations(List -- [First])].

%% Where the exact distribution gives way to the normal one nothing jumps.
normal_follows_exact(_) ->
    Width = fun(N) ->
                    Points = [{K, K * 2654435761 rem 1000} || K <- lists:seq(1, N)],
                    #{low := Low, high := High} = ertslab_slope:theil_sen(Points, 0.95),
                    High - Low
            end,
    ?assert(abs(Width(51) / Width(50) - 1) < 0.1).

other_arguments_are_refused(_) ->
    [?assertError(function_clause, ertslab_slope:theil_sen(Points, 0.95))
     || Points <- [[], [{1, 1}], [{1, 1}, {1, 2}, {2, 3}]]],
    [?assertError(function_clause, ertslab_slope:theil_sen([{1, 1}, {2, 2}], Confidence))
     || Confidence <- [0, 1, 0.0, 1.0, 95]].
