%% @doc A place for a measured program, which removes all traces of it: a folder, and its processes.
%%
%% A shell waits for the VM that made the place. When that VM ends, even by SIGKILL, the shell kills each process that was
%% registered with it, and removes the folder. The folder is in memory if the system has a file system there.
-module(program_place).

-export([new/1, folder/1, log/1, lines_with/2, guard/2, free_port/0, remove/1]).
-export_type([place/0]).

-opaque place() :: #{folder := file:filename(), log := file:filename(), guard := port()}.

-define(IN_MEMORY, "/dev/shm").
%% The shell reads the folder from the first line, and a process from each other line.
-define(GUARD, "IFS= read -r folder; processes=; while read -r process; do processes=\"$processes $process\"; done; "
               "[ -z \"$processes\" ] || kill -9 $processes 2>/dev/null; rm -rf \"$folder\"").
-define(END_TIMEOUT_MS, 5000).
%% Below Linux's ip_local_port_range.
-define(FIRST_PORT, 20_000).
-define(PORTS, 12_000).

%% @doc A new folder, and the name of a log that is kept if something fails.
-spec new(Program :: string()) -> place().
new(Program) ->
    Own = lists:concat(["ertslab_", Program, ".", os:getpid(), ".", erlang:unique_integer([positive])]),
    Folder = filename:join(parent(), Own),
    Logs = filename:absname(filename:join([os:getenv("ERTSLAB_TOP", "."), "build", "log"])),
    ok = filelib:ensure_path(Folder),
    ok = filelib:ensure_path(Logs),
    Guard = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", ?GUARD]}, exit_status, hide]),
    true = port_command(Guard, [unicode:characters_to_binary(Folder), $\n]),
    #{folder => Folder, log => filename:join(Logs, Own ++ ".log"), guard => Guard}.

parent() ->
    case file:read_file_info(?IN_MEMORY) of
        {ok, Info} when element(4, Info) =:= read_write -> ?IN_MEMORY;
        _ -> os:getenv("TMPDIR", "/tmp")
    end.

%% @doc The folder.
-spec folder(place()) -> file:filename().
folder(#{folder := Folder}) -> Folder.

%% @doc The log for the program.
-spec log(place()) -> file:filename().
log(#{log := Log}) -> Log.

%% @doc The lines of a log that match a regular expression.
-spec lines_with(file:filename(), iodata()) -> [binary()].
lines_with(Log, Expression) ->
    {ok, Text} = file:read_file(Log),
    [Line || Line <- binary:split(Text, <<"\n">>, [global]), re:run(Line, Expression) =/= nomatch].

%% @doc Registers a process of the operating system, to be killed when the place is removed, or when this VM ends.
-spec guard(place(), OsPid :: pos_integer()) -> ok.
guard(#{guard := Guard}, OsPid) ->
    true = port_command(Guard, [integer_to_list(OsPid), $\n]),
    ok.

%% @doc A free port of loopback. It is none of the ports that the system gives to outgoing connections: in one of 18 starts
%% such a port was taken before the server listened.
-spec free_port() -> inet:port_number().
free_port() ->
    Port = ?FIRST_PORT + rand:uniform(?PORTS) - 1,
    case gen_tcp:listen(Port, [{ip, {127, 0, 0, 1}}]) of
        {ok, Socket} ->
            ok = gen_tcp:close(Socket),
            Port;
        {error, eaddrinuse} -> free_port()
    end.

%% @doc Kills the registered processes and removes the folder and the log. Returns when the folder is gone.
-spec remove(place()) -> ok.
remove(#{log := Log, folder := Folder, guard := Guard}) ->
    true = port_close(Guard),
    ok = gone(Folder, erlang:monotonic_time(millisecond) + ?END_TIMEOUT_MS),
    _ = file:delete(Log),
    ok.

gone(Folder, Until) ->
    case filelib:is_dir(Folder) andalso erlang:monotonic_time(millisecond) < Until of
        true -> timer:sleep(5), gone(Folder, Until);
        false -> ok
    end.
