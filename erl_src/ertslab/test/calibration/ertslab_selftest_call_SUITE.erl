%% The command `selftest': which options belong together, and what it prints.
-module(ertslab_selftest_call_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, options_that_do_not_belong_together_are_refused/1, a_report_is_json/1, histories_are_searched/1,
         noise_is_kept_of_one_experiment_only/1, pooled_iterations_find_what_is_not_there/1]).

all() ->
    [options_that_do_not_belong_together_are_refused, a_report_is_json, histories_are_searched, noise_is_kept_of_one_experiment_only,
     pooled_iterations_find_what_is_not_there].

options_that_do_not_belong_together_are_refused(_) ->
    [command_line:refused(2, Text, ["selftest" | Words])
     || {Text, Words} <- [{"--pairs is not for what it simulates", ["--pairs", "20"]},
                          {"--out is not for what it simulates", ["--out", "x"]},
                          {"--comparisons is not for --machine", ["--machine", "2", "--comparisons", "5"]},
                          {"--seed is not for --record", ["--record", "--seed", "5"]},
                          {"--replay is not for --bisect", ["--bisect", "--replay", "x"]}]].

a_report_is_json(_) ->
    {0, {Output, _}} = command_line:called(["selftest", "--comparisons", "20", "--json"]),
    #{~"ok" := true, ~"identical" := Identical, ~"power" := Power} = json:decode(unicode:characters_to_binary(Output)),
    ?assertEqual({5, 12}, {length(Identical), length(Power)}).

histories_are_searched(_) ->
    {0, {Output, _}} = command_line:called(["selftest", "--bisect", "--comparisons", "2", "--json"]),
    ?assertMatch(#{~"ok" := true}, json:decode(unicode:characters_to_binary(Output))).

%% A finished folder of another experiment is not measured anew.
noise_is_kept_of_one_experiment_only(Config) ->
    Dir = report_fixture:folder(Config, report_fixture:newer()),
    command_line:refused(1, Dir ++ " is not a comparison of gc_shapes, so there is no noise to keep.",
                         ["selftest", "--record", "--out", Dir]).

%% Two arms of 20 runs; of a shift that is the same for a run, one run is enough for that analysis.
pooled_iterations_find_what_is_not_there(_) ->
    Changed = fun(Shift) ->
                      ertslab_naive_analysis:any_changed(
                        #{samples => [#{~"metric" => ~"a", ~"arm" => Arm, ~"run" => 2 * Pair + Arm, ~"pair" => Pair, ~"case" => 0,
                                        ~"values" => [(1000 + N rem 7) * (1 + Arm * Shift) || N <- lists:seq(1, 30)]}
                                      || Pair <- lists:seq(1, 20), Arm <- [0, 1]]})
              end,
    ?assertEqual([false, false, true], [Changed(Shift) || Shift <- [0.0, 0.005, 0.02]]).
