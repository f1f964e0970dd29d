%% How the whole program ends, in a VM of its own.
-module(ertslab_cli_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_full_disk_is_said/1, a_reader_may_leave/1, a_sentence_that_cannot_be_made_is_a_defect/1,
         code_that_is_damaged_is_no_defect/1]).

all() -> [a_full_disk_is_said, a_reader_may_leave, a_sentence_that_cannot_be_made_is_a_defect, code_that_is_damaged_is_no_defect].

%% Until then nothing was printed, and the exit status was 0 or 1 without a word.
a_full_disk_is_said(_) ->
    [?assertEqual({Words, "ertslab: standard output cannot be written to, as on a full disk.\n1\n"},
                  {Words, ended(Words, "2>&1 >/dev/full")})
     || Words <- ["--version", "--help"]].

a_reader_may_leave(_) ->
    ?assertMatch("ertslab " ++ _, ended("--version", "2>&1")),
    ?assertEqual("1\n", ended("--help", "2>&1 | true; echo ${PIPESTATUS[0]}; exit")).

%% Until then it ended the program by an exception, with a dump. The word is no text.
a_sentence_that_cannot_be_made_is_a_defect(Config) ->
    Dir = proplists:get_value(priv_dir, Config),
    Raises = {call, 1, {atom, 1, error}, [{atom, 1, no_words}]},
    {ok, ertslab_advice, Beam} = compile:forms([{attribute, 1, module, ertslab_advice}, {attribute, 1, export, [{sentence, 1}]},
                                                {function, 1, sentence, 1, [{clause, 1, [{var, 1, '_'}], [], [Raises]}]}]),
    ok = file:write_file(filename:join(Dir, "ertslab_advice.beam"), Beam),
    Printed = ended(["cd ", Dir, "; unset ERTSLAB_TOP;"], Dir, "$'\\377'", "2>&1"),
    ?assertMatch("ertslab: this is a defect in ertslab itself: " ++ _, Printed),
    ?assertNotEqual(nomatch, string:find(Printed, "no_words"), Printed),
    ?assertEqual("\n1\n", string:slice(Printed, string:length(Printed) - 3)),
    ?assertNot(filelib:is_file(filename:join(Dir, "erl_crash.dump"))).

%% A checkout is compiled again; the single file cannot be. (Its name is the first word here.)
code_that_is_damaged_is_no_defect(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "damaged"),
    ok = filelib:ensure_path(Dir),
    ok = file:write_file(filename:join(Dir, "ertslab_help.beam"), "none"),
    Begins = "ertslab: its own module ertslab_help does not load (badfile); ",
    ?assertEqual(Begins ++ "'./build.sh erl' compiles it again.\n1\n",
                 sentence(ended(["export ERTSLAB_TOP=", Dir, ";"], Dir, "--help", "2>&1"))),
    ?assertEqual(Begins ++ "the file --help is damaged, or was removed or replaced meanwhile: copy it there again.\n1\n",
                 sentence(ended("unset ERTSLAB_TOP;", Dir, "--help", "2>&1"))).

%% The loader reports in its own words before.
sentence(Printed) -> string:find(Printed, "ertslab: ").

%% What is printed, and the exit status on a line of its own. (bash has PIPESTATUS.)
ended(Words, Redirection) -> ended("", "", Words, Redirection).

%% The same with commands before it, and with a folder whose modules come first.
ended(Before, First, Words, Redirection) ->
    Erl = filename:join([code:root_dir(), "bin", "erl"]),
    Script = lists:flatten(lists:join(" ", [Before, Erl, "-noinput -boot no_dot_erlang +fnu -pa",
                                            filename:dirname(code:which(ertslab_cli)), First,
                                            "-s ertslab_cli main -extra", Words, Redirection]))
        ++ "; echo $?",
    Port = open_port({spawn_executable, os:find_executable("bash")}, [{args, ["-c", Script]}, exit_status]),
    collected(Port, []).

collected(Port, Printed) ->
    receive
        {Port, {data, More}} -> collected(Port, Printed ++ More);
        {Port, {exit_status, _}} -> Printed
    end.
