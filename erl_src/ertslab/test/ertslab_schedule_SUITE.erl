%% Laws of the schedule.
-module(ertslab_schedule_SUITE).

-include_lib("proper/include/proper.hrl").
-include_lib("stdlib/include/assert.hrl").

-export([all/0, each_pair_has_each_run_once/1, same_seed_same_runs/1,
         fewer_pairs_are_a_prefix/1, runs_of_a_case_are_neighbours/1,
         every_order_comes_up/1]).

all() ->
    [each_pair_has_each_run_once, same_seed_same_runs, fewer_pairs_are_a_prefix,
     runs_of_a_case_are_neighbours, every_order_comes_up].

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
