%% A cache of 5,000 pages of 60 kB each, in a table: 300 MB that no process holds, and of which the table's own words are few.
-module(sick).
-export([start/0]).

start() ->
    Self = self(),
    register(page_cache, spawn(fun() ->
        pages = ets:new(pages, [named_table, protected]),
        fill(5000),
        erlang:garbage_collect(),
        Self ! ready,
        receive stop -> ok end
    end)),
    receive ready -> ok end.

fill(0) -> ok;
fill(N) -> true = ets:insert(pages, {N, binary:copy(<<N:32>>, 15_000)}), fill(N - 1).
