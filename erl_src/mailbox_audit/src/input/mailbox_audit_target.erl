%% @doc What the words of a call name: the modules of applications, folders, releases, archives, projects and source files.
-module(mailbox_audit_target).

-include_lib("kernel/include/file.hrl").

-export([beams/1, in_folder/1, is_target/1]).
-export_type([target/0, reason/0]).

-type target() :: file:name_all() | atom() | mailbox_audit_beam:beam().
-type reason() :: {unknown, file:filename_all()} | {not_built, file:filename_all()} | {nothing_in, file:filename_all()}
                | {not_a_beam, file:filename_all()} | {unreadable, file:filename_all(), mailbox_audit_files:why()}
                | {refused, file:filename_all(), string()}.

%% Below a folder: itself, an application, many, a release or an installed OTP, what rebar3 builds of _checkouts, a server with plugins,
%% what erlang.mk fetches.
-define(FOLDERS, [[], ["ebin"], [any, "ebin"] | [[Folder, any, "ebin"] || Folder <- ["lib", "checkouts", "plugins", "deps"]]]).
-define(ARCHIVES, [[], ["lib"], ["plugins"]]).

%% @doc Whether a term can name something, be it there or not.
-spec is_target(term()) -> boolean().
is_target({Name, _Bytes}) -> is_path(Name);
is_target(Target) -> is_atom(Target) orelse is_path(Target).

is_path(Path) when is_list(Path); is_binary(Path) ->
    try unicode:characters_to_list(Path) of
        _ -> true
    catch error:badarg -> false
    end;
is_path(_) -> false.

%% @doc The modules of a target: an application by its name; one `.beam' file; a folder of them (itself or its `ebin'); a
%% project of rebar3 or mix (what is built of it in one profile, with what it depends on); a release or an installed OTP (all its
%% applications); an archive or an escript; a source file; bytes of a module, under a name.
-spec beams(target()) -> {ok, [mailbox_audit_beam:beam(), ...]} | {error, reason()}.
beams({File, Bytes}) -> {ok, [{File, Bytes}]};
beams(Target) when is_atom(Target) -> beams(atom_to_list(Target));
beams(Target) ->
    Path = path(Target),
    case file:read_file_info(Path) of
        {ok, #file_info{type = directory}} -> readable(Path);
        {ok, #file_info{type = regular}} -> one_file(Path, mailbox_audit_source:modules(Path));
        {ok, _} -> {error, {unreadable, Path, special_file}};
        {error, enoent} -> application(Path);
        {error, Reason} -> {error, {unreadable, Path, Reason}}
    end.

%% Bytes that are no UTF-8 name a file as they are.
path(Target) ->
    case unicode:characters_to_list(Target) of
        Path when is_list(Path) -> Path;
        _ -> Target
    end.

one_file(Path, {ok, Beams}) -> some(Path, Beams);
one_file(Path, {error, Words}) -> {error, {refused, Path, Words}};
one_file(Path, no_source) ->
    case mailbox_audit_files:read(Path) of
        {ok, Bytes} -> by_contents(Path, Bytes);
        {error, Reason} -> {error, {unreadable, Path, Reason}}
    end.

by_contents(Path, Bytes) ->
    case {mailbox_audit_beam:is_beam(Bytes), archived(Path, Bytes)} of
        {true, _} -> {ok, with_named([beam({ok, Path})])};
        {false, {ok, Beams}} -> some(Path, Beams);
        {false, {error, no_archive}} -> {error, {not_a_beam, Path}};
        {false, {error, Words}} -> {error, {refused, Path, Words}}
    end.

archived(Path, Bytes) ->
    case {mailbox_audit_archive:is_zip(Bytes), mailbox_audit_archive:is_escript(Bytes)} of
        {true, _} -> mailbox_audit_archive:of_zip(mailbox_audit_files:shown(Path), Bytes);
        {_, true} -> mailbox_audit_archive:of_escript(Path);
        _ -> {error, no_archive}
    end.

some(Path, []) -> {error, {nothing_in, Path}};
some(_Path, Beams) -> {ok, Beams}.

%% A folder of that name in the current one is more specific than the application.
application(Name) ->
    case is_plain(Name) andalso code:lib_dir(list_to_atom(Name)) of
        Dir when is_list(Dir) -> some(Dir, in_folders([{ok, filename:join(Dir, "ebin")}]));
        _ -> {error, {unknown, Name}}
    end.

is_plain([_ | _] = Name) -> length(Name) < 256 andalso not lists:member($/, Name);
is_plain(_) -> false.

readable(Dir) ->
    case file:list_dir(Dir) of
        {ok, Names} -> folder(Dir, lists:any(fun(File) -> lists:member(File, Names) end, ["rebar.config", "mix.exs"]));
        {error, Reason} -> {error, {unreadable, Dir, Reason}}
    end.

%% What is built in its own _build, in itself, or in the _build of the umbrella that it belongs to.
folder(Dir, IsProject) ->
    Ways = [fun() -> in_folders(mailbox_audit_build:ebins(Dir)) end,
            fun() -> in_folders(lists:append([folders(Dir, Steps) || Steps <- ?FOLDERS]))
                         ++ lists:append([in_archives(Dir, Steps) || Steps <- ?ARCHIVES]) end,
            fun() -> in_folders(mailbox_audit_build:ebin_of(Dir)) end],
    case {first(Ways), IsProject} of
        {[], true} -> {error, {not_built, Dir}};
        {[], false} -> {error, {nothing_in, Dir}};
        {Beams, _} -> {ok, with_own(Beams, Dir)}
    end.

%% What is built of a project may be what it depends on alone, or a part of what is its own.
with_own(Beams, Dir) ->
    Own = mailbox_audit_own:applications(Dir),
    Missing = mailbox_audit_own:not_among(Own, [Beam || Beam <- Beams, is_read(Beam)]),
    Elsewhere = [{Each, in_folders(mailbox_audit_files:below(Each, ["ebin"]))} || Each <- Missing],
    Unbuilt = [Each || {Each, []} <- Elsewhere],
    All = Beams ++ lists:append([Found || {_, Found} <- Elsewhere]),
    All ++ [beam({unread, Each, not_built}) || Each <- Unbuilt]
        ++ [beam({unread, Source, not_compiled})
            || Source <- mailbox_audit_own:not_compiled([App || {_, Each, _} = App <- Own, not lists:member(Each, Unbuilt)], All)]
        ++ [beam({unread, Source, Why}) || {Source, Why} <- mailbox_audit_own:outdated(Own, Dir, All)].

%% The source of a single module lies elsewhere.
with_named(Beams) ->
    Beams ++ [beam({unread, Source, Why}) || {Source, Why} <- mailbox_audit_outdated:sources(mailbox_audit_outdated:named(Beams), Beams)].

%% Of the first way that finds a module; and what could not be read on those before.
first([]) -> [];
first([Way | Ways]) ->
    Found = Way(),
    case [Beam || Beam <- Found, is_read(Beam)] of
        [] -> Found ++ first(Ways);
        _ -> Found
    end.

is_read({_File, {unread, _}}) -> false;
is_read(_) -> true.

folders(Dir, [any | _] = Steps) -> beside_others(mailbox_audit_files:below(Dir, Steps));
folders(Dir, Steps) -> mailbox_audit_files:below(Dir, Steps).

%% A link that leads nowhere is an application that is missing where there are others beside it. Elsewhere it may be any folder: rebar3
%% leaves such links in the place of each priv and include that an application does not have.
beside_others(Found) ->
    case [Ebin || {ok, Ebin} <- Found] of
        [] -> [Unread || {unread, _, Why} = Unread <- Found, not lists:member(Why, [enoent, enotdir, eloop])];
        _ -> Found
    end.

%% @doc The modules in a folder and in the archives there, if any. What cannot be read, as the folder itself, is among them.
-spec in_folder(file:name_all()) -> [mailbox_audit_beam:beam()].
in_folder(Dir) ->
    Path = path(Dir),
    lists:uniq(in_folders([{ok, Path}]) ++ in_archives(Path, [])).

in_folders(Dirs) ->
    lists:append([case Dir of
                      {ok, Path} -> [beam(Found) || Found <- mailbox_audit_files:below(Path, [{ending, ".beam"}])];
                      Unread -> [beam(Unread)]
                  end || Dir <- Dirs]).

-spec beam(mailbox_audit_files:found() | {unread, file:filename_all(), not_built | not_compiled | mailbox_audit_outdated:why()}) ->
          mailbox_audit_beam:beam().
%% What has no name in characters is shown by another one, so its bytes go with it.
beam({unread, Path, Why}) -> {mailbox_audit_files:shown(Path), {unread, Why}};
beam({ok, Path}) when is_list(Path) -> {Path, in_file};
beam({ok, Path}) ->
    case mailbox_audit_files:read(Path) of
        {ok, Bytes} -> {mailbox_audit_files:shown(Path), Bytes};
        {error, Why} -> beam({unread, Path, Why})
    end.

in_archives(Dir, Steps) ->
    lists:append([in_archive(Archive) || Archive <- mailbox_audit_files:below(Dir, Steps ++ [{ending, ".ez"}])]).

%% One that is damaged does not keep the others from being judged.
in_archive({unread, _, _} = Unread) -> [beam(Unread)];
in_archive({ok, File}) ->
    case beams(File) of
        {ok, Beams} -> Beams;
        {error, {unreadable, _, Why}} -> [beam({unread, File, Why})];
        {error, {nothing_in, _}} -> [];
        {error, _} -> [beam({unread, File, no_archive})]
    end.
