%% @doc What runs on the node while a census is taken, in two parts: a keeper, and a worker that reads the VM's account of its time and
%% then traces few processes for a moment. The keeper ends the worker when its time is over or the client is gone, and leaves everything
%% as it was: the flag of microstate accounting, and this module, whose code it removes as its last act. The worker is the tracer, so
%% that no process is traced any more when it has ended.
%%
%% It calls nothing but functions that every node has, and nothing newer than OTP 25.
-module(diagnose_census_probe).

-export([format/0, keep/3]).
%% For the tests.
-export([accounted/2, totals/1]).
-export_type([asked/0, result/0, why/0, why_not/0, traced/0, sends/0, class/0, collected/0, filling/0]).

%% Called where they are.
-ignore_xref([{trace, session_info, 1}]).

%% ms: how long all of it takes.
-type asked() :: #{ms := pos_integer()}.
-type why() :: no_accounting | disturbed | out_of_time | {ended, term()}.
%% Nanoseconds of all threads of the VM in each state while so many milliseconds passed, and the page faults that the kernel counted.
-type accounts() :: #{ms := pos_integer(), schedulers := pos_integer(), states := #{atom() => non_neg_integer()},
                      faults := non_neg_integer() | unknown}.
%% The messages with so many words beside their first one, up to `most': their number, their words, and the mean time to send one
%% (nanoseconds; unknown where none could be kept).
-type class() :: #{most := non_neg_integer() | more, count | words := non_neg_integer(), ns := float() | unknown}.
%% repeated: messages that were sent to another receiver before, as they are. beside: to ports and to other nodes. slices: the mean of how
%% many were sent a second in each slice. In bursts this is more than all by the time of all, since a burst ends its slice early.
-type sends() :: #{ms := pos_integer(), slices := float(), classes := [class()],
                   beside | repeated | repeated_words | most_receivers := non_neg_integer()}.
%% words: those that the collections found, and those that they copied.
-type collected() :: #{kind := minor | promoting | full, size := small | large, count | ns | found | copied := non_neg_integer()}.
%% The collections of one process and kind: the time of all, and, in the mean of this time, the words that lived in the young heap when it
%% began to be filled, and the free words that it had then. Both are unknown if it was not collected for want of room. rate: the words that
%% the process made a second.
-type filling() :: #{kind := minor | promoting | full, size := small | large, ns := pos_integer(), live | room := float() | unknown,
                     rate := float()}.
%% work: the part of all reductions that these processes did. refused: those that ended, or that the VM does not let trace.
%% slices: the mean of how many collections there were a second in each slice.
-type traced() :: #{processes | busiest | refused | too_large := non_neg_integer(), work := float() | unknown, ms := pos_integer(), slices := float(),
                    sends := sends(), collected := [collected()], filled := [filling()]}.
%% began: processes that live at the end, and did not at the beginning.
-type result() :: #{release := pos_integer(), processes | looked := non_neg_integer(), began := non_neg_integer() | unknown, accounts := accounts(),
                    traced := traced() | {no, why_not()}}.
-type why_not() :: overloaded | traced | nobody | out_of_time | {ended, term()}.

-include("../probe/sessions.hrl").

-define(FORMAT, 2).
%% The worker: more memory, and it is ended. It lists all processes.
-define(HEAP_WORDS, 2_000_000).
-define(HEAP_WORDS_OF_ONE, 50).
%% More processes are not asked.
-define(ASKED, 100_000).
%% Of more it is not told how many are new.
-define(COMPARED_PROCESSES, 20_000).
-define(BUSIEST, 20).
-define(BY_CHANCE, 20).
%% The accounts come first, so that they are not those of traced processes: so many tenths of the time.
-define(ACCOUNTS, 6).
%% Tracing is switched on so many times, each until so many events.
-define(SLICES, 10).
-define(EVENTS, 500).
%% Where more events wait for the tracer, it stops.
-define(WAITING, 5000).
%% A trace copies what is sent: no process with more words, which it could send, and no more words in all.
-define(LARGEST, 1_000_000).
-define(WORDS, 4_000_000).
%% Larger messages are not compared, and still larger ones not sent again to see how long that takes.
-define(COMPARED, 1000).
-define(KEPT, 20_000).
-define(CLASSES, [0, 10, 100, 1000, more]).
%% A kept message is sent so often: three times as many.
-define(AGAIN, 10).
-define(AGAIN_LARGE, 1).
%% The field of /proc/self/stat, from the state of the program on.
-define(MINFLT, 8).
%% Between the sizes of heaps that the lab measured, 20,000 and 200,000 words.
-define(LARGE_WORDS, 63_000).
-define(OVERLOAD, 10).
-define(LOOKS, 10).
-define(BETWEEN_MS, 10).
%% For the answer of the worker when its time is over, on a machine that is busy with other things.
-define(GRACE_MS, 10_000).
%% To purge a module the VM wakes every process.
-define(PURGED, 50_000).
-define(FLAGS, [send, garbage_collection, monotonic_timestamp]).

%% @doc Of what goes to and fro.
-spec format() -> pos_integer().
format() -> ?FORMAT.

%% @doc Takes the census, and tells the client `{diagnose_census, Pid, {ok, result()} | {error, why()}}'.
-spec keep(Client :: pid(), asked(), IsCarried :: boolean()) -> ok | boolean().
keep(Client, Asked, IsCarried) ->
    Result = try kept(monitor(process, Client), Asked)
             catch
                 throw:{stopped, Why} -> {error, Why};
                 _:Reason -> {error, {ended, Reason}}
             end,
    %% A connection that is full or cut must keep nothing from being removed.
    _ = erlang:send(Client, {diagnose_census, self(), Result}, [noconnect, nosuspend]),
    removed(IsCarried andalso erlang:system_info(process_count) =< ?PURGED).

%% The last call leaves the code, which this process runs. Nobody else does by then.
removed(false) -> ok;
removed(true) ->
    _ = erlang:check_old_code(?MODULE) andalso code:purge(?MODULE),
    true = code:delete(?MODULE),
    code:purge(?MODULE).

-spec stopped(why()) -> no_return().
stopped(Why) -> throw({stopped, Why}).

kept(ClientMonitor, #{ms := Ms}) ->
    Began = now_ms(),
    WasOn = try erlang:system_flag(microstate_accounting, true) catch error:_ -> stopped(no_accounting) end,
    try worked(ClientMonitor, Began, Ms)
    after WasOn orelse erlang:system_flag(microstate_accounting, false)
    end.

worked(ClientMonitor, Began, Ms) ->
    Keeper = self(),
    {Worker, Monitor} =
        spawn_opt(fun() -> work(Keeper, Began + Ms * ?ACCOUNTS div 10, Began + Ms) end,
                  [monitor, {message_queue_data, off_heap}, {max_heap_size, #{size => ?HEAP_WORDS + ?HEAP_WORDS_OF_ONE * erlang:system_info(process_count), kill => true,
                                             error_logger => false}}]),
    try heard(Worker, Monitor, ClientMonitor, Began + Ms + ?GRACE_MS, none)
    after
        exit(Worker, kill),
        receive {'DOWN', Monitor, process, _, _} -> ok end
    end.

%% What it told before it could not go on is told.
heard(Worker, Monitor, ClientMonitor, Until, Told) ->
    receive
        {Worker, accounts, Result} -> heard(Worker, Monitor, ClientMonitor, Until, Result#{traced => {no, out_of_time}});
        {Worker, traced, Traced} -> {ok, Told#{traced := Traced}};
        {Worker, stopped, Why} -> stopped(Why);
        {'DOWN', Monitor, process, _, Reason} ->
            self() ! {'DOWN', Monitor, process, Worker, Reason},
            left(Told, {ended, Reason});
        {'DOWN', ClientMonitor, process, _, _} -> stopped({ended, client})
    after max(0, Until - now_ms()) -> left(Told, out_of_time)
    end.

left(none, Why) -> stopped(Why);
left(Told, Why) -> {ok, Told#{traced := {no, Why}}}.

now_ms() -> erlang:monotonic_time(millisecond).

wait_until(Ms) -> receive after max(0, Ms - now_ms()) -> ok end.

%% The worker. Its first wait lets the account begin.

work(Keeper, AccountsUntil, Until) ->
    Pids = some(),
    Before = reductions(Pids),
    Count = length(Pids),
    {AllBefore, _} = erlang:statistics(reductions),
    Threads = erlang:statistics(microstate_accounting),
    Faults = faults(),
    At = now_ms(),
    ok = wait_until(AccountsUntil),
    Ms = max(1, now_ms() - At),
    States = accounted(Threads, erlang:statistics(microstate_accounting)),
    WasOn = stays_on(),
    More = faults(),
    Now = erlang:system_info(process_count),
    Began = case max(Count, Now) =< ?COMPARED_PROCESSES of true -> length(some() -- Pids); false -> unknown end,
    case States of
        _ when States =:= disturbed; not WasOn -> Keeper ! {self(), stopped, disturbed};
        _ ->
            Keeper ! {self(), accounts, #{release => list_to_integer(erlang:system_info(otp_release)), processes => Now,
                                          looked => Count, began => Began,
                                          accounts => #{ms => Ms, schedulers => erlang:system_info(schedulers_online), states => States,
                                                        faults => case is_integer(Faults) andalso is_integer(More) of
                                                                      true -> More - Faults;
                                                                      false -> unknown
                                                                  end}}},
            Work = worked(Before),
            {AllAfter, _} = erlang:statistics(reductions),
            Keeper ! {self(), traced, traced(Pids, Work, AllAfter - AllBefore, Until)}
    end.

%% Whether the account is still on: whoever switched it off wants it off.
stays_on() ->
    case erlang:system_flag(microstate_accounting, true) of
        true -> true;
        false ->
            _ = erlang:system_flag(microstate_accounting, false),
            false
    end.

%% Of all threads, without reading a disk (minflt in proc(5)). The name of the program, in parentheses, may have spaces.
faults() ->
    case prim_file:read_file("/proc/self/stat") of
        {ok, Stat} ->
            [_, Fields] = binary:split(Stat, <<") ">>),
            binary_to_integer(lists:nth(?MINFLT, binary:split(Fields, <<" ">>, [global])));
        {error, _} -> unknown
    end.

%% All processes, or so many by chance.
some() ->
    All = [Pid || Pid <- processes(), Pid =/= self()],
    case length(All) =< ?ASKED of
        true -> All;
        false -> by_chance(?ASKED, All)
    end.

by_chance(Most, Pids) ->
    Salt = make_ref(),
    %% Of many, about twice as many as wanted are put into order.
    Wanted = case length(Pids) of
                 Count when Count > 4 * Most -> [Pid || Pid <- Pids, erlang:phash2({Pid, Salt}, Count) < 2 * Most];
                 _ -> Pids
             end,
    lists:sublist([Pid || {_, Pid} <- lists:sort([{erlang:phash2({Salt, Pid}), Pid} || Pid <- Wanted])], Most).

reductions(Pids) -> [{Pid, Count} || Pid <- Pids, {_, Count} <- [process_info(Pid, reductions)]].

%% Those that did something since then, the busiest first.
worked(Before) ->
    lists:reverse(lists:keysort(2, [{Pid, Now - Count} || {Pid, Count} <- Before, {_, Now} <- [process_info(Pid, reductions)],
                                                          Now > Count])).

%% @doc What all threads did between two readings, in nanoseconds, or that somebody has switched the account off or reset it meanwhile.
-spec accounted(Before, After) -> #{atom() => non_neg_integer()} | disturbed when Before :: [map()], After :: [map()].
accounted(Before, After) ->
    Differences = maps:merge_with(fun(_, Then, Now) -> Now - Then end, sums(Before), sums(After)),
    case lists:all(fun(Difference) -> Difference >= 0 end, maps:values(Differences)) andalso lists:sum(maps:values(Differences)) > 0 of
        true -> maps:map(fun(_, Time) -> nanoseconds(Time) end, Differences);
        false -> disturbed
    end.

sums(Threads) ->
    lists:foldl(fun(#{counters := Counters}, Sums) -> maps:merge_with(fun(_, A, B) -> A + B end, Counters, Sums) end, #{}, Threads).

%% The counters have the unit of the VM's performance counter.
nanoseconds(Time) -> erlang:convert_time_unit(Time, perf_counter, nanosecond).

%% Tracing

traced(Pids, Work, All, Until) ->
    Busy = [Pid || {Pid, _} <- lists:sublist(Work, ?BUSIEST)],
    Others = lists:sublist(by_chance(?BY_CHANCE + ?BUSIEST, Pids) -- Busy, ?BY_CHANCE),
    {Small, Large} = lists:partition(fun is_small/1, Busy ++ Others),
    case is_overloaded(?LOOKS) of
        true -> {no, overloaded};
        false when Small =:= [] -> {no, nobody};
        false ->
            case lists:any(fun is_traced/1, [new_processes | Small]) of
                true -> {no, traced};
                false ->
                    _ = process_flag(priority, high),
                    (traced_of(Small, Work, All, Until))#{busiest => length(Busy -- Large), too_large => length(Large)}
            end
    end.

is_small(Pid) ->
    case process_info(Pid, total_heap_size) of
        {_, Words} -> Words =< ?LARGEST;
        undefined -> false
    end.

is_overloaded(0) -> true;
is_overloaded(Left) ->
    case erlang:statistics(total_run_queue_lengths) > ?OVERLOAD * erlang:system_info(schedulers_online) of
        true ->
            ok = wait_until(now_ms() + ?BETWEEN_MS),
            is_overloaded(Left - 1);
        false -> false
    end.

is_traced(Which) ->
    case erlang:trace_info(Which, flags) of
        {flags, [_ | _]} -> true;
        _ -> other_sessions(Which) =/= []
    end.

traced_of(Pids, Work, All, Until) ->
    Slice = max(1, (Until - now_ms()) div ?SLICES),
    Seen = slices(?SLICES, Slice, Pids, (unseen())#{limited := [Pid || Pid <- Pids, has_limit(Pid)]}),
    Let = maps:get(let_trace, Seen),
    (summed(Seen))#{processes => length(Let), refused => length(Pids -- Let),
                    work => case All of
                                0 -> unknown;
                                _ -> min(1.0, lists:sum([Count || {Pid, Count} <- Work, lists:member(Pid, Let)]) / All)
                            end}.

%% Such a heap gets no room (gc-heap-room.patch).
has_limit(Pid) ->
    case process_info(Pid, garbage_collection) of
        {_, Settings} -> case lists:keyfind(max_heap_size, 1, Settings) of {_, #{size := Size}} -> Size > 0; _ -> false end;
        undefined -> false
    end.

unseen() ->
    #{limited => [], let_trace => [], send_time => 0, gc_time => 0, words => 0, classes => #{}, kept => [], beside => 0, repeated => 0,
      repeated_words => 0, most_receivers => 0, collected => #{}, sends_left => 0, gcs_left => 0, fan => #{}, gcs => #{}, slice => 0,
      send_rates => [], gc_rates => [], left => #{}, filled => #{}, made => #{}}.

slices(0, _, _, Seen) -> Seen;
slices(_, _, _, #{words := Words} = Seen) when Words > ?WORDS -> Seen;
slices(Left, Ms, Pids, #{let_trace := Let, slice := Slice} = Before) ->
    Until = now_ms() + Ms,
    On = [Pid || Pid <- Pids, switched(Pid, true, ?FLAGS)],
    Began = erlang:monotonic_time(),
    Seen = events(Began, Until, On, Before#{slice := Slice + 1, sends_left := ?EVENTS, gcs_left := ?EVENTS, fan := #{}, gcs := #{},
                                                 left := #{}}),
    _ = [switched(Pid, false, [all]) || Pid <- On],
    Ended = erlang:monotonic_time(),
    ok = forgotten(),
    ok = wait_until(Until),
    slices(Left - 1, Ms, Pids, (timed(Began, Ended, Seen))#{let_trace := lists:usort(Let ++ On)}).

%% Where it was switched off earlier, that was its end.
timed(Began, Ended, #{send_time := SendTime, gc_time := GcTime, sends_left := Sends, gcs_left := Gcs, send_rates := SendRates,
                      gc_rates := GcRates} = Seen) ->
    OfSends = maps:get(send_ended, Seen, Ended) - Began,
    OfGcs = maps:get(gc_ended, Seen, Ended) - Began,
    Seen#{send_time := SendTime + OfSends, gc_time := GcTime + OfGcs,
          send_rates := [a_second(?EVENTS - Sends, OfSends) | SendRates],
          %% Each has a beginning and an end.
          gc_rates := [a_second((?EVENTS - Gcs) / 2, OfGcs) | GcRates]}.

a_second(Count, Time) -> Count * erlang:convert_time_unit(1, second, native) / max(1, Time).

%% Where somebody else traces the process, or it has ended, the VM refuses.
-dialyzer({nowarn_function, switched/3}).
switched(Pid, How, Flags) ->
    try erlang:trace(Pid, How, Flags) =:= 1
    catch error:badarg -> false
    end.

forgotten() ->
    receive
        Event when element(1, Event) =:= trace_ts -> forgotten()
    after 0 -> ok
    end.

events(Began, Until, On, Seen) -> events(?EVENTS, Began, Until, On, maps:without([send_ended, gc_ended], Seen)).

%% What waits is looked at now and then.
events(0, Began, Until, On, Seen) ->
    case process_info(self(), message_queue_len) of
        {_, Waiting} when Waiting > ?WAITING -> ended_at(erlang:monotonic_time(), Seen);
        _ -> events(?EVENTS div 10, Began, Until, On, Seen)
    end;
events(_, _, _, _, #{words := Words} = Seen) when Words > ?WORDS -> ended_at(erlang:monotonic_time(), Seen);
events(Left, Began, Until, On, #{sends_left := Sends, gcs_left := Gcs} = Seen) ->
    receive
        {trace_ts, Pid, Event, What, To, At} when Sends > 0, At >= Began ->
            case seen(Event, {Pid, What, To, At}, Seen) of
                #{sends_left := 0} = Full ->
                    _ = [switched(One, false, [send]) || One <- On],
                    events(Left - 1, Began, Until, On, Full#{send_ended => At});
                Next -> events(Left - 1, Began, Until, On, Next)
            end;
        {trace_ts, Pid, Event, Info, At} when Gcs > 0, At >= Began ->
            case seen(Event, {Pid, Info, At}, Seen) of
                #{gcs_left := 0} = Full ->
                    _ = [switched(One, false, [garbage_collection]) || One <- On],
                    events(Left - 1, Began, Until, On, Full#{gc_ended => At});
                Next -> events(Left - 1, Began, Until, On, Next)
            end;
        Event when element(1, Event) =:= trace_ts -> events(Left - 1, Began, Until, On, Seen)
    after max(0, Until - now_ms()) -> Seen
    end.

ended_at(Now, Seen) -> maps:merge(#{send_ended => Now, gc_ended => Now}, Seen).

%% @doc What events of one slice add up to, as seen/3 takes them. The slice has a second.
-spec totals([{atom(), tuple()}]) -> #{sends := sends(), collected := [collected()], _ => _}.
totals(Events) ->
    Second = erlang:convert_time_unit(1, second, native),
    Seen = lists:foldl(fun({Event, Parts}, Before) -> seen(Event, Parts, Before) end,
                       (unseen())#{slice := 1, sends_left := ?EVENTS, gcs_left := ?EVENTS}, Events),
    summed(timed(0, Second, Seen)).

%% One more event. Of a message this is the sender, what was sent, to whom, and when; of a collection the process, the sizes of its
%% heaps, and when.
seen(Event, {Pid, Message, To, _}, #{sends_left := Left, beside := Beside} = Seen)
  when Event =:= send; Event =:= send_to_non_existing_process ->
    Next = Seen#{sends_left := Left - 1},
    case is_here(To) of
        true -> sent(Pid, Message, erts_debug:flat_size(Message), To, Next);
        false -> Next#{beside := Beside + 1}
    end;
seen(Start, {Pid, Info, At}, #{gcs_left := Left, gcs := Gcs} = Seen) when Start =:= gc_minor_start; Start =:= gc_major_start ->
    Seen#{gcs_left := Left - 1, gcs := Gcs#{Pid => {Start, sizes(Info), At}}};
seen(End, {Pid, Info, At}, #{gcs_left := Left, gcs := Gcs} = Seen) when End =:= gc_minor_end; End =:= gc_major_end ->
    case Gcs of
        #{Pid := {_, Before, Began}} ->
            collected(End, Pid, Before, sizes(Info), At - Began, Seen#{gcs_left := Left - 1, gcs := maps:remove(Pid, Gcs)});
        #{} -> Seen
    end;
seen(_, _, Seen) -> Seen.

%% A name is one of this node, a reference an alias.
is_here(To) when is_pid(To); is_reference(To) -> node(To) =:= node();
is_here({_, Node}) -> Node =:= node();
is_here(To) -> is_atom(To).

sent(Pid, Message, Size, To, #{words := Words, classes := Classes, kept := Kept, slice := Slice} = Seen) ->
    Most = class(Size, ?CLASSES),
    {Count, Sum} = maps:get(Most, Classes, {0, 0}),
    repeated(Pid, Message, Size, To,
             Seen#{words := Words + Size, classes := Classes#{Most => {Count + 1, Sum + Size}},
                   kept := kept(Most, Message, Size, Slice, Kept)}).

class(_, [more]) -> more;
class(Size, [Most | _]) when Size =< Most -> Most;
class(Size, [_ | Classes]) -> class(Size, Classes).

%% One of each class for each slice.
kept(Most, Message, Size, Slice, Kept) when Size =< ?KEPT ->
    case [Of || {Of, _, _} <- Kept, Of =:= Most] of
        Same when length(Same) < Slice -> [{Most, Size, Message} | Kept];
        _ -> Kept
    end;
kept(_, _, _, _, Kept) -> Kept.

%% What is one word is not copied.
repeated(_, _, 0, _, Seen) -> Seen;
repeated(_, _, Size, _, Seen) when Size > ?COMPARED -> Seen;
repeated(Pid, Message, Size, To, #{fan := Fan, repeated := Repeated, repeated_words := Words, most_receivers := Most} = Seen) ->
    Key = {Pid, Size, erlang:phash2(Message, 1 bsl 32)},
    Receivers = maps:get(Key, Fan, #{}),
    case map_size(Receivers) > 0 andalso not is_map_key(To, Receivers) of
        true -> Seen#{fan := Fan#{Key => Receivers#{To => true}}, repeated := Repeated + 1, repeated_words := Words + Size,
                      most_receivers := max(Most, map_size(Receivers) + 1)};
        false -> Seen#{fan := Fan#{Key => Receivers#{To => true}}, most_receivers := max(Most, 1)}
    end.

%% Words used, young and old; those of messages that are not in the heap yet, and those that are free in the young one. And whether the
%% binaries that it refers to were the reason to collect.
sizes(Info) ->
    #{young => value(heap_size, Info), old => value(old_heap_size, Info), stack => value(stack_size, Info),
      beside => value(mbuf_size, Info),
      room => value(heap_block_size, Info) - value(heap_size, Info) - value(stack_size, Info),
      by_binaries => value(bin_vheap_size, Info) > 0 andalso value(bin_vheap_size, Info) >= value(bin_vheap_block_size, Info)}.

value(Key, Info) -> case lists:keyfind(Key, 1, Info) of {_, Value} -> Value; false -> 0 end.

%% A minor collection that leaves all as it was has been refused: a full one follows.
collected(gc_minor_end, _, Sizes, Sizes, _, Seen) -> Seen;
collected(End, Pid, Before, After, Time, #{collected := All} = Seen) ->
    {Kind, Found, Copied} = kind(End, Before, After),
    Key = {Kind, case Copied >= ?LARGE_WORDS of true -> large; false -> small end},
    {Count, T, F, C} = maps:get(Key, All, {0, 0, 0, 0}),
    filled(Pid, Key, Before, After, Time, Seen#{collected := All#{Key => {Count + 1, T + Time, F + Found, C + Copied}}}).

kind(gc_minor_end, #{young := Young, old := Old}, #{young := Left, old := OldLater}) ->
    {case OldLater > Old of true -> promoting; false -> minor end, Young, Left + max(0, OldLater - Old)};
kind(gc_major_end, #{young := Young, old := Old}, #{young := Left, old := OldLater}) ->
    {full, Young + Old, Left + OldLater}.

%% What the process made since its last collection, and in which room, where the end of that one was seen.
filled(Pid, Key, #{young := Young, beside := Beside, by_binaries := ByBinaries}, After, Time,
       #{left := Left, made := Made, filled := Filled, limited := Limited} = Seen) ->
    Next = Seen#{left := Left#{Pid => After}},
    case Left of
        #{Pid := #{young := Live, stack := Stack, room := Room}} ->
            Row = {Pid, Key, not ByBinaries andalso not lists:member(Pid, Limited)},
            {T, L, R} = maps:get(Row, Filled, {0, 0, 0}),
            Next#{made := Made#{Pid => maps:get(Pid, Made, 0) + max(0, Young + Beside - Live)},
                  filled := Filled#{Row => {T + Time, L + Time * (Live + Stack), R + Time * max(0, Room)}}};
        #{} -> Next
    end.

%% What all events add up to. Kept messages are sent again, to a process that does not run, to see how long that takes.
summed(#{send_time := SendTime, gc_time := GcTime, classes := Classes, kept := Kept, collected := Collected,
         filled := Filled, made := Made, send_rates := SendRates, gc_rates := GcRates} = Seen) ->
    Times = times(Kept),
    #{ms => ms(GcTime), slices => mean(GcRates),
      sends => (maps:with([beside, repeated, repeated_words, most_receivers], Seen))
          #{ms => ms(SendTime), slices => mean(SendRates),
            classes => [#{most => Most, count => Count, words => Words, ns => time(Most, Count, Words, Times)}
                        || Most <- ?CLASSES, {Count, Words} <- [maps:get(Most, Classes, {0, 0})]]},
      collected => [#{kind => Kind, size => Size, count => Count, ns => erlang:convert_time_unit(Time, native, nanosecond),
                      found => Found, copied => Copied} || {{Kind, Size}, {Count, Time, Found, Copied}} <- maps:to_list(Collected)],
      filled => [#{kind => Kind, size => Size, ns => max(1, erlang:convert_time_unit(Time, native, nanosecond)),
                   live => in_mean(ForRoom, Live, Time), room => in_mean(ForRoom, Room, Time),
                   rate => a_second(maps:get(Pid, Made), GcTime)}
                 || {{Pid, {Kind, Size}, ForRoom}, {Time, Live, Room}} <- maps:to_list(Filled)]}.

in_mean(true, Sum, Time) -> Sum / max(1, Time);
in_mean(false, _, _) -> unknown.

mean([]) -> 0.0;
mean(Values) -> lists:sum(Values) / length(Values).

ms(Native) -> max(1, erlang:convert_time_unit(Native, native, millisecond)).

%% Of the largest class by the word, of the others by the message.
time(Most, Count, Words, Times) ->
    case {Most, [{Size, Ns} || {Of, Size, Ns} <- Times, Of =:= Most]} of
        {_, []} -> unknown;
        {more, Timed} -> lists:sum([Ns || {_, Ns} <- Timed]) / lists:sum([Size || {Size, _} <- Timed]) * Words / max(1, Count);
        {_, Timed} -> lists:sum([Ns || {_, Ns} <- Timed]) / length(Timed)
    end.

times([]) -> [];
times(Kept) ->
    Sink = spawn_opt(fun() -> receive {?MODULE, never} -> ok end end, [link, {message_queue_data, off_heap}]),
    true = erlang:suspend_process(Sink),
    Times = [{Most, Size, again(Sink, Message, case Size > ?COMPARED of true -> ?AGAIN_LARGE; false -> ?AGAIN end)}
             || {Most, Size, Message} <- Kept],
    true = unlink(Sink),
    true = exit(Sink, kill),
    Times.

%% The middle of three.
again(Sink, Message, Times) ->
    [_, Ns, _] = lists:sort([begin
                                 Began = erlang:monotonic_time(),
                                 ok = sent_again(Times, Sink, Message),
                                 erlang:convert_time_unit(erlang:monotonic_time() - Began, native, nanosecond) / Times
                             end || _ <- [1, 2, 3]]),
    Ns.

sent_again(0, _, _) -> ok;
sent_again(Left, Sink, Message) ->
    Sink ! Message,
    sent_again(Left - 1, Sink, Message).
