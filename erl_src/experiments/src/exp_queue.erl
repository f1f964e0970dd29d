%% @doc The queue of a message broker with a backlog: the effect of hibernation on its
%% statistics, and its throughput.
-module(exp_queue).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-define(HIBERNATE_TIMEOUT_MS, 20_000).
%% The number of messages that the publisher sends before it waits for the queue.
-define(CREDIT, 100).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "a broker's queue with a backlog",
      shows => "the cost of statistics for a queue that has hibernated, and how fast messages pass",
      origin => "Memory matters - even in Erlang, LShift, 2010: queues that hibernate when they are idle",
      vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
      parameters =>
          [#{name => backlog, min => 0, max => 10_000_000,
             quick => [10_000, 100_000], full => [10_000, 100_000, 300_000],
             doc => "messages that stay in the queue"},
           #{name => payload, min => 8, max => 1_000_000,
             quick => [200], full => [32, 200],
             doc => "bytes of a message; up to 64 lie on the queue's heap"},
           #{name => messages, min => 1, max => 1_000_000, quick => [5000], full => [5000],
             doc => "messages that pass through the queue"}],
      metrics =>
          [#{name => report, doc => "counting the queued messages by length/1, before hibernation"},
           #{name => report_hibernated, doc => "counting them after it"},
           #{name => flow, doc => "publishing, consuming and acknowledging the messages"}],
      contrasts =>
          [#{name => report_slowdown, over => report_hibernated, under => report,
             says => "counting after hibernation to counting before"}],
      overall => true,
      estimator => floor,
      rounds => none,
      warm_up => 2,
      iterations => 7,
      timeout_ms => 300_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{backlog := Backlog, payload := Payload, messages := Messages}) ->
    {module, _} = code:ensure_loaded(ertslab_experiment),
    Queue = broker_queue:start_link(),
    ok = publish(Queue, Payload, Backlog),
    #{queue => Queue, backlog => Backlog, payload => Payload, messages => Messages}.

-spec prepare(atom(), map()) -> map().
prepare(report_hibernated, #{queue := Queue} = State) ->
    ok = broker_queue:hibernate(Queue),
    ok = cons_spacing_report:await_hibernation(Queue, ?HIBERNATE_TIMEOUT_MS),
    State;
prepare(_, State) -> State.

-spec run(atom(), map()) -> {integer(), term()}.
run(flow, #{queue := Queue, payload := Payload, messages := Messages}) ->
    ertslab_experiment:timed(fun() ->
                                     ok = publish(Queue, Payload, Messages),
                                     Consumed = consume(Queue, Messages),
                                     {_, Left} = broker_queue:report(Queue),
                                     {Consumed, Left}
                             end);
run(_, #{queue := Queue}) -> broker_queue:report(Queue).

publish(Queue, _Payload, 0) -> broker_queue:synchronise(Queue);
publish(Queue, Payload, Left) ->
    ok = broker_queue:publish(Queue, <<Left:(8 * Payload)>>),
    Left rem ?CREDIT =/= 0 orelse broker_queue:synchronise(Queue),
    publish(Queue, Payload, Left - 1).

%% The number of messages, which must come in order, and of bytes.
consume(Queue, Messages) ->
    {First, Payload} = broker_queue:get(Queue),
    ok = broker_queue:acknowledge(Queue, First),
    consume(Queue, First, 1, byte_size(Payload), Messages).

consume(_Queue, _First, Messages, Bytes, Messages) -> {Messages, Bytes};
consume(Queue, First, Count, Bytes, Messages) ->
    Next = First + Count,
    {Next, Payload} = broker_queue:get(Queue),
    ok = broker_queue:acknowledge(Queue, Next),
    consume(Queue, First, Count + 1, Bytes + byte_size(Payload), Messages).

-spec verify(atom(), term(), map()) -> ok | {wrong, term()}.
verify(Metric, Result, State) ->
    ertslab_experiment:expect(expected(Metric, State), Result).

%% All messages that were given out were acknowledged.
expected(flow, #{backlog := Backlog, payload := Payload, messages := Messages}) ->
    {{Messages, Messages * Payload}, {Backlog, 0}};
expected(_, #{backlog := Backlog}) -> {Backlog, 0}.

-spec teardown(map()) -> ok.
teardown(#{queue := Queue}) -> gen_server:stop(Queue).
