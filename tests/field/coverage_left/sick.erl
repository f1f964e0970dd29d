%% A build for a test of coverage went into production: each line of a module that has much to do is counted.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, parcel/0]).

start() ->
    {ok, routes} = cover:compile_beam(routes),
    {ok, _} = gen_server:start({local, planner}, ?MODULE, [], []),
    _ = [spawn(?MODULE, parcel, []) || _ <- lists:seq(1, 30)],
    timer:sleep(200),
    ok.

init(State) -> {ok, State}.

handle_call({cost, Stops}, _, State) -> {reply, routes:cost(Stops, 0), State}.

handle_cast(_, State) -> {noreply, State}.

parcel() ->
    _ = gen_server:call(planner, {cost, 20_000}, infinity),
    timer:sleep(20),
    parcel().
