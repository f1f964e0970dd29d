%% A listener lets its acceptors sleep at a limit of connections. Connections that are handed on no longer count, but then it wakes no
%% acceptor: in the end all of them sleep, and nobody accepts what comes.
-module(sick).
-export([start/0]).

start() ->
    Limit = 20,
    Listener = spawn(fun() ->
                             {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {backlog, 128}, {ip, {127, 0, 0, 1}}]),
                             Own = self(),
                             _ = [spawn(fun() -> accept(Listens, Own) end) || _ <- lists:seq(1, 5)],
                             listener(Listens, 0, Limit, [])
                     end),
    true = register(web_listener, Listener),
    Listener ! {port, self()},
    Port = receive {port, P} -> P end,
    _ = [spawn(fun() -> client(Port) end) || _ <- lists:seq(1, Limit + 20)],
    timer:sleep(1000),
    ok.

listener(Listens, Count, Limit, Asleep) ->
    receive
        {port, From} ->
            {ok, Port} = inet:port(Listens),
            From ! {port, Port},
            listener(Listens, Count, Limit, Asleep);
        {connected, Acceptor} when Count + 1 < Limit ->
            Acceptor ! next,
            listener(Listens, Count + 1, Limit, Asleep);
        {connected, Acceptor} -> listener(Listens, Count + 1, Limit, [Acceptor | Asleep]);
        handed_on -> listener(Listens, Count - 1, Limit, Asleep)
    end.

accept(Listens, Listener) ->
    {ok, Socket} = gen_tcp:accept(Listens),
    Connection = spawn(fun() -> receive go -> connection(Socket, Listener) end end),
    ok = gen_tcp:controlling_process(Socket, Connection),
    Connection ! go,
    Listener ! {connected, self()},
    receive next -> accept(Listens, Listener) end.

connection(Socket, Listener) ->
    ok = gen_tcp:send(Socket, "hello"),
    timer:sleep(500),
    Listener ! handed_on,
    ok = inet:setopts(Socket, [{active, true}]),
    receive {tcp_closed, Socket} -> ok end.

client(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    {ok, _} = gen_tcp:recv(Socket, 5),
    timer:sleep(infinity).
