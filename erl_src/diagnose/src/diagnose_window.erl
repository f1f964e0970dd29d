%% @doc The second look, at few processes for a window of time: their stacks, how their mailboxes grow, how long their
%% collections take, and the share that all collections have of the schedulers' time.
%%
%% Runs on the node that is looked at (see diagnose_probe). One module, though long: each one that is loaded there costs a purge.
-module(diagnose_window).

-export([watch/3, answers/2, scan_costs/1]).
-export_type([accounting/0]).

%% Whether somebody else has the emulator account, or it cannot.
-type accounting() :: on | off | unknown.

-define(BETWEEN_MS, 50).
%% Stacks of so many are looked at again and again: each look is a signal to the process.
-define(SAMPLED, 10).
-define(TRACED, 10).
%% Then processes that collect all the time have been seen long enough. So many may wait in the tracer's mailbox, too.
-define(EVENTS, 5000).
-define(LOOK_AT_MAILBOX_EVERY, 64).
-define(FRAMES, 6).
%% Accounting slows messages by 15 %, so only this part of the window has it.
-define(ACCOUNTED, 10).
-define(DEEP, 1000).
%% A process that does no more in a second is idle: to be looked at counts, too.
-define(IDLE_REDUCTIONS, 1000).
%% Binaries are only counted where there can be few references to them.
-define(COUNTED_BYTES, 800_000).
-define(SCANNED, 20_000).
-define(SCANS, 5).
-define(HELPER_MS, 2000).
-define(ANSWER_MS, 500).
-define(ITEMS, [registered_name, initial_call, message_queue_len, message_queue_data, status, reductions, current_function]).

-dialyzer({nowarn_function, [watch/3, answers/2]}). % the funs always exit with what they saw

%% @doc Watches the processes for so many milliseconds. Silent are those that did not answer.
-spec watch([pid()], pos_integer(), accounting()) ->
          #{collections := diagnose_types:collections() | unknown, suspects := [{pid(), diagnose_types:suspect()}],
            silent := [pid()], bytes := non_neg_integer()}.
watch(Pids, Ms, Accounting) ->
    Worker = self(),
    {Tracer, Monitor} = helper(fun() -> trace(Worker, lists:sublist(Pids, ?TRACED)) end,
                               [{priority, high}, {message_queue_data, off_heap}]),
    Began = now_ms(),
    Firsts = answers(Pids, fun details/1),
    First = maps:from_list([{Pid, Details} || {Pid, #{} = Details} <- Firsts]),
    Known = [Pid || Pid <- Pids, is_map_key(Pid, First)],
    Deep = [Pid || Pid <- Known, maps:get(message_queue_len, maps:get(Pid, First)) >= ?DEEP],
    Sampled = lists:sublist(Deep, ?SAMPLED),
    {Collections, Some} = accounted(Accounting, Ms div ?ACCOUNTED, fun(Until) -> samples(Sampled, Until, #{}) end),
    Samples = samples(Sampled, Began + Ms, Some),
    Lasts = answers(Known, fun more_details/1),
    Took = max(1, now_ms() - Began),
    {Pauses, Bytes} = pauses(Tracer, Monitor),
    #{collections => Collections, silent => [Pid || {Pid, silent} <- Firsts ++ Lasts], bytes => Bytes,
      suspects => [{Pid, (suspect(Pid, maps:get(Pid, First), Last, maps:get(Pid, Samples, []), Took))#{pauses => pauses_of(Pid, Pauses)}}
                   || {Pid, #{} = Last} <- Lasts]}.

%% @doc What each answers, or `silent'. Each is asked by a process of its own, since one that cannot answer, as inside a long
%% native function, would stop the look.
-spec answers([pid()], fun((pid()) -> Answer)) -> [{pid(), Answer | silent}].
answers(Pids, Ask) ->
    Until = now_ms() + ?ANSWER_MS,
    Asked = [{Pid, helper(fun() -> exit({answer, Ask(Pid)}) end, [])} || Pid <- Pids],
    [{Pid, answer(Helper, Until)} || {Pid, Helper} <- Asked].

%% The end of a helper that is linked comes as a message, too.
answer({Helper, Monitor}, Until) ->
    Answered = receive
                   {'DOWN', Monitor, process, _, Reason} -> Reason
               after max(0, Until - now_ms()) ->
                       exit(Helper, kill),
                       receive {'DOWN', Monitor, process, _, Reason} -> Reason end
               end,
    receive {'EXIT', Helper, _} -> ok end,
    case Answered of
        {answer, Answer} -> Answer;
        _ -> silent
    end.

helper(Fun, Options) -> spawn_opt(Fun, [link, monitor | diagnose_processes:helper_options() ++ Options]).

now_ms() -> erlang:monotonic_time(millisecond).

details(Pid) ->
    case process_info(Pid, ?ITEMS) of
        undefined -> ended;
        Items -> maps:from_list(Items)
    end.

more_details(Pid) ->
    case details(Pid) of
        #{message_queue_len := Depth} = Details ->
            #{used := Used} = Sizes = sizes(Pid, Depth),
            Details#{sizes => Sizes, min_heap_bytes => min_heap(Pid), initial_call := initial_call(Pid, Details),
                     binaries => binaries(Pid, Depth, Used)};
        ended -> ended
    end.

%% What the process was given to begin with, and keeps.
min_heap(Pid) ->
    case process_info(Pid, garbage_collection) of
        {_, Settings} -> erlang:system_info(wordsize) * proplists:get_value(min_heap_size, Settings, 0);
        undefined -> unknown
    end.

%% Of a deep mailbox the VM would go over each message to say them.
sizes(Pid, Depth) when Depth < ?DEEP ->
    case process_info(Pid, garbage_collection_info) of
        {_, Info} -> diagnose_processes:sizes(Info);
        undefined -> unknown_sizes()
    end;
sizes(_Pid, _Depth) -> unknown_sizes().

unknown_sizes() -> #{heap => unknown, used => unknown, old => unknown, held => unknown}.

%% At least one look at each. What was seen: the depth, and the stack under the status.
samples(Pids, Until, Samples) ->
    Seen = lists:foldl(fun({Pid, Sample}, All) -> sampled(Pid, Sample, All) end, Samples, answers(Pids, fun sample/1)),
    wait(min(?BETWEEN_MS, max(0, Until - now_ms()))),
    case now_ms() < Until of
        true -> samples(Pids, Until, Seen);
        false -> Seen
    end.

sample(Pid) ->
    case process_info(Pid, [message_queue_len, status, current_stacktrace]) of
        undefined -> ended;
        [{_, Depth}, {_, Status}, {_, Stack}] -> {Depth, Status, [frame(Frame) || Frame <- lists:sublist(Stack, ?FRAMES)]}
    end.

frame({Module, Function, Arity, _}) -> {Module, Function, Arity}.

sampled(Pid, {_, _, _} = Sample, Samples) -> Samples#{Pid => [Sample | maps:get(Pid, Samples, [])]};
sampled(_Pid, _EndedOrSilent, Samples) -> Samples.

wait(Ms) -> receive after Ms -> ok end.

%% The same process at the beginning and at the end of the window.
suspect(Pid, First, Last, Samples, Ms) ->
    #{message_queue_len := Before, reductions := Reductions} = First,
    #{message_queue_len := Depth, message_queue_data := Queue, registered_name := Name, status := Status, reductions := Reduced,
      initial_call := Initial, binaries := Binaries, min_heap_bytes := Min,
      sizes := #{heap := Heap, used := Used, old := Old, held := Held}} = Last,
    #{pid => list_to_binary(pid_to_list(Pid)), name => name(Name), initial_call => Initial, queue => Queue,
      depth => Depth, least_depth => lists:min([Before, Depth | [Seen || {Seen, _, _} <- Samples]]),
      growth => 1000 * (Depth - Before) / Ms, samples => counted([{S, Stack} || {_, S, Stack} <- Samples]),
      hibernates => hibernates(Last), idle => Status =:= waiting andalso 1000 * (Reduced - Reductions) =< ?IDLE_REDUCTIONS * Ms,
      heap_bytes => Heap, used_bytes => Used, old_bytes => Old, held_bytes => Held, binaries => Binaries, min_heap_bytes => Min}.

name([]) -> '';
name(Name) -> Name.

%% A key of the dictionary can be asked for from OTP 26.2 on; all of the dictionary may be large.
initial_call(Pid, #{initial_call := Initial}) ->
    try process_info(Pid, {dictionary, '$initial_call'}) of
        {_, {_, _, _} = Call} -> Call;
        _ -> Initial
    catch
        error:badarg when Initial =:= {proc_lib, init_p, 5} -> unknown;
        error:badarg -> Initial
    end.

%% OTP 29's behaviours keep their stack, and so are seen where they called erlang:hibernate/0.
hibernates(#{status := waiting, current_function := {erlang, hibernate, 3}}) -> true;
hibernates(#{status := waiting, current_function := {_, loop_hibernate, _}}) -> true;
hibernates(#{}) -> false.

%% Each reference to a binary takes words of the heap, so that a small heap has few.
binaries(Pid, Depth, Used) when Depth < ?DEEP, is_integer(Used), Used =< ?COUNTED_BYTES ->
    case process_info(Pid, binary) of
        {binary, Binaries} -> length(Binaries);
        undefined -> unknown
    end;
binaries(_, _, _) -> unknown.

counted(Seen) ->
    Counts = lists:foldl(fun(One, Sums) -> Sums#{One => 1 + maps:get(One, Sums, 0)} end, #{}, Seen),
    [{Status, Stack, Times} || {{Status, Stack}, Times} <- maps:to_list(Counts)].

%% What the schedulers did while something else was done until then.
accounted(unknown, Ms, Meanwhile) -> {unknown, Meanwhile(now_ms() + Ms)};
accounted(Accounting, Ms, Meanwhile) ->
    _ = Accounting =:= off andalso erlang:system_flag(microstate_accounting, true),
    Before = erlang:statistics(microstate_accounting),
    Began = now_ms(),
    Result = Meanwhile(Began + Ms),
    After = erlang:statistics(microstate_accounting),
    _ = Accounting =:= off andalso erlang:system_flag(microstate_accounting, false),
    {Collecting, Busy, All} = subtract(sums(After), sums(Before)),
    {#{share => ratio(Collecting, Busy), busy => ratio(Busy, All), window_ms => max(1, now_ms() - Began)}, Result}.

%% Of the schedulers: collecting, not sleeping, and all their time. `gc_full' is there where OTP was configured so.
sums(Threads) ->
    Counters = [Counters || #{type := Type, counters := Counters} <- Threads,
                            Type =:= scheduler orelse Type =:= dirty_cpu_scheduler],
    All = lists:sum(lists:append([maps:values(One) || One <- Counters])),
    {lists:sum([maps:get(gc, One, 0) + maps:get(gc_full, One, 0) || One <- Counters]),
     All - lists:sum([maps:get(sleep, One, 0) || One <- Counters]), All}.

subtract({A, B, C}, {D, E, F}) -> {A - D, B - E, C - F}.

ratio(_, 0) -> 0.0;
ratio(Part, Whole) -> Part / Whole.

%% Traces until it is told to stop, or has seen enough: then too much would wait. The results are the reason of its exit,
%% with how long it traced. Where somebody else traces a process, or it has ended, the VM refuses.
-dialyzer({nowarn_function, trace/2}).
trace(Worker, Pids) ->
    Flags = [garbage_collection, monotonic_timestamp],
    Began = now_ms(),
    Traced = [Pid || Pid <- Pids, is_switched(Pid, true, Flags)],
    Pauses = traced(Worker, maps:from_list([{Pid, {none, no_pauses()}} || Pid <- Traced]), ?EVENTS),
    Took = max(1, now_ms() - Began),
    _ = [is_switched(Pid, false, Flags) || Pid <- Traced],
    receive {Worker, stop} -> ok end,
    exit({pauses, maps:map(fun(_, Seen) -> Seen#{window_ms => Took} end, Pauses), diagnose_processes:memory(self())}).

is_switched(Pid, How, Flags) ->
    try erlang:trace(Pid, How, Flags) =:= 1
    catch error:badarg -> false
    end.

no_pauses() -> #{minor => 0, full => 0, longest => 0, total => 0}.

traced(_Worker, Seen, 0) -> maps:map(fun(_, {_, Pauses}) -> Pauses end, Seen);
traced(Worker, Seen, Left) ->
    receive
        {trace_ts, Pid, Event, _, At} when is_map_key(Pid, Seen) ->
            traced(Worker, Seen#{Pid := event(Event, At, maps:get(Pid, Seen))}, left(Left - 1));
        {Worker, stop} ->
            self() ! {Worker, stop},
            traced(Worker, Seen, 0)
    end.

%% Where the processes collect faster than the tracer counts, it stops before its mailbox has grown.
left(Left) when Left rem ?LOOK_AT_MAILBOX_EVERY =:= 0 ->
    case process_info(self(), message_queue_len) of
        {_, Waiting} when Waiting > ?EVENTS -> 0;
        _ -> Left
    end;
left(Left) -> Left.

event(gc_minor_end, At, {Began, Pauses}) when is_integer(Began) -> {none, paused(minor, At - Began, Pauses)};
event(gc_major_end, At, {Began, Pauses}) when is_integer(Began) -> {none, paused(full, At - Began, Pauses)};
event(Start, At, {_, Pauses}) when Start =:= gc_minor_start; Start =:= gc_major_start -> {At, Pauses};
event(_, _, Seen) -> Seen.

paused(Kind, Native, #{longest := Longest, total := Total} = Pauses) ->
    maps:update_with(Kind, fun(Times) -> Times + 1 end, Pauses#{longest := max(Longest, Native), total := Total + Native}).

%% Nothing is known where the tracer was ended, for its memory or for its time.
pauses(Tracer, Monitor) ->
    Tracer ! {self(), stop},
    receive
        {'DOWN', Monitor, process, _, {pauses, Pauses, Bytes}} -> {Pauses, Bytes};
        {'DOWN', Monitor, process, _, _} -> {ended, 0}
    after ?HELPER_MS -> {ended, 0} % it dies with the worker
    end.

pauses_of(_Pid, ended) -> unknown;
pauses_of(Pid, Pauses) ->
    case Pauses of
        #{Pid := #{minor := Minor, full := Full, longest := Longest, total := Total, window_ms := Ms}} ->
            #{minor => Minor, full => Full, longest_us => us(Longest), total_us => us(Total), window_ms => Ms};
        #{} -> not_traced
    end.

us(Native) -> erlang:convert_time_unit(Native, native, microsecond).

%% @doc What a receive takes on this machine to go by a message that waits, in nanoseconds, for mailboxes of these
%% kinds: measured with 20,000 small messages, so that it is the least that it takes.
-spec scan_costs([on_heap | off_heap]) -> {#{on_heap | off_heap => float()}, HelperBytes :: non_neg_integer()}.
scan_costs(Queues) ->
    Costs = [{Queue, Ns, Bytes} || Queue <- Queues, {Ns, Bytes} <- scan_cost(Queue)],
    {maps:from_list([{Queue, Ns} || {Queue, Ns, _} <- Costs]), lists:max([0 | [Bytes || {_, _, Bytes} <- Costs]])}.

scan_cost(Queue) ->
    {Helper, Monitor} = helper(fun scans/0, [{message_queue_data, Queue}]),
    receive
        {'DOWN', Monitor, process, _, {scanned, Native, Bytes}} ->
            [{erlang:convert_time_unit(Native, native, nanosecond) / ?SCANNED, Bytes}];
        {'DOWN', Monitor, process, _, _} -> []
    after ?HELPER_MS ->
            exit(Helper, kill),
            []
    end.

-dialyzer({nowarn_function, scans/0}).
scans() ->
    ok = fill(?SCANNED),
    Times = [scan() || _ <- lists:seq(1, ?SCANS)],
    exit({scanned, lists:min(Times), diagnose_processes:memory(self())}).

fill(0) -> ok;
fill(Left) ->
    self() ! waits,
    fill(Left - 1).

%% A collection in between would count too: the least of the scans is free of it.
scan() ->
    Started = erlang:monotonic_time(),
    receive comes_never -> ok after 0 -> ok end,
    erlang:monotonic_time() - Started.
