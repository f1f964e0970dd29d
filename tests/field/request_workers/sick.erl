%% A listener starts a process for each request. Each reads 8,000 rows, so that its heap grows through the same sizes, and ends.
-module(sick).
-export([start/0, listens/0, request/1, connection/0]).

start() ->
    true = register(listener, spawn(?MODULE, listens, [])),
    [spawn(?MODULE, connection, []) || _ <- lists:seq(1, 200)],
    ok.

listens() ->
    _ = [spawn_monitor(?MODULE, request, [N]) || N <- [1, 2]],
    [receive {'DOWN', _, process, _, _} -> ok end || _ <- [1, 2]],
    listens().

request(N) ->
    Rows = [{row, I, [I, N]} || I <- lists:seq(1, 8000)],
    exit({shutdown, length(Rows)}).

connection() -> timer:sleep(1000), connection().
