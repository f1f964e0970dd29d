%% The node does nothing. Its table of ports is as large as a container's limit of open files makes it.
-module(sick).
-export([start/0]).

start() -> ok.
