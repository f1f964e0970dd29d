%% @doc Several programs as judges of VMs: a ratio for each program, and their geometric mean. Pure.
%%
%% A program's ratio is the geometric mean of those of its judged metrics. Its interval takes their errors as if they had all in
%% common, since they are of the same runs; that of the mean over programs takes them as independent, since each has runs of
%% its own.
-module(ertslab_judges_page).

-export([judgements/1, table/1, front/1]).
-export_type([judged/0, judgement/0]).

-import(ertslab_report_value, [format/2]).

%% A folder, and the metrics by which it is judged.
-type judged() :: {ertslab_report_data:data(), Metrics :: [binary(), ...]}.
%% Of a program, or of all.
-type judgement() :: #{name := binary(), label := binary(), role := control | compared, estimate := float(), low := float(),
                       high := float(), outcome := faster | slower | same | unsure | void}.

-define(ALL, ~"all").

%% @doc The judgement of each program on each arm, and then the mean over the programs that judge the arm.
-spec judgements([judged()]) -> [judgement()].
judgements(Judged) ->
    Each = [Judgement || {Data, Metrics} <- Judged, Judgement <- of_program(Data, Metrics)],
    Labels = lists:uniq([{Label, Role} || #{label := Label, role := Role} <- Each]),
    Each ++ [mean(Label, Role, [J || #{label := L, outcome := Outcome} = J <- Each, L =:= Label, Outcome =/= void])
             || {Label, Role} <- Labels, length(Judged) > 1].

of_program(#{plan := #{~"experiment" := Name}, cases := Cases, void := Void}, Metrics) ->
    Rows = [Row || #{rows := CaseRows} <- Cases, #{metric := Metric, role := Role, ratio := #{low := Low}} = Row <- CaseRows,
                   Role =/= baseline, lists:member(Metric, Metrics), is_number(Low)],
    [judgement(Name, Label, Role, logs([Row || #{label := L} = Row <- Rows, L =:= Label]), fun in_common/1, Void =/= [])
     || {Label, Role} <- lists:uniq([{Label, Role} || #{label := Label, role := Role} <- Rows])].

%% Of each ratio the logarithm, and how far below and above it the interval reaches.
logs(Rows) ->
    [{math:log(E), math:log(E / Low), math:log(High / E)} || #{ratio := #{estimate := E, low := Low, high := High}} <- Rows].

in_common(Widths) -> lists:sum(Widths) / length(Widths).

independent(Widths) -> math:sqrt(lists:sum([Width * Width || Width <- Widths])) / length(Widths).

mean(Label, Role, []) -> judgement(?ALL, Label, Role, [{0.0, 0.0, 0.0}], fun in_common/1, true);
mean(Label, Role, Judgements) ->
    judgement(?ALL, Label, Role, logs([#{ratio => Judgement} || Judgement <- Judgements]), fun independent/1, false).

judgement(Name, Label, Role, Logs, WidthOf, Void) ->
    {Ratios, Below, Above} = lists:unzip3(Logs),
    Log = lists:sum(Ratios) / length(Ratios),
    {Estimate, Low, High} = {math:exp(Log), math:exp(Log - WidthOf(Below)), math:exp(Log + WidthOf(Above))},
    #{name => Name, label => Label, role => Role, estimate => Estimate, low => Low, high => High,
      outcome => outcome(Void, Estimate, Low, High)}.

%% As for a single ratio, with the bound of 1 %.
outcome(true, _, _, _) -> void;
outcome(_, Estimate, _, High) when High < 1, Estimate =< 0.99 -> faster;
outcome(_, Estimate, Low, _) when Low > 1, Estimate >= 1.01 -> slower;
outcome(_, _, Low, High) when Low > 0.99, High < 1.01 -> same;
outcome(_, _, _, _) -> unsure.

%% @doc For a terminal.
-spec table([judgement()]) -> iodata().
table(Judgements) ->
    ertslab_text:columns([[~"program", ~"variant", ~"ratio", ~"95 % interval", ~"verdict"] | [line(J) || J <- Judgements]]).

line(#{name := Name, label := Label, estimate := Estimate, low := Low, high := High, outcome := Outcome}) ->
    [Name, Label, ertslab_report_wording:ratio(Estimate), ertslab_report_wording:interval(Low, High), atom_to_binary(Outcome)].

%% @doc What stands first on the page: a picture for each arm, and the table.
-spec front([judgement()]) -> ertslab_xml:content().
front([]) -> [];
front(Judgements) ->
    Heads = [~"program", ~"variant", {number, ~"ratio"}, ~"95 % interval", ~"verdict"],
    [{section, [{'aria-labelledby', "judges"}],
      [{h2, [{id, "judges"}], [~"The programs' verdicts"]},
       {p, [{class, "hint"}], [~"The ratio of the processor time for the same work; left of the dashed line is less. ",
                               ~"The last row is the geometric mean over the programs. Shaded: the baseline's copy, which is noise."]},
       {'div', [{class, "plots"}], [figure(Index, Label, Judgements) || {Index, Label} <- lists:enumerate(compared(Judgements))]},
       ertslab_report_table:render(~"Each program, and their geometric mean", Heads, [cells(J) || J <- Judgements])]}].

compared(Judgements) -> lists:uniq([Label || #{label := Label, role := compared} <- Judgements]).

cells(#{outcome := Outcome} = Judgement) ->
    [Name, Label, Ratio, Interval, Verdict] = line(Judgement),
    {"", [{head, Name}, Label, {number, Ratio}, Interval, {atom_to_list(Outcome), Verdict}]}.

figure(Index, Label, Judgements) ->
    Rows = [J || #{label := L} = J <- Judgements, L =:= Label],
    Controls = #{Name => {Low, High} || #{name := Name, role := control, low := Low, high := High} <- Judgements},
    {figure, [],
     [{figcaption, [], [Label]},
      ertslab_report_svg:ratios(
        #{id => format("judges-~b", [Index]), title => format("~ts: processor time by program, ratio", [Label]),
          desc => format("~ts.", [lists:join("; ", [lists:join(" ", line(J)) || J <- Rows])]),
          range => ertslab_report_svg:ratio_range([Bound || {Low, High} <- [{L, H} || #{low := L, high := H} <- Rows] ++ maps:values(Controls),
                                                           Bound <- [Low, High]]),
          floor => none, baseline => ~"the baseline",
          rows => [(figure_row(J))#{floor => maps:get(Name, Controls, none)} || #{name := Name} = J <- Rows]})]}.

figure_row(#{name := Name, estimate := Estimate, low := Low, high := High, outcome := Outcome} = Judgement) ->
    [_, _, Ratio, Interval, Verdict] = line(Judgement),
    #{label => Name, outcome => Outcome, estimate => Estimate, low => Low, high => High,
      note => format("~ts (~ts) ~ts", [Ratio, Interval, Verdict])}.
