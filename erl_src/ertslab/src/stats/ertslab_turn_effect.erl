%% @doc Removes the effect of the turns if the VMs of all arms take turns (`rounds => arms'). The effect is the machine's speed
%% at that time, which lasts for many rounds and differs by half from one turn to another. Medians of runs that met
%% both speeds do not cancel it, since a few rounds more at one speed can move a median from the other speed to it.
%%
%% So each value is divided by the geometric mean of its turn, over all arms, and multiplied by the median of those means:
%% the first sweep of a two-way table, over rows only (Tukey 1977, Exploratory data analysis, chapter 11). All arms of a turn
%% are treated alike. So two equal arms stay exchangeable, which is all that the test requires of a pair.
%% With 14 pairs of 15 turns of a web server the standard deviation of a pair's log ratio was 0.027 instead of 0.041 to 0.060.
%%
%% Pure.
-module(ertslab_turn_effect).

-export([removed/2]).

%% @doc The values of runs without that effect. Value k of each run belongs to turn k. Runs took turns with each other if
%% `Together' gives the same for their keys. If any of their values is not a number above 0, as a slope may be, all stay as is.
-spec removed(fun((Key) -> term()), #{Key => [ertslab_experiment:value(), ...]}) -> #{Key => [ertslab_experiment:value(), ...]}.
removed(Together, Runs) ->
    Groups = maps:groups_from_list(fun({Key, _}) -> Together(Key) end,
                                   maps:to_list(ertslab_levelled:to_shortest(Together, Runs))),
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
