%% A monitor counts the open orders by the status of their server, time and again, and drops the answer.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, counts/0]).

start() ->
    {ok, _} = gen_server:start({local, orders}, ?MODULE, [], []),
    register(order_monitor, spawn(?MODULE, counts, [])),
    ok.

init([]) -> {ok, [{order, N, open, [N, N + 1, N + 2]} || N <- lists:seq(1, 200_000)]}.

handle_call(_, _, Orders) -> {reply, ok, Orders}.

handle_cast(_, Orders) -> {noreply, Orders}.

counts() ->
    {status, _, _, [_, _, _, _, Misc]} = sys:get_status(orders, infinity),
    true = length(Misc) > 0,
    timer:sleep(50),
    counts().
