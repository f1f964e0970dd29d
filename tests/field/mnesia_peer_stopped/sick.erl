%% A table of mnesia has a copy on another node, which is stopped and stays connected. 30 processes change rows in transactions: each waits
%% for a lock of that node, or for who does.
-module(sick).
-export([start/0, transfers/0]).

start() ->
    Peer = list_to_atom(os:getenv("PEER")),
    pong = net_adm:ping(Peer),
    ok = mnesia:start(),
    ok = erpc:call(Peer, mnesia, start, []),
    {ok, [Peer]} = mnesia:change_config(extra_db_nodes, [Peer]),
    {atomic, ok} = mnesia:create_table(account, [{ram_copies, [node(), Peer]}]),
    _ = [ok = mnesia:dirty_write({account, N, 0}) || N <- lists:seq(1, 1000)],
    _ = [spawn(?MODULE, transfers, []) || _ <- lists:seq(1, 30)],
    timer:sleep(500),
    "" = os:cmd("kill -STOP " ++ os:getenv("PEER_PID")),
    timer:sleep(500),
    ok.

transfers() ->
    timer:sleep(rand:uniform(100)),
    {atomic, ok} = mnesia:transaction(fun() ->
                                              [{account, From, Has}] = mnesia:read(account, rand:uniform(1000), write),
                                              ok = mnesia:write({account, From, Has - 1}),
                                              mnesia:write({account, rand:uniform(1000), Has + 1})
                                      end),
    transfers().
