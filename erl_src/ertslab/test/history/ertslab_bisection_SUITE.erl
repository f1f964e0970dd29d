%% Which commit is next, and what is said in the end, of histories whose readings are given.
-module(ertslab_bisection_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, the_bad_one_comes_first/1, a_step_is_found_in_few_builds/1, a_large_step_is_one/1, what_does_not_build_is_passed_over/1,
         nothing_is_found_where_nothing_changed/1, several_are_said/1, a_built_one_is_taken_before/1, the_limit_ends_it/1,
         the_first_commit_can_be_the_one/1, wrong_ones_are_rare/1, plain_bisection_is_wrong_more_often/1]).

all() ->
    [the_bad_one_comes_first, a_step_is_found_in_few_builds, a_large_step_is_one, what_does_not_build_is_passed_over,
     nothing_is_found_where_nothing_changed, several_are_said, a_built_one_is_taken_before, the_limit_ends_it,
     the_first_commit_can_be_the_one, wrong_ones_are_rare, plain_bisection_is_wrong_more_often].

the_bad_one_comes_first(_) ->
    ?assertMatch({{measure, 16}, _}, ertslab_bisection:next(state(16, []))).

%% 16 commits, and the good one: at most 7 builds.
a_step_is_found_in_few_builds(_) ->
    [begin
         {Found, Readings} = ended(state(16, []), step_at(At, 0.05)),
         ?assertMatch({found, #{among := [At], culprit := At}}, Found),
         ?assert(length(lists:usort(Readings ++ [At - 1])) + 1 =< 8, {At, Readings}),
         ?assertEqual(At - 1, maps:get(parent, element(2, Found)))
     end || At <- lists:seq(1, 16)].

%% A count may halve, or become ten times as large.
a_large_step_is_one(_) ->
    [?assertMatch({Size, {{found, #{among := [11], parent := 10, culprit := 11}}, _}}, {Size, ended(state(16, []), step_at(11, Size))})
     || Size <- [-0.7, -0.35, 0.2, 0.7, 2.3]].

what_does_not_build_is_passed_over(_) ->
    {Found, Readings} = ended(state(16, [9, 10]), step_at(10, 0.05)),
    ?assertMatch({found, #{among := [9, 10, 11], parent := 8, culprit := 11}}, Found),
    ?assertEqual([], [Commit || Commit <- Readings, lists:member(Commit, [9, 10])]).

nothing_is_found_where_nothing_changed(_) ->
    ?assertMatch({no_change, _}, ended(state(16, []), fun(_) -> 0.0 end)).

several_are_said(_) ->
    {Answer, _} = ended(state(16, []), fun(N) when N >= 12 -> 0.10; (N) when N >= 4 -> 0.05; (_) -> 0.0 end),
    ?assertEqual(several, Answer).

%% Of two that teach the same, the one that is there already.
a_built_one_is_taken_before(_) ->
    State = (state(15, []))#{measured := [#{commit => 15, log_ratio => 0.05, error => 0.002}]},
    {{measure, Middle}, _} = ertslab_bisection:next(State),
    ?assertEqual(8, Middle),
    ?assertMatch({{measure, 7}, _}, ertslab_bisection:next(State#{built := [7]})).

the_limit_ends_it(_) ->
    State = (state(16, []))#{measured := [#{commit => 16, log_ratio => 0.05, error => 0.002}], limit := 1},
    {{unsure, Among}, _} = ertslab_bisection:next(State),
    ?assert(length(Among) > 10).

the_first_commit_can_be_the_one(_) ->
    ?assertMatch({{found, #{among := [1], parent := 0}}, [1, 1]}, ended(state(1, []), step_at(1, 0.05))).

wrong_ones_are_rare(_) ->
    #{kinds := Kinds, ok := Ok} = Report = report(),
    ?assert(Ok),
    ?assertMatch([#{ours := #{right := Right}} | _] when Right > 0, [K || #{kind := ~"one step of 5 %"} = K <- Kinds]),
    ?assertNotEqual(nomatch, string:find(ertslab_bisect_trial:render(Report), "plain bisection")).

%% The trial can tell a good way from a bad one.
plain_bisection_is_wrong_more_often(_) ->
    Wrong = fun(Way) -> lists:sum([maps:get(wrong, maps:get(Way, Kind)) || Kind <- maps:get(kinds, report())]) end,
    ?assert(Wrong(plain) > 2 * Wrong(ours)).

report() -> ertslab_bisect_trial:report(20, 7, 2, fun(_, _) -> ok end).

state(Commits, Unbuildable) ->
    #{commits => Commits, measured => [], unbuildable => Unbuildable, built => [],
      build_s => 60, measure_s => 60, bound => 0.01, limit => 30}.

step_at(At, Size) -> fun(Commit) when Commit >= At -> Size; (_) -> 0.0 end.

%% The answer, and what was measured.
ended(#{measured := Measured} = State, Level) ->
    case ertslab_bisection:next(State) of
        {{measure, Commit}, _} ->
            %% A reading is never quite what it should be.
            Off = 0.0005 * (Commit rem 3 - 1),
            ended(State#{measured := [#{commit => Commit, log_ratio => Level(Commit) + Off, error => 0.002} | Measured]}, Level);
        {Answer, _} -> {Answer, [Commit || #{commit := Commit} <- Measured]}
    end.
