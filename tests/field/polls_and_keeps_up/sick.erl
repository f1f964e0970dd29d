%% The loop of a game looks for moves without waiting, and computes. It keeps up with the moves, and has a large state.
-module(sick).
-export([start/0]).

start() ->
    true = register(game, spawn(fun() -> loop(maps:from_list([{N, {N, [N]}} || N <- lists:seq(1, 40_000)]), 0) end)),
    _ = spawn(fun plays/0),
    ok.

plays() ->
    _ = [game ! {move, N} || N <- lists:seq(1, 5)],
    timer:sleep(4),
    plays().

loop(State, Turn) ->
    receive
        {move, N} -> loop(State#{N := {Turn, [N]}}, Turn + 1)
    after 0 ->
        _ = tick(50),
        loop(State, Turn)
    end.

tick(0) -> 0;
tick(N) -> N band 3 + tick(N - 1).
