%% @doc The text of a report: verdicts as sentences, and numbers. Pure.
-module(ertslab_report_wording).

-export([heading/1, disagreement/1, verdict/1, outcome/1, outcome_text/2, verdict_text/2, not_apart/0, marked/3, judged/1, folder_title/1]).
-export([ratio/1, ratio_text/1, interval/1, interval/2, floor_text/1, amount/1, quantity/2, scale/2]).
-export([reproduce/1, count/2]).
-export_type([outcome/0, verdict/0]).

-import(ertslab_report_value, [command/2, format/2, value/1]).

-type outcome() :: faster | slower | less | more | changed | same | unsure | varying | void | none.
%% `claim' is the conclusion, `evidence' the facts behind it.
-type verdict() :: #{claim := binary(), evidence := [binary()], tone := outcome()}.

%% From this ratio on `times as fast' reads better than percent.
-define(TIMES, 1.5).

%% @doc What a report is about, on one line.
-spec folder_title(ertslab_report_data:data()) -> binary().
folder_title(#{plan := #{experiment := Experiment, otp := Version}}) ->
    format("~ts on OTP ~ts", [Experiment, Version]).

%% The verdict on a whole comparison

%% @doc The verdict on a comparison: on its strongest change, or if there is none on the other results. If the control
%% differs, the verdict says only that.
-spec verdict(ertslab_report_data:data()) -> verdict().
verdict(#{void := [_ | _] = Void}) ->
    #{claim => <<"No result of this comparison can be trusted.">>, evidence => Void, tone => void};
verdict(Data) ->
    Judged = judged(Data),
    Changed = lists:sort(fun stronger/2, [Result || {_, #{verdict := changed}} = Result <- Judged]),
    case Changed of
        [Lead | Others] -> changed(Data, Lead, Others, Judged);
        [] -> unchanged(Data, Judged)
    end.

%% @doc The results that a comparison was made for. The control's are included only if nothing else was measured.
-spec judged(ertslab_report_data:data()) ->
          [{ertslab_report_data:shown_case(), ertslab_result:row()}].
judged(Data) ->
    Rows = [{Case, Row} || #{rows := Rows} = Case <- ertslab_report_data:cases(Data), #{role := Role} = Row <- Rows,
                           Role =/= baseline],
    case [Result || {_, #{role := compared}} = Result <- Rows] of
        [] -> Rows;
        Compared -> Compared
    end.

stronger({_, A}, {_, B}) -> strength(A) >= strength(B).

%% In Erlang's term order an atom is above every number. A change from or to zero has no ratio, and counts as the
%% strongest.
strength(#{ratio := #{estimate := Estimate}}) when Estimate > 0 -> abs(math:log(Estimate));
strength(#{}) -> infinite.

changed(Data, {_, Row} = Lead, Others, Judged) ->
    #{claim => format("~ts~ts", [claim(Data, Row), full_stop(Data)]),
      evidence => [ground(Data, Lead)] ++ opposite(Data, Row, Others) ++ control(Data, Row)
          ++ [tally(Data, Judged)] ++ overall(Data),
      tone => outcome(Row)}.

baseline(#{plan := #{baseline_label := Base}}) -> Base.

full_stop(#{plan := Plan}) ->
    case first_impression(Plan) of
        "" -> ".";
        Mark -> Mark
    end.

claim(Data, #{metric := Metric, label := Label} = Row) ->
    format("~ts makes ~ts ~ts", [Label, Metric, effect(Data, Row)]).

effect(#{plan := #{baseline_label := Base}}, #{unit := <<"ns">>, ratio := #{estimate := E}}) -> speed(E, Base);
effect(#{plan := #{baseline_label := Base}}, #{ratio := #{estimate := E}}) ->
    format("~ts times as large as ~ts does", [ratio(E), Base]);
effect(#{plan := #{baseline_label := Base}}, #{value := Value, unit := Unit}) ->
    format("~ts, which is not what ~ts gives", [quantity(Value, Unit), Base]).

speed(E, Base) when E > 0, 1 / E >= ?TIMES -> format("~ts times as fast as ~ts", [times(1 / E), Base]);
speed(E, Base) when E < 1 -> format("take ~.1f % less time than ~ts", [100.0 * (1 - E), Base]);
speed(E, Base) when E >= ?TIMES -> format("take ~ts times as long as ~ts", [times(E), Base]);
speed(E, Base) -> format("take ~.1f % more time than ~ts", [100.0 * (E - 1), Base]).

times(Factor) when Factor < 100 -> io_lib:format("~.1f", [float(Factor)]);
times(Factor) -> io_lib:format("~b", [round(Factor)]).

ground(Data, {Case, #{ratio := none}}) ->
    format("~tsThere is no ratio, because ~ts gives 0; every run gave the same value.",
           [where(Data, Case), baseline(Data)]);
ground(Data, {Case, #{ratio := #{exact := true, estimate := E}}}) ->
    format("~tsRatio ~ts, exact: every run gave the same value.", [where(Data, Case), ratio(E)]);
ground(#{plan := #{pairs := Pairs}} = Data, {Case, #{ratio := #{estimate := E} = Ratio}}) ->
    format("~tsRatio ~ts, 95 % interval ~ts, from ~b pairs.",
           [where(Data, Case), ratio(E), interval(Ratio), Pairs]).

where(#{cases := [_]}, _) -> "";
where(#{}, #{title := Title}) -> [Title, ": "].

%% If the strongest change is an improvement, the strongest regression is reported too, and vice versa.
opposite(Data, #{ratio := #{estimate := Lead}}, Others) ->
    case [Result || {_, #{ratio := #{estimate := E}}} = Result <- Others, (E > 1) =/= (Lead > 1)] of
        [{Case, Row} | _] ->
            [format("But ~ts~ts (ratio ~ts)~ts", [where(Data, Case), claim(Data, Row), ratio_text(Row), full_stop(Data)])];
        [] -> []
    end;
opposite(_, _, _) -> [].

control(#{plan := #{control := null}}, _) -> [];
control(#{plan := #{control := Control}}, #{label := Control}) -> [];
control(#{plan := #{control := Control}} = Data, Row) ->
    [format("The control, ~ts, the same VM as ~ts, differs there by at most ~.1f % (~ts).",
            [Control, baseline(Data), 100.0 * max(abs(1 - Low), abs(High - 1)), interval(Low, High)])
     || {Low, High} <- [ertslab_report_data:floor(Row)]].

tally(#{plan := Plan}, Judged) ->
    Outcomes = [outcome(Row) || {_, Row} <- Judged],
    Counts = [format("~b ~ts", [N, marked(Plan, Outcome, outcome_noun(Outcome))])
              || Outcome <- [faster, slower, less, more, changed, same, unsure, varying, void, none],
                 N <- [length([O || O <- Outcomes, O =:= Outcome])], N > 0],
    format("~ts in all: ~ts.", [count(length(Judged), "result"), lists:join(", ", Counts)]).

outcome_noun(none) -> "without a ratio";
outcome_noun(Outcome) -> atom_to_list(Outcome).

%% @doc A count with its noun: "1 run", "2 runs".
-spec count(non_neg_integer(), string()) -> binary().
count(1, Noun) -> format("1 ~ts", [Noun]);
count(N, Noun) -> format("~b ~tss", [N, Noun]).

overall(#{overall := []}) -> [];
overall(#{plan := Plan, overall := Rows}) ->
    [format("Over all cases: ~ts.", [lists:join("; ", [over_all(Plan, Row) || #{role := compared} = Row <- Rows])])].

over_all(Plan, #{metric := Metric, label := Label, ratio := Ratio} = Row) ->
    format("~ts of ~ts ~ts (~ts) ~ts", [Metric, Label, ratio_text(Row), interval(Ratio), outcome_text(Plan, Row)]).

unchanged(Data, Judged) ->
    Outcomes = lists:usort([outcome(Row) || {_, Row} <- Judged]),
    End = case Outcomes of [same] -> full_stop(Data); _ -> "." end,
    #{claim => format("~ts~ts", [nothing_changed(Data, Outcomes, subject(Judged)), End]),
      evidence => [tally(Data, Judged) || Judged =/= []] ++ overall(Data) ++ not_confirmed(Judged) ++ still_needed(Judged),
      tone => case Outcomes of [Only] -> Only; _ -> unsure end}.

subject(Judged) ->
    case lists:uniq([Label || {_, #{label := Label}} <- Judged]) of
        [Label] -> Label;
        _ -> <<"everything else">>
    end.

nothing_changed(#{plan := #{exact := true, baseline_label := Base}}, [same], Subject) ->
    format("~ts gives exactly what ~ts gives, in every result", [Subject, Base]);
nothing_changed(#{plan := #{baseline_label := Base, same_within := Bound}}, [same], Subject) ->
    format("~ts is the same as ~ts to within ~ts %, in every result",
           [Subject, Base, value(round(1.0e11 * Bound) / 1.0e9)]);
nothing_changed(_, [varying], _) ->
    <<"The counts vary from run to run, so they show nothing">>;
nothing_changed(_, Outcomes, _) when Outcomes =:= []; Outcomes =:= [none] ->
    <<"There is nothing to compare: too few runs ended well">>;
nothing_changed(#{plan := #{baseline_label := Base}}, _, Subject) ->
    format("No difference between ~ts and ~ts is shown", [Base, Subject]).

still_needed(Judged) ->
    case [More || {_, #{verdict := unsure, more_pairs := More}} <- Judged, More =/= none] of
        [] -> [];
        Needed -> [format("Settling ~ts results would take ~ts.", [which(not_apart(Judged)), pairs(lists:max(Needed))])]
    end.

%% How many pairs those take that are not apart from the control is not estimated.
which([]) -> "all";
which([_ | _]) -> "all other".

not_confirmed(Judged) ->
    case not_apart(Judged) of
        [] -> [];
        [_] -> [<<"1 result differs from the baseline, but not from the control.">>];
        Rows -> [format("~b results differ from the baseline, but not from the control.", [length(Rows)])]
    end.

%% Those that {@link ertslab_verdict:beside_control/1} made unsure: no other verdict is unsure without a number of pairs.
not_apart(Judged) -> [Row || {_, #{verdict := unsure, more_pairs := none, to_control := #{}} = Row} <- Judged].

%% In Erlang's term order an atom is above every number.
pairs(more_than_1000) -> "over 1000 more pairs";
pairs(1) -> "about 1 more pair";
pairs(Pairs) -> io_lib:format("about ~b more pairs", [Pairs]).

%% The verdict on one result

%% @doc The verdict on a result with the direction of a change. Only for times is it known which direction is better.
-spec outcome(ertslab_result:row()) -> outcome().
outcome(#{verdict := changed, ratio := #{estimate := E}, unit := <<"ns">>}) ->
    case E < 1 of true -> faster; false -> slower end;
outcome(#{verdict := changed, ratio := #{estimate := E}}) ->
    case E < 1 of true -> less; false -> more end;
outcome(#{verdict := changed}) -> changed;
outcome(#{verdict := same}) -> same;
outcome(#{verdict := unsure}) -> unsure;
outcome(#{verdict := varying}) -> varying;
outcome(#{verdict := void}) -> void;
outcome(#{}) -> none.

%% @doc The verdict as a table shows it, with the direction of a change.
-spec outcome_text(ertslab_result:plan(), ertslab_result:row()) -> binary().
outcome_text(_, #{role := baseline, verdict := varying}) -> <<"varying">>;
outcome_text(_, #{role := baseline}) -> <<"baseline">>;
outcome_text(_, #{verdict := unsure, more_pairs := none, to_control := #{}}) -> not_apart();
outcome_text(_, #{verdict := unsure, more_pairs := More}) when More =/= none ->
    format("unsure (~ts)", [pairs(More)]);
outcome_text(Plan, Row) ->
    case outcome(Row) of
        none -> <<"too few pairs">>;
        Outcome when Outcome =:= faster; Outcome =:= slower; Outcome =:= less; Outcome =:= more ->
            marked(Plan, Outcome, format("changed: ~ts", [Outcome]));
        Outcome -> marked(Plan, Outcome, atom_to_binary(Outcome))
    end.

%% @doc The verdict on what differs from the baseline, but not from the control.
-spec not_apart() -> binary().
not_apart() -> <<"unsure (not apart from the control)">>.

%% @doc The verdict alone, for where the ratio beside it shows the direction.
-spec verdict_text(ertslab_result:plan(), ertslab_result:row()) -> binary().
verdict_text(Plan, #{verdict := Verdict} = Row) -> marked(Plan, outcome(Row), atom_to_binary(Verdict)).

%% @doc The text of an outcome. What would be certain bears a question mark if it comes from a smoke test, so that nobody quotes
%% it. A count is exact in that, too.
-spec marked(#{quick := boolean(), exact => boolean(), _ => _}, outcome(), unicode:chardata()) -> binary().
marked(_, Outcome, Text) when Outcome =:= unsure; Outcome =:= varying; Outcome =:= void; Outcome =:= none -> format("~ts", [Text]);
marked(Plan, _, Text) -> format("~ts~ts", [Text, first_impression(Plan)]).

first_impression(#{quick := true, exact := true}) -> "";
first_impression(#{quick := true}) -> "?";
first_impression(#{quick := false}) -> "".

%% @doc The name of the values of a folder.
-spec heading(ertslab_report_data:data()) -> binary().
heading(#{plan := #{estimator := Estimator}}) -> ertslab_estimate:words(Estimator).

%% @doc The other estimator's ratio for a row, if the two estimators disagree.
-spec disagreement(ertslab_result:row()) -> binary().
disagreement(#{other := #{disagrees := true, estimator := Estimator, ratio := #{estimate := E} = Ratio}}) ->
    format("by the ~ts it is ~ts (~ts)", [ertslab_estimate:words(Estimator), ratio(E), interval(Ratio)]);
disagreement(#{}) -> <<"">>.

%% Numbers

%% @doc A ratio with only as many digits as are meaningful.
-spec ratio(number()) -> binary().
ratio(Value) when Value /= 0, abs(Value) < 0.01 -> format("~.3e", [float(Value)]);
ratio(Value) -> format("~.3f", [float(Value)]).

%% @doc The ratio of a row.
-spec ratio_text(ertslab_result:row()) -> binary().
ratio_text(#{ratio := none}) -> <<"">>;
ratio_text(#{ratio := #{estimate := Estimate}}) -> ratio(Estimate).

-spec interval(ertslab_result:ratio() | none) -> binary().
interval(none) -> <<"">>;
interval(#{exact := true}) -> <<"exact">>;
interval(#{low := Low, high := High}) when is_number(Low), is_number(High) -> interval(Low, High);
interval(#{}) -> <<"too few pairs">>.

-spec interval(number(), number()) -> binary().
interval(Low, High) -> format("~ts to ~ts", [ratio(Low), ratio(High)]).

%% @doc The A/A interval of a row: the interval of the control's ratio.
-spec floor_text(ertslab_result:row()) -> binary().
floor_text(#{role := baseline}) -> <<"">>;
floor_text(Row) ->
    case ertslab_report_data:floor(Row) of
        {Low, High} -> interval(Low, High);
        none -> <<"">>
    end.

%% @doc A number with its unit; nanoseconds in the unit that reads best.
-spec quantity(number() | none, Unit :: binary()) -> binary().
quantity(none, _) -> <<"-">>;
quantity(Value, <<"ns">>) -> ertslab_text:binary(ertslab_text:duration(Value));
quantity(Value, Unit) -> format("~ts ~ts", [value(Value), Unit]).

%% @doc The value of a row. If it is a slope, its interval follows.
-spec amount(ertslab_result:row()) -> binary().
amount(#{value := Value, unit := Unit, slope := #{low := Low, high := High}}) when is_number(Low), is_number(High) ->
    format("~ts (~ts to ~ts)", [quantity(Value, Unit), value(Low), value(High)]);
amount(#{value := Value, unit := Unit}) -> quantity(Value, Unit).

%% @doc The divisor for the values on an axis that reaches up to `Max', and the unit of the divided values.
-spec scale(number(), Unit :: binary()) -> {float(), binary()}.
scale(Max, <<"ns">>) when Max >= 1.0e9 -> {1.0e9, <<"s">>};
scale(Max, <<"ns">>) when Max >= 1.0e6 -> {1.0e6, <<"ms">>};
scale(Max, <<"ns">>) when Max >= 1.0e3 -> {1.0e3, <<"us">>};
scale(_, Unit) -> {1.0, Unit}.

%% Commands

%% @doc The command that repeats the comparison with the same order of runs, into a new folder.
-spec reproduce(ertslab_report_data:data()) -> binary().
reproduce(#{plan := #{seed := Seed} = Plan}) ->
    Words = words(Plan),
    case [Word || <<"--seed", _/bits>> = Word <- Words] of
        [] -> command(Words, [<<"--seed">>, value(Seed)]);
        _ -> command(Words, [])
    end.

words(#{command := [_ | _] = Words}) -> Words;
words(#{experiment := Experiment}) -> [<<"compare">>, Experiment].
