%% @doc The same small tasks for callbacks and for processes, timed.
%%
%% Each of them counts itself when it has started, and at each message. The one that completes
%% the count tells the caller.
-module(callback_timing).

-export([run/2]).

%% @doc Nanoseconds for one task out of `Number', and how many were counted.
-spec run(atom(), pos_integer()) -> {float(), non_neg_integer()}.
run(callback_spawn, Count) -> spawned(fun callback/1, fun end_callbacks/1, Count);
run(process_spawn, Count) -> spawned(fun process/1, fun end_processes/1, Count);
run(callback_deliver, Count) -> delivered(fun callback/1, fun callbacks:send/2, fun end_callbacks/1, Count);
run(process_deliver, Count) -> delivered(fun process/1, fun erlang:send/2, fun end_processes/1, Count);
run(callback_round_trip, Count) -> round_trip(fun callback/1, fun callbacks:send/2, fun end_callbacks/1, Count);
run(process_round_trip, Count) -> round_trip(fun process/1, fun erlang:send/2, fun end_processes/1, Count).

spawned(Start, End, Count) ->
    Counter = counter(Count),
    {Nanoseconds, Units} = ertslab_experiment:timed(fun() -> started(Start, Counter, Count) end),
    finished(Nanoseconds, Counter, End, Units, Count).

delivered(Start, Send, End, Count) ->
    Units = started(Start, counter(Count), Count),
    {Nanoseconds, Counter} = ertslab_experiment:timed(fun() -> tell_all(Send, Units, counter(Count)) end),
    finished(Nanoseconds, Counter, End, Units, Count).

round_trip(Start, Send, End, Count) ->
    Counter = counter(Count),
    [Unit] = started(Start, counter(1), 1),
    {Nanoseconds, ok} = ertslab_experiment:timed(fun() -> there_and_back(Send, Unit, Counter, Count) end),
    finished(Nanoseconds, Counter, End, [Unit], Count).

finished(Nanoseconds, {Counted, _, _}, End, Units, Count) ->
    ok = End(Units),
    {Nanoseconds / Count, atomics:get(Counted, 1)}.

counter(Count) -> {atomics:new(1, []), Count, self()}.

started(Start, Counter, Count) ->
    Units = [Start(Counter) || _ <- lists:seq(1, Count)],
    receive full -> Units end.

tell_all(Send, Units, Counter) ->
    lists:foreach(fun(Unit) -> Send(Unit, Counter) end, Units),
    receive full -> Counter end.

there_and_back(_Send, _Unit, _Counter, 0) -> receive full -> ok end;
there_and_back(Send, Unit, {Counted, Count, Caller} = Counter, Left) ->
    _ = Send(Unit, {Counted, Count, Caller, back}),
    receive back -> there_and_back(Send, Unit, Counter, Left - 1) end.

callback(Counter) -> callbacks:spawn(fun() -> count(Counter), {wait, fun taken/1} end).

taken(stop) -> done;
taken(Counter) ->
    count(Counter),
    {wait, fun taken/1}.

process(Counter) -> spawn(fun() -> count(Counter), wait() end).

wait() ->
    receive
        stop -> ok;
        Counter ->
            count(Counter),
            wait()
    end.

count({Counted, Count, Caller, back}) ->
    count({Counted, Count, Caller}),
    Caller ! back;
count({Counted, Count, Caller}) ->
    atomics:add_get(Counted, 1, 1) =:= Count andalso (Caller ! full).

end_callbacks(Units) ->
    lists:foreach(fun(Id) -> callbacks:send(Id, stop) end, Units),
    callback_population:settle().

end_processes(Units) ->
    Monitors = [monitor(process, Pid) || Pid <- Units],
    lists:foreach(fun(Pid) -> Pid ! stop end, Units),
    lists:foreach(fun(Monitor) -> receive {'DOWN', Monitor, process, _, _} -> ok end end, Monitors).
