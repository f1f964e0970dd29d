%% 40 workers look for an optional module of their tenant before each piece of work; most tenants have none.
-module(sick).
-export([start/0, renders/1]).

start() ->
    _ = [code:ensure_loaded(Module) || App <- [kernel, stdlib], {ok, Modules} <- [application:get_key(App, modules)], Module <- Modules],
    _ = [spawn(?MODULE, renders, [N]) || N <- lists:seq(1, 40)],
    timer:sleep(1000),
    ok.

renders(N) ->
    Hooks = element(1 + N rem 4, {tenant_a_hooks, tenant_b_hooks, tenant_c_hooks, tenant_d_hooks}),
    _ = render(Hooks, N),
    timer:sleep(15),
    renders(N).

render(Hooks, N) ->
    case code:ensure_loaded(Hooks) of
        {module, Hooks} -> Hooks:before(N);
        {error, _} -> lists:sum([3 * X || X <- lists:seq(1, 50)]) + N
    end.
