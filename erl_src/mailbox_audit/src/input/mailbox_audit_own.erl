%% @doc The applications that a project of rebar3 or mix has of its own, by its sources: these must be built, whatever else is.
-module(mailbox_audit_own).

-export([applications/1, not_among/2]).

%% Where rebar3 looks for them, if its config does not say otherwise.
-define(APP_DIRS, ["apps/*", "lib/*", "."]).
-define(APP_FILES, [["src", {ending, ".app.src"}], ["src", {ending, ".app.src.script"}]]).
-define(SOURCES, [".erl", ".xrl", ".yrl", ".ex"]).

-type own() :: {Name :: string() | none, Dir :: file:filename_all()}.
%% Without a name it is told by its modules.

%% @doc The applications of the project of a folder: its own, that around its `_build', or that around a profile there. Those without a
%% source are not among them.
-spec applications(file:filename_all()) -> [own()].
applications(Dir) ->
    lists:usort([App || Root <- [root(mailbox_audit_files:absolute(Dir))], App <- of_rebar3(Root) ++ of_mix(Root)]).

root(Dir) ->
    case lists:reverse(filename:split(Dir)) of
        ["_build" | Above] -> filename:join(lists:reverse(Above));
        [_Profile, "_build" | Above] -> filename:join(lists:reverse(Above));
        _ -> Dir
    end.

of_rebar3(Root) ->
    case filelib:is_regular(filename:join(Root, "rebar.config")) of
        true -> named(Root, [{name(File), Dir} || Dir <- app_dirs(Root), File <- files(Dir, ?APP_FILES), has_source(Dir)]);
        false -> []
    end.

named(Root, []) -> [{none, Root} || files(Root, [["src", {ending, ".erl"}]]) =/= []];
named(_Root, Apps) -> Apps.

name(File) -> hd(string:split(filename:basename(mailbox_audit_files:shown(File)), ".app.src")).

app_dirs(Root) ->
    lists:uniq([mailbox_audit_files:absolute(filename:join(Root, Dir)) || Pattern <- patterns(Root), Dir <- matching(Pattern, Root)]).

%% A config that a script makes is not read.
patterns(Root) ->
    case mailbox_audit_files:read(filename:join(Root, "rebar.config")) of
        {ok, Text} -> project_app_dirs(terms(Text));
        {error, _} -> ?APP_DIRS
    end.

project_app_dirs(Terms) ->
    case [Dirs || {project_app_dirs, [_ | _] = Dirs} <- Terms] of
        [Dirs | _] -> [Dir || Dir <- Dirs, io_lib:printable_unicode_list(Dir)];
        [] -> ?APP_DIRS
    end.

terms(Text) -> terms(unicode:characters_to_list(Text), 1).

terms(Chars, Line) when is_list(Chars) ->
    case erl_scan:tokens([], Chars, Line) of
        {done, {ok, Tokens, Next}, Rest} when is_list(Rest) ->
            case erl_parse:parse_term(Tokens) of
                {ok, Term} -> [Term | terms(Rest, Next)];
                {error, _} -> terms(Rest, Next)
            end;
        _ -> []
    end;
terms(_, _Line) -> [].

matching(Pattern, Root) ->
    try filelib:wildcard(Pattern, Root)
    catch error:_ -> []
    end.

%% An umbrella is none itself.
of_mix(Root) ->
    case config(Root) of
        #{apps_path := Apps} -> [App || File <- files(Root, [[Apps, any, "mix.exs"]]), App <- of_mix(filename:dirname(File))];
        #{app := Name} -> [{Name, Root} || has_source(Root)];
        #{} -> []
    end.

config(Root) ->
    case mailbox_audit_files:read(filename:join(Root, "mix.exs")) of
        {ok, Text} -> maps:from_list([{Key, Value} || {Key, Pattern} <- [{apps_path, "\\bapps_path:\\s*\"([^\"]+)\""}, {app, "\\bapp:\\s*:(\\w+)"}],
                                                      {match, [Value]} <- [re:run(Text, Pattern, [{capture, all_but_first, list}])]]);
        {error, _} -> #{}
    end.

has_source(Dir) ->
    files(Dir, [[Folder | Deeper] ++ [{ending, Ending}] || Folder <- ["src", "lib"], Deeper <- [[], [any], [any, any]], Ending <- ?SOURCES]) =/= [].

files(Dir, Ways) -> [File || Steps <- Ways, {ok, File} <- mailbox_audit_files:below(Dir, Steps)].

%% @doc The folders of those applications of which no module was found.
-spec not_among([own()], [mailbox_audit_beam:beam()]) -> [file:filename_all()].
not_among(Own, Found) ->
    Files = [File || {File, _} <- Found],
    Ebins = lists:uniq([filename:dirname(File) || File <- Files]),
    [Dir || {Name, Dir} <- Own, not has_module(Name, Dir, Files), not lists:any(fun(Ebin) -> is_ebin_of(Name, Dir, Ebin) end, Ebins)].

has_module(none, Dir, Files) ->
    Sources = [filename:basename(mailbox_audit_files:shown(Source), ".erl") || Source <- files(Dir, [["src", {ending, ".erl"}]])],
    lists:any(fun(File) -> lists:member(filename:rootname(filename:basename(File)), Sources) end, Files);
has_module(_Name, _Dir, _Files) -> false.

%% In a release the folder has a version.
is_ebin_of(Name, Dir, Ebin) ->
    mailbox_audit_files:absolute(Ebin) =:= mailbox_audit_files:shown(filename:join(Dir, "ebin"))
        orelse (Name =/= none andalso is_called(Name, filename:basename(filename:dirname(Ebin)))).

is_called(Name, Application) -> Application =:= Name orelse lists:prefix(Name ++ "-", Application).
