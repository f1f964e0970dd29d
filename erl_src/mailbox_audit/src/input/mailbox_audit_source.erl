%% @doc The modules of source files, compiled for the audit alone.
-module(mailbox_audit_source).

-export([modules/1, headers/3, included/2, guarded/3, in_time/2]).

-define(TIMEOUT_MS, 120_000).
%% What else a source has read while it is compiled, by its path or that of an application.
-define(READS, "-\\s*(?:include(_lib)?\\s*\\(|(?:module)?doc\\s*\\(?\\s*\\{\\s*file\\s*,)\\s*\"([^\"]+)\"").

%% @doc The modules of a file of Erlang or Elixir, as its ending says, or what the compiler says. Compiling runs what it brings of code:
%% parse transforms, macros.
-spec modules(file:filename()) -> {ok, [mailbox_audit_beam:beam()]} | {error, string()} | no_source.
modules(File) ->
    case filename:extension(File) of
        ".erl" -> erlang(File);
        ".ex" -> elixir(File);
        _ -> no_source
    end.

elixir(File) ->
    case mailbox_audit_elixir:compile(File) of
        {ok, Modules} -> {ok, [{filename:join(File, Name), Bytes} || {Name, Bytes} <- Modules]};
        {error, Words} -> {error, Words}
    end.

erlang(File) ->
    Built = mailbox_audit_build:ebins_around(File),
    ok = code:add_pathsz(Built),
    Headers = headers(File, [], Built),
    guarded(File, Headers, fun() -> compiled(File, Headers) end).

%% @doc The folders where headers of a source may lie: beside it, in those that are named, in its application, and, by the name of the
%% application, in one that is built with it. Of these the folders of modules are given.
-spec headers(file:filename_all(), Named :: [file:filename_all()], Ebins :: [file:filename_all()]) -> [file:filename_all()].
headers(File, Named, Ebins) ->
    Here = filename:dirname(File),
    [Here] ++ Named ++ [filename:join(filename:dirname(Here), "include"), filename:join(Here, "include")]
        ++ lists:usort([filename:dirname(filename:dirname(Ebin)) || Ebin <- Ebins])
        ++ lists:usort([filename:dirname(filename:dirname(filename:dirname(Ebin))) || Ebin <- Ebins]).

%% @doc What a compilation of a source makes, which has two minutes. Where it would read what may have no end, it does not begin. Headers
%% are looked for in these folders.
-spec guarded(file:filename_all(), [file:filename_all()], fun(() -> {ok, Made} | {error, string()})) -> {ok, Made} | {error, string()}.
guarded(File, Headers, Fun) -> in_time(fun() -> unless_special(special(File, Headers, #{}), Fun) end, ?TIMEOUT_MS).

unless_special({none, _}, Fun) -> Fun();
unless_special({Special, _}, _Fun) ->
    {error, lists:flatten(io_lib:format("cannot read ~ts: it is a pipe, a device or a socket", [mailbox_audit_files:shown(Special)]))}.

%% A process of the compiler's own would outlive the one that is ended.
compiled(File, Headers) ->
    Options = [binary, debug_info, return, no_spawn_compiler_process | [{i, Dir} || Dir <- Headers]],
    case compile:noenv_file(filename:rootname(File), Options) of
        {ok, _Module, Beam, _} when is_binary(Beam) -> {ok, [{File, Beam}]};
        {error, Errors, Warnings} -> {error, mailbox_audit_compiler:first(Errors ++ Warnings)};
        _ -> {error, mailbox_audit_compiler:first([])} % its attributes ask for something else than a module
    end.

%% @doc The same, or that it does not end in time: it runs what the source brings of code. It ends with the caller.
-dialyzer({nowarn_function, in_time/2}). % the process only exits
-spec in_time(fun(() -> {ok, Made} | {error, string()}), TimeoutMs :: non_neg_integer()) -> {ok, Made} | {error, string()}.
in_time(Fun, TimeoutMs) ->
    Made = make_ref(),
    Caller = self(),
    {Pid, Monitor} = spawn_monitor(fun() ->
                                           ok = mailbox_audit_limits:end_with(Caller),
                                           exit({Made, Fun()})
                                   end),
    receive
        {'DOWN', Monitor, process, Pid, {Made, Result}} -> Result;
        {'DOWN', Monitor, process, Pid, _} -> {error, mailbox_audit_compiler:first([])}
    after TimeoutMs ->
            true = demonitor(Monitor, [flush]),
            true = exit(Pid, kill),
            {error, lists:flatten(io_lib:format("its compilation takes longer than ~b seconds", [TimeoutMs div 1000]))}
    end.

%% @doc What a source includes, and what that does, from wherever it may be read: paths where there may be nothing.
-spec included(file:filename_all(), [file:filename_all()]) -> [file:filename_all()].
included(File, Headers) ->
    {_, Seen} = special(File, Headers, #{}),
    maps:values(Seen).

%% A file whose reading may never end among what a source includes, and among what that does. A file is looked into once, by however
%% many paths it includes itself.
special(File, Headers, Seen) -> special(mailbox_audit_files:identity(File), File, Headers, Seen).

special(Identity, _File, _Headers, Seen) when is_map_key(Identity, Seen) -> {none, Seen};
special(Identity, File, Headers, Seen) ->
    case mailbox_audit_files:read(File) of
        {ok, Text} -> first_special(lists:append([places(Read, File, Headers) || Read <- reads(Text)]), Headers, Seen#{Identity => File});
        {error, special_file} -> {File, Seen};
        {error, _} -> {none, Seen#{Identity => File}}
    end.

first_special([], _Headers, Seen) -> {none, Seen};
first_special([File | Files], Headers, Seen) ->
    case special(File, Headers, Seen) of
        {none, More} -> first_special(Files, Headers, More);
        Found -> Found
    end.

reads(Text) ->
    case re:run(Text, ?READS, [global, {capture, all_but_first, binary}]) of
        {match, Reads} -> Reads;
        nomatch -> []
    end.

places([Kind, Name], File, Headers) ->
    [filename:join(Dir, Name) || Dir <- [filename:dirname(File) | Headers]]
        ++ [Path || Kind =/= <<>>, Path <- in_application(filename:split(Name))].

%% An application's name is an atom, and bytes may be none.
in_application([Application | [_ | _] = Path]) ->
    try code:lib_dir(binary_to_atom(Application)) of
        Dir when is_list(Dir) -> [filename:join([Dir | Path])];
        _ -> []
    catch error:_ -> []
    end;
in_application(_) -> [].
