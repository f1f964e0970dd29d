%% The options of calls that measure: what their text is read as, and that the words of a call make the same call again.
-module(ertslab_call_SUITE).

-include_lib("stdlib/include/assert.hrl").
-include_lib("proper/include/proper.hrl").

-export([all/0, texts_are_read/1, other_texts_are_refused/1, paths_are_absolute_at_once/1, where_results_go_is_no_word_of_a_call/1,
         words_make_the_same_call/1, command_of_a_plan_makes_the_same_plan/1, a_file_stays_a_file/1]).

all() ->
    [texts_are_read, other_texts_are_refused, paths_are_absolute_at_once, where_results_go_is_no_word_of_a_call,
     words_make_the_same_call, command_of_a_plan_makes_the_same_plan, a_file_stays_a_file].

texts_are_read(_) ->
    [?assertEqual({ok, Value}, ertslab_option_types:read(ertslab_option_types:Type(), Text), Text)
     || {Type, Text, Value} <-
            [{duration, "90s", 90_000}, {duration, "20m", 1_200_000}, {duration, "1h", 3_600_000},
             {percentage, "2%", 0.02}, {percentage, "0.5%", 0.005},
             {bound, "slower 2%", {slower, 0.02}}, {bound, "changed 0.5 %", {changed, 0.005}}, {bound, " slower  150% ", {slower, 1.5}},
             {assignment, "n=7,9,7", {"n", ["7", "9"]}}, {assignment, "kind=a=b", {"kind", ["a=b"]}},
             {names, "a,,b,a", ["a", "b"]},
             {erlangs, "stock,stock@1,/usr,~/.kerl/x,git:/r@v+x", ["stock", "stock@1", "/usr", "~/.kerl/x", "git:/r@v+x"]},
             {flags, " +S 1\t+A\r\n2\n", ["+S", "1", "+A", "2"]},
             {builds_of_code, "old=/a,new=/b", [{"old", "/a"}, {"new", "/b"}]},
             {arm, "a=stock", #{name => "a", vm => "stock"}},
             {arm, "b=stock@2,flags=+S 1,code=/x", #{name => "b", vm => "stock@2", flags => ["+S", "1"], code => "/x"}},
             {arm, "b=/usr,code=\"/x,y\",flags=\"+S 1\"", #{name => "b", vm => "/usr", flags => ["+S", "1"], code => "/x,y"}}]].

other_texts_are_refused(_) ->
    [?assertMatch({error, {ertslab_option_types, Reason}}, ertslab_option_types:read(ertslab_option_types:Type(), Text), {Type, Text})
     || {Type, Reason, Texts} <-
            [{duration, no_duration, ["", "20", "m", "-3m", "0s", "2d", "1 h", "s", "1" ++ lists:duplicate(400, $0) ++ "h"]},
             {percentage, no_percentage, ["", "2", "0%", "100%", "-1%", "2 %%", "2%\n", lists:duplicate(400, $9) ++ "%"]},
             {bound, no_bound, ["", "slower", "2%", "faster 2%", "slower -2%", "slower 2", "slower 2％",
                               "slower " ++ lists:duplicate(400, $9) ++ "%"]},
             {assignment, no_assignment, ["", "n", "=1"]}, {names, no_name, ["", ","]}, {erlangs, no_erlang, ["", ","]},
             {flags, no_flags, ["", " ", "hmqd off_heap", "'+S 1'", "\"+S 1", "hello"]}, {flags, quoted_flags, ["+S 1 '+hmqd off_heap'", "-a \"b c\""]}, {word, no_word, ["", " "]}, {path, no_path, [""]},
             {builds_of_code, one_build, ["", "a=/a"]},
             {builds_of_code, no_builds, ["a,b", "=/a,b=/b", "a=,b=/b", "a\nb=/a,c=/c", "\e[31m=/a,c=/c"]},
             {arm, no_arm, ["", "a", "=stock", "a=", "a=stock,code=", "a=stock,flags=+S \"1\"", "a=stock,x=y",
                           "a\nb=stock", "\e[31m=stock"]},
             {arm, no_flags, ["a=stock,flags=\"\"", "a=stock,flags=\"S 1\""]}],
        Text <- Texts].

%% The same words may be read in another folder.
paths_are_absolute_at_once(_) ->
    {ok, Here} = file:get_cwd(),
    Of = fun(Type, Text) -> {ok, Value} = ertslab_option_types:read(ertslab_option_types:Type(), Text), Value end,
    ?assertEqual(filename:join(Here, "x"), Of(path, "x")),
    ?assertEqual(filename:join(os:getenv("HOME"), "x"), Of(path, "~/x")),
    ?assertEqual([filename:join(Here, "a/erl"), "git:" ++ filename:join(Here, "otp") ++ "@main"], Of(erlangs, "a/erl,git:otp@main")),
    ?assertEqual([{"old", filename:join(Here, "a")}, {"new", filename:join(Here, "b")}], Of(builds_of_code, "old=a,new=b")),
    ?assertEqual(filename:join(Here, "exp_own.erl"), Of(experiment, "exp_own.erl")),
    ?assertEqual("length", Of(experiment, "length")).

where_results_go_is_no_word_of_a_call(_) ->
    Words = ["compare", "length", "--out", "x", "--force", "--json", "--fail-if", "slower 2%", "--pairs=9"],
    {ok, Options, _} = ertslab_arguments:parse(Words, ertslab_cli:command()),
    ?assertEqual(["compare", "length", "--pairs", "9"], ertslab_call:words(Options#{command => compare})).

words_make_the_same_call(_) ->
    true = proper:quickcheck(prop_words_make_the_same_call(), [{numtests, 500}, quiet, long_result]).

prop_words_make_the_same_call() ->
    ?FORALL(Command, oneof([compare, judges, time, sweep, bisect, follow]),
            ?FORALL(Options, options(Command),
                    begin
                        Words = ertslab_call:words(Options#{command => Command}),
                        {ok, Read, _} = ertslab_arguments:parse(Words, ertslab_cli:command()),
                        ?WHENFAIL(io:format("~p~n~p~n~p~n", [Options, Words, Read]), Read =:= Options)
                    end)).

options(Command) ->
    ?LET(Given, [argument(Argument) || #{name := Name} = Argument <- ertslab_call:arguments(Command),
                                       not lists:member(Name, [out, force, fail_if, json, accept_host])],
         maps:from_list([{Name, Value} || {Name, Value, true} <- Given])).

argument(#{name := Name} = Argument) -> {Name, several(Argument), is_given(Argument)}.

is_given(#{long := _, required := true}) -> true;
is_given(#{long := _}) -> boolean();
is_given(#{}) -> true.

several(#{action := append} = Argument) -> non_empty(list(value(Argument)));
several(#{nargs := _} = Argument) -> non_empty(list(value(Argument)));
several(Argument) -> value(Argument).

%% Values of a type are those of texts that it takes.
value(#{type := boolean}) -> true;
value(#{type := {integer, Bounds}}) -> integer(proplists:get_value(min, Bounds), proplists:get_value(max, Bounds, 1 bsl 60));
value(#{name := Name, type := Type}) -> ?LET(Text, text(Name), begin {ok, Value} = ertslab_option_types:read(Type, Text), Value end);
value(#{}) -> word().

text(budget) -> ?LET({Number, Unit}, {integer(1, 10_000), oneof(["s", "m", "h"])}, integer_to_list(Number) ++ Unit);
text(same_within) ->
    ?LET({Whole, Part}, {integer(0, 99), integer(1, 999_999_999)}, lists:flatten(io_lib:format("~b.~9..0b%", [Whole, Part])));
text(Name) when Name =:= param; Name =:= over -> ?LET({N, Values}, {name(), non_empty(list(name()))}, N ++ "=" ++ commas(Values));
text(vm) -> ?LET(Words, non_empty(list(oneof([name(), "stock@1", "/usr", "./x", "~/.kerl/x", "git:otp@a/b+tuned"]))), commas(Words));
text(arm) -> ?LET({N, More}, {name(), oneof(["", ",flags=\"-env X 1\"", ",code=x", ",code=\"a,b\",flags=+S 1"])}, N ++ "=stock" ++ More);
text(flags) -> oneof(["+hmqd off_heap", "-env ERL_FULLSWEEP_AFTER 0", "+S 1"]);
text(code) -> "old=a,new=~/b";
text(experiment) -> oneof(["length", "exp_x.erl", "../exp_y.exs"]);
text(_) -> oneof(["x", "/a/b", "~/c"]).

name() -> non_empty(list(oneof([$a, $b, $_, $ü]))).

%% What a shell hands over, also with blanks and with a dash before it; but no word that looks like an option.
word() -> ?SUCHTHAT(Word, non_empty(list(oneof([$x, $-, $\s, $', $=, $1, $,, $ß]))),
                    re:run(Word, "^--?[a-z]", [unicode, {capture, none}]) =:= nomatch andalso Word =/= "--").

commas(Words) -> lists:append(lists:join(",", Words)).

command_of_a_plan_makes_the_same_plan(_) ->
    [begin
         Plan = #{command := Command} = plan(Words),
         ?assertEqual(Plan, plan([unicode:characters_to_list(Word) || Word <- Command]))
     end || Words <- [["compare", "length", "--vm", "stock,tuned", "--seed=7", "--out", "x", "--quick"],
                      ["compare", "--flags", "+hmqd off_heap", "length", "--seed", "1", "--same-within=2%", "--budget=20m"],
                      ["sweep", "length", "--vm", "stock", "--over", "cells=1001,10001", "--seed", "3", "--no-control", "--json"],
                      ["time", "lists:seq(1, 9)", "-1", "--init", "L = [a]", "--seed", "4", "--vm=stock,tuned", "--force"]]].

plan([Command | _] = Words) ->
    {ok, Options, _} = ertslab_arguments:parse(Words, ertslab_cli:command()),
    Function = list_to_existing_atom(Command),
    ertslab_plan:Function(Options#{command => Function}).

%% A report prints these words, and the experiment's name alone would find nothing.
%% It is compiled into a folder of this case, so that no later run finds it there.
a_file_stays_a_file(Config) ->
    Dir = proplists:get_value(priv_dir, Config),
    Before = os:getenv("TMPDIR"),
    true = os:putenv("TMPDIR", Dir),
    File = filename:join(Dir, "exp_own_toy.erl"),
    ok = file:write_file(File, "-module(exp_own_toy).\n-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).\n"
                               "info() -> exp_toy:info().\nsetup(P) -> exp_toy:setup(P).\nprepare(M, S) -> exp_toy:prepare(M, S).\n"
                               "run(M, S) -> exp_toy:run(M, S).\nverify(M, R, S) -> exp_toy:verify(M, R, S).\n"
                               "teardown(S) -> exp_toy:teardown(S).\n"),
    Given = #{command => compare, experiment => File, pairs => 20},
    Named = ertslab_experiment_source:named(Given),
    ?assertMatch(#{experiment := "own_toy"}, Named),
    ?assertEqual(ertslab_call:words(Given), ertslab_call:words(Named)),
    ?assertEqual(["compare", File, "--pairs", "20"], ertslab_call:words(Named)),
    true = case Before of false -> os:unsetenv("TMPDIR"); _ -> os:putenv("TMPDIR", Before) end,
    true = code:del_path(filename:join(Dir, "experiment")).
