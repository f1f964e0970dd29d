%% The speed of the machine in a turn, which all arms of it share, says nothing of the arms.
-module(ertslab_turn_effect_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, the_speed_of_a_turn_cancels/1, a_median_alone_does_not_cancel_it/1, each_pair_has_turns_of_its_own/1,
         what_is_no_number_stays/1, runs_are_cut_to_the_shortest/1, one_arm_alone_keeps_its_typical_number/1]).

all() ->
    [the_speed_of_a_turn_cancels, a_median_alone_does_not_cancel_it, each_pair_has_turns_of_its_own,
     what_is_no_number_stays, runs_are_cut_to_the_shortest, one_arm_alone_keeps_its_typical_number].

%% Turns of two speeds, and arms of which one takes 1.1 times as long: nothing else is left.
the_speed_of_a_turn_cancels(_) ->
    Speeds = [1.0, 1.6, 1.6, 1.0, 1.2],
    #{a := A, b := B} = removed(#{a => [100 * S || S <- Speeds], b => [110 * S || S <- Speeds]}),
    [?assert(abs(Own / Base - 1.1) < 1.0e-9) || {Base, Own} <- lists:zip(A, B)],
    ?assert(abs(lists:max(A) / lists:min(A) - 1) < 1.0e-9),
    ?assert(abs(ertslab_stats:median(A) * math:sqrt(1.1) - 1.2 * 100 * math:sqrt(1.1)) < 1.0e-6).

%% Where turns of either speed are about as many, a disturbed round moves the median of a run from one speed to the other.
a_median_alone_does_not_cancel_it(_) ->
    {Same, Slowed} = {[100, 160, 100, 160, 100], [300, 160, 100, 160, 100]},
    ?assertEqual(1.6, ertslab_stats:median(Slowed) / ertslab_stats:median(Same)),
    #{a := A, b := B} = removed(#{a => Same, b => Slowed}),
    ?assert(abs(ertslab_stats:median(B) / ertslab_stats:median(A) - 1) < 1.0e-9).

each_pair_has_turns_of_its_own(_) ->
    Runs = #{{a, 1} => [10, 20], {b, 1} => [10, 20], {a, 2} => [500], {b, 2} => [500]},
    Removed = ertslab_turn_effect:removed(fun({_, Pair}) -> Pair end, Runs),
    [?assert(abs(lists:max(Values) / lists:min(Values) - 1) < 1.0e-9) || Values <- maps:values(Removed)],
    ?assertEqual([15.0, 500.0], [round(1000 * hd(maps:get({a, Pair}, Removed))) / 1000 || Pair <- [1, 2]]).

what_is_no_number_stays(_) ->
    [?assertEqual(Runs, removed(Runs))
     || Runs <- [#{a => [[[1, 10], [2, 20]]], b => [[[1, 11], [2, 22]]]}, #{a => [0, 5], b => [1, 5]}, #{a => [-1], b => [2]}]].

%% As in a file of which a value was lost.
runs_are_cut_to_the_shortest(_) ->
    #{a := A, b := B} = removed(#{a => [1, 2, 3], b => [1, 2]}),
    ?assertEqual({2, 2}, {length(A), length(B)}).

one_arm_alone_keeps_its_typical_number(_) ->
    ?assertEqual(#{a => [20.0, 20.0, 20.0]},
                 maps:map(fun(_, Values) -> [round(V) + 0.0 || V <- Values] end, removed(#{a => [10, 20, 30]}))).

removed(Runs) -> ertslab_turn_effect:removed(fun(_Arm) -> pair end, Runs).
