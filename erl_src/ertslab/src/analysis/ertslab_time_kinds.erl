%% @doc What a VM does with its time, by sampled stacks: each sample counts for one kind of work. Pure.
%%
%% A sample in code that the JIT made is Erlang's. Any other belongs to the innermost function on its stack that is known
%% below: what `memmove' takes within a collection is the collection's. The names are those of OTP's C functions, and of
%% Linux'.
-module(ertslab_time_kinds).

-export([samples/1, rows/1]).
-export_type([kind/0]).

-type kind() :: binary().

-define(SMALL, 0.005).
-define(ERLANG, <<"Erlang code">>).
-define(OTHER, <<"other functions in C">>).
-define(KERNEL_ENTRIES,
        [{system_call, ["entry_SYSCALL", "el0t_64_sync"]},
         {<<"page faults">>, ["asm_exc_page_fault", "exc_page_fault"]},
         {<<"interrupts">>, ["asm_sysvec_", "sysvec_", "asm_common_interrupt", "common_interrupt"]}]).

%% Beginnings of names. The first that fits counts.
-define(KINDS,
        [{<<"collections">>,
          ["erts_garbage_collect", "garbage_collect", "do_minor", "minor_collection", "major_collection", "full_sweep_heaps",
           "sweep_", "offset_", "erts_gc_", "collect_"]},
         {<<"copying and sizing of terms">>, ["copy_struct", "copy_shallow", "copy_shared", "copy_object", "size_object", "size_shared"]},
         {<<"ETS and persistent_term">>, ["db_", "ets_", "erts_db_", "persistent_term_", "free_hashtable"]},
         {<<"external terms">>,
          ["enc_term", "dec_term", "encode_size", "encode_atom", "decoded_size", "erts_encode_", "erts_decode_", "erts_term_to_binary",
           "term_to_binary", "binary_to_term", "erts_debrief", "enc_", "dec_", "decode_"]},
         {<<"regular expressions">>, ["erts_pcre", "re_", "match", "internal_match"]},
         {<<"timers">>,
          ["erts_bump_timers", "erts_twheel", "tiw_", "start_timer", "cancel_timer", "erts_start_timer", "setup_bif_timer",
           "try_access_sched_remote_timer", "access_", "timer_", "proc_timeout_", "erts_set_proc_timer", "erts_cancel_proc_timer"]},
         {<<"messages and signals">>,
          ["erts_send_message", "erts_queue_", "queue_messages", "erts_proc_sig_", "proc_queue_signal", "erts_msg",
           "beam_jit_remove_message", "erts_cleanup_messages", "erts_save_message", "erts_alloc_message", "erts_try_alloc_message",
           "do_send", "erts_send_", "erts_proc_notify_new_message", "erts_link_", "erts_monitor_", "erts_recv_marker",
           "beam_jit_wait", "beam_jit_take_receive_lock"]},
         {<<"processes that begin and end">>,
          ["erl_create_process", "erts_continue_exit_process", "erts_do_exit_process", "delete_process", "erts_cleanup_empty_process",
           "spawn_", "erts_internal_spawn"]},
         {<<"loading of code">>,
          ["beam_load", "beamcodereader", "beamfile", "erts_finish_loading", "erts_prepare_loading", "asmjit", "BeamModuleAssembler",
           "BeamAssembler", "beamasm", "code_", "erts_internal_prepare_loading", "finish_loading"]},
         {<<"look-ups of functions to apply">>,
          ["erts_find_export_entry", "erts_export_get_or_make_stub", "export_", "fixed_apply", "apply", "call_fun", "beam_jit_call_fun"]},
         {<<"maps">>,
          ["erts_maps_", "maps_", "erts_hashmap", "hashmap_", "get_map_element", "map_", "erts_internal_map", "make_internal_hash",
           "make_map_hash", "erts_internal_hash", "flatmap_"]},
         {<<"comparisons">>, ["eq", "erts_cmp", "cmp"]},
         {<<"binaries and iolists">>,
          ["iolist_", "erts_iolist", "erts_bs_", "erts_build_sub", "erts_extract_sub", "erts_new_", "list_to_binary", "binary_",
           "erts_pin_", "erts_ioq_", "bs_", "erts_copy_bits", "unicode_", "characters_to_", "maybe_binary", "adler32", "crc32", "md5"]},
         {<<"drivers, ports and polling">>,
          ["tcp_", "udp_", "inet_", "packet_", "driver_", "erts_port_", "erts_check_io", "erts_poll", "call_driver", "erl_drv", "efile_",
           "esock_", "async_"]},
         {<<"allocators">>,
          ["erts_alcu", "do_erts_alcu", "erts_alloc", "erts_free", "erts_realloc", "aoff_", "rbt_", "mbc_", "sbc_", "bf_",
           "create_carrier", "destroy_carrier", "erts_mseg", "realloc_", "handle_delayed", "check_pending_dealloc", "fix_cpool",
           "cpool_", "erts_fix", "malloc", "free", "realloc", "_int_malloc", "_int_free", "alloc_", "dealloc_", "dbg_alloc"]},
         {<<"scheduling and waking">>,
          ["erts_schedule", "schedule", "scheduler_wait", "check_balance", "try_steal_task", "wake_", "erts_aux", "aux_thread",
           "handle_aux_work", "erts_thr_progress", "erts_add_to_runq", "add2runq", "resume_", "check_runq", "ethr_event", "erts_ptab",
           "ptab_", "erts_sched", "sched_", "thr_prgr", "add_scheduler", "runq_"]},
         {<<"locks">>, ["ethr_", "rwmutex_", "pthread_mutex", "__GI___pthread_mutex", "erts_mtx", "___pthread_mutex"]}]).

%% @doc The number of samples of each kind that occurs.
-spec samples(#{Frames :: [binary()] => Samples :: pos_integer()}) -> #{kind() => pos_integer()}.
samples(Stacks) ->
    maps:fold(fun(Stack, Count, Counts) -> maps:update_with(kind(Stack), fun(N) -> N + Count end, Count, Counts) end, #{}, Stacks).

%% @doc A line of a table for each kind: its share of the samples of each profile, the largest first. Kinds that are small in all
%% of them share the last line.
-spec rows([#{kind() => pos_integer()}, ...]) -> [[binary()]].
rows(Profiles) ->
    Shares = [shares(lists:sum(maps:values(Profile)), Profile) || Profile <- Profiles],
    Most = fun(Kind) -> lists:max([maps:get(Kind, S, 0.0) || S <- Shares]) end,
    {Large, Small} = lists:partition(fun(Kind) -> Most(Kind) >= ?SMALL end, lists:uniq(lists:append([maps:keys(S) || S <- Shares]))),
    Sorted = [Kind || {_, Kind} <- lists:sort([{-Most(Kind), Kind} || Kind <- Large])],
    [[Kind | [ertslab_text:percent(maps:get(Kind, S, 0.0)) || S <- Shares]] || Kind <- Sorted]
        ++ [[<<"the rest">> | [ertslab_text:percent(lists:sum(maps:values(maps:with(Small, S)))) || S <- Shares]] || Small =/= []].

shares(All, Profile) -> maps:map(fun(_, Samples) -> Samples / All end, Profile).

%% The first frame is the thread's name. What the kernel does counts for the reason why it was entered.
kind([_Thread | Frames]) -> kind(Frames, Frames).

kind([Frame | Callees], Frames) ->
    case entry(Frame) of
        none -> kind(Callees, Frames);
        system_call -> <<"system call ", (system_call(Callees))/binary>>;
        Kind -> Kind
    end;
kind([], Frames) -> innermost(lists:reverse(Frames)).

entry(Frame) ->
    case [Kind || {Kind, Beginnings} <- ?KERNEL_ENTRIES, begins(Frame, Beginnings)] of
        [Kind] -> Kind;
        [] -> none
    end.

%% The compiler may have joined the call's own function with the one that it calls.
system_call([Frame | Frames]) ->
    case begins(Frame, ["do_syscall_64", "x64_sys_call", "syscall_", "el0_svc", "do_el0_svc", "invoke_syscall"]) of
        true -> system_call(Frames);
        false -> re:replace(Frame, "^(__)?(x64_sys|arm64_sys|se_sys|do_sys|ksys|do)_", "", [{return, binary}])
    end;
system_call([]) -> <<"(entry and return)">>.

innermost([<<"$", _/bits>> | _]) -> ?ERLANG;
innermost(Frames) -> known(Frames).

%% A function in C that Erlang calls, and none of those that are known.
known([<<"$", _/bits>> | _]) -> ?OTHER;
known([Frame | Callers]) ->
    case [Kind || {Kind, Beginnings} <- ?KINDS, begins(Frame, Beginnings)] of
        [Kind | _] -> Kind;
        [] -> known(Callers)
    end;
known([]) -> ?OTHER.

begins(Name, Beginnings) -> lists:any(fun(Beginning) -> string:prefix(Name, Beginning) =/= nomatch end, Beginnings).
