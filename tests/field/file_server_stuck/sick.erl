%% The file server opens a pipe that nobody writes to, as it would a file on a network disk that is gone; all other file operations wait.
-module(sick).
-export([start/0, checks/0]).

start() ->
    [] = os:cmd("mkfifo gone"),
    spawn(fun() -> file:open("gone", [read]) end),
    timer:sleep(300),
    _ = [spawn(?MODULE, checks, []) || _ <- lists:seq(1, 2000)],
    timer:sleep(500),
    ok.

checks() -> {ok, _} = file:read_file_info("."), checks().
