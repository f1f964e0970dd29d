%% @doc The pictures of a report, as elements of SVG. Pure.
%%
%% Horizontal places are in percent, vertical ones in pixels. So a picture is as wide as the screen allows, and its
%% text has the same size on a phone as on a desktop. No information is in the colour alone: each arm has a shape, and
%% each row has a text.
-module(ertslab_report_svg).

-export([ratios/1, values/1, run_order/1, mark/1]).
-export([ratio_range/1]).
-export([figure/3, words/5, horizontal/3, ticks/2, ratio_ticks/1, tick_text/1, percent/1, px/1]).
-export_type([ratios/0, values/0, mark/0]).

-type range() :: {number(), number()}.
-type mark() :: #{arm := non_neg_integer(), value := number(), run := pos_integer(), aside := boolean()}.
%% `note' stands at the end of a row's line. Rows without an estimate have text only. A row's own `floor' overrides
%% the figure's.
-type ratios() :: #{id := binary(), title := binary(), desc := binary(), range := range(),
                    floor := range() | none, baseline := binary(),
                    rows := [#{label := binary(), note := binary(), outcome := atom(), floor => range() | none,
                               estimate := number() | none, low := number() | none,
                               high := number() | none}]}.
-type values() :: #{id := binary(), title := binary(), desc := binary(), unit := binary(),
                    arms := [binary()], points := [mark()]}.

%% A row is a line of text with a strip below it.
-define(ROW, 42).
-define(STRIP, 19).
-define(MIDDLE, 29).
-define(TOP, 4).
-define(AXIS, 34).
-define(ORDER_HEIGHT, 190).
%% The ends of an axis, in percent.
-define(FROM, 4.0).
-define(TO, 96.0).
-define(ORDER_FROM, 16.0).
%% A label of this length stands in one line with the note. Longer ones, as expressions, have lines of their own, which are as
%% wide as a phone.
-define(LABEL_LENGTH, 26).
-define(LINE_LENGTH, 44).
-define(MOST_LINES, 6).
-define(LABEL_HEIGHT, 15).
%% The powers of ten that are floats.
-define(MOST_POWER, 307).

%% @doc A range for the axis of ratios that holds all of them, and 1 well inside.
-spec ratio_range([number()]) -> range().
ratio_range(Ratios) ->
    Positive = [R || R <- Ratios, R > 0],
    {lists:min([0.95 | Positive]) / 1.03, lists:max([1.05 | Positive]) * 1.03}.

%% @doc Ratios with their intervals on a logarithmic axis, one row each, drawn over the A/A interval and the line at
%% ratio 1.
-spec ratios(ratios()) -> ertslab_xml:content().
ratios(#{rows := Rows, range := Range, baseline := Base} = Figure) ->
    {Tops, Bottom} = tops([Label || #{label := Label} <- Rows]),
    figure(Figure, Bottom + ?AXIS,
           [[ratio_row(Row, Figure, Top) || {Top, Row} <- lists:zip(Tops, Rows)],
            [tick_label(log_place(Ratio, Range), Bottom, Ratio) || Ratio <- ratio_ticks(Range)],
            caption(Bottom + ?AXIS - 3, [<<"ratio to ">>, Base])]).

%% The text is above the strip with the marks, so that no mark crosses the text.
ratio_row(#{label := Label, note := Note} = Row, #{range := Range, floor := Floor}, Top) ->
    Y = Top + above(Label),
    [label(Label, Top),
     words(<<"note">>, "100%", "end", Y + 14, Note),
     floor_band(maps:get(floor, Row, Floor), Range, Y + ?STRIP),
     [strip_line(<<"grid">>, log_place(Ratio, Range), Y) || Ratio <- ratio_ticks(Range)],
     strip_line(<<"one">>, log_place(1, Range), Y),
     estimate(Row, Range, Y + ?MIDDLE)].

floor_band(none, _, _) -> [];
floor_band({Low, High}, Range, Y) ->
    From = log_place(Low, Range),
    {rect, [{class, "floor"}, {x, percent(From)}, {y, px(Y)},
            {width, percent(log_place(High, Range) - From)}, {height, px(?ROW - ?STRIP - 2)}], []}.

strip_line(Class, X, Y) -> vertical(Class, X, Y + ?STRIP, Y + ?ROW - 2).

estimate(#{estimate := none}, _, _) -> [];
estimate(#{estimate := Estimate, low := Low, high := High, outcome := Outcome}, Range, Y) ->
    {g, [{class, ["ratio ", atom_to_binary(Outcome)]}],
     [whiskers(Low, High, Range, Y),
      shape(percent(log_place(Estimate, Range)), px(Y), outcome_shape(Outcome), [])]}.

whiskers(Low, High, Range, Y) when is_number(Low), is_number(High) ->
    {From, To} = {log_place(Low, Range), log_place(High, Range)},
    [segment({From, Y}, {To, Y}), vertical(<<"end">>, From, Y - 5, Y + 5), vertical(<<"end">>, To, Y - 5, Y + 5)];
whiskers(_, _, _, _) -> [].

%% Filled if the outcome is known, open if it is not.
outcome_shape(same) -> <<"M-4.5-4.5h9v9h-9z">>;
outcome_shape(Outcome) when Outcome =:= unsure; Outcome =:= varying;
                            Outcome =:= void; Outcome =:= none ->
    <<"M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z">>;
outcome_shape(_) -> <<"M0-6.5l6.5 6.5l-6.5 6.5l-6.5-6.5z">>.

%% @doc The value of each run, in a row for each arm: runs as dots, the middle half as a bar, the median as a line.
-spec values(values()) -> ertslab_xml:content().
values(#{arms := Arms, points := Points, unit := Unit} = Figure) ->
    Values = [Value || #{value := Value} <- Points],
    {Divisor, Shown} = ertslab_report_wording:scale(lists:max(Values), Unit),
    Range = padded(Values),
    {Tops, Bottom} = tops(Arms),
    figure(Figure, Bottom + ?AXIS,
           [[value_row(Label, [P || #{arm := Arm} = P <- Points, Arm =:= Index], Figure, {Range, Divisor}, Top)
             || {Index, {Top, Label}} <- lists:enumerate(0, lists:zip(Tops, Arms))],
            [tick_label(place(Value, Range), Bottom, Value / Divisor) || Value <- ticks(Range, Divisor)],
            caption(Bottom + ?AXIS - 3, [Shown])]).

value_row(Label, Points, #{unit := Unit}, {Range, Divisor}, Top) ->
    Y = Top + above(Label),
    Kept = [Value || #{value := Value, aside := false} <- Points],
    [label(Label, Top),
     [strip_line(<<"grid">>, place(Value, Range), Y) || Value <- ticks(Range, Divisor)],
     spread(Kept, Unit, Range, Y),
     [dot(Point, Unit, percent(place(Value, Range)), px(Y + ?MIDDLE + jitter(Nth)))
      || {Nth, #{value := Value} = Point} <- lists:enumerate(Points)]].

spread([], _, _, _) -> [];
spread(Values, Unit, Range, Y) ->
    [From, Middle, To] = [ertslab_stats:quantile(Values, Q) || Q <- [0.25, 0.5, 0.75]],
    [words(<<"note">>, "100%", "end", Y + 14, [<<"median ">>, ertslab_report_wording:quantity(Middle, Unit)]),
     {rect, [{class, "half"}, {x, percent(place(From, Range))}, {y, px(Y + ?MIDDLE - 8)},
             {width, percent(place(To, Range) - place(From, Range))}, {height, "16"}], []},
     strip_line(<<"median">>, place(Middle, Range), Y)].

%% Neighbours in time are shifted vertically, so that equal values remain visible as separate dots.
jitter(Nth) -> 4 * (Nth rem 3 - 1).

%% @doc The same values in the order of the runs, where drift shows.
-spec run_order(values()) -> ertslab_xml:content().
run_order(#{points := Points, unit := Unit, arms := Arms} = Figure) ->
    Values = [Value || #{value := Value} <- Points],
    Runs = [Run || #{run := Run} <- Points],
    {Divisor, Shown} = ertslab_report_wording:scale(lists:max(Values), Unit),
    {Range, Bottom} = {padded(Values), ?ORDER_HEIGHT - ?AXIS},
    X = fun(Run) -> ?ORDER_FROM + (98.0 - ?ORDER_FROM) * share(Run, {lists:min(Runs) - 1, lists:max(Runs) + 1}) end,
    Y = fun(Value) -> Bottom - (Bottom - ?TOP) * share(Value, Range) end,
    figure(Figure, ?ORDER_HEIGHT,
           [[level(Y(Value), tick_text(Value / Divisor)) || Value <- ticks(Range, Divisor)],
            [tick_label(X(Run), Bottom, Run) || Run <- lists:usort([lists:min(Runs), lists:max(Runs)])],
            [trail([{X(Run), Y(Value)} || #{arm := Arm, run := Run, value := Value} <- Points, Arm =:= Index], Index)
             || {Index, _} <- lists:enumerate(0, Arms)],
            [dot(Point, Unit, percent(X(Run)), px(Y(Value))) || #{run := Run, value := Value} = Point <- Points],
            caption(?ORDER_HEIGHT - 3, [<<"run; ">>, Shown])]).

level(Y, Label) ->
    [horizontal(<<"grid">>, {?ORDER_FROM, 98.0}, Y),
     words(<<"tick">>, percent(?ORDER_FROM - 1.5), "end", Y + 4, Label)].

trail([From, To | Rest], Arm) ->
    [{g, [{class, ["trail ", arm_class(Arm)]}], [segment(From, To)]} | trail([To | Rest], Arm)];
trail(_, _) -> [].

%% Parts

%% @doc A picture of that many pixels in height, with a title and a description for screen readers. The id must be
%% unique on the page.
-spec figure(#{id := binary(), title := binary(), desc := binary(), _ => _}, Height :: number(),
             ertslab_xml:content()) -> ertslab_xml:content().
figure(#{id := Id, title := Title, desc := Desc}, Height, Content) ->
    {svg, [{xmlns, "http://www.w3.org/2000/svg"}, {role, "img"}, {class, "plot"}, {width, "100%"},
           {height, px(Height)}, {'aria-labelledby', [Id, "-t ", Id, "-d"]}],
     [{title, [{id, [Id, "-t"]}], [Title]}, {desc, [{id, [Id, "-d"]}], [Desc]}, Content]}.

%% @doc A line of text at a horizontal place, with the part of it that is at that place (`start', `middle' or `end'),
%% and its baseline in pixels.
-spec words(binary(), X :: iodata(), Anchor :: string(), Y :: number(), ertslab_xml:content()) -> ertslab_xml:content().
words(Class, X, Anchor, Y, Content) ->
    {text, [{class, Class}, {x, X}, {y, px(Y)}, {'text-anchor', Anchor}], [Content]}.

caption(Y, Content) -> words(<<"tick">>, "50%", "middle", Y, Content).

tick_label(X, Bottom, Value) -> words(<<"tick">>, percent(X), "middle", Bottom + 14, tick_text(Value)).

vertical(Class, X, From, To) ->
    {line, [{class, Class}, {x1, percent(X)}, {x2, percent(X)}, {y1, px(From)}, {y2, px(To)}], []}.

%% @doc A horizontal line between two places in percent, at a height in pixels.
-spec horizontal(binary(), range(), Y :: number()) -> ertslab_xml:content().
horizontal(Class, {From, To}, Y) ->
    {line, [{class, Class}, {x1, percent(From)}, {x2, percent(To)}, {y1, px(Y)}, {y2, px(Y)}], []}.

segment({X1, Y1}, {X2, Y2}) ->
    {line, [{x1, percent(X1)}, {x2, percent(X2)}, {y1, px(Y1)}, {y2, px(Y2)}], []}.

%% A path cannot have coordinates in percent, but an SVG inside the SVG can.
shape(X, Y, Path, Title) ->
    {svg, [{class, "shape"}, {x, X}, {y, Y}, {width, "1"}, {height, "1"}, {overflow, "visible"}],
     [{path, [{d, Path}], Title}]}.

dot(#{arm := Arm, run := Run, value := Value, aside := Aside}, Unit, X, Y) ->
    Says = ertslab_report_value:format("run ~b: ~ts~ts", [Run, ertslab_report_wording:quantity(Value, Unit), aside(Aside)]),
    {g, [{class, [arm_class(Arm), [" aside" || Aside]]}],
     [shape(X, Y, arm_shape(Arm), [{title, [], [Says]}])]}.

aside(true) -> ", measured again";
aside(false) -> "".

%% @doc The mark of an arm, for a legend.
-spec mark(Arm :: non_neg_integer()) -> ertslab_xml:content().
mark(Arm) ->
    {svg, [{xmlns, "http://www.w3.org/2000/svg"}, {class, ["mark ", arm_class(Arm)]}, {width, "14"},
           {height, "14"}, {viewBox, "-7 -7 14 14"}, {'aria-hidden', "true"}],
     [{path, [{d, arm_shape(Arm)}], []}]}.

%% The number of shapes differs from that of colours, so that among many arms no two share both.
arm_class(Arm) -> ["arm", integer_to_list(Arm rem 5)].

arm_shape(Arm) ->
    element(Arm rem 6 + 1, {<<"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z">>, <<"M-3.5-3.5h7v7h-7z">>,
                            <<"M0-4.8l4.6 8.4h-9.2z">>, <<"M0-5l5 5l-5 5l-5-5z">>,
                            <<"M0 4.8l4.6-8.4h-9.2z">>, <<"M-4.5-1.5h3v-3h3v3h3v3h-3v3h-3v-3h-3z">>}).

%% Where the rows of these labels begin, and where the last one ends.
tops(Labels) -> lists:mapfoldl(fun(Label, Top) -> {Top, Top + above(Label) + ?ROW} end, ?TOP, Labels).

%% The height of the lines that a label has for itself.
above(Label) ->
    case string:length(Label) > ?LABEL_LENGTH of
        true -> ?LABEL_HEIGHT * length(label_lines(Label));
        false -> 0
    end.

label(Label, Top) ->
    [words(<<"label">>, "0", "start", Top + 14 + ?LABEL_HEIGHT * Index, Line) || {Index, Line} <- lists:enumerate(0, label_lines(Label))].

label_lines(Label) ->
    case broken(Label) of
        Lines when length(Lines) > ?MOST_LINES ->
            {Shown, [Next | _]} = lists:split(?MOST_LINES - 1, Lines),
            Shown ++ [ertslab_text:binary([string:slice(Next, 0, ?LINE_LENGTH - 1), <<"…"/utf8>>])];
        Lines -> Lines
    end.

%% Broken at a blank, unless a word alone is longer than a line.
broken(Text) ->
    case string:length(Text) > ?LINE_LENGTH of
        false -> [Text];
        true ->
            Line = string:slice(Text, 0, ?LINE_LENGTH + 1),
            case string:split(Line, " ", trailing) of
                [First, Rest] when First =/= <<>> -> [First | broken(ertslab_text:binary([Rest, string:slice(Text, ?LINE_LENGTH + 1)]))];
                _ -> [string:slice(Text, 0, ?LINE_LENGTH) | broken(string:slice(Text, ?LINE_LENGTH))]
            end
    end.

%% Axes

log_place(Ratio, {Low, High}) when Ratio > 0 ->
    ?FROM + (?TO - ?FROM) * share(math:log(Ratio), {math:log(Low), math:log(High)});
log_place(_, _) -> ?FROM.

place(Value, Range) -> ?FROM + (?TO - ?FROM) * share(Value, Range).

share(Value, {Low, High}) -> min(1.0, max(0.0, (Value - Low) / (High - Low))).

padded(Values) ->
    {Low, High} = {lists:min(Values), lists:max(Values)},
    case High - Low of
        Width when Width > 0 -> {Low - 0.05 * Width, High + 0.05 * Width};
        _ -> {Low - max(1, abs(Low)) * 0.1, High + max(1, abs(High)) * 0.1}
    end.

%% @doc The ticks of a range, as round numbers in its displayed unit: the smallest step of 1, 2 or 5 times a power of
%% ten that gives only a few ticks.
-spec ticks(range(), Divisor :: number()) -> [number()].
ticks({Low, High}, Divisor) ->
    Step = step((High - Low) / Divisor / 4),
    [N * Step * Divisor || N <- lists:seq(ceil(Low / Divisor / Step), floor(High / Divisor / Step))].

step(Least) ->
    Power = math:pow(10, floor(math:log10(Least))),
    hd([Times * Power || Times <- [1, 2, 5, 10], Times * Power >= Least]).

%% @doc Ticks of ratios: even steps in a narrow range, a few for each power of ten in a wide one.
-spec ratio_ticks(range()) -> [number()].
ratio_ticks({Low, High} = Range) when High / Low < 3 -> ticks(Range, 1);
ratio_ticks({Low, High}) ->
    {From, To} = {math:log10(Low), math:log10(High)},
    Powers = [math:pow(10, N) || N <- lists:seq(max(-?MOST_POWER, floor(From)), min(?MOST_POWER, ceil(To)))],
    [Tick || Power <- Powers, Times <- ratio_steps(To - From), Tick <- [Times * Power], Tick >= Low, Tick =< High].

%% By how many decades there are: the quotient of the ends may be no float.
ratio_steps(Decades) when Decades < 1 -> [1, 1.5, 2, 3, 5, 7];
ratio_steps(Decades) when Decades < 1.7 -> [1, 2, 5];
ratio_steps(_) -> [1].

%% @doc The text of a tick.
-spec tick_text(number()) -> binary().
tick_text(Value) when abs(Value) >= 1.0e7 -> ertslab_report_value:format("~.3e", [float(Value)]);
tick_text(Value) when abs(Value - round(Value)) < 1.0e-9 -> integer_to_binary(round(Value));
tick_text(Value) -> float_to_binary(float(Value), [{decimals, 6}, compact]).

%% @doc A horizontal place, from 0 to 100.
-spec percent(number()) -> iodata().
percent(Place) -> [float_to_binary(float(Place), [{decimals, 2}]), $%].

%% @doc A vertical place, in pixels.
-spec px(number()) -> binary().
px(Number) -> float_to_binary(float(Number), [{decimals, 1}, compact]).
