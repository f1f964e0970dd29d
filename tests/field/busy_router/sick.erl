%% A router passes on ten binaries of 40 kB a second and counts them. Its heap is large for what it does, so that it is not collected for
%% long: it holds 3,000 that it has passed on.
-module(sick).
-export([start/0, router/2, source/1, sink/0]).

start() ->
    Sink = spawn(?MODULE, sink, []),
    Router = spawn_opt(?MODULE, router, [Sink, 0], [{min_heap_size, 60_000}, {min_bin_vheap_size, 100_000_000}]),
    register(drain_router, Router),
    [Router ! packet(N) || N <- lists:seq(1, 3000)],
    spawn(?MODULE, source, [Router]),
    ok.

packet(N) -> {packet, binary:copy(<<N:32>>, 10_000)}.

source(Router) ->
    Router ! packet(1),
    timer:sleep(100),
    source(Router).

router(Sink, Count) ->
    receive {packet, Packet} -> Sink ! {packet, Packet}, spins(500), router(Sink, Count + 1) end.

spins(0) -> ok;
spins(N) -> spins(N - 1).

sink() ->
    receive {packet, _} -> erlang:garbage_collect(), sink() end.
