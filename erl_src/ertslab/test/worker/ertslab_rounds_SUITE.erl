%% In which order a run calls its experiment, and which of its values count.
-module(ertslab_rounds_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, each_round_visits_every_metric_of_every_case/1, a_visit_takes_the_iterations/1,
         values_are_in_the_order_of_time/1, warm_up_rounds_are_dropped/1, metrics_of_one_case_go_round/1,
         prepare_gets_the_state_of_setup/1, every_state_is_torn_down_once/1, without_time_there_is_one_round/1,
         with_time_there_are_five_rounds_at_least/1, visits_go_on_for_their_time/1, rounds_go_on_while_there_is_time/1,
         there_are_not_more_rounds_than_wanted/1, without_rounds_metrics_come_one_after_another/1,
         without_rounds_each_metric_has_its_least/1, without_rounds_states_are_handed_on/1,
         a_wrong_result_names_its_metric/1, what_is_no_value_is_an_error/1, something_is_done_between_the_visits/1,
         a_round_that_is_asked_for_visits_once/1]).

all() ->
    [each_round_visits_every_metric_of_every_case, a_visit_takes_the_iterations, values_are_in_the_order_of_time,
     warm_up_rounds_are_dropped, metrics_of_one_case_go_round, prepare_gets_the_state_of_setup,
     every_state_is_torn_down_once, without_time_there_is_one_round, with_time_there_are_five_rounds_at_least,
     visits_go_on_for_their_time, rounds_go_on_while_there_is_time, there_are_not_more_rounds_than_wanted,
     without_rounds_metrics_come_one_after_another, without_rounds_each_metric_has_its_least,
     without_rounds_states_are_handed_on, a_wrong_result_names_its_metric, what_is_no_value_is_an_error,
     something_is_done_between_the_visits,
     a_round_that_is_asked_for_visits_once].

-define(WORKS, [{0, a}, {1, b}]).
%% What a round of both cases visits.
-define(ROUND, [{first, a}, {second, a}, {first, b}, {second, b}]).

each_round_visits_every_metric_of_every_case(_) ->
    {Values, _} = measured(?WORKS, #{most => 3, run_ms => 600_000}),
    ?assertEqual(?ROUND ++ ?ROUND ++ ?ROUND, visits()),
    ?assertEqual([{0, first}, {0, second}, {1, first}, {1, second}], [{Case, Metric} || {Case, Metric, _} <- Values]).

a_visit_takes_the_iterations(_) ->
    {Values, _} = measured(?WORKS, #{iterations => 3}),
    ?assertEqual([Visit || Visit <- ?ROUND, _ <- [1, 2, 3]], visits()),
    ?assertEqual([{0, first, [1, 2, 3]}, {0, second, [4, 5, 6]}, {1, first, [7, 8, 9]}, {1, second, [10, 11, 12]}], Values).

%% However short a visit is: value k of each VM that takes turns is of the same turn.
a_round_that_is_asked_for_visits_once(_) ->
    ok = exp_recorder:asked(#{}),
    Going = ertslab_rounds:going(exp_recorder, ?WORKS, #{visit_us => 600_000_000}, fun() -> ok end),
    {Values, _} = ertslab_rounds:values(ertslab_rounds:once_more(ertslab_rounds:once_more(Going))),
    ?assertEqual([2, 2, 2, 2], [length(Of) || {_, _, Of} <- Values]).

%% Each value is the number of its call.
values_are_in_the_order_of_time(_) ->
    {Values, _} = measured(?WORKS, #{iterations => 2, most => 2, run_ms => 600_000}),
    ?assertEqual([[1, 2, 9, 10], [3, 4, 11, 12], [5, 6, 13, 14], [7, 8, 15, 16]], [Of || {_, _, Of} <- Values]).

warm_up_rounds_are_dropped(_) ->
    {Values, _} = measured(?WORKS, #{warm_up => 2}),
    ?assertEqual(?ROUND ++ ?ROUND ++ ?ROUND, visits()),
    ?assertEqual([[9], [10], [11], [12]], [Of || {_, _, Of} <- Values]).

metrics_of_one_case_go_round(_) ->
    {Values, _} = measured([{4, a}], #{rounds => metrics, most => 2, run_ms => 600_000}),
    ?assertEqual([{4, first, [1, 3]}, {4, second, [2, 4]}], Values).

%% Each of them before the first value, whatever those before it made of that state.
prepare_gets_the_state_of_setup(_) ->
    {_, _} = measured(?WORKS, #{prepared => own, most => 2, run_ms => 600_000}),
    ?assertEqual([{prepare, Metric, State} || {Metric, State} <- ?ROUND], lists:sublist(exp_recorder:calls(), 4)),
    ?assertEqual([], [Call || {prepare, _, _} = Call <- lists:nthtail(4, exp_recorder:calls())]),
    ?assertEqual([{Metric, {State, Metric}} || _ <- [1, 2], {Metric, State} <- ?ROUND], visits()).

every_state_is_torn_down_once(_) ->
    Torn = fun(Changes) ->
                   exp_recorder:asked(Changes),
                   #{samples := [_, _]} = ertslab_worker:run(exp_recorder, #{id => 1}),
                   [State || {teardown, State} <- exp_recorder:calls()]
           end,
    Own = {1, done},
    ?assertEqual([Own], Torn(#{})),
    ?assertEqual([Own], Torn(#{rounds => none})),
    ?assertEqual([Own, {Own, first}, {Own, second}], Torn(#{prepared => own})),
    ?assertEqual([{{Own, first}, second}], Torn(#{prepared => own, rounds => none})),
    %% Of two cases each has its own, also where they look the same.
    ?assertMatch({_, [{0, a}, {1, a}]}, measured([{0, a}, {1, a}], #{})).

without_time_there_is_one_round(_) ->
    [begin
         {Values, _} = measured(?WORKS, #{rounds => Rounds, iterations => 2}),
         ?assertEqual([2, 2, 2, 2], [length(Of) || {_, _, Of} <- Values])
     end || Rounds <- [cases, metrics]].

%% The first round takes longer than there is time for all.
with_time_there_are_five_rounds_at_least(_) ->
    {Values, _} = measured(?WORKS, #{run_ms => 1, sleep => 2}),
    ?assertEqual([5, 5, 5, 5], [length(Of) || {_, _, Of} <- Values]).

%% Each value takes a few microseconds, so there is time for another one in 50 ms.
visits_go_on_for_their_time(_) ->
    {Values, _} = measured(?WORKS, #{visit_us => 50_000, run_ms => 600_000, most => 1}),
    ?assertEqual(?ROUND, squeezed(visits())),
    [?assertMatch([_, _ | _], Of) || {_, _, Of} <- Values],
    %% Not where the least is wanted, nor where nothing goes round.
    {Least, _} = measured(?WORKS, #{visit_us => 50_000}),
    {Alone, _} = measured(?WORKS, #{visit_us => 50_000, rounds => none, run_ms => 4, iterations => 2, sleep => 2}),
    ?assertEqual({[1, 1, 1, 1], [2, 2, 2, 2]}, {[length(Of) || {_, _, Of} <- Least], [length(Of) || {_, _, Of} <- Alone]}),
    %% Nor where a value takes longer than a visit.
    {Long, _} = measured(?WORKS, #{visit_us => 1000, run_ms => 1, sleep => 2}),
    ?assertEqual([5, 5, 5, 5], [length(Of) || {_, _, Of} <- Long]).

squeezed([Visit, Visit | Visits]) -> squeezed([Visit | Visits]);
squeezed([Visit | Visits]) -> [Visit | squeezed(Visits)];
squeezed([]) -> [].

%% As many as there may be by default, where the time is long.
rounds_go_on_while_there_is_time(_) ->
    {Values, _} = measured([{0, a}], #{run_ms => 600_000, metrics => [#{name => first, doc => ""}]}),
    ?assertMatch([{0, first, Of}] when length(Of) =:= 2000, Values).

there_are_not_more_rounds_than_wanted(_) ->
    [begin
         {Values, _} = measured(?WORKS, #{rounds => Rounds, run_ms => 600_000, most => 7}),
         ?assertEqual([7, 7, 7, 7], [length(Of) || {_, _, Of} <- Values])
     end || Rounds <- [cases, metrics, none]].

without_rounds_metrics_come_one_after_another(_) ->
    {Values, _} = measured(?WORKS, #{rounds => none, iterations => 3}),
    ?assertEqual([Visit || Visit <- ?ROUND, _ <- [1, 2, 3]], visits()),
    ?assertEqual([{0, first, [1, 2, 3]}, {0, second, [4, 5, 6]}, {1, first, [7, 8, 9]}, {1, second, [10, 11, 12]}], Values),
    %% Each is prepared when it is its turn.
    ?assertMatch([{prepare, first, a}, {run, first, a}, _, _, {prepare, second, a}, {run, second, a} | _],
                 exp_recorder:calls()).

%% The warm-up is of each metric, and does not count.
without_rounds_each_metric_has_its_least(_) ->
    {Values, _} = measured(?WORKS, #{rounds => none, iterations => 3, warm_up => 2, run_ms => 4, sleep => 2}),
    ?assertEqual([[3, 4, 5], [8, 9, 10], [13, 14, 15], [18, 19, 20]], [Of || {_, _, Of} <- Values]).

without_rounds_states_are_handed_on(_) ->
    {_, Done} = measured(?WORKS, #{rounds => none, prepared => own}),
    ?assertEqual([{prepare, first, a}, {prepare, second, {a, first}}, {prepare, first, b}, {prepare, second, {b, first}}],
                 [Call || {prepare, _, _} = Call <- exp_recorder:calls()]),
    ?assertEqual([{0, {{a, first}, second}}, {1, {{b, first}, second}}], Done).

a_wrong_result_names_its_metric(_) ->
    [?assertError({wrong_result, second, done}, measured([{0, {1, done}}], #{rounds => Rounds, wrong => second}))
     || Rounds <- [cases, metrics, none]].

%% They were no error until all runs were done, and then a defect.
what_is_no_value_is_an_error(_) ->
    [?assertError({no_value, first, Value}, measured([{0, {1, done}}], #{value => Value}))
     || Value <- [foo, {foo, 1}, -1, -0.5, 1.0e308, 1 bsl 2000, none, <<"1">>, [], [[1, 2]], [1, 2], [[1, 2], [1, 3]], [[1, 2], [1.0, 3]],
                  [[1, 2], [2, foo]], [[1, 2], [2, 3, 4]], [[1, 2], [2, -3]], [[foo, 2], [2, 3]], [[1, 2] | [2, 3]],
                  [[1 bsl 2000, 2], [2, 3]]]],
    [?assertMatch({[{0, first, [Value]}, {0, second, [Value]}], _}, measured([{0, {1, done}}], #{value => Value}))
     || Value <- [0, 0.0, 17, 2.5e299, 1 bsl 64, [[1, 2], [2, 2]], [[-1, 0], [3.5, 4], [2, 1]]]],
    ?assertEqual(~"the value of first is neither a number from 0 to 1.0e300 nor points of different N: foo",
                 ertslab_crash:says({{no_value, first, foo}, [{ertslab_rounds, verified, 3, []}]})),
    ?assertError({no_pair, first, 17}, measured([{0, {1, done}}], #{returns => 17})),
    ?assertEqual(~"run(first, State) has to return {Value, Result}, and returned 17", ertslab_crash:says({no_pair, first, 17})).

something_is_done_between_the_visits(_) ->
    [begin
         ok = exp_recorder:asked(#{rounds => Rounds, iterations => 3}),
         Between = fun() -> put(between, [length(visits()) | get(between)]), ok end,
         put(between, []),
         {_, _} = ertslab_rounds:measured(exp_recorder, ?WORKS, #{}, Between),
         ?assertEqual(Expected, lists:reverse(get(between)))
     end || {Rounds, Expected} <- [{cases, [0, 3, 6, 9]}, {none, lists:seq(0, 11)}]].

%% The counts in the way in which a run gets them, over those of the experiment. A visit takes no
%% longer than its values by default.
measured(Works, Changes) ->
    Counts = maps:merge(#{visit_us => 0}, maps:with([run_ms, visit_us, most, warm_up, iterations], Changes)),
    ok = exp_recorder:asked(maps:without(maps:keys(Counts), Changes)),
    ertslab_rounds:measured(exp_recorder, Works, Counts, fun() -> ok end).

visits() -> [{Metric, State} || {run, Metric, State} <- exp_recorder:calls()].
