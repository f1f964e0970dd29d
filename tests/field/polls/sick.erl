%% 3,000 processes look for a job every 50 ms, and there is none.
-module(sick).
-export([start/0, polls/0]).

start() ->
    jobs = ets:new(jobs, [named_table, public]),
    true = ets:give_away(jobs, spawn(fun() -> receive never -> ok end end), nothing),
    _ = [spawn(?MODULE, polls, []) || _ <- lists:seq(1, 3000)],
    ok.

polls() ->
    case ets:lookup(jobs, job) of
        [] -> timer:sleep(50);
        [_] -> ok
    end,
    polls().
