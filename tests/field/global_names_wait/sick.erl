%% A process holds the lock of global's names while it waits for a node that has gone; 150 others register a name each.
-module(sick).
-export([start/0, asks/1, heals/0]).

start() ->
    Starter = self(),
    spawn(fun() -> true = global:set_lock({global, self()}, [node()]), Starter ! held, heals() end),
    receive held -> ok end,
    _ = [spawn(?MODULE, asks, [N]) || N <- lists:seq(1, 150)],
    timer:sleep(500),
    ok.

asks(N) ->
    yes = global:register_name({session, N}, self()),
    receive stop -> ok end.

heals() -> receive {peer, back} -> global:del_lock({global, self()}, [node()]) end.
