%% @doc Loops that take terms apart and build others, to measure the code of the JIT.
%%
%% Each loop is measured in four modules, with different functions before it, and a
%% value is the mean of the four (`placed_module' says why). All VMs must give the same result.
-module(exp_loops).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-define(PLACES, 4).
%% The least number of elements for one value, which takes some tens of microseconds.
-define(LEAST_ELEMENTS, 4_000).
%% Room for all that the loops build, so that no collection is timed.
-define(WORDS_PER_ELEMENT, 10).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "loops that take terms apart and build others",
      shows => "the effect of a change to the JIT on typical loops of Erlang programs",
      origin => "the stores that the collector waited for; the JIT's code waits for two words at once, too",
      vms => [<<"stock">>, <<"stock_copy">>, <<"jit_moves">>, <<"tuned">>],
      parameters =>
          [#{name => loop, 'of' => building_loops:names(), quick => [reverse, map, swap], full => building_loops:names(),
             doc => "the loop"},
           #{name => elements, min => 1, max => 100_000, quick => [1_000], full => [1_000],
             doc => "elements that it goes over"}],
      metrics => [#{name => element, doc => "time for an element"}],
      contrasts => [],
      overall => true,
      estimator => floor,
      rounds => cases,
      warm_up => 1,
      iterations => 2,
      timeout_ms => 120_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{loop := Loop, elements := Elements}) ->
    {module, _} = code:ensure_loaded(ertslab_experiment),
    Input = building_loops:input(Elements),
    #{loop => Loop, elements => Elements, input => Input, again => max(1, ?LEAST_ELEMENTS div Elements),
      modules => placed_module:copies(building_loops, ?PLACES),
      hash => erlang:phash2(building_loops:run(Loop, Input))}.

-spec prepare(atom(), map()) -> map().
prepare(element, State) -> State.

%% Nanoseconds for an element, and hashes of the loops' results.
-spec run(atom(), map()) -> {float(), [non_neg_integer()]}.
run(element, #{modules := Modules, elements := Elements, again := Again} = State) ->
    {Times, Hashes} = lists:unzip([in_room(Module, State) || Module <- Modules]),
    {lists:sum(Times) / (length(Modules) * Again * Elements), Hashes}.

in_room(Module, #{loop := Loop, elements := Elements, input := Input, again := Again}) ->
    Parent = self(),
    Words = ?WORDS_PER_ELEMENT * Elements * (Again + 1),
    Pid = spawn_opt(fun() -> Parent ! {self(), timed(Module, Loop, Input, Again)} end, [link, {min_heap_size, Words}]),
    receive {Pid, Timed} -> Timed end.

timed(Module, Loop, Input, Again) ->
    {Time, Last} = ertslab_experiment:timed(fun() -> repeated(Again, Module, Loop, Input) end),
    {Time, erlang:phash2(Last)}.

repeated(1, Module, Loop, Input) -> Module:run(Loop, Input);
repeated(Again, Module, Loop, Input) ->
    _ = Module:run(Loop, Input),
    repeated(Again - 1, Module, Loop, Input).

-spec verify(atom(), [non_neg_integer()], map()) -> ok | {wrong, term()}.
verify(element, Hashes, #{hash := Hash}) -> ertslab_experiment:expect([Hash], lists:usort(Hashes)).

-spec teardown(map()) -> ok.
teardown(_) -> ok.
