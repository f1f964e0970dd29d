%% @doc A report as one page of HTML without scripts, other files or anything to fetch. It is also well-formed XML.
%% Pure.
-module(ertslab_report_html).

-export([page/2, page/3]).

-import(ertslab_report_value, [format/2]).

%% @doc The page for one or more folders. `Refused' has a sentence for each folder that could not be read.
-spec page([ertslab_report_data:data(), ...], Refused :: [binary()]) -> iodata().
page(Folders, Refused) -> page(Folders, Refused, []).

%% @doc The same with `Front' as its first part.
-spec page([ertslab_report_data:data(), ...], Refused :: [binary()], Front :: ertslab_xml:content()) -> iodata().
page(Folders, Refused, Front) ->
    ertslab_xml:page(
      {html, [{xmlns, "http://www.w3.org/1999/xhtml"}, {lang, "en"}],
       [head(Folders),
        {body, [],
         [{a, [{class, "skip"}, {href, "#main"}], [<<"Skip to the verdict">>]},
          {main, [{id, "main"}], body(Folders, Refused, Front)}]}]}).

head(Folders) ->
    {head, [],
     [{meta, [{charset, "utf-8"}], []},
      {meta, [{name, "viewport"}, {content, "width=device-width, initial-scale=1"}], []},
      {meta, [{'http-equiv', "Content-Security-Policy"},
              {content, "default-src 'none'; style-src 'unsafe-inline'"}], []},
      {title, [], [format("~ts: ertslab report", [title(Folders)])]},
      {style, [], [ertslab_report_style:css()]}]}.

title([Data]) -> ertslab_report_wording:folder_title(Data);
title(Folders) -> ertslab_report_series:title(Folders).

body([Data], Refused, Front) -> [Front, folder(Data, <<"r">>, 1), refused(Refused)];
body(Folders, Refused, Front) ->
    Numbered = lists:enumerate(ertslab_report_series:by_date(Folders)),
    [{h1, [], [title(Folders)]},
     refused(Refused),
     Front,
     ertslab_report_series:overview(Numbered),
     [{section, [{class, "folder"}, {id, ertslab_report_series:anchor(Number)}],
       folder(Data, format("f~b", [Number]), 2)}
      || {Number, Data} <- Numbered]].

refused([]) -> [];
refused(Sentences) ->
    {section, [{class, "verdict unsure"}],
     [{p, [], [<<"Left out of this report:">>]}, {ul, [], [{li, [], [Sentence]} || Sentence <- Sentences]}]}.

%% One folder

%% `Level' is the level of the first heading.
folder(Data, Id, Level) ->
    Sections = [Section || {_, _, Content} = Section <- sections(Data, Id, Level + 2), Content =/= []],
    [verdict(Data, Level),
     contents(Id, Sections),
     [{section, [{'aria-labelledby', [Id, "-", Name]}],
       [heading(Level + 1, [{id, [Id, "-", Name]}], Title), Content]}
      || {Name, Title, Content} <- Sections]].

heading(Level, Attributes, Text) ->
    {element(Level, {h1, h2, h3, h4, h5}), Attributes, [Text]}.

verdict(#{warnings := Warnings} = Data, Level) ->
    #{claim := Claim, evidence := Evidence, tone := Tone} = ertslab_report_wording:verdict(Data),
    {section, [{class, ["verdict ", atom_to_binary(Tone)]}],
     [heading(Level, [], Claim),
      [{p, [], [Sentence]} || Sentence <- Evidence],
      {p, [{class, "about"}], [about(Data)]},
      [{ul, [{class, "warnings"}, {'aria-label', "Warnings"}],
        [{li, [], [Warning]} || Warning <- Warnings]} || Warnings =/= []]]}.

about(#{plan := #{title := Title}, measured := Measured, name := Name} = Data) ->
    format("~ts: ~ts. ~ts. ~ts UTC, folder ~ts.",
           [ertslab_report_wording:folder_title(Data), Title, ertslab_report_provenance:machine(Data),
            Measured, Name]).

contents(Id, Sections) ->
    {nav, [{'aria-label', "Contents"}],
     [{ul, [], [{li, [], [{a, [{href, ["#", Id, "-", Name]}], [Title]}]} || {Name, Title, _} <- Sections]}]}.

sections(Data, Id, Level) ->
    [{"ratios", <<"Ratios">>, ratios(Data, Id, Level)},
     {"results", <<"All results">>, results(Data)},
     {"within", <<"Within one VM">>, contrasts(Data)},
     {"values", <<"Every run's value">>,
      each_series(Data, Id, Level, <<"v">>, fun ertslab_report_svg:values/1, [values_hint(), turns_hint(Data)])},
     {"order", <<"In the order of the runs">>,
      each_series(Data, Id, Level, <<"o">>, fun ertslab_report_svg:run_order/1, order_hint())},
     {"speed", <<"The machine's speed">>, speed(Data)}
     | ertslab_report_provenance:sections(Data)].

speed(#{speed_series := none}) -> [];
speed(#{speed_series := Series, speeds := Speeds}) -> ertslab_report_speeds:content(Series, Speeds).

%% Ratios

baseline(#{plan := #{baseline_label := Base}}) -> Base.

ratios(Data, Id, Level) ->
    [ratio_hint(Data),
     [[case_heading(Data, Case, Level),
       {'div', [{class, "plots"}], [ratio_figure(Data, Id, Case, Metric) || Metric <- metrics(compared(Case))]}]
      || Case <- overall_and_cases(Data), compared(Case) =/= []]].

overall_and_cases(Data) -> ertslab_report_data:overall(Data) ++ ertslab_report_data:cases(Data).

compared(#{rows := Rows}) -> [Row || #{role := Role} = Row <- Rows, Role =/= baseline].

metrics(Rows) -> lists:uniq([Metric || #{metric := Metric} <- Rows]).

ratio_hint(#{plan := #{exact := true, baseline_label := Base}}) ->
    hint([format("Ratios are relative to ~ts, and exact if every run gave the same value.", [Base])]);
ratio_hint(#{plan := #{baseline_label := Base, control := Control}}) ->
    hint([format("Ratios are relative to ~ts; values left of the dashed line are smaller. A line is the 95 % interval. A filled"
                 " diamond means changed, a filled square the same, an open circle unsure.", [Base])
          | floor_hint(Control, Base)]).

floor_hint(null, _) -> [<<" No A/A control was measured.">>];
floor_hint(Control, Base) ->
    [{br, [], []}, {span, [{class, "swatch"}], []},
     format("The A/A interval: the interval of the control, ~ts, the same VM as ~ts. Differences within it"
            " may be noise.", [Control, Base])].

hint(Content) -> {p, [{class, "hint"}], Content}.

case_heading(#{cases := [_]}, #{title := Title}, _) -> hint([Title]);
case_heading(#{}, #{title := Title}, Level) -> heading(Level, [], Title).

ratio_figure(Data, Id, Case, Metric) ->
    Rows = [Row || #{metric := M} = Row <- compared(Case), M =:= Metric],
    {figure, [],
     [figcaption(Data, Metric),
      ertslab_report_svg:ratios(
        #{id => figure_id(Id, <<"q">>, Case, Metric),
          title => format("~ts: ratio to ~ts", [Metric, baseline(Data)]),
          desc => format("~ts.", [lists:join("; ", [spoken(Data, Row) || Row <- Rows])]),
          range => ertslab_report_svg:ratio_range(bounds(compared(Case))),
          floor => ertslab_report_data:floor(hd(Rows)),
          baseline => baseline(Data),
          rows => [ratio_row(Data, Row) || Row <- Rows]})]}.

figure_id(Id, Kind, #{index := Index, rows := Rows}, Metric) ->
    {Nth, _} = lists:keyfind(Metric, 2, lists:enumerate(metrics(Rows))),
    format("~ts-~ts~b-~b", [Id, Kind, Index, Nth]).

figcaption(#{plan := #{metrics := Metrics}}, Metric) ->
    Docs = [Doc || #{name := Name, doc := Doc} <- Metrics, Name =:= Metric],
    {figcaption, [], [Metric, [{span, [], [Doc]} || Doc <- Docs]]}.

spoken(#{plan := Plan}, #{label := Label} = Row) ->
    format("~ts ~ts (~ts) ~ts", [Label, ertslab_report_wording:ratio_text(Row),
                                 ertslab_report_wording:interval(maps:get(ratio, Row)),
                                 ertslab_report_wording:outcome_text(Plan, Row)]).

bounds(Rows) ->
    [Bound || #{ratio := #{estimate := E} = Ratio} <- Rows, {Low, High} <- [ertslab_report_data:bounds(Ratio)],
              Bound <- [E, Low, High], is_number(Bound)].

ratio_row(#{plan := Plan}, #{label := Label, ratio := none} = Row) ->
    #{label => Label, note => ertslab_report_wording:outcome_text(Plan, Row), outcome => none,
      estimate => none, low => none, high => none};
ratio_row(#{plan := Plan}, #{label := Label, ratio := #{estimate := E} = Ratio} = Row) ->
    {Low, High} = ertslab_report_data:bounds(Ratio),
    #{label => Label, outcome => ertslab_report_wording:outcome(Row), estimate => E, low => Low, high => High,
      note => format("~ts (~ts) ~ts", [ertslab_report_wording:ratio(E), ertslab_report_wording:interval(Ratio),
                                       ertslab_report_wording:verdict_text(Plan, Row)])}.

%% Tables

results(#{plan := Plan} = Data) ->
    Heading = maps:get(labelled, Plan),
    [table(Title,
           [<<"metric">>, Heading, {number, ertslab_report_wording:heading(Data)}, {number, <<"ratio">>}, <<"95 % interval">>,
            <<"control">>, <<"verdict">>, <<"other estimator">>],
           [result(Plan, Row) || Row <- Rows])
     || #{title := Title, rows := Rows} <- overall_and_cases(Data)].

result(Plan, #{metric := Metric, label := Label, ratio := Ratio, role := Role} = Row) ->
    {case Role of baseline -> "first"; _ -> "" end,
     [{head, Metric}, Label, {number, ertslab_report_wording:amount(Row)},
      {number, ertslab_report_wording:ratio_text(Row)}, ertslab_report_wording:interval(Ratio),
      ertslab_report_wording:floor_text(Row),
      {atom_to_list(ertslab_report_wording:outcome(Row)), ertslab_report_wording:outcome_text(Plan, Row)},
      other(Row)]}.

%% The other estimator's ratio is always shown, and marked if it disagrees.
other(#{other := #{disagrees := true}} = Row) -> format("disagrees: ~ts", [ertslab_report_wording:disagreement(Row)]);
other(#{other := #{estimator := Estimator, ratio := #{estimate := E} = Ratio}}) ->
    format("~ts ~ts (~ts)", [ertslab_estimate:words(Estimator), ertslab_report_wording:ratio(E),
                             ertslab_report_wording:interval(Ratio)]);
other(#{}) -> <<"">>.

table(Caption, Heads, Rows) -> ertslab_report_table:render(Caption, Heads, Rows).

contrasts(Data) ->
    case [{Case, Contrast} || #{contrasts := Contrasts} = Case <- ertslab_report_data:cases(Data),
                              #{ratio := #{}} = Contrast <- Contrasts] of
        [] -> [];
        Found ->
            [hint([<<"The ratio of two metrics of the same run; above 1 the first takes longer.">>]),
             table(<<"Ratios of metrics">>, [<<"what">>, maps:get(labelled, maps:get(plan, Data)),
                                          {number, <<"ratio">>}, <<"95 % interval">>, <<"parameters">>],
                   [{"", [{head, Says}, Label, {number, ertslab_report_wording:ratio(E)},
                          ertslab_report_wording:interval(Ratio), Title]}
                    || {#{title := Title}, #{label := Label, says := Says, ratio := #{estimate := E} = Ratio}} <- Found])]
    end.

%% Runs

values_hint() ->
    <<"A dot is the number of one run (one fresh VM). The bar covers the middle half of the runs, the line is their median.">>.

turns_hint(#{plan := #{rounds := arms}}) ->
    <<" The arms took turns. The speed of the machine, which the rounds of a turn have in common, is removed from all values.">>;
turns_hint(#{}) -> <<"">>.

order_hint() ->
    <<"The same values in the order in which they were measured. A drift comes from the machine, not from an arm.">>.

each_series(Data, Id, Level, Kind, Draw, Hint) ->
    Cases = ertslab_report_data:cases(Data),
    case [Number || #{rows := Rows} <- Cases, #{numbers := [Number | _]} <- Rows] of
        [] -> hint([<<"There is nothing to draw: samples.jsonl is missing, or contains no complete run in the format of this version.">>]);
        [_ | _] ->
            [hint([Hint]), legend(Data),
             [[case_heading(Data, Case, Level),
               {'div', [{class, "plots"}],
                [series_figure(Data, Case, Metric, figure_id(Id, Kind, Case, Metric), Draw)
                 || Metric <- metrics(maps:get(rows, Case))]}]
              || Case <- Cases]]
    end.

legend(#{arms := Arms, disturbed := Disturbed}) ->
    {ul, [{class, "legend"}, {'aria-label', "Legend"}],
     [[{li, [], [ertslab_report_svg:mark(Index), Label]} || {Index, #{label := Label}} <- lists:enumerate(0, Arms)],
      [{li, [], [<<"open shape: disturbed, and measured again">>]} || Disturbed =/= []]]}.

series_figure(#{arms := Arms} = Data, #{rows := Rows} = Case, Metric, Id, Draw) ->
    [Unit | _] = [U || #{metric := M, unit := U} <- Rows, M =:= Metric],
    Content = case ertslab_report_data:points(Data, {Case, Metric}) of
                  [_ | _] = Points ->
                      Draw(#{id => Id, title => format("~ts, run by run", [Metric]), unit => Unit,
                             desc => spoken_values(Data, Rows, Metric), points => Points,
                             arms => [Label || #{label := Label} <- Arms]});
                  [] -> hint([<<"No run gave a value.">>])
              end,
    {figure, [], [figcaption(Data, Metric), Content]}.

spoken_values(Data, Rows, Metric) ->
    format("~ts.", [lists:join("; ", [[Label, " ", ertslab_report_wording:heading(Data), " ", ertslab_report_wording:quantity(Value, Unit)]
                                      || #{metric := M, label := Label, value := Value, unit := Unit} <- Rows,
                                         M =:= Metric])]).
