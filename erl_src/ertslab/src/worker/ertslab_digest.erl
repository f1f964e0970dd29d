%% @doc A digest of a term, by which VMs of different releases check that they computed the same term.
%%
%% It digests the term itself and not `term_to_binary/2': since OTP 26 that encodes atoms differently, and each release has
%% its own order of map keys. The keys and values of a map are digested pair by pair, and the digests are sorted. Sorting
%% the keys instead would not do, since 1 and 1.0 are equal in the order of terms. Two terms that are `=:=' have the same
%% digest. (0.0 and -0.0 have different digests, since they are different terms from OTP 27 on.)
%%
%% All processes have the same digest, as have all ports and all references, since other VMs have other identifiers. A fun
%% is digested as its module, its arity and, if it is external, its name.
%%
%% A number of steps bounds the cost: one step for each element, cell or pair, and for each 64 bytes. What lies beyond
%% the bound is left out, in the same way for equal terms: lists and tuples are cut, and a map that does not fit counts by
%% its number of keys only.
-module(ertslab_digest).

-export([of_term/1, of_term/2]).
-export_type([digest/0]).

%% `in_part': the term needs more steps than were allowed.
-type digest() :: {whole | in_part, binary()}.
-record(state, {left :: integer(), batch = [] :: iolist(), size = 0 :: non_neg_integer(), context :: binary()}).

%% Less than a second's work, so that digesting a large term takes no longer than starting a VM for it.
-define(STEPS, 1_000_000).
%% Bytes that are collected before they are digested.
-define(BATCH, 16_384).
-define(BYTES_A_STEP, 64).

%% @doc The digest of a term, with at most a million steps.
-spec of_term(term()) -> digest().
of_term(Term) -> of_term(Term, ?STEPS).

%% @doc The same with another number of steps.
-spec of_term(term(), Steps :: pos_integer()) -> digest().
of_term(Term, Steps) ->
    case digested([Term], Steps) of
        {Digest, Left} when Left < 0 -> {in_part, Digest};
        {Digest, _} -> {whole, Digest}
    end.

%% The digest of these terms and the number of steps left, which is below 0 if the steps did not suffice.
digested(Terms, Left) -> finished(walked(Terms, #state{left = Left, context = erlang:md5_init()})).

finished(State) ->
    #state{context = Context, left = Left} = flushed(State),
    {erlang:md5_final(Context), Left}.

walked(_, #state{left = Left} = State) when Left < 0 -> State;
walked([], State) -> State;
walked([[Head | Tail] | Terms], State) -> walked([Head, Tail | Terms], added(1, $l, State));
walked([[] | Terms], State) -> walked(Terms, added(1, $n, State));
walked([Tuple | Terms], State) when is_tuple(Tuple) ->
    walked(elements(Tuple, Terms, State), added(1, <<$t, (tuple_size(Tuple)):32>>, State));
walked([Map | Terms], State) when is_map(Map) -> walked(Terms, map(Map, State));
walked([Fun | Terms], State) when is_function(Fun) -> walked([belongs(Fun) | Terms], added(0, $F, State));
walked([Bits | Terms], #state{left = Left} = State) when is_bitstring(Bits) ->
    walked(Terms, added(steps(Bits), [<<$b, (bit_size(Bits)):64>>, whole_bytes(Bits, Left * ?BYTES_A_STEP)], State));
walked([Integer | Terms], #state{left = Left} = State) when is_integer(Integer), abs(Integer) >= 1 bsl 63, Integer =/= -(1 bsl 63) ->
    Bytes = binary:encode_unsigned(abs(Integer)),
    Head = [case Integer < 0 of true -> $-; false -> $+ end, <<(byte_size(Bytes)):64>>],
    walked(Terms, added(steps(Bytes), [Head, whole_bytes(Bytes, Left * ?BYTES_A_STEP)], State));
walked([Term | Terms], State) -> walked(Terms, added(1, plain(Term), State)).

%% Copies no more elements than can be digested.
elements(Tuple, Terms, #state{left = Left}) when tuple_size(Tuple) > Left -> [element(N, Tuple) || N <- lists:seq(1, Left)] ++ Terms;
elements(Tuple, Terms, _) -> tuple_to_list(Tuple) ++ Terms.

%% The order of the pairs does not decide whether all of them fit, since each pair is digested separately.
map(Map, #state{left = Left} = State) ->
    Head = <<$m, (map_size(Map)):64>>,
    case pairs(maps:next(maps:iterator(Map)), Left - 1, []) of
        {Digests, Rest} when Rest >= 0 -> added(0, [Head | lists:sort(Digests)], State#state{left = Rest});
        {_, Rest} -> added(0, Head, State#state{left = Rest})
    end.

pairs(_, Left, Digests) when Left < 0 -> {Digests, Left};
pairs(none, Left, Digests) -> {Digests, Left};
pairs({Key, Value, Iterator}, Left0, Digests) ->
    {Digest, Left} = digested([Key, Value], Left0),
    pairs(maps:next(Iterator), Left, [Digest | Digests]).

whole_bytes(Bits, Most) when byte_size(Bits) > Most -> binary_part(whole_bytes(Bits), 0, Most);
whole_bytes(Bits, _) -> whole_bytes(Bits).

whole_bytes(Bytes) when is_binary(Bytes) -> Bytes;
whole_bytes(Bits) ->
    Padding = 8 - bit_size(Bits) rem 8,
    <<Bits/bitstring, 0:Padding>>.

%% Omits the name of a local fun, which the compiler makes up, and its variables, whose order the compiler chooses.
belongs(Fun) ->
    [{module, Module}, {arity, Arity}, {type, Type}, {name, Name}] = [erlang:fun_info(Fun, Item) || Item <- [module, arity, type, name]],
    {Module, Arity, case Type of external -> Name; local -> local end}.

plain(Integer) when is_integer(Integer) -> <<$i, Integer:64>>;
plain(Float) when is_float(Float) -> <<$f, Float/float>>;
plain(Atom) when is_atom(Atom) ->
    Text = atom_to_binary(Atom, utf8),
    [<<$a, (byte_size(Text)):16>>, Text];
plain(Pid) when is_pid(Pid) -> $p;
plain(Port) when is_port(Port) -> $o;
plain(Reference) when is_reference(Reference) -> $r.

steps(Bytes) -> 1 + byte_size(Bytes) div ?BYTES_A_STEP.

added(Steps, Bytes, #state{left = Left, batch = Batch, size = Size} = State) ->
    Added = State#state{left = Left - Steps, batch = [Batch, Bytes], size = Size + Steps},
    case Size + Steps >= ?BATCH div ?BYTES_A_STEP of
        true -> flushed(Added);
        false -> Added
    end.

flushed(#state{batch = Batch, context = Context} = State) ->
    State#state{batch = [], size = 0, context = erlang:md5_update(Context, Batch)}.
