%% A rate is kept for 20 ms. Whoever misses it computes it anew, and that takes longer than it is kept: so all do, all the
%% time, and none finds it.
-module(sick).
-export([start/0, checkout/0]).

start() ->
    spawn(fun() ->
                  rates = ets:new(rates, [named_table, public]),
                  receive stop -> ok end
          end),
    timer:sleep(100),
    _ = [spawn(?MODULE, checkout, []) || _ <- lists:seq(1, 60 * erlang:system_info(schedulers_online))],
    timer:sleep(1000),
    ok.

checkout() ->
    Price = rate(eur) * 20,
    checkout(Price).

checkout(Price) when Price > 0 ->
    timer:sleep(5),
    checkout().

rate(Currency) ->
    Now = erlang:monotonic_time(millisecond),
    case ets:lookup(rates, Currency) of
        [{_, Rate, Until}] when Until > Now -> Rate;
        _ ->
            Rate = average(Currency),
            true = ets:insert(rates, {Currency, Rate, erlang:monotonic_time(millisecond) + 20}),
            Rate
    end.

%% Of the trades of a day.
average(Currency) -> weigh(Currency, 5_000_000, 0, 0).

weigh(_, 0, Sum, Weights) -> Sum div Weights;
weigh(Currency, Trade, Sum, Weights) ->
    Weight = 1 + Trade rem 7,
    weigh(Currency, Trade - 1, Sum + Weight * (1 + Trade rem 100), Weights + Weight).
