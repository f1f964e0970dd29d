%% @doc How much one quantity grows with another: the slope through points,
%% with an interval that assumes no distribution of the noise.
%%
%% The estimate is the median of the slopes between all pairs of points (Theil
%% 1950), so that a few outliers do not move it. The interval
%% comes from inverting the test of Kendall's S (Sen 1968, Estimates of the
%% regression coefficient based on Kendall's tau, Journal of the American
%% Statistical Association 63, 1379-1389; Hollander and Wolfe, section 9.3).
%%
%% All functions are pure.
-module(ertslab_slope).

-export([theil_sen/2, min_points/1, of_value/2, numbers/1]).
-export_type([point/0, slope/0]).

-type point() :: {X :: number(), Y :: number()}.
-type slope() :: #{estimate := float(), low := ertslab_stats:limit(),
                   high := ertslab_stats:limit()}.
%% In units of y for one of x. The bounds are `too_few' if no sample of that
%% size reaches the confidence.

%% Up to this many points the null distribution is exact.
-define(EXACT_MAX, 50).

%% @doc The slope of two or more points with different x, and its interval
%% at a confidence between 0 and 1. Fewer points, two points of the same x, or
%% another confidence are a `function_clause' error.
%%
%% The confidence is at least the one asked for; up to 50 points it is exact,
%% above that it uses the normal approximation. Points of equal y stay in the sample
%% and only make the interval more conservative.
-spec theil_sen([point(), ...], float()) -> slope().
theil_sen([_, _ | _] = Points, Confidence) when Confidence > 0, Confidence < 1 ->
    Slopes = lists:sort(slopes(lists:keysort(1, Points))),
    {Low, High} = interval(Slopes, length(Points), Confidence),
    #{estimate => ertslab_stats:median(Slopes), low => Low, high => High}.

%% @doc The smallest number of points for which {@link theil_sen/2} has an
%% interval of that confidence: the smallest n for which 2 / n! is at most
%% 1 - confidence. It is 5 for 0.95.
-spec min_points(float()) -> pos_integer().
min_points(Confidence) when Confidence > 0, Confidence < 1 -> min_points(2, Confidence).

min_points(N, Confidence) ->
    case 2 / factorial(N) =< 1 - Confidence of
        true -> N;
        false -> min_points(N + 1, Confidence)
    end.

%% @doc The slope of a value that an experiment gave as points [N, number].
-spec of_value([[number()]], float()) -> slope().
of_value(Points, Confidence) -> theil_sen([{N, Value} || [N, Value] <- Points], Confidence).

%% @doc The numbers that an experiment's values stand for. Points stand for
%% their slope.
-spec numbers([ertslab_experiment:value()]) -> [number()].
numbers(Values) -> [number(Value) || Value <- Values].

number(Points) when is_list(Points) -> maps:get(estimate, of_value(Points, 0.95));
number(Number) -> Number.

%% The slopes between each point and those after it. The points are in ascending order of x.
slopes([_]) -> [];
slopes([Point | Later]) -> [between(Point, Other) || Other <- Later] ++ slopes(Later).

between({X1, Y1}, {X2, Y2}) when X1 < X2 -> (Y2 - Y1) / (X2 - X1).

%% From the k-th smallest to the k-th largest slope.
interval(Slopes, Points, Confidence) ->
    case Points < min_points(Confidence) of
        true -> {too_few, too_few};
        false ->
            K = max(1, order(Points, (1 - Confidence) / 2)),
            {lists:nth(K, Slopes), lists:nth(length(Slopes) + 1 - K, Slopes)}
    end.

%% How many of the counts 0, 1, 2, ... of discordant pairs have a cumulative probability of at
%% most Tail, among N points without a slope. Kendall's S is the
%% number of pairs minus twice that count.
order(N, Tail) when N =< ?EXACT_MAX ->
    Limit = Tail * factorial(N),
    length(lists:takewhile(fun(Orders) -> Orders =< Limit end, running_sums(inversions(N))));
order(N, Tail) ->
    Mean = N * (N - 1) / 4,
    Deviation = math:sqrt(N * (N - 1) * (2 * N + 5) / 72),
    floor(Mean + 0.5 + ertslab_stats:normal_quantile(Tail) * Deviation).

%% How many of the N! orders of N numbers have 0, 1, 2, ... inversions: the
%% coefficients of the product of 1 + q + ... + q^(m - 1) for m = 1 to N.
inversions(N) -> lists:foldl(fun add_number/2, [1], lists:seq(1, N)).

%% The factor is (1 - q^m) / (1 - q), and dividing by 1 - q is a running sum, whose last
%% element is zero.
add_number(M, Counts) ->
    Zeros = lists:duplicate(M, 0),
    Sums = running_sums(lists:zipwith(fun erlang:'-'/2, Counts ++ Zeros, Zeros ++ Counts)),
    lists:droplast(Sums).

running_sums(Numbers) ->
    {Sums, _} = lists:mapfoldl(fun(Number, Sum) -> {Sum + Number, Sum + Number} end, 0, Numbers),
    Sums.

factorial(N) -> lists:foldl(fun erlang:'*'/2, 1, lists:seq(1, N)).
