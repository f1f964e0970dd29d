%% Connections send news to clients of which four do not read; their processes wait in that, and the news behind it.
-module(sick).
-behaviour(gen_server).
-export([start/0, accepts/1, reads/1, tells/1, init/1, handle_call/3, handle_cast/2]).

start() ->
    Starter = self(),
    spawn(?MODULE, accepts, [Starter]),
    receive {ready, Servers} -> spawn(?MODULE, tells, [Servers]) end,
    timer:sleep(3000),
    ok.

accepts(Starter) ->
    {ok, Listening} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}, {sndbuf, 20_000}]),
    {ok, Port} = inet:port(Listening),
    Starter ! {ready, [connected(Listening, Port, N) || N <- lists:seq(1, 20)]},
    receive never -> ok end.

connected(Listening, Port, N) ->
    {ok, Client} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {recbuf, 20_000}]),
    {ok, Socket} = gen_tcp:accept(Listening),
    {ok, Server} = gen_server:start(?MODULE, Socket, []),
    ok = gen_tcp:controlling_process(Socket, Server),
    case N > 4 of
        true -> ok = gen_tcp:controlling_process(Client, spawn(?MODULE, reads, [Client]));
        false -> ok
    end,
    Server.

reads(Client) ->
    {ok, _} = gen_tcp:recv(Client, 0),
    reads(Client).

tells(Servers) ->
    _ = [gen_server:cast(Server, {news, binary:copy(<<"n">>, 1500)}) || Server <- Servers],
    timer:sleep(10),
    tells(Servers).

init(Socket) -> {ok, Socket}.

handle_call(_, _, Socket) -> {reply, ok, Socket}.

handle_cast({news, News}, Socket) ->
    ok = gen_tcp:send(Socket, News),
    {noreply, Socket}.
