%%% Connections to other nodes that end and are made again: who comes and goes, why, and who ends them here.

%% Of so many nodes, and so long it is asked who ends connections.
-define(FLAPPING, 5).
-define(DISCONNECTS_MS, 1000).
%% So many names of nodes are told apart.
-define(KNOWN_NODES, 20_000).

%% @doc How often connections to visible nodes ended and were made until then. The VM tells it, with its reason, and ends that with this
%% process.
-spec flaps(integer()) -> diagnose_types:flaps() | unknown.
flaps(Until) ->
    Began = now_ms(),
    case net_kernel:monitor_nodes(true, [nodedown_reason]) of
        ok ->
            Known = maps:from_keys(lists:sublist(nodes(known), ?KNOWN_NODES), true),
            Seen = flaps_until(Until, #{}),
            #{came => came_and_gone(Known, nodes(connected), nodes(known)), ms => max(1, now_ms() - Began), by => none,
              nodes => [#{node => Node, downs => Downs, ups => Ups, reason => hd([Reason || {_, Reason} <- most_frequent(Reasons)])}
                        || {Downs, {Node, {Ups, [_ | _] = Reasons}}}
                               <- ranked(?FLAPPING, [{length(Reasons), One} || {_, {_, Reasons}} = One <- maps:to_list(Seen)])]};
        _ -> unknown
    end.

flaps_until(Until, Seen) ->
    receive
        {nodeup, Node, _} ->
            {Ups, Reasons} = maps:get(Node, Seen, {0, []}),
            flaps_until(Until, Seen#{Node => {Ups + 1, Reasons}});
        {nodedown, Node, Info} ->
            {Ups, Reasons} = maps:get(Node, Seen, {0, []}),
            flaps_until(Until, Seen#{Node => {Ups, [reason_of_down(Info) | Reasons]}})
    after max(0, Until - now_ms()) -> Seen
    end.

%% @doc Nodes, hidden ones, too, that were not known before and are not connected any more, by their names without numbers. Each such
%% name is an atom that stays.
-spec came_and_gone(Known :: #{node() => true}, Connected :: [node()], [node()]) -> [{Like :: binary(), pos_integer()}].
came_and_gone(Known, Connected, Now) when map_size(Known) < ?KNOWN_NODES ->
    New = [Node || Node <- lists:sublist(Now, ?KNOWN_NODES), not is_map_key(Node, Known), not lists:member(Node, Connected)],
    [{Like, Count} || {Count, Like} <- most_frequent([without_numbers(atom_to_list(Node)) || Node <- New])];
came_and_gone(_, _, _) -> [].

without_numbers(Name) ->
    {Before, Host} = lists:splitwith(fun(Char) -> Char =/= $@ end, Name),
    unicode:characters_to_binary([lists:filter(fun(Char) -> Char < $0 orelse Char > $9 end, Before), Host]).

%% What is not a word may be large.
reason_of_down(Info) ->
    case proplists:get_value(nodedown_reason, Info) of
        Reason when is_atom(Reason) -> Reason;
        _ -> other
    end.

%% With who ends connections here, where somebody does.
with_disconnecting(#{nodes := Nodes} = Flaps, Pids, Deadline) ->
    case [Node || #{node := Node, reason := disconnect, downs := Downs} <- Nodes, Downs >= ?FLAPS] of
        [] -> Flaps;
        _ ->
            Traced = lists:sublist(Pids, ?TRACED_FOR_TIMERS),
            Flaps#{by := known(within(fun() -> calls_of([disconnect_function()], Traced, ?DISCONNECTS_MS) end,
                                      min(Deadline, now_ms() + ?DISCONNECTS_MS + 2 * ?LAST_ANSWER_MS)))}
    end;
with_disconnecting(unknown, _, _) -> unknown.

disconnect_function() -> {erlang, disconnect_node, 1}.
