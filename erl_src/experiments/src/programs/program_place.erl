%% @doc What a program that is measured leaves no trace of: a folder of its own, and its processes.
%%
%% A shell waits for the VM that made the place. When that VM ends, be it by SIGKILL, the shell kills each process that was
%% given to it, and removes the folder. The folder lies in memory where the system has a file system there.
-module(program_place).

-export([new/1, folder/1, log/1, lines_with/2, guard/2, free_port/0, remove/1]).
-export_type([place/0]).

-opaque place() :: #{folder := file:filename(), log := file:filename(), guard := port()}.

-define(IN_MEMORY, "/dev/shm").
%% The first line it gets is the folder, each other one a process.
-define(GUARD, "IFS= read -r folder; processes=; while read -r process; do processes=\"$processes $process\"; done; "
               "[ -z \"$processes\" ] || kill -9 $processes 2>/dev/null; rm -rf \"$folder\"").
-define(END_TIMEOUT_MS, 5000).

%% @doc A new folder, and the name of a log that stays where something fails.
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

%% @doc Where the program is to log.
-spec log(place()) -> file:filename().
log(#{log := Log}) -> Log.

%% @doc The lines of a log in which a regular expression matches.
-spec lines_with(file:filename(), iodata()) -> [binary()].
lines_with(Log, Expression) ->
    {ok, Text} = file:read_file(Log),
    [Line || Line <- binary:split(Text, <<"\n">>, [global]), re:run(Line, Expression) =/= nomatch].

%% @doc Has the process of the operating system killed when the place is removed, or when this VM ends.
-spec guard(place(), OsPid :: pos_integer()) -> ok.
guard(#{guard := Guard}, OsPid) ->
    true = port_command(Guard, [integer_to_list(OsPid), $\n]),
    ok.

%% @doc A port of loopback that nobody listens at now.
-spec free_port() -> inet:port_number().
free_port() ->
    {ok, Socket} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Socket),
    ok = gen_tcp:close(Socket),
    Port.

%% @doc Kills what runs there and removes the folder and the log. Returns when the folder is gone.
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
