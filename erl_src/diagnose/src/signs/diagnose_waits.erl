%% @doc From what processes wait for to signs: who gives no answer, and what holds up those that send. Pure.
-module(diagnose_waits).

-export([of_process/2, of_machine/2, of_unresponsive/1, of_awaited/1, of_stall/2, of_ending/2, of_node/1]).

-import(diagnose_sign, [sign/4, process/1, in/1, process_in/1, fullest/1]).
-import(diagnose_samples, [looks/1, most_seen/1]).
-import(diagnose_wording, [label/1]).

-include("../diagnose_bounds.hrl").

-define(CALLBACKS_OF_SERVERS, [{handle_call, 3}, {handle_cast, 2}, {handle_info, 2}, {handle_continue, 2}, {handle_event, 4}]).

%% @doc The signs of one process.
-spec of_process(diagnose_types:suspect(), diagnose_types:look()) -> [diagnose_types:sign()].
of_process(Suspect, Look) -> suspended(Suspect, Look).

%% @doc The signs of who waits for what is not on the node.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) ->
    awaited_far(Look) ++ awaited_names(Look) ++ awaited_hosts(Look) ++ hanging_pools(Look) ++ left_waiting(Look) ++ awaited_sockets(Look)
        ++ not_accepted(Look) ++ full_backlogs(Look) ++ packets_dropped(Look) ++ nodes_flap(Look) ++ nagle(Look) ++ starting(Look) ++ stopping(Look).

%% At half of the looks at least; where it was looked at once only, then. Who puts a persistent term anew is suspended, too, until
%% all schedulers have seen it: where no port holds anything, that is what it waits for.
suspended(#{pid := Pid, samples := Samples, status := Status} = Suspect, #{ports := Ports} = Look) ->
    Looks = looks(Samples),
    By = diagnose_debugging:suspended_by(Suspect, Look),
    Times = lists:sum([T || {suspended, _, T} <- Samples]),
    Waits = case Ports of unknown -> unknown; #{waiting := Waiting} -> fullest(own_or_all(Pid, Waiting)) end,
    [sign(suspended, #{looks => max(1, Looks), times => max(1, Times), in => most_seen(Samples),
                       waits => case By of [] -> Waits; _ -> [] end, by => suspenders(By)},
          suspended_advice(By, Waits), diagnose_proof:look())
     || Looks > 0 andalso 2 * Times >= Looks orelse Looks =:= 0 andalso Status =:= suspended,
        By =/= [] orelse not is_empty(Ports) orelse diagnose_churn:of_terms(Look) =:= []].

%% It may send to ports of others.
own_or_all(Pid, Ports) ->
    case [Port || #{owner := Owner} = Port <- Ports, Owner =:= Pid] of
        [] -> Ports;
        Own -> Own
    end.

suspenders(By) ->
    [(process_in(One))#{label => case Label of unknown -> unknown; _ -> label(Label) end} || #{label := Label} = One <- By].

suspended_advice([One | _], _Waits) ->
    ["It does nothing until ", process(One), " calls erlang:resume_process/1 as often as it has called erlang:suspend_process/1, or"
     " ends. Find out why that process did not resume it. If that process ends (exit(Pid, kill)), this one runs again."
     " erlang:suspend_process/1 is for debuggers; tell a server that has to wait so by a message."];
suspended_advice([], Waits) -> suspended_advice(Waits).

suspended_advice([#{to := Stream}]) when Stream =:= <<"standard output">>; Stream =:= <<"standard error">> ->
    ["It waits until somebody reads the node's ", Stream, ": a pipe whose reader has stopped (a terminal that is paused, docker logs or a"
     " log collector that hangs). All processes that print wait for it. Have it read, or redirect it to a file; write logs with a handler"
     " that drops (logger_std_h to a file, batch_io)."];
suspended_advice(Ports) ->
    case is_list(Ports) andalso {[Port || #{program := true} = Port <- Ports], [Port || #{connection := false} = Port <- Ports]} of
        {[_ | _] = Ports, _} ->
            "It waits until this program reads its input. See what the program does (ps, strace; erlang:port_info(Port, os_pid) tells its"
            " number): it may be stopped, hang, or wait in turn, as for a network or a lock. Have it acknowledge what it has read, and write"
            " no more than that; or write with port_command(Port, Data, [nosuspend]) and drop what it does not take. Bound the wait and"
            " start a program that hangs anew (port_close/1), and write in a process that does nothing else.";
        Kinds ->
            ["It waits until a port or a connection takes what it sends (or until the caller of erlang:suspend_process/1 resumes it). Check"
             " the other side and the network. erlang:send/3 with nosuspend or noconnect does not wait, ",
             case Kinds of
                 {_, [_ | _] = Ports} -> "";
                 _ -> "+zdbbl sets how much a connection buffers, "
             end,
             "and with a process for each peer a slow peer does not hold up the others."]
    end.

is_empty(#{waiting := []}) -> true;
is_empty(_) -> false.

%% @doc The sign of a state machine that handles its postponed events again and again.
-spec of_machine(diagnose_types:suspect(), diagnose_types:look()) -> [diagnose_types:sign()].
of_machine(#{pid := Pid, samples := Samples}, #{retries := Retries}) when is_list(Retries) ->
    [sign(postponed_events,
          #{changes => Changes, ms => Ms, postponed => Events div Changes, handled_a_second => 1000 * Events div Ms,
            in => case diagnose_samples:most_worked_in(Samples) of unknown -> unknown; Function -> label(Function) end},
          "After each change of its state, a gen_statem handles all postponed events again, and most of these are postponed once more."
          " Answer or drop such events in states that cannot handle them, or limit how many it keeps. Or keep them in a queue in the"
          " data, and take them from there in the state that can handle them. If it changes between states that both postpone (connect,"
          " back off), make that one state with a time-out.",
          diagnose_proof:look())
     || #{pid := P, changes := Changes, ms := Ms, events := Events} <- Retries, P =:= Pid,
        Changes >= ?CHANGED, Events >= ?POSTPONED * Changes, 1000 * Events >= ?RETRIED_A_SECOND * Ms];
of_machine(#{}, #{}) -> [].

%% @doc The sign of a process that did not answer.
-spec of_unresponsive(diagnose_types:unresponsive()) -> [diagnose_types:sign()].
of_unresponsive(#{ms := Ms, depth := Depth}) when Ms >= ?SILENT_MS ->
    [sign(unresponsive, #{ms => Ms, messages => Depth},
          "It is in a long collection or a long native function, or too busy to answer. Whoever waits for it waits as long."
          " Inspect again with more time; a perf record of the node shows native code.",
          diagnose_proof:look([{budget_s, 60}]))];
of_unresponsive(#{}) -> [].

%% @doc The sign of a process that many wait for. Where their messages still lie in its mailbox, that says it.
-spec of_awaited(diagnose_types:awaited()) -> [diagnose_types:sign()].
of_awaited(#{for := lock, ms := Ms, depth := Depth, status := Status, kinds := Kinds, name := Name} = Awaited) ->
    Count = waited_for_lock(Awaited),
    IsFree = is_given_back(?CHANGES_HANDS, Awaited),
    [sign(awaited,
          #{for => lock, processes => Count, ms => Ms, messages => Depth, status => Status, in => unknown, 'of' => kinds_of(lowered(Count, Kinds)),
            holds => [#{process => process(One),
                        label => case Label of unknown -> unknown; _ -> label(Label) end,
                        in => in(In)}
                      || not IsFree, #{label := Label, in := In} = One <- maps:get(holds, Awaited, [])],
            nodes => maps:get(nodes, Awaited, []), tries => told_tries(tries(Awaited), IsFree), is_free => IsFree},
          case IsFree of
              true -> free_lock_advice();
              false -> lock_advice(Name, [Node || #{answers := false} = Node <- maps:get(nodes, Awaited, [])])
          end,
          diagnose_proof:look())
     || not is_standby(Awaited), Count >= least_for_lock(Awaited)];
of_awaited(#{ms := Ms, depth := Depth, status := Status, in := In, kinds := Kinds} = Awaited) when Depth < ?BEHIND ->
    Count = waited(Awaited),
    Moved = moved(Awaited),
    [sign(awaited,
          #{moved => Moved, processes => Count, ms => Ms, messages => Depth, status => Status,
            in => case In of [Frame | _] -> label(Frame); [] -> unknown end,
            came => case Awaited of
                        #{at_rest := true, came := Came, watched_ms := For} -> #{count => Came, ms => For};
                        #{} -> unknown
                    end,
            holders => case Awaited of
                           #{holders := #{waiting := Waiting, in := At}} -> #{count => Waiting, in => label(At)};
                           #{} -> unknown
                       end,
            monitored => case Awaited of
                             #{monitored := #{in := Where} = Monitored} ->
                                 (maps:with([count, asked, waiting], Monitored))
                                     #{in => label(Where), on_load => is_loading(Awaited),
                                       asks => diagnose_mailboxes:asks(maps:merge(#{asks => []}, Monitored))};
                             #{} -> unknown
                         end,
            'of' => kinds_of(Kinds)},
          case 2 * Depth >= Count of
              _ when map_get(at_rest, Awaited) -> at_rest_advice(Awaited, Moved);
              true -> "Their calls wait in its mailbox, and it does not receive them: find out what it waits for.";
              false ->
                  "It has received these calls and has not answered them: it may be a pool whose members were not given back, a limit that"
                  " is too low, or a server that itself waits for something. Check what it hands out and to whom. (If they ask it for work"
                  " and there is none, nothing is wrong.)"
          end,
          diagnose_proof:look())
     || Moved =:= unknown orelse Count >= least(Awaited) andalso not take_turns(Awaited)];
of_awaited(#{}) -> [].

%% @doc The sign of a server whose callers wait long while it works in one callback. One that takes many short calls answers each soon.
-spec of_stall(diagnose_types:stall(), diagnose_types:look()) -> [diagnose_types:sign()].
of_stall(#{label := Label, ms := Ms, looks := Looks, waiting := Waiting, longest_ms := Longest, callers := Callers, samples := Samples,
           from := From}, Look) ->
    Own = diagnose_samples:without_behaviours(Samples),
    All = looks(Samples),
    Kept = Longest * (1 - diagnose_schedulers:delayed(Look)),
    Works = looks([Sample || {Status, Stack, _} = Sample <- Samples, Status =/= waiting orelse is_at_files(Stack)]),
    [sign(awaited, #{kept_ms => Longest, callers => Callers, ms => Ms, waiting => Waiting, looks => Looks, in => label(Callback),
                     mostly => most_seen(Own), from => in(From)},
          stall_advice(Callback, Samples), diagnose_proof:look())
     || Kept >= ?STALLED_MS orelse Kept >= ?KEPT_MS andalso Waiting >= ?ALWAYS_KEPT * Looks, 2 * Works >= All,
        {Callback, Times} <- [most_called_back(Own, Label)], Times >= ?IN_ONE_CALLBACK * All].

is_at_files(Stack) -> lists:any(fun({Module, _, _}) -> Module =:= prim_file orelse Module =:= file end, Stack).

%% What the behaviour has called at most looks. Of a deep stack the VM tells too few frames: it may be known by a fun of that function, or
%% not. Where it never is, the function of its own module in which it mostly is tells as much.
most_called_back(Own, Label) ->
    Called = [{callback(Stack), Times} || {_, Stack, Times} <- Own],
    Sums = maps:groups_from_list(fun({Function, _}) -> Function end, fun({_, Times}) -> Times end, Called),
    Known = [{lists:sum(Times), Function} || {Function, Times} <- maps:to_list(maps:remove(unknown, Sums))],
    case lists:reverse(lists:sort(Known)) of
        [{Times, Function} | _] -> {Function, Times + lists:sum(maps:get(unknown, Sums, []))};
        [] -> most_in_module(Own, Label)
    end.

most_in_module(Own, {Module, _, _}) ->
    diagnose_samples:most_of_frames([{Status, [Frame || {M, _, _} = Frame <- Stack, M =:= Module], Times}
                                     || {Status, Stack, Times} <- Own], all);
most_in_module(_, unknown) -> none.

callback(Stack) ->
    case [{Module, Function, Arity} || {Module, Name, Of} <- lists:reverse(Stack), {Function, Arity} <- ?CALLBACKS_OF_SERVERS,
                                       {Name, Of} =:= {Function, Arity} orelse is_fun_of(Function, Arity, Name)] of
        [Callback | _] -> Callback;
        [] -> unknown
    end.

is_fun_of(Function, Arity, Name) ->
    string:prefix(atom_to_list(Name), lists:concat(["-", Function, "/", Arity, "-"])) =/= nomatch.

stall_advice({_, handle_info, _}, _) ->
    "It does this by itself from time to time (a timer), and takes no call meanwhile. Do it in small steps, each with a message to itself, or"
    " in a process of its own; go over what changed or has expired only (an index by time) instead of all; or keep what callers read in ETS.";
stall_advice(_, Samples) ->
    case lists:any(fun({_, Stack, _}) -> is_at_files(Stack) end, Samples) of
        true -> file_advice();
        false -> work_advice(diagnose_samples:reply(lists:append([Stack || {_, Stack, _} <- Samples])))
    end.

file_advice() ->
    "Each message costs it much, and all others wait meanwhile. It writes or reads a file for each: take all that waits, write once, then"
    " answer; append what has changed instead of the whole state; or have another process write, by a timer.".

work_advice(Reply) ->
    ["Each message costs it much, and all others wait meanwhile. Do less for a message (a part of the state, no copy of it), do the work in"
     " the caller or in a task that answers by ", Reply, ", have callers read ETS, or divide the work among several such servers."].

%% @doc The sign of who waits for the end of one child after the other, which takes long in all. Where messages wait for it, its mailbox
%% tells of that, and where the node stops, that does. One child that takes long says nothing of the others, unless all have to end.
-spec of_ending(diagnose_types:ending(), diagnose_types:look()) -> [diagnose_types:sign()].
of_ending(#{pid := Pid, ms := Ms, looks := Looks, waits := Waits, ended := Ended, left := Left, ends_all := EndsAll,
            last := #{in := In, label := Label} = Last}, #{suspects := Suspects, stopping := none}) ->
    [sign(awaited, #{ended => Ended, left => Left, ms => Ms, waits => Waits, looks => Looks, last => process(Last), in => in(In),
                     label => case Label of unknown -> unknown; _ -> label(Label) end},
          "Nothing hangs, if the children end in the end: it waits for each before it tells the next one to end. Those of one supervisor of"
          " the kind simple_one_for_one (or DynamicSupervisor) end at the same time, as do those of several supervisors"
          " (PartitionSupervisor). Have terminate do less and wait for nobody, and give a child that may hang a shorter shutdown (brutal_kill if it has nothing to"
          " save). Who ends processes by gen_server:stop/1 first tells all (exit(Pid, shutdown)), then waits for their 'DOWN's.",
          diagnose_proof:look())
     || Looks >= ?BUSY_LOOKS, Waits >= ?SAME_FUNCTION * Looks,
        Ended >= 2 orelse EndsAll andalso (Ended > 0 orelse Left >= ?LEFT_CHILDREN), Left * Ms >= ?ENDS_MS * lists:max([1, Ended]),
        not lists:any(fun(#{pid := P, least_depth := Least}) -> P =:= Pid andalso Least > 0 end, Suspects)];
of_ending(#{}, #{}) -> [].

%% Where all that try were counted, no more.
try_for_lock(#{standby := #{waiting := Waiting}, count := Count}) -> min(Waiting, Count);
try_for_lock(#{count := Count}) -> Count.

%% Who got a lock meanwhile, or gave up, has not waited all the time: in each such while the same part of those that are left.
waited_for_lock(#{ms := Ms} = Awaited) ->
    case tries(Awaited) of
        #{asked := Asked, moved := Moved, ms := For} when Asked > 0 ->
            round(try_for_lock(Awaited) * math:pow(1 - Moved / Asked, max(Ms, For) / For));
        _ -> try_for_lock(Awaited)
    end.

%% In all no more of these kinds.
lowered(Most, Kinds) ->
    case lists:sum([Count || {_, Count} <- Kinds]) of
        All when All > Most -> [{Label, max(1, Count * Most div All)} || {Label, Count} <- Kinds];
        _ -> Kinds
    end.

tries(#{standby := #{tries := Tries}}) -> Tries;
tries(#{}) -> unknown.

%% Where none of them moved on, the number of those that wait says it all.
told_tries(#{moved := 0}, false) -> unknown;
told_tries(Tries, _) -> Tries.

%% Nobody has a lock for long: it was given back since the look before, so often or at such a part of the looks.
is_given_back(Least, #{standby := #{locks := 0, tries := #{looks := Looks, free := Free}}}) ->
    Looks >= ?BACKLOG_LOOKS andalso Free >= case is_integer(Least) of true -> Least; false -> Least * Looks end;
is_given_back(_, #{}) -> false.

%% Where all get it in turn, none waits long. Where it is free most of the time, a long wait is a loss for each.
least_for_lock(Awaited) ->
    case {tries(Awaited), is_given_back(?MOSTLY, Awaited)} of
        {unknown, _} -> 0;
        {_, true} -> ?AWAITED_FEW div 2;
        {_, false} -> ?AWAITED_FEW
    end.

%% Each lock is kept by its leader, few others wait to take over, and nobody waits for these.
is_standby(#{standby := #{locks := Locks, needed := 0}} = Awaited) -> try_for_lock(Awaited) < ?AWAITED_FEW * Locks;
is_standby(#{}) -> false.

%% Who was answered and called again, or gave up, has not waited all the time: of those that were watched, so many in their time.
waited(#{count := Count, ms := Ms, watched_ms := For, turns := #{asked := Asked, moved := Moved}}) when Asked > 0 ->
    max(0, round(Count * (1 - Moved * Ms / (Asked * For))));
waited(#{count := Count}) -> Count.

moved(#{watched_ms := For, turns := #{asked := Asked, moved := Moved}}) when Moved > 0 -> #{count => Moved, asked => Asked, ms => For};
moved(#{}) -> unknown.

least(#{name := code_server}) -> ?AWAITED_FEW;
least(#{}) -> ?AWAITED.

%% As at a limiter: those that it lets through come back, and it does not take long until each has had its turn.
take_turns(#{watched_ms := For, turns := #{asked := Asked, moved := Moved, back := Back}}) ->
    Back > 0 andalso Asked * For =< Moved * ?TURN_MS.

free_lock_advice() ->
    "Nobody holds it for long, so no holder is the cause: who does not get it sleeps for a random time of up to 8 s (global:random_sleep/1)"
    " before it tries again, and is not told when it is given back; who has just given it back may get it first. Have a process for each"
    " such resource do what the lock protects: its mailbox is the queue. Or take a lock for each key, and seldom. A lock of global is for what"
    " is done seldom.".

lock_advice(global_name_server, []) ->
    "Find out what the process that holds the lock waits for (ets:tab2list(global_locks) tells who has which). Make no calls inside of"
    " global:trans/2, and bound its retries. (If they wait to take over from it, nothing is wrong.)";
lock_advice(_, []) ->
    "Find the process that holds the lock (mnesia:system_info(held_locks) and lock_queue), and what it waits for. Make no calls and send no"
    " messages inside a transaction, and lock rows instead of tables.";
lock_advice(_, [_ | _]) ->
    "That node is connected, and does not answer: see whether it is stopped, hangs or has no memory. All wait until it goes on or the"
    " connection ends: net_ticktime of kernel (60 s by default) bounds that, and erlang:disconnect_node/1 ends it now.".

%% The code server monitors nobody else.
is_loading(#{name := Name, monitored := #{}}) -> Name =:= code_server;
is_loading(#{}) -> false.

%% What it has lent is only known where somebody is seen who may have it, and is in the middle of something: whom it monitors. Others of
%% the callers' kind may just be clients that it serves meanwhile.
at_rest_advice(#{holders := Holders} = Awaited, Moved) ->
    case not is_loading(Awaited) andalso diagnose_mailboxes:lent_in_circle(Awaited) of
        [Asked | _] -> diagnose_mailboxes:lent_circle_advice(Awaited, Asked);
        _ -> at_rest_advice(Awaited, Holders, Moved)
    end.

at_rest_advice(#{in := In} = Awaited, Holders, Moved) ->
    Reply = diagnose_samples:reply(In),
    case {is_loading(Awaited), is_inside(maps:get(monitored, Awaited, none)), is_inside(Holders)} of
        {true, _, _} -> on_load_advice(Awaited);
        {false, true, _} -> ["It has received these calls and waits for its next message. Its resources are used up", lent_advice()];
        {false, false, true} ->
            ["It has received these calls and waits for its next message. If the others of their kind that are idle hold something of it,"
             " its resources are used up", lent_advice(), " If they hold nothing, it never answers: look for a call that it does not answer"
             " at once (", at_once(Reply), "), and for which nobody calls ", Reply, "."];
        {false, false, false} when Moved =/= unknown ->
            ["It waits in its own loop for its next message, and some of its callers are answered or give up. Its limit may be too low for"
             " so many, or some calls are never answered (", at_once(Reply), ", and nobody calls ", Reply, "). (If they take turns by"
             " design, or ask it for work, nothing is wrong.)"];
        {false, false, false} ->
            ["It has received these calls, and waits in its own loop for its next message: it answers them later, or never. Find out what"
             " happens to a call that it does not answer at once (", at_once(Reply), "): each way must end in ", Reply, ", also if the"
             " process that was to reply ends (monitor it). Or they wait for a lock, or for a limit that it keeps. (If they ask it for work"
             " and there is none, nothing is wrong.)"]
    end.

at_once("gen_statem:" ++ _) -> "no action reply";
at_once(_) -> "noreply".

is_inside(#{in_loop := IsInLoop}) -> not IsInLoop;
is_inside(_) -> false.

lent_advice() ->
    ": they are not returned, or there are too few. Find the processes that hold them, and what these wait for. Bound the time for which a"
    " process may keep one, return it in an after clause, and monitor whoever holds it. (If they ask it for work and there is none,"
    " nothing is wrong.)".

on_load_advice(#{pid := Pid, monitored := Monitored}) ->
    Asks = maps:get(asks, Monitored, []),
    ["Who calls a module, or loads it, waits until its on_load function has returned. ",
     ["This one waits for a process that waits for the module, so it never returns. "
      || Asks =/= [], maps:get(pid, lists:last(Asks)) =:= Pid],
     "An on_load function should load native functions and nothing else: make no calls of other processes there. Do such work when the"
     " application starts."].

%% Of another node, which cannot be looked at from here.
awaited_far(#{awaited := Awaited}) ->
    [sign(awaited, #{processes => Count, ms => Ms, node => Node, connected => Connected, called => Called, 'of' => kinds_of(Kinds)},
          case Connected of
              true ->
                  "The process or its node does not answer: inspect that node. Bound the time of such a call (a timeout,"
                  " a circuit breaker) and how many are made at a time, so that this node does not wait with that one.";
              false ->
                  "Every call waits until this node is connected to that one: check its machine, its network and firewalls, its cookie and"
                  " TLS, and whether it hangs. The parameter net_setuptime of kernel bounds the attempt, and dist_auto_connect never leaves"
                  " connecting to net_kernel:connect_node/1."
          end, diagnose_proof:look())
     || #{far := Node, connected := Connected, called := Called, count := Count, ms := Ms, kinds := Kinds} <- Awaited].

awaited_names(#{awaited := Awaited}) ->
    [sign(awaited, #{processes => Count, ms => Ms, name_servers => Servers, 'of' => kinds_of(Kinds)},
          "Check these name servers and the way to them. Keep connections open and cache addresses instead of a look-up for each request,"
          " and limit how many ask at a time. {timeout, Ms} and {retry, N} in kernel's inetrc bound the wait; with"
          " {lookup, [file, native]} the operating system does the look-up.",
          diagnose_proof:look())
     || #{name_servers := Servers, count := Count, ms := Ms, kinds := Kinds} <- Awaited].

awaited_hosts(#{awaited := Awaited}) ->
    [sign(awaited, #{processes => Count, ms => Ms, host_in => label(Function), 'of' => kinds_of(Kinds)},
          case Function of
              {ssl_gen_statem, handshake, _} ->
                  "The other sides have connected and do not finish the handshake of TLS: they hang, or clients keep the server busy on"
                  " purpose. Without a time-out a handshake waits as long as it takes: give one to ssl:handshake/2 (ranch:"
                  " handshake_timeout) or to ssl:connect/3, limit the connections of each address, and close a socket whose handshake"
                  " failed.";
              _ -> "Check the hosts that are asked, and the way to them. Give each request and each connection a time-out (without one httpc and"
                   " gen_tcp:connect/3 wait as long as it takes), and limit how many wait at a time. (If these are long polls, nothing is wrong.)"
          end,
          diagnose_proof:look())
     || #{host := Function, count := Count, ms := Ms, kinds := Kinds} <- Awaited].

%% All that work for others wait for one host, which says nothing, and others wait for them: it is no work that they wait for. Where many
%% wait for the pool itself, that is told of.
hanging_pools(#{places := #{most := Most, ms := Ms}, awaited := Awaited}) ->
    [sign(awaited, #{processes => Count, ms => Ms, label => case Label of unknown -> unknown; _ -> label(Label) end, in => label(In),
                     at => At, behind => Behind, pool => case Pool of none -> unknown; _ -> process(Pool) end},
          "That host does not answer, and others wait until it does. See what it does, and bound each wait: a time-out for each read and each"
          " request (without one gen_tcp:recv/2 waits for ever), after which the connection is closed and given back. More members only"
          " wait together with these. Give a slow or uncertain host a pool of its own, so that it holds up nobody else.",
          diagnose_proof:look())
     || #{count := Count, stay := Stay, label := Label, in := [In | _], at := At, behind := #{count := Behind, pool := Pool}} <- Most,
        Stay >= ?SAME_FUNCTION * Count, Behind >= ?BEHIND_PLACED,
        not lists:any(fun(#{pid := Pid}) -> Pool =/= none andalso Pid =:= map_get(pid, Pool); (#{}) -> false end, Awaited)];
hanging_pools(#{}) -> [].

%% Whoever called them has given up, and begins anew with another one. (Those that wait for work do not become more.)
left_waiting(#{places := #{most := Most, ms := Ms}, counts := Counts}) ->
    Ports = [Count || {_, #{ports := {Count, _}}} <- Counts],
    [sign(awaited, #{processes => Count, ms => Ms, label => case Label of unknown -> unknown; _ -> label(Label) end, in => label(In),
                     at => At, more_ports => More},
          "That host does not answer, and more come. They are servers in a callback: who called one gave up after the time-out of the call,"
          " and that does not end the server. Bound each read (without a time-out gen_tcp:recv/2 waits for ever), then close the socket and"
          " end the process; and have whoever gives up end the server that it asked.",
          diagnose_proof:look())
     || #{count := Count, stay := Stay, label := Label, in := [In | _], at := At, serves := true, behind := #{count := Behind}} <- Most,
        Count >= ?LEFT_WAITING, 4 * Stay >= 3 * Count, Behind < ?BEHIND_PLACED,
        More <- [lists:last(Ports) - hd(Ports) || Ports =/= []], More >= ?MORE];
left_waiting(#{}) -> [].

%% Each process waits for a socket of its own. Where messages wait for one of them, its mailbox tells of it.
awaited_sockets(#{awaited := Awaited, ports := Ports, suspects := Suspects}) ->
    Unsent = case Ports of unknown -> []; #{waiting := Waiting} -> [Port || #{socket := true} = Port <- Waiting] end,
    [sign(awaited, #{processes => Count, ms => Ms, socket_in => label(Function), 'of' => kinds_of(Kinds),
                     sockets => length(Unsent), unsent_bytes => lists:sum([Bytes || #{bytes := Bytes} <- Unsent]),
                     waits => fullest(Unsent)},
          "The other sides do not read, or read too slowly, and without a time-out a send waits as long as it takes, also over TLS. Set"
          " send_timeout and send_timeout_close on the sockets that are accepted or connected, and close a connection whose send failed."
          " Drop what is new for a client that is slow, or have a process for each connection do nothing but send.",
          diagnose_proof:look())
     || #{socket := Function, count := Count, ms := Ms, kinds := Kinds} <- Awaited,
        not lists:any(fun diagnose_mailboxes:is_held_up_in_a_send/1, Suspects)].

%% Where accept is called in time, none waits at some look. Whoever calls it late may have many that wait.
not_accepted(#{not_accepted := #{looks := Looks, ms := Ms, sockets := Sockets}}) when Looks >= ?BACKLOG_LOOKS ->
    [sign(not_accepted,
          #{port => Port, least => Least, most => Most, looks => Looks, ms => Ms, accepting => IsAccepting, owner => process(Socket),
            label => case Label of unknown -> unknown; _ -> label(Label) end, acceptors => acceptors(Socket)},
          accept_advice(Socket),
          diagnose_proof:look())
     || #{port := Port, least := Least, most := Most, accepting := IsAccepting, label := Label} = Socket <- Sockets,
        Least >= ?BACKLOG orelse Most > Least andalso not IsAccepting];
not_accepted(#{}) -> [].

acceptors(#{acceptors := #{in := In} = Acceptors}) -> Acceptors#{in := label(In)};
acceptors(#{}) -> unknown.

%% Nobody can tell one that has accepted and goes on with the client from the process of a connection.
accept_advice(Socket) ->
    ["Their clients wait, or have given up. Find the processes that should accept them: they may wait at a limit of"
     " connections (max_connections) for some to end, wait for something else (a handshake, a call), or have ended. A process that"
     " accepts should do nothing else: it hands each connection to a process of its own.",
     [" If those that wait for a client are the ones that should accept, do that in the process of the connection, and give it a"
      " time-out (ssl:handshake/2, recv)." || #{acceptors := #{for_clients := ForClients}} <- [Socket], ForClients > 0]].

%% Whoever accepts too slowly at times is told of where the system drops attempts meanwhile. It counts those of all programs, so a socket
%% of this node must have been full, too. One where connections always wait is told of before.
full_backlogs(#{losses := #{refused := Refused, looks := Looks, ms := Ms, full := Full}} = Look) when Refused >= ?REFUSED ->
    Told = [Port || #{evidence := #{port := Port}} <- not_accepted(Look)],
    [sign(not_accepted,
          #{port => Port, backlog => Backlog, full => Times, looks => Looks, ms => Ms, refused => Refused, owner => process(Socket),
            label => case Label of unknown -> unknown; _ -> label(Label) end},
          "A client whose attempt is dropped tries again after 1, 3 and 7 s. Listen with a larger {backlog, N} (gen_tcp has 5 by default;"
          " net.core.somaxconn is the most). Have several processes accept, which do nothing else: each hands the connection on at once.",
          diagnose_proof:look())
     || #{port := Port, backlog := Backlog, times := Times, label := Label} = Socket <- Full, Times >= ?FULL_LOOKS,
        not lists:member(Port, Told)];
full_backlogs(#{}) -> [].

packets_dropped(#{losses := #{ms := Ms, udp := Udp}}) ->
    [sign(packets_dropped,
          #{port => Port, dropped_a_second => 1000 * Dropped div Ms, part => Dropped / (Dropped + Came), ms => Ms, buffer => Buffer,
            active => case is_integer(Active) of true -> n; false -> Active end, read_packets => Packets, owner => process(Socket),
            label => case Label of unknown -> unknown; _ -> label(Label) end},
          "They come faster than they are read, at least at times, and nobody is told of those that are lost. Enlarge the buffer ({recbuf,"
          " Bytes}; net.core.rmem_max is the most), and read more at a time ({active, N} instead of {active, once}, {read_packets, N}). The"
          " owner should only take packets, and hand them on to other processes.",
          diagnose_proof:look())
     || #{port := Port, dropped := Dropped, came := Came, buffer := Buffer, active := Active, read_packets := Packets,
          label := Label} = Socket <- Udp,
        1000 * Dropped >= ?DROPPED_A_SECOND * Ms, Dropped >= ?DROPPED_PART * (Dropped + Came)];
packets_dropped(#{}) -> [].

%% The VM loses hardly any connection by itself.
nodes_flap(#{flaps := #{ms := Ms, nodes := Nodes, by := By} = Flaps}) ->
    nodes_pass(Flaps) ++ [sign(nodes_flap,
          #{ms => Ms,
            nodes => [#{node => Node, times => Downs, reason => Reason} || #{node := Node, downs := Downs, reason := Reason} <- Flapping],
            by => [diagnose_sign:text("~ts~ts", [process(Maker), [[", in ", label(In)] || In =/= none]])
                   || #{most := Most} <- [By], #{in := In} = Maker <- Most]},
          case IsByThis of
              true ->
                  "This node ends them itself (erlang:disconnect_node/1, net_kernel:disconnect/1), and connects again at once, so each side"
                  " copies its state again and again. Often one more node is not reachable, and who watches the cluster (or global, by"
                  " prevent_overlapping_partitions of kernel) ends the others for that: start this node or take it out of the list. Wait"
                  " longer after each attempt.";
              false ->
                  "The other side or the network ends them: see the log of that node at this time, whether it restarts, and whether two"
                  " nodes have one name. With net_tick_timeout a node did not answer for net_ticktime."
          end, diagnose_proof:look())
     || IsByThis <- [true, false],
        [_ | _] = Flapping <- [[One || #{downs := Downs, ups := Ups, reason := Reason} = One <- Nodes, Downs >= ?FLAPS, Ups + 1 >= ?FLAPS,
                                       (Reason =:= disconnect) =:= IsByThis]]];
nodes_flap(#{}) -> [].

nodes_pass(#{came := [{Like, Count} | _], ms := Ms}) when Count >= ?PASSING_NODES, 1000 * Count >= ?PASSING_A_SECOND * Ms ->
    [sign(nodes_flap, #{ms => Ms, came => Count, like => Like, nodes => [], by => []},
          "Each has a name of its own (a command-line tool, a script, a test), which stays in the table of atoms for ever; the VM ends at"
          " the limit of atoms. And each connection is a handshake. Find what starts them (a monitoring job that runs rpc or a ctl"
          " command), let it run less often, give it one name or a few that are used again, or have it ask over HTTP.",
          diagnose_proof:look())];
nodes_pass(#{}) -> [].

nagle(#{nagle_delays := #{looks := Looks, asked := Asked, held := Held, labels := Labels}}) ->
    [sign(nagle_delay, #{looks => Looks, asked => Asked, held => Held, 'of' => diagnose_sign:counted(Labels)},
          "Nagle's algorithm holds a small send back until the other side acknowledges the one before, which it may do 40 ms later. Set the"
          " option {nodelay, true}, or send each request or answer with one call (gen_tcp:send/2 takes an iolist).", diagnose_proof:look())
     || Held > 0, Looks >= ?BACKLOG_LOOKS];
nagle(#{}) -> [].

%% A node that stops in time does not live until the second look.
stopping(#{stopping := #{ms := Ms, application := Name, asks := Asks}}) when Ms >= ?STARTING_MS ->
    [sign(stopping_node,
          #{application => case Name of none -> unknown; _ -> Name end, ms => Ms,
            asks => lists:dropwhile(fun(#{in := In}) -> is_of_master(In) end, diagnose_mailboxes:asks(#{asks => Asks}))},
          "It was told to stop or to restart (init:stop/0), and goes on when the last of these processes has ended: see what that one waits"
          " for. Its supervisor gives it as long (shutdown infinity, or many seconds): give a worker a finite shutdown, and a terminate"
          " function that waits for others (connections, jobs) a limit, and have it tell them to end. exit(Pid, kill) for the last process"
          " lets the node stop now.",
          diagnose_proof:look())];
stopping(#{}) -> [].

is_of_master(unknown) -> false;
is_of_master(In) -> string:prefix(In, "application_master:") =/= nomatch.

%% What never comes back there hurts only those who wait for the others: somebody asks init all the time.
starting(#{starting := #{ms := Ms, up_ms := Up, starts := [], boot := #{in := In, done := Done} = Boot}})
  when Ms >= ?STARTING_MS, Up >= ?UP_MS, 1000 * Done >= ?INIT_ASKED * Ms ->
    [sign(starting_application, #{boot => process(Boot), in => in(In), ms => Ms, up_ms => Up},
          "Whoever waits until the node has started (init:get_status/0) waits for ever. A function that -s, -run or -eval calls has to"
          " return: let it start a process for what goes on, best in a supervisor of an application.", diagnose_proof:look())];
%% One that goes on is told of where the node should be up by now.
starting(#{starting := #{ms := Ms, applications := Names, starts := Starts} = Starting}) when Ms >= ?STARTING_MS ->
    [sign(starting_application,
          #{applications => Names, process => process(Start), ms => Ms, in => in(In), function => start_function(Stack),
            asks => diagnose_mailboxes:asks(Start), tables => Tables, goes_on => GoesOn},
          ["Until it has started, nothing works that needs it. ", start_advice(Start, Tables)],
          diagnose_proof:look())
     || #{stack := Stack, in := In} = Start <- Starts, Tables <- [maps:get(tables, Starting, [])], GoesOn <- [is_map_key(goes_on, Start)],
        not GoesOn orelse maps:get(up_ms, Starting, 0) >= ?UP_MS];
starting(#{}) -> [].

start_advice(#{stack := Stack, asks := Asks} = Start, Tables) ->
    Waits = Tables =/= [] orelse lists:keymember(mnesia_controller, 1, Stack ++ [In || #{in := In} <- Asks, is_tuple(In)]),
    case Asks of
        _ when Waits ->
            "Tables of mnesia may be loading from the disk (mnesia:info/0 tells); otherwise start the node that stopped last, since it has"
            " their newest copy. Bound the wait in the start by a time-out.";
        [_ | _] -> start_advice_by(lists:last(Asks), Start);
        [] -> start_advice_by(none, Start)
    end.

start_advice_by(#{for := repair}, _) ->
    "dets repairs the file of a table that was not closed, which takes as long as the file is large. Close tables before the node stops"
    " (dets:close/1 in terminate, init:stop/0 instead of a kill), keep them small, and open them after the start (handle_continue).";
start_advice_by(#{name := application_controller}, _) ->
    "It waits for the start of another application. If that one needs this one, both wait for ever. Start no application within a start:"
    " list what must run before in the application file, and start others when init has returned (handle_continue).";
start_advice_by(_, #{goes_on := true}) ->
    "It goes on, slowly. Start many things at a time instead of one after the other: let init return at once, and do the rest after the"
    " start (handle_continue), or in tasks.";
start_advice_by(_, _) ->
    "Find out what its start waits for. Bound each wait in the start by a time-out, and do what may take long after the start"
    " (handle_continue).".

%% What the master of the application has called.
start_function(Stack) ->
    Above = lists:takewhile(fun({Module, _, _}) -> Module =/= application_master end, Stack),
    case [Frame || {Module, _, _} = Frame <- Above, not lists:member(Module, [proc_lib, gen, gen_server, supervisor])] of
        [_ | _] = Own -> label(lists:last(Own));
        [] -> unknown
    end.

kinds_of(Kinds) -> [#{label => label(Label), count => N} || {Label, N} <- Kinds].
