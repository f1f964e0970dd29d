%%% Why a collection happened, and what it gave back, by the sizes that the VM tells at its start and at its end (erl_gc.c). All in words.

%% Young generations and stacks from here on are collected by a dirty scheduler, until which the process goes on in a fragment.
-define(DELAYED_WORDS, 128 * 1024).
%% So much of the heap is left then, at most: what compiled code asks for at a time is small.
-define(DELAYED_LEFT, 32).
%% The VM keeps so much of the heap for itself (S_RESERVED, whatever the emulator).
-define(RESERVED, 32).
%% To copy less takes a millisecond or two: where it took longer, the machine had taken the core away meanwhile.
-define(LONG_WORDS, 25_000).
%% A program that sets a smaller count means it; the VM's own is 65,535.
-define(MEANT_COUNT, 10_000).
-define(MOVES, [heap_size, heap_block_size, recent_size, old_heap_size, bin_vheap_size, bin_old_vheap_size]).

%% Tracing makes a collection longer: one that leaves nothing takes 0.3 us, and traced 3 us on OTP 27 and 5 us on 29 (on one machine). So
%% it is measured, by so many collections.
-define(TRIED_COLLECTIONS, 21).
-define(TRIED_MS, 100).
-define(TRACE_FLAGS, [garbage_collection, monotonic_timestamp]).
%% Then a process that collects all the time has been seen long enough, and the others are seen further on.
-define(EVENTS, 1000).

-type gc_info() :: #{atom() => non_neg_integer()}.

%% @doc Why a collection happened, by what the VM tells at its start. Each `need's something (`wordsize'), or something was full. A full one
%% comes without an attempt at a minor one where it was asked for (garbage_collect, the purge of a module) or after so many minor
%% ones, and after such an attempt (`tried') where the old generation had no room. Where there was no old generation, it is like a minor
%% one.
-spec reason(gc_info(), minor | full,
             #{tried := boolean(), minors := non_neg_integer() | unknown, fullsweep_after := non_neg_integer() | unknown}) ->
          diagnose_types:reason().
reason(Info, minor, _) -> trigger(Info);
reason(#{old_heap_block_size := 0} = Info, full, #{tried := true}) -> trigger(Info);
reason(#{bin_old_vheap_size := Held, bin_old_vheap_block_size := Block}, full, #{tried := true}) when Held >= Block -> old_virtual_heap;
reason(_, full, #{tried := true}) -> old_heap;
reason(Info, full, #{minors := Minors, fullsweep_after := Most}) when is_integer(Minors), is_integer(Most),
    Minors >= Most -> counted(trigger(Info));
reason(_, full, #{minors := Minors}) when is_integer(Minors) -> asked;
reason(Info, full, #{fullsweep_after := Most}) when is_integer(Most), Most < ?MEANT_COUNT -> counted(trigger(Info));
reason(_, full, _) -> asked.

counted(asked) -> asked;
counted(_) -> count.

%% What was full. With a need that there is room for, it was a binary that the virtual heap had no room for. There may be no need: senders
%% fill the heap with messages, too.
trigger(#{wordsize := Need, heap_block_size := Block, heap_size := Heap, stack_size := Stack, mbuf_size := Fragments,
          bin_vheap_size := Held, bin_vheap_block_size := Virtual}) ->
    Free = Block - Heap - Stack,
    if
        Free < Need + ?RESERVED -> heap;
        Need > 0; Held > Virtual -> virtual_heap;
        Fragments > Free -> heap;
        Heap + Stack >= ?DELAYED_WORDS - ?RESERVED, ?DELAYED_LEFT * Free < Block -> heap;
        true -> asked
    end.

%% How a process is set that is to be traced.
settings(Pid) ->
    case process_info(Pid, garbage_collection) of
        {_, Settings} -> maps:with([fullsweep_after, min_heap_size, min_bin_vheap_size], maps:from_list(Settings));
        undefined -> ended
    end.

no_pauses(Settings, Began) ->
    #{open => none, tried => false, minors => unknown, settings => Settings, left => ?EVENTS, began => Began,
      pauses => #{minor => 0, full => 0, longest => 0, long => 0, total => 0, why => #{}}}.

%% Who has collected so often was seen for that long, and is left alone.
watched(Pid, #{left := 0} = One) -> unwatched(Pid, One);
watched(_, One) -> One.

unwatched(_, #{ms := _} = One) -> One;
unwatched(Pid, #{began := Began} = One) ->
    _ = is_switched(Pid, false, ?TRACE_FLAGS),
    One#{ms => max(1, now_ms() - Began)}.

%% @doc Why collections happened, by the events of a trace, in order.
-spec reasons(Settings :: map(), [{Event :: atom(), At :: integer(), [{atom(), non_neg_integer()}]}]) -> [diagnose_types:why()].
reasons(Settings, Events) ->
    #{pauses := #{why := Why}} = lists:foldl(fun({Event, At, Info}, One) -> event(Event, At, maps:from_list(Info), One) end,
                                             no_pauses(Settings, 0), Events),
    why(Why, 0).

event(_, _, _, #{ms := _} = One) -> One;
event(Event, At, Info, #{left := Left} = One) -> happened(Event, At, Info, One#{left := max(0, Left - 1)}).

%% An attempt at a minor collection that moved nothing, as the old generation has no room for it, is none: the full one comes next.
happened(gc_minor_start, At, Info, One) -> One#{open := {minor, At, Info}, tried := false};
happened(gc_major_start, At, Info, One) -> One#{open := {full, At, Info}};
happened(gc_minor_end, At, Info, #{open := {minor, _, Before}} = One) ->
    case maps:with(?MOVES, Before) =:= maps:with(?MOVES, Info) of
        true -> One#{open := none, tried := true};
        false -> collected(minor, At, Info, One)
    end;
happened(gc_major_end, At, Info, #{open := {full, _, _}} = One) -> collected(full, At, Info, One);
happened(_, _, _, One) -> One.

collected(Kind, At, After, #{open := {_, Began, Before}, minors := Minors, settings := Settings, pauses := Pauses} = One) ->
    Reason = reason(Before, Kind, #{tried => maps:get(tried, One), minors => Minors,
                                    fullsweep_after => maps:get(fullsweep_after, Settings, unknown)}),
    Sums = (sums(Kind, Before, After))#{count => 1, time => At - Began},
    One#{open := none, tried := false, minors := minors(Kind, Minors),
         pauses := paused(Kind, At - Began, is_long(Kind, At - Began, Before), summed({Kind, Reason}, Sums, Pauses))}.

%% Since the last full one, once there was one.
minors(full, _) -> 0;
minors(minor, unknown) -> unknown;
minors(minor, Count) -> Count + 1.

summed(Why, Sums, #{why := All} = Pauses) ->
    Pauses#{why := maps:update_with(Why, fun(Before) -> maps:merge_with(fun(_, A, B) -> A + B end, Before, Sums) end, Sums, All)}.

%% young, old: what there was; aged: of that what had outlived a collection; left: what outlived this one, of the generations that it
%% collected. freed: what the old generation lost at least, since no more than all that is left can be of it. The same of binaries.
sums(Kind, #{heap_size := Heap, mbuf_size := Fragments, recent_size := Recent, old_heap_size := Old, bin_vheap_size := Held,
             bin_old_vheap_size := OldHeld, bin_vheap_block_size := Block},
     #{heap_size := HeapAfter, mbuf_size := FragmentsAfter, old_heap_size := OldAfter, bin_vheap_size := HeldAfter,
         bin_old_vheap_size := OldHeldAfter}) ->
    {Left, HeldLeft} = case Kind of
                           minor -> {HeapAfter + FragmentsAfter + OldAfter - Old, HeldAfter + OldHeldAfter - OldHeld};
                           full -> {HeapAfter + FragmentsAfter, HeldAfter}
                       end,
    {Freed, HeldFreed} = case Kind of minor -> {0, 0}; full -> {max(0, Old - Left), max(0, OldHeld - HeldLeft)} end,
    #{young => Heap + Fragments, old => Old, aged => Recent + Old, left => max(0, Left), freed => Freed,
      held => Held, old_held => OldHeld, held_left => max(0, HeldLeft), held_freed => HeldFreed, virtual => Block}.

paused(Kind, Native, IsLong, #{longest := Longest, long := Long, total := Total} = Pauses) ->
    maps:update_with(Kind, fun(Times) -> Times + 1 end,
                     Pauses#{longest := max(Longest, Native), total := Total + Native, long := Long + is(IsLong)}).

%% @doc Whether a collection took long (native time), by what it had to go over.
-spec is_long(minor | full, integer(), gc_info()) -> boolean().
is_long(Kind, Native, #{heap_size := Heap, stack_size := Stack, mbuf_size := Fragments, old_heap_size := Old}) ->
    us(Native) >= ?LONG_US andalso Heap + Stack + Fragments + case Kind of minor -> 0; full -> Old end >= ?LONG_WORDS.

why(Why, Each) ->
    [(maps:map(fun(_, Words) -> erlang:system_info(wordsize) * Words end, maps:without([count, time], Sums)))
         #{kind => Kind, reason => Reason, count => Count, us => untraced_us(Time, Count, Each)}
     || {{Kind, Reason}, #{count := Count, time := Time} = Sums} <- lists:sort(maps:to_list(Why))].

%% @doc What so many traced collections would have taken, in microseconds, if nobody had traced them, which adds as much to each (native).
-spec untraced_us(integer(), non_neg_integer(), Each :: non_neg_integer()) -> non_neg_integer().
untraced_us(Native, Count, Each) -> max(0, us(Native - Count * Each)).

%% @doc What a traced collection takes of a heap that is empty (native time), by the median; 0 where somebody else traces all.
-spec traced_collection() -> non_neg_integer().
traced_collection() ->
    {Helper, Monitor} = spawn_monitor(fun() -> receive collect -> ok = collected_times(?TRIED_COLLECTIONS) end end),
    IsTraced = is_switched(Helper, true, ?TRACE_FLAGS),
    Helper ! collect,
    Times = case IsTraced of true -> durations(Helper, ?TRIED_COLLECTIONS, now_ms() + ?TRIED_MS); false -> [] end,
    exit(Helper, kill),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    ok = without_events(Helper),
    case middle(Times) of
        unknown -> 0;
        Time -> Time
    end.

without_events(Pid) ->
    receive {trace_ts, Pid, _, _, _} -> without_events(Pid)
    after 0 -> ok
    end.

collected_times(0) -> ok;
collected_times(Left) ->
    true = garbage_collect(),
    collected_times(Left - 1).

durations(_, 0, _) -> [];
durations(Pid, Left, Until) ->
    receive
        {trace_ts, Pid, gc_major_start, _, Start} ->
            receive {trace_ts, Pid, gc_major_end, _, End} -> [End - Start | durations(Pid, Left - 1, Until)]
            after max(0, Until - now_ms()) -> []
            end
    after max(0, Until - now_ms()) -> []
    end.

%%% Those that are started while the look lasts, by the process that starts most: how their heaps grow.

%% So many started in the first looks, or there is nothing to be seen; so many that live are enough to tell who starts them. One that
%% starts a process each 6 ms was missed in three looks (30 ms) by one inspection of twenty, where others had the schedulers.
-define(BORN, 3).
-define(FIRST_LOOKS, 10).
-define(NURSERY_LOOKS, 20).
-define(NURSERY_MS, 10).
-define(NEWEST, 100).
%% So many are told apart, and their heaps have grown so often.
-define(CHILDREN, 300).
-define(CHILD_EVENTS, 3000).
-define(GROWN, 3).
%% Less is no large copy.
-define(TAKEN_WORDS, 12_500).

%% The process that has started most of the newest ones that live, if some are started all the time. (Some are those of this look.)
nursery(Own) -> nursery(Own, moment(), [], []).

nursery(Own, Before, Steps, Seen) ->
    wait(?NURSERY_MS),
    {Pids, Step, Now} = started_since(Before, ?NEWEST),
    Born = [One || Pid <- Pids, #{parent := Parent} = One <- [born(Pid)], not lists:member(Parent, Own)] ++ Seen,
    All = [Step | Steps],
    case started(All) of
        _ when length(All) < ?FIRST_LOOKS -> nursery(Own, Now, All, Born);
        too_many -> too_many;
        Started when Started < ?BORN -> none;
        _ when length(All) < ?NURSERY_LOOKS, length(Born) < ?BORN -> nursery(Own, Now, All, Born);
        _ -> most_born(Born)
    end.

most_born([]) -> none;
most_born(Born) ->
    Parents = maps:groups_from_list(fun(#{parent := Parent}) -> Parent end, Born),
    {_, Parent, Children} = lists:max([{length(Children), Parent, Children} || {Parent, Children} <- maps:to_list(Parents)]),
    #{parent => Parent, name => registered_as(Parent),
      labels => lists:uniq([Label || #{label := Label} <- Children]),
      limit => case [Limit || #{limit := Limit} <- Children, Limit > 0] of [] -> 0; Limits -> lists:min(Limits) end}.

born(Pid) ->
    case process_info(Pid, [initial_call, parent, garbage_collection, current_stacktrace]) of
        [{_, Call}, {_, Parent}, {_, Settings}, {_, Stack}] when is_pid(Parent), node(Parent) =:= node() ->
            {_, #{size := Limit}} = lists:keyfind(max_heap_size, 1, Settings),
            #{parent => Parent, label => began_with(Pid, Call, Stack), limit => Limit};
        _ -> ended
    end.

no_children(Parents, Began) -> #{left => ?CHILD_EVENTS, children => #{}, parents => Parents, began => Began}.

%% The parents' own collections, where these are no suspects, are none of them.
child(Pid, Event, At, Info, #{left := Left, children := Children, parents := Parents} = Born) ->
    case is_map_key(ms, Born) orelse lists:member(Pid, Parents) of
        true -> Born;
        false when Left =:= 0 -> unborn(Born);
        false when map_size(Children) < ?CHILDREN; is_map_key(Pid, Children) ->
            Before = maps:get(Pid, Children, #{open => none, first => 0, last => 0, grown => 0, collections => 0, time => 0, left => 0,
                                                    taken => 0}),
            Born#{left := Left - 1, children := Children#{Pid => grows(Event, At, Info, Before)}};
        false -> Born#{left := Left - 1}
    end.

%% No more of them, and how long they were seen.
unborn(#{ms := _} = Born) -> Born;
unborn(#{parents := Parents, began := Began} = Born) ->
    _ = [is_switched(Parent, false, [set_on_spawn]) || Parent <- Parents],
    Born#{ms => max(1, now_ms() - Began)}.

%% The first sizes of a heap and the last are kept, how often it grew, what that took, and the most that was put beside it at once, for
%% which it had no room. (An attempt that moves nothing leaves that there: it is not counted again.) A native function may have made that
%% of what the heap has.
grows(Start, At, #{heap_block_size := Block, heap_size := Heap, old_heap_size := Old, mbuf_size := Fragments},
      #{open := Open, first := First, taken := Taken} = Child)
  when Start =:= gc_minor_start; Start =:= gc_major_start ->
    Child#{open := {At, Block}, first := case First of 0 -> Block; _ -> First end,
           taken := case Open of
                        none when Fragments >= ?TAKEN_WORDS, 2 * (Heap + Old) < Fragments -> max(Taken, Fragments);
                        _ -> Taken
                    end};
grows(_, At, #{heap_block_size := Block, heap_size := Left},
      #{open := {Began, Before}, last := Last, grown := Grown, collections := Count, time := Time, left := All} = Child) ->
    Child#{open := none, last := max(Last, Block), grown := Grown + is(Block > Before), collections := Count + 1,
           time := Time + At - Began, left := All + Left};
grows(_, _, _, Child) -> Child.

%% Of those that have ended, and so grow no more.
births(#{parent := Parent, name := Name, labels := Labels, limit := Limit}, #{children := Children, ms := Ms}, Each) ->
    Ended = [Child || {Pid, Child} <- maps:to_list(Children), not is_process_alive(Pid)],
    Size = erlang:system_info(wordsize),
    Taken = [Size * Words || #{taken := Words} <- maps:values(Children), Words > 0],
    Grown = [Child || #{grown := Times} = Child <- Ended, Times >= ?GROWN],
    Collections = lists:sum([Count || #{collections := Count} <- Grown]),
    #{pid => pid_text(Parent), name => Name, labels => Labels, window_ms => Ms, ended => length(Ended), grown => length(Grown),
      collections => Collections, us => untraced_us(lists:sum([Time || #{time := Time} <- Grown]), Collections, Each),
      left => Size * lists:sum([Left || #{left := Left} <- Grown]), first => Size * lists:sum([First || #{first := First} <- Grown]),
      sizes => lists:sort([Size * Last || #{last := Last} <- Grown]), takes => length(Taken), taken => lists:sum(Taken),
      limit => Size * Limit}.
