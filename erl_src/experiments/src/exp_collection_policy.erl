%% @doc What it costs when the VM collects: processes as real programs have them, by the settings that decide.
%%
%% The time is that of the process alone, without tracing. exp_collection_counts counts the collections of the same work,
%% and the words of the largest, on which the longest pause depends.
-module(exp_collection_policy).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "processes by when they are collected",
      shows => "which setting of a process saves its collections, and which costs more than it saves",
      origin => "rabbitmq/osiris#167 and rabbitmq/rabbitmq-server#12208: settings that won or lost ten to thirty per cent",
      vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
      parameters => collection_pass:parameters(),
      metrics => [#{name => message, doc => "time of a message, collections included"}],
      contrasts => [],
      overall => true,
      estimator => floor,
      rounds => cases,
      warm_up => 1,
      iterations => 1,
      timeout_ms => 120_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(Params) ->
    ok = code:ensure_modules_loaded([ertslab_experiment, collection_processes, cons_spacing_report, term_owner]),
    #{process := Process, batches := Batches} = Work = collection_pass:work(Params),
    #{work => Work, expected => collection_processes:expected(Process, Batches)}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {number(), collection_processes:answer()}.
run(message, #{work := Work}) -> collection_pass:message_ns(Work).

-spec verify(atom(), collection_processes:answer(), map()) -> ok | {wrong, term()}.
verify(_, Sum, #{expected := Expected}) -> ertslab_experiment:expect(Expected, Sum).

-spec teardown(map()) -> ok.
teardown(_) -> ok.
