%% The commands that measure: what they refuse before anything is started, and a comparison of the toy from its words to its files.
%% Signals, full disks and what a shell sees are tests/cli.bats and tests/faults.bats.
-module(ertslab_compare_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(suite_folder, [dir/1]).

-export([all/0, init_per_suite/1, end_per_suite/1, too_few_pairs_are_refused/1, a_comparison_wants_two_arms/1,
         budgets_and_bounds_are_checked/1,
         machines_are_named_in_one_way/1, what_is_no_arm_is_refused/1, what_is_no_expression_is_refused/1,
         what_is_no_experiment_is_refused/1,
         a_release_that_is_not_built_is_refused/1, builds_that_are_not_there_are_refused/1, a_refused_comparison_leaves_no_folder/1,
         a_folder_that_cannot_be_written_is_named/1,
         a_comparison_leaves_its_files/1, a_finished_comparison_is_replaced_only_by_force/1, an_unfinished_comparison_goes_on/1,
         another_comparison_is_not_gone_on_with/1, what_is_not_finished_goes_on_only_with_the_same_code/1,
         the_control_comes_along_unasked/1, a_sweep_compares_values_of_one_arm/1,
         expressions_are_arms_on_each_vm/1, a_run_that_fails_at_once_ends_the_comparison/1]).

all() ->
    [too_few_pairs_are_refused, a_comparison_wants_two_arms, budgets_and_bounds_are_checked, machines_are_named_in_one_way,
     what_is_no_arm_is_refused, what_is_no_expression_is_refused, what_is_no_experiment_is_refused, a_release_that_is_not_built_is_refused,
     builds_that_are_not_there_are_refused, a_refused_comparison_leaves_no_folder, a_folder_that_cannot_be_written_is_named,
     a_comparison_leaves_its_files,
     a_finished_comparison_is_replaced_only_by_force, an_unfinished_comparison_goes_on, another_comparison_is_not_gone_on_with,
     what_is_not_finished_goes_on_only_with_the_same_code,
     the_control_comes_along_unasked, a_sweep_compares_values_of_one_arm, expressions_are_arms_on_each_vm,
     a_run_that_fails_at_once_ends_the_comparison].

%% Experiments that are made for a call lie below TMPDIR. A finished comparison is there, for those tests that want one.
init_per_suite(Config) ->
    true = os:putenv("TMPDIR", proplists:get_value(priv_dir, Config)),
    Whole = filename:join(proplists:get_value(priv_dir, Config), "whole"),
    command_line:ends(0, "patient on OTP", toy(["--out", Whole])),
    [{whole, Whole} | Config].

end_per_suite(Config) ->
    true = os:unsetenv("TMPDIR"),
    code:del_path(filename:join(proplists:get_value(priv_dir, Config), "experiment")).

toy(More) -> ["compare", "patient", "--vm", "stock,stock_copy", "--quick" | More].

too_few_pairs_are_refused(_) ->
    [command_line:refused(2, Text, Words)
     || {Text, Words} <- [{"--pairs 9: 8 results need at least 11 pairs (or use --quick: 6 pairs, a smoke test)",
                           ["compare", "hibernate", "--pairs", "9", "--param", "cells=1001", "--param", "value_words=0"]},
                          {"--pairs 10: 44 results need at least 14 pairs",
                           ["sweep", "hibernate", "--vm", "prefetch", "--over", "prefetch_distance=0,1,2,4,8,16,32,64,128,256,512",
                            "--pairs", "10"]},
                          {"--pairs must be at least 3", ["compare", "hibernate", "--pairs", "0"]},
                          {"--pairs or --quick, not both", ["compare", "hibernate", "--pairs", "12", "--quick"]},
                          {"--pairs must be at least 3", ["compare", "spacing", "--pairs", "2"]}]].

a_comparison_wants_two_arms(_) ->
    command_line:refused(2, "--vm stock names one VM: name two", ["compare", "hibernate", "--vm", "stock"]),
    command_line:refused(2, "at least two values", ["sweep", "hibernate", "--vm", "prefetch", "--over", "prefetch_distance=8"]),
    command_line:refused(2, "at least two values", ["sweep", "hibernate", "--vm", "prefetch", "--over", "prefetch_distance=8,8"]).

budgets_and_bounds_are_checked(Config) ->
    [command_line:refused(2, "is not a duration; write 90s, 20m or 1h", ["compare", "hibernate", "--budget", Budget])
     || Budget <- ["20", "soon", "0m"]],
    [command_line:refused(2, "give a percentage above 0% and below 100%", ["compare", "hibernate", "--same-within", Bound])
     || Bound <- ["2", "0%", "100%", "much"]],
    [command_line:refused(2, "not both", ["compare", "hibernate", "--budget", "20m" | Other]) || Other <- [["--pairs", "20"], ["--quick"]]],
    command_line:refused(2, "write 'slower 2%'", toy(["--fail-if", "slower"])),
    %% No machine keeps it, so nothing is begun.
    Out = filename:join(dir(Config), "out"),
    command_line:refused(2, "--budget 2s is enough for",
                         ["compare", "length", "--vm", "stock,stock_copy", "--param", "cells=1000", "--budget", "2s", "--out", Out]),
    ?assertNot(filelib:is_dir(Out)).

machines_are_named_in_one_way(Config) ->
    Fleet = filename:join(dir(Config), "fleet"),
    ok = file:write_file(Fleet, "lab\n"),
    [command_line:refused(2, Text, ["compare", "length" | Words])
     || {Text, Words} <- [{"--json is of one machine", ["--fleet", Fleet, "--out", "x", "--json"]},
                          {"--host-dir needs --host", ["--fleet", Fleet, "--out", "x", "--host-dir", "/x"]},
                          {"--host-dir needs --host", ["--host-dir", "/x"]},
                          {"--slurm does not go with --host or --fleet", ["--slurm", "lab", "--out", "x", "--host", "lab"]},
                          {"--slurm needs --out", ["--slurm", "lab"]}, {"--nodes needs --slurm", ["--nodes", "2"]},
                          {"give --fleet or --host, not both", ["--fleet", Fleet, "--host", "lab"]},
                          {"--fleet needs --out", ["--fleet", Fleet]},
                          {"--builds is for this machine", ["--builds", "2", "--host", "me@nowhere"]},
                          {"--builds must be at least 1", ["--builds", "0"]},
                          {"'lab two' is not an address", ["--host", "lab two"]}]].

what_is_no_arm_is_refused(_) ->
    [command_line:refused(Status, Text, ["compare", "estone", "--quick" | Words])
     || {Status, Text, Words} <- [{1, "no Erlang is there", ["--vm", "/nowhere,stock"]},
                                  {1, "not an Erlang that starts", ["--vm", "/bin/false,stock"]},
                                  {1, "its answer was not understood", ["--vm", "/bin/echo,stock"]},
                                  {2, "a release must follow @", ["--vm", "stock@x,stock"]},
                                  {2, "no OTP 12 is built from here", ["--vm", "stock@12,stock"]},
                                  {2, "there is no variant", ["--vm", "mine,stock"]},
                                  {2, "names one VM", ["--vm", "stock"]},
                                  {2, "two arms are called", ["--vm", "stock", "--flags", "+A 1", "--flags", "+A 1"]},
                                  {2, "give it twice or more", ["--arm", "a=stock"]},
                                  {2, "do not combine it with", ["--arm", "a=stock", "--arm", "b=stock", "--vm", "stock"]},
                                  {2, "write NAME=VM", ["--arm", "stock", "--arm", "b=stock"]},
                                  {2, "write NAME=VM", ["--arm", "a=stock,flgs=x", "--arm", "b=stock"]},
                                  {2, "cannot be a flag of an arm", ["--vm", "stock", "--flags", "+A 1 -emu_type debug"]},
                                  {2, "give flags", ["--vm", "stock", "--flags", " "]}, {2, "--flags needs a value", ["--flags"]},
                                  {2, "for both, give --arm", ["--flags", "+A 1", "--code", "a=/tmp,b=/tmp"]},
                                  {2, "is for one Erlang", ["--vm", "stock,tuned", "--flags", "+A 1"]},
                                  {2, "there is no such folder", ["--code", "old=/nowhere,new=/nowhere"]},
                                  {2, "write OLD=DIR,NEW=DIR", ["--code", "/tmp,/var"]},
                                  {1, "nothing is built there", ["--code", "old=/proc/self/fd,new=/proc/self/fd"]}]].

what_is_no_expression_is_refused(Config) ->
    [command_line:refused(Status, Text, ["time" | Words] ++ ["--quick", "--out", dir(Config)])
     || {Status, Text, Words} <- [{2, "is not an expression", ["lists:seq(1", "2"]},
                                  {2, "is not an expression", ["1", "2", "--init", "X = "]},
                                  {2, "it is empty", ["1", "."]}, {2, "it is empty", ["", "1"]}, {2, "is not an expression", ["1 2.", "1"]},
                                  {2, "is given twice", ["1 + 1", "1 + 1."]}, {1, "is unbound", ["length(L)", "2"]},
                                  {1, "did not end well", ["exit(mine)", "2"]},
                                  {2, "needs two expressions", ["1 + 1"]}]].

what_is_no_experiment_is_refused(Config) ->
    Dir = dir(Config),
    File = fun(Name, Text) ->
                   Path = filename:join(Dir, Name),
                   ok = file:write_file(Path, Text),
                   Path
           end,
    Half = "-module(exp_half).\n-export([info/0]).\ninfo() -> #{}.\n",
    [command_line:refused(Status, Text, ["compare", Path, "--quick"])
     || {Status, Text, Path} <- [{2, "there is no such file", filename:join(Dir, "exp_none.erl")},
                                 {2, "is called exp_NAME.erl", File("mine.erl", "x")},
                                 {1, "exp_bad.erl does not compile: line 2", File("exp_bad.erl", "-module(exp_bad).\nx(")},
                                 {1, "which every experiment needs", File("exp_half.erl", Half)},
                                 {2, "has an experiment of that name already", File("exp_hibernate.erl", Half)}]],
    command_line:refused(2, "another machine measures only the experiments of its own ertslab",
                         ["compare", File("exp_own.erl", Half), "--host", "lab"]).

a_release_that_is_not_built_is_refused(_) ->
    command_line:refused(2, "no OTP 99 is built from here; choose from: ", ["compare", "hibernate", "--otp", "99"]).

builds_that_are_not_there_are_refused(_) ->
    command_line:refused(1, "--builds 99'", ["compare", "hibernate", "--pairs", "99", "--builds", "99", "--vm", "stock,stock_copy"]).

a_refused_comparison_leaves_no_folder(Config) ->
    [New, Own] = [filename:join(dir(Config), Name) || Name <- ["new", "own"]],
    ok = file:make_dir(Own),
    [command_line:refused(1, "did not end well", ["time", "exit(mine)", "2", "--quick", "--out", Out]) || Out <- [New, Own]],
    ?assertNot(filelib:is_dir(New)),
    ?assert(filelib:is_dir(Own)).

a_folder_that_cannot_be_written_is_named(Config) ->
    File = filename:join(dir(Config), "in_the_way"),
    ok = file:write_file(File, "in the way"),
    command_line:ends(1, "cannot write " ++ filename:join(File, "below"), toy(["--out", filename:join(File, "below")])).

a_comparison_leaves_its_files(Config) ->
    Whole = proplists:get_value(whole, Config),
    #{runs := Runs} = ertslab_session:read(Whole),
    ?assertEqual(lists:seq(1, 12), [Run || #{~"run" := Run, ~"outcome" := ~"ok"} <- Runs]),
    [?assert(filelib:file_size(filename:join(Whole, Name)) > 0, Name)
     || Name <- ["session.json", "manifest.json", "samples.jsonl", "summary.json", "table.txt", "report.html"]],
    ?assertEqual(ertslab_gnuplot:available(), filelib:is_regular(filename:join(Whole, "plot.svg"))),
    {ok, Summary} = file:read_file(filename:join(Whole, "summary.json")),
    #{~"paths" := #{~"samples" := Samples}} = json:decode(Summary),
    ?assertEqual(unicode:characters_to_binary(filename:join(Whole, "samples.jsonl")), Samples),
    %% The table is what was printed.
    {ok, Table} = file:read_file(filename:join(Whole, "table.txt")),
    ?assertMatch(<<"patient on OTP ", _/binary>>, Table),
    ?assertMatch({_, _}, binary:match(Table, ~"! This is a quick comparison: 6 pairs")).

a_finished_comparison_is_replaced_only_by_force(Config) ->
    Dir = copy(Config, ["session.json", "samples.jsonl", "summary.json"]),
    Samples = filename:join(Dir, "samples.jsonl"),
    {ok, Before} = file:read_file(Samples),
    command_line:refused(1, "holds a finished comparison; choose another --out, or --force to replace it.", toy(["--out", Dir])),
    ?assertEqual({ok, Before}, file:read_file(Samples)),
    {0, {Output, Errors}} = command_line:called(toy(["--out", Dir, "--force", "--json"])),
    ?assertNotEqual({ok, Before}, file:read_file(Samples)),
    %% Standard output is for machines.
    Printed = unicode:characters_to_binary(Samples),
    ?assertMatch(#{~"format" := _, ~"cases" := [_], ~"paths" := #{~"samples" := Printed}},
                 json:decode(unicode:characters_to_binary(Output))),
    [?assertNotEqual(nomatch, string:find(Errors, Part), Part)
     || Part <- ["Runs of fresh VMs: 12 (pairs 6, arms 2, cases 1), seed ", "They take about ", "Results go to " ++ Dir]].

%% As after a kill: five runs are there, and a half one. Each is made once.
an_unfinished_comparison_goes_on(Config) ->
    Dir = copy(Config, ["session.json", "samples.jsonl"]),
    Samples = filename:join(Dir, "samples.jsonl"),
    {ok, Text} = file:read_file(Samples),
    #{runs := Runs} = ertslab_session:read(Dir),
    [First | _] = [Run || #{~"run" := Run} <- Runs],
    Ends = [End || {End, _} <- binary:matches(Text, ~"\n")],
    Lines = length(Ends) div length(Runs),
    ok = file:write_file(Samples, binary:part(Text, 0, lists:nth(5 * Lines + 1, Ends) - 9)),
    %% Where its script cannot be written there is no picture, and none is promised.
    ok = file:make_dir(filename:join(Dir, "plot.svg.gnuplot")),
    Said = command_line:ends(0, "; 5 of them are done already.", toy(["--out", Dir])),
    [?assertNotEqual(nomatch, string:find(Said, Part), Part)
     || Part <- ["No picture: ", "Report (report.html), raw samples and summary: "]],
    #{runs := All} = ertslab_session:read(Dir),
    ?assertEqual({1, lists:seq(1, 12)}, {First, [Run || #{~"run" := Run} <- All]}),
    {ok, Longer} = file:read_file(Samples),
    Kept = lists:nth(5 * Lines, Ends),
    ?assertEqual(binary:part(Text, 0, Kept), binary:part(Longer, 0, Kept)).

another_comparison_is_not_gone_on_with(Config) ->
    Dir = copy(Config, ["session.json", "samples.jsonl"]),
    command_line:refused(1, "holds another comparison that is not finished", toy(["--out", Dir, "--same-within", "2%"])),
    ok = file:write_file(filename:join(Dir, "session.json"), ~"{\"seed\": 1}"),
    command_line:ends(1, "holds another comparison", toy(["--out", Dir])).

%% The same words, but for the value of a variable, or for a line of the experiment's source.
what_is_not_finished_goes_on_only_with_the_same_code(Config) ->
    Time = fun(Init) -> ["time", "lists:sum(L)", "length(L)", "--quick", "--init", Init] end,
    Times = begun(Config, Time("L = lists:seq(1, 100)")),
    forgotten(exp_time),
    command_line:refused(1, "holds another comparison that is not finished", Time("L = lists:seq(1, 1000)") ++ ["--out", Times]),
    forgotten(exp_time),
    Source = filename:join(ertslab_paths:top(), "erl_src/experiments/src/exp_length.erl"),
    {ok, Text} = file:read_file(Source),
    Mine = filename:join(dir(Config), "exp_mine.erl"),
    Written = fun(From, To) -> ok = file:write_file(Mine, string:replace(string:replace(Text, "-module(exp_length)", "-module(exp_mine)"),
                                                                         From, To)) end,
    Words = ["compare", Mine, "--vm", "stock,stock_copy", "--param", "cells=1000", "--quick"],
    ok = Written(~"teardown", ~"teardown"),
    Compares = begun(Config, Words),
    forgotten(exp_mine),
    ok = file:delete(filename:join(proplists:get_value(priv_dir, Config), "experiment/exp_mine.beam")),
    ok = Written("teardown(#{owner := Owner}) -> ", "teardown(#{owner := Owner}) -> true = erlang:yield(), "),
    command_line:refused(1, "holds another comparison that is not finished", Words ++ ["--out", Compares]).

%% A folder in which this call has begun, and made no run.
begun(Config, Words) ->
    Dir = dir(Config),
    Options = options(Words),
    Named = case Options of
                #{experiment := _} -> ertslab_experiment_source:named(Options);
                #{} -> Options
            end,
    ok = ertslab_session:close(ertslab_session:open(Dir, ertslab_plan:of_call(Named), false)),
    Dir.

%% As in a VM that has not loaded it.
forgotten(Module) ->
    _ = code:purge(Module),
    _ = code:delete(Module),
    code:purge(Module).

%% The files of the finished comparison that have these names, in a folder of their own.
copy(Config, Names) ->
    Dir = dir(Config),
    [{ok, _} = file:copy(filename:join(proplists:get_value(whole, Config), Name), filename:join(Dir, Name)) || Name <- Names],
    Dir.

the_control_comes_along_unasked(Config) ->
    Labels = fun(Words) ->
                     Plan = ertslab_plan:of_call(options(Words)),
                     [Label || #{label := Label} <- maps:get(arms, Plan)]
             end,
    ?assertEqual([~"stock", ~"stock_copy", ~"prefetch"], Labels(["compare", "hibernate", "--vm", "stock,prefetch"])),
    ?assertEqual([~"stock", ~"prefetch"], Labels(["compare", "hibernate", "--vm", "stock,prefetch", "--no-control"])),
    Table = command_line:ends(0, "control ", ["report", proplists:get_value(whole, Config), "--format", "table"]),
    ?assertNotEqual(nomatch, string:find(Table, "stock_copy")).

options([Command | _] = Words) ->
    {ok, Options, _} = ertslab_arguments:parse(Words, ertslab_cli:command()),
    Options#{command => list_to_existing_atom(Command)}.

a_sweep_compares_values_of_one_arm(_) ->
    Arms = fun(Words) ->
                   #{arms := Arms, swept := prefetch_distance} = ertslab_plan:of_call(options(["sweep", "hibernate", "--vm", "prefetch",
                                                                                               "--over" | Words])),
                   [{Label, Params, Name} || #{label := Label, params := Params, vm := #{name := Name}} <- Arms]
           end,
    Of = fun(Value, Label) -> {Label, #{prefetch_distance => Value}, ~"prefetch"} end,
    ?assertEqual([Of(0, ~"prefetch_distance=0"), Of(0, ~"prefetch_distance=0 again"), Of(8, ~"prefetch_distance=8")],
                 Arms(["prefetch_distance=0,8"])),
    ?assertEqual([Of(8, ~"prefetch_distance=8"), Of(0, ~"prefetch_distance=0")], Arms(["prefetch_distance=8,0", "--no-control"])).

expressions_are_arms_on_each_vm(_) ->
    Labels = fun(Words) ->
                     #{arms := Arms} = ertslab_plan:of_call(options(["time" | Words])),
                     _ = forgotten(exp_time),
                     [Label || #{label := Label} <- Arms]
             end,
    ?assertEqual([~"length(L)", ~"length(L) again", ~"L, erlang:length(L)"],
                 Labels(["length(L).", "L,\n  erlang:length(L). % the same\n", "--init", "L = [1, 2].\n%% and\nM = L.\n"])),
    ?assertEqual([~"[1] on stock", ~"[1] on stock again", ~"[1] on stock_copy"], Labels(["[1]", "--vm", "stock,stock_copy"])).

a_run_that_fails_at_once_ends_the_comparison(Config) ->
    [command_line:refused(1, Text, ["compare", "patient", "--param", "behaviour=" ++ Behaviour, "--vm", "stock,stock_copy", "--quick",
                                    "--out", dir(Config)])
     || {Behaviour, Text} <- [{"1", "stock did not end well"}, {"4", "stock"}]].
