%% What is said to have changed between two spans of looks: real changes, and not the looks' likeness to their neighbours.
-module(ertslab_watch_change_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_change_is_found/1, alike_looks_are_no_change/1, a_trend_gives_no_verdict/1, zeros_give_a_difference/1, constant_is_same/1,
         few_looks_give_no_verdict/1, times_without_looks_are_left_out/1, no_quantity_has_no_change/1]).

all() ->
    [a_change_is_found, alike_looks_are_no_change, a_trend_gives_no_verdict, zeros_give_a_difference, constant_is_same,
     few_looks_give_no_verdict, times_without_looks_are_left_out, no_quantity_has_no_change].

init() -> rand:seed(exsss, 40).

a_change_is_found(_) ->
    _ = init(),
    #{verdict := changed, kind := ratio, estimate := Estimate, low := Low, high := High} = change(noise(400, 0.5, 1), noise(400, 0.5, 1.5)),
    ?assert(Low < 1.5 andalso High > 1.5 andalso Low > 1.2 andalso abs(Estimate - 1.5) < 0.2).

%% If each look counted for itself, nearly all of these would be changed.
alike_looks_are_no_change(_) ->
    _ = init(),
    [begin
         Verdicts = [maps:get(verdict, change(noise(300, Likeness, 1), noise(300, Likeness, 1))) || _ <- lists:seq(1, 100)],
         ?assert(length([changed || changed <- Verdicts]) =< 9, {Likeness, Verdicts})
     end || Likeness <- [0.0, 0.9, 0.99]].

a_trend_gives_no_verdict(_) ->
    Rising = [{N, 1000 + N} || N <- lists:seq(1, 300)],
    ?assertMatch(#{verdict := unsure, why := alike, blocks := 0}, change(Rising, [{N + 300, 1300 + N} || {N, _} <- Rising])).

zeros_give_a_difference(_) ->
    _ = init(),
    None = [{N, 0} || N <- lists:seq(1, 200)],
    ?assertMatch(#{verdict := same, kind := difference, estimate := +0.0}, change(None, None)),
    ?assertMatch(#{verdict := changed, kind := difference, before := +0.0, low := Low} when Low > 90,
                 change(None, [{N, 100 + rand:uniform(10)} || {N, _} <- None])).

constant_is_same(_) ->
    Constant = [{N, 46} || N <- lists:seq(1, 200)],
    ?assertMatch(#{verdict := same, kind := ratio, estimate := 1.0, blocks := 24}, change(Constant, Constant)).

few_looks_give_no_verdict(_) ->
    Few = [{N, N} || N <- lists:seq(1, 15)],
    ?assertMatch(#{verdict := unsure, why := few, before := 8.0}, change(Few, Few)),
    ?assertMatch(#{verdict := unsure, why := few, before := none}, change([], Few)).

%% A node that was gone for a half of the span leaves blocks without a look.
times_without_looks_are_left_out(_) ->
    _ = init(),
    Half = [{At, Value} || {At, Value} <- noise(400, 0.0, 1), At < 101 orelse At > 300],
    #{verdict := Verdict, blocks := Blocks} = change(Half, noise(400, 0.0, 1)),
    ?assert(Verdict =/= changed andalso Blocks < 20, {Verdict, Blocks}).

no_quantity_has_no_change(_) -> ?assertEqual([], ertslab_watch_change:changes([])).

change(Before, After) ->
    [{memory, Change}] = ertslab_watch_change:changes([{memory, Before, After}]),
    Change.

%% Looks whose logarithm has that correlation with the next one's, around that median.
noise(Number, Likeness, Median) ->
    {Values, _} = lists:mapfoldl(fun(At, Before) ->
                                         Now = Likeness * Before + math:sqrt(1 - Likeness * Likeness) * rand:normal(),
                                         {{At, Median * math:exp(0.3 * Now)}, Now}
                                 end, rand:normal(), lists:seq(1, Number)),
    Values.
