%% A file of machines, and machines that have measured before. That others measure is ertslab_places_SUITE, and over ssh tests/remote.bats.
-module(ertslab_place_ssh_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, two_machines_share_no_folder/1, machines_are_read/1, a_file_that_names_none_is_refused/1,
         a_machine_that_is_done_is_taken_as_it_is/1]).

all() -> [two_machines_share_no_folder, machines_are_read, a_file_that_names_none_is_refused, a_machine_that_is_done_is_taken_as_it_is].

machines_are_read(Config) ->
    File = file(Config, ~"# all\nlab\n\n me@two  /my lab # slow\n\tthree\t/my\tlab \t\nfour#\r\n"),
    ?assertEqual([{"lab", ""}, {"me@two", "/my lab"}, {"three", "/my\tlab"}, {"four", ""}], ertslab_place_ssh:machines(File)).

%% The second would be taken for one that has measured before.
two_machines_share_no_folder(Config) ->
    Places = fun(Text) -> ertslab_place_ssh:places(#{fleet => file(Config, Text), out => "/out"}) end,
    ?assertMatch({one_by_one, [_, _]}, Places(~"a:b\na_c\n")),
    [?assertThrow({usage, {ertslab_place_ssh, {same_folder, _, _}}}, Places(Text)) || Text <- [~"a:b\na_b\n", ~"lab\nlab /other\n"]].

a_file_that_names_none_is_refused(Config) ->
    [?assertThrow({usage, {ertslab_place_ssh, {Reason, _}}}, ertslab_place_ssh:machines(file(Config, Text)))
     || {Reason, Text} <- [{no_machine, ~""}, {no_machine, ~"# lab\n"}, {no_text, <<"m\374@lab\n">>}]],
    ?assertThrow({usage, {ertslab_place_ssh, {cannot_read, _, eisdir}}}, ertslab_place_ssh:machines(proplists:get_value(priv_dir, Config))).

%% Also what it found beyond the bound stands; by other words, or by force, it measures.
a_machine_that_is_done_is_taken_as_it_is(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "done"),
    Row = report_fixture:row(~"walk", ~"quicker", report_fixture:ratio(1.5, 1.4, 1.6), ~"changed"),
    ok = report_fixture:write(Dir, report_fixture:summary(#{~"walk" => Row})),
    ok = file:write_file(ertslab_session:file(Dir, "session.json"), json:encode(#{seed => 1, command => [~"compare", ~"toy"], arms => []})),
    Toy = #{command => [~"compare", ~"toy"], arms => []},
    Or = fun(Options, Plan) -> ertslab_finished:or_else(Dir, Options, fun() -> Plan end, fun() -> measured end) end,
    ?assertEqual(before, Or(#{}, Toy)),
    ?assertThrow({beyond, {ertslab_fail_if, {results, 1, _, #{label := ~"quicker"}}}}, Or(#{fail_if => {slower, 0.02}}, Toy)),
    ?assertEqual(before, Or(#{fail_if => {slower, 0.6}}, Toy)),
    ?assertEqual(measured, Or(#{}, Toy#{command := [~"compare", ~"toy", ~"--quick"]})),
    ?assertEqual(measured, Or(#{}, Toy#{code => ~"changed"})),
    ?assertEqual(measured, Or(#{force => true}, Toy)).

file(Config, Text) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "machines"),
    ok = file:write_file(File, Text),
    File.
