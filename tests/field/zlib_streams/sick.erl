%% 600 idle connections keep a deflating stream open each, for messages that seldom come: 160 MB that no process, table or binary has.
-module(sick).
-export([start/0, connection/1]).

start() ->
    Parent = self(),
    Pids = [spawn(?MODULE, connection, [Parent]) || _ <- lists:seq(1, 600)],
    [receive {ready, Pid} -> ok end || Pid <- Pids],
    ok.

connection(Parent) ->
    Stream = zlib:open(),
    ok = zlib:deflateInit(Stream, default, deflated, -15, 8, default),
    _ = zlib:deflate(Stream, <<"hello">>, sync),
    Parent ! {ready, self()},
    receive {send, Text} -> zlib:deflate(Stream, Text, sync) end.
