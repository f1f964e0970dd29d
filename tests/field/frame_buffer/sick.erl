%% An uploader keeps the frames of a file until it is complete. Each is a part of the chunk that was read, and the VM counts all of the chunk
%% for each, so that it collects at every few frames, and none of them has died.
-module(sick).
-export([start/0, uploads/2, reads/1, echo/0, asks/1]).

start() ->
    Uploader = spawn(?MODULE, uploads, [0, []]),
    register(uploader, Uploader),
    spawn(?MODULE, reads, [Uploader]),
    Echo = spawn(?MODULE, echo, []),
    spawn(?MODULE, asks, [Echo]),
    ok.

uploads(20_000, _) -> uploads(0, []);
uploads(Count, Frames) ->
    receive
        {frame, Frame} -> uploads(Count + 1, [Frame | Frames]);
        {more, From} -> From ! more, uploads(Count, Frames)
    end.

reads(Uploader) ->
    sends(Uploader, binary:copy(<<1>>, 65_536), 0),
    Uploader ! {more, self()},
    receive more -> reads(Uploader) end.

sends(_, _, 32) -> ok;
sends(Uploader, Chunk, N) ->
    Uploader ! {frame, binary:part(Chunk, N * 1024, 1024)},
    sends(Uploader, Chunk, N + 1).

echo() -> receive {From, What} -> From ! {self(), What}, echo() end.

asks(Echo) ->
    Echo ! {self(), make_ref()},
    receive {Echo, _} -> timer:sleep(5), asks(Echo) end.
