%% @doc The effect of hibernation on walking a list ("Memory matters - even in Erlang", LShift, 2010).
%%
%% Two processes build the same list, whose cells lie side by side. One of them
%% hibernates: the collector copies cell, value, cell, value, so the distance between two cells of
%% its list grows by the size of a value. Then both measure
%% `length/1' and a fold that reads each value, in turns.
-module(exp_hibernate).
-behaviour(ertslab_experiment).

-export([info/0, needs/1, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([owner/2, dense_list/2, heap_words/2]).

-define(HIBERNATE_TIMEOUT_MS, 20_000).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "length/1 and a fold, before and after hibernation",
      shows => "that the copying collector spreads a list's cells, and every later walk pays for it",
      origin => "Memory matters - even in Erlang, LShift, 2010",
      vms => [<<"stock">>, <<"stock_copy">>, <<"prefetch">>],
      parameters =>
          [#{name => cells, min => 1000, max => 20_000_000,
             quick => [3_000_001], full => [300_001, 3_000_001], counted => 300_001,
             doc => "cells of the list"},
           #{name => value_words, min => 0, max => 1000,
             quick => [14], full => [0, 3, 14],
             doc => "words in each value: 0 is a small integer, N a tuple of N"},
           #{name => prefetch_distance, min => -1, max => 4096,
             quick => [-1], full => [-1],
             doc => "cells that length/1 prefetches ahead, 0 for none, where the VM can;"
                    " -1 leaves the VM's own"}],
      metrics =>
          [#{name => length_dense, doc => "length/1 of the list as built"},
           #{name => fold_dense, doc => "a fold that reads each value, as built"},
           #{name => length_hibernated, doc => "length/1 after hibernation"},
           #{name => fold_hibernated, doc => "the fold after hibernation"}],
      contrasts =>
          [#{name => length_slowdown, over => length_hibernated, under => length_dense,
             says => "length/1 after hibernation to length/1 before"},
           #{name => fold_slowdown, over => fold_hibernated, under => fold_dense,
             says => "the fold after hibernation to the fold before"}],
      estimator => floor,
      rounds => metrics,
      %% Twice as long a run gave floors that differ as much from pair to pair: it is fresh VMs that differ.
      run_ms => 300,
      warm_up => 1,
      iterations => 1,
      timeout_ms => 120_000}.

%% @doc The bytes that a case needs: for the heaps of both owners, and for the copy that hibernating one of them makes.
-spec needs(ertslab_experiment:params()) -> non_neg_integer().
needs(#{cells := Cells, value_words := Words}) -> 3 * heap_words(Cells, Words) * erlang:system_info(wordsize).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{cells := Cells, value_words := Words, prefetch_distance := Distance}) ->
    set_prefetch_distance(Distance),
    %% Since OTP 29, loading a module collects the process whose call loads it.
    {module, _} = code:ensure_loaded(ertslab_experiment),
    Hibernated = started(Cells, Words),
    Hibernated ! hibernate,
    ok = cons_spacing_report:await_hibernation(Hibernated, ?HIBERNATE_TIMEOUT_MS),
    #{dense => started(Cells, Words), hibernated => Hibernated,
      cells => Cells, sum => Cells * (Cells + 1) div 2}.

started(Cells, Words) ->
    Owner = spawn_opt(?MODULE, owner, [Cells, Words], [link, {min_heap_size, heap_words(Cells, Words)}]),
    ok = term_owner:ask(Owner, built),
    Owner.

%% Only some variants prefetch; the others have no distance to set. OTP's
%% own spec of the function cannot know the key that the patch adds.
-dialyzer({nowarn_function, set_prefetch_distance/1}).
set_prefetch_distance(-1) -> ok;
set_prefetch_distance(Distance) ->
    _ = erts_debug:set_internal_state(available_internal_state, true),
    case erts_debug:get_internal_state(length_prefetch) of
        undefined -> ok;
        _ -> _ = erts_debug:set_internal_state(length_prefetch, Distance), ok
    end.

%% @doc Words of heap: room for the values, the list, its source, and the garbage of some
%% hundred thousand walks, so that nothing is collected before it is measured.
-spec heap_words(pos_integer(), non_neg_integer()) -> pos_integer().
heap_words(Cells, Words) -> Cells * (value_heap_words(Words) + 2 + 2) + 4_000_000.

value_heap_words(0) -> 0;
value_heap_words(Words) -> Words + 1.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {number(), integer()}.
run(length_dense, #{dense := Owner}) -> term_owner:ask(Owner, length);
run(fold_dense, #{dense := Owner}) -> term_owner:ask(Owner, fold);
run(length_hibernated, #{hibernated := Owner}) -> term_owner:ask(Owner, length);
run(fold_hibernated, #{hibernated := Owner}) -> term_owner:ask(Owner, fold).

-spec verify(atom(), integer(), map()) -> ok | {wrong, term()}.
verify(Metric, Length, #{cells := Cells}) when Metric =:= length_dense; Metric =:= length_hibernated ->
    ertslab_experiment:expect(Cells, Length);
verify(_, Fold, #{sum := Sum}) -> ertslab_experiment:expect(Sum, Fold).

-spec teardown(map()) -> ok.
teardown(#{dense := Dense, hibernated := Hibernated}) ->
    %% The dense list stayed dense only if it was never collected. The count of
    %% collections cannot show that, since a full sweep resets it.
    0 = term_owner:ask(Dense, survived),
    ok = term_owner:stop(Dense),
    term_owner:stop(Hibernated).

%% @doc The process that owns the list.
-spec owner(pos_integer(), non_neg_integer()) -> no_return().
owner(Cells, Words) ->
    serve(dense_list(Cells, Words)).

%% @doc A list of `Cells' values, each an integer (0 words) or a tuple with `Words' elements.
%% `--' copies the elements before the last one that it removes into one
%% ascending run of cells: each lies just above the one before it, 16 bytes away.
%% (Removing nothing copies nothing on OTP 29. `++' would leave the last cell
%% where it was, and a list built in Erlang descends.)
-spec dense_list(pos_integer(), non_neg_integer()) -> [integer() | tuple()].
dense_list(Cells, Words) -> values(Cells, Words, [none]) -- [none].

values(0, _Words, Values) -> Values;
values(N, Words, Values) -> values(N - 1, Words, [value(N, Words) | Values]).

value(N, 0) -> N;
value(N, Words) -> erlang:make_tuple(Words, N).

serve(List) ->
    receive
        {Client, built} -> answer(Client, ok, List);
        {Client, survived} -> answer(Client, words_that_survived_a_collection(), List);
        {Client, length} ->
            answer(Client, ertslab_experiment:timed(fun() -> length(List) end), List);
        {Client, fold} ->
            answer(Client, ertslab_experiment:timed(fun() -> sum(List, 0) end), List);
        hibernate ->
            0 = words_that_survived_a_collection(),
            erlang:hibernate(erlang, apply, [fun serve/1, [List]])
    end.

words_that_survived_a_collection() ->
    {garbage_collection_info, Sizes} = process_info(self(), garbage_collection_info),
    proplists:get_value(recent_size, Sizes) + proplists:get_value(old_heap_size, Sizes).

answer(Client, Answer, List) ->
    Client ! {self(), Answer},
    serve(List).

sum([Value | Rest], Sum) when is_integer(Value) -> sum(Rest, Sum + Value);
sum([Value | Rest], Sum) -> sum(Rest, Sum + element(1, Value));
sum([], Sum) -> Sum.
