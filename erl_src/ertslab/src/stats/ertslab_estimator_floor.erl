%% @doc The cost of fixed, deterministic work when nothing disturbs it. Disturbances
%% only ever add time to such work, so the fast values are the informative ones
%% (Chen and Revels 2016, Robust benchmarking in noisy environments). A run's
%% number is the 2nd percentile of its values: the minimum of few values, and
%% with many values a number that depends on no single one. {@link ertslab_floor} compares
%% arms. On a machine that was slow for three quarters of the time the
%% 10th percentile gave intervals twice as wide. Pure.
-module(ertslab_estimator_floor).
-behaviour(ertslab_estimator).

-export([words/0, other/0, for_builds/0, of_run/1, of_runs/1, is_by_length/0, is_without_turns/1, ratio/2, over_cases/1, overall/1,
         min_pairs/1,
         pairs/1, is_replacing_disturbed/1, steady/2, is_promised/0]).

-define(LOW_RUNS, 0.1).
%% Many short runs rather than few long ones, if starting one is cheap: the smallest possible p value falls with the
%% number of pairs, and it is multiplied by the number of all results.
-define(PAIRS, 45).
-define(LARGE_PAIRS, 30).

-spec words() -> binary().
words() -> <<"floor">>.

-spec other() -> ertslab_experiment:estimator().
other() -> typical.

%% @doc Not the floor, which would always pick the luckiest build.
-spec for_builds() -> ertslab_experiment:estimator().
for_builds() -> typical.

-spec of_run([number(), ...]) -> float().
of_run(Numbers) -> ertslab_floor:of_values(Numbers).

-spec of_runs([number(), ...]) -> float().
of_runs(Numbers) -> ertslab_stats:quantile(Numbers, ?LOW_RUNS).

%% @doc A low quantile falls with the number of values, and a faster run has more values.
-spec is_by_length() -> boolean().
is_by_length() -> true.

-spec is_without_turns(ertslab_experiment:rounds()) -> boolean().
is_without_turns(_Rounds) -> false.

-spec ratio([number(), ...], [number(), ...]) -> ertslab_stats:ratio().
ratio(Baseline, Own) -> ertslab_floor:ratio(Baseline, Own).

-spec over_cases([{ertslab_estimator:by_pair(), ertslab_estimator:by_pair()}, ...]) -> {non_neg_integer(), [{[float()], [float()]}, ...]}.
over_cases(Cases) ->
    [{First, _} | _] = Samples = ertslab_geometric_mean:samples(Cases),
    {length(First), Samples}.

-spec overall([{[float(), ...], [float(), ...]}, ...]) -> ertslab_stats:ratio().
overall(Samples) -> ertslab_floor:overall(Samples).

-spec min_pairs(float()) -> pos_integer().
min_pairs(Confidence) -> ertslab_floor:min_pairs(Confidence).

-spec pairs(ertslab_experiment:rounds()) -> pos_integer().
pairs(cases) -> ?PAIRS;
pairs(_) -> ?LARGE_PAIRS.

%% @doc Not needed, since a floor comes from the runs that nothing disturbed.
-spec is_replacing_disturbed(ertslab_experiment:rounds()) -> boolean().
is_replacing_disturbed(_Rounds) -> false.

-spec steady([[number(), ...]], float()) -> ertslab_steady:result().
steady(Runs, Level) -> ertslab_steady:halves(Runs, Level).

-spec is_promised() -> boolean().
is_promised() -> true.
