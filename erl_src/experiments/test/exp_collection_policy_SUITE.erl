%% Each process does its work with each setting, and the experiment notices work that is not done.
-module(exp_collection_policy_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_process_is_measured/1, settings_leave_the_work_as_it_is/1, settings_reach_the_process/1,
         what_is_stock_is_left_to_the_vm/1, schedulers_come_back/1, fault_of_a_process_is_an_error/1,
         lost_message_is_noticed/1, queue_hands_on_in_order/1]).

all() ->
    [every_process_is_measured, settings_leave_the_work_as_it_is, settings_reach_the_process, what_is_stock_is_left_to_the_vm,
     schedulers_come_back, fault_of_a_process_is_an_error, lost_message_is_noticed, queue_hands_on_in_order].

every_process_is_measured(_) ->
    [begin
         #{samples := Samples} = ertslab_worker:run(exp_collection_policy, params(Process, #{})),
         ?assertMatch([{message, [_]}], Samples, Process)
     end || Process <- collection_processes:names()].

settings_leave_the_work_as_it_is(_) ->
    Settings = #{fullsweep_after => 0, min_heap_size => 10_000, min_bin_vheap_size => 100_000, message_queue_data => off_heap},
    [begin
         #{expected := Expected} = State = exp_collection_policy:setup(params(Process, Settings#{hibernate_after => After})),
         ?assertMatch({_, Expected}, exp_collection_policy:run(message, State), Process)
     end || Process <- collection_processes:names(), After <- [1, 5]].

settings_reach_the_process(_) ->
    ?assertMatch(#{fullsweep_after := 7}, started(#{fullsweep_after => 7})),
    ?assert(maps:get(min_heap_size, started(#{min_heap_size => 10_000})) >= 10_000),
    ?assert(maps:get(min_bin_vheap_size, started(#{min_bin_vheap_size => 100_000})) >= 100_000),
    ?assertMatch(#{message_queue_data := off_heap}, started(#{message_queue_data => off_heap})).

%% The settings of a process that is started with these.
started(Settings) ->
    #{settings := Own} = collection_pass:work(params(session, Settings)),
    Process = collection_processes:start(session, Own),
    [{garbage_collection, Values}, Queue] = process_info(Process, [garbage_collection, message_queue_data]),
    ok = term_owner:stop(Process),
    maps:from_list([Queue | Values]).

what_is_stock_is_left_to_the_vm(_) ->
    ?assertMatch(#{settings := #{options := [], hibernate_after := 0}}, collection_pass:work(params(session, #{}))).

schedulers_come_back(_) ->
    Online = erlang:system_info(schedulers_online),
    {_, _} = collection_pass:message_ns(collection_pass:work(params(session, #{}))),
    ?assertEqual(Online, erlang:system_info(schedulers_online)).

fault_of_a_process_is_an_error(_) ->
    Online = erlang:system_info(schedulers_online),
    Work = #{process => nobody, batches => 1, settings => #{options => [], hibernate_after => 0}},
    ?assertError(_, collection_pass:message_ns(Work)),
    ?assertEqual(Online, erlang:system_info(schedulers_online)).

lost_message_is_noticed(_) ->
    ?assertMatch({wrong, #{expected := 3, got := 2}}, exp_collection_policy:verify(message, 2, #{expected => 3})).

queue_hands_on_in_order(_) ->
    Process = collection_processes:start(queue_64k, #{options => [], hibernate_after => 0}),
    Handed = [handed_on(Process, N) || N <- lists:seq(1, 10)],
    ?assertEqual(lists:flatmap(fun(N) -> collection_processes:batch(queue_64k, N) end, [1, 2]), lists:append(Handed)),
    ok = term_owner:stop(Process).

handed_on(Process, N) ->
    Reference = make_ref(),
    ok = collection_processes:hand(Process, Reference, collection_processes:batch(queue_64k, N)),
    receive {Process, Reference, _, HandedOn} -> lists:reverse(HandedOn) end.

params(Process, Settings) ->
    maps:merge(#{process => Process, batches => 12, fullsweep_after => -1, min_heap_size => 0, min_bin_vheap_size => 0,
                 message_queue_data => stock, hibernate_after => 0}, Settings).
