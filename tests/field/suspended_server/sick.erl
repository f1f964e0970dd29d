%% A server was suspended by hand (sys:suspend/1) and never resumed: 200 clients wait for it.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, Pid} = gen_server:start({local, billing}, ?MODULE, [], []),
    ok = sys:suspend(Pid),
    [spawn(fun() -> gen_server:call(billing, bill, infinity) end) || _ <- lists:seq(1, 200)],
    timer:sleep(200),
    ok.

init(S) -> {ok, S}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
