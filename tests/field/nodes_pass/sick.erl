%% A monitoring job runs a tool all the time, which is a hidden node with a name of its own each time.
-module(sick).
-export([start/0, tools/0]).

start() -> ok.

%% In another VM.
tools() ->
    [Node, Cookie] = [list_to_atom(os:getenv(Name)) || Name <- ["ASKED", "COOKIE_OF_ASKED"]],
    tools(Node, Cookie, 1).

tools(Node, Cookie, N) ->
    {ok, _} = net_kernel:start([list_to_atom(lists:concat(["ctl-", os:getpid(), "-", N, "@127.0.0.1"])), longnames]),
    true = erlang:set_cookie(node(), Cookie),
    _ = catch erpc:call(Node, erlang, memory, [], 3000),
    ok = net_kernel:stop(),
    timer:sleep(100),
    tools(Node, Cookie, N + 1).
