%% @doc From what was seen to findings: what is wrong, what to change, and the command that proves it. Pure.
-module(diagnose_findings).

-export([findings/3]).

-define(DEEP, 1000).
-define(LONG_US, 20_000).
%% A process that spends so much of its time on collections, and on at least so many.
-define(COLLECTING, 0.25).
-define(COLLECTIONS, 5).
-define(UNUSED_BYTES, 2_000_000).
-define(HELD_BYTES, 32_000_000).
-define(REFERENCES, 100).
-define(CARRIER_BYTES, 64_000_000).
%% A dense list touches 250 cache lines for each thousand cells.
-define(SPREAD_LINES, 750).
-define(SPREAD_CELLS, 10_000).

%% @doc The findings of a look, in the order of the report. `Connect' are the words with which the command line reaches
%% the node, such as `--node shop@host'.
-spec findings(diagnose_types:look(), [diagnose_types:scan()], Connect :: binary()) -> [diagnose_types:finding()].
findings(#{suspects := unknown}, _Scans, _Connect) -> [];
findings(#{suspects := Suspects} = Look, Scans, Connect) ->
    Faults = diagnose_known_faults:faults(),
    Each = fun(Rule) -> lists:append([Rule(Suspect, of_process(Suspect, Scans)) || Suspect <- Suspects]) end,
    lists:append([Each(fun(S, _) -> long_collection(S, Connect) end),
                  Each(fun(S, _) -> deep_mailbox(S, Connect) end),
                  Each(fun(S, Own) -> [scanning_receive(S, Scan, Look, Connect) || Scan <- Own] end),
                  Each(fun(S, _) -> spread_list(S, Look, Connect) end),
                  Each(fun(S, _) -> idle_heap(S, Connect) end),
                  Each(fun(S, _) -> binary_leak(S, Connect) end),
                  carriers(Look, Connect),
                  Each(fun(S, Own) -> message_queue_data(S, Own, Connect) end),
                  Each(fun(S, Own) -> [known_fault(S, Fault, Look, Connect)
                                       || Fault <- diagnose_known_faults:fitting(Faults, maps:get(otp, Look), S, Own)] end)]).

of_process(#{pid := Pid}, Scans) -> [Scan || #{pid := P} = Scan <- Scans, P =:= Pid].

finding(Kind, Suspect, Evidence, Advice, Command) ->
    #{kind => Kind, process => subject(Suspect), evidence => Evidence, advice => text("~ts", [Advice]),
      command => text("./ertslab ~ts", [Command])}.

subject(none) -> none;
subject(Suspect) -> maps:with([pid, name], Suspect).

text(Format, Args) -> unicode:characters_to_binary(io_lib:format(Format, Args)).

%% A process is named by its identifier, in quotes for a shell.
about(Command, #{pid := Pid}, Connect) -> [Command, " ", Connect, " '", Pid, "'"].

collect(#{pid := Pid}, Connect) -> ["diagnose ", Connect, " --collect '", Pid, "'"].

again(Connect) -> ["diagnose ", Connect].

long_collection(#{pauses := #{longest_us := Longest, total_us := Total, minor := Minor, full := Full, window_ms := Window},
                  heap_bytes := Heap} = Suspect, Connect)
  when Longest >= ?LONG_US; Total >= ?COLLECTING * 1000 * Window, Minor + Full >= ?COLLECTIONS ->
    [finding(long_collection, Suspect,
             #{longest_ms => Longest / 1000, total_ms => Total / 1000, window_ms => Window, minor => Minor, full => Full,
               heap_bytes => Heap},
             "Keep less in this process (ETS, or a process that works and ends), or let it begin large:"
             " spawn_opt with min_heap_size, and fullsweep_after where full sweeps are many.",
             again(Connect))];
long_collection(_, _) -> [].

deep_mailbox(#{least_depth := Depth, growth := Growth, queue := Queue, samples := Samples} = Suspect, Connect) when Depth >= ?DEEP ->
    [finding(deep_mailbox, Suspect,
             #{messages => Depth, growth_a_second => round(Growth), queue => Queue, in => most_seen(Samples)},
             "Keep it short: the library dam holds, blocks or drops what is too much; or find what it waits for.",
             about("advise", Suspect, Connect))];
deep_mailbox(_, _) -> [].

most_seen(Samples) ->
    case lists:sort([{Times, Frame} || {_, [Frame | _], Times} <- Samples]) of
        [] -> unknown;
        Frames -> function(element(2, lists:last(Frames)))
    end.

function({Module, Name, Arity}) -> text("~ts:~ts/~b", [Module, Name, Arity]).

scanning_receive(#{least_depth := Depth, queue := Queue} = Suspect,
                 #{function := Function, file := File, line := Line, called_from := Caller, seen := Seen, looks := Of},
                 #{scan_ns := Costs}, Connect) ->
    Call = case Costs of
               #{Queue := Ns} -> Depth * Ns / 1.0e6;
               #{} -> unknown
           end,
    finding(scanning_receive, Suspect,
            #{receive_in => function(Function), file => File, line => Line, messages => Depth, at_least_ms_a_call => Call,
              called_from => case Caller of none -> unknown; _ -> function(Caller) end, seen => Seen, looks => Of},
            "Have another process make this call, keep the mailbox short (dam), or, where the reply is yours,"
            " make a reference just before the request and match it in every clause.",
            about("advise", Suspect, Connect)).

spread_list(#{pid := Pid, hibernates := Hibernates, used_bytes := Used} = Suspect, #{layouts := [_ | _] = Layouts}, Connect) ->
    [finding(spread_list, Suspect,
             #{cells => Cells, mean_bytes => Mean, cache_lines_a_thousand => Lines, walk_ns => Walk, dense_ns => Dense,
               hibernates => Hibernates, used_bytes => Used},
             "Do not hibernate this process, keep the data in tuples, maps or ETS, call cons_spacing:compact/1 on lists"
             " that are walked often, or build OTP with the variant tuned.",
             [again(Connect), " --nif"])
     || {P, #{cells := Cells, mean := Mean, cache_lines := Lines, walk_ns := Walk, dense_ns := Dense}} <- Layouts, P =:= Pid,
        Cells >= ?SPREAD_CELLS, Lines >= ?SPREAD_LINES];
spread_list(_, _, _) -> [].

%% To purge what an earlier look loaded takes the heaps of these processes of the VM; the purger gives its back after a minute.
idle_heap(#{initial_call := {Own, start, 0}}, _) when Own =:= erts_code_purger; Own =:= erts_literal_area_collector -> [];
%% These read all code and all applications while a system starts, and nobody can have them hibernate.
idle_heap(#{name := Name}, _) when Name =:= init; Name =:= erl_prim_loader; Name =:= code_server; Name =:= application_controller -> [];
%% What a process was given by min_heap_size it was meant to have.
idle_heap(#{idle := true, depth := Depth, heap_bytes := Heap, used_bytes := Used, old_bytes := Old, min_heap_bytes := Min} = Suspect, Connect)
  when Depth < ?DEEP, is_integer(Min), Heap - Used >= ?UNUSED_BYTES, Heap - Min >= ?UNUSED_BYTES,
       3 * Used =< Heap ->
    [finding(idle_heap, Suspect, #{heap_bytes => Heap, used_bytes => Used, unused_bytes => Heap - Used, old_bytes => Old},
             "Have it hibernate after a while (hibernate_after of gen_server and gen_statem) or do the large work in a"
             " process that ends. What hibernation costs: lists that it keeps are spread, and later walks are slower.",
             collect(Suspect, Connect))];
idle_heap(_, _) -> [].

binary_leak(#{idle := true, held_bytes := Held, used_bytes := Used, binaries := Binaries} = Suspect, Connect)
  when Held >= ?HELD_BYTES, 100 * Used =< Held, is_integer(Binaries), Binaries >= ?REFERENCES ->
    [finding(binary_leak, Suspect, #{held_bytes => Held, binaries => Binaries, used_bytes => Used},
             "If it needs parts of them only, keep copies of these (binary:copy/1); if none, it collects too seldom:"
             " hibernate_after, or fullsweep_after 0.",
             collect(Suspect, Connect))];
binary_leak(_, _) -> [].

carriers(#{carriers := Carriers}, Connect) when is_list(Carriers) ->
    [finding(carriers_underused, none, Allocator,
             "Memory that was needed once is kept by few blocks. Look at what held it then; the flags +M<S>as aobf and"
             " +M<S>acul say how carriers are filled and given up.", again(Connect))
     || #{carrier_bytes := Carrier, block_bytes := Blocks} = Allocator <- Carriers,
        Carrier >= ?CARRIER_BYTES, 2 * Blocks < Carrier];
carriers(_, _) -> [].

%% On the heap is only advised where a receive was seen going by the messages.
message_queue_data(#{queue := Queue, least_depth := Depth, pauses := #{minor := Minor, full := Full, window_ms := Ms}} = Suspect,
                   Scans, Connect) when Minor + Full >= ?COLLECTIONS; Queue =:= off_heap ->
    Seen = #{deepest => Depth, collections => Minor + Full, seconds => Ms / 1000},
    case diagnose_queue_advice:advise(Seen) of
        #{favours := Other, because := Because} when Other =:= off_heap, Queue =:= on_heap;
                                                     Other =:= on_heap, Queue =:= off_heap, Scans =/= [] ->
            [finding(message_queue_data, Suspect, #{queue => Queue, messages => Depth, collections => Minor + Full, window_ms => Ms},
                     ["process_flag(message_queue_data, ", atom_to_list(Other), "): ", Because, "."], about("advise", Suspect, Connect))];
        #{} -> []
    end;
message_queue_data(_, _, _) -> [].

known_fault(#{used_bytes := Used, hibernates := Hibernates, depth := Depth} = Suspect,
            #{issue := Issue, what := What, advice := Advice}, #{otp := Version}, Connect) ->
    finding(known_fault, Suspect,
            #{issue => text("~ts", [Issue]), otp => Version, what => text("~ts", [What]), used_bytes => Used,
              hibernates => Hibernates, messages => Depth},
            Advice, again(Connect)).
