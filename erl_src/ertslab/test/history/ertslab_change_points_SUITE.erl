%% Change points of series that have some, and of some that have none.
-module(ertslab_change_points_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_level_is_found/1, two_levels_are_found/1, a_short_series_has_none/1, noise_has_few/1]).

all() -> [a_level_is_found, two_levels_are_found, a_short_series_has_none, noise_has_few].

a_level_is_found(_) -> ?assertEqual([11], ertslab_change_points:find(series([{10, 1.0}, {10, 1.05}]), 1)).

two_levels_are_found(_) -> ?assertEqual([11, 21], ertslab_change_points:find(series([{10, 1.0}, {10, 1.05}, {10, 1.02}]), 1)).

a_short_series_has_none(_) ->
    [?assertEqual([], ertslab_change_points:find(Series, 1)) || Series <- [[], [1.0], [1.0, 2.0, 3.0]]].

%% At the level of 5 %: of 40 series without a change, more than 8 would come about once in a thousand times.
noise_has_few(_) ->
    Found = [Seed || Seed <- lists:seq(1, 40), ertslab_change_points:find(noise(Seed, 20), Seed) =/= []],
    ?assert(length(Found) =< 8).

noise(Seed, Length) ->
    {Values, _} = lists:mapfoldl(fun(_, R) -> rand:normal_s(R) end, rand:seed_s(exsss, Seed), lists:seq(1, Length)),
    Values.

series(Levels) ->
    Values = lists:append([lists:duplicate(Length, Level) || {Length, Level} <- Levels]),
    [Value + 0.002 * Off || {Value, Off} <- lists:zip(Values, noise(3, length(Values)))].
