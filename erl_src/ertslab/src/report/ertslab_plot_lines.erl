%% @doc Draws a summary as lines over a number, as gnuplot scripts.
-module(ertslab_plot_lines).

-export([growth/1, curve/2, values/1]).

%% The first two colours are for the baseline and its control. Metrics have neither, so their lines begin with the
%% third.
-define(MORE_COLOURS,
        "set linetype 6 lc rgb '#8e44ad'\nset linetype 7 lc rgb '#c0392b'\n"
        "set linetype 8 lc rgb '#4d5761'\nset linetype 9 lc rgb '#aab3bb'\n").
-define(FIRST_COLOUR, 3).

%% @doc A gnuplot script for metrics that were measured as points [N, value], with a panel for each case and a line
%% for each metric and arm. It draws, over N, the average increase of the value for each unit of N since the first
%% point.
-spec growth(ertslab_result:summary()) -> iodata().
growth(#{cases := Cases, plan := #{title := Title, otp := Version}}) ->
    {Key, Height} = ertslab_gnuplot:key(lists:uniq([line_name(Row) || #{rows := Rows} <- Cases, #{points := [_, _ | _]} = Row <- Rows])),
    [ertslab_gnuplot:header((420 + Height) * length(Cases) + 60, [Title, " (OTP ", Version, ")"], length(Cases)),
     "set logscale xy\nset grid\n", Key, "set xlabel 'how many'\n",
     [growth_panel(Index, Case) || {Index, Case} <- lists:enumerate(Cases)],
     "unset multiplot\n"].

growth_panel(Index, #{params := Params, rows := Rows}) ->
    Lines = [{io_lib:format("$case~b_~b", [Index, Line]), Row}
             || {Line, Row} <- lists:enumerate([Row || #{points := [_, _ | _]} = Row <- Rows])],
    Units = lists:uniq([Unit || {_, #{unit := Unit}} <- Lines]),
    [[[Block, " << EOD\n", [io_lib:format("~b ~.5f\n", Each) || Each <- for_each(Points)], "EOD\n"]
      || {Block, #{points := Points}} <- Lines],
     "set title \"", ertslab_gnuplot:escape(ertslab_report_data:params(Params)), "\" noenhanced\n",
     "set ylabel '", lists:join(", ", Units), " for each'\n",
     "plot ",
     lists:join(", ", [io_lib:format("~ts using 1:2 with linespoints title \"~ts\" noenhanced",
                                     [Block, ertslab_gnuplot:name(line_name(Row))])
                       || {Block, Row} <- Lines]),
     "\n"].

line_name(#{metric := Metric, label := Label}) -> ertslab_text:binary([Metric, ", ", Label]).

%% A logarithmic axis cannot show zero or negative growth.
for_each([[First, Base] | Points]) ->
    [[N, (Value - Base) / (N - First)] || [N, Value] <- Points, Value > Base].

%% @doc A gnuplot script of the ratio to the baseline over the values of the swept parameter, with its 95 % interval
%% and a line for each metric.
-spec curve(ertslab_result:summary(), Metrics :: [binary()]) -> iodata().
curve(#{cases := Cases0, plan := #{title := Title, otp := Version, swept := Parameter,
                                   control := Control}}, Metrics) ->
    Cases = [without(Control, Case) || Case <- Cases0],
    [ertslab_gnuplot:header(420 * length(Cases) + 60, [Title, " (OTP ", Version, ")"], length(Cases)),
     curve_axis([Value || #{rows := Rows} <- Cases, #{params := #{Parameter := Value}} <- Rows]),
     "set yrange [0:*]\nset grid\nset key outside right top\n"
     "set xlabel \"", Parameter, "\" noenhanced\n"
     "set ylabel 'ratio to the first value'\n",
     [curve_panel(Index, Case, Parameter, Metrics) || {Index, Case} <- lists:enumerate(Cases)],
     "unset multiplot\n"].

%% A logarithmic axis cannot show zero and negative values, such as fullsweep_after=0.
curve_axis(Values) ->
    case lists:all(fun(Value) -> Value > 0 end, Values) of
        true -> "set logscale x 2\n";
        false -> ""
    end.

%% The control has the baseline's value, which is drawn already.
without(Control, #{rows := Rows} = Case) ->
    Case#{rows := [Row || #{label := Label} = Row <- Rows, Label =/= Control]}.

curve_panel(Index, #{params := Params, rows := Rows}, Parameter, Metrics) ->
    Blocks = [{io_lib:format("$case~b_~ts", [Index, Metric]), Metric} || Metric <- Metrics],
    [[[Block, " << EOD\n", points(Rows, Parameter, Metric), "EOD\n"] || {Block, Metric} <- Blocks],
     "set title \"", ertslab_gnuplot:escape(ertslab_report_data:params(Params)), "\" noenhanced\n",
     "plot ",
     lists:join(", ", [io_lib:format("~ts using 1:2:3:4 with yerrorlines title \"~ts\" noenhanced",
                                     [Block, Metric]) || {Block, Metric} <- Blocks]),
     "\n"].

%% The baseline has no ratio, and no point.
points(Rows, Parameter, Metric) ->
    [io_lib:format("~b ~.5f ~.5f ~.5f\n", [Value | [float(Number) || Number <- Numbers]])
     || #{metric := N, params := #{Parameter := Value}, ratio := Ratio} <- Rows, N =:= Metric,
        [_ | _] = Numbers <- [ertslab_gnuplot:interval(Ratio)]].

%% @doc A gnuplot script with logarithmic axes of the values over the parameter that the plan names: a line for each
%% metric, and a panel for each combination of an arm (except the control) and the other parameters.
-spec values(ertslab_result:summary()) -> iodata().
values(#{cases := Cases, arms := Arms,
          plan := #{title := Title, otp := Version, metrics := Metrics, plot_over := Parameter, control := Control} = Plan}) ->
    Labels = [Label || #{label := Label} <- Arms, Label =/= Control],
    Panels = [{Others, Label} || Others <- others(Parameter, Cases), Label <- Labels],
    Names = [Name || #{name := Name} <- Metrics],
    [ertslab_gnuplot:header(360 * length(Panels) + 60, [Title, " (OTP ", Version, ")"], length(Panels)),
     ?MORE_COLOURS, "set logscale xy\nset format x '%.0f'\nset format y '%g'\nset grid\n"
     "set key outside right top\nset border 3\nset tics nomirror\n"
     "set xlabel \"", Parameter, " (0 is drawn at 1)\" noenhanced\n"
     "set ylabel '", ertslab_estimate:words(maps:get(estimator, Plan)), ", us'\n",
     [line_panel(Index, Panel, Names, Parameter, Cases) || {Index, Panel} <- lists:enumerate(Panels)],
     "unset multiplot\n"].

others(Parameter, Cases) -> lists:uniq([maps:remove(Parameter, Params) || #{params := Params} <- Cases]).

line_panel(Index, {Others, Label}, Metrics, Parameter, Cases) ->
    Blocks = [{io_lib:format("$lines~b_~ts", [Index, Metric]), Metric} || Metric <- Metrics],
    [[[Block, " << EOD\n", values_over(Cases, Others, Label, Metric, Parameter), "EOD\n"] || {Block, Metric} <- Blocks],
     "set title \"", ertslab_gnuplot:escape([ertslab_report_data:params(Others), "  ", Label]), "\" noenhanced\n",
     "plot ",
     lists:join(", ", [io_lib:format("~ts using 1:2 with linespoints lt ~b title \"~ts\" noenhanced",
                                     [Block, Colour, Metric])
                       || {Colour, {Block, Metric}} <- lists:enumerate(?FIRST_COLOUR, Blocks)]),
     "\n"].

values_over(Cases, Others, Label, Metric, Parameter) ->
    [io_lib:format("~b ~.6f\n", [max(1, maps:get(Parameter, Params)), Value / 1.0e3])
     || #{params := Params, rows := Rows} <- Cases, maps:remove(Parameter, Params) =:= Others,
        #{metric := N, label := L, value := Value} <- Rows, N =:= Metric, L =:= Label, is_number(Value)].

