%% 700 probes of metrics were started with min_heap_size 40000, as one that worked much once: 220 MB, of which hardly anything is used.
-module(sick).
-export([start/0, probe/0]).

start() ->
    _ = [spawn_opt(?MODULE, probe, [], [{min_heap_size, 40_000}]) || _ <- lists:seq(1, 700)],
    timer:sleep(200),
    ok.

probe() -> receive sample -> probe() end.
