%% A manager links to each connection that it hands out, and never lets go: 15,000 that are long idle.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, hub}, ?MODULE, [], []),
    ok.

init([]) ->
    process_flag(trap_exit, true),
    Watched = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 15_000)],
    _ = [begin link(P), monitor(process, P) end || P <- Watched],
    {ok, 0, hibernate}.

handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
