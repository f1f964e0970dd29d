%% A node that has each sickness once is looked at from another one; both are VMs without epmd. What is found, what is
%% not, and that the node is afterwards as it was before.
-module(diagnose_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(diagnose_two_nodes, [there/4, until/1]).

-export([all/0, groups/0, init_per_testcase/2, end_per_testcase/2]).
-export([what_is_held_back_is_found/1, traces_that_were_left_are_found/1, planted_sicknesses_are_found/1,
         planted_sicknesses_are_found_on_the_newest/1, healthy_node_has_no_findings/1, node_of_the_oldest_release/1,
         node_is_as_before/1, accounting_that_was_on_stays_on/1,
         traced_process_is_left_alone/1, session_is_left_alone/1, deep_mailbox_is_not_walked/1, overloaded_node_is_left_alone/1,
         processes_that_die_meanwhile/1, short_budget_ends_in_time/1,
         asker_that_dies_leaves_nothing/1, asker_that_is_interrupted_leaves_nothing/1, cut_off_node_keeps_nothing/1,
         watching_loads_once/1, full_connection_ends_in_time/1,
         one_that_comes_second_loads_nothing/1, one_that_comes_second_logs_nothing/1, two_at_a_time/1, other_version_is_refused/1,
         same_version_is_used/1,
         node_that_goes_down/1, code_that_is_purged_meanwhile/1, first_look_ends_in_time/1,
         first_look_leaves_time_to_look_closer/1, node_that_stops_answering/1, memory_stays_small/1, a_million_processes/1,
         a_million_processes_on_the_newest/1, ten_million_messages/1, purging_is_counted/1, old_code_that_was_left_is_removed/1,
         code_that_is_not_on_disk/1, preloaded_code_is_judged/1, own_code_is_judged_within_limits/1, measured_processes_survive/1,
         sicknesses_of_many_are_found/1, sicknesses_of_many_are_found_on_the_newest/1, sicknesses_of_many_are_found_on_the_oldest/1,
         terms_that_are_put_anew_are_found/1, large_terms_that_are_put_anew_are_found/1, terms_in_an_overload_are_found/1,
         garbage_of_many_parents_is_found/1, loops_are_found/1, tables_are_found/1, limit_of_processes/1, limit_of_atoms/1,
         nothing_is_collected_where_it_is_forbidden/1,
         processes_that_only_collect_are_found/1, processes_that_begin_small_are_found/1, reasons_are_seen_within_bounds/1,
         nothing_seen_is_not_nothing_found/1, collecting_one_process/1, own_node/1]).
-export([facts/0, asked_from_now_on/0, asked/1, takes_lock/0, comes_second/0, log/2, watch_twice/1, fill_connection/0]).

-define(THERE, 'diagnosed@127.0.0.1').
%% On Debian bookworm it is OTP 25, the oldest that may be looked at.
-define(OF_THE_DISTRIBUTION, "/usr/bin/erl").
-define(PROBES, [diagnose_probe, cons_spacing, cons_spacing_nif]).

all() ->
    [{group, Group} || {Group, _, _} <- groups()] ++
        [what_is_held_back_is_found, traces_that_were_left_are_found, planted_sicknesses_are_found,
         planted_sicknesses_are_found_on_the_newest, healthy_node_has_no_findings, overloaded_node_is_left_alone,
         processes_that_die_meanwhile, short_budget_ends_in_time, full_connection_ends_in_time, first_look_ends_in_time,
         first_look_leaves_time_to_look_closer, node_that_stops_answering, memory_stays_small, a_million_processes,
         a_million_processes_on_the_newest, ten_million_messages, own_code_is_judged_within_limits, sicknesses_of_many_are_found,
         sicknesses_of_many_are_found_on_the_newest, sicknesses_of_many_are_found_on_the_oldest, terms_that_are_put_anew_are_found,
         large_terms_that_are_put_anew_are_found, terms_in_an_overload_are_found, garbage_of_many_parents_is_found, loops_are_found,
         tables_are_found, processes_that_only_collect_are_found, own_node].

%% These mostly wait, so three run at a time; each has nodes of its own.
groups() ->
    Waiting =
        [node_of_the_oldest_release, node_is_as_before, accounting_that_was_on_stays_on, traced_process_is_left_alone,
         session_is_left_alone,
         deep_mailbox_is_not_walked, asker_that_dies_leaves_nothing, asker_that_is_interrupted_leaves_nothing,
         cut_off_node_keeps_nothing, watching_loads_once, one_that_comes_second_loads_nothing, one_that_comes_second_logs_nothing,
         two_at_a_time, other_version_is_refused,
         same_version_is_used, node_that_goes_down, code_that_is_purged_meanwhile, purging_is_counted, old_code_that_was_left_is_removed,
         code_that_is_not_on_disk, preloaded_code_is_judged, measured_processes_survive, limit_of_processes, limit_of_atoms,
         nothing_is_collected_where_it_is_forbidden, nothing_seen_is_not_nothing_found, collecting_one_process],
    [{list_to_atom("waiting_" ++ integer_to_list(Number)), [parallel], Three} || {Number, Three} <- lists:enumerate(threes(Waiting))].

threes([A, B, C | Cases]) -> [[A, B, C] | threes(Cases)];
threes(Cases) -> [Cases || Cases =/= []].

%% Layouts are measured where that is safe. An iterator over processes has OTP 28.
erlang_of(Case)
  when Case =:= a_million_processes_on_the_newest; Case =:= planted_sicknesses_are_found_on_the_newest; Case =:= node_is_as_before;
       Case =:= measured_processes_survive; Case =:= sicknesses_of_many_are_found_on_the_newest ->
    newest_erlang();
erlang_of(Case) when Case =:= node_of_the_oldest_release; Case =:= sicknesses_of_many_are_found_on_the_oldest -> ?OF_THE_DISTRIBUTION;
erlang_of(_) -> filename:join([code:root_dir(), "bin", "erl"]).

%% Of those that are built.
newest_erlang() ->
    lists:last(lists:sort(filelib:wildcard(filename:join([os:getenv("ERTSLAB_TOP"), "build", "otp-*", "bin", "erl"])))).

init_per_testcase(Case, Config) ->
    case erlang_of(Case) =:= ?OF_THE_DISTRIBUTION andalso not filelib:is_regular(?OF_THE_DISTRIBUTION) of
        true -> {skip, "there is no " ?OF_THE_DISTRIBUTION};
        false -> started(Case, Config)
    end.

started(Case, Config) ->
    Test = filename:dirname(code:which(diagnose_sick)),
    diagnose_two_nodes:both(erlang_of(Case), #{there => "diagnosed@127.0.0.1", here => "diagnosing@127.0.0.1",
                                               looks => [diagnose, mailbox_audit, cons_spacing, ?MODULE],
                                               words => ["+P", integer_to_list(most_processes(Case)),
                                                         "+t", integer_to_list(most_atoms(Case)), "-pa", Test]}, Config).

most_processes(limit_of_processes) -> 2048;
most_processes(_) -> 2_000_000.

most_atoms(limit_of_atoms) -> 20_000;
most_atoms(_) -> 1_048_576.

end_per_testcase(_Case, Config) -> diagnose_two_nodes:stopped(Config).

here(Config, Function, Args) -> diagnose_two_nodes:here(Config, diagnose, Function, Args).

%% This module, for what it does there.
loaded(Where, Config) ->
    Peer = proplists:get_value(Where, Config),
    {Module, Beam, File} = code:get_object_code(?MODULE),
    peer:call(Peer, erlang, module_loaded, [Module]) orelse
        ({module, Module} = peer:call(Peer, code, load_binary, [Module, File, Beam])).

%% Two seconds of it are those of the closer look.
look(Config) -> look(#{}, Config).

look(Options, Config) -> here(Config, node, [maps:merge(#{node => ?THERE, budget => 5000}, Options)]).

%% Each sign with whom it is of.
found(#{findings := Findings}) ->
    lists:sort([{Kind, who(Subject)} || #{subject := Subject, signs := Signs} <- Findings, #{kind := Kind} <- Signs]).

who(node) -> none;
who(#{process := #{name := Name}}) -> Name;
who(#{group := #{label := Label, count := Count}}) -> {Label, Count}.

signs(Findings) -> lists:append([Signs || #{signs := Signs} <- Findings]).

%% On OTP 27.3.4.1 a look could make the hibernating process miss a message: it is not measured, and that is said.
planted_sicknesses_are_found(Config) ->
    #{look := #{layouts := Layouts}, unknown := Unknown, warnings := Warnings} = planted([{known_fault, sick_spread}], Config),
    ?assertEqual(not_safe, Layouts),
    ?assertMatch([<<"The layouts: ", _/binary>>], Unknown),
    ?assertMatch([<<"This OTP has a fault", _/binary>>], Warnings),
    ?assertNot(there(Config, erlang, module_loaded, [cons_spacing_nif])).

planted_sicknesses_are_found_on_the_newest(Config) ->
    #{unknown := [], warnings := [], findings := Findings} = planted([{spread_list, sick_spread}], Config),
    [Evidence] = [Evidence || #{kind := spread_list, evidence := Evidence} <- signs(Findings)],
    ?assertMatch(#{walk_ns := Walk, dense_ns := Dense} when is_float(Walk) andalso is_float(Dense), Evidence).

planted(More, Config) ->
    ok = there(Config, diagnose_sick, healthy, [20_000]),
    ok = there(Config, diagnose_sick, plant, []),
    {ok, #{findings := Findings} = Report} = look(#{nif => true, budget => 10_000}, Config),
    ?assertEqual(lists:sort([{binary_leak, sick_leaking}, {carriers_underused, none}, {deep_mailbox, sick_deep},
                             {deep_mailbox, sick_on_heap}, {deep_mailbox, sick_scanning}, {idle_heap, sick_idle},
                             {long_collection, sick_collecting}, {message_queue_data, sick_on_heap},
                             {needless_full_sweeps, sick_collecting},
                             {scanning_receive, sick_scanning} | More]), found(Report)),
    [#{evidence := Evidence}] = [One || #{kind := scanning_receive} = One <- signs(Findings)],
    ?assertMatch(#{receive_in := ~"diagnose_sick:ask/1", file := ~"diagnose_sick.erl", messages := Messages,
                   called_from := ~"diagnose_sick:asks/1"} when Messages >= 20_000, Evidence),
    ?assert(maps:get(at_least_ms_a_call, Evidence) > 0),
    [?assertMatch(#{advice := <<_, _/binary>>, proof := #{kind := _, words := [_ | _]}}, One) || One <- signs(Findings)],
    Report.

%% Of the node, and of processes alike, which one alone would not show.
sicknesses_of_many_are_found(Config) -> many_are_found(Config, #{}).

sicknesses_of_many_are_found_on_the_newest(Config) -> many_are_found(Config, #{}).

%% The planted code is compiled there, as none of this release can be loaded.
sicknesses_of_many_are_found_on_the_oldest(Config) ->
    {ok, Source} = file:read_file(source()),
    File = filename:join(proplists:get_value(priv_dir, Config), "diagnose_sick.erl"),
    ok = file:write_file(File, Source),
    {ok, diagnose_sick, Beam} = there(Config, compile, file, [File, [binary, debug_info]]),
    {module, _} = there(Config, code, load_binary, [diagnose_sick, File, Beam]),
    many_are_found(Config, #{oldest => oldest()}).

oldest() -> filename:join([os:getenv("ERTSLAB_TOP"), "build", "erl", "oldest", "lib"]).

many_are_found(Config, Options) ->
    ok = there(Config, diagnose_sick, plant_many, []),
    {ok, #{findings := Findings} = Report} = look(Options#{budget => 10_000}, Config),
    Found = [{Kind, case Who of {Label, Count} when Count < 100 -> {Label, Count}; {Label, _} -> Label; _ -> Who end}
             || {Kind, Who} <- found(Report)],
    Kin = [G || #{label := L} = G <- maps:get(groups, maps:get(look, Report)), L =:= {diagnose_sick, init, 1}],
    [?assertEqual({One, true}, {One, lists:member(One, Found)}, {Found, Kin})
     || One <- [{near_limit, none}, {many_timers, none}, {many_monitors, sick_monitoring}, {suspended, sick_held_up},
                {uncollected_garbage, {~"diagnose_sick:init/1", 40}}, {binary_leak, {~"diagnose_sick:init/1", 40}}]],
    [#{waiting := Waiting, processes := 30, messages_together := 90_000}] =
        [E || #{kind := deep_mailbox, evidence := E} <- signs(Findings)],
    %% A sample by chance.
    ?assertMatch([#{shape := ~"cast of {line, _}", times := Times}] when Times > 100 andalso Times < 300, Waiting),
    [#{alive_bytes := Alive, heap_bytes := Heap, processes := 40}] =
        [E || #{kind := uncollected_garbage, evidence := E} <- signs(Findings)],
    ?assert(10 * Alive < Heap),
    [#{held_bytes := Held, processes := 20}] = [E || #{kind := binary_leak, evidence := E} <- signs(Findings)],
    ?assert(Held > 40_000_000 andalso Held =< there(Config, erlang, memory, [binary])).

%% Who waits for whom, and what no heap has.
what_is_held_back_is_found(Config) ->
    ok = there(Config, diagnose_sick, plant_held_back, []),
    {ok, #{findings := Findings} = Report} = look(#{budget => 10_000}, Config),
    Found = found(Report),
    [?assertEqual({One, true}, {One, lists:member(One, Found)}, Found)
     || One <- [{deep_stack, sick_stacked}, {deep_mailbox, sick_behind}, {awaited, sick_pool}, {code_churn, none},
                {binaries_beside, none}]],
    ?assertNot(lists:member({idle_heap, sick_stacked}, Found)),
    [#{tables := [#{name := sick_pages, rows := 2500}]}] = [E || #{kind := binaries_beside, evidence := E} <- signs(Findings)],
    %% By a sample of eight.
    ?assertMatch([#{processes := Waiting}] when Waiting >= 100 andalso Waiting =< 200,
                 [E || #{kind := awaited, evidence := E} <- signs(Findings)]).

traces_that_were_left_are_found(Config) ->
    Tracer = there(Config, erlang, whereis, [logger]),
    _ = there(Config, erlang, trace, [existing, true, [{tracer, Tracer}, procs]]),
    {ok, #{findings := Findings}} = look(Config),
    ?assertMatch([#{flags := [procs], new := false}], [E || #{kind := tracing, evidence := E} <- signs(Findings)]).

terms_that_are_put_anew_are_found(Config) ->
    ok = there(Config, diagnose_sick, churning, []),
    {ok, #{findings := Findings} = Report} = look(Config),
    ?assertEqual([{persistent_term_churn, none}], found(Report)),
    [#{terms := [#{term := ~"{diagnose_sick,churned}"}]}] = [E || #{evidence := E} <- signs(Findings)].

%% Each parent's children have too little to be looked at by themselves.
garbage_of_many_parents_is_found(Config) ->
    ok = there(Config, diagnose_sick, scattered, [60]),
    {ok, Report} = look(Config),
    ?assertEqual([{uncollected_garbage, {~"diagnose_sick:init/1", 60}}], found(Report)).

%% What looks keeps none of it, or it would get copies, and be ended for its memory.
large_terms_that_are_put_anew_are_found(Config) ->
    ok = there(Config, diagnose_sick, churning_large, [0]),
    {ok, #{look := #{cost := #{ended := finished}}} = Report} = look(#{budget => 10_000}, Config),
    ?assertMatch([_], [One || {persistent_term_churn, none} = One <- found(Report)]).

terms_in_an_overload_are_found(Config) ->
    ok = there(Config, diagnose_sick, churning_large, [60]),
    {ok, #{look := #{cost := #{ended := finished}, closer := busy, ports := #{}}} = Report} = look(#{budget => 10_000}, Config),
    ?assertEqual([], [overloaded, persistent_term_churn] -- [Kind || {Kind, none} <- found(Report)]).

loops_are_found(Config) ->
    ok = there(Config, diagnose_sick, spinning, []),
    ok = there(Config, diagnose_sick, polling, []),
    {ok, Report} = look(Config),
    Found = found(Report),
    [?assertEqual({One, true}, {One, lists:member(One, Found)})
     || One <- [{busy_process, sick_spinning}, {deep_mailbox, sick_polling}, {scanning_receive, sick_polling}]],
    ?assertNot(lists:member({scanning_receive, sick_spinning}, Found)).

tables_are_found(Config) ->
    ok = there(Config, diagnose_sick, table, []),
    {ok, Large} = look(Config),
    ?assertEqual([{large_ets_table, none}], found(Large)),
    ok = there(Config, diagnose_sick, written_by, [4]),
    %% The writers wait for each other while the machine lets them run at the same time. What was seen else is shown.
    ?assertEqual([], not_contended(Config, 5, [])).

%% [] as soon as a look finds the table, otherwise what was seen at each.
not_contended(_, 0, Seen) -> Seen;
not_contended(Config, Looks, Seen) ->
    {ok, #{findings := Findings, look := #{tables := Tables}}} = look(Config),
    case [E || #{kind := contended_ets_table, evidence := #{name := sick_counters} = E} <- signs(Findings)] of
        [] -> not_contended(Config, Looks - 1, [Tables | Seen]);
        [_] -> []
    end.

%% No process can be started there.
limit_of_processes(Config) ->
    true = peer:call(proplists:get_value(here, Config), net_kernel, connect_node, [?THERE]),
    Count = there(Config, erlang, system_info, [process_limit]) - there(Config, erlang, system_info, [process_count]),
    ok = there(Config, diagnose_sick, leave, [Count + 10]),
    %% The keeper, the worker and its helpers each need a place, and nothing of them is left where there is none.
    Looks = [begin
                 Look = look(Config),
                 ok = until(fun() -> left(Config) =:= [] end),
                 ok = there(Config, diagnose_sick, makes_room, []),
                 Look
             end || _ <- lists:seq(1, 5)],
    ?assertMatch([_ | _], [One || {ok, #{look := #{cost := #{ended := out_of_processes}}} = One} <- Looks]),
    ?assertNotEqual(nomatch, string:find(diagnose:format_error(no_process), "limit")).

%% The VM ends at that limit, and what a look loads would bring it there. It leaves its own out of what it tells.
limit_of_atoms(Config) ->
    true = peer:call(proplists:get_value(here, Config), net_kernel, connect_node, [?THERE]),
    _ = here(Config, collect, [?THERE, "<0.0.0>"]),
    Atoms = fun() -> there(Config, erlang, system_info, [atom_count]) end,
    Before = Atoms(),
    {ok, #{look := #{counts := [{_, #{atoms := {Told, Limit}}} | _]}}} = look(Config),
    ?assert(Atoms() - Before < 1800), % 2,500 with the names of funs and comprehensions
    ?assert(Told - Before < 500),
    Names = [lists:concat(["atom_", N]) || N <- lists:seq(1, Limit - Atoms() - 2900)],
    ok = there(Config, lists, foreach, [fun erlang:list_to_atom/1, Names]),
    Left = Limit - Atoms(),
    ?assertMatch({error, {few_atoms, _, Limit}}, look(Config)),
    ?assert(Limit - Atoms() > Left - 100),
    ?assertEqual([], left(Config)),
    ?assertMatch("the node has 17,1" ++ _, diagnose:format_error({few_atoms, 17_100, Limit})).

nothing_is_collected_where_it_is_forbidden(Config) ->
    ok = there(Config, diagnose_sick, sessions, [40]),
    {ok, #{look := #{groups := Groups}} = Report} = look(#{collect => false}, Config),
    ?assertEqual([], [One || {uncollected_garbage, _} = One <- found(Report)]),
    ?assertEqual([not_asked], lists:usort([Sample || #{sample := Sample} <- Groups])),
    {ok, Allowed} = look(Config),
    ?assertMatch([_], [One || {uncollected_garbage, _} = One <- found(Allowed)]).

healthy_node_has_no_findings(Config) ->
    ok = there(Config, diagnose_sick, healthy, [60_000]),
    ok = there(Config, diagnose_sick, begins_large, []),
    [?assertMatch({ok, #{findings := []}}, look(Config)) || _ <- lists:seq(1, 3)],
    ok = there(Config, diagnose_sick, echo, [5]),
    {ok, Busy} = look(Config),
    ?assertEqual([], found(Busy)).

node_is_as_before(Config) ->
    ok = there(Config, diagnose_sick, plant, []),
    true = peer:call(proplists:get_value(here, Config), net_kernel, connect_node, [?THERE]),
    Before = facts(Config),
    {ok, _} = look(Config),
    unchanged(Before, [], facts(Config)),
    {ok, #{look := #{layouts := [_ | _]}}} = look(#{nif => true}, Config),
    unchanged(Before, [sys, cons_spacing, cons_spacing_nif], facts(Config)),
    ?assertEqual([], [Module || Module <- ?PROBES -- [cons_spacing, cons_spacing_nif], there(Config, erlang, module_loaded, [Module])
                                               orelse there(Config, erlang, check_old_code, [Module])]).

%% With what is compiled for it, as the command has it. No module of these tests can be loaded there.
node_of_the_oldest_release(Config) ->
    ok = there(Config, sys, suspend, [kernel_safe_sup]),
    _ = there(Config, lists, zipwith, [fun erlang:send/2, lists:duplicate(5000, kernel_safe_sup), lists:seq(1, 5000)]),
    {ok, #{look := #{release := Release}} = Report} = look(#{oldest => oldest()}, Config),
    ?assert(lists:member({deep_mailbox, kernel_safe_sup}, found(Report))),
    ?assertEqual([], left(Config)),
    case Release < list_to_integer(erlang:system_info(otp_release)) of
        true -> ok;
        false -> {skip, "the Erlang of the distribution is not older than the own one"}
    end.

%% The time is over while a state is measured, sooner or later.
measured_processes_survive(Config) ->
    ok = there(Config, diagnose_sick, large, [5]),
    Names = [sick_large_1, sick_large_5],
    Before = [there(Config, erlang, whereis, [Name]) || Name <- Names],
    _ = [look(#{nif => true, budget => Budget}, Config) || Budget <- [200, 250, 300, 350, 400, 500]],
    ?assertEqual(Before, [there(Config, erlang, whereis, [Name]) || Name <- Names]),
    ?assert(lists:all(fun is_pid/1, Before)).

%% They make more trace messages than anybody can count.
processes_that_only_collect_are_found(Config) ->
    ok = there(Config, diagnose_sick, collectors, [2]),
    {ok, Few} = look(Config),
    ?assertMatch([_ | _], [Kind || {Kind, _} <- found(Few), Kind =:= long_collection]),
    ok = there(Config, diagnose_sick, collectors, [10]),
    {ok, #{look := #{suspects := Suspects}}} = look(Config),
    ?assertEqual([], [Suspect || #{pauses := unknown} = Suspect <- Suspects]).

%% Those that were started meanwhile are traced no more afterwards, nor is who starts them.
processes_that_begin_small_are_found(Config) ->
    ok = there(Config, diagnose_sick, listening, []),
    {ok, Report} = look(Config),
    ?assertEqual([{small_start, sick_listening}], [One || {small_start, _} = One <- found(Report)]),
    [?assertMatch({min_heap_size, Words} when Words > 1000, Setting)
     || #{kind := small_start, setting := Setting} <- signs(maps:get(findings, Report))],
    #{traced := Traced} = facts(Config),
    ?assertEqual([], Traced).

%% One that collects all the time is left alone after 500 of them; one that is slow beside it is seen to the end.
reasons_are_seen_within_bounds(Config) ->
    ok = there(Config, diagnose_sick, collecting, []),
    ok = there(Config, diagnose_sick, collects_small, []),
    {ok, #{look := #{suspects := Suspects}}} = look(Config),
    [#{minor := Minor, full := Full, window_ms := Short}] = [Pauses || #{name := sick_collects_small, pauses := Pauses} <- Suspects],
    ?assert(Minor + Full =< 500),
    [#{window_ms := Long, why := Why}] = [Pauses || #{name := sick_collecting, pauses := Pauses} <- Suspects],
    ?assertMatch({_, S, L} when S < L, {Minor + Full, Short, Long}),
    ?assertMatch([#{kind := full, reason := asked}], Why).

nothing_seen_is_not_nothing_found(Config) ->
    ok = there(Config, diagnose_sick, healthy, [20_000]),
    {ok, #{look := #{closer := not_looked}, findings := []} = Report} = look(#{budget => 1}, Config),
    ?assertNot(diagnose:is_complete(Report)),
    ?assertMatch({_, _}, binary:match(unicode:characters_to_binary(diagnose_text:report(Report)), ~"Not everything was inspected")).

%% The code of gen_tcp's receive is a part of the emulator.
preloaded_code_is_judged(Config) ->
    ok = there(Config, diagnose_sick, receiving, []),
    Scans = fun(Budget) ->
                    {ok, #{findings := Findings}} = look(#{budget => Budget}, Config),
                    [Evidence || #{kind := scanning_receive, evidence := Evidence} <- signs(Findings)]
            end,
    ?assertMatch([#{receive_in := <<"prim_inet:", _/binary>>, file := ~"prim_inet.erl"}], with_time_enough(Scans, [5000, 20_000, 60_000])).

%% What is seen in the first time in which something is. On a busy machine a look takes longer.
with_time_enough(See, [Budget | More]) ->
    case See(Budget) of
        [] when More =/= [] -> with_time_enough(See, More);
        Seen -> Seen
    end.

%% `sys' is loaded by whoever gets its first system message.
unchanged(Before, LoadedOnDemand, After) ->
    [?assertEqual({Key, [], []}, {Key, (Now -- Was) -- LoadedOnDemand, Was -- Now})
     || {Key, Was} <- maps:to_list(Before), Now <- [maps:get(Key, After)]].

facts(Config) ->
    loaded(there, Config),
    there(Config, ?MODULE, facts, []).

%% On the node: processes but for those that wait on calls, modules, paths, tracers, monitors, names.
facts() ->
    receive after 200 -> ok end,
    #{processes => lists:sort(processes()) -- [self()], modules => lists:sort([Module || {Module, _} <- code:all_loaded()]),
      path => code:get_path(), names => lists:sort(registered()), system_monitor => [erlang:system_monitor()],
      traced => [Pid || Pid <- processes(), {flags, [_ | _]} <- [erlang:trace_info(Pid, flags)]], % not one that has just ended
      receives => [erlang:trace_info('receive', match_spec)], accounting => [accounting()]}.

%% The flag can be asked for only by setting it.
accounting() ->
    Was = erlang:system_flag(microstate_accounting, false),
    _ = erlang:system_flag(microstate_accounting, Was),
    Was.

accounting_that_was_on_stays_on(Config) ->
    there(Config, erlang, system_flag, [microstate_accounting, true]),
    {ok, #{look := #{collections := #{share := Share}}}} = look(Config),
    ?assert(is_float(Share)),
    ?assert(there(Config, erlang, system_flag, [microstate_accounting, false])).

traced_process_is_left_alone(Config) ->
    ok = there(Config, diagnose_sick, collecting, []),
    Pid = there(Config, erlang, whereis, [sick_collecting]),
    Tracer = there(Config, erlang, whereis, [logger]),
    1 = there(Config, erlang, trace, [Pid, true, [{tracer, Tracer}, procs]]),
    {ok, #{look := #{suspects := Suspects}, unknown := Unknown}} = look(Config),
    ?assertMatch([#{pauses := not_traced}], [S || #{name := sick_collecting} = S <- Suspects]),
    ?assertMatch([_], [Sentence || Sentence <- Unknown, binary:match(Sentence, ~"is traced by somebody else") =/= nomatch]),
    ?assertEqual({flags, [procs]}, there(Config, erlang, trace_info, [Pid, flags])),
    ?assertEqual({tracer, Tracer}, there(Config, erlang, trace_info, [Pid, tracer])).

%% A second session that traces collections would end the VM.
session_is_left_alone(Config) ->
    ok = there(Config, diagnose_sick, collecting, []),
    Pid = there(Config, erlang, whereis, [sick_collecting]),
    Tracer = there(Config, diagnose_test_session, traces, [all, [garbage_collection]]),
    {ok, #{look := #{suspects := Suspects}} = Report} = look(Config),
    ?assertMatch([#{pauses := not_traced}], [S || #{name := sick_collecting} = S <- Suspects]),
    ?assert(lists:member({tracing, none}, found(Report))),
    ?assertEqual({flags, [garbage_collection]}, there(Config, diagnose_test_session, flags, [Tracer, Pid])).

%% What is asked of the process that has it is traced.
deep_mailbox_is_not_walked(Config) ->
    ok = there(Config, diagnose_sick, waits_behind, [1_000_000]),
    Pid = there(Config, erlang, whereis, [sick_waiting]),
    loaded(there, Config),
    Collector = there(Config, ?MODULE, asked_from_now_on, []),
    {ok, #{look := #{processes := #{messages := Waiting}}} = Report} = look(Config),
    ?assert(Waiting >= 1_000_000),
    %% The trace by which the requests are seen is told of, too.
    ?assertEqual([{deep_mailbox, sick_waiting}, {tracing, none}], found(Report)),
    Asked = lists:append([Items || {P, Items} <- there(Config, ?MODULE, asked, [Collector]), P =:= Pid]),
    ?assert(lists:member(current_stacktrace, Asked)),
    ?assertEqual([], [Item || Item <- Asked, lists:member(Item, [messages, memory, total_heap_size, garbage_collection_info,
                                                                 binary, backtrace])]).

%% On the node: each call of process_info/2 by processes that are started from now on.
asked_from_now_on() ->
    Collector = spawn(fun() -> collected([]) end),
    1 = erlang:trace_pattern({erlang, process_info, 2}, true, []),
    _ = erlang:trace(new_processes, true, [call, {tracer, Collector}]),
    Collector.

asked(Collector) ->
    Collector ! {self(), asked},
    receive {Collector, Asked} -> Asked end.

collected(Asked) ->
    receive
        {trace, _, call, {erlang, process_info, [Pid, Items]}} -> collected([{Pid, lists:flatten([Items])} | Asked]);
        {Client, asked} -> Client ! {self(), Asked}
    end.

overloaded_node_is_left_alone(Config) ->
    ok = there(Config, diagnose_sick, echo, [400]),
    ok = there(Config, diagnose_sick, deep, []),
    {ok, #{look := #{overloaded := Ready, closer := busy}, unknown := [Sentence]} = Report} = overloaded_look(Config, 5),
    ?assert(Ready > 20),
    ?assertEqual([{deep_mailbox, sick_deep}, {overloaded, none}], found(Report)),
    ?assertNot(diagnose:is_complete(Report)),
    ?assertMatch({_, _}, binary:match(Sentence, ~"the node is overloaded")).

%% Those that are ready may be few for a moment, while other programs of the machine have the processors.
overloaded_look(Config, Left) ->
    case look(Config) of
        {ok, #{look := #{overloaded := false}}} when Left > 1 -> overloaded_look(Config, Left - 1);
        Seen -> Seen
    end.

processes_that_die_meanwhile(Config) ->
    _ = there(Config, erlang, spawn, [diagnose_sick, short_lives, []]),
    ok = there(Config, diagnose_sick, deep, []),
    {ok, Report} = look(Config),
    %% On a fast machine they are many.
    ?assertEqual([{deep_mailbox, sick_deep}], found(Report) -- [{many_starts, none}]).

short_budget_ends_in_time(Config) ->
    ok = there(Config, diagnose_sick, healthy, [100_000]),
    {ok, #{look := #{cost := #{ended := Ended}, processes := Processes}}} = look(#{budget => 1}, Config),
    ?assertEqual(out_of_time, Ended),
    ?assertEqual(unknown, Processes).

asker_that_dies_leaves_nothing(Config) ->
    ok = there(Config, diagnose_sick, deep, []),
    _ = peer:cast(proplists:get_value(here, Config), diagnose, node, [#{node => ?THERE, budget => 60_000}]),
    ok = until(fun() -> there(Config, ets, whereis, [diagnose_probe]) =/= undefined end),
    peer:stop(proplists:get_value(here, Config)),
    nothing_stays(Config).

nothing_stays(Config) ->
    ok = until(fun() -> there(Config, ets, whereis, [diagnose_probe]) =:= undefined end),
    ok = until(fun() -> left(Config) =:= [] end).

left(Config) ->
    [Module || Module <- ?PROBES, there(Config, erlang, module_loaded, [Module]) orelse there(Config, erlang, check_old_code, [Module])].

%% Also while the code is carried there.
asker_that_is_interrupted_leaves_nothing(Config) ->
    true = peer:call(proplists:get_value(here, Config), net_kernel, connect_node, [?THERE]),
    [begin
         Asker = peer:call(proplists:get_value(here, Config), erlang, spawn, [diagnose, node, [#{node => ?THERE, budget => 60_000}]]),
         timer:sleep(Ms),
         true = peer:call(proplists:get_value(here, Config), erlang, exit, [Asker, kill]),
         timer:sleep(20),
         nothing_stays(Config)
     end || Ms <- lists:seq(0, 30, 2)].

%% What looks is loaded once for all looks, also with the cost of it.
watching_loads_once(Config) ->
    ok = there(Config, diagnose_sick, deep, []),
    loaded(here, Config),
    Twice = fun(Budget) ->
                    {ok, Seen} = peer:call(proplists:get_value(here, Config), ?MODULE, watch_twice, [Budget], 180_000),
                    case [none || {[], _} <- Seen] of
                        [] -> Seen;
                        _ -> []
                    end
            end,
    {_, Beam, _} = code:get_object_code(diagnose_probe),
    {ok, {_, Stripped}} = beam_lib:strip(Beam),
    Carried = byte_size(diagnose_node:slim(Stripped)),
    ?assertMatch([{[deep_mailbox], Second}, {[deep_mailbox], First}]
                   when First > Carried andalso 2 * Second < Carried,
                 with_time_enough(Twice, [2000, 10_000, 60_000])),
    ?assertEqual([], left(Config)).

watch_twice(Budget) ->
    Each = fun(#{look := #{cost := #{carried_bytes := Bytes}}, findings := Findings}, Seen) ->
                   Kinds = [Kind || #{kind := Kind} <- signs(Findings)],
                   {case Seen of [] -> again; _ -> done end, [{Kinds, Bytes} | Seen]}
           end,
    diagnose:watch(#{node => ?THERE, budget => Budget}, Each, []).

%% Nothing is read from the connection any more, and it is full.
full_connection_ends_in_time(Config) ->
    Process = there(Config, os, getpid, []),
    true = peer:call(proplists:get_value(here, Config), net_kernel, connect_node, [?THERE]),
    _ = os:cmd("kill -STOP " ++ Process),
    try
        loaded(here, Config),
        _ = peer:call(proplists:get_value(here, Config), erlang, spawn, [?MODULE, fill_connection, []]),
        Before = erlang:monotonic_time(second),
        ?assertEqual({error, silent}, look(#{budget => 1000}, Config)),
        ?assert(erlang:monotonic_time(second) - Before < 30)
    after os:cmd("kill -CONT " ++ Process)
    end.

fill_connection() ->
    {nobody, ?THERE} ! binary:copy(~"much", 10_000_000),
    fill_connection().

%% Who asks is not gone, but cut off.
cut_off_node_keeps_nothing(Config) ->
    _ = peer:cast(proplists:get_value(here, Config), diagnose, node, [#{node => ?THERE, budget => 60_000}]),
    ok = until(fun() -> left(Config) =/= [] end),
    ok = peer:call(proplists:get_value(here, Config), application, set_env, [kernel, dist_auto_connect, never]),
    [true = there(Config, erlang, disconnect_node, [Node]) || Node <- there(Config, erlang, nodes, [connected])],
    nothing_stays(Config).

%% Another look has begun just now.
one_that_comes_second_loads_nothing(Config) ->
    loaded(there, Config),
    _ = there(Config, erlang, spawn, [?MODULE, takes_lock, []]),
    ok = until(fun() -> there(Config, ets, whereis, [diagnose_probe]) =/= undefined end),
    ?assertEqual({error, busy}, look(Config)),
    ?assertEqual([], left(Config)).

%% Both found the lock free. The node's log has what fails after that, and nothing before.
one_that_comes_second_logs_nothing(Config) ->
    loaded(there, Config),
    loaded(here, Config),
    ok = there(Config, logger, add_handler, [?MODULE, ?MODULE, #{}]),
    _ = there(Config, erlang, spawn, [?MODULE, takes_lock, []]),
    ok = until(fun() -> there(Config, ets, whereis, [diagnose_probe]) =/= undefined end),
    ?assertEqual(busy, peer:call(proplists:get_value(here, Config), ?MODULE, comes_second, [])),
    _ = there(Config, erlang, spawn, [erlang, error, [fails_after_that]]),
    ok = until(fun() -> there(Config, persistent_term, get, [?MODULE, none]) =/= none end),
    ?assertMatch({fails_after_that, _}, there(Config, persistent_term, get, [?MODULE])).

comes_second() ->
    {Keeper, Monitor} = diagnose_node:keeper(?THERE, diagnose_probe, #{}, []),
    diagnose_node:why_ended(diagnose_probe, ended({Keeper, Monitor}), done).

%% A handler of logger that keeps why the first process failed.
log(#{msg := {_, [_, _, Reason | _]}}, _) -> keep_first(Reason);
log(#{msg := Other}, _) -> keep_first(Other).

keep_first(Reason) ->
    persistent_term:get(?MODULE, none) =:= none andalso persistent_term:put(?MODULE, Reason).

takes_lock() ->
    diagnose_probe = ets:new(diagnose_probe, [named_table]),
    receive after infinity -> ok end.

node_that_goes_down(Config) ->
    Process = there(Config, os, getpid, []),
    Asked = spawn_monitor(fun() -> exit(look(#{budget => 60_000}, Config)) end),
    ok = until(fun() -> left(Config) =/= [] end),
    _ = os:cmd("kill -KILL " ++ Process),
    ?assertEqual({error, nodedown}, ended(Asked)).

%% With the code go the processes that run it.
code_that_is_purged_meanwhile(Config) ->
    ok = there(Config, diagnose_sick, scanning, []),
    Asked = spawn_monitor(fun() -> exit(look(Config)) end),
    ok = until(fun() -> there(Config, ets, whereis, [diagnose_probe]) =/= undefined end),
    true = there(Config, code, delete, [diagnose_sick]),
    true = there(Config, code, purge, [diagnose_sick]),
    ?assertMatch({ok, #{findings := [], look := #{cost := #{ended := finished}}}}, ended(Asked)).

ended({Pid, Monitor}) -> receive {'DOWN', Monitor, process, Pid, Reason} -> Reason end.

%% As releases may have it.
other_version_is_refused(Config) ->
    [begin
         {ok, diagnose_probe, Other} = compile:forms([{attribute, 1, module, diagnose_probe} | Forms], [export_all]),
         carried(Other, Config),
         ?assertEqual({error, {other_version, Format}}, look(Config)),
         ?assert(there(Config, erlang, module_loaded, [diagnose_probe]))
     end || {Format, Forms} <- [{unknown, []}, {2, [{function, 2, format, 0, [{clause, 2, [], [], [{integer, 2, 2}]}]}]}]].

%% Without its attributes, as in many releases.
same_version_is_used(Config) ->
    {_, Own, _} = code:get_object_code(diagnose_probe),
    {ok, {_, Stripped}} = beam_lib:strip(Own),
    carried(Stripped, Config),
    {ok, #{look := #{cost := Cost}}} = look(Config),
    ?assertMatch(#{stays_loaded := false, purge_bytes := 0}, Cost),
    ?assert(there(Config, erlang, module_loaded, [diagnose_probe])).

carried(Beam, Config) ->
    {module, diagnose_probe} = there(Config, code, load_binary, [diagnose_probe, "of_a_release.beam", Beam]),
    _ = there(Config, code, purge, [diagnose_probe]),
    ok.

two_at_a_time(Config) ->
    ok = there(Config, diagnose_sick, deep, []),
    _ = peer:cast(proplists:get_value(here, Config), diagnose, node, [#{node => ?THERE, budget => 20_000}]),
    ok = until(fun() -> there(Config, ets, whereis, [diagnose_probe]) =/= undefined end),
    ?assertEqual({error, busy}, look(Config)).

%% No process is looked at after that, not even one by one.
first_look_ends_in_time(_Config) ->
    ?assertMatch(#{looked := 0, skipped := #{out_of_time := _}, top := Top} when map_size(Top) =:= 0,
                 diagnose_probe:first_look(#{}, low, erlang:monotonic_time(millisecond))).

%% The first look has half of the time that is left, so that there is a second one: here that is none.
first_look_leaves_time_to_look_closer(_Config) ->
    Keeper = self(),
    Options = #{deadline => erlang:monotonic_time(millisecond) + 1, budget => 1000, accounting => unknown, nif => false, collect => false},
    {Worker, Monitor} = spawn_monitor(fun() -> diagnose_probe:look(Keeper, Options) end),
    receive {'DOWN', Monitor, process, Worker, Reason} -> ?assertEqual(normal, Reason) end,
    Parts = received(Worker),
    ?assertMatch([#{looked := 0, skipped := #{out_of_time := _}}], [Processes || #{processes := Processes} <- Parts]),
    ?assertEqual([[], []], [Suspects || #{suspects := Suspects} <- Parts]).

received(Worker) -> receive {Worker, Part} -> [Part | received(Worker)] after 0 -> [] end.

node_that_stops_answering(Config) ->
    {ok, _} = look(Config),
    Process = there(Config, os, getpid, []),
    _ = os:cmd("kill -STOP " ++ Process),
    try ?assertEqual({error, silent}, look(#{budget => 1000}, Config))
    after os:cmd("kill -CONT " ++ Process)
    end.

memory_stays_small(Config) ->
    ok = there(Config, diagnose_sick, healthy, [100_000]),
    ok = there(Config, diagnose_sick, waits_behind, [1_000_000]),
    {ok, #{look := #{cost := #{bytes := Bytes, carried_bytes := Carried}, processes := #{looked := Looked}}} = Report} =
        look(#{budget => 10_000}, Config),
    ?assert(Looked > 100_000),
    ?assert(Bytes + Carried =< 20_000_000),
    ?assertEqual([{deep_mailbox, sick_waiting}], found(Report)).

%% Where the VM has no iterator, those with names are looked at (OTP 27 and older).
a_million_processes(Config) ->
    #{skipped := #{too_many := Skipped}} = a_million(Config),
    ?assert(Skipped > 999_000).

a_million_processes_on_the_newest(Config) ->
    #{looked := Looked} = a_million(Config),
    ?assert(Looked > 250_000).

a_million(Config) ->
    ok = there(Config, diagnose_sick, healthy, [1_000_000]),
    ok = there(Config, diagnose_sick, deep, []),
    {ok, #{look := #{cost := #{ended := finished, bytes := Bytes},
                     processes := #{looked := Looked, skipped := Skipped} = Processes}} = Report} =
        look(#{budget => 10_000}, Config),
    ?assert(Looked + lists:sum(maps:values(Skipped)) > 1_000_000),
    ?assert(Bytes =< 20_000_000),
    ?assertEqual([{deep_mailbox, sick_deep}], found(Report)),
    Processes.

ten_million_messages(Config) ->
    ok = there(Config, diagnose_sick, waits_behind, [10_000_000]),
    {ok, #{look := #{cost := #{ended := finished, bytes := Bytes}}, findings := Findings}} = look(#{budget => 10_000}, Config),
    ?assertMatch([#{kind := deep_mailbox, evidence := #{messages := Messages}}] when Messages >= 10_000_000, signs(Findings)),
    ?assert(Bytes =< 20_000_000).

%% With many processes it stays, and the next look carries none.
purging_is_counted(Config) ->
    {ok, #{look := #{cost := Few}}} = look(Config),
    ?assertMatch(#{stays_loaded := false, purge_bytes := Bytes} when Bytes > 0, Few),
    ?assertEqual([], left(Config)),
    ok = there(Config, diagnose_sick, healthy, [60_000]),
    [{ok, #{look := #{cost := First}}}, {ok, #{look := #{cost := Second}}}] = [look(#{budget => 2000}, Config) || _ <- [1, 2]],
    ?assertMatch(#{stays_loaded := true, purge_bytes := 0}, First),
    ?assertMatch(#{stays_loaded := false, purge_bytes := 0}, Second),
    ?assert(maps:get(carried_bytes, Second) + 10_000 < maps:get(carried_bytes, First)),
    ?assert(there(Config, erlang, module_loaded, [diagnose_probe])),
    ?assertNot(there(Config, erlang, check_old_code, [diagnose_probe])).

%% As a look leaves it that is killed after it deleted the module.
old_code_that_was_left_is_removed(Config) ->
    {ok, diagnose_probe, Other} = compile:forms([{attribute, 1, module, diagnose_probe}]),
    carried(Other, Config),
    true = there(Config, code, delete, [diagnose_probe]),
    {ok, _} = look(Config),
    ?assertEqual([], left(Config)).

%% The module is loaded anew from other bytes than its file has.
code_that_is_not_on_disk(Config) ->
    {ok, Forms} = epp:parse_file(source(), []),
    {ok, diagnose_sick, Beam} = compile:forms(Forms, [binary, debug_info, inline, {inline_size, 100}]),
    {module, _} = there(Config, code, load_binary, [diagnose_sick, "elsewhere.beam", Beam]),
    ok = there(Config, diagnose_sick, scanning, []),
    {ok, #{unknown := Unknown} = Report} = look(Config),
    ?assertEqual([{deep_mailbox, sick_scanning}], found(Report)),
    ?assertMatch([_], [Sentence || Sentence <- Unknown, binary:match(Sentence, ~"The receives of diagnose_sick") =/= nomatch]).

source() -> proplists:get_value(source, diagnose_sick:module_info(compile)).

collecting_one_process(Config) ->
    ok = there(Config, diagnose_sick, leaking, []),
    Pid = there(Config, erlang, whereis, [sick_leaking]),
    Text = there(Config, erlang, pid_to_list, [Pid]),
    ?assertMatch({ok, #{held := {_, _}, heap := {_, _}}}, here(Config, collect, [?THERE, Text])),
    ?assertEqual({error, no_process_identifier}, here(Config, collect, [?THERE, "none"])),
    true = there(Config, erlang, exit, [Pid, kill]),
    ?assertEqual({error, noproc}, here(Config, collect, [?THERE, Text])).

%% Compiling there is limited, and counted.
own_code_is_judged_within_limits(_Config) ->
    ok = diagnose_small_sick:scanning(),
    try
        {ok, #{look := #{cost := #{bytes := Bytes}}, findings := Findings, place := Place, unknown := Unknown}} =
            diagnose:node(#{budget => 20_000}),
        %% What runs the tests may be too large to be collected.
        ?assertEqual([], [Sentence || Sentence <- Unknown, binary:match(Sentence, ~"How much is alive of") =:= nomatch]),
        %% Each finding is looked at again by a call on this node.
        ?assertEqual([], [Text || #{proof := #{lab := false} = Proof} <- signs(Findings),
                                  Text <- [unicode:characters_to_list(diagnose_proof:text(Proof, Place))],
                                  string:find(Text, "diagnose") =/= Text orelse string:find(Text, atom_to_list(node())) =/= nomatch]),
        ?assertMatch([_], [1 || #{subject := #{process := #{name := sick_scanning}}, signs := Signs} <- Findings,
                                #{kind := scanning_receive} <- Signs]),
        ?assert(Bytes > 500_000 andalso Bytes < 17_000_000)
    after exit(whereis(sick_scanning), kill)
    end.

%% As a library of the node itself.
own_node(_Config) ->
    {ok, #{node := Node, look := #{cost := Cost}}} = diagnose:node(),
    ?assertEqual(node(), Node),
    ?assertMatch(#{ended := finished, carried_bytes := _}, Cost).
