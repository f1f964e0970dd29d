%% Each request sets a timer of an hour, and none is cancelled when it is answered.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, rate_limiter}, ?MODULE, [], []),
    ok.

init([]) ->
    _ = [erlang:send_after(3_600_000, self(), {expire, N}) || N <- lists:seq(1, 400_000)],
    {ok, 0, hibernate}.

handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
