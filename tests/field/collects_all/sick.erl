%% Somebody has read that collections save memory, and asks all processes for one, twenty times a second or more.
-module(sick).
-export([start/0, holds/0, cron/0]).

start() ->
    _ = [spawn(?MODULE, holds, []) || _ <- lists:seq(1, 2000)],
    true = register(gc_cron, spawn(?MODULE, cron, [])),
    timer:sleep(1000),
    ok.

holds() ->
    List = lists:seq(1, 2000),
    receive stop -> List end.

cron() ->
    _ = [erlang:garbage_collect(Pid) || Pid <- processes()],
    timer:sleep(20),
    cron().
