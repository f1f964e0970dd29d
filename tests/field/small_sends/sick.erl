%% Sessions send each request in two parts, without nodelay. The second part waits for the acknowledgement of the first one, which the
%% backend delays: nothing works, and each request takes 40 ms.
-module(sick).
-export([start/0, session/1]).

start() ->
    Starter = self(),
    _ = spawn(fun() -> served(Starter) end),
    receive served -> ok end.

served(Starter) ->
    {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}, {backlog, 100}]),
    {ok, Port} = inet:port(Listens),
    _ = [spawn(fun() -> {ok, Socket} = gen_tcp:accept(Listens), answers(Socket) end) || _ <- lists:seq(1, 20)],
    _ = [spawn(?MODULE, session, [Port]) || _ <- lists:seq(1, 20)],
    timer:sleep(500),
    Starter ! served,
    receive stop -> ok end.

session(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    asks(Socket).

asks(Socket) ->
    ok = gen_tcp:send(Socket, <<100:32>>),
    ok = gen_tcp:send(Socket, binary:copy(<<"q">>, 100)),
    {ok, _} = gen_tcp:recv(Socket, 4),
    asks(Socket).

answers(Socket) ->
    {ok, _} = gen_tcp:recv(Socket, 104),
    ok = gen_tcp:send(Socket, <<"done">>),
    answers(Socket).
