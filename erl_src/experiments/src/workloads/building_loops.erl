%% @doc Typical loops of Erlang programs, which take lists, tuples
%% and maps apart and build others. exp_loops times them.
-module(building_loops).

-export([names/0, input/1, run/2]).
-export_type([name/0, input/0]).

-type name() :: reverse | map | comprehension | zip | pairs | partition | foldl | walk | merge | rotate | swap
              | saved | maps | records | replies | funs | bifs.
-type input() :: {[pos_integer()], [{pos_integer(), pos_integer()}]}.

-record(state, {count = 0, last, sum = 0, first, limit = 10}).

-spec names() -> [name(), ...].
names() ->
    [reverse, map, comprehension, zip, pairs, partition, foldl, walk, merge, rotate, swap, saved, maps, records,
     replies, funs, bifs].

%% @doc The input of the loops, with that many elements: integers and pairs of them.
-spec input(pos_integer()) -> input().
input(Size) -> {lists:seq(1, Size), [{N, N + 1} || N <- lists:seq(1, Size)]}.

%% @doc Runs a loop over the input once.
-spec run(name(), input()) -> term().
run(reverse, {List, _}) -> reverse(List, []);
run(map, {List, _}) -> map(List);
run(comprehension, {List, _}) -> [N + 1 || N <- List];
run(zip, {List, _}) -> zip(List, List);
run(pairs, {List, _}) -> pairs(List, []);
run(partition, {List, _}) -> partition(List, [], []);
run(foldl, {List, _}) -> foldl(fun(N, {Last, Sum}) -> {N, Sum + Last} end, {0, 0}, List);
run(walk, {_, Pairs}) -> walk(Pairs, 0);
run(merge, {List, _}) -> merge(List, List, []);
run(rotate, {List, _}) -> rotate(List, a, b, c);
run(swap, {_, Pairs}) -> [{B, A} || {A, B} <- Pairs];
run(saved, {_, Pairs}) -> saved(Pairs, []);
run(maps, {List, _}) -> [#{id => N, name => N} || N <- List];
run(records, {List, _}) -> records(List, #state{});
run(replies, {List, _}) -> replies(List, 0, []);
run(funs, {_, Pairs}) -> [add_to(A, B) || {A, B} <- Pairs];
run(bifs, {List, _}) -> bifs(List, 0).

reverse([Head | Tail], Reversed) -> reverse(Tail, [Head | Reversed]);
reverse([], Reversed) -> Reversed.

map([Head | Tail]) -> [Head * 2 | map(Tail)];
map([]) -> [].

zip([A | As], [B | Bs]) -> [{A, B} | zip(As, Bs)];
zip([], []) -> [].

pairs([Head | Tail], Pairs) -> pairs(Tail, [{Head, Head} | Pairs]);
pairs([], Pairs) -> Pairs.

partition([Head | Tail], Even, Odd) when Head band 1 =:= 0 -> partition(Tail, [Head | Even], Odd);
partition([Head | Tail], Even, Odd) -> partition(Tail, Even, [Head | Odd]);
partition([], Even, Odd) -> {Even, Odd}.

foldl(Fun, Folded, [Head | Tail]) -> foldl(Fun, Fun(Head, Folded), Tail);
foldl(_, Folded, []) -> Folded.

walk([{A, B} | Tail], Sum) -> walk(Tail, Sum + A + B);
walk([], Sum) -> Sum.

merge([A | As], [B | _] = Bs, Merged) when A =< B -> merge(As, Bs, [A | Merged]);
merge(As, [B | Bs], Merged) -> merge(As, Bs, [B | Merged]);
merge([], [], Merged) -> Merged.

rotate([_ | Tail], A, B, C) -> rotate(Tail, B, C, A);
rotate([], A, B, C) -> {A, B, C}.

%% Values saved on the stack across a short call.
saved([{A, B} | Tail], Saved) ->
    Sum = sum(A, B),
    saved(Tail, [{A, B, Sum} | Saved]);
saved([], Saved) -> Saved.

records([N | Tail], #state{count = Count, sum = Sum} = State) ->
    records(Tail, State#state{count = Count + 1, last = N, sum = Sum + N});
records([], State) -> State.

%% Like a server's callback with a reply for its caller.
replies([N | Tail], State, Replies) ->
    {reply, Reply, Next} = handle(N, State),
    replies(Tail, Next, [Reply | Replies]);
replies([], State, Replies) -> {State, Replies}.

sum(A, B) -> A + B.

handle(N, State) when N rem 3 =:= 0 -> {reply, none, State};
handle(N, State) -> {reply, {ok, N}, State + N}.

%% A fun that is called just after it was made.
add_to(A, B) -> call(fun(N) -> N + A + B end).

call(Fun) -> Fun(1).

bifs([Head | Tail], Sum) -> bifs(Tail, Sum + erlang:phash2(Head));
bifs([], Sum) -> Sum.
