%% @doc Pure work on all cores.
-module(ertslab_parallel).

-export([map/4]).

%% @doc The results of the function for each item, in the order of the items. The given number
%% of workers run at a time. Each item has a process of its own, so that its garbage goes
%% with it. The last function is told how many items are done, and of how many. A worker
%% that crashes ends the caller with the same error.
-spec map(fun((Item) -> Result), [Item], pos_integer(),
          fun((pos_integer(), pos_integer()) -> _)) -> [Result].
map(Fun, Items, Workers, Progress) ->
    Total = length(Items),
    {First, Waiting} = lists:split(min(Workers, Total), lists:enumerate(Items)),
    Start = fun({Index, Item}) -> {monitored(Fun, Item), Index} end,
    Report = fun(Done) -> Progress(Done, Total) end,
    Running = maps:from_list(lists:map(Start, First)),
    [Result || {_, Result} <- lists:keysort(1, collect(Start, Report, Running, Waiting, []))].

%% The worker returns its result as exit reason, so dialyzer must not report 'no local return'.
-dialyzer({nowarn_function, monitored/2}).
monitored(Fun, Item) ->
    {_, Monitor} = spawn_monitor(fun() -> exit({done, Fun(Item)}) end),
    Monitor.

collect(_Start, _Report, Running, [], Results) when map_size(Running) =:= 0 -> Results;
collect(Start, Report, Running, Waiting, Results) ->
    receive
        {'DOWN', Monitor, process, _, Reason} when is_map_key(Monitor, Running) ->
            {Index, Others} = maps:take(Monitor, Running),
            Done = [{Index, result(Reason)} | Results],
            _ = Report(length(Done)),
            {Next, Left} = lists:split(min(1, length(Waiting)), Waiting),
            collect(Start, Report, maps:merge(Others, maps:from_list(lists:map(Start, Next))),
                    Left, Done)
    end.

result({done, Result}) -> Result;
result(Reason) -> error(Reason).
