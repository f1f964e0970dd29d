%% @doc A report as plain text, for a terminal or a pull request. Pure.
-module(ertslab_table).

-export([render/1]).

-import(ertslab_report_value, [format/2]).

%% @doc A block for each case, a line for each metric and arm, and the caveats below.
-spec render(ertslab_result:summary() | ertslab_report_data:data()) -> iolist().
render(#{plan := Plan, cases := Cases, overall := Overall, warnings := Warnings, void := Void} = Data) ->
    [title(Plan),
     [["VOID, trust nothing below: ", Sentence, $\n] || Sentence <- Void],
     [case_block(Data, Case) || Case <- ertslab_report_data:cases(Data)],
     [overall_block(Data, length(Cases), Overall) || Overall =/= []],
     footer(Data), speeds(Data),
     [["! ", Warning, $\n] || Warning <- Warnings]].

title(#{experiment := Experiment, title := Title, otp := Version}) ->
    format("~ts on OTP ~ts: ~ts~n", [Experiment, Version, Title]).

case_block(#{plan := #{labelled := Labelled} = Plan} = Data, #{title := Title, rows := Rows, contrasts := Contrasts}) ->
    Lines = [[<<"metric">>, Labelled, ertslab_report_wording:heading(Data), <<"ratio">>, <<"95 % interval">>, <<"control">>, <<"verdict">>]
             | [line(Plan, Row) || Row <- without_repeats(Rows)]],
    [$\n, [[Title, $\n] || Title =/= <<>>], ertslab_text:columns(Lines),
     [contrast(Contrast) || Contrast <- Contrasts],
     [by_build(Row) || Row <- Rows]].

overall_block(#{plan := #{labelled := Labelled} = Plan}, Cases, Rows) ->
    Lines = [[<<"metric">>, Labelled, <<"ratio">>, <<"95 % interval">>, <<"control">>, <<"verdict">>]
             | [[Metric, Label | Ratio] || [Metric, Label, _Value | Ratio] <- [line(Plan, Row) || Row <- without_repeats(Rows)]]],
    [format("~nOverall, the geometric mean over ~b cases~n", [Cases]), ertslab_text:columns(Lines)].

%% A metric is named in its first line only.
without_repeats(Rows) ->
    {Marked, _} = lists:mapfoldl(fun(#{metric := Metric} = Row, Metric) -> {Row#{metric := <<"">>}, Metric};
                                    (#{metric := Metric} = Row, _) -> {Row, Metric}
                                 end, none, Rows),
    Marked.

line(Plan, #{metric := Metric, label := Label, ratio := Ratio} = Row) ->
    [Metric, Label, ertslab_report_wording:amount(Row), ertslab_report_wording:ratio_text(Row),
     ertslab_report_wording:interval(Ratio), control(Row), [verdict(Plan, Row), disagreement(Row)]].

control(#{ratio := none}) -> <<"">>;
control(#{role := control}) -> <<"">>;
control(Row) -> ertslab_report_wording:floor_text(Row).

%% The column of the ratio shows the direction of a change.
verdict(_, #{ratio := none, verdict := Verdict}) when Verdict =/= varying, Verdict =/= changed, Verdict =/= same -> <<"">>;
verdict(Plan, #{verdict := unsure} = Row) -> ertslab_report_wording:outcome_text(Plan, Row);
verdict(Plan, Row) -> ertslab_report_wording:verdict_text(Plan, Row).

%% The reader must know if the other estimator disagrees.
disagreement(#{other := #{disagrees := true, estimator := Estimator, ratio := #{estimate := Other}}}) ->
    [", but ", ertslab_estimate:words(Estimator), " ", ertslab_report_wording:ratio(Other)];
disagreement(#{}) -> "".

contrast(#{label := Label, says := Says, ratio := #{estimate := Estimate, low := Low, high := High}})
  when is_number(Low), is_number(High) ->
    format("~ts, ~ts: ~.2f (~.2f to ~.2f)~n", [Label, Says, float(Estimate), float(Low), float(High)]);
contrast(_) -> [].

by_build(#{builds := [_ | _] = Builds, label := Label, metric := Metric}) ->
    Ratios = [ertslab_report_wording:ratio(Ratio) || #{ratio := Ratio} <- Builds],
    format("~ts, ~ts by build: ~ts~n", [Label, Metric, lists:join(", ", Ratios)]);
by_build(#{}) -> [].

footer(#{plan := #{machine := Machine, seed := Seed, pairs := Pairs, baseline_label := Baseline}} = Data) ->
    [Cpu, Cores, Kernel] = [ertslab_report_value:value(maps:get(Key, Machine, null)) || Key <- [cpu, cores, kernel]],
    format("~nRatios are to ~ts~ts. ~b pairs, seed ~b.~nMachine: ~ts, ~ts cores, Linux ~ts.~n",
           [Baseline, meaning(Data), Pairs, Seed, Cpu, Cores, Kernel]).

%% Only a machine with exactly two speeds gets a sentence.
speeds(#{speeds := #{speeds := 2} = Speeds}) -> ["The machine had ", ertslab_speeds:says(Speeds), ".\n"];
speeds(#{}) -> "".

meaning(#{plan := #{exact := true}}) -> ", and exact where every run gave the same value";
meaning(#{cases := Cases}) ->
    case lists:all(fun(#{unit := Unit}) -> Unit =:= <<"ns">> end, lists:append([Rows || #{rows := Rows} <- Cases])) of
        true -> ", below 1 is faster";
        false -> ", below 1 is less"
    end.
