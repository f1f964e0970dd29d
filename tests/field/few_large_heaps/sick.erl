%% Nine servers that wait, each with more than 25 MB of which nothing lives.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    _ = [begin {ok, Pid} = gen_server:start(?MODULE, [], []), Pid ! timeout, ok = gen_server:call(Pid, done, 60_000) end || _ <- lists:seq(1, 9)],
    ok.

init([]) -> {ok, []}.
handle_call(done, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.

handle_info(timeout, State) ->
    L = lists:seq(1, 800_000),
    _ = length([{X} || X <- L]),
    {noreply, State}.
