%% What a folder may hold wrongly, and what is said of it.
-module(ertslab_report_data_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_folder_has_its_own_name/1, reads_what_compare_writes/1, control_is_the_same_build/1, plan_names_the_control/1,
         floor_of_the_summary_wins/1, run_is_the_median_of_its_iterations/1, slope_of_points_is_a_value/1,
         pair_measured_again_is_aside/1,
         values_of_turns_are_those_of_the_table/1,
         no_folder/1, no_comparison/1, unfinished_says_how_to_finish/1, truncated/1, no_json/1,
         newer_format/1, format_2_is_read_too/1, pair_of_all_cases_is_aside_in_each/1, no_estimator_is_the_median/1,
         another_shape/1, damaged_samples/1, no_samples/1,
         whatever_is_odd_is_a_sentence/1]).

-import(report_fixture, [summary/0, newer/0, folder/2, data/2]).

all() ->
    [a_folder_has_its_own_name, reads_what_compare_writes, control_is_the_same_build, plan_names_the_control, floor_of_the_summary_wins,
     run_is_the_median_of_its_iterations, slope_of_points_is_a_value, pair_measured_again_is_aside, values_of_turns_are_those_of_the_table,
     no_folder, no_comparison,
     unfinished_says_how_to_finish, truncated, no_json, newer_format, format_2_is_read_too,
     pair_of_all_cases_is_aside_in_each, no_estimator_is_the_median, another_shape, damaged_samples, no_samples,
     whatever_is_odd_is_a_sentence].

%% However it is written, and the command that finishes it works from anywhere.
a_folder_has_its_own_name(Config) ->
    Dir = folder(Config, summary()),
    Name = list_to_binary(filename:basename(Dir)),
    ok = filelib:ensure_path(filename:join(Dir, "in")),
    [?assertMatch({ok, #{name := Name}}, ertslab_report_data:read(filename:join(Dir, Way)))
     || Way <- [".", "in/..", "../" ++ binary_to_list(Name) ++ "/."]],
    ok = file:delete(filename:join(Dir, "summary.json")),
    {ok, Here} = file:get_cwd(),
    ok = file:set_cwd(Dir),
    try
        {error, Error} = ertslab_report_data:read("."),
        ?assertMatch({match, _}, re:run(ertslab_error:sentence(Error), ["--out ", Dir, "( |$)"]), Error)
    after file:set_cwd(Here)
    end.

%% The summary of the harness itself, not one that was made up.
reads_what_compare_writes(Config) ->
    VM = #{build_id => ~"0"},
    Plan = #{experiment => ~"toy", title => ~"a toy", otp => ~"27.0", quick => false, pairs => 12, seed => 1,
             labelled => ~"variant", swept => null, cases => [#{size => 3}], baseline => 0, baseline_label => ~"a",
             arms => [#{label => L, variant => L, params => #{}, vm => VM} || L <- [~"a", ~"b"]],
             exact => false, metrics => [#{name => walk, doc => ~"", unit => ns}], contrasts => [],
             machine => #{cpu => ~"cpu", cores => 2, kernel => null}, module => exp_toy, format => 1,
             estimator => typical, rounds => metrics, run_ms => 0, control => null, same_within => 0.01, budget => null, preflight => []},
    Samples = [#{~"run" => 2 * Pair + Arm, ~"case" => 0, ~"arm" => Arm, ~"metric" => ~"walk", ~"pair" => Pair, ~"iteration" => 1,
                 ~"value" => 1000 * Pair div (Arm + 1)} || Pair <- lists:seq(1, 12), Arm <- [0, 1]],
    Summary = json:decode(ertslab_result:encode(ertslab_summary:make(Plan, #{samples => Samples, runs => []}))),
    #{cases := [#{rows := [#{role := baseline, ratio := none}, Row]}]} = data(Config, Summary),
    ?assertMatch(#{verdict := changed, ratio := #{estimate := E}} when abs(E - 0.5) < 1.0e-9, Row).

control_is_the_same_build(Config) ->
    #{plan := #{control := Control}, cases := [#{rows := Rows}]} = data(Config, summary()),
    ?assertEqual(~"stock_copy", Control),
    ?assertEqual([none, {0.97, 1.04}, {0.97, 1.04}],
                 [case Role of baseline -> none; _ -> ertslab_report_data:floor(Row) end
                  || #{role := Role, metric := ~"walk"} = Row <- Rows]).

plan_names_the_control(Config) ->
    #{~"plan" := Plan} = Summary = summary(),
    ?assertMatch(#{plan := #{control := ~"quicker"}}, data(Config, Summary#{~"plan" := Plan#{~"control" => ~"quicker"}})),
    ?assertMatch(#{plan := #{control := ~"stock_copy"}}, data(Config, Summary#{~"plan" := Plan#{~"control" => null}})).

floor_of_the_summary_wins(Config) ->
    #{~"cases" := [#{~"rows" := Rows} = Case]} = Summary = summary(),
    Given = [Row#{~"floor" => #{~"low" => 0.9, ~"high" => 1.2}} || Row <- Rows],
    #{cases := [#{rows := [Row | _]}]} = data(Config, Summary#{~"cases" := [Case#{~"rows" := Given}]}),
    ?assertEqual({0.9, 1.2}, ertslab_report_data:floor(Row)).

run_is_the_median_of_its_iterations(Config) ->
    Points = points({0, ~"walk"}, data(Config, summary())),
    ?assertEqual(lists:seq(1, 24), [Run || #{run := Run} <- Points]),
    ?assertEqual([1000001, 2000002, 3000003], [round(V) || #{value := V} <- lists:sublist(Points, 3)]).

%% Where arms take turns, what is drawn has the turn's effect taken out as what is judged.
values_of_turns_are_those_of_the_table(Config) ->
    #{~"plan" := Plan} = Summary = newer(),
    Folder = folder(Config, Summary#{~"plan" := Plan#{~"estimator" := ~"typical", ~"rounds" := ~"arms"}, ~"disturbed" := []}),
    {ok, Data} = ertslab_report_data:read(Folder),
    Points = points({0, ~"walk"}, Data),
    Made = #{experiment => ~"toy", title => ~"a toy", otp => ~"27.0", quick => false, pairs => 8, seed => 1, labelled => ~"variant",
             swept => null, cases => [#{cells => 1001}, #{cells => 7}], baseline => 0, baseline_label => ~"stock",
             arms => [#{label => L, variant => L, params => #{}, vm => #{build_id => ~"0"}} || L <- [~"stock", ~"stock_copy", ~"quicker"]],
             exact => false, metrics => [#{name => walk, doc => ~"", unit => ns}], contrasts => [], machine => #{}, module => exp_toy,
             estimator => typical, rounds => arms, run_ms => 0, control => ~"stock_copy", same_within => 0.01, replace_disturbed => false},
    Samples = maps:get(samples, ertslab_session:read(Folder)),
    #{cases := [#{rows := Rows} | _]} = ertslab_summary:make(Made, #{samples => Samples, runs => []}),
    [?assertEqual({Arm, Value}, {Arm, ertslab_stats:median([V || #{arm := A, value := V} <- Points, A =:= Arm])})
     || {Arm, #{value := Value}} <- lists:enumerate(0, Rows)].

points({Index, Metric}, Data) ->
    ertslab_report_data:points(Data, {lists:nth(Index + 1, ertslab_report_data:cases(Data)), Metric}).

all_points(Data) ->
    maps:from_list([{{Index, Metric}, points({Index, Metric}, Data)}
                    || #{index := Index, rows := Rows} <- ertslab_report_data:cases(Data), #{metric := Metric} <- Rows]).

%% A value may be a list of points: then its slope is meant.
slope_of_points_is_a_value(Config) ->
    Dir = folder(Config, summary()),
    Sample = #{type => sample, run => 1, ~"case" => 0, ~"arm" => 0, ~"pair" => 1, ~"metric" => ~"walk",
               ~"value" => [[10, 105], [20, 205], [30, 305]]},
    ok = file:write_file(filename:join(Dir, "samples.jsonl"), ertslab_samples:text([Sample, #{type => run, run => 1}])),
    {ok, Data} = ertslab_report_data:read(Dir),
    [#{value := Value}] = points({0, ~"walk"}, Data),
    ?assertEqual(10.0, Value).

pair_measured_again_is_aside(Config) ->
    Summary = (summary())#{~"disturbed" => [#{~"case" => 0, ~"pair" => 2, ~"why" => [~"steal"], ~"replaced_by" => 8},
                                     #{~"case" => 0, ~"pair" => 3, ~"why" => [~"steal"], ~"replaced_by" => ~"none"}]},
    Points = points({0, ~"walk"}, data(Config, Summary)),
    ?assertEqual([4, 5, 6], [Run || #{run := Run, aside := true} <- Points]).

no_folder(_) -> refused("no-such-place", {ertslab_report_data, {no_folder, "no-such-place"}}).

no_comparison(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "foreign"),
    ok = filelib:ensure_path(Dir),
    refused(Dir, {ertslab_report_data, {no_comparison, Dir}}).

unfinished_says_how_to_finish(Config) ->
    Dir = folder(Config, summary()),
    ok = file:delete(filename:join(Dir, "summary.json")),
    {error, {ertslab_report_data, {older, Dir, Dir, _}} = Older} = ertslab_report_data:read(Dir),
    ?assertEqual(report_fixture:text([Dir, " is a comparison that an older ertslab did not finish; begin it anew with:"
                                      " ./ertslab compare toy --param cells=1001 --out ", Dir, " --force"]),
                 ertslab_error:sentence(Older)),
    Session = filename:join(Dir, "session.json"),
    {ok, Text} = file:read_file(Session),
    ok = file:write_file(Session, json:encode((json:decode(Text))#{~"format" => 2})),
    {error, {ertslab_report_data, {unfinished, Dir, Dir, _}} = Unfinished} = ertslab_report_data:read(Dir),
    ?assertEqual(report_fixture:text([Dir, " is a comparison that is not finished; finish it with: ./ertslab compare toy"
                                      " --param cells=1001 --out ", Dir]),
                 ertslab_error:sentence(Unfinished)).

truncated(Config) ->
    Dir = with_summary(Config, fun(Text) -> binary:part(Text, 0, byte_size(Text) div 2) end),
    refused(Dir, {ertslab_summary_file, {cut_off, summary_of(Dir), 1}}).

no_json(Config) ->
    Dir = with_summary(Config, fun(_) -> ~"{\"plan\": {},\n \"arms\": nonsense}\n" end),
    refused(Dir, {ertslab_summary_file, {no_json, summary_of(Dir), 2}}).

newer_format(Config) ->
    Dir = with_summary(Config, fun(_) -> ~"{\"format\": 4, \"entirely\": \"new\"}" end),
    refused(Dir, {ertslab_summary_file, {unknown_format, summary_of(Dir), 4, 3}}),
    #{~"plan" := Plan} = Summary = summary(),
    Newer = folder(Config, Summary#{~"plan" := Plan#{~"format" := 4}}),
    refused(Newer, {ertslab_summary_file, {unknown_format, summary_of(Newer), 4, 2}}).

%% Each run's number is its floor.
format_2_is_read_too(Config) ->
    #{plan := #{estimator := floor}} = Data = data(Config, newer()),
    Cases = ertslab_report_data:cases(Data),
    Points = all_points(Data),
    ?assertEqual([{Case, Metric} || Case <- [0, 1], Metric <- [~"fold", ~"walk"]], lists:sort(maps:keys(Points))),
    [?assertEqual([1000001, 2000002, 3000003], [round(V - 100 * Case) || #{value := V} <- lists:sublist(OfRuns, 3)])
     || {Case, _} := OfRuns <- Points],
    ?assertEqual([[1, 6], [2, 6], [3, 6]],
                 [[Run, Values] || #{run := Run, iterations := Values} <- lists:sublist(maps:get({1, ~"fold"}, Points), 3)]),
    ?assertEqual([{0, true}, {1, true}],
                 [{Index, Disagrees} || #{index := Index, rows := Rows} <- Cases,
                                        #{metric := ~"walk", label := ~"quicker", value := 1500000.5,
                                          other := #{estimator := typical, ratio := #{estimate := 0.91, low := 0.88, high := 0.94},
                                                     disagrees := Disagrees}} <- Rows]),
    ?assertEqual(6, length([Row || #{rows := Rows} <- Cases, #{other := #{disagrees := false, ratio := #{}}} = Row <- Rows])).

pair_of_all_cases_is_aside_in_each(Config) ->
    Points = all_points(data(Config, newer())),
    ?assertEqual([[4, 5, 6] || _ <- [0, 1], _ <- [walk, fold]],
                 [[Run || #{run := Run, aside := true} <- OfRuns] || _ := OfRuns <- Points]).

%% As in the plans of format 1.
no_estimator_is_the_median(Config) ->
    #{plan := #{estimator := typical}, cases := [#{rows := [Row | _]}]} = data(Config, summary()),
    ?assertMatch(#{value := 1500000.5}, Row),
    ?assertNot(is_map_key(other, Row)).

another_shape(Config) ->
    [begin
         Dir = with_summary(Config, fun(_) -> Text end),
         refused(Dir, {ertslab_summary_file, {Reason, summary_of(Dir)}})
     end || {Text, Reason} <- [{~"[]", no_object}, {~"{}", no_summary}, {~"{\"plan\":{},\"arms\":7,\"cases\":[]}", no_summary}]].

damaged_samples(Config) ->
    Dir = folder(Config, summary()),
    ok = file:write_file(filename:join(Dir, "samples.jsonl"), "{\"half\":\n", [append]),
    refused(Dir, {ertslab_samples, {no_sample, filename:join(Dir, "samples.jsonl"), 193}}).

no_samples(Config) ->
    Dir = folder(Config, summary()),
    ok = file:delete(filename:join(Dir, "samples.jsonl")),
    {ok, Data} = ertslab_report_data:read(Dir),
    Page = report_fixture:text(ertslab_report_html:page([Data], [])),
    [?assertMatch({_, _}, binary:match(Page, Part), Part) || Part <- [~"All results", ~"contains no complete run"]].

%% Each value of a summary in turn is gone or of another kind: then there is a
%% page in each format, or a sentence, and never a crash.
whatever_is_odd_is_a_sentence(Config) ->
    Workers = erlang:system_info(schedulers_online),
    [begin
         Odd = variations(with_one_of_each(Full)),
         ?assert(length(Odd) > 500),
         Parts = [[Summary || {Nth, Summary} <- lists:enumerate(Odd), Nth rem Workers =:= Part] || Part <- lists:seq(0, Workers - 1)],
         Answers = ertslab_parallel:map(fun(Part) -> answers(folder(Config, Full), Part) end, Parts, Workers, fun(_, _) -> ok end),
         ?assertEqual([error, ok], lists:usort(lists:append(Answers)))
     end || Full <- [report_fixture:full(), newer()]].

%% Rows of one metric, and in cases after the first only one, since a value of theirs is read as those of the others are.
with_one_of_each(#{~"cases" := Cases} = Summary) ->
    Summary#{~"cases" := [Case#{~"rows" := lists:sublist([Row || #{~"metric" := ~"walk"} = Row <- Rows], case Nth of 1 -> 3; _ -> 1 end)}
                          || {Nth, #{~"rows" := Rows} = Case} <- lists:enumerate(Cases)]}.

%% Each eighth stands beside itself too, which takes three times as long.
answers(Dir, Summaries) ->
    [begin
         ok = file:write_file(filename:join(Dir, "summary.json"), json:encode(Summary)),
         answer(Dir, Summary, case Nth rem 8 of 0 -> 2; _ -> 1 end)
     end || {Nth, Summary} <- lists:enumerate(Summaries)].

answer(Dir, Summary, Times) ->
    try ertslab_report_data:read(Dir) of
        {error, _} -> error;
        {ok, Data} ->
            Beside = lists:duplicate(Times, Data),
            [_ = report_fixture:text(Page) || Page <- [ertslab_report_html:page(Beside, []),
                                                       ertslab_report_markdown:page(Beside, []),
                                                       ertslab_benchstat:page([Data])]],
            ok
    catch Class:Reason:Stack -> ct:fail("~tp~n~tp~n~tp", [Summary, {Class, Reason}, Stack])
    end.

variations(Map) when is_map(Map) ->
    [maps:remove(Key, Map) || Key := _ <- Map]
        ++ [Map#{Key := Odd} || Key := Value <- Map, Odd <- variations(Value)] ++ others(Map);
variations([_ | _] = List) ->
    [begin
         {Before, [_ | After]} = lists:split(Nth, List),
         Before ++ [Odd | After]
     end || {Nth, Value} <- lists:enumerate(0, List), Odd <- variations(Value)] ++ others(List);
variations(Value) -> others(Value).

others(Value) -> [Other || Other <- [null, -1, 1.0e300, 1 bsl 2000, ~"odd", [[]], #{}], Other =/= Value].

with_summary(Config, Change) ->
    Dir = folder(Config, summary()),
    File = filename:join(Dir, "summary.json"),
    {ok, Text} = file:read_file(File),
    ok = file:write_file(File, Change(Text)),
    Dir.

summary_of(Dir) -> filename:join(Dir, "summary.json").

refused(Dir, Expected) ->
    {error, Error} = ertslab_report_data:read(Dir),
    ?assertEqual(Expected, Error),
    Sentence = ertslab_error:sentence(Error),
    ?assertMatch({_, _}, binary:match(Sentence, report_fixture:text(Dir)), Sentence),
    ?assertEqual(nomatch, binary:match(Sentence, ~"\n")).
