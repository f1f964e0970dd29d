%% @doc The result over all cases of a comparison: for each metric and arm the
%% geometric mean over the cases of the ratio to the baseline.
%%
%% Each case weighs the same, however long it takes. For medians, the mean over the cases is taken
%% within each pair, and the pairs' means are analysed like the ratios of one case. For floors see
%% {@link ertslab_floor:overall/1}. Pair k of one case belongs to pair k
%% of the others. A measurement that replaces a disturbed pair takes that pair's
%% place here too. A pair that one case lacks is left out of all cases. Pure.
-module(ertslab_geometric_mean).

-export([placed/2, geometric_means/1, samples/1, of_numbers/1]).

-type by_pair() :: #{Pair :: pos_integer() => number()}.

%% @doc The numbers of a case by pair, with each replacement in the place of the pair that it replaces.
-spec placed(by_pair(), [{Replacement :: pos_integer(), Pair :: pos_integer()}]) -> by_pair().
placed(ByPair, Replacements) ->
    Places = maps:from_list(Replacements),
    maps:from_list([{maps:get(Pair, Places, Pair), Number} || {Pair, Number} <- maps:to_list(ByPair)]).

%% @doc The geometric mean over the cases for each pair that all of them have. It
%% is 0.0 if a number is 0 or less, as the slope of something that does not grow may be.
-spec geometric_means([by_pair(), ...]) -> #{pos_integer() => float()}.
geometric_means([First | Others] = Cases) ->
    maps:from_list([{Pair, of_numbers([maps:get(Pair, Case) || Case <- Cases])} || Pair <- shared([First | Others])]).

shared([First | Others]) -> lists:sort(maps:keys(lists:foldl(fun maps:intersect/2, First, Others))).

%% @doc The samples for a ratio over all cases, from the numbers of the baseline and of an arm
%% in each case. They hold the pairs that all cases have.
-spec samples([{by_pair(), by_pair()}, ...]) -> [{[float()], [float()]}].
samples(Cases) ->
    Shared = shared([ByPair || {Base, Own} <- Cases, ByPair <- [Base, Own]]),
    Numbers = fun(ByPair) -> [float(maps:get(Pair, ByPair)) || Pair <- Shared] end,
    [{Numbers(Base), Numbers(Own)} || {Base, Own} <- Cases].

%% @doc The geometric mean; 0.0 if a number is 0 or less.
-spec of_numbers([number(), ...]) -> float().
of_numbers(Numbers) ->
    case lists:min(Numbers) > 0 of
        true -> math:exp(lists:sum([math:log(Number) || Number <- Numbers]) / length(Numbers));
        false -> 0.0
    end.
