%% @doc A table of how single iterations are distributed: iterations per second, mean, deviation, median and 99th
%% percentile. Pure.
%%
%% It pools all iterations of all runs of an arm. That describes them but proves nothing: iterations of one run are
%% not independent samples, so verdicts are based on runs only.
-module(ertslab_report_iterations).

-export([page/1]).

%% @doc The text for one or more folders. It leaves out pairs that were measured again, as the results do.
-spec page([ertslab_report_data:data(), ...]) -> iodata().
page(Folders) -> lists:join($\n, [folder(Data) || Data <- ertslab_report_series:by_date(Folders)]).

folder(#{name := Name, cases := Cases} = Data) ->
    [Name, $\n, [[$\n, Params, $\n, ertslab_text:columns([header() | rows(Data, Index, Rows)])]
                 || #{index := Index, params := Params, rows := Rows} <- Cases]].

header() -> ["metric", "arm", "per second", "mean", "deviation", "median", "99 %", "iterations"].

rows(#{arms := Arms, points := Points}, Case, Rows) ->
    [row(Metric, Label, Unit, lists:append(Values))
     || {Metric, Unit} <- lists:uniq([{M, U} || #{metric := M, unit := U} <- Rows]),
        {Arm, #{<<"label">> := Label}} <- lists:enumerate(0, Arms),
        Values <- [[Values || #{arm := A, iterations := Values, aside := false}
                                  <- maps:get({Case, Metric}, Points, []), A =:= Arm]],
        Values =/= []].

row(Metric, Label, Unit, Values) ->
    Mean = lists:sum(Values) / length(Values),
    [Metric, Label, per_second(Unit, Mean), quantity(Mean, Unit), deviation(Mean, Values),
     quantity(ertslab_stats:median(Values), Unit), quantity(ertslab_stats:quantile(Values, 0.99), Unit),
     integer_to_list(length(Values))].

per_second(<<"ns">>, Mean) when Mean > 0 -> io_lib:format("~.1f", [1.0e9 / Mean]);
per_second(_, _) -> "-".

%% The sample's standard deviation as a fraction of the mean.
deviation(Mean, [_, _ | _] = Values) when Mean > 0 ->
    Squares = lists:sum([(Value - Mean) * (Value - Mean) || Value <- Values]),
    io_lib:format("~.1f %", [100 * math:sqrt(Squares / (length(Values) - 1)) / Mean]);
deviation(_, _) -> "-".

quantity(Value, Unit) -> ertslab_report_wording:quantity(Value, Unit).
