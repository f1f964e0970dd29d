%% What a budget of time is said to buy.
-module(ertslab_pilot_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, durations/1, no_durations/1, spread_is_of_pairs/1, one_pair_has_no_spread/1,
         effect_shrinks_with_pairs/1, effect_is_that_of_the_verdict/1]).

all() ->
    [durations, no_durations, spread_is_of_pairs, one_pair_has_no_spread, effect_shrinks_with_pairs,
     effect_is_that_of_the_verdict].

durations(_) ->
    ?assertEqual([90_000, 1_200_000, 3_600_000], [ertslab_pilot:duration(T) || T <- ["90s", "20m", "1h"]]).

no_durations(_) ->
    [?assertThrow({usage, _}, ertslab_pilot:duration(Text)) || Text <- ["", "20", "m", "-3m", "2d", "1 h"]].

%% What all arms of a pair share is no spread: log ratios of 0, log 2 and 0.
spread_is_of_pairs(_) ->
    Lines = [sample(Pair, 0, 10 * Pair) || Pair <- [1, 2, 3]]
        ++ [sample(1, 1, 10), sample(2, 1, 40), sample(3, 1, 30)],
    Spread = ertslab_pilot:spread(#{baseline => 0}, work, Lines),
    ?assert(abs(Spread - math:log(2) / math:sqrt(3)) < 1.0e-9).

one_pair_has_no_spread(_) ->
    ?assertEqual(none, ertslab_pilot:spread(#{baseline => 0}, work, [sample(1, 0, 10), sample(1, 1, 11)])).

effect_shrinks_with_pairs(_) ->
    [#{effect := Few}] = ertslab_pilot:smallest_effects([{work, 0.05}], 10, 4),
    [#{effect := Many}] = ertslab_pilot:smallest_effects([{work, 0.05}], 40, 4),
    ?assert(abs(math:log(1 + Few) / math:log(1 + Many) - 2) < 1.0e-9).

%% By hand: (1.960 + 0.842) * 0.02 / sqrt(20 * 3/pi) = 0.01282.
effect_is_that_of_the_verdict(_) ->
    ?assert(abs(math:log(1 + ertslab_verdict:smallest_effect(0.02, 20, 1)) - 0.01282) < 2.0e-5).

sample(Pair, Arm, Value) ->
    #{type => sample, metric => work, 'case' => 0, pair => Pair, arm => Arm, value => Value}.
