%% What a run notes beside its values: the machine's counters, its speed, and the rounds that are asked for one by one.
-module(ertslab_readings_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, counters_of_this_machine_are_read/1, what_counts_is_a_difference/1, what_cannot_be_read_is_null/1, lines_and_fields/1,
         speed_is_noted_in_the_order_of_time/1, rounds_come_one_by_one/1, an_error_in_a_round_is_the_calls/1,
         an_error_in_the_setup_is_the_calls/1, other_code_has_another_fingerprint/1]).

all() ->
    [counters_of_this_machine_are_read, what_counts_is_a_difference, what_cannot_be_read_is_null, lines_and_fields,
     speed_is_noted_in_the_order_of_time, rounds_come_one_by_one, an_error_in_a_round_is_the_calls, an_error_in_the_setup_is_the_calls,
     other_code_has_another_fingerprint].

counters_of_this_machine_are_read(_) ->
    Before = ertslab_readings:readings(),
    %% Memory that is new and touched makes page faults.
    {_, Monitor} = spawn_monitor(fun() -> exit(byte_size(binary:copy(~"x", 20_000_000))) end),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    During = ertslab_readings:during(Before, ertslab_readings:readings()),
    ?assertEqual([cpu_pressure, frequency_khz, involuntary_switches, load, major_faults, minor_faults, others_ms, steal_ms, swapped_in,
                  voluntary_switches], lists:sort(maps:keys(During))),
    [?assert(is_integer(Count) andalso Count >= 0, Key)
     || Key := Count <- maps:with([minor_faults, major_faults, voluntary_switches, others_ms], During)],
    ?assert(maps:get(minor_faults, During) > 0),
    ?assert(is_float(maps:get(load, During))).

what_counts_is_a_difference(_) ->
    ?assertMatch(#{steal_ms := 5, others_ms := 70, minor_faults := 2, load := 0.5},
                 ertslab_readings:during(readings(#{}), readings(#{busy_ms => 200, own_ms => 40, steal_ms => 15, minor_faults => 9,
                                                                   load => 0.5}))),
    %% The ticks of both are rounded.
    ?assertMatch(#{others_ms := 0}, ertslab_readings:during(readings(#{}), readings(#{own_ms => 20}))).

what_cannot_be_read_is_null(_) ->
    ?assertMatch(#{others_ms := null, swapped_in := null, steal_ms := 0},
                 ertslab_readings:during(readings(#{busy_ms => null}), readings(#{swapped_in => null}))),
    ?assertEqual([null, null, null],
                 [ertslab_readings:line("/nowhere"), ertslab_readings:field("/nowhere", ~"a"), ertslab_readings:read("/nowhere")]),
    ?assertEqual(null, ertslab_readings:kib(null)).

readings(Changes) ->
    maps:merge(#{busy_ms => 100, own_ms => 10, steal_ms => 10, swapped_in => 0, minor_faults => 7, major_faults => 0,
                 voluntary_switches => 0,
                 involuntary_switches => 0, load => 0.1, cpu_pressure => null, frequency_khz => null}, Changes).

lines_and_fields(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "status"),
    ok = file:write_file(File, "Name:\tbeam\nVmRSS:    12 kB\n"),
    ?assertEqual([~"beam", ~"12 kB", null], [ertslab_readings:field(File, Name) || Name <- [~"Name", ~"VmRSS", ~"Vm"]]),
    ?assertEqual(12, ertslab_readings:kib(ertslab_readings:field(File, ~"VmRSS"))),
    ok = file:write_file(File, "one line\n"),
    ?assertEqual(~"one line", ertslab_readings:line(File)).

%% Not more often than is due.
speed_is_noted_in_the_order_of_time(_) ->
    Log = ertslab_speed_log:new(),
    ?assertEqual([], ertslab_speed_log:noted(Log)),
    Points = noted(Log, 3),
    ?assertEqual(Points, lists:sort(Points)),
    [?assert(is_integer(At) andalso is_integer(Ns) andalso Ns > 0) || {At, Ns} <- Points].

noted(Log, Least) ->
    ok = ertslab_speed_log:note(Log),
    ok = ertslab_speed_log:note(Log),
    case ertslab_speed_log:noted(Log) of
        Points when length(Points) >= Least -> Points;
        _ -> noted(Log, Least)
    end.

rounds_come_one_by_one(_) ->
    ok = ertslab_turns:start(exp_toy, [{0, #{behaviour => 0}}]),
    [?assertEqual(ok, ertslab_turns:turn()) || _ <- [1, 2]],
    #{samples := [{0, work, Values}], host := Host, measured_ms := Ms, speed := Speed, facts := Facts} = ertslab_turns:finish(),
    ?assertEqual(6, length(Values)),
    ?assertMatch(#{others_ms := null, load := _}, Host),
    ?assert(is_integer(Ms) andalso Ms >= 0),
    ?assertMatch(#{schedulers := _, memory := _}, Facts),
    ?assert(is_list(Speed)),
    %% It is over.
    ?assertEqual(undefined, whereis(ertslab_turns)).

%% The warm-up is a round, too.
an_error_in_a_round_is_the_calls(_) ->
    ?assertMatch({'EXIT', {{toy_raises, _}, {gen_server, call, _}}}, catch ertslab_turns:start(exp_toy, [{0, #{behaviour => 1}}])),
    ?assertEqual(undefined, whereis(ertslab_turns)).

an_error_in_the_setup_is_the_calls(_) ->
    ?assertMatch({'EXIT', {{function_clause, _}, {gen_server, call, _}}}, catch ertslab_turns:start(exp_toy, [{0, #{}}])),
    ?assertEqual(undefined, whereis(ertslab_turns)).

other_code_has_another_fingerprint(_) ->
    ?assertEqual(ertslab_fingerprint:of_code(exp_toy), ertslab_fingerprint:of_code(exp_toy)),
    ?assertNotEqual(ertslab_fingerprint:of_code(exp_toy), ertslab_fingerprint:of_code(exp_clock)).
