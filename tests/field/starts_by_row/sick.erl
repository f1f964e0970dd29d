%% A process for each row, one after the other.
-module(sick).
-export([start/0, rows/1]).

start() ->
    _ = spawn(?MODULE, rows, [lists:seq(1, 1000)]),
    ok.

rows(Rows) ->
    _ = [begin
             {_, Monitor} = spawn_monitor(fun() -> Row * Row end),
             receive {'DOWN', Monitor, process, _, _} -> ok end
         end || Row <- Rows],
    rows(Rows).
