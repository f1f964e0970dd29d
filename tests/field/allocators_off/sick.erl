%% The node was started with a flag that somebody used to look for a fault of memory: all of the VM's own allocators are off.
-module(sick).
-export([start/0, copies/0]).

start() ->
    _ = [spawn(?MODULE, copies, []) || _ <- lists:seq(1, 20)],
    timer:sleep(200),
    ok.

copies() ->
    _ = [list_to_tuple(lists:seq(1, N)) || N <- lists:seq(1, 300)],
    timer:sleep(50),
    copies().
