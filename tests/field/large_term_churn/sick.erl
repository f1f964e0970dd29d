%% A persistent term of 20 MB is put anew six times a second.
-module(sick).
-export([start/0]).

start() ->
    spawn(fun() -> churn(1) end),
    timer:sleep(500).

churn(N) ->
    persistent_term:put(catalogue, [N | lists:seq(1, 1_250_000)]),
    true = garbage_collect(),
    timer:sleep(150),
    churn(N + 1).
