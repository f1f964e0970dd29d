%% @doc Counts of several runs, one row per function, for one VM or for two side by side. If all runs of a VM agree, a
%% count is exact. Otherwise it is their median, and the row says by how much the runs vary.
-module(ertslab_cachegrind_counts).

-export([rows/1, whole/1, columns/2, is_exact/1]).
-export_type([run/0, row/0]).

-type run() :: {ertslab_cachegrind_out:functions(), Whole :: ertslab_cachegrind_events:counts()}.
%% For each VM its counts; `spread' is the largest difference between runs of one VM.
-type row() :: #{function := binary(), counts := [ertslab_cachegrind_events:counts(), ...],
                 spread := ertslab_cachegrind_events:counts()}.

%% A difference below this share of the whole program does not move a function to the front.
-define(SMALL, 1.0e-4).

%% @doc A row for each function, from the runs of each VM. Functions that differ between the VMs by more than between
%% runs of one VM come first, the others follow by size.
-spec rows([[run(), ...], ...]) -> [row()].
rows(RunsOfVMs) ->
    Names = lists:usort([Name || Runs <- RunsOfVMs, {Functions, _} <- Runs,
                                 Name <- maps:keys(Functions)]),
    Nothing = ertslab_cachegrind_events:of_valgrind([]),
    Rows = [row(Name, [[maps:get(Name, Functions, Nothing) || {Functions, _} <- Runs]
                       || Runs <- RunsOfVMs])
            || Name <- Names],
    #{counts := [#{instructions := Size} | _]} = whole(RunsOfVMs),
    [Row || {_, Row} <- lists:sort([{rank(Row, Size * ?SMALL), Row} || Row <- Rows])].

%% @doc The row of the whole program.
-spec whole([[run(), ...], ...]) -> row().
whole(RunsOfVMs) -> row(<<"(all)">>, [[Whole || {_, Whole} <- Runs] || Runs <- RunsOfVMs]).

row(Name, CountsOfVMs) ->
    #{function => Name,
      counts => [ertslab_cachegrind_events:combined(fun median/1, Runs) || Runs <- CountsOfVMs],
      spread => ertslab_cachegrind_events:combined(fun lists:max/1,
                                        [ertslab_cachegrind_events:combined(fun spread/1, Runs) || Runs <- CountsOfVMs])}.

median(Values) -> lists:nth((length(Values) + 1) div 2, lists:sort(Values)).

spread(Values) -> lists:max(Values) - lists:min(Values).

rank(#{counts := [#{instructions := Size} | _] = Counts, spread := Spread}, Small) ->
    Differences = ertslab_cachegrind_events:combined(fun spread/1, Counts),
    case lists:sum([max(0, D - maps:get(Event, Spread)) || {Event, D} <- maps:to_list(Differences)]) of
        Beyond when Beyond > Small -> {-Beyond, -Size};
        _ -> {0, -Size}
    end.

%% @doc The rows as lines of cells, with a heading that has the names of the VMs.
-spec columns([binary()], [row()]) -> [[unicode:chardata()]].
columns(VMs, Rows) ->
    Heading = [[ertslab_cachegrind_events:heading(Event), ", ", VM] || Event <- ertslab_cachegrind_events:names(), VM <- VMs],
    [[<<"function">> | Heading] ++ [<<"runs">>] | [cells(Row) || Row <- Rows]].

cells(#{function := Name, counts := Counts, spread := Spread}) ->
    [Name | [count(maps:get(Event, C), maps:get(Event, Spread)) || Event <- ertslab_cachegrind_events:names(), C <- Counts]]
        ++ [agreement(Spread)].

count(Count, 0) -> integer_to_binary(Count);
count(Count, _Spread) -> ["~", integer_to_binary(Count)].

%% If the instructions agree but other counts vary, the one that varies most is named.
agreement(#{instructions := 0} = Spread) ->
    case lists:max([{N, Event} || {Event, N} <- maps:to_list(Spread)]) of
        {0, _} -> <<"equal">>;
        {N, Event} -> io_lib:format("~ts vary by ~b", [ertslab_cachegrind_events:heading(Event), N])
    end;
agreement(#{instructions := N}) -> io_lib:format("vary by ~b", [N]).

%% @doc Whether the counts of all runs agree.
-spec is_exact(row()) -> boolean().
is_exact(#{spread := Spread}) -> lists:all(fun(N) -> N =:= 0 end, maps:values(Spread)).
