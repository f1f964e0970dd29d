%% A queue that works all the time for 8 publishers, each of which may have 40 messages on the way: its mailbox is never empty, and no
%% message waits longer than some milliseconds.
-module(sick).
-export([start/0, queue/1, publishes/2]).

start() ->
    Queue = spawn(?MODULE, queue, [0]),
    true = register(orders_queue, Queue),
    _ = [spawn(?MODULE, publishes, [Queue, 40]) || _ <- lists:seq(1, 8)],
    timer:sleep(300),
    ok.

queue(N) ->
    receive
        {publish, From, Ref, Body} ->
            _ = erlang:crc32(Body),
            From ! {credit, Ref},
            queue(N + 1)
    end.

publishes(Queue, 0) ->
    receive {credit, _} -> publishes(Queue, 1) end;
publishes(Queue, Credit) ->
    Queue ! {publish, self(), make_ref(), <<0:200_000>>},
    publishes(Queue, Credit - 1).
