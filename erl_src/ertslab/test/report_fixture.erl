%% Folders of comparisons that were made up, as `compare' writes them: stock, its
%% control and a variant, two metrics, eight pairs. They are of format 1, as folders of
%% the past are, but for newer/0.
-module(report_fixture).

-export([folder/2, write/2, summary/0, summary/1, full/0, newer/0, row/4, ratio/3, data/2, text/1, hostile/0, table/1]).

%% What must never come out as markup, in HTML, in Markdown or in lines.
hostile() -> ~"<script>alert(1)</script>\"'&|`*]]>\n\x{7}# @all".

%% A folder with that summary, written below the private folder of a suite.
folder(Config, Summary) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config),
                        "folder-" ++ integer_to_list(erlang:unique_integer([positive]))),
    write(Dir, Summary),
    Dir.

write(Dir, #{~"plan" := Plan} = Summary) ->
    ok = filelib:ensure_path(Dir),
    Arms = [Arm#{~"vm" => #{~"description" => ~"made up"}} || Arm <- maps:get(~"arms", Summary)],
    ok = file:write_file(filename:join(Dir, "session.json"), json:encode(Plan#{~"arms" => Arms})),
    ok = file:write_file(filename:join(Dir, "samples.jsonl"), [ertslab_samples:text(Lines) || Lines <- runs(Summary)]),
    ok = file:write_file(filename:join(Dir, "summary.json"), json:encode(Summary)).

%% What the pages are made of.
data(Config, Summary) ->
    {ok, Data} = ertslab_report_data:read(folder(Config, Summary)),
    Data.

text(Chardata) -> unicode:characters_to_binary(Chardata).

summary() -> summary(#{}).

%% The rows of the variant in place of those that are there.
summary(Rows) ->
    #{~"format" => 1, ~"plan" => plan(), ~"arms" => arms(), ~"crashed" => [], ~"warnings" => [],
      ~"cases" => [#{~"params" => #{~"cells" => 1001}, ~"contrasts" => [],
                     ~"rows" => lists:append([metric_rows(Metric, Rows) || Metric <- [~"walk", ~"fold"]])}]}.

%% All that newer folders hold.
full() ->
    #{~"plan" := Plan, ~"cases" := [Case]} = Summary =
        summary(#{~"walk" => row(~"walk", ~"quicker", ratio(0.326, 0.298, 0.372), ~"changed")}),
    Summary#{~"plan" := Plan#{~"control" => ~"stock_copy", ~"gate" => ~"all must agree", ~"budget" => ~"at most 60 minutes",
                              ~"preflight" => [#{~"what" => ~"governor", ~"state" => ~"warn",
                                                 ~"says" => ~"the governor is powersave"}]},
             ~"void" => [], ~"warnings" => [~"a warning of its own"],
             ~"cases" := [Case#{~"contrasts" := [#{~"name" => ~"slowdown", ~"says" => ~"walk to fold", ~"label" => ~"quicker",
                                                   ~"ratio" => ratio(3.5, 3.25, 3.75)}]}],
             ~"steady" => [#{~"case" => 0, ~"metric" => ~"walk", ~"steady" => false, ~"from" => 2, ~"ratio" => 0.75},
                           #{~"case" => 0, ~"metric" => ~"fold", ~"steady" => true}],
             ~"disturbed" => [#{~"case" => 0, ~"pair" => 2, ~"why" => [~"stolen from", ~"swapped"], ~"replaced_by" => 8}],
             ~"memory" => [#{~"case" => 0, ~"label" => ~"quicker", ~"what" => ~"list, after", ~"unit" => ~"bytes",
                             ~"median" => 4096},
                           #{~"case" => 0, ~"label" => ~"stock", ~"what" => ~"list, after", ~"unit" => ~"bytes",
                             ~"median" => 3145728}],
             ~"crashed" => [#{~"run" => 3, ~"pair" => 1, ~"label" => ~"quicker", ~"params" => #{},
                              ~"reason" => ~"no answer in time"}]}.

%% The same in format 2: a run is of both cases, floors are compared, and in one row the medians say
%% something else.
newer() ->
    #{~"plan" := Plan, ~"cases" := [#{~"rows" := Rows0} = Case], ~"disturbed" := [Disturbed]} = Summary = full(),
    Rows = [newer(Row) || Row <- Rows0],
    Cases = [#{~"cells" => 1001}, #{~"cells" => 7}],
    Summary#{~"format" := 2,
             ~"plan" := Plan#{~"format" := 2, ~"cases" := Cases, ~"estimator" => ~"floor", ~"rounds" => ~"cases", ~"run_ms" => 2000},
             ~"cases" := [Case#{~"params" := Params, ~"rows" := Rows} || Params <- Cases],
             ~"disturbed" := [Disturbed#{~"case" := ~"all"}]}.

newer(#{~"median" := Value, ~"ratio" := Ratio} = Row) ->
    {Other, Disagrees} = case Row of
                             #{~"metric" := ~"walk", ~"label" := ~"quicker"} -> {ratio(0.91, 0.88, 0.94), true};
                             #{} -> {Ratio, false}
                         end,
    (maps:remove(~"median", Row))#{~"value" => Value,
                                   ~"other" => #{~"estimator" => ~"typical", ~"value" => 2 * Value, ~"ratio" => Other,
                                                 ~"disagrees" => Disagrees}}.

metric_rows(Metric, Rows) ->
    [row(Metric, ~"stock", ~"none", ~"none"),
     row(Metric, ~"stock_copy", ratio(1.0, 0.97, 1.04), ~"unsure"),
     maps:get(Metric, Rows, row(Metric, ~"quicker", ratio(0.999, 0.995, 1.004), ~"same"))].

row(Metric, Label, Ratio, Verdict) ->
    #{~"metric" => Metric, ~"label" => Label, ~"params" => #{}, ~"runs" => 8, ~"median" => 1500000.5,
      ~"unit" => ~"ns", ~"ratio" => Ratio, ~"verdict" => Verdict, ~"more_pairs" => ~"none"}.

ratio(Estimate, Low, High) ->
    #{~"estimate" => Estimate, ~"low" => Low, ~"high" => High, ~"low90" => Low, ~"high90" => High,
      ~"p" => 0.01, ~"pairs" => 8, ~"sd_log" => 0.1}.

plan() ->
    #{~"format" => 1, ~"experiment" => ~"toy", ~"title" => ~"a toy", ~"otp" => ~"27.0", ~"quick" => false,
      ~"exact" => false, ~"pairs" => 8, ~"seed" => 77, ~"labelled" => ~"variant", ~"swept" => null,
      ~"baseline" => 0, ~"baseline_label" => ~"stock", ~"cases" => [#{~"cells" => 1001}],
      ~"metrics" => [#{~"name" => ~"walk", ~"doc" => ~"a walk", ~"unit" => ~"ns"},
                     #{~"name" => ~"fold", ~"doc" => ~"a fold", ~"unit" => ~"ns"}],
      ~"machine" => #{~"cpu" => ~"A CPU", ~"cores" => 2, ~"kernel" => ~"6.1", ~"memory_kib" => 2097152,
                      ~"virtual" => true, ~"governor" => null},
      ~"command" => [~"compare", ~"toy", ~"--out", ~"there", ~"--param", ~"cells=1001"]}.

arms() ->
    [#{~"label" => Label, ~"variant" => Label, ~"params" => #{}, ~"build_id" => Id}
     || {Label, Id} <- [{~"stock", ~"aa"}, {~"stock_copy", ~"aa"}, {~"quicker", ~"bb"}]].

%% Since format 3 a summary holds all that is reported.
runs(#{~"format" := 3}) -> [];
runs(#{~"format" := Format}) ->
    [run(Format, (Pair - 1) * 3 + Arm + 1, Pair, Arm) || Pair <- lists:seq(1, 8), Arm <- [0, 1, 2]].

%% In format 1 three iterations, whose middle one is the run's number, in format 2 all values of both
%% cases, whose least are.
run(2, Run, Pair, Arm) ->
    Common = common(Run, Pair, Arm),
    [Common#{type => sample, ~"case" => Case, ~"metric" => Metric, ~"unit" => ~"ns",
             ~"values" => [9000000, Floor, 8000000, Floor, Floor, 7000000]}
     || Case <- [0, 1], Metric <- [~"walk", ~"fold"], Floor <- [1000000 * (Arm + 1) + Run + 100 * Case]]
        ++ [Common#{type => run, ~"case" => ~"all", ~"params" => #{}, ~"outcome" => ~"ok", ~"duration_ms" => 100 + Run,
                    ~"host" => #{~"load" => 0.5, ~"steal_ticks" => Run, ~"frequency_khz" => null},
                    ~"speed" => [[1700000000000 + Run, 5000]]}];
run(1, Run, Pair, Arm) ->
    Common = (common(Run, Pair, Arm))#{~"case" => 0},
    [Common#{type => sample, ~"metric" => Metric, ~"iteration" => I, ~"value" => Value, ~"unit" => ~"ns"}
     || Metric <- [~"walk", ~"fold"],
        {I, Value} <- [{1, 1}, {2, 1000000 * (Arm + 1) + Run}, {3, 9000000}]]
        ++ [Common#{type => run, ~"outcome" => ~"ok", ~"duration_ms" => 100 + Run,
                    ~"host" => #{~"load" => 0.5, ~"steal_ticks" => Run, ~"frequency_khz" => null}}].

common(Run, Pair, Arm) ->
    #{run => Run, ~"pair" => Pair, ~"arm" => Arm, ~"label" => element(Arm + 1, {~"stock", ~"stock_copy", ~"quicker"})}.

%% A result as a table, as it is made and as it is read from its file.
table(Summary) ->
    Table = text(ertslab_table:render(Summary)),
    Table = text(ertslab_table:render(ertslab_result:decode(json:decode(ertslab_result:encode(Summary))))),
    Table.
