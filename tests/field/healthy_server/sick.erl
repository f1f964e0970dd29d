%% A server that is asked as fast as it can by five callers, and does little for each: it reads a map.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, asks/0]).

start() ->
    {ok, _} = gen_server:start({local, registry}, ?MODULE, [], []),
    _ = [spawn(?MODULE, asks, []) || _ <- lists:seq(1, 5)],
    ok.

init([]) -> {ok, maps:from_list([{I, I} || I <- lists:seq(1, 50_000)])}.

handle_call({get, Key}, _, Map) -> {reply, maps:get(Key, Map), Map}.

handle_cast(_, Map) -> {noreply, Map}.

asks() ->
    _ = gen_server:call(registry, {get, rand:uniform(50_000)}, infinity),
    asks().
