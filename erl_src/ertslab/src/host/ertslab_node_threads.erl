%% @doc What the threads of a node do that does not answer, if it runs on this machine: Linux tells it without the node's help.
-module(ertslab_node_threads).

-export([seen/1, facts/1]).
-export([doing/3]).   % for tests
-export_type([seen/0, threads/0]).

-import(ertslab_readings, [field/2, line/1, read/1]).

-define(EPMD_MS, 2000).
-define(BETWEEN_MS, 500).
%% A thread works that runs, or is ready to, for so much of the time between two readings, and waits where it does so for less than that.
%% On a busy machine a thread is also ready to run for long where it has little to do: but then it runs for less, or goes to sleep.
-define(WORKING, 0.8).
-define(WAITING, 0.2).
-define(RAN, 0.05).
-define(SLEEPS, 2).
%% In the fourth column of /proc/net/tcp, as in net/tcp_states.h of Linux.
-define(LISTENS, <<"0A">>).
-define(SWITCHES, <<"voluntary_ctxt_switches">>).

-type kind() :: scheduler | dirty_cpu | dirty_io.
%% working: so many of them never rest. waiting: so many are in these functions of the kernel, and not for work that there may be.
-type threads() :: #{kind := kind(), threads := pos_integer(), working := non_neg_integer(), waiting := non_neg_integer(),
                     waits_in := [binary()]}.
-type reading() :: {{RanNs :: non_neg_integer(), ReadyNs :: non_neg_integer()}, Sleeps :: non_neg_integer(), WaitsIn :: binary() | null}.
-type stopped() :: no | by_signal | {by_debugger, Process :: unicode:chardata()}.
-type seen() :: #{os_pid := string(), stopped := stopped(), threads := [threads()]} | unknown.

%% @doc Reads them twice, half a second apart. `unknown' if the node runs elsewhere or as another user, or if this is no Linux.
-spec seen(Name :: string()) -> seen().
seen(Name) ->
    [Alive, Host] = string:split(Name, "@"),
    listener(is_here(Host) andalso port(Alive, Host)).

listener(false) -> unknown;
listener(Port) ->
    Sockets = ["socket:[" ++ binary_to_list(Inode) ++ "]" || Inode <- listening(Port)],
    case [Pid || Pid <- machines(), has_one_of(Sockets, Pid)] of
        [] -> unknown;
        [Pid | _] -> of_process(Pid)
    end.

port(Alive, Host) ->
    case erl_epmd:port_please(Alive, Host, ?EPMD_MS) of
        {port, Port, _} -> Port;
        _ -> false
    end.

is_here(Host) ->
    {ok, Interfaces} = inet:getifaddrs(),
    case inet:getaddr(Host, inet) of
        {ok, {127, _, _, _}} -> true;
        {ok, Address} -> lists:member(Address, [Own || {_, Facts} <- Interfaces, {addr, Own} <- Facts]);
        {error, _} -> false
    end.

%% The inodes of sockets that listen on the port.
listening(Port) ->
    Hex = iolist_to_binary(io_lib:format(":~4.16.0B", [Port])),
    [Inode || File <- ["/proc/net/tcp", "/proc/net/tcp6"], Text <- [read(File)], Text =/= null,
              Line <- binary:split(Text, <<"\n">>, [global]),
              [_, Local, _, State, _, _, _, _, _, Inode | _] <- [binary:split(Line, <<" ">>, [global, trim_all])],
              State =:= ?LISTENS, binary:longest_common_suffix([Local, Hex]) =:= byte_size(Hex)].

%% The processes of VMs. One may end meanwhile.
machines() -> [Pid || Pid <- listed("/proc"), is_machine(line("/proc/" ++ Pid ++ "/comm"))].

is_machine(null) -> false;
is_machine(Name) -> binary:longest_common_prefix([Name, <<"beam">>]) =:= 4.

has_one_of(Sockets, Pid) ->
    Folder = "/proc/" ++ Pid ++ "/fd",
    lists:any(fun(Fd) -> lists:member(file:read_link(filename:join(Folder, Fd)), [{ok, Socket} || Socket <- Sockets]) end, listed(Folder)).

listed(Folder) ->
    case file:list_dir(Folder) of
        {ok, Names} -> Names;
        {error, _} -> []
    end.

of_process(Pid) ->
    Before = readings(Pid),
    Began = erlang:monotonic_time(),
    receive after ?BETWEEN_MS -> ok end,
    After = readings(Pid),
    Ns = erlang:convert_time_unit(erlang:monotonic_time() - Began, native, nanosecond),
    Both = [{Kind, doing(One, Later, Ns)} || {Thread, {Kind, One}} <- maps:to_list(Before), #{Thread := {_, Later}} <- [After]],
    #{os_pid => Pid, stopped => stopped(Pid),
      threads => [of_kind(Kind, Doing) || Kind <- [scheduler, dirty_cpu, dirty_io],
                                          [_ | _] = Doing <- [[D || {K, D} <- Both, K =:= Kind]]]}.

of_kind(Kind, Doing) ->
    In = [Function || {waiting, Function} <- Doing],
    #{kind => Kind, threads => length(Doing), working => length([working || working <- Doing]), waiting => length(In),
      waits_in => lists:usort(In)}.

%% Of each thread that runs code: nanoseconds in which it ran, and in which it was ready to; how often it went to sleep; and the
%% function of the kernel in which it waits.
readings(Pid) ->
    maps:from_list([{Thread, {Kind, {times(read(Folder ++ "/schedstat")), sleeps(field(Folder ++ "/status", ?SWITCHES)),
                                     line(Folder ++ "/wchan")}}}
                    || Thread <- listed("/proc/" ++ Pid ++ "/task"), Folder <- ["/proc/" ++ Pid ++ "/task/" ++ Thread],
                       Kind <- [kind(line(Folder ++ "/comm"))], Kind =/= other]).

times(null) -> {0, 0};
times(Text) ->
    [Ran, Ready | _] = binary:split(Text, <<" ">>, [global]),
    {binary_to_integer(Ran), binary_to_integer(Ready)}.

sleeps(null) -> 0;
sleeps(Text) -> binary_to_integer(Text).

%% erts_sched_1, erts_dcpus_1, erts_dios_1; in OTP 25 1_scheduler, 1_dirty_cpu_sch and 10_dirty_io_sch.
kind(null) -> other;
kind(Name) ->
    Kinds = [{<<"dirty_cpu">>, dirty_cpu}, {<<"dirty_io">>, dirty_io}, {<<"dcpus">>, dirty_cpu}, {<<"dios">>, dirty_io},
             {<<"sched">>, scheduler}],
    hd([Kind || {Part, Kind} <- Kinds, binary:match(Name, Part) =/= nomatch] ++ [other]).

%% @doc What a thread did between two readings. Pure.
-spec doing(reading(), reading(), Ns :: pos_integer()) -> working | {waiting, binary()} | neither.
doing({{Ran, Ready}, Sleeps, In}, {{RanLater, ReadyLater}, SleepsLater, InLater}, Ns) ->
    Runs = RanLater - Ran,
    Wants = Runs + ReadyLater - Ready,
    if
        Wants >= ?WORKING * Ns, Runs >= ?RAN * Ns, SleepsLater - Sleeps =< ?SLEEPS -> working;
        In =:= InLater, Wants =< ?WAITING * Ns -> waiting_in(In);
        true -> neither
    end.

%% A thread without work waits on a futex, and a scheduler also for sockets. Linux tells 0 to whoever may not know.
waiting_in(Function) ->
    case Function =:= null orelse Function =:= <<"0">> orelse binary:match(Function, [<<"futex">>, <<"poll">>]) =/= nomatch of
        true -> neither;
        false -> {waiting, Function}
    end.

%% The state follows the name, which is in parentheses and may hold blanks.
stopped(Pid) ->
    case read("/proc/" ++ Pid ++ "/stat") of
        null -> no;
        Text -> stopped(Pid, binary:first(lists:last(string:split(Text, <<") ">>, trailing))))
    end.

stopped(_Pid, $T) -> by_signal;
stopped(Pid, $t) -> {by_debugger, debugger(field("/proc/" ++ Pid ++ "/status", <<"TracerPid">>))};
stopped(_Pid, _) -> no.

%% It is 0 where it has just ended, or is in another container.
debugger(Tracer) when Tracer =:= null; Tracer =:= <<"0">> -> "";
debugger(Tracer) -> [", process ", Tracer].

%% @doc What keeps such a node from answering, a sentence for each; none if nothing of the kind is seen.
-spec facts(seen()) -> [unicode:chardata()].
facts(unknown) -> [];
facts(#{os_pid := Pid, stopped := by_signal}) ->
    [["Its process ", Pid, " is stopped by a signal, such as SIGSTOP: 'kill -CONT ", Pid, "' lets it go on."]];
facts(#{os_pid := Pid, stopped := {by_debugger, Process}}) ->
    [["Its process ", Pid, " is held by a debugger", Process, ", and goes on when that lets it, or ends."]];
facts(#{os_pid := Pid, threads := Threads}) ->
    case lists:append([fact(Of) || Of <- Threads]) of
        [] -> [];
        Facts -> [["The threads of its process ", Pid, " show:"] | Facts]
            ++ [["'perf top -p ", Pid, "' shows in which functions."] || lists:any(fun is_working/1, Threads)]
    end.

%% One that works for seconds without a pause is enough: what waits in its queue may be what has to answer.
is_working(#{kind := scheduler, working := Working}) -> Working > 0;
is_working(#{working := Working, threads := All}) -> Working =:= All.

%% Ordinary processes fill all of them, where there are enough.
fact(#{kind := scheduler, threads := All, working := Working}) when Working > 0 ->
    [io_lib:format("~b of ~b schedulers work all the time: ~tslong native functions, or processes at priority high.",
                   [Working, All, ["many processes are ready to run, or there are " || Working =:= All]])];
fact(#{kind := dirty_cpu, threads := All, working := All}) ->
    [io_lib:format("all dirty CPU schedulers (~b) work all the time: long native functions, such as the hashing of passwords, hold them,"
                   " and code that a connection needs cannot be loaded.", [All])];
fact(#{kind := dirty_io, threads := All, waiting := All, waits_in := [<<"hrtimer_nanosleep">>]}) ->
    [io_lib:format("all threads for files (~b, +SDio) sleep in native code, such as a NIF that waits for a lock of its database, and no"
                   " file can be read there. Shorten that wait, limit who calls it, or start the node with a larger +SDio.", [All])];
fact(#{kind := dirty_io, threads := All, waiting := All, waits_in := In}) ->
    [io_lib:format("all threads for files (~b, +SDio) wait in the kernel (~ts), for a device, a pipe or a network file system, and no file"
                   " can be read there.", [All, lists:join(", ", In)])];
fact(#{kind := dirty_io, threads := All, working := All}) ->
    [io_lib:format("all threads for files (~b, +SDio) work all the time.", [All])];
fact(#{}) -> [].
