%% Comparing floors: what must hold of any estimate of a ratio, the exact test by counting all
%% exchanges, and how often it is wrong in noise as it was seen on machines of two speeds.
-module(ertslab_floor_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0]).
-export([swapped_arms_invert_the_ratio/1, a_common_factor_changes_nothing/1, a_factor_of_one_arm_is_in_the_ratio/1,
         order_of_the_pairs_does_not_matter/1, estimate_lies_inside/1, intervals_are_nested/1]).
-export([p_counts_all_exchanges/1, ties_share_their_scores/1, interval_holds_what_is_not_rejected/1,
         three_quarters_score/1, scores_are_of_the_divided_arm/1, min_pairs_is_by_brute_force/1]).
-export([a_slow_run_says_nothing/1, how_slow_says_nothing/1, ties_give_finite_results/1, constant_arms_have_their_ratio/1]).
-export([overall_of_one_result_is_its_ratio/1, overall_is_the_geometric_mean/1, overall_takes_the_same_for_one_piece_of_evidence/1,
         overall_of_many_is_narrower/1, overall_takes_each_ratio_out/1, overall_of_identical_arms_is_rarely_rejected/1,
         overall_has_no_sides/1]).
-export([identical_arms_are_rarely_rejected/1, a_planted_ratio_is_covered/1, a_change_is_found/1]).

%% Of a log, for what is found by halving.
-define(CLOSE, 2.0e-4).

suite() -> [{timetrap, {minutes, 5}}].

all() ->
    [swapped_arms_invert_the_ratio, a_common_factor_changes_nothing, a_factor_of_one_arm_is_in_the_ratio,
     order_of_the_pairs_does_not_matter, estimate_lies_inside, intervals_are_nested,
     p_counts_all_exchanges, ties_share_their_scores, interval_holds_what_is_not_rejected, three_quarters_score,
     scores_are_of_the_divided_arm, min_pairs_is_by_brute_force,
     overall_of_one_result_is_its_ratio, overall_is_the_geometric_mean, overall_takes_the_same_for_one_piece_of_evidence,
     overall_of_many_is_narrower, overall_takes_each_ratio_out, overall_of_identical_arms_is_rarely_rejected, overall_has_no_sides,
     a_slow_run_says_nothing, how_slow_says_nothing, ties_give_finite_results, constant_arms_have_their_ratio,
     identical_arms_are_rarely_rejected, a_planted_ratio_is_covered, a_change_is_found].

%% What holds of any ratio

swapped_arms_invert_the_ratio(_) ->
    [begin
         #{p := P} = Ratio = ertslab_floor:ratio(Base, Own),
         #{p := Swapped} = Inverse = ertslab_floor:ratio(Own, Base),
         ?assertEqual(P, Swapped),
         [close(1 / maps:get(Key, Ratio), maps:get(Other, Inverse))
          || {Key, Other} <- [{estimate, estimate}, {low, high}, {high, low}, {low90, high90}, {high90, low90}]]
     end || {Base, Own} <- samples()].

a_common_factor_changes_nothing(_) ->
    [begin
         #{p := P, pairs := Pairs} = Ratio = ertslab_floor:ratio(Base, Own),
         #{p := Same, pairs := Pairs} = Scaled = ertslab_floor:ratio(scaled(Base, Factor), scaled(Own, Factor)),
         ?assertEqual(P, Same),
         [close(maps:get(Key, Ratio), maps:get(Key, Scaled)) || Key <- bounds()]
     end || {Base, Own} <- samples(), Factor <- [0.37, 1.0e6]].

a_factor_of_one_arm_is_in_the_ratio(_) ->
    [begin
         [Ratio, Scaled, Inverse] = [ertslab_floor:ratio(Of, With) || {Of, With} <- [{Base, Own}, {Base, scaled(Own, Factor)},
                                                                                     {scaled(Base, Factor), Own}]],
         [close(maps:get(Key, Ratio) * Factor, maps:get(Key, Scaled)) || Key <- bounds()],
         [close(maps:get(Key, Ratio) / Factor, maps:get(Key, Inverse)) || Key <- bounds()]
     end || {Base, Own} <- samples(), Factor <- [0.5, 1.07, 1000.0]].

order_of_the_pairs_does_not_matter(_) ->
    [?assertEqual(ertslab_floor:ratio(Base, Own), ertslab_floor:ratio(lists:reverse(Base), lists:reverse(Own)))
     || {Base, Own} <- samples()].

estimate_lies_inside(_) ->
    [begin
         #{estimate := Estimate, low := Low, high := High, low90 := Low90, high90 := High90} = ertslab_floor:ratio(Base, Own),
         ?assert(Low =< Estimate andalso Estimate =< High, {Low, Estimate, High}),
         ?assert(Low90 =< Estimate andalso Estimate =< High90, {Low90, Estimate, High90})
     end || {Base, Own} <- samples()].

%% `sd_log' is what would give an interval of that width.
intervals_are_nested(_) ->
    [begin
         #{low := Low, high := High, low90 := Low90, high90 := High90, sd_log := Sd, pairs := Pairs} =
             ertslab_floor:ratio(Base, Own),
         ?assert(Low =< Low90 * (1 + ?CLOSE) andalso High90 =< High * (1 + ?CLOSE), {Low, Low90, High90, High}),
         ?assert(High / Low > High90 / Low90),
         close(math:log(High / Low) / 2, 1.959963985 * Sd / math:sqrt(Pairs * 3 / math:pi()))
     end || {Base, Own} <- samples()].

%% Few and many pairs, for the exact and for the approximate interval; arms that differ by 2 %.
samples() ->
    [drawn(Pairs, Pairs, 1.02) || Pairs <- [6, 8, 12, 20, 21, 33]] ++ [sessions_runs(30, 1, 1.1)].

%% Runs that are slower than the machine could by what they met.
drawn(Pairs, Seed, Ratio) ->
    {Numbers, _} = lists:mapfoldl(fun(_, R0) ->
                                          {U, R} = rand:uniform_s(R0),
                                          {1000 * math:exp(0.1 * U * U), R}
                                  end, rand:seed_s(exsss, Seed), lists:seq(1, 2 * Pairs)),
    {Base, Own} = lists:split(Pairs, Numbers),
    {Base, scaled(Own, Ratio)}.

scaled(Numbers, Factor) -> [Number * Factor || Number <- Numbers].

bounds() -> [estimate, low, high, low90, high90].

close(A, B) -> ?assert(abs(math:log(A) - math:log(B)) < ?CLOSE, {A, B}).

%% The test

%% By another program: each run's score from its rank in both arms together, and all 2^n exchanges.
p_counts_all_exchanges(_) ->
    [begin
         {Base, Own} = drawn(Pairs, 100 * Pairs + Seed, 1 + Seed / 100),
         ?assertEqual(counted_p(Base, Own), p(Base, Own))
     end || Pairs <- lists:seq(1, 8), Seed <- lists:seq(1, 20)],
    %% From more pairs on not all score.
    [begin
         {Base, Own} = drawn(Pairs, 100 * Pairs + Seed, 1.03),
         ?assertEqual(counted_p(Base, Own), p(Base, Own))
     end || Pairs <- [9, 10, 11, 12], Seed <- [1, 2, 3]].

%% Of three different numbers, integers and floats, most are ties.
ties_share_their_scores(_) ->
    [begin
         {Numbers, _} = lists:mapfoldl(fun(_, R0) -> {N, R} = rand:uniform_s(3, R0), {lists:nth(N, [7, 8.0, 9]), R} end,
                                       rand:seed_s(exsss, Seed), lists:seq(1, 2 * Pairs)),
         {Base, Own} = lists:split(Pairs, Numbers),
         ?assertEqual(counted_p(Base, Own), p(Base, Own), {Base, Own})
     end || Pairs <- [1, 2, 3, 5, 8, 10], Seed <- lists:seq(1, 20)].

%% Up to 20 pairs the bounds are where that p value passes 0.05 and 0.1.
interval_holds_what_is_not_rejected(_) ->
    [begin
         {Base, Own} = drawn(Pairs, Seed, 1.05),
         Ratio = ertslab_floor:ratio(Base, Own),
         [begin
              {Inside, Beyond} = around(maps:get(Key, Ratio), Outwards),
              ?assert(counted_p(Base, scaled(Own, 1 / Inside)) > Level),
              ?assert(counted_p(Base, scaled(Own, 1 / Beyond)) =< Level)
          end || {Key, Outwards, Level} <- [{low, -1, 0.05}, {high, 1, 0.05}, {low90, -1, 0.1 + 1.0e-12}, {high90, 1, 0.1 + 1.0e-12}]]
     end || Pairs <- [6, 7, 8, 10], Seed <- lists:seq(1, 4)].

around(Bound, Outwards) -> {Bound * math:exp(-Outwards * 1.0e-5), Bound * math:exp(Outwards * 1.0e-5)}.

%% Arms that lie apart: the lowest runs of both, that is of one of them, score.
three_quarters_score(_) ->
    [?assertEqual({Pairs, Scoring}, {Pairs, length([S || S <- scores_of_separate(Pairs), S =/= 0])})
     || {Pairs, Scoring} <- [{1, 1}, {6, 6}, {8, 8}, {9, 8}, {10, 8}, {11, 9}, {12, 9}, {20, 15}, {40, 30}]],
    ?assertEqual([2, 4, 6, 8], lists:sort(scores_of_separate(4))).

scores_of_separate(Pairs) ->
    ertslab_floor:scores([2.0 + Pair / 1000 || Pair <- lists:seq(1, Pairs)], [1.0 + Pair / 1000 || Pair <- lists:seq(1, Pairs)], 1.0).

%% The lowest two of both arms score 4 and 2; a pair of which none does is not told.
scores_are_of_the_divided_arm(_) ->
    ?assertEqual([-4, -2], ertslab_floor:scores([1, 2], [10, 20], 1.0)),
    ?assertEqual([4, 2], ertslab_floor:scores([1, 2], [10, 20], 100.0)),
    %% 1, 2 and 1.25, 2.5.
    ?assertEqual([2 - 4], ertslab_floor:scores([1, 2], [10, 20], 8.0)),
    ?assertEqual([0], ertslab_floor:scores([1, 2], [10, 20], 10.0)).

%% The fewest with which arms that lie apart, than which nothing is more extreme, come so far.
min_pairs_is_by_brute_force(_) ->
    Least = #{Pairs => least_p(Pairs) || Pairs <- lists:seq(1, 16)},
    [?assertEqual({Confidence, hd([Pairs || Pairs <- lists:seq(1, 16), maps:get(Pairs, Least) =< 1 - Confidence])},
                  {Confidence, ertslab_floor:min_pairs(Confidence)})
     || Confidence <- [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.997, 0.999]],
    ?assertEqual([6, 11, 14], [ertslab_floor:min_pairs(C) || C <- [0.95, 0.995, 0.999]]),
    %% With fewer there is no interval.
    {Base, Own} = drawn(5, 1, 1.0),
    ?assertMatch(#{low := too_few, high := too_few, sd_log := too_few, low90 := Low, high90 := High}
                   when is_float(Low) andalso is_float(High), ertslab_floor:ratio(Base, Own)),
    ?assertMatch(#{low90 := too_few, high90 := too_few}, ertslab_floor:ratio(tl(Base), tl(Own))).

least_p(Pairs) ->
    Apart = counted_p([2.0 + Pair / 1000 || Pair <- lists:seq(1, Pairs)], [1.0 + Pair / 1000 || Pair <- lists:seq(1, Pairs)]),
    Drawn = [p(Base, Own) || Seed <- lists:seq(1, 20), {Base, Own} <- [drawn(Pairs, Seed, 1.0)]],
    ?assert(lists:min(Drawn) >= Apart),
    Apart.

p(Base, Own) ->
    #{p := P} = ertslab_floor:ratio(Base, Own),
    P.

%% The share of exchanges whose sum is at least as far from 0.
counted_p(Base, Own) ->
    Differences = lists:zipwith(fun(A, B) -> score(B, Base ++ Own) - score(A, Base ++ Own) end, Base, Own),
    Sums = lists:foldl(fun(D, Sums) -> [Sum + Side * D || Sum <- Sums, Side <- [1, -1]] end, [0], Differences),
    length([Sum || Sum <- Sums, abs(Sum) >= abs(lists:sum(Differences))]) / length(Sums).

%% Twice what is left of the scoring ranks at its own, which is the mean of those of its ties.
score(Number, All) ->
    Pairs = length(All) div 2,
    Scoring = case Pairs =< 8 of true -> Pairs; false -> max(8, ceil(Pairs * 3 / 4)) end,
    Less = length([Other || Other <- All, Other < Number]),
    Ties = length([Other || Other <- All, Other == Number]),
    max(0, 2 * (Scoring + 1) - (2 * Less + 1 + Ties)).

%% What says nothing

%% The slowest runs of an arm do not score.
a_slow_run_says_nothing(_) ->
    [begin
         Ratio = ertslab_floor:ratio(Base, Own),
         [begin
              unchanged(Ratio, ertslab_floor:ratio(slowest(Base, Factor), Own)),
              unchanged(Ratio, ertslab_floor:ratio(Base, slowest(Own, Factor)))
          end || Factor <- [1.5, 1000]]
     end || Pairs <- [12, 20, 40], Seed <- [1, 2, 3], {Base, Own} <- [drawn(Pairs, Seed, 1.02)]].

%% Any run may be slow, and then it does not matter how slow.
how_slow_says_nothing(_) ->
    {Base, Own} = drawn(30, 7, 1.02),
    [unchanged(ertslab_floor:ratio(Base, slow(Nth, Own, 1.5)), ertslab_floor:ratio(Base, slow(Nth, Own, 1000)))
     || Nth <- [1, 10, 20, 30]].

slow(Nth, Numbers, Factor) ->
    {Before, [Number | After]} = lists:split(Nth - 1, Numbers),
    Before ++ [Number * Factor | After].

slowest(Numbers, Factor) ->
    Most = lists:max(Numbers),
    [case Number == Most of true -> Number * Factor; false -> Number end || Number <- Numbers].

unchanged(#{p := P} = A, #{p := Same} = B) ->
    ?assertEqual(P, Same),
    [close(maps:get(Key, A), maps:get(Key, B)) || Key <- bounds()].

ties_give_finite_results(_) ->
    [begin
         Numbers = [lists:nth(1 + N rem length(Values), Values) || N <- lists:seq(1, Pairs)],
         Ratio = ertslab_floor:ratio(Numbers, lists:reverse(Numbers)),
         ?assertMatch(#{p := 1.0, pairs := Pairs}, Ratio),
         [?assert(is_float(maps:get(Key, Ratio)), {Key, Ratio}) || Key <- [sd_log | bounds()]],
         close(1.0, maps:get(estimate, Ratio))
     end || Pairs <- [6, 10, 20, 21, 60], Values <- [[5], [5, 5.0], [5, 6], [5, 6, 7]]].

%% As where a clock is coarse.
constant_arms_have_their_ratio(_) ->
    [begin
         #{estimate := Estimate, low := Low, high := High, p := P} =
             ertslab_floor:ratio(lists:duplicate(Pairs, 40), lists:duplicate(Pairs, 30)),
         [close(0.75, Value) || Value <- [Estimate, Low, High]],
         ?assert(P =< 2 / (1 bsl 6))
     end || Pairs <- [6, 9, 20, 21, 40]].

%% Several results

overall_of_one_result_is_its_ratio(_) ->
    [?assertEqual(maps:get(estimate, ertslab_floor:ratio(Base, Own)), maps:get(estimate, ertslab_floor:overall([{Base, Own}])))
     || {Base, Own} <- samples()].

overall_is_the_geometric_mean(_) ->
    Results = independent(30, [0.8, 0.9, 1.3]),
    Estimates = [maps:get(estimate, ertslab_floor:ratio(Base, Own)) || {Base, Own} <- Results],
    close(math:pow(lists:foldl(fun erlang:'*'/2, 1, Estimates), 1 / 3), maps:get(estimate, ertslab_floor:overall(Results))).

%% As where the machine was slow in whole runs: five times the same says no more than once.
overall_takes_the_same_for_one_piece_of_evidence(_) ->
    [begin
         #{p := P} = Once = ertslab_floor:overall([{Base, Own}]),
         #{p := Same} = Times = ertslab_floor:overall(lists:duplicate(5, {Base, Own})),
         ?assert(abs(P - Same) =< 1.0e-6, {P, Same}),
         [close(maps:get(Key, Once), maps:get(Key, Times)) || Key <- [sd_log | bounds()]]
     end || {Base, Own} <- samples()].

%% What is each result's own averages out.
overall_of_many_is_narrower(_) ->
    [One | _] = Results = independent(30, [1, 1, 1, 1, 1, 1, 1, 1, 1]),
    [#{low := Low1, high := High1}, #{low := Low9, high := High9}] = [ertslab_floor:overall(Of) || Of <- [[One], Results]],
    ?assert(math:log(High9 / Low9) < math:log(High1 / Low1) / 1.5, {Low9, High9}).

%% Results that differ a lot have the interval of results that do not.
overall_takes_each_ratio_out(_) ->
    Same = ertslab_floor:overall(independent(30, [1, 1, 1])),
    Apart = ertslab_floor:overall(independent(30, [0.1, 1, 10])),
    [close(maps:get(Key, Same), maps:get(Key, Apart)) || Key <- bounds()].

%% Nor does the order of results or of pairs matter.
overall_has_no_sides(_) ->
    Results = independent(20, [0.98, 1.05, 1.02]),
    Overall = ertslab_floor:overall(Results),
    Inverse = ertslab_floor:overall([{Own, Base} || {Base, Own} <- Results]),
    [close(1 / maps:get(Key, Overall), maps:get(Other, Inverse)) || {Key, Other} <- [{estimate, estimate}, {low, high}, {high, low}]],
    Turned = ertslab_floor:overall([{lists:reverse(Base), lists:reverse(Own)} || {Base, Own} <- lists:reverse(Results)]),
    [close(maps:get(Key, Overall), maps:get(Key, Turned)) || Key <- bounds()],
    Scaled = ertslab_floor:overall([{Base, scaled(Own, 3.0)} || {Base, Own} <- Results]),
    [close(3.0 * maps:get(Key, Overall), maps:get(Key, Scaled)) || Key <- bounds()].

%% Many results of identical arms in few pairs: no more false ones than chance makes of 5 %, also where
%% half of a run's noise is common to all of its results.
overall_of_identical_arms_is_rarely_rejected(_) ->
    Rejected = length([rejected || Seed <- lists:seq(1, 300), maps:get(p, ertslab_floor:overall(alike(Seed))) =< 0.05]),
    {Low, _} = ertslab_selftest_rates:interval(Rejected, 300),
    ?assert(Low =< 0.05, Rejected),
    ?assert(Rejected >= 3, Rejected).

alike(Seed) ->
    {Commons, Random} = normals(2, rand:seed_s(exsss, Seed)),
    {Results, _} = lists:mapfoldl(fun(_, R0) ->
                                          {Owns, R} = normals(2, R0),
                                          {list_to_tuple(lists:zipwith(fun disturbed/2, Commons, Owns)), R}
                                  end, Random, lists:seq(1, 6)),
    Results.

%% So many arms of ten runs.
normals(Arms, Random) ->
    lists:mapfoldl(fun(_, R0) -> lists:mapfoldl(fun(_, R) -> rand:normal_s(R) end, R0, lists:seq(1, 10)) end,
                   Random, lists:seq(1, Arms)).

disturbed(Common, Own) -> lists:zipwith(fun(A, B) -> math:exp(0.02 * (abs(A) + abs(B))) end, Common, Own).

independent(Pairs, Ratios) -> [drawn(Pairs, 50 + Nth, Ratio) || {Nth, Ratio} <- lists:enumerate(Ratios)].

%% Noise of two speeds

%% No more than chance makes of 5 % in 97.5 of 100 cases.
identical_arms_are_rarely_rejected(_) ->
    Rejected = length([rejected || Seed <- lists:seq(1, 1000), {Base, Own} <- [sessions_runs(30, Seed, 1.0)],
                                   p(Base, Own) =< 0.05]),
    {Low, _} = ertslab_selftest_rates:interval(Rejected, 1000),
    ?assert(Low =< 0.05, Rejected),
    %% Nor does it reject nothing.
    ?assert(Rejected >= 20, Rejected).

a_planted_ratio_is_covered(_) ->
    Planted = 1.03,
    Ratios = [ertslab_floor:ratio(Base, Own) || Seed <- lists:seq(1, 500), {Base, Own} <- [sessions_runs(30, Seed, Planted)]],
    Covered = length([covered || #{low := Low, high := High} <- Ratios, Low =< Planted, Planted =< High]),
    ?assert(Covered >= 465, Covered),
    close_within(0.005, Planted, ertslab_stats:median([Estimate || #{estimate := Estimate} <- Ratios])).

%% Of 5 %, where the slow speed costs 30.
a_change_is_found(_) ->
    Found = length([found || Seed <- lists:seq(1, 100), {Base, Own} <- [sessions_runs(30, Seed, 1.05)],
                             #{low := Low} <- [ertslab_floor:ratio(Base, Own)], Low > 1]),
    ?assert(Found >= 90, Found).

close_within(Share, Expected, Value) -> ?assert(abs(Value / Expected - 1) < Share, Value).

%% The numbers of the runs of two arms, in pairs of random order; each run's is the floor of twenty values.
sessions_runs(Pairs, Seed, Ratio) ->
    {Drawn, _} = lists:mapfoldl(fun(_, State) -> pair(Ratio, State) end, {fast, rand:seed_s(exsss, Seed)}, lists:seq(1, Pairs)),
    lists:unzip(Drawn).

pair(Ratio, {Speed0, Random0}) ->
    {First, State} = run({Speed0, Random0}),
    {Second, {Speed, Random1}} = run(State),
    case rand:uniform_s(Random1) of
        {Side, Random} when Side < 0.5 -> {{First, Second * Ratio}, {Speed, Random}};
        {_, Random} -> {{Second, First * Ratio}, {Speed, Random}}
    end.

%% Two percent of luck with the layout, one of each value, and the speed, which changes after 50
%% values on average where it is slow, and after 25 where it is fast.
run({Speed0, Random0}) ->
    {Layout, Random1} = rand:normal_s(Random0),
    {Values, State} = lists:mapfoldl(fun(_, {Speed, R0}) ->
                                             {Change, R1} = rand:uniform_s(R0),
                                             {Own, R} = rand:normal_s(R1),
                                             {math:exp(0.02 * Layout + 0.01 * abs(Own)) * factor(Speed), {next(Speed, Change), R}}
                                     end, {Speed0, Random1}, lists:seq(1, 20)),
    {ertslab_estimate:of_run(floor, Values), State}.

factor(fast) -> 1000;
factor(slow) -> 1300.

next(fast, Change) when Change < 0.04 -> slow;
next(slow, Change) when Change < 0.02 -> fast;
next(Speed, _) -> Speed.
