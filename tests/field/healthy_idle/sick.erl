%% A node on which nothing happens.
-module(sick).
-export([start/0]).

start() -> ok.
