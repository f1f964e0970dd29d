%% @doc A report for a terminal, and its parts for whoever shows it in another way. Pure.
-module(diagnose_text).

-export([report/1, title/1, sections/1]).
-export_type([section/0]).

-type section() :: {Title :: string(), Facts :: [iolist()], [diagnose_types:finding()]}.

%% @doc The whole report.
-spec report(diagnose:report()) -> iolist().
report(#{findings := Findings} = Report) ->
    [title(Report), $\n,
     [["\n", Title, "\n", [["  ", Fact, ".\n"] || Fact <- Facts], [finding(One) || One <- Found]]
      || {Title, Facts, Found} <- sections(Report)],
     "\n", ended(length(Findings), Report), nameless(Report)].

nameless(#{node := 'nonode@nohost', findings := [_ | _]}) ->
    "This node has no name, so no command reaches it: start it with one (-sname), which then stands for NODE.\n";
nameless(_) -> "".

finding(#{process := Process, advice := Advice, command := Command} = Finding) ->
    ["  ! ", diagnose_wording:subject(Process), " ", diagnose_wording:sentence(Finding), ".\n",
     "    To do: ", Advice, "\n    Proof: ", Command, "\n"].

ended(0, #{look := #{suspects := unknown}}) -> "Not judged: the node was not looked at closely enough.\n";
ended(0, _) -> "Nothing found.\n";
ended(1, _) -> "1 finding.\n";
ended(Count, _) -> io_lib:format("~b findings.\n", [Count]).

%% @doc Which node it is of.
-spec title(diagnose:report()) -> iolist().
title(#{node := Node, look := #{otp := unknown, release := Release}}) -> io_lib:format("~ts, OTP ~b", [Node, Release]);
title(#{node := Node, look := #{otp := Otp}}) -> io_lib:format("~ts, OTP ~ts", [Node, Otp]).

%% @doc The parts in their order: what looking cost is the first.
-spec sections(diagnose:report()) -> [section()].
sections(#{look := Look, findings := Findings, warnings := Warnings, unknown := Unknown}) ->
    [{Title, Facts, Found}
     || {Title, Facts, Kinds} <-
            [{"What looking cost", cost(Look), []},
             {"Collections", collections(Look), [long_collection]},
             {"Mailboxes", mailboxes(Look), [deep_mailbox, scanning_receive]},
             {"Layout", layout(Look), [spread_list]},
             {"Idle memory", memory(Look), [idle_heap, binary_leak, carriers_underused]},
             {"Messages on or off the heap", [], [message_queue_data]},
             {"Known faults of this OTP", [without_stop(Sentence) || Sentence <- Warnings], [known_fault]},
             {"Unknown", [without_stop(Sentence) || Sentence <- Unknown], []}],
        Found <- [[One || #{kind := Kind} = One <- Findings, lists:member(Kind, Kinds)]],
        Facts =/= [] orelse Found =/= []].

without_stop(Sentence) -> string:trim(Sentence, trailing, ".").

cost(#{cost := #{milliseconds := Ms, bytes := Bytes, purge_bytes := Purge} = Cost} = Look) ->
    [io_lib:format("~.1f s there, ~ts of memory (it may have 17 MB), ~ts carried",
                   [Ms / 1000, diagnose_wording:bytes(Bytes), carried(Cost)])
     | looked(Look)] ++ [["To purge the code that looks, the VM takes ", diagnose_wording:bytes(Purge), " more for a moment"]
                         || Purge > 0]
        ++ ["The module that looked stays loaded (30 kB), and the next look uses it: to remove it takes 200 bytes and"
            " 1 to 4 us for each process" || maps:get(stays_loaded, Cost)].

carried(#{carried_bytes := Bytes}) -> diagnose_wording:bytes(Bytes);
carried(#{}) -> "nothing".

looked(#{processes := unknown}) -> ["No process was looked at"];
looked(#{processes := #{looked := Looked, skipped := Skipped}}) ->
    [[diagnose_wording:count(Looked), " processes looked at"
      | [skipped(Why, Count) || {Why, Count} <- lists:sort(maps:to_list(Skipped))]]].

skipped(Why, Count) -> io_lib:format("; ~ts ~ts", [diagnose_wording:count(Count), why_skipped(Why)]).

why_skipped(ended) -> "ended meanwhile";
why_skipped(silent) -> "did not answer in time";
why_skipped(out_of_time) -> "left out, since the time was over";
why_skipped(too_many) -> "left out, since they are too many and have no names".

collections(#{suspects := unknown}) -> [];
collections(#{collections := Collections, suspects := Suspects}) ->
    of_all(Collections)
        ++ [io_lib:format("~ts: ~b minor, ~b full, the longest ~.1f ms",
                      [diagnose_wording:subject(maps:with([pid, name], S)), Minor, Full, Longest / 1000])
            || #{pauses := #{minor := Minor, full := Full, longest_us := Longest}} = S <- Suspects, Minor + Full > 0].

of_all(#{share := Share, busy := Busy, window_ms := Ms}) ->
    [io_lib:format("~.1f % of the time that schedulers were busy, which was ~.1f % of ~b ms", [100 * Share, 100 * Busy, Ms])];
of_all(unknown) -> [].

mailboxes(#{scan_ns := Costs}) ->
    [io_lib:format("To go by a message that waits takes ~.1f ns or more (~ts)", [Ns, Queue]) || {Queue, Ns} <- maps:to_list(Costs)].

layout(#{layouts := []}) -> ["No large state could be measured"];
layout(#{layouts := Layouts}) when is_list(Layouts) ->
    [io_lib:format("~ts: ~ts list cells, ~b cache lines a thousand", [Pid, diagnose_wording:count(Cells), round(Lines)])
     || {Pid, #{cells := Cells, cache_lines := Lines}} <- Layouts];
layout(#{layouts := not_asked}) -> ["Not measured; --nif loads cons_spacing into the node for that, where it stays"];
layout(_) -> [].

memory(#{processes := #{heap_bytes := Heap, used_bytes := Used}}) ->
    [["The heaps of all processes without a deep mailbox: ", diagnose_wording:bytes(Heap), ", of which ",
      diagnose_wording:bytes(Used), " are used"]];
memory(_) -> [].
