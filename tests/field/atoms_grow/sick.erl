%% An atom for each request, 400 a second: at the limit in an hour.
-module(sick).
-export([start/0]).

start() ->
    spawn(fun() -> requests(1) end),
    timer:sleep(200),
    ok.

requests(N) ->
    [list_to_atom("request_" ++ integer_to_list(4 * N + K)) || K <- lists:seq(0, 3)],
    timer:sleep(9),
    requests(N + 1).
