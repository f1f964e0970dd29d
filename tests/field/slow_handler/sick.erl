%% A handler of events waits 50 ms for each, and 20 processes wait for it (sync_notify).
-module(sick).
-behaviour(gen_event).
-export([start/0, init/1, handle_event/2, handle_call/2, tells/0]).

start() ->
    {ok, Manager} = gen_event:start({local, metrics_events}),
    ok = gen_event:add_handler(Manager, ?MODULE, []),
    _ = [spawn(?MODULE, tells, []) || _ <- lists:seq(1, 20)],
    timer:sleep(200),
    ok.

init([]) -> {ok, []}.

handle_event(_, State) ->
    timer:sleep(50),
    {ok, State}.

handle_call(_, State) -> {ok, ok, State}.

tells() ->
    ok = gen_event:sync_notify(metrics_events, request),
    tells().
