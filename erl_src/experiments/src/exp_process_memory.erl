%% @doc The cost of a process: the bytes by which the VM's own count grows with
%% each process that waits, as the slope over 100 to 100,000 of them.
%%
%% The count is that of the allocators' blocks. A few blocks are a word larger than
%% requested, if the rest would be too small for a block. So the slopes vary
%% in the last digits from run to run, and are compared by intervals.
-module(exp_process_memory).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-define(SIZES, [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "bytes that the VM counts for each waiting process",
      shows => "the cost of the heap of a process that has done nothing, and of messages off the heap"
               " cost more than on it",
      origin => "the Efficiency Guide, which gives 327 words for one",
      vms => [<<"stock">>, <<"stock_copy">>, <<"prefetch">>],
      parameters =>
          [#{name => processes, min => 1000, max => 200_000,
             quick => [30_000], full => [100_000], counted => 1000,
             doc => "processes at the last point; the others are 100, 200, 500, ... below it"}],
      metrics => [#{name => Kind, unit => bytes, doc => "for each process " ++ Says}
                  || {Kind, Says} <- process_population:kinds()],
      contrasts => [],
      estimator => typical,
      rounds => none,
      run_ms => 0,
      warm_up => 0,
      iterations => 1,
      timeout_ms => 300_000}.

%% The first process of a kind makes the VM load and allocate things that the others
%% do not pay for.
-spec setup(ertslab_experiment:params()) -> map().
setup(#{processes := Processes}) ->
    lists:foreach(fun({Kind, _}) -> {_, 0} = process_population:grow(Kind, [100], fun read/0) end,
                  process_population:kinds()),
    #{sizes => [Size || Size <- ?SIZES, Size < Processes] ++ [Processes]}.

read() -> erlang:memory(processes).

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(process_population:kind(), map()) -> {ertslab_experiment:value(), non_neg_integer()}.
run(Kind, #{sizes := Sizes}) ->
    {Readings, NotAsWanted} = process_population:grow(Kind, Sizes, fun read/0),
    {[[Size, Bytes] || {Size, Bytes} <- Readings], NotAsWanted}.

-spec verify(atom(), non_neg_integer(), map()) -> ok | {wrong, term()}.
verify(_, 0, _) -> ok;
verify(_, NotAsWanted, _) -> {wrong, #{not_as_wanted => NotAsWanted}}.

-spec teardown(map()) -> ok.
teardown(_) -> ok.
