%% A worker opens a connection for each report that it fetches, and closes none.
-module(sick).
-export([start/0, serve/0, fetches/2]).

start() ->
    {ok, Number} = file:read_file("number"),
    spawn(?MODULE, fetches, [binary_to_integer(Number), []]),
    timer:sleep(2000), ok.

fetches(Number, Kept) when length(Kept) < 60 -> fetches(Number, [fetch(Number) | Kept]);
fetches(Number, Kept) ->
    timer:sleep(400),
    fetches(Number, [fetch(Number) | Kept]).

fetch(Number) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Number, [binary, {active, false}]),
    ok = gen_tcp:send(Socket, "report"),
    {ok, _} = gen_tcp:recv(Socket, 0, 5000),
    Socket.

%% On the other node.
serve() ->
    Server = self(),
    spawn(fun() ->
                  {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}, {backlog, 100}]),
                  {ok, Number} = inet:port(Listens),
                  ok = file:write_file("number", integer_to_list(Number)),
                  Server ! serves,
                  answers(Listens, [])
          end),
    receive serves -> ok end.

answers(Listens, Kept) ->
    {ok, Socket} = gen_tcp:accept(Listens),
    {ok, _} = gen_tcp:recv(Socket, 0),
    ok = gen_tcp:send(Socket, "empty"),
    answers(Listens, [Socket | Kept]).
