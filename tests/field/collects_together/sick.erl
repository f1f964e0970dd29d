%% Sessions that have 30,000 entries each, and make much garbage beside: none collects long, and all together most of the time.
-module(sick).
-export([start/0, session/1]).

start() ->
    Entries = [{N, {N, [N]}} || N <- lists:seq(1, 30_000)],
    _ = [spawn(?MODULE, session, [maps:from_list(Entries)]) || _ <- lists:seq(1, 20)],
    ok.

session(Entries) ->
    First = rand:uniform(30_000),
    Changed = lists:foldl(fun(N, All) -> All#{(First + N) rem 30_000 => {N, [N]}} end, Entries, lists:seq(1, 2000)),
    _ = [Entry || Entry <- maps:values(Changed)],
    timer:sleep(10),
    session(Changed).
