%% How the whole program ends, in a VM of its own.
-module(ertslab_cli_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_full_disk_is_said/1, a_reader_may_leave/1]).

all() -> [a_full_disk_is_said, a_reader_may_leave].

%% Until then nothing was printed, and the exit status was 0 or 1 without a word.
a_full_disk_is_said(_) ->
    [?assertEqual({Words, "ertslab: standard output cannot be written to, as on a full disk.\n1\n"},
                  {Words, ended(Words, "2>&1 >/dev/full")})
     || Words <- ["--version", "--help"]].

a_reader_may_leave(_) ->
    ?assertMatch("ertslab " ++ _, ended("--version", "2>&1")),
    ?assertEqual("1\n", ended("--help", "2>&1 | true; echo ${PIPESTATUS[0]}; exit")).

%% What is printed, and the exit status on a line of its own. (bash has PIPESTATUS.)
ended(Words, Redirection) ->
    Erl = filename:join([code:root_dir(), "bin", "erl"]),
    Script = lists:append(lists:join(" ", [Erl, "-noinput -boot no_dot_erlang +fnu -pa", filename:dirname(code:which(ertslab_cli)),
                                           "-s ertslab_cli main -extra", Words, Redirection]))
        ++ "; echo $?",
    Port = open_port({spawn_executable, os:find_executable("bash")}, [{args, ["-c", Script]}, exit_status]),
    collected(Port, []).

collected(Port, Printed) ->
    receive
        {Port, {data, More}} -> collected(Port, Printed ++ More);
        {Port, {exit_status, _}} -> Printed
    end.
