%% @doc All signs of a process, of processes alike and of a node: what is wrong, what to change, and the command that proves it. Pure.
-module(diagnose_signs).

-export([of_process/4, of_group/2, of_node/1, kinds/0]).

-import(diagnose_sign, [sign/4, text/2]).

%% @doc The kinds in the order of a report: what hurts most comes first, and causes before what they cause.
-spec kinds() -> [diagnose_types:kind()].
kinds() ->
    [unresponsive, slow_emulator, too_few_schedulers, overloaded, near_limit, tracing, debugging_left_on,
     states_asked_for, interpreted_code, dirty_queue,
     suspended, low_priority, deep_mailbox, awaited, not_accepted, packets_dropped, sockets_left, processes_pile_up, nodes_flap,
     connect_loop, nagle_delay,
     starting_application, stopping_node, restart_loop, scanning_receive,
     high_priority, table_scan, code_lookups, postponed_events, many_ticks, busy_process, long_schedules, native_time,
     os_processes, forced_collections, long_collection, collecting_together, copied_starts,
     needless_full_sweeps, promoted_garbage, binary_pressure, small_start,
     uncollected_garbage, binary_leak, deep_stack, idle_heap, large_heap, large_dictionary, equal_heaps, spread_list,
     many_monitors, many_timers,
     log_overload, persistent_term_churn, code_churn, transaction_restarts, log_dumps, modules_grow, large_ets_table, fixed_ets_table,
     rows_of_one_key, many_ets_tables,
     binaries_beside, processes_beside, large_persistent_terms, large_code,
     native_memory, contended_ets_table, timer_wakeups, many_starts, tls_handshakes,
     carriers_underused, mapped_heaps, formatted_terms, too_many_schedulers,
     busy_wait, uneven_run_queues, message_queue_data, known_fault].

%% @doc The signs of one process, with the receives that it goes through, and by the list of faults of OTP.
-spec of_process(diagnose_types:suspect(), [diagnose_types:scan()], diagnose_types:look(),
                 [diagnose_known_faults:fault()] | unknown) -> [diagnose_types:sign()].
of_process(Suspect, Scans, Look, Faults) ->
    told_once([diagnose_otp_servers:with_callers(diagnose_shares:with_share(Sign, Suspect, Look), Suspect, Look)
               || Sign <- all_of_process(Suspect, Scans, Look, Faults)]).

%% What says the cause is told alone.
told_once(Signs) ->
    Told = lists:append([told_by(Kind) || #{kind := Kind} <- Signs]),
    [Sign || #{kind := Kind} = Sign <- Signs, not lists:member(Kind, Told)].

told_by(states_asked_for) -> [idle_heap, large_heap];
told_by(postponed_events) -> [busy_process, large_heap];
told_by(_) -> [].

all_of_process(Suspect, Scans, Look, Faults) ->
    diagnose_mailboxes:of_process(Suspect, Scans, Look) ++ diagnose_waits:of_process(Suspect, Look)
        ++ diagnose_work:of_process(Suspect, Look) ++ diagnose_waits:of_machine(Suspect, Look)
        ++ diagnose_debugging:of_process(Suspect, Look) ++ diagnose_busy:of_process(Suspect, Look)
        ++ diagnose_heaps:of_process(Suspect, Look) ++ diagnose_collections:of_process(Suspect)
        ++ [known_fault(Suspect, Fault, Look)
            || Fault <- diagnose_known_faults:fitting(Faults, maps:get(otp, Look), Suspect, Scans)].

known_fault(#{used_bytes := Used, hibernates := Hibernates, depth := Depth},
            #{issue := Issue, what := What, advice := Advice}, #{otp := Version}) ->
    sign(known_fault,
         #{issue => text("~ts", [Issue]), otp => Version, what => text("~ts", [What]), used_bytes => Used,
           hibernates => Hibernates, messages => Depth},
         Advice, diagnose_proof:look()).

%% @doc The signs of processes alike that no single one of them shows: what a sample gave back (see diagnose_heaps:estimated/1), and what
%% all hold together.
-spec of_group(#{garbage | asked | equal | binaries | live := map() | none, _ => _}, diagnose_types:look()) -> [diagnose_types:sign()].
of_group(Group, Look) -> diagnose_mailboxes:of_group(Group, Look) ++ diagnose_heaps:of_group(Group, Look).

%% @doc The signs of the node itself.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) ->
    diagnose_schedulers:of_node(Look) ++ diagnose_waits:of_node(Look) ++ diagnose_piles:of_node(Look)
        ++ diagnose_starts:of_node(Look) ++ diagnose_work:of_node(Look)
        ++ diagnose_debugging:of_node(Look) ++ diagnose_native:of_node(Look) ++ diagnose_counts:of_node(Look)
        ++ diagnose_heaps:of_node(Look) ++ diagnose_logging:of_node(Look) ++ diagnose_churn:of_node(Look) ++ diagnose_tables:of_node(Look)
        ++ diagnose_memory:of_node(Look).
