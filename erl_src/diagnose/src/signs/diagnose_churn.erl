%% @doc From persistent terms and modules that are replaced all the time to signs. Pure.
-module(diagnose_churn).

-export([of_node/1, of_terms/1]).

-import(diagnose_sign, [sign/4, text/2, process_in/1, counted/1]).
-import(diagnose_counts, [processes/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of the node.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) -> of_terms(Look) ++ of_code(Look).

%% @doc The sign of persistent terms that are put anew: who does that is suspended until all schedulers have seen it.
-spec of_terms(diagnose_types:look()) -> [diagnose_types:sign()].
of_terms(#{terms := #{looks := Looks, count := Count, terms := Terms}} = Look) ->
    Often = [{Key, Times} || #{term := Key, times := Times} <- Terms,
                             Times >= ?CHURN_TIMES, 4 * Times >= Looks orelse processes(Look) >= ?CHURN_PROCESSES],
    Put = [#{term => text("~0tP", [Key, 12]), times => Times} || {Key, Times} <- Often],
    [sign(persistent_term_churn, #{looks => Looks, terms => Put, count => Count},
          [["This term is of logger: its handler changes its mode again and again, because at times it gets more events than it can write."
            " Log less: raise the level (logger:set_primary_config/2), and look for who logs most. "
            || {{logger_olp, _}, _} <- lists:sublist(Often, 1)],
           "Each time one is replaced, the VM scans all processes, and those that keep it are collected in full. Keep changing data"
           " in ETS (read_concurrency), or in counters; persistent_term is for data that is written once."], diagnose_proof:look())
     || Put =/= []];
of_terms(#{}) -> [].

of_code(#{reloads := #{purges := #{ms := Ms, modules := [{_, Most} | _] = Stay, by := By, kept_by := Kept}}}) when Most >= ?PURGED_AGAIN ->
    [sign(code_churn, #{ms => Ms, times => lists:sum([Times || {_, Times} <- Stay]),
                        modules => [text("~tp", [Module]) || {Module, _} <- Stay],
                        by => [process_in(One) || One <- lists:sublist(By, 1)], kept_by => [process_in(One) || One <- Kept]},
          "Each try asks every process of the node. Old code is free when no process runs it: have that process call its own module by a"
          " fully qualified call (?MODULE:loop(State)), or restart it. Try again after seconds, and not for ever.", diagnose_proof:look())];
of_code(#{reloads := #{looks := Looks, modules := Modules, in := In}}) ->
    Again = [#{module => text("~tp", [Module]), times => Times} || #{module := Module, times := Times} <- Modules, Times >= ?RELOADS],
    [sign(code_churn, #{looks => Looks, modules => Again, in => counted(In)},
          "Each load of a module makes all code wait, and each purge of an old version makes the VM scan all processes. Keep"
          " changing data in ETS, in application variables or in persistent_term; a module is for data that changes with a"
          " release.", diagnose_proof:look()) || Again =/= []];
of_code(#{}) -> [].
