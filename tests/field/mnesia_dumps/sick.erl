%% Sessions are written to a table with a copy on disc, faster than mnesia's log is dumped.
-module(sick).
-export([start/0, writes/1]).

start() ->
    application:set_env(mnesia, dir, "sessions"),
    application:set_env(mnesia, dump_log_write_threshold, 500),
    application:start(sasl),
    ok = mnesia:create_schema([node()]),
    ok = mnesia:start(),
    {atomic, ok} = mnesia:create_table(session, [{disc_copies, [node()]}]),
    _ = [spawn(?MODULE, writes, [N]) || N <- [1, 2]],
    timer:sleep(1000),
    ok.

writes(N) ->
    _ = [mnesia:dirty_write({session, (N + M) rem 10_000, {self(), N, binary:copy(<<"x">>, 500)}}) || M <- lists:seq(1, 100)],
    timer:sleep(10),
    writes(N + 100).
