%% Somebody looked at a function with dbg, and left: each call of it by any process is told to a tracer, which nobody reads.
-module(sick).
-export([start/0, serves/0, work/1]).

start() ->
    [spawn(?MODULE, serves, []) || _ <- lists:seq(1, 30)],
    {ok, _} = dbg:tracer(process, {fun(_, Count) -> Count + 1 end, 0}),
    {ok, _} = dbg:p(all, [call, timestamp]),
    {ok, _} = dbg:tpl(?MODULE, work, 1, []),
    ok.

serves() ->
    ok = work(10),
    timer:sleep(5),
    serves().

work(0) -> ok;
work(N) -> work(N - 1).
