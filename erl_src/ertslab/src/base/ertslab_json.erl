%% @doc Terms as JSON text, laid out as by stdlib's `json:format/1', which releases before OTP 27
%% lack, and on one line. {@link ertslab_json_reader} reads it. Pure.
-module(ertslab_json).

-export([format/1, line/1]).
-export_type([value/0]).

-type value() :: #{atom() | binary() => value()} | [value()] | binary() | number() | atom().

-define(INDENT, 2).
%% Lists of numbers and atoms are broken into lines of about this length.
-define(COLUMNS, 100).

%% @doc The text of a term, with one member a line. Text must be valid UTF-8, else this is an error.
-spec format(value()) -> iodata().
format(Term) -> [value(Term, 0, 0), $\n].

%% @doc The text of a term without blanks, without the end of the line.
-spec line(value()) -> iodata().
line(Map) when is_map(Map) ->
    [${, lists:join($,, [[string(name(Key)), $:, line(Value)] || {Key, Value} <- lists:sort(maps:to_list(Map))]), $}];
line(List) when is_list(List) -> [$[, lists:join($,, [line(Element) || Element <- List]), $]];
line(Plain) -> value(Plain, 0, 0).

%% `Level' is the depth of nesting, `Column' where the value begins.
value(Map, Level, _Column) when is_map(Map) ->
    object([member(Key, Value, Level + 1) || {Key, Value} <- lists:sort(maps:to_list(Map))], Level);
value([], _, _) -> <<"[]">>;
value([Head | _] = List, Level, Column) when is_map(Head); is_list(Head); is_binary(Head); Column > ?COLUMNS ->
    Line = broken(Level + 1),
    [$[, Line, lists:join([$,, Line], [value(Element, Level + 1, ?INDENT * (Level + 1)) || Element <- List]), broken(Level), $]];
value([Head | Tail], Level, Column) ->
    First = value(Head, Level + 1, Column),
    [$[, First, filled(Tail, Level + 1, Column + 1 + iolist_size(First)), $]];
value(Text, _, _) when is_binary(Text) -> string(Text);
value(Number, _, _) when is_integer(Number) -> integer_to_binary(Number);
value(Number, _, _) when is_float(Number) -> float_to_binary(Number, [short]);
value(Atom, _, _) when Atom =:= true; Atom =:= false; Atom =:= null -> atom_to_binary(Atom);
value(Atom, _, _) when is_atom(Atom) -> string(atom_to_binary(Atom)).

filled([Head | Tail], Level, Column) when Column < ?COLUMNS ->
    Text = value(Head, Level, Column),
    [$,, Text | filled(Tail, Level, Column + 1 + iolist_size(Text))];
filled([Head | Tail], Level, Column) ->
    Text = [$,, broken(Level), value(Head, Level, Column)],
    [Text | filled(Tail, Level, iolist_size(Text) - 2)];
filled([], _, _) -> [].

member(Key, Value, Level) ->
    Name = string(name(Key)),
    {Name, value(Value, Level, ?INDENT * Level + 2 + iolist_size(Name))}.

name(Key) when is_atom(Key) -> atom_to_binary(Key);
name(Key) when is_binary(Key) -> Key.

%% A single member that is no list or map stands on the same line as its braces.
object([], _) -> <<"{}">>;
object([{Name, Value}] = Members, Level) ->
    case iolist_to_binary(Value) of
        <<Char, _/bits>> when Char =:= ${; Char =:= $[ -> spread(Members, Level);
        Flat -> ["{ ", Name, ": ", Flat, " }"]
    end;
object(Members, Level) -> spread(Members, Level).

spread(Members, Level) ->
    Line = broken(Level + 1),
    [${, Line, lists:join([$,, Line], [[Name, ": ", Value] || {Name, Value} <- Members]), broken(Level), $}].

broken(Level) -> [$\n, lists:duplicate(?INDENT * Level, $\s)].

string(Text) -> [$", << <<(escaped(Char))/binary>> || <<Char/utf8>> <= valid(Text) >>, $"].

valid(Text) ->
    case unicode:characters_to_binary(Text) of
        Text -> Text
    end.

escaped($") -> <<"\\\"">>;
escaped($\\) -> <<"\\\\">>;
escaped($\b) -> <<"\\b">>;
escaped($\t) -> <<"\\t">>;
escaped($\n) -> <<"\\n">>;
escaped($\f) -> <<"\\f">>;
escaped($\r) -> <<"\\r">>;
escaped(Char) when Char < 32 -> iolist_to_binary(io_lib:format("\\u~4.16.0B", [Char]));
escaped(Char) -> <<Char/utf8>>.
