%% Events of collections are understood, as they are written here and as the VM sends them.
-module(collection_events_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, minor_collection_copies_what_it_keeps_and_promotes/1, refused_minor_collection_is_no_collection/1,
         full_sweep_has_a_reason/1, full_sweep_after_a_minor_collection_is_by_count/1, virtual_heap_is_seen/1,
         counts_are_by_kind_and_reason/1, events_of_a_process_are_kept/1]).

all() ->
    [minor_collection_copies_what_it_keeps_and_promotes, refused_minor_collection_is_no_collection, full_sweep_has_a_reason,
     full_sweep_after_a_minor_collection_is_by_count, virtual_heap_is_seen, counts_are_by_kind_and_reason,
     events_of_a_process_are_kept].

minor_collection_copies_what_it_keeps_and_promotes(_) ->
    ?assertEqual([#{because => heap, full_because => minor, copied => 30 + 12}],
                 collection_events:of_events([{gc_minor_start, sizes(#{heap_size => 90, old_heap_size => 5})},
                                              {gc_minor_end, sizes(#{heap_size => 30, old_heap_size => 17})}])).

%% It begins, finds the old generation full and ends: the full sweep is the collection.
refused_minor_collection_is_no_collection(_) ->
    ?assertEqual([#{because => heap, full_because => old_heap, copied => 40}],
                 collection_events:of_events(refused(#{}, #{heap_size => 40}))).

full_sweep_has_a_reason(_) ->
    [?assertMatch([#{full_because := Because}], collection_events:of_events(refused(Sizes, #{})))
     || {Because, Sizes} <- [{first, #{old_heap_block_size => 0}}, {old_heap, #{bin_old_vheap_size => 999}},
                             {old_virtual_heap, #{bin_old_vheap_size => 1000}}]].

%% The events are the same four, but the minor collection moved something.
full_sweep_after_a_minor_collection_is_by_count(_) ->
    Before = sizes(#{}),
    After = sizes(#{heap_size => 20, recent_size => 20}),
    ?assertMatch([#{full_because := minor, copied := 20}, #{full_because := count, copied := 15}],
                 collection_events:of_events([{gc_minor_start, Before}, {gc_minor_end, After},
                                              {gc_major_start, After}, {gc_major_end, sizes(#{heap_size => 15})}])).

virtual_heap_is_seen(_) ->
    Of = fun(Size) ->
                 collection_events:of_events([{gc_major_start, sizes(#{bin_vheap_size => Size})}, {gc_major_end, sizes(#{})}])
         end,
    ?assertMatch([#{because := heap}], Of(1000)),
    ?assertMatch([#{because := virtual_heap}], Of(1001)).

counts_are_by_kind_and_reason(_) ->
    Collection = #{because => heap, full_because => minor, copied => 1},
    Full = [Collection#{full_because := Because} || Because <- [first, old_heap, old_heap, old_virtual_heap, count]],
    ?assertEqual(#{minor => 2, full => 5, full_first => 1, full_old_heap => 2, full_old_virtual_heap => 1, full_by_count => 1,
                   by_virtual_heap => 1},
                 collection_events:counts([Collection, Collection#{because := virtual_heap} | Full])).

events_of_a_process_are_kept(_) ->
    Tracer = collection_events:start_link(),
    Process = spawn_link(fun collected/0),
    ok = collection_events:trace(Tracer, Process),
    Process ! self(),
    receive collected -> ok end,
    ?assertMatch([#{full_because := count}], collection_events:collections(Tracer)),
    ok = term_owner:stop(Process).

collected() ->
    receive Client when is_pid(Client) -> true = garbage_collect(), Client ! collected end,
    collected().

%% The events of a full sweep that a minor collection asks for.
refused(Before, After) ->
    [{gc_minor_start, sizes(Before)}, {gc_minor_end, sizes(Before)}, {gc_major_start, sizes(Before)}, {gc_major_end, sizes(After)}].

sizes(Sizes) ->
    maps:merge(#{heap_size => 90, recent_size => 50, mbuf_size => 0, old_heap_size => 0, old_heap_block_size => 233,
                 bin_vheap_size => 0, bin_vheap_block_size => 1000, bin_old_vheap_size => 0, bin_old_vheap_block_size => 1000}, Sizes).
