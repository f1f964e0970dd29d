%% A tool for debugging suspended a server (erlang:suspend_process/1), and waits for an order to resume it, which does not come.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, inspector/1, client/0]).

start() ->
    {ok, Pid} = gen_server:start({local, switchboard}, ?MODULE, [], []),
    _ = [spawn(?MODULE, client, []) || _ <- lists:seq(1, 150)],
    register(inspector, spawn(?MODULE, inspector, [Pid])),
    timer:sleep(200),
    ok.

inspector(Pid) ->
    true = erlang:suspend_process(Pid),
    receive
        continue -> erlang:resume_process(Pid)
    end.

client() ->
    _ = gen_server:call(switchboard, connect, infinity),
    timer:sleep(10),
    client().

init(State) -> {ok, State}.

handle_call(_, _, State) -> {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.
