#!/usr/bin/env bats
# Nodes with problems that people reported, and healthy ones (tests/field/README.md): those that take less than ten
# seconds.

load lib/common

# Each case has one look, with findings if the node has a problem.
field() {
    run "$TOP/tests/field/run" "$@"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "each case is listed here, or is marked as slow" {
    for name in $("$TOP/tests/field/run" --list | grep -v ' slow$'); do
        grep -q "^@test \"field: $name\"" "$BATS_TEST_FILENAME" || { echo "$name is missing"; return 1; }
    done
}

@test "a case whose node is not as meant, or of which other is said, fails and says why" {
    mkdir -p "$BATS_TEST_TMPDIR/tests"
    cp -r "$TOP/tests/field" "$BATS_TEST_TMPDIR/tests/"
    ln -s "$TOP/ertslab" "$TOP/build" "$TOP/otp_patches" "$BATS_TEST_TMPDIR/"
    cd "$BATS_TEST_TMPDIR/tests/field"
    printf '%s\n' 'holds erlang:system_info(process_count) < 3' 'command list --json' 'status 0' 'says no_such_experiment' \
        >healthy_idle/expected
    run ./run healthy_idle
    [ "$status" -eq 1 ]
    [[ $output == *"FAILED  healthy_idle"*"the node does not have its problem"*"it does not say 'no_such_experiment'"* ]]
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
}

@test "a run that is interrupted leaves no node behind" {
    "$TOP/tests/field/run" --verify healthy_idle >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
    run_pid=$!
    node() { pgrep -f -- "-name healthy_idle@127.0.0.1.*$1"; }
    for _ in {1..100}; do
        cookie=$(tr '\0' ' ' <"/proc/$(pgrep -P "$(pgrep -P "$run_pid" -n)" -f healthy_idle | head -n 1)/cmdline" 2>/dev/null | sed -n 's/.*-setcookie \([a-z0-9]*\).*/\1/p')
        [ -z "$cookie" ] || break
        sleep 0.1
    done
    [ -n "$cookie" ]
    node "$cookie"
    kill -TERM "$run_pid"
    wait "$run_pid" || [ $? -eq 130 ]
    run node "$cookie"
    [ "$status" -eq 1 ]
}

@test "field: agent_sleeps" { field --once agent_sleeps; }

@test "field: all_compute" { field --once all_compute; }

@test "field: allocators_off" { field --once allocators_off; }
@test "field: always_full_sweeps" { field --once always_full_sweeps; }
@test "field: asks_all" { field --once asks_all; }

@test "field: atom_leak" { field --once atom_leak; }

@test "field: atoms_grow" { field --once atoms_grow; }

@test "field: audit_archives" { field --once audit_archives; }

@test "field: audit_mix_project" { field --once audit_mix_project; }

@test "field: audit_no_debug_info" { field --once audit_no_debug_info; }

@test "field: audit_own_reference" { field --once audit_own_reference; }

@test "field: audit_two_on_a_line" { field --once audit_two_on_a_line; }

@test "field: backlog_full" { field --once backlog_full; }

@test "field: bag_key" { field --once bag_key; }
@test "field: binary_messages" { field --once binary_messages; }

@test "field: binary_prepended" { field --once binary_prepended; }
@test "field: binary_router" { field --once binary_router; }

@test "field: busy_room" { field --once busy_room; }

@test "field: busy_router" { field --once busy_router; }

@test "field: busy_socket" { field --once busy_socket; }

@test "field: callback_too_deep" { field --once callback_too_deep; }
@test "field: calls_by_library" { field --once calls_by_library; }

@test "field: calls_in_circle" { field --once calls_in_circle; }

@test "field: channels_leak" { field --once channels_leak; }
@test "field: children_end_in_turn" { field --once children_end_in_turn; }
@test "field: children_end_slowly" { field --once children_end_slowly; }
@test "field: children_listed" { field --once children_listed; }
@test "field: children_searched" { field --once children_searched; }

@test "field: clients_gone" { field --once clients_gone; }
@test "field: clients_orphaned" { field --once clients_orphaned; }

@test "field: closures_copy" { field --once closures_copy; }
@test "field: code_server_asked" { field --once code_server_asked; }

@test "field: code_reloads" { field --once code_reloads; }

@test "field: code_server_calls" { field --once code_server_calls; }

@test "field: collection_reasons" { field --once collection_reasons; }

@test "field: collects_all" { field --once collects_all; }

@test "field: collects_together" { field --once collects_together; }

@test "field: connection_hangs" { field --once connection_hangs; }
@test "field: connections_kept" { field --once connections_kept; }
@test "field: console_blocked" { field --once console_blocked; }
@test "field: copies_at_work" { field --once copies_at_work; }
@test "field: coverage_left" { field --once coverage_left; }

@test "field: crashes_seldom" { field --once crashes_seldom; }

@test "field: crdt_busy" { field --once crdt_busy; }

@test "field: debugger_interprets" { field --once debugger_interprets; }

@test "field: deep_sinks" { field --once deep_sinks; }

@test "field: deep_stack" { field --once deep_stack; }

@test "field: dictionary_grows" { field --once dictionary_grows; }

@test "field: dictionary_keys" { field --once dictionary_keys; }
@test "field: dirty_cpu_full" { field --once dirty_cpu_full; }

@test "field: dirty_io_full" { field --once dirty_io_full; }
@test "field: disk_full" { field --once disk_full; }
@test "field: drain_waits" { field --once drain_waits; }

@test "field: drained_mailbox" { field --once drained_mailbox; }

@test "field: elixir_port_server" { field --once elixir_port_server; }

@test "field: entries_counted" { field --once entries_counted; }
@test "field: equal_copies" { field --once equal_copies; }
@test "field: erpc_hangs" { field --once erpc_hangs; }

@test "field: ets_binaries" { field --once ets_binaries; }

@test "field: ets_copies" { field --once ets_copies; }

@test "field: ets_counter" { field --once ets_counter; }

@test "field: ets_sessions" { field --once ets_sessions; }

@test "field: ets_shards" { field --once ets_shards; }

@test "field: ets_slices" { field --once ets_slices; }

@test "field: ets_tables_leak" { field --once ets_tables_leak; }

@test "field: events_not_dropped" { field --once events_not_dropped; }
@test "field: exit_leftovers" { field --once exit_leftovers; }

@test "field: expired_rows_stay" { field --once expired_rows_stay; }

@test "field: few_callers" { field --once few_callers; }

@test "field: few_large_heaps" { field --once few_large_heaps; }
@test "field: few_schedulers" { field --once few_schedulers; }
@test "field: file_infos" { field --once file_infos; }

@test "field: files_left_open" { field --once files_left_open; }
@test "field: files_limit" { field --once files_limit; }

@test "field: flush_behind_mailbox" { field --once flush_behind_mailbox; }
@test "field: global_lock_held" { field --once global_lock_held; }
@test "field: global_names_wait" { field --once global_names_wait; }

@test "field: handlers_leak" { field --once handlers_leak; }

@test "field: handshakes_hang" { field --once handshakes_hang; }
@test "field: healthy_batches" { field --once healthy_batches; }
@test "field: healthy_bursts" { field --once healthy_bursts; }

@test "field: healthy_cache" { field --once healthy_cache; }

@test "field: healthy_collections" { field --once healthy_collections; }

@test "field: healthy_consumers" { field --once healthy_consumers; }
@test "field: healthy_credit" { field --once healthy_credit; }

@test "field: healthy_echo" { field --once healthy_echo; }

@test "field: healthy_half_closed" { field --once healthy_half_closed; }

@test "field: healthy_heartbeats" { field --once healthy_heartbeats; }

@test "field: healthy_idle" { field --once healthy_idle; }

@test "field: healthy_idle_state" { field --once healthy_idle_state; }

@test "field: healthy_index" { field --once healthy_index; }

@test "field: healthy_leader" { field --once healthy_leader; }

@test "field: healthy_limiter" { field --once healthy_limiter; }

@test "field: healthy_live_state" { field --once healthy_live_state; }

@test "field: healthy_log_lines" { field --once healthy_log_lines; }

@test "field: healthy_low_priority" { field --once healthy_low_priority; }

@test "field: healthy_many_servers" { field --once healthy_many_servers; }

@test "field: healthy_mixed" { field --once healthy_mixed; }

@test "field: healthy_partners" { field --once healthy_partners; }

@test "field: healthy_reconnects" { field --once healthy_reconnects; }

@test "field: healthy_release" { field --once healthy_release; }

@test "field: healthy_server" { field --once healthy_server; }

@test "field: healthy_session_timers" { field --once healthy_session_timers; }

@test "field: healthy_sessions" { field --once healthy_sessions; }

@test "field: healthy_socket_rise" { field --once healthy_socket_rise; }

@test "field: healthy_starts" { field --once healthy_starts; }

@test "field: healthy_udp_rise" { field --once healthy_udp_rise; }

@test "field: healthy_workers" { field --once healthy_workers; }

@test "field: heap_limit_kills" { field --once heap_limit_kills; }

@test "field: heaps_mapped" { field --once heaps_mapped; }

@test "field: hibernated_binaries" { field --once hibernated_binaries; }

@test "field: hibernates_always" { field --once hibernates_always; }

@test "field: high_priority" { field --once high_priority; }

@test "field: high_priority_alone" { field --once high_priority_alone; }

@test "field: hot_shard" { field --once hot_shard; }
@test "field: http_not_answered" { field --once http_not_answered; }
@test "field: idle_websockets" { field --once idle_websockets; }

@test "field: kinds_beside" { field --once kinds_beside; }

@test "field: large_answers" { field --once large_answers; }

@test "field: large_messages" { field --once large_messages; }

@test "field: large_min_heaps" { field --once large_min_heaps; }

@test "field: large_term_churn" { field --once large_term_churn; }

@test "field: late_replies" { field --once late_replies; }

@test "field: leaking_tasks" { field --once leaking_tasks; }

@test "field: leftover_claims" { field --once leftover_claims; }

@test "field: lens_tables" { field --once lens_tables; }

@test "field: linear_search" { field --once linear_search; }
@test "field: lines_by_message" { field --once lines_by_message; }

@test "field: lines_formatted" { field --once lines_formatted; }

@test "field: lines_written" { field --once lines_written; }

@test "field: links_leak" { field --once links_leak; }

@test "field: liveviews" { field --once liveviews; }

@test "field: log_handler_calls" { field --once log_handler_calls; }

@test "field: log_loop" { field --once log_loop; }

@test "field: low_priority_server" { field --once low_priority_server; }

@test "field: many_small_queues" { field --once many_small_queues; }
@test "field: members_copied" { field --once members_copied; }
@test "field: memberships_stay" { field --once memberships_stay; }

@test "field: missing_modules" { field --once missing_modules; }

@test "field: messages_of_constants" { field --once messages_of_constants; }
@test "field: mnesia_dumps" { field --once mnesia_dumps; }
@test "field: mnesia_lock_held" { field --once mnesia_lock_held; }
@test "field: mnesia_peer_stopped" { field --once mnesia_peer_stopped; }

@test "field: monitor_flooded" { field --once monitor_flooded; }
@test "field: monitors_by_name" { field --once monitors_by_name; }

@test "field: monitors_leak" { field --once monitors_leak; }

@test "field: name_server_silent" { field --once name_server_silent; }

@test "field: names_not_resolved" { field --once names_not_resolved; }

@test "field: native_memory" { field --once native_memory; }

@test "field: nodes_flap" { field --once nodes_flap; }

@test "field: nodes_pass" { field --once nodes_pass; }
@test "field: not_accepted" { field --once not_accepted; }
@test "field: old_garbage" { field --once old_garbage; }
@test "field: on_load_waits" { field --once on_load_waits; }
@test "field: one_buffer" { field --once one_buffer; }
@test "field: one_for_all_fails" { field --once one_for_all_fails; }

@test "field: one_spins" { field --once one_spins; }
@test "field: one_takes_all" { field --once one_takes_all; }

@test "field: ordered_scans" { field --once ordered_scans; }
@test "field: os_processes" { field --once os_processes; }

@test "field: packets_lost" { field --once packets_lost; }
@test "field: partner_hangs" { field --once partner_hangs; }

@test "field: permanent_tasks" { field --once permanent_tasks; }
@test "field: piled_up_binaries" { field --once piled_up_binaries; }

@test "field: places_for_ports" { field --once places_for_ports; }

@test "field: polls" { field --once polls; }
@test "field: polls_and_keeps_up" { field --once polls_and_keeps_up; }

@test "field: pool_exhausted" { field --once pool_exhausted; }

@test "field: pool_in_circle" { field --once pool_in_circle; }

@test "field: pool_lent" { field --once pool_lent; }
@test "field: pool_stuck" { field --once pool_stuck; }

@test "field: port_leak" { field --once port_leak; }

@test "field: postponed_again" { field --once postponed_again; }

@test "field: prefetched" { field --once prefetched; }

@test "field: printers_wait" { field --once printers_wait; }

@test "field: priority_receive" { field --once priority_receive; }

@test "field: process_leak" { field --once process_leak; }

@test "field: processes_grow" { field --once processes_grow; }

@test "field: program_floods" { field --once program_floods; }
@test "field: program_hangs" { field --once program_hangs; }
@test "field: program_not_reading" { field --once program_not_reading; }
@test "field: program_slow" { field --once program_slow; }
@test "field: purged_in_vain" { field --once purged_in_vain; }

@test "field: queue_index" { field --once queue_index; }
@test "field: range_listed" { field --once range_listed; }

@test "field: read_in_pieces" { field --once read_in_pieces; }

@test "field: reads_blocked" { field --once reads_blocked; }

@test "field: reconnects_at_once" { field --once reconnects_at_once; }

@test "field: regex_backtracks" { field --once regex_backtracks; }

@test "field: remote_server" { field --once remote_server; }
@test "field: replies_lost" { field --once replies_lost; }

@test "field: request_workers" { field --once request_workers; }

@test "field: resources_kept" { field --once resources_kept; }

@test "field: restart_loop" { field --once restart_loop; }

@test "field: rows_compressed" { field --once rows_compressed; }
@test "field: rows_copied" { field --once rows_copied; }
@test "field: rows_of_updates" { field --once rows_of_updates; }
@test "field: rows_stay" { field --once rows_stay; }

@test "field: rpc_not_connected" { field --once rpc_not_connected; }

@test "field: rules_evaluated" { field --once rules_evaluated; }

@test "field: scans_by_many" { field --once scans_by_many; }

@test "field: scans_ten_times" { field --once scans_ten_times; }

@test "field: schedulers_many" { field --once schedulers_many; }
@test "field: scrapes_all" { field --once scrapes_all; }

@test "field: self_messages" { field --once self_messages; }

@test "field: server_continues" { field --once server_continues; }

@test "field: session_queues" { field --once session_queues; }

@test "field: sessions_hibernate" { field --once sessions_hibernate; }

@test "field: shards_of_binaries" { field --once shards_of_binaries; }

@test "field: slow_handler" { field --once slow_handler; }

@test "field: slow_init" { field --once slow_init; }

@test "field: slow_server" { field --once slow_server; }

@test "field: small_full_sweeps" { field --once small_full_sweeps; }

@test "field: small_sends" { field --once small_sends; }
@test "field: socket_buffers" { field --once socket_buffers; }

@test "field: socket_not_read" { field --once socket_not_read; }

@test "field: sorted_bag" { field --once sorted_bag; }

@test "field: spans_not_sent" { field --once spans_not_sent; }

@test "field: spins_in_many" { field --once spins_in_many; }

@test "field: start_waits" { field --once start_waits; }
@test "field: starts_by_row" { field --once starts_by_row; }

@test "field: state_grows" { field --once state_grows; }

@test "field: states_polled" { field --once states_polled; }
@test "field: supervisor_ends" { field --once supervisor_ends; }
@test "field: supervisor_storm" { field --once supervisor_storm; }

@test "field: suspended_by_other" { field --once suspended_by_other; }

@test "field: suspended_server" { field --once suspended_server; }
@test "field: sweeps_again" { field --once sweeps_again; }

@test "field: sys_trace_left" { field --once sys_trace_left; }

@test "field: table_on_another_node" { field --once table_on_another_node; }

@test "field: table_scans" { field --once table_scans; }
@test "field: table_synced" { field --once table_synced; }

@test "field: terms_large" { field --once terms_large; }
@test "field: texts_as_lists" { field --once texts_as_lists; }
@test "field: timer_messages" { field --once timer_messages; }
@test "field: timer_server" { field --once timer_server; }

@test "field: ticks_multiply" { field --once ticks_multiply; }
@test "field: timers_grow" { field --once timers_grow; }

@test "field: timers_leak" { field --once timers_leak; }
@test "field: tls_for_each_request" { field --once tls_for_each_request; }
@test "field: tls_not_read" { field --once tls_not_read; }

@test "field: trace_by_dbg" { field --once trace_by_dbg; }

@test "field: trace_left" { field --once trace_left; }

@test "field: transactions_again" { field --once transactions_again; }

@test "field: udp_flood" { field --once udp_flood; }

@test "field: underused_carriers" { field --once underused_carriers; }

@test "field: uneven_queues" { field --once uneven_queues; }
@test "field: unexpected_messages_logged" { field --once unexpected_messages_logged; }
@test "field: unreachable_node" { field --once unreachable_node; }
@test "field: waiters_pile_up" { field --once waiters_pile_up; }

@test "field: waits_in_vain" { field --once waits_in_vain; }
@test "field: works_long" { field --once works_long; }

@test "field: zlib_streams" { field --once zlib_streams; }
