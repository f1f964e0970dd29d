%% Native code has 400 MB that no allocator of the VM knows of.
-module(sick).
-export([start/0, take/1]).

start() ->
    ok = erlang:load_nif("./sick_nif", 0),
    ok = take(400),
    ok.

take(_Megabytes) -> erlang:nif_error(not_loaded).
