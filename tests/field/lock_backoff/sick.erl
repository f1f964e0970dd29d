%% Each of 24 writers takes the same lock of global for each write, for 2 ms: nobody keeps it, and most of them sleep until they try again.
-module(sick).
-export([start/0, writes/1]).

start() ->
    _ = [spawn(?MODULE, writes, [N]) || N <- lists:seq(1, 24)],
    timer:sleep(5000),
    ok.

writes(N) ->
    global:trans({ledger_left, {self(), N}}, fun() -> timer:sleep(2) end, [node()]),
    writes(N).
