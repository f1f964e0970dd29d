%% All sessions of a tenant are rows of one key in a bag, so each insertion goes by 20,000 of them.
-module(sick).
-export([start/0, registers/1]).

start() ->
    Self = self(),
    spawn(fun() ->
                  by_tenant = ets:new(by_tenant, [bag, named_table, public]),
                  true = ets:insert(by_tenant, [{tenant, N} || N <- lists:seq(1, 20_000)]),
                  Self ! made,
                  timer:sleep(infinity)
          end),
    receive made -> ok end,
    _ = [spawn(?MODULE, registers, [N * 100_000_000]) || N <- lists:seq(1, 4)],
    timer:sleep(300),
    ok.

registers(N) ->
    true = ets:insert(by_tenant, {tenant, N}),
    true = ets:delete_object(by_tenant, {tenant, N}),
    %% The VM counts four reductions for all that.
    true = erlang:bump_reductions(1000),
    registers(N + 1).
