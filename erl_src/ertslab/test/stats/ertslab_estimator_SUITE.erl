%% What stands for a run and for an arm, by each estimator.
-module(ertslab_estimator_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, floor_of_a_run_is_its_low_quantile/1, typical_of_a_run_is_its_median/1, runs_are_summed_up_alike/1,
         points_stand_for_their_slope/1, each_has_its_own_ratio/1, each_is_the_other_of_one/1, plans_ask_for_enough_pairs/1,
         what_is_compared_has_as_many_values/1, each_answers_all_that_is_asked/1, names_in_files_are_read/1,
         nobody_else_tells_them_apart/1]).

all() ->
    [floor_of_a_run_is_its_low_quantile, typical_of_a_run_is_its_median, runs_are_summed_up_alike,
     points_stand_for_their_slope, each_has_its_own_ratio, each_is_the_other_of_one, plans_ask_for_enough_pairs,
     what_is_compared_has_as_many_values, each_answers_all_that_is_asked, names_in_files_are_read,
     nobody_else_tells_them_apart].

%% Of 101 values two are below it; of few it is hardly above the least.
floor_of_a_run_is_its_low_quantile(_) ->
    Values = [1000 + N || N <- lists:seq(0, 100)],
    ?assertEqual(1002.0, ertslab_estimate:of_run(floor, lists:reverse(Values))),
    ?assertEqual(1002.0, ertslab_estimate:of_run(floor, [case V > 1002 of true -> 50 * V; false -> V end || V <- Values])),
    ?assert(abs(ertslab_estimate:of_run(floor, [20, 10, 20]) - 10.4) < 1.0e-9),
    ?assertEqual(7.0, ertslab_estimate:of_run(floor, [7])).

typical_of_a_run_is_its_median(_) ->
    ?assertEqual(20.0, ertslab_estimate:of_run(typical, [10, 900, 20])).

%% The lower tenth of the runs, which need not all have met the machine at its best.
runs_are_summed_up_alike(_) ->
    Numbers = lists:seq(100, 110),
    ?assertEqual(101.0, ertslab_estimate:of_runs(floor, Numbers)),
    ?assertEqual(105.0, ertslab_estimate:of_runs(typical, Numbers)).

points_stand_for_their_slope(_) ->
    [?assertEqual(10.0, ertslab_estimate:of_run(Estimator, [[[10, 105], [20, 205], [30, 305]]])) || Estimator <- [floor, typical]].

each_has_its_own_ratio(_) ->
    {Base, Own} = {[10, 11, 12, 13, 14, 15, 16, 17], [20, 21, 99, 98, 97, 20, 23, 24]},
    ?assertEqual(ertslab_floor:ratio(Base, Own), ertslab_estimate:ratio(floor, Base, Own)),
    ?assertEqual(ertslab_stats:ratio(Base, Own), ertslab_estimate:ratio(typical, Base, Own)).

each_is_the_other_of_one(_) ->
    ?assertEqual([typical, floor], [ertslab_estimate:other(Estimator) || Estimator <- [floor, typical]]).

%% 50 comparisons at once want a p of 0.001: that takes 11 pairs, of which the floor ranks three quarters.
plans_ask_for_enough_pairs(_) ->
    Plan = fun(Estimator) ->
                   #{exact => false, quick => false, builds => 1, budget => null, estimator => Estimator, overall => false,
                     cases => lists:duplicate(50, #{}), metrics => [work], arms => [a, b]}
           end,
    [begin
         ?assertEqual({Estimator, Least}, {Estimator, ertslab_estimate:min_pairs(Estimator, 0.999)}),
         ?assertMatch(#{pairs := Least}, ertslab_plan:with_pairs(Plan(Estimator), Least)),
         ?assertThrow({usage, {ertslab_plan, {too_few_pairs, _, Least, 50}}}, ertslab_plan:with_pairs(Plan(Estimator), Least - 1))
     end || {Estimator, Least} <- [{typical, 11}, {floor, 14}]].

%% The arms of each pair, and not of all pairs.
what_is_compared_has_as_many_values(_) ->
    Runs = #{{stock, 1} => [5, 6, 7], {tuned, 1} => [3, 2, 4, 1], {stock, 2} => [9, 8], {tuned, 2} => [7]},
    ?assertEqual(Runs#{{tuned, 1} := [3, 2, 4], {stock, 2} := [9]},
                 ertslab_levelled:to_shortest(fun({_Arm, Pair}) -> Pair end, Runs)),
    ?assertEqual(#{}, ertslab_levelled:to_shortest(fun(Run) -> Run end, #{})).

%% What a new one must do as well.
each_answers_all_that_is_asked(_) ->
    Names = ertslab_estimate:names(),
    ?assert(length(Names) > 1 andalso lists:member(ertslab_estimate:default(), Names)),
    ?assertEqual([], [ertslab_estimate:words(Name) || Name <- Names] -- lists:uniq([ertslab_estimate:words(Name) || Name <- Names])),
    [answers(Name, Names) || Name <- Names].

answers(Name, Names) ->
    ?assert(lists:member(ertslab_estimate:other(Name), Names -- [Name]), Name),
    Of = ertslab_estimate:for_builds(Name),
    ?assertEqual({Name, Of}, {Name, ertslab_estimate:for_builds(Of)}),
    ?assertEqual({Name, 7.0}, {Name, float(ertslab_estimate:of_run(Name, [7, 7, 7]))}),
    ?assertEqual({Name, 7.0}, {Name, float(ertslab_estimate:of_runs(Name, [7.0, 7.0]))}),
    Least = ertslab_estimate:min_pairs(Name, 0.95),
    [?assert(ertslab_estimate:pairs(Name, Rounds) >= Least, {Name, Rounds}) || Rounds <- [arms, cases, metrics, none]],
    [?assert(is_boolean(ertslab_estimate:is_replacing_disturbed(Name, Rounds)), {Name, Rounds}) || Rounds <- [arms, cases, metrics, none]],
    {Base, Own} = {[100.0 + N || N <- lists:seq(1, Least)], [50.0 + N / 2 || N <- lists:seq(1, Least)]},
    #{estimate := Half, low := Low, high := High} = ertslab_estimate:ratio(Name, Base, Own),
    ?assert(Low =< Half andalso Half =< High andalso abs(Half - 0.5) < 0.01, Name),
    Cases = lists:duplicate(3, {by_pair(Base), by_pair(Own)}),
    {Least, Samples} = ertslab_estimate:over_cases(Name, Cases),
    ?assert(abs(maps:get(estimate, ertslab_estimate:overall(Name, Samples)) - 0.5) < 0.01, Name),
    Runs = #{{Arm, 1} => [100.0 + N || N <- lists:seq(1, Length)] || {Arm, Length} <- [{stock, 9}, {tuned, 11}]},
    [?assertEqual({Name, lists:sort(maps:keys(Runs))},
                  {Name, lists:sort(maps:keys(ertslab_estimate:compared(Name, Rounds, fun({_, Pair}) -> Pair end, Runs)))})
     || Rounds <- [arms, cases]],
    ?assertEqual({Name, #{steady => true}}, {Name, ertslab_estimate:steady(Name, lists:duplicate(20, [7.0, 7.0, 7.0, 7.0, 7.0]), 0.05)}).

by_pair(Numbers) -> maps:from_list(lists:enumerate(Numbers)).

%% Format 1 had no name; a name that this ertslab does not know is read as the default.
names_in_files_are_read(_) ->
    [?assertEqual(Name, ertslab_estimate:of_text(atom_to_binary(Name))) || Name <- ertslab_estimate:names()],
    [?assertEqual(typical, ertslab_estimate:of_text(Text)) || Text <- [null, ~"median", 3]].

%% Else a third one would be a change of many modules. (`floor' is a function and a key as well.)
nobody_else_tells_them_apart(_) ->
    _ = application:load(ertslab),
    {ok, Modules} = application:get_key(ertslab, modules),
    Sources = [Module || Module <- Modules, string:find(proplists:get_value(source, Module:module_info(compile)), "/src/") =/= nomatch],
    Telling = [atom_to_list(Module) || Module <- Sources, has_atom(typical, forms(Module))],
    ?assert(lists:member("ertslab_estimate", Telling)),
    ?assertEqual([], [Module || Module <- Telling -- ["ertslab_estimate"], not lists:prefix("ertslab_estimator_", Module)]).

forms(Module) ->
    {ok, {Module, [{abstract_code, {raw_abstract_v1, Forms}}]}} = beam_lib:chunks(code:which(Module), [abstract_code]),
    Forms.

has_atom(Name, {atom, _, Name}) -> true;
has_atom(Name, Form) when is_tuple(Form) -> has_atom(Name, tuple_to_list(Form));
has_atom(Name, [Head | Tail]) -> has_atom(Name, Head) orelse has_atom(Name, Tail);
has_atom(_, _) -> false.
