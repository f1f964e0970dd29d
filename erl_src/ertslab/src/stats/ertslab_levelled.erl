%% @doc Equal numbers of values, for runs compared by a statistic that depends on that number. Pure.
-module(ertslab_levelled).

-export([to_shortest/2]).

%% @doc The values of runs, each cut to the length of the shortest run that it is compared with. Runs are compared if
%% `Together' gives the same for their keys.
-spec to_shortest(fun((Key) -> term()), #{Key => [Value, ...]}) -> #{Key => [Value, ...]}.
to_shortest(Together, Runs) ->
    Shortest = maps:groups_from_list(fun({Key, _}) -> Together(Key) end, fun({_, Values}) -> length(Values) end,
                                     maps:to_list(Runs)),
    maps:map(fun(Key, Values) -> lists:sublist(Values, lists:min(maps:get(Together(Key), Shortest))) end, Runs).
