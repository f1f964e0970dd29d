%% Each connection of a load balancer has a buffer of half a megabyte, since the socket that listens has such a one; and each connection
%% has received a small request and rests.
-module(sick).
-export([start/0, listens/1, clients/2]).

start() ->
    Self = self(),
    spawn(?MODULE, listens, [Self]),
    Port = receive {listens, Number} -> Number end,
    spawn(?MODULE, clients, [Self, Port]),
    receive connected -> ok end,
    timer:sleep(500),
    ok.

listens(Starter) ->
    {ok, Listen} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}, {recbuf, 524_288}, {buffer, 524_288}, {backlog, 300}]),
    {ok, Port} = inet:port(Listen),
    Starter ! {listens, Port},
    accepts(Listen).

accepts(Listen) ->
    {ok, Socket} = gen_tcp:accept(Listen),
    ok = gen_tcp:controlling_process(Socket, spawn(fun() -> receive go -> serves(Socket) end end)),
    {connected, Owner} = erlang:port_info(Socket, connected),
    Owner ! go,
    accepts(Listen).

serves(Socket) ->
    ok = inet:setopts(Socket, [{active, once}]),
    receive {tcp, Socket, _} -> ok = gen_tcp:send(Socket, <<"ok">>) end,
    erlang:garbage_collect(),
    serves(Socket).

clients(Starter, Port) ->
    Sockets = [begin
                   {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {buffer, 1460}]),
                   ok = gen_tcp:send(Socket, <<"request">>),
                   {ok, <<"ok">>} = gen_tcp:recv(Socket, 2),
                   Socket
               end || _ <- lists:seq(1, 500)],
    Starter ! connected,
    timer:sleep(infinity),
    exit(Sockets).
