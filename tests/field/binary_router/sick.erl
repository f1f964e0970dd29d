%% A router takes a batch of large lines, counts them, and forgets them: but it is never collected afterwards, and holds them all.
-module(sick).
-export([start/0, routes/1]).

start() ->
    register(log_router, Router = spawn(?MODULE, routes, [[]])),
    Sink = spawn(fun Sink() -> receive _ -> Sink() end end),
    _ = [Router ! {line, binary:copy(<<N:32>>, 25_000)} || N <- lists:seq(1, 700)],
    Router ! {flush, Sink},
    timer:sleep(500),
    true = garbage_collect(),
    ok.

routes(Lines) ->
    receive
        {line, Line} -> routes([Line | Lines]);
        {flush, Sink} -> Sink ! length(Lines), routes([])
    end.
