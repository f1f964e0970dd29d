%% A server hibernates after each message, and its 30 MB are collected and copied for each.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, dns_server}, ?MODULE, [], []),
    spawn(fun Asks() -> gen_server:cast(dns_server, refresh), timer:sleep(100), Asks() end),
    ok.

init([]) -> {ok, [{zone, N, [N, N + 1, N + 2]} || N <- lists:seq(1, 300_000)], hibernate}.
handle_call(_, _, Zones) -> {reply, ok, Zones, hibernate}.
handle_cast(refresh, Zones) -> {noreply, Zones, hibernate}.
