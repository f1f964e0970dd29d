%% A registry of members unlinks a member that leaves one group, though it is in others: the rows of those stay when it ends.
-module(sick).
-export([start/0, registry/1, visit/1, visitors/1]).

start() ->
    Starter = self(),
    register(member_registry, spawn(?MODULE, registry, [Starter])),
    receive ready -> ok end,
    _ = [spawn(?MODULE, visit, [N]) || N <- lists:seq(1, 12_000)],
    spawn(?MODULE, visitors, [12_001]),
    timer:sleep(3500).

registry(Starter) ->
    member_groups = ets:new(member_groups, [named_table, duplicate_bag]),
    member_pids = ets:new(member_pids, [named_table, duplicate_bag]),
    process_flag(trap_exit, true),
    Starter ! ready,
    serves().

serves() ->
    receive
        {join, Group, Pid} ->
            link(Pid),
            true = ets:insert(member_groups, {Group, Pid}),
            true = ets:insert(member_pids, {Pid, Group});
        {leave, Group, Pid} ->
            true = ets:delete_object(member_groups, {Group, Pid}),
            true = ets:delete_object(member_pids, {Pid, Group}),
            unlink(Pid),
            Pid ! left;
        {'EXIT', Pid, _} ->
            _ = [ets:delete_object(member_groups, {Group, Pid}) || {_, Group} <- ets:lookup(member_pids, Pid)],
            true = ets:delete(member_pids, Pid)
    end,
    serves().

visitors(N) ->
    spawn(?MODULE, visit, [N]),
    timer:sleep(4),
    visitors(N + 1).

visit(N) ->
    Groups = [{room, N rem 400}, {floor, N rem 40}, {language, N rem 8}],
    _ = [member_registry ! {join, Group, self()} || Group <- Groups],
    timer:sleep(rand:uniform(2000)),
    member_registry ! {leave, hd(Groups), self()},
    receive left -> ok end.
