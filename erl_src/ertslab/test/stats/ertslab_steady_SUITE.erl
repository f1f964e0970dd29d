%% When iterations are called steady, and when not.
-module(ertslab_steady_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_step_is_found_where_it_is/1, a_small_step_is_steady/1, ties_share_their_rank/1, noise_is_steady/1,
         few_iterations_are_not_tested/1, unequally_many_are_tested_as_far_as_all_go/1, level_is_kept/1,
         a_slower_half_is_found/1, halves_have_a_least_change/1, halves_of_few_are_steady/1,
         speeds_in_any_half_are_steady/1, level_of_halves_is_kept/1]).

all() ->
    [a_step_is_found_where_it_is, a_small_step_is_steady, ties_share_their_rank, noise_is_steady,
     few_iterations_are_not_tested, unequally_many_are_tested_as_far_as_all_go, level_is_kept,
     a_slower_half_is_found, halves_have_a_least_change, halves_of_few_are_steady, speeds_in_any_half_are_steady,
     level_of_halves_is_kept].

a_step_is_found_where_it_is(_) ->
    Runs = [[Run * X || X <- [1.30, 1.29, 1.01, 1.02, 1.00, 1.03]] || Run <- lists:seq(1, 10)],
    #{steady := false, from := 3, ratio := Ratio} = ertslab_steady:test(Runs, 0.05),
    ?assert(abs(Ratio - 1.015 / 1.295) < 1.0e-9).

%% As regular, but under one percent.
a_small_step_is_steady(_) ->
    Runs = [[Run * X || X <- [1.004, 1.003, 1.001, 1.002, 1.0, 1.0]] || Run <- lists:seq(1, 10)],
    ?assertEqual(#{steady => true}, ertslab_steady:test(Runs, 0.05)).

%% Integers and floats among them. The first two of each run make a deviation of 1.85 for one run
%% and of 4.5 for six, and the level asks for 2.6.
ties_share_their_rank(_) ->
    Run = [2, 2.0, 1.0, 1, 1.0, 1.0],
    ?assertEqual(#{steady => false, from => 3, ratio => 0.5}, ertslab_steady:test(lists:duplicate(6, Run), 0.05)),
    ?assertEqual(#{steady => true}, ertslab_steady:test([Run], 0.05)).

noise_is_steady(_) ->
    {Runs, _} = noise(40, 7, rand:seed_s(exsss, 1)),
    ?assertEqual(#{steady => true}, ertslab_steady:test(Runs, 0.05)).

few_iterations_are_not_tested(_) ->
    ?assertEqual(#{steady => true}, ertslab_steady:test([[1, 100], [1, 100]], 0.05)).

unequally_many_are_tested_as_far_as_all_go(_) ->
    ?assertEqual(#{steady => false, from => 3, ratio => 0.5},
                 ertslab_steady:test([[2, 2, 2, 1, 1, 1] | lists:duplicate(9, [2, 2, 1])], 0.05)),
    ?assertEqual(#{steady => true}, ertslab_steady:test([[2, 2, 2] | lists:duplicate(9, [2, 2, 2, 1, 1, 1])], 0.05)).

%% Of 500 sets of steady runs, no more than 5 % are called otherwise.
level_is_kept(_) ->
    {Results, _} = lists:mapfoldl(fun(_, Random0) ->
                                          {Runs, Random} = noise(20, 7, Random0),
                                          {ertslab_steady:test(Runs, 0.05), Random}
                                  end, rand:seed_s(exsss, 2), lists:seq(1, 500)),
    ?assert(length([R || #{steady := false} = R <- Results]) =< 25).

%% Of runs of 20 and of 30 values; the first of a half is slow, which says nothing of its floor.
a_slower_half_is_found(_) ->
    [begin
         Runs = [halves(Run, Length, Factor) || Run <- lists:seq(1, 10)],
         #{steady := false, from := From, ratio := Ratio} = ertslab_steady:halves(Runs, 0.05),
         ?assertEqual(Length div 2 + 1, From),
         ?assert(abs(Ratio / Factor - 1) < 0.003, Ratio)
     end || Length <- [20, 30], Factor <- [1.05, 0.9]].

halves(Run, Length, Factor) ->
    Half = [3000 | [1000 + Run + N rem 3 || N <- lists:seq(2, Length div 2)]],
    Half ++ [Factor * Value || Value <- Half].

halves_have_a_least_change(_) ->
    ?assertEqual(#{steady => true}, ertslab_steady:halves([halves(Run, 20, 1.008) || Run <- lists:seq(1, 20)], 0.05)).

%% Six runs can tell, of four values each, and fewer not even where more is left to chance.
halves_of_few_are_steady(_) ->
    Halves = fun(Runs) -> ertslab_steady:halves(Runs, 0.2) end,
    ?assertMatch(#{steady := false, from := 3}, Halves(lists:duplicate(6, [1, 1, 2, 2]))),
    ?assertEqual(#{steady => true}, Halves(lists:duplicate(5, [1, 1, 2, 2]))),
    ?assertEqual(#{steady => true}, Halves(lists:duplicate(20, [1, 2, 2]))),
    ?assertEqual(#{steady => true}, Halves(lists:duplicate(5, [1, 1, 2, 2]) ++ lists:duplicate(20, [1, 2, 2]))),
    ?assertEqual(#{steady => true}, Halves(lists:duplicate(20, [0, 1, 2, 2]))).

%% The order within these runs is far from random, but the slow half is as often the first.
speeds_in_any_half_are_steady(_) ->
    Runs = [case Run rem 2 of 0 -> Values; 1 -> lists:reverse(Values) end
            || Run <- lists:seq(1, 20), Values <- [halves(Run, 20, 1.4)]],
    ?assertEqual(#{steady => true}, ertslab_steady:halves(Runs, 0.05)).

%% Of 500 sets of runs on a machine whose two speeds last for 25 values, no more than 5 % are
%% called otherwise.
level_of_halves_is_kept(_) ->
    {Results, _} = lists:mapfoldl(fun(_, State0) ->
                                          {Runs, State} = lists:mapfoldl(fun(_, S) -> two_speeds(40, S) end, State0, lists:seq(1, 24)),
                                          {ertslab_steady:halves(Runs, 0.05), State}
                                  end, {1000, rand:seed_s(exsss, 3)}, lists:seq(1, 500)),
    ?assert(length([R || #{steady := false} = R <- Results]) =< 25).

two_speeds(Values, State) ->
    lists:mapfoldl(fun(_, {Speed, R0}) ->
                           {Change, R1} = rand:uniform_s(R0),
                           {Own, R} = rand:uniform_s(R1),
                           {Speed * (1 + Own / 50), {case Change < 0.04 of true -> 2400 - Speed; false -> Speed end, R}}
                   end, State, lists:seq(1, Values)).

noise(Runs, Iterations, Random) ->
    lists:mapfoldl(fun(_, R0) ->
                           lists:mapfoldl(fun(_, R1) ->
                                                  {Z, R} = rand:normal_s(R1),
                                                  {math:exp(Z / 10), R}
                                          end, R0, lists:seq(1, Iterations))
                   end, Random, lists:seq(1, Runs)).
