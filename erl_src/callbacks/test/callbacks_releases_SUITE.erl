%% The cases of callbacks_SUITE on each release that is built, on two schedulers.
-module(callbacks_releases_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_case_passes/1, sender_of_high_priority_waits/1]).
-export([run_all/0, send_without_a_keeper/0]).

-define(TIMEOUT_MS, 600_000).
-define(CASE_MS, 60_000).
-define(STUCK_MS, 30_000).

all() -> [every_case_passes, sender_of_high_priority_waits].

every_case_passes(_) ->
    Paths = [filename:dirname(code:which(Module)) || Module <- [callbacks, callbacks_SUITE, proper]],
    Releases = ertslab_inventory:releases(),
    ?assertMatch([_ | _], Releases),
    [?assertEqual({Release, {ok, []}}, {Release, failed_cases(ertslab_inventory:find(~"stock", Release), Paths)})
     || Release <- Releases].

failed_cases(VM, Paths) ->
    {ok, Running} = ertslab_vm:start(VM, ["+S", "2", "-pa" | Paths], []),
    try ertslab_vm:call(Running, ?MODULE, run_all, [], ?TIMEOUT_MS)
    after ertslab_vm:stop(Running)
    end.

%% Where it went on trying, on the only scheduler, nobody could start the keeper anew.
sender_of_high_priority_waits(_) ->
    Paths = [filename:dirname(code:which(Module)) || Module <- [callbacks, callbacks_SUITE]],
    {ok, Running} = ertslab_vm:start(ertslab_inventory:find(~"stock", hd(ertslab_inventory:releases())), ["+S", "1", "-pa" | Paths], []),
    try ?assertEqual({ok, ok}, ertslab_vm:call(Running, ?MODULE, send_without_a_keeper, [], ?STUCK_MS))
    after ertslab_vm:stop(Running)
    end.

%% @doc Sends while there is neither worker nor keeper, and returns when there are.
send_without_a_keeper() ->
    ok = logger:set_primary_config(level, none),
    _ = callbacks_SUITE:init_per_testcase(?FUNCTION_NAME, []),
    Id = callbacks:spawn(1, fun() -> {wait, fun(_) -> done end} end),
    _ = process_flag(priority, high),
    ok = sys:suspend(callbacks_sup),
    Monitors = [monitor(process, Name) || Name <- [callbacks_keeper_1, callbacks_worker_1]],
    true = exit(whereis(callbacks_keeper_1), kill),
    _ = [receive {'DOWN', Monitor, process, _, _} -> ok end || Monitor <- Monitors],
    callbacks_sup ! {system, {self(), make_ref()}, resume},
    callbacks:send(Id, message).

%% @doc The cases that fail in this VM, with the reasons.
run_all() ->
    ok = logger:set_primary_config(level, none),
    [{Case, Why} || Case <- callbacks_SUITE:all(), Why <- why_failed(Case)].

%% Each in a process of its own, so that nothing that is left over reaches the next.
why_failed(Case) ->
    {Pid, Monitor} = spawn_monitor(fun() -> run(Case) end),
    receive
        {'DOWN', Monitor, process, Pid, normal} -> [];
        {'DOWN', Monitor, process, Pid, Why} -> [Why]
    after ?CASE_MS ->
            Stacks = [{P, process_info(P, [current_stacktrace, messages])} || P <- [Pid | named()], is_pid(P)],
            true = exit(Pid, kill),
            _ = application:stop(callbacks),
            [{not_ended, Stacks}]
    end.

named() ->
    [whereis(Name) || Name <- [callbacks_sup, callbacks_keeper_1, callbacks_worker_1, callbacks_keeper_2, callbacks_worker_2]].

run(Case) ->
    Config = callbacks_SUITE:init_per_testcase(Case, []),
    _ = callbacks_SUITE:Case(Config),
    callbacks_SUITE:end_per_testcase(Case, Config).
