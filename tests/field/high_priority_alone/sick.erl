%% The only scheduler works nine tenths of the time for a process of priority high. Whoever looks runs while it rests.
-module(sick).
-export([start/0, ticker/0, quotes/0]).

start() ->
    _ = [spawn(?MODULE, quotes, []) || _ <- lists:seq(1, 20)],
    register(ticker, spawn_opt(?MODULE, ticker, [], [{priority, high}])),
    ok.

ticker() ->
    _ = recompute(erlang:monotonic_time(millisecond) + 180, 1),
    timer:sleep(20),
    ticker().

recompute(Until, Price) ->
    case erlang:monotonic_time(millisecond) < Until of
        true -> recompute(Until, folded(500, Price));
        false -> Price
    end.

folded(0, Price) -> Price;
folded(N, Price) -> folded(N - 1, N * Price rem 99_991 + 1).

quotes() ->
    _ = lists:sort([rand:uniform(1000) || _ <- lists:seq(1, 100)]),
    timer:sleep(20),
    quotes().
