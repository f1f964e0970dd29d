%% Metrics ask a supervisor of 20,000 connections for all of them, ten at a time, and it hardly comes to start one.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, connection/0, metrics/0]).

start() ->
    {ok, Supervisor} = supervisor:start_link({local, conn_sup}, ?MODULE, []),
    unlink(Supervisor),
    [{ok, _} = supervisor:start_child(conn_sup, []) || _ <- lists:seq(1, 20_000)],
    _ = [spawn(?MODULE, metrics, []) || _ <- lists:seq(1, 10)],
    timer:sleep(200),
    ok.

init([]) ->
    {ok, {#{strategy => simple_one_for_one},
          [#{id => connection, start => {?MODULE, connection, []}, restart => temporary}]}}.

connection() -> {ok, spawn_link(fun() -> receive close -> ok end end)}.

metrics() ->
    _ = length(supervisor:which_children(conn_sup)),
    timer:sleep(10),
    metrics().
