%% A receiver of metrics takes one packet at a time. Packets come in bursts, for which the system's buffer of the socket has no room. The
%% mailbox is empty, and the node is idle.
-module(sick).
-export([start/0, drops/0]).

start() ->
    Server = spawn(fun() ->
                           {ok, Socket} = gen_udp:open(0, [binary, {active, once}, {ip, {127, 0, 0, 1}}, {recbuf, 16_384}]),
                           takes(Socket)
                   end),
    true = register(metrics_server, Server),
    timer:sleep(200),
    [{ok, Port}] = [inet:port(Socket) || Socket <- erlang:ports(), erlang:port_info(Socket, connected) =:= {connected, Server}],
    spawn(fun() -> {ok, Socket} = gen_udp:open(0), bursts(Socket, Port) end),
    timer:sleep(500),
    ok.

takes(Socket) ->
    receive {udp, Socket, _, _, Packet} -> _ = binary:split(Packet, <<":">>) end,
    ok = inet:setopts(Socket, [{active, once}]),
    takes(Socket).

bursts(Socket, Port) ->
    _ = [gen_udp:send(Socket, {127, 0, 0, 1}, Port, binary:copy(<<"shop.requests:1|c\n">>, 40)) || _ <- lists:seq(1, 1000)],
    timer:sleep(300),
    bursts(Socket, Port).

%% Whether the system drops packets for this socket.
drops() ->
    Before = dropped(),
    timer:sleep(600),
    dropped() - Before > 50.

dropped() -> list_to_integer(string:trim(os:cmd("awk 'NR > 1 { n += $NF } END { print n }' /proc/net/udp"))).
