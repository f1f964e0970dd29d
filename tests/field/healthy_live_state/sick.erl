%% A server with 50 MB of state that is looked up, and changed, a hundred times a second.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, catalogue}, ?MODULE, [], []),
    _ = [spawn(fun Asks() -> asks(), timer:sleep(100), Asks() end) || _ <- lists:seq(1, 10)],
    ok.

asks() ->
    N = rand:uniform(300_000),
    {item, N, _} = gen_server:call(catalogue, {find, N}),
    gen_server:cast(catalogue, {sold, N}).

init([]) ->
    Items = maps:from_list([{N, {item, N, [N, N + 1, N + 2]}} || N <- lists:seq(1, 300_000)]),
    true = garbage_collect(),
    {ok, Items}.

handle_call({find, N}, _, Items) -> {reply, maps:get(N, Items), Items}.
handle_cast({sold, N}, Items) -> {noreply, Items#{N := {item, N, [N]}}}.
