%% A server goes through a list of 200,000 tuples in each call, for five callers that have nothing to do meanwhile.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, asks/0]).

start() ->
    {ok, _} = gen_server:start({local, proc_manager}, ?MODULE, [], []),
    _ = [spawn(?MODULE, asks, []) || _ <- lists:seq(1, 5)],
    ok.

init([]) -> {ok, [{I, {idle, I}} || I <- lists:seq(1, 200_000)]}.

handle_call({get, Key}, _, Processes) -> {reply, lists:keyfind(Key, 1, Processes), Processes}.

handle_cast(_, Processes) -> {noreply, Processes}.

asks() ->
    _ = gen_server:call(proc_manager, {get, rand:uniform(200_000)}, infinity),
    asks().
