%% Each of 20 rooms lists all who are present, six to fifteen times a second.
-module(sick).
-export([start/0, named_room/1, room/1]).

start() ->
    Self = self(),
    spawn(fun() ->
                  presences = ets:new(presences, [named_table, public, {read_concurrency, true}]),
                  true = ets:insert(presences, [{N, N rem 1000, here} || N <- lists:seq(1, 50_000)]),
                  Self ! made,
                  erlang:hibernate(timer, sleep, [infinity])
          end),
    receive made -> ok end,
    _ = [spawn(?MODULE, named_room, [N]) || N <- lists:seq(1, 20)],
    timer:sleep(1500),
    ok.

named_room(N) ->
    true = register(list_to_atom("room_" ++ integer_to_list(N)), self()),
    room(N).

room(N) ->
    _ = ets:select(presences, [{{'$1', N, '_'}, [], ['$1']}]),
    timer:sleep(60 + 5 * N),
    room(N).
