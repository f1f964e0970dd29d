%% @doc Pictures by gnuplot, where it is installed.
-module(ertslab_gnuplot).

-export([available/0, header/3, escape/1, interval/1, draw/2]).

%% The baseline and its control are grey, what is compared with them is not.
-define(COLOURS,
        "set linetype 1 lc rgb '#4d5761'\nset linetype 2 lc rgb '#aab3bb'\n"
        "set linetype 3 lc rgb '#1b6ca8'\nset linetype 4 lc rgb '#d9822b'\n"
        "set linetype 5 lc rgb '#2a9d64'\n").

%% @doc Whether a picture can be drawn on this machine.
-spec available() -> boolean().
available() -> os:find_executable("gnuplot") =/= false.

%% @doc What a script of so many panels, one below the other, begins with.
-spec header(pos_integer(), unicode:chardata(), pos_integer()) -> iodata().
header(Height, Title, Panels) ->
    io_lib:format("set terminal svg size 900,~b font 'sans,13' background '#ffffff'\n" ++ ?COLOURS ++
                  "set multiplot layout ~b,1 title \"~ts\" noenhanced\n",
                  [Height, Panels, escape(Title)]).

%% @doc Text for between double quotes.
-spec escape(unicode:chardata()) -> unicode:chardata().
escape(Text) ->
    string:replace(string:replace(Text, "\\", "\\\\", all), "\"", "'", all).

%% @doc A ratio and the ends of its interval, as error bars want them. What is counted has none.
-spec interval(none | map()) -> [number()] | none.
interval(#{estimate := Estimate, low := Low, high := High}) -> [Estimate, Low, High];
interval(#{estimate := Estimate, exact := true}) -> [Estimate, Estimate, Estimate];
interval(none) -> none.

%% @doc The SVG that gnuplot makes of a script; none where it does not come to its end.
-spec draw(file:filename(), unicode:chardata()) -> ok | {error, binary()}.
draw(File, Script) ->
    Source = File ++ ".gnuplot",
    Text = ertslab_error:text(["set output \"", escape(File), "\"\n", Script]),
    Result = case file:write_file(Source, Text) of
                 ok -> drawn(Source);
                 {error, Reason} -> {error, ertslab_error:text(file:format_error(Reason))}
             end,
    _ = file:delete(Source),
    Result =:= ok orelse file:delete(File),
    Result.

drawn(Source) ->
    drawn(open_port({spawn_executable, os:find_executable("gnuplot")},
                    [{args, [Source]}, exit_status, binary, stderr_to_stdout]), <<>>).

drawn(Port, Text) ->
    receive
        {Port, {data, More}} -> drawn(Port, <<Text/binary, More/binary>>);
        {Port, {exit_status, 0}} -> ok;
        {Port, {exit_status, _}} -> {error, Text}
    end.
