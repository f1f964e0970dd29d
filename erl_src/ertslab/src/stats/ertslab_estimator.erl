%% @doc The two ways to say what something costs, each chosen before the first run.
%%
%% `floor': what fixed, deterministic work costs when the machine leaves it alone. What
%% disturbs such work only ever adds to it, so the fast values are those that tell
%% (Chen and Revels 2016, Robust benchmarking in noisy environments). A run's
%% number is the 2nd percentile of its values: their minimum where they are few, and
%% one that hangs on no single value where they are many. Arms are compared by
%% {@link ertslab_floor}. On a machine that was slow for three quarters of the time the
%% 10th percentile gave intervals twice as wide.
%%
%% `typical': the median, where waiting, queues, disks or random work are what is
%% measured, so that slow values belong to it. Arms are compared by
%% {@link ertslab_stats:ratio/2}.
%%
%% Pure.
-module(ertslab_estimator).

-export([other/1, levelled/2, of_run/2, of_runs/2, ratio/3, min_pairs/2]).
-export_type([name/0]).

-type name() :: ertslab_experiment:estimator().

-define(LOW, 0.02).
-define(LOW_RUNS, 0.1).

%% @doc The one that is shown beside the one that was chosen.
-spec other(name()) -> name().
other(floor) -> typical;
other(typical) -> floor.

%% @doc The values of runs, of those that are compared with each other as many as the shortest has. A low
%% quantile is the lower, the more values there are, and a run gets the more of them, the faster it is. `Together'
%% says of a run's key with which others it is compared.
-spec levelled(fun((Key) -> term()), #{Key => [Value, ...]}) -> #{Key => [Value, ...]}.
levelled(Together, Runs) ->
    Shortest = maps:groups_from_list(fun({Key, _}) -> Together(Key) end, fun({_, Values}) -> length(Values) end,
                                     maps:to_list(Runs)),
    maps:map(fun(Key, Values) -> lists:sublist(Values, lists:min(maps:get(Together(Key), Shortest))) end, Runs).

%% @doc The number of a run, from its values of one metric, in their unit.
-spec of_run(name(), [ertslab_experiment:value(), ...]) -> float().
of_run(floor, Values) -> ertslab_stats:quantile(ertslab_slope:numbers(Values), ?LOW);
of_run(typical, Values) -> ertslab_stats:median(ertslab_slope:numbers(Values)).

%% @doc The number of an arm, from those of its runs.
-spec of_runs(name(), [number(), ...]) -> float().
of_runs(floor, Numbers) -> ertslab_stats:quantile(Numbers, ?LOW_RUNS);
of_runs(typical, Numbers) -> ertslab_stats:median(Numbers).

%% @doc The ratio of an arm to the baseline; element k of both lists is pair k, and
%% all numbers are above 0.
-spec ratio(name(), Baseline :: [number(), ...], Own :: [number(), ...]) -> ertslab_stats:ratio().
ratio(floor, Baseline, Own) -> ertslab_floor:ratio(Baseline, Own);
ratio(typical, Baseline, Own) -> ertslab_stats:ratio(Baseline, Own).

%% @doc The smallest number of pairs whose interval reaches a confidence between 0 and 1.
-spec min_pairs(name(), float()) -> pos_integer().
min_pairs(floor, Confidence) -> ertslab_floor:min_pairs(Confidence);
min_pairs(typical, Confidence) -> ertslab_stats:min_pairs(Confidence).
