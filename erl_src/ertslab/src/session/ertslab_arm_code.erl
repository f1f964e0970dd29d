%% @doc The code of an arm: a built project of rebar3 or mix, or a folder of modules.
-module(ertslab_arm_code).

-export([folder/1]).

%% Where the two tools put what they build, then a folder of modules.
-define(PATTERNS, ["_build/default/lib/*/ebin", "_build/prod/lib/*/ebin", "_build/dev/lib/*/ebin", "ebin", ""]).

%% @doc The folders of its modules, by the first of these patterns that matches, and a digest of all of them.
-spec folder(string()) -> #{folders := [file:filename(), ...], digest := binary()}.
folder(Given) ->
    Dir = ertslab_paths:absolute(Given),
    filelib:is_dir(Dir) orelse ertslab_error:usage("~ts: there is no such folder of code", [Given]),
    case [Folders || Pattern <- ?PATTERNS, [_ | _] = Folders <- [with_modules(Dir, Pattern)]] of
        [Folders | _] -> #{folders => Folders, digest => digest(lists:append([modules(Folder) || Folder <- Folders]))};
        [] -> ertslab_error:failure("~ts: nothing is built there; run 'rebar3 compile' or 'mix compile' in it first.", [Given])
    end.

with_modules(Dir, "") -> [Dir || modules(Dir) =/= []];
with_modules(Dir, Pattern) -> [Folder || Folder <- ertslab_paths:matching(Dir, Pattern), modules(Folder) =/= []].

modules(Folder) -> ertslab_paths:matching(Folder, "*.beam").

digest(Files) ->
    Read = [{filename:basename(File), file:read_file(File)} || File <- Files],
    string:lowercase(binary:encode_hex(crypto:hash(sha256, term_to_binary(Read)))).
