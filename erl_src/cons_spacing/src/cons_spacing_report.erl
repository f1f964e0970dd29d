%% @doc The experiment of "Memory matters" in one call: measures a list as it was built, after a
%% garbage collection, and after its process hibernated.
-module(cons_spacing_report).

-export([before_after/1, before_after/2, hibernation_report/1, await_hibernation/2, hibernates/1]).
-export([hold/2, guard/2]).
-export_type([report/0, stage/0]).

%% length_ns: time of length/1 in nanoseconds, the median of several calls.
-type stage() :: #{spacing := cons_spacing:spacing(), length_ns := non_neg_integer()}.
-type report() :: #{built := stage(), collected := stage(), hibernated := stage()}.

-define(CALLS, 7).
-define(TIMEOUT_MS, 60_000).

%% @equiv before_after(Fun, 100_000)
-spec before_after(fun(() -> [term()])) -> report().
before_after(Fun) -> before_after(Fun, 100_000).

%% @doc Calls the fun, which must return a proper list, in a process of its own, and measures the
%% list there at each stage. The process starts with a heap of HeapWords words. If the fun needs
%% more, the process is collected while the fun runs, and the cells are spread before the first
%% measurement. An exception of the fun is raised here.
-spec before_after(fun(() -> [term()]), HeapWords :: pos_integer()) -> report().
before_after(Fun, HeapWords) when is_function(Fun, 0), is_integer(HeapWords), HeapWords > 0 ->
    {Pid, Monitor} = started(Fun, HeapWords),
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
    end;
before_after(Fun, HeapWords) when is_function(Fun, 0) -> badarg([Fun, HeapWords], not_words);
before_after(Other, HeapWords) -> badarg([Other, HeapWords], not_a_fun).

started(Fun, HeapWords) ->
    try spawn_opt(?MODULE, hold, [self(), Fun], [monitor, {min_heap_size, HeapWords}])
    catch error:badarg -> badarg([Fun, HeapWords], not_words)
    end.

-spec badarg([term()], not_words | not_a_fun | not_a_proper_list) -> no_return().
badarg(Args, Cause) -> erlang:error(badarg, Args, [{error_info, #{cause => Cause, module => cons_spacing}}]).

%% @doc As before_after/1, for an existing list. It measures a copy as a message would make it: with
%% its cells side by side, whatever the layout of the original.
-spec hibernation_report([term()]) -> report().
hibernation_report(List) when length(List) >= 0 ->
    before_after(fun() -> List end, 2 * erts_debug:flat_size(List) + 100_000);
hibernation_report(Other) -> badarg([Other], not_a_proper_list).

%% A process with a large heap can miss the message that should wake it (OTP 27.0 and later,
%% https://github.com/erlang/otp/issues/10651).
wake(Pid, Monitor) ->
    Pid ! awake,
    receive
        Pid -> ok;
        {'DOWN', Monitor, process, Pid, Reason} -> exit(Reason)
    after ?TIMEOUT_MS -> error(did_not_wake)
    end.

stage_after(Pid, Monitor, What) ->
    Pid ! What,
    stage(Pid, Monitor).

stage(Pid, Monitor) ->
    receive
        {Pid, {raised, Class, Reason, Stack}} -> erlang:raise(Class, Reason, Stack);
        {Pid, Stage} -> Stage;
        {'DOWN', Monitor, process, Pid, Reason} -> exit(Reason)
    end.

%% @doc The process that holds the list. It ends when the client does.
-spec hold(pid(), fun(() -> [term()])) -> ok.
hold(Client, Fun) ->
    _ = spawn(?MODULE, guard, [Client, self()]),
    case attempted(Client, Fun) of
        {ok, List} -> measured(Client, List);
        raised -> ok
    end.

%% @doc Ends the process that holds the list with the client. That process cannot do so while the fun runs.
-spec guard(Client :: pid(), Holder :: pid()) -> true.
guard(Client, Holder) ->
    Monitor = monitor(process, Client),
    _ = monitor(process, Holder),
    receive
        {'DOWN', Monitor, process, Client, _} -> exit(Holder, kill);
        {'DOWN', _, process, Holder, _} -> true
    end.

measured(Client, List) ->
    case attempted(Client, fun() -> #{spacing => cons_spacing:measure(List), length_ns => length_ns(List)} end) of
        {ok, Stage} ->
            Client ! {self(), Stage},
            serve(Client, List);
        raised -> ok
    end.

attempted(Client, Fun) ->
    try {ok, Fun()}
    catch
        Class:Reason:Stack ->
            Client ! {self(), {raised, Class, Reason, Stack}},
            raised
    end.

serve(Client, List) ->
    receive
        collect -> true = garbage_collect(), measured(Client, List);
        measure -> measured(Client, List);
        %% Must not allocate on the heap, because a collection would move the list.
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

%% @doc Waits at most TimeoutMs milliseconds until a process hibernates.
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

%% @doc Whether a process hibernates. Checks both its function and its status: a process in
%% erlang:hibernate that has a message does not hibernate, and one that is about to hibernate has
%% not yet been collected.
-spec hibernates(pid()) -> boolean().
hibernates(Pid) ->
    case process_info(Pid, [current_function, status]) of
        [{current_function, {erlang, hibernate, 3}}, {status, waiting}] -> true;
        %% Behaviours of OTP 29 keep their stack, so they appear in the function that called
        %% erlang:hibernate/0.
        [{current_function, {_, loop_hibernate, _}}, {status, waiting}] -> true;
        _ -> false
    end.
