%% The node was told to use one scheduler, on a machine with more processors, and has work for all of them.
-module(sick).
-export([start/0, sorts/0]).

start() ->
    _ = [spawn(?MODULE, sorts, []) || _ <- lists:seq(1, 40)],
    timer:sleep(200),
    ok.

sorts() ->
    _ = [lists:sort([erlang:phash2({N, self()}) || N <- lists:seq(1, 500)]) || _ <- lists:seq(1, 20)],
    timer:sleep(20),
    sorts().
