%% @doc The cost of a process for the machine: by how much the VM's carriers, and the
%% operating system's process, grow with each process that waits.
%%
%% exp_process_memory has the same processes, as counted by the VM. Here the
%% free room in carriers and pages counts too. A VM reuses freed memory before it
%% takes new memory, so each VM measures one kind of process only.
-module(exp_process_rss).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-define(POINTS, 10).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "bytes of carriers and of resident memory for each waiting process",
      shows => "that a process costs the machine as much as the VM counts for it, and some free space",
      origin => "the Efficiency Guide, which gives 327 words for one",
      vms => [<<"stock">>, <<"stock_copy">>, <<"prefetch">>],
      parameters =>
          [#{name => processes, min => 10, max => 200_000,
             quick => [100_000], full => [100_000], counted => 1000,
             doc => "processes at the last of 10 equal steps"},
           #{name => kind, 'of' => kinds(), quick => [waiting], full => kinds(),
             doc => "which processes"}],
      metrics =>
          [#{name => carriers, unit => bytes, doc => "memory that the VM's allocators hold, for each process"},
           #{name => rss, unit => bytes, doc => "resident memory, for each process"},
           #{name => pss, unit => bytes, doc => "resident memory, each shared page divided"
                                                " by its users, for each process"}],
      contrasts => [],
      estimator => typical,
      rounds => none,
      run_ms => 0,
      warm_up => 0,
      iterations => 1,
      timeout_ms => 300_000}.

kinds() -> [Kind || {Kind, _} <- process_population:kinds()].

%% All metrics come from one growth, which is the first one of the VM.
-spec setup(ertslab_experiment:params()) -> map().
setup(#{processes := Processes, kind := Kind}) ->
    Sizes = [Processes * Step div ?POINTS || Step <- lists:seq(1, ?POINTS)],
    {Readings, NotAsWanted} = process_population:grow(Kind, Sizes, fun ertslab_memory:vm/0),
    #{readings => Readings, not_as_wanted => NotAsWanted}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {ertslab_experiment:value(), non_neg_integer()}.
run(Metric, #{readings := Readings, not_as_wanted := NotAsWanted}) ->
    {[[Size, maps:get(Metric, Reading)] || {Size, Reading} <- Readings], NotAsWanted}.

-spec verify(atom(), non_neg_integer(), map()) -> ok | {wrong, term()}.
verify(Metric, NotAsWanted, State) -> exp_process_memory:verify(Metric, NotAsWanted, State).

-spec teardown(map()) -> ok.
teardown(_) -> ok.
