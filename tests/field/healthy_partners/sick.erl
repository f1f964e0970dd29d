%% 1,200 sessions, of which each waits in a call for an event of its own device: nobody waits for what others wait for.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, session/0]).

start() ->
    _ = [spawn(?MODULE, session, []) || _ <- lists:seq(1, 1200)],
    timer:sleep(500),
    ok.

session() ->
    {ok, Device} = gen_server:start_link(?MODULE, [], []),
    gen_server:call(Device, next_event, infinity).

init([]) -> {ok, none}.
handle_call(next_event, From, none) -> {noreply, From}.
handle_cast(_, State) -> {noreply, State}.
