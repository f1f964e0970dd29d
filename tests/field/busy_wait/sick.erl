%% A node with little to do, whose schedulers turn while they wait: it uses the processors that the other containers pay for.
-module(sick).
-export([start/0]).

start() ->
    _ = [spawn(fun Ticks() -> timer:sleep(2), Ticks() end) || _ <- lists:seq(1, 20)],
    ok.
