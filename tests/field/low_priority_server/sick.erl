%% A server was given priority low so that it disturbs nobody. Now requests wait for it, and others always have work.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, request/0, encoder/1]).

start() ->
    {ok, _} = gen_server:start({local, stock}, ?MODULE, [], [{spawn_opt, [{priority, low}]}]),
    _ = [spawn(?MODULE, request, []) || _ <- lists:seq(1, 80)],
    _ = [spawn(?MODULE, encoder, [N]) || N <- lists:seq(1, 4 * erlang:system_info(schedulers_online))],
    timer:sleep(200),
    ok.

init([]) -> {ok, lists:seq(1, 3000)}.

handle_call({how_many, Of}, _, Items) -> {reply, length([Item || Item <- Items, Item rem Of =:= 0]), Items}.

handle_cast(_, Items) -> {noreply, Items}.

request() ->
    _ = gen_server:call(stock, {how_many, 7}, infinity),
    timer:sleep(2),
    request().

encoder(N) -> encoder((N * 69_069 + 1) band 16#ffffffff).
