%% 40,000 processes that wait for what does not come, and 400 more each second, on a node that may have a million.
-module(sick).
-export([start/0, subscribes/0, waits/1]).

start() ->
    _ = [spawn(?MODULE, waits, [N]) || N <- lists:seq(1, 40_000)],
    spawn(?MODULE, subscribes, []),
    ok.

subscribes() ->
    _ = [spawn(?MODULE, waits, [N]) || N <- lists:seq(1, 20)],
    timer:sleep(50),
    subscribes().

waits(N) -> receive {done, N} -> ok end.
