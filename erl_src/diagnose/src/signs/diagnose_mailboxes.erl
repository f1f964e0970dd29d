%% @doc From mailboxes, and the receives that go over them, to signs. Pure.
-module(diagnose_mailboxes).

-export([of_process/3, of_group/2, asks/1, lent_in_circle/1, lent_circle_advice/2, disk_advice/0, file_advice/0, is_held_up_in_a_send/1]).

-import(diagnose_sign, [sign/4, process/1, in/1, rounded/1]).
-import(diagnose_samples, [looks/1, looks_in/2, most_seen/1, is_of_behaviour/1, waited/1, only_waits/1, in_callback/1, are_for_a_server/1,
                           most_worked_in/1]).
-import(diagnose_wording, [label/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of one process, with the receives that it goes through.
-spec of_process(diagnose_types:suspect(), [diagnose_types:scan()], diagnose_types:look()) -> [diagnose_types:sign()].
of_process(Suspect, Scans, Look) ->
    Scanning = [scanning_receive(Suspect, Scan, Look)
                || #{function := Function} = Scan <- Scans, not is_of_suspension(Function), not is_sending(maps:get(samples, Suspect))],
    Arrived = with_arrivals(Suspect, Look),
    deep_mailbox(Arrived#{scans => Scanning =/= []}, Look) ++ behind_in_overload(Suspect, Look)
        ++ Scanning ++ message_queue_data(Suspect, Scans).

%% Where the mailbox is too deep to be read, what comes into it is most of what waits.
with_arrivals(#{pid := Pid, waiting := too_large} = Suspect, #{arrivals := Arrivals}) ->
    case [Arrived || #{pid := P} = Arrived <- Arrivals, P =:= Pid] of
        [#{shapes := Shapes, from := From} | _] -> Suspect#{waiting := Shapes, from => From};
        [] -> Suspect
    end;
with_arrivals(Suspect, #{}) -> Suspect.

deep_mailbox(Suspect, Look) ->
    case {is_batch(Suspect), caused(Suspect, Look)} of
        {true, _} -> [];
        {false, none} -> [with_floods(with_full_ports(Sign, Suspect, Look), Suspect, Look) || Sign <- has_deep_mailbox(Suspect, Look)];
        {false, Advice} -> [Sign#{advice := unicode:characters_to_binary(Advice)} || Sign <- has_deep_mailbox(Suspect, Look)]
    end.

%% What to do where another sign of it tells the cause, and the messages are what follows.
caused(#{samples := Samples, usual_depth := Depth} = Suspect, Look) ->
    Causes = ["It takes no message while it is suspended. Resume it, as said above."
              || diagnose_debugging:suspended_by(Suspect, Look) =/= []]
        ++ ["It passes each event to an option of sys for debugging, which takes its time. Remove the option, as said above."
            || diagnose_debugging:is_debugged(Samples)]
        %% It and the process that interprets for it wait for each other, which is no deadlock.
        ++ ["It runs code that the debugger interprets, and waits for the interpreter, or at a breakpoint. int:n/1 ends that for a module:"
            " [int:n(M) || M <- int:interpreted()]. int:continue/1 lets a process go on that has stopped at a breakpoint."
            || diagnose_debugging:is_interpreted(Samples)]
        ++ ["Its code is compiled for coverage, as the finding of the node tells: end that first."
            || diagnose_debugging:is_covered(Suspect, Look)]
        ++ ["It hardly gets a turn, because its priority is low. Change that first, as said above."
            || diagnose_work:is_held_back(Suspect, Look)]
        %% It gets a message for each event that erlang:system_monitor/2 was told to report. Fewer may wait for something else that it does.
        ++ [monitor_advice(Events) || #{system_monitor := #{pid := Pid, events := Events}} <- [Look],
                                      Pid =:= maps:get(pid, Suspect), Depth >= ?BEHIND, not is_halted(Samples)],
    case Causes of
        [First | _] -> First;
        [] -> without_thread(Suspect, Look)
    end.

%% What a server of OTP does, or a function of OTP that goes through all.
specific_advice(#{samples := Samples} = Suspect) ->
    [Advice || Advice <- [diagnose_otp_servers:advice(Suspect) | diagnose_samples:walk(Samples)], Advice =/= none].

with_full_ports(#{evidence := Evidence} = Sign, #{samples := Samples}, #{ports := #{waiting := [_ | _] = Ports}}) ->
    case is_sending(Samples) of
        true -> Sign#{evidence := Evidence#{waits => diagnose_sign:fullest(Ports)}};
        false -> Sign
    end;
with_full_ports(Sign, _Suspect, _Look) -> Sign.

with_floods(#{evidence := Evidence} = Sign, Suspect, Look) ->
    case floods_of(Suspect, Look) of
        [] -> Sign;
        Floods -> Sign#{evidence := Evidence#{floods => [maps:without([pid, 'of'], Flood) || Flood <- Floods]}}
    end.

%% Its ports that give it data, if such data are most of what waits, or if nothing is known of what waits.
floods_of(#{pid := Pid, waiting := Waiting}, #{floods := Floods}) ->
    [Flood || #{pid := P, 'of' := Of} = Flood <- Floods, P =:= Pid, not is_list(Waiting) orelse is_mostly_of(Of, Waiting)].

is_mostly_of(Of, Waiting) ->
    2 * lists:sum([Times || {Shape, Times} <- Waiting, begins_with(Shape, data_of(Of))]) >= lists:sum([Times || {_, Times} <- Waiting]).

data_of(program) -> "{port, ";
data_of(tcp) -> "{tcp, ";
data_of(udp) -> "{udp, ";
data_of(tls) -> "{ssl, ".

%% What to do where data of a port are most of what waits. Nothing is known of many messages but that they may be such data.
flood_advice(#{waiting := Waiting} = Suspect, Look) when is_list(Waiting) ->
    case {[Of || Of <- [program, tcp, udp, tls], Waiting =/= [], is_mostly_of(Of, Waiting)], floods_of(Suspect, Look)} of
        {[], _} -> [];
        {[program | _], _} -> ["A program of the operating system writes faster than this process handles. " ++ program_advice()];
        {[_ | _], [_ | _]} -> ["The socket has the mode {active, true}, so all that comes waits in the mailbox. " ++ socket_advice()];
        {[_ | _], []} -> ["These messages are data of sockets, which come faster than this process handles them. " ++ socket_advice()]
    end;
flood_advice(Suspect, Look) ->
    case floods_of(Suspect, Look) of
        [#{'of' := program} | _] -> ["If these messages are the output of the program: " ++ program_advice()];
        [_ | _] -> ["The socket has the mode {active, true}. If these messages are its data: " ++ socket_advice()];
        [] -> []
    end.

program_advice() ->
    "The VM always reads what a port program writes, so nothing slows the program down. Have it stop after some lines or bytes until it"
    " gets an acknowledgement, filter its output before, or read it from a socket with {active, N}. Do other work in another process.".

socket_advice() ->
    "Set {active, N} or {active, once}, and set it again when these messages are handled (inet:setopts/2, ssl:setopts/2): then TCP slows the sender down,"
    " and of UDP the system drops what its buffer (recbuf) has no room for. Do other work in another process, or share the"
    " data among several.".

monitor_advice(Events) ->
    io_lib:format("It gets the events of erlang:system_monitor/0: ~0tp (in ms, or words of a heap). Raise these thresholds, and leave out"
                  " what nobody reads (erlang:system_monitor/2).", [Events]).

%% It never waits, and does nothing either: it is in one native function, or waits for a thread that runs that.
without_thread(#{samples := Samples, reductions := Reductions}, Look) when is_number(Reductions), Reductions =< ?NO_WORK_REDUCTIONS ->
    Looks = looks(Samples),
    IsInFiles = looks_in(Samples, fun({Module, _, _}) -> Module =:= prim_file end) >= ?SAME_FUNCTION * Looks,
    case {Looks >= ?BUSY_LOOKS andalso waited(Samples) =:= 0, diagnose_schedulers:dirty(Look)} of
        {true, [_ | _]} ->
            "It does nothing meanwhile: it waits for a thread for long native work or for files, or has one. The finding of the node"
            " tells who holds these threads; that is what to fix.";
        {true, []} when IsInFiles ->
            "It does nothing meanwhile: it waits for the operating system in a function for files. Find out which disk, pipe or network"
            " file system does not answer.";
        _ -> none
    end;
without_thread(#{}, _Look) -> none.

%% It takes all that waits, time and again, and nobody waits for an answer meanwhile.
is_batch(#{emptied := Times, window_ms := Ms, asks := Asks, waiting := Waiting}) ->
    lists:all(fun is_outside/1, Asks) andalso Times >= ?EMPTIED andalso 1000 * Times >= Ms
        andalso not (is_list(Waiting) andalso lists:any(fun({Shape, _}) -> begins_with(Shape, "call of ") end, Waiting));
is_batch(#{}) -> false.

has_deep_mailbox(#{usual_depth := Depth, growth := Growth, queue := Queue, samples := Samples, waiting := Waiting, asks := Asks} = Suspect,
                 Look)
  when is_integer(Depth), Depth >= ?DEEP ->
    [sign(deep_mailbox,
          #{messages => Depth, growth_a_second => rounded(Growth), queue => Queue, in => most_seen(Samples),
            waiting => waiting(Waiting), from => senders(Suspect), asks => asks(Suspect)},
          [case {is_starting(Samples), is_formatting(Samples)} of
               {true, _} -> starting_advice();
               {false, _} when map_get(for, hd(Asks)) =:= stop -> stop_advice();
               {false, _} when IsHalted -> halted_advice();
               {false, true} ->
                   "It makes text of terms nearly all the time. If that is a log event, or the report of a crash with its state and its queued"
                   " messages, bound it (chars_limit and depth of logger_formatter, format_status/1 of the behaviour), and keep large terms"
                   " out of reasons and events. If not, make less text for each message, or have the sender make it.";
               {false, false} when IsSending -> sending_advice();
               {false, false} when Specific =/= [] -> hd(Specific);
               {false, false} when Flood =/= [] -> hd(Flood);
               {false, false} ->
                   [scan_advice(Suspect, Look), "Keep the mailbox short: the library dam (OTP 27) holds, blocks or drops the excess.",
                    [[" ", Slow] || Slow <- slow_advice(Suspect)]]
           end,
           [" Perhaps no receive takes these messages: a server should receive every message, and cancel timers and monitors."
            || is_list(Waiting), is_float(Growth), abs(Growth) < 1.0, not is_starting(Samples), not IsHalted,
               not IsSending, Specific =:= []]],
          diagnose_proof:look())
     || IsHalted <- [is_halted(Samples)], IsSending <- [is_sending(Samples)], Flood <- [flood_advice(Suspect, Look)],
        Specific <- [[logging_advice() || waits_in(Samples, ?LOGGING)] ++ specific_advice(Suspect)]];
%% Fewer, and never fewer than these: it does not keep up, though each caller that waits has sent one message only.
has_deep_mailbox(#{least_depth := Least, usual_depth := Depth, growth := Growth, queue := Queue, samples := Samples, waiting := Waiting,
                   stays := true} = Suspect, Look)
  when Least >= ?BEHIND ->
    [sign(deep_mailbox,
          #{messages => Depth, growth_a_second => rounded(Growth), queue => Queue, in => most_seen(Samples), waiting => waiting(Waiting),
            least => Least, waits_of_looks => waited(Samples), asks => asks(Suspect)},
          behind_advice(Suspect, is_circle(Suspect), Look), diagnose_proof:look()) || looks(Samples) >= ?BUSY_LOOKS];
%% Few, while it waits for the start or the end of one process after the other; or few, which a server would take if it came to them: it
%% has done nothing else than wait. And whoever waits for one that waits for it has no need of a message to be held up for ever.
has_deep_mailbox(#{least_depth := Least, usual_depth := Depth, queue := Queue, samples := Samples, waiting := Waiting, idle := Idle,
                   stays := true} = Suspect, Look)
  when Least > 0 orelse Depth >= ?HELD_UP, Depth < ?DEEP ->
    Looks = looks(Samples),
    [sign(deep_mailbox,
          #{messages => Depth, growth_a_second => unknown, queue => Queue, in => most_seen(Samples), waiting => waiting(Waiting),
            least => Least, waits_of_looks => waited(Samples), asks => asks(Suspect)},
          behind_advice(Suspect, is_circle(Suspect), Look), diagnose_proof:look())
     || Looks >= ?BUSY_LOOKS,
        Idle andalso only_waits(Samples)
            andalso (Least > 0 andalso is_circle(Suspect) orelse Least >= ?HELD_UP andalso are_for_a_server(Waiting))
            orelse Least >= ?HELD_UP andalso is_starting(Samples)
            orelse is_ending(Samples) andalso not is_of_stopping(Suspect, Look) % in between it takes all that waits
            orelse Least >= ?KEPT_WAITING
                %% Of a server of a library, callers that each wait for their answer keep the mailbox at its depth.
                andalso (in_callback(Suspect) >= ?SAME_FUNCTION * Looks orelse 20 * waited(Samples) =< Looks andalso 2 * Least >= Depth)];
has_deep_mailbox(_, _) -> [].

%% What takes no part of a core worth mentioning is no reason that messages wait.
scan_advice(#{scans := true}, #{collections := #{cores := Cores}} = Look) when Cores =< ?SCANS_LITTLE ->
    case diagnose_schedulers:delayed(Look) of
        Delayed when Delayed =< ?HARDLY_DELAYED ->
            io_lib:format("The receive named below goes through all of them, but the node used ~.1f cores in all, so this is not why they wait:"
                          " first find out what the process waits for. ", [Cores]);
        Delayed ->
            io_lib:format("The receive named below goes through all of them. Whether they wait for this is unknown: for ~b % of the time that"
                          " the node was ready to run, the machine did something else. Look again when it does less. ", [round(100 * Delayed)])
    end;
scan_advice(#{scans := true}, _Look) -> scan_advice();
scan_advice(#{}, _Look) -> "".

scan_advice() -> "First change the receive named below, which goes through all of them. ".

%% One that works waits for nothing; and what sleeps waits for nothing else. Where the messages become fewer, it keeps up now.
slow_advice(#{scans := true}) -> [];
slow_advice(#{growth := Growth, usual_depth := Depth}) when is_float(Growth), ?CATCHES_UP_S * Growth =< -Depth ->
    ["They become fewer: it handles them faster than they come now. Look again."];
slow_advice(#{samples := Samples, by_file := Times} = Suspect) when Times > 0 ->
    ["It waits for the process of a file that was opened without the mode raw: open it raw." || 2 * Times >= looks(Samples)]
        ++ [what_it_waits_for(Suspect) || 2 * Times < looks(Samples)];
slow_advice(Suspect) -> [what_it_waits_for(Suspect)].

what_it_waits_for(#{samples := Samples, asks := Asks}) ->
    case {sleep_advice(Samples), 2 * looks(works_only(Samples)) > looks(Samples), most_worked_in(Samples)} of
        {[Sleeps | _], _, _} -> Sleeps;
        {[], true, {_, _, _} = Function} ->
            ["It works nearly all the time, mostly in ", label(Function), ". A message takes longer to handle than the time until the next"
             " one comes: do less for each, take several at once, or share the work among several processes."];
        {[], _, _} ->
            hd([["Or begin with ", Awaited, ": it waits for that one."] || Awaited <- awaited(Asks)]
               ++ ["It waits until another node has started a process for it: find out which node does not answer, and do not wait for it"
                   " (erlang:spawn_request/5)." || waits_in(Samples, ?SPAWNS)]
               ++ ["Or find out what the process waits for."])
    end.

%% The process for whose answer it waits in the end.
awaited([]) -> [];
awaited(Asks) -> [process(Last) || Last <- [lists:last(Asks)], not is_outside(Last)].

%% Where it is also seen to wait, the VM says that it runs while it answers the look.
works_only(Samples) ->
    Places = [Stack || {waiting, Stack, _} <- Samples],
    [Sample || {Status, Stack, _} = Sample <- Samples, Status =/= waiting, Status =/= suspended, not lists:member(Stack, Places)].

%% That the node is stopping tells of it.
is_of_stopping(#{pid := Pid}, #{stopping := #{asks := Asks}}) -> lists:any(fun(#{pid := P}) -> P =:= Pid end, Asks);
is_of_stopping(#{}, #{}) -> false.

%% @doc Whom it waits for, whom that one, and so on, as reports tell it.
-spec asks(#{asks := diagnose_types:asks(), _ => _}) -> [map()].
asks(#{asks := Asks}) ->
    [#{process => process(One),
       in => in(In),
       for => For,
       at => maps:get(at, One, unknown),
       label => case {For, Label} of {_, {_, _, _}} when For =:= start; For =:= lent -> label(Label); _ -> unknown end}
     || #{in := In, for := For, label := Label} = One <- Asks].

%% They wait for each other.
is_circle(#{pid := Pid, asks := [_ | _] = Asks}) ->
    lists:member(maps:get(pid, lists:last(Asks)), [Pid | [P || #{pid := P} <- lists:droplast(Asks)]]);
is_circle(#{}) -> false.

begins_with(Text, Beginning) -> string:prefix(Text, Beginning) =/= nomatch.

%% There is one look at it only. A server of OTP is known to be one for all.
behind_in_overload(#{usual_depth := Depth, samples := [], growth := Growth, queue := Queue, waiting := Waiting} = Suspect,
                   #{overloaded := Ready})
  when Ready =/= false, Depth >= ?BEHIND, Depth < ?DEEP ->
    OfServer = diagnose_otp_servers:advice(Suspect),
    [sign(deep_mailbox,
          #{messages => Depth, growth_a_second => rounded(Growth), queue => Queue, in => unknown, waiting => waiting(Waiting), asks => []},
          case OfServer of
              none ->
                  "Many processes wait for it, and all share the schedulers: do less work for each request, run several such servers by a"
                  " hash of the key, or limit how many ask at a time.";
              _ -> OfServer
          end,
          diagnose_proof:look()) || Depth >= ?BEHIND_IN_OVERLOAD orelse OfServer =/= none];
behind_in_overload(_, _) -> [].

behind_advice(#{asks := Asks} = Suspect, true, _) ->
    case [Lends || {Lends, #{for := lent}} <- lists:zip(lists:droplast(Asks), tl(Asks))] of
        [Lends | _] -> lent_circle_advice(Lends, Suspect);
        [] ->
            "These processes wait for each other's answers: a deadlock. Replace one of the calls by a cast, or make it in a separate"
            " process (a task)."
    end;
behind_advice(#{asks := [#{for := stop} | _]}, false, _) ->
    stop_advice();
behind_advice(#{samples := Samples, waiting := Waiting, asks := Asks} = Suspect, false, Look) ->
    OfServer = diagnose_otp_servers:advice(Suspect),
    Specific = specific_advice(Suspect) ++ flood_advice(Suspect, Look),
    IsEnding = is_ending(Samples),
    IsInFiles = looks_in(Samples, fun({Module, _, _}) -> Module =:= prim_file end) >= ?SAME_FUNCTION * looks(Samples),
    %% The VM says that it runs while it answers the look.
    Waits = 2 * waited(Samples) >= looks(Samples) orelse Asks =/= [] andalso 2 * looks(works_only(Samples)) < looks(Samples),
    case {is_starting(Samples), most_wait_for(Waiting), Waits} of
        {true, _, _} -> starting_advice();
        {false, _, true} when IsEnding -> stop_advice();
        {false, For, true} ->
            case {is_halted(Samples), is_sending(Samples), For} of
                {true, _, _} -> halted_advice();
                {false, false, print} -> print_advice();
                {false, false, file} -> file_advice();
                {false, _, _} -> handler_advice(Suspect, Look) ++ waiting_advice(Suspect)
            end;
        {false, file, false} -> file_advice();
        {false, _, false} when IsInFiles, OfServer =:= none -> disk_advice();
        {false, _, false} when Specific =/= [] -> hd(Specific);
        {false, _, false} ->
            handler_advice(Suspect, Look)
                ++ "It works all the time, and its work for one caller keeps all others waiting: do less in a call (read from ETS, work in"
                   " the caller or in tasks), run several such servers by a hash of the key, and limit the callers (the library dam, OTP 27)."
    end.

%% @doc What to do where those that hold what one server has lent wait for another one, which waits for the first. More to lend only puts
%% it off.
-spec lent_circle_advice(#{pid := binary(), name := atom(), _ => _}, #{pid := binary(), name := atom(), _ => _}) -> iodata().
lent_circle_advice(Lends, Asked) ->
    ["A deadlock: whoever holds what ", process(Lends), " has lent waits for ", process(Asked), ", which waits for ", process(Lends),
     ". Nothing is lost, and more to lend only puts it off. Make the call of ", process(Asked), " before something is taken from ",
     process(Lends), " or after it is given back, hand on what was taken with that call, or give ", process(Asked), " something of its own."
     " A time-out for each of these calls ends it."].

%% @doc For whom those wait that hold what a server has lent, where this ends at the server itself: it monitors them, as pools do. All that
%% were asked wait in the same function.
-spec lent_in_circle(diagnose_types:awaited()) -> diagnose_types:asks().
lent_in_circle(#{pid := Pid, monitored := #{asked := Asked, waiting := Asked, asks := [_, _ | _] = Asks}}) ->
    case lists:last(Asks) of
        #{pid := Pid} -> lists:droplast(Asks);
        #{} -> []
    end;
lent_in_circle(_) -> [].

%% Of processes that log some are seen waiting for its answer.
handler_advice(#{pid := Pid, name := Name}, #{unanswered := #{most := Most}}) ->
    ["A handler of logger calls it (or a filter does), so each process that logs an event waits for it. Have the handler send the event to it without"
     " waiting for an answer, and drop events where too many wait (batch_io, logger_std_h). "
     || lists:any(fun(#{logs := Logs, called := Called}) -> Logs andalso lists:member(Called, [Pid, atom_to_binary(Name, utf8)]) end, Most)];
handler_advice(#{}, #{}) -> [].

%% @doc What to do where a server waits for the disk with each of its callers.
-spec disk_advice() -> string().
disk_advice() ->
    "It reads, writes or syncs a file for each message, and waits for the disk meanwhile: serve several callers with one write and"
    " one sync (take all that waits, then answer), or give the data to a process that writes in batches.".

print_advice() ->
    "These callers wait to print: it is their group leader, or a handler of logger. Either nobody reads its output (a full pipe, a"
    " stopped terminal), or it does not answer io requests, as each group leader must. Start processes that outlive a shell with the"
    " group leader of an application.".

%% @doc What to do where the process of a file does not keep up.
-spec file_advice() -> string().
file_advice() ->
    "It has a file open without the mode raw, so each read and write is a message to it, and all users of the file wait for this"
    " process. Open the file raw if one process uses it, or write in batches ({delayed_write, Size, Ms}), and sync seldom.".

most_wait_for([_ | _] = Shapes) ->
    All = lists:sum([Times || {_, Times} <- Shapes]),
    case [For || {Shape, For} <- [{"{io_request, ", print}, {"{file_request, ", file}],
                 2 * lists:sum([Times || {S, Times} <- Shapes, begins_with(S, Shape)]) > All] of
        [For] -> For;
        [] -> none
    end;
most_wait_for(_) -> none.

waiting_advice(#{samples := Samples, waiting := Waiting, asks := Asks}) ->
    [hd(["It is suspended meanwhile, mostly since a port or a connection takes no more of what it sends: mend that first."
         || 2 * looks([Sample || {suspended, _, _} = Sample <- Samples]) > looks(Samples)]
        ++ [Advice || {Functions, Advice} <- waits(), waits_in(Samples, Functions)]
        ++ sleep_advice(Samples) ++ [outside_advice(For) || #{for := For} = One <- Asks, is_outside(One)]
        ++ [[case are_for_a_server(Waiting) of
                 true -> "These callers wait for it, and it waits for ";
                 false -> "It waits meanwhile for "
             end, For]
            || For <- [[Awaited, ": begin with that one."] || Awaited <- awaited(Asks)] ++ ["something else: find out for what."]]),
     " Handle a long request in a process of its own (a task, ",
     diagnose_samples:reply(lists:append([Stack || {_, Stack, _} <- Samples])), ").",
     [" Or no receive takes the messages: a server should receive every message." || not are_for_a_server(Waiting)]].

%% One that sleeps waits for nothing. It may run a fun of its callers, or a callback of another module.
sleep_advice(Samples) ->
    Sleeping = [{Times, Caller, Stack} || {waiting, [{Module, sleep, 1}, Caller | Stack], Times} <- Samples,
                                          Module =:= timer orelse Module =:= 'Elixir.Process', not is_of_behaviour(Caller)],
    [["It waits for nothing: it sleeps, and ", label(Caller), " has called that",
      [[" (its own ", label(Own), " runs code of that module, perhaps a fun of its callers: have them run it)"]
       || Own <- others(Caller, Stack)],
      ". Leave the sleep out, or have a timer (erlang:send_after/3) bring a message after that time."]
     || Sleeping =/= [], 2 * lists:sum([Times || {Times, _, _} <- Sleeping]) >= looks(Samples),
        {_, Caller, Stack} <- [lists:max(Sleeping)]].

%% The function of the server's own module, which the behaviour has called.
others({Module, _, _}, Stack) ->
    case lists:takewhile(fun(Frame) -> not is_of_behaviour(Frame) end, Stack) of
        [_ | _] = Own when length(Own) < length(Stack) ->
            [Last || {M, _, _} = Last <- [lists:last(Own)], M =/= Module];
        _ -> []
    end.

%% Whom it waits for there is no process of the node.
is_outside(#{for := For}) -> For =:= program orelse For =:= data.

outside_advice(program) ->
    "It waits for its program, as it seems. Find out why that is slow (ps, strace). A program answers one request after the other:"
    " start several, each with a process of its own, and bound each wait (after).";
outside_advice(data) ->
    "It waits for a process that reads from a socket, so a slow or silent host holds up all callers. Give each read a time-out"
    " (gen_tcp:recv/3), and have several connections, each with a process of its own.".

%% What a server may wait in, and what to do then. The first one counts.
waits() ->
    [{?SENDING, sending_advice()},
     {?READING,
      "It waits for what the other side of a socket sends, so a slow or silent host holds up all callers: give each read a time-out"
      " (gen_tcp:recv/3), and a request to another host a process of its own."},
     {?IN_PROGRAM,
      "It waits for a program of the operating system (os:cmd/1), which does not end: ps shows it as a child of erl_child_setup of"
      " this node. Bound its time (timeout 10s COMMAND), and call it from a process of its own."},
     {?LOCKING,
      "It waits for a lock of global, which another process holds (ets:tab2list(global_locks) names it): find out what that one waits for,"
      " and hold no lock during a call."},
     {?LOGGING, logging_advice()},
     {?PRINTING,
      "It prints (io:format/2), and its group leader does not take the output: nobody reads the console, a remote shell that has"
      " gone was the group leader, or others print too much. Log instead of printing (logger), which does not wait for a console."}].

logging_advice() ->
    "It is a handler of logger that writes to the console, and nobody takes the output: a full pipe, or a terminal that is paused. Have it"
    " read, or log to a file or by a handler that drops (batch_io).".

stop_advice() ->
    "It waits for the end of a process that it has told to end, and these callers wait for it: a supervisor does nothing else until the"
    " child has ended. Bound the time of the terminate function of the last process in the chain: a time-out for each call and each read"
    " of a socket. Leave slow cleanup to another process. Let a child end by itself instead of supervisor:terminate_child/2. Give it a"
    " shorter shutdown, and a worker never the shutdown infinity.".

%% At most looks it waits for the end of a child.
is_ending(Samples) ->
    Ending = looks([Sample || {waiting, [{Module, Function, _} | _], _} = Sample <- Samples,
                              Module =:= supervisor andalso Function =:= shutdown
                                  orelse Module =:= 'Elixir.DynamicSupervisor' andalso Function =:= wait_children]),
    Ending > 0 andalso 2 * Ending >= looks(Samples).

%% By sys:suspend/1: it takes nothing but the messages of sys.
is_halted(Samples) -> 2 * looks([Sample || {_, [Frame | _], _} = Sample <- Samples, is_of_suspension(Frame)]) > looks(Samples).

is_of_suspension({Module, Function, _}) -> Module =:= sys andalso lists:member(Function, [suspend_loop, suspend_loop_hib]).

halted_advice() ->
    "It was suspended by sys:suspend/1, as for an upgrade or by hand, and not resumed, so it takes no message. Resume it with sys:resume/1"
    " if nobody works on it.".

is_formatting(Samples) ->
    looks(Samples) >= ?BUSY_LOOKS
        andalso looks_in(Samples, fun({Module, _, _}) -> lists:member(Module, ?FORMATTING) end) >= ?FORMATS * looks(Samples).

is_sending(Samples) -> waits_in(Samples, ?SENDING).

%% @doc Whether messages wait for a process that waits in a send, so that its mailbox tells of that.
-spec is_held_up_in_a_send(diagnose_types:suspect()) -> boolean().
is_held_up_in_a_send(#{usual_depth := Depth, samples := Samples}) -> Depth > 0 andalso is_sending(Samples).

sending_advice() ->
    "It waits in a send, because the other side of a socket reads too slowly, and all that is sent to it waits: set send_timeout and"
    " send_timeout_close on such sockets, or have a process for each of them send.".

%% Whether it waits in what one of these functions calls, at half of the looks at least.
waits_in(Samples, Functions) ->
    Waits = looks_in([Sample || {waiting, _, _} = Sample <- Samples],
                     fun({Module, Function, _}) -> lists:member({Module, Function}, Functions) end),
    Waits > 0 andalso 2 * Waits >= looks(Samples).

%% The looks at which it waits until a process that it has started says that it is ready.
starting(Samples) ->
    lists:sum([Times || {waiting, [{proc_lib, Function, _} | _], Times} <- Samples,
                        lists:member(Function, [sync_start, sync_start_link, sync_start_monitor])]).

is_starting(Samples) -> starting(Samples) > 0 andalso 2 * starting(Samples) >= looks(Samples).

starting_advice() ->
    "It starts one process after the other, and waits for the init of each. Meanwhile all its callers wait. Keep init short, and do slow"
    " work (connections, queries, large reads) after it: handle_continue, or a message to itself. Several supervisors"
    " (PartitionSupervisor) start as many at a time.".

senders(#{from := From}) -> [case is_atom(Of) of true -> atom_to_binary(Of, utf8); false -> label(Of) end || {Of, _} <- From];
senders(#{}) -> unknown.

waiting(Shapes) when is_list(Shapes) -> [#{shape => Shape, times => Times} || {Shape, Times} <- Shapes];
waiting(Why) -> Why.

scanning_receive(#{usual_depth := Depth, queue := Queue},
                 #{function := Function, file := File, line := Line, called_from := Caller, seen := Seen, looks := Of},
                 #{scan_ns := Costs}) ->
    Call = case Costs of
               #{Queue := Ns} -> Depth * Ns / 1.0e6;
               #{} -> unknown
           end,
    sign(scanning_receive,
         #{receive_in => label(Function), file => File, line => Line, messages => Depth, queue => Queue, at_least_ms_a_call => Call,
           called_from => in(Caller), seen => Seen, looks => Of},
         case Function of
             {erts_internal, flush_monitor_messages, _} ->
                 "erlang:demonitor/2 with the option flush scans the mailbox if the monitored process has ended. Leave flush out, and have"
                 " the server ignore 'DOWN' messages whose references it does not know. Or keep the mailbox short (dam, OTP 27).";
             _ ->
                 "Have another process make this call, keep the mailbox short (dam, OTP 27), or, if you can change the process that replies,"
                 " make a reference just before the request and match it in every clause."
         end,
         diagnose_proof:look()).

%% On the heap is only advised where a receive was seen going by the messages.
message_queue_data(#{queue := Queue, usual_depth := Depth, pauses := #{minor := Minor, full := Full, total_us := Us, window_ms := Ms}}
                       = Suspect,
                   Scans) when Minor + Full >= ?COLLECTIONS, Us >= ?MESSAGES_COLLECTED * 1000 * Ms; Queue =:= off_heap ->
    Seen = #{deepest => Depth, collections => Minor + Full, seconds => Ms / 1000},
    case diagnose_queue_advice:advise(Seen) of
        #{favours := Other, because := Because} when Other =:= off_heap, Queue =:= on_heap;
                                                     Other =:= on_heap, Queue =:= off_heap, Scans =/= [] ->
            [sign(message_queue_data, #{queue => Queue, messages => Depth, collections => Minor + Full, window_ms => Ms},
                  ["process_flag(message_queue_data, ", atom_to_list(Other), "): ", Because, "."],
                  diagnose_proof:setting(Suspect, {message_queue_data, Other}))];
        #{} -> []
    end;
message_queue_data(_, _) -> [].

%% @doc The signs of processes alike of which none was looked at closer, since others are deeper: what the look at all knows.
-spec of_group(map(), diagnose_types:look()) -> [diagnose_types:sign()].
of_group(#{label := Label, deep := Deep, messages := Messages, deepest := Deepest},
         #{suspects := Suspects, groups := Groups}) when Deep > 0 ->
    [sign(deep_mailbox,
          #{messages => Deepest, growth_a_second => unknown, queue => unknown, in => unknown, waiting => not_looked, asks => [],
            processes => Deep, messages_together => Messages},
          "Keep the mailbox short: the library dam (OTP 27) holds, blocks or drops the excess. Or find out what the process waits for.",
          diagnose_proof:look())
     || lists:sum([D || #{deep := D} <- Groups]) > length([1 || #{depth := Depth} <- Suspects, Depth >= ?DEEP]),
        not lists:any(fun(#{label := L}) -> L =:= Label end, Suspects)];
of_group(#{label := Label, behind := Behind, behind_messages := Messages, deepest := Deepest},
         #{suspects := Suspects}) when Messages >= ?BEHIND_TOGETHER ->
    [sign(deep_mailbox,
          #{messages => Deepest, growth_a_second => unknown, queue => unknown, in => unknown, waiting => not_looked, asks => [],
            processes => Behind, messages_together => Messages},
          "None of them handles messages as fast as they arrive: find out what they wait for, and slow the senders down (a call, a"
          " credit), or drop messages.",
          diagnose_proof:look()) || not lists:any(fun(#{label := L}) -> L =:= Label end, Suspects)];
of_group(#{}, _Look) -> [].
