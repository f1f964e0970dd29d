%% A batcher that lets its mailbox fill for a third of a second by design, and writes all that has come at once.
-module(sick).
-export([start/0, feeds/1, batches/1]).

start() ->
    Batcher = spawn_opt(?MODULE, batches, [0], [{message_queue_data, off_heap}]),
    _ = [spawn(?MODULE, feeds, [Batcher]) || _ <- lists:seq(1, 3)],
    timer:sleep(1000),
    ok.

feeds(Batcher) ->
    _ = [Batcher ! {row, N} || N <- lists:seq(1, 20)],
    timer:sleep(10),
    feeds(Batcher).

batches(Rows) ->
    timer:sleep(330),
    batches(Rows + taken(0)).

taken(Count) -> receive {row, _} -> taken(Count + 1) after 0 -> Count end.
