%% @doc A picture of a history: for each measured commit its ratio to the first one, with the interval.
-module(ertslab_history_plot).

-export([draw/2, script/1]).

%% @doc Draws history.svg, if gnuplot is installed. `commits' as in a report; `changes': numbers of the commits, from
%% 1, at which the level changed.
-spec draw(file:filename(), #{commits := [map()], changes => [pos_integer()], _ => _}) -> ok.
draw(Dir, Report) ->
    case ertslab_gnuplot:available() andalso ertslab_gnuplot:draw(filename:join(Dir, "history.svg"), script(Report)) of
        {error, Error} -> io:format(standard_error, "No picture: ~ts~n", [ertslab_error:sentence(Error)]);
        _ -> ok
    end.

%% @doc The gnuplot script.
-spec script(#{commits := [map()], changes => [pos_integer()], _ => _}) -> iodata().
script(#{commits := Commits} = Report) ->
    Points = [{Nth, Id, Reading} || {Nth, #{id := Id, readings := [Reading | _]}} <- lists:enumerate(Commits)],
    ["set terminal svg size 900,420 font 'sans,13' background '#ffffff'\n",
     "$points << EOD\n", [point(Point) || Point <- Points], "EOD\n",
     "set grid ytics lc rgb '#e5e9ec'\nset border 3\nset tics nomirror\nset xtics rotate by -45\nunset key\n"
     "set xrange [0:", integer_to_list(length(Commits) + 1), "]\nset ylabel 'ratio to the first commit'\n",
     [io_lib:format("set arrow from ~.1f, graph 0 to ~.1f, graph 1 nohead dashtype 2 lc rgb '#d9822b'\n",
                    [Nth - 0.5, Nth - 0.5]) || Nth <- maps:get(changes, Report, [])],
     "plot 1 lc rgb '#aab3bb', $points using 1:2:3:4:xtic(5) with yerrorbars lc rgb '#1b6ca8' pt 7 ps 0.6\n"].

point({Nth, Id, #{estimate := Ratio, low := Low, high := High}}) ->
    io_lib:format("~b ~.5f ~.5f ~.5f ~ts~n", [Nth, Ratio, Low, High, ertslab_history:short(binary_to_list(Id))]).
