%% A cluster of three nodes whose OTP is replaced on one node after the other, from stock to `tuned' and back, while clients work: no
%% transaction that was answered is lost, and no error is logged that is not logged where stock takes the place of stock.
%% ERTSLAB_ROLLING names two other installations, `/opt/otp-27-stock,/opt/otp-27-tuned'; ERTSLAB_CHAOS_SECONDS, how long each state
%% of the cluster works.
-module(rolling_upgrade_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, nothing_is_lost_there_and_back/1]).

-define(WORKERS, 4).
%% As in term_cluster_SUITE, and no port of its.
-define(PORT, 20_000 + (list_to_integer(os:getpid()) + 1) rem 12_000).
-define(SERVERS, 3).
-define(CLIENT, 4).

suite() -> [{timetrap, {seconds, 12 * endurance_chaos:seconds() + 600}}].

all() -> [nothing_is_lost_there_and_back].

nothing_is_lost_there_and_back(Config) ->
    {Stock, Tuned} = both(),
    Dir = proplists:get_value(priv_dir, Config),
    Nodes = [node_name(Nth) || Nth <- lists:seq(1, ?SERVERS)],
    Servers = maps:from_list([{Nth, started(Nth, Stock, Dir)} || Nth <- lists:seq(1, ?SERVERS)]),
    Client = started(?CLIENT, Stock, Dir),
    #{1 := First} = Servers,
    connected(maps:values(Servers) ++ [Client], Nodes),
    ok = call(First, rolling_load, create, [Nodes]),
    [ok = call(Peer, rolling_load, serve, []) || Peer <- maps:values(Servers)],
    ok = call(First, rolling_load, create, [Nodes]),
    ok = call(Client, rolling_load, keep_errors, []),
    ok = call(Client, rolling_load, start_workers, [Nodes, ?WORKERS]),
    {Control, Servers1} = rolled(Servers, {Stock, false}, Client, Dir),
    {There, Servers2} = rolled(Servers1, {Tuned, true}, Client, Dir),
    {Back, Servers3} = rolled(Servers2, {Stock, false}, Client, Dir),
    Answered = call(Client, rolling_load, stop_workers, []),
    Ids = [Id || {Id, _} <- Answered],
    ?assertMatch([_ | _], Ids),
    [begin
         ?assertEqual([], call(Peer, rolling_load, missing, [Ids])),
         ?assertEqual(20 * 1000, call(Peer, rolling_load, sum, []))
     end || Peer <- maps:values(Servers3)],
    ?assertEqual([], lists:usort(There ++ Back) -- Control),
    [ok = peer:stop(Peer) || Peer <- [Client | maps:values(Servers3)]],
    {comment, lists:flatten(io_lib:format("~b transactions, ~b of them asked again; errors logged in the control: ~0p",
                                          [length(Ids), length([Id || {Id, Tries} <- Answered, Tries > 1]), Control]))}.

%% The words that start each of the two.
both() ->
    case os:getenv("ERTSLAB_ROLLING") of
        false ->
            Release = hd(ertslab_inventory:releases()),
            {ertslab_vm:command(ertslab_inventory:find(~"stock", Release), []), ertslab_vm:command(ertslab_inventory:find(~"tuned", Release), [])};
        Folders ->
            [Stock, Tuned] = [[filename:join([Folder, "bin", "erl"])] || Folder <- string:split(Folders, ",")],
            {Stock, Tuned}
    end.

%% Each of the servers takes this OTP, which is patched or not, one after the other: the kinds of errors that they and the client logged,
%% and the new servers. Clients are answered in each state of the cluster.
rolled(Servers, {Words, IsPatched}, Client, Dir) ->
    lists:foldl(fun(Nth, {Errors, Now}) ->
                        #{Nth := Old} = Now,
                        Leaving = call(Old, rolling_load, leave, []),
                        ok = peer:stop(Old),
                        New = started(Nth, Words, Dir),
                        ?assertEqual(IsPatched, call(New, rolling_load, is_patched, [])),
                        Others = maps:values(maps:remove(Nth, Now)),
                        connected([New], [node_name(Each) || Each <- lists:seq(1, ?CLIENT), Each =/= Nth]),
                        ok = call(New, rolling_load, serve, []),
                        All = [New, Client | Others],
                        true = endurance_chaos:until(fun() -> lists:all(fun(Peer) -> call(Peer, rolling_load, name_answers, []) end, All) end),
                        Before = call(Client, rolling_load, answered, []),
                        ok = timer:sleep(1000 * endurance_chaos:seconds()),
                        ?assert(call(Client, rolling_load, answered, []) > Before),
                        Logged = lists:append([call(Peer, rolling_load, errors, []) || Peer <- All]),
                        {lists:usort(Errors ++ Leaving ++ Logged), Now#{Nth := New}}
                end, {[], Servers}, lists:seq(1, ?SERVERS)).

connected(Peers, Nodes) -> [true = call(Peer, net_kernel, connect_node, [Node]) || Peer <- Peers, Node <- Nodes].

call(Peer, Module, Function, Arguments) -> peer:call(Peer, Module, Function, Arguments, infinity).

node_name(Nth) -> list_to_atom(lists:concat([rolling, Nth, "@127.0.0.", Nth])).

started(Nth, [Erl | Words], Dir) ->
    Interface = "{127,0,0," ++ integer_to_list(Nth) ++ "}",
    Mnesia = io_lib:format("~0p", [filename:join(Dir, "mnesia" ++ integer_to_list(Nth))]),
    {ok, Peer, _} = peer:start_link(
                      #{exec => Erl, connection => standard_io, wait_boot => 60_000,
                        args => Words ++ ["-name", atom_to_list(node_name(Nth)), "-start_epmd", "false",
                                          "-erl_epmd_port", integer_to_list(?PORT), "-setcookie", os:getpid(),
                                          "-kernel", "inet_dist_use_interface", Interface,
                                          "-mnesia", "dir", lists:flatten(Mnesia),
                                          "-pa", filename:dirname(code:which(rolling_load))]}),
    Peer.
