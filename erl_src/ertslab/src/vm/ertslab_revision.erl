%% @doc A revision of a git repository of OTP, as `./build.sh otp --git PATH --rev REVISION' builds it. It is written
%% `git:PATH@REVISION', or `git:PATH@REVISION+VARIANT' with the patches of a variant on top.
-module(ertslab_revision).

-export([is_one/1, map_path/2, find/1, built/1, git/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: {no_word, string()} | {no_revision, Word :: string()}
                | {not_built, Word :: string(), Path :: string(), Revision :: string()}.

-define(PREFIX, "git:").
%% The name of an emulator, as in scripts/otp_revisions.bash: a letter, and this many digits of the commit.
-define(DIGITS, 10).

%% @doc Whether the argument names a revision.
-spec is_one(string()) -> boolean().
is_one(Word) -> lists:prefix(?PREFIX, Word).

%% @doc The name with the function applied to the repository's path. A name without a revision stays as it is.
-spec map_path(fun((string()) -> string()), string()) -> string().
map_path(Fun, ?PREFIX ++ Rest = Word) ->
    case string:split(Rest, "@", trailing) of
        [Path, Revision] when Path =/= "" -> ?PREFIX ++ Fun(Path) ++ "@" ++ Revision;
        _ -> Word
    end.

%% @doc Its label and its VM. Fails if there is no such revision, or if it is not built.
-spec find(string()) -> {Label :: binary(), ertslab_inventory:vm()}.
find(?PREFIX ++ Rest = Word) ->
    case string:split(Rest, "@", trailing) of
        [Path, Revision] when Path =/= "", Revision =/= "" ->
            Repository = ertslab_paths:absolute(Path),
            {ertslab_text:binary(Revision), found(Word, Repository, Revision, names(Repository, Revision))};
        _ -> ertslab_error:usage(?MODULE, {no_word, Word})
    end.

found(Word, _, _, []) -> ertslab_error:usage(?MODULE, {no_revision, Word});
found(Word, Repository, Revision, [_ | _] = Names) ->
    case lists:flatmap(fun built/1, Names) of
        [VM | _] -> VM;
        [] -> ertslab_error:failure(?MODULE, {not_built, Word, Repository, Revision})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({no_word, Word}) -> [Word, ": write git:PATH@REVISION"];
format_error({no_revision, Word}) -> [Word, ": there is no such revision"];
format_error({not_built, Word, _, _}) -> [Word, " is not built"].

%% @doc The VM of that name among the revisions that are built, or the empty list.
-spec built(binary()) -> [ertslab_inventory:vm()].
built(Name) -> [maps:remove(builds, VM) || #{name := N} = VM <- ertslab_inventory:of_revisions(), N =:= Name].

%% The possible names. A + can be a part of a branch's name.
names(Repository, Revision) ->
    Readings = [{Revision, ""} | [{Before, "_" ++ Variant} || [Before, Variant] <- [string:split(Revision, "+", trailing)]]],
    [ertslab_text:binary(["g", lists:sublist(Commit, ?DIGITS), Suffix])
     || {Reading, Suffix} <- Readings, {ok, Commit} <- [commit(Repository, Reading)]].

commit(Repository, Revision) ->
    case git(Repository, ["rev-parse", "--verify", "--quiet", Revision ++ "^{commit}"]) of
        {ok, Text} -> {ok, string:trim(unicode:characters_to_list(Text))};
        {error, _} -> none
    end.

%% @doc The output of git in that repository.
-spec git(file:filename(), [string(), ...]) -> {ok, binary()} | {error, {status, integer(), binary()} | timeout}.
git(Repository, Words) ->
    ertslab_os_command:run([ertslab_os_command:find("git", "git"), "-C", Repository | Words], "/dev/null", #{}).
