%% A store of native code compacts all the time, by threads of its own; its clients do little.
-module(sick).
-export([start/0, client/0, fetch/1]).
start() -> ok = erlang:load_nif("./sick_nif", 0), [spawn(?MODULE, client, []) || _ <- lists:seq(1, 20)], ok.
client() -> timer:sleep(40), _ = fetch(key), client().
fetch(_Key) -> erlang:nif_error(not_loaded).
