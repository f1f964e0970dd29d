%% What is believed of a history, on readings that leave no doubt and on some that do.
-module(ertslab_step_model_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, chances_sum_to_one/1, a_step_is_placed/1, no_change_is_an_answer/1, two_steps_are_seen/1, a_drift_is_no_step/1,
         two_readings_are_one_commit/1, one_layout_is_no_step/1, evidence_is_that_of_the_normal_density/1]).

all() ->
    [chances_sum_to_one, a_step_is_placed, no_change_is_an_answer, two_steps_are_seen, a_drift_is_no_step,
     two_readings_are_one_commit, one_layout_is_no_step, evidence_is_that_of_the_normal_density].

chances_sum_to_one(_) ->
    [begin
         #{none := None, one := One, two := Two, drift := Drift, first := First} = Belief = ertslab_step_model:belief(16, Measured),
         near(1.0, None + One + Two + Drift, 1.0e-9),
         near(One + Two, lists:sum([Chance || {_, Chance} <- First]), 1.0e-9),
         near(1.0 - None, ertslab_step_model:before(Belief, 16), 1.0e-9),
         ?assertEqual(lists:seq(1, 16), [Commit || {Commit, _} <- ertslab_step_model:chances(Belief)])
     end || Measured <- [[], readings([{16, 0.05}]), readings([{16, 0.05}, {8, 0.0}, {12, 0.05}])]].

a_step_is_placed(_) ->
    Belief = ertslab_step_model:belief(16, readings([{16, 0.05}, {8, 0.0}, {12, 0.05}, {10, 0.0}, {11, 0.05}])),
    ?assertEqual([11], ertslab_step_model:credible(Belief, 0.9)),
    ?assert(proplists:get_value(11, ertslab_step_model:chances(Belief)) > 0.95),
    ?assert(maps:get(one, Belief) > 0.8),
    near(0.05, maps:get(size, Belief), 1.0e-9).

no_change_is_an_answer(_) ->
    #{none := Before} = ertslab_step_model:belief(16, []),
    #{none := After} = ertslab_step_model:belief(16, readings([{16, 0.0}, {8, 0.001}, {12, -0.001}])),
    near(0.2, Before, 1.0e-9),
    ?assert(After > 0.8).

two_steps_are_seen(_) ->
    Levels = [{N, case N of _ when N >= 12 -> 0.08; _ when N >= 5 -> 0.04; _ -> 0.0 end} || N <- lists:seq(1, 16)],
    #{two := Two} = ertslab_step_model:belief(16, readings(Levels)),
    ?assert(Two > 0.95).

a_drift_is_no_step(_) ->
    #{drift := Drift, one := One} = ertslab_step_model:belief(16, readings([{N, 0.005 * N} || N <- lists:seq(1, 16)])),
    ?assert(Drift > 0.9),
    ?assert(One < 0.01).

two_readings_are_one_commit(_) ->
    Once = ertslab_step_model:belief(4, [#{commit => 4, log_ratio => 0.02, error => 0.004}]),
    Twice = ertslab_step_model:belief(4, [#{commit => 4, log_ratio => Y, error => 0.004 * math:sqrt(2)} || Y <- [0.01, 0.03]]),
    near(maps:get(none, Once), maps:get(none, Twice), 1.0e-9).

%% A build that deviates alone is badly laid out, or a step that was taken back.
one_layout_is_no_step(_) ->
    #{one := One, none := None, two := Two} =
        ertslab_step_model:belief(8, readings([{1, 0.0}, {2, 0.0}, {3, 0.03}, {4, 0.0}, {5, 0.0}, {6, 0.0}, {8, 0.0}])),
    ?assert(None + Two > 0.9),
    ?assert(One < 0.05).

%% Of one reading, the chance of no change beside the others is that of two normal densities.
evidence_is_that_of_the_normal_density(_) ->
    Layouts = [{0.001, 0.35}, {0.003, 0.35}, {0.01, 0.2}, {0.03, 0.1}],
    Of = fun(Step) -> lists:sum([Chance * density(0.02, 2 * L * L + 0.004 * 0.004 + Step) || {L, Chance} <- Layouts]) end,
    [None, One, Two, Drift] = [0.2 * Of(0.0), 0.5 * Of(0.0025), 0.15 * Of(0.0025), 0.15 * Of(0.0025)],
    #{none := Got} = ertslab_step_model:belief(1, [#{commit => 1, log_ratio => 0.02, error => 0.004}]),
    %% A history of one commit has no room for two steps.
    near(None / (None + One + Drift), Got, 1.0e-9),
    ?assert(Two > 0).

density(X, Variance) -> math:exp(-X * X / (2 * Variance)) / math:sqrt(2 * math:pi() * Variance).

readings(Levels) -> [#{commit => Commit, log_ratio => float(Y), error => 0.002} || {Commit, Y} <- Levels].

near(Wanted, Got, Within) -> ?assert(abs(Wanted - Got) =< Within, {wanted, Wanted, got, Got}).
