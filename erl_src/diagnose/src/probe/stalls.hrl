%%% How long callers wait for a server that has much to do: whether the same call of each is not answered yet, time and again.

-define(STALL_LOOK_MS, 50).
%% So many servers are watched, and so many callers of each.
-define(STALL_SERVERS, 20).
-define(STALL_CALLERS, 30).
%% Shorter ones are not told of.
-define(STALL_MS, 100).

%% @doc For which of these processes some callers wait, at how many looks until then, and for how long some of them waited in the same call
%% at most; with what the process was in meanwhile, and where one of the callers called it.
-spec stalls([pid()], integer()) -> [diagnose_types:stall()].
stalls(Pids, Until) ->
    Began = now_ms(),
    Watched = maps:from_list([{Pid, #{since => none, callers => [], now => [], looks => 0, longest => 0, stack => [], few => 0, from => none}}
                              || Pid <- lists:sublist(Pids, ?STALL_SERVERS)]),
    {Looks, Seen} = stalls_until(Until, control(), 0, Watched),
    [#{pid => pid_text(Pid), name => registered_as(Pid), label => labelled_apart(Pid), ms => max(1, now_ms() - Began),
       looks => Looks, waiting => Times, longest_ms => Longest, callers => Few, samples => alike(Stack), from => From}
     || {Pid, #{looks := Times, longest := Longest, few := Few, stack := Stack, from := From}} <- maps:to_list(Seen), Longest >= ?STALL_MS].

stalls_until(Until, {Control, _} = Asked, Looks, Watched) ->
    Did = lists:sum(done(Control)),
    Now = maps:map(fun(Pid, One) -> stall(Pid, Did, One) end, Watched),
    wait(?STALL_LOOK_MS),
    case now_ms() < Until of
        true -> stalls_until(Until, Asked, Looks + 1, Now);
        false ->
            _ = control_did(Asked),
            {Looks + 1, Now}
    end.

stall(Pid, Did, One) ->
    case depth(Pid) of
        Depth when is_integer(Depth), Depth >= ?STALLED, Depth < ?DEEP -> stalled(Pid, Did, One);
        _ -> One#{since := none}
    end.

%% Who was answered and has called again has done some reductions more than to be asked as often.
stalled(Pid, Did, #{since := none} = One) -> stall_begins(Pid, Did, One);
stalled(Pid, Did, #{since := {At, Before}, callers := Callers, looks := Looks, now := Stack, longest := Longest} = One) ->
    Still = same_calls(Callers, Did - Before),
    Ms = now_ms() - At,
    Seen = One#{looks := Looks + 1, now := sample_of(Pid) ++ Stack},
    case length(Still) of
        Few when Few < ?STALLED -> stall_begins(Pid, Did, One);
        Few when Ms > Longest -> Seen#{longest := Ms, few := Few, stack := map_get(now, Seen), from := within_own(hd(Still))};
        _ -> Seen
    end.

stall_begins(Pid, Did, #{looks := Looks} = One) ->
    Callers = [{Caller, Done} || Caller <- lists:sublist(callers(Pid), ?STALL_CALLERS), waits_in_call(Caller), Done <- done(Caller)],
    case length(Callers) >= ?STALLED of
        true -> One#{since := {now_ms(), Did}, callers := Callers, now := sample_of(Pid), looks := Looks + 1};
        false -> One#{since := none}
    end.

sample_of(Pid) ->
    case sample(Pid) of
        {_, Status, Frames, _, _} -> [{Status, Frames}];
        ended -> []
    end.
