%% Expressions of a call: what they are called, and what tells them from others.
-module(ertslab_expressions_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_label_is_one_line/1, prompts_are_left_out/1, what_differs_within_words_is_called_otherwise/1,
         other_variables_are_other_code/1,
         a_match_within_a_match_binds/1, its_folder_has_any_name/1]).

all() ->
    [a_label_is_one_line, prompts_are_left_out, what_differs_within_words_is_called_otherwise, other_variables_are_other_code,
     a_match_within_a_match_binds,
     its_folder_has_any_name].

a_label_is_one_line(_) ->
    ?assertEqual(~"lists:map(F, L)", ertslab_expressions:on_one_line("lists:map(F, % all\n          L)")),
    ?assertEqual(~"a + b", ertslab_expressions:on_one_line(" a  +\t% one\n % two\n b ")),
    ?assertEqual(~"\"a\\nb\"", ertslab_expressions:on_one_line("\"a\nb\"")),
    ?assertEqual(~"\"\\x{1B}[31m\"", ertslab_expressions:on_one_line("\"\e[31m\"")),
    ?assertEqual(~"$ ", ertslab_expressions:on_one_line(" $  ")),
    ?assertEqual(<<"\"日  本\""/utf8>>, ertslab_expressions:on_one_line("\"日  本\"")).

prompts_are_left_out(_) ->
    [?assertEqual({Text, Source}, {Text, ertslab_expressions:source(Text)})
     || {Text, Source} <- [{"1> lists:sum([1, 2]).", "lists:sum([1, 2])"},
                           {"(shop@host)12> f().", "f()"},
                           {"1> A = 1.\n2> A + 1.\n", "A = 1, A + 1"},
                           {"1>2", "1>2"}, {"X, 1> 2", "X, 1> 2"}, {"\"1> ü\"", "\"1> ü\""}]].

what_differs_within_words_is_called_otherwise(_) ->
    Labels = [ertslab_expressions:on_one_line(Text) || Text <- ["\"a b\"", "\"a  b\"", "\"a\tb\"", "'a b'", "'a  b'"]],
    ?assertEqual(Labels, lists:uniq(Labels)).

%% As a call makes them, in a folder of its own and once in a VM.
other_variables_are_other_code(Config) ->
    in_folder(proplists:get_value(priv_dir, Config), fun told_apart/0).

told_apart() ->
    Digest = fun(Texts, Init) ->
                     "time" = ertslab_expressions:experiment(Texts, Init),
                     _ = code:purge(exp_time),
                     {module, exp_time} = code:load_file(exp_time),
                     ertslab_experiment_source:digest(exp_time)
             end,
    One = Digest(["X", "X + 1"], "X = 1"),
    ?assertEqual(One, Digest(["X", "X + 1"], "X = 1")),
    ?assertNotEqual(One, Digest(["X", "X + 1"], "X = 2")),
    ?assertNotEqual(One, Digest(["X", "X + 2"], "X = 1")).

a_match_within_a_match_binds(Config) ->
    in_folder(proplists:get_value(priv_dir, Config),
              fun() -> ?assertEqual("time", ertslab_expressions:experiment(["{A, B}", "C"], "A = B = {C, _} = {1, 2}")) end).

%% A folder's name may have characters of patterns.
its_folder_has_any_name(Config) ->
    in_folder(filename:join(proplists:get_value(priv_dir, Config), "{br[1]*"),
              fun() ->
                      "time" = ertslab_expressions:experiment(["1", "2"], ""),
                      ?assert(lists:member("time", ertslab_parameters:names()))
              end).

in_folder(Dir, Fun) ->
    true = os:putenv("TMPDIR", Dir),
    try Fun()
    after
        true = os:unsetenv("TMPDIR"),
        code:del_path(filename:join(Dir, "experiment"))
    end.
