%% @doc Reads every value of a term. This module holds nothing else,
%% so a change to the JIT's code for other functions does not move this loop. Such moves
%% alone changed its time by factors of 0.6 to 1.1.
-module(term_walk).

-export([values/1]).

%% @doc The number of values; each of them is read.
-spec values(term()) -> non_neg_integer().
values(Term) -> values(Term, 0).

values([Head | Tail], Count) -> values(Tail, values(Head, Count));
values([], Count) -> Count;
values(Tuple, Count) when is_tuple(Tuple) -> elements(Tuple, tuple_size(Tuple), Count);
values(Map, Count) when is_map(Map) ->
    maps:fold(fun(Key, Value, Sum) -> values(Value, values(Key, Sum)) end, Count, Map);
values(Binary, Count) when is_binary(Binary) -> Count + byte_size(Binary);
values(Value, Count) when is_integer(Value), Value < 0 -> Count;
values(_, Count) -> Count + 1.

elements(_, 0, Count) -> Count;
elements(Tuple, N, Count) -> elements(Tuple, N - 1, values(element(N, Tuple), Count)).
