%% A server that has read 30 MB of prices, has collected what reading them left, and waits to be asked.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_continue/2, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, price_list}, ?MODULE, [], []),
    30 = gen_server:call(price_list, {price, 30}),
    ok.

init([]) -> {ok, none, {continue, read}}.
handle_continue(read, none) ->
    Prices = maps:from_list([{N, {price, N, [N, N]}} || N <- lists:seq(1, 250_000)]),
    true = erlang:garbage_collect(),
    {noreply, Prices}.
handle_call({price, N}, _, Prices) -> {reply, element(2, maps:get(N, Prices)), Prices}.
handle_cast(_, Prices) -> {noreply, Prices}.
