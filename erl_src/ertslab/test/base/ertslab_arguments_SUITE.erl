%% Values that look like options, and what is said of words that are wrong.
-module(ertslab_arguments_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_value_may_begin_with_a_dash/1, every_option_of_text_takes_one/1, an_expression_may_begin_with_a_dash/1,
         what_is_misspelt_is_no_value/1, errors_are_sentences/1,
         arguments_may_stand_among_options/1, no_options_after_two_dashes/1, help_names_every_option/1]).

all() ->
    [a_value_may_begin_with_a_dash, every_option_of_text_takes_one, an_expression_may_begin_with_a_dash,
     what_is_misspelt_is_no_value, errors_are_sentences,
     arguments_may_stand_among_options, no_options_after_two_dashes, help_names_every_option].

a_value_may_begin_with_a_dash(_) ->
    Flags = "-env ERL_FULLSWEEP_AFTER 0",
    [?assertMatch({ok, #{experiment := "length", flags := [["-env", "ERL_FULLSWEEP_AFTER", "0"], ["+A", "1"], ["-x=y"]], quick := true}, _},
                  parsed(Words))
     || Words <- [["compare", "length", "--flags", Flags, "--flags", "+A 1", "--flags", "-x=y", "--quick"],
                  ["compare", "--flags=" ++ Flags, "length", "--flags=+A 1", "--quick", "--flags=-x=y"]]].

%% Of each command.
every_option_of_text_takes_one(_) ->
    #{commands := Commands} = ertslab_cli:command(),
    [begin
         Required = lists:append([required(A) || #{required := true, name := Other} = A <- Arguments, Other =/= Name, is_map_key(long, A)]),
         Positional = [positional(A) || A <- Arguments, not is_map_key(long, A)],
         {ok, Options, _} = parsed([Command | Positional ++ Required ++ Words]),
         ?assertEqual("-x y", lists:flatten(maps:get(Name, Options)), {Command, Words})
     end || Command := #{arguments := Arguments} <- Commands, #{long := Long, name := Name} = Argument <- Arguments,
            not is_map_key(type, Argument), Words <- [[[$- | Long], "-x y"], [[$- | Long] ++ "=-x y"]]].

positional(#{name := setting}) -> "fullsweep_after=0";
positional(#{}) -> "direct".

required(#{type := {integer, _}, long := Long}) -> [[$- | Long], "1"];
required(#{name := over, long := Long}) -> [[$- | Long], "x=1"];
required(#{long := Long}) -> [[$- | Long], "x"].

an_expression_may_begin_with_a_dash(_) ->
    ?assertMatch({ok, #{expressions := ["-X", "-1", "- 1", "-(X)"], init := "-X = 1"}, _},
                 parsed(["time", "-X", "-1", "- 1", "-(X)", "--init", "-X = 1"])),
    ?assertMatch({ok, #{expressions := [[$-, $" | _], "1"]}, _}, parsed(["time", "-\"日本\"", "1"])).

what_is_misspelt_is_no_value(_) ->
    ?assertEqual(~"time: unknown argument: --quik", refused(["time", "1", "2", "--quik"])),
    ?assertEqual(~"compare: unknown argument: --fly", refused(["compare", "length", "--fly"])),
    ?assertEqual(<<"compare: unknown argument: --日本"/utf8>>, refused(["compare", "length", "--日本"])),
    ?assertEqual(~"compare: --out needs a value", refused(["compare", "length", "--out", "--force"])).

errors_are_sentences(_) ->
    [?assertEqual(Sentence, refused(Words))
     || {Sentence, Words} <- [{~"compare: --flags needs a value", ["compare", "length", "--flags"]},
                              {~"compare: the argument experiment is missing", ["compare"]},
                              {~"erl: --vm is missing", ["erl"]},
                              {~"compare: --pairs must be at least 3", ["compare", "length", "--pairs", "0"]},
                              {~"compare: --pairs x is not an integer", ["compare", "length", "--pairs=x"]},
                              {~"flood: --seconds must be at most 86400", ["flood", "dam", "--seconds", "86401"]},
                              {~"report: --format pdf is not one of html, table, markdown, benchstat, iterations",
                               ["report", "x", "--format", "pdf"]},
                              {~"list: --json takes no value", ["list", "--json=yes"]},
                              {~"doctor: unknown argument: here", ["doctor", "here"]},
                              {~"unknown argument: fly", ["fly"]}]].

refused(Words) ->
    {error, Error} = parsed(Words),
    ertslab_error:sentence(Error).

parsed(Words) -> ertslab_arguments:parse(Words, ertslab_cli:command()).

arguments_may_stand_among_options(_) ->
    ?assertMatch({ok, #{expressions := ["1", "-2", "3"], quick := true, pairs := 12, init := "X = 1"}, _},
                 parsed(["time", "1", "--quick", "-2", "--pairs", "12", "--init", "X = 1", "3"])),
    ?assertMatch({ok, #{dirs := ["a", "b", "c"], format := table}, _}, parsed(["report", "a", "--format", "table", "b", "--out=x", "c"])),
    ?assertMatch({ok, #{target := ["a", "b"], json := true}, _}, parsed(["audit", "a", "--json", "b"])),
    ?assertMatch({ok, #{experiment := "length", quick := true}, _}, parsed(["compare", "--quick", "length"])).

%% What is written again is read again.
no_options_after_two_dashes(_) ->
    [begin
         {ok, Options, #{arguments := Arguments}} = parsed([Command | Words]),
         ?assertEqual({Words, Value}, {Words, maps:get(Name, Options)}),
         ?assertMatch({ok, Options, _}, parsed([Command | ertslab_arguments:words(Options, Arguments)]))
     end || {Command, Words, Name, Value} <- [{"report", ["--", "--out"], dirs, ["--out"]},
                                              {"report", ["a", "--out=x", "--", "--format", "-b", "--"], dirs,
                                               ["a", "--format", "-b", "--"]},
                                              {"audit", ["--json", "--", "--json"], target, ["--json"]},
                                              {"audit", ["a", "--"], target, ["a"]},
                                              {"time", ["1", "--", "--x"], expressions, ["1", "--x"]}]],
    ?assertEqual(~"doctor: this command takes no arguments after --", refused(["doctor", "--", "here"])),
    ?assertEqual(~"compare: unknown argument: b", refused(["compare", "length", "--", "b"])).

%% Of each command, in lines that a terminal shows whole.
help_names_every_option(_) ->
    #{commands := Commands} = Tree = ertslab_cli:command(),
    All = unicode:characters_to_list(ertslab_help:commands(Tree)),
    [begin
         Help = unicode:characters_to_list(ertslab_help:command(Name, Command)),
         ?assertNotEqual(nomatch, string:find(All, "\n  " ++ Name ++ " ")),
         %% The help begins with examples, and the parser accepts each of them.
         #{examples := [_ | _] = Examples} = Command,
         ?assertMatch({match, _}, re:run(Help, "^Examples?:\\n  ertslab " ++ Name)),
         [?assertMatch({ok, _, #{handler := _}}, parsed(shell_words(Example)), Example) || Example <- Examples],
         ?assertNotEqual(nomatch, string:find(Help, "\nUsage:\n  ertslab " ++ Name)),
         [?assertNotEqual(nomatch, string:find(Help, "\n  -" ++ Long ++ " "), {Name, Long}) || #{long := Long} <- Arguments],
         ?assertEqual([], [Line || Line <- string:split(Help, "\n", all), string:length(Line) > 80])
     end || Name := #{arguments := Arguments} = Command <- Commands].

%% As a shell splits them, without what follows --.
shell_words(Text) ->
    {match, Words} = re:run(Text, "(?:'[^']*'|\"[^\"]*\"|[^\\s'\"])+", [global, {capture, first, list}]),
    lists:takewhile(fun(Word) -> Word =/= "--" end, [[Char || Char <- Word, Char =/= $', Char =/= $"] || [Word] <- Words]).
