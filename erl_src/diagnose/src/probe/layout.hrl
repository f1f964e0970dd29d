%%% Where the cells of lists lie, what a walk over them costs there, and what it costs a receive to go by a message.

-define(MEASURED, 5).
-define(STATE_MS, 1000).
%% Of the heap in which the cost of a walk is measured.
-define(WALKED_WORDS, 500_000).
-define(SCANNED, 20_000).
-define(TIMES, 5).

%% @doc Where the list cells of the largest states lie, measured by cons_spacing inside processes that understand
%% system messages and have nothing else to do.
-spec layouts([{pid(), diagnose_types:suspect()}]) ->
          {[{binary(), diagnose_types:layout()}] | unknown, HelperBytes :: non_neg_integer()}.
layouts(Suspects) ->
    Calm = [{Used, Pid, Text} || {Pid, #{used_bytes := Used, pid := Text, depth := 0, idle := true, label := Call}}
                                     <- Suspects, understands_system_messages(Call)],
    case erlang:module_loaded(cons_spacing_nif) of
        true ->
            Measured = [Layout || {_, Pid, Text} <- lists:sublist(lists:reverse(lists:sort(Calm)), ?MEASURED),
                                  Layout <- layout(Pid, Text)],
            {[{Text, Layout} || {Text, Layout, _} <- Measured], lists:max([0 | [Bytes || {_, _, Bytes} <- Measured]])};
        false -> {unknown, 0}
    end.

understands_system_messages({Module, init, 1}) ->
    Attributes = try Module:module_info(attributes) catch error:undef -> [] end,
    Behaviours = lists:append([Names || {Name, Names} <- Attributes, Name =:= behaviour orelse Name =:= behavior]),
    lists:member(gen_server, Behaviours) orelse lists:member(gen_statem, Behaviours);
understands_system_messages(_) -> false.

layout(Pid, Text) ->
    try apply(cons_spacing, of_state, [Pid, ?STATE_MS]) of
        #{histogram := Histogram} = State ->
            {Costs, Bytes} = walk_costs(distance(Histogram)),
            [{Text, maps:merge(maps:with([cells, mean, cache_lines], State), Costs), Bytes}]
    catch _:_ -> []
    end.

%% At least half of the cells lie so many bytes from the next one, or more. (The mean hangs on few that lie far off.)
distance(Histogram) -> distance(Histogram, lists:sum([Links || {_, Links} <- Histogram]) / 2).

distance([], _) -> undefined;
distance([{Low, Links} | _], Half) when Links >= Half -> Low;
distance([{_, Links} | Farther], Half) -> distance(Farther, Half - Links).

%% What length/1 takes for a cell on this machine, nanoseconds, where cells lie so many bytes apart, and where they are dense.
%% The lists fit into 4 MB, so that it is the least that it takes: a longer one is farther from the caches.
walk_costs(undefined) -> {#{walk_ns => unknown, dense_ns => unknown}, 0};
walk_costs(Bytes) ->
    case measured(fun() -> walks(Bytes) end, [{min_heap_size, ?WALKED_WORDS}]) of
        {{Spread, Dense}, Memory} -> {#{walk_ns => Spread, dense_ns => Dense}, Memory};
        silent -> walk_costs(undefined)
    end.

walks(Bytes) ->
    {Spread, Dense} = two_layouts(Bytes),
    {cell_ns(Spread), cell_ns(Dense)}.

%% @doc A list whose cells lie so many bytes apart, from 32 to 400, and a dense one of the same values.
%% Nothing is collected meanwhile, so that everything stays in the order in which it is made.
-spec two_layouts(Bytes :: pos_integer()) -> {Spread :: [tuple()], Dense :: [tuple()]}.
two_layouts(Bytes) ->
    Words = max(4, min(50, Bytes div erlang:system_info(wordsize))),
    Spread = made(?WALKED_WORDS div (Words + 4), Words - 3, []),
    {Spread, [Value || Value <- Spread]}.

%% A tuple has a word of its own and a cell two.
made(0, _, List) -> List;
made(Left, Size, List) -> made(Left - 1, Size, [erlang:make_tuple(Size, Left) | List]).

cell_ns(List) -> least_ns(fun() -> length(List) end) / length(List).

%% @doc What a receive takes on this machine to go by a message that waits, in nanoseconds, for mailboxes of these
%% kinds: measured with 20,000 small messages, so that it is the least that it takes.
-spec scan_costs([on_heap | off_heap]) -> {#{on_heap | off_heap => float()}, HelperBytes :: non_neg_integer()}.
scan_costs(Queues) ->
    Costs = [{Queue, Ns, Bytes} || Queue <- Queues, {Ns, Bytes} <- [measured(fun scan/0, [{message_queue_data, Queue}])]],
    {maps:from_list([{Queue, Ns} || {Queue, Ns, _} <- Costs]), lists:max([0 | [Bytes || {_, _, Bytes} <- Costs]])}.

scan() ->
    ok = fill(?SCANNED),
    least_ns(fun() -> receive comes_never -> ok after 0 -> ok end end) / ?SCANNED.

fill(0) -> ok;
fill(Left) ->
    self() ! waits,
    fill(Left - 1).

%% What a helper measures, and the memory that it had; `silent' where it does not end within its limits.
-dialyzer({nowarn_function, measured/2}). % what it saw is its exit
measured(Measure, Options) ->
    answered(helper(fun() -> exit({answer, {Measure(), memory(self())}}) end, Options), now_ms() + ?HELPER_MS).

%% A collection in between would count too: the least of some times is free of it.
least_ns(Work) ->
    erlang:convert_time_unit(lists:min([native(Work) || _ <- lists:seq(1, ?TIMES)]), native, nanosecond).

native(Work) ->
    Started = erlang:monotonic_time(),
    _ = Work(),
    erlang:monotonic_time() - Started.
