%% A cache of 60 MB in a table that has a bound: what comes takes the place of what was there, and it is read all the time.
-module(sick).
-export([start/0, reads/1]).

start() ->
    Self = self(),
    spawn(fun() ->
                  cache = ets:new(cache, [named_table, public, {read_concurrency, true}, {write_concurrency, true}]),
                  _ = [put(N) || N <- lists:seq(1, 100_000)],
                  Self ! made,
                  erlang:hibernate(timer, sleep, [infinity])
          end),
    receive made -> ok end,
    _ = [spawn(?MODULE, reads, [N]) || N <- lists:seq(1, 20)],
    ok.

put(N) -> ets:insert(cache, {N rem 100_000, lists:seq(1, 30), <<"an entry of some length">>}).

reads(N) ->
    _ = [ets:lookup(cache, (N + K * 7919) rem 100_000) || K <- lists:seq(1, 200)],
    put(N),
    timer:sleep(10),
    reads(N + 1).
