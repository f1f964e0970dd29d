%% @doc The folder of the single-file program for what VMs that it measures have to load: its own modules, which lie in an archive
%% that they cannot read, and compiled expressions. It is private, lies below TMPDIR, and is removed at the end, also when the
%% program is killed. (For a checkout the launcher does the same, and the modules are files already.)
-module(ertslab_scratch).

-export([in/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {no_folder, file:posix() | badarg}.

%% Settings for other VMs must not affect the VMs that are measured.
-define(FOREIGN_SETTINGS, ["ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "ERL_LIBS", "ERL_ROOTDIR", "ERL_COMPILER_OPTIONS"]).
-define(ATTEMPTS, 100).
%% Waits until its standard input is closed, which the end of the program does, however it ends.
-define(REMOVES, "trap '' HUP INT TERM; while read -r _; do :; done; rm -rf \"$1\"").

%% @doc Calls the function while TMPDIR is such a folder, and its modules are files on the code path.
-spec in(fun(() -> Result)) -> Result.
in(Fun) ->
    Folder = made(places(), none),
    Remover = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", ?REMOVES, "sh", Folder]}]),
    try
        ok = unpacked(filename:join(Folder, "program")),
        true = os:putenv("TMPDIR", Folder),
        lists:foreach(fun os:unsetenv/1, ?FOREIGN_SETTINGS),
        Fun()
    after
        _ = file:del_dir_r(Folder),
        port_close(Remover)
    end.

%% Where nothing can be written below TMPDIR or /tmp, the folder of the results is left, which is in the current one by default.
places() -> [Place || Place <- [os:getenv("TMPDIR"), "/tmp", "."], Place =/= false, Place =/= ""].

made([], Reason) -> ertslab_error:failure(?MODULE, {no_folder, Reason});
made([Place | Others], _) ->
    case made_in(filename:absname(Place), ?ATTEMPTS) of
        {ok, Folder} -> Folder;
        {error, Reason} -> made(Others, Reason)
    end.

%% Making a folder fails if the name exists already, so nobody else can have placed anything there.
made_in(Place, Left) ->
    Folder = filename:join(Place, "ertslab." ++ integer_to_list(rand:uniform(1 bsl 40), 36)),
    case file:make_dir(Folder) of
        ok ->
            ok = file:change_mode(Folder, 8#700),
            {ok, Folder};
        {error, eexist} when Left > 0 -> made_in(Place, Left - 1);
        {error, Reason} -> {error, Reason}
    end.

%% Into memory first: OTP 25 rounds the times of an archive, so the second 59 becomes 60, which OTP 27 does not give to a file.
unpacked(Folder) ->
    {ok, Parts} = escript:extract(escript:script_name(), []),
    {ok, Files} = zip:unzip(proplists:get_value(archive, Parts), [memory, {file_filter, fun is_module/1}]),
    code:add_pathsz(lists:usort([filename:dirname(written(filename:join(Folder, Name), Beam)) || {Name, Beam} <- Files])).

written(File, Beam) ->
    ok = ertslab_results:make(filename:dirname(File)),
    ok = ertslab_results:write(File, Beam),
    File.

-spec format_error(reason()) -> unicode:chardata().
format_error({no_folder, Reason}) ->
    ["there is no folder for temporary files: ", file:format_error(Reason), "; set TMPDIR to one that can be written."].

is_module(File) -> filename:extension(element(2, File)) =:= ".beam".
