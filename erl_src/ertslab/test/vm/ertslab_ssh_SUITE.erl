%% Another machine: what ssh is called with, and what its answers mean. A program in place of ssh answers here; that ssh itself
%% does is tests/remote.bats.
-module(ertslab_ssh_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, init_per_suite/1, end_per_suite/1, an_address_is_no_option/1, a_tilde_is_the_home_folder_there/1,
         words_are_quoted_for_the_shell_there/1,
         a_machine_lists_its_vms/1, other_answers_are_refused/1, any_release_reads_lists/1, a_machine_answers_or_is_lost/1]).

all() ->
    [an_address_is_no_option, a_tilde_is_the_home_folder_there, words_are_quoted_for_the_shell_there,
     a_machine_lists_its_vms, other_answers_are_refused, any_release_reads_lists,
     a_machine_answers_or_is_lost].

init_per_suite(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "bin"),
    Path = os:getenv("PATH"),
    ok = filelib:ensure_path(Dir),
    true = os:putenv("PATH", Dir ++ ":" ++ Path),
    [{path, Path}, {ssh, filename:join(Dir, "ssh")} | Config].

end_per_suite(Config) -> os:putenv("PATH", proplists:get_value(path, Config)).

an_address_is_no_option(_) ->
    ?assertEqual(#{address => "me@lab", dir => "/there"}, ertslab_ssh:host("me@lab", "/there")),
    ?assertEqual(#{address => "ssh://me@lab:22", dir => filename:absname(ertslab_paths:top())}, ertslab_ssh:host("ssh://me@lab:22", "")),
    [?assertThrow({usage, {ertslab_ssh, {no_address, Address}}}, ertslab_ssh:host(Address, ""))
     || Address <- ["", "-oProxyCommand=date", "lab two", "lab\n", [127]]].

%% Quoted as it was, it named a folder ~ there.
a_tilde_is_the_home_folder_there(Config) ->
    [?assertMatch({Dir, #{dir := There}}, {Dir, ertslab_ssh:host("lab", Dir)})
     || {Dir, There} <- [{"~", "."}, {"~/", "."}, {"~/lab", "./lab"}, {"~//lab/x y", "./lab/x y"},
                         {"/srv/~/lab", "/srv/~/lab"}, {"lab", "lab"}]],
    [?assertThrow({usage, {ertslab_ssh, {home_of_another, Dir}}}, ertslab_ssh:host("lab", Dir)) || Dir <- ["~me", "~me/lab", "~~"]],
    answers(Config, "for last; do :; done; echo there: $* >&2; exit 127"),
    {failure, Error} = try ertslab_remote:vms(ertslab_ssh:host("lab", "~/lab")) catch throw:Thrown -> Thrown end,
    ?assertMatch({match, _}, re:run(ertslab_error:sentence(Error), "lab './lab/ertslab' list --json\\)\\.$"), Error).

%% As the shell there reads them.
words_are_quoted_for_the_shell_there(_) ->
    [?assertEqual(unicode:characters_to_list([Word, "\n"]),
                  unicode:characters_to_list(list_to_binary(os:cmd("printf '%s\\n' " ++ ertslab_ssh:quote(Word)))))
     || Word <- ["", "a", "it's", "a b", "$HOME", "`date`", "\\", "*", "\"", "''"]],
    {[Ssh | Words], Quoting} = ertslab_ssh:wrap(#{address => "lab"}, [{"A", "b c"}], ["/erl", "it's"]),
    ?assertEqual("ssh", filename:basename(Ssh)),
    ?assertEqual(["--", "lab", "env", "A=b c", "/erl", "it's"], lists:nthtail(length(Words) - 6, Words)),
    %% What is for ssh stays as it is, and what is added behind is for the machine.
    Quoted = Quoting(Words ++ ["-x"]),
    ?assertEqual(["--", "lab", "'env'", "'A=b c'", "'/erl'", "'it'\\''s'", "'-x'"], lists:nthtail(length(Quoted) - 7, Quoted)).

a_machine_lists_its_vms(Config) ->
    {0, {Json, _}} = command_line:called(["list", "--json"]),
    List = filename:join(proplists:get_value(priv_dir, Config), "list.json"),
    ok = file:write_file(List, unicode:characters_to_binary(Json)),
    answers(Config, ["cat ", List]),
    Host = ertslab_ssh:host("lab", "/there"),
    VMs = ertslab_remote:vms(Host),
    Facts = [name, release, version, build_id, sha256, root, executable],
    ?assertEqual([maps:with(Facts, VM) || VM <- ertslab_inventory:installed()], [maps:with(Facts, VM) || VM <- VMs]),
    [?assertMatch(#{address := "lab", dir := "/there", libraries := [_ | _]}, maps:get(host, VM)) || VM <- VMs],
    ?assertEqual([Name || #{name := Name, modules := _} <- ertslab_inventory:installed()], [Name || #{name := Name, modules := _} <- VMs]).

other_answers_are_refused(Config) ->
    [begin
         answers(Config, Script),
         {failure, Error} = try ertslab_remote:vms(ertslab_ssh:host("lab", "/there")) catch throw:Thrown -> Thrown end,
         ?assertEqual(Sentence, ertslab_error:sentence(Error))
     end || {Script, Sentence} <- [{"echo first >&2; echo no route >&2; exit 255", ~"lab does not answer (no route)."},
                                   {"exit 127", ~"lab has no ertslab that is built in /there."},
                                   {"echo '{}'", ~"lab has an older ertslab."},
                                   {"echo '['", ~"lab answers what is not ertslab's list."},
                                   {"echo '[]'", ~"lab answers what is not ertslab's list."},
                                   {"echo '{\"vms\": [{\"name\": 1}], \"libraries\": [3]}'", ~"lab answers what is not ertslab's list."}]].

%% OTP 25 and 26 have no json. They said that the machine answers what is not ertslab's list, and that a manifest is damaged.
any_release_reads_lists(_) ->
    [begin
         {ok, {_, [{imports, Imports}]}} = beam_lib:chunks(code:which(Module), [imports]),
         ?assertEqual({Module, []}, {Module, [Called || {json, _, _} = Called <- Imports]})
     end || Module <- [ertslab_remote, ertslab_inventory]].

a_machine_answers_or_is_lost(Config) ->
    Host = ertslab_ssh:host("lab", "/there"),
    answers(Config, "exit 0"),
    ?assert(ertslab_ssh:answers(Host)),
    answers(Config, "exit 255"),
    ?assertNot(ertslab_ssh:answers(Host)),
    ?assertThrow({failure, {ertslab_ssh, {lost, "lab"}}}, ertslab_vm:must_answer(#{host => Host})).

answers(Config, Script) ->
    Ssh = proplists:get_value(ssh, Config),
    ok = file:write_file(Ssh, ["#!/bin/sh\n", Script, "\n"]),
    ok = file:change_mode(Ssh, 8#755).
