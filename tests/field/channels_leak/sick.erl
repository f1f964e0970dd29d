%% Seven connections, each of which opens 40 channels a second and closes none. A channel has a process of its own and two more.
-module(sick).
-export([start/0, connection/0, channel/1, part/1]).

start() ->
    _ = [spawn(?MODULE, connection, []) || _ <- lists:seq(1, 7)],
    ok.

connection() ->
    _ = [open() || _ <- lists:seq(1, 150)],
    opens().

opens() ->
    open(),
    timer:sleep(20 + rand:uniform(10)),
    opens().

open() -> spawn_link(?MODULE, channel, [self()]).

channel(Connection) ->
    Parts = [spawn_link(?MODULE, part, [Name]) || Name <- [writer, limiter]],
    receive {close, Connection} -> [exit(Part, shutdown) || Part <- Parts] end.

part(Name) -> receive {Name, stop} -> ok end.
