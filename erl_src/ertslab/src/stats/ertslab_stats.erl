%% @doc Rank statistics for paired comparisons of runs.
%%
%% One fresh VM gives one number, the runs come in randomised pairs, and a
%% pair gives the ratio variant / baseline. The functions here turn those
%% numbers into an estimate, an interval and a p value without assuming that
%% the noise is normal: the signed-rank test of Wilcoxon (1945), the estimate
%% of Hodges and Lehmann (1963) that belongs to it, the interval from
%% inverting the test (Tukey), and the adjustment of Holm (1979) for several
%% comparisons that are judged together. The formulas are those of Hollander and
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
%% A bound of an interval, or `too_few' if the sample is too small for the
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
%% are then below 2^50, so they are small integers and exact as floats.
-define(EXACT_MAX, 50).

%% Up to this many observations all Walsh averages are listed: 45,150 averages.
-define(LISTED_MAX, 300).

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
%% observations, including each observation paired with itself.
-spec walsh_averages(sample()) -> [float(), ...].
walsh_averages([_ | _] = Sample) ->
    lists:sort(walsh(Sample)).

%% @doc The Hodges-Lehmann estimate of the centre of a symmetric distribution,
%% in the unit of the sample: the median of the Walsh averages (Hollander and
%% Wolfe, 3.2).
-spec hodges_lehmann(sample()) -> float().
hodges_lehmann([_ | _] = Sample) ->
    walsh_median(walsh_of(lists:sort(Sample))).

%% @doc The two-sided p value of the signed-rank test that the sample is
%% symmetric around 0 (Hollander and Wolfe, 3.1), above 0 and at most 1.
%% Zeros are dropped. Tied magnitudes share the mean of their ranks, and the p
%% value is then that of the permutation distribution given those ranks. With
%% more than 50 observations left it is the normal approximation with
%% continuity correction. A sample of nothing but zeros is no evidence against
%% the symmetry: its p value is 1.
-spec signed_rank_p(sample()) -> float().
signed_rank_p([_ | _] = Sample) ->
    exchange_p([case X > 0 of true -> Rank; false -> -Rank end
                || {Rank, X} <- doubled_ranks([X || X <- Sample, X /= 0])]).

%% @doc The two-sided p value of the sum of these scores, one score for each pair. Exchanging
%% the two sides of a pair changes the sign of its score, and under the null hypothesis
%% each exchange has a probability of one half. The p value is above 0 and at most 1; without scores it is 1. With more
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
%% conservative. `too_few' if no sample of that size reaches the confidence, see
%% {@link min_pairs/1}. Another confidence is a `function_clause' error.
-spec signed_rank_interval(sample(), float()) -> {float(), float()} | too_few.
signed_rank_interval([_ | _] = Sample, Confidence)
  when Confidence > 0, Confidence < 1 ->
    walsh_interval(walsh_of(lists:sort(Sample)), length(Sample), Confidence).

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
%% The logs of the pairs' ratios are analysed, and the results are converted
%% back to ratios: `estimate' is the Hodges-Lehmann estimate, `low' and `high'
%% bound the interval of 95%, `low90' and `high90' that of 90%, each `too_few'
%% if {@link signed_rank_interval/2} says so; `p' is the two-sided p value
%% of a ratio of 1. Lists of different lengths are a `function_clause' error,
%% a measurement of 0 or less is a `badarith' error.
-spec ratio(Baseline :: sample(), Variant :: sample()) -> ratio().
ratio([_ | _] = Baseline, Variant) when length(Baseline) =:= length(Variant) ->
    Logs = lists:sort(lists:zipwith(fun log_ratio/2, Baseline, Variant)),
    Walsh = walsh_of(Logs),
    Pairs = length(Logs),
    {Low, High} = ratio_limits(walsh_interval(Walsh, Pairs, 0.95)),
    {Low90, High90} = ratio_limits(walsh_interval(Walsh, Pairs, 0.90)),
    #{estimate => math:exp(walsh_median(Walsh)),
      low => Low, high => High,
      low90 => Low90, high90 => High90,
      p => signed_rank_p(Logs), pairs => Pairs,
      sd_log => standard_deviation(Logs)}.

%% @doc The p values of a family of tests, adjusted by the step-down method of
%% Holm (1979), in the order given. The k-th smallest of m values is multiplied by
%% m - k + 1; the result is at least the adjusted value of the next smaller one, and at
%% most 1. A family of no tests stays empty.
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

%% @doc The probability that a value of Student's distribution with that many degrees of freedom is
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

%% @doc The distance from 0 that a value of Student's distribution reaches with that probability, from 1.0e-9 to 1.
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

%% A large sample has too many Walsh averages to list: 50 million for 10,000 observations. The k-th smallest is found
%% exactly without listing them, by bisection over the doubles (as Monahan 1984, algorithm 616, counts). Each of its 64 steps
%% walks along the sorted sample to count the averages that are at most a value.
walsh_of(Sorted) when length(Sorted) =< ?LISTED_MAX -> {listed, lists:sort(walsh(Sorted))};
walsh_of(Sorted) -> {counted, list_to_tuple(Sorted)}.

walsh_median({listed, Averages}) -> median_sorted(Averages);
walsh_median({counted, Sorted} = Walsh) ->
    Averages = tuple_size(Sorted) * (tuple_size(Sorted) + 1) div 2,
    case Averages rem 2 of
        1 -> nth_walsh((Averages + 1) div 2, Walsh);
        0 -> (nth_walsh(Averages div 2, Walsh) + nth_walsh(Averages div 2 + 1, Walsh)) / 2
    end.

nth_walsh(K, {listed, Averages}) -> lists:nth(K, Averages);
nth_walsh(K, {counted, Sorted}) -> smallest(K, Sorted, place(element(1, Sorted)) - 1, place(element(tuple_size(Sorted), Sorted))).

%% Fewer than K averages are at most Low, K or more are at most High.
smallest(_, _, Low, High) when High - Low =:= 1 -> double(High);
smallest(K, Sorted, Low, High) ->
    Middle = (Low + High) bsr 1,
    case at_most(double(Middle), Sorted, 1, tuple_size(Sorted), 0) >= K of
        true -> smallest(K, Sorted, Low, Middle);
        false -> smallest(K, Sorted, Middle, High)
    end.

%% As the first of two observations grows, the last one that goes with it falls. Rounding keeps the order of averages.
at_most(_, _, First, Last, Count) when Last < First -> Count;
at_most(Value, Sorted, First, Last, Count) ->
    case (element(First, Sorted) + element(Last, Sorted)) / 2 =< Value of
        true -> at_most(Value, Sorted, First + 1, Last, Count + Last - First + 1);
        false -> at_most(Value, Sorted, First, Last - 1, Count)
    end.

%% The doubles as integers of the same order. (0.0 and -0.0 are the same.)
place(Number) ->
    case <<(float(Number))/float>> of
        <<0:1, Size:63>> -> Size;
        <<1:1, Size:63>> -> -Size
    end.

double(Place) when Place >= 0 -> <<Double/float>> = <<Place:64>>, Double;
double(Place) -> <<Double/float>> = <<1:1, (-Place):63>>, Double.

%% The sample standard deviation, with n - 1.
standard_deviation([_]) ->
    too_few;
standard_deviation(Sample) ->
    N = length(Sample),
    Mean = lists:sum(Sample) / N,
    Squares = [(X - Mean) * (X - Mean) || X <- Sample],
    math:sqrt(lists:sum(Squares) / (N - 1)).

%% The signed-rank test

%% Observations with twice their rank by magnitude. The mean rank of the
%% positions First to Last is (First + Last) / 2; twice that is an integer.
doubled_ranks(Sample) ->
    Order = fun(X, Y) -> abs(X) =< abs(Y) end,
    doubled_ranks(lists:sort(Order, Sample), 1).

doubled_ranks([], _) ->
    [];
doubled_ranks([X | _] = Sorted, First) ->
    {Tied, Rest} = lists:splitwith(fun(Y) -> abs(Y) == abs(X) end, Sorted),
    Next = First + length(Tied),
    [{First + Next - 1, Y} || Y <- Tied] ++ doubled_ranks(Rest, Next).

%% Twice the probability of a rank sum of at most Smaller. The distribution is
%% symmetric with and without ties, so the smaller of the two sums stands for both
%% sides.
exact_p(Ranks, Smaller) ->
    Tail = lists:sum(lists:sublist(null_counts(Ranks), Smaller + 1)),
    min(1.0, 2 * Tail / (1 bsl length(Ranks))).

%% The sum of the ranks above 0 has the mean sum(R) / 2 and the variance
%% sum(R^2) / 4, with or without ties. The ranks are doubled, so the
%% continuity correction of half a rank is 1.
normal_p(Ranks, Smaller) ->
    Distance = lists:sum(Ranks) / 2 - Smaller - 1,
    Deviation = math:sqrt(lists:sum([R * R || R <- Ranks])) / 2,
    P = 2 * normal_tail(max(0.0, Distance) / Deviation),
    max(?P_FLOOR, P).

%% How many of the 2^n ways to give each rank to one of two sides have
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
            {nth_walsh(K, Walsh), nth_walsh(N * (N + 1) div 2 + 1 - K, Walsh)}
    end.

%% How many of the rank sums 0, 1, 2, ... of N untied observations have a
%% cumulative probability of at most Tail.
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

%% A difference of logs, so that swapping the sides changes exactly the sign.
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

%% The probability of more than Z.
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
