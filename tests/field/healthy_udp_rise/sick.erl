%% A server of datagrams in the morning: one process has the socket, and finds the session of each client in a table. All sessions have
%% had some datagrams, none has one now, and more clients come.
-module(sick).
-export([start/0]).

start() ->
    Starter = self(),
    Router = spawn(fun() ->
                           {ok, Socket} = gen_udp:open(0, [binary, {ip, {127, 0, 0, 1}}]),
                           {ok, Port} = inet:port(Socket),
                           _ = ets:new(sessions, [named_table]),
                           Starter ! {opened, Port},
                           routes(Socket)
                   end),
    true = register(router, Router),
    Port = receive {opened, Number} -> Number end,
    _ = [Router ! {udp, client, {127, 0, 0, 1}, N, <<"hello">>} || _ <- lists:seq(1, 40), N <- lists:seq(1, 1200)],
    spawn(fun() -> {ok, Client} = gen_udp:open(0), clients(Client, Port, 1201) end),
    timer:sleep(1000),
    ok.

routes(Socket) ->
    receive
        {udp, _, _, N, <<"hello">>} -> session(N) ! {datagram, 5};
        {udp, _, _, _, <<N:32>>} -> session(N) ! {datagram, 4}
    end,
    routes(Socket).

session(N) ->
    case ets:lookup(sessions, N) of
        [{_, Pid}] -> Pid;
        [] ->
            Pid = spawn(fun() -> session(N, 0) end),
            ets:insert(sessions, {N, Pid}),
            Pid
    end.

session(N, Bytes) -> session(N, Bytes + length(lists:seq(1, next_datagram()))).

next_datagram() -> receive {datagram, Bytes} -> Bytes end.

clients(Client, Port, N) ->
    timer:sleep(50),
    ok = gen_udp:send(Client, {127, 0, 0, 1}, Port, <<N:32>>),
    clients(Client, Port, N + 1).
