%% A rate limiter without an interval: its server sends itself the next message in each one.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    %% Its heap is too large to be collected all the time.
    {ok, _} = gen_server:start({local, limiter}, ?MODULE, [], [{spawn_opt, [{min_heap_size, 100_000}]}]),
    ok.

init([]) ->
    self() ! ask,
    {ok, 0}.

handle_call(count, _, Asked) -> {reply, Asked, Asked}.

handle_cast(_, Asked) -> {noreply, Asked}.

handle_info(ask, Asked) ->
    self() ! ask,
    {noreply, Asked + 1}.
