%% @doc The code of an arm: a built project of rebar3 or mix, or a folder of modules.
-module(ertslab_arm_code).

-export([folder/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {no_folder, string()} | {nothing_built, string()}.

%% Where the two tools put what they build, then a folder of modules.
-define(PATTERNS, ["_build/default/lib/*/ebin", "_build/prod/lib/*/ebin", "_build/dev/lib/*/ebin", "ebin", ""]).

%% @doc The folders of its modules, by the first of these patterns that matches, and a digest of all of them.
-spec folder(string()) -> #{folders := [file:filename(), ...], digest := binary()}.
folder(Given) ->
    Dir = ertslab_paths:absolute(Given),
    filelib:is_dir(Dir) orelse ertslab_error:usage(?MODULE, {no_folder, Given}),
    case [Folders || Pattern <- ?PATTERNS, [_ | _] = Folders <- [with_modules(Dir, Pattern)]] of
        [Folders | _] -> #{folders => Folders, digest => digest(lists:append([modules(Folder) || Folder <- Folders]))};
        [] -> ertslab_error:failure(?MODULE, {nothing_built, Given})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({no_folder, Given}) -> [Given, ": there is no such folder; name that of a built project (of a branch: 'git worktree add FOLDER BRANCH', and build it there)."];
format_error({nothing_built, Given}) -> [Given, ": nothing is built there; run 'rebar3 compile' or 'mix compile' in it first."].

with_modules(Dir, "") -> [Dir || modules(Dir) =/= []];
with_modules(Dir, Pattern) -> [Folder || Folder <- ertslab_paths:matching(Dir, Pattern), modules(Folder) =/= []].

modules(Folder) -> ertslab_paths:matching(Folder, "*.beam").

digest(Files) ->
    Read = [{filename:basename(File), file:read_file(File)} || File <- Files],
    ertslab_sha256:hex(term_to_binary(Read)).
