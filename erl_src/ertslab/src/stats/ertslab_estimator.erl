%% @doc A way to estimate a cost, chosen before the first run. It defines the number of a run, of an arm and of two arms, and
%% what follows for a plan. A module with this behaviour is an estimator; {@link ertslab_estimate} gives it a name. Pure.
-module(ertslab_estimator).

-export_type([by_pair/0]).

%% The numbers of an arm's runs, by pair.
-type by_pair() :: #{Pair :: pos_integer() => number()}.

%% What reports call its values.
-callback words() -> binary().
%% The estimator that is shown beside it.
-callback other() -> ertslab_experiment:estimator().
%% The estimator that gives the verdict instead if the pairs take several layouts of code in turn.
-callback for_builds() -> ertslab_experiment:estimator().
%% The number of a run, from its values of one metric, in their unit (of points: their slopes).
-callback of_run([number(), ...]) -> float().
%% The number of an arm, from those of its runs.
-callback of_runs([number(), ...]) -> float().
%% Whether a run's number depends on how many values the run has, so that compared runs need equal numbers of values.
-callback is_by_length() -> boolean().
%% Whether the effect of the turns is first removed from the values ({@link ertslab_turn_effect}), for this kind of rounds.
-callback is_without_turns(ertslab_experiment:rounds()) -> boolean().
%% The ratio of an arm to the baseline; element k of both lists is pair k, and all numbers are above 0.
-callback ratio(Baseline :: [number(), ...], Own :: [number(), ...]) -> ertslab_stats:ratio().
%% From the numbers of the baseline and of an arm in each case: how many runs count for all cases together, and the samples
%% that `overall' makes one ratio of. All samples have the same number of pairs.
-callback over_cases([{by_pair(), by_pair()}, ...]) -> {Runs :: non_neg_integer(), [{[float()], [float()]}, ...]}.
-callback overall([{[float(), ...], [float(), ...]}, ...]) -> ertslab_stats:ratio().
%% The smallest number of pairs whose interval reaches a confidence between 0 and 1.
-callback min_pairs(Confidence :: float()) -> pos_integer().
%% The default number of pairs of a comparison.
-callback pairs(ertslab_experiment:rounds()) -> pos_integer().
%% Whether disturbed runs are repeated.
-callback is_replacing_disturbed(ertslab_experiment:rounds()) -> boolean().
%% Whether the values of runs still change, at a level between 0 and 1.
-callback steady([[number(), ...]], Level :: float()) -> ertslab_steady:result().
%% Whether the self-test fails if this estimator says `changed' too often in any of its kinds of noise.
-callback is_promised() -> boolean().
