%% The cases of callbacks_SUITE on each release that is built, on two schedulers.
-module(callbacks_releases_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_case_passes/1]).
-export([run_all/0]).

-define(TIMEOUT_MS, 120_000).

all() -> [every_case_passes].

every_case_passes(_) ->
    Paths = [filename:dirname(code:which(Module)) || Module <- [callbacks, callbacks_SUITE, proper]],
    Releases = ertslab_vm:releases(),
    ?assertMatch([_ | _], Releases),
    [?assertEqual({Release, {ok, []}}, {Release, failed_cases(ertslab_vm:find(~"stock", Release), Paths)})
     || Release <- Releases].

failed_cases(VM, Paths) ->
    {ok, Running} = ertslab_vm:start(VM, ["+S", "2", "-pa" | Paths], []),
    try ertslab_vm:call(Running, ?MODULE, run_all, [], ?TIMEOUT_MS)
    after ertslab_vm:stop(Running)
    end.

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
    end.

run(Case) ->
    Config = callbacks_SUITE:init_per_testcase(Case, []),
    _ = callbacks_SUITE:Case(Config),
    callbacks_SUITE:end_per_testcase(Case, Config).
