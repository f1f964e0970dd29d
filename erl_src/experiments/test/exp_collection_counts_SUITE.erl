%% The counts are the same in each run, and a setting changes them as it should.
-module(exp_collection_counts_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_metric_has_a_unit_and_a_value/1, counts_come_again/1, reasons_add_up/1,
         all_sweeps_are_full_without_minor_ones/1, larger_virtual_heap_collects_a_queue_less/1,
         slices_of_a_packet_are_held_once/1, binaries_on_the_heap_are_no_reason/1, larger_heap_collects_a_parser_less/1,
         hibernations_are_counted/1, largest_collection_of_a_cache_grows/1, cache_grows_and_a_session_does_not/1,
         wrong_sum_is_noticed/1]).

all() ->
    [every_metric_has_a_unit_and_a_value, counts_come_again, reasons_add_up, all_sweeps_are_full_without_minor_ones,
     larger_virtual_heap_collects_a_queue_less, slices_of_a_packet_are_held_once, binaries_on_the_heap_are_no_reason,
     larger_heap_collects_a_parser_less, hibernations_are_counted, largest_collection_of_a_cache_grows,
     cache_grows_and_a_session_does_not, wrong_sum_is_noticed].

every_metric_has_a_unit_and_a_value(_) ->
    #{metrics := Metrics, exact := true} = exp_collection_counts:info(),
    #{samples := Samples} = ertslab_worker:run(exp_collection_counts, params(session, #{})),
    ?assertEqual([{Name, true} || #{name := Name, unit := _} <- Metrics], [{Name, Value >= 0} || {Name, [Value]} <- Samples]),
    ?assertEqual(length(Metrics), length(Samples)).

counts_come_again(_) ->
    [?assertEqual({Process, counts(Process, #{})}, {Process, counts(Process, #{})}) || Process <- collection_processes:names()].

reasons_add_up(_) ->
    [begin
         #{full := Full, minor := Minor, full_first := First, full_old_heap := Heap, full_old_virtual_heap := Virtual,
           full_by_count := Count, by_virtual_heap := Pressure} = counts(Process, #{fullsweep_after => 3}),
         ?assertEqual({Process, Full}, {Process, First + Heap + Virtual + Count}),
         ?assert(Pressure =< Full + Minor),
         ?assertMatch({Process, #{full_by_count := 0}}, {Process, counts(Process, #{})})
     end || Process <- collection_processes:names()].

all_sweeps_are_full_without_minor_ones(_) ->
    ?assertMatch(#{minor := Minor} when Minor > 0, counts(writer, #{})),
    ?assertMatch(#{minor := 0, full := Full, full_by_count := Full} when Full > 0, counts(writer, #{fullsweep_after => 0})).

larger_virtual_heap_collects_a_queue_less(_) ->
    #{by_virtual_heap := Stock} = counts(queue_64k, #{}),
    #{by_virtual_heap := Large} = counts(queue_64k, #{min_bin_vheap_size => 4_000_000}),
    ?assert(Large < Stock, {Large, Stock}).

%% Whatever the VM charges for a slice, the packet is there once.
slices_of_a_packet_are_held_once(_) ->
    Messages = collection_processes:batch(queue_slices, 1),
    Packet = lists:sum([byte_size(Message) || Message <- Messages]),
    [?assertEqual(Packet, binary:referenced_byte_size(Message)) || Message <- Messages],
    #{bytes_peak := Slices} = counts(queue_slices, #{}),
    #{bytes_peak := Whole} = counts(queue_1k, #{}),
    ?assert(Slices < Whole, {Slices, Whole}).

binaries_on_the_heap_are_no_reason(_) ->
    ?assertMatch(#{by_virtual_heap := 0}, counts(queue_64, #{})),
    ?assertMatch(#{by_virtual_heap := N} when N > 0, counts(queue_1k, #{})).

larger_heap_collects_a_parser_less(_) ->
    #{minor := Minor, full := Full, bytes_peak := Bytes} = counts(parser, #{}),
    #{minor := LargeMinor, full := LargeFull, bytes_peak := LargeBytes} = counts(parser, #{min_heap_size => 1_000_000}),
    ?assert(LargeMinor + LargeFull < Minor + Full, {LargeMinor, LargeFull, Minor, Full}),
    ?assert(LargeBytes > Bytes).

hibernations_are_counted(_) ->
    #{hibernations := 0, words_copied := Stock} = counts(session, #{}),
    #{hibernations := Each, words_copied := Copied} = counts(session, #{hibernate_after => 2}),
    ?assertEqual(batches() div 2, Each),
    ?assert(Copied > Stock, {Copied, Stock}).

largest_collection_of_a_cache_grows(_) ->
    #{words_at_once := Few} = counts(cache, #{batches => 20}),
    #{words_at_once := Many, words_copied := Each} = counts(cache, #{batches => 100}),
    ?assert(Many > Few, {Many, Few}),
    ?assert(Many < Each * 100 * collection_processes:batch_size(cache), {Many, Each}).

cache_grows_and_a_session_does_not(_) ->
    Bytes = fun(Process, Batches) -> maps:get(bytes_peak, counts(Process, #{batches => Batches})) end,
    ?assert(Bytes(cache, 100) > 2 * Bytes(cache, 20)),
    ?assert(Bytes(session, 200) < 2 * Bytes(session, 100)).

wrong_sum_is_noticed(_) ->
    ?assertMatch({wrong, #{expected := 3, got := 2}}, exp_collection_counts:verify(minor, 2, #{expected => 3})).

counts(Process, Settings) ->
    {Counts, _} = collection_pass:counts(collection_pass:work(params(Process, Settings))),
    Counts.

params(Process, Settings) ->
    maps:merge(#{process => Process, batches => batches(), fullsweep_after => -1, min_heap_size => 0, min_bin_vheap_size => 0,
                 message_queue_data => stock, hibernate_after => 0}, Settings).

batches() -> 40.
