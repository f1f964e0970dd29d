%% 60 requests read from a disk that does not answer (pipes that nobody writes to): all threads for files are taken, and each further file waits.
%% All code of kernel and stdlib is loaded before, as in a release without crypto.
-module(sick).
-export([start/0, request/1]).

start() ->
    [] = os:cmd("mkfifo stuck"),
    [{module, _} = code:ensure_loaded(Module) || App <- [kernel, stdlib], {ok, Modules} <- [application:get_key(App, modules)], Module <- Modules],
    %% Later than the file that says that the node is ready.
    [spawn(?MODULE, request, ["stuck"]) || _ <- lists:seq(1, 60)],
    ok.

request(File) ->
    timer:sleep(1500),
    {ok, _} = file:open(File, [read, raw, binary]).
