%% A process keeps a table fixed and never releases it: the rows that come and go, with their binaries, stay in memory.
-module(sick).
-export([start/0, keeps/1, serves/1]).

start() ->
    Starter = self(),
    spawn(?MODULE, keeps, [Starter]),
    receive ready -> ok end,
    _ = [spawn(?MODULE, serves, [N]) || N <- lists:seq(1, 10)],
    timer:sleep(2000),
    ok.

keeps(Starter) ->
    carts = ets:new(carts, [named_table, public]),
    true = ets:safe_fixtable(carts, true),
    _ = [ordered({seen, N}) || N <- lists:seq(1, 80_000)],
    Starter ! ready,
    receive never -> ok end.

serves(N) ->
    ordered({N, erlang:unique_integer()}),
    timer:sleep(5),
    serves(N).

ordered(Key) ->
    true = ets:insert(carts, {Key, lists:seq(1, 8), binary:copy(<<"x">>, 300)}),
    true = ets:delete(carts, Key).
