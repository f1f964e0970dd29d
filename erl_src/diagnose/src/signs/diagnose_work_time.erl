%% @doc How much the schedulers worked, and whether it is known in what. Pure.
-module(diagnose_work_time).

-export([cores/1, is_long/1, long_runs/1, untold/1, seldom_seen/1, starved/1]).

-include("../diagnose_bounds.hrl").

%% @doc How many cores worked: without the time in which schedulers wait awake for work, and never more than the processor time that
%% the VM had.
-spec cores(diagnose_types:collections() | unknown) -> float().
cores(#{busy := Busy, waiting := Waiting, threads := Threads} = Seen) ->
    min(max(0.0, (Busy - Waiting) * Threads), maps:get(cores, Seen, infinity));
cores(unknown) -> 0.0.

%% @doc Whether a process runs for long, without giving way, so often that it does much of what the node does.
-spec is_long(diagnose_types:long_run()) -> boolean().
is_long(#{times := Times, run_ms := Ms, window_ms := Window}) ->
    Times >= ?LONG_RUNS andalso Ms >= ?LONG_RUNS_PART * Window orelse Times > 1 andalso Ms >= ?LONG_RUNS_MOST * Window.

%% @doc The processes that run long, and one of each kind whose members do so together, with the sums of all: a server of requests has a
%% process for each, which does it once.
-spec long_runs(diagnose_types:look()) -> [diagnose_types:long_run()].
long_runs(#{long_runs := [_ | _] = Runs} = Look) ->
    {Long, Others} = lists:partition(fun is_long/1, Runs),
    Kinds = maps:groups_from_list(fun(#{label := Label, in := In}) -> case Label of unknown -> In; _ -> Label end end, Others),
    Delayed = case Look of #{collections := #{delayed := Part}} -> Part; #{} -> 0.0 end,
    Long ++ [Sum || {Kind, [First, _ | _] = Of} <- maps:to_list(Kinds), Kind =/= none,
                    #{times := Times, run_ms := Ms} = Sum <- [lists:foldl(fun sum/2, First#{processes => 1}, tl(Of))],
                    Ms * (1 - Delayed) >= ?TOGETHER_RUN_MS * Times];
long_runs(#{}) -> [].

sum(#{times := Times, run_ms := Ms}, #{times := T, run_ms := M, processes := Count} = Sum) ->
    Sum#{times := T + Times, run_ms := M + Ms, processes := Count + 1}.

%% @doc Work of the schedulers in functions that count hardly any reductions, of which the VM's monitor told no process: it tells of none
%% that ends in the same run.
-spec untold(diagnose_types:look()) -> none | #{cores := float(), reductions := non_neg_integer()}.
untold(#{collections := #{reductions := Reductions, share := Share} = Collections} = Look) ->
    Cores = min(cores(Collections), maps:get(scheduler_cores, Collections, infinity)),
    case Cores >= ?BUSY_CORES andalso Reductions =< ?HELD_REDUCTIONS * Cores andalso Share =< ?NATIVE_COLLECTIONS
        andalso not lists:any(fun is_long/1, long_runs(Look)) of
        true -> #{cores => Cores, reductions => Reductions};
        false -> none
    end;
untold(#{}) -> none.

%% @doc How many processes work or have messages, and were seen at so few looks that no sign of work or of waiting can be told of them.
-spec seldom_seen(diagnose_types:look()) -> non_neg_integer().
seldom_seen(#{suspects := Suspects}) ->
    length([Samples || #{samples := [_ | _] = Samples, usual_depth := Depth} <- Suspects,
                       lists:sum([Times || {_, _, Times} <- Samples]) < ?BUSY_LOOKS,
                       is_integer(Depth) andalso Depth > 0 orelse lists:any(fun({Status, _, _}) -> Status =/= waiting end, Samples)]).

%% @doc What part of the processor time that the node had work for it got, where the machine did something else for so long that no pace
%% tells anything: so much work takes many times as long. A node without work is seen to have none. Only threads that were to run and did
%% not are evidence: one that sleeps in a native function needs no processor. Where the system does not tell it, nothing is said.
-spec starved(diagnose_types:look()) -> none | {part, float()}.
starved(#{collections := #{busy := Busy, waiting := Waiting, threads := Threads, delayed := Delayed} = Collections} = Look)
  when Delayed >= ?NATIVE_DELAYED ->
    case (Busy - Waiting) * Threads - maps:get(blocked, Collections, 0.0) >= ?WANTED_CORES orelse works_at_times(Look) of
        true -> {part, 1 - Delayed};
        false -> none
    end;
starved(#{}) -> none.

%% Who does nothing is seen to answer, too, now and then. Who rests at some looks has done what it had to do: it would do so much more
%% as it would wait instead of working, at most, which may still be little.
works_at_times(#{suspects := Suspects, collections := #{delayed := Delayed}}) ->
    lists:any(fun(#{samples := Samples, reductions := Reductions}) ->
                      Looks = [{Status, Times} || {Status, _, Times} <- Samples],
                      All = lists:sum([Times || {_, Times} <- Looks]),
                      Works = lists:sum([Times || {Status, Times} <- Looks, Status =/= waiting, Status =/= suspended]),
                      Works > 1 andalso 2 * Works >= All
                          andalso (not is_number(Reductions)
                                   orelse Reductions * All >= ?BUSY_REDUCTIONS * max(All - Works, (1 - Delayed) * All))
              end, Suspects).
