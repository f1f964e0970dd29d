%% @doc Runs one of OTP's suites in a root that has only the emulator to be tested,
%% so that all nodes and programs that the suite starts run it, too.
-module(otp_tests_suite).

-export([place/3, run/2, has_passed_cases/1, format_error/1]).
-export_type([place/0, results/0, reason/0]).

-type place() :: #{dir := file:filename(), emulator := binary(), slower := pos_integer()}.
-type reason() :: {not_compiled, Suite :: string()}.
%% `dir' holds `root', `tests' and, after a run, `logs'.
-type results() :: #{binary() => term()}.
%% `suite', `seconds', and `cases', as JSON has it.

-define(LIMIT_SECONDS, 3600).

%% @doc A folder made by scripts/otp-test.sh, the kind of emulator in it, and how many times as long a case may take on it.
-spec place(file:filename(), binary(), pos_integer()) -> place().
place(Dir, Emulator, Slower) -> #{dir => Dir, emulator => Emulator, slower => Slower}.

%% @doc The results of the suite's cases. The VM itself counts as a case, which
%% fails if the VM does not end as it should, or reaches the limit of an hour.
-spec run(place(), string()) -> results().
run(#{dir := Dir} = Place, Suite) ->
    Logs = fresh_logs(Dir, Suite),
    Started = erlang:monotonic_time(second),
    Ended = ertslab_os_command:run(command(Place, Suite, Logs), filename:join(Logs, "stderr"),
                             #{env => environment(Place, Logs)}),
    Seconds = erlang:monotonic_time(second) - Started,
    Cases = otp_tests_log:cases(suite_log(Logs)),
    #{~"suite" => ertslab_text:binary(Suite), ~"seconds" => Seconds,
      ~"cases" => Cases#{vm(Suite) => [ended(Ended)]}}.

%% @doc Whether a case passed, beside the VM itself.
-spec has_passed_cases(results()) -> boolean().
has_passed_cases(#{~"suite" := Suite, ~"cases" := Cases}) ->
    lists:any(fun(Outcomes) -> [ok || #{~"result" := ~"ok"} <- Outcomes] =/= [] end, maps:values(maps:remove(vm(Suite), Cases))).

vm(Suite) -> ertslab_text:binary([Suite, ": the VM"]).

fresh_logs(Dir, Suite) ->
    Logs = unused(filename:join([Dir, "logs", Suite]), 1),
    ok = filelib:ensure_path(Logs),
    Logs.

unused(Stem, Number) ->
    Dir = lists:concat([Stem, ".", Number]),
    case filelib:is_dir(Dir) of
        true -> unused(Stem, Number + 1);
        false -> Dir
    end.

%% `timeout' also ends the processes that the suite started.
command(#{dir := Dir, slower := Slower}, Suite, Logs) ->
    Tests = tests(Dir, Suite),
    Server = filename:join([Dir, "tests", "test_server"]),
    Options = [{dir, Tests}, {suite, list_to_atom(filename:basename(Suite))}, {logdir, Logs}, {auto_compile, false},
               {multiply_timetraps, Slower},
               {ct_hooks, [{ts_install_cth, [{ts_conf_dir, Server}]}]},
               {config, [filename:join(Server, File) || File <- ["ts.config", "ts.unix.config"]]}],
    ["timeout", "--kill-after=10", integer_to_list(?LIMIT_SECONDS), "env", "--chdir=" ++ Tests,
     filename:join([Dir, "root", "bin", "erl"]), "-noinput", "-sname", "ertslab_otp_test",
     "-boot", "start_sasl", "-sasl", "errlog_type", "error", "-rsh", "ssh",
     "-pa", Server, "-pz", Tests, "-ct_test_vars", "{net_dir,\"\"}",
     "-eval", io_lib:format("_ = ct:run_test(~p), halt(0).", [Options])].

%% The folder of the suite's application: the one that is
%% named, as in "kernel/code_SUITE", else the first one that has such a suite.
tests(Dir, Suite) ->
    Module = filename:basename(Suite) ++ ".beam",
    case ertslab_paths:matching(Dir, filename:join(["tests", application(Suite) ++ "_test", Module])) of
        [File | _] -> filename:dirname(File);
        [] -> ertslab_error:failure(?MODULE, {not_compiled, Suite})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({not_compiled, Suite}) -> ["the suite ", Suite, " was not compiled."].

application(Suite) ->
    case filename:dirname(Suite) of
        "." -> "*";
        Application -> Application
    end.

environment(#{dir := Dir}, Logs) ->
    [{"HOME", filename:join(Dir, "home")},
     {"PATH", filename:join([Dir, "root", "bin"]) ++ ":" ++ os:getenv("PATH", "")},
     {"ERL_CRASH_DUMP", filename:join(Logs, "erl_crash.dump")},
     {"ASAN_OPTIONS", "detect_leaks=0:halt_on_error=1:log_path=" ++ filename:join(Logs, "asan")}].

suite_log(Logs) ->
    case ertslab_paths:matching(Logs, "ct_run.*/*/run.*/suite.log") of
        [File] ->
            {ok, Text} = file:read_file(File),
            Text;
        [] -> ~""
    end.

ended({ok, _}) -> #{~"result" => ~"ok", ~"reason" => ~""};
ended({error, {status, 124, _}}) -> #{~"result" => ~"failed", ~"reason" => ~"it ran for an hour"};
ended({error, {status, Status, Printed}}) ->
    Reason = io_lib:format("status ~b: ~ts", [Status, last_line(Printed)]),
    #{~"result" => ~"failed", ~"reason" => ertslab_text:binary(Reason)}.

last_line(Printed) -> lists:last([<<>> | binary:split(Printed, ~"\n", [global, trim_all])]).
