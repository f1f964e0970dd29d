%% Laws of the schedule.
-module(ertslab_schedule_SUITE).

-include_lib("proper/include/proper.hrl").
-include_lib("stdlib/include/assert.hrl").

-export([all/0, each_pair_has_each_run_once/1, same_seed_same_runs/1,
         fewer_pairs_are_a_prefix/1, runs_of_a_case_are_neighbours/1,
         every_order_comes_up/1, a_run_of_all_cases_is_one_run/1, a_run_of_one_case_stays_so/1,
         replacing_runs_are_of_all_cases_too/1]).

all() ->
    [each_pair_has_each_run_once, same_seed_same_runs, fewer_pairs_are_a_prefix,
     runs_of_a_case_are_neighbours, every_order_comes_up, a_run_of_all_cases_is_one_run,
     a_run_of_one_case_stays_so, replacing_runs_are_of_all_cases_too].

each_pair_has_each_run_once(_) -> holds(?FORALL({Seed, P, C, A}, sizes(), complete(Seed, P, C, A))).

same_seed_same_runs(_) ->
    holds(?FORALL({Seed, P, C, A}, sizes(),
                  ertslab_schedule:runs(Seed, P, C, A) =:= ertslab_schedule:runs(Seed, P, C, A))).

fewer_pairs_are_a_prefix(_) ->
    holds(?FORALL({Seed, P, C, A}, sizes(),
                  lists:prefix(ertslab_schedule:runs(Seed, P, C, A),
                               ertslab_schedule:runs(Seed, P + 1, C, A)))).

runs_of_a_case_are_neighbours(_) ->
    holds(?FORALL({Seed, P, C, A}, sizes(),
                  lists:all(fun(Row) -> length(lists:usort([Key || {Key, _} <- Row])) =:= 1 end,
                            in_rows(A, [{{Pair, Case}, Arm}
                                        || #{pair := Pair, 'case' := Case, arm := Arm}
                                               <- ertslab_schedule:runs(Seed, P, C, A)])))).

%% With two arms both orders must occur, or drift would not cancel.
every_order_comes_up(_) ->
    Firsts = [Arm || #{order := 1, arm := Arm} <- ertslab_schedule:runs(1, 400, 1, 2)],
    Zeros = length([0 || 0 <- Firsts]),
    ?assert(Zeros > 150 andalso Zeros < 250, Zeros).

%% However many cases there are: one run for each pair and arm.
a_run_of_all_cases_is_one_run(_) ->
    holds(?FORALL({Seed, P, C, A}, sizes(),
                  begin
                      Runs = ertslab_schedule:of_plan(plan(cases, Seed, P, C, A)),
                      lists:usort([Case || #{'case' := Case} <- Runs]) =:= [all]
                          andalso [N || #{run := N} <- Runs] =:= lists:seq(1, P * A)
                          andalso lists:sort([{Pair, Arm} || #{pair := Pair, arm := Arm} <- Runs])
                          =:= [{Pair, Arm} || Pair <- lists:seq(1, P), Arm <- lists:seq(0, A - 1)]
                          andalso [Pair || #{pair := Pair} <- Runs] =:= lists:sort([Pair || #{pair := Pair} <- Runs])
                  end)).

a_run_of_one_case_stays_so(_) ->
    [?assertEqual(ertslab_schedule:runs(7, 5, 3, 2), ertslab_schedule:of_plan(plan(Rounds, 7, 5, 3, 2))) || Rounds <- [metrics, none]].

%% Numbered after those of the plan.
replacing_runs_are_of_all_cases_too(_) ->
    Runs = ertslab_schedule:replacing(plan(cases, 7, 5, 3, 2), [{6, all}, {7, all}]),
    ?assertEqual([{11, 6}, {12, 6}, {13, 7}, {14, 7}], [{N, Pair} || #{run := N, pair := Pair, 'case' := all} <- Runs]),
    ?assertEqual([31, 32], [N || #{run := N, 'case' := 2} <- ertslab_schedule:replacing(plan(none, 7, 5, 3, 2), [{6, 2}])]).

plan(Rounds, Seed, Pairs, Cases, Arms) ->
    #{seed => Seed, pairs => Pairs, cases => lists:duplicate(Cases, #{}), arms => lists:duplicate(Arms, #{}), rounds => Rounds}.

sizes() -> {non_neg_integer(), range(1, 12), range(1, 4), range(1, 5)}.

complete(Seed, Pairs, Cases, Arms) ->
    Runs = ertslab_schedule:runs(Seed, Pairs, Cases, Arms),
    Made = lists:sort([{P, C, A} || #{pair := P, 'case' := C, arm := A} <- Runs]),
    Numbers = [N || #{run := N} <- Runs],
    Made =:= [{P, C, A} || P <- lists:seq(1, Pairs), C <- lists:seq(0, Cases - 1),
                           A <- lists:seq(0, Arms - 1)]
        andalso Numbers =:= lists:seq(1, Pairs * Cases * Arms).

in_rows(_, []) -> [];
in_rows(N, List) ->
    {Row, Rest} = lists:split(N, List),
    [Row | in_rows(N, Rest)].

holds(Property) -> ?assert(proper:quickcheck(Property, [{numtests, 200}, {to_file, user}])).
