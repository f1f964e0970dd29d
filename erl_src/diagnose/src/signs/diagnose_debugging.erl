%% @doc From what somebody who looked for a fault has left behind to signs: options of sys for debugging, code that counts its lines,
%% processes that are suspended. Pure.
-module(diagnose_debugging).

-export([of_process/2, of_node/1, is_debugged/1, is_covered/2, is_interpreted/1, suspended_by/2]).

-import(diagnose_sign, [sign/4, text/2]).
-import(diagnose_samples, [looks/1, working/1, looks_through/2]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of a process that passes each event to an option of sys, or that asks for the state of others.
-spec of_process(diagnose_types:suspect(), diagnose_types:look()) -> [diagnose_types:sign()].
of_process(Suspect, Look) -> passes_events(Suspect) ++ asks_for_states(Suspect) ++ gives_its_state(Suspect, Look).

%% The answer is a copy of all that the server has, so a large one is seen by the heap.
asks_for_states(#{samples := Samples, heap_bytes := Heap, states_of := States, idle := Idle})
  when is_integer(Heap), Heap >= ?WORTH_BYTES ->
    Times = looks(asking(Samples)),
    [sign(states_asked_for,
          #{times => Times, looks => looks(Samples), heap_bytes => Heap, servers => [diagnose_sign:process(One) || One <- States],
            request => request(Samples), in => asks_in(Samples)},
          states_advice(), diagnose_proof:look())
     %% One call that waits for its answer is not told of.
     || is_often(Times, Samples), not Idle orelse lists:any(fun(#{calls := Calls}) -> Calls > 1 end, States)];
asks_for_states(#{}) -> [].

%% Who asks may not be among those that were looked at.
gives_its_state(#{samples := Samples, heap_bytes := Heap}, #{suspects := Suspects}) when is_integer(Heap), Heap >= ?WORTH_BYTES ->
    Times = looks([Sample || {_, Stack, _} = Sample <- Samples, is_answered(Stack)]),
    [sign(states_asked_for, #{times => Times, looks => looks(Samples), heap_bytes => Heap}, states_advice(), diagnose_proof:look())
     || is_often(Times, Samples), lists:all(fun(Suspect) -> asks_for_states(Suspect) =:= [] end, Suspects)];
gives_its_state(#{}, _Look) -> [].

is_often(Times, Samples) -> looks(Samples) >= ?BUSY_LOOKS andalso Times >= ?DEBUGGED * looks(Samples).

asking(Samples) -> [Sample || {_, Stack, _} = Sample <- Samples, lists:member({sys, send_system_msg, 3}, Stack)].

is_answered(Stack) ->
    lists:any(fun({Module, Function, _}) -> Module =:= sys andalso Function =:= handle_system_msg end, Stack)
        andalso not lists:any(fun is_of_suspension/1, Stack).

is_of_suspension({Module, Function, _}) -> Module =:= sys andalso (Function =:= suspend_loop orelse Function =:= suspend_loop_hib).

%% sys:get_status/1 leaves no frame of its own.
request(Samples) ->
    case lists:any(fun({_, Stack, _}) -> lists:member({sys, get_state, 1}, Stack) orelse lists:member({sys, get_state, 2}, Stack) end,
                   Samples) of
        true -> get_state;
        false -> another
    end.

asks_in(Samples) ->
    Own = [{Status, [Frame || {Module, _, _} = Frame <- Stack, Module =/= sys, Module =/= gen], Times}
           || {Status, Stack, Times} <- asking(Samples)],
    diagnose_samples:most_seen(Own).

states_advice() ->
    "sys:get_state/1 and sys:get_status/1 are for debugging: the server copies its whole state for each answer, and takes no other"
    " message meanwhile. Add a call of its own that answers with the part that is needed, such as a size. Or have the server publish it"
    " (counters, a row of an ETS table).".

passes_events(#{samples := Samples}) ->
    {Prints, In} = option(Samples),
    [sign(debugging_left_on,
          #{left => sys, prints => Prints, in => In, times => looks(debugged(Samples)), looks => looks(Samples)},
          "Somebody has set an option of sys for debugging (sys:trace/2, sys:log/2, sys:log_to_file/2, sys:install/2, or the option debug"
          " of its start). So the process passes each message and each answer to it, and takes no other message meanwhile."
          " sys:no_debug/1 removes all such options.", diagnose_proof:look())
     || is_debugged(Samples)].

%% @doc Whether it is seen in such an option.
-spec is_debugged([diagnose_types:sample()]) -> boolean().
is_debugged(Samples) -> looks(Samples) >= ?BUSY_LOOKS andalso looks(debugged(Samples)) >= ?DEBUGGED * looks(Samples).

debugged(Samples) -> [Sample || {_, Stack, _} = Sample <- Samples, lists:any(fun is_of_option/1, Stack)].

is_of_option({Module, Function, _}) -> Module =:= sys andalso Function =:= handle_debug.

%% Whether the option prints, and else the function that it calls: sys:install/2 is given one.
option(Samples) ->
    Called = [{Status, Above, Times} || {Status, Stack, Times} <- debugged(Samples),
                                        [_ | _] = Above <- [lists:sublist(lists:reverse(called(Stack)), 1)]],
    case diagnose_samples:most_in(Called) of
        none -> {false, unknown};
        {{Module, _, _}, _} when Module =:= io; Module =:= io_lib -> {true, unknown};
        {Function, _} -> {false, diagnose_wording:label(Function)}
    end.

called(Stack) -> [Frame || {Module, _, _} = Frame <- lists:takewhile(fun(Frame) -> not is_of_option(Frame) end, Stack), Module =/= sys].

%% @doc The sign of code that counts the lines that it executes, where processes that work are in it.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(#{debugged := #{covered := [_ | _] = Modules}} = Look) ->
    #{times := Times, looks := Looks, reductions := Reductions} = Seen =
        diagnose_work:working_in(fun(Module) -> lists:member(Module, Modules) end, Look),
    [sign(debugging_left_on,
          (maps:with([times, looks, processes], Seen))#{left => cover, count => length(Modules),
                                                        modules => [text("~tp", [Module]) || Module <- most_seen(Modules, Look)]},
          "The tool cover compiled them so that they count each line that they execute, which is many times slower."
          " cover:stop/0 loads the modules again as they were; so does code:load_file/1 for one module. Do not run a build for a test of"
          " coverage in production.", diagnose_proof:look())
     || Looks >= ?BUSY_LOOKS, Times >= ?COVERED * Looks, diagnose_work:is_much(Reductions, Look)];
of_node(#{}) -> [].

%% Those that processes are in most often.
most_seen(Modules, #{suspects := Suspects}) ->
    Samples = [Sample || #{samples := All} <- Suspects, Sample <- working(All)],
    Seen = [{looks_through(Samples, fun(M) -> M =:= Module end), Module} || Module <- Modules],
    [Module || {Times, Module} <- lists:sublist(lists:reverse(lists:sort(Seen)), 3), Times > 0].

%% @doc Whether a process works mostly in such code.
-spec is_covered(diagnose_types:suspect(), diagnose_types:look()) -> boolean().
is_covered(#{samples := Samples}, #{debugged := #{covered := [_ | _] = Modules}}) ->
    Works = working(Samples),
    Works =/= [] andalso looks_through(Works, fun(Module) -> lists:member(Module, Modules) end) >= ?COVERED * looks(Works);
is_covered(_, _) -> false.

%% @doc Whether a process mostly waits while the debugger interprets its code.
-spec is_interpreted([diagnose_types:sample()]) -> boolean().
is_interpreted([]) -> false;
is_interpreted(Samples) -> 2 * looks_through(Samples, fun(Module) -> Module =:= dbg_debugged end) >= looks(Samples).

%% @doc Who has suspended a process.
-spec suspended_by(diagnose_types:suspect(), diagnose_types:look()) -> [diagnose_types:suspender()].
suspended_by(#{pid := Pid}, #{suspenders := Suspenders}) -> [One || #{'of' := Of} = One <- Suspenders, lists:member(Pid, Of)].
