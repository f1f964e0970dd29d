%% A worker asks the system for its time by a program that hangs, and never closes the port; another one calls a program for each measurement.
-module(sick).
-export([start/0, asks/0, measures/0]).

start() ->
    true = register(ntp_worker, spawn(?MODULE, asks, [])),
    true = register(disk_watcher, spawn(?MODULE, measures, [])),
    timer:sleep(3000),
    ok.

asks() ->
    _ = [open_port({spawn, "sleep 1000"}, []) || _ <- lists:seq(1, 200)],
    receive stop -> ok end.

measures() ->
    _ = os:cmd("sleep 0.03; echo 42"),
    measures().
