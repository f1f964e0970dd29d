%% @doc Values, sentences and commands as the text of a report. Pure.
-module(ertslab_report_value).

-export([value/1, format/2, command/2]).

%% @doc A format with its arguments as text.
-spec format(io:format(), [term()]) -> binary().
format(Format, Args) -> ertslab_text:binary(io_lib:format(Format, Args)).

%% @doc Any value of a file as text.
-spec value(term()) -> binary().
value(Value) when is_binary(Value) -> Value;
value(Value) when is_integer(Value) -> integer_to_binary(Value);
value(Value) when is_float(Value), Value == trunc(Value), abs(Value) < 1.0e15 ->
    integer_to_binary(trunc(Value));
value(Value) when is_float(Value), abs(Value) >= 1.0e-3, abs(Value) < 1.0e15 -> float_to_binary(Value, [{decimals, 3}, compact]);
value(Value) when is_float(Value) -> float_to_binary(Value, [short]);
value(null) -> <<"unknown">>;
value(true) -> <<"yes">>;
value(false) -> <<"no">>;
value(Value) -> format("~0tp", [Value]).

%% @doc A call of ertslab with additional words at its end, quoted for a shell.
-spec command([binary()], More :: [binary()]) -> binary().
command(Words, More) -> call(without_place(Words) ++ More).

%% Folders written until 2026-11-25 hold the words as given, including the folder for the results.
without_place([<<"--out">>, _ | Words]) -> without_place(Words);
without_place([<<"--out=", _/bits>> | Words]) -> without_place(Words);
without_place([<<"--force">> | Words]) -> without_place(Words);
without_place([Word | Words]) -> [Word | without_place(Words)];
without_place([]) -> [].

call(Words) -> ertslab_text:binary([ertslab_paths:written() | [[$\s, ertslab_text:shell_word(Word)] || Word <- Words]]).
