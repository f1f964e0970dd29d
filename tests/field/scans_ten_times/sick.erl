%% A page of figures looks for the rows of two owners twenty times a second or more, by a pattern without the key.
-module(sick).
-export([start/0, counts/1]).

start() ->
    Self = self(),
    spawn(fun() ->
                  sessions = ets:new(sessions, [named_table, public, {read_concurrency, true}]),
                  true = ets:insert(sessions, [{N, N rem 1000, open} || N <- lists:seq(1, 100_000)]),
                  Self ! made,
                  erlang:hibernate(timer, sleep, [infinity])
          end),
    receive made -> ok end,
    true = register(metrics_page, spawn(?MODULE, counts, [1])),
    timer:sleep(1500),
    ok.

counts(N) ->
    _ = ets:match(sessions, {'$1', N rem 1000, '_'}),
    _ = ets:match(sessions, {'$1', (N + 1) rem 1000, '_'}),
    timer:sleep(20),
    counts(N + 1).
