%% @doc The types that the modules of this application share. `unknown' stands where nothing could be seen.
-module(diagnose_types).

-export_type([look/0, processes/0, suspect/0, bytes/0, sample/0, frame/0, pauses/0, collections/0, carriers/0, mapped/0, layout/0,
              finding/0, sign/0, kind/0, subject/0, cost/0, skipped/0, scan/0, group/0, sampled/0, unresponsive/0, counts/0, table/0,
              tables/0, growing/0, terms/0, links/0, ports/0, unlooked/0, waiting_port/0, run_queues/0, reloads/0, purges/0, transactions/0,
              traced/0, beside/0, processes_beside/0, awaited/0, reason/0, why/0, births/0, elsewhere/0, large_code/0, file_owners/0,
              asks/0, waiting/0, starts/0, parent/0, programs/0, lasting/0, stall/0, throttled/0, wakes/0, ticks/0, long_run/0, makers/0,
              retries/0, lookups/0, not_accepted/0, losses/0, reads/0, left_sockets/0, piles/0, places/0, logging/0, arrivals/0, starting/0,
              stopping/0, ending/0, unanswered/0, emulator/0, native_times/0, nagle_delays/0, flaps/0, other_threads/0, debugged/0,
              suspender/0, callers/0, flood/0, share/0, system_monitor/0]).

%% What was seen of a node. Times are in milliseconds, sizes in bytes, unless a name says otherwise.
-type look() :: #{format := 32,
                  otp := binary() | unknown | not_looked,
                  release := pos_integer(),
                  schedulers := pos_integer(),
                  processors := pos_integer() | unknown,
                  emulator := emulator(),
                  offline := non_neg_integer(),
                  overloaded := false | pos_integer(),
                  ready_in := [sample()],
                  processes := processes() | unknown,
                  suspects := [suspect()],
                  closer := finished | busy | not_looked,
                  unresponsive := [unresponsive()],
                  groups := [group()] | unknown,
                  groups_left := non_neg_integer(),
                  unlooked := unlooked() | not_asked | unknown,
                  counts := [counts()],
                  files := {Count :: non_neg_integer(), Limit :: pos_integer()} | unknown,
                  reloads := reloads() | unknown,
                  transactions := transactions() | none | unknown,
                  traced := traced() | unknown,
                  lookups := lookups() | none | unknown,
                  native_times := native_times() | none | unknown,
                  nagle_delays := nagle_delays() | unknown,
                  flaps := flaps() | unknown,
                  makers := makers() | none | unknown,
                  retries := [retries()] | none | unknown,
                  awaited := [awaited()],
                  not_accepted := not_accepted() | unknown,
                  losses := losses() | unknown,
                  reads := [reads()],
                  left_sockets := left_sockets() | unknown,
                  piles := piles() | too_many | unknown,
                  places := places() | too_many | unknown,
                  logging := logging() | unknown,
                  starting := starting() | unknown,
                  stopping := stopping() | none | unknown,
                  unanswered := unanswered() | too_many | unknown,
                  births := births() | none | too_many | unknown,
                  long_runs := [long_run()] | unknown,
                  starts := starts() | too_many | unknown,
                  programs := programs() | unknown,
                  wakes := wakes() | unknown,
                  ticks := [ticks()],
                  growing := [growing()] | unknown,
                  debugged := debugged() | unknown,
                  suspenders := [suspender()],
                  system_monitor := system_monitor() | none,
                  callers := [callers()],
                  floods := [flood()],
                  arrivals := [arrivals()],
                  stalls := [stall()],
                  endings := [ending()],
                  throttled := throttled() | none,
                  shares := [share()],
                  binaries_beside := beside() | not_needed | unknown,
                  processes_beside := processes_beside() | not_needed | unknown,
                  elsewhere := elsewhere() | unknown,
                  large_code := large_code() | none,
                  file_owners := file_owners() | unknown,
                  memory := #{atom() => non_neg_integer()} | unknown,
                  tables := tables() | unknown,
                  terms := terms() | unknown,
                  links := links() | unknown,
                  ports := ports() | unknown,
                  run_queues := run_queues() | unknown,
                  collections := collections() | unknown,
                  carriers := [carriers()] | unknown,
                  mapped := mapped() | unknown,
                  scan_ns := #{on_heap | off_heap => float()},
                  layouts := [{Pid :: binary(), layout()}] | unknown | not_asked | not_safe,
                  cost := cost()}.
%% schedulers: those online. processors: that the machine, or the quota of a container, lets the VM have.
%% overloaded: how many processes were ready to run; ready_in: what some of these were in. closer: whether the suspects were looked at for
%% a window of time; `busy': the node had too much to do for that. suspects: those with the deepest mailboxes, the most memory, the most
%% work; where they were not looked at closer, only what the look at all knows. groups_left: kinds that are worth to be told of beside
%% those. scan_ns: nanoseconds that a receive takes there to go by a message that waits.

-type processes() :: #{looked := non_neg_integer(),
                       skipped := skipped(),
                       heap_bytes := non_neg_integer(),
                       used_bytes := non_neg_integer(),
                       held_bytes := non_neg_integer(),
                       messages := non_neg_integer()}.
%% The bytes are those of processes whose mailbox is not deep.
-type skipped() :: #{ended | silent | out_of_time | too_many => pos_integer()}.
%% silent: it did not answer in time. too_many: their list alone would have been too large.

-type unresponsive() :: #{pid := binary(), name := atom(), ms := non_neg_integer(), depth := non_neg_integer() | unknown}.
%% ms: so long it was asked without an answer. depth: what it said before, or unknown.

-type cost() :: #{milliseconds := non_neg_integer(), bytes := non_neg_integer(), carried_bytes => non_neg_integer(),
                  ended := finished | out_of_time | out_of_memory | out_of_processes | crashed, stays_loaded := boolean(),
                  purge_bytes := non_neg_integer()}.
%% stays_loaded: what was carried is not removed. bytes: the most that the looking processes had at a time.
%% purge_bytes: what the VM needs for a moment to purge what was carried.

-type suspect() :: #{pid := binary(),
                     name := atom(),
                     label := mfa() | unknown,
                     queue := on_heap | off_heap | unknown,
                     status := atom(),
                     priority := low | normal | high | max | unknown,
                     table_scans := #{times := non_neg_integer(), in := frame() | none},
                     by_file := non_neg_integer(),
                     states_of := [#{pid := binary(), name := atom(), times | calls := pos_integer()}],
                     window_ms := non_neg_integer(),
                     depth := non_neg_integer(),
                     depth_at_work := non_neg_integer(),
                     usual_depth := non_neg_integer(),
                     least_depth := non_neg_integer(),
                     emptied := non_neg_integer(),
                     gets := boolean() | unknown,
                     growth := float() | unknown,
                     reductions := float() | unknown,
                     samples := [sample()],
                     answer_ms := non_neg_integer() | unknown,
                     waiting := waiting(),
                     from => [{mfa() | atom(), Count :: pos_integer()}],
                     scans => boolean(),
                     passes => true, % it was started or ended meanwhile, with a large heap
                     stays := boolean(),
                     hibernates := boolean(),
                     idle := boolean(),
                     heap_bytes := bytes(),
                     used_bytes := bytes(),
                     kept_growth => float() | unknown,
                     times_out => boolean(),
                     leader => node(), % own: of this node
                     old_bytes := bytes(),
                     stack_bytes := bytes(),
                     stack_in := [frame()],
                     asks := asks(),
                     held_bytes := bytes(),
                     held_before := bytes(),
                     min_heap_bytes := bytes(),
                     binaries := #{references | count | bytes := non_neg_integer(), some => #{non_neg_integer() => non_neg_integer()}}
                               | unknown, % bytes: of those that no suspect before it has; some: in the probe alone
                     pauses := pauses() | not_traced | not_needed | unknown}.
-type bytes() :: non_neg_integer() | unknown.
%% name: '' where there is none. label: what kind of process it is, by the function that it began with. gets: its mailbox changes, so that
%% it works on messages. depth_at_work: the usual one of the looks at which it works. growth, reductions: a second.
%% answer_ms: how long it took to answer, in the median of the samples. waiting: tags and arities of a sample of its messages, the most
%% frequent first; with from, of some that came, and what some of their senders are. scans: in the rules alone, whether one of its receives
%% goes through all that waits. stays: not if the two youngest were taken within a
%% tenth of a second, where fewer than ?DEEP wait. held_bytes: of binaries outside the heap, each as often as it is referred to; binaries: each
%% once. kept_growth: of what survives collections, a second. times_out: its callbacks may return a time-out. min_heap_bytes: what its
%% heap may not fall below. The bytes of a process with a deep mailbox are unknown. not_traced: others were
%% larger, it did not answer at once, somebody else traces it, or it ended. not_needed: it has only worked. table_scans: at so many looks
%% it had a table of ETS gone through, and the function that did. states_of: for whom it waited at so many looks in a request of sys, such
%% as sys:get_state/1.

-type waiting() :: [{Shape :: binary(), Times :: pos_integer()}] | too_large | not_looked.

-type asks() :: [#{pid := binary(), name := atom(), in := frame() | none, for := answer | start | stop | lent | program | data | repair,
                  label := mfa() | unknown, at => binary() | unknown}].
%% Of one that waits for an answer while messages wait for it: whom it called, whom that one did, and so on, and where each of them waits.
%% start: it waits until that one, which it has started, says that it is ready. lent: it monitors that one, which waits in turn.
%% program: the last one has the port of this program, at, and calls no process. data: the last one is linked to this process, which
%% waits for what at, the other side of its socket, sends. repair: this process opens the file of a table for the server of dets, and works.

-type starts() :: #{looks | a_second := non_neg_integer(), unlisted := boolean(), ms := pos_integer(), parents | left := [parent()],
                    again := [#{name := atom(), pid := binary(), reason := Shape :: binary()}], samples := [sample()],
                    turns => [#{pid := binary(), name := atom(), label := mfa() | unknown, turned := pos_integer(),
                                labels := [{mfa() | unknown, pos_integer()}]}],
                    lasting => [lasting()],
                    most := #{pid := binary(), name := atom(), label := mfa() | unknown, part := float(),
                              labels := [{mfa() | unknown, pos_integer()}]} | none}.
%% unlisted: those that were started are not known, only how many. a_second: how many processes were started, by their numbers, and who has
%% started most of those that were seen to live, and what they are. again: who had a name and ended with an error, and who has the name now.
%% turns: who ended so many together that were started meanwhile, though none had failed, and then started others.
%% lasting: supervisors whose children have ended, none of them with an error, while others were started.
%% samples: of those that were seen to live, one each, soon after their start. left: who has started most of those that live yet.
-type lasting() :: #{pid := binary(), name := atom(), label := mfa() | unknown, ended := pos_integer(),
                     labels := [{mfa() | unknown, pos_integer()}], asked | told | started => non_neg_integer(), ms => pos_integer()}.
%% How many of its children were seen to end; and how often it was asked for something, or told of an end, in so long a time, and how many it
%% started meanwhile.
-type parent() :: #{pid := binary(), name := atom(), label := mfa() | unknown, parents := pos_integer(),
                    born | ended | failed | sweeps | swept | gone | copies | copied | takes | taken | limit := non_neg_integer(),
                    labels := [{mfa() | unknown, pos_integer()}], reasons := [{Shape :: binary(), pos_integer()}]}.
%% Who starts processes, with others alike that do: of those that were seen to live, how many ended, how many of these with an error,
%% and which; how many were given much to begin with, and how many bytes together; and how many took as much since
%% at once, as a row of a table. swept: how many were ended together by shutdown after one had failed, in so many sweeps. gone: how many
%% of the parents have ended. limit: the largest max_heap_size of those that were seen alive which kills them, in bytes; 0 where none
%% has one.
-type programs() :: #{alive | seen | started_a_second := non_neg_integer(), names := [{binary(), pos_integer()}],
                      owners := [{Pid :: binary(), Name :: atom(), pos_integer()}], labels := [{mfa(), pos_integer()}],
                      connects => #{seen | connected | a_second | processes := non_neg_integer(), in := [{mfa(), pos_integer()}],
                                    owners := [{Pid :: binary(), Name :: atom(), pos_integer()}], labels := [{mfa(), pos_integer()}]}}.
%% Programs of the system: how many run; how many were seen to be started; what they are, who owns most of them, and what the owners are.
%% connects: sockets of TCP that were seen soon after they were opened, and were not connected, nor there at the next look; how many of these
%% that there are a second, by so many processes, which try in these functions. connected: others that were seen, and had a connection.

-type wakes() :: #{timers := [#{label := mfa() | unknown, in := frame() | none | lost, count | asked := pos_integer(),
                                each_a_second := float()}],
                   to_itself | drains := [#{pid := binary(), a_second := pos_integer()}]}.
%% timers: kinds of so many processes, of which so many were asked, each woken by timers so often on average, and where one of them waits.
%% to_itself: messages that one sends to itself. drains: messages of others that one takes from its mailbox, for which it never waits.

-type ticks() :: #{pid := binary(), tick := atom(), a_second | interval_ms | at_a_time := pos_integer(), in := frame() | none}.
%% A process that gets this message so often from timers of its own, of which so many run at a time.
-type sample() :: {Status :: atom(), [frame()], Times :: pos_integer()}.
-type frame() :: {module(), atom(), arity()}.
-type pauses() :: #{minor := non_neg_integer(), full := non_neg_integer(), long := non_neg_integer(), longest_us := non_neg_integer(),
                    total_us := non_neg_integer(), window_ms := pos_integer(), why := [why()],
                    settings := #{fullsweep_after | min_heap_size | min_bin_vheap_size => non_neg_integer()}}.
-type reason() :: heap | virtual_heap | old_heap | old_virtual_heap | count | asked.
%% What was full: the heap, the one that the bytes of binaries outside it are counted against (the virtual heap), or the same of the old
%% generation. count: as many minor collections as fullsweep_after says. asked: by garbage_collect, or the purge of a module.
-type why() :: #{kind := minor | full, reason := reason(), count := pos_integer(),
                 us | young | old | aged | left | freed | held | old_held | held_left | held_freed | virtual := non_neg_integer()}.
%% Sums of so many collections; bytes, but for the microseconds that they took. young, old: what was in the generations before; aged: what
%% had outlived a collection by then; left: what outlived this one, of the generations that it collected; freed: of the old one at
%% least. held, old_held, held_left, held_freed: the same of binaries. virtual: how much of these the young generation may hold.
-type births() :: #{pid := binary(), name := atom(), labels := [mfa() | unknown], window_ms := pos_integer(),
                    ended | grown | collections | us | left | first | takes | taken | limit := non_neg_integer(),
                    sizes := [pos_integer()]}.
%% Of the processes that one has started meanwhile: how many have ended; how many of these had grown their heap several times, and of those
%% the sums: their collections, the time for these, what these left, the sizes of the heaps at the first; and the sizes of each at the end.
%% takes, taken: beside the heaps of so many of them so much was put at once, as a row of a table; of each the most. limit: the least
%% max_heap_size of those that were seen alive, in bytes; 0 where none has one.
-type long_run() :: #{pid := binary(), name := atom(), label := mfa() | unknown, times | run_ms := pos_integer(), in := frame() | none,
                      window_ms := pos_integer(), processes => pos_integer()}.
%% How often a process ran for 10 ms or more without giving way, the sum of these, and the function in which it began one. processes: of so
%% many of its kind together.
-type collections() :: #{share := float(),
                         busy := float(),
                         waiting := float(),
                         threads := pos_integer(),
                         cores := float(),
                         scheduler_cores => float(),
                         reductions => non_neg_integer(),
                         delayed => float(),
                         blocked => float(),
                         nifs => [module()],
                         other_threads => other_threads(),
                         window_ms := pos_integer()}.
%% share: of the time in which schedulers were busy. busy, waiting: of all their time; waiting is busy without work. threads: ordinary
%% and dirty CPU schedulers. cores: the processor time of the VM over the whole look, to that time; scheduler_cores: that of its
%% schedulers for Erlang code alone, where the system tells it; reductions: of all processes, a second. delayed: of the time in which its
%% threads ran or were to run, the part in which the machine did not let them (0.0 where it does not say). blocked: cores with which
%% schedulers were at work while their threads slept, where that is most of their work; nifs: modules that may be why.
-type other_threads() :: #{cores := float(), names := [#{label := binary(), count := pos_integer()}],
                           nifs := [module()], drivers := [binary()]}.
%% Of the VM's program, what threads ran that are not the VM's own: their names, and what may have started them.
-type mapped() :: #{faults := non_neg_integer(), segments := non_neg_integer(), own_carrier := pos_integer(), ms := pos_integer()}.
%% Page faults of the VM, and segments that heaps took from the kernel or from what the VM keeps of it; heaps of so many bytes have
%% carriers of their own.
-type carriers() :: #{allocator := atom(), carrier_bytes := non_neg_integer(), block_bytes := non_neg_integer()}.
-type layout() :: #{cells := non_neg_integer(), mean := float() | undefined, cache_lines := float(),
                    walk_ns := float() | unknown, dense_ns := float() | unknown}.
%% As of cons_spacing: bytes from cell to cell, cache lines for each thousand cells. What a walk takes for a cell at least, so
%% far apart and dense, on that machine.

%% What may live or not in idle processes of which no sample was collected, nor of their kind. too_large: some of those that use too much
%% to be collected.
-type unlooked() :: #{processes | heap_bytes | held_bytes := non_neg_integer(), too_large := [Pid :: binary()]}.

%% Processes alike, and what a sample of idle ones had before and after a collection.
-type group() :: #{label := mfa() | unknown,
                   members := [#{pid := binary(), name := atom()}],
                   kin := [Pid :: binary()],
                   count := pos_integer(),
                   heap_bytes | used_bytes | large | large_heap_bytes | holding | held_bytes | holding_heap_bytes := non_neg_integer(),
                   laden | laden_bytes := non_neg_integer(),
                   deep | messages | behind | behind_messages | deepest | ready | suspended := non_neg_integer(),
                   refers => sampled(),
                   sample := #{large | holding := sample_of() | none} | not_asked}.
-type sample_of() :: #{collected := pos_integer(), working := non_neg_integer(), another := binary(), shared => [Pid :: binary()],
                       steady => true, before := sampled(), 'after' := sampled()}.
%% refers: what some have of those that hold binaries, where these are most of the node; those that work, too.
%% steady: some of these work a little; of them it is what the old generation gave back.
%% kin: those of the suspects that are of it. working: so many others were drawn, and had work. another: one that was not collected, where
%% there is one. large, holding: so many wait with a heap of 32 kB, or binaries of 10 kB, and more, whose bytes those are, and of whom
%% there is a sample. laden: others with larger heaps hold binaries that may be too many to be listed, with so many bytes by the
%% VM's account.
%% deep: so many have a deep mailbox, with so many messages together; behind: fewer wait for them, as
%% diagnose_bounds.hrl says. ready: running, or waiting for a scheduler.
-type sampled() :: #{heap_bytes | used_bytes | least_used_bytes | most_used_bytes | held_bytes := non_neg_integer(),
                     binaries := #{members := pos_integer(), references | count | bytes | charged_bytes := non_neg_integer()} | unknown}.
%% shared: who of other kinds held the same binaries, some of them. Such binaries are counted with the first kind alone, and as long as
%% somebody that was asked has them. least_used_bytes, most_used_bytes: of one of them. charged_bytes: of those whose binaries are known,
%% each as often as it is referred to; bytes: each once.

-type counts() :: {Ms :: non_neg_integer(), #{processes | ports | atoms | tables => {Count :: non_neg_integer(), Limit :: pos_integer()},
                                                 modules => pos_integer(), sockets => non_neg_integer(),
                                                 files => {Count :: non_neg_integer(), Limit :: pos_integer()},
                                                 new_files => [{binary() | socket | closed, Count :: pos_integer()}]}}.
%% sockets: of the module socket. new_files: what some files are that were not open at first.
-type table() :: #{name := atom(),
                   bytes := non_neg_integer(),
                   size := non_neg_integer(),
                   owner := binary(),
                   type := atom(),
                   protection := atom(),
                   lookup_ns => non_neg_integer(),
                   same_key => non_neg_integer(),
                   fixed_ms => non_neg_integer(),
                   fixed_by => [binary()],
                   index_of => binary(),
                   keys_of_ended | keys_of_processes => non_neg_integer(),
                   characters => float(),
                   read_concurrency => boolean(),
                   write_concurrency => boolean() | auto}.
%% index_of: the attribute and the table of mnesia for which it is an index. characters: the part of some rows that lists of characters, or
%% of bytes, take.
-type growing() :: #{name := atom(), owner := binary(), node_ms := non_neg_integer(), reads | fell => non_neg_integer(),
                     looks := [{Ms :: non_neg_integer(), Rows :: non_neg_integer(), Bytes :: non_neg_integer()}]}.
%% What large tables had at each look; and at how many of so many reads, a millisecond apart, they had fewer rows than just before.
-type tables() :: #{lost => non_neg_integer(),
                    owners => #{asked := non_neg_integer(), most := [{Pid :: binary(), Name :: atom(), Count :: pos_integer()}]},
                    looked | skipped | not_timed | bytes | own_ns := non_neg_integer(), largest := [table()], slowest := [table()],
                    named := [#{name := atom(), count := pos_integer(), bytes := non_neg_integer(), owner := binary()}]}.
%% skipped: there are too many. lost: inspecting them took too long, or too much memory. owners: who owns most of so many of them.
%% own_ns: a look-up in a table that nobody else has. named: names that several tables have, and who owns one of them.
-type terms() :: #{looks := non_neg_integer(), count := non_neg_integer(), terms := [#{term := term(), times := pos_integer()}]} | too_many.
%% The keys of those that were put anew most often, and how many were. times: at so many looks it was another term than at the look before.
-type links() :: #{timer_bytes := non_neg_integer(),
                   holders := [#{pid := binary(), name := atom(), label := mfa() | unknown, about := pos_integer(),
                                 exactly := #{monitors | monitored_by | links := non_neg_integer()} | unknown}],
                   dictionaries => [#{pid := binary(), name := atom(), label := mfa() | unknown, bytes := pos_integer()}]}.
%% holders: those who have many monitors or links. dictionaries: those whose dictionary has so many bytes beside the heap.
-type makers() :: #{traced := non_neg_integer(), untraced | started | renewed => non_neg_integer(), ms := pos_integer(),
                    grown => integer(), grown_ms => pos_integer(),
                    most := [maker()]}.
-type maker() :: #{pid := binary(), name := atom(), label := mfa() | unknown, processes | times := pos_integer(), in := mfa() | none,
                   a_second => non_neg_integer()}.
%% Of so many processes that were traced, who started timers: with the function, how many alike did it, and one of them. untraced: so
%% many could not be. renewed: of all that were started so many by a process that cancelled one, too. grown: how many more timers there are
%% than so long before.
-type retries() :: #{pid := binary(), ms | changes := pos_integer(), events := non_neg_integer()}.
%% A state machine that was traced for so long: how often it changed its state, and how many events were postponed then, together.
-type lookups() :: #{ms := pos_integer(), times | count | again | asking := non_neg_integer(), modules := [{module(), pos_integer()}],
                     in := [{mfa(), pos_integer()}], labels := [{mfa(), pos_integer()}]}.
%% How often the code server was asked for modules that are not loaded, how many these are, how often it was asked for one again; and of
%% some of those that asked, in which functions, and what they are.
-type ports() :: #{skipped := non_neg_integer(), connection_limit => non_neg_integer(), waiting := [waiting_port()],
                   names := [{binary(), Count :: pos_integer()}],
                   owners := [{Pid :: binary(), Name :: atom(), Count :: pos_integer()}]}.
-type waiting_port() :: #{port := binary(), to := binary(), socket := boolean(), connection | program => boolean(),
                          owner => binary(), bytes := pos_integer()}.
%% connection: to another node. program: of the operating system. The VM does not tell how much waits for it beside the port, up to
%% connection_limit (+zdbbl) before who sends is suspended.
-type run_queues() :: #{looks := non_neg_integer(), ready := [{Least :: non_neg_integer(), Most :: non_neg_integer()}],
                        dirty => [#{threads := cpu | io, count := non_neg_integer(), waiting := [non_neg_integer()],
                                     holders => [#{pid := binary(), name := atom(), label := mfa() | unknown, in := frame() | none}]}]}.
%% dirty: how many wait for a thread for long native work or for files; holders: some of those that have one, where many wait.
-type awaited() :: #{for := answer | lock,
                     pid := binary(),
                     name := atom(),
                     label := mfa() | unknown,
                     count := pos_integer(),
                     ms := non_neg_integer(),
                     depth := non_neg_integer(),
                     status := atom(),
                     in := [frame()],
                     kinds := [{mfa() | unknown, pos_integer()}],
                     at_rest => boolean(),
                     came => non_neg_integer(),
                     watched_ms => pos_integer(),
                     %% moved: no more in the same call; back: who did not wait does now.
                     turns => #{asked | moved | back := non_neg_integer()},
                     standby => #{locks | waiting | needed := non_neg_integer(), % locks of global with the same holder
                                  tries => #{asked | moved | ms | looks | free := non_neg_integer()}},
                     holds => [#{pid := binary(), name := atom(), label := mfa() | unknown, in := frame() | none}],
                     nodes => [#{node := node(), answers := boolean()}],
                     holders => #{asked | waiting := pos_integer(), in := frame(), in_loop => boolean()} | none,
                     monitored => #{count | asked | waiting := pos_integer(), in := frame(), in_loop => boolean(), asks => asks()} | none}
                 | #{name_servers := [binary()], % as 127.0.0.1:53, whom inet_res asks
                     count := pos_integer(),
                     ms := non_neg_integer(),
                     kinds := [{mfa() | unknown, pos_integer()}]}
                 | #{socket := frame(), % the function that waits until a socket takes what it sends, each for one of its own
                     count := pos_integer(),
                     ms := non_neg_integer(),
                     kinds := [{mfa() | unknown, pos_integer()}]}
                 | #{host := frame(), % the function that waits for another host
                     count := pos_integer(),
                     ms := non_neg_integer(),
                     kinds := [{mfa() | unknown, pos_integer()}]}
                 | #{far := node(),
                     connected := boolean(),
                     called := binary(),
                     count := pos_integer(),
                     ms := non_neg_integer(),
                     kinds := [{mfa() | unknown, pos_integer()}]}.
%% A process that so many others have called, and that has answered none of these for so long, by a sample of them; what they began with.
%% at_rest: it was seen waiting for its next message. Then, of two looks: how many that were started since came to wait, and how many
%% wait no longer; and of those alike, and of those that it monitors, that do not wait for it how many do nothing meanwhile, and where most
%% of these wait.
%% lock: it gives out the locks that they wait for; holds: who has them; nodes: other nodes that keep locks from them. far: it is
%% on another node; called: its name or identifier there, or erpc.
-type not_accepted() :: #{looks := pos_integer(), ms := pos_integer(),
                          sockets := [#{port := non_neg_integer(), least | most := pos_integer(), accepting := boolean(),
                                        pid := binary(), name := atom(), label := mfa() | unknown,
                                        acceptors => #{asked | count := pos_integer(), in := frame(), for_clients := non_neg_integer()}
                                                   | none}]}.
%% Sockets that listen, on which so many connections waited to be accepted at each look; whether a process waited in accept at the first
%% or the last one; and who owns the socket. acceptors: of the owner and some that are linked to it, where most wait for something else.
-type losses() :: #{ms := pos_integer(), looks | refused := non_neg_integer(),
                    full := [#{port | backlog := non_neg_integer(), times := pos_integer(), pid := binary(), name := atom(),
                               label := mfa() | unknown}],
                    udp := [#{port := non_neg_integer(), dropped := pos_integer(), came := non_neg_integer(),
                              active := boolean() | once | integer(), read_packets := pos_integer(), buffer := pos_integer() | unknown,
                              pid := binary(), name := atom(), label := mfa() | unknown}]}.
%% What the system drops. refused: attempts to connect, of all programs that share the network, since a socket that listens had no room.
%% full: at so many looks as many waited to be accepted as the backlog of a socket of this node lets. udp: packets for which a socket had no
%% room, how many were read, and its options.
-type reads() :: #{pid := binary(), ms | count := pos_integer(), bytes := non_neg_integer(), buffer := pos_integer(),
                   active := boolean() | once | integer(), packet := term()}.
%% How often a process that works reads a socket, what it gets by it, and the options of the socket: of the one that it reads most.
-type left_sockets() :: #{ms := pos_integer(), alarms := [binary()],
                          sockets := [#{what := there | here | unread | kept, count := pos_integer(), more := integer(),
                                        at => binary(), by => [#{pid := binary(), name := atom(), in := frame(), times := pos_integer()}],
                                        asked := non_neg_integer(), most := [{mfa() | unknown, frame(), Count :: pos_integer()}]}]}.
%% Connections that were the same at two looks, how many more there were at the second, and what some of their owners are, and where. there:
%% the other side has closed it, or its half of it, and nothing was sent meanwhile. here: the port has no descriptor any more. unread: the
%% system has bytes that nobody took, and the owner did nothing. kept: this node has made them, all to the same place (at), and they did
%% nothing, while more were made and none was closed; by: who connects. alarms: names of those that alarm_handler has.
-type piles() :: #{ms := pos_integer(),
                   pile := #{in := frame(), asked | count := pos_integer(), stay | more := non_neg_integer(), connections := boolean(),
                             done := {Older :: non_neg_integer(), Newer :: non_neg_integer() | unknown},
                             labels := [{mfa(), pos_integer()}], first := {frame(), Count :: pos_integer()} | none} | none}.
%% Processes that wait in the function that most of a sample wait in: so many were asked, and so many of these did nothing meanwhile. By
%% that, how many there are, and how many came since. connections: they belong to sockets. done: the reductions of the middle one at the
%% first look, and of those that came since. first: where the first of their kind are instead, at both looks.
-type places() :: #{ms := pos_integer(),
                    most := [#{count | stay := non_neg_integer(), label := mfa() | unknown, in := [frame(), ...],
                               for := Called :: binary() | none, at => binary() | unknown,
                               behind => #{count := non_neg_integer(), pool := #{pid := binary(), name := atom()} | none},
                               serves => boolean()}]}.
%% So many processes, by a sample, wait at two looks in the first of these functions, which the others led to, and so many of them at both;
%% what one of them is, and for whose answer they wait. at: the other side of the socket that all of them, or that one, read. behind: so many
%% others wait behind those that stay there, also for the pool that has lent them. serves: those that stay are in a callback of their server.
-type stall() :: #{pid := binary(), name := atom(), label := mfa() | unknown, ms | looks | longest_ms | callers := pos_integer(),
                   waiting := non_neg_integer(), samples := [sample()], from := frame() | none}.
%% A server for which some callers waited at so many of the looks; so many of them so long in the same call. samples: of the server then.
%% from: where one of these callers called it.
-type throttled() :: #{periods := pos_integer(), throttled | ms := non_neg_integer()}.
%% In so many of the periods of a quota (0.1 s by default) it was used up, and the node was stopped; so long, the sum of all processors.
-type logging() :: #{looks := non_neg_integer(), handlers := [#{name := atom(), sync | drop := non_neg_integer()}],
                     from := [{mfa(), Count :: pos_integer()}], events => [maker()]}.
%% At how many looks a handler of logger was in these modes, and which functions were seen logging then. events: which of those that work
%% log much at each of several looks, or at one.
-type arrivals() :: #{pid := binary(), shapes := [{Shape :: binary(), Times :: pos_integer()}],
                      from := [{mfa() | atom(), Count :: pos_integer()}]}.
%% Of some messages that came to a process whose mailbox was not read: tags and arities, and the names of some senders, or what these are.
-type starting() :: #{ms := pos_integer(), up_ms => non_neg_integer(), applications := [atom()],
                      tables => [#{name := atom(), nodes := [#{node := node(), runs := boolean()}]}],
                      boot => #{pid := binary(), name := atom(), in := frame() | none, done := non_neg_integer()} | none,
                      starts := [#{pid := binary(), name := atom(), stack := [frame()], in := frame() | none, asks := asks(),
                                   goes_on => true}]}.
%% Applications that are being started, and processes that do it and wait for the same at two looks, or go on: then stack has what both
%% looks have in common, and asks is of the second one. up_ms: since the node was started. tables: of mnesia that are not loaded,
%% where one waits for such, and the other nodes that have copies. boot: the process of init that calls the functions of -s, -run and -eval,
%% and has not come back from one at two looks; done: the reductions of init meanwhile.
-type stopping() :: #{ms := pos_integer(), application := atom(), asks := asks()}.
%% The node is stopping at two looks: which application it waits for, and whose end in turn, as at the first look.
-type ending() :: #{pid := binary(), name := atom(), label := mfa() | unknown, ends_all := boolean(), ms := pos_integer(),
                    looks | waits | ended | left := non_neg_integer(),
                    last := #{pid := binary(), name := atom(), in := frame() | none, _ => _}}.
%% At how many looks it waits for the end of a child; how many ended meanwhile, how many are left, and the last that it waits for.
-type unanswered() :: #{ms := pos_integer(), count := non_neg_integer(),
                        most := [#{count := pos_integer(), label := mfa() | unknown, in := frame(), pid := binary(), called := binary(),
                                   logs := boolean()}]}.
%% Processes that wait for the answer to the same call at two looks: how many, and of some of them how many wait alike; one of these, in
%% which function, and for whom; and whether they log an event.
-type transactions() :: #{commits | restarts | logged | overloads := non_neg_integer(),
                          threshold := pos_integer() | unknown, ms := pos_integer()}.
%% restarts: those that were begun anew, mostly since another one had a lock that they wanted. logged: writes to its log, which it dumps
%% after so many (threshold). overloads: looks at which a dump was due while another one went on.
-type reloads() :: #{looks := non_neg_integer(), modules := [#{module := module(), times := pos_integer()}],
                     in := [{mfa(), pos_integer()}],
                     purges => purges() | unknown}.
%% in: in which functions those that are loaded often were loaded, while a short trace lasted.
-type purges() :: #{ms := pos_integer(), modules := [{module(), pos_integer()}],
                    by | kept_by := [#{pid := binary(), name := atom(), in := frame()}]}.
%% Purges of old code that was still there after them, in so many ms: of which modules and how often, who asked for them, and who is in
%% that code.
-type native_times() :: #{ms | traced := pos_integer(),
                         most := [#{function := mfa(), us := non_neg_integer(), count := pos_integer(), in | label := mfa() | none,
                                    table := #{name := atom(), rows | bytes := non_neg_integer(), compressed := boolean()} | none}]}.
%% Of so many processes, the native function in which they spent most time while that was measured: the time, the calls, the function that
%% calls it, what the processes are, and the table that it is called for.
-type nagle_delays() :: #{looks | asked | held := non_neg_integer(), labels := [{mfa(), pos_integer()}]}.
%% So many connections were asked so often, and so many of them hold back a small send; what some of their owners are.
-type flaps() :: #{ms := pos_integer(), by := makers() | none | unknown, came => [{Like :: binary(), pos_integer()}],
                   nodes := [#{node := node(), downs := pos_integer(), ups := non_neg_integer(), reason := atom()}]}.
%% How often connections to other nodes ended and were made, the most frequent reason, and who ends them here. came: names, without their
%% numbers, of so many nodes that came and are gone.
-type emulator() :: #{interprets := boolean(), build := atom(), off := [atom()], blockers := [binary()]}.
%% interprets: it has no JIT, though OTP has one for this processor. build: opt, unless it was built to find faults. off: allocators that
%% a flag has switched off. blockers: processes that let one scheduler alone run.
-type debugged() :: #{interpreted | covered := [module()]}.
%% Modules that the debugger interprets, and those that count each line that they execute.
-type suspender() :: #{pid := binary(), name := atom(), label := mfa() | unknown, in := frame() | none, 'of' := [Pid :: binary()]}.
%% Who has suspended some of the suspects (by erlang:suspend_process/1), and where it is now.
-type system_monitor() :: #{pid := binary(), events := [atom() | {atom(), term()}]}.
%% Who gets the events of erlang:system_monitor/2, and which these are.
-type callers() :: #{pid := binary(), 'of' := [{mfa(), pos_integer()}], in => [{mfa(), pos_integer()}], table => term()}.
%% Of a suspect of priority low, or a table of dets that works: what some of those are that wait for its answer, and where they wait. table:
%% the name of the table.
-type flood() :: #{pid | port | name := binary(), 'of' := program | tcp | udp, bytes_a_second := pos_integer()}.
%% A port that gives its owner, for which messages wait, all data as messages: a program, or a socket with {active, true}. name: of the
%% program, or the address of the other side (tcp) or of this one (udp).
-type share() :: #{pid := binary(), label := mfa() | unknown, count := pos_integer(), messages | reductions := non_neg_integer(),
                   shards := boolean(),
                   of_messages | of_reductions := float()}.
%% A suspect and its part of what so many of its kind and its parent have: messages that wait, and reductions a second. shards: they look
%% as if a key divided work among them.
-type traced() :: #{asked | traced := non_neg_integer(), new := boolean(), flags := [atom()], tracer := binary() | unknown}.
%% Of some processes. new: those that start are traced, too.
-type beside() :: #{bytes := non_neg_integer(),
                    all_bytes => non_neg_integer(),
                    buffers => #{sockets := pos_integer(), bytes := non_neg_integer()},
                    tables := [#{name := atom(), rows | bytes := non_neg_integer(), slices => non_neg_integer(),
                                 fixed_ms => non_neg_integer(), count => pos_integer()}]}.
%% Bytes of binaries that no process without a deep mailbox has on its heap, and which tables have many, by some of their
%% rows; count: of so many tables, of one name or of several. slices: bytes of the parts of these binaries that the rows of a table have,
%% where they are few of them. all_bytes: of all binaries. buffers: of how many sockets of TCP that wait
%% for data, and what these have together.
-type processes_beside() :: #{bytes | of_processes := non_neg_integer(), count := pos_integer()}.
%% Bytes of the memory of processes that are in none of them; what so many processes have together.
-type elsewhere() :: #{native := non_neg_integer() | unknown,
                       nifs := [module()],
                       freed => [#{pid := binary(), name := atom(), bytes := pos_integer()}],
                       terms := non_neg_integer(),
                       count := non_neg_integer(),
                       keys := [{Shape :: binary(), Count :: pos_integer()}]}.
%% native: bytes of the VM's program that none of its allocators has, which modules have native functions, and which processes gave how
%% much of these back when they were collected; bytes of persistent terms, how
%% many there are, and the shapes of their keys, where they are much.

-type file_owners() :: #{asked := non_neg_integer(), most := [{Pid :: binary(), Name :: atom(), pos_integer()}],
                         labels := [{mfa(), pos_integer()}]}.
%% Who opened some files that are open without the mode raw: so many, most of them, and what the owners are.
-type large_code() :: #{code | constants := non_neg_integer(),
                        modules := [#{module := module(), file_bytes | alike := non_neg_integer(),
                                      constants := non_neg_integer() | unknown}]}.
%% Bytes of code and of constants where these are most, the modules with the largest files, what the table of constants has there, and how
%% many modules have files of half of that size or more.

-type kind() :: code_lookups | postponed_events | unresponsive
              | slow_emulator | too_few_schedulers | overloaded | near_limit | deep_mailbox | awaited
              | not_accepted | packets_dropped | sockets_left | processes_pile_up | nodes_flap | connect_loop
              | starting_application | stopping_node | restart_loop | scanning_receive
              | high_priority | low_priority | debugging_left_on
              | long_schedules | native_time | nagle_delay | table_scan | os_processes | timer_wakeups | many_starts | collecting_together
              | tls_handshakes
              | copied_starts | forced_collections | suspended | busy_process | dirty_queue | long_collection
              | needless_full_sweeps | promoted_garbage | binary_pressure | small_start
              | uncollected_garbage | binary_leak | deep_stack | idle_heap | large_heap | large_dictionary | equal_heaps | spread_list
              | many_monitors | many_ticks | log_overload
              | many_timers
              | persistent_term_churn | code_churn | transaction_restarts | log_dumps | modules_grow | large_ets_table | fixed_ets_table
              | rows_of_one_key
              | many_ets_tables | binaries_beside | processes_beside
              | large_persistent_terms | large_code | native_memory
              | contended_ets_table | carriers_underused | mapped_heaps | tracing
              | interpreted_code | formatted_terms | too_many_schedulers
              | busy_wait | uneven_run_queues | message_queue_data | known_fault.
-type subject() :: #{process := #{pid := binary(), name := atom()}}
                 | #{group := #{label := binary(), count := pos_integer(), at_least => true,
                               members := [#{pid := binary(), name := atom()}]}}
                 | node.
%% All that was found about a process, about processes alike, or about the node.
-type finding() :: #{subject := subject(), signs := [sign(), ...]}.
-type sign() :: #{kind := kind(), evidence := #{atom() => term()}, advice := binary(), proof := diagnose_proof:proof(),
                  gain => diagnose_figures:gain(),
                  setting => {fullsweep_after | min_heap_size | min_bin_vheap_size, non_neg_integer()}}.
%% evidence: numbers, atoms, booleans, UTF-8 binaries, and lists and maps of them. Of a group it is that of the one with most, named by
%% `worst', and `alike' are as many as showed it.
%% proof: what to run then. gain: what the lab measured of what the advice names.
%% setting: what suits it better, as spawn_opt and process_flag/2 take it (words, where it is a size).

%% A receive that a process goes through.
%% seen, looks: in so many of the looks at it the process was there. called_from: the next function of its stack.
-type scan() :: #{pid := binary(), function := mfa(), file := binary(), line := non_neg_integer(),
                  called_from := mfa() | none, seen := pos_integer(), looks := pos_integer()}.
