%% Ten workers push by a server each that has the connection, as fusco's clients do. The other side takes the requests and says nothing.
%% A worker gives up after half a second, and starts another server; the one that it asked still waits.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, backend/0, worker/1]).

start() ->
    Self = self(),
    Backend = spawn(fun() -> Self ! {self(), listens()}, backend() end),
    Port = receive {Backend, Number} -> Number end,
    _ = [spawn(?MODULE, worker, [Port]) || _ <- lists:seq(1, 10)],
    timer:sleep(4000).

listens() ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}, {backlog, 100}]),
    {ok, Port} = inet:port(Listen),
    put(listen, Listen),
    Port.

backend() ->
    {ok, _} = gen_tcp:accept(get(listen)),
    backend().

init(Port) -> {ok, Port}.

handle_call(push, _, Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    ok = gen_tcp:send(Socket, <<"push\n">>),
    {reply, answer(Socket), Port}.

handle_cast(_, Port) -> {noreply, Port}.

answer(Socket) -> {ok, Answer} = gen_tcp:recv(Socket, 0), Answer.

worker(Port) ->
    {ok, Client} = gen_server:start(?MODULE, Port, []),
    try gen_server:call(Client, push, 500) catch exit:{timeout, _} -> gave_up end,
    worker(Port).
