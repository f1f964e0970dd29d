%% Programs of others: their time is bounded whatever they write, and they leave nothing behind.
-module(ertslab_os_command_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, output_and_status_are_given/1, who_goes_on_writing_is_ended_all_the_same/1, nothing_is_left_in_the_mailbox/1,
         who_is_waited_for_in_vain_is_ended/1, a_program_ends_with_the_vm_that_runs_it/1,
         a_picture_that_is_not_drawn_says_why/1]).

all() ->
    [output_and_status_are_given, who_goes_on_writing_is_ended_all_the_same, nothing_is_left_in_the_mailbox,
     who_is_waited_for_in_vain_is_ended, a_program_ends_with_the_vm_that_runs_it, a_picture_that_is_not_drawn_says_why].

output_and_status_are_given(_) ->
    ?assertEqual({ok, ~"a b\n"}, sh("echo a b", #{})),
    ?assertEqual({error, {status, 7, ~"x\n"}}, sh("echo x; exit 7", #{timeout_ms => 60_000})).

%% Each chunk comes well before the time is over, and there are so many that they would outlast the case.
who_goes_on_writing_is_ended_all_the_same(_) ->
    ?assertEqual({error, timeout}, sh("while :; do echo more; sleep 0.1; done", #{timeout_ms => 500})).

%% Nor where the caller traps exits, which come from ports too.
nothing_is_left_in_the_mailbox(_) ->
    _ = process_flag(trap_exit, true),
    self() ! mine,
    {ok, _} = sh("echo a", #{}),
    {error, timeout} = sh("while :; do echo more; done", #{timeout_ms => 100}),
    ok = ertslab_os_command:kill("999999999"),
    timer:sleep(100),
    ?assertEqual({messages, [mine]}, process_info(self(), messages)),
    receive mine -> ok end.

%% Both would say something after the caller has gone on.
who_is_waited_for_in_vain_is_ended(_) ->
    _ = process_flag(trap_exit, true),
    self() ! mine,
    Slow = started("sleep 1; echo late; exit 3"),
    {os_pid, Pid} = erlang:port_info(Slow, os_pid),
    ?assertEqual({error, timeout}, ertslab_os_command:await_end(Slow, 10)),
    Silent = started("read line; sleep 11; echo late; sleep 60"),
    ?assertEqual({error, timeout}, ertslab_os_command:say(Silent, "enable")),
    timer:sleep(1500),
    ?assertEqual({messages, [mine]}, process_info(self(), messages)),
    ?assertEqual([undefined, undefined], [erlang:port_info(Port) || Port <- [Slow, Silent]]),
    ?assertNot(filelib:is_dir(filename:join("/proc", integer_to_list(Pid)))),
    receive mine -> ok end.

%% As by Ctrl-C, which does not reach the programs of ports. One of these does not listen. What the program started ends, too.
a_program_ends_with_the_vm_that_runs_it(Config) ->
    [begin
         File = filename:join(proplists:get_value(priv_dir, Config), Name),
         {ok, Peer, _} = peer:start(#{connection => standard_io, args => ["-pa" | code:get_path()]}),
         Vm = peer:call(Peer, os, getpid, []),
         ok = peer:cast(Peer, ertslab_os_command, run, [["/bin/sh", "-c", Script ++ "sleep 1000 & echo $$ $! >\"$1\"; wait", "sh", File], "/dev/null", #{}]),
         Processes = [filename:join("/proc", Pid) || Pid <- string:lexemes(written(File), " ")],
         ?assertMatch([_, _], [Process || Process <- Processes, filelib:is_dir(Process)]),
         ok = ertslab_os_command:kill(Vm),
         ?assertEqual([ended, ended], [ended(Process, 100) || Process <- Processes])
     end || {Name, Script} <- [{"pid", ""}, {"deaf pid", "trap '' TERM; "}]].

written(File) ->
    case file:read_file(File) of
        {ok, <<_, _/binary>> = Line} -> binary_to_list(string:trim(Line));
        _ -> timer:sleep(20), written(File)
    end.

ended(_, 0) -> goes_on;
ended(Process, Left) ->
    case filelib:is_dir(Process) of
        true -> timer:sleep(100), ended(Process, Left - 1);
        false -> ended
    end.

started(Script) -> ertslab_os_command:start(["/bin/sh", "-c", Script], "/dev/null", []).

a_picture_that_is_not_drawn_says_why(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "picture.svg"),
    case ertslab_gnuplot:available() of
        true ->
            {error, Error} = ertslab_gnuplot:draw(File, "no such command\n"),
            ?assertMatch({_, _}, binary:match(ertslab_error:sentence(Error), ~"invalid command")),
            ?assertEqual([], filelib:wildcard(File ++ "*")),
            ?assertEqual(ok, ertslab_gnuplot:draw(File, "set terminal svg\nplot sin(x)\n")),
            ?assertEqual([File], filelib:wildcard(File ++ "*"));
        false -> {skip, "gnuplot is not here"}
    end.

sh(Script, Options) -> ertslab_os_command:run(["/bin/sh", "-c", Script], "/dev/null", Options).
