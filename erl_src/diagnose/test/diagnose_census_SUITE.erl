%% A census of another node: it sees what was planted there, leaves all as it was whatever ended it, and traces nothing where somebody
%% else does. What is predicted from it is arithmetic.
-module(diagnose_census_SUITE).

-import(diagnose_two_nodes, [assert_removed/2, here/4, there/4, until/1]).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, init_per_testcase/2, end_per_testcase/2]).
-export([collecting_is_told_from_counting/1, on_the_newest/1, on_the_oldest/1, one_term_to_many_is_seen/1, a_flood_is_bounded/1,
         large_heaps_are_not_traced/1, own_node/1, accounts_of_others_stay/1, nobody_is_traced_where_somebody_is/1,
         nobody_is_traced_where_a_session_is/1, caller_that_is_killed/1, node_that_dies/1, two_at_a_time/1, other_version_is_refused/1, probe_that_fails/1,
         accounts_are_subtracted/1, events_add_up/1, parts_are_weighed/1, room_and_faults_are_predicted/1, what_is_unknown_is_no_gain/1,
         a_report_says_it/1]).
-export([taken/1]).

-define(THERE, 'counted@127.0.0.1').
-define(OF_THE_DISTRIBUTION, "/usr/bin/erl").
-define(PLANTED, diagnose_census_planted).
-define(PROBE, diagnose_census_probe).
-define(PURE, [probe_that_fails, accounts_are_subtracted, events_add_up, parts_are_weighed, room_and_faults_are_predicted,
               what_is_unknown_is_no_gain, a_report_says_it]).

all() ->
    [collecting_is_told_from_counting, on_the_newest, on_the_oldest, one_term_to_many_is_seen, a_flood_is_bounded,
     large_heaps_are_not_traced, own_node, accounts_of_others_stay, nobody_is_traced_where_somebody_is,
     nobody_is_traced_where_a_session_is, caller_that_is_killed, node_that_dies, two_at_a_time, other_version_is_refused | ?PURE].

erlang_of(on_the_newest) ->
    lists:last(lists:sort(filelib:wildcard(filename:join([os:getenv("ERTSLAB_TOP"), "build", "otp-*", "bin", "erl"]))));
erlang_of(on_the_oldest) -> ?OF_THE_DISTRIBUTION;
erlang_of(_) -> filename:join([code:root_dir(), "bin", "erl"]).

init_per_testcase(Case, Config) ->
    case lists:member(Case, ?PURE) of
        true -> Config;
        false ->
            case filelib:is_regular(erlang_of(Case)) of
                true -> started(Case, Config);
                false -> {skip, "there is no " ++ erlang_of(Case)}
            end
    end.

started(Case, Config) ->
    diagnose_two_nodes:started(erlang_of(Case), #{there => "counted@127.0.0.1", here => "counting@127.0.0.1",
                                                 looks => [diagnose_census, ?MODULE],
                                                 planted => [?PLANTED, diagnose_test_session]}, Case, Config).

end_per_testcase(_Case, Config) -> diagnose_two_nodes:stopped(Config).

plant(Kind, Config) -> there(Config, ?PLANTED, plant, [Kind]).

take(Config, Ms) -> here(Config, ?MODULE, taken, [options(Ms)]).

%% One of which this is true: where others use the machine, little may be seen in a short time.
take_one(Is, Config) -> take_one([1500, 3000, 6000, 15_000], Is, Config).

take_one([Ms | More], Is, Config) ->
    {ok, Census} = take(Config, Ms),
    case Is(Census) of
        true -> Census;
        false when More =/= [] -> take_one(More, Is, Config);
        false -> error({never_so, Census})
    end.

options(Ms) -> #{node => ?THERE, for => Ms, oldest => filename:join([os:getenv("ERTSLAB_TOP"), "build", "erl", "oldest", "lib"])}.

%% @doc On the node that asks.
taken(Options) -> diagnose_census:run(Options, fun(_) -> ok end).

begun(Config, Ms) ->
    Here = proplists:get_value(here, Config),
    Self = self(),
    spawn(fun() -> Self ! {ended, try peer:call(Here, ?MODULE, taken, [options(Ms)], 90_000) catch _:_ -> cut_off end} end).

ended() -> receive {ended, Result} -> Result end.

%% Nothing is left there.
assert_as_before(Config) ->
    assert_removed(?PROBE, Config),
    ?assertEqual(false, there(Config, ?PLANTED, is_on, [])),
    assert_untraced(Config).

assert_untraced(Config) -> ?assertEqual([], there(Config, ?PLANTED, traced_ones, [])).

share(#{} = Census) ->
    #{parts := #{collections := Share}} = diagnose_census_prediction:shares(Census),
    Share.

collecting_is_told_from_counting(Config) ->
    Counting = plant(counting, Config),
    Before = take_one(fun(Census) -> share(Census) < 0.1 end, Config),
    true = there(Config, erlang, exit, [Counting, kill]),
    _ = plant(collecting, Config),
    #{traced := #{collected := Collected}} = After =
        take_one(fun(Census) -> share(Census) > 5 * share(Before) andalso share(Census) > 0.3 andalso sweeps(Census) end, Config),
    %% It keeps all of its heap, and is not to be predicted to gain nothing.
    [#{found := Found, copied := Copied} | _] = [One || #{kind := full} = One <- Collected],
    ?assert(Copied > 0.9 * Found),
    #{collections := #{saves := {_, Most}}} = diagnose_census_prediction:of_census(After),
    ?assert(Most > 0.1),
    assert_as_before(Config).

sweeps(#{traced := #{collected := Collected}}) -> [Count || #{kind := full, count := Count} <- Collected, Count > 10] =/= [];
sweeps(#{}) -> false.

on_the_newest(Config) -> collecting_is_told_from_counting(Config).

on_the_oldest(Config) -> collecting_is_told_from_counting(Config).

one_term_to_many_is_seen(Config) ->
    _ = plant(fanning, Config),
    #{traced := #{sends := #{repeated := Repeated, classes := Classes}}} =
        take_one(fun(#{traced := #{sends := #{most_receivers := Most}}}) -> Most =:= 50; (_) -> false end, Config),
    ?assert(Repeated >= 49),
    %% {news, Number, [1 .. 20]}.
    ?assertMatch([#{count := Count, words := Words, ns := Ns}] when Words =:= 44 * Count andalso Ns > 0,
                 [Class || #{most := 100} = Class <- Classes]),
    assert_as_before(Config).

%% Ten slices of 500, and what was under way.
a_flood_is_bounded(Config) ->
    _ = [plant(flooding, Config) || _ <- lists:seq(1, 5)],
    Sent = fun(#{traced := #{sends := #{classes := Classes, beside := Beside}}}) -> Beside + lists:sum([C || #{count := C} <- Classes]);
              (_) -> 0
           end,
    Census = take_one(fun(One) -> Sent(One) > 1000 end, Config),
    ?assert(Sent(Census) =< 5000, Census),
    assert_as_before(Config).

large_heaps_are_not_traced(Config) ->
    _ = plant(large, Config),
    take_one(fun(#{traced := #{too_large := TooLarge}}) -> TooLarge =:= 1; (_) -> false end, Config),
    assert_as_before(Config).

own_node(Config) ->
    _ = [there(Config, code, add_patha, [filename:dirname(code:which(Module))]) || Module <- [diagnose_census, ?MODULE]],
    ?assertMatch({ok, #{traced := _}}, there(Config, ?MODULE, taken, [options(1000)])),
    ?assert(there(Config, erlang, module_loaded, [?PROBE])),
    ?assertEqual(false, there(Config, ?PLANTED, is_on, [])).

accounts_of_others_stay(Config) ->
    false = there(Config, erlang, system_flag, [microstate_accounting, true]),
    Before = emulating(Config),
    ?assertMatch({ok, _}, take(Config, 1000)),
    ?assertEqual(true, there(Config, ?PLANTED, is_on, [])),
    ?assert(emulating(Config) >= Before).

emulating(Config) ->
    lists:sum([Time || #{counters := #{emulator := Time}} <- there(Config, erlang, statistics, [microstate_accounting])]).

nobody_is_traced_where_somebody_is(Config) ->
    Pid = plant(counting, Config),
    Tracer = there(Config, ?PLANTED, traced, [Pid]),
    #{traced := Traced} = Census = take_one(fun(#{traced := Traced}) -> Traced =/= {no, out_of_time} end, Config),
    ?assertEqual({no, traced}, Traced),
    ?assertNot(diagnose_census:is_complete(Census)),
    ?assertEqual({tracer, Tracer}, there(Config, erlang, trace_info, [Pid, tracer])),
    ?assertEqual({flags, [procs]}, there(Config, erlang, trace_info, [Pid, flags])),
    ?assertEqual([Pid], there(Config, ?PLANTED, traced_ones, [])).

%% One that traces new processes counts, too.
nobody_is_traced_where_a_session_is(Config) ->
    Pid = plant(counting, Config),
    [begin
         Tracer = there(Config, diagnose_test_session, traces, [Which, [garbage_collection]]),
         #{traced := Traced} = take_one(fun(#{traced := Seen}) -> Seen =/= {no, out_of_time} end, Config),
         ?assertEqual({no, traced}, Traced),
         there(Config, erlang, exit, [Tracer, kill])
     end || Which <- [Pid, new]].

%% While the account is on, and while processes are traced.
caller_that_is_killed(Config) ->
    _ = plant(fanning, Config),
    OsPid = here(Config, os, getpid, []),
    _ = begun(Config, 60_000),
    until(fun() -> there(Config, ets, whereis, [?PROBE]) =/= undefined andalso there(Config, ?PLANTED, is_on, []) end),
    _ = os:cmd("kill -9 " ++ OsPid),
    cut_off = ended(),
    assert_as_before(Config),
    ok = traced_meanwhile(Config).

traced_meanwhile(Config) ->
    Libraries = [filename:dirname(code:which(Module)) || Module <- [diagnose_census, ?MODULE]],
    _ = [there(Config, code, add_patha, [Dir]) || Dir <- Libraries],
    Client = there(Config, erlang, spawn, [?MODULE, taken, [options(5000)]]),
    until(fun() -> there(Config, ?PLANTED, traced_ones, []) =/= [] end),
    true = there(Config, erlang, exit, [Client, kill]),
    until(fun() -> there(Config, ets, whereis, [?PROBE]) =:= undefined end),
    ?assertEqual(false, there(Config, ?PLANTED, is_on, [])),
    assert_untraced(Config).

node_that_dies(Config) ->
    _ = begun(Config, 30_000),
    until(fun() -> there(Config, ets, whereis, [?PROBE]) =/= undefined end),
    ok = peer:stop(proplists:get_value(there, Config)),
    ?assertEqual({error, nodedown}, ended()),
    ?assertEqual("the node does not answer any more", diagnose_census:format_error(nodedown)).

two_at_a_time(Config) ->
    _ = begun(Config, 4000),
    until(fun() -> there(Config, ets, whereis, [?PROBE]) =/= undefined end),
    ?assertEqual({error, busy}, take(Config, 1000)),
    ?assertMatch({ok, _}, ended()),
    assert_as_before(Config).

other_version_is_refused(Config) ->
    {ok, ?PROBE, Beam} = compile:forms([{attribute, 1, module, ?PROBE}, {attribute, 1, export, [{format, 0}]},
                                        {function, 1, format, 0, [{clause, 1, [], [], [{integer, 1, 0}]}]}]),
    {module, _} = there(Config, code, load_binary, [?PROBE, "", Beam]),
    ?assertEqual({error, {other_version, 0}}, take(Config, 1000)).

%% It ends with an answer, whatever happens to it.
probe_that_fails(_) ->
    {Keeper, Monitor} = spawn_monitor(?PROBE, keep, [self(), #{ms => no_number}, false]),
    receive {'DOWN', Monitor, _, _, Reason} -> ?assertEqual(normal, Reason) end,
    {error, {ended, _} = Ended} = receive {diagnose_census, Keeper, Result} -> Result end,
    ?assertNotMatch({match, _}, re:run(diagnose_census:format_error({census, Ended}), "erl_erts_errors|diagnose_census_probe")),
    ?assertEqual("the census ended there (the node is at its limit of processes)",
                 diagnose_census:format_error({census, {ended, {system_limit, [{erlang, spawn_opt, [], []}]}}})).

accounts_are_subtracted(_) ->
    Thread = fun(Emulator, Gc) -> #{type => scheduler, counters => #{emulator => Emulator, gc => Gc}} end,
    Ns = fun(Time) -> erlang:convert_time_unit(Time, perf_counter, nanosecond) end,
    Of = fun(Before, After) -> ?PROBE:accounted(Before, After) end,
    ?assertEqual(#{emulator => Ns(70), gc => Ns(5)}, Of([Thread(10, 1), Thread(20, 2)], [Thread(50, 3), Thread(50, 5)])),
    ?assertEqual(disturbed, Of([Thread(10, 1)], [Thread(10, 1)])),
    ?assertEqual(disturbed, Of([Thread(10, 1)], [Thread(20, 0)])).

%% Two messages of one sender that are alike, one to a port, and four collections, of which one was refused.
events_add_up(_) ->
    Self = self(),
    Other = spawn(fun() -> ok end),
    Native = fun(Ns) -> erlang:convert_time_unit(1000 * Ns, nanosecond, native) end,
    Heaps = fun(Young, Old) -> [{heap_size, Young}, {old_heap_size, Old}, {heap_block_size, 120}, {stack_size, 2}, {mbuf_size, 5}] end,
    Gc = fun(Kind, Info, At) -> {list_to_atom("gc_" ++ Kind), {Self, Info, Native(At)}} end,
    #{sends := Sends, collected := Collected, filled := Filled} =
        ?PROBE:totals([{send, {Self, {a, b, c}, Other, 0}}, {send, {Self, {a, b, c}, Self, 0}}, {send, {Self, {a, b, c}, Self, 0}},
                       {send, {Self, a, init, 0}}, {send, {Other, b, {init, node()}, 0}}, {send, {Self, {a, b}, {name, 'x@y'}, 0}},
                       Gc("minor_end", Heaps(1, 1), 1),
                       Gc("minor_start", Heaps(100, 0), 10), Gc("minor_end", Heaps(20, 0), 12),
                       Gc("minor_start", Heaps(100, 0), 20), Gc("minor_end", Heaps(20, 10), 23),
                       Gc("minor_start", Heaps(100, 10), 30), Gc("minor_end", Heaps(100, 10), 31),
                       Gc("major_start", Heaps(100, 10), 31), Gc("major_end", Heaps(60, 0), 36)]),
    ?assertMatch(#{beside := 1, repeated := 1, repeated_words := 4, most_receivers := 2, ms := 1000, slices := 6.0}, Sends),
    ?assertMatch([#{most := 0, count := 2, words := 0}, #{most := 10, count := 3, words := 12, ns := Ns}, #{count := 0, ns := unknown},
                  #{count := 0}, #{most := more, count := 0}] when is_float(Ns), maps:get(classes, Sends)),
    Sorted = lists:sort([{Kind, Count, Ns, Found, Copied}
                         || #{kind := Kind, size := small, count := Count, ns := Ns, found := Found, copied := Copied} <- Collected]),
    ?assertEqual([{full, 1, 5000, 110, 60}, {minor, 1, 2000, 100, 20}, {promoting, 1, 3000, 100, 30}], Sorted),
    %% By what the collection before left: the first has none before it, and each had 85 words more, of which five were beside the heap.
    ?assertEqual([{full, 5000, 22.0, 98.0, 170.0}, {promoting, 3000, 22.0, 98.0, 170.0}],
                 lists:sort([{Kind, Ns, Live, Room, Rate}
                             || #{kind := Kind, ns := Ns, live := Live, room := Room, rate := Rate} <- Filled])).

%% A core works for a second: a fifth of it collects, and as much again waits awake.
census(Traced) ->
    #{release => list_to_integer(erlang:system_info(otp_release)), processes => 40, looked => 40, began => 0,
      accounts => #{ms => 1000, schedulers => 2,
                    faults => unknown,
                    states => #{emulator => 700_000_000, gc => 200_000_000, port => 50_000_000, check_io => 30_000_000, aux => 20_000_000,
                                other => 1_000_000_000, sleep => 9_000_000_000}},
      traced => Traced}.

%% All collections were seen, half of them minor; half of the work was traced, and took a twentieth to send.
traced() ->
    #{processes => 40, busiest => 20, refused => 0, too_large => 1, work => 0.5, ms => 1000, slices => 250.0,
      sends => #{ms => 1000, slices => 2032.0, beside => 5, repeated => 100, repeated_words => 1000, most_receivers => 50,
                 classes => [#{most => 0, count => 10, words => 0, ns => unknown}, #{most => 10, count => 0, words => 0, ns => unknown},
                             #{most => 1000, count => 1, words => 150, ns => unknown},
                             #{most => 100, count => 1000, words => 20_000, ns => 50_000.0}]},
      filled => [],
      collected => [#{kind => minor, size => small, count => 90, ns => 100_000_000, found => 100_000, copied => 20_000},
                    #{kind => full, size => small, count => 10, ns => 100_000_000, found => 100_000, copied => 60_000}]}.

parts_are_weighed(_) ->
    Close = fun(A, B) -> ?assert(abs(A - B) < 1.0e-9, {A, B}) end,
    Both = fun({A, B}, {C, D}) -> Close(A, C), Close(B, D) end,
    #{cores := Cores, untold := Untold, parts := Parts} = diagnose_census_prediction:shares(census(traced())),
    [Close(Is, Be) || {Is, Be} <- [{Cores, 1.0}, {Untold, 1.0}, {maps:get(collections, Parts), 0.2}, {maps:get(code, Parts), 0.7},
                                   {lists:sum(maps:values(Parts)), 1.0}]],
    #{collections := Collections, sends := Sends, to := To, rest := Rest} = diagnose_census_prediction:of_census(census(traced())),
    Both({0.1, 0.2}, maps:get(share, Collections)),
    %% Halves of minor collections and of full sweeps.
    Both({(0.51 + 0.55) / 2, (1.049 + 1.012) / 2}, maps:get(ratio, Collections)),
    Both({-0.2 * 0.0305, 0.2 * 0.47}, maps:get(saves, Collections)),
    %% Twice as much in the mean slice, and twice as much for all reductions.
    Both({0.025, 0.2}, maps:get(share, Sends)),
    Both({-0.2 * 0.029, 0.2 * 0.334}, maps:get(saves, Sends)),
    Both({1 - 0.2 * 0.47 - 0.2 * 0.334, 1 + 0.2 * 0.0305 + 0.2 * 0.029}, To),
    Both({0.6, 0.875}, Rest).

%% In half of the time heaps were collected that would have eight times the room. The other half was collected for binaries, or has a
%% limit. A fault has its price.
room_and_faults_are_predicted(_) ->
    Filled = #{kind => minor, size => small, ns => 100_000_000, live => 1000.0, room => 999.0, rate => 1.024e6},
    Of = fun(Rows, Faults) ->
                 #{accounts := Accounts} = Census = census((traced())#{filled := Rows}),
                 diagnose_census_prediction:of_census(Census#{accounts := Accounts#{faults := Faults}})
         end,
    Close = fun(A, B) -> ?assert(abs(A - B) < 1.0e-4, {A, B}) end,
    #{made := Made, collections := #{ratio := {Best, Worst}, mean_ratio := Mean}, to := {Low, High}, faults := unknown} =
        Of([Filled, Filled#{live := unknown, room := unknown}], unknown),
    Close(Made, (1 + 1000 / 8001) / 2),
    Close(Best, Made * (0.51 + 0.55) / 2),
    Close(Mean, math:sqrt(Made) * (0.732 + 0.772) / 2),
    Close(Worst, (1.049 + 1.012) / 2),
    %% A slow process keeps its heap.
    #{made := Same} = Of([Filled#{rate := 1.0e3}], unknown),
    Close(Same, 1.0),
    %% At best 3,066 ns for each fault and thread, of which 7 % are left; at worst nothing.
    #{to := {Lower, Alike}} = Of([Filled, Filled#{live := unknown, room := unknown}], 10_000),
    Close(High, Alike),
    ?assert(abs(Low - Lower - 10_000 * 3.066e-6 * (1 - 0.0694)) < 1.0e-3, {Low, Lower}).

%% Nothing was traced: collections may be of any kind, and sends have no part.
what_is_unknown_is_no_gain(_) ->
    #{collections := #{ratio := {Best, Worst}}, sends := Sends} = diagnose_census_prediction:of_census(census({no, traced})),
    %% At best they are as those of the program that makes fewest.
    Fewest = 2869.2 / 17_023.6,
    ?assertEqual({Fewest * 0.51, 1.206, unknown}, {Best, Worst, Sends}),
    #{to := Nothing} = diagnose_census_prediction:of_census(
                         maps:update_with(accounts, fun(Accounts) -> Accounts#{states := #{sleep => 5, emulator => 0}} end,
                                          census({no, nobody}))),
    ?assertEqual({1.0, 1.0}, Nothing),
    %% Where none of the collections were those of traced processes.
    #{collections := #{ratio := Ratio}} = diagnose_census_prediction:of_census(census((traced())#{collected := []})),
    ?assertEqual({Fewest * 0.51, 1.206}, Ratio).

a_report_says_it(_) ->
    Report = unicode:characters_to_list(diagnose_census_text:report('a@b', census(traced()))),
    %% ertslab_proofs_SUITE holds these ratios against the kept results; here they only have to be told.
    Programs = [unicode:characters_to_list(io_lib:format("~ts ~.3f", [Name, Ratio]))
                || #{name := Name, ratio := Ratio} <- diagnose_census_prediction:programs()],
    [?assertNotEqual(nomatch, string:find(Report, Part), Part)
     || Part <- ["1.00 cores of 2 schedulers", "50.0 us", "100 to 250", "1,016 to 2,032", "unknown", "take 100.0 % more",
                 "they did 50.0 % of the reductions", "1 with large heaps were not",
                 "each to up to 50 receivers",
                 "collections  10.0 to 20.0 % of the time; tuned needs 0.530 to 1.030 of that: saves -0.6 to 9.4 %",
                 "Not covered:", "maps and calls by apply" | Programs]],
    ?assert(length(string:split(Report, "\n", all)) < 50),
    [?assert(string:length(Line) =< 140, Line) || Line <- string:split(Report, "\n", all)],
    #{sends := Sends} = traced(),
    Quick = (traced())#{sends := Sends#{classes := [#{most => 10, count => 3, words => 9, ns => 154.3}]}},
    ?assertNotEqual(nomatch, string:find(diagnose_census_text:report('a@b', census(Quick)), "154 ns")),
    ?assertNotEqual(nomatch, string:find(diagnose_census_text:report('a@b', census({no, traced})),
                                         "No process was traced: somebody else traces processes of this node.")).
