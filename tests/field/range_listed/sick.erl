%% Each request makes a list of 150,000 numbers in order to draw one of them.
-module(sick).
-export([start/0, accept/0, handle/0]).

start() ->
    _ = [spawn(?MODULE, accept, []) || _ <- lists:seq(1, 8)],
    timer:sleep(500),
    ok.

accept() ->
    {_, Monitor} = spawn_monitor(?MODULE, handle, []),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    timer:sleep(10),
    accept().

handle() -> [pick(1_500_000, 1_650_000), pick(1_500_000, 1_650_000)].

pick(From, To) ->
    All = listed(From, To),
    lists:nth(rand:uniform(length(All)), All).

listed(From, To) -> listed(From, To, []).

listed(From, To, Listed) when From > To -> lists:reverse(Listed);
listed(From, To, Listed) -> listed(From + 1, To, [From | Listed]).
