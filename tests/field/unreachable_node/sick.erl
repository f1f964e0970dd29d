%% 40 processes ask a server of a node that hangs: its machine takes the connection, and the handshake never ends.
-module(sick).
-export([start/0, asks/1]).

start() ->
    _ = [spawn(?MODULE, asks, [N]) || N <- lists:seq(1, 40)],
    timer:sleep(1000),
    ok.

asks(N) ->
    _ = (catch gen_server:call({prices, list_to_atom(os:getenv("PEER"))}, {price, N}, infinity)),
    timer:sleep(20),
    asks(N).
