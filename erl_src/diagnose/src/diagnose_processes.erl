%% @doc The first look at all processes of this node, in slices, and what is cheap to know beside it. Of a process with
%% a deep mailbox nothing is asked for that goes over all of it: messages, memory, total_heap_size
%% (https://github.com/erlang/otp/issues/6494), garbage_collection_info (25 ms for a million messages on its heap).
%%
%% Runs on the node that is looked at (see diagnose_probe).
-module(diagnose_processes).

-export([first_look/1, sizes/1, memory/1, helper_options/0, carriers/0, at_both/2, layouts/1]).

%% Called where they are.
-ignore_xref([{erlang, processes_iterator, 0}, {erlang, processes_next, 1}]).

-define(SLICE, 1000).
%% A slice takes 5 ms; one that holds a process that does not answer is halved until it is found.
-define(SLICE_MS, 200).
%% More of them in one list (OTP 27 and older) would take 4 MB, and as much again when it is collected.
-define(LISTED, 250_000).
-define(HELPER_WORDS, 625_000).
%% So many of each sort get a second look, if they are beyond its bound.
-define(KEPT, 10).
-define(DEEP, 1000).
-define(BOUNDS, #{depth => ?DEEP, used => 1_000_000, unused => 2_000_000, held => 32_000_000}).
-define(MEASURED, 5).
-define(STATE_MS, 1000).

%% @doc Looks at all processes until the deadline (of the monotonic clock, in milliseconds). The processes that are worth
%% a second look, the first of each sort first, and the most memory that a helper had.
-spec first_look(integer()) -> {diagnose_types:processes(), [pid()], Bytes :: non_neg_integer()}.
first_look(Deadline) ->
    Seen = slices(source(), Deadline, #{looked => 0, skipped => #{}, heap_bytes => 0, used_bytes => 0, bytes => 0, top => #{}}),
    #{top := Top, bytes := Bytes} = Seen,
    Ranked = lists:sort([{Rank, Pid} || List <- maps:values(Top), {Rank, {_, Pid}} <- lists:enumerate(List)]),
    Pids = lists:uniq([Pid || {_, Pid} <- Ranked]),
    {maps:without([top, bytes], Seen), Pids, Bytes}.

%% A list of them all, or an iterator where the VM has one (OTP 28). Too many for a list: those with names.
source() ->
    case {erlang:function_exported(erlang, processes_iterator, 0), erlang:system_info(process_count)} of
        {true, _} -> {iterator, apply(erlang, processes_iterator, [])};
        {false, Count} when Count =< ?LISTED -> {list, processes()};
        {false, Count} -> {named, Count, [Pid || Name <- registered(), Pid <- [whereis(Name)], is_pid(Pid)]}
    end.

slices({named, Count, Pids}, Deadline, Seen) ->
    slices({list, Pids}, Deadline, skip(too_many, Count - length(Pids), Seen));
slices(Source, Deadline, Seen) ->
    case taken(Source, ?SLICE, []) of
        {[], _} -> Seen;
        {Pids, Rest} ->
            case erlang:monotonic_time(millisecond) < Deadline of
                true -> slices(Rest, Deadline, slice(Pids, Deadline, Seen));
                false -> skip(out_of_time, length(Pids) + left(Rest), Seen)
            end
    end.

taken(Source, 0, Pids) -> {Pids, Source};
taken({list, [Pid | Rest]}, Left, Pids) -> taken({list, Rest}, Left - 1, [Pid | Pids]);
taken({list, []} = Empty, _, Pids) -> {Pids, Empty};
taken({iterator, Iterator}, Left, Pids) ->
    case apply(erlang, processes_next, [Iterator]) of
        {Pid, Next} -> taken({iterator, Next}, Left - 1, [Pid | Pids]);
        none -> {Pids, {list, []}}
    end.

left({list, Pids}) -> length(Pids);
left({iterator, _} = Source) ->
    {Pids, Rest} = taken(Source, ?SLICE, []),
    case Pids of [] -> 0; _ -> length(Pids) + left(Rest) end.

skip(_Why, 0, Seen) -> Seen;
skip(Why, Count, #{skipped := Skipped} = Seen) ->
    Seen#{skipped := Skipped#{Why => Count + maps:get(Why, Skipped, 0)}}.

%% The slice is the reason of the exit: dialyzer has to be told that it is meant.
-dialyzer({nowarn_function, slice/3}).
%% In a process of its own, so that its garbage goes with it, and a process that does not answer stops only that.
slice(Pids, Deadline, Seen) ->
    Worker = self(),
    {Helper, Monitor} = spawn_opt(fun() -> exit({slice, of_slice(Pids -- [Worker])}) end,
                                  [link, monitor | helper_options()]),
    receive
        {'DOWN', Monitor, process, _, {slice, Slice}} -> forget(Helper, both(Slice, memory(self()), Seen));
        {'DOWN', Monitor, process, _, _} -> forget(Helper, skip(silent, length(Pids), Seen))
    after ?SLICE_MS ->
            exit(Helper, kill),
            receive {'DOWN', Monitor, process, _, _} -> ok end,
            halves(Pids, Deadline, forget(Helper, Seen))
    end.

%% The end of a helper that is linked comes as a message, too.
forget(Helper, Seen) ->
    receive {'EXIT', Helper, _} -> Seen end.

halves([_], _Deadline, Seen) -> skip(silent, 1, Seen);
halves(Pids, Deadline, Seen) ->
    case erlang:monotonic_time(millisecond) < Deadline of
        true ->
            {Some, Others} = lists:split(length(Pids) div 2, Pids),
            slice(Others, Deadline, slice(Some, Deadline, Seen));
        false -> skip(out_of_time, length(Pids), Seen)
    end.

%% @doc How a helper is started: with little memory, and after those who work.
-spec helper_options() -> [term()].
helper_options() -> [{priority, low}, {max_heap_size, #{size => ?HELPER_WORDS, kill => true, error_logger => false}}].

%% @doc The bytes that a process of this application has.
-spec memory(pid()) -> non_neg_integer().
memory(Pid) ->
    {memory, Bytes} = process_info(Pid, memory),
    Bytes.

of_slice(Pids) ->
    Rows = [row(Pid) || Pid <- Pids],
    Known = [Row || #{} = Row <- Rows],
    #{looked => length(Known), ended => length(Rows) - length(Known), bytes => memory(self()),
      heap_bytes => sum(heap, Known), used_bytes => sum(used, Known),
      top => maps:map(fun(Sort, Bound) -> top([{Value, Pid} || #{Sort := Value, pid := Pid} <- Known, Value >= Bound]) end,
                      ?BOUNDS)}.

sum(Key, Rows) -> lists:sum([maps:get(Key, Row) || Row <- Rows]).

top(Values) -> lists:sublist(lists:reverse(lists:sort(Values)), ?KEPT).

%% What garbage_collection_info says of the heap goes over each message, too: so not of a deep mailbox.
row(Pid) ->
    case process_info(Pid, message_queue_len) of
        undefined -> ended;
        {_, Depth} when Depth >= ?DEEP -> #{pid => Pid, depth => Depth, heap => 0, used => 0, unused => 0, held => 0};
        {_, Depth} ->
            case process_info(Pid, garbage_collection_info) of
                undefined -> ended;
                {_, Info} ->
                    #{heap := Heap, used := Used, held := Held} = sizes(Info),
                    #{pid => Pid, depth => Depth, heap => Heap, used => Used, unused => Heap - Used, held => Held}
            end
    end.

%% @doc Bytes of what process_info(Pid, garbage_collection_info) says: of the heap, of what is used of it, of its old
%% generation, and of the binaries outside it that it holds.
-spec sizes([{atom(), non_neg_integer()}]) -> #{heap | used | old | held => non_neg_integer()}.
sizes(Info) ->
    Bytes = fun(Names) -> erlang:system_info(wordsize) * lists:sum([proplists:get_value(Name, Info, 0) || Name <- Names]) end,
    #{heap => Bytes([heap_block_size, old_heap_block_size, mbuf_size]), used => Bytes([heap_size, old_heap_size, mbuf_size]),
      old => Bytes([old_heap_block_size]), held => Bytes([bin_vheap_size, bin_old_vheap_size])}.

both(#{looked := Looked, ended := Ended, bytes := Bytes, heap_bytes := Heap, used_bytes := Used, top := Top}, Own,
     #{looked := L, bytes := B, heap_bytes := H, used_bytes := U, top := T} = Seen) ->
    Merged = maps:map(fun(Sort, Values) -> top(Values ++ maps:get(Sort, T, [])) end, Top),
    skip(ended, Ended, Seen#{looked := L + Looked, bytes := max(B, Bytes + Own), heap_bytes := H + Heap,
                             used_bytes := U + Used, top := Merged}).

%% @doc What each allocator has in carriers of several blocks, and in blocks therein.
-spec carriers() -> [diagnose_types:carriers()].
carriers() -> [allocator(Name) || Name <- erlang:system_info(alloc_util_allocators)].

%% @doc Of two looks at the carriers, the fuller one: what is only empty for a moment is not unused.
-spec at_both([diagnose_types:carriers()], [diagnose_types:carriers()]) -> [diagnose_types:carriers()].
at_both(Before, After) ->
    Was = maps:from_list([{Name, Both} || #{allocator := Name} = Both <- Before]),
    [fuller(Now, maps:get(Name, Was, Now)) || #{allocator := Name} = Now <- After].

fuller(#{carrier_bytes := C, block_bytes := B} = Now, #{carrier_bytes := Carrier, block_bytes := Blocks}) ->
    Now#{carrier_bytes := min(C, Carrier), block_bytes := max(B, Blocks)}.

allocator(Name) ->
    Instances = case erlang:system_info({allocator_sizes, Name}) of false -> []; List -> List end,
    Multi = [Sizes || {instance, _, Sorts} <- Instances, {Sort, Sizes} <- Sorts, Sort =:= mbcs orelse Sort =:= mbcs_pool],
    #{allocator => Name, carrier_bytes => lists:sum([element(2, S) || Sizes <- Multi, S <- Sizes, element(1, S) =:= carriers_size]),
      block_bytes => lists:sum([element(2, Size) || Sizes <- Multi, {blocks, Blocks} <- Sizes, {_, Kinds} <- Blocks,
                                                    Size <- Kinds, element(1, Size) =:= size])}.

%% @doc Where the list cells of the largest states lie, measured by cons_spacing inside processes that understand
%% system messages and have nothing else to do.
-spec layouts([{pid(), diagnose_types:suspect()}]) -> [{binary(), diagnose_types:layout()}] | unknown.
layouts(Suspects) ->
    Calm = [{Used, Pid, Text} || {Pid, #{used_bytes := Used, pid := Text, depth := 0, idle := true, initial_call := Call}}
                                     <- Suspects, understands_system_messages(Call)],
    case erlang:module_loaded(cons_spacing_nif) of
        true -> [Layout || {_, Pid, Text} <- lists:sublist(lists:reverse(lists:sort(Calm)), ?MEASURED),
                           Layout <- layout(Pid, Text)];
        false -> unknown
    end.

understands_system_messages({Module, init, 1}) ->
    Attributes = try Module:module_info(attributes) catch error:undef -> [] end,
    Behaviours = lists:append([Names || {Name, Names} <- Attributes, Name =:= behaviour orelse Name =:= behavior]),
    lists:member(gen_server, Behaviours) orelse lists:member(gen_statem, Behaviours);
understands_system_messages(_) -> false.

layout(Pid, Text) ->
    try [{Text, maps:with([cells, mean, cache_lines], apply(cons_spacing, of_state, [Pid, ?STATE_MS]))}]
    catch _:_ -> []
    end.
