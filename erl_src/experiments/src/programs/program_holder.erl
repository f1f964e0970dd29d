%% @doc A process that holds what a load needs from one round to the next: connections, sessions.
-module(program_holder).

-export([start/1, ask/2]).

%% @doc Starts it. It holds the result of the function, which it calls itself.
-spec start(fun(() -> Held :: term())) -> pid().
start(Make) ->
    Reference = make_ref(),
    Caller = self(),
    {Pid, Monitor} = spawn_monitor(fun() ->
                                           Held = Make(),
                                           Caller ! Reference,
                                           serve(Held)
                                   end),
    receive
        Reference -> true = demonitor(Monitor, [flush]), Pid;
        {'DOWN', Monitor, process, Pid, Reason} -> exit(Reason)
    end.

serve(Held) ->
    receive {From, Reference, Fun} -> From ! {Reference, Fun(Held)} end,
    serve(Held).

%% @doc Calls a function with the held term, in that process, and returns the result.
-spec ask(pid(), fun((Held :: term()) -> Answer)) -> Answer.
ask(Pid, Fun) ->
    Reference = monitor(process, Pid),
    Pid ! {self(), Reference, Fun},
    receive
        {Reference, Answer} -> true = demonitor(Reference, [flush]), Answer;
        {'DOWN', Reference, process, _, Reason} -> exit(Reason)
    end.
