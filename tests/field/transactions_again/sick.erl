%% Each request reads a row of mnesia and then writes it, so two at a time hold each other up, and one begins again.
-module(sick).
-export([start/0, asks/0]).

start() ->
    ok = application:set_env(mnesia, schema_location, ram),
    ok = mnesia:start(),
    {atomic, ok} = mnesia:create_table(stock, []),
    ok = mnesia:dirty_write({stock, all, 0}),
    _ = [spawn(?MODULE, asks, []) || _ <- lists:seq(1, 100)],
    timer:sleep(500),
    ok.

asks() ->
    {atomic, ok} = mnesia:transaction(fun takes_one/0),
    timer:sleep(50),
    asks().

takes_one() ->
    [{stock, all, Count}] = mnesia:read(stock, all),
    _ = lists:foldl(fun(N, Hash) -> erlang:phash2({N, Hash}) end, 0, lists:seq(1, 1000)),
    mnesia:write({stock, all, Count + 1}).
