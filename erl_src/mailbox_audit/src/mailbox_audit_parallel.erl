%% @doc Work on all cores, a process an item, so that its garbage goes with it.
-module(mailbox_audit_parallel).

-export([map/3]).

%% @doc The results of the function for each item, in their order. As many work
%% at a time as there are schedulers. The last function is told how many are
%% done, and of how many. A worker that crashes ends the caller with its reason.
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
    {_, Monitor} = spawn_monitor(fun() -> exit({done, Fun(Item)}) end),
    {Monitor, Index}.

collect(_Fun, _Report, Running, [], Results) when map_size(Running) =:= 0 -> Results;
collect(Fun, Report, Running, Waiting, Results) ->
    receive
        {'DOWN', Monitor, process, _, Reason} when is_map_key(Monitor, Running) ->
            {Index, Others} = maps:take(Monitor, Running),
            Done = [{Index, result(Reason)} | Results],
            _ = Report(length(Done)),
            {Next, Left} = lists:split(min(1, length(Waiting)), Waiting),
            collect(Fun, Report, maps:merge(Others, maps:from_list([start(Fun, I) || I <- Next])),
                    Left, Done)
    end.

result({done, Result}) -> Result;
result(Reason) -> error(Reason).
