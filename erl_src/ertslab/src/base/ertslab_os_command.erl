%% @doc Running the programs that others wrote: finding them, their output,
%% and their complaints, which are kept in a log.
-module(ertslab_os_command).

-export([find/2, run/3, start/3, say/2, await_end/2, kill/1]).
-export_type([tool/0]).

-type tool() :: port().

%% The words are arguments, never parts of the script.
-define(KEEP_COMPLAINTS, "log=$1; shift; exec \"$@\" 2>>\"$log\"").
-define(ANSWER_TIMEOUT_MS, 10_000).

%% @doc The path of a program, or the package that brings it.
-spec find(string(), Package :: string()) -> file:filename().
find(Name, Package) ->
    case os:find_executable(Name) of
        false ->
            ertslab_error:failure("~ts is missing; './build.sh deps' installs it (Debian package ~ts).",
                                  [Name, Package]);
        File -> File
    end.

%% @doc What the program prints, once it has ended well. What it complains of
%% is appended to the file `log'.
-spec run([string(), ...], file:filename(),
          #{env => [{string(), string()}], timeout_ms => timeout()}) ->
          {ok, binary()} | {error, {status, integer(), Printed :: binary()} | timeout}.
run(Words, Log, Options) ->
    Port = start(Words, Log, maps:get(env, Options, [])),
    case collect(Port, [], maps:get(timeout_ms, Options, infinity)) of
        {0, Output} -> {ok, Output};
        {Status, Output} -> {error, {status, Status, Output}};
        timeout ->
            _ = [kill(integer_to_list(Pid)) || {os_pid, Pid} <- [erlang:port_info(Port, os_pid)]],
            {error, timeout}
    end.

%% @doc Starts a program that is talked to by `say/2'.
-spec start([string(), ...], file:filename(), [{string(), string()}]) -> tool().
start(Words, Log, Env) ->
    Port = open_port({spawn_executable, "/bin/sh"},
                     [{args, ["-c", ?KEEP_COMPLAINTS, "sh", Log | Words]}, {env, Env},
                      exit_status, binary, use_stdio]),
    %% A program that ends before it is talked to must not end its caller.
    unlink(Port),
    Port.

collect(Port, Output, Timeout) ->
    receive
        {Port, {data, More}} -> collect(Port, [Output, More], Timeout);
        {Port, {exit_status, Status}} -> {Status, iolist_to_binary(Output)}
    after Timeout -> timeout
    end.

%% @doc Gives a running program a line, and waits for the answer.
-spec say(tool(), iodata()) -> ok | {error, ended | timeout}.
say(Port, Line) ->
    Monitor = monitor(port, Port),
    try port_command(Port, [Line, $\n])
    catch error:badarg -> false % it has ended, which its monitor says
    end,
    Answer = receive
                 {Port, {data, _}} -> ok;
                 {'DOWN', Monitor, port, _, _} -> {error, ended}
             after ?ANSWER_TIMEOUT_MS -> {error, timeout}
             end,
    demonitor(Monitor, [flush]),
    Answer.

%% @doc Waits for the end of a program.
-spec await_end(tool(), timeout()) -> ok | {error, {status, integer()} | timeout}.
await_end(Port, Timeout) ->
    case collect(Port, [], Timeout) of
        {0, _} -> ok;
        {Status, _} -> {error, {status, Status}};
        timeout -> {error, timeout}
    end.

%% @doc Ends a process of the system by the shell's own kill, since a small
%% system has no other.
-spec kill(string()) -> ok.
kill(OsPid) ->
    Port = open_port({spawn_executable, "/bin/sh"},
                     [{args, ["-c", "kill -KILL \"$1\"", "sh", OsPid]},
                      exit_status, stderr_to_stdout]),
    receive {Port, {exit_status, _}} -> ok after ?ANSWER_TIMEOUT_MS -> ok end.
