%% @doc Several comparisons side by side: over time, or over machines. Pure.
-module(ertslab_report_series).

-export([title/1, by_date/1, overview/1, series/1, anchor/1]).
-export_type([numbered/0, series/0]).

-import(ertslab_report_value, [format/2]).

-type numbered() :: [{pos_integer(), ertslab_report_data:data()}].
%% One result in each of the folders that have it: a metric of an experiment, for one arm and the same parameters.
-type key() :: {Result :: binary(), Arms :: binary(), Params :: binary()}.
-type series() :: {key(), [{pos_integer(), ertslab_report_data:data(), ertslab_result:row()}]}.

-spec title([ertslab_report_data:data()]) -> binary().
title(Folders) ->
    Names = lists:uniq([Name || #{plan := #{experiment := Name}} <- Folders]),
    format("~ts of ~ts", [ertslab_report_wording:count(length(Folders), "comparison"), lists:join(", ", Names)]).

%% @doc The folders, the oldest first.
-spec by_date([ertslab_report_data:data()]) -> [ertslab_report_data:data()].
by_date(Folders) ->
    lists:sort(fun(#{measured := A}, #{measured := B}) -> A =< B end, Folders).

%% @doc All results: those that several folders share, and those that only one has.
-spec series(numbered()) -> [series()].
series(Numbered) ->
    Keyed = [{key(Data, Case, Row), {Number, Data, Row}}
             || {Number, Data} <- Numbered, {Case, Row} <- ertslab_report_wording:judged(Data)],
    [{Key, [Entry || {K, Entry} <- Keyed, K =:= Key]} || Key <- lists:uniq([Key || {Key, _} <- Keyed])].

key(#{plan := #{experiment := Experiment, baseline_label := Base}}, #{title := Params},
    #{metric := Metric, label := Label}) ->
    {format("~ts ~ts", [Experiment, Metric]), format("~ts to ~ts", [Label, Base]), Params}.

%% @doc The verdicts of all folders, a picture of each result that several folders have, and a table of all results.
-spec overview(numbered()) -> ertslab_xml:content().
overview(Numbered) ->
    Series = series(Numbered),
    [{section, [{'aria-labelledby', "verdicts"}],
      [{h2, [{id, "verdicts"}], [<<"The verdicts">>]}, {ol, [], [verdict(Folder) || Folder <- Numbered]}]},
     {section, [{'aria-labelledby', "over"}],
      [{h2, [{id, "over"}], [<<"The same result in each folder">>]},
       pictures(Series),
       table(Series)]}].

verdict({Number, #{name := Name, measured := Measured} = Data}) ->
    #{claim := Claim} = ertslab_report_wording:verdict(Data),
    {li, [], [{a, [{href, ["#", anchor(Number)]}], [Claim]},
              format(" ~ts UTC, ~ts, ~ts; folder ~ts.",
                     [Measured, ertslab_report_wording:folder_title(Data), ertslab_report_provenance:machine(Data), Name])]}.

%% @doc The anchor of a folder on the page.
-spec anchor(pos_integer()) -> binary().
anchor(Number) -> format("folder-~b", [Number]).

pictures(Series) ->
    case [{Nth, One} || {Nth, {_, [_, _ | _]} = One} <- lists:enumerate(Series)] of
        [] -> {p, [{class, "hint"}], [<<"No two folders have a result of the same experiment, arm and parameters.">>]};
        Shared -> {'div', [{class, "plots"}], [picture(Nth, One) || {Nth, One} <- Shared]}
    end.

picture(Nth, {{Result, Arms, Params}, Entries}) ->
    Ratios = [Ratio || {_, _, #{ratio := #{} = Ratio}} <- Entries],
    [{_, #{plan := #{baseline_label := Base}}, _} | _] = Entries,
    {figure, [],
     [{figcaption, [], [Result, {span, [], [Arms, <<", ">>, Params]}]},
      ertslab_report_svg:ratios(
        #{id => format("over-~b", [Nth]), title => format("~ts, ~ts, ~ts", [Result, Arms, Params]),
          baseline => Base, floor => none,
          desc => format("~ts.", [lists:join("; ", [[label(Number, Data), " ", note(Row)]
                                                    || {Number, Data, Row} <- Entries])]),
          range => ertslab_report_svg:ratio_range([Bound || #{estimate := E} = Ratio <- Ratios,
                                                            {Low, High} <- [ertslab_report_data:bounds(Ratio)],
                                                            Bound <- [E, Low, High], is_number(Bound)]),
          rows => [row(label(Number, Data), Row) || {Number, Data, Row} <- Entries]})]}.

label(Number, #{measured := Measured, plan := #{otp := Version}}) ->
    format("~b: ~ts OTP ~ts", [Number, hd(binary:split(Measured, <<" ">>)), Version]).

note(#{ratio := none}) -> <<"no ratio">>;
note(#{ratio := Ratio} = Row) ->
    format("~ts (~ts)", [ertslab_report_wording:ratio_text(Row), ertslab_report_wording:interval(Ratio)]).

row(Label, #{ratio := none} = Row) ->
    #{label => Label, note => note(Row), outcome => none, estimate => none, low => none, high => none};
row(Label, #{ratio := #{estimate := E} = Ratio} = Row) ->
    {Low, High} = ertslab_report_data:bounds(Ratio),
    #{label => Label, note => note(Row), outcome => ertslab_report_wording:outcome(Row),
      estimate => E, low => Low, high => High}.

table(Series) ->
    ertslab_report_table:render(
      <<"Every result of every folder">>,
      [<<"result">>, {number, <<"folder">>}, {number, <<"ratio">>}, <<"95 % interval">>, <<"verdict">>, <<"A/A interval">>, <<"arms">>,
       <<"parameters">>, <<"measured">>, <<"OTP">>, <<"machine">>],
      [entry(Key, Entry) || {Key, Entries} <- Series, Entry <- Entries]).

entry({Result, Arms, Params}, {Number, #{measured := Measured, plan := #{otp := Version} = Plan} = Data, Row}) ->
    {"", [{head, Result}, {number, integer_to_binary(Number)},
          {number, ertslab_report_wording:ratio_text(Row)}, ertslab_report_wording:interval(maps:get(ratio, Row)),
          {atom_to_list(ertslab_report_wording:outcome(Row)), ertslab_report_wording:outcome_text(Plan, Row)},
          ertslab_report_wording:floor_text(Row), Arms, Params, Measured, Version,
          ertslab_report_provenance:machine(Data)]}.
