%% A process holds a global lock and never gives it back; 200 others try again and again to get it.
-module(sick).
-export([start/0, asks/1]).

start() ->
    true = global:set_lock({report, self()}, [node()]),
    Lock = self(),
    spawn(fun() -> true = global:set_lock({daily, self()}, [node()]), Lock ! held, receive never -> ok end end),
    receive held -> ok end,
    _ = [spawn(?MODULE, asks, [N]) || N <- lists:seq(1, 200)],
    timer:sleep(500),
    ok.

asks(N) -> global:trans({daily, self()}, fun() -> N end, [node()]).
