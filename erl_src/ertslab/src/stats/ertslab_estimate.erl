%% @doc The estimators by name, and the calls of their functions: see {@link ertslab_estimator}. Pure.
-module(ertslab_estimate).

-export([names/0, default/0, of_text/1, words/1, other/1, for_builds/1, of_run/2, of_runs/2, levelled/3, compared/4,
         ratio/3, paired_ratio/3, has_ratio/3, over_cases/2, overall/2, min_pairs/2, pairs/2,
         is_replacing_disturbed/2, steady/3, is_promised/1]).
-export_type([name/0]).

-type name() :: ertslab_experiment:estimator().

%% Of the intervals of ratios.
-define(CONFIDENCE, 0.95).
%% Reports that list all estimators use this order.
-define(MODULES, [{typical, ertslab_estimator_typical},
                  {floor, ertslab_estimator_floor}]).

-spec names() -> [name(), ...].
names() -> [Name || {Name, _} <- ?MODULES].

%% @doc The estimator if none is named, as in folders of format 1, which knew no other.
-spec default() -> name().
default() -> typical.

%% @doc The estimator that a file names; the default for anything else.
-spec of_text(term()) -> name().
of_text(Text) ->
    case [Name || Name <- names(), atom_to_binary(Name) =:= Text] of
        [Name] -> Name;
        [] -> default()
    end.

module(Name) ->
    {Name, Module} = lists:keyfind(Name, 1, ?MODULES),
    Module.

%% @doc What reports call its values.
-spec words(name()) -> binary().
words(Name) -> (module(Name)):words().

%% @doc The estimator that is shown beside the chosen one.
-spec other(name()) -> name().
other(Name) -> (module(Name)):other().

%% @doc The estimator that gives the verdict instead if several layouts of code take turns.
-spec for_builds(name()) -> name().
for_builds(Name) -> (module(Name)):for_builds().

%% @doc The number of a run, from its values of one metric, in their unit.
-spec of_run(name(), [ertslab_experiment:value(), ...]) -> float().
of_run(Name, Values) -> (module(Name)):of_run(ertslab_slope:numbers(Values)).

%% @doc The number of an arm, from those of its runs.
-spec of_runs(name(), [number(), ...]) -> float().
of_runs(Name, Numbers) -> (module(Name)):of_runs(Numbers).

%% @doc The values of runs, shortened to equal numbers among the runs that are compared, if the estimator needs that.
%% Runs are compared if `Together' gives the same for their keys.
-spec levelled(name(), fun((Key) -> term()), #{Key => [Value, ...]}) -> #{Key => [Value, ...]}.
levelled(Name, Together, Runs) ->
    case (module(Name)):is_by_length() of
        true -> ertslab_levelled:to_shortest(Together, Runs);
        false -> Runs
    end.

%% @doc The values that the verdict is based on: as many of each compared run, and without what all runs of a turn have in
%% common, as far as the estimator wants that.
-spec compared(name(), ertslab_experiment:rounds(), fun((Key) -> term()), #{Key => [ertslab_experiment:value(), ...]}) ->
          #{Key => [ertslab_experiment:value(), ...]}.
compared(Name, Rounds, Together, Runs) ->
    Levelled = levelled(Name, Together, Runs),
    case (module(Name)):is_without_turns(Rounds) of
        true -> ertslab_turn_effect:removed(Together, Levelled);
        false -> Levelled
    end.

%% @doc The ratio of an arm to the baseline; element k of both lists is pair k, and
%% all numbers are above 0.
-spec ratio(name(), Baseline :: [number(), ...], Own :: [number(), ...]) -> ertslab_stats:ratio().
ratio(Name, Baseline, Own) -> (module(Name)):ratio(Baseline, Own).

%% @doc The ratio over the pairs that both have, from the number of each pair's run. There is none if the pairs are too few or a
%% number is 0 or less, as the slope of something that does not grow may be.
-spec paired_ratio(name(), Baseline :: #{Pair => number()}, Own :: #{Pair => number()}) -> ertslab_stats:ratio() | none.
paired_ratio(Name, Baseline, Own) ->
    Pairs = lists:sort(maps:keys(maps:intersect(Baseline, Own))),
    [Bases, Owns] = [[float(maps:get(Pair, Numbers)) || Pair <- Pairs] || Numbers <- [Baseline, Own]],
    case has_ratio(Name, length(Pairs), Bases ++ Owns) of
        true -> ratio(Name, Bases, Owns);
        false -> none
    end.

%% @doc Whether so many pairs with these numbers have a ratio with an interval.
-spec has_ratio(name(), non_neg_integer(), [number()]) -> boolean().
has_ratio(Name, Pairs, Numbers) -> Pairs >= min_pairs(Name, ?CONFIDENCE) andalso lists:min(Numbers) > 0.

%% @doc The result over all cases, from the numbers of the baseline and of an arm in each case: how many runs count, and the
%% samples for {@link overall/2}.
-spec over_cases(name(), [{ertslab_estimator:by_pair(), ertslab_estimator:by_pair()}, ...]) ->
          {non_neg_integer(), [{[float()], [float()]}, ...]}.
over_cases(Name, Cases) -> (module(Name)):over_cases(Cases).

%% @doc The ratio over all cases.
-spec overall(name(), [{[float(), ...], [float(), ...]}, ...]) -> ertslab_stats:ratio().
overall(Name, Samples) -> (module(Name)):overall(Samples).

%% @doc The smallest number of pairs whose interval reaches a confidence between 0 and 1.
-spec min_pairs(name(), float()) -> pos_integer().
min_pairs(Name, Confidence) -> (module(Name)):min_pairs(Confidence).

%% @doc The default number of pairs of a comparison.
-spec pairs(name(), ertslab_experiment:rounds()) -> pos_integer().
pairs(Name, Rounds) -> (module(Name)):pairs(Rounds).

%% @doc Whether disturbed runs are repeated.
-spec is_replacing_disturbed(name(), ertslab_experiment:rounds()) -> boolean().
is_replacing_disturbed(Name, Rounds) -> (module(Name)):is_replacing_disturbed(Rounds).

%% @doc Whether the values of runs still change, at a level between 0 and 1.
-spec steady(name(), [[number(), ...]], float()) -> ertslab_steady:result().
steady(Name, Runs, Level) -> (module(Name)):steady(Runs, Level).

%% @doc Whether it promises to say `changed' by mistake in at most 5 % of comparisons, whatever the noise.
-spec is_promised(name()) -> boolean().
is_promised(Name) -> (module(Name)):is_promised().
