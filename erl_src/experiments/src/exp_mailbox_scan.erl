%% @doc A selective receive in a deep mailbox: it passes every waiting message,
%% and waits for each to be loaded from memory.
%%
%% The mailbox holds messages that nobody takes. A message is sent after them and
%% received by its value. No receive marker helps (those are for fresh
%% references), so each receive examines all messages before it. They stay
%% where they are, and the next receive begins with the first again.
-module(exp_mailbox_scan).
-behaviour(ertslab_experiment).

-export([info/0, needs/1, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([owner/0, sender/2]).

%% The least number of messages passed for one value: some hundred
%% microseconds if one takes a few nanoseconds.
-define(LEAST_MESSAGES, 100_000).
%% Messages that each sender sends before it yields.
-define(TURN, 10).
-define(ROUNDS, 200).
-define(BATCH, 50).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "selective receive in a deep mailbox",
      shows => "that a receive pays for each message that is queued before the one it takes",
      origin => "replies without a reference made by the waiting receive, as of ports and proc_lib",
      vms => [<<"stock">>, <<"stock_copy">>, <<"scan">>, <<"tuned">>],
      parameters =>
          [#{name => depth, min => 1, max => 10_000_000,
             quick => [10_000, 100_000], full => [10, 10_000, 100_000, 1_000_000],
             doc => "messages that wait"},
           #{name => senders, min => 1, max => 10_000,
             quick => [1, 100], full => [1, 100],
             doc => "processes that sent them, taking turns"}],
      metrics =>
          [#{name => scan_on_heap, doc => "going by one message, on the process's heap"},
           #{name => scan_off_heap, doc => "going by one message, off the heap"},
           #{name => plain, doc => "sending a message to oneself and receiving it, in a mailbox with none but such"}],
      contrasts =>
          [#{name => off_heap, over => scan_off_heap, under => scan_on_heap,
             says => "going by a message off the heap to going by one on it"}],
      overall => true,
      estimator => floor,
      rounds => metrics,
      warm_up => 1,
      iterations => 2,
      timeout_ms => 300_000}.

%% @doc The bytes that a case needs: for two mailboxes, one on the heap and one off it.
-spec needs(ertslab_experiment:params()) -> non_neg_integer().
needs(#{depth := Depth}) -> 2 * message_load:bytes(Depth).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{depth := Depth, senders := Senders}) ->
    {module, _} = code:ensure_loaded(ertslab_experiment),
    #{owner => none, depth => Depth, senders => Senders, scans => max(1, ?LEAST_MESSAGES div Depth)}.

%% Each metric has a process of its own.
-spec prepare(atom(), map()) -> map().
prepare(Metric, State) ->
    ok = teardown(State),
    Owner = spawn_opt(?MODULE, owner, [], [link, {message_queue_data, queue_data(Metric)}]),
    ok = fill(Metric, Owner, State),
    %% The first receive moves all messages to the inner queue, where the next receives find them. After a
    %% full sweep the on-heap ones lie on the heap.
    settled = ask(Owner, settle),
    State#{owner := Owner}.

queue_data(scan_off_heap) -> off_heap;
queue_data(_) -> on_heap.

%% A process that is suspended while messages come finds them in the order in which they
%% were sent, and spends no time on examining each as it comes.
fill(plain, _Owner, _State) -> ok;
fill(_, Owner, #{depth := Depth, senders := Senders}) ->
    true = erlang:suspend_process(Owner),
    Pids = [spawn_monitor(?MODULE, sender, [Owner, ertslab_experiment:share(Depth, Senders, Nth)])
            || Nth <- lists:seq(1, Senders)],
    [receive {'DOWN', Monitor, process, Pid, normal} -> ok end || {Pid, Monitor} <- Pids],
    true = erlang:resume_process(Owner),
    ok.

%% @doc One of the senders, which take turns.
-spec sender(pid(), non_neg_integer()) -> ok.
sender(_Owner, 0) -> ok;
sender(Owner, Left) ->
    Owner ! {junk, Left, self()},
    Left rem ?TURN =/= 0 orelse erlang:yield(),
    sender(Owner, Left - 1).

-spec run(atom(), map()) -> {float(), [non_neg_integer()]}.
run(plain, #{owner := Owner}) ->
    {Nanoseconds, Received} = ask(Owner, plain),
    {Nanoseconds / (?ROUNDS * ?BATCH), [Received, waiting(Owner)]};
run(_, #{owner := Owner, depth := Depth, scans := Scans}) ->
    {Nanoseconds, Sum} = ask(Owner, {scan, Scans}),
    {Nanoseconds / (Scans * Depth), [Sum, waiting(Owner)]}.

waiting(Owner) ->
    {message_queue_len, Waiting} = process_info(Owner, message_queue_len),
    Waiting.

%% What was received, and how many messages wait afterwards.
-spec verify(atom(), [non_neg_integer()], map()) -> ok | {wrong, term()}.
verify(Metric, Result, State) ->
    ertslab_experiment:expect(expected(Metric, State), Result).

expected(plain, _) -> [?ROUNDS * ?BATCH, 0];
expected(_, #{depth := Depth, scans := Scans}) -> [Scans * (Scans + 1) div 2, Depth].

-spec teardown(map()) -> ok.
teardown(#{owner := Owner}) -> term_owner:stop(Owner).

ask(Owner, What) ->
    Owner ! {request, self(), What},
    receive {Owner, Answer} -> Answer end.

%% @doc The process with the mailbox.
-spec owner() -> no_return().
owner() ->
    receive
        {request, Client, settle} ->
            true = garbage_collect(),
            answer(Client, settled);
        {request, Client, {scan, Scans}} ->
            answer(Client, ertslab_experiment:timed(fun() -> scan(Scans, 0) end));
        {request, Client, plain} ->
            answer(Client, ertslab_experiment:timed(fun() -> plain(?ROUNDS, 0) end))
    end.

-spec answer(pid(), term()) -> no_return().
answer(Client, Answer) ->
    Client ! {self(), Answer},
    owner().

%% The pattern has the size of those that wait, so that each is looked into.
scan(0, Sum) -> Sum;
scan(Number, Sum) ->
    self() ! {wanted, Number, self()},
    receive {wanted, Number, _} -> scan(Number - 1, Sum + Number) end.

plain(0, Received) -> Received;
plain(Rounds, Received) ->
    send_to_self(?BATCH),
    plain(Rounds - 1, receive_all(?BATCH, Received)).

send_to_self(0) -> ok;
send_to_self(Number) ->
    self() ! {wanted, Number, self()},
    send_to_self(Number - 1).

receive_all(0, Received) -> Received;
receive_all(Number, Received) ->
    receive {wanted, Number, _} -> receive_all(Number - 1, Received + 1) end.
