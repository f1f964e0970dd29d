%% @doc Pictures of a summary, drawn by gnuplot where it is installed.
-module(ertslab_plot).

-export([available/0, bars/1, growth/1, curve/2, lines/1, draw/2]).

%% The baseline and its control are grey, what is compared with them is not.
-define(COLOURS,
        "set linetype 1 lc rgb '#4d5761'\nset linetype 2 lc rgb '#aab3bb'\n"
        "set linetype 3 lc rgb '#1b6ca8'\nset linetype 4 lc rgb '#d9822b'\n"
        "set linetype 5 lc rgb '#2a9d64'\n").
%% Metrics have no baseline among them, so their lines begin with the third.
-define(MORE_COLOURS,
        "set linetype 6 lc rgb '#8e44ad'\nset linetype 7 lc rgb '#c0392b'\n"
        "set linetype 8 lc rgb '#4d5761'\nset linetype 9 lc rgb '#aab3bb'\n").
-define(FIRST_COLOUR, 3).

%% @doc Whether a picture can be drawn on this machine.
-spec available() -> boolean().
available() -> os:find_executable("gnuplot") =/= false.

%% @doc A gnuplot script: for each case a panel, for each metric a group of
%% bars, one for each arm, as high as its median.
-spec bars(ertslab_summary:summary()) -> iodata().
bars(#{cases := Cases, plan := #{title := Title, otp := Version, metrics := Metrics},
       arms := Arms}) ->
    {Axis, Divisor} = axis(lists:uniq([Unit || #{unit := Unit} <- Metrics])),
    Labels = [Label || #{label := Label} <- Arms],
    [header(320 * length(Cases) + 60, [Title, " (OTP ", Version, ")"], length(Cases)),
     "set style data histogram\nset style histogram clustered gap 1\n"
     "set style fill solid noborder\nset boxwidth 0.9\nset grid ytics\nset border 3\nset tics nomirror\n"
     "set ylabel '", Axis, "'\nset yrange [0:*]\nset bmargin 4\nset key outside right top\n",
     [panel(Index, Case, Labels, Divisor) || {Index, Case} <- lists:enumerate(Cases)],
     "unset multiplot\n"].

%% Times are drawn in milliseconds, and what is counted as it is.
axis([ns]) -> {"median, ms", 1.0e6};
axis(Units) -> {lists:join(", ", [atom_to_list(Unit) || Unit <- Units]), 1.0}.

header(Height, Title, Panels) ->
    io_lib:format("set terminal svg size 900,~b font 'sans,13' background '#ffffff'\n" ++ ?COLOURS ++
                  "set multiplot layout ~b,1 title \"~ts\" noenhanced\n",
                  [Height, Panels, escape(Title)]).

panel(Index, #{params := Params, rows := Rows}, Labels, Divisor) ->
    Block = io_lib:format("$case~b", [Index]),
    [Block, " << EOD\n", table(Rows, Labels, Divisor), "EOD\n",
     "set title \"", escape(ertslab_table:params(Params)), "\" noenhanced\n",
     "plot ", lists:join(", ", [series(Block, Column, Label)
                                || {Column, Label} <- lists:enumerate(2, Labels)]), "\n"].

series(Block, Column, Label) ->
    io_lib:format("~ts using ~b:xtic(1) title \"~ts\" noenhanced", [Block, Column, escape(Label)]).

table(Rows, Labels, Divisor) ->
    Metrics = lists:uniq([Metric || #{metric := Metric} <- Rows]),
    [[["\"", string:replace(atom_to_list(Metric), "_", "\\n"), "\""],
      [[" ", median(Rows, Metric, Label, Divisor)] || Label <- Labels], "\n"]
     || Metric <- Metrics].

median(Rows, Metric, Label, Divisor) ->
    case [M || #{metric := N, label := L, median := M} <- Rows, N =:= Metric, L =:= Label] of
        [Median] when is_number(Median) -> io_lib:format("~.6f", [Median / Divisor]);
        _ -> "NaN"
    end.

%% @doc A gnuplot script for metrics that were measured as points [N, value]: for
%% each case a panel, for each metric and arm a line over N of how much was added for
%% one, since the first point.
-spec growth(ertslab_summary:summary()) -> iodata().
growth(#{cases := Cases, plan := #{title := Title, otp := Version}}) ->
    [header(420 * length(Cases) + 60, [Title, " (OTP ", Version, ")"], length(Cases)),
     "set logscale xy\nset grid\nset key outside right top\nset xlabel 'how many'\n",
     [growth_panel(Index, Case) || {Index, Case} <- lists:enumerate(Cases)],
     "unset multiplot\n"].

growth_panel(Index, #{params := Params, rows := Rows}) ->
    Lines = [{io_lib:format("$case~b_~b", [Index, Line]), Row}
             || {Line, Row} <- lists:enumerate([Row || #{points := [_, _ | _]} = Row <- Rows])],
    Units = lists:uniq([Unit || {_, #{unit := Unit}} <- Lines]),
    [[[Block, " << EOD\n", [io_lib:format("~b ~.5f\n", Each) || Each <- for_each(Points)], "EOD\n"]
      || {Block, #{points := Points}} <- Lines],
     "set title \"", escape(ertslab_table:params(Params)), "\" noenhanced\n",
     "set ylabel '", lists:join(", ", [atom_to_list(Unit) || Unit <- Units]), " for each'\n",
     "plot ",
     lists:join(", ", [io_lib:format("~ts using 1:2 with linespoints title \"~ts, ~ts\" noenhanced",
                                     [Block, Metric, escape(Label)])
                       || {Block, #{metric := Metric, label := Label}} <- Lines]),
     "\n"].

%% What does not grow has no place on a logarithmic axis.
for_each([[First, Base] | Points]) ->
    [[N, (Value - Base) / (N - First)] || [N, Value] <- Points, Value > Base].

%% @doc A gnuplot script: the ratio to the baseline over the values of the
%% parameter that was swept, with its 95 % interval, a line a metric.
-spec curve(ertslab_summary:summary(), Metrics :: [atom()]) -> iodata().
curve(#{cases := Cases0, plan := #{title := Title, otp := Version, swept := Parameter,
                                   control := Control}}, Metrics) ->
    Cases = [without(Control, Case) || Case <- Cases0],
    [header(420 * length(Cases) + 60, [Title, " (OTP ", Version, ")"], length(Cases)),
     "set logscale x 2\nset yrange [0:*]\nset grid\nset key outside right top\n"
     "set xlabel \"", atom_to_list(Parameter), "\" noenhanced\n"
     "set ylabel 'ratio to the first value'\n",
     [curve_panel(Index, Case, Parameter, Metrics) || {Index, Case} <- lists:enumerate(Cases)],
     "unset multiplot\n"].

%% The control has the baseline's value, which is drawn already.
without(Control, #{rows := Rows} = Case) ->
    Case#{rows := [Row || #{label := Label} = Row <- Rows, Label =/= Control]}.

curve_panel(Index, #{params := Params, rows := Rows}, Parameter, Metrics) ->
    Blocks = [{io_lib:format("$case~b_~ts", [Index, Metric]), Metric} || Metric <- Metrics],
    [[[Block, " << EOD\n", points(Rows, Parameter, Metric), "EOD\n"] || {Block, Metric} <- Blocks],
     "set title \"", escape(ertslab_table:params(Params)), "\" noenhanced\n",
     "plot ",
     lists:join(", ", [io_lib:format("~ts using 1:2:3:4 with yerrorlines title \"~ts\" noenhanced",
                                     [Block, Metric]) || {Block, Metric} <- Blocks]),
     "\n"].

%% Zero has no place on a logarithmic axis; as the baseline it is the ratio 1.
points(Rows, Parameter, Metric) ->
    [io_lib:format("~b ~.5f ~.5f ~.5f\n", [Value, Estimate, Low, High])
     || #{metric := N, params := #{Parameter := Value},
          ratio := #{estimate := Estimate, low := Low, high := High}} <- Rows,
        N =:= Metric, Value > 0].

%% @doc A gnuplot script with logarithmic axes: the medians over the parameter that the
%% plan names, a line a metric, a panel for each arm but the control and each
%% combination of the other parameters.
-spec lines(ertslab_summary:summary()) -> iodata().
lines(#{cases := Cases, arms := Arms,
        plan := #{title := Title, otp := Version, metrics := Metrics, plot_over := Parameter, control := Control}}) ->
    Labels = [Label || #{label := Label} <- Arms, Label =/= Control],
    Panels = [{Others, Label} || Others <- others(Parameter, Cases), Label <- Labels],
    Names = [Name || #{name := Name} <- Metrics],
    [header(360 * length(Panels) + 60, [Title, " (OTP ", Version, ")"], length(Panels)),
     ?MORE_COLOURS, "set logscale xy\nset format x '%.0f'\nset format y '%g'\nset grid\n"
     "set key outside right top\nset border 3\nset tics nomirror\n"
     "set xlabel \"", atom_to_list(Parameter), " (0 is drawn at 1)\" noenhanced\nset ylabel 'median, us'\n",
     [line_panel(Index, Panel, Names, Parameter, Cases) || {Index, Panel} <- lists:enumerate(Panels)],
     "unset multiplot\n"].

others(Parameter, Cases) -> lists:uniq([maps:remove(Parameter, Params) || #{params := Params} <- Cases]).

line_panel(Index, {Others, Label}, Metrics, Parameter, Cases) ->
    Blocks = [{io_lib:format("$lines~b_~ts", [Index, Metric]), Metric} || Metric <- Metrics],
    [[[Block, " << EOD\n", medians(Cases, Others, Label, Metric, Parameter), "EOD\n"] || {Block, Metric} <- Blocks],
     "set title \"", escape([ertslab_table:params(Others), "  ", Label]), "\" noenhanced\n",
     "plot ",
     lists:join(", ", [io_lib:format("~ts using 1:2 with linespoints lt ~b title \"~ts\" noenhanced",
                                     [Block, Colour, Metric])
                       || {Colour, {Block, Metric}} <- lists:enumerate(?FIRST_COLOUR, Blocks)]),
     "\n"].

medians(Cases, Others, Label, Metric, Parameter) ->
    [io_lib:format("~b ~.6f\n", [max(1, maps:get(Parameter, Params)), Median / 1.0e3])
     || #{params := Params, rows := Rows} <- Cases, maps:remove(Parameter, Params) =:= Others,
        #{metric := N, label := L, median := Median} <- Rows, N =:= Metric, L =:= Label, is_number(Median)].

escape(Text) ->
    string:replace(string:replace(Text, "\\", "\\\\", all), "\"", "'", all).

%% @doc The SVG that gnuplot makes of a script.
-spec draw(file:filename(), iodata()) -> ok | {error, binary()}.
draw(File, Script) ->
    Source = File ++ ".gnuplot",
    ok = file:write_file(Source, ["set output \"", escape(File), "\"\n", Script]),
    Port = open_port({spawn_executable, os:find_executable("gnuplot")},
                     [{args, [Source]}, exit_status, binary, stderr_to_stdout]),
    Result = drawn(Port, <<>>),
    _ = file:delete(Source),
    Result.

drawn(Port, Text) ->
    receive
        {Port, {data, More}} -> drawn(Port, <<Text/binary, More/binary>>);
        {Port, {exit_status, 0}} -> ok;
        {Port, {exit_status, _}} -> {error, Text}
    end.
