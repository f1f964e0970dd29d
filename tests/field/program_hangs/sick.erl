%% A monitor of disks asks a program that hangs, as df does at a network file system that is gone, and 150 callers wait for the monitor.
-module(sick).
-behaviour(gen_server).
-export([start/0]).
-export([init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, disk_monitor}, ?MODULE, [], []),
    _ = [spawn(fun() -> gen_server:call(disk_monitor, free, infinity) end) || _ <- lists:seq(1, 150)],
    timer:sleep(200),
    ok.

init([]) -> {ok, none}.

handle_call(free, _, State) -> {reply, os:cmd("sleep 60"), State}.

handle_cast(_, State) -> {noreply, State}.
