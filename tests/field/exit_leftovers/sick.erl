%% A process traps exits and starts a linked helper for each job; it takes the answers, and never the exits.
-module(sick).
-export([start/0, flow/0]).

start() ->
    register(data_flow, Flow = spawn(?MODULE, flow, [])),
    _ = [Flow ! {job, N} || N <- lists:seq(1, 12_000)],
    timer:sleep(1000),
    ok.

flow() ->
    process_flag(trap_exit, true),
    loop().

loop() ->
    receive {job, N} ->
        Self = self(),
        Helper = spawn_link(fun() -> Self ! {answer, self(), N + 1} end),
        receive {answer, Helper, _} -> loop() end
    end.
