%% Which cases the words of a call select, what they need, and which code an arm has.
-module(ertslab_parameters_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(suite_folder, [dir/1]).

-export([all/0, every_experiment_is_found/1, cases_are_all_combinations/1, given_values_replace_the_experiments_own/1,
         a_profile_is_of_one_case/1, assignments_make_the_case_again/1, wrong_values_are_refused/1,
         memory_that_is_not_there_is_refused/1, code_is_that_of_a_project_or_a_folder/1, code_has_a_digest/1,
         code_that_is_not_there_is_refused/1,
         an_experiment_is_here_with_all_that_it_calls/1]).

all() ->
    [every_experiment_is_found, cases_are_all_combinations, given_values_replace_the_experiments_own, a_profile_is_of_one_case,
     assignments_make_the_case_again, wrong_values_are_refused, memory_that_is_not_there_is_refused,
     code_is_that_of_a_project_or_a_folder, code_has_a_digest, code_that_is_not_there_is_refused,
     an_experiment_is_here_with_all_that_it_calls].

every_experiment_is_found(_) ->
    Names = ertslab_parameters:names(),
    ?assertEqual(["hibernate", "toy"], [Name || Name <- Names, lists:member(Name, ["hibernate", "toy"])]),
    [?assertMatch(#{title := _, parameters := _}, ertslab_parameters:info(ertslab_parameters:module(Name))) || Name <- Names],
    refused(~"there is no experiment 'fly'; choose from: ", fun() -> ertslab_parameters:module("fly") end).

cases_are_all_combinations(_) ->
    ?assertEqual([#{cells => 1, kind => a}, #{cells => 1, kind => b}, #{cells => 2, kind => a}, #{cells => 2, kind => b}],
                 ertslab_parameters:cases(info(), full, [])),
    ?assertEqual([#{cells => 1, kind => a}], ertslab_parameters:cases(info(), quick, [])),
    ?assertEqual([#{}], ertslab_parameters:cases(#{parameters => []}, full, [])).

given_values_replace_the_experiments_own(_) ->
    ?assertEqual([#{cells => 9, kind => a}, #{cells => 7, kind => a}], ertslab_parameters:cases(info(), quick, [{"cells", ["9", "7"]}])),
    ?assertEqual([#{cells => 1, kind => b}], ertslab_parameters:cases(info(), quick, [{"kind", ["b"]}])).

%% For valgrind some values are smaller.
a_profile_is_of_one_case(_) ->
    ?assertEqual(#{cells => 1, kind => a}, ertslab_parameters:one_case(info(), quick, [])),
    ?assertEqual(#{cells => 3, kind => a}, ertslab_parameters:one_case(info(), counted, [])),
    ?assertEqual(#{cells => 5, kind => a}, ertslab_parameters:one_case(info(), counted, [{"cells", ["5"]}])),
    refused(~"a profile has one case", fun() -> ertslab_parameters:one_case(info(), quick, [{"cells", ["5", "6"]}]) end).

assignments_make_the_case_again(_) ->
    Case = #{cells => 8, kind => b},
    ?assertEqual(Case, ertslab_parameters:one_case(info(), counted, ertslab_parameters:assignments(Case))).

wrong_values_are_refused(_) ->
    [refused(Sentence, fun() -> ertslab_parameters:cases(info(), quick, Given) end)
     || {Sentence, Given} <- [{~"there is no parameter 'fly'; choose from: cells kind", [{"fly", ["1"]}]},
                              {~"cells=many: give a whole number from 1 to 10", [{"cells", ["many"]}]},
                              {~"cells=11: give a whole number", [{"cells", ["1", "11"]}]},
                              {~"cells=0: give a whole number", [{"cells", ["0"]}]},
                              {~"cells=1.5: give a whole number", [{"cells", ["1.5"]}]},
                              {~"kind=c: choose from a b", [{"kind", ["c"]}]},
                              {~"--param cells is given twice; write cells=VALUE,VALUE", [{"cells", ["1"]}, {"cells", ["2"]}]}]].

info() ->
    #{parameters => [#{name => cells, min => 1, max => 10, quick => [1], full => [1, 2], counted => 3, doc => "cells"},
                     #{name => kind, 'of' => [a, b], quick => [a], full => [a, b], doc => "kind"}]}.

memory_that_is_not_there_is_refused(_) ->
    [Small, Large] = [#{cells => Cells, value_words => 0, prefetch_distance => -1} || Cells <- [1000, 1_000_000]],
    Needs = exp_hibernate:needs(Large),
    ?assertEqual([ok, ok], [ertslab_memory_needs:judge(exp_hibernate, [[Small], [Large]], Available) || Available <- [Needs, null]]),
    refused(~"cells=1000000", fun() -> ertslab_memory_needs:judge(exp_hibernate, [[Small], [Large]], Needs - 1) end),
    %% Those of a run are in memory at once.
    refused(~" and 1 more beside it: this needs about", fun() -> ertslab_memory_needs:judge(exp_hibernate, [[Large, Small]], Needs) end),
    %% An experiment need not say what it needs.
    ?assertEqual(ok, ertslab_memory_needs:check(exp_toy, [[#{behaviour => 0}]], #{})).

code_is_that_of_a_project_or_a_folder(Config) ->
    Dir = dir(Config),
    Folder = fun() -> maps:get(folders, ertslab_arm_code:folder(Dir)) end,
    [begin
         beam(Dir, Path, "old"),
         ?assertEqual([filename:dirname(filename:join(Dir, Path))], Folder())
     end || Path <- ["a.beam", "ebin/a.beam", "_build/dev/lib/a/ebin/a.beam", "_build/prod/lib/a/ebin/a.beam",
                     "_build/default/lib/a/ebin/a.beam"]],
    beam(Dir, "_build/default/lib/b/ebin/b.beam", "old"),
    ok = filelib:ensure_path(filename:join(Dir, "_build/default/lib/empty/ebin")),
    ?assertEqual([filename:join([Dir, "_build/default/lib", Name, "ebin"]) || Name <- ["a", "b"]], Folder()).

%% Of names and contents, wherever they lie.
code_has_a_digest(Config) ->
    [One, Same, Other, Renamed] = [dir(Config) || _ <- lists:seq(1, 4)],
    [beam(Dir, Name, Text) || {Dir, Name, Text} <- [{One, "a.beam", "old"}, {Same, "ebin/a.beam", "old"}, {Other, "a.beam", "new"},
                                                    {Renamed, "b.beam", "old"}]],
    [Digest, Digest, Of, Own] = [maps:get(digest, ertslab_arm_code:folder(Dir)) || Dir <- [One, Same, Other, Renamed]],
    ?assertEqual(3, length(lists:usort([Digest, Of, Own]))).

code_that_is_not_there_is_refused(Config) ->
    refused(~"there is no such folder; name that of a built project", fun() -> ertslab_arm_code:folder("/nowhere") end),
    Dir = dir(Config),
    ?assertThrow({failure, {ertslab_arm_code, {nothing_built, Dir}}}, ertslab_arm_code:folder(Dir)).

%% Directly, or through other modules.
an_experiment_is_here_with_all_that_it_calls(Config) ->
    ?assert(ertslab_experiment_parts:are_here(exp_toy)),
    Dir = dir(Config),
    true = code:add_patha(Dir),
    try
        [compiled(Dir, Name, Calls)
         || {Name, Calls} <- [{exp_part_whole, "part_other"}, {part_other, "lists"}, {exp_part_lacking, "part_broken"},
                                                         {part_broken, "part_that_is_nowhere"}]],
        ?assertEqual([true, false], [ertslab_experiment_parts:are_here(Module) || Module <- [exp_part_whole, exp_part_lacking]])
    after code:del_path(Dir)
    end.

%% A module that describes itself as an experiment, and calls a function of another one.
compiled(Dir, Name, Calls) ->
    Text = lists:concat(["-module(", Name, "). -export([info/0, f/0]). info() -> #{}. f() -> ", Calls, ":f()."]),
    {ok, Tokens, _} = erl_scan:string(Text),
    Forms = [begin {ok, Form} = erl_parse:parse_form(Dotted), Form end || Dotted <- forms(Tokens)],
    {ok, Name, Beam} = compile:forms(Forms),
    beam(Dir, atom_to_list(Name) ++ ".beam", Beam).

forms([]) -> [];
forms(Tokens) ->
    {Form, [Dot | Rest]} = lists:splitwith(fun(Token) -> element(1, Token) =/= dot end, Tokens),
    [Form ++ [Dot] | forms(Rest)].

beam(Dir, Path, Text) ->
    File = filename:join(Dir, Path),
    ok = filelib:ensure_dir(File),
    ok = file:write_file(File, Text).

refused(Words, Fun) ->
    {usage, Error} = try Fun() catch throw:Thrown -> Thrown end,
    Sentence = ertslab_error:sentence(Error),
    ?assertMatch({_, _}, binary:match(Sentence, Words), Sentence).
