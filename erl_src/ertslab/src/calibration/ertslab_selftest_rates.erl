%% @doc Whether the counts of the self-test are within the promised limits. Pure.
%%
%% Identical arms: at most 5 % of comparisons may report a change. With 1,000 comparisons or more the observed rate
%% must be within that limit. Fewer cannot distinguish 5 % from 7 %, so they fail only if chance gives so many with a
%% probability below 0.001. A comparison that is void because its control changed claims nothing false, but comes from
%% the same level. So both kinds together must not exceed 5 % by more than chance explains, however many comparisons
%% there are, because they use up nearly the whole level.
%%
%% Known effects: the share called changed must be within a tenth of the reference, or so close that chance explains
%% the rest, as above. An effect at least as large as the bound may be called the same only as rarely as identical
%% arms may be called changed.
-module(ertslab_selftest_rates).

-export([judged/2, rate/2, interval/2, reference/2]).
-export_type([result/0]).

%% `rate': the share called changed. For identical arms, `either' includes those that are void, with `low' and `high'
%% as its 95 % interval.
-type result() :: #{ok := boolean(), rate := float(), _ => _}.

-define(LIMIT, 0.05).
-define(ENOUGH, 1000).
-define(CHANCE, 0.001).
-define(TOLERANCE, 0.1).
-define(CONFIDENCE, 0.95).

%% @doc The trial with its counts and rates, and whether it is `ok'.
-spec judged(ertslab_trial:trial(), ertslab_trial:counts()) -> result().
judged(#{kind := identical} = Trial, #{comparisons := N, changed := Changed, void := Void,
                                       rows := Rows, same := Same, pooled := Pooled,
                                       sequential := Sequential}) ->
    Either = Changed + Void,
    {Low, High} = interval(Either, N),
    Trial#{comparisons => N, changed => Changed, void => Void, rate => Changed / N,
           either => Either / N, low => Low, high => High, same_rows => Same / Rows,
           wrong_analyses => #{pooled => wrong(Pooled, N), sequential => wrong(Sequential, N)},
           ok => rate(Changed, N) andalso by_chance(Either, N)};
judged(#{kind := power, pairs := Pairs, effect := Effect} = Trial,
       #{comparisons := N, changed := Changed, void := Void, same := Same}) ->
    Reference = reference(Pairs, Effect),
    Trial#{comparisons => N, changed => Changed, void => Void, same => Same,
           rate => Changed / N, reference => Reference, difference => Changed / N - Reference,
           ok => near(Changed, N, Reference) andalso rate(Same, N)}.

%% These analyses have no control, so the share they call changed is compared with `either'.
wrong(Changed, N) -> #{rate => Changed / N, ok => by_chance(Changed, N)}.

%% @doc Whether that many wrong answers of N are within the limit.
-spec rate(non_neg_integer(), pos_integer()) -> boolean().
rate(Wrong, N) when N >= ?ENOUGH -> Wrong / N =< ?LIMIT;
rate(Wrong, N) -> by_chance(Wrong, N).

by_chance(Wrong, N) -> at_least(Wrong, N, ?LIMIT) >= ?CHANCE.

near(Changed, N, Reference) ->
    abs(Changed / N - Reference) =< ?TOLERANCE * Reference
        orelse (at_least(Changed, N, Reference) >= ?CHANCE
                andalso at_least(N - Changed, N, 1 - Reference) >= ?CHANCE).

%% @doc The 95 % interval of Clopper and Pearson (1934) for the probability behind a count of N.
-spec interval(non_neg_integer(), pos_integer()) -> {float(), float()}.
interval(Count, N) -> {lower(Count, N), 1 - lower(N - Count, N)}.

lower(0, _) -> 0.0;
lower(Count, N) -> lower(Count, N, 0.0, 1.0, 50).

lower(_, _, Low, High, 0) -> (Low + High) / 2;
lower(Count, N, Low, High, Steps) ->
    Middle = (Low + High) / 2,
    case at_least(Count, N, Middle) < (1 - ?CONFIDENCE) / 2 of
        true -> lower(Count, N, Middle, High, Steps - 1);
        false -> lower(Count, N, Low, Middle, Steps - 1)
    end.

%% The binomial probability of at least that count of N. Computing with logs keeps the terms from underflowing.
at_least(Count, _, _) when Count =< 0 -> 1.0;
at_least(_, _, Chance) when Chance =< 0.0 -> 0.0;
at_least(_, _, Chance) when Chance >= 1.0 -> 1.0;
at_least(Count, N, Chance) ->
    Odds = math:log(Chance) - math:log(1 - Chance),
    {Terms, _} = lists:mapfoldl(
                   fun(K, Log) -> {{K, Log}, Log + Odds + math:log(N - K) - math:log(K + 1)} end,
                   N * math:log(1 - Chance), lists:seq(0, N - 1)),
    All = [{N, N * math:log(Chance)} | Terms],
    lists:sum([math:exp(Log) || {K, Log} <- All, K >= Count, Log > -700]).

%% @doc The expected power for a number of pairs and an effect. It comes from a simulation that shares no code with
%% this program: test/calibration/ertslab_selftest_SUITE_data holds the script, which draws 50,000 comparisons for
%% each, and its output.
-spec reference(pos_integer(), float()) -> float().
reference(10, 0.01) -> 0.021;
reference(10, 0.02) -> 0.154;
reference(10, 0.05) -> 0.936;
reference(10, 0.10) -> 0.973;
reference(20, 0.01) -> 0.082;
reference(20, 0.02) -> 0.570;
reference(20, 0.05) -> 0.969;
reference(20, 0.10) -> 0.969;
reference(40, 0.01) -> 0.253;
reference(40, 0.02) -> 0.924;
reference(40, 0.05) -> 0.973;
reference(40, 0.10) -> 0.973.
