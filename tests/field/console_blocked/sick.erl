%% The console is a pipe that nobody reads any more: the log's process waits for it, and has all that is to be logged in its mailbox.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, Log} = gen_server:start({local, console_log}, ?MODULE, [], []),
    _ = [gen_server:cast(Log, {log, info, N, lists:seq(1, 100)}) || N <- lists:seq(1, 5000)],
    timer:sleep(1000),
    ok.

init([]) -> {ok, 0}.
handle_call(_, _, Lines) -> {reply, ok, Lines}.
handle_cast({log, Level, N, What}, Lines) ->
    io:format(user, "~p ~b: ~p~n", [Level, N, What]),
    {noreply, Lines + 1}.
