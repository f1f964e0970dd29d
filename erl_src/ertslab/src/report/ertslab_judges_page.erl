%% @doc Compares VMs by several programs: a ratio for each program, and the geometric mean over all programs. Pure.
%%
%% A program's ratio is the geometric mean of the ratios of its judged metrics. These come from the same runs, so its
%% interval assumes fully correlated errors. Different programs have different runs, so the interval of the mean over
%% programs assumes independent errors. The ratio to the control is made in the same way, and confirms a change.
-module(ertslab_judges_page).

-export([judgements/1, table/1, front/1]).
-export_type([judged/0, judgement/0]).

-import(ertslab_report_value, [format/2]).

%% A folder, and the metrics that decide.
-type judged() :: {ertslab_report_data:data(), Metrics :: [binary(), ...]}.
%% The judgement of one program, or of all together. `quick': it is a first impression. `to_control': the ratio to the control, if
%% all that was judged has one. `apart': false if it would be faster or slower, but the ratio to the control does not confirm it.
-type judgement() :: #{name := binary(), label := binary(), role := control | compared, estimate := float(), low := float(),
                       high := float(), outcome := faster | slower | same | unsure | void,
                       to_control := estimate() | none, apart := boolean(), quick := boolean()}.
-type estimate() :: #{estimate := float(), low := float(), high := float()}.

-define(ALL, <<"all">>).
%% As far below a ratio's logarithm no number is told from 0, also if it is divided by the number of all programs.
-define(DOWN_TO_ZERO, 1.0e6).

%% @doc The judgement of each program on each arm, followed by the mean over the programs that judge that arm.
-spec judgements([judged()]) -> [judgement()].
judgements(Judged) ->
    Each = [Judgement || {Data, Metrics} <- Judged, Judgement <- of_program(Data, Metrics)],
    Labels = lists:uniq([{Label, Role} || #{label := Label, role := Role} <- Each]),
    Within = lists:max([0.0 | [W || {#{plan := #{same_within := W}}, _} <- Judged]]),
    Quick = lists:any(fun(#{quick := Q}) -> Q end, Each),
    Of = fun(Label) -> [J || #{label := L, outcome := Outcome} = J <- Each, L =:= Label, Outcome =/= void] end,
    Each ++ [(mean(Label, Role, Within, Of(Label)))#{quick => Quick} || {Label, Role} <- Labels, length(Judged) > 1].

of_program(#{plan := #{experiment := Name, same_within := Within, quick := Quick}, cases := Cases, void := Void}, Metrics) ->
    Rows = [Row || #{rows := CaseRows} <- Cases, #{metric := Metric, role := Role, ratio := Ratio} = Row <- CaseRows,
                   Role =/= baseline, lists:member(Metric, Metrics), has_logarithm(Ratio)],
    [(judgement(Name, Label, Role, ratios([Row || #{label := L} = Row <- Rows, L =:= Label]), fun in_common/1, Within, Void =/= []))
         #{quick => Quick}
     || {Label, Role} <- lists:uniq([{Label, Role} || #{label := Label, role := Role} <- Rows])].

%% A ratio without an interval says nothing, nor does one of 0.
has_logarithm(#{estimate := Estimate, low := Low, high := High}) -> is_number(Low) andalso is_number(High) andalso Estimate > 0;
has_logarithm(none) -> false.

%% Those to the baseline, and those to the control.
ratios(Rows) -> {[Ratio || #{ratio := Ratio} <- Rows], [ToControl || #{to_control := ToControl} <- Rows]}.

%% The geometric mean, with an interval whose width the function makes from how far the intervals reach below and above.
combined(Ratios, WidthOf) ->
    {Logs, Below, Above} = lists:unzip3([{math:log(E), below(E, Low), math:log(High / E)}
                                         || #{estimate := E, low := Low, high := High} <- Ratios]),
    Log = lists:sum(Logs) / length(Logs),
    #{estimate => math:exp(Log), low => math:exp(Log - WidthOf(Below)), high => math:exp(Log + WidthOf(Above))}.

%% The interval begins at 0 where the mean of some pairs does, as that of a slope that does not grow.
below(Estimate, Low) when Low > 0 -> math:log(Estimate / Low);
below(_, _) -> ?DOWN_TO_ZERO.

in_common(Widths) -> lists:sum(Widths) / length(Widths).

independent(Widths) -> math:sqrt(lists:sum([Width * Width || Width <- Widths])) / length(Widths).

mean(Label, Role, Within, []) ->
    judgement(?ALL, Label, Role, {[#{estimate => 1.0, low => 1.0, high => 1.0}], [none]}, fun in_common/1, Within, true);
mean(Label, Role, Within, Judgements) ->
    judgement(?ALL, Label, Role, ratios([Judgement#{ratio => Judgement} || Judgement <- Judgements]), fun independent/1, Within, false).

judgement(Name, Label, Role, {Ratios, ToControls}, WidthOf, Within, Void) ->
    #{estimate := Estimate, low := Low, high := High} = Ratio = combined(Ratios, WidthOf),
    ToControl = case lists:all(fun has_logarithm/1, ToControls) of
                    true -> combined(ToControls, WidthOf);
                    false -> none
                end,
    beside_control(Ratio#{name => Name, label => Label, role => Role, outcome => outcome(Void, Within, Estimate, Low, High),
                          to_control => ToControl, apart => true}).

%% The rule for a single result, {@link ertslab_verdict:beside_control/1}.
beside_control(#{outcome := Outcome, to_control := #{} = ToControl} = Judgement) when Outcome =:= faster; Outcome =:= slower ->
    case ertslab_verdict:is_confirmed(Judgement, ToControl) of
        true -> Judgement;
        false -> Judgement#{outcome := unsure, apart := false}
    end;
beside_control(Judgement) -> Judgement.

%% The rule for a single ratio, with the comparisons' smallest change of interest.
outcome(true, _, _, _, _) -> void;
outcome(_, Within, Estimate, _, High) when High < 1, Estimate =< 1 - Within -> faster;
outcome(_, Within, Estimate, Low, _) when Low > 1, Estimate >= 1 + Within -> slower;
outcome(_, Within, _, Low, High) when Low > 1 - Within, High < 1 + Within -> same;
outcome(_, _, _, _, _) -> unsure.

%% @doc The judgements as a table for a terminal.
-spec table([judgement()]) -> iodata().
table(Judgements) ->
    ertslab_text:columns([[<<"program">>, <<"variant">>, <<"ratio">>, <<"95 % interval">>, <<"verdict">>] | [line(J) || J <- Judgements]]).

line(#{name := Name, label := Label, estimate := Estimate, low := Low, high := High} = Judgement) ->
    [Name, Label, ertslab_report_wording:ratio(Estimate), ertslab_report_wording:interval(Low, High), verdict(Judgement)].

verdict(#{apart := false}) -> ertslab_report_wording:not_apart();
verdict(#{outcome := Outcome} = Judgement) -> ertslab_report_wording:marked(Judgement, Outcome, atom_to_binary(Outcome)).

%% @doc The first part of the page: a picture for each arm, and the table.
-spec front([judgement()]) -> ertslab_xml:content().
front([]) -> [];
front(Judgements) ->
    Heads = [<<"program">>, <<"variant">>, {number, <<"ratio">>}, <<"95 % interval">>, <<"verdict">>],
    [{section, [{'aria-labelledby', "judges"}],
      [{h2, [{id, "judges"}], [<<"The programs' verdicts">>]},
       {p, [{class, "hint"}], [<<"The ratio of the processor time for the same work; values left of the dashed line are smaller. ">>,
                               <<"The last row is the geometric mean over the programs. The shaded area is the interval of the"
                                 " control.">>]},
       {'div', [{class, "plots"}], [figure(Index, Label, Judgements) || {Index, Label} <- lists:enumerate(compared(Judgements))]},
       ertslab_report_table:render(<<"Each program, and their geometric mean">>, Heads, [cells(J) || J <- Judgements])]}].

compared(Judgements) -> lists:uniq([Label || #{label := Label, role := compared} <- Judgements]).

cells(#{outcome := Outcome} = Judgement) ->
    [Name, Label, Ratio, Interval, Verdict] = line(Judgement),
    {"", [{head, Name}, Label, {number, Ratio}, Interval, {atom_to_list(Outcome), Verdict}]}.

figure(Index, Label, Judgements) ->
    Rows = [J || #{label := L} = J <- Judgements, L =:= Label],
    Controls = maps:from_list([{Name, {Low, High}} || #{name := Name, role := control, low := Low, high := High} <- Judgements]),
    {figure, [],
     [{figcaption, [], [Label]},
      ertslab_report_svg:ratios(
        #{id => format("judges-~b", [Index]), title => format("~ts: processor time by program, ratio", [Label]),
          desc => format("~ts.", [lists:join("; ", [lists:join(" ", line(J)) || J <- Rows])]),
          range => ertslab_report_svg:ratio_range([Bound || {Low, High} <- [{L, H} || #{low := L, high := H} <- Rows]
                                                                               ++ maps:values(Controls),
                                                            Bound <- [Low, High]]),
          floor => none, baseline => <<"the baseline">>,
          rows => [(figure_row(J))#{floor => maps:get(Name, Controls, none)} || #{name := Name} = J <- Rows]})]}.

figure_row(#{name := Name, estimate := Estimate, low := Low, high := High, outcome := Outcome} = Judgement) ->
    [_, _, Ratio, Interval, Verdict] = line(Judgement),
    #{label => Name, outcome => Outcome, estimate => Estimate, low => Low, high => High,
      note => format("~ts (~ts) ~ts", [Ratio, Interval, Verdict])}.
