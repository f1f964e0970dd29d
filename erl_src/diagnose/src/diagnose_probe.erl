%% @doc What runs on the node that is looked at, in three parts: a keeper, and a worker that looks at all processes and then closer
%% at few. The keeper ends the worker when its time is over or when the node that asked is gone, and leaves everything as it was:
%% the flag of microstate accounting, the processes, and this module, whose code it removes as its last act.
%%
%% It is one module, though long: to purge a module, the VM wakes each process of the node, with priority high. Three modules
%% took 110 ms of a busy scheduler with 10,000 processes, and made 1 % of the calls there three times as slow.
%%
%% It is carried to the node, and calls nothing but modules that every node has loaded, and nothing newer than OTP 25.
-module(diagnose_probe).

-export([format/0, keep/3, look/2, version/1, sizes/1]).
%% For the tests.
-export([first_look/1, at_both/2, answers/2, two_layouts/1]).

%% Whether somebody else has the emulator account, or it cannot.
-type accounting() :: on | off | unknown.

%% Called where they are.
-ignore_xref([{erlang, processes_iterator, 0}, {erlang, processes_next, 1}]).

%% The keeper.
-define(FORMAT, 3).
%% Of the worker; its helpers have 5 MB more. One that needs more is ended.
-define(HEAP_WORDS, 1_500_000).
%% So many processes ready to run for each scheduler, at five looks in a row, and the node is left alone.
-define(OVERLOAD, 10).
-define(LOOKS_AT_LOAD, 5).
%% To purge a module the VM asks every process whether it runs the old code: 20 MB for 100,000.
-define(PURGE_BYTES, 200).
-define(PURGED, 50_000).
-define(BETWEEN_MS, 10).
%% So often an answer is tried on a connection that is full.
-define(TRIES, 200).

%% The look at all.
-define(SLICE, 1000).
%% A slice takes 5 ms; one that holds a process that does not answer is halved until it is found.
-define(SLICE_MS, 200).
%% More of them in one list (OTP 27 and older) would take 4 MB, and as much again when it is collected.
-define(LISTED, 250_000).
-define(HELPER_WORDS, 625_000).
%% So many of each sort get a second look, if they are beyond its bound.
-define(KEPT, 10).
-define(DEEP, 1000).
-define(BOUNDS, #{depth => ?DEEP, used => 1_000_000, unused => 2_000_000, held => 32_000_000}).
-define(MEASURED, 5).
-define(STATE_MS, 1000).
%% Of the heap in which the cost of a walk is measured.
-define(WALKED_WORDS, 500_000).

%% The look at few.
-define(STACKS_MS, 50).
%% Stacks of so many are looked at again and again: each look is a signal to the process.
-define(SAMPLED, 10).
-define(TRACED, 10).
%% Then processes that collect all the time have been seen long enough. So many may wait in the tracer's mailbox, too.
-define(EVENTS, 5000).
-define(LOOK_AT_MAILBOX_EVERY, 64).
-define(FRAMES, 6).
%% Accounting slows messages by 15 %, so only the first part of the window has it.
-define(ACCOUNTED_MS, 100).
%% A process that does no more in a second is idle: to be looked at counts, too.
-define(IDLE_REDUCTIONS, 1000).
%% Binaries are only counted where there can be few references to them.
-define(COUNTED_BYTES, 800_000).
-define(SCANNED, 20_000).
-define(TIMES, 5).
-define(HELPER_MS, 2000).
-define(ANSWER_MS, 500).
-define(ITEMS, [registered_name, initial_call, message_queue_len, message_queue_data, status, reductions, current_function]).

%% @doc Of what goes to and fro. A function, since attributes are taken from the modules of many releases.
-spec format() -> pos_integer().
format() -> ?FORMAT.

%% @doc Looks, answers the client with `{diagnose, Pid, diagnose_types:look()}', and again for each `{diagnose, again}'. At
%% `{diagnose, done}', or when the client is gone, removes this module, if it was carried here.
-spec keep(Client :: pid(), #{budget := pos_integer(), nif := boolean() | not_safe}, IsCarried :: boolean()) -> ok | boolean().
keep(Client, Options, IsCarried) ->
    ok = looks(Client, monitor(process, Client), Options, IsCarried),
    removed(IsCarried, purges()).

looks(Client, ClientMonitor, Options, IsCarried) ->
    ok = answer(Client, looked(ClientMonitor, Options, IsCarried)),
    receive
        {diagnose, again} -> looks(Client, ClientMonitor, Options, IsCarried);
        {diagnose, done} -> ok;
        {'DOWN', ClientMonitor, process, _, _} -> ok
    end.

looked(ClientMonitor, #{budget := Budget, nif := Nif} = Options, IsCarried) ->
    Started = now_ms(),
    Accounting = accounting(),
    {Worker, Monitor} = spawn_opt(?MODULE, look, [self(), Options#{deadline => Started + Budget, accounting => Accounting}],
                                  [monitor, {priority, low}, {fullsweep_after, 0}, % so that the list of processes lies in one heap
                                   {max_heap_size, #{size => ?HEAP_WORDS, kill => true, error_logger => false}}]),
    {Ended, Parts} = collect(Worker, Monitor, ClientMonitor, Started + Budget, nothing_known(Nif)),
    ok = ended(Worker, Monitor),
    _ = Accounting =:= off andalso erlang:system_flag(microstate_accounting, false),
    {Bytes, Look} = maps:take(bytes, Parts),
    Look#{cost => (purge_cost(IsCarried, purges()))#{milliseconds => now_ms() - Started, bytes => Bytes, ended => Ended}}.

purges() -> erlang:system_info(process_count) =< ?PURGED.

purge_cost(false, _) -> #{stays_loaded => false, purge_bytes => 0};
purge_cost(true, true) -> #{stays_loaded => false, purge_bytes => ?PURGE_BYTES * erlang:system_info(process_count)};
purge_cost(true, false) -> #{stays_loaded => true, purge_bytes => 0}.

now_ms() -> erlang:monotonic_time(millisecond).

%% The state can be asked for only by setting it. It is `unknown' where the emulator was built without.
accounting() ->
    try erlang:system_flag(microstate_accounting, true) of
        true -> on;
        false ->
            true = erlang:system_flag(microstate_accounting, false),
            off
    catch error:_ -> unknown
    end.

nothing_known(Nif) ->
    #{format => ?FORMAT, otp => unknown, release => release(), schedulers => erlang:system_info(schedulers_online),
      overloaded => false, processes => unknown, suspects => unknown, silent => [], collections => unknown, carriers => unknown,
      scan_ns => #{}, layouts => case Nif of true -> unknown; false -> not_asked; not_safe -> not_safe end, bytes => 0}.

release() -> list_to_integer(erlang:system_info(otp_release)).

collect(Worker, Monitor, ClientMonitor, Deadline, Parts) ->
    receive
        {Worker, #{bytes := Bytes} = Part} ->
            #{bytes := Before} = Parts,
            collect(Worker, Monitor, ClientMonitor, Deadline, maps:merge(Parts, Part#{bytes := max(Before, Bytes)}));
        {'DOWN', Monitor, process, _, normal} -> {finished, Parts};
        {'DOWN', Monitor, process, _, killed} -> {out_of_memory, Parts};
        {'DOWN', Monitor, process, _, _} -> {crashed, Parts};
        {'DOWN', ClientMonitor, process, _, _} = Gone ->
            self() ! Gone,
            {out_of_time, Parts}
    after max(0, Deadline - now_ms()) -> {out_of_time, Parts}
    end.

%% Nothing of it may come later, into another look.
ended(Worker, Monitor) ->
    true = demonitor(Monitor, [flush]),
    exit(Worker, kill),
    Again = monitor(process, Worker),
    receive {'DOWN', Again, process, _, _} -> ok end,
    forget(Worker).

forget(Worker) ->
    receive {Worker, #{}} -> forget(Worker)
    after 0 -> ok
    end.

%% A connection that is full or cut must not keep this process from removing what was loaded.
answer(Client, Look) -> answer(Client, Look, ?TRIES).

answer(_Client, _Look, 0) -> ok;
answer(Client, Look, Left) ->
    case erlang:send(Client, {diagnose, self(), Look}, [noconnect, nosuspend]) of
        nosuspend ->
            wait(?BETWEEN_MS),
            answer(Client, Look, Left - 1);
        _ -> ok
    end.

%% The last call leaves the code of this module: purging kills what runs old code. Where there are too many processes the module
%% stays (30 kB), and the next look finds it. With old code, which a look leaves that was killed between the two, nothing could be deleted.
removed(false, _) -> ok;
removed(true, false) -> ok;
removed(true, true) ->
    _ = erlang:check_old_code(?MODULE) andalso code:purge(?MODULE),
    true = code:delete(?MODULE),
    code:purge(?MODULE).

%% @doc The worker: tells the keeper each part as it is known. Its helpers die with it. The first look has half of the time:
%% what it leaves out is counted, and what it found is looked at closer.
-spec look(Keeper :: pid(), #{deadline := integer(), accounting := accounting(), nif := boolean() | not_safe,
                              budget := pos_integer()}) -> ok.
look(Keeper, #{deadline := Deadline, budget := Budget} = Options) ->
    process_flag(trap_exit, true),
    Overloaded = is_overloaded(),
    ok = tell(Keeper, #{otp => otp(), overloaded => Overloaded}, 0),
    {Processes, Pids, Bytes} = first_look(Deadline - Budget div 2),
    Keeper ! {self(), #{processes => Processes, bytes => Bytes}},
    Overloaded orelse look_closer(Keeper, Pids, Options),
    ok.

look_closer(Keeper, Pids, #{budget := Budget, deadline := Deadline, accounting := Accounting, nif := Nif}) ->
    Carriers = carriers(),
    #{suspects := Suspects, silent := Silent, bytes := Bytes} = Seen = watch(Pids, window(Budget, Deadline), Accounting),
    ok = tell(Keeper, Seen#{suspects := [Suspect || {_, Suspect} <- Suspects],
                            silent := [list_to_binary(pid_to_list(Pid)) || Pid <- Silent]},
              Bytes),
    Queues = lists:usort([Queue || {_, #{queue := Queue, least_depth := Depth}} <- Suspects, Depth > 0]),
    {Costs, CostBytes} = scan_costs(Queues),
    ok = tell(Keeper, #{scan_ns => Costs, carriers => at_both(Carriers, carriers())},
              CostBytes),
    case Nif of
        true ->
            {Layouts, LayoutBytes} = layouts(Suspects),
            tell(Keeper, #{layouts => Layouts}, LayoutBytes);
        _ -> ok
    end.

%% Most of what a look costs hangs on the number of processes and not on this, so that a longer one takes a smaller share of the
%% node's time. Half of what is left is for processes that do not answer, and for what follows.
window(Budget, Deadline) -> max(1, min(2 * Budget div 5, (Deadline - now_ms()) div 2)).

tell(Keeper, Part, HelperBytes) ->
    {memory, Own} = process_info(self(), memory),
    Keeper ! {self(), Part#{bytes => Own + HelperBytes}},
    ok.

is_overloaded() ->
    Bound = ?OVERLOAD * erlang:system_info(schedulers_online),
    lists:all(fun(_) -> wait(?BETWEEN_MS), erlang:statistics(total_run_queue_lengths) > Bound end, lists:seq(1, ?LOOKS_AT_LOAD)).

otp() -> version(file:read_file(filename:join([code:root_dir(), "releases", erlang:system_info(otp_release), "OTP_VERSION"]))).

%% @doc The version by the file OTP_VERSION, which not every release has. Stars mark a version that was patched by hand.
-spec version({ok, binary()} | {error, term()}) -> binary() | unknown.
version({ok, Text}) -> hd(binary:split(Text, [<<"\n">>, <<"*">>]));
version({error, _}) -> unknown.

%%% The look at all processes, in slices, and what is cheap to know beside it. Of a process with
%%% a deep mailbox nothing is asked for that goes over all of it: messages, memory, total_heap_size
%%% (https://github.com/erlang/otp/issues/6494), garbage_collection_info (25 ms for a million messages on its heap).

%% @doc Looks at all processes until the deadline (of the monotonic clock, in milliseconds). The processes that are worth
%% a second look, the first of each sort first, and the most memory that a helper had.
-spec first_look(integer()) -> {diagnose_types:processes(), [pid()], Bytes :: non_neg_integer()}.
first_look(Deadline) ->
    Seen = slices(source(), Deadline, #{looked => 0, skipped => #{}, heap_bytes => 0, used_bytes => 0, bytes => 0, top => #{}}),
    #{top := Top, bytes := Bytes} = Seen,
    Ranked = lists:sort([{Rank, Pid} || List <- maps:values(Top), {Rank, {_, Pid}} <- lists:enumerate(List)]),
    Pids = lists:uniq([Pid || {_, Pid} <- Ranked]),
    {maps:without([top, bytes], Seen), Pids, Bytes}.

%% A list of them all, or an iterator where the VM has one (OTP 28). Too many for a list: those with names.
source() ->
    case {erlang:function_exported(erlang, processes_iterator, 0), erlang:system_info(process_count)} of
        {true, _} -> {iterator, apply(erlang, processes_iterator, [])};
        {false, Count} when Count =< ?LISTED -> {list, processes()};
        {false, Count} -> {named, Count, [Pid || Name <- registered(), Pid <- [whereis(Name)], is_pid(Pid)]}
    end.

slices({named, Count, Pids}, Deadline, Seen) ->
    slices({list, Pids}, Deadline, skip(too_many, Count - length(Pids), Seen));
slices(Source, Deadline, Seen) ->
    case taken(Source, ?SLICE, []) of
        {[], _} -> Seen;
        {Pids, Rest} ->
            case now_ms() < Deadline of
                true -> slices(Rest, Deadline, slice(Pids, Deadline, Seen));
                false -> skip(out_of_time, length(Pids) + left(Rest), Seen)
            end
    end.

taken(Source, 0, Pids) -> {Pids, Source};
taken({list, [Pid | Rest]}, Left, Pids) -> taken({list, Rest}, Left - 1, [Pid | Pids]);
taken({list, []} = Empty, _, Pids) -> {Pids, Empty};
taken({iterator, Iterator}, Left, Pids) ->
    case apply(erlang, processes_next, [Iterator]) of
        {Pid, Next} -> taken({iterator, Next}, Left - 1, [Pid | Pids]);
        none -> {Pids, {list, []}}
    end.

left({list, Pids}) -> length(Pids);
left({iterator, _} = Source) ->
    {Pids, Rest} = taken(Source, ?SLICE, []),
    case Pids of [] -> 0; _ -> length(Pids) + left(Rest) end.

skip(_Why, 0, Seen) -> Seen;
skip(Why, Count, #{skipped := Skipped} = Seen) ->
    Seen#{skipped := Skipped#{Why => Count + maps:get(Why, Skipped, 0)}}.

%% The slice is the reason of the exit: dialyzer has to be told that it is meant.
-dialyzer({nowarn_function, slice/3}).
%% In a process of its own, so that its garbage goes with it, and a process that does not answer stops only that.
slice(Pids, Deadline, Seen) ->
    Worker = self(),
    {Helper, Monitor} = spawn_opt(fun() -> exit({slice, of_slice(Pids -- [Worker])}) end,
                                  [link, monitor | helper_options()]),
    receive
        {'DOWN', Monitor, process, _, {slice, Slice}} -> forget(Helper, both(Slice, memory(self()), Seen));
        {'DOWN', Monitor, process, _, _} -> forget(Helper, skip(silent, length(Pids), Seen))
    after ?SLICE_MS ->
            exit(Helper, kill),
            receive {'DOWN', Monitor, process, _, _} -> ok end,
            halves(Pids, Deadline, forget(Helper, Seen))
    end.

%% The end of a helper that is linked comes as a message, too.
forget(Helper, Seen) ->
    receive {'EXIT', Helper, _} -> Seen end.

halves([_], _Deadline, Seen) -> skip(silent, 1, Seen);
halves(Pids, Deadline, Seen) ->
    case now_ms() < Deadline of
        true ->
            {Some, Others} = lists:split(length(Pids) div 2, Pids),
            slice(Others, Deadline, slice(Some, Deadline, Seen));
        false -> skip(out_of_time, length(Pids), Seen)
    end.

%% @doc How a helper is started: with little memory, and after those who work.
-spec helper_options() -> [term()].
helper_options() -> [{priority, low}, {max_heap_size, #{size => ?HELPER_WORDS, kill => true, error_logger => false}}].

%% @doc The bytes that a process of this application has.
-spec memory(pid()) -> non_neg_integer().
memory(Pid) ->
    {memory, Bytes} = process_info(Pid, memory),
    Bytes.

of_slice(Pids) ->
    Rows = [row(Pid) || Pid <- Pids],
    Known = [Row || #{} = Row <- Rows],
    #{looked => length(Known), ended => length(Rows) - length(Known), bytes => memory(self()),
      heap_bytes => sum(heap, Known), used_bytes => sum(used, Known),
      top => maps:map(fun(Sort, Bound) -> top([{Value, Pid} || #{Sort := Value, pid := Pid} <- Known, Value >= Bound]) end,
                      ?BOUNDS)}.

sum(Key, Rows) -> lists:sum([maps:get(Key, Row) || Row <- Rows]).

top(Values) -> lists:sublist(lists:reverse(lists:sort(Values)), ?KEPT).

%% What garbage_collection_info says of the heap goes over each message, too: so not of a deep mailbox.
row(Pid) ->
    case process_info(Pid, message_queue_len) of
        undefined -> ended;
        {_, Depth} when Depth >= ?DEEP -> #{pid => Pid, depth => Depth, heap => 0, used => 0, unused => 0, held => 0};
        {_, Depth} ->
            case process_info(Pid, garbage_collection_info) of
                undefined -> ended;
                {_, Info} ->
                    #{heap := Heap, used := Used, held := Held} = sizes(Info),
                    #{pid => Pid, depth => Depth, heap => Heap, used => Used, unused => Heap - Used, held => Held}
            end
    end.

%% @doc Bytes of what process_info(Pid, garbage_collection_info) says: of the heap, of what is used of it, of its old
%% generation, and of the binaries outside it that it holds.
-spec sizes([{atom(), non_neg_integer()}]) -> #{heap | used | old | held => non_neg_integer()}.
sizes(Info) ->
    [Block, OldBlock, Fragments, Used, OldUsed, Held, OldHeld] =
        [bytes(lists:keyfind(Name, 1, Info))
         || Name <- [heap_block_size, old_heap_block_size, mbuf_size, heap_size, old_heap_size, bin_vheap_size, bin_old_vheap_size]],
    #{heap => Block + OldBlock + Fragments, used => Used + OldUsed + Fragments, old => OldBlock, held => Held + OldHeld}.

bytes({_, Words}) -> erlang:system_info(wordsize) * Words;
bytes(false) -> 0.

both(#{looked := Looked, ended := Ended, bytes := Bytes, heap_bytes := Heap, used_bytes := Used, top := Top}, Own,
     #{looked := L, bytes := B, heap_bytes := H, used_bytes := U, top := T} = Seen) ->
    Merged = maps:map(fun(Sort, Values) -> top(Values ++ maps:get(Sort, T, [])) end, Top),
    skip(ended, Ended, Seen#{looked := L + Looked, bytes := max(B, Bytes + Own), heap_bytes := H + Heap,
                             used_bytes := U + Used, top := Merged}).

%% @doc What each allocator has in carriers of several blocks, and in blocks therein.
-spec carriers() -> [diagnose_types:carriers()].
carriers() -> [allocator(Name) || Name <- erlang:system_info(alloc_util_allocators)].

%% @doc Of two looks at the carriers, the fuller one: what is only empty for a moment is not unused.
-spec at_both([diagnose_types:carriers()], [diagnose_types:carriers()]) -> [diagnose_types:carriers()].
at_both(Before, After) ->
    Was = maps:from_list([{Name, Both} || #{allocator := Name} = Both <- Before]),
    [fuller(Now, maps:get(Name, Was, Now)) || #{allocator := Name} = Now <- After].

fuller(#{carrier_bytes := C, block_bytes := B} = Now, #{carrier_bytes := Carrier, block_bytes := Blocks}) ->
    Now#{carrier_bytes := min(C, Carrier), block_bytes := max(B, Blocks)}.

allocator(Name) ->
    Instances = case erlang:system_info({allocator_sizes, Name}) of false -> []; List -> List end,
    Multi = [Sizes || {instance, _, Sorts} <- Instances, {Sort, Sizes} <- Sorts, Sort =:= mbcs orelse Sort =:= mbcs_pool],
    #{allocator => Name, carrier_bytes => lists:sum([element(2, S) || Sizes <- Multi, S <- Sizes, element(1, S) =:= carriers_size]),
      block_bytes => lists:sum([element(2, Size) || Sizes <- Multi, {blocks, Blocks} <- Sizes, {_, Kinds} <- Blocks,
                                                    Size <- Kinds, element(1, Size) =:= size])}.

%% @doc Where the list cells of the largest states lie, measured by cons_spacing inside processes that understand
%% system messages and have nothing else to do.
-spec layouts([{pid(), diagnose_types:suspect()}]) ->
          {[{binary(), diagnose_types:layout()}] | unknown, HelperBytes :: non_neg_integer()}.
layouts(Suspects) ->
    Calm = [{Used, Pid, Text} || {Pid, #{used_bytes := Used, pid := Text, depth := 0, idle := true, initial_call := Call}}
                                     <- Suspects, understands_system_messages(Call)],
    case erlang:module_loaded(cons_spacing_nif) of
        true ->
            Measured = [Layout || {_, Pid, Text} <- lists:sublist(lists:reverse(lists:sort(Calm)), ?MEASURED),
                                  Layout <- layout(Pid, Text)],
            {[{Text, Layout} || {Text, Layout, _} <- Measured], lists:max([0 | [Bytes || {_, _, Bytes} <- Measured]])};
        false -> {unknown, 0}
    end.

understands_system_messages({Module, init, 1}) ->
    Attributes = try Module:module_info(attributes) catch error:undef -> [] end,
    Behaviours = lists:append([Names || {Name, Names} <- Attributes, Name =:= behaviour orelse Name =:= behavior]),
    lists:member(gen_server, Behaviours) orelse lists:member(gen_statem, Behaviours);
understands_system_messages(_) -> false.

layout(Pid, Text) ->
    try apply(cons_spacing, of_state, [Pid, ?STATE_MS]) of
        #{histogram := Histogram} = State ->
            {Costs, Bytes} = walk_costs(distance(Histogram)),
            [{Text, maps:merge(maps:with([cells, mean, cache_lines], State), Costs), Bytes}]
    catch _:_ -> []
    end.

%% At least half of the cells lie so many bytes from the next one, or more. (The mean hangs on few that lie far off.)
distance(Histogram) -> distance(Histogram, lists:sum([Links || {_, Links} <- Histogram]) / 2).

distance([], _) -> undefined;
distance([{Low, Links} | _], Half) when Links >= Half -> Low;
distance([{_, Links} | Farther], Half) -> distance(Farther, Half - Links).

%% What length/1 takes for a cell on this machine, nanoseconds, where cells lie so many bytes apart, and where they are dense.
%% The lists fit into 4 MB, so that it is the least that it takes: a longer one is farther from the caches.
walk_costs(undefined) -> {#{walk_ns => unknown, dense_ns => unknown}, 0};
walk_costs(Bytes) ->
    case measured(fun() -> walks(Bytes) end, [{min_heap_size, ?WALKED_WORDS}]) of
        {{Spread, Dense}, Memory} -> {#{walk_ns => Spread, dense_ns => Dense}, Memory};
        silent -> walk_costs(undefined)
    end.

walks(Bytes) ->
    {Spread, Dense} = two_layouts(Bytes),
    {cell_ns(Spread), cell_ns(Dense)}.

%% @doc A list whose cells lie so many bytes apart, from 32 to 400, and a dense one of the same values.
%% Nothing is collected meanwhile, so that everything stays in the order in which it is made.
-spec two_layouts(Bytes :: pos_integer()) -> {Spread :: [tuple()], Dense :: [tuple()]}.
two_layouts(Bytes) ->
    Words = max(4, min(50, Bytes div erlang:system_info(wordsize))),
    Spread = made(?WALKED_WORDS div (Words + 4), Words - 3, []),
    {Spread, [Value || Value <- Spread]}.

%% A tuple has a word of its own and a cell two.
made(0, _, List) -> List;
made(Left, Size, List) -> made(Left - 1, Size, [erlang:make_tuple(Size, Left) | List]).

cell_ns(List) -> least_ns(fun() -> length(List) end) / length(List).

%%% The look at few, for a window of time: their stacks, how their mailboxes grow, how long their
%%% collections take, and the share that all collections have of the schedulers' time.

-dialyzer({nowarn_function, [watch/3, answers/2]}). % the funs always exit with what they saw

%% @doc Watches the processes for so many milliseconds. Silent are those that did not answer.
-spec watch([pid()], pos_integer(), accounting()) ->
          #{collections := diagnose_types:collections() | unknown, suspects := [{pid(), diagnose_types:suspect()}],
            silent := [pid()], bytes := non_neg_integer()}.
watch(Pids, Ms, Accounting) ->
    Worker = self(),
    Tracer = helper(fun() -> trace(Worker, lists:sublist(Pids, ?TRACED)) end, [{priority, high}, {message_queue_data, off_heap}]),
    Began = now_ms(),
    Firsts = answers(Pids, fun details/1),
    First = maps:from_list([{Pid, Details} || {Pid, #{} = Details} <- Firsts]),
    Known = [Pid || Pid <- Pids, is_map_key(Pid, First)],
    Deep = [Pid || Pid <- Known, maps:get(message_queue_len, maps:get(Pid, First)) >= ?DEEP],
    Sampled = lists:sublist(Deep, ?SAMPLED),
    {Collections, Some} = accounted(Accounting, min(?ACCOUNTED_MS, Ms div 2), fun(Until) -> samples(Sampled, Until, #{}) end),
    Samples = samples(Sampled, Began + Ms, Some),
    Lasts = answers(Known, fun more_details/1),
    Took = max(1, now_ms() - Began),
    {Pauses, Bytes} = pauses(Tracer),
    #{collections => Collections, silent => [Pid || {Pid, silent} <- Firsts ++ Lasts], bytes => Bytes,
      suspects => [{Pid, (suspect(Pid, maps:get(Pid, First), Last, maps:get(Pid, Samples, []), Took))#{pauses => pauses_of(Pid, Pauses)}}
                   || {Pid, #{} = Last} <- Lasts]}.

%% @doc What each answers, or `silent'. Each is asked by a process of its own, since one that cannot answer, as inside a long
%% native function, would stop the look.
-spec answers([pid()], fun((pid()) -> Answer)) -> [{pid(), Answer | silent}].
answers(Pids, Ask) ->
    Until = now_ms() + ?ANSWER_MS,
    Asked = [{Pid, helper(fun() -> exit({answer, Ask(Pid)}) end, [])} || Pid <- Pids],
    [{Pid, answered(Helper, Until)} || {Pid, Helper} <- Asked].

%% The end of a helper that is linked comes as a message, too.
answered({Helper, Monitor}, Until) ->
    Answered = receive
                   {'DOWN', Monitor, process, _, Reason} -> Reason
               after max(0, Until - now_ms()) ->
                       exit(Helper, kill),
                       receive {'DOWN', Monitor, process, _, Reason} -> Reason end
               end,
    receive {'EXIT', Helper, _} -> ok end,
    case Answered of
        {answer, Answer} -> Answer;
        _ -> silent
    end.

helper(Fun, Options) -> spawn_opt(Fun, [link, monitor | helper_options() ++ Options]).

details(Pid) ->
    case process_info(Pid, ?ITEMS) of
        undefined -> ended;
        Items -> maps:from_list(Items)
    end.

more_details(Pid) ->
    case details(Pid) of
        #{message_queue_len := Depth} = Details ->
            #{used := Used} = Sizes = sizes(Pid, Depth),
            Details#{sizes => Sizes, min_heap_bytes => min_heap(Pid), initial_call := initial_call(Pid, Details),
                     binaries => binaries(Pid, Depth, Used)};
        ended -> ended
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

unknown_sizes() -> #{heap => unknown, used => unknown, old => unknown, held => unknown}.

%% At least one look at each. What was seen: the depth, and the stack under the status.
samples(Pids, Until, Samples) ->
    Seen = lists:foldl(fun({Pid, Sample}, All) -> sampled(Pid, Sample, All) end, Samples, answers(Pids, fun sample/1)),
    wait(min(?STACKS_MS, max(0, Until - now_ms()))),
    case now_ms() < Until of
        true -> samples(Pids, Until, Seen);
        false -> Seen
    end.

sample(Pid) ->
    case process_info(Pid, [message_queue_len, status, current_stacktrace]) of
        undefined -> ended;
        [{_, Depth}, {_, Status}, {_, Stack}] -> {Depth, Status, [frame(Frame) || Frame <- lists:sublist(Stack, ?FRAMES)]}
    end.

frame({Module, Function, Arity, _}) -> {Module, Function, Arity}.

sampled(Pid, {_, _, _} = Sample, Samples) -> Samples#{Pid => [Sample | maps:get(Pid, Samples, [])]};
sampled(_Pid, _EndedOrSilent, Samples) -> Samples.

%% The module `timer' may not be loaded.
wait(Ms) -> receive after Ms -> ok end.

%% The same process at the beginning and at the end of the window.
suspect(Pid, First, Last, Samples, Ms) ->
    #{message_queue_len := Before, reductions := Reductions} = First,
    #{message_queue_len := Depth, message_queue_data := Queue, registered_name := Name, status := Status, reductions := Reduced,
      initial_call := Initial, binaries := Binaries, min_heap_bytes := Min,
      sizes := #{heap := Heap, used := Used, old := Old, held := Held}} = Last,
    #{pid => list_to_binary(pid_to_list(Pid)), name => name(Name), initial_call => Initial, queue => Queue,
      depth => Depth, least_depth => lists:min([Before, Depth | [Seen || {Seen, _, _} <- Samples]]),
      growth => 1000 * (Depth - Before) / Ms, samples => counted([{S, Stack} || {_, S, Stack} <- Samples]),
      hibernates => hibernates(Last), idle => Status =:= waiting andalso 1000 * (Reduced - Reductions) =< ?IDLE_REDUCTIONS * Ms,
      heap_bytes => Heap, used_bytes => Used, old_bytes => Old, held_bytes => Held, binaries => Binaries, min_heap_bytes => Min}.

name([]) -> '';
name(Name) -> Name.

%% A key of the dictionary can be asked for from OTP 26.2 on; all of the dictionary may be large.
initial_call(Pid, #{initial_call := Initial}) ->
    try process_info(Pid, {dictionary, '$initial_call'}) of
        {_, {_, _, _} = Call} -> Call;
        _ -> Initial
    catch
        error:badarg when Initial =:= {proc_lib, init_p, 5} -> unknown;
        error:badarg -> Initial
    end.

%% OTP 29's behaviours keep their stack, and so are seen where they called erlang:hibernate/0.
hibernates(#{status := waiting, current_function := {erlang, hibernate, 3}}) -> true;
hibernates(#{status := waiting, current_function := {_, loop_hibernate, _}}) -> true;
hibernates(#{}) -> false.

%% Each reference to a binary takes words of the heap, so that a small heap has few.
binaries(Pid, Depth, Used) when Depth < ?DEEP, is_integer(Used), Used =< ?COUNTED_BYTES ->
    case process_info(Pid, binary) of
        {binary, Binaries} -> length(Binaries);
        undefined -> unknown
    end;
binaries(_, _, _) -> unknown.

counted(Seen) ->
    Counts = lists:foldl(fun(One, Sums) -> Sums#{One => 1 + maps:get(One, Sums, 0)} end, #{}, Seen),
    [{Status, Stack, Times} || {{Status, Stack}, Times} <- maps:to_list(Counts)].

%% What the schedulers did while something else was done until then.
accounted(unknown, Ms, Meanwhile) -> {unknown, Meanwhile(now_ms() + Ms)};
accounted(Accounting, Ms, Meanwhile) ->
    _ = Accounting =:= off andalso erlang:system_flag(microstate_accounting, true),
    Before = erlang:statistics(microstate_accounting),
    Began = now_ms(),
    Result = Meanwhile(Began + Ms),
    After = erlang:statistics(microstate_accounting),
    _ = Accounting =:= off andalso erlang:system_flag(microstate_accounting, false),
    {Collecting, Busy, All} = subtract(sums(After), sums(Before)),
    {#{share => ratio(Collecting, Busy), busy => ratio(Busy, All), window_ms => max(1, now_ms() - Began)}, Result}.

%% Of the schedulers: collecting, not sleeping, and all their time. `gc_full' is there where OTP was configured so.
sums(Threads) ->
    Counters = [Counters || #{type := Type, counters := Counters} <- Threads,
                            Type =:= scheduler orelse Type =:= dirty_cpu_scheduler],
    All = lists:sum(lists:append([maps:values(One) || One <- Counters])),
    {lists:sum([maps:get(gc, One, 0) + maps:get(gc_full, One, 0) || One <- Counters]),
     All - lists:sum([maps:get(sleep, One, 0) || One <- Counters]), All}.

subtract({A, B, C}, {D, E, F}) -> {A - D, B - E, C - F}.

ratio(_, 0) -> 0.0;
ratio(Part, Whole) -> Part / Whole.

%% Traces until it is told to stop, or has seen enough: then too much would wait. The results are the reason of its exit,
%% with how long it traced. Where somebody else traces a process, or it has ended, the VM refuses.
-dialyzer({nowarn_function, trace/2}).
trace(Worker, Pids) ->
    Flags = [garbage_collection, monotonic_timestamp],
    Began = now_ms(),
    Traced = [Pid || Pid <- Pids, is_switched(Pid, true, Flags)],
    Pauses = traced(Worker, maps:from_list([{Pid, {none, no_pauses()}} || Pid <- Traced]), ?EVENTS),
    Took = max(1, now_ms() - Began),
    _ = [is_switched(Pid, false, Flags) || Pid <- Traced],
    receive {Worker, stop} -> ok end,
    exit({pauses, maps:map(fun(_, Seen) -> Seen#{window_ms => Took} end, Pauses), memory(self())}).

is_switched(Pid, How, Flags) ->
    try erlang:trace(Pid, How, Flags) =:= 1
    catch error:badarg -> false
    end.

no_pauses() -> #{minor => 0, full => 0, longest => 0, total => 0}.

traced(_Worker, Seen, 0) -> maps:map(fun(_, {_, Pauses}) -> Pauses end, Seen);
traced(Worker, Seen, Left) ->
    receive
        {trace_ts, Pid, Event, _, At} when is_map_key(Pid, Seen) ->
            traced(Worker, Seen#{Pid := event(Event, At, maps:get(Pid, Seen))}, events_left(Left - 1));
        {Worker, stop} ->
            self() ! {Worker, stop},
            traced(Worker, Seen, 0)
    end.

%% Where the processes collect faster than the tracer counts, it stops before its mailbox has grown.
events_left(Left) when Left rem ?LOOK_AT_MAILBOX_EVERY =:= 0 ->
    case process_info(self(), message_queue_len) of
        {_, Waiting} when Waiting > ?EVENTS -> 0;
        _ -> Left
    end;
events_left(Left) -> Left.

event(gc_minor_end, At, {Began, Pauses}) when is_integer(Began) -> {none, paused(minor, At - Began, Pauses)};
event(gc_major_end, At, {Began, Pauses}) when is_integer(Began) -> {none, paused(full, At - Began, Pauses)};
event(Start, At, {_, Pauses}) when Start =:= gc_minor_start; Start =:= gc_major_start -> {At, Pauses};
event(_, _, Seen) -> Seen.

paused(Kind, Native, #{longest := Longest, total := Total} = Pauses) ->
    maps:update_with(Kind, fun(Times) -> Times + 1 end, Pauses#{longest := max(Longest, Native), total := Total + Native}).

%% Nothing is known where the tracer was ended, for its memory or for its time.
pauses({Tracer, Monitor}) ->
    Tracer ! {self(), stop},
    receive
        {'DOWN', Monitor, process, _, {pauses, Pauses, Bytes}} -> {Pauses, Bytes};
        {'DOWN', Monitor, process, _, _} -> {unknown, 0}
    after ?HELPER_MS -> {unknown, 0} % it dies with the worker
    end.

pauses_of(_Pid, unknown) -> unknown;
pauses_of(Pid, Pauses) ->
    case Pauses of
        #{Pid := #{minor := Minor, full := Full, longest := Longest, total := Total, window_ms := Ms}} ->
            #{minor => Minor, full => Full, longest_us => us(Longest), total_us => us(Total), window_ms => Ms};
        #{} -> not_traced
    end.

us(Native) -> erlang:convert_time_unit(Native, native, microsecond).

%% @doc What a receive takes on this machine to go by a message that waits, in nanoseconds, for mailboxes of these
%% kinds: measured with 20,000 small messages, so that it is the least that it takes.
-spec scan_costs([on_heap | off_heap]) -> {#{on_heap | off_heap => float()}, HelperBytes :: non_neg_integer()}.
scan_costs(Queues) ->
    Costs = [{Queue, Ns, Bytes} || Queue <- Queues, {Ns, Bytes} <- [measured(fun scan/0, [{message_queue_data, Queue}])]],
    {maps:from_list([{Queue, Ns} || {Queue, Ns, _} <- Costs]), lists:max([0 | [Bytes || {_, _, Bytes} <- Costs]])}.

scan() ->
    ok = fill(?SCANNED),
    least_ns(fun() -> receive comes_never -> ok after 0 -> ok end end) / ?SCANNED.

fill(0) -> ok;
fill(Left) ->
    self() ! waits,
    fill(Left - 1).

%% What a helper measures, and the memory that it had; `silent' where it does not end within its limits.
-dialyzer({nowarn_function, measured/2}). % what it saw is its exit
measured(Measure, Options) ->
    answered(helper(fun() -> exit({answer, {Measure(), memory(self())}}) end, Options), now_ms() + ?HELPER_MS).

%% A collection in between would count too: the least of some times is free of it.
least_ns(Work) ->
    erlang:convert_time_unit(lists:min([native(Work) || _ <- lists:seq(1, ?TIMES)]), native, nanosecond).

native(Work) ->
    Started = erlang:monotonic_time(),
    _ = Work(),
    erlang:monotonic_time() - Started.
