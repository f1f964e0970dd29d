%% @doc Kills processes at random moments while a library works, for the tests of the
%% libraries, and reports afterwards what is left of it.
%%
%% ERTSLAB_CHAOS_SECONDS sets the duration (2 by default), ERTSLAB_CHAOS_SEED the
%% random numbers: which process is killed, and after what pause. What it is doing at that moment is not controlled.
-module(endurance_chaos).
-behaviour(supervisor).

-export([main/0, seconds/0, timetrap/0, supervise/1, process/2, client/3, alive/1, is_over/1, all_finished/2, run/1]).
-export([fault/2, faults/1, chance/1, one_of/1, until/1, named/1, snapshot/0, left/1, silence/1, end_silence/1]).
-export([start_process/1, init/1]).
-export_type([kind/0, snapshot/0]).

%% A kind of process to kill: how often it is chosen relative to the other kinds, how many of it are killed
%% at most within ten seconds as a supervisor counts them, and a function that returns its present processes.
-type kind() :: {Name :: atom(), Weight :: pos_integer(), Most :: pos_integer() | infinity, fun(() -> [pid()])}.
-opaque snapshot() :: {[pid()], [ets:table()]}.
-type killed() :: #{atom() => {non_neg_integer(), [integer()]}}.

-define(SECONDS, 2).
%% Longer than a supervisor's ten seconds, since a supervisor compares whole seconds. A process is killed again only
%% after its restart, so in any such period there is at most one restart more than kills.
-define(PERIOD_MS, 12_000).
-define(PAUSE_MS, 10).
-define(LONG_PAUSE_MS, 100).
%% A time-out for what must happen. Nothing that works takes this long, on however busy a machine.
-define(PATIENCE_MS, 120_000).
-define(LOOK_MS, 5).
-define(FAULTS, 10).

%% @doc For scripts/soak.sh: runs the single case of the suite that the first argument after `-extra' names,
%% with the folder that the second one names. Then ends the VM, with status 1 if the case fails.
-spec main() -> no_return().
main() ->
    [Suite, Folder] = init:get_plain_arguments(),
    _ = silence([]),
    %% In a process of its own: the booting process traps exits, and would survive the failure of processes linked to it.
    Boot = self(),
    {Pid, Monitor} = spawn_monitor(fun() -> Boot ! {self(), case_of(list_to_atom(Suite), [{priv_dir, Folder}])} end),
    receive
        {Pid, {comment, Comment}} ->
            ok = io:format("~ts~n", [Comment]),
            halt(0);
        {'DOWN', Monitor, process, Pid, Reason} ->
            ok = io:format("~0tP~n", [Reason, 100]),
            halt(1)
    end.

case_of(Suite, Config) ->
    [Case] = Suite:all(),
    Suite:Case(Config).

%% @doc How long the chaos lasts.
-spec seconds() -> pos_integer().
seconds() -> list_to_integer(os:getenv("ERTSLAB_CHAOS_SECONDS", integer_to_list(?SECONDS))).

%% @doc The longest that a case may take, for Common Test.
-spec timetrap() -> {seconds, pos_integer()}.
timetrap() -> {seconds, seconds() + 5 * ?PATIENCE_MS div 1000}.

%% @doc A supervisor linked to the caller that restarts killed children, however often.
-spec supervise([supervisor:child_spec()]) -> pid().
supervise(Children) ->
    {ok, Supervisor} = supervisor:start_link(?MODULE, Children),
    Supervisor.

-spec init([supervisor:child_spec()]) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init(Children) -> {ok, {#{intensity => 1_000_000, period => 1}, Children}}.

%% @doc A child that runs a fun which never returns.
-spec process(term(), fun(() -> term())) -> supervisor:child_spec().
process(Id, Fun) -> #{id => Id, start => {?MODULE, start_process, [Fun]}, shutdown => brutal_kill}.

%% @doc A child that runs a fun until it returns. It is restarted if it is killed; if
%% the fun fails, that is a fault.
-spec client(term(), ets:table(), fun(() -> term())) -> supervisor:child_spec().
client(Id, Ledger, Fun) -> (process(Id, fun() -> guarded(Fun, Ledger) end))#{restart => transient}.

-spec start_process(fun(() -> term())) -> {ok, pid()}.
start_process(Fun) -> {ok, proc_lib:spawn_link(Fun)}.

guarded(Fun, Ledger) ->
    try Fun()
    catch Class:Reason:Stack -> fault({Class, Reason, Stack}, Ledger)
    end.

%% @doc Its running children.
-spec alive(pid()) -> [pid()].
alive(Supervisor) -> [Pid || {_, Pid, _, _} <- supervisor:which_children(Supervisor), is_pid(Pid)].

%% @doc Tells the clients by the row `{stop}' to stop. If some do not return, which is a fault
%% of the library, gives what they are doing.
-spec all_finished(pid(), ets:table()) -> true | [term()].
all_finished(Clients, Ledger) ->
    true = ets:insert(Ledger, {stop}),
    until(fun() -> alive(Clients) =:= [] end)
        orelse [process_info(Pid, [current_stacktrace, messages]) || Pid <- alive(Clients)].

%% @doc Whether the clients were told to stop.
-spec is_over(ets:table()) -> boolean().
is_over(Ledger) -> ets:member(Ledger, stop).

%% @doc Records in a table that an invariant was violated.
-spec fault(term(), ets:table()) -> true.
fault(What, Ledger) -> ets:insert(Ledger, {{fault, erlang:unique_integer()}, What}).

%% @doc Some of the violated invariants.
-spec faults(ets:table()) -> [term()].
faults(Ledger) -> lists:sublist(ets:select(Ledger, [{{{fault, '_'}, '$1'}, [], ['$1']}]), ?FAULTS).

%% @doc Kills until the time is over. Returns the number of kills of each kind.
-spec run([kind()]) -> #{atom() => non_neg_integer()}.
run(Kinds) ->
    Seed = seed(os:getenv("ERTSLAB_CHAOS_SEED")),
    ok = io:format("ERTSLAB_CHAOS_SEED=~b~n", [Seed]),
    _ = rand:seed(exsss, Seed),
    Killed = kill_until(now_ms() + 1000 * seconds(), Kinds, #{Name => {0, []} || {Name, _, _, _} <- Kinds}),
    #{Name => Count || Name := {Count, _} <- Killed}.

seed(false) -> erlang:unique_integer([positive]) + erlang:phash2(erlang:system_time());
seed(Given) -> list_to_integer(Given).

-spec kill_until(integer(), [kind()], killed()) -> killed().
kill_until(End, Kinds, Killed) ->
    case now_ms() < End of
        true ->
            ok = timer:sleep(pause(rand:uniform(10))),
            kill_until(End, Kinds, kill(chosen(Kinds), Killed));
        false -> Killed
    end.

%% Mostly short pauses, for many kills at once, and now and then a long one, for recovery.
pause(1) -> rand:uniform(?LONG_PAUSE_MS);
pause(_) -> rand:uniform(?PAUSE_MS) - 1.

chosen(Kinds) -> chosen(rand:uniform(lists:sum([Weight || {_, Weight, _, _} <- Kinds])), Kinds).

chosen(Nth, [{_, Weight, _, _} = Kind | _]) when Nth =< Weight -> Kind;
chosen(Nth, [{_, Weight, _, _} | Kinds]) -> chosen(Nth - Weight, Kinds).

kill({Name, _, Most, Who}, Killed) ->
    #{Name := {Count, Times}} = Killed,
    Now = now_ms(),
    Recent = [Time || Time <- Times, Time > Now - ?PERIOD_MS],
    %% A number is less than the atom `infinity'.
    case length(Recent) < Most andalso kill_one(Who()) of
        true -> Killed#{Name := {Count + 1, [Now | Recent]}};
        false -> Killed
    end.

kill_one([]) -> false;
kill_one(Pids) ->
    Pid = one_of(Pids),
    Monitor = monitor(process, Pid),
    true = exit(Pid, kill),
    receive {'DOWN', Monitor, process, Pid, Reason} -> Reason =:= killed end.

%% @doc True once in `OneIn' times on average.
-spec chance(pos_integer()) -> boolean().
chance(OneIn) -> rand:uniform(OneIn) =:= 1.

%% @doc One of the values at random.
-spec one_of([Value, ...]) -> Value.
one_of(Values) -> lists:nth(rand:uniform(length(Values)), Values).

%% @doc Waits until the condition holds; `false' if it does not in time.
-spec until(fun(() -> boolean())) -> boolean().
until(Condition) -> until(Condition, now_ms() + ?PATIENCE_MS).

until(Condition, Deadline) ->
    case Condition() of
        true -> true;
        false ->
            ok = timer:sleep(?LOOK_MS),
            now_ms() < Deadline andalso until(Condition, Deadline)
    end.

%% @doc The existing processes among those names.
-spec named([atom()]) -> [pid()].
named(Names) -> [Pid || Name <- Names, Pid <- [whereis(Name)], is_pid(Pid)].

%% @doc For init_per_suite/1 of Common Test: silences the log, which would get a report for each kill.
-spec silence([tuple()]) -> [tuple()].
silence(Config) ->
    #{level := Level} = logger:get_primary_config(),
    ok = logger:set_primary_config(level, none),
    [{level, Level} | Config].

%% @doc For end_per_suite/1.
-spec end_silence([tuple()]) -> ok | {error, term()}.
end_silence(Config) -> logger:set_primary_config(level, proplists:get_value(level, Config)).

%% @doc The existing processes and tables.
-spec snapshot() -> snapshot().
snapshot() -> {processes(), ets:all()}.

%% @doc The processes and tables that are new since the snapshot and do not go away.
-spec left(snapshot()) -> [{pid(), term()} | {ets:table(), term()}].
left({Processes, Tables}) ->
    MoreProcesses = processes() -- Processes,
    MoreTables = ets:all() -- Tables,
    [{Pid, process_info(Pid, [initial_call, current_stacktrace, dictionary])}
     || Pid <- MoreProcesses, not until(fun() -> not is_process_alive(Pid) end)]
        ++ [{Table, ets:info(Table)} || Table <- MoreTables, not until(fun() -> ets:info(Table) =:= undefined end)].

now_ms() -> erlang:monotonic_time(millisecond).
