%% @doc Reads every value of a term. In a module of its own, which holds nothing else:
%% so a change to what the JIT makes of other code does not move this loop, which alone
%% was worth 0.6 to 1.1 of its time.
-module(term_walk).

-export([values/1]).

%% @doc How many values there are, each of them read.
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
