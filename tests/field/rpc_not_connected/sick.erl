%% 60 processes ask a node that hangs by rpc: its machine takes the connection, and the handshake never ends.
-module(sick).
-export([start/0, asks/1]).

start() ->
    _ = [spawn(?MODULE, asks, [N]) || N <- lists:seq(1, 60)],
    timer:sleep(1000),
    ok.

asks(N) ->
    _ = rpc:call(list_to_atom(os:getenv("PEER")), prices, price, [N], infinity),
    timer:sleep(20),
    asks(N).
