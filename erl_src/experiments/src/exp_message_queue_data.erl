%% @doc The cost of both settings of `message_queue_data' for a process that many others send
%% to, by its way of receiving and by the payload.
%%
%% `sweep --over queue=on_heap,off_heap' compares them.
-module(exp_message_queue_data).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "on_heap and off_heap, with long-lived senders",
      shows => "when a mailbox is better on the heap, and when off it",
      origin => "zacky1972 on message_queue_data, Qiita 2021, who left long-lived senders for later",
      vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
      parameters =>
          [#{name => senders, min => 1, max => 10_000, quick => [10], full => [1, 10, 100, 1000],
             doc => "processes that send"},
           #{name => receiver, 'of' => message_load:receivers(),
             quick => message_load:receivers(), full => message_load:receivers(),
             doc => "how the receiver takes the messages"},
           #{name => passed_by, min => 0, max => 10_000_000, quick => [1000], full => [1000],
             doc => "messages that a selective receiver scans for each that it takes"},
           #{name => payload, 'of' => message_load:payloads(),
             quick => [small], full => [small, large, binary],
             doc => "an integer, 200 words, or a binary of 1,000 bytes"},
           #{name => queue, 'of' => [on_heap, off_heap], quick => [on_heap], full => [on_heap],
             doc => "the receiver's message_queue_data"},
           #{name => scope, 'of' => [receiver, all], quick => [receiver], full => [receiver],
             doc => "whose setting it is: all is as +hmqd"},
           #{name => messages, min => 100, max => 1_000_000, quick => [20_000], full => [20_000],
             doc => "messages of all senders in a round"}],
      metrics =>
          [#{name => throughput, doc => "sending and taking a message"},
           #{name => latency, doc => "average time from sending a message until it is received"},
           #{name => collections, doc => "the receiver's garbage collections, for each message"},
           #{name => memory, unit => bytes, doc => "memory of the receiver for each queued message"}],
      contrasts => [],
      overall => true,
      estimator => typical,
      rounds => none,
      warm_up => 2,
      iterations => 7,
      timeout_ms => 300_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(Options) ->
    {module, _} = code:ensure_loaded(ertslab_experiment),
    #{load => none, options => Options}.

%% Each metric has a load of its own. The one before it has ended by then.
-spec prepare(atom(), map()) -> map().
prepare(_, #{options := Options} = State) ->
    ok = teardown(State),
    State#{load := message_load:start(Options)}.

-spec run(atom(), map()) -> {float(), message_load:taken()}.
run(throughput, #{load := Load}) -> message_load:round(time, Load);
run(latency, #{load := Load}) -> message_load:round(age, Load);
run(collections, #{load := Load}) -> message_load:round(collections, Load);
run(memory, #{load := Load}) -> message_load:waiting(Load).

%% All messages were taken except those that nobody takes.
-spec verify(atom(), message_load:taken(), map()) -> ok | {wrong, term()}.
verify(_, Taken, #{options := #{messages := Messages} = Options}) ->
    ertslab_experiment:expect({Messages, message_load:passed_by(Options)}, Taken).

-spec teardown(map()) -> ok.
teardown(#{load := Load}) -> message_load:stop(Load).
