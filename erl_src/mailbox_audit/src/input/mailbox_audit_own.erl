%% @doc The applications that a project of rebar3 or mix has of its own, by its sources: these must be built, whatever else is.
-module(mailbox_audit_own).

-export([applications/1, not_among/2]).

%% Where rebar3 looks for them, if its config does not say otherwise.
-define(APP_DIRS, ["apps/*", "lib/*", "."]).
-define(APP_FILES, [".app.src", ".app.src.script"]).
-define(SOURCES, [".erl", ".xrl", ".yrl", ".ex"]).
-define(DEEPER, [[], [any], [any, any]]).

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
        true -> named(Root, [{name(File), Dir} || Dir <- app_dirs(Root), File <- files(Dir, app_files(Root, Dir)), has_source(Root, Dir)]);
        false -> []
    end.

named(Root, []) -> nameless(Root, Root);
named(_Root, Apps) -> Apps.

nameless(Root, Dir) -> [{none, Dir} || modules(Root, Dir) =/= []].

app_files(Root, Dir) -> [Folder ++ [{ending, Ending}] || Folder <- erlang_dirs(Root, Dir), Ending <- ?APP_FILES].

name(File) -> hd(string:split(filename:basename(mailbox_audit_files:shown(File)), ".app.src")).

app_dirs(Root) ->
    lists:uniq([mailbox_audit_files:absolute(filename:join(Root, Dir)) || Pattern <- patterns(Root), Dir <- matching(Pattern, Root)]).

%% A config that a script makes is not read.
rebar_config(Dir) ->
    case mailbox_audit_files:read(filename:join(Dir, "rebar.config")) of
        {ok, Text} -> terms(Text);
        {error, _} -> []
    end.

%% The folders of sources below that of an application, as steps: OTP's, and those that a config of rebar3 names.
erlang_dirs(Root, Dir) ->
    Terms = lists:append([rebar_config(Config) || Config <- lists:uniq([Root, Dir])]),
    Options = lists:append([proper(Given) || {erl_opts, Given} <- Terms]),
    [["src"] | [filename:split(Name) || {src_dirs, Dirs} <- Terms ++ Options, Each <- proper(Dirs), Name <- folder_name(Each)]].

folder_name({Name, _Options}) -> folder_name(Name);
folder_name(Name) -> [Name || io_lib:printable_unicode_list(Name), Name =/= ""].

%% A config may hold any term.
proper(List) ->
    try length(List) of
        _ -> List
    catch error:badarg -> []
    end.

patterns(Root) -> project_app_dirs(rebar_config(Root)).

project_app_dirs(Terms) ->
    case [Dirs || {project_app_dirs, Given} <- Terms, [_ | _] = Dirs <- [proper(Given)]] of
        [Dirs | _] -> [Dir || Dir <- Dirs, io_lib:printable_unicode_list(Dir)];
        [] -> ?APP_DIRS
    end.

%% The last of them may end with the file.
terms(Text) -> terms(unicode:characters_to_list([Text, $\n]), 1).

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

%% An umbrella is none itself. A name that is no literal is not known.
of_mix(Root) ->
    case config(Root) of
        #{apps_path := Apps} -> [App || File <- files(Root, [[Apps, any, "mix.exs"]]), App <- of_mix(filename:dirname(File))];
        #{app := Name} -> [{Name, Root} || has_source(Root, Root)];
        #{is_there := true} -> nameless(Root, Root);
        #{is_there := false} -> []
    end.

config(Dir) ->
    case mailbox_audit_files:read(filename:join(Dir, "mix.exs")) of
        {ok, Text} ->
            Code = re:replace(Text, "(^|\\s)#(?!\\{).*$", "", [global, multiline, {return, binary}]), % without comments
            Options = [{apps_path, "\\bapps_path:\\s*\"([^\"]+)\""}, {app, "\\bapp:\\s*:(\\w+)"}],
            Found = [{Key, Value} || {Key, Pattern} <- Options, {ok, Value} <- [first(Code, Pattern)]],
            maps:from_list([{is_there, true}, {paths, paths(Code)} | Found]);
        {error, _} -> #{is_there => false}
    end.

%% A list that is no literal is that of a function, and mostly for tests.
paths(Code) ->
    {ok, List} = first(Code, "\\belixirc_paths:\\s*\\[([^\\]]*)\\]|$"),
    case re:run(List, "\"([^\"]+)\"", [global, {capture, all_but_first, list}]) of
        {match, Names} -> lists:append(Names);
        nomatch -> []
    end.

first(Code, Pattern) ->
    case re:run(Code, Pattern, [{capture, [1], list}]) of
        {match, [Value]} -> {ok, Value};
        nomatch -> none
    end.

has_source(Root, Dir) -> sources(mix_dirs(Dir) ++ erlang_dirs(Root, Dir), Dir, ?SOURCES) =/= [].

%% Those that mix compiles.
mix_dirs(Dir) -> [["lib"] | [filename:split(Name) || Name <- maps:get(paths, config(Dir), [])]].

sources(Folders, Dir, Endings) ->
    files(Dir, [Folder ++ Deeper ++ [{ending, Ending}] || Folder <- Folders, Deeper <- ?DEEPER, Ending <- Endings]).

%% The modules that the sources are of, as far as their names are to be seen.
modules(Root, Dir) ->
    [filename:basename(mailbox_audit_files:shown(Source), ".erl") || Source <- sources(erlang_dirs(Root, Dir), Dir, [".erl"])]
        ++ lists:append([defined(mailbox_audit_files:read(Source)) || Source <- sources(mix_dirs(Dir), Dir, [".ex"])]).

defined({ok, Text}) ->
    case re:run(Text, "^\\s*def(?:module|protocol)\\s+([A-Z][A-Za-z0-9_.]*)", [global, multiline, {capture, all_but_first, list}]) of
        {match, Names} -> ["Elixir." ++ Name || [Name] <- Names];
        nomatch -> []
    end;
defined({error, _}) -> [].

files(Dir, Ways) -> [File || Steps <- Ways, {ok, File} <- mailbox_audit_files:below(Dir, Steps)].

%% @doc The folders of those applications of which no module was found.
-spec not_among([own()], [mailbox_audit_beam:beam()]) -> [file:filename_all()].
not_among(Own, Found) ->
    Files = [File || {File, _} <- Found],
    Ebins = lists:uniq([filename:dirname(File) || File <- Files]),
    [Dir || {Name, Dir} <- Own, not has_module(Name, Dir, Files), not lists:any(fun(Ebin) -> is_ebin_of(Name, Dir, Ebin) end, Ebins)].

has_module(none, Dir, Files) ->
    Own = modules(Dir, Dir),
    lists:any(fun(File) -> lists:member(filename:rootname(filename:basename(File)), Own) end, Files);
has_module(_Name, _Dir, _Files) -> false.

%% In a release the folder has a version.
is_ebin_of(Name, Dir, Ebin) ->
    mailbox_audit_files:absolute(Ebin) =:= mailbox_audit_files:shown(filename:join(Dir, "ebin"))
        orelse (Name =/= none andalso is_called(Name, filename:basename(filename:dirname(Ebin)), Ebin)).

%% What follows the name may be that of another application: `shop-web' is not `shop'.
is_called(Name, Name, _Ebin) -> true;
is_called(Name, Application, Ebin) ->
    case string:prefix(Application, Name ++ "-") of
        nomatch -> false;
        Version -> re:run(Version, "^v?[0-9]", [{capture, none}]) =:= match orelse filelib:is_regular(filename:join(Ebin, Name ++ ".app"))
    end.
