%% Why a collection happened: by made-up sizes, and by those that this VM tells of collections whose reason is known.
-module(diagnose_reasons_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, reason_follows_from_the_sizes/1, full_heap/1, full_virtual_heap/1, full_old_heap/1, full_old_virtual_heap/1,
         full_by_count/1, always_full/1, asked_for/1, minor_asked_for/1, attempt_is_no_collection/1,
         large_heap_is_not_asked_for/1, what_was_freed/1, needless_sweeps_have_their_setting/1, sweeps_asked_for_have_none/1,
         promoted_garbage_has_its_setting/1, binaries_that_live_have_theirs/1, births_have_theirs/1,
         little_is_worth_no_setting/1, reasons_are_told/1, little_that_takes_long_was_interrupted/1,
         what_tracing_takes_is_left_out/1]).

all() ->
    [reason_follows_from_the_sizes, full_heap, full_virtual_heap, full_old_heap, full_old_virtual_heap, full_by_count, always_full,
     asked_for, minor_asked_for, attempt_is_no_collection, large_heap_is_not_asked_for, what_was_freed,
     needless_sweeps_have_their_setting, sweeps_asked_for_have_none, promoted_garbage_has_its_setting,
     binaries_that_live_have_theirs, births_have_theirs, little_is_worth_no_setting, reasons_are_told,
     little_that_takes_long_was_interrupted, what_tracing_takes_is_left_out].

info(More) ->
    maps:merge(#{wordsize => 0, heap_size => 100, heap_block_size => 1000, stack_size => 10, recent_size => 50, mbuf_size => 0,
                 old_heap_size => 100, old_heap_block_size => 1000, bin_vheap_size => 0, bin_vheap_block_size => 32_000,
                 bin_old_vheap_size => 0, bin_old_vheap_block_size => 32_000}, More).

reason_follows_from_the_sizes(_) ->
    Flags = #{tried => false, minors => 3, fullsweep_after => 65_535},
    [?assertEqual({Sizes, Kind, Expected}, {Sizes, Kind, diagnose_probe:reason(info(Sizes), Kind, maps:merge(Flags, More))})
     || {Sizes, Kind, More, Expected} <-
            [{#{}, minor, #{}, asked},
             {#{wordsize => 900}, minor, #{}, heap},
             {#{wordsize => 4, heap_size => 985}, minor, #{}, heap},
             {#{mbuf_size => 891}, minor, #{}, heap},
             {#{heap_size => 960}, minor, #{}, heap},
             {#{mbuf_size => 890}, minor, #{}, asked},
             {#{bin_vheap_size => 32_001}, minor, #{}, virtual_heap},
             {#{wordsize => 6, bin_vheap_size => 31_000}, minor, #{}, virtual_heap},
             {#{heap_size => 200_000, heap_block_size => 200_100}, minor, #{}, heap},
             {#{heap_size => 200_000, heap_block_size => 400_000}, minor, #{}, asked},
             {#{}, full, #{}, asked},
             {#{wordsize => 900}, full, #{}, asked},
             {#{wordsize => 900}, full, #{minors => 65_535}, count},
             {#{wordsize => 900}, full, #{minors => 0, fullsweep_after => 0}, count},
             {#{}, full, #{minors => 0, fullsweep_after => 0}, asked},
             {#{wordsize => 900}, full, #{minors => unknown, fullsweep_after => 5}, count},
             {#{wordsize => 900}, full, #{minors => unknown}, asked},
             {#{wordsize => 900}, full, #{minors => unknown, fullsweep_after => unknown}, asked},
             {#{wordsize => 900, recent_size => 950}, full, #{tried => true}, old_heap},
             {#{wordsize => 900, bin_old_vheap_size => 32_000}, full, #{tried => true}, old_virtual_heap},
             {#{wordsize => 900, old_heap_size => 0, old_heap_block_size => 0}, full, #{tried => true}, heap},
             {#{bin_vheap_size => 32_001, old_heap_block_size => 0}, full, #{tried => true}, virtual_heap}]].

%% What was traced of a process that does this a while, by reason.
reasons(Options, Work) -> maps:from_list([{{Kind, Reason}, Why} || #{kind := Kind, reason := Reason} = Why <- traced(Options, Work)]).

traced(Options, Work) ->
    {Pid, Monitor} = spawn_opt(fun() -> receive go -> Work(), exit(done) end end, [monitor | Options]),
    {_, Settings} = process_info(Pid, garbage_collection),
    1 = erlang:trace(Pid, true, [garbage_collection, monotonic_timestamp]),
    Pid ! go,
    receive {'DOWN', Monitor, process, Pid, done} -> ok end,
    Delivered = erlang:trace_delivered(Pid),
    receive {trace_delivered, Pid, Delivered} -> ok end,
    diagnose_probe:reasons(maps:from_list(Settings), events(Pid)).

events(Pid) ->
    receive {trace_ts, Pid, Event, Info, At} -> [{Event, At, Info} | events(Pid)]
    after 0 -> []
    end.

counts(Reasons) -> maps:map(fun(_, #{count := Count}) -> Count end, Reasons).

times(0, _) -> ok;
times(N, Work) -> _ = Work(N), times(N - 1, Work).

full_heap(_) ->
    Reasons = reasons([], fun() -> times(20_000, fun(N) -> lists:seq(1, 1 + N rem 20) end) end),
    ?assertMatch(#{{minor, heap} := Count} when Count >= 50, counts(Reasons)),
    ?assertEqual([], [Why || {_, Why} <- maps:keys(Reasons), Why =/= heap, Why =/= old_heap]).

%% On a heap with room for all, and binaries that are forgotten.
full_virtual_heap(_) ->
    Reasons = reasons([{min_heap_size, 100_000}], fun() -> times(500, fun(N) -> binary:copy(<<N:32>>, 4000) end) end),
    ?assertEqual([virtual_heap], lists:usort([Reason || {_, Reason} <- maps:keys(Reasons)])),
    #{{minor, virtual_heap} := #{count := Count, held := Held, held_left := Left}} = Reasons,
    ?assert(Count >= 5),
    ?assert(Left * 4 < Held).

%% All lives, so that the old generation is full again and again.
full_old_heap(_) ->
    Reasons = reasons([], fun() -> lists:foldl(fun(N, All) -> [{N} | All] end, [], lists:seq(1, 100_000)) end),
    #{{full, old_heap} := #{count := Count, freed := Freed, old := Old}} = Reasons,
    ?assert(Count >= 3),
    ?assert(Freed * 4 < Old),
    ?assertEqual([], [Why || {_, Why} <- maps:keys(Reasons), Why =/= heap, Why =/= old_heap]).

full_old_virtual_heap(_) ->
    Reasons = reasons([{min_heap_size, 100_000}],
                      fun() -> lists:foldl(fun(N, All) -> [binary:copy(<<N:32>>, 4000) | All] end, [], lists:seq(1, 2000)) end),
    #{{full, old_virtual_heap} := #{count := Count, held := Held, old_held := OldHeld, held_left := Left}} = Reasons,
    ?assert(Count >= 2),
    ?assert(Left * 2 > Held + OldHeld),
    ?assertEqual([], [Why || {_, Why} <- maps:keys(Reasons), Why =/= virtual_heap, Why =/= old_virtual_heap]).

full_by_count(_) ->
    Counts = counts(reasons([{fullsweep_after, 2}], fun() -> times(20_000, fun(N) -> lists:seq(1, 1 + N rem 20) end) end)),
    #{{full, count} := Full, {minor, heap} := Minor} = Counts,
    ?assert(abs(Minor - 2 * Full) =< 4),
    ?assertEqual([], [Why || {_, Why} <- maps:keys(Counts), Why =/= heap, Why =/= count]).

always_full(_) ->
    Work = fun() -> times(20_000, fun(N) -> lists:seq(1, 1 + N rem 20) end) end,
    ?assertMatch([{full, count}], maps:keys(reasons([{fullsweep_after, 0}], Work)) -- [{full, heap}]).

asked_for(_) ->
    [?assertMatch({#{{full, asked} := 50}, After}, {counts(reasons([{min_heap_size, 100_000}, {fullsweep_after, After}],
                                                                    fun() -> times(50, fun(_) -> garbage_collect() end) end)),
                                                                    After}) || After <- [0, 65_535]].

minor_asked_for(_) ->
    Work = fun() -> times(50, fun(N) -> put(kept, lists:seq(1, N)), garbage_collect(self(), [{type, minor}]) end) end,
    ?assertMatch(#{{minor, asked} := Count} when Count >= 40, counts(reasons([{min_heap_size, 100_000}], Work))).

%% The VM says that a minor one begins and ends, and moves nothing.
attempt_is_no_collection(_) ->
    Start = maps:to_list(info(#{wordsize => 900, recent_size => 950})),
    Events = [{gc_minor_start, 1, Start}, {gc_minor_end, 2, maps:to_list(info(#{recent_size => 950}))}, {gc_major_start, 3, Start},
              {gc_major_end, 5, maps:to_list(info(#{heap_size => 70, recent_size => 70, old_heap_size => 0, old_heap_block_size => 0}))}],
    Size = erlang:system_info(wordsize),
    ?assertMatch([#{kind := full, reason := old_heap, count := 1, young := Young, old := Young, left := Left, freed := Freed}]
                   when Young =:= 100 * Size andalso Left =:= 70 * Size andalso Freed =:= 30 * Size,
                 diagnose_probe:reasons(#{fullsweep_after => 65_535}, Events)).

%% A dirty scheduler collects it, a while after its heap was full.
large_heap_is_not_asked_for(_) ->
    Work = fun() -> times(30, fun(_) -> lists:foldl(fun(N, All) -> [{N} | All] end, [], lists:seq(1, 100_000)) end) end,
    Counts = counts(reasons([], Work)),
    ?assertEqual([], [Why || {_, Why} <- maps:keys(Counts), Why =:= asked orelse Why =:= count]),
    ?assert(maps:get({minor, heap}, Counts) >= 5).

%% Much is promoted, and dies.
what_was_freed(_) ->
    Work = fun() ->
                   Kept = lists:foldl(fun(N, All) -> [{N} | All] end, [], lists:seq(1, 50_000)),
                   garbage_collect(self(), [{type, minor}]),
                   garbage_collect(self(), [{type, minor}]),
                   50_000 = length(Kept),
                   garbage_collect()
           end,
    #{{full, asked} := #{old := Old, freed := Freed}} = reasons([{min_heap_size, 1_000_000}], Work),
    ?assert(Old >= 50_000 * 4 * 8),
    ?assert(10 * Freed >= 9 * Old).

why(More) ->
    maps:merge(#{kind => full, reason => count, count => 10, us => 200_000, young => 0, old => 0, aged => 0, left => 0, freed => 0,
                 held => 0, old_held => 0, held_left => 0, held_freed => 0, virtual => 0}, More).

signs(Why) -> signs(Why, 0).

signs(Why, After) -> signs(Why, After, false).

signs(Why, After, Hibernates) ->
    Pauses = #{window_ms => 1000, why => Why, settings => #{fullsweep_after => After}},
    Signs = diagnose_collections:of_process(#{pid => ~"<0.1.0>", label => {m, init, 1}, pauses => Pauses, hibernates => Hibernates}),
    [?assert(iolist_size(diagnose_wording:sentence(Sign)) > 0) || Sign <- Signs],
    Signs.

needless_sweeps_have_their_setting(_) ->
    Live = why(#{young => 500_000_000, aged => 400_000_000, left => 390_000_000}),
    [#{kind := needless_full_sweeps, setting := {fullsweep_after, 20},
       evidence := #{sweeps := 10, asked := 0, left_bytes := 39_000_000, saves_ms := Saves}} = Sign] = signs([Live]),
    %% What has died cannot be told: the data may be others, of the same size.
    ?assertNotEqual(nomatch, string:find(unicode:characters_to_list(diagnose_wording:sentence(Sign)),
                                         "each sweep leaves 39.0 MB, 1.0 MB less than the sweep before")),
    ?assertEqual(190.476, Saves),
    %% A setting that is as large already would change nothing; one that is asked for cannot be saved.
    #{kind := needless_full_sweeps} = Small = hd(signs([Live], 20)),
    ?assertMatch(#{setting := {fullsweep_after, 84}, evidence := #{saves_ms := 150.588}}, Small),
    ?assertMatch(#{setting := {fullsweep_after, 20}, evidence := #{asked := 4, spent_ms := 300.0, saves_ms := 190.476}},
                 hd(signs([Live, Live#{reason := asked, count := 4, us := 100_000}]))),
    ?assertEqual([], signs([Live#{left := 200_000_000}])),
    ?assertEqual([], signs([Live#{us := 30_000}])),
    ?assertEqual([], signs([Live#{reason := heap}])).

sweeps_asked_for_have_none(_) ->
    Asked = why(#{reason => asked, young => 500_000_000, aged => 400_000_000, left => 390_000_000}),
    [Sign] = signs([Asked]),
    ?assertEqual([], signs([Asked], 0, true)), % hibernation asks for each
    ?assertMatch(#{kind := needless_full_sweeps, evidence := #{asked := 10}}, Sign),
    ?assertNot(is_map_key(setting, Sign)).

%% 10 MB live, 100 MB are promoted until a full sweep, 10 MB at each minor collection: after each a full one copies as much.
promoted_garbage_has_its_setting(_) ->
    Full = why(#{reason => old_heap, young => 100_000_000, old => 1_000_000_000, aged => 1_050_000_000, left => 100_000_000,
                 freed => 900_000_000}),
    Minor = why(#{kind => minor, reason => heap, count => 100, us => 300_000, young => 2_000_000_000, left => 1_000_000_000}),
    [#{kind := promoted_garbage, setting := {fullsweep_after, 1},
       evidence := #{sweeps := 10, minor := 100, freed_bytes := 90_000_000}, advice := Advice}] = signs([Full, Minor]),
    ?assertNotEqual(nomatch, string:find(Advice, "each second collection is a full sweep")),
    ?assertEqual([], signs([Full#{freed := 100_000_000}, Minor])),
    ?assertEqual([], signs([Full#{reason := asked}, Minor])),
    ?assertEqual([], signs([Full#{count := 2}, Minor])).

binaries_that_live_have_theirs(_) ->
    Virtual = why(#{kind => minor, reason => virtual_heap, count => 100, held => 30_000_000, held_left => 29_000_000,
                    virtual => 26_000_000}),
    [#{kind := binary_pressure, setting := {min_bin_vheap_size, Words},
       evidence := #{collections := 100, memory_bytes := Bytes}}] = signs([Virtual]),
    ?assertEqual(Bytes, 8 * Words),
    ?assert(Bytes >= 4 * 260_000),
    ?assertEqual([], signs([Virtual#{held_left := 10_000_000}])),
    %% Each frees little beside the state that it copies.
    Sweeps = Virtual#{kind := full, reason := old_virtual_heap, young := 10_000_000, old := 500_000_000, left := 505_000_000,
                      held_left := 10_000_000},
    [#{kind := binary_pressure, evidence := #{full := 100, copied_bytes := 505_000_000, freed_bytes := 25_000_000}}] = signs([Sweeps]),
    ?assertEqual([], signs([Sweeps#{left := 10_000_000}])),
    %% Busy processes of a healthy RabbitMQ reach 2.3 % of their time.
    ?assertEqual([], signs([Virtual#{us := 30_000}])),
    ?assertMatch([_], signs([Virtual#{us := 50_000}])),
    ?assertEqual([], signs([Virtual, why(#{kind => minor, reason => heap, count => 300})])).

births_have_theirs(_) ->
    Births = #{pid => ~"<0.9.0>", name => listener, labels => [{request, init, 1}], window_ms => 1000, ended => 110, grown => 100,
               collections => 700, us => 100_000, left => 5_000_000, first => 186_400,
               limit => 0, sizes => lists:sort([100_000 + 100 * N || N <- lists:seq(1, 100)])},
    [#{kind := small_start, setting := {min_heap_size, Words}} = Sign] = diagnose_collections:of_births(Births, unknown),
    ?assertEqual(105_000 div 8, Words),
    ?assertNotEqual(nomatch, string:find(diagnose_wording:sentence(Sign), "request:init/1")),
    %% Where they are seen, the program makes what is large.
    Starts = fun(Label) ->
                     #{looks => 1, samples => [{running, [{lists, reverse, 2}, {dates, range, 1}, {request, init, 1}], 9},
                                               {running, [{request, init, 1}], 2}],
                       unlisted => false, ms => 1, a_second => 0, parents => [],
                       most => #{pid => ~"<0.9.0>", name => listener, label => unknown, part => 1.0, labels => [{Label, 90}]}}
             end,
    [#{advice := Where} = Seen] = diagnose_collections:of_births(Births, Starts({request, init, 1})),
    ?assertNotEqual(nomatch, string:find(diagnose_wording:sentence(Seen), "they work mostly in request:init/1, lists:reverse/2, dates:range/1")),
    ?assertNotEqual(nomatch, string:find(Where, "whether they need all of it")),
    ?assertMatch([#{evidence := #{in := []}}], diagnose_collections:of_births(Births, Starts({other, init, 1}))),
    %% What does not fit below their max_heap_size is not advised.
    ?assertMatch([#{setting := _}], diagnose_collections:of_births(Births#{limit := 300_000}, unknown)),
    [#{advice := Advice} = Limited] = diagnose_collections:of_births(Births#{limit := 150_000}, unknown),
    ?assertEqual(false, is_map_key(setting, Limited)),
    ?assertEqual(nomatch, string:find(Advice, "min_heap_size")),
    ?assertNotEqual(nomatch, string:find(diagnose_wording:sentence(Limited), "the limit (max_heap_size) is 150")),
    ?assertEqual([], diagnose_collections:of_births(Births#{ended := 300}, unknown)),
    ?assertEqual([], diagnose_collections:of_births(Births#{us := 1000}, unknown)),
    ?assertEqual([], diagnose_collections:of_births(Births#{sizes := [1000 * N * N || N <- lists:seq(1, 100)]}, unknown)).

little_is_worth_no_setting(_) ->
    ?assertEqual([], signs([why(#{young => 600_000, aged => 500_000, left => 490_000})])),
    ?assertEqual([], diagnose_collections:of_process(#{pauses => unknown})).

reasons_are_told(_) ->
    Full = why(#{reason => old_heap, young => 300, old => 700, left => 250, freed => 450}),
    Minor = why(#{kind => minor, reason => virtual_heap, count => 90}),
    Text = unicode:characters_to_list(diagnose_wording:reasons([Full, Minor])),
    [?assertNotEqual({Words, nomatch}, {Words, string:find(Text, Words)})
     || Words <- ["90 because the virtual heap", "10 full ones because the old heap was full", "25 % survived", "at least 450 B"]].

%% 200 kB are 25,000 words.
little_that_takes_long_was_interrupted(_) ->
    Native = fun(Ms) -> erlang:convert_time_unit(Ms, millisecond, native) end,
    [?assertEqual({Sizes, Kind, Ms, IsLong}, {Sizes, Kind, Ms, diagnose_probe:is_long(Kind, Native(Ms), info(Sizes))})
     || {Sizes, Kind, Ms, IsLong} <-
            [{#{}, minor, 500, false}, {#{heap_size => 25_000}, minor, 20, true}, {#{heap_size => 25_000}, minor, 19, false},
             {#{stack_size => 25_000}, minor, 20, true}, {#{mbuf_size => 25_000}, minor, 20, true},
             {#{old_heap_size => 25_000}, minor, 20, false}, {#{old_heap_size => 25_000}, full, 20, true}]].

%% A process whose heap is always empty when it is collected spends less than a tenth of its time on that, but a third if each is traced.
what_tracing_takes_is_left_out(_) ->
    Native = fun(Us) -> erlang:convert_time_unit(Us, microsecond, native) end,
    ?assertEqual(500, diagnose_probe:untraced_us(Native(3000), 500, Native(5))),
    ?assertEqual(0, diagnose_probe:untraced_us(Native(1434), 500, Native(5))),
    ?assertEqual(199_995, diagnose_probe:untraced_us(Native(200_000), 1, Native(5))).
