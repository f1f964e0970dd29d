%% @doc The collections of processes, as the VM's traces show them: kind, reason, and amount copied.
-module(collection_events).

-export([start_link/0, trace/2, collections/1, of_events/1, counts/1]).
-export_type([event/0, collection/0]).

-type event() :: {What :: atom(), Sizes :: #{atom() => non_neg_integer()}}.
%% `because': what ended the time until this collection. A virtual heap is the bytes of binaries that a heap refers to.
%% `full_because': why a collection was a full sweep.
-type collection() :: #{because := heap | virtual_heap,
                        full_because := minor | first | old_heap | old_virtual_heap | count, copied := non_neg_integer()}.

%% @doc Starts a process that keeps the events of others.
-spec start_link() -> pid().
start_link() -> spawn_link(fun() -> keep([]) end).

%% @doc Traces the collections of a process, and sends their events to the keeper.
-spec trace(pid(), pid()) -> ok.
trace(Tracer, Process) ->
    1 = erlang:trace(Process, true, [garbage_collection, {tracer, Tracer}]),
    ok.

%% @doc The collections until now. Ends the process that keeps the events.
-spec collections(pid()) -> [collection()].
collections(Tracer) ->
    Delivered = erlang:trace_delivered(all),
    receive {trace_delivered, all, Delivered} -> ok end,
    of_events(term_owner:ask(Tracer, events)).

keep(Events) ->
    receive
        {trace, _, What, Sizes} -> keep([{What, maps:from_list(Sizes)} | Events]);
        {Client, events} ->
            Client ! {self(), lists:reverse(Events)},
            ok
    end.

%% @doc Derives the collections from events. The events of each process are consecutive. A minor collection that
%% finds the old generation full moves nothing, and a full sweep follows at once.
-spec of_events([event()]) -> [collection()].
of_events([{gc_minor_start, Before}, {gc_minor_end, Same}, {gc_major_start, Begun}, {gc_major_end, After} | Events]) ->
    case untouched(Before, Same) of
        true -> [full(refused(Begun), Before, After) | of_events(Events)];
        false -> [minor(Before, Same) | of_events([{gc_major_start, Begun}, {gc_major_end, After} | Events])]
    end;
of_events([{gc_minor_start, Before}, {gc_minor_end, After} | Events]) -> [minor(Before, After) | of_events(Events)];
of_events([{gc_major_start, Before}, {gc_major_end, After} | Events]) -> [full(count, Before, After) | of_events(Events)];
of_events([]) -> [].

untouched(Before, After) ->
    Keys = [heap_size, recent_size, old_heap_size, bin_vheap_size],
    maps:with(Keys, Before) =:= maps:with(Keys, After).

%% Without an old heap, the old generation is empty.
refused(#{old_heap_block_size := 0}) -> first;
refused(#{bin_old_vheap_size := Size, bin_old_vheap_block_size := Limit}) when Size >= Limit -> old_virtual_heap;
refused(_) -> old_heap.

minor(#{old_heap_size := Old} = Before, #{heap_size := Young, old_heap_size := Promoted}) ->
    #{because => because(Before), full_because => minor, copied => Young + Promoted - Old}.

full(Because, Before, #{heap_size := Copied}) -> #{because => because(Before), full_because => Because, copied => Copied}.

because(#{bin_vheap_size := Size, bin_vheap_block_size := Limit}) when Size > Limit -> virtual_heap;
because(_) -> heap.

%% @doc The number of collections by kind and by reason.
-spec counts([collection()]) -> #{atom() => non_neg_integer()}.
counts(Collections) ->
    Full = [Because || #{full_because := Because} <- Collections, Because =/= minor],
    Reasons = maps:from_list([{full_name(Because), occurrences(Because, Full)}
                              || Because <- [first, old_heap, old_virtual_heap, count]]),
    Reasons#{minor => length(Collections) - length(Full), full => length(Full),
             by_virtual_heap => length([virtual || #{because := virtual_heap} <- Collections])}.

full_name(first) -> full_first;
full_name(old_heap) -> full_old_heap;
full_name(old_virtual_heap) -> full_old_virtual_heap;
full_name(count) -> full_by_count.

occurrences(Value, Values) -> length([V || V <- Values, V =:= Value]).
