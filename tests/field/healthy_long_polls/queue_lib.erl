%% The library: a take is a message and a monitor.
-module(queue_lib).
-export([take/1]).

take(Queue) ->
    Ref = monitor(process, Queue),
    Queue ! {take, self(), Ref},
    receive
        {Ref, Job} -> Job;
        {'DOWN', Ref, process, _, Reason} -> exit(Reason)
    end.
