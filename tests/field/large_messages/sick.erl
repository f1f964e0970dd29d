%% 200 messages wait for a process that waits for another one: few, of 1.6 MB each.
-module(sick).
-export([start/0, waits/0]).

start() ->
    Pid = spawn(?MODULE, waits, []),
    register(thumbnailer, Pid),
    [Pid ! {picture, N, lists:seq(1, 100_000)} || N <- lists:seq(1, 200)],
    ok.

waits() -> receive {license, _} -> waits() end.
