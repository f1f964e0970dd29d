%% The sentence that a reader takes home, for each way in which a comparison ends.
-module(ertslab_report_wording_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_first_impression_is_no_verdict/1, times_as_fast/1, percent_below_half_as_much_again/1, slower/1, both_directions/1,
         all_the_same/1, bound_is_the_plans/1, unsure_says_how_many_pairs/1, what_is_not_apart_from_the_control_is_told/1, exact_sameness/1,
         exact_change_of_another_unit/1, change_from_zero/1, varying/1, no_ratio/1, void_comes_first/1,
         control_is_named/1, control_alone_is_judged/1, strongest_leads/1, cases_are_told_apart/1,
         command_can_be_repeated/1, command_is_quoted/1]).

-import(report_fixture, [summary/0, summary/1, row/4, ratio/3, data/2]).

all() ->
    [a_first_impression_is_no_verdict, times_as_fast, percent_below_half_as_much_again, slower, both_directions, all_the_same,
     bound_is_the_plans, unsure_says_how_many_pairs, what_is_not_apart_from_the_control_is_told,
     exact_sameness, exact_change_of_another_unit,
     change_from_zero, varying, no_ratio, void_comes_first, control_is_named, control_alone_is_judged,
     strongest_leads, cases_are_told_apart, command_can_be_repeated, command_is_quoted].

%% What would be certain bears a question mark wherever it stands, so that nobody quotes it. A count is exact all the same.
a_first_impression_is_no_verdict(Config) ->
    Quick = fun(#{~"plan" := Plan} = Summary) -> Summary#{~"plan" := Plan#{~"quick" := true}} end,
    Rows = maps:merge(changed(~"walk", ratio(0.25, 0.2, 0.3)), changed(~"fold", ratio(1.1, 1.05, 1.2))),
    Verdict = of_summary(Config, Quick(summary(Rows))),
    ?assertMatch(#{claim := ~"quicker makes walk 4.0 times as fast as stock?"}, Verdict),
    says(~"But quicker makes fold take 10.0 % more time than stock (ratio 1.100)?", Verdict),
    says(~"2 results in all: 1 faster?, 1 slower?.", Verdict),
    ?assertMatch(#{claim := ~"quicker is the same as stock to within 1 %, in every result?"}, of_summary(Config, Quick(summary()))),
    Data = data(Config, Quick(summary(changed(~"walk", ratio(0.25, 0.2, 0.3))))),
    [begin
         Text = report_fixture:text(Chars),
         [?assertMatch({_, _}, binary:match(Text, <<Word/binary, "?", After/binary>>), {Word, Text}) || Word <- Words],
         [?assertEqual(nomatch, binary:match(Text, <<Word/binary, After/binary>>), {Word, Text}) || Word <- Words]
     end || {Chars, Words, After} <- [{ertslab_report_html:page([Data], []), [~"changed: faster", ~"same"], ~"</td>"},
                                      {ertslab_report_html:page([Data], []), [~") changed", ~") same"], ~"</text>"},
                                      {ertslab_report_html:page([Data, Data], []), [~"changed: faster", ~"same"], ~"</td>"},
                                      {ertslab_report_markdown:page([Data], []), [~"changed: faster", ~"same"], ~" |"},
                                      {ertslab_report_markdown:page([Data, Data], []), [~"changed: faster", ~"same"], ~" |"},
                                      {ertslab_table:render(Data), [~"changed", ~"same"], ~"\n"}]],
    ?assertMatch(#{claim := ~"quicker gives exactly what stock gives, in every result."}, of_summary(Config, Quick(exact(summary())))).

times_as_fast(Config) ->
    Verdict = verdict(Config, changed(~"walk", ratio(0.326, 0.298, 0.372))),
    ?assertMatch(#{claim := ~"quicker makes walk 3.1 times as fast as stock.", tone := faster}, Verdict),
    says(~"Ratio 0.326, 95 % interval 0.298 to 0.372, from 8 pairs.", Verdict),
    says(~"2 results in all: 1 faster, 1 same.", Verdict).

percent_below_half_as_much_again(Config) ->
    ?assertMatch(#{claim := ~"quicker makes walk take 5.2 % less time than stock."},
                 verdict(Config, changed(~"walk", ratio(0.948, 0.94, 0.96)))),
    ?assertMatch(#{claim := ~"quicker makes walk take 4.0 % more time than stock.", tone := slower},
                 verdict(Config, changed(~"walk", ratio(1.04, 1.02, 1.06)))).

slower(Config) ->
    ?assertMatch(#{claim := ~"quicker makes walk take 2.5 times as long as stock.", tone := slower},
                 verdict(Config, changed(~"walk", ratio(2.5, 2.4, 2.6)))).

both_directions(Config) ->
    Rows = maps:merge(changed(~"walk", ratio(0.25, 0.2, 0.3)), changed(~"fold", ratio(1.1, 1.05, 1.2))),
    says(~"But quicker makes fold take 10.0 % more time than stock (ratio 1.100).", verdict(Config, Rows)).

all_the_same(Config) ->
    ?assertMatch(#{claim := ~"quicker is the same as stock to within 1 %, in every result.", tone := same},
                 verdict(Config, #{})).

bound_is_the_plans(Config) ->
    #{~"plan" := Plan} = Summary = summary(),
    ?assertMatch(#{claim := ~"quicker is the same as stock to within 2.5 %, in every result."},
                 of_summary(Config, Summary#{~"plan" := Plan#{~"same_within" => 0.025}})).

unsure_says_how_many_pairs(Config) ->
    Unsure = fun(More) -> #{~"walk" => (row(~"walk", ~"quicker", ratio(0.95, 0.8, 1.1), ~"unsure"))#{~"more_pairs" := More}} end,
    Verdict = verdict(Config, Unsure(49)),
    ?assertMatch(#{claim := ~"No difference between stock and quicker is shown.", tone := unsure}, Verdict),
    says(~"Settling all results would take about 49 more pairs.", Verdict),
    says(~"Settling all results would take over 1000 more pairs.", verdict(Config, Unsure(~"more_than_1000"))).

%% Its number of pairs is not estimated, so only the other results would be settled.
what_is_not_apart_from_the_control_is_told(Config) ->
    Row = fun(Metric, Ratio) -> #{Metric => (row(Metric, ~"quicker", Ratio, ~"unsure"))#{~"to_control" => ratio(1.01, 0.98, 1.04)}} end,
    One = Row(~"walk", ratio(1.05, 1.03, 1.07)),
    Verdict = verdict(Config, One),
    ?assertMatch(#{claim := ~"No difference between stock and quicker is shown.", tone := unsure}, Verdict),
    says(~"2 results in all: 1 same, 1 unsure.", Verdict),
    says(~"1 result differs from the baseline, but not from the control.", Verdict),
    says(~"2 results differ from the baseline, but not from the control.",
         verdict(Config, maps:merge(One, Row(~"fold", ratio(0.95, 0.93, 0.98))))),
    Unsure = (row(~"fold", ~"quicker", ratio(0.95, 0.8, 1.1), ~"unsure"))#{~"more_pairs" := 49, ~"to_control" => ratio(0.95, 0.8, 1.1)},
    says(~"Settling all other results would take about 49 more pairs.", verdict(Config, One#{~"fold" => Unsure})),
    Data = data(Config, summary(One)),
    [begin
         Text = report_fixture:text(Chars),
         ?assertMatch({_, _}, binary:match(Text, ~"unsure (not apart from the control)"), Text),
         ?assertEqual(nomatch, binary:match(Text, ~"changed:"), Text)
     end || Chars <- [ertslab_report_html:page([Data], []), ertslab_report_html:page([Data, Data], []),
                      ertslab_report_markdown:page([Data], []), ertslab_report_markdown:page([Data, Data], []),
                      ertslab_table:render(Data)]].

exact_sameness(Config) ->
    ?assertMatch(#{claim := ~"quicker gives exactly what stock gives, in every result."},
                 of_summary(Config, exact(summary()))).

exact_change_of_another_unit(Config) ->
    Row = (row(~"walk", ~"quicker", #{~"estimate" => 8.5, ~"exact" => true}, ~"changed"))#{~"unit" := ~"bytes"},
    Verdict = of_summary(Config, exact(summary(#{~"walk" => Row}))),
    ?assertMatch(#{claim := ~"quicker makes walk 8.500 times as large as stock does.", tone := more}, Verdict),
    says(~"Ratio 8.500, exact: every run gave the same value.", Verdict).

change_from_zero(Config) ->
    Row = (row(~"walk", ~"quicker", ~"none", ~"changed"))#{~"unit" := ~"bytes", ~"median" := 12},
    ?assertMatch(#{claim := ~"quicker makes walk 12 bytes, which is not what stock gives."},
                 of_summary(Config, exact(summary(#{~"walk" => Row})))).

varying(Config) ->
    Rows = #{Metric => row(Metric, ~"quicker", ~"none", ~"varying") || Metric <- [~"walk", ~"fold"]},
    ?assertMatch(#{claim := ~"The counts vary from run to run, so they show nothing.", tone := varying},
                 of_summary(Config, exact(summary(Rows)))).

no_ratio(Config) ->
    Rows = #{Metric => row(Metric, ~"quicker", ~"none", ~"none") || Metric <- [~"walk", ~"fold"]},
    ?assertMatch(#{claim := ~"There is nothing to compare: too few runs ended well.", tone := none},
                 verdict(Config, Rows)).

void_comes_first(Config) ->
    Summary = summary(changed(~"walk", ratio(0.3, 0.2, 0.4))),
    ?assertEqual(#{claim => ~"No result of this comparison can be trusted.", tone => void,
                   evidence => [~"The control differs from stock."]},
                 of_summary(Config, Summary#{~"void" => [~"The control differs from stock."]})).

control_is_named(Config) ->
    says(~"The control, stock_copy, the same VM as stock, differs there by at most 4.0 % (0.970 to 1.040).",
         verdict(Config, changed(~"walk", ratio(0.3, 0.2, 0.4)))).

%% Stock beside its control: then the control is what was measured.
control_alone_is_judged(Config) ->
    #{~"arms" := Arms, ~"cases" := [#{~"rows" := Rows} = Case]} = Summary = summary(),
    Two = fun(Things) -> [Thing || #{~"label" := Label} = Thing <- Things, Label =/= ~"quicker"] end,
    ?assertMatch(#{claim := ~"No difference between stock and stock_copy is shown."},
                 of_summary(Config, Summary#{~"arms" := Two(Arms), ~"cases" := [Case#{~"rows" := Two(Rows)}]})).

strongest_leads(Config) ->
    Rows = maps:merge(changed(~"walk", ratio(0.5, 0.4, 0.6)), changed(~"fold", ratio(0.1, 0.09, 0.11))),
    ?assertMatch(#{claim := ~"quicker makes fold 10.0 times as fast as stock."}, verdict(Config, Rows)).

cases_are_told_apart(Config) ->
    #{~"cases" := [Case]} = Summary = summary(changed(~"walk", ratio(0.3, 0.2, 0.4))),
    #{~"cases" := [Other]} = summary(),
    says(~"cells=1001: Ratio 0.300, 95 % interval 0.200 to 0.400, from 8 pairs.",
         of_summary(Config, Summary#{~"cases" := [Case, Other#{~"params" := #{~"cells" => 5}}]})).

%% The folder that it went to is finished, and the seed was drawn.
command_can_be_repeated(Config) ->
    ?assertEqual(~"./ertslab compare toy --param cells=1001 --seed 77",
                 ertslab_report_wording:reproduce(data(Config, summary()))).

command_is_quoted(_) ->
    ?assertEqual(~"./ertslab compare 'a b;rm -rf $HOME' 'it'\\''s' --seed=3",
                 ertslab_report_value:command([~"compare", ~"a b;rm -rf $HOME", ~"it's", ~"--seed=3"], [])).

changed(Metric, Ratio) -> #{Metric => row(Metric, ~"quicker", Ratio, ~"changed")}.

exact(#{~"plan" := Plan} = Summary) -> Summary#{~"plan" := Plan#{~"exact" := true}}.

verdict(Config, Rows) -> of_summary(Config, summary(Rows)).

of_summary(Config, Summary) -> ertslab_report_wording:verdict(data(Config, Summary)).

says(Sentence, #{evidence := Evidence}) ->
    ?assert(lists:member(Sentence, Evidence), Evidence).
