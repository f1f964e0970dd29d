%% @doc Reads JSON, as stdlib's `json:decode/1', which releases before OTP 27 lack. Pure.
%%
%% Strings without escapes are parts of the text, which they keep in memory.
-module(ertslab_json_reader).

-export([decode/1]).
-export_type([value/0]).

-type value() :: #{binary() => value()} | [value()] | binary() | number() | true | false | null.

-define(IS_DIGIT(Char), Char >= $0, Char =< $9).
-define(IS_BLANK(Char), Char =:= $\s; Char =:= $\n; Char =:= $\r; Char =:= $\t).

%% @doc The term of a text. Another text is the error `{not_json, Position}', with the number of bytes before the one that is
%% wrong; that is the size of the text if it is cut off. A number must be representable as a float.
-spec decode(binary()) -> value().
decode(Text) ->
    try
        {Value, Rest} = value(Text),
        case unblank(Rest) of
            <<>> -> Value;
            More -> wrong(More)
        end
    catch
        throw:{?MODULE, Wrong} -> error({not_json, byte_size(Text) - byte_size(Wrong)})
    end.

-spec wrong(binary()) -> no_return().
wrong(Rest) -> throw({?MODULE, Rest}).

unblank(<<Char, Rest/bits>>) when ?IS_BLANK(Char) -> unblank(Rest);
unblank(Text) -> Text.

value(<<Char, Rest/bits>>) when ?IS_BLANK(Char) -> value(Rest);
value(<<$", Rest/bits>>) -> string(Rest, Rest, 0, []);
value(<<${, Rest/bits>>) -> object(unblank(Rest));
value(<<$[, Rest/bits>>) -> array(unblank(Rest));
value(<<"true", Rest/bits>>) -> {true, Rest};
value(<<"false", Rest/bits>>) -> {false, Rest};
value(<<"null", Rest/bits>>) -> {null, Rest};
value(<<$-, Rest/bits>> = Text) -> whole(Rest, Text, 1);
value(Text) -> whole(Text, Text, 0).

object(<<$}, Rest/bits>>) -> {#{}, Rest};
object(Text) -> members(Text, []).

%% Of members with one name the last one counts.
members(<<$", Text/bits>>, Before) ->
    {Name, AfterName} = string(Text, Text, 0, []),
    {Value, Rest} = value(after_colon(unblank(AfterName))),
    Members = [{Name, Value} | Before],
    case unblank(Rest) of
        <<$,, More/bits>> -> members(unblank(More), Members);
        <<$}, More/bits>> -> {maps:from_list(lists:reverse(Members)), More};
        Other -> wrong(Other)
    end;
members(Text, _) -> wrong(Text).

after_colon(<<$:, Rest/bits>>) -> Rest;
after_colon(Text) -> wrong(Text).

array(<<$], Rest/bits>>) -> {[], Rest};
array(Text) -> elements(Text, []).

elements(Text, Before) ->
    {Value, Rest} = value(Text),
    case unblank(Rest) of
        <<$,, More/bits>> -> elements(More, [Value | Before]);
        <<$], More/bits>> -> {lists:reverse(Before, [Value]), More};
        Other -> wrong(Other)
    end.

%% Of a number, the length so far is counted from its first character.
whole(<<$0, Rest/bits>>, Text, Length) -> after_whole(Rest, Text, Length + 1);
whole(<<Char, Rest/bits>>, Text, Length) when ?IS_DIGIT(Char) -> whole_digits(Rest, Text, Length + 1);
whole(Rest, _, _) -> wrong(Rest).

whole_digits(<<Char, Rest/bits>>, Text, Length) when ?IS_DIGIT(Char) -> whole_digits(Rest, Text, Length + 1);
whole_digits(Rest, Text, Length) -> after_whole(Rest, Text, Length).

after_whole(<<$., Char, Rest/bits>>, Text, Length) when ?IS_DIGIT(Char) -> fraction(Rest, Text, Length + 2);
after_whole(<<$., Rest/bits>>, _, _) -> wrong(Rest);
after_whole(<<Char, Rest/bits>>, Text, Length) when Char =:= $e; Char =:= $E ->
    {Digits, More} = exponent(Rest),
    {float_of(<<(binary:part(Text, 0, Length))/bits, ".0e", Digits/bits>>, Rest), More};
after_whole(Rest, Text, Length) ->
    Integer = binary_to_integer(binary:part(Text, 0, Length)),
    try float(Integer) of
        _ -> {Integer, Rest}
    catch error:badarg -> wrong(Text)
    end.

fraction(<<Char, Rest/bits>>, Text, Length) when ?IS_DIGIT(Char) -> fraction(Rest, Text, Length + 1);
fraction(<<Char, Rest/bits>>, Text, Length) when Char =:= $e; Char =:= $E ->
    {Digits, More} = exponent(Rest),
    {float_of(<<(binary:part(Text, 0, Length))/bits, $e, Digits/bits>>, Rest), More};
fraction(Rest, Text, Length) -> {float_of(binary:part(Text, 0, Length), Rest), Rest}.

exponent(<<Sign, Char, Rest/bits>> = Text) when (Sign =:= $+ orelse Sign =:= $-), ?IS_DIGIT(Char) -> exponent(Rest, Text, 2);
exponent(<<Char, Rest/bits>> = Text) when ?IS_DIGIT(Char) -> exponent(Rest, Text, 1);
exponent(Text) -> wrong(Text).

exponent(<<Char, Rest/bits>>, Text, Length) when ?IS_DIGIT(Char) -> exponent(Rest, Text, Length + 1);
exponent(Rest, Text, Length) -> {binary:part(Text, 0, Length), Rest}.

float_of(Digits, Rest) ->
    try binary_to_float(Digits)
    catch error:badarg -> wrong(Rest)
    end.

%% `Text' and `Length' are the characters since the last escape, `Parts' what comes before them, backwards.
string(<<$", Rest/bits>>, Text, Length, []) -> {binary:part(Text, 0, Length), Rest};
string(<<$", Rest/bits>>, Text, Length, Parts) -> {iolist_to_binary(lists:reverse(Parts, [binary:part(Text, 0, Length)])), Rest};
string(<<$\\, Rest/bits>>, Text, Length, Parts) ->
    {Char, More} = escaped(Rest),
    string(More, More, 0, [<<Char/utf8>>, binary:part(Text, 0, Length) | Parts]);
string(<<Char, Rest/bits>>, Text, Length, Parts) when Char >= $\s, Char < 128 -> string(Rest, Text, Length + 1, Parts);
string(<<Char/utf8, Rest/bits>>, Text, Length, Parts) when Char >= 128 ->
    string(Rest, Text, Length + byte_size(<<Char/utf8>>), Parts);
string(Rest, _, _, _) -> wrong(Rest).

escaped(<<$", Rest/bits>>) -> {$", Rest};
escaped(<<$\\, Rest/bits>>) -> {$\\, Rest};
escaped(<<$/, Rest/bits>>) -> {$/, Rest};
escaped(<<$b, Rest/bits>>) -> {$\b, Rest};
escaped(<<$f, Rest/bits>>) -> {$\f, Rest};
escaped(<<$n, Rest/bits>>) -> {$\n, Rest};
escaped(<<$r, Rest/bits>>) -> {$\r, Rest};
escaped(<<$t, Rest/bits>>) -> {$\t, Rest};
escaped(<<$u, Rest/bits>>) -> unit(Rest);
escaped(Rest) -> wrong(Rest).

%% A character outside the first plane is two units of UTF-16.
unit(Text) ->
    case {hexadecimal(Text), Text} of
        {High, <<_:4/binary, $\\, $u, Low/bits>>} when High >= 16#D800, High < 16#DC00 -> pair(High, hexadecimal(Low), Low);
        {Char, <<_:4/binary, Rest/bits>>} when Char < 16#D800; Char > 16#DFFF -> {Char, Rest};
        {_, _} -> wrong(Text)
    end.

pair(High, Low, <<_:4/binary, Rest/bits>>) when Low >= 16#DC00, Low < 16#E000 ->
    {16#10000 + ((High - 16#D800) bsl 10) + Low - 16#DC00, Rest};
pair(_, _, Text) -> wrong(Text).

hexadecimal(<<Digits:4/binary, _/bits>> = Text) ->
    case << <<Char>> || <<Char>> <= Digits, is_hexadecimal(Char) >> of
        Digits -> binary_to_integer(Digits, 16);
        _ -> wrong(Text)
    end;
hexadecimal(Text) -> wrong(Text).

is_hexadecimal(Char) -> (Char >= $0 andalso Char =< $9) orelse (Char >= $a andalso Char =< $f) orelse (Char >= $A andalso Char =< $F).
