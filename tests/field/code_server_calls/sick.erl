%% 1,200 processes ask the code server again and again for the code of a plugin that is not there: for each the path is searched.
-module(sick).
-export([start/0, asks/0]).

%% What the node needs is loaded before, as in a release: else nobody could connect to it.
start() ->
    _ = [code:ensure_loaded(Module) || App <- [kernel, stdlib], {ok, Modules} <- [application:get_key(App, modules)], Module <- Modules],
    true = code:set_path([filename:dirname(code:which(Module)) || Module <- [kernel, lists]]),
    _ = [spawn(?MODULE, asks, []) || _ <- lists:seq(1, 1200)],
    timer:sleep(1000),
    ok.

asks() ->
    error = code:get_object_code(plugin_that_is_not_there),
    asks().
