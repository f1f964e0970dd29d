%% @doc A section of a report on the machine's speed during a session: the duration of one fixed piece of work over
%% time, and a histogram of the durations. Pure.
%%
%% Both halves share the vertical axis. It is logarithmic and shows the duration as a multiple of the duration at the
%% fast speed. A machine with two speeds gives two bands on the left and two hills on the right.
-module(ertslab_report_speeds).

-export([section/1, content/1, svg/1]).

-import(ertslab_report_svg, [figure/3, words/5, horizontal/3, ticks/2, ratio_ticks/1, tick_text/1, percent/1,
                             px/1]).
-import(ertslab_report_value, [format/2]).

-type points() :: [ertslab_speeds:point()].
%% What is drawn: logs of ratios to the fast speed, from `low' to `high', over
%% milliseconds since the first point.
-type plot() :: #{logs := [{Ms :: number(), Log :: float()}, ...], span := number(), low := float(), high := float()}.

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
%% The numbers of columns over time and of bins in the histogram.
-define(COLUMNS, 600).
-define(BINS, 40).
%% Rarer values are cut off at the edges of the picture.
-define(RARE, 0.02).

%% @doc The section with its heading, as HTML that is well-formed XML; empty without points. The points are in the
%% order of time, as those of `ertslab_speeds:found/1'.
-spec section(points()) -> iodata().
section([]) -> [];
section(Points) ->
    Id = [id(Points), "-h"],
    ertslab_xml:render({section, [{'aria-labelledby', Id}],
                        [{h2, [{id, Id}], [<<"The machine's speed">>]}, content(Points)]}).

%% @doc The content of the section below its heading; empty without points.
-spec content(points()) -> ertslab_xml:content().
content([]) -> [];
content(Points) ->
    Speeds = ertslab_speeds:found(Points),
    [{p, [], [format("~ts.", [string:titlecase(ertslab_speeds:says(Speeds))])]},
     {p, [{class, "hint"}],
      [<<"What one fixed piece of work took, again and again; upwards, how many times as long as at the fast speed.">>,
       <<" A dot is the median of what was done at that time, the band behind it holds the middle 80 %. To the right">>,
       <<" stands how often it took how long. The dashed lines are the speeds.">>]},
     {figure, [], [picture(Points, Speeds)]}].

%% @doc The picture alone; empty without points.
-spec svg(points()) -> iodata().
svg([]) -> [];
svg(Points) -> ertslab_xml:render(picture(Points, ertslab_speeds:found(Points))).

%% Unique on a page of several sessions.
id(Points) -> format("speed~b", [erlang:phash2(Points)]).

picture(Points, #{fast_ns := Fast, slow_ns := Slow} = Speeds) ->
    #{low := Low, high := High} = Plot = plot(Points, Speeds),
    Columns = columns(Plot),
    figure(#{id => id(Points), title => <<"The machine's speed over time">>, desc => described(Plot, Speeds)}, ?HEIGHT,
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

-spec plot(points(), ertslab_speeds:speeds()) -> plot().
plot([{Start, _} | _] = Points, #{fast_ns := Fast, apart := Apart}) ->
    Logs = [{At - Start, math:log(Ns / Fast)} || {At, Ns} <- Points],
    {Span, _} = lists:last(Logs),
    Values = [Log || {_, Log} <- Logs],
    #{logs => Logs, span => max(1, Span),
      low => min(ertslab_stats:quantile(Values, ?RARE), 0.0) - 0.05,
      high => lists:max([ertslab_stats:quantile(Values, 1 - ?RARE), math:log(Apart), math:log(1.2)]) + 0.05}.

%% Over time

%% Groups the points into a few columns of equal time. Each column that has points gives the bounds of the middle 80 %
%% of its logs, and their median. The range from lowest to highest would cover everything, because some work is
%% interrupted in every few milliseconds.
columns(#{logs := Logs, span := Span}) ->
    Grouped = maps:groups_from_list(fun({Ms, _}) -> min(?COLUMNS - 1, trunc(?COLUMNS * Ms / Span)) end,
                                    fun({_, Log}) -> Log end, Logs),
    [{Column, [ertslab_stats:quantile(In, Part) || Part <- [0.1, 0.5, 0.9]]}
     || {Column, In} <- lists:sort(maps:to_list(Grouped))].

extent({Column, [Low, _, High]}, Plot) ->
    [$M, integer_to_list(Column), $\s, height(Low, Plot), "h1V", height(High, Plot), "h-1z"].

dot({Column, [_, Median, _]}, Plot) -> [$M, integer_to_list(Column), $\s, height(Median, Plot), "h1"].

%% How often

%% The bars of the histogram are horizontal. The longest one has the length 1000.
bars(#{logs := Logs, low := Low, high := High} = Plot) ->
    Step = (High - Low) / ?BINS,
    Counts = maps:groups_from_list(fun({_, Log}) -> floor((Log - Low) / Step) end, Logs),
    Lengths = [{Bin, length(maps:get(Bin, Counts, []))} || Bin <- lists:seq(0, ?BINS - 1)],
    Longest = lists:max([1 | [Length || {_, Length} <- Lengths]]),
    [["M0 ", height(Low + Bin * Step, Plot), $h, integer_to_list(round(1000 * Length / Longest)),
      $V, height(Low + (Bin + 1) * Step, Plot), "H0z"] || {Bin, Length} <- Lengths, Length > 0].

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
