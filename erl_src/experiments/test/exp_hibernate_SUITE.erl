%% The experiment really does what it says, at sizes that take no time.
-module(exp_hibernate_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, measures_every_metric/1, process_hibernates/1, wrong_result_is_noticed/1,
         every_value_size_is_built/1, list_that_was_collected_too_early_is_noticed/1]).

all() -> [measures_every_metric, process_hibernates, wrong_result_is_noticed,
          every_value_size_is_built, list_that_was_collected_too_early_is_noticed].

measures_every_metric(_) ->
    #{samples := Samples} = ertslab_worker:run(exp_hibernate, params(1001, 14)),
    ?assertEqual([length_dense, fold_dense, length_hibernated, fold_hibernated],
                 [Metric || {Metric, _} <- Samples]),
    [?assertEqual(1, length(Values)) || {_, Values} <- Samples].

process_hibernates(_) ->
    #{dense := Dense, hibernated := Hibernated} = State = exp_hibernate:setup(params(10_001, 3)),
    {total_heap_size, Before} = process_info(Dense, total_heap_size),
    ?assertEqual({current_function, {erlang, hibernate, 3}}, process_info(Hibernated, current_function)),
    {total_heap_size, After} = process_info(Hibernated, total_heap_size),
    ?assert(After < Before),
    ok = exp_hibernate:teardown(State).

wrong_result_is_noticed(_) ->
    State = #{cells => 10, sum => 55},
    ?assertEqual(ok, exp_hibernate:verify(length_dense, 10, State)),
    ?assertMatch({wrong, _}, exp_hibernate:verify(length_hibernated, 9, State)),
    ?assertMatch({wrong, _}, exp_hibernate:verify(fold_dense, 10, State)).

every_value_size_is_built(_) ->
    [begin
         State = exp_hibernate:setup(params(101, Words)),
         {_, Sum} = exp_hibernate:run(fold_dense, State),
         ?assertEqual(101 * 102 div 2, Sum),
         ok = exp_hibernate:teardown(State)
     end || Words <- [0, 1, 3, 14]].

list_that_was_collected_too_early_is_noticed(_) ->
    process_flag(trap_exit, true),
    #{dense := Owner} = State = exp_hibernate:setup(params(101, 14)),
    true = garbage_collect(Owner),
    ?assertError({badmatch, Words} when Words >= 101 * 17, exp_hibernate:teardown(State)),
    Owner ! hibernate,
    receive
        {'EXIT', Owner, Reason} -> ?assertMatch({{badmatch, Words}, _} when Words >= 101 * 17, Reason)
    end.

params(Cells, Words) -> #{cells => Cells, value_words => Words, prefetch_distance => -1}.
