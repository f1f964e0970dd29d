%% The parallel map maps, in processes that are as they are said to be.
-module(exp_parallel_map_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, measures_every_metric/1, mapper_has_the_mailbox_that_is_said/1, wrong_result_is_noticed/1]).

all() -> [measures_every_metric, mapper_has_the_mailbox_that_is_said, wrong_result_is_noticed].

measures_every_metric(_) ->
    [?assertMatch(#{samples := [{map, [_ | _]}, {memory, [_ | _]}]},
                  ertslab_worker:run(exp_parallel_map, #{elements => Elements, queue => Queue, scope => Scope}))
     || Elements <- [1, 1000], Queue <- [on_heap, off_heap], Scope <- [receiver, all]].

mapper_has_the_mailbox_that_is_said(_) ->
    [begin
         State = exp_parallel_map:setup(#{elements => 3, queue => Queue, scope => Scope}),
         ?assertEqual([Queue, Others, Others, Others],
                      queues_of_spawned(fun() -> {_, 14} = exp_parallel_map:run(map, State) end))
     end || {Queue, Scope, Others} <- [{on_heap, receiver, on_heap}, {off_heap, receiver, on_heap},
                                       {off_heap, all, off_heap}]].

queues_of_spawned(Fun) ->
    1 = erlang:trace_pattern({erlang, spawn_opt, 4}, true, []),
    Tracer = self(),
    {Pid, Monitor} = spawn_monitor(fun() ->
                                           1 = erlang:trace(self(), true, [call, set_on_spawn, {tracer, Tracer}]),
                                           Fun()
                                   end),
    receive {'DOWN', Monitor, process, Pid, normal} -> ok end,
    Reference = erlang:trace_delivered(all),
    receive {trace_delivered, all, Reference} -> ok end,
    1 = erlang:trace_pattern({erlang, spawn_opt, 4}, false, []),
    spawned([]).

spawned(Queues) ->
    receive
        {trace, _, call, {erlang, spawn_opt, Arguments}} ->
            {_, Queue} = lists:keyfind(message_queue_data, 1, lists:last(Arguments)),
            spawned([Queue | Queues])
    after 0 -> lists:reverse(Queues)
    end.

wrong_result_is_noticed(_) ->
    State = exp_parallel_map:setup(#{elements => 3, queue => on_heap, scope => all}),
    ?assertEqual(ok, exp_parallel_map:verify(map, 14, State)),
    ?assertMatch({wrong, #{expected := 14, got := 13}}, exp_parallel_map:verify(map, 13, State)).
