%% @doc Finds where a series changes its level or its spread, by E-divisive (Matteson and James 2014, A nonparametric
%% approach for multiple change point analysis of multivariate data) with a permutation test, as MongoDB and
%% apache/otava do. Pure; the permutations are drawn from a seed.
-module(ertslab_change_points).

-export([find/2]).

-define(PERMUTATIONS, 199).
-define(LEVEL, 0.05).
%% A segment needs at least two values to have a spread.
-define(SHORTEST, 2).

%% @doc The indexes, from 1, at which a new segment begins.
-spec find([float()], Seed :: integer()) -> [pos_integer()].
find(Values, Seed) -> lists:sort(split(Values, 0, rand:seed_s(exsss, Seed))).

split(Values, Offset, Random0) ->
    case best(Values) of
        none -> [];
        {Distance, At} ->
            {Exceeding, Random} = exceeding(Values, Distance, Random0),
            case (Exceeding + 1) / (?PERMUTATIONS + 1) =< ?LEVEL of
                true ->
                    {Left, Right} = lists:split(At, Values),
                    [Offset + At + 1 | split(Left, Offset, Random) ++ split(Right, Offset + At, Random)];
                false -> []
            end
    end.

%% The number of random permutations whose best split is at least as good.
exceeding(Values, Distance, Random0) ->
    lists:foldl(fun(_, {Count, R0}) ->
                        {Shuffled, R} = shuffled(Values, R0),
                        {D, _} = best(Shuffled),
                        {Count + case D >= Distance of true -> 1; false -> 0 end, R}
                end, {0, Random0}, lists:seq(1, ?PERMUTATIONS)).

shuffled(Values, Random0) ->
    {Keyed, Random} = lists:mapfoldl(fun(Value, R0) -> {Key, R} = rand:uniform_s(R0), {{Key, Value}, R} end, Random0, Values),
    {[Value || {_, Value} <- lists:sort(Keyed)], Random}.

%% The split with the largest distance between its sides: {energy distance, length of the left side}.
best(Values) when length(Values) < 2 * ?SHORTEST -> none;
best(Values) ->
    lists:max([{distance(lists:split(At, Values)), At} || At <- lists:seq(?SHORTEST, length(Values) - ?SHORTEST)]).

distance({Left, Right}) ->
    N = length(Left),
    M = length(Right),
    N * M / (N + M) * (2 * between(Left, Right) / (N * M) - between(Left, Left) / (N * N) - between(Right, Right) / (M * M)).

between(As, Bs) -> lists:sum([abs(A - B) || A <- As, B <- Bs]).
