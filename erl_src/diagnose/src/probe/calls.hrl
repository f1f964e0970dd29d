%%% Who calls what the VM or the code server keep for others, where there is much of that: who starts timers, who asks for modules that are
%%% not there, who loads modules again and again, and who purges old code that stays. By a short trace of these calls alone, with no
%%% arguments, and by the few messages that name a module.

%% So long, and so many events.
-define(CALLS_MS, 300).
%% A look for a module that is not there may take so long on a busy machine that few are seen in less.
-define(LOOKUPS_MS, 1000).
-define(CALLS, 1000).
%% Where there are no more, all are traced for timers; else those that were drawn, at most so many.
-define(TRACED_FOR_TIMERS, 1000).
%% So many of those that ask the code server are asked where they are, and so many modules are told apart.
-define(ASKING, 30).
-define(LOOKED_FOR, 200).
%% What has the code server look for the file of a module: ensure_loaded is that of OTP 25, whose code server looks itself.
-define(LOADS, [ensure_loaded, load_file, get_object_code_for_loading]).
%% What gives it the code of a module: the last two are of OTP 25.
-define(LOADED(Module), [{load_module, '_', Module, '_', '_', '_'}, {load_binary, Module, '_', '_'}, {load_file, Module}]).
-define(PURGES, [purge, soft_purge]).
-define(STARTS_OF_TIMERS, [send_after, start_timer]).
-define(NO_STARTS, {#{}, 0, going_on}).
-define(CALL_FLAGS, [call, arity]).
%% State machines are traced for so long, and so many changes of the state of each.
-define(RETRIES_MS, 1000).
-define(CHANGES, 20).

%% @doc Who starts timers, by a trace of these processes: how many they are, and by function and kind how many were started; and for how
%% many of those the same process cancelled one, as who starts one anew at each use. `unknown' where somebody else traces that, or calls
%% of these processes: the pattern would have that one told of these calls, too.
-spec timers([pid()]) -> diagnose_types:makers() | unknown.
timers(Pids) -> calls_of(timer_functions() ++ cancel_functions(), Pids, ?CALLS_MS).

%% The same of any functions that are seldom called.
calls_of(Functions, Pids, ForMs) ->
    process_flag(trap_exit, true),
    ok = ends_with_its_worker(),
    process_flag(priority, high),
    case lists:all(fun is_untraced/1, Functions)
        andalso not lists:any(fun calls_are_traced/1, [new_processes | Pids]) of
        true ->
            Others = [Pid || Pid <- Pids, Pid =/= self()],
            _ = [erlang:trace_pattern(Function, [{'_', calls_of_these(Others), [{message, {caller}}]}], []) || Function <- Functions],
            Traced = [Pid || Pid <- Others, is_switched(Pid, true, ?CALL_FLAGS)],
            Began = now_ms(),
            Seen = started_timers(Began + ForMs, 2 * ?CALLS, #{}),
            Ms = max(1, now_ms() - Began),
            _ = [is_switched(Pid, false, ?CALL_FLAGS) || Pid <- Traced],
            ok = trace_as_it_was(),
            case length([Pid || Pid <- Others -- Traced, is_process_alive(Pid)]) of
                Untraced when Untraced > 0, map_size(Seen) =:= 0 -> unknown; % one of these may start them
                Untraced -> timer_makers(Traced, Untraced, timed_starts(Began, Ms, Seen), Ms)
            end;
        false -> unknown
    end.

calls_are_traced(Which) -> lists:member(call, lists:append(trace_info(Which, flags))).

timer_functions() -> [{erlang, Function, Arity} || Function <- ?STARTS_OF_TIMERS, Arity <- [3, 4]].

cancel_functions() -> [{erlang, cancel_timer, Arity} || Arity <- [1, 2]].

%% Each start may follow a cancel.
started_timers(_Until, 0, Seen) -> Seen;
started_timers(Until, Left, Seen) ->
    case now_ms() < Until of
        true ->
            receive
                {trace, Pid, call, {erlang, cancel_timer, _}, _} ->
                    {Kept, More} = cancel_of(Pid, Seen),
                    started_timers(Until, Left - Kept, More);
                {trace, Pid, call, _, Caller} ->
                    {Kept, More} = timer_of(Pid, Caller, Seen),
                    started_timers(Until, Left - Kept, More)
            after max(0, Until - now_ms()) -> Seen
            end;
        false -> Seen
    end.

%% Who has started many is known well enough: what else it did by then must not hide the others.
timer_of(Pid, Caller, Seen) ->
    {Callers, Cancels, _} = maps:get(Pid, Seen, ?NO_STARTS),
    More = Callers#{Caller => maps:get(Caller, Callers, 0) + 1},
    case starts_in(Callers) of
        Times when Times >= ?WAKES -> {0, Seen};
        Times when Times + 1 =:= ?WAKES ->
            _ = is_switched(Pid, false, ?CALL_FLAGS),
            {1, Seen#{Pid => {More, Cancels, now_ms()}}};
        _ -> {1, Seen#{Pid => {More, Cancels, going_on}}}
    end.

%% Some of these may have nothing to cancel.
cancel_of(Pid, Seen) ->
    case maps:get(Pid, Seen, ?NO_STARTS) of
        {_, Cancels, _} when Cancels >= 2 * ?WAKES -> {0, Seen};
        {Callers, Cancels, Ended} ->
            _ = Cancels + 1 =:= 2 * ?WAKES andalso is_switched(Pid, false, ?CALL_FLAGS),
            {1, Seen#{Pid => {Callers, Cancels + 1, Ended}}}
    end.

%% With the time that it took.
timed_starts(Began, Ms, Seen) ->
    maps:map(fun(_, {Callers, Cancels, going_on}) -> {Callers, Cancels, Ms};
                (_, {Callers, Cancels, Ended}) -> {Callers, Cancels, max(1, Ended - Began)}
             end, Seen).

starts_in(Callers) -> lists:sum(maps:values(Callers)).

%% By the function and what the process is, of those that started most.
timer_makers(Traced, Untraced, Seen, Ms) ->
    Each = [{starts_in(Callers), Cancels} || {Callers, Cancels, _} <- maps:values(Seen)],
    Most = ranked(?ASKING, [{starts_in(Callers), {Pid, Callers, Taken}}
                            || {Pid, {Callers, _, Taken}} <- maps:to_list(Seen), map_size(Callers) > 0]),
    Kinds = maps:groups_from_list(fun({Key, _}) -> Key end, fun({_, One}) -> One end,
                                  [{{labelled_apart(Pid), Caller}, {Times, Pid, 1000 * Times / Taken}}
                                   || {_, {Pid, Callers, Taken}} <- Most, {Caller, Times} <- maps:to_list(Callers)]),
    Told = ranked(?LARGEST, [{lists:sum([Times || {Times, _, _} <- Of]), {Key, Of}} || {Key, Of} <- maps:to_list(Kinds)]),
    #{traced => length(Traced), untraced => Untraced, ms => Ms,
      started => lists:sum([Starts || {Starts, _} <- Each]), renewed => lists:sum([min(Starts, Cancels) || {Starts, Cancels} <- Each]),
      most => [#{pid => pid_text(Pid), name => registered_as(Pid), label => Label, processes => length(Of), times => Times,
                 a_second => round(lists:sum([Pace || {_, _, Pace} <- Of])), in => case Caller of {_, _, _} -> Caller; _ -> none end}
               || {Times, {{Label, Caller}, Of}} <- Told, {_, Pid, _} <- [lists:max(Of)]]}.

%% @doc What is asked of the code server for a moment: modules that are not there although somebody has asked for them, and who asks, in
%% which function. `unknown' where it is traced already.
-spec asked_for_modules(pid()) -> diagnose_types:lookups() | unknown.
asked_for_modules(Server) ->
    case asked(Server, [{Asked, '_'} || Asked <- ?LOADS]) of
        {Seen, Ms} -> missing(Seen, Ms);
        unknown -> unknown
    end.

%% @doc In which functions these modules are loaded anew. None where the code server is traced already.
-spec loaders_of([module()]) -> [{mfa(), pos_integer()}].
loaders_of(Modules) ->
    case asked_to_load(Modules) of
        {#{callers := Callers}, _} -> [{In, Times} || {Times, In} <- most_frequent([Own || {_, Own} <- beyond_code(Callers)])];
        unknown -> []
    end.

%% @doc Of which modules old code is purged, and how often; and who asks for that, in which function. `unknown' where the code server is
%% traced already.
-spec asked_for_purges() ->
          #{ms := pos_integer(), modules := [{module(), pos_integer()}], by := [{pid(), diagnose_types:frame()}]} | unknown.
asked_for_purges() ->
    case asked(whereis(code_server), [{Asked, '_'} || Asked <- ?PURGES]) of
        {#{modules := Modules, callers := Callers}, Ms} ->
            #{ms => Ms, modules => [{Module, Times} || {Times, Module} <- ranked(?LARGEST, [{N, M} || {M, N} <- maps:to_list(Modules)])],
              by => beyond_code(Callers)};
        unknown -> unknown
    end.

%% @doc Which of these modules are loaded anew meanwhile. `unknown' where the code server is traced already.
-spec loaded_anew([module()]) -> [module()] | unknown.
loaded_anew(Modules) ->
    case asked_to_load(Modules) of
        {#{modules := Loaded}, _} -> maps:keys(Loaded);
        unknown -> unknown
    end.

asked_to_load(Modules) -> asked(whereis(code_server), [Request || Module <- Modules, Request <- ?LOADED(Module)]).

%% Such requests to the code server, for a moment.
asked(Server, Requests) ->
    process_flag(trap_exit, true),
    ok = ends_with_its_worker(),
    case erlang:trace_info('receive', match_spec) of
        {match_spec, true} ->
            process_flag(priority, high),
            {Traced, _} = receives_traced([Server], [{['_', '_', {code_call, '_', Request}], [], []} || Request <- Requests],
                                          ['receive']), % which waits for one that works
            Began = now_ms(),
            Seen = looked_for(Began + ?LOOKUPS_MS, ?CALLS, #{modules => #{}, callers => []}),
            Ms = max(1, now_ms() - Began),
            _ = is_switched(Server, false, ['receive']),
            ok = trace_as_it_was(),
            case Traced of
                [_] -> {Seen, Ms};
                [] -> unknown
            end;
        _ -> unknown
    end.

looked_for(_Until, 0, Seen) -> Seen;
looked_for(Until, Left, #{modules := Modules, callers := Callers} = Seen) ->
    receive
        {trace, _, 'receive', {code_call, From, Request}} ->
            Module = module_of(Request),
            case is_map_key(Module, Modules) orelse is_atom(Module) andalso map_size(Modules) < ?LOOKED_FOR of
                true ->
                    looked_for(Until, Left - 1, Seen#{modules := Modules#{Module => maps:get(Module, Modules, 0) + 1},
                                                      callers := asking(From, Callers)});
                false -> looked_for(Until, Left - 1, Seen)
            end
    after max(0, Until - now_ms()) -> Seen
    end.

module_of({_, Module}) -> Module;
module_of({load_module, _, Module, _, _, _}) -> Module;
module_of({load_binary, Module, _, _}) -> Module.

%% It waits for the answer now.
asking(Pid, Callers) when is_pid(Pid), length(Callers) < ?ASKING ->
    case process_info(Pid, [status, current_stacktrace]) of
        [{_, waiting}, {_, Stack}] -> [{Pid, [frame(Frame) || Frame <- Stack]} | Callers];
        _ -> Callers
    end;
asking(_, Callers) -> Callers.

missing(#{modules := Modules, callers := Callers}, Ms) ->
    Missing = [{Times, Module} || {Module, Times} <- maps:to_list(Modules), not erlang:module_loaded(Module)],
    Asking = beyond_code(Callers),
    #{ms => Ms, times => lists:sum([Times || {Times, _} <- Missing]), count => length(Missing),
      again => lists:sum([Times - 1 || {Times, _} <- Missing]), asking => length(Asking),
      modules => [{Module, Times} || {Times, Module} <- ranked(?LARGEST, Missing)],
      in => [{In, Times} || {Times, In} <- most_frequent([Own || {_, Own} <- Asking])],
      labels => [{L, Times} || {Times, L} <- most_frequent([Label || {Pid, _} <- lists:sublist(Asking, ?HOLDERS),
                                                                     Label <- [labelled_apart(Pid)], Label =/= unknown])]}.

%% In which function each called the modules of the code server.
beyond_code(Callers) ->
    [{Pid, Own} || {Pid, Stack} <- Callers, lists:any(fun is_of_code/1, Stack),
                   Own <- lists:sublist(lists:dropwhile(fun is_of_code/1, Stack), 1)].

is_of_code({Module, _, _}) -> lists:member(Module, [code, code_server, error_handler, erl_prim_loader, gen, 'Elixir.Code']).

%% @doc Of these state machines those that change their state while events are postponed, all of which they handle again then: how many
%% events that were each time. `unknown' where somebody else traces calls of them.
-spec retries([pid()]) -> [diagnose_types:retries()] | unknown.
retries(Pids) ->
    process_flag(trap_exit, true),
    ok = ends_with_its_worker(),
    process_flag(priority, high),
    case is_untraced(state_change()) andalso not lists:any(fun calls_are_traced/1, [new_processes | Pids]) of
        true ->
            _ = erlang:trace_pattern(state_change(),
                                     [{['_', '_', '_', '_', '_', '_', '_', '_', '$1'], calls_of_these(Pids),
                                       [{message, {length, '$1'}}]}], [local]),
            Traced = [Pid || Pid <- Pids, is_switched(Pid, true, ?CALL_FLAGS)],
            Began = now_ms(),
            Seen = changes_until(Began + ?RETRIES_MS, maps:from_list([{Pid, []} || Pid <- Traced])),
            _ = [is_switched(Pid, false, ?CALL_FLAGS) || Pid <- Traced],
            ok = trace_as_it_was(),
            Ended = now_ms(),
            [#{pid => pid_text(Pid), ms => max(1, Last - Began), changes => length(Of),
               events => lists:sum(Counts)}
             || {Pid, [{At, _} | _] = Of} <- maps:to_list(Seen), {_, Counts} <- [lists:unzip(Of)],
                Last <- [case length(Of) of ?CHANGES -> At; _ -> Ended end]];
        false -> unknown
    end.

%% What gen_statem calls when the state has changed (OTP 25 to 29); its last argument are the postponed events.
state_change() -> {gen_statem, loop_state_change, 9}.

changes_until(Until, Seen) ->
    receive
        {trace, Pid, call, _, Postponed} when length(map_get(Pid, Seen)) < ?CHANGES, is_integer(Postponed) ->
            #{Pid := Of} = Seen,
            _ = length(Of) + 1 =:= ?CHANGES andalso is_switched(Pid, false, ?CALL_FLAGS),
            changes_until(Until, Seen#{Pid := [{now_ms(), Postponed} | Of]});
        {trace, _, call, _, _} -> changes_until(Until, Seen)
    after max(0, Until - now_ms()) -> Seen
    end.
