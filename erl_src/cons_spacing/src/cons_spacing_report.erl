%% @doc The experiment of "Memory matters" in one call: a list as it was built,
%% after a garbage collection, and after its process hibernated.
-module(cons_spacing_report).

-export([before_after/1, before_after/2, hibernation_report/1, await_hibernation/2, hibernates/1]).
-export([hold/2]).
-export_type([report/0, stage/0]).

%% length_ns: what length/1 takes, nanoseconds, the median of several calls.
-type stage() :: #{spacing := cons_spacing:spacing(), length_ns := non_neg_integer()}.
-type report() :: #{built := stage(), collected := stage(), hibernated := stage()}.

-define(CALLS, 7).
-define(TIMEOUT_MS, 60_000).

%% @equiv before_after(Fun, 100_000)
-spec before_after(fun(() -> [term()])) -> report().
before_after(Fun) -> before_after(Fun, 100_000).

%% @doc Calls the fun, which is to return a proper list, in a process of its own
%% and measures the list there at each stage. The process begins with so many
%% words of heap: where the fun needs more, it is collected on the way, and the
%% list is spread before it is first seen. What the fun raises is raised here.
-spec before_after(fun(() -> [term()]), HeapWords :: pos_integer()) -> report().
before_after(Fun, HeapWords) when is_function(Fun, 0), HeapWords > 0 ->
    {Pid, Monitor} = spawn_opt(?MODULE, hold, [self(), Fun], [monitor, {min_heap_size, HeapWords}]),
    try
        Built = stage(Pid, Monitor),
        Collected = stage_after(Pid, Monitor, collect),
        Pid ! hibernate,
        ok = await_hibernation(Pid, ?TIMEOUT_MS),
        ok = wake(Pid, Monitor),
        #{built => Built, collected => Collected, hibernated => stage_after(Pid, Monitor, measure)}
    after
        true = demonitor(Monitor, [flush]),
        exit(Pid, kill)
    end.

%% @doc As before_after/1 for a list that is there. What is measured is the copy
%% that a message would make of it: its cells side by side, whatever the
%% original looks like.
-spec hibernation_report([term()]) -> report().
hibernation_report(List) when length(List) >= 0 ->
    before_after(fun() -> List end, 2 * erts_debug:flat_size(List) + 100_000).

%% A process with a large heap can miss the message that is to wake it (OTP from 27.0 on,
%% https://github.com/erlang/otp/issues/10651).
wake(Pid, Monitor) ->
    Pid ! awake,
    receive
        Pid -> ok;
        {'DOWN', Monitor, process, Pid, Reason} -> error(Reason)
    after ?TIMEOUT_MS -> error(did_not_wake)
    end.

stage_after(Pid, Monitor, What) ->
    Pid ! What,
    stage(Pid, Monitor).

stage(Pid, Monitor) ->
    receive
        {Pid, Stage} -> Stage;
        {'DOWN', Monitor, process, Pid, {Reason, _Stack}} -> error(Reason);
        {'DOWN', Monitor, process, Pid, Reason} -> error(Reason)
    end.

%% @doc The process that holds the list.
-spec hold(pid(), fun(() -> [term()])) -> no_return().
hold(Client, Fun) -> measured(Client, Fun()).

measured(Client, List) ->
    Client ! {self(), #{spacing => cons_spacing:measure(List), length_ns => length_ns(List)}},
    serve(Client, List).

serve(Client, List) ->
    receive
        collect -> true = garbage_collect(), measured(Client, List);
        measure -> measured(Client, List);
        %% With no term that wants heap: a collection would move the list.
        awake ->
            Client ! self(),
            serve(Client, List);
        hibernate -> erlang:hibernate(erlang, apply, [fun serve/2, [Client, List]])
    end.

length_ns(List) ->
    Times = lists:sort([timed(List) || _ <- lists:seq(1, ?CALLS)]),
    erlang:convert_time_unit(lists:nth((?CALLS + 1) div 2, Times), native, nanosecond).

timed(List) ->
    Before = erlang:monotonic_time(),
    _ = length(List),
    erlang:monotonic_time() - Before.

%% @doc Waits, up to so many milliseconds, until a process hibernates.
-spec await_hibernation(pid(), non_neg_integer()) -> ok.
await_hibernation(Pid, TimeoutMs) ->
    await(Pid, erlang:monotonic_time(millisecond) + TimeoutMs).

await(Pid, Deadline) ->
    case hibernates(Pid) of
        true -> ok;
        false ->
            erlang:monotonic_time(millisecond) < Deadline orelse error(did_not_hibernate),
            timer:sleep(5),
            await(Pid, Deadline)
    end.

%% @doc Whether a process hibernates. One that finds a message does not, and one
%% that is about to has its collection still ahead of it, so both are looked at
%% before it is believed.
-spec hibernates(pid()) -> boolean().
hibernates(Pid) ->
    case process_info(Pid, [current_function, status]) of
        [{current_function, {erlang, hibernate, 3}}, {status, waiting}] -> true;
        %% OTP 29's behaviours keep their stack, and so are seen where they called erlang:hibernate/0.
        [{current_function, {_, loop_hibernate, _}}, {status, waiting}] -> true;
        _ -> false
    end.
