%% @doc A section of a report on the machine's speed during a session: the duration of one fixed piece of work over
%% time, and a histogram of the durations. Pure.
%%
%% Both halves share the vertical axis. It is logarithmic and shows the duration as a multiple of the duration at the
%% fast speed. A machine with two speeds gives two bands on the left and two hills on the right.
-module(ertslab_report_speeds).

-export([section/2, content/2, svg/2]).

-import(ertslab_report_svg, [figure/3, words/5, horizontal/3, ticks/2, ratio_ticks/1, tick_text/1, percent/1,
                             px/1]).
-import(ertslab_report_value, [format/2]).

-type series() :: ertslab_speed_series:series().

%% Vertical places, in pixels.
-define(TOP, 6).
-define(BOTTOM, 196).
-define(HEIGHT, 230).
%% Horizontal places, in percent: the plot over time, the histogram, and the legend.
-define(TIME_FROM, 8.0).
-define(TIME_TO, 67.0).
-define(HISTOGRAM_FROM, 68.5).
-define(HISTOGRAM_TO, 79.5).
-define(LEVEL_FROM, 80.5).
%% The width of the plot over time: as many columns as a series may have.
-define(COLUMNS, 600).

%% @doc The section with its heading, as HTML that is well-formed XML; empty without a series. The speeds are those that the
%% series is of.
-spec section(series() | none, ertslab_speeds:speeds()) -> iodata().
section(none, _) -> [];
section(Series, Speeds) ->
    Id = [id(Series), "-h"],
    ertslab_xml:render({section, [{'aria-labelledby', Id}],
                        [{h2, [{id, Id}], [<<"The machine's speed">>]}, content(Series, Speeds)]}).

%% @doc The content of the section below its heading; empty without a series.
-spec content(series() | none, ertslab_speeds:speeds()) -> ertslab_xml:content().
content(none, _) -> [];
content(Series, Speeds) ->
    [{p, [], [format("~ts.", [string:titlecase(ertslab_speeds:says(Speeds))])]},
     {p, [{class, "hint"}],
      [<<"The time of one fixed piece of work, repeated; the vertical axis shows the multiple of the time at the fast speed.">>,
       <<" A dot is the median at that time, the band behind it covers the middle 80 %. The histogram on the right">>,
       <<" shows how often each time occurred. The dashed lines are the speeds.">>]},
     {figure, [], [picture(Series, Speeds)]}].

%% @doc The picture alone; empty without a series.
-spec svg(series() | none, ertslab_speeds:speeds()) -> iodata().
svg(none, _) -> [];
svg(Series, Speeds) -> ertslab_xml:render(picture(Series, Speeds)).

%% Unique on a page of several sessions.
id(Series) -> format("speed~b", [erlang:phash2(Series)]).

picture(#{low := Low, high := High, columns := Columns} = Plot, #{fast_ns := Fast, slow_ns := Slow} = Speeds) ->
    figure(#{id => id(Plot), title => <<"The machine's speed over time">>, desc => described(Plot, Speeds)}, ?HEIGHT,
           [[level(Ratio, Plot) || Ratio <- ratio_ticks({math:exp(Low), math:exp(High)})],
            stretched(?TIME_FROM, ?TIME_TO, ?COLUMNS,
                      [path(<<"band">>, [extent(Column, Plot) || Column <- Columns]),
                       path(<<"dots">>, [dot(Column, Plot) || Column <- Columns])]),
            stretched(?HISTOGRAM_FROM, ?HISTOGRAM_TO, 1000, [path(<<"bars">>, bars(Plot))]),
            [speed(Ns, Ns / Fast, Plot) || Ns <- lists:uniq([Fast, Slow])],
            time_axis(Plot)]).

described(#{span := Span}, #{fast_ns := Fast, slow_ns := Slow, points := Number} = Speeds) ->
    format("~b repetitions in ~ts: ~ts. The fast speed takes ~ts, the slow one ~ts.",
           [Number, duration(Span * 1.0e6), ertslab_speeds:says(Speeds), duration(Fast), duration(Slow)]).

duration(Ns) -> ertslab_report_wording:quantity(Ns, <<"ns">>).

%% Over time

extent([Column, Low, _, High], Plot) ->
    [$M, integer_to_list(Column), $\s, height(Low, Plot), "h1V", height(High, Plot), "h-1z"].

dot([Column, _, Median, _], Plot) -> [$M, integer_to_list(Column), $\s, height(Median, Plot), "h1"].

%% How often

%% The bars of the histogram are horizontal. The longest one has the length 1000.
bars(#{bins := Bins, low := Low, high := High} = Plot) ->
    Step = (High - Low) / length(Bins),
    Longest = lists:max([1 | Bins]),
    [["M0 ", height(Low + Bin * Step, Plot), $h, integer_to_list(round(1000 * Count / Longest)),
      $V, height(Low + (Bin + 1) * Step, Plot), "H0z"] || {Bin, Count} <- lists:enumerate(0, Bins), Count > 0].

%% Axes

level(Ratio, Plot) ->
    Y = y(math:log(Ratio), Plot),
    [horizontal(<<"grid">>, {?TIME_FROM, ?HISTOGRAM_TO}, Y),
     words(<<"tick">>, percent(?TIME_FROM - 1), "end", Y + 4, tick_text(Ratio))].

speed(Ns, Ratio, Plot) ->
    Y = y(math:log(Ratio), Plot),
    [horizontal(<<"one">>, {?TIME_FROM, ?HISTOGRAM_TO}, Y),
     words(<<"label">>, percent(?LEVEL_FROM), "start", Y + 4, duration(Ns))].

time_axis(#{span := Span}) ->
    {Divisor, Unit} = time_unit(Span),
    [[words(<<"tick">>, percent(?TIME_FROM + (?TIME_TO - ?TIME_FROM) * Ms / Span), "middle", ?BOTTOM + 14,
            tick_text(Ms / Divisor)) || Ms <- ticks({0, Span}, Divisor)],
     words(<<"tick">>, percent((?TIME_FROM + ?TIME_TO) / 2), "middle", ?HEIGHT - 4, Unit),
     words(<<"tick">>, percent((?HISTOGRAM_FROM + ?HISTOGRAM_TO) / 2), "middle", ?HEIGHT - 4, <<"how often">>)].

time_unit(Span) when Span < 1000 -> {1, <<"ms">>};
time_unit(Span) when Span < 180_000 -> {1000, <<"s">>};
time_unit(Span) when Span < 10_800_000 -> {60_000, <<"min">>};
time_unit(_) -> {3_600_000, <<"h">>}.

%% A part of the picture with its own horizontal units.
stretched(From, To, Units, Content) ->
    {svg, [{x, percent(From)}, {y, "0"}, {width, percent(To - From)}, {height, px(?BOTTOM)},
           {viewBox, ["0 0 ", integer_to_list(Units), $\s, px(?BOTTOM)]}, {preserveAspectRatio, "none"}], Content}.

path(Class, Data) -> {path, [{class, Class}, {d, Data}], []}.

height(Log, Plot) -> px(y(Log, Plot)).

%% Values outside the range are drawn at the edge.
y(Log, #{low := Low, high := High}) ->
    ?BOTTOM - (?BOTTOM - ?TOP) * min(1.0, max(0.0, (Log - Low) / (High - Low))).
