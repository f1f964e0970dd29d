%% Each upload opens a connection by the module socket, which is no port, and never closes it; the other side has closed all of them.
-module(sick).
-export([start/0, uploads/2]).
start() ->
    {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {backlog, 1000}]),
    {ok, Port} = inet:port(Listens),
    Accepts = spawn(fun() -> receive go -> accepts(Listens) end end),
    ok = gen_tcp:controlling_process(Listens, Accepts),
    Accepts ! go,
    true = register(uploader, spawn(?MODULE, uploads, [Port, []])),
    timer:sleep(2000), ok.
accepts(Listens) -> {ok, Socket} = gen_tcp:accept(Listens), ok = gen_tcp:close(Socket), accepts(Listens).
uploads(Port, Kept) ->
    timer:sleep(20),
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [{inet_backend, socket}, binary, {active, false}]),
    uploads(Port, [Socket | Kept]).
