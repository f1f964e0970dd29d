%% Sessions with some hundred kilobytes of state make as much garbage for each request: their heaps are mapped and unmapped.
-module(sick).
-export([start/0, session/1]).

start() ->
    _ = [spawn(?MODULE, session, [lists:seq(1, 15_000 + 2000 * N)]) || N <- lists:seq(1, 4)],
    timer:sleep(1000),
    ok.

session(Items) ->
    Numbers = lists:seq(1, 10 * length(Items)),
    1 = hd(Numbers),
    timer:sleep(1),
    session(Items).
