%%% In which native functions the time goes, where it goes into functions that count hardly any reductions. A process answers when it is
%%% out of them, so no look at its stack tells.

%% So long, at so many processes; and so many calls of the one that takes most are asked for their caller.
-define(TIMED_MS, 300).
-define(TIMED, 100).
-define(CALLS_ASKED, 50).
-define(CALLER_MS, 100).
%% What works through terms or rows. (The first argument of those of ets is a table.)
-define(NATIVE,
        [{ets, lookup, 2}, {ets, lookup_element, 3}, {ets, insert, 2}, {ets, insert_new, 2}, {ets, delete, 2}, {ets, take, 2},
         {ets, update_element, 3}, {ets, update_counter, 3}, {ets, member, 2}, {ets, next, 2}, {ets, match, 2}, {ets, match_object, 2},
         {ets, select, 2}, {ets, select_count, 2}, {ets, select_delete, 2},
         {persistent_term, get, 1}, {persistent_term, put, 2},
         {erlang, term_to_binary, 1}, {erlang, term_to_binary, 2}, {erlang, binary_to_term, 1}, {erlang, binary_to_term, 2},
         {erlang, external_size, 1}, {erlang, phash2, 1}, {erlang, phash2, 2}, {erlang, md5, 1},
         {erlang, iolist_to_binary, 1}, {erlang, list_to_binary, 1}, {erlang, binary_to_list, 1}, {erlang, iolist_size, 1},
         {erlang, '++', 2}, {erlang, '--', 2}, {lists, member, 2}, {lists, keyfind, 3}, {lists, reverse, 2},
         {maps, merge, 2}, {maps, keys, 1}, {maps, values, 1}, {binary, match, 2}, {binary, matches, 2}, {binary, copy, 1},
         {re, run, 3}, {unicode, characters_to_binary, 2}]).
native_functions() -> ?NATIVE.

%% They are switched on by their modules: each pattern waits until all schedulers have come by, and in long native functions they do not.
-define(NATIVE_MODULES, [ets, persistent_term, erlang, lists, maps, binary, re, unicode]).

%% @doc The time in these functions, by a trace of these processes that sends no messages. `unknown' where somebody else traces one of the
%% functions, or calls of the processes. What is set for the whole node {@link native_times_ended/1} takes back.
-spec native_times([pid()]) -> diagnose_types:native_times() | unknown.
native_times(Pids) ->
    process_flag(trap_exit, true),
    ok = ends_with_its_worker(),
    process_flag(priority, high),
    case lists:all(fun is_untraced/1, ?NATIVE) andalso not lists:any(fun calls_are_traced/1, [new_processes | Pids]) of
        true ->
            _ = [erlang:trace_pattern({Module, '_', '_'}, true, [call_time]) || Module <- ?NATIVE_MODULES],
            Traced = [Pid || Pid <- lists:sublist(Pids, ?TIMED), Pid =/= self(), is_switched(Pid, true, ?CALL_FLAGS)],
            Began = now_ms(),
            wait(?TIMED_MS),
            Times = [Time || Function <- ?NATIVE, Time <- time_in(Function)],
            Ms = max(1, now_ms() - Began),
            ok = native_times_off(),
            Most = [Time#{callers => calls_of_one(Function, Traced)} || {_, #{function := Function} = Time} <- ranked(1, Times)],
            _ = [is_switched(Pid, false, ?CALL_FLAGS) || Pid <- Traced],
            case Traced of
                [] -> unknown;
                _ -> #{ms => Ms, traced => length(Traced), most => lists:map(fun of_callers/1, Most)}
            end;
        false -> unknown
    end.

%% No time is counted any more.
native_times_off() ->
    _ = [erlang:trace_pattern({Module, '_', '_'}, false, [call_time]) || Module <- ?NATIVE_MODULES],
    ok.

is_untraced(Function) -> erlang:trace_info(Function, all) =:= {all, false} andalso other_sessions(Function) =:= [].

time_in(Function) ->
    case erlang:trace_info(Function, call_time) of
        {call_time, [_ | _] = Counts} ->
            Us = lists:sum([1_000_000 * S + Us || {_, _, S, Us} <- Counts]),
            [{Us, #{function => Function, us => Us, count => lists:sum([N || {_, N, _, _} <- Counts])}}];
        _ -> []
    end.

%% Some of its next calls: of which process, from which function, and for which table.
calls_of_one({Module, _, Arity} = Function, Traced) ->
    {Head, What} = case Module of
                       ets -> {['$1' | lists:duplicate(Arity - 1, '_')], '$1'};
                       _ -> {'_', none}
                   end,
    _ = erlang:trace_pattern(Function, [{Head, calls_of_these(Traced), [{message, {{{caller}, What}}}]}], []),
    Calls = next_calls(now_ms() + ?CALLER_MS, ?CALLS_ASKED),
    _ = erlang:trace_pattern(Function, false, []),
    Calls.

next_calls(_, 0) -> [];
next_calls(Until, Left) ->
    receive {trace, Pid, call, _, {Caller, What}} -> [{Pid, Caller, What} | next_calls(Until, Left - 1)]
    after max(0, Until - now_ms()) -> []
    end.

of_callers(#{callers := Calls} = Time) ->
    (maps:remove(callers, Time))#{in => first_of([Caller || {_, {_, _, _} = Caller, _} <- Calls]),
      label => first_of([Label || {Pid, _, _} <- lists:sublist(lists:uniq(fun({Pid, _, _}) -> Pid end, Calls), ?HOLDERS),
                                  Label <- [labelled_apart(Pid)], Label =/= unknown]),
      table => case first_of([Table || {_, _, Table} <- Calls, Table =/= none]) of
                   none -> none;
                   Table -> table_now(Table)
               end}.

%% It may be gone meanwhile.
table_now(Table) ->
    case [try ets:info(Table, Key) catch error:badarg -> undefined end || Key <- [name, size, memory, compressed]] of
        [Name, Size, Words, IsCompressed] when is_integer(Size), is_integer(Words), is_boolean(IsCompressed) ->
            #{name => Name, rows => Size, bytes => erlang:system_info(wordsize) * Words, compressed => IsCompressed};
        _ -> none
    end.

first_of([]) -> none;
first_of(Ones) ->
    [{_, Most} | _] = most_frequent(Ones),
    Most.
