%% The node was given 64 schedulers, for a machine that it no longer runs on; and processes that hardly do anything.
-module(sick).
-export([start/0, ticks/0]).

start() ->
    _ = [spawn(?MODULE, ticks, []) || _ <- lists:seq(1, 100)],
    timer:sleep(200),
    ok.

ticks() ->
    timer:sleep(100),
    ticks().
