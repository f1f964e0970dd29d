%% @doc The verdict on a measured ratio.
%%
%% A ratio of {@link ertslab_stats:ratio/2} is judged against a bound, the
%% smallest relative effect of interest. There are three verdicts, and "not
%% significant" is none of them: the ratio has changed; it is the same up to
%% the bound; or the pairs are too few to decide, and then the verdict includes how
%% many more are needed.
-module(ertslab_verdict).

-export([verdict/2, smallest_effect/3]).

-export_type([ratio/0, options/0, verdict/0]).

-type ratio() :: #{estimate := float(),
                   low := ertslab_stats:limit(),
                   high := ertslab_stats:limit(),
                   low90 := ertslab_stats:limit(),
                   high90 := ertslab_stats:limit(),
                   p := float(),
                   pairs := pos_integer(),
                   sd_log := ertslab_stats:limit(),
                   p_adjusted => float(),
                   _ => _}.
%% A ratio of {@link ertslab_stats:ratio/2}. If it is one of several,
%% `p_adjusted' is its `p' adjusted by {@link ertslab_stats:holm/1}.

-type options() :: #{bound => float(), estimator => ertslab_estimate:name(), _ => _}.
%% `bound': the smallest relative effect of interest, above 0 and below 1.
%% The default 0.01 is one percent. `estimator': the one that gave the ratio, by default {@link ertslab_estimate:default/0}.

-type verdict() :: #{verdict := changed | same | unsure,
                     more_pairs := pos_integer() | more_than_1000 | none}.
%% `more_pairs' is `none' except for `unsure'.

%% One percent: about the smallest effect that a few dozen pairs of fresh VMs
%% resolve.
-define(DEFAULT_BOUND, 0.01).

%% The accepted probability of calling a ratio of 1 changed, over the whole family
%% of comparisons if p values are adjusted.
-define(ALPHA, 0.05).

%% The confidence of the interval that has to lie inside the bounds: two
%% one-sided tests of 5% each (Schuirmann 1987) take the interval of 90%.
-define(SAME_CONFIDENCE, 0.90).

%% The probability that the requested pairs settle the question, if the
%% estimate so far is right.
-define(POWER, 0.80).

%% The asymptotic relative efficiency of the signed-rank test to the t test
%% for normal noise, 3 / pi (Hollander and Wolfe, 3.11). The number of pairs from a normal
%% approximation is divided by it.
-define(EFFICIENCY, (3 / math:pi())).

%% No larger number of pairs is requested; above it the answer is `more_than_1000'.
-define(MAX_MORE, 1000).

%% @doc The verdict on a ratio.
%%
%% `changed': the interval of 95% excludes 1, the estimate is at least the
%% bound away from 1, and `p_adjusted', if present, is at most 0.05.
%%
%% `same': the interval of 90% lies strictly between 1 - bound and 1 + bound.
%%
%% `unsure': neither. `more_pairs' is the number of further pairs that
%% would settle it with a probability of 80% if the estimate and the standard
%% deviation so far are right (normal approximation, corrected by the efficiency of the
%% signed-rank test). If the estimate is at least the bound away from 1, these are the pairs
%% that exclude 1, else the pairs that fit the interval of 90% between the bounds.
%% The number is at least 1, and `more_than_1000' above 1000.
%%
%% A bound that is not between 0 and 1 or a ratio without one of its keys is a
%% `function_clause' error.
-spec verdict(ratio(), options()) -> verdict().
verdict(Ratio, Options) ->
    decide(Ratio, maps:get(bound, Options, ?DEFAULT_BOUND), maps:get(estimator, Options, ertslab_estimate:default())).

decide(#{estimate := _, low := _, high := _, low90 := _, high90 := _,
         p := _, pairs := _, sd_log := _} = Ratio, Bound, Estimator)
  when Bound > 0, Bound < 1 ->
    case {changed(Ratio, Bound), same(Ratio, Bound)} of
        {true, _} ->
            #{verdict => changed, more_pairs => none};
        {false, true} ->
            #{verdict => same, more_pairs => none};
        {false, false} ->
            #{verdict => unsure, more_pairs => more_pairs(Ratio, Bound, Estimator)}
    end.

changed(#{estimate := Estimate} = Ratio, Bound) ->
    excludes_one(Ratio) andalso beyond(Estimate, Bound)
        andalso maps:get(p_adjusted, Ratio, 0.0) =< ?ALPHA.

excludes_one(#{low := too_few}) -> false;
excludes_one(#{low := Low, high := High}) -> Low > 1 orelse High < 1.

beyond(Estimate, Bound) ->
    Estimate >= 1 + Bound orelse Estimate =< 1 - Bound.

same(#{low90 := too_few}, _) -> false;
same(#{low90 := Low, high90 := High}, Bound) ->
    Low > 1 - Bound andalso High < 1 + Bound.

%% The number of further pairs

more_pairs(#{pairs := Pairs} = Ratio, Bound, Estimator) ->
    case needed_pairs(Ratio, Bound, Estimator) of
        infinity -> more_than_1000;
        Needed when Needed - Pairs > ?MAX_MORE -> more_than_1000;
        Needed -> max(1, Needed - Pairs)
    end.

needed_pairs(#{sd_log := too_few} = Ratio, _, Estimator) ->
    ertslab_estimate:min_pairs(Estimator, 1 - alpha(Ratio));
needed_pairs(#{estimate := Estimate} = Ratio, Bound, Estimator) ->
    case beyond(Estimate, Bound) of
        true -> pairs_to_exclude_one(Ratio, Estimator);
        false -> pairs_to_fit(Ratio, Bound, Estimator)
    end.

pairs_to_exclude_one(#{estimate := Estimate, sd_log := Sd} = Ratio, Estimator) ->
    Alpha = alpha(Ratio),
    Z = ertslab_stats:normal_quantile(1 - Alpha / 2)
        + ertslab_stats:normal_quantile(?POWER),
    max(ertslab_estimate:min_pairs(Estimator, 1 - Alpha),
        pairs(Sd, abs(math:log(Estimate)), Z)).

%% @doc The smallest relative change that is found with a probability of 80%, given the number of pairs,
%% the standard deviation of their log ratios, and the number of comparisons that
%% are judged together: the condition of {@link verdict/2} solved for the effect
%% (normal approximation, first step of Holm).
-spec smallest_effect(float(), pos_integer(), pos_integer()) -> float().
smallest_effect(Sd, Pairs, Comparisons) ->
    Z = ertslab_stats:normal_quantile(1 - ?ALPHA / Comparisons / 2)
        + ertslab_stats:normal_quantile(?POWER),
    math:exp(Z * Sd / math:sqrt(Pairs * ?EFFICIENCY)) - 1.

%% The room is the distance from the estimate to the nearer bound. Both sides have to fit,
%% so each may fail with half of the accepted probability (Chow, Shao and Wang 2003,
%% 3.1: exact for an estimate of 1, on the safe side otherwise).
pairs_to_fit(#{estimate := Estimate, sd_log := Sd}, Bound, Estimator) ->
    Log = math:log(Estimate),
    Room = min(math:log(1 + Bound) - Log, Log - math:log(1 - Bound)),
    Z = ertslab_stats:normal_quantile((1 + ?SAME_CONFIDENCE) / 2)
        + ertslab_stats:normal_quantile((1 + ?POWER) / 2),
    max(ertslab_estimate:min_pairs(Estimator, ?SAME_CONFIDENCE), pairs(Sd, Room, Z)).

%% The number of pairs with which Z standard errors are as wide as the effect. No number
%% is enough for an effect of 0, which occurs if 1 + bound rounds to 1. The
%% atom is above all numbers, so max/2 keeps it.
pairs(Sd, Effect, Z) when Effect > 0 ->
    Errors = Z * Sd / Effect,
    ceil(Errors * Errors / ?EFFICIENCY);
pairs(_, _, _) ->
    infinity.

%% The p value that this ratio needs for its adjusted one to be at most
%% ?ALPHA, if the adjustment multiplies it by the same factor as so far.
alpha(#{p := P, p_adjusted := Adjusted}) ->
    ?ALPHA * min(1.0, P / Adjusted);
alpha(_) ->
    ?ALPHA.
