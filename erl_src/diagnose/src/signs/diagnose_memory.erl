%% @doc From memory that no process has on its heap to signs: binaries, persistent terms, native code, carriers. Pure.
-module(diagnose_memory).

-export([of_node/1]).

-import(diagnose_sign, [sign/4, text/2]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of the node.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) -> beside(Look) ++ beside_processes(Look) ++ large_terms(Look) ++ large_code(Look) ++ native_memory(Look) ++ carriers(Look) ++ mapped(Look).

%% Where messages wait, they may have them.
beside(#{binaries_beside := #{bytes := Bytes, tables := Seen} = Beside, memory := #{total := Total}, processes := Processes} = Look) ->
    Tables = [with_growth(Table, Look) || Table <- Seen],
    AreMost = Bytes >= ?MOST_BYTES andalso 2 * Bytes >= Total,
    Grows = Bytes >= ?GROWING_BYTES
        andalso lists:any(fun(Table) -> is_map_key(bytes_a_second, Table) andalso diagnose_tables:is_fast(Table, Total) end, Tables),
    %% Much more than there is cannot be there.
    Buffers = case Beside of
                  #{buffers := #{bytes := Of} = All} when 2 * Of >= Bytes, Of =< 2 * Bytes, Tables =:= [] -> All#{bytes := min(Of, Bytes)};
                  #{} -> none
              end,
    {Where, Unsent} = unsent(Bytes, Look),
    [sign(binaries_beside,
          Unsent#{bytes => Bytes, total_bytes => Total, tables => Tables, buffers => Buffers,
                  messages => case Processes of #{messages := Messages} -> Messages; _ -> unknown end},
          [unsent_advice(Where), case Grows of true -> grows_advice(); false -> beside_advice(Buffers, Tables) end], diagnose_proof:look())
     || AreMost orelse Grows];
beside(#{}) -> [].

%% What its rows hold grows as they do.
with_growth(#{name := Name, rows := Rows, bytes := Bytes} = Table, Look) when Rows > 0, not is_map_key(count, Table) ->
    case [More || #{name := N, rows_a_second := More} <- diagnose_tables:only_growing(Look), N =:= Name] of
        [More] -> Table#{rows_a_second => More, bytes_a_second => More * Bytes div Rows};
        _ -> Table
    end;
with_growth(Table, _Look) -> Table.

grows_advice() ->
    "The table had more rows at each look, and the binaries lie beside it. Find out who should delete rows: that process may wait, have"
    " failed, or not exist. A table needs a limit by size or age (a time in each row, and a process that deletes old rows). A cache that is"
    " being filled grows until it is full, which is no fault.".

%% In sockets that hold half of these, or for a node that does not read where so much may wait for it.
unsent(Bytes, #{ports := #{waiting := Waiting} = Ports}) ->
    Sockets = [Port || #{socket := true} = Port <- Waiting],
    Connections = [Port || #{connection := true} = Port <- Waiting],
    Limit = maps:get(connection_limit, Ports, 0),
    case {2 * lists:sum([Of || #{bytes := Of} <- Sockets]) >= Bytes, 2 * length(Connections) * Limit >= Bytes} of
        {true, _} -> {sockets, #{waits => diagnose_sign:fullest(Sockets), waiting_sockets => length(Sockets)}};
        {false, true} -> {connections, #{waits => diagnose_sign:fullest(Connections), connection_limit => Limit}};
        {false, false} -> {none, #{}}
    end;
unsent(_, _) -> {none, #{}}.

unsent_advice(sockets) ->
    "Many wait in sockets whose other side does not read: set send_timeout and send_timeout_close, and close with {linger, {true, 0}} where"
    " nobody reads what is left. ";
unsent_advice(connections) ->
    "Most likely many wait for the node that does not read, in the queue of its connection, whose length the VM does not tell: find out why"
    " it does not read (stopped, too busy, a slow network), have it acknowledge what is sent, and set a smaller +zdbbl. ";
unsent_advice(none) -> "".

beside_advice(#{}, _Tables) ->
    ["They may be buffers of sockets: each one that waits for data has such a buffer. Set the option buffer to some kB"
     " where many connections are accepted or made (an accepted socket has the options of the one that listens). A large recbuf makes"
     " buffer as large, so set buffer after it. Otherwise ", elsewhere()];
beside_advice(none, Tables) ->
    [["A part of a binary keeps all of it alive. If a row needs only a part, store a copy of it (binary:copy/1 before ets:insert/2). "
      || [slices || #{slices := _} <- Tables] =/= []],
     "No process without a deep mailbox has these binaries on its heap, so no collection frees them. If a table is meant to have"
     " that many and does not grow (a cache at its full size), leave it. Otherwise check who inserts and who deletes rows: they need"
     " a bound or an age. If no table is named, ", elsewhere()].

elsewhere() ->
    "the binaries may be in queued messages, in ports (the client does not read, or announces a larger {packet, N} than it sends: the driver"
    " allocates the announced size, up to packet_size), in what waits for other nodes (+zdbbl), in persistent terms, in native code or in"
    " another place that the VM does not tell.".

%% The VM counts the messages of timers, and terms that native code keeps, with the processes. OTP 25 has been seen to answer a number of
%% bytes for timers that no machine has.
beside_processes(#{processes_beside := #{bytes := Bytes, of_processes := Sum, count := Count}} = Look)
  when Bytes >= ?MOST_BYTES, Bytes >= Sum ->
    Timers = case timer_bytes(Look) of Own when Own < ?PETABYTE -> Own div ?TIMER_BYTES; _ -> 0 end,
    [sign(processes_beside, #{bytes => Bytes, of_processes => Sum, processes => Count, timers => Timers,
                              makers => diagnose_counts:makers(Look)},
          case Timers >= ?HOLDING_TIMERS of
              true ->
                  "Most likely these are the messages of the timers: the VM keeps a copy of each message until the timer sends it, in no"
                  " process. Keep the data in the state of the process, or in ETS, and give the timer only a key. Cancel timers that"
                  " are not needed any more (erlang:cancel_timer/1). (Native code that keeps terms is counted here, too.)";
              false ->
                  "No process has it, and there are too few timers for it, unless each has a message of megabytes. Look for native code"
                  " that keeps terms (a NIF with enif_alloc_env or enif_make_copy)."
          end, diagnose_proof:look())];
beside_processes(#{}) -> [].

large_terms(#{elsewhere := #{terms := Bytes, count := Count, keys := Keys}, memory := #{total := Total}})
  when Bytes >= ?MOST_BYTES, 2 * Bytes >= Total ->
    [sign(large_persistent_terms,
          #{bytes => Bytes, count => Count, total_bytes => Total, keys => [#{shape => Shape, count => N} || {Shape, N} <- Keys]},
          "If they are meant to be that large and do not grow, leave them. Otherwise: they stay until somebody erases them"
          " (persistent_term:erase/1). Find the keys that grow: a term for each tenant, version or"
          " request belongs in ETS. Keep only one copy of equal terms.", diagnose_proof:look())];
large_terms(#{}) -> [].

large_code(#{large_code := #{code := Code, constants := Constants, modules := Modules}, memory := #{total := Total}}) ->
    [sign(large_code,
          #{code_bytes => Code, constant_bytes => Constants, total_bytes => Total,
            modules => [One#{module := text("~tp", [Module])} || #{module := Module} = One <- Modules]},
          "Modules are large by what they have as constants (tables that are generated, translations, data that is compiled in), and stay"
          " until they are deleted. Generate only what is used, keep such data in ETS (or in files), and load a module when it is needed"
          " (mode interactive). If it is meant to be that large and does not grow, leave it.", diagnose_proof:look())];
large_code(#{}) -> [].

native_memory(#{elsewhere := #{native := Bytes, nifs := Modules} = Elsewhere, memory := #{total := Total}})
  when is_integer(Bytes), Bytes >= ?MOST_BYTES, Bytes >= Total ->
    Freed = maps:get(freed, Elsewhere, []),
    [sign(native_memory, #{bytes => Bytes, total_bytes => Total, modules => [text("~tp", [Module]) || Module <- Modules],
                           freed => [#{process => diagnose_sign:process(One), bytes => Of} || #{bytes := Of} = One <- Freed]},
          case 2 * lists:sum([Of || #{bytes := Of} <- Freed]) >= Bytes of
              true -> resources_advice();
              false -> native_advice()
          end, diagnose_proof:look())];
native_memory(Look) ->
    case for_places(Look) of
        [] -> through_the_vm(Look);
        Signs -> Signs
    end.

%% Tables with a place for each process or port that there may ever be, of which next to none is used. Both numbers are known at once.
for_places(#{counts := [{_, Counts} | _], memory := #{total := Total}}) ->
    Tables = [#{what => What, count => Count, limit => Limit, bytes => ?PLACE_IN_TABLE * Limit}
              || What <- [processes, ports], #{What := {Count, Limit}} <- [Counts], ?FAR_FROM_PLACES * Count =< Limit,
                 ?PLACE_IN_TABLE * Limit >= ?MOST_BYTES],
    Bytes = lists:sum([Of || #{bytes := Of} <- Tables]),
    [sign(native_memory, #{bytes => Bytes, total_bytes => Total, modules => [], places => Tables},
          [[places_advice(What) || #{what := What} <- Tables],
           "Such a table also makes each list of what is in it slow."], diagnose_proof:look())
     || Tables =/= [], ?PART_OF_PLACES * Bytes >= Total];
for_places(#{}) -> [].

places_advice(ports) ->
    "Start the node with +Q 65536, or as many as it needs (or set ERL_MAX_PORTS). Without these the VM takes the limit of open files for"
    " the limit of ports, and in a container that may be a billion: there, lower ulimit -n (LimitNOFILE, nofile). ";
places_advice(processes) -> "Start the node with a smaller +P, for what it needs (1,048,576 is the default of new releases). ".

resources_advice() ->
    "References to resources of native functions were garbage there, and kept this memory. Such a reference is a few words, and the VM does"
    " not know what it stands for, so a process that does little is not collected for it. The inspection has collected it now. Free each"
    " resource by the library's own function when it is done, do such work in a process that ends, or have the process"
    " hibernate or call erlang:garbage_collect/0 after it.".

native_advice() ->
    "Native functions and drivers, and the libraries that they use, allocated it from the system, so it is not in processes, tables"
    " or binaries. If it is meant to be that large and does not grow, leave it. Otherwise check the sizes of their caches and"
    " buffers, and whether the program releases its binaries and resources (garbage in a process that is not collected may refer to them);"
    " a heap profiler for C (jemalloc, heaptrack) names the function."
    " MALLOC_ARENA_MAX=2 makes glibc use fewer arenas, which fragments its memory less.".

%% What the VM itself has allocated, without what other signs tell of.
through_the_vm(#{memory := #{system := System, code := Code, atom := Atoms, total := Total}, carriers := [_ | _] = Carriers} = Look) ->
    Bytes = System - Code - Atoms - terms_bytes(Look) - timer_bytes(Look),
    [sign(native_memory, #{bytes => Bytes, total_bytes => Total, modules => [], allocator => atom_to_binary(Allocator, utf8),
                           allocated_bytes => Allocated}, allocator_advice(Allocator), diagnose_proof:look())
     || Bytes >= ?MOST_BYTES, 2 * Bytes >= Total,
        {Allocated, Allocator} <- [lists:max([{Blocks, Name} || #{allocator := Name, block_bytes := Blocks} <- Carriers,
                                                                lists:member(Name, ?OF_THE_VM)] ++ [{0, driver_alloc}])],
        2 * Allocated >= Bytes];
through_the_vm(#{}) -> [].

terms_bytes(#{elsewhere := #{terms := Bytes}}) -> Bytes;
terms_bytes(#{}) -> 0.

timer_bytes(#{links := #{timer_bytes := Bytes}}) -> Bytes;
timer_bytes(#{}) -> 0.

allocator_advice(driver_alloc) ->
    "Drivers and native functions have it: streams of zlib, contexts of crypto, queues and resources of NIFs. Each deflating stream of"
    " zlib has about 270 kB. Find the processes that hold such streams or contexts for long, and close what rests (zlib:close/1); for"
    " compressed connections, use smaller windows and a lower mem_level, or no context takeover.";
allocator_advice(_) ->
    "The VM has it for its own tables and structures: the tables of processes, ports and atoms are as large as +P, +Q and +t ask for;"
    " each scheduler has some MB. Set these limits to what the node needs.".

carriers(#{carriers := Carriers}) when is_list(Carriers) ->
    [sign(carriers_underused, Allocator,
          "Blocks in use, such as small heaps of processes that wait, are spread over many carriers. The VM cannot free a carrier that"
          " contains such a block, but new blocks use its free memory. Find out what needed so many carriers at once, and make it need"
          " less. The flags +M<S>as aobf and +M<S>acul control how carriers are filled and freed: measure whether they help here.",
          diagnose_proof:look())
     || #{carrier_bytes := Carrier, block_bytes := Blocks} = Allocator <- Carriers,
        Carrier >= ?CARRIER_BYTES, 2 * Blocks < Carrier];
carriers(_) -> [].

%% The kernel fills each page with zeros at its first use, and heaps that share carriers use pages again. A node that uses several
%% cores may have as many faults in each, and one that has a part of a core has a part of them.
mapped(#{mapped := #{faults := Faults, segments := Segments, own_carrier := Threshold, ms := Ms}} = Look) ->
    [sign(mapped_heaps, #{faults_a_second => 1000 * Faults div Ms, segments_a_second => 1000 * Segments div Ms, own_carrier => Threshold},
          "Heaps of that size come and go with collections, and the kernel maps each, zeroes its pages and unmaps it. Start the node with"
          " +MHsbct 8192 +MHmmbcs 16384: heaps of up to 8 MB then share carriers, and up to 16 MB of these for each scheduler stay"
          " mapped. Compare its processor time and its resident memory with and without these flags.", diagnose_proof:look())
     || 1000 * Faults >= ?FAULTS_A_SECOND * Ms * max(1.0, cores_used(Look)), 1000 * Segments >= ?SEGMENTS_A_SECOND * Ms,
        Threshold < ?SHARED_CARRIERS];
mapped(#{}) -> [].

cores_used(#{collections := #{cores := Cores}}) -> Cores;
cores_used(#{}) -> 1.0.
