%% The start of an application waits for a table of mnesia, which no node that is there can load.
-module(sick).
-export([start/0, start/2, stop/1]).

start() ->
    {ok, _} = application:ensure_all_started(mnesia),
    ok = application:load({application, shop, [{applications, [kernel, stdlib, mnesia]}, {mod, {?MODULE, []}}]}),
    _ = spawn(fun() -> {ok, _} = application:ensure_all_started(shop) end),
    timer:sleep(500),
    ok.

start(normal, []) ->
    ok = mnesia:wait_for_tables([durable_queues], infinity),
    {ok, self()}.

stop(_) -> ok.
