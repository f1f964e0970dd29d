%% 200 shards, each with a table of its own of 1.5 MB: no single one is large, and they are all of the node's memory.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    [{ok, _} = gen_server:start(?MODULE, N, []) || N <- lists:seq(1, 200)],
    ok.

init(N) ->
    Table = ets:new(shard_index, [set, public]),
    ets:insert(Table, [{{N, K}, {K, K, K, K}} || K <- lists:seq(1, 10_000)]),
    erlang:garbage_collect(),
    {ok, Table}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
