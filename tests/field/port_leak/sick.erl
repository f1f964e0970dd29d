%% A client opens a socket for each request, and its answer is never read to the end: none is closed.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, http_manager}, ?MODULE, [], []),
    ok.

init([]) ->
    {ok, [begin {ok, Socket} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}]), Socket end || _ <- lists:seq(1, 960)]}.

handle_call(_, _, Sockets) -> {reply, ok, Sockets}.
handle_cast(_, Sockets) -> {noreply, Sockets}.
