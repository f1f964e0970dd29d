%% @doc The verdict on a measured ratio.
%%
%% A ratio of {@link ertslab_stats:ratio/2} is judged against a bound, the
%% smallest relative effect of interest. There are three verdicts, and "not
%% significant" is none of them: the ratio has changed; it is the same up to
%% the bound; or the pairs are too few to decide, and then the verdict includes how
%% many more are needed. A change that was measured beside a control must be confirmed by
%% the ratio to the control.
-module(ertslab_verdict).

-export([verdict/2, beside_control/1, is_confirmed/2, smallest_effect/4]).

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

-type options() :: #{bound => float(), estimator => ertslab_estimate:name(), control => boolean(), _ => _}.
%% `bound': the smallest relative effect of interest, above 0 and below 1.
%% The default 0.01 is one percent. `estimator': the one that gave the ratio, by default {@link ertslab_estimate:default/0}.
%% `control': whether a change must be confirmed by {@link beside_control/1}, by default not.

-type verdict() :: #{verdict := changed | same | unsure,
                     more_pairs := pos_integer() | more_than_1000 | none}.
%% `more_pairs' is `none' except for `unsure'.

-type judged() :: #{verdict := atom(), more_pairs := atom() | pos_integer(), ratio := none | estimate(),
                    to_control := none | estimate(), _ => _}.
%% A result that was judged. `to_control' is its ratio to the control, if there is one.

-type estimate() :: #{estimate := number(), low => ertslab_stats:limit() | none, high => ertslab_stats:limit() | none, _ => _}.

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
%% that exclude 1 (twice, if a change must be confirmed), else the pairs that fit the interval of 90% between the bounds.
%% The number is at least 1, and `more_than_1000' above 1000.
%%
%% A bound that is not between 0 and 1 or a ratio without one of its keys is a
%% `function_clause' error.
-spec verdict(ratio(), options()) -> verdict().
verdict(Ratio, Options) ->
    decide(Ratio, maps:get(bound, Options, ?DEFAULT_BOUND), maps:get(estimator, Options, ertslab_estimate:default()),
           maps:get(control, Options, false)).

%% @doc The result, judged by its ratio to the control as well. The control is the baseline under another name: what
%% differs from the one differs from the other. A result that would be `changed' but is not confirmed is `unsure',
%% without a number of pairs. This second test can only take a verdict back, so it is not one of the family
%% that Holm's method corrects, and it has no bound.
%%
%% All else stays as it is: other verdicts, and results without a ratio to a control (the control itself, the baseline,
%% exact counts, a comparison without a control).
-spec beside_control(Result) -> Result when Result :: judged().
beside_control(#{verdict := changed, ratio := #{} = Ratio, to_control := #{} = ToControl} = Result) ->
    case is_confirmed(Ratio, ToControl) of
        true -> Result;
        false -> Result#{verdict := unsure, more_pairs := none}
    end;
beside_control(Result) -> Result.

%% @doc Whether the 95% interval of the ratio to the control excludes 1 on the side of the ratio to the baseline.
-spec is_confirmed(estimate(), estimate()) -> boolean().
is_confirmed(#{estimate := Estimate}, #{low := Low, high := High}) ->
    case Estimate > 1 of
        true -> is_number(Low) andalso Low > 1;
        false -> is_number(High) andalso High < 1
    end.

decide(#{estimate := _, low := _, high := _, low90 := _, high90 := _,
         p := _, pairs := _, sd_log := _} = Ratio, Bound, Estimator, Control)
  when Bound > 0, Bound < 1 ->
    case {changed(Ratio, Bound), same(Ratio, Bound)} of
        {true, _} ->
            #{verdict => changed, more_pairs => none};
        {false, true} ->
            #{verdict => same, more_pairs => none};
        {false, false} ->
            #{verdict => unsure, more_pairs => more_pairs(Ratio, Bound, Estimator, Control)}
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

more_pairs(#{pairs := Pairs} = Ratio, Bound, Estimator, Control) ->
    case needed_pairs(Ratio, Bound, Estimator, Control) of
        infinity -> more_than_1000;
        Needed when Needed - Pairs > ?MAX_MORE -> more_than_1000;
        Needed -> max(1, Needed - Pairs)
    end.

needed_pairs(#{sd_log := too_few} = Ratio, _, Estimator, _) ->
    ertslab_estimate:min_pairs(Estimator, 1 - alpha(Ratio));
needed_pairs(#{estimate := Estimate} = Ratio, Bound, Estimator, Control) ->
    case beyond(Estimate, Bound) of
        true -> pairs_to_exclude_one(Ratio, Estimator, Control);
        false -> pairs_to_fit(Ratio, Bound, Estimator)
    end.

pairs_to_exclude_one(#{estimate := Estimate, sd_log := Sd} = Ratio, Estimator, Control) ->
    Alpha = alpha(Ratio),
    Z = ertslab_stats:normal_quantile(1 - Alpha / 2) + room(Control),
    max(ertslab_estimate:min_pairs(Estimator, 1 - Alpha),
        pairs(Sd, abs(math:log(Estimate)), Z)).

%% @doc The smallest relative change that is found with a probability of 80%, given the number of pairs,
%% the standard deviation of their log ratios, the number of comparisons that
%% are judged together, and whether a control is measured: the conditions of {@link verdict/2} and
%% {@link beside_control/1} solved for the effect (normal approximation, first step of Holm).
-spec smallest_effect(float(), pos_integer(), pos_integer(), Control :: boolean()) -> float().
smallest_effect(Sd, Pairs, Comparisons, Control) ->
    Z = ertslab_stats:normal_quantile(1 - ?ALPHA / Comparisons / 2) + room(Control),
    math:exp(Z * Sd / math:sqrt(Pairs * ?EFFICIENCY)) - 1.

%% How many standard errors a ratio must lie further from 1 than a test demands to pass it with a probability of 80%. Beside a
%% control it must pass two tests. Their errors have a correlation of 1/2, since they have the arm in common. By the bivariate
%% normal distribution both are passed so often at 1.05 for the 2 results of a single arm and metric, 0.97 for 4, 0.90 for 10 and
%% 0.85 for 100: Holm makes only the first test stricter, so the second is then passed nearly always. With 1.0 for all, both are
%% passed by 79% with 2 results, by 84% with 100, and by 75% without a correction (`--quick').
room(false) -> ertslab_stats:normal_quantile(?POWER);
room(true) -> 1.0.

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
