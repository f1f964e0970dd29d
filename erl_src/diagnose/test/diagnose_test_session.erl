%% @doc A session of the module `trace' (OTP 27 and later), which it has beside the trace of erlang:trace/3.
-module(diagnose_test_session).

-export([traces/2, flags/2]).

%% @doc A tracer that has a session of its own. It keeps the handle, without which a session ends.
-spec traces(pid() | all | new, [atom()]) -> pid().
traces(Which, Flags) ->
    Self = self(),
    Tracer = spawn(fun() ->
                           Session = trace:session_create(?MODULE, self(), []),
                           _ = trace:process(Session, Which, true, Flags),
                           Self ! {self(), traces},
                           swallows(Session)
                   end),
    receive {Tracer, traces} -> Tracer end.

swallows(Session) ->
    receive
        {flags, Pid, From} -> From ! {self(), trace:info(Session, Pid, flags)};
        _ -> ok
    end,
    swallows(Session).

%% @doc What the session traces of a process.
-spec flags(Tracer :: pid(), pid()) -> term().
flags(Tracer, Pid) ->
    Tracer ! {flags, Pid, self()},
    receive {Tracer, Flags} -> Flags end.
