%% What `doctor' makes of the machine's speed.
-module(ertslab_doctor_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, one_speed_is_ok/1, two_speeds_limit/1, a_wide_speed_limits/1, too_little_limits/1, numbers_are_json/1]).

all() -> [one_speed_is_ok, two_speeds_limit, a_wide_speed_limits, too_little_limits, numbers_are_json].

one_speed_is_ok(_) ->
    ?assertEqual({ok, ~"the machine has one speed: 90 % of the repetitions are within 0.0 % of each other", ~""}, finding([28_000])).

two_speeds_limit(_) ->
    {limited, What, Remedy} = finding([28_000, 42_000]),
    ?assertMatch({_, _}, binary:match(What, ~"the machine has two speeds, 1.5 apart")),
    ?assertMatch({_, _}, binary:match(Remedy, ~"the estimator floor")).

a_wide_speed_limits(_) ->
    {limited, What, Remedy} = finding(lists:seq(28_000, 42_000, 1000)),
    ?assertMatch({_, _}, binary:match(What, ~"the machine has one speed, but a wide one")),
    ?assertMatch({_, _}, binary:match(Remedy, ~"the estimator floor")).

too_little_limits(_) ->
    ?assertMatch(#{state := limited}, ertslab_doctor:speed(ertslab_speeds:found([]))).

numbers_are_json(_) ->
    [begin
         #{speeds := Speeds} = ertslab_doctor:speed(ertslab_speeds:found(Points)),
         Decoded = json:decode(iolist_to_binary(json:encode(Speeds))),
         ?assertEqual(length(Points), maps:get(~"points", Decoded)),
         ?assertEqual(lists:sort([atom_to_binary(Key) || Key <- maps:keys(Speeds)]), lists:sort(maps:keys(Decoded)))
     end || Points <- [[], points([28_000]), points([28_000, 42_000])]].

finding(Times) ->
    #{state := State, what := What, remedy := Remedy} = ertslab_doctor:speed(ertslab_speeds:found(points(Times))),
    {State, ertslab_text:binary(What), ertslab_text:binary(Remedy)}.

%% Each time for 50 ms, again and again.
points(Times) -> [{Ms, lists:nth(Ms div 50 rem length(Times) + 1, Times)} || Ms <- lists:seq(0, 2999)].
