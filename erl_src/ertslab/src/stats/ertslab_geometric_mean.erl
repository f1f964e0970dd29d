%% @doc What all cases of a comparison say together: for each metric and arm the
%% geometric mean over the cases of the ratio to the baseline.
%%
%% Each case weighs the same, however long it takes, and the interval is that of the
%% pairs. Of medians the mean is taken within each pair, and the pairs' means are
%% analysed as the ratios of a case are; of floors see {@link ertslab_floor:overall/1}. Pair k of one case belongs to pair k
%% of the others; what was measured in the place of a disturbed pair takes its
%% place here too, and a pair that one case lacks is left out of all. Pure.
-module(ertslab_geometric_mean).

-export([placed/2, geometric_means/1, floors/1, of_numbers/1]).

-type by_pair() :: #{Pair :: pos_integer() => number()}.

%% @doc The numbers of a case by the pair in whose place each was measured.
-spec placed(by_pair(), [{Replacement :: pos_integer(), Pair :: pos_integer()}]) -> by_pair().
placed(ByPair, Replacements) ->
    Places = maps:from_list(Replacements),
    #{maps:get(Pair, Places, Pair) => Number || Pair := Number <- ByPair}.

%% @doc The geometric mean over the cases for each pair that all of them have. It
%% is 0.0 where a number is 0 or less, as the slope of what does not grow.
-spec geometric_means([by_pair(), ...]) -> #{pos_integer() => float()}.
geometric_means([First | Others] = Cases) ->
    #{Pair => of_numbers([maps:get(Pair, Case) || Case <- Cases]) || Pair <- shared([First | Others])}.

shared([First | Others]) -> lists:sort(maps:keys(lists:foldl(fun maps:intersect/2, First, Others))).

%% @doc The samples of {@link ertslab_floor:overall/1}, from the numbers of the baseline and of an arm
%% in each case: those of the pairs that all of them have.
-spec floors([{by_pair(), by_pair()}, ...]) -> [{[float()], [float()]}].
floors(Cases) ->
    Shared = shared([ByPair || {Base, Own} <- Cases, ByPair <- [Base, Own]]),
    Numbers = fun(ByPair) -> [float(maps:get(Pair, ByPair)) || Pair <- Shared] end,
    [{Numbers(Base), Numbers(Own)} || {Base, Own} <- Cases].

%% @doc The geometric mean; 0.0 where a number is 0 or less.
-spec of_numbers([number(), ...]) -> float().
of_numbers(Numbers) ->
    case lists:min(Numbers) > 0 of
        true -> math:exp(lists:sum([math:log(Number) || Number <- Numbers]) / length(Numbers));
        false -> 0.0
    end.
