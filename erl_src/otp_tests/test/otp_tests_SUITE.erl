%% Reading what Common Test logs, and comparing it: every way in which a variant
%% can be unlike stock is named, and nothing else is.
-module(otp_tests_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, log_is_read/1, case_without_result_crashed/1, surroundings_count_where_they_fail/1,
         equal_runs_are_the_same/1, difference_is_named/1, difference_that_does_not_last_is_unsteady/1,
         added_case_must_pass/1, lost_case_is_a_difference/1, failing_on_both_is_not_hidden/1,
         case_in_several_groups/1, report_names_every_case/1, run_without_cases_is_none/1]).

all() -> [log_is_read, case_without_result_crashed, surroundings_count_where_they_fail,
          equal_runs_are_the_same, difference_is_named, difference_that_does_not_last_is_unsteady,
          added_case_must_pass, lost_case_is_a_difference, failing_on_both_is_not_hidden,
          case_in_several_groups, report_names_every_case, run_without_cases_is_none].

log_is_read(_) ->
    ?assertEqual(#{~"gc_SUITE:grow" => [outcome(~"ok", ~"")],
                   ~"gc_SUITE:shrink" => [outcome(~"failed", ~"{badmatch,1}, unknown")],
                   ~"gc_SUITE:other" => [outcome(~"skipped", ~"no such machine")]},
                 otp_tests_log:cases(~"""
                 =cases          3
                 =case           gc_SUITE:grow
                 =logfile        gc_suite.grow.html
                 =result         ok
                 =elapsed        0.1
                 =case           gc_SUITE:shrink
                 =result         failed: {badmatch,1}, unknown
                                 a second line
                 =elapsed        0.1
                 =case           gc_SUITE:other
                 =result         skipped: no such machine
                 """)).

run_without_cases_is_none(_) ->
    Vm = #{'a: the VM' => [~"ok"]},
    ?assertEqual([false, false, false, true],
                 [otp_tests_suite:has_passed_cases((run(Cases))#{~"suite" => ~"a"})
                  || Cases <- [Vm, Vm#{x => [~"auto_skipped"]}, Vm#{'a:init_per_suite' => [~"failed"]}, Vm#{x => [~"ok"]}]]),
    ?assertMatch({match, _}, re:run(otp_tests:format_error({no_cases, "emulator/gc_SUITE", "logs"}), "nothing to compare")).

case_without_result_crashed(_) ->
    ?assertMatch(#{~"a_SUITE:x" := [#{~"result" := ~"crashed"}], ~"a_SUITE:y" := [#{~"result" := ~"crashed"}],
                   ~"a_SUITE:z" := [#{~"result" := ~"ok"}]},
                 otp_tests_log:cases(~"=case a_SUITE:x\n=case a_SUITE:z\n=result ok\n=case a_SUITE:y\n=logfile y")).

surroundings_count_where_they_fail(_) ->
    ?assertEqual([~"a_SUITE:end_per_suite"],
                 maps:keys(otp_tests_log:cases(~"""
                 =case a_SUITE:init_per_suite
                 =result ok
                 =case a_SUITE:end_per_suite
                 =result failed: something
                 """))).

equal_runs_are_the_same(_) ->
    Run = run(#{x => [~"ok"], y => [~"skipped"]}),
    ?assertMatch(#{cases := 2, skipped := 1, different := [], unsteady := [], added := [], failing := []},
                 compared([Run], [Run])).

difference_is_named(_) ->
    Stock = run(#{x => [~"ok"], y => [~"ok"]}),
    Variant = run(#{x => [~"failed"], y => [~"ok"]}),
    ?assertMatch(#{different := [#{'case' := ~"x", stock := [~"ok"], variant := [~"failed"], reason := ~"for failed"}],
                   unsteady := []},
                 compared([Stock], [Variant])),
    ?assertMatch(#{different := [#{'case' := ~"x", stock := [~"ok", ~"ok"], variant := [~"failed", ~"failed"]}]},
                 compared([Stock, Stock], [Variant, Variant])),
    ?assertMatch(#{different := [#{'case' := ~"x"}]}, compared([Variant], [Stock])).

difference_that_does_not_last_is_unsteady(_) ->
    Ok = run(#{x => [~"ok"]}),
    Failed = run(#{x => [~"failed"]}),
    ?assertMatch(#{different := [], unsteady := [#{'case' := ~"x", variant := [~"failed", ~"ok"]}]},
                 compared([Ok, Ok], [Failed, Ok])),
    ?assertMatch(#{different := [], unsteady := [_]}, compared([Ok, Failed], [Failed, Failed])).

added_case_must_pass(_) ->
    None = run(#{}),
    Ok = run(#{x => [~"ok"]}),
    Failed = run(#{x => [~"failed"]}),
    ?assertMatch(#{added := [#{'case' := ~"x"}], different := []}, compared([None], [Ok])),
    ?assertMatch(#{added := [], different := [#{stock := [~"absent"]}]}, compared([None], [Failed])),
    ?assertMatch(#{added := [], different := [_]}, compared([None], [run(#{x => [~"skipped"]})])),
    ?assertMatch(#{added := [], different := [], unsteady := [_]}, compared([None, None], [Failed, Ok])).

lost_case_is_a_difference(_) ->
    ?assertMatch(#{different := [#{variant := [~"absent"]}]}, compared([run(#{x => [~"ok"]})], [run(#{})])).

failing_on_both_is_not_hidden(_) ->
    Run = run(#{x => [~"failed"]}),
    ?assertMatch(#{different := [], failing := [#{'case' := ~"x"}]}, compared([Run], [Run])).

case_in_several_groups(_) ->
    Stock = run(#{x => [~"ok", ~"failed"]}),
    ?assertMatch(#{different := [], failing := [_]}, compared([Stock], [run(#{x => [~"failed", ~"ok"]})])),
    ?assertMatch(#{different := [_]}, compared([Stock], [run(#{x => [~"ok", ~"ok"]})])),
    ?assertMatch(#{different := [_]}, compared([Stock], [run(#{x => [~"ok"]})])).

report_names_every_case(_) ->
    Suite = compared([run(#{a => [~"ok"], b => [~"failed"], d => [~"ok"]})],
                     [run(#{a => [~"failed"], b => [~"failed"], c => [~"ok"], d => [~"ok"]})]),
    Report = otp_tests_compare:report([Suite], #{vm => ~"v", otp => ~"29.0", emulator => ~"opt"}),
    Text = unicode:characters_to_list(otp_tests_text:report(Report)),
    ?assertMatch(#{ok := false, cases := 4}, Report),
    ?assertMatch({match, _}, re:run(Text, "Different from stock:\n  a: stock ok; here failed \\(for failed\\)\n")),
    ?assertMatch({match, _}, re:run(Text, "Failing on stock too:\n  b: ")),
    ?assertMatch({match, _}, re:run(Text, "Added by the patches, and passed:\n  c: ")),
    ?assertEqual(nomatch, re:run(Text, "\n  d: ")).

compared(OnStock, OnVariant) -> otp_tests_compare:suite("toy_SUITE", OnStock, OnVariant).

run(Cases) ->
    #{~"seconds" => 1,
      ~"cases" => #{atom_to_binary(Name) => [outcome(Result, <<"for ", Result/binary>>) || Result <- Results]
                    || Name := Results <- Cases}}.

outcome(Result, Reason) -> #{~"result" => Result, ~"reason" => Reason}.
