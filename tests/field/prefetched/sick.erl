%% 80 workers each fetch 3 MB of messages ahead, and handle one after the other: 240 MB of live binaries, in processes that work.
-module(sick).
-export([start/0, consumer/1, worker/2]).
start() -> [spawn(?MODULE, consumer, [N]) || N <- lists:seq(1, 80)], ok.
consumer(N) ->
    Worker = spawn_link(?MODULE, worker, [self(), queue:new()]),
    [fetched(Worker, N) || _ <- [1, 2, 3]],
    fetches(Worker, N).
fetches(Worker, N) -> receive done -> fetched(Worker, N) end, fetches(Worker, N).
fetched(Worker, N) ->
    Set = binary:copy(<<N:32>>, 262_144),
    Worker ! {messages, [binary:part(Set, 10_000 * I, 10_000) || I <- lists:seq(0, 99)]}.
worker(Consumer, Queue) ->
    receive {messages, Messages} -> worker(Consumer, lists:foldl(fun queue:in/2, Queue, Messages))
    after 0 ->
        case queue:out(Queue) of
            {{value, Message}, Left} ->
                _ = erlang:crc32(Message), timer:sleep(50),
                _ = queue:len(Left) rem 100 =:= 0 andalso (Consumer ! done),
                worker(Consumer, Left);
            {empty, _} -> receive {messages, Messages} -> worker(Consumer, lists:foldl(fun queue:in/2, Queue, Messages)) end
        end
    end.
