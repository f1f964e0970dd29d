%% @doc `length/1' for lists whose cells lie in different ways. It shows the cost of loading the cells,
%% and the gain from prefetching the next address or from moving the cells of a list together.
%%
%% The lists laid out by allocation are the same on every VM. Those laid out by the
%% collector are named after the layout that OTP's own collector makes. A collector that moves the cells
%% of a list together makes another one, and that is its purpose.
-module(exp_length).
-behaviour(ertslab_experiment).

-export([info/0, needs/1, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([owner/2, spacing/1, laid_out/2]).

-define(HIBERNATE_TIMEOUT_MS, 20_000).
%% The least number of cells for one value: some hundred microseconds
%% at a nanosecond a cell.
-define(LEAST_CELLS, 500_000).
%% The values in two of the layouts are tuples with this many elements.
-define(VALUE_WORDS, 14).
-define(VALUE_HEAP_WORDS, (?VALUE_WORDS + 1)).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "length/1 of lists whose cells lie in different ways",
      shows => "how much of length/1 is waiting for memory, and how much of that guessing and moving spines save",
      origin => "Memory matters - even in Erlang, LShift, 2010; value speculation on linked lists, 2021",
      vms => [<<"stock">>, <<"stock_copy">>, <<"speculate">>, <<"spine">>, <<"tuned">>],
      parameters =>
          [#{name => cells, min => 1_000, max => 20_000_000,
             quick => [10_000, 300_000], full => [1_000, 10_000, 300_000, 3_000_000],
             doc => "cells of the list"}],
      metrics =>
          [#{name => dense, doc => "each cell just above the one before it"},
           #{name => reversed, doc => "each cell just below the one before it"},
           #{name => alternating, doc => "cells 16 and 136 bytes below the one before them, in turn"},
           #{name => hibernated, doc => "after hibernation with 14-tuples as values: 136 bytes apart on stock"},
           #{name => shuffled, doc => "cells in random order on stock, in pieces where spines are moved together"}],
      contrasts =>
          [#{name => hibernation, over => hibernated, under => dense,
             says => "length/1 of the hibernated list to that of the dense one"},
           #{name => disorder, over => shuffled, under => dense,
             says => "length/1 of the shuffled list to that of the dense one"}],
      overall => true,
      estimator => floor,
      rounds => metrics,
      warm_up => 1,
      iterations => 2,
      loads => [cons_spacing_nif],
      timeout_ms => 300_000}.

%% @doc The bytes that a case needs: for the heaps of its five owners, and for the copy that hibernating one of them makes.
-spec needs(ertslab_experiment:params()) -> non_neg_integer().
needs(#{cells := Cells}) -> 6 * heap_words(hibernated, Cells) * erlang:system_info(wordsize).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{cells := Cells}) ->
    %% Since OTP 29, loading a module collects the process whose call loads it.
    ok = code:ensure_modules_loaded([ertslab_experiment, exp_hibernate, cons_spacing, cons_spacing_nif]),
    #{owner => none, cells => Cells, calls => max(1, ?LEAST_CELLS div Cells)}.

%% Each layout has a process of its own.
-spec prepare(atom(), map()) -> map().
prepare(Layout, #{cells := Cells} = State) ->
    ok = teardown(State),
    Owner = spawn_opt(?MODULE, owner, [Layout, Cells], [link, {min_heap_size, heap_words(Layout, Cells)}]),
    built = term_owner:ask(Owner, built),
    ok = hibernated(Layout, Owner),
    ok = laid_out(Layout, spacing(Owner)),
    State#{owner := Owner}.

hibernated(hibernated, Owner) ->
    Owner ! hibernate,
    cons_spacing_report:await_hibernation(Owner, ?HIBERNATE_TIMEOUT_MS);
hibernated(_, _) -> ok.

%% @doc The layout of the cells of the owner's list.
-spec spacing(pid()) -> cons_spacing:spacing().
spacing(Owner) -> term_owner:ask(Owner, spacing).

%% @doc Fails if the cells do not lie as the layout's name says. A layout made
%% by allocation must be exact. The collector either leaves a list in the named layout,
%% or moves most cells to just behind the one before them.
-spec laid_out(atom(), cons_spacing:spacing()) -> ok.
laid_out(Layout, #{tail := proper, adjacent := Adjacent} = Spacing) ->
    case named(Layout, Spacing) of
        true -> ok;
        false when Layout =:= hibernated, Adjacent > 0.9 -> ok;
        false when Layout =:= shuffled, Adjacent > 0.5 -> ok;
        false -> error({not_laid_out_as, Layout, Spacing})
    end.

named(dense, #{min := 16, max := 16}) -> true;
named(reversed, #{min := -16, max := -16}) -> true;
named(alternating, #{min := -136, max := -16, histogram := [{16, Near}, {128, Far}]}) -> abs(Near - Far) =< 1;
named(hibernated, #{min := 136, max := 136}) -> true;
named(shuffled, #{adjacent := Adjacent, forward := Forward}) ->
    Adjacent < 0.05 andalso abs(Forward - 0.5) < 0.1;
named(_, _) -> false.

%% Words for the list, its source, the garbage of some ten thousand walks, and in `shuffled' the tuples and the list of tails.
heap_words(shuffled, Cells) -> 16 * Cells + 1_000_000;
heap_words(_, Cells) -> (?VALUE_HEAP_WORDS + 4) * Cells + 1_000_000.

-spec run(atom(), map()) -> {float(), pos_integer()}.
run(_, #{owner := Owner, calls := Calls}) ->
    {Nanoseconds, Cells} = term_owner:ask(Owner, {length, Calls}),
    {Nanoseconds / Calls, Cells}.

%% The result is the sum over all calls.
-spec verify(atom(), pos_integer(), map()) -> ok | {wrong, term()}.
verify(_, Result, #{cells := Cells, calls := Calls}) ->
    ertslab_experiment:expect(Cells * Calls, Result).

-spec teardown(map()) -> ok.
teardown(#{owner := Owner}) -> term_owner:stop(Owner).

%% @doc The process that owns the list.
-spec owner(atom(), pos_integer()) -> no_return().
owner(Layout, Cells) -> serve(list(Layout, Cells)).

serve(List) ->
    receive
        {Client, built} -> answer(Client, built, List);
        {Client, spacing} -> answer(Client, cons_spacing:measure(List), List);
        {Client, {length, Calls}} ->
            answer(Client, ertslab_experiment:timed(fun() -> lengths(Calls, List, 0) end), List);
        hibernate -> erlang:hibernate(erlang, apply, [fun serve/1, [List]])
    end.

answer(Client, Answer, List) ->
    Client ! {self(), Answer},
    serve(List).

lengths(0, _List, Sum) -> Sum;
lengths(Calls, List, Sum) -> lengths(Calls - 1, List, Sum + length(List)).

%% The heap has room for everything, so terms lie in the order of their allocation and
%% nothing moves before the explicit collections.
list(dense, Cells) -> exp_hibernate:dense_list(Cells, 0);
list(reversed, Cells) -> descending(Cells, []);
list(alternating, Cells) -> alternating(Cells, []);
list(hibernated, Cells) -> exp_hibernate:dense_list(Cells, ?VALUE_WORDS);
list(shuffled, Cells) -> shuffled(Cells).

descending(0, List) -> List;
descending(N, List) -> descending(N - 1, [N | List]).

%% The value lies between its own cell and the cell that was made before.
alternating(0, List) -> List;
alternating(N, List) when N rem 2 =:= 0 -> alternating(N - 1, [N | List]);
alternating(N, List) -> alternating(N - 1, [erlang:make_tuple(?VALUE_WORDS, N) | List]).

%% A tuple holds all tails of the list in random order, and the collector moves
%% the cells in the order of the tuple.
shuffled(Cells) ->
    Order = tails_in_random_order(Cells),
    true = garbage_collect(),
    head_of_all(Order, 1).

tails_in_random_order(Cells) ->
    Tails = list_to_tuple(tails(descending(Cells, []))),
    list_to_tuple([element(Nth + 1, Tails) || Nth <- random_order(Cells)]).

tails([_ | Tail] = List) -> [List | tails(Tail)];
tails([]) -> [].

head_of_all(Tails, Nth) ->
    case element(Nth, Tails) of
        [1 | _] = List -> List;
        _ -> head_of_all(Tails, Nth + 1)
    end.

%% The numbers below N in an order that is always the same and has no pattern: a
%% hash that permutes the numbers of `Bits' bits, without the numbers from N on.
random_order(N) ->
    Bits = bits(N, 2),
    [Number || Index <- lists:seq(0, (1 bsl Bits) - 1), Number <- [hash(hash(Index, Bits), Bits)], Number < N].

bits(N, Bits) when 1 bsl Bits >= N -> Bits;
bits(N, Bits) -> bits(N, Bits + 1).

%% Each step is invertible: the multiplier is odd, and the shift leaves the high half as it is.
hash(Number, Bits) ->
    Product = (Number * 16#9E3779B1 + 1) band ((1 bsl Bits) - 1),
    Product bxor (Product bsr ((Bits + 1) div 2)).
