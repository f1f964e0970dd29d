%% @doc The commits of a git repository along first parents: a merged branch counts as its merge commit.
-module(ertslab_history).

-export([between/3, id/2, short/1, format_error/1]).
-export_type([commit/0, reason/0]).

%% `date' is in ISO 8601. A subject may be in any encoding; here it is text.
-type commit() :: #{id := string(), date := binary(), subject := binary()}.
-type reason() :: {not_before, First :: string(), Last :: string(), Repository :: file:filename()} | {no_folder, file:filename()}
                | {no_revision, Repository :: file:filename(), Revision :: string()}.

-define(SHORT, 10).

%% @doc The commits after the first revision up to the second, the oldest first. Fails if a revision
%% does not exist, or if the second does not descend from the first.
-spec between(file:filename(), string(), string()) -> [commit(), ...].
between(Repository, First, Last) ->
    From = id(Repository, First),
    To = id(Repository, Last),
    follows(Repository, From, To) orelse ertslab_error:usage(?MODULE, {not_before, First, Last, Repository}),
    {ok, Text} = ertslab_revision:git(Repository, ["log", "--first-parent", "--reverse", "--no-show-signature", "--encoding=UTF-8",
                                                   "--format=%H%x00%cI%x00%s", From ++ ".." ++ To]),
    [commit(Line) || Line <- binary:split(Text, <<"\n">>, [global, trim_all])].

follows(_, Same, Same) -> false;
follows(Repository, From, To) ->
    {ok, <<>>} =:= ertslab_revision:git(Repository, ["merge-base", "--is-ancestor", From, To]).

commit(Line) ->
    [Id, Date, Subject] = binary:split(Line, <<"\0">>, [global]),
    #{id => binary_to_list(Id), date => Date, subject => ertslab_text:foreign(Subject)}.

%% @doc The full hash of a revision's commit.
-spec id(file:filename(), string()) -> string().
id(Repository, Revision) ->
    filelib:is_dir(Repository) orelse ertslab_error:usage(?MODULE, {no_folder, Repository}),
    case ertslab_revision:git(Repository, ["rev-parse", "--verify", "--quiet", Revision ++ "^{commit}"]) of
        {ok, Text} -> string:trim(binary_to_list(Text));
        {error, _} -> ertslab_error:usage(?MODULE, {no_revision, Repository, Revision})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({not_before, First, Last, Repository}) -> [First, " does not come before ", Last, " in ", Repository];
format_error({no_folder, Repository}) -> [Repository, ": there is no such folder"];
format_error({no_revision, Repository, Revision}) -> [Repository, " has no revision '", Revision, "'"].

%% @doc The abbreviated hash of a commit.
-spec short(string()) -> string().
short(Id) -> lists:sublist(Id, ?SHORT).
