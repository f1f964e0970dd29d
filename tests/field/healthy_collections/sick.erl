%% Much is collected, and for good reason: a parser makes documents of which little outlives it, workers begin as large as their work
%% needs, a
%% broker buffers binaries and has room for them, a router passes on what comes, a small server sweeps all at each collection, and a cache
%% changes a part of what it has.
-module(sick).
-export([start/0, parses/0, listens/0, request/1, buffers/2, fills/1, routes/1, drops/0, small/1, caches/1]).

start() ->
    spawn(?MODULE, parses, []),
    spawn(?MODULE, listens, []),
    Broker = spawn_opt(?MODULE, buffers, [0, []], [{min_bin_vheap_size, 8_000_000}, {min_heap_size, 233}]),
    spawn(?MODULE, fills, [Broker]),
    Router = spawn(?MODULE, routes, [spawn(?MODULE, drops, [])]),
    spawn(?MODULE, fills, [Router]),
    spawn_opt(?MODULE, small, [lists:seq(1, 100)], [{fullsweep_after, 0}]),
    spawn(?MODULE, caches, [maps:from_list([{N, {item, N, [N]}} || N <- lists:seq(1, 50_000)])]),
    ok.

%% A list of 4,000 tuples, of which the sum is left: its heap has no carrier of its own.
parses() ->
    _ = lists:sum([N || {N, _} <- [{I, [I]} || I <- lists:seq(1, 4000)]]),
    timer:sleep(2),
    parses().

listens() ->
    {_, Monitor} = spawn_opt(?MODULE, request, [1], [monitor, {min_heap_size, 30_000}]),
    receive {'DOWN', Monitor, process, _, _} -> timer:sleep(2), listens() end.

request(N) -> exit({shutdown, length([{row, I, [I, N]} || I <- lists:seq(1, 2000)])}).

buffers(1000, _) -> buffers(0, []);
buffers(Count, Held) ->
    receive
        {binary, Binary} -> buffers(Count + 1, [Binary | Held]);
        {more, From} -> From ! more, buffers(Count, Held)
    end.

fills(To) ->
    [To ! {binary, binary:copy(<<N:32>>, 1000)} || N <- lists:seq(1, 30)],
    To ! {more, self()},
    receive more -> timer:sleep(2), fills(To) end.

routes(Sink) ->
    receive
        {binary, Binary} -> Sink ! {binary, Binary}, routes(Sink);
        {more, From} -> From ! more, routes(Sink)
    end.

drops() -> receive _ -> drops() end.

small(State) ->
    _ = [{N} || N <- State],
    erlang:yield(),
    timer:sleep(1),
    small(State).

caches(Items) ->
    New = lists:foldl(fun(_, All) -> N = rand:uniform(50_000), All#{N := {item, N, [N]}} end, Items, lists:seq(1, 100)),
    timer:sleep(2),
    caches(New).
