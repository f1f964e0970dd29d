%% A caller gives up after a while, and the answers come all the same: 8,000 lie in its mailbox, and each of its own calls goes by them.
-module(sick).
-export([start/0, calls/1]).

start() ->
    Server = spawn(fun Serve() -> receive {ask, From, Ref, Ms} -> erlang:send_after(Ms, From, {Ref, late}), Serve() end end),
    register(price_client, spawn(?MODULE, calls, [Server])),
    timer:sleep(2500),
    ok.

%% The first 8,000 are late; those that follow are in time.
calls(Server) ->
    _ = [call(Server, 500, 0) || _ <- lists:seq(1, 8000)],
    timer:sleep(1000),
    asks(Server).

asks(Server) ->
    late = call(Server, 0, infinity),
    asks(Server).

call(Server, Ms, Timeout) ->
    Ref = erlang:phash2({self(), erlang:unique_integer()}),
    Server ! {ask, self(), Ref, Ms},
    answer(Ref, Timeout).

answer(Ref, Timeout) ->
    receive {Ref, Answer} -> Answer after Timeout -> timeout end.
