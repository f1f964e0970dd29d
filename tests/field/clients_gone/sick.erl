%% Long polls: who asks waits on the server until there is an event. The clients give up after a second, and ask again by another
%% connection; nobody reads the first one, so nobody sees that it was closed.
-module(sick).
-export([start/0]).

start() ->
    {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {backlog, 128}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listens),
    Web = spawn(fun() -> receive go -> accept(Listens) end end),
    true = register(web, Web),
    ok = gen_tcp:controlling_process(Listens, Web),
    Web ! go,
    _ = [spawn(fun() -> client(Port) end) || _ <- lists:seq(1, 20)],
    timer:sleep(2500),
    ok.

accept(Listens) ->
    {ok, Socket} = gen_tcp:accept(Listens),
    Connection = spawn(fun() -> receive go -> serve(Socket) end end),
    ok = gen_tcp:controlling_process(Socket, Connection),
    Connection ! go,
    accept(Listens).

serve(Socket) ->
    {ok, _} = gen_tcp:recv(Socket, 4),
    ok = gen_tcp:send(Socket, next_event()),
    serve(Socket).

next_event() -> receive {event, Event} -> Event end.

client(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    ok = gen_tcp:send(Socket, "poll"),
    {error, timeout} = gen_tcp:recv(Socket, 0, 1000),
    ok = gen_tcp:close(Socket),
    client(Port).
