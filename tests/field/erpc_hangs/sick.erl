%% 200 processes have asked another node by erpc for something that it does not finish there.
-module(sick).
-export([start/0, asks/0]).

start() ->
    Far = list_to_atom(os:getenv("PEER")),
    pong = net_adm:ping(Far),
    _ = [spawn(?MODULE, asks, []) || _ <- lists:seq(1, 200)],
    timer:sleep(500),
    ok.

asks() -> erpc:call(list_to_atom(os:getenv("PEER")), timer, sleep, [infinity]).
