%% An alarm tells all readers of connections to wait until it is cleared. What the clients have sent stays unread.
-module(sick).
-export([start/0]).

start() ->
    {ok, _} = application:ensure_all_started(sasl),
    {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {backlog, 128}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listens),
    Readers = [connected(Listens, Port) || _ <- lists:seq(1, 20)],
    ok = alarm_handler:set_alarm({{resource_limit, disk, node()}, []}),
    _ = [Reader ! {blocked, true} || Reader <- Readers],
    timer:sleep(500),
    ok.

connected(Listens, Port) ->
    spawn(fun() -> client(Port) end),
    {ok, Socket} = gen_tcp:accept(Listens),
    Reader = spawn(fun() -> receive {blocked, true} -> blocked(Socket) end end),
    ok = gen_tcp:controlling_process(Socket, Reader),
    Reader.

blocked(Socket) -> receive {blocked, false} -> read(Socket) end.

read(Socket) ->
    {ok, _} = gen_tcp:recv(Socket, 0),
    read(Socket).

client(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    ok = gen_tcp:send(Socket, binary:copy(<<"m">>, 20_000)),
    {error, closed} = gen_tcp:recv(Socket, 0).
