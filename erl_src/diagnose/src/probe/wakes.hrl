%%% What has processes work though nobody asks them: timers that wake many alike, and messages that one sends to itself. The VM's trace of
%%% receives knows who sent each message, so only those of the VM's clock and of the receiver itself are told, and nothing where others
%%% send: to tell of each message that one busy process sends to another takes several times as long as to send it.

%% So long, or until so many events of one process.
-define(WOKEN_MS, 300).
-define(WAKES, 100).
%% A trace costs who gets a million messages a second a fifth of its speed, even where it tells of none of them. So those that have none
%% but those after so long and so much work, and get many within as long again, are left alone.
-define(FIRST_WAKES_MS, 50).
-define(FIRST_REDUCTIONS, 20_000).
%% Kinds of so many that did so many reductions a second together since the look at all; so many kinds, those that did most.
-define(ALIKE, 20).
-define(WORKING_TOGETHER, 40_000).
-define(WOKEN_KINDS, 6).
%% A timer has a millisecond at least: what comes more often is a receive that does not wait (after 0).
-define(MOST_WAKES, 1100).
%% From so many messages a second on others keep a process at work.
-define(SENT_BY_OTHERS, 500).
%% Who looks so often without waiting for each message of others, of so many looks, has none that waits in its heap: it looks in vain.
-define(LOOKS_IN_VAIN, 10).
-define(LOOKS, 1000).
-define(WAKE_FLAGS, ['receive', monotonic_timestamp]).
%% By its first guard a pattern is known as the one of this module.
-define(IS_OURS, {'=:=', ?MODULE, ?MODULE}).

%% @doc How often the members of kinds that work are woken by timers, and how many messages each of these processes sends to itself.
%% `unknown' where somebody else has set what the trace of receives tells, or traces these processes, and where none of them answers.
-spec wakes(#{term() => group()}, [pid()]) -> diagnose_types:wakes() | unknown.
wakes(Groups, Busy) ->
    process_flag(trap_exit, true), % its helpers end by an exit
    Kinds = working(Groups),
    Wanted = lists:usort(Busy ++ lists:append([Pids || {_, Pids} <- Kinds])),
    Prompt = [Pid || {Pid, {#{}, _}} <- answers(Wanted, fun settings/1, now_ms() + ?ANSWER_MS)],
    ok = ends_with_its_worker(),
    case erlang:trace_info('receive', match_spec) of
        {match_spec, true} when Prompt =/= [] ->
            process_flag(priority, high),
            Seen = woken_by_itself(Prompt),
            Polling = [Pid || Pid <- Busy, #{Pid := One} <- [Seen], pace(clock, One) > ?MOST_WAKES],
            Taken = woken(Polling, pattern_of_others(), #{other => 0, looks => 0}, ?WOKEN_MS),
            ok = trace_as_it_was(),
            by_kinds(Kinds, Busy, Seen, Taken);
        _ ->
            case lists:any(fun is_process_alive/1, Wanted) of
                true -> unknown;
                false -> #{timers => [], to_itself => [], drains => []}
            end
    end.

%% From here on: what is set for all the node must not be set after the worker was ended, whose end this process may have trapped.
ends_with_its_worker() ->
    process_flag(trap_exit, false),
    receive {'EXIT', _, killed} -> exit(killed)
    after 0 -> ok
    end.

%% Somebody else may trace each of them. Whom others send messages does not look in vain: how often it looks for each of these differs, but
%% is not many times.
by_kinds(_, _, Seen, _) when map_size(Seen) =:= 0 -> unknown;
by_kinds(Kinds, Busy, Seen, Taken) ->
    Drains = [{Pid, Pace} || {Pid, #{other := Others, looks := Looks} = One} <- maps:to_list(Taken),
                             Looks =< ?LOOKS_IN_VAIN * Others, Pace <- [pace(other, One)], Pace >= ?SENT_BY_OTHERS],
    #{timers => [One || {Count, Pids} <- Kinds, One <- timed(Count, maps:with(Pids, Seen))],
      to_itself => [#{pid => pid_text(Pid), a_second => Pace}
                    || Pid <- Busy, not lists:keymember(Pid, 1, Drains), #{Pid := One} <- [Seen],
                       Pace <- [pace(itself, One) + at_once(pace(clock, One))], Pace > 0],
      drains => [#{pid => pid_text(Pid), a_second => Pace} || {Pid, Pace} <- Drains]}.

%% Whom others alone send messages, and many, has neither for the rest of the time.
woken_by_itself(Pids) ->
    None = #{clock => 0, itself => 0},
    Before = [{Pid, Reductions} || Pid <- Pids, {_, Reductions} <- [process_info(Pid, reductions)]],
    First = woken(Pids, pattern(), None, ?FIRST_WAKES_MS),
    Silent = [Pid || {Pid, Reductions} <- Before, #{Pid := #{clock := 0, itself := 0}} <- [First],
                     {_, Now} <- [process_info(Pid, reductions)], Now - Reductions >= ?FIRST_REDUCTIONS],
    Seen = woken(Silent, [{'_', [], [{message, other}]}], None#{other => 0}, ?FIRST_WAKES_MS),
    Others = maps:filter(fun(_, #{other := Times}) -> Times >= ?WAKES end, Seen),
    maps:merge(Others, woken(maps:keys(First) -- maps:keys(Others), pattern(), None, ?WOKEN_MS)).

%% The arguments are node and process of the sender, and the message. The VM's clock is a node there.
pattern() ->
    [{[clock_service, '_', '_'], [], [{message, clock}]},
     {['_', '$1', '_'], [{'=:=', '$1', {self}}], [{message, itself}]}].

%% Of who does not wait in its receive (after 0), which takes so many messages of others without one: it has them in its heap then.
pattern_of_others() ->
    [{[clock_service, '_', '_'], [], [{message, looks}]},
     {['_', '$1', '_'], [{'=/=', '$1', {self}}], [{message, other}]}].

%% @doc Whoever is ended meanwhile cannot do that.
-spec trace_as_it_was() -> ok.
trace_as_it_was() ->
    _ = [erlang:trace_pattern(Function, false, [])
         || Function <- [disconnect_function(), logged_function() | timer_functions() ++ cancel_functions() ++ native_functions()
                         ++ asked_functions()],
            is_ours(erlang:trace_info(Function, match_spec))],
    _ = [erlang:trace_pattern(state_change(), false, [local]) || is_ours(erlang:trace_info(state_change(), match_spec))],
    _ = is_ours(erlang:trace_info('receive', match_spec)) andalso erlang:trace_pattern('receive', true, []),
    ok.

is_ours({match_spec, [{_, [?IS_OURS | _], _} | _]}) -> true;
is_ours(_) -> false.

%% @doc Traces what these processes receive by this pattern: those that let themselves be traced, and from when on. A pattern is for all
%% that anybody traces: by the clause before it others are told what they are told without one, with the messages.
-spec receives_traced([pid()], [term()], [atom()]) -> {[pid()], Began :: integer()}.
receives_traced(Pids, Pattern, Flags) ->
    Free = [Pid || Pid <- Pids, erlang:trace_info(Pid, flags) =:= {flags, []}],
    ok = receives_told(Free, Pattern),
    Began = erlang:monotonic_time(), % the pattern may have waited long for all schedulers
    Traced = [Pid || Pid <- Free, is_switched(Pid, true, Flags)],
    %% Somebody else may trace some of them since then.
    _ = lists:any(fun is_process_alive/1, Free -- Traced) andalso receives_told(Traced, Pattern),
    {Traced, Began}.

receives_told(Pids, Pattern) ->
    _ = erlang:trace_pattern('receive', [{'_', [?IS_OURS, {'not', is_one_of(Pids)}], []} | Pattern], []),
    ok.

%% The guards of a pattern of calls, of which nobody else is told: without the pattern nobody is.
calls_of_these(Pids) -> [?IS_OURS, is_one_of(Pids)].

is_one_of(Pids) -> {is_map_key, {self}, {const, maps:from_list([{Pid, []} || Pid <- Pids])}}.

%% Those of large kinds that were drawn, if they do much together.
working(Groups) ->
    Kinds = [{Count, Pids, Count * lists:sum(Paces) / length(Paces)}
             || #{count := Count, some := Some} <- calling(Groups), Count >= ?ALIKE,
                {Pids, [_ | _] = Paces} <- [lists:unzip([{Pid, 1000 * (Now - Before) / max(1, now_ms() - At)}
                                                         || {_, Pid, Before, At} <- Some,
                                                            {reductions, Now} <- [process_info(Pid, reductions)]])]],
    [{Count, Pids} || {Count, Pids, _} <- lists:sublist(lists:reverse(lists:keysort(3, [Kind || {_, _, Work} = Kind <- Kinds,
                                                                                                Work >= ?WORKING_TOGETHER])),
                                                        ?WOKEN_KINDS)].

woken([], _Pattern, _Counts, _Ms) -> #{};
woken(Pids, Pattern, Counts, Ms) ->
    {Traced, Began} = receives_traced(Pids, Pattern, ?WAKE_FLAGS),
    Seen = wakes_until(now_ms() + Ms, maps:from_list([{Pid, Counts} || Pid <- Traced])),
    _ = [is_switched(Pid, false, ?WAKE_FLAGS) || Pid <- Traced],
    Ended = erlang:monotonic_time(),
    maps:map(fun(_, One) -> during(One, Began, Ended) end, Seen).

%% Who sends messages to itself was not let run at first where the machine did something else, and sent the others one after the other.
during(One, Began, Ended) ->
    Until = maps:get(until, One, Ended),
    First = case One of #{until := _, first := At} -> At; #{} -> Began end,
    One#{us => max(1, us(Until - Began)), itself_us => max(1, us(Until - First))}.

wakes_until(End, Seen) ->
    receive
        {trace_ts, Pid, 'receive', _, Sender, At} when is_atom(Sender) -> wakes_until(End, woke(Pid, Sender, At, Seen));
        {trace_ts, _, 'receive', _, _, _} -> wakes_until(End, Seen)
    after max(0, End - now_ms()) -> Seen
    end.

woke(Pid, What, At, Seen) ->
    case Seen of
        #{Pid := #{until := _}} -> Seen;
        #{Pid := #{What := Times} = One} when Times < ?WAKES; What =:= looks, Times < ?LOOKS ->
            Seen#{Pid := first_sent(What, At, One#{What := Times + 1})};
        #{Pid := #{What := _} = One} ->
            _ = is_switched(Pid, false, ?WAKE_FLAGS),
            Seen#{Pid := One#{until => At}};
        #{} -> Seen % it comes late, of the pattern before
    end.

first_sent(itself, At, One) when not is_map_key(first, One) -> One#{first => At};
first_sent(_, _, One) -> One.

%% A timer of 0 is one that a process sends to itself.
at_once(Pace) when Pace > ?MOST_WAKES -> Pace;
at_once(_) -> 0.

pace(itself, #{itself := Times, itself_us := Us}) -> round(1_000_000 * Times / Us);
pace(What, #{us := Us} = One) -> round(1_000_000 * map_get(What, One) / Us).

%% What they are, and where one of them waits, which is where most do.
timed(Count, Seen) ->
    Paces = [{Pid, Pace} || {Pid, One} <- maps:to_list(Seen), Pace <- [pace(clock, One)], Pace =< ?MOST_WAKES],
    case [Pid || {Pid, Pace} <- Paces, Pace > 0] of
        [] -> [];
        [One | _] ->
            Each = lists:sum([Pace || {_, Pace} <- Paces]) / map_size(Seen),
            [#{label => labelled_apart(One), in => apart(fun() -> waits_for_time_in(One) end), count => Count, each_a_second => Each,
               asked => map_size(Seen)}]
    end.

%% The function that sleeps, rather than sleep.
waits_for_time_in(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, [_ | _] = Stack} -> first_frame(Stack);
        _ -> none
    end.
