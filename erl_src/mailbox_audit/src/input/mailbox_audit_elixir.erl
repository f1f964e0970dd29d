%% @doc The Elixir that is installed: where its modules lie, and compiling a file with it.
-module(mailbox_audit_elixir).

-export([ebin/0, compile/1, run/3]).

-define(TIMEOUT_MS, 120_000).

%% @doc The folder of its own modules: beside that of its programs, whatever links lead to these.
-spec ebin() -> {ok, file:filename()} | {error, not_installed}.
ebin() ->
    case os:find_executable("elixir") of
        false -> {error, not_installed};
        Program -> existing(filename:join([filename:dirname(filename:dirname(followed(Program, 10))), "lib", "elixir", "ebin"]))
    end.

existing(Ebin) ->
    case filelib:is_dir(Ebin) of
        true -> {ok, Ebin};
        false -> {error, not_installed}
    end.

followed(File, 0) -> File;
followed(File, Links) ->
    case file:read_link_all(File) of
        {ok, Next} -> followed(mailbox_audit_files:absolute(filename:absname(Next, filename:dirname(File))), Links - 1);
        {error, _} -> File
    end.

%% @doc The modules of a file of Elixir, each with its name, by `elixirc' with what the project around it has built. Or what that says.
-spec compile(file:filename()) -> {ok, [{file:filename(), binary()}]} | {error, string()}.
compile(File) ->
    case os:find_executable("elixirc") of
        false -> {error, "elixirc is not installed"};
        Program -> mailbox_audit_files:in_scratch(fun(Scratch) -> compiled(Program, File, Scratch) end)
    end.

compiled(Program, File, Scratch) ->
    Built = lists:append([["-pa", Dir] || Dir <- mailbox_audit_build:ebins_around(File)]),
    case run(Program, ["--ignore-module-conflict", "-o", Scratch | Built] ++ [filename:absname(File)], ?TIMEOUT_MS) of
        {0, _} -> {ok, [{filename:basename(Beam), Bytes} || {ok, Beam} <- mailbox_audit_files:below(Scratch, [{ending, ".beam"}]),
                                                            {ok, Bytes} <- [file:read_file(Beam)]]};
        {timeout, _} -> {error, "elixirc takes longer than two minutes"};
        {_, Said} -> {error, complaint(Said)}
    end.

%% @doc What a program prints, and its status; it is ended when the time is over. It runs on the Erlang that is installed with Elixir:
%% this one, whose folders the VM has put first, may be too new for that. Of the program nothing is left in the caller's mailbox.
-spec run(file:filename(), [string()], TimeoutMs :: non_neg_integer()) -> {non_neg_integer() | timeout, binary()}.
run(Program, Words, TimeoutMs) ->
    {Own, Others} = lists:partition(fun(Dir) -> lists:prefix(code:root_dir() ++ "/", Dir) end, string:lexemes(os:getenv("PATH", ""), ":")),
    Environment = [{"PATH", lists:append(lists:join(":", Others ++ Own))}
                   | [{Name, false} || Name <- ["ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "ERL_COMPILER_OPTIONS"]]],
    Port = open_port({spawn_executable, Program}, [{args, Words}, {env, Environment}, exit_status, stderr_to_stdout, binary, hide]),
    Ended = printed(Port, <<>>, erlang:monotonic_time(millisecond) + TimeoutMs),
    ok = forgotten(Port),
    Ended.

%% What is printed does not put off the end of the time.
printed(Port, Said, Until) ->
    receive
        {Port, {data, More}} -> printed(Port, <<Said/binary, More/binary>>, Until);
        {Port, {exit_status, Status}} -> {Status, Said}
    after max(0, Until - erlang:monotonic_time(millisecond)) ->
            _ = [os:cmd("kill -KILL " ++ integer_to_list(Pid)) || {os_pid, Pid} <- [erlang:port_info(Port, os_pid)]],
            {timeout, Said}
    end.

%% Once it is unlinked and closed nothing more comes from it; what has come is taken out of the mailbox.
forgotten(Port) ->
    true = unlink(Port),
    try port_close(Port) of
        true -> flushed(Port)
    catch error:badarg -> flushed(Port) % it has ended
    end.

flushed(Port) ->
    receive
        {Port, _} -> flushed(Port);
        {'EXIT', Port, _} -> flushed(Port)
    after 0 -> ok
    end.

%% The first line of its exception, or of what it said at all.
complaint(Said) ->
    case re:run(Said, "^(?:\\*\\* \\(|.*error: )(.*)$", [multiline, {capture, [0], binary}]) of
        {match, [Line]} -> unicode:characters_to_list(string:trim(Line));
        nomatch -> unicode:characters_to_list(hd(string:split(string:trim(Said), "\n")))
    end.
