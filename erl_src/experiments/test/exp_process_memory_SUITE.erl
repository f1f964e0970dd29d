%% Both experiments on the memory of processes, at sizes that take no time.
-module(exp_process_memory_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_process_is_as_its_kind_says/1, population_is_gone_afterwards/1,
         points_are_of_all_sizes/1, slopes_are_what_the_vm_counts/1, off_heap_costs_more/1,
         every_metric_of_the_machine_is_measured/1, other_process_is_noticed/1]).

all() -> [every_process_is_as_its_kind_says, population_is_gone_afterwards,
          points_are_of_all_sizes, slopes_are_what_the_vm_counts, off_heap_costs_more,
          every_metric_of_the_machine_is_measured, other_process_is_noticed].

every_process_is_as_its_kind_says(_) ->
    [?assertEqual({Kind, {[{10, read}, {30, read}], 0}},
                  {Kind, process_population:grow(Kind, [10, 30], fun() -> read end)})
     || {Kind, _} <- process_population:kinds()].

population_is_gone_afterwards(_) ->
    Counted = fun() -> erlang:system_info(process_count) end,
    {First, Second, Left} =
        in_fresh_vm(fun() ->
                            {[{1000, AtFirst}, {3000, AtSecond}], 0} =
                                process_population:grow(waiting, [1000, 3000], Counted),
                            {AtFirst, AtSecond, Counted()}
                    end),
    ?assertEqual(2000, Second - First),
    ?assert(Left =< First - 1000).

%% As experiments are: what other suites have left behind ends and is given back
%% at any time, and would be counted too.
in_fresh_vm(Fun) ->
    {ok, Peer, _} = peer:start(#{connection => standard_io, args => ["-pa" | code:get_path()]}),
    try peer:call(Peer, erlang, apply, [Fun, []], 60_000)
    after peer:stop(Peer)
    end.

points_are_of_all_sizes(_) ->
    State = exp_process_memory:setup(#{processes => 1000}),
    {Points, 0} = exp_process_memory:run(waiting, State),
    ?assertEqual([100, 200, 500, 1000], [N || [N, _] <- Points]).

%% A block has a header, and ends where a word pair does: so it is a little more
%% than what the process itself is said to have.
slopes_are_what_the_vm_counts(_) ->
    {Slope, Own, Hibernated} =
        in_fresh_vm(fun() ->
                            State = exp_process_memory:setup(#{processes => 3000}),
                            #{estimate := OfWaiting} = slope(waiting, State),
                            OwnMemory = own_memory(),
                            #{estimate := OfHibernated} = slope(hibernated, State),
                            {OfWaiting, OwnMemory, OfHibernated}
                    end),
    ?assert(Slope >= Own andalso Slope < Own + 100, {Slope, Own}),
    ?assert(Hibernated < Slope / 2, {Hibernated, Slope}).

own_memory() ->
    {[{_, Own}], 0} =
        process_population:grow(waiting, [1],
                                fun() ->
                                        [Pid] = [P || P <- processes(),
                                                      process_info(P, parent) =:= {parent, self()}],
                                        {memory, Bytes} = process_info(Pid, memory),
                                        Bytes
                                end),
    Own.

%% On heap 10 messages of 8 words go where there was room already; off heap they
%% come on top.
off_heap_costs_more(_) ->
    State = exp_process_memory:setup(#{processes => 3000}),
    [#{estimate := None}, #{estimate := OnHeap}, #{estimate := OffHeap}] =
        [slope(Kind, State) || Kind <- [waiting, messages_on_heap, messages_off_heap]],
    ?assert(OnHeap > None andalso OnHeap < None + 640, {None, OnHeap}),
    ?assert(OffHeap > OnHeap + 640, {OnHeap, OffHeap}).

slope(Kind, State) ->
    {Points, 0} = exp_process_memory:run(Kind, State),
    ertslab_slope:theil_sen([{N, Bytes} || [N, Bytes] <- Points], 0.95).

every_metric_of_the_machine_is_measured(_) ->
    #{samples := Samples} = ertslab_worker:run(exp_process_rss, #{processes => 1000, kind => hibernated}),
    ?assertMatch([{carriers, [_]}, {rss, [_]}, {pss, [_]}], Samples),
    [?assertEqual(lists:seq(100, 1000, 100), [N || [N, Bytes] <- Points, Bytes > 0])
     || {_, [Points]} <- Samples].

other_process_is_noticed(_) ->
    [?assertMatch({{wrong, #{not_as_wanted := 1}}, ok},
                  {Module:verify(Metric, 1, #{}), Module:verify(Metric, 0, #{})})
     || {Module, Metric} <- [{exp_process_memory, waiting}, {exp_process_rss, rss}]].
