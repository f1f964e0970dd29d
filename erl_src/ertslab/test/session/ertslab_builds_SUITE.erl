%% Which build a pair runs, and what is said of builds that disagree.
-module(ertslab_builds_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, pairs_take_builds_in_turn/1, one_build_is_the_ordinary_one/1,
         too_few_builds_are_refused/1, pairs_must_reach_each_build/1, missing_file_is_refused/1, each_build_has_its_ratio/1,
         builds_that_disagree_are_told/1, chance_and_trifles_are_not_told/1]).

all() ->
    [pairs_take_builds_in_turn, one_build_is_the_ordinary_one, too_few_builds_are_refused,
     pairs_must_reach_each_build, missing_file_is_refused, each_build_has_its_ratio, builds_that_disagree_are_told,
     chance_and_trifles_are_not_told].

pairs_take_builds_in_turn(_) ->
    VM = ertslab_builds:chosen(vm(3), 2),
    ?assertEqual([~"1", ~"2"], ertslab_builds:ids(VM)),
    ?assertEqual([~"1", ~"2", ~"1", ~"2"],
                 [Id || Pair <- [1, 2, 3, 24], #{build_id := Id} <- [ertslab_builds:of_pair(VM, Pair)]]),
    ?assertMatch(#{sha256 := ~"sha 2", executable := _}, ertslab_builds:of_pair(VM, 2)).

one_build_is_the_ordinary_one(_) ->
    VM = ertslab_builds:chosen(vm(3), 1),
    ?assertEqual(VM, ertslab_builds:of_pair(VM, 2)),
    ?assertNot(is_map_key(builds, VM)),
    ?assertEqual([~"1"], ertslab_builds:ids(VM)).

too_few_builds_are_refused(_) ->
    ?assertThrow({failure, {ertslab_builds, {too_few, ~"stock", 27, 4}}}, ertslab_builds:chosen(vm(3), 4)),
    ?assertThrow({failure, {ertslab_builds, {too_few, _, 27, 2}}}, ertslab_builds:chosen(maps:remove(builds, vm(1)), 2)).

pairs_must_reach_each_build(_) ->
    Plan = #{builds => 7, quick => true, exact => false},
    ?assertThrow({usage, {ertslab_plan, {too_many_builds, 7, 6}}}, ertslab_plan:with_pairs(Plan, 6)),
    ?assertMatch(#{pairs := 7}, ertslab_plan:with_pairs(Plan, 7)).

missing_file_is_refused(_) ->
    #{builds := [First, Second]} = VM = vm(2),
    Gone = VM#{builds := [First, Second#{executable := "/nowhere/beam.stock_build2.smp"}]},
    ?assertThrow({failure, {ertslab_builds, {too_few, _, 27, 2}}}, ertslab_builds:chosen(Gone, 2)).

%% Pair 4 has no value of the baseline.
each_build_has_its_ratio(_) ->
    Base = #{1 => 100, 2 => 100, 3 => 100, 5 => 100},
    Own = #{1 => 50, 2 => 80, 3 => 60, 4 => 1, 5 => 70},
    #{builds := [#{build := 1, ratio := First, pairs := 3}, #{build := 2, ratio := Second, pairs := 1}]} =
        ertslab_layout_luck:by_build(Base, Own, 2),
    [?assert(abs(Expected - Ratio) < 1.0e-9) || {Expected, Ratio} <- [{0.6, First}, {0.8, Second}]],
    ?assertEqual(#{}, ertslab_layout_luck:by_build(Base, Own, 1)).

builds_that_disagree_are_told(_) ->
    [Warning] = warnings(fun(Pair) when Pair rem 2 =:= 1 -> 900 + Pair; (Pair) -> 1100 + Pair end),
    ?assertMatch({_, _}, binary:match(Warning, ~"fast of b (size=3) is 0.9")),
    ?assertMatch({_, _}, binary:match(Warning, ~"these 2 builds only")).

%% The second is no chance, but less than the smallest change of interest.
chance_and_trifles_are_not_told(_) ->
    ?assertEqual([], warnings(fun(Pair) -> 1000 + 100 * (Pair * 7 rem 13) end)),
    ?assertEqual([], warnings(fun(Pair) when Pair rem 2 =:= 1 -> 1000 + Pair; (Pair) -> 1004 + Pair end)).

warnings(Value) ->
    Pairs = lists:seq(1, 20),
    Row = ertslab_layout_luck:by_build(#{Pair => 1000 || Pair <- Pairs}, #{Pair => Value(Pair) || Pair <- Pairs}, 2),
    ertslab_layout_luck:warnings(#{same_within => 0.01},
                            [{#{size => 3}, [#{metric => fast, label => ~"a"},
                                             Row#{metric => fast, label => ~"b"}]}]).

%% This module's own file stands for every emulator.
vm(Builds) ->
    File = code:which(?MODULE),
    Build = fun(K) ->
                    Id = integer_to_binary(K),
                    #{build_id => Id, sha256 => <<"sha ", Id/binary>>, executable => File}
            end,
    (Build(1))#{name => ~"stock", release => 27, root => "/nowhere", version => ~"27.0",
                interpreter => none, description => ~"", builds => [Build(K) || K <- lists:seq(1, Builds)]}.
