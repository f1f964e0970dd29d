%% The commands `perf' and `cachegrind': what they refuse before they begin, what is said where a tool fails, and how a profile is
%% presented. That both name the hot functions of a real VM is tests/profile.bats.
-module(ertslab_profile_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(suite_folder, [dir/1]).

-export([all/0, init_per_testcase/2, end_per_testcase/2, wrong_words_are_refused/1, an_experiment_may_be_a_file/1,
         tools_that_are_missing_are_named/1,
         a_missing_interpreter_is_named_with_what_builds_it/1, a_folder_with_other_files_is_left_alone/1,
         perf_without_the_right_says_what_gives_it/1, a_tool_that_fails_leaves_its_words/1,
         perf_that_fails_leaves_no_map/1, a_profile_is_a_table_and_json/1,
         a_profile_has_its_caveats/1, a_flame_graph_is_drawn_by_what_is_there/1, words_of_a_run_make_its_case_again/1]).

all() ->
    [wrong_words_are_refused, an_experiment_may_be_a_file, tools_that_are_missing_are_named,
     a_missing_interpreter_is_named_with_what_builds_it,
     a_folder_with_other_files_is_left_alone, perf_without_the_right_says_what_gives_it, a_tool_that_fails_leaves_its_words,
     perf_that_fails_leaves_no_map,
     a_profile_is_a_table_and_json, a_profile_has_its_caveats, a_flame_graph_is_drawn_by_what_is_there,
     words_of_a_run_make_its_case_again].

%% A folder of tools, which come before those of the machine.
init_per_testcase(_, Config) ->
    Path = os:getenv("PATH"),
    Tools = dir(Config),
    true = os:putenv("PATH", Tools ++ ":" ++ Path),
    [{path, Path}, {tools, Tools}, {out, filename:join(dir(Config), "o ü")} | Config].

end_per_testcase(_, Config) -> os:putenv("PATH", proplists:get_value(path, Config)).

tool(Config, Name, Script) ->
    File = filename:join(proplists:get_value(tools, Config), Name),
    ok = file:write_file(File, ["#!/bin/sh\n", Script, "\n"]),
    ok = file:change_mode(File, 8#755).

%% Only these tools are left.
alone(Config) -> true = os:putenv("PATH", proplists:get_value(tools, Config)).

wrong_words_are_refused(_) ->
    [command_line:refused(2, Text, Words)
     || {Text, Words} <- [{"--vm is missing", ["perf", "hibernate"]}, {"there is no experiment 'fly'", ["perf", "fly", "--vm", "stock"]},
                          {"there is no variant 'fly'", ["perf", "hibernate", "--vm", "fly"]},
                          {"give one variant, or two", ["perf", "hibernate", "--vm", "stock,stock_copy,prefetch"]},
                          {"a profile has one case", ["perf", "hibernate", "--vm", "stock", "--param", "cells=1001,1002"]},
                          {"there is no parameter 'fly'", ["cachegrind", "hibernate", "--vm", "stock", "--param", "fly=1"]},
                          {"--runs must be at least 2", ["cachegrind", "hibernate", "--vm", "stock", "--runs", "1"]}]].

%% It is compiled before the variant is looked for. Until then there was no experiment of that name.
an_experiment_may_be_a_file(Config) ->
    File = filename:join(dir(Config), "exp_elsewhere.erl"),
    ok = file:write_file(File, "-module(exp_elsewhere).\n-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).\n"
                               "info() -> exp_toy:info().\nsetup(P) -> exp_toy:setup(P).\nprepare(M, S) -> exp_toy:prepare(M, S).\n"
                               "run(M, S) -> exp_toy:run(M, S).\nverify(M, R, S) -> exp_toy:verify(M, R, S).\n"
                               "teardown(S) -> exp_toy:teardown(S).\n"),
    [begin
         command_line:refused(2, "there is no variant 'fly'", [Command, File, "--vm", "fly"]),
         ok = forget("exp_elsewhere.beam"),
         command_line:refused(1, "exp_elsewhere.erl does not compile: line 1, ", [Command, broken(Config), "--vm", "stock"])
     end || Command <- ["perf", "cachegrind"]].

%% Other suites go through all experiments on the code path.
forget(Beam) ->
    [ok, ok] = [file:delete(filename:join([ertslab_experiment_source:folder()] ++ Below ++ [Beam])) || Below <- [[], ["oldest"]]],
    ok.

broken(Config) ->
    Dir = filename:join(dir(Config), "broken"),
    ok = filelib:ensure_path(Dir),
    File = filename:join(Dir, "exp_elsewhere.erl"),
    ok = file:write_file(File, "-module(.\n"),
    File.

tools_that_are_missing_are_named(Config) ->
    Out = proplists:get_value(out, Config),
    alone(Config),
    command_line:refused(1, "perf is missing; './build.sh deps' installs it (Debian package linux-perf)", perf(Config)),
    [command_line:refused(1, "valgrind is missing; './build.sh deps' installs it (Debian package valgrind)",
                          ["cachegrind", "hibernate", "--vm", "stock", "--out", Out]) || has_interpreter()],
    ?assertNot(filelib:is_dir(Out)).

has_interpreter() ->
    #{interpreter := File} = stock(),
    File =/= none.

a_missing_interpreter_is_named_with_what_builds_it(_) ->
    case [{Name, Release} || #{interpreter := none, name := Name, release := Release} <- ertslab_inventory:installed()] of
        [{Name, Release} | _] ->
            [Otp, VM] = [integer_to_list(Release), binary_to_list(Name)],
            command_line:refused(1, lists:concat(["'./build.sh otp --otp ", Otp, " --interpreter ", VM, "' builds it"]),
                                 ["cachegrind", "hibernate", "--vm", VM, "--otp", Otp]);
        [] -> {skip, "each interpreter is built"}
    end.

a_folder_with_other_files_is_left_alone(Config) ->
    Out = proplists:get_value(out, Config),
    tool(Config, "perf", "exit 1"),
    ok = filelib:ensure_path(Out),
    ok = file:write_file(filename:join(Out, "notes"), "mine"),
    command_line:refused(1, "holds other files", perf(Config)),
    ?assertEqual({ok, ["notes"]}, file:list_dir(Out)).

perf_without_the_right_says_what_gives_it(Config) ->
    tool(Config, "perf", "echo 'Error: Access to performance monitoring is limited. perf_event_paranoid is 3' >&2; exit 255"),
    command_line:ends(1, "sysctl kernel.perf_event_paranoid=1", perf(Config)).

a_tool_that_fails_leaves_its_words(Config) ->
    tool(Config, "perf", "echo 'something odd' >&2; exit 3"),
    Log = filename:join(proplists:get_value(out, Config), "perf.log"),
    command_line:ends(1, "perf failed; its output is in " ++ Log, perf(Config)),
    {ok, Text} = file:read_file(Log),
    ?assertMatch({_, _}, binary:match(Text, ~"something odd")).

%% The VM writes the names of its functions to a file in /tmp, which is nobody's where perf does not take its samples. This perf counts,
%% and does not sample.
perf_that_fails_leaves_no_map(Config) ->
    Pids = filename:join(dir(Config), "pids"),
    tool(Config, "perf",
         ["for last; do :; done; echo $last >>'", Pids, "'; [ $1 = stat ] || exit 3\n"
          "while [ \"$1\" != -o ]; do shift; done; echo '1;;cycles;1;100.00;;' >\"$2\"; read -r _; echo ack; read -r _; echo ack"]),
    command_line:ends(1, "perf failed", perf(Config)),
    {ok, Text} = file:read_file(Pids),
    [_Counted, Sampled] = string:lexemes(binary_to_list(Text), "\n"),
    ?assertNot(filelib:is_file("/tmp/perf-" ++ Sampled ++ ".map")).

perf(Config) -> ["perf", "hibernate", "--vm", "stock", "--param", "cells=1001", "--out", proplists:get_value(out, Config)].

a_profile_is_a_table_and_json(_) ->
    Profiles = [profile(~"stock", [{~"task-clock", 1234.5}, {~"cycles", 7}], 600),
                profile(~"tuned", [{~"task-clock", 1000.0}, {~"cycles", null}], 900)],
    Work = #{experiment => "toy", params => #{behaviour => 0}, iterations => 60, dir => "/there"},
    Table = unicode:characters_to_binary(ertslab_profile:table(Work, Profiles, ["mind this"])),
    [?assertMatch({match, _}, re:run(Table, Line, [multiline]), {Line, Table})
     || Line <- ["^toy on OTP 27.0: where the time of its metrics goes$", "^behaviour=0$", "^task-clock +1234.5 ms +1000.0 ms$",
                "^cycles +7 +not counted here$", "^samples +600 +900$", "^other functions in C +100.0 % +100.0 %$",
                "^inner +83.3 % +88.9 % +83.3 % +88.9 %$",
                 "^outer +16.7 % +11.1 % +100.0 % +100.0 %$",
                 "^! mind this$"]],
    Json = json:decode(iolist_to_binary(json:encode(ertslab_profile:json(Work, Profiles, ["mind this"], ["/there/a.svg"])))),
    ?assertMatch(#{~"experiment" := ~"toy", ~"params" := #{~"behaviour" := 0}, ~"notes" := [~"mind this"],
                   ~"vms" := [#{~"name" := ~"stock", ~"samples" := 600, ~"kinds" := #{~"other functions in C" := 600},
                                ~"hottest" := [#{~"function" := ~"inner", ~"self" := 500} | _]},
                              #{~"counters" := #{~"cycles" := null}}],
                   ~"paths" := #{~"folder" := ~"/there", ~"flame_graphs" := [~"/there/a.svg"]}}, Json).

a_profile_has_its_caveats(_) ->
    Notes = fun(Profiles) -> [unicode:characters_to_binary(Note) || Note <- ertslab_profile:notes(Profiles)] end,
    ?assertMatch([<<"A profile is not a timing", _/binary>>], Notes([profile(~"stock", [{~"cycles", 7}], 600)])),
    [_, Missing, Few] = Notes([(profile(~"stock", [{~"cycles", null}], 200))#{event := "cpu-clock"}]),
    ?assertMatch(<<"This machine does not count cycles; sampled by the kernel's clock", _/binary>>, Missing),
    ?assertEqual(~"Only 200 samples on stock, so shares are rough; --rounds gives more.", Few),
    Unknown = (profile(~"stock", [], 600))#{stacks := #{[~"beam", ~"[unknown]"] => 60, [~"beam", ~"f"] => 540}},
    ?assertMatch([_, <<"On stock 10.0 % of the samples are in functions without a symbol", _/binary>>], Notes([Unknown])).

%% 100 of the samples are in the outer function, all others in the inner one.
profile(Name, Counters, Samples) ->
    #{vm => #{name => Name, version => ~"27.0", build_id => ~"aa"}, counters => Counters, event => "cycles", prefix => "/there/x",
      stacks => #{[~"beam", ~"outer", ~"inner"] => Samples - 100, [~"beam", ~"outer"] => 100}}.

a_flame_graph_is_drawn_by_what_is_there(Config) ->
    Dir = dir(Config),
    [Folded, Svg, Log] = [filename:join(Dir, Name) || Name <- ["a.folded", "a.svg", "log"]],
    ok = file:write_file(Folded, "a;b 1\n"),
    tool(Config, "inferno-flamegraph", "echo \"<svg>$3 $(cat \"$4\")</svg>\""),
    ?assertEqual(filename:join(proplists:get_value(tools, Config), "inferno-flamegraph"), ertslab_flame:tool()),
    ?assertEqual(ok, ertslab_flame:draw(Folded, Svg, ["a ", "title"], Log)),
    ?assertEqual({ok, ~"<svg>a title a;b 1</svg>\n"}, file:read_file(Svg)),
    tool(Config, "inferno-flamegraph", "echo odd >&2; exit 1"),
    {error, Why} = ertslab_flame:draw(Folded, Svg, "a", Log),
    ?assertEqual(unicode:characters_to_binary(["no flame graph: its tool failed, see ", Log]),
                 ertslab_error:sentence({ertslab_flame, Why})),
    ?assertEqual({ok, ~"odd\n"}, file:read_file(Log)).

%% Those that valgrind's VM is started with.
words_of_a_run_make_its_case_again(_) ->
    Params = #{shape => ints, size => 2000},
    Words = ertslab_cachegrind_run:words(exp_gc_shapes, Params),
    [Name | Given] = lists:nthtail(2, lists:dropwhile(fun(Word) -> Word =/= "-run" end, Words)) -- ["main"],
    ?assertEqual("exp_gc_shapes", Name),
    ?assertEqual(Params, ertslab_cachegrind_run:params(exp_gc_shapes, Given)).

stock() -> ertslab_inventory:find(~"stock", hd(ertslab_inventory:releases())).
