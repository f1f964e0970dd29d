%% @doc What the words of a call name: the `.beam' files of applications,
%% folders, releases and projects.
-module(mailbox_audit_target).

-include_lib("kernel/include/file.hrl").

-export([beams/1]).
-export_type([target/0, reason/0]).

-type target() :: file:name_all() | atom().
-type reason() :: {unknown, target()} | {not_built, file:filename()} | {nothing_in, file:filename()}
                | {not_a_beam, file:filename()} | {unreadable, file:filename(), file:posix()}.

%% @doc The files of a target: an application by its name, one `.beam' file, a
%% folder of them (itself or its `ebin'), a project of rebar3 (what its default
%% profile built, with what it depends on), a release or an installed OTP (all
%% its applications).
-spec beams(target()) -> {ok, [file:filename(), ...]} | {error, reason()}.
beams(Target) when is_atom(Target) -> beams(atom_to_list(Target));
beams(Target) ->
    Path = unicode:characters_to_list(Target),
    case file:read_file_info(Path) of
        {ok, #file_info{type = directory}} -> readable(Path);
        {ok, _} -> one_file(Path);
        {error, enoent} -> application(Path);
        {error, Reason} -> {error, {unreadable, Path, Reason}}
    end.

one_file(Path) ->
    case mailbox_audit_beam:is_beam(Path) of
        true -> {ok, [Path]};
        false -> {error, {not_a_beam, Path}}
    end.

%% A folder of that name in the current one is more specific than the application.
application(Name) ->
    case is_plain(Name) andalso code:lib_dir(list_to_atom(Name)) of
        Dir when is_list(Dir) -> in_folder(filename:join(Dir, "ebin"));
        _ -> {error, {unknown, Name}}
    end.

is_plain(Name) -> Name =/= "" andalso length(Name) < 256 andalso not lists:member($/, Name).

readable(Dir) ->
    case file:list_dir(Dir) of
        {ok, Names} -> folder(Dir, lists:member("rebar.config", Names));
        {error, Reason} -> {error, {unreadable, Dir, Reason}}
    end.

folder(Dir, true = _IsProject) ->
    Built = filename:join([Dir, "_build", "*", "{lib,checkouts}", "*", "ebin", "*.beam"]),
    case one_profile(filelib:wildcard(Built)) of
        [] -> {error, {not_built, Dir}};
        Beams -> {ok, Beams}
    end;
folder(Dir, false) -> in_folder(Dir).

%% The default profile has what is shipped; the others repeat it.
one_profile(Beams) ->
    case [Beam || Beam <- Beams, string:find(Beam, "/_build/default/") =/= nomatch] of
        [] -> Beams;
        Default -> Default
    end.

in_folder(Dir) ->
    case lists:append([filelib:wildcard(filename:join(Dir, Pattern))
                       || Pattern <- ["*.beam", "ebin/*.beam", "*/ebin/*.beam", "lib/*/ebin/*.beam"]]) of
        [] -> {error, {nothing_in, Dir}};
        Beams -> {ok, Beams}
    end.
