%% Clients come and go faster than the process that monitors them handles. For each that has gone it calls demonitor/2 with the option
%% flush. Its message has been sent, and is the last of the 40,000 that wait.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, comes/2]).

start() ->
    {ok, _} = gen_server:start({local, sessions}, ?MODULE, [], []),
    _ = spawn(?MODULE, comes, [spawn(fun() -> ok end), 0]),
    timer:sleep(2000),
    ok.

comes(Client, N) ->
    {_, Waiting} = process_info(whereis(sessions), message_queue_len),
    Next = lists:foldl(fun(_, First) ->
                               _ = [gen_server:cast(sessions, {Event, One, Client})
                                    || Event <- [opened, closed], One <- lists:seq(First, First + 499)],
                               First + 500
                       end, N, lists:seq(1, (41_000 - Waiting) div 1000)),
    timer:sleep(20),
    comes(Client, Next).

init([]) -> {ok, #{}}.
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast({opened, One, Client}, State) -> {noreply, State#{One => monitor(process, Client)}};
handle_cast({closed, One, _}, State) ->
    {Monitor, Left} = maps:take(One, State),
    true = demonitor(Monitor, [flush]),
    {noreply, Left}.
handle_info({'DOWN', _, _, _, _}, State) -> {noreply, State}.
