%% A list of features is put anew each second for 10,000 processes that keep it.
-module(sick).
-export([start/0, keep/0]).

start() ->
    persistent_term:put(features, value(0)),
    [spawn(?MODULE, keep, []) || _ <- lists:seq(1, 10_000)],
    spawn(fun() -> churn(1) end),
    ok.

value(N) -> maps:from_list([{{key, K}, [N, K]} || K <- lists:seq(1, 100)]).
churn(N) -> persistent_term:put(features, value(N)), timer:sleep(1000), churn(N + 1).
keep() -> V = persistent_term:get(features), receive stop -> ok after 500 -> ok end, _ = map_size(V), keep().
