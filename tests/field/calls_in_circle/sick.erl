%% Two servers that have called each other, and 12 processes that call one of them.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, reads/0]).

start() ->
    {ok, Ring} = gen_server:start({local, ring}, ?MODULE, members, []),
    {ok, Members} = gen_server:start({local, members}, ?MODULE, ring, []),
    _ = [gen_server:cast(Server, ask) || Server <- [Ring, Members]],
    timer:sleep(200),
    _ = [spawn(?MODULE, reads, []) || _ <- lists:seq(1, 12)],
    ok.

reads() -> gen_server:call(ring, get, infinity).

init(Other) -> {ok, Other}.
handle_call(get, _, Other) -> {reply, ok, Other}.
handle_cast(ask, Other) ->
    timer:sleep(100),
    ok = gen_server:call(Other, get, infinity),
    {noreply, Other}.
