%% 300 messages with a binary of 1 MB each wait for an uploader that hangs.
-module(sick).
-export([start/0, waits/0]).

start() ->
    Pid = spawn(?MODULE, waits, []),
    register(uploader, Pid),
    [Pid ! {part, N, binary:copy(<<N:32>>, 250_000)} || N <- lists:seq(1, 300)],
    erlang:garbage_collect(),
    ok.

waits() -> receive {uploaded, _} -> waits() end.
