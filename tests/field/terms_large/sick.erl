%% 300 MB of rules that were put into persistent terms, a version for each tenant.
-module(sick).
-export([start/0]).

start() ->
    _ = [persistent_term:put({rules, Tenant}, [{rule, N, [Tenant, N], #{weight => N}} || N <- lists:seq(1, 12_000)])
         || Tenant <- lists:seq(1, 200)],
    ok.
