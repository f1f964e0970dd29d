%% @doc Draws a summary as bars, one group for each metric, as gnuplot scripts.
-module(ertslab_plot_bars).

-export([values/1, ratios/1]).

%% How one kind of bars is drawn: the arms and the colour of the first one, the columns that gnuplot expects, the
%% numbers of a row for these columns, and what is drawn over everything.
-type bars() :: #{arms := [map()], colour := pos_integer(), columns := pos_integer(),
                  numbers := fun((map()) -> [number()] | none), over := string()}.

%% @doc A gnuplot script with a panel for each case, a group of bars for each metric and a bar for each arm, as high
%% as its value.
-spec values(ertslab_result:summary()) -> iodata().
values(#{cases := Cases, plan := #{metrics := Metrics} = Plan, arms := Arms} = Summary) ->
    {Axis, Divisor} = axis(lists:uniq([Unit || #{unit := Unit} <- Metrics]), highest(Cases)),
    picture(Summary,
            ["set style histogram clustered gap 1\nset ylabel '", ertslab_estimate:words(maps:get(estimator, Plan)), ", ", Axis, "'\n"],
            #{arms => Arms, colour => 1, columns => 1, over => "",
              numbers => fun(#{value := Value}) when is_number(Value) -> [Value / Divisor];
                            (#{}) -> none
                         end}).

%% @doc The same with ratios to the first arm and their 95 % intervals. On one axis of values, metrics of different
%% units would hide each other.
-spec ratios(ertslab_result:summary()) -> iodata().
ratios(#{arms := [_ | Arms]} = Summary) ->
    picture(Summary, "set style histogram errorbars gap 1 lw 1.5\nset errorbars lc rgb '#222222'\nset ylabel 'ratio to the first'\n",
            #{arms => Arms, colour => 2, columns => 3, over => ", 1 with lines lt 1 dt 2 notitle",
              numbers => fun(#{ratio := Ratio}) -> ertslab_gnuplot:interval(Ratio) end}).

%% Times are drawn in the unit that suits the longest one, counts as they are.
axis([<<"ns">>], Highest) when Highest >= 1.0e6 -> {"ms", 1.0e6};
axis([<<"ns">>], Highest) when Highest >= 1.0e3 -> {"us", 1.0e3};
axis([<<"ns">>], _) -> {"ns", 1.0};
axis(Units, _) -> {lists:join(", ", Units), 1.0}.

highest(Cases) ->
    lists:max([0 | [Value || #{rows := Rows} <- Cases, #{value := Value} <- Rows, is_number(Value)]]).

picture(#{cases := Cases, plan := #{title := Title, otp := Version}}, Style, #{arms := Arms} = Bars) ->
    {Key, Height} = ertslab_gnuplot:key([Label || #{label := Label} <- Arms]),
    [ertslab_gnuplot:header((320 + Height) * length(Cases) + 60, [Title, " (OTP ", Version, ")"], length(Cases)),
     "set style data histogram\n", Style,
     "set style fill solid noborder\nset boxwidth 0.9\nset grid ytics\nset border 3\nset tics nomirror\n"
     "set yrange [0:*]\nset bmargin 4\n", Key,
     [panel(Index, Case, Bars) || {Index, Case} <- lists:enumerate(Cases)],
     "unset multiplot\n"].

%% gnuplot fails on an arm without any number, so such an arm is left out.
-spec panel(pos_integer(), map(), bars()) -> iodata().
panel(Index, #{params := Params, rows := Rows}, #{arms := Arms, colour := Colour, over := Over} = Bars) ->
    Block = io_lib:format("$case~b", [Index]),
    case [series(Block, Arm, Nth, Colour + Nth, Bars) || {Nth, Arm} <- lists:enumerate(0, Arms), has_numbers(Rows, Arm, Bars)] of
        [] -> "set multiplot next\n";
        Series ->
            [Block, " << EOD\n", table(Rows, Bars), "EOD\n",
             "set title \"", ertslab_gnuplot:escape(ertslab_report_data:params(Params)), "\" noenhanced\n",
             "plot ", lists:join(", ", Series), Over, "\n"]
    end.

has_numbers(Rows, #{label := Label}, #{numbers := Numbers}) ->
    lists:any(fun(#{label := L} = Row) -> L =:= Label andalso Numbers(Row) =/= none end, Rows).

series(Block, #{label := Label}, Nth, Colour, #{columns := Columns}) ->
    First = 2 + Nth * Columns,
    io_lib:format("~ts using ~ts:xtic(1) lt ~b title \"~ts\" noenhanced",
                  [Block, lists:join(":", [integer_to_list(Column) || Column <- lists:seq(First, First + Columns - 1)]),
                   Colour, ertslab_gnuplot:name(Label)]).

table(Rows, #{arms := Arms} = Bars) ->
    [[["\"", string:replace(Metric, "_", "\\n"), "\""],
      [[" ", Number] || #{label := Label} <- Arms, Number <- numbers(Rows, Metric, Label, Bars)], "\n"]
     || Metric <- lists:uniq([Metric || #{metric := Metric} <- Rows])].

numbers(Rows, Metric, Label, #{numbers := Numbers, columns := Columns}) ->
    case [Numbers(Row) || #{metric := M, label := L} = Row <- Rows, M =:= Metric, L =:= Label] of
        [[_ | _] = Found] -> [io_lib:format("~.6f", [float(Number)]) || Number <- Found];
        _ -> lists:duplicate(Columns, "NaN")
    end.
