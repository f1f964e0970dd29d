%% @doc Properties of ertslab_stats and ertslab_verdict, for PropEr. The group
%% `properties' of ertslab_stats_SUITE runs them all.
-module(prop_ertslab_stats).

-include_lib("proper/include/proper.hrl").

-export([prop_interval_contains_estimate/0,
         prop_intervals_are_nested/0,
         prop_interval_inverts_the_test/0,
         prop_p_is_a_probability/0,
         prop_p_is_enumeration/0,
         prop_p_ignores_sides_and_units/0,
         prop_order_does_not_matter/0,
         prop_swapped_sides_invert_the_ratio/0,
         prop_scaled_variant_scales_the_ratio/0,
         prop_holm_raises_and_keeps_the_order/0,
         prop_quantiles_ascend_within_the_sample/0,
         prop_normal_quantile_is_symmetric/0,
         prop_verdict_is_consistent/0]).

-define(TOLERANCE, 1.0e-9).

%% The interval

prop_interval_contains_estimate() ->
    ?FORALL({Sample, Confidence}, {sample(), confidence()},
            case ertslab_stats:signed_rank_interval(Sample, Confidence) of
                too_few ->
                    length(Sample) < ertslab_stats:min_pairs(Confidence);
                {Low, High} ->
                    Estimate = ertslab_stats:hodges_lehmann(Sample),
                    length(Sample) >= ertslab_stats:min_pairs(Confidence)
                        andalso lists:min(Sample) =< Low
                        andalso Low =< Estimate
                        andalso Estimate =< High
                        andalso High =< lists:max(Sample)
            end).

prop_intervals_are_nested() ->
    ?FORALL({Sample, C1, C2}, {sample(), confidence(), confidence()},
            within(interval(Sample, min(C1, C2)),
                   interval(Sample, max(C1, C2)))).

%% Untied samples of 6 to 60, so both the exact distribution and the normal
%% approximation; shifts anywhere and next to the bounds.
prop_interval_inverts_the_test() ->
    ?FORALL({Sample, Place, Offset}, {long_sample(), place(), offset()},
            begin
                {Low, High} = ertslab_stats:signed_rank_interval(Sample, 0.95),
                Shift = shift(Place, Offset, Sample, Low, High),
                Shifted = [X - Shift || X <- Sample],
                ?IMPLIES(untied(Shifted),
                         equals(Low < Shift andalso Shift < High,
                                ertslab_stats:signed_rank_p(Shifted) > 0.05))
            end).

%% The p value

prop_p_is_a_probability() ->
    ?FORALL(Sample, oneof([sample(), long_sample(), tied_sample()]),
            begin
                P = ertslab_stats:signed_rank_p(Sample),
                is_float(P) andalso P > 0 andalso P =< 1
            end).

prop_p_is_enumeration() ->
    ?FORALL(Sample, oneof([tied_sample(), resize(10, short_sample())]),
            equals(ertslab_stats:signed_rank_p(Sample), enumerated_p(Sample))).

prop_p_ignores_sides_and_units() ->
    ?FORALL({Sample, Unit}, {tied_sample(), oneof([-8, -1, 0.25, 3, 1000])},
            equals(ertslab_stats:signed_rank_p(Sample),
                   ertslab_stats:signed_rank_p([X * Unit || X <- Sample]))).

%% Ratios

prop_order_does_not_matter() ->
    ?FORALL({Pairs, Keys}, {pairs(), vector(60, float())},
            equals(ratio(Pairs), ratio(shuffled(Pairs, Keys)))).

prop_swapped_sides_invert_the_ratio() ->
    ?FORALL(Pairs, pairs(),
            begin
                Ratio = ratio(Pairs),
                Inverse = ratio([{V, B} || {B, V} <- Pairs]),
                same_but_for(fun inverse/1,
                             [{estimate, estimate}, {low, high}, {high, low},
                              {low90, high90}, {high90, low90}],
                             Ratio, Inverse)
            end).

prop_scaled_variant_scales_the_ratio() ->
    ?FORALL({Pairs, Scale}, {pairs(), float(0.01, 100.0)},
            begin
                Ratio = ratio([{B, B * Scale} || {B, _} <- Pairs]),
                Noisy = ratio(Pairs),
                Scaled = ratio([{B, V * Scale} || {B, V} <- Pairs]),
                close(Scale, maps:get(estimate, Ratio)) andalso
                    lists:all(fun(Key) ->
                                      close(scale(maps:get(Key, Noisy), Scale),
                                            maps:get(Key, Scaled))
                              end,
                              [estimate, low, high, low90, high90])
            end).

%% Holm

prop_holm_raises_and_keeps_the_order() ->
    ?FORALL(Ps, non_empty(list(p_value())),
            begin
                Adjusted = ertslab_stats:holm(Ps),
                Zipped = lists:sort(lists:zip(Ps, Adjusted)),
                {_, Ascending} = lists:unzip(Zipped),
                length(Adjusted) =:= length(Ps)
                    andalso lists:all(fun({P, A}) -> A >= P andalso A =< 1 end,
                                      Zipped)
                    andalso Ascending =:= lists:sort(Adjusted)
                    andalso hd(Ascending) =:=
                        min(1.0, lists:min(Ps) * length(Ps))
            end).

%% Quantiles

prop_quantiles_ascend_within_the_sample() ->
    ?FORALL({Sample, A, B}, {sample(), float(0.0, 1.0), float(0.0, 1.0)},
            begin
                Values = [ertslab_stats:quantile(Sample, P)
                          || P <- [0, min(A, B), max(A, B), 1]],
                Middle = ertslab_stats:quantile(Sample, 0.5),
                ascending(Values)
                    andalso hd(Values) == lists:min(Sample)
                    andalso lists:last(Values) == lists:max(Sample)
                    andalso close(Middle, ertslab_stats:median(Sample))
            end).

prop_normal_quantile_is_symmetric() ->
    ?FORALL(P, float(0.0001, 0.9999),
            begin
                Z = ertslab_stats:normal_quantile(P),
                close(P, math:erfc(-Z / math:sqrt(2)) / 2) andalso
                    abs(Z + ertslab_stats:normal_quantile(1 - P)) < ?TOLERANCE
            end).

%% Verdicts

prop_verdict_is_consistent() ->
    ?FORALL({Pairs, Bound, Family}, {pairs(), bound(), integer(1, 50)},
            begin
                Ratio = ratio(Pairs),
                Adjusted = min(1.0, maps:get(p, Ratio) * Family),
                Options = #{bound => Bound},
                Alone = ertslab_verdict:verdict(Ratio, Options),
                Judged = ertslab_verdict:verdict(
                           Ratio#{p_adjusted => Adjusted}, Options),
                well_formed(Alone) andalso well_formed(Judged)
                    andalso not_bolder(Judged, Alone)
            end).

%% Generators

sample() ->
    non_empty(list(float(-1000.0, 1000.0))).

short_sample() ->
    ?LET(N, integer(1, 10), vector(N, float(-1000.0, 1000.0))).

long_sample() ->
    ?LET(N, integer(6, 60), vector(N, float(-1000.0, 1000.0))).

tied_sample() ->
    ?LET(N, integer(1, 10), vector(N, integer(-4, 4))).

pairs() ->
    ?LET(N, integer(1, 60), vector(N, {duration(), duration()})).

%% Mostly within a few percent, as repeated runs are.
duration() ->
    frequency([{9, float(1000.0, 1050.0)}, {1, float(1.0, 1.0e6)}]).

confidence() ->
    oneof([0.5, 0.80, 0.90, 0.95, 0.99, 0.999, float(0.01, 0.999)]).

place() ->
    oneof([anywhere, at_low, at_high]).

offset() ->
    oneof([float(-1.0, 1.0), -1.0e-9, 1.0e-9]).

p_value() ->
    oneof([float(1.0e-9, 1.0), float(1.0e-9, 0.01), 0.03125, 1.0]).

bound() ->
    oneof([0.01, 0.001, 0.05, float(0.0001, 0.5)]).

%% Helpers

interval(Sample, Confidence) ->
    ertslab_stats:signed_rank_interval(Sample, Confidence).

within(_, too_few) -> true;
within(too_few, _) -> false;
within({Low, High}, {Lower, Higher}) -> Lower =< Low andalso High =< Higher.

shift(anywhere, Offset, Sample, _, _) ->
    Centre = (lists:max(Sample) + lists:min(Sample)) / 2,
    Centre + Offset * (lists:max(Sample) - lists:min(Sample));
shift(at_low, Offset, _, Low, High) ->
    Low + Offset * (High - Low);
shift(at_high, Offset, _, Low, High) ->
    High + Offset * (High - Low).

untied(Sample) ->
    Sizes = lists:usort([abs(X) || X <- Sample]),
    length(Sizes) =:= length(Sample) andalso hd(Sizes) > 0.

%% The definition: of all ways to give the ranks signs, the share with a rank
%% sum at least as far from the middle.
enumerated_p(Sample) ->
    Nonzero = [X || X <- Sample, X /= 0],
    Ranks = [mid_rank(X, Nonzero) || X <- Nonzero],
    Middle = lists:sum(Ranks) / 2,
    Above = lists:sum([R || {R, X} <- lists:zip(Ranks, Nonzero), X > 0]),
    Sums = subset_sums(Ranks),
    Far = [S || S <- Sums, abs(S - Middle) >= abs(Above - Middle)],
    length(Far) / length(Sums).

mid_rank(X, Sample) ->
    Below = length([Y || Y <- Sample, abs(Y) < abs(X)]),
    Equal = length([Y || Y <- Sample, abs(Y) == abs(X)]),
    Below + (Equal + 1) / 2.

subset_sums([]) ->
    [0];
subset_sums([R | Ranks]) ->
    Sums = subset_sums(Ranks),
    Sums ++ [R + S || S <- Sums].

ratio(Pairs) ->
    {Baseline, Variant} = lists:unzip(Pairs),
    ertslab_stats:ratio(Baseline, Variant).

%% Permuted by as many of the keys as there are pairs.
shuffled(Pairs, Keys) ->
    Keyed = lists:zip(lists:sublist(Keys, length(Pairs)), Pairs),
    [Pair || {_, Pair} <- lists:keysort(1, Keyed)].

same_but_for(Fun, Keys, A, B) ->
    lists:all(fun({KeyA, KeyB}) ->
                      close(Fun(maps:get(KeyA, A)), maps:get(KeyB, B))
              end, Keys)
        andalso maps:get(p, A) =:= maps:get(p, B)
        andalso maps:get(pairs, A) =:= maps:get(pairs, B)
        andalso close(maps:get(sd_log, A), maps:get(sd_log, B)).

inverse(too_few) -> too_few;
inverse(X) -> 1 / X.

scale(too_few, _) -> too_few;
scale(X, Scale) -> X * Scale.

close(too_few, too_few) ->
    true;
close(A, B) when is_number(A), is_number(B) ->
    abs(A - B) =< ?TOLERANCE * max(1.0, max(abs(A), abs(B)));
close(_, _) ->
    false.

ascending(Values) ->
    lists:all(fun({A, B}) -> A =< B + ?TOLERANCE end,
              lists:zip(lists:droplast(Values), tl(Values))).

well_formed(#{verdict := unsure, more_pairs := more_than_1000}) -> true;
well_formed(#{verdict := unsure, more_pairs := N}) -> N >= 1 andalso N =< 1000;
well_formed(#{verdict := changed, more_pairs := none}) -> true;
well_formed(#{verdict := same, more_pairs := none}) -> true.

%% An adjustment never makes a change out of what was none, and never asks for
%% fewer pairs.
not_bolder(#{verdict := unsure}, #{verdict := changed}) ->
    true;
not_bolder(#{verdict := V, more_pairs := Judged},
           #{verdict := V, more_pairs := Alone}) ->
    Judged >= Alone;
not_bolder(_, _) ->
    false.
