%% @doc How judges are measured where the VMs of all arms take turns, and what stands beside the processor time of a round.
-module(judge_turns).

-export([info/1, taken/3, taken_here/2]).

%% @doc The info of such an experiment: its own keys, and these where it has none.
-spec info(map()) -> ertslab_experiment:info().
info(Own) ->
    maps:merge(#{vms => [~"stock", ~"stock_copy", ~"tuned"],
                 contrasts => [],
                 estimator => typical,
                 rounds => arms,
                 warm_up => 3,
                 iterations => 1,
                 run_ms => 5000,
                 timeout_ms => 120_000}, Own).

%% @doc The processor time that a process of the operating system takes while a function works, and the function's result. What
%% stands beside it, as metrics and their values, is kept.
-spec taken(round_notes:notes(), OsPid :: pos_integer(), fun(() -> {Result, #{atom() => number()}})) -> {Nanoseconds :: non_neg_integer(), Result}.
taken(Beside, OsPid, Work) ->
    {Cpu, {Result, Others}} = program_cpu:taken(OsPid, Work),
    ok = round_notes:note(Beside, Others),
    {Cpu, Result}.

%% @doc The same of this VM, with the time that the function takes beside it.
-spec taken_here(round_notes:notes(), fun(() -> Result)) -> {Nanoseconds :: non_neg_integer(), Result}.
taken_here(Beside, Work) ->
    taken(Beside, list_to_integer(os:getpid()),
          fun() ->
                  {Time, Result} = ertslab_experiment:timed(Work),
                  {Result, #{time => Time}}
          end).
