%%% Handlers of logger that get more events than they write: the modes in which their processes make callers wait (sync) or lose events (drop).
%%% And who logs how much, where it works.

-define(LOGGING_MS, 100).
%% So many processes are looked at, at each look at which a handler is in such a mode.
-define(ASKED_LOGGING, 60).

%% So long calls are traced, and so often where a process logs much each time: many lines at once are no loop.
-define(EVENTS_MS, 100).
-define(EVENT_LOOKS, 4).

%% @doc At how many looks each handler was in such a mode, and which functions were seen logging then. The mode is a persistent term, so no
%% handler is asked.
-spec logging([atom()], integer()) -> diagnose_types:logging().
logging(Names, Until) ->
    Handlers = [Name || Name <- Names, mode(Name) =/= none],
    {Looks, Modes, From} = logged(Handlers, Until, {0, [], []}),
    #{looks => Looks,
      handlers => [#{name => Name, sync => times({Name, sync}, Modes), drop => times({Name, drop}, Modes)} || Name <- Handlers],
      from => [{Frame, Times} || {Times, Frame} <- most_frequent(From)]}.

times(One, All) -> length([1 || Other <- All, Other =:= One]).

mode(Name) -> persistent_term:get({logger_olp, Name}, none).

logged([], _Until, Seen) -> Seen;
logged(Handlers, Until, {Looks, Modes, From}) ->
    Now = [{Name, Mode} || Name <- Handlers, Mode <- [mode(Name)], lists:member(Mode, [sync, drop])],
    Callers = [Frame || Now =/= [], Pid <- some(?ASKED_LOGGING, processes()), Frame <- logs_in(Pid)],
    Seen = {Looks + 1, Now ++ Modes, Callers ++ From},
    case now_ms() < Until of
        true ->
            wait(min(?LOGGING_MS, max(0, Until - now_ms()))),
            logged(Handlers, Until, Seen);
        false -> Seen
    end.

logs_in(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, Stack} -> caller_of_logger(Stack);
        undefined -> []
    end.

%% @doc The function that logs, where a stack has one.
-spec caller_of_logger([{module(), atom(), arity(), term()}]) -> [diagnose_types:frame()].
caller_of_logger(Stack) ->
    case lists:dropwhile(fun({Module, _, _, _}) -> not is_of_logger(Module) end, Stack) of
        [] -> [];
        Logs -> [frame(Frame) || Frame <- lists:sublist(lists:dropwhile(fun({Module, _, _, _}) -> is_of_logger(Module) end, Logs), 1),
                                 not lists:member(element(1, Frame), ?BEHAVIOURS)]
    end.

is_of_logger(Module) -> lists:member(Module, [logger, logger_backend, logger_h_common, logger_olp, logger_filters, 'Elixir.Logger']).

%% @doc Which of these processes log how many events that the level permits, where that is much; else what was seen at first. Each event
%% goes through one function of logger, whoever takes it.
-spec log_events([pid()]) -> diagnose_types:makers() | unknown.
log_events(Pids) -> log_events(Pids, ?EVENT_LOOKS).

log_events(Pids, Left) ->
    Events = calls_of([logged_function()], Pids, ?EVENTS_MS),
    case Left > 1 andalso logs_much(Events) of
        true ->
            wait(?EVENTS_MS + rand:uniform(?EVENTS_MS)),
            log_events(Pids, Left - 1);
        false -> Events
    end.

logs_much(#{most := Most}) -> [1 || #{processes := Count, a_second := Pace} <- Most, Pace >= ?LOGGED_A_SECOND * Count] =/= [];
logs_much(unknown) -> false.

logged_function() -> {logger_backend, log_allowed, 3}.
