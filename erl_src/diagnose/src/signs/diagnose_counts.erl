%% @doc From counts, their growth and their limits to signs: processes, ports, files, atoms, modules, tables, timers and monitors. Pure.
-module(diagnose_counts).

-export([of_node/1, of_links/2, of_dictionary/1, most_of/1, processes/1, growth/1, never_fell/1, makers/1]).

-import(diagnose_sign, [sign/4, process/1, in/1]).
-import(diagnose_wording, [label/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of the node.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) ->
    Files = files(Look),
    limits(Look, Files) ++ Files ++ timers(Look) ++ modules(Look) ++ many_tables(Look).

%% @doc The sign of a process with more monitors or links than there are processes. A supervisor has a link for each child, and a
%% registry a monitor for each process that it knows: those are needed.
-spec of_links(map(), diagnose_types:look()) -> [diagnose_types:sign()].
of_links(#{about := About, exactly := Exactly} = Holder, #{counts := [{_, #{processes := {Processes, _}}} | _]} = Look) ->
    {Most, Advice} = most_links(Holder),
    [sign(many_monitors, #{about => About, exactly => Exactly, node_has => Processes}, Advice, diagnose_proof:look())
     || Most >= ?MANY_LINKS, Most > Processes, not has_timers(Holder, Look)];
of_links(#{}, _Look) -> [].

%% @doc The sign of a process with many keys in its process dictionary. They are not counted: a dictionary takes two words for each key
%% at most, and keeps some of these for a while when keys are erased.
-spec of_dictionary(#{bytes := pos_integer(), _ => _}) -> [diagnose_types:sign()].
of_dictionary(#{bytes := Bytes}) ->
    Keys = Bytes div 16,
    [sign(large_dictionary, #{keys => Keys, bytes => Bytes},
          "A key stays until erase/1 or the end of the process. Erase keys that were put for a request, a session or a job when that is"
          " done, or keep such data in ETS, where rows are found and counted, and old ones deleted at once. Each collection, a small one,"
          " too, goes through all keys. If the number of keys is bounded and meant to be that large, leave it.",
          diagnose_proof:look())
     || Keys >= ?DICTIONARY_KEYS].

most_links(#{name := timer_server, about := About, exactly := Exactly}) ->
    {monitors_of_timers(About, Exactly),
     "It monitors a process for each interval timer of it (timer:apply_interval/4, timer:send_interval/2,3). Cancel those that are"
     " not needed any more (timer:cancel/1), or have one timer for all. erlang:send_after/3 needs no server."};
most_links(#{about := About, exactly := Exactly}) ->
    {Most, Who} = case Exactly of
                      unknown -> {About div 2, " If this process is the monitored one, change the processes that monitor it."};
                      #{monitors := Monitors, links := Links, monitored_by := By} -> most_made(By, those_made(Monitors, Links))
                  end,
    {Most,
     ["There are more monitors and links than processes, so some are created repeatedly and never removed. Call demonitor/2 with"
      " flush when a request is done or given up, and use one monitor for each process instead of one for each request. A monitor"
      " takes 144 bytes, and causes a signal when its process ends.", Who]}.

most_made(By, Made) when By > Made -> {By, " Here other processes monitor this one, so change those."};
most_made(_By, Made) -> {Made, ""}.

%% A process has one link to another one, and none to one that has ended, as a supervisor to each child. So links alone are more than there
%% are processes only where some were started since these were counted.
those_made(Monitors, Links) when 10 * Monitors < Links -> Monitors;
those_made(Monitors, Links) -> Monitors + Links.

%% Estimated where they are too many to be counted: all that it has beside its heap are these.
monitors_of_timers(About, unknown) -> About;
monitors_of_timers(_, #{monitors := Monitors}) -> Monitors.

%% Whoever is monitored by timer_server has no monitors to remove: its timers are told of there.
has_timers(#{name := timer_server}, _Look) -> false;
has_timers(#{about := About, exactly := Exactly}, #{links := #{holders := Holders}}) ->
    Timers = lists:sum([monitors_of_timers(A, E) || #{name := timer_server, about := A, exactly := E} <- Holders]),
    case Exactly of
        unknown -> Timers =< About andalso 10 * Timers >= 9 * About;
        #{monitors := Monitors, links := Links, monitored_by := By} ->
            Timers > 0 andalso Monitors + Links < ?MANY_LINKS andalso By - Timers < ?MANY_LINKS
    end.

%% @doc The kinds of these groups with most processes.
-spec most_of([#{label := term(), count := non_neg_integer(), _ => _}]) ->
          [#{label := binary(), count := non_neg_integer(), in => binary()}].
most_of(Groups) ->
    In = maps:from_list([{Label, #{in => label(Frame)}} || #{label := Label, in := Frame} <- Groups]),
    Counts = maps:groups_from_list(fun(#{label := Label}) -> Label end, fun(#{count := Count}) -> Count end, Groups),
    Sorted = lists:reverse(lists:sort([{lists:sum(Same), Label} || {Label, Same} <- maps:to_list(Counts)])),
    %% Few others, of several kinds together, tell nothing.
    Told = [One || {Count, Label} = One <- Sorted, Label =/= unknown orelse ?OTHERS * Count >= element(1, hd(Sorted))],
    [(maps:get(Label, In, #{}))#{label => label(Label), count => Count} || {Count, Label} <- lists:sublist(Told, 3)].

limits(Look, Files) -> [Sign || #{evidence := #{what := What}} = Sign <- limits(Look), What =/= ports orelse not tells_of_ports(Files)].

%% The limit of files comes first.
tells_of_ports(Files) -> [Growth || #{evidence := #{growth_a_second := Growth}} <- Files, is_integer(Growth)] =/= [].

limits(#{counts := [_ | _] = Counts} = Look) ->
    {_, Last} = lists:last(Counts),
    [sign(near_limit, #{what => What, count => Count, limit => Limit, growth_a_second => Growth,
                        'of' => most_of_what(What, Look), by => starters(What, Look)},
          limit_advice(What), diagnose_proof:look())
     || What <- [processes, ports, atoms], {Count, Limit} <- [maps:get(What, Last)],
        Growth <- [growth([{Ms, counted(What, All)} || {Ms, All} <- Counts])],
        Count >= ?NEAR_LIMIT * Limit orelse Growth > 0 andalso Count + grows_to_limit_s(What, Count, Look) * Growth >= Limit];
limits(#{}) -> [].

%% More come than go where clients connect; where none has gone at all, they are left behind, or all of them are new.
grows_to_limit_s(atoms, _, _) -> ?ATOMS_TO_LIMIT_S;
grows_to_limit_s(What, Count, #{counts := Counts} = Look) ->
    IsMany = Count >= case What of processes -> ?MANY_PROCESSES; ports -> ?MANY_PORTS end orelse are_of_one(What, Count, Look),
    case IsMany andalso fell_by([counted(What, All) || {_, All} <- Counts]) =< helpers(What) of
        true -> ?DAY_S;
        false -> ?GROWS_TO_LIMIT_S
    end.

%% The processes of the look itself end before it does.
helpers(processes) -> ?HELPERS;
helpers(ports) -> 0.

fell_by([_ | Others] = Each) -> lists:sum([max(0, Before - Next) || {Before, Next} <- lists:zip(lists:droplast(Each), Others)]).

%% @doc Whether none of these numbers, in the order of time, is less than the one before.
-spec never_fell([integer()]) -> boolean().
never_fell(Each) -> lists:sort(Each) =:= Each.

are_of_one(ports, Count, #{ports := #{owners := [{_, _, Most} | _]}}) -> Count >= ?PORTS_OF_ONE andalso 2 * Most >= Count;
are_of_one(tables, Count, #{tables := #{owners := #{asked := Asked, most := [{_, _, Most} | _]}}}) ->
    Count >= ?TABLES_OF_ONE andalso 2 * Most >= Asked;
are_of_one(processes, Count, #{starts := #{left := [_ | _] = Left}, counts := [{_, First} | _] = Counts}) ->
    {_, Last} = lists:last(Counts),
    [Born, Ended] = [lists:sum([maps:get(Key, One) || One <- Left]) || Key <- [born, ended]],
    %% Each client that connects has a socket, and each thing that is kept a supervisor.
    Count >= ?LEFT_PROCESSES andalso Born >= ?LEFT_STARTS andalso ?FEW_ENDED * Ended =< Born
        andalso 10 * (counted(ports, Last) - counted(ports, First)) =< Born
        andalso not lists:any(fun is_supervisor/1, Left);
are_of_one(_, _, #{}) -> false.

is_supervisor(#{label := {supervisor, _, _}}) -> true;
is_supervisor(#{label := {Module, _, _}}) ->
    lists:any(fun(End) -> lists:suffix(End, atom_to_list(Module)) end, ["sup", "Supervisor"]);
is_supervisor(#{label := unknown}) -> false.

%% Who has started those that have come and not gone.
starters(processes, #{starts := #{left := Left}}) ->
    [#{process => case {Name, Label} of {'', {_, _, _}} -> label(Label); _ -> process(One) end, processes => Processes, started => Born,
       ended => Ended, 'of' => diagnose_sign:counted([Kind || {L, _} = Kind <- Labels, L =/= unknown])}
     || #{name := Name, label := Label, parents := Processes, born := Born, ended := Ended, labels := Labels} = One <- Left,
        Born >= ?LEFT_STARTS];
starters(_, #{}) -> [].

%% Sockets are files, too, of which the system permits fewer than the VM has ports.
files(#{files := {Count, Limit}} = Look) when Count >= ?NEAR_LIMIT * Limit ->
    [sign(near_limit, #{what => files, count => Count, limit => Limit, growth_a_second => unknown, 'of' => most_of_what(ports, Look),
                        by => []},
          "At the limit no file and no socket can be opened any more (emfile). Find out who opens them without closing them;"
          " ulimit -n (LimitNOFILE) raises the limit.",
          diagnose_proof:look())];
files(Look) ->
    case growing_sockets(Look) of
        [] ->
            case growing_own_sockets(Look) of
                [] -> growing_files(Look);
                Sockets -> Sockets
            end;
        Sockets -> Sockets
    end.

%% Sockets of the module socket come with clients, each with a process; those that are only opened have none, or one of gen_tcp_socket alone.
growing_own_sockets(#{counts := [{_, #{sockets := First} = Before} | _] = Counts} = Look) ->
    {_, #{sockets := Last} = Now} = lists:last(Counts),
    Own = lists:sum([Count || #{starts := #{left := Left}} <- [Look], #{labels := Labels} <- Left, {{gen_tcp_socket, _, _}, Count} <- Labels]),
    Sessions = counted(processes, Now) - counted(processes, Before) - Own,
    [sign(near_limit, #{what => files, count => Count, limit => Limit, growth_a_second => Growth, 'of' => [], by => starters(processes, Look)},
          sockets_advice(), diagnose_proof:look())
     || 2 * (Sessions + ?HELPERS) =< Last - First, Growth <- [growth([{Ms, N} || {Ms, #{sockets := N}} <- Counts])], Growth > 0,
        {Count, Limit} <- last_files(Counts), ?FAR_FROM_LIMIT * Count >= Limit, Last =< Count, Count + ?DAY_S * Growth >= Limit,
        never_fell([N || {_, #{sockets := N}} <- Counts])];
growing_own_sockets(#{}) -> [].

last_files(Counts) -> lists:sublist([Files || {_, #{files := Files}} <- lists:reverse(Counts)], 1).

sockets_advice() ->
    "At the limit no file and no socket can be opened any more (emfile). Find out who opens these sockets: close each when its answer"
    " is complete, also after an error (an after clause), or let the process of the request own it, with which it is closed. With"
    " {active, once} the owner learns that the other side has closed it. ulimit -n (LimitNOFILE) raises the limit.".

%% Sockets come with clients, but files do not. (Those of the module socket are no ports.)
growing_files(#{counts := [_ | _] = Counts} = Look) ->
    Files = [{Ms, Count - Ports - maps:get(sockets, All, 0)} || {Ms, #{files := {Count, _}, ports := {Ports, _}} = All} <- Counts],
    [sign(near_limit, #{what => files, count => Count, limit => Limit, growth_a_second => Growth,
                        'of' => [#{label => File, count => N} || {File, N} <- New, is_binary(File)],
                        by => case opened_by(Look) of [] -> starters(processes, Look); _ -> [] end, opened_by => opened_by(Look)},
          "At the limit no file and no socket can be opened any more (emfile). Find out who opens files without closing them: close each in"
          " an after clause. A process of a file ends with the process that opened the file, so a server keeps all that it opens."
          " file:read_file/1 opens and closes.",
          diagnose_proof:look())
     || #{new_files := New} <- [element(2, lists:last(Counts))],
        2 * lists:sum([N || {File, N} <- New, is_binary(File)]) > lists:sum([N || {_, N} <- New]),
        Growth <- [growth(Files)], Growth > 0, {Count, Limit} <- last_files(Counts),
        ?FAR_FROM_LIMIT * Count >= Limit, never_fell([N || {_, N} <- Files]), Count + ?DAY_S * Growth >= Limit];
growing_files(#{}) -> [].

%% The server of files has started all of their processes.
opened_by(#{file_owners := #{asked := Asked, most := Most, labels := Labels}}) when Asked > 0 ->
    [#{asked => Asked,
       %% Where many did, their kinds tell more.
       most => [#{label => process(#{pid => Pid, name => Name}), count => Count} || {Pid, Name, Count} <- Most,
                                                                                   Labels =:= [] orelse 2 * Count >= Asked],
       'of' => diagnose_sign:counted(Labels)}];
opened_by(#{}) -> [].

%% Far from it, if only sockets grow in number.
growing_sockets(#{files := {Count, Limit}, counts := [_ | _] = Counts, ports := #{names := [{Name, Sockets} | _]}} = Look)
  when Name =:= <<"tcp_inet">>; Name =:= <<"udp_inet">>; Name =:= <<"sctp_inet">> ->
    {_, #{ports := {Ports, MostPorts}}} = lists:last(Counts),
    Growth = growth([{Ms, counted(ports, All)} || {Ms, All} <- Counts]),
    [sign(near_limit, #{what => files, count => Count, limit => Limit, growth_a_second => Growth, 'of' => most_of_what(ports, Look),
                        by => []},
          sockets_advice(), diagnose_proof:look())
     || Growth > 0, Ports < ?NEAR_LIMIT * MostPorts, Limit - Count < MostPorts - Ports,
        %% A socket that is closed keeps its port, and is no file. And a few seconds tell nothing of a limit that is so far.
        Sockets =< Count, ?FAR_FROM_LIMIT * Count >= Limit,
        Count + grows_to_limit_s(ports, Ports, Look) * Growth >= Limit];
growing_sockets(#{}) -> [].

most_of_what(processes, #{groups := Groups}) when is_list(Groups) -> most_of(Groups);
most_of_what(ports, #{ports := #{names := Names, owners := Owners}}) ->
    [#{label => Name, count => Count} || {Name, Count} <- Names]
        ++ [#{label => process(#{pid => Pid, name => Name}), count => Count}
            || {Pid, Name, Count} <- Owners];
most_of_what(_, _) -> [].

%% A node that loads code gets atoms by that, and then no more.
counted(atoms, #{atoms := {Count, _}, modules := Modules}) -> Count - ?ATOMS_OF_MODULE * Modules;
counted(What, Counts) -> element(1, maps:get(What, Counts)).

%% @doc How many more a second, where the least of each fifth of the time is more than that of the fifth before: what only comes and goes
%% has grown by chance. 0 otherwise.
-spec growth([{Ms :: non_neg_integer(), Count :: integer()}]) -> integer().
growth(Counts) when length(Counts) < 10 -> 0;
growth(Counts) ->
    {First, _} = hd(Counts),
    {Last, _} = lists:last(Counts),
    Fifths = maps:groups_from_list(fun({Ms, _}) -> min(4, 5 * (Ms - First) div max(1, Last - First)) end,
                                   fun({_, Count}) -> Count end, Counts),
    case [lists:min(Fifth) || {_, Fifth} <- lists:sort(maps:to_list(Fifths))] of
        [A, B, C, D, E] when A < B, B < C, C < D, D < E -> 1000 * (E - A) * 5 div (4 * max(1, Last - First));
        _ -> 0
    end.

limit_advice(processes) -> "At the limit no process can be started any more. Find out who starts the most frequent kind, and why"
                           " these do not end; +P raises the limit.";
limit_advice(ports) -> "At the limit no socket, file or program can be opened any more. Find out who opens them without closing"
                       " them; +Q raises the limit.";
limit_advice(atoms) -> "At the limit the node ends. Find out who makes atoms from input (binary_to_atom, list_to_atom,"
                       " String.to_atom); binary_to_existing_atom makes none. +t raises the limit.".

%% One for each process may be the time-out of a session. OTP 25 has been seen to answer a number of bytes that no machine has.
timers(#{links := #{timer_bytes := Bytes}} = Look) when Bytes >= ?MANY_TIMERS * ?TIMER_BYTES ->
    [sign(many_timers, #{about => Bytes div ?TIMER_BYTES, bytes => Bytes, makers => makers(Look)},
          "Cancel timers that are not needed any more (erlang:cancel_timer/1), and use one timer for many things instead of one for each.",
          diagnose_proof:look()) || Bytes div ?TIMER_BYTES > processes(Look), Bytes < ?PETABYTE, not are_renewed(Look)];
timers(#{}) -> [].

%% Each is cancelled where the next is started, as that of a session at each use, and they do not become more.
are_renewed(#{makers := #{ms := Ms, started := Started, renewed := Renewed, grown := Grown, grown_ms := GrownMs}}) ->
    Started > 0 andalso 4 * Renewed >= 3 * Started andalso 4 * Grown * Ms =< Started * GrownMs;
are_renewed(#{}) -> false.

%% @doc Those that started timers while they were traced.
-spec makers(diagnose_types:look()) -> map() | unknown.
makers(#{makers := #{traced := Traced, ms := Ms, most := Most} = Makers}) ->
    #{traced => Traced, untraced => maps:get(untraced, Makers, 0), ms => Ms,
      most => [#{process => process(One), processes => Count,
                 times => Times, label => label(Label), in => in(In)}
               || #{label := Label, processes := Count, times := Times, in := In} = One <- Most]};
makers(#{}) -> unknown.

%% @doc How many processes the node has; 0 if that was not counted.
-spec processes(diagnose_types:look()) -> non_neg_integer().
processes(#{counts := [{_, #{processes := {Count, _}}} | _]}) -> Count;
processes(#{}) -> 0.

%% A system that starts loads modules, too, until it has those that it needs.
modules(#{counts := [_ | _] = Counts} = Look) ->
    Modules = [{Ms, Count} || {Ms, #{modules := Count}} <- Counts],
    [sign(modules_grow,
          #{count => Count, growth_a_second => Growth,
            code_bytes => case Look of #{memory := #{code := Bytes}} -> Bytes; #{} -> unknown end},
          "Modules with new names are loaded all the time (code that is generated, evaluated or compiled for each query). Neither"
          " they nor their atoms are ever freed. Reuse one name, evaluate without a module (a fun, erl_eval), or remove modules"
          " that are no longer needed by code:delete/1 and code:purge/1.", diagnose_proof:look())
     || Modules =/= [], {_, Count} <- [lists:last(Modules)], Growth <- [growth(Modules)], Growth > 0, Count >= ?MANY_MODULES];
modules(#{}) -> [].

%% Not more of them than processes may be one for each, as transactions have that do not come to their end. Those that only grow in number
%% are left behind in any case.
many_tables(#{counts := [_ | _] = Counts, overloaded := false} = Look) ->
    {_, Last} = lists:last(Counts),
    [sign(many_ets_tables, #{count => Count, growth_a_second => Growth,
                             owners => case Look of
                                           #{tables := #{owners := #{asked := Asked, most := Most}}} ->
                                               [#{process => process(#{pid => Pid, name => Name}), count => N, asked => Asked}
                                                || {Pid, Name, N} <- lists:sublist(Most, 1), 2 * N >= Asked];
                                           #{} -> []
                                       end,
                             named => case Look of #{tables := #{named := Named}} -> most_tables(Named); #{} -> [] end},
          "A table lives as long as its owner. Call ets:delete/1 when it is no longer needed (also after an error), or create it in a"
          " process that ends"
          " with the work. One table for all, with a longer key, takes 2 kB less for each.", diagnose_proof:look())
     || #{tables := {Count, _}} <- [Last], Count >= ?TABLES_OF_ONE,
        Each <- [[{Ms, counted(tables, All)} || {Ms, All} <- Counts]], Growth <- [growth(Each)],
        Count >= ?MANY_TABLES andalso (Count > processes(Look) orelse Growth > 0)
            orelse Growth > 0 andalso are_of_one(tables, Count, Look) andalso never_fell([N || {_, N} <- Each])];
many_tables(#{}) -> [].

most_tables(Named) ->
    Ranked = lists:reverse(lists:sort([{Count, One} || #{count := Count} = One <- Named])),
    [#{name => Name, count => Count, owner => Owner}
     || {Count, #{name := Name, owner := Owner}} <- lists:sublist(Ranked, 3)].
