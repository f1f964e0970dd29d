%% A pool of 150 workers is stopped: its supervisor ends one after the other, and each says good-bye for half a second.
-module(sick).
-export([start/0, init/1, start_worker/1, handle_call/3, handle_cast/2, terminate/2, stops/0]).

start() ->
    Started = self(),
    spawn(fun() ->
                  process_flag(trap_exit, true),
                  {ok, _} = supervisor:start_link({local, worker_pool}, ?MODULE, pool),
                  Started ! started,
                  receive never -> ok end
          end),
    receive started -> ok end,
    spawn(?MODULE, stops, []),
    timer:sleep(100),
    ok.

init(pool) ->
    {ok, {#{}, [#{id => N, start => {?MODULE, start_worker, [N]}} || N <- lists:seq(1, 150)]}};
init({worker, N}) ->
    process_flag(trap_exit, true),
    {ok, N}.

start_worker(N) -> gen_server:start_link(?MODULE, {worker, N}, []).

handle_call(_, _, N) -> {reply, ok, N}.

handle_cast(_, N) -> {noreply, N}.

terminate(_, _) ->
    timer:sleep(500),
    ok.

stops() -> gen_server:stop(worker_pool, shutdown, infinity).
