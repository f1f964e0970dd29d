%% A process makes calls of native code that hold a scheduler for 30 ms and more: what waits behind it waits as long.
-module(sick).
-export([start/0, encrypts/0]).

start() ->
    {ok, _} = application:ensure_all_started(crypto),
    register(key_server, spawn(?MODULE, encrypts, [])),
    timer:sleep(300),
    ok.

encrypts() ->
    _ = crypto:strong_rand_bytes(60_000_000),
    true = erlang:bump_reductions(4000),
    encrypts().
