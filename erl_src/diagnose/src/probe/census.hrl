%%% The look at all processes, and what is known of each without a signal: the VM reads these items under a lock where a process
%%% does not run and nothing waits to be handled. Others are asked by a signal, which they answer when they run next.
%%% Of a process with a deep mailbox nothing is asked for that goes over all of it: messages, memory, total_heap_size
%%% (https://github.com/erlang/otp/issues/6494), garbage_collection_info (25 ms for a million messages on its heap).

-define(ROW, [message_queue_len, status, reductions, initial_call, parent]).
%% So many processes are asked by one helper, one after the other, and so many helpers work at a time.
-define(SLICE, 1000).
-define(SLICES, 2).
%% A slice takes 5 ms. Where one process does not answer in this time, each has a helper of its own until so many in a row
%% answered: a process that is ready to run answers when its turn has come, and all of them at the same time.
-define(PROMPT_MS, 200).
-define(SLICE_MS, 500).
-define(PATIENT_HELPERS, 500).
-define(PROMPT_AGAIN, 200).
-define(TICK_MS, 20).
%% More of them in one list (OTP 27 and older) would take 4 MB, and as much again when it is collected.
-define(LISTED, 250_000).
-define(NAMED, 10_000).
%% Who has done so much since its start may work time and again, though it rests when all are looked at.
-define(WORKED, 10_000).
-define(BOUNDS, #{depth => ?DEEP, behind => 1, used => 1_000_000, unused => ?UNUSED_BYTES, held => ?HELD_BYTES,
                  busy => 0, suspended => 0, work => ?WORKED}).
%% So many kinds of processes are told apart; so many members of each are kept, to name it and to look at them.
-define(GROUPS, 500).
-define(MEMBERS, 8).
%% What is smaller is not looked at for what it could give back: no heap is smaller than 233 words.
-define(SMALL_HEAP, 2000).
-define(SMALL_HELD, 10_000).
%% Binaries are only asked for where there can be few.
-define(COUNTED_BYTES, 800_000).
%% A collection of more would stop its process for longer than 20 ms, if all of it lives.
-define(COLLECTED_BYTES, 6_000_000).

%% @doc Looks at all processes until the deadline (of the monotonic clock, in milliseconds), those with a name first: sums, the
%% first of each sort, the kinds of processes, those that did not answer, and the most memory that the helpers had.
-spec first_look(#{pid() => atom()}, low | normal | high, integer()) -> census().
first_look(Names, Priority, Deadline) ->
    Seen = #{looked => 0, skipped => #{}, heap_bytes => 0, used_bytes => 0, held_bytes => 0, messages => 0, bytes => 0,
             top => #{}, groups => #{}},
    Named = maps:keys(Names) -- [self()],
    {Source, Before} = source(Named, Seen),
    Ask = #{names => Names, priority => Priority, deadline => Deadline, helpers => #{}, prompt => ?PROMPT_AGAIN, late => [],
            own => #{self() => true}, named => maps:from_keys(Named, true)},
    asked({Named, Source}, Ask, Before).

%% A list of them all, or an iterator where the VM has one (OTP 28). Too many for a list: those with names.
source(Named, Seen) ->
    case {erlang:function_exported(erlang, processes_iterator, 0), erlang:system_info(process_count)} of
        {true, _} -> {{iterator, apply(erlang, processes_iterator, [])}, Seen};
        {false, Count} when Count =< ?LISTED -> {{list, processes()}, Seen};
        {false, Count} -> {{list, []}, skip(too_many, max(0, Count - length(Named)), Seen)}
    end.

%% Helpers are started while there may be more of them, then one is waited for.
asked(Source, #{helpers := Helpers, deadline := Deadline} = Ask, Seen) ->
    case now_ms() < Deadline of
        true ->
            case more(Source, Ask) of
                {[], _} when map_size(Helpers) =:= 0 -> census(Ask, Seen);
                {[], Rest} -> heard(Rest, Ask, Seen);
                {Pids, Rest} -> asked(Rest, started(Pids, Ask), Seen)
            end;
        false -> out_of_time(Source, Ask, Seen)
    end.

more(Source, #{helpers := Helpers, prompt := Prompt} = Ask) ->
    {Size, Most} = case Prompt >= ?PROMPT_AGAIN of
                       true -> {?SLICE, ?SLICES};
                       false -> {1, ?PATIENT_HELPERS}
                   end,
    case map_size(Helpers) < Most of
        true -> taken(Source, Size, Ask, []);
        false -> {[], Source}
    end.

taken(Source, 0, _, Pids) -> {lists:reverse(Pids), Source};
taken({[Pid | Named], Source}, Left, Ask, Pids) -> taken({Named, Source}, Left - 1, Ask, [Pid | Pids]);
taken({[], Source}, Left, #{named := Named, own := Own} = Ask, Pids) ->
    case next(Source) of
        {Pid, Rest} when is_map_key(Pid, Named); is_map_key(Pid, Own) -> taken({[], Rest}, Left, Ask, Pids);
        {Pid, Rest} -> taken({[], Rest}, Left - 1, Ask, [Pid | Pids]);
        none -> {lists:reverse(Pids), {[], {list, []}}}
    end.

next({list, [Pid | Rest]}) -> {Pid, {list, Rest}};
next({list, []}) -> none;
next({iterator, Iterator}) ->
    case apply(erlang, processes_next, [Iterator]) of
        {Pid, Next} -> {Pid, {iterator, Next}};
        none -> none
    end.

left({Named, {list, Pids}}) -> length(Named) + length(Pids);
left({Named, {iterator, _} = Source}) -> length(Named) + counted(next(Source), 0).

counted({_, Source}, Count) -> counted(next(Source), Count + 1);
counted(none, Count) -> Count.

skip(_Why, 0, Seen) -> Seen;
skip(Why, Count, #{skipped := Skipped} = Seen) ->
    Seen#{skipped := Skipped#{Why => Count + maps:get(Why, Skipped, 0)}}.

%% A helper tells by a counter at which process it is. Its garbage goes with it, and a process that does not answer stops only it.
-dialyzer({nowarn_function, started/2}). % what it saw is its exit
started(Pids, #{helpers := Helpers, own := Own, names := Names, priority := Priority} = Ask) ->
    At = atomics:new(1, []),
    Named = maps:with(Pids, Names),
    {Helper, Monitor} = helper(fun() -> exit({slice, of_slice(Pids, Named, At)}) end, [{priority, Priority}]),
    Ask#{helpers := Helpers#{Monitor => #{pid => Helper, pids => Pids, counter => At, at => 0, since => now_ms(), began => now_ms()}},
         own := Own#{Helper => true}}.

heard(Source, #{helpers := Helpers} = Ask, Seen) ->
    receive
        {'DOWN', Monitor, process, _, Reason} when is_map_key(Monitor, Helpers) ->
            {#{pid := Helper, pids := Pids, began := Began}, Others} = maps:take(Monitor, Helpers),
            ok = forget_exit(Helper),
            Now = (prompted(length(Pids), now_ms() - Began, Ask))#{helpers := Others, own := maps:remove(Helper, maps:get(own, Ask))},
            case Reason of
                {slice, Slice} -> asked(Source, Now, both(Slice, Seen));
                _ -> asked(Source, Now, skip(silent, length(Pids), Seen))
            end
    after ?TICK_MS ->
            {NowSource, Now} = maps:fold(fun looked_after/3, {Source, Ask}, Helpers),
            asked(NowSource, Now, Seen)
    end.

%% The end of a helper that is linked comes as a message, too.
forget_exit(Helper) -> receive {'EXIT', Helper, _} -> ok end.

prompted(1, Ms, #{prompt := Prompt} = Ask) when Ms < ?PROMPT_MS -> Ask#{prompt := Prompt + 1};
prompted(_, _, Ask) -> Ask.

%% One that asks a slice and is held up, or gets on slowly, gives the slice back: the one who does not answer comes first, with a helper
%% of its own.
looked_after(Monitor, #{pid := Helper, pids := Pids, counter := Counter, at := At, since := Since, began := Began} = One,
             {{Named, Rest} = Source, #{helpers := Helpers, own := Own} = Ask}) ->
    Now = now_ms(),
    Asked = atomics:get(Counter, 1),
    IsHeldUp = Asked =:= At andalso Now - Since >= ?PROMPT_MS orelse Now - Began >= ?SLICE_MS,
    case Pids of
        [_] when IsHeldUp -> {Source, Ask#{prompt := 0}};
        [_, _ | _] when IsHeldUp ->
            exit(Helper, kill),
            receive {'DOWN', Monitor, process, _, _} -> forget_exit(Helper) end,
            {Before, Others} = lists:split(max(0, Asked - 1), Pids),
            {{[hd(Others) | Before ++ tl(Others)] ++ Named, Rest},
             Ask#{prompt := 0, helpers := maps:remove(Monitor, Helpers), own := maps:remove(Helper, Own)}};
        _ when Asked =:= At -> {Source, Ask};
        _ -> {Source, Ask#{helpers := Helpers#{Monitor := One#{at := Asked, since := Now}}}}
    end.

%% What has not answered now has had its time; so long.
out_of_time(Source, #{helpers := Helpers} = Ask, Seen) ->
    Late = [{Pid, now_ms() - Began} || #{pids := [Pid], began := Began} <- maps:values(Helpers), now_ms() - Began >= ?PROMPT_MS],
    NotAsked = lists:sum([length(Pids) || #{pids := Pids} <- maps:values(Helpers)]) - length(Late),
    _ = [begin
             exit(Helper, kill),
             receive {'DOWN', Monitor, process, _, _} -> forget_exit(Helper) end
         end || {Monitor, #{pid := Helper}} <- maps:to_list(Helpers)],
    census(Ask#{late := Late}, skip(silent, length(Late), skip(out_of_time, NotAsked + left(Source), Seen))).

census(#{late := Late}, Seen) -> Seen#{late => Late}.

%% @doc How a helper is started: with little memory.
-spec helper_options() -> [term()].
helper_options() -> [{max_heap_size, #{size => ?HELPER_WORDS, kill => true, error_logger => false}}].

%% @doc The bytes that a process of this application has.
-spec memory(pid()) -> non_neg_integer().
memory(Pid) ->
    {memory, Bytes} = process_info(Pid, memory),
    Bytes.

of_slice(Pids, Names, At) ->
    Nothing = #{looked => 0, ended => 0, heap => 0, used => 0, held => 0, messages => 0, top => #{}, groups => #{}},
    Slice = lists:foldl(fun(Pid, Sum) -> asks(Pid, Names, At, Sum) end, Nothing, Pids),
    Slice#{bytes => memory(self())}.

asks(Pid, Names, At, #{ended := Ended} = Sum) ->
    ok = atomics:add(At, 1, 1),
    case row(Pid) of
        ended -> Sum#{ended := Ended + 1};
        Row -> counts(Row, key(Row, Names), Sum)
    end.

counts(#{heap := Heap, used := Used, held := Held, depth := Depth} = Row, Key,
       #{looked := Looked, heap := H, used := U, held := B, messages := Messages, top := Top, groups := Groups} = Sum) ->
    Sum#{looked := Looked + 1, heap := H + Heap, used := U + Used, held := B + Held, messages := Messages + Depth,
         top := maps:fold(fun(Sort, Bound, T) -> placed(Sort, Bound, Row, T) end, Top, ?BOUNDS),
         groups := maps:update_with(Key, fun(Group) -> joined(Group, group(Row)) end, group(Row), Groups)}.

%% What garbage_collection_info says of the heap goes over each message, too: so not of a deep mailbox.
row(Pid) ->
    case process_info(Pid, ?ROW) of
        undefined -> ended;
        [{_, Depth}, {_, Status}, {_, Reductions}, {_, Call}, {_, Parent}] ->
            sized(#{pid => Pid, depth => Depth, status => Status, reductions => Reductions, call => Call, parent => Parent, at => now_ms()})
    end.

sized(#{depth := Depth} = Row) when Depth >= ?DEEP -> Row#{heap => 0, used => 0, kept => 0, unused => 0, held => 0, packed => false};
sized(#{pid := Pid} = Row) ->
    case process_info(Pid, garbage_collection_info) of
        undefined -> ended;
        {_, Info} ->
            #{heap := Heap, used := Used, kept := Kept, held := Held, old := Old, recent := Recent} = Sizes = sizes(Info),
            Row#{heap => Heap, used => Used, kept => Kept, unused => Heap - Used, held => Held,
                 packed => is_packed(Sizes) orelse is_swept(Used, Old, Recent)}
    end.

%% @doc Whether nearly all that it has was alive at its last collection, which was a full one: only such a collection leaves nothing
%% old, and all that survived it among what was there before.
-spec is_swept(Used :: non_neg_integer(), Old :: non_neg_integer(), Recent :: non_neg_integer()) -> boolean().
is_swept(Used, 0, Recent) -> 20 * (Used - Recent) =< Used;
is_swept(_, _, _) -> false.

%% @doc Bytes of what process_info(Pid, garbage_collection_info) says: of the heap, of what is used of it, of its old
%% generation, of the young that survived the last collection (kept: with the old that did), of what lies beside the heap until the next
%% one, of the stack, which lies in the heap, and of the binaries outside it that it holds.
-spec sizes([{atom(), non_neg_integer()}]) -> #{heap | used | kept | old | recent | fragments | stack | held := non_neg_integer()}.
sizes(Info) ->
    [Block, OldBlock, Fragments, Used, OldUsed, Recent, Stack, Held, OldHeld] =
        [bytes(lists:keyfind(Name, 1, Info))
         || Name <- [heap_block_size, old_heap_block_size, mbuf_size, heap_size, old_heap_size, recent_size, stack_size,
                     bin_vheap_size, bin_old_vheap_size]],
    #{heap => Block + OldBlock + Fragments,
      used => Used + OldUsed + Fragments + Stack,
      kept => OldUsed + Recent,
      old => OldBlock,
      recent => Recent,
      fragments => Fragments,
      stack => Stack,
      held => Held + OldHeld}.

bytes({_, Words}) -> erlang:system_info(wordsize) * Words;
bytes(false) -> 0.

%% @doc What it is ranked by among those of a sort; no number where it is none of them.
-spec value(atom(), row()) -> non_neg_integer() | atom().
value(busy, #{status := Status, reductions := Reductions}) when Status =:= running; Status =:= runnable; Status =:= garbage_collecting ->
    Reductions;
value(suspended, #{status := suspended, depth := Depth}) -> Depth;
value(behind, #{depth := Depth}) when Depth >= ?BEHIND, Depth < ?DEEP -> Depth;
%% Few messages, and it does not take them.
value(behind, #{depth := Depth, status := waiting}) when Depth < ?BEHIND -> Depth;
value(behind, #{}) -> none;
value(work, #{reductions := Reductions}) -> Reductions;
value(Sort, #{} = Row) -> maps:get(Sort, Row, none).

%% Most of many are none of the first.
placed(Sort, Bound, Row, Top) ->
    Ranked = maps:get(Sort, Top, []),
    case value(Sort, Row) of
        Value when is_integer(Value), Value >= Bound ->
            case length(Ranked) =:= ?KEPT andalso element(1, lists:last(Ranked)) >= Value of
                true -> Top;
                false -> Top#{Sort => first([{Value, Row} | Ranked])}
            end;
        _ -> Top
    end.

first(Ranked) -> lists:sublist(lists:reverse(lists:keysort(1, Ranked)), ?KEPT).

%% Processes alike have the same function at their beginning; where that is one of many uses, the same parent, too, and a name
%% that differs in its number only. Those whose heaps differ by more than a factor of four are apart, so that a sample of some tells of all.
key(#{pid := Pid, call := {Module, _, _} = Call, parent := Parent} = Row, Names) when Module =:= proc_lib; Module =:= erlang ->
    Stem = case Names of
               #{Pid := Name} -> lists:filter(fun(Char) -> Char < $0 orelse Char > $9 end, atom_to_list(Name));
               #{} -> none
           end,
    {{Call, size_class(Row)}, {Parent, Stem}};
key(#{call := Call} = Row, _Names) -> {{Call, size_class(Row)}, any}.

size_class(#{depth := Depth}) when Depth >= ?DEEP -> deep;
size_class(#{heap := Heap}) -> size_class(Heap, ?SMALL_HEAP).

size_class(Heap, Bound) when Heap < Bound -> Bound;
size_class(Heap, Bound) -> size_class(Heap, 4 * Bound).

%% @doc What one process adds to its kind. Vast: too large to be collected to see what lives, and not collected by hibernation, or in
%% full by itself, just now. Laden: with binaries, which may be too many to be listed.
-spec group(row()) -> group().
group(#{pid := Pid, depth := Depth, status := Status, reductions := Reductions, at := At, heap := Heap, used := Used, held := Held,
        packed := Packed} = Row) ->
    Deep = is(Depth >= ?DEEP),
    Behind = is(Depth >= ?BEHIND andalso Depth < ?DEEP),
    Waits = Status =:= waiting andalso Deep =:= 0,
    Large = is(Waits andalso Heap >= ?SMALL_HEAP andalso Used =< ?COLLECTED_BYTES),
    Holds = is(Waits andalso Held >= ?SMALL_HELD andalso Used =< ?COLLECTED_BYTES),
    Laden = is(Holds =:= 0 andalso Used > ?COUNTED_BYTES andalso Held >= ?SMALL_HELD),
    Vast = is(Waits andalso not Packed andalso Used > ?COLLECTED_BYTES),
    One = [{erlang:phash2(Pid), Pid, Reductions, At}],
    #{vast => Vast, vast_heap => Vast * Heap, vast_held => Vast * Held, vasts => [Any || Vast =:= 1, Any <- One],
      count => 1, heap => Heap, used => Used, large => Large, large_heap => Large * Heap,
      holding => Holds, held => Holds * Held, holding_heap => Holds * Heap, laden => Laden, laden_held => Laden * Held,
      deep => Deep, messages => Deep * Depth, deepest => (Deep + Behind) * Depth,
      behind => Behind, behind_messages => Behind * Depth,
      ready => is(value(busy, Row) =/= none), suspended => is(Status =:= suspended), some => One,
      larges => [Any || Large =:= 1, Any <- One], holders => [Any || Holds =:= 1, Any <- One]}.

is(true) -> 1;
is(false) -> 0.

%% @doc Two groups of a kind together.
-spec joined(group(), group()) -> group().
joined(A, B) ->
    maps:map(fun(deepest, Most) -> max(Most, maps:get(deepest, B));
                (refers, Some) -> Some;
                (Sort, Members) when Sort =:= some; Sort =:= larges; Sort =:= holders; Sort =:= vasts -> drawn(Members, maps:get(Sort, B));
                (Sum, Value) -> Value + maps:get(Sum, B)
             end, A).

%% Those with the least hash are drawn from all by chance, in whatever order they come.
drawn(Members, []) -> Members;
drawn([], Members) -> Members;
drawn(Members, [{Hash, _, _, _}] = More) ->
    case length(Members) =:= ?MEMBERS andalso element(1, lists:last(Members)) =< Hash of
        true -> Members;
        false -> lists:sublist(lists:keysort(1, Members ++ More), ?MEMBERS)
    end;
drawn(Members, More) -> lists:sublist(lists:keysort(1, Members ++ More), ?MEMBERS).

both(#{looked := Looked, ended := Ended, bytes := Bytes, heap := Heap, used := Used, held := Held, messages := Messages,
       top := Top, groups := Groups},
     #{looked := L, bytes := B, heap_bytes := H, used_bytes := U, held_bytes := V, messages := M, top := T, groups := G} = Seen) ->
    Merged = maps:merge_with(fun(_, Some, Others) -> first(Some ++ Others) end, Top, T),
    skip(ended, Ended, Seen#{looked := L + Looked, bytes := max(B, Bytes + memory(self())), heap_bytes := H + Heap,
                             used_bytes := U + Used, held_bytes := V + Held, messages := M + Messages, top := Merged,
                             groups := bounded(maps:merge_with(fun(_, One, Other) -> joined(One, Other) end, G, Groups))}).

%% Where there are too many kinds, those with few processes are counted by their beginning alone, and then all of them.
bounded(Groups) when map_size(Groups) =< ?GROUPS -> Groups;
bounded(Groups) ->
    case folded(Groups, ?MEMBERS) of
        Fewer when map_size(Fewer) =< ?GROUPS div 2 -> Fewer;
        Fewer -> folded(Fewer, infinity)
    end.

%% An atom is more than any number.
folded(Groups, Least) ->
    maps:fold(fun({Call, Parent}, #{count := Count} = Group, All) ->
                      Key = {Call, case Count < Least of true -> any; false -> Parent end},
                      maps:update_with(Key, fun(Others) -> joined(Others, Group) end, Group, All)
              end, #{}, Groups).
