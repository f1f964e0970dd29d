%% @doc What was found, what is unknown and what went wrong, as sentences. Pure.
-module(diagnose_wording).

-export([sentence/1, subject/1, warnings/1, unknown/2, error/1, count/1, bytes/1]).

%% @doc The evidence of a finding, without its process.
-spec sentence(diagnose_types:finding()) -> iolist().
sentence(#{kind := Kind, evidence := Evidence}) -> evidence(Kind, Evidence).

evidence(long_collection, #{longest_ms := Longest, total_ms := Total, window_ms := Ms, minor := Minor, full := Full, heap_bytes := Heap}) ->
    io_lib:format("collects for ~.1f ms at a time, ~.1f of ~b ms in all (~b minor, ~b full), with a heap of ~ts",
                  [Longest, Total, Ms, Minor, Full, bytes(Heap)]);
evidence(deep_mailbox, #{messages := Messages, growth_a_second := Growth, queue := Queue, in := In}) ->
    io_lib:format("~ts messages wait, ~ts; ~ts~ts", [count(Messages), growth(Growth), Queue, seen_in(In)]);
evidence(scanning_receive, #{receive_in := Function, file := File, line := Line, messages := Messages, at_least_ms_a_call := Ms,
                             called_from := Caller, seen := Seen, looks := Looks}) ->
    io_lib:format("~ts (~ts:~b) scans ~ts messages, ~ts; called from ~ts; seen in ~b of ~b looks",
                  [Function, File, Line, count(Messages), call_cost(Ms), Caller, Seen, Looks]);
evidence(message_queue_data, #{queue := Queue, messages := Messages, collections := Collections, window_ms := Ms}) ->
    io_lib:format("~ts messages wait ~ts, ~b collections in ~b ms", [count(Messages), Queue, Collections, Ms]);
evidence(spread_list, #{cells := Cells, mean_bytes := Mean, cache_lines_a_thousand := Lines, walk_ns := Walk, dense_ns := Dense,
                        hibernates := Hibernates}) ->
    io_lib:format("~ts list cells lie ~ts bytes apart and touch ~b cache lines a thousand (dense: 250)~ts~ts",
                  [count(Cells), mean(Mean), round(Lines), walk_cost(Walk, Dense), [", and it hibernates" || Hibernates]]);
evidence(idle_heap, #{heap_bytes := Heap, used_bytes := Used, unused_bytes := Unused, old_bytes := Old}) ->
    io_lib:format("is idle and uses ~ts of a heap of ~ts (old generation ~ts): ~ts too many",
                  [bytes(Used), bytes(Heap), bytes(Old), bytes(Unused)]);
evidence(binary_leak, #{held_bytes := Held, binaries := Binaries, used_bytes := Used}) ->
    io_lib:format("is idle and holds ~ts in ~ts binaries by ~ts of heap", [bytes(Held), count(Binaries), bytes(Used)]);
evidence(carriers_underused, #{allocator := Name, carrier_bytes := Carrier, block_bytes := Blocks}) ->
    io_lib:format("~ts uses ~ts of ~ts of carriers (~b %)", [Name, bytes(Blocks), bytes(Carrier), 100 * Blocks div Carrier]);
evidence(known_fault, #{issue := Issue, otp := Version, what := What, used_bytes := Used, messages := Messages}) ->
    io_lib:format("OTP ~ts, ~ts: ~ts (~ts used, ~ts messages wait)", [Version, Issue, What, bytes(Used), count(Messages)]).

growth(Growth) when Growth > 0 -> [count(Growth), " more a second"];
growth(Growth) when Growth < 0 -> [count(-Growth), " fewer a second"];
growth(0) -> "and their number stays".

seen_in(unknown) -> "";
seen_in(Function) -> [", mostly in ", Function].

call_cost(unknown) -> "at an unknown cost a call";
call_cost(Ms) -> io_lib:format("at least ~.1f ms a call", [Ms]).

walk_cost(unknown, _) -> "";
walk_cost(Walk, Dense) -> io_lib:format(", ~.1f ns a cell or more for a walk (dense: ~.1f)", [Walk, Dense]).

mean(undefined) -> "an unknown number of";
mean(Mean) -> integer_to_list(round(Mean)).

%% @doc A process by its identifier and its name.
-spec subject(diagnose_types:subject()) -> iolist().
subject(none) -> "the node";
subject(#{pid := Pid, name := ''}) -> [Pid];
subject(#{pid := Pid, name := Name}) -> io_lib:format("~ts (~ts)", [Pid, Name]).

%% @doc Which faults of OTP a look can bring about, a sentence each.
-spec warnings([diagnose_known_faults:fault()]) -> [binary()].
warnings(Faults) ->
    [unicode:characters_to_binary(["This OTP has a fault that signals can bring about, also those of this look: ", What, " (", Issue, ")."])
     || #{issue := Issue, what := What} <- Faults].

%% @doc What could not be seen of a node, a sentence each.
-spec unknown(diagnose_types:look(), [{module(), term()}]) -> [binary()].
unknown(#{overloaded := true}, _NotJudged) ->
    [<<"The node is overloaded: after the first look it was left alone.">>];
unknown(#{otp := Otp, collections := Collections, suspects := Suspects, silent := Silent, carriers := Carriers, layouts := Layouts,
          cost := #{ended := Ended}}, NotJudged) ->
    [unicode:characters_to_binary(Sentence)
     || Sentence <-
            [ended(Ended) || Ended =/= finished]
            ++ ["Which OTP this is exactly: the release has no file OTP_VERSION, so known faults were not looked for." || Otp =:= unknown]
            ++ ["Nothing was looked at closer." || Suspects =:= unknown]
            ++ [["What is with ", Pid, ": it did not answer in time."] || Pid <- Silent]
            ++ ["The collections' share: the emulator was built without microstate accounting."
                || Collections =:= unknown, Suspects =/= unknown]
            ++ ["The allocators' carriers were not looked at." || Carriers =:= unknown, Suspects =/= unknown]
            ++ ["The layouts: the node cannot load cons_spacing with its NIF." || Layouts =:= unknown, Ended =:= finished]
            ++ ["The layouts: to measure them wakes processes that hibernate, and this OTP has a fault there, so --nif was left out."
                || Layouts =:= not_safe]
            ++ [["The collections of ", Pid, ": larger ones were traced, somebody else traces it, or it ended."]
                || Suspects =/= unknown, #{pauses := not_traced, pid := Pid} <- Suspects]
            ++ ["The collections of single processes: tracing wanted more memory or time than it may have."
                || Suspects =/= unknown, lists:any(fun(#{pauses := Pauses}) -> Pauses =:= unknown end, Suspects)]
            ++ [io_lib:format("The receives of ~ts: ~ts.", [Module, not_judged(Why)]) || {Module, Why} <- NotJudged]].

ended(out_of_time) -> "The time was over before all was looked at.";
ended(out_of_memory) -> "Looking wanted more memory than it may have, and was ended.";
ended(crashed) -> "Looking failed there before all was seen.".

not_judged(no_mailbox_audit) -> "mailbox_audit is not there";
not_judged(other_code) -> "its file is not the code that is loaded";
not_judged(not_readable) -> "its file cannot be read";
not_judged(too_large) -> "its file is too large to be carried, with those that were";
not_judged(too_many) -> "more modules than it may judge; deeper mailboxes came first";
not_judged(out_of_time) -> "judging them took longer than it may";
not_judged(out_of_memory) -> "judging them would take more memory of this node than it may; ask from another node";
not_judged(no_debug_info) -> "it has no debug_info";
not_judged(not_a_beam) -> "its file is no compiled module";
not_judged(Words) -> ["the compiler refuses it: ", Words].

%% @doc An error as one sentence.
-spec error(noproc | deep_mailbox | no_process_identifier | diagnose_node:reason()) -> string().
error(Reason) -> lists:flatten(why(Reason)).

why(noproc) -> "there is no such process any more";
why(deep_mailbox) -> "a thousand messages or more wait for it, and a collection would go over all of them";
why(no_process_identifier) -> "this is no process identifier of the node; one looks like <0.80.0>";
why({too_old, unknown}) -> "the node is older than OTP 25, the oldest that can be looked at";
why({too_old, Release}) -> io_lib:format("the node is OTP ~b; the oldest that can be looked at is OTP 25", [Release]);
why(busy) -> "somebody else looks at this node at the moment; wait a little";
why(silent) -> "the node does not answer in time";
why(nodedown) -> "the node does not answer any more";
why({no_module, Module}) -> io_lib:format("the code of ~ts is not found here", [Module]);
why({not_loaded, Module}) -> io_lib:format("the node does not load the code of ~ts", [Module]);
why({other_version, _}) ->
    "the node has another version of diagnose loaded; use that one, or remove it there:"
    " code:delete(diagnose_probe), code:purge(diagnose_probe)";
why({ended, Reason}) -> io_lib:format("looking ended there (~0tP)", [Reason, 12]).

%% @doc A number with its thousands apart.
-spec count(integer()) -> iolist().
count(Number) when Number < 0 -> [$-, count(-Number)];
count(Number) when Number < 1000 -> integer_to_list(Number);
count(Number) -> [count(Number div 1000), io_lib:format(",~3..0b", [Number rem 1000])].

%% @doc Bytes in the unit that reads best.
-spec bytes(diagnose_types:bytes()) -> iolist().
bytes(unknown) -> "an unknown size";
bytes(Bytes) when Bytes < 10_000 -> io_lib:format("~b B", [Bytes]);
bytes(Bytes) when Bytes < 1_000_000 -> io_lib:format("~.1f kB", [Bytes / 1000]);
bytes(Bytes) -> io_lib:format("~.1f MB", [Bytes / 1.0e6]).
