%% @doc The cost of copying terms without collecting them: to another process, into a table and out of it, and
%% through the external format. It shows what a change to the emulator does to these ways.
%%
%% Each run has a process of its own, which makes the term. Its heap has room for all
%% copies, so no collection is timed with them. (A message that a process sends to
%% itself is not copied.)
-module(exp_term_copies).
-behaviour(ertslab_experiment).

-export([info/0, needs/1, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([copier/3, heap_words/1]).

%% The least number of words copied for one value, which takes some tens of microseconds.
-define(LEAST_WORDS, 20_000).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "terms sent, stored, looked up, packed and unpacked",
      shows => "costs and gains of a change to the emulator when terms are copied",
      origin => "the stores that gcc joins, for which the collector waited; copying waits for them too",
      vms => [<<"stock">>, <<"stock_copy">>, <<"copies">>, <<"tuned">>],
      parameters =>
          [#{name => shape, 'of' => exp_gc_shapes:shapes(), quick => [tuples, strings, small_maps],
             full => exp_gc_shapes:shapes(), doc => "the kind of term"},
           #{name => size, min => 1, max => 1_000_000, quick => [2_000], full => [2_000],
             doc => "words of it, about"}],
      metrics =>
          [#{name => send, doc => "sending it to a process that does not run"},
           #{name => ets_insert, doc => "storing it in a table in place of the same"},
           #{name => ets_lookup, doc => "looking it up"},
           #{name => pack, doc => "term_to_binary/1"},
           #{name => unpack, doc => "binary_to_term/1"}],
      contrasts => [],
      overall => true,
      estimator => floor,
      rounds => cases,
      warm_up => 1,
      iterations => 2,
      timeout_ms => 120_000}.

%% @doc The bytes that a case needs: for the term, its copies, and the messages that carry them.
-spec needs(ertslab_experiment:params()) -> non_neg_integer().
needs(#{size := Size}) -> 2 * heap_words(Size) * erlang:system_info(wordsize).

%% @doc The heap of the copying process, in words. A copy of the term that shares most is four times as large as the term.
-spec heap_words(pos_integer()) -> pos_integer().
heap_words(Size) -> 8 * Size * (1 + rounds(Size)).

rounds(Size) -> max(1, ?LEAST_WORDS div Size).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{shape := Shape, size := Size}) ->
    {module, _} = code:ensure_loaded(ertslab_experiment),
    #{shape => Shape, size => Size, hash => erlang:phash2(exp_gc_shapes:shape(Shape, Size))}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

%% Nanoseconds for one copy, and a hash of the last one.
-spec run(atom(), map()) -> {float(), non_neg_integer()}.
run(Metric, #{shape := Shape, size := Size}) ->
    Parent = self(),
    Copier = spawn_opt(fun() -> Parent ! {self(), copier(Metric, Shape, Size)} end,
                       [link, {min_heap_size, heap_words(Size)}, {message_queue_data, on_heap}]),
    receive {Copier, Timed} -> Timed end.

-spec verify(atom(), non_neg_integer(), map()) -> ok | {wrong, term()}.
verify(_, Hash, #{hash := Expected}) -> ertslab_experiment:expect(Expected, Hash).

-spec teardown(map()) -> ok.
teardown(_) -> ok.

%% @doc Makes the term and copies it.
-spec copier(atom(), atom(), pos_integer()) -> {float(), non_neg_integer()}.
copier(Metric, Shape, Size) ->
    Rounds = rounds(Size),
    Given = given(Metric, exp_gc_shapes:shape(Shape, Size)),
    {Nanoseconds, Last} = ertslab_experiment:timed(fun() -> copied(Rounds, Metric, Given, none) end),
    {Nanoseconds / Rounds, erlang:phash2(result(Metric, Given, Last))}.

%% The source of the copies.
given(send, Term) ->
    {min_heap_size, Words} = process_info(self(), min_heap_size),
    Receiver = spawn_opt(fun() -> send_back_last(none) end, [link, {min_heap_size, Words}, {message_queue_data, on_heap}]),
    true = erlang:suspend_process(Receiver),
    {Receiver, Term};
given(Metric, Term) when Metric =:= ets_insert; Metric =:= ets_lookup ->
    Table = ets:new(exp_term_copies, [set, private]),
    true = ets:insert(Table, {term, Term}),
    {Table, {term, Term}};
given(unpack, Term) -> term_to_binary(Term);
given(_, Term) -> Term.

copied(0, _, _, Last) -> Last;
copied(Rounds, Metric, Given, _) -> copied(Rounds - 1, Metric, Given, copy(Metric, Given)).

copy(send, {Receiver, Term}) -> Receiver ! Term;
copy(ets_insert, {Table, Row}) -> ets:insert(Table, Row);
copy(ets_lookup, {Table, _}) -> ets:lookup(Table, term);
copy(pack, Term) -> term_to_binary(Term);
copy(unpack, Binary) -> binary_to_term(Binary).

result(send, {Receiver, _}, _) ->
    Receiver ! {send_back_last, self()},
    true = erlang:resume_process(Receiver),
    receive {Receiver, Copy} -> Copy end;
result(ets_insert, {Table, _}, true) -> ets:lookup_element(Table, term, 2);
result(ets_lookup, _, [{term, Copy}]) -> Copy;
result(pack, _, Binary) -> binary_to_term(Binary);
result(unpack, _, Copy) -> Copy.

send_back_last(Last) ->
    receive
        {send_back_last, To} -> To ! {self(), Last};
        Copy -> send_back_last(Copy)
    end.
