%% A server takes all its messages into a queue of its own before it works (receive ... after 0). It does not keep up, and its mailbox is empty.
-module(sick).
-export([start/0, server/0, publishes/1, asks/1]).

start() ->
    Server = spawn(?MODULE, server, []),
    true = register(orders, Server),
    _ = [spawn(?MODULE, publishes, [Server]) || _ <- lists:seq(1, 20)],
    _ = [spawn(?MODULE, asks, [Server]) || _ <- lists:seq(1, 5)],
    timer:sleep(1000),
    ok.

server() -> drains(queue:new()).

drains(Queue) ->
    receive
        Message -> drains(queue:in(Message, Queue))
    after 0 ->
        case queue:out(Queue) of
            {{value, Message}, Rest} ->
                ok = handles(Message),
                drains(Rest);
            {empty, _} ->
                receive Message -> drains(queue:in(Message, Queue)) end
        end
    end.

handles({'$gen_call', From, count}) -> gen:reply(From, 1);
handles({publish, Body}) ->
    _ = [erlang:crc32([Body, N]) || N <- lists:seq(1, 250)],
    ok.

publishes(Server) ->
    _ = [Server ! {publish, binary:copy(<<"m">>, 60)} || _ <- lists:seq(1, 10)],
    timer:sleep(10),
    publishes(Server).

asks(Server) ->
    {ok, 1} = gen:call(Server, '$gen_call', count, infinity),
    asks(Server).
