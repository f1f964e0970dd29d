%% A server with a state of 100 MB was told to sweep all at each collection, to save memory; each one copies the whole state.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, asks/0]).

start() ->
    {ok, _} = gen_server:start({local, packet_router}, ?MODULE, [], [{spawn_opt, [{fullsweep_after, 0}]}]),
    spawn(?MODULE, asks, []),
    ok.

asks() -> _ = gen_server:call(packet_router, {route, rand:uniform(800_000)}, infinity), asks().

init([]) -> {ok, maps:from_list([{N, {route, N, [N, N + 1, N + 2]}} || N <- lists:seq(1, 800_000)])}.
handle_call({route, N}, _, Routes) ->
    {reply, [{Route, Hop} || Hop <- lists:seq(1, 2000), Route <- [maps:get(N, Routes)]], Routes#{N := {route, N, [1, 2, 3]}}}.
handle_cast(_, Routes) -> {noreply, Routes}.
