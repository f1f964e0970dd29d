%% @doc What runs on the node that is looked at, in three parts: a keeper, and a worker that looks at all processes and then closer
%% at few. The keeper ends the worker when its time is over or when the node that asked is gone, and leaves everything as it was:
%% the flag of microstate accounting, the processes, and this module, whose code it removes as its last act.
%%
%% It is one module, though long, and its parts are files of their own: to purge a module, the VM wakes each process of the node, with
%% priority high. Three modules took 110 ms of a busy scheduler with 10,000 processes, and made 1 % of the calls there three times as slow.
%%
%% It is carried to the node, and calls nothing but modules that every node has loaded, and nothing newer than OTP 25.
-module(diagnose_probe).

-export([format/0, keep/3, look/2, version/1, sizes/1, may_be_collected/1]).
%% For the tests.
-export([first_look/3, at_both/2, mapped_since/2, answers/3, two_layouts/1, shape/1, group/1, joined/2, kinds/2, sampled_first/1,
         unlooked/1, groups/6, told_once/2, alone_in_order/1, parts/5, reason/3, reasons/2, is_long/3,
         untraced_us/3, waits_for/2, elsewhere/2, larger_memory/2, other_threads/3, threads/0, thread/4, blocked_ns/3,
         stays/2, emptied/1, long_runs/2, early_runs/3, own_runs/2, long_run_ms/1, works_natively/1, is_swept/3, is_packed/1, quota/1,
         least_known/1, halfway/2, calling/1, link_bytes/1, extra/4, delayed/2, least_binary/2, called_in/2, called/2, asks/2, value/2, starts/2,
         most_calling/2, lowered/2, locked_on/4, label_before_keys/1, by_callback/1, by_beginning/1,
         copied/2, taken/1, swept_by/3, end_reason/1, programs/1, opened/2, opened_in_order/3, table_scan/2, with_native/3, pending_nodes/1,
         function/1, nothing_known/1, beside_processes/2, watch/3,
         is_at_rest/2, timers/1, retries/1, floods/1, shares/1, are_shards/1, links/4, states_of/1, nagle_delays/1, is_delay/2, native_times/1,
         native_times_ended/1, flaps/1, came_and_gone/3, wakes/2, asked_for_modules/1, in_tables/1, buffers/0, tables/0, monitored_beside/2,
         left_sockets/1,
         left_at_both/2, unread_of/1, alarm/1, piles/1, are_of_connections/1, some/2, texts_of/1, not_accepted/1, backlogs_of/1,
         local_text/2, starting/1, in_common/3, not_loaded/1, unanswered/1, places/1, place/1, logging/2, log_events/1, caller_of_logger/1, arrivals/1,
         debugged/0, acceptors_of/1, stopping/1, shapes/3, largest_in/2, large_code/1, file_owners/1, ticks/1, too_many_ticks/2,
         suspenders/3, who_call/2, freed_natively/2, growth/2,
         mostly_hibernates/1, began_with/1, are_same_calls/2, file_text/1, answered_meanwhile/3, standby/1, losses/1, counter_of/2,
         reads/1, gave_back/2, asked_to_start/1, stalls/2, endings/1, ports/0, throttled_by/1, throttled_since/2, throttled_meanwhile/1,
         kept_growth/3, times_out/1, ready_in/2, passing/2, made_and_kept/2]).

%% Whether somebody else has the emulator account, or it cannot.
-type accounting() :: on | off | unknown.
%% What the look at all knows of a process: bytes, the function that it began with, and when it was looked at (milliseconds).
-type row() :: #{pid := pid(), depth := non_neg_integer(), status := atom(), reductions := non_neg_integer(), call := mfa(),
                 parent := pid() | undefined, at := integer(), heap := non_neg_integer(), used := non_neg_integer(),
                 kept => non_neg_integer(), unused := integer(), held := non_neg_integer(), packed := boolean(), only => work}.
%% only: it is looked at closer since it has worked much, and for nothing else.
%% Processes alike: how many, the sums of their bytes and of the messages in deep mailboxes, and some of them. large, holding: how many
%% have a heap or binaries worth a look, with the bytes of those alone; vast: how many are too large to be collected. The members
%% are drawn by chance.
-type group() :: #{count := pos_integer(), vast | vast_heap | vast_held := non_neg_integer(),
                   heap | used | large | large_heap | holding | held | holding_heap | laden | laden_held := non_neg_integer(),
                   deep | messages | behind | behind_messages | deepest | ready | suspended := non_neg_integer(),
                   refers => [{pid(), map()}],
                   some | larges | holders | vasts := [{Hash :: non_neg_integer(), pid(),
                                                        Reductions :: non_neg_integer(), At :: integer()}]}.
%% Of binaries: their bytes.
-type ids() :: #{non_neg_integer() => non_neg_integer()}.
-type census() :: #{looked | heap_bytes | used_bytes | held_bytes | messages | bytes := non_neg_integer(),
                    skipped := diagnose_types:skipped(),
                    top := #{atom() => [{non_neg_integer(), row()}]}, groups := #{term() => group()},
                    late := [{pid(), Ms :: non_neg_integer()}]}.

%% Called where they are.
-ignore_xref([{erlang, processes_iterator, 0}, {erlang, processes_next, 1}, {trace, session_info, 1}, {trace, info, 3}]).

%% The keeper.
-define(FORMAT, 32).
%% Of the worker; its helpers have 5 MB more. One that needs more is ended.
-define(HEAP_WORDS, 1_500_000).
-define(HELPER_WORDS, 625_000).
%% One may hold lists of all tables or terms.
-define(LIST_WORDS, 1_200_000).
-define(HELPER_MS, 2000).
%% So many processes ready to run for each scheduler, at ten looks in a row, and nothing is looked at closer but persistent terms and ports.
-define(OVERLOAD, 10).
-define(LOOKS_AT_LOAD, 10).
%% To purge a module the VM asks every process whether it runs the old code: 20 MB for 100,000.
-define(PURGE_BYTES, 200).
-define(PURGED, 50_000).
-define(BETWEEN_MS, 10).
%% What is looked at in an overload, too: it may be what brings it about.
-define(CHURN_MS, 1000).
%% So many of those that are ready, or twice as many, tell so often what they are in.
-define(ASKED_READY, 30).
-define(READY_LOOKS, 5).
%% What counts until the end, and then asks for names, is to be ready then.
-define(BEFORE_END_MS, 200).
%% What is more than the atoms of this module others have made meanwhile.
-define(OWN_ATOMS, 1500).
%% So often an answer is tried on a connection that is full.
-define(TRIES, 200).

-include("diagnose_bounds.hrl").
-include("probe/census.hrl").
-include("probe/sessions.hrl").
-include("probe/system.hrl").
-include("probe/numbers.hrl").
-include("probe/reasons.hrl").
-include("probe/closer.hrl").
-include("probe/sample.hrl").
-include("probe/constants.hrl").
-include("probe/resources.hrl").
-include("probe/starts.hrl").
-include("probe/connects.hrl").
-include("probe/outside.hrl").
-include("probe/wakes.hrl").
-include("probe/calls.hrl").
-include("probe/ticks.hrl").
-include("probe/native.hrl").
-include("probe/nagle.hrl").
-include("probe/nodes.hrl").
-include("probe/floods.hrl").
-include("probe/shares.hrl").
-include("probe/serving.hrl").
-include("probe/piles.hrl").
-include("probe/losses.hrl").
-include("probe/places.hrl").
-include("probe/stalls.hrl").
-include("probe/passing.hrl").
-include("probe/logging.hrl").
-include("probe/arrivals.hrl").
-include("probe/debugging.hrl").
-include("probe/layout.hrl").

%% @doc Of what goes to and fro. A function, since attributes are taken from the modules of many releases.
-spec format() -> pos_integer().
format() -> ?FORMAT.

%% @doc Looks, answers the client with `{diagnose, Pid, diagnose_types:look()}', and again for each `{diagnose, again}'. At
%% `{diagnose, done}', or when the client is gone, removes this module, if it was carried here.
-spec keep(Client :: pid(), Options, IsCarried :: boolean()) -> ok | boolean()
              when Options :: #{budget := pos_integer(), nif := boolean() | not_safe, collect := boolean(), atoms := pos_integer()}.
keep(Client, #{atoms := Before} = Options, IsCarried) ->
    Own = max(0, min(?OWN_ATOMS, erlang:system_info(atom_count) - Before)),
    ok = looks(Client, monitor(process, Client), Options#{atoms := Own}, IsCarried),
    removed(IsCarried, purges()).

looks(Client, ClientMonitor, Options, IsCarried) ->
    ok = answer(Client, looked(ClientMonitor, Options, IsCarried)),
    receive
        {diagnose, again} -> looks(Client, ClientMonitor, Options, IsCarried);
        {diagnose, done} -> ok;
        {'DOWN', ClientMonitor, process, _, _} -> ok
    end.

looked(ClientMonitor, #{budget := Budget, nif := Nif, atoms := Own} = Options, IsCarried) ->
    Started = now_ms(),
    Accounting = accounting(),
    {Ended, Parts} = worked(ClientMonitor, Options#{deadline => Started + Budget, accounting => Accounting}, nothing_known(Nif)),
    _ = Accounting =:= off andalso erlang:system_flag(microstate_accounting, false),
    {Bytes, #{counts := Counts} = Look} = maps:take(bytes, Parts),
    Look#{counts := [{At, without_own(Own, All)} || {At, All} <- Counts],
          cost => (purge_cost(IsCarried, purges()))#{milliseconds => now_ms() - Started, bytes => Bytes, ended => Ended}}.

%% The VM keeps the atoms of this module for good, but they are no leak.
without_own(Own, #{atoms := {Count, Limit}} = All) -> All#{atoms := {Count - Own, Limit}}.

%% This process may have had the last place of the table.
worked(ClientMonitor, #{deadline := Deadline} = Options, Nothing) ->
    try spawn_opt(?MODULE, look, [self(), Options],
                  [monitor, {fullsweep_after, 0}, % so that the list of processes lies in one heap
                   {max_heap_size, #{size => ?HEAP_WORDS, kill => true, error_logger => false}}]) of
        {Worker, Monitor} ->
            Result = collect(Worker, Monitor, ClientMonitor, Deadline, Nothing),
            ok = ended(Worker, Monitor),
            ok = trace_as_it_was(),
            throttled_meanwhile(native_times_ended(Result))
    catch error:system_limit -> {out_of_processes, Nothing}
    end.

%% @doc Who was ended while it measured has left that on.
-spec native_times_ended({atom(), Parts}) -> {atom(), Parts} when Parts :: #{native_times := term(), _ => _}.
native_times_ended({Ended, #{native_times := tracing} = Parts}) ->
    ok = native_times_off(),
    {Ended, Parts#{native_times := unknown}};
native_times_ended(Result) -> Result.

%% @doc From the beginning of the look to its end, also where the time is up: a quota may be the reason.
-spec throttled_meanwhile({atom(), Parts}) -> {atom(), Parts} when Parts :: #{throttled := term(), _ => _}.
throttled_meanwhile({Ended, #{throttled := {began, Then}} = Parts}) ->
    %% The end of the helper comes as a message. It gets time: each file that it reads may take a period of the quota.
    Traps = process_flag(trap_exit, true),
    Now = known(within(fun throttled/0, now_ms() + ?HELPER_MS)),
    true = process_flag(trap_exit, Traps),
    {Ended, Parts#{throttled := throttled_since(Then, Now)}};
throttled_meanwhile(Result) -> Result.

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

%% @doc What is known before anything was looked at: what stays where the time is over by then.
-spec nothing_known(boolean() | not_safe) -> #{otp := not_looked, _ => _}.
nothing_known(Nif) ->
    #{format => ?FORMAT, otp => not_looked, release => release(), schedulers => erlang:system_info(schedulers_online),
      processors => unknown,
      emulator => emulator(),
      offline => erlang:system_info(schedulers) - erlang:system_info(schedulers_online),
      overloaded => false, ready_in => [], processes => unknown, suspects => [], closer => not_looked, unresponsive => [],
      groups => unknown, groups_left => 0, unlooked => unknown, counts => [], files => unknown, reloads => unknown, transactions => unknown,
      traced => unknown, native_times => unknown, nagle_delays => unknown, flaps => unknown, retries => unknown,
      lookups => unknown, makers => unknown, births => unknown,
      starts => unknown, programs => unknown,
      wakes => unknown, ticks => [], awaited => [], not_accepted => unknown, losses => unknown, reads => [], starting => unknown, stopping => unknown,
      unanswered => unknown,
      left_sockets => unknown, piles => unknown, places => unknown, logging => unknown,
      growing => unknown, debugged => unknown, suspenders => [], callers => [], floods => [], shares => [],
      arrivals => [], stalls => [], endings => [],
      throttled => none,
      system_monitor => system_monitor(),
      binaries_beside => not_needed, processes_beside => not_needed,
      elsewhere => unknown, large_code => none, file_owners => unknown, memory => unknown, tables => unknown, terms => unknown,
      links => unknown, ports => unknown, run_queues => unknown,
      long_runs => unknown, collections => unknown, carriers => unknown, mapped => unknown, scan_ns => #{},
      layouts => case Nif of true -> unknown; false -> not_asked; not_safe -> not_safe end, bytes => 0}.

release() -> list_to_integer(erlang:system_info(otp_release)).

collect(Worker, Monitor, ClientMonitor, Deadline, Parts) ->
    receive
        {Worker, #{bytes := Bytes} = Part} ->
            #{bytes := Before} = Parts,
            collect(Worker, Monitor, ClientMonitor, Deadline, maps:merge(Parts, Part#{bytes := max(Before, Bytes)}));
        {'DOWN', Monitor, process, _, normal} -> {finished, Parts};
        {'DOWN', Monitor, process, _, killed} -> {out_of_memory, Parts};
        {'DOWN', Monitor, process, _, {system_limit, _}} -> {out_of_processes, Parts};
        {'DOWN', Monitor, process, _, _} -> {crashed, Parts};
        {'DOWN', ClientMonitor, process, _, _} = Gone ->
            self() ! Gone,
            {out_of_time, Parts}
    after max(0, Deadline - now_ms()) -> {out_of_time, Parts}
    end.

%% Nothing of it may come later, into another look, and no helper may set anything later.
ended(Worker, Monitor) ->
    true = demonitor(Monitor, [flush]),
    Helpers = case process_info(Worker, links) of {_, Links} -> [Pid || Pid <- Links, is_pid(Pid)]; undefined -> [] end,
    exit(Worker, kill),
    ok = gone(Worker),
    _ = [exit(Helper, kill) || Helper <- Helpers], % one may trap exits, and wait for what is stuck
    ok = lists:foreach(fun gone/1, Helpers),
    forget(Worker).

gone(Pid) ->
    Monitor = monitor(process, Pid),
    receive {'DOWN', Monitor, process, _, _} -> ok end.

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
%% stays (160 kB), and the next look finds it. With old code, which a look leaves that was killed between the two, nothing could be deleted.
removed(false, _) -> ok;
removed(true, false) -> ok;
removed(true, true) ->
    _ = erlang:check_old_code(?MODULE) andalso code:purge(?MODULE),
    true = code:delete(?MODULE),
    code:purge(?MODULE).

%% @doc The worker: tells the keeper each part as it is known. Its helpers die with it. The first look has half of the time:
%% what it leaves out is counted, and what it found is looked at closer.
-spec look(Keeper :: pid(), #{deadline := integer(), accounting := accounting(), nif := boolean() | not_safe, collect := boolean(),
                              budget := pos_integer()}) -> ok.
look(Keeper, #{deadline := Deadline} = Options) ->
    process_flag(trap_exit, true),
    Began = now_ms(),
    Throttled = begun(fun throttled/0),
    {Otp, Files, Processors} = read(),
    Memory = memory(),
    ok = tell(Keeper, #{otp => Otp, files => Files, processors => Processors, counts => [{0, counts()}], memory => Memory}, 0),
    Names = names(),
    Early = early_runs(now_ms() - Began, Names, Deadline),
    ok = tell(Keeper, Early, 0),
    _ = map_size(Early) > 0 andalso process_flag(priority, high), % or it waits for a turn at each of the next steps
    {Ready, Usual} = ready(),
    Priority = case map_size(Early) of 0 -> Usual; _ -> high end,
    ok = tell(Keeper, #{overloaded => Ready}, 0),
    _ = Priority =:= high andalso process_flag(priority, high),
    #{top := Top, groups := Groups, late := Late, bytes := Bytes} = Census = first_look(Names, Priority, halfway(now_ms(), Deadline)),
    Rows = with_workers(rows(maps:remove(work, Top)), rows(maps:with([work], Top))),
    Silent = [#{pid => pid_text(Pid), name => maps:get(Pid, Names, ''), ms => Ms, depth => unknown} || {Pid, Ms} <- Late],
    Traced = within(fun() -> traced([Pid || #{pid := Pid} <- Rows] ++ some_of(Groups)) end, now_ms() + ?ANSWER_MS),
    ok = tell(Keeper, #{processes => maps:without([top, groups, late, bytes], Census),
                        traced => known(Traced),
                        throttled => {began, known(answered(Throttled, now_ms() + ?ANSWER_MS))},
                        suspects => [of_row(Row, Names) || Row <- Rows],
                        unresponsive => lists:sublist(Silent, ?KEPT)}, Bytes),
    Held = case Ready of
               false -> look_closer(Keeper, Rows, Names, Census#{memory => Memory, early => Early, files => Files}, Options);
               _ ->
                   ok = tell(Keeper, #{closer => busy}, 0),
                   #{}
           end,
    {Told, Left, Unlooked} = groups(Groups, Rows, Held, Ready =:= false andalso maps:get(collect, Options), Deadline, Names),
    ok = tell(Keeper, #{groups => Told,
                        groups_left => Left,
                        unlooked => Unlooked,
                        awaited => case Ready of false -> awaited(Groups, Names, Deadline); _ -> [] end}, Bytes),
    %% Last, since it takes time, of which there may be none left.
    case Ready of
        false -> ok;
        _ ->
            ok = tell(Keeper, #{ports => soon(fun ports/0)}, 0),
            Until = now_ms() + ?CHURN_MS,
            Churn = begun(fun() -> process_flag(priority, Priority), churn(Until) end),
            AreReady = [Pid || #{pid := Pid} = Row <- Rows, value(busy, Row) =/= none]
                ++ some_of(maps:filter(fun(_, #{ready := R}) -> R > 0 end, Groups)),
            ok = tell(Keeper, #{ready_in => ready_in(lists:uniq(AreReady), Until)}, 0),
            tell(Keeper, #{terms => known(answered(Churn, Until + ?HASHED_MS + ?ANSWER_MS))}, 0)
    end.

%% @doc Until when the look at all may last: where the machine kept the VM waiting before it, it has half of what is left.
-spec halfway(integer(), integer()) -> integer().
halfway(Now, Deadline) -> Now + max(0, Deadline - Now) div 2.

%% Where all threads for files are taken, none is read.
read() ->
    case within(fun() -> {otp(), files(), processors()} end, now_ms() + ?ANSWER_MS) of
        silent -> {not_looked, unknown, unknown};
        Read -> Read
    end.

%% An emulator may have been told to keep no account (+Mea).
memory() -> try maps:from_list(erlang:memory()) catch error:notsup -> unknown end.

%% Those with a name, by their process.
names() ->
    maps:from_list([{Pid, Name} || Name <- lists:sublist(registered(), ?NAMED), Pid <- [whereis(Name)], is_pid(Pid)]).

%% The first of each sort first.
rows(Top) ->
    Ranked = lists:keysort(1, [{Rank, Row} || Ranked <- maps:values(Top), {Rank, {_, Row}} <- lists:enumerate(Ranked)]),
    lists:uniq(fun(#{pid := Pid}) -> Pid end, [Row || {_, Row} <- Ranked]).

%% Who has only worked comes after the others.
with_workers(Rows, Workers) ->
    Known = [Pid || #{pid := Pid} <- Rows],
    Rows ++ [Row#{only => work} || #{pid := Pid} = Row <- Workers, not lists:member(Pid, Known)].

look_closer(Keeper, Rows, Names,
            #{late := Late, groups := Groups, held_bytes := Held, memory := Memory, early := Early, files := Files} = Census,
            #{budget := Budget, deadline := Deadline, accounting := Accounting, nif := Nif, collect := Collect}) ->
    Carriers = carriers(),
    Timers = {now_ms(), soon(fun small_things/0)},
    Mapped = soon(fun mapped/0),
    Native = soon(fun native/0),
    Window = now_ms() + window(Budget, Deadline),
    Churn = begun(fun() -> churn(Window) end),
    Growth = begun(fun() -> growth(Window, Files =/= unknown) end),
    Growing = begun(fun() -> growing_tables(Window) end),
    Reloads = begun(fun() -> reloads(Window) end),
    Worker = self(),
    Starts = begun(fun() -> starts([Worker], Window - ?BEFORE_END_MS) end),
    Programs = begun(fun() -> programs(Window - ?BEFORE_END_MS) end),
    Transactions = begun(fun() -> transactions(Window - ?BEFORE_END_MS) end),
    Backlogs = begun(fun() -> not_accepted(Window - ?BEFORE_END_MS) end),
    Losses = begun(fun() -> losses(Window - ?BEFORE_END_MS) end),
    Left = begun(fun() -> left_sockets(Window - ?BEFORE_END_MS) end),
    Piles = begun(fun() -> piles(Window - ?BEFORE_END_MS) end),
    Logging = begun(fun() -> logging(maps:values(Names), Window - ?BEFORE_END_MS) end),
    Places = begun(fun() -> places(Window - ?BEFORE_END_MS) end),
    Starting = begun(fun() -> starting(Window - ?BEFORE_END_MS) end),
    Stopping = begun(fun() -> stopping(Window - ?BEFORE_END_MS) end),
    Delays = begun(fun() -> nagle_delays(Window - ?BEFORE_END_MS) end),
    Flaps = begun(fun() -> flaps(Window - ?BEFORE_END_MS) end),
    Unanswered = begun(fun() -> unanswered(Window - ?BEFORE_END_MS) end),
    Stalls = begun(fun() -> stalls([Pid || #{pid := Pid} <- Rows], Window - ?BEFORE_END_MS) end),
    Endings = begun(fun() -> endings(Window - ?BEFORE_END_MS) end),
    Passing = begun(fun() -> passing([Pid || #{pid := Pid, heap := Heap} <- Rows, 2 * Heap >= ?MOST_BYTES], Window - ?BEFORE_END_MS) end),
    #{suspects := Suspects, silent := Silent, bytes := Bytes} = Seen =
        watch(Rows ++ [Row || {Pid, _} <- lists:sublist(Late, ?KEPT), Row <- [late_row(Pid)]], Window, Accounting),
    Then = larger_memory(Memory, memory()), % of the moment at which the suspects told what they have
    Answered = [Text || {_, #{pid := Text}} <- Suspects],
    Flapping = known(answered(Flaps, Window + ?ANSWER_MS)),
    Reloaded = known(answered(Reloads, Window + ?ANSWER_MS)),
    Logged = known(answered(Logging, Window + 2 * ?ANSWER_MS)),
    Started = known(answered(Starts, Window + ?ANSWER_MS)),
    Passed = [One#{name := maps:get(Pid, Names, '')} || All <- [answered(Passing, Window + ?ANSWER_MS)], is_list(All), {Pid, One} <- All],
    Unlooked = [of_row(Row, Names) || #{pid := Pid} = Row <- Rows,
                                      not lists:member(pid_text(Pid), Answered ++ [Text || #{pid := Text} <- Passed])] ++ Passed,
    ok = tell(Keeper, (maps:with([collections, births], Seen))
                          #{closer => finished, run_queues => with_holders(maps:get(run_queues, Seen), Names),
                            suspects => [Suspect || {_, Suspect} <- alone_in_order(Suspects)] ++ Unlooked,
                            unresponsive => [unresponsive(Pid, Ms, Rows, Late, Names) || {Pid, Ms} <- Silent],
                            terms => known(answered(Churn, Window + ?HASHED_MS + ?ANSWER_MS)),
                            counts => counted_meanwhile(answered(Growth, Window + ?ANSWER_MS)),
                            growing => known(answered(Growing, Window + ?ANSWER_MS)),
                            reloads => Reloaded,
                            debugged => soon(fun debugged/0),
                            starts => with_lasting([], Started),
                            programs => known(answered(Programs, Window + ?ANSWER_MS)),
                            transactions => known(answered(Transactions, Window + ?ANSWER_MS)),
                            not_accepted => known(answered(Backlogs, Window + ?ANSWER_MS)),
                            losses => known(answered(Losses, Window + ?ANSWER_MS)),
                            nagle_delays => known(answered(Delays, Window + ?ANSWER_MS)),
                            left_sockets => known(answered(Left, Window + 2 * ?ANSWER_MS)),
                            piles => known(answered(Piles, Window + 2 * ?ANSWER_MS)),
                            logging => Logged,
                            places => known(answered(Places, Window + 2 * ?ANSWER_MS)),
                            flaps => Flapping,
                            starting => known(answered(Starting, Window + 2 * ?ANSWER_MS)),
                            stopping => known(answered(Stopping, Window + 2 * ?ANSWER_MS)),
                            unanswered => known(answered(Unanswered, Window + 2 * ?ANSWER_MS)),
                            stalls => [One || Told <- [answered(Stalls, Window + 2 * ?ANSWER_MS)], is_list(Told), One <- Told],
                            endings => [One || Told <- [answered(Endings, Window + 2 * ?ANSWER_MS)], is_list(Told), One <- Told],
                            carriers => at_both(Carriers, carriers()),
                            mapped => mapped_since(Mapped, soon(fun mapped/0))}, Bytes),
    %% What comes until then may take all of the time.
    ok = case [Pid || {Pid, #{status := suspended}} <- Suspects] of
             [_ | _] -> tell(Keeper, #{ports => soon(fun ports/0)}, Bytes);
             [] -> ok
         end,
    ok = case Early of
             #{long_runs := _} -> ok;
             #{} -> tell(Keeper, #{long_runs => runners(maps:get(collections, Seen), Names, Deadline)}, Bytes)
         end,
    ok = case has_few_reductions(maps:get(collections, Seen)) of
             true ->
                 ok = tell(Keeper, #{native_times => tracing}, Bytes),
                 Timed = lists:uniq([Pid || {Pid, _} <- Suspects] ++ some_of(Groups) ++ all_of_few()),
                 case within(fun() -> native_times(Timed) end, min(Deadline, now_ms() + ?TIMED_MS + ?CALLER_MS + 4 * ?LAST_ANSWER_MS)) of
                     silent -> ok;
                     Natively -> tell(Keeper, #{native_times => Natively}, Bytes)
                 end;
             false -> tell(Keeper, #{native_times => none}, Bytes)
         end,
    Busy = lists:sublist([Pid || {Pid, #{samples := Samples}} <- Suspects, is_always_busy(Samples)], ?KEPT),
    Wakes = within(fun() -> wakes(Groups, Busy) end, min(Deadline, now_ms() + 2 * ?FIRST_WAKES_MS + ?WOKEN_MS + 2 * ?LAST_ANSWER_MS)),
    ok = tell(Keeper, #{wakes => known(Wakes)}, Bytes),
    ok = case [Pid || {_, Pid} <- ranked(?KEPT, [{Reductions, Pid} || {Pid, #{reductions := Reductions}} <- Suspects, is_number(Reductions),
                                                                      Reductions >= ?TICKING_REDUCTIONS])] of
             [] -> ok;
             Working ->
                 Ticks = within(fun() -> ticks(Working) end, min(Deadline, now_ms() + ?FIRST_START_MS + ?TICKING_MS + 2 * ?LAST_ANSWER_MS)),
                 ok = tell(Keeper, #{ticks => [One || is_list(Ticks), One <- Ticks]}, Bytes),
                 Events = within(fun() -> log_events(Working) end,
                                 min(Deadline, now_ms() + 3 * ?EVENT_LOOKS * ?EVENTS_MS + 2 * ?LAST_ANSWER_MS)),
                 tell(Keeper, #{logging => with_events(known(Events), Logged)}, Bytes)
         end,
    ok = case Started of
             #{lasting := [_ | _] = Ending} ->
                 Lasting = within(fun() -> asked_to_start(Ending) end, min(Deadline, now_ms() + ?ASKED_MS + 2 * ?LAST_ANSWER_MS)),
                 tell(Keeper, #{starts => with_lasting([One || is_list(Lasting), One <- Lasting], Started)}, Bytes);
             _ -> ok
         end,
    ok = case {reloaded_often(Reloaded), is_map(Reloaded) andalso is_purging(Suspects)} of
             {[_ | _] = Often, _} ->
                 In = within(fun() -> loaders_of(Often) end, min(Deadline, now_ms() + ?LOOKUPS_MS + 2 * ?LAST_ANSWER_MS)),
                 tell(Keeper, #{reloads => Reloaded#{in := [One || is_list(In), One <- In]}}, Bytes);
             {[], true} ->
                 Likely = lists:uniq(maps:keys(Names) ++ [Pid || {Pid, _} <- Suspects] ++ some_of(Groups) ++ all_of_few()),
                 Purges = within(fun() -> purges(Likely) end, min(Deadline, now_ms() + 2 * ?LOOKUPS_MS + 2 * ?LAST_ANSWER_MS)),
                 tell(Keeper, #{reloads => Reloaded#{purges => known(Purges)}}, Bytes);
             {[], false} -> ok
         end,
    Lookups = case asked_much(Suspects) of
                  [Server] -> within(fun() -> asked_for_modules(Server) end,
                                     min(Deadline, now_ms() + ?LOOKUPS_MS + 2 * ?LAST_ANSWER_MS));
                  [] -> none
              end,
    ok = tell(Keeper, #{lookups => known(Lookups)}, Bytes),
    Flooded = [Pid || {Pid, #{usual_depth := Depth}} <- Suspects, Depth >= ?BEHIND],
    ok = case Flooded =/= [] andalso within(fun() -> floods(Flooded) end, min(Deadline, now_ms() + ?FLOODED_MS + ?ANSWER_MS)) of
             [_ | _] = Floods -> tell(Keeper, #{floods => Floods}, Bytes);
             _ -> ok
         end,
    ok = case [Pid || {Pid, #{waiting := too_large}} <- Suspects] of
             [] -> ok;
             Deepest ->
                 Arrivals = within(fun() -> arrivals(Deepest) end, min(Deadline, now_ms() + ?ARRIVING_MS + 2 * ?LAST_ANSWER_MS)),
                 tell(Keeper, #{arrivals => [One || is_list(Arrivals), One <- Arrivals]}, Bytes)
         end,
    Loaded = lists:sublist([One || {_, #{usual_depth := Depth, samples := Samples}} = One <- Suspects,
                                   Depth >= ?BEHIND orelse is_mostly_busy(Samples)], ?KEPT),
    ok = case Loaded =/= [] andalso within(fun() -> shares(Loaded) end, min(Deadline, now_ms() + ?SHARED_MS + 2 * ?ANSWER_MS)) of
             [_ | _] = Shares -> tell(Keeper, #{shares => Shares}, Bytes);
             _ -> ok
         end,
    ok = case lists:sublist([Pid || {Pid, #{samples := Samples}} <- Suspects, is_mostly_busy(Samples)], ?KEPT) of
             [] -> ok;
             Readers ->
                 Reads = within(fun() -> reads(Readers) end, min(Deadline, now_ms() + ?READ_MS + ?ANSWER_MS)),
                 tell(Keeper, #{reads => [One || is_list(Reads), One <- Reads]}, Bytes)
         end,
    Retries = case machines(Suspects) of
                  [] -> none;
                  Machines -> within(fun() -> retries(Machines) end, min(Deadline, now_ms() + ?RETRIES_MS + 2 * ?LAST_ANSWER_MS))
              end,
    ok = tell(Keeper, #{retries => known(Retries)}, Bytes),
    Tables = within(fun tables/0, Deadline),
    Ports = soon(fun ports/0),
    Pids = lists:uniq(maps:keys(Names) ++ [Pid || {Pid, _} <- Suspects] ++ some_of(Groups) ++ all_of_few()),
    ok = tell(Keeper, #{flaps => with_disconnecting(Flapping, Pids, Deadline),
                        suspenders => suspenders([Pid || {Pid, #{status := suspended}} <- Suspects], Pids, Deadline),
                        callers => who_call([Pid || {Pid, Suspect} <- Suspects, is_held_back(Suspect) orelse is_table_of_dets(Suspect)],
                                            Deadline)}, Bytes),
    Small = within(fun small_things/0, now_ms() + ?ANSWER_MS),
    Beside = beside_processes(Census, Deadline),
    Later = memory(),
    ok = tell(Keeper, #{tables => known(Tables),
                        memory => larger_memory(Then, Later),
                        ports => Ports,
                        binaries_beside => beside(least_binary(Memory, Later), Held, Deadline),
                        processes_beside => Beside,
                        large_code => large_code(Later),
                        file_owners => soon(fun() -> file_owners(Pids) end),
                        elsewhere => with_freed(elsewhere(Native, soon(fun native/0)), Pids, Collect, Deadline),
                        links => links(Small, Later, Pids, Deadline),
                        makers => with_growth(Timers, {now_ms(), Small}, makers(Small, Beside, Pids, Deadline))}, Bytes),
    Queues = lists:usort([Queue || {_, #{queue := Queue, usual_depth := Depth}} <- Suspects, Depth > 0]),
    {Costs, CostBytes} = scan_costs(Queues),
    ok = tell(Keeper, #{scan_ns => Costs}, CostBytes),
    _ = case Nif of
            true ->
                {Layouts, LayoutBytes} = layouts(Suspects),
                tell(Keeper, #{layouts => Layouts}, LayoutBytes);
            _ -> ok
        end,
    maps:from_list([{Pid, Ids} || {Pid, #{binaries := #{some := Ids}}} <- Suspects]).

%% @doc A binary counts with the first process that holds it.
-spec alone_in_order([{pid(), Suspect}]) -> [{pid(), Suspect}] when Suspect :: #{binaries := map() | unknown, _ => _}.
alone_in_order(Suspects) ->
    {Alone, _} = lists:mapfoldl(fun({Pid, #{binaries := #{some := Ids} = Binaries} = Suspect}, Known) ->
                                        Own = maps:without(maps:keys(Known), Ids),
                                        Bytes = less(Binaries, bytes_of(Ids) - bytes_of(Own)),
                                        {{Pid, Suspect#{binaries := maps:remove(some, Binaries#{bytes := Bytes})}}, maps:merge(Known, Own)};
                                   (Other, Known) -> {Other, Known}
                                end, #{}, Suspects),
    Alone.

%% The code server, where it works or is asked much.
asked_much(Suspects) ->
    [Pid || {Pid, #{name := code_server, reductions := Reductions, usual_depth := Depth}} <- Suspects,
            is_number(Reductions) andalso Reductions >= ?LOOKING_UP orelse is_integer(Depth) andalso Depth >= ?HELD_UP].

%% State machines that work though hardly a message waits: those that work most.
machines(Suspects) ->
    Work = [{Reductions, Pid} || {Pid, #{samples := Samples, reductions := Reductions, usual_depth := Depth}} <- Suspects,
                                 is_float(Reductions), Reductions >= ?BUSY_REDUCTIONS, Depth < ?DEEP,
                                 lists:any(fun({_, Stack, _}) -> lists:keymember(gen_statem, 1, Stack) end, Samples)],
    [Pid || {_, Pid} <- ranked(?LARGEST, Work)].

reloaded_often(#{modules := Modules}) -> [Module || #{module := Module, times := Times} <- Modules, Times >= ?RELOADS];
reloaded_often(unknown) -> [].

is_purging(Suspects) ->
    [] =/= [1 || {_, #{name := erts_code_purger, reductions := Reductions}} <- Suspects, is_number(Reductions), Reductions >= ?LOOKING_UP].

%% Who starts timers, where there are many, or where their messages may take much.
makers(#{bif_timer := Bytes}, Beside, Pids, Deadline)
  when Bytes >= ?MANY_TIMERS * ?TIMER_BYTES orelse Bytes > 0 andalso map_get(bytes, Beside) >= ?MOST_BYTES, Bytes < ?PETABYTE ->
    Traced = case erlang:system_info(process_count) =< ?TRACED_FOR_TIMERS of true -> processes(); false -> Pids end,
    known(within(fun() -> timers(lists:sublist(Traced, ?TRACED_FOR_TIMERS)) end,
                 min(Deadline, now_ms() + ?CALLS_MS + 2 * ?LAST_ANSWER_MS)));
makers(_, _, _, _) -> none.

%% Of whom it is not known who asks for its children, nothing is told.
with_lasting(Lasting, #{} = Starts) -> Starts#{lasting := Lasting};
with_lasting(_, Unknown) -> Unknown.

with_events(#{most := Most}, #{} = Logging) -> Logging#{events => Most};
with_events(unknown, Logging) -> Logging;
with_events(_, unknown) -> unknown.

%% How many more there are than at the beginning, and of how long a time.
with_growth({Began, #{bif_timer := Before}}, {Ended, #{bif_timer := Bytes}}, #{} = Makers) ->
    Makers#{grown => (Bytes - Before) div ?TIMER_BYTES, grown_ms => max(1, Ended - Began)};
with_growth(_, _, Makers) -> Makers.

is_always_busy(Samples) -> Samples =/= [] andalso not lists:any(fun({Status, _, _}) -> is_resting(Status) end, Samples).

is_mostly_busy(Samples) ->
    Waits = lists:sum([Times || {Status, _, Times} <- Samples, is_resting(Status)]),
    2 * Waits < lists:sum([Times || {_, _, Times} <- Samples]).

is_resting(Status) -> Status =:= waiting orelse Status =:= suspended.

some_of(Groups) -> [Pid || #{some := Some} <- maps:values(Groups), {_, Pid, _, _} <- Some].

%% It wants to run, and has priority low.
is_held_back(#{priority := low, samples := Samples}) -> lists:any(fun({Status, _, _}) -> not is_resting(Status) end, Samples);
is_held_back(#{}) -> false.

%% Such a table is a process.
is_table_of_dets(#{label := {dets, _, _}, samples := Samples}) -> is_mostly_busy(Samples);
is_table_of_dets(#{}) -> false.

%% Which tables have binaries, where many are on no heap, or where they are most of the memory: what heaps are charged with counts as often
%% as it is referred to, so it may be in a table all the same.
beside(#{binary := Bytes, total := Total}, Held, Until)
  when Bytes - Held >= ?MOST_BYTES; Bytes >= ?HELD_BYTES, 2 * Bytes >= Total ->
    Rest = max(0, Bytes - Held),
    IsMuch = Rest >= ?HELD_BYTES,
    case known(within(fun() -> in_tables(case IsMuch of true -> Rest; false -> Bytes end) end, Until)) of
        #{} = Found ->
            case IsMuch andalso soon(fun buffers/0) of
                #{} = Buffers -> Found#{bytes := Rest, all_bytes => Bytes, buffers => Buffers};
                _ -> Found#{bytes := Rest, all_bytes => Bytes}
            end;
        unknown -> unknown
    end;
beside(_, _, _) -> not_needed.

%% @doc Of two looks at the memory the one with fewer bytes of binaries: what processes held was looked at between them, and what one took
%% since is not beside it.
-spec least_binary(Memory, Memory) -> Memory when Memory :: #{atom() => non_neg_integer()} | unknown.
least_binary(#{binary := Before} = Memory, #{binary := After}) when Before =< After -> Memory;
least_binary(#{}, Memory) -> Memory;
least_binary(unknown, _) -> unknown.

%% @doc Of two looks at all memory, the one with more: what has grown since the first one is a part of it, too.
-spec larger_memory(Memory, Memory) -> Memory when Memory :: #{atom() => non_neg_integer()} | unknown.
larger_memory(#{total := Before} = Memory, #{total := After}) when Before >= After -> Memory;
larger_memory(_, Memory) -> Memory.

counted_meanwhile(silent) -> [];
counted_meanwhile(Counts) -> Counts.

all_of_few() ->
    case erlang:system_info(process_count) =< ?ALL_LINKS of
        true -> processes();
        false -> []
    end.

%% What may take long: to read a file takes a dirty scheduler, and all of them may be stuck.
soon(Look) -> known(within(Look, now_ms() + ?ANSWER_MS)).

known(silent) -> unknown;
known(Answer) -> Answer.

%% One of whom nothing is known yet.
late_row(Pid) -> #{pid => Pid, depth => unknown, status => unknown, reductions => unknown, at => now_ms()}.

%% How long it was asked in all, and what it said at the first look.
unresponsive(Pid, Ms, Rows, Late, Names) ->
    #{pid => pid_text(Pid), name => maps:get(Pid, Names, ''), ms => Ms + proplists:get_value(Pid, Late, 0),
      depth => case [Depth || #{pid := P, depth := Depth} <- Rows, P =:= Pid] of [Depth | _] -> Depth; [] -> unknown end}.

%% Most of what a look costs hangs on the number of processes and not on this, so that a longer one takes a smaller share of the
%% node's time. Half of what is left is for processes that do not answer, and for what follows.
window(Budget, Deadline) -> max(1, min(2 * Budget div 5, (Deadline - now_ms()) div 2)).

tell(Keeper, Part, HelperBytes) ->
    {memory, Own} = process_info(self(), memory),
    Keeper ! {self(), Part#{bytes => Own + HelperBytes}},
    ok.

%% @doc What some of these are in, at several looks each: every look waits for the process's turn.
-spec ready_in([pid()], integer()) -> [diagnose_types:sample()].
ready_in(Pids, Until) ->
    Look = fun(Pid) -> [One || _ <- lists:seq(1, ?READY_LOOKS), now_ms() < Until, ok <- [wait(?BETWEEN_MS)], One <- sample_of(Pid)] end,
    alike(lists:append([Seen || {_, {[_ | _] = Seen, _}} <- answers(some(?ASKED_READY, Pids), Look, Until + ?ANSWER_MS)])).

%% How many are ready to run, in the least of some looks, where that is an overload, `false' otherwise; and the priority of what looks
%% at all processes. It comes after those who work where schedulers have nothing to do at times, and before them in an overload: there
%% its turn would never come, and it is a few microseconds for each process. It is no overload where a scheduler has nothing to do
%% at half of the looks.
ready() ->
    Schedulers = erlang:system_info(schedulers_online),
    Looks = [begin
                 wait(?BETWEEN_MS),
                 lists:sublist(erlang:statistics(run_queue_lengths), Schedulers)
             end || _ <- lists:seq(1, ?LOOKS_AT_LOAD)],
    Least = lists:min([lists:sum(Lengths) || Lengths <- Looks]),
    AreBusy = length([1 || Lengths <- Looks, lists:min(Lengths) > 0]),
    if
        Least > ?OVERLOAD * Schedulers, 2 * AreBusy > ?LOOKS_AT_LOAD -> {Least, high};
        2 * AreBusy > ?LOOKS_AT_LOAD -> {false, normal};
        true -> {false, low}
    end.

%% Not by the file server, which may be what is stuck, nor by the code server.
otp() ->
    {ok, [[Root]]} = init:get_argument(root),
    version(prim_file:read_file(lists:append([Root, "/releases/", erlang:system_info(otp_release), "/OTP_VERSION"]))).

%% @doc The version by the file OTP_VERSION, which not every release has. Stars mark a version that was patched by hand.
-spec version({ok, binary()} | {error, term()}) -> binary() | unknown.
version({ok, Text}) -> hd(binary:split(Text, [<<"\n">>, <<"*">>]));
version({error, _}) -> unknown.
