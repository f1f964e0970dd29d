%% @doc A wrong analysis, for contrast only: it pools the iterations of all runs as if they were independent
%% measurements, and compares the two pools by Welch's test. An effect that is common to a run is counted as often as
%% the run has iterations, so the noise looks smaller than it is, and this test finds differences that do not exist.
-module(ertslab_naive_analysis).

-export([any_changed/1]).

-define(ALPHA, 0.05).
-define(BOUND, 0.01).

%% @doc Whether this analysis calls any row of the comparison changed, with the same level, the same Holm correction
%% and the same bound as the right analysis.
-spec any_changed(ertslab_simulation:comparison()) -> boolean().
any_changed(#{samples := Samples}) ->
    Heaps = maps:map(fun(_, Values) -> [math:log(Value) || Value <- Values] end,
                     ertslab_samples:by_run(fun(#{<<"metric">> := Metric, <<"arm">> := Arm}) -> {Metric, Arm} end, Samples)),
    Tests = [test(maps:get({Metric, 0}, Heaps), Heap)
             || {{Metric, Arm}, Heap} <- maps:to_list(Heaps), Arm > 0],
    {Effects, Ps} = lists:unzip(Tests),
    lists:any(fun({Effect, P}) -> P =< ?ALPHA andalso abs(math:exp(Effect) - 1) >= ?BOUND end,
              lists:zip(Effects, ertslab_stats:holm(Ps))).

%% The difference of the means and its two-sided p value. The pools are large enough (50 values and more) to use the
%% normal distribution in place of Student's.
test(Base, Own) ->
    {BaseMean, BaseError} = mean(Base),
    {OwnMean, OwnError} = mean(Own),
    Difference = OwnMean - BaseMean,
    {Difference, math:erfc(abs(Difference) / math:sqrt(2 * (BaseError + OwnError)))}.

%% The mean and the square of its standard error.
mean(Heap) ->
    N = length(Heap),
    Mean = lists:sum(Heap) / N,
    {Mean, lists:sum([(X - Mean) * (X - Mean) || X <- Heap]) / (N - 1) / N}.
