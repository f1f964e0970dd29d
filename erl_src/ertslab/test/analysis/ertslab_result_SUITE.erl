%% One result: what is made is what is read, and everything that is shown is in it.
-module(ertslab_result_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, what_is_made_is_what_is_read/1, the_value_is_made_from_the_numbers/1, a_disturbed_pair_is_aside/1,
         turns_are_taken_out_of_the_numbers/1, a_folder_is_reported_from_its_summary_alone/1, an_older_summary_gets_what_it_lacks/1,
         an_older_change_is_confirmed_by_the_control/1,
         whatever_is_odd_is_a_sentence/1, origins_come_from_the_manifest/1]).

all() ->
    [what_is_made_is_what_is_read, the_value_is_made_from_the_numbers, a_disturbed_pair_is_aside, turns_are_taken_out_of_the_numbers,
     a_folder_is_reported_from_its_summary_alone, an_older_summary_gets_what_it_lacks,
     an_older_change_is_confirmed_by_the_control, whatever_is_odd_is_a_sentence,
     origins_come_from_the_manifest].

what_is_made_is_what_is_read(_) ->
    [?assertEqual(Summary, ertslab_result:decode(json:decode(ertslab_result:encode(Summary)))) || Summary <- summaries()].

%% Whoever reads the file can make the same table.
the_value_is_made_from_the_numbers(_) ->
    [begin
         Values = [Number || #{value := Number, aside := false} <- Numbers],
         ?assertEqual(Runs, length(Values)),
         ?assertEqual(Value, case Values of [] -> none; _ -> ertslab_estimate:of_runs(Estimator, Values) end)
     end || #{plan := #{estimator := Estimator}, cases := Cases} <- summaries(), #{rows := Rows} <- Cases,
            #{numbers := Numbers, value := Value, runs := Runs} <- Rows].

a_disturbed_pair_is_aside(_) ->
    #{cases := [#{rows := [#{numbers := Numbers, runs := 12} | _]}], runs := Runs, disturbed := [#{pair := 3}]} = disturbed(),
    ?assertEqual([3], [Pair || #{pair := Pair, aside := true} <- Numbers]),
    ?assertMatch([#{run := 6, pair := 3, disturbed := [~"other programs ran"]}], [Run || #{disturbed := [_ | _]} = Run <- Runs]).

%% The second of two turns took twice as long in both arms: no run is slower for it.
turns_are_taken_out_of_the_numbers(_) ->
    Samples = [sample(Pair, Arm, ~"fast", [Turn * (100 + 10 * Arm) || Turn <- [1, 1, 2, 2, 1]]) || Pair <- lists:seq(1, 12), Arm <- [0, 1]],
    #{cases := [#{rows := [#{numbers := Base}, #{numbers := Own} | _]}]} =
        made((plan())#{rounds := arms}, Samples, []),
    ?assertEqual(24, length([near || {#{value := A}, #{value := B}} <- lists:zip(Base ++ Base, Own ++ Own), abs(B / A - 1.1) < 1.0e-9])).

a_folder_is_reported_from_its_summary_alone(Config) ->
    Summary = disturbed(),
    Dir = dir(Config, ?FUNCTION_NAME),
    write(Dir, "summary.json", ertslab_result:encode(Summary)),
    {ok, Data} = ertslab_report_data:read(Dir),
    ?assertEqual(Summary, maps:with(maps:keys(Summary), Data)),
    Page = report_fixture:text(ertslab_report_html:page([Data], [])),
    [?assertMatch({_, _}, binary:match(Page, Part), Part)
     || Part <- [~"run 6: ", ~"measured again", ~"The machine's speed", ~"clock of the core"]].

%% As the versions before wrote it. Its verdicts stay as they were, even one that would be another now, but for a change that the
%% control does not confirm.
an_older_summary_gets_what_it_lacks(Config) ->
    {Plan, Samples, Runs} = of_disturbed(),
    #{cases := [#{rows := Rows}]} = Summary = made(Plan, Samples, Runs),
    Then = [maps:without([~"numbers", ~"iterations", ~"role"], Row#{~"verdict" := ~"unsure"}) || Row <- written_rows(Summary)],
    #{~"cases" := [Case]} = Written = json:decode(ertslab_result:encode(Summary)),
    Older = (maps:without([~"runs", ~"speed_series", ~"built"], Written))#{~"format" := 2, ~"cases" := [Case#{~"rows" := Then}]},
    Dir = dir(Config, ?FUNCTION_NAME),
    write(Dir, "summary.json", json:encode(Older)),
    write(Dir, "session.json", json:encode(#{seed => 1, arms => [#{label => L, vm => #{description => ~"made up"}} || L <- [~"a", ~"b"]]})),
    write(Dir, "samples.jsonl", [ertslab_samples:text([Sample#{type => sample} || #{run := R} = Sample <- atoms(Samples), R =:= N]
                                                      ++ [Run#{type => run}])
                                 || #{run := N} = Run <- atoms(Runs)]),
    #{cases := [#{rows := Read}], arms := [#{vm := VM} | _]} = Found = ertslab_summary_file:read(Dir),
    ?assertEqual([maps:with([numbers, iterations, role, value], Row) || Row <- Rows],
                 [maps:with([numbers, iterations, role, value], Row) || Row <- Read]),
    ?assertEqual([unsure || _ <- Rows], [Verdict || #{verdict := Verdict} <- Read]),
    ?assertEqual(maps:with([runs, speed_series, speeds], Summary), maps:with([runs, speed_series, speeds], Found)),
    ?assertEqual(#{description => ~"made up"}, VM).

%% The versions before had no ratio to the control. It is as it would be made today, from the numbers of the runs. Rows over all
%% cases have none, and what was not changed is not judged again.
an_older_change_is_confirmed_by_the_control(Config) ->
    Three = [#{label => L, variant => L, params => #{}, vm => #{build_id => ~"0"}} || L <- [~"a", ~"b", ~"c"]],
    Value = fun(0, _, _) -> 1000; (1, Pair, _) -> 1000 + 120 - 240 * (Pair rem 2); (2, _, ~"fast") -> 1050; (2, _, ~"slow") -> 1200 end,
    Samples = [(sample(Pair, Arm, Metric, [Pair * Value(Arm, Pair, Metric)]))#{~"case" := Case}
               || Case <- [0, 1], Pair <- lists:seq(1, 12), Arm <- [0, 1, 2], Metric <- [~"fast", ~"slow"]],
    Summary = fun(Changes) -> made(maps:merge((plan())#{arms := Three, control := ~"b", overall := true,
                                                        cases := [#{size => 3}, #{size => 4}]}, Changes), Samples, [])
              end,
    Then = fun(#{~"label" := ~"c"} = Row) -> maps:remove(~"to_control", Row#{~"verdict" := ~"changed", ~"more_pairs" := ~"none"});
              (Row) -> maps:remove(~"to_control", Row)
           end,
    Dir = dir(Config, ?FUNCTION_NAME),
    Read = fun(Changes, Older) ->
                   write(Dir, "summary.json", json:encode(in_all_rows(Older, json:decode(ertslab_result:encode(Summary(Changes)))))),
                   ertslab_summary_file:read(Dir)
           end,
    Of = fun(Rows) -> [{Metric, Verdict, More, ToControl}
                       || #{metric := Metric, label := ~"c", verdict := Verdict, more_pairs := More, to_control := ToControl} <- Rows]
         end,
    [begin
         #{cases := Made} = Summary(Changes),
         #{cases := Cases, overall := Overall} = Found = Read(Changes, Then),
         [?assertMatch([{~"fast", unsure, none, #{}}, {~"slow", changed, none, #{}}], Of(Rows)) || #{rows := Rows} <- Cases],
         ?assertEqual([Of(Rows) || #{rows := Rows} <- Made], [Of(Rows) || #{rows := Rows} <- Cases]),
         ?assertEqual([{~"fast", changed, none, none}, {~"slow", changed, none, none}], Of(Overall)),
         [?assertMatch(none, ToControl) || #{rows := Rows} <- Cases, #{label := L, to_control := ToControl} <- Rows, L =/= ~"c"],
         %% It is written as it was read.
         ?assertEqual(Found, ertslab_result:decode(json:decode(ertslab_result:encode(Found))))
     end || Changes <- [#{}, #{quick => true}]],
    InCases = fun(Changes, Older) -> #{cases := Rows} = Read(Changes, Older), lists:append([Of(R) || #{rows := R} <- Rows]) end,
    Stay = [{Metric, changed, none, none} || _ <- [0, 1], Metric <- [~"fast", ~"slow"]],
    ?assertEqual(Stay, InCases(#{control => null}, Then)),
    %% A summary of the time before had no numbers of the runs.
    ?assertEqual(Stay, InCases(#{}, fun(Row) -> (Then(Row))#{~"numbers" := []} end)),
    %% What has been judged stays.
    ?assertEqual(Stay, InCases(#{}, fun(Row) -> (Then(Row))#{~"to_control" => ~"none"} end)).

in_all_rows(Fun, #{~"cases" := Cases, ~"overall" := Overall} = Written) ->
    Written#{~"cases" := [Case#{~"rows" := lists:map(Fun, Rows)} || #{~"rows" := Rows} = Case <- Cases],
             ~"overall" := lists:map(Fun, Overall)}.

%% In the keys and values of today's format, as ertslab_report_data_SUITE does with those of the past.
whatever_is_odd_is_a_sentence(Config) ->
    Dir = dir(Config, ?FUNCTION_NAME),
    #{~"cases" := [#{~"rows" := [Base, Own | _]} = Case]} = Written = json:decode(ertslab_result:encode(disturbed())),
    Few = [Row#{~"numbers" := lists:sublist(Numbers, 3)} || #{~"numbers" := Numbers} = Row <- [Base, Own]],
    Odd = variations(Written#{~"cases" := [Case#{~"rows" := Few}], ~"runs" := [], ~"speed_series" := series()}),
    ?assert(length(Odd) > 500),
    Answers = [begin
                   write(Dir, "summary.json", json:encode(Summary)),
                   answer(ertslab_report_data:read(Dir), Summary)
               end || Summary <- Odd],
    ?assertEqual([error, ok], lists:usort(Answers)).

series() -> #{span => 10, low => -0.5, high => 0.5, columns => [[0, -0.1, 0, 0.1]], bins => [1, 2]}.

answer({error, _}, _) -> error;
answer({ok, Data}, Summary) ->
    try
        [_ = report_fixture:text(Page) || Page <- [ertslab_report_html:page([Data], []), ertslab_report_markdown:page([Data], []),
                                                   ertslab_report_iterations:page([Data]), ertslab_benchstat:page([Data]),
                                                   ertslab_table:render(Data)]],
        ok
    catch Class:Reason:Stack -> ct:fail("~tp~n~tp~n~tp", [Summary, {Class, Reason}, Stack])
    end.

variations(Map) when is_map(Map) ->
    [maps:remove(Key, Map) || Key := _ <- Map]
        ++ [Map#{Key := Odd} || Key := Value <- Map, Odd <- variations(Value)] ++ others(Map);
variations([First | Rest] = List) -> [[Odd | Rest] || Odd <- variations(First)] ++ others(List);
variations(Value) -> others(Value).

others(Value) -> [Other || Other <- [null, -1, 1.0e300, ~"odd", [[]], #{}], Other =/= Value].

%% Also the arms of different roots, which the manifest lists by their labels.
origins_come_from_the_manifest(_) ->
    Manifest = json:encode(#{source => #{version => ~"27.0", sha256 => ~"feed"}, compiler => ~"gcc 12", key => ~"SECRET",
                             variants => #{a => #{description => ~"it is quick", patches => [#{name => ~"quick.patch", sha256 => ~"cafe"}]},
                                           b => #{compiler => ~"clang", flavour => ~"JIT", version => ~"27.1"}}}),
    #{built := Built, arms := [#{vm := A}, #{vm := B}]} = made((plan())#{manifest => Manifest}, samples(), []),
    ?assertEqual(#{version => ~"27.0", sha256 => ~"feed", compiler => ~"gcc 12"}, Built),
    ?assertEqual(#{description => ~"it is quick", patches => [#{name => ~"quick.patch", sha256 => ~"cafe"}]}, A),
    ?assertEqual(#{compiler => ~"clang", flavour => ~"JIT", version => ~"27.1"}, B).

%% Of each estimator, counts, slopes, several builds, and pairs that were measured again.
summaries() ->
    Curves = [sample(Pair, Arm, ~"fast", [[[N, 100 * Pair + (Arm + 1) * N] || N <- lists:seq(1, 9)]])
              || Pair <- lists:seq(1, 12), Arm <- [0, 1]],
    Counts = [sample(Pair, Arm, Metric, [8 + Arm]) || Pair <- [1, 2, 3], Arm <- [0, 1], Metric <- [~"fast", ~"slow"]],
    [disturbed(), made((plan())#{estimator := floor}, samples(), []), made(plan(), Curves, []), made((plan())#{exact := true}, Counts, []),
     made((plan())#{builds => 2, control := ~"b"}, samples(), []), made(plan(), [], []),
     made((plan())#{budget => #{given => ~"20m", pairs => 30, pair_ms => 900, run_ms => 500, levels => #{run => 0.1, value => none},
                                effects => [#{metric => fast, effect => 0.01}]},
                    preflight => [#{what => ~"governor", state => warn, says => ~"powersave"}], programs => [~"rabbitmq 3.10"]},
          samples(), [])].

disturbed() ->
    {Plan, Samples, Runs} = of_disturbed(),
    made(Plan, Samples, Runs).

%% Pair 3 is measured again as pair 13.
of_disturbed() ->
    {plan(), samples() ++ [sample(13, Arm, Metric, values(13, Arm)) || Arm <- [0, 1], Metric <- [~"fast", ~"slow"]],
     [run(Pair, Arm) || Pair <- lists:seq(1, 13), Arm <- [0, 1]]}.

made(Plan, Samples, Runs) -> ertslab_summary:make(Plan, #{samples => Samples, runs => Runs}).

samples() -> [sample(Pair, Arm, Metric, values(Pair, Arm)) || Pair <- lists:seq(1, 12), Arm <- [0, 1], Metric <- [~"fast", ~"slow"]].

values(Pair, Arm) -> [1000 * Pair div (Arm + 1) + N * N rem 7 || N <- lists:seq(1, 9)].

sample(Pair, Arm, Metric, Values) ->
    #{~"run" => 2 * Pair + Arm, ~"case" => 0, ~"arm" => Arm, ~"metric" => Metric, ~"pair" => Pair, ~"values" => Values}.

run(Pair, Arm) ->
    #{~"run" => 2 * Pair + Arm, ~"case" => 0, ~"arm" => Arm, ~"pair" => Pair, ~"label" => lists:nth(Arm + 1, [~"a", ~"b"]),
      ~"outcome" => ~"ok", ~"disturbed" => [~"other programs ran" || {Pair, Arm} =:= {3, 0}], ~"duration_ms" => 100 + Pair,
      ~"padding" => 16,
      ~"host" => #{~"frequency_khz" => 2_000_000 + Pair, ~"load" => null}, ~"facts" => #{~"memory" => #{~"rss" => 4096 * Pair}},
      ~"speed" => [[1000 * Pair + 10 * N, 28_000 + N rem 3] || N <- lists:seq(1, 9)]}.

written_rows(Summary) ->
    #{~"cases" := [#{~"rows" := Rows}]} = json:decode(ertslab_result:encode(Summary)),
    Rows.

%% As a runner writes them.
atoms(Lines) -> [(maps:remove(~"run", Line))#{run => Run} || #{~"run" := Run} = Line <- Lines].

plan() ->
    #{format => 2, experiment => ~"toy", title => ~"a toy", otp => ~"27.0", quick => false, pairs => 12, seed => 1, labelled => ~"variant",
      swept => null, cases => [#{size => 3, shape => tuples}], baseline => 0, baseline_label => ~"a",
      arms => [#{label => L, variant => L, params => #{}, vm => #{build_id => ~"0"}} || L <- [~"a", ~"b"]],
      estimator => typical, rounds => metrics, run_ms => 0, exact => false, same_within => 0.01, control => null, replace_disturbed => true,
      metrics => [#{name => fast, doc => ~"quick", unit => ns}, #{name => slow, doc => ~"", unit => ns}],
      contrasts => [#{name => slowdown, says => ~"slow to fast", over => slow, under => fast}], command => [~"compare", ~"toy"],
      code => ~"0123456789abcdef0123456789abcdef",
      machine => #{cpu => ~"cpu", cores => 2, kernel => null}, module => exp_toy, budget => null, preflight => [],
      overall => false, plot_over => null}.

write(Dir, Name, Text) -> ok = file:write_file(filename:join(Dir, Name), Text).

dir(Config, Name) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), Name),
    ok = filelib:ensure_path(Dir),
    Dir.
