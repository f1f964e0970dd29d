%% An encoder of nested terms runs for ever: it is deep in its own functions, and seldom in one of them.
-module(sick).
-export([start/0, encodes/1]).

start() ->
    proc_lib:spawn(?MODULE, encodes, [tree(9)]),
    ok.

tree(0) -> #{a => [1, 2.5, "x"], b => {<<"text">>, atom}};
tree(N) -> [#{left => tree(N - 1), n => N}, {right, tree(N - 1)}].

encodes(Tree) ->
    _ = encode(Tree),
    encodes(Tree).

encode(Map) when is_map(Map) -> lists:map(fun({Key, Value}) -> [$", atom_to_list(Key), $", encode(Value)] end, maps:to_list(Map));
encode(Tuple) when is_tuple(Tuple) -> elements(tuple_to_list(Tuple));
encode(List) when is_list(List) -> elements(List);
encode(Text) when is_binary(Text) -> escape(Text, []);
encode(Float) when is_float(Float) -> float_to_list(Float, [short]);
encode(Integer) when is_integer(Integer) -> integer_to_list(Integer);
encode(Atom) -> atom_to_list(Atom).

elements(List) -> [[encode(One), $,] || One <- List].

escape(<<>>, Done) -> lists:reverse(Done);
escape(<<Char, Rest/binary>>, Done) -> escape(Rest, [Char | Done]).
