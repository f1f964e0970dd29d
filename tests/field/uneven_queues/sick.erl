%% 300 workers are bound to the first scheduler, as long work in native code binds them: its queue is long, and the other's is empty.
-module(sick).
-export([start/0, works/1]).

start() ->
    _ = [spawn_opt(?MODULE, works, [0], [{scheduler, 1}]) || _ <- lists:seq(1, 300)],
    ok.

works(N) -> works(N + 1).
