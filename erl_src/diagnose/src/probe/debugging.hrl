%%% What somebody who looked for a fault has left behind: modules that are interpreted or count their lines, processes that are suspended.
%%% And who waits for a process of priority low.

%% So many modules are told.
-define(DEBUGGED_MODULES, 200).
%% So often the callers of a server of priority low are looked for, so long apart, among so many that monitor it.
-define(CALLERS_LOOKS, 5).
-define(CALLERS_MS, 20).
-define(ASKED_MONITORS, 100).

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

%% @doc What those are that wait for the answer of these processes, by a few looks at who monitors each: a caller does.
-spec who_call([pid()], integer()) -> [diagnose_types:callers()].
who_call(Pids, Until) ->
    [#{pid => pid_text(Pid), 'of' => Kinds}
     || Pid <- lists:sublist(Pids, ?LARGEST),
        Kinds <- [within(fun() -> kinds_of_callers(Pid) end, min(Until, now_ms() + ?CALLERS_LOOKS * ?CALLERS_MS + ?ANSWER_MS))],
        is_list(Kinds)].

kinds_of_callers(Pid) ->
    Calling = lists:uniq(lists:append([begin wait(?CALLERS_MS), calling_now(Pid) end || _ <- lists:seq(1, ?CALLERS_LOOKS)])),
    [{Label, Count} || {Count, Label} <- most_frequent([Label || Caller <- lists:sublist(Calling, ?NAMED_CALLERS),
                                                                 Label <- [labelled_apart(Caller)], Label =/= unknown])].

calling_now(Pid) ->
    [Caller || Caller <- lists:sublist(callers(Pid), ?ASKED_MONITORS), {{answer, Called}, _, _} <- calls_now(Caller), Called =:= Pid].
