%% All that is sent is taken, in each way to receive, and the processes are as they are said to be.
-module(exp_message_queue_data_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, measures_every_metric/1, processes_are_as_said/1, senders_share_the_messages/1,
         payloads_cost_what_they_are/1, collections_are_timed/1, what_is_passed_by_stays/1,
         message_left_behind_is_noticed/1]).

all() ->
    [measures_every_metric, processes_are_as_said, senders_share_the_messages, payloads_cost_what_they_are,
     collections_are_timed, what_is_passed_by_stays, message_left_behind_is_noticed].

measures_every_metric(_) ->
    [?assertMatch(#{samples := [{throughput, _}, {latency, _}, {collections, _}, {memory, _}]},
                  ertslab_worker:run(exp_message_queue_data, options(#{receiver => Receiver, queue => Queue})))
     || Receiver <- message_load:receivers(), Queue <- [on_heap, off_heap]].

processes_are_as_said(_) ->
    [begin
         #{receiver := Receiver, senders := Senders} = Load =
             message_load:start(options(#{queue => Queue, scope => Scope})),
         ?assertEqual(message_queue_data(Queue), process_info(Receiver, message_queue_data)),
         [?assertEqual(message_queue_data(Others), process_info(S, message_queue_data)) || S <- Senders],
         ok = message_load:stop(Load),
         ?assertEqual([], [P || P <- [Receiver | Senders], is_process_alive(P)])
     end || {Queue, Scope, Others} <- [{on_heap, receiver, on_heap}, {off_heap, receiver, on_heap},
                                       {off_heap, all, off_heap}]].

message_queue_data(Queue) -> {message_queue_data, Queue}.

%% 103 messages of 4 senders.
senders_share_the_messages(_) ->
    #{receiver := Receiver, senders := Senders} = Load = message_load:start(options(#{messages => 103})),
    [1 = erlang:trace(Sender, true, [send]) || Sender <- Senders],
    ?assertMatch({_, {103, 0}}, message_load:round(time, Load)),
    [begin
         Reference = erlang:trace_delivered(Sender),
         receive {trace_delivered, Sender, Reference} -> ok end
     end || Sender <- Senders],
    ?assertEqual([25, 26, 26, 26], lists:sort([sent(Sender, Receiver, 0) || Sender <- Senders])),
    ok = message_load:stop(Load).

sent(Sender, Receiver, Count) ->
    receive {trace, Sender, send, {message, _, _}, Receiver} -> sent(Sender, Receiver, Count + 1)
    after 0 -> Count
    end.

%% The list's 200 words are copied with each message, the binary is shared.
payloads_cost_what_they_are(_) ->
    [Small, Large, Binary] = [waiting(Payload) || Payload <- [small, large, binary]],
    ?assert(Large - Small >= 200 * 8),
    ?assert(Binary - Small < 200).

waiting(Payload) ->
    Load = message_load:start(options(#{payload => Payload, messages => 1000, queue => off_heap})),
    {Bytes, {1000, 0}} = message_load:waiting(Load),
    ok = message_load:stop(Load),
    Bytes.

collections_are_timed(_) ->
    [begin
         Load = message_load:start(options(#{receiver => collecting, queue => Queue, messages => 3000})),
         {Time, {3000, 0}} = message_load:round(collections, Load),
         ?assert(Time > 0),
         ok = message_load:stop(Load)
     end || Queue <- [on_heap, off_heap]].

what_is_passed_by_stays(_) ->
    Load = message_load:start(options(#{receiver => selective, passed_by => 70})),
    [?assertMatch({_, {200, 70}}, message_load:round(Look, Load)) || Look <- [time, age, collections]],
    ok = message_load:stop(Load).

message_left_behind_is_noticed(_) ->
    State = exp_message_queue_data:prepare(throughput, exp_message_queue_data:setup(options(#{}))),
    #{load := #{receiver := Receiver}} = State,
    Receiver ! stranger,
    {_, Taken} = exp_message_queue_data:run(throughput, State),
    ?assertMatch({wrong, #{got := {200, 1}}}, exp_message_queue_data:verify(throughput, Taken, State)),
    ok = exp_message_queue_data:teardown(State).

options(Given) ->
    maps:merge(#{senders => 4, messages => 200, passed_by => 10, payload => small, receiver => fast, queue => on_heap,
                 scope => receiver}, Given).
