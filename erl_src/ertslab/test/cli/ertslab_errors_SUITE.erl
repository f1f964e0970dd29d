%% Errors are values below the commands: each module says its own reasons in a sentence, and only ertslab_advice names commands
%% such as `./build.sh otp'.
-module(ertslab_errors_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, sentences_are_said_by_who_made_the_reason/1, no_sentence_is_returned/1, each_reason_has_a_sample/1, each_reason_is_said/1,
         only_advice_names_a_script/1, advice_is_of_the_place/1]).

-define(KINDS, [usage, failure, beyond, incomplete]).
-define(SCRIPT, "./build.sh").

all() ->
    [sentences_are_said_by_who_made_the_reason, no_sentence_is_returned, each_reason_has_a_sample, each_reason_is_said,
     only_advice_names_a_script, advice_is_of_the_place].

%% A finished sentence in place of the module would be a string.
sentences_are_said_by_who_made_the_reason(_) ->
    Thrown = [{Caller, First} || Caller <- modules(),
                                 {call, _, {remote, _, {atom, _, ertslab_error}, {atom, _, Kind}}, [First, _]} <- nodes_of(forms(Caller)),
                                 lists:member(Kind, ?KINDS)],
    ?assert(lists:member(ertslab_folder_lock, [Caller || {Caller, _} <- Thrown])),
    ?assertEqual([], lists:usort([Caller || {Caller, First} <- Thrown, First =/= {atom, element(2, First), Caller}])).

no_sentence_is_returned(_) ->
    ?assertEqual([], lists:usort([Module || Module <- modules(),
                                            {tuple, _, [{atom, _, error}, What]} <- nodes_of(forms(Module)), is_text(What)])).

is_text({string, _, _}) -> true;
is_text({bin, _, _}) -> true;
is_text({cons, _, Head, _}) -> is_text(Head);
is_text(_) -> false.

each_reason_has_a_sample(_) ->
    [?assertEqual({Module, lists:usort(reasons(Module))}, {Module, lists:usort([shape(Reason) || {M, Reason} <- samples(), M =:= Module])})
     || Module <- makers()].

each_reason_is_said(_) ->
    [begin
         Sentence = ertslab_error:sentence(Error),
         ?assertMatch({match, _}, re:run(Sentence, "^[^\\n]*[^ \\n.]\\.?$", [unicode, dollar_endonly]), {Error, Sentence}),
         ?assertEqual(nomatch, re:run(Sentence, "\\.\\.$|  |~[tspbw]", [unicode]), {Error, Sentence}),
         [?assert(byte_size(ertslab_advice:sentence(Error, Place)) >= byte_size(Sentence)) || Place <- [checkout, single_file]]
     end || Error <- samples()].

%% Comments are in no form.
only_advice_names_a_script(_) ->
    ?assertEqual([], [{Module, Text} || Module <- modules(), room(Module) =/= cli,
                                        {string, _, Text} <- nodes_of(forms(Module)), string:find(Text, ?SCRIPT) =/= nomatch]).

advice_is_of_the_place(_) ->
    [begin
         ?assertEqual(InCheckout, ertslab_advice:sentence(Error, checkout)),
         ?assertEqual(InSingleFile, ertslab_advice:sentence(Error, single_file))
     end || {Error, InCheckout, InSingleFile} <- advised()].

%% What is said in a checkout, and by the single file.
advised() ->
    [{{ertslab_os_command, {missing, "perf", "linux-perf"}},
      ~"perf is missing; './build.sh deps' installs it (Debian package linux-perf).",
      ~"perf is missing; it is in Debian's package linux-perf."},
     {{ertslab_results, {cannot_write, "x.y", enospc, anew}},
      ~"cannot write x.y: no space left on device.",
      ~"cannot write x.y: no space left on device."},
     {{ertslab_paths, {wants_the_lab, "list"}},
      ~"list needs a clone of ertslab in which './build.sh demo', './build.sh native' and './build.sh erl' have run",
      ~"list needs a clone of ertslab in which './build.sh demo', './build.sh native' and './build.sh erl' have run"},
     {{ertslab_builds, {too_few, ~"stock", 27, 4}},
      ~"stock of OTP 27 is not built 4 times; './build.sh otp --otp 27 --builds 4' does that.",
      ~"stock of OTP 27 is not built 4 times."},
     {{ertslab_inventory, nothing_built},
      ~"no Erlang/OTP is built; run './build.sh otp'.",
      ~"no Erlang/OTP is built."},
     {{ertslab_inventory, {not_built, 99}},
      ~"OTP 99 is not built; run './build.sh otp --otp 99'.",
      ~"OTP 99 is not built."},
     {{ertslab_inventory, {damaged, "m.json", {release, "27"}}},
      ~"m.json is damaged; remove it, and './build.sh otp --otp 27' writes it anew.",
      ~"m.json is damaged."},
     {{ertslab_inventory, {damaged, "m.json", revision}},
      ~"m.json is damaged; remove it, and './build.sh otp --git PATH --rev REVISION' writes it anew.",
      ~"m.json is damaged."},
     {{ertslab_inventory, {no_interpreter, ~"tuned", 27}},
      ~"the interpreter of tuned, which valgrind wants, is not built; './build.sh otp --otp 27 --interpreter tuned' builds it.",
      ~"the interpreter of tuned, which valgrind wants, is not built."},
     {{ertslab_inventory, {no_variant, ~"tune", 27, [~"stock", ~"tuned"]}},
      ~"there is no variant 'tune' of OTP 27 here; choose from: stock tuned ('./build.sh otp --otp 27' builds all that are declared)",
      ~"there is no variant 'tune' of OTP 27 here; choose from: stock tuned"},
     {{ertslab_inventory, {no_emulator, "beam.smp", 27}},
      ~"the emulator beam.smp is missing; './build.sh otp --otp 27' builds it.",
      ~"the emulator beam.smp is missing."},
     {{ertslab_revision, {not_built, "git:~/my otp@main+tuned", "/home/me/my otp", "main+tuned"}},
      ~"git:~/my otp@main+tuned is not built; this builds it: ./build.sh otp --git '/home/me/my otp' --rev main+tuned",
      ~"git:~/my otp@main+tuned is not built"},
     {{ertslab_vm, {no_vm_starts, "me@lab", {exception, {does_not_load, toy_nif}, []}}},
      ~"me@lab: no VM starts there: toy_nif, which the experiment needs, does not load there ('./build.sh native' builds native code).",
      ~"me@lab: no VM starts there: toy_nif, which the experiment needs, does not load there."},
     {{ertslab_plan, {other_code, "me@lab", "/ertslab"}},
      ~"me@lab: the ertslab in /ertslab is not the same as this one; bring both to one commit and run './build.sh erl'.",
      ~"me@lab: the ertslab in /ertslab is not the same as this one."},
     {{ertslab_arms, {not_built, "tuned"}},
      ~"tuned is not built; './build.sh otp' builds it, with --otp N for another release. An Erlang that is installed is named by its path, as /usr.",
      ~"tuned is not built."},
     {{ertslab_declared, {none, toys}},
      ~"no application here declares 'toys'; './build.sh erl' compiles those of this clone.",
      ~"no application here declares 'toys'."},
     {{ertslab_judges, {failed, "web", {ertslab_inventory, {not_built, 99}}}},
      ~"web: OTP 99 is not built; run './build.sh otp --otp 99'.",
      ~"web: OTP 99 is not built."},
     {{ertslab_flood, {not_loaded, none, "no such file"}},
      ~"cannot write to a file for temporary use: the driver cannot be loaded (no such file); './build.sh native' builds it.",
      ~"cannot write to a file for temporary use: the driver cannot be loaded (no such file)."},
     {{ertslab_gnuplot, missing},
      ~"gnuplot is missing; './build.sh deps' installs it.",
      ~"gnuplot is missing."},
     {{ertslab_flame, no_tool},
      ~"no flame graph, only folded stacks: ./build.sh deps (Debian package libdevel-nytprof-perl), or inferno-flamegraph in PATH",
      ~"no flame graph, only folded stacks"},
     {{ertslab_output_check, {ended, ~"stock", #{n => 1}, {exception, {does_not_load, toy_nif}, []}}},
      <<"stock did not end well (n=1): toy_nif, which the experiment needs, does not load there"
        " ('./build.sh native' builds native code). Nothing was timed.">>,
      ~"stock did not end well (n=1): toy_nif, which the experiment needs, does not load there. Nothing was timed."},
     {{ertslab_doctor, {missing, 2}},
      ~"2 things that are needed are missing.",
      ~"2 things that are needed are missing."}].

%% One for each reason of each module.
samples() -> [{Module, Reason} || {Module, Reasons} <- reasons_of(), Reason <- Reasons].

reasons_of() ->
    [{ertslab_paths, [{wants_the_lab, "list"}]},
     {ertslab_os_command, [{missing, "perf", "linux-perf"}]},
     {ertslab_folder_lock, [{measuring_into, "results/x"}, {writing_into, "looks.jsonl"}]},
     {ertslab_results, [{other_files, "x"}, {cannot_read, "x", enoent}, {cannot_write, "x", enospc, resumes},
       {cannot_write, "x", eacces, anew}]},
     {ertslab_scratch, [{no_folder, enoent}]},
     {ertslab_memory_limit, [{too_large, "cells=1", 1 bsl 40, 1 bsl 30},
       {too_large_to_read, "samples.jsonl", 1.0e12, 1 bsl 30}]},
     {ertslab_builds, [{too_few, ~"stock", 27, 4}]},
     {ertslab_emulator_facts, [{does_not_start, ~"stock", Flags, timeout} || Flags <- [[], ["+S", "1"]]]},
     {ertslab_installation, [{ended, "bin/erl", 1}, {silent, "bin/erl"}, {no_erlang, "/opt"},
       {says_something_else, "bin/erl"}, {too_old, "bin/erl", 21, 25},
       {below_target, "bin/erl", 25, "29", 27}, {no_release, "bin/erl", ~"R16B"}]},
     {ertslab_inventory, [nothing_built, {not_built, 27}, {no_release, 28, [27, 29]}, {damaged, "manifest.json", revision},
       {no_interpreter, ~"stock", 27}, {no_variant, ~"tune", 27, [~"stock", ~"tuned"]}, {not_one_or_two, "a,b,c"},
       {no_emulator, "beam.stock.smp", 27}]},
     {ertslab_live_node, [{silent, "a@b", 7, unknown}, {refused, "a@b", true}, {refused, "a@b", false}, {refused, "a@b", unknown},
       {no_name, "a"}, no_cookie, {no_cookie_in, ".erlang.cookie", 255},
       {no_cookie_of, 255},
       no_distribution]},
     {ertslab_remote, [{silent, "me@lab", <<>>}, {silent, "me@lab", ~"Warning\nConnection refused\n"},
       {slow, "me@lab", <<>>}, {not_built, "me@lab", "/ertslab", <<>>}, {older, "me@lab"}, {no_list, "me@lab"}]},
     {ertslab_revision, [{no_word, "git:x"}, {no_revision, "git:x@y"}, {not_built, "git:x@y", "x", "y"}]},
     {ertslab_ssh, [{no_address, "-x"}, {home_of_another, "~me/lab"}, {lost, "me@lab"}]},
     {ertslab_vm, [{no_vm_starts, "me@lab", timeout}]},
     {ertslab_elixir, [{does_not_start, "elixirc.log"}, {first_error, ~"SyntaxError) a.exs:1"}, no_reason, too_slow]},
     {ertslab_experiment_source, [{elsewhere, "exp_a.erl"}, {misnamed, "a.erl", ".erl"}, {no_file, "exp_a.erl"},
       {name_is_taken, "exp_a.erl"}, {does_not_compile, "exp_a.erl", {{1, 2}, erl_lint, {undefined_function, {f, 1}}}},
       {incomplete, "exp_a.erl", info, 0}, no_reason, {no_module, exp_a}, no_compiler,
       {odd_info, "exp_a.erl", "has no title"}, {info_fails, "exp_a.erl", undef},
       {does_not_load, "exp_a.erl", on_load_failure}]},
     {ertslab_parameters, [{no_experiment, "lenght", ["length", "queue"]}, {given_twice, "cells"}, several_cases,
       {no_parameter, "cell", [cells, words]}, {not_one_of, shape, "x", [lists, maps]}, {not_within, cells, "0", 1, 9}]},
     {ertslab_declared, [{none, toys}]},
     {ertslab_watch_log, [{other_node, "x.log", ~"a@b", ~"c@d"}, {newer, "x.log"}, {no_log, "x.log"}, {no_regular_file, "/dev/null"},
                           {two_nodes, "x.log", ~"a@b", ~"c@d"}]},
     {ertslab_arm_code, [{no_folder, "old"}, {nothing_built, "old"}]},
     {ertslab_expressions, [{do_not_compile, {1, erl_lint, {unbound_var, 'X'}}},
       {no_expression, "1 +", {erl_parse, ["syntax error before: ", "'+'"]}}, {no_expression, "", empty}]},
     {ertslab_samples, [{run_twice, "samples.jsonl", 3}, {no_sample, "samples.jsonl", 6},
       {edited, "samples.jsonl", 1, 3, 1}]},
     {ertslab_session, [{finished, "x"}, {another, "x"}, {newer, "x"}, {older, "x"},
       {other_emulator, "samples.jsonl", 3}, {damaged, "session.json"}]},
     {ertslab_plan, [no_comparison, {expression_twice, ~"lists:seq(1, 2)"}, {one_value, "cells"},
       {other_code, "me@lab", "/ertslab"}, {other_otp, "me@lab", ~"27.0", ~"27.3"}, {not_both, "--budget", "--pairs"},
       {too_many_builds, 7, 6}, {too_few_to_be_exact, 2, 3}, {too_little_time, ~"7s", 9, 600, 10, 1},
       {too_few_pairs, 9, 10, 1}]},
     {ertslab_arms, [arm_says_all, one_arm, one_difference, {one_erlang, "stock"}, {several_erlangs, "--flags"},
       {no_flag, "-s"}, {only_there, "/usr"}, {no_builds, "/usr"}, {no_release, "stock@x", "27"}, {same_label, ~"a"},
       {named_as_control, ~"stock_copy"}, nothing_built, {not_built, "tuned"}]},
     {ertslab_place_here, [{unfit, [~"swap 7 pages were read back in a second; free memory first"]},
       {impossible, ~"the processor is emulated by /usr/bin/qemu-aarch64, whose speed would be measured"}]},
     {ertslab_place_ssh, [{no_machine, "lab"}, {no_text, "lab"}, {same_folder, "lab", "lab7"}, {cannot_read, "lab", enoent}]},
     {ertslab_place_slurm, [no_sbatch, {unfit, ["lab7", "lab8"]}, {said, ~"sbatch said nothing"}, {no_results, "/tmp/out/node-1"}]},
     {ertslab_places, [json_of_several, host_dir_without_host, slurm_elsewhere, slurm_without_out, nodes_without_slurm,
       fleet_and_host, builds_elsewhere, fleet_without_out, {failed, ["lab", "node-2"], "x"}, {all_failed, ["lab", "node-2"]}]},
     {ertslab_fail_if, [{program, ~"web", ~"tuned", 1.03, {slower, 0.02}}, {places, ["lab", "node-2"]}, {no_run, ~"tuned", ~"cpu"}, {no_ratio, ~"tuned", ~"cpu"},
       {results, 2, {slower, 0.02}, #{metric => ~"cpu", unit => ~"ns", params => #{}, label => ~"tuned", baseline => ~"stock", ratio => 1.03}}]},
     {ertslab_judges, [{no_judge, "x", ["web", "elixir"]}, {failed, "web", {ertslab_inventory, nothing_built}},
       {no_judgement, "web"}, {ended_badly, "web", 2, ~"tuned", ~"no answer in time"}]},
     {ertslab_perf, [{no_sample, "length", ~"stock"}]},
     {ertslab_cachegrind, [{no_counts, "x/stock-1"}, {failed, "length", ~"stock", ~"no answer in time"},
       {too_slow, "length", ~"stock"}, {valgrind_failed, "x/stock-1"}]},
     {ertslab_sampler, [{ended, "length", ~"stock", timeout}, {not_allowed, "perf.log"}, {perf_failed, "perf.log"}]},
     {ertslab_follow, [{does_not_build, "0123456789abcdef"}]},
     {ertslab_bisect, [{does_not_build, "0123456789abcdef"}, {no_ratio, "x"}]},
     {ertslab_history_folder, [{another_question, "x"}, {damaged, "history.json"}]},
     {ertslab_revision_reading, [{no_metric, "third", [~"first", ~"second"]}, {several_cases, 2}]},
     {ertslab_history, [{not_before, "main", "main~3", "otp"}, {no_folder, "otp"}, {no_revision, "otp", "none"}]},
     {ertslab_selftest, [{not_for, same_within, "--machine"}, not_honest]},
     {ertslab_selftest_machine, [too_often]},
     {ertslab_recording, [{no_recording, "x.gz"}, {other_format, "x", 7}]},
     {ertslab_selftest_record, [{no_noise, "x", "gc_shapes"}]},
     {ertslab_audit, [{not_both, "--static", "--timed"}, {needs, cookie, "--node"}, no_target,
       {only_otp, "a@b"}, {no_call, "is no call"}, no_compiler, {failed, ~"stock", timeout}, {audit, {unknown, "x"}},
       {baseline, {cannot, read, "x", enoent}}, {found, [{new, 2}, {judged, #{modules => 0, findings => [], skipped => [],
                                                                                              outdated => [], perhaps_outdated => []}}]}]},
     {ertslab_audit_node, [{node, nodedown}]},
     {ertslab_advise, [{lost, 'a@b'}, {no_pid, "<0.x>"}, {no_process, 'a@b', "x.*"}, {no_pattern, "(", "missing )"}]},
     {ertslab_flood, [{not_one_of, "the way", "x", ["direct", "dam"]}, {sink_exists, "x"},
       {not_loaded, none, "no file"}, {cannot_write, "x", enospc}, {cannot_go_on, enospc}, {ended, timeout}, {lost, 2},
       {too_many, 2}]},
     {ertslab_diagnose_log, [{node, busy}]},
     {ertslab_census, [{bad_time, 1, 300}, {failed, "a@b", busy}, {not_traced, traced}]},
     {ertslab_diagnose, [{silent, unknown}, {silent, #{os_pid => "7", stopped => by_signal, threads => []}}, without_watch, without_census,
       every_without_log, {no_collect, "x"}, {not_both, "--json", "--watch"}, {node, busy},
       {process, "<0.80.0>", noproc}, {process, "<0.80.0>", near_max_heap}, {nothing_found, unknown}, {found, 2}]},
     {ertslab_try, [{too_short, 1, 12}, {failed, "<0.80.0>", "a@b", lost}]},
     {ertslab_try_setting, [no_setting, no_queue, no_size, no_flag]},
     {ertslab_summary_file, [{no_summary, "x/summary.json"}, {no_manifest, "x/manifest.json"}, {no_sample, "x/samples.jsonl"},
       {no_json, "x/summary.json", 2}, {cut_off, "x/summary.json", 1}, {no_object, "x/summary.json"},
       {unknown_format, "x/summary.json", 4, 3}]},
     {ertslab_watch_spans, [no_look, none_between, {none_before, 1_790_000_000}, {none_from, 1_790_000_000}]},
     {ertslab_watch_report, [{no_format, markdown}, {several, "looks.jsonl"}]},
     {ertslab_report_pages, [{stale, "x.md"}, {no_end, "x.md", ~"<!-- table: stock"}, {no_row, "x.md", ~"a | b"},
                             {not_measured, "x", ~"cpu", ~"tuned"}, {several_cases, "x"}, {no_profile, "x.md", ~"a"},
                             {no_case, "x", ~"bytes=1"}]},
     {ertslab_report_data, [{no_folder, "x"}, {no_comparison, "x"}, {unfinished, "x", "/x", [~"compare", ~"toy"]},
       {older, "x", "/x", [~"compare", ~"toy"]}]},
     {ertslab_gnuplot, [missing, {cannot_write, enospc}, no_end, {says, ~"line 1: invalid command"}, failed]},
     {ertslab_flame, [no_tool, {tool_failed, "flame.log"}]},
     {ertslab_arguments,
      [{unknown, "fly"}
       | [{wrong, "list", Problem}
          || Problem <- [nothing_behind, {missing, "--vm"}, {unknown, "--fly"}, {no_value, "--json"}, {value, "--out"},
                         {no_integer, "--pairs", "x"}, {not_one_of, "--format", "pdf", [html, table]}, {below, "--pairs", 1},
                         {above, "--pairs", 10000}, {text, "--budget", "x", {ertslab_option_types, no_duration}}]]]},
     {ertslab_option_types, [no_duration, no_time, no_local_time, no_percentage, no_bound, no_assignment, no_name, no_erlang,
       no_arm, no_flags, quoted_flags, no_word, one_build, no_builds, no_path]},
     {ertslab_output_check,
      [{differs, work, ~"tuned", ~"stock", Case} || Case <- [#{}, #{n => 1}]] ++ [{ended, ~"stock", #{n => 1}, timeout}]},
     {ertslab_cli, [no_text, no_command, no_linux, {wrong_arguments, {ertslab_arguments, {unknown, "fly"}}},
       {has_a_blank, "a b"}, {no_log, from, "x"}]},
     {ertslab_doctor, [{missing, 2}]}].

makers() -> [Module || Module <- modules(), erlang:function_exported(Module, format_error, 1)].

%% The alternatives of the type reason/0, each as an atom or as the first element and the size of a tuple.
reasons(Module) ->
    [Type] = [Type || {attribute, _, type, {reason, Type, []}} <- forms(Module)],
    case Type of
        {type, _, union, Types} -> [shape_of_type(One) || One <- Types];
        _ -> [shape_of_type(Type)]
    end.

shape_of_type({atom, _, Name}) -> Name;
shape_of_type({type, _, tuple, [{atom, _, Name} | _] = Elements}) -> {Name, length(Elements)}.

shape(Reason) when is_tuple(Reason) -> {element(1, Reason), tuple_size(Reason)};
shape(Reason) -> Reason.

modules() ->
    _ = application:load(ertslab),
    {ok, Modules} = application:get_key(ertslab, modules),
    Own = [Module || Module <- Modules, lists:prefix("ertslab_", atom_to_list(Module)), not lists:suffix("_SUITE", atom_to_list(Module))],
    ok = code:ensure_modules_loaded(Own),
    Own.

room(Module) -> list_to_atom(filename:basename(filename:dirname(proplists:get_value(source, Module:module_info(compile))))).

forms(Module) ->
    {ok, {Module, [{abstract_code, {raw_abstract_v1, Forms}}]}} = beam_lib:chunks(code:which(Module), [abstract_code]),
    Forms.

%% Every term within the forms.
nodes_of(Form) when is_tuple(Form) -> [Form | nodes_of(tuple_to_list(Form))];
nodes_of([Head | Tail]) -> nodes_of(Head) ++ nodes_of(Tail);
nodes_of(_) -> [].
