%% @doc How often and why the processes of exp_collection_policy are collected, counted.
%%
%% The same work, traced and not timed. These counts are the cause of the times there.
-module(exp_collection_counts).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "the collections of processes, by kind and reason",
      shows => "why a setting saves or costs: collections, words copied, bytes held",
      origin => "erlang/otp#8229 and #8322: more collections since bitstrings were made anew",
      vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
      parameters => collection_pass:parameters(),
      metrics =>
          [#{name => Name, unit => Unit, doc => Doc} || {Name, Unit, Doc} <- metrics()],
      contrasts => [],
      exact => true,
      estimator => typical,
      rounds => cases,
      run_ms => 0,
      warm_up => 0,
      iterations => 1,
      timeout_ms => 120_000}.

metrics() ->
    [{minor, collections, "minor collections"},
     {full, collections, "full sweeps, for the four reasons below"},
     {full_first, collections, "since the process had no old generation yet"},
     {full_old_heap, collections, "since the old heap had no room"},
     {full_old_virtual_heap, collections, "since the old generation's binaries were too many"},
     {full_by_count, collections, "since there were fullsweep_after minor ones before, or since somebody asked"},
     {by_virtual_heap, collections, "of both kinds, those begun since the young generation's binaries were too many"},
     {hibernations, collections, "hibernations, each of which is a full sweep"},
     {words_copied, words, "words that collections copied, for each message"},
     {words_at_once, words, "words that the largest collection copied, on which the longest pause depends"},
     {bytes_mean, bytes, "memory and binaries of the process after each batch, the mean"},
     {bytes_peak, bytes, "the same, the most"}].

%% All is counted at once, so that the rounds of a run repeat what is known.
-spec setup(ertslab_experiment:params()) -> map().
setup(Params) ->
    ok = code:ensure_modules_loaded([ertslab_experiment, collection_events, collection_processes, cons_spacing_report, term_owner]),
    #{process := Process, batches := Batches} = Work = collection_pass:work(Params),
    {Counts, Sum} = collection_pass:counts(Work),
    #{counts => Counts, sum => Sum, expected => collection_processes:expected(Process, Batches)}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {number(), collection_processes:answer()}.
run(Metric, #{counts := Counts, sum := Sum}) -> {maps:get(Metric, Counts), Sum}.

-spec verify(atom(), collection_processes:answer(), map()) -> ok | {wrong, term()}.
verify(_, Sum, #{expected := Expected}) -> ertslab_experiment:expect(Expected, Sum).

-spec teardown(map()) -> ok.
teardown(_) -> ok.
