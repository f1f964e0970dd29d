%% A transaction holds a write lock and waits for a service; 300 others wait for that lock.
-module(sick).
-export([start/0, holds/1, asks/1]).

start() ->
    ok = application:set_env(mnesia, schema_location, ram),
    ok = mnesia:start(),
    {atomic, ok} = mnesia:create_table(account, []),
    Starter = self(),
    spawn(?MODULE, holds, [Starter]),
    receive held -> ok end,
    _ = [spawn(?MODULE, asks, [N]) || N <- lists:seq(1, 300)],
    timer:sleep(500),
    ok.

holds(Starter) ->
    mnesia:transaction(fun() ->
                               ok = mnesia:write_lock_table(account),
                               Starter ! held,
                               receive paid -> ok end
                       end).

asks(N) -> mnesia:transaction(fun() -> mnesia:write({account, N, 0}) end).
