%% Two sessions of a broker keep a queue of messages each, for clients that take them too slowly, and the queue has no limit.
-module(sick).
-behaviour(gen_server).
-export([start/0, publishes/2, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    Sessions = [begin {ok, Pid} = gen_server:start(?MODULE, 70_000, []), Pid end || _ <- [1, 2]],
    _ = [spawn(?MODULE, publishes, [N, Sessions]) || N <- lists:seq(1, 50)],
    ok.

init(Count) ->
    _ = erlang:send_after(50, self(), taken),
    {ok, queue:from_list([{N, frame(N)} || N <- lists:seq(1, Count)])}.

handle_call(length, _From, Queue) -> {reply, queue:len(Queue), Queue}.

handle_cast({publish, Message}, Queue) -> {noreply, queue:in(Message, Queue)}.

handle_info(taken, Queue) ->
    _ = erlang:send_after(50, self(), taken),
    {noreply, queue:drop(queue:drop(Queue))}.

publishes(N, Sessions) ->
    Message = {N, frame(N)},
    _ = [gen_server:cast(Session, {publish, Message}) || Session <- Sessions],
    timer:sleep(100),
    publishes(N + 50, Sessions).

frame(N) -> binary:copy(<<N:32>>, 250).
