%% A monitor of the cluster disconnects each node that it sees while another one is not there, and connects to it again.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    {ok, _} = gen_server:start({local, cluster}, ?MODULE, [], []),
    timer:sleep(500),
    ok.

init([]) ->
    ok = net_kernel:monitor_nodes(true),
    self() ! join,
    {ok, []}.

handle_call(_, _, State) -> {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.

handle_info(join, State) ->
    Peer = list_to_atom(os:getenv("PEER")),
    _ = spawn(fun() -> net_kernel:connect_node(Peer) end),
    erlang:send_after(50, self(), join),
    {noreply, State};
handle_info({nodeup, Node}, State) ->
    erlang:send_after(50, self(), {is_partial, Node}),
    {noreply, State};
handle_info({is_partial, Node}, State) ->
    true = length(nodes()) < 2,
    _ = erlang:disconnect_node(Node),
    {noreply, State};
handle_info(_, State) -> {noreply, State}.
