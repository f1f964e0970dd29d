%% Six clients hand events to a buffer, which puts each at the end of a list of 100,000.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, hands/0]).

start() ->
    {ok, _} = gen_server:start({local, event_buffer}, ?MODULE, [], []),
    _ = [spawn(?MODULE, hands, []) || _ <- lists:seq(1, 6)],
    timer:sleep(1000),
    ok.

hands() ->
    gen_server:cast(event_buffer, {add, event}),
    _ = gen_server:call(event_buffer, count, infinity),
    hands().

init([]) -> {ok, lists:seq(1, 100_000)}.

handle_cast({add, Event}, Events) -> {noreply, Events ++ [Event]}.

handle_call(count, _, Events) -> {reply, length(Events), Events}.
