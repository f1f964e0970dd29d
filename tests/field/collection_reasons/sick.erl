%% Four processes are collected for four reasons, beside 50,000 healthy ones. Each rests after some pieces of work, as one that is
%% handed messages does: on average after four, so that they collect for much of the time on a fast machine, too.
-module(sick).
-export([start/0, routes/1, queue_index/2, consumer/2, listener/0, request/1, session/0]).

start() ->
    [spawn(?MODULE, session, []) || _ <- lists:seq(1, 50_000)],
    Routes = maps:from_list([{N, {route, N, [N, N + 1, N + 2]}} || N <- lists:seq(1, 40_000)]),
    Index = maps:from_list([{N, {on_disk, N, [N]}} || N <- lists:seq(1, 200_000)]),
    register(routes, spawn_opt(?MODULE, routes, [Routes], [{fullsweep_after, 1}])),
    register(queue_index, spawn(?MODULE, queue_index, [erlang:make_tuple(4, none), Index])),
    register(consumer, spawn_opt(?MODULE, consumer, [queue:from_list(lists:duplicate(800, none)), 1], [{min_bin_vheap_size, 32_000_000},
                                                                                                         {min_heap_size, 233}])),
    register(listener, spawn(?MODULE, listener, [])),
    timer:sleep(1000),
    ok.

%% It was told to sweep all at each second collection, and none of its routes dies: needless_full_sweeps.
routes(Routes) ->
    Hops = [{maps:get(N, Routes), Hop} || N <- lists:seq(1, 20), Hop <- lists:seq(1, 500)],
    10_000 = length(Hops),
    rests(),
    routes(Routes).

%% Four messages of 64 kB are on their way, and are acknowledged in any order, so that some get old. The VM counts their bytes, and
%% has a few of them sweep an index of 200,000: binary_pressure.
queue_index(OnTheirWay, Index) ->
    Next = lists:foldl(fun(_, Now) -> setelement(rand:uniform(4), Now, binary:copy(<<1>>, 65_536)) end, OnTheirWay, lists:seq(1, 20)),
    #{1 := {on_disk, 1, _}} = Index,
    rests(),
    queue_index(Next, Index).

%% It has 800 messages that were not acknowledged yet, and much room for binaries. So its small heap has it collected, which copies
%% binaries to the old generation that are acknowledged soon after: promoted_garbage.
consumer(Unacknowledged, N) when N rem 200 =:= 0 -> timer:sleep(1), consumer(Unacknowledged, N + 1);
consumer(Unacknowledged, N) ->
    {_, Rest} = queue:out(Unacknowledged),
    consumer(queue:in(binary:copy(<<N:32>>, 10_000), Rest), N + 1).

%% It starts a process for each request, whose heap grows through the same sizes: small_start.
listener() ->
    {_, Monitor} = spawn_monitor(?MODULE, request, [1]),
    receive {'DOWN', Monitor, process, _, _} -> rests(), listener() end.

request(N) ->
    Rows = [{row, I, [I, N]} || I <- lists:seq(1, 8000)],
    exit({shutdown, length(Rows)}).

rests() -> rand:uniform(4) =:= 1 andalso timer:sleep(1).

session() -> receive stop -> ok end.
