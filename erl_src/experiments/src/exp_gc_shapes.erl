%% @doc The effect of a change to the copying collector, for heaps of
%% different terms.
%%
%% A process holds one term of about a million words. `full_sweep' copies all of
%% it, `minor' copies it once while it is young, `promotion' once more to the old heap, `hibernate' copies it and frees
%% the rest of the heap. `traverse' walks the term afterwards and reads every value,
%% since the order in which a collector places terms matters to their readers.
-module(exp_gc_shapes).
-behaviour(ertslab_experiment).

-export([info/0, needs/1, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([owner/2, shape/2, shapes/0]).

-define(HIBERNATE_TIMEOUT_MS, 20_000).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "collections of 18 kinds of heap, and a walk after them",
      shows => "costs and gains of a change to the collector, by kind of heap",
      origin => "a change to the collector can help one long list and hurt many short ones",
      vms => [<<"stock">>, <<"stock_copy">>, <<"store_order">>, <<"sweep_objects">>, <<"tuned">>],
      parameters =>
          [#{name => shape, 'of' => shapes(), quick => [tuples, proplists, iolists], full => shapes(),
             doc => "the kind of heap"},
           #{name => size, min => 1, max => 10_000_000, quick => [1_000_000], full => [1_000_000], counted => 300_000,
             doc => "words of it, about"}],
      metrics =>
          [#{name => minor, doc => "a collection of a young heap"},
           #{name => promotion, doc => "the minor collection after it, which moves all to the old heap"},
           #{name => full_sweep, doc => "a full sweep"},
           #{name => traverse, doc => "a walk over every value after a full sweep"},
           #{name => hibernate, doc => "from asking for hibernation to being hibernated"},
           #{name => traverse_hibernated, doc => "the walk after hibernation"}],
      contrasts => [],
      overall => true,
      rounds => cases,
      estimator => floor,
      warm_up => 1,
      iterations => 2,
      timeout_ms => 120_000}.

%% @doc The kinds of terms.
-spec shapes() -> [atom(), ...].
shapes() ->
    [ints, floats, tuples, wide_tuples, strings, singletons, pairs, proplists, iolists, improper,
     shared_tails, deep, trees, small_maps, large_map, mixed, binaries, funs].

%% @doc The bytes that a case needs: for the heaps of its owner and of the process in which a minor collection is timed.
-spec needs(ertslab_experiment:params()) -> non_neg_integer().
needs(#{size := Size}) -> 2 * heap_words(Size) * erlang:system_info(wordsize).

heap_words(Size) -> 8 * Size.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{shape := Shape, size := Size}) ->
    ok = code:ensure_modules_loaded([ertslab_experiment, term_walk]),
    Owner = spawn_opt(?MODULE, owner, [Shape, Size], [link, {min_heap_size, heap_words(Size)}]),
    #{owner => Owner, values => term_owner:ask(Owner, traverse)}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

%% Each iteration of `minor' needs a heap that was never collected, each of `promotion' one that was collected once. A
%% visit's first hibernation comes after a walk, the next ones after a hibernation.
-spec run(atom(), map()) -> {number(), term()}.
run(hibernate, #{owner := Owner}) ->
    %% Without this, the hibernation of the last iteration could be mistaken for the requested one.
    ok = term_owner:ask(Owner, awake),
    ertslab_experiment:timed(fun() -> Owner ! hibernate, await_hibernation(Owner) end);
run(traverse_hibernated, #{owner := Owner} = State) ->
    _ = run(hibernate, State),
    term_owner:ask(Owner, traverse);
run(Metric, #{owner := Owner}) -> term_owner:ask(Owner, Metric).

-spec verify(atom(), term(), map()) -> ok | {wrong, term()}.
verify(traverse, Values, #{values := {_, Values}}) -> ok;
verify(traverse_hibernated, Values, #{values := {_, Values}}) -> ok;
verify(Metric, true, _) when Metric =/= traverse, Metric =/= traverse_hibernated -> ok;
verify(_, Other, #{values := {_, Values}}) -> {wrong, #{expected => Values, got => Other}}.

-spec teardown(map()) -> ok.
teardown(#{owner := Owner}) ->
    unlink(Owner),
    exit(Owner, kill),
    ok.

%% This is timed, so it does not pause like cons_spacing_report:await_hibernation/2.
await_hibernation(Owner) ->
    await_hibernation(Owner, erlang:monotonic_time(millisecond) + ?HIBERNATE_TIMEOUT_MS).

await_hibernation(Owner, Deadline) ->
    cons_spacing_report:hibernates(Owner) orelse
        begin
            erlang:monotonic_time(millisecond) < Deadline orelse error(not_hibernated),
            await_hibernation(Owner, Deadline)
        end.

%% @doc The process that holds the term.
-spec owner(atom(), pos_integer()) -> no_return().
owner(Shape, Size) -> serve(Shape, Size, shape(Shape, Size)).

serve(Shape, Size, Term) ->
    receive
        {Client, traverse} ->
            answer(Client, ertslab_experiment:timed(fun() -> term_walk:values(Term) end), Shape, Size, Term);
        {Client, full_sweep} ->
            answer(Client, ertslab_experiment:timed(fun() -> garbage_collect() end), Shape, Size, Term);
        {Client, minor} -> answer(Client, minor(0, Shape, Size), Shape, Size, Term);
        {Client, promotion} -> answer(Client, minor(1, Shape, Size), Shape, Size, Term);
        {Client, awake} -> answer(Client, ok, Shape, Size, Term);
        hibernate ->
            erlang:hibernate(erlang, apply, [fun serve/3, [Shape, Size, Term]])
    end.

answer(Client, Answer, Shape, Size, Term) ->
    Client ! {self(), Answer},
    serve(Shape, Size, Term).

%% In a process of its own, whose heap holds the term and was collected `Before' times.
minor(Before, Shape, Size) ->
    Parent = self(),
    Child = spawn_opt(fun() ->
                              Term = shape(Shape, Size),
                              [true = collect_minor() || _ <- lists:seq(1, Before)],
                              Timed = ertslab_experiment:timed(fun collect_minor/0),
                              0 = erlang:phash2(Term, 1),
                              Parent ! {self(), Timed}
                      end, [link, {min_heap_size, heap_words(Size)}]),
    receive {Child, Timed} -> Timed end.

collect_minor() -> garbage_collect(self(), [{type, minor}]).

%% @doc A term of about `Size' words.
-spec shape(atom(), pos_integer()) -> term().
-dialyzer({no_improper_lists, shape/2}). % some shapes are made of those
shape(ints, Size) -> lists:seq(1, Size div 2);
shape(floats, Size) -> [N / 3 || N <- lists:seq(1, Size div 4)];
shape(tuples, Size) -> [{N, N, N} || N <- lists:seq(1, Size div 6)];
shape(wide_tuples, Size) -> [erlang:make_tuple(14, N) || N <- lists:seq(1, Size div 17)];
shape(strings, Size) -> [lists:seq($a, $t) || _ <- lists:seq(1, Size div 42)];
shape(singletons, Size) -> [[N] || N <- lists:seq(1, Size div 4)];
shape(pairs, Size) -> [[N, N] || N <- lists:seq(1, Size div 6)];
shape(proplists, Size) ->
    [[{id, N}, {name, N}, {age, N}, {city, N}] || N <- lists:seq(1, Size div 22)];
shape(iolists, Size) ->
    [[$<, [[$a, N band 127], <<"ab">>], $>, [N band 127 | <<"c">>]] || N <- lists:seq(1, Size div 24)];
shape(improper, Size) -> [[N, N | N] || N <- lists:seq(1, Size div 6)];
shape(shared_tails, Size) ->
    lists:foldl(fun(N, [Last | _] = All) -> [[N | lists:nthtail(N rem 3, Last)] | All] end,
                [lists:seq(1, 10)], lists:seq(1, Size div 4));
shape(deep, Size) -> lists:foldl(fun(N, Deep) -> [Deep, N] end, [], lists:seq(1, Size div 4));
shape(trees, Size) -> gb_trees:from_orddict([{N, N} || N <- lists:seq(1, Size div 5)]);
shape(small_maps, Size) -> [#{id => N, name => N, age => N} || N <- lists:seq(1, Size div 7)];
shape(large_map, Size) -> maps:from_keys(lists:seq(1, Size div 4), 1);
shape(mixed, Size) ->
    [{N, [N, N + 1, N + 2], #{n => N}, N / 7} || N <- lists:seq(1, Size div 20)];
shape(binaries, Size) ->
    queue:from_list([binary:copy(<<N:64>>, 10) || N <- lists:seq(1, Size div 10)]);
shape(funs, Size) -> [fun() -> N end || N <- lists:seq(1, Size div 7)].
