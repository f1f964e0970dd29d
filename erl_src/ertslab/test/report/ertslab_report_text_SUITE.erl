%% The report as Markdown and in the format of benchstat.
-module(ertslab_report_text_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, markdown_begins_with_the_verdict/1, markdown_has_the_numbers/1, markdown_tables_are_whole/1,
         markdown_warns/1, markdown_has_floors_and_what_disagrees/1, markdown_of_folders_sets_them_side_by_side/1,
         markdown_fences_the_command/1,
         benchstat_has_a_line_a_run/1, benchstat_has_floors_too/1, benchstat_names_the_arm/1, benchstat_sweeps_over_the_parameter/1,
         benchstat_counts_are_exact/1, benchstat_leaves_out_what_was_measured_again/1,
         benchstat_lines_cannot_be_broken/1]).

-import(report_fixture, [summary/0, summary/1, newer/0, row/4, ratio/3, data/2, hostile/0]).

all() ->
    [markdown_begins_with_the_verdict, markdown_has_the_numbers, markdown_tables_are_whole, markdown_warns,
     markdown_has_floors_and_what_disagrees,
     markdown_of_folders_sets_them_side_by_side, markdown_fences_the_command, benchstat_has_a_line_a_run, benchstat_has_floors_too,
     benchstat_names_the_arm, benchstat_sweeps_over_the_parameter, benchstat_counts_are_exact,
     benchstat_leaves_out_what_was_measured_again, benchstat_lines_cannot_be_broken].

markdown_begins_with_the_verdict(Config) ->
    ?assertMatch(<<"## quicker makes walk 3.1 times as fast as stock.\n", _/binary>>, markdown([data(Config, faster())])).

markdown_has_the_numbers(Config) ->
    Text = markdown([data(Config, faster())]),
    [?assertMatch({_, _}, binary:match(Text, Part), Part)
     || Part <- [~"| walk | quicker | 1.50 ms | 0.326 | 0.298 to 0.372 | 0.970 to 1.040 | changed: faster |",
                 ~"| walk | stock_copy | 1.50 ms | 1.000 |", ~"```sh\n./ertslab compare toy --param cells=1001 --seed 77\n```"]].

%% Whatever is printed, each line of a table has the cells of its head.
markdown_tables_are_whole(Config) ->
    #{~"cases" := [#{~"rows" := Rows} = Case]} = Summary = faster(),
    Text = markdown([data(Config, Summary#{~"cases" := [Case#{~"rows" := [Row#{~"metric" := hostile()} || Row <- Rows]}]})]),
    Lines = [Line || <<"| ", _/binary>> = Line <- binary:split(Text, ~"\n", [global])],
    ?assertEqual([8], lists:usort([length(binary:matches(unescaped(Line), ~"|")) || Line <- Lines])),
    ?assertEqual(nomatch, binary:match(Text, ~"<script")),
    ?assertEqual(nomatch, re:run(Text, "@all")).

unescaped(Line) -> re:replace(Line, "\\\\.", "", [global, {return, binary}]).

markdown_warns(Config) ->
    Text = markdown([data(Config, (faster())#{~"warnings" := [~"mind _this_", ~"1. (of 2) is 4.6 %"]})]),
    [?assertMatch({_, _}, binary:match(Text, Line), Text)
     || Line <- [~"> **Warning:** mind \\_this\\_\n", ~"> **Warning:** 1\\. (of 2) is 4.6 %\n"]].

markdown_has_floors_and_what_disagrees(Config) ->
    Text = markdown([data(Config, newer())]),
    [?assertMatch({_, _}, binary:match(Text, Part), Text)
     || Part <- [~"| metric | variant | floor | ratio |",
                 <<"| walk | quicker | 1.50 ms | 0.326 | 0.298 to 0.372 | 0.970 to 1.040 |"
                   " changed: faster; by the median it is 0.910 (0.880 to 0.940) |">>,
                 ~"| fold | quicker | 1.50 ms | 0.999 | 0.995 to 1.004 | 0.970 to 1.040 | same |"]],
    ?assertMatch({_, _}, binary:match(markdown([data(Config, faster())]), ~"| metric | variant | median | ratio |")).

markdown_of_folders_sets_them_side_by_side(Config) ->
    Text = report_fixture:text(ertslab_report_markdown:page([data(Config, faster()), data(Config, summary())],
                                                            [~"one is odd"])),
    ?assertMatch(<<"## 2 comparisons of toy\n", _/binary>>, Text),
    ?assertMatch({_, _}, binary:match(Text, ~"- one is odd\n")),
    ?assertMatch({match, [_, _]}, re:run(Text, "^\\| toy walk, quicker to stock, cells=1001 ", [global, multiline])).

markdown_fences_the_command(Config) ->
    #{~"plan" := Plan} = Summary = faster(),
    Text = markdown([data(Config, Summary#{~"plan" := Plan#{~"command" := [~"compare", ~"```` toy"]}})]),
    ?assertMatch({_, _}, binary:match(Text, ~"\n`````sh\n./ertslab compare '```` toy' --seed 77\n`````\n")).

benchstat_has_a_line_a_run(Config) ->
    Text = benchstat(data(Config, summary())),
    ?assertMatch({match, Lines} when length(Lines) =:= 48,
                 re:run(Text, "^BenchmarkToy/cells=1001/metric=(walk|fold)-2 1 [0-9]+ ns/op$", [global, multiline])),
    ?assertMatch({_, _}, binary:match(Text, ~"BenchmarkToy/cells=1001/metric=walk-2 1 3000003 ns/op\n")).

%% Those of seven pairs, since a run of all cases was measured again.
benchstat_has_floors_too(Config) ->
    Text = benchstat(data(Config, newer())),
    ?assertMatch({match, Lines} when length(Lines) =:= 84,
                 re:run(Text, "^BenchmarkToy/cells=(1001|7)/metric=(walk|fold)-2 1 [0-9]+ ns/op$", [global, multiline])),
    ?assertMatch({_, _}, binary:match(Text, ~"BenchmarkToy/cells=7/metric=walk-2 1 3000103 ns/op\n")).

benchstat_names_the_arm(Config) ->
    {match, Arms} = re:run(benchstat(data(Config, summary())), "^variant: (.*)$",
                           [global, multiline, {capture, all_but_first, binary}]),
    ?assertEqual([[~"stock"], [~"stock_copy"], [~"quicker"]], Arms).

benchstat_sweeps_over_the_parameter(Config) ->
    #{~"plan" := Plan, ~"arms" := Arms} = Summary = summary(),
    Labels = [{0, ~"distance=0"}, {0, ~"distance=0 again"}, {8, ~"distance=8"}],
    Swept = [Arm#{~"label" := Label, ~"variant" := ~"quicker", ~"params" := #{~"distance" => N}}
             || {{N, Label}, Arm} <- lists:zip(Labels, Arms)],
    Text = benchstat(data(Config, Summary#{~"plan" := Plan#{~"swept" := ~"distance"}, ~"arms" := Swept})),
    ?assertMatch({match, [_, _, _]}, re:run(Text, "^variant: quicker\ndistance: (0|0 again|8)$", [global, multiline])).

benchstat_counts_are_exact(Config) ->
    #{~"plan" := Plan, ~"cases" := [#{~"rows" := Rows} = Case]} = Summary = summary(),
    Counted = Summary#{~"plan" := Plan#{~"exact" := true},
                       ~"cases" := [Case#{~"rows" := [Row#{~"unit" := ~"per 1000"} || Row <- Rows]}]},
    Text = benchstat(data(Config, Counted)),
    ?assertMatch(<<"Unit per_1000 assume=exact\n", _/binary>>, Text),
    ?assertMatch({_, _}, binary:match(Text, ~" 1 3000003 per_1000\n")).

benchstat_leaves_out_what_was_measured_again(Config) ->
    Text = benchstat(data(Config, (summary())#{~"disturbed" => [#{~"case" => 0, ~"pair" => 1, ~"replaced_by" => 8}]})),
    ?assertMatch({match, Lines} when length(Lines) =:= 42, re:run(Text, "^Benchmark", [global, multiline])),
    ?assertEqual(nomatch, binary:match(Text, ~"3000003")).

benchstat_lines_cannot_be_broken(Config) ->
    #{~"plan" := #{~"machine" := Machine} = Plan} = Summary = summary(),
    Text = benchstat(data(Config, Summary#{~"plan" := Plan#{~"experiment" := ~"a/b c\nBenchmarkX 1 1 ns/op",
                                                            ~"machine" := Machine#{~"cpu" := ~"x\nvariant: other"}}})),
    ?assertEqual(nomatch, re:run(Text, "^(BenchmarkX|variant: other)", [multiline])),
    ?assertMatch({_, _}, binary:match(Text, ~"\nBenchmarkA_b_c_BenchmarkX_1_1_ns_op/cells=1001/metric=walk-2 1 ")).

faster() -> summary(#{~"walk" => row(~"walk", ~"quicker", ratio(0.326, 0.298, 0.372), ~"changed")}).

markdown(Folders) -> report_fixture:text(ertslab_report_markdown:page(Folders, [])).
benchstat(Data) -> report_fixture:text(ertslab_benchstat:page([Data])).
