%% Workers of which one is killed after each pause, in the midst of whatever it does, and another takes its place, for as
%% long as ERTSLAB_CHAOS_SECONDS says.
-module(killed_workers).

-export([run/1]).

-define(WORKERS, 8).
-define(PAUSE_MS, 20).

%% @doc What the workers counted that were not killed, each until it received `stop', and how many were. Fails with what a
%% worker failed with.
-spec run(fun(() -> {Counted, non_neg_integer()})) -> {non_neg_integer(), Killed :: non_neg_integer(), Processes :: pos_integer()}
              when Counted :: atom().
run(Work) ->
    End = erlang:monotonic_time(millisecond) + 1000 * endurance_chaos:seconds(),
    {Count, Killed} = go_on([start(Work) || _ <- lists:seq(1, ?WORKERS)], Work, End, 0),
    {Count, Killed, Killed + ?WORKERS}.

start(Work) -> spawn_monitor(fun() -> exit(Work()) end).

go_on(Workers, Work, End, Killed) ->
    ok = timer:sleep(?PAUSE_MS),
    case erlang:monotonic_time(millisecond) < End of
        true ->
            {Pid, _} = Victim = endurance_chaos:one_of(Workers),
            exit(Pid, kill),
            killed = ended(Victim),
            go_on([start(Work) | Workers -- [Victim]], Work, End, Killed + 1);
        false ->
            _ = [Pid ! stop || {Pid, _} <- Workers],
            {lists:sum([Count || {_, Count} <- [ended(Worker) || Worker <- Workers]]), Killed}
    end.

ended({Pid, Monitor}) ->
    receive
        {'DOWN', Monitor, process, Pid, {Counted, Count}} when is_atom(Counted), is_integer(Count) -> {Counted, Count};
        {'DOWN', Monitor, process, Pid, killed} -> killed;
        {'DOWN', Monitor, process, Pid, Reason} -> error(Reason)
    end.
