%% The self-test's parts, up to the report of a few comparisons. The reference
%% power is that of power.py; noise is compared with what its parameters say.
-module(ertslab_selftest_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0]).
-export([independent_noise/1, drift_noise/1, spike_noise/1, level_noise/1, autocorrelated_noise/1,
         every_model_adds_to_the_independent_one/1]).
-export([lines_survive_their_file/1, effect_is_in_one_row/1, sequential_is_one_arm_after_another/1,
         seed_decides_all/1]).
-export([parallel_keeps_the_order/1, parallel_crash_is_seen/1, workers_change_nothing/1,
         counts_of_a_seed/1, wrong_analyses_fail/1]).
-export([intervals_are_published_ones/1, few_wrong_are_allowed/1, power_is_judged/1,
         same_where_it_is_not_fails/1, reference_is_what_the_script_wrote/1, script_agrees/1]).
-export([machine_counts_verdicts/1, table_shows_what_fails/1]).

suite() -> [{timetrap, {minutes, 5}}].

all() ->
    [independent_noise, drift_noise, spike_noise, level_noise, autocorrelated_noise,
     every_model_adds_to_the_independent_one,
     lines_survive_their_file, effect_is_in_one_row, sequential_is_one_arm_after_another,
     seed_decides_all,
     parallel_keeps_the_order, parallel_crash_is_seen, workers_change_nothing, counts_of_a_seed,
     wrong_analyses_fail,
     intervals_are_published_ones, few_wrong_are_allowed, power_is_judged,
     same_where_it_is_not_fails, reference_is_what_the_script_wrote, script_agrees,
     machine_counts_verdicts, table_shows_what_fails].

%% Noise

%% 20,000 runs: the standard error of a deviation is half a percent of it.
independent_noise(_) ->
    Logs = logs(independent, 20000, 5),
    Within = [X - mean(Run) || Run <- Logs, X <- Run],
    near(0.025 * math:sqrt(4 / 5), deviation(Within), 0.015),
    near(math:sqrt(0.015 * 0.015 + 0.025 * 0.025 / 5), deviation([mean(Run) || Run <- Logs]), 0.025),
    ?assert(abs(mean(lists:append(Logs))) < 0.0006).

%% Each step: the drift's share of log(1.3), the walk, and two runs' own noise.
drift_noise(_) ->
    Sessions = [[mean(Run) || Run <- logs(drift, 60, 5, Seed)] || Seed <- lists:seq(1, 400)],
    Total = mean([lists:last(Runs) - hd(Runs) || Runs <- Sessions]),
    ?assert(abs(Total - math:log(1.3)) < 0.015, Total),
    Steps = [B - A || Runs <- Sessions, {A, B} <- lists:zip(lists:droplast(Runs), tl(Runs))],
    Own = 0.015 * 0.015 + 0.025 * 0.025 / 5,
    near(math:sqrt(0.01 * 0.01 + 2 * Own), deviation(Steps), 0.02).

%% Without its own noise a run is above 1.3 only where it is slow.
spike_noise(_) ->
    Runs = logs(spikes, 20000, 9),
    Slow = [median(Run) || Run <- Runs, median(Run) > math:log(1.25)],
    ?assert(abs(length(Slow) / 20000 - 0.04) < 0.006, length(Slow)),
    ?assert(abs(mean(Slow) - math:log(1.5)) < 0.02, mean(Slow)),
    Spikes = [X - median(Run) || Run <- Runs, X <- Run, X - median(Run) > math:log(2)],
    ?assert(abs(length(Spikes) / 180000 - 0.04) < 0.003, length(Spikes)),
    ?assert(abs(mean(Spikes) - math:log(3)) < 0.01, mean(Spikes)).

level_noise(_) ->
    Medians = [median(Run) || Run <- logs(levels, 20000, 5)],
    {Slow, Fast} = lists:partition(fun(X) -> X > math:log(1.15) / 2 end, Medians),
    ?assert(abs(length(Slow) / 20000 - 0.4) < 0.015, length(Slow)),
    ?assert(abs(mean(Slow) - mean(Fast) - math:log(1.15)) < 0.003).

%% The state's autocorrelation at a lag of 1 is 0.9, at 5 it is 0.9^5; the own
%% noise of the runs adds to the variance alone.
autocorrelated_noise(_) ->
    States = [mean(Run) || Run <- logs(autocorrelated, 40000, 5)],
    Own = 0.015 * 0.015 + 0.025 * 0.025 / 5,
    Variance = 0.05 * 0.05,
    near(math:sqrt(Variance + Own), deviation(States), 0.06),
    [begin
         Lagged = lists:zip(lists:sublist(States, 40000 - Lag), lists:nthtail(Lag, States)),
         Covariance = mean([A * B || {A, B} <- Lagged]) - mean(States) * mean(States),
         near(Variance * math:pow(0.9, Lag), Covariance, 0.15)
     end || Lag <- [1, 5]],
    ok.

every_model_adds_to_the_independent_one(_) ->
    Independent = ertslab_noise:parameters(independent),
    [begin
         Own = ertslab_noise:parameters(Name),
         ?assertEqual(maps:with([run_sd, iteration_sd], Independent),
                      maps:with([run_sd, iteration_sd], Own)),
         ?assertNotEqual(Independent, Own)
     end || Name <- ertslab_noise:names() -- [independent]].

logs(Name, Runs, Iterations) -> logs(Name, Runs, Iterations, 1).

logs(Name, Runs, Iterations, Seed) ->
    Shape = #{runs => Runs, metrics => 1, iterations => Iterations},
    {Session, _} = ertslab_noise:session(Name, Shape, rand:seed_s(exsss, Seed)),
    [[math:log(Factor) || Factor <- Run] || [Run] <- Session].

mean(List) -> lists:sum(List) / length(List).

median(List) -> ertslab_stats:median(List).

deviation(List) ->
    Mean = mean(List),
    math:sqrt(mean([(X - Mean) * (X - Mean) || X <- List])).

near(Expected, Value, Share) ->
    ?assert(abs(Value - Expected) =< Share * Expected, {Expected, Value}).

%% Comparisons

%% What is drawn holds what would be read back from the file of a real one.
lines_survive_their_file(Config) ->
    #{samples := Samples} = comparison(#{}),
    ByRun = maps:groups_from_list(fun(#{~"run" := Run}) -> Run end, Samples),
    File = filename:join(proplists:get_value(priv_dir, Config), "samples.jsonl"),
    ok = file:write_file(File, [ertslab_samples:text(Lines ++ [#{type => run, run => Run}])
                                || Run := Lines <- maps:iterator(ByRun, ordered)]),
    #{samples := Read, runs := Runs} = ertslab_samples:read(File),
    [First | _] = Read,
    ?assertEqual({[maps:with(maps:keys(First), Sample) || Sample <- Samples], 60}, {Read, length(Runs)}).

effect_is_in_one_row(_) ->
    #{cases := [#{rows := Rows}]} = ertslab_simulation:summary(comparison(#{effect => 0.5})),
    ?assertEqual([{~"first", ~"variant"}],
                 [{Metric, Label} || #{metric := Metric, label := Label, verdict := changed} <- Rows]).

sequential_is_one_arm_after_another(_) ->
    Arms = fun(Order) ->
                   #{samples := Samples} = comparison(#{order => Order}),
                   length(squeezed([Arm || #{~"arm" := Arm} <- Samples]))
           end,
    ?assertEqual(3, Arms(sequential)),
    ?assert(Arms(paired) > 30).

squeezed([A, A | Rest]) -> squeezed([A | Rest]);
squeezed([A | Rest]) -> [A | squeezed(Rest)];
squeezed([]) -> [].

seed_decides_all(_) ->
    ?assertEqual(comparison(#{}), comparison(#{})),
    ?assertNotEqual(comparison(#{}, {1, 1, 1}), comparison(#{}, {1, 1, 2})),
    ?assertNotEqual(comparison(#{}, {1, 1, 1}), comparison(#{}, {1, 2, 1})).

comparison(Changes) -> comparison(Changes, {1, 1, 1}).

comparison(Changes, Seed) ->
    Spec = #{noise => independent, pairs => 20, effect => 0.0, order => paired},
    ertslab_simulation:comparison(maps:merge(Spec, Changes), Seed).

%% Counting

parallel_keeps_the_order(_) ->
    Self = self(),
    Slow = fun(N) -> timer:sleep(10 - N), N * N end,
    ?assertEqual([N * N || N <- lists:seq(1, 9)],
                 ertslab_parallel:map(Slow, lists:seq(1, 9), 4, fun(Done, 9) -> Self ! Done end)),
    ?assertEqual(lists:seq(1, 9), [receive N -> N end || N <- lists:seq(1, 9)]),
    ?assertEqual([], ertslab_parallel:map(Slow, [], 4, fun(_, _) -> ok end)).

parallel_crash_is_seen(_) ->
    Fun = fun(2) -> exit(broken); (N) -> N end,
    ?assertError(broken, ertslab_parallel:map(Fun, [1, 2, 3], 2, fun(_, _) -> ok end)).

workers_change_nothing(_) ->
    %% More than are drawn at once.
    Report = fun(Workers) -> ertslab_selftest:report(26, 5, Workers, fun(_, _) -> ok end, [hd(ertslab_recording:all())]) end,
    ?assertEqual(Report(1), Report(3)).

%% The seed gives these; another way to draw, or to judge, does not.
counts_of_a_seed(_) ->
    [Independent, Drift | _] = ertslab_trial:all(),
    ?assertEqual(#{comparisons => 60, changed => 1, void => 5, rows => 240, same => 14,
                   pooled => 18, sequential => 2}, ertslab_trial:counts(Independent, 1, 1, {1, 60})),
    ?assertEqual(#{comparisons => 60, changed => 0, void => 0, rows => 240, same => 3,
                   pooled => 0, sequential => 60}, ertslab_trial:counts(Drift, 1, 2, {1, 60})),
    Power = lists:last(ertslab_trial:all()),
    ?assertEqual(#{comparisons => 30, changed => 30, void => 0, same => 0}, ertslab_trial:counts(Power, 1, 3, {1, 30})).

%% That the self-test can fail: the same rule on what is done wrongly.
wrong_analyses_fail(_) ->
    Judged = fun(Noise) ->
                     [Trial] = [T || #{kind := identical, noise := N} = T <- ertslab_trial:all(), N =:= Noise],
                     ertslab_selftest_rates:judged(Trial, ertslab_trial:counts(Trial, 1, 1, {1, 60}))
             end,
    ?assertMatch(#{ok := true, wrong_analyses := #{pooled := #{ok := false}}}, Judged(levels)),
    ?assertMatch(#{ok := true, wrong_analyses := #{sequential := #{ok := false}}}, Judged(drift)).

%% Judging

%% SciPy 1.10: binomtest(K, N).proportion_ci(method='exact').
intervals_are_published_ones(_) ->
    [begin
         {L, H} = ertslab_selftest_rates:interval(K, N),
         ?assert(abs(L - Low) < 1.0e-9 andalso abs(H - High) < 1.0e-9, {K, N, L, H})
     end || {K, N, Low, High} <- [{0, 50, 0.0, 0.071121736464}, {6, 50, 0.045335320774, 0.243101316706},
                             {55, 1000, 0.041698795080, 0.070991515542}, {1, 20, 0.001265089498, 0.248732762772},
                             {1000, 1000, 0.996317916103, 1.0}]].

few_wrong_are_allowed(_) ->
    ?assert(ertslab_selftest_rates:rate(50, 1000)),
    ?assertNot(ertslab_selftest_rates:rate(51, 1000)),
    %% P(X >= 5 | 20, 0.05) = 0.0026, P(X >= 6) = 0.0003.
    ?assert(ertslab_selftest_rates:rate(5, 20)),
    ?assertNot(ertslab_selftest_rates:rate(6, 20)).

power_is_judged(_) ->
    Ok = fun(Changed) -> maps:get(ok, ertslab_selftest_rates:judged(power(), found(Changed, 0))) end,
    Reference = ertslab_selftest_rates:reference(20, 0.02),
    ?assert(Ok(round(1000 * Reference))),
    ?assertEqual([true, false], [Ok(round(1000 * Reference * Part)) || Part <- [0.91, 0.85]]),
    ?assertEqual([true, false], [Ok(round(1000 * Reference * Part)) || Part <- [1.09, 1.15]]).

same_where_it_is_not_fails(_) ->
    Found = round(1000 * ertslab_selftest_rates:reference(20, 0.02)),
    ?assertMatch(#{ok := true}, ertslab_selftest_rates:judged(power(), found(Found, 50))),
    ?assertMatch(#{ok := false}, ertslab_selftest_rates:judged(power(), found(Found, 51))).

power() -> #{kind => power, noise => independent, pairs => 20, effect => 0.02}.

found(Changed, Same) -> #{comparisons => 1000, changed => Changed, void => 0, same => Same}.

reference_is_what_the_script_wrote(Config) ->
    Written = reference_terms(Config),
    Trials = [{Pairs, Effect} || #{kind := power, pairs := Pairs, effect := Effect} <- ertslab_trial:all()],
    ?assertEqual(Trials, [{Pairs, Effect} || {Pairs, Effect, _, _} <- Written]),
    [?assertEqual({Pairs, Effect, round(Found / N * 1000) / 1000},
                  {Pairs, Effect, ertslab_selftest_rates:reference(Pairs, Effect)})
     || {Pairs, Effect, N, Found} <- Written].

%% Where a Python with SciPy is in the path: 500 comparisons of each.
script_agrees(Config) ->
    Script = data_file(Config, "power.py"),
    case lists:search(fun has_scipy/1, pythons()) of
        {value, Python} ->
            Output = os:cmd(lists:join(" ", [Python, Script, "500"])),
            File = filename:join(proplists:get_value(priv_dir, Config), "power.terms"),
            ok = file:write_file(File, Output),
            {ok, Live} = file:consult(File),
            ?assertEqual(12, length(Live)),
            [?assertMatch(#{ok := true}, ertslab_selftest_rates:judged(
                                           (power())#{pairs := Pairs, effect := Effect},
                                           #{comparisons => N, changed => Found, void => 0, same => 0}))
             || {Pairs, Effect, N, Found} <- Live],
            ok;
        false -> {comment, "no Python with SciPy: stored values only"}
    end.

%% The first of the path need not be the one with SciPy.
pythons() ->
    [Python || Folder <- string:lexemes(os:getenv("PATH", ""), ":"),
               Python <- [os:find_executable("python3", Folder)], Python =/= false].

has_scipy(Python) -> string:trim(os:cmd(Python ++ " -c 'import scipy; print(1)' 2>&1")) =:= "1".

reference_terms(Config) ->
    {ok, Terms} = file:consult(data_file(Config, "power.terms")),
    Terms.

data_file(Config, Name) -> filename:join(proplists:get_value(data_dir, Config), Name).

%% Reports

%% One is void, with one row that changed.
machine_counts_verdicts(_) ->
    Quiet = of_two([comparison(#{pairs => 40}, {1, 1, N}) || N <- [1, 2]]),
    Changed = of_two([slower_copy()]),
    #{void := 1, comparisons := 3, metrics := [First, Second]} =
        ertslab_selftest_machine:counted(Quiet ++ Changed),
    ?assertMatch(#{metric := ~"first", changed := 1}, First),
    ?assertMatch(#{metric := ~"second", changed := 0}, Second),
    ?assertEqual([3, 3], [Changes + Same + Unsure
                          || #{changed := Changes, same := Same, unsure := Unsure} <- [First, Second]]).

%% Without the third arm, and the copy twice as slow in the first metric.
slower_copy() ->
    #{samples := Samples} = Comparison = comparison(#{}),
    Slower = fun(#{~"arm" := 1, ~"metric" := ~"first", ~"values" := Values} = Sample) ->
                     Sample#{~"values" := [2 * Value || Value <- Values]};
                (Sample) -> Sample
             end,
    Comparison#{samples := lists:map(Slower, Samples)}.

of_two(Comparisons) ->
    [begin
         #{plan := #{arms := Arms} = Plan, samples := Samples} = Comparison,
         Two = Comparison#{plan := Plan#{arms := lists:sublist(Arms, 2)},
                           samples := [S || #{~"arm" := Arm} = S <- Samples, Arm < 2]},
         ertslab_simulation:summary(Two)
     end || Comparison <- Comparisons].

table_shows_what_fails(_) ->
    [Trial | _] = ertslab_trial:all(),
    Counts = #{comparisons => 1000, changed => 60, void => 10, rows => 4000, same => 100,
               pooled => 400, sequential => 10},
    Report = #{comparisons => 1000, seed => 1, ok => false,
               identical => [ertslab_selftest_rates:judged(Trial, Counts)],
               power => [ertslab_selftest_rates:judged(power(), found(623, 3))],
               replayed => [ertslab_replay:judged(#{noise => levels, effect => Effect, pairs => 30}, replayed(Typical, Floor))
                            || {Effect, Typical, Floor} <- [{0.0, 12, 51}, {0.05, 300, 875}]]},
    Text = unicode:characters_to_binary(ertslab_selftest_table:render(Report)),
    ?assertMatch({match, _}, re:run(Text, "independent +6\\.0 % +1\\.0 % +7\\.0 % .*40\\.0 % +1\\.0 % +not ok")),
    ?assertMatch({match, _}, re:run(Text, "20 +2 % +62\\.3 % .* 0\\.3 % +ok")),
    ?assertMatch({match, _}, re:run(Text, "levels +1\\.2 % / 5\\.1 %[^\n]* 30\\.0 % / 87\\.5 %[^\n]* not ok")).

replayed(Typical, Floor) ->
    maps:merge(#{{What, Name} => 0 || What <- [changed, void], Name <- ertslab_estimate:names()},
               #{comparisons => 1000, {changed, typical} => Typical, {changed, floor} => Floor}).
