%% The commands: their help, and what is said of words that they do not know. That the shell gets status and words is
%% tests/cli.bats.
-module(ertslab_commands_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_command_answers_help/1, what_is_unknown_is_refused_with_what_there_is/1, a_call_runs_from_here/1,
         words_that_are_no_text_are_refused/1,
         only_a_vm_takes_what_follows_the_dashes/1, list_names_experiments_and_vms/1, list_and_doctor_speak_json/1,
         doctor_finds_what_was_built/1, erl_prints_the_command_of_the_vm/1, without_a_checkout_the_lab_is_wanted/1,
         what_nobody_foresaw_is_a_sentence/1]).

all() ->
    [every_command_answers_help, what_is_unknown_is_refused_with_what_there_is, a_call_runs_from_here, words_that_are_no_text_are_refused,
     only_a_vm_takes_what_follows_the_dashes, list_names_experiments_and_vms, list_and_doctor_speak_json,
     doctor_finds_what_was_built, erl_prints_the_command_of_the_vm, without_a_checkout_the_lab_is_wanted,
     what_nobody_foresaw_is_a_sentence].

every_command_answers_help(_) ->
    #{commands := Commands} = ertslab_cli:command(),
    All = command_line:ends(0, "compare", ["--help"]),
    [begin
         command_line:ends(0, "ertslab " ++ Name, [Name, "--help"]),
         ?assertEqual(command_line:called([Name, "--help"]), command_line:called(["-h", Name])),
         ?assertNotEqual(nomatch, string:find(All, Name))
     end || Name := _ <- Commands],
    [command_line:ends(0, Text, [Name, "--help"])
     || {Name, Text} <- [{"perf", "--cap-add PERFMON"}, {"cachegrind", "--interpreter"}, {"flood", "--messages"}, {"flood", "--seconds"},
                         {"flood", "--sink"}]],
    ?assertEqual(All, command_line:ends(0, "", [])),
    command_line:ends(0, "ertslab ", ["--version"]).

what_is_unknown_is_refused_with_what_there_is(_) ->
    [command_line:refused(2, Text, Words)
     || {Text, Words} <- [{"unknown argument: fly; see '" ++ ertslab_paths:program() ++ " --help'", ["fly"]},
                          {"there is no experiment 'fly'; choose from:", ["compare", "fly"]},
                          {"there is no variant 'fly'", ["compare", "hibernate", "--vm", "stock,fly"]},
                          {"there is no parameter 'fly'; choose from:", ["compare", "hibernate", "--param", "fly=1"]},
                          {"a whole number from", ["compare", "hibernate", "--param", "cells=many"]},
                          {"unknown argument: --fly; see '" ++ ertslab_paths:program() ++ " compare --help'",
                           ["compare", "hibernate", "--fly"]},
                          {"there is no variant 'fly'", ["erl", "--vm", "fly"]},
                          {"there is no variant 'none'", ["iex", "--vm", "none"]}]].

%% What a sentence says is called from where the user is; what others read, from their clone.
a_call_runs_from_here(_) ->
    Top = os:getenv("ERTSLAB_TOP"),
    {ok, Here} = file:get_cwd(),
    try
        [begin
             true = os:putenv("ERTSLAB_TOP", Place),
             ?assertEqual({Program, "./ertslab"}, {ertslab_paths:program(), ertslab_paths:written()})
         end || {Place, Program} <- [{Here, "./ertslab"}, {"/a clone", "'/a clone/ertslab'"}]]
    after os:putenv("ERTSLAB_TOP", Top)
    end.

words_that_are_no_text_are_refused(_) ->
    [command_line:refused(2, "not valid UTF-8", Words) || Words <- [["compare", [16#ff | <<16#fe>>]], ["time", <<16#ff>>, "1"]]].

only_a_vm_takes_what_follows_the_dashes(_) ->
    command_line:refused(2, "list: this command takes no arguments after --", ["list", "--", "junk"]),
    command_line:ends(0, "Usage", ["erl", "--vm", "stock", "--help", "--", "x"]),
    ?assertEqual(["a", "--help", "-h"],
                 lists:nthtail(length(vm_words(["erl", "--vm", "stock"])), vm_words(["erl", "--vm", "stock", "--", "a", "--help", "-h"]))).

list_names_experiments_and_vms(_) ->
    Said = command_line:ends(0, "hibernate", ["list"]),
    [?assertNotEqual(nomatch, string:find(Said, Name)) || #{name := Name} <- ertslab_inventory:installed()].

list_and_doctor_speak_json(_) ->
    #{~"vms" := VMs, ~"experiments" := Experiments} = json(["list", "--json"]),
    ?assertEqual([Name || #{name := Name} <- ertslab_inventory:installed()], [Name || #{~"name" := Name} <- VMs]),
    ?assertEqual([unicode:characters_to_binary(Name) || Name <- ertslab_parameters:names()], [Name || #{~"name" := Name} <- Experiments]),
    [#{~"points" := Points, ~"apart" := Apart}] = [Speeds || #{~"speeds" := Speeds} <- json(["doctor", "--json"])],
    ?assert(Points > 1000),
    ?assert(is_number(Apart) andalso Apart >= 1).

doctor_finds_what_was_built(_) ->
    Said = command_line:ends(0, "prefetch", ["doctor"]),
    ?assertMatch({match, _}, re:run(Said, "the machine( has (one|two) speeds?|'s speed: )")).

json(Words) ->
    {0, {Output, _}} = command_line:called(Words),
    json:decode(unicode:characters_to_binary(Output)).

%% Each word ends with a zero byte, as the launcher reads them.
erl_prints_the_command_of_the_vm(_) ->
    [Erl | Words] = vm_words(["erl", "--vm", "stock_copy", "--", "-eval", "halt(7)."]),
    ?assert(filelib:is_regular(Erl)),
    ?assertMatch(["-emu_type", "stock_copy" | _], Words),
    ?assertEqual(["-eval", "halt(7)."], lists:nthtail(length(Words) - 2, Words)).

vm_words(Words) ->
    {0, {Output, ""}} = command_line:called(Words),
    ["" | Reversed] = lists:reverse(string:split(Output, [0], all)),
    lists:reverse(Reversed).

without_a_checkout_the_lab_is_wanted(_) ->
    Top = os:getenv("ERTSLAB_TOP"),
    true = os:unsetenv("ERTSLAB_TOP"),
    try
        [command_line:refused(2, Name ++ " needs a clone of ertslab", [Name, "some"])
         || Name := #{lab := true} <- maps:get(commands, ertslab_cli:command())],
        command_line:refused(2, "--otp needs a clone", ["audit", "--otp", "1", "stdlib"]),
        [begin
             {usage, Error} = (catch ertslab_plan:check(#{Name => "x"})),
             ?assertEqual({Name, <<Option/binary, " needs a clone of ertslab">>}, {Name, ertslab_error:sentence(Error)})
         end || {Name, Option} <- [{otp, ~"--otp"}, {builds, ~"--builds"}, {fleet, ~"--fleet"}, {host_dir, ~"--host-dir"},
                               {nodes, ~"--nodes"}]]
    after os:putenv("ERTSLAB_TOP", Top)
    end.

%% Its details are in a file of the checkout, and without one behind the sentence.
what_nobody_foresaw_is_a_sentence(Config) ->
    Top = os:getenv("ERTSLAB_TOP"),
    Here = filename:join(proplists:get_value(priv_dir, Config), "top"),
    true = os:putenv("ERTSLAB_TOP", Here),
    try
        {1, {"", Said}} = command_line:called(no_words),
        ?assertNotEqual(nomatch, string:find(Said, "this is a defect in ertslab itself; its details are in ")),
        {ok, Details} = file:read_file(filename:join(Here, "build/log/defect.txt")),
        ?assertMatch({_, _}, binary:match(Details, ~"ertslab_cli,run,1")),
        true = os:unsetenv("ERTSLAB_TOP"),
        {1, {"", Long}} = command_line:called(no_words),
        ?assertNotEqual(nomatch, string:find(Long, "ertslab_cli,run,1"))
    after os:putenv("ERTSLAB_TOP", Top)
    end.
