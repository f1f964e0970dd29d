%% The bounds beyond which something is reported. The README and the last line of a report have them in words.

%% Messages in a mailbox. A process with more is not asked for anything that scans all of them.
-define(DEEP, 1000).
%% So many processes of each sort get a second look, if they are beyond its bound.
-define(KEPT, 10).
%% A mailbox that is empty in so long is being emptied.
-define(CATCHES_UP_S, 60).
%% Fewer, at every look: whoever has them does not keep up. And so many together in the mailboxes of processes alike.
-define(BEHIND, 50).
-define(BEHIND_TOGETHER, 20_000).
%% Or so few, where they are calls and casts, which every server takes, and it does nothing at all.
-define(HELD_UP, 5).
-define(BEHIND_IN_OVERLOAD, 100).
%% Or so few, at every look, while it is in what it does for another one.
-define(KEPT_WAITING, 10).
%% Processes that wait for the answer of one to their calls, each for the whole look.
-define(AWAITED, 100).
%% Or so few, where nobody can be thought to wait for work that there may be none of: for a lock, for a name server, or for a process on a
%% node that is not connected.
-define(AWAITED_FEW, 10).
%% Children that end one after the other take so long in all; where none has ended meanwhile, so many wait for their turn.
-define(ENDS_MS, 10_000).
-define(LEFT_CHILDREN, 10).
%% A lock that was given back so often in two seconds is kept by nobody.
-define(CHANGES_HANDS, 3).
%% Where each caller has its turn within, all of them are served.
-define(TURN_MS, 20_000).
%% So few callers wait so long in the same call, while what they have called works in one callback. Or so long, and at such a part of the
%% looks some wait. (Of that time the machine had none for the VM for a part.)
-define(STALLED, 3).
-define(STALLED_MS, 500).
-define(KEPT_MS, 100).
-define(ALWAYS_KEPT, 0.8).
-define(IN_ONE_CALLBACK, 0.8).
%% Processes that wait until a socket takes what they send, all the time.
-define(NOT_READ, 5).
%% Connections wait to be accepted at so many looks in a row: so many, or a number that changes if no process waits
%% in accept.
-define(BACKLOG_LOOKS, 6).
-define(BACKLOG, 5).
%% So many attempts to connect are dropped while a socket of the node is full at so many looks.
-define(REFUSED, 10).
-define(FULL_LOOKS, 2).
%% Packets that a socket of UDP loses a second, and the part of all that come.
-define(DROPPED_A_SECOND, 10).
-define(DROPPED_PART, 0.01).
%% Sockets that are left behind, of which there are more and more; or so many. And so many that nobody reads.
-define(LEFT_SOCKETS, 20).
-define(MANY_LEFT_SOCKETS, 100).
-define(UNREAD_SOCKETS, 10).
%% Connections that the node makes and keeps: so many more meanwhile, at a pace at which all of them took so long.
-define(KEPT_MORE, 3).
-define(OPENED_MS, 15_000).
%% Processes that wait in one function, and so many more a second. Where nothing else tells them from sessions of clients that come, more
%% of them; and those have worked that have done so many times as much as newer ones.
-define(PILED_UP, 200).
-define(PILED_UP_QUIETLY, 1000).
-define(HAS_WORKED, 1.5).
-define(HAS_WORKED_REDUCTIONS, 200).
-define(PILED_UP_A_SECOND, 5).
%% The start of an application waits for the same for so long.
-define(STARTING_MS, 2000).
%% A node that was started so long ago should have started its applications, also if it goes on.
-define(UP_MS, 10_000).
%% Reductions of init a second: each question takes 14 or more.
-define(INIT_ASKED, 14).
%% A mailbox that falls to a fifth of what waited there so often, and once a second, is one that its process lets fill, and empties.
-define(EMPTIED, 3).
%% A collection of 200 kB or more that stops its process for so long, more than once; or so much of its time spent on at least so many.
-define(LONG_US, 20_000).
%% Once only, the machine may have done something else meanwhile: then so long.
-define(VERY_LONG_US, 60_000).
-define(COLLECTING, 0.25).
%% Within less the machine may have interrupted several.
-define(COLLECTING_MS, 20).
-define(COLLECTIONS, 5).
%% One that hibernates collects all that it has, each time: so much of its time is enough.
-define(HIBERNATING, 0.02).
%% Or so much of a core by all of its kind together, where each hibernated so often meanwhile and hardly anything died.
-define(HIBERNATING_TOGETHER, 0.1).
-define(HIBERNATIONS, 3).
%% Collections of a sort take so much of the time of a process, or nothing is to be gained: busy processes of a healthy RabbitMQ reach
%% 2.3 %. The virtual heap fills so often.
-define(COSTLY, 0.04).
-define(VIRTUAL_COLLECTIONS, 20).
%% So many bytes of binaries that are made a second, and so many for each byte of the heap, are copies of large ones.
-define(BINARIES_A_SECOND, 100_000_000).
-define(LARGE_BINARIES, 500).
%% So many full sweeps tell what they are good for; they free so much of the old generation, or leave so much of all that was there.
-define(FULL_SWEEPS, 3).
-define(MOSTLY, 0.75).
%% Less than that, alive or promoted, is not worth a setting.
-define(WORTH_BYTES, 1_000_000).
%% So many short-lived processes; and three quarters of them end with heaps that differ by no more than a factor of two from the middle.
-define(BIRTHS, 20).
%% Bytes of an idle heap that are not used; of garbage in processes alike; of binaries that are held by small heaps, and references to them.
-define(UNUSED_BYTES, 12_000_000).
-define(GARBAGE_BYTES, 16_000_000).
%% Where many processes have small heaps, as clients that wait for one server, the garbage is not what is wrong: so much each on average.
-define(GARBAGE_HEAP, 32_000).
%% Less is not worth to be added: of all kinds of which there is a sample it is less than that.
-define(GARBAGE_OF_KIND, 1_000_000).
-define(HELD_BYTES, 32_000_000).
-define(REFERENCES, 100).
%% Who holds so small a part of what a collection frees may hold the same.
-define(MAY_HOLD, 10).
%% Where one idle process holds so much and half of the node's binaries, few references count, too.
-define(MOST_HELD_BYTES, 64_000_000).
-define(CARRIER_BYTES, 64_000_000).
%% One in so much of a heap is hardly anything.
-define(DROPPED, 10).
%% By core in use. A busy RabbitMQ has 9,000 to 15,000 page faults a second, of which the advised flags save 3 to 4 % of its processor
%% time: that is no sickness. Its streams have 87,000 (with +MHsbct 4096 6,000), and 1,800 segments. A node that had 25,000 in 0.8 cores
%% needed 17 % less processor time without them, but healthy batch jobs with as many only 4 %. The threshold is the advised one: with
%% 4 MB, sessions whose heaps are larger had as many as before.
-define(FAULTS_A_SECOND, 50_000).
-define(SEGMENTS_A_SECOND, 200).
-define(SHARED_CARRIERS, 8_388_608).
%% So many processes with so much each, by so many that were collected, have the same data.
-define(EQUAL_PROCESSES, 10).
-define(EQUAL_LOOKS, 3).
-define(EQUAL_BYTES, 1_000_000).
%% Without a collection they differ by a part of so many at most; or one has so many such copies.
-define(EQUAL_TO, 500).
-define(EQUAL_TIMES, 4).
%% A process or a table that has so much, and half of all memory.
-define(MOST_BYTES, 100_000_000).
%% So many bytes has a table for each process or port that there may be (a word, and half a word for the order of the free ones); so small
%% a part of the places is used, and the table is so large a part of the node.
-define(PLACE_IN_TABLE, 12).
-define(FAR_FROM_PLACES, 16).
-define(PART_OF_PLACES, 4).
%% What it uses grows by so much a second.
-define(HEAP_GROWTH, 100_000).
%% Allocators of the VM for what is no term.
-define(OF_THE_VM, [driver_alloc, ll_alloc, sl_alloc, std_alloc, temp_alloc, fix_alloc]).
%% A loop that calls itself before it is done leaves a frame each time.
-define(STACK_BYTES, 8_000_000).
%% A dense list touches 250 cache lines for each thousand cells.
-define(SPREAD_LINES, 750).
-define(SPREAD_CELLS, 10_000).
%% A process that did not answer for so long.
-define(SILENT_MS, 1000).
%% In at least so many looks a process never waited, and was in one function in nine of ten.
-define(BUSY_LOOKS, 10).
%% So many of one kind that never wait may be jobs that a timer starts too often.
-define(LOOPS_ALIKE, 3).
%% From so many processes on, the last line of a report tells where they wait; from so many on, it does so where it knows for which host.
-define(WAITING_ALIKE, 20).
-define(PLACED, 5).
%% So many others wait behind such processes.
-define(BEHIND_PLACED, 5).
%% So many servers wait in a callback for one host that tells them nothing, while sockets become more.
-define(LEFT_WAITING, 50).
%% Fewer may be of the inspection and its connection.
-define(MORE, 10).
%% From so many bytes on, the report names a table that has a tenth of those of all tables.
-define(LARGE_TABLE_BYTES, 1_000_000).
-define(SAME_FUNCTION, 0.9).
%% Of a stack the VM tells so many frames (the flag backtrace_depth).
-define(TOLD_FRAMES, 8).
%% A node that works with so many cores tells in which functions.
-define(BUSY_CORES, 0.5).
%% It does so many reductions a second, or it is in native code, and answers so late.
-define(BUSY_REDUCTIONS, 1_000_000).
-define(NATIVE_MS, 3).
%% A node that works does so few reductions a second for each core in native code (or so few, if it works half as much), collects for so
%% small a part, and is kept waiting by the machine so little. A process does much of that which runs so often for 10 ms or more, and for
%% such a part of the time.
-define(NATIVE_REDUCTIONS, 3_000_000).
-define(HARDLY_REDUCTIONS, 500_000).
%% Or its schedulers are at work for so many cores while their threads sleep.
-define(BLOCKED_CORES, 0.25).
-define(NATIVE_COLLECTIONS, 0.25).
-define(NATIVE_DELAYED, 0.8).
%% With work for so many cores, one that the machine kept waiting for longer has no pace that tells anything. With less it has done all
%% that there was, since a scheduler was without work half of the time.
-define(WANTED_CORES, 0.5).
-define(LONG_RUNS, 3).
%% No code of Erlang does so few a second: the lowest of healthy programs that were seen is some millions.
-define(HELD_REDUCTIONS, 100_000).
-define(LONG_RUNS_PART, 0.25).
%% Or more than once, for such a part.
-define(LONG_RUNS_MOST, 0.5).
%% Processes of one kind count together if a run has so much of the VM's own time on average.
-define(TOGETHER_RUN_MS, 50).
%% Or so many, in one function all the time, where the machine let the VM run at half of the time about.
-define(COPYING_REDUCTIONS, 100_000).
-define(MOSTLY_DELAYED, 0.6).
%% A server that works on messages; and the modules whose functions are on the stack of each.
-define(BUSY_SERVER_REDUCTIONS, 10_000_000).
%% A server for which messages always wait is at so many looks in one function.
-define(SERVING, 0.1).
%% One that never rests works at so many looks, and one for which messages wait, and which is in one function, at so many.
-define(NEVER_RESTS, 0.95).
-define(SELDOM_RESTS, 0.8).
%% One that begins again after each pause works at so many looks, if it is seen in the loop of its behaviour or asleep at all others; if
%% it is asleep at all of them, at so many as what seldom rests. It takes so much of a core; or the machine hardly ever kept the VM waiting.
-define(HARDLY_PAUSES, 0.9).
-define(OF_A_CORE, 0.7).
-define(HARDLY_DELAYED, 0.2).
%% With so little of a core used by the node, a receive that scans is not why its messages wait.
-define(SCANS_LITTLE, 0.3).
%% Who does so many reductions for each message to itself computes.
-define(COMPUTES_EACH, 10_000).
%% One that works at so many looks, and at so many of these is not where it takes its next message, works for long on each.
-define(WORKS_LONG, 0.75).
-define(IN_WORK, 0.75).
-define(HANDLES, [handle_msg, try_handle_call, try_handle_cast, try_handle_info, try_dispatch, dispatch, handle_info, handle_event,
                  loop_state_callback, server_update, server_notify]).
%% It waits for what another process says of itself at so many looks.
-define(ASKS_OTHERS, 0.15).
-define(ASKING_REDUCTIONS, 500_000).
%% A process waits at so many looks for one that has a file, and does so many reductions a second: each line is a request.
-define(BY_FILE, 0.75).
%% By the module io, which asks for each line, fewer will do where it does as much as a busy process.
-define(BY_LINE, 0.4).
-define(BY_FILE_REDUCTIONS, 100_000).
%% A state machine changes its state so often in a second, each time with so many postponed events, of which it handles so many a second.
-define(CHANGED, 2).
-define(POSTPONED, 1000).
-define(RETRIED_A_SECOND, 20_000).
%% A server is in files at so many looks for those that call it.
-define(IN_FILES, 0.4).
%% One that is seen at its answers works at so many looks.
-define(ANSWERING, 0.75).
-define(BEHAVIOURS, [gen, gen_server, gen_server2, gen_statem, gen_event, gen_fsm, proc_lib, sys]).
%% Modules that put terms into words, in which a process is at so many looks.
-define(FORMATTING, [io_lib, io_lib_format, io_lib_pretty, logger_formatter, erl_error]).
-define(FORMATS, 0.75).
%% An event manager goes from handler to handler at so many looks; some thousands of handlers need so much heap.
-define(NOTIFIES, 0.1).
-define(HANDLERS_BYTES, 1_000_000).
%% A supervisor goes through its children at so many looks.
-define(LISTS_CHILDREN, 0.25).
%% Functions in which a process waits until a socket takes what it sends (OTP 25 to 29), for what the other side sends, for what a program
%% of the system writes, for a lock of all nodes, until its group leader has printed, and until that has printed a log.
-define(SENDING, [{prim_inet, send}, {prim_inet, send_recv_reply}, {gen_tcp_socket, send}, {socket, send}]).
-define(READING, [{prim_inet, recv0}, {prim_inet, async_recv}, {gen_tcp_socket, recv}, {socket, recv}, {socket, recv_deadline},
                  {socket, recvfrom}]).
-define(IN_PROGRAM, [{os, get_data}]).
-define(LOCKING, [{global, random_sleep}]).
-define(LOGGING, [{logger_std_h, write_to_dev}]).
%% Where they wait, it is for another node.
-define(SPAWNS, [{erlang, spawn}, {erlang, spawn_link}, {erlang, spawn_monitor}, {erlang, spawn_opt}]).
-define(PRINTING, [{io, execute_request}, {io, wait_io_mon_reply}]).
%% Part of a limit; or that what grows all the time reaches the limit within so many seconds.
-define(NEAR_LIMIT, 0.8).
-define(GROWS_TO_LIMIT_S, 1200).
%% Of so few files nobody can tell when the limit is reached.
-define(FAR_FROM_LIMIT, 100).
%% So many processes of the look itself may be there at its beginning, and not at its end.
-define(HELPERS, 30).
%% Where there are so many, and never fewer than at the look before, a day is soon enough.
-define(MANY_PROCESSES, 10_000).
-define(MANY_PORTS, 5_000).
-define(DAY_S, 86_400).
%% Or so many, of which some were started while this was looked at, not by a supervisor, and hardly one in so many of these has ended.
-define(LEFT_PROCESSES, 2000).
-define(LEFT_STARTS, 100).
-define(FEW_ENDED, 20).
%% Or so many, of which one process owns half: it is no connection for each client that comes.
-define(PORTS_OF_ONE, 500).
%% Atoms are never given back, and a node that runs makes none.
-define(ATOMS_TO_LIMIT_S, ?DAY_S).
%% Of an unknown kind are too few to be told of, beside so many times as many of a known one.
-define(OTHERS, 10).
%% Twice what the modules of a release have on average.
-define(ATOMS_OF_MODULE, 100).
%% So few counts tell no growth.
-define(SHORT_LOOK, 10).
%% Of processes alike one has so much of the work of all.
-define(MOST_OF_WORK, 0.8).
%% Collections of a process with many messages take so much of its time, or the place of the messages hardly matters.
-define(MESSAGES_COLLECTED, 0.02).
-define(MANY_LINKS, 10_000).
%% A process of OTP or of RabbitMQ has some thousands at most.
-define(DICTIONARY_KEYS, 10_000).
-define(MANY_TIMERS, 100_000).
%% So many may hold large messages.
-define(HOLDING_TIMERS, 100).
%% What one takes (OTP 25 to 29, 64 bits).
-define(TIMER_BYTES, 152).
%% Nanoseconds of a look-up of a key that is not there, and how many times those of a table of our own.
-define(CONTENDED_NS, 1500).
-define(CONTENDED_RATIO, 5).
%% Schedulers wait awake for work for so much of a core's time together, and work for so small a part of that.
-define(BUSY_WAIT, 0.5).
-define(LITTLE_WORK, 0.1).
%% So many schedulers, and so many for each processor that the VM may use.
-define(MANY_SCHEDULERS, 8).
-define(SCHEDULERS_EACH, 4).
%% All processes together do so many reductions a second where the schedulers work, whatever their states say on a busy machine.
-define(WORKING_REDUCTIONS, 5_000_000).
%% So many processes ready on one scheduler while another has none, in nineteen looks of twenty: bursts come and go. With one ready on the
%% other, which the look itself may have woken, twice as many, and so on.
%% Cores in one native function; and microseconds of one call, below which it is called too often rather than too slow.
-define(NATIVE_TIME, 0.2).
-define(LONG_CALL_US, 50).
%% Threads that are not the VM's work so many times as much as its own.
-define(OTHER_TIMES, 2).
%% With processors to spare, work waits at so much of the looks.
-define(FEW_SCHEDULERS_LOOKS, 0.5).
-define(UNEVEN, 10).
-define(UNEVEN_LOOKS, 0.95).
%% So many wait for a thread for long native work or files, as often.
-define(DIRTY_QUEUE, 5).
%% A process does nothing if it does so many reductions a second: each look at it counts some.
-define(NO_WORK_REDUCTIONS, 1000).
%% A persistent term that was put anew so often, and at a quarter of the looks.
-define(CHURN_TIMES, 3).
%% Or seldomer, where so many processes are gone over each time.
-define(CHURN_PROCESSES, 5000).
%% Transactions of mnesia are begun again so often a second, and one for each two that are committed.
-define(RESTARTS_A_SECOND, 50).
%% mnesia is to dump its log so often, and so often a second.
-define(DUMPS, 4).
-define(DUMPS_A_SECOND, 2).
%% The code server does so many reductions a second, and is asked again for modules that are not there so often a second.
-define(LOOKING_UP, 100_000).
-define(LOOKUPS_A_SECOND, 5).
%% A module that was loaded anew so often meanwhile.
-define(RELOADS, 2).
%% Old code is purged so often in the second of a trace, and stays: an upgrade purges it once or twice.
-define(PURGED_AGAIN, 3).
%% A table with so much, and a quarter of all memory, that grows at each look, by as much as all memory within the time
%% of ?GROWS_TO_LIMIT_S.
-define(GROWING_BYTES, 30_000_000).
-define(FILLED_MS, 30_000).
-define(YOUNG_TABLE, 0.75).
%% Such a part of some rows is lists of characters.
-define(CHARACTERS, 0.5).
-define(MANY_TABLES, 10_000).
%% Fewer, where one process owns half of them, and their number never fell between two looks: a table for each session has its own owner.
-define(TABLES_OF_ONE, 1000).
%% A table that was kept fixed for so long, and has so much.
-define(FIXED_MS, 5_000).
-define(FIXED_BYTES, 10_000_000).
%% Rows of one key in a bag, with each of which a row to insert is compared. In a duplicate_bag that is only done for a row to delete.
-define(SAME_KEY, 5_000).
-define(SAME_KEY_DUPLICATES, 50_000).
%% Processes of which so many, and half of those that ended, failed meanwhile, and so many a second.
-define(FAILED, 6).
-define(FAILED_A_SECOND, 2).
%% Or of which a supervisor starts so many in a second, though nobody has asked for them.
-define(RESTARTED, 2).
%% After one has failed, all others are ended so often within the look.
-define(SWEEPS, 2).
%% Programs of the system that run, or that are started a second, of which so many were seen.
-define(PROGRAMS, 100).
-define(PROGRAMS_A_SECOND, 10).
-define(PROGRAMS_SEEN, 10).
%% Attempts to connect that were seen, of which so many are made a second, and so many by each process.
-define(ATTEMPTS, 10).
-define(ATTEMPTS_A_SECOND, 50).
-define(ATTEMPTS_OF_ONE, 5).
%% What processes are given to begin with: so many of them, and so much a second.
-define(COPIES, 10).
-define(COPIED_A_SECOND, 20_000_000).
%% A table is gone through at such a part of the looks, and at so many; or together by several processes.
-define(SCANNING, 0.05).
-define(SCANS, 4).
-define(SCANNING_TOGETHER, 0.1).
-define(SCANNED_ROWS, 10_000).
%% One in so many of some keys that name processes names one that has ended.
-define(LEFT_ROWS, 3).
%% Each of so many processes is collected in full so often a second since that was asked for.
-define(FORCED, 3).
-define(FORCED_A_SECOND, 1).
%% A process of high priority works at half of the looks. Or it does so many reductions a second: whoever looks waits while it works,
%% and sees it at rest.
-define(HOGS, 0.5).
-define(HOGS_REDUCTIONS, 50_000_000).
%% A server of priority low works, or waits for its turn, at so many looks. Those that take the schedulers work at so many, or each
%% scheduler has one ready at so many.
-define(HELD_BACK, 0.5).
-define(TAKEN, 0.5).
%% A process is in what an option of sys for debugging calls at so many looks. Or working processes are in code that is
%% compiled for coverage at so many.
-define(DEBUGGED, 0.1).
-define(COVERED, 0.5).
%% Timers wake processes alike so often a second together, and each of them so often.
-define(WOKEN_A_SECOND, 20_000).
-define(EACH_WOKEN_A_SECOND, 2).
%% A connection to another node ended so often within the look, and was made again.
-define(FLAPS, 3).
%% So many nodes that were not known before came and went, and so many a second.
-define(PASSING_NODES, 8).
-define(PASSING_A_SECOND, 2).
%% A process that never waits sends itself so many messages a second.
-define(TO_ITSELF_A_SECOND, 1000).
%% Collections take so much of the time in which schedulers are busy, which is so much of one; and so many alike that were traced tell whose
%% they are, if all of that kind take so much of a scheduler.
-define(COLLECTING_TOGETHER, 0.25).
-define(COLLECTING_SCHEDULER, 0.5).
-define(COLLECTING_ALIKE, 3).
%% A part of a second tells the share, and the whole look what some kinds take: less is no reason to ask for that.
-define(NOT_COLLECTING, 0.15).
%% So many processes are started a second, and so many for each scheduler.
-define(STARTS_A_SECOND, 20_000).
-define(STARTS_OF_SCHEDULER, 10_000).
%% So many connections over TLS are started a second, of those that were seen; and the node works so much, which one that rests does not.
%% So many kinds of processes that use such a connection are told of.
-define(HANDSHAKES_A_SECOND, 20).
-define(HANDSHAKE_CORES, 0.25).
-define(TOLD_USERS, 3).
%% Modules that are still loaded one after the other when a system has so many.
-define(MANY_MODULES, 1500).
%% Whoever logs so many events a second all the time goes round in a loop. (200 lines a second may be meant.)
-define(LOGGED_A_SECOND, 1000).
%% No machine has so many bytes.
-define(PETABYTE, (1 bsl 50)).
%% A process reads its socket so often, in pieces that fill most of its buffer, which is no larger.
-define(READS_A_SECOND, 1000).
-define(BUFFER_FILLED, 0.8).
-define(SMALL_BUFFER, 16_384).
%% Parts of what is larger, as packets bring them, come so often, and for each of their bytes the process does so many reductions: to go
%% through them once takes few.
-define(PART_BYTES, 1000).
-define(PARTS_A_SECOND, 20).
-define(PARSING_REDUCTIONS, 10).
