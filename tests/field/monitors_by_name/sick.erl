%% A consumer calls a cache by its name, with an alias that takes the answer and would remove the monitor. The cache answers to the
%% process instead, so each call leaves a monitor: 300,000 by name.
-module(sick).
-export([start/0, cache/0, consumer/1]).

start() ->
    register(query_cache, spawn(?MODULE, cache, [])),
    register(row_consumer, spawn(?MODULE, consumer, [self()])),
    receive prepared -> ok end.

cache() ->
    receive
        {prepare, _Alias, Client, Query} ->
            Client ! {prepared, erlang:phash2(Query)},
            cache()
    end.

consumer(Starter) ->
    _ = [prepare() || _ <- lists:seq(1, 300_000)],
    true = erlang:garbage_collect(),
    Starter ! prepared,
    consume().

consume() ->
    _ = [prepare() || _ <- lists:seq(1, 20)],
    timer:sleep(20),
    consume().

prepare() ->
    Alias = monitor(process, query_cache, [{alias, reply_demonitor}]),
    query_cache ! {prepare, Alias, self(), <<"select * from orders">>},
    receive {prepared, Id} -> Id end.
