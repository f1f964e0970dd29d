%% Each of 40 rooms lists all who are present, twice a second.
-module(sick).
-export([start/0, room/1]).

start() ->
    Self = self(),
    spawn(fun() ->
                  presences = ets:new(presences, [named_table, public, {read_concurrency, true}]),
                  true = ets:insert(presences, [{N, N rem 1000, here} || N <- lists:seq(1, 50_000)]),
                  Self ! made,
                  erlang:hibernate(timer, sleep, [infinity])
          end),
    receive made -> ok end,
    _ = [spawn(?MODULE, room, [N]) || N <- lists:seq(1, 40)],
    timer:sleep(1500),
    ok.

room(N) ->
    _ = ets:select(presences, [{{'$1', N, '_'}, [], ['$1']}]),
    timer:sleep(400 + 5 * N),
    room(N).
