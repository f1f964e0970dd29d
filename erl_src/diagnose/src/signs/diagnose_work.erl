%% @doc From what processes work at to signs: tables that are gone through, collections that are asked for, a priority that holds others
%% up. Pure.
-module(diagnose_work).

-export([of_process/2, of_node/1, of_lookups/1, scans_a_table/1, is_interpreter/1, is_held_back/2, working_in/2, is_much/2]).

-import(diagnose_samples, [looks/1, looks_in/2, looks_through/2, working/1]).
-import(diagnose_sign, [counted/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of one process.
-spec of_process(diagnose_types:suspect(), diagnose_types:look()) -> [diagnose_types:sign()].
of_process(Suspect, Look) ->
    high_priority(Suspect, Look) ++ low_priority(Suspect, Look) ++ table_scan(Suspect, Look) ++ asks_for_collections(Suspect, Look)
        ++ ticks(Suspect, Look).

%% While it is ready, no process of priority normal runs on its scheduler. A tracer is told of as what makes its work: dbg's has priority
%% high, and is gone with the trace.
high_priority(#{pid := Pid} = Suspect, #{traced := #{tracer := Tracer}}) when is_binary(Tracer) ->
    %% Its name may follow.
    case binary:split(Tracer, <<" ">>) of
        [Pid | _] -> [];
        _ -> high_priority(Suspect)
    end;
high_priority(Suspect, _) -> high_priority(Suspect).

high_priority(#{label := {Module, _, _}})
  when Module =:= erts_code_purger; Module =:= erts_literal_area_collector; Module =:= erts_dirty_process_signal_handler -> [];
high_priority(#{priority := Priority, samples := Samples, reductions := Reductions})
  when Priority =:= high orelse Priority =:= max, is_float(Reductions), Reductions >= ?BUSY_REDUCTIONS ->
    Looks = looks(Samples),
    Works = lists:sum([Times || {Status, _, Times} <- Samples,
                                Status =:= running orelse Status =:= runnable orelse Status =:= garbage_collecting]),
    [diagnose_sign:sign(high_priority,
                        #{priority => Priority, times => Works, looks => Looks, seen => Seen,
                          in => diagnose_samples:most_seen(Samples), reductions_a_second => round(Reductions)},
                        "While it is ready to run, its scheduler runs no process of priority normal or low, so all others there wait."
                        " Leave it at priority normal (process_flag(priority, normal)); priority high is only for rare, very short work.",
                        diagnose_proof:look())
     || Seen <- [Looks >= ?BUSY_LOOKS andalso Works >= ?HOGS * Looks], Seen orelse Reductions >= ?HOGS_REDUCTIONS];
high_priority(#{}) -> [].

%% Each of its timers is followed by the next, and what starts one more is no timer.
ticks(#{pid := Pid}, #{ticks := Ticks}) ->
    [diagnose_sign:sign(many_ticks,
                        #{tick => Tick, a_second => Pace, interval_ms => Ms, at_a_time => Count, in => diagnose_sign:in(In)},
                        "Each tick starts the next timer, and something else starts one more (a request, an event, a connection that is"
                        " made anew), so there are more and more. Keep the reference of the timer in the state, and cancel it"
                        " (erlang:cancel_timer/1) before another one is started. timer:cancel/1 does not cancel a timer of"
                        " erlang:send_after/3.", diagnose_proof:look())
     || #{pid := P, tick := Tick, a_second := Pace, interval_ms := Ms, at_a_time := Count, in := In} <- Ticks, P =:= Pid].

%% A server that others wait for, and that hardly gets a turn.
low_priority(#{samples := Samples, usual_depth := Depth, reductions := Reductions} = Suspect, Look) ->
    [diagnose_sign:sign(low_priority,
                        #{times => looks(working(Samples)), looks => looks(Samples), messages => Depth,
                          reductions_a_second => diagnose_sign:rounded(Reductions),
                          callers => counted(callers(Suspect, Look)), others => counted(takers(Look))},
                        "A scheduler that has processes of priority normal lets one of priority low run only now and then, so whoever waits"
                        " for this process waits for all of those, too. Leave a process for which others wait at priority normal"
                        " (process_flag(priority, normal)). Give priority low to work for which nobody waits, and bound how many"
                        " processes do such work at a time.",
                        diagnose_proof:look())
     || is_held_back(Suspect, Look)].

%% @doc Whether a process of priority low has work, others wait for it, and all schedulers have other work.
-spec is_held_back(diagnose_types:suspect(), diagnose_types:look()) -> boolean().
is_held_back(#{priority := low, samples := Samples, usual_depth := Depth, gets := Gets} = Suspect, Look) ->
    looks(Samples) >= ?BUSY_LOOKS andalso looks(working(Samples)) >= ?HELD_BACK * looks(Samples)
        andalso (Depth > 0 orelse Gets =:= true) andalso (Depth >= ?BEHIND orelse callers(Suspect, Look) =/= [] orelse has_calls(Suspect))
        andalso are_taken(Look) andalso takers(Look) =/= [];
is_held_back(#{}, #{}) -> false.

%% On a machine that does much else, its callers may not be known in time.
has_calls(#{waiting := [_ | _] = Shapes}) -> lists:any(fun({Shape, _}) -> string:prefix(Shape, "call of ") =/= nomatch end, Shapes);
has_calls(#{}) -> false.

%% As many others as there are schedulers never rest, or each scheduler has one ready beside the one that runs.
are_taken(#{schedulers := Schedulers, run_queues := RunQueues} = Look) ->
    length(who_works(?NEVER_RESTS, Look)) >= Schedulers
        orelse case RunQueues of
                   #{looks := Looks, ready := Ready} -> length([Least || {Least, _} <- Ready, Least > 0]) >= ?TAKEN * Looks;
                   unknown -> false
               end.

callers(#{pid := Pid}, #{callers := Callers}) -> lists:append([Of || #{pid := P, 'of' := Of} <- Callers, P =:= Pid]).

%% What those are that have another priority and work at most looks, and how many of each.
takers(Look) ->
    Labels = [Label || #{label := Label} <- who_works(?TAKEN, Look), Label =/= unknown],
    Counts = [{length([L || L <- Labels, L =:= Label]), Label} || Label <- lists:usort(Labels)],
    [{Label, Count} || {Count, Label} <- lists:sublist(lists:reverse(lists:sort(Counts)), 3)].

%% Those of another priority that work at such a part of the looks.
who_works(Part, #{suspects := Suspects}) ->
    [Suspect || #{priority := Priority, samples := [_ | _] = Samples} = Suspect <- Suspects,
                Priority =/= low, looks(working(Samples)) >= Part * looks(Samples)].

%% @doc Whether the process has tables gone through as a whole time and again.
-spec scans_a_table(diagnose_types:suspect()) -> boolean().
scans_a_table(#{table_scans := #{times := Times}, samples := Samples}) -> Times >= ?SCANS andalso Times >= ?SCANNING * looks(Samples).

table_scan(#{table_scans := #{times := Times, in := In}, samples := Samples} = Suspect, Look) ->
    [scan_sign(In, scan_caller(In, Samples), #{times => Times, looks => looks(Samples), processes => 1}, Look) || scans_a_table(Suspect)].

%% A table of OTP's own has no rows that others could put elsewhere.
scan_sign(In, Caller, Evidence, Look) ->
    Named = Evidence#{in => diagnose_wording:label(In)},
    case diagnose_otp_servers:of_scan(In) of
        none -> scan_sign(Named#{tables => large_tables(Look)}, diagnose_proof:look());
        Advice ->
            By = case Caller of none -> #{}; _ -> #{by => diagnose_wording:label(Caller)} end,
            diagnose_sign:sign(table_scan, maps:merge(Named#{tables => []}, By), Advice, diagnose_proof:look())
    end.

%% What has called the function that scans, and is of no module of the same purpose.
scan_caller({Module, _, _} = In, Samples) ->
    Below = [{Frame, T} || {_, Stack, T} <- Samples, [_ | Frames] <- [lists:dropwhile(fun(Frame) -> Frame =/= In end, Stack)],
                               [Frame | _] <- [lists:dropwhile(fun({M, _, _}) -> M =:= Module orelse M =:= application end, Frames)]],
    Sums = maps:groups_from_list(fun({Frame, _}) -> Frame end, fun({_, T}) -> T end, Below),
    case lists:reverse(lists:sort([{lists:sum(Times), Frame} || {Frame, Times} <- maps:to_list(Sums)])) of
        [{_, Caller} | _] -> Caller;
        [] -> none
    end.

scan_sign(#{tables := Tables} = Evidence, Proof) ->
    diagnose_sign:sign(table_scan, Evidence,
                       left_rows_advice(Tables) ++
                       "A search without the key (match, select, tab2list, foldl) visits each row, and copies each match. It also does if"
                       " the key is only compared in a guard: put it into the head of the match specification. (In an ordered_set, a"
                       " search visits each row whose key begins as the head says.) Look up by the key; keep a second table as an index,"
                       " or an ordered_set whose key begins with what is searched for; count with ets:info(T, size), ets:update_counter"
                       " or counters; and keep the result for a while if many ask for it.",
                       Proof).

%% What fits the search may be too much.
left_rows_advice(Tables) ->
    [["Rows of processes that have ended are left in ", Name, ", and each search that they fit visits them, too, whatever the key: have its"
      " owner monitor each process, and delete its rows when it ends (as Registry, pg and gproc do). "]
     || #{name := Table, keys_of_ended := Ended, keys_of_processes := Asked} <- Tables, ?LEFT_ROWS * Ended >= Asked,
        Name <- [io_lib:format("~tp", [Table])]]
        ++ [["Find out who should delete the rows of ", io_lib:format("~tp", [Table]), ": it only grows. "]
            || #{name := Table, rows_a_second := _} = One <- Tables, not is_map_key(keys_of_ended, One)].

%% The tables that may be meant, by their rows; those that grow, and lose none.
large_tables(#{tables := #{largest := Largest}} = Look) ->
    [maps:merge((maps:with([type, keys_of_ended, keys_of_processes], Table))#{name => Name, rows => Rows, owner => Owner},
                diagnose_tables:rows_a_second(Name, Owner, Look))
     || #{name := Name, size := Rows, owner := Owner} = Table <- Largest, Rows >= ?SCANNED_ROWS];
large_tables(#{}) -> [].

%% The one who asks, where others were asked again and again.
asks_for_collections(#{samples := Samples}, Look) ->
    [forced_sign(Forced#{times => asking(Samples), looks => looks(Samples)}, diagnose_proof:look())
     || asks(Samples), Forced <- forced(Look)].

asks(Samples) -> looks(Samples) >= ?BUSY_LOOKS andalso 10 * asking(Samples) >= looks(Samples).

asking(Samples) ->
    looks_in(Samples, fun({Module, Function, Arity}) -> Module =:= erlang andalso Function =:= garbage_collect andalso Arity > 0 end).

forced_sign(Evidence, Proof) ->
    diagnose_sign:sign(forced_collections, Evidence,
                       "Each requested collection copies all live data of the process, even if there is no garbage. The VM collects by"
                       " itself when a heap is full. Request collections only for processes that have done large work and are idle now,"
                       " or set hibernate_after or fullsweep_after for them.",
                       Proof).

%% Several processes, and most of those of which it is known, are asked at the same pace. One that hibernates has no need to be asked.
forced(#{suspects := Suspects}) ->
    Seen = [{lists:sum([Count || #{kind := full, reason := asked, count := Count} <- Why]), Ms}
            || #{pauses := #{why := Why, window_ms := Ms}, hibernates := false} <- Suspects],
    Often = [{Count, Ms} || {Count, Ms} <- Seen, Count >= ?FORCED, 1000 * Count >= ?FORCED_A_SECOND * Ms],
    [#{asked => length(Often), 'of' => length(Seen),
       a_second => lists:sum([1000 * Count / Ms || {Count, Ms} <- Often]) / length(Often)}
     || length(Often) >= ?FORCED, 2 * length(Often) > length(Seen)].

%% @doc The sign of the code server: modules are looked for again and again that are not there.
-spec of_lookups(diagnose_types:lookups()) -> [diagnose_types:sign()].
of_lookups(#{ms := Ms, times := Times, count := Count, again := Again, modules := Modules, asking := Asking, in := In, labels := Labels}) ->
    [diagnose_sign:sign(code_lookups,
                        #{a_second => 1000 * Times div Ms, count => Count, asked => Asking,
                          modules => [#{label => unicode:characters_to_binary(io_lib:format("~tp", [Module])), count => N}
                                      || {Module, N} <- Modules],
                          in => counted(In), 'of' => counted(Labels)},
                        "Each request searches the whole code path for a file. If there is no file: ask once and keep the answer, even if"
                        " the module does not exist (in a persistent term or the configuration), or add an empty module of that name."
                        " If there is a file: find out why it is not loaded (on_load, purge). A release in embedded mode looks for no"
                        " module when it is called.",
                        diagnose_proof:look())
     || 1000 * Again >= ?LOOKUPS_A_SECOND * Ms].

%% @doc The signs of the node: what no process alone shows.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) ->
    scans_together(Look) ++ woken(Look) ++ restarts(Look) ++ log_dumps(Look) ++ forced_by_nobody(Look) ++ tracing(Look)
        ++ evaluated(Look) ++ by_debugger(Look) ++ formatting(Look).

scans_together(#{suspects := Suspects} = Look) ->
    Scans = [{Times / looks(Samples), Times, In}
             || #{table_scans := #{times := Times, in := In}, samples := [_ | _] = Samples} <- Suspects, Times > 0],
    [scan_sign(In, none, #{times => Times, looks => unknown, processes => length(Scans)}, Look)
     || not lists:any(fun scans_a_table/1, Suspects), lists:sum([Share || {Share, _, _} <- Scans]) >= ?SCANNING_TOGETHER,
        Times <- [lists:sum([T || {_, T, _} <- Scans])], Times >= 2 * ?SCANS, {_, _, In} <- [lists:max(Scans)]].

%% Kinds that look for something time and again, each seldom enough to seem idle.
woken(#{wakes := #{timers := Timers}}) ->
    Kinds = [{Count * Each, #{label => diagnose_wording:label(Label), count => Count, each_a_second => round(Each),
                              a_second => round(Count * Each),
                              in => case In of {_, _, _} -> diagnose_wording:label(In); _ -> unknown end}}
             || #{label := Label, in := In, count := Count, each_a_second := Each} <- Timers, Each >= ?EACH_WOKEN_A_SECOND],
    All = round(lists:sum([Pace || {Pace, _} <- Kinds])),
    [diagnose_sign:sign(timer_wakeups, #{a_second => All, 'of' => [Kind || {_, Kind} <- lists:reverse(lists:sort(Kinds))]},
                        "Each wake-up costs microseconds, even without work. Let them wait for a message from whoever has work for them;"
                        " or increase the interval after each empty wake-up; or let one process poll, and notify the others.",
                        diagnose_proof:look())
     || All >= ?WOKEN_A_SECOND];
woken(#{}) -> [].

%% mnesia begins a transaction again that would wait for a lock of one which waits for its locks; and where one keeps a lock, time and
%% again those that want it, of which many that wait tell.
restarts(#{transactions := #{commits := Commits, restarts := Restarts, ms := Ms} = Evidence, awaited := Awaited}) ->
    [diagnose_sign:sign(transaction_restarts, maps:with([commits, restarts, ms], Evidence),
                        "Transactions that want the same locks block each other, and mnesia restarts them from the beginning. If a"
                        " transaction reads a row in order to write it, take the write lock at once (mnesia:wread/1, or mnesia:read/3"
                        " with write). Lock in the same order everywhere. Let one process, or mnesia:dirty_update_counter/3,"
                        " change a row that all transactions change.",
                        diagnose_proof:look())
     || 1000 * Restarts >= ?RESTARTS_A_SECOND * Ms, 2 * Restarts >= Commits, [lock || #{for := lock} <- Awaited] =:= []];
restarts(#{}) -> [].

%% A dump that comes while another one goes on is what mnesia calls an overload.
log_dumps(#{transactions := #{logged := Logged, threshold := Threshold, overloads := Overloads, ms := Ms}})
  when is_integer(Threshold), Overloads > 0 ->
    [diagnose_sign:sign(log_dumps, #{dumps => Dumps, logged => Logged, threshold => Threshold, ms => Ms},
                        "Each dump copies the writes from the log to the files of the tables. If a dump is due before the previous"
                        " dump is done, mnesia reports an overload. Let more writes share a dump"
                        " (-mnesia dump_log_write_threshold 50000, -mnesia dc_dump_limit 40), write less often to tables with copies on"
                        " disc, or keep data that may be lost in ram_copies.",
                        diagnose_proof:look())
     || Dumps <- [Logged div Threshold], Dumps >= ?DUMPS, 1000 * Dumps >= ?DUMPS_A_SECOND * Ms];
log_dumps(#{}) -> [].

%% Collections that are asked for, where nobody who was looked at asks for them. To replace a term or to purge a module does, too.
forced_by_nobody(#{suspects := Suspects} = Look) ->
    [forced_sign(Forced#{times => 0, looks => 0}, diagnose_proof:look())
     || Forced <- forced(Look), diagnose_churn:of_node(Look) =:= [],
        not lists:any(fun(#{samples := Samples}) -> asks(Samples) end, Suspects)].

tracing(#{traced := #{asked := Asked, traced := Traced, new := New, flags := Flags, tracer := Tracer}}) when Traced > 0; New ->
    [diagnose_sign:sign(tracing, #{asked => Asked, traced => Traced, new => New, flags => Flags, tracer => Tracer},
          "Somebody traces, and each traced event costs its process a message to the tracer. If nobody needs the trace any more,"
          " stop it: dbg:stop/0 (and recon_trace:clear/0), or erlang:trace(all, false, [all]), and for the patterns"
          " erlang:trace_pattern({'_', '_', '_'}, false, Flags) with [local, meta, call_count, call_time] and with [global]. A session of"
          " the module trace ends with trace:session_destroy/1, or with its tracer.", diagnose_proof:look())];
tracing(#{}) -> [].

%% Processes that work are mostly in the interpreter of expressions, or make words of terms; what these call is a part of that.
evaluated(Look) ->
    mostly_in(interpreted_code, fun(Module) -> Module =:= erl_eval end, Look,
              "Code that is given as text at run time (erl_eval, Code.eval_string, a rule or a template) is interpreted, which"
              " is many times slower than compiled code. Compile it once into a module, when it is read (compile:forms/2, merl,"
              " Module.create/3 of Elixir), and call the module.").

formatting(Look) ->
    mostly_in(formatted_terms, fun(Module) -> lists:member(Module, ?FORMATTING) end, Look,
              "To print a term as text (io_lib:format/2 with ~p or ~w, a log line, a key of text) costs much more than to send or store it."
              " Do not format a line that is not printed (the macros of logger check the level first; give them a fun or a report), print"
              " no large terms (~P, chars_limit and depth of logger_formatter), and use terms as keys.").

mostly_in(Kind, IsMeant, Look, Advice) ->
    #{times := Times, looks := Looks, reductions := Reductions, processes := Processes, label := Label} = working_in(IsMeant, Look),
    [diagnose_sign:sign(Kind,
                        #{times => Times, looks => Looks, processes => Processes, reductions_a_second => round(Reductions),
                          label => case Label of unknown -> unknown; _ -> diagnose_wording:label(Label) end},
                        Advice, diagnose_proof:look())
     || Looks >= ?BUSY_LOOKS, 2 * Times >= Looks, is_much(Reductions, Look)].

%% @doc Whether the node, or these processes together, do much.
-spec is_much(number(), diagnose_types:look()) -> boolean().
is_much(Reductions, #{collections := Collections}) ->
    diagnose_work_time:cores(Collections) >= ?BUSY_CORES orelse Reductions >= ?BUSY_SERVER_REDUCTIONS.

%% @doc At how many looks processes that work are in such modules, how many processes these are, what they do a second together, and what
%% the one is that is seen there most often.
-spec working_in(fun((module()) -> boolean()), diagnose_types:look()) ->
          #{times | looks | processes := non_neg_integer(), reductions := number(), label := mfa() | unknown}.
working_in(IsMeant, #{suspects := Suspects}) ->
    %% A deep mailbox tells what its process is in.
    Working = [{Suspect, Samples} || #{samples := All, usual_depth := Depth} = Suspect <- Suspects, Depth < ?DEEP,
                                     [_ | _] = Samples <- [working(All)]],
    Within = [{Times, Suspect} || {Suspect, Samples} <- Working, Times <- [looks_through(Samples, IsMeant)], Times > 0],
    #{times => lists:sum([Times || {Times, _} <- Within]),
      looks => lists:sum([looks(Samples) || {_, Samples} <- Working]),
      processes => length(Within),
      reductions => lists:sum([Pace || {_, #{reductions := Pace}} <- Within, is_float(Pace)]),
      label => case lists:keysort(1, Within) of
                   [] -> unknown;
                   Sorted -> maps:get(label, element(2, lists:last(Sorted)))
               end}.

%% For each process that runs code which the debugger interprets, one of the debugger does the work, and the other one waits for it.
by_debugger(#{suspects := Suspects} = Look) ->
    #{times := Times, looks := Looks, reductions := Reductions, processes := Processes} = working_in(fun is_of_interpreter/1, Look),
    Modules = case Look of #{debugged := #{interpreted := All}} -> All; #{} -> [] end,
    [diagnose_sign:sign(interpreted_code,
                        #{times => Times, looks => Looks, processes => Processes, reductions_a_second => round(Reductions),
                          count => length(Modules), modules => [diagnose_sign:text("~tp", [M]) || M <- lists:sublist(Modules, 3)],
                          waiting => lists:sublist([diagnose_sign:process(One) || #{samples := Samples} = One <- Suspects,
                                                                                  looks_through(Samples, fun is_interpreted/1) > 0], 3)},
                        "Somebody has given these modules to the debugger (int:i/1, or the debugger of an editor), and since then they run"
                        " many times slower than compiled code. int:n/1 ends that for a module: [int:n(M) || M <- int:interpreted()].",
                        diagnose_proof:look())
     || Times >= ?BUSY_LOOKS, is_much(Reductions, Look)].

is_interpreted(Module) -> Module =:= dbg_debugged.

is_of_interpreter(Module) -> Module =:= dbg_ieval orelse Module =:= dbg_icmd.

%% @doc Whether a process interprets code for another one, and does nothing else.
-spec is_interpreter(diagnose_types:suspect()) -> boolean().
is_interpreter(#{samples := Samples}) ->
    Works = working(Samples),
    Works =/= [] andalso 2 * looks_through(Works, fun is_of_interpreter/1) >= looks(Works).
