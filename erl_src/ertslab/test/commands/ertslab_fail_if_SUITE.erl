%% What a bound on the command line makes of a summary.
-module(ertslab_fail_if_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, only_what_is_judged_fails/1, what_is_not_apart_from_the_control_does_not_fail/1,
         what_the_estimators_disagree_about_is_left_out/1, the_first_result_is_told_in_full/1, changed_is_either_way/1,
         programs_are_judged_as_a_whole/1,
         what_was_found_stands_beside_what_failed/1,
         a_count_that_was_zero_is_beyond_each/1, an_arm_without_a_result_is_not_passed/1,
         a_baseline_of_zero_is_not_passed/1]).

all() -> [only_what_is_judged_fails, what_is_not_apart_from_the_control_does_not_fail, what_the_estimators_disagree_about_is_left_out,
          the_first_result_is_told_in_full, changed_is_either_way, programs_are_judged_as_a_whole,
          what_was_found_stands_beside_what_failed,
     a_count_that_was_zero_is_beyond_each, an_arm_without_a_result_is_not_passed, a_baseline_of_zero_is_not_passed].

%% Not what is unsure, the same or void, and not the control, however far it is.
only_what_is_judged_fails(_) ->
    Rows = [row(~"a", changed, 1.03), row(~"b", unsure, 2.0), row(~"c", same, 1.5), row(~"d", void, 3.0),
            row(~"again", changed, 1.9), row(~"e", changed, 1.0199), row(~"f", changed, 0.5)],
    ?assertEqual([~"a"], labels({slower, 0.02}, Rows)),
    ?assertEqual([~"a", ~"e"], labels({slower, 0.01}, Rows)),
    ?assertEqual([], labels({slower, 0.04}, Rows)).

%% As compare judges it, and as it is read from a summary of the past.
what_is_not_apart_from_the_control_does_not_fail(_) ->
    Row = fun(Low) ->
                  ertslab_verdict:beside_control(#{label => ~"a", metric => ~"call", unit => ~"ns", verdict => changed, more_pairs => none,
                                                   ratio => #{estimate => 1.5, low => 1.4, high => 1.6}, runs => 9,
                                                   to_control => #{estimate => 1.4, low => Low, high => 1.8}})
          end,
    Check = fun(Low, Bound) -> ertslab_fail_if:check(#{fail_if => Bound}, summary([Row(Low)])) end,
    [begin
         ?assertEqual([~"a"], labels(Bound, [Row(1.01)])),
         ?assertThrow({beyond, _}, Check(1.01, Bound)),
         ?assertEqual([], labels(Bound, [Row(0.99)])),
         ?assertEqual(ok, Check(0.99, Bound))
     end || Bound <- [{slower, 0.02}, {changed, 0.02}]].

%% The report says `changed, but median ...', which stands for unsure.
what_the_estimators_disagree_about_is_left_out(_) ->
    Rows = [(row(Label, changed, 1.5))#{other => #{disagrees => Disagrees, ratio => #{estimate => Median}}}
            || {Label, Disagrees, Median} <- [{~"a", true, 1.01}, {~"b", false, 1.01}, {~"c", true, 1.4}, {~"d", true, 0.5}]],
    ?assertEqual([~"b", ~"c"], labels({slower, 0.02}, Rows)),
    ?assertEqual([~"b", ~"c"], labels({changed, 0.02}, Rows)).

the_first_result_is_told_in_full(_) ->
    Said = fun(Number, Bound, First) -> ertslab_error:sentence({ertslab_fail_if, {results, Number, Bound, First}}) end,
    ?assertEqual(~"2 results are slower by at least 2 %. First result: metric call, n=1: 'a' needs 1.500 times the time of 'old'.",
                 Said(2, {slower, 0.02}, first(1.5))),
    ?assertEqual(~"1 result is slower or faster by at least 5 %. First result: metric call: the value of 'a' is 2.000 times that of 'old'.",
                 Said(1, {changed, 0.05}, (first(2))#{unit := ~"bytes", params := #{}})),
    ?assertEqual(~"1 result is slower by at least 2 %. First result: metric call, n=1: the value of 'a' is not 0, and that of 'old' is 0.",
                 Said(1, {slower, 0.02}, first(none))).

changed_is_either_way(_) ->
    Rows = [row(~"a", changed, 1.03), row(~"b", changed, 0.97), row(~"c", changed, 0.99)],
    ?assertEqual([~"a", ~"b"], labels({changed, 0.02}, Rows)).

programs_are_judged_as_a_whole(_) ->
    Judgement = fun(Name, Role, Outcome, Estimate) ->
                        #{name => Name, label => ~"tuned", role => Role, outcome => Outcome, estimate => Estimate}
                end,
    Judgements = [Judgement(~"web", compared, slower, 1.03), Judgement(~"elixir", compared, slower, 1.01),
                  Judgement(~"x", compared, unsure, 1.5),
                  Judgement(~"y", compared, void, 1.5), Judgement(~"z", control, slower, 1.5), Judgement(~"f", compared, faster, 0.5)],
    Errors = fun(Bound) -> ertslab_fail_if:judged(#{fail_if => Bound}, Judgements) end,
    ?assertEqual([{ertslab_fail_if, {program, ~"web", ~"tuned", 1.03, {slower, 0.02}}}], Errors({slower, 0.02})),
    ?assertMatch([{_, {program, ~"web", _, _, _}}, {_, {program, ~"f", ~"tuned", 0.5, _}}], Errors({changed, 0.02})),
    ?assertEqual([], ertslab_fail_if:judged(#{}, Judgements)).

what_was_found_stands_beside_what_failed(_) ->
    ?assertEqual(ok, ertslab_fail_if:ended([], [])),
    Failed = {ertslab_places, {failed, ["gone"], "x"}},
    Beyond = {ertslab_fail_if, {places, ["lab", "node-2"]}},
    ?assertThrow({failure, [Failed]}, ertslab_fail_if:ended([], [Failed])),
    ?assertThrow({beyond, [Beyond]}, ertslab_fail_if:ended(["lab", "node-2"], [])),
    ?assertThrow({beyond, [Failed, Beyond]}, ertslab_fail_if:ended(["lab", "node-2"], [Failed])).

labels(Bound, Rows) ->
    [Label || {#{~"n" := 1}, #{label := Label}} <- ertslab_fail_if:found(Bound, summary(Rows))].

summary(Rows) ->
    #{cases => [#{params => #{~"n" => 1}, rows => Rows}], overall => [], plan => #{control => ~"again", baseline_label => ~"old"}}.

row(Label, Verdict, none) -> (row(Label, Verdict, 1))#{ratio := none};
row(Label, Verdict, Ratio) ->
    #{label => Label, metric => ~"call", unit => ~"ns", verdict => Verdict, ratio => #{estimate => Ratio}}.

first(Ratio) -> #{metric => ~"call", unit => ~"ns", params => #{~"n" => 1}, label => ~"a", baseline => ~"old", ratio => Ratio}.

%% It has no ratio.
a_count_that_was_zero_is_beyond_each(_) ->
    Rows = [row(~"a", changed, none), row(~"b", same, none), row(~"again", changed, none)],
    First = first(none),
    [begin
         ?assertEqual([~"a"], labels(Bound, Rows)),
         ?assertThrow({beyond, {ertslab_fail_if, {results, 1, Bound, First}}},
                      ertslab_fail_if:check(#{fail_if => Bound}, summary(Rows)))
     end || Bound <- [{slower, 0.02}, {changed, 2.0}]].

%% All its runs may have crashed. What is beyond the bound comes first.
an_arm_without_a_result_is_not_passed(_) ->
    First = first(1.5),
    Nothing = (row(~"b", none, none))#{runs => 0},
    Check = fun(Verdict) -> ertslab_fail_if:check(#{fail_if => {slower, 0.02}}, summary([row(~"a", Verdict, 1.5), Nothing])) end,
    ?assertThrow({failure, {ertslab_fail_if, {no_run, ~"b", ~"call"}}}, Check(same)),
    ?assertThrow({beyond, {ertslab_fail_if, {results, 1, {slower, 0.02}, First}}}, Check(changed)),
    ?assertEqual(ok, ertslab_fail_if:check(#{}, summary([Nothing]))).

%% The time of the baseline may be too short for its clock. Two that are 0 are the same.
a_baseline_of_zero_is_not_passed(_) ->
    Check = fun(Values) ->
                    ertslab_fail_if:check(#{fail_if => {slower, 0.02}},
                                          summary([(row(Label, none, none))#{runs => 6, value => Value} || {Label, Value} <- Values]))
            end,
    ?assertThrow({failure, {ertslab_fail_if, {no_ratio, ~"a", ~"call"}}}, Check([{~"old", 0.0}, {~"a", 5.0}])),
    [?assertEqual(ok, Check([{~"old", Old}, {~"a", New}])) || {Old, New} <- [{0.0, 0.0}, {0.0, none}, {none, 5.0}, {-0.1, 0.2}]].
