%% @doc Runs programs of the operating system: finds them, collects their output,
%% and keeps what they write to standard error in a log.
-module(ertslab_os_command).

-export([find/2, run/3, start/3, say/2, await_end/2, kill/1]).
-export([format_error/1]).
-export_type([tool/0, reason/0]).

-type tool() :: port().
%% The package is Debian's.
-type reason() :: {missing, Program :: string(), Package :: string()}.

%% The command's arguments are passed as arguments of the shell, never as parts of its script.
-define(KEEP_COMPLAINTS, "log=$1; shift; exec \"$@\" 2>>\"$log\"").
%% The same for a program that reads nothing. Its shell has the port as input, which ends with this VM, however that ends: then all of
%% the shell's process group is told to end, and is ended if it does not. Each program of a port has a group of its own, so no Ctrl-C
%% reaches it.
-define(END_WITH_VM,
        "log=$1; shift; exec 3<&0; \"$@\" </dev/null 2>>\"$log\" 3<&- & program=$!;"
        " { trap '' TERM; cat <&3; kill -s TERM -- \"-$$\"; sleep 5; kill -s KILL -- \"-$$\"; } >/dev/null 2>&1 &"
        " guard=$!; exec 3<&-; wait \"$program\"; status=$?; kill -s KILL \"$guard\"; exit \"$status\"").
-define(ANSWER_TIMEOUT_MS, 10_000).

%% @doc The path of a program; if it is missing, fails with the package that provides it.
-spec find(string(), Package :: string()) -> file:filename().
find(Name, Package) ->
    case os:find_executable(Name) of
        false -> ertslab_error:failure(?MODULE, {missing, Name, Package});
        File -> File
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({missing, Name, _Package}) -> [Name, " is missing."].

%% @doc What the program prints, if it ends well. Its standard error
%% is appended to the file `log'. It reads nothing, and ends with this VM.
-spec run([string(), ...], file:filename(),
          #{env => [{string(), string()}], timeout_ms => timeout()}) ->
          {ok, binary()} | {error, {status, integer(), Printed :: binary()} | timeout}.
run(Words, Log, Options) ->
    Port = opened(?END_WITH_VM, Words, Log, maps:get(env, Options, [])),
    case collect(Port, [], from_now(maps:get(timeout_ms, Options, infinity))) of
        {0, Output} -> {ok, Output};
        {Status, Output} -> {error, {status, Status, Output}};
        timeout -> too_slow(Port)
    end.

%% @doc Starts a program that takes lines from `say/2'.
-spec start([string(), ...], file:filename(), [{string(), string()}]) -> tool().
start(Words, Log, Env) -> opened(?KEEP_COMPLAINTS, Words, Log, Env).

opened(Script, Words, Log, Env) ->
    Port = open_port({spawn_executable, "/bin/sh"},
                     [{args, ["-c", Script, "sh", Log | Words]}, {env, Env},
                      exit_status, binary, use_stdio]),
    ok = unlinked(Port),
    Port.

%% The caller must survive if the program ends before the first line is sent. If it traps exits, it may have been told of that already.
unlinked(Port) ->
    true = unlink(Port),
    receive {'EXIT', Port, _} -> ok
    after 0 -> ok
    end.

%% `Until' is an absolute time, so output does not extend the time-out.
collect(Port, Output, Until) ->
    receive
        {Port, {data, More}} -> collect(Port, [Output, More], Until);
        {Port, {exit_status, Status}} -> {Status, iolist_to_binary(Output)}
    after left(Until) -> timeout
    end.

from_now(infinity) -> infinity;
from_now(Ms) -> erlang:monotonic_time(millisecond) + Ms.

left(infinity) -> infinity;
left(Until) -> max(0, Until - erlang:monotonic_time(millisecond)).

%% A program that nobody waits for any longer is ended, since what it says later would come to a caller that does not expect it.
too_slow(Port) ->
    _ = [kill(integer_to_list(Pid)) || {os_pid, Pid} <- [erlang:port_info(Port, os_pid)]],
    ok = forgotten(Port),
    {error, timeout}.

%% A closed port sends nothing more. What it has already sent is taken out of the mailbox.
forgotten(Port) ->
    try port_close(Port) of
        true -> flushed(Port)
    catch error:badarg -> flushed(Port) % it has ended
    end.

flushed(Port) ->
    receive {Port, _} -> flushed(Port)
    after 0 -> ok
    end.

%% @doc Gives a running program a line, and waits for the answer. A program that does not answer in time is ended.
-spec say(tool(), iodata()) -> ok | {error, ended | timeout}.
say(Port, Line) ->
    Monitor = monitor(port, Port),
    try port_command(Port, [Line, $\n])
    catch error:badarg -> false % it has ended, which its monitor says
    end,
    Answer = receive
                 {Port, {data, _}} -> ok;
                 {'DOWN', Monitor, port, _, _} -> {error, ended}
             after ?ANSWER_TIMEOUT_MS -> too_slow(Port)
             end,
    demonitor(Monitor, [flush]),
    Answer.

%% @doc Waits for the end of a program, which is ended when the time is over.
-spec await_end(tool(), timeout()) -> ok | {error, {status, integer()} | timeout}.
await_end(Port, Timeout) ->
    case collect(Port, [], from_now(Timeout)) of
        {0, _} -> ok;
        {Status, _} -> {error, {status, Status}};
        timeout -> too_slow(Port)
    end.

%% @doc Ends a process of the system by the shell's built-in kill, since a small
%% system may have no kill program.
-spec kill(string()) -> ok.
kill(OsPid) ->
    Port = open_port({spawn_executable, "/bin/sh"},
                     [{args, ["-c", "kill -KILL \"$1\"", "sh", OsPid]},
                      exit_status, stderr_to_stdout]),
    ok = unlinked(Port),
    _ = collect(Port, [], from_now(?ANSWER_TIMEOUT_MS)),
    forgotten(Port).
