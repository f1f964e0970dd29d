%% What kind of work a sampled stack is.
-module(ertslab_time_kinds_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, code_of_the_jit_is_erlangs/1, the_innermost_known_function_decides/1, the_kernel_counts_for_why_it_was_entered/1,
         each_sample_counts_once/1]).

all() ->
    [code_of_the_jit_is_erlangs, the_innermost_known_function_decides, the_kernel_counts_for_why_it_was_entered, each_sample_counts_once].

kind(Frames) ->
    [{Kind, 1}] = maps:to_list(ertslab_time_kinds:samples(#{[~"erts_sched" | Frames] => 1})),
    Kind.

code_of_the_jit_is_erlangs(_) ->
    ?assertEqual(~"Erlang code", kind([~"process_main", ~"$lists:foldl/3"])),
    ?assertEqual(~"Erlang code", kind([~"$lists:foldl/3", ~"$global::call_light_bif_shared"])),
    %% What Erlang calls, and is not known, is not its code.
    ?assertEqual(~"other functions in C", kind([~"erts_garbage_collect", ~"$lists:foldl/3", ~"abs_1"])).

the_innermost_known_function_decides(_) ->
    Collecting = [~"$lists:foldl/3", ~"erts_garbage_collect_nobump", ~"garbage_collect", ~"do_minor"],
    ?assertEqual(~"collections", kind(Collecting)),
    ?assertEqual(~"collections", kind(Collecting ++ [~"__memmove_avx_unaligned_erms"])),
    ?assertEqual(~"allocators", kind(Collecting ++ [~"erts_alcu_alloc_thr_pref", ~"rbt_insert"])),
    ?assertEqual(~"copying and sizing of terms", kind([~"ets_lookup_2", ~"db_get_hash", ~"copy_shallow_x"])),
    ?assertEqual(~"ETS and persistent_term", kind([~"ets_lookup_2", ~"db_get_hash.constprop.0"])),
    ?assertEqual(~"other functions in C", kind([~"[unknown]"])).

the_kernel_counts_for_why_it_was_entered(_) ->
    Entry = [~"erts_schedule", ~"writev", ~"entry_SYSCALL_64_after_hwframe", ~"do_syscall_64"],
    ?assertEqual(~"system call writev", kind(Entry ++ [~"__x64_sys_writev", ~"tcp_sendmsg", ~"match_something"])),
    ?assertEqual(~"system call writev", kind(Entry ++ [~"do_writev", ~"tcp_sendmsg"])),
    ?assertEqual(~"system call (entry and return)", kind(Entry)),
    ?assertEqual(~"page faults", kind([~"do_minor", ~"asm_exc_page_fault", ~"clear_page_rep"])),
    ?assertEqual(~"interrupts", kind([~"$lists:foldl/3", ~"asm_sysvec_apic_timer_interrupt", ~"handle_softirqs"])).

each_sample_counts_once(_) ->
    ?assertEqual(#{~"collections" => 5, ~"Erlang code" => 4},
                 ertslab_time_kinds:samples(#{[~"s", ~"do_minor"] => 2,
                                              [~"s", ~"garbage_collect", ~"do_minor"] => 3,
                                              [~"s", ~"$a:b/0"] => 4})).
