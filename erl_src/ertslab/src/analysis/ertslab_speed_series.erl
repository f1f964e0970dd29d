%% @doc The speed of the machine over the time of a session, as few enough numbers to keep and to draw: a column for each
%% stretch of time, and how often the work took how long. Pure.
-module(ertslab_speed_series).

-export([of_points/2]).
-export_type([series/0]).

%% Logs of ratios to the fast speed, which are drawn from `low' to `high', over `span' milliseconds. A column is its
%% number, from 0 to 599, and the bounds of the middle 80 % of its logs around their median: [Number, Low, Median,
%% High]. A column without points is missing. `bins' are the counts of a histogram, from `low' to `high'.
-type series() :: #{span := number(), low := float(), high := float(), columns := [[number()], ...], bins := [non_neg_integer(), ...]}.

-define(COLUMNS, 600).
-define(BINS, 40).
%% Rarer values are cut off at the edges of the picture.
-define(RARE, 0.02).

%% @doc The series of points in the order of time, and of the speeds that were found in them; `none' without points.
-spec of_points([ertslab_speeds:point()], ertslab_speeds:speeds()) -> series() | none.
of_points([], _) -> none;
of_points([{Start, _} | _] = Points, #{fast_ns := Fast, apart := Apart}) ->
    Logs = [{At - Start, math:log(Ns / Fast)} || {At, Ns} <- Points],
    {Last, _} = lists:last(Logs),
    Span = max(1, Last),
    Values = [Log || {_, Log} <- Logs],
    Low = min(ertslab_stats:quantile(Values, ?RARE), 0.0) - 0.05,
    High = lists:max([ertslab_stats:quantile(Values, 1 - ?RARE), math:log(Apart), math:log(1.2)]) + 0.05,
    #{span => Span, low => Low, high => High, columns => columns(Logs, Span), bins => bins(Values, Low, High)}.

%% The range of a column from its lowest to its highest would cover everything, because some work is interrupted in every
%% few milliseconds.
columns(Logs, Span) ->
    Grouped = maps:groups_from_list(fun({Ms, _}) -> min(?COLUMNS - 1, trunc(?COLUMNS * Ms / Span)) end,
                                    fun({_, Log}) -> Log end, Logs),
    [[Column | [ertslab_stats:quantile(In, Part) || Part <- [0.1, 0.5, 0.9]]]
     || {Column, In} <- lists:sort(maps:to_list(Grouped))].

bins(Values, Low, High) ->
    Step = (High - Low) / ?BINS,
    Counts = maps:groups_from_list(fun(Log) -> floor((Log - Low) / Step) end, Values),
    [length(maps:get(Bin, Counts, [])) || Bin <- lists:seq(0, ?BINS - 1)].
