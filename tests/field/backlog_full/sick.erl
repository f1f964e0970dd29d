%% A gateway listens with the default backlog of 5, and looks each client up before it accepts the next one. Clients that come in bursts
%% find no room, and try again seconds later. Otherwise the node is idle.
-module(sick).
-export([start/0, drops/0]).

start() ->
    Gateway = spawn(fun() ->
                            {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
                            accepts(Listens)
                    end),
    true = register(gateway, Gateway),
    timer:sleep(200),
    [{ok, Port}] = [inet:port(Socket) || Socket <- erlang:ports(), erlang:port_info(Socket, connected) =:= {connected, Gateway}],
    spawn(fun() -> bursts(Port) end),
    timer:sleep(500),
    ok.

accepts(Listens) ->
    {ok, Socket} = gen_tcp:accept(Listens),
    timer:sleep(10),
    ok = gen_tcp:close(Socket),
    accepts(Listens).

bursts(Port) ->
    _ = [spawn(fun() -> gen_tcp:connect({127, 0, 0, 1}, Port, []) end) || _ <- lists:seq(1, 40)],
    timer:sleep(1500),
    bursts(Port).

%% Whether the system drops attempts to connect.
drops() ->
    Before = dropped(),
    timer:sleep(1600),
    dropped() - Before > 10.

dropped() ->
    list_to_integer(string:trim(os:cmd("awk '/^TcpExt/ { if (n) print $n; else for (i = 1; i <= NF; i++) if ($i == \"ListenOverflows\") n = i }'"
                                       " /proc/net/netstat"))).
