%% @doc Where the cells of a list lie in memory.
%%
%% A list cell is 16 bytes. In a list that was built in one go, each cell lies next to the one
%% before it, and a walk reads memory in order. A full garbage collection copies cell, value, cell,
%% value. So after a full collection, and after hibernation, the cells are as far apart as the
%% values are large, and every walk is slower. Nothing else in the VM shows this.
%%
%% Distances are signed and in bytes, from the address of a cell to that of the next. Measuring
%% walks the list in slices of less than a millisecond and makes a few words of garbage. If another
%% process collects the measuring process, the walk restarts. If that goes on for two seconds, it
%% fails with `moved'. If the NIF cannot be loaded, it fails with `no_nif'.
%% A process that others collect without a pause does not run at all, and so
%% does not measure.
-module(cons_spacing).

-export([measure/1, measure_term/1, of_state/1, of_state/2, compact/1, format_error/2]).
-export_type([spacing/0, term_spacing/0]).

%% mean, deviation, min, max: bytes; `undefined' if no two cells are linked.
%% forward, backward, adjacent (just one cell away): shares of all links, 0 to 1.
%% histogram: {Low, Links} for each power of two, Low =< |distance| < 2 * Low.
%% cache_lines (of 64 bytes), pages (of 4 KiB): touched, per thousand cells.
-define(DISTANCES,
        cells := non_neg_integer(),
        mean := float() | undefined,
        deviation := float() | undefined,
        min := integer() | undefined,
        max := integer() | undefined,
        forward := float(),
        backward := float(),
        adjacent := float(),
        histogram := [{pos_integer(), pos_integer()}],
        cache_lines := float(),
        pages := float()).

%% tail: how the list ends. proper: in `[]'. improper: in another term. literal: in either way, and
%% the last cell is a literal of a module. A literal cell with a large element is not recognised.
-type spacing() :: #{?DISTANCES, tail := proper | improper | literal}.
%% lists: number of lists. A list that shares its tail with an earlier list counts up to the first
%% shared cell. words: size of the cells, tuples and maps that were seen.
-type term_spacing() :: #{?DISTANCES, lists := non_neg_integer(), words := non_neg_integer()}.

-define(STATE_TIMEOUT_MS, 5_000).
-define(MAX_MS, 16#FFFFFFFF).
-define(IS_TIMEOUT(T), (T =:= infinity orelse is_integer(T) andalso T >= 0 andalso T =< ?MAX_MS)).
%% The largest last cell that is sent in a message, in words, roughly measured.
-define(CARRIED_WORDS, 1_000).
-define(CARRIED_INTEGER, (1 bsl 640)).

%% @doc Measures one list. Fails with `badarg' if the argument is no list. An improper list is
%% measured up to its last cell.
-spec measure(maybe_improper_list()) -> spacing().
measure(List) when is_list(List) ->
    {_, _, _, _, _, _, End, LastCell} = Walked = walk(List, false),
    (distances(Walked))#{tail => tail(End, LastCell)};
measure(NoList) ->
    erlang:error(badarg, [NoList], [{error_info, #{cause => not_a_list}}]).

%% @doc Measures every list inside a term, in tuples, maps and other lists. Shared cells count once.
%% Lists kept in funs are not measured.
-spec measure_term(term()) -> term_spacing().
measure_term(Term) ->
    {_, Lists, Words, _, _, _, _, _} = Walked = walk(Term, true),
    (distances(Walked))#{lists => Lists, words => Words}.

walk(Term, Deep) ->
    try cons_spacing_nif:walk(Term, Deep)
    catch
        error:moved -> erlang:error(moved, [Term], [{error_info, #{cause => moved}}]);
        error:undef -> erlang:error(no_nif, [Term], [{error_info, #{cause => no_nif}}]) % its module loads with it alone
    end.

distances({Cells, _, _, CacheLines, Pages, Distances, _, _}) ->
    {Links, Mean, Deviation, Min, Max, Forward, Backward, Adjacent, Histogram} = Distances,
    #{cells => Cells,
      mean => of_links(Links, Mean),
      deviation => of_links(Links, Deviation),
      min => of_links(Links, Min),
      max => of_links(Links, Max),
      forward => share(Forward, Links),
      backward => share(Backward, Links),
      adjacent => share(Adjacent, Links),
      histogram => Histogram,
      cache_lines => 1000 * share(CacheLines, Cells),
      pages => 1000 * share(Pages, Cells)}.

of_links(0, _) -> undefined;
of_links(_, Value) -> Value.

share(_, 0) -> 0.0;
share(Part, Whole) -> Part / Whole.

%% A message from another process is a copy, but literals in it are not copied. A large cell is not
%% sent, because copying it would block the scheduler.
tail(End, []) -> End;
tail(End, LastCell) ->
    case words_left(LastCell, ?CARRIED_WORDS) >= 0 of
        true -> carried(End, LastCell);
        false -> End
    end.

%% Below zero if the term is larger than that. Funs and unknown terms count as large.
words_left(_, Left) when Left < 0 -> Left;
words_left([Head | Tail], Left) -> words_left(Tail, words_left(Head, Left - 2));
words_left(Tuple, Left) when is_tuple(Tuple), tuple_size(Tuple) =< Left -> words_left(tuple_to_list(Tuple), Left);
words_left(Map, Left) when is_map(Map), map_size(Map) =< Left -> words_left(maps:to_list(Map), Left);
words_left(Integer, Left) when is_integer(Integer), Integer < ?CARRIED_INTEGER, Integer > -?CARRIED_INTEGER -> Left - 10;
words_left(Other, Left) when is_atom(Other); is_bitstring(Other) -> Left - 10;
words_left(Other, Left) when is_float(Other); is_pid(Other); is_reference(Other); is_port(Other); Other =:= [] -> Left - 5;
words_left(_, _) -> -1.

%% The process is monitored and not linked, because a caller that traps exits would get its exit.
carried(End, LastCell) ->
    Client = self(),
    {Echo, Monitor} = spawn_monitor(fun() -> Client ! {self(), LastCell} end),
    receive
        {Echo, Back} ->
            true = demonitor(Monitor, [flush]),
            case erts_debug:same(Back, LastCell) of
                true -> literal;
                false -> End
            end;
        {'DOWN', Monitor, process, Echo, _} -> End
    end.

%% @equiv of_state(Process, 5000)
-spec of_state(pid() | atom()) -> term_spacing().
of_state(Process) -> of_state(Process, ?STATE_TIMEOUT_MS).

%% @doc Measures the state of a process that understands system messages (gen_server, gen_statem and
%% other processes built with sys). It measures inside that process, because a copy would have
%% another layout. The process is busy for about 10 ns for each cell. Its state does not change.
%% Exits like `sys:get_state/2' if the process has ended or does not answer within Timeout
%% milliseconds.
%% Fails with `badarg' if the argument is not a local process or a registered name, or is a gen_event, which keeps the
%% states of its handlers apart, and with `moved' as measure/1 does.
-spec of_state(pid() | atom(), timeout()) -> term_spacing().
-dialyzer({nowarn_function, of_state/2}). % the fun that measures always throws
of_state(Process, Timeout) when not ?IS_TIMEOUT(Timeout) ->
    erlang:error(badarg, [Process, Timeout], [{error_info, #{cause => not_a_timeout}}]);
of_state(Name, Timeout) when is_atom(Name), Name =/= undefined ->
    of_state(whereis(Name), Timeout);
of_state(Pid, Timeout) when is_pid(Pid), node(Pid) =:= node() ->
    Tag = make_ref(),
    %% A fun that fails leaves the state unchanged, and its failure saves copying the state into the
    %% answer.
    Measure = fun(State) -> throw({Tag, measured(State)}) end,
    try sys:replace_state(Pid, Measure, Timeout) of
        _ -> erlang:error(badarg, [Pid, Timeout], [{error_info, #{cause => no_state}}])
    catch
        error:{callback_failed, _, {throw, {Tag, {ok, Measured}}}} -> Measured;
        error:{callback_failed, _, {throw, {Tag, {failed, Reason}}}} ->
            erlang:error(Reason, [Pid, Timeout], [{error_info, #{cause => Reason}}])
    end;
of_state(Other, Timeout) ->
    erlang:error(badarg, [Other, Timeout], [{error_info, #{cause => not_a_local_process}}]).

measured(State) ->
    try {ok, measure_term(State)}
    catch error:Reason -> {failed, Reason}
    end.

%% @doc The same list with its cells side by side, on any VM. It costs two full collections of the
%% calling process, and memory for three times the list.
%%
%% Measured on OTP 27 and 29: minor collections keep the new cells dense, because the values are
%% older than the cells and stay where they are. The first full collection, and so hibernation,
%% spreads the cells again. Compacting pays for a list that is walked often between full
%% collections.
-spec compact([Element]) -> [Element].
compact(List) when length(List) > 1 ->
    {total_heap_size, Heap} = process_info(self(), total_heap_size),
    %% No collection may happen during the two reversals, which need two words for each cell each.
    Before = process_flag(min_heap_size, Heap + 4 * length(List)),
    true = garbage_collect(),
    _ = process_flag(min_heap_size, Before),
    lists:reverse(lists:reverse(List));
compact(Short) when is_list(Short), length(Short) >= 0 -> Short;
compact(Other) ->
    erlang:error(badarg, [Other], [{error_info, #{cause => not_a_proper_list}}]).

%% @doc The causes of what measuring fails with, for the shell and for `erl_error'.
-spec format_error(term(), [{_, _, _, _}, ...]) -> #{pos_integer() | general => string()}.
format_error(_Reason, [{_, _, _, Info} | _]) ->
    #{cause := Cause} = proplists:get_value(error_info, Info, #{}),
    #{position(Cause) => text(Cause)}.

position(no_nif) -> general;
position(Cause) when Cause =:= not_a_timeout; Cause =:= not_words -> 2;
position(_) -> 1.

text(no_nif) -> "the NIF of cons_spacing is not built or does not load; the log has the reason";
text(not_a_fun) -> "not a function without arguments";
text(not_words) -> "not a number of words that a heap may have";
text(not_a_list) -> "not a list";
text(not_a_proper_list) -> "not a proper list";
text(not_a_local_process) -> "not a process of this node";
text(moved) -> "collected by other processes too often to be measured";
text(enomem) -> "too large to be walked with the available memory";
text(not_a_timeout) -> "not a time in milliseconds";
text(no_state) -> "a process without one state of its own".
