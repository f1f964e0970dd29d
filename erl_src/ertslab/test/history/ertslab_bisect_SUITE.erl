%% The commands `bisect' and `follow' before anything is built: which words they refuse, and which folders they go on with. Those
%% that build are tests/revisions.bats.
-module(ertslab_bisect_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(suite_folder, [dir/1]).

-export([all/0, init_per_suite/1, end_per_suite/1, wrong_words_are_refused_before_anything_is_built/1,
         revisions_that_are_not_in_order_are_refused/1,
         a_folder_of_another_question_is_refused/1, what_does_not_build_ends_a_bisection/1, a_commit_is_built_by_the_script/1]).

all() ->
    [wrong_words_are_refused_before_anything_is_built, revisions_that_are_not_in_order_are_refused, a_folder_of_another_question_is_refused,
     what_does_not_build_ends_a_bisection, a_commit_is_built_by_the_script].

%% A repository of three commits, and a checkout whose build.sh fails and notes what it is asked for.
init_per_suite(Config) ->
    Repository = dir(Config),
    {ok, _} = git(Repository, ["init", "-q", "-b", "main"]),
    [{ok, _} = git(Repository, ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", Subject])
     || Subject <- ["one", "two", "three"]],
    Top = dir(Config),
    Script = filename:join(Top, "build.sh"),
    ok = file:write_file(Script, "#!/bin/sh\necho \"$@\" >>\"${0%/*}/asked\"\nexit 1\n"),
    ok = file:change_mode(Script, 8#755),
    [{repository, Repository}, {top, Top} | Config].

end_per_suite(_) -> ok.

git(Repository, Words) -> ertslab_revision:git(Repository, Words).

wrong_words_are_refused_before_anything_is_built(Config) ->
    [begin
         Out = filename:join(dir(Config), "out"),
         command_line:refused(2, Text, bisect(Config, "main~2", "main", ["--out", Out | Words])),
         ?assertNot(filelib:is_dir(Out))
     end || {Text, Words} <- [{"not both", ["--quick", "--pairs", "20"]}, {"there is no parameter 'fly'", ["--param", "fly=1"]},
                              {"fly", ["--metric", "fly"]}, {"is not a duration", ["--budget", "soon"]}]],
    command_line:refused(2, "there is no experiment 'fly'",
                         ["bisect", "fly", "--git", proplists:get_value(repository, Config), "--good", "main~1", "--bad", "main"]).

revisions_that_are_not_in_order_are_refused(Config) ->
    command_line:refused(2, "main does not come before main~1", bisect(Config, "main", "main~1", [])),
    command_line:refused(2, "main does not come before main", bisect(Config, "main", "main", [])),
    command_line:refused(2, "has no revision 'nothing'", bisect(Config, "nothing", "main", [])),
    command_line:refused(2, "there is no such folder",
                         ["bisect", "length", "--git", filename:join(dir(Config), "none"), "--good", "a", "--bad", "b"]).

a_folder_of_another_question_is_refused(Config) ->
    Out = dir(Config),
    ok = file:write_file(filename:join(Out, "notes"), "mine"),
    command_line:refused(1, "holds other files", bisect(Config, "main~2", "main", ["--quick", "--out", Out])),
    ok = file:delete(filename:join(Out, "notes")),
    in_place(Config, fun() ->
                             command_line:ends(1, "", bisect(Config, "main~2", "main", ["--quick", "--out", Out])),
                             command_line:refused(1, "was begun with other arguments; choose another --out.",
                                                  bisect(Config, "main~2", "main", ["--pairs", "20", "--out", Out]))
                     end).

what_does_not_build_ends_a_bisection(Config) ->
    Said = in_place(Config, fun() -> command_line:ends(1, " does not build, and without it there is nothing to compare with.",
                                                       bisect(Config, "main~2", "main", ["--quick", "--out", dir(Config)])) end),
    {ok, Commit} = git(proplists:get_value(repository, Config), ["rev-parse", "main~2"]),
    ?assertNotEqual(nomatch, string:find(Said, "Building " ++ ertslab_history:short(unicode:characters_to_list(Commit)))).

a_commit_is_built_by_the_script(Config) ->
    Repository = proplists:get_value(repository, Config),
    {ok, Text} = git(Repository, ["rev-parse", "main"]),
    Id = unicode:characters_to_list(string:trim(Text)),
    in_place(Config, fun() -> {failed, _} = command_line:printed(fun() -> ertslab_revision_build:build(Repository, Id) end) end),
    {ok, Asked} = file:read_file(filename:join(proplists:get_value(top, Config), "asked")),
    ?assertEqual(unicode:characters_to_binary(["otp --git ", Repository, " --rev ", Id]),
                 lists:last(binary:split(Asked, ~"\n", [global, trim_all]))).

bisect(Config, Good, Bad, More) -> ["bisect", "length", "--git", proplists:get_value(repository, Config), "--good", Good, "--bad", Bad,
                                    "--param", "cells=1000" | More].

in_place(Config, Fun) ->
    Top = os:getenv("ERTSLAB_TOP"),
    true = os:putenv("ERTSLAB_TOP", proplists:get_value(top, Config)),
    try Fun() after os:putenv("ERTSLAB_TOP", Top) end.
