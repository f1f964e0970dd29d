%% A flag is tried on processes of another node, and is afterwards as it was, whatever happened meanwhile. What is asserted are counts
%% and flags, never times.
-module(diagnose_try_SUITE).

-import(diagnose_two_nodes, [assert_removed/2, here/4, there/4, until/1]).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, groups/0, init_per_testcase/2, end_per_testcase/2]).
-export([each_behaviour_is_tried/1, on_the_newest/1, on_the_oldest/1, each_flag_is_put_back/1, own_node/1, processes_that_cannot_be_asked/1,
         values_that_are_refused/1, one_that_is_killed_beyond_a_size/1, one_that_is_traced/1, overloaded_node/1, two_at_a_time/1,
         caller_that_is_killed/1, process_that_dies/1, process_that_is_busy_at_first/1, process_that_is_busy_meanwhile/1,
         flag_that_is_set_meanwhile/1, statistics_of_others_stay/1, name_of_a_process/1, other_version_is_refused/1, events_add_up/1,
         settings_that_enlarge_need_room/1, turns_that_are_lost/1, probe_that_fails/1, handlers_that_leave/1, sensitive_process/1,
         turns_that_take_too_long/1]).
-export([tried/1]).

-define(THERE, 'tried@127.0.0.1').
-define(OF_THE_DISTRIBUTION, "/usr/bin/erl").
-define(PLANTED, diagnose_try_planted).
-define(PROBE, diagnose_try_probe).

all() ->
    [{group, Group} || {Group, _, _} <- groups()] ++
        [own_node, overloaded_node, events_add_up, settings_that_enlarge_need_room, turns_that_are_lost, probe_that_fails,
         sensitive_process, turns_that_take_too_long].

%% These mostly wait, so three run at a time; each has nodes of its own. Those that take long are together.
groups() ->
    Waiting =
        [processes_that_cannot_be_asked, caller_that_is_killed, handlers_that_leave,
         each_behaviour_is_tried, on_the_newest, on_the_oldest,
         process_that_is_busy_meanwhile, each_flag_is_put_back, two_at_a_time,
         process_that_is_busy_at_first, flag_that_is_set_meanwhile, process_that_dies,
         one_that_is_killed_beyond_a_size, statistics_of_others_stay, name_of_a_process,
         values_that_are_refused, one_that_is_traced, other_version_is_refused],
    [{list_to_atom("waiting_" ++ integer_to_list(Number)), [parallel], Three} || {Number, Three} <- lists:enumerate(threes(Waiting))].

threes([A, B, C | Cases]) -> [[A, B, C] | threes(Cases)];
threes([]) -> [].

erlang_of(on_the_newest) ->
    lists:last(lists:sort(filelib:wildcard(filename:join([os:getenv("ERTSLAB_TOP"), "build", "otp-*", "bin", "erl"]))));
erlang_of(on_the_oldest) -> ?OF_THE_DISTRIBUTION;
erlang_of(_) -> filename:join([code:root_dir(), "bin", "erl"]).

init_per_testcase(Case, Config) when Case =:= events_add_up; Case =:= settings_that_enlarge_need_room;
                                     Case =:= turns_that_are_lost; Case =:= probe_that_fails;
                                     Case =:= turns_that_take_too_long -> Config;
init_per_testcase(Case, Config) ->
    case filelib:is_regular(erlang_of(Case)) of
        true -> started(Case, Config);
        false -> {skip, "there is no " ++ erlang_of(Case)}
    end.

started(Case, Config) ->
    diagnose_two_nodes:started(erlang_of(Case), #{there => "tried@127.0.0.1", here => "trying@127.0.0.1", looks => [diagnose_try, ?MODULE],
                                                 planted => [diagnose_try_behaviour, diagnose_test_session, ?PLANTED]}, Case, Config).

end_per_testcase(_Case, Config) -> diagnose_two_nodes:stopped(Config).

%% Two pairs of short turns: what is looked at is what comes before, and after.
options(Pid, More) ->
    maps:merge(#{node => ?THERE, process => text(Pid), flag => fullsweep_after, value => 0, pairs => 2, for => 1200, answer => 5000,
                 oldest => filename:join([os:getenv("ERTSLAB_TOP"), "build", "erl", "oldest", "lib"])}, More).

%% As its own node prints it.
text(Pid) when is_pid(Pid) -> re:replace(pid_to_list(Pid), "^<\\d+", "<0", [{return, list}]);
text(Name) -> Name.

try_it(Config, Pid, More) -> here(Config, ?MODULE, tried, [options(Pid, More)]).

%% @doc On the node that tries.
tried(Options) -> diagnose_try:run(Options, fun(_) -> ok end).

begun(Config, Pid, More) ->
    Here = proplists:get_value(here, Config),
    Options = options(Pid, More),
    Self = self(),
    spawn(fun() -> Self ! {ended, try peer:call(Here, ?MODULE, tried, [Options], 60_000) catch _:_ -> cut_off end} end).

ended() -> receive {ended, Result} -> Result end.

plant(Kind, Config) -> there(Config, ?PLANTED, plant, [Kind]).

working(Kind, Config) ->
    Pid = plant(Kind, Config),
    _ = there(Config, ?PLANTED, fed, [Pid, Kind]),
    Pid.

flags(Pid, Config) -> there(Config, ?PLANTED, flags, [Pid]).

%% Nothing is left there.
assert_as_before(Flags, Pid, Config) ->
    ?assertEqual(Flags, flags(Pid, Config)),
    ?assertEqual({flags, []}, there(Config, erlang, trace_info, [Pid, flags])),
    assert_removed(?PROBE, Config).

each_behaviour_is_tried(Config) -> [each(Kind, Config) || Kind <- [server, hibernating, statem, event, of_others]].

on_the_newest(Config) -> each_behaviour_is_tried(Config).

on_the_oldest(Config) -> each_behaviour_is_tried(Config).

%% With 0 each collection sweeps fully, and without, most do not (but where it hibernates).
each(Kind, Config) ->
    Pid = working(Kind, Config),
    Flags = flags(Pid, Config),
    {ok, #{before := 65_535, tried := 0, turns := Turns}} = try_it(Config, Pid, #{}),
    ?assertEqual(4, length(Turns)),
    ?assertMatch([with, with, without, without], lists:sort([Arm || #{arm := Arm} <- Turns])),
    [?assertMatch({Kind, #{minor := 0, full := Full}} when Full > 0, {Kind, Turn}) || #{arm := with} = Turn <- Turns],
    [?assertMatch({Kind, #{minor := Minor}} when Minor > 0, {Kind, Turn}) || Kind =/= hibernating, #{arm := without} = Turn <- Turns],
    [?assertMatch({Kind, #{messages := Messages, running := Running, collecting := Collecting, wall := Wall, bytes := Bytes}}
                    when Messages > 0 andalso Collecting > 0 andalso Running >= Collecting andalso Wall >= Running andalso Bytes > 1000,
                  {Kind, Turn}) || Turn <- Turns],
    assert_as_before(Flags, Pid, Config),
    ?assertEqual({ok, no_statistics}, there(Config, sys, statistics, [Pid, get])).

each_flag_is_put_back(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    [begin
         {ok, #{before := Before, tried := Tried}} = try_it(Config, Pid, #{flag => Flag, value => Value}),
         ?assertEqual(Is, {Before, Tried}),
         assert_as_before(Flags, Pid, Config)
     end || {Flag, Value, Is} <- [{min_heap_size, 5000, {233, 6772}}, {min_bin_vheap_size, 50_000, {46_422, 75_113}},
                                  {message_queue_data, off_heap, {on_heap, off_heap}}, {fullsweep_after, 65_535, {65_535, 65_535}}]].

own_node(Config) ->
    _ = [there(Config, code, add_patha, [filename:dirname(code:which(Module))]) || Module <- [diagnose_try, ?MODULE]],
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    ?assertMatch({ok, #{turns := [_, _, _, _]}}, there(Config, ?MODULE, tried, [options(Pid, #{})])),
    ?assertEqual(Flags, flags(Pid, Config)),
    ?assert(there(Config, erlang, module_loaded, [?PROBE])).

%% A message of `sys' would end some of them.
processes_that_cannot_be_asked(Config) ->
    [begin
         Pid = plant(Kind, Config),
         Flags = flags(Pid, Config),
         ?assertEqual({Kind, {error, {process, no_otp_process}}}, {Kind, try_it(Config, Pid, #{})}),
         ?assertEqual({message_queue_len, 0}, there(Config, erlang, process_info, [Pid, message_queue_len])),
         assert_as_before(Flags, Pid, Config)
     end || Kind <- [loop, proc_lib_loop, caller]],
    [?assertEqual({error, {process, Why}}, try_it(Config, Text, #{}))
     || {Text, Why} <- [{"<0.x>", no_process}, {"<9999.1.0>", no_process}, {"<0.30000.0>", noproc}, {"nobody", noproc}, {"", noproc}]],
    Suspended = working(server, Config),
    Flags = flags(Suspended, Config),
    ok = there(Config, sys, suspend, [Suspended]),
    ?assertEqual({error, {process, suspended}}, try_it(Config, Suspended, #{})),
    ok = there(Config, sys, resume, [Suspended]),
    assert_as_before(Flags, Suspended, Config),
    [begin
         Idle = plant(Kind, Config),
         OfIdle = flags(Idle, Config),
         State = there(Config, sys, get_state, [Idle]),
         ?assertEqual({Kind, {error, {process, Why}}}, {Kind, try_it(Config, Idle, #{answer => 2000})}),
         ?assertEqual(State, there(Config, sys, get_state, [Idle])),
         assert_as_before(OfIdle, Idle, Config)
     end || {Kind, Why} <- [{supervisor, idle}, {hibernated, idle}, {statem, idle}, {event, idle}, {of_others, idle},
                            {handlerless, silent}]].

values_that_are_refused(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    [?assertEqual({error, {process, {bad_value, Value}}}, try_it(Config, Pid, #{flag => Flag, value => Value}))
     || {Flag, Value} <- [{fullsweep_after, -1}, {message_queue_data, aside}, {min_heap_size, 1 bsl 40}, {min_bin_vheap_size, 1 bsl 55},
                         {no_flag, 1}]],
    assert_as_before(Flags, Pid, Config).

one_that_is_killed_beyond_a_size(Config) ->
    Pid = working(limited, Config),
    Flags = flags(Pid, Config),
    [?assertEqual({error, {process, near_max_heap}}, try_it(Config, Pid, #{flag => min_heap_size, value => Words}))
     || Words <- [300_000, 600_000]],
    assert_as_before(Flags, Pid, Config),
    ?assertMatch({ok, _}, try_it(Config, Pid, #{})),
    assert_as_before(Flags, Pid, Config).

one_that_is_traced(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    Tracer = there(Config, ?PLANTED, traced, [Pid]),
    ?assertEqual({error, {process, traced}}, try_it(Config, Pid, #{})),
    ?assertEqual(Flags, flags(Pid, Config)),
    ?assertEqual({tracer, Tracer}, there(Config, erlang, trace_info, [Pid, tracer])),
    %% A second session that traces collections would end the VM.
    true = there(Config, erlang, exit, [Tracer, kill]),
    _ = there(Config, diagnose_test_session, traces, [Pid, [garbage_collection]]),
    ?assertEqual({error, {process, traced}}, try_it(Config, Pid, #{})),
    ?assertEqual(Flags, flags(Pid, Config)),
    assert_removed(?PROBE, Config).

overloaded_node(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    Spinning = there(Config, ?PLANTED, spinning, [20 * there(Config, erlang, system_info, [schedulers_online])]),
    Result = try_it(Config, Pid, #{}),
    true = there(Config, erlang, exit, [Spinning, kill]),
    ?assertEqual({error, {process, overloaded}}, Result),
    assert_as_before(Flags, Pid, Config).

two_at_a_time(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    _ = begun(Config, Pid, #{for => 4000}),
    until(fun() -> flags(Pid, Config) =/= Flags end),
    ?assertEqual({error, busy}, try_it(Config, Pid, #{})),
    ?assertMatch({ok, #{turns := [_, _, _, _]}}, ended()),
    assert_as_before(Flags, Pid, Config).

caller_that_is_killed(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    OsPid = here(Config, os, getpid, []),
    _ = begun(Config, Pid, #{for => 60_000}),
    until(fun() -> flags(Pid, Config) =/= Flags end),
    _ = os:cmd("kill -9 " ++ OsPid),
    cut_off = ended(),
    until(fun() -> flags(Pid, Config) =:= Flags end),
    assert_removed(?PROBE, Config),
    assert_as_before(Flags, Pid, Config),
    ?assertEqual({ok, no_statistics}, there(Config, sys, statistics, [Pid, get])).

process_that_dies(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    _ = begun(Config, Pid, #{for => 20_000}),
    until(fun() -> flags(Pid, Config) =/= Flags end),
    true = there(Config, erlang, exit, [Pid, kill]),
    ?assertEqual({error, {process, died}}, ended()),
    ?assertEqual({error, {process, noproc}}, try_it(Config, Pid, #{})),
    assert_removed(?PROBE, Config).

%% What it was asked it finds later, when nothing is loaded there any more.
process_that_is_busy_at_first(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    ok = there(Config, ?PLANTED, block, [Pid, 3000]),
    ?assertEqual({error, {process, silent}}, try_it(Config, Pid, #{answer => 300})),
    assert_removed(?PROBE, Config),
    ?assert(is_integer(there(Config, gen_server, call, [Pid, kept, 20_000]))),
    assert_as_before(Flags, Pid, Config).

%% Its flag is put back as soon as it goes on.
process_that_is_busy_meanwhile(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    _ = begun(Config, Pid, #{for => 4000, answer => 300}),
    until(fun() -> flags(Pid, Config) =/= Flags end),
    ok = there(Config, ?PLANTED, block, [Pid, 6000]),
    ?assertEqual({error, {waits, {process, silent}}}, ended()),
    ?assert(there(Config, erlang, module_loaded, [?PROBE])),
    until(fun() -> flags(Pid, Config) =:= Flags end),
    assert_removed(?PROBE, Config),
    assert_as_before(Flags, Pid, Config).

%% Without them nobody calls what puts the flag back, until one comes again.
handlers_that_leave(Config) ->
    Pid = working(event, Config),
    Flags = flags(Pid, Config),
    _ = begun(Config, Pid, #{for => 20_000, answer => 1000}),
    until(fun() -> flags(Pid, Config) =/= Flags end),
    _ = [there(Config, gen_event, delete_handler, [Pid, {?PLANTED, Id}, gone]) || Id <- [1, 2]],
    ?assertEqual({error, {waits, {process, silent}}}, ended()),
    ok = there(Config, gen_event, add_handler, [Pid, {?PLANTED, 1}, event]),
    until(fun() -> flags(Pid, Config) =:= Flags end),
    assert_removed(?PROBE, Config),
    assert_as_before(Flags, Pid, Config).

%% It stays as somebody else wanted it.
flag_that_is_set_meanwhile(Config) ->
    Pid = working(server, Config),
    Flags = flags(Pid, Config),
    _ = begun(Config, Pid, #{for => 8000}),
    until(fun() -> flags(Pid, Config) =/= Flags end),
    _ = there(Config, erlang, send, [Pid, {fullsweep_after, 9}]),
    ?assertEqual({error, {process, {set_meanwhile, 9}}}, ended()),
    assert_as_before(lists:keyreplace(fullsweep_after, 1, Flags, {fullsweep_after, 9}), Pid, Config).

statistics_of_others_stay(Config) ->
    Pid = working(server, Config),
    ok = there(Config, sys, statistics, [Pid, true]),
    {ok, #{turns := Turns}} = try_it(Config, Pid, #{}),
    ?assertEqual([], [Turn || #{messages := Messages} = Turn <- Turns, Messages < 1]),
    ?assertMatch({ok, [_ | _]}, there(Config, sys, statistics, [Pid, get])).

name_of_a_process(Config) ->
    Pid = working(server, Config),
    true = there(Config, ?PLANTED, named, [Pid, planted_server]),
    ?assertMatch({ok, _}, try_it(Config, "planted_server", #{})),
    ?assertEqual({error, {process, noproc}}, try_it(Config, "never_an_atom_there", #{})).

other_version_is_refused(Config) ->
    {ok, ?PROBE, Beam} = compile:forms([{attribute, 1, module, ?PROBE}, {attribute, 1, export, [{format, 0}]},
                                        {function, 1, format, 0, [{clause, 1, [], [], [{integer, 1, 0}]}]}]),
    {module, _} = there(Config, code, load_binary, [?PROBE, "", Beam]),
    ?assertEqual({error, {other_version, 0}}, try_it(Config, working(server, Config), #{})),
    ?assertEqual(0, there(Config, ?PROBE, format, [])).

%% Between two marks: scheduled out for 20, a collection of 10, 80 bytes at first and after it, 160 before it. Then nothing.
events_add_up(_) ->
    Native = fun(Ns) -> erlang:convert_time_unit(1000 * Ns, nanosecond, native) end,
    Trace = fun(Event, Info, At) -> {trace_ts, self(), Event, Info, Native(At)} end,
    Mark = fun(At, Reductions) -> {mark, make_ref(), 0, {Native(At), Reductions, 80}} end,
    Held = fun(Words) -> [{heap_block_size, Words - 2}, {old_heap_block_size, 1}, {bin_vheap_size, 1}, {stack_size, 5}] end,
    ?assertEqual([#{wall => 0, running => 0, collecting => 0, reductions => 0, minor => 0, full => 0, bytes => 80},
                  #{wall => 100_000, running => 80_000, collecting => 10_000, reductions => 50, minor => 0, full => 1, bytes => 104},
                  #{wall => 50_000, running => 50_000, collecting => 0, reductions => 7, minor => 0, full => 0, bytes => 80}],
                 ?PROBE:totals([Trace(out, {m, f, 0}, 0), Mark(0, 100), Trace(out, {m, f, 0}, 10), Trace(in, {m, f, 0}, 30),
                                Trace(gc_major_start, Held(20), 40), Trace(gc_major_end, Held(10), 50), Mark(100, 150), Mark(150, 157)])).

%% Beyond a million words it is killed. A collection takes four times the heap.
settings_that_enlarge_need_room(_) ->
    [?assertEqual({Flag, Value, Heap, IsNear}, {Flag, Value, Heap, ?PROBE:is_near(Flag, Value, Before, Heap, 1_000_000)})
     || {Flag, Value, Before, Heap, IsNear} <-
            [{fullsweep_after, 65_535, 0, 100_000, false}, {fullsweep_after, 65_535, 0, 300_000, true},
             {fullsweep_after, 0, 65_535, 300_000, false}, {fullsweep_after, 0, 65_535, 600_000, true},
             {min_heap_size, 100_000, 233, 10_000, false}, {min_heap_size, 300_000, 233, 10_000, true},
             {min_heap_size, 233, 300_000, 300_000, false}, {min_bin_vheap_size, 1_000_000, 46_422, 300_000, true},
             {message_queue_data, on_heap, off_heap, 100, true}, {message_queue_data, off_heap, on_heap, 300_000, false}]].

%% Of two turns that belong together one is missing.
turns_that_are_lost(_) ->
    Turn = #{arm => with, messages => 1, wall => 1, running => 1, collecting => 0, reductions => 1, minor => 0, full => 0, bytes => 8},
    Flags = #{before => 65_535, tried => 0},
    ?assertEqual({ok, Flags#{turns => [Turn, Turn#{arm := without}]}}, diagnose_try:told({ok, Flags}, [Turn, Turn#{arm := without}], 2)),
    ?assertEqual({error, lost}, diagnose_try:told({ok, Flags}, [Turn], 2)),
    ?assertEqual({error, {process, died}}, diagnose_try:told({error, died}, [Turn], 2)),
    ?assertMatch("the flag is as it was" ++ _, diagnose_try:format_error(lost)).

%% Of it the node tells no events, and all turns would look alike.
sensitive_process(Config) ->
    Pid = working(sensitive, Config),
    Flags = flags(Pid, Config),
    ?assertEqual({error, {process, sensitive}}, try_it(Config, Pid, #{})),
    ?assertMatch("the process has the flag sensitive" ++ _, diagnose_try:format_error({process, sensitive})),
    assert_as_before(Flags, Pid, Config).

%% The limit is that of all turns together. The flag is put back.
turns_that_take_too_long(_) ->
    Pid = ?PLANTED:plant(server),
    _ = ?PLANTED:fed(Pid, server),
    Flags = ?PLANTED:flags(Pid),
    Asked = #{process => pid_to_list(Pid), flag => fullsweep_after, value => 0, arms => lists:append(lists:duplicate(500, [with, without])),
              settle => 20, window => 100, answer => 5000, limit => 1000},
    {Keeper, Monitor} = spawn_monitor(?PROBE, keep, [self(), Asked, false]),
    ?assertEqual({error, too_long}, receive {diagnose_try, Keeper, {done, Result}} -> Result after 20_000 -> goes_on end),
    true = exit(Keeper, kill),
    receive {'DOWN', Monitor, _, _, _} -> ok end,
    ?assertEqual(Flags, ?PLANTED:flags(Pid)),
    true = exit(Pid, kill),
    ?assertMatch("the process is too slow" ++ _, diagnose_try:format_error({process, too_long})).

%% It ends with an answer, whatever happens to it.
probe_that_fails(_) ->
    {Keeper, Monitor} = spawn_monitor(?PROBE, keep, [self(), #{process => not_a_text}, false]),
    receive {'DOWN', Monitor, _, _, Reason} -> ?assertEqual(normal, Reason) end,
    ?assertMatch({error, {ended, _}}, receive {diagnose_try, Keeper, {done, Result}} -> Result end).
