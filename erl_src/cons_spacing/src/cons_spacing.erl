%% @doc Where the cells of a list lie in memory.
%%
%% A list cell is 16 bytes. In a list that was built in one go each cell lies
%% next to the one before it, and a walk reads memory in order. A full garbage
%% collection copies cell, value, cell, value: after it, and so after
%% hibernation, each cell lies as far from the next as a value is large, and
%% every walk pays for it. Nothing else in the VM shows this.
%%
%% Distances are signed and in bytes, from the address of a cell to that of the
%% next. Measuring walks the list in slices of less than a millisecond and makes
%% a few words of garbage. A collection that another process asks for in the
%% middle of it starts the walk anew.
-module(cons_spacing).

-export([measure/1, measure_term/1, of_state/1, of_state/2, compact/1, format_error/2]).
-export_type([spacing/0, term_spacing/0]).

%% mean, deviation, min, max: bytes; `undefined' where no two cells are linked.
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

%% tail: how the list ends, in `[]', in another term, or (whichever of them) with
%% a cell that is a literal of a module.
-type spacing() :: #{?DISTANCES, tail := proper | improper | literal}.
%% lists: spines, each counted up to the cell that an earlier one had too.
%% words: of the cells, tuples and maps that were seen.
-type term_spacing() :: #{?DISTANCES, lists := non_neg_integer(), words := non_neg_integer()}.

-define(STATE_TIMEOUT_MS, 5_000).

%% @doc Measures one list. Fails with `badarg' where it is none. An improper
%% list is measured up to its last cell.
-spec measure(maybe_improper_list()) -> spacing().
measure(List) when is_list(List) ->
    {_, _, _, _, _, _, End, LastCell} = Walked = cons_spacing_nif:walk(List, false),
    (distances(Walked))#{tail => tail(End, LastCell)};
measure(NoList) ->
    erlang:error(badarg, [NoList], [{error_info, #{cause => not_a_list}}]).

%% @doc Measures every list inside a term, in tuples, maps and other lists. What
%% is shared counts once. What is kept in funs is not seen.
-spec measure_term(term()) -> term_spacing().
measure_term(Term) ->
    {_, Lists, Words, _, _, _, _, _} = Walked = cons_spacing_nif:walk(Term, true),
    (distances(Walked))#{lists => Lists, words => Words}.

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

%% A message to another process is a copy, but literals in it are not copied.
tail(End, []) -> End;
tail(End, LastCell) ->
    Echo = spawn_link(fun() -> receive {Client, Cell} -> Client ! {self(), Cell} end end),
    Echo ! {self(), LastCell},
    receive
        {Echo, Back} ->
            case erts_debug:same(Back, LastCell) of
                true -> literal;
                false -> End
            end
    end.

%% @equiv of_state(Process, 5000)
-spec of_state(pid() | atom()) -> term_spacing().
of_state(Process) -> of_state(Process, ?STATE_TIMEOUT_MS).

%% @doc Measures the state of a process that understands system messages
%% (gen_server, gen_statem and what is built with sys), inside that process:
%% a copy would have another layout. The process is busy with it for about
%% 10 ns a cell. Its state is not touched. Exits like `sys:get_state/2' when the
%% process is not there or does not answer within so many milliseconds; fails
%% with `badarg' for what is not a local process and for a gen_event, which
%% keeps the states of its handlers apart.
-spec of_state(pid() | atom(), timeout()) -> term_spacing().
-dialyzer({nowarn_function, of_state/2}). % the fun that measures always throws
of_state(Name, Timeout) when is_atom(Name), Name =/= undefined ->
    of_state(whereis(Name), Timeout);
of_state(Pid, Timeout) when is_pid(Pid), node(Pid) =:= node() ->
    Tag = make_ref(),
    %% A fun that fails leaves the state as it is, and saves its copy in the answer.
    Measure = fun(State) -> throw({Tag, measure_term(State)}) end,
    try sys:replace_state(Pid, Measure, Timeout) of
        _ -> erlang:error(badarg, [Pid, Timeout], [{error_info, #{cause => no_state}}])
    catch
        error:{callback_failed, _, {throw, {Tag, Measured}}} -> Measured
    end;
of_state(Other, Timeout) ->
    erlang:error(badarg, [Other, Timeout], [{error_info, #{cause => not_a_local_process}}]).

%% @doc The same list with its cells side by side, on any VM. It costs two full
%% collections of the calling process, and memory for the list three times over.
%%
%% Measured on OTP 27 and 29: minor collections keep the new spine dense, since
%% the values are older than it is and stay where they are; the first full
%% sweep, and so hibernation, spreads it again. It pays for a list that is
%% walked often between full sweeps.
-spec compact([Element]) -> [Element].
compact(List) when length(List) > 1 ->
    {total_heap_size, Heap} = process_info(self(), total_heap_size),
    %% Two reversals, of two words a cell each, must not run into a collection.
    Before = process_flag(min_heap_size, Heap + 4 * length(List)),
    true = garbage_collect(),
    _ = process_flag(min_heap_size, Before),
    lists:reverse(lists:reverse(List));
compact(Short) when is_list(Short), length(Short) >= 0 -> Short;
compact(Other) ->
    erlang:error(badarg, [Other], [{error_info, #{cause => not_a_proper_list}}]).

%% @doc The causes of a `badarg', for the shell and for `erl_error'.
-spec format_error(term(), [{_, _, _, _}, ...]) -> #{pos_integer() => string()}.
format_error(_Reason, [{_, _, _, Info} | _]) ->
    #{cause := Cause} = proplists:get_value(error_info, Info, #{}),
    #{1 => text(Cause)}.

text(not_a_list) -> "not a list";
text(not_a_proper_list) -> "not a proper list";
text(not_a_local_process) -> "not a process of this node";
text(no_state) -> "a process without one state of its own".
