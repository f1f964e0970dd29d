%% @doc A report for a terminal, and its parts for whoever shows it in another way. Pure.
-module(diagnose_text).

-export([report/1, title/1, proofs/2, facts/1, last_line/1]).
-export_type([facts/0]).

-include("diagnose_bounds.hrl").

-type facts() :: {Title :: string(), [iolist()]}.

%% @doc The whole report: what was found, what was seen beside, what was not, and how many findings there are.
-spec report(diagnose:report()) -> iolist().
report(#{findings := Findings, place := Place} = Report) ->
    [title(Report), $\n, [["\n", finding(One, Place)] || One <- Findings],
     [["\n", Title, "\n", [["  ", Fact, ".\n"] || Fact <- Facts]] || {Title, Facts} <- facts(Report)],
     "\n", last_line(Report), "\n"].

finding(#{subject := Subject, signs := Signs}, Place) -> [diagnose_wording:subject(Subject), $\n, [sign(Sign, Place) || Sign <- Signs]].

sign(#{advice := Advice} = Sign, Place) ->
    ["  ! ", diagnose_wording:sentence(Sign), ".\n    To do: ", Advice, "\n",
     [["    ", Title, ": ", Text, "\n"] || {Title, Text} <- proofs(Sign, Place)]].

%% @doc What can be run about a sign, and what the lab measured, each with its title.
-spec proofs(diagnose_types:sign(), diagnose_proof:place()) -> [{Title :: iodata(), unicode:chardata()}, ...].
proofs(#{proof := Proof} = Sign, Place) ->
    [proof(Proof, Place)
     | lists:append([[{"Measured", [Says, " (", Date, ", ", Machine, ": ", Page, ")."]}, proof(More, Place)]
                     || #{gain := #{figure := #{says := Says, date := Date, machine := Machine, page := Page}, proof := More}} <- [Sign]])].

proof(Proof, Place) -> {diagnose_proof:title(Proof, Place), diagnose_wording:printable(diagnose_proof:text(Proof, Place))}.

%% @doc How many findings there are, and whether everything was seen: "nothing" is only said of what was looked at.
-spec last_line(diagnose:report()) -> iolist().
last_line(#{findings := Findings, look := Look}) ->
    case {diagnose_findings:count(Findings), diagnose_wording:unseen(Look)} of
        {0, []} ->
            ["Nothing found.", first_to_look_at(Look), " The bounds: ", bounds(Look), ".", unmeasured(Look),
             has_most(Look), busy_with(Look),
             asks_a_device(Look), waits_with(Look), waits_in(Look), turns(Look)];
        {0, [Why | _]} ->
            ["Not everything was inspected, and nothing was found in the rest: ", shortly(Why), first_to_look_at(Look),
             has_most(Look), busy_with(Look),
             asks_a_device(Look), waits_with(Look), waits_in(Look), turns(Look)];
        {Count, []} -> [findings(Count), "."];
        {Count, [Why | _]} -> [findings(Count), ". Not everything was inspected: ", shortly(Why)]
    end.

findings(1) -> "1 finding";
findings(Count) -> [integer_to_list(Count), " findings"].

unmeasured(Look) ->
    [[" Not measured (see \"Unknown\"): ", lists:join("; ", [small(What) || What <- Names]), "."]
     || [_ | _] = Names <- [diagnose_wording:unmeasured(Look)]].

%% No finding where it may be meant, and less than one tells of.
has_most(Look) -> has_kind(Look) ++ has_one(Look) ++ has_binaries(Look) ++ has_growing(Look).

has_one(#{suspects := Suspects, memory := #{total := Total}}) ->
    [[" Most of its memory is in ", diagnose_wording:subject(#{process => maps:with([pid, name], One)}), ", which has ",
      diagnose_wording:bytes(Bytes), " of heap: if that is too much, find out what it keeps."]
     || #{heap_bytes := Bytes} = One <- Suspects, is_integer(Bytes), Bytes >= ?GROWING_BYTES, 2 * Bytes >= Total];
has_one(#{}) -> [].

has_binaries(#{binaries_beside := #{all_bytes := Bytes, tables := Tables}, memory := #{total := Total}} = Look)
  when Bytes >= ?HELD_BYTES, 2 * Bytes >= Total ->
    [[" Most of its memory is ", diagnose_wording:bytes(Bytes), " of binaries: ", Where, ". If that is too much, find out what keeps them."]
     || Where <- case Tables of [] -> holding_most(Bytes, Look); _ -> [diagnose_wording:in_tables(Tables)] end];
has_binaries(#{}) -> [].

%% By the VM's account, in which those of several count for each.
holding_most(Bytes, #{groups := Groups}) when is_list(Groups) ->
    Kinds = [{Held + Laden, Count, of_kind(One)} || #{held_bytes := Held, laden_bytes := Laden, count := Count} = One <- Groups],
    [["up to ", diagnose_wording:bytes(min(Held, Bytes)), " are held by ", Kind]
     || {Held, _, Kind} <- lists:sublist(lists:reverse(lists:sort(Kinds)), 1), 4 * Held >= Bytes];
holding_most(_, #{}) -> [].

has_growing(#{memory := #{total := Total}} = Look) ->
    [[" The ETS table ", io_lib:format("~tp", [Name]), " gets ", diagnose_wording:count(Rows), " rows (", diagnose_wording:bytes(More),
      ") a second, and had more at each look: if nobody deletes them, find out who should."]
     || #{name := Name, rows_a_second := Rows, bytes_a_second := More} <- lists:sublist(diagnose_tables:only_growing(Look), 1),
        More * ?GROWS_TO_LIMIT_S >= Total];
has_growing(#{}) -> [].

%% What lives in all of a kind together is no finding: each may need what it has.
has_kind(#{groups := Groups, memory := #{total := Total}}) when is_list(Groups) ->
    Kinds = maps:groups_from_list(fun(#{label := Label}) -> Label end, [Group || #{label := {_, _, _}} = Group <- Groups]),
    [[" Most of its memory is in ", diagnose_wording:count(Count), " of ", diagnose_wording:label(Label), ", which have ",
      diagnose_wording:bytes(Bytes), " of heap together: if that is too much, find out what each keeps, and how many there should be."]
     || {Label, All} <- maps:to_list(Kinds),
        Count <- [lists:sum([Of || #{count := Of} <- All])], Bytes <- [lists:sum([Of || #{heap_bytes := Of} <- All])],
        Count > 1, Bytes >= ?MOST_BYTES, 2 * Bytes >= Total];
has_kind(#{}) -> [].

%% A node that works may be slow by what its own functions do, of which the bounds say nothing.
busy_with(#{collections := Collections, suspects := Suspects} = Look) ->
    Cores = diagnose_work_time:cores(Collections),
    Passing = diagnose_samples:most_worked_in([Sample || #{passes := true, samples := Of} <- Suspects, Sample <- Of]),
    case worked_in(Look) of
        [_ | _] -> [io_lib:format(" It uses ~.1f cores; the section \"Processes\" lists the functions.", [Cores])];
        [] when Cores >= ?BUSY_CORES, Passing =/= unknown ->
            [io_lib:format(" It uses ~.1f cores, also in ~ts of processes that live for seconds.",
                           [Cores, diagnose_wording:label(Passing)])];
        [] when Cores >= ?BUSY_CORES ->
            [io_lib:format(" It uses ~.1f cores, in native functions or in short-lived processes: no look saw these at work.", [Cores])];
        [] -> []
    end.

%% What prints without a rest looks the same.
asks_a_device(#{suspects := Suspects}) ->
    Asking = [Suspect || #{samples := Samples, reductions := Reductions} = Suspect <- Suspects,
                         is_number(Reductions), Reductions >= ?BUSY_REDUCTIONS,
                         2 * diagnose_samples:looks_in(Samples, fun({M, F, _}) -> lists:member({M, F}, ?PRINTING) end)
                             > diagnose_samples:looks(Samples)],
    [[" ", diagnose_wording:subject(#{process => maps:with([pid, name], First)}), works_in(First),
      [[" and ", diagnose_wording:count(length(Others)), " others"] || Others =/= []],
      " read or print without a rest: at the end of its input each read of a device returns eof at once, so end there."]
     || [First | Others] <- [Asking]].

%% Nor of what waits for the answer of somebody who may never give it.
waits_with(#{unanswered := #{count := Count}}) when Count > 0 ->
    [" ", processes_wait(Count), " at two looks for the answer to a call, for work or in vain; \"Processes\" tells for whom."];
waits_with(#{}) -> [].

%% Whether they were to live longer, nobody can tell from outside.
turns(#{starts := #{turns := Turns, ms := Ms}}) ->
    [[" ", diagnose_wording:subject(#{process => maps:with([pid, name], One)}), " ended ", diagnose_wording:count(Turned), " children",
      [[" (", lists:join(", ", Kinds), ")"] || Kinds <- [[diagnose_wording:label(Label) || {Label, _} <- Labels, Label =/= unknown]],
                                               Kinds =/= []],
      io_lib:format(" together that were started within these ~.1f s, though none had failed, and started others: if they are to live"
                    " longer, find who ends them again and again.", [Ms / 1000])]
     || #{turned := Turned, labels := Labels} = One <- lists:sublist(Turns, 1)];
turns(#{}) -> [].

%% A loop of its own, such as one that reads from a socket, is called by nobody.
waits_in(#{places := #{most := Most}} = Look) ->
    [if_they_take_long(Place)
     || #{count := Count} = Place <- lists:sublist(Most, 1), Count >= ?WAITING_ALIKE, is_inside(Place), not gets_nothing(Place),
        for_host(Look) =:= []];
waits_in(#{}) -> [].

is_inside(#{in := [_ | Callers], for := For}) -> Callers =/= [] orelse For =/= none.

%% What waits for a host comes first: the node has nothing wrong then.
first_to_look_at(Look) ->
    case hears_nothing(Look) of
        [] -> for_host(Look);
        Waits -> Waits
    end.

for_host(#{places := #{most := Most}}) ->
    [if_they_take_long(Place)
     || Place <- lists:sublist([One || #{at := At} = One <- Most, At =/= unknown, is_inside(One), not gets_nothing(One)], 1)];
for_host(#{}) -> [].

if_they_take_long(Place) -> [about_waiting(Place), ": if their requests take long, it is for this."].

about_waiting(#{count := Count, in := [In | Callers]} = Place) ->
    [io_lib:format(" About ~ts processes wait at two looks in ", [diagnose_wording:count(Count)]), called(In, Callers), for_whom(Place)].

%% Whoever reads in the middle of something may wait for an answer that never comes. Clients that wait for work look the same.
hears_nothing(#{places := #{most := Most}}) ->
    [[about_waiting(Place), ", and got nothing meanwhile: if these are requests, that side does not answer them. Give each a time-out"
      " (without one gen_tcp:recv/2 and ssl:recv/2 wait for ever). If they wait for work, nothing is wrong."]
     || Place <- lists:sublist([One || One <- Most, gets_nothing(One)], 1)];
hears_nothing(#{}) -> [].

%% Where many are connected to one host, each alone, they are clients of it, even in a loop of their own.
gets_nothing(#{count := Count, stay := Stay, in := [_ | Callers], for := none, at := At}) ->
    At =/= unknown andalso Stay >= ?SAME_FUNCTION * Count andalso (Callers =/= [] orelse Count >= ?AWAITED);
gets_nothing(#{}) -> false.

processes_wait(1) -> "1 process waits";
processes_wait(Count) -> [diagnose_wording:count(Count), " processes wait"].

small(Sentence) ->
    [First | Rest] = unicode:characters_to_list(Sentence),
    [string:lowercase([First]) | Rest].

%% "Unknown" has the rest of it.
shortly(Why) ->
    case string:split(small(Why), ": ") of
        [Short, _] -> [Short, " (see \"Unknown\")."];
        [Whole] -> Whole
    end.

%% Nothing is promised of what was not looked at.
bounds(#{unlooked := Unlooked}) ->
    [io_lib:format("~ts messages in a mailbox; a collection of ~b ms; ~ts unused in an idle heap; ",
                   [diagnose_wording:count(?DEEP), ?LONG_US div 1000, diagnose_wording:bytes(?UNUSED_BYTES)]),
     [[diagnose_wording:bytes(?GARBAGE_BYTES), " of garbage in idle processes of one kind; "] || is_map(Unlooked)],
     io_lib:format("~ts of binaries ~ts, or ~ts and half of all memory elsewhere; ~b % of a limit",
                   [diagnose_wording:bytes(?HELD_BYTES),
                    case is_map(Unlooked) of true -> "on small heaps"; false -> "in an idle process" end,
                    diagnose_wording:bytes(?MOST_BYTES), round(100 * ?NEAR_LIMIT)]),
     beside(Unlooked)].

beside(#{heap_bytes := 0}) -> "";
beside(#{heap_bytes := Bytes}) ->
    [". ", diagnose_wording:bytes(Bytes), " of heap of idle processes was not collected, so its live part is unknown"];
beside(_) -> ". No idle process was collected, so the live part of their heaps is unknown".

%% @doc Which node it is of.
-spec title(diagnose:report()) -> binary().
title(#{node := Node, look := #{otp := Otp}}) when is_binary(Otp) -> diagnose_wording:printable(io_lib:format("~ts, OTP ~ts", [Node, Otp]));
title(#{node := Node, look := #{release := Release}}) -> diagnose_wording:printable(io_lib:format("~ts, OTP ~b", [Node, Release])).

%% @doc What was seen beside the findings, what looking cost, and what is unknown.
-spec facts(diagnose:report()) -> [facts()].
facts(#{look := Look, warnings := Warnings, unknown := Unknown, place := Place}) ->
    [{Title, [diagnose_wording:printable(Fact) || Fact <- Facts]}
     || {Title, Facts} <-
            [{"Processes", processes(Look)},
             {"Memory", memory(Look)},
             {"Collections", collections(Look)},
             {"Mailboxes", mailboxes(Look)},
             {"Layout", layout(Look, Place)},
             {"Cost of the inspection", cost(Look)},
             {"Known faults of this OTP", [without_stop(Sentence) || Sentence <- Warnings]},
             {"Unknown", [without_stop(Sentence) || Sentence <- Unknown]}],
        Facts =/= []].

without_stop(Sentence) -> string:trim(Sentence, trailing, ".").

cost(#{cost := #{milliseconds := Ms, bytes := Bytes, purge_bytes := Purge} = Cost}) ->
    [io_lib:format("~.1f s on the node, ~ts of memory (at most 12 MB in each process), ~ts sent",
                   [Ms / 1000, diagnose_wording:bytes(Bytes), carried(Cost)])
     | [["Removing the inspecting module takes ", diagnose_wording:bytes(Purge), " more for a moment"] || Purge > 0]
        ++ ["The inspecting module stays loaded (160 kB) for the next inspection, because removing it costs 200 bytes and 1 to 4"
            " us for each process" || maps:get(stays_loaded, Cost)]].

carried(#{carried_bytes := Bytes}) -> diagnose_wording:bytes(Bytes);
carried(#{}) -> "nothing".

processes(#{processes := unknown}) -> ["No process was inspected"];
processes(#{processes := #{looked := Looked, skipped := Skipped}} = Look) ->
    [[diagnose_wording:count(Looked), " processes inspected",
      [["; ", diagnose_wording:count(Ended), " ended meanwhile"] || #{ended := Ended} <- [Skipped]]]]
        ++ [["Used of the limits: ",
             lists:join(", ", [[limit(Name, Count, Limit), more(Name, Count, element(2, hd(Counts)))]
                               || {Name, {Count, Limit}} <- maps:to_list(last_counts(Counts))])]
            || #{counts := [_ | _] = Counts} <- [Look]]
        ++ [[diagnose_wording:count(Online), " of ", diagnose_wording:count(Online + Offline), " schedulers ",
             case Online of 1 -> "is"; _ -> "are" end, " online (+S, erlang:system_flag(schedulers_online, N), or a quota)"]
            || #{schedulers := Online, offline := Offline} <- [Look], Offline > 0]
        ++ throttled(Look) ++ busiest(Look) ++ worked_in(Look) ++ places(Look) ++ unanswered(Look).

%% Whoever waits for the node then waits for the next period.
throttled(#{throttled := #{periods := Periods, throttled := Times, ms := Ms}}) when 10 * Times >= Periods ->
    [io_lib:format("A quota of processor time (limits.cpu, cpu.max) stopped the node in ~b of ~b periods, until the next one began: ~.1f s in all,"
                   " the sum of all processors (nr_throttled of cpu.stat)", [Times, Periods, Ms / 1000])];
throttled(#{}) -> [].

%% Of a request that takes long it tells what it waits for.
places(#{places := #{most := [_ | _] = Most, ms := Ms}}) ->
    [[io_lib:format("Where processes wait inside of what they do, at two looks ~.1f s apart: ", [Ms / 1000]),
      lists:join("; ", [[diagnose_wording:count(Count), [[" of ", diagnose_wording:label(Label)] || Label =/= unknown],
                         " in ", called(In, Callers), for_whom(Place),
                         case Stay of
                             0 -> ", none of them all the time";
                             _ -> [" (", diagnose_wording:count(min(Count, Stay)), " of them all the time)"]
                         end]
                        || #{count := Count, stay := Stay, label := Label, in := [In | Callers]} = Place <- Most])]];
places(#{}) -> [].

for_whom(#{for := none, at := At}) when At =/= unknown -> [" for data of ", At];
for_whom(#{for := none}) -> "";
for_whom(#{for := Called} = Place) -> [" for ", Called, [[" (which is connected to ", At, ")"] || #{at := At} <- [Place], At =/= unknown]].

called(In, []) -> diagnose_wording:label(In);
called(In, Callers) ->
    [diagnose_wording:label(In), ", called by ", lists:join(", ", [diagnose_wording:label(Caller) || Caller <- Callers])].

%% Whether they wait for work, or in vain, cannot be told from outside.
unanswered(#{unanswered := #{ms := Ms, count := Count, most := Most}}) when Count > 0 ->
    [[processes_wait(Count),
      io_lib:format(" for the answer to a call, at the beginning and ~.1f s later", [Ms / 1000]),
      case lists:sum([N || #{count := N} <- Most]) of
          Count -> ": ";
          _ -> "; of a sample: "
      end,
      lists:join(", ", [[case N of 1 -> Pid; _ -> [diagnose_wording:count(N), " as ", Pid] end,
                         [[" (", diagnose_wording:label(Label), ")"] || Label =/= unknown],
                         " in ", diagnose_wording:label(In), " for ", Called]
                        || #{count := N, label := Label, in := In, pid := Pid, called := Called} <- Most])]];
unanswered(#{}) -> [].

%% Not everything is counted each time.
last_counts(Counts) -> lists:foldl(fun({_, Count}, Last) -> maps:merge(Last, Count) end, #{}, Counts).

limit(Name, Count, Limit) -> io_lib:format("~ts of ~ts ~ts", [diagnose_wording:count(Count), diagnose_wording:count(Limit), Name]).

%% The inspection has processes of its own.
more(processes, _Count, _Before) -> "";
more(Name, Count, Before) ->
    [[" (", diagnose_wording:count(Count - First), " more than at first)"] || #{Name := {First, _}} <- [Before], Count >= First + ?MORE].

busiest(#{suspects := Suspects}) ->
    Busy = lists:sublist(lists:reverse(lists:sort([{Reductions, S} || #{reductions := Reductions} = S <- Suspects,
                                                                      is_float(Reductions), Reductions >= 100_000.0])), 3),
    [["The busiest, by reductions a second: ",
      lists:join(", ", [[diagnose_wording:subject(#{process => maps:with([pid, name], S)}), " ", diagnose_wording:count(round(Reductions)),
                         works_in(S)]
                        || {Reductions, S} <- Busy])] || Busy =/= []].

%% Of all that were watched: what many do a little of is in none of the busiest. And who lives for a moment is not watched.
worked_in(#{suspects := Suspects, collections := Collections, starts := Starts}) ->
    Watched = [Sample || #{samples := Of} <- Suspects, Sample <- Of],
    Short = case Starts of #{samples := Of} -> Of; _ -> [] end,
    Starter = most_started(Starts),
    [["Functions near the top of the stack in ", diagnose_wording:count(Looks), " looks at ", Which, ": ",
      diagnose_wording:shares(Looks, diagnose_sign:counted(lists:sublist(Functions, 3))), By]
     || diagnose_work_time:cores(Collections) >= ?BUSY_CORES,
        {Which, Samples, By} <- [{"working processes", Watched, ""}, {"working processes that had just started", Short, Starter}],
        {Looks, [_ | _] = Functions} <- [diagnose_samples:worked_in(Samples)], Looks >= ?BUSY_LOOKS].

%% Below the functions of a library the VM tells no more of a deep stack, and then whoever starts them is what leads to the program.
most_started(#{most := #{pid := Pid, name := Name, label := Label, part := Part, labels := Labels}}) ->
    Known = [diagnose_wording:label(Of) || {Of, _} <- Labels, Of =/= unknown],
    ["; ", diagnose_wording:subject(#{process => #{pid => Pid, name => Name}}),
     [[" (", diagnose_wording:label(Label), ")"] || Label =/= unknown],
     io_lib:format(" starts ~b % of the new processes", [round(100 * Part)]), [[", as ", lists:join(", ", Known)] || Known =/= []]];
most_started(_) -> "".

works_in(#{samples := Samples}) ->
    case diagnose_samples:most_worked_in(Samples) of
        unknown -> "";
        Function -> [" (in ", diagnose_wording:label(Function), ")"]
    end.

collections(#{collections := Collections, suspects := Suspects}) ->
    of_all(Collections)
        ++ [io_lib:format("~ts: ~b minor, ~b full, the longest ~.1f ms~ts",
                          [diagnose_wording:subject(#{process => maps:with([pid, name], S)}), Minor, Full, Longest / 1000,
                           diagnose_wording:reasons(Why)])
            || #{pauses := #{minor := Minor, full := Full, longest_us := Longest, why := Why}} = S <- Suspects, Minor + Full > 0].

of_all(#{share := Share, window_ms := Ms} = Collections) ->
    [io_lib:format("~.1f % of the time that schedulers were awake; they used ~.1f cores, the inspection included (measured for ~b ms)",
                   [100 * Share, diagnose_work_time:cores(Collections), Ms])];
of_all(unknown) -> [].

mailboxes(#{scan_ns := Costs}) ->
    [io_lib:format("Scanning one queued message costs ~.1f ns or more (~ts)", [Ns, Queue]) || {Queue, Ns} <- maps:to_list(Costs)].

%% The single file does not have the native code of cons_spacing.
layout(#{layouts := []}, _Place) -> ["No large state could be measured"];
layout(#{layouts := Layouts}, _Place) when is_list(Layouts) ->
    [io_lib:format("~ts: ~ts list cells, ~b cache lines a thousand", [Pid, diagnose_wording:count(Cells), round(Lines)])
     || {Pid, #{cells := Cells, cache_lines := Lines}} <- Layouts, Cells > 0];
layout(#{layouts := not_asked}, #{in := file}) -> [];
layout(#{layouts := not_asked}, #{in := library}) ->
    ["Not measured; the option nif => true loads cons_spacing into the node for that, and leaves it there"];
layout(#{layouts := not_asked}, _Place) -> ["Not measured; --nif loads cons_spacing into the node for that, and leaves it there"];
layout(_, _Place) -> [].

memory(#{memory := Memory, emulator := #{off := Off}} = Look) ->
    ["The VM keeps no account of its memory (erlang:memory/0), because its allocators are off" || Memory =:= unknown, Off =/= []]
        ++ [["In all ", diagnose_wording:bytes(Total), ": processes ", diagnose_wording:bytes(Processes),
      ", binaries ", diagnose_wording:bytes(Binary), ", ETS ", diagnose_wording:bytes(Ets),
      ", code and system ", diagnose_wording:bytes(Total - Processes - Binary - Ets)]
     || #{total := Total, processes := Processes, binary := Binary, ets := Ets} <- [Memory]]
        ++ [["The heaps of all processes without a deep mailbox have ", diagnose_wording:bytes(Heap), ", of which ",
             diagnose_wording:bytes(Used), " hold terms or garbage"]
            || #{processes := #{heap_bytes := Heap, used_bytes := Used}} <- [Look]]
        ++ largest_kinds(Look) ++ largest_processes(Look) ++ largest_tables(Look).

%% By the heaps of all of a kind.
largest_kinds(#{groups := Groups, memory := #{processes := All}}) when is_list(Groups) ->
    Kinds = [{Bytes, of_kind(One)} || #{heap_bytes := Bytes, label := Label, count := Count} = One <- Groups, 10 * Bytes >= All,
                                      Label =/= unknown orelse Count > 1], % one alone is among the processes
    [["The kinds of processes with the largest heaps: ",
      lists:join(", ", [[Kind, " with ", diagnose_wording:bytes(Bytes)]
                        || {Bytes, Kind} <- lists:sublist(lists:reverse(lists:sort(Kinds)), 3)])] || Kinds =/= []];
largest_kinds(#{}) -> [].

of_kind(#{label := unknown, count := 1, members := [Member | _]}) -> diagnose_wording:subject(#{process => Member});
of_kind(#{label := unknown} = Group) ->
    diagnose_wording:subject(#{group => (maps:with([count, members], Group))#{label => diagnose_wording:label(unknown)}});
of_kind(#{label := Label, count := Count}) -> [diagnose_wording:count(Count), " of ", diagnose_wording:label(Label)].

largest_processes(#{suspects := Suspects, memory := #{processes := All}}) ->
    largest("The processes with the largest heaps: ",
            [{Bytes, [diagnose_wording:subject(#{process => maps:with([pid, name], S)}), " with ", diagnose_wording:bytes(Bytes)]}
             || #{heap_bytes := Bytes} = S <- Suspects, is_integer(Bytes), 10 * Bytes >= All]);
largest_processes(#{}) -> [].

largest_tables(#{tables := #{largest := Tables}, binaries_beside := Beside, memory := #{ets := All}}) ->
    largest("The largest tables: ",
            [{Bytes, [io_lib:format("~tp", [Name]), " with ", diagnose_wording:count(Rows), " rows and ", diagnose_wording:bytes(Bytes),
                      [[", and about ", diagnose_wording:bytes(Of), " of binaries beside it"]
                       || #{tables := Holding} <- [Beside], #{name := N, bytes := Of} <- Holding, N =:= Name],
                      " (of ", Owner, ")"]}
             || #{name := Name, size := Rows, owner := Owner, bytes := Bytes} <- Tables, Bytes >= ?LARGE_TABLE_BYTES, 10 * Bytes >= All]);
largest_tables(#{}) -> [].

%% Three of these.
largest(Title, Sized) ->
    Largest = lists:sublist(lists:reverse(lists:keysort(1, Sized)), 3),
    [[Title, lists:join(", ", [Text || {_, Text} <- Largest])] || Largest =/= []].
