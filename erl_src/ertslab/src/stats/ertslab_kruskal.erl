%% @doc Whether groups of observations differ by more than chance explains: the
%% test of Kruskal and Wallis (1952, Use of ranks in one-criterion variance
%% analysis, Journal of the American Statistical Association 47, 583-621;
%% Hollander and Wolfe, section 6.1). It assumes no distribution of the noise.
-module(ertslab_kruskal).

-export([p/1]).

%% @doc The p value of the hypothesis that all groups are samples of one distribution.
%% It uses the chi-square approximation with the correction for ties,
%% which is conservative for small groups. Fewer than two groups say nothing,
%% and neither do observations that are all equal: their p value is 1.
-spec p([ertslab_stats:sample()]) -> float().
p(Groups) ->
    All = lists:append(Groups),
    case length(Groups) > 1 andalso tie_correction(All) of
        Correction when is_float(Correction), Correction > 0 ->
            chi_square_tail(max(0.0, statistic(Groups, All) / Correction), length(Groups) - 1);
        _ -> 1.0
    end.

statistic(Groups, All) ->
    N = length(All),
    Between = lists:sum([math:pow(rank_sum(Group, All), 2) / length(Group) || Group <- Groups]),
    12 / (N * (N + 1)) * Between - 3 * (N + 1).

%% Each smaller observation counts 1, each equal one (the observation itself included) a half, plus a half.
rank_sum(Group, All) ->
    lists:sum([1 + length([Y || Y <- All, Y < X]) + length([Y || Y <- All, Y =< X]) || X <- Group]) / 2.

%% 1 without ties, 0 if all are equal. The sum makes -0.0 and 0.0 one key.
tie_correction(All) ->
    Tied = [length(Same) || Same <- maps:values(maps:groups_from_list(fun(X) -> X + 0.0 end, All))],
    1 - lists:sum([cubed(T) - T || T <- Tied]) / max(1, cubed(length(All)) - length(All)).

cubed(N) -> N * N * N.

%% The probability of more than X with that many degrees of freedom (Abramowitz and
%% Stegun, 26.4.4 and 26.4.5).
chi_square_tail(X, 1) -> math:erfc(math:sqrt(X / 2));
chi_square_tail(X, 2) -> math:exp(-X / 2);
chi_square_tail(X, Freedom) ->
    chi_square_tail(X, Freedom - 2)
        + math:pow(X / 2, Freedom / 2 - 1) * math:exp(-X / 2) / gamma_of_half(Freedom).

%% The gamma function of N / 2.
gamma_of_half(1) -> math:sqrt(math:pi());
gamma_of_half(2) -> 1.0;
gamma_of_half(N) -> (N / 2 - 1) * gamma_of_half(N - 2).
