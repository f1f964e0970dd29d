%% A client sends to a node that does not read: it is suspended by the connection, and its mailbox grows.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).
start() ->
    Peer = list_to_atom(os:getenv("PEER")),
    true = net_kernel:connect_node(Peer),
    {ok, P} = gen_server:start({local, rpc_client}, ?MODULE, Peer, []),
    spawn(fun() -> feed(P, 1) end),
    [spawn(fun() -> direct(Peer) end) || _ <- lists:seq(1, 50)],
    _ = os:cmd("kill -STOP " ++ os:getenv("PEER_PID")),
    timer:sleep(4000), ok.
feed(P, N) -> gen_server:cast(P, {forward, N, binary:copy(<<"x">>, 2000)}), case N rem 10 of 0 -> timer:sleep(1); _ -> ok end, feed(P, N + 1).
direct(Peer) -> {sink, Peer} ! {event, binary:copy(<<"y">>, 3000)}, timer:sleep(20), direct(Peer).
init(Peer) -> {ok, Peer}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast({forward, N, B}, Peer) -> {sink, Peer} ! {forward, N, B}, {noreply, Peer}.
