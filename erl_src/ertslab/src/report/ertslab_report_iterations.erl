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

folder(#{name := Name} = Data) ->
    [Name, $\n, [[$\n, Title, $\n, ertslab_text:columns([header() | [row(Row) || #{iterations := #{}} = Row <- Rows]])]
                 || #{title := Title, rows := Rows} <- ertslab_report_data:cases(Data)]].

header() -> ["metric", "arm", "per second", "mean", "deviation", "median", "99 %", "iterations"].

row(#{metric := Metric, label := Label, unit := Unit,
      iterations := #{number := Number, mean := Mean, deviation := Deviation, median := Median, q99 := Q99}}) ->
    [Metric, Label, per_second(Unit, Mean), quantity(Mean, Unit), deviation(Mean, Deviation), quantity(Median, Unit), quantity(Q99, Unit),
     integer_to_list(Number)].

per_second(<<"ns">>, Mean) when Mean > 0 -> io_lib:format("~.1f", [1.0e9 / Mean]);
per_second(_, _) -> "-".

%% The sample's standard deviation as a fraction of the mean.
deviation(Mean, Deviation) when Mean > 0, is_number(Deviation) -> io_lib:format("~.1f %", [100 * Deviation / Mean]);
deviation(_, _) -> "-".

quantity(Value, Unit) -> ertslab_report_wording:quantity(Value, Unit).
