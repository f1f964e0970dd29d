%% @doc From what was seen of a process, of processes alike and of a node to signs: what is wrong, what to change, and the command
%% that proves it. Pure.
-module(diagnose_signs).

-export([of_process/4, of_unresponsive/1, of_links/2, of_awaited/1, of_long_run/2, estimated/1, of_group/2, of_node/1,
         kinds/0]).

-import(diagnose_sign, [sign/4]).
-import(diagnose_samples, [looks/1, looks_in/2, most_seen/1, most_in/1, most_of_frames/2, is_of_behaviour/1, without_behaviours/1]).

-include("diagnose_bounds.hrl").

%% @doc The kinds in the order of a report: what hurts most comes first.
-spec kinds() -> [diagnose_types:kind()].
kinds() ->
    [unresponsive, overloaded, near_limit, deep_mailbox, awaited, restart_loop, scanning_receive, suspended, high_priority, table_scan,
     code_lookups, busy_process, long_schedules,
     os_processes, dirty_queue, forced_collections, long_collection, collecting_together, copied_starts,
     needless_full_sweeps, promoted_garbage, binary_pressure, small_start,
     uncollected_garbage, binary_leak, deep_stack, idle_heap, large_heap, equal_heaps, spread_list, many_monitors, many_timers,
     persistent_term_churn, code_churn, transaction_restarts, log_dumps, modules_grow, large_ets_table, fixed_ets_table, many_ets_tables,
     binaries_beside, large_persistent_terms, native_memory, contended_ets_table, timer_wakeups, many_starts,
     carriers_underused, mapped_heaps, tracing, busy_wait, uneven_run_queues, message_queue_data, known_fault].

text(Format, Args) -> unicode:characters_to_binary(io_lib:format(Format, Args)).

%% @doc The signs of one process, with the receives that it goes through, and by the list of faults of OTP.
-spec of_process(diagnose_types:suspect(), [diagnose_types:scan()], diagnose_types:look(),
                 [diagnose_known_faults:fault()] | unknown) -> [diagnose_types:sign()].
of_process(Suspect, Scans, Look, Faults) ->
    long_collection(Suspect, Look) ++ deep_mailbox(Suspect) ++ behind_in_overload(Suspect, Look)
        ++ [scanning_receive(Suspect, Scan, Look) || #{function := Function} = Scan <- Scans, not is_of_suspension(Function)]
        ++ suspended(Suspect, Look) ++ diagnose_work:of_process(Suspect, Look)
        ++ [Sign || diagnose_work:scans_a_table(Suspect) =:= false, Sign <- works_for_itself(Suspect, works(Suspect, Look), Look)]
        ++ spread_list(Suspect, Look) ++ deep_stack(Suspect) ++ idle_heap(Suspect) ++ large_heap(Suspect, Look)
        ++ binary_leak(Suspect, Look) ++ message_queue_data(Suspect, Scans)
        ++ [known_fault(Suspect, Fault, Look)
            || Fault <- diagnose_known_faults:fitting(Faults, maps:get(otp, Look), Suspect, Scans)].

%% The part of a pause in which the machine did something else is none of the collection's. It is an average over the look, so a fifth
%% of the pause is always taken for the collection's own.
long_collection(#{pauses := #{longest_us := Longest} = Pauses} = Suspect, Look) ->
    long_collection(Suspect#{pauses := Pauses#{own_us => Longest * max(0.2, 1 - delayed(Look))}});
long_collection(_, _) -> [].

delayed(#{collections := #{delayed := Delayed}}) -> Delayed;
delayed(#{}) -> 0.0.

long_collection(#{pauses := #{longest_us := Longest, own_us := Own, long := Long, total_us := Total, minor := Minor, full := Full,
                              window_ms := Window},
                  heap_bytes := Heap, usual_depth := Depth})
  when Own >= ?LONG_US, Long > 1; Own >= ?VERY_LONG_US, Long > 0; Own >= ?VERY_LONG_US, Depth >= ?DEEP; % each goes over the messages, too
       Total - Longest >= ?COLLECTING * 1000 * Window, Minor + Full >= ?COLLECTIONS -> % the machine may have interrupted one
    [sign(long_collection,
          #{longest_ms => Longest / 1000, total_ms => Total / 1000, window_ms => Window, minor => Minor, full => Full,
            heap_bytes => Heap},
          "Keep less in this process (use ETS, or a process that works and ends), or start it with a large heap: spawn_opt with"
          " min_heap_size, and with fullsweep_after if there are many full sweeps.",
          diagnose_proof:look())];
long_collection(#{hibernates := true, heap_bytes := Heap,
                  pauses := #{longest_us := Longest, total_us := Total, minor := Minor, full := Full, window_ms := Window}})
  when Total >= ?HIBERNATING * 1000 * Window, Minor + Full >= ?COLLECTIONS -> % hibernation's own count as minor
    [sign(long_collection,
          #{longest_ms => Longest / 1000, total_ms => Total / 1000, window_ms => Window, minor => Minor, full => Full, heap_bytes => Heap,
            hibernates => true},
          "Each hibernation collects everything that the process has. Use hibernate_after with some seconds instead of hibernate"
          " in each reply, or do not hibernate.",
          diagnose_proof:look())];
long_collection(_) -> [].

deep_mailbox(Suspect) ->
    case is_batch(Suspect) of
        true -> [];
        false -> has_deep_mailbox(Suspect)
    end.

%% It takes all that waits, time and again, and nobody waits for an answer meanwhile.
is_batch(#{emptied := Times, window_ms := Ms, asks := [], waiting := Waiting}) ->
    Times >= ?EMPTIED andalso 1000 * Times >= Ms
        andalso not (is_list(Waiting) andalso lists:any(fun({Shape, _}) -> begins_with(Shape, "call of ") end, Waiting));
is_batch(#{}) -> false.

has_deep_mailbox(#{usual_depth := Depth, growth := Growth, queue := Queue, samples := Samples, waiting := Waiting, asks := Asks} = Suspect)
  when is_integer(Depth), Depth >= ?DEEP ->
    [sign(deep_mailbox,
          #{messages => Depth, growth_a_second => rounded(Growth), queue => Queue, in => most_seen(Samples),
            waiting => waiting(Waiting), asks => asks(Suspect)},
          [case {is_starting(Samples), is_formatting(Samples)} of
               {true, _} -> starting_advice();
               {false, _} when map_get(for, hd(Asks)) =:= stop -> stop_advice();
               {false, _} when IsHalted -> halted_advice();
               {false, true} ->
                   "It formats a term nearly all the time: a log event, or the report of a crash with its state and its queued messages."
                   " Bound what is formatted (chars_limit and depth of logger_formatter, format_status/1 of the behaviour), and keep"
                   " large terms out of reasons and events.";
               {false, false} ->
                   "Keep the mailbox short: the library dam holds, blocks or drops the excess. Or find out what the process waits for."
           end,
           [" Perhaps no receive takes these messages: a server should receive every message, and cancel timers and monitors."
            || is_list(Waiting), is_float(Growth), abs(Growth) < 1.0, not is_starting(Samples), not IsHalted]],
          diagnose_proof:look())
     || IsHalted <- [is_halted(Samples)]];
%% Fewer, and never fewer than these: it does not keep up, though each caller that waits has sent one message only.
has_deep_mailbox(#{least_depth := Least, usual_depth := Depth, growth := Growth, queue := Queue, samples := Samples, waiting := Waiting,
               stays := true} = Suspect)
  when Least >= ?BEHIND ->
    [sign(deep_mailbox,
          #{messages => Depth, growth_a_second => rounded(Growth), queue => Queue, in => most_seen(Samples), waiting => waiting(Waiting),
            least => Least, waits_of_looks => waited(Samples), asks => asks(Suspect)},
          behind_advice(Suspect, is_circle(Suspect)), diagnose_proof:look()) || looks(Samples) >= ?BUSY_LOOKS];
%% Few, while it waits for the start of one process after the other; or few, which a server would take if it came to them: it has done
%% nothing else than wait. And whoever waits for one that waits for it has no need of a message to be held up for ever.
has_deep_mailbox(#{least_depth := Least, usual_depth := Depth, queue := Queue, samples := Samples, waiting := Waiting, idle := Idle,
               stays := true} = Suspect)
  when Least > 0, Depth < ?DEEP ->
    Looks = looks(Samples),
    [sign(deep_mailbox,
          #{messages => Depth, growth_a_second => unknown, queue => Queue, in => most_seen(Samples), waiting => waiting(Waiting),
            least => Least, waits_of_looks => waited(Samples), asks => asks(Suspect)},
          behind_advice(Suspect, is_circle(Suspect)), diagnose_proof:look())
     || Looks >= ?BUSY_LOOKS,
        Idle andalso waited(Samples) =:= Looks andalso (is_circle(Suspect) orelse Least >= ?HELD_UP andalso are_for_a_server(Waiting))
            orelse Least >= ?HELD_UP andalso is_starting(Samples)
            orelse Least >= ?KEPT_WAITING
                %% Of a server of a library, callers that each wait for their answer keep the mailbox at its depth.
                andalso (in_callback(Samples) >= ?SAME_FUNCTION * Looks orelse waited(Samples) =:= 0 andalso 2 * Least >= Depth)];
has_deep_mailbox(_) -> [].

%% At how many looks a behaviour, which takes every message, was in what its module does with one, also if that waits in a call.
in_callback(Samples) ->
    looks([Sample || {_, Stack, _} = Sample <- Samples, is_in_callback(lists:dropwhile(fun diagnose_samples:is_of_behaviour/1, Stack))]).

is_in_callback(Stack) ->
    case lists:splitwith(fun(Frame) -> not is_of_behaviour(Frame) end, Stack) of
        {[_ | _], [{Module, _, _} | _]} -> Module =/= proc_lib;
        _ -> false
    end.

asks(#{asks := Asks}) ->
    [#{process => text("~ts", [diagnose_wording:subject(#{process => maps:with([pid, name], One)})]),
       in => case In of none -> unknown; _ -> function(In) end,
       for => For,
       label => case {For, Label} of {start, {_, _, _}} -> function(Label); _ -> unknown end}
     || #{in := In, for := For, label := Label} = One <- Asks].

%% They wait for each other.
is_circle(#{pid := Pid, asks := [_ | _] = Asks}) ->
    lists:member(maps:get(pid, lists:last(Asks)), [Pid | [P || #{pid := P} <- lists:droplast(Asks)]]);
is_circle(#{}) -> false.

%% Nothing else than the loop of a behaviour, or of who prints for others, takes such messages.
are_for_a_server([_ | _] = Shapes) ->
    2 * lists:sum([Times || {Shape, Times} <- Shapes,
                            lists:any(fun(Kind) -> begins_with(Shape, Kind) end, ["call of ", "cast of ", "{io_request, "])])
        >= lists:sum([Times || {_, Times} <- Shapes]);
are_for_a_server(_) -> false.

begins_with(Text, Beginning) -> string:prefix(Text, Beginning) =/= nomatch.

%% There is one look at it only.
behind_in_overload(#{usual_depth := Depth, samples := [], growth := Growth, queue := Queue, waiting := Waiting},
                   #{overloaded := Ready})
  when Ready =/= false, Depth >= ?BEHIND_IN_OVERLOAD, Depth < ?DEEP ->
    [sign(deep_mailbox,
          #{messages => Depth, growth_a_second => rounded(Growth), queue => Queue, in => unknown, waiting => waiting(Waiting), asks => []},
          "Many processes wait for it, and all share the schedulers: do less work for each request, run several such servers by a"
          " hash of the key, or limit how many ask at a time.",
          diagnose_proof:look())];
behind_in_overload(_, _) -> [].

behind_advice(_, true) ->
    "These processes wait for the answer of each other, so none of them goes on. Have one of them not call: a cast, or the call in a"
    " process of its own (a task).";
behind_advice(#{asks := [#{for := stop} | _]}, false) ->
    stop_advice();
behind_advice(#{samples := Samples}, false) ->
    case {is_starting(Samples), 2 * waited(Samples) >= looks(Samples)} of
        {true, _} -> starting_advice();
        {false, true} ->
            case is_halted(Samples) of
                true -> halted_advice();
                false -> waiting_advice(Samples)
            end;
        {false, false} ->
            "It works all the time, and its work for one caller keeps all others waiting: do less in a call (read from ETS, work in"
            " the caller or in tasks), run several such servers by a hash of the key, and limit the callers (the library dam)."
    end.

waiting_advice(Samples) ->
    [case is_sending(Samples) of
         true ->
             "It waits in a send, since the other side of a socket does not take what it sends as fast, and these wait for it:"
             " set send_timeout and send_timeout_close on such sockets, or have a process for each of them send.";
         false -> "It waits for something else while these wait for it: find out for what."
     end,
     " Handle a long request in a process of its own (a task, gen_server:reply/2). Or no receive takes the messages: a server should"
     " receive every message."].

stop_advice() ->
    "It has told a process to end and waits until that is done, while these wait for it. Bound what the last of these processes does in its"
    " terminate function: a time-out for each call and each read of a socket. If it is a worker whose child specification has the shutdown"
    " infinity, give it some seconds.".

%% By sys:suspend/1: it takes nothing but the messages of sys.
is_halted(Samples) -> 2 * looks([Sample || {_, [Frame | _], _} = Sample <- Samples, is_of_suspension(Frame)]) > looks(Samples).

is_of_suspension({Module, Function, _}) -> Module =:= sys andalso lists:member(Function, [suspend_loop, suspend_loop_hib]).

halted_advice() ->
    "It was suspended by sys:suspend/1, as for an upgrade or by hand, and not resumed, so it takes no message. Resume it with sys:resume/1"
    " if nobody works on it.".

is_formatting(Samples) ->
    looks(Samples) >= ?BUSY_LOOKS
        andalso looks_in(Samples, fun({Module, _, _}) -> lists:member(Module, ?FORMATTING) end) >= ?FORMATS * looks(Samples).

%% It waits in what gen_tcp:send/2 calls (OTP 25 to 29).
is_sending(Samples) ->
    Sending = looks_in([Sample || {waiting, _, _} = Sample <- Samples],
                       fun({Module, Function, _}) -> lists:member({Module, Function}, ?SENDING) end),
    Sending > 0 andalso 2 * Sending >= looks(Samples).

%% The looks at which it waits until a process that it has started says that it is ready.
starting(Samples) ->
    lists:sum([Times || {waiting, [{proc_lib, Function, _} | _], Times} <- Samples,
                        lists:member(Function, [sync_start, sync_start_link, sync_start_monitor])]).

is_starting(Samples) -> starting(Samples) > 0 andalso 2 * starting(Samples) >= looks(Samples).

starting_advice() ->
    "It starts one process after the other, and waits for the init of each, while all who ask it wait. Let init only set up what is at"
    " hand, and do the rest (connections, queries, large reads) afterwards: handle_continue, or a message to itself. Several"
    " supervisors (PartitionSupervisor) start as many at a time.".

waited(Samples) -> lists:sum([Times || {Status, _, Times} <- Samples, Status =:= waiting orelse Status =:= suspended]).

%% Looks at which it calls a server. Where schedulers are short, it has its answer and is ready rather than waiting.
calling(Samples) -> looks_in(Samples, fun({Module, Function, _}) -> Module =:= gen andalso Function =:= do_call end).

waiting(Shapes) when is_list(Shapes) -> [#{shape => Shape, times => Times} || {Shape, Times} <- Shapes];
waiting(Why) -> Why.

rounded(unknown) -> unknown;
rounded(Number) -> round(Number).

function(Function) -> diagnose_wording:label(Function).

scanning_receive(#{usual_depth := Depth, queue := Queue},
                 #{function := Function, file := File, line := Line, called_from := Caller, seen := Seen, looks := Of},
                 #{scan_ns := Costs}) ->
    Call = case Costs of
               #{Queue := Ns} -> Depth * Ns / 1.0e6;
               #{} -> unknown
           end,
    sign(scanning_receive,
         #{receive_in => function(Function), file => File, line => Line, messages => Depth, queue => Queue, at_least_ms_a_call => Call,
           called_from => case Caller of none -> unknown; _ -> function(Caller) end, seen => Seen, looks => Of},
         "Have another process make this call, keep the mailbox short (dam), or, if the reply is yours, make a reference just"
         " before the request and match it in every clause.",
         diagnose_proof:look()).

%% At half of the looks at least; where it was looked at once only, then. Who puts a persistent term anew is suspended, too, until
%% all schedulers have seen it: where no port holds anything, that is what it waits for.
suspended(#{samples := Samples, status := Status}, #{ports := Ports} = Look) ->
    Looks = looks(Samples),
    Times = lists:sum([T || {suspended, _, T} <- Samples]),
    [sign(suspended, #{looks => max(1, Looks), times => max(1, Times), in => most_seen(Samples),
                       waits => case Ports of unknown -> unknown; #{waiting := Waiting} -> largest(Waiting) end},
          "It waits until a port or a connection takes what it sends (or until the caller of erlang:suspend_process/1 resumes it)."
          " Check the other side and the network. erlang:send/3 with nosuspend or noconnect does not wait, +zdbbl sets how much a"
          " connection buffers, and with a process for each peer a slow peer does not hold up the others.",
          diagnose_proof:look())
     || Looks > 0 andalso 2 * Times >= Looks orelse Looks =:= 0 andalso Status =:= suspended,
        not is_empty(Ports) orelse churn(Look) =:= []].

is_empty(#{waiting := []}) -> true;
is_empty(_) -> false.


largest(Ports) -> lists:sublist(lists:reverse(lists:sort(fun(#{bytes := A}, #{bytes := B}) -> A =< B end, Ports)), 3).

%% What a process sends to itself keeps it at work, whatever it is in. A loop that does so is told of once. Who has priority low works
%% when nobody else would.
works_for_itself(#{priority := low}, _Busy, _Look) -> [];
works_for_itself(#{pid := Pid, samples := Samples} = Suspect, Busy, #{wakes := #{to_itself := Senders}}) ->
    case [Pace || #{pid := P, a_second := Pace} <- Senders, P =:= Pid, Pace >= ?TO_ITSELF_A_SECOND, waited(Samples) =:= 0,
                  looks(Samples) >= ?BUSY_LOOKS] of
        [] -> Busy;
        [Pace] ->
            {Function, Times} = own_function(Suspect),
            #{evidence := Evidence} = Sign =
                busy_sign(Suspect, Function, Times, Samples,
                          "Each message that it sends to itself has it send the next one, so it never rests. Have it wait for what it looks"
                          " for (a message from whoever has it, a monitor), or send the next one after a while (erlang:send_after/3)."),
            [Sign#{evidence := Evidence#{to_itself_a_second => Pace}}]
    end;
works_for_itself(_Suspect, Busy, _Look) -> Busy.

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
    case busy(Suspect, Look) of
        [] -> serves_all(Suspect) ++ asks_others(Suspect);
        Signs -> Signs
    end.

%% What this server does for all, each can do without it.
serves_all(#{name := timer_server, samples := [_ | _] = Samples, reductions := Reductions} = Suspect)
  when is_float(Reductions), Reductions >= ?BUSY_REDUCTIONS ->
    {Function, Times} = own_function(Suspect),
    [busy_sign(Suspect, Function, Times, Samples,
               "Each call of the module timer is a call of this server, also to cancel. erlang:send_after/3, erlang:start_timer/3 and"
               " erlang:cancel_timer/1 do the same without it, and the time-outs of a gen_server or gen_statem need neither.")];
serves_all(#{}) -> [].

%% Each answer takes a signal to that process, and back.
asks_others(#{samples := Samples, reductions := Reductions} = Suspect) when is_float(Reductions), Reductions >= ?BUSY_REDUCTIONS ->
    Asks = looks([Sample || {_, [{erts_internal, await_result, 1} | _], _} = Sample <- Samples]),
    [busy_sign(Suspect, {erts_internal, await_result, 1}, Asks, Samples,
               "It asks one process after the other (process_info/2, is_process_alive/1), and each has to stop and answer. Ask those that"
               " matter, or a sample, and seldom; a monitor tells of the end of a process.")
     || looks(Samples) >= ?BUSY_LOOKS, Asks >= ?ASKS_OTHERS * looks(Samples)];
asks_others(#{}) -> [].

%% It never or hardly ever waits, is in one function nearly always, and works on no messages: a loop. One that has much to do is in
%% many functions, or messages come and go.
busy(#{gets := false, samples := Samples, reductions := Reductions, answer_ms := AnswerMs, depth := Depth, usual_depth := Usual} = Suspect,
     _Look)
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
        _ -> []
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
%% server that does little for each is never seen. What copies a large answer makes few reductions.
busy(#{gets := true, samples := Samples, reductions := Reductions, depth := Depth, usual_depth := Usual} = Suspect, _Look)
  when is_float(Reductions), Depth < ?BEHIND ->
    Looks = looks(Samples),
    Own = without_behaviours(Samples),
    Works = Looks - waited(Samples),
    IsBusy = Looks >= ?BUSY_LOOKS andalso Reductions >= ?BUSY_REDUCTIONS,
    NeverRests = Works >= ?NEVER_RESTS * Looks,
    IsServing = NeverRests andalso Usual > 0 andalso in_callback(Samples) >= ?SERVING * Looks,
    IsQueuedFor = Usual > 0 andalso Works >= ?SELDOM_RESTS * Looks
        andalso (Reductions >= ?BUSY_SERVER_REDUCTIONS orelse in_callback(Samples) >= ?SAME_FUNCTION * Works),
    case IsBusy andalso most_in(Own) of
        {Function, Times} when NeverRests, Times >= ?SAME_FUNCTION * Looks, Reductions >= ?BUSY_SERVER_REDUCTIONS;
                               IsQueuedFor, Times >= ?SAME_FUNCTION * Works;
                               Times >= ?SERVING * Looks, IsServing ->
            [busy_sign(Suspect, Function, Times, Own,
                       ["It hardly rests, works in ", function(Function), ", and serves one caller at a time, so all others wait. Do less"
                        " in a call, read from ETS, or run several such servers by a hash of the key."])];
        _ -> case answers_with_much(Suspect) of [] -> works_long(Suspect); Signs -> Signs end
    end;
busy(_, _) -> [].

%% @doc The sign of a process that runs for long without giving way. Who is found to be busy is told of so.
-spec of_long_run(diagnose_types:long_run(), diagnose_types:look()) -> [diagnose_types:sign()].
of_long_run(#{pid := Pid, times := Times, run_ms := Ms, window_ms := Window, in := In}, #{suspects := Suspects} = Look) ->
    [sign(long_schedules, #{times => Times, run_ms => Ms, window_ms => Window, in => case In of none -> unknown; _ -> function(In) end},
          "A native function of it runs for long without giving way: arithmetic with huge integers, a regular expression, a search or a"
          " conversion of large data, or a NIF. Others wait for that scheduler meanwhile. Bound what it is given; a NIF belongs on a dirty"
          " scheduler.", diagnose_proof:look())
     || Times >= ?LONG_RUNS, Ms >= ?LONG_RUNS_PART * Window,
        [busy || #{pid := P} = Suspect <- Suspects, P =:= Pid, [_ | _] <- [busy(Suspect, Look)]] =:= []].

loop_sign(#{samples := Samples} = Suspect, {Function, Times}) ->
    busy_sign(Suspect, Function, Times, Samples,
              ["It runs all the time, in ", function(Function), ". Check whether that ends: it may be a loop over growing data, a"
               " behaviour that keeps itself at work (handle_continue, a timeout of 0, a message to itself), a large term that is sent to"
               " many, or a list that is searched repeatedly. A native function of more than a millisecond belongs on a dirty"
               " scheduler."]).

%% Whoever is asked what it does answers when it takes its next message, or when its time slice is over. So a server that is hardly ever
%% seen at its receive works on a message for longer than a slice.
works_long(#{samples := Samples, reductions := Reductions, depth := Depth, usual_depth := Usual} = Suspect) ->
    Looks = looks(Samples),
    Working = diagnose_samples:working(Samples),
    InWork = looks([Sample || {_, Stack, _} = Sample <- Working, is_at_a_message(Stack)]),
    case own_function(Suspect) of
        {Function, Times} ->
            [busy_sign(Suspect, Function, Times, Samples,
                       "It works on each message for long, one after the other, so those that wait for it wait for all before them. Do less"
                       " for a message (no search of a long list, no ++ to its end), or run several such servers by a hash of the key.")
             || Depth > 0 orelse Usual > 0, Looks >= ?BUSY_LOOKS, Reductions >= ?BUSY_REDUCTIONS, looks(Working) >= ?WORKS_LONG * Looks,
                InWork >= ?IN_WORK * looks(Working)];
        _ -> []
    end.

%% Inside of what a behaviour calls for a message. Who calls a server has frames of gen_server, too.
is_at_a_message(Stack) -> lists:any(fun({_, Function, _} = Frame) -> is_of_behaviour(Frame) andalso lists:member(Function, ?HANDLES) end, Stack).

%% To send a small answer takes so little that it is hardly ever seen, so a server that is seen at it may rest now and then.
answers_with_much(#{samples := Samples} = Suspect) ->
    Looks = looks(Samples),
    Works = Looks - waited(Samples),
    Replies = looks([Sample || {_, [{gen, reply, _} | _], _} = Sample <- Samples]),
    [busy_sign(Suspect, {gen, reply, 2}, Replies, Samples,
               "Most of its time goes into answers, each of which is copied as a whole, and it serves one caller at a time, so all others"
               " wait. Answer with the part that is asked for, or keep the data where callers read it themselves (ETS, a persistent"
               " term).")
     || Looks >= ?BUSY_LOOKS, Works >= ?ANSWERING * Looks, Replies >= ?SAME_FUNCTION * Works].

%% It is in the function at so many of the looks, and by these samples mostly in another one, which that may call.
busy_sign(#{samples := Samples, reductions := Reductions, answer_ms := AnswerMs}, Function, Times, Own, Advice) ->
    sign(busy_process,
         #{in => function(Function), mostly => most_seen(Own), times => Times, looks => looks(Samples), waited => waited(Samples),
           reductions_a_second => rounded(Reductions), answer_ms => AnswerMs},
         Advice, diagnose_proof:look()).

%% The first of these functions in which it is at nine of ten looks. One that calls itself through others is seldom among the first frames.
same(Looks, Most) ->
    case [{Function, Times} || {Function, Times} <- Most, Times >= ?SAME_FUNCTION * Looks] of
        [First | _] -> First;
        [] -> none
    end.

%% Each process that proc_lib started is in its function, too.
own(Samples) -> [{Status, [Frame || {Module, _, _} = Frame <- Stack, Module =/= proc_lib], Times} || {Status, Stack, Times} <- Samples].

spread_list(#{pid := Pid, hibernates := Hibernates, used_bytes := Used}, #{layouts := [_ | _] = Layouts}) ->
    [sign(spread_list,
          #{cells => Cells, mean_bytes => Mean, cache_lines_a_thousand => Lines, walk_ns => Walk, dense_ns => Dense,
            hibernates => Hibernates, used_bytes => Used},
          "Do not hibernate this process, keep the data in tuples, maps or ETS, call cons_spacing:compact/1 on lists"
          " that are walked often, or build OTP with the variant tuned.",
          diagnose_proof:look([nif]))
     || {P, #{cells := Cells, mean := Mean, cache_lines := Lines, walk_ns := Walk, dense_ns := Dense}} <- Layouts, P =:= Pid,
        Cells >= ?SPREAD_CELLS, Lines >= ?SPREAD_LINES];
spread_list(_, _) -> [].

%% To purge what an earlier look loaded takes the heaps of these processes of the VM; the purger gives its back after a minute.
idle_heap(#{label := {Own, start, 0}}) when Own =:= erts_code_purger; Own =:= erts_literal_area_collector -> [];
%% These read all code and all applications while a system starts, and nobody can have them hibernate.
idle_heap(#{name := Name}) when Name =:= init; Name =:= erl_prim_loader; Name =:= code_server; Name =:= application_controller -> [];
%% What a process was given by min_heap_size it was meant to have.
idle_heap(#{idle := true, depth := Depth, heap_bytes := Heap, used_bytes := Used, old_bytes := Old, min_heap_bytes := Min} = Suspect)
  when Depth < ?DEEP, is_integer(Min), Heap - Used >= ?UNUSED_BYTES, Heap - Min >= ?UNUSED_BYTES,
       3 * Used =< Heap ->
    [sign(idle_heap, #{heap_bytes => Heap, used_bytes => Used, unused_bytes => Heap - Used, old_bytes => Old},
          "Have it hibernate after a while (hibernate_after of gen_server and gen_statem) or do the large work in a"
          " process that ends. What hibernation costs: lists that it keeps are spread, and later walks are slower.",
          diagnose_proof:collect(Suspect))];
idle_heap(_) -> [].

%% What its functions left on the stack, which no collection frees.
deep_stack(#{stack_bytes := Bytes, stack_in := In}) when is_integer(Bytes), Bytes >= ?STACK_BYTES ->
    [sign(deep_stack, #{stack_bytes => Bytes, in => [function(Frame) || Frame <- lists:uniq(In)]},
          "A function calls itself (directly or through others) before it is done, so each round leaves a frame on the stack: a"
          " loop inside try, catch or a fun, or with work after the call. Make the call the last thing that the function does,"
          " outside of try and catch.",
          diagnose_proof:look())];
deep_stack(_) -> [].

%% One process that has most of the node's memory; where something else was found that says why, that is enough.
large_heap(#{heap_bytes := Heap, used_bytes := Used, stack_bytes := Stack, depth := Depth} = Suspect, #{memory := #{total := Total}} = Look)
  when is_integer(Heap), Heap >= ?MOST_BYTES, 2 * Heap >= Total, Stack < ?STACK_BYTES ->
    [sign(large_heap, #{heap_bytes => Heap, used_bytes => Used, total_bytes => Total, messages => Depth},
          "Find out what it keeps: its state, its process dictionary, postponed events, or queued messages (a few may be large)."
          " Growing data need a bound or an age; large tables of rows belong in ETS. --collect shows how much of it lives.",
          diagnose_proof:collect(Suspect)) || idle_heap(Suspect) =:= [], long_collection(Suspect, Look) =:= []];
large_heap(_, _) -> [].

%% Of a process; one of many alike is told of with them. One that works may hold what it passes on just now: not so much at both looks.
binary_leak(#{idle := Idle, used_bytes := Used, binaries := #{references := References, count := Count, bytes := Bytes}} = Suspect,
            Look) when is_integer(Used), Bytes >= ?HELD_BYTES, 100 * Used =< Bytes ->
    [sign(binary_leak,
          #{held_bytes => Bytes, binaries => Count, references => References, used_bytes => Used, gives_back => unknown, idle => Idle},
          "If it needs only parts of them, keep copies of these (binary:copy/1). If it needs none, it collects too seldom: set"
          " hibernate_after, or fullsweep_after 0.",
          diagnose_proof:collect(Suspect))
     || Idle orelse held_before(Suspect) andalso not lets_go(Suspect),
        References >= ?REFERENCES orelse Bytes >= ?MOST_HELD_BYTES andalso 2 * Bytes >= all_binaries(Look)];
binary_leak(_, _) -> [].

held_before(#{held_before := Bytes}) -> is_integer(Bytes) andalso Bytes >= ?HELD_BYTES.

%% Its own collections leave little: it held others before. A full one tells what lives; minor ones leave the old generation as it is, and
%% one of them may have come by chance.
lets_go(#{pauses := #{why := Why}}) ->
    case [{Left, Count} || #{kind := full, held_left := Left, count := Count} <- Why] of
        [] -> leaves_little([{Young + Old, Count} || #{held_left := Young, old_held := Old, count := Count} <- Why], 2);
        Full -> leaves_little(Full, 1)
    end;
lets_go(#{}) -> false.

leaves_little(Left, Least) ->
    Count = lists:sum([N || {_, N} <- Left]),
    Count >= Least andalso lists:sum([Bytes || {Bytes, _} <- Left]) < Count * ?HELD_BYTES.

all_binaries(#{memory := #{binary := Bytes}}) -> Bytes;
all_binaries(#{}) -> 0.

%% On the heap is only advised where a receive was seen going by the messages.
message_queue_data(#{queue := Queue, usual_depth := Depth, pauses := #{minor := Minor, full := Full, window_ms := Ms}} = Suspect,
                   Scans) when Minor + Full >= ?COLLECTIONS; Queue =:= off_heap ->
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

known_fault(#{used_bytes := Used, hibernates := Hibernates, depth := Depth},
            #{issue := Issue, what := What, advice := Advice}, #{otp := Version}) ->
    sign(known_fault,
         #{issue => text("~ts", [Issue]), otp => Version, what => text("~ts", [What]), used_bytes => Used,
           hibernates => Hibernates, messages => Depth},
         Advice, diagnose_proof:look()).

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
of_awaited(#{for := lock, count := Count, ms := Ms, depth := Depth, status := Status, kinds := Kinds} = Awaited) ->
    [sign(awaited,
          #{for => lock, processes => Count, ms => Ms, messages => Depth, status => Status, in => unknown, 'of' => kinds_of(Kinds),
            holds => [#{process => text("~ts", [diagnose_wording:subject(#{process => maps:with([pid, name], One)})]),
                        label => case Label of unknown -> unknown; _ -> function(Label) end,
                        in => case In of none -> unknown; _ -> function(In) end}
                      || #{label := Label, in := In} = One <- maps:get(holds, Awaited, [])]},
          "See who holds it (mnesia:system_info(held_locks) and lock_queue; for global: ets:tab2list(global_locks)), and what that one"
          " waits for: no call and no message belongs inside a transaction, nor one lock for all where a lock of a row would do.",
          diagnose_proof:look())];
of_awaited(#{count := Count, ms := Ms, depth := Depth, status := Status, in := In, kinds := Kinds} = Awaited) when Depth < ?BEHIND ->
    [sign(awaited,
          #{processes => Count, ms => Ms, messages => Depth, status => Status,
            in => case In of [Frame | _] -> function(Frame); [] -> unknown end,
            came => case Awaited of
                        #{at_rest := true, came := Came, watched_ms := For} -> #{count => Came, ms => For};
                        #{} -> unknown
                    end,
            holders => case Awaited of
                           #{holders := #{waiting := Waiting, in := At}} -> #{count => Waiting, in => function(At)};
                           #{} -> unknown
                       end,
            'of' => kinds_of(Kinds)},
          case 2 * Depth >= Count of
              _ when map_get(at_rest, Awaited) ->
                  "It has received these calls and waits for its next message: what it hands out is used up, and it does not get it back,"
                  " or there is too little of it. See who has it and what they wait for; bound the time for which one may keep it,"
                  " and give it back in an after clause, and by a monitor of whoever has it. (If they ask it for work and there is none,"
                  " nothing is wrong.)";
              true -> "Their calls lie in its mailbox, and it does not come to them: find out what it waits for meanwhile.";
              false ->
                  "It has received these calls and has not answered them: it may be a pool whose members were not given back, a limit that"
                  " is too low, or a server that itself waits for something. Check what it hands out and to whom. (If they ask it for work"
                  " and there is none, nothing is wrong.)"
          end,
          diagnose_proof:look())];
of_awaited(#{}) -> [].

%% Of another node, which cannot be looked at from here.
awaited_far(#{awaited := Awaited}) ->
    [sign(awaited, #{processes => Count, ms => Ms, node => Node, connected => Connected, called => Called, 'of' => kinds_of(Kinds)},
          case Connected of
              true ->
                  "It does not answer, or the node there does not come to it: look at that node. Bound the time of such a call (a timeout,"
                  " a circuit breaker) and how many are made at a time, so that this node does not wait with that one.";
              false ->
                  "Every call waits until this node is connected to that one: check its machine, its network and firewalls, its cookie and"
                  " TLS, and whether it hangs. The parameter net_setuptime of kernel bounds the attempt, and dist_auto_connect never leaves"
                  " connecting to net_kernel:connect_node/1."
          end, diagnose_proof:look())
     || #{far := Node, connected := Connected, called := Called, count := Count, ms := Ms, kinds := Kinds} <- Awaited].

awaited_names(#{awaited := Awaited}) ->
    [sign(awaited, #{processes => Count, ms => Ms, name_servers => Servers, 'of' => kinds_of(Kinds)},
          "Check these name servers and the way to them. Keep connections open and addresses at hand instead of asking for each request, and"
          " limit how many ask at a time. {timeout, Ms} and {retry, N} in kernel's inetrc bound how long one waits; {lookup, [file, native]}"
          " has the operating system ask.",
          diagnose_proof:look())
     || #{name_servers := Servers, count := Count, ms := Ms, kinds := Kinds} <- Awaited].

kinds_of(Kinds) -> [#{label => function(Label), count => N} || {Label, N} <- Kinds].

%% @doc The sign of a process with more monitors or links than there are processes. A supervisor has a link for each child, and a
%% registry a monitor for each process that it knows: those are needed.
-spec of_links(map(), diagnose_types:look()) -> [diagnose_types:sign()].
of_links(#{about := About, exactly := Exactly}, #{counts := [{_, #{processes := {Processes, _}}} | _]}) ->
    [sign(many_monitors, #{about => About, exactly => Exactly, node_has => Processes},
          "There are more than processes, so some are created repeatedly and never removed. Call demonitor/2 with flush when a"
          " request is done or given up, and use one monitor for each process instead of one for each request. A monitor takes 144"
          " bytes, and causes a signal when its process ends.",
          diagnose_proof:look())
     || Most <- [case Exactly of
                     unknown -> About div 2;
                     #{monitors := Monitors, links := Links, monitored_by := By} -> max(Monitors + Links, By)
                 end],
        Most >= ?MANY_LINKS, Most > Processes];
of_links(#{}, _Look) -> [].

%% @doc The signs of processes alike that no single one of them shows: what a sample gave back (see estimated/1), what all hold together.
-spec of_group(#{garbage | equal | binaries := map() | none, _ => _}, diagnose_types:look()) -> [diagnose_types:sign()].
of_group(Group, Look) -> group_mailboxes(Group, Look) ++ garbage(Group) ++ equal_heaps(Group, Look) ++ group_binaries(Group, Look).

%% Where none of them was looked at closer, since others are deeper: what the look at all knows.
group_mailboxes(#{label := Label, deep := Deep, messages := Messages, deepest := Deepest},
                #{suspects := Suspects, groups := Groups}) when Deep > 0 ->
    [sign(deep_mailbox,
          #{messages => Deepest, growth_a_second => unknown, queue => unknown, in => unknown, waiting => not_looked, asks => [],
            processes => Deep, messages_together => Messages},
          "Keep the mailbox short: the library dam holds, blocks or drops the excess. Or find out what the process waits for.",
          diagnose_proof:look())
     || lists:sum([D || #{deep := D} <- Groups]) > length([1 || #{depth := Depth} <- Suspects, Depth >= ?DEEP]),
        not lists:any(fun(#{label := L}) -> L =:= Label end, Suspects)];
group_mailboxes(#{label := Label, behind := Behind, behind_messages := Messages, deepest := Deepest},
                #{suspects := Suspects}) when Messages >= ?BEHIND_TOGETHER ->
    [sign(deep_mailbox,
          #{messages => Deepest, growth_a_second => unknown, queue => unknown, in => unknown, waiting => not_looked, asks => [],
            processes => Behind, messages_together => Messages},
          "None of them handles messages as fast as they arrive: find out what they wait for, and slow the senders down (a call, a"
          " credit), or drop messages.",
          diagnose_proof:look()) || not lists:any(fun(#{label := L}) -> L =:= Label end, Suspects)];
group_mailboxes(#{}, _Look) -> [].

garbage(#{garbage := #{unneeded_bytes := Unneeded, another := Another} = Garbage}) when Unneeded >= ?GARBAGE_BYTES ->
    [sign(uncollected_garbage, maps:remove(another, Garbage),
          "While a process waits, nothing collects the garbage of its last work. Have it hibernate after a while (hibernate_after"
          " of gen_server and gen_statem, proc_lib:hibernate/3), collect once after the large work (erlang:garbage_collect/0), or"
          " do that work in a process that ends.",
          diagnose_proof:collect(#{pid => Another}))];
garbage(#{}) -> [].

equal_heaps(#{equal := #{alive_bytes := Alive, another := Another} = Equal}, #{memory := #{total := Total}})
  when Alive >= ?MOST_BYTES, 2 * Alive >= Total ->
    [sign(equal_heaps, (maps:remove(another, Equal))#{total_bytes => Total},
          "They probably have a copy of the same data each: a spawn, a message and a look-up in ETS copy terms. Keep such data once, as a"
          " persistent term (persistent_term:put/2), or in ETS with a row for each part that is read. (If each has a buffer of a fixed"
          " size, nothing is wrong.)",
          diagnose_proof:collect(#{pid => Another}))];
equal_heaps(#{}, _Look) -> [].

%% Not more than the node has.
group_binaries(#{binaries := #{held_bytes := Held, gives_back := Returns, heap_bytes := Heap, references := References,
                               another := Another} = Binaries},
               Look) ->
    All = min(Held, max_binaries(Look)),
    Back = min(Returns, All),
    Evidence = (maps:remove(another, Binaries))#{held_bytes := All, gives_back := Back},
    if
        Back >= ?HELD_BYTES, 2 * Back >= All ->
            [sign(binary_leak, Evidence, "Nothing refers to most of them any more: the processes collect too seldom. Set hibernate_after or"
                  " fullsweep_after 0, or call erlang:garbage_collect/0 after the work.", diagnose_proof:collect(#{pid => Another}))];
        All - Back >= ?HELD_BYTES, 50 * Heap =< All, References >= ?REFERENCES ->
            [sign(binary_leak, Evidence, "If only parts of them are needed, keep copies of these (binary:copy/1).",
                  diagnose_proof:collect(#{pid => Another}))];
        true -> []
    end;
group_binaries(#{}, _Look) -> [].

max_binaries(#{memory := #{binary := Bytes}}) -> Bytes;
max_binaries(#{}) -> infinity.

%% @doc What the sample of a group says of all of it: the garbage of those with a large heap, where that is half of it at least, what
%% lives in them, where that is equal in all, and the binaries of those that hold some, each counted once as far as the sample tells.
-spec estimated(diagnose_types:group()) -> #{garbage | equal | binaries := map() | none, _ => _}.
estimated(#{sample := #{large := Large, holding := Holding}} = Group) ->
    Group#{garbage => estimated_garbage(idle_part([large, large_heap_bytes], Group, Large), Large),
           equal => estimated_equal(Group, Large),
           binaries => estimated_binaries(idle_part([holding, held_bytes, holding_heap_bytes], Group, Holding), Holding)};
estimated(#{} = Group) -> Group#{garbage => none, equal => none, binaries => none}.

%% Those that work collect soon: garbage, and binaries that wait to be let go, are those of the idle part. What lives is in all.
idle_part(Keys, Group, #{collected := Idle, working := Working}) ->
    maps:map(fun(_, All) -> All * Idle div (Idle + Working) end, maps:with(Keys, Group));
idle_part(_, _, none) -> #{}.

%% What lives in each is as large as in the others, to a percent: so it probably is the same.
estimated_equal(#{large := Count, large_heap_bytes := Heap},
                #{collected := Collected, another := Another, before := #{heap_bytes := Before},
                  'after' := #{used_bytes := Used, least_used_bytes := Least, most_used_bytes := Most}})
  when Before > 0, Collected >= ?EQUAL_LOOKS, Count >= ?EQUAL_PROCESSES, Least >= ?EQUAL_BYTES, 100 * Most =< 101 * Least ->
    #{processes => Count, alive_bytes => min(Heap, Heap * Used div Before), each_bytes => Most, collected => Collected, another => Another};
estimated_equal(#{}, _) -> none.

estimated_garbage(#{large_heap_bytes := Heap, large := Count},
                  #{collected := Collected, another := Another,
                    before := #{heap_bytes := Before}, 'after' := #{heap_bytes := After, used_bytes := Alive}})
  when Before > 0, 2 * (Before - After) >= Before, Heap >= Count * ?GARBAGE_HEAP, Heap * (Before - After) >= ?GARBAGE_OF_KIND * Before ->
    #{processes => Count, heap_bytes => Heap,
      alive_bytes => min(Heap, Heap * Alive div Before), unneeded_bytes => Heap * (Before - After) div Before,
      collected => Collected, another => Another};
estimated_garbage(#{}, _) -> none.

estimated_binaries(#{held_bytes := Held, holding_heap_bytes := Heap, holding := Count},
                   #{collected := Collected, another := Another,
                     before := #{binaries := #{charged_bytes := Charged, bytes := Before, count := Binaries, references := References,
                                               members := Known}},
                     'after' := #{binaries := #{bytes := After}}}) when Charged > 0, Before > 0 ->
    All = Held * Before div Charged,
    #{processes => Count, held_bytes => All, gives_back => All * max(0, Before - After) div Before, binaries => Binaries * Count div Known,
      references => References * Count div Known, heap_bytes => Heap, collected => Collected, another => Another};
estimated_binaries(#{}, _) -> none.

%% @doc The signs of the node itself.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) ->
    overloaded(Look) ++ awaited_far(Look) ++ awaited_names(Look) ++ diagnose_starts:of_node(Look) ++ diagnose_work:of_node(Look) ++ limits(Look)
        ++ files(Look) ++ dirty(Look) ++ collecting(Look) ++ timers(Look) ++ churn_or_forced(Look)
        ++ modules(Look) ++ large_tables(Look) ++ fixed_tables(Look) ++ many_tables(Look)
        ++ beside(Look)
        ++ large_terms(Look) ++ native_memory(Look)
        ++ contended_tables(Look) ++ carriers(Look) ++ mapped(Look) ++ tracing(Look) ++ busy_wait(Look) ++ uneven(Look).

overloaded(#{overloaded := false}) -> [];
overloaded(#{overloaded := Ready, schedulers := Schedulers, offline := Offline, groups := Groups}) ->
    [sign(overloaded,
          #{ready => Ready, schedulers => Schedulers, offline => Offline,
            'of' => most_of([Group || is_list(Groups), #{ready := R} = Group <- Groups, R > 0])},
          ["More processes are ready to run than the schedulers can serve: accept less work (a bounded pool, a limit on"
           " connections, back-pressure), or add cores. To add no load, nothing was inspected more closely.",
           [" Some schedulers are offline: by +S, by erlang:system_flag(schedulers_online, N), or since a quota of processor time (of a"
            " container) allows no more." || Offline > 0]], diagnose_proof:look())].

%% Much of the schedulers' time, by processes of which none alone collects too long or in a way that a setting mends.
collecting(#{collections := #{share := Share, busy := Busy, waiting := Waiting, threads := Threads, window_ms := Ms},
             suspects := Suspects} = Look) ->
    Schedulers = (Busy - Waiting) * Threads,
    Kinds = case Schedulers >= ?COLLECTING_SCHEDULER andalso Share >= ?NOT_COLLECTING of true -> collecting_kinds(Look); false -> [] end,
    OfKinds = lists:sum([Count * Each || #{count := Count, each := Each} <- Kinds]),
    IsMuch = Kinds =/= [] andalso max(Share, OfKinds / Schedulers) >= ?COLLECTING_TOGETHER,
    IsTold = IsMuch andalso lists:any(fun(Suspect) -> long_collection(Suspect, Look) ++ diagnose_collections:of_process(Suspect) =/= [] end,
                                      Suspects),
    [sign(collecting_together, #{share => Share, busy => Busy, threads => Threads, window_ms => Ms, 'of' => Kinds},
          "Each collection copies what lives in the young generation. Keep large data that changes little out of processes that make much"
          " garbage (ETS, a persistent term, or a process of its own that answers with parts); start them with room for their work"
          " (spawn_opt with min_heap_size), so that they collect less often; or make less garbage: no copies of whole lists and maps,"
          " binaries instead of lists of characters.", diagnose_proof:look())
     || IsMuch, not IsTold];
collecting(#{}) -> [].

%% Kinds of which some were traced, by what all members would take if they were as those.
collecting_kinds(#{suspects := Suspects} = Look) ->
    Of = maps:groups_from_list(fun({Label, _}) -> Label end, fun({_, Part}) -> Part end,
                               [{Label, {Total / (1000 * Window), Heap}}
                                || #{label := Label, heap_bytes := Heap, pauses := #{total_us := Total, window_ms := Window}} <- Suspects,
                                   Label =/= unknown, is_integer(Heap), Heap >= ?WORTH_BYTES]), % small heaps of who talks much are well
    Kinds = [{Count * Each, #{label => function(Label), count => Count, traced => Traced, each => Each, heap_bytes => lists:max(Heap)}}
             || {Label, Parts} <- maps:to_list(Of), Traced <- [length(Parts)], Traced >= ?COLLECTING_ALIKE,
                {Shares, Heap} <- [lists:unzip(Parts)], Each <- [lists:sum(Shares) / Traced],
                Count <- [max(Traced, count_of(Label, Look))], Count * Each >= ?COLLECTING_SCHEDULER],
    [Kind || {_, Kind} <- lists:sublist(lists:reverse(lists:sort(Kinds)), 3)].

count_of(Label, #{groups := Groups}) -> lists:sum([Count || is_list(Groups), #{label := L, count := Count} <- Groups, L =:= Label]).

%% The kinds with most processes.
most_of(Groups) ->
    Counts = maps:groups_from_list(fun(#{label := Label}) -> Label end, fun(#{count := Count}) -> Count end, Groups),
    Sorted = lists:reverse(lists:sort([{lists:sum(Same), Label} || {Label, Same} <- maps:to_list(Counts)])),
    [#{label => diagnose_wording:label(Label), count => Count} || {Count, Label} <- lists:sublist(Sorted, 3)].

limits(#{counts := [_ | _] = Counts} = Look) ->
    {_, Last} = lists:last(Counts),
    [sign(near_limit, #{what => What, count => Count, limit => Limit, growth_a_second => Growth,
                        'of' => most_of_what(What, Look)},
          limit_advice(What), diagnose_proof:look())
     || What <- [processes, ports, atoms], {Count, Limit} <- [maps:get(What, Last)],
        Growth <- [growth([{Ms, counted(What, All)} || {Ms, All} <- Counts])],
        Count >= ?NEAR_LIMIT * Limit orelse Growth > 0 andalso Count + grows_to_limit_s(What, Count, Counts) * Growth >= Limit];
limits(#{}) -> [].

%% More come than go where clients connect; where none has gone at all, they are left behind, or all of them are new.
grows_to_limit_s(atoms, _, _) -> ?ATOMS_TO_LIMIT_S;
grows_to_limit_s(What, Count, Counts) ->
    IsMany = Count >= case What of processes -> ?MANY_PROCESSES; ports -> ?MANY_PORTS end,
    Each = [counted(What, All) || {_, All} <- Counts],
    case IsMany andalso lists:sort(Each) =:= Each of
        true -> ?DAY_S;
        false -> ?GROWS_TO_LIMIT_S
    end.

%% Sockets are files, too, of which the system permits fewer than the VM has ports.
files(#{files := {Count, Limit}} = Look) when Count >= ?NEAR_LIMIT * Limit ->
    [sign(near_limit, #{what => files, count => Count, limit => Limit, growth_a_second => unknown, 'of' => most_of_what(ports, Look)},
          "At the limit no file and no socket can be opened any more (emfile). Find out who opens them without closing them;"
          " ulimit -n (LimitNOFILE) raises the limit.",
          diagnose_proof:look())];
files(#{}) -> [].

%% Who waits for such a thread is ready to run, and runs nowhere.
dirty(#{run_queues := #{looks := Looks, dirty := Dirty}} = Look) ->
    [sign(dirty_queue, #{threads => Threads, count => Count, waiting => lists:nth((length(Waiting) + 1) div 2, lists:sort(Waiting)),
                         in => most_ready_in(Look), 'of' => ready_kinds(Look)},
          dirty_advice(Threads), diagnose_proof:look())
     || #{threads := Threads, count := Count, waiting := Waiting} <- Dirty, Looks >= ?BUSY_LOOKS,
        length([1 || N <- Waiting, N >= ?DIRTY_QUEUE]) >= ?UNEVEN_LOOKS * Looks];
dirty(#{}) -> [].

dirty_advice(cpu) -> "All threads for long native work are taken: limit how many ask for it at a time (a pool of as many as there"
                     " are such threads), make the work cheaper (the cost of a password's hash), or do it on other machines."
                     " +SDcpu starts more of them, up to one a scheduler.";
dirty_advice(io) -> "All threads for files are taken, and each call of file or of a similar native function waits: find out which"
                    " disk, pipe or network file system does not answer. Limit how many use it at a time; +SDio starts more"
                    " threads.".

%% Where those are that run or are ready to.
most_ready_in(#{suspects := Suspects}) ->
    most_seen([Sample || #{samples := Samples} <- Suspects, {Status, _, _} = Sample <- Samples, Status =/= waiting, Status =/= suspended]).

ready_kinds(#{groups := Groups}) -> most_of([Group#{count := Ready} || is_list(Groups), #{ready := Ready} = Group <- Groups, Ready > 0]).

most_of_what(processes, #{groups := Groups}) when is_list(Groups) -> most_of(Groups);
most_of_what(ports, #{ports := #{names := Names, owners := Owners}}) ->
    [#{label => Name, count => Count} || {Name, Count} <- Names]
        ++ [#{label => text("~ts", [diagnose_wording:subject(#{process => #{pid => Pid, name => Name}})]), count => Count}
            || {Pid, Name, Count} <- Owners];
most_of_what(_, _) -> [].

%% A node that loads code gets atoms by that, and then no more.
counted(atoms, #{atoms := {Count, _}, modules := Modules}) -> Count - ?ATOMS_OF_MODULE * Modules;
counted(What, Counts) -> element(1, maps:get(What, Counts)).

%% How many more a second, where the least of each fifth of the time is more than that of the fifth before: what only comes and goes
%% has grown by chance. 0 otherwise.
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
          diagnose_proof:look()) || Bytes div ?TIMER_BYTES > processes(Look), Bytes < ?PETABYTE];
timers(#{}) -> [].

%% Those that started some while they were traced.
makers(#{makers := #{traced := Traced, ms := Ms, most := Most}}) ->
    #{traced => Traced, ms => Ms,
      most => [#{process => text("~ts", [diagnose_wording:subject(#{process => maps:with([pid, name], One)})]), processes => Count,
                 times => Times, label => diagnose_wording:label(Label), in => case In of none -> unknown; _ -> function(In) end}
               || #{label := Label, processes := Count, times := Times, in := In} = One <- Most]};
makers(#{}) -> unknown.

%% To replace a term or to purge a module asks for collections, too.
churn_or_forced(Look) ->
    case churn(Look) ++ code_churn(Look) of
        [] -> diagnose_work:forced_by_nobody(Look);
        Churn -> Churn
    end.

churn(#{terms := #{looks := Looks, count := Count, terms := Terms}} = Look) ->
    Put = [#{term => text("~0tP", [Key, 12]), times => Times}
           || #{term := Key, times := Times} <- Terms,
              Times >= ?CHURN_TIMES, 4 * Times >= Looks orelse processes(Look) >= ?CHURN_PROCESSES],
    [sign(persistent_term_churn, #{looks => Looks, terms => Put, count => Count},
          "Each time one is replaced, the VM scans all processes, and those that keep it are collected in full. Keep changing data"
          " in ETS (read_concurrency), or in counters; persistent_term is for data that is written once.", diagnose_proof:look())
     || Put =/= []];
churn(#{}) -> [].

processes(#{counts := [{_, #{processes := {Count, _}}} | _]}) -> Count;
processes(#{}) -> 0.

code_churn(#{reloads := #{looks := Looks, modules := Modules}}) ->
    Again = [#{module => text("~tp", [Module]), times => Times} || #{module := Module, times := Times} <- Modules, Times >= ?RELOADS],
    [sign(code_churn, #{looks => Looks, modules => Again},
          "Each time a module is loaded, all code waits for that, and to purge the old one the VM scans all processes. Keep"
          " changing data in ETS, in application variables or in persistent_term; a module is for data that changes with a"
          " release.", diagnose_proof:look()) || Again =/= []];
code_churn(#{}) -> [].

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
                             named => case Look of #{tables := #{named := Named}} -> most_tables(Named); #{} -> [] end},
          "A table lives as long as its owner. Call ets:delete/1 when it is no longer needed, or create it in a process that ends"
          " with the work. One table for all, with a longer key, takes 2 kB less for each.", diagnose_proof:look())
     || #{tables := {Count, _}} <- [Last], Count >= ?MANY_TABLES,
        Growth <- [growth([{Ms, element(1, maps:get(tables, All))} || {Ms, All} <- Counts])], Count > processes(Look) orelse Growth > 0];
many_tables(#{}) -> [].

most_tables(Named) ->
    Ranked = lists:reverse(lists:sort([{Count, One} || #{count := Count} = One <- Named])),
    [#{name => Name, count => Count, owner => Owner}
     || {Count, #{name := Name, owner := Owner}} <- lists:sublist(Ranked, 3)].

%% Where messages wait, they may have them.
beside(#{binaries_beside := #{bytes := Bytes, tables := Tables}, memory := #{total := Total}, processes := Processes})
  when Bytes >= ?MOST_BYTES, 2 * Bytes >= Total ->
    [sign(binaries_beside,
          #{bytes => Bytes, total_bytes => Total, tables => Tables,
            messages => case Processes of #{messages := Messages} -> Messages; _ -> unknown end},
          [["A part of a binary keeps all of it alive. Have rows that need only a part keep a copy (binary:copy/1 before ets:insert/2). "
            || [slices || #{slices := _} <- Tables] =/= []],
           "No process without a deep mailbox has these binaries on its heap, so no collection frees them. Check how many rows the"
          " tables have and who deletes them: they need a bound or an age. If no table is named, the binaries are in queued"
          " messages, in ports (whose client takes nothing, or has announced more than it sends: a driver allocates the whole message that"
          " {packet, N} announces, up to packet_size), in persistent terms or in native code."], diagnose_proof:look())];
beside(#{}) -> [].

large_terms(#{elsewhere := #{terms := Bytes, count := Count, keys := Keys}, memory := #{total := Total}})
  when Bytes >= ?MOST_BYTES, 2 * Bytes >= Total ->
    [sign(large_persistent_terms,
          #{bytes => Bytes, count => Count, total_bytes => Total, keys => [#{shape => Shape, count => N} || {Shape, N} <- Keys]},
          "They stay until somebody erases them (persistent_term:erase/1), whoever put them there. See what grows: a term for each"
          " tenant, version or request belongs in ETS; one of which there are many copies is needed once.", diagnose_proof:look())];
large_terms(#{}) -> [].

native_memory(#{elsewhere := #{native := Bytes, nifs := Modules}, memory := #{total := Total}})
  when is_integer(Bytes), Bytes >= ?MOST_BYTES, Bytes >= Total ->
    [sign(native_memory, #{bytes => Bytes, total_bytes => Total, modules => [text("~tp", [Module]) || Module <- Modules]},
          "Native functions and drivers, and the libraries that they use, took it from the system: no look at processes, tables or"
          " binaries finds it. See which caches and buffers they are told to have, and whether what they hand out is released (a binary"
          " or a resource that is made and not released); a heap profiler for C (jemalloc, heaptrack) names the function."
          " MALLOC_ARENA_MAX=2 keeps that of glibc from being scattered.", diagnose_proof:look())];
native_memory(#{}) -> [].

tracing(#{traced := #{asked := Asked, traced := Traced, new := New, flags := Flags, tracer := Tracer}}) when Traced > 0; New ->
    [sign(tracing, #{asked => Asked, traced => Traced, new => New, flags => Flags, tracer => Tracer},
          "Somebody traces, and each traced event costs its process a message to the tracer. If nobody needs the trace any more,"
          " stop it: erlang:trace(all, false, [all]), dbg:stop/0 (and recon_trace:clear/0), and for the patterns"
          " erlang:trace_pattern({'_', '_', '_'}, false, [local]).", diagnose_proof:look())];
tracing(#{}) -> [].

%% One table, those of one name, or all of them.
large_tables(#{tables := #{largest := Tables, named := Named, bytes := Bytes}, memory := #{total := Total}} = Look) ->
    case {large_table(Look), [One || #{bytes := Of} = One <- Named, Of >= ?MOST_BYTES, 2 * Of >= Total]} of
        {[_ | _] = Signs, _} -> Signs;
        {[], [_ | _] = Same} -> [tables_sign(maps:with([name, count, bytes, owner], One), Total) || One <- Same];
        {[], []} ->
            Largest = [maps:with([name, bytes, size, owner], One) || One <- Tables],
            [tables_sign(#{name => several, bytes => Bytes, largest => Largest}, Total)
             || Bytes >= ?MOST_BYTES, 2 * Bytes >= Total]
    end;
large_tables(Look) -> large_table(Look).

tables_sign(Evidence, Total) ->
    sign(large_ets_table, Evidence#{total_bytes => Total},
         "Find out who inserts and who deletes: tables that only grow need a bound or an age. Rows that many tables hold belong in"
         " one table, or in binaries, which are not copied.",
         diagnose_proof:look()).

large_table(#{tables := #{largest := Tables}, memory := #{total := Total}}) ->
    [sign(large_ets_table, (maps:with([name, bytes, size, owner, type, protection], Table))#{total_bytes => Total},
          "If it is meant to be that large and does not grow (ets:info/1 shows its size), leave it. Otherwise find out who inserts and"
          " who deletes: a table that only grows needs a bound or an age (a time in each row, and a process that deletes old rows)."
          " Large values stored as binaries are not copied at each look-up.", diagnose_proof:look())
     || #{bytes := Bytes} = Table <- Tables, Bytes >= ?MOST_BYTES, 2 * Bytes >= Total];
large_table(#{}) -> [].

%% Whoever goes through a table keeps it fixed meanwhile. Where several do, one after the other, it is told of them.
fixed_tables(#{tables := #{largest := Tables}, suspects := Suspects}) ->
    [sign(fixed_ets_table, maps:with([name, bytes, size, owner, fixed_ms, fixed_by], Table),
          "As long as some process keeps it fixed (ets:safe_fixtable/2, or a fold that goes on), rows that are deleted stay in memory,"
          " with their binaries: have each safe_fixtable(Table, true) followed by one with false, in an after clause.",
          diagnose_proof:look())
     || #{fixed_ms := Ms, bytes := Bytes} = Table <- Tables, Ms >= ?FIXED_MS, Bytes >= ?FIXED_BYTES,
        [Times || #{table_scans := #{times := Times}} <- Suspects, Times > 0] =:= []];
fixed_tables(#{}) -> [].

contended_tables(#{tables := #{slowest := Tables, own_ns := Own}}) ->
    [sign(contended_ets_table, (maps:with([name, size, owner, type, lookup_ns], Table))#{own_ns => Own},
          "Many write to it at the same time, and it has one lock. Make it with {write_concurrency, auto} and decentralized_counters,"
          " use counters for numbers, or several tables by a hash of the key.", diagnose_proof:look())
     || #{lookup_ns := Ns} = Table <- Tables, Ns >= ?CONTENDED_NS, Ns >= ?CONTENDED_RATIO * Own];
contended_tables(#{}) -> [].

carriers(#{carriers := Carriers}) when is_list(Carriers) ->
    [sign(carriers_underused, Allocator,
          "Memory that was needed once is kept because a few blocks still use it. Find out what held it then. The flags +M<S>as"
          " aobf and +M<S>acul control how carriers are filled and freed.", diagnose_proof:look())
     || #{carrier_bytes := Carrier, block_bytes := Blocks} = Allocator <- Carriers,
        Carrier >= ?CARRIER_BYTES, 2 * Blocks < Carrier];
carriers(_) -> [].

%% The kernel fills each page with zeros at its first use, and heaps that share carriers use pages again. A node that uses several
%% cores may have as many faults in each, and one that has a part of a core has a part of them.
mapped(#{mapped := #{faults := Faults, segments := Segments, own_carrier := Threshold, ms := Ms}} = Look) ->
    [sign(mapped_heaps, #{faults_a_second => 1000 * Faults div Ms, segments_a_second => 1000 * Segments div Ms, own_carrier => Threshold},
          "Heaps of that size come and go with collections, and the kernel maps each, zeroes its pages and unmaps it. Start the node with"
          " +MHsbct 8192 +MHmmbcs 16384: heaps of up to 8 MB then share carriers, and up to 16 MB of these for each scheduler stay"
          " mapped. Compare its processor time and its resident memory with and without these flags.", diagnose_proof:look())
     || 1000 * Faults >= ?FAULTS_A_SECOND * Ms * max(?BUSY_CORES, cores_used(Look)), 1000 * Segments >= ?SEGMENTS_A_SECOND * Ms,
        Threshold < ?SHARED_CARRIERS];
mapped(#{}) -> [].

cores_used(#{collections := #{cores := Cores}}) -> Cores;
cores_used(#{}) -> 1.0.

%% Who does much works, whatever the state is that a busy machine kept its threads in.
busy_wait(#{collections := #{reductions := Reductions}}) when Reductions > ?WORKING_REDUCTIONS -> [];
busy_wait(#{collections := #{waiting := Waiting, busy := Busy, cores := Cores, window_ms := Ms, threads := Schedulers}})
  when Cores >= ?BUSY_WAIT, Waiting * Schedulers >= ?BUSY_WAIT, Busy - Waiting =< ?LITTLE_WORK * Waiting ->
    [sign(busy_wait, #{waiting => Waiting, working => Busy - Waiting, cores => Cores, window_ms => Ms},
          "Idle schedulers spin, at the expense of other programs on the machine. +sbwt none +sbwtdcpu none +sbwtdio none lets"
          " them sleep at once; set +S to the number of cores that the container may use.", diagnose_proof:look())];
busy_wait(#{}) -> [].

uneven(#{run_queues := #{looks := Looks, ready := Ready}}) ->
    Uneven = [Most || {Least, Most} <- Ready, Most >= ?UNEVEN * (Least + 1)],
    [sign(uneven_run_queues, #{times => length(Uneven), looks => Looks, most => lists:max(Uneven)},
          "One scheduler has too much to do while another has little or none: processes are bound to it, or it runs a long native"
          " function. A NIF of more than a millisecond belongs on a dirty scheduler.", diagnose_proof:look())
     || Looks >= ?BUSY_LOOKS, length(Uneven) >= ?UNEVEN_LOOKS * Looks];
uneven(#{}) -> [].
