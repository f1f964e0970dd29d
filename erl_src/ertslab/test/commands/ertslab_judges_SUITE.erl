%% What a judge's comparison is told, so that its page names a call that makes it again, and what is refused.
-module(ertslab_judges_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, words_of_a_judge_are_those_of_its_comparison/1, time_that_is_given_is_kept/1,
         wrong_words_are_refused_before_a_folder_is_made/1]).

all() -> [words_of_a_judge_are_those_of_its_comparison, time_that_is_given_is_kept,
     wrong_words_are_refused_before_a_folder_is_made].

words_of_a_judge_are_those_of_its_comparison(_) ->
    One = one(["judges", "--vm", "stock,tuned", "--only=web,compile_stdlib", "--fail-if", "slower 2%", "--seed=7"]),
    ?assertEqual(["compare", "compile_stdlib", "--vm", "stock,tuned", "--budget", "15m", "--param", "module=gb_sets,lists", "--seed", "7"],
                 ertslab_call:words(One)),
    %% The bound is that of all programs together, and ends none of their comparisons.
    ?assertEqual(error, maps:find(fail_if, One)).

time_that_is_given_is_kept(_) ->
    [?assertEqual(["compare", "compile_stdlib" | Words] ++ ["--param", "module=gb_sets,lists"],
                  ertslab_call:words(one(["judges" | Words])))
     || Words <- [["--pairs", "20"], ["--quick"], ["--budget", "5m"]]].

one(Words) ->
    {ok, Options, _} = ertslab_arguments:parse(Words, ertslab_cli:command()),
    ertslab_judges:one({"compile_stdlib", [compile], [{"module", ["gb_sets", "lists"]}]}, "/nowhere", Options#{command => judges}).

wrong_words_are_refused_before_a_folder_is_made(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "none"),
    [begin
         ?assertThrow({usage, {Module, _}}, ertslab_judges:run(Wrong#{out => Dir, command => judges})),
         ?assertNot(filelib:is_dir(Dir))
     end || {Module, Wrong} <- [{ertslab_judges, #{only => ["fly"]}}, {ertslab_inventory, #{only => ["dialyzer"], vm => ["stock", "fly"]}},
                                {ertslab_plan, #{only => ["dialyzer"], pairs => 3}},
                                {ertslab_plan, #{only => ["dialyzer"], budget => 1000}}]].
