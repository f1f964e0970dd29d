%% Workers that wait for work in a process that gives it out, connections that wait for their clients, acceptors, and a subscriber for each
%% of 300 rooms, which monitors the one process of its room: nobody waits for what does not come.
-module(sick).
-export([start/0, room/0, subscriber/1, connection/2, accepts/1, works/1]).

start() ->
    Room = spawn(?MODULE, room, []),
    _ = [spawn(?MODULE, subscriber, [Room]) || _ <- lists:seq(1, 300)],
    {ok, Listen} = gen_tcp:listen(0, [binary, {active, false}, {backlog, 300}]),
    {ok, Port} = inet:port(Listen),
    _ = [spawn(?MODULE, accepts, [Listen]) || _ <- lists:seq(1, 160)],
    Self = self(),
    _ = [spawn(?MODULE, connection, [Self, Port]) || _ <- lists:seq(1, 120)],
    _ = [receive connected -> ok end || _ <- lists:seq(1, 120)],
    _ = [spawn(?MODULE, works, [Room]) || _ <- lists:seq(1, 150)],
    ok.

room() -> receive {From, Ref, count} -> From ! {Ref, 300}, room() end.
subscriber(Room) -> Ref = monitor(process, Room), receive {'DOWN', Ref, process, Room, _} -> ok end.
accepts(Listen) -> {ok, Socket} = gen_tcp:accept(Listen), {error, closed} = gen_tcp:recv(Socket, 0).
connection(Starter, Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    Starter ! connected,
    gen_tcp:recv(Socket, 0).
works(Room) ->
    Ref = make_ref(),
    Room ! {self(), Ref, count},
    receive {Ref, 300} -> timer:sleep(200) end,
    works(Room).
