%% @doc Work on all cores, a process an item, so that its garbage goes with it.
-module(mailbox_audit_parallel).

-export([map/3]).

%% @doc The results of the function for each item, in their order. As many work
%% at a time as there are schedulers. The last function is told how many are
%% done, and of how many. A worker that crashes ends the caller with its reason.
%% If that, or what the last function raises, is caught, the other workers have
%% ended and have left no message.
-spec map(fun((Item) -> Result), [Item], fun((pos_integer(), pos_integer()) -> _)) -> [Result].
map(Fun, Items, Progress) ->
    {First, Waiting} = lists:split(min(erlang:system_info(schedulers_online), length(Items)),
                                   lists:enumerate(Items)),
    Running = maps:from_list([start(Fun, Item) || Item <- First]),
    Report = fun(Done) -> Progress(Done, length(Items)) end,
    [Result || {_, Result} <- lists:keysort(1, collect(Fun, Report, Running, Waiting, []))].

%% The process returns its result as exit reason, so dialyzer must not report 'no local return'.
-dialyzer({nowarn_function, start/2}).
start(Fun, {Index, Item}) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({done, Fun(Item)}) end),
    {Monitor, {Pid, Index}}.

collect(_Fun, _Report, Running, [], Results) when map_size(Running) =:= 0 -> Results;
collect(Fun, Report, Running, Waiting, Results) ->
    receive
        {'DOWN', Monitor, process, _, Reason} when is_map_key(Monitor, Running) ->
            {{_, Index}, Others} = maps:take(Monitor, Running),
            Done = or_ended(fun() -> [{Index, result(Reason)} | Results] end, Others),
            _ = or_ended(fun() -> Report(length(Done)) end, Others),
            {Next, Left} = lists:split(min(1, length(Waiting)), Waiting),
            collect(Fun, Report, maps:merge(Others, maps:from_list([start(Fun, I) || I <- Next])),
                    Left, Done)
    end.

%% What the function returns. If it raises, the workers end.
or_ended(Fun, Running) ->
    try Fun()
    catch
        Class:Reason:Stack ->
            _ = [exit(Pid, kill) andalso demonitor(Monitor, [flush]) || {Monitor, {Pid, _}} <- maps:to_list(Running)],
            erlang:raise(Class, Reason, Stack)
    end.

result({done, Result}) -> Result;
result(Reason) -> error(Reason).
