%% @doc How much the time of a call grows with each message that waits.
%%
%% Each round gives one slope: the median of the slopes between all its points
%% (Theil 1950). The estimate is the median of the rounds' slopes, and its
%% interval is that of the sign test, which assumes nothing of how they are
%% distributed: from the k-th smallest to the k-th largest.
%%
%% All functions are pure.
-module(mailbox_audit_slope).

-export([of_rounds/1, of_points/1, median/1]).
-export_type([slope/0, point/0]).

-type point() :: {Messages :: non_neg_integer(), Nanoseconds :: number()}.
-type slope() :: #{estimate := float(), low := float(), high := float()}.
%% Nanoseconds a message. low, high: an interval of at least 95 %.

-define(TAIL, 0.025).

%% @doc The slope over rounds of points, at least 6 rounds (fewer have no
%% interval of 95 %) of at least two points whose numbers of messages differ.
-spec of_rounds([[point(), ...], ...]) -> slope().
of_rounds(Rounds) when length(Rounds) >= 6 ->
    Slopes = lists:sort([of_points(Points) || Points <- Rounds]),
    K = rank(length(Slopes)),
    #{estimate => median(Slopes), low => lists:nth(K, Slopes),
      high => lists:nth(length(Slopes) + 1 - K, Slopes)}.

%% @doc The median of the slopes between all pairs of points.
-spec of_points([point(), ...]) -> float().
of_points(Points) ->
    median([(Y2 - Y1) / (X2 - X1) || {X1, Y1} <- Points, {X2, Y2} <- Points, X1 < X2]).

-spec median([number(), ...]) -> float().
median(Numbers) ->
    Sorted = lists:sort(Numbers),
    Count = length(Sorted),
    (lists:nth((Count + 1) div 2, Sorted) + lists:nth(Count div 2 + 1, Sorted)) / 2.

%% The largest k for which fewer than k of N fair coins show heads with a
%% chance of at most the tail.
rank(N) -> rank(N, 0, 1, ?TAIL * math:pow(2, N)).

%% Ways: in how many of the 2^N ways just K coins show heads.
rank(N, K, Ways, Left) when Ways =< Left -> rank(N, K + 1, Ways * (N - K) div (K + 1), Left - Ways);
rank(_N, K, _Ways, _Left) -> K.
