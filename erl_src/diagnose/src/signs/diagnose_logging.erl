%% @doc From handlers of logger that get too much to signs. Pure.
-module(diagnose_logging).

-export([of_node/1]).

-import(diagnose_sign, [sign/4, counted/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of handlers that made callers wait, or lost events, at a third of the looks.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(#{logging := #{looks := Looks, handlers := Handlers, from := From}}) when Looks >= ?BUSY_LOOKS ->
    [sign(log_overload, #{handler => Name, looks => Looks, sync => Sync, drop => Drop, in => counted(lists:sublist(From, 3))},
          "It gets more events than it writes. In mode drop it loses events, and in mode sync whoever logs waits for it. Log less: raise the"
          " level (logger:set_primary_config/2, logger:set_module_level/2), filter repeated events, and mend what is logged. An error that"
          " repeats is the cause rather than logger. If the events are needed, see why their file or console is slow.",
          diagnose_proof:look())
     || #{name := Name, sync := Sync, drop := Drop} <- Handlers, 3 * (Sync + Drop) >= Looks];
of_node(#{}) -> [].
