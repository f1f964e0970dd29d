%% Counts are the same, changed, or varying: nothing between.
-module(ertslab_exact_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, equal_counts_are_the_same/1, other_counts_are_changed/1,
         counts_that_differ_between_runs_vary/1, nothing_is_said_of_few_runs/1,
         baseline_has_no_ratio/1, zero_has_no_ratio/1]).

all() -> [equal_counts_are_the_same, other_counts_are_changed, counts_that_differ_between_runs_vary,
          nothing_is_said_of_few_runs, baseline_has_no_ratio, zero_has_no_ratio].

equal_counts_are_the_same(_) ->
    ?assertMatch(#{verdict := same, ratio := #{estimate := 1.0}},
                 ertslab_exact:compared([16, 16, 16], [16, 16, 16], false)).

other_counts_are_changed(_) ->
    ?assertMatch(#{verdict := changed, ratio := #{estimate := 8.5}},
                 ertslab_exact:compared([16, 16, 16], [136, 136, 136], false)).

counts_that_differ_between_runs_vary(_) ->
    [?assertMatch(#{verdict := varying, ratio := none}, ertslab_exact:compared(Base, Own, false))
     || {Base, Own} <- [{[16, 16, 17], [16, 16, 16]}, {[16, 16, 16], [16, 17, 16]}]].

nothing_is_said_of_few_runs(_) ->
    ?assertMatch(#{verdict := none, ratio := none}, ertslab_exact:compared([16, 16], [16, 16], false)).

baseline_has_no_ratio(_) ->
    ?assertMatch(#{verdict := none, ratio := none}, ertslab_exact:compared([16, 16, 16], [16, 16, 16], true)).

zero_has_no_ratio(_) ->
    ?assertMatch(#{verdict := changed, ratio := none}, ertslab_exact:compared([0, 0, 0], [1, 1, 1], false)).
