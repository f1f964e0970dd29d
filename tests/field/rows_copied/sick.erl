%% Each request is a process that reads the whole configuration, one row of a table, for one entry of it.
-module(sick).
-export([start/0]).

start() ->
    spawn(fun() ->
                  settings = ets:new(settings, [public, named_table, {read_concurrency, true}]),
                  Routes = maps:from_list([{integer_to_binary(N), {route, N, "/path/to/" ++ integer_to_list(N)}}
                                           || N <- lists:seq(1, 12_000)]),
                  true = ets:insert(settings, {routes, Routes}),
                  _ = [register(Name, spawn(fun accept/0)) || Name <- [acceptor_1, acceptor_2, acceptor_3, acceptor_4]],
                  timer:sleep(infinity)
          end),
    timer:sleep(500),
    ok.

accept() ->
    _ = spawn(fun() -> request(integer_to_binary(rand:uniform(12_000))) end),
    timer:sleep(6),
    accept().

request(Key) ->
    [{routes, Routes}] = ets:lookup(settings, routes),
    #{Key := {route, _, Path}} = Routes,
    timer:sleep(3),
    length(Path).
