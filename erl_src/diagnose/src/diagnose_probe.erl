%% @doc What runs on the node that is looked at: a keeper, and a worker that looks. The keeper ends the worker when its
%% time is over or when the node that asked is gone, and leaves everything as it was: the flag of microstate
%% accounting, the processes, and the modules, whose code it removes as its last act.
%%
%% This module, diagnose_processes and diagnose_window are carried to the node. They call nothing but modules that
%% every node has loaded, and nothing newer than OTP 25.
-module(diagnose_probe).

-export([keep/3, look/2, purge_bytes/1, version/1]).

-define(FORMAT, 1).
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

%% @doc Looks, answers the client with `{diagnose, Pid, diagnose_types:look() | {not_loaded, module()}}', and again for each
%% `{diagnose, again}'. At `{diagnose, done}', or when the client is gone, removes those modules, of which this one is the last.
-spec keep(Client :: pid(), #{budget := pos_integer(), nif := boolean() | not_safe}, Loaded :: [module()]) -> ok | [boolean()].
keep(Client, Options, Loaded) ->
    ok = case [Module || Module <- Loaded, not erlang:module_loaded(Module)] of
             [] -> looks(Client, monitor(process, Client), Options, Loaded);
             [Missing | _] -> answer(Client, {not_loaded, Missing})
         end,
    removed(Loaded, purges()).

looks(Client, ClientMonitor, Options, Loaded) ->
    ok = answer(Client, looked(ClientMonitor, Options, Loaded)),
    receive
        {diagnose, again} -> looks(Client, ClientMonitor, Options, Loaded);
        {diagnose, done} -> ok;
        {'DOWN', ClientMonitor, process, _, _} -> ok
    end.

looked(ClientMonitor, #{budget := Budget, nif := Nif} = Options, Loaded) ->
    Started = now_ms(),
    Accounting = accounting(),
    {Worker, Monitor} = spawn_opt(?MODULE, look, [self(), Options#{deadline => Started + Budget, accounting => Accounting}],
                                  [monitor, {priority, low}, {fullsweep_after, 0}, % so that the list of processes lies in one heap
                                   {max_heap_size, #{size => ?HEAP_WORDS, kill => true, error_logger => false}}]),
    {Ended, Parts} = collect(Worker, Monitor, ClientMonitor, Started + Budget, nothing_known(Nif)),
    ok = ended(Worker, Monitor),
    _ = Accounting =:= off andalso erlang:system_flag(microstate_accounting, false),
    {Bytes, Look} = maps:take(bytes, Parts),
    Look#{cost => (purge_cost(Loaded, purges()))#{milliseconds => now_ms() - Started, bytes => Bytes, ended => Ended}}.

purges() -> erlang:system_info(process_count) =< ?PURGED.

purge_cost([], _) -> #{old_code => false, purge_bytes => 0};
purge_cost(_, true) -> #{old_code => false, purge_bytes => purge_bytes(erlang:system_info(process_count))};
purge_cost(_, false) -> #{old_code => true, purge_bytes => 0}.

%% @doc What the VM takes for a moment to purge a module, with so many processes.
-spec purge_bytes(pos_integer()) -> pos_integer().
purge_bytes(Processes) -> ?PURGE_BYTES * Processes.

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
            timer_sleep(),
            answer(Client, Look, Left - 1);
        _ -> ok
    end.

%% Nothing is loaded any more. The last call leaves the code of this module: purging kills what runs old code. Where there
%% are too many processes, the old code (30 kB) stays until one of these modules is loaded again.
removed(Loaded, Purges) ->
    lists:foreach(fun code:delete/1, Loaded),
    lists:foreach(fun code:purge/1, [Module || Purges, Module <- Loaded]).

%% @doc The worker: tells the keeper each part as it is known. Its helpers die with it. The first look has half of the time:
%% what it leaves out is counted, and what it found is looked at closer.
-spec look(Keeper :: pid(), #{deadline := integer(), accounting := diagnose_window:accounting(), nif := boolean() | not_safe,
                              budget := pos_integer()}) -> ok.
look(Keeper, #{deadline := Deadline, budget := Budget} = Options) ->
    process_flag(trap_exit, true),
    Overloaded = is_overloaded(),
    ok = tell(Keeper, #{otp => otp(), overloaded => Overloaded}, 0),
    {Processes, Pids, Bytes} = diagnose_processes:first_look(Deadline - Budget div 2),
    Keeper ! {self(), #{processes => Processes, bytes => Bytes}},
    Overloaded orelse look_closer(Keeper, Pids, Options),
    ok.

look_closer(Keeper, Pids, #{budget := Budget, accounting := Accounting, nif := Nif}) ->
    Carriers = diagnose_processes:carriers(),
    #{suspects := Suspects, silent := Silent, bytes := Bytes} = Seen =
        diagnose_window:watch(Pids, max(1, Budget div 5), Accounting),
    ok = tell(Keeper, Seen#{suspects := [Suspect || {_, Suspect} <- Suspects],
                            silent := [list_to_binary(pid_to_list(Pid)) || Pid <- Silent]},
              Bytes),
    Queues = lists:usort([Queue || {_, #{queue := Queue, least_depth := Depth}} <- Suspects, Depth > 0]),
    {Costs, CostBytes} = diagnose_window:scan_costs(Queues),
    ok = tell(Keeper, #{scan_ns => Costs, carriers => diagnose_processes:at_both(Carriers, diagnose_processes:carriers())},
              CostBytes),
    Nif =:= true andalso tell(Keeper, #{layouts => diagnose_processes:layouts(Suspects)}, 0),
    ok.

tell(Keeper, Part, HelperBytes) ->
    {memory, Own} = process_info(self(), memory),
    Keeper ! {self(), Part#{bytes => Own + HelperBytes}},
    ok.

is_overloaded() ->
    Bound = ?OVERLOAD * erlang:system_info(schedulers_online),
    lists:all(fun(_) -> timer_sleep(), erlang:statistics(total_run_queue_lengths) > Bound end, lists:seq(1, ?LOOKS_AT_LOAD)).

%% The module `timer' may not be loaded.
timer_sleep() -> receive after ?BETWEEN_MS -> ok end.

otp() -> version(file:read_file(filename:join([code:root_dir(), "releases", erlang:system_info(otp_release), "OTP_VERSION"]))).

%% @doc The version by the file OTP_VERSION, which not every release has. Stars mark a version that was patched by hand.
-spec version({ok, binary()} | {error, term()}) -> binary() | unknown.
version({ok, Text}) -> hd(binary:split(Text, [<<"\n">>, <<"*">>]));
version({error, _}) -> unknown.
