%% 980 sockets of 1,024 files that the system permits; the VM itself would permit 65,536 ports.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, http_client}, ?MODULE, [], []),
    ok.

init([]) -> {ok, [begin {ok, S} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}]), S end || _ <- lists:seq(1, 940)]}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
