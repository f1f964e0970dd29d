%% @doc What was found, what is unknown and what went wrong, as sentences. Pure.
-module(diagnose_wording).

-include("diagnose_bounds.hrl").

-export([sentence/1, subject/1, label/1, warnings/2, unknown/2, unseen/1, unmeasured/1, error/1, count/1, bytes/1, reasons/1,
         in_tables/1, shares/2, is_kept_fixed/1, printable/1, end_reason/1]).

%% @doc The evidence of a sign, without whom it concerns.
-spec sentence(diagnose_types:sign()) -> binary().
sentence(#{kind := Kind, evidence := Evidence}) -> printable(seen(Kind, Evidence)).

seen(Kind, #{worst := Process, alike := Alike} = Evidence) ->
    [together(Kind, Evidence),
     [["the worst of ", integer_to_list(Alike), " that were inspected more closely, "] || Alike > 1],
     subject(#{process => Process}), ": ", evidence(Kind, Evidence)];
seen(deep_mailbox, #{processes := Processes, messages := Deepest} = Evidence) when Processes > 1 ->
    [together(deep_mailbox, Evidence), count(Deepest), " in the deepest"];
seen(Kind, Evidence) -> evidence(Kind, Evidence).

%% Of a group.
together(deep_mailbox, #{processes := Processes, messages_together := Messages}) when Processes > 1 ->
    [count(Messages), " messages wait in ", count(Processes), " mailboxes; "];
together(suspended, #{processes := Processes}) when Processes > 1 -> [count(Processes), " are suspended; "];
together(_, _) -> "".

evidence(unresponsive, #{ms := Ms, messages := Messages}) ->
    io_lib:format("did not answer for ~.1f s~ts",
                  [Ms / 1000, [[", with ", count(Messages), " messages waiting when it last did"] || is_integer(Messages)]]);
evidence(overloaded, #{ready := Ready, schedulers := Schedulers, offline := Offline, 'of' := Of, looks := Looks, in := In}) ->
    io_lib:format("is overloaded: at least ~ts processes are ready to run, for ~ts~ts~ts~ts",
                  [count(Ready), case Schedulers of 1 -> "1 scheduler"; _ -> [count(Schedulers), " schedulers"] end,
                   [[" (", count(Offline), " more ", case Offline of 1 -> "is"; _ -> "are" end, " offline)"] || Offline > 0],
                   of_kinds(Of),
                   [["; functions near the top of the stack in ", count(Looks), " looks at some: ", shares(Looks, In)] || In =/= []]]);
evidence(near_limit, #{what := What, count := Count, limit := Limit, growth_a_second := Growth, 'of' := Of, by := By} = Evidence) ->
    io_lib:format("has ~ts of at most ~ts ~ts (~b %)~ts~ts~ts~ts",
                  [count(Count), count(Limit), what(What), 100 * Count div Limit, limit_growth(What, Count, Limit, Growth), of_kinds(Of),
                   [starter(One) || One <- By],
                   [["; ", count(Asked), " of them that were sampled were opened by ", starters(Most, Labels, Asked)]
                    || #{asked := Asked, most := Most, 'of' := Labels} <- maps:get(opened_by, Evidence, [])]]);
evidence(long_collection, #{minor := Minor, full := Full, window_ms := Ms, heap_bytes := Heap, kin := Kin, cores_together := Cores}) ->
    io_lib:format("hibernates ~b times in ~b ms, and each time copies its heap of ~ts, of which nearly all is alive; together the ~ts of"
                  " its kind spend about ~.1f cores on that", [Minor + Full, Ms, bytes(Heap), count(Kin), Cores]);
evidence(long_collection, #{longest_ms := Longest, total_ms := Total, window_ms := Ms, minor := Minor, full := Full,
                            heap_bytes := Heap} = Evidence) ->
    io_lib:format("collects for up to ~.1f ms at a time, and for ~.1f of ~b ms in all (~b minor, ~b full), with a heap of ~ts~ts~ts",
                  [Longest, Total, Ms, Minor, Full, bytes(Heap), used_more(Evidence), where_it_is(Evidence)]);
evidence(needless_full_sweeps, #{sweeps := Sweeps, asked := Asked, fullsweep_after := After, left_bytes := Left,
                                 freed_bytes := Freed, spent_ms := Spent, window_ms := Ms, saves_ms := Saves,
                                 memory_bytes := Memory, sure := Sure}) ->
    io_lib:format("has ~b full sweeps in ~b ms (~ts), and each sweep leaves ~ts, ~ts less than the sweep before; the sweeps took ~.1f ms,"
                  " and the change would save ~.1f ms of that for up to ~ts of memory~ts",
                  [Sweeps, Ms, why_swept(Asked, Sweeps, After), bytes(Left), bytes(Freed), Spent, Saves, bytes(Memory), how_sure(Sure)]);
evidence(promoted_garbage, #{sweeps := Sweeps, minor := Minor, old_bytes := Old, freed_bytes := Freed, of_binaries := Binaries,
                             left_bytes := Left, window_ms := Ms, copied_bytes := Copied, copied_then_bytes := Then,
                             saves_bytes := Saves, sure := Sure}) ->
    io_lib:format("had at least ~ts of garbage~ts in its old generation of ~ts before each full sweep (~b full sweeps and ~b minor"
                  " collections in ~b ms), and ~ts alive; earlier sweeps would save ~ts of memory, and copy ~ts instead of ~ts~ts",
                  [bytes(Freed), [[" (", bytes(Binaries), " of binaries)"] || Binaries > 0], bytes(Old), Sweeps, Minor, Ms, bytes(Left),
                   bytes(Saves), bytes(Then), bytes(Copied), how_sure(Sure)]);
evidence(binary_pressure, #{collections := Count, full := Full, 'of' := All, held_bytes := Held, virtual_bytes := Virtual,
                            copied_bytes := Copied, freed_bytes := Freed, spent_ms := Spent, window_ms := Ms, saves_ms := Saves,
                            memory_bytes := Memory, sure := Sure}) ->
    io_lib:format("is collected ~ts times in ~b ms (of ~ts; ~ts full) because its binaries, ~ts at a time, fill a virtual heap"
                  " of ~ts; these collections copied ~ts, freed ~ts and took ~.1f ms, and the change would save ~.1f ms of that for up to"
                  " ~ts of memory~ts",
                  [count(Count), Ms, count(All), count(Full), bytes(Held), bytes(Virtual), bytes(Copied), bytes(Freed), Spent, Saves,
                   bytes(Memory), how_sure(Sure)]);
evidence(small_start, #{'of' := Of, ended := Ended, grown := Grown, collections := Collections, first_bytes := First,
                        last_bytes := Last, alike := Alike, spent_ms := Spent, window_ms := Ms, saves_ms := Saves,
                        memory_bytes := Memory, sure := Sure, limit_bytes := Limit, in := In}) ->
    [io_lib:format("starts processes (~ts); ~b ended within ~b ms, and the heaps of ~b of these had grown from ~ts, ~b of them to about ~ts",
                   [lists:join(", ", Of), Ended, Ms, Grown, bytes(First), Alike, bytes(Last)]),
     case Limit > 0 andalso 2 * Last > Limit of
         true -> [", where the limit (max_heap_size) is ", bytes(Limit)];
         false ->
             io_lib:format("; the ~b collections took ~.1f ms, and the change would save ~.1f ms of that for up to ~ts of memory each~ts",
                           [Collections, Spent, Saves, bytes(Memory), how_sure(Sure)])
     end,
     [["; they work mostly in ", lists:join(", ", In)] || In =/= []]];
evidence(deep_mailbox, Evidence) -> deep(Evidence);
evidence(restart_loop, #{again := Again, window_ms := Ms}) ->
    [io_lib:format("has processes that failed and were started again within ~.1f s: ", [Ms / 1000]),
     lists:join(", ", [[Process, " for ", Reason] || #{process := Process, reason := Reason} <- Again])];
evidence(restart_loop, #{swept := Swept, sweeps := Sweeps, failed := Failed, window_ms := Ms, 'of' := Of, reasons := Reasons}) ->
    io_lib:format("ends all its children again and again (~ts): ~ts that were seen were ended by it, in ~b turns within ~.1f s, each after"
                  " another one had failed (~ts); ~ts", [kinds(Of), count(Swept), Sweeps, Ms / 1000, count(Failed), of_all(Reasons)]);
evidence(restart_loop, #{ended := Ended, window_ms := Ms, started := Started, ms := For, 'of' := Of}) ->
    io_lib:format("starts children again and again that end without an error (~ts): ~ts were seen to end within ~.1f s, and within ~.1f s it"
                  " started ~ts though nobody asked it to", [kinds(Of), count(Ended), Ms / 1000, For / 1000, count(Started)]);
evidence(restart_loop, #{failed := Failed, ended := Ended, window_ms := Ms, parents := Parents, 'of' := Of, reasons := Reasons}) ->
    io_lib:format("~tsstarts processes that fail again and again (~ts): ~ts of ~ts that were seen to end within ~b ms ended with an"
                  " error, at least ~ts a second; ~ts",
                  [others_alike(Parents), kinds(Of), count(Failed), count(Ended), Ms, count(1000 * Failed div Ms), of_all(Reasons)]);
evidence(copied_starts, #{how := taken, starts := Starts, each_bytes := Each, bytes_a_second := Bytes, window_ms := Ms,
                          parents := Parents, 'of' := Of, large_rows := Rows}) ->
    io_lib:format("~tsstarts processes~ts, each of which soon gets ~ts at once (a row of a table, a message, or a term that"
                  " a native function makes): ~ts of them were seen within ~b ms, with at least ~ts a second~ts",
                  [others_alike(Parents), [[" (", kinds(Of), ")"] || Of =/= []], bytes(Each), count(Starts), Ms, bytes(Bytes),
                   [["; tables with such rows: ", lists:join(", ", [io_lib:format("~tp (~ts)", [Name, rows(Count)])
                                                                    || #{name := Name, rows := Count} <- Rows])] || Rows =/= []]]);
evidence(copied_starts, #{starts := Starts, each_bytes := Each, bytes_a_second := Bytes, window_ms := Ms, parents := Parents,
                          'of' := Of}) ->
    io_lib:format("~tsstarts processes (~ts) and copies ~ts to each: ~ts starts were seen within ~b ms, with at least ~ts a second copied",
                  [others_alike(Parents), kinds(Of), bytes(Each), count(Starts), Ms, bytes(Bytes)]);
evidence(os_processes, #{alive := Alive, started_a_second := Started, programs := Programs, owners := Owners, 'of' := Of}) ->
    io_lib:format("has ~ts operating-system programs running~ts~ts~ts",
                  [count(Alive),
                   [[", and starts ", count(Started), " a second"] || Started > 0],
                   [["; they are ", kinds(Programs)] || Programs =/= []],
                   [["; started by ", starters(Owners, Of, sum_of(Programs))] || Owners =/= []]]);
evidence(connect_loop, #{a_second := Second, seen := Seen, connected := Connected, in := In, processes := Processes, owners := Owners,
                         'of' := Of}) ->
    io_lib:format("opens about ~ts TCP sockets a second that get no connection and are closed at once (~ts were seen, and ~ts with a"
                  " connection)~ts; opened by ~ts~ts",
                  [about(Second), count(Seen), count(Connected), [[", in ", kinds_in(In)] || In =/= []],
                   [[count(Processes), " processes: "] || Processes > 1], starters(Owners, Of, Seen)]);
evidence(table_scan, #{times := Times, looks := Looks, processes := Processes, in := In, tables := Tables} = Evidence) ->
    io_lib:format("~ts again and again, in ~ts~ts: at ~b~ts looks~ts",
                  [case Processes of
                       1 -> "scans ETS tables";
                       _ -> ["has ", count(Processes), " processes that scan ETS tables"]
                   end,
                   In, [[", called by ", By] || #{by := By} <- [Evidence]], Times, [[" of ", count(Looks)] || is_integer(Looks)],
                   [["; tables with many rows: ",
                     lists:join(", ", [io_lib:format("~tp (~ts rows~ts, owner ~ts~ts)",
                                                     [Name, count(Rows),
                                                      [[", ", count(More), " more a second"] || #{rows_a_second := More} <- [Table]],
                                                      Owner, of_ended(Table)])
                                       || #{name := Name, rows := Rows, owner := Owner} = Table <- Tables])] || Tables =/= []]]);
evidence(forced_collections, #{asked := Asked, 'of' := Of, a_second := Pace, times := Times, looks := Looks}) ->
    io_lib:format("~ts: somebody requested full collections of ~b of ~b traced processes, ~.1f times a second",
                  [case Times of
                       0 -> "has processes that others collect again and again";
                       _ -> io_lib:format("repeatedly requests collections of other processes, at ~b of ~b looks", [Times, Looks])
                   end,
                   Asked, Of, Pace]);
evidence(many_starts, #{a_second := Started, by := By, label := Label, 'of' := Of}) ->
    io_lib:format("starts about ~ts processes a second~ts~ts",
                  [about(Started), [[", most of them by ", By, [[", ", Label] || Label =/= unknown]] || By =/= unknown],
                   [["; they are of ", lists:join(", ", [L || #{label := L} <- Of])] || Of =/= []]]);
evidence(tls_handshakes, #{a_second := Started, times := Times, looks := Looks, by := By}) ->
    io_lib:format("starts at least ~ts connections over TLS a second; ~b of ~b looks at working processes that had just started show"
                  " them in TLS~ts",
                  [about(Started), Times, Looks, [["; they are used by ", lists:join(", ", By)] || By =/= []]]);
evidence(many_ticks, #{tick := Tick, a_second := Pace, interval_ms := Ms, at_a_time := Count, in := In}) ->
    io_lib:format("gets the message ~tp ~ts times a second from timers of its own of ~ts ms, so about ~ts of them run at a time~ts",
                  [Tick, count(Pace), count(Ms), count(Count), [[", started", in_function(In)] || In =/= unknown]]);
evidence(log_overload, #{handler := Name, looks := Looks, sync := Sync, drop := Drop, in := In}) ->
    io_lib:format("has too many log events for the handler ~tp: it is in mode drop at ~b of ~b looks, and in mode sync at ~b~ts",
                  [Name, Drop, Looks, Sync,
                   [["; seen logging: ", lists:join(", ", [io_lib:format("~ts (~b times)", [L, N]) || #{label := L, count := N} <- In])]
                    || In =/= []]]);
evidence(log_overload, #{a_second := All, most := Most}) ->
    io_lib:format("logs about ~ts events a second: ~ts",
                  [about(All),
                   lists:join(", ", [[case Alike of 1 -> Process; _ -> [count(Alike), " of ", Label] end, [[" in ", In] || In =/= unknown],
                                      " (", about(Pace), ")"]
                                     || #{process := Process, processes := Alike, label := Label, in := In, a_second := Pace} <- Most])]);
evidence(timer_wakeups, #{a_second := All, 'of' := Of}) ->
    io_lib:format("is woken by timers about ~ts times a second: ~ts",
                  [about(All),
                   lists:join("; ", [io_lib:format("~ts of ~ts, each ~ts times a second~ts",
                                                   [count(Count), Label, count(Each), [[", mostly in ", In] || In =/= unknown]])
                                     || #{label := Label, count := Count, each_a_second := Each, in := In} <- Of])]);
evidence(collecting_together, #{share := Share, 'of' := Of}) ->
    io_lib:format("spends ~b % of the time in which its schedulers are busy on collections~ts",
                  [round(100 * Share),
                   [[": ", lists:join("; ", [io_lib:format("~ts of ~ts, of which ~b were traced and spend ~.1f % of their time each, with"
                                                           " heaps of up to ~ts",
                                                           [count(Count), Label, Traced, 100 * Each, bytes(Heap)])
                                             || #{label := Label, count := Count, traced := Traced, each := Each,
                                                  heap_bytes := Heap} <- Of])]
                    || Of =/= []]]);
evidence(high_priority, #{seen := true, priority := Priority, times := Times, looks := Looks, in := In,
                         reductions_a_second := Reductions}) ->
    io_lib:format("has priority ~ts and works at ~b of ~b looks~ts, ~ts reductions a second",
                  [Priority, Times, Looks, seen_in(In), count(Reductions)]);
evidence(high_priority, #{seen := false, priority := Priority, reductions_a_second := Reductions}) ->
    io_lib:format("has priority ~ts and does ~ts reductions a second, mostly between the looks, because the inspection waits for it",
                  [Priority, count(Reductions)]);
evidence(low_priority, #{times := Times, looks := Looks, messages := Messages, reductions_a_second := Reductions, callers := Callers,
                         others := Others}) ->
    io_lib:format("has priority low, and has work at ~b of ~b looks~ts~ts~ts, while others take the schedulers: ~ts",
                  [Times, Looks, [[", ", count(Reductions), " reductions a second"] || is_integer(Reductions)],
                   [["; ", messages_wait(Messages)] || Messages > 0],
                   [["; it is called by processes of ", lists:join(", ", [Label || #{label := Label} <- Callers])] || Callers =/= []],
                   kinds(Others)]);
evidence(suspended, #{times := Times, looks := Looks, in := In, waits := Ports, by := By}) ->
    io_lib:format("is suspended in ~b of ~b looks~ts~ts~ts", [Times, Looks, seen_in(In), full_ports(Ports), suspended_by(By)]);
evidence(states_asked_for, #{times := Times, looks := Looks, heap_bytes := Heap, servers := Servers, request := Request, in := In}) ->
    io_lib:format("asks for the whole state~ts again and again, by ~ts: at ~b of ~b looks~ts; its heap has ~ts",
                  [[[" of ", lists:join(", ", Servers)] || Servers =/= []],
                   case Request of get_state -> "sys:get_state"; another -> "a request of sys such as sys:get_status/1" end,
                   Times, Looks, [[", in ", In] || In =/= unknown], bytes(Heap)]);
evidence(states_asked_for, #{times := Times, looks := Looks, heap_bytes := Heap}) ->
    io_lib:format("is asked for its state again and again (sys:get_state/1, sys:get_status/1): at ~b of ~b looks it answers a request of"
                  " sys; its heap has ~ts", [Times, Looks, bytes(Heap)]);
evidence(debugging_left_on, #{left := sys, prints := Prints, in := In, times := Times, looks := Looks}) ->
    io_lib:format("passes its events to an option of sys for debugging~ts: it is in sys:handle_debug/4 at ~b of ~b looks",
                  [case In of
                       _ when Prints -> " that prints them (sys:trace/2, or sys:log_to_file/2)";
                       unknown -> "";
                       _ -> [", which calls ", In, " (sys:install/2)"]
                   end, Times, Looks]);
evidence(debugging_left_on, #{left := cover, modules := Modules, count := Count, times := Times, looks := Looks, processes := Processes}) ->
    io_lib:format("has ~ts each line (compiled for coverage): ~ts; ~ts in that code at ~b of ~b looks at working processes",
                  [case Count of 1 -> "1 module that counts"; _ -> [count(Count), " modules that count"] end,
                   some_of(Modules, Count), processes_are(Processes), Times, Looks]);
evidence(interpreted_code, #{modules := Modules, count := Count, waiting := Waiting, times := Times, looks := Looks,
                             reductions_a_second := Reductions}) ->
    io_lib:format("interprets code in the debugger at ~b of ~b looks at working processes, ~ts reductions a second~ts~ts",
                  [Times, Looks, count(Reductions),
                   [["; ", case Count of 1 -> "1 module is"; _ -> [count(Count), " modules are"] end, " interpreted: ",
                     some_of(Modules, Count)]
                    || Modules =/= []],
                   [["; for ", lists:join(", ", Waiting)] || Waiting =/= []]]);
evidence(busy_process, #{to_itself_a_second := Pace, in := Function, reductions_a_second := Reductions}) ->
    io_lib:format("never waits, since it sends itself messages all the time, or looks for them without waiting (receive ... after 0):"
                  " ~ts a second; in ~ts~ts",
                  [count(Pace), Function, [[", ", count(Reductions), " reductions a second"] || is_integer(Reductions)]]);
evidence(busy_process, #{taken_a_second := Pace, in := Function, mostly := Mostly, heap_bytes := Heap, callers := Callers}) ->
    io_lib:format("never waits, and takes about ~ts messages a second into its heap (receive ... after 0), which has ~ts~ts; in ~ts~ts",
                  [about(Pace), bytes(Heap),
                   [["; ", count(Callers), case Callers of 1 -> " caller waits"; _ -> " callers wait" end] || Callers > 0],
                   Function, mostly_in(Function, Mostly)]);
evidence(Kind, #{times := Times, looks := Looks, processes := Count, reductions_a_second := Reductions, label := Label})
  when Kind =:= interpreted_code; Kind =:= formatted_terms ->
    io_lib:format("~ts ~ts at ~b of ~b looks at working processes~ts~ts",
                  [processes_are(Count),
                   case Kind of
                       interpreted_code -> "in erl_eval, the interpreter of expressions,";
                       formatted_terms -> "at printing terms as text (io_lib)"
                   end, Times, Looks, [["; ", count(Reductions), " reductions a second"] || Reductions > 0],
                   [[", mostly of ", Label] || Label =/= unknown]]);
evidence(slow_emulator, #{interprets := Interprets, build := Build, off := Off}) ->
    ["runs an emulator that ",
     lists:join(", and ", ["interprets the code, because it was built without the JIT" || Interprets]
                ++ [["was built to find faults (type ", atom_to_list(Build), ")"] || Build =/= opt]
                ++ [["takes each block of memory from the C library, because these allocators are off: ",
                     lists:join(", ", [atom_to_list(Name) || Name <- Off])] || Off =/= []])];
evidence(too_few_schedulers, #{blockers := [_ | _] = Blockers}) ->
    ["runs one scheduler alone, because others are blocked by ", lists:join(", ", Blockers)];
evidence(too_few_schedulers, #{schedulers := Schedulers, processors := Processors}) ->
    io_lib:format("has ~ts for ~ts processors, and processes always wait for their turn",
                  [case Schedulers of 1 -> "1 scheduler"; _ -> [count(Schedulers), " schedulers"] end, count(Processors)]);
evidence(too_many_schedulers, #{schedulers := Schedulers, processors := Processors}) ->
    io_lib:format("has ~ts schedulers for ~ts",
                  [count(Schedulers), case Processors of 1 -> "1 processor"; _ -> [count(Processors), " processors"] end]);
evidence(native_time, #{other_cores := Cores, cores := Own, threads := Threads, modules := Modules, drivers := Drivers}) ->
    io_lib:format("uses ~.1f cores in threads that are not the VM's~ts, and ~.1f cores in its schedulers~ts~ts",
                  [Cores, [[": ", kinds_in(Threads)] || Threads =/= []], Own,
                   [["; native functions are in ", lists:join(", ", Modules)] || Modules =/= []],
                   [["; drivers: ", lists:join(", ", Drivers)] || Drivers =/= []]]);
evidence(native_time, #{function := Function, cores := Cores, calls_a_second := Calls, us_a_call := Us, traced := Traced, in := In,
                        'of' := Of, table := Table}) ->
    io_lib:format("spends ~.1f cores in ~ts: ~ts calls a second of ~ts us each, by the ~ts processes that were traced~ts~ts~ts",
                  [Cores, Function, count(Calls), count(Us), count(Traced),
                   [[", mostly called in ", In] || In =/= unknown], [[" (", Of, ")"] || Of =/= unknown],
                   [["; the table ", Name, " has ", count(Rows), " rows of ", bytes(Bytes div max(1, Rows)), [", compressed" || IsCompressed]]
                    || #{name := Name, rows := Rows, bytes := Bytes, compressed := IsCompressed} <- [Table]]]);
evidence(long_schedules, #{processes := Count} = Evidence) when Count > 1 ->
    ["together with ", count(Count - 1), " more of its kind ", evidence(long_schedules, Evidence#{processes := 1})];
evidence(nodes_flap, #{ms := Ms, came := Count, like := Like}) ->
    io_lib:format("had ~ts nodes that came and went within ~.1f s, each with a new name; without the numbers it is ~ts",
                  [count(Count), Ms / 1000, Like]);
evidence(nodes_flap, #{ms := Ms, nodes := Nodes, by := By}) ->
    [io_lib:format("loses connections to other nodes and makes them again, within ~.1f s: ", [Ms / 1000]),
     lists:join(", ", [io_lib:format("~ts ~b times (~ts)", [Node, Downs, Reason])
                       || #{node := Node, times := Downs, reason := Reason} <- Nodes]),
     [["; erlang:disconnect_node/1 is called by ", lists:join(", ", By)] || By =/= []]];
evidence(long_schedules, #{times := Times, run_ms := Ms, window_ms := Window, in := In}) ->
    io_lib:format("ran ~ts times for 10 ms or more without yielding, ~ts of ~ts ms in all~ts",
                  [count(Times), count(Ms), count(Window), [[", at first in ", In] || In =/= unknown]]);
evidence(busy_process, #{by_file := true, in := Function, times := Times, looks := Looks, reductions_a_second := Reductions}) ->
    io_lib:format("reads or writes a file by messages to the process that has it open, in ~ts: at ~b of ~b looks, ~ts reductions a second",
                  [Function, Times, Looks, count(Reductions)]);
evidence(busy_process, #{in := Function, mostly := Mostly, times := Times, looks := Looks, reductions_a_second := Reductions} = Evidence) ->
    io_lib:format("~ts in ~ts at ~b of ~b looks~ts~ts~ts~ts",
                  [how_often(Evidence), Function, Times, Looks,
                   mostly_in(Function, Mostly),
                   [[", ", count(Reductions), " reductions a second"] || is_integer(Reductions)],
                   queued(maps:get(queued, Evidence, 0)), [share(Evidence), dets(Evidence), pieces(Evidence), waiting_for(Evidence)]]);
evidence(scanning_receive, #{receive_in := Function, file := File, line := Line, messages := Messages, at_least_ms_a_call := Ms,
                             called_from := Caller, seen := Seen, looks := Looks}) ->
    io_lib:format("~ts (~ts:~b) scans ~ts messages, ~ts~ts; seen in ~b of ~b looks",
                  [Function, File, Line, count(Messages), call_cost(Ms), [["; called from ", Caller] || Caller =/= unknown], Seen, Looks]);
evidence(message_queue_data, #{queue := Queue, messages := Messages, collections := Collections, window_ms := Ms}) ->
    io_lib:format("~ts messages wait ~ts, ~b collections in ~b ms", [count(Messages), Queue, Collections, Ms]);
evidence(spread_list, #{cells := Cells, mean_bytes := Mean, cache_lines_a_thousand := Lines, walk_ns := Walk, dense_ns := Dense,
                        hibernates := Hibernates}) ->
    io_lib:format("~ts list cells lie ~ts bytes apart and touch ~b cache lines a thousand (dense: 250)~ts~ts",
                  [count(Cells), mean(Mean), round(Lines), walk_cost(Walk, Dense), [", and it hibernates" || Hibernates]]);
evidence(idle_heap, #{processes := Count, heap_bytes := Heap, alive_bytes := Alive, collected := Collected, total_bytes := Total}) ->
    io_lib:format("~ts of heap in ~ts processes (of ~ts of memory in all), ~ts of it alive, and a collection leaves the heaps as large~ts",
                  [bytes(Heap), count(Count), bytes(Total), bytes(Alive), to_see(Collected, Count)]);
evidence(idle_heap, #{heap_bytes := Heap, used_bytes := Used, unused_bytes := Unused, old_bytes := Old}) ->
    io_lib:format("is idle and uses ~ts of a heap of ~ts (old generation ~ts): ~ts are unused",
                  [bytes(Used), bytes(Heap), bytes(Old), bytes(Unused)]);
evidence(uncollected_garbage, #{processes := Count, heap_bytes := Heap, alive_bytes := Alive, collected := Collected}) ->
    io_lib:format("~ts of heap~ts, ~ts of it alive~ts",
                  [bytes(Heap), [[" in ", count(Count), " processes"] || Count > 1], bytes(Alive), to_see(Collected, Count)]);
evidence(equal_heaps, #{processes := Count, alive_bytes := Alive, each_bytes := Each, collected := Collected, total_bytes := Total}) ->
    io_lib:format("~ts of heap is alive in ~ts processes (of ~ts of memory in all), ~ts in each of the ~b that were collected to measure"
                  " it",
                  [bytes(Alive), count(Count), bytes(Total), bytes(Each), Collected]);
evidence(equal_heaps, #{processes := Count, heap_bytes := Heap, each_bytes := Each, seen := Seen, total_bytes := Total}) ->
    io_lib:format("~ts of heap in ~ts processes (of ~ts of memory in all), with as much data (~ts) in each of the ~b that were inspected",
                  [bytes(Heap), count(Count), bytes(Total), bytes(Each), Seen]);
evidence(log_dumps, #{dumps := Dumps, logged := Logged, threshold := Threshold, ms := Ms}) ->
    io_lib:format("had ~ts dumps of mnesia's log due in ~.1f s: ~ts writes went to the log, and a dump is due after ~ts",
                  [count(Dumps), Ms / 1000, count(Logged), count(Threshold)]);
%% Where one alone has hardly fewer than the node, hardly one counts twice.
evidence(binary_leak, #{laden := Laden, held_bytes := Held, total_bytes := Total, all_bytes := All}) ->
    {UpTo, Doubt} = case Laden of
                        [_] when 10 * Held >= 9 * All, Held < All -> {"", [", of the node's ", bytes(All)]};
                        _ -> {"up to ", ": by the VM's account, in which a binary counts as often as it is referred to"}
                    end,
    io_lib:format("~ts~ts of binaries (of ~ts of memory) are held by ~ts~ts",
                  [UpTo, bytes(Held), bytes(Total),
                   lists:join(", ", [[Process, [[" (", bytes(Bytes), ")"] || tl(Laden) =/= []]]
                                     || #{process := Process, bytes := Bytes} <- Laden]), Doubt]);
evidence(binary_leak, #{held_bytes := Held, binaries := Binaries, references := References} = Evidence) ->
    Heap = maps:get(used_bytes, Evidence, maps:get(heap_bytes, Evidence, unknown)),
    io_lib:format("~ts ~ts in ~ts binaries (~ts references) by ~ts of heap~ts",
                  [case Evidence of
                       #{processes := Processes} when Processes > 1 -> [count(Processes), " hold"];
                       #{idle := false} -> "holds";
                       #{} -> "is idle and holds"
                   end,
                   bytes(Held), count(Binaries), count(References), bytes(Heap), gives_back(Evidence)]);
evidence(many_monitors, #{about := About, exactly := unknown, node_has := Processes}) ->
    io_lib:format("has about ~ts monitors (of others, or of others on it) or links, on a node of ~ts processes", [about(About), count(Processes)]);
evidence(many_monitors, #{exactly := #{monitors := Monitors, monitored_by := By, links := Links}, node_has := Processes}) ->
    io_lib:format("has ~ts monitors and ~ts links, and is monitored ~ts times, on a node of ~ts processes",
                  [count(Monitors), count(Links), count(By), count(Processes)]);
evidence(large_dictionary, #{keys := Keys, bytes := Bytes}) ->
    io_lib:format("has, or had, at least ~ts keys in its process dictionary: they take ~ts, and their values lie on its heap",
                  [about(Keys), bytes(Bytes)]);
evidence(many_timers, #{about := About, bytes := Bytes, makers := Makers}) ->
    io_lib:format("has about ~ts timers (~ts)~ts", [about(About), bytes(Bytes), started_by(Makers)]);
evidence(postponed_events, #{changes := Changes, ms := Ms, postponed := Postponed, handled_a_second := Pace, in := In}) ->
    io_lib:format("handles its postponed events again and again: it changed its state ~b times in ~b ms, with ~ts postponed events"
                  " on average, and handles about ~ts of them a second~ts",
                  [Changes, Ms, count(Postponed), about(Pace), [[", mostly in ", In] || In =/= unknown]]);
evidence(code_lookups, #{a_second := Pace, count := Count, modules := Modules, asked := Asked, in := In, 'of' := Of}) ->
    io_lib:format("is asked about ~ts times a second to load ~ts that ~ts not loaded afterwards: ~ts~ts~ts",
                  [about(Pace), case Count of 1 -> "a module"; _ -> [count(Count), " modules"] end, case Count of 1 -> "is"; _ -> "are" end,
                   lists:join(", ", [[Module, " (", count(N), ")"] || #{label := Module, count := N} <- Modules]),
                   [["; functions of ", count(Asked), " processes that asked: ", kinds_in(In)] || In =/= []],
                   [["; they are of ", lists:join(", ", [Label || #{label := Label} <- Of])] || Of =/= []]]);
evidence(persistent_term_churn, #{looks := Looks, terms := Terms, count := Count}) ->
    io_lib:format("replaces persistent terms all the time: ~ts~ts",
                  [lists:join(", ", [io_lib:format("~ts at ~b of ~b looks", [Term, Times, Looks])
                                     || #{term := Term, times := Times} <- Terms]),
                   [[", and ", count(Count - length(Terms)), " others"] || Count > length(Terms)]]);
evidence(large_ets_table, #{name := Name, count := Count, bytes := Bytes, owner := Owner, total_bytes := Total}) ->
    io_lib:format("has most of its memory in ~ts ETS tables of the name ~tp: ~ts of ~ts, one owned by ~ts",
                  [count(Count), Name, bytes(Bytes), bytes(Total), Owner]);
evidence(large_ets_table, #{largest := Largest, bytes := Bytes, total_bytes := Total}) ->
    io_lib:format("has most of its memory in ETS tables: ~ts of ~ts, the largest ~ts",
                  [bytes(Bytes), bytes(Total),
                   lists:join(", ", [io_lib:format("~tp (~ts, owner ~ts)", [Name, bytes(Of), Owner])
                                     || #{name := Name, bytes := Of, owner := Owner} <- Largest])]);
evidence(large_ets_table, #{name := Name, bytes := Bytes, size := Size, owner := Owner, total_bytes := Total} = Evidence) ->
    io_lib:format("has ~ts of its memory in the ETS table ~tp: ~ts of ~ts in ~ts rows, owner ~ts~ts",
                  [if 2 * Bytes >= Total -> "most"; 4 * Bytes >= Total -> "much"; true -> "a part" end,
                   Name, bytes(Bytes), bytes(Total), count(Size), Owner,
                   [[["; it grows by ", count(Rows), " rows (", bytes(More), ") a second"]
                     || #{rows_a_second := Rows, bytes_a_second := More} <- [Evidence]],
                    [["; ", count(Fell), " of ", count(Reads), " reads, a millisecond apart, found fewer rows than the one before"]
                     || #{reads := Reads, fell := Fell} <- [Evidence], Fell > 0],
                    [io_lib:format("; ~b % of a sample of rows is lists of characters", [round(100 * Part)])
                     || #{characters := Part} <- [Evidence], Part >= ?CHARACTERS], of_ended(Evidence)]]);
evidence(fixed_ets_table, #{name := Name, bytes := Bytes, size := Size, owner := Owner, fixed_ms := Ms, fixed_by := By}) ->
    io_lib:format("keeps its ETS table ~tp fixed, for ~.1f s without a break, now by ~ts: ~ts in ~ts rows and in rows that were deleted"
                  " since; owner ~ts",
                  [Name, Ms / 1000, lists:join(", ", By), bytes(Bytes), count(Size), Owner]);
evidence(rows_of_one_key, #{name := Name, type := Type, size := Size, same_key := Rows, owner := Owner}) ->
    io_lib:format("has ~ts rows with the same key in its ETS table ~tp, a ~ts of ~ts rows; owner ~ts",
                  [count(Rows), Name, Type, count(Size), Owner]);
evidence(contended_ets_table, #{name := Name, lookup_ns := Ns, own_ns := Own, size := Size, owner := Owner}) ->
    io_lib:format("writers wait for each other at the ETS table ~tp (~ts rows, owner ~ts): a look-up takes ~ts ns there, and ~ts in a"
                  " table that nobody writes to",
                  [Name, count(Size), Owner, count(Ns), count(Own)]);
evidence(awaited, #{node := Node, connected := Connected, called := Called, processes := Processes, ms := Ms, 'of' := Of}) ->
    io_lib:format("about ~ts processes have waited for ~.1f s and more (~ts) for the answer to a call of ~ts on ~ts~ts",
                  [count(Processes), Ms / 1000, kinds(Of), Called, atom_to_binary(Node, utf8),
                   case Connected of true -> ""; false -> ", to which there is no connection" end]);
evidence(awaited, #{host_in := Function, processes := Processes, ms := Ms, 'of' := Of}) ->
    io_lib:format("about ~ts processes have waited for ~.1f s and more (~ts) for another host, in ~ts",
                  [count(Processes), Ms / 1000, kinds(Of), Function]);
evidence(awaited, #{at := At, processes := Processes, ms := Ms, label := Label, in := In, more_ports := More}) ->
    io_lib:format("about ~ts processes~ts wait~ts for data of ~ts, and got nothing within ~.1f s; the node has ~ts more ports than then",
                  [count(Processes), [[" (", Label, ")"] || Label =/= unknown], in_function(In), At, Ms / 1000, count(More)]);
evidence(awaited, #{at := At, processes := Processes, ms := Ms, label := Label, in := In, behind := Behind, pool := Pool}) ->
    io_lib:format("about ~ts processes~ts wait~ts for data of ~ts, and got nothing within ~.1f s; ~ts others wait for ~ts",
                  [count(Processes), [[" (", Label, ")"] || Label =/= unknown], in_function(In), At, Ms / 1000, count(Behind),
                   case Pool of unknown -> "their answers"; _ -> ["them, or for ", Pool, ", which has lent them"] end]);
evidence(awaited, #{ended := Ended, left := Left, ms := Ms, waits := Waits, looks := Looks, last := Last, in := In, label := Label}) ->
    io_lib:format("ends its children one after the other: ~ts ended within ~.1f s, and it waited for the end of one at ~b of ~b looks, now"
                  " of ~ts~ts~ts; about ~ts are left~ts",
                  [count(Ended), Ms / 1000, Waits, Looks, Last, [[" (", Label, ")"] || Label =/= unknown],
                   [[", which is", in_function(In)] || In =/= unknown], count(Left),
                   [[", for ", seconds(Left * Ms div (1000 * Ended)), " at this pace"] || Ended > 0]]);
evidence(awaited, #{kept_ms := Kept, callers := Callers, ms := Ms, waiting := Waiting, looks := Looks, in := In, mostly := Mostly,
                    from := From}) ->
    io_lib:format("kept ~ts callers or more~ts waiting in the same call for ~.1f s while it was in ~ts~ts; some waited at ~b of ~b looks"
                  " within ~.1f s",
                  [count(Callers), [[" (in ", From, ")"] || From =/= unknown], Kept / 1000, In,
                   [[" (mostly in ", Mostly, ")"] || Mostly =/= unknown, Mostly =/= In], Waiting, Looks, Ms / 1000]);
evidence(awaited, #{socket_in := Function, processes := Processes, ms := Ms, 'of' := Of, sockets := Sockets, unsent_bytes := Unsent,
                    waits := Ports}) ->
    io_lib:format("about ~ts processes have waited for ~.1f s and more (~ts) until a socket takes what they send, in ~ts~ts",
                  [count(Processes), Ms / 1000, kinds(Of), Function,
                   [["; ", case Sockets of 1 -> "1 socket holds "; _ -> [count(Sockets), " sockets hold "] end, bytes(Unsent), " unsent",
                     full_ports(Ports)] || Sockets > 0]]);
evidence(awaited, #{name_servers := Servers, processes := Processes, ms := Ms, 'of' := Of}) ->
    io_lib:format("about ~ts processes have waited for ~.1f s and more (~ts) for the address of a host: inet_res asks ~ts",
                  [count(Processes), Ms / 1000, kinds(Of),
                   case Servers of [] -> "no name server"; _ -> ["the name servers ", lists:join(", ", Servers)] end]);
evidence(awaited, #{for := lock, processes := Processes, ms := Ms, 'of' := Of, holds := Holds, nodes := Nodes} = Evidence) ->
    io_lib:format("about ~ts processes have waited for ~.1f s and more (~ts) for a lock that it gives out~ts~ts~ts",
                  [count(Processes), Ms / 1000, kinds(Of), [tries(Tries, Evidence) || #{tries := #{} = Tries} <- [Evidence]],
                   [["; such a lock is held by ",
                     lists:join(", ", [[Process, [[" (", Label, ")"] || Label =/= unknown],
                                        [[", which is", in_function(In)] || In =/= unknown]]
                                       || #{process := Process, label := Label, in := In} <- Holds])] || Holds =/= []],
                   [["; it is kept by another node: ",
                     lists:join(" or ", [[atom_to_binary(Node, utf8), [", which does not answer" || not Answers]]
                                         || #{node := Node, answers := Answers} <- Nodes])] || Nodes =/= []]]);
evidence(awaited, #{processes := Processes, ms := Ms, status := Status, in := In, 'of' := Of} = Evidence) ->
    io_lib:format("about ~ts processes have waited for its answer to a call for ~.1f s and more (~ts), while it is ~ts~ts~ts~ts~ts~ts",
                  [count(Processes), Ms / 1000, kinds(Of), atom_to_list(Status), in_function(In),
                   [io_lib:format("; of ~ts that were watched ~ts were answered or gave up within ~.1f s",
                                  [count(Asked), count(Moved), For / 1000])
                    || #{moved := #{count := Moved, asked := Asked, ms := For}} <- [Evidence]],
                   [io_lib:format("; ~ts new ones came to wait within ~.1f s", [count(Came), For / 1000])
                    || #{came := #{count := Came, ms := For}} <- [Evidence], Came > 0],
                   [["; ", count(Waiting), " others of their kind are idle", in_function(At), " and do not wait for it"]
                    || #{holders := #{count := Waiting, in := At}} <- [Evidence]],
                   [monitored(Monitored) || #{monitored := #{} = Monitored} <- [Evidence]]]);
evidence(not_accepted, #{port := Port, least := Least, most := Most, looks := Looks, ms := Ms, accepting := IsAccepting, owner := Owner,
                         label := Label} = Evidence) ->
    io_lib:format("has connections that wait to be accepted on port ~b (owner ~ts~ts): ~ts at each of ~b looks within ~.1f s~ts~ts",
                  [Port, Owner, [[", ", Label] || Label =/= unknown],
                   case Least of Most -> count(Least); _ -> [count(Least), " to ", count(Most)] end,
                   Looks, Ms / 1000, [", and no process waits in accept" || not IsAccepting],
                   [["; ", count(Count), " of ", count(Asked), " processes at the owner that wait are", in_function(In),
                     [[", and ", count(ForClients), " wait for a client (a handshake of TLS, recv)"] || ForClients > 0]]
                    || #{acceptors := #{asked := Asked, count := Count, in := In, for_clients := ForClients}} <- [Evidence],
                       not IsAccepting]]);
evidence(not_accepted, #{port := Port, backlog := Backlog, full := Full, looks := Looks, ms := Ms, refused := Refused, owner := Owner,
                         label := Label}) ->
    io_lib:format("has no room for connections that wait to be accepted on port ~b (owner ~ts~ts): its backlog of ~ts is used up at ~b of"
                  " ~b looks, and the system has dropped ~ts attempts to connect within ~.1f s",
                  [Port, Owner, [[", ", Label] || Label =/= unknown], count(Backlog), Full, Looks, count(Refused), Ms / 1000]);
evidence(packets_dropped, #{port := Port, dropped_a_second := Second, part := Part, ms := Ms, buffer := Buffer, active := Active,
                            read_packets := Packets, owner := Owner, label := Label}) ->
    io_lib:format("loses ~ts packets of UDP a second (~b % of those that come) on port ~b (owner ~ts~ts), measured for ~.1f s: the system"
                  " drops what its buffer~ts has no room for ({active, ~ts}, {read_packets, ~b})",
                  [count(Second), round(100 * Part), Port, Owner, [[", ", Label] || Label =/= unknown], Ms / 1000,
                   [[" of ", bytes(Buffer)] || is_integer(Buffer)], case Active of n -> "N"; _ -> atom_to_list(Active) end, Packets]);
evidence(sockets_left, #{what := What, sockets := Sockets, more := More, ms := Ms, owners := Owners, 'of' := Of,
                         alarms := Alarms} = Evidence) ->
    io_lib:format("has ~ts sockets ~ts for ~.1f s and more~ts~ts~ts",
                  [count(Sockets),
                   case What of
                       there -> "that the other side has closed (or shut down), and by which nothing was sent,";
                       here -> "that are closed, though their ports stay,";
                       unread -> "with bytes that nobody has read";
                       kept -> ["that it has connected to ", map_get(at, Evidence), ", and that did nothing"]
                   end,
                   Ms / 1000, [[", and ", count(More), " more since"] || More > 0]
                   ++ [[", and none was closed",
                        [[", opened by ", By, in_function(At)] || #{process := By, in := At} <- map_get(by, Evidence)]] || What =:= kept],
                   [["; of ", count(Owners), " owners: ",
                     lists:join(", ", [[count(Count), " of ", Label, in_function(In)] || #{label := Label, in := In, count := Count} <- Of])]
                    || Of =/= []],
                   [["; alarms: ", lists:join(", ", Alarms)] || Alarms =/= []]]);
evidence(processes_pile_up, #{in := In, processes := Processes, a_second := Second, asked := Asked, ms := Ms, 'of' := Of, first := First}) ->
    io_lib:format("has about ~ts processes that wait~ts, and ~ts more each second~ts; ~ts that were sampled did nothing for ~.1f s~ts",
                  [count(Processes), in_function(In), count(Second), [[" (", kinds_in(Of), ")"] || Of =/= []], count(Asked), Ms / 1000,
                   case First of
                       #{in := At} -> ["; the first of their kind are", in_function(At)];
                       none -> "; older ones have done hardly more than newer ones"
                   end]);
evidence(nagle_delay, #{looks := Looks, asked := Asked, held := Held, 'of' := Of}) ->
    io_lib:format("holds back small sends: ~ts of ~ts TCP connections without nodelay have data to send at most of ~b looks, and wait for an"
                  " acknowledgement~ts", [count(Held), count(Asked), Looks, [[" (", kinds_in(Of), ")"] || Of =/= []]]);
evidence(starting_application, #{boot := Process, in := In, ms := Ms, up_ms := Up}) ->
    io_lib:format("has not started yet after ~b s: ~ts, which calls the functions of -s, -run and -eval, has been~ts for ~.1f s and more, and"
                  " init is asked again and again", [Up div 1000, Process, in_function(In), Ms / 1000]);
evidence(starting_application, #{applications := Names, process := Process, ms := Ms, in := In, function := Function, asks := Asks,
                                 tables := Tables} = Evidence) ->
    GoesOn = maps:get(goes_on, Evidence, false),
    io_lib:format("has not started ~ts yet: ~ts~ts has ~ts for ~.1f s and more~ts~ts",
                  [case Names of
                       [] -> "an application";
                       [Name] -> io_lib:format("the application ~tp", [Name]);
                       _ -> ["the applications ", lists:join(", ", [io_lib:format("~tp", [Name]) || Name <- Names])]
                   end,
                   Process, [[", which calls ", Function, ","] || Function =/= unknown],
                   case GoesOn of true -> "gone on"; false -> "waited" end, Ms / 1000, in_function(In),
                   [in_turn(case GoesOn of true -> "at the last look it"; false -> "it" end, Asks), not_loaded(Tables)]]);
evidence(stopping_node, #{application := Name, ms := Ms, asks := Asks}) ->
    io_lib:format("is stopping, and has waited for ~.1f s and more~ts~ts",
                  [Ms / 1000, [io_lib:format(" for the end of the application ~tp", [Name]) || Name =/= unknown], in_turn("this", Asks)]);
evidence(dirty_queue, #{threads := Threads, count := Count, waiting := Waiting, in := In, 'of' := Of, held_by := Holders}) ->
    io_lib:format("~ts processes wait for one of ~b threads for ~ts~ts~ts~ts",
                  [count(Waiting), Count,
                   case Threads of
                       cpu -> "long native work (dirty CPU schedulers)";
                       io -> "files (dirty IO schedulers)"
                   end,
                   seen_in(In), of_kinds(Of), held_by(Holders)]);
evidence(deep_stack, #{stack_bytes := Bytes, in := In}) ->
    io_lib:format("has ~ts of stack, in ~ts", [bytes(Bytes), lists:join(", ", In)]);
evidence(large_heap, #{heap_bytes := Heap, used_bytes := Used, total_bytes := Total, messages := Messages} = Evidence) ->
    io_lib:format("has ~ts of heap (~ts used or not collected yet~ts)~ts~ts~ts~ts",
                  [bytes(Heap), bytes(Used), used_more(Evidence),
                   [[" of the node's ", bytes(Total)] || Heap =< Total], [[", and ", count(Messages), " messages wait"] || Messages > 0],
                   [["; it works mostly", in_function(In)] || #{in := In} <- [Evidence], In =/= unknown],
                   [["; it was started or has ended meanwhile", [[", as did ", count(N - 1), " alike"] || N > 1]]
                    || #{passing := N} <- [Evidence]] ++ where_it_is(Evidence)]);
evidence(code_churn, #{ms := Ms, times := Times, modules := Modules, by := By, kept_by := Kept}) ->
    Of = fun(All) -> lists:join(", ", [[Process, in_function(In)] || #{process := Process, in := In} <- All]) end,
    io_lib:format("has old code purged in vain, ~ts in ~.1f s~ts; old code of ~ts stays~ts",
                  [[count(Times), " times"], Ms / 1000, [[", by ", Of(By)] || By =/= []], lists:join(", ", Modules),
                   [[", which is run by ", Of(Kept)] || Kept =/= []]]);
evidence(code_churn, #{looks := Looks, modules := Modules, in := In}) ->
    io_lib:format("reloads modules all the time: ~ts~ts",
                  [lists:join(", ", [io_lib:format("~ts at ~b of ~b looks", [Module, Times, Looks])
                                     || #{module := Module, times := Times} <- Modules]),
                   [["; loaded in ", kinds_in(In)] || In =/= []]]);
evidence(transaction_restarts, #{commits := Commits, restarts := Restarts, ms := Ms}) ->
    io_lib:format("began ~ts transactions of mnesia again, and committed ~ts, in ~.1f s", [count(Restarts), count(Commits), Ms / 1000]);
evidence(modules_grow, #{count := Count, growth_a_second := Growth, code_bytes := Bytes}) ->
    io_lib:format("has ~ts modules, ~ts, in ~ts of code", [count(Count), growth(Growth), bytes(Bytes)]);
evidence(many_ets_tables, #{count := Count, growth_a_second := Growth, owners := Owners, named := Named}) ->
    io_lib:format("has ~ts ETS tables~ts~ts~ts",
                  [count(Count),
                   [[", ", growth(Growth)] || Growth > 0],
                   [["; of ", count(Asked), " whose owner was asked ", Process, " owns ", count(N)]
                    || #{process := Process, count := N, asked := Asked} <- Owners],
                   [["; there are ",
                     lists:join(", ", [io_lib:format("~ts of the name ~tp, one owned by ~ts", [count(N), Name, Owner])
                                       || #{name := Name, count := N, owner := Owner} <- Named])] || Named =/= []]]);
evidence(binaries_beside, #{bytes := Bytes, total_bytes := Total, tables := Tables, buffers := Buffers, messages := Messages} = Evidence) ->
    io_lib:format("has ~ts of binaries (of ~ts of memory) to which no heap of a process refers; ~ts~ts~ts~ts",
                  [bytes(Bytes), bytes(Total), in_tables(Tables),
                   [["; the buffers of ", count(Sockets), " sockets of TCP that wait for data may have ", bytes(Of)]
                    || #{sockets := Sockets, bytes := Of} <- [Buffers]],
                   [["; ", count(Messages), " messages wait"] || is_integer(Messages), Messages >= ?BEHIND],
                   [full_ports(maps:get(waits, Evidence, [])),
                    [[" and others; ", count(Sockets), " sockets hold bytes"] || #{waiting_sockets := Sockets} <- [Evidence], Sockets > 3],
                    [[", and up to ", bytes(Limit), " wait beside each such port (+zdbbl)"] || #{connection_limit := Limit} <- [Evidence]]]]);
evidence(processes_beside, #{bytes := Bytes, of_processes := Sum, processes := Count, timers := Timers, makers := Makers}) ->
    io_lib:format("has ~ts of the memory of processes in none of them (its ~ts processes have ~ts together), and ~ts~ts",
                  [bytes(Bytes), count(Count), bytes(Sum),
                   case Timers of
                       0 -> "no timers that are known";
                       _ -> ["about ", about(Timers), " timers: ", bytes(Bytes div Timers), " for each"]
                   end, started_by(Makers)]);
evidence(large_persistent_terms, #{bytes := Bytes, total_bytes := Total, count := Count, keys := Keys}) ->
    io_lib:format("has most of its memory in persistent terms: ~ts of ~ts, in ~ts terms~ts",
                  [bytes(Bytes), bytes(Total), count(Count),
                   [[", with keys like ",
                     lists:join(", ", [[Shape, " (", count(N), ")"] || #{shape := Shape, count := N} <- Keys])]
                    || Keys =/= []]]);
evidence(large_code, #{code_bytes := Code, constant_bytes := Constants, total_bytes := Total, modules := Modules}) ->
    io_lib:format("has most of its memory in modules: ~ts of code and ~ts of constants, of ~ts~ts",
                  [bytes(Code), bytes(Constants), bytes(Total),
                   [["; the largest files are of ",
                     lists:join(", ", [[Module, " (", bytes(Size), [[", constants ", bytes(Of)] || is_integer(Of), Of > 0], ")"]
                                       || #{module := Module, file_bytes := Size, constants := Of} <- Modules]),
                     [[", and ", count(Alike), " files are half as large or more"] || #{alike := Alike} <- [hd(Modules)], Alike > length(Modules)]]
                    || Modules =/= []]]);
evidence(native_memory, #{total_bytes := Total, places := Places}) ->
    [lists:join("; ", [io_lib:format("has a table with a place for each of ~ts ~ts that there may be: ~ts of ~ts of memory, and ~ts of them"
                                     " are there", [count(Limit), atom_to_list(What), bytes(Bytes), bytes(Total), count(Count)])
                       || #{what := What, count := Count, limit := Limit, bytes := Bytes} <- Places])];
evidence(native_memory, #{bytes := Bytes, total_bytes := Total, allocator := Allocator, allocated_bytes := Allocated}) ->
    io_lib:format("has ~ts of ~ts of memory in no process, table, binary or module; its allocator ~ts has ~ts of it",
                  [bytes(Bytes), bytes(Total), Allocator, bytes(Allocated)]);
evidence(native_memory, #{bytes := Bytes, total_bytes := Total, modules := Modules, freed := Freed}) ->
    io_lib:format("has ~ts of memory outside the VM's allocators, and ~ts within them~ts~ts",
                  [bytes(Bytes), bytes(Total), [["; native functions are in ", lists:join(", ", Modules)] || Modules =/= []],
                   [["; a collection of ", Process, " freed ", bytes(Of)] || #{process := Process, bytes := Of} <- Freed]]);
evidence(tracing, #{asked := Asked, traced := Traced, new := New, flags := Flags, tracer := Tracer}) ->
    io_lib:format("traces ~b of ~b processes that were asked~ts (~ts)~ts",
                  [Traced, Asked, [", and each that starts" || New],
                   lists:join(", ", [atom_to_list(Flag) || Flag <- Flags]),
                   [[", to ", Tracer] || Tracer =/= unknown]]);
evidence(carriers_underused, #{allocator := Name, carrier_bytes := Carrier, block_bytes := Blocks}) ->
    io_lib:format("~ts uses ~ts of ~ts of carriers (~b %)", [Name, bytes(Blocks), bytes(Carrier), 100 * Blocks div Carrier]);
evidence(mapped_heaps, #{faults_a_second := Faults, segments_a_second := Segments, own_carrier := Threshold}) ->
    io_lib:format("maps memory for heaps of more than ~ts ~ts times a second, with ~ts page faults a second",
                  [bytes(Threshold), count(Segments), count(Faults)]);
evidence(busy_wait, #{waiting := Waiting, working := Working, cores := Cores, window_ms := Ms}) ->
    io_lib:format("spins on ~.1f cores: its schedulers spin for ~.1f % of their time, and work for ~.1f % (of ~b ms)",
                  [Cores, 100 * Waiting, 100 * Working, Ms]);
evidence(uneven_run_queues, #{times := Times, looks := Looks, most := Most}) ->
    io_lib:format("has up to ~ts processes ready on one scheduler while another has few or none, at ~b of ~b looks",
                  [count(Most), Times, Looks]);
evidence(known_fault, #{issue := Issue, otp := Version, what := What, used_bytes := Used, messages := Messages}) ->
    io_lib:format("OTP ~ts, ~ts: ~ts (~ts used, ~ts messages wait)", [Version, Issue, What, bytes(Used), count(Messages)]).

started_by(unknown) -> "";
started_by(#{traced := Traced, ms := Ms, most := Most} = Makers) ->
    io_lib:format("; ~ts processes were traced for ~b ms~ts: ~ts",
                  [count(Traced), Ms, [[" (", count(Left), " could not be)"] || #{untraced := Left} <- [Makers], Left > 0],
                   case Most of
                       [] -> "none started one";
                       _ ->
                           ["timers were started by ",
                            lists:join(", ", [[case Alike of 1 -> Process; _ -> [count(Alike), " of ", Label] end,
                                               [[" in ", In] || In =/= unknown], " (", count(Times), ")"]
                                              || #{process := Process, processes := Alike, label := Label, times := Times,
                                                   in := In} <- Most])]
                   end]).

%% @doc Functions, and at which part of the looks each was seen.
-spec shares(pos_integer(), [#{label := binary(), count := pos_integer()}]) -> iolist().
shares(Looks, In) ->
    lists:join(", ", [[Function, io_lib:format(" (~b %)", [100 * Times div Looks])] || #{label := Function, count := Times} <- In]).

kinds_in(In) -> lists:join(", ", [[Function, " (", count(N), ")"] || #{label := Function, count := N} <- In]).

deep(#{messages := Messages, growth_a_second := Growth, queue := Queue, in := In, waiting := Waiting} = Evidence) ->
    io_lib:format("~ts~ts~ts~ts~ts~ts",
                  [messages_wait(Messages),
                   [[", and never fewer than ", count(Least)] || #{least := Least} <- [Evidence], Least > 1],
                   [[", ", growth(Growth)] || Growth =/= unknown],
                   [["; ", atom_to_list(Queue)] || Queue =/= unknown],
                   seen_in(In),
                   [shapes(Waiting, maps:get(from, Evidence, unknown)), in_turn(maps:get(asks, Evidence, [])), full_ports(maps:get(waits, Evidence, [])),
                    floods(maps:get(floods, Evidence, [])), share(Evidence), dets(Evidence)]]).

messages_wait(1) -> "1 message waits";
messages_wait(Count) -> [count(Count), " messages wait"].

processes_are(1) -> "1 process is";
processes_are(Count) -> [count(Count), " processes are"].

some_of(Names, Count) -> [lists:join(", ", Names), [", ..." || Count > length(Names)]].

monitored(#{on_load := true, in := In, asks := Asks}) ->
    ["; it loads a module whose on_load function does not return,", in_function(In), in_turn("that function", Asks)];
monitored(#{count := Count, asked := Asked, waiting := Waiting, in := At, asks := Asks}) ->
    ["; it monitors ", count(Count), " others, which do not wait for it: ", count(Waiting), " of ", count(Asked),
     " that were asked are idle", in_function(At), in_turn("one of these", Asks)].

suspended_by([]) -> "";
suspended_by(By) ->
    ["; suspended by ",
     lists:join(", ", [[Process, [[" (", Label, ")"] || Label =/= unknown, Label =/= In],
                        [[", which is", in_function(In)] || In =/= unknown]]
                       || #{process := Process, label := Label, in := In} <- By])].

in_turn(Asks) -> in_turn("it", Asks).

in_turn(_, []) -> "";
in_turn(Who, [First | Others] = Asks) ->
    ["; ", Who, " waits for ", awaited_one(First, "the answer"),
     [[", which waits for ", awaited_one(Next, case Before of #{for := answer} -> "that"; _ -> "the answer" end)]
      || {Before, Next} <- lists:zip(lists:droplast(Asks), Others)]].

not_loaded([]) -> "";
not_loaded(Tables) ->
    ["; tables of mnesia that are not loaded: ",
     lists:join(", ", [io_lib:format("~tp~ts", [Name, [[" (also on ", lists:join(", ", [copy_on(Node) || Node <- Nodes]), ")"]
                                                       || Nodes =/= []]])
                       || #{name := Name, nodes := Nodes} <- Tables])].

copy_on(#{node := Node, runs := Runs}) -> [atom_to_binary(Node, utf8), [", where mnesia does not run" || not Runs]].

awaited_one(#{process := Process, in := In, for := start, label := Label}, _) ->
    ["the start of ", Process, [[", ", Label, ","] || Label =/= unknown], " which is", in_function(In)];
awaited_one(#{process := Process, in := In, for := lent, label := Label}, _) ->
    ["what it has lent to ", Process, [[" (", Label, ")"] || Label =/= unknown], ", which is", in_function(In)];
awaited_one(#{process := Process, in := In, for := stop}, _) -> ["the end of ", Process, ", which is", in_function(In)];
awaited_one(#{process := Process, for := program, at := Program}, _) ->
    ["its program ", printable(Program), " (", Process, "), as it seems"];
awaited_one(#{process := Process, in := In, for := data, at := Peer}, _) ->
    [Process, ", as it seems, which waits", in_function(In), " for data", [[" of ", printable(Peer)] || is_binary(Peer)]];
awaited_one(#{process := Process, in := In, for := repair}, _) -> [Process, ", which works on the file of a table", in_function(In)];
awaited_one(#{process := Process, in := In}, Answer) -> [Answer, " of ", Process, in_function(In)].

rows(1) -> "1 row";
rows(Count) -> [count(Count), " rows"].

others_alike(1) -> "";
others_alike(Parents) -> ["with ", count(Parents - 1), " others of its kind, "].

of_all(Counts) ->
    ["they ended with ",
     lists:join(", ", [[Shape, " (", count(Count), ")"] || #{shape := Shape, count := Count} <- Counts])].

%% Where many have a program or two each, what they are tells more.
starters(Owners, Of, All) ->
    case {[Owner || #{count := Count} = Owner <- Owners, 10 * Count >= All], Of} of
        {[], [_ | _]} -> ["processes of ", lists:join(", ", [Label || #{label := Label} <- Of])];
        {[], []} -> named(Owners);
        {Most, _} -> named(Most)
    end.

named(Owners) -> lists:join(", ", [[Label, " (", count(Count), ")"] || #{label := Label, count := Count} <- Owners]).

sum_of(Counts) -> lists:sum([Count || #{count := Count} <- Counts]).

why_swept(Asked, Sweeps, _) when Asked =:= Sweeps -> "asked for";
why_swept(0, _, After) when is_integer(After) -> ["fullsweep_after is ", integer_to_list(After)];
why_swept(Asked, _, _) -> [integer_to_list(Asked), " of them asked for"].

how_sure(likely) -> " (an estimate from what these collections copied)";
how_sure(memory_only) -> " (this saves memory, not time)".

%% @doc Why collections happened, how often, and what they gave back.
-spec reasons([diagnose_types:why()]) -> iolist().
reasons([]) -> "";
reasons(Why) ->
    Most = lists:reverse(lists:sort([{Count, Kind, Reason} || #{kind := Kind, reason := Reason, count := Count} <- Why])),
    Before = sum(young, Why) + sum(old, [One || #{kind := full} = One <- Why]),
    Freed = sum(freed, Why) + sum(held_freed, Why),
    ["; ", lists:join(", ", [io_lib:format("~b ~ts", [Count, reason(Kind, Reason)]) || {Count, Kind, Reason} <- Most]),
     [io_lib:format("; ~b % survived", [100 * sum(left, Why) div Before]) || Before > 0],
     [["; the old generation lost at least ", bytes(Freed)] || Freed > 0]].

sum(Key, Why) -> lists:sum([maps:get(Key, One) || One <- Why]).

reason(minor, heap) -> "because the heap was full";
reason(minor, virtual_heap) -> "because the virtual heap of binaries was full";
reason(minor, asked) -> "minor ones asked for";
reason(full, heap) -> "full ones because the heap was full (there was no old generation yet)";
reason(full, virtual_heap) -> "full ones because the virtual heap of binaries was full, with no old generation yet";
reason(full, old_heap) -> "full ones because the old heap was full";
reason(full, old_virtual_heap) -> "full ones because the old virtual heap of binaries was full";
reason(full, count) -> "full ones by fullsweep_after";
reason(full, asked) -> "full ones asked for".

shapes([_ | _] = Shapes, From) ->
    All = lists:sum([Times || #{times := Times} <- Shapes]),
    [case From of unknown -> "; of a sample: "; _ -> io_lib:format("; of ~b messages that came now: ", [All]) end,
     lists:join(", ", [io_lib:format("~b % ~ts", [100 * Times div All, Shape])
                       || #{shape := Shape, times := Times} <- Shapes]),
     [[", from ", lists:join(", ", From)] || [_ | _] <- [From]]];
shapes(too_large, _From) -> "; too many or too large to sample";
shapes(_, _From) -> "".

of_kinds([]) -> "";
of_kinds(Kinds) -> ["; there are ", kinds(Kinds)].

starter(#{process := Process, processes := Processes, started := Started, ended := Ended, 'of' := Of}) ->
    io_lib:format("; ~ts~ts started ~ts in the inspection~ts, of which ~ts ended",
                  [[[count(Processes), " of "] || Processes > 1], Process, count(Started), [[" (", kinds(Of), ")"] || Of =/= []],
                   case Ended of 0 -> "none"; _ -> count(Ended) end]).

held_by([]) -> "";
held_by(Holders) ->
    ["; threads are held by ",
     lists:join(", ", [[Process,
                        case [[Label || Label =/= unknown], ["in " ++ unicode:characters_to_list(In) || In =/= unknown]] of
                            [[], []] -> "";
                            Known -> [" (", lists:join(", ", lists:append(Known)), ")"]
                        end] || #{process := Process, label := Label, in := In} <- Holders])].

kinds(Kinds) ->
    lists:join(", ", [[count(Count), " of ", Label, [[" (some in ", In, ")"] || #{in := In} <- [Kind]]]
                      || #{label := Label, count := Count} = Kind <- Kinds]).

what(processes) -> "processes";
what(ports) -> "ports";
what(atoms) -> "atoms";
what(files) -> "open files and sockets".

limit_growth(_, _, _, unknown) -> "";
limit_growth(_, Count, Limit, Growth) when Growth > 0, Count < Limit ->
    io_lib:format(", ~ts; at the limit in ~ts", [growth(Growth), duration((Limit - Count) div Growth)]);
limit_growth(_, _, _, Growth) -> [", ", growth(Growth)].

seconds(Seconds) when Seconds < 120 -> io_lib:format("~b s", [Seconds]);
seconds(Seconds) -> duration(Seconds).

duration(Seconds) when Seconds < 120 -> "1 minute";
duration(Seconds) when Seconds < 7200 -> io_lib:format("~b minutes", [Seconds div 60]);
duration(Seconds) -> io_lib:format("~b hours", [Seconds div 3600]).

%% @doc Which tables hold how much of binaries.
-spec in_tables([map()]) -> iolist().
in_tables([]) -> "no table that was read has many of them";
in_tables(Tables) ->
    lists:join(", ", [io_lib:format("~ts ~ts are in ~ts (~ts rows~ts~ts)~ts",
                                    [at_least(Table), bytes(Bytes), ets_table(Name, Table), count(Rows),
                                     [[", ", count(More), " more a second"] || #{rows_a_second := More} <- [Table]],
                                     [" that can be read; it is kept fixed, so deleted ones stay" || is_kept_fixed(Table)],
                                     [[", whose rows hold slices of about ", bytes(Slices), " of them: these keep all of each alive"]
                                      || #{slices := Slices} <- [Table]]])
                      || #{name := Name, rows := Rows, bytes := Bytes} = Table <- Tables]).

ets_table(several, #{count := Count}) -> [count(Count), " ETS tables together"];
ets_table(Name, #{count := Count}) -> io_lib:format("~ts ETS tables of the name ~tp", [count(Count), Name]);
ets_table(Name, #{}) -> io_lib:format("the ETS table ~tp", [Name]).

at_least(Table) ->
    case is_kept_fixed(Table) of
        true -> "at least";
        false -> "about"
    end.

%% @doc Whether a table was kept fixed for long. It does not grow with its rows meanwhile, so each look-up searches among many.
-spec is_kept_fixed(#{fixed_ms => non_neg_integer(), _ => _}) -> boolean().
is_kept_fixed(#{fixed_ms := Ms}) -> Ms >= ?FIXED_MS;
is_kept_fixed(#{}) -> false.

full_ports(unknown) -> "";
full_ports([]) -> "";
full_ports(Ports) ->
    ["; not read yet: ",
     lists:join(", ", [io_lib:format("~ts by ~ts (~ts)", [bytes(Bytes), To, Port])
                       || #{port := Port, to := To, bytes := Bytes} <- Ports])].

share(#{share := #{label := Label, count := Count, of_messages := OfMessages, of_reductions := OfReductions}}) ->
    io_lib:format("; it is 1 of ~ts processes of ~ts with the same parent, and does ~b % of their reductions~ts",
                  [count(Count), Label, round(100 * OfReductions),
                   [io_lib:format(", with ~b % of their messages", [round(100 * OfMessages)]) || OfMessages >= ?MOST_OF_WORK]]);
share(#{}) -> "".

dets(#{dets := Table, asked_in := In}) ->
    ["; it is the dets table ", Table, [[", asked in ", kinds_in(In)] || In =/= []]];
dets(#{}) -> "".

pieces(#{pieces_a_second := Second, piece_bytes := Bytes, buffer := Buffer}) ->
    io_lib:format("; it reads a socket ~ts times a second, ~ts each (the socket's buffer has ~ts)",
                  [count(Second), bytes(Bytes), bytes(Buffer)]);
pieces(#{}) -> "".

waiting_for(#{waiting := Waiting}) -> ["; seen waiting for its answer: ", kinds(Waiting)];
waiting_for(#{}) -> "".

floods([]) -> "";
floods(Floods) ->
    ["; it gets the data of ",
     lists:join(", ", [io_lib:format("~ts (~ts, ~ts a second)", [printable(Name), Port, bytes(Pace)])
                       || #{port := Port, name := Name, bytes_a_second := Pace} <- Floods])].

gives_back(#{gives_back := Back, collected := Collected, processes := Count, unless := Unless} = Evidence) when is_integer(Back) ->
    [shared_with(Evidence), " frees ", case Back of 0 -> "nothing"; _ -> bytes(Back) end,
     [[", unless ", lists:join(", ", Unless), " holds the same ones, too"] || Unless =/= []],
     to_see(Collected, Count)];
gives_back(#{total_bytes := Total, asked := Asked}) ->
    io_lib:format(", of the node's ~ts (~ts asked to measure this)",
                  [bytes(Total), case Asked of 1 -> "it was"; _ -> [count(Asked), " were"] end]);
gives_back(#{}) -> "".

%% What each of them alone lets go stays.
shared_with(#{shared := [_ | _] = Others}) -> [", as do ", lists:join(", ", Others), "; a collection of all of them"];
shared_with(#{}) -> "; a collection".

to_see(_, 1) -> " (it was collected to measure this)";
to_see(Collected, Count) -> io_lib:format(" (~b of ~ts were collected to measure this)", [Collected, count(Count)]).

growth(Growth) when Growth > 0 -> [count(Growth), " more a second"];
growth(Growth) when Growth < 0 -> [count(-Growth), " fewer a second"];
growth(0) -> "and their number does not change".

seen_in(unknown) -> "";
seen_in(Function) -> [", mostly in ", Function].

used_more(Evidence) -> [[", ", bytes(More), " more a second"] || #{growth_a_second := More} <- [Evidence], More > 0].

where_it_is(Evidence) ->
    [["; it is seen", in_function(In)] || #{seen_in := In} <- [Evidence], In =/= unknown]
        ++ [["; it is of ", Label] || #{label := Label} <- [Evidence], Label =/= unknown].

of_ended(Table) ->
    [io_lib:format("; ~b of ~b of its keys and rows that were read name processes that have ended", [Ended, Asked])
     || #{keys_of_ended := Ended, keys_of_processes := Asked} <- [Table], ?LEFT_ROWS * Ended >= Asked].

in_function(unknown) -> "";
in_function(Function) -> [" in ", Function].

call_cost(unknown) -> "at an unknown cost a call";
call_cost(Ms) when Ms < 0.095 -> io_lib:format("at least ~b us a call", [ceil(1000 * Ms)]);
call_cost(Ms) -> io_lib:format("at least ~.1f ms a call", [Ms]).

walk_cost(unknown, _) -> "";
walk_cost(Walk, Dense) -> io_lib:format(", ~.1f ns a cell or more for a walk (dense: ~.1f)", [Walk, Dense]).

mean(undefined) -> "an unknown number of";
mean(Mean) -> integer_to_list(round(Mean)).

%% @doc Whom a finding concerns: a process by its identifier and its name, processes alike by what they are.
-spec subject(diagnose_types:subject()) -> binary().
subject(node) -> <<"The node">>;
subject(#{process := #{pid := Pid, name := ''}}) -> printable(Pid);
subject(#{process := #{pid := Pid, name := Name}}) -> printable([Pid, " (", atom_to_binary(Name, utf8), ")"]);
subject(#{group := #{label := Label, count := Count, members := Members} = Group}) ->
    printable([count(Count), [" or more" || is_map_key(at_least, Group)], " of ", Label, " (",
               lists:join(", ", [member(Member) || Member <- Members]), [", ..." || Count > length(Members)], ")"]).

member(#{pid := Pid, name := ''}) -> Pid;
member(#{name := Name}) -> atom_to_binary(Name, utf8).

%% @doc A function that processes began with. A fun is named after the function around it.
-spec label(mfa() | unknown) -> binary().
label(unknown) -> <<"an unknown kind">>;
label({Module, Name, Arity}) ->
    case re:run(atom_to_list(Name), "^-(.+)/([0-9]+)-(fun|[a-z]+\\$)", [{capture, all_but_first, list}, unicode]) of
        {match, [Around, Digits, "fun"]} -> printable(text("~ts:~ts/~ts (a fun)", [Module, Around, Digits]));
        {match, [Around, Digits, _]} -> printable(text("~ts:~ts/~ts (a comprehension)", [Module, Around, Digits]));
        nomatch -> printable(text("~ts:~ts/~b", [Module, Name, Arity]))
    end.

%% @doc What is told of a node, as one line. Names may hold anything; what a terminal would obey is not shown. All that is printed of the
%% node goes through this: sentences, subjects, advice, facts.
-spec printable(unicode:chardata()) -> binary().
printable(Text) ->
    case unicode:characters_to_binary(Text) of
        Binary when is_binary(Binary) -> << <<(shown(Char))/utf8>> || <<Char/utf8>> <= Binary >>;
        {_, Good, _} -> printable([Good, "..."])
    end.

shown(Char) when Char < 32; Char >= 127, Char < 160 -> $?;
%% They end the line, or change the direction of what follows. (mailbox_audit_text, which may be missing here, has the same.)
shown(Char) when Char >= 16#2028, Char =< 16#202E; Char >= 16#2066, Char =< 16#2069 -> $?;
shown(Char) when Char =:= 16#200E; Char =:= 16#200F; Char =:= 16#61C -> $?;
shown(Char) -> Char.

text(Format, Args) -> unicode:characters_to_binary(io_lib:format(Format, Args)).

%% @doc Which faults of OTP a look can bring about, a sentence each. Where the exact version is unknown, it may have them.
-spec warnings([diagnose_known_faults:fault()], Otp :: binary() | unknown) -> [binary()].
warnings(Faults, Otp) ->
    [unicode:characters_to_binary([case Otp of unknown -> "Some versions of this release have"; _ -> "This OTP has" end,
                                   " a fault that signals can trigger, including those of this inspection: ", What, " (", Issue, ").",
                                   [[" Versions after ", lists:join(" and ", Last), " are without it."] || Last =/= []]])
     || #{issue := Issue, what := What, versions := Ranges} <- Faults, Last <- [[One || {_, One} <- Ranges, One =/= none]]].

how_often(#{waited := 0}) -> "never waits, and is";
how_often(#{waited := Waits, looks := Looks}) when 4 * Waits > Looks -> "is";
how_often(#{waited := Waits, looks := Looks}) when 20 * Waits > Looks -> "seldom waits, and is";
how_often(#{}) -> "hardly ever waits, and is".

queued(0) -> "";
queued(1) -> "; a message waits for it meanwhile";
queued(Messages) -> ["; ", count(Messages), " messages or more wait for it meanwhile"].

%% @doc What could not be seen of a node, a sentence each.
-spec unknown(diagnose_types:look(), [{module(), term()}]) -> [binary()].
unknown(#{otp := Otp, collections := Collections, suspects := Suspects, carriers := Carriers, layouts := Layouts, closer := Closer,
          cost := #{ended := Ended}} = Look, NotJudged) ->
    [printable(Sentence)
     || Sentence <-
            unseen(Look)
            ++ ["The exact version of OTP: the release has no file OTP_VERSION. So diagnose cannot tell which known faults this"
                " version has."
                || Otp =:= unknown]
            ++ ["The exact version of OTP: the node read no file in time. So diagnose cannot tell which known faults this version has."
                || Otp =:= not_looked, Ended =:= finished]
            ++ ["The collections' share: the emulator was built without microstate accounting."
                || Collections =:= unknown, Closer =:= finished]
            ++ ["The allocators' carriers were not inspected." || Carriers =:= unknown, Closer =:= finished]
            ++ ["The layouts: the node cannot load cons_spacing with its NIF." || Layouts =:= unknown, Ended =:= finished]
            ++ ["The layouts: measuring them wakes hibernating processes, which can trigger a fault of this OTP, so --nif was left out."
                || Layouts =:= not_safe]
            ++ not_traced([Pid || Closer =:= finished, #{pauses := not_traced, pid := Pid} <- Suspects])
            ++ ["The collections of single processes: tracing needed more memory or time than its limit."
                || lists:any(fun(#{pauses := Pauses}) -> Pauses =:= unknown end, Suspects)]
            ++ [[What, ": ", why_unknown(Key, maps:get(Key, Look), Look), "."] || {Key, What} <- unmeasured_keys(Look)]
            ++ [io_lib:format("The receives of ~ts: ~ts.", [Module, not_judged(Why)]) || {Module, Why} <- NotJudged]].

%% @doc What was to be measured beside the main parts, and was not: a few words each. These do not make a look incomplete, since some
%% systems never give them.
-spec unmeasured(diagnose_types:look()) -> [string()].
unmeasured(Look) -> [What || {_, What} <- unmeasured_keys(Look)].

unmeasured_keys(#{closer := finished, cost := #{ended := finished}} = Look) ->
    [{Key, What} || {Key, What} <- may_be_unknown(), is_unknown(maps:get(Key, Look))];
unmeasured_keys(#{}) -> [].

may_be_unknown() ->
    [{nagle_delays, "Whether connections hold back small sends"}, {native_times, "The time in native functions"},
     {flaps, "Whether connections to other nodes come and go"},
     {retries, "Whether state machines handle postponed events again"},
     {wakes, "How often timers and own messages wake processes"}, {links, "The monitors, links and timers"},
     {processes_beside, "What of the memory of processes is in none of them"},
     {reloads, "Whether modules are loaded again and again"}, {traced, "Whether processes are traced"},
     {not_accepted, "Whether connections wait to be accepted"},
     {losses, "Whether the system drops packets, or attempts to connect"}, {left_sockets, "Whether sockets are left behind"},
     {piles, "Whether processes pile up"}, {starting, "Whether an application is being started"},
     {stopping, "Whether the node is stopping"},
     {transactions, "Whether transactions of mnesia are begun again"},
     {debugged, "Whether modules are interpreted, or compiled for coverage"},
     {mapped, "How often memory is mapped for heaps"},
     {starts, "Who starts processes"}, {births, "How the heaps of new processes grow"},
     {long_runs, "Which processes run for long without yielding"}, {files, "The open files"},
     {elsewhere, "Memory outside the emulator's allocators"}].

is_unknown(#{native := Native}) -> Native =:= unknown;
is_unknown(#{unlisted := IsUnlisted}) -> IsUnlisted;
is_unknown(What) -> What =:= unknown orelse What =:= too_many.

why_unknown(Key, What, _) when Key =:= starts, What =/= unknown; Key =:= births, What =:= too_many ->
    "the VM gives numbers of processes again, and there are too many processes to compare lists of them";
why_unknown(long_runs, _, _) -> "somebody else has set erlang:system_monitor/2, or that took more time or memory than its limit";
why_unknown(Key, _, #{traced := #{traced := Traced, new := AreNew}}) when Key =:= wakes orelse Key =:= births, Traced > 0 orelse AreNew ->
    "somebody else traces processes of this node";
why_unknown(Key, _, #{traced := #{traced := 0, new := false}}) when Key =:= wakes; Key =:= births ->
    "no process answered at once, or tracing needed more time or memory than its limit";
why_unknown(Key, _, _) when Key =:= wakes; Key =:= births -> "somebody else traces, or tracing needed more time or memory than its limit";
why_unknown(Key, _, _) when Key =:= native_times; Key =:= retries ->
    "somebody else traces, or tracing needed more time or memory than its limit";
why_unknown(mapped, _, #{emulator := #{off := [_ | _]}}) -> "the allocator of heaps is off";
why_unknown(Key, _, _) when Key =:= files; Key =:= nagle_delays; Key =:= elsewhere; Key =:= mapped; Key =:= not_accepted;
                       Key =:= left_sockets; Key =:= losses ->
    "that needs the /proc of Linux, not too many ports, and to be done within the limits of time and memory";
why_unknown(_, _, _) -> "that took more time or memory than its limit".

not_traced([]) -> [];
not_traced(Pids) ->
    {Some, Others} = lists:split(min(3, length(Pids)), Pids),
    [["The collections of ", lists:join(", ", Some), [[" and ", count(length(Others)), " others"] || Others =/= []],
      ": processes with larger heaps were traced instead, or a process did not answer at once, is traced by somebody else, or ended."]].

%% @doc Why not everything within the bounds was seen, a sentence each; none where it was.
-spec unseen(diagnose_types:look()) -> [iolist()].
unseen(#{processes := Processes, closer := Closer, cost := #{ended := Ended}} = Look) ->
    [ended(Ended) || Ended =/= finished]
        ++ ["No process was inspected." || Processes =:= unknown, Ended =:= finished]
        ++ [io_lib:format("~ts processes ~ts.", [count(Count), why_skipped(Why)])
            || #{skipped := Skipped} <- [Processes], {Why, Count} <- lists:sort(maps:to_list(Skipped)), Why =/= ended]
        ++ ["Nothing was inspected more closely, because the node is overloaded." || Closer =:= busy]
        ++ ["Nothing was inspected more closely." || Closer =:= not_looked]
        ++ [Sentence || Closer =:= finished, Ended =:= finished, Sentence <- unseen_of_node(Look)]
        ++ [Sentence || Closer =:= busy, Ended =:= finished,
                        Sentence <- unseen_ports(maps:get(ports, Look)) ++ unseen_terms(maps:get(terms, Look))].

unseen_of_node(#{tables := Tables, binaries_beside := Beside, ports := Ports, terms := Terms, counts := Counts,
                 groups_left := Left} = Look) ->
    blocked(Look) ++ starved(diagnose_work_time:starved(Look), Look)
        ++ ["The ETS tables were not inspected: that took more time or memory than its limit." || Tables =:= unknown]
        ++ [[count(Skipped), " ETS tables were left out, because there are too many."] || #{skipped := Skipped} <- [Tables], Skipped > 0]
        ++ [[count(Lost), " ETS tables were left out: inspecting them took more time or memory than its limit, or failed."]
            || #{lost := Lost} <- [Tables], Lost > 0]
        ++ ["Which processes and programs are started was not inspected: that took more time or memory than its limit."
            || Programs <- [maps:get(programs, Look)], Programs =:= unknown orelse maps:get(starts, Look) =:= unknown]
        ++ ["The tables that may hold binaries were not inspected: that took more time or memory than its limit." || Beside =:= unknown]
        ++ unseen_ports(Ports)
        ++ [[count(Skipped), " ports were left out, because there are too many."] || #{skipped := Skipped} <- [Ports], Skipped > 0]
        ++ unseen_terms(Terms)
        ++ ["The inspection was too short to see loops and growth; --budget gives it more time." || length(Counts) < ?SHORT_LOOK]
        ++ [[count(Left), " more kinds of processes have much memory or deep mailboxes; those with the most are reported."] || Left > 0]
        ++ untold(diagnose_work_time:untold(Look))
        ++ seldom_seen(diagnose_work_time:seldom_seen(Look))
        ++ unheld(Look) ++ unlooked(Look).

%% Less than a finding tells of. Messages, and what other sides do not read, may have them.
unheld(#{binaries_beside := #{bytes := Bytes, tables := []} = Beside, memory := #{total := Total}, processes := #{messages := Messages},
         ports := #{waiting := []}})
  when Bytes >= ?HELD_BYTES, Bytes < ?MOST_BYTES, 2 * Bytes >= Total, Messages < ?BEHIND, not is_map_key(buffers, Beside) ->
    [["Who holds ", bytes(Bytes), " of binaries (of ", bytes(Total), " of memory) is unknown: no heap of a process refers to them, and no"
      " ETS table that can be read has many of them. A private table, persistent terms or native code may."]];
unheld(#{}) -> [].

%% Where as much as a sign is told of from on may be in what was not looked at.
unlooked(#{unlooked := #{processes := Processes, heap_bytes := Heap, held_bytes := Held, too_large := TooLarge}, memory := Memory}) ->
    Binaries = case Memory of #{binary := All} -> min(Held, All); _ -> Held end,
    [["How much is alive of ",
      [[bytes(Heap), " of heap"] || Heap >= ?GARBAGE_BYTES],
      [" and " || Heap >= ?GARBAGE_BYTES, Binaries >= ?HELD_BYTES],
      [[bytes(Binaries), " of binaries"] || Binaries >= ?HELD_BYTES],
      " in ", count(Processes), " idle ", [case Processes of 1 -> "process"; _ -> "processes" end],
      " is unknown: ", not_collected(TooLarge, Processes), "."]
     || Heap >= ?GARBAGE_BYTES orelse Binaries >= ?HELD_BYTES];
unlooked(#{}) -> [].

not_collected([], _) -> "they are of too many kinds, or did not answer in time";
not_collected([One], 1) ->
    ["it was not collected, because it is too large (", One, "); --collect '", One, "' collects it all the same"];
not_collected([First | _] = Pids, Processes) ->
    {Some, Such} = case Processes > length(Pids) of true -> {"some ", "such as "}; false -> {"", ""} end,
    ["they were not collected, ", Some, "because they are too large (", Such, lists:join(", ", Pids), "); --collect '", First,
     "' collects one of these all the same"].

untold(none) -> [];
untold(#{cores := Cores, reductions := Reductions}) ->
    [io_lib:format("Which functions the node works in is unknown: it uses ~.1f cores, and its processes do only ~ts reductions a second."
                   " Native functions that run for long hold the schedulers (a NIF, a port driver, a calculation of OTP's crypto), and all"
                   " else waits. The VM does not name them where their processes end at once; perf record of the node does.",
                   [Cores, count(Reductions)])].

%% Each may wait for less than a run that the monitor tells of.
blocked(#{collections := #{blocked := Cores, nifs := [_ | _] = Modules}} = Look) when Cores >= ?BLOCKED_CORES ->
    [io_lib:format("Which processes block schedulers is unknown: the schedulers were at work for ~.1f cores while their threads slept, so a"
                   " native function waits there; modules with native functions: ~ts.",
                   [Cores, lists:join(", ", [io_lib:format("~tp", [Module]) || Module <- Modules])])
     || not lists:any(fun diagnose_work_time:is_long/1, diagnose_work_time:long_runs(Look))];
blocked(#{}) -> [].

starved(none, _) -> [];
starved({part, Part}, #{throttled := #{periods := Periods, throttled := Times}}) when 2 * Times >= Periods ->
    [io_lib:format("The node's quota of processor time was too small to judge rates: it was used up in ~b of ~b periods, and the node got about"
                   " ~b % of the processor time that it needed. So collections, hibernations, reductions, starts or timers may be too"
                   " frequent without a finding. Give the container more (limits.cpu), or inspect the node when it has less to do.",
                   [Times, Periods, round(100 * Part)])];
starved({part, Part}, _) ->
    [io_lib:format("The machine was too busy to judge rates: the node got about ~b % of the processor time that it needed. So collections,"
                   " hibernations, reductions, starts or timers may be too frequent without a finding. Inspect the node again when the"
                   " machine is less busy.", [round(100 * Part)])].

seldom_seen(0) -> [];
seldom_seen(Count) ->
    [io_lib:format("~ts ~ts or ~ts messages, and ~ts seen too seldom to know ~ts: the machine did something else most of the time.",
                   case Count of
                       1 -> ["1 process", "works", "has", "was", "whether it is stuck or never rests"];
                       _ -> [[count(Count), " processes"], "work", "have", "were", "whether they are stuck or never rest"]
                   end)].

unseen_ports(Ports) -> ["The ports were not inspected: that took more time than its limit." || Ports =:= unknown].

unseen_terms(too_many) -> ["Whether persistent terms are replaced is unknown: there are too many, or they are too large, to compare them."];
unseen_terms(unknown) -> ["Whether persistent terms are replaced is unknown: comparing them took more time or memory than its limit."];
unseen_terms(#{}) -> [].

why_skipped(silent) -> "did not answer in time";
why_skipped(out_of_time) -> "were left out, because the time was up; --budget gives more";
why_skipped(too_many) -> "were left out, because there are too many and they have no names".

ended(out_of_time) -> "The time was up before everything was inspected; --budget gives more.";
ended(out_of_memory) -> "The inspection needed more memory than its limit, and was ended.";
ended(out_of_processes) -> "The node is at its limit of processes, so the inspection was ended.";
ended(crashed) -> "The inspection failed on the node before everything was inspected.".

not_judged({undecided, {Name, Arity}, File, Line}) ->
    io_lib:format("that of ~ts/~b (~ts:~b), where a process with a deep mailbox is, may scan: the compiler does not report it",
                  [Name, Arity, File, Line]);
not_judged(no_mailbox_audit) -> "the application mailbox_audit is missing";
not_judged(other_code) -> "its file does not contain the loaded code";
not_judged(not_readable) -> "its file cannot be read";
not_judged(too_large) -> "its file, with those sent before, is too large to send";
not_judged(too_many) -> "the limit of modules was reached; deeper mailboxes came first";
not_judged(out_of_time) -> "judging them took longer than its limit";
not_judged(out_of_memory) -> "judging them would take more memory of this node than the limit; run diagnose from another node";
not_judged(no_compiler) ->
    "this Erlang has no compiler, which diagnose needs to judge receives; add the application compiler to the release";
not_judged(no_debug_info) ->
    "it has no debug_info, which diagnose needs to judge receives. A release of mix keeps debug_info with strip_beams: false. A release of"
    " rebar3 keeps it with {debug_info, keep} and without {mode, prod}. If diagnose runs on the Erlang of the release, the release also"
    " needs the application compiler (doc/diagnose.md#in-all-containers)";
not_judged(other_debug_info) -> "its debug_info is that of another module";
not_judged(not_a_beam) -> "its file is not a compiled module";
not_judged(too_long_unpacked) -> "it unpacks to more than 128 MiB";
not_judged(too_many_atoms) -> "its debug_info has more new atoms than the node has room for";
not_judged(too_many_defaults) -> "the defaults of its records expand to 20,000 nodes of code or more";
not_judged(too_deep) -> "its code is nested more than 2,000 times";
not_judged(takes_too_long) -> "judging it takes longer than its limit";
not_judged(takes_too_much_memory) -> "judging it takes more memory than its limit";
not_judged(encrypted) -> "its debug_info is encrypted";
not_judged({no_backend, Backend, _}) ->
    io_lib:format("~ts, which reads its debug_info, is not found where the audit runs, or does not load there", [Backend]);
not_judged({backend_fails, Backend}) ->
    io_lib:format("~ts does not understand its debug_info, which another version of it may have written", [Backend]);
not_judged({newer_compiler, _, _}) ->
    "a newer OTP compiled it, and the compiler here does not understand its code; run diagnose on that OTP, or on the node's machine";
not_judged(Words) -> ["the compiler refuses it: ", Words].

%% @doc Why a process of the inspection ended, without its stack.
-spec end_reason(term()) -> iodata().
end_reason({Reason, [{Module, _, _, _} | _]}) when is_atom(Module) -> end_reason(Reason);
end_reason(system_limit) -> "the node is at its limit of processes";
end_reason(Reason) -> printable(io_lib:format("~0tP", [Reason, 12])).

%% @doc An error as one sentence.
-spec error(noproc | deep_mailbox | near_max_heap | no_process_identifier | diagnose_node:reason()) -> string().
error(Reason) -> lists:flatten(why(Reason)).

why(noproc) -> "there is no such process any more";
why(deep_mailbox) -> "a thousand messages or more wait for it, and a collection would copy or scan all of them";
why(near_max_heap) -> "a full collection could bring it over its max_heap_size, which ends it";
why(no_process_identifier) -> "this is not a process identifier of the node; one looks like <0.80.0>";
why({too_old, unknown}) -> "the node is older than OTP 25, the oldest that can be inspected";
why({too_old, Release}) -> io_lib:format("the node is OTP ~b; the oldest that can be inspected is OTP 25", [Release]);
why(busy) -> "somebody else is inspecting this node; try again in some seconds";
why(silent) -> "the node does not answer in time";
why(no_process) -> "the node is at its limit of processes, and can start none for the inspection; +P raises the limit";
why({few_atoms, Count, Limit}) ->
    ["the node has ", count(Count), " of at most ", count(Limit), " atoms: what the inspection loads could bring it to the limit, where the"
     " node ends. Find out who makes atoms from input (binary_to_atom, list_to_atom); start it with a larger +t to inspect it"];
why(nodedown) -> "the node does not answer any more";
why({no_module, Module}) -> io_lib:format("the code of ~ts is not found here", [Module]);
why({not_loaded, Module}) -> io_lib:format("the node does not load the code of ~ts", [Module]);
why({other_version, _}) ->
    "the node has another version of diagnose loaded; use that one, or remove it there:"
    " code:delete(diagnose_probe), code:purge(diagnose_probe)";
why({ended, Reason}) -> io_lib:format("the inspection ended on the node (~0tP)", [Reason, 12]).

tries(#{asked := Asked, moved := Moved, ms := Ms, looks := Looks, free := Free}, #{is_free := IsFree}) ->
    [io_lib:format("; of ~ts that were watched ~ts got one or gave up within ~.1f s", [count(Asked), count(Moved), Ms / 1000]),
     [io_lib:format("; at ~b of ~b looks no lock was still held since the look before", [Free, Looks]) || IsFree]].

%% @doc A number with its thousands apart.
-spec count(integer()) -> iolist().
count(Number) when Number < 0 -> [$-, count(-Number)];
count(Number) when Number < 1000 -> integer_to_list(Number);
count(Number) -> [count(Number div 1000), io_lib:format(",~3..0b", [Number rem 1000])].

%% Two digits of it.
about(Number) when Number < 100 -> count(Number);
about(Number) ->
    Unit = round(math:pow(10, floor(math:log10(Number)) - 1)),
    count(Unit * round(Number / Unit)).

mostly_in(Function, Mostly) -> [[", mostly in ", Mostly] || Mostly =/= Function, Mostly =/= unknown].

%% @doc Bytes in the unit that reads best.
-spec bytes(diagnose_types:bytes()) -> iolist().
bytes(unknown) -> "an unknown size";
bytes(Bytes) when Bytes < 10_000 -> io_lib:format("~b B", [Bytes]);
bytes(Bytes) when Bytes < 1_000_000 -> io_lib:format("~.1f kB", [Bytes / 1000]);
bytes(Bytes) -> io_lib:format("~.1f MB", [Bytes / 1.0e6]).
