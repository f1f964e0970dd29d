%% Healthy: a roll-up of priority low uses what the requests leave over.
-module(sick).
-export([start/0, rollup/0, request/0, listener/0]).

start() ->
    register(rollup, spawn_opt(?MODULE, rollup, [], [{priority, low}])),
    register(listener, spawn(?MODULE, listener, [])),
    ok.

rollup() ->
    _ = totals(lists:seq(1, 500), #{}),
    rollup().

totals([], Totals) -> Totals;
totals([Account | Accounts], Totals) -> totals(Accounts, maps:update_with(Account rem 97, fun(Sum) -> Sum + Account end, Account, Totals)).

listener() ->
    _ = spawn(?MODULE, request, []),
    timer:sleep(10),
    listener().

request() -> lists:sort([rand:uniform(100) || _ <- lists:seq(1, 60)]).
