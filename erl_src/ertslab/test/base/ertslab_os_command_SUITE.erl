%% Programs of others: their time is bounded whatever they write, and they leave nothing behind.
-module(ertslab_os_command_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, output_and_status_are_given/1, who_goes_on_writing_is_ended_all_the_same/1, nothing_is_left_in_the_mailbox/1,
         a_picture_that_is_not_drawn_says_why/1]).

all() ->
    [output_and_status_are_given, who_goes_on_writing_is_ended_all_the_same, nothing_is_left_in_the_mailbox,
     a_picture_that_is_not_drawn_says_why].

output_and_status_are_given(_) ->
    ?assertEqual({ok, ~"a b\n"}, sh("echo a b", #{})),
    ?assertEqual({error, {status, 7, ~"x\n"}}, sh("echo x; exit 7", #{timeout_ms => 60_000})).

%% Each chunk comes well before the time is over, and there are so many that they would outlast the case.
who_goes_on_writing_is_ended_all_the_same(_) ->
    ?assertEqual({error, timeout}, sh("while :; do echo more; sleep 0.1; done", #{timeout_ms => 500})).

nothing_is_left_in_the_mailbox(_) ->
    self() ! mine,
    {error, timeout} = sh("while :; do echo more; done", #{timeout_ms => 100}),
    ok = ertslab_os_command:kill("999999999"),
    timer:sleep(100),
    ?assertEqual({messages, [mine]}, process_info(self(), messages)),
    receive mine -> ok end.

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
