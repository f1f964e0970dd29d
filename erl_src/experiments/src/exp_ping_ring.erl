%% @doc Message passing: the cost of the VM's atomic operations and locks in
%% the code that uses them most.
%%
%% In the ring one token goes from process to process, so each pass wakes a
%% waiting process. In the fan-in all processes send to one at the same time,
%% so they contend for the lock of its mailbox. Both use all schedulers.
-module(exp_ping_ring).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "a token round a ring of processes, and many senders to one receiver",
      shows => "the cost of the VM's atomic operations in message passing",
      origin => "the ring benchmark of Erlang's early days; ethread's choice of atomics",
      vms => [<<"stock">>, <<"stock_copy">>, <<"libatomic_ops">>],
      parameters =>
          [#{name => processes, min => 1, max => 100_000,
             quick => [100], full => [10, 1000],
             doc => "processes of the ring, and senders of the fan-in"},
           #{name => messages, min => 1, max => 100_000_000,
             quick => [200_000], full => [200_000],
             doc => "passes of the token, and messages sent in all (rounded down to"
                    " the same number for each process)"}],
      metrics =>
          [#{name => ring, doc => "all passes of one token round the ring"},
           #{name => fan_in, doc => "all messages from the senders to one receiver"}],
      contrasts => [],
      estimator => typical,
      rounds => metrics,
      warm_up => 1,
      iterations => 1,
      timeout_ms => 300_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{processes := Processes, messages := Messages}) ->
    #{processes => Processes, rounds => max(1, Messages div Processes)}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {number(), integer()}.
run(ring, #{processes := Processes, rounds := Rounds}) ->
    Last = self(),
    First = lists:foldl(fun(_, Next) -> spawn_link(fun() -> pass(Next) end) end,
                        Last, lists:seq(1, Processes)),
    Timed = ertslab_experiment:timed(fun() -> turn(First, Rounds, 0) end),
    First ! stop,
    receive stop -> Timed end;
run(fan_in, #{processes := Processes, rounds := Messages}) ->
    Receiver = self(),
    Senders = [spawn_link(fun() -> send(Receiver, Messages) end) || _ <- lists:seq(1, Processes)],
    ertslab_experiment:timed(
      fun() ->
              [Sender ! go || Sender <- Senders],
              count(Processes * Messages, 0)
      end).

%% The token counts the processes that it has passed.
pass(Next) ->
    receive
        stop -> Next ! stop;
        Passed -> Next ! Passed + 1, pass(Next)
    end.

turn(_First, 0, Passed) -> Passed;
turn(First, Rounds, Passed) ->
    First ! Passed,
    receive Now when is_integer(Now) -> turn(First, Rounds - 1, Now) end.

send(Receiver, Messages) ->
    receive go -> send_now(Receiver, Messages) end.

send_now(_Receiver, 0) -> ok;
send_now(Receiver, Left) ->
    Receiver ! message,
    send_now(Receiver, Left - 1).

count(0, Received) -> Received;
count(Left, Received) ->
    receive message -> count(Left - 1, Received + 1) end.

-spec verify(atom(), integer(), map()) -> ok | {wrong, term()}.
verify(_, Result, #{processes := Processes, rounds := Rounds}) ->
    ertslab_experiment:expect(Processes * Rounds, Result).

-spec teardown(map()) -> ok.
teardown(_) -> ok.
