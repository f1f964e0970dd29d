%% Callbacks beside processes, at sizes that take no time.
-module(exp_callback_memory_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_metric_is_measured/1, callback_costs_less_than_200_bytes/1, what_is_left_is_noticed/1,
         missing_ones_are_noticed/1, population_is_gone_afterwards/1]).

all() ->
    [every_metric_is_measured, callback_costs_less_than_200_bytes, what_is_left_is_noticed, missing_ones_are_noticed,
     population_is_gone_afterwards].

every_metric_is_measured(_) ->
    #{samples := Samples} = ertslab_worker:run(exp_callback_memory, #{units => 1000}),
    ?assertEqual([Name || #{name := Name} <- maps:get(metrics, exp_callback_memory:info())],
                 [Metric || {Metric, [_, _, _]} <- Samples]),
    [?assertEqual([0, 100, 200, 500, 1000], [N || [N, _] <- Points])
     || {Metric, Iterations} <- Samples, lists:member(Metric, [callback_bytes, process_bytes]), Points <- Iterations].

%% The slope is a count, and no timing.
callback_costs_less_than_200_bytes(_) ->
    State = exp_callback_memory:prepare(callback_bytes, exp_callback_memory:setup(#{units => 20_000})),
    {Points, Alive} = exp_callback_memory:run(callback_bytes, State),
    ?assertEqual(ok, exp_callback_memory:verify(callback_bytes, Alive, State)),
    #{estimate := Bytes} = ertslab_slope:of_value(Points, 0.95),
    ?assert(Bytes > 50 andalso Bytes =< 200, Bytes),
    ok = exp_callback_memory:teardown(State).

what_is_left_is_noticed(_) ->
    State = exp_callback_memory:prepare(callback_left, exp_callback_memory:setup(#{units => 1000})),
    {Left, back} = exp_callback_memory:run(callback_left, State),
    ?assert(Left =< 101.0),
    ?assertEqual(ok, exp_callback_memory:verify(callback_left, back, State)),
    ?assertMatch({wrong, _}, exp_callback_memory:verify(callback_left, #{percent_left => 101.1}, State)),
    ok = exp_callback_memory:teardown(State).

missing_ones_are_noticed(_) ->
    [?assertMatch({wrong, _}, exp_callback_memory:verify(Metric, Result, #{}))
     || {Metric, Result} <- [{callback_bytes, {1000, 999}}, {process_bytes, 1}, {callback_spawn, 9_999},
                             {process_deliver, 9_999}, {callback_round_trip, 0}]].

population_is_gone_afterwards(_) ->
    {ok, _} = application:ensure_all_started(callbacks),
    ?assertEqual([{10, here}, {30, here}], callback_population:grow([10, 30], fun() -> here end)),
    ?assertMatch(#{alive := 30}, callbacks:info()),
    ok = callback_population:empty(),
    ?assertMatch(#{alive := 0, failed := 0}, callbacks:info()),
    ok = application:stop(callbacks).
