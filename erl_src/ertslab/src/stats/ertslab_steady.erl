%% @doc Are the measured iterations in a steady state, or do they still (or again) change?
%%
%% In a steady state the order of a run's iterations says nothing about their
%% values, so the ranks within each run are a random order. For each place k the
%% ranks of the iterations up to k, summed over all runs, are compared with their expectation
%% under that hypothesis; the place of the largest deviation is the candidate for a change.
%% The test uses the normal approximation of that sum. The level is divided by the
%% number of places (Bonferroni), since the largest of them is tested. Ties share
%% their mean rank, which makes the test more conservative.
-module(ertslab_steady).

-export([test/2, halves/2, ratio_from/3]).
-export_type([result/0]).

%% `from': the first iteration after the change, counted from 1; `ratio': the
%% typical ratio, over the runs, of the median after the change to the median before it.
-type result() :: #{steady := boolean(), from => pos_integer(), ratio => float()}.

%% Smaller changes are not reported.
-define(LEAST_CHANGE, 0.01).

%% @doc Tests runs with equal numbers of iterations, in any unit, at a level
%% between 0 and 1. Fewer than three iterations cannot be tested, and count as
%% steady; so do values of 0 or less, which have no ratio. Runs of different lengths
%% are cut to the shortest.
-spec test([[number(), ...]], float()) -> result().
test([_ | _] = Runs, Level) ->
    Iterations = lists:min([length(Run) || Run <- Runs]),
    case Iterations >= 3 andalso lists:all(fun(Run) -> lists:min(Run) > 0 end, Runs) of
        true -> tested([lists:sublist(Run, Iterations) || Run <- Runs], Iterations, Level);
        false -> #{steady => true}
    end.

%% @doc Compares the floor of the first half of each run with that of the second, for runs that go in rounds.
%% In such runs a change of the machine's speed lasts for many values. Their order is then not random
%% even in a steady state, but the change is equally likely in either half. Runs of fewer than four values
%% are ignored, and fewer than six runs count as steady.
-spec halves([[number(), ...]], float()) -> result().
halves(Runs, Level) ->
    Split = [lists:split(length(Run) div 2, Run) || Run <- Runs, length(Run) >= 4, lists:min(Run) > 0],
    case length(Split) >= ertslab_floor:min_pairs(0.95) of
        true -> halved(Split, Level);
        false -> #{steady => true}
    end.

halved(Split, Level) ->
    [First, Second] = [[ertslab_floor:of_values(Half) || Half <- Halves] || Halves <- tuple_to_list(lists:unzip(Split))],
    #{estimate := Ratio, p := P} = ertslab_floor:ratio(First, Second),
    case P =< Level andalso abs(Ratio - 1) >= ?LEAST_CHANGE of
        true -> #{steady => false, from => round(ertslab_stats:median([length(Half) || {Half, _} <- Split])) + 1, ratio => Ratio};
        false -> #{steady => true}
    end.

%% @doc By how much the runs change at an iteration: the median over the runs of `Number' of the values from there on
%% divided by `Number' of the values before. `none' if no run has values on both sides.
-spec ratio_from([[number(), ...]], From :: pos_integer(), fun(([number(), ...]) -> number())) -> float() | none.
ratio_from(Runs, From, Number) ->
    case [Number(After) / Number(Before)
          || Run <- Runs, length(Run) >= From, From > 1, lists:min(Run) > 0, {Before, After} <- [lists:split(From - 1, Run)]] of
        [] -> none;
        Ratios -> ertslab_stats:median(Ratios)
    end.

tested(Runs, Iterations, Level) ->
    Sums = partial_sums(lists:map(fun centred_ranks/1, Runs)),
    {Place, Deviation} = largest(Sums, Iterations, length(Runs)),
    Ratio = ertslab_stats:median([change(Run, Place) || Run <- Runs]),
    Critical = ertslab_stats:normal_quantile(1 - Level / (Iterations - 1) / 2),
    case Deviation > Critical andalso abs(Ratio - 1) >= ?LEAST_CHANGE of
        true -> #{steady => false, from => Place + 1, ratio => Ratio};
        false -> #{steady => true}
    end.

%% Twice the rank, minus twice the mean rank: the number of smaller values in the run minus the number of larger ones.
centred_ranks(Run) ->
    Length = length(Run),
    Sorted = lists:keysort(1, lists:zip(Run, lists:seq(1, Length))),
    [Rank || {_Place, Rank} <- lists:keysort(1, ranked(Sorted, 0, Length))].

ranked([], _, _) -> [];
ranked([{Value, _} | _] = Sorted, Less, Length) ->
    {Ties, Greater} = lists:splitwith(fun({Other, _}) -> Other == Value end, Sorted),
    UpToThese = Less + length(Ties),
    [{Place, Less - (Length - UpToThese)} || {_, Place} <- Ties] ++ ranked(Greater, UpToThese, Length).

%% The sums over all runs up to each place but the last.
partial_sums(Ranks) ->
    PerPlace = lists:foldl(fun(Run, Sums) -> lists:zipwith(fun erlang:'+'/2, Run, Sums) end,
                           hd(Ranks), tl(Ranks)),
    {Partial, _} = lists:mapfoldl(fun(Sum, Before) -> {Before + Sum, Before + Sum} end, 0, PerPlace),
    lists:droplast(Partial).

%% The sum of k of n ranks has the variance k(n-k)(n+1)/12 in each run; with doubled ranks, four times that.
largest(Sums, Iterations, Runs) ->
    Deviations = [{abs(Sum) / math:sqrt(Runs * K * (Iterations - K) * (Iterations + 1) / 3), K}
                  || {K, Sum} <- lists:enumerate(Sums)],
    {Deviation, Place} = lists:max(Deviations),
    {Place, Deviation}.

change(Run, Place) ->
    {Before, After} = lists:split(Place, Run),
    ertslab_stats:median(After) / ertslab_stats:median(Before).
