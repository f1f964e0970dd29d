%% A queue takes urgent messages first: before each message it looks through all of them for one that is urgent.
-module(sick).
-export([start/0, queue/0]).

start() ->
    register(job_queue, Queue = spawn_opt(?MODULE, queue, [], [{message_queue_data, off_heap}])),
    _ = [Queue ! {job, N} || N <- lists:seq(1, 60_000)],
    spawn(fun Feed() -> _ = [Queue ! {job, N} || N <- lists:seq(1, 1000)], timer:sleep(20), feed_while(Queue, 60_000), Feed() end),
    ok.

feed_while(Queue, Bound) ->
    case process_info(Queue, message_queue_len) of
        {_, Depth} when Depth > Bound -> timer:sleep(10), feed_while(Queue, Bound);
        _ -> ok
    end.

queue() ->
    receive {urgent, _} -> ok after 0 -> any() end,
    queue().

any() -> receive _ -> ok end.
