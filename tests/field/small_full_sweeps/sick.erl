%% A table of routes with 6 MB was told to sweep all at each second collection, as a process that handles large binaries should: it copies
%% all routes each time, and none of them dies.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, asks/0, asks_seldom/1]).

start() ->
    {ok, _} = gen_server:start({local, routes}, ?MODULE, routes, [{spawn_opt, [{fullsweep_after, 1}]}]),
    {ok, Other} = gen_server:start(?MODULE, other, []),
    spawn(?MODULE, asks, []),
    spawn(?MODULE, asks_seldom, [Other]),
    ok.

asks() -> _ = gen_server:call(routes, {route, rand:uniform(40_000)}, infinity), asks().
asks_seldom(Other) -> _ = gen_server:call(Other, {route, rand:uniform(40_000)}, infinity), timer:sleep(10), asks_seldom(Other).

init(_) -> {ok, maps:from_list([{N, {route, N, [N, N + 1, N + 2]}} || N <- lists:seq(1, 40_000)])}.
handle_call({route, N}, _, Routes) -> {reply, [{Route, Hop} || Hop <- lists:seq(1, 500), Route <- [maps:get(N, Routes)]], Routes}.
handle_cast(_, Routes) -> {noreply, Routes}.
