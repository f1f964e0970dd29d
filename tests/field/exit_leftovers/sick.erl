%% A process traps exits and starts a linked helper for each job; it takes the answers, and never the exits.
-module(sick).
-export([start/0, flow/1]).

start() ->
    register(data_flow, Flow = spawn(?MODULE, flow, [self()])),
    _ = [Flow ! {job, N} || N <- lists:seq(1, 12_000)],
    receive done -> ok end,
    timer:sleep(200),
    ok.

flow(Starter) ->
    process_flag(trap_exit, true),
    loop(Starter).

loop(Starter) ->
    receive {job, N} ->
        Self = self(),
        Helper = spawn_link(fun() -> Self ! {answer, self(), N + 1} end),
        receive {answer, Helper, _} -> _ = N =:= 12_000 andalso (Starter ! done), loop(Starter) end
    end.
