%% @doc The cost of a write in a process with a deep mailbox, by the way in which the
%% reply comes back. It covers the cases of a flooded log server.
%%
%% The mailbox holds messages that nobody takes, and each metric writes by another path
%% of write_path. Behind a dam the same messages wait in the dam, and the writer's own mailbox
%% stays short.
-module(exp_drv_write).
-behaviour(ertslab_experiment).

-export([info/0, needs/1, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([owner/0]).

%% Writes for one value, and the number of messages to pass if each write scans the mailbox.
-define(WRITES, 500).
-define(LOOKS, 500_000).
-define(LEAST_WRITES, 3).
%% How many messages the dam lets into the mailbox.
-define(DAM_HIGH, 100).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "a write to a file in a process with a deep mailbox",
      shows => "that a call whose reply has no fresh reference pays for each queued message",
      origin => "taiyow/msgq_flood: log servers before OTP 21, whose file driver answered {Port, {data, _}}",
      vms => [<<"stock">>, <<"stock_copy">>, <<"scan">>],
      parameters =>
          [#{name => depth, min => 0, max => 1_000_000_000,
             quick => [0, 10_000, 100_000], full => [0, 10_000, 100_000, 1_000_000],
             doc => "messages that wait"},
           #{name => queue, 'of' => [on_heap, off_heap], quick => [on_heap, off_heap], full => [on_heap, off_heap],
             doc => "where they are kept"},
           #{name => way, 'of' => [direct, dam], quick => [direct], full => [direct],
             doc => "sent to the writer, or through a dam in front of it"},
           #{name => sink, 'of' => [file, dev_null], quick => [file], full => [file],
             doc => "a file, or /dev/null"},
           #{name => payload, 'of' => [byte, line, counted], quick => [line], full => [line],
             doc => "1 byte, a line of 43, or a reference-counted binary of 70"}],
      metrics =>
          [#{name => async, doc => "a driver's thread, {Port, {data, _}}"},
           #{name => output, doc => "in the call of port_command/2, {Port, {data, _}}"},
           #{name => tagged, doc => "a driver's thread, {Reference, _}"},
           #{name => control, doc => "the value of port_control/3"},
           #{name => raw_file, doc => "file:write/2 to a raw file"},
           #{name => raw_delayed, doc => "file:write/2 to a raw file with delayed_write"},
           #{name => file, doc => "file:write/2 through the file's process"},
           #{name => delayed, doc => "file:write/2 through the file's process, with delayed_write"},
           #{name => none, doc => "the loop around them"}],
      contrasts =>
          [#{name => untagged, over => async, under => tagged,
             says => "async to tagged, which differs by the reference in the answer only"},
           #{name => in_call, over => output, under => control,
             says => "output to control, which differs by having no message only"}],
      plot_over => depth,
      estimator => typical,
      rounds => none,
      warm_up => 1,
      iterations => 5,
      timeout_ms => 600_000}.

%% @doc The bytes that a case needs.
-spec needs(ertslab_experiment:params()) -> non_neg_integer().
needs(#{depth := Depth}) -> message_load:bytes(Depth).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{depth := Depth, queue := Queue, way := Way, sink := Sink, payload := Payload}) ->
    %% Since OTP 29, loading a module collects the process whose call loads it.
    ok = code:ensure_modules_loaded([ertslab_experiment, write_path, port_drivers, erl_ddll, file, prim_file]),
    Owner = spawn_opt(?MODULE, owner, [], [link, {message_queue_data, Queue}]),
    Waiting = fill(Way, Owner, Depth),
    settled = term_owner:ask(Owner, settle),
    #{owner => Owner, waiting => Waiting, sink => sink(Sink), data => write_path:payload(Payload)}.

sink(dev_null) -> "/dev/null";
sink(file) -> ertslab_experiment:scratch_file("drv_write").

%% Returns how many messages then wait with the writer. A process that is suspended while they come
%% spends no time on examining each.
fill(direct, Owner, Depth) ->
    true = erlang:suspend_process(Owner),
    send(fun(Message) -> Owner ! Message end, Depth),
    true = erlang:resume_process(Owner),
    Depth;
fill(dam, Owner, Depth) ->
    {ok, Dam} = dam:start_link(Owner, #{high => ?DAM_HIGH, low => ?DAM_HIGH div 2, limit => infinity, credit => ack}),
    true = unlink(Dam), % it ends with the owner, which is killed
    send(fun(Message) -> dam:send(Dam, Message) end, Depth),
    #{received := Depth, server_queue := Waiting} = dam:info(Dam),
    Waiting.

send(_Send, 0) -> ok;
send(Send, Left) ->
    Send({log, Left, self()}),
    send(Send, Left - 1).

%% The path and the file are opened anew for each metric.
-spec prepare(atom(), map()) -> map().
prepare(Path, #{owner := Owner, sink := Sink} = State) ->
    opened = term_owner:ask(Owner, {open, Path, Sink}),
    State.

%% The result has the number of successful writes, the number of messages that still wait, and
%% the growth of the file.
-spec run(atom(), map()) -> {float(), [non_neg_integer()]}.
run(Path, #{owner := Owner, waiting := Waiting, sink := Sink, data := Data}) ->
    Writes = writes(Path, Waiting),
    Before = filelib:file_size(Sink),
    {Nanoseconds, Written} = term_owner:ask(Owner, {write, Data, Writes}),
    {message_queue_len, Left} = process_info(Owner, message_queue_len),
    {Nanoseconds / Writes, [Written, Left, filelib:file_size(Sink) - Before]}.

writes(Path, Waiting) when Path =:= async; Path =:= output ->
    max(?LEAST_WRITES, min(?WRITES, ?LOOKS div max(1, Waiting)));
writes(_, _) -> ?WRITES.

-spec verify(atom(), [non_neg_integer()], map()) -> ok | {wrong, term()}.
verify(Path, Result, #{waiting := Waiting, sink := Sink, data := Data}) ->
    Writes = writes(Path, Waiting),
    ertslab_experiment:expect([Writes, Waiting, growth(Path, Sink, Writes * byte_size(Data))], Result).

growth(none, _Sink, _Bytes) -> 0;
growth(_, "/dev/null", _Bytes) -> 0;
growth(_, _, Bytes) -> Bytes.

-spec teardown(map()) -> ok.
teardown(#{owner := Owner, sink := Sink}) ->
    ok = term_owner:stop(Owner),
    Sink =:= "/dev/null" orelse file:delete(Sink),
    ok.

%% @doc The process that writes.
-spec owner() -> no_return().
owner() -> serve(write_path:open(none, "")).

serve(Path) ->
    receive
        {Client, settle} ->
            true = garbage_collect(),
            answer(Client, settled, Path);
        {Client, {open, Name, Sink}} ->
            ok = write_path:close(Path),
            answer(Client, opened, write_path:open(Name, Sink));
        {Client, {write, Data, Writes}} ->
            Timed = ertslab_experiment:timed(fun() -> write(Path, Data, Writes, 0) end),
            ok = write_path:flush(Path),
            answer(Client, Timed, Path)
    end.

answer(Client, Answer, Path) ->
    Client ! {self(), Answer},
    serve(Path).

write(_Path, _Data, 0, Written) -> Written;
write(Path, Data, Left, Written) ->
    ok = write_path:write(Path, Data),
    write(Path, Data, Left - 1, Written + 1).
