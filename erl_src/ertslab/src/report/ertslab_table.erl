%% @doc A summary as text: what a reader of a terminal or of a README sees.
-module(ertslab_table).

-export([render/1, heading/1]).

-import(ertslab_text, [columns/1, duration/1, params/1]).

%% @doc One block a case, a line a metric and arm, and what to know below.
-spec render(ertslab_result:summary()) -> iolist().
render(#{plan := Plan, cases := Cases, warnings := Warnings} = Summary) ->
    [title(Plan),
     [["VOID, believe nothing below: ", Sentence, $\n] || Sentence <- maps:get(void, Summary)],
     [case_block(Plan, Case) || Case <- Cases],
     overall_block(Plan, length(Cases), maps:get(overall, Summary)),
     footer(Summary), speeds(Summary),
     [["! ", Warning, $\n] || Warning <- Warnings]].

title(#{experiment := Experiment, title := Title, otp := Version}) ->
    io_lib:format("~ts on OTP ~ts: ~ts~n", [Experiment, Version, Title]).

%% @doc What the value of a row is called, by the estimator of its plan.
-spec heading(#{estimator := ertslab_estimator:name(), _ => _}) -> string().
heading(#{estimator := floor}) -> "floor";
heading(#{estimator := typical}) -> "median".

case_block(#{labelled := Heading} = Plan, #{params := Params, rows := Rows, contrasts := Contrasts}) ->
    Lines = [[~"metric", Heading, heading(Plan), ~"ratio", ~"95 % interval", ~"control", ~"verdict"]
             | [line(doubted(Plan, Row)) || Row <- without_repeats(Rows)]],
    [$\n, params(Params), $\n, columns(Lines),
     [contrast(Contrast) || Contrast <- Contrasts],
     [by_build(Row) || Row <- Rows]].

overall_block(_, _, []) -> [];
overall_block(#{labelled := Heading} = Plan, Cases, Rows) ->
    Lines = [[~"metric", Heading, ~"ratio", ~"95 % interval", ~"control", ~"verdict"]
             | [[Metric, Label | Ratio]
                || [Metric, Label, _Value | Ratio] <- [line(doubted(Plan, Row)) || Row <- without_repeats(Rows)]]],
    [io_lib:format("~nOverall, the geometric mean over ~b cases~n", [Cases]), columns(Lines)].

%% A metric is named in its first line only.
without_repeats(Rows) ->
    {Marked, _} = lists:mapfoldl(fun(#{metric := Metric} = Row, Metric) -> {Row#{metric := ~""}, Metric};
                                    (#{metric := Metric} = Row, _) -> {Row, Metric}
                                 end, none, Rows),
    Marked.

line(#{metric := Metric, label := Label, value := Value, unit := Unit, ratio := Ratio,
       floor := Floor} = Row) ->
    [name(Metric), Label, [quantity(Value, Unit), slope(Row)], estimate(Ratio), interval(Ratio),
     floor_beside(Ratio, Floor), [verdict(Row), disagreement(Row)]].

%% Where the other estimator says something else, the reader is to know.
disagreement(#{other := #{disagrees := true, estimator := Estimator, ratio := #{estimate := Other}}}) ->
    [", but ", heading(#{estimator => Estimator}), " ", ratio(Other)];
disagreement(#{}) -> "".

floor_beside(none, _) -> ~"";
floor_beside(_, Floor) -> interval(Floor).

%% A smoke test says nothing that may be quoted.
doubted(#{quick := true, exact := false}, #{verdict := changed} = Row) -> Row#{verdict := 'changed?'};
doubted(#{quick := true, exact := false}, #{verdict := same} = Row) -> Row#{verdict := 'same?'};
doubted(_, Row) -> Row.

quantity(none, _) -> ~"-";
quantity(Value, ns) -> duration(Value);
quantity(Value, Unit) when is_integer(Value) -> io_lib:format("~b ~ts", [Value, Unit]);
quantity(Value, Unit) -> io_lib:format("~.3f ~ts", [Value, Unit]).

%% The interval of a quantity that is a slope.
slope(#{slope := #{low := Low, high := High}}) when is_float(Low) ->
    io_lib:format(" (~.3f to ~.3f)", [Low, High]);
slope(#{}) -> "".

name(Name) when is_atom(Name) -> atom_to_binary(Name);
name(Name) -> Name.

estimate(none) -> ~"";
estimate(#{estimate := Estimate}) -> ratio(Estimate).

interval(none) -> ~"";
interval(#{exact := true}) -> ~"exact";
interval(#{low := Low, high := High}) -> [ratio(Low), " to ", ratio(High)].

ratio(Value) -> io_lib:format("~.3f", [Value]).

verdict(#{verdict := none, ratio := none, runs := _}) -> ~"";
verdict(#{verdict := unsure, more_pairs := More}) -> ["unsure", more(More)];
verdict(#{verdict := Verdict}) -> atom_to_binary(Verdict).

more(none) -> "";
more(1) -> " (about 1 more pair)";
more(more_than_1000) -> " (over 1000 more pairs)";
more(More) -> io_lib:format(" (about ~b more pairs)", [More]).

contrast(#{ratio := none}) -> [];
contrast(#{says := Says, label := Label,
           ratio := #{estimate := Estimate, low := Low, high := High}}) ->
    io_lib:format("~ts, ~ts: ~.2f (~.2f to ~.2f)~n", [Label, Says, Estimate, Low, High]).

by_build(#{builds := [_ | _] = Builds, label := Label, metric := Metric}) ->
    io_lib:format("~ts, ~ts by build: ~ts~n",
                  [Label, Metric, lists:join(", ", [ratio(Ratio) || #{ratio := Ratio} <- Builds])]);
by_build(#{}) -> [].

footer(#{plan := #{machine := Machine, seed := Seed, pairs := Pairs,
                   baseline_label := Baseline} = Plan}) ->
    #{cpu := Cpu, cores := Cores, kernel := Kernel} = Machine,
    io_lib:format("~nRatios are to ~ts~ts. ~b pairs, seed ~b.~n"
                  "Machine: ~ts, ~b cores, Linux ~ts.~n",
                  [Baseline, meaning(Plan), Pairs, Seed, known(Cpu), Cores, known(Kernel)]).

speeds(#{speeds := #{speeds := 2} = Speeds}) -> ["The machine had ", ertslab_speeds:says(Speeds), ".\n"];
speeds(#{}) -> "".

meaning(#{exact := true}) -> ", and exact where every run gave the same value";
meaning(#{metrics := Metrics}) ->
    case lists:all(fun(#{unit := Unit}) -> Unit =:= ns end, Metrics) of
        true -> ", below 1 is faster";
        false -> ", below 1 is less"
    end.

known(null) -> "unknown";
known(Text) -> Text.
