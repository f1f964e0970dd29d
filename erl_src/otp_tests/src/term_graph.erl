%% @doc Terms of every kind that a heap can hold, made from a description. It may
%% refer to parts of terms made before, so that terms share parts.
-module(term_graph).

-export([build/2]).
-export_type([node_/0]).

-type node_() ::
        {value, term()}                   % as it is
      | {big, pos_integer()}              % an integer of so many words
      | {float, integer()}
      | fresh_reference | owner
      | {binary, non_neg_integer()}       % on the heap up to 64 bytes, else counted
      | {bits, pos_integer(), non_neg_integer()}  % a part of a binary
      | {list, [node_()], node_()}        % with that tail, proper or not
      | {spine, pos_integer(), each(), node_()}   % so many cells, with that tail
      | {tuple, [node_()]}
      | {map, [{node_(), node_()}]}
      | {large_map, pos_integer(), node_()}
      | {function, [node_()]}             % a fun with these in its environment
      | {literal, non_neg_integer()}      % a constant of this module
      | {held, non_neg_integer()}         % a term made before
      | {tail, non_neg_integer(), non_neg_integer()}  % the end of a list made before
      | {part, non_neg_integer(), non_neg_integer()}. % an element of one
-type each() :: integer | tuple | pair | list | {shared, node_()}. % what such a cell holds
%% A number that selects among N things is taken modulo N.

%% @doc Makes the term on the heap of the caller. `Held' are terms made before.
-spec build(node_(), [term()]) -> term().
build({value, Value}, _) -> Value;
build({big, Words}, _) -> (1 bsl (64 * Words)) + erlang:unique_integer([positive]);
build({float, N}, _) -> N / 3;
build(fresh_reference, _) -> make_ref();
build(owner, _) -> self();
build({binary, Bytes}, _) -> binary:copy(<<Bytes:8>>, Bytes);
build({bits, Bytes, Skip}, _) ->
    <<_:Skip, Bits/bits>> = binary:copy(<<Skip:8>>, Bytes + Skip div 8 + 1),
    Bits;
build({list, Nodes, Tail}, Held) -> list([build(Node, Held) || Node <- Nodes], build(Tail, Held));
build({spine, Length, Each, Tail}, Held) -> list(spine(Length, Each, Held), build(Tail, Held));
build({tuple, Nodes}, Held) -> list_to_tuple([build(Node, Held) || Node <- Nodes]);
build({map, Pairs}, Held) ->
    %% The numbers keep the VM from comparing bitstrings of an odd offset: it reads a byte
    %% beyond them, as the address sanitizer reports (OTP 29.1.1).
    maps:from_list([{{N, build(Key, Held)}, build(Value, Held)}
                    || {N, {Key, Value}} <- lists:enumerate(Pairs)]);
build({large_map, Size, Node}, Held) ->
    Shared = build(Node, Held),
    #{N => [N | Shared] || N <- lists:seq(1, Size)};
build({function, Nodes}, Held) -> function([build(Node, Held) || Node <- Nodes]);
build({literal, N}, _) -> chosen(N, literals());
build({held, N}, Held) -> chosen(N, Held);
build({tail, N, Skip}, Held) -> tail(chosen(N, Held), Skip);
build({part, N, Which}, Held) -> part(chosen(N, Held), Which).

spine(Length, integer, _) -> lists:seq(1, Length);
spine(Length, tuple, _) -> [{N} || N <- lists:seq(1, Length)];
spine(Length, pair, _) -> [{N, -N} || N <- lists:seq(1, Length)];
spine(Length, list, _) -> [lists:duplicate(N rem 4, N) || N <- lists:seq(1, Length)];
spine(Length, {shared, Node}, Held) -> lists:duplicate(Length, build(Node, Held)).

%% Element by element, so that no library function decides how a list is laid out.
list([Element | Elements], Tail) -> [Element | list(Elements, Tail)];
list([], Tail) -> Tail.

function([A, B | _] = Values) -> fun() -> {A, B, Values} end;
function(Values) -> fun() -> Values end.

chosen(_, []) -> [];
chosen(N, Terms) -> lists:nth(N rem length(Terms) + 1, Terms).

tail([_ | Tail], Skip) when Skip > 0 -> tail(Tail, Skip - 1);
tail(Term, _) -> Term.

part(Tuple, Which) when tuple_size(Tuple) > 0 -> element(Which rem tuple_size(Tuple) + 1, Tuple);
part([Head | Tail], Which) -> case Which rem 2 of 0 -> Head; 1 -> Tail end;
part(#{} = Map, Which) when map_size(Map) > 0 -> chosen(Which, maps:values(Map));
part(Term, _) -> Term.

-dialyzer({no_improper_lists, literals/0}).
literals() ->
    [[a, list, "of", [literals | improper]],
     {tuple, {1, 2.5, 36893488147419103233}, #{a => [map]}},
     ~"a binary of the module",
     #{1 => [one], 2 => {two, "two"}, three => #{}},
     [[1, 2, 3], [4, 5, 6], [7, 8 | 9]]].
