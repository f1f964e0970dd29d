%% What follows from what was seen, without a node: versions, loops, bounds.
-module(diagnose_rules_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, who_is_asked_for_its_state_is_known/1,
         who_asks_for_states_is_told_of/1, retries_are_counted/1,
         postponed_events_that_are_handled_again_are_told_of/1, messages_of_timers_are_beside_processes/1,
         memory_of_processes_that_none_has_is_told_of/1, supervisor_that_ends_its_children_is_told_of/1,
         versions_of_faults/1, faults_that_looking_meets/1,
         faults_are_complete/1, loop_counts_only_where_it_waits/1, tenth_of_the_looks/1,
         fun_is_one_of_its_function/1, what_is_unknown_is_no_finding/1, start_behind_a_mailbox_is_a_known_fault/1,
         one_that_does_not_answer_costs_only_itself/1, judging_is_limited/1,
         looping_receive_counts_where_it_polls/1, receive_behind_a_marker_is_not_named/1,
         file_of_a_deep_mailbox_is_told/1, flush_of_a_monitor_scans/1, undecided_receive_is_told/1, undecided_receive_of_a_module_is_told/1,
         silent_process_is_told_of/1, processes_alike_are_told_of_once/1,
         other_names_are_other_processes/1,
         kind_that_was_not_looked_at_is_told_of/1, unknown_one_is_told_of_with_its_kind/1,
         kind_takes_in_no_other_kind/1, complete_leaves_no_more_than_it_promises/1,
         monitors_that_are_needed_are_none_too_many/1, only_what_grows_all_the_time_nears_its_limit/1,
         timers_that_start_the_next_are_told_of/1,
         nothing_is_said_of_what_was_not_seen/1,
         sums_are_bounded_by_the_node/1, estimates_are_added/1, timers_are_told_from_a_hundred_thousand_on/1,
         timers_that_are_cancelled_are_counted/1, suspended_is_not_scanning/1,
         server_is_no_loop/1, one_that_never_keeps_up_is_told_of/1,
         stack_is_no_unused_heap/1, binaries_that_are_passed_on_are_no_leak/1, modules_of_a_start_are_no_leak/1,
         connections_made_and_kept_are_told_of/1,
         rows_of_ended_processes_that_become_more_are_told_of/1, large_heaps_that_come_and_go_are_told_of/1, purges_in_vain_are_told_of/1,
         most_of_the_memory_is_told_of/1, table_that_only_grows_is_told_of/1,
         waiting_for_threads_is_told_of/1, waiting_for_a_thread_is_no_work/1,
         one_ready_beside_hundreds_is_uneven/1, server_with_costly_calls_is_busy/1,
         server_with_long_work_is_busy/1, who_asks_all_is_busy/1,
         server_that_copies_answers_is_busy/1, callers_of_a_slow_callback_are_told_of/1, waiting_for_an_answer_is_told_of/1,
         modules_that_are_not_there_are_told_of/1, slices_in_rows_are_told_of/1,
         binaries_of_many_tables_count_together/1, steady_ones_with_old_garbage_are_told_of/1, binaries_are_told_once_of_two_kinds/1,
         who_works_with_parts_is_told_of/1, what_is_traced_for_a_moment_is_as_before/1,
         who_ends_all_for_one_is_told_of/1, who_ends_all_though_none_fails_is_told_of/1,
         nodes_that_do_not_stop_are_told_of/1, what_is_lent_is_known_where_somebody_has_it/1,
         who_is_served_in_turn_does_not_wait/1, a_pool_whose_members_all_hang_is_told_of/1,
         children_that_end_in_turn_are_told_of/1, who_keeps_callers_waiting_is_told_of/1, handle_call/3, handle_info/2, what_ends_and_is_started_again_is_told_of/1, short_child/0, short_child_starts/0, who_is_served_in_turn_does_not_stay/1, turns_of_callers_are_seen/1, takes/2,
         who_waits_to_take_over_is_left_alone/1, who_tries_to_get_a_global_lock_is_counted/1, lock_that_is_taken_again_is_given_back/1, on_load_that_waits_is_told_of/1,
         what_is_lent_in_a_circle_is_told_of/1, what_is_lent_in_a_circle_is_seen/1,
         who_came_to_wait_and_who_hangs_is_told/1, who_is_monitored_beside_the_callers_is_asked/1,
         who_waits_for_its_next_message_is_at_rest/1, loops/0,
         messages_that_do_not_wait_long_are_none_too_many/1, what_was_swept_is_alive/1, whom_a_process_waits_for_is_told_by_its_function/1,
         memory_that_is_nowhere_else_is_told_of/1, contents_are_not_told/1,
         heap_that_was_asked_for_is_not_idle/1, carriers_that_are_empty_for_a_moment/1, schedulers_that_wait_awake/1,
         pause_of_a_small_heap_is_not_long/1, walks_are_timed_in_lists_of_that_layout/1,
         full_heap_is_not_hibernation/1, look_at_all_has_half_of_what_is_left/1, kinds_that_wait_are_of_any_size/1,
         monitors_are_measured/1, who_has_many_is_asked_again/1, one_table_for_each_process_is_not_too_many/1,
         tables_that_one_makes_and_keeps_are_told_of/1, sockets_that_one_opens_and_keeps_are_told_of/1,
         judging_another_node_has_some_seconds/1, delays_of_the_machine_are_no_pauses/1,
         binaries_that_came_since_are_not_beside/1,
         few_calls_that_stay_are_told_of/1, who_waits_for_each_other_is_told_of/1, library_that_waits_is_no_loop/1,
         each_may_wait_for_its_own/1,
         small_dictionaries_alone_are_copied/1, no_more_wait_than_monitor/1, locker_of_mnesia_is_asked_once/1,
         loop_through_many_functions_is_told_of/1, many_that_only_come_near_their_limit/1,
         processes_that_fail_again_and_again_are_told_of/1, failures_are_seen/1, programs_are_told_of/1,
         attempts_to_connect_that_are_made_again_at_once_are_told_of/1, what_short_lived_processes_do_is_seen/1,
         start_that_is_waited_for_is_told_of/1,
         tables_that_are_gone_through_are_told_of/1, collections_that_are_asked_for_are_told_of/1, priority_is_told_of/1,
         suspended_by_sys_is_resumed/1, near_its_limit_is_not_collected/1, low_priority_is_not_busy/1,
         what_processes_are_given_is_told_of/1, workers_come_last/1, what_was_not_measured_is_in_the_last_line/1, calls_that_are_answered_are_other_calls/1,
         who_formats_a_large_term_is_told_so/1, what_a_process_says_that_it_is/1, what_a_terminal_would_obey_is_not_printed/1,
         version_that_is_not_known/1, who_works_for_itself_is_told_of/1, who_takes_its_messages_into_its_heap_is_told_of/1, behaviour_that_never_rests_is_told_of/1,
         kinds_that_timers_wake_are_told_of/1, transactions_that_begin_again_are_told_of/1,
         tables_that_are_kept_fixed_are_told_of/1, keys_with_many_rows_are_told_of/1, heaps_that_are_mapped_are_told_of/1,
         many_that_collect_are_told_of/1,
         functions_of_a_busy_node_are_told/1, data_that_each_has_are_told_of/1, mailbox_that_is_emptied_is_none_too_deep/1, own_answers_are_no_waiting_messages/1,
         deep_callbacks_of_an_unknown_server_are_seen/1,
         logs_that_are_dumped_all_the_time_are_told_of/1, who_does_not_give_way_is_told_of/1,
         who_holds_the_schedulers_may_be_untold/1, who_is_seldom_seen_is_unknown/1, long_runs_are_seen/1,
         who_waits_for_an_end_is_told_of/1, who_waits_for_the_world_outside_is_told_of/1, waits_for/1, arrivals_of_one/2, traces_of_others/0,
         who_is_deep_in_a_callback_is_known_for_a_server/1,
         who_sleeps_is_said_to_sleep/1, who_copies_a_binary_at_each_step_is_told_so/1,
         starts_by_the_thousand_are_told_of/1, handshakes_are_told_of/1, who_is_asked_of_a_library_or_to_print_is_told_of/1,
         connections_that_nobody_accepts_are_told_of/1, what_the_system_drops_is_told_of/1,
         a_boot_that_does_not_end_is_told_of/1, small_reads_are_told_of/1, who_reads_later_is_told_of/1,
         scans_of_otp_have_a_cheaper_sibling/1, parsing_anew_is_told_of/1,
         who_waits_for_an_answer_all_the_time_is_told/1, who_reads_without_a_rest_is_told/1,
         where_processes_wait_is_told/1, sleeps/0, a_place_is_told_by_one_function_of_each_module/1,
         who_logs_without_end_is_told_of/1, handlers_of_logger_that_get_too_much_are_told_of/1, files_that_are_not_closed_are_told_of/1,
         what_comes_to_a_deep_mailbox_is_told_of/1, what_others_trace_comes_to_them_as_before/1, who_is_slow_by_its_own_work_is_told_so/1,
         start_of_an_application_that_waits_is_told_of/1, start_of_an_application_has_advice_of_its_own/1,
         start_of_an_application_that_goes_on_is_told_of/1, sockets_that_are_left_behind_are_told_of/1, left_sockets_are_seen/1,
         processes_that_pile_up_are_told_of/1, piles_are_seen/1, sessions_are_of_connections/1,
         samples_are_drawn_by_chance/1]).
-export([call_of_a_node_that_is_not_connected_yet/1,
         traps_are_told_by_their_function/1,
         intervals_are_told_of_once/1,
         prints_and_files_are_told_of/1, servers_that_copy_for_each_message_are_told_of/1, servers_that_wait_for_the_disk_are_told_of/1,
         files_by_message_are_told_of/1, sockets_that_take_nothing_are_told_of/1,
         few_waits_are_work/1,
         tables_that_were_lost_are_no_crowd/1,
         schedulers_offline_are_told/1,
         timers_of_traced_processes_are_left_alone/1,
         one_burst_hides_no_others/1,
         functions_that_go_through_all_are_told_of/1, settings_of_logger_are_told_of/1, thresholds_of_the_monitor_are_told_of/1,
         modules_that_have_most_of_the_memory_are_told_of/1,
         what_is_meant_to_be_large_is_left/1, tables_of_otp_are_told_of_as_such/1, indices_of_mnesia_are_known/1,
         texts_in_tables_are_told_of/1, texts_are_known/1]).
-export([live_binaries_of_a_kind_are_told_of/1, what_processes_refer_to_is_known/1, threads_of_others_are_told_of/1,
         threads_of_others_are_known/1, a_part_is_no_more_than_the_whole/1, binaries_that_wait_for_others_are_told_of/1,
         own_sockets_that_are_kept_are_told_of/1, binaries_of_states_are_told_of/1, who_is_laden_is_counted/1,
         tables_whose_binaries_grow_are_told_of/1, no_holder_is_no_silence/1, the_last_line_tells_what_has_most/1,
         a_cut_off_count_is_told_as_such/1]).
-export([uneven_shares_are_told_of/1, shares_are_seen/1]).
-export([large_dictionaries_are_told_of/1, large_dictionaries_are_seen/1, a_stack_is_no_dictionary/1]).
-export([what_is_shared_is_not_copied/1, constants_are_not_copied/1, most_memory/2]).
-export([ports_that_flood_their_owners_are_told_of/1, ports_that_flood_their_owners_are_seen/1]).
-export([kinds_that_hibernate_all_the_time_are_told_of/1,
         managers_with_many_handlers_are_told_of/1,
         supervisors_that_are_asked_for_children_are_told_of/1, supervisors_that_search_for_children_are_told_of/1,
         expressions_that_are_interpreted_are_told_of/1,
         code_that_the_debugger_interprets_is_told_of/1,
         code_that_counts_its_lines_is_told_of/1,
         options_of_sys_are_told_of/1,
         who_suspended_a_process_is_told/1, program_that_reads_nothing_is_told_of/1, port_of_a_program_is_known/1,
         servers_of_low_priority_are_told_of/1,
         what_was_left_on_is_seen/1,
         who_calls_is_seen/1, tables_of_dets_are_named/1, buffers_of_sockets_are_told_of/1, small_messages_on_a_roomy_heap_are_read/1,
         where_those_of_a_kind_are_is_told/1, functions_of_an_overload_are_told/1,
         more_schedulers_than_processors_are_told_of/1, fewer_schedulers_than_processors_are_told_of/1,
         emulators_that_are_slow_are_told_of/1, native_functions_that_take_the_time_are_told_of/1, small_sends_that_are_held_back_are_told_of/1, nodes_that_come_and_go_are_told_of/1,
         times_in_native_functions_are_measured/1,
         heaps_that_many_asked_for_are_told_of/1,
         tables_with_too_many_places_are_told_of/1,
         memory_that_native_code_took_from_the_vm_is_told_of/1, garbage_that_keeps_resources_is_told_of/1,
         who_waits_in_a_send_or_a_program_is_told_so/1,
         servers_of_their_own_are_told_of/1, collections_that_are_asked_for_are_said_to_be/1]).
-export([who_begins_again_after_each_pause_is_told_of/1,
         who_hardly_runs_is_judged_by_no_rate/1, began_below_what_is_told_is_unknown/1, one_that_hibernates_is_known_by_its_looks/1,
         data_of_processes_that_work_are_told_of/1,
         heap_that_may_be_garbage_is_said_to_be/1,
         binaries_of_several_are_told_of_once/1,
         who_holds_up_the_look_is_seen/1]).
-export([serves/1, layouts/1, init/1, terminate/2, started/1, start/2, stop/1]).

all() ->
    [who_asks_for_states_is_told_of,
     who_is_asked_for_its_state_is_known,
     postponed_events_that_are_handled_again_are_told_of,
     retries_are_counted,
     memory_of_processes_that_none_has_is_told_of,
     messages_of_timers_are_beside_processes,
     supervisor_that_ends_its_children_is_told_of,
     uneven_shares_are_told_of, shares_are_seen,
     large_dictionaries_are_told_of, large_dictionaries_are_seen, a_stack_is_no_dictionary, what_is_shared_is_not_copied,
     constants_are_not_copied,
     ports_that_flood_their_owners_are_told_of, ports_that_flood_their_owners_are_seen,
     who_begins_again_after_each_pause_is_told_of,
     who_hardly_runs_is_judged_by_no_rate, began_below_what_is_told_is_unknown, one_that_hibernates_is_known_by_its_looks,
     data_of_processes_that_work_are_told_of,
     heap_that_may_be_garbage_is_said_to_be,
     binaries_of_several_are_told_of_once,
     who_holds_up_the_look_is_seen,
     fewer_schedulers_than_processors_are_told_of,
     emulators_that_are_slow_are_told_of,
     native_functions_that_take_the_time_are_told_of, nodes_that_come_and_go_are_told_of, small_sends_that_are_held_back_are_told_of,
     times_in_native_functions_are_measured,
     call_of_a_node_that_is_not_connected_yet,
     traps_are_told_by_their_function,
     intervals_are_told_of_once,
     prints_and_files_are_told_of, servers_that_copy_for_each_message_are_told_of, servers_that_wait_for_the_disk_are_told_of,
     files_by_message_are_told_of, sockets_that_take_nothing_are_told_of,
     few_waits_are_work,
     tables_that_were_lost_are_no_crowd,
     schedulers_offline_are_told,
     timers_of_traced_processes_are_left_alone,
     one_burst_hides_no_others,
     kinds_that_hibernate_all_the_time_are_told_of,
     managers_with_many_handlers_are_told_of,
     supervisors_that_are_asked_for_children_are_told_of, supervisors_that_search_for_children_are_told_of,
     expressions_that_are_interpreted_are_told_of,
     code_that_the_debugger_interprets_is_told_of,
     code_that_counts_its_lines_is_told_of,
     options_of_sys_are_told_of,
     who_suspended_a_process_is_told, program_that_reads_nothing_is_told_of, port_of_a_program_is_known,
     servers_of_low_priority_are_told_of,
     what_was_left_on_is_seen,
     who_calls_is_seen, tables_of_dets_are_named, buffers_of_sockets_are_told_of, small_messages_on_a_roomy_heap_are_read,
     where_those_of_a_kind_are_is_told, functions_of_an_overload_are_told,
     more_schedulers_than_processors_are_told_of,
     heaps_that_many_asked_for_are_told_of,
     tables_with_too_many_places_are_told_of, memory_that_native_code_took_from_the_vm_is_told_of, garbage_that_keeps_resources_is_told_of,
     who_waits_in_a_send_or_a_program_is_told_so,
     servers_of_their_own_are_told_of, collections_that_are_asked_for_are_said_to_be,
     who_does_not_give_way_is_told_of, who_holds_the_schedulers_may_be_untold, who_is_seldom_seen_is_unknown,
     long_runs_are_seen, data_that_each_has_are_told_of,
     mailbox_that_is_emptied_is_none_too_deep, own_answers_are_no_waiting_messages, deep_callbacks_of_an_unknown_server_are_seen,
     logs_that_are_dumped_all_the_time_are_told_of,
     who_waits_for_the_world_outside_is_told_of, who_is_deep_in_a_callback_is_known_for_a_server,
     who_sleeps_is_said_to_sleep, who_copies_a_binary_at_each_step_is_told_so,
     who_waits_for_an_end_is_told_of,
     versions_of_faults, faults_that_looking_meets, faults_are_complete, loop_counts_only_where_it_waits, tenth_of_the_looks,
     fun_is_one_of_its_function, what_is_unknown_is_no_finding, start_behind_a_mailbox_is_a_known_fault,
     one_that_does_not_answer_costs_only_itself, judging_is_limited,
     looping_receive_counts_where_it_polls, receive_behind_a_marker_is_not_named, file_of_a_deep_mailbox_is_told,
     flush_of_a_monitor_scans, undecided_receive_is_told, undecided_receive_of_a_module_is_told,
     silent_process_is_told_of, processes_alike_are_told_of_once, other_names_are_other_processes,
     kind_that_was_not_looked_at_is_told_of, unknown_one_is_told_of_with_its_kind,
     kind_takes_in_no_other_kind, complete_leaves_no_more_than_it_promises,
     monitors_that_are_needed_are_none_too_many, only_what_grows_all_the_time_nears_its_limit, timers_that_start_the_next_are_told_of,
     nothing_is_said_of_what_was_not_seen,
     sums_are_bounded_by_the_node, estimates_are_added, timers_are_told_from_a_hundred_thousand_on,
     timers_that_are_cancelled_are_counted, suspended_is_not_scanning,
     server_is_no_loop,
     one_that_never_keeps_up_is_told_of, stack_is_no_unused_heap, binaries_that_are_passed_on_are_no_leak, modules_of_a_start_are_no_leak,
     connections_made_and_kept_are_told_of,
     rows_of_ended_processes_that_become_more_are_told_of, large_heaps_that_come_and_go_are_told_of, purges_in_vain_are_told_of,
     most_of_the_memory_is_told_of, table_that_only_grows_is_told_of, waiting_for_threads_is_told_of, waiting_for_a_thread_is_no_work,
     one_ready_beside_hundreds_is_uneven, server_with_costly_calls_is_busy,
     server_with_long_work_is_busy, who_asks_all_is_busy,
     server_that_copies_answers_is_busy, callers_of_a_slow_callback_are_told_of, waiting_for_an_answer_is_told_of,
     modules_that_are_not_there_are_told_of, slices_in_rows_are_told_of,
     binaries_of_many_tables_count_together, steady_ones_with_old_garbage_are_told_of, binaries_are_told_once_of_two_kinds,
     who_works_with_parts_is_told_of,
     what_is_traced_for_a_moment_is_as_before,
     who_ends_all_for_one_is_told_of, who_ends_all_though_none_fails_is_told_of,
     nodes_that_do_not_stop_are_told_of, what_is_lent_is_known_where_somebody_has_it,
     who_is_served_in_turn_does_not_wait, a_pool_whose_members_all_hang_is_told_of, what_ends_and_is_started_again_is_told_of,
     children_that_end_in_turn_are_told_of, who_keeps_callers_waiting_is_told_of,
     who_is_served_in_turn_does_not_stay, turns_of_callers_are_seen,
     who_waits_to_take_over_is_left_alone, who_tries_to_get_a_global_lock_is_counted, lock_that_is_taken_again_is_given_back, on_load_that_waits_is_told_of,
     what_is_lent_in_a_circle_is_told_of, what_is_lent_in_a_circle_is_seen,
     who_came_to_wait_and_who_hangs_is_told, who_is_monitored_beside_the_callers_is_asked, who_waits_for_its_next_message_is_at_rest,
     messages_that_do_not_wait_long_are_none_too_many, what_was_swept_is_alive, whom_a_process_waits_for_is_told_by_its_function,
     memory_that_is_nowhere_else_is_told_of, contents_are_not_told,
     heap_that_was_asked_for_is_not_idle, carriers_that_are_empty_for_a_moment, schedulers_that_wait_awake,
     pause_of_a_small_heap_is_not_long,
     walks_are_timed_in_lists_of_that_layout, full_heap_is_not_hibernation, look_at_all_has_half_of_what_is_left,
     kinds_that_wait_are_of_any_size, monitors_are_measured, who_has_many_is_asked_again, one_table_for_each_process_is_not_too_many,
     tables_that_one_makes_and_keeps_are_told_of, sockets_that_one_opens_and_keeps_are_told_of,
     judging_another_node_has_some_seconds, delays_of_the_machine_are_no_pauses, binaries_that_came_since_are_not_beside,
     few_calls_that_stay_are_told_of, who_waits_for_each_other_is_told_of, library_that_waits_is_no_loop, each_may_wait_for_its_own,
     small_dictionaries_alone_are_copied, no_more_wait_than_monitor, locker_of_mnesia_is_asked_once,
     loop_through_many_functions_is_told_of, many_that_only_come_near_their_limit,
     processes_that_fail_again_and_again_are_told_of, failures_are_seen, programs_are_told_of,
     attempts_to_connect_that_are_made_again_at_once_are_told_of, what_short_lived_processes_do_is_seen,
     start_that_is_waited_for_is_told_of,
     tables_that_are_gone_through_are_told_of, collections_that_are_asked_for_are_told_of, priority_is_told_of,
     suspended_by_sys_is_resumed, near_its_limit_is_not_collected, low_priority_is_not_busy,
     what_processes_are_given_is_told_of, workers_come_last, what_was_not_measured_is_in_the_last_line, calls_that_are_answered_are_other_calls,
     who_formats_a_large_term_is_told_so, what_a_process_says_that_it_is, what_a_terminal_would_obey_is_not_printed,
     version_that_is_not_known, who_works_for_itself_is_told_of, who_takes_its_messages_into_its_heap_is_told_of, behaviour_that_never_rests_is_told_of,
     kinds_that_timers_wake_are_told_of, transactions_that_begin_again_are_told_of, tables_that_are_kept_fixed_are_told_of,
     keys_with_many_rows_are_told_of,
     heaps_that_are_mapped_are_told_of,
     many_that_collect_are_told_of, functions_of_a_busy_node_are_told, starts_by_the_thousand_are_told_of, handshakes_are_told_of,
     who_is_asked_of_a_library_or_to_print_is_told_of, connections_that_nobody_accepts_are_told_of, what_the_system_drops_is_told_of,
     a_boot_that_does_not_end_is_told_of, small_reads_are_told_of, who_reads_later_is_told_of,
     scans_of_otp_have_a_cheaper_sibling, parsing_anew_is_told_of,
     who_waits_for_an_answer_all_the_time_is_told, who_reads_without_a_rest_is_told,
     where_processes_wait_is_told, a_place_is_told_by_one_function_of_each_module,
     who_logs_without_end_is_told_of,
     handlers_of_logger_that_get_too_much_are_told_of, files_that_are_not_closed_are_told_of,
     what_comes_to_a_deep_mailbox_is_told_of, what_others_trace_comes_to_them_as_before, who_is_slow_by_its_own_work_is_told_so,
     start_of_an_application_that_waits_is_told_of, start_of_an_application_has_advice_of_its_own,
     start_of_an_application_that_goes_on_is_told_of, sockets_that_are_left_behind_are_told_of, left_sockets_are_seen,
     processes_that_pile_up_are_told_of, piles_are_seen, sessions_are_of_connections, samples_are_drawn_by_chance,
     functions_that_go_through_all_are_told_of, settings_of_logger_are_told_of, thresholds_of_the_monitor_are_told_of,
     modules_that_have_most_of_the_memory_are_told_of,
     what_is_meant_to_be_large_is_left, tables_of_otp_are_told_of_as_such, indices_of_mnesia_are_known, texts_in_tables_are_told_of,
     live_binaries_of_a_kind_are_told_of, what_processes_refer_to_is_known, threads_of_others_are_told_of, threads_of_others_are_known,
     a_part_is_no_more_than_the_whole, binaries_that_wait_for_others_are_told_of, own_sockets_that_are_kept_are_told_of,
     binaries_of_states_are_told_of, who_is_laden_is_counted, tables_whose_binaries_grow_are_told_of, no_holder_is_no_silence,
     the_last_line_tells_what_has_most, a_cut_off_count_is_told_as_such, texts_are_known].

parent(More) ->
    maps:merge(#{pid => ~"<0.9.0>", name => sites_sup, label => {supervisor, sites_sup, 1}, parents => 1,
                 born => 60, ended => 50, failed => 0, copies => 0, copied => 0, takes => 0, taken => 0, limit => 0,
                 labels => [{{site, init, 1}, 60}], reasons => []}, More).

starts(Parent) -> #{starts => #{looks => 200, samples => [], unlisted => false, ms => 4000, a_second => 0, most => none, parents => [Parent]}}.

%% Half of those that end do so with an error, twice a second; what their heaps are like is of no interest then.
processes_that_fail_again_and_again_are_told_of(_) ->
    Fails = parent(#{failed => 50, reasons => [{~"econnrefused", 50}]}),
    Births = #{births => #{pid => ~"<0.9.0>", name => sites_sup, labels => [{site, init, 1}], window_ms => 1000,
                           ended => 110, grown => 100, collections => 700, us => 100_000, left => 5_000_000, first => 186_400,
                           limit => 0, sizes => [100_000 + 100 * N || N <- lists:seq(1, 100)]}},
    [#{signs := [#{kind := restart_loop} = Sign]}] = found(maps:merge(Births, starts(Fails)), []),
    %% One with a name fails seldom, and its supervisor is told of only where that starts others, too.
    Again = fun(Parent) ->
                    #{starts := Starts} = starts(Parent),
                    One = #{name => ledger, pid => ~"<0.9.0>", reason => ~"badarith in m:f/1"},
                    [unicode:characters_to_list(diagnose_wording:sentence(Told))
                     || #{signs := Signs} <- found(#{starts => Starts#{again => [One]}}, []), #{kind := restart_loop} = Told <- Signs]
            end,
    [Once] = Again(Fails#{failed := 0}),
    ?assertMatch({match, _}, re:run(Once, "<0.9.0> \\(ledger\\) for badarith in m:f/1")),
    ?assertMatch([_], Again(Fails)),
    Said = unicode:characters_to_list(diagnose_wording:sentence(Sign)),
    ?assertMatch({match, _}, re:run(Said, "60 of site:init/1.*50 of 50.*12 a second.*econnrefused")),
    Killed = fun(#{advice := Advice}) -> binary:match(Advice, ~"max_heap_size") =/= nomatch end,
    [#{signs := [Kills]}] = found(starts(Fails#{reasons := [{~"killed", 50}]}), []),
    ?assertEqual({false, true}, {Killed(Sign), Killed(Kills)}),
    [#{signs := [#{advice := ByLimit}]}] = found(starts(Fails#{reasons := [{~"killed", 50}], limit := 32_000_000}), []),
    [#{signs := [#{advice := OfDisk}]}] = found(starts(Fails#{reasons := [{~"{badmatch, {error, enospc}} in m:f/1", 50}]}), []),
    ?assert(has("No space is left on the disk", OfDisk)),
    ?assertEqual([true, true], [has(Cause, ByLimit) || Cause <- ["if their heaps get so large", "another process kills them"]]),
    ?assert(has("max_heap_size, here 32.0 MB", ByLimit)),
    ?assertMatch([{small_start, _}], signs(maps:merge(Births, starts(Fails#{failed := 10})), [])),
    [?assertEqual([], signs(starts(maps:merge(Fails, Other)), []))
     || Other <- [#{failed => 24}, #{failed => 5, ended => 5}, #{failed => 7, ended => 7}]].

%% One child that fails ends all others, each time.
who_ends_all_for_one_is_told_of(_) ->
    Sweeps = parent(#{name => entity_sup, born => 900, ended => 900, failed => 12, sweeps => 3, swept => 850, gone => 3,
                      reasons => [{~"function_clause in entity:convert/1", 12}]}),
    [#{signs := [#{kind := restart_loop, advice := Advice} = Sign]}] = found(starts(Sweeps), []),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign), "850 that were seen.*in 3 turns within 4.0 s.*entity:convert/1")),
    ?assert(has("intensity allows", Advice)),
    [#{signs := [#{advice := ForAll}]}] = found(starts(Sweeps#{gone := 0}), []),
    ?assert(has("one_for_all", ForAll)),
    Tasks = Sweeps#{gone := 0, label := {'Elixir.DynamicSupervisor', init, 1}},
    [?assertEqual([], signs(starts(Other), []))
     || Other <- [Tasks, Sweeps#{sweeps := 1}, Sweeps#{name := ''}, Sweeps#{label := {m, init, 1}}, Sweeps#{swept := 12}]],
    %% By the ends in turn: one fails, and the others are ended at once, until hardly one is left.
    Of = fun(Ends, Watching) ->
                 #{sweeps := Times, swept := Swept, all := All} =
                     lists:foldl(fun({born, Count}, #{watching := Left} = One) -> One#{watching := Left + Count};
                                    ({Reason, At}, #{watching := Left} = One) ->
                                         diagnose_probe:swept_by(Reason, At, One#{watching := Left - 1})
                                 end,
                                 #{watching => Watching, all => false, sweep => none, sweeps => 0, swept => 0}, Ends),
                 case All of true -> look_for_it; false -> {Times, Swept} end
         end,
    Ended = fun(From, Count) -> [{shutdown, From + N} || N <- lists:seq(1, Count)] end,
    ?assertEqual({2, 40}, Of([{badarg, 0} | Ended(0, 20)] ++ [{born, 21}, {badarg, 1000} | Ended(1000, 20)], 21)),
    ?assertEqual({0, 0}, Of([{badarg, 0} | Ended(0, 20)], 300)),
    ?assertEqual({0, 0}, Of([{badarg, 0} | Ended(500, 4)], 6)),
    %% Who failed may be none of those that are watched.
    ?assertEqual(look_for_it, Of(Ended(0, 20), 21)),
    ?assertEqual({0, 0}, Of([{badarg, 0} | Ended(0, 4)], 5)),
    ?assertEqual({0, 0}, Of([{normal, 0} | Ended(0, 20)], 300)).

%% As a group whose members begin anew each time one of them is late. Those of sessions end one after the other.
who_ends_all_though_none_fails_is_told_of(_) ->
    Sleep = fun() -> receive after infinity -> ok end end,
    Turns = fun Turns() ->
                    Pids = [spawn(Sleep) || _ <- lists:seq(1, 12)],
                    timer:sleep(400),
                    [exit(Pid, shutdown) || Pid <- Pids],
                    timer:sleep(100),
                    Turns()
            end,
    Sessions = fun Sessions(Open) ->
                       [Last | Others] = lists:reverse(Open),
                       exit(Last, shutdown),
                       timer:sleep(30),
                       Sessions([spawn(Sleep) | lists:reverse(Others)])
               end,
    Group = spawn(Turns),
    Serves = spawn(fun() -> Sessions([spawn(Sleep) || _ <- lists:seq(1, 12)]) end),
    Text = list_to_binary(pid_to_list(Group)),
    #{turns := Seen} = diagnose_probe:starts([], now_ms() + 1500),
    [exit(Pid, kill) || Pid <- [Group, Serves]],
    ?assertMatch([#{pid := Text, turned := Turned}] when Turned >= 5, Seen),
    Starts = starts(parent(#{})),
    Last = fun(Told) ->
                   Look = maps:merge(nothing(), Starts#{starts := (maps:get(starts, Starts))#{turns => Told}}),
                   diagnose_text:last_line(#{findings => [], warnings => [], unknown => [], look => Look,
                                             place => #{in => library, node => own}})
           end,
    Says = "partition_sup\\) ended 24 children \\(worker:init/1\\) together.*none had failed",
    Sup = #{pid => ~"<0.9.0>", name => partition_sup, label => {supervisor, init, 1}, turned => 24, labels => [{{worker, init, 1}, 60}]},
    ?assertMatch({{match, _}, nomatch}, {re:run(Last([Sup]), Says), re:run(Last([]), "ended")}).

%% What ends a process is told by tags. One that is none of proc_lib and of no supervisor may give its result by its exit.
failures_are_seen(_) ->
    ?assertEqual([~"{badmatch, _} in m:f/2", ~"{tuple, _} in m:f", ~"killed", ~"{econn, _}"],
                 [diagnose_probe:end_reason(Why)
                  || Why <- [{{badmatch, secret}, [{m, f, [1, 2], []}]}, {{{a}, secret}, [{m, f, none, []}]}, killed, {econn, "secret"}]]),
    %% Errors of the system are told, and nothing else.
    ?assertEqual([~"{badmatch, {error, enospc}} in m:f/2", ~"{error, eaddrinuse}", ~"{badmatch, _}", ~"{error, _}", ~"{badmatch, _}"],
                 [diagnose_probe:end_reason(Why)
                  || Why <- [{{badmatch, {error, enospc}}, [{m, f, 2, []}]}, {error, eaddrinuse}, {badmatch, {error, secret}}, {error, e},
                             {badmatch, {ok, enospc}}]]),
    %% Who called a function of the VM, and a table that is not there.
    _ = ets:new(?FUNCTION_NAME, [named_table, private]),
    ?assertEqual([~"badarg in ets:lookup/2 (there is no table rates) called by pricing:rate/1", ~"badarg in ets:insert/2 called by m:f/1",
                  ~"badarg in erlang:binary_to_integer/1 called by m:f/1", ~"function_clause in m:f/1"],
                 [diagnose_probe:end_reason(Why)
                  || Why <- [{badarg, [{ets, lookup, [rates, secret], []}, {pricing, rate, 1, []}]},
                             {badarg, [{ets, insert, [?FUNCTION_NAME, {1}], []}, {m, f, 1, []}]},
                             {badarg, [{erlang, binary_to_integer, [~"x"], []}, {m, f, 1, []}]},
                             {function_clause, [{m, f, [1], []}, {n, g, 1, []}]}]]),
    %% Whom it called, by its name alone.
    ?assertEqual([~"{timeout, call of stock}", ~"{noproc, call of db on b@c}", ~"{timeout, call of stock} in m:f/2", ~"{timeout, _}",
                  ~"{timeout, _}"],
                 [diagnose_probe:end_reason(Why)
                  || Why <- [{timeout, {gen_server, call, [stock, secret]}}, {noproc, {'Elixir.GenServer', call, [{db, b@c}, secret, 10]}},
                             {{timeout, {gen_statem, call, [stock, secret]}}, [{m, f, 2, []}]},
                             {timeout, {gen_server, call, [{global, secret}, x]}}, {timeout, {m, call, [stock, secret]}}]]),
    Loop = fun(Spawn) ->
                   spawn(fun Again() ->
                                 _ = Spawn(fun() -> timer:sleep(50), exit(econnrefused) end),
                                 timer:sleep(20),
                                 Again()
                         end)
           end,
    [Fails, Answers] = Pids = [Loop(fun proc_lib:spawn/1), Loop(fun erlang:spawn/1)],
    true = register(fails, Fails),
    true = register(answers, Answers),
    ok = logger:add_primary_filter(?MODULE, {fun(_, _) -> stop end, none}),
    Seen = fun See() ->
                   #{parents := Parents} = diagnose_probe:starts([], erlang:monotonic_time(millisecond) + 500),
                   case [One || #{pid := Pid} = One <- Parents, Pid =:= list_to_binary(pid_to_list(Fails))] of
                       [#{failed := Failed} = One] when Failed > 0 -> {One, Parents};
                       _ -> See()
                   end
           end,
    {#{failed := Failed, ended := Failed, reasons := Reasons}, Parents} = Seen(),
    _ = [exit(Pid, kill) || Pid <- Pids],
    ok = logger:remove_primary_filter(?MODULE),
    ?assertEqual([{~"econnrefused", Failed}], Reasons),
    ?assertEqual([], [One || #{pid := Pid} = One <- Parents, Pid =:= list_to_binary(pid_to_list(Answers))]).

%% What they do is seen, each once.
what_short_lived_processes_do_is_seen(_) ->
    Starter = spawn(fun Starts() -> _ = spawn(fun() -> works_briefly(50_000) end), receive after 5 -> Starts() end end),
    IsSeen = fun() ->
                     #{samples := Samples} = diagnose_probe:starts([], erlang:monotonic_time(millisecond) + 500),
                     lists:any(fun({_, Stack, _}) -> lists:member({?MODULE, works_briefly, 1}, Stack) end, Samples)
             end,
    ok = diagnose_test_wait(IsSeen),
    exit(Starter, kill).

%% The VM tells eight frames.
began_below_what_is_told_is_unknown(_) ->
    Stack = fun(Count) -> [{m, f, N, []} || N <- lists:seq(1, Count)] end,
    ?assertEqual([{m, f, 7}, unknown, unknown], [diagnose_probe:began_with(Stack(Count)) || Count <- [7, 8, 0]]),
    Deep = spawn(fun() -> below(20) end),
    ok = diagnose_test_wait(fun() -> element(2, process_info(Deep, status)) =:= waiting end),
    {_, Seen} = process_info(Deep, current_stacktrace),
    ?assertEqual(unknown, diagnose_probe:began_with(Seen)),
    exit(Deep, kill).

%% Equal frames that follow each other count as one.
below(0) -> receive never -> 0 end;
below(Left) when Left rem 2 =:= 0 -> 1 + below(Left - 1);
below(Left) -> 2 + below(Left - 1).

works_briefly(0) -> ok;
works_briefly(Left) ->
    _ = lists:seq(1, 10),
    works_briefly(Left - 1).

%% Those that run, or that are started all the time.
programs_are_told_of(_) ->
    Programs = #{alive => 3, seen => 0, started_a_second => 0, names => [{~"sleep", 3}],
                 owners => [{~"<0.9.0>", ntp_worker, 3}], labels => [{{ntp, init, 1}, 1}]},
    Found = fun(More) -> signs(#{programs => maps:merge(Programs, More)}, []) end,
    ?assertMatch([{os_processes, #{alive := 100, owners := [#{label := ~"<0.9.0> (ntp_worker)"}]}}], Found(#{alive => 100})),
    %% Each camera has one, which stays.
    Cameras = #{alive => 130, seen => 0, started_a_second => 0, owners => [{~"<0.9.0>", '', 1}, {~"<0.10.0>", '', 1}], labels => [{{camera, init, 1}, 130}]},
    ?assertEqual([], Found(Cameras)),
    [?assertMatch([_], Found(maps:merge(Cameras, Other)))
     || Other <- [#{seen => 1}, #{labels => [{{os, cmd, 2}, 130}]}, #{owners => [{~"<0.9.0>", '', 2}]}]],
    ?assertMatch([{os_processes, #{started_a_second := 12}}], Found(#{started_a_second => 12, seen => 20})),
    [?assertEqual([], Found(More))
     || More <- [#{}, #{alive => 99}, #{started_a_second => 9, seen => 30}, #{started_a_second => 30, seen => 9}]],
    Port = open_port({spawn, "cat"}, []),
    ?assertMatch(#{alive := Alive, names := [_ | _]} when Alive > 0, diagnose_probe:programs(erlang:monotonic_time(millisecond) + 100)),
    true = port_close(Port).

%% Sockets that are closed again without a connection, many by each process.
attempts_to_connect_that_are_made_again_at_once_are_told_of(_) ->
    Connects = #{seen => 30, connected => 3, a_second => 1234, processes => 2, in => [{{mongo, connect, 2}, 28}],
                 owners => [{~"<0.9.0>", '', 16}], labels => [{{mongo, init, 1}, 2}]},
    #{programs := Programs} = nothing(),
    Found = fun(More) -> [Sign || #{signs := Signs} <- found(#{programs => Programs#{connects => maps:merge(Connects, More)}}, []), Sign <- Signs] end,
    [#{kind := connect_loop} = Sign] = Found(#{}),
    ?assertEqual("opens about 1,200 TCP sockets a second that get no connection and are closed at once (30 were seen, and 3 with a"
                 " connection), in mongo:connect/2 (28); opened by 2 processes: <0.9.0> (16)", said(Sign)),
    [?assertEqual([], Found(More)) || More <- [#{seen => 9, connected => 0}, #{connected => 4}, #{processes => 21}, #{processes => 20, a_second => 99}, #{a_second => 49}]],
    {ok, Listener} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listener),
    ok = gen_tcp:close(Listener), % nobody accepts there now
    Pids = [spawn(fun Again() -> {error, _} = gen_tcp:connect({127, 0, 0, 1}, Port, []), Again() end) || _ <- lists:seq(1, 4)],
    ok = diagnose_test_wait(
           fun() ->
                   #{connects := Real} = diagnose_probe:programs(now_ms() + 500),
                   case Real of #{seen := Seen, connected := 0, processes := Count} -> Seen > 0 andalso Count =< 4; #{} -> false end
           end),
    [exit(Pid, kill) || Pid <- Pids].

%% A supervisor that waits for the init of a child, while others wait for it.
start_that_is_waited_for_is_told_of(_) ->
    Self = self(),
    Sup = spawn(fun() -> proc_lib:start_link(timer, sleep, [infinity]) end),
    ok = diagnose_test_wait(fun() -> process_info(Sup, current_function) =:= {current_function, {proc_lib, sync_start, 2}} end),
    [#{for := start, label := {timer, sleep, 1}, pid := Child}] = Asks =
        diagnose_probe:asks(Sup, #{status => waiting, message_queue_len => 5000}),
    ?assertNotEqual(list_to_binary(pid_to_list(Self)), Child),
    Few = suspect(#{depth => 14, usual_depth => 14, least_depth => 13, asks => Asks,
                    samples => [{waiting, [{proc_lib, sync_start, 2}], 19}, {running, [{supervisor, handle_call, 3}], 1}]}),
    [Says, Deep] = [begin
                        [#{signs := [#{kind := deep_mailbox} = Sign | _]}] = found(#{suspects => [One]}, []),
                        ?assertNotEqual(nomatch, string:find(maps:get(advice, Sign), "handle_continue")),
                        unicode:characters_to_list(diagnose_wording:sentence(Sign))
                    end || One <- [Few, Few#{depth := 5000, usual_depth := 5000}]],
    [?assertMatch({match, _}, re:run(Said, "waits for the start of <[0-9.]+>, timer:sleep/1, which is in timer:sleep/1"))
     || Said <- [Says, Deep]],
    %% It takes them between: the others are none too many.
    [?assertEqual([], findings(maps:merge(Few, Other), []))
     || Other <- [#{stays => false}, #{least_depth => 4},
                  #{samples => [{waiting, [{proc_lib, sync_start, 2}], 9}, {running, [{m, f, 1}], 11}]}]],
    exit(Sup, kill).

%% A supervisor that ends a child whose terminate/2 does not return.
%% It calls nobody, and has a program; or somebody linked to it reads from a socket for it.
who_waits_for_the_world_outside_is_told_of(_) ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, Number} = inet:port(Listen),
    Wait = fun(Open) -> spawn(fun() -> Own = Open(), waits_for(Own), done end) end,
    Program = Wait(fun() -> open_port({spawn_executable, "/bin/cat"}, []) end),
    Reader = Wait(fun() -> spawn_link(fun() -> {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Number, [{active, false}]),
                                               gen_tcp:recv(Socket, 0) end) end),
    Idle = spawn(?MODULE, waits_for, [open_port({spawn_executable, "/bin/cat"}, [])]),
    Asks = fun(Pid) -> diagnose_probe:asks(Pid, #{status => waiting, message_queue_len => 60}) end,
    ok = diagnose_test_wait(fun() -> Asks(Program) =/= [] andalso Asks(Reader) =/= [] end),
    [#{for := program, at := ~"cat"}] = OfProgram = Asks(Program),
    [#{for := data, at := _}] = OfReader = Asks(Reader),
    ?assertEqual([], Asks(Idle)),
    Server = suspect(#{depth => 60, usual_depth => 60, least_depth => 60, stays => true, waiting => [{~"call of {auth, _}", 60}],
                       samples => [{waiting, [{auth, result, 1}, {auth, handle_call, 3}, {gen_server, try_handle_call, 4}], 20}]}),
    [begin
         [#{signs := [#{kind := deep_mailbox, advice := Advice} = Sign]}] = found(#{suspects => [Server#{asks => Of}]}, []),
         ?assertMatch({{match, _}, {_, _}, nomatch}, {re:run(unicode:characters_to_list(diagnose_wording:sentence(Sign)), Says),
                                                       binary:match(Advice, Does), binary:match(Advice, ~"find out for what")})
     end
     || {Of, Says, Does} <- [{OfProgram, "waits for its program cat \\(#Port", ~"start several"},
                             {OfReader, "which waits in .* for data of 127.0.0.1", ~"gen_tcp:recv/3"}]],
    _ = [exit(Pid, kill) || Pid <- [Program, Reader, Idle]],
    ok = gen_tcp:close(Listen).

waits_for(Own) -> receive {Own, answer} -> ok end.

who_copies_a_binary_at_each_step_is_told_so(_) ->
    One = #{kind => minor, reason => virtual_heap, count => 500, us => 17_000, young => 72_000, old => 0, aged => 0, left => 36_000,
            freed => 0, held => 3_600_000_000, old_held => 0, held_left => 1_800_000_000, held_freed => 0, virtual => 3_600_000_000},
    IsTold = fun(Why) ->
                     [Text] = [Advice || #{signs := Signs} <-
                                             found(#{suspects =>
                                                         [suspect(#{depth => 0, reductions => 6.0e6, answer_ms => 8,
                                                                    samples => [{running, [{html, render, 2}, {export, loop, 1}], 40}],
                                                                    pauses => #{minor => 500, full => 0, long => 0, longest_us => 100,
                                                                                total_us => 17_000, window_ms => 500, settings => #{},
                                                                                why => Why}})]},
                                                   []),
                                         #{kind := busy_process, advice := Advice} <- Signs],
                     {re:run(Text, "3600.* of them a second") =/= nomatch, binary:match(Text, ~"iodata") =/= nomatch}
             end,
    ?assertEqual({true, true}, IsTold([One])),
    %% Small binaries; those that are passed on; some; few a second.
    [?assertEqual({false, false}, IsTold(Why))
     || Why <- [[One#{young := 72_000_000}], [One#{held_left := 100_000_000}], [One, One#{reason := heap}],
                [One#{held := 36_000_000, held_left := 18_000_000}], []]].

%% The VM tells eight frames of a stack. The behaviour is known by what the process is then.
who_is_deep_in_a_callback_is_known_for_a_server(_) ->
    Stack = [{gen, do_call, 4}, {gen_server, call, 3}, {file, call, 2}, {reloader, stat, 1}, {reloader, is_stale, 2}, {lists, any_1, 2},
             {reloader, compile, 1}, {reloader, reload, 2}],
    Kinds = fun(Label, Deep) ->
                    [Kind || #{signs := Signs} <- found(#{suspects => [suspect(#{depth => 39, usual_depth => 39, least_depth => 38, stays => true,
                                                                                 label => Label, waiting => [{~"call of reload", 39}],
                                                                                 samples => [{waiting, Deep, 74}]})]}, []),
                             #{kind := Kind} <- Signs]
            end,
    ?assertEqual([deep_mailbox], Kinds({reloader, init, 1}, Stack)),
    ?assertEqual([], Kinds({reloader, loop, 1}, Stack)),
    ?assertEqual([], Kinds({reloader, init, 1}, lists:droplast(Stack))).

%% By the function that called it, which is of another module where a fun of the caller is run.
who_sleeps_is_said_to_sleep(_) ->
    Advice = fun(Stack) ->
                     [#{signs := [#{kind := deep_mailbox, advice := Text}]}] =
                         found(#{suspects => [suspect(#{depth => 60, usual_depth => 60, least_depth => 60, stays => true,
                                                        waiting => [{~"call of {transaction, _}", 60}],
                                                        samples => [{waiting, Stack, 20}]})]}, []),
                     Text
             end,
    Server = [{locks, handle_call, 3}, {gen_server, try_handle_call, 4}],
    OfCaller = Advice([{timer, sleep, 1}, {prices, fetch, 1} | Server]),
    ?assertMatch({{_, _}, {_, _}}, {binary:match(OfCaller, ~"it sleeps, and prices:fetch/1 has called that"),
                                    binary:match(OfCaller, ~"its own locks:handle_call/3 runs code of that module")}),
    Own = Advice([{'Elixir.Process', sleep, 1} | Server]),
    ?assertMatch({{_, _}, nomatch}, {binary:match(Own, ~"locks:handle_call/3 has called that"), binary:match(Own, ~"fun of its callers")}).

who_waits_for_an_end_is_told_of(_) ->
    Child = spawn(fun() -> process_flag(trap_exit, true), receive never -> ok end end),
    {ok, Sup} = supervisor:start_link(?MODULE, Child),
    Caller = spawn(fun() -> supervisor:terminate_child(Sup, child) end),
    ok = diagnose_test_wait(fun() -> process_info(Sup, current_function) =:= {current_function, {supervisor, shutdown, 1}} end),
    ChildText = list_to_binary(pid_to_list(Child)),
    [#{for := stop, pid := ChildText, in := {?MODULE, _, _}}] = Asks =
        diagnose_probe:asks(Sup, #{status => waiting, message_queue_len => 60}),
    Ends = suspect(#{depth => 60, usual_depth => 60, least_depth => 60, asks => Asks,
                     samples => [{waiting, [{supervisor, shutdown, 1}], 20}]}),
    [#{signs := [#{advice := Advice} = Sign]}] = found(#{suspects => [Ends]}, []),
    ?assertNotEqual(nomatch, string:find(Advice, "shutdown infinity")),
    ?assertMatch({match, _}, re:run(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                                    "waits for the end of <[0-9.]+>, which is in")),
    unlink(Sup),
    _ = [exit(Pid, kill) || Pid <- [Caller, Sup, Child]].

-spec init(pid()) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init({supervisor, Children}) -> {ok, Children};
init({works, Ms}) -> {ok, Ms};
init({ends, Ms}) ->
    process_flag(trap_exit, true),
    {ok, {ends, Ms}};
init({asks_host, Port}) -> _ = erlang:send_after(1, self(), {asks_host, Port}), {ok, none};
init(Child) -> {ok, {#{}, [#{id => child, start => {?MODULE, started, [Child]}, shutdown => infinity}]}}.

%% Those that end slowly, for a test.
terminate(_Reason, {ends, Ms}) -> timer:sleep(Ms);
terminate(_Reason, _State) -> ok.

-spec started(pid()) -> {ok, pid()}.
started(Child) -> {ok, Child}.

%% Where the VM interrupts a search, or in a fold.
tables_that_are_gone_through_are_told_of(_) ->
    ?assertEqual({m, f, 1}, diagnose_probe:table_scan({ets, select_trap, 1}, [{m, f, 1}, {n, g, 0}])),
    ?assertEqual({m, f, 1}, diagnose_probe:table_scan({ets, count_trap, 1}, [{ets, tab2list, 1}, {m, f, 1}, {n, g, 0}])),
    ?assertEqual({m, f, 1},
                 diagnose_probe:table_scan({lists, foldl_1, 3}, [{lists, foldl_1, 3}, {ets, do_foldl, 4}, {ets, foldl, 3}, {m, f, 1}])),
    [?assertEqual(none, diagnose_probe:table_scan(Current, [{m, f, 1}]))
     || Current <- [{ets, select, 2}, {ets, delete_trap, 1}, {m, f, 1}]],
    %% By libraries, and in an ordered_set.
    [?assertEqual({m, f, 1}, diagnose_probe:table_scan(Current, Frames ++ [{m, f, 1}, {n, g, 0}]))
     || {Current, Frames} <- [{{ets, select, 1}, []}, {{ets, select_reverse, 1}, []},
                              {{ets, select_trap, 1}, [{ets, '-table/2-fun-2-', 3}, {qlc, collect, 1}, {qlc, eval, 2}]},
                              {{ets, select_trap, 1}, [{mnesia_lib, db_select, 3}, {mnesia, do_dirty_rpc, 5}]}]],
    ?assertEqual({qlc, collect, 1}, diagnose_probe:table_scan({ets, select_trap, 1}, lists:duplicate(8, {qlc, collect, 1}))),
    true = ets:insert(ets:new(?FUNCTION_NAME, [named_table, public, ordered_set]), [{N} || N <- lists:seq(1, 50_000)]),
    Finds = spawn_link(fun Finds() -> [] = ets:select(?FUNCTION_NAME, [{{'$1'}, [{'<', '$1', 0}], ['$1']}]), Finds() end),
    Seen = [begin timer:sleep(5), element(2, process_info(Finds, current_function)) end || _ <- lists:seq(1, 40)],
    unlink(Finds),
    exit(Finds, kill),
    ?assert(lists:any(fun(Current) -> diagnose_probe:table_scan(Current, [{m, f, 1}]) =/= none end, Seen)),
    Samples = [{runnable, [{m, f, 1}], 10}, {waiting, [{timer, sleep, 1}], 66}],
    Scans = fun(Times) -> suspect(#{depth => 0, samples => Samples, table_scans => #{times => Times, in => {m, f, 1}}}) end,
    #{tables := Tables} = nothing(),
    Sessions = #{name => sessions, size => 100_000, bytes => 10, owner => ~"<0.9.0>", type => set, protection => public},
    Look = #{tables => Tables#{largest := [Sessions]}},
    Found = fun(Suspects) -> [One || {table_scan, _} = One <- signs(Look#{suspects => Suspects}, [])] end,
    ?assertMatch([{table_scan, #{times := 4, in := ~"m:f/1", tables := [#{name := sessions}]}}], Found([Scans(4)])),
    ?assertEqual([], Found([Scans(3)])),
    %% A table that only grows, by rows of processes that have ended.
    Told = fun(Table, Counts) ->
                   Grows = #{name => sessions, owner => ~"<0.9.0>", node_ms => 60_000,
                             looks => [{100 * N, Count, 9} || {N, Count} <- lists:enumerate(Counts)]},
                   [#{signs := [Sign]}] = found(#{tables => Tables#{largest := [Table]}, growing => [Grows], suspects => [Scans(4)]}, []),
                   {said(Sign), advised(Sign)}
           end,
    {Said, Deletes} = Told(Sessions#{keys_of_ended => 19, keys_of_processes => 20}, lists:seq(100_000, 100_600, 15)),
    ?assert(has("sessions (100,000 rows, 150 more a second, owner <0.9.0>; 19 of 20 of its keys and rows that were read name processes"
                " that have ended)", Said)),
    ?assert(has("delete its rows when it ends", Deletes)),
    ?assert(has("who should delete the rows of sessions", element(2, Told(Sessions, lists:seq(100_000, 100_600, 15))))),
    {Steady, Search} = Told(Sessions#{keys_of_ended => 1, keys_of_processes => 20}, lists:seq(100_600, 100_000, -15)),
    ?assertEqual({false, false, false}, {has("a second", Steady), has("ended", Steady), has("delete", Search)}),
    %% Real ones: the oldest keys are of processes that have ended.
    Gone = [element(1, spawn_monitor(fun() -> ok end)) || _ <- lists:seq(1, 100)],
    [receive {'DOWN', _, process, Pid, _} -> ok end || Pid <- Gone],
    Topics = ets:new(topics, [public, ordered_set]),
    true = ets:insert(Topics, [{{N, lists:nth(1 + N rem 100, Gone)}} || N <- lists:seq(1, 200_000)] ++ [{{300_000, self()}}]),
    #{largest := Largest} = diagnose_probe:tables(),
    ?assertMatch([#{keys_of_ended := 19, keys_of_processes := 20}], [One || #{name := topics} = One <- Largest]),
    true = ets:delete(Topics),
    %% Or their rows do.
    Services = [ets:new(services, [public, Type]) || Type <- [set, duplicate_bag]],
    _ = [ets:insert(T, [{N, ~"urn", lists:nth(1 + N rem 100, Gone)} || N <- lists:seq(1, 20_000)]) || T <- Services],
    #{largest := Larger} = diagnose_probe:tables(),
    ?assertEqual([true, true], [Asked >= 10 || #{name := services, keys_of_ended := Asked, keys_of_processes := Asked} <- Larger]),
    _ = [ets:delete(T) || T <- Services],
    Most = (maps:without([rows], Sessions))#{bytes := 200_000_000, keys_of_ended => 10, keys_of_processes => 10},
    [#{signs := [#{kind := large_ets_table} = Large]}] = found(#{tables => Tables#{largest := [Most]}, memory => #{total => 210_000_000}}, []),
    ?assert(has("monitor the processes", advised(Large))),
    %% Many that do it seldom, each for itself.
    ?assertMatch([{table_scan, #{processes := 4, times := 12}}],
                 Found([(Scans(3))#{pid := Pid} || Pid <- [~"<0.1.0>", ~"<0.2.0>", ~"<0.3.0>", ~"<0.4.0>"]])),
    %% A loop that only does that is no other loop.
    Busy = (Scans(20))#{samples := [{running, [{m, f, 1}], 20}], reductions := 2.0e7, answer_ms := 1},
    ?assertMatch([{table_scan, _}], findings(Busy, [])),
    ?assertMatch([{busy_process, _}], findings(Busy#{table_scans := #{times => 0, in => none}}, [])),
    %% A batch looks like a loop.
    [#{signs := [#{advice := Advice}]}] = found(#{suspects => [Busy#{table_scans := #{times => 0, in => none}}]}, []),
    ?assertMatch({_, _}, binary:match(Advice, ~"meant to compute for that long (a batch), leave it, or give it priority low")).

%% Several processes at one pace, and who asks for that.
collections_that_are_asked_for_are_told_of(_) ->
    Why = fun(Reason, Count) ->
                  #{kind => full, reason => Reason, count => Count, us => 100, young => 0, old => 0, aged => 0, left => 0, freed => 0,
                    held => 0, old_held => 0, held_left => 0, held_freed => 0, virtual => 0}
          end,
    Collected = fun(Pid, Reason, Count) ->
                        suspect(#{pid => Pid, depth => 0,
                                  pauses => #{minor => 0, full => Count, long => 0, longest_us => 1, total_us => 100,
                                              window_ms => 4000, why => [Why(Reason, Count)], settings => #{}}})
                end,
    Asked = [Collected(Pid, asked, 20) || Pid <- [~"<0.1.0>", ~"<0.2.0>", ~"<0.3.0>"]],
    Asker = suspect(#{pid => ~"<0.4.0>", depth => 0,
                      samples => [{waiting, [{erlang, garbage_collect, 2}, {erlang, garbage_collect, 1}, {m, cron, 0}], 10},
                                  {waiting, [{timer, sleep, 1}], 30}]}),
    ?assertMatch([#{subject := #{process := #{pid := ~"<0.4.0>"}},
                    signs := [#{kind := forced_collections, evidence := #{asked := 3, times := 10}}]}],
                 found(#{suspects => [Asker | Asked]}, [])),
    ?assertMatch([#{subject := node, signs := [#{kind := forced_collections}]}], found(#{suspects => Asked}, [])),
    %% To replace a term asks for them, too.
    ?assertMatch([#{subject := node, signs := [#{kind := persistent_term_churn}]}],
                 found(#{suspects => Asked, terms => #{looks => 9, count => 1, terms => [#{term => features, times => 9}]}}, [])),
    [#{signs := [#{kind := persistent_term_churn, advice := OfLogger}]}] =
        found(#{terms => #{looks => 9, count => 1, terms => [#{term => {logger_olp, default}, times => 9}]}}, []),
    ?assertNotEqual(nomatch, string:find(OfLogger, "Log less")),
    Reloads = #{looks => 9, modules => [#{module => m, times => 9}], in => [{{shop, configured, 1}, 7}]},
    [#{subject := node, signs := [#{kind := code_churn} = Churn]}] = found(#{suspects => Asked, reloads => Reloads}, []),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Churn)),
                                         "m at 9 of 9 looks; loaded in shop:configured/1 (7)")),
    [?assertEqual([], signs(#{suspects => Suspects}, []))
     || Suspects <- [[Asker],
                     [Asker | tl(Asked)],
                     [One#{hibernates := true} || One <- Asked],
                     [Collected(Pid, asked, 3) || #{pid := Pid} <- Asked],
                     [Collected(Pid, heap, 20) || #{pid := Pid} <- Asked],
                     [Collected(Pid, heap, 1) || Pid <- [~"<0.5.0>", ~"<0.6.0>", ~"<0.7.0>"]] ++ Asked]].

%% Its loop scans the mailbox for messages of sys, which is no fault of it. With 3,500 messages and with 20.
suspended_by_sys_is_resumed(_) ->
    Suspended = suspect(#{pid => ~"<0.5.0>", depth => 20, usual_depth => 20, least_depth => 20, idle => true, growth => 200.0,
                          waiting => [{~"call of book", 9}], samples => [{waiting, [{sys, suspend_loop, 6}, {proc_lib, init_p, 3}], 20}]}),
    Scan = #{pid => ~"<0.5.0>", function => {sys, suspend_loop, 6}, file => ~"sys.erl", line => 459, called_from => none,
             seen => 20, looks => 20},
    [?assertMatch({[deep_mailbox], {_, _}}, {[Kind || #{kind := Kind} <- Signs], binary:match(Advice, ~"sys:resume/1")})
     || Depth <- [20, 3500],
        #{signs := [#{advice := Advice} | _] = Signs} <- found(#{suspects => [Suspended#{depth := Depth, usual_depth := Depth}]}, [Scan])].

%% The heap that a full sweep makes counts beside the one that there is.
near_its_limit_is_not_collected(_) ->
    May = fun(Most, Words) -> diagnose_probe:may_be_collected([{max_heap_size, #{size => Most, kill => true}}, {total_heap_size, Words}]) end,
    ?assertEqual([true, true, false], [May(0, 5_000_000), May(1_000_000, 300_000), May(1_000_000, 600_000)]),
    ?assertNot(diagnose_probe:may_be_collected(undefined)).

%% It works when nobody else would.
low_priority_is_not_busy(_) ->
    Busy = suspect(#{depth => 0, reductions => 5.0e6, answer_ms => 1, samples => [{running, [{rollup, totals, 2}], 20}]}),
    ?assertMatch([{busy_process, _}], findings(Busy, [])),
    ?assertEqual([], findings(Busy#{priority := low}, [])).

%% One that rests half of the time takes its scheduler from others all the same.
priority_is_told_of(_) ->
    High = suspect(#{depth => 0, priority => high, reductions => 2.0e6,
                     samples => [{running, [{m, f, 0}], 5}, {runnable, [{m, g, 0}], 6}, {waiting, [{m, h, 0}], 9}]}),
    ?assertMatch([{high_priority, #{priority := high, times := 11, looks := 20, seen := true}}], findings(High, [])),
    %% With one scheduler, whoever looks runs only while it rests.
    Unseen = High#{reductions := 1.5e8, samples := [{waiting, [{m, h, 0}], 3}]},
    ?assertMatch([{high_priority, #{seen := false}}], [Sign || {high_priority, _} = Sign <- findings(Unseen, [])]),
    Traced = fun(Tracer) ->
                     Trace = #{asked => 9, traced => 9, new => false, flags => [call], tracer => Tracer},
                     [Kind || {Kind, _} <- signs(#{suspects => [High], traced => Trace}, [])]
             end,
    ?assertEqual({[tracing], [high_priority, tracing]}, {Traced(maps:get(pid, High)), lists:sort(Traced(unknown))}),
    [?assertEqual([], findings(maps:merge(High, Other), []))
     || Other <- [#{priority => normal}, #{reductions => 9.0e5}, #{reductions => unknown}, #{label => {erts_code_purger, start, 0}},
                  #{samples => [{running, [{m, f, 0}], 9}, {waiting, [{m, h, 0}], 11}]}]].

%% What is on a heap that was never collected was there to begin with.
what_processes_are_given_is_told_of(_) ->
    Gives = parent(#{copies => 40, copied => 200_000_000}),
    ?assertMatch([{copied_starts, #{each_bytes := 5_000_000, bytes_a_second := 50_000_000}}], signs(starts(Gives), [])),
    [?assertEqual([], signs(starts(maps:merge(Gives, Other)), [])) || Other <- [#{copies => 9}, #{copied => 70_000_000}]],
    %% A row that each of them reads is no argument.
    Row = starts(parent(#{takes => 40, taken => 200_000_000})),
    #{tables := None} = nothing(),
    Config = #{name => config, bytes => 4_000_000, size => 1, owner => ~"<0.9.0>", type => set, protection => public},
    Tables = #{tables => None#{largest := [Config]}},
    [{copied_starts, #{how := taken, large_rows := [#{name := config, rows := 1}]}}] = signs(maps:merge(Row, Tables), []),
    ?assertEqual([], signs(maps:merge(starts(parent(#{})), Tables), [])),
    ?assertMatch([{copied_starts, #{how := taken, large_rows := []}}], signs(Row, [])),
    ?assertEqual([], signs(starts(parent(#{takes => 9, taken => 200_000_000})), [])),
    %% So does the trace of their collections say, which a row causes.
    Births = #{births => #{pid => ~"<0.9.0>", name => acceptor, labels => [{request, init, 1}], window_ms => 1000, ended => 40, grown => 0,
                           collections => 0, us => 0, left => 0, first => 0, limit => 0, sizes => [], takes => 40, taken => 200_000_000}},
    ?assertMatch([{copied_starts, #{how := taken, starts := 40, 'of' := [#{label := ~"request:init/1"}]}}], signs(Births, [])),
    ?assertMatch([{copied_starts, #{parents := 1}}], signs(maps:merge(Births, Row), [])),
    Large = lists:seq(1, 50_000),
    Copied = fun(Fun, Messages) ->
                     Pid = spawn(Fun),
                     _ = [Pid ! Message || Message <- Messages],
                     ok = diagnose_test_wait(fun() ->
                                                     [{_, Status}, {_, Depth}] = process_info(Pid, [status, message_queue_len]),
                                                     {Status, Depth} =:= {waiting, 0}
                                             end),
                     [{_, Settings}, {_, Info}] = process_info(Pid, [garbage_collection, garbage_collection_info]),
                     true = exit(Pid, kill),
                     Sizes = diagnose_probe:sizes(Info),
                     {diagnose_probe:copied(Settings, Sizes), diagnose_probe:taken(Sizes)}
             end,
    {Given, 0} = Copied(fun() -> receive stop -> Large end end, []),
    {0, Taken} = Copied(fun() -> receive {config, Received} -> receive stop -> Received end end end, [{config, Large}]),
    ?assertEqual({true, true}, {Given >= 16 * 50_000, Taken >= 16 * 50_000}),
    ?assertEqual({0, 0}, Copied(fun() -> Own = lists:seq(1, 50_000), receive stop -> Own end end, [])),
    ?assertEqual({0, 0}, Copied(fun() -> receive stop -> ok end end, [])),
    %% A native function may have made as much of what the process has.
    ?assertEqual({1_500_000, 0}, {diagnose_probe:taken(#{used => 1_600_000, fragments => 1_500_000}),
                                  diagnose_probe:taken(#{used => 4_000_000, fragments => 1_500_000})}).

%% Linux lists the sockets that listen first, with how many connections wait to be accepted.
connections_that_nobody_accepts_are_told_of(_) ->
    Socket = #{port => 8080, least => 6, most => 6, accepting => false, pid => ~"<0.9.0>", name => '',
               label => {ranch_listener_sup, init, 1}},
    Seen = fun(More, Looks) -> #{not_accepted => #{looks => Looks, ms => 3000, sockets => [maps:merge(Socket, More)]}} end,
    [#{subject := node, signs := [#{kind := not_accepted} = Sign]}] = found(Seen(#{}, 10), []),
    ?assertEqual("has connections that wait to be accepted on port 8080 (owner <0.9.0>, ranch_listener_sup:init/1): 6 at each of 10 looks"
                 " within 3.0 s, and no process waits in accept", said(Sign)),
    ?assertMatch([{not_accepted, #{}}], signs(Seen(#{least => 1, most => 2}, 10), [])),
    %% One that has been left there, as by a check whether the port is open.
    ?assertEqual([], signs(Seen(#{least => 1, most => 1}, 10), [])),
    ?assertMatch([{not_accepted, #{accepting := true}}], signs(Seen(#{least => 5, most => 9, accepting => true}, 10), [])),
    Acceptors = fun(Of) -> [#{signs := [#{advice := Advice} = Told]}] = found(Seen(#{acceptors => Of}, 10), []), {said(Told), Advice} end,
    Stack = fun(Frames) -> [{Module, Function, Arity, []} || {Module, Function, Arity} <- Frames] end,
    Shakes = Stack([{gen, do_call, 4}, {ssl_gen_statem, handshake, 2}, {web, accept, 1}]),
    Reads = Stack([{prim_inet, recv0, 3}, {web, serve, 1}]),
    Limit = Stack([{web, at_limit, 0}, {web, accepts, 3}]),
    {Shaking, Handshake} = Acceptors(diagnose_probe:acceptors_of(lists:duplicate(10, Shakes))),
    ?assert(has("; 10 of 10 processes at the owner that wait are in web:accept/1, and 10 wait for a client", Shaking)),
    ?assert(has("ssl:handshake/2", Handshake)),
    %% Connections that are linked to the owner hide none that should accept.
    {Limited, Both} = Acceptors(diagnose_probe:acceptors_of([Limit | lists:duplicate(20, Shakes) ++ lists:duplicate(30, Reads)])),
    ?assert(has("; 1 of 51 processes at the owner that wait are in web:at_limit/0, and 50 wait for a client", Limited)),
    ?assertEqual([true, true], [has(Words, Both) || Words <- ["max_connections", "ssl:handshake/2"]]),
    {Alone, General} = Acceptors(diagnose_probe:acceptors_of([Limit])),
    ?assertEqual([false, true, false], [has("for a client", Alone), has("max_connections", General), has("ssl:handshake/2", General)]),
    ?assertEqual(none, diagnose_probe:acceptors_of([])),
    [?assertEqual([], signs(Of, [])) || Of <- [Seen(#{}, 5), Seen(#{least => 4, most => 90, accepting => true}, 10)]],
    Line = fun(Local, State, Queue) ->
                   ["   0: ", Local, " 00000000:0000 ", State, " 00000000:", Queue, " 00:00000000 00000000  0  0 1 1\n"]
           end,
    Text = iolist_to_binary(["  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n",
                             Line("00000000:1F90", "0A", "00000046"), Line("0100007F:1F91", "0A", "00000000"),
                             Line("0100007F:1F92", "01", "00000009"), "  3: 00000000:1F93 000"]),
    ?assertEqual([{~"00000000:1F90", 70}], diagnose_probe:backlogs_of(Text)),
    ?assertEqual([[~"0100007F:1F90"], [~"00000000000000000000000001000000:0050"], []],
                 [diagnose_probe:local_text(Address, Number)
                  || {Address, Number} <- [{{127, 0, 0, 1}, 8080}, {{0, 0, 0, 0, 0, 0, 0, 1}, 80}, {local, ~"/run/socket"}]]),
    {ok, Listens} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listens),
    {ok, Connected} = gen_tcp:connect({127, 0, 0, 1}, Port, []),
    Looked = fun() -> [One || #{port := P} = One <- maps:get(sockets, diagnose_probe:not_accepted(now_ms() + 600)), P =:= Port] end,
    Own = list_to_binary(pid_to_list(self())),
    ?assertMatch([#{least := 1, most := 1, accepting := false, pid := Own}], Looked()),
    {ok, Accepted} = gen_tcp:accept(Listens),
    ?assertEqual([], Looked()),
    [ok = gen_tcp:close(Which) || Which <- [Accepted, Connected, Listens]].

%% Attempts to connect that find no room, and packets that are not read in time.
what_the_system_drops_is_told_of(_) ->
    Owner = #{port => 8125, pid => ~"<0.9.0>", name => statsd, label => unknown},
    Losses = fun(More) -> #{losses => maps:merge(#{ms => 2000, looks => 100, refused => 0, full => [], udp => []}, More)} end,
    Full = fun(Refused, Times) -> Losses(#{refused => Refused, full => [Owner#{backlog => 5, times => Times}]}) end,
    [#{subject := node, signs := [#{kind := not_accepted} = Sign]}] = found(Full(30, 4), []),
    ?assertEqual("has no room for connections that wait to be accepted on port 8125 (owner <0.9.0> (statsd)): its backlog of 5 is used up at 4"
                 " of 100 looks, and the system has dropped 30 attempts to connect within 2.0 s", said(Sign)),
    %% Those of another program; and a socket of this node that only has few at times.
    [?assertEqual([], signs(Few, [])) || Few <- [Losses(#{refused => 1000}), Full(9, 90), Full(900, 1)]],
    Always = #{not_accepted => #{looks => 10, ms => 3000, sockets => [Owner#{least => 6, most => 6, accepting => false}]}},
    ?assertMatch([{not_accepted, #{least := 6}}], signs(maps:merge(Always, Full(30, 90)), [])),
    Udp = fun(Dropped, Came) ->
                  Losses(#{udp => [Owner#{dropped => Dropped, came => Came, active => once, read_packets => 5, buffer => 16_384}]})
          end,
    [#{subject := node, signs := [#{kind := packets_dropped} = Lost]}] = found(Udp(200, 600), []),
    ?assertEqual("loses 100 packets of UDP a second (25 % of those that come) on port 8125 (owner <0.9.0> (statsd)), measured for 2.0 s: the"
                 " system drops what its buffer of 16.4 kB has no room for ({active, once}, {read_packets, 5})", said(Lost)),
    [?assertEqual([], signs(Udp(Dropped, Came), [])) || {Dropped, Came} <- [{19, 0}, {200, 20_000}]],
    Text = [~"TcpExt: SyncookiesSent ListenOverflows ListenDrops", ~"TcpExt: 1 23 45", ~"IpExt: InOctets", ~"IpExt: 6", <<>>],
    ?assertEqual([23, 6, unknown], [diagnose_probe:counter_of(Name, Text) || Name <- [~"ListenOverflows", ~"InOctets", ~"OutOctets"]]),
    ?assertEqual(unknown, diagnose_probe:counter_of(~"ListenOverflows", [~"TcpExt: SyncookiesSent ListenOverflows", ~"TcpExt: 1"])),
    {ok, Socket} = gen_udp:open(0, [{active, false}, {recbuf, 4096}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Socket),
    {ok, Listens} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {backlog, 1}]),
    {ok, Listening} = inet:port(Listens),
    Clients = [gen_tcp:connect({127, 0, 0, 1}, Listening, [], 100) || _ <- lists:seq(1, 3)],
    Sender = spawn(fun() -> {ok, Client} = gen_udp:open(0), sends_on(Client, Port) end),
    #{udp := Lossy, full := Filled} = diagnose_probe:losses(now_ms() + 1000),
    true = exit(Sender, kill),
    [ok = gen_tcp:close(Client) || {ok, Client} <- Clients],
    Own = list_to_binary(pid_to_list(self())),
    ?assertMatch([#{dropped := Dropped, came := 0, active := false, pid := Own}] when Dropped > 0, [One || #{port := P} = One <- Lossy, P =:= Port]),
    ?assertMatch([#{backlog := 1, times := Times}] when Times > 0, [One || #{port := P} = One <- Filled, P =:= Listening]),
    ok = gen_tcp:close(Listens),
    ok = gen_udp:close(Socket).

sends_on(Client, Port) ->
    ok = gen_udp:send(Client, {127, 0, 0, 1}, Port, <<0:8000>>),
    timer:sleep(1),
    sends_on(Client, Port).

%% Of few processes all are asked. One that waits in vain looks like one that waits for work, so that is no finding.
who_waits_for_an_answer_all_the_time_is_told(_) ->
    Server = spawn(fun() -> register(never_answers, self()), receive stop -> ok end end),
    ok = diagnose_test_wait(fun() -> whereis(never_answers) =:= Server end),
    Caller = spawn(fun() -> gen_server:call(never_answers, anything, infinity) end),
    ok = diagnose_test_wait(fun() -> process_info(Caller, current_function) =:= {current_function, {gen, do_call, 4}} end),
    #{count := Count, most := Most} = Seen = diagnose_probe:unanswered(now_ms() + 100),
    Pid = list_to_binary(pid_to_list(Caller)),
    [_] = [One || #{pid := P, called := ~"never_answers", count := 1, logs := false} = One <- Most, P =:= Pid],
    true = exit(Caller, kill),
    %% Whoever logs, also where the call is not the last that a handler or filter does.
    ok = logger:add_primary_filter(?MODULE, {fun asks_of_this_test/2, never_answers}),
    Loggers = [spawn(fun() -> logger:error("any", #{?MODULE => never_answers}) end) || _ <- lists:seq(1, 9)],
    [ok = diagnose_test_wait(fun() -> process_info(One, current_function) =:= {current_function, {gen, do_call, 4}} end) || One <- Loggers],
    #{most := Logged} = diagnose_probe:unanswered(now_ms() + 100),
    ok = logger:remove_primary_filter(?MODULE),
    ?assertMatch([#{logs := true, in := {lists, _, _}}], [One || #{called := ~"never_answers"} = One <- Logged]),
    [true = exit(One, kill) || One <- [Server | Loggers]],
    Nothing = (nothing())#{processes := #{looked => 3, skipped => #{}}},
    Report = #{findings => [], warnings => [], unknown => [], place => #{in => library, node => own}, look => Nothing#{unanswered => Seen}},
    ?assertMatch({match, _}, re:run(diagnose_text:last_line(Report),
                                    "Nothing found.* [0-9,]+ process(es)? waits? at two looks for the answer")),
    {_, Facts} = lists:keyfind("Processes", 1, diagnose_text:facts(Report)),
    ?assertMatch({match, _}, re:run(Facts, [Pid, " .*for never_answers"])),
    ?assert(Count >= 1),
    ?assertEqual(nomatch, re:run(diagnose_text:last_line(Report#{look := Nothing}), "for the answer")).

%% Whoever takes eof for an empty line asks again at once.
who_reads_without_a_rest_is_told(_) ->
    Samples = [{waiting, [{io, execute_request, 3}, {shell, prompt, 1}], 20}, {running, [{shell, prompt, 1}], 5}],
    Says = fun(Reductions) ->
                   Suspects = [suspect(#{pid => Pid, samples => Samples, reductions => Reductions}) || Pid <- [~"<0.7.0>", ~"<0.8.0>"]],
                   Look = (nothing())#{processes := #{looked => 3, skipped => #{}}, suspects := Suspects},
                   re:run(diagnose_text:last_line(#{findings => [], look => Look}), "and 1 others read or print without a rest")
           end,
    ?assertMatch({{match, _}, nomatch}, {Says(2.0e6), Says(1.0e5)}).

asks_of_this_test(#{meta := #{?MODULE := Server}} = Event, Server) ->
    lists:map(fun(Any) -> gen_server:call(Server, Any, infinity) end, [Event]);
asks_of_this_test(_, _) -> ignore.

sleeps() ->
    timer:sleep(30),
    sleeps().

%% No process waits long; a request takes long nevertheless.
where_processes_wait_is_told(_) ->
    Handler = fun Handle() ->
                      _ = lists:map(fun(_) -> receive after 30 -> lists:seq(1, 2000) end end, [event]),
                      Handle()
              end,
    Pids = [spawn(Handler) || _ <- lists:seq(1, 40)] ++ [spawn(?MODULE, sleeps, []) || _ <- lists:seq(1, 40)],
    #{most := Most} = Seen = diagnose_probe:places(now_ms() + 400),
    ?assertEqual([], [Place || #{in := [{?MODULE, sleeps, 0} | _]} = Place <- Most]), % in its main loop
    [true = exit(Pid, kill) || Pid <- Pids],
    [#{count := Count, stay := Stay, in := [{?MODULE, _, 1}, {lists, _, 2}]}]
        = [Place || #{in := [_, {lists, _, _} | _]} = Place <- Most],
    ?assert(Count >= 20),
    ?assert(Stay =< Count div 2),
    Nothing = (nothing())#{processes := #{looked => 3, skipped => #{}}},
    Report = #{findings => [], warnings => [], unknown => [], place => #{in => library, node => own},
               look => Nothing#{places := Seen#{most := [#{count => 150, stay => 0, label => {web, request, 1},
                                                          in => [{httpc, handle_answer, 5}, {metrics, handle_event, 4}], for => none}]}}},
    ?assertMatch({match, _}, re:run(diagnose_text:last_line(Report),
                                    "Nothing found.* About 150 processes wait at two looks in httpc:handle_answer/5, called by metrics:handle_event/4")),
    {_, Facts} = lists:keyfind("Processes", 1, diagnose_text:facts(Report)),
    ?assertMatch({match, _}, re:run(Facts, "150 of web:request/1 in httpc:handle_answer/5, called by metrics:handle_event/4, none of ")),
    ?assertEqual(nomatch, re:run(diagnose_text:last_line(Report#{look := Nothing}), "processes wait at two looks in")),
    Last = fun(Places) -> diagnose_text:last_line(Report#{look := Nothing#{places := #{ms => 3800, most => Places}}}) end,
    ?assertMatch({match, _}, re:run(Last([#{count => 44, stay => 44, label => unknown, in => [{session, loop, 1}], for => ~"redix",
                                            at => ~"127.0.0.1:63"}]),
                                    "in session:loop/1 for redix \\(which is connected to 127.0.0.1:63\\)")),
    %% Requests to one host that does not answer, also if they are few and behind others; not the clients of this node.
    Own = #{count => 15, stay => 15, label => unknown, in => [{rest, client, 1}], for => none, at => unknown},
    Stuck = #{count => 10, stay => 10, label => {webhook, perform, 1}, in => [{http, post, 2}, {webhook, perform, 1}], for => none,
              at => ~"10.0.0.7:80"},
    ?assertMatch({match, _}, re:run(Last([Own, Stuck]), "Nothing found. About 10 .* http:post/2, called by webhook:perform/1 for data of"
                                                        " 10.0.0.7:80, and got nothing meanwhile.*time-out")),
    [?assertEqual(nomatch, re:run(Last([Own, Other]), "got nothing"))
     || Other <- [Stuck#{at := unknown}, Stuck#{stay := 5}, Stuck#{in := [{conn, loop, 1}]}]],
    %% Many that each have a connection to one host, in a function of their own.
    Silent = Stuck#{count := 109, stay := 102, in := [{fusco_client, read, 1}]},
    ?assertMatch({match, _}, re:run(Last([Silent]), "About 109 .* in fusco_client:read/1 for data of 10.0.0.7:80, and got nothing")),
    [?assertEqual(nomatch, re:run(Last([Silent#{Key := Value}]), "got nothing")) || {Key, Value} <- [{count, 99}, {stay, 90}, {at, unknown}]],
    %% A kind that has most of the memory, by several groups.
    Kind = fun(Many, Bytes, Total) ->
                   Groups = [#{label => {c2s, init, 1}, count => Many, heap_bytes => Bytes}, #{label => unknown, count => 9, heap_bytes => 1},
                             #{label => {c2s, init, 1}, count => 50, heap_bytes => 7_000_000}],
                   Look = Nothing#{groups := Groups, memory := #{total => Total}},
                   re:run(diagnose_text:last_line(Report#{look := Look}), "Most of its memory is in ([0-9]+) of c2s:init/1", [{capture, [1], list}])
           end,
    ?assertEqual([{match, ["750"]}, nomatch, nomatch],
                 [Kind(700, 550_000_000, 591_000_000), Kind(700, 280_000_000, 591_000_000), Kind(700, 80_000_000, 91_000_000)]),
    %% Those that get answers are told of from five on, where the host is known.
    ?assertMatch({match, _}, re:run(Last([Own, Stuck#{count := 5, stay := 0}]), "Nothing found. About 5 .* for data of 10.0.0.7:80: if their")),
    ?assertEqual(nomatch, re:run(Last([Own, Stuck#{count := 5, stay := 0, at := unknown}]), "About 5 ")),
    %% Real ones.
    {ok, Listen} = gen_tcp:listen(0, [{active, false}, {backlog, 100}, {ip, {127, 0, 0, 1}}]),
    {ok, Number} = inet:port(Listen),
    Asking = [spawn(fun() -> lists:foreach(fun(Port) -> asks_host(Port) end, [Number]) end) || _ <- lists:seq(1, 20)],
    timer:sleep(200),
    #{most := Waiting} = diagnose_probe:places(now_ms() + 300),
    [true = exit(Pid, kill) || Pid <- Asking],
    At = iolist_to_binary(["127.0.0.1:", integer_to_list(Number)]),
    ?assertMatch([#{count := 20, stay := 20, at := At}], [Place || #{in := [{?MODULE, asks_host, 1} | _]} = Place <- Waiting]).

%% Children of a supervisor that end normally: those that it starts again by itself, and those that somebody asks for.
what_ends_and_is_started_again_is_told_of(_) ->
    Spec = fun(Restart) -> {#{strategy => simple_one_for_one, intensity => 1000, period => 1},
                            [#{id => short, start => {?MODULE, short_child, []}, restart => Restart}]}
           end,
    {ok, Restarts} = supervisor:start_link(?MODULE, {supervisor, Spec(permanent)}),
    {ok, Asked} = supervisor:start_link(?MODULE, {supervisor, Spec(temporary)}),
    _ = [supervisor:start_child(Restarts, []) || _ <- lists:seq(1, 4)],
    Asking = spawn(fun Ask() -> _ = supervisor:start_child(Asked, []), timer:sleep(20), Ask() end),
    #{lasting := Ending} = diagnose_probe:starts([], now_ms() + 1500),
    Texts = [list_to_binary(pid_to_list(Pid)) || Pid <- [Restarts, Asked]],
    ?assertEqual(lists:sort(Texts), lists:sort([Pid || #{pid := Pid} <- Ending])),
    Self = self(),
    _ = spawn_link(fun() -> Self ! {lasting, diagnose_probe:asked_to_start(Ending)} end),
    Lasting = receive {lasting, Seen} -> Seen end,
    [true = unlink(Pid) || Pid <- [Restarts, Asked]],
    [true = exit(Pid, kill) || Pid <- [Asking, Restarts, Asked]],
    ?assertMatch([#{asked := 0}, #{asked := More}] when More > 0,
                 [One || Text <- Texts, #{pid := Pid, started := Started} = One <- Lasting, Pid =:= Text, Started >= 2]),
    ?assertEqual({match_spec, false}, erlang:trace_info({supervisor, handle_call, 3}, match_spec)),
    Starts = (maps:get(starts, starts(parent(#{}))))#{parents := [], lasting => Lasting},
    [#{subject := #{process := #{}}, signs := [#{kind := restart_loop} = Sign]}] = found(#{starts => Starts}, []),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign), "end without an error .*short_child.* though nobody asked")).

%% Nothing hangs, and each waits for the one before.
children_that_end_in_turn_are_told_of(_) ->
    Children = [#{id => N, start => {gen_server, start_link, [?MODULE, {ends, 200}, []]}} || N <- lists:seq(1, 30)],
    {ok, Sup} = supervisor:start_link(?MODULE, {supervisor, {#{}, Children}}),
    true = unlink(Sup),
    Pids = [Pid || {_, Pid, _, _} <- supervisor:which_children(Sup)],
    Stops = spawn(fun() -> gen_server:stop(Sup) end),
    timer:sleep(100),
    Seen = [One || #{ends_all := true} = One <- diagnose_probe:endings(now_ms() + 1000)],
    [true = exit(Pid, kill) || Pid <- [Stops, Sup | Pids]],
    Found = fun(Endings, More) -> [Sign || #{signs := Signs} <- found(More#{endings => Endings}, []), #{kind := awaited} = Sign <- Signs] end,
    [#{ended := Ended, left := Left}] = [Last] = Seen,
    ?assert(Ended >= 2 andalso Left >= 15 andalso Left + Ended =< 30),
    Slow = Last#{ms => 4000, looks => 70, waits => 70, ended => 5, left => 130},
    [Sign] = Found([Slow], #{}),
    ?assertMatch({match, _}, re:run(said(Sign), "5 ended within 4.0 s, .* 70 of 70 looks, now of <[0-9.]+> .diagnose_rules_SUITE:init/1.*"
                                                "about 130 are left, for 104 s")),
    %% It ends few, or is in between, or its callers' messages or the end of the node tell of it, or one child alone has not ended.
    ?assertEqual([[], [], [], [], [], []],
                 [Found([maps:merge(Slow, Less)], More)
                  || {Less, More} <- [{#{left => 10}, #{}}, {#{waits => 30}, #{}},
                                      {#{}, #{suspects => [suspect(#{pid => maps:get(pid, Slow), least_depth => 1})]}},
                                      {#{}, #{stopping => unknown}},
                                      {#{ended => 0, left => 5}, #{}}, {#{ended => 1, ends_all => false}, #{}}]]),
    ?assertMatch([_], Found([Slow#{ended => 0}], #{})).

%% A server that does something long by itself, and one whose calls are long; those that answer soon keep nobody waiting.
who_keeps_callers_waiting_is_told_of(_) ->
    Seen = fun(Long, Pause) ->
                   {ok, Server} = gen_server:start(?MODULE, {works, Long}, []),
                   Callers = [spawn(fun Call() -> _ = gen_server:call(Server, any, infinity), timer:sleep(Pause), Call() end)
                              || _ <- lists:seq(1, 8)],
                   _ = Long =:= 0 andalso erlang:send_after(100, Server, {work, 900}),
                   Stalls = diagnose_probe:stalls([Server], now_ms() + 1500),
                   [true = exit(Pid, kill) || Pid <- [Server | Callers]],
                   Stalls
           end,
    Found = fun(Stalls, More) -> [Sign || #{signs := Signs} <- found(More#{stalls => Stalls}, []), #{kind := awaited} = Sign <- Signs] end,
    [#{longest_ms := Longest, callers := Few}] = Once = Seen(0, 10),
    ?assert(Longest >= 600),
    ?assert(Few >= 3),
    [#{advice := Advice} = Sign] = Found(Once, #{}),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign), "callers or more .*in diagnose_rules_SUITE:handle_info/2")),
    ?assertMatch({match, _}, re:run(Advice, "by itself from time to time")),
    %% A machine that does something else most of the time does that, too.
    ?assertEqual([], Found(Once, #{collections => #{share => 0.0, busy => 0.1, waiting => 0.0, threads => 2, cores => 0.1, delayed => 0.9,
                                                        reductions => 1000, blocked => 0.0, window_ms => 200}})),
    Always = Seen(80, 10),
    [#{advice := Other}] = Found(Always, #{}),
    ?assertMatch({match, _}, re:run(Other, "Each message costs it much")),
    [#{looks := Looks} = One] = Always,
    %% Of a deep stack the callback is known by a fun of it.
    Deep = [{running, [{store, age, 2}, {store, '-handle_info/2-fun-0-', 3}, {maps, filter_1, 3}], 12}, {running, [{store, age, 2}], 8}],
    ?assertMatch([#{evidence := #{in := ~"store:handle_info/2", mostly := ~"store:age/2"}}], Found([One#{samples := Deep}], #{})),
    Own = [{running, [{io_lib, format, 2}, {store, age, 2}], 8}],
    ?assertMatch([#{evidence := #{in := ~"store:age/2"}}], Found([One#{label := {store, init, 1}, samples := Own}], #{})),
    ?assertEqual([], Found([One#{samples := Own}], #{})),
    ?assertEqual([], Found([One#{waiting := Looks div 2, longest_ms := 200}], #{})),
    ?assertEqual([], Found([One#{samples := [{waiting, [{m, f, 1}, {m, handle_call, 3}, {gen_server, loop, 7}], 20}]}], #{})),
    ?assertEqual([], Found(Seen(1, 200), #{})).

handle_call(any, _, Ms) ->
    ok = works_for(Ms),
    {reply, ok, Ms}.

handle_info({asks_host, Port}, State) ->
    asks_host(Port),
    {noreply, State};
handle_info({work, Ms}, State) ->
    ok = works_for(Ms),
    {noreply, State}.

works_for(Ms) -> works_until(erlang:monotonic_time(millisecond) + Ms).

works_until(Until) ->
    case erlang:monotonic_time(millisecond) < Until of
        true -> works_until(Until + 0 * length(lists:seq(1, 1000)));
        false -> ok
    end.

short_child() -> proc_lib:start_link(?MODULE, short_child_starts, []).

short_child_starts() ->
    ok = proc_lib:init_ack({ok, self()}),
    timer:sleep(60).

%% Nobody waits for idle workers that wait for work, and one may wait for each.
a_pool_whose_members_all_hang_is_told_of(_) ->
    {ok, Listen} = gen_tcp:listen(0, [{active, false}, {backlog, 100}, {ip, {127, 0, 0, 1}}]),
    {ok, Number} = inet:port(Listen),
    At = iolist_to_binary(["127.0.0.1:", integer_to_list(Number)]),
    Members = [spawn(fun() -> lists:foreach(fun(Port) -> asks_host(Port) end, [Number]) end) || _ <- lists:seq(1, 6)],
    Seen = fun() ->
                   timer:sleep(200),
                   #{most := Most} = Places = diagnose_probe:places(now_ms() + 300),
                   Places#{most := [Place || #{in := [{?MODULE, asks_host, 1} | _]} = Place <- Most]}
           end,
    Found = fun(Places) -> [Sign || #{signs := Signs} <- found(#{places => Places}, []), #{kind := awaited} = Sign <- Signs] end,
    Direct = [spawn(fun() -> catch gen_server:call(Member, any, infinity) end) || Member <- Members],
    Healthy = Seen(),
    ?assertMatch(#{most := [#{count := 6, stay := 6, at := At, behind := #{count := 0, pool := none}}]}, Healthy),
    ?assertEqual([], Found(Healthy)),
    Pool = spawn(fun() -> [monitor(process, Member) || Member <- Members], receive stop -> ok end end),
    Behind = [spawn(fun() -> catch gen_server:call(Pool, any, infinity) end) || _ <- lists:seq(1, 5)],
    Sick = Seen(),
    [true = exit(Pid, kill) || Pid <- [Pool | Members ++ Direct ++ Behind]],
    [#{evidence := #{processes := 6, behind := 5, at := At}} = Sign] = Found(Sick),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign), ["asks_host/1 for data of ", At, ".*5 others wait for them, or for <"])),
    %% Who waits for such a pool is told of once, and a few that wait behind may be a moment's.
    #{most := [#{behind := Told} = One]} = Sick,
    ?assertEqual([], Found(Sick#{most := [One#{behind := Told#{count := 4}}]})),
    %% Those of nobody any more, while more come: servers in a callback.
    #{most := [Orphan]} = Healthy,
    ?assertMatch(#{serves := false}, Orphan),
    Alone = fun(More, Ports) ->
                    Place = maps:merge(Orphan#{serves := true, count := 100, stay := 75}, More),
                    [{Words, Evidence}
                     || #{signs := Signs} <- found(#{places => Healthy#{most := [Place]},
                                                     counts => [{Ms, (counts(1))#{ports => {Count, 99_000}}}
                                                                || {Ms, Count} <- [{100, 20}, {4000, 20 + Ports}]]}, []),
                        #{kind := awaited, evidence := Evidence} = Waits <- Signs, Words <- [said(Waits)]]
            end,
    [{Says, #{processes := 100, more_ports := 10}}] = Alone(#{}, 10),
    ?assert(has("asks_host/1 for data of " ++ binary_to_list(At) ++ ", and got nothing", Says)),
    ?assertEqual([[], [], [], []], [Alone(#{}, 9), Alone(#{serves => false}, 10), Alone(#{stay => 74}, 10), Alone(#{count => 49, stay => 49}, 10)]),
    %% A real one.
    Clients = [C || _ <- lists:seq(1, 6), {ok, C} <- [gen_server:start(?MODULE, {asks_host, Number}, [])]],
    timer:sleep(200),
    #{most := Serving} = diagnose_probe:places(now_ms() + 300),
    [true = exit(Client, kill) || Client <- Clients],
    ?assertMatch([#{stay := 6, serves := true}], [Place || #{serves := true} = Place <- Serving]).

asks_host(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]),
    _ = gen_tcp:recv(Socket, 0),
    ok.

%% Whatever its handler does with it.
who_logs_without_end_is_told_of(_) ->
    Logs = #{pid => ~"<0.9.0>", name => reporter, label => {reporter, init, 1}, processes => 1, times => 100, a_second => 4021,
             in => {reporter, handle_cast, 2}},
    Seen = fun(One) -> #{logging => #{looks => 0, handlers => [], from => [], events => [One]}} end,
    [#{subject := node, signs := [#{kind := log_overload} = Sign]}] = found(Seen(Logs), []),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign),
                                    "logs about 4,000 events a second: <0.9.0> .reporter. in reporter:handle_cast/2 .4,000.")),
    [?assertEqual([], signs(Seen(One), [])) || One <- [Logs#{a_second := 990}, Logs#{processes := 5}]],
    %% A handler that loses events says it itself.
    Both = maps:map(fun(_, One) -> One#{looks := 38, handlers := [#{name => h, sync => 0, drop => 38}]} end, Seen(Logs)),
    ?assertMatch([{log_overload, #{handler := h}}], signs(Both, [])),
    %% Real ones.
    ok = logger:add_primary_filter(?MODULE, {fun logger_filters:domain/2, {stop, sub, [?MODULE]}}),
    Self = self(),
    _ = [begin
             Pid = spawn_link(fun() -> logs(Ms) end),
             _ = spawn_link(fun() -> Self ! {events, diagnose_probe:log_events([Pid])} end),
             #{most := [#{in := {?MODULE, logs, 1}, a_second := Pace}]} = receive {events, Events} -> Events end,
             ?assertEqual({Ms, IsMuch}, {Ms, Pace >= 1000}),
             true = unlink(Pid),
             exit(Pid, kill)
         end || {Ms, IsMuch} <- [{0, true}, {4, false}]],
    ok = logger:remove_primary_filter(?MODULE),
    ?assertEqual({traced, false}, erlang:trace_info({logger_backend, log_allowed, 3}, traced)).

logs(Ms) ->
    _ = Ms > 0 andalso timer:sleep(Ms),
    ok = logger:error("it failed", #{domain => [?MODULE]}),
    logs(Ms).

handlers_of_logger_that_get_too_much_are_told_of(_) ->
    Seen = #{looks => 38, handlers => [#{name => logger_std_h_default, sync => 6, drop => 20}], from => [{{device, handle_info, 2}, 9}]},
    [{log_overload, _} = Sign] = signs(#{logging => Seen}, []),
    ?assertMatch({match, _}, re:run(said(hd([S || #{signs := Signs} <- found(#{logging => Seen}, []), S <- Signs])),
                                    "logger_std_h_default: it is in mode drop at 20 of 38 looks, and in mode sync at 6.*device:handle_info/2")),
    ?assertMatch({_, #{drop := 20}}, Sign),
    [?assertEqual([], signs(#{logging => Other}, []))
     || Other <- [Seen#{looks := 9}, Seen#{handlers := [#{name => h, sync => 8, drop => 4}]}, Seen#{handlers := []}, unknown]],
    %% Real ones: a mode that is set by hand, and a process that waits in logger.
    Name = a_handler_of_logger,
    ok = persistent_term:put({logger_olp, Name}, drop),
    #{looks := Looks, handlers := Handlers} = diagnose_probe:logging([Name, kernel_sup], now_ms() + 300),
    true = persistent_term:erase({logger_olp, Name}),
    ?assertEqual([#{name => Name, sync => 0, drop => Looks}], Handlers),
    Frame = fun(Module, Function, Arity) -> {Module, Function, Arity, []} end,
    ?assertEqual([{device, handle_info, 2}],
                 diagnose_probe:caller_of_logger([Frame(gen, do_call, 4), Frame(logger_olp, load, 2), Frame(logger_backend, call_handlers, 3),
                                                  Frame(device, handle_info, 2), Frame(gen_server, try_handle_info, 3)])),
    ?assertEqual([], diagnose_probe:caller_of_logger([Frame(logger_olp, set_mode, 3), Frame(gen_server, try_handle_cast, 3)])),
    ?assertEqual([], diagnose_probe:caller_of_logger([Frame(device, handle_info, 2)])).

%% Of OTP's behaviours and waits no function is told, and of each other module one.
a_place_is_told_by_one_function_of_each_module(_) ->
    Frame = fun(Module, Function, Arity) -> {Module, Function, Arity, []} end,
    ?assertEqual([{shop, price, 1}, {web, request, 1}],
                 diagnose_probe:place([Frame(gen, do_call, 4), Frame(gen_server, call, 3), Frame(shop, price, 1), Frame(shop, prices, 2),
                                       Frame(web, request, 1), Frame(web, loop, 0), Frame(proc_lib, init_p, 3)])),
    ?assertEqual([{timer, sleep, 1}], diagnose_probe:place([Frame(timer, sleep, 1), Frame(proc_lib, init_p, 3)])).

said(Sign) -> unicode:characters_to_list(diagnose_wording:sentence(Sign)).

advised(#{advice := Advice}) -> unicode:characters_to_list(Advice).

now_ms() -> erlang:monotonic_time(millisecond).

sockets_that_are_left_behind_are_told_of(_) ->
    Found = fun(What, Count, More, Alarms) ->
                    Left = #{what => What, count => Count, more => More, asked => 30,
                             most => [{{gateway, conn, 1}, {gateway, wait, 0}, 30}]},
                    [said(Sign) || #{subject := node, signs := Signs} <- found(#{left_sockets => #{ms => 4000, sockets => [Left],
                                                                                                   alarms => Alarms}}, []), Sign <- Signs]
            end,
    ?assertEqual([["has 300 sockets that the other side has closed (or shut down), and by which nothing was sent, for 4.0 s and more, and"
                   " 80 more since; of 30 owners: 30 of gateway:conn/1 in gateway:wait/0"],
                  ["has 100 sockets that are closed, though their ports stay, for 4.0 s and more; of 30 owners: 30 of gateway:conn/1"
                   " in gateway:wait/0"],
                  ["has 40 sockets with bytes that nobody has read for 4.0 s and more; of 30 owners: 30 of gateway:conn/1"
                   " in gateway:wait/0; alarms: {disk, _}"]],
                 [Found(there, 300, 80, [~"{disk, _}"]), Found(here, 100, 0, []), Found(unread, 40, 0, [~"{disk, _}"])]),
    %% A pool of connections that were closed while nobody used them; answers to clients that were gone; a few that are slow.
    [?assertEqual([], Found(What, Count, More, [])) || {What, Count, More} <- [{there, 40, 0}, {here, 19, 5}, {unread, 9, 3}]].

%% Both sides are sockets of this node.
left_sockets_are_seen(_) ->
    {ok, Listens} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, Port} = inet:port(Listens),
    Pairs = [begin
                 {ok, Client} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]),
                 {ok, Accepted} = gen_tcp:accept(Listens),
                 {Client, Accepted}
             end || _ <- lists:seq(1, 3)],
    [{There, _}, {Here, Own}, {Sends, _}] = Pairs,
    [ok = gen_tcp:close(Socket) || Socket <- [There, Here]],
    {error, closed} = gen_tcp:recv(Own, 0), % and nobody calls close
    ok = gen_tcp:send(Sends, binary:copy(~"x", 9000)),
    Seen = fun() -> #{sockets := Sockets} = diagnose_probe:left_sockets(now_ms() + 300),
                    [What || #{what := What, count := 1, more := 0, asked := 1, most := [{_, _, 1}]} <- Sockets] end,
    %% This process asks, so it does something.
    ?assertEqual([there, here], Seen()),
    [ok = gen_tcp:close(Socket) || Pair <- Pairs, Socket <- tuple_to_list(Pair)],
    ok = gen_tcp:close(Listens),
    ?assertEqual([], Seen()),
    %% b, e: some was read. c: its owner works. g: an answer is sent to who has ended to send.
    Unread = fun(Bytes, Read, Done) -> {unread, Bytes, Read, Done} end,
    ?assertEqual([#{what => there, count => 1, more => 0, ports => [h]}, #{what => unread, count => 1, more => 2, ports => [a]}],
                 diagnose_probe:left_at_both(#{a => Unread(5000, 7, 10), b => Unread(5000, 7, 10), c => Unread(5000, 7, 10),
                                               d => {there, 0}, e => Unread(5000, 7, 10), g => {there, 60}, h => {there, 60}},
                                             #{a => Unread(5000, 7, 90), b => Unread(4999, 7, 10), c => Unread(9000, 7, 9000), d => here,
                                               e => Unread(5000, 8, 10), f => Unread(5000, 7, 1), g => {there, 90}, h => {there, 60},
                                               i => {there, 0}, j => Unread(9000, 7, 1)})),
    ?assertEqual([{{~"0100007F:2648", ~"0100007F:CA7E"}, 28_672}],
                 diagnose_probe:unread_of([~"  1: 0100007F:2648 0100007F:CA7E 01 00000000:00007000 00:00000000 00000000  0  0 1 1",
                                           ~"  2: 0100007F:2648 0100007F:CA7F 01 00000000:00000100 00:00000000 00000000  0  0 1 1",
                                           ~"  3: 0100007F:2648 0100007F:CA80 08 00000000:00007000 00:00000000 00000000  0  0 1 1"])),
    ?assertEqual([~"{resource_limit, disk, _}", ~"disk"], [diagnose_probe:alarm(Id) || Id <- [{resource_limit, disk, "/data"}, disk]]).

processes_that_pile_up_are_told_of(_) ->
    Pile = #{in => {memo, get, 2}, asked => 95, stay => 95, count => 2150, more => 1320, connections => false, done => {90, 90},
             labels => [{{smpp, submit, 1}, 8}], first => {{provider, encodings, 1}, 3}},
    Found = fun(More, Each) ->
                    Counts = [{100 * N, counts(Count)} || {N, Count} <- lists:enumerate(Each)],
                    [said(Sign) || #{subject := node, signs := Signs} <- found(#{counts => Counts,
                                                                                 piles => #{ms => 4000, pile => maps:merge(Pile, More)}}, []),
                                   Sign <- Signs]
            end,
    Grows = [2000 + 33 * N || N <- lists:seq(1, 40)],
    [?assertEqual(["has about 2,150 processes that wait in memo:get/2, and 330 more each second (smpp:submit/1 (8)); 95 that were sampled"
                   " did nothing for 4.0 s; " ++ Tells], Found(More, Grows))
     || {Tells, More} <- [{"the first of their kind are in provider:encodings/1", #{}},
                          {"older ones have done hardly more than newer ones", #{first => none}}]],
    %% Sessions of clients: they are no more than in the morning, or the older ones have worked.
    [?assertEqual([], Found(More#{first => none}, Grows)) || More <- [#{count => 900}, #{done => {9000, 5000}}]],
    ?assertMatch([_], Found(#{done => {2000, 90}}, Grows)),
    %% Some went on; long polls of clients; sessions that have worked, of which some are elsewhere; hardly more; few; as many as always; a
    %% part of what a large node has.
    [?assertEqual([], Found(More, Each)) || {More, Each} <- [{#{stay => 94}, Grows}, {#{connections => true}, Grows},
                                                             {#{done => {9000, 4000}}, Grows}, {#{more => 9}, Grows},
                                                             {#{count => 100}, Grows}, {#{}, [2000 || _ <- Grows]},
                                                             {#{}, [5000 + Count || Count <- Grows]}]].

piles_are_seen(_) ->
    Seen = fun(Wait) ->
                   Start = fun(N) -> [spawn_link(Wait) || _ <- lists:seq(1, N)] end,
                   Old = Start(3000),
                   Run = self(),
                   Later = spawn_link(fun() -> receive after 400 -> Run ! {new, Start(300)} end, receive stop -> ok end end),
                   #{pile := Pile} = diagnose_probe:piles(now_ms() + 1500),
                   New = receive {new, Pids} -> Pids end,
                   _ = [begin unlink(Pid), exit(Pid, kill) end || Pid <- [Later | Old ++ New]],
                   Pile
           end,
    #{in := {?MODULE, awaits_a_message, 0}, asked := Asked, stay := Asked, count := Count, more := More, first := none,
      done := {Done, DoneByNew}} =
        Seen(fun() -> {got, awaits_a_message()} end),
    ?assertMatch({true, true, true, _}, {abs(Count - 3000) < 600, More > 150, abs(Done - DoneByNew) < 100, {More, Done, DoneByNew}}),
    %% Those wait for work, or for a time.
    ?assertEqual([none, none], [Seen(fun awaits_a_message/0), Seen(fun() -> timer:sleep(60_000), ok end)]).

awaits_a_message() -> receive {message, Message} -> Message end.

%% Their own port; that of the process that monitors them, as a connection of ssl does, or that dispatches datagrams; one of the module
%% socket. Without any of these they may be what piles up.
sessions_are_of_connections(_) ->
    Waits = spawn_link(fun awaits_a_message/0),
    Has = fun(Begin) ->
                  Run = self(),
                  Pid = spawn(fun() -> Socket = Begin(), Run ! {begun, self()}, awaits_a_message(), Socket end),
                  receive {begun, Pid} -> ok end,
                  {diagnose_probe:are_of_connections([Pid]), diagnose_probe:are_of_connections([Waits]), exit(Pid, kill), timer:sleep(20)}
          end,
    Udp = fun() -> {ok, Socket} = gen_udp:open(0), Socket end,
    Own = fun() -> {ok, Socket} = socket:open(inet, dgram, udp), Socket end,
    ?assertMatch([{true, false, _, _}, {true, true, _, _}, {true, false, _, _}, {false, false, _, _}],
                 [Has(Begin) || Begin <- [Udp, fun() -> _ = monitor(process, Waits), Udp() end, Own, fun() -> none end]]).

%% Also where what is drawn from comes in turns, as processes of connections do.
samples_are_drawn_by_chance(_) ->
    [?assert(abs(length([One || One <- diagnose_probe:some(Most, Turns), One rem Each =:= 0]) * Each - Most) < Most / 2)
     || Each <- [2, 3, 6], Turns <- [lists:seq(1, 3600)], Most <- [300, 600]],
    ?assertEqual([[], [1], [1, 2, 3]], [diagnose_probe:some(3, lists:seq(1, N)) || N <- [0, 1, 3]]).

%% A function of -s that never returns, where somebody waits for the end of the boot.
a_boot_that_does_not_end_is_told_of(_) ->
    Seen = fun(More) ->
                   Boot = #{pid => ~"<0.9.0>", name => shop_main, in => {shop, main_loop, 1}, done => 210},
                   #{starting => maps:merge(#{ms => 3000, up_ms => 65_000, applications => [], tables => [], starts => [], boot => Boot}, More)}
           end,
    [#{subject := node, signs := [#{kind := starting_application} = Sign]}] = found(Seen(#{}), []),
    ?assertEqual("has not started yet after 65 s: <0.9.0> (shop_main), which calls the functions of -s, -run and -eval, has been in"
                 " shop:main_loop/1 for 3.0 s and more, and init is asked again and again", said(Sign)),
    #{starting := #{boot := Boot}} = Seen(#{}),
    %% A program whose main function it is, where nobody waits; and a node that was only just started.
    [?assertEqual([], signs(Seen(Few), [])) || Few <- [#{boot => Boot#{done := 30}}, #{up_ms => 9000}, #{ms => 1900}, #{boot => none}]].

%% OTP's own tables have no other key.
scans_of_otp_have_a_cheaper_sibling(_) ->
    In = {application_controller, get_pid_env, 2},
    Samples = [{running, [{ets, match, 2}, In, {application, get_env, 1}, {mongo_worker, command, 1}, {mongo_worker, loop, 1}], 20}],
    Found = fun(Where) ->
                    [#{signs := [#{kind := table_scan, advice := Advice} = Sign]}] =
                        found(#{suspects => [suspect(#{samples => Samples, table_scans => #{times => 12, in => Where}})]}, []),
                    {said(Sign), Advice}
            end,
    {Says, Advice} = Found(In),
    ?assert(has("in application_controller:get_pid_env/2, called by mongo_worker:command/1: at 12 of 20 looks", Says)),
    ?assertEqual([true, false], [has(Words, Advice) || Words <- ["application:get_env/2,3", "match specification"]]),
    {Other, OtherAdvice} = Found({mongo_worker, command, 1}),
    ?assertEqual([false, false, true],
                 [has("called by", Other), has("application:get_env", OtherAdvice), has("match specification", OtherAdvice)]),
    [?assert(has(Words, element(2, Found(Where))))
     || {Words, Where} <- [{"get_application/0,1", {application_controller, get_application, 1}},
                           {"pg:get_members/2", {pg, which_groups, 1}}, {"whereis_name/1", {global, registered_names, 0}}]].

%% Whoever waits in its own loop gets nothing of a socket that is not asked, for which no time-out is a remedy.
who_reads_later_is_told_of(_) ->
    Advice = fun(In) ->
                     Left = #{what => unread, count => 12, more => 0, asked => 12, most => [{{xmpp_c2s, init, 1}, In, 12}]},
                     Seen = #{left_sockets => #{ms => 3800, alarms => [], sockets => [Left]}},
                     [#{signs := [#{kind := sockets_left} = Sign]}] = found(Seen, []),
                     [has(Words, advised(Sign)) || Words <- ["timer of their own", "an alarm of memory"]]
             end,
    ?assertEqual([true, false], Advice({gen_server, loop, 5})),
    ?assertEqual([false, true], Advice({xmpp_c2s, route, 2})).

%% The buffer of a socket ends each read.
small_reads_are_told_of(_) ->
    Busy = suspect(#{samples => [{running, [{prim_inet, setopts, 2}, {shop, loop, 1}], 25}], reductions => 5.0e6, answer_ms => 1, depth => 0}),
    #{pid := Pid} = Busy,
    Read = #{pid => Pid, ms => 200, count => 2000, bytes => 2_900_000, buffer => 1460, active => once, packet => raw},
    Found = fun(Reads) ->
                    [#{signs := [#{kind := busy_process, advice := Advice} = Sign]}] = found(#{suspects => [Busy], reads => Reads}, []),
                    {has("; it reads a socket 10,000 times a second, 1450 B each (the socket's buffer has 1460 B)", said(Sign)),
                     has("{buffer, 65_536}", Advice)}
            end,
    ?assertEqual({true, true}, Found([Read])),
    [?assertEqual({false, false}, Found(Reads))
     || Reads <- [[], [Read#{packet := 4}], [Read#{bytes := 200_000}], [Read#{count := 100, bytes := 146_000}], [Read#{pid := ~"<0.7.0>"}],
                  [Read#{buffer := 65_536, bytes := 120_000_000}]]].

%% Whoever begins anew with all that it has works much for each byte; whom that holds up is told with it.
parsing_anew_is_told_of(_) ->
    Busy = suspect(#{samples => [{running, [{redis, array, 3}, {client, replies, 1}], 25}], reductions => 28.0e6, answer_ms => 1,
                     depth => 0, name => client}),
    #{pid := Pid} = Busy,
    Read = #{pid => Pid, ms => 200, count => 60, bytes => 87_000, buffer => 1460, active => once, packet => raw},
    Place = fun(Label, Count, For) -> #{count => Count, stay => 0, label => Label, in => [Label], for => For, at => unknown} end,
    Places = #{ms => 3000, most => [Place({web, asks, 1}, 12, ~"client"), Place({web, other, 1}, 3, none)]},
    Found = fun(Reads) ->
                    [#{signs := [#{kind := busy_process, advice := Advice} = Sign]}] =
                        found(#{suspects => [Busy], reads => Reads, places => Places}, []),
                    ?assert(has("; seen waiting for its answer: 12 of web:asks/1", said(Sign))),
                    {has("it reads a socket 300 times a second, 1450 B each", said(Sign)), has("continuation", Advice),
                     has("runs all the time", Advice)}
            end,
    ?assertEqual({true, true, false}, Found([Read])),
    %% Small messages that each are whole, lengths that the VM reads, few bytes, and work that fits the bytes.
    [?assertEqual({false, false, true}, Found(Reads))
     || Reads <- [[], [Read#{packet := 4}], [Read#{bytes := 9000}], [Read#{count := 2, bytes := 2900}],
                  [Read#{count := 160, bytes := 800_000}]]].

%% By what the process that calls its start function waits for, at two looks.
start_of_an_application_that_waits_is_told_of(_) ->
    Waits = {mnesia_controller, do_wait_for_tables, 2},
    Start = #{pid => ~"<0.9.0>", name => '', stack => [Waits, {shop, start, 2}, {application_master, start_it_old, 4}], in => Waits,
              asks => []},
    Seen = #{starting => #{ms => 3000, applications => [shop], starts => [Start]}},
    [#{subject := node, signs := [#{kind := starting_application} = Sign]}] = found(Seen, []),
    ?assertEqual("has not started the application shop yet: <0.9.0>, which calls shop:start/2, has waited for 3.0 s and more in"
                 " mnesia_controller:do_wait_for_tables/2", said(Sign)),
    ?assertEqual([], signs(#{starting => #{ms => 1500, applications => [shop], starts => [Start]}}, [])),
    Tables = [#{name => roster, nodes => [#{node => 'b@host', runs => false}, #{node => 'c@host', runs => true}]},
              #{name => queue, nodes => []}],
    [#{signs := [OfTables]}] = found(#{starting => (maps:get(starting, Seen))#{tables => Tables}}, []),
    ?assert(has("not loaded: roster (also on b@host, where mnesia does not run, c@host), queue", said(OfTables))),
    ?assert(has("Tables of mnesia", advised(Sign))),
    State = ets:new(mnesia_state, [public]),
    ?assertEqual([], diagnose_probe:not_loaded(State)),
    true = ets:insert(State, [{{schema, tables}, [schema, roster, queue]}, {{current, db_nodes}, [node(), 'c@host']},
                              {{schema, where_to_read}, node()}, {{roster, where_to_read}, nowhere}, {{queue, where_to_read}, nowhere},
                              {{roster, disc_copies}, [node(), 'b@host']}, {{roster, ram_copies}, ['c@host']}]),
    ?assertEqual(Tables, diagnose_probe:not_loaded(State)),
    ok = application:load({application, diagnose_waits_for_it, [{mod, {?MODULE, []}}]}),
    Starts = fun() -> maps:with([applications, starts], diagnose_probe:starting(now_ms() + 100)) end,
    ?assertEqual(#{applications => [], starts => []}, Starts()),
    {Starter, Monitor} = spawn_monitor(fun() -> ok = application:start(diagnose_waits_for_it) end),
    ok = diagnose_test_wait(fun() -> whereis(?MODULE) =/= undefined end),
    ?assertMatch(#{applications := [diagnose_waits_for_it], starts := [#{in := {?MODULE, start, 2}}]}, Starts()),
    ?MODULE ! started,
    receive {'DOWN', Monitor, process, Starter, normal} -> ok end,
    ?assertEqual(#{applications => [], starts => []}, Starts()),
    ok = application:stop(diagnose_waits_for_it),
    ok = application:unload(diagnose_waits_for_it).

%% The starts of these applications.
start(normal, goes_on) ->
    true = register(?MODULE, self()),
    ok = goes_on(),
    {ok, spawn_link(fun() -> receive stop -> ok end end)};
start(normal, _) ->
    true = register(?MODULE, self()),
    receive started -> {ok, spawn_link(fun() -> receive stop -> ok end end)} end.

goes_on() ->
    receive
        started -> ok
    after 0 ->
            _ = lists:seq(1, 10_000),
            timer:sleep(1),
            goes_on()
    end.

stop(_) -> ok.

%% The advice is about what the last one in turn does. One that goes on is told of where the node was started long ago.
start_of_an_application_has_advice_of_its_own(_) ->
    Start = #{pid => ~"<0.9.0>", name => '', stack => [{shop, start, 2}, {application_master, start_it_old, 4}], in => {shop, start, 2},
              asks => []},
    Told = fun(UpMs, One) ->
                   [Sign || #{signs := Signs} <- found(#{starting => #{ms => 3000, up_ms => UpMs, applications => [shop], starts => [One]}}, []),
                            Sign <- Signs]
           end,
    Of = fun(Asks) -> Told(20_000, Start#{asks => Asks}) end,
    Asked = fun(Name, For) -> #{pid => ~"<0.7.0>", name => Name, in => {gen_server, loop, 7}, for => For, label => unknown} end,
    [Plain] = Of([]),
    [Circle] = Of([Asked(application_controller, answer)]),
    [Repair] = Of([Asked(dets, answer), (Asked('', repair))#{in := {dets_v9, fsck, 4}}]),
    [?assertEqual(Text =:= Has, has(Text, advised(One)))
     || {One, Has} <- [{Plain, "Find out what its start waits for"}, {Circle, "another application"}, {Repair, "was not closed"}],
        Text <- ["ables of mnesia", "Find out what its start waits for", "another application", "was not closed"]],
    ?assert(has("which waits for <0.7.0>, which works on the file of a table in dets_v9:fsck/4", said(Repair))),
    Slow = fun(UpMs) -> Told(UpMs, Start#{goes_on => true}) end,
    ?assertEqual([], Slow(9_000)),
    [GoesOn] = Slow(11_000),
    ?assert(has("<0.9.0>, which calls shop:start/2, has gone on for 3.0 s and more in shop:start/2", said(GoesOn))),
    ?assertEqual([b, c], diagnose_probe:in_common([c, b, a], [c, b, d, a], [])).

%% The common part of what the start of an application is in at two looks is told, whatever it works on by then.
start_of_an_application_that_goes_on_is_told_of(_) ->
    ok = application:load({application, diagnose_goes_on, [{mod, {diagnose_rules_SUITE, goes_on}}]}),
    {Starter, Monitor} = spawn_monitor(fun() -> ok = application:start(diagnose_goes_on) end),
    ok = diagnose_test_wait(fun() -> whereis(?MODULE) =/= undefined end),
    ?assertMatch(#{starts := [#{in := {?MODULE, goes_on, 0}, goes_on := true}]}, diagnose_probe:starting(now_ms() + 100)),
    ?MODULE ! started,
    receive {'DOWN', Monitor, process, Starter, normal} -> ok end,
    ok = application:stop(diagnose_goes_on),
    ok = application:unload(diagnose_goes_on).

%% Who has only worked is no reason to leave out others, and its collections need not be known.
workers_come_last(_) ->
    ?assertEqual(7, diagnose_probe:value(work, row(#{reductions => 7}))),
    Unknown = fun(Pauses) -> diagnose_wording:unknown(maps:merge(nothing(), #{suspects => [suspect(#{pauses => Pauses})]}), []) end,
    ?assertMatch([<<"The collections of <0.1.0>", _/binary>>], Unknown(not_traced) -- Unknown(not_needed)),
    ?assertEqual([], Unknown(not_needed) -- Unknown(not_traced)),
    Unseen = fun(Seen) -> [unicode:characters_to_list(Sentence) || Sentence <- diagnose_wording:unseen(maps:merge(nothing(), Seen))] end,
    [?assertMatch(["Which processes and programs are started was not inspected" ++ _], Unseen(Seen) -- Unseen(#{}))
     || Seen <- [#{starts => unknown}, #{programs => unknown}]].

%% A worker that waits for a job waits at most looks, too, but for another one each time.
calls_that_are_answered_are_other_calls(_) ->
    Server = spawn_link(fun Serve() -> receive {'$gen_call', From, Wait} -> Wait andalso gen:reply(From, ok), Serve() end end),
    Caller = fun(Answered) ->
                     spawn_link(fun Calls() -> {ok, ok} = gen:call(Server, '$gen_call', Answered, infinity), timer:sleep(20), Calls() end)
             end,
    Pids = [Stuck, Answered] = [Caller(false), Caller(true)],
    timer:sleep(50),
    Before = [{Pid, Done} || Pid <- Pids, {_, Done} <- [process_info(Pid, reductions)]],
    timer:sleep(300),
    ?assertEqual([true, false, false],
                 [diagnose_probe:are_same_calls([One || {Pid, _} = One <- Before, lists:member(Pid, Of)], 1)
                  || Of <- [[Stuck], [Answered], Pids]]),
    _ = [begin unlink(Pid), exit(Pid, kill) end || Pid <- [Server | Pids]],
    ok.

%% Some systems never give it, so it leaves a look complete; but nobody is to think that it was measured.
what_was_not_measured_is_in_the_last_line(_) ->
    Seen = (nothing())#{closer := finished, processes := #{looked => 3, skipped => #{}}, births := unknown},
    Line = fun(Look) -> unicode:characters_to_list(diagnose_text:last_line(#{findings => [], look => Look})) end,
    ?assertEqual([], diagnose_wording:unseen(Seen)),
    ?assertMatch({match, _}, re:run(Line(Seen), "^Nothing found.* Not measured .*how the heaps of new processes grow")),
    ?assertEqual(nomatch, re:run(Line(Seen#{births := none}), "heaps of new processes")).

%% Only of a file that was looked for can be said that it is not there.
version_that_is_not_known(_) ->
    Said = fun(Otp, Ended) ->
                   Cost = (maps:get(cost, nothing()))#{ended := Ended},
                   Sentences = diagnose_wording:unknown((nothing())#{otp := Otp, cost := Cost}, []),
                   [Sentence || <<"The exact version of OTP: ", Sentence/binary>> <- Sentences]
           end,
    ?assertEqual([], Said(~"27.3.4.1", finished)),
    %% The warnings may name such a fault all the same, so nothing is said to be unchecked.
    ?assertEqual([~"the release has no file OTP_VERSION. So diagnose cannot tell which known faults this version has."],
                 Said(unknown, finished)),
    ?assertMatch([<<"the node read no file in time", _/binary>>], Said(not_looked, finished)),
    ?assertEqual([], Said(not_looked, out_of_time)),
    ?assertMatch(#{otp := not_looked}, diagnose_probe:nothing_known(false)).

%% A process may put anything for its function, also what takes minutes to say.
what_a_process_says_that_it_is(_) ->
    [?assertEqual(Call, diagnose_probe:function(Call)) || Call <- [{m, init, 0}, {m, init, 255}]],
    [?assertEqual(unknown, diagnose_probe:function(Call))
     || Call <- [{m, init, 1 bsl 3_000_000}, {m, init, -1}, {m, init, 256}, {m, init}, {"m", init, 1}, [], undefined]].

%% Some would move the cursor, end the line, or have what follows written from right to left.
what_a_terminal_would_obey_is_not_printed(_) ->
    Obeyed = [0, $\n, 27, 16#9B, 16#61C, 16#200E, 16#200F, 16#2028, 16#2029, 16#202A, 16#202E, 16#2066, 16#2069],
    Shown = lists:duplicate(length(Obeyed), $?),
    ?assertEqual(list_to_binary(Shown), diagnose_wording:printable(Obeyed)),
    ?assertEqual("a.erl does not compile: " ++ Shown, lists:flatten(mailbox_audit:format_error({refused, "a.erl", Obeyed}))),
    Kept = unicode:characters_to_binary(["größe", 16#2027, 16#202F, 16#2065, 16#206A, 16#05D0]),
    ?assertEqual(Kept, diagnose_wording:printable(Kept)).

%% A server that waits takes none of the calls; what a loop of its own leaves in its mailbox may be of no use.
few_calls_that_stay_are_told_of(_) ->
    Held = suspect(#{depth => 14, usual_depth => 14, least_depth => 13, idle => true,
                     waiting => [{~"call of {send, _}", 9}, {~"{tick}", 4}],
                     samples => [{waiting, [{prim_inet, send, 4}], 20}]}),
    ?assertMatch([{deep_mailbox, #{messages := 14, least := 13, in := ~"prim_inet:send/4"}}], findings(Held, [])),
    [?assertEqual([], findings(maps:merge(Held, Other), []))
     || Other <- [#{waiting => [{~"{tick}", 9}, {~"call of {send, _}", 4}]},
                  #{waiting => too_large},
                  #{idle => false},
                  #{stays => false},
                  #{least_depth => 4},
                  #{samples => [{waiting, [{prim_inet, send, 4}], 19}, {running, [{m, f, 0}], 1}]},
                  #{samples => [{waiting, [{prim_inet, send, 4}], 2}]}]],
    %% The look at all keeps those few that do not take what waits.
    ?assertEqual([3, none, 60, none], [diagnose_probe:value(behind, row(#{depth => Depth, status => Status}))
                                       || {Depth, Status} <- [{3, waiting}, {3, running}, {60, running}, {5000, waiting}]]).

%% Three servers, of which each calls the next one, and a process that calls one of them.
who_waits_for_each_other_is_told_of(_) ->
    Self = self(),
    Calls = fun(Next) -> fun() -> Pid = Next(), Self ! {calls, self()}, gen:call(Pid, call, asked, infinity) end end,
    [A, B, C] = Ring = [spawn(fun() -> receive Next -> (Calls(fun() -> Next end))() end end) || _ <- [1, 2, 3]],
    A ! B, B ! C, C ! A,
    Caller = spawn(Calls(fun() -> A end)),
    _ = [receive {calls, Pid} -> ok end || Pid <- [Caller | Ring]],
    IsCalling = fun(Pid) -> process_info(Pid, current_function) =:= {current_function, {gen, do_call, 4}} end,
    ok = diagnose_test_wait(fun() -> lists:all(IsCalling, [Caller | Ring]) end),
    Waits = fun(Pid) -> diagnose_probe:asks(Pid, #{status => waiting, message_queue_len => 1}) end,
    Texts = fun(Pids) -> [list_to_binary(pid_to_list(Pid)) || Pid <- Pids] end,
    ?assertEqual(Texts([B, C, A]), [Text || #{pid := Text} <- Waits(A)]),
    ?assertEqual([], diagnose_probe:asks(A, #{status => waiting, message_queue_len => 0})),
    [First] = Texts([A]),
    Held = fun(Asks) ->
                   suspect(#{pid => First, depth => 1, usual_depth => 1, least_depth => 1, idle => true,
                             samples => [{waiting, [{gen, do_call, 4}], 20}], asks => Asks})
           end,
    [{deep_mailbox, Evidence}] = findings(Held(Waits(A)), []),
    Said = unicode:characters_to_list(diagnose_wording:sentence(#{kind => deep_mailbox, evidence => Evidence})),
    ?assertMatch({match, _}, re:run(Said, "^1 message waits;.* it waits for the answer of <[0-9.]+> in gen:do_call/4,"
                                          " which waits for that of <[0-9.]+> .*, which waits for that of <[0-9.]+> ")),
    %% Where two requests meet, one that waits is said to run where it waits; elsewhere it does run.
    Met = fun(Status, In, Times) -> (Held(Waits(A)))#{samples := [{waiting, [{gen, do_call, 4}], 18}, {Status, [In], Times}]} end,
    ?assertMatch([{deep_mailbox, _}], findings(Met(running, {gen, do_call, 4}, 2), [])),
    [?assertEqual([], findings(Not, [])) || Not <- [Met(running, {gen, do_call, 4}, 3), Met(running, {m, f, 1}, 1)]],
    %% One that waits for a circle is none of it, and one message is no matter where nobody waits in a circle.
    ?assertEqual([], findings(Held(lists:droplast(Waits(A))), [])),
    _ = [exit(Pid, kill) || Pid <- [Caller | Ring]].

diagnose_test_wait(IsSo) ->
    case IsSo() of
        true -> ok;
        false -> timer:sleep(10), diagnose_test_wait(IsSo)
    end.

%% Whoever waits for events monitors their source as well.
library_that_waits_is_no_loop(_) ->
    Frames = fun(Modules) -> [{Module, f, 1, []} || Module <- Modules] end,
    In = fun(Modules) -> diagnose_probe:called_in(Frames(Modules), [self()]) end,
    ?assertEqual([{answer, self()}], In([kafka, app, proc_lib])),
    ?assertEqual([], diagnose_probe:called_in(Frames([kafka, app]), [self(), whereis(init)])),
    [?assertEqual([], In(Modules))
     || Modules <- [[app], [app, app, other], [app, proc_lib], [gen_server2, gen_server], [timer, app], ['Elixir.Process', app],
                    [prim_inet, http, app], [app, 'Elixir.Task.Supervised', proc_lib]]].

%% A thousand that each wait for a process of their own wait for none together.
each_may_wait_for_its_own(_) ->
    Own = [{[{answer, N}], 2000, {m, f, 0}} || N <- lists:seq(1, 8)],
    ?assertEqual([], diagnose_probe:called(1200, Own)),
    Same = [{[{answer, pool}], 2000, {m, f, 0}} || _ <- lists:seq(1, 4)],
    ?assertMatch([{{answer, pool}, #{count := 600}}], diagnose_probe:called(1200, Same ++ lists:sublist(Own, 4))).

%% Others of the same kind wait for something else, and the sample had too few of them.
no_more_wait_than_monitor(_) ->
    Callers = [spawn(fun() -> _ = monitor(process, Server), receive stop -> ok end end) || Server <- [self()], _ <- lists:seq(1, 15)],
    [ok = diagnose_test_wait(fun() -> process_info(One, monitors) =/= {monitors, []} end) || One <- Callers],
    Most = diagnose_probe:most_calling({answer, self()}, lists:sublist(Callers, 3)),
    ?assertEqual(15, Most),
    %% The resolver of names is asked without a monitor.
    ?assertEqual([infinity, infinity], [diagnose_probe:most_calling({answer, self()}, [self() | Callers]),
                                        diagnose_probe:most_calling({lock, self()}, Callers)]),
    Calls = [#{count => 40, ms => 9}, #{count => 20, ms => 9}],
    ?assertEqual([[#{count => 10, ms => 9}, #{count => 5, ms => 9}], Calls, Calls],
                 [diagnose_probe:lowered(Limit, Calls) || Limit <- [Most, 60, infinity]]),
    [true = exit(One, kill) || One <- Callers].

%% The locker of mnesia answers one after the other, so what it tells once is used for all. Here it does not even run.
locker_of_mnesia_is_asked_once(_) ->
    [Silent, Answers] = Nodes = [#{node => Node, answers => Node =:= b@host} || Node <- [a@host, b@host]],
    Of = fun(Queue) -> diagnose_probe:locked_on(mnesia_locker, [], Queue, Nodes) end,
    ?assertEqual([[Silent], [], []], [Of(Queue) || Queue <- [[], [{{t, 1}, write, self(), {tid, 1, self()}, {tid, 2, self()}}], none]]),
    ?assertEqual([Answers], diagnose_probe:locked_on(mnesia_locker, [], [], [Answers])).

%% Before OTP 26.2 a key cannot be asked for alone, and the copy of all has what is shared as often as it is referred to.
small_dictionaries_alone_are_copied(_) ->
    Waits = fun(Size) -> fun() -> put(list, lists:seq(1, Size)), receive stop -> get(list) end end end,
    [Small, _] = Pids = [proc_lib:spawn(Waits(Size)) || Size <- [10, 300_000]],
    [ok = diagnose_test_wait(fun() -> process_info(Pid, status) =:= {status, waiting} end) || Pid <- Pids],
    {_, {?MODULE, _, 0} = Began} = process_info(Small, {dictionary, '$initial_call'}),
    ?assertEqual([Began, Began], [diagnose_probe:label_before_keys(Pid) || Pid <- Pids]),
    ?assertEqual([Began, undefined], [diagnose_try_probe:initial_call(Pid, Words)
                                      || Pid <- Pids, {_, Words} <- [process_info(Pid, total_heap_size)]]),
    _ = [exit(Pid, kill) || Pid <- Pids],
    %% A server that works tells what it is by its stack.
    Loop = [{gen_server, try_handle_call, 4}, {gen_server, handle_msg, 6}, {proc_lib, init_p_do_apply, 3}],
    ?assertEqual([{shop, init, 1}, {shop, init, 1}, unknown, unknown, unknown, unknown],
                 [diagnose_probe:by_callback(Stack)
                  || Stack <- [[{lists, map, 2}, {shop, handle_call, 3} | Loop],
                               [{gen, do_call, 4}, {gen_server, call, 3}, {shop, handle_info, 2}, {gen_statem, loop, 3}],
                               Loop, [{supervisor, handle_call, 3} | Loop], [{shop, price, 1} | Loop], [{shop, handle_call, 3}]]]),
    %% So does one that proc_lib or a task of Elixir called, if the stack is told to there.
    Task = [{'Elixir.Task.Supervised', invoke_mfa, 2}, {proc_lib, init_p_do_apply, 3}],
    ?assertEqual([{shop, report, 0}, {shop, report, 0}, unknown, unknown, unknown, unknown],
                 [diagnose_probe:by_beginning(lists:reverse(Stack))
                  || Stack <- [[{lists, map, 2}, {shop, report, 0} | Task], [{shop, report, 0}, {proc_lib, init_p, 3}],
                               [{lists, map, 2}, {shop, report, 0}], Loop, Task, []]]).

%% An encoder of nested terms is deep in its own functions, and seldom in one of them.
loop_through_many_functions_is_told_of(_) ->
    Stack = fun(Top) -> [Top, {lists, map, 2}, {m, pair, 1}, {m, encode, 1}, {proc_lib, init_p_do_apply, 3}] end,
    Loop = suspect(#{samples => [{running, Stack({m, N, 0}), 5} || N <- [a, b, c, d]] ++ [{running, Stack({m, e, 0}), 5}],
                     reductions => 5.0e6, answer_ms => 1, depth => 0}),
    ?assertMatch([{busy_process, #{times := 25}}], findings(Loop, [])),
    ?assertMatch([{busy_process, #{in := ~"m:f/0"}}],
                 findings(Loop#{samples := [{running, [{m, f, 0}, {proc_lib, init_p_do_apply, 3}], 20}]}, [])),
    Varied = [{running, [{m, N, 0}], 5} || N <- [a, b, c, d]],
    ?assertEqual([], findings(Loop#{samples := Varied}, [])),
    %% Those of one kind are told of once, and may be started by a timer.
    Of = fun(Count, Queued) ->
                 [#{subject := #{group := #{count := Count}}, signs := [#{kind := busy_process, advice := Advice}]}] =
                     found(#{suspects => [Loop#{pid := <<"<0.", ($0 + N), ".0>">>, label := {m, report, 0}, depth_at_work := Queued}
                                          || N <- lists:seq(1, Count)]}, []),
                 string:find(Advice, "overlap") =/= nomatch
         end,
    ?assertEqual([true, false, false], [Of(3, 0), Of(2, 0), Of(3, 1)]).

%% Where clients come and go, more may come for a while.
many_that_only_come_near_their_limit(_) ->
    Found = fun(Counts) -> signs(#{counts => [{100 * N, counts(Count)} || {N, Count} <- lists:enumerate(Counts)]}, []) end,
    Leak = [40_000 + 20 * N || N <- lists:seq(1, 40)],
    [#{signs := [#{kind := near_limit} = Sign]}] =
        found(#{counts => [{100 * N, counts(Count)} || {N, Count} <- lists:enumerate(Leak)]}, []),
    ?assertMatch({match, _},
                 re:run(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                        "more a second; at the limit in [0-9]+ minutes")),
    ?assertEqual([], Found([Count - 15 * (Count rem 40 div 20) * 2 || Count <- Leak])),
    ?assertEqual([], Found([Count - 35_000 || Count <- Leak])).

versions_of_faults(_) ->
    [#{versions := Ranges}] = [Fault || #{issue := "https://github.com/erlang/otp/issues/10651"} = Fault <- diagnose_known_faults:faults()],
    [?assertEqual({Version, Covered}, {Version, diagnose_known_faults:covers(Version, Ranges)})
     || {Version, Covered} <- [{~"26.2.5.9", false}, {~"27.0", true}, {~"27.3.4.1", true}, {~"27.3.4.7", true},
                               {~"27.3.4.8", false}, {~"27.3.4.10", false}, {~"28.0", true}, {~"28.3.1", true}, {~"28.3.3", false},
                               {~"28.4", false}, {~"29.0", false}, {~"27.0-rc1", false}]],
    ?assert(diagnose_known_faults:covers(~"29.1.1", [{"25.0", none}])).

%% A release without the file OTP_VERSION may have the fault.
faults_that_looking_meets(_) ->
    [?assertEqual({Version, Release, Count}, {Version, Release, length(diagnose_known_faults:met_by_looking(Version, Release))})
     || {Version, Release, Count} <- [{~"27.3.4.1", 27, 1}, {~"27.3.4.8", 27, 0}, {unknown, 28, 1}, {unknown, 26, 0}, {unknown, 29, 0}]],
    [Warning] = diagnose_wording:warnings(diagnose_known_faults:met_by_looking(~"28.1", 28), ~"28.1"),
    ?assertMatch({_, _}, binary:match(Warning, ~"10651). Versions after 27.3.4.7 and 28.3.1 are without it.")),
    [May] = diagnose_wording:warnings(diagnose_known_faults:met_by_looking(unknown, 28), unknown),
    ?assertMatch({0, _}, binary:match(May, ~"Some versions of this release have")).

faults_are_complete(_) ->
    [?assertMatch(#{issue := "https://github.com/erlang/otp/" ++ _, versions := [_ | _], sign := _, what := [_ | _], advice := [_ | _]},
                  Fault) || Fault <- diagnose_known_faults:faults()].

%% m:f/0 receives, and is called by m:g/0.
scans(Loops, Samples) ->
    Receive = #{function => {f, 0}, file => "m.erl", line => 3, verdict => scans, loops => Loops, polls => false},
    diagnose_receives:join(suspect(#{usual_depth => 5000, samples => Samples}), #{m => {ok, [Receive]}}).

suspect(More) ->
    maps:merge(#{pid => ~"<0.1.0>", name => '', label => unknown, priority => normal, table_scans => #{times => 0, in => none},
                 by_file => 0, states_of => [], depth_at_work => 0,
                 queue => on_heap, depth => 5000, usual_depth => 0, least_depth => 0, emptied => 0, status => waiting,
                 gets => false, growth => 0.0, reductions => 0.0, window_ms => 2000, waiting => not_looked, stays => true,
                 samples => [], answer_ms => unknown, hibernates => false, idle => false, heap_bytes => unknown,
                 used_bytes => unknown, old_bytes => unknown, stack_bytes => unknown, stack_in => [], asks => [],
                 held_bytes => unknown, held_before => unknown, binaries => unknown, min_heap_bytes => 0, pauses => unknown}, More).

loop_counts_only_where_it_waits(_) ->
    Running = [{running, [{m, f, 0}, {m, g, 0}], 10}],
    ?assertMatch([#{function := {m, f, 0}, line := 3, called_from := {m, g, 0}, seen := 10, looks := 10}], scans(false, Running)),
    ?assertEqual([], scans(true, Running)),
    ?assertMatch([#{called_from := none}], scans(true, [{waiting, [{m, f, 0}], 10}])).

tenth_of_the_looks(_) ->
    ?assertMatch([_], scans(false, [{running, [{m, f, 0}], 3}, {running, [{m, g, 0}], 27}])),
    ?assertMatch([_], scans(false, [{running, [{m, f, 0}], 1}])),
    ?assertEqual([], scans(false, [{running, [{m, f, 0}], 1}, {running, [{m, g, 0}], 8}])),
    ?assertEqual([], scans(false, [{running, [{m, f, 0}], 2}, {running, [{m, g, 0}], 28}])).

fun_is_one_of_its_function(_) ->
    ?assertMatch([#{function := {m, f, 0}}], scans(false, [{running, [{m, '-f/0-fun-0-', 2}], 10}])).

%% An atom is more than any number.
what_is_unknown_is_no_finding(_) ->
    ?assertEqual([], findings(suspect(#{hibernates => true, idle => true, depth => 0}), [])).

native_functions_that_take_the_time_are_told_of(_) ->
    Table = #{name => catalogue, rows => 100, bytes => 40_000_000, compressed => true},
    Lookup = #{function => {ets, lookup, 2}, us => 300_000, count => 600, in => {shop, page, 1}, label => {shop, init, 1}, table => Table},
    Collections = fun(Cores) -> #{share => 0.0, busy => 0.5, waiting => 0.0, threads => 4, cores => Cores, window_ms => 200, reductions => 900_000} end,
    Found = fun(Cores, One) ->
                    found(#{native_times => #{ms => 300, traced => 30, most => [maps:merge(Lookup, One)]}, collections => Collections(Cores)}, [])
            end,
    [#{signs := [#{kind := native_time, advice := Advice, evidence := #{us_a_call := 500}} = Sign]}] = Found(1.5, #{}),
    ?assertNotEqual(nomatch, string:find(Advice, "compressed")),
    Said = unicode:characters_to_list(diagnose_wording:sentence(Sign)),
    ?assertMatch({match, _}, re:run(Said, "1.0 cores in ets:lookup/2: 2,000 calls a second of 500 us each.*called in shop:page/1.*100 rows of 400")),
    %% A clock goes on while the machine does something else.
    ?assertMatch([#{signs := [#{evidence := #{cores := 0.5}}]}], Found(0.5, #{})),
    [?assertEqual([], Found(Cores, One)) || {Cores, One} <- [{0.19, #{}}, {1.5, #{us => 59_000}}, {1.5, #{count => 6001}}]],
    [?assertNotEqual([], Found(1.5, #{function => Function, table => none, in => none, label => none}))
     || Function <- [{ets, lookup, 2}, {ets, select, 2}, {ets, insert, 2}, {erlang, term_to_binary, 2}, {lists, member, 2}, {erlang, md5, 1}]].

%% A connection that ends once is none of that.
nodes_that_come_and_go_are_told_of(_) ->
    Node = fun(Downs, Ups, Reason) -> #{node => b@c, downs => Downs, ups => Ups, reason => Reason} end,
    Found = fun(Nodes, By) ->
                    [Sign || #{signs := Signs} <- found(#{flaps => #{ms => 4000, by => By, nodes => Nodes}}, []),
                             #{kind := nodes_flap} = Sign <- Signs]
            end,
    Maker = #{pid => ~"<0.9.0>", name => monitor, label => unknown, processes => 1, times => 9, in => {cluster, handle_info, 2}},
    [#{advice := Own} = Sign] = Found([Node(9, 9, disconnect)], #{traced => 9, untraced => 0, ms => 1000, most => [Maker]}),
    Says = unicode:characters_to_list(diagnose_wording:sentence(Sign)),
    [?assertNotEqual(nomatch, string:find(Says, Part)) || Part <- ["b@c 9 times (disconnect)", "<0.9.0> (monitor), in cluster:handle_info/2"]],
    [#{advice := Others}] = Found([Node(3, 2, connection_closed)], none),
    ?assertEqual([true, false], [string:find(Advice, "ends them itself") =/= nomatch || Advice <- [Own, Others]]),
    [?assertEqual([], Found([One], none)) || One <- [Node(2, 9, disconnect), Node(9, 1, disconnect)]],
    ?assertMatch([#{advice := Own}, #{advice := Others}], Found([Node(9, 9, disconnect), Node(3, 2, connection_closed)], none)),
    %% Tools with a name of their own each.
    Passing = fun(Came) -> [said(One) || #{signs := Signs} <- found(#{flaps => #{ms => 3800, by => none, nodes => [], came => Came}}, []),
                                         #{kind := nodes_flap} = One <- Signs]
              end,
    ?assertMatch([["had 31 nodes that came and went within 3.8 s" ++ _], [], []],
                 [Passing(Came) || Came <- [[{~"rabbitmqcli--@h1", 31}, {~"x@h", 1}], [{~"rabbitmqcli--@h1", 7}], []]]),
    ?assertEqual([{~"cli---rabbit@10.0.0.1", 2}, {~"b@h", 1}],
                 diagnose_probe:came_and_gone(#{old@h => true}, [here@h],
                                              [old@h, 'cli-1-23-rabbit@10.0.0.1', 'cli-12-3-rabbit@10.0.0.1', b2@h, here@h])),
    ?assertMatch(#{nodes := [], by := none, ms := Ms} when Ms > 0, element(2, diagnose_probe_helper(fun() -> diagnose_probe:flaps(erlang:monotonic_time(millisecond) + 10) end))).

%% Two sends for a request, of which the second one waits. With nodelay it does not.
small_sends_that_are_held_back_are_told_of(_) ->
    Found = fun(Held) -> signs(#{nagle_delays => #{looks => 10, asked => 30, held => Held, labels => [{{gateway, session, 1}, 8}]}}, []) end,
    ?assertMatch([{nagle_delay, #{asked := 30, held := 3}}], Found(3)),
    ?assertEqual([], Found(0)),
    Delays = fun(Options) ->
                     {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}]),
                     {ok, Port} = inet:port(Listens),
                     Server = spawn(fun() -> {ok, Socket} = gen_tcp:accept(Listens), answers(Socket) end),
                     Client = spawn(fun() -> {ok, Socket} = gen_tcp:connect("127.0.0.1", Port, [binary, {active, false} | Options]), asks(Socket) end),
                     timer:sleep(200),
                     {answer, Seen} = diagnose_probe_helper(fun() -> diagnose_probe:nagle_delays(erlang:monotonic_time(millisecond) + 2000) end),
                     [exit(Pid, kill) || Pid <- [Client, Server]],
                     ok = gen_tcp:close(Listens),
                     maps:get(held, Seen)
             end,
    %% A busy machine may look when the acknowledgement has come.
    ?assert(lists:any(fun(_) -> Delays([]) =:= 1 end, lists:seq(1, 5))),
    ?assertEqual(0, Delays([{nodelay, true}])),
    %% Nobody waits for each send of a stream, but callers of the owner may.
    ?assertEqual([true, false, true], [diagnose_probe:is_delay(Sends, fun() -> Called end)
                                       || {Sends, Called} <- [{50, false}, {1250, false}, {1250, true}]]),
    %% Who does not read delays what is sent, too.
    {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {recbuf, 4096}]),
    {ok, Port} = inet:port(Listens),
    {ok, Socket} = gen_tcp:connect("127.0.0.1", Port, [binary, {active, false}, {sndbuf, 16_384}, {send_timeout, 100}]),
    {ok, Reads} = gen_tcp:accept(Listens),
    [gen_tcp:send(Socket, <<0:80_000>>) || _ <- lists:seq(1, 20)],
    {answer, #{held := Held}} = diagnose_probe_helper(fun() -> diagnose_probe:nagle_delays(erlang:monotonic_time(millisecond) + 2000) end),
    [ok = gen_tcp:close(One) || One <- [Socket, Reads, Listens]],
    ?assertEqual(0, Held).

asks(Socket) ->
    ok = gen_tcp:send(Socket, <<100:32>>),
    ok = gen_tcp:send(Socket, binary:copy(<<"q">>, 100)),
    {ok, _} = gen_tcp:recv(Socket, 4),
    asks(Socket).

answers(Socket) ->
    {ok, _} = gen_tcp:recv(Socket, 104),
    ok = gen_tcp:send(Socket, <<"done">>),
    answers(Socket).

%% Who traces is not disturbed, and afterwards nothing is traced.
times_in_native_functions_are_measured(_) ->
    Table = ets:new(rows, [public]),
    true = ets:insert(Table, {key, lists:seq(1, 50_000)}),
    Reader = spawn_link(fun Read() -> [_] = ets:lookup(Table, key), receive stop -> ok after 1 -> Read() end end),
    Times = fun() -> element(2, diagnose_probe_helper(fun() -> diagnose_probe:native_times([Reader]) end)) end,
    ?assertMatch(#{traced := 1, most := [#{function := {ets, lookup, 2}, table := #{name := rows, rows := 1, compressed := false}}]}, Times()),
    {all, false} = erlang:trace_info({ets, lookup, 2}, all),
    1 = erlang:trace(Reader, true, [call]),
    ?assertEqual(unknown, Times()),
    1 = erlang:trace(Reader, false, [call]),
    Reader ! stop,
    %% Whoever is ended while it measures takes nothing back.
    true = erlang:trace_pattern({ets, '_', '_'}, true, [call_time]) > 0,
    ?assertEqual({killed, #{native_times => unknown}}, diagnose_probe:native_times_ended({killed, #{native_times => tracing}})),
    ?assertEqual({all, false}, erlang:trace_info({ets, lookup, 2}, all)),
    ?assertEqual({finished, #{native_times => none}}, diagnose_probe:native_times_ended({finished, #{native_times => none}})).

diagnose_probe_helper(Fun) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({answer, Fun()}) end),
    receive {'DOWN', Monitor, process, Pid, Answer} -> Answer end.

fewer_schedulers_than_processors_are_told_of(_) ->
    Queues = fun(Waits) -> #{looks => 20, dirty => [], ready => [{1, 3} || _ <- lists:seq(1, Waits)] ++ [{0, 3} || _ <- lists:seq(Waits + 1, 20)]} end,
    Found = fun(Seen) -> [Evidence || {too_few_schedulers, Evidence} <- signs(Seen#{processors => 4}, [])] end,
    ?assertMatch([#{schedulers := 2, processors := 4, blockers := []}], Found(#{run_queues => Queues(10)})),
    ?assertMatch([#{}], Found(#{overloaded => 100, closer => busy})),
    [?assertEqual([], Found(Seen)) || Seen <- [#{run_queues => Queues(9)}, #{run_queues => Queues(20), schedulers => 4}, #{}]],
    ?assertEqual([], Found(#{run_queues => Queues(20), collections => kept_from_running()})),
    ?assertEqual([], signs(#{run_queues => Queues(20), processors => unknown}, [])),
    ?assertMatch([#{blockers := [~"<0.9.0> (shop)"]}], Found(#{emulator => (emulator())#{blockers := [~"<0.9.0> (shop)"]}})).

kept_from_running() -> #{share => 0.0, busy => 0.1, waiting => 0.0, threads => 2, cores => 0.1, delayed => 0.9, window_ms => 200}.

emulators_that_are_slow_are_told_of(_) ->
    Found = fun(Emulator) -> [unicode:characters_to_list(diagnose_wording:sentence(Sign))
                              || #{signs := Signs} <- found(#{emulator => maps:merge(emulator(), Emulator)}, []), Sign <- Signs] end,
    ?assertEqual([], Found(#{})),
    [?assertMatch([{_, [_ | _]}], [{Sentence, string:find(Sentence, Word)} || Sentence <- Found(Emulator)])
     || {Emulator, Word} <- [{#{interprets => true}, "JIT"}, {#{build => lcnt}, "type lcnt"}, {#{off => [eheap_alloc]}, "are off: eheap_alloc"}]].

findings(Suspect, Scans) ->
    signs(#{suspects => [Suspect]}, Scans).

%% What a look that saw nothing else says.
signs(Seen, Scans) ->
    [{Kind, Evidence} || #{signs := Signs} <- found(Seen, Scans), #{kind := Kind, evidence := Evidence} <- Signs].

found(Seen, Scans) -> diagnose_findings:findings(maps:merge(nothing(), Seen), Scans).

nothing() ->
    #{format => 32, otp => ~"27.3.4.1", release => 27, schedulers => 2, processors => 2, offline => 0, overloaded => false,
      ready_in => [], processes => unknown, emulator => emulator(),
      suspects => [], closer => finished, unresponsive => [], groups => [], groups_left => 0,
      unlooked => #{processes => 0, heap_bytes => 0, held_bytes => 0, too_large => []},
      counts => [{100 * N, counts(1)} || N <- lists:seq(1, 10)], files => unknown, reloads => unknown, traced => unknown,
      transactions => none, mapped => #{faults => 0, segments => 0, own_carrier => 524_288, ms => 2000},
      not_accepted => #{looks => 1, ms => 1, sockets => []}, starting => #{ms => 1, applications => [], starts => []}, stopping => none,
      losses => #{ms => 1, looks => 1, refused => 0, full => [], udp => []}, reads => [],
      left_sockets => #{ms => 1, sockets => [], alarms => []}, piles => #{ms => 1, pile => none},
      unanswered => #{ms => 1, count => 0, most => []},
      places => #{ms => 1, most => []}, logging => unknown, arrivals => [], stalls => [], endings => [], throttled => none,
      awaited => [], lookups => none, native_times => none, nagle_delays => #{looks => 10, asked => 0, held => 0, labels => []}, flaps => #{ms => 3000, by => none, nodes => []}, makers => none, retries => none,
      births => none, long_runs => [],
      starts => #{looks => 1, samples => [], unlisted => false, ms => 1, a_second => 0, most => none, parents => []},
      programs => #{alive => 0, seen => 0, started_a_second => 0, names => [], owners => [], labels => []},
      wakes => #{timers => [], to_itself => [], drains => []}, ticks => [],
      growing => [], debugged => #{interpreted => [], covered => []}, suspenders => [], callers => [], floods => [], shares => [],
      system_monitor => none,
      binaries_beside => not_needed, processes_beside => not_needed, elsewhere => unknown, large_code => none, file_owners => unknown, memory => unknown,
      tables => #{looked => 0, skipped => 0, not_timed => 0, bytes => 0, own_ns => 100, largest => [], slowest => [], named => []},
      terms => #{looks => 9, count => 0, terms => []}, ports => #{skipped => 0, waiting => [], names => [], owners => []},
      links => #{timer_bytes => 0, holders => []}, run_queues => unknown, collections => unknown, carriers => unknown,
      scan_ns => #{}, layouts => not_asked,
      cost => #{milliseconds => 1, bytes => 1, ended => finished, stays_loaded => false, purge_bytes => 0}}.

emulator() -> #{interprets => false, build => opt, off => [], blockers => []}.

start_behind_a_mailbox_is_a_known_fault(_) ->
    Scan = #{pid => ~"<0.1.0>", function => {proc_lib, sync_start, 2}, file => ~"proc_lib.erl", line => 1,
             called_from => {supervisor, start_child, 2}, seen => 9, looks => 10},
    Found = findings(suspect(#{usual_depth => 5000}), [Scan]),
    ?assertMatch([deep_mailbox, scanning_receive, known_fault], [Kind || {Kind, _} <- Found]),
    ?assertMatch(#{issue := ~"https://github.com/erlang/otp/pull/11633"}, proplists:get_value(known_fault, Found)),
    #{at_least_ms_a_call := unknown} = Evidence = proplists:get_value(scanning_receive, Found),
    ?assertEqual(["at an unknown cost", "at least 9 us", "at least 0.1 ms", "at least 13.0 ms"],
                 [Cost || Ms <- [unknown, 0.0087, 0.1, 13.0],
                          Cost <- ["at an unknown cost", "at least 9 us", "at least 0.1 ms", "at least 13.0 ms"],
                          has([Cost, " a call"], said(#{kind => scanning_receive, evidence => Evidence#{at_least_ms_a_call := Ms}}))]).

%% A process that answers no signal cannot be planted; one that takes for ever to be asked is the same for the look.
one_that_does_not_answer_costs_only_itself(_) ->
    process_flag(trap_exit, true),
    [Silent, Answers] = [spawn(fun() -> receive after infinity -> ok end end) || _ <- [1, 2]],
    Ask = fun(Pid) when Pid =:= Silent -> receive after infinity -> ok end;
             (Pid) -> process_info(Pid, status)
          end,
    ?assertMatch([{Silent, {silent, Ms}}, {Answers, {{status, _}, _}}] when Ms >= 200,
                 diagnose_probe:answers([Silent, Answers], Ask, erlang:monotonic_time(millisecond) + 1000)),
    ?assertEqual({messages, []}, process_info(self(), messages)),
    _ = [exit(Pid, kill) || Pid <- [Silent, Answers]].

%% erl_parse is too large to be compiled within what the own node may spend; no time is no time; the eleventh is named.
judging_is_limited(_) ->
    Deep = fun(Modules) -> suspect(#{usual_depth => 5000, samples => [{waiting, [{Module, f, 0}], 1} || Module <- Modules]}) end,
    ?assertMatch({[], [{erl_parse, out_of_memory}], #{bytes := Bytes}} when Bytes > 1_000_000,
                 diagnose_receives:scans(node(), [Deep([erl_parse])], 60_000)),
    ?assertMatch({[], [{lists, out_of_time}], _}, diagnose_receives:scans(node(), [Deep([lists])], 1)),
    Eleven = [lists, maps, sets, queue, ordsets, orddict, dict, gb_sets, gb_trees, proplists, string],
    {[], NotJudged, _} = diagnose_receives:scans(node(), [Deep(Eleven)], 1),
    ?assertMatch([_], [Module || {Module, too_many} <- NotJudged]).

%% A loop that takes any message, after a look for one that is not there.
looping_receive_counts_where_it_polls(_) ->
    Any = #{function => {f, 0}, file => "m.erl", line => 4, verdict => takes_any, loops => true, polls => false},
    Join = fun(Status, Polls) ->
                   Urgent = Any#{line := 3, verdict := scans, polls := Polls},
                   Suspect = suspect(#{usual_depth => 5000, samples => [{Status, [{m, f, 0}], 10}]}),
                   [Line || #{line := Line} <- diagnose_receives:join(Suspect, #{m => {ok, [Urgent, Any]}})]
           end,
    ?assertEqual({[3], [], []}, {Join(running, true), Join(running, false), Join(waiting, true)}).

%% As in io:execute_request/3, where another receive follows the message that tells of the end of the process that was asked.
receive_behind_a_marker_is_not_named(_) ->
    Inner = #{function => {f, 0}, file => "m.erl", line => 9, verdict => scans, loops => false, nested => true, polls => true},
    Outer = Inner#{line := 4, nested := false, polls := false},
    Suspect = suspect(#{usual_depth => 5000, samples => [{running, [{m, f, 0}], 5}, {waiting, [{m, f, 0}], 5}]}),
    Named = fun(Own) -> [Line || #{line := Line} <- diagnose_receives:join(Suspect, #{m => {ok, Own}})] end,
    ?assertEqual([], Named([Outer#{verdict := marker}, Inner])),
    ?assertEqual([], diagnose_receives:undecided(Suspect, #{m => {ok, [Outer#{verdict := marker}, Inner#{verdict := unknown}]}})),
    ?assertEqual([9], Named([Outer#{verdict := takes_any}, Inner])),
    ?assertEqual([9], Named([Outer#{verdict := marker}, Inner#{nested := false}])).

%% The compiler gives the receive of demonitor/2 a marker, which the reference of an older monitor does not have.
flush_of_a_monitor_scans(_) ->
    Receive = #{function => {flush_monitor_messages, 3}, file => "erts_internal.erl", line => 516, verdict => marker, loops => true,
                polls => true},
    Suspect = suspect(#{usual_depth => 5000, samples => [{running, [{erts_internal, flush_monitor_messages, 3}, {m, handle_cast, 2}], 10},
                                                         {running, [{m, handle_cast, 2}], 10}]}),
    Judged = #{erts_internal => {ok, [Receive]}, m => {ok, [Receive#{function := {handle_cast, 2}}]}},
    [#{called_from := {m, handle_cast, 2}, seen := 10, looks := 20}] = Scans = diagnose_receives:join(Suspect, Judged),
    [#{signs := Signs}] = found(#{suspects => [Suspect]}, Scans),
    [Advice] = [Says || #{kind := scanning_receive, advice := Says} <- Signs],
    ?assertMatch({_, _}, binary:match(Advice, ~"Leave flush out")).

%% A receive that was not decided may be the one, unless another one of the function is named, or takes what comes.
undecided_receive_is_told(_) ->
    Receive = #{function => {f, 0}, file => "/src/m.erl", line => 3, verdict => unknown, loops => false, polls => false},
    Suspect = fun(Status, Times) ->
                      suspect(#{usual_depth => 5000, samples => [{Status, [{m, f, 0}], Times}, {running, [{m, g, 0}], 10 - Times}]})
              end,
    Undecided = fun(Status, Times, Receives) ->
                        [Line || {m, {undecided, {f, 0}, ~"m.erl", Line}}
                                     <- diagnose_receives:undecided(Suspect(Status, Times), #{m => {ok, Receives}})]
                end,
    Other = fun(Verdict) -> [Receive, Receive#{line := 5, verdict := Verdict}] end,
    ?assertEqual([{[3], [3], []}, {[], [3], [3]}, {[3], [], [3]}, {[3, 5], [3, 5], []}, {[], [], []}],
                 [{Undecided(running, 5, Receives), Undecided(waiting, 5, Receives), Undecided(Status, Times, Receives)}
                  || {Receives, Status, Times} <- [{[Receive], running, 1}, {Other(scans), waiting, 2}, {Other(marker), running, 2},
                                                   {Other(unknown), suspended, 5}, {[Receive#{verdict := marker}], waiting, 5}]]),
    ?assertEqual([], Undecided(running, 5, [Receive#{loops := true}])),
    ?assertEqual([], diagnose_receives:undecided(suspect(#{samples => [{waiting, [{m, f, 0}], 10}]}), #{m => {ok, [Receive]}})),
    Told = lists:last(diagnose_wording:unknown(nothing(), [{m, {undecided, {f, 0}, ~"m.erl", 3}}])),
    ?assertEqual(
       ~"The receives of m: that of f/0 (m.erl:3), where a process with a deep mailbox is, may scan: the compiler does not report it.",
       Told),
    %% Who follows the advice is not sent back with another one: both conditions of rebar3's releases, and their page.
    Stripped = lists:last(diagnose_wording:unknown(nothing(), [{m, no_debug_info}])),
    [?assertNotEqual(nomatch, binary:match(Stripped, Part), {Part, Stripped})
     || Part <- [~"The receives of m: it has no debug_info,", ~"strip_beams: false", ~"{debug_info, keep} and without {mode, prod}",
                 ~"the application compiler", ~"doc/diagnose.md#in-all-containers"]].

%% The whole way: a module without markers.
undecided_receive_of_a_module_is_told(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "undecided.erl"),
    ok = file:write_file(File, "-module(undecided).\n-compile(no_recv_opt).\n-export([f/1]).\nf(X) -> receive {X, A} -> A end.\n"),
    {ok, undecided} = compile:file(File, [debug_info, {outdir, filename:dirname(File)}]),
    {module, undecided} = code:load_abs(filename:rootname(File)),
    Suspect = suspect(#{usual_depth => 5000, samples => [{waiting, [{undecided, f, 1}], 10}]}),
    Found = diagnose_receives:scans(node(), [Suspect, Suspect], 60_000),
    true = code:delete(undecided),
    ?assertMatch({[], [{undecided, {undecided, {f, 1}, ~"undecided.erl", 4}}], _}, Found).

silent_process_is_told_of(_) ->
    Silent = #{pid => ~"<0.7.0>", name => log_event, ms => 3000, depth => 28_000},
    ?assertMatch([{unresponsive, #{ms := 3000, messages := 28_000}}], signs(#{unresponsive => [Silent]}, [])),
    ?assertEqual([], signs(#{unresponsive => [Silent#{ms := 600}]}, [])),
    Suspect = suspect(#{pid => ~"<0.7.0>", name => log_event, usual_depth => 28_000}),
    [#{subject := Subject}] = found(#{unresponsive => [Silent], suspects => [Suspect]}, []),
    ?assertEqual(#{process => #{pid => ~"<0.7.0>", name => log_event}}, Subject).

%% Ten were looked at, and forty there are.
processes_alike_are_told_of_once(_) ->
    Deep = [suspect(#{pid => integer_to_binary(N), label => {m, f, 0}, usual_depth => 3000 + N}) || N <- lists:seq(1, 10)],
    [#{subject := #{group := #{label := Label, count := 40}}, signs := [#{evidence := Evidence}]}] =
        found(#{suspects => Deep, groups => [group(#{label => {m, f, 0}, count => 50, deep => 40, messages => 120_000})]}, []),
    ?assertEqual(~"m:f/0", Label),
    ?assertMatch(#{messages := 3010, alike := 10, processes := 40, messages_together := 120_000, worst := #{pid := ~"10"}}, Evidence).

%% Others are deeper, and none of them was looked at closer.
kind_that_was_not_looked_at_is_told_of(_) ->
    Group = group(#{label => {m, g, 0}, count => 9, deep => 5, messages => 9000, deepest => 2000}),
    ?assertMatch([{deep_mailbox, #{processes := 5, messages_together := 9000, messages := 2000}}], signs(#{groups => [Group]}, [])),
    ?assertEqual([], signs(#{groups => [Group], suspects => [suspect(#{label => {m, g, 0}})]}, [])).

%% OTP 25 does not say what a process with a large heap is: then it is what others of its kind are.
unknown_one_is_told_of_with_its_kind(_) ->
    Idle = suspect(#{pid => ~"<0.7.0>", depth => 0, idle => true, heap_bytes => 15_000_000, used_bytes => 1000, old_bytes => 0,
                     label => unknown}),
    Sampled = fun(Bytes) -> #{heap_bytes => Bytes, used_bytes => Bytes, held_bytes => 0, binaries => unknown} end,
    Sample = #{holding => none,
               large => #{collected => 6, working => 0, another => ~"<0.9.0>", before => Sampled(60_000_000), 'after' => Sampled(6000)}},
    Group = fun(Kin) -> group(#{label => {m, f, 0}, kin => Kin, count => 9, large => 9, large_heap_bytes => 90_000_000,
                                heap_bytes => 90_000_000, sample => Sample}) end,
    ?assertMatch([#{subject := #{group := #{label := ~"m:f/0"}}, signs := [#{kind := uncollected_garbage}]}],
                 found(#{suspects => [Idle], groups => [Group([~"<0.7.0>"])]}, [])),
    ?assertMatch([_, _], found(#{suspects => [Idle], groups => [Group([])]}, [])).

%% Nine of one kind with garbage and one of another, all of one parent; before OTP 26.2 only those that were collected say what they are.
kind_takes_in_no_other_kind(_) ->
    [Other | Nine] = Pids = [spawn(fun() -> ok end) || _ <- lists:seq(1, 10)],
    Row = fun(Pid) when Pid =:= Other -> row(#{pid => Pid, heap => 16_600_000, used => 3_000_000});
             (Pid) -> row(#{pid => Pid, heap => 15_000_000, used => 5_000_000})
          end,
    Rows = [Row(Pid) || Pid <- Pids],
    All = grouped(Rows),
    Collected = fun(Of) -> [{Pid, #{before => #{heap => H, used => U, held => 0, binaries => unknown},
                                    'after' => #{heap => 2000, used => 1200, held => 0, binaries => unknown}}}
                            || #{pid := Pid, heap := H, used := U} <- Rows, lists:member(Pid, Of)] end,
    Parts = fun(Of, Kin, Known) ->
                    [{Label, Count, length(Told), [list_to_pid(binary_to_list(Another)) || #{large := #{another := Another}} <- [Sample]]}
                     || #{label := Label, count := Count, kin := Told, sample := Sample}
                            <- diagnose_probe:parts({{{proc_lib, init_p, 5}, 1}, {none, none}}, All,
                                                    #{large => Collected(Of), holding => []},
                                                    {[Row(Pid) || Pid <- Kin],
                                                     maps:merge(maps:from_keys(Pids, unknown), maps:from_list(Known))}, #{})]
            end,
    {Six, Three} = lists:split(6, Nine),
    A = [{Pid, {a, init, 1}} || Pid <- Six],
    %% Its heap is as theirs by the size alone: less of it is used. It is told of by itself, and proves nothing of them.
    [{{a, init, 1}, 9, 3, [Proof]}] = Parts(Six, [Other | Three], A),
    ?assertNotEqual(Other, Proof),
    %% It was collected, too, or says what it is.
    ?assertMatch([{{a, init, 1}, 9, 3, _}, {{b, init, 1}, 1, 1, []}], Parts(Six, [Other | Three], [{Other, {b, init, 1}} | A])),
    ?assertMatch([{{a, init, 1}, 9, 3, _}, {{b, init, 1}, 1, 1, [Other]}],
                 Parts([Other | Six], [Other | Three], [{Other, {b, init, 1}} | A])),
    %% Who was drawn and works is counted.
    ?assertMatch([#{sample := #{large := #{collected := 6, working := 3}}}],
                 diagnose_probe:parts({{{proc_lib, init_p, 5}, 1}, {none, none}}, grouped([Row(Pid) || Pid <- Nine]),
                                      #{large => Collected(Six) ++ [{Pid, busy} || Pid <- Three], holding => []},
                                      {[], maps:from_keys(Nine, {a, init, 1})}, #{})),
    %% Nothing was collected: then nothing speaks for it.
    ?assertMatch([#{label := {a, init, 1}, count := 6, kin := []}],
                 diagnose_probe:parts({{{proc_lib, init_p, 5}, 1}, {none, none}}, All, not_asked,
                                      {[Row(Pid) || Pid <- [Other | Three]],
                                       maps:merge(maps:from_keys(Pids, unknown), maps:from_list(A))}, #{})).

row(More) ->
    maps:merge(#{pid => self(), depth => 0, status => waiting, reductions => 0, call => {proc_lib, init_p, 5}, parent => self(), at => 0,
                 heap => 0, used => 0, unused => 0, held => 0, packed => false}, More).

grouped(Rows) ->
    [First | Others] = [diagnose_probe:group(Row) || Row <- Rows],
    lists:foldl(fun diagnose_probe:joined/2, First, Others).

%% Of any processes: what idle ones have and no sample tells of is in the account, and where that is as much as a finding would be, the
%% report is not complete, and promises nothing.
complete_leaves_no_more_than_it_promises(_) ->
    _ = rand:seed(exsss, {1, 2, 3}),
    Outcomes = [promised(Nth) || Nth <- lists:seq(1, 300)],
    ?assertEqual([false, true], lists:usort(Outcomes)).

promised(Nth) ->
    Least = 1 bsl rand:uniform(22),
    Calls = rand:uniform(100),
    Rows = [row(#{call => {m, rand:uniform(Calls), 0}, heap => Heap, used => Heap div rand:uniform(4),
                  packed => rand:uniform(10) =:= 1, held => rand:uniform(20_000),
                  status => lists:nth(rand:uniform(4), [waiting, waiting, waiting, running])})
            || _ <- lists:seq(1, rand:uniform(300)), Heap <- [Least * rand:uniform(16)]],
    KindOf = fun(#{call := {_, N, _}, heap := Heap}) -> {{{m, N, 0}, 10 * round(math:log2(Heap))}, {rand:uniform(3), none}} end,
    Groups = maps:map(fun(_, Same) -> grouped(Same) end, maps:groups_from_list(KindOf, Rows)),
    Kinds = maps:to_list(diagnose_probe:kinds(Groups, 1_000_000)),
    Sampled = [Key || {Key, #{large_heap := Large}} <- diagnose_probe:sampled_first(Kinds), Large >= 8_000_000, rand:uniform(5) > 1],
    Unlooked = diagnose_probe:unlooked([{One, lists:member(Key, Sampled), vast(One)} || {Key, One} <- Kinds]),
    Idle = lists:sum([Heap || #{status := waiting, heap := Heap, used := Used, packed := Packed} <- Rows,
                              Used =< 6_000_000 andalso Heap >= 2000 orelse Used > 6_000_000 andalso not Packed]),
    LookedAt = lists:sum([Heap || {Key, #{large_heap := Heap}} <- Kinds, lists:member(Key, Sampled)]),
    #{heap_bytes := Left} = Unlooked,
    ?assertEqual({Nth, Idle - LookedAt}, {Nth, Left}),
    Processes = #{looked => 3, skipped => #{}, heap_bytes => 0, used_bytes => 0, held_bytes => 0, messages => 0},
    Look = (nothing())#{processes := Processes, unlooked := Unlooked},
    Line = iolist_to_binary(diagnose_text:last_line(#{findings => [], look => Look})),
    case diagnose:is_complete(#{node => a@b, look => Look, findings => [], warnings => [], unknown => []}) of
        true ->
            ?assert(Left < 16_000_000),
            ?assertMatch({0, _}, binary:match(Line, ~"Nothing found")),
            Left > 0 andalso ?assertMatch({_, _}, binary:match(Line, ~"of heap of idle processes was not collected, so its live part is unknown")),
            true;
        false ->
            ?assertEqual(nomatch, binary:match(Line, ~"Nothing found")),
            false
    end.

%% All that are too large are idle.
vast(#{vasts := Vasts}) -> {[Pid || {_, Pid, _, _} <- Vasts], length(Vasts)}.

group(More) ->
    maps:merge(#{label => unknown, members => [#{pid => ~"<0.9.0>", name => ''}], kin => [], count => 1, heap_bytes => 0, used_bytes => 0,
                 large => 0, large_heap_bytes => 0, holding => 0, held_bytes => 0, holding_heap_bytes => 0,
                 laden => 0, laden_bytes => 0, deep => 0, messages => 0, behind => 0, behind_messages => 0, deepest => 0, ready => 0,
                 suspended => 0, sample => not_asked}, More).

other_names_are_other_processes(_) ->
    Suspect = fun(Name) -> suspect(#{pid => atom_to_binary(Name), name => Name, label => {m, f, 0}, usual_depth => 3000}) end,
    Found = fun(Names) -> [Subject || #{subject := Subject} <- found(#{suspects => [Suspect(Name) || Name <- Names]}, [])] end,
    ?assertMatch([#{process := _}, #{process := _}], Found([red, blue])),
    ?assertMatch([#{group := #{count := 2}}], Found([sink_1, sink_2])).

%% A registry knows each process once.
monitors_that_are_needed_are_none_too_many(_) ->
    Found = fun(About, Processes) ->
                    Holder = #{pid => ~"<0.8.0>", name => '', label => unknown, about => About, exactly => unknown},
                    [Kind || {Kind, _} <- signs(#{counts => [{0, counts(Processes)}],
                                                  links => #{timer_bytes => 0, holders => [Holder]}}, [])]
            end,
    ?assertEqual({[many_monitors], [], []}, {Found(60_000, 50), Found(60_000, 40_000), Found(9000, 50)}),
    %% What is beside the heap was something else.
    Holder = #{pid => ~"<0.8.0>", name => '', label => unknown, about => 90_000,
               exactly => #{monitors => 3, links => 0, monitored_by => 0}},
    ?assertEqual([], signs(#{links => #{timer_bytes => 0, holders => [Holder]}}, [])),
    %% A supervisor has a link to each child, of which some were started since the processes were counted.
    Counted = fun(Exactly) ->
                      [Kind || {Kind, _} <- signs(#{counts => [{0, counts(25_000)}],
                                                    links => #{timer_bytes => 0, holders => [Holder#{exactly := Exactly}]}}, [])]
              end,
    ?assertEqual([[], [many_monitors], [many_monitors]],
                 [Counted(#{monitors => Monitors, links => Links, monitored_by => 0})
                  || {Monitors, Links} <- [{30, 25_100}, {15_000, 15_000}, {26_000, 1}]]),
    %% Who is monitored has nothing to remove.
    Advice = fun(Exactly) ->
                     [#{signs := [#{kind := many_monitors, advice := Text}]}]
                         = found(#{counts => [{0, counts(50)}], links => #{timer_bytes => 0, holders => [Holder#{exactly := Exactly}]}}, []),
                     unicode:characters_to_list(Text)
             end,
    ?assertMatch({match, _}, re:run(Advice(#{monitors => 1, links => 2, monitored_by => 90_000}), "other processes monitor this one")),
    ?assertEqual(nomatch, re:run(Advice(#{monitors => 90_000, links => 2, monitored_by => 1}), "other processes|is the monitored one")),
    ?assertMatch({match, _}, re:run(Advice(unknown), "If this process is the monitored one")).

%% Beside sockets, which are ports.
files_that_are_not_closed_are_told_of(Config) ->
    New = [{~"/srv/geo.bin", 18}, {closed, 2}],
    LooksOf = fun(Files, Ports, NewFiles) ->
                      All = [{100 * N, case N rem 3 of
                                           0 -> (counts(600))#{files => {Files(N), 4096}, ports := {Ports(N), 65_536}};
                                           _ -> (counts(600))#{ports := {Ports(N), 65_536}}
                                       end} || N <- lists:seq(0, 38)],
                      {Ms, Last} = lists:last(All),
                      lists:droplast(All) ++ [{Ms, Last#{new_files => NewFiles}}]
              end,
    Looks = fun(Files, Ports) -> LooksOf(Files, Ports, New) end,
    One = fun(_) -> 1 end,
    [{near_limit, #{what := files, count := 544, growth_a_second := Growth, 'of' := [#{label := ~"/srv/geo.bin", count := 18}]}}] =
        [Sign || {near_limit, _} = Sign <- signs(#{counts => Looks(fun(N) -> 400 + 4 * N end, One), files => {400, 4096}}, [])],
    ?assert(Growth >= 30 andalso Growth =< 50),
    Owners = #{asked => 50, most => [{~"<0.9.0>", '', 20}], labels => [{{web, init, 1}, 20}]},
    [Opened] = [Sign || #{signs := Signs} <- found(#{counts => Looks(fun(N) -> 400 + 4 * N end, One), files => {400, 4096},
                                                     file_owners => Owners}, []), Sign <- Signs],
    ?assert(has("50 of them that were sampled were opened by processes of web:init/1", said(Opened))),
    Link = filename:join(proplists:get_value(priv_dir, Config), "not_utf_8"),
    _ = file:delete(Link),
    ok = file:make_symlink(<<"/srv/geo", 255>>, Link),
    {ok, Name} = prim_file:read_link_all(Link),
    ?assertEqual(~"/srv/geoÿ", diagnose_probe:file_text(Name)),
    {ok, File} = file:open(code:which(?MODULE), [read]),
    Me = list_to_binary(pid_to_list(self())),
    %% Another that monitors one, as each file does.
    Self = self(),
    Watches = spawn_link(fun() -> _ = monitor(process, Self), Self ! watches, receive stop -> ok end end),
    receive watches -> ok end,
    ?assertMatch(#{asked := 1, most := [{Me, _, 1}]}, diagnose_probe:file_owners([self(), File, Watches])),
    Watches ! stop,
    ok = file:close(File),
    [?assertEqual([], [Sign || {near_limit, _} = Sign <- signs(#{counts => Counts, files => {400, 4096}}, [])])
     || Counts <- [Looks(fun(N) -> 400 + 4 * N end, fun(N) -> 100 + 4 * N end), Looks(fun(_) -> 400 end, One), LooksOf(fun(N) -> 400 + 4 * N end, One, [{socket, 50}]),
                   Looks(fun(N) -> 3 + N div 3 end, One), Looks(fun(N) -> 400 + 50 * (N rem 2) + N end, One)]].

%% Sockets of the module socket are no ports. Those of clients come with a process each.
own_sockets_that_are_kept_are_told_of(_) ->
    Looks = fun(Processes, Sockets) ->
                    [{100 * N, (counts(600))#{sockets => 300 + Sockets * N, files => {400 + Sockets * N, 4096}, ports := {9, 65_536},
                                              processes := {600 + Processes * N, 1_000_000}}} || N <- lists:seq(0, 38)]
            end,
    Started = #{left => [#{pid => ~"<0.9.0>", name => uploader, label => unknown, parents => 1, born => 150, ended => 0,
                           labels => [{{gen_tcp_socket, init, 1}, 150}]}]},
    Found = fun(Counts, More) ->
                    Seen = #{counts => Counts, files => {400, 4096}, starts => maps:merge(maps:get(starts, nothing()), More)},
                    [Sign || #{signs := Signs} <- found(Seen, []), #{kind := near_limit, evidence := #{what := files}} = Sign <- Signs]
            end,
    [#{advice := Advice} = Sign] = Found(Looks(4, 4), Started),
    ?assert(has("close each when its answer", Advice)),
    ?assertMatch({match, _}, re:run(said(Sign), "uploader. started 150 in the inspection .150 of gen_tcp_socket:init/1.")),
    ?assertMatch([_], Found(Looks(0, 4), #{})),
    [?assertEqual([], Found(Looks(Processes, 4), More)) || {Processes, More} <- [{4, #{}}, {8, Started}]],
    %% As many as the processes of the look that have ended.
    ?assertEqual([], Found(Looks(0, 1), #{})),
    [?assert(is_integer(Count)) || #{sockets := Count} <- [element(2, hd(diagnose_probe:growth(erlang:monotonic_time(millisecond), false)))]],
    ?assert(has("inet_backend", advice_of_garbage({gen_tcp_socket, init, 1})) andalso not has("inet_backend", advice_of_garbage({m, f, 1}))).

advice_of_garbage(Label) ->
    Sampled = #{collected => 6, working => 0, another => ~"<0.9.0>", before => sampled(720_000, 720_000), 'after' => sampled(7200, 7200)},
    [#{signs := [#{kind := uncollected_garbage, advice := Advice}]}] =
        found(#{groups => [group(#{label => Label, count => 500, large => 500, large_heap_bytes => 60_000_000, heap_bytes => 60_000_000,
                                   sample => #{large => Sampled, holding => none}})]}, []),
    Advice.

%% A thousand messages wait, so that the memory of all processes is little for each; or few, of which each may be large.
arrivals_of_one(Waiting, Spec) ->
    Consumer = spawn(fun() -> receive stop -> ok end end),
    _ = [Consumer ! {deliver, 0, ~"x"} || _ <- lists:seq(1, Waiting)],
    _ = erlang:trace_pattern('receive', Spec, []),
    Producer = spawn(fun Sends() -> Consumer ! {deliver, 1, ~"x"}, gen_server:cast(Consumer, {seen, 1}), [Consumer ! {io_reply, 0, ok} || _ <- lists:seq(1, 30)],
                             timer:sleep(5), Sends() end),
    Arrivals = diagnose_probe:arrivals([Consumer]),
    [true = exit(Pid, kill) || Pid <- [Producer, Consumer]],
    {Arrivals, erlang:trace_info('receive', match_spec)}.

%% Who writes by messages to the process of a file waits for that, and the process itself goes through no rows.
file_of_a_deep_mailbox_is_told(_) ->
    Deep = fun(Times) ->
                   Suspect = suspect(#{usual_depth => 5000, depth => 5000, by_file => Times,
                                       samples => [{waiting, [{io, execute_request, 3}, {m, handle_cast, 2}], 20}]}),
                   [#{signs := Signs}] = found(#{suspects => [Suspect]}, []),
                   hd([Advice || #{kind := deep_mailbox, advice := Advice} <- Signs])
           end,
    ?assertEqual({true, false}, {has("open it raw", Deep(20)), has("open it raw", Deep(2))}),
    File = suspect(#{samples => [{running, [{prim_file, write_1, 2}, {file_io_server, put_chars, 4}], 20}], reductions => 6.0e6, depth => 0,
                     answer_ms => 0}),
    [#{signs := [#{kind := busy_process, advice := Writes}]}] = found(#{suspects => [File]}, []),
    ?assertEqual({true, false}, {has("without the mode raw", Writes), has("loop over growing data", Writes)}).

%% The VM tells them when they come; nothing is known of those that wait already.
what_comes_to_a_deep_mailbox_is_told_of(_) ->
    %% This node may have large constants, of which a message may be a copy.
    {[#{shapes := Shapes, from := From}], Spec} = on_a_peer(arrivals_of_one, [1000, true]),
    ?assertEqual({[], {match_spec, true}}, on_a_peer(arrivals_of_one, [5, true])),
    Theirs = [{['_', '_', never], [], []}],
    ?assertEqual({unknown, {match_spec, Theirs}}, on_a_peer(arrivals_of_one, [1000, Theirs])),
    ?assertEqual([~"cast of {seen, _}", ~"{deliver, _, _}"], lists:sort([Shape || {Shape, _} <- Shapes])),
    ?assertMatch([{{?MODULE, _, _}, 1}], From),
    ?assertEqual({match_spec, true}, Spec),
    Deep = suspect(#{usual_depth => 700_000, depth => 700_000, waiting => too_large}),
    Arrived = #{pid => ~"<0.1.0>", shapes => [{~"{deliver, _, _}", 19}, {~"tick", 1}], from => [{{amqp_channel, init, 1}, 3}, {shop_feed, 1}]},
    Says = fun(Arrivals) ->
                   [#{signs := [Sign | _]}] = found(#{suspects => [Deep], arrivals => Arrivals}, []),
                   said(Sign)
           end,
    ?assertMatch({match, _}, re:run(Says([Arrived]), "of 20 messages that came now: 95 % \\{deliver, _, _\\}, 5 % tick, from amqp_channel:init/1, shop_feed")),
    ?assertMatch({match, _}, re:run(Says([Arrived#{pid := ~"<0.2.0>"}]), "too many or too large to sample")).

on_a_peer(Function, Args) ->
    {ok, Peer, _} = peer:start_link(#{connection => standard_io,
                                      args => ["-pa" | [filename:dirname(code:which(Module)) || Module <- [?MODULE, diagnose_probe]]]}),
    Result = peer:call(Peer, ?MODULE, Function, Args, 60_000),
    ok = peer:stop(Peer),
    Result.

%% Somebody else traces the receives and the calls of one that gets numbers and starts timers, and of all that are started by it, while
%% the probe traces others, or would trace that one.
traces_of_others() ->
    Theirs = spawn(fun() -> takes_numbers() end),
    Self = self(),
    Tracer = spawn(fun() ->
                           1 = erlang:trace(Theirs, true, ['receive', call]),
                           Self ! traces,
                           receive {stop, From} -> From ! {events, element(2, process_info(self(), messages))} end
                   end),
    receive traces -> ok end,
    Numbers = spawn(fun() -> sends_numbers(Theirs, 1) end),
    [Polls, Starts, Deep] = Own = [spawn(Fun) || Fun <- [fun polls_its_mailbox/0, fun starts_timers/0, fun() -> receive stop -> ok end end]],
    _ = [Deep ! {deliver, 0, ~"x"} || _ <- lists:seq(1, 1000)],
    Feeds = spawn(fun Sends() -> Deep ! {deliver, 1, ~"x"}, timer:sleep(5), Sends() end),
    Seen = [element(2, diagnose_probe_helper(Look))
            || Look <- [fun() -> diagnose_probe:arrivals([Deep, Theirs]) end, fun() -> diagnose_probe:wakes(#{}, [Polls, Theirs]) end,
                        fun() -> diagnose_probe:ticks([Starts]) end, fun() -> diagnose_probe:timers([Starts]) end,
                        fun() -> diagnose_probe:asked_for_modules(whereis(code_server)) end]],
    [true = exit(Pid, kill) || Pid <- [Numbers, Feeds | Own]],
    Tracer ! {stop, self()},
    Events = receive {events, All} -> All end,
    {Seen, lists:usort([{element(1, Event), tuple_size(Event), element(3, Event)} || Event <- Events]),
     [Number || {trace, _, 'receive', Number} <- Events, is_integer(Number)]}.

takes_numbers() ->
    receive
        Number when is_integer(Number) ->
            _ = erlang:cancel_timer(erlang:send_after(10_000, self(), late)),
            takes_numbers()
    end.

sends_numbers(Pid, Number) ->
    Pid ! Number,
    timer:sleep(2),
    sends_numbers(Pid, Number + 1).

what_others_trace_comes_to_them_as_before(_) ->
    {Seen, Kinds, Numbers} = on_a_peer(traces_of_others, []),
    ?assertMatch([[#{shapes := [_ | _]}], #{to_itself := [_ | _]}, [], #{traced := 1}, #{}], Seen),
    ?assertEqual([{trace, 4, 'receive'}], Kinds),
    ?assert(length(Numbers) > 100),
    ?assertEqual(lists:seq(1, length(Numbers)), Numbers).

%% It waits for nothing, or for a time.
who_is_slow_by_its_own_work_is_told_so(_) ->
    Advice = fun(Samples) ->
                     [#{signs := [#{kind := deep_mailbox, advice := Text} | _]}] =
                         found(#{suspects => [suspect(#{usual_depth => 20_000, depth => 20_000, samples => Samples})]}, []),
                     unicode:characters_to_list(Text)
             end,
    Loop = [{gen_server, loop, 7}],
    ?assertMatch({match, _}, re:run(Advice([{running, [{lists, foldl_1, 3}, {mgmt_db, rates, 1}, {mgmt_db, handle_cast, 2}], 19}, {waiting, Loop, 1}]),
                                    "works nearly all the time, mostly in (lists:foldl_1|mgmt_db:rates)/")),
    ?assertMatch({match, _}, re:run(Advice([{waiting, [{timer, sleep, 1}, {ingest, write, 2}, {ingest, handle_info, 2}], 20}]),
                                    "it sleeps, and ingest:write/2 has called that")),
    ?assertMatch({match, _}, re:run(Advice([{waiting, [{gen, do_call, 4}, {ingest, write, 2}], 20}]), "find out what the process waits for")),
    ?assertMatch({match, _}, re:run(Advice([{waiting, [{erlang, spawn_opt, 5}, {ingest, write, 2}], 20}]), "until another node has started")),
    [#{signs := [Sign | _]}] = found(#{suspects => [suspect(#{usual_depth => 20_000, depth => 20_000,
                                                              samples => [{waiting, [{timer, sleep, 1}, {ingest, write, 2}], 20}]})]}, []),
    ?assertMatch({match, _}, re:run(said(Sign), "mostly in ingest:write/2")),
    %% What it does about them is not advised where a receive goes through all, or where they become fewer.
    Works = [{running, [{mgmt_db, rates, 1}], 19}, {waiting, Loop, 1}],
    To = fun(Growth, Scans) ->
                 [#{signs := [#{advice := Text} | _]} | _] = found(#{suspects => [suspect(#{usual_depth => 20_000, depth => 20_000, growth => Growth,
                                                                                            samples => Works})]}, Scans),
                 unicode:characters_to_list(Text)
         end,
    ?assertMatch({match, _}, re:run(To(10.0, []), "takes longer to handle than the time until the next")),
    ?assertMatch({match, _}, re:run(To(-100.0, []), "takes longer to handle")),
    ?assertMatch({match, _}, re:run(To(-400.0, []), "They become fewer")),
    Scan = #{pid => ~"<0.1.0>", function => {m, f, 1}, file => ~"m.erl", line => 9, called_from => none, seen => 9, looks => 10},
    ?assertMatch({match, _}, re:run(To(10.0, [Scan]), "First change the receive named below")),
    %% Where the node hardly works, no scan is why they wait.
    Cores = fun(Cores, Delayed) ->
                    Seen = #{collections => (kept_from_running())#{cores => Cores, delayed => Delayed},
                             suspects => [suspect(#{usual_depth => 20_000, depth => 20_000, growth => 10.0, samples => Works})]},
                    [Text] = [Told || #{signs := Signs} <- found(Seen, [Scan]), #{kind := deep_mailbox, advice := Told} <- Signs],
                    [Says || Says <- ["used 0.1 cores in all, so this is not why", "First change the receive", "unknown: for 90 %"],
                             string:find(Text, Says) =/= nomatch]
            end,
    ?assertEqual([["used 0.1 cores in all, so this is not why"], ["unknown: for 90 %"], ["First change the receive"]],
                 [Cores(0.1, 0.0), Cores(0.1, 0.9), Cores(0.9, 0.0)]),
    %% The VM says that it runs while it answers the look, also where it only waits.
    Waits = [{running, [{shop, price, 1}], 15}, {waiting, [{shop, price, 1}], 5}],
    ?assertMatch({match, _}, re:run(Advice(Waits), "find out what the process waits for")),
    %% Whom it waits for is where to begin, whether its mailbox is deep or it is only behind.
    Asks = [#{pid => ~"<0.9.0>", name => tax, in => {tax, burn, 1}, for => answer, label => unknown, at => unknown}],
    [begin
         [#{signs := [#{kind := deep_mailbox, advice := Begins} | _]}] =
             found(#{suspects => [suspect(#{usual_depth => Depth, depth => Depth, least_depth => Depth, stays => true, samples => Waits,
                                            asks => Asks, waiting => [{~"call of price", 10}]})]}, []),
         ?assertMatch({{match, _}, nomatch}, {re:run(Begins, "begin with"), re:run(Begins, "works all the time|find out")}),
         ?assertMatch({match, _}, re:run(Begins, "<0.9.0> \\(tax\\)"))
     end || Depth <- [60, 20_000]].

counts(Processes) -> #{processes => {Processes, 1_000_000}, ports => {1, 1000}, atoms => {1, 1000}, tables => {9000, 8192}}.

timers_that_start_the_next_are_told_of(_) ->
    Tick = {tick, poll},
    Start = {start, poll, 2000, [{m, schedule, 1}, {gen_server, try_handle_info, 3}]},
    Chain = lists:append(lists:duplicate(20, [Tick, Tick, Start, Start])),
    ?assertMatch([#{tick := poll, a_second := 133, interval_ms := 2000, at_a_time := 267, in := {m, schedule, 1}}],
                 diagnose_probe:too_many_ticks(Chain, 300_000)),
    %% The VM may not tell of each tick.
    ?assertMatch([#{a_second := 133}], diagnose_probe:too_many_ticks(lists:append(lists:duplicate(20, [Tick, Start, Start])), 300_000)),
    %% The scheduler stops it among many, and more have come when it goes on.
    Stopped = lists:append([lists:duplicate(Count, What) || {Count, What} <- [{200, Tick}, {30, Start}, {20, Tick}, {190, Start}]]),
    ?assertMatch([#{tick := poll}], diagnose_probe:too_many_ticks(lists:append(lists:duplicate(6, Stopped)), 300_000)),
    %% One timer at a time; one for each request, whose time has nothing to do with the ticks; few.
    Other = setelement(4, Start, [{m, schedule, 1}, {m, handle_call, 3}]),
    [?assertEqual([], diagnose_probe:too_many_ticks(Events, 300_000))
     || Events <- [[case One of Start -> setelement(3, Start, 8); _ -> One end || One <- Chain],
                   lists:append(lists:duplicate(12, [Tick, Tick, Tick, Start, Tick, Start, Start, Start])),
                   [case One of Start -> Other; _ -> One end || One <- Chain], lists:sublist(Chain, 32),
                   [One || One <- Chain, One =/= Start]]],
    Ticks = #{pid => ~"<0.1.0>", tick => poll, a_second => 1250, interval_ms => 2000, at_a_time => 2500, in => {m, schedule, 1}},
    ?assertMatch([{many_ticks, #{at_a_time := 2500}}], signs(#{suspects => [suspect(#{})], ticks => [Ticks]}, [])),
    ?assertEqual([], signs(#{suspects => [suspect(#{})], ticks => [Ticks#{pid := ~"<0.2.0>"}]}, [])).

only_what_grows_all_the_time_nears_its_limit(_) ->
    Found = fun(Counts) -> signs(#{counts => [{100 * N, counts(Count)} || {N, Count} <- lists:enumerate(Counts)]}, []) end,
    ?assertMatch([{near_limit, #{what := processes, growth_a_second := Growth}}] when Growth > 900 andalso Growth < 1100,
                 Found([5000 + 100 * N || N <- lists:seq(1, 40)])),
    ?assertEqual([], Found([5000 + 4000 * (N rem 2) + N || N <- lists:seq(1, 40)] ++ [30_000])),
    ?assertEqual([], Found([5000 + N || N <- lists:seq(1, 40)])),
    ?assertMatch([{near_limit, #{count := 900_000}}], Found([900_000])),
    %% Where there are many. Those of the look end before it does; those of clients, who come and go, are more by chance.
    Many = fun(Least, Falls) -> [Least + 10 * N - Falls * max(0, N - 38) || N <- lists:seq(1, 40)] end,
    ?assertMatch([{near_limit, #{what := processes}}], Found(Many(11_000, 25))),
    ?assertEqual([[], [], []], [Found(Many(11_000, 30)), Found(Many(9000, 25)), Found([Count + 3 * (Count rem 20) || Count <- Many(11_000, 0)])]),
    %% Fewer are enough where they come and do not go, started by no supervisor, each without a socket.
    Parent = parent(#{name => '', label => {reader, init, 1}, parents => 7, born => 300, ended => 2,
                      labels => [{{channel, init, 1}, 300}]}),
    With = fun(Left, Counts) ->
                 #{starts := Starts} = starts(parent(#{})),
                 found(#{starts => Starts#{left => [maps:merge(Parent, Left)]},
                         counts => [{100 * N, One} || {N, One} <- lists:enumerate(Counts)]}, [])
         end,
    Leak = [counts(5000 + 10 * N) || N <- lists:seq(1, 40)],
    [#{signs := [#{kind := near_limit} = Sign]}] = With(#{}, Leak),
    ?assertMatch({match, _}, re:run(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                                    "; 7 of reader:init/1 started 300 in the inspection \\(300 of channel:init/1\\), of which 2 ended")),
    [?assertEqual([], With(Other, Leak)) || Other <- [#{ended => 30}, #{born => 90}, #{label => {supervisor, sessions, 1}},
                                                    #{label => {'Elixir.Horde.DynamicSupervisor', init, 1}}]],
    ?assertEqual([], With(#{}, [One#{ports => {10 * N, 1_000_000}} || {N, One} <- lists:enumerate(Leak)])),
    ?assertEqual([], With(#{}, [counts(500 + 10 * N) || N <- lists:seq(1, 40)])),
    Atoms = fun(Of, Modules) ->
                    signs(#{counts => [{100 * N, (counts(1))#{atoms := {30_000 + 200 * N, 1_000_000}, modules => Modules + Of * N}}
                                       || N <- lists:seq(1, 40)]}, [])
            end,
    %% Those that come with modules are no leak.
    ?assertMatch([{near_limit, #{what := atoms, growth_a_second := Growth}}] when Growth > 1800, Atoms(0, 500)),
    ?assertEqual([], Atoms(4, 500)).

%% Each way of having seen less is said, in the last line and by itself.
nothing_is_said_of_what_was_not_seen(_) ->
    Report = fun(Seen) ->
                     Look = maps:merge(nothing(), Seen),
                     #{node => a@b, look => Look, findings => [], warnings => [], unknown => diagnose_wording:unknown(Look, [])}
             end,
    Processes = #{looked => 3, skipped => #{}, heap_bytes => 0, used_bytes => 0, held_bytes => 0, messages => 0},
    Seen = Report(#{processes => Processes}),
    ?assert(diagnose:is_complete(Seen)),
    ?assertMatch({_, _}, binary:match(iolist_to_binary(diagnose_text:last_line(Seen)), ~"1,000 messages")),
    ?assertEqual(~"Not everything was inspected, and nothing was found in the rest: the ETS tables were not inspected (see \"Unknown\").",
                 iolist_to_binary(diagnose_text:last_line(Report(#{processes => Processes, tables => unknown})))),
    #{cost := Cost} = nothing(),
    [begin
         ?assertNot(diagnose:is_complete(Report(Less))),
         ?assertMatch({0, _}, binary:match(iolist_to_binary(diagnose_text:last_line(Report(Less))), ~"Not everything was inspected")),
         ?assertMatch([_ | _], maps:get(unknown, Report(Less)))
     end || Less <- [#{processes => Processes#{skipped := #{Why => 1}}} || Why <- [silent, out_of_time, too_many]]
                ++ [#{processes => Processes, closer => Closer} || Closer <- [busy, not_looked]]
                ++ [#{processes => Processes, What => unknown} || What <- [tables, ports, terms, binaries_beside]]
                ++ [#{processes => Processes, unlooked => #{processes => 9, heap_bytes => Heap, held_bytes => Held, too_large => TooLarge}}
                    || {Heap, Held} <- [{286_000_000, 0}, {0, 40_000_000}], TooLarge <- [[], [~"<0.9.0>"]]]
                ++ [#{processes => Processes, terms => too_many}, #{processes => Processes, counts => []},
                    #{processes => Processes, groups_left => 1},
                    #{processes => Processes, collections => held()}]
                ++ [#{processes => Processes, cost => Cost#{ended := Ended}}
                    || Ended <- [out_of_time, out_of_memory, out_of_processes, crashed]]],
    %% Whether all of them are named, or only some.
    Unlooked = #{heap_bytes => 286_000_000, held_bytes => 0},
    [begin
         Less = Report(#{processes => Processes, unlooked => Unlooked#{processes => Count, too_large => TooLarge}}),
         ?assertMatch({_, _}, binary:match(iolist_to_binary(maps:get(unknown, Less)), Words))
     end || {Count, TooLarge, Words} <- [{1, [~"<0.9.0>"], ~"it was not collected, because it is too large (<0.9.0>)"},
                                         {2, [~"<0.9.0>", ~"<0.8.0>"], ~"because they are too large (<0.9.0>, <0.8.0>)"},
                                         {9, [~"<0.9.0>"], ~"collected, some because they are too large (such as <0.9.0>)"}]],
    ?assert(diagnose:is_complete(Report(#{processes => Processes#{skipped := #{ended => 5}}}))),
    %% What was forbidden is not promised.
    Forbidden = Report(#{processes => Processes, unlooked => not_asked}),
    ?assert(diagnose:is_complete(Forbidden)),
    ?assertEqual(nomatch, binary:match(iolist_to_binary(diagnose_text:last_line(Forbidden)), ~"garbage")),
    %% What else could not be looked at in an overload.
    Unseen = fun(Terms, Ports) ->
                     length(maps:get(unknown, Report(#{processes => Processes, closer => busy, terms => Terms, ports => Ports})))
             end,
    [?assertEqual({Terms, Ports, Count}, {Terms, Ports, Unseen(Terms, Ports)})
     || #{ports := Seen1, terms := Seen2} <- [nothing()],
        {Terms, Ports, Count} <- [{Seen2, Seen1, 1}, {unknown, Seen1, 2}, {too_many, unknown, 3}]].

%% One binary that is referred to a thousand times, and a sample that would make more of it than the node has.
sums_are_bounded_by_the_node(_) ->
    Of = fun(Bytes) -> #{heap_bytes => 10_000, used_bytes => 10_000, held_bytes => 8_000_000,
                         binaries => #{members => 4, references => 4000, count => 4, charged_bytes => 8_000_000, bytes => Bytes}} end,
    Group = fun(Bytes) ->
                    Sample = #{collected => 4, working => 0, another => ~"<0.9.0>", before => Of(Bytes), 'after' => Of(Bytes)},
                    group(#{label => {m, f, 0}, count => 1000, heap_bytes => 200_000, holding => 100,
                            holding_heap_bytes => 200_000, held_bytes => 200_000_000,
                            sample => #{large => none, holding => Sample}})
            end,
    ?assertEqual([], signs(#{groups => [Group(4000)], memory => #{total => 9, binary => 100_000_000}}, [])),
    ?assertMatch([{binary_leak, #{held_bytes := 100_000_000, processes := 100}}],
                 signs(#{groups => [Group(8_000_000)], memory => #{total => 9, binary => 100_000_000}}, [])),
    #{sample := #{holding := Sample} = Samples} = Held = Group(8_000_000),
    Returned = Held#{sample := Samples#{holding := Sample#{'after' := Of(0)}}},
    ?assertMatch([{binary_leak, #{gives_back := 100_000_000}}],
                 signs(#{groups => [Returned], memory => #{total => 9, binary => 100_000_000}}, [])),
    ?assertEqual([], signs(#{groups => [Returned], memory => #{total => 9, binary => 10_000_000}}, [])),
    %% Of a kind whose members mostly work, only the idle part holds garbage.
    Working = Returned#{sample := Samples#{holding := Sample#{'after' := Of(0), working := 12}}},
    ?assertMatch([{binary_leak, #{gives_back := 50_000_000, processes := 25}}],
                 signs(#{groups => [Working], memory => #{total => 9, binary => 100_000_000}}, [])),
    Busier = Returned#{sample := Samples#{holding := Sample#{'after' := Of(0), working := 28}}},
    ?assertEqual([], signs(#{groups => [Busier], memory => #{total => 9, binary => 100_000_000}}, [])).

%% Who works is not collected, and may have most of the node.
live_binaries_of_a_kind_are_told_of(_) ->
    Refers = #{heap_bytes => 1, used_bytes => 1, least_used_bytes => 1, most_used_bytes => 1, held_bytes => 80_000_000,
               binaries => #{members => 8, references => 3200, count => 32, charged_bytes => 80_000_000, bytes => 32_000_000}},
    Workers = group(#{label => {worker, loop, 4}, count => 160, holding => 160, held_bytes => 1_600_000_000, holding_heap_bytes => 20_000_000,
                      refers => Refers}),
    Found = fun(Groups, Total) ->
                    [{Label, Sign} || #{subject := #{group := #{label := Label}}, signs := Signs}
                                          <- found(#{groups => Groups, memory => #{total => Total, binary => 650_000_000}}, []), Sign <- Signs]
            end,
    [{~"worker:loop/4", #{kind := binary_leak, advice := Advice} = Sign}] = Found([Workers], 700_000_000),
    ?assert(has("prefetch", Advice)),
    ?assertMatch({match, _}, re:run(said(Sign), "160 hold 640.0 MB in 640 binaries .64,000 references. by 20.0 MB of heap, of the node's 700.0 MB"
                                                " .8 were asked")),
    %% Of two sizes.
    Half = Workers#{count := 80, holding := 80, held_bytes := 800_000_000},
    [{_, #{evidence := #{processes := 160, held_bytes := 640_000_000, asked := 16}}}] = Found([Half, Half], 700_000_000),
    %% Who has sent them holds some of the same ones.
    Of = fun(Bytes) -> #{heap_bytes => 10_000, used_bytes => 10_000, held_bytes => 6_000_000,
                         binaries => #{members => 6, references => 600, count => 6, charged_bytes => 6_000_000, bytes => Bytes}} end,
    Sample = #{collected => 6, working => 0, another => ~"<0.9.0>", before => Of(6_000_000), 'after' => Of(0)},
    Senders = group(#{label => {consumer, init, 1}, count => 160, heap_bytes => 20_000, holding => 160, holding_heap_bytes => 20_000,
                      held_bytes => 160_000_000, sample => #{large => none, holding => Sample}}),
    ?assertMatch([{~"consumer:init/1", _}], Found([Senders], 700_000_000)),
    ?assertMatch([{~"worker:loop/4", _}], Found([Senders, Workers], 700_000_000)),
    #{binaries := Binaries} = Refers,
    [?assertEqual([], Found(Groups, Total))
     || {Groups, Total} <- [{[Workers], 1_400_000_000}, {[Workers#{refers := Refers#{binaries := unknown}}], 700_000_000},
                            {[Workers#{refers := Refers#{binaries := Binaries#{bytes := 4_000_000}}}], 700_000_000}]].

%% Their references are too many to be listed, so the VM's account tells.
binaries_of_states_are_told_of(_) ->
    Suspects = [suspect(#{pid => Pid, used_bytes => 40_000_000, held_bytes => Held})
                || {Pid, Held} <- [{~"<0.7.0>", 230_000_000}, {~"<0.8.0>", 220_000_000}, {~"<0.6.0>", 700_000}]],
    Queues = group(#{count => 2, kin => [~"<0.8.0>", ~"<0.7.0>"], laden => 2, laden_bytes => 450_000_000,
                     members => [#{pid => Pid, name => ''} || Pid <- [~"<0.7.0>", ~"<0.8.0>"]]}),
    Found = fun(Group, More) ->
                    [{Subject, Sign} || #{subject := Subject, signs := Signs}
                                            <- found(maps:merge(#{groups => [Group], suspects => Suspects,
                                                                  memory => #{total => 600_000_000, binary => 440_000_000}}, More), []),
                                        Sign <- Signs]
            end,
    [{#{group := #{count := 2}}, #{kind := binary_leak} = Sign}] = Found(Queues, #{}),
    ?assert(has("up to 440.0 MB of binaries (of 600.0 MB of memory) are held by <0.7.0> (230.0 MB), <0.8.0> (220.0 MB): by", said(Sign))),
    %% One has nearly all that there are.
    [{_, One}] = Found(Queues#{count := 1, members := [#{pid => ~"<0.7.0>", name => ''}], kin := [~"<0.7.0>"], laden := 1,
                               laden_bytes := 430_000_000}, #{}),
    ?assert(has("430.0 MB of binaries (of 600.0 MB of memory) are held by <0.7.0>, of the node's 440.0 MB", said(One))),
    ?assertNot(has("up to", said(One))),
    [{_, Two}] = Found(Queues#{laden_bytes := 430_000_000}, #{}),
    ?assert(has("up to 430.0 MB", said(Two))),
    ?assertMatch([{#{process := #{pid := ~"<0.7.0>"}}, _}],
                 Found(Queues#{count := 1, members := [#{pid => ~"<0.7.0>", name => ''}], kin := [~"<0.7.0>"], laden := 1}, #{})),
    [?assertEqual([], Found(Group, More))
     || {Group, More} <- [{Queues#{laden_bytes := 90_000_000}, #{}}, {Queues#{laden_bytes := 900_000_000}, #{}}, % shared by many
                          {Queues, #{memory => #{total => 900_000_000, binary => 440_000_000}}},
                          {Queues, #{binaries_beside => #{bytes => 0, all_bytes => 440_000_000,
                                                          tables => [#{name => cache, rows => 9, bytes => 300_000_000}]}}}]].

%% Who waits with a small heap is asked for what it refers to; of others the VM's account is all that is known.
who_is_laden_is_counted(_) ->
    ?assertEqual([{1, 50_000_000}, {0, 0}, {1, 50_000_000}, {0, 0}],
                 [{Laden, Held} || Row <- [row(#{used => 7_000_000, held => 50_000_000}), row(#{used => 900_000, held => 50_000_000}),
                                           row(#{used => 900_000, held => 50_000_000, status => running}),
                                           row(#{used => 9_000_000, held => 500})],
                                   #{laden := Laden, laden_held := Held} <- [diagnose_probe:group(Row)]]).

%% The words of a table are the least of what its rows keep.
tables_whose_binaries_grow_are_told_of(_) ->
    Grows = fun(Pace) -> #{name => keys, owner => ~"<0.9.0>", node_ms => 60_000,
                           looks => [{100 * N, 40_000 + Pace * N div 10, 6_000_000 + 15 * Pace * N} || N <- lists:seq(1, 40)]} end,
    Found = fun(Pace, Bytes, Total) ->
                    [Sign || #{signs := Signs}
                                 <- found(#{binaries_beside => #{bytes => Bytes, all_bytes => Bytes,
                                                                 tables => [#{name => keys, rows => 40_000, bytes => Bytes}]},
                                            growing => [Grows(Pace)], memory => #{total => Total, binary => Bytes}}, []), Sign <- Signs]
            end,
    [#{kind := binaries_beside} = Sign] = Found(400, 80_000_000, 100_000_000),
    ?assertMatch({match, _}, re:run(said(Sign), "about 80.0 MB are in the ETS table keys .40,000 rows, [34].. more a second")),
    ?assert(has("a process that deletes old rows", advised(Sign))),
    ?assertEqual([[], [], [], []], [Found(0, 80_000_000, 100_000_000), Found(1, 80_000_000, 100_000_000),
                                    Found(400, 20_000_000, 30_000_000), Found(400, 80_000_000, 400_000_000)]).

%% Less than a finding tells of, and nobody has it.
no_holder_is_no_silence(_) ->
    Unseen = fun(Rest, Tables, Messages) ->
                     diagnose_wording:unseen((nothing())#{processes := #{looked => 3, skipped => #{}, messages => Messages},
                                                          memory := #{total => 100_000_000, binary => 60_000_000},
                                                          binaries_beside := #{bytes => Rest, all_bytes => 60_000_000, tables => Tables}})
             end,
    ?assertMatch({match, _}, re:run(Unseen(60_000_000, [], 3), "Who holds 60.0 MB of binaries .of 100.0 MB of memory. is unknown")),
    Table = #{name => keys, rows => 9, bytes => 60_000_000},
    ?assertEqual([[], [], []], [Unseen(60_000_000, [Table], 3), Unseen(20_000_000, [], 3), Unseen(60_000_000, [], 900)]).

the_last_line_tells_what_has_most(_) ->
    Nothing = (nothing())#{processes := #{looked => 3, skipped => #{}, messages => 0}, memory := #{total => 80_000_000}},
    Last = fun(More) ->
                   unicode:characters_to_list(
                     diagnose_text:last_line(#{findings => [], warnings => [], unknown => [], place => #{in => library, node => own},
                                               look => maps:merge(Nothing, More)}))
           end,
    Says = fun(Words, More) -> has("Nothing found.", Last(More)) andalso has(Words, Last(More)) end,
    Table = #{name => keys, rows => 40_000, bytes => 60_000_000},
    Group = group(#{label => {session, init, 1}, count => 2, laden => 2, laden_bytes => 50_000_000}),
    Beside = #{bytes => 60_000_000, all_bytes => 60_000_000, tables => [Table]},
    Grows = #{name => keys, owner => ~"<0.9.0>", node_ms => 60_000,
              looks => [{100 * N, 40_000 + 40 * N, 6_000_000 + 9000 * N} || N <- lists:seq(1, 40)]},
    [?assertEqual({Words, true}, {Words, Says(Words, More)})
     || {Words, More} <- [{"binaries: about 60.0 MB are in the ETS table keys (40,000 rows)", #{binaries_beside => Beside}},
                          {"binaries: up to 50.0 MB are held by 2 of session:init/1",
                           #{binaries_beside => Beside#{bytes := 0, tables := []}, groups => [Group]}},
                          {"is in <0.1.0>, which has 50.0 MB of heap",
                           #{suspects => [suspect(#{heap_bytes => 50_000_000, used_bytes => 49_000_000})]}},
                          {"The ETS table keys gets ", #{growing => [Grows]}}]],
    ?assertNot(has("Most of its memory", Last(#{}))),
    ?assertNot(has("The ETS table", Last(#{growing => [Grows#{looks := [{100 * N, 40_000, 6_000_000} || N <- lists:seq(1, 40)]}]}))),
    %% One process is no kind, and all of some are named.
    Memory = fun(Groups) ->
                     Report = #{warnings => [], unknown => [], place => #{in => library, node => own},
                                look => Nothing#{groups := Groups, memory := #{total => 99, processes => 60, binary => 9, ets => 9},
                                                 cost := (maps:get(cost, Nothing))#{purge_bytes => 0, stays_loaded => false}}},
                     {_, Facts} = lists:keyfind("Memory", 1, diagnose_text:facts(Report)),
                     unicode:characters_to_list(lists:join($\n, Facts))
             end,
    Two = group(#{count => 2, heap_bytes => 50, members => [#{pid => ~"<0.7.0>", name => ''}, #{pid => ~"<0.8.0>", name => store}]}),
    ?assert(has("2 of an unknown kind (<0.7.0>, store) with 50 B", Memory([Two]))),
    ?assert(has("3 of an unknown kind (<0.7.0>, store, ...) with", Memory([Two#{count := 3}]))),
    ?assertNot(has("unknown kind", Memory([group(#{count => 1, heap_bytes => 50})]))).

%% So many are looked at closer: of as many nobody knows that they are all.
a_cut_off_count_is_told_as_such(_) ->
    Found = fun(Count) ->
                    Suspects = [suspect(#{pid => integer_to_binary(N), label => {pool, worker, 0}, stack_bytes => 9_000_000,
                                          stack_in => [{pool, worker, 0}]}) || N <- lists:seq(1, Count)],
                    [#{subject := Subject}] = found(#{suspects => Suspects}, []),
                    unicode:characters_to_list(diagnose_wording:subject(Subject))
            end,
    ?assert(has("10 or more of pool:worker/0 (", Found(10))),
    ?assert(has("9 of pool:worker/0 (", Found(9))).

%% Of a node whose memory is mostly binaries, those that work are asked, too; each binary counts once.
what_processes_refer_to_is_known(_) ->
    Works = fun Works(Kept, Left) -> _ = lists:seq(1, 2000), receive stop -> Kept after 1 -> Works(Kept, Left + 1) end end,
    Size = max(120_000_000, erlang:memory(total)) div 4,
    Pids = [spawn_link(fun() -> Works([binary:part(Binary, N, 100) || Binary <- [binary:copy(<<1>>, Size)], N <- lists:seq(1, 50)], 0) end)
            || _ <- lists:seq(1, 8)],
    ok = diagnose_test_wait(fun() -> erlang:memory(binary) >= 8 * Size end),
    Self = self(),
    _ = spawn_link(fun() ->
                           process_flag(trap_exit, true),
                           Until = erlang:monotonic_time(millisecond) + 10_000,
                           #{groups := Groups} = diagnose_probe:first_look(#{}, normal, Until),
                           {Told, _, _} = diagnose_probe:groups(Groups, [], #{}, true, Until, #{}),
                           Self ! {told, Told}
                   end),
    Told = receive {told, All} -> All end,
    _ = [begin true = unlink(Pid), exit(Pid, kill) end || Pid <- Pids],
    %% By their heaps they may be of two sizes, and others of this node of the same: each of these has one of the binaries.
    Sum = lists:sum([Bytes || #{refers := #{binaries := #{bytes := Bytes}}} <- Told, Bytes >= Size]),
    ?assert(Sum >= 4 * Size andalso Sum - Size * (Sum div Size) =< Size div 10, {Size, Sum}).

%% Processes with heaps of other sizes each have a sample of their own, and what lives in some is not said of the others.
estimates_are_added(_) ->
    Sampled = fun(Before, After) ->
                      #{collected => 6, working => 0, another => ~"<0.9.0>",
                        before => sampled(Before, Before), 'after' => sampled(After, After)}
              end,
    Group = fun(Count, Heap, Sample) ->
                    group(#{label => {m, f, 0}, count => Count, large => Count, large_heap_bytes => Heap, heap_bytes => Heap,
                            sample => #{large => Sample, holding => none}})
            end,
    Live = Group(10_000, 300_000_000, Sampled(180_000, 180_000)),
    Garbage = Group(500, 60_000_000, Sampled(720_000, 7200)),
    ?assertEqual([], signs(#{groups => [Live]}, [])),
    ?assertMatch([{uncollected_garbage,
                   #{processes := 500, heap_bytes := 60_000_000, alive_bytes := 600_000, unneeded_bytes := 59_400_000}}],
                 signs(#{groups => [Live, Garbage]}, [])),
    ?assertMatch([{uncollected_garbage, #{processes := 1000, collected := 12}}], signs(#{groups => [Garbage, Live, Garbage]}, [])),
    #{sample := #{large := Sample}} = Garbage,
    ?assertEqual([], signs(#{groups => [Garbage#{sample := #{large => Sample#{working := 18}, holding => none}}]}, [])).

%% What a process makes that works a little is no fault, unless most of the node's memory is such garbage of old generations.
steady_ones_with_old_garbage_are_told_of(_) ->
    Sample = #{collected => 6, working => 0, another => ~"<0.9.0>", steady => true, before => sampled(280_000, 280_000),
               'after' => (sampled(200, 200))#{heap_bytes := 6 * 54_000}},
    Group = group(#{label => {captions, init, 1}, count => 400, large => 400, large_heap_bytes => 112_000_000, heap_bytes => 112_000_000,
                    sample => #{large => Sample, holding => none}}),
    Found = fun(Total) -> found(#{groups => [Group], memory => #{total => Total, binary => 0}}, []) end,
    [#{signs := [#{kind := uncollected_garbage, advice := Advice}]}] = Found(140_000_000),
    ?assert(has("fullsweep_after", Advice)),
    ?assertEqual([], Found(400_000_000)),
    %% A process that has kept a list, dropped it, and wakes now and then; one that keeps it; one that works more.
    Loop = fun Loop(Each, Kept) -> receive after 20 -> _ = lists:sum(lists:seq(1, Each)), Loop(Each, Kept) end end,
    Began = fun(Each, IsKept) ->
                    spawn_link(fun() ->
                                       List = lists:seq(1, 20_000),
                                       _ = [erlang:garbage_collect(self(), [{type, minor}]) || _ <- [1, 2]],
                                       Loop(Each, length(List) > 1 andalso IsKept andalso List)
                               end)
            end,
    Pids = [Began(Each, IsKept) || {Each, IsKept} <- [{50, false}, {50, true}, {20_000, false}]],
    timer:sleep(200),
    Rows = [{Pid, {Reductions, erlang:monotonic_time(millisecond)}} || Pid <- Pids,
                                                                       {_, Reductions} <- [process_info(Pid, reductions)]],
    timer:sleep(1000),
    [Dropped, Kept, Works] = [at_rest_it_gave_back(Pid, Row, 50) || {Pid, Row} <- Rows],
    _ = [begin true = unlink(Pid), exit(Pid, kill) end || Pid <- Pids],
    #{steady := true, before := #{heap := Before}, 'after' := #{heap := After, used := Alive}} = Dropped,
    ?assert(2 * After < Before andalso 10 * Alive < Before, Dropped),
    #{'after' := #{used := Lives}} = Kept,
    ?assert(Lives >= 20_000 * 16),
    ?assertEqual(busy, Works).

%% Between two of its turns, as a look finds it at most times.
at_rest_it_gave_back(Pid, Row, Tries) ->
    case diagnose_probe:gave_back(Pid, Row) of
        busy when Tries > 0 -> timer:sleep(7), at_rest_it_gave_back(Pid, Row, Tries - 1);
        Back -> Back
    end.

%% A process at work that collects results: it is charged with the parts alone.
who_works_with_parts_is_told_of(_) ->
    Works = suspect(#{idle => false, depth => 0, used_bytes => 700_000, heap_bytes => 900_000, held_before => 300_000,
                      held_bytes => 800_000, binaries => #{references => 9000, count => 1500, bytes => 94_000_000}}),
    Found = fun(Suspect, All) -> found(#{suspects => [Suspect], memory => #{total => 2 * All, binary => All}}, []) end,
    [#{signs := [#{kind := binary_leak, advice := Advice}]}] = Found(Works, 96_000_000),
    ?assert(has("small parts", Advice)),
    [?assertEqual([], Found(Suspect, All))
     || {Suspect, All} <- [{Works, 200_000_000}, {Works#{held_bytes := 90_000_000}, 96_000_000}]].

%% What one kind has is no more than the node has beside what others have: a session and its socket refer to the same binaries.
binaries_are_told_once_of_two_kinds(_) ->
    Of = fun(Bytes) -> #{heap_bytes => 10_000, used_bytes => 10_000, held_bytes => 6_000_000,
                         binaries => #{members => 6, references => 600, count => 6, charged_bytes => 6_000_000, bytes => Bytes}} end,
    Group = fun(Label, Held) ->
                    group(#{label => Label, count => 800, heap_bytes => 20_000, holding => 800, holding_heap_bytes => 20_000,
                            held_bytes => Held, sample => #{large => none, holding => #{collected => 6, working => 0, another => ~"<0.9.0>",
                                                                    before => Of(6_000_000), 'after' => Of(0)}}})
            end,
    Found = fun(All) ->
                    [{Label, Advice} || #{subject := #{group := #{label := Label}}, signs := [#{kind := binary_leak, advice := Advice}]}
                                            <- found(#{groups => [Group({tls_sender, init, 1}, 40_000_000),
                                                                  Group({ssl_gen_statem, init, 1}, 119_000_000)],
                                                       memory => #{total => 260_000_000, binary => All}}, [])]
            end,
    [{~"ssl_gen_statem:init/1", Advice}] = Found(121_000_000),
    ?assert(has("option of ssl:listen/2", Advice)),
    ?assertMatch([_, _], Found(160_000_000)),
    %% Small kinds that each are a quarter of all that are left, beside few others.
    [Other | Pids] = [spawn(fun() -> ok end) || _ <- lists:seq(1, 9)],
    {Four, Rest} = lists:split(4, Pids),
    Parts = fun(Call, Labels) ->
                    [{Label, Count} || #{label := Label, count := Count}
                                           <- diagnose_probe:parts({Call, any}, grouped([row(#{pid => Pid}) || Pid <- [Other | Pids]]),
                                                                   not_asked, {[], Labels}, #{})]
            end,
    Labels = maps:merge(maps:from_keys(Four, {a, init, 1}), maps:from_keys(Rest, {b, init, 1})),
    ?assertMatch([{{a, init, 1}, 4}, {{b, init, 1}, 4}], Parts({any, any}, Labels#{Other => {c, init, 1}})),
    ?assertMatch([{unknown, 9}], Parts({any, any}, maps:from_list([{Pid, {m, element(2, One), 1}}
                                                                   || {Pid, One} <- lists:zip([Other | Pids], [{x, list_to_atom([$a + N])}
                                                                                                             || N <- lists:seq(0, 8)])]))).

sampled(Least, Most) ->
    #{heap_bytes => 6 * Most, used_bytes => 6 * Most, least_used_bytes => Least, most_used_bytes => Most, held_bytes => 0,
      binaries => unknown}.

data_that_each_has_are_told_of(_) ->
    Group = fun(Count, Bytes, Least) ->
                    group(#{label => {m, f, 0}, count => Count, large => Count, large_heap_bytes => Count * Bytes,
                            heap_bytes => Count * Bytes,
                            sample => #{large => #{collected => 6, working => 0, another => ~"<0.9.0>", before => sampled(Least, Bytes),
                                                   'after' => sampled(Least, Bytes)}, holding => none}})
            end,
    Found = fun(Groups, Total) -> signs(#{groups => Groups, memory => #{total => Total, binary => 0}}, []) end,
    ?assertMatch([{equal_heaps, #{processes := 150, alive_bytes := 300_000_000, each_bytes := 2_000_000}}],
                 Found([Group(10, 1_500_000, 1_500_000), Group(150, 2_000_000, 1_990_000)], 600_000_000)),
    [?assertEqual([], Found([Other], Total))
     || {Other, Total} <- [{Group(150, 2_000_000, 1_900_000), 600_000_000}, {Group(9, 20_000_000, 20_000_000), 200_000_000},
                           {Group(150, 2_000_000, 2_000_000), 601_000_000}, {Group(1000, 900_000, 900_000), 900_000_000}]].

%% They are sent the data again and again.
data_of_processes_that_work_are_told_of(_) ->
    Left = fun(Bytes) -> #{minor => 30, full => 0, longest_us => 1, long => 0, total_us => 1, window_ms => 2000, settings => #{},
                           why => [#{count => Count, left => Count * Bytes, us => 1, kind => minor, held => 0, freed => 0}
                                   || Count <- [20, 10]]}
           end,
    Works = fun(N, Bytes) -> suspect(#{pid => integer_to_binary(N), label => {m, w, 0}, heap_bytes => 16_000_000,
                                       used_bytes => N * 1_000_000, old_bytes => 0, depth => 0, pauses => Left(Bytes)}) end,
    Group = group(#{label => {m, w, 0}, count => 20, heap_bytes => 320_000_000}),
    Found = fun(Suspects, One) -> signs(#{suspects => Suspects, groups => [One], memory => #{total => 350_000_000, binary => 0}}, []) end,
    Same = [Works(N, 2_600_000) || N <- [1, 2, 3]],
    ?assertMatch([{equal_heaps, #{processes := 20, heap_bytes := 320_000_000, each_bytes := 2_600_000, seen := 3}}], Found(Same, Group)),
    %% What idle ones use may be garbage.
    ?assertEqual([], Found([One#{idle := true, used_bytes := 8_000_000} || One <- Same], Group)),
    %% Some have two copies at each collection, and one has other data.
    Mixed = [Works(4, 5_200_000), Works(5, 7_800_000) | Same],
    ?assertMatch([{equal_heaps, #{each_bytes := 2_600_000, seen := 5}}], Found([Works(6, 3_000_000) | Mixed], Group)),
    [?assertEqual([], Found(Suspects, One))
     || {Suspects, One} <- [{tl(Same), Group}, {[Works(4, 2_700_000), Works(5, 2_800_000) | Same], Group},
                            {[Works(N, 900_000) || N <- [1, 2, 3]], Group},
                            {Same, Group#{count := 9}}, {Same, Group#{heap_bytes := 170_000_000}},
                            {[One#{heap_bytes := 40_000_000} || One <- Same], Group}, {Same, Group#{label := {m, other, 0}}}]].

heap_that_may_be_garbage_is_said_to_be(_) ->
    Large = suspect(#{depth => 0, heap_bytes => 200_000_000, used_bytes => 190_000_000, stack_bytes => 100, idle => true}),
    #{unlooked := Unlooked} = nothing(),
    Says = fun(Suspect, TooLarge, Words) ->
                   [#{signs := [#{kind := large_heap, advice := Advice} | _]}] =
                       found(#{suspects => [Suspect], memory => #{total => 300_000_000, binary => 0}, unlooked => TooLarge}, []),
                   binary:match(Advice, Words) =/= nomatch
           end,
    Named = fun(Pids) -> Unlooked#{too_large := Pids} end,
    Other = ~"<0.9.0>",
    [?assertEqual({Expected, TooLarge}, {Says(Suspect, TooLarge, ~"may be garbage"), TooLarge})
     || {Expected, Suspect, TooLarge} <- [{true, Large, Named([~"<0.1.0>"])}, {true, Large, Named([Other, Other, Other])},
                                          {true, Large, not_asked},
                                          {false, Large, Named([Other])}, {false, Large#{idle := false}, not_asked},
                                          {false, Large#{hibernates := true}, not_asked}, {false, Large#{depth := 9}, not_asked}]],
    ?assertEqual({false, true}, {Says(Large, not_asked, ~"chars_limit"),
                                 Says(Large#{label := {logger_olp, init, 1}}, not_asked, ~"chars_limit")}).

%% Three kinds hold the same two binaries, and the second one another one, too.
binaries_of_several_are_told_of_once(_) ->
    [A, B, C] = [list_to_pid(Text) || Text <- ["<0.101.0>", "<0.102.0>", "<0.103.0>"]],
    Held = fun(Ids) -> #{heap => 2000, used => 500, held => lists:sum(maps:values(Ids)),
                         binaries => #{references => 2, count => map_size(Ids), bytes => lists:sum(maps:values(Ids)), some => Ids}} end,
    Same = #{1 => 30_000_000, 2 => 10_000_000},
    Sample = fun(Pid, Before, After) ->
                     #{answered => 1, large => [], holding => [{Pid, #{before => Held(Before), 'after' => Held(After)}}]}
             end,
    Bytes = fun(#{holding := [{_, Back}]} = Of) ->
                    {[maps:get(bytes, maps:get(binaries, maps:get(When, Back))) || When <- [before, 'after']], maps:get(shared, Of)}
            end,
    Told = fun(After, Suspects) ->
                   [Bytes(One) || {_, One} <- diagnose_probe:told_once([{a, Sample(A, Same, #{})},
                                                                        {b, Sample(B, Same#{3 => 50_000_000}, #{})},
                                                                        {c, Sample(C, Same, After)}], Suspects)]
           end,
    ?assertEqual([{[40_000_000, 0], [~"<0.102.0>", ~"<0.103.0>"]}, {[50_000_000, 0], []},
                  {[0, 0], [~"<0.101.0>", ~"<0.102.0>"]}], Told(#{}, #{})),
    %% The last one keeps one of them, or somebody who was not collected has it. Who was, has it no more.
    Keeps = [[40_000_000, 30_000_000], [50_000_000, 0], [0, 0]],
    [?assertEqual(Keeps, [B1 || {B1, _} <- Told(After, Suspects)])
     || {After, Suspects} <- [{#{1 => 30_000_000}, #{}}, {#{}, #{self() => #{1 => 30_000_000}, A => Same}}]],
    ?assertMatch([{b, #{holding := [{B, busy}]}}], diagnose_probe:told_once([{b, #{large => [], holding => [{B, busy}]}}], #{})),
    Suspect = fun(Ids) -> suspect(#{binaries => maps:get(binaries, Held(Ids))}) end,
    ?assertMatch([{A, #{binaries := #{bytes := 40_000_000}}}, {B, #{binaries := #{bytes := 5}}}, {C, #{binaries := unknown}}],
                 diagnose_probe:alone_in_order([{A, Suspect(Same)}, {B, Suspect(Same#{3 => 5})}, {C, suspect(#{})}])),
    %% Who has so many that they are not listed may hold the same.
    Of = fun(Count) -> #{heap_bytes => 2000, used_bytes => 500, held_bytes => 40_000_000,
                         binaries => #{members => 1, references => 2, count => Count, charged_bytes => 40_000_000,
                                       bytes => Count * 20_000_000}} end,
    Holds = #{collected => 1, working => 0, another => ~"<0.101.0>", shared => [~"<0.102.0>"], before => Of(2), 'after' => Of(0)},
    Group = group(#{label => {m, f, 0}, count => 1, holding => 1, holding_heap_bytes => 2000, held_bytes => 40_000_000,
                    sample => #{large => none, holding => Holds}}),
    Unless = fun(Many) ->
                     [#{signs := [#{evidence := #{unless := By}} = Sign]}] =
                         found(#{groups => [Group], memory => #{total => 9, binary => 40_000_000},
                                 suspects => [suspect(#{pid => ~"<0.9.0>", depth => 0, held_bytes => Many})]}, []),
                     {By, iolist_to_binary(diagnose_wording:sentence(Sign))}
             end,
    {[~"<0.9.0>"], Says} = Unless(20_000_000),
    ?assertMatch({match, _}, re:run(Says, "as do <0.102.0>; a collection of all of them frees 40.0 MB, unless <0.9.0> holds")),
    ?assertMatch({[], _}, Unless(3_000_000)).

mailbox_that_is_emptied_is_none_too_deep(_) ->
    ?assertEqual([3, 1, 0, 1, 0, 0], [diagnose_probe:emptied(Depths)
                                   || Depths <- [[40, 3000, 1500, 60, 3640, 700, 20, 400, 10], [80, 400, 2000, 10_000],
                                                 [101, 500, 499, 480], [90, 800, 500],
                                                 [0, 49, 0, 49, 0], []]]),
    [begin
         ?assertMatch([{deep_mailbox, _}], findings(Deep, [])),
         ?assertEqual([], findings(Deep#{emptied := 3}, [])),
         [?assertMatch([{deep_mailbox, _}], findings(maps:merge(Deep#{emptied := 3}, Other), []))
          || Other <- [#{window_ms => 4000}, #{waiting => [{~"call of get", 9}]}]]
     end || Deep <- [suspect(#{depth => 300, usual_depth => 300, least_depth => 60, emptied => 2, gets => true,
                               samples => [{running, [{m, f, 0}], 20}]}),
                     suspect(#{depth => 3000, usual_depth => 3000, emptied => 2})]].

who_does_not_give_way_is_told_of(_) ->
    Run = #{pid => ~"<0.9.0>", name => '', label => {m, validates, 1}, times => 40, run_ms => 1000, in => {m, power, 1}, window_ms => 4000},
    Found = fun(Long) -> signs(#{long_runs => [Long]}, []) end,
    ?assertMatch([{long_schedules, #{times := 40, in := ~"m:power/1"}}], Found(Run)),
    Copies = fun(In) -> [#{signs := [#{advice := Advice}]}] = found(#{long_runs => [Run#{in := In}]}, []), binary:match(Advice, ~"get_state") =/= nomatch end,
    ?assertEqual([false, true, true, false], [Copies(In) || In <- [{m, power, 1}, {gen_server, loop, 7}, {gen, reply, 2}, none]]),
    [?assertEqual([], Found(maps:merge(Run, Other))) || Other <- [#{times => 2}, #{run_ms => 999}]],
    Works = #{cores => 1.0, reductions => 3_000_000, share => 0.25, delayed => 0.8},
    [?assert(diagnose_probe:works_natively(One)) || One <- [Works, Works#{cores := 0.25, reductions := 125_000}]],
    [?assertNot(diagnose_probe:works_natively(Other))
     || Other <- [Works#{cores := 0.4, reductions := 210_000}, Works#{cores := 0.2, reductions := 0}, Works#{reductions := 3_100_000}, Works#{share := 0.3}, Works#{delayed := 0.9}, unknown]],
    %% Each of some processes alike does it once, as those of requests.
    Together = fun(Runs, Delayed) ->
                       [Evidence || {long_schedules, Evidence} <- signs(#{long_runs => Runs, collections => Works#{busy => 0.5, waiting => 0.0, threads => 2, window_ms => 200, delayed := Delayed}}, [])]
               end,
    Once = [Run#{pid := <<"<0.", ($0 + N), ".0>">>, times := 1, run_ms := 250, window_ms := 1000} || N <- [1, 2, 3]],
    ?assertMatch([#{times := 3, run_ms := 750, processes := 3}], Together(Once, 0.0)),
    ?assertEqual([[], [], []],
                 [Together(Once, 0.9), Together([hd(Once)], 0.0), Together([One#{label := {m, pid_of(One), 0}} || One <- Once], 0.0)]),
    %% A native function that sleeps takes no time of the processor.
    Advised = fun(Blocked) ->
                      Sleeps = Works#{blocked => Blocked, nifs => [leveldb], busy => 0.5, waiting => 0.0, threads => 2, window_ms => 200},
                      Look = #{long_runs => [Run], collections => Sleeps},
                      [Advice] = [advised(Sign) || #{signs := Signs} <- found(Look, []), #{kind := long_schedules} = Sign <- Signs],
                      has("threads of schedulers sleep", Advice) andalso has("native functions here: leveldb", Advice)
              end,
    ?assertEqual([true, false], [Advised(Blocked) || Blocked <- [0.4, 0.1]]),
    Before = #{1 => {false, 50}, 2 => {true, 10}},
    ?assertEqual([300, 0, 0, 0, 0], [diagnose_probe:blocked_ns(#{1 => 400, 2 => 0}, Before, After)
                                     || After <- [#{1 => {true, 150}, 2 => {true, 20}}, #{1 => {true, 500}}, silent, #{1 => {true, 50}},
                                                  #{1 => {false, 150}}]]), % that one may have waited for its turn since
    ?assertEqual([10, 20, 50, 50], [diagnose_probe:long_run_ms(Works#{delayed := Delayed}) || Delayed <- [0.0, 0.5, 0.8, 1.0]]).

pid_of(#{pid := Pid}) -> binary_to_atom(Pid).

%% A look on a machine that does something else.
who_is_seldom_seen_is_unknown(_) ->
    Seen = fun(More) -> diagnose_work_time:seldom_seen((nothing())#{suspects := [suspect(More)]}) end,
    Waits = {waiting, [{gen, do_call, 4}], 9},
    ?assertEqual([1, 0, 0, 1, 0], [Seen(#{usual_depth => Depth, samples => Samples})
                                   || {Depth, Samples} <- [{1, [Waits]}, {0, [Waits]}, {1, [setelement(3, Waits, 10)]},
                                                           {0, [{running, [{m, f, 1}], 1}]}, {0, []}]]),
    Unseen = fun(Count) ->
                     Suspects = lists:duplicate(Count, suspect(#{usual_depth => 1, samples => [Waits]})),
                     [iolist_to_binary(Sentence) || Sentence <- diagnose_wording:unseen((nothing())#{suspects := Suspects})]
             end,
    [?assertMatch([_], [Sentence || Sentence <- Unseen(Count), binary:match(Sentence, Said) =/= nomatch])
     || {Count, Said} <- [{1, ~"1 process works or has messages, and was seen too seldom"}, {2, ~"2 processes work or have messages, and were"}]].

%% What a node does a second tells nothing where the machine hardly lets it run. One that has no work has none there, too.
who_hardly_runs_is_judged_by_no_rate(_) ->
    Spent = #{share => 0.1, busy => 0.42, waiting => 0.25, threads => 4, cores => 0.05, delayed => 0.96, reductions => 2_000_000,
              window_ms => 200},
    Starved = fun(Other, Samples) ->
                      Look = (nothing())#{collections := maps:merge(Spent, Other),
                                          suspects := [suspect(#{samples => Samples, reductions => maps:get(own, Other, 1.0e6)})]},
                      Unseen = [iolist_to_binary(One) || One <- diagnose_wording:unseen(Look)],
                      [One || One <- Unseen, binary:match(One, ~"judge rates") =/= nomatch]
              end,
    ?assertMatch([<<"The machine was too busy to judge rates", _/binary>>], Starved(#{}, [])),
    %% By its own quota, as both versions of control groups tell it.
    ?assertEqual([{381, 330, 12_400_000}, {381, 330, 12_400_000}, unknown],
                 [diagnose_probe:throttled_by(Stat)
                  || Stat <- [~"usage_usec 9\nnr_periods 381\nnr_throttled 330\nthrottled_usec 12400000\nnr_bursts 0\n",
                              ~"nr_periods 381\nnr_throttled 330\nthrottled_time 12400000999\n", ~"usage_usec 9\nuser_usec 5\n"]]),
    Throttled = diagnose_probe:throttled_since({343, 300, 11_000_000}, {381, 330, 12_400_000}),
    ?assertEqual(#{periods => 38, throttled => 30, ms => 1400}, Throttled),
    ?assertEqual([none, none], [diagnose_probe:throttled_since(unknown, {1, 1, 1}), diagnose_probe:throttled_since({1, 1, 1}, {1, 1, 1})]),
    %% Where the time was up, what was counted at the beginning is compared, too.
    ?assertMatch({out_of_time, #{throttled := Told}} when not is_tuple(Told),
                 diagnose_probe:throttled_meanwhile({out_of_time, #{throttled => {began, {0, 0, 0}}}})),
    ?assertEqual({out_of_time, #{throttled => none}}, diagnose_probe:throttled_meanwhile({out_of_time, #{throttled => {began, unknown}}})),
    ?assertEqual({finished, #{throttled => Throttled}}, diagnose_probe:throttled_meanwhile({finished, #{throttled => Throttled}})),
    ?assertEqual({trap_exit, false}, process_info(self(), trap_exit)),
    Quota = (nothing())#{throttled => Throttled, processes => #{looked => 3, skipped => #{}}},
    {_, Facts} = lists:keyfind("Processes", 1, diagnose_text:facts(#{look => Quota, warnings => [], unknown => [], place => #{in => file}})),
    ?assertMatch({match, _}, re:run(Facts, "stopped the node in 30 of 38 periods.*1.4 s")),
    Idle = #{busy => 0.25},
    Works = [{waiting, [{m, f, 1}], 2}, {running, [{m, f, 1}], 2}],
    ?assertMatch([_], Starved(Idle, Works)),
    %% Of what rests at a third of the looks, the pace is a third of what it can be.
    Rests = [{waiting, [{m, f, 1}], 20}, {runnable, [{m, f, 1}], 40}],
    ?assertMatch({[_], [], [_], []}, {Starved(Idle#{own => 3.4e5}, Rests), Starved(Idle#{own => 3.3e5}, Rests),
                                      Starved(Idle#{own => 4.1e4}, tl(Rests)), Starved(Idle#{own => 3.9e4}, tl(Rests))}),
    %% It had no work half of the time, so it has done all of it.
    ?assertMatch({[_], []}, {Starved(#{busy => 0.376}, []), Starved(#{busy => 0.374}, [])}),
    [?assertEqual([], Starved(Other, Samples))
     || {Other, Samples} <- [{#{delayed => 0.7}, Works}, {#{delayed => 0.0, cores => 0.3}, Works},
                             %% Schedulers that sleep in a native function, where nobody tells what the machine did.
                             {#{delayed => 0.0}, Works}, {#{delayed => 0.0, busy => 0.5, waiting => 0.0, cores => 0.02}, []},
                             {Idle, [{running, [{m, f, 1}], 1}]},
                             {Idle, [{waiting, [{m, f, 1}], 60}, {running, [{m, f, 1}], 40}]}]],
    ?assertEqual([], Starved(#{blocked => 0.6}, [])),
    Blocked = fun(Cores) ->
                      Look = (nothing())#{collections := Spent#{blocked => Cores, nifs => [leveldb]}},
                      [One || One <- diagnose_wording:unseen(Look), has("threads slept", One)]
              end,
    ?assertMatch({[_], []}, {Blocked(0.4), Blocked(0.1)}).

%% A process that ends in its long run is told of by no monitor, so that the schedulers do nothing else is all that is known.
who_holds_the_schedulers_may_be_untold(_) ->
    Untold = fun(Seen) -> diagnose_work_time:untold(maps:merge(nothing(), Seen)) end,
    ?assertEqual(#{cores => 1.8, reductions => 3700}, Untold(#{collections => held()})),
    Run = #{pid => ~"<0.9.0>", name => '', label => unknown, times => 2, run_ms => 200, in => none, window_ms => 4000},
    [?assertMatch(#{}, Untold(#{collections => held(), long_runs => Runs})) || Runs <- [unknown, [Run]]],
    [?assertEqual(none, Untold(#{collections => maps:merge(held(), Other)}))
     || Other <- [#{waiting => 0.8}, #{scheduler_cores => 0.4}, #{cores => 0.4}, #{reductions => 200_000}, #{share => 0.3}]],
    ?assertEqual(none, Untold(#{collections => unknown})),
    ?assertEqual(none, Untold(#{collections => held(), long_runs => [Run#{times := 9, run_ms := 1500}]})).

held() ->
    #{share => 0.0, busy => 0.95, waiting => 0.0, threads => 2, cores => 1.8, scheduler_cores => 1.9, reductions => 3700, delayed => 0.0,
      window_ms => 4000}.

%% What was set is as it was, and what somebody else has set is left alone.
long_runs_are_seen(_) ->
    _ = erts_debug:set_internal_state(available_internal_state, true),
    Busy = spawn(fun Holds() -> true = erts_debug:set_internal_state(sleep, 30), receive after 1 -> Holds() end end),
    Seen = diagnose_probe:long_runs(erlang:monotonic_time(millisecond) + 1000, 10),
    exit(Busy, kill),
    _ = erts_debug:set_internal_state(available_internal_state, false),
    ?assertMatch([#{times := Times, run_ms := Ms}] when Times > 0 andalso Ms >= 10, [Run || #{pid := Pid} = Run <- Seen, Pid =:= Busy]),
    ?assertEqual(undefined, erlang:system_monitor()),
    undefined = erlang:system_monitor(self(), [busy_port]),
    ?assertEqual(unknown, diagnose_probe:long_runs(erlang:monotonic_time(millisecond), 10)),
    ?assertMatch({_, [busy_port]}, erlang:system_monitor(undefined)).

%% A pattern that is compiled for each text holds a scheduler.
who_holds_up_the_look_is_seen(_) ->
    process_flag(trap_exit, true),
    Pattern = iolist_to_binary(lists:join("|", [["(?:bot", integer_to_list(N), "[a-z]*/[0-9.]+)"] || N <- lists:seq(1, 240)])),
    Filter = spawn_link(fun Filters() -> nomatch = re:run(~"Mozilla/5.0", Pattern, [caseless]), Filters() end),
    Deadline = erlang:monotonic_time(millisecond) + 5000,
    NotSlow = diagnose_probe:early_runs(499, #{}, Deadline),
    Seen = diagnose_probe:early_runs(500, #{Filter => filter}, Deadline),
    Priority = process_flag(priority, normal),
    undefined = erlang:system_monitor(self(), [busy_port]),
    Others = diagnose_probe:early_runs(500, #{}, Deadline),
    Theirs = erlang:system_monitor(undefined),
    true = unlink(Filter),
    exit(Filter, kill),
    ?assertEqual({#{}, normal, #{}}, {NotSlow, Priority, Others}),
    ?assertMatch({_, [busy_port]}, Theirs),
    ?assertMatch(#{long_runs := [#{name := filter, in := {?MODULE, _, _}, times := Times, run_ms := Ms} | _]} when Ms >= 20 * Times, Seen),
    Kinds = fun(One) -> [K || {K, _} <- signs(#{long_runs => [One#{pid := ~"<0.9.0>", name => '', label => unknown}]}, [])] end,
    %% A quota held the VM up in most of these; a collection is a part of others.
    Run = fun(Times, Ms) -> #{pid => self(), times => Times, run_ms => Ms, in => none, window_ms => 1000} end,
    ?assertMatch([#{run_ms := 500, times := 5}], diagnose_probe:own_runs([Run(5, 500), Run(10, 300)], 400)),
    ?assertMatch([#{run_ms := 500}], diagnose_probe:own_runs([Run(5, 500)], 900)),
    ?assertEqual({[], [long_schedules]}, {Kinds(Run(2, 499)), Kinds(Run(2, 500))}),
    ?assertEqual([], diagnose_probe:own_runs([Run(9, 700), Run(9, 700)], 250)).

logs_that_are_dumped_all_the_time_are_told_of(_) ->
    Found = fun(Logged, Threshold, Overloads) ->
                    signs(#{transactions => (transactions(10, 0))#{logged := Logged, threshold := Threshold, overloads := Overloads}}, [])
            end,
    ?assertMatch([{log_dumps, #{dumps := 4, threshold := 1000}}], Found(4000, 1000, 1)),
    [?assertEqual([], Found(Logged, Threshold, Overloads))
     || {Logged, Threshold, Overloads} <- [{3999, 1000, 1}, {4000, 1000, 0}, {1_000_000, unknown, 1}]].

timers_are_told_from_a_hundred_thousand_on(_) ->
    Found = fun(Bytes) -> [Kind || {Kind, _} <- signs(#{links => #{timer_bytes => Bytes, holders => []}}, [])] end,
    ?assertEqual({[many_timers], []}, {Found(15_200_000), Found(15_000_000)}),
    Told = fun(Most) ->
                   [#{signs := [Sign]}] = found(#{links => #{timer_bytes => 45_600_000, holders => []},
                                                  makers => #{traced => 40, ms => 300, most => Most}}, []),
                   unicode:characters_to_list(diagnose_wording:sentence(Sign))
           end,
    ?assertNotEqual(nomatch, string:find(Told([]), "none started one")),
    Cart = #{pid => ~"<0.9.0>", name => cart, label => {m, init, 1}, processes => 1, times => 60, in => {m, hold, 1}},
    ?assertNotEqual(nomatch, string:find(Told([Cart, Cart#{label := {m, session, 0}, processes := 8, in := none}]),
                                         "<0.9.0> (cart) in m:hold/1 (60), 8 of m:session/0 (60)")),
    %% No machine has so much memory.
    ?assertEqual([], signs(#{memory => #{system => 30_000_000, binary => 0, total => 60_000_000},
                             links => #{timer_bytes => 340282366920938410730170978484873595872, holders => []}}, [])),
    %% One for each session.
    ?assertEqual([], signs(#{counts => [{0, counts(110_000)}], links => #{timer_bytes => 16_000_000, holders => []}}, [])),
    %% Started anew at each use of what has it. Some are left behind where they grow in number, or where most are not cancelled.
    Renews = #{traced => 40, ms => 300, most => [Cart], started => 106, renewed => 100, grown => 40, grown_ms => 4000},
    [?assertEqual({Makers, Kinds}, {Makers, [Kind || {Kind, _} <- signs(#{links => #{timer_bytes => 45_600_000, holders => []},
                                                                           makers => Makers}, [])]})
     || {Makers, Kinds} <- [{Renews, []}, {Renews#{grown := -400}, []}, {Renews#{grown := 400}, [many_timers]},
                            {Renews#{renewed := 70}, [many_timers]}, {Renews#{started := 0, renewed := 0}, [many_timers]}]].

%% Of the same process, each after the other.
timers_that_are_cancelled_are_counted(_) ->
    Self = self(),
    Renews = spawn_link(fun() -> renews(erlang:send_after(60_000, self(), tick)) end),
    Starts = spawn_link(fun() -> starts_timers() end),
    _ = [begin
             _ = spawn_link(fun() -> Self ! {timers, diagnose_probe:timers(Pids)} end),
             #{started := Started, renewed := Renewed, most := Most} = receive {timers, Seen} -> Seen end,
             ?assertEqual([In], [Function || #{in := {_, Function, _}} <- Most]),
             ?assert(Started > 0),
             ?assertEqual({In, In =:= renews}, {In, 4 * Renewed >= 3 * Started})
         end || {Pids, In} <- [{[Renews], renews}, {[Starts], starts_timers}]],
    ?assertEqual({traced, false}, erlang:trace_info({erlang, cancel_timer, 1}, traced)),
    _ = [begin true = unlink(Pid), exit(Pid, kill) end || Pid <- [Renews, Starts]],
    ok.

renews(Timer) ->
    _ = erlang:cancel_timer(Timer),
    Next = erlang:send_after(60_000, self(), tick),
    timer:sleep(1),
    renews(Next).

%% Where messages come and go, it is a server that has much to do.
server_is_no_loop(_) ->
    Loop = suspect(#{samples => [{running, [{m, f, 0}], 20}], reductions => 5.0e6, answer_ms => 1, depth => 0}),
    ?assertMatch([{busy_process, #{in := ~"m:f/0"}}], findings(Loop, [])),
    ?assertEqual([], findings(Loop#{gets := true}, [])),
    %% One that sleeps for a moment after each round.
    Rounds = fun(Times) ->
                     findings(Loop#{reductions := 2.0e7,
                                    samples := [{running, [{m, f, 0}], 40}, {waiting, [{timer, sleep, 1}, {m, f, 0}], Times}]}, [])
             end,
    ?assertMatch({[{busy_process, #{in := ~"m:f/0", waited := 2}}], []}, {Rounds(2), Rounds(3)}),
    %% A native function that gives way now and then is at the top of most stacks, and its caller is in all of them.
    Scans = [{running, [{ets, match_object, 2}, {m, f, 0}], 9},
             {runnable, [{ets, match_object, 2}, {m, f, 0}], 4},
             {running, [{m, f, 0}], 7}],
    ?assertMatch([{busy_process, #{in := ~"m:f/0", mostly := ~"ets:match_object/2"}}], findings(Loop#{samples := Scans}, [])),
    %% One that calls a server all the time is ready, and never seen waiting, while schedulers are short.
    Calls = fun(Times) ->
                    [{runnable, [{gen, do_call, 4}, {gen_server, call, 2}, {m, f, 0}], Times}, {running, [{m, f, 0}], 20 - Times}]
            end,
    ?assertMatch({[], [{busy_process, _}]}, {findings(Loop#{samples := Calls(10)}, []), findings(Loop#{samples := Calls(9)}, [])}),
    %% One that never rests, with what it does for those who ask.
    Server = Loop#{gets := true, reductions := 2.0e7},
    ?assertMatch([{busy_process, #{in := ~"m:f/0"}}], findings(Server, [])),
    ?assertEqual([], findings(Server#{samples := [{running, [{gen_server, loop, 7}], 20}]}, [])),
    ?assertEqual([], findings(Server#{samples := [{running, [{m, f, 0}], 17}, {waiting, [{m, f, 0}], 3}]}, [])),
    ?assertEqual([], findings(Loop#{samples := [{running, [{m, f, 0}], 19}, {waiting, [{m, f, 0}], 1}]}, [])),
    ?assertEqual([], findings(Loop#{samples := [{running, [{m, f, 0}], 15}, {running, [{m, g, 0}], 5}]}, [])).

%% A sweep of a large table that begins again soon after its end: few reductions a second, for each row is native work.
who_begins_again_after_each_pause_is_told_of(_) ->
    Samples = fun(Works, Rests) ->
                      [{running, [{m, walk, 3}, {m, loop, 1}], Works}, {waiting, [{timer, sleep, 1}, {m, loop, 1}], Rests}]
              end,
    Sweep = suspect(#{samples => Samples(72, 2), reductions => 5.0e6, answer_ms => 0, depth => 0}),
    Spent = (held())#{cores := 1.0, reductions := 5_100_000},
    Free = #{looks => 20, ready => lists:duplicate(10, {0, 0}) ++ lists:duplicate(10, {1, 2}), dirty => []},
    Found = fun(Suspect, More) -> signs(maps:merge(#{suspects => [Suspect], collections => Spent, run_queues => Free}, More), []) end,
    ?assertMatch([{busy_process, #{in := ~"m:walk/3", waited := 2, times := 72}}], Found(Sweep, #{})),
    %% The machine let it run at half of the time.
    Half = #{collections => Spent#{cores := 0.5, delayed := 0.5, reductions := 2_400_000}, run_queues => unknown},
    ?assertMatch([{busy_process, _}], Found(Sweep#{reductions := 2.3e6}, Half)),
    ?assertEqual([], Found(Sweep#{reductions := 1.2e6}, Half)),
    %% Others do more, and there is a scheduler for it all the same.
    Others = Spent#{reductions := 50_000_000},
    ?assertMatch([{busy_process, _}], Found(Sweep, #{collections => Others})),
    [?assertEqual([], Found(Sweep, More))
     || More <- [#{collections => Others#{delayed := 0.3}}, #{collections => Others, run_queues => unknown}, #{collections => unknown},
                 #{collections => Others, run_queues => Free#{ready := [{0, 1}, {0, 0}, {0, 1}]}}]],
    %% Who sleeps decides by itself when to go on; who waits in a receive may wait for work.
    Seldom = Sweep#{samples := Samples(60, 15)},
    ?assertMatch([{busy_process, #{times := 60, looks := 75}}], Found(Seldom, #{})),
    Waits = fun(In, Count) -> Seldom#{samples := [{running, [{m, walk, 3}, {m, loop, 1}], 60}, {waiting, [In], Count}]} end,
    ?assertMatch({[{busy_process, _}], []}, {Found(Waits({gen_server, loop, 7}, 6), #{}), Found(Waits({gen_server, loop, 7}, 7), #{})}),
    ?assertEqual([], Found(Waits({m, loop, 1}, 1), #{})),
    %% Where no pause was seen, a loop that does all the work may wait for an answer at times.
    Unseen = fun(Stack) -> Found(Sweep#{gets := true, samples := [{running, Stack, 74}]}, #{}) end,
    ?assertMatch({[{busy_process, _}], []}, {Unseen([{m, walk, 3}, {m, loop, 1}]), Unseen([{m, loop, 1}])}),
    [?assertEqual([], Found(maps:merge(Seldom, Other), #{}))
     || Other <- [#{samples => Samples(60, 16)}, #{reductions => 9.0e5}, #{usual_depth => 1},
                  #{samples => [{running, [{m, f, 0}], 9} | Samples(60, 3)]}]],
    %% What wakes it was seen as a message once; a server works for those that ask.
    Woken = (Waits({gen_server, loop, 7}, 4))#{gets := true},
    Asked = [{running, [{m, walk, 3}, {gen_server, try_handle_call, 4}], 60}, {waiting, [{gen_server, loop, 7}], 4}],
    ?assertMatch({[{busy_process, _}], []}, {Found(Woken, #{}), Found(Woken#{samples := Asked}, #{})}).

%% A burst is gone at one look or another.
one_that_never_keeps_up_is_told_of(_) ->
    Behind = suspect(#{depth => 300, usual_depth => 300, least_depth => 60, gets => true, samples => [{running, [{m, f, 0}], 20}]}),
    ?assertMatch([{deep_mailbox, #{messages := 300, least := 60}}], findings(Behind, [])),
    ?assertEqual([], findings(Behind#{least_depth := 10}, [])),
    ?assertEqual([], findings(Behind#{samples := [{running, [{m, f, 0}], 2}]}, [])),
    %% Where nothing was looked at closer, more are wanted.
    Once = suspect(#{depth => 300, usual_depth => 300, growth => unknown}),
    ?assertMatch([overloaded, deep_mailbox], [Kind || {Kind, _} <- signs(#{suspects => [Once], overloaded => 90}, [])]),
    ?assertEqual([], findings(Once, [])),
    Few = suspect(#{depth => 60, usual_depth => 60, growth => unknown}),
    ?assertEqual([[overloaded], [overloaded, deep_mailbox]],
                 [[Kind || {Kind, _} <- signs(#{suspects => [Few#{name := Name}], overloaded => 90}, [])] || Name <- [mine, code_server]]),
    %% Each of them has few.
    Group = group(#{label => {m, f, 0}, count => 4000, behind => 3000, behind_messages => 900_000, deepest => 300}),
    ?assertMatch([{deep_mailbox, #{processes := 3000, messages_together := 900_000}}], signs(#{groups => [Group]}, [])),
    ?assertEqual([], signs(#{groups => [Group#{behind_messages := 9000}]}, [])).

stack_is_no_unused_heap(_) ->
    ?assertMatch([{deep_stack, #{in := [~"m:f/0"]}}],
                 findings(suspect(#{depth => 0, idle => true, heap_bytes => 90_000_000, used_bytes => 85_000_000, old_bytes => 0,
                                    stack_bytes => 72_000_000, stack_in => [{m, f, 0}, {m, f, 0}]}), [])),
    %% What is used of a heap has the stack in it.
    ?assertMatch(#{used := 240, stack := 80, heap := 800},
                 diagnose_probe:sizes([{heap_block_size, 100}, {heap_size, 20}, {stack_size, 10}])).

binaries_that_are_passed_on_are_no_leak(_) ->
    Works = suspect(#{depth => 0, idle => false, used_bytes => 9000, held_before => 50_000_000,
                      binaries => #{references => 900, count => 900, bytes => 60_000_000}}),
    ?assertMatch([{binary_leak, #{idle := false}}], findings(Works, [])),
    ?assertEqual([], findings(Works#{held_before := 1000}, [])),
    %% Its collections let go what it had, or they find it in the old generation and leave it there.
    Collects = fun(Count, Old) -> Works#{pauses := (pauses(0, 900))#{minor := Count, why := [why(minor, Count, Old)]}} end,
    ?assertEqual([], findings(Collects(4, 0), [])),
    ?assertMatch([{binary_leak, _}], findings(Collects(1, 0), [])),
    ?assertMatch([{binary_leak, _}], findings(Collects(4, 50_000_000), [])),
    %% A full one that came meanwhile tells what lives.
    #{pauses := #{why := Minor} = Pauses} = Collects(4, 50_000_000),
    Sweeps = fun(Left) -> Works#{pauses := Pauses#{why := [(why(full, 1, 50_000_000))#{held_left := Left} | Minor]}} end,
    ?assertEqual([], findings(Sweeps(15_000_000), [])),
    ?assertMatch([{binary_leak, _}], findings(Sweeps(40_000_000), [])).

pauses(Long, Longest) ->
    #{minor => 3, full => 0, long => Long, longest_us => Longest, total_us => Longest, window_ms => 2000, why => [], settings => #{}}.

%% Each found 45 MB of binaries in the young generation, and left 1 MB of them.
why(Kind, Count, OldHeld) ->
    #{kind => Kind, reason => virtual_heap, count => Count, us => 100, young => 9000 * Count, old => 0, aged => 0,
      left => 900 * Count, freed => 0, held => 45_000_000 * Count, old_held => OldHeld * Count, held_left => 1_000_000 * Count,
      held_freed => 0, virtual => 46_000_000 * Count}.

modules_of_a_start_are_no_leak(_) ->
    Found = fun(First, Each) ->
                    Counts = [{100 * N, (counts(1))#{modules => First + Each * N}} || N <- lists:seq(1, 40)],
                    [Kind || {Kind, _} <- signs(#{counts => Counts}, [])]
            end,
    ?assertEqual({[modules_grow], [], []}, {Found(2000, 2), Found(300, 2), Found(2000, 0)}).

%% A process, tables of one name, all tables, binaries in tables.
most_of_the_memory_is_told_of(_) ->
    Memory = fun(Total) -> #{total => Total, binary => 0} end,
    Large = suspect(#{depth => 0, heap_bytes => 200_000_000, used_bytes => 190_000_000, stack_bytes => 100}),
    Process = fun(Total) -> [Kind || {Kind, _} <- signs(#{suspects => [Large], memory => Memory(Total)}, [])] end,
    ?assertEqual({[large_heap], []}, {Process(300_000_000), Process(500_000_000)}),
    %% Two have most of it, and work on it.
    Works = Large#{reductions := 7.0e6, samples := [{running, [{xmerl_xpath, axis, 4}], 9}]},
    Both = fun(One, Other) -> [said(Sign) || #{signs := Signs} <- found(#{suspects => [One, Other#{pid := ~"<0.2.0>"}],
                                                                           memory => Memory(500_000_000)}, []),
                                             #{kind := large_heap, advice := Says} = Sign <- Signs, string:find(Says, "xmerl_sax") =/= nomatch] end,
    ?assertMatch(["has 200.0 MB of heap (190.0 MB used or not collected yet) of the node's 500.0 MB; it works mostly in xmerl_xpath:axis/4"
                  | _], Both(Works, Works)),
    ?assertEqual([[], []], [Both(Large, Large), Both(Works, Large)]),
    Keeps = fun(Used) ->
                    [#{signs := [#{kind := large_heap, advice := Advice}]}] =
                        found(#{suspects => [Large#{used_bytes := Used}], memory => Memory(300_000_000)}, []),
                    binary:match(Advice, ~"what it keeps") =/= nomatch
            end,
    ?assertEqual([false, true], [Keeps(Used) || Used <- [40, 20_000_000]]),
    %% It grows, has no name, and is seen where it waits.
    Says = fun(Suspect) ->
                   [#{signs := [#{kind := large_heap, advice := Advice} = Sign]}] =
                       found(#{suspects => [Suspect], memory => Memory(300_000_000)}, []),
                   {said(Sign), Advice}
           end,
    Stream = Large#{name := '', label := {'Elixir.Stream', run, 1}, kept_growth => 8.0e6,
                    samples := [{waiting, [{'Elixir.Task.Supervised', stream_reduce, 7}, {'Elixir.Stream', run, 1}], 9}]},
    {Grows, Ordered} = Says(Stream),
    ?assertMatch({match, _}, re:run(Grows, "collected yet, 8.0 MB more a second\\) of .*is seen in Elixir.Task.Supervised:stream_reduce/7;"
                                           " it is of Elixir.Stream:run/1$")),
    ?assert(has("ordered: false", Ordered) andalso has("It grew", Ordered)),
    %% The same of one whose collections are long.
    Pauses = #{minor => 2, full => 0, long => 2, longest_us => 90_000, total_us => 150_000, why => [], window_ms => 4000, settings => #{}},
    [#{signs := [#{kind := long_collection, advice := Orders} = Long | _]}] =
        found(#{suspects => [Stream#{pauses := Pauses}], memory => Memory(300_000_000)}, []),
    ?assertMatch({match, _}, re:run(said(Long), "heap of 200.0 MB, 8.0 MB more a second; it is seen in .*stream_reduce/7; it is of")),
    ?assert(has("ordered: false", Orders)),
    Buffer = Large#{label := {buffer, init, 1}, times_out => true,
                    samples := [{waiting, [{gen_server, loop, 7}], 8}, {runnable, [{buffer, blocked, 3}, {gen_statem, loop, 9}], 1}]},
    ?assertMatch([{true, true, true}, {false, true, false}],
                 [{has("more a second", Said), has("seen in buffer:blocked/3", Said), has("time-out that a callback", To)}
                  || Growth <- [4.0e6, 9.0e3], {Said, To} <- [Says(Buffer#{kept_growth => Growth})]]),
    %% Somebody has left a shell.
    [?assertEqual({true, false, IsRemote}, {has("somebody's shell", To), has("hibernate", To), has("(from tools@h)", To)})
     || {Function, Leader, IsRemote} <- [{{'Elixir.IEx.Evaluator', loop, 1}, tools@h, true}, {{shell, eval_loop, 3}, own, false}],
        {_, To} <- [Says(Large#{samples := [{waiting, [Function], 9}], leader => Leader, idle := true})]],
    %% Its callbacks return none.
    {_, NoTimeOut} = Says(Buffer#{kept_growth => 4.0e6, times_out := false}),
    ?assertEqual({true, false}, {has("It grew", NoTimeOut), has("time-out that a callback", NoTimeOut)}),
    ?assertEqual([true, false, false], [diagnose_probe:times_out({Module, init, 1}) || Module <- [gen_statem, gb_trees, diagnose_none]]),
    %% What has come since the last collection is no growth: nothing of it has survived yet.
    Sizes = fun(Recent, Young, Old) ->
                    diagnose_probe:sizes([{heap_size, Young}, {recent_size, Recent}, {old_heap_size, Old}, {old_heap_block_size, Old}])
            end,
    Growth = fun(#{kept := Before}, #{kept := After}) -> diagnose_probe:kept_growth(#{depth => 0, kept => Before}, After, 4000) end,
    ?assertEqual({0.0, 2.0e6}, {Growth(Sizes(10, 10, 9), Sizes(10, 1_000_010, 9)), Growth(Sizes(10, 10, 9), Sizes(10, 10, 1_000_009))}),
    Handlers = fun(Suspect) ->
                       [#{signs := [#{kind := large_heap, advice := Advice}]}] =
                           found(#{suspects => [Suspect], memory => Memory(300_000_000)}, []),
                       binary:match(Advice, ~"which_handlers") =/= nomatch
               end,
    ?assertEqual({false, true}, {Handlers(Large), Handlers(Large#{label := {gen_event, init_it, 6}})}),
    #{tables := Tables} = nothing(),
    Table = #{name => a, bytes => 2_000_000, size => 9, owner => ~"<0.9.0>", type => set, protection => public},
    Of = fun(Named, Total) ->
                 Seen = Tables#{bytes := 150_000_000, largest := [Table], named := Named},
                 [Evidence || {large_ets_table, Evidence} <- signs(#{tables => Seen, memory => Memory(Total)}, [])]
         end,
    ?assertMatch([#{name := shard, count := 90}],
                 Of([#{name => shard, count => 90, bytes => 120_000_000, owner => ~"<0.9.0>"}], 200_000_000)),
    ?assertMatch([#{bytes := 150_000_000, largest := [_]}], Of([], 200_000_000)),
    ?assertEqual([], Of([], 400_000_000)),
    Beside = fun(Total) ->
                     [Kind || {Kind, _} <- signs(#{binaries_beside => #{bytes => 300_000_000, tables => []},
                                                   memory => Memory(Total)}, [])]
             end,
    ?assertEqual({[binaries_beside], []}, {Beside(400_000_000), Beside(700_000_000)}).

%% Each socket has one that waits for data.
buffers_of_sockets_are_told_of(_) ->
    Found = fun(Buffers) ->
                    [#{signs := [#{advice := Advice} = Sign]}] =
                        found(#{binaries_beside => #{bytes => 420_000_000, tables => [], buffers => Buffers},
                                memory => #{total => 455_000_000}}, []),
                    {has("buffers of 805 sockets of TCP that wait for data may have 420.0 MB", said(Sign)), has("option buffer", Advice),
                     has("persistent terms", Advice)}
            end,
    ?assertEqual({true, true, true}, Found(#{sockets => 805, bytes => 422_000_000})),
    [?assertEqual({false, false, true}, Found(#{sockets => 805, bytes => Bytes})) || Bytes <- [100_000_000, 900_000_000]],
    Connected = fun(Active, Reads) ->
                        {ok, Listen} = gen_tcp:listen(0, [{buffer, 9_000_000}, {active, Active}]),
                        {ok, Port} = inet:port(Listen),
                        Both = [begin
                                    {ok, Client} = gen_tcp:connect("localhost", Port, [{active, false}]),
                                    {Client, reads_one(Listen, Reads)}
                                end || _ <- lists:seq(1, 20)],
                        Buffers = diagnose_probe:buffers(),
                        [begin exit(Reader, kill), ok = gen_tcp:close(Client) end || {Client, Reader} <- Both],
                        ok = gen_tcp:close(Listen),
                        case Buffers of #{bytes := Bytes} -> Bytes div 9_000_000; none -> 0 end
                end,
    ?assertEqual([20, 20, 20, 0, 0],
                 [Connected(Active, Reads)
                  || {Active, Reads} <- [{once, false}, {5, false}, {false, true}, {false, false}, {true, false}]]).

%% It has a socket, and maybe waits for what that receives.
reads_one(Listen, Reads) ->
    Self = self(),
    Reader = spawn(fun() ->
                           {ok, Socket} = gen_tcp:accept(Listen),
                           Self ! {self(), accepted},
                           [gen_tcp:recv(Socket, 0) || Reads],
                           receive stop -> Socket end
                   end),
    receive {Reader, accepted} -> ok end,
    Waits = fun Waits() -> case process_info(Reader, status) of {_, waiting} -> ok; _ -> timer:sleep(5), Waits() end end,
    Waits(),
    Reader.

%% Where all are in what their jobs do, and beside these few of other kinds.
where_those_of_a_kind_are_is_told(_) ->
    process_flag(trap_exit, true),
    Jobs = [spawn(fun() -> ok = waits_in_job(Nth), done end) || Nth <- lists:seq(1, 40)],
    Late = erlang:monotonic_time(millisecond) + 5000,
    Groups = lists:foldl(fun(Pid, All) ->
                                 Row = #{pid => Pid, depth => 0, status => waiting, reductions => 1, at => 0, heap => 2000, used => 1000,
                                         held => 0, packed => false},
                                 One = (diagnose_probe:group(Row))#{ready := 1},
                                 maps:update_with({{{erlang, apply, 2}, 2000}, {self(), none}},
                                                  fun(Others) -> diagnose_probe:joined(Others, One) end, One, All)
                         end, #{}, Jobs),
    {[Told], 0, _} = diagnose_probe:groups(Groups, [], #{}, false, Late, #{}),
    ?assertMatch(#{count := 40, in := {?MODULE, waits_in_job, 1}}, Told),
    _ = [exit(Pid, kill) || Pid <- Jobs],
    Says = fun(Others) ->
                   Alike = [group(#{label => {cron, run, 1}, count => 333, ready => 333, in => {jobs, prices, 0}}),
                             group(#{label => unknown, count => Others, ready => Others})],
                   [#{signs := [Sign]}] = found(#{overloaded => 400, closer => busy, groups => Alike}, []),
                   said(Sign)
           end,
    ?assert(has("333 of cron:run/1 (some in jobs:prices/0)", Says(20))),
    ?assertEqual({false, true}, {has("unknown kind", Says(20)), has("100 of an unknown kind", Says(100))}).

%% What the ready ones are in says what to do less of.
functions_of_an_overload_are_told(_) ->
    Found = fun(Samples) ->
                    [#{signs := [#{advice := Advice} = Sign]}] = found(#{overloaded => 60, closer => busy, ready_in => Samples}, []),
                    {said(Sign), unicode:characters_to_list(Advice)}
            end,
    Stack = [{shop, walk, 3}, {shop, client, 1}],
    {Said, "Do less there: " ++ _} =
        Found([{runnable, [{shop, match, 2} | Stack], 20}, {running, Stack, 20}, {waiting, [{timer, sleep, 1}], 9}]),
    ?assert(has("; functions near the top of the stack in 40 looks at some: shop:walk/3 (100 %), shop:client/1 (100 %),"
                " shop:match/2 (50 %)", Said)),
    [?assertMatch({_, "More processes are ready" ++ _}, Found(Samples)) || Samples <- [[], [{running, Stack, 9}]]],
    process_flag(trap_exit, true),
    Busy = [spawn(fun() -> works(0) end) || _ <- "few"],
    Samples = diagnose_probe:ready_in(Busy, now_ms() + 10_000),
    _ = [exit(Pid, kill) || Pid <- Busy],
    ?assertMatch({_, [{{?MODULE, works, 1}, _} | _]}, diagnose_samples:worked_in(Samples)).

works(Sum) -> _ = Sum * Sum, works((Sum + 1) rem 1000).

waits_in_job(Nth) -> receive Nth -> Nth end, ok.

%% A large heap with much room may hold small messages.
small_messages_on_a_roomy_heap_are_read(_) ->
    Pid = spawn_opt(fun() -> receive never -> ok end end, [{min_heap_size, 1_000_000}]),
    _ = [Pid ! {conn_down, N, x} || N <- lists:seq(1, 25_000)],
    true = erlang:garbage_collect(Pid),
    {memory, Bytes} = process_info(Pid, memory),
    ?assert(Bytes > 5_000_000),
    ?assertMatch([{~"{conn_down, _, _}", _}], diagnose_probe:shapes(Pid, 25_000, 0)),
    _ = [Pid ! {conn_down, N, lists:seq(1, 200)} || N <- lists:seq(1, 2000)],
    ?assertEqual(too_large, diagnose_probe:shapes(Pid, 27_000, 0)),
    exit(Pid, kill).

%% The node opens them, and nobody closes one.
connections_made_and_kept_are_told_of(_) ->
    Left = #{what => kept, count => 120, more => 9, at => ~"192.0.2.1:22", asked => 30, most => [{unknown, {gen_statem, loop_receive, 3}, 30}],
             by => [#{pid => ~"<0.9.0>", name => pulls, in => {m, report, 2}, times => 8}]},
    Found = fun(One) -> [Sign || #{signs := [Sign]} <- found(#{left_sockets => #{ms => 3600, alarms => [], sockets => [One]}}, [])] end,
    [#{kind := sockets_left} = Sign] = Found(Left),
    ?assert(has("connected to 192.0.2.1:22, and that did nothing for 3.6 s and more, and 9 more since, and none was closed, opened by <0.9.0>"
                " (pulls) in m:report/2", said(Sign))),
    ?assertEqual({[], [], []}, {Found(Left#{count := 19}), Found(Left#{more := 2}), Found(Left#{more := 60})}),
    %% One was closed, another one used; or as many were accepted.
    Before = maps:from_list([{N, {{{127, 0, 0, 1}, 22}, 1}} || N <- lists:seq(1, 20)]),
    After = Before#{30 => {{{127, 0, 0, 1}, 22}, 1}},
    Kept = fun(Now, Accepted) -> diagnose_probe:made_and_kept({0, Before}, {Accepted, Now}) end,
    ?assertMatch([#{count := 20, more := 1, at := ~"127.0.0.1:22"}], Kept(After, 0)),
    ?assertEqual({[], [], []}, {Kept(maps:remove(1, After), 0), Kept(After, 1), Kept(Before, 0)}).

%% Each is gone before the look ends.
large_heaps_that_come_and_go_are_told_of(_) ->
    Scrape = fun(Pid, Heap) ->
                     suspect(#{pid => Pid, depth => 0, label => {page, render, 1}, passes => true, heap_bytes => Heap, used_bytes => Heap,
                               stack_bytes => 0, samples => [{running, [{io_lib, format, 2}, {page, line, 1}], 3}]})
             end,
    Found = fun(Suspects, Total) -> signs(#{suspects => Suspects, memory => #{total => Total}}, []) end,
    Two = [Scrape(~"<0.1.0>", 150_000_000), Scrape(~"<0.2.0>", 140_000_000)],
    ?assertMatch([{large_heap, #{heap_bytes := 150_000_000, passing := 2, in := ~"page:line/1"}}], Found(Two, 800_000_000)),
    ?assertMatch([{large_heap, #{passing := 1}}], Found([hd(Two)], 290_000_000)),
    ?assertEqual({[], [], []}, {Found(Two, 1_000_000_000), Found([hd(Two)], 310_000_000), Found([Scrape(~"<0.1.0>", 90_000_000)], 1)}),
    [#{signs := [Sign]}] = found(#{suspects => Two, memory => #{total => 800_000_000}}, []),
    ?assert(has("as did 1 alike", said(Sign))),
    %% A real one.
    Now = now_ms(),
    Looking = spawn_monitor(fun() -> exit({seen, diagnose_probe:passing([], Now + 3000)}) end),
    timer:sleep(300),
    spawn(fun() -> List = lists:seq(1, 8_000_000), timer:sleep(800), length(List) end),
    {_, Monitor} = Looking,
    [{_, #{passes := true, heap_bytes := Heap}} | _] = receive {'DOWN', Monitor, process, _, {seen, Seen}} -> Seen end,
    ?assert(Heap >= 128_000_000).

%% One process never leaves old code, and the purge is tried again and again.
purges_in_vain_are_told_of(_) ->
    Purges = #{ms => 1000, modules => [{tariff, 48}], by => [#{pid => ~"<0.9.0>", name => rollout, in => {m, tries, 1}}],
               kept_by => [#{pid => ~"<0.8.0>", name => '', in => {tariff, loop, 1}}]},
    Found = fun(Of) -> [Sign || #{signs := [Sign]} <- found(#{reloads => #{looks => 9, modules => [], in => [], purges => Of}}, [])] end,
    [#{kind := code_churn} = Sign] = Found(Purges),
    ?assert(has("purged in vain, 48 times in 1.0 s, by <0.9.0> (rollout) in m:tries/1; old code of tariff stays, which is run by <0.8.0>"
                " in tariff:loop/1", said(Sign))),
    ?assert(has("fully qualified call", advised(Sign))),
    ?assertMatch([_], Found(Purges#{by := [], kept_by := []})),
    ?assertEqual({[], [], []}, {Found(Purges#{modules := [{tariff, 2}]}), Found(Purges#{modules := []}), Found(unknown)}).

%% Long before it has much of the memory, also if others leave in time.
rows_of_ended_processes_that_become_more_are_told_of(_) ->
    #{tables := Tables} = nothing(),
    Told = fun(Ended, Counts, NodeMs) ->
                   Grows = #{name => roster, owner => ~"<0.9.0>", node_ms => NodeMs, reads => 100, fell => 20,
                             looks => [{100 * N, R, 88 * R} || {N, R} <- lists:enumerate(Counts)]},
                   Table = #{name => roster, owner => ~"<0.9.0>", bytes => 1, size => 1, keys_of_ended => Ended, keys_of_processes => 20},
                   [said(Sign) || #{signs := Signs} <- found(#{growing => [Grows], tables => Tables#{largest := [Table]},
                                                               memory => #{total => 55_000_000}}, []),
                                  #{kind := large_ets_table} = Sign <- Signs]
           end,
    Rises = [80_000 + 30 * N - 40 * (N rem 2) || N <- lists:seq(1, 40)],
    [Said] = Told(10, Rises, 60_000),
    ?assert(has("has a part of its memory in the ETS table roster", Said)),
    ?assert(has("10 of 20 of its keys and rows", Said)),
    ?assertEqual({[], [], []}, {Told(9, Rises, 60_000), Told(20, lists:reverse(Rises), 60_000),
                                Told(20, [Count - 79_000 || Count <- Rises], 600_000)}). % it is filled for some seconds

%% Before it has most of the memory.
table_that_only_grows_is_told_of(_) ->
    Of = fun(Owner, NodeMs, Rows, Total) ->
                 Table = #{name => spans, owner => Owner, node_ms => NodeMs,
                           looks => [{100 * N, R, 40_000_000 + 500 * R} || {N, R} <- lists:enumerate(Rows)]},
                 [Sign || #{signs := Signs} <- found(#{growing => [Table], memory => #{total => Total}}, []),
                          #{kind := large_ets_table} = Sign <- Signs]
         end,
    OfNode = fun(NodeMs, Rows, Total) -> Of(~"<0.9.0> (batch)", NodeMs, Rows, Total) end,
    Found = fun(Rows, Total) -> OfNode(5000, Rows, Total) end,
    Grows = [400 * N || N <- lists:seq(1, 40)],
    [#{evidence := #{rows_a_second := Rows, bytes_a_second := Bytes}} = Sign] = Found(Grows, 100_000_000),
    ?assertEqual({true, true}, {Rows > 3500 andalso Rows < 4500, abs(Bytes - 500 * Rows) < 1000}),
    ?assertNotEqual(nomatch, string:find(diagnose_wording:sentence(Sign), "owner <0.9.0> (batch); it grows by ")),
    %% Rows that come hide those that are deleted, but not at each read.
    Deletes = fun(Fell) ->
                      Table = #{name => rooms, owner => ~"<0.9.0>", node_ms => 5000, reads => 350, fell => Fell,
                                looks => [{100 * N, R, 40_000_000 + 500 * R} || {N, R} <- lists:enumerate(Grows)]},
                      Largest = #{name => rooms, owner => ~"<0.9.0>", bytes => 1, size => 1, keys_of_ended => 19, keys_of_processes => 20},
                      #{tables := Tables} = nothing(),
                      [#{signs := [S]}] = found(#{growing => [Table], tables => Tables#{largest := [Largest]},
                                                  memory => #{total => 100_000_000}}, []),
                      {said(S), advised(S)}
              end,
    {SomeSaid, Some} = Deletes(17),
    {NoneSaid, None} = Deletes(0),
    ?assertEqual([true, false, true, true, true],
                 [has("17 of 350 reads, a millisecond apart, found fewer rows", SomeSaid), has("reads", NoneSaid),
                  has("fewer than are inserted", Some), has("no deletion was seen", None), has("delete all their rows", Some)]),
    ?assertEqual({[], [], [], []},
                 {Found(Grows, 400_000_000),
                  Found([0 || _ <- Grows], 100_000_000),
                  Found([Count - 4000 * (Count rem 8000 div 4000) || Count <- Grows], 100_000_000), % some are deleted
                  Found([N || N <- lists:seq(1, 40)], 100_000_000)}),                               % slowly
    %% Filled for four seconds at this pace, as the log of a queue is; and for a minute.
    ?assertEqual([], Of(~"<0.9.0> (ra_log_ets)", 5000, [400 * N || N <- lists:seq(1, 40)], 100_000_000)),
    ?assertMatch({[], [_]}, {OfNode(60_000, Grows, 100_000_000), OfNode(1_000_000, [240_000 + Count || Count <- Grows], 200_000_000)}).

waiting_for_threads_is_told_of(_) ->
    Found = fun(Waiting) ->
                    Queues = #{looks => 20, ready => [], dirty => [#{threads => io, count => 10, waiting => Waiting}]},
                    [Threads || {dirty_queue, #{threads := Threads}} <- signs(#{run_queues => Queues}, [])]
            end,
    ?assertEqual({[io], []}, {Found(lists:duplicate(20, 50)), Found([0, 0 | lists:duplicate(18, 50)])}),
    %% There are never more for native work than schedulers.
    Native = fun(Count) ->
                     Dirty = [#{threads => cpu, count => Count, waiting => lists:duplicate(20, 9)}],
                     [#{signs := [#{advice := Advice}]}] = found(#{run_queues => #{looks => 20, ready => [], dirty => Dirty}}, []),
                     string:find(Advice, "+SDcpu") =/= nomatch
             end,
    ?assertEqual([true, false], [Native(Count) || Count <- [1, 2]]),
    Held = #{threads => io, count => 4, waiting => lists:duplicate(20, 6),
             holders => [#{pid => ~"<0.7.0>", name => '', label => {audit, init, 1}, in => {audit, open, 2}}]},
    [#{signs := [Sign]}] = found(#{run_queues => #{looks => 20, ready => [], dirty => [Held]}}, []),
    ?assertNotEqual(nomatch, string:find(diagnose_wording:sentence(Sign), "held by <0.7.0> (audit:init/1, in audit:open/2)")).

%% It is ready to run at each look, and never runs.
waiting_for_a_thread_is_no_work(_) ->
    Server = fun(Reductions) -> suspect(#{depth => 49, usual_depth => 49, least_depth => 49, reductions => Reductions,
                                          samples => [{running, [{prim_file, read_file, 1}, {file_server, handle_call, 3}], 20}]})
             end,
    Advice = fun(Reductions, Waiting) ->
                     Queues = #{looks => 20, ready => [], dirty => [#{threads => io, count => 4, waiting => lists:duplicate(20, Waiting)}]},
                     [Text] = [unicode:characters_to_list(Text)
                               || #{signs := Signs} <- found(#{run_queues => Queues, suspects => [Server(Reductions)]}, []),
                                  #{kind := deep_mailbox, advice := Text} <- Signs],
                     case [Word || Word <- ["one sync", "finding of the node", "operating system"],
                                   string:find(Text, Word) =/= nomatch] of
                         [Word] -> Word
                     end
             end,
    ?assertEqual({"finding of the node", "operating system", "one sync"},
                 {Advice(60.0, 6), Advice(60.0, 0), Advice(5.0e5, 6)}).

%% One process that the look woke may be ready on the idle scheduler; bursts come and go.
one_ready_beside_hundreds_is_uneven(_) ->
    Found = fun(Ready) ->
                    Queues = #{looks => 20, ready => Ready, dirty => []},
                    [Most || {uneven_run_queues, #{most := Most}} <- signs(#{run_queues => Queues}, [])]
            end,
    ?assertEqual([], [uneven || {uneven_run_queues, _} <- signs(#{run_queues => #{looks => 20, ready => lists:duplicate(20, {0, 300}), dirty => []},
                                                                  collections => kept_from_running()}, [])]),
    ?assertEqual({[300], [10]}, {Found(lists:duplicate(20, {1, 300})), Found(lists:duplicate(20, {0, 10}))}),
    ?assertEqual({[], []}, {Found(lists:duplicate(20, {1, 10})), Found([{0, 0}, {0, 0} | lists:duplicate(18, {0, 300})])}).

%% Most looks are at the place where it takes the next message.
server_with_costly_calls_is_busy(_) ->
    Loop = [{gen_server, loop, 7}, {proc_lib, init_p_do_apply, 3}],
    Server = suspect(#{depth => 3, usual_depth => 2, least_depth => 0, gets => true, reductions => 2.0e6,
                       samples => [{running, Loop, 17}, {running, [{m, handle_call, 3}, {gen_server, try_handle_call, 4} | Loop], 3}]}),
    ?assertMatch([{busy_process, #{in := ~"m:handle_call/3", times := 3, looks := 20}}], findings(Server, [])),
    [?assertEqual([], findings(maps:merge(Server, Other), []))
     || Other <- [#{usual_depth => 0}, #{reductions => 9.0e5}, #{samples => [{running, Loop, 20}]},
                  #{samples => [{running, Loop, 20}], gets => false},
                  #{samples => [{running, [{m, loop, 1}], 20}]}, % has a receive of its own
                  #{samples => [{running, [{m, loop, 1}, {proc_lib, init_p, 3}], 20}]},
                  #{samples => [{running, Loop, 14}, {running, [{m, handle_call, 3} | Loop], 3}, {waiting, Loop, 3}]}]],
    %% One that rests now and then, with messages that wait: what it works at is all the same.
    Rests = fun(Times) -> Server#{samples := [{running, [{m, handle_call, 3} | Loop], 20}, {waiting, Loop, Times}]} end,
    ?assertMatch({[{busy_process, #{times := 20, looks := 25, waited := 5}}], []}, {findings(Rests(5), []), findings(Rests(7), [])}),
    ?assertEqual([], findings((Rests(5))#{usual_depth := 0, depth := 0}, [])).

%% Whoever is seen in the middle of its work at most looks works long on each message.
server_with_long_work_is_busy(_) ->
    Loop = [{gen_server, loop, 7}, {proc_lib, init_p_do_apply, 3}],
    Server = fun(InWork, AtReceive, Waits) ->
                     suspect(#{depth => 7, usual_depth => 0, least_depth => 0, gets => true, reductions => 4.0e6,
                               samples => [{running, [{gen_server, try_handle_cast, 3}, {gen_server, handle_msg, 6}], InWork - 5},
                                           {running, [{m, handle_call, 3}, {gen_server, try_handle_call, 4} | Loop], 5},
                                           {running, Loop, AtReceive}, {waiting, Loop, Waits}]})
             end,
    ?assertMatch([{busy_process, #{in := ~"m:handle_call/3", waited := 10}}], findings(Server(30, 10, 10), [])),
    [?assertEqual([], findings(Other, []))
     || Other <- [(Server(30, 10, 10))#{samples := [{running, [{gen, do_call, 4}, {gen_server, call, 2}, {m, asks, 1}], 50}]},
                  Server(29, 11, 10), Server(30, 10, 14), (Server(30, 10, 10))#{depth := 0}, (Server(30, 10, 10))#{reductions := 9.0e5}]].

%% Who asks all others waits for the answer of each, and its server of timers serves all.
who_asks_all_is_busy(_) ->
    Asks = fun(Times) ->
                   suspect(#{gets => true, reductions => 3.0e6, name => stats,
                             samples => [{waiting, [{erts_internal, await_result, 1}, {m, all, 0}], Times},
                                         {running, [{m, all, 0}], 10}, {waiting, [{timer, sleep, 1}], 30 - Times}]})
           end,
    ?assertMatch({[{busy_process, #{in := ~"erts_internal:await_result/1", times := 6}}], [], []},
                 {findings(Asks(6), []), findings(Asks(5), []), findings((Asks(6))#{reductions := 4.9e5}, [])}),
    Timers = suspect(#{gets => true, reductions => 3.0e6, name => timer_server,
                       samples => [{running, [{timer, handle_call, 3}], 5}, {waiting, [{gen_server, loop, 7}], 20}]}),
    ?assertMatch({[{busy_process, _}], [], []},
                 {findings(Timers, []), findings(Timers#{reductions := 9.0e5}, []), findings(Timers#{name := other}, [])}).

%% None of them takes much: all together do, and hardly anything dies.
kinds_that_hibernate_all_the_time_are_told_of(_) ->
    Found = fun(Count, Us, Left, Hibernates) ->
                    Pauses = #{minor => 30, full => 0, long => 0, longest_us => 200, total_us => Us, window_ms => 3000,
                               why => [(why(minor, 30, 0))#{us := Us, left := Left * 30 * 90}], settings => #{}},
                    Session = suspect(#{depth => 0, label => {session, init, 1}, hibernates => Hibernates, heap_bytes => 90_000,
                                        pauses => Pauses}),
                    [Evidence || {long_collection, Evidence} <- signs(#{suspects => [Session],
                                                                        groups => [group(#{label => {session, init, 1}, count => Count})]}, [])]
            end,
    [#{kin := 500, cores_together := Cores} = Evidence] = Found(500, 1000, 95, true),
    ?assert(abs(Cores - 500 / 3000) < 0.001),
    Said = unicode:characters_to_list(diagnose_wording:sentence(#{kind => long_collection, evidence => Evidence})),
    ?assertMatch({match, _}, re:run(Said, "hibernates 30 times in 3000 ms.*90.0 kB.*500 of its kind.*0.2 cores")),
    ?assertEqual([[], [], [], []],
                 [Found(Count, Us, Left, Hibernates)
                  || {Count, Us, Left, Hibernates} <- [{200, 1000, 95, true}, {500, 500, 95, true}, {500, 1000, 60, true},
                                                       {500, 1000, 95, false}]]).

%% It goes from handler to handler; with few, it is in what one of them does.
managers_with_many_handlers_are_told_of(_) ->
    Notifies = [{gen_event, server_notify, 4}, {gen_event, handle_msg, 6}],
    Works = [{lists, member, 2}, {m, handle_event, 2}, {gen_event, server_update, 4} | Notifies],
    Found = fun(Goes, In, More) ->
                    Samples = [{running, Notifies, Goes}, {running, Works, In}, {waiting, [{gen_event, fetch_msg, 6}], 40 - Goes - In}],
                    [{Sign, maps:get(in, Evidence)}
                     || {Sign, Evidence} <- findings(suspect(maps:merge(#{depth => 0, gets => true, samples => Samples, reductions => 9.0e6,
                                                                          used_bytes => 20_000_000}, More)), [])]
            end,
    ?assertEqual([{busy_process, ~"gen_event:server_notify/4"}], Found(4, 4, #{})),
    ?assertEqual([[], [], [], []],
                 [Found(Goes, In, More) || {Goes, In, More} <- [{3, 3, #{}}, {4, 5, #{}}, {4, 0, #{reductions => 9.0e5}},
                                                                {4, 0, #{used_bytes => 900_000}}]]).

supervisors_that_are_asked_for_children_are_told_of(_) ->
    Handles = [{supervisor, handle_call, 3}, {gen_server, try_handle_call, 4}, {gen_server, handle_msg, 6}],
    Found = fun(Above, Times) ->
                    Samples = [{running, Above ++ Handles, Times}, {waiting, [{gen_server, loop, 7}], 40 - Times}],
                    [maps:get(in, Evidence) || {busy_process, Evidence} <- findings(suspect(#{depth => 0, gets => true, samples => Samples,
                                                                                              reductions => 9.0e6}), [])]
            end,
    Lists = [{supervisor, '-handle_call/3-fun-0-', 3}, {lists, map_1, 2}, {lists, map, 2}],
    ?assertEqual([~"supervisor:handle_call/3"], Found(Lists, 10)),
    ?assertEqual([~"supervisor:handle_call/3"], Found([{lists, foldl, 3}, {supervisor, children_fold, 3}], 10)),
    ?assertEqual([[], [], []], [Found(Lists, 9), Found([{proc_lib, sync_start_link, 2}, {supervisor, do_start_child, 3}], 10), Found([], 10)]).

%% A supervisor that has its children by an identifier looks for the one that has ended.
supervisors_that_search_for_children_are_told_of(_) ->
    Handles = [{supervisor, restart_child, 3}, {supervisor, handle_info, 2}, {gen_server, try_handle_info, 3}],
    Found = fun(Above, Times) ->
                    Samples = [{running, Above ++ Handles, Times}, {waiting, [{gen_server, loop, 7}], 40 - Times}],
                    [{maps:get(in, Evidence), string:find(Advice, "simple_one_for_one") =/= nomatch}
                     || #{signs := Signs} <- found(#{suspects => [suspect(#{depth => 0, gets => true, samples => Samples,
                                                                            reductions => 9.0e6})]}, []),
                        #{kind := busy_process, evidence := Evidence, advice := Advice} <- Signs]
            end,
    Searches = [{maps, fold_1, 3}, {supervisor, find_child_by_pid, 2}],
    ?assertEqual([{~"supervisor:handle_info/2", true}], Found(Searches, 10)),
    ?assertEqual([{~"supervisor:handle_info/2", true}], Found([{lists, delete, 2}, {supervisor, del_child, 2}], 10)),
    ?assertEqual([[], []], [Found(Searches, 9), Found([{proc_lib, sync_start_link, 2}, {supervisor, do_start_child, 3}], 10)]).

%% By the looks at processes that work, and where they do much.
expressions_that_are_interpreted_are_told_of(_) ->
    Worker = fun(Pid, Evaluates, Reductions) ->
                     suspect(#{pid => Pid, depth => 0, label => {rules, worker, 1}, reductions => Reductions,
                               samples => [{running, [{lists, foldl, 3}, {erl_eval, expr, 6}, {rules, worker, 1}], Evaluates},
                                           {running, [{rules, worker, 1}], 10 - Evaluates}, {waiting, [{timer, sleep, 1}], 20}]})
             end,
    Found = fun(Evaluates, Reductions) ->
                    [Evidence || {interpreted_code, Evidence} <- signs(#{suspects => [Worker(~"<0.1.0>", Evaluates, Reductions),
                                                                                      Worker(~"<0.2.0>", Evaluates, Reductions)]}, [])]
            end,
    ?assertMatch([#{times := 10, looks := 20, processes := 2, label := ~"rules:worker/1"}], Found(5, 6.0e6)),
    ?assertEqual([[], []], [Found(4, 6.0e6), Found(5, 4.0e6)]),
    Prints = suspect(#{depth => 0, label => {m, log, 1}, reductions => 2.0e7,
                       samples => [{running, [{io_lib_pretty, print, 4}, {io_lib, format, 2}, {m, log, 1}], 12}, {running, [{m, log, 1}], 8}]}),
    ?assertMatch([#{times := 12, looks := 20, processes := 1, label := ~"m:log/1"}],
                 [Evidence || {formatted_terms, Evidence} <- signs(#{suspects => [Prints]}, [])]).

%% The process that waits for the interpreter is named, and its interpreter is no busy loop.
code_that_the_debugger_interprets_is_told_of(_) ->
    Interpreter = fun(Times) -> suspect(#{pid => ~"<0.7.0>", depth => 0, reductions => 1.4e8, answer_ms => 0,
                                          samples => [{running, [{dbg_ieval, seq, 3}, {dbg_ieval, eval_mfa, 5}], Times},
                                                      {running, [{m, f, 0}], 20}]})
                  end,
    Server = suspect(#{pid => ~"<0.5.0>", name => quoting, depth => 20, usual_depth => 20, least_depth => 20, idle => true,
                       waiting => [{~"call of {quote, _}", 20}],
                       samples => [{waiting, [{dbg_debugged, msg_loop, 2}, {quote, handle_call, 3}, {gen_server, handle_msg, 6}], 20}]}),
    Found = fun(Times) -> found(#{suspects => [Interpreter(Times), Server], debugged => #{interpreted => [price], covered => []}}, []) end,
    ?assertMatch([#{subject := node, signs := [#{kind := interpreted_code,
                                                 evidence := #{times := 40, modules := [~"price"], waiting := [~"<0.5.0> (quoting)"]}}]},
                  #{subject := #{process := #{name := quoting}}, signs := [#{kind := deep_mailbox}]}], Found(40)),
    [#{signs := [#{advice := Interprets} = Sign]}, #{signs := [#{advice := Waits}]}] = Found(40),
    [?assertMatch({_, _}, binary:match(Advice, ~"int:n/1")) || Advice <- [Interprets, Waits]],
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign), "1 module is interpreted: price; for <0.5.0> .quoting")),
    %% At a breakpoint they wait for each other, which is no deadlock.
    Stopped = Server#{asks => [#{pid => Pid, name => '', in => In, for => answer, label => unknown}
                               || {Pid, In} <- [{~"<0.7.0>", {dbg_icmd, handle_cmd, 3}}, {~"<0.5.0>", {dbg_debugged, msg_loop, 2}}]]},
    [#{signs := [#{kind := deep_mailbox, advice := Breakpoint}]}] = found(#{suspects => [Stopped]}, []),
    ?assertMatch({{_, _}, nomatch}, {binary:match(Breakpoint, ~"int:continue/1"), binary:match(Breakpoint, ~"deadlock")}),
    ?assertEqual([], [Evidence || {interpreted_code, Evidence} <- signs(#{suspects => [Interpreter(9)]}, [])]),
    ?assertMatch([{interpreted_code, #{modules := []}}], signs(#{suspects => [Interpreter(40)], debugged => unknown}, [])).

code_that_counts_its_lines_is_told_of(_) ->
    Works = fun(Times) -> suspect(#{pid => ~"<0.7.0>", depth => 0, gets => true, usual_depth => 2, reductions => 9.6e7,
                                    samples => [{running, [{counters, add, 3}, {price, sum, 2}, {billing, handle_call, 3},
                                                           {gen_server, try_handle_call, 4}], Times},
                                                {running, [{billing, handle_call, 3}, {gen_server, try_handle_call, 4}], 20 - Times}]})
            end,
    Found = fun(Times, Modules) -> found(#{suspects => [Works(Times)], debugged => #{interpreted => [], covered => Modules}}, []) end,
    [#{subject := node, signs := [#{kind := debugging_left_on, evidence := Evidence} = Sign]},
     #{signs := [#{kind := busy_process, advice := Advice}]}] = Found(20, [price, other]),
    ?assertMatch(#{left := cover, modules := [~"price"], count := 2, times := 20, looks := 20}, Evidence),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign), "2 modules that count each line .*: price, ...; 1 process is in")),
    ?assertMatch({_, _}, binary:match(Advice, ~"compiled for coverage")),
    [?assertEqual([], [Left || #{signs := [#{kind := debugging_left_on} = Left | _]} <- Found(Times, Modules)])
     || {Times, Modules} <- [{9, [price]}, {20, [other]}, {20, []}]].

%% Each event of a server passes through them, and it takes no message meanwhile.
options_of_sys_are_told_of(_) ->
    Server = fun(Above, Times) ->
                     suspect(#{pid => ~"<0.7.0>", depth => 29, usual_depth => 29, least_depth => 28, reductions => 2.0e4,
                               waiting => [{~"call of {book, _, _}", 29}],
                               samples => [{waiting, Above ++ [{sys, handle_debug, 4}, {gen_server, handle_msg, 7}], Times},
                                           {waiting, [{io, execute_request, 3}, {ledger, handle_call, 3},
                                                      {gen_server, try_handle_call, 4}], 60 - Times}]})
             end,
    Found = fun(Above, Times) -> lists:append([Signs || #{signs := Signs} <- found(#{suspects => [Server(Above, Times)]}, [])]) end,
    Prints = [{io, execute_request, 3}, {io, format, 3}],
    [#{kind := debugging_left_on, advice := Advice} = Sign, #{kind := deep_mailbox, advice := Deep}] = Found(Prints, 60),
    ?assertMatch({_, _}, binary:match(Advice, ~"sys:no_debug/1")),
    ?assertMatch({_, _}, binary:match(Deep, ~"option of sys")),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign), "that prints them .*at 60 of 60 looks")),
    [#{evidence := #{in := ~"shop:audit/3", prints := false}} = Calls | _] = Found([{lists, keyfind, 3}, {shop, audit, 3}], 60),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Calls), "which calls shop:audit/3 ")),
    ?assertMatch([#{evidence := #{in := unknown, prints := false}} | _], Found([], 60)),
    ?assertMatch([#{kind := deep_mailbox}], Found(Prints, 5)).

%% The suspender is the cause, whatever waits in ports.
%% The program of the port to which it writes, and not the network, or a port of others.
program_that_reads_nothing_is_told_of(_) ->
    Suspect = suspect(#{pid => ~"<0.7.0>", status => suspended, samples => [{suspended, [{erlang, port_command, 2}, {tun, push, 2}], 20}]}),
    Port = #{port => ~"#Port<0.8>", to => ~"tunneld", socket => false, connection => false, program => true, owner => ~"<0.7.0>", bytes => 8448},
    Other = Port#{port := ~"#Port<0.9>", to := ~"store@host", connection := true, program := false, owner := ~"<0.3.0>", bytes := 90_000},
    Found = fun(Waiting) ->
                    #{ports := Ports} = nothing(),
                    [#{signs := [#{kind := suspended} = Sign | _]}] = found(#{suspects => [Suspect], ports => Ports#{waiting := Waiting}}, []),
                    {said(Sign), advised(Sign)}
            end,
    {Said, Program} = Found([Other, Port]),
    ?assertEqual([true, false, true, false, false], [has("by tunneld (#Port<0.8>)", Said), has("store@host", Said), has("reads its input", Program),
                                                     has("network.", Program), has("zdbbl", Program)]),
    ?assertEqual([true, false, true], [has("zdbbl", element(2, Found(Waiting)))
                                       || Waiting <- [[Other], [Other#{connection := false, socket := true}], [Other, Other#{connection := false}]]]).

%% The system tells which ports have a program.
port_of_a_program_is_known(_) ->
    Writes = spawn(fun() ->
                           Port = open_port({spawn_executable, "/bin/sleep"}, [{args, ["100"]}, binary]),
                           [true = port_command(Port, binary:copy(<<0>>, 100_000)) || _ <- lists:seq(1, 10)]
                   end),
    ok = diagnose_test_wait(fun() -> process_info(Writes, status) =:= {status, suspended} end),
    #{waiting := Waiting} = diagnose_probe:ports(),
    true = exit(Writes, kill),
    Text = list_to_binary(pid_to_list(Writes)),
    ?assertMatch([#{to := ~"sleep", program := true}], [One || #{owner := Owner} = One <- Waiting, Owner =:= Text]).

who_suspended_a_process_is_told(_) ->
    Suspect = suspect(#{pid => ~"<0.7.0>", status => suspended, samples => [{suspended, [{gen_server, loop, 7}], 20}], depth => 200,
                        usual_depth => 200, least_depth => 200, idle => true, waiting => [{~"call of {route, _}", 20}]}),
    By = #{pid => ~"<0.9.0>", name => maintenance, label => {jobs, init, 1}, in => {jobs, waits, 0}, 'of' => [~"<0.7.0>"]},
    Ports = #{skipped => 0, names => [], owners => [], waiting => [#{port => ~"#Port<0.1>", to => ~"b@c", bytes => 9}]},
    Found = fun(Suspenders) ->
                    [#{signs := Signs}] = found(#{suspects => [Suspect], suspenders => Suspenders, ports => Ports}, []),
                    Signs
            end,
    [#{kind := suspended, advice := Advice, evidence := #{waits := []}} = Sign, #{kind := deep_mailbox, advice := Deep}] = Found([By]),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign),
                                    "suspended by <0.9.0> .maintenance. .jobs:init/1., which is in jobs:waits/0")),
    ?assertMatch({_, _}, binary:match(Advice, ~"until <0.9.0> (maintenance) calls erlang:resume_process/1")),
    ?assertMatch({_, _}, binary:match(Deep, ~"while it is suspended")),
    ?assertMatch([#{kind := suspended, evidence := #{waits := [_], by := []}} | _], Found([By#{'of' := [~"<0.8.0>"]}])),
    %% It is told of beside a persistent term that is put anew, too.
    Terms = #{looks => 10, count => 1, terms => [#{term => key, times => 9}]},
    Kinds = fun(Suspenders) -> [Kind || {Kind, _} <- signs(#{suspects => [Suspect], suspenders => Suspenders, terms => Terms}, [])] end,
    ?assertEqual({[suspended], []}, {Kinds([By]) -- Kinds([]), Kinds([]) -- Kinds([By])}).

%% Where nobody waits for it, or schedulers have nothing else to do, its priority is as it should be.
servers_of_low_priority_are_told_of(_) ->
    Server = suspect(#{pid => ~"<0.7.0>", name => dispatch, priority => low, depth => 2, usual_depth => 2, gets => true,
                       reductions => 9.0e5,
                       samples => [{running, [{lists, sum, 2}, {dispatch, handle_call, 3}], 10}, {waiting, [{gen_server, loop, 7}], 10}]}),
    Planner = suspect(#{pid => ~"<0.8.0>", label => {planner, loop, 1}, depth => 0, samples => [{running, [{planner, loop, 1}], 20}]}),
    Callers = [#{pid => ~"<0.7.0>", 'of' => [{{driver, init, 1}, 2}]}],
    Queues = fun(Taken) -> #{looks => 20, dirty => [], ready => lists:duplicate(Taken, {1, 4}) ++ lists:duplicate(20 - Taken, {0, 4})} end,
    Found = fun(Suspects, Calls, Taken) ->
                    [Sign || #{signs := Signs} <- found(#{suspects => Suspects, callers => Calls, run_queues => Queues(Taken)}, []),
                             #{kind := Kind} = Sign <- Signs, Kind =:= low_priority]
            end,
    [#{evidence := Evidence} = Sign] = Found([Server, Planner], Callers, 10),
    ?assertMatch(#{times := 10, looks := 20, messages := 2, callers := [#{label := ~"driver:init/1"}],
                   others := [#{label := ~"planner:loop/1", count := 1}]}, Evidence),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign), "called by processes of driver:init/1, .*: 1 of planner:loop/1")),
    [?assertEqual([], Found(Suspects, Calls, Taken))
     || {Suspects, Calls, Taken} <- [{[Server, Planner], [], 20}, {[Server, Planner], Callers, 9}, {[Server], Callers, 20},
                                     {[Server, Planner#{priority := low}], Callers, 20},
                                     {[Server#{priority := normal}, Planner], Callers, 20},
                                     {[Server#{usual_depth := 0, gets := false}, Planner], Callers, 20},
                                     {[Server#{samples := [{running, [{m, f, 0}], 9}, {waiting, [{m, g, 0}], 11}]}, Planner],
                                      Callers, 20}]],
    ?assertMatch([_], Found([Server#{waiting := [{~"call of {pos, _}", 5}]}, Planner], [], 10)),
    %% Where each scheduler runs one of them, none needs to be ready beside.
    ?assertMatch([_], Found([Server, Planner, Planner#{pid := ~"<0.9.0>"}], Callers, 0)),
    [#{advice := Deep}] = [Mailbox || #{signs := Signs} <- found(#{suspects => [Server#{depth := 70, usual_depth := 70, least_depth := 60},
                                                                                Planner], run_queues => Queues(20)}, []),
                                      #{kind := deep_mailbox} = Mailbox <- Signs],
    ?assertMatch({_, _}, binary:match(Deep, ~"its priority is low")).

what_was_left_on_is_seen(_) ->
    Clean = diagnose_probe:debugged(),
    ok = persistent_term:put({cover, ?MODULE}, counters:new(1, [])),
    true = register(dbg_iserver, self()),
    true = ets:insert(ets:new(dbg_iserver, [ordered_set, protected]), [{{shop, refs}, [table]}, {table, []}]),
    #{interpreted := Interpreted, covered := Covered} = diagnose_probe:debugged(),
    true = unregister(dbg_iserver),
    true = persistent_term:erase({cover, ?MODULE}),
    ?assertEqual({[shop], [?MODULE]}, {Interpreted, Covered -- maps:get(covered, Clean)}),
    ?assertEqual(Clean, diagnose_probe:debugged()).

%% A process knows whom it suspends, and whom it calls. Who only monitors one is no caller.
who_calls_is_seen(_) ->
    Server = spawn(fun() -> receive after infinity -> ok end end),
    Suspender = spawn(fun() -> erlang:suspend_process(Server), receive after infinity -> ok end end),
    Caller = spawn(sys, get_state, [Server, infinity]),
    Monitor = monitor(process, Server),
    ok = until(fun() -> process_info(Server, message_queue_len) =:= {message_queue_len, 1} end),
    ok = until(fun() -> process_info(Server, status) =:= {status, suspended} end),
    process_flag(trap_exit, true),
    Until = erlang:monotonic_time(millisecond) + 5000,
    [Text, Of] = [list_to_binary(pid_to_list(Pid)) || Pid <- [Suspender, Server]],
    ?assertMatch([#{pid := Text, 'of' := [Of], in := {?MODULE, _, _}}],
                 diagnose_probe:suspenders([Server], [self(), Caller, Suspender, Server], Until)),
    ?assertEqual([], diagnose_probe:suspenders([], [Suspender], Until)),
    ?assertMatch([#{pid := Of, 'of' := [{{sys, get_state, 2}, 1}]}], diagnose_probe:who_call([Server], Until)),
    true = demonitor(Monitor, [flush]),
    _ = [exit(Pid, kill) || Pid <- [Suspender, Caller, Server]].

%% Which table that is, and where those are that wait for it.
tables_of_dets_are_named(Config) ->
    process_flag(trap_exit, true),
    Name = {users, 7},
    {ok, Name} = dets:open_file(Name, [{file, filename:join(proplists:get_value(priv_dir, Config), "users")}]),
    [Table] = [Pid || {Pid, Of} <- ets:tab2list(dets_owners), Of =:= Name],
    ok = sys:suspend(Table, 1000),
    {ok, Tokens, _} = erl_scan:string("[] = dets:match_object({users, 7}, {k, gone})."),
    {ok, Expressions} = erl_parse:parse_exprs(Tokens),
    Caller = spawn(erl_eval, exprs, [Expressions, []]),
    %% Before that it may wait for code that is loaded.
    ok = until(fun() -> {_, Stack} = process_info(Caller, current_stacktrace), lists:keymember(dets, 1, Stack) end),
    Seen = diagnose_probe:who_call([Table], erlang:monotonic_time(millisecond) + 5000),
    true = exit(Caller, kill),
    ok = sys:resume(Table, 1000),
    Text = list_to_binary(pid_to_list(Table)),
    ?assertMatch([#{pid := Text, table := Name, in := [{{erl_eval, do_apply, _}, 1}]}], Seen),
    ok = dets:close(Name),
    Searches = [{running, [{prim_file, pread, 3}, {dets, scan_read, 8}, {dets, do_apply_op, 4}], 40}],
    Suspect = suspect(#{pid => Text, label => {dets, init, 2}, depth => 0, reductions => 2.0e6, answer_ms => 1,
                        samples => Searches}),
    [#{signs := [#{advice := Advice} = Sign]}] = found(#{suspects => [Suspect], callers => Seen}, []),
    ?assert(has("the dets table {users,7}, asked in erl_eval:do_apply/", said(Sign))),
    ?assert(has("search without the key", Advice)).

until(Is) ->
    case Is() of
        true -> ok;
        false -> timer:sleep(10), until(Is)
    end.

more_schedulers_than_processors_are_told_of(_) ->
    Found = fun(Schedulers, Processors) ->
                    [Evidence || {too_many_schedulers, Evidence} <- signs(#{schedulers => Schedulers, processors => Processors}, [])]
            end,
    ?assertMatch([#{schedulers := 8, processors := 2}], Found(8, 2)),
    ?assertEqual([[], [], []], [Found(7, 1), Found(15, 4), Found(16, unknown)]),
    ?assertEqual([2, 3, 1, unknown, unknown, unknown],
                 [diagnose_probe:quota(Read) || Read <- [{ok, ~"200000 100000\n"}, {ok, ~"200001 100000\n"}, {ok, ~"5000 100000\n"},
                                                         {ok, ~"max 100000\n"}, {ok, ~""}, {error, enoent}]]),
    %% The VM knows a quota of version 1 of control groups, which the file of version 2 does not tell.
    ?assertEqual([1, 2, unknown], [diagnose_probe:least_known(Counts) || Counts <- [[2, 1, unknown], [2, unknown, 4], [unknown, unknown]]]).

%% A heap that no collection makes smaller, in many, and most of the memory.
heaps_that_many_asked_for_are_told_of(_) ->
    Found = fun(Count, After, Used, Total) ->
                    Sample = #{collected => 6, working => 0, another => ~"<0.9.0>", before => (sampled(0, 0))#{heap_bytes := 2_400_000},
                               'after' => (sampled(0, Used))#{heap_bytes := After}},
                    Group = group(#{label => {probe, p, 1}, count => Count, large => Count, large_heap_bytes => Count * 400_000,
                                    heap_bytes => Count * 400_000, sample => #{large => Sample, holding => none}}),
                    [Evidence || {idle_heap, Evidence} <- signs(#{groups => [Group], memory => #{total => Total, binary => 0}}, [])]
            end,
    ?assertMatch([#{processes := 300, heap_bytes := 120_000_000}], Found(300, 2_400_000, 600, 200_000_000)),
    ?assertEqual([[], [], [], []],
                 [Found(200, 2_400_000, 600, 140_000_000), Found(300, 2_000_000, 600, 200_000_000), Found(300, 2_400_000, 300_000, 200_000_000),
                  Found(300, 2_400_000, 600, 250_000_000)]).

%% Memory of the VM that no process, table, binary or module has, without what is told of otherwise.
garbage_that_keeps_resources_is_told_of(_) ->
    Found = fun(Freed) ->
                    [#{signs := [#{kind := native_memory, advice := Advice} = Sign]}] =
                        found(#{elsewhere => #{native => 970_000_000, nifs => [tensor], freed => Freed, terms => 0, count => 0, keys => []},
                                memory => #{total => 30_000_000}}, []),
                    {unicode:characters_to_list(diagnose_wording:sentence(Sign)), Advice}
            end,
    {Says, Advice} = Found([#{pid => ~"<0.9.0>", name => tensors, bytes => 960_000_000}]),
    ?assertMatch({{match, _}, {_, _}}, {re:run(Says, "a collection of <0.9.0> .tensors. freed 960.0 MB"),
                                        binary:match(Advice, ~"hibernate")}),
    [?assertEqual(nomatch, binary:match(element(2, Found(Freed)), ~"hibernate"))
     || Freed <- [[], [#{pid => ~"<0.9.0>", name => tensors, bytes => 20_000_000}]]],
    %% An idle process has no such garbage here.
    Idle = spawn(fun() -> receive never -> ok end end),
    ?assertEqual([], diagnose_probe:freed_natively([Idle], erlang:monotonic_time(millisecond) + 1000)),
    exit(Idle, kill).

%% Next to none of the places of a table that has much of the node's memory is used.
tables_with_too_many_places_are_told_of(_) ->
    Found = fun(Counts, Total) ->
                    [{[What || #{what := What} <- Places], diagnose_wording:sentence(Sign), Advice}
                     || #{signs := Signs} <- found(#{counts => [{0, Counts#{atoms => {9, 99}, tables => {9, 99}}}],
                                                     memory => #{total => Total}}, []),
                        #{kind := native_memory, evidence := #{places := Places}, advice := Advice} = Sign <- Signs]
            end,
    [{[ports], Says, Advice}] = Found(#{processes => {96, 1_048_576}, ports => {5, 67_108_864}}, 1_100_000_000),
    [?assert(has(Words, Text)) || {Words, Text} <- [{"67,108,864 ports", Says}, {"805.3 MB of 1100.0 MB", Says}, {"+Q 65536", Advice},
                                                    {"ulimit -n", Advice}]],
    [{[processes], _, ForProcesses}] = Found(#{processes => {96, 67_108_864}, ports => {5, 65_536}}, 1_100_000_000),
    ?assert(has("+P", ForProcesses)),
    ?assertEqual([[], [], []],
                 [Found(#{processes => {96, 1_048_576}, ports => {5, 1_048_576}}, 30_000_000), % as with the usual ulimit of a container
                  Found(#{processes => {96, 1_048_576}, ports => {5, 16_777_216}}, 900_000_000),
                  Found(#{processes => {4_000_000, 16_777_216}, ports => {5, 65_536}}, 700_000_000)]).

memory_that_native_code_took_from_the_vm_is_told_of(_) ->
    Found = fun(System, Blocks, More) ->
                    Look = #{memory => #{total => 300_000_000, binary => 0, system => System, code => 9_000_000, atom => 1_000_000},
                             carriers => [#{allocator => eheap_alloc, carrier_bytes => 9, block_bytes => 400_000_000},
                                          #{allocator => driver_alloc, carrier_bytes => Blocks, block_bytes => Blocks}],
                             elsewhere => #{native => 0, nifs => [], terms => 0, count => 9, keys => []}},
                    [{maps:get(bytes, Evidence), maps:get(allocator, Evidence)}
                     || {native_memory, Evidence} <- signs(maps:merge(Look, More), [])]
            end,
    ?assertEqual([{160_000_000, ~"driver_alloc"}], Found(170_000_000, 150_000_000, #{})),
    ?assertEqual([[], [], [], []],
                 [Found(150_000_000, 140_000_000, #{}), Found(170_000_000, 70_000_000, #{}),
                  Found(170_000_000, 150_000_000, #{elsewhere => #{native => 0, nifs => [], terms => 20_000_000, count => 9, keys => []}}),
                  Found(170_000_000, 150_000_000, #{links => #{timer_bytes => 20_000_000, holders => []}})]).

%% What it waits in is told, and no scan of its mailbox, nor that no receive may take what it is sent.
who_waits_in_a_send_or_a_program_is_told_so(_) ->
    Send = [{prim_inet, send_recv_reply, 2}, {broadcaster, handle_cast, 2}, {gen_server, handle_msg, 6}],
    Deep = suspect(#{usual_depth => 3000, least_depth => 3000, growth => 0.0, waiting => [{~"cast of {publish, _}", 10}],
                     samples => [{waiting, Send, 30}, {running, Send, 10}]}),
    Ports = #{skipped => 0, names => [], owners => [], waiting => [#{port => ~"#Port<0.35>", to => ~"tcp_inet", bytes => 11_950}]},
    Scan = #{pid => ~"<0.1.0>", function => {prim_inet, send_recv_reply, 2}, file => ~"prim_inet.erl", line => 587, called_from => none,
             seen => 40, looks => 40},
    [#{signs := [#{kind := deep_mailbox, evidence := #{waits := [_]}, advice := Advice} = Sign]}] =
        found(#{suspects => [Deep], ports => Ports}, [Scan]),
    ?assertMatch({match, _}, re:run(Advice, "send_timeout")),
    ?assertEqual(nomatch, re:run(Advice, "no receive")),
    ?assertMatch({match, _}, re:run(unicode:characters_to_list(diagnose_wording:sentence(Sign)), "not read yet: 1[12].[0-9] kB by tcp_inet")),
    Waits = fun(Frame, Shape) ->
                    One = suspect(#{depth => 90, usual_depth => 90, least_depth => 80, waiting => [{Shape, 10}], gets => true, idle => true,
                                    samples => [{waiting, [Frame, {m, handle_call, 3}, {gen_server, handle_msg, 6}], 40}]}),
                    [#{signs := [#{kind := deep_mailbox, advice := Says}]}] = found(#{suspects => [One]}, []),
                    [Word || Word <- ["os:cmd", "recv/3", "one sync", "lock of global", "handler of logger", "group leader",
                                      "find out for what", "no receive"],
                             string:find(Says, Word) =/= nomatch]
            end,
    ?assertEqual(["os:cmd"], Waits({os, get_data, 6}, ~"call of free")),
    ?assertEqual(["recv/3"], Waits({prim_inet, recv0, 3}, ~"call of free")),
    ?assertEqual(["group leader"], Waits({io, execute_request, 3}, ~"call of free")),
    ?assertEqual(["find out for what"], Waits({m, other, 0}, ~"call of free")),
    ?assertEqual(["lock of global"], Waits({global, random_sleep, 1}, ~"call of free")),
    ?assertEqual(["handler of logger"], Waits({logger_std_h, write_to_dev, 2}, ~"call of free")),
    %% One that a port holds up, which is told before.
    Sends = suspect(#{depth => 39, usual_depth => 39, least_depth => 39, waiting => [{~"call of {send, _}", 10}], gets => true, idle => true,
                      samples => [{suspended, [{erlang, port_command, 2}, {m, handle_call, 3}, {gen_server, handle_msg, 6}], 40}]}),
    Both = [{Kind, Says} || #{signs := Signs} <- found(#{suspects => [Sends]}, []), #{kind := Kind, advice := Says} <- Signs],
    ?assertMatch([{suspended, _}, {deep_mailbox, _}], Both),
    ?assertEqual({true, false}, {has("is suspended meanwhile", element(2, lists:last(Both))), has("for what", element(2, lists:last(Both)))}),
    %% Those who log are its callers, whether it works for them or waits.
    Logging = fun(Logs, Frame, Status) ->
                      One = suspect(#{depth => 90, usual_depth => 90, least_depth => 80, waiting => [{~"call of {log, _}", 10}], gets => true,
                                      idle => Status =:= waiting,
                                      samples => [{Status, [Frame, {m, handle_call, 3}, {gen_server, handle_msg, 6}], 40}]}),
                      Caller = #{count => 30, label => {m, request, 0}, in => {m, log, 2}, pid => ~"<0.9.0>", called => ~"<0.1.0>", logs => Logs},
                      [#{signs := [#{kind := deep_mailbox, advice := Says}]}]
                          = found(#{suspects => [One], unanswered => #{ms => 4000, count => 90, most => [Caller]}}, []),
                      string:find(Says, "A handler of logger calls it") =/= nomatch
              end,
    ?assertEqual([true, true, false, false],
                 [Logging(Logs, Frame, Status) || Logs <- [true, false],
                                                {Frame, Status} <- [{{m, posts, 1}, waiting}, {{m, packs, 1}, running}]]),
    ?assertEqual(["find out for what", "no receive"], Waits({m, other, 0}, ~"{left, _}")),
    Syncs = suspect(#{depth => 90, usual_depth => 90, least_depth => 80, waiting => [{~"call of save", 10}], gets => true, reductions => 2.0e4,
                      samples => [{running, [{prim_file, sync, 1}, {m, handle_call, 3}, {gen_server, handle_msg, 6}], 40}]}),
    [#{signs := [#{kind := deep_mailbox, advice := Says}]}] = found(#{suspects => [Syncs]}, []),
    ?assertMatch({match, _}, re:run(Says, "one sync")).

%% A server that is no gen_server has no callback by which it is known to work.
servers_of_their_own_are_told_of(_) ->
    Found = fun(Name, Label, Usual, Waits) ->
                    Samples = [{running, [{prim_file, pread, 3}, {dets, scan_read, 8}, {dets, do_apply_op, 4}], 40 - Waits},
                               {waiting, [{dets, open_file_loop2, 2}], Waits}],
                    [Says || #{signs := [#{kind := busy_process, advice := Says}]}
                                 <- found(#{suspects => [suspect(#{name => Name, label => Label, depth => 3, usual_depth => Usual, gets => true,
                                                                   samples => Samples, reductions => 5.0e6})]}, [])]
            end,
    [Dets] = Found('', {dets, init, 2}, 3, 1),
    [Files] = Found(file_server_2, {file_server, init, 1}, 3, 1),
    [Other] = Found(mine, {mine, init, 0}, 3, 1),
    ?assertEqual([true, true, true], [string:find(Says, Word) =/= nomatch || {Says, Word} <- [{Dets, "Look up by the key"}, {Files, "raw"},
                                                                                               {Other, "one message after the other"}]]),
    ?assertEqual([[], []], [Found('', {dets, init, 2}, 0, 1), Found('', {dets, init, 2}, 3, 9)]),
    %% It does few reductions, as one whose work is that of the system, but it never rests and many wait.
    Slow = suspect(#{name => file_server_2, depth => 149, usual_depth => 149, least_depth => 140, stays => false, gets => true,
                     samples => [{running, [{prim_file, read_info, 3}, {file_server, handle_call, 3}], 40}], reductions => 2.0e5}),
    ?assertMatch([[busy_process], []], [[Kind || {Kind, _} <- findings(Slow#{name := Name}, [])] || Name <- [file_server_2, mine]]).

server_that_copies_answers_is_busy(_) ->
    Samples = fun(Times) ->
                      [{running, [{gen, reply, 2}, {gen_server, handle_msg, 6}], Times}, {running, [{gen_server, loop, 7}], 20 - Times}]
              end,
    Server = fun(Times) ->
                     suspect(#{depth => 8, usual_depth => 8, least_depth => 0, gets => true, reductions => 5.0e5,
                               samples => Samples(Times)})
             end,
    ?assertMatch({[{busy_process, #{in := ~"gen:reply/2", times := 18}}], []}, {findings(Server(18), []), findings(Server(17), [])}),
    Rests = fun(Times) -> (Server(20))#{samples := [{waiting, [{gen_server, loop, 7}], Times} | Samples(20)]} end,
    ?assertMatch({[{busy_process, #{times := 20, looks := 26, waited := 6}}], []}, {findings(Rests(6), []), findings(Rests(7), [])}),
    [#{signs := [Sign]}] = found(#{suspects => [Rests(6)]}, []),
    ?assertNotEqual(nomatch, string:find(diagnose_wording:sentence(Sign), "seldom waits, and is in gen:reply/2 at 20 of 26 looks")).

callers_of_a_slow_callback_are_told_of(_) ->
    Sleeps = [{timer, sleep, 1}, {m, handle_event, 2}, {gen_event, server_update, 4}],
    Calls = [{gen, do_call, 4}, {gen_server, call, 2}, {m, handle_call, 3}, {gen_server, try_handle_call, 4}],
    Server = fun(Least, Times, Stack) ->
                     suspect(#{depth => 19, usual_depth => 19, least_depth => Least, gets => true, reductions => 300.0, stays => true,
                               idle => false, samples => [{waiting, Stack, Times}, {waiting, [{gen_event, fetch_msg, 6}], 20 - Times}]})
             end,
    [?assertMatch([{deep_mailbox, #{least := 10, messages := 19}}], findings(Server(10, 18, Stack), [])) || Stack <- [Sleeps, Calls]],
    %% A process of proc_lib that has a receive of its own leaves in its mailbox what it wants to leave there.
    Selective = [{m, loop, 1}, {proc_lib, init_p_do_apply, 3}],
    [?assertEqual([], findings(Other, [])) || Other <- [Server(9, 18, Sleeps), Server(10, 17, Sleeps), Server(10, 18, Selective)]].

%% Where the messages still wait, the mailbox says it.
waiting_for_an_answer_is_told_of(_) ->
    Awaited = #{for => answer, pid => ~"<0.9.0>", name => pool, label => unknown, count => 600, ms => 4000, depth => 0,
                status => waiting, in => [{gen_server, loop, 7}], kinds => [{{m, f, 0}, 600}]},
    ?assertMatch([{awaited, #{processes := 600, 'of' := [#{label := ~"m:f/0", count := 600}]}}], signs(#{awaited => [Awaited]}, [])),
    ?assertEqual([], signs(#{awaited => [Awaited#{depth := 600}]}, [])),
    ?assertMatch([{awaited, #{for := lock, processes := 600}}], signs(#{awaited => [Awaited#{for := lock}]}, [])),
    Holder = #{pid => ~"<0.8.0>", name => '', label => {m, pays, 1}, in => {m, calls_bank, 2}},
    Elsewhere = #{pid => ~"<9.8.0>", name => '', label => unknown, in => none},
    [#{signs := [Sign]}] = found(#{awaited => [Awaited#{for := lock, holds => [Holder, Elsewhere]}]}, []),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                                         "for 4.0 s and more (600 of m:f/0) for a lock that it gives out; such a lock is held by"
                                         " <0.8.0> (m:pays/1), which is in m:calls_bank/2, <9.8.0>")),
    Locked = Awaited#{for := lock, holds => [Holder], nodes => [#{node => d@e, answers => false}]},
    [#{signs := [#{advice := Advice} = OfNode]}] = found(#{awaited => [Locked]}, []),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(OfNode)),
                                         "which is in m:calls_bank/2; it is kept by another node: d@e, which does not answer")),
    ?assertEqual([true, false], [string:find(Advice, Words) =/= nomatch || Words <- ["net_ticktime", "Find the process that holds"]]),
    Far = #{far => b@c, connected => true, called => ~"prices", count => 300, ms => 2000, kinds => [{unknown, 300}]},
    ?assertMatch([#{subject := node, signs := [#{kind := awaited, evidence := #{node := b@c, called := ~"prices", processes := 300}}]}],
                 found(#{awaited => [Far]}, [])),
    [#{signs := [Unconnected]}] = found(#{awaited => [Far#{connected := false}]}, []),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Unconnected)),
                                         "a call of prices on b@c, to which there is no connection")),
    Names = #{name_servers => [~"127.0.0.1:53"], count => 300, ms => 2000, kinds => [{{hooks, deliver, 1}, 300}]},
    [#{subject := node, signs := [Unnamed]}] = found(#{awaited => [Names]}, []),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Unnamed)),
                                         "(300 of hooks:deliver/1) for the address of a host: inet_res asks the name servers 127.0.0.1:53")).

modules_that_are_not_there_are_told_of(_) ->
    Lookups = #{ms => 1000, times => 40, count => 4, again => 10, asking => 30, modules => [{a_hooks, 30}, {'B', 10}],
                in => [{{m, render, 2}, 30}], labels => [{{m, works, 1}, 8}]},
    Server = suspect(#{depth => 0, name => code_server}),
    [#{signs := [#{kind := code_lookups} = Sign]}] = found(#{suspects => [Server], lookups => Lookups}, []),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                                         "is asked about 40 times a second to load 4 modules that are not loaded afterwards: a_hooks (30), 'B' (10); functions of"
                                         " 30 processes that asked: m:render/2 (30); they are of m:works/1")),
    [?assertEqual([], signs(#{suspects => [Server], lookups => None}, [])) || None <- [Lookups#{again := 4}, none, unknown]].

what_is_traced_for_a_moment_is_as_before(_) ->
    Starts = spawn_link(fun() -> starts_timers() end),
    Self = self(),
    _ = spawn_link(fun() -> Self ! {timers, diagnose_probe:timers([Starts])} end),
    Makers = receive {timers, Seen} -> Seen end,
    ?assertMatch(#{traced := 1, most := [#{in := {?MODULE, starts_timers, 0}, times := Times}]} when Times > 0, Makers),
    ?assertEqual({traced, false}, erlang:trace_info({erlang, send_after, 3}, traced)),
    ?assertEqual({flags, []}, erlang:trace_info(Starts, flags)),
    %% Who counts these calls goes on doing so.
    _ = erlang:trace_pattern({erlang, send_after, 3}, true, [call_count]),
    _ = spawn_link(fun() -> Self ! {timers, diagnose_probe:timers([Starts])} end),
    ?assertEqual(unknown, receive {timers, Counted} -> Counted end),
    ?assertMatch({call_count, Count} when is_integer(Count), erlang:trace_info({erlang, send_after, 3}, call_count)),
    _ = erlang:trace_pattern({erlang, send_after, 3}, false, [call_count]),
    Missing = [diagnose_is_not_there, nor_is_this],
    Asks = spawn_link(fun() -> asks_for(Missing) end),
    _ = spawn_link(fun() -> Self ! {modules, diagnose_probe:asked_for_modules(whereis(code_server))} end),
    #{modules := Modules, times := Asked} = receive {modules, Seen2} -> Seen2 end,
    ?assert(Asked > 0), % each look takes long on a long path
    ?assertEqual([], [Module || {Module, _} <- Modules] -- Missing),
    ?assertEqual({match_spec, true}, erlang:trace_info('receive', match_spec)),
    _ = [begin true = unlink(Pid), exit(Pid, kill) end || Pid <- [Starts, Asks]],
    ok.

starts_timers() ->
    _ = erlang:send_after(100, self(), tick),
    timer:sleep(5),
    starts_timers().

asks_for(Modules) ->
    _ = [code:ensure_loaded(Module) || Module <- Modules],
    timer:sleep(5),
    asks_for(Modules).

%% Of one that waits for its next message it is told who came meanwhile, and where those hang that it has answered.
who_came_to_wait_and_who_hangs_is_told(_) ->
    Idle = #{for => answer, pid => ~"<0.9.0>", name => jobs, label => unknown, count => 400, ms => 4000, depth => 0, status => waiting,
             in => [{gen_server, loop, 7}], kinds => [{{m, works, 0}, 400}], at_rest => true, came => 0, watched_ms => 2000, holders => none},
    Sentence = fun(One) ->
                       [#{signs := [#{kind := awaited} = Sign]}] = found(#{awaited => [One]}, []),
                       unicode:characters_to_list(diagnose_wording:sentence(Sign))
               end,
    ?assertEqual(nomatch, string:find(Sentence(Idle), "came to wait")),
    Holders = #{asked => 3, waiting => 3, in => {m, uses, 1}, in_loop => false},
    ?assertNotEqual(nomatch, string:find(Sentence(Idle#{came := 5, holders := Holders}),
                                         "5 new ones came to wait within 2.0 s; 3 others of their kind are idle in m:uses/1 and do not wait for it")),
    %% It may have lent what it has to others of another kind.
    Monitored = #{count => 10, asked => 8, waiting => 7, in => {m, exports, 1}, in_loop => false, asks => []},
    ?assertNotEqual(nomatch, string:find(Sentence(Idle#{monitored => Monitored}),
                                         "; it monitors 10 others, which do not wait for it: 7 of 8 that were asked are idle in m:exports/1")).

%% Whose end it waits for, as long as they are the same.
nodes_that_do_not_stop_are_told_of(_) ->
    One = fun(Pid, Name, In) -> #{pid => Pid, name => Name, in => In, for => stop, label => unknown} end,
    Asks = [One(~"<0.7.0>", '', {application_master, loop_it, 4}), One(~"<0.8.0>", shop_sup, {supervisor, shutdown, 2}),
            One(~"<0.9.0>", drainer, {m, drains, 0})],
    Found = fun(Stopping) -> found(#{stopping => Stopping}, []) end,
    [#{subject := node, signs := [#{kind := stopping_node} = Sign]}] = Found(#{ms => 3800, application => shop, asks => Asks}),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                                         "is stopping, and has waited for 3.8 s and more for the end of the application shop; this waits for"
                                         " the end of <0.8.0> (shop_sup), which is in supervisor:shutdown/2, which waits for the end of"
                                         " <0.9.0> (drainer), which is in m:drains/0")),
    [?assertEqual([], Found(Stopping)) || Stopping <- [none, unknown, #{ms => 1000, application => shop, asks => Asks}]],
    ?assertEqual(none, diagnose_probe:stopping(erlang:monotonic_time(millisecond))).

%% A server that has forgotten to reply has nobody to whom it has lent anything. Its clients may rest in their own loops.
what_is_lent_is_known_where_somebody_has_it(_) ->
    Idle = #{for => answer, pid => ~"<0.9.0>", name => jobs, label => unknown, count => 400, ms => 4000, depth => 0, status => waiting,
             in => [{gen_server, loop, 7}], kinds => [{{m, works, 0}, 400}], at_rest => true, came => 0, watched_ms => 2000,
             holders => none},
    Seen = #{asked => 3, waiting => 3, in => {m, uses, 1}, in_loop => false},
    Is = fun(One, Words) ->
                 [#{signs := [#{kind := awaited, advice := Advice}]}] = found(#{awaited => [One]}, []),
                 string:find(Advice, Words) =/= nomatch
         end,
    [?assertEqual(Expected, {Is(One, "Its resources are used up"), Is(One, "its resources are used up"), Is(One, "gen_server:reply/2")})
     || {Expected, One} <- [{{false, false, true}, Idle}, {{false, true, true}, Idle#{holders := Seen}},
                            {{false, false, true}, Idle#{holders := Seen#{in_loop := true}}},
                            {{true, false, false}, Idle#{monitored => Seen#{count => 3, asks => []}}},
                            {{false, false, true}, Idle#{monitored => Seen#{in_loop := true, count => 3, asks => []}}}]],
    ?assertEqual({true, false}, {Is(Idle#{in := [{gen_statem, loop_receive, 3}]}, "gen_statem:reply/2"),
                                 Is(Idle#{in := [{gen_statem, call, 2}, {gen_server, loop, 7}]}, "gen_statem:reply/2")}).

%% Who is served and asks again does not wait all the time, and a limiter that lets all through in turn holds up nobody.
who_is_served_in_turn_does_not_wait(_) ->
    Idle = #{for => answer, pid => ~"<0.9.0>", name => limiter, label => unknown, count => 200, ms => 4000, depth => 0, status => waiting,
             in => [{gen_server, loop, 7}], kinds => [{{m, works, 0}, 200}], at_rest => true, came => 0, watched_ms => 2000,
             holders => none},
    Turns = fun(Moved, Back) -> Idle#{turns => #{asked => 100, moved => Moved, back => Back}} end,
    ?assertMatch([{awaited, #{processes := 200, moved := unknown}}], signs(#{awaited => [Turns(0, 0)]}, [])),
    ?assertMatch([{awaited, #{processes := 120}}], signs(#{awaited => [Turns(20, 0)]}, [])),
    ?assertEqual([], signs(#{awaited => [Turns(26, 0)]}, [])),
    ?assertEqual([[], [awaited]], [[Kind || {Kind, _} <- signs(#{awaited => [Turns(Moved, 1)]}, [])] || Moved <- [10, 9]]),
    [#{signs := [#{advice := Advice} = Sign]}] = found(#{awaited => [Turns(9, 1)]}, []),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                                         "; of 100 that were watched 9 were answered or gave up within 2.0 s")),
    ?assertEqual(nomatch, string:find(Advice, "or never")).

%% Nor is it in one place all the time: it takes more than to be looked at.
who_is_served_in_turn_does_not_stay(_) ->
    Limiter = spawn_link(fun() -> permits(queue:new()) end),
    Pids = [spawn_link(?MODULE, takes, [Limiter, What]) || What <- [take, forgotten], _ <- lists:seq(1, 12)],
    _ = [Limiter ! give || _ <- [1, 2]],
    timer:sleep(100),
    #{most := Most} = diagnose_probe:places(erlang:monotonic_time(millisecond) + 1500),
    _ = [begin unlink(Pid), exit(Pid, kill) end || Pid <- [Limiter | Pids]],
    ?assertMatch([Stay] when Stay >= 12 andalso Stay =< 14,
                 [Stay || #{label := {?MODULE, takes, 2}, count := All, stay := Stay} <- Most, All > 14]).

%% One permit, which four take in turn, and one who never gets an answer.
turns_of_callers_are_seen(_) ->
    Limiter = spawn_link(fun() -> permits(queue:new()) end),
    Pids = [spawn_link(?MODULE, takes, [Limiter, What]) || What <- [take, take, take, take, forgotten]],
    Limiter ! give,
    timer:sleep(100),
    Kinds = [{{?MODULE, takes, 2}, 5}],
    #{turns := #{asked := Asked, moved := Moved, back := Back}} =
        diagnose_probe:answered_meanwhile(Limiter, #{kinds => Kinds}, erlang:monotonic_time(millisecond) + 1000),
    _ = [begin unlink(Pid), exit(Pid, kill) end || Pid <- [Limiter | Pids]],
    ?assertMatch({N, M} when M =:= N - 1 andalso N >= 4, {Asked, Moved}),
    ?assert(Back =< 1).

takes(Limiter, What) ->
    {ok, ok} = gen:call(Limiter, '$gen_call', What, infinity),
    timer:sleep(10),
    Limiter ! give,
    takes(Limiter, What).

permits(Waiting) ->
    receive
        {'$gen_call', From, take} -> permits(queue:in(From, Waiting));
        {'$gen_call', _, forgotten} -> permits(Waiting);
        give ->
            case queue:out(Waiting) of
                {{value, From}, Others} -> gen:reply(From, ok), permits(Others);
                {empty, _} -> self() ! give, timer:sleep(10), permits(Waiting)
            end
    end.

%% Leaders keep their locks, and others wait to take over. Only where somebody waits for these in turn does that hurt.
who_waits_to_take_over_is_left_alone(_) ->
    Locks = #{for => lock, pid => ~"<0.9.0>", name => global_name_server, label => unknown, count => 28, ms => 4000, depth => 0,
              status => waiting, in => [], kinds => [{{m, leads, 1}, 28}]},
    Standby = fun(Some) -> Locks#{standby => maps:merge(#{locks => 8, waiting => 24, needed => 0}, Some)} end,
    ?assertEqual([], signs(#{awaited => [Standby(#{})]}, [])),
    [?assertMatch([{awaited, #{for := lock, processes := 24}}], signs(#{awaited => [Standby(Hurts)]}, []))
     || Hurts <- [#{needed => 1}, #{locks => 2}, #{locks => 0}]],
    [#{signs := [#{advice := Global}]}] = found(#{awaited => [Locks]}, []),
    [#{signs := [#{advice := Mnesia}]}] = found(#{awaited => [Locks#{name := mnesia_locker}]}, []),
    ?assertEqual([{true, false}, {false, true}],
                 [{string:find(Advice, "take over") =/= nomatch, string:find(Advice, "lock rows") =/= nomatch}
                  || Advice <- [Global, Mnesia]]),
    %% Nobody holds it for long, and each sleeps before it tries again.
    Tries = #{asked => 30, moved => 10, ms => 2000, looks => 40, free => 36},
    Polls = fun(Some) -> found(#{awaited => [Standby(#{locks => 0, needed => 1, tries => maps:merge(Tries, Some)})]}, []) end,
    [#{signs := [#{evidence := #{processes := 11, 'of' := [#{count := 11}]}, advice := Process} = Free]}] = Polls(#{}),
    ?assertMatch({match, _}, re:run(said(Free), "of 30 that were watched 10 got one or gave up within 2.0 s; at 36 of 40 looks no lock was still held since")),
    ?assertEqual([true, false], [has(Words, Process) || Words <- ["process for each", "what the process that holds"]]),
    %% All get it in turn.
    ?assertEqual([], Polls(#{moved => 25})),
    ?assertEqual([], Polls(#{free => 2, moved => 15})),
    [#{signs := [#{evidence := #{processes := 19}, advice := Held}]}] = Polls(#{free => 2, moved => 3}),
    ?assert(has("what the process that holds", Held)),
    %% Each has it for a quarter of a second, so the one that has it now is not what the others wait for.
    [#{signs := [#{evidence := #{processes := 19, holds := []}, advice := Round}]}] = Polls(#{free => 8, moved => 3}),
    ?assert(has("no holder is the cause", Round)),
    ?assertEqual([], Polls(#{free => 8, moved => 15})).

%% Who gives a lock back and takes it again at once has not kept it; and those that sleep meanwhile have called nobody.
lock_that_is_taken_again_is_given_back(_) ->
    Takes = fun Takes() -> global:trans({?FUNCTION_NAME, self()}, fun() -> timer:sleep(2) end, [node()]), Takes() end,
    Pids = [spawn_link(Takes) || _ <- lists:seq(1, 8)],
    timer:sleep(500),
    #{most := Most} = diagnose_probe:unanswered(now_ms() + 100),
    #{standby := #{locks := Locks, tries := #{looks := Looks, free := Free}}} = diagnose_probe:standby(now_ms() + 1000),
    _ = [begin unlink(Pid), exit(Pid, kill) end || Pid <- Pids],
    ?assertEqual({[], 0, true}, {[One || #{called := ~"global_name_server"} = One <- Most], Locks, 4 * Free >= 3 * Looks}).

who_tries_to_get_a_global_lock_is_counted(_) ->
    Lock = fun() -> true = global:set_lock({?MODULE, self()}, [node()]), receive stop -> ok end end,
    Leader = spawn_link(Lock),
    timer:sleep(100),
    Others = [First | _] = [spawn_link(Lock) || _ <- [1, 2]],
    Seen = fun See(Expected) ->
                   #{standby := #{tries := #{asked := _, moved := 0, free := 0}} = Standby} =
                       diagnose_probe:standby(erlang:monotonic_time(millisecond) + 300),
                   maps:remove(tries, Standby) =:= Expected orelse See(Expected) % each tries now and then
           end,
    ?assert(Seen(#{locks => 1, waiting => 2, needed => 0})),
    First ! request,
    ?assert(Seen(#{locks => 1, waiting => 2, needed => 1})),
    _ = [begin unlink(Pid), exit(Pid, kill) end || Pid <- [Leader | Others]],
    ok.

%% The code server monitors who runs such a function for it.
on_load_that_waits_is_told_of(_) ->
    Asks = [#{pid => ~"<0.8.0>", name => keyring, in => {code_server, call, 1}, for => answer, label => unknown},
            #{pid => ~"<0.50.0>", name => code_server, in => {code_server, loop, 1}, for => answer, label => unknown}],
    Server = #{for => answer, pid => ~"<0.50.0>", name => code_server, label => unknown, count => 120, ms => 4000, depth => 0,
               status => waiting, in => [{code_server, loop, 1}], kinds => [{{m, works, 0}, 120}], at_rest => true, came => 0,
               watched_ms => 2000, holders => none,
               monitored => #{count => 1, asked => 1, waiting => 1, in => {codec, init, 0}, in_loop => false, asks => Asks}},
    [#{signs := [#{advice := Advice} = Sign]}] = found(#{awaited => [Server]}, []),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                                         "whose on_load function does not return, in codec:init/0; that function waits for the answer of"
                                         " <0.8.0> (keyring) in code_server:call/1, which waits for that of <0.50.0> (code_server)")),
    ?assertEqual([true, false], [string:find(Advice, Words) =/= nomatch || Words <- ["never returns", "used up"]]),
    Waits = Server#{monitored => #{count => 1, asked => 1, waiting => 1, in => {codec, init, 0}, in_loop => false, asks => []}},
    [#{signs := [#{advice := Other}]}] = found(#{awaited => [Waits]}, []),
    ?assertEqual(nomatch, string:find(Other, "never returns")).

%% Whoever has a connection waits for a server that waits for a connection.
what_is_lent_in_a_circle_is_told_of(_) ->
    Loop = {gen_server, loop, 7},
    Asks = [#{pid => ~"<0.8.0>", name => numbers, in => {gen, do_call, 4}, for => answer, label => unknown},
            #{pid => ~"<0.50.0>", name => pool, in => Loop, for => answer, label => unknown}],
    Pool = #{for => answer, pid => ~"<0.50.0>", name => pool, label => unknown, count => 120, ms => 4000, depth => 0,
             status => waiting, in => [Loop], kinds => [{{m, works, 0}, 120}], at_rest => true, came => 0,
             watched_ms => 2000, holders => none,
             monitored => #{count => 10, asked => 8, waiting => 8, in => {m, works, 0}, in_loop => false, asks => Asks}},
    Advice = fun(One) -> [#{signs := [#{advice := Says}]}] = found(#{awaited => [One]}, []), Says end,
    ?assertEqual([true, true, false], [has(Words, Advice(Pool)) || Words <- ["deadlock", "waits for <0.8.0> (numbers)", "used up"]]),
    #{monitored := Monitored} = Pool,
    [?assertEqual([false, true], [has(Words, Advice(Pool#{monitored := Other})) || Words <- ["deadlock", "used up"]])
     || Other <- [Monitored#{waiting := 3}, Monitored#{asks := [hd(Asks)]}, Monitored#{asks := []}]],
    %% The server in the middle has nothing else to tell.
    Middle = suspect(#{pid => ~"<0.8.0>", depth => 8, usual_depth => 8, least_depth => 8, stays => true, idle => true,
                       waiting => [{~"call of next", 8}],
                       asks => tl(Asks) ++ [#{pid => ~"<0.7.0>", name => '', in => {m, works, 0}, for => lent, label => {m, works, 0}},
                                            hd(Asks)],
                       samples => [{waiting, [{gen, do_call, 4}, {m, handle_call, 3}, {gen_server, loop, 7}], 60}]}),
    [Deep] = [Sign || #{signs := Signs} <- found(#{suspects => [Middle]}, []), #{kind := deep_mailbox} = Sign <- Signs],
    ?assertEqual([true, true, true],
                 [has("deadlock", advised(Deep)),
                  has("which waits for what it has lent to <0.7.0> (m:works/0), which is in m:works/0", said(Deep)),
                  has("which waits for the answer of <0.8.0> (numbers)", said(Deep))]).

%% Those that a server monitors have what it has lent, if all of them wait for the one that waits for it.
what_is_lent_in_a_circle_is_seen(_) ->
    Idle = fun Rests() -> receive _ -> Rests() end end,
    Asks = fun(Whom) -> gen:call(Whom, call, asked, infinity) end,
    Numbers = spawn(fun() -> receive Lender when is_pid(Lender) -> Asks(Lender) end end),
    [Has, Other] = [spawn(fun() -> Asks(Numbers) end), spawn(Idle)],
    Lends = fun() -> receive {to, All} -> _ = [monitor(process, One) || One <- All], Idle() end end,
    Pool = spawn(Lends),
    Numbers ! Pool,
    Pool ! {to, [Has, Numbers]},
    Seen = fun() -> diagnose_probe:asks(Numbers, #{status => waiting, message_queue_len => 1}) end,
    [OfPool, OfHas, Own] = [list_to_binary(pid_to_list(Pid)) || Pid <- [Pool, Has, Numbers]],
    timer:sleep(50),
    ?assertMatch([#{pid := OfPool, for := answer}, #{pid := OfHas, for := lent}, #{pid := Own, for := answer}], Seen()),
    %% One that has something of it, and does not wait for that, gives it back.
    Partly = spawn(Lends),
    Partly ! {to, [Other, Has]},
    Middle = spawn(fun() -> Asks(Partly) end),
    Calls = fun() -> diagnose_probe:asks(Middle, #{status => waiting, message_queue_len => 1}) end,
    timer:sleep(50),
    ?assertMatch([#{for := answer}], Calls()),
    _ = [exit(Pid, kill) || Pid <- [Has, Other, Pool, Numbers, Partly, Middle]],
    ok.

%% A pool monitors who has borrowed from it, and who waits for it. Its members are linked to it.
who_is_monitored_beside_the_callers_is_asked(_) ->
    Idle = fun() -> receive stop -> ok end end,
    [Caller, Borrower, Member] = All = [spawn(Idle) || _ <- [1, 2, 3]],
    Pool = spawn(fun() ->
                         _ = [monitor(process, One) || One <- All],
                         link(Member),
                         Idle()
                 end),
    timer:sleep(50),
    ?assertMatch({1, [{Borrower, _}]}, diagnose_probe:monitored_beside(Pool, [Caller])),
    _ = [exit(One, kill) || One <- [Pool | All]],
    timer:sleep(50),
    ?assertEqual({0, []}, diagnose_probe:monitored_beside(Pool, [])).

who_waits_for_its_next_message_is_at_rest(_) ->
    Is = fun(Fun) ->
                 Pid = spawn_link(Fun),
                 timer:sleep(50),
                 Result = diagnose_probe:is_at_rest(Pid, 1),
                 true = unlink(Pid),
                 exit(Pid, kill),
                 Result
         end,
    ?assert(Is(fun loops/0)),
    ?assert(Is(fun() -> proc_lib:hibernate(?MODULE, loops, []) end)),
    Silent = spawn_link(fun loops/0),
    [?assertNot(Is(Fun)) || Fun <- [fun loops_below/0, fun() -> timer:sleep(infinity) end, fun() -> self() ! left, loops() end,
                                    fun() -> gen_server:call(Silent, question, infinity) end]],
    Silent ! stop,
    ?assert(diagnose_probe:is_at_rest(whereis(kernel_sup), 5)),
    {ok, Server} = gen_event:start(),
    ?assert(diagnose_probe:is_at_rest(Server, 5)),
    ok = sys:suspend(Server),
    ?assertNot(diagnose_probe:is_at_rest(Server, 1)),
    ok = sys:resume(Server),
    ok = gen_event:stop(Server).

loops() ->
    receive
        never -> loops();
        stop -> stopped
    end.

loops_below() -> {loops(), below}.

%% Senders that have a credit keep a mailbox at its size, and each message is taken soon.
messages_that_do_not_wait_long_are_none_too_many(_) ->
    Behind = suspect(#{usual_depth => 90, least_depth => 60, samples => [{running, [{m, f, 0}], 30}]}),
    ?assertMatch([{deep_mailbox, #{messages := 90}}], findings(Behind, [])),
    ?assertEqual([], findings(Behind#{stays := false}, [])),
    Passes = fun Passes() -> receive {_, From} -> From ! {make_ref(), self()}, Passes() end end,
    [Kept, Passing] = [spawn(fun() -> receive after infinity -> ok end end), spawn(Passes)],
    Other = spawn(Passes),
    _ = [Pid ! {make_ref(), Other} || Pid <- [Kept, Passing], _ <- lists:seq(1, 60)],
    ?assertEqual([true, false], [diagnose_probe:stays(Pid, 0) || Pid <- [Kept, Passing]]),
    _ = [exit(Pid, kill) || Pid <- [Kept, Passing, Other]].

%% The youngest message of a server may be the answer to its own call, which it takes at once.
own_answers_are_no_waiting_messages(_) ->
    Server = spawn(fun() -> receive go -> receive answer -> receive never -> ok end end end end),
    _ = [Server ! {call, N} || N <- lists:seq(1, 20)],
    Server ! answer,
    _ = erlang:send_after(30, Server, go),
    Stays = diagnose_probe:stays(Server, 0),
    ?assertEqual({message_queue_len, 20}, process_info(Server, message_queue_len)),
    exit(Server, kill),
    ?assert(Stays).

%% OTP 25 tells nothing of what a server with a larger heap began as: calls are taken only by one.
deep_callbacks_of_an_unknown_server_are_seen(_) ->
    Deep = [{gen, do_call, 4}, {gen_server, call, 3} | [{m, f, N} || N <- lists:seq(1, 6)]],
    Suspect = suspect(#{usual_depth => 40, least_depth => 39, label => unknown, waiting => [{<<"call of reload">>, 39}],
                        samples => [{running, Deep, 20}, {waiting, Deep, 10}]}),
    ?assertMatch([{deep_mailbox, #{messages := 40}}], findings(Suspect, [])),
    ?assertEqual([], findings(Suspect#{waiting := [{<<"{tick, _}">>, 39}]}, [])).

%% It collects in full, and has no more garbage than came since.
what_was_swept_is_alive(_) ->
    [Swept, Unswept] = [spawn(fun() -> holds(IsSwept) end) || IsSwept <- [true, false]],
    Info = fun(Pid) ->
                   Pid ! {self(), are_you_done},
                   receive {Pid, done} -> maps:from_list(element(2, process_info(Pid, garbage_collection_info))) end
           end,
    [?assertEqual(IsSwept, diagnose_probe:is_swept(8 * (Used + Stack + Old), 8 * OldBlock, 8 * Recent))
     || {Pid, IsSwept} <- [{Swept, true}, {Unswept, false}],
        #{heap_size := Used, stack_size := Stack, old_heap_size := Old, old_heap_block_size := OldBlock, recent_size := Recent}
            <- [Info(Pid)]],
    _ = [exit(Pid, kill) || Pid <- [Swept, Unswept]].

holds(IsSwept) ->
    List = [{N} || N <- lists:seq(1, 100_000)],
    _ = IsSwept andalso erlang:garbage_collect(),
    receive {From, are_you_done} -> From ! {self(), done} end,
    receive {done, _} -> length(List) end.

%% Which functions wait for one answer; a server that waits for work monitors its clients, too.
whom_a_process_waits_for_is_told_by_its_function(_) ->
    Other = erlang:binary_to_term(<<131, 88, 119, 3, "b@c", 0:32, 1:32, 1:32>>), % a process of another node
    ?assertEqual([{answer, self()}], diagnose_probe:waits_for({gen, do_call, 4}, [self()])),
    ?assertEqual([{far, b@c, prices}, {far, b@c, Other}], diagnose_probe:waits_for({gen, do_call, 4}, [{prices, b@c}, Other])),
    %% One of this node that is monitored by its name.
    ?assertEqual([{answer, whereis(global_name_server)}],
                 diagnose_probe:waits_for({gen, do_call, 4}, [{global_name_server, node()}, {nobody_here, node()}])),
    ?assertEqual([{answer, self()}], diagnose_probe:waits_for({'Elixir.DBConnection.Holder', checkout_call, 5}, [self()])),
    ?assertEqual([{far, b@c, erpc}], diagnose_probe:waits_for({erpc, call, 5}, [Other])),
    ?assertEqual([], diagnose_probe:waits_for({erpc, call, 5}, [self()])),
    ?assertEqual([{lock, whereis(global_name_server)}], diagnose_probe:waits_for({global, random_sleep, 1}, [])),
    ?assertEqual([], diagnose_probe:waits_for({gen_server, loop, 7}, [self()])),
    %% Each has a process or a socket of its own: what they have in common is the function.
    Frames = fun(Stack) -> [{M, F, A, []} || {M, F, A} <- Stack] end,
    ?assertEqual([{host, {httpc, handle_answer, 3}}],
                 diagnose_probe:called_in(Frames([{httpc, handle_answer, 3}, {httpc, handle_request, 9}, {job, run, 1}]), [])),
    %% Who connects waits for the resolver first.
    ?assertNotMatch([{host, _}], diagnose_probe:called_in(Frames([{inet_gethost_native, getit, 2}, {inet, gethostbyname_tm_native, 4},
                                                                  {gen_tcp, connect, 4}]), [])),
    ?assertEqual([{host, {ssl, connect, 4}}], diagnose_probe:called_in(Frames([{gen, do_call, 4}, {ssl, connect, 4}]), [self()])),
    %% A client and a server both wait for the handshake.
    Handshake = [{gen, do_call, 4}, {gen_statem, call, 3}, {ssl_gen_statem, call, 2}, {ssl_gen_statem, handshake, 2}],
    ?assertEqual([{host, {ssl, connect, 4}}], diagnose_probe:called_in(Frames(Handshake ++ [{ssl, connect, 4}]), [self()])),
    ?assertEqual([{host, {ssl_gen_statem, handshake, 2}}], diagnose_probe:called_in(Frames(Handshake ++ [{job, run, 1}]), [self()])),
    AdviceOf = fun(Function) ->
                       [#{signs := [#{advice := Says}]}]
                           = found(#{awaited => [#{host => Function, count => 400, ms => 4000, kinds => [{{job, run, 1}, 400}]}]}, []),
                       [string:find(Says, Word) =/= nomatch || Word <- ["ssl:handshake/2", "Check the hosts"]]
               end,
    ?assertEqual([[true, false], [false, true]], [AdviceOf(Function) || Function <- [{ssl_gen_statem, handshake, 2}, {ssl, connect, 4}]]),
    Awaited = #{host => {httpc, handle_answer, 3}, count => 400, ms => 4000, kinds => [{{job, run, 1}, 400}]},
    [#{subject := node, signs := [#{kind := awaited} = Sign]}] = found(#{awaited => [Awaited]}, []),
    ?assertEqual("about 400 processes have waited for 4.0 s and more (400 of job:run/1) for another host, in httpc:handle_answer/3",
                 said(Sign)).

memory_that_is_nowhere_else_is_told_of(_) ->
    Memory = #{total => 300_000_000, binary => 0},
    Elsewhere = #{native => 50_000_000, nifs => [], terms => 40_000_000, count => 90, keys => []},
    Signs = fun(More) -> signs(#{memory => Memory, elsewhere => maps:merge(Elsewhere, More)}, []) end,
    ?assertEqual([], Signs(#{})),
    ?assertEqual([], Signs(#{native => unknown})),
    ?assertEqual([], Signs(#{native => 250_000_000, terms => 140_000_000})),
    ?assertMatch([{native_memory, #{bytes := 400_000_000, modules := [~"images"]}}], Signs(#{native => 400_000_000, nifs => [images]})),
    ?assertMatch([{large_persistent_terms, #{bytes := 200_000_000, keys := [#{shape := ~"{rules, _}", count := 80}]}}],
                 Signs(#{terms => 200_000_000, keys => [{~"{rules, _}", 80}]})),
    %% Large blocks that were just given up are not unused by the next look.
    ?assertMatch(#{native := 7}, diagnose_probe:elsewhere(7, 400_000_000)),
    ?assertMatch(#{native := unknown}, diagnose_probe:elsewhere(unknown, 7)).

suspended_is_not_scanning(_) ->
    ?assertEqual([], scans(false, [{suspended, [{m, f, 0}], 10}])),
    Suspect = suspect(#{samples => [{suspended, [{m, f, 0}], 10}], status => suspended}),
    ?assertMatch([{suspended, #{times := 10, in := ~"m:f/0", waits := [#{to := ~"b@c"}]}}],
                 signs(#{suspects => [Suspect],
                         ports => #{skipped => 0, names => [], owners => [],
                                    waiting => [#{port => ~"#Port<0.1>", to => ~"b@c", bytes => 9}]}}, [])),
    %% Output that nobody reads is named, if nothing else is full.
    [#{signs := [#{advice := Advice}]}] =
        found(#{suspects => [Suspect], ports => #{skipped => 0, names => [], owners => [],
                                                  waiting => [#{port => ~"#Port<0.1>", to => ~"standard output", bytes => 9}]}}, []),
    ?assertMatch({_, _}, binary:match(Advice, ~"somebody reads the node's standard output")),
    %% Who puts a persistent term anew waits in the same way, and for no port.
    Nothing = #{skipped => 0, names => [], owners => [], waiting => []},
    ?assertMatch([{suspended, _}], signs(#{suspects => [Suspect], ports => Nothing}, [])),
    Put = #{looks => 10, count => 1, terms => [#{term => key, times => 9}]},
    ?assertMatch([{persistent_term_churn, _}], signs(#{suspects => [Suspect], ports => Nothing, terms => Put}, [])).

contents_are_not_told(_) ->
    [?assertEqual(Shape, diagnose_probe:shape(Message))
     || {Shape, Message} <- [{~"{login, _, _}", {login, "joe", "secret"}},
                             {~"call of {put, _}", {'$gen_call', {self(), make_ref()}, {put, secret}}},
                             {~"binary", ~"secret"},
                             {~"{reference, _}", {make_ref(), secret}},
                             {~"{tuple, _}", {{secret}, 1}},
                             {~"tick", tick},
                             {~"{log, ... (7)}", {log, 1, 2, 3, 4, 5, 6}},
                             {~"cast of list", {'$gen_cast', "secret"}}]].

heap_that_was_asked_for_is_not_idle(_) ->
    Idle = suspect(#{depth => 0, idle => true, heap_bytes => 15_000_000, used_bytes => 1000, old_bytes => 0}),
    ?assertMatch([{idle_heap, _}], findings(Idle, [])),
    ?assertEqual([], findings(Idle#{min_heap_bytes => 15_000_000}, [])),
    [?assertEqual([], findings(Idle#{label => {Own, start, 0}}, [])) || Own <- [erts_code_purger, erts_literal_area_collector]],
    [?assertEqual([], findings(Idle#{name => Own}, [])) || Own <- [code_server, application_controller]],
    ?assertEqual([], findings(Idle#{min_heap_bytes => unknown}, [])).

%% The operating system gave them a core; of that, next to nothing was work.
schedulers_that_wait_awake(_) ->
    All = fun(Cores, Waiting, Working) -> #{share => 0.0, busy => Waiting + Working, waiting => Waiting, cores => Cores,
                                            threads => 4, window_ms => 2000} end,
    Seen = fun(Cores, Waiting, Working) -> signs(#{collections => All(Cores, Waiting, Working)}, []) end,
    ?assertMatch([{busy_wait, #{cores := 0.9}}], Seen(0.9, 0.2, 0.01)),
    %% Native work on the threads for it may count as sleep.
    Found = fun(OfSchedulers) -> signs(#{collections => (All(2.0, 0.3, 0.01))#{scheduler_cores => OfSchedulers}}, []) end,
    ?assertMatch([{busy_wait, _}], Found(0.8)),
    ?assertEqual([], Found(0.1)),
    ?assertEqual([], Seen(0.9, 0.2, 0.03)),
    ?assertEqual([], Seen(0.4, 0.2, 0.01)),
    ?assertEqual([], Seen(0.9, 0.1, 0.0)).

carriers_that_are_empty_for_a_moment(_) ->
    [Full, Empty] = [[#{allocator => binary_alloc, carrier_bytes => 100, block_bytes => Bytes}] || Bytes <- [90, 10]],
    ?assertEqual([Full, Full, Empty],
                 [diagnose_probe:at_both(Before, After) || {Before, After} <- [{Full, Empty}, {Empty, Full}, {Empty, Empty}]]).

%% In a heap that has room, as in the look.
walks_are_timed_in_lists_of_that_layout(_) ->
    [begin
         {Pid, Monitor} = spawn_opt(?MODULE, layouts, [Bytes], [monitor, {min_heap_size, 500_000}]),
         receive {'DOWN', Monitor, process, Pid, Layouts} -> ?assertEqual({float(Bytes), 16.0}, Layouts) end
     end || Bytes <- [32, 48, 128, 400]].

layouts(Bytes) ->
    {Spread, Dense} = diagnose_probe:two_layouts(Bytes),
    [#{mean := SpreadBytes}, #{mean := DenseBytes}] = [cons_spacing:measure(List) || List <- [Spread, Dense]],
    exit({abs(SpreadBytes), abs(DenseBytes)}).

%% One of 80 ms of a small heap, which the machine had interrupted, says nothing; messages are gone over, too.
pause_of_a_small_heap_is_not_long(_) ->
    Kinds = fun(Long, Longest, Depth) ->
                    Pauses = #{minor => 3, full => 0, long => Long, longest_us => Longest, total_us => Longest, window_ms => 2000,
                               why => [], settings => #{}},
                    Found = findings(suspect(#{depth => Depth, usual_depth => Depth, pauses => Pauses}), []),
                    [Kind || {long_collection = Kind, _} <- Found]
            end,
    ?assertEqual([], Kinds(0, 80_000, 0)),
    ?assertEqual([], Kinds(1, 30_000, 0)),
    ?assertEqual([long_collection], Kinds(1, 80_000, 0)),
    ?assertEqual([long_collection], Kinds(2, 30_000, 0)),
    ?assertEqual([long_collection], Kinds(0, 80_000, 5000)).

%% No setting of the process makes those shorter that somebody asks for.
collections_that_are_asked_for_are_said_to_be(_) ->
    Says = fun(AskedUs) ->
                   Why = [#{kind => full, reason => Reason, count => 11, us => Us} || {Reason, Us} <- [{asked, AskedUs}, {heap, 9000}]],
                   Pauses = #{minor => 0, full => 22, long => 20, longest_us => 50_000, total_us => AskedUs + 9000, window_ms => 4000,
                              why => Why, settings => #{}},
                   diagnose_heaps:of_process(suspect(#{pauses => Pauses}), #{cpu => unknown, memory => #{total => 1}})
           end,
    [true, false] = [string:find(Advice, "asked for") =/= nomatch || Us <- [900_000, 4000], #{kind := long_collection, advice := Advice} <- Says(Us)].

%% As of a server that crashes with a large state.
who_formats_a_large_term_is_told_so(_) ->
    Pauses = #{minor => 0, full => 22, long => 20, longest_us => 50_000, total_us => 90_000, window_ms => 4000, why => [], settings => #{}},
    Formats = fun(Times) ->
                      Samples = [{running, [{erl_error, count_nl, 1}, {proc_lib, crash_report, 4}], Times}, {running, [{shop, work, 1}], 10}],
                      [#{kind := long_collection, advice := Advice}]
                          = diagnose_heaps:of_process(suspect(#{pauses => Pauses, samples => Samples}),
                                                      #{cpu => unknown, memory => #{total => 1}}),
                      string:find(Advice, "format_status/1") =/= nomatch
              end,
    ?assertEqual([true, false], [Formats(12), Formats(8)]).

%% One that works until its heap is full, and waits for a dirty scheduler to collect it, has what it made since; hibernation leaves
%% nothing but what lives.
full_heap_is_not_hibernation(_) ->
    Full = #{heap => 6_664_208, used => 6_664_168, old => 0, recent => 4_384_280},
    ?assertEqual([false, true, false],
                 [diagnose_probe:is_packed(One) || One <- [Full, Full#{recent := 6_664_000}, Full#{recent := 6_664_000, old := 8}]]),
    Pid = spawn(fun() -> List = [{N} || N <- lists:seq(1, 100_000)], proc_lib:hibernate(erlang, length, [List]) end),
    ?assert(diagnose_probe:is_packed(hibernated(Pid))),
    exit(Pid, kill).

%% At the last look it may work.
one_that_hibernates_is_known_by_its_looks(_) ->
    Works = {running, [{m, f, 1}, {proc_lib, wake_up, 3}]},
    Waits = {waiting, [{gen_server, loop, 7}]},
    Hibernates = {waiting, []},
    Wakes = {running, [{gen_server, wake_hib, 6}, {proc_lib, wake_up, 3}]},
    [?assert(diagnose_probe:mostly_hibernates(Looks)) || Looks <- [[Works, Hibernates, Wakes], [Waits, Hibernates, Hibernates]]],
    [?assertNot(diagnose_probe:mostly_hibernates(Looks))
     || Looks <- [[], [Works, Hibernates], [Works, Works, Works], [Waits, Waits, Waits, Hibernates, Wakes]]],
    Pid = spawn(fun() -> proc_lib:hibernate(erlang, length, [[]]) end),
    _ = hibernated(Pid),
    ?assertEqual({current_stacktrace, []}, process_info(Pid, current_stacktrace)),
    exit(Pid, kill).

hibernated(Pid) ->
    case process_info(Pid, [status, current_function, garbage_collection_info]) of
        [{_, waiting}, {_, {erlang, hibernate, 3}}, {_, Info}] -> diagnose_probe:sizes(Info);
        _ -> timer:sleep(10), hibernated(Pid)
    end.

%% What came before it may have taken longer than half of the time.
look_at_all_has_half_of_what_is_left(_) ->
    ?assertEqual([5000, 9000, 12_000], [diagnose_probe:halfway(Now, 10_000) || Now <- [0, 8000, 12_000]]).

kinds_that_wait_are_of_any_size(_) ->
    Row = #{pid => self(), depth => 0, status => waiting, reductions => 1, at => 0, heap => 2600, used => 900, held => 0, packed => false},
    One = diagnose_probe:group(Row),
    Groups = #{{{{m, f, 1}, 2000}, any} => One#{count := 270}, {{{m, f, 1}, 8000}, any} => One#{count := 30},
               {{{m, g, 1}, 2000}, any} => One#{count := 7}},
    ?assertEqual([7, 300], lists:sort([Count || #{count := Count} <- diagnose_probe:calling(Groups)])).

%% In a process that does nothing else.
monitors_are_measured(_) ->
    Self = self(),
    {_, Monitor} = spawn_monitor(fun() ->
                                         Each = diagnose_probe:link_bytes(Self),
                                         [{_, Before}, {_, Words}] = process_info(self(), [memory, total_heap_size]),
                                         _ = [monitor(process, Self) || _ <- lists:seq(1, 10_000)],
                                         [{_, After}, {_, More}] = process_info(self(), [memory, total_heap_size]),
                                         exit({measured, Each, After - Before - erlang:system_info(wordsize) * (More - Words)})
                                 end),
    receive {'DOWN', Monitor, process, _, {measured, Each, Bytes}} -> ?assertEqual(Each, round(Bytes / 10_000)) end.

%% The first that asks never comes to an answer.
who_has_many_is_asked_again(_) ->
    Asked = atomics:new(1, []),
    Ask = fun(_) ->
                  case atomics:add_get(Asked, 1, 1) of
                      1 -> receive never -> 0 end;
                      _ -> 720_000
                  end
          end,
    Self = self(),
    {_, Monitor} = spawn_monitor(fun() ->
                                         process_flag(trap_exit, true),
                                         Now = erlang:monotonic_time(millisecond),
                                         exit({found, diagnose_probe:extra([Self], Ask, Now + 100, Now + 120_000)})
                                 end),
    receive {'DOWN', Monitor, process, _, {found, Found}} -> ?assertEqual([{720_000, Self}], Found) end.

one_table_for_each_process_is_not_too_many(_) ->
    Found = fun(Processes, Growth) ->
                    Counts = [{100 * N, (counts(Processes))#{tables => {15_000 + Growth * N, 8192}}} || N <- lists:seq(1, 40)],
                    [Kind || {many_ets_tables = Kind, _} <- signs(#{counts => Counts}, [])]
            end,
    ?assertEqual({[many_ets_tables], [], [many_ets_tables]}, {Found(60, 0), Found(16_000, 0), Found(16_000, 5)}).

%% Thousands that one process makes and does not delete are told of before there are ten thousand.
tables_that_one_makes_and_keeps_are_told_of(_) ->
    #{tables := Tables} = nothing(),
    Found = fun(First, Each, Owned) ->
                    Counts = [{100 * N, (counts(60))#{tables => {First + Count, 8192}}} || {N, Count} <- lists:enumerate(Each)],
                    Owners = #{asked => 2000, most => [{~"<0.9.0>", lens, Owned}]},
                    [Sign || #{signs := Signs} <- found(#{counts => Counts, tables => Tables#{owners => Owners}}, []),
                             #{kind := many_ets_tables} = Sign <- Signs]
            end,
    Grows = [4 * N || N <- lists:seq(1, 40)],
    [Sign] = Found(2000, Grows, 1950),
    ?assertMatch(#{evidence := #{growth_a_second := Growth, owners := [#{process := ~"<0.9.0> (lens)", count := 1950}]}}
                   when Growth > 35 andalso Growth < 45, Sign),
    ?assertNotEqual(nomatch, string:find(diagnose_wording:sentence(Sign), "<0.9.0> (lens) owns 1,950")),
    ?assertEqual({[], [], [], []},
                 {Found(500, Grows, 1950),                                          % a node that starts
                  Found(2000, Grows, 20),                                           % each has its own
                  Found(2000, [0 || _ <- Grows], 1950),
                  Found(2000, [Count - 10 * (Count rem 40 div 20) || Count <- Grows], 1950)}). % some go

%% By the limit of files, which is nearer than that of ports.
sockets_that_one_opens_and_keeps_are_told_of(_) ->
    Found = fun(First, Each, Limit, Owned) ->
                    Counts = [{100 * N, (counts(60))#{ports => {First + Count, 65_536}}} || {N, Count} <- lists:enumerate(Each)],
                    [{What, Growth, length(Of)}
                     || {near_limit, #{what := What, growth_a_second := Growth, 'of' := Of}} <-
                            signs(#{counts => Counts, files => {First + 20, Limit},
                                    ports => #{skipped => 0, waiting => [], names => [{~"tcp_inet", First}],
                                               owners => [{~"<0.9.0>", http_manager, Owned}]}}, [])]
            end,
    Grows = [3 * N || N <- lists:seq(1, 40)],
    ?assertEqual({[{files, 30, 2}], [{files, 30, 2}], [{ports, 30, 2}]},
                 {Found(900, Grows, 20_000, 850), Found(900, Grows, 60_000, 850), Found(900, Grows, 1_048_576, 850)}),
    %% Sockets that are closed keep their ports, and are no files; and of a hundred files nobody can tell.
    Far = fun(Files, Ports) ->
                  Counts = [{100 * N, (counts(60))#{ports => {Ports + Count, 65_536}}} || {N, Count} <- lists:enumerate(Grows)],
                  [What || {near_limit, #{what := What}} <- signs(#{counts => Counts, files => {Files, 20_000},
                                                                    ports => #{skipped => 0, waiting => [], owners => [],
                                                                               names => [{~"tcp_inet", Ports}]}}, [])]
          end,
    ?assertEqual({[], [], [files]}, {Far(210, 500), Far(190, 90), Far(510, 500)}),
    ?assertEqual({[], [], [], []},
                 {Found(200, Grows, 60_000, 190),                                   % a node that starts
                  Found(900, Grows, 60_000, 30),                                    % connections of clients, each with its process
                  Found(900, [0 || _ <- Grows], 20_000, 850),
                  Found(900, [Count - 10 * (Count rem 30 div 15) || Count <- Grows], 60_000, 850)}).

judging_another_node_has_some_seconds(_) ->
    ?assertEqual([9000, 20_000, 2000, 4000],
                 [diagnose:judging_ms(Node, Budget, Ms)
                  || {Node, Budget, Ms} <- [{other@host, 10_000, 9000}, {other@host, 30_000, 10_000},
                                            {node(), 10_000, 9000}, {node(), 10_000, 6000}]]).

%% Where half of the time the machine did something else, half of a pause is that.
delays_of_the_machine_are_no_pauses(_) ->
    Kinds = fun(Delayed, Long, Longest) ->
                    Suspect = suspect(#{depth => 0, pauses => pauses(Long, Longest)}),
                    Collections = #{share => 0.0, busy => 0.5, waiting => 0.0, threads => 4, cores => 1.0, delayed => Delayed,
                                    window_ms => 100},
                    [Kind || {long_collection = Kind, _} <- signs(#{suspects => [Suspect], collections => Collections}, [])]
            end,
    ?assertEqual([[long_collection], [], [long_collection], []],
                 [Kinds(Delayed, Long, Us)
                  || {Delayed, Long, Us} <- [{0.0, 1, 99_800}, {0.5, 1, 99_800}, {0.5, 1, 130_000}, {0.5, 2, 35_000}]]),
    ?assertEqual([0.75, 0.0, 0.0],
                 [diagnose_probe:delayed(Before, After)
                  || {Before, After} <- [{{10, 0, 0, #{}}, {20, 30, 0, #{}}}, {silent, {1, 1, 0, #{}}}, {{1, 1, 0, #{}}, {1, 1, 0, #{}}}]]).

%% Those of libraries work for more than the schedulers do.
threads_of_others_are_told_of(_) ->
    Other = #{cores => 1.8, names => [#{label => ~"leveldb:bg", count => 2}], nifs => [kvstore], drivers => [~"smsdrv"]},
    Seen = #{share => 0.0, busy => 0.1, waiting => 0.0, threads => 4, cores => 2.0, window_ms => 100, other_threads => Other},
    Found = fun(Collections) -> found(#{collections => Collections}, []) end,
    [#{subject := node, signs := [#{kind := native_time, advice := Advice} = Sign]}] = Found(Seen),
    ?assert(has("limit their number", Advice)),
    ?assertMatch({match, _}, re:run(said(Sign), "uses 1.8 cores in threads that are not the VM's: leveldb:bg .2., and 0.4 cores in its"
                                                " schedulers; native functions are in kvstore; drivers: smsdrv")),
    [?assertEqual([], Found(None)) || None <- [Seen#{other_threads := Other#{cores := 0.4}}, Seen#{busy := 0.3}, maps:remove(other_threads, Seen)]].

threads_of_others_are_known(_) ->
    Threads = fun(Others) -> {9, 9, 9, maps:from_list([{Id, {Name, Ran * 1_000_000}} || {Id, Name, Ran} <- Others])} end,
    ?assertMatch(#{other_threads := #{cores := 1.5, names := [#{label := ~"bg", count := 2}], drivers := []}},
                 diagnose_probe:other_threads(Threads([{1, ~"bg", 50}, {2, ~"rests", 9}]),
                                              Threads([{1, ~"bg", 850}, {2, ~"rests", 9}, {3, ~"bg", 700}]), 1000)),
    [?assertEqual(#{}, diagnose_probe:other_threads(Before, After, 1000))
     || {Before, After} <- [{silent, silent}, {Threads([]), silent}, {Threads([]), Threads([{1, ~"bg", 400}])}]],
    %% One that a scheduler has made, and that has kept its name.
    ?assertEqual({{16, 3, 10}, #{3 => {~"erts_sched_1", 5}, 4 => {~"bg", 1}}},
                 begin
                     {Sums, _, Found} = lists:foldl(fun({Id, Ns, Name}, Seen) -> diagnose_probe:thread(Id, Ns, Name, Seen) end,
                                                    {{0, 0, 0}, #{}, #{}},
                                                    [{2, {10, 3}, ~"erts_sched_1"}, {3, {5, 0}, ~"erts_sched_1"}, {4, {1, 0}, ~"bg"}]),
                     {Sums, Found}
                 end),
    %% Those of this one have names of the VM, each one of its own.
    {Ran, _, OfSchedulers, Others} = diagnose_probe:threads(),
    ?assert(OfSchedulers > 0 andalso OfSchedulers =< Ran),
    ?assertEqual([], [Name || {Name, _} <- maps:values(Others), binary:match(Name, [~"erts", ~"sched", ~"beam"]) =/= nomatch]).

%% What grows may have more than the node had at the first look.
a_part_is_no_more_than_the_whole(_) ->
    Says = fun(Heap) -> unicode:characters_to_list(said(#{kind => large_heap, evidence => #{heap_bytes => Heap, used_bytes => 9, total_bytes => 200_000_000,
                                                                                      messages => 0}})) end,
    ?assertEqual({true, false}, {has("of the node's 200.0 MB", Says(150_000_000)), has("of the node's", Says(210_000_000))}),
    ?assertEqual([2, 3, 3, unknown], [case diagnose_probe:larger_memory(Before, After) of #{total := Total} -> Total; unknown -> unknown end
                                      || {Before, After} <- [{#{total => 1}, #{total => 2}}, {#{total => 3}, #{total => 2}},
                                                             {unknown, #{total => 3}}, {unknown, unknown}]]).

binaries_that_wait_for_others_are_told_of(_) ->
    Beside = fun(Waiting) ->
                     [#{signs := [#{kind := binaries_beside, advice := Advice} = Sign]}] =
                         found(#{binaries_beside => #{bytes => 220_000_000, tables => []}, memory => #{total => 260_000_000},
                                 ports => #{skipped => 0, waiting => Waiting, names => [], owners => [], connection_limit => 1_073_741_824}}, []),
                     {Advice, said(Sign)}
             end,
    Port = #{port => ~"#Port<0.7>", to => ~"store@host", socket => false, connection => true, bytes => 69_150},
    {OfNode, Node} = Beside([Port]),
    ?assert(has("smaller +zdbbl", OfNode) andalso has("another place that the VM does not tell", OfNode)),
    ?assertMatch({match, _}, re:run(Node, "not read yet: 69.2 kB by store@host .#Port<0.7>., and up to 1073.7 MB wait beside")),
    {OfSockets, Sockets} = Beside([Port#{socket := true, connection := false, bytes := 1_000_000, to := ~"127.0.0.1:99"} || _ <- lists:seq(1, 150)]),
    ?assert(has("send_timeout_close", OfSockets) andalso not has("smaller +zdbbl", OfSockets)),
    ?assertMatch({match, _}, re:run(Sockets, "by 127.0.0.1:99 .* and others; 150 sockets hold bytes")),
    [?assertEqual({false, false}, {has("smaller +zdbbl", Advice), has("send_timeout_close", Advice)})
     || {Advice, _} <- [Beside([]), Beside([Port#{socket := true, connection := false}])]].

binaries_that_came_since_are_not_beside(_) ->
    [?assertEqual(#{binary => 3, total => 9}, diagnose_probe:least_binary(Before, After))
     || Looks <- [[#{binary => 3, total => 9}, #{binary => 110, total => 120}]], [Before, After] <- [Looks, lists:reverse(Looks)]],
    ?assertEqual(unknown, diagnose_probe:least_binary(unknown, #{binary => 1})).

%% A receive that does not wait is a timer of 0 for the VM.
who_takes_its_messages_into_its_heap_is_told_of(_) ->
    Works = [{amq_queue, handle_cast, 2}, {gen_server2, loop, 2}],
    Server = suspect(#{depth => 0, gets => true, reductions => 9.0e7, used_bytes => 999_999, label => {amq_queue, init, 1},
                       samples => [{running, Works, 60}]}),
    Unanswered = fun(Pid) -> #{ms => 3000, count => 6, most => [#{count => 6, label => unknown, in => {m, f, 0}, pid => ~"<0.9.0>", called => Pid}]} end,
    Found = fun(Suspect, Called) ->
                    [Evidence || #{signs := Signs} <- found(#{suspects => [Suspect], unanswered => Unanswered(Called),
                                                              wakes => #{timers => [], to_itself => [], drains => [#{pid => ~"<0.1.0>", a_second => 5000}]}},
                                                            []), #{evidence := #{taken_a_second := _} = Evidence} <- Signs]
            end,
    ?assertMatch([#{taken_a_second := 5000, callers := 6, in := ~"amq_queue:handle_cast/2"}], Found(Server, ~"<0.1.0>")),
    ?assertMatch([#{callers := 0}], Found(Server#{used_bytes := 1_000_000}, ~"<0.2.0>")),
    [?assertEqual([], Found(One, Called))
     || {One, Called} <- [{Server, ~"<0.2.0>"}, {Server#{samples := [{running, Works, 59}, {waiting, Works, 1}]}, ~"<0.1.0>"}]],
    [{_, Evidence}] = [{Kind, E} || #{signs := [#{kind := Kind, evidence := E}]}
                                        <- found(#{suspects => [Server], unanswered => Unanswered(~"<0.1.0>"),
                                                   wakes => #{timers => [], to_itself => [], drains => [#{pid => ~"<0.1.0>", a_second => 5000}]}}, [])],
    ?assertNotEqual(nomatch, string:find(diagnose_wording:sentence(#{kind => busy_process, evidence => Evidence}), "6 callers wait")),
    %% On a node: one with a queue of its own, one that polls, and one that polls and takes the few messages that others send.
    Drains = spawn(fun() -> drains(queue:new()) end),
    Senders = [spawn_link(fun() -> sends_now_and_then(Drains) end) || _ <- lists:seq(1, 20)],
    Polls = spawn(fun polls_its_mailbox/0),
    Game = spawn(fun looks_at_its_mailbox/0),
    Player = spawn_link(fun() -> plays(Game) end),
    {answer, Wakes} = diagnose_probe_helper(fun() -> diagnose_probe:wakes(#{}, [Drains, Polls]) end),
    InVain = fun(_) ->
                     {answer, #{drains := Of, to_itself := ToItself}} = diagnose_probe_helper(fun() -> diagnose_probe:wakes(#{}, [Game]) end),
                     {Of, [Pid || #{pid := Pid} <- ToItself]} =:= {[], [list_to_binary(pid_to_list(Game))]}
             end,
    %% The machine may have interrupted one look.
    ?assert(lists:any(InVain, lists:seq(1, 5))),
    [begin unlink(Pid), exit(Pid, kill) end || Pid <- [Drains, Polls, Game, Player | Senders]],
    ?assertEqual({match_spec, true}, erlang:trace_info('receive', match_spec)),
    Text = fun(Pid) -> list_to_binary(pid_to_list(Pid)) end,
    ?assertEqual({[Text(Drains)], [Text(Polls)]}, {[Pid || #{pid := Pid} <- maps:get(drains, Wakes)], [Pid || #{pid := Pid} <- maps:get(to_itself, Wakes)]}).

drains(Queue) ->
    receive Message -> drains(queue:in(Message, Queue))
    after 0 ->
            case queue:out(Queue) of
                {{value, _}, Rest} -> _ = lists:sum(lists:seq(1, 1000)), drains(Rest);
                {empty, _} -> receive Message -> drains(queue:in(Message, Queue)) end
            end
    end.

sends_now_and_then(Pid) ->
    _ = [Pid ! work || _ <- lists:seq(1, 20)],
    timer:sleep(2),
    sends_now_and_then(Pid).

plays(Game) ->
    Game ! move,
    timer:sleep(1),
    plays(Game).

looks_at_its_mailbox() ->
    receive _ -> looks_at_its_mailbox()
    after 0 -> looks_at_its_mailbox()
    end.

polls_its_mailbox() ->
    receive stop -> ok
    after 0 -> _ = lists:sum(lists:seq(1, 1000)), polls_its_mailbox()
    end.

%% A server that is asked all the time is at its receive as well: only who sends tells.
who_works_for_itself_is_told_of(_) ->
    Loop = [{gen_server, loop, 7}, {proc_lib, init_p_do_apply, 3}],
    Server = suspect(#{depth => 1, gets => true, reductions => 5.0e7, label => {m, init, 1}, samples => [{running, Loop, 60}]}),
    Sends = fun(Pace) -> #{wakes => #{drains => [], timers => [], to_itself => [#{pid => ~"<0.1.0>", a_second => Pace}]}} end,
    Found = fun(Suspect, Pace) -> signs(maps:merge(#{suspects => [Suspect]}, Sends(Pace)), []) end,
    ?assertMatch([{busy_process, #{to_itself_a_second := 300_000, in := ~"m:init/1"}}], Found(Server, 300_000)),
    ?assertEqual([], Found(Server, 500)),
    %% One that gives way between the steps of its work is meant to.
    Says = fun(Suspect) -> [#{signs := [#{advice := Text}]}] = found(maps:merge(#{suspects => [Suspect]}, Sends(5000)), []), Text end,
    ?assertMatch({_, _}, binary:match(Says(Server), ~"if that is a batch")),
    ?assertEqual(nomatch, binary:match(Says(Server#{reductions := 4.9e7}), ~"batch")),
    %% What a table of dets is asked for takes it several turns: no message of its own is what is wrong.
    Searches = [{prim_file, pread, 3}, {dets, scan_read, 8}, {dets, fmatch_init, 2}],
    Dets = Server#{label := {dets, init, 2}, samples := [{running, Searches, 60}]},
    [{busy_process, OfDets}] = Found(Dets, 1400),
    ?assertNot(is_map_key(to_itself_a_second, OfDets)),
    [#{signs := [#{advice := SaysOfDets}]}] = found(maps:merge(#{suspects => [Dets]}, Sends(1400)), []),
    ?assertMatch({_, _}, binary:match(SaysOfDets, ~"reads all of its file")),
    %% Many timers of others are behind what waits.
    ?assertEqual([], [Sign || {_, #{to_itself_a_second := _}} = Sign <- Found(Server#{usual_depth := 900, least_depth := 900}, 300_000)]),
    ?assertEqual([], Found(Server#{pid := ~"<0.2.0>"}, 300_000)),
    ?assertEqual([], Found(Server#{samples := [{running, Loop, 59}, {waiting, Loop, 1}]}, 300_000)),
    [#{signs := [Sign]}] = found(maps:merge(#{suspects => [Server]}, Sends(300_000)), []),
    ?assertNotEqual(nomatch, string:find(diagnose_wording:sentence(Sign), "300,000 a second")).

%% By handle_continue or a timeout of 0; a worker that computes is in many functions, too, but in none of a behaviour. Large terms that are
%% copied make few reductions.
behaviour_that_never_rests_is_told_of(_) ->
    Continues = [{running, [{gen_server, loop, 7}, {proc_lib, init_p_do_apply, 3}], 40},
                 {running, [{m, handle_continue, 2}, {gen_server, try_handle_continue, 3}, {gen_server, loop, 7}], 20}],
    Busy = suspect(#{depth => 0, reductions => 1.0e7, answer_ms => 0, label => {m, init, 1}, samples => Continues}),
    ?assertMatch([{busy_process, #{in := ~"m:handle_continue/2", times := 20}}], findings(Busy, [])),
    ?assertEqual([], findings(Busy#{usual_depth := 1}, [])),
    Computes = [{running, [{m, F, 0}], 10} || F <- [a, b, c, d, e, f]],
    ?assertEqual([], findings(Busy#{samples := Computes}, [])),
    Machine = [{running, [{gen_statem, loop_actions, 9}, {proc_lib, init_p_do_apply, 3}], 60}],
    ?assertMatch([{busy_process, #{in := ~"m:init/1"}}], findings(Busy#{samples := Machine}, [])),
    Copies = Busy#{reductions := 400_000.0, samples := [{running, [{m, publish, 2}], 58}, {waiting, [{m, publish, 2}], 2}]},
    Of = fun(Delayed) -> signs(#{suspects => [Copies], collections => #{share => 0.0, busy => 0.3, waiting => 0.0, threads => 4,
                                                                        cores => 1.0, delayed => Delayed, window_ms => 200}}, []) end,
    ?assertMatch([{busy_process, #{in := ~"m:publish/2"}}], Of(0.3)),
    ?assertEqual([], Of(0.9)).

transactions_that_begin_again_are_told_of(_) ->
    Found = fun(Commits, Restarts) -> signs(#{transactions => transactions(Commits, Restarts)}, []) end,
    ?assertMatch([{transaction_restarts, #{restarts := 1000}}], Found(300, 1000)),
    ?assertMatch([_], Found(2000, 1000)),
    [?assertEqual([], Found(Commits, Restarts)) || {Commits, Restarts} <- [{10_000, 1000}, {1, 50}, {0, 0}]],
    %% One keeps a lock that many want.
    Lock = #{for => lock, pid => ~"<0.9.0>", name => locker, label => unknown, count => 300, ms => 4000, depth => 0, status => waiting,
             in => [], kinds => [{unknown, 300}]},
    ?assertMatch([{awaited, _}], signs(#{transactions => transactions(0, 1000), awaited => [Lock]}, [])).

transactions(Commits, Restarts) -> #{commits => Commits, restarts => Restarts, logged => 0, threshold => 1000, overloads => 0, ms => 2000}.

keys_with_many_rows_are_told_of(_) ->
    Table = #{name => presence, bytes => 4_000_000, size => 20_000, owner => ~"<0.1.0>", type => bag, protection => public,
              same_key => 15_000},
    Found = fun(One) -> signs(#{tables => (maps:get(tables, nothing()))#{largest := [One]}}, []) end,
    ?assertMatch([{rows_of_one_key, #{name := presence, same_key := 15_000}}], Found(Table)),
    [?assertEqual([], Found(One)) || One <- [Table#{same_key := 400}, maps:remove(same_key, Table), Table#{type := duplicate_bag}]],
    ?assertMatch([{rows_of_one_key, #{type := duplicate_bag}}], Found(Table#{type := duplicate_bag, same_key := 60_000})),
    %% As the node itself counts them: not where there are too many rows, nor of tables that have a row for each key.
    [begin
         T = ets:new(presence, [Type, private]),
         true = ets:insert(T, [{case N =< Same of true -> online; false -> N end, N} || N <- lists:seq(1, Rows)]),
         Seen = [Count || #{owner := Owner, same_key := Count} <- maps:get(largest, diagnose_probe:tables()),
                          Owner =:= list_to_binary(pid_to_list(self()))],
         true = ets:delete(T),
         ?assertEqual(Told, [ok || Count <- Seen, Count >= Same, Count < Same + 100])
     end || {Type, Rows, Same, Told} <- [{bag, 100_000, 60_000, [ok]}, {bag, 300_000, 60_000, []}, {set, 100_000, 1, []}]].

tables_that_are_kept_fixed_are_told_of(_) ->
    Table = #{name => sessions, bytes => 40_000_000, size => 20, owner => ~"<0.1.0>", type => set, protection => public,
              fixed_ms => 20_000, fixed_by => [~"<0.2.0>"]},
    Found = fun(One) -> signs(#{tables => (maps:get(tables, nothing()))#{largest := [One]}}, []) end,
    ?assertMatch([{fixed_ets_table, #{fixed_by := [~"<0.2.0>"], fixed_ms := 20_000}}], Found(Table)),
    Advice = fun(By) ->
                     Fixed = (maps:get(tables, nothing()))#{largest := [Table#{fixed_by := By}]},
                     [#{signs := [#{advice := Text}]}] = found(#{tables => Fixed}, []),
                     has("mnesia releases", Text)
             end,
    ?assertEqual([true, false, false],
                 [Advice(By) || By <- [[~"<0.7.0> (mnesia_tm)"], [~"<0.7.0> (mnesia_tm)", ~"<0.2.0>"], [~"<0.2.0>"]]]),
    [?assertEqual([], Found(One)) || One <- [Table#{fixed_ms := 300}, Table#{bytes := 100_000}, maps:without([fixed_ms, fixed_by], Table)]],
    Scans = suspect(#{table_scans => #{times => 3, in => {m, f, 1}}, samples => [{running, [{m, f, 1}], 20}]}),
    ?assertEqual([], [Kind || {fixed_ets_table = Kind, _} <- signs(#{tables => (maps:get(tables, nothing()))#{largest := [Table]},
                                                                     suspects => [Scans]}, [])]),
    %% What those hold that were deleted is not among the rows that can be read.
    Beside = #{binaries_beside => #{bytes => 160_000_000,
                                    tables => [#{name => sessions, rows => 20, bytes => 30_000_000, fixed_ms => 20_000}]},
               memory => #{total => 200_000_000}},
    [Sentence] = [unicode:characters_to_list(diagnose_wording:sentence(Sign)) || #{signs := Signs} <- found(Beside, []), Sign <- Signs],
    ?assertNotEqual(nomatch, string:find(Sentence, "at least 30.0 MB are in the ETS table sessions")).

%% A part of a binary keeps all of it alive. Where all rows together have all of their binaries, nothing is kept in vain.
slices_in_rows_are_told_of(_) ->
    Large = binary:copy(<<1>>, 200_000),
    Table = fun(Name, Size, Row) ->
                    T = ets:new(Name, [ordered_set, public]),
                    true = ets:insert(T, [Row(N) || N <- lists:seq(1, Size)]),
                    T
            end,
    _ = Table(slices, 600, fun(N) -> {N, #{part => [binary:part(binary:copy(<<N:32>>, 50_000), 100, 80)]}} end),
    _ = Table(whole, 600, fun(N) -> {N, binary:copy(<<N:32>>, 50_000)} end),
    %% What is not seen of a row may be the whole of its binary.
    _ = Table(hidden, 600, fun(N) -> Binary = binary:copy(<<N:32>>, 50_000), {N, fun() -> Binary end} end),
    _ = Table(large, 600, fun(N) -> {N, lists:seq(1, 3000), binary:copy(<<N:32>>, 50_000)} end),
    _ = Table(shared, 20_000, fun(N) -> {N, binary:part(Large, 10 * (N - 1), 10)} end),
    #{tables := Tables} = diagnose_probe:in_tables(480_000_000),
    ?assertMatch([#{name := slices, slices := Bytes}] when Bytes >= 48_000 andalso Bytes < 60_000,
                 [One || #{slices := _} = One <- Tables]),
    ?assertMatch([#{name := whole, rows := 600}], [One || #{name := whole} = One <- Tables]),
    Beside = fun(Told) -> found(#{binaries_beside => #{bytes => 160_000_000, tables => Told}, memory => #{total => 200_000_000}}, []) end,
    [#{signs := [#{advice := Advice} = Sign]}] = Beside([#{name => sessions, rows => 20, bytes => 30_000_000, slices => 2000}]),
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                                         "sessions (20 rows), whose rows hold slices of about 2000 B of them")),
    ?assertNotEqual(nomatch, string:find(Advice, "binary:copy/1")).

%% None of them has a tenth. So it is where each has a name of its own.
binaries_of_many_tables_count_together(_) ->
    Table = fun(Name) ->
                    T = ets:new(Name, [public]),
                    true = ets:insert(T, [{N, binary:copy(<<N:32>>, 2000)} || N <- lists:seq(1, 100)]),
                    T
            end,
    Tables = [Table(shard) || _ <- lists:seq(1, 60)],
    #{tables := Same} = diagnose_probe:in_tables(48_000_000),
    ?assertMatch([#{name := shard, count := 60, rows := 6000, bytes := Bytes}] when Bytes > 40_000_000, Same),
    _ = [true = ets:delete(One) || One <- Tables],
    _ = [Table(list_to_atom("shard_" ++ integer_to_list(N))) || N <- lists:seq(1, 20)],
    #{tables := Others} = diagnose_probe:in_tables(16_000_000),
    ?assertMatch([#{name := several, bytes := Bytes}] when Bytes > 14_000_000, Others),
    Says = fun(Told) ->
                   [#{signs := [Sign]}] = found(#{binaries_beside => #{bytes => 160_000_000, tables => Told},
                                                  memory => #{total => 200_000_000}}, []),
                   unicode:characters_to_list(said(Sign))
           end,
    ?assert(has("about 40.0 MB are in 60 ETS tables of the name shard (6,000 rows)",
                Says([#{name => shard, count => 60, rows => 6000, bytes => 40_000_000}]))),
    ?assert(has("are in 20 ETS tables together (", Says([#{name => several, count => 20, rows => 60, bytes => 90_000_000}]))).

kinds_that_timers_wake_are_told_of(_) ->
    Kind = fun(Count, Each) -> #{label => {m, polls, 0}, in => {m, polls, 0}, count => Count, asked => 8, each_a_second => Each} end,
    Found = fun(Timers) -> signs(#{wakes => #{timers => Timers, to_itself => [], drains => []}}, []) end,
    ?assertMatch([{timer_wakeups, #{a_second := 500_000, 'of' := [#{label := ~"m:polls/0", each_a_second := 100}]}}],
                 Found([Kind(5000, 100.0)])),
    ?assertMatch([{timer_wakeups, #{a_second := 24_000}}], Found([Kind(100, 120.0), Kind(200, 60.0)])),
    [?assertEqual([], Found(Timers)) || Timers <- [[], [Kind(4000, 1.0)], [Kind(100_000, 1.0)], [Kind(100, 100.0)]]],
    ?assertEqual([], signs(#{wakes => unknown}, [])),
    Unknown = fun(Seen) -> diagnose_wording:unknown(maps:merge(nothing(), Seen), []) end,
    ?assertMatch([<<"How often timers and own messages wake processes: ", _/binary>>], Unknown(#{wakes => unknown}) -- Unknown(#{})),
    ?assertEqual([], Unknown(#{wakes => unknown, closer => busy}) -- Unknown(#{closer => busy})),
    Traces = fun(Traced) -> hd(Unknown(#{wakes => unknown, traced => Traced}) -- Unknown(#{traced => Traced})) end,
    Nobody = #{asked => 3, traced => 0, new => false, flags => [], tracer => unknown},
    ?assertMatch({nomatch, _, _}, {string:find(Traces(Nobody), "somebody else traces"), Nobody, Traces(Nobody)}),
    ?assertMatch(<<_/binary>>, string:find(Traces(Nobody#{traced := 2}), "somebody else traces processes")),
    Known = #{files => {1, 2}, reloads => #{looks => 1, modules => [], in => []}, elsewhere => #{native => 1}, traced => #{}},
    [?assertMatch([_], Unknown(Known#{Key => What}) -- Unknown(Known))
     || {Key, What} <- [{links, unknown}, {births, unknown}, {long_runs, unknown}, {births, too_many}, {starts, too_many}, {wakes, unknown},
                        {reloads, unknown}, {transactions, unknown}, {traced, unknown}, {debugged, unknown}, {files, unknown}, {mapped, unknown},
                        {elsewhere, #{native => unknown}}]].

many_that_collect_are_told_of(_) ->
    Part = fun(Pid, Us) -> suspect(#{pid => Pid, depth => 0, label => {m, session, 1}, heap_bytes => 9_000_000,
                                     pauses => (pauses(0, 9000))#{minor := 30, total_us := Us, window_ms := 4000}}) end,
    Found = fun(Share, Busy, Suspects) ->
                    Collections = #{share => Share, busy => Busy, waiting => 0.0, threads => 4, cores => 1.0, window_ms => 200},
                    Seen = signs(#{collections => Collections, suspects => Suspects,
                                   groups => [group(#{label => {m, session, 1}, count => 20})]}, []),
                    [Of || {collecting_together, #{'of' := Of}} <- Seen]
            end,
    Pids = [~"<0.1.0>", ~"<0.2.0>", ~"<0.3.0>"],
    Costly = [Part(Pid, 240_000) || Pid <- Pids],
    ?assertMatch([[#{label := ~"m:session/1", count := 20, traced := 3}]], Found(0.28, 0.9, Costly)),
    ?assertMatch([[_]], Found(0.17, 0.9, Costly)),
    [?assertEqual([], Found(Share, Busy, Suspects))
     || {Share, Busy, Suspects} <- [{0.5, 0.9, []}, {0.5, 0.9, [One#{heap_bytes := 90_000} || One <- Costly]},
                                    {0.28, 0.1, Costly}, {0.14, 0.9, Costly}, {0.28, 0.9, tl(Costly)},
                                    {0.28, 0.9, [Part(Pid, 20_000) || Pid <- Pids]},
                                    {0.28, 0.9, [Part(~"<0.4.0>", 2_000_000) | Costly]}]].

heaps_that_are_mapped_are_told_of(_) ->
    Found = fun(Faults, Segments, Threshold) ->
                    signs(#{mapped => #{faults => Faults, segments => Segments, own_carrier => Threshold, ms => 2000}}, [])
            end,
    ?assertMatch([{mapped_heaps, #{faults_a_second := 50_000, segments_a_second := 200, own_carrier := 524_288}}],
                 Found(100_000, 400, 524_288)),
    [?assertEqual([], Found(Faults, Segments, Threshold))
     || {Faults, Segments, Threshold} <- [{99_000, 400, 524_288}, {100_000, 399, 524_288}, {100_000, 400, 8_388_608}]],
    Together = fun(Cores) ->
                       Mapped = #{faults => 100_000, segments => 400, own_carrier => 524_288, ms => 2000},
                       signs(#{mapped => Mapped,
                               collections => #{share => 0.0, busy => 0.1, waiting => 0.0, threads => 4, cores => Cores, window_ms => 200}},
                             [])
               end,
    ?assertMatch({[_], [_], []}, {Together(0.1), Together(1.0), Together(1.5)}),
    Before = {7, 10, 524_288, -500},
    ?assertEqual(#{faults => 3, segments => 2, own_carrier => 524_288, ms => 500},
                 diagnose_probe:mapped_since(Before, {10, 12, 524_288, 0})),
    ?assertEqual([unknown, unknown], [diagnose_probe:mapped_since(unknown, Before), diagnose_probe:mapped_since(Before, unknown)]).

%% Each does a little, and all the same.
functions_of_a_busy_node_are_told(_) ->
    Samples = [{running, [{erl_eval, expr, 6}, {m, rule, 1}, {proc_lib, init_p, 3}], 2}, {runnable, [{m, rule, 1}], 1},
               {waiting, [{gen_server, loop, 7}], 20}],
    Look = fun(Busy) ->
                   (nothing())#{processes := #{looked => 9, skipped => #{}},
                                suspects := [suspect(#{samples => Samples}) || _ <- lists:seq(1, 4)],
                                collections => #{share => 0.0, busy => Busy, waiting => 0.0, threads => 4, cores => 1.0, window_ms => 200}}
           end,
    Facts = fun(Busy) ->
                    Seen = diagnose_text:facts(#{look => Look(Busy), warnings => [], unknown => [], place => #{in => library, node => own}}),
                    iolist_to_binary(proplists:get_value("Processes", Seen))
            end,
    %% --nif needs a clone.
    Layout = fun(Place) ->
                     Seen = diagnose_text:facts(#{look => Look(0.25), warnings => [], unknown => [], place => Place}),
                     proplists:is_defined("Layout", Seen)
             end,
    ?assertEqual([true, false], [Layout(#{in => library, node => own}), Layout(#{in => file})]),
    Last = fun(Busy) -> iolist_to_binary(diagnose_text:last_line(#{findings => [], look => Look(Busy)})) end,
    ?assertMatch({_, _}, binary:match(Facts(0.25), ~"in 12 looks at working processes")),
    ?assertMatch({_, _}, binary:match(Facts(0.25), ~": m:rule/1 (100 %), erl_eval:expr/6 (66 %)")),
    ?assertEqual(nomatch, binary:match(Facts(0.25), ~"just started")),
    %% Who lives for a moment is not watched, so the functions are those that the starts tell.
    #{starts := Starts} = starts(none),
    Short = (Look(0.25))#{suspects := [], starts := Starts#{samples := [{running, [{pem, decode, 1}, {m, deliver, 0}], 30}]}},
    ?assertMatch({_, _}, binary:match(iolist_to_binary(diagnose_text:last_line(#{findings => [], look => Short})), ~"It uses 1.0 cores; the section")),
    Parent = fun(Label, Part, Labels) ->
                     Most = #{pid => ~"<0.9.0>", name => mailer, label => Label, part => Part, labels => Labels},
                     Deep = (Look(0.25))#{suspects := [],
                                          starts := Starts#{samples := [{running, [{pem, decode, 1}], 30}], most := Most}},
                     Seen = diagnose_text:facts(#{look => Deep, warnings => [], unknown => [], place => #{in => library, node => own}}),
                     iolist_to_binary(proplists:get_value("Processes", Seen))
             end,
    [?assertMatch({_, _}, binary:match(Parent(Label, Part, Labels), Said))
     || {Label, Part, Labels, Said}
            <- [{unknown, 0.9, [{unknown, 9}], ~"pem:decode/1 (100 %); <0.9.0> (mailer) starts 90 % of the new processes"},
                {{m, init, 1}, 0.2, [{{m, mail, 1}, 9}], ~"(m:init/1) starts 20 % of the new processes, as m:mail/1"}]],
    ?assertMatch({_, _}, binary:match(Last(0.25), ~"It uses 1.0 cores; the section")),
    %% Who is ready after a sleep was in nothing that took the time.
    Slept = #{findings => [], look => (Look(0.25))#{suspects := [suspect(#{samples => [{runnable, [{timer, sleep, 1}, {m, page, 0}], 20}]})]}},
    ?assertMatch({_, _}, binary:match(iolist_to_binary(diagnose_text:last_line(Slept)), ~"in native functions or in short-lived")),
    ?assertEqual({nomatch, nomatch}, {binary:match(Facts(0.1), ~"looks at working processes"), binary:match(Last(0.1), ~"It uses")}).

starts_by_the_thousand_are_told_of(_) ->
    Found = fun(Pace, Schedulers) ->
                    Most = #{pid => ~"<0.9.0>", name => '', label => {m, rows, 1}, labels => [{unknown, 2}]},
                    Starts = #{looks => 9, ms => 4000, parents => [], samples => [], a_second => Pace, most => Most},
                    signs(#{schedulers => Schedulers, processors => Schedulers, starts => Starts}, [])
            end,
    ?assertMatch([{many_starts, #{a_second := 90_000, by := ~"<0.9.0>", label := ~"m:rows/1", 'of' := []}}], Found(90_000, 4)),
    ?assertEqual({[], []}, {Found(90_000, 16), Found(15_000, 1)}).

%% A connection for each request; what a server of many connections does otherwise is its work.
handshakes_are_told_of(_) ->
    Opens = suspect(#{label => {shop, bill, 1}, samples => [{waiting, [{ssl_gen_statem, call, 2}, {ssl, connect, 4}, {shop, bill, 1}], 9}]}),
    In = fun(Module, Times) -> {running, [{gen_statem, loop_receive, 3}, {Module, negotiated, 3}], Times} end,
    Found = fun(Started, Samples, Cores) ->
                    Most = #{pid => ~"<0.9.0>", name => tls_connection_sup, label => {supervisor, tls_connection_sup, 1},
                             labels => [{{supervisor, tls_dyn_connection_sup, 1}, Started}]},
                    signs(#{starts => #{looks => 190, ms => 4000, parents => [], samples => Samples, a_second => 300, most => Most},
                            suspects => [Opens],
                            collections => #{share => 0.0, busy => Cores / 4, waiting => 0.0, threads => 4, cores => Cores, window_ms => 200}}, [])
            end,
    ?assertMatch([{tls_handshakes, #{a_second := 20, times := 20, looks := 40, by := [~"shop:bill/1"]}}],
                 Found(80, [In(tls_connection_1_3, 10), In(pubkey_cert, 10), In(m, 20)], 0.25)),
    [?assertEqual([], Found(Started, Samples, Cores))
     || {Started, Samples, Cores} <- [{79, [In(tls_v1, 20)], 0.5}, {80, [In(tls_v1, 9)], 0.5}, {80, [In(tls_v1, 10), In(m, 11)], 0.5},
                                      {80, [In(tls_v1, 20)], 0.2}]].

%% The server of a library is in no callback of a behaviour; and whoever prints waits for one that takes requests to print.
who_is_asked_of_a_library_or_to_print_is_told_of(_) ->
    Library = suspect(#{usual_depth => 39, least_depth => 30, depth => 39, gets => true, reductions => 2.0e6,
                        samples => [{running, [{dets, F, 2}], 10} || F <- [a, b, c, d]]}),
    ?assertMatch([{deep_mailbox, #{least := 30}}], findings(Library, [])),
    [?assertEqual([], findings(maps:merge(Library, Other), [])) || Other <- [#{stays => false}, #{least_depth => 12}]],
    Shell = suspect(#{usual_depth => 40, least_depth => 40, depth => 40, idle => true,
                      samples => [{waiting, [{m, shell, 0}], 60}], waiting => [{~"{io_request, _, _, _}", 40}]}),
    ?assertMatch([{deep_mailbox, _}], findings(Shell, [])),
    ?assertEqual([], findings(Shell#{waiting := [{~"{other, _}", 40}]}, [])),
    %% Those who wait for it are told of once.
    Awaited = #{for => answer, pid => ~"<0.1.0>", name => '', label => unknown, count => 40, ms => 4000, depth => 40,
                status => waiting, in => [{m, shell, 0}], kinds => [{{m, f, 0}, 40}]},
    ?assertMatch([{deep_mailbox, _}], signs(#{suspects => [Shell], awaited => [Awaited]}, [])).

%% Callers of erpc monitor nothing until there is a connection.
call_of_a_node_that_is_not_connected_yet(_) ->
    Table = ets:new(like_sys_dist, [{keypos, 2}]),
    Seen = fun(Node, State) ->
                   true = ets:insert(Table, {connection, Node, make_ref(), State, self(), none, none, none, [], normal}),
                   lists:sort(diagnose_probe:pending_nodes(Table))
           end,
    ?assertEqual([], Seen(a@b, up)),
    ?assertEqual([c@d], Seen(c@d, pending)),
    ?assertEqual([c@d], Seen(e@f, up_pending)), % there is a connection
    ?assertEqual([c@d, g@h], Seen(g@h, pending)),
    ?assertEqual([], diagnose_probe:pending_nodes(there_is_no_such_table)),
    ?assertEqual([], diagnose_probe:waits_for({erpc, call, 5}, [])).

%% What gives way is in no stack.
traps_are_told_by_their_function(_) ->
    Stack = [{m, valid, 2}, {gen_server, loop, 7}],
    ?assertEqual([{re, run, 3} | Stack], diagnose_probe:with_native(running, {erlang, re_run_trap, 3}, Stack)),
    ?assertEqual([{erlang, md5, 1} | Stack], diagnose_probe:with_native(runnable, {erlang, md5_trap, 2}, Stack)),
    %% A large answer that was sent returns by a trap of all native functions: it stays the answer.
    Answers = [{gen, reply, 2}, {gen_server, handle_msg, 6}],
    ?assertEqual(Answers, diagnose_probe:with_native(running, {erlang, bif_return_trap, 2}, Answers)),
    [?assertEqual(Stack, diagnose_probe:with_native(Status, Current, Stack))
     || {Status, Current} <- [{running, {m, valid, 2}}, {running, {ets, select_trap, 1}}, {waiting, {erlang, re_run_trap, 3}}]],
    Busy = suspect(#{gets => true, depth => 12, usual_depth => 14, reductions => 1.3e7, answer_ms => 1,
                     samples => [{running, [{re, run, 3}, {m, valid, 2}, {m, handle_call, 3}, {gen_server, try_handle_call, 4}], 70}]}),
    [#{signs := Signs}] = found(#{suspects => [Busy]}, []),
    ?assertMatch([_ | _], [1 || #{kind := busy_process, evidence := #{mostly := ~"re:run/3"}, advice := Advice} <- Signs,
                                string:find(Advice, "regular expression") =/= nomatch]).

%% timer_server has a monitor for each interval timer, of the process that has it.
intervals_are_told_of_once(_) ->
    Holder = fun(Name, Exactly) -> #{pid => atom_to_binary(Name), name => Name, label => unknown, about => 20_000, exactly => Exactly} end,
    Server = Holder(timer_server, #{monitors => 20_000, links => 1, monitored_by => 0}),
    Owner = Holder(owner, #{monitors => 0, links => 0, monitored_by => 20_000}),
    Found = fun(Holders) -> found(#{counts => [{0, counts(50)}], links => #{timer_bytes => 0, holders => Holders}}, []) end,
    [#{subject := #{process := #{name := timer_server}}, signs := [#{kind := many_monitors, advice := Advice}]}] = Found([Owner, Server]),
    ?assertNotEqual(nomatch, string:find(Advice, "timer:cancel/1")),
    ?assertMatch([_], Found([Owner])),
    ?assertMatch([_, _], Found([Owner#{exactly := #{monitors => 30_000, links => 0, monitored_by => 20_000}}, Server])),
    ?assertMatch([_], Found([Owner#{exactly := unknown}, Server])).

%% To copy counts few reductions. One that is seen at its receive does little for each message.
servers_that_copy_for_each_message_are_told_of(_) ->
    Handles = [{gen_server, try_handle_call, 4}, {gen_server, handle_msg, 6}],
    Found = fun(In, More) ->
                    Samples = [{running, In ++ Handles, 38}, {running, [{gen_server, loop, 7}], 2}],
                    Server = suspect(maps:merge(#{depth => 20, usual_depth => 12, least_depth => 2, depth_at_work => 12, gets => true,
                                                  samples => Samples, reductions => 2.5e5}, More)),
                    [{Sign, said(One)} || #{signs := Signs} <- found(#{suspects => [Server]}, []), #{kind := Sign} = One <- Signs]
            end,
    Own = [{m, put, 2}, {m, handle_call, 3}],
    [{busy_process, Says}] = Found(Own, #{}),
    ?assertMatch(<<"never waits, and is in m:", _/binary>>, unicode:characters_to_binary(Says)),
    ?assertNotEqual(nomatch, string:find(Says, "; 12 messages or more wait for it meanwhile")),
    ?assertMatch([_], Found(Own, #{gets => false})),
    ?assertEqual([[], [], []],
                 [Found(Own, More) || More <- [#{usual_depth => 0}, #{usual_depth => 90, least_depth => 60, stays => false},
                                               #{samples => [{running, Own ++ Handles, 30}, {running, [{gen_server, loop, 7}], 10}]}]]),
    Groups = suspect(#{depth => 9, usual_depth => 9, samples => [{running, [{pg, join_local, 3}, {pg, handle_call, 3} | Handles], 40}],
                       reductions => 2.5e5}),
    [#{signs := [#{kind := busy_process, advice := Advice}]}] = found(#{suspects => [Groups]}, []),
    ?assertNotEqual(nomatch, string:find(Advice, "scope of pg")).

%% Its callers come all at once, so it rests in between.
servers_that_wait_for_the_disk_are_told_of(_) ->
    Writes = [{prim_file, pwrite_plain, 3}, {prim_file, pwrite_list, 3}, {dets_utils, pwrite, 2}, {dets, perform_save, 2}],
    Found = fun(Label, Stack, At, Depth) ->
                    Server = suspect(#{label => Label, depth => 0, gets => true, depth_at_work => Depth, reductions => 1.0e5,
                                       samples => [{running, Stack, At}, {waiting, [{m, loop, 1}], 40 - At}]}),
                    [Advice || #{signs := [#{kind := busy_process, advice := Advice}]} <- found(#{suspects => [Server]}, [])]
            end,
    [Says] = Found({dets, init, 2}, Writes, 24, 10),
    ?assertNotEqual(nomatch, string:find(Says, "dets:sync/1 once")),
    [Inserts] = Found({dets, init, 2}, [{prim_file, pread_list, 3}, {dets_v9, may_grow, 3}, {dets, do_apply_op, 4}], 39, 10),
    ?assertEqual([nomatch, nomatch], [string:find(Inserts, Word) || Word <- ["dets:sync/1 once", "reads all of its file"]]),
    ?assertNotEqual(nomatch, string:find(Inserts, "dets:insert/2 takes a list")),
    Calls = [{prim_file, sync, 1}, {journal, handle_call, 3}, {gen_server, try_handle_call, 4}, {gen_server, handle_msg, 6}],
    [Own] = Found({journal, init, 1}, Calls, 24, 10),
    ?assertNotEqual(nomatch, string:find(Own, "one sync")),
    ?assertEqual([[], [], []], [Found({dets, init, 2}, Writes, 15, 10), Found({dets, init, 2}, Writes, 24, 9),
                                %% What it writes for nobody who waits for an answer.
                                Found({journal, init, 1}, [{prim_file, write, 2}, {journal, handle_info, 2},
                                                           {gen_server, try_handle_info, 3}], 24, 10)]).

files_by_message_are_told_of(_) ->
    Samples = [{waiting, [{io, execute_request, 3}, {shop, lines, 2}, {shop, import, 1}], 30},
               {running, [{io, execute_request, 3}, {shop, lines, 2}, {shop, import, 1}], 10}],
    Found = fun(Times, Reductions) ->
                    Reader = suspect(#{depth => 0, gets => true, by_file => Times, reductions => Reductions, samples => Samples}),
                    [{said(Sign), string:find(Advice, "read_ahead") =/= nomatch}
                     || #{signs := Signs} <- found(#{suspects => [Reader]}, []), #{advice := Advice} = Sign <- Signs]
            end,
    ?assertEqual([{"reads or writes a file by messages to the process that has it open, in shop:lines/2: at 30 of 40 looks, 600,000"
                   " reductions a second", true}], Found(30, 6.0e5)),
    %% It works much on each line.
    ?assertMatch([{_, true}], Found(16, 1.0e6)),
    ?assertEqual([[], []], [Found(15, 1.0e6), Found(16, 9.9e5)]),
    %% It prints, or reads few large blocks.
    ?assertEqual([[], []], [Found(29, 6.0e5), Found(40, 9.0e4)]).

%% Each for one of its own, by itself or with the process of its connection; and where messages wait for one, they tell of it.
sockets_that_take_nothing_are_told_of(_) ->
    Sends = {socket, {prim_inet, send_recv_reply, 2}},
    Waits = [{[{answer, N}, Sends], 4000, {m, f, 0}} || N <- lists:seq(1, 6)],
    ?assertMatch([{Sends, #{count := 20}}], diagnose_probe:called(20, Waits)),
    ?assertMatch([{{answer, conn}, _}], diagnose_probe:called(20, [{[{answer, conn}, Sends], 4000, {m, f, 0}} || _ <- Waits])),
    Port = #{port => ~"#Port<0.35>", to => ~"10.0.0.7:4321", socket => true, bytes => 11_950},
    Look = #{awaited => [#{socket => {prim_inet, send_recv_reply, 2}, count => 20, ms => 4300, kinds => [{{shop, feed, 1}, 20}]}],
             ports => #{skipped => 0, names => [], owners => [],
                        waiting => [Port, Port#{bytes := 8050}, Port#{to := ~"standard output", socket := false}]}},
    [#{subject := node, signs := [#{kind := awaited, advice := Advice} = Sign]}] = found(Look, []),
    ?assertEqual("about 20 processes have waited for 4.3 s and more (20 of shop:feed/1) until a socket takes what they send, in"
                 " prim_inet:send_recv_reply/2; 2 sockets hold 20.0 kB unsent; not read yet: 11.9 kB by 10.0.0.7:4321 (#Port<0.35>),"
                 " 8050 B by 10.0.0.7:4321 (#Port<0.35>)", said(Sign)),
    ?assertNotEqual(nomatch, string:find(Advice, "send_timeout_close")),
    Deep = suspect(#{usual_depth => 3000, samples => [{waiting, [{prim_inet, send, 4}, {m, handle_cast, 2}], 40}]}),
    ?assertMatch([#{subject := #{process := _}, signs := [#{kind := deep_mailbox}]}], found(Look#{suspects => [Deep]}, [])).

prints_and_files_are_told_of(_) ->
    Advice = fun(Shape, Samples) ->
                     Held = suspect(#{depth => 200, usual_depth => 200, least_depth => 200, idle => true, waiting => [{Shape, 200}],
                                      samples => Samples}),
                     [#{signs := [#{kind := deep_mailbox, advice := Text}]}] = found(#{suspects => [Held]}, []),
                     Text
             end,
    Waits = [{waiting, [{m, shell, 0}], 60}],
    Works = [{running, [{m, shell, 0}], 60}],
    ?assertNotEqual(nomatch, string:find(Advice(~"{io_request, _, _, _}", Waits), "group leader")),
    [?assertNotEqual(nomatch, string:find(Advice(~"{file_request, _, _, _}", Of), "raw")) || Of <- [Waits, Works]],
    %% What holds it up is known better.
    [?assertNotEqual(nomatch, string:find(Advice(Shape, [{waiting, [In], 60}]), Word))
     || Shape <- [~"{io_request, _, _, _}", ~"{file_request, _, _, _}"],
        {In, Word} <- [{{sys, suspend_loop, 6}, "sys:resume/1"}, {{prim_inet, send, 4}, "send_timeout"}]],
    ?assertEqual(nomatch, string:find(Advice(~"{other, _}", Waits), "group leader")).

%% By chance one of many looks sees it between two messages.
few_waits_are_work(_) ->
    Found = fun(Waits) ->
                    findings(suspect(#{depth => 38, usual_depth => 38, least_depth => 36, gets => true,
                                       samples => [{running, [{prim_file, sync, 1}], 60 - Waits}, {waiting, [{m, loop, 1}], Waits}]}), [])
            end,
    [?assertMatch([{deep_mailbox, _}], Found(Waits)) || Waits <- [0, 3]],
    ?assertEqual([], Found(4)).

tables_that_were_lost_are_no_crowd(_) ->
    #{tables := Tables} = nothing(),
    Said = fun(More) ->
                   Look = (nothing())#{processes := #{skipped => #{}}, tables := maps:merge(Tables, More)},
                   iolist_to_binary(diagnose_wording:unseen(Look))
           end,
    ?assertEqual(nomatch, binary:match(Said(#{lost => 24}), ~"too many")),
    ?assertNotEqual(nomatch, binary:match(Said(#{lost => 24}), ~"24 ETS tables")),
    ?assertNotEqual(nomatch, binary:match(Said(#{skipped => 24}), ~"too many")),
    ?assertMatch(#{skipped := 0, lost := 0}, diagnose_probe:tables()).

schedulers_offline_are_told(_) ->
    Processes = #{looked => 3, skipped => #{}, heap_bytes => 0, used_bytes => 0, held_bytes => 0, messages => 0},
    Text = fun(Offline) ->
                   Look = (nothing())#{processes := Processes, schedulers := 1, offline := Offline},
                   Place = #{in => library, node => own},
                   Report = #{node => a@b, place => Place, look => Look, findings => [], warnings => [], unknown => []},
                   unicode:characters_to_binary(diagnose_text:report(Report))
           end,
    ?assertNotEqual(nomatch, binary:match(Text(1), ~"1 of 2 schedulers is online")),
    ?assertEqual(nomatch, binary:match(Text(0), ~"online")).

%% The pattern would have the other tracer told of these calls.
timers_of_traced_processes_are_left_alone(_) ->
    Self = self(),
    Starts = spawn_link(fun() -> starts_timers() end),
    1 = erlang:trace(Starts, true, [call]),
    _ = spawn_link(fun() -> Self ! {timers, diagnose_probe:timers([Starts])} end),
    ?assertEqual(unknown, receive {timers, Seen} -> Seen end),
    ?assertEqual(none, receive {trace, Starts, call, _} -> told; {trace, Starts, call, _, _} -> told after 0 -> none end),
    1 = erlang:trace(Starts, false, [call]),
    %% Nothing is said of those that cannot be traced.
    1 = erlang:trace(Starts, true, [procs]),
    _ = spawn_link(fun() -> Self ! {timers, diagnose_probe:timers([Starts])} end),
    ?assertEqual(unknown, receive {timers, Other} -> Other end),
    true = unlink(Starts),
    exit(Starts, kill).

%% One starts thousands at once.
one_burst_hides_no_others(_) ->
    Self = self(),
    Burst = spawn_link(fun() -> timer:sleep(30), [erlang:send_after(1000, self(), N) || N <- lists:seq(1, 20_000)], timer:sleep(5000) end),
    Starts = spawn_link(fun() -> timer:sleep(150), starts_timers() end),
    _ = spawn_link(fun() -> Self ! {timers, diagnose_probe:timers([Burst, Starts])} end),
    #{ms := Ms, most := Most} = receive {timers, Seen} -> Seen end,
    ?assert(Ms >= 250),
    ?assertMatch([_], [1 || #{in := {?MODULE, starts_timers, 0}} <- Most]),
    _ = [begin true = unlink(Pid), exit(Pid, kill) end || Pid <- [Burst, Starts]],
    ok.

%% The advice of a finding that is the only one of its kind.
advice_of(Kind, Seen) ->
    [Advice] = [Advice || #{signs := Signs} <- found(Seen, []), #{kind := K, advice := Advice} <- Signs, K =:= Kind],
    Advice.

has(Words, Text) -> string:find(Text, Words) =/= nomatch.

%% Where it is in such a function at most looks, and works; a native one is seen where it gives way.
functions_that_go_through_all_are_told_of(_) ->
    Handles = [{shop, handle_cast, 2}, {gen_server, try_handle_cast, 3}],
    Deep = fun(Samples, More) ->
                   Suspect = suspect(maps:merge(#{usual_depth => 5000, growth => 100.0, gets => true, samples => Samples}, More)),
                   advice_of(deep_mailbox, #{suspects => [Suspect]})
           end,
    [?assertEqual({In, true, true}, {In, has(Words, Deep([{running, In ++ Handles, 20}], #{})),
                                     has(Words, Deep([{running, In ++ Handles, 20}], #{usual_depth => 60, least_depth => 55}))})
     || {In, Words} <- [{[{queue, len, 1}], "queue:len/1 for shop:handle_cast/2, which counts all entries"},
                        {[{string, length_1, 2}], "counts all entries"},
                        {[{lists, member, 2}], "a map, a set"}, {[{lists, keydelete3, 3}, {lists, keydelete3, 3}], "a map, a set"},
                        {[{lists, nth_1, 2}], "an array"}, {[{ordsets, add_element, 2}], "a map, a set"},
                        {[{proplists, get_value, 3}], "a map, a set"},
                        {[{lists, last, 2}], "reverse the list once"}, {[{erlang, '++', 2}, {lists, append, 2}], "reverse the list once"},
                        {[{binary, matches, 3}], "position up to which"},
                        {[{maps, keys, 1}], "maps:iterator/1"}, {[{sets, fold_bucket, 3}, {sets, fold_seg, 4}], "goes through all"}]],
    Other = [{running, [{shop, price, 1} | Handles], 11}],
    [?assertEqual({Samples, false}, {Samples, has("which goes", Deep(Samples ++ Other, #{}))})
     || Samples <- [[], [{running, [{lists, member, 2} | Handles], 9}], [{waiting, [{lists, member, 2} | Handles], 12}]]],
    %% Those of one kind are added.
    ?assert(has("goes from entry", Deep([{running, [{lists, member, 2}], 8}, {running, [{lists, keyfind, 3}], 8} | Other], #{}))),
    Busy = suspect(#{gets => true, depth => 12, usual_depth => 14, reductions => 1.3e7, answer_ms => 1,
                     samples => [{running, [{lists, keyfind, 3}, {shop, handle_call, 3}, {gen_server, try_handle_call, 4}], 70}]}),
    ?assert(has("It is mostly in lists:keyfind/3 for shop:handle_call/3, which goes from entry to entry",
                advice_of(busy_process, #{suspects => [Busy]}))),
    Stack = [{shop, price, 1}],
    [?assertEqual({Native, [Native | Stack]}, {Native, diagnose_probe:with_native(running, Native, Stack)})
     || Native <- [{lists, member, 2}, {lists, keyfind, 3}, {erlang, '++', 2}, {maps, keys, 1}]],
    ?assertEqual([{maps, keys, 1}], diagnose_probe:with_native(running, {maps, keys, 1}, [{maps, keys, 1}])),
    %% No receive is missed there.
    Appends = suspect(#{usual_depth => 5000, samples => [{running, [{erlang, '++', 2}], 20}]}),
    ?assertMatch({[], [], _}, diagnose_receives:scans(node(), [Appends], 1000)),
    ?assertEqual(Stack, diagnose_probe:with_native(running, {lists, map, 2}, Stack)).

%% Of a mailbox that is too large to be read, the data are only supposed to be those of its port.
ports_that_flood_their_owners_are_told_of(_) ->
    Owner = suspect(#{usual_depth => 9000, growth => 100.0, gets => true, samples => [{running, [{m, handle, 1}], 20}]}),
    Flood = #{pid => ~"<0.1.0>", port => ~"#Port<0.7>", 'of' => program, name => ~"sensord", bytes_a_second => 40_000},
    Waits = fun(Shape) -> Owner#{waiting := [{Shape, 150}, {~"{reload, _}", 50}]} end,
    Of = fun(Suspect, Floods) -> advice_of(deep_mailbox, #{suspects => [Suspect], floods => Floods}) end,
    [?assertEqual({Shape, Floods, true}, {Shape, Floods, has(Words, Of(Waits(Shape), Floods))})
     || {Shape, Floods, Words} <- [{~"{port, _}", [Flood], "acknowledgement"}, {~"{port, _}", [], "acknowledgement"},
                                   {~"{tcp, _, _}", [Flood#{'of' := tcp}], "has the mode {active, true}"},
                                   {~"{tcp, _, _}", [], "data of sockets"}, {~"{ssl, _, _}", [], "{active, once}"},
                                   {~"{udp, _, _, _, _}", [Flood#{'of' := udp}], "recbuf"}]],
    [?assert(has(Words, Of(Owner#{waiting := too_large}, [Flood#{'of' := Is}])))
     || {Is, Words} <- [{program, "If these messages are the output"}, {udp, "If these messages are its data"}]],
    [?assertNot(has("acknowledgement", Of(Suspect, Floods)))
     || {Suspect, Floods} <- [{Waits(~"call of get"), [Flood]}, {Owner#{waiting := too_large}, [Flood#{pid := ~"<0.2.0>"}]},
                              {Owner#{waiting := too_large}, []}, {Owner, []}]],
    Behind = (Waits(~"{port, _}"))#{usual_depth := 70, least_depth := 60},
    ?assert(has("acknowledgement", Of(Behind, [Flood]))),
    [#{signs := [Sign]}] = found(#{suspects => [Waits(~"{port, _}")], floods => [Flood]}, []),
    ?assert(has("it gets the data of sensord (#Port<0.7>, 40.0 kB a second)", unicode:characters_to_list(diagnose_wording:sentence(Sign)))).

ports_that_flood_their_owners_are_seen(_) ->
    Program = open_port({spawn_executable, os:find_executable("sh")},
                        [binary, {args, ["-c", "while echo x; do sleep 0.01; done 2>/dev/null"]}]),
    {ok, Socket} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}, {active, true}]),
    {ok, Number} = inet:port(Socket),
    {ok, Once} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}, {active, once}]),
    {ok, Other} = inet:port(Once),
    Sender = spawn_link(fun() -> {ok, Own} = gen_udp:open(0), sends(Own, [Number, Other]) end),
    receive {Program, {data, _}} -> ok end,
    Floods = diagnose_probe:floods([self()]),
    Address = iolist_to_binary(["127.0.0.1:", integer_to_list(Number)]),
    ?assertMatch([{program, ~"sh"}, {udp, Address}], lists:sort([{Of, Name} || #{'of' := Of, name := Name} <- Floods])),
    ?assertEqual([], diagnose_probe:floods([Sender])),
    unlink(Sender),
    exit(Sender, kill),
    port_close(Program),
    [ok = gen_udp:close(One) || One <- [Socket, Once]].

sends(Socket, Ports) ->
    [ok = gen_udp:send(Socket, {127, 0, 0, 1}, Port, ~"x") || Port <- Ports],
    timer:sleep(10),
    sends(Socket, Ports).

uneven_shares_are_told_of(_) ->
    Hot = suspect(#{usual_depth => 9000, growth => 100.0, gets => true, samples => [{running, [{shard, handle, 1}], 20}]}),
    Share = #{pid => ~"<0.1.0>", label => {shard, init, 1}, count => 16, messages => 9000, of_messages => 0.99, reductions => 5_000_000,
              of_reductions => 0.94, shards => true},
    Found = fun(More) -> found(#{suspects => [Hot], shares => [maps:merge(Share, More)]}, []) end,
    [#{signs := [#{advice := Advice} = Sign]}] = Found(#{}),
    ?assert(has("1 of 16 processes of shard:init/1 with the same parent, and does 94 % of their reductions, with 99 % of their messages",
                unicode:characters_to_list(diagnose_wording:sentence(Sign)))),
    ?assert(has("a key", Advice)),
    %% The rooms of a chat are no shards: their parts are told all the same.
    [#{signs := [#{advice := OfRoom} = Room]}] = Found(#{shards => false}),
    ?assertEqual({false, true}, {has("a key", OfRoom), has("94 % of their reductions", said(Room))}),
    Says = fun(More) -> [#{signs := [#{advice := Text}]}] = Found(More), has("a key", Text) end,
    %% Most of the messages wait for one of them, and the others work.
    ?assertEqual([false, true, false, false],
                 [Says(More) || More <- [#{of_reductions => 0.3}, #{of_messages => 0.5}, #{of_messages => 0.5, of_reductions => 0.5},
                                         #{pid => ~"<0.2.0>"}]]),
    %% One worker of a pool has a long job.
    ?assertNot(Says(#{messages => 0, of_messages => 0.0})).

shares_are_seen(_) ->
    Self = self(),
    Pids = [Hot | _] = [spawn_link(?MODULE, serves, [Self]) || _ <- lists:seq(1, 5)],
    Alone = spawn_link(fun() -> receive stop -> ok end end),
    _ = [Hot ! N || N <- lists:seq(1, 10_000)],
    Suspect = suspect(#{label => {?MODULE, serves, 1}}),
    [Share] = diagnose_probe:shares([{Hot, Suspect}, {Alone, Suspect#{label := {m, f, 0}}}]),
    ?assertMatch(#{count := 5, label := {?MODULE, serves, 1}, shards := true}, Share),
    Named = fun(Names) -> diagnose_probe:are_shards(lists:zip(lists:sublist(Pids, length(Names)), Names)) end,
    ?assertEqual([true, false, false], [Named(Names) || Names <- [[shard_1, shard_12, shard_2], [lobby, room_1, room_2], [lobby, '', '']]]),
    Later = [begin _ = [spawn(fun() -> ok end) || _ <- lists:seq(1, 50)], spawn(fun() -> ok end) end || _ <- lists:seq(1, 5)],
    ?assertEqual(false, diagnose_probe:are_shards([{Pid, ''} || Pid <- Later])),
    ?assertEqual([true, true], [maps:get(Key, Share) > 0.9 || Key <- [of_messages, of_reductions]]),
    _ = [begin unlink(Pid), exit(Pid, kill) end || Pid <- [Alone | Pids]],
    ok.

serves(Owner) ->
    receive
        N when is_integer(N) ->
            _ = [lists:seq(1, 1000) || _ <- lists:seq(1, 1000)],
            serves(Owner)
    end.

large_dictionaries_are_told_of(_) ->
    One = #{pid => ~"<0.8.0>", name => job_worker, label => unknown, bytes => 1_310_000},
    Found = fun(More) -> found(#{links => #{timer_bytes => 0, holders => [], dictionaries => [maps:merge(One, More)]}}, []) end,
    Says = fun(Sign) -> unicode:characters_to_list(diagnose_wording:sentence(Sign)) end,
    [#{subject := #{process := #{name := job_worker}}, signs := [Sign]}] = Found(#{}),
    ?assert(has("has, or had, at least 82,000 keys in its process dictionary: they take 1.3 MB", Says(Sign))),
    ?assertEqual([], Found(#{bytes => 150_000})).

%% Neither monitors, nor messages, nor few keys are such keys.
large_dictionaries_are_seen(_) ->
    process_flag(trap_exit, true),
    Self = self(),
    Started = fun(Prepare) ->
                      Pid = spawn_link(fun() -> _ = Prepare(), Self ! ready, receive stop -> ok end end),
                      receive ready -> Pid end
              end,
    Puts = fun(Keys) -> fun() -> [put({key, N}, N) || N <- lists:seq(1, Keys)] end end,
    Many = Started(Puts(20_000)),
    Others = [Started(Puts(2000)), Started(fun() -> [monitor(process, Self) || _ <- lists:seq(1, 5000)] end),
              Started(fun() -> [self() ! {N, N} || N <- lists:seq(1, 900)], receive {go, _} -> ok after 0 -> ok end end),
              Started(fun() -> [put(N, N) || N <- lists:seq(1, 20_000)], [erase(N) || N <- lists:seq(1, 20_000)] end)],
    Links = Started(fun() -> [monitor(process, Self) || _ <- lists:seq(1, 120_000)] end),
    Of = erlang:memory(),
    #{dictionaries := None} = diagnose_probe:links(#{monitor => 20_000_000, link => 0}, maps:from_list(Of), [Links],
                                                   erlang:monotonic_time(millisecond) + 5000),
    ?assertEqual([], None),
    #{dictionaries := Found} = diagnose_probe:links(#{}, unknown, [Many | Others], erlang:monotonic_time(millisecond) + 5000),
    Text = list_to_binary(pid_to_list(Many)),
    ?assertMatch([#{pid := Text}], Found),
    _ = [begin unlink(Pid), exit(Pid, kill) end || Pid <- [Many, Links | Others]],
    ok.

%% While a process works, the VM counts its stack twice at some looks.
a_stack_is_no_dictionary(_) ->
    process_flag(trap_exit, true),
    Works = spawn(fun() -> deep(200_000) end),
    Seen = [diagnose_probe:links(#{}, unknown, [Works], erlang:monotonic_time(millisecond) + 1000) || _ <- lists:seq(1, 300)],
    exit(Works, kill),
    ?assertEqual([[]], lists:usort([Found || #{dictionaries := Found} <- Seen])).

deep(Frames) ->
    _ = length(frames(Frames)),
    deep(Frames).

frames(0) -> [];
frames(N) -> [N | frames(N - 1)].

%% A dictionary whose values share a term, and messages with a persistent term, are each much larger as a copy.
what_is_shared_is_not_copied(_) ->
    process_flag(trap_exit, true),
    Self = self(),
    Keeps = spawn(fun() ->
                          Shared = lists:seq(1, 20_000),
                          _ = [put({job, N}, Shared) || N <- lists:seq(1, 12_000)],
                          Self ! ready,
                          receive {get, From} -> From ! get({job, 1}) end
                  end),
    receive ready -> ok end,
    Most = spawn(?MODULE, most_memory, [erlang:memory(processes), 0]),
    #{dictionaries := [_]} = diagnose_probe:links(#{}, unknown, [Keeps], erlang:monotonic_time(millisecond) + 5000),
    Key = {?MODULE, ?FUNCTION_NAME},
    ok = persistent_term:put(Key, lists:seq(1, 1_000_000)),
    Waits = spawn(fun() -> receive never -> ok end end),
    _ = [Waits ! {work, N, persistent_term:get(Key)} || N <- lists:seq(1, 60)],
    ?assertEqual({too_large, unknown}, {diagnose_probe:shapes(Waits, 60, 0), diagnose_probe:stays(Waits, 0)}),
    Most ! {tell, self()},
    ?assert(receive {most, Bytes} -> Bytes < 200_000_000 end),
    _ = [exit(Pid, kill) || Pid <- [Keeps, Waits]],
    _ = persistent_term:erase(Key),
    Few = spawn(fun() -> receive never -> ok end end),
    _ = [Few ! {work, N} || N <- lists:seq(1, 60)],
    ?assertMatch([{~"{work, _}", _}], diagnose_probe:shapes(Few, 60, 0)),
    exit(Few, kill).

%% The file of a module says how large its constants are. What has none may have any, and so has another file.
constants_are_not_copied(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "constants_of_rules"),
    Load = fun(Constant) ->
                   {ok, Module, Beam} = compile:forms([{attribute, 1, module, constants_of_rules}, {attribute, 1, export, [{all, 0}]},
                                                       {function, 1, all, 0, [{clause, 1, [], [], [erl_parse:abstract(Constant)]}]}]),
                   ok = file:write_file(File ++ ".beam", Beam),
                   _ = code:purge(Module),
                   {module, Module} = code:load_abs(File),
                   diagnose_probe:largest_in([lists, erlang, Module], 100)
           end,
    Large = [{rule, N} || N <- lists:seq(1, 4000)],
    ?assertEqual([100, 8 * erts_debug:flat_size(Large), 100], [Load([a]), Load(Large), Load(<<0:8_000_000>>)]),
    ?assertEqual(16 * byte_size(term_to_binary(lists:seq(1, 200_000))), Load(lists:seq(1, 200_000))),
    ok = file:delete(File ++ ".beam"),
    ?assertEqual(unknown, diagnose_probe:largest_in([constants_of_rules], 100)),
    _ = code:delete(constants_of_rules) andalso code:purge(constants_of_rules),
    Waits = spawn(fun() -> receive never -> ok end end),
    _ = [Waits ! {work, N} || N <- lists:seq(1, 60)],
    ?assertEqual({too_large, unknown}, {diagnose_probe:shapes(Waits, 60, 4_000_000), diagnose_probe:stays(Waits, 4_000_000)}),
    ?assertMatch([{~"{work, _}", _}], diagnose_probe:shapes(Waits, 60, 3_000_000)),
    exit(Waits, kill).

%% How much more all processes had at most.
most_memory(Before, Most) ->
    receive {tell, Pid} -> Pid ! {most, Most}
    after 1 -> most_memory(Before, max(Most, erlang:memory(processes) - Before))
    end.

settings_of_logger_are_told_of(_) ->
    Set = suspect(#{usual_depth => 9000, growth => 100.0, samples => [{running, [{logger_olp, set_mode, 2}], 20}]}),
    Deep = fun(More) -> advice_of(deep_mailbox, #{suspects => [maps:merge(Set, More)]}) end,
    Says = fun(More) -> [Words || Words <- ["drop_mode_qlen (200", "get_handler_config(app_log)", "get_handler_config/0",
                                            "get_proxy_config", "console"], has(Words, Deep(More))] end,
    ?assertEqual(["drop_mode_qlen (200", "get_handler_config(app_log)"], Says(#{name => logger_std_h_app_log})),
    ?assertEqual(["drop_mode_qlen (200", "get_handler_config(app_log)"], Says(#{name => logger_disk_log_h_app_log})),
    ?assertEqual(["drop_mode_qlen (200", "get_handler_config/0"], Says(#{label => {logger_olp, init, 1}})),
    ?assertEqual(["drop_mode_qlen (200", "get_proxy_config"], Says(#{name => logger_proxy})),
    %% If nobody takes its output, no setting helps.
    ?assertEqual(["console"], Says(#{name => logger_std_h_default, samples => [{waiting, [{logger_std_h, write_to_dev, 2}], 20}]})),
    ?assertEqual([], Says(#{name => logger_std_hammer})).

thresholds_of_the_monitor_are_told_of(_) ->
    Flooded = suspect(#{usual_depth => 9000, growth => 100.0, samples => [{running, [{m, handle, 1}], 20}]}),
    Monitor = #{pid => ~"<0.1.0>", events => [busy_port, {large_heap, 16_384}]},
    Of = fun(Suspect, By) -> advice_of(deep_mailbox, #{suspects => [Suspect], system_monitor => By}) end,
    ?assert(has("system_monitor/0", Of(Flooded, Monitor)) andalso has("{large_heap,16384}", Of(Flooded, Monitor))),
    [?assertNot(has("system_monitor", Of(Suspect, By)))
     || {Suspect, By} <- [{Flooded, none}, {Flooded, Monitor#{pid := ~"<0.2.0>"}},
                          {Flooded#{samples := [{waiting, [{sys, suspend_loop, 6}], 20}]}, Monitor}]],
    Was = erlang:system_monitor(self(), [{long_gc, 90_000}]),
    ?assertMatch(#{system_monitor := #{events := [{long_gc, 90_000}]}}, diagnose_probe:nothing_known(false)),
    _ = case Was of {Pid, Events} -> erlang:system_monitor(Pid, Events); undefined -> erlang:system_monitor(undefined) end,
    ok.

modules_that_have_most_of_the_memory_are_told_of(_) ->
    Modules = [#{module => locale_de, file_bytes => 2_000_000, constants => 5_000_000, alike => 30},
               #{module => locale_en, file_bytes => 1_900_000, constants => unknown, alike => 30}],
    [#{signs := [#{kind := large_code} = Sign]}] =
        found(#{large_code => #{code => 20_000_000, constants => 150_000_000, modules => Modules}, memory => #{total => 200_000_000}}, []),
    ?assertEqual("has most of its memory in modules: 20.0 MB of code and 150.0 MB of constants, of 200.0 MB; the largest files are of"
                 " locale_de (2.0 MB, constants 5.0 MB), locale_en (1.9 MB), and 30 files are half as large or more", said(Sign)),
    ?assertEqual(none, diagnose_probe:large_code(maps:from_list(erlang:memory()))),
    ?assertEqual(none, diagnose_probe:large_code(unknown)),
    process_flag(trap_exit, true),
    ?assertMatch(#{code := 200_000_000, modules := [#{module := Module, file_bytes := Bytes, alike := Alike} | _]}
                   when is_atom(Module) andalso Bytes > 0 andalso Alike > 0,
                 diagnose_probe:large_code(#{code => 200_000_000, total => 1})).

what_is_meant_to_be_large_is_left(_) ->
    #{tables := Tables} = nothing(),
    Table = #{name => a, bytes => 120_000_000, size => 9, owner => ~"<0.9.0>", type => set, protection => public},
    Memory = #{total => 200_000_000, binary => 0, ets => 0},
    Large = suspect(#{depth => 0, heap_bytes => 120_000_000, used_bytes => 100_000_000, old_bytes => 0, stack_bytes => 0}),
    [?assertEqual({Kind, true}, {Kind, has("leave", advice_of(Kind, Seen#{memory => Memory}))})
     || {Kind, Seen} <- [{large_ets_table, #{tables => Tables#{largest := [Table]}}},
                         {large_ets_table, #{tables => Tables#{bytes := 150_000_000, largest := [Table#{bytes := 1}]}}},
                         {binaries_beside, #{binaries_beside => #{bytes => 120_000_000, tables => []}}},
                         {large_persistent_terms, #{elsewhere => #{native => 0, nifs => [], terms => 120_000_000, count => 9, keys => []}}},
                         {large_code, #{large_code => #{code => 120_000_000, constants => 0, modules => []}}},
                         {native_memory, #{elsewhere => #{native => 220_000_000, nifs => [], terms => 0, count => 9, keys => []}}},
                         {large_heap, #{suspects => [Large]}}]].

tables_of_otp_are_told_of_as_such(_) ->
    #{tables := Tables} = nothing(),
    Says = fun(Kind, Name, Owner, More) ->
                   Table = maps:merge(#{name => Name, bytes => 120_000_000, size => 9, owner => Owner, type => set, protection => public,
                                        lookup_ns => 50_000}, More),
                   Of = case Kind of contended_ets_table -> slowest; _ -> largest end,
                   advice_of(Kind, #{tables => Tables#{Of := [Table]}, memory => #{total => 200_000_000}})
           end,
    Monitor = ~"<0.92.0> (mnesia_monitor)",
    Index = fun(Kind) -> Says(Kind, mnesia_index, Monitor, #{type => bag, same_key => 60_000, index_of => ~"status of job"}) end,
    [?assertEqual({Kind, true, true, false}, {Kind, has("del_table_index/2", Index(Kind)), has("status of job", Index(Kind)),
                                              has("auto}", Index(Kind))})
     || Kind <- [contended_ets_table, large_ets_table, rows_of_one_key]],
    ?assert(has("storage_properties", Says(contended_ets_table, job, Monitor, #{}))),
    ?assertNot(has("auto}", Says(contended_ets_table, job, Monitor, #{}))),
    [?assert(has(Words, Says(large_ets_table, job, Monitor, #{}))) || Words <- ["leave it", "table of mnesia"]],
    ?assert(has("fewer transactions", Says(contended_ets_table, mnesia_stats, Monitor, #{}))),
    ?assert(has("OTP makes it (timer_server)", Says(large_ets_table, timer_tab, ~"<0.9.0> (timer_server)", #{}))),
    [?assert(has("{write_concurrency, auto}", Says(contended_ets_table, Name, Owner, #{})))
     || {Name, Owner} <- [{job, ~"<0.9.0> (job)"}, {mnesia_copy, ~"<0.9.0>"}, {logger, ~"nobody"}]].

indices_of_mnesia_are_known(_) ->
    Of = fun() -> [Of || #{index_of := Of} <- maps:get(slowest, diagnose_probe:tables())] end,
    Index = ets:new(mnesia_index, [ordered_set, public]),
    true = ets:insert(Index, [{{N rem 2, N}} || N <- lists:seq(1, 10)]),
    ?assertEqual([], Of()),
    Values = ets:new(mnesia_gvar, [named_table, public]),
    true = ets:insert(Values, [{{job, {index, 3}}, Index}, {{job, attributes}, [id, status, data]}, {{other, {index, 3}}, make_ref()}]),
    %% Which tables are the slowest is measured anew each time.
    ok = diagnose_test_wait(fun() -> lists:uniq(Of()) =:= [~"status of job"] end),
    _ = [true = ets:delete(Table) || Table <- [Index, Values]],
    ok.

texts_in_tables_are_told_of(_) ->
    #{tables := Tables} = nothing(),
    Found = fun(More) ->
                    Table = maps:merge(#{name => a, bytes => 120_000_000, size => 9, owner => ~"<0.9.0>", type => set,
                                         protection => public}, More),
                    [#{signs := [#{advice := Advice} = Sign]}] =
                        found(#{tables => Tables#{largest := [Table]}, memory => #{total => 200_000_000}}, []),
                    {has("16 bytes", Advice), has("90 % of a sample of rows", iolist_to_binary(diagnose_wording:sentence(Sign)))}
            end,
    ?assertEqual({true, true}, Found(#{characters => 0.9})),
    ?assertEqual({false, false}, Found(#{characters => 0.4})),
    ?assertEqual({false, false}, Found(#{})),
    Texts = fun(Options) ->
                    Table = ets:new(texts, Options),
                    true = ets:insert(Table, [{N, lists:duplicate(900, $a)} || N <- lists:seq(1, 8000)]),
                    Seen = [Part > 0.9 || #{name := texts, characters := Part} <- maps:get(largest, diagnose_probe:tables())],
                    true = ets:delete(Table),
                    Seen
            end,
    ?assertEqual({[true], [true], []}, {Texts([public]), Texts([ordered_set, protected]), Texts([public, compressed])}).

%% What is a list of characters or bytes, in words.
texts_are_known(_) ->
    Words = fun(Term) -> {Words, All} = diagnose_probe:texts_of([{Term}]), true = Words =< All, Words end,
    [?assertEqual({Text, 2 * Length}, {Text, Words(Text)})
     || {Text, Length} <- [{"a text of some length", 21}, {["two texts", <<"and a binary">>, "of nine  "], 18},
                           {#{1 => "eight or"}, 8}, {"https://shop.example/orders?id=17&page=2", 40},
                           {[16#41F, 16#440, 16#438, 16#432, 16#435, 16#442, $,, $\s, 16#43C, 16#438, 16#440], 11}]],
    [?assertEqual({Term, 0}, {Term, Words(Term)})
     || Term <- ["short", [], 17, lists:seq(10_000_000, 10_000_020), lists:seq(1000, 1100), [1.0 | lists:seq(1, 20)],
                 lists:seq(1, 60), lists:seq(0, 255), lists:seq(32, 126), lists:duplicate(20, 200), lists:seq(100, 300),
                 list_to_tuple(lists:seq(1, 20)), [$a, $b | <<"improper">>], <<"a binary of some length">>, make_ref()]].

%% It ends one child after the other, and takes all that waits in between.
supervisor_that_ends_its_children_is_told_of(_) ->
    Ends = fun(Module, Function, Times) ->
                   suspect(#{depth => 20, usual_depth => 20, least_depth => 0, waiting => [{~"call of {start_child, _}", 20}],
                             asks => [#{pid => ~"<0.8.0>", name => '', in => {session, says_farewell, 1}, for => stop, label => unknown}],
                             samples => [{waiting, [{Module, Function, 1}, {supervisor, handle_call, 3}], Times},
                                         {running, [{gen_server, loop, 7}], 20 - Times}]})
           end,
    Found = fun(Suspect) -> lists:append([Signs || #{signs := Signs} <- found(#{suspects => [Suspect]}, [])]) end,
    [#{kind := deep_mailbox, advice := Advice} = Sign] = Found(Ends(supervisor, shutdown, 18)),
    ?assert(has("shorter shutdown", Advice)),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign), "for the end of <0.8.0>, which is in session:says_farewell/1")),
    ?assertMatch([#{kind := deep_mailbox}], Found(Ends('Elixir.DynamicSupervisor', wait_children, 18))),
    [#{advice := InBetween}] = Found((Ends(supervisor, shutdown, 18))#{asks := []}),
    ?assert(has("shorter shutdown", InBetween)),
    [?assertEqual([], Found(Other))
     || Other <- [Ends(supervisor, shutdown, 9), Ends(supervisor, do_restart, 18), (Ends(supervisor, shutdown, 18))#{usual_depth := 4}]],
    %% That the node is stopping tells of it.
    #{pid := Pid} = Stops = Ends(supervisor, shutdown, 18),
    Stopping = #{ms => 3000, application => shop,
                 asks => [#{pid => Pid, name => '', in => {supervisor, shutdown, 1}, for => stop, label => unknown}]},
    ?assertMatch([{stopping_node, _}], signs(#{suspects => [Stops], stopping => Stopping}, [])).

%% Messages of timers are in no process.
memory_of_processes_that_none_has_is_told_of(_) ->
    Makers = #{traced => 50, ms => 300, most => [#{pid => ~"<0.8.0>", name => mail_queue, label => {mails, init, 1}, processes => 1,
                                                   times => 6, in => {mails, later, 1}}]},
    Beside = #{bytes => 240_000_000, of_processes => 600_000, count => 50},
    Seen = #{processes_beside => Beside, makers => Makers, links => #{timer_bytes => 15_000 * 152, holders => []}},
    [#{subject := node, signs := [#{kind := processes_beside, advice := Advice} = Sign]}] = found(Seen, []),
    ?assert(has("only a key", Advice)),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign),
                                    "240.0 MB .*its 50 processes have 600.0 kB together.*about 15,000 timers: 16.0 kB for each;"
                                    ".*<0.8.0> .mail_queue. in mails:later/1")),
    [?assert(has("too few timers", advice_of(processes_beside, Seen#{links => Links})))
     || Links <- [#{timer_bytes => 152, holders => []}, #{timer_bytes => 1 bsl 60, holders => []}]],
    [?assertEqual([], found(#{processes_beside => None}, []))
     || None <- [not_needed, Beside#{bytes := 90_000_000}, Beside#{of_processes := 300_000_000}]].

%% Messages that wait are in the memory of their process, on its heap or off.
messages_of_timers_are_beside_processes(_) ->
    Text = lists:duplicate(4000, $a),
    Asked = fun(More) ->
                    Census = #{memory => maps:from_list(erlang:memory()), heap_bytes => 0, messages => 0, skipped => #{}},
                    Self = self(),
                    _ = spawn_link(fun() -> process_flag(trap_exit, true),
                                            Self ! diagnose_probe:beside_processes(maps:merge(Census, More),
                                                                                   erlang:monotonic_time(millisecond) + 10_000)
                                   end),
                    receive Beside -> Beside end
            end,
    Off = spawn_opt(fun() -> receive never -> ok end end, [link, {message_queue_data, off_heap}]),
    _ = [Off ! Text || _ <- lists:seq(1, 2000)],
    #{bytes := Before} = Asked(#{}),
    Timers = [erlang:send_after(3_600_000, Off, Text) || _ <- lists:seq(1, 2000)],
    #{bytes := Bytes, of_processes := Sum} = Asked(#{}),
    _ = [erlang:cancel_timer(Timer) || Timer <- Timers],
    ?assert(Bytes - Before > 100_000_000),
    ?assert(Sum > 120_000_000),
    [?assertEqual(not_needed, Asked(None))
     || None <- [#{messages => 60_000}, #{skipped => #{silent => 1}}, #{heap_bytes => erlang:memory(processes)}, #{memory => unknown}]],
    true = unlink(Off),
    exit(Off, kill).

postponed_events_that_are_handled_again_are_told_of(_) ->
    Machine = suspect(#{depth => 0, reductions => 5.0e6, heap_bytes => 120_000_000, used_bytes => 90_000_000, old_bytes => 0,
                        stack_bytes => 0,
                        samples => [{running, [{device, connecting, 3}, {gen_statem, loop_state_callback, 11}], 20}]}),
    Retries = #{pid => ~"<0.1.0>", ms => 1000, changes => 5, events => 750_000},
    Found = fun(Of) ->
                    lists:append([Signs || #{signs := Signs} <- found(#{suspects => [Machine], retries => Of,
                                                                         memory => #{total => 200_000_000}}, [])])
            end,
    [#{kind := postponed_events} = Sign] = Found([Retries]),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign),
                                    "changed its state 5 times in 1000 ms, with 150,000 postponed events on average.*about 750,000 of"
                                    " them a second, mostly in device:connecting/3")),
    %% It works for another reason.
    [?assertEqual([], [postponed_events || #{kind := postponed_events} <- Found(None)])
     || None <- [none, unknown, [], [Retries#{pid := ~"<0.2.0>"}], [Retries#{changes := 1}], [Retries#{events := 4000}],
                 [Retries#{events := 15_000}]]].

%% Of machines that work, only one that changes its state with postponed events handles these again.
retries_are_counted(_) ->
    Self = self(),
    Retries = fun(Machines) ->
                      _ = spawn_link(fun() -> Self ! {retries, diagnose_probe:retries(Machines)} end),
                      receive {retries, Seen} -> Seen end
              end,
    [Postpones, Changes, Counts] = Machines = [element(2, {ok, _} = gen_statem:start_link(diagnose_machine, Kind, []))
                                               || Kind <- [postpones, changes, counts]],
    _ = [gen_statem:cast(Postpones, {request, N}) || N <- lists:seq(1, 500)],
    Text = fun(Pid) -> list_to_binary(pid_to_list(Pid)) end,
    ByPid = maps:from_list([{Pid, One} || #{pid := Pid} = One <- Retries(Machines)]),
    Of = fun(Pid) -> maps:get(Text(Pid), ByPid, none) end,
    ?assertMatch(#{changes := Times, events := Events} when Times > 1 andalso Events =:= 500 * Times, Of(Postpones)),
    ?assertMatch(#{events := 0}, Of(Changes)),
    ?assertEqual(none, Of(Counts)),
    StateChange = {gen_statem, loop_state_change, 9},
    ?assertEqual({traced, false}, erlang:trace_info(StateChange, traced)),
    [?assertEqual({flags, []}, erlang:trace_info(Machine, flags)) || Machine <- Machines],
    1 = erlang:trace_pattern(StateChange, true, [call_count]),
    ?assertEqual(unknown, Retries(Machines)),
    _ = erlang:trace_pattern(StateChange, false, [call_count]),
    _ = [begin true = unlink(Machine), exit(Machine, kill) end || Machine <- Machines], % one takes no message
    ok.

who_asks_for_states_is_told_of(_) ->
    Asks = fun(Function, Times) ->
                   suspect(#{depth => 0, idle => true, heap_bytes => 48_000_000, used_bytes => 40, old_bytes => 0,
                             states_of => [#{pid => ~"<0.8.0>", name => orders, times => Times, calls => 9}],
                             samples => [{waiting, [{gen, do_call, 4}, {sys, send_system_msg, 3} | Function] ++ [{shop, counts, 0}], Times},
                                         {waiting, [{timer, sleep, 1}, {shop, counts, 0}], 40 - Times}]})
           end,
    InOneCall = fun(Times) ->
                        #{states_of := [Of]} = One = Asks([{sys, get_state, 2}], Times),
                        One#{states_of := [Of#{calls := 1}]}
                end,
    Gives = suspect(#{pid => ~"<0.8.0>", name => orders, depth => 0, heap_bytes => 30_000_000, used_bytes => 20_000_000,
                      samples => [{running, [{gen, reply, 2}, {sys, handle_system_msg, 8}, {proc_lib, init_p_do_apply, 3}], 8},
                                  {waiting, [{gen_server, loop, 7}], 32}]}),
    Found = fun(Suspects) -> [{Subject, Signs} || #{subject := Subject, signs := Signs} <- found(#{suspects => Suspects}, [])] end,
    %% Nobody but the one who asks is told of, and its garbage is not.
    [{#{process := #{pid := ~"<0.1.0>"}}, [#{kind := states_asked_for, advice := Advice} = Sign]}] =
        Found([Asks([{sys, get_state, 2}], 16), Gives]),
    ?assert(has("part that is needed", Advice)),
    ?assertMatch({match, _}, re:run(diagnose_wording:sentence(Sign),
                                    "whole state of <0.8.0> .orders. .*by sys:get_state: at 16 of 40 looks, in shop:counts/0; .*48.0 MB")),
    ?assertMatch([_], Found([(Asks([{sys, get_state, 2}], 40))#{idle := false}])),
    [{_, [#{kind := states_asked_for} = Status]}] = Found([Asks([], 16)]),
    ?assert(has("sys:get_status/1", unicode:characters_to_list(diagnose_wording:sentence(Status)))),
    [{#{process := #{name := orders}}, [#{kind := states_asked_for} = Given]}] = Found([Gives]),
    ?assert(has("at 8 of 40 looks it answers", unicode:characters_to_list(diagnose_wording:sentence(Given)))),
    [?assertEqual([], [Kind || {_, Signs} <- Found([Other]), #{kind := states_asked_for = Kind} <- Signs])
     || Other <- [Asks([{sys, get_state, 2}], 3), InOneCall(16), InOneCall(40), (Asks([{sys, get_state, 2}], 16))#{heap_bytes := 30_000},
                  Gives#{samples := [{waiting, [{sys, suspend_loop, 6}, {sys, handle_system_msg, 8}], 40}]},
                  Gives#{samples := [{waiting, [{gen_server, loop, 7}], 40}]}]].

%% By the monitor of the call.
who_is_asked_for_its_state_is_known(_) ->
    Server = spawn_link(fun() -> receive never -> ok end end),
    Asks = spawn(fun() -> sys:get_state(Server, infinity) end),
    ok = diagnose_test_wait(fun() -> process_info(Asks, current_function) =:= {current_function, {gen, do_call, 4}} end),
    ServerText = list_to_binary(pid_to_list(Server)),
    Row = #{pid => Asks, at => erlang:monotonic_time(millisecond), depth => 0, status => waiting, reductions => 1, unused => 20_000_000},
    Self = self(),
    _ = spawn_link(fun() ->
                           process_flag(trap_exit, true),
                           Self ! diagnose_probe:watch([Row], erlang:monotonic_time(millisecond) + 300, unknown)
                   end),
    #{suspects := [{Asks, #{states_of := [#{pid := ServerText, times := Times, calls := 1}]}}]} = receive #{} = Seen -> Seen end,
    ?assert(Times > 0),
    ?assertMatch([#{pid := ServerText, times := 3, calls := 2}], diagnose_probe:states_of([{state_of, Server}, {state_of, Server}, false, false, {state_of, Server}])),
    true = unlink(Server),
    _ = [exit(Pid, kill) || Pid <- [Server, Asks]],
    ok.
