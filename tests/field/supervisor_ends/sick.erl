%% A supervisor restarts its worker, whose terminate/2 waits for ever for a process that is gone; all who ask for a worker wait for it.
-module(sick).
-behaviour(gen_server).
-export([start/0, asks/0, init/1, handle_call/3, handle_cast/2, terminate/2, start_link/0]).

start() ->
    Started = self(),
    spawn(fun() ->
                  {ok, _} = supervisor:start_link({local, workers}, ?MODULE, workers),
                  Started ! started,
                  receive never -> ok end
          end),
    receive started -> ok end,
    spawn(fun() -> supervisor:terminate_child(workers, ledger) end),
    timer:sleep(200),
    _ = [spawn(?MODULE, asks, []) || _ <- lists:seq(1, 70)],
    timer:sleep(300),
    ok.

asks() -> supervisor:which_children(workers).

start_link() -> gen_server:start_link(?MODULE, ledger, []).

init(workers) -> {ok, {#{}, [#{id => ledger, start => {?MODULE, start_link, []}, shutdown => infinity}]}};
init(ledger) ->
    process_flag(trap_exit, true),
    {ok, []}.

handle_call(_, _, State) -> {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.

terminate(_, _) -> receive flushed -> ok end.
