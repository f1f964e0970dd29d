%% The mailboxes of the experiment are as deep as they are said to be, and stay so.
-module(exp_mailbox_scan_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, measures_every_metric/1, mailbox_is_as_said/1, messages_stay_in_their_order/1,
         each_sender_has_its_share/1, message_left_behind_is_noticed/1, wrong_result_is_noticed/1]).

all() ->
    [measures_every_metric, mailbox_is_as_said, messages_stay_in_their_order, each_sender_has_its_share,
     message_left_behind_is_noticed, wrong_result_is_noticed].

measures_every_metric(_) ->
    [begin
         #{samples := Samples} =
             ertslab_worker:run(exp_mailbox_scan, #{depth => Depth, senders => Senders}),
         ?assertMatch([{scan_on_heap, [_, _]}, {scan_off_heap, [_ | _]}, {plain, [_ | _]}], Samples)
     end || Depth <- [1, 1000], Senders <- [1, 7]].

mailbox_is_as_said(_) ->
    [begin
         #{owner := Owner} = State = prepared(Metric, 1003, Senders),
         ?assertEqual([{message_queue_len, 1003}, {message_queue_data, QueueData}],
                      process_info(Owner, [message_queue_len, message_queue_data])),
         ok = exp_mailbox_scan:teardown(State)
     end || Senders <- [1, 100],
            {Metric, QueueData} <- [{scan_on_heap, on_heap}, {scan_off_heap, off_heap}]].

messages_stay_in_their_order(_) ->
    [begin
         #{owner := Owner} = State = prepared(Metric, 500, 5),
         Before = process_info(Owner, messages),
         [?assertMatch({Time, [Sum, 500]} when Time > 0 andalso Sum =:= 200 * 201 div 2,
                       exp_mailbox_scan:run(Metric, State)) || _ <- [1, 2, 3]],
         ?assertEqual(Before, process_info(Owner, messages)),
         ok = exp_mailbox_scan:teardown(State)
     end || Metric <- [scan_on_heap, scan_off_heap]].

%% 103 messages of 5 senders: 20 or 21 each, and in turns of 10.
each_sender_has_its_share(_) ->
    #{owner := Owner} = State = prepared(scan_off_heap, 103, 5),
    {messages, Messages} = process_info(Owner, messages),
    Senders = [Sender || {junk, _, Sender} <- Messages],
    Shares = [length([S || S <- Senders, S =:= Sender]) || Sender <- lists:usort(Senders)],
    ?assertEqual({103, [20, 20, 21, 21, 21]}, {length(Messages), lists:sort(Shares)}),
    ok = exp_mailbox_scan:teardown(State).

%% A wanted message that waits already is taken in place of the one that is sent,
%% which then is one too many.
message_left_behind_is_noticed(_) ->
    #{owner := Owner} = State = prepared(scan_on_heap, 1000, 1),
    Owner ! {wanted, 3, planted},
    {_, Result} = exp_mailbox_scan:run(scan_on_heap, State),
    ?assertMatch({wrong, #{got := [_, 1001]}}, exp_mailbox_scan:verify(scan_on_heap, Result, State)),
    ok = exp_mailbox_scan:teardown(State).

wrong_result_is_noticed(_) ->
    State = #{depth => 1000, scans => 100},
    ?assertEqual(ok, exp_mailbox_scan:verify(scan_on_heap, [5050, 1000], State)),
    ?assertEqual(ok, exp_mailbox_scan:verify(plain, [10_000, 0], State)),
    [?assertMatch({wrong, _}, exp_mailbox_scan:verify(Metric, Result, State))
     || {Metric, Result} <- [{scan_on_heap, [5049, 1000]}, {scan_off_heap, [5050, 999]}, {plain, [10_000, 1]},
                             {plain, [9_999, 0]}]].

prepared(Metric, Depth, Senders) ->
    exp_mailbox_scan:prepare(Metric, exp_mailbox_scan:setup(#{depth => Depth, senders => Senders})).
