%% @doc Compares the costs of fixed work in two arms, as they are when nothing disturbs it.
%%
%% Each run gives one number, and noise only adds to it. Some runs meet the
%% machine at its best; others do not, and how far they are off says nothing about the arms.
%% So only the lowest runs count. All runs of both arms are ranked together,
%% and the lowest of them get scores, the lowest run the highest (the scores of Gastwirth 1965,
%% Percentile modifications of two sample rank tests). The statistic is the sum of
%% one arm's scores minus the sum of the other's.
%%
%% The null distribution follows from the order of the runs within a pair, which was drawn
%% at random: if the arms are the same, the two names in each pair could as well
%% be exchanged (Fisher's randomisation test, within blocks). The test is exact for
%% any noise, also for noise that drifts, jumps or depends on the run before, since it
%% assumes nothing but that drawing. The interval holds the factors by which one
%% arm's numbers can be divided without the test seeing a difference; the estimate
%% is the factor at which the statistic is zero.
%%
%% The share of scoring runs was chosen by the noise of a machine of two speeds, slow for three
%% quarters of the time (30 pairs, 90 results of identical VMs):
%%
%% ```
%% scoring runs      half an interval, median   90th percentile
%% a quarter         1.0 %                      3.1 %
%% three eighths     0.9 %                      2.2 %
%% half              1.0 %                      1.9 %   estimates further off
%% '''
%%
%% With all runs (the test of Wilcoxon) intervals are 1.5 times as wide. With the medians of the
%% runs and signed ranks they are 6 to 8 times as wide.
%%
%% Pure.
-module(ertslab_floor).

-export([of_values/1, ratio/2, overall/1, min_pairs/1, scores/3]).

%% The quantile of a run's values.
-define(LOW, 0.02).
%% How many runs score, relative to the runs of one arm: three eighths of the runs of both.
-define(SCORING, 0.75).
%% With fewer pairs than this all runs may have to score, so that the test can reject at all.
-define(FEW, 8).
%% Up to this many pairs the interval uses the exact distribution, above it the
%% normal approximation. The p value of {@link ratio/2} is exact up to 50 pairs.
-define(EXACT_INTERVAL, 20).
%% Of the signed-rank test. The verdict uses it to compute how many more pairs than a normal test would need.
-define(EFFICIENCY, (3 / math:pi())).
%% Groups of pairs for the jackknife.
-define(GROUPS, 10).
%% The least standard error of a mean of logs, for groups that all give the same.
-define(LEAST_ERROR, 1.0e-12).
%% Halvings of a bracket, after which a hundredth of a percent is at most a 10,000th part of it.
-define(BISECTIONS, 18).

%% @doc The number of a run, from its values: a low quantile.
-spec of_values([number(), ...]) -> float().
of_values(Values) -> ertslab_stats:quantile(Values, ?LOW).

%% @doc The ratio of an arm to the baseline, from the numbers of their runs (above 0,
%% in one unit; element k of both lists is pair k). The result is that of
%% {@link ertslab_stats:ratio/2}; `sd_log' is the standard deviation that would
%% give an interval of this width.
-spec ratio(Baseline :: ertslab_stats:sample(), Own :: ertslab_stats:sample()) -> ertslab_stats:ratio().
ratio([_ | _] = Baseline, Own) when length(Baseline) =:= length(Own) ->
    Arms = arms(Baseline, Own),
    Pairs = length(Baseline),
    Estimate = estimate(Arms),
    {Low, High} = interval(Arms, Pairs, Estimate, 0.95),
    {Low90, High90} = interval(Arms, Pairs, Estimate, 0.90),
    result(Estimate, {Low, High}, {Low90, High90}, ertslab_stats:exchange_p(by_pair(scored(Arms, 0.0))), Pairs).

result(Estimate, {Low, High}, {Low90, High90}, P, Pairs) ->
    #{estimate => math:exp(Estimate),
      low => limit(Low), high => limit(High), low90 => limit(Low90), high90 => limit(High90),
      p => P, pairs => Pairs,
      sd_log => sd_log(Low, High, Pairs)}.

%% @doc The geometric mean of the ratios of several results, measured in the same six or more pairs.
%%
%% Estimate, interval and p value come from the jackknife over ten groups of pairs and Student's
%% distribution (Tukey 1958). This is approximate, but includes all that the results of a run have in common.
%% Two ways were tried before. The test of the summed scores is exact, but weak if a change makes some results
%% faster and others slower. The inversion of that test with each result's own ratio removed took the
%% results for more independent than they are (a p value of 0.000004 for two names of one emulator; the exact one is 0.001).
-spec overall([{Baseline :: ertslab_stats:sample(), Own :: ertslab_stats:sample()}, ...]) -> ertslab_stats:ratio().
overall([{First, _} | _] = Results) ->
    Pairs = length(First),
    Estimate = mean_estimate(Results),
    Groups = min(?GROUPS, Pairs),
    Without = [mean_estimate(without(Group, Groups, Results)) || Group <- lists:seq(1, Groups)],
    Error = jackknife_error(Without, Groups),
    Interval = fun(Level) ->
                       Width = Error * ertslab_stats:student_quantile(Level, Groups - 1),
                       {Estimate - Width, Estimate + Width}
               end,
    P = ertslab_stats:student_p(Estimate / max(Error, ?LEAST_ERROR), Groups - 1),
    result(Estimate, Interval(0.05), Interval(0.10), P, Pairs).

mean_estimate(Results) ->
    lists:sum([estimate(arms(Baseline, Own)) || {Baseline, Own} <- Results]) / length(Results).

%% The results without one group of pairs. A group has every tenth pair.
without(Group, Groups, Results) ->
    Kept = fun(Numbers) -> [Number || {Pair, Number} <- lists:enumerate(Numbers), Pair rem Groups + 1 =/= Group] end,
    [{Kept(Baseline), Kept(Own)} || {Baseline, Own} <- Results].

jackknife_error(Without, Groups) ->
    Mean = lists:sum(Without) / Groups,
    math:sqrt((Groups - 1) / Groups * lists:sum([(One - Mean) * (One - Mean) || One <- Without])).

limit(too_few) -> too_few;
limit(Log) -> math:exp(Log).

sd_log(Low, High, Pairs) when is_float(Low), is_float(High) ->
    (High - Low) / 2 / ertslab_stats:normal_quantile(0.975) * math:sqrt(Pairs * ?EFFICIENCY);
sd_log(_, _, _) -> too_few.

%% @doc The smallest number of pairs whose p value can be as small as
%% 1 - confidence. If all n scoring runs are of one arm, the p value is 2 / 2^n.
-spec min_pairs(float()) -> pos_integer().
min_pairs(Confidence) -> min_pairs(ertslab_stats:min_pairs(Confidence), 1).

min_pairs(Scoring, Pairs) ->
    case scoring(Pairs) >= Scoring of
        true -> Pairs;
        false -> min_pairs(Scoring, Pairs + 1)
    end.

%% How many of the lowest runs of both arms score.
scoring(Pairs) -> max(ceil(?SCORING * Pairs), min(Pairs, ?FEW)).

%% The arms, and how many of the lowest runs of both score. An arm is a sorted list of
%% runs: the log of the run's number, and the number of its pair.
-type arms() :: {Base :: arm(), Own :: arm(), Scoring :: pos_integer()}.
-type arm() :: [{float(), pos_integer()}].

-spec arms([number()], [number()]) -> arms().
arms(Base, Own) -> {sorted(Base), sorted(Own), scoring(length(Base))}.

sorted(Numbers) -> lists:sort([{math:log(Number), Pair} || {Pair, Number} <- lists:enumerate(Numbers)]).

%% @doc For each pair that scores, the score of the second arm minus that of the first. The
%% second arm's numbers are first divided by the factor. Scores are doubled, so that they are integers
%% even for ties, which share the mean of their scores.
-spec scores([number(), ...], [number(), ...], float()) -> [integer()].
scores(Base, Own, Factor) -> by_pair(scored(arms(Base, Own), math:log(Factor))).

%% The score of each of the lowest runs, positive for the second arm and negative for the first.
-spec scored(arms(), float()) -> [{Pair :: pos_integer(), integer()}].
scored({Base, Own, Scoring}, Shift) -> scored(lowest(Base, Own, Shift, Scoring, none), 1, Scoring).

%% The lowest runs of both arms, and those that tie with the last of them.
lowest([{A, Pair} | Base], [{B, _} | _] = Own, Shift, Left, Last) when A =< B - Shift ->
    lowest(Base, Own, Shift, Left, Last, {A, Pair, -1});
lowest(Base, [{B, Pair} | Own], Shift, Left, Last) -> lowest(Base, Own, Shift, Left, Last, {B - Shift, Pair, 1});
lowest([{A, Pair} | Base], [], Shift, Left, Last) -> lowest(Base, [], Shift, Left, Last, {A, Pair, -1});
lowest([], [], _, _, _) -> [].

lowest(_, _, _, Left, Last, {Log, _, _}) when Left =< 0, Log > Last -> [];
lowest(Base, Own, Shift, Left, _, {Log, _, _} = Run) -> [Run | lowest(Base, Own, Shift, Left - 1, Log)].

scored([{Log, _, _} | _] = Ranked, First, Scoring) when First =< Scoring ->
    {Tied, Others} = lists:splitwith(fun({Other, _, _}) -> Other == Log end, Ranked),
    Next = First + length(Tied),
    Score = max(0, 2 * (Scoring + 1) - (First + Next - 1)),
    [{Pair, Sign * Score} || {_, Pair, Sign} <- Tied] ++ scored(Others, Next, Scoring);
scored(_, _, _) -> [].

by_pair(Scored) -> summed(lists:sort(Scored)).

summed([{Pair, Score}, {Pair, Other} | Scores]) -> summed([{Pair, Score + Other} | Scores]);
summed([{_, Score} | Scores]) -> [Score | summed(Scores)];
summed([]) -> [].

%% The middle of the shifts at which the sum is zero. The sum grows with the shift.
estimate(Arms) ->
    {Least, Most} = bracket(Arms),
    Sum = fun(Shift) -> lists:sum([Score || {_, Score} <- scored(Arms, Shift)]) end,
    Below = turn(fun(Shift) -> Sum(Shift) >= 0 end, Least, Most),
    Above = turn(fun(Shift) -> Sum(Shift) > 0 end, Least, Most),
    (Below + Above) / 2.

%% Beyond these shifts all runs of one arm lie below all runs of the other.
bracket({Base, Own, _}) ->
    Margin = 1.0e-6,
    {[{BaseLow, _} | _], [{OwnLow, _} | _]} = {Base, Own},
    {{BaseHigh, _}, {OwnHigh, _}} = {lists:last(Base), lists:last(Own)},
    {OwnLow - BaseHigh - Margin, OwnHigh - BaseLow + Margin}.

%% The point at which a condition that is false at one end becomes true.
turn(Holds, False, True) -> turn(Holds, False, True, ?BISECTIONS).

turn(_, False, True, 0) -> (False + True) / 2;
turn(Holds, False, True, Left) ->
    Middle = (False + True) / 2,
    case Holds(Middle) of
        true -> turn(Holds, False, Middle, Left - 1);
        false -> turn(Holds, Middle, True, Left - 1)
    end.

interval(Arms, Pairs, Estimate, Confidence) ->
    {Least, Most} = bracket(Arms),
    Rejected = rejected(Pairs, Confidence),
    Beyond = fun(Shift) -> Rejected(by_pair(scored(Arms, Shift))) end,
    {bound(Beyond, Estimate, Least), bound(Beyond, Estimate, Most)}.

bound(Beyond, Estimate, End) ->
    case Beyond(End) of
        true -> turn(Beyond, Estimate, End);
        false -> too_few
    end.

rejected(Pairs, Confidence) when Pairs =< ?EXACT_INTERVAL ->
    fun(Scores) -> ertslab_stats:exchange_p(Scores) =< 1 - Confidence end;
rejected(_Pairs, Confidence) ->
    Critical = ertslab_stats:normal_quantile((1 + Confidence) / 2),
    fun(Scores) ->
            Squares = lists:sum([Score * Score || Score <- Scores]),
            abs(lists:sum(Scores)) > Critical * math:sqrt(Squares)
    end.
