%% An exporter waits for an answer that never comes, and spans are inserted all the time: a table of 60 MB gets 1 MB more a second.
-module(sick).
-export([start/0]).

start() ->
    Self = self(),
    register(span_batch, spawn(fun() -> spans(Self) end)),
    receive ready -> ok end,
    spawn(fun() -> services(erlang:monotonic_time(millisecond), 0) end),
    timer:sleep(200),
    ok.

spans(Parent) ->
    spans = ets:new(spans, [named_table, public, {write_concurrency, true}]),
    [insert() || _ <- lists:seq(1, 120_000)],
    Parent ! ready,
    receive sent -> ets:delete_all_objects(spans) end.

%% Two each millisecond, however late the machine wakes it.
services(Began, Inserted) ->
    timer:sleep(9),
    Due = 2 * (erlang:monotonic_time(millisecond) - Began),
    _ = [insert() || _ <- lists:seq(Inserted + 1, Due)],
    services(Began, Due).

insert() ->
    ets:insert(spans, {erlang:unique_integer(), lists:seq(1, 20), erlang:system_time(), [{status, 200}, {method, get}]}).
