%% A server whose calls compute for milliseconds each, and 300 clients that wait for it: its mailbox is never empty, and never deep.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, visits/0]).

start() ->
    {ok, _} = gen_server:start({local, game_tracker}, ?MODULE, [], []),
    [spawn(?MODULE, visits, []) || _ <- lists:seq(1, 300)],
    timer:sleep(500),
    ok.

visits() ->
    _ = gen_server:call(game_tracker, track, infinity),
    visits().

init([]) -> {ok, lists:seq(1, 1_000_000)}.
handle_call(track, _, State) -> {reply, compute(State, 0), State}.
handle_cast(_, State) -> {noreply, State}.

compute([N | Rest], Sum) -> compute(Rest, Sum bxor N);
compute([], Sum) -> Sum.
