%% A node of the cluster has stopped reading, and +zdbbl lets the connection to it hold what is sent.
-module(sick).
-export([start/0, replicates/1]).
start() ->
    Peer = list_to_atom(os:getenv("PEER")),
    true = net_kernel:connect_node(Peer),
    _ = os:cmd("kill -STOP " ++ os:getenv("PEER_PID")),
    [spawn(?MODULE, replicates, [Peer]) || _ <- lists:seq(1, 20)],
    timer:sleep(5000), ok.
replicates(Peer) -> timer:sleep(20), {sink, Peer} ! {row, lists:seq(1, 20_000)}, replicates(Peer).
