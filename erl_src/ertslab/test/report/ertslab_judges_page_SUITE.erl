%% Programs as judges: ratios and means by hand, and what is void says nothing.
-module(ertslab_judges_page_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_first_impression_is_no_verdict/1, a_program_is_the_mean_of_its_metrics/1, metrics_that_are_not_judged_say_nothing/1,
         the_mean_over_programs_is_narrower_than_each/1, what_is_void_is_not_in_the_mean/1,
         outcomes_are_those_of_single_ratios/1, what_is_not_apart_from_the_control_is_unsure/1,
         the_bound_is_that_of_the_comparisons/1, page_and_table_name_each_program/1,
         each_program_has_its_own_noise/1, an_interval_may_begin_at_zero/1]).

all() ->
    [a_first_impression_is_no_verdict, a_program_is_the_mean_of_its_metrics, metrics_that_are_not_judged_say_nothing,
     the_mean_over_programs_is_narrower_than_each, what_is_void_is_not_in_the_mean,
     outcomes_are_those_of_single_ratios, what_is_not_apart_from_the_control_is_unsure,
     the_bound_is_that_of_the_comparisons, page_and_table_name_each_program,
     each_program_has_its_own_noise, an_interval_may_begin_at_zero].

%% A folder whose variant has these ratios, and whose control has none.
judge(Name, Ratios) ->
    Rows = [#{metric => Metric, label => ~"quicker", role => compared, ratio => ratio(Ratio), to_control => none}
            || Metric := Ratio <- Ratios],
    #{plan => #{experiment => Name, same_within => 0.01, quick => false}, cases => [#{rows => Rows}], void => []}.

ratio({Estimate, Low, High}) -> #{estimate => Estimate, low => Low, high => High, exact => false}.

within(Within, #{plan := Plan} = Judge) -> Judge#{plan := Plan#{same_within := Within}}.

judged(Judges, Metrics) -> ertslab_judges_page:judgements([{Judge, Metrics} || Judge <- Judges]).

a_program_is_the_mean_of_its_metrics(_) ->
    [#{name := ~"one", estimate := Estimate, low := Low, high := High, outcome := unsure}] =
        judged([judge(~"one", #{~"a" => {0.5, 0.25, 1.0}, ~"b" => {2.0, 1.0, 4.0}})], [~"a", ~"b"]),
    near(1.0, Estimate),
    near(0.5, Low),
    near(2.0, High).

metrics_that_are_not_judged_say_nothing(_) ->
    Judge = judge(~"one", #{~"a" => {0.5, 0.4, 0.6}, ~"b" => {2.0, 1.0, 4.0}}),
    [#{estimate := Estimate, outcome := faster}] = judged([Judge], [~"a"]),
    near(0.5, Estimate),
    ?assertEqual([], judged([Judge], [~"c"])).

the_mean_over_programs_is_narrower_than_each(_) ->
    [_, _, #{name := ~"all", estimate := Estimate, low := Low, high := High}] =
        judged([judge(Name, #{~"a" => {1.0, 0.5, 2.0}}) || Name <- [~"one", ~"two"]], [~"a"]),
    near(1.0, Estimate),
    near(math:pow(2, -1 / math:sqrt(2)), Low),
    near(math:pow(2, 1 / math:sqrt(2)), High).

what_is_void_is_not_in_the_mean(_) ->
    Void = (judge(~"two", #{~"a" => {4.0, 3.0, 5.0}}))#{void := [~"the control has changed"]},
    [#{outcome := faster}, #{outcome := void}, #{name := ~"all", estimate := Estimate}] =
        judged([judge(~"one", #{~"a" => {0.5, 0.4, 0.6}}), Void], [~"a"]),
    near(0.5, Estimate),
    [_, _, #{name := ~"all", outcome := void}] = judged([Void, Void], [~"a"]).

outcomes_are_those_of_single_ratios(_) ->
    Outcome = fun(Ratio) -> [#{outcome := O}] = judged([judge(~"one", #{~"a" => Ratio})], [~"a"]), O end,
    ?assertEqual(slower, Outcome({1.05, 1.02, 1.08})),
    ?assertEqual(faster, Outcome({0.95, 0.92, 0.98})),
    ?assertEqual(same, Outcome({1.001, 0.995, 1.005})),
    %% Surely not the same number, and surely no change that matters.
    ?assertEqual(same, Outcome({0.995, 0.992, 0.998})),
    ?assertEqual(unsure, Outcome({1.05, 0.99, 1.12})).

%% The ratio to the control is a mean as the ratio to the baseline is.
what_is_not_apart_from_the_control_is_unsure(_) ->
    Judge = fun(Name, ToControls) ->
                    #{cases := [#{rows := Rows}]} = Judge = judge(Name, #{Metric => {0.95, 0.93, 0.97} || Metric := _ <- ToControls}),
                    Judge#{cases := [#{rows => [Row#{to_control := ratio(maps:get(Metric, ToControls))}
                                                || #{metric := Metric} = Row <- Rows]
                                               ++ [#{metric => ~"a", label => ~"copy", role => control, ratio => ratio({1.05, 1.02, 1.08}),
                                                     to_control => none}]}]}
            end,
    {Apart, Wide, Opposite} = {{0.96, 0.94, 0.98}, {0.97, 0.93, 1.01}, {1.05, 1.03, 1.07}},
    Judgements = judged([Judge(~"calm", #{~"a" => Apart}), Judge(~"noisy", #{~"a" => Wide})], [~"a"]),
    Compared = [{Name, Outcome, IsApart} || #{name := Name, role := compared, outcome := Outcome, apart := IsApart} <- Judgements],
    ?assertEqual([{~"calm", faster, true}, {~"noisy", unsure, false}, {~"all", faster, true}], Compared),
    Outcome = fun(Judges) -> [O || #{role := compared, outcome := O} <- judged(Judges, [~"a", ~"b"])] end,
    ?assertEqual([unsure, unsure, unsure], Outcome([Judge(Name, #{~"a" => Opposite}) || Name <- [~"one", ~"two"]])),
    ?assertEqual([unsure], Outcome([Judge(~"one", #{~"a" => Wide, ~"b" => Wide})])),
    ?assertEqual([faster], Outcome([Judge(~"one", #{~"a" => Wide, ~"b" => {0.9, 0.88, 0.92}})])),
    %% The control's own judgement has none beside it.
    ?assertMatch([slower, slower], [O || #{role := control, name := Name, outcome := O} <- Judgements, Name =/= ~"all"]),
    [?assertMatch({match, [_]}, re:run(report_fixture:text(Text), ~"unsure \\(not apart from the control\\)(?=\n|</td>)", [global]))
     || Text <- [ertslab_judges_page:table(Judgements), ertslab_xml:render(ertslab_judges_page:front(Judgements))]].

the_bound_is_that_of_the_comparisons(_) ->
    Outcomes = fun(Within, Ratio) ->
                       [O || #{outcome := O} <- judged([within(Within, judge(Name, #{~"a" => Ratio})) || Name <- [~"one", ~"two"]], [~"a"])]
               end,
    ?assertEqual([same, same, same], Outcomes(0.05, {1.03, 1.02, 1.04})),
    ?assertEqual([slower, slower, slower], Outcomes(0.01, {1.03, 1.02, 1.04})),
    ?assertEqual([faster, faster, faster], Outcomes(0.001, {0.995, 0.993, 0.997})).

%% A geometric mean is 0 where one of its numbers is. How small the ratio may be is not known then, so it is never surely the same.
an_interval_may_begin_at_zero(_) ->
    Zero = judge(~"zero", #{~"a" => {0.9, 0.0, 1.2}}),
    Judgements = [_, _, #{name := ~"all"} = All] = judged([Zero, judge(~"one", #{~"a" => {0.9, 0.8, 1.0}})], [~"a"]),
    [near(Low, Got) || {Low, #{low := Got}} <- lists:zip([0.0, 0.8, 0.0], Judgements)],
    near(0.9, maps:get(estimate, All)),
    ?assertEqual([unsure, unsure, unsure], [Outcome || #{outcome := Outcome} <- Judgements]),
    ?assertMatch([#{outcome := faster}], judged([judge(~"small", #{~"a" => {0.5, 0.0, 0.7}})], [~"a"])),
    {_, _} = binary:match(report_fixture:text(ertslab_judges_page:table(Judgements)), ~"0.000 to 1.200"),
    {_, _} = binary:match(report_fixture:text(ertslab_xml:render(ertslab_judges_page:front(Judgements))), ~"0.000 to 1.200"),
    %% What has no ratio at all, or one of 0, says nothing.
    ?assertEqual([], judged([judge(~"none", #{~"a" => {0.0, 0.0, 1.2}})], [~"a"])),
    #{cases := [#{rows := [Row]}]} = Zero,
    ?assertEqual([], judged([Zero#{cases := [#{rows => [Row#{ratio := none}]}]}], [~"a"])).

page_and_table_name_each_program(Config) ->
    Data = report_fixture:data(Config, report_fixture:full()),
    Judgements = ertslab_judges_page:judgements([{Data, [~"walk"]}, {Data, [~"fold"]}]),
    Page = report_fixture:text(ertslab_report_html:page([Data], [~"one: it did not start"], ertslab_judges_page:front(Judgements))),
    Table = report_fixture:text(ertslab_judges_page:table(Judgements)),
    #{plan := #{experiment := Name}} = Data,
    [?assertMatch({_, _}, binary:match(Text, Word)) || Text <- [Page, Table], Word <- [Name, ~"quicker", ~"all", ~"0.326"]],
    ?assertMatch({_, _}, binary:match(Page, ~"one: it did not start")),
    {_, _} = xmerl_scan:string(binary_to_list(Page), [{quiet, true}]).

%% As wide as the program's own control; that of the mean is between them here.
each_program_has_its_own_noise(_) ->
    Judge = fun(Name, Width) ->
                    Row = #{metric => ~"a", label => ~"copy", role => control, ratio => ratio({1.0, 1 / Width, Width}), to_control => none},
                    #{plan => #{experiment => Name, same_within => 0.01, quick => false}, void => [],
                      cases => [#{rows => [Row, Row#{label := ~"quicker", role := compared}]}]}
            end,
    Front = ertslab_judges_page:front(judged([Judge(~"calm", 1.01), Judge(~"noisy", 1.2)], [~"a"])),
    {match, Widths} = re:run(report_fixture:text(ertslab_xml:render(Front)), "class=\"floor\"[^>]* width=\"([0-9.]+)%",
                             [global, {capture, all_but_first, binary}]),
    [Calm, Noisy, All] = [binary_to_float(Width) || [Width] <- Widths],
    ?assert(Calm < All andalso All < Noisy, {Calm, Noisy, All}).

%% As in the table of a comparison.
a_first_impression_is_no_verdict(_) ->
    Judges = [begin
                  #{plan := Plan} = Judge = judge(Name, #{~"a" => Ratio}),
                  Judge#{plan := Plan#{quick := true}}
              end || {Name, Ratio} <- [{~"one", {0.5, 0.4, 0.6}}, {~"two", {1.0, 0.5, 2.0}}]],
    Judgements = judged(Judges, [~"a"]),
    Table = report_fixture:text(ertslab_judges_page:table(Judgements)),
    ?assertMatch({match, _}, re:run(Table, "^one .* faster\\?$", [multiline])),
    ?assertMatch({match, _}, re:run(Table, "^two .* unsure$", [multiline])),
    ?assertMatch({_, _}, binary:match(report_fixture:text(ertslab_xml:render(ertslab_judges_page:front(Judgements))), ~"faster?</td>")).

near(Expected, Got) -> ?assert(abs(Expected - Got) < 1.0e-9, {Expected, Got}).
