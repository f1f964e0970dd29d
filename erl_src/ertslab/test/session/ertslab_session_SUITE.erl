%% What survives of a comparison that was stopped, and what is refused.
-module(ertslab_session_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, new_folder_is_empty/1, goes_on_where_it_stopped/1, keeps_the_seed/1,
         drops_a_run_that_was_cut_off/1, refuses_another_plan/1, refuses_a_finished_one/1,
         force_replaces_only_its_own_files/1, force_removes_nothing_before_it_begins/1, force_goes_on_with_nothing/1,
         refuses_a_foreign_folder/1, begins_where_the_plan_was_cut_off/1, refuses_a_damaged_plan/1,
         reads_in_pieces/1, names_a_line_without_end/1, refuses_what_the_memory_cannot_hold/1, names_a_damaged_line/1,
         names_the_lines_that_were_edited/1,
         refuses_a_run_that_is_there_twice/1, refuses_mixed_builds/1, accepts_each_build_of_an_arm/1,
         resumes_a_plan_that_knew_of_one_build/1, refuses_a_newer_format/1, refuses_to_go_on_with_an_older_format/1,
         says_that_a_folder_cannot_be_made/1,
         knows_what_the_same_call_has_finished/1, refuses_other_code/1]).

all() ->
    [new_folder_is_empty, goes_on_where_it_stopped, keeps_the_seed, drops_a_run_that_was_cut_off,
     refuses_another_plan, refuses_a_finished_one, force_replaces_only_its_own_files,
     force_removes_nothing_before_it_begins, force_goes_on_with_nothing, refuses_a_foreign_folder, begins_where_the_plan_was_cut_off,
     refuses_a_damaged_plan, reads_in_pieces, names_a_line_without_end, refuses_what_the_memory_cannot_hold,
     names_a_damaged_line, names_the_lines_that_were_edited, refuses_a_run_that_is_there_twice, refuses_mixed_builds,
     accepts_each_build_of_an_arm, resumes_a_plan_that_knew_of_one_build,
     refuses_a_newer_format, refuses_to_go_on_with_an_older_format, says_that_a_folder_cannot_be_made,
     knows_what_the_same_call_has_finished, refuses_other_code].

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
    ?assertThrow({failure, {ertslab_session, {another, Dir}}}, ertslab_session:open(Dir, (plan())#{pairs := 30}, false)).

refuses_a_finished_one(Config) ->
    Dir = finished(Config, ?FUNCTION_NAME),
    ?assertThrow({failure, {ertslab_session, {finished, Dir}}}, ertslab_session:open(Dir, plan(), false)).

force_replaces_only_its_own_files(Config) ->
    Dir = finished(Config, ?FUNCTION_NAME),
    ok = file:write_file(filename:join(Dir, "notes.md"), "mine"),
    #{done := Done} = ertslab_session:open(Dir, plan(), true),
    ?assertEqual(#{}, Done),
    ?assertEqual({ok, ~"mine"}, file:read_file(filename:join(Dir, "notes.md"))).

%% What comes between may still refuse.
force_removes_nothing_before_it_begins(Config) ->
    Dir = finished(Config, ?FUNCTION_NAME),
    ?assertEqual(new, ertslab_session:prepare(Dir, true)),
    ?assertMatch(#{runs := [_, _]}, ertslab_session:read(Dir)).

%% What an interrupted call says must be true of one with --force, too.
force_goes_on_with_nothing(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    ?assertEqual(new, ertslab_session:prepare(Dir, true)),
    ?assertMatch({unfinished, #{runs := [_, _]}}, ertslab_session:prepare(Dir, false)),
    [?assertMatch({match, _}, re:run(ertslab_error:sentence(Error), "is kept, and .*, without --force, continues\\.$"))
     || Error <- [{ertslab_results, {cannot_write, Dir, enospc, resumes}}, {ertslab_ssh, {lost, "lab"}}]].

refuses_a_foreign_folder(Config) ->
    Dir = dir(Config, ?FUNCTION_NAME),
    ok = filelib:ensure_path(Dir),
    ok = file:write_file(filename:join(Dir, "notes.md"), "mine"),
    ?assertThrow({failure, {ertslab_results, {other_files, Dir}}}, ertslab_session:open(Dir, plan(), false)).

begins_where_the_plan_was_cut_off(Config) ->
    Dir = dir(Config, ?FUNCTION_NAME),
    ok = filelib:ensure_path(Dir),
    ok = file:write_file(ertslab_session:file(Dir, "session.json.part"), "{\"pai"),
    ?assertEqual(new, ertslab_session:prepare(Dir, false)).

refuses_a_damaged_plan(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    File = ertslab_session:file(Dir, "session.json"),
    [begin
         ok = file:write_file(File, Text),
         ?assertThrow({failure, {ertslab_session, {damaged, File}}}, ertslab_session:open(Dir, plan(), false))
     end || Text <- ["", "{\"pai", "[]", "{}", "{\"seed\":null}"]],
    ?assertMatch(#{runs := [_, _]}, ertslab_session:read(Dir)).

%% Lines lie over the ends of the pieces in which the file is read.
reads_in_pieces(Config) ->
    Dir = dir(Config, ?FUNCTION_NAME),
    Session = ertslab_session:open(Dir, plan(), false),
    [ok = ertslab_session:append(Session, [whole_sample(Run, Iteration) || Iteration <- lists:seq(1, 800)] ++ [run(Run, ok)])
     || Run <- lists:seq(1, 40)],
    ok = ertslab_session:close(Session),
    ?assert(filelib:file_size(samples_file(Dir)) > 3_000_000),
    #{samples := Samples, runs := Runs} = ertslab_session:read(Dir),
    ?assertEqual([json:decode(iolist_to_binary(json:encode(maps:without([type, unit], whole_sample(Run, Iteration)))))
                  || Run <- lists:seq(1, 40), Iteration <- lists:seq(1, 800)], Samples),
    ?assertEqual({lists:seq(1, 40), Runs}, {[N || #{~"run" := N} <- Runs], runs_of(Dir)}).

whole_sample(Run, Iteration) ->
    #{type => sample, run => Run, 'case' => 0, arm => 1, pair => Run, metric => walk, iteration => Iteration,
      value => Run + Iteration / 8, unit => ns}.

%% As after a power failure; its 2 GB are not looked at, since no line is so long.
names_a_line_without_end(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Device} = file:open(samples_file(Dir), [read, write, raw]),
    {ok, _} = file:position(Device, 2 bsl 30),
    ok = file:truncate(Device),
    ok = file:close(Device),
    ?assertThrow({failure, {ertslab_samples, {no_sample, _, 6}}}, runs_of(Dir)).

refuses_what_the_memory_cannot_hold(_) ->
    ?assertEqual([ok, ok], [ertslab_memory_limit:to_read("samples.jsonl", 5 bsl 30, Available) || Available <- [5 bsl 30, null]]),
    Reason = {too_large_to_read, "samples.jsonl", 5 bsl 30, 2 bsl 30},
    ?assertThrow({failure, {ertslab_memory_limit, Reason}}, ertslab_memory_limit:to_read("samples.jsonl", 5 bsl 30, 2 bsl 30)),
    ?assertMatch(<<"samples.jsonl: reading it needs about 5.0 GiB of memory, and 2.0 GiB are available", _/binary>>,
                 ertslab_error:sentence({ertslab_memory_limit, Reason})).

names_a_damaged_line(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Text} = file:read_file(samples_file(Dir)),
    ok = file:write_file(samples_file(Dir), ["{\"half\":\n", Text]),
    ?assertThrow({failure, {ertslab_samples, {no_sample, _, 1}}}, ertslab_session:read(Dir)).

names_the_lines_that_were_edited(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Text} = file:read_file(samples_file(Dir)),
    ok = file:write_file(samples_file(Dir), string:replace(Text, "1.5", "1.4")),
    ?assertThrow({failure, {ertslab_samples, {edited, _, 1, 3, 1}}}, ertslab_session:read(Dir)).

refuses_a_run_that_is_there_twice(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Text} = file:read_file(samples_file(Dir)),
    ok = file:write_file(samples_file(Dir), [Text, Text]),
    ?assertThrow({failure, {ertslab_samples, {run_twice, _, 1}}}, ertslab_session:read(Dir)).

refuses_mixed_builds(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    Arm = #{label => ~"a", vm => #{build_id => ~"new"}},
    Run = #{~"run" => 2, ~"label" => ~"a", ~"build_id" => ~"old"},
    ?assertThrow({failure, {ertslab_session, {other_emulator, _, 2}}},
                 ertslab_session:same_builds(Dir, (plan())#{arms := [Arm]}, [Run])).

accepts_each_build_of_an_arm(Config) ->
    Builds = [#{build_id => Id, sha256 => ~"", executable => "beam"} || Id <- [~"one", ~"two"]],
    Plan = (plan())#{arms := [#{label => ~"a", vm => #{build_id => ~"one", builds => Builds}}]},
    Dir = dir(Config, ?FUNCTION_NAME),
    Runs = [#{~"run" => Run, ~"label" => ~"a", ~"build_id" => Id}
            || {Run, Id} <- lists:enumerate([~"one", ~"two", ~"one", ~"three"])],
    ?assertEqual(ok, ertslab_session:same_builds(Dir, Plan, lists:droplast(Runs))),
    ?assertThrow({failure, {ertslab_session, {other_emulator, _, 4}}}, ertslab_session:same_builds(Dir, Plan, Runs)),
    ok = ertslab_session:close(ertslab_session:open(Dir, Plan, false)),
    ?assertMatch(#{~"arms" := [#{~"vm" := #{~"build_id" := ~"one", ~"builds" := [~"one", ~"two"]}}]},
                 ertslab_session:stored(Dir)).

resumes_a_plan_that_knew_of_one_build(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    ?assertMatch(#{done := #{1 := _}}, ertslab_session:open(Dir, (plan())#{builds => 1}, false)),
    ?assertThrow({failure, {ertslab_session, {another, Dir}}}, ertslab_session:open(Dir, (plan())#{builds => 2}, false)).

refuses_a_newer_format(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Text} = file:read_file(ertslab_session:file(Dir, "session.json")),
    Newer = (json:decode(Text))#{~"format" := 3},
    ok = file:write_file(ertslab_session:file(Dir, "session.json"), json:encode(Newer)),
    ?assertThrow({failure, {ertslab_session, {newer, Dir}}}, ertslab_session:open(Dir, plan(), false)).

%% Its runs are kept all the same, and with force it is begun anew.
refuses_to_go_on_with_an_older_format(Config) ->
    Dir = stopped(Config, ?FUNCTION_NAME),
    {ok, Text} = file:read_file(ertslab_session:file(Dir, "session.json")),
    Older = maps:without([~"estimator", ~"rounds", ~"run_ms"], (json:decode(Text))#{~"format" := 1}),
    ok = file:write_file(ertslab_session:file(Dir, "session.json"), json:encode(Older)),
    ?assertThrow({failure, {ertslab_session, {older, Dir}}}, ertslab_session:open(Dir, plan(), false)),
    ?assertMatch(#{runs := [_, _]}, ertslab_session:read(Dir)),
    #{done := Done} = ertslab_session:open(Dir, plan(), true),
    ?assertEqual(#{}, Done).

says_that_a_folder_cannot_be_made(Config) ->
    File = dir(Config, ?FUNCTION_NAME),
    ok = file:write_file(File, "a file, where a folder is wanted"),
    Below = filename:join(File, "below"),
    ?assertThrow({failure, {ertslab_results, {cannot_write, Below, _, anew}}}, ertslab_session:open(Below, plan(), false)).

plan() ->
    #{format => 2, experiment => ~"toy", pairs => 20, seed => 7, seed_given => false, command => [~"compare"],
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

runs_of(Dir) ->
    #{runs := Runs} = ertslab_samples:begun(samples_file(Dir)),
    Runs.

samples_file(Dir) -> ertslab_session:file(Dir, "samples.jsonl").

dir(Config, Name) -> filename:join(proplists:get_value(priv_dir, Config), Name).

%% The seed may be another.
knows_what_the_same_call_has_finished(Config) ->
    Dir = finished(Config, ?FUNCTION_NAME),
    ?assert(ertslab_session:is_finished(Dir)),
    ?assertNot(ertslab_session:is_finished(stopped(Config, unfinished))),
    Plan = plan(),
    ?assert(ertslab_session:is_of(Dir, Plan#{seed := 8})),
    [?assertNot(ertslab_session:is_of(Dir, Other))
     || Other <- [Plan#{command := [~"compare", ~"--quick"]}, Plan#{code => ~"another"},
                  Plan#{arms := [#{label => ~"a", vm => #{build_id => ~"another"}}]}]],
    ?assertThrow({failure, {ertslab_summary_file, {no_summary, _}}}, ertslab_summary_file:read(Dir)).

refuses_other_code(Config) ->
    Dir = dir(Config, ?FUNCTION_NAME),
    Open = fun(Code) -> ertslab_session:close(ertslab_session:open(Dir, (plan())#{code => Code}, false)) end,
    ok = Open(~"a"),
    ok = Open(~"a"),
    ?assertThrow({failure, {ertslab_session, {another, Dir}}}, Open(~"b")).
