%% @doc From heaps, their collections and the binaries that they hold to signs, of a process, of processes alike and of all. Pure.
-module(diagnose_heaps).

-export([of_process/2, of_group/2, estimated/1, of_node/1]).

-import(diagnose_sign, [sign/4]).
-import(diagnose_wording, [label/1]).
-import(diagnose_schedulers, [delayed/1]).
-import(diagnose_samples, [looks/1, looks_through/2, working/1]).

-include("../diagnose_bounds.hrl").

%% Of those that were too large.
-define(NAMED, 3).

%% @doc The signs of one process.
-spec of_process(diagnose_types:suspect(), diagnose_types:look()) -> [diagnose_types:sign()].
of_process(Suspect, Look) ->
    long_collection(Suspect, Look) ++ spread_list(Suspect, Look) ++ deep_stack(Suspect) ++ idle_heap(Suspect) ++ large_heap(Suspect, Look)
        ++ binary_leak(Suspect, Look).

%% @doc The signs of processes alike, of which a sample was collected (see estimated/1).
-spec of_group(#{garbage | asked | equal | binaries | live := map() | none, _ => _}, diagnose_types:look()) -> [diagnose_types:sign()].
of_group(Group, Look) -> garbage(Group, Look) ++ asked_heaps(Group, Look) ++ equal_heaps(Group, Look) ++ group_binaries(Group, Look).

%% @doc The signs of the collections of all processes.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) -> collecting(Look).

%% The part of a pause in which the machine did something else is none of the collection's. It is an average over the look, so a fifth
%% of the pause is always taken for the collection's own.
long_collection(#{pauses := #{longest_us := Longest} = Pauses} = Suspect, Look) ->
    case long_collection(Suspect#{pauses := Pauses#{own_us => Longest * max(0.2, 1 - delayed(Look))}}) of
        [] -> hibernating_together(Suspect, Look);
        Signs -> Signs
    end;
long_collection(_, _) -> [].

long_collection(#{pauses := #{longest_us := Longest, own_us := Own, long := Long, total_us := Total, minor := Minor, full := Full,
                              window_ms := Window} = Pauses,
                  usual_depth := Depth, samples := Samples} = Suspect)
  when Own >= ?LONG_US, Long > 1; Own >= ?VERY_LONG_US, Long > 0; Own >= ?VERY_LONG_US, Depth >= ?DEEP; % each goes over the messages, too
       Total - Longest >= ?COLLECTING * 1000 * Window, Minor + Full >= ?COLLECTIONS, % the machine may have interrupted one
       Window >= ?COLLECTING_MS ->
    [sign(long_collection, maps:merge(collected(Suspect), where_it_is(Suspect)),
          [mailbox_advice(Suspect), long_advice(Pauses, working(Samples)), [keeps_advice(Suspect) || map_size(where_it_is(Suspect)) > 0]], diagnose_proof:look())];
long_collection(#{hibernates := true, pauses := #{total_us := Total, minor := Minor, full := Full, window_ms := Window}} = Suspect)
  when Total >= ?HIBERNATING * 1000 * Window, Minor + Full >= ?COLLECTIONS -> % hibernation's own count as minor
    [hibernating_sign(collected(Suspect))];
long_collection(_) -> [].

mailbox_advice(#{usual_depth := Depth, queue := on_heap}) when Depth >= ?DEEP ->
    "Each collection goes over its messages, too: keep the mailbox short first. ";
mailbox_advice(#{}) -> "".

%% No setting changes collections that somebody asks for. And text is made and dropped: what the process keeps does not matter then.
long_advice(#{total_us := Total, why := Why}, Working) ->
    case {2 * lists:sum([Us || #{reason := asked, us := Us} <- Why]) >= Total,
          Working =/= [] andalso 2 * looks_through(Working, fun(Module) -> lists:member(Module, ?FORMATTING) end) >= looks(Working)} of
        {true, _} ->
            "Most of that time went to collections that somebody asked for (erlang:garbage_collect/0,1, or a purge of a module): ask for one"
            " only after large work. Or keep less in this process (its state, its process dictionary).";
        {false, true} ->
            "It makes text of large terms at most looks. If that is a log line, or the report of its own crash (the log tells), format_status/1"
            " of its module makes the report small, and depth and chars_limit of logger_formatter limit every line. If it is text that the"
            " program wants, make it of fewer terms, piece by piece, and as binaries: a character in a list has 16 bytes.";
        {false, false} ->
            "Keep less in this process (its state, its process dictionary; use ETS, or a process that works and ends), or start it"
            " with a large heap: spawn_opt with min_heap_size, and with fullsweep_after if there are many full sweeps."
    end.

%% Each of many alike takes little.
hibernating_together(#{hibernates := true, label := Label, pauses := #{minor := Minor, full := Full, why := Why}} = Suspect, Look)
  when Label =/= unknown, Minor + Full >= ?HIBERNATIONS ->
    [hibernating_sign((collected(Suspect))#{kin => Count, cores_together => Together})
     || Count <- [count_of(Label, Look)], Together <- [min(Count * collecting_each(Label, Look), cores(Look))],
        Together >= ?HIBERNATING_TOGETHER, survives(Why)];
hibernating_together(#{}, _Look) -> [].

collected(#{heap_bytes := Heap,
            pauses := #{longest_us := Longest, total_us := Total, minor := Minor, full := Full, window_ms := Window}}) ->
    #{longest_ms => Longest / 1000, total_ms => Total / 1000, window_ms => Window, minor => Minor, full => Full, heap_bytes => Heap}.

%% The part of its time that one of a kind collects, on average.
collecting_each(Label, #{suspects := Suspects}) ->
    Parts = [Total / (1000 * Window)
             || #{label := L, hibernates := true, pauses := #{total_us := Total, window_ms := Window}} <- Suspects, L =:= Label],
    lists:sum(Parts) / length(Parts).

%% What is known of how much the schedulers work at all. The VM counts a part of hibernation as work of the process, not as collection.
cores(#{collections := #{} = Collections}) -> diagnose_work_time:cores(Collections);
cores(#{}) -> infinity.

survives(Why) ->
    Before = lists:sum([Young + Old || #{kind := Kind, young := Young, old := All} <- Why,
                                       Old <- [case Kind of full -> All; minor -> 0 end]]),
    Before > 0 andalso lists:sum([Left || #{left := Left} <- Why]) >= ?MOSTLY * Before.

hibernating_sign(Evidence) ->
    sign(long_collection, Evidence#{hibernates => true},
         "Each hibernation collects everything that the process has. Use hibernate_after with some seconds instead of hibernate"
         " in each reply, or do not hibernate.",
         diagnose_proof:look()).

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
          " process that ends. The cost of hibernation: the cells of lists end up apart, and later walks are slower.",
          diagnose_proof:collect(Suspect))];
idle_heap(_) -> [].

%% What its functions left on the stack, which no collection frees.
deep_stack(#{stack_bytes := Bytes, stack_in := In}) when is_integer(Bytes), Bytes >= ?STACK_BYTES ->
    [sign(deep_stack, #{stack_bytes => Bytes, in => [label(Frame) || Frame <- lists:uniq(In)]},
          "A function calls itself (directly or through others) before it is done, so each round leaves a frame on the stack: a"
          " loop inside try, catch or a fun, or with work after the call. Make the call the last thing that the function does,"
          " outside of try and catch.",
          diagnose_proof:look())];
deep_stack(_) -> [].

%% It lives for seconds, and others come: each takes a part of the memory.
large_heap(#{passes := true, heap_bytes := Heap, used_bytes := Used, label := Label, samples := Samples} = Suspect,
           #{memory := #{total := Total}, suspects := Suspects}) ->
    [sign(large_heap, #{heap_bytes => Heap, used_bytes => Used, total_bytes => Total, messages => 0, passing => Alike,
                        growth_a_second => 0, seen_in => unknown, label => kind_of_nameless(Suspect),
                        in => case diagnose_samples:most_worked_in(Samples) of unknown -> unknown; In -> label(In) end},
          "Such processes take this memory anew each time. Have them work on parts of the data (ets:select/3, a stream), keep the result"
          " for others that ask for it, and let one work at a time.", diagnose_proof:look())
     || Heap >= ?MOST_BYTES, Alike <- [length([1 || #{passes := true, label := L} <- Suspects, L =:= Label])],
        2 * Heap >= Total orelse Alike > 1 andalso 3 * Alike * Heap >= Total];
%% One process that has most of the node's memory; where something else was found that says why, that is enough.
large_heap(#{heap_bytes := Heap, used_bytes := Used, stack_bytes := Stack, depth := Depth} = Suspect, #{memory := #{total := Total}} = Look)
  when is_integer(Heap), Heap >= ?MOST_BYTES, 4 * Heap >= Total, Stack < ?STACK_BYTES ->
    [sign(large_heap, (where_it_is(Suspect))#{heap_bytes => Heap, used_bytes => Used, total_bytes => Total, messages => Depth,
                                             in => works_in(Suspect)},
          case is_shell(Suspect) of
              true -> shell_advice(Suspect);
              false -> large_advice(Suspect, IsGarbage)
          end,
          diagnose_proof:collect(Suspect))
     || 2 * Heap >= Total orelse have_most_at_work(Suspect, Look),
        IsGarbage <- [may_be_garbage(Suspect, Look)], idle_heap(Suspect) =:= [], long_collection(Suspect, Look) =:= []];
large_heap(_, _) -> [].

large_advice(#{heap_bytes := Heap, used_bytes := Used} = Suspect, IsGarbage) ->
    [["It is idle, so nothing collects its garbage, and all of this may be garbage: --collect (erlang:garbage_collect/1) shows what"
      " is alive, and frees the rest. If little is alive, have it hibernate after large work, or do that work in a process that ends."
      " Else: "
      || IsGarbage],
     case ?DROPPED * Used < Heap of
         true ->
             "Hardly anything of it is used: it made or received large terms, and has dropped them. Do that work in a process that ends,"
             " or ask for a part of the data instead of all of it.";
         false ->
             [case grows(Suspect) of
                  0 -> "If its data are meant to be that large and do not grow, leave it. Otherwise find";
                  _ -> "It grew meanwhile. Find"
              end, " out what it keeps: its state, its process dictionary, postponed events, or queued messages (a few may be"
              " large).", keeps_advice(Suspect)]
     end,
     [" It is an event manager: gen_event:which_handlers/1 tells whether handlers were added again and again, and never deleted."
      || {gen_event, _, _} <- [maps:get(label, Suspect)]],
     [" It handles the events of logger, of which a few may be huge (a crash report has the whole state): limit them by chars_limit"
      " and depth of the formatter, and by format_status/1." || {logger_olp, _, _} <- [maps:get(label, Suspect)]],
     [" A tree of XML takes many times the bytes of its text: read it as a stream (xmerl_sax_parser), and keep what is needed."
      || looks_through(maps:get(samples, Suspect), fun is_of_xml/1) > 0],
     " Bound growing data by size or age; large tables of rows belong in ETS.",
     [" --collect shows how much of the heap is alive." || not IsGarbage]].

%% At most looks it is in the loop of a shell, or in what somebody has typed there.
is_shell(#{samples := Samples}) ->
    Samples =/= [] andalso 2 * looks([Sample || {_, Stack, _} = Sample <- Samples, lists:any(fun is_of_shell/1, Stack)]) >= looks(Samples).

is_of_shell({Module, _, _}) -> Module =:= shell orelse Module =:= 'Elixir.IEx.Evaluator'.

shell_advice(Suspect) ->
    ["It is somebody's shell", [[" (from ", atom_to_list(Node), ")"] || #{leader := Node} <- [Suspect], Node =/= own],
     ", and no part of the application: its variables and last results hold this memory. Leave that shell when the work is done (Ctrl-G"
     " and q, in IEx Ctrl-\\; q() and System.halt/0 would end this node), or forget its variables (f() in Erlang's shell). To look at"
     " large data, ask for counts and a few rows."].

%% Bytes a second of what survives collections, where it would have twice as much soon.
grows(#{used_bytes := Used, kept_growth := Growth}) when is_number(Growth), Growth >= ?HEAP_GROWTH, Growth * ?GROWS_TO_LIMIT_S >= Used ->
    round(Growth);
grows(#{}) -> 0.

%% Of a heap that is worth it.
where_it_is(#{heap_bytes := Heap} = Suspect) when is_integer(Heap), Heap >= ?MOST_BYTES ->
    #{growth_a_second => grows(Suspect), label => kind_of_nameless(Suspect),
      seen_in => case works_in(Suspect) of unknown -> seen_in(Suspect); _ -> unknown end};
where_it_is(#{}) -> #{}.

keeps_advice(Suspect) ->
    [[" A time-out that a callback returns starts anew with each message: what is to be done then (a flush) is never done while messages"
      " keep coming. erlang:send_after/3 does not depend on them." || grows(Suspect) > 0, maps:get(times_out, Suspect, false), is_of_callbacks(Suspect)],
     [" It keeps the results of all tasks that are done until the first one is (ordered): see what that one waits for, and give tasks a"
      " time-out, or ordered: false." || is_ordering(Suspect)]].

%% Where it is seen, also if it waits there, but in its main loop.
seen_in(#{samples := Samples}) ->
    diagnose_samples:most_seen([Sample || {_, [_ | _], _} = Sample <- diagnose_samples:without_behaviours(Samples)]).

kind_of_nameless(#{name := '', label := {_, _, _} = Label}) -> label(Label);
kind_of_nameless(#{}) -> unknown.

%% The label of a large process is not known before OTP 26.2.
is_of_callbacks(#{samples := Samples}) ->
    [At || {_, Stack, _} <- Samples, {Module, loop, _} = At <- Stack, Module =:= gen_server orelse Module =:= gen_statem] =/= [].

is_ordering(#{samples := Samples}) ->
    [Reduces || {_, Stack, _} <- Samples, {'Elixir.Task.Supervised', stream_reduce, _} = Reduces <- Stack] =/= [].

%% Two or three have most of it together, and work on it: what only lies there may be meant to.
have_most_at_work(Suspect, #{suspects := Suspects, memory := #{total := Total}}) ->
    works_in(Suspect) =/= unknown
        andalso 2 * lists:sum([Heap || #{heap_bytes := Heap} = One <- Suspects, is_integer(Heap), Heap >= ?MOST_BYTES, 4 * Heap >= Total,
                                       works_in(One) =/= unknown]) >= Total.

works_in(#{reductions := Reductions, samples := Samples}) when is_number(Reductions), Reductions >= ?BUSY_REDUCTIONS ->
    case diagnose_samples:most_worked_in(Samples) of
        unknown -> unknown;
        Function -> label(Function)
    end;
works_in(#{}) -> unknown.

is_of_xml(Module) -> lists:prefix("xmerl_", atom_to_list(Module)).

%% It has been idle since, and was too large to be collected for this look. A few of those are named; others had just been collected.
may_be_garbage(#{idle := true, hibernates := false, depth := 0, pid := Pid}, #{unlooked := #{too_large := TooLarge}}) ->
    lists:member(Pid, TooLarge) orelse length(TooLarge) >= ?NAMED;
may_be_garbage(#{idle := Idle, hibernates := Hibernates, depth := Depth}, #{}) -> Idle andalso not Hibernates andalso Depth =:= 0.

%% Of a process; one of many alike is told of with them. One that works may hold what it passes on just now: not so much at both looks.
binary_leak(#{idle := Idle, used_bytes := Used, binaries := #{references := References, count := Count, bytes := Bytes}} = Suspect,
            Look) when is_integer(Used), Bytes >= ?HELD_BYTES, 100 * Used =< Bytes ->
    [sign(binary_leak,
          #{held_bytes => Bytes, binaries => Count, references => References, used_bytes => Used, gives_back => unknown, idle => Idle},
          case IsOfParts of
              true ->
                  "It refers to small parts, and each keeps the whole binary alive. Keep copies of the parts (binary:copy/1) where they are"
                  " made, before they are sent or stored. Or do less at a time.";
              false ->
                  "If it needs only parts of them, keep copies of these (binary:copy/1). If it needs none of them, it collects too seldom:"
                  " set hibernate_after, or fullsweep_after 0."
          end,
          diagnose_proof:collect(Suspect))
     || IsOfParts <- [are_parts(Suspect, Look)], IsOfParts orelse Idle orelse held_before(Suspect) andalso not lets_go(Suspect),
        References >= ?REFERENCES orelse Bytes >= ?MOST_HELD_BYTES andalso 2 * Bytes >= all_binaries(Look)];
binary_leak(_, _) -> [].

%% The VM charges a process with the sizes of the parts. Where these are a tenth of the binaries, which are most of all, it matters little
%% whether it works on them just now.
are_parts(#{held_bytes := Held, binaries := #{references := References, bytes := Bytes}}, Look) ->
    is_integer(Held) andalso 10 * Held =< Bytes andalso Bytes >= ?MOST_HELD_BYTES andalso References >= ?REFERENCES
        andalso 2 * Bytes >= all_binaries(Look).

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

%% What works a little makes garbage all the time. So of that it is worth a change only where it is a quarter of the node.
garbage(#{garbage := #{unneeded_bytes := Unneeded, another := Another} = Garbage, label := Label}, Look) when Unneeded >= ?GARBAGE_BYTES ->
    [sign(uncollected_garbage, maps:without([another, steady], Garbage),
          case Garbage of #{steady := _} -> steady_advice(); #{} -> garbage_advice(Label) end,
          diagnose_proof:collect(#{pid => Another}))
     || not is_map_key(steady, Garbage) orelse is_of_node(Unneeded, Look)];
garbage(#{}, _Look) -> [].

is_of_node(Bytes, #{memory := #{total := Total}}) -> Bytes >= 2 * ?GARBAGE_BYTES andalso 4 * Bytes >= Total;
is_of_node(_, #{}) -> false.

steady_advice() ->
    "They work a little, and their minor collections never free what is in the old generation. Start them with fullsweep_after 10 or 20"
    " (spawn_opt of gen_server:start_link/4; ERL_FULLSWEEP_AFTER in the environment is for all processes): each full sweep copies what is"
    " alive, which is little here. Or collect once after the large work (erlang:garbage_collect/0).".

garbage_advice({gen_tcp_socket, _, _}) ->
    "These are processes of OTP, one for each socket that was made with the option {inet_backend, socket}, and nobody can have them"
    " hibernate. Close sockets that are not needed any more. Those of the backend inet have no process.";
garbage_advice(Label) ->
    ["While a process waits, nothing collects the garbage of its last work. Have it hibernate after a while (hibernate_after"
     " of gen_server and gen_statem, proc_lib:hibernate/3), collect once after the large work (erlang:garbage_collect/0), or"
     " do that work in a process that ends.", of_ssl(Label)].

of_ssl({ssl_gen_statem, _, _}) -> " For ssl, {hibernate_after, Ms} is an option of ssl:listen/2 and ssl:connect/3.";
of_ssl(_) -> "".

%% Hardly anything is on them, and a collection leaves them as large: they were given that size, and have most of the memory.
asked_heaps(#{asked := #{heap_bytes := Heap, another := Another} = Asked}, #{memory := #{total := Total}})
  when Heap >= ?MOST_BYTES, 2 * Heap >= Total ->
    [sign(idle_heap, (maps:remove(another, Asked))#{total_bytes => Total},
          "Each was given a heap of that size (min_heap_size in spawn_opt, or +hms for all), which no collection takes back. Leave it out,"
          " or give it only to processes whose work needs so much.",
          diagnose_proof:collect(#{pid => Another}))];
asked_heaps(#{}, _Look) -> [].

equal_heaps(#{equal := #{alive_bytes := Alive, another := Another} = Equal}, #{memory := #{total := Total}})
  when Alive >= ?MOST_BYTES, 2 * Alive >= Total ->
    [sign(equal_heaps, (maps:remove(another, Equal))#{total_bytes => Total},
          "They probably have a copy of the same data each: a spawn, a message and a look-up in ETS copy terms. Keep such data once, as a"
          " persistent term (persistent_term:put/2), or in ETS with a row for each part that is read. (If each has a buffer of a fixed"
          " size, nothing is wrong.)",
          diagnose_proof:collect(#{pid => Another}))];
equal_heaps(#{label := {_, _, _} = Label, count := Count, heap_bytes := Heap}, #{memory := #{total := Total}, suspects := Suspects})
  when Count >= ?EQUAL_PROCESSES, Heap >= ?MOST_BYTES, 2 * Heap >= Total ->
    equal_sign(Count, Heap, Total, [{Bytes, One} || #{label := L} = One <- Suspects, L =:= Label, Bytes <- lives(One)]);
equal_heaps(#{}, _Look) -> [].

%% Those that work are not collected for this. What their own collections left is the same in those that were seen, or some times as much:
%% a new one has come before the last one is gone. And these, which are the largest, are as large as the others. (What idle ones use is as
%% equal where it is garbage, so without a collection nothing is known of these.)
equal_sign(Count, Heap, Total, [_ | _] = All) ->
    Each = lists:min([Bytes || {Bytes, _} <- All]),
    Seen = [One || {Bytes, One} <- All, Times <- [round(Bytes / max(1, Each))], Times =< ?EQUAL_TIMES,
                   ?EQUAL_TO * abs(Bytes - Times * Each) =< Bytes],
    [sign(equal_heaps, #{processes => Count, heap_bytes => Heap, each_bytes => Each, seen => length(Seen), total_bytes => Total},
          "They probably have a copy of the same data each. A term that is sent or put into ETS has each shared part copied as often as it"
          " is referred to. Keep such data once, as a persistent term (persistent_term:put/2), or send its small form (a key, a difference)."
          " (If each works on data of a fixed size of its own, nothing is wrong.)",
          diagnose_proof:collect(#{pid => maps:get(pid, hd(Seen))}))
     || Each >= ?EQUAL_BYTES, length(Seen) >= ?EQUAL_LOOKS, length(Seen) >= ?MOSTLY * length(All),
        lists:sum([B || #{heap_bytes := B} <- Seen, is_integer(B)]) * Count =< 2 * Heap * length(Seen)];
equal_sign(_, _, _, []) -> [].

%% On average. (What is not idle may have as much of one term as of many that have come since.)
lives(#{idle := false, pauses := #{why := [_ | _] = Why}}) ->
    [lists:sum([Left || #{left := Left} <- Why]) div max(1, lists:sum([Count || #{count := Count} <- Why]))];
lives(#{}) -> [].

%% Not more than the node has beside what kinds with more refer to: to find the same binary with both, few are asked.
group_binaries(#{binaries := #{held_bytes := Held, gives_back := Returns, heap_bytes := Heap, references := References,
                               another := Another} = Binaries} = Group,
               Look) ->
    All = min(Held, max_binaries(Group, Look)),
    Back = min(Returns, All),
    Evidence = (maps:remove(another, Binaries))#{held_bytes := All, gives_back := Back, unless => may_hold(Back, Group, Look)},
    if
        Back >= ?HELD_BYTES, 2 * Back >= All ->
            [sign(binary_leak, Evidence,
                  ["Nothing refers to most of them any more: the processes collect too seldom. Set hibernate_after or fullsweep_after 0, or"
                   " call erlang:garbage_collect/0 after the work.", of_ssl(maps:get(label, Group))],
                  diagnose_proof:collect(#{pid => Another}))];
        All - Back >= ?HELD_BYTES, 50 * Heap =< All, References >= ?REFERENCES ->
            [sign(binary_leak, Evidence, "If only parts of them are needed, keep copies of these (binary:copy/1).",
                  diagnose_proof:collect(#{pid => Another}))];
        true -> live_binaries(Group, Look)
    end;
group_binaries(Group, Look) -> live_binaries(Group, Look).

%% They have most of the node, whatever they do.
live_binaries(#{live := #{held_bytes := Held} = Live, members := [#{pid := Pid} | _]}, #{memory := #{binary := Bytes, total := Total}})
  when Held >= ?MOST_BYTES, 2 * Held >= Total, 2 * Bytes >= Total ->
    [sign(binary_leak, Live#{held_bytes := min(Held, Bytes), gives_back => unknown, total_bytes => Total},
          "These binaries are in use, or were a moment ago. If they are bounded and meant to be that many (a cache, data on their way), leave"
          " them. Otherwise have each process take less ahead (prefetch, max_bytes, the next request only after the last one is done), limit"
          " how many such processes there are, or keep only the parts that are needed (binary:copy/1).",
          diagnose_proof:collect(#{pid => Pid}))];
live_binaries(Group, Look) -> laden(Group, Look).

%% The VM charges a process with each binary that it refers to. Not more than there are beside those of tables; where it is twice as much,
%% many share them, and nobody can tell.
laden(#{laden_bytes := Charged} = Group, #{memory := #{binary := Bytes, total := Total}} = Look)
  when Charged >= ?MOST_BYTES, Charged =< 2 * Bytes ->
    Most = min(Charged, Bytes - in_tables(Look)),
    [sign(binary_leak, #{laden => [#{process => diagnose_sign:process(One), bytes => Held} || {Held, One} <- By], held_bytes => Most,
                         processes => maps:get(laden, Group), gives_back => unknown, total_bytes => Total, all_bytes => Bytes},
          "They are in its state, or were used since its last collection. If they are bounded and meant to be that many (a cache), leave"
          " them. Otherwise bound what is kept: a queue needs a limit, at which old or new entries are dropped, or who sends has to wait. Have"
          " it take less ahead (prefetch, max_bytes), or keep only the parts that are needed (binary:copy/1).",
          diagnose_proof:collect(Largest))
     || Most >= ?MOST_BYTES, 2 * Most >= Total, [{_, Largest} | _] = By <- [most_laden(Group, Look)]];
laden(#{}, _Look) -> [].

most_laden(#{label := Label, kin := Kin}, #{suspects := Suspects}) ->
    lists:sublist(lists:reverse(lists:sort([{Held, One} || #{pid := Pid, label := Of, held_bytes := Held} = One <- Suspects,
                                                           is_integer(Held), Held >= ?HELD_BYTES,
                                                           lists:member(Pid, Kin) orelse Of =:= Label andalso Label =/= unknown])),
                  ?NAMED).

in_tables(#{binaries_beside := #{tables := Tables}}) -> lists:sum([Bytes || #{bytes := Bytes} <- Tables]);
in_tables(#{}) -> 0.

%% Whose binaries are too many to be listed, so they may be the same.
may_hold(Back, #{kin := Kin}, #{suspects := Suspects}) ->
    lists:sublist([diagnose_sign:process(One)
                   || #{pid := Pid, binaries := unknown, held_bytes := Bytes} = One <- Suspects, is_integer(Bytes),
                      ?MAY_HOLD * Bytes >= Back, Back > 0, not lists:member(Pid, Kin)], ?NAMED).

max_binaries(#{label := Label} = Group, #{memory := #{binary := Bytes}, groups := Groups}) when is_list(Groups) ->
    Kinds = maps:groups_from_list(fun({L, _}) -> L end, fun({_, Held}) -> Held end,
                                  [{L, holds(estimated(One))} || #{label := L} = One <- Groups, L =/= Label]),
    Own = holds(Group),
    max(0, Bytes - lists:sum([Sum || {_, Of} <- maps:to_list(Kinds), Sum <- [lists:sum(Of)], Sum > Own]));
max_binaries(_Group, #{memory := #{binary := Bytes}}) -> Bytes;
max_binaries(_Group, #{}) -> infinity.

%% Of the live ones, or of those that may be garbage.
holds(#{live := Live, binaries := Binaries}) ->
    lists:max([0 | [Held || #{held_bytes := Held} <- [Live, Binaries]]]).

%% @doc What the sample of a group says of all of it: the garbage of those with a large heap, where that is half of it at least, what
%% lives in them, where that is equal in all, and the binaries of those that hold some, each counted once as far as the sample tells.
-spec estimated(diagnose_types:group()) -> #{garbage | asked | equal | binaries | live := map() | none, _ => _}.
estimated(Group) -> of_sample(Group#{live => estimated_live(Group)}).

of_sample(#{sample := #{large := Large, holding := Holding}} = Group) ->
    Group#{garbage => estimated_garbage(idle_part([large, large_heap_bytes], Group, Large), Large),
           asked => estimated_asked(Group, Large),
           equal => estimated_equal(Group, Large),
           binaries => estimated_binaries(idle_part([holding, held_bytes, holding_heap_bytes], Group, Holding), Holding)};
of_sample(#{} = Group) -> Group#{garbage => none, asked => none, equal => none, binaries => none}.

%% Those that work collect soon: garbage, and binaries that wait to be let go, are those of the idle part. What lives is in all.
idle_part(Keys, Group, #{collected := Idle, working := Working}) ->
    maps:map(fun(_, All) -> All * Idle div (Idle + Working) end, maps:with(Keys, Group));
idle_part(_, _, none) -> #{}.

%% As those that hold binaries and were asked.
estimated_live(#{refers := #{binaries := #{charged_bytes := Charged, bytes := Bytes, count := Binaries, references := References,
                                           members := Asked}},
                 held_bytes := Held, holding := Count, holding_heap_bytes := Heap}) when Charged > 0 ->
    #{processes => Count, held_bytes => Held * Bytes div Charged, binaries => Binaries * Count div Asked,
      references => References * Count div Asked, heap_bytes => Heap, asked => Asked};
estimated_live(#{}) -> none.

%% What lives in each is as large as in the others, to a percent: so it probably is the same.
estimated_equal(#{large := Count, large_heap_bytes := Heap},
                #{collected := Collected, another := Another, before := #{heap_bytes := Before},
                  'after' := #{used_bytes := Used, least_used_bytes := Least, most_used_bytes := Most}})
  when Before > 0, Collected >= ?EQUAL_LOOKS, Count >= ?EQUAL_PROCESSES, Least >= ?EQUAL_BYTES, 100 * Most =< 101 * Least ->
    #{processes => Count, alive_bytes => min(Heap, Heap * Used div Before), each_bytes => Most, collected => Collected, another => Another};
estimated_equal(#{}, _) -> none.

estimated_asked(#{large := Count, large_heap_bytes := Heap},
                #{collected := Collected, another := Another, before := #{heap_bytes := Before},
                  'after' := #{heap_bytes := After, used_bytes := Alive}})
  when Before > 0, Collected >= ?EQUAL_LOOKS, 10 * After >= 9 * Before, 10 * Alive =< After ->
    #{processes => Count, heap_bytes => Heap, alive_bytes => Heap * Alive div Before, collected => Collected, another => Another};
estimated_asked(#{}, _) -> none.

estimated_garbage(#{large_heap_bytes := Heap, large := Count},
                  #{collected := Collected, another := Another,
                    before := #{heap_bytes := Before}, 'after' := #{heap_bytes := After, used_bytes := Alive}} = Sample)
  when Before > 0, 2 * (Before - After) >= Before, Heap >= Count * ?GARBAGE_HEAP, Heap * (Before - After) >= ?GARBAGE_OF_KIND * Before ->
    (maps:with([steady], Sample))
    #{processes => Count, heap_bytes => Heap,
      alive_bytes => min(Heap, Heap * Alive div Before), unneeded_bytes => Heap * (Before - After) div Before,
      collected => Collected, another => Another};
estimated_garbage(#{}, _) -> none.

estimated_binaries(#{held_bytes := Held, holding_heap_bytes := Heap, holding := Count},
                   #{collected := Collected, another := Another,
                     before := #{binaries := #{charged_bytes := Charged, bytes := Before, count := Binaries, references := References,
                                               members := Known}},
                     'after' := #{binaries := #{bytes := After}}} = Sample) when Charged > 0, Before > 0 ->
    All = Held * Before div Charged,
    #{processes => Count, held_bytes => All, gives_back => All * max(0, Before - After) div Before, binaries => Binaries * Count div Known,
      references => References * Count div Known, heap_bytes => Heap, collected => Collected, another => Another,
      shared => maps:get(shared, Sample, [])};
estimated_binaries(#{}, _) -> none.

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
    Kinds = [{Count * Each, #{label => label(Label), count => Count, traced => Traced, each => Each, heap_bytes => lists:max(Heap)}}
             || {Label, Parts} <- maps:to_list(Of), Traced <- [length(Parts)], Traced >= ?COLLECTING_ALIKE,
                {Shares, Heap} <- [lists:unzip(Parts)], Each <- [lists:sum(Shares) / Traced],
                Count <- [max(Traced, count_of(Label, Look))], Count * Each >= ?COLLECTING_SCHEDULER],
    [Kind || {_, Kind} <- lists:sublist(lists:reverse(lists:sort(Kinds)), 3)].

count_of(Label, #{groups := Groups}) -> lists:sum([Count || is_list(Groups), #{label := L, count := Count} <- Groups, L =:= Label]).
