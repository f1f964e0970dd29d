%% The modules of OTP's libraries that patches change are loaded again and again while processes call
%% them, from stock's to the patched ones and back, for as long as ERTSLAB_CHAOS_SECONDS says.
%% The folder of the case has them, in stock/ and patched/ (scripts/soak.sh puts them there).
-module(library_load_soak).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, calls_are_answered_whatever_is_loaded/1]).

-define(WORKERS, 8).
-define(PAUSE_MS, 20).
%% A call that finds no end would be one that a change of the code broke.
-define(LIMIT_MS, 60_000).

all() -> [calls_are_answered_whatever_is_loaded].

calls_are_answered_whatever_is_loaded(Config) ->
    Folder = proplists:get_value(priv_dir, Config),
    Stock = codes(filename:join(Folder, "stock")),
    Patched = codes(filename:join(Folder, "patched")),
    ?assertMatch([_ | _], Stock),
    ?assertEqual([Module || {Module, _, _} <- Stock], [Module || {Module, _, _} <- Patched]),
    _ = [code:unstick_mod(Module) || {Module, _, _} <- Stock],
    {ok, _} = application:ensure_all_started(kernel),
    Workers = [start(Folder, Nth) || Nth <- lists:seq(1, ?WORKERS)],
    End = erlang:monotonic_time(millisecond) + 1000 * endurance_chaos:seconds(),
    Loads = load_until(End, Stock ++ Patched, #{}),
    _ = [Pid ! stop || {Pid, _} <- Workers],
    Calls = [ended(Worker) || Worker <- Workers],
    ?assertEqual([], [None || None <- Calls, None =:= 0]),
    ?assertEqual(lists:sort([Module || {Module, _, _} <- Stock]), lists:sort(maps:keys(Loads))),
    {comment, lists:flatten(io_lib:format("~b s; ~b calls were answered; loads: ~0p",
                                          [endurance_chaos:seconds(), lists:sum(Calls), maps:to_list(Loads)]))}.

%% Read before any is loaded, since what reads them may be among them.
codes(Folder) ->
    [{list_to_atom(filename:basename(File, ".beam")), File, binary(File)}
     || File <- lists:sort(filelib:wildcard(filename:join(Folder, "*.beam")))].

binary(File) ->
    {ok, Code} = file:read_file(File),
    Code.

%% How often each was loaded. One that a process still runs in the code before the last is let be.
load_until(End, Codes, Loads) ->
    ok = timer:sleep(?PAUSE_MS),
    case erlang:monotonic_time(millisecond) < End of
        true ->
            {Module, File, Code} = endurance_chaos:one_of(Codes),
            load_until(End, Codes, case code:soft_purge(Module) of
                                       true ->
                                           {module, Module} = code:load_binary(Module, File, Code),
                                           maps:update_with(Module, fun(N) -> N + 1 end, 1, Loads);
                                       false ->
                                           Loads
                                   end);
        false ->
            Loads
    end.

start(Folder, Nth) -> spawn_monitor(fun() -> exit(library_load:worker(Folder, Nth, Nth div 2 rem 2)) end).

ended({Pid, Monitor}) ->
    receive {'DOWN', Monitor, process, Pid, {calls, Calls}} -> Calls;
            {'DOWN', Monitor, process, Pid, Reason} -> error(Reason)
    after ?LIMIT_MS -> error({hung, process_info(Pid, [current_stacktrace, messages])})
    end.
