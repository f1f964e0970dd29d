%% Samples in both formats: all values of a result in one line, and a line for each.
-module(ertslab_samples_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, values_are_read_in_their_order/1, what_the_run_says_is_not_kept/1, runs_are_as_they_were_written/1,
         values_are_the_same_in_both_formats/1, what_was_cut_off_is_no_run/1, edited_values_are_found/1]).

all() ->
    [values_are_read_in_their_order, what_the_run_says_is_not_kept, runs_are_as_they_were_written,
     values_are_the_same_in_both_formats, what_was_cut_off_is_no_run, edited_values_are_found].

values_are_read_in_their_order(Config) ->
    #{samples := Samples} = ertslab_samples:read(file(Config, runs(fun values/1))),
    ?assertEqual([{Run, Case, Metric, [30.5, 10, 20 + Run]} || Run <- [1, 2], Case <- [0, 1], Metric <- [~"walk", ~"fold"]],
                 [{Run, Case, Metric, Values}
                  || #{~"run" := Run, ~"case" := Case, ~"metric" := Metric, ~"values" := Values} <- Samples]).

what_the_run_says_is_not_kept(Config) ->
    [begin
         #{samples := [Sample | _]} = ertslab_samples:read(file(Config, runs(Lines))),
         ?assertEqual(lists:sort(Keys), lists:sort(maps:keys(Sample)))
     end || {Lines, Keys} <- [{fun values/1, [~"run", ~"case", ~"arm", ~"pair", ~"metric", ~"values"]},
                              {fun iterations/1, [~"run", ~"case", ~"arm", ~"pair", ~"metric", ~"iteration", ~"value"]}]].

runs_are_as_they_were_written(Config) ->
    File = file(Config, runs(fun values/1)),
    #{runs := Runs} = ertslab_samples:read(File),
    ?assertMatch(#{runs := Runs}, ertslab_samples:begun(File)),
    ?assertMatch([#{~"run" := 1, ~"case" := ~"all", ~"speed" := [[5, 70], [9, 80]]}, #{~"run" := 2}], Runs).

%% By any key, and whatever lines the values of one key are spread over.
values_are_the_same_in_both_formats(Config) ->
    [New, Old] = [maps:get(samples, ertslab_samples:read(file(Config, runs(Lines)))) || Lines <- [fun values/1, fun iterations/1]],
    Single = fun(#{~"run" := Run, ~"case" := Case, ~"metric" := Metric}) -> {Run, Case, Metric} end,
    ?assertEqual(ertslab_samples:by_run(Single, Old), ertslab_samples:by_run(Single, New)),
    ?assertMatch(#{{2, 1, ~"fold"} := [30.5, 10, 22]}, ertslab_samples:by_run(Single, New)),
    Together = fun(#{~"metric" := Metric}) -> Metric end,
    ?assertEqual(ertslab_samples:by_run(Together, Old), ertslab_samples:by_run(Together, New)),
    ?assertMatch(#{~"walk" := [30.5, 10, 21, 30.5, 10, 21, 30.5, 10, 22, 30.5, 10, 22]}, ertslab_samples:by_run(Together, New)).

what_was_cut_off_is_no_run(Config) ->
    [First, Second] = runs(fun values/1),
    Whole = iolist_to_binary(Second),
    File = file(Config, [First, binary:part(Whole, 0, byte_size(Whole) - 9)]),
    ?assertMatch(#{samples := [_, _, _, _], runs := [#{~"run" := 1}]}, ertslab_samples:read(File)),
    #{bytes := Bytes} = ertslab_samples:begun(File),
    ok = ertslab_samples:cut(File, Bytes),
    ?assertEqual({ok, iolist_to_binary(First)}, file:read_file(File)).

edited_values_are_found(Config) ->
    [First | _] = runs(fun values/1),
    File = file(Config, [string:replace(First, "30.5", "30.4")]),
    ?assertThrow({failure, {ertslab_samples, {edited, File, 1, _, 1}}}, ertslab_samples:read(File)).

%% Two runs of two cases and two metrics each, as text.
runs(Lines) -> [ertslab_samples:text(Lines(Run) ++ [run(Run)]) || Run <- [1, 2]].

values(Run) ->
    [(sample(Run, Case, Metric))#{values => [30.5, 10, 20 + Run]} || Case <- [0, 1], Metric <- [walk, fold]].

iterations(Run) ->
    [(sample(Run, Case, Metric))#{iteration => Iteration, value => Value}
     || Case <- [0, 1], Metric <- [walk, fold], {Iteration, Value} <- lists:enumerate([30.5, 10, 20 + Run])].

sample(Run, Case, Metric) ->
    #{type => sample, run => Run, 'case' => Case, arm => 1, pair => Run, metric => Metric, unit => ns,
      label => ~"stock", params => #{cells => 7}}.

run(Run) ->
    #{type => run, run => Run, 'case' => all, arm => 1, pair => Run, outcome => ok, speed => [[5, 70], [9, 80]]}.

file(Config, Texts) ->
    File = filename:join(proplists:get_value(priv_dir, Config), integer_to_list(erlang:unique_integer([positive]))),
    ok = file:write_file(File, Texts),
    File.
