%%% Processes that get one message again and again from timers that they start themselves, of which many run at a time. Whoever starts a new
%%% one at each tick, and another one at each request, has more and more of them.

%% For so long; so many events of each process that does so much.
-define(TICKING_MS, 500).
%% Who starts no timer for so long is not looked at further: to trace what a busy process receives costs it a fifth of its speed. (The
%% machine may not let it run at first.)
-define(FIRST_START_MS, 300).
-define(TICK_EVENTS, 1000).
-define(TICKING_REDUCTIONS, 100_000).
-define(TICK_FLAGS, ['receive', call, arity, monotonic_timestamp]).
%% So many starts, in so many runs, and so many timers at a time; after hardly any tick no timer is started.
-define(TICKS, 20).
-define(TICK_RUNS, 5).
-define(TICKS_AT_A_TIME, 20).
-define(TICKS_UNPAIRED, 0.02).
%% Whom the scheduler stops among so many ticks fetches what came meanwhile, and then starts the timers of all.
-define(TICKS_AT_ONCE, 20).
%% A longer time is one on the clock (abs).
-define(MOST_TICK_MS, 86_400_000).

%% @doc Which of these processes get ticks of too many timers of their own. Only messages that are an atom count, so none is copied.
%% `unknown' where somebody else traces such things.
-spec ticks([pid()]) -> [diagnose_types:ticks()] | unknown.
ticks(Pids) ->
    ok = ends_with_its_worker(),
    process_flag(priority, high),
    Functions = timer_functions(),
    case erlang:trace_info('receive', match_spec) =:= {match_spec, true} andalso lists:all(fun is_untraced/1, Functions)
        andalso not lists:any(fun calls_are_traced/1, [new_processes | Pids]) of
        true ->
            Stack = told_of_a_caller(),
            _ = [erlang:trace_pattern(Function, starts_of_ticks(Arity, Stack, Pids), []) || {_, _, Arity} = Function <- Functions],
            Starting = start_timers(Pids),
            Ticks = case Starting of [] -> []; _ -> ticks_of(Starting) end,
            ok = trace_as_it_was(),
            Ticks;
        false -> unknown
    end.

%% Those of them that start a timer soon.
start_timers(Pids) -> timer_starters([Pid || Pid <- Pids, is_switched(Pid, true, ?CALL_FLAGS)], now_ms() + ?FIRST_START_MS, []).

timer_starters([], _Until, Starting) -> Starting;
timer_starters(Traced, Until, Starting) ->
    receive
        {trace, Pid, call, _, _} ->
            _ = is_switched(Pid, false, ?CALL_FLAGS),
            timer_starters(lists:delete(Pid, Traced), Until, lists:usort([Pid | Starting]))
    after max(0, Until - now_ms()) ->
            _ = [is_switched(Pid, false, ?CALL_FLAGS) || Pid <- Traced],
            Starting
    end.

ticks_of(Pids) ->
    {Traced, Began} = receives_traced(Pids, ticks_received(), ?TICK_FLAGS),
    Seen = ticks_until(now_ms() + ?TICKING_MS, maps:from_list([{Pid, {0, []}} || Pid <- Traced])),
    _ = [is_switched(Pid, false, ?TICK_FLAGS) || Pid <- Traced],
    Ended = erlang:monotonic_time(),
    [Told#{pid => pid_text(Pid)}
     || {Pid, {Count, Events}} <- maps:to_list(Seen),
        Us <- [us(case Count < ?TICK_EVENTS of true -> Ended; false -> element(2, hd(Events)) end - Began)],
        Told <- too_many_ticks(lists:reverse([Event || {Event, _} <- Events]), max(1, Us))].

%% A message of start_timer/3 has its own in it.
ticks_received() ->
    [{[clock_service, '_', {timeout, '_', '$1'}], [], [{message, {'andalso', {is_atom, '$1'}, '$1'}}]},
     {[clock_service, '_', '$1'], [], [{message, {'andalso', {is_atom, '$1'}, '$1'}}]},
     {'_', [], [{message, false}]}].

%% Before OTP 26 a trace tells no stack.
told_of_a_caller() ->
    case erlang:match_spec_test([], [{[], [], [{message, {current_stacktrace}}]}], trace) of
        {ok, _, _, _} -> {current_stacktrace};
        {error, _} -> [{caller}]
    end.

starts_of_ticks(Arity, Stack, Pids) ->
    [{lists:sublist(['$1', '$2', '$3', '_'], Arity), calls_of_these(Pids),
      [{message, {{'$1', {'andalso', {'orelse', {'=:=', '$2', {self}}, {is_atom, '$2'}}, {is_atom, '$3'}, '$3'}, Stack}}}]}].

ticks_until(Until, Seen) ->
    receive
        {trace_ts, Pid, 'receive', _, Tick, At} when is_atom(Tick) -> ticks_until(Until, tick(Pid, {tick, Tick}, At, Seen));
        {trace_ts, Pid, call, _, {Ms, Tick, Stack}, At} when is_integer(Ms), is_atom(Tick) ->
            ticks_until(Until, tick(Pid, {start, Tick, Ms, callers_of(Stack)}, At, Seen));
        Event when element(1, Event) =:= trace_ts; element(1, Event) =:= trace -> ticks_until(Until, Seen)
    after max(0, Until - now_ms()) -> Seen
    end.

callers_of([{_, _, _, _} | _] = Stack) -> [frame(Frame) || Frame <- Stack];
callers_of(Stack) -> [Caller || {_, _, _} = Caller <- Stack].

tick(Pid, Event, At, Seen) ->
    case Seen of
        #{Pid := {Count, Events}} when Count < ?TICK_EVENTS ->
            _ = Count + 1 =:= ?TICK_EVENTS andalso is_switched(Pid, false, ?TICK_FLAGS),
            Seen#{Pid := {Count + 1, [{Event, At} | Events]}};
        #{} -> Seen
    end.

%% @doc Of what a process got and started in that time, in its order: the tick that comes from too many timers, where each is followed by
%% the start of the next. (Who counts what it did within the last second starts a timer, too, but not after a tick.) The VM does not tell
%% of each message that comes while the process works, so there may be more starts than ticks.
-spec too_many_ticks([{tick, atom()} | {start, atom(), integer(), [diagnose_types:frame()]}], Us :: pos_integer()) -> [map()].
too_many_ticks(Events, Us) ->
    case most_frequent([Tick || {start, Tick, _, _} <- Events]) of
        [{Times, Tick} | _] when Times >= ?TICKS ->
            Starts = [{Ms, Stack} || {start, T, Ms, Stack} <- Events, T =:= Tick],
            Runs = lists:droplast(whole_runs(runs_of_ticks([element(1, Event) || Event <- Events, element(2, Event) =:= Tick]))),
            Unpaired = lists:sum([T - S || {T, S} <- Runs, T > S]),
            Pace = 1_000_000 * Times / Us,
            [#{tick => Tick, a_second => round(Pace), interval_ms => Ms, at_a_time => round(Pace * Ms / 1000), in => In}
             || length(Runs) >= ?TICK_RUNS, Unpaired =< ?TICKS_UNPAIRED * lists:sum([T || {T, _} <- Runs]),
                Ms <- [middle([Ms || {Ms, _} <- Starts])], is_integer(Ms), Ms > 0, Ms =< ?MOST_TICK_MS,
                Pace * Ms >= 1000 * ?TICKS_AT_A_TIME,
                10 * length([1 || {_, Stack} <- Starts, is_in_request(Stack)]) =< length(Starts),
                In <- [case most_frequent([Own || {_, Stack} <- Starts, [Own | _] <- [[F || {M, _, _} = F <- Stack, M =/= timer]]]) of
                           [{_, Own} | _] -> Own;
                           [] -> none
                       end]];
        _ -> []
    end.

%% As many requests as there are ticks may come at a steady pace.
is_in_request(Stack) ->
    lists:any(fun({_, Function, _}) -> lists:member(Function, [handle_call, handle_cast, try_handle_call, try_handle_cast]) end, Stack).

whole_runs([{T, S}, {T2, S2} | Rest]) when T >= ?TICKS_AT_ONCE, S < T -> whole_runs([{T + T2, S + S2} | Rest]);
whole_runs([Run | Rest]) -> [Run | whole_runs(Rest)];
whole_runs([]) -> [].

%% How many ticks came, and how many timers were started then. The last is cut; what came before the first tick is left out.
runs_of_ticks(Events) -> runs_of_ticks(lists:dropwhile(fun(What) -> What =:= start end, Events), 0, 0).

runs_of_ticks([tick | Rest], Ticks, 0) -> runs_of_ticks(Rest, Ticks + 1, 0);
runs_of_ticks([tick | Rest], Ticks, Starts) -> [{Ticks, Starts} | runs_of_ticks(Rest, 1, 0)];
runs_of_ticks([start | Rest], Ticks, Starts) -> runs_of_ticks(Rest, Ticks, Starts + 1);
runs_of_ticks([], Ticks, Starts) -> [{Ticks, Starts}].
