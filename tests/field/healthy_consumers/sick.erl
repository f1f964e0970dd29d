%% The workers of a queue of jobs wait for the next one in a call without a time limit, as they should. A job comes every 15 ms, so
%% that each worker waits for 1.8 s, and most of them are seen waiting for the same server at any two looks.
-module(sick).
-behaviour(gen_server).
-export([start/0, jobs/1, worker/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, job_queue}, ?MODULE, [], []),
    _ = [spawn(?MODULE, worker, []) || _ <- lists:seq(1, 120)],
    _ = spawn(?MODULE, jobs, [1]),
    timer:sleep(500),
    ok.

jobs(N) ->
    gen_server:cast(job_queue, {job, N}),
    timer:sleep(15),
    jobs(N + 1).

worker() ->
    N = gen_server:call(job_queue, next_job, infinity),
    true = is_integer(N),
    timer:sleep(20),
    worker().

init([]) -> {ok, {queue:new(), queue:new()}}.

handle_call(next_job, From, {Workers, Jobs}) ->
    case queue:out(Jobs) of
        {{value, Job}, Others} -> {reply, Job, {Workers, Others}};
        {empty, _} -> {noreply, {queue:in(From, Workers), Jobs}}
    end.

handle_cast({job, Job}, {Workers, Jobs}) ->
    case queue:out(Workers) of
        {{value, From}, Others} ->
            gen_server:reply(From, Job),
            {noreply, {Others, Jobs}};
        {empty, _} -> {noreply, {Workers, queue:in(Job, Jobs)}}
    end.
