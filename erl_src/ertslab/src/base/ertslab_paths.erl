%% @doc Paths in this checkout.
-module(ertslab_paths).

-export([is_checkout/0, wants_the_lab/1, program/0, written/0, start/0, top/0, build/1, log/1, results/1, absolute/1, name/1, matching/2]).
-export([format_error/1]).
-export_type([reason/0]).

-type reason() :: {wants_the_lab, unicode:chardata()}.

%% @doc Whether this runs from a checkout, and not from the single file that is made of one.
-spec is_checkout() -> boolean().
is_checkout() -> os:getenv("ERTSLAB_TOP") =/= false.

%% @doc Refuses what needs a checkout where this is the single file that is made of one.
-spec wants_the_lab(What :: unicode:chardata()) -> no_return().
wants_the_lab(What) -> ertslab_error:usage(?MODULE, {wants_the_lab, What}).

-spec format_error(reason()) -> unicode:chardata().
format_error({wants_the_lab, What}) -> [What, " needs a clone of ertslab"].

%% @doc How this program is called again from the current folder, quoted for a shell.
-spec program() -> string().
program() ->
    case is_checkout() of
        true -> lists:flatten(ertslab_text:shell_word(launcher()));
        false -> written()
    end.

%% @doc The same in what others read, who have a clone elsewhere.
-spec written() -> string().
written() -> lists:flatten(lists:join($\s, [ertslab_text:shell_word(Word) || Word <- start()])).

%% @doc The words of that, not quoted.
-spec start() -> [file:filename(), ...].
start() ->
    case is_checkout() of
        true -> ["./ertslab"];
        false -> single_file(escript:script_name())
    end.

launcher() ->
    Top = filename:absname(top()),
    case file:get_cwd() of
        {ok, Top} -> "./ertslab";
        _ -> filename:join(Top, "ertslab")
    end.

%% In a container the only `escript' may be that of a release, which is on no PATH. The file is then called by it.
single_file(Script) ->
    case os:find_executable("escript", users_path()) of
        false -> [filename:join(os:getenv("BINDIR", ""), "escript"), Script];
        _ -> [Script]
    end.

%% `erlexec' puts the folders of its own Erlang in front of the PATH.
users_path() ->
    Path = os:getenv("PATH", ""),
    case string:prefix(Path, lists:append([os:getenv("BINDIR", ""), ":", os:getenv("ROOTDIR", ""), "/bin:"])) of
        nomatch -> Path;
        Rest -> Rest
    end.

%% @doc The checkout.
-spec top() -> file:filename().
top() -> os:getenv("ERTSLAB_TOP", ".").

%% @doc Below the folder of what is built.
-spec build(string()) -> file:filename().
build(Name) -> filename:join([top(), "build", Name]).

%% @doc A log beside those of the scripts.
-spec log(string()) -> file:filename().
log(Name) -> filename:join([top(), "build", "log", Name]).

%% @doc Below the folder of results.
-spec results(unicode:chardata()) -> file:filename().
results(Name) -> filename:absname(filename:join([top(), "results", Name])).

%% @doc A path that the user gave, as an absolute one. `~/' is home also after an equals sign, where the shell leaves it.
-spec absolute(string()) -> file:filename().
absolute([$~, $/ | Rest]) -> filename:join(os:getenv("HOME", "/"), Rest);
absolute(Path) -> filename:join([Part || Part <- filename:split(filename:absname(Path)), Part =/= "."]).

%% @doc The name of a folder, also of one that is given as `.' or ends with `..'.
-spec name(file:filename()) -> file:filename().
name(Dir) -> filename:basename(lists:foldl(fun below/2, "/", filename:split(absolute(Dir)))).

below("..", Above) -> filename:dirname(Above);
below(Part, Above) -> filename:join(Above, Part).

%% @doc The files below a folder that match a pattern, sorted. The folder's own name is no part of the pattern, since it may
%% have characters that mean something there, such as brackets.
-spec matching(file:filename(), Pattern :: string()) -> [file:filename()].
matching(Folder, Pattern) -> [filename:join(Folder, File) || File <- lists:sort(filelib:wildcard(Pattern, Folder))].
