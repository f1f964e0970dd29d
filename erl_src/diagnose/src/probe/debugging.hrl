%%% What somebody who looked for a fault has left behind: modules that are interpreted or count their lines, processes that are suspended.

%% So many modules are told.
-define(DEBUGGED_MODULES, 200).

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
