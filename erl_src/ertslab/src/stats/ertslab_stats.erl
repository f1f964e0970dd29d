%% @doc Rank statistics for paired comparisons of runs.
%%
%% One fresh VM gives one number, the runs come in randomised pairs, and a
%% pair gives the ratio variant / baseline. The functions here turn those
%% numbers into an estimate, an interval and a p value without assuming that
%% the noise is normal: the signed-rank test of Wilcoxon (1945), the estimate
%% of Hodges and Lehmann (1963) that belongs to it, the interval got by
%% inverting the test (Tukey), and the adjustment of Holm (1979) where several
%% comparisons are judged together. The formulas are those of Hollander and
%% Wolfe, Nonparametric Statistical Methods, sections 3.1 to 3.3.
%%
%% All functions are pure. Samples are non-empty lists of numbers in any unit,
%% in any order; an empty sample is a `function_clause' error. Up to
%% 50 observations the null distribution of the signed-rank statistic is
%% exact; above, it is the normal approximation with continuity correction.
-module(ertslab_stats).

-export([median/1, quantile/2, mad/1]).
-export([walsh_averages/1, hodges_lehmann/1]).
-export([signed_rank_p/1, signed_rank_interval/2, min_pairs/1, exchange_p/1]).
-export([ratio/2, holm/1, normal_quantile/1, student_p/2, student_quantile/2]).

-export_type([sample/0, limit/0, ratio/0]).

-type sample() :: [number(), ...].
%% Observations, all in one unit.

-type limit() :: float() | too_few.
%% A bound of an interval, or `too_few' where the sample is too small for the
%% test to reach that confidence at all.

-type ratio() :: #{estimate := float(),
                   low := limit(), high := limit(),
                   low90 := limit(), high90 := limit(),
                   p := float(), pairs := pos_integer(),
                   sd_log := limit()}.
%% What {@link ratio/2} gives. The bounds are ratios like the estimate;
%% `sd_log' is the standard deviation of the natural logs of the pairs' ratios
%% (`too_few' for one pair).

%% Up to this many observations the null distribution is exact. The counts
%% then are below 2^50, so they are small integers and exact as floats.
-define(EXACT_MAX, 50).

%% The smallest normal double: a p value is never reported as zero.
-define(P_FLOOR, 2.2250738585072014e-308).

%% Halvings of the bracket (-40, 40) until it is narrower than a rounding
%% error of a double.
-define(BISECTIONS, 64).

%% @doc The median, in the unit of the sample. Of an even number of
%% observations it is the mean of the two in the middle.
-spec median(sample()) -> float().
median([_ | _] = Sample) ->
    median_sorted(lists:sort(Sample)).

%% @doc The quantile at a probability from 0 to 1, in the unit of the sample:
%% type 7 of Hyndman and Fan (1996), the default of R and NumPy. Another
%% probability is a `function_clause' error.
-spec quantile(sample(), number()) -> float().
quantile([_ | _] = Sample, Prob) when Prob >= 0, Prob =< 1 ->
    Sorted = lists:sort(Sample),
    Position = (length(Sorted) - 1) * Prob,
    Index = floor(Position),
    case lists:nthtail(Index, Sorted) of
        [Last] -> float(Last);
        [Low, High | _] -> Low + (Position - Index) * float(High - Low)
    end.

%% @doc The median absolute deviation from the median, in the unit of the
%% sample and not scaled (times 1.4826 it estimates the standard deviation of
%% a normal sample).
-spec mad(sample()) -> float().
mad(Sample) ->
    Centre = median(Sample),
    median([abs(X - Centre) || X <- Sample]).

%% @doc The n(n+1)/2 Walsh averages, ascending: the means of all pairs of
%% observations, each observation paired with itself too.
-spec walsh_averages(sample()) -> [float(), ...].
walsh_averages([_ | _] = Sample) ->
    lists:sort(walsh(Sample)).

%% @doc The Hodges-Lehmann estimate of the centre of a symmetric distribution,
%% in the unit of the sample: the median of the Walsh averages (Hollander and
%% Wolfe, 3.2).
-spec hodges_lehmann(sample()) -> float().
hodges_lehmann(Sample) ->
    median_sorted(walsh_averages(Sample)).

%% @doc The two-sided p value of the signed-rank test that the sample is
%% symmetric around 0 (Hollander and Wolfe, 3.1), above 0 and at most 1.
%%
%% Zeros are dropped. Tied magnitudes share the mean of their ranks, and the p
%% value then is that of the permutation distribution given those ranks. With
%% more than 50 observations left it is the normal approximation with
%% continuity correction. A sample of nothing but zeros says nothing against
%% the symmetry: its p value is 1.
-spec signed_rank_p(sample()) -> float().
signed_rank_p([_ | _] = Sample) ->
    exchange_p([case X > 0 of true -> Rank; false -> -Rank end
                || {Rank, X} <- doubled_ranks([X || X <- Sample, X /= 0])]).

%% @doc The two-sided p value of the sum of these scores, one of each pair, where the
%% exchange of a pair's two sides turns its score's sign, and each such exchange
%% is as likely as not. Above 0 and at most 1; that of no scores is 1. With more
%% than 50 scores that are not 0 it is the normal approximation with continuity
%% correction for scores that are twice a rank.
-spec exchange_p([integer()]) -> float().
exchange_p(Scores) ->
    Sizes = [abs(Score) || Score <- Scores, Score =/= 0],
    Above = lists:sum([Score || Score <- Scores, Score > 0]),
    Smaller = min(Above, lists:sum(Sizes) - Above),
    case length(Sizes) of
        N when N =< ?EXACT_MAX -> exact_p(Sizes, Smaller);
        _ -> normal_p(Sizes, Smaller)
    end.

%% @doc The interval of a confidence between 0 and 1 for the centre of the
%% sample, in its unit: the values the two-sided signed-rank test does not
%% reject (Hollander and Wolfe, 3.3).
%%
%% Its bounds are Walsh averages and belong to it. The confidence is at least
%% the one asked for; zeros and ties stay in the sample and only make it more
%% so. `too_few' where no sample of that size reaches the confidence, see
%% {@link min_pairs/1}. Another confidence is a `function_clause' error.
-spec signed_rank_interval(sample(), float()) -> {float(), float()} | too_few.
signed_rank_interval(Sample, Confidence)
  when Confidence > 0, Confidence < 1 ->
    walsh_interval(walsh_averages(Sample), length(Sample), Confidence).

%% @doc The smallest number of observations with which
%% {@link signed_rank_interval/2} reaches a confidence between 0 and 1, and
%% {@link signed_rank_p/1} can be as small as 1 - confidence: the smallest n
%% whose smallest p value, 2 / 2^n, is not above 1 - confidence. It is 6 for
%% 0.95 and 5 for 0.90. Another confidence is a `function_clause' error.
-spec min_pairs(float()) -> pos_integer().
min_pairs(Confidence) when Confidence > 0, Confidence < 1 ->
    min_pairs(1, 1 - Confidence).

%% @doc The ratio variant / baseline of paired measurements (numbers above 0 in
%% one unit; element k of both lists is pair k).
%%
%% The analysis is of the logs of the pairs' ratios, and its results are taken
%% back to ratios: `estimate' is the Hodges-Lehmann estimate, `low' and `high'
%% bound the interval of 95%, `low90' and `high90' that of 90%, each `too_few'
%% where {@link signed_rank_interval/2} says so; `p' is the two-sided p value
%% of a ratio of 1. Lists of different lengths are a `function_clause' error,
%% a measurement of 0 or less is a `badarith' error.
-spec ratio(Baseline :: sample(), Variant :: sample()) -> ratio().
ratio([_ | _] = Baseline, Variant) when length(Baseline) =:= length(Variant) ->
    Logs = lists:sort(lists:zipwith(fun log_ratio/2, Baseline, Variant)),
    Walsh = walsh_averages(Logs),
    Pairs = length(Logs),
    {Low, High} = ratio_limits(walsh_interval(Walsh, Pairs, 0.95)),
    {Low90, High90} = ratio_limits(walsh_interval(Walsh, Pairs, 0.90)),
    #{estimate => math:exp(median_sorted(Walsh)),
      low => Low, high => High,
      low90 => Low90, high90 => High90,
      p => signed_rank_p(Logs), pairs => Pairs,
      sd_log => standard_deviation(Logs)}.

%% @doc The p values of a family of tests, adjusted by the step-down method of
%% Holm (1979), in the order given: the k-th smallest of m is multiplied by
%% m - k + 1, is never below the adjusted value of a smaller one, and at
%% most 1. A family of no tests has no p values to adjust: it stays empty.
-spec holm([number()]) -> [float()].
holm(Ps) ->
    Ordered = lists:keysort(2, lists:enumerate(Ps)),
    Adjusted = step_down(Ordered, length(Ps), 0.0),
    [P || {_, P} <- lists:keysort(1, Adjusted)].

%% @doc The quantile of the standard normal distribution at a probability
%% between 0 and 1, by bisection of `math:erfc/1'. Another probability is a
%% `function_clause' error.
-spec normal_quantile(float()) -> float().
normal_quantile(Prob) when Prob > 0, Prob < 1 ->
    bisect(Prob, -40.0, 40.0, ?BISECTIONS).

%% @doc The chance that a value of Student's distribution with so many degrees of freedom is
%% at least as far from 0 (Abramowitz and Stegun, 26.7.3 and 26.7.4), never below 1.0e-12.
-spec student_p(float(), pos_integer()) -> float().
student_p(T, Freedom) ->
    Angle = math:atan(abs(T) / math:sqrt(Freedom)),
    max(1.0e-12, 1 - student_within(Freedom rem 2, Freedom, Angle)).

student_within(1, 1, Angle) -> 2 * Angle / math:pi();
student_within(1, Freedom, Angle) ->
    2 / math:pi() * (Angle + math:sin(Angle) * student_sum(math:cos(Angle), 2, Freedom - 2, Angle));
student_within(0, Freedom, Angle) -> math:sin(Angle) * student_sum(1.0, 1, Freedom - 2, Angle).

%% Each term is the one before it times K / (K + 1) and the square of the cosine.
student_sum(Term, K, Last, _) when K > Last -> Term;
student_sum(Term, K, Last, Angle) ->
    Cosine = math:cos(Angle),
    Term + student_sum(Term * K / (K + 1) * Cosine * Cosine, K + 2, Last, Angle).

%% @doc How far from 0 a value of Student's distribution is with that chance, from 1.0e-9 to 1.
-spec student_quantile(float(), pos_integer()) -> float().
student_quantile(Chance, Freedom) when Chance >= 1.0e-9, Chance =< 1 -> student_quantile(Chance, Freedom, 0.0, 1.0e6, ?BISECTIONS).

student_quantile(_, _, Low, High, 0) -> (Low + High) / 2;
student_quantile(Chance, Freedom, Low, High, Steps) ->
    Middle = (Low + High) / 2,
    case student_p(Middle, Freedom) > Chance of
        true -> student_quantile(Chance, Freedom, Middle, High, Steps - 1);
        false -> student_quantile(Chance, Freedom, Low, Middle, Steps - 1)
    end.

%% Order statistics

median_sorted(Sorted) ->
    N = length(Sorted),
    case {N rem 2, lists:nthtail((N - 1) div 2, Sorted)} of
        {1, [Middle | _]} -> float(Middle);
        {0, [Low, High | _]} -> (Low + High) / 2
    end.

walsh([]) ->
    [];
walsh([X | Rest] = Sample) ->
    [(X + Y) / 2 || Y <- Sample] ++ walsh(Rest).

%% The sample standard deviation, with n - 1.
standard_deviation([_]) ->
    too_few;
standard_deviation(Sample) ->
    N = length(Sample),
    Mean = lists:sum(Sample) / N,
    Squares = [(X - Mean) * (X - Mean) || X <- Sample],
    math:sqrt(lists:sum(Squares) / (N - 1)).

%% The signed-rank test

%% Observations with twice their rank by magnitude: the mean rank of the
%% positions First to Last is (First + Last) / 2, twice that is an integer.
doubled_ranks(Sample) ->
    Order = fun(X, Y) -> abs(X) =< abs(Y) end,
    doubled_ranks(lists:sort(Order, Sample), 1).

doubled_ranks([], _) ->
    [];
doubled_ranks([X | _] = Sorted, First) ->
    {Tied, Rest} = lists:splitwith(fun(Y) -> abs(Y) == abs(X) end, Sorted),
    Next = First + length(Tied),
    [{First + Next - 1, Y} || Y <- Tied] ++ doubled_ranks(Rest, Next).

%% Twice the chance of a rank sum of at most Smaller. The distribution is
%% symmetric with and without ties, so the smaller of the two sums serves both
%% sides.
exact_p(Ranks, Smaller) ->
    Tail = lists:sum(lists:sublist(null_counts(Ranks), Smaller + 1)),
    min(1.0, 2 * Tail / (1 bsl length(Ranks))).

%% The sum of the ranks above 0 has the mean sum(R) / 2 and the variance
%% sum(R^2) / 4 whether or not there are ties. The ranks are doubled, so the
%% continuity correction of half a rank is 1.
normal_p(Ranks, Smaller) ->
    Distance = lists:sum(Ranks) / 2 - Smaller - 1,
    Deviation = math:sqrt(lists:sum([R * R || R <- Ranks])) / 2,
    P = 2 * normal_tail(max(0.0, Distance) / Deviation),
    max(?P_FLOOR, P).

%% Of the 2^n ways to give each rank to one side or the other, how many have
%% the rank sum 0, 1, 2, ... on the first side.
null_counts(Ranks) ->
    lists:foldl(fun add_rank/2, [1], Ranks).

add_rank(Rank, Counts) ->
    Zeros = lists:duplicate(Rank, 0),
    lists:zipwith(fun erlang:'+'/2, Counts ++ Zeros, Zeros ++ Counts).

%% The interval

min_pairs(N, Alpha) ->
    case math:pow(2, 1 - N) =< Alpha of
        true -> N;
        false -> min_pairs(N + 1, Alpha)
    end.

%% From the k-th smallest to the k-th largest of the ascending Walsh averages.
walsh_interval(Walsh, N, Confidence) ->
    case N < min_pairs(Confidence) of
        true ->
            too_few;
        false ->
            K = max(1, order(N, (1 - Confidence) / 2)),
            {lists:nth(K, Walsh), lists:nth(length(Walsh) + 1 - K, Walsh)}
    end.

%% How many of the rank sums 0, 1, 2, ... of N untied observations have a
%% cumulative chance of at most Tail.
order(N, Tail) when N =< ?EXACT_MAX ->
    Counts = null_counts(lists:seq(1, N)),
    order_exact(Counts, 0, Tail * (1 bsl N), 0);
order(N, Tail) ->
    Mean = N * (N + 1) / 4,
    Deviation = math:sqrt(N * (N + 1) * (2 * N + 1) / 24),
    floor(Mean + 0.5 + normal_quantile(Tail) * Deviation).

order_exact([Count | Counts], Sum, Limit, K) when Sum + Count =< Limit ->
    order_exact(Counts, Sum + Count, Limit, K + 1);
order_exact(_, _, _, K) ->
    K.

%% Ratios

%% A difference of logs, so that swapping the sides changes the sign exactly.
log_ratio(Baseline, Variant) ->
    math:log(Variant) - math:log(Baseline).

ratio_limits(too_few) -> {too_few, too_few};
ratio_limits({Low, High}) -> {math:exp(Low), math:exp(High)}.

%% Holm

step_down([], 0, _) ->
    [];
step_down([{Index, P} | Rest], Factor, Before) ->
    Adjusted = max(Before, min(1.0, float(P * Factor))),
    [{Index, Adjusted} | step_down(Rest, Factor - 1, Adjusted)].

%% The normal distribution

%% The chance of more than Z.
normal_tail(Z) ->
    math:erfc(Z / math:sqrt(2)) / 2.

bisect(_, Low, High, 0) ->
    (Low + High) / 2;
bisect(Prob, Low, High, Steps) ->
    Middle = (Low + High) / 2,
    case normal_tail(-Middle) < Prob of
        true -> bisect(Prob, Middle, High, Steps - 1);
        false -> bisect(Prob, Low, Middle, Steps - 1)
    end.
