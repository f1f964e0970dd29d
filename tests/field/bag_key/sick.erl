%% All users that are online are rows of one key of a bag, and each one that comes or goes is compared with all others.
-module(sick).
-export([start/0, owns/1, comes_and_goes/1]).

start() ->
    Starter = self(),
    spawn(?MODULE, owns, [Starter]),
    receive ready -> ok end,
    _ = [spawn(?MODULE, comes_and_goes, [N]) || N <- lists:seq(1, 3)],
    ok.

owns(Starter) ->
    subscribers = ets:new(subscribers, [bag, named_table, public]),
    true = ets:insert(subscribers, [{news, {user, N}} || N <- lists:seq(1, 15_000)]),
    true = ets:insert(subscribers, [{{room, N}, {user, N}} || N <- lists:seq(1, 5_000)]),
    Starter ! ready,
    receive never -> ok end.

comes_and_goes(N) ->
    Row = {news, {user, {N, erlang:unique_integer()}}},
    true = ets:insert(subscribers, Row),
    timer:sleep(3),
    true = ets:delete_object(subscribers, Row),
    comes_and_goes(N).
