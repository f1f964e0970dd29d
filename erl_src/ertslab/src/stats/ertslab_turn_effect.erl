%% @doc What the rounds of a turn have in common, where the VMs of all arms take turns (`rounds => arms'): the speed that the
%% machine had then, which lasts for many rounds and differs by half between one turn and another. Medians of runs that have
%% met both speeds do not cancel it, since a few rounds more or less at one of them move a median from one speed to the other.
%%
%% So each value is divided by the geometric mean of its turn, over all arms, and multiplied by the median of those means:
%% the first sweep of a two-way table, over rows only (Tukey 1977, Exploratory data analysis, chapter 11). All arms of a turn
%% are treated alike, so that two that do not differ stay exchangeable, which is all that the test asks of a pair.
%% With 14 pairs of 15 turns of a web server the standard deviation of a pair's log ratio became 0.027 in place of 0.041 to 0.060.
%%
%% Pure.
-module(ertslab_turn_effect).

-export([removed/2]).

%% @doc The values of runs without it: value k of each run is of turn k. `Together' says of a run's key with which others it
%% took turns. What is no number above 0 in all of them, as a slope, stays as it is.
-spec removed(fun((Key) -> term()), #{Key => [ertslab_experiment:value(), ...]}) -> #{Key => [ertslab_experiment:value(), ...]}.
removed(Together, Runs) ->
    Groups = maps:groups_from_list(fun({Key, _}) -> Together(Key) end,
                                   maps:to_list(ertslab_estimator:levelled(Together, Runs))),
    maps:from_list(lists:append([of_group(lists:unzip(Group)) || Group <- maps:values(Groups)])).

of_group({Keys, Rows}) ->
    case lists:all(fun(Value) -> is_number(Value) andalso Value > 0 end, lists:append(Rows)) of
        true -> lists:zip(Keys, levelled_turns(Rows));
        false -> lists:zip(Keys, Rows)
    end.

levelled_turns(Rows) ->
    Means = [ertslab_geometric_mean:of_numbers(Turn) || Turn <- turns(Rows)],
    Typical = ertslab_stats:median(Means),
    [lists:zipwith(fun(Value, Mean) -> Value * Typical / Mean end, Row, Means) || Row <- Rows].

%% The rounds of all arms, turn by turn.
turns([[] | _]) -> [];
turns(Rows) -> [[hd(Row) || Row <- Rows] | turns([tl(Row) || Row <- Rows])].
