%% What is told of nodes that do not answer: one that is stopped, one whose threads for files all wait, and one whose scheduler works.
-module(ertslab_node_threads_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_stopped_node_is_named/1, a_node_that_a_debugger_holds/1, files_that_do_not_open/1, a_scheduler_that_never_rests/1,
         a_node_at_rest_has_no_facts/1, who_waits_for_a_processor_does_not_work/1,
         threads_that_sleep_in_native_code/1, of_a_node_that_is_not_here_nothing_is_known/1]).
-export([spin/0]).

all() ->
    [a_stopped_node_is_named, a_node_that_a_debugger_holds, files_that_do_not_open, a_scheduler_that_never_rests,
     a_node_at_rest_has_no_facts, who_waits_for_a_processor_does_not_work, threads_that_sleep_in_native_code,
     of_a_node_that_is_not_here_nothing_is_known].

a_stopped_node_is_named(_) ->
    with_node(erl(), [], fun(Name, OsPid, _) ->
        _ = os:cmd("kill -STOP " ++ OsPid),
        Seen = ertslab_node_threads:seen(Name),
        _ = os:cmd("kill -CONT " ++ OsPid),
        ?assertMatch(#{os_pid := OsPid, stopped := by_signal}, Seen),
        ?assertMatch({match, _}, re:run(facts(Seen), ["kill -CONT ", OsPid]))
    end).

%% A signal does not let it go on. The debugger stops all of its threads (PTRACE_SEIZE and PTRACE_INTERRUPT) until it is told to end.
a_node_that_a_debugger_holds(_) ->
    with_node(erl(), [], fun(Name, OsPid, _) ->
        Script = "import ctypes, os, sys\n"
                 "trace = ctypes.CDLL(None).ptrace\n"
                 "held = [trace(0x4206, int(t), 0, 0) + trace(0x4207, int(t), 0, 0) for t in os.listdir('/proc/" ++ OsPid ++ "/task')]\n"
                 "print('held' if not any(held) else 'may not', flush=True)\n"
                 "sys.stdin.readline()\n",
        Debugger = open_port({spawn_executable, os:find_executable("python3")}, [{args, ["-c", Script]}, {line, 80}]),
        {os_pid, Pid} = erlang:port_info(Debugger, os_pid),
        case receive {Debugger, {data, {eol, Line}}} -> Line end of
            "held" ->
                Seen = ertslab_node_threads:seen(Name),
                true = port_command(Debugger, "\n"),
                ?assertMatch(#{os_pid := OsPid, stopped := {by_debugger, _}}, Seen),
                Said = io_lib:format("Its process ~s is held by a debugger, process ~b, and goes on when that lets it, or ends.",
                                     [OsPid, Pid]),
                ?assertEqual(lists:flatten(Said), facts(Seen));
            "may not" -> {skip, "this user may not trace a process"}
        end
    end).

files_that_do_not_open(Config) ->
    Pipe = filename:join(proplists:get_value(priv_dir, Config), "pipe"),
    [] = os:cmd("mkfifo " ++ Pipe),
    with_node(erl(), ["+SDio", "2"], fun(Name, _, Control) ->
        _ = [peer:call(Control, erlang, spawn, [file, open, [Pipe, [read, raw]]]) || _ <- "two"],
        Seen = seen(Name, fun(#{threads := Threads}) -> [W || #{kind := dirty_io, waiting := W} <- Threads] =:= [2] end),
        ?assertMatch({match, _}, re:run(facts(Seen), "all threads for files \\(2, \\+SDio\\) wait in the kernel")),
        %% Both are let go, so that the VM can end.
        {ok, File} = file:open(Pipe, [write, raw]),
        ok = file:close(File)
    end).

a_scheduler_that_never_rests(_) ->
    with_node(erl(), ["+S", "1"], fun(Name, _, Control) ->
        true = is_pid(peer:call(Control, erlang, spawn, [?MODULE, spin, []])),
        Seen = seen(Name, fun(#{threads := Threads}) -> [W || #{kind := scheduler, working := W} <- Threads] =:= [1] end),
        ?assertMatch({match, _}, re:run(facts(Seen), "1 of 1 schedulers work all the time: many processes are ready to run, or"))
    end),
    ?assertMatch({match, _}, re:run(facts(#{os_pid => "7", stopped => no,
                                            threads => [#{kind => scheduler, threads => 2, working => 1, waiting => 0, waits_in => []}]}),
                                    "1 of 2 schedulers work all the time: long native functions, or processes at priority high")).

%% OTP 25 has other names for its threads than later releases.
a_node_at_rest_has_no_facts(_) ->
    [with_node(Erl, [], fun(Name, OsPid, _) ->
         Seen = seen(Name, fun(Seen) -> ertslab_node_threads:facts(Seen) =:= [] end),
         ?assertMatch(#{os_pid := OsPid, stopped := no, threads := [#{kind := scheduler}, #{kind := dirty_cpu}, #{kind := dirty_io}]},
                      Seen)
     end) || Erl <- [erl() | [System || System <- ["/usr/bin/erl"], filelib:is_regular(System)]]].

%% On a machine with many ready processes, a thread with little work is ready to run nearly all the time.
who_waits_for_a_processor_does_not_work(_) ->
    Doing = fun(RanMs, ReadyMs, Sleeps) ->
                    ertslab_node_threads:doing({{0, 0}, 7, ~"0"}, {{RanMs * 1_000_000, ReadyMs * 1_000_000}, 7 + Sleeps, ~"0"}, 500_000_000)
            end,
    ?assertEqual([working, working, neither, neither, neither],
                 [Doing(490, 0, 0), Doing(60, 430, 1), Doing(10, 480, 0), Doing(60, 430, 8), Doing(5, 3, 2)]).

threads_that_sleep_in_native_code(_) ->
    Facts = fun(In) -> facts(#{os_pid => "7", stopped => no,
                               threads => [#{kind => dirty_io, threads => 10, working => 0, waiting => 10, waits_in => In}]}) end,
    ?assertMatch({match, _}, re:run(Facts([~"hrtimer_nanosleep"]), "sleep in native code")),
    ?assertMatch({match, _}, re:run(Facts([~"pipe_read", ~"hrtimer_nanosleep"]), "wait in the kernel \\(pipe_read, hrtimer_nanosleep\\)")).

of_a_node_that_is_not_here_nothing_is_known(_) ->
    [?assertEqual(unknown, ertslab_node_threads:seen(Name))
     || Name <- ["nobody_of_that_name@localhost", "a@192.0.2.1", "a@no.such.host.invalid"]],
    ?assertEqual([], ertslab_node_threads:facts(unknown)).

%% A process of the node that this test looks at.
spin() -> spin().

erl() -> filename:join([code:root_dir(), "bin", "erl"]).

%% Calls the function with the name of a node, its process and its control.
with_node(Erl, Flags, Fun) ->
    Name = peer:random_name("threads"),
    {ok, Control, Node} = peer:start(#{name => Name, connection => standard_io, exec => Erl, wait_boot => 60_000,
                                       args => ["-pa", filename:dirname(code:which(?MODULE)) | Flags]}),
    try Fun(atom_to_list(Node), peer:call(Control, os, getpid, []), Control)
    after peer:stop(Control)
    end.

%% A machine that is busy with other tests may take a while.
seen(Name, Is) -> seen(Name, Is, 20).

seen(Name, Is, Times) ->
    Seen = ertslab_node_threads:seen(Name),
    case Seen =/= unknown andalso Is(Seen) of
        true -> Seen;
        false when Times > 1 -> seen(Name, Is, Times - 1);
        false -> error({not_seen, Seen})
    end.

facts(Seen) -> unicode:characters_to_list(lists:join(" ", ertslab_node_threads:facts(Seen))).
