%% 4,000 sessions with a heartbeat each second; a queue that 20 workers ask for jobs, of which there are few; requests in processes of
%% their own, which read a table; and a server that works in steps by messages to itself, and rests between its batches.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, works/0, feeds/0, accepts/0]).

start() ->
    cache = ets:new(cache, [named_table, public, {read_concurrency, true}]),
    true = ets:insert(cache, [{N, {row, N}} || N <- lists:seq(1, 10_000)]),
    true = ets:give_away(cache, spawn(fun() -> receive never -> ok end end), nothing),
    _ = [{ok, _} = gen_server:start({local, Name}, ?MODULE, Name, []) || Name <- [jobs, batch]],
    _ = [{ok, _} = gen_server:start(?MODULE, session, []) || _ <- lists:seq(1, 4000)],
    _ = [spawn(?MODULE, works, []) || _ <- lists:seq(1, 20)],
    _ = [spawn(?MODULE, accepts, []) || _ <- lists:seq(1, 10)],
    _ = spawn(?MODULE, feeds, []),
    ok.

init(session) ->
    _ = erlang:send_after(rand:uniform(1000), self(), beat),
    {ok, 0};
init(jobs) -> {ok, []};
init(batch) ->
    self() ! step,
    {ok, 0}.

handle_call(take, From, Waiting) -> {noreply, [From | Waiting]}.

handle_cast({job, Job}, [First | Waiting]) ->
    gen_server:reply(First, Job),
    {noreply, Waiting};
handle_cast({job, _}, []) -> {noreply, []}.

handle_info(beat, Beats) ->
    _ = erlang:send_after(1000, self(), beat),
    {noreply, Beats + 1};
handle_info(step, 500) ->
    _ = erlang:send_after(100, self(), step),
    {noreply, 0};
handle_info(step, Steps) ->
    _ = lists:sum(lists:seq(1, 100)),
    self() ! step,
    {noreply, Steps + 1}.

works() ->
    _ = lists:seq(1, gen_server:call(jobs, take, infinity)),
    works().

feeds() ->
    gen_server:cast(jobs, {job, rand:uniform(1000)}),
    timer:sleep(5),
    feeds().

accepts() ->
    {_, Monitor} = spawn_monitor(fun() -> [ets:lookup(cache, rand:uniform(10_000)) || _ <- lists:seq(1, 50)] end),
    receive {'DOWN', Monitor, process, _, _} -> timer:sleep(5) end,
    accepts().
