%% 200 requests at a time ask the code server where an application lies, one after the other.
-module(sick).
-export([start/0, request/0]).

start() ->
    _ = [spawn(?MODULE, request, []) || _ <- lists:seq(1, 200)],
    ok.

request() ->
    [_ | _] = code:lib_dir(stdlib),
    request().
