%% @doc How values are written everywhere. Pure.
-module(ertslab_text).

-export([params/1, of_case/1, duration/1, clock/1, columns/1]).

%% @doc The parameters of a case on one line.
-spec params(ertslab_experiment:params()) -> iolist().
params(Params) ->
    lists:join("  ", [io_lib:format("~ts=~p", [Name, Value])
                      || {Name, Value} <- lists:sort(maps:to_list(Params))]).

%% @doc The same in parentheses, behind the name of a result. A case without parameters has nothing to tell.
-spec of_case(ertslab_experiment:params()) -> iolist().
of_case(Params) when map_size(Params) =:= 0 -> [];
of_case(Params) -> [" (", params(Params), ")"].

%% @doc Nanoseconds in the unit that reads best.
-spec duration(number() | none) -> iodata().
duration(none) -> <<"-">>;
duration(Ns) when Ns < 1.0e3 -> io_lib:format("~.1f ns", [float(Ns)]);
duration(Ns) when Ns < 1.0e6 -> io_lib:format("~.2f us", [Ns / 1.0e3]);
duration(Ns) when Ns < 1.0e9 -> io_lib:format("~.2f ms", [Ns / 1.0e6]);
duration(Ns) -> io_lib:format("~.2f s", [Ns / 1.0e9]).

%% @doc Seconds as minutes and seconds.
-spec clock(non_neg_integer()) -> iodata().
clock(Seconds) -> io_lib:format("~b:~2..0b", [Seconds div 60, Seconds rem 60]).

%% @doc Rows of cells as aligned text.
-spec columns([[unicode:chardata()]]) -> iolist().
columns(Lines) ->
    Widths = [lists:max([string:length(Cell) || Cell <- Column]) || Column <- transpose(Lines)],
    [string:trim([[string:pad(Cell, Width), "  "] || {Cell, Width} <- lists:zip(Line, Widths)],
                 trailing) ++ [$\n]
     || Line <- Lines].

transpose([[] | _]) -> [];
transpose(Lines) -> [[hd(Line) || Line <- Lines] | transpose([tl(Line) || Line <- Lines])].
