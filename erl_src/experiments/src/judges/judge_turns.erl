%% @doc Judges are measured while the VMs of all arms take turns. This module has what they share.
-module(judge_turns).

-export([info/1, taken/3, taken_here/2]).

%% @doc The info of such an experiment: its own keys, and these as defaults.
-spec info(map()) -> ertslab_experiment:info().
info(Own) ->
    maps:merge(#{vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
                 contrasts => [],
                 estimator => typical,
                 rounds => arms,
                 warm_up => 3,
                 iterations => 1,
                 run_ms => 5000,
                 timeout_ms => 120_000}, Own).

%% @doc The processor time of a process of the operating system while a function runs, and the function's result. The function
%% also returns values of other metrics, which are kept as notes.
-spec taken(round_notes:notes(), OsPid :: pos_integer(), fun(() -> {Result, #{atom() => number()}})) ->
          {Nanoseconds :: non_neg_integer(), Result}.
taken(Beside, OsPid, Work) ->
    {Cpu, {Result, Others}} = program_cpu:taken(OsPid, Work),
    ok = round_notes:note(Beside, Others),
    {Cpu, Result}.

%% @doc The same for this VM. The time that the function takes is kept as a note.
-spec taken_here(round_notes:notes(), fun(() -> Result)) -> {Nanoseconds :: non_neg_integer(), Result}.
taken_here(Beside, Work) ->
    taken(Beside, list_to_integer(os:getpid()),
          fun() ->
                  {Time, Result} = ertslab_experiment:timed(Work),
                  {Result, #{time => Time}}
          end).
