%% @doc How values are written everywhere. Pure.
-module(ertslab_text).

-export([binary/1, foreign/1, foreign_line/1, params/1, duration/1, percent/1, clock/1, time/1, columns/1, shell_word/1]).

%% @doc Any characters as a UTF-8 binary.
-spec binary(unicode:chardata()) -> binary().
binary(Chars) ->
    case unicode:characters_to_binary(Chars) of
        Text when is_binary(Text) -> Text
    end.

%% @doc What another program wrote, as text. Bytes that are no UTF-8 are taken for Latin-1. A character is a blank if it
%% commands a terminal, ends the line, or changes the direction of what follows.
-spec foreign(binary()) -> binary().
foreign(Bytes) ->
    Text = case unicode:characters_to_binary(Bytes) of
               Valid when is_binary(Valid) -> Valid;
               _ -> unicode:characters_to_binary(Bytes, latin1)
           end,
    re:replace(Text, "(?![\\n\\t])[\\x{0}-\\x{1f}\\x{7f}-\\x{9f}\\x{61c}\\x{200e}\\x{200f}\\x{2028}-\\x{202e}\\x{2066}-\\x{2069}]",
               " ", [global, unicode, {return, binary}]).

%% @doc The same on one line.
-spec foreign_line(binary()) -> binary().
foreign_line(Bytes) -> re:replace(foreign(Bytes), "[\\n\\t]", " ", [global, {return, binary}]).

%% @doc The parameters of a case on one line.
-spec params(ertslab_experiment:params()) -> iolist().
params(Params) ->
    lists:join("  ", [io_lib:format("~ts=~p", [Name, Value])
                      || {Name, Value} <- lists:sort(maps:to_list(Params))]).

%% @doc A share of 1 in percent.
-spec percent(number()) -> binary().
percent(Share) -> binary(io_lib:format("~.1f %", [100.0 * Share])).

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

%% @doc A time in seconds since 1970, as local date and time.
-spec time(integer()) -> iodata().
time(At) ->
    {{Y, Mo, D}, {H, Mi, S}} = calendar:system_time_to_local_time(At, second),
    io_lib:format("~4..0b-~2..0b-~2..0b ~2..0b:~2..0b:~2..0b", [Y, Mo, D, H, Mi, S]).

%% @doc A word of a command that the reader may copy, quoted for a shell where it has to be.
-spec shell_word(unicode:chardata()) -> unicode:chardata().
shell_word(Word) -> diagnose_proof:shell_word(Word).

%% @doc Rows of cells as aligned text.
-spec columns([[unicode:chardata()]]) -> iolist().
columns(Lines) ->
    Widths = [lists:max([string:length(Cell) || Cell <- Column]) || Column <- transpose(Lines)],
    [string:trim([[string:pad(Cell, Width), "  "] || {Cell, Width} <- lists:zip(Line, Widths)],
                 trailing) ++ [$\n]
     || Line <- Lines].

transpose([[] | _]) -> [];
transpose(Lines) -> [[hd(Line) || Line <- Lines] | transpose([tl(Line) || Line <- Lines])].
