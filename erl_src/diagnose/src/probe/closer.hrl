%%% The look at few, for a window of time: their stacks, how their mailboxes grow, how long their
%%% collections take, and the share that all collections have of the schedulers' time.

-define(STACKS_MS, 50).
%% So many threads that are not the VM's are told apart; one that ran for so small a part of the time is not counted.
-define(OTHER_THREADS, 100).
-define(OWN_DRIVERS, ["tcp_inet", "udp_inet", "sctp_inet", "ram_file_drv", "tty_sl", "efile", "zlib_drv", "inet_gethost"]).
%% Stacks of so many of each sort are looked at again and again: each look is a signal to the process.
-define(SAMPLED, 10).
-define(TRACED, 10).
%% To trace a process takes its lock, which it has itself while it collects: only who answers at once is traced.
-define(AT_ONCE_MS, 250).
%% From so many on in the tracer's mailbox, who makes most of them is traced no more; with so many, nobody.
-define(WAITING_EVENTS, 5000).
-define(MOST_WAITING, 20_000).
-define(LOOK_AT_MAILBOX_EVERY, 64).
-define(FRAMES, 8).
%% A process that waits there waits until the one that it has just started says that it is ready.
-define(WAITS_FOR_START(Function), Function =:= sync_start; Function =:= sync_start_link; Function =:= sync_start_monitor).
%% Of those that it is linked to, the newest is the one whose start a process waits for, or somebody else is.
-define(NEWEST_CHILDREN, 5).
%% So many calls one behind the other are followed.
-define(ASKED_IN_TURN, 5).
-define(ASKED_AGAIN, 3).
%% Accounting slows messages by 15 %, so only the first and the last part of the window have it.
-define(ACCOUNTED_MS, 100).
%% A process that does no more in a second is idle: to be looked at counts, too.
-define(IDLE_REDUCTIONS, 1000).
-define(NAMED_BINARIES, 500).
%% The copy of a dictionary has what its values share as often as they refer to it. With so many words of heap, with all garbage, it has
%% 7 MB at most where they share one term. (What is shared within what is shared has no such bound, but hardly fits in there.)
-define(COPIED_WORDS, 4_185).
%% No larger file of a module of callbacks is read.
-define(CALLBACKS_BYTES, 2_000_000).
-define(CALLBACKS, [{handle_call, 3}, {handle_cast, 2}, {handle_info, 2}, {handle_continue, 2}, {handle_event, 4}, {init, 1}, {terminate, 2}]).
-define(ANSWER_MS, 500).
-define(LAST_ANSWER_MS, 1000).
%% A process that gives way is back after a millisecond or two.
-define(LONG_RUN_MS, 10).
-define(LONG_RUNS_MS, 1000).
%% The first steps take so long only where nearly all else waits, too. Runs of so many milliseconds are what holds it up: of their own time
%% they take so many.
-define(SLOW_MS, 500).
-define(EARLY_RUN_MS, 50).
-define(EARLY_MS, 6000).
-define(OWN_RUN_MS, 20).
%% A mailbox with so many messages can be emptied.
-define(NOT_SHORT, 50).
%% A message that waits so long is kept waiting.
-define(STAYS_MS, 100).
%% Heaps of other processes are of a size of the VM's table, which a large one hardly ever fills to so few bytes.
-define(PACKED_BYTES, 1_000_000).
-define(ROOM_BYTES, 256).
%% Of a function.
-define(MOST_ARGUMENTS, 255).
%% Of no more processes it is asked who runs on a thread for long work or files, twice so long apart, and so many are named.
-define(ASKED_RUNNING, 10_000).
-define(RUNNING_MS, 100).
-define(NAMED_HOLDERS, 5).
%% Where a process waits for the answer of one that has a file, or that prints. It is one of the first that it monitors.
-define(DEVICES, 3).
-define(REQUESTS, [{io, execute_request, 3}, {file, file_request, 2}]).
-define(ITEMS, [registered_name, initial_call, message_queue_len, message_queue_data, status, reductions, current_function, priority]).

-dialyzer({nowarn_function, [watch/3, answers/3]}). % the funs always exit with what they saw

%% @doc Watches the processes of these rows until then (of the monotonic clock, in milliseconds), and asks them once more; so long
%% they may take to answer. Silent are those that did not, with how long they were asked.
-spec watch([row()], integer(), accounting()) ->
          #{collections := diagnose_types:collections() | unknown,
            suspects := [{pid(), diagnose_types:suspect()}],
            silent := [{pid(), Ms :: non_neg_integer()}],
            births := diagnose_types:births() | none | unknown,
            run_queues := diagnose_types:run_queues(),
            bytes := non_neg_integer()}.
watch(Rows, Until, Accounting) ->
    Worker = self(),
    Pids = [Pid || #{pid := Pid} <- Rows],
    Nursery = known(within(fun() -> nursery([Worker, self()]) end, now_ms() + ?NURSERY_LOOKS * ?NURSERY_MS + ?ANSWER_MS)),
    Prompt = [{Pid, Settings} || {Pid, {#{} = Settings, _}} <- answers(Pids, fun settings/1, now_ms() + ?ANSWER_MS)],
    Tracer = helper(fun() -> trace(Worker, lists:sublist(Prompt, ?TRACED), Nursery) end,
                    [{priority, high}, {message_queue_data, off_heap}]),
    Sampled = lists:uniq(lists:append([lists:sublist([Pid || #{pid := Pid} = Row <- Rows, is_sort(Sort, Row)], ?SAMPLED)
                                       || Sort <- [deep, suspended, busy, behind]]
                                      ++ [most_work(Rows), most_unused(Rows), largest_heap(Rows)])),
    Cpu = cpu(),
    Accounted = min(?ACCOUNTED_MS, max(1, (Until - now_ms()) div 3)),
    {Before, First} = accounted(Accounting, now_ms() + Accounted, fun(End) -> samples(Sampled, End, {#{}, []}) end),
    Most = samples(Sampled, Until - Accounted, First),
    {After, {Samples, RunQueues}} = accounted(Accounting, Until, fun(End) -> samples(Sampled, End, Most) end),
    Used = cpu_since(Cpu),
    Lasts = answers(Pids, fun more_details/1, now_ms() + ?LAST_ANSWER_MS),
    {Pauses, Births, Bytes} = pauses(Tracer),
    Held = [{Pid, Depth} || {Pid, {#{message_queue_len := Depth}, _}} <- Lasts, Depth >= ?HELD_UP],
    Constant = largest_constant([Depth || {_, Depth} <- Held]),
    Shapes = maps:from_list([{Pid, shaped(Pid, Depth, Constant)} || {Pid, Depth} <- Held]),
    Behind = [Pid || {Pid, Depth} <- Held, Depth < ?DEEP],
    Stays = maps:from_list([{Pid, Stay}
                            || {Pid, {Stay, _}} <- answers(Behind, fun(Pid) -> stays(Pid, Constant) end, now_ms() + ?ANSWER_MS)]),
    Known = maps:from_list([{Pid, Row} || #{pid := Pid} = Row <- Rows]),
    #{collections => with_cpu(collections([Before, After]), Used),
      silent => [{Pid, Ms} || {Pid, {silent, Ms}} <- Lasts],
      bytes => Bytes,
      run_queues => queues(RunQueues),
      births => Births,
      suspects => [{Pid, (suspect(maps:get(Pid, Known), Last, maps:get(Pid, Samples, [])))
                             #{pauses => pauses_of(maps:get(Pid, Known), Pauses),
                               waiting => maps:get(Pid, Shapes, not_looked),
                               stays => maps:get(Pid, Stays, unknown) =/= false}}
                   || {Pid, {#{} = Last, _}} <- Lasts]}.

known_or(Otherwise, silent) -> Otherwise;
known_or(_, Known) -> Known.

%% Processor time, reductions of all and time, milliseconds; how many cores the VM had between two of them, and how much was done a
%% second. (A thread that the machine does not let run is in its state for as long, so accounting alone would say that it waits awake.)
cpu() ->
    Threads = within(fun threads/0, now_ms() + ?ANSWER_MS),
    {element(1, erlang:statistics(runtime)), element(1, erlang:statistics(reductions)), Threads, now_ms()}.

cpu_since({Runtime, Reductions, Before, At}) ->
    Ms = max(1, now_ms() - At),
    After = within(fun threads/0, now_ms() + ?LAST_ANSWER_MS),
    maps:merge(maps:merge(scheduler_cores(Before, After, Ms),
                          known_or(#{}, within(fun() -> other_threads(Before, After, Ms) end, now_ms() + ?LAST_ANSWER_MS))),
               #{delayed => delayed(Before, After),
                 cores => (element(1, erlang:statistics(runtime)) - Runtime) / Ms,
                 reductions => 1000 * (element(1, erlang:statistics(reductions)) - Reductions) div Ms}).

%% @doc Nanoseconds in which the threads of the VM ran, in which they were to run and the machine did something else, and in which those of
%% the schedulers for Erlang code ran (Linux tells them); and the threads that are not the VM's, with their names and how long they ran.
-spec threads() -> {Ran, Waited, OfSchedulers, Others}
              when Ran :: non_neg_integer(), Waited :: non_neg_integer(), OfSchedulers :: non_neg_integer(),
                   Others :: #{pos_integer() => {Name :: binary(), Ran :: non_neg_integer()}}.
threads() ->
    case prim_file:list_dir("/proc/self/task") of
        {ok, Threads} ->
            Ids = lists:sort([list_to_integer(Thread) || Thread <- Threads]),
            {Sums, _, Others} = lists:foldl(fun thread/2, {{0, 0, 0}, #{}, #{}}, Ids),
            erlang:append_element(Sums, Others);
        {error, _} -> {0, 0, 0, #{}}
    end.

thread(Id, Seen) ->
    case [of_thread(Id, File) || File <- ["/schedstat", "/comm"]] of
        [{ok, Text}, {ok, Line}] ->
            [Ran, Waited | _] = binary:split(Text, <<" ">>, [global]),
            thread(Id, {binary_to_integer(Ran), binary_to_integer(Waited)}, hd(binary:split(Line, <<"\n">>)), Seen);
        _ -> Seen
    end.

%% @doc Adds a thread. One without a name of its own has that of the thread that made it, which is older.
-spec thread(Id, Ns :: {Ran, Waited :: non_neg_integer()}, Name, Seen) -> Seen
              when Seen :: {{Ran, non_neg_integer(), OfSchedulers :: non_neg_integer()}, #{Name => true}, #{Id => {Name, Ran}}},
                   Id :: pos_integer(), Name :: binary(), Ran :: non_neg_integer().
thread(Id, {Own, Waited}, Name, {{Ran, AllWaited, OfSchedulers}, Names, Others}) ->
    IsOther = is_map_key(Name, Names) orelse not is_of_vm(binary_to_list(Name)),
    {{Ran + Own, AllWaited + Waited, OfSchedulers + is(not IsOther andalso is_of_scheduler(Name)) * Own},
     Names#{Name => true},
     case IsOther andalso map_size(Others) < ?OTHER_THREADS of true -> Others#{Id => {Name, Own}}; false -> Others end}.

of_thread(Id, File) -> prim_file:read_file(lists:append(["/proc/self/task/", integer_to_list(Id), File])).

%% erts_sched_1; in OTP 25 1_scheduler, and 1_dirty_cpu_scheduler, cut off after 15 characters.
is_of_scheduler(Name) -> binary:match(Name, <<"sched">>) =/= nomatch andalso binary:match(Name, <<"dirty">>) =:= nomatch.

%% The program itself, and what those of OTP 25 to 29 are called.
is_of_vm(Name) ->
    lists:any(fun(Own) -> lists:prefix(Own, lists:dropwhile(fun(Char) -> Char >= $0 andalso Char =< $9 end, Name)) end,
              ["beam", "erts_", "sys_sig_", "sys_msg_", "async_", "_sched", "_dirty_", "_aux", "_poller"]).

%% @doc The threads that are not the VM's and ran for so many cores together between two looks, with what may have started them: modules
%% with native functions, and drivers that are not OTP's own.
-spec other_threads(Before | silent, After | silent, Ms :: pos_integer()) -> #{} | #{other_threads := diagnose_types:other_threads()}
              when Before :: tuple(), After :: tuple().
other_threads({_, _, _, Before}, {_, _, _, After}, Ms) ->
    Ran = [{Own - Was, Name} || {Id, {Name, Own}} <- maps:to_list(After), {_, Was} <- [maps:get(Id, Before, {Name, 0})], Own > Was],
    case lists:sum([Ns || {Ns, _} <- Ran]) / (1.0e6 * Ms) of
        Cores when Cores >= ?BUSY_CORES ->
            Most = [Name || {Ns, Name} <- Ran, ?OTHER_THREADS * Ns >= 1.0e6 * Ms],
            #{other_threads => #{cores => Cores, names => [#{label => unicode:characters_to_binary(Name, latin1), count => Count}
                                           || {Count, Name} <- most_frequent(Most)],
                                 nifs => with_native_code(), drivers => drivers()}};
        _ -> #{}
    end;
other_threads(_, _, _) -> #{}.

drivers() ->
    {ok, Names} = erl_ddll:loaded_drivers(),
    [unicode:characters_to_binary(Name) || Name <- lists:sublist(Names -- ?OWN_DRIVERS, ?NIF_MODULES)].

%% Accounting that begins while a native function runs on a thread for long work takes that thread for a sleeping one, so the processor
%% time of all threads would be taken for that of the others.
scheduler_cores({_, _, Before, _}, {_, _, After, _}, Ms) when After > Before -> #{scheduler_cores => (After - Before) / (1.0e6 * Ms)};
scheduler_cores(_, _, _) -> #{}.

%% @doc The part of the time between two looks at the threads in which they were to run and did not.
-spec delayed(Threads, Threads) -> float()
              when Threads :: {Ran :: non_neg_integer(), Waited :: non_neg_integer(), OfSchedulers :: non_neg_integer(), map()} | silent.
delayed({RanBefore, WaitedBefore, _, _}, {Ran, Waited, _, _}) ->
    Lost = max(0, Waited - WaitedBefore),
    ratio(Lost, Lost + max(0, Ran - RanBefore)) * 1.0;
delayed(_, _) -> 0.0.

with_cpu(unknown, _) -> unknown;
with_cpu(Collections, Used) -> with_blockers(maps:merge(Collections, Used)).

%% Which of them it is, no process tells: it answers when it has left the native function.
with_blockers(#{blocked := Cores} = Collections) when Cores >= ?BLOCKED_CORES ->
    Collections#{nifs => known_or([], within(fun with_native_code/0, now_ms() + ?ANSWER_MS))};
with_blockers(Collections) -> Collections.

most_work(Rows) ->
    Known = [{Reductions, Pid} || #{pid := Pid, reductions := Reductions} <- Rows, is_integer(Reductions)],
    [Pid || {_, Pid} <- ranked(?SAMPLED, Known)].

%% A heap that is large and empty may be that of somebody who asks for much and drops it.
most_unused(Rows) ->
    Unused = [{Bytes, Pid} || #{pid := Pid, unused := Bytes} <- Rows, Bytes >= ?UNUSED_BYTES],
    [Pid || {_, Pid} <- ranked(?LARGEST, Unused)].

%% Whoever may have most of the memory is to tell where it is, though it hardly works.
largest_heap(Rows) ->
    [Pid || {_, Pid} <- ranked(1, [{Heap, Pid} || #{pid := Pid, heap := Heap} <- Rows, 2 * Heap >= ?MOST_BYTES])].

is_sort(deep, #{depth := Depth}) -> Depth >= ?DEEP;
is_sort(behind, Row) -> is_integer(value(behind, Row)) andalso value(behind, Row) > 0;
is_sort(suspended, #{status := Status}) -> Status =:= suspended;
is_sort(busy, Row) -> value(busy, Row) =/= none.

%% @doc What each answers and after how many milliseconds, or `silent' and how long it was asked. Each is asked by a process of
%% its own, since one that cannot answer, as inside a long native function, would stop the look.
-spec answers([pid()], fun((pid()) -> Answer), Until :: integer()) -> [{pid(), {Answer | silent, Ms :: non_neg_integer()}}].
answers(Pids, Ask, Until) ->
    Began = now_ms(),
    Asked = [{Pid, helper(fun() -> Answer = Ask(Pid), exit({answer, {Answer, now_ms() - Began}}) end, [])} || Pid <- Pids],
    [{Pid, case answered(Helper, Until) of silent -> {silent, now_ms() - Began}; Answer -> Answer end} || {Pid, Helper} <- Asked].

%% The end of a helper that is linked comes as a message, too.
answered({Helper, Monitor}, Until) ->
    Answered = receive
                   {'DOWN', Monitor, process, _, Reason} -> Reason
               after max(0, Until - now_ms()) ->
                       exit(Helper, kill),
                       receive {'DOWN', Monitor, process, _, Reason} -> Reason end
               end,
    ok = forget_exit(Helper),
    case Answered of
        {answer, Answer} -> Answer;
        _ -> silent
    end.

%% What a helper finds out until then, or `silent'.
within(Fun, Until) -> answered(begun(Fun), Until).

%% It may have a long list, of which a collection that keeps an old generation would make two.
-dialyzer({nowarn_function, begun/1}). % what it found is its exit
begun(Fun) ->
    helper(fun() -> exit({answer, Fun()}) end,
           [{fullsweep_after, 0}, {max_heap_size, #{size => ?LIST_WORDS, kill => true, error_logger => false}}]).

helper(Fun, Options) -> spawn_opt(Fun, [link, monitor | helper_options() ++ Options]).

details(Pid) ->
    case process_info(Pid, ?ITEMS) of
        undefined -> ended;
        Items -> maps:from_list(Items)
    end.

more_details(Pid) ->
    case details(Pid) of
        #{message_queue_len := Depth, status := Status} = Seen ->
            Details = Seen#{status := settled(Pid, Status, ?ASKED_AGAIN)},
            At = now_ms(),
            #{heap := Heap, used := Used, stack := Stack} = Sizes = sizes(Pid, Depth),
            Label = label(Pid, Details),
            Details#{sizes => Sizes,
                     at => At,
                     leader => leader(Pid),
                     times_out => is_integer(Heap) andalso Heap >= ?MOST_BYTES andalso times_out(Label),
                     stack_in => stack(Pid, Stack),
                     asks => asks(Pid, Details),
                     min_heap_bytes => min_heap(Pid),
                     label => Label,
                     binaries => binaries(Pid, Depth, Used)};
        ended -> ended
    end.

%% The node of who writes what it prints: a shell that was started from another node has its leader there.
leader(Pid) ->
    case process_info(Pid, group_leader) of
        {_, Leader} when node(Leader) =/= node() -> node(Leader);
        _ -> own
    end.

%% @doc Whether its callbacks may return a time-out: it comes back as the atom timeout, which is among the atoms of the module then.
-spec times_out(mfa() | unknown) -> boolean().
times_out({Module, init, 1}) -> apart(fun() -> has_time_outs(code:is_loaded(Module)) end) =:= true;
times_out(_) -> false.

%% Up to OTP 27 the length of an atom is a byte before it, then it is a number of the compiler's own.
has_time_outs({file, [_ | _] = File}) ->
    case prim_file:read_file_info(File) of
        {ok, Info} when element(2, Info) =< ?CALLBACKS_BYTES ->
            {ok, Beam} = prim_file:read_file(File),
            <<Atoms/binary>> = code:get_chunk(Beam, "AtU8"),
            binary:match(Atoms, [<<7, "timeout">>, <<16#70, "timeout">>]) =/= nomatch;
        _ -> false
    end;
has_time_outs(_) -> false.

%% Where requests of two processes meet, the VM says of a process that waits that it runs: it runs to answer them.
settled(_Pid, waiting, _) -> waiting;
settled(_Pid, Status, 0) -> Status;
settled(Pid, Status, Left) ->
    case process_info(Pid, status) of
        {_, Again} -> settled(Pid, Again, Left - 1);
        undefined -> Status
    end.

%% @doc Whom a process that has messages waits for meanwhile, whom that one, and so on: not of one that takes messages. The last one is
%% one of those before where they wait for each other.
-spec asks(pid(), #{status := atom(), message_queue_len := non_neg_integer(), _ => _}) -> diagnose_types:asks().
asks(Pid, #{status := waiting, message_queue_len := Depth}) when Depth > 0 -> with_lent(Pid, asks_in_turn(Pid, [Pid]));
asks(_Pid, _Details) -> [].

%% A pool that waits in its own loop waits for what it has lent. All that were asked of those that may have it wait for this process.
with_lent(Pid, [_ | _] = Asks) ->
    case lists:last(Asks) of
        #{for := answer, pid := Last} ->
            Server = list_to_pid(binary_to_list(Last)),
            case Server =/= Pid andalso is_at_rest(Server, 1) andalso monitored_beside(Server, [Pid | callers(Server)]) of
                {_, [{First, _} | _] = Beside} ->
                    case lists:all(fun({One, _}) -> asked_by(One) =:= [{answer, Pid}] end, Beside) of
                        true -> Asks ++ [asked_one(lent, First), asked_one(answer, Pid)];
                        false -> Asks
                    end;
                _ -> Asks
            end;
        #{} -> Asks
    end;
with_lent(_Pid, []) -> [].

asks_in_turn(Pid, Before) when length(Before) =< ?ASKED_IN_TURN ->
    case asked_by(Pid) of
        [{For, Next}] ->
            [asked_one(For, Next)
             | case lists:member(Next, Before) of true -> []; false -> asks_in_turn(Next, [Next | Before]) end];
        _ -> repairs_for(Pid) ++ outside(Pid)
    end;
asks_in_turn(_Pid, _Before) -> [].

asked_one(For, Pid) ->
    #{pid => pid_text(Pid),
      name => registered_as(Pid),
      in => waits_in(For, Pid),
      for => For,
      label => case For of start -> labelled(Pid); lent -> labelled(Pid); _ -> unknown end}.

asked_by(Pid) -> asked_by(Pid, 4 * ?ASKED_AGAIN).

asked_by(Pid, Left) ->
    case process_info(Pid, [status, current_stacktrace, monitors]) of
        [{_, waiting}, {_, [{proc_lib, Function, _, _} | _]}, _] when ?WAITS_FOR_START(Function) ->
            [{start, Child} || Child <- newest_child(Pid)];
        [{_, Status} | _] when Status =/= waiting, Left > 0 ->
            wait(1), % several helpers may ask it now
            asked_by(Pid, Left - 1);
        [{_, waiting}, {_, [{Module, Function, _, _} | _] = Stack}, {_, Monitors}] ->
            Monitored = [One || {process, One} <- Monitors],
            case ended_by(Module, Function) of
                monitor -> [{stop, Next} || [Next] <- [Monitored], is_pid(Next), node(Next) =:= node()];
                link -> [{stop, Next} || Next <- newest_child(Pid)];
                none -> [{answer, Next} || {answer, Next} <- asked_in(Stack, Monitored)]
            end;
        _ -> []
    end.

%% A connection that is made to another host may have a process of its own.
asked_in(Stack, Monitored) ->
    case called_in(Stack, Monitored) of
        [{host, _}] -> called_by(Stack, Monitored);
        Called -> Called
    end.

%% Where a process waits until one has ended that it has told to: how it is known there (OTP 25 to 29).
ended_by(supervisor, shutdown) -> monitor;
ended_by('Elixir.DynamicSupervisor', wait_children) -> monitor;
ended_by(proc_lib, stop) -> monitor;
ended_by(application_master, terminate_loop) -> link;
ended_by(application_master, loop_it) -> link;
ended_by(_, _) -> none.

%% Of a supervisor with many children the links are many, so a process of its own reads them.
newest_child(Pid) ->
    case apart(fun() -> lists:sublist(lists:reverse(lists:sort(near(process_info(Pid, [links, monitors])))), ?NEWEST_CHILDREN) end) of
        [_ | _] = Newest -> lists:sublist([Child || Child <- Newest, process_info(Child, parent) =:= {parent, Pid}], 1);
        _ -> []
    end.

near([{_, Links}, {_, Monitors}]) ->
    [Near || Near <- Links ++ [Monitored || {process, Monitored} <- Monitors], is_pid(Near), node(Near) =:= node()];
near(undefined) -> [].

%% Of one that is told to end, what it does by itself before its end is told.
waits_in(For, Pid) when For =:= stop; For =:= lent -> within_own(Pid);
waits_in(_, Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, [Frame | _]} -> frame(Frame);
        _ -> none
    end.

%% The function of its own in which a process is.
within_own(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, [_ | _] = Stack} -> own_frame(Stack);
        _ -> none
    end.

%% The frames of a deep stack are alike: the first ones tell whose they are.
stack(Pid, Bytes) when is_integer(Bytes), Bytes >= ?STACK_BYTES ->
    case process_info(Pid, current_stacktrace) of
        {_, Stack} -> [frame(Frame) || Frame <- Stack];
        undefined -> []
    end;
stack(_Pid, _Bytes) -> [].

%% One after the other: each is a copy of what waits.
shaped(Pid, Depth, Constant) ->
    case within(fun() -> shapes(Pid, Depth, Constant) end, now_ms() + ?AT_ONCE_MS) of
        silent -> too_large;
        Shapes -> Shapes
    end.

%% What the process was given to begin with, and keeps.
min_heap(Pid) ->
    case process_info(Pid, garbage_collection) of
        {_, Settings} -> erlang:system_info(wordsize) * proplists:get_value(min_heap_size, Settings, 0);
        undefined -> unknown
    end.

%% Of a deep mailbox the VM would go over each message to say them.
sizes(Pid, Depth) when Depth < ?DEEP ->
    case process_info(Pid, garbage_collection_info) of
        {_, Info} -> sizes(Info);
        undefined -> unknown_sizes()
    end;
sizes(_Pid, _Depth) -> unknown_sizes().

unknown_sizes() ->
    #{heap => unknown, used => unknown, kept => unknown, old => unknown, recent => unknown, stack => unknown, held => unknown}.

%% At least one look at each. What was seen: the depth, the stack under the status, and how long it took to answer; and how many are
%% ready in each run queue: those that the same tick of the timers woke have had their turn by then.
samples(Pids, Until, {Samples, Queues}) ->
    Answers = answers(Pids, fun sample/1, now_ms() + ?ANSWER_MS),
    true = erlang:yield(),
    Lengths = erlang:statistics(run_queue_lengths_all),
    Seen = {lists:foldl(fun({Pid, {Sample, Ms}}, All) -> sampled(Pid, Sample, Ms, All) end, Samples, Answers), [Lengths | Queues]},
    wait(min(?STACKS_MS, max(0, Until - now_ms()))),
    case now_ms() < Until of
        true -> samples(Pids, Until, Seen);
        false -> Seen
    end.

sample(Pid) ->
    case process_info(Pid, [message_queue_len, status, current_stacktrace, current_function]) of
        undefined -> ended;
        [{_, Depth}, {_, Status}, {_, Stack}, {_, Current}] ->
            Frames = [frame(Frame) || Frame <- lists:sublist(Stack, ?FRAMES)],
            {Depth, Status, with_native(Status, Current, Frames), table_scan(Current, Frames), waits_beside(Pid, Frames)}
    end.

%% What it waits for that is not its own work: a process that it asks for its state, where it monitors no other, or that of a file.
waits_beside(Pid, Frames) ->
    case lists:member({sys, send_system_msg, 3}, Frames) andalso process_info(Pid, monitors) of
        {_, [{process, Server}]} when is_pid(Server), node(Server) =:= node() -> {state_of, Server};
        {_, [{process, {Name, Node}}]} when Node =:= node() -> {state_of, Name};
        _ -> is_by_file(Pid, Frames)
    end.

%% Whether it waits for the process of a file that was opened without the mode raw. Whoever prints waits in the same functions.
is_by_file(Pid, Frames) ->
    lists:any(fun(Frame) -> lists:member(Frame, ?REQUESTS) end, lists:sublist(Frames, 2))
        andalso case process_info(Pid, monitors) of
                    {_, Monitors} ->
                        lists:any(fun is_of_file/1, [Device || {process, Device} <- lists:sublist(Monitors, ?DEVICES), is_pid(Device),
                                                               node(Device) =:= node()]);
                    undefined -> false
                end.

is_of_file(Device) ->
    case process_info(Device, current_stacktrace) of
        {_, Stack} -> lists:keymember(file_io_server, 1, Stack);
        undefined -> false
    end.

%% @doc A native function that gives way is in no stack, though the process is there: then it is in a function that no program calls, by
%% which these are known. Others, such as the one by which each native function returns that is done, tell nothing, and tables that are
%% gone through are told of by themselves.
-spec with_native(atom(), mfa() | undefined, [diagnose_types:frame()]) -> [diagnose_types:frame()].
with_native(Status, {Module, Function, _} = Current, [First | _] = Frames) when Status =/= waiting, Status =/= suspended ->
    case gives_way(Module, Function) of
        none -> [Current || is_native_walk(Current), Current =/= First] ++ Frames;
        Native -> [Native | Frames]
    end;
with_native(_, _, Frames) -> Frames.

gives_way(erlang, re_run_trap) -> {re, run, 3};
gives_way(erlang, md5_trap) -> {erlang, md5, 1};
gives_way(erlang, binary_find_trap) -> {binary, matches, 3};
gives_way(erlang, characters_to_utf8_trap) -> {unicode, characters_to_binary, 3};
gives_way(erts_internal, term_to_binary_trap) -> {erlang, term_to_binary, 2};
gives_way(erts_internal, binary_to_term_trap) -> {erlang, binary_to_term, 2};
gives_way(maps, merge_trap) -> {maps, merge, 2};
gives_way(_, _) -> none.

%% These go through all of their argument, and are found themselves where they give way.
is_native_walk({lists, Function, _}) -> lists:member(Function, [member, keyfind, keymember, keysearch]);
is_native_walk({maps, Function, _}) -> Function =:= keys orelse Function =:= values;
is_native_walk({erlang, Function, _}) -> lists:member(Function, ['++', append, '--', subtract]);
is_native_walk(_) -> false.

%% @doc Who has a table of ETS gone through: a search that is not by the key is interrupted after a thousand rows, and the process is then
%% in a function that goes on with it. The function is the one that had the table searched.
-spec table_scan(mfa(), [diagnose_types:frame()]) -> diagnose_types:frame() | none.
table_scan(Current, Frames) ->
    case is_scan_trap(Current) orelse lists:any(fun is_fold/1, Frames) of
        true -> caller_of_tables(Frames);
        false -> none
    end.

%% For an ordered_set it is the function that goes on with a search, which programs can call, too: then it is a search as well.
is_scan_trap({ets, Trap, 1}) -> lists:member(Trap, [select_trap, count_trap, select_delete_trap, replace_trap, select, select_reverse]);
is_scan_trap(_) -> false.

is_fold({Module, Function, 4}) -> Module =:= ets andalso (Function =:= do_foldl orelse Function =:= do_foldr);
is_fold(_) -> false.

%% The one below the last frame of ets, which may not be among the first frames, and of what searches tables for others.
caller_of_tables([]) -> none;
caller_of_tables([First | _] = Frames) ->
    Below = case lists:dropwhile(fun({Module, _, _}) -> Module =/= ets end, Frames) of
                [] -> Frames;
                OfEts -> OfEts
            end,
    case lists:dropwhile(fun({Module, _, _}) -> lists:member(Module, [ets, qlc, mnesia, mnesia_lib, mnesia_tm]) end, Below) of
        [Caller | _] -> Caller;
        [] -> First
    end.

frame({Module, Function, Arity, _}) -> {Module, Function, Arity}.

sampled(Pid, {Depth, Status, Stack, Scan, IsByFile}, Ms, Samples) ->
    Samples#{Pid => [{Depth, Status, Stack, Ms, Scan, IsByFile} | maps:get(Pid, Samples, [])]};
sampled(_Pid, _EndedOrSilent, _Ms, Samples) -> Samples.

%% The last two are of the threads for long native work and for files.
queues(Looks) ->
    Schedulers = erlang:system_info(schedulers_online),
    Online = [lists:sublist(Lengths, Schedulers) || Lengths <- Looks],
    #{looks => length(Online), ready => [{lists:min(Lengths), lists:max(Lengths)} || Lengths <- Online],
      dirty => [#{threads => Threads, count => erlang:system_info(Count),
                  waiting => [lists:nth(length(Lengths) - FromLast, Lengths) || Lengths <- Looks]}
                || {Threads, Count, FromLast} <- [{cpu, dirty_cpu_schedulers_online, 1}, {io, dirty_io_schedulers, 0}]]}.

%% Where many wait for one of these threads all the time, with who has them.
with_holders(#{dirty := Dirty} = Queues, Names) ->
    case [Threads || #{threads := Threads, waiting := Waiting} <- Dirty, usual(Waiting) >= ?DIRTY_QUEUE] of
        [Threads] ->
            Holders = known(within(fun holders/0, now_ms() + ?RUNNING_MS + 2 * ?ANSWER_MS)),
            Queues#{dirty := [case Of of
                                  #{threads := Threads} when is_list(Holders) ->
                                      Of#{holders => [Holder#{pid := pid_text(Pid), name => maps:get(Pid, Names, '')}
                                                      || #{pid := Pid} = Holder <- Holders]};
                                  #{} -> Of
                              end || Of <- Dirty]};
        _ -> Queues
    end.

%% Who runs at two looks and has done nothing meanwhile is in one native function. Who waits for a thread is ready to run, or answers by
%% itself, which counts as work.
-spec holders() -> [#{pid := pid(), label := mfa() | unknown, in := diagnose_types:frame() | none}].
holders() ->
    case erlang:system_info(process_count) =< ?ASKED_RUNNING of
        true ->
            Before = [{Pid, Ran} || Pid <- processes(), Pid =/= self(), Ran <- [running(Pid)], Ran =/= none],
            wait(?RUNNING_MS),
            [#{pid => Pid, label => labelled(Pid), in => runs_in(Pid)}
             || Pid <- lists:sublist([Pid || {Pid, Ran} <- Before, running(Pid) =:= Ran], ?NAMED_HOLDERS)];
        false -> []
    end.

running(Pid) ->
    case process_info(Pid, [status, reductions]) of
        [{_, running}, {_, Reductions}] -> Reductions;
        _ -> none
    end.

%% The function that has called the modules of files.
runs_in(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, [First | _] = Stack} ->
            case lists:dropwhile(fun({Module, _, _, _}) -> lists:member(Module, [prim_file, file, erlang]) end, Stack) of
                [Own | _] -> frame(Own);
                [] -> frame(First)
            end;
        _ -> none
    end.

%% The module `timer' may not be loaded.
wait(Ms) -> receive after Ms -> ok end.

%% The same process in the look at all and at the end of the window.
suspect(#{pid := Pid, at := Began, depth := Before, reductions := Reductions} = First,
        #{message_queue_len := Depth, message_queue_data := Queue, registered_name := Name, status := Status, reductions := Reduced,
          priority := Priority, label := Label, binaries := Binaries, min_heap_bytes := Min, at := At,
          sizes := #{heap := Heap, used := Used, kept := Kept, old := Old, stack := Stack, held := Held} = Sizes,
          stack_in := StackIn, asks := Asks} = Last, Samples) ->
    Ms = max(1, At - Began),
    #{pid => pid_text(Pid), name => name(Name), label => Label, queue => Queue, status => Status, window_ms => Ms,
      depth => Depth, usual_depth => usual([Before, Depth | [Seen || {Seen, _, _, _, _, _} <- Samples]]),
      least_depth => lists:min([Before, Depth | [Seen || {Seen, _, _, _, _, _} <- Samples]]),
      emptied => emptied([Depth | [Seen || {Seen, _, _, _, _, _} <- Samples]]),
      depth_at_work => case [Seen || {Seen, S, _, _, _, _} <- Samples, not is_resting(S)] of [] -> 0; AtWork -> usual(AtWork) end,
      gets => length(lists:usort([Seen || {Seen, _, _, _, _, _} <- Samples])) > 1,
      growth => a_second(Before, Depth, Ms), reductions => a_second(Reductions, Reduced, Ms),
      samples => alike([{S, Frames} || {_, S, Frames, _, _, _} <- Samples]),
      answer_ms => middle([Late || {_, _, _, Late, _, _} <- Samples]),
      priority => Priority, table_scans => table_scans([Scan || {_, _, _, _, Scan, _} <- Samples]),
      by_file => length([1 || {_, _, _, _, _, true} <- Samples]),
      states_of => states_of([Seen || {_, _, _, _, _, Seen} <- Samples]),
      hibernates => hibernates(Last) orelse is_packed(Sizes) orelse mostly_hibernates([{S, Frames} || {_, S, Frames, _, _, _} <- Samples]),
      idle => Status =:= waiting andalso is_integer(Reductions) andalso 1000 * (Reduced - Reductions) =< ?IDLE_REDUCTIONS * Ms,
      heap_bytes => Heap, used_bytes => Used, kept_growth => kept_growth(First, Kept, Ms), times_out => maps:get(times_out, Last, false),
      leader => maps:get(leader, Last, own), old_bytes => Old,
      stack_bytes => Stack, stack_in => StackIn, asks => Asks,
      held_bytes => Held, held_before => maps:get(held, First, unknown), min_heap_bytes => Min,
      binaries => Binaries}.

%% @doc For whose state it waited, by the looks in their order: at how many, and in how many calls at least.
-spec states_of([{state_of, pid() | atom()} | boolean()]) ->
          [#{pid := binary(), name := atom(), times := pos_integer(), calls := pos_integer()}].
states_of(Looks) ->
    Calls = without_repeats(Looks),
    [#{pid => pid_text(Server), name => registered_as(Server), times => Times, calls => length([One || One <- Calls, One =:= Seen])}
     || {Times, {state_of, Of} = Seen} <- most_frequent(Looks),
        Server <- [case is_pid(Of) of true -> Of; false -> whereis(Of) end], is_pid(Server)].

without_repeats([One, One | Rest]) -> without_repeats([One | Rest]);
without_repeats([One | Rest]) -> [One | without_repeats(Rest)];
without_repeats([]) -> [].

%% At how many looks it had a table gone through, and where it was then most often.
table_scans(Scans) ->
    Seen = [Scan || Scan <- Scans, Scan =/= none],
    #{times => length(Seen), in => case most_frequent(Seen) of [{_, Most} | _] -> Most; [] -> none end}.

%% So many or more at three of four looks: a mailbox that fills and is emptied again is deep all the same, one that was deep for a
%% moment is not.
usual(Depths) -> lists:nth((length(Depths) + 3) div 4, lists:sort(Depths)).

%% @doc How often a mailbox that was not short fell to a fifth of what waited there, or less, by its depths, the last one first. Until it
%% has filled again, what falls further is the same fall.
-spec emptied([non_neg_integer()]) -> non_neg_integer().
emptied(Depths) ->
    {_, _, Times} = lists:foldr(fun fills_or_falls/2, {fills, 0, 0}, Depths),
    Times.

fills_or_falls(Depth, {fills, Peak, Times}) when Peak >= ?NOT_SHORT, 5 * Depth =< Peak -> {falls, Depth, Times + 1};
fills_or_falls(Depth, {fills, Peak, Times}) -> {fills, max(Peak, Depth), Times};
fills_or_falls(Depth, {falls, Least, Times}) when Depth >= ?NOT_SHORT, Depth >= 2 * Least -> {fills, Depth, Times};
fills_or_falls(Depth, {falls, Least, Times}) -> {falls, min(Least, Depth), Times}.

%% @doc How much more survived collections at the end, in bytes a second: what has come since the last collection may be garbage. Of a deep
%% mailbox the bytes are not known.
-spec kept_growth(#{depth | kept => non_neg_integer() | unknown, _ => _}, non_neg_integer() | unknown, pos_integer()) -> float() | unknown.
kept_growth(#{depth := Depth, kept := Before}, Kept, Ms) when Depth < ?DEEP, is_integer(Kept) -> a_second(Before, Kept, Ms);
kept_growth(_, _, _) -> unknown.

a_second(unknown, _, _) -> unknown;
a_second(Before, After, Ms) -> 1000 * (After - Before) / Ms.

%% What the look at all knows of a process that was not looked at closer, or did not answer then.
of_row(#{pid := Pid, depth := Depth, status := Status} = Row, Names) ->
    #{pid => pid_text(Pid), name => maps:get(Pid, Names, ''), label => unknown, priority => unknown,
      table_scans => #{times => 0, in => none}, by_file => 0, states_of => [], depth_at_work => 0,
      queue => unknown, status => Status, window_ms => 0,
      depth => Depth, usual_depth => Depth, least_depth => 0, emptied => 0, gets => unknown, growth => unknown, reductions => unknown,
      samples => [], answer_ms => unknown, waiting => not_looked, stays => true, hibernates => false, idle => false,
      heap_bytes => unknown, used_bytes => unknown, old_bytes => unknown, stack_bytes => unknown, stack_in => [], asks => [],
      held_bytes => unknown, held_before => unknown,
      binaries => unknown, min_heap_bytes => unknown, pauses => not_traced(Row)}.

%% Which processes run for long without giving way: a native function answers nobody until it has ended, and its process is seen nowhere
%% else than at its next receive. To set the monitor stops all schedulers until what runs natively has ended, so it is set only where that
%% is so all the time.
runners(Collections, Names, Deadline) ->
    IsBlocked = is_blocked(Collections),
    case IsBlocked orelse works_natively(Collections) of
        true ->
            Until = min(Deadline, now_ms() + ?LONG_RUNS_MS),
            LongMs = case IsBlocked of true -> 2 * ?LONG_RUN_MS; false -> long_run_ms(Collections) end,
            case within(fun() -> long_runs(Until, LongMs) end, min(Deadline, Until + ?LAST_ANSWER_MS)) of
                Runs when is_list(Runs) -> with_labels(Runs, Names);
                _ -> unknown
            end;
        false -> []
    end.

with_labels(Runs, Names) ->
    Labels = maps:from_list(answers([Pid || #{pid := Pid} <- Runs], fun labelled/1, now_ms() + ?ANSWER_MS)),
    %% Who begins its run after a sleep is where it sleeps again.
    Sleepers = [Pid || #{pid := Pid, in := {timer, sleep, 1}} <- Runs],
    Callers = maps:from_list(answers(Sleepers, fun waits_for_time_in/1, now_ms() + ?ANSWER_MS)),
    [Run#{pid := pid_text(Pid), name => maps:get(Pid, Names, ''),
          in := case Callers of #{Pid := {{_, _, _} = Caller, _}} -> Caller; #{} -> In end,
          label => case Labels of #{Pid := {{_, _, _} = Label, _}} -> Label; #{} -> unknown end}
     || #{pid := Pid, in := In} = Run <- Runs].

%% @doc The same before all else, where the node was slow to do the first things: there may be no time for it later. The monitor asks no
%% process, and who has priority high is the next one that runs.
-spec early_runs(Ms :: integer(), #{pid() => atom()}, integer()) -> #{long_runs => [diagnose_types:long_run()]}.
early_runs(Ms, _Names, _Deadline) when Ms < ?SLOW_MS -> #{};
early_runs(_Ms, Names, Deadline) ->
    Before = process_flag(priority, high),
    Seen = within(fun() ->
                          process_flag(priority, high),
                          Spent = spent(),
                          Runs = monitored(?EARLY_RUN_MS, fun() -> enough(now_ms() + ?LONG_RUNS_MS, Deadline) end),
                          {Runs, lists:zipwith(fun erlang:'-'/2, spent(), Spent)}
                  end, min(Deadline, now_ms() + ?EARLY_MS)),
    Runs = case Seen of
               {All, [Runtime, Reductions, Ms]} when is_list(All) ->
                   case has_few_reductions(#{cores => Runtime / max(1, Ms), reductions => 1000 * Reductions div max(1, Ms)}) of
                       true -> with_labels(own_runs(All, Runtime), Names);
                       false -> []
                   end;
               _ -> []
           end,
    _ = process_flag(priority, Before),
    maps:from_list([{long_runs, Runs} || Runs =/= []]).

%% Of the longest runs few end in that time.
enough(Until, Deadline) ->
    Runs = runs(Until, #{}),
    case [Times || {Times, _, _} <- maps:values(Runs)] of
        [_ | _] = All ->
            case lists:max(All) < ?LONG_RUNS of
                true -> runs(min(Deadline, Until + 2 * ?LONG_RUNS_MS), Runs);
                false -> Runs
            end;
        [] -> Runs
    end.

spent() -> [element(1, erlang:statistics(runtime)), element(1, erlang:statistics(reductions)), now_ms()].

%% @doc The monitor's clock goes on while the machine does something else, or a quota holds the VM up: what the VM ran at most of all the
%% runs together is their own time.
-spec own_runs([Run], Runtime :: non_neg_integer()) -> [Run] when Run :: #{times | run_ms := pos_integer(), _ => _}.
own_runs(Runs, Runtime) ->
    Own = min(1.0, ratio(Runtime, lists:sum([Ms || #{run_ms := Ms} <- Runs]))),
    [Run || #{times := Times, run_ms := Ms} = Run <- Runs, Own * Ms >= ?OWN_RUN_MS * Times].

%% @doc Whether the processor time of the node is of functions that count few reductions. Collections count none, either; and where the
%% machine does something else nearly all the time, short runs take long.
-spec works_natively(diagnose_types:collections() | unknown) -> boolean().
works_natively(#{share := Share, delayed := Delayed} = Collections) ->
    has_few_reductions(Collections) andalso Share =< ?NATIVE_COLLECTIONS andalso Delayed =< ?NATIVE_DELAYED;
works_natively(_) -> false.

%% Threads slept for most of the time of those runs, so what the machine did instead is the smaller part of it.
is_blocked(#{blocked := Cores}) -> Cores >= ?BLOCKED_CORES;
is_blocked(_) -> false.

%% Enough where the functions themselves are timed.
has_few_reductions(#{cores := Cores, reductions := Reductions}) ->
    Cores >= ?BUSY_CORES andalso Reductions =< ?NATIVE_REDUCTIONS * Cores
        orelse Cores >= ?BUSY_CORES / 2 andalso Reductions =< ?HARDLY_REDUCTIONS * Cores;
has_few_reductions(_) -> false.

%% @doc From how many milliseconds on a run is long: the monitor's clock goes on while the machine does something else.
-spec long_run_ms(diagnose_types:collections()) -> pos_integer().
long_run_ms(#{delayed := Delayed}) -> round(?LONG_RUN_MS / (1 - min(Delayed, ?NATIVE_DELAYED))).

%% @doc What the VM's own monitor tells until then of runs of so many milliseconds and more. `unknown' where somebody else has set that
%% monitor, of which there is one. It ends with its process, too.
-spec long_runs(integer(), pos_integer()) -> [#{pid := pid(), times | run_ms | window_ms := pos_integer(), in := diagnose_types:frame() | none}] | unknown.
long_runs(Until, LongMs) ->
    monitored(LongMs, fun() -> runs(Until, #{}) end).

%% To set it waits for each long run that has begun.
monitored(LongMs, Watch) ->
    case erlang:system_monitor() =:= undefined andalso erlang:system_monitor(self(), [{long_schedule, LongMs}, {long_gc, LongMs}]) of
        undefined ->
            Began = now_ms(),
            Runs = Watch(),
            Ms = max(1, now_ms() - Began),
            _ = [erlang:system_monitor(undefined) || {Own, _} <- [erlang:system_monitor()], Own =:= self()],
            Most = lists:sublist(lists:reverse(lists:sort([{Sum, Pid, Times, In} || {Pid, {Times, Sum, In}} <- maps:to_list(Runs),
                                                                                    Times > 0, Sum > 0])), ?KEPT),
            [#{pid => Pid, times => Times, run_ms => Sum, in => In, window_ms => Ms} || {Sum, Pid, Times, In} <- Most];
        {Pid, Options} -> % somebody else has set it between the two calls
            _ = erlang:system_monitor(Pid, Options),
            unknown;
        false -> unknown
    end.

%% A collection may be a part of a run, and is no native function. Where it began a run at first is the function that called what takes
%% long, or a receive before that.
runs(Until, Runs) ->
    receive
        {monitor, Pid, long_schedule, Info} when is_pid(Pid) ->
            Ms = proplists:get_value(timeout, Info),
            In = own_of([One || Key <- [in, out], {_, _, _} = One <- [proplists:get_value(Key, Info)]]),
            runs(Until, maps:update_with(Pid, fun({Times, Sum, First}) ->
                                                      {Times + 1, Sum + Ms, own_of([One || One <- [First, In], One =/= none])}
                                              end, {1, Ms, In}, Runs));
        {monitor, Pid, long_gc, Info} ->
            Ms = proplists:get_value(timeout, Info),
            runs(Until, maps:update_with(Pid, fun({Times, Sum, First}) -> {Times, Sum - Ms, First} end, {0, -Ms, none}, Runs));
        {monitor, _Port, long_schedule, _} -> runs(Until, Runs)
    after max(0, Until - now_ms()) -> Runs
    end.

%% Rather a function of Erlang code than a native one at which the run began.
own_of([]) -> none;
own_of([First | _] = Functions) ->
    case [Own || {M, F, A} = Own <- Functions, not erlang:is_builtin(M, F, A)] of
        [Own | _] -> Own;
        [] -> First
    end.

name([]) -> '';
name(Name) -> Name.

%% @doc What the process is: the function that it began with, or for one that began with a fun the one that its stack begins with.
%% A key of the dictionary can be asked for from OTP 26.2 on.
-spec label(pid(), #{initial_call := mfa(), _ => _}) -> mfa() | unknown.
label(Pid, #{initial_call := {proc_lib, init_p, _}}) ->
    try process_info(Pid, {dictionary, '$initial_call'}) of
        {_, Call} -> function(Call);
        undefined -> unknown
    catch
        error:badarg -> label_before_keys(Pid)
    end;
label(Pid, #{initial_call := {erlang, apply, 2}}) ->
    case process_info(Pid, current_stacktrace) of
        {_, [_ | _] = Stack} -> frame(lists:last(Stack));
        _ -> unknown
    end;
label(_Pid, #{initial_call := Call}) -> Call.

%% @doc The same where only the whole dictionary can be asked for: by the callback that a server is in, or by the dictionary of a process
%% whose heap is small, or by where the stack begins.
-spec label_before_keys(pid()) -> mfa() | unknown.
label_before_keys(Pid) ->
    case process_info(Pid, [total_heap_size, current_stacktrace]) of
        [{_, Words}, {_, Stack}] ->
            Frames = [frame(Frame) || Frame <- Stack],
            case by_callback(Frames) of
                unknown when Words =< ?COPIED_WORDS ->
                    case process_info(Pid, dictionary) of
                        {_, Dictionary} -> function(proplists:get_value('$initial_call', Dictionary));
                        undefined -> unknown
                    end;
                unknown -> by_beginning(lists:reverse(Frames));
                Label -> Label
            end;
        undefined -> unknown
    end.

%% @doc What proc_lib called, or a task of Elixir, where the stack, its beginning first, is told to there. A behaviour tells nothing.
-spec by_beginning([diagnose_types:frame()]) -> mfa() | unknown.
by_beginning([{Module, _, _} | Above]) when Module =:= proc_lib; Module =:= 'Elixir.Task.Supervised' ->
    case Above of
        [{Next, Function, _} = First | _] when Next =/= proc_lib, Next =/= 'Elixir.Task.Supervised' ->
            case {lists:member(Next, ?BEHAVIOURS), atom_to_list(Function)} of
                {true, _} -> unknown;
                {false, [$- | _]} -> {Next, Function, 0}; % a fun: on the stack it has what it bound as further arguments
                {false, _} -> First
            end;
        _ -> by_beginning(Above)
    end;
by_beginning(_) -> unknown.

%% @doc The function of the behaviour that a server began with, where it is in a callback now. That of a supervisor has a name of its own.
-spec by_callback([diagnose_types:frame()]) -> mfa() | unknown.
by_callback([{Module, Function, Arity} | [{Behaviour, _, _} | _] = Below]) ->
    case lists:member(Behaviour, [gen_server, gen_statem]) andalso Module =/= supervisor andalso lists:member({Function, Arity}, ?CALLBACKS) of
        true -> {Module, init, 1};
        false -> by_callback(Below)
    end;
by_callback(_) -> unknown.

%% @doc What a process says that it began with, if that can be a function. A process may put anything there: to say a number of a
%% megabyte takes minutes.
-spec function(term()) -> mfa() | unknown.
function({Module, Name, Arity} = Call) when is_atom(Module), is_atom(Name), is_integer(Arity), Arity >= 0, Arity =< ?MOST_ARGUMENTS -> Call;
function(_) -> unknown.

%% OTP 29's behaviours keep their stack, and so are seen where they called erlang:hibernate/0.
hibernates(#{status := waiting, current_function := {erlang, hibernate, 3}}) -> true;
hibernates(#{status := waiting, current_function := {_, loop_hibernate, _}}) -> true;
hibernates(#{}) -> false.

%% @doc Whether it hibernates at half of the looks at which it rests, and more than once: where the machine does something else, it may
%% work at the last one. Hibernation leaves no stack, which is so until what was called instead has begun.
-spec mostly_hibernates([{Status :: atom(), [diagnose_types:frame()]}]) -> boolean().
mostly_hibernates(Looks) ->
    Hibernates = length([1 || {_, Stack} <- Looks, is_of_hibernation(Stack)]),
    Rests = length([1 || {waiting, Stack} <- Looks, not is_of_hibernation(Stack)]),
    Hibernates > 1 andalso Hibernates >= Rests.

is_of_hibernation([]) -> true;
is_of_hibernation([{_, Function, _} | _]) -> lists:member(Function, [loop_hibernate, wake_hib, wakeup_from_hibernate]).

%% @doc Whether it was just woken: hibernation alone leaves a heap of the size of what is on it, nothing old, and nothing that was made
%% since. (A heap that is as full, and waits for a dirty scheduler to collect it, has what was made since.)
-spec is_packed(#{heap | used | old | recent => non_neg_integer() | unknown, _ => _}) -> boolean().
is_packed(#{heap := Heap, used := Used, old := 0, recent := Recent}) ->
    Used >= ?PACKED_BYTES andalso Heap - Used =< ?ROOM_BYTES andalso is_swept(Used, 0, Recent);
is_packed(#{}) -> false.

%% Each reference to a binary takes words of the heap, so that a small heap has few. Each binary counts once; some are named, so
%% that those of several processes can be told apart.
binaries(Pid, Depth, Used) when Depth < ?DEEP, is_integer(Used), Used =< ?COUNTED_BYTES -> references(Pid);
binaries(_, _, _) -> unknown.

references(Pid) ->
    case process_info(Pid, binary) of
        {binary, References} ->
            All = lists:ukeysort(1, References),
            #{references => length(References), count => length(All), bytes => lists:sum([Bytes || {_, Bytes, _} <- All]),
              some => maps:from_list([{Id, Bytes} || {Id, Bytes, _} <- lists:sublist(All, ?NAMED_BINARIES)])};
        undefined -> unknown
    end.

middle([]) -> unknown;
middle(Values) -> lists:nth((length(Values) + 1) div 2, lists:sort(Values)).

alike(Seen) ->
    Counts = lists:foldl(fun(One, Sums) -> Sums#{One => 1 + maps:get(One, Sums, 0)} end, #{}, Seen),
    [{Status, Stack, Times} || {{Status, Stack}, Times} <- maps:to_list(Counts)].

%% What the schedulers did while something else was done until then.
accounted(unknown, Until, Meanwhile) -> {unknown, Meanwhile(Until)};
accounted(Accounting, Until, Meanwhile) ->
    _ = Accounting =:= off andalso erlang:system_flag(microstate_accounting, true),
    Wanted = scheduler_times(),
    Before = erlang:statistics(microstate_accounting),
    Began = now_ms(),
    Result = Meanwhile(Until),
    After = erlang:statistics(microstate_accounting),
    WantedSince = scheduler_times(),
    _ = Accounting =:= off andalso erlang:system_flag(microstate_accounting, false),
    Spent = lists:foldl(fun subtract/2, sums(After), maps:to_list(sums(Before))),
    Awake = awake_ns(Before, After, 1.0e6 * (now_ms() - Began)),
    {Spent#{awake_ns => lists:sum(maps:values(Awake)), blocked_ns => blocked_ns(Awake, Wanted, WantedSince),
            threads => length([1 || #{type := Type} <- After, Type =:= scheduler orelse Type =:= dirty_cpu_scheduler]),
            ms => max(1, now_ms() - Began)}, Result}.

%% How long each scheduler for Erlang code was at work in that time, by the VM's account.
awake_ns(Before, After, Ns) ->
    maps:from_list([{Id, round(Ns * ratio(All - maps:get(sleep, Spent, 0), All))}
                    || #{type := scheduler, id := Id, counters := Now} <- After,
                       #{type := scheduler, id := Same, counters := Was} <- Before, Same =:= Id,
                       Spent <- [maps:map(fun(State, Time) -> Time - maps:get(State, Was, 0) end, Now)],
                       All <- [lists:sum(maps:values(Spent))]]).

%% How long their threads ran, or were to run and the machine did something else; and whether they sleep now. Linux adds the time for which
%% one is to run when it runs.
scheduler_times() ->
    within(fun() ->
                   {ok, Threads} = prim_file:list_dir("/proc/self/task"),
                   maps:from_list([{scheduler_number(Name), {is_asleep(State), binary_to_integer(Ran) + binary_to_integer(Waited)}}
                                   || Thread <- Threads, Id <- [list_to_integer(Thread)],
                                      {ok, Name} <- [of_thread(Id, "/comm")], is_of_scheduler(Name),
                                      {ok, State} <- [of_thread(Id, "/stat")],
                                      {ok, Text} <- [of_thread(Id, "/schedstat")],
                                      [Ran, Waited | _] <- [binary:split(Text, <<" ">>, [global])]])
           end, now_ms() + ?ANSWER_MS).

scheduler_number(Name) -> list_to_integer([Char || Char <- binary_to_list(Name), Char >= $0, Char =< $9]).

is_asleep(Text) -> lists:member(binary:first(lists:last(binary:split(Text, <<") ">>))), "SD").

%% @doc How long schedulers were at work by the VM's account while their threads slept: a native function waits there, for a disk, a lock
%% or a time. Of a thread that does not sleep now, nobody knows for how long it was to run.
-spec blocked_ns(Awake :: #{pos_integer() => non_neg_integer()}, Times, Times) -> non_neg_integer()
              when Times :: #{pos_integer() => {IsAsleep :: boolean(), Ns :: non_neg_integer()}} | silent.
blocked_ns(Awake, #{} = Before, #{} = After) ->
    lists:sum([max(0, Ns - (Now - Was)) || {Id, Ns} <- maps:to_list(Awake),
                                           #{Id := {_, Was}} <- [Before], #{Id := {true, Now}} <- [After], Now > Was]);
blocked_ns(_, _, _) -> 0.

%% In both parts of the window.
collections([unknown, unknown]) -> unknown;
collections([#{threads := Threads} = First, Last]) ->
    #{gc := Collecting, sleep := Sleep, other := Other, all := All, ms := Ms, awake_ns := Awake, blocked_ns := Blocked} =
        maps:merge_with(fun(_, A, B) -> A + B end, First, Last),
    #{share => ratio(Collecting, All - Sleep), busy => ratio(All - Sleep, All), waiting => ratio(Other, All), threads => Threads,
      blocked => case 2 * Blocked >= Awake of true -> Blocked / (1.0e6 * Ms); false -> 0.0 end, window_ms => Ms}.

%% Of the schedulers: collecting, sleeping, waiting awake for work (among `other'), and all their time. `gc_full' and `busy_wait' are
%% there where OTP was configured so.
sums(Threads) ->
    Counters = [Counters || #{type := Type, counters := Counters} <- Threads,
                            Type =:= scheduler orelse Type =:= dirty_cpu_scheduler],
    Sum = fun(Names) -> lists:sum([maps:get(Name, One, 0) || One <- Counters, Name <- Names]) end,
    %% The native work of a dirty scheduler is among `other', too.
    #{gc => Sum([gc, gc_full]), sleep => Sum([sleep]),
      other => lists:sum([maps:get(Name, One, 0) || #{type := scheduler, counters := One} <- Threads, Name <- [other, busy_wait]]),
      all => lists:sum(lists:append([maps:values(One) || One <- Counters]))}.

subtract({Name, Before}, Sums) -> maps:update_with(Name, fun(After) -> After - Before end, Sums).

ratio(_, 0) -> 0.0;
ratio(Part, Whole) -> Part / Whole.

%% Traces until it is told to stop, or until too much would wait. The results are the reason of its exit, with how long each was traced.
%% Where somebody else traces a process, or it has ended, the VM refuses. Of the process that starts most, those are traced, too, that it
%% starts meanwhile: that ends with them, or with the tracer.
-dialyzer({nowarn_function, trace/3}).
trace(Worker, Prompt, Nursery) ->
    Each = traced_collection(),
    Began = now_ms(),
    First = maps:from_list([{Pid, no_pauses(Settings, Began)} || {Pid, Settings} <- Prompt, is_switched(Pid, true, ?TRACE_FLAGS)]),
    Parents = [Parent || #{parent := Parent} <- [Nursery], other_sessions(new_processes) =:= [],
                         is_switched(Parent, true, [set_on_spawn | ?TRACE_FLAGS])],
    {Seen, Born} = traced(Worker, First, no_children(Parents, Began), 1),
    Pauses = maps:map(fun unwatched/2, Seen),
    Births = unborn(Born),
    _ = [is_switched(Pid, false, [set_on_spawn | ?TRACE_FLAGS]) || Pid <- Parents ++ maps:keys(maps:get(children, Births))],
    receive {Worker, stop} -> ok end,
    Children = case Parents of
                   [_] -> births(Nursery, Births, Each);
                   [] when is_map(Nursery) -> case is_process_alive(maps:get(parent, Nursery)) of true -> unknown; false -> none end;
                   [] -> Nursery
               end,
    exit({pauses, maps:map(fun(_, One) -> One#{traced => Each} end, Pauses), Children, memory(self())}).

%% What another session traces is left alone.
is_switched(Pid, true, Flags) -> other_sessions(Pid) =:= [] andalso is_set(Pid, true, Flags);
is_switched(Pid, false, Flags) -> is_set(Pid, false, Flags).

is_set(Pid, How, Flags) ->
    try erlang:trace(Pid, How, Flags) =:= 1
    catch error:badarg -> false
    end.

traced(Worker, Seen, Born, Count) ->
    receive
        {trace_ts, Pid, Event, Info, At} when is_map_key(Pid, Seen) ->
            counted(Worker, Seen#{Pid := watched(Pid, event(Event, At, maps:from_list(Info), maps:get(Pid, Seen)))}, Born, Count);
        {trace_ts, Pid, Event, Info, At} ->
            counted(Worker, Seen, child(Pid, Event, At, maps:from_list(Info), Born), Count);
        {Worker, stop} ->
            self() ! {Worker, stop},
            {Seen, Born}
    end.

%% Where they collect faster than the tracer counts, those that brought that about were seen long enough: no more of theirs comes.
counted(Worker, Seen, Born, Count) ->
    case Count rem ?LOOK_AT_MAILBOX_EVERY =:= 0 andalso process_info(self(), message_queue_len) of
        {_, Waiting} when Waiting > ?MOST_WAITING -> {Seen, Born};
        {_, Waiting} when Waiting > ?WAITING_EVENTS -> traced(Worker, maps:map(fun slowed/2, Seen), slowed(Born), Count + 1);
        _ -> traced(Worker, Seen, Born, Count + 1)
    end.

slowed(Pid, #{left := Left} = One) when Left =< ?EVENTS - ?LOOK_AT_MAILBOX_EVERY -> unwatched(Pid, One);
slowed(_, One) -> One.

slowed(#{left := Left} = Born) when Left =< ?CHILD_EVENTS - ?LOOK_AT_MAILBOX_EVERY -> unborn(Born);
slowed(Born) -> Born.

%% Nothing is known where the tracer was ended, for its memory or for its time.
pauses({Tracer, Monitor}) ->
    Tracer ! {self(), stop},
    receive
        {'DOWN', Monitor, process, _, {pauses, Pauses, Births, Bytes}} -> {Pauses, Births, Bytes};
        {'DOWN', Monitor, process, _, _} -> {unknown, unknown, 0}
    after ?HELPER_MS -> {unknown, unknown, 0} % it dies with the worker
    end.

%% Of who has only worked, and has little memory, it is not to be known.
not_traced(#{only := work}) -> not_needed;
not_traced(#{}) -> not_traced.

pauses_of(#{only := work}, unknown) -> not_needed;
pauses_of(_Row, unknown) -> unknown;
pauses_of(#{pid := Pid} = Row, Pauses) ->
    case Pauses of
        #{Pid := #{ms := Ms, settings := Settings, traced := Each,
                   pauses := #{minor := Minor, full := Full, longest := Longest, long := Long, total := Total, why := Why}}} ->
            #{minor => Minor, full => Full, long => Long, longest_us => us(Longest),
              total_us => untraced_us(Total, Minor + Full, Each), window_ms => Ms,
              why => why(Why, Each), settings => Settings};
        #{} -> not_traced(Row)
    end.

us(Native) -> erlang:convert_time_unit(Native, native, microsecond).
