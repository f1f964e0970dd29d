%% A worker notes each job in its process dictionary: two million entries, 200 MB.
-module(sick).
-export([start/0, worker/0]).

start() ->
    Self = self(),
    register(job_worker, spawn(fun() -> [put({job, N}, {done, N, N}) || N <- lists:seq(1, 1_000_000)], Self ! ready, worker() end)),
    receive ready -> ok end.

worker() -> receive stop -> ok after 100 -> worker() end.
