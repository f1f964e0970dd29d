%% When iterations are called steady, and when not.
-module(ertslab_steady_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_step_is_found_where_it_is/1, a_small_step_is_steady/1, ties_share_their_rank/1, noise_is_steady/1,
         few_iterations_are_not_tested/1, unequally_many_are_not_tested/1, level_is_kept/1]).

all() ->
    [a_step_is_found_where_it_is, a_small_step_is_steady, ties_share_their_rank, noise_is_steady,
     few_iterations_are_not_tested, unequally_many_are_not_tested, level_is_kept].

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

unequally_many_are_not_tested(_) ->
    ?assertEqual(#{steady => true}, ertslab_steady:test([[2, 2, 2, 1, 1, 1] | lists:duplicate(9, [2, 2, 1])], 0.05)).

%% Of 500 sets of steady runs, no more than 5 % are called otherwise.
level_is_kept(_) ->
    {Results, _} = lists:mapfoldl(fun(_, Random0) ->
                                          {Runs, Random} = noise(20, 7, Random0),
                                          {ertslab_steady:test(Runs, 0.05), Random}
                                  end, rand:seed_s(exsss, 2), lists:seq(1, 500)),
    ?assert(length([R || #{steady := false} = R <- Results]) =< 25).

noise(Runs, Iterations, Random) ->
    lists:mapfoldl(fun(_, R0) ->
                           lists:mapfoldl(fun(_, R1) ->
                                                  {Z, R} = rand:normal_s(R1),
                                                  {math:exp(Z / 10), R}
                                          end, R0, lists:seq(1, Iterations))
                   end, Random, lists:seq(1, Runs)).
