%% 120 clients send a request, shut down their sending (as HTTP/1.0 clients and nc -N do), and read a stream of small chunks for as long as
%% it lasts.
-module(sick).
-export([start/0]).

start() ->
    {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {exit_on_close, false}, {backlog, 200}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listens),
    Web = spawn(fun() -> receive go -> accept(Listens) end end),
    ok = gen_tcp:controlling_process(Listens, Web),
    Web ! go,
    _ = [spawn(fun() -> client(Port) end) || _ <- lists:seq(1, 120)],
    timer:sleep(1000),
    ok.

accept(Listens) ->
    {ok, Socket} = gen_tcp:accept(Listens),
    Connection = spawn(fun() -> receive go -> serve(Socket) end end),
    ok = gen_tcp:controlling_process(Socket, Connection),
    Connection ! go,
    accept(Listens).

serve(Socket) ->
    {ok, _} = gen_tcp:recv(Socket, 0),
    {error, closed} = gen_tcp:recv(Socket, 0),
    streams(Socket).

streams(Socket) ->
    ok = gen_tcp:send(Socket, <<"data: tick\n\n">>),
    timer:sleep(200),
    streams(Socket).

client(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    ok = gen_tcp:send(Socket, <<"GET /events HTTP/1.0\r\n\r\n">>),
    ok = gen_tcp:shutdown(Socket, write),
    reads(Socket).

reads(Socket) ->
    {ok, _} = gen_tcp:recv(Socket, 0),
    reads(Socket).
