%% Which runs count as disturbed, and what is measured in their place.
-module(ertslab_disturbed_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, reasons_have_a_share_and_a_least/1, what_cannot_be_read_disturbs_nothing/1,
         a_quarter_is_replaced/1, replacing_runs_are_whole_pairs/1, same_order_when_gone_on/1,
         run_of_all_cases_is_replaced_whole/1, replaced_pair_is_left_out_of_its_cases/1,
         what_is_not_measured_again_is_named/1]).

all() ->
    [reasons_have_a_share_and_a_least, what_cannot_be_read_disturbs_nothing, a_quarter_is_replaced,
     replacing_runs_are_whole_pairs, same_order_when_gone_on, run_of_all_cases_is_replaced_whole,
     replaced_pair_is_left_out_of_its_cases, what_is_not_measured_again_is_named].

%% 1 % of 10 s are 100 ms; 10 % of 200 ms are 20 ms, but 50 are wanted at least.
reasons_have_a_share_and_a_least(_) ->
    ?assertEqual([], ertslab_disturbed:reasons(host(100, 0, 0), 10_000)),
    ?assertEqual([~"the hypervisor took time away"], ertslab_disturbed:reasons(host(110, 0, 0), 10_000)),
    ?assertEqual([], ertslab_disturbed:reasons(host(0, 50, 0), 200)),
    ?assertEqual([~"other programs ran"], ertslab_disturbed:reasons(host(0, 60, 0), 200)),
    ?assertEqual([~"the machine swapped"], ertslab_disturbed:reasons(host(0, 0, 1), 200)).

what_cannot_be_read_disturbs_nothing(_) ->
    ?assertEqual([], ertslab_disturbed:reasons(host(null, null, null), 200)).

host(Stolen, Others, Pages) -> #{steal_ms => Stolen, others_ms => Others, swapped_in => Pages}.

%% Of 10 pairs three may be replaced, of each case; the fourth is kept.
a_quarter_is_replaced(_) ->
    Found = ertslab_disturbed:replacements(plan(), [run(0, P, 1) || P <- [9, 2, 4, 7]] ++ [run(1, 5, 0)]),
    ?assertEqual([{0, 2, 11}, {0, 4, 12}, {0, 7, 13}, {0, 9, none}, {1, 5, 11}],
                 [{Case, Pair, By} || #{'case' := Case, pair := Pair, replaced_by := By} <- Found]).

replacing_runs_are_whole_pairs(_) ->
    Runs = ertslab_disturbed:runs(plan(), ertslab_disturbed:replacements(plan(), [run(1, 5, 0)])),
    ?assertEqual([{41, 11, 1}, {42, 11, 1}], [{N, P, C} || #{run := N, pair := P, 'case' := C} <- Runs]),
    ?assertEqual([0, 1], lists:sort([Arm || #{arm := Arm} <- Runs])).

%% A replacement that is disturbed itself changes nothing of the plan.
same_order_when_gone_on(_) ->
    First = [run(0, 2, 1)],
    Then = First ++ [run(0, 11, 0)],
    Runs = fun(Made) -> ertslab_disturbed:runs(plan(), ertslab_disturbed:replacements(plan(), Made)) end,
    ?assertEqual(Runs(First), Runs(Then)).

%% As it is read from the file. Of 10 pairs three may be, however many cases they have.
run_of_all_cases_is_replaced_whole(_) ->
    Plan = (plan())#{rounds => cases},
    Found = ertslab_disturbed:replacements(Plan, [run(~"all", P, 1) || P <- [9, 2, 4, 7]]),
    ?assertEqual([{all, 2, 11}, {all, 4, 12}, {all, 7, 13}, {all, 9, none}],
                 [{Case, Pair, By} || #{'case' := Case, pair := Pair, replaced_by := By} <- Found]),
    ?assertEqual([{21, 11}, {22, 11}, {23, 12}, {24, 12}, {25, 13}, {26, 13}],
                 [{N, P} || #{run := N, pair := P, 'case' := all} <- ertslab_disturbed:runs(Plan, Found)]).

%% Once its replacement is there.
replaced_pair_is_left_out_of_its_cases(_) ->
    Replacements = fun(Case) -> ertslab_disturbed:replacements(plan(), [run(Case, 2, 1)]) end,
    LeftOut = fun(Case, Runs) -> ertslab_disturbed:left_out(Replacements(Case), Runs) end,
    Of = fun(Found) -> [{Case, Pair} || Case <- [0, 1], Pair <- [2, 3, 11], ertslab_disturbed:is_left_out(Case, Pair, Found)] end,
    ?assertEqual([{0, 2}, {1, 2}], Of(LeftOut(~"all", [run(~"all", 2, 1), run(~"all", 11, 0)]))),
    ?assertEqual([{1, 2}], Of(LeftOut(1, [run(1, 2, 1), run(1, 11, 0)]))),
    [?assertEqual([], Of(LeftOut(Case, [run(Case, 2, 1)]))) || Case <- [~"all", 1]].

%% As for floors, where a disturbed run is one that missed the floor.
what_is_not_measured_again_is_named(_) ->
    Plan = (plan())#{replace_disturbed => false, rounds => cases},
    Found = ertslab_disturbed:replacements(Plan, [run(~"all", P, 1) || P <- [9, 2]]),
    ?assertMatch([#{'case' := all, pair := 2, why := [_], replaced_by := none}, #{'case' := all, pair := 9, replaced_by := none}], Found),
    ?assertEqual([], ertslab_disturbed:runs(Plan, Found)).

plan() -> #{rounds => none, seed => 3, pairs => 10, cases => [#{}, #{}], arms => [a, b]}.

run(Case, Pair, Arm) ->
    #{~"case" => Case, ~"pair" => Pair, ~"arm" => Arm, ~"disturbed" => [~"other programs ran"]}.
