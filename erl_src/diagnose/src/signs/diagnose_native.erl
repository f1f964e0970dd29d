%% @doc From the time in native functions, which no look at a stack shows, to signs. Pure.
-module(diagnose_native).

-export([of_node/1]).

-import(diagnose_sign, [sign/4, text/2]).
-import(diagnose_wording, [label/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of the native function in which the processes that were traced spent most time, and of threads that are not the VM's.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) -> times(Look) ++ other_threads(Look).

times(#{native_times := #{ms := Ms, traced := Traced, most := Most}, collections := #{cores := All}}) ->
    %% It was measured by a clock: on a busy machine that is more than all the processor time of the node.
    [sign(native_time,
          #{function => label(Function), cores => Cores, calls_a_second => round(1000 * Count / Ms),
            us_a_call => round(Cores * 1000 * Ms / Count), traced => Traced, in => label_or_unknown(In), 'of' => label_or_unknown(Label),
            table => table(Table)},
          advice(Function, Table), diagnose_proof:look())
     || #{function := Function, us := Us, count := Count, in := In, label := Label, table := Table} <- Most,
        Cores <- [min(All, Us / (1000 * Ms))],
        Cores >= ?NATIVE_TIME, Cores * 1000 * Ms >= ?LONG_CALL_US * Count];
times(#{}) -> [].

%% More than the VM itself does. (Where the machine is busy, these threads get no more than a part, as all.)
other_threads(#{collections := #{other_threads := #{cores := Cores, names := Names, nifs := Modules, drivers := Drivers}} = Collections}) ->
    Own = diagnose_work_time:cores(Collections),
    [sign(native_time,
          #{other_cores => Cores, cores => Own, threads => Names,
            modules => [text("~tp", [Module]) || Module <- Modules], drivers => Drivers},
          "The schedulers do not see this work, and share the processors with it. A native library or a driver has started these threads. If"
          " their work is meant to be that much (compaction, numeric work), limit their number in the settings of the library, and leave"
          " processors to the schedulers. Otherwise find out what they do: perf top of the node's process names their functions.",
          diagnose_proof:look())
     || Cores >= ?BUSY_CORES, Cores >= ?OTHER_TIMES * Own];
other_threads(#{}) -> [].

label_or_unknown(none) -> unknown;
label_or_unknown(Function) -> label(Function).

table(none) -> none;
table(#{name := Name} = Table) -> Table#{name := text("~tp", [Name])}.

advice({ets, Name, _}, #{compressed := true}) when Name =:= lookup; Name =:= lookup_element; Name =:= match; Name =:= select ->
    ["The table is compressed, so each read decodes a whole row. Leave out the option compressed, keep what is read often in a table of its"
     " own, or keep smaller rows."];
advice({ets, Name, _}, _) when Name =:= lookup; Name =:= lookup_element; Name =:= member; Name =:= take ->
    ["The VM hashes and compares the whole key, and copies the whole row. Use small keys (an identifier, or erlang:phash2/1 of the large"
     " term) and small rows; ets:lookup_element/3 copies one element. Large data that hardly changes belongs in a persistent term."];
advice({ets, Name, _}, _) when Name =:= match; Name =:= match_object; Name =:= select; Name =:= select_count; Name =:= select_delete ->
    ["Without the whole key, a search visits every row. Look up by the key, or keep a second table as an index."];
advice({ets, _, _}, _) ->
    ["The VM copies the whole row into the table. Write smaller rows, or only the element that changes (ets:update_element/3)."];
advice({erlang, Name, _}, _) when Name =:= term_to_binary; Name =:= binary_to_term; Name =:= external_size ->
    ["Encode or decode only what changed, and not all of the state each time; do not compress what is written often."];
advice({_, Name, _}, _) when Name =:= member; Name =:= keyfind; Name =:= '++'; Name =:= '--'; Name =:= reverse ->
    ["The time grows with the length of the list. Use a map or a set for what is searched, and put new elements at the front of a list."];
advice(_, _) ->
    ["The time grows with the size of the arguments: bound it, call the function less often, or keep its result."].
