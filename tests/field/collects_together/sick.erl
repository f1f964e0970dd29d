%% Sessions keep 30,000 entries in a tuple, which is copied for each change: none collects long, and all together most of the time.
-module(sick).
-export([start/0, session/1]).

start() ->
    Entries = list_to_tuple([{N, [N]} || N <- lists:seq(1, 30_000)]),
    _ = [spawn(?MODULE, session, [Entries]) || _ <- lists:seq(1, 30)],
    ok.

session(Entries) ->
    Changed = lists:foldl(fun(_, All) -> N = rand:uniform(30_000), setelement(N, All, {N, [N]}) end, Entries, lists:seq(1, 10)),
    timer:sleep(10),
    session(Changed).
