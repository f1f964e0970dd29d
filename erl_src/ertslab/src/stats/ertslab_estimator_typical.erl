%% @doc The median, for measurements of waiting, queues, disks or random work, whose slow values are part of the result.
%% {@link ertslab_stats:ratio/2} compares arms. Pure.
-module(ertslab_estimator_typical).
-behaviour(ertslab_estimator).

-export([words/0, other/0, for_builds/0, of_run/1, of_runs/1, is_by_length/0, is_without_turns/1, ratio/2, over_cases/1, overall/1,
         min_pairs/1,
         pairs/1, is_replacing_disturbed/1, steady/2, is_promised/0]).

-define(PAIRS, 20).

-spec words() -> binary().
words() -> <<"median">>.

-spec other() -> ertslab_experiment:estimator().
other() -> floor.

-spec for_builds() -> ertslab_experiment:estimator().
for_builds() -> typical.

-spec of_run([number(), ...]) -> float().
of_run(Numbers) -> ertslab_stats:median(Numbers).

-spec of_runs([number(), ...]) -> float().
of_runs(Numbers) -> ertslab_stats:median(Numbers).

-spec is_by_length() -> boolean().
is_by_length() -> false.

%% @doc On a machine with two speeds, a few rounds more at one of them can move the median to it.
-spec is_without_turns(ertslab_experiment:rounds()) -> boolean().
is_without_turns(Rounds) -> Rounds =:= arms.

-spec ratio([number(), ...], [number(), ...]) -> ertslab_stats:ratio().
ratio(Baseline, Own) -> ertslab_stats:ratio(Baseline, Own).

%% @doc The geometric means over the cases are analysed like the numbers of one case.
-spec over_cases([{ertslab_estimator:by_pair(), ertslab_estimator:by_pair()}, ...]) -> {non_neg_integer(), [{[float()], [float()]}, ...]}.
over_cases(Cases) ->
    {Bases, Owns} = lists:unzip(Cases),
    Own = ertslab_geometric_mean:geometric_means(Owns),
    {map_size(Own), ertslab_geometric_mean:samples([{ertslab_geometric_mean:geometric_means(Bases), Own}])}.

-spec overall([{[float(), ...], [float(), ...]}, ...]) -> ertslab_stats:ratio().
overall([{Baseline, Own}]) -> ertslab_stats:ratio(Baseline, Own).

-spec min_pairs(float()) -> pos_integer().
min_pairs(Confidence) -> ertslab_stats:min_pairs(Confidence).

-spec pairs(ertslab_experiment:rounds()) -> pos_integer().
pairs(_Rounds) -> ?PAIRS.

%% @doc Not if arms take turns, since a disturbance then affects all of them.
-spec is_replacing_disturbed(ertslab_experiment:rounds()) -> boolean().
is_replacing_disturbed(Rounds) -> Rounds =/= arms.

-spec steady([[number(), ...]], float()) -> ertslab_steady:result().
steady(Runs, Level) -> ertslab_steady:test(Runs, Level).

-spec is_promised() -> boolean().
is_promised() -> false.
