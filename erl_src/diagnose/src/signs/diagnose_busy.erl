%% @doc From what processes are in while they work to signs: loops, servers that hardly rest, native functions that run long. Pure.
-module(diagnose_busy).

-export([of_process/2, of_long_run/2, of_many/2]).

-import(diagnose_sign, [sign/4, in/1, rounded/1]).
-import(diagnose_samples, [looks/1, looks_in/2, most_seen/1, most_in/1, most_of_frames/2, is_of_behaviour/1, without_behaviours/1,
                           working/1, waited/1, in_callback/1, calling/1]).
-import(diagnose_wording, [label/1]).
-import(diagnose_schedulers, [delayed/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of one process. Where it has tables gone through, or interprets code for another one, that says what it works at.
-spec of_process(diagnose_types:suspect(), diagnose_types:look()) -> [diagnose_types:sign()].
of_process(Suspect, Look) ->
    case diagnose_work:scans_a_table(Suspect) orelse diagnose_work:is_interpreter(Suspect) of
        true -> [];
        false ->
            [with_causes(Sign, Suspect, Look) || Sign <- works_for_itself(Suspect, works(Suspect, Look), Look)]
    end.

with_causes(Sign, Suspect, Look) -> with_waiting(with_debugging(in_pieces(Sign, Suspect, Look), Suspect, Look), Suspect, Look).

%% Those that were seen waiting inside of what they do, in a call of it.
with_waiting(#{evidence := Evidence} = Sign, #{pid := Pid, name := Name}, #{places := #{most := Most}}) ->
    Names = [Pid | [atom_to_binary(Name, utf8) || Name =/= '']],
    case [#{label => label(Label), count => Count} || #{for := For, label := Label, count := Count} <- Most, lists:member(For, Names)] of
        [] -> Sign;
        Waiting -> Sign#{evidence := Evidence#{waiting => Waiting}}
    end;
with_waiting(Sign, _Suspect, _Look) -> Sign.

%% Its buffer ends each read. Of packets with a length or of lines, each is as long as it is.
in_pieces(#{evidence := Evidence} = Sign, #{pid := Pid} = Suspect, #{reads := Reads} = Look) ->
    case [One || #{pid := P, packet := Packet, ms := Ms, count := Count, bytes := Bytes, buffer := Buffer} = One <- Reads,
                 P =:= Pid, Packet =:= raw orelse Packet =:= 0, Buffer =< ?SMALL_BUFFER,
                 1000 * Count >= ?READS_A_SECOND * Ms, Bytes >= ?BUFFER_FILLED * Buffer * Count] of
        [#{ms := Ms, count := Count, bytes := Bytes, buffer := Buffer} | _] ->
            Sign#{evidence := Evidence#{pieces_a_second => 1000 * Count div Ms, piece_bytes => Bytes div Count, buffer => Buffer},
                  advice := <<"It reads its socket in pieces, since the socket's buffer holds no more. Enlarge that ({buffer, 65_536} or more in"
                            " the options, or by inet:setopts/2), so that one message or recv brings much, and use {active, N} instead of"
                            " {active, once}: then the same data take a part of the calls and messages.">>};
        [] -> parses_anew(Sign, Suspect, Look)
    end.

%% It works much for each byte that comes, and what comes are parts of something larger.
parses_anew(#{evidence := #{in := In} = Evidence} = Sign, #{pid := Pid, reductions := Reductions} = Suspect, #{reads := Reads}) ->
    case [One || is_number(Reductions), diagnose_otp_servers:advice(Suspect) =:= none,
                 #{pid := P, packet := Packet, ms := Ms, count := Count, bytes := Bytes} = One <- Reads,
                 P =:= Pid, Packet =:= raw orelse Packet =:= 0, Bytes >= ?PART_BYTES * Count, Bytes =< ?SMALL_BUFFER * Count,
                 1000 * Count >= ?PARTS_A_SECOND * Ms, Reductions * Ms >= 1000 * ?PARSING_REDUCTIONS * Bytes] of
        [#{ms := Ms, count := Count, bytes := Bytes, buffer := Buffer} | _] ->
            Sign#{evidence := Evidence#{pieces_a_second => 1000 * Count div Ms, piece_bytes => Bytes div Count, buffer => Buffer},
                  advice := unicode:characters_to_binary(
                              ["It works in ", In, " for each piece that comes from its socket, and does much for each byte. If it begins"
                               " anew with all that it has at each piece, the time grows by the square of the length: keep what is parsed"
                               " (a parser that returns a continuation), or keep the pieces in a list until all has come, where the length"
                               " is known. Larger pieces help as much as they are larger ({buffer, 65_536}, {recbuf, N}; {packet, N} where"
                               " each message begins with its length). Several such processes would each do the same. (If each byte"
                               " needs that much work, nothing is wrong.)"])};
        [] -> Sign
    end;
parses_anew(Sign, _Suspect, _Look) -> Sign.

with_debugging(#{advice := Advice} = Sign, #{samples := Samples} = Suspect, Look) ->
    Causes = ["Its code is compiled for coverage, as the finding of the node tells: end that first. "
              || diagnose_debugging:is_covered(Suspect, Look)]
        ++ ["It works for an option of sys for debugging: remove that first. " || diagnose_debugging:is_debugged(Samples)],
    Sign#{advice := unicode:characters_to_binary([Causes, Advice])}.

%% What a process sends to itself keeps it at work, whatever it is in. A loop that does so is told of once. Who has priority low works
%% when nobody else would. Timers of 0 count as such messages, but where many messages wait, they are of the timers of others.
works_for_itself(#{priority := low}, _Busy, _Look) -> [];
works_for_itself(#{pid := Pid, samples := Samples, usual_depth := Depth} = Suspect, Busy,
                 #{wakes := #{to_itself := Senders, drains := Drains}} = Look) when Depth < ?BEHIND ->
    NeverWaits = looks(Samples) >= ?BUSY_LOOKS andalso waited(Samples) =:= 0,
    case [Pace || NeverWaits, #{pid := P, a_second := Pace} <- Senders, P =:= Pid, Pace >= ?TO_ITSELF_A_SECOND] of
        [] ->
            case [Pace || NeverWaits, #{pid := P, a_second := Pace} <- Drains, P =:= Pid] of
                [Pace] -> first_of([fun() -> queues_in_its_heap(Suspect, Pace, Look) end, fun() -> Busy end]);
                [] -> Busy
            end;
        [Pace] ->
            {Function, Times} = own_function(Suspect),
            case diagnose_otp_servers:advice(Suspect) of
                none ->
                    #{evidence := Evidence} = Sign =
                        busy_sign(Suspect, Function, Times, Samples,
                                  [batch_advice(Suspect, Pace),
                                   "Each message to itself makes it send the next one, and a receive with after 0 does not wait, so it"
                                   " never rests. Let it wait for an event (a message from its source, a monitor), or send the next one"
                                   " after a while (erlang:send_after/3)."]),
                    [Sign#{evidence := Evidence#{to_itself_a_second => Pace}}];
                %% What others ask of it takes it several turns.
                Advice -> [busy_sign(Suspect, Function, Times, Samples, Advice)]
            end
    end;
works_for_itself(_Suspect, Busy, _Look) -> Busy.

%% A batch that gives way to others between its steps is meant to work all the time.
batch_advice(#{reductions := Reductions}, Pace) when is_number(Reductions), Reductions >= ?COMPUTES_EACH * Pace ->
    "It computes much for each of these messages: if that is a batch which gives way between its steps, leave it. Otherwise: ";
batch_advice(#{}, _Pace) -> "".

%% What it has not worked on yet is in a queue of its own: its mailbox is empty, and its callers wait. One at its capacity has a small heap.
queues_in_its_heap(#{pid := Pid, name := Name, used_bytes := Used, samples := Samples} = Suspect, Pace, #{unanswered := Unanswered}) ->
    Names = [Pid | [atom_to_binary(Name, utf8) || Name =/= '']],
    Callers = case Unanswered of
                  #{most := Most} -> lists:sum([Count || #{called := Called, count := Count} <- Most, lists:member(Called, Names)]);
                  _ -> 0
              end,
    {Function, Times} = own_function(Suspect),
    [Sign#{evidence := Evidence#{taken_a_second => Pace, heap_bytes => Used, callers => Callers}}
     || Callers > 0 orelse is_integer(Used) andalso Used >= ?WORTH_BYTES,
        #{evidence := Evidence} = Sign
            <- [busy_sign(Suspect, Function, Times, Samples,
                          own_advice(Suspect,
                                     "If it keeps what it takes in a queue of its own, it has more to do than it can do. Its mailbox looks"
                                     " empty then, since what waits is in its heap: whoever sends is not slowed down, and callers wait"
                                     " behind all of that. Do less for a message, divide the work among several such servers, or bound"
                                     " what may wait (calls or credit for those that send)."))]].

%% What a behaviour's module does; where that is hardly ever seen, what the process began with.
own_function(#{samples := Samples, label := Label}) ->
    case {most_in(without_behaviours(Samples)), most_in(Samples)} of
        {none, {_, Times}} when Label =/= unknown -> {Label, Times};
        {none, Most} -> Most;
        {{_, Few}, {_, Many}} when 10 * Few < Many, Label =/= unknown -> {Label, Few};
        {Most, _} -> Most
    end.

%% A behaviour comes back to its loop time and again.
comes_round(Samples) -> looks([Sample || {_, [Frame | _], _} = Sample <- Samples, is_of_behaviour(Frame)]) >= ?SERVING * looks(Samples).

%% What it works at, if it works much.
works(Suspect, Look) ->
    first_of([fun() -> calls_many_handlers(Suspect) ++ goes_through_children(Suspect) ++ by_file(Suspect) end,
              fun() -> busy(Suspect, Look) end,
              fun() -> serves_all(Suspect) ++ asks_others(Suspect) end,
              fun() -> waits_for_disk(Suspect) end,
              fun() -> is_always_at_a_message(Suspect, Look) end]).

first_of([]) -> [];
first_of([Rule | Rules]) ->
    case Rule() of
        [] -> first_of(Rules);
        Signs -> Signs
    end.

%% An event manager that goes from handler to handler. Where a few handlers do the work, it is seen in what they do.
calls_many_handlers(#{used_bytes := Used, samples := Samples, reductions := Reductions} = Suspect)
  when is_float(Reductions), Reductions >= ?BUSY_REDUCTIONS, is_integer(Used), Used >= ?HANDLERS_BYTES ->
    Notifies = [Sample || {_, Stack, _} = Sample <- Samples, lists:any(fun is_notifying/1, Stack)],
    Goes = looks([Sample || {_, [Frame | _], _} = Sample <- Notifies, is_notifying(Frame)]),
    [busy_sign(Suspect, {gen_event, server_notify, 4}, looks(Notifies), Samples,
               "It calls each of its handlers for each event, and they are many: gen_event:which_handlers/1 lists them. Handlers are often"
               " added again and again, and never deleted. gen_event:add_sup_handler/3 deletes a handler when the process that added it"
               " ends; gen_event:delete_handler/3 deletes one at once. Send an event that few need to these few only (pg, a registry).")
     || looks(Samples) >= ?BUSY_LOOKS, Goes >= ?NOTIFIES * looks(Samples), 2 * Goes >= looks(Notifies)];
calls_many_handlers(#{}) -> [].

%% A supervisor goes through its children, which is none of its work: since it is asked for them, or to find one that has ended. It has a
%% child by its identifier, and one of simple_one_for_one by its process.
goes_through_children(#{samples := Samples, reductions := Reductions} = Suspect)
  when is_float(Reductions), Reductions >= ?BUSY_REDUCTIONS ->
    [busy_sign(Suspect, Function, Times, Samples, Advice)
     || {Goes, Function, Advice} <- [{fun is_listing/1, {supervisor, handle_call, 3}, listing_advice()},
                                     {fun is_searching/1, {supervisor, handle_info, 2}, searching_advice()}],
        Times <- [looks([Sample || {_, Stack, _} = Sample <- working(Samples), Goes(Stack)])],
        looks(Samples) >= ?BUSY_LOOKS, Times >= ?LISTS_CHILDREN * looks(Samples)];
goes_through_children(#{}) -> [].

listing_advice() ->
    "It is asked for its children again and again (supervisor:which_children/1, count_children/1), and goes through all of them"
    " each time; which_children/1 also copies the list. Meanwhile it starts and restarts no child. Keep a list or a count of"
    " your own (pg, a registry, counters), or divide the children among several supervisors.".

searching_advice() ->
    "It goes through its children for each child that ends, to find that one by its process. Meanwhile it starts no child, and whoever"
    " asks it to waits. Start children that come and go by a supervisor with the strategy simple_one_for_one (Elixir: DynamicSupervisor),"
    " which finds each at once, or divide them among several supervisors (PartitionSupervisor).".

is_listing(Stack) ->
    case lists:splitwith(fun(Frame) -> Frame =/= {supervisor, handle_call, 3} end, Stack) of
        {[_ | _] = Above, [_ | _]} -> lists:all(fun is_of_a_list/1, Above);
        _ -> false
    end.

is_of_a_list({Module, Function, _}) ->
    lists:member(Module, [lists, maps, sets])
        orelse Module =:= supervisor
            andalso (lists:member(Function, [dyn_map, dyn_fold, children_map, children_to_list, children_fold, count_child])
                     orelse hd(atom_to_list(Function)) =:= $-). % its own funs

is_searching(Stack) ->
    lists:any(fun({Module, Function, _}) ->
                      Module =:= supervisor andalso (Function =:= find_child_by_pid orelse Function =:= del_child)
              end, Stack).

is_notifying({gen_event, Function, _}) -> Function =:= server_notify orelse Function =:= server_update;
is_notifying(_) -> false.

%% What a server of OTP does for all, each can do without it. Callers that each wait for an answer keep its mailbox at their number, or
%% make it work all the time. The requests of timers are cheap to make, so there its work alone tells.
serves_all(#{name := Name, samples := [_ | _] = Samples, reductions := Reductions, usual_depth := Depth} = Suspect) ->
    Works = is_float(Reductions) andalso Reductions >= ?BUSY_REDUCTIONS,
    HardlyRests = looks(Samples) >= ?BUSY_LOOKS andalso 20 * waited(Samples) =< looks(Samples),
    IsMuch = Works andalso (HardlyRests andalso Depth > 1 orelse Name =:= timer_server) orelse HardlyRests andalso Depth >= ?BEHIND,
    [busy_sign(Suspect, Function, Times, Samples, Advice)
     || IsMuch, Depth < ?DEEP orelse Name =:= timer_server, % a deep mailbox tells that
        Advice <- [diagnose_otp_servers:advice(Suspect)], Advice =/= none, {Function, Times} <- [own_function(Suspect)]];
serves_all(#{}) -> [].

%% Each answer takes a signal to that process, and back.
asks_others(#{samples := Samples, reductions := Reductions} = Suspect) when is_float(Reductions), Reductions >= ?ASKING_REDUCTIONS ->
    Asks = looks([Sample || {_, [{erts_internal, await_result, 1} | _], _} = Sample <- Samples]),
    [busy_sign(Suspect, {erts_internal, await_result, 1}, Asks, Samples,
               "It asks one process after the other (process_info/2, is_process_alive/1), and each must interrupt its work to answer. Ask"
               " fewer processes, less often; use a monitor to learn of the end of a process.")
     || looks(Samples) >= ?BUSY_LOOKS, Asks >= ?ASKS_OTHERS * looks(Samples)];
asks_others(#{}) -> [].

%% Each line or block is a message to the process that has the file, and back.
by_file(#{by_file := Times, samples := Samples, reductions := Reductions} = Suspect)
  when is_float(Reductions), Reductions >= ?BY_FILE_REDUCTIONS ->
    Asks = without_behaviours([{Status, [Frame || {Module, _, _} = Frame <- Stack, Module =/= io, Module =/= file], N}
                               || {Status, Stack, N} <- Samples]),
    [Sign#{evidence := Evidence#{by_file => true}}
     || looks(Samples) >= ?BUSY_LOOKS,
        Times >= ?BY_FILE * looks(Samples) orelse Times >= ?BY_LINE * looks(Samples) andalso is_by_line(Times, Suspect),
        #{evidence := Evidence} = Sign
            <- [busy_sign(Suspect, case most_in(Asks) of {In, _} -> In; none -> {io, request, 2} end, Times, Samples,
                          "The file was opened without the mode raw, so each read and each write is a message to the process of the"
                          " file, and a copy back. Open it raw. To read: with binary and {read_ahead, 64_000}, by file:read_line/1 or in"
                          " larger blocks (file:read/2); the functions of io need a file that is not raw. To write: with"
                          " {delayed_write, Size, Ms}, by file:write/2.")]];
by_file(#{}) -> [].

is_by_line(Times, #{samples := Samples, reductions := Reductions}) ->
    Reductions >= ?BUSY_REDUCTIONS andalso looks_in(Samples, fun(Frame) -> Frame =:= {io, execute_request, 3} end) >= Times.

%% A server whose callers wait for the disk with it, one after the other. Where they come all at once, it rests in between.
waits_for_disk(#{samples := Samples, depth_at_work := Depth, least_depth := Least} = Suspect)
  when Depth >= ?KEPT_WAITING, Least < ?KEPT_WAITING ->
    Times = looks([Sample || {_, Stack, _} = Sample <- working(Samples), is_in_files(Stack), is_at_a_call(Suspect, Stack)]),
    [busy_sign(Suspect, Function, In, Samples, disk_advice(Suspect))
     || looks(Samples) >= ?BUSY_LOOKS, Times >= ?IN_FILES * looks(Samples),
        {Function, In} <- [most_of_frames(without_behaviours(working(Samples)), all)]];
waits_for_disk(#{}) -> [].

is_in_files(Stack) -> lists:keymember(prim_file, 1, Stack).

is_at_a_call(#{label := {dets, _, _}}, _Stack) -> true;
is_at_a_call(#{}, Stack) -> is_at_a_call(Stack).

is_at_a_call(Stack) -> lists:any(fun({Module, Function, _}) -> Module =:= gen_server andalso Function =:= try_handle_call end, Stack).

disk_advice(Suspect) -> diagnose_otp_servers:advice(Suspect, diagnose_mailboxes:disk_advice()).

%% It never or hardly ever waits, is in one function nearly always, and works on no messages: a loop. One that has much to do is in
%% many functions, or messages come and go.
busy(#{gets := false, samples := Samples, reductions := Reductions, answer_ms := AnswerMs, depth := Depth, usual_depth := Usual} = Suspect,
     Look)
  when is_float(Reductions), is_integer(AnswerMs), Depth < ?DEEP, Reductions >= ?BUSY_REDUCTIONS orelse AnswerMs >= ?NATIVE_MS ->
    Looks = looks(Samples),
    Rests = waited(Samples),
    IsBusy = Looks >= ?BUSY_LOOKS andalso 2 * calling(Samples) < Looks
        andalso (Rests =:= 0 orelse 20 * Rests =< Looks andalso Reductions >= ?BUSY_SERVER_REDUCTIONS),
    case IsBusy andalso same(Looks, [most_in(own(Samples)), most_of_frames(own(Samples), all), most_in(Samples)]) of
        %% At its receive, with messages that come: asked all the time, by one that waits for each answer.
        {{gen_server, loop, _}, _} when Usual > 0 -> [];
        {Function, Times} ->
            case is_of_behaviour(Function) of
                true -> [loop_sign(Suspect, own_function(Suspect))];
                false -> [loop_sign(Suspect, {Function, Times})]
            end;
        %% A behaviour that never waits, and for which no message is ever seen to wait, keeps itself at work.
        none when Rests =:= 0, Usual =:= 0 -> [loop_sign(Suspect, own_function(Suspect)) || comes_round(Samples)];
        _ -> begins_again(Suspect, Look)
    end;
%% To copy large terms makes few reductions. Where the machine did something else most of the time, little work looks so, too.
busy(#{gets := false, samples := Samples, reductions := Reductions, depth := 0} = Suspect, Look)
  when is_float(Reductions), Reductions >= ?COPYING_REDUCTIONS ->
    Looks = looks(Samples),
    IsBusy = Looks >= ?BUSY_LOOKS andalso 20 * waited(Samples) =< Looks andalso delayed(Look) =< ?MOSTLY_DELAYED,
    case IsBusy andalso same(Looks, [most_in(without_behaviours(Samples))]) of
        {_, _} = Most -> [loop_sign(Suspect, Most)];
        _ -> []
    end;
%% A server that is asked all the time and rests hardly ever: all that it does is in one function, which is not what takes messages.
%% A process is seen best where it takes a message, so of one for which messages always wait a tenth of the looks is much, where a
%% server that does little for each is never seen. What copies a large answer makes few reductions. A server with a receive of its own,
%% for which messages always wait, is at work where it is nearly always in what its loop calls.
busy(#{gets := true, samples := Samples, reductions := Reductions, depth := Depth, usual_depth := Usual} = Suspect, Look)
  when is_float(Reductions), Depth < ?BEHIND ->
    Looks = looks(Samples),
    Own = without_behaviours(Samples),
    Works = Looks - waited(Samples),
    IsBusy = Looks >= ?BUSY_LOOKS andalso Reductions >= ?BUSY_REDUCTIONS,
    NeverRests = Works >= ?NEVER_RESTS * Looks,
    IsServing = NeverRests andalso Usual > 0 andalso in_callback(Suspect) >= ?SERVING * Looks,
    IsInCalls = Usual > 0 andalso looks([Sample || {_, [_, _ | _], _} = Sample <- own(Own)]) >= ?SAME_FUNCTION * Looks,
    IsQueuedFor = Usual > 0 andalso Works >= ?SELDOM_RESTS * Looks
        andalso (Reductions >= ?BUSY_SERVER_REDUCTIONS orelse in_callback(Suspect) >= ?SAME_FUNCTION * Works),
    case IsBusy andalso most_in(Own) of
        {Function, Times} when NeverRests, Times >= ?SAME_FUNCTION * Looks, Reductions >= ?BUSY_SERVER_REDUCTIONS orelse IsInCalls;
                               IsQueuedFor, Times >= ?SAME_FUNCTION * Works;
                               Times >= ?SERVING * Looks, IsServing ->
            [busy_sign(Suspect, Function, Times, Own, serving_advice(Suspect, Function))];
        _ -> first_of([fun() -> answers_with_much(Suspect) end, fun() -> works_long(Suspect) end, fun() -> begins_again(Suspect, Look) end])
    end;
busy(_, _) -> [].

%% One that goes through its data, pauses, and begins again. Where it sleeps in between, nobody gives it work. (What wakes it may be seen as
%% a message; what others ask of a server is none of its own; and who waits in a receive of its own may wait for an answer.)
begins_again(#{samples := Samples, usual_depth := 0, reductions := Reductions} = Suspect, Look) when Reductions >= ?BUSY_REDUCTIONS ->
    Looks = looks(Samples),
    Working = working(Samples),
    Works = looks(Working),
    Waits = [Sample || {waiting, _, _} = Sample <- Samples],
    Sleeps = looks([Sample || {_, [{timer, sleep, 1} | _], _} = Sample <- Waits]),
    Loops = looks([Sample || {_, [Frame | _], _} = Sample <- Waits, is_of_behaviour(Frame)]),
    [busy_sign(Suspect, Function, Times, Samples,
               of_files(
                 Suspect,
                 ["It works in ", label(Function), ", pauses for a moment, and begins again. If it goes through all of its data (what has"
                  " expired, a poll), handle only what changed, keep an index by time (an ordered_set), delete by one ets:select_delete/2"
                  " instead of ets:next/2 for each row, or pause for longer."]))
     || Looks >= ?BUSY_LOOKS, 2 * calling(Samples) < Looks, 2 * looks([One || {_, Stack, _} = One <- Working, is_at_a_call(Stack)]) < Works,
        Works < Looks orelse is_below(Working),
        Works >= ?HARDLY_PAUSES * Looks andalso Works + Loops + Sleeps =:= Looks
            orelse Works >= ?SELDOM_RESTS * Looks andalso Works + Sleeps =:= Looks,
        {Function, Times} <- [same(Works, [most_in(without_behaviours(Working)), most_of_frames(without_behaviours(Working), all)])],
        takes_a_scheduler(Reductions, Look)];
begins_again(#{}, _Look) -> [].

%% No pause was seen, and it is in what its loop calls: one whose loop does all the work may wait for the next message, or for an answer.
is_below(Working) -> looks([Sample || {_, [_, _ | _], _} = Sample <- Working]) >= ?SAME_FUNCTION * looks(Working).

%% What works a little is seen at work, too, where processes wait long for their turn, or the VM for a processor. So its part of all that
%% the node does takes much of a core, had the machine let the VM run; or there is a scheduler for it.
takes_a_scheduler(Reductions, #{collections := #{cores := Cores, reductions := All, delayed := Delayed}} = Look) when Delayed < 1 ->
    Cores * Reductions >= ?OF_A_CORE * (1 - Delayed) * All
        orelse Delayed =< ?HARDLY_DELAYED andalso is_one_free(Look);
takes_a_scheduler(_, #{}) -> false.

is_one_free(#{run_queues := #{ready := Ready}}) -> 2 * length([1 || {_, 0} <- Ready]) >= length(Ready);
is_one_free(#{}) -> false.

serving_advice(Suspect, Function) -> own_advice(Suspect, own_serving_advice(Function)).

%% Such a table works for others, whatever it looks like; so does the process of a file.
of_files(#{label := {dets, _, _}} = Suspect, Otherwise) -> diagnose_otp_servers:advice(Suspect, Otherwise);
of_files(#{samples := Samples}, Otherwise) ->
    case 2 * looks([One || {_, Stack, _} = One <- Samples, lists:keymember(file_io_server, 1, Stack)]) >= looks(Samples) of
        true -> diagnose_mailboxes:file_advice();
        false -> Otherwise
    end.

%% A server of OTP has an advice of its own. Of any other process, what it goes through all the time comes first.
own_advice(Suspect, Otherwise) -> diagnose_otp_servers:advice(Suspect, [walk(Suspect), Otherwise]).

walk(#{samples := Samples} = Suspect) -> [[Walk, " "] || Walk <- copies_binaries(Suspect) ++ diagnose_samples:walk(Samples)].

%% Few words on its heap refer to much outside of it, and each collection frees a part of that and leaves the other: a binary, and the
%% copy of it with something added. Small binaries that are made and dropped fill the heap, too; and of large ones that are passed on,
%% none is left.
copies_binaries(#{pauses := #{why := [_ | _] = Why, window_ms := Ms}}) ->
    Sum = fun(Key, List) -> lists:sum([maps:get(Key, One) || One <- List]) end,
    Virtual = [One || #{kind := minor, reason := virtual_heap} = One <- Why],
    Held = Sum(held, Virtual),
    Made = Held - Sum(held_left, Virtual),
    [["Nearly all of its collections come since binaries outside of its heap are full: it makes ",
      diagnose_wording:bytes(1000 * Made div Ms), " of them a second. If it adds to a binary at each step: to add to the front"
      " (<<New/binary, Acc/binary>>), or to the end of one"
      " that something else refers to, copies all of it. Put the parts into a list (iodata), which sockets and files take as it is, or make"
      " one binary at the end (iolist_to_binary/1)."]
     || Sum(count, Virtual) >= ?VIRTUAL_COLLECTIONS, 10 * Sum(count, Virtual) >= 9 * Sum(count, Why),
        Held >= ?LARGE_BINARIES * Sum(young, Virtual),
        1000 * Made >= ?BINARIES_A_SECOND * Ms, 4 * (Held - Made) >= Held];
copies_binaries(#{}) -> [].

own_serving_advice(Function) ->
    ["It hardly rests, works in ", label(Function), ", and handles one message after the other, so whoever waits for it waits for all"
     " before. Do less for a message (no ++ to the end of a list again and again, no search of a long list, no copy of a large term),"
     " read from ETS, or run several such servers by a hash of the key. (If it is a stage of a pipeline that"
     " keeps up, it is at its capacity.)"].

%% @doc The sign of a process that runs for long without giving way. Who is found to be busy is told of so.
-spec of_long_run(diagnose_types:long_run(), diagnose_types:look()) -> [diagnose_types:sign()].
of_long_run(#{pid := Pid, times := Times, run_ms := Ms, window_ms := Window, in := In} = Run, #{suspects := Suspects} = Look) ->
    [sign(long_schedules, #{times => Times, run_ms => Ms, window_ms => Window, in => in(In), processes => maps:get(processes, Run, 1)},
          case Look of
              #{collections := #{blocked := Cores} = Collections} when Cores >= ?BLOCKED_CORES -> blocked_advice(Collections);
              #{} -> long_run_advice(In)
          end, diagnose_proof:look())
     || diagnose_work_time:is_long(Run),
        [busy || #{pid := P} = Suspect <- Suspects, P =:= Pid, [_ | _] <- [works(Suspect, Look)]] =:= []].

%% @doc The sign of the worst of so many alike. Jobs that a timer starts, and that take longer than its period, are more and more.
-spec of_many(diagnose_types:sign(), Count :: pos_integer()) -> diagnose_types:sign().
of_many(#{kind := busy_process, evidence := #{waited := 0, queued := 0}, advice := Advice} = Sign, Count) when Count >= ?LOOPS_ALIKE ->
    Sign#{advice := <<Advice/binary, " They run at once: if a timer starts the next one before the last has ended, let it start none while"
                      " one runs (overlap: false), or bound their number.">>};
of_many(Sign, _Count) -> Sign.

%% That is no work of the processor, so nothing that grows with its arguments.
blocked_advice(Collections) ->
    ["The threads of schedulers sleep meanwhile: it calls a native function that waits (for a disk, a lock, a network, a time), and nothing"
     " else runs on its scheduler. Such a NIF belongs on a dirty scheduler for input and output, or waits in a thread of its own and"
     " sends a message.",
     [[" Modules with native functions here: ", lists:join(", ", [io_lib:format("~tp", [Module]) || Module <- Modules]), "."]
      || #{nifs := [_ | _] = Modules} <- [Collections]]].

%% What a behaviour does by itself is short, but for the terms that it copies.
long_run_advice({Module, _, _}) when Module =:= gen_server; Module =:= gen_statem; Module =:= gen_event; Module =:= gen; Module =:= sys ->
    "It is in the code of its behaviour, which runs long only if it copies a large term: a large answer, or its whole state for"
    " sys:get_state/1 or sys:get_status/1. Meanwhile other processes wait for its scheduler. Find out who asks, and have it ask for the"
    " part that it needs, or keep the data in ETS.";
long_run_advice(_) ->
    "It calls a native function that runs for long without yielding: arithmetic with huge integers, a regular expression (one that is given"
    " as text is compiled at each run: compile it once by re:compile/2), a search or a conversion of large data, a calculation of crypto"
    " (pbkdf2_hmac before OTP 26.2), or a NIF. Meanwhile other processes wait for its scheduler. Bound the size of the arguments; a NIF"
    " belongs on a dirty scheduler.".

loop_sign(#{samples := Samples} = Suspect, {Function, Times}) ->
    busy_sign(Suspect, Function, Times, Samples,
              of_files(Suspect, [walk(Suspect), "It runs all the time, in ", label(Function),
               ". If it is meant to compute for that long (a batch), leave it, or give it priority low if nobody waits for it: then it is"
               " not reported. Otherwise check whether this work ends: it may be a loop over growing data, a behaviour that keeps itself at"
               " work (handle_continue, a timeout of 0, a message to itself), a large term that is sent to many, or a list that is"
               " searched repeatedly. A native function of more than a millisecond belongs on a dirty scheduler."])).

%% Whoever is asked what it does answers when it takes its next message, or when its time slice is over. So a server that is hardly ever
%% seen at its receive works on a message for longer than a slice.
works_long(#{samples := Samples, reductions := Reductions, depth := Depth, usual_depth := Usual} = Suspect) ->
    Looks = looks(Samples),
    Working = working(Samples),
    InWork = looks([Sample || {_, Stack, _} = Sample <- Working, is_at_a_message(Stack)]),
    case own_function(Suspect) of
        {Function, Times} ->
            [busy_sign(Suspect, Function, Times, Samples, long_advice(Suspect))
             || Depth > 0 orelse Usual > 0, Looks >= ?BUSY_LOOKS, Reductions >= ?BUSY_REDUCTIONS, looks(Working) >= ?WORKS_LONG * Looks,
                InWork >= ?IN_WORK * looks(Working)];
        _ -> []
    end.

%% What copies large terms, or waits for the disk, makes few reductions. Where a message is little work, a server is seen at the next one,
%% unless the machine does something else while it has a thread for files. One for which many wait at every look has a deep mailbox.
is_always_at_a_message(#{samples := Samples, usual_depth := Usual, least_depth := Least} = Suspect, Look)
  when Usual > 0, Usual < ?DEEP, Least < ?KEPT_WAITING ->
    Looks = looks(Samples),
    Working = working(Samples),
    InWork = looks([Sample || {_, Stack, _} = Sample <- Working, is_at_a_message(Stack)]),
    IsInFiles = 2 * looks([Sample || {_, Stack, _} = Sample <- Working, is_in_files(Stack)]) >= Looks,
    [busy_sign(Suspect, Function, Times, Samples, case IsInFiles of true -> disk_advice(Suspect); false -> long_advice(Suspect) end)
     || Looks >= ?BUSY_LOOKS, looks(Working) >= ?SELDOM_RESTS * Looks, InWork >= ?SAME_FUNCTION * looks(Working),
        not IsInFiles orelse delayed(Look) =< ?MOSTLY_DELAYED, {Function, Times} <- [own_function(Suspect)]];
is_always_at_a_message(#{}, _Look) -> [].

long_advice(Suspect) ->
    own_advice(
      Suspect,
      "Each message costs it much time, and it handles one after the other, so each caller waits for all callers before"
      " it. Do less for a message (no copy of a large row or term, no search of a long list, no ++ to its end), or run several such"
      " servers by a hash of the key.").

%% Inside of what a behaviour calls for a message. Who calls a server has frames of gen_server, too.
is_at_a_message(Stack) ->
    lists:any(fun({_, Function, _} = Frame) -> is_of_behaviour(Frame) andalso lists:member(Function, ?HANDLES) end, Stack).

%% To send a small answer takes so little that it is hardly ever seen, so a server that is seen at it may rest now and then.
answers_with_much(#{samples := Samples} = Suspect) ->
    Looks = looks(Samples),
    Works = Looks - waited(Samples),
    Replies = looks([Sample || {_, [{gen, reply, _} | _], _} = Sample <- Samples]),
    [busy_sign(Suspect, {gen, reply, 2}, Replies, Samples,
               "It spends most of its time copying answers, each as a whole, and serves one caller at a time, so all others wait. Answer"
               " with the part that is asked for, or keep the data where callers read it themselves (ETS, a persistent"
               " term).")
     || Looks >= ?BUSY_LOOKS, Works >= ?ANSWERING * Looks, Replies >= ?SAME_FUNCTION * Works].

%% It is in the function at so many of the looks, and by these samples mostly in another one, which that may call.
busy_sign(#{samples := Samples, reductions := Reductions, answer_ms := AnswerMs, depth_at_work := Queued}, Function, Times, Own, Advice) ->
    Mostly = most_seen(Own),
    sign(busy_process,
         #{in => label(Function), mostly => Mostly, times => Times, looks => looks(Samples), waited => waited(Samples),
           reductions_a_second => rounded(Reductions), answer_ms => AnswerMs, queued => Queued},
         [Advice, case Mostly of
                      <<"re:run/3">> -> " The regular expression tries again and again: bound it (the option match_limit),"
                                        " avoid one repetition inside of another, as in (a+)+, or make it possessive (a++).";
                      _ -> ""
                  end], diagnose_proof:look()).

%% The first of these functions in which it is at nine of ten looks. One that calls itself through others is seldom among the first frames.
same(Looks, Most) ->
    case [{Function, Times} || {Function, Times} <- Most, Times >= ?SAME_FUNCTION * Looks] of
        [First | _] -> First;
        [] -> none
    end.

%% Each process that proc_lib started is in its function, too.
own(Samples) -> [{Status, [Frame || {Module, _, _} = Frame <- Stack, Module =/= proc_lib], Times} || {Status, Stack, Times} <- Samples].
