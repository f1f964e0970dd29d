%% Commits of a repository that the suite makes, what a call that measures them keeps and says, and readings of
%% comparisons that were made up.
-module(ertslab_history_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_subject_is_text_in_any_encoding/1, init_per_suite/1, end_per_suite/1, commits_in_their_order/1,
         bad_revisions_are_refused/1, a_revision_is_no_path/1,
         a_folder_keeps_its_question/1, a_reading_is_the_last_arm/1, an_exact_count_is_a_reading/1,
         a_reading_wants_one_case/1, a_bisection_is_told/1,
         a_history_is_told/1,
         wrong_words_are_refused_before_anything_is_built/1]).

all() ->
    [a_subject_is_text_in_any_encoding, commits_in_their_order, bad_revisions_are_refused, a_revision_is_no_path,
     a_folder_keeps_its_question,
     a_reading_is_the_last_arm, an_exact_count_is_a_reading, a_reading_wants_one_case, a_bisection_is_told, a_history_is_told,
     wrong_words_are_refused_before_anything_is_built].

init_per_suite(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "repository"),
    ok = filelib:ensure_path(Dir),
    Git = "git -C " ++ Dir ++ " -c user.name=a -c user.email=a@b -c commit.gpgsign=false ",
    _ = os:cmd(Git ++ "init -q -b main"),
    _ = [os:cmd(Git ++ "commit -q --allow-empty -m 'commit " ++ integer_to_list(N) ++ "'") || N <- lists:seq(0, 4)],
    _ = os:cmd(Git ++ "branch side main~2"),
    [{repository, Dir} | Config].

end_per_suite(_) -> ok.

commits_in_their_order(Config) ->
    Dir = proplists:get_value(repository, Config),
    Commits = ertslab_history:between(Dir, "main~3", "main"),
    ?assertEqual([~"commit 2", ~"commit 3", ~"commit 4"], [Subject || #{subject := Subject} <- Commits]),
    ?assertEqual(ertslab_history:id(Dir, "main"), maps:get(id, lists:last(Commits))),
    ?assertEqual(10, length(ertslab_history:short(maps:get(id, hd(Commits))))).

bad_revisions_are_refused(Config) ->
    Dir = proplists:get_value(repository, Config),
    [?assertThrow({usage, {ertslab_history, Reason}}, ertslab_history:between(Repository, First, Last))
     || {Reason, Repository, First, Last} <- [{{not_before, "main", "main~3", Dir}, Dir, "main", "main~3"},
                                              {{not_before, "main", "main", Dir}, Dir, "main", "main"},
                                              {{no_revision, Dir, "nothing"}, Dir, "nothing", "main"},
                                              {{no_folder, Dir ++ "-not"}, Dir ++ "-not", "main~1", "main"}]],
    ?assertThrow({usage, {ertslab_revision, {no_word, "git:/otp"}}}, ertslab_revision:find("git:/otp")),
    ?assertThrow({usage, {ertslab_revision, {no_revision, _}}}, ertslab_revision:find("git:" ++ Dir ++ "@nothing")),
    ?assertThrow({failure, {ertslab_revision, {not_built, _, Dir, "main"}}}, ertslab_revision:find("git:" ++ Dir ++ "@main")).

%% As of a commit from before git knew of encodings, or of a repository that prints in its own.
a_subject_is_text_in_any_encoding(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "odd repository"),
    ok = filelib:ensure_path(Dir),
    Settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"],
    Git = fun(Words) -> {ok, _} = ertslab_revision:git(Dir, Settings ++ Words) end,
    Git(["init", "-q", "-b", "main"]),
    File = filename:join(Dir, "message"),
    _ = [begin
             ok = file:write_file(File, Bytes),
             Git(More ++ ["commit", "-q", "--allow-empty", "-F", File])
         end || {More, Bytes} <- [{[], ~"first"}, {[], <<"gr", 16#f6, 16#df, "er">>},
                                  {["-c", "i18n.commitEncoding=ISO-8859-1"], <<"k", 16#fc, "rzer">>},
                                  {[], ~"länger"}, {[], <<"a", 27, "[31m\x{202E}b"/utf8>>}]],
    Git(["config", "i18n.logOutputEncoding", "ISO-8859-1"]),
    Commits = ertslab_history:between(Dir, "main~4", "main"),
    ?assertEqual([~"größer", ~"kürzer", ~"länger", ~"a [31m b"], [Subject || #{subject := Subject} <- Commits]),
    [First | _] = Commits,
    Belief = #{none => 0.0, one => 1.0, two => 0.0, drift => 0.0, size => 0.05, first => [], holds => [{{1, 1}, 1.0}]},
    Progress = ertslab_bisect_report:progress(Belief, #{measured => [], commits => 4}, 1, First),
    ?assertMatch({_, _}, binary:match(ertslab_text:binary(Progress), ~"größer")),
    %% What builds a revision is a command that a shell understands.
    {failure, Error} = try ertslab_revision:find("git:" ++ Dir ++ "@main") catch throw:Thrown -> Thrown end,
    Sentence = ertslab_advice:sentence(Error, checkout),
    ?assertMatch({_, _}, binary:match(Sentence, ertslab_text:binary(["otp --git '", Dir, "' --rev main"])), Sentence).

a_revision_is_no_path(_) ->
    ?assert(ertslab_revision:is_one("git:/otp@main")),
    ?assertNot(ertslab_revision:is_one("/git:otp")).

a_folder_keeps_its_question(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "kept"),
    Question = #{good => ~"a", options => ertslab_history_folder:recorded(#{experiment => "length", json => true})},
    ok = ertslab_history_folder:prepare(Dir, Question),
    ok = ertslab_history_folder:unbuildable(Dir, 7),
    ok = ertslab_history_folder:prepare(Dir, Question),
    ?assertEqual([7], ertslab_history_folder:unbuildable(Dir)),
    ?assertThrow({failure, {ertslab_history_folder, {another_question, Dir}}},
                 ertslab_history_folder:prepare(Dir, Question#{good := ~"b"})),
    ok = file:write_file(filename:join(Dir, "history.json"), "{"),
    ?assertThrow({failure, {ertslab_history_folder, {damaged, _}}}, ertslab_history_folder:prepare(Dir, Question)),
    ?assertThrow({failure, {ertslab_results, {other_files, _}}},
                 ertslab_history_folder:prepare(proplists:get_value(priv_dir, Config), Question)),
    Id = lists:duplicate(40, $a),
    Finished = [ertslab_history_folder:reading(Dir, Id, Before) || Before <- [0, 1]],
    _ = [ok = filelib:ensure_path(Place) || Place <- [ertslab_history_folder:reading(Dir, Id, 2) | Finished]],
    _ = [ok = file:write_file(filename:join(Place, "summary.json"), "{}") || Place <- Finished],
    ?assertEqual(Finished, ertslab_history_folder:readings(Dir, Id)).

a_reading_is_the_last_arm(_) ->
    {ok, #{log_ratio := Y, error := Error, metric := ~"first", void := false}} =
        ertslab_revision_reading:ratio(summary([[]]), undefined),
    ?assert(abs(Y - math:log(1.02)) < 1.0e-9),
    ?assert(abs(Error - math:log(1.03 / 1.01) / (2 * 1.96)) < 1.0e-9),
    ?assertMatch({ok, #{metric := ~"second"}}, ertslab_revision_reading:ratio(summary([[]]), "second")),
    ?assertThrow({usage, {ertslab_revision_reading, {no_metric, "third", [_ | _]}}},
                 ertslab_revision_reading:ratio(summary([[]]), "third")),
    %% What the control was off by widens it.
    {ok, #{error := Wider, void := true}} = ertslab_revision_reading:ratio((summary([[]]))#{void := [~"first"]}, undefined),
    ?assert(abs(Wider * Wider - Error * Error - math:log(1.02) * math:log(1.02)) < 1.0e-9).

%% The ratio of exact counts has no interval. One to or from zero, or of counts that vary, is none.
an_exact_count_is_a_reading(_) ->
    Of = fun(Ratio, Verdict) -> ertslab_revision_reading:ratio(counted(Ratio, Verdict), undefined) end,
    {ok, #{log_ratio := Y, error := Error, verdict := changed, void := false} = Reading} = Of(#{estimate => 0.7, exact => true}, changed),
    ?assert(abs(Y - math:log(0.7)) < 1.0e-9),
    ?assert(Error > 0),
    ?assertEqual("0.700", lists:flatten(ertslab_revision_reading:told(Reading))),
    ?assertEqual({error, no_ratio}, Of(#{estimate => 0.0, exact => true}, changed)),
    ?assertEqual({error, no_ratio}, Of(none, varying)).

counted(Ratio, Verdict) ->
    #{cases := [#{rows := Rows} = Case], plan := Plan} = Summary = summary([[]]),
    Summary#{plan := Plan#{control := none}, cases := [Case#{rows := [Row#{ratio := Ratio, verdict := Verdict} || Row <- Rows]}]}.

a_reading_wants_one_case(_) ->
    ?assertThrow({usage, {ertslab_revision_reading, {several_cases, 2}}},
                 ertslab_revision_reading:ratio(summary([[], []]), undefined)).

summary(Cases) ->
    Rows = [#{metric => M, label => L, verdict => changed,
              ratio => #{estimate => 1.02, low => 1.01, high => 1.03}}
            || M <- [~"first", ~"second"], L <- [~"old", ~"old again", ~"new"]],
    #{plan => #{control => ~"old again", metrics => [#{name => ~"first"}, #{name => ~"second"}]}, overall => [], void => [],
      arms => [#{label => L} || L <- [~"old", ~"old again", ~"new"]],
      cases => [#{params => Params, rows => Rows} || Params <- Cases]}.

a_bisection_is_told(_) ->
    Commits = [commit(N) || N <- lists:seq(1, 3)],
    State = #{measured => [(reading(0.05))#{commit => 2}], left_out => #{1 => fails, 3 => does_not_build}},
    Belief = #{none => 0.0, one => 1.0, two => 0.0, drift => 0.0, size => 0.05, first => [],
               holds => [{{1, 1}, 0.01}, {{2, 2}, 0.98}, {{3, 3}, 0.01}]},
    Found = fun(Proof) -> {found, #{among => [2], parent => 1, culprit => 2, proof => Proof}} end,
    [begin
         Report = ertslab_bisect_report:of_answer(Answer, Belief, State, Commits),
         Text = unicode:characters_to_list(ertslab_bisect_report:render(Report)),
         ?assertMatch({Kind, #{answer := Kind}}, {Kind, Report}),
         ?assertNotEqual({nomatch, Text}, {string:find(Text, Says), Text}),
         ?assertNotEqual(nomatch, string:find(Text, "does not build")),
         ?assertNotEqual(nomatch, string:find(Text, "1111111111  fails the experiment")),
         ?assertMatch(#{~"commits" := [_, _, _]}, json:decode(iolist_to_binary(json:encode(Report))))
     end || {Answer, Kind, Says} <- [{Found({ok, reading(0.05)}), found, "It is 2222222222 (number 2)"},
                                     {Found({ok, (reading(0.05))#{verdict := unsure}}), not_confirmed, "the change is not certain"},
                                     {Found({ok, (reading(0.05))#{void := true}}), not_confirmed, "the change is not certain"},
                                     {Found({error, no_ratio}), not_confirmed, "no ratio"},
                                     {no_change, no_change, "Nothing changed"},
                                     {several, several, "More than one"},
                                     {{unsure, [1, 2]}, unsure, "2 commits"}]].

a_history_is_told(_) ->
    Readings = [{ok, reading(Y)} || Y <- [0.0, 0.001, -0.001, 0.0, 0.001, 0.05, 0.051, 0.049, 0.05, 0.05]] ++ [{error, does_not_build}, {error, {fails, {ertslab_output_check, why}}}, {error, no_ratio}],
    #{changes := [6]} = Report = ertslab_follow:report([commit(N) || N <- lists:seq(1, 13)], Readings, 1),
    [?assertNotEqual(nomatch, string:find(ertslab_follow:render(Report), Says))
     || Says <- ["does not build", "fails the experiment", "no ratio"]],
    Csv = string:split(string:trim(unicode:characters_to_list(ertslab_follow:csv(Report))), "\n", all),
    ?assertEqual(11, length(Csv)),
    ?assertEqual("time,commit,ratio", hd(Csv)),
    ?assertNotEqual(nomatch, string:find(ertslab_follow:render(Report), "> 6666666666")),
    ?assertNotEqual(nomatch, string:find(ertslab_history_plot:script(Report), "set arrow from 5.5")).

commit(N) ->
    #{id => lists:duplicate(40, hd(integer_to_list(N))), date => ~"2026-01-01T00:00:00Z",
      subject => iolist_to_binary(["number ", integer_to_binary(N)])}.

reading(Y) ->
    #{log_ratio => Y, error => 0.002, estimate => math:exp(Y), low => math:exp(Y - 0.004), high => math:exp(Y + 0.004),
      metric => ~"length", verdict => changed, void => false}.

wrong_words_are_refused_before_anything_is_built(_) ->
    Words = #{experiment => "length", param => [{"cells", ["10000"]}]},
    ?assertMatch(#{experiment := "length"}, ertslab_history_folder:checked(Words#{metric => "dense"})),
    [?assertThrow({usage, _}, ertslab_history_folder:checked(maps:merge(Words, Wrong)))
     || Wrong <- [#{metric => "fly"}, #{param => [{"fly", ["1"]}]},
                  #{experiment => "hibernate", param => [{"cells", ["1001", "2001"]}]}, #{experiment => "fly"},
                  #{pairs => 20, quick => true}]],
    %% `length' has 10 ratios of one case.
    ?assertThrow({usage, {ertslab_plan, {too_few_pairs, 3, 11, 10}}}, ertslab_history_folder:checked(Words#{pairs => 3})),
    ?assertMatch(#{}, ertslab_history_folder:checked(Words#{pairs => 11})).
