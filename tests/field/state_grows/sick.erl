%% A server keeps each event that it gets, a megabyte a second by now 150 MB, and works all the time.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, Pid} = gen_server:start({local, audit_trail}, ?MODULE, [], []),
    ok = gen_server:call(Pid, begins, infinity),
    spawn(fun() -> feeds(Pid, 1) end),
    ok.

feeds(Pid, N) ->
    gen_server:cast(Pid, {event, N, [{key, K, N} || K <- lists:seq(1, 100)]}),
    timer:sleep(5),
    feeds(Pid, N + 1).

init([]) -> {ok, #{}}.
handle_call(begins, _, _) -> {reply, ok, maps:from_list([{-N, [{key, K, N} || K <- lists:seq(1, 20)]} || N <- lists:seq(1, 150_000)])}.
handle_cast({event, N, Event}, State) -> {noreply, State#{N => Event}}.
