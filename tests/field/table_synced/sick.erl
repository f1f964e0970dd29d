%% Each reading of 64 meters is put into a table of dets and synced, so that none is lost: its one process waits for the disk with each of
%% them.
-module(sick).
-export([start/0, keeps/1, meter/1]).

start() ->
    Starter = self(),
    spawn(?MODULE, keeps, [Starter]),
    receive ready -> ok end,
    _ = [spawn(?MODULE, meter, [N]) || N <- lists:seq(1, 64)],
    timer:sleep(500),
    ok.

keeps(Starter) ->
    {ok, readings} = dets:open_file(readings, [{file, "readings.dets"}]),
    Starter ! ready,
    receive close -> dets:close(readings) end.

meter(N) ->
    ok = dets:insert(readings, {{N, erlang:unique_integer([positive]) rem 200}, erlang:system_time(), self()}),
    ok = dets:sync(readings),
    timer:sleep(5),
    meter(N).
