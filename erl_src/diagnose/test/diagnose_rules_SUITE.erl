%% What follows from what was seen, without a node: versions, loops, bounds.
-module(diagnose_rules_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, versions_of_faults/1, faults_that_looking_meets/1,
         faults_are_complete/1, loop_counts_only_where_it_waits/1, half_of_the_looks/1,
         fun_is_one_of_its_function/1, what_is_unknown_is_no_finding/1, start_behind_a_mailbox_is_a_known_fault/1,
         one_that_does_not_answer_costs_only_itself/1, judging_is_limited/1,
         heap_that_was_asked_for_is_not_idle/1, carriers_that_are_empty_for_a_moment/1, walks_are_timed_in_lists_of_that_layout/1]).
-export([layouts/1]).

all() ->
    [versions_of_faults, faults_that_looking_meets, faults_are_complete, loop_counts_only_where_it_waits, half_of_the_looks,
     fun_is_one_of_its_function, what_is_unknown_is_no_finding, start_behind_a_mailbox_is_a_known_fault,
     one_that_does_not_answer_costs_only_itself, judging_is_limited,
     heap_that_was_asked_for_is_not_idle, carriers_that_are_empty_for_a_moment, walks_are_timed_in_lists_of_that_layout].

versions_of_faults(_) ->
    [#{versions := Ranges}] = [Fault || #{issue := "https://github.com/erlang/otp/issues/10651"} = Fault <- diagnose_known_faults:faults()],
    [?assertEqual({Version, Covered}, {Version, diagnose_known_faults:covers(Version, Ranges)})
     || {Version, Covered} <- [{~"26.2.5.9", false}, {~"27.0", true}, {~"27.3.4.1", true}, {~"27.3.4.7", true},
                               {~"27.3.4.8", false}, {~"27.3.4.10", false}, {~"28.0", true}, {~"28.3.1", true}, {~"28.3.3", false},
                               {~"28.4", false}, {~"29.0", false}, {~"27.0-rc1", false}]],
    ?assert(diagnose_known_faults:covers(~"29.1.1", [{"25.0", none}])).

%% A release without the file OTP_VERSION may have the fault.
faults_that_looking_meets(_) ->
    [?assertEqual({Version, Release, Count}, {Version, Release, length(diagnose_known_faults:met_by_looking(Version, Release))})
     || {Version, Release, Count} <- [{~"27.3.4.1", 27, 1}, {~"27.3.4.8", 27, 0}, {unknown, 28, 1}, {unknown, 26, 0}, {unknown, 29, 0}]],
    [Warning] = diagnose_wording:warnings(diagnose_known_faults:met_by_looking(~"28.1", 28)),
    ?assertMatch({_, _}, binary:match(Warning, ~"10651")).

faults_are_complete(_) ->
    [?assertMatch(#{issue := "https://github.com/erlang/otp/" ++ _, versions := [_ | _], sign := _, what := [_ | _], advice := [_ | _]},
                  Fault) || Fault <- diagnose_known_faults:faults()].

%% m:f/0 receives, and is called by m:g/0.
scans(Loops, Samples) ->
    Receive = #{function => {f, 0}, file => "m.erl", line => 3, verdict => scans, loops => Loops},
    diagnose_receives:join(suspect(#{least_depth => 5000, samples => Samples}), #{m => {ok, [Receive]}}).

suspect(More) ->
    maps:merge(#{pid => ~"<0.1.0>", name => '', initial_call => unknown, queue => on_heap, depth => 5000, least_depth => 0,
                 growth => 0.0, samples => [], hibernates => false, idle => false, heap_bytes => unknown, used_bytes => unknown,
                 old_bytes => unknown, held_bytes => unknown, binaries => unknown, min_heap_bytes => 0, pauses => unknown}, More).

loop_counts_only_where_it_waits(_) ->
    Running = [{running, [{m, f, 0}, {m, g, 0}], 10}],
    ?assertMatch([#{function := {m, f, 0}, line := 3, called_from := {m, g, 0}, seen := 10, looks := 10}], scans(false, Running)),
    ?assertEqual([], scans(true, Running)),
    ?assertMatch([#{called_from := none}], scans(true, [{waiting, [{m, f, 0}], 10}])).

half_of_the_looks(_) ->
    ?assertMatch([_], scans(false, [{running, [{m, f, 0}], 5}, {running, [{m, g, 0}], 5}])),
    ?assertEqual([], scans(false, [{running, [{m, f, 0}], 4}, {running, [{m, g, 0}], 6}])).

fun_is_one_of_its_function(_) ->
    ?assertMatch([#{function := {m, f, 0}}], scans(false, [{running, [{m, '-f/0-fun-0-', 2}], 10}])).

%% An atom is more than any number.
what_is_unknown_is_no_finding(_) ->
    ?assertEqual([], findings(suspect(#{hibernates => true, idle => true, depth => 0}), [])).

findings(Suspect, Scans) ->
    Look = #{format => 3, otp => ~"27.3.4.1", release => 27, schedulers => 2, overloaded => false, processes => unknown,
             suspects => [Suspect], silent => [], collections => unknown, carriers => unknown, scan_ns => #{}, layouts => not_asked,
             cost => #{milliseconds => 1, bytes => 1, ended => finished, stays_loaded => false, purge_bytes => 0}},
    [{Kind, Evidence} || #{kind := Kind, evidence := Evidence} <- diagnose_findings:findings(Look, Scans, ~"--node a@b")].

start_behind_a_mailbox_is_a_known_fault(_) ->
    Scan = #{pid => ~"<0.1.0>", function => {proc_lib, sync_start, 2}, file => ~"proc_lib.erl", line => 1,
             called_from => {supervisor, start_child, 2}, seen => 9, looks => 10},
    Found = findings(suspect(#{least_depth => 5000}), [Scan]),
    ?assertMatch([deep_mailbox, scanning_receive, known_fault], [Kind || {Kind, _} <- Found]),
    ?assertMatch(#{issue := ~"https://github.com/erlang/otp/pull/11633"}, proplists:get_value(known_fault, Found)),
    ?assertEqual(unknown, maps:get(at_least_ms_a_call, proplists:get_value(scanning_receive, Found))).

%% A process that answers no signal cannot be planted; one that takes for ever to be asked is the same for the look.
one_that_does_not_answer_costs_only_itself(_) ->
    process_flag(trap_exit, true),
    [Silent, Answers] = [spawn(fun() -> receive after infinity -> ok end end) || _ <- [1, 2]],
    Ask = fun(Pid) when Pid =:= Silent -> receive after infinity -> ok end;
             (Pid) -> process_info(Pid, status)
          end,
    ?assertEqual([{Silent, silent}, {Answers, {status, waiting}}], diagnose_probe:answers([Silent, Answers], Ask)),
    ?assertEqual({messages, []}, process_info(self(), messages)),
    _ = [exit(Pid, kill) || Pid <- [Silent, Answers]].

%% erl_parse is too large to be compiled within what the own node may spend; no time is no time; the eleventh is named.
judging_is_limited(_) ->
    Deep = fun(Modules) -> suspect(#{least_depth => 5000, samples => [{waiting, [{Module, f, 0}], 1} || Module <- Modules]}) end,
    ?assertMatch({[], [{erl_parse, out_of_memory}], #{bytes := Bytes}} when Bytes > 1_000_000,
                 diagnose_receives:scans(node(), [Deep([erl_parse])], 60_000)),
    ?assertMatch({[], [{lists, out_of_time}], _}, diagnose_receives:scans(node(), [Deep([lists])], 1)),
    Eleven = [lists, maps, sets, queue, ordsets, orddict, dict, gb_sets, gb_trees, proplists, string],
    {[], NotJudged, _} = diagnose_receives:scans(node(), [Deep(Eleven)], 1),
    ?assertMatch([_], [Module || {Module, too_many} <- NotJudged]).

heap_that_was_asked_for_is_not_idle(_) ->
    Idle = suspect(#{depth => 0, idle => true, heap_bytes => 10_000_000, used_bytes => 1000, old_bytes => 0}),
    ?assertMatch([{idle_heap, _}], findings(Idle, [])),
    ?assertEqual([], findings(Idle#{min_heap_bytes => 10_000_000}, [])),
    [?assertEqual([], findings(Idle#{initial_call => {Own, start, 0}}, [])) || Own <- [erts_code_purger, erts_literal_area_collector]],
    [?assertEqual([], findings(Idle#{name => Own}, [])) || Own <- [code_server, application_controller]],
    ?assertEqual([], findings(Idle#{min_heap_bytes => unknown}, [])).

carriers_that_are_empty_for_a_moment(_) ->
    [Full, Empty] = [[#{allocator => binary_alloc, carrier_bytes => 100, block_bytes => Bytes}] || Bytes <- [90, 10]],
    ?assertEqual([Full, Full, Empty],
                 [diagnose_probe:at_both(Before, After) || {Before, After} <- [{Full, Empty}, {Empty, Full}, {Empty, Empty}]]).

%% In a heap that has room, as in the look.
walks_are_timed_in_lists_of_that_layout(_) ->
    [begin
         {Pid, Monitor} = spawn_opt(?MODULE, layouts, [Bytes], [monitor, {min_heap_size, 500_000}]),
         receive {'DOWN', Monitor, process, Pid, Layouts} -> ?assertEqual({float(Bytes), 16.0}, Layouts) end
     end || Bytes <- [32, 48, 128, 400]].

layouts(Bytes) ->
    {Spread, Dense} = diagnose_probe:two_layouts(Bytes),
    [#{mean := SpreadBytes}, #{mean := DenseBytes}] = [cons_spacing:measure(List) || List <- [Spread, Dense]],
    exit({abs(SpreadBytes), abs(DenseBytes)}).
