%% The commands `advise' and `audit' of a node that has a deep mailbox.
-module(ertslab_node_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, init_per_suite/1, end_per_suite/1, advise_looks_at_processes/1, advise_names_what_it_cannot_find/1,
         the_modules_of_a_node_are_audited/1, modules_of_otp_are_left_out/1, what_looks_is_left_out/1]).

all() -> [advise_looks_at_processes, advise_names_what_it_cannot_find, the_modules_of_a_node_are_audited, modules_of_otp_are_left_out,
          what_looks_is_left_out].

init_per_suite(Config) -> asked_node:start() ++ Config.

end_per_suite(Config) -> asked_node:stop(Config).

advise_looks_at_processes(Config) ->
    Said = asked_node:ends(Config, 0, "2000 messages wait", advise(["--seconds", "1", "de+p"])),
    ?assertNotEqual(nomatch, string:find(Said, "Leave it on_heap")),
    {0, {Output, _}} = asked_node:called(Config, advise(["--seconds", "1", "--json", "deep"])),
    ?assertMatch(#{~"node" := ~"sick@127.0.0.1",
                   ~"processes" := [#{~"process" := ~"deep", ~"seen" := #{~"depth" := 2000}, ~"advice" := #{~"favours" := _}}]},
                 json:decode(unicode:characters_to_binary(Output))).

advise_names_what_it_cannot_find(Config) ->
    asked_node:ends(Config, 1, "no process of sick@127.0.0.1 has a name like 'nobody'", advise(["--seconds", "1", "nobody"])),
    asked_node:refused(Config, 2, "'<0.x>' is not a process identifier", advise(["<0.x>"])),
    asked_node:refused(Config, 2, "'(' is not a pattern: ", advise(["("])),
    asked_node:ends(Config, 1, "does not answer", ["advise", "--node", asked_node:name(), "--cookie", "wrong", "init"]).

%% This module is loaded there, and no other of a file that is not OTP's, but for those of the command's own.
the_modules_of_a_node_are_audited(Config) ->
    asked_node:ends(Config, 0, " in ", ["audit", "--node", "sick@127.0.0.1", "--cookie", "live"]).

modules_of_otp_are_left_out(Config) ->
    Modules = asked_node:asked(Config, ertslab_audit_node, modules, [#{node => "sick@127.0.0.1", cookie => "live"}]),
    ?assertMatch([<<"FOR1", _/binary>>], [Beam || {File, Beam} <- Modules, filename:basename(File) =:= "asked_node.beam"]),
    ?assertEqual([], [File || {File, _} <- Modules, lists:member(filename:basename(File), ["lists.beam", "gen_server.beam"])]).

%% During a look at the node its code is there.
what_looks_is_left_out(Config) ->
    Modules = fun() -> asked_node:asked(Config, ertslab_audit_node, modules, [#{node => "sick@127.0.0.1", cookie => "live"}]) end,
    Before = Modules(),
    {module, diagnose_probe} = peer:call(proplists:get_value(sick, Config), code, ensure_loaded, [diagnose_probe]),
    ?assertEqual([File || {File, _} <- Before], [File || {File, _} <- Modules()]).

advise(Words) -> ["advise", "--node", asked_node:name(), "--cookie", "live" | Words].
