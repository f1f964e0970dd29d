%% The queue keeps what it is given, in order, and the experiment notices when it does not.
-module(exp_queue_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, messages_come_in_order/1, report_counts_what_waits_and_what_was_given/1, measures_every_metric/1,
         queue_hibernates/1, hibernation_spreads_the_backlog/1, lost_message_is_noticed/1,
         lost_acknowledgement_is_noticed/1, wrong_report_is_noticed/1]).

all() ->
    [messages_come_in_order, report_counts_what_waits_and_what_was_given, measures_every_metric, queue_hibernates,
     hibernation_spreads_the_backlog, lost_message_is_noticed, lost_acknowledgement_is_noticed, wrong_report_is_noticed].

messages_come_in_order(_) ->
    Queue = broker_queue:start_link(),
    Payloads = [<<N>> || N <- lists:seq(1, 10)],
    [ok = broker_queue:publish(Queue, Payload) || Payload <- Payloads],
    ?assertEqual(lists:enumerate(0, Payloads), [broker_queue:get(Queue) || _ <- Payloads]),
    ?assertEqual(empty, broker_queue:get(Queue)),
    ok = gen_server:stop(Queue).

report_counts_what_waits_and_what_was_given(_) ->
    Queue = broker_queue:start_link(),
    [ok = broker_queue:publish(Queue, ~"payload") || _ <- lists:seq(1, 5)],
    [{Number, ~"payload"}, _] = [broker_queue:get(Queue) || _ <- [1, 2]],
    ?assertMatch({_, {3, 2}}, broker_queue:report(Queue)),
    ok = broker_queue:acknowledge(Queue, Number),
    ?assertMatch({_, {3, 1}}, broker_queue:report(Queue)),
    ok = gen_server:stop(Queue).

measures_every_metric(_) ->
    [begin
         #{samples := Samples} =
             ertslab_worker:run(exp_queue, #{backlog => Backlog, payload => Payload, messages => 250}),
         ?assertMatch([{report, [_, _, _, _, _, _, _]}, {report_hibernated, [_ | _]}, {flow, [_ | _]}], Samples)
     end || {Backlog, Payload} <- [{0, 8}, {1200, 200}]].

queue_hibernates(_) ->
    #{queue := Queue} = State = prepared(1000),
    ?assert(cons_spacing_report:hibernates(Queue)),
    {_, Result} = exp_queue:run(report_hibernated, State),
    ?assertEqual(ok, exp_queue:verify(report_hibernated, Result, State)),
    ok = exp_queue:teardown(State).

%% On stock a cell lies at least as far from the next as its message is large: 7
%% words and their properties.
hibernation_spreads_the_backlog(_) ->
    #{queue := Queue} = State = prepared(10_000),
    #{waiting := {Rear, _}} = sys:get_state(Queue),
    ?assertMatch([_ | _], Rear),
    #{histogram := Histogram, cells := Cells} = cons_spacing:of_state(Queue),
    Spread = lists:sum([Links || {Bytes, Links} <- Histogram, Bytes >= 64]),
    ?assert(Cells >= 10_000 andalso Spread >= 9_000, {Cells, Histogram}),
    ok = exp_queue:teardown(State).

prepared(Backlog) ->
    exp_queue:prepare(report_hibernated, exp_queue:setup(#{backlog => Backlog, payload => 100, messages => 10})).

%% Who takes a message out of turn leaves the consumer one short.
lost_message_is_noticed(_) ->
    #{queue := Queue} = State = exp_queue:setup(#{backlog => 100, payload => 10, messages => 10}),
    {0, _} = broker_queue:get(Queue),
    {_, Result} = exp_queue:run(flow, State),
    ?assertMatch({wrong, #{got := {{10, 100}, {99, 1}}}}, exp_queue:verify(flow, Result, State)),
    ok = exp_queue:teardown(State).

lost_acknowledgement_is_noticed(_) ->
    State = #{backlog => 100, payload => 10, messages => 10},
    ?assertEqual(ok, exp_queue:verify(flow, {{10, 100}, {100, 0}}, State)),
    [?assertMatch({wrong, _}, exp_queue:verify(flow, Result, State))
     || Result <- [{{10, 100}, {100, 1}}, {{9, 100}, {100, 0}}, {{10, 99}, {100, 0}}, {{10, 100}, {101, 0}}]].

wrong_report_is_noticed(_) ->
    ?assertMatch({wrong, #{expected := {100, 0}}}, exp_queue:verify(report_hibernated, {99, 0}, #{backlog => 100})).
