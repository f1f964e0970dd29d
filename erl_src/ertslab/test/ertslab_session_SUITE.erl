%% What survives of a comparison that was stopped, and what is refused.
-module(ertslab_session_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, new_folder_is_empty/1, goes_on_where_it_stopped/1, keeps_the_seed/1,
         drops_a_run_that_was_cut_off/1, refuses_another_plan/1, refuses_a_finished_one/1,
         force_replaces_only_its_own_files/1, refuses_a_foreign_folder/1,
         names_a_damaged_line/1, names_the_lines_that_were_edited/1,
         refuses_a_run_that_is_there_twice/1, refuses_mixed_builds/1, refuses_a_newer_format/1,
         says_that_a_folder_cannot_be_made/1]).

all() ->
    [new_folder_is_empty, goes_on_where_it_stopped, keeps_the_seed, drops_a_run_that_was_cut_off,
     refuses_another_plan, refuses_a_finished_one, force_replaces_only_its_own_files,
     refuses_a_foreign_folder, names_a_damaged_line,
     names_the_lines_that_were_edited, refuses_a_run_that_is_there_twice, refuses_mixed_builds,
     refuses_a_newer_format, says_that_a_folder_cannot_be_made].

new_folder_is_empty(Config) ->
    #{done := Done} = ertslab_session:open(dir(Config, ?FUNCTION_NAME), plan(), false),
    ?assertEqual(#{}, Done).

goes_on_where_it_stopped(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    #{done := Done} = ertslab_session:open(Dir, plan(), false),
    ?assertEqual(#{1 => ~"ok", 2 => ~"crashed"}, Done).

keeps_the_seed(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    #{plan := Plan} = ertslab_session:open(Dir, (plan())#{seed := 99}, false),
    ?assertMatch(#{seed := 7}, Plan).

drops_a_run_that_was_cut_off(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    [Whole, _] = string:split(ertslab_samples:text([sample(3), run(3, ok)]), "\n", trailing),
    ok = file:write_file(samples_file(Dir), string:slice(Whole, 0, string:length(Whole) - 9), [append]),
    Session = ertslab_session:open(Dir, plan(), false),
    ok = ertslab_session:append(Session, [sample(3), run(3, ok)]),
    #{samples := Samples, runs := Runs} = ertslab_session:read(Dir),
    ?assertEqual([1, 3], [N || #{~"run" := N} <- Samples]),
    ?assertEqual([1, 2, 3], [N || #{~"run" := N} <- Runs]).

refuses_another_plan(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    ?assertThrow({failure, _}, ertslab_session:open(Dir, (plan())#{pairs := 30}, false)).

refuses_a_finished_one(Config) ->
    Dir = finished(Config, ?FUNCTION_NAME),
    ?assertThrow({failure, _}, ertslab_session:open(Dir, plan(), false)).

force_replaces_only_its_own_files(Config) ->
    Dir = finished(Config, ?FUNCTION_NAME),
    ok = file:write_file(filename:join(Dir, "notes.md"), "mine"),
    #{done := Done} = ertslab_session:open(Dir, plan(), true),
    ?assertEqual(#{}, Done),
    ?assertEqual({ok, ~"mine"}, file:read_file(filename:join(Dir, "notes.md"))).

refuses_a_foreign_folder(Config) ->
    Dir = dir(Config, ?FUNCTION_NAME),
    ok = filelib:ensure_path(Dir),
    ok = file:write_file(filename:join(Dir, "notes.md"), "mine"),
    ?assertThrow({failure, _}, ertslab_session:open(Dir, plan(), false)).

names_a_damaged_line(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Text} = file:read_file(samples_file(Dir)),
    ok = file:write_file(samples_file(Dir), ["{\"half\":\n", Text]),
    refused_for(~"line 1 ", fun() -> ertslab_session:read(Dir) end).

names_the_lines_that_were_edited(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Text} = file:read_file(samples_file(Dir)),
    ok = file:write_file(samples_file(Dir), string:replace(Text, "1.5", "1.4")),
    refused_for(~"lines 1 to 3 (run 1) are not as they were written",
                fun() -> ertslab_session:read(Dir) end).

refuses_a_run_that_is_there_twice(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Text} = file:read_file(samples_file(Dir)),
    ok = file:write_file(samples_file(Dir), [Text, Text]),
    refused_for(~"run 1 more than once", fun() -> ertslab_session:read(Dir) end).

refuses_mixed_builds(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    Arm = #{label => ~"a", vm => #{build_id => ~"new"}},
    Run = #{~"run" => 2, ~"label" => ~"a", ~"build_id" => ~"old"},
    refused_for(~"run 2 was made by another emulator",
                fun() -> ertslab_session:same_builds(Dir, (plan())#{arms := [Arm]}, [Run]) end).

refuses_a_newer_format(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Text} = file:read_file(ertslab_session:file(Dir, "session.json")),
    Newer = (json:decode(Text))#{~"format" := 2},
    ok = file:write_file(ertslab_session:file(Dir, "session.json"), json:encode(Newer)),
    refused_for(~"newer ertslab", fun() -> ertslab_session:open(Dir, plan(), false) end).

says_that_a_folder_cannot_be_made(Config) ->
    File = dir(Config, ?FUNCTION_NAME),
    ok = file:write_file(File, "a file, where a folder is wanted"),
    ?assertThrow({failure, _}, ertslab_session:open(filename:join(File, "below"), plan(), false)).

refused_for(Words, Fun) ->
    {failure, Sentence} = try Fun() catch throw:Thrown -> Thrown end,
    ?assertMatch({_, _}, binary:match(Sentence, Words), Sentence).

plan() ->
    #{format => 1, experiment => ~"toy", pairs => 20, seed => 7, seed_given => false, command => [~"compare"],
      cases => [#{}], arms => []}.

sample(Run) -> #{type => sample, run => Run, value => 1.5}.

run(Run, Outcome) -> #{type => run, run => Run, outcome => Outcome}.

stopped(Config, Name) ->
    Dir = dir(Config, Name),
    Session = ertslab_session:open(Dir, plan(), false),
    ok = ertslab_session:append(Session, [sample(1), run(1, ok)]),
    ok = ertslab_session:append(Session, [run(2, crashed)]),
    ok = ertslab_session:close(Session),
    Dir.

finished(Config, Name) ->
    Dir = stopped(Config, Name),
    ok = ertslab_session:finish(Dir, [{"summary.json", "{}"}]),
    Dir.

samples_file(Dir) -> ertslab_session:file(Dir, "samples.jsonl").

dir(Config, Name) -> filename:join(proplists:get_value(priv_dir, Config), Name).
