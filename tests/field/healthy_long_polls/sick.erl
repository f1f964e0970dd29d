%% Queues of work that answer when there is some, and idle workers that wait for that: 400 in calls of a server that gets a few jobs a
%% second, 300 that are servers themselves, in calls of one that gets none, and 300 in a protocol of their own with a plain process.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_continue/2, handle_call/3, handle_cast/2, works/0, feeds/0, queue/1, takes/1]).

start() ->
    _ = [{ok, _} = gen_server:start({local, Queue}, ?MODULE, queue, []) || Queue <- [board, night_jobs]],
    Plain = spawn(?MODULE, queue, [[]]),
    true = register(plain_queue, Plain),
    _ = [spawn(?MODULE, works, []) || _ <- lists:seq(1, 400)],
    _ = [{ok, _} = gen_server:start(?MODULE, worker, []) || _ <- lists:seq(1, 300)],
    _ = [spawn(?MODULE, takes, [Plain]) || _ <- lists:seq(1, 300)],
    _ = spawn(?MODULE, feeds, []),
    timer:sleep(300),
    ok.

init(queue) -> {ok, queue:new()};
init(worker) -> {ok, none, {continue, work}}.

handle_continue(work, State) -> {noreply, gen_server:call(night_jobs, checkout, infinity), State}.

handle_call(checkout, From, Idle) -> {noreply, queue:in(From, Idle)}.
handle_cast({job, Job}, Idle) ->
    {{value, Worker}, Rest} = queue:out(Idle),
    gen_server:reply(Worker, Job),
    {noreply, Rest}.

works() ->
    timer:sleep(gen_server:call(board, checkout, infinity)),
    works().

feeds() ->
    gen_server:cast(board, {job, 20 + rand:uniform(30)}),
    timer:sleep(150),
    feeds().

queue(Idle) -> receive {take, From, Ref} -> queue([{From, Ref} | Idle]) end.

takes(Queue) ->
    _ = queue_lib:take(Queue),
    takes(Queue).
