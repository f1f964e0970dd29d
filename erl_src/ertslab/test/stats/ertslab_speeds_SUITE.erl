%% Two speeds are found where there are two, and nowhere else. Each case runs
%% over fixed seeds, densely (several points in a look) and sparsely (a look each).
-module(ertslab_speeds_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, two_speeds_are_found/1, a_wide_slow_speed_is_found/1, spikes_do_not_hide_two_speeds/1, drift_does_not_hide_two_speeds/1,
         noise_is_one_speed/1, wide_noise_is_one_speed/1, drift_is_one_speed/1, spikes_are_one_speed/1,
         close_speeds_are_one/1, rare_speed_is_none/1, equal_times_are_one_speed/1, few_points_do_not_tell/1,
         stays_are_times_by_ends/1, pauses_are_no_stays/1, one_change_has_no_second_stay/1,
         units_and_start_do_not_matter/1, no_time_is_refused/1, words_say_it/1]).

all() -> [two_speeds_are_found, a_wide_slow_speed_is_found, spikes_do_not_hide_two_speeds, drift_does_not_hide_two_speeds,
          noise_is_one_speed, wide_noise_is_one_speed, drift_is_one_speed, spikes_are_one_speed,
          close_speeds_are_one, rare_speed_is_none, equal_times_are_one_speed, few_points_do_not_tell,
          stays_are_times_by_ends, pauses_are_no_stays, one_change_has_no_second_stay,
          units_and_start_do_not_matter, no_time_is_refused, words_say_it].

-define(SEEDS, lists:seq(1, 20)).
-define(FAST, 28_000).

two_speeds_are_found(_) ->
    [begin
         Found = found(Number, Gap, Seed, fun(N) -> two(N, Number, Share) * noise(0.03) end),
         ?assertMatch(#{speeds := 2, points := Number}, Found, {Share, Gap, Seed}),
         #{fast_ns := Fast, slow_ns := Slow, apart := Apart, slow_share := Seen} = Found,
         ?assert(near(?FAST, Fast, 0.04) andalso near(42_000, Slow, 0.04) andalso near(1.5, Apart, 0.04)),
         ?assert(abs(Share - Seen) < 0.02, {Share, Seen})
     end || Share <- [0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95], {Number, Gap} <- [{6000, 0.5}, {600, 20}], Seed <- ?SEEDS].

%% Five times each, so that even the shortest stay is several looks long.
two(N, Number, Share) ->
    Cycle = Number div 5,
    case N rem Cycle < Share * Cycle of
        true -> 1.5;
        false -> 1.0
    end.

%% Neighbours of many kinds: slow is 1.2 to 2.1 times fast, and another one in each look.
a_wide_slow_speed_is_found(_) ->
    [?assertMatch(#{speeds := 2},
                  found(600, 5, Seed, fun(N) -> noise(0.01) * wide(two(N, 600, Share)) end), {Share, Seed})
     || Share <- [0.3, 0.5, 0.7], Seed <- ?SEEDS].

wide(1.0) -> 1.0;
wide(_) -> 1.2 + 0.9 * rand:uniform().

spikes_do_not_hide_two_speeds(_) ->
    [?assertMatch(#{speeds := 2},
                  found(600, 20, Seed, fun(N) -> two(N, 600, 0.3) * noise(0.02) * spike(0.01, Times) end), {Times, Seed})
     || Times <- [3, 10, 100], Seed <- ?SEEDS].

drift_does_not_hide_two_speeds(_) ->
    [?assertMatch(#{speeds := 2},
                  found(600, 20, Seed, fun(N) -> two(N, 600, 0.5) * noise(0.02) * drift(N, 600, 1.1) end), Seed)
     || Seed <- ?SEEDS].

noise_is_one_speed(_) ->
    [one(Number, Gap, Seed, fun(_) -> noise(Sd) end)
     || Sd <- [0.01, 0.02, 0.05], {Number, Gap} <- shapes(), Seed <- ?SEEDS].

%% Flat from end to end, and with a tail to one side.
wide_noise_is_one_speed(_) ->
    [one(300, 20, Seed, Draw)
     || Draw <- [fun(_) -> math:exp(0.4 * rand:uniform()) end, fun(_) -> math:pow(rand:uniform(), -0.2) end],
        Seed <- ?SEEDS].

drift_is_one_speed(_) ->
    [one(Number, Gap, Seed, fun(N) -> noise(0.02) * Drift(N, Number) end)
     || Drift <- [fun(N, Of) -> drift(N, Of, 1.3) end, fun(N, Of) -> drift(N, Of, 3) end,
                  fun(N, Of) -> math:pow(1.3, math:sin(20 * N / Of)) end],
        {Number, Gap} <- [{6000, 0.5}, {300, 20}], Seed <- ?SEEDS].

drift(N, Number, Times) -> math:pow(Times, N / Number).

spikes_are_one_speed(_) ->
    [one(Number, Gap, Seed, fun(_) -> noise(0.02) * spike(0.01, Times) end)
     || Times <- [1.5, 3, 10], {Number, Gap} <- [{6000, 0.5}, {300, 20}, {2000, 20}], Seed <- ?SEEDS].

close_speeds_are_one(_) ->
    [one(600, 20, Seed, fun(N) -> math:pow(two(N, 600, 0.5), 0.25) * noise(0.01) end) || Seed <- ?SEEDS].

rare_speed_is_none(_) ->
    [one(10_000, 20, Seed, fun(N) -> two(N, 10_000, 0.015) * noise(0.01) end) || Seed <- lists:seq(1, 5)].

equal_times_are_one_speed(_) ->
    ?assertMatch(#{speeds := 1, fast_ns := 28000.0, slow_ns := 28000.0, apart := 1.0, slow_share := +0.0, within := +0.0,
                   mean_stay_ms := #{fast := null, slow := null}, changing_ms := null},
                 rounded(ertslab_speeds:found([{At, ?FAST} || At <- lists:seq(1, 1000)]))).

%% 500 points are looks of 5 ms enough where they are 1 ms apart, but not at 0.9 ms.
few_points_do_not_tell(_) ->
    ?assertMatch(#{speeds := unknown, points := 0}, ertslab_speeds:found([])),
    [?assertMatch(#{speeds := Speeds, points := 500},
                  ertslab_speeds:found([{Gap * N, ?FAST + N rem 7} || N <- lists:seq(1, 500)]))
     || {Gap, Speeds} <- [{1.0, 1}, {0.9, unknown}]].

%% 100 ms fast, 300 ms slow, ten times: the last slow look of 5 ms has no end,
%% and the last slow stay was not seen to end.
stays_are_times_by_ends(_) ->
    #{mean_stay_ms := #{fast := Fast, slow := Slow}, changing_ms := Changing, slow_share := Share} =
        ertslab_speeds:found(wave(0, 10)),
    ?assertEqual({100.0, 2995 / 9, 3995 / 19}, {Fast, Slow, Changing}),
    ?assertEqual(0.75, Share).

wave(From, Cycles) ->
    [{From + Ms, case Ms rem 400 < 100 of true -> ?FAST; false -> 42_000 end} || Ms <- lists:seq(0, 400 * Cycles - 1)].

%% Ten runs of 600 ms (fast, slow, fast, and 100 ms slow) with a minute after each.
pauses_are_no_stays(_) ->
    Runs = lists:append([lists:sublist(wave(60_000 * Run, 2), 600) || Run <- lists:seq(1, 10)]),
    #{mean_stay_ms := #{fast := Fast, slow := Slow}} = ertslab_speeds:found(Runs),
    ?assertEqual({100.0, 399.5}, {Fast, Slow}).

one_change_has_no_second_stay(_) ->
    ?assertMatch(#{speeds := 2, mean_stay_ms := #{fast := 500.0, slow := null}, changing_ms := 995.0},
                 ertslab_speeds:found([{Ms, case Ms < 500 of true -> ?FAST; false -> 42_000 end}
                                       || Ms <- lists:seq(0, 999)])).

units_and_start_do_not_matter(_) ->
    Points = points(600, 20, 1, fun(N) -> two(N, 600, 0.3) * noise(0.03) end),
    #{fast_ns := Fast, slow_ns := Slow} = Here = ertslab_speeds:found(Points),
    #{fast_ns := Fast2, slow_ns := Slow2} = There = ertslab_speeds:found([{At - 123_456, 1024 * Ns} || {At, Ns} <- Points]),
    Keys = [apart, slow_share, mean_stay_ms, changing_ms, within, points],
    ?assertEqual(rounded(maps:with(Keys, Here)), rounded(maps:with(Keys, There))),
    ?assert(near(1024 * Fast, Fast2, 1.0e-9) andalso near(1024 * Slow, Slow2, 1.0e-9)).

no_time_is_refused(_) ->
    [?assertError(function_clause, ertslab_speeds:found([{0, 5}, {1, Ns}])) || Ns <- [0, -1, 0.0]].

words_say_it(_) ->
    Two = (ertslab_speeds:found(wave(0, 10)))#{slow_share := 0.6, changing_ms := 812.0},
    [?assertEqual(Says, ertslab_speeds:says(Speeds))
     || {Says, Speeds} <- [{~"two speeds, 1.5 apart, slow 60 % of the time, changing every 0.8 s", Two},
                           {~"two speeds, 1.5 apart, slow 60 % of the time", Two#{changing_ms := null}},
                           {~"two speeds, 1.17 apart, slow 3 % of the time, changing every 45 ms",
                            Two#{apart := 1.17, slow_share := 0.0307, changing_ms := 45.2}},
                           {~"one speed: 90 % of the repetitions are within 4 % of each other",
                            Two#{speeds := 1, within := 0.0412}},
                           {~"one speed, but a wide one: 90 % of the repetitions are within 104 % of each other",
                            Two#{speeds := 1, within := 1.04}},
                           {~"one speed: 90 % of the repetitions are within 0.2 % of each other",
                            Two#{speeds := 1, within := 0.002}},
                           {~"too few repetitions to tell", Two#{speeds := unknown}}]].

%% Made-up sessions

shapes() -> [{6000, 0.5}, {100, 20}, {300, 20}, {2000, 20}].

one(Number, Gap, Seed, Draw) ->
    ?assertMatch(#{speeds := 1, points := Number, apart := 1.0, slow_share := +0.0}, found(Number, Gap, Seed, Draw),
                 {Number, Gap, Seed}).

found(Number, Gap, Seed, Draw) -> ertslab_speeds:found(points(Number, Gap, Seed, Draw)).

points(Number, Gap, Seed, Draw) ->
    _ = rand:seed(exsss, Seed),
    [{Gap * N, ?FAST * Draw(N)} || N <- lists:seq(0, Number - 1)].

noise(Sd) -> math:exp(Sd * rand:normal()).

spike(Chance, Times) ->
    case rand:uniform() < Chance of
        true -> Times;
        false -> 1
    end.

near(Expected, Value, Share) -> abs(Value / Expected - 1) < Share.

rounded(Value) when is_float(Value) -> round(Value * 1.0e6) / 1.0e6;
rounded(Map) when is_map(Map) -> maps:map(fun(_, Value) -> rounded(Value) end, Map);
rounded(Value) -> Value.
