%% Clients make a new connection for each short request, as fast as they can. Others try a service that is down, once in half a second.
-module(sick).
-export([start/0]).

start() ->
    Own = self(),
    _ = spawn(fun() ->
                      {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {backlog, 1024}, {ip, {127, 0, 0, 1}}]),
                      {ok, Port} = inet:port(Listens),
                      Own ! {port, Port},
                      [spawn_link(fun() -> accept(Listens) end) || _ <- lists:seq(1, 10)],
                      receive stop -> ok end
              end),
    Port = receive {port, One} -> One end,
    {ok, Closed} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Down} = inet:port(Closed),
    ok = gen_tcp:close(Closed),
    _ = [spawn(fun() -> request(Port) end) || _ <- lists:seq(1, 5)],
    _ = [spawn(fun() -> attempt(Down) end) || _ <- lists:seq(1, 20)],
    timer:sleep(500),
    ok.

accept(Listens) ->
    {ok, Socket} = gen_tcp:accept(Listens),
    case gen_tcp:recv(Socket, 0) of
        {ok, Request} -> ok = gen_tcp:send(Socket, Request);
        {error, closed} -> ok
    end,
    ok = gen_tcp:close(Socket),
    accept(Listens).

request(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    ok = gen_tcp:send(Socket, <<"GET">>),
    {ok, <<"GET">>} = gen_tcp:recv(Socket, 0),
    ok = gen_tcp:close(Socket),
    timer:sleep(5),
    request(Port).

attempt(Port) ->
    {error, econnrefused} = gen_tcp:connect({127, 0, 0, 1}, Port, []),
    timer:sleep(500),
    attempt(Port).
