%%% What somebody who looked for a fault has left behind: modules that are interpreted or count their lines, processes that are suspended.
%%% And who waits for a process of priority low.

%% So many modules are told.
-define(DEBUGGED_MODULES, 200).
%% So often, and for so long, the callers of servers of priority low are looked for, among so many that monitor each.
-define(CALLERS_LOOKS, 5).
-define(CALLERS_MS, 1500).
-define(ASKED_MONITORS, 30).

%% @doc The modules that the debugger interprets, and those that cover has compiled so that they count their lines. Where the VM counts
%% them by itself (OTP 27 and later), that costs next to nothing, and they are not told.
-spec debugged() -> diagnose_types:debugged().
debugged() ->
    #{interpreted => lists:sublist(interpreted(whereis(dbg_iserver)), ?DEBUGGED_MODULES),
      covered => lists:sublist([Module || Module <- erlang:loaded(), is_covered(Module)], ?DEBUGGED_MODULES)}.

%% By the table of the debugger's server, which has a row for each, so that the server is asked for nothing.
interpreted(undefined) -> [];
interpreted(Server) ->
    {Tables, _} = at_most(?MOST_TABLES, ets:all()),
    [Module || Table <- Tables, ets:info(Table, owner) =:= Server, ets:info(Table, name) =:= dbg_iserver,
               [Module] <- try ets:match(Table, {{'$1', refs}, '_'}) catch error:badarg -> [] end].

%% The counters are a persistent term, which is not kept, or are known to cover alone.
is_covered(Module) ->
    persistent_term:get({cover, Module}, none) =/= none
        orelse try ets:member(cover_internal_mapping_table, {counters, Module}) catch error:badarg -> false end.

%% @doc Who gets the events of the system monitor, and which these are.
-spec system_monitor() -> diagnose_types:system_monitor() | none.
system_monitor() ->
    case erlang:system_monitor() of
        {Pid, Events} when is_pid(Pid) -> #{pid => pid_text(Pid), events => Events};
        _ -> none
    end.

%% @doc Who has suspended these processes: only the suspender itself knows whom it suspends.
-spec suspenders([pid()], [pid()], integer()) -> [diagnose_types:suspender()].
suspenders([], _Pids, _Until) -> [];
suspenders(Suspended, Pids, Until) ->
    {Found, _Silent} = by_the_hundred(Pids, fun suspends/1, min(Until, now_ms() + ?LINKS_MS), {[], []}),
    [Suspender || {_, Pid} <- ranked(?KEPT, Found),
                  #{} = Suspender <- [within(fun() -> suspender(Pid, Suspended) end, min(Until, now_ms() + ?ANSWER_MS))]].

suspends(Pid) ->
    case process_info(Pid, suspending) of
        {_, Suspended} -> length(Suspended);
        undefined -> unknown
    end.

suspender(Pid, Suspended) ->
    case process_info(Pid, [suspending, current_stacktrace]) of
        [{_, Suspends}, {_, Stack}] ->
            #{pid => pid_text(Pid), name => registered_as(Pid), label => labelled_apart(Pid),
              in => case Stack of [] -> none; _ -> own_frame(Stack) end,
              'of' => [pid_text(One) || {One, _, _} <- Suspends, lists:member(One, Suspended)]};
        undefined -> ended
    end.

%% @doc What those are that wait for the answer of these processes: a caller monitors whom it calls. Such a process answers only in
%% its turn, and is asked again where nobody waited just then.
-spec who_call([pid()], integer()) -> [diagnose_types:callers()].
who_call(Pids, Deadline) ->
    Until = min(Deadline, now_ms() + ?CALLERS_MS),
    [maps:merge(table_of(Pid), callers_of(Pid, Until, ?CALLERS_LOOKS)) || Pid <- lists:sublist(Pids, ?LARGEST)].

callers_of(Pid, Until, Left) ->
    Monitors = [One || {_, {[_ | _] = All, _}} <- answers([Pid], fun callers/1, Until), One <- lists:sublist(All, ?ASKED_MONITORS)],
    Calls = [Call || {_, {{_, _} = Call, _}} <- answers(Monitors, fun(One) -> calls_as(One, Pid) end, min(Until, now_ms() + ?ANSWER_MS))],
    case Calls =:= [] andalso Left > 1 andalso now_ms() < Until of
        true -> callers_of(Pid, Until, Left - 1);
        false ->
            #{pid => pid_text(Pid), 'of' => [{Label, Count} || {Count, Label} <- most_frequent([L || {L, _} <- Calls, L =/= unknown])],
              in => [{Frame, Count} || {Count, Frame} <- most_frequent([In || {_, In} <- Calls])]}
    end.

calls_as(Caller, Pid) ->
    case calls_now(Caller) of
        [{{{answer, Pid}, In, _}, _} | _] -> {labelled(Caller), In};
        _ -> none
    end.

%% Of a table of dets, its name, by the table of the server of dets.
table_of(Pid) -> try #{table => ets:lookup_element(dets_owners, Pid, 2)} catch error:badarg -> #{} end.
