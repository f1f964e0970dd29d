%% What looks like a problem and is none: bursts of 300 messages for a server that keeps up, 60 workers that wait in a call for work, 300
%% connections that hibernate with binaries of their own, 2,000 small tables, 40 MB of pages in one, a
%% recursion that is not deep.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, bursts/1, works/1]).

start() ->
    {ok, Counter} = gen_server:start({local, counter}, ?MODULE, counter, []),
    {ok, Jobs} = gen_server:start({local, jobs}, ?MODULE, jobs, []),
    spawn(?MODULE, bursts, [Counter]),
    [spawn(?MODULE, works, [Jobs]) || _ <- lists:seq(1, 60)],
    [{ok, _} = gen_server:start(?MODULE, {connection, N}, []) || N <- lists:seq(1, 300)],
    ok.

init(counter) ->
    [ets:new(room, [public]) || _ <- lists:seq(1, 2000)],
    pages = ets:new(pages, [named_table]),
    [ets:insert(pages, {N, binary:copy(<<N:32>>, 5000)}) || N <- lists:seq(1, 2000)],
    true = erlang:garbage_collect(),
    {ok, 0};
init(jobs) -> {ok, []};
init({connection, N}) -> {ok, [binary:copy(<<N:32>>, 1000) || _ <- [1, 2]], hibernate}.

handle_call(next_job, From, Waiting) -> {noreply, [From | Waiting]}.
handle_cast(_, State) -> {noreply, State}.
handle_info({count, N}, Count) -> {noreply, Count + deep(N rem 100)}.

deep(0) -> 0;
deep(N) -> 1 + deep(N - 1).

bursts(Counter) ->
    [Counter ! {count, N} || N <- lists:seq(1, 300)],
    timer:sleep(100),
    bursts(Counter).

works(Jobs) ->
    _ = gen_server:call(Jobs, next_job, infinity),
    works(Jobs).
