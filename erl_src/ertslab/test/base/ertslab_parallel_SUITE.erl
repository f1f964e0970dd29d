%% Work on several cores.
-module(ertslab_parallel_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, results_are_in_the_order_of_the_items/1, no_more_work_at_a_time_than_told/1, done_items_are_told/1,
         a_crash_is_the_callers/1, each_item_has_a_process_of_its_own/1]).

all() ->
    [results_are_in_the_order_of_the_items, no_more_work_at_a_time_than_told, done_items_are_told, a_crash_is_the_callers,
     each_item_has_a_process_of_its_own].

%% The first item waits for the last one.
results_are_in_the_order_of_the_items(_) ->
    Last = atomics:new(1, []),
    Work = fun(1) -> await(Last), 10;
              (3) -> atomics:put(Last, 1, 1), 30;
              (N) -> 10 * N
           end,
    ?assertEqual([10, 20, 30], map(Work, [1, 2, 3], 2)),
    ?assertEqual([], map(Work, [], 2)).

await(Set) ->
    case atomics:get(Set, 1) of
        1 -> ok;
        0 -> erlang:yield(), await(Set)
    end.

no_more_work_at_a_time_than_told(_) ->
    [Now, Most] = [counters:new(1, []) || _ <- [now, most]],
    Work = fun(_) ->
                   ok = counters:add(Now, 1, 1),
                   erlang:yield(),
                   Seen = counters:get(Now, 1),
                   Seen > counters:get(Most, 1) andalso counters:put(Most, 1, Seen),
                   ok = counters:sub(Now, 1, 1)
           end,
    _ = map(Work, lists:seq(1, 200), 3),
    ?assert(counters:get(Most, 1) =< 3).

done_items_are_told(_) ->
    Self = self(),
    _ = ertslab_parallel:map(fun(N) -> N end, [a, b, c], 2, fun(Done, Total) -> Self ! {Done, Total} end),
    ?assertEqual([{1, 3}, {2, 3}, {3, 3}], [receive Told -> Told end || _ <- [1, 2, 3]]).

a_crash_is_the_callers(_) -> ?assertError({oops, _}, map(fun(_) -> error(oops) end, [1, 2], 2)).

each_item_has_a_process_of_its_own(_) -> ?assertEqual(3, length(lists:usort([self() | map(fun(_) -> self() end, [1, 2], 1)]))).

map(Fun, Items, Workers) -> ertslab_parallel:map(Fun, Items, Workers, fun(_, _) -> ok end).
