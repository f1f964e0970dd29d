%% A server by the module socket in the morning: each of its clients, of which more and more come from another node, has a process that
%% waits for the next line, in a function below its loop.
-module(sick).
-export([start/0, clients/1]).

start() ->
    Starter = self(),
    spawn(fun() ->
                  {ok, Listens} = socket:open(inet, stream, tcp),
                  ok = socket:bind(Listens, #{family => inet, port => 0, addr => {127, 0, 0, 1}}),
                  ok = socket:listen(Listens, 200),
                  {ok, #{port := Port}} = socket:sockname(Listens),
                  Starter ! {listens, Port},
                  accept(Listens)
          end),
    Clients = receive {listens, Port} -> spawn(list_to_atom(os:getenv("PEER")), ?MODULE, clients, [Port]) end,
    true = is_pid(Clients),
    timer:sleep(1000),
    ok.

accept(Listens) ->
    {ok, Socket} = socket:accept(Listens),
    Session = spawn(fun() -> receive go -> session(Socket) end end),
    ok = socket:setopt(Socket, {otp, controlling_process}, Session),
    Session ! go,
    accept(Listens).

session(Socket) ->
    ok = socket:send(Socket, line(Socket)),
    session(Socket).

line(Socket) ->
    case socket:recv(Socket, 0, nowait) of
        {ok, Line} -> Line;
        {select, {select_info, _, Handle}} -> receive {'$socket', Socket, select, Handle} -> line(Socket) end
    end.

clients(Port) ->
    Sockets = [connected(Port) || _ <- lists:seq(1, 1100)],
    more(Port, Sockets).

more(Port, Sockets) ->
    timer:sleep(50),
    more(Port, [connected(Port) | Sockets]).

connected(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]),
    Socket.
