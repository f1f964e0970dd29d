%% Each request of a cart starts a timer that nobody cancels, in a process of its own for each shop and in one that all ask.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, asks/1]).

start() ->
    {ok, Cart} = gen_server:start({local, cart_hold}, ?MODULE, [], []),
    _ = [spawn(?MODULE, asks, [Cart]) || _ <- lists:seq(1, 3)],
    ok.

init([]) ->
    _ = [erlang:send_after(3_600_000, self(), {release, N}) || N <- lists:seq(1, 300_000)],
    {ok, 0, hibernate}.

handle_call({hold, N}, _, Count) -> {reply, hold(N), Count + 1}.
handle_cast(_, Count) -> {noreply, Count}.

hold(N) ->
    _ = erlang:start_timer(3_600_000, self(), {release, N}),
    ok.

asks(Cart) ->
    ok = gen_server:call(Cart, {hold, 1}),
    timer:sleep(5),
    asks(Cart).
