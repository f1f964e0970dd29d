%% @doc A revision of a git repository of OTP, as `./build.sh otp --git PATH --rev REVISION' builds it: a word
%% `git:PATH@REVISION', or `git:PATH@REVISION+VARIANT' with the patches of a variant on top.
-module(ertslab_revision).

-export([is_one/1, find/1, built/1, git/2]).

-define(PREFIX, "git:").
%% As scripts/otp_revisions.bash names an emulator: a letter, and so much of the commit.
-define(DIGITS, 10).

%% @doc Whether the word names a revision.
-spec is_one(string()) -> boolean().
is_one(Word) -> lists:prefix(?PREFIX, Word).

%% @doc Its label and its VM. Fails with a sentence where there is none, and where it is not built.
-spec find(string()) -> {Label :: binary(), ertslab_inventory:vm()}.
find(?PREFIX ++ Rest = Word) ->
    case string:split(Rest, "@", trailing) of
        [Path, Revision] when Path =/= "", Revision =/= "" ->
            Repository = ertslab_paths:absolute(Path),
            {ertslab_error:text(Revision), found(Word, Path, Revision, names(Repository, Revision))};
        _ -> ertslab_error:usage("~ts: write git:PATH@REVISION", [Word])
    end.

found(Word, _, _, []) -> ertslab_error:usage("~ts: there is no such revision", [Word]);
found(Word, Path, Revision, [_ | _] = Names) ->
    case lists:flatmap(fun built/1, Names) of
        [VM | _] -> VM;
        [] ->
            ertslab_error:failure("~ts is not built; './build.sh otp --git ~ts --rev ~ts' builds it.", [Word, Path, Revision])
    end.

%% @doc The VM of that name among the revisions that are built, if it is.
-spec built(binary()) -> [ertslab_inventory:vm()].
built(Name) -> [maps:remove(builds, VM) || #{name := N} = VM <- ertslab_inventory:of_revisions(), N =:= Name].

%% What it may be called. A + can belong to a branch's name.
names(Repository, Revision) ->
    Readings = [{Revision, ""} | [{Before, "_" ++ Variant} || [Before, Variant] <- [string:split(Revision, "+", trailing)]]],
    [ertslab_error:text(["g", lists:sublist(Commit, ?DIGITS), Suffix])
     || {Reading, Suffix} <- Readings, {ok, Commit} <- [commit(Repository, Reading)]].

commit(Repository, Revision) ->
    case git(Repository, ["rev-parse", "--verify", "--quiet", Revision ++ "^{commit}"]) of
        {ok, Text} -> {ok, string:trim(unicode:characters_to_list(Text))};
        {error, _} -> none
    end.

%% @doc What git says in that repository.
-spec git(file:filename(), [string(), ...]) -> {ok, binary()} | {error, {status, integer(), binary()} | timeout}.
git(Repository, Words) ->
    ertslab_os_command:run([ertslab_os_command:find("git", "git"), "-C", Repository | Words], "/dev/null", #{}).
