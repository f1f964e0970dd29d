%% The loop of a connection calls itself inside a try, so that each of its 3 million messages left a frame on its stack.
-module(sick).
-export([start/0, loop/1]).

start() ->
    Pid = spawn(?MODULE, loop, [0]),
    register(sasl_port, Pid),
    [Pid ! {request, N} || N <- lists:seq(1, 3_000_000)],
    Pid ! {count, self()},
    receive {counted, 3_000_000} -> ok end.

loop(Count) ->
    receive
        {count, From} -> From ! {counted, Count}, more(Count);
        {request, _} -> more(Count + 1)
    end.

more(Count) ->
    try loop(Count)
    catch throw:Reason -> {failed, Count, Reason}
    end.
