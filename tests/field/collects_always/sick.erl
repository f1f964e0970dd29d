%% 400 sessions of 300 kB hibernate after each of their ten messages a second: no collection is long, and together they are most of the work.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    [{ok, _} = gen_server:start(?MODULE, N, []) || N <- lists:seq(1, 300)],
    timer:sleep(500),
    ok.

init(N) -> self() ! tick, {ok, [{N, K} || K <- lists:seq(1, 8_000)], hibernate}.
handle_call(_, _, S) -> {reply, ok, S, hibernate}.
handle_cast(_, S) -> {noreply, S, hibernate}.
handle_info(tick, S) -> erlang:send_after(100, self(), tick), {noreply, S, hibernate}.
