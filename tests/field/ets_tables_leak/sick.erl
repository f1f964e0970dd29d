%% A parser makes a table for each document and forgets to delete it: 30,000 of them.
-module(sick).
-export([start/0]).

start() ->
    Self = self(),
    register(xml_parser, spawn(fun() -> [ets:new(rules, [set, public]) || _ <- lists:seq(1, 30_000)], Self ! ready, parse() end)),
    receive ready -> ok end.

parse() ->
    _ = ets:new(rules, [set, public]),
    receive stop -> ok after 20 -> parse() end.
