%% @doc Values, sentences and commands as the text of a report. Pure.
-module(ertslab_report_value).

-export([value/1, format/2, command/2, without_out/1]).

%% @doc A format with its arguments as text.
-spec format(io:format(), [term()]) -> binary().
format(Format, Args) -> ertslab_error:text(io_lib:format(Format, Args)).

%% @doc Any value of a file as text.
-spec value(term()) -> binary().
value(Value) when is_binary(Value) -> Value;
value(Value) when is_integer(Value) -> integer_to_binary(Value);
value(Value) when is_float(Value), Value == trunc(Value), abs(Value) < 1.0e15 ->
    integer_to_binary(trunc(Value));
value(Value) when is_float(Value) -> float_to_binary(Value, [{decimals, 3}, compact]);
value(null) -> ~"unknown";
value(true) -> ~"yes";
value(false) -> ~"no";
value(Value) -> format("~0tp", [Value]).

%% @doc A call of ertslab with some words at its end in place of what it had,
%% written so that a shell takes it.
-spec command([binary()], More :: [binary()]) -> binary().
command(Words, [~"--out" | _] = More) -> call(without_out(Words) ++ More);
command(Words, More) -> call(Words ++ More).

call(Words) -> ertslab_error:text(lists:join(" ", [~"./ertslab" | [quoted(Word) || Word <- Words]])).

quoted(Word) ->
    case re:run(Word, "^[A-Za-z0-9_./=,:@%+-]+$", [dollar_endonly]) of
        {match, _} -> Word;
        nomatch -> ["'", string:replace(Word, "'", "'\\''", all), "'"]
    end.

%% @doc The words of a call without those that say where its results lie.
-spec without_out([binary()]) -> [binary()].
without_out([~"--out", _ | Words]) -> without_out(Words);
without_out([<<"--out=", _/binary>> | Words]) -> without_out(Words);
without_out([~"--force" | Words]) -> without_out(Words);
without_out([Word | Words]) -> [Word | without_out(Words)];
without_out([]) -> [].
