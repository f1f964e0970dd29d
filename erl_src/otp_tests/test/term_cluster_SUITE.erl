%% Three nodes of the VM that this runs in send each other large nested terms, for as long as
%% ERTSLAB_CHAOS_SECONDS says: each comes back as it was, by way of the two others.
-module(term_cluster_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, terms_come_back_as_they_were/1, by_nodes_with/1]).

-define(WORKERS, 4).
%% Each node has an address of its own, so that all can listen on one port and need no epmd.
%% Below the ports that Linux gives to whoever asks for any, one of which may be taken when a node starts.
-define(PORT, 20_000 + list_to_integer(os:getpid()) rem 12_000).

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [terms_come_back_as_they_were].

terms_come_back_as_they_were(_) -> by_nodes_with([]).

%% @doc The case, with these arguments more for each node.
-spec by_nodes_with([string()]) -> {comment, string()}.
by_nodes_with(Arguments) ->
    Port = integer_to_list(?PORT),
    Nodes = [node_name(Nth) || Nth <- lists:seq(1, 3)],
    Peers = [{Node, started(Nth, Port, Arguments)} || {Nth, Node} <- lists:enumerate(Nodes)],
    [true = call(Peer, net_kernel, connect_node, [Node]) || {_, Peer} <- Peers, Node <- Nodes],
    [true = call(Peer, term_cluster, start_relay, []) || {_, Peer} <- Peers],
    [ok = call(Peer, term_cluster, start_workers, [Nodes -- [Own], ?WORKERS]) || {Own, Peer} <- Peers],
    Samplers = [{Node, endurance_soak:start(fun() -> call(Peer, term_cluster, look, []) end, endurance_chaos:seconds())}
                || {Node, Peer} <- Peers],
    ok = timer:sleep(1000 * endurance_chaos:seconds()),
    Growths = [{Node, endurance_soak:stop(Sampler)} || {Node, Sampler} <- Samplers],
    {Ends, Terms, Words} = lists:unzip3([call(Peer, term_cluster, stop_workers, []) || {_, Peer} <- Peers]),
    ?assertEqual([normal], lists:uniq(lists:append(Ends))),
    ?assertEqual([], [None || None <- Terms, None =:= 0]),
    [?assertEqual(Nodes -- [Own], lists:sort(call(Peer, erlang, nodes, []))) || {Own, Peer} <- Peers],
    [ok = peer:stop(Peer) || {_, Peer} <- Peers],
    {comment, comment(lists:sum(Terms), lists:sum(Words), Growths)}.

%% On a busy machine a node answers late, which is no fault.
call(Peer, Module, Function, Arguments) -> peer:call(Peer, Module, Function, Arguments, infinity).

node_name(Nth) -> list_to_atom(lists:concat([ertslab, Nth, "@127.0.0.", Nth])).

started(Nth, Port, Arguments) ->
    [Name, Host] = string:split(atom_to_list(node_name(Nth)), "@"),
    Interface = "{127,0,0," ++ integer_to_list(Nth) ++ "}",
    {ok, Peer, _} = peer:start_link(
                      #{name => Name, host => Host, longnames => true, connection => standard_io,
                        args => ["-start_epmd", "false", "-erl_epmd_port", Port, "-setcookie", os:getpid(),
                                 "-connect_all", "false", "-kernel", "inet_dist_use_interface", Interface,
                                 "-pa" | [Dir || Dir <- code:get_path(), Dir =/= "."]] ++ Arguments}),
    Peer.

comment(Terms, Words, Growths) ->
    lists:flatten([io_lib:format("~b s; ~b terms came back, ~.1f GB; ", [endurance_chaos:seconds(), Terms, 8 * Words / 1.0e9])
                   | [[atom_to_list(Node), ": ", endurance_soak:text(Growth), "; "] || {Node, Growth} <- Growths]]).
