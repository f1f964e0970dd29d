%% @doc The applications that a project of rebar3 or mix has of its own, by its sources: these must be built, whatever else is.
-module(mailbox_audit_own).

-export([applications/1, not_among/2, not_compiled/2, outdated/3]).

%% Where rebar3 looks for them, if its config does not say otherwise.
-define(APP_DIRS, ["apps/*", "lib/*", "."]).
-define(APP_FILES, [".app.src", ".app.src.script"]).
%% Each makes a module of its name, but for a parser that is given another one.
-define(ERLANG, [".erl", ".xrl", ".yrl"]).
%% What lies beside sources. Any other file may be the source of a language whose compiler is a plugin.
-define(NO_SOURCES, [".hrl", ".md", ".txt" | ?APP_FILES]).
%% What is built or fetched, where a folder of sources is that of the whole project.
-define(NO_FOLDERS, ["_build", "_checkouts", "deps"]).

-type own() :: {Name :: string() | none, Dir :: file:filename_all(), Erlang :: [{file:filename_all(), Modules :: [string()]}]}.
%% Without a name it is told by its modules. Erlang: its sources that each make one of these modules.

%% @doc The applications of the project of a folder: its own, that around its `_build', or that around a profile there. Those without a
%% source are not among them. Sources are sought at any depth, and links to folders are not followed there.
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
        true -> named(Root, [own(name(File), Root, Dir) || Dir <- app_dirs(Root), File <- files(Dir, app_files(Root, Dir)),
                                                           has_source(Root, Dir)]);
        false -> []
    end.

named(Root, []) -> nameless(Root, Root);
named(_Root, Apps) -> Apps.

nameless(Root, Dir) -> [own(none, Root, Dir) || modules(Root, Dir) =/= []].

own(Name, Root, Dir) ->
    Parsers = [module_name(File) || {yrl_opts, Options} <- configs(Root, Dir), {parserfile, File} <- proper(Options),
                                    io_lib:printable_unicode_list(File)],
    {Name, Dir, [{Source, [module_name(Source) | [Parser || ends([".yrl"], file_name(Source)), Parser <- Parsers]]}
                 || Source <- ending(?ERLANG, sources(compiled_dirs(given_dirs(Root, Dir)), Dir))]}.

app_files(Root, Dir) -> [Folder ++ [{ending, Ending}] || {Folder, _} <- erlang_dirs(Root, Dir), Ending <- ?APP_FILES].

name(File) -> hd(string:split(filename:basename(mailbox_audit_files:shown(File)), ".app.src")).

app_dirs(Root) ->
    lists:uniq([mailbox_audit_files:absolute(filename:join(Root, Dir)) || Pattern <- patterns(Root), Dir <- matching(Pattern, Root)]).

configs(Root, Dir) -> lists:append([rebar_config(Each) || Each <- lists:uniq([Root, Dir])]).

%% A config that a script makes is not read.
rebar_config(Dir) ->
    case mailbox_audit_files:read(filename:join(Dir, "rebar.config")) of
        {ok, Text} -> terms(Text);
        {error, _} -> []
    end.

%% The folders of sources below that of an application, as steps, and whether what is deeper counts: OTP's, and those that it names.
erlang_dirs(Root, Dir) -> lists:uniq([{["src"], deep} | given_dirs(Root, Dir)]).

%% Those that it names are compiled in place of OTP's.
compiled_dirs([]) -> [{["src"], deep}];
compiled_dirs(Given) -> Given.

%% In a config of rebar3, or for the Erlang of mix. (What `extra_src_dirs' of rebar3 names is compiled elsewhere, as for tests.)
given_dirs(Root, Dir) ->
    Terms = configs(Root, Dir),
    Options = lists:append([proper(Given) || {erl_opts, Given} <- Terms]),
    [{filename:split(Name), depth(Each)} || {src_dirs, Dirs} <- Terms ++ Options, Each <- proper(Dirs), Name <- folder_name(Each)]
        ++ [{filename:split(Name), deep} || Name <- maps:get(erlc_paths, config(Dir), [])].

folder_name({Name, _Options}) -> folder_name(Name);
folder_name(Name) -> [Name || io_lib:printable_unicode_list(Name), Name =/= ""].

depth({_Name, Options}) ->
    case lists:member({recursive, false}, proper(Options)) of
        true -> flat;
        false -> deep
    end;
depth(_Name) -> deep.

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
        #{app := Name} -> [own(Name, Root, Root) || has_source(Root, Root)];
        #{is_there := true} -> nameless(Root, Root);
        #{is_there := false} -> []
    end.

config(Dir) ->
    case mailbox_audit_files:read(filename:join(Dir, "mix.exs")) of
        {ok, Text} ->
            Code = re:replace(Text, "(^|\\s)#(?!\\{).*$", "", [global, multiline, {return, binary}]), % without comments
            Options = [{apps_path, "\\bapps_path:\\s*\"([^\"]+)\""}, {app, "\\bapp:\\s*:(\\w+)"}],
            Found = [{Key, Value} || {Key, Pattern} <- Options, {ok, Value} <- [first(Code, Pattern)]],
            Paths = [{elixirc_paths, paths("elixirc_paths", Code)}, {erlc_paths, paths("erlc_paths", Code)}],
            maps:from_list([{is_there, true} | Paths ++ Found]);
        {error, _} -> #{is_there => false}
    end.

%% A list that is no literal is that of a function, and mostly for tests.
paths(Option, Code) ->
    {ok, List} = first(Code, "\\b" ++ Option ++ ":\\s*\\[([^\\]]*)\\]|$"),
    case re:run(List, "\"([^\"]+)\"", [global, {capture, all_but_first, list}]) of
        {match, Names} -> lists:append(Names);
        nomatch -> []
    end.

first(Code, Pattern) ->
    case re:run(Code, Pattern, [{capture, [1], list}]) of
        {match, [Value]} -> {ok, Value};
        nomatch -> none
    end.

%% rebar3 and mix have no list of the languages that a plugin compiles; all but Elixir have their sources in the folders of Erlang.
has_source(Root, Dir) ->
    lists:any(fun is_source/1, sources(erlang_dirs(Root, Dir), Dir))
        orelse ending([".ex"], sources(mix_dirs(Dir), Dir)) =/= []
        orelse ending([".asn1"], sources([{["asn1"], deep}], Dir)) =/= [].

is_source(File) ->
    Name = file_name(File),
    not lists:prefix(".", Name) andalso filename:extension(Name) =/= "" andalso not ends(?NO_SOURCES, Name).

%% Those that mix compiles.
mix_dirs(Dir) -> [{["lib"], deep} | [{filename:split(Name), deep} || Name <- maps:get(elixirc_paths, config(Dir), [])]].

sources(Folders, Dir) ->
    [File || {Folder, Depth} <- Folders, Path <- files(Dir, [Folder]),
             File <- mailbox_audit_files:tree(Path, fun(Name) -> Depth =:= deep andalso is_source_folder(Name) end)].

is_source_folder(Name) -> not lists:prefix(".", Name) andalso not lists:member(Name, ?NO_FOLDERS).

%% An editor's copy of a file begins with a dot.
ending(Endings, Files) -> [File || File <- Files, Name <- [file_name(File)], not lists:prefix(".", Name), ends(Endings, Name)].

ends(Endings, Name) -> lists:any(fun(Ending) -> lists:suffix(Ending, string:lowercase(Name)) end, Endings).

file_name(File) -> filename:basename(mailbox_audit_files:shown(File)).

module_name(File) -> filename:rootname(file_name(File)).

%% The modules that the sources are of, as far as their names are to be seen.
modules(Root, Dir) ->
    [module_name(Source) || Source <- ending([".lfe" | ?ERLANG], sources(erlang_dirs(Root, Dir), Dir))]
        ++ lists:append([defined(mailbox_audit_files:read(Source)) || Source <- ending([".ex"], sources(mix_dirs(Dir), Dir))]).

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
    Ebins = ebins(Found),
    lists:uniq([Dir || {Name, Dir, _} <- Own, not has_module(Name, Dir, Files),
                       not lists:any(fun(Ebin) -> is_ebin_of(Name, Dir, Ebin) end, Ebins)]).

%% @doc The sources of Erlang of those applications that none of the modules found is of, wherever it lies.
-spec not_compiled([own()], [mailbox_audit_beam:beam()]) -> [file:filename_all()].
not_compiled(Own, Found) ->
    Modules = maps:from_list([{module_name(File), []} || {File, _} <- Found]),
    lists:uniq([Source || {_, _, Sources} <- Own, {Source, Names} <- Sources,
                        not lists:any(fun(Name) -> is_map_key(Name, Modules) end, Names)]).

%% @doc The sources that differ from their module, or may do so: of those applications, or of the folder itself where it is an application
%% of neither rebar3 nor mix. A folder that has modules alone has the sources that these name.
-spec outdated([own()], file:filename_all(), [mailbox_audit_beam:beam()]) -> [{file:filename_all(), mailbox_audit_outdated:why()}].
outdated([], Dir, Found) ->
    Sources = with_ebins([own(none, Dir, Dir)], Found),
    mailbox_audit_outdated:sources(case Sources of [] -> mailbox_audit_outdated:named(directly(Dir, Found)); _ -> Sources end, Found);
outdated(Own, _Dir, Found) -> mailbox_audit_outdated:sources(with_ebins(Own, Found), Found).

with_ebins(Own, Found) ->
    Ebins = ebins(Found),
    [{Source, Names, [Ebin || Ebin <- Ebins, is_ebin_of(Name, Dir, Ebin)]} || {Name, Dir, Sources} <- Own, {Source, Names} <- Sources].

ebins(Found) -> lists:uniq([filename:dirname(File) || {File, _} <- Found]).

%% Not those of a whole release, or of an installed OTP.
directly(Dir, Found) ->
    [Beam || {File, _} = Beam <- Found, lists:member(filename:dirname(File), [Dir, filename:join(Dir, "ebin")])].

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
