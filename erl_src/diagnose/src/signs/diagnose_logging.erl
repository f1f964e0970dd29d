%% @doc From handlers of logger that get too much, and from processes that log much, to signs. Pure.
-module(diagnose_logging).

-export([of_node/1]).

-import(diagnose_sign, [sign/4, counted/1, process/1, in/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of handlers that made callers wait, or lost events, at a third of the looks; where there are none, of who logs much.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(#{logging := #{} = Logging}) ->
    case of_handlers(Logging) of
        [] -> of_events(Logging);
        Signs -> Signs
    end;
of_node(#{}) -> [].

%% A handler that keeps up tells nothing.
of_events(#{events := Events}) ->
    [sign(log_overload,
          #{a_second => lists:sum([Pace || #{a_second := Pace} <- Most]),
            most => [#{process => process(One), processes => Count, a_second => Pace, label => diagnose_wording:label(Label),
                       in => in(In)}
                     || #{label := Label, processes := Count, in := In, a_second := Pace} = One <- Most]},
          "Most likely the same failure is logged again and again: wait before each new attempt, longer after each failure, and count"
          " failures instead of logging each. If a handler of logger has this process work for each event, by a message or a call, what"
          " that logs is the next event, without end: stop its own events by a filter of the handler (logger_filters:domain/2), or do not log"
          " there.",
          diagnose_proof:look())
     || Most <- [[One || #{processes := Count, a_second := Pace} = One <- Events, Pace >= ?LOGGED_A_SECOND * Count]], Most =/= []];
of_events(#{}) -> [].

of_handlers(#{looks := Looks, handlers := Handlers, from := From}) when Looks >= ?BUSY_LOOKS ->
    [sign(log_overload, #{handler => Name, looks => Looks, sync => Sync, drop => Drop, in => counted(lists:sublist(From, 3))},
          "It gets more events than it writes. In mode drop it loses events, and in mode sync whoever logs waits for it. Log less: raise the"
          " level (logger:set_primary_config/2, logger:set_module_level/2), filter repeated events, and mend what is logged. An error that"
          " repeats is the cause rather than logger. If the events are needed, see why their file or console is slow.",
          diagnose_proof:look())
     || #{name := Name, sync := Sync, drop := Drop} <- Handlers, 3 * (Sync + Drop) >= Looks];
of_handlers(#{}) -> [].
