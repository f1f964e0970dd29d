%% @doc Exact counts of several runs, a row a function, one VM or two side by
%% side. A count is exact where all runs of a VM agree; else it is their median,
%% and the row says by how much they vary.
-module(ertslab_counts).

-export([rows/1, whole/1, columns/2]).
-export_type([run/0, row/0]).

-type run() :: {ertslab_cachegrind_out:functions(), Whole :: ertslab_cachegrind_out:counts()}.
%% For each VM the counts, and how far apart the runs are.
-type row() :: #{function := binary(), counts := [ertslab_cachegrind_out:counts(), ...],
                 spread := ertslab_cachegrind_out:counts()}.

%% A difference of less than this share of the whole is not shown before what is large.
-define(SMALL, 1.0e-4).

%% @doc A row for each function, given the runs of each VM. What differs between
%% the VMs by more than the runs of one comes first, then what is large.
-spec rows([[run(), ...], ...]) -> [row()].
rows(RunsOfVMs) ->
    Names = lists:usort([Name || Runs <- RunsOfVMs, {Functions, _} <- Runs,
                                 Name <- maps:keys(Functions)]),
    Rows = [row(Name, [[maps:get(Name, Functions, {0, 0, 0}) || {Functions, _} <- Runs]
                       || Runs <- RunsOfVMs])
            || Name <- Names],
    #{counts := [{Size, _, _} | _]} = whole(RunsOfVMs),
    [Row || {_, Row} <- lists:sort([{rank(Row, Size * ?SMALL), Row} || Row <- Rows])].

%% @doc The row of the whole program.
-spec whole([[run(), ...], ...]) -> row().
whole(RunsOfVMs) -> row(~"(all)", [[Whole || {_, Whole} <- Runs] || Runs <- RunsOfVMs]).

row(Name, CountsOfVMs) ->
    #{function => Name,
      counts => [by_event(fun median/1, Runs) || Runs <- CountsOfVMs],
      spread => by_event(fun lists:max/1, [by_event(fun spread/1, Runs) || Runs <- CountsOfVMs])}.

by_event(Fun, Counts) ->
    {Instructions, D1, LL} = lists:unzip3(Counts),
    {Fun(Instructions), Fun(D1), Fun(LL)}.

median(Values) -> lists:nth((length(Values) + 1) div 2, lists:sort(Values)).

spread(Values) -> lists:max(Values) - lists:min(Values).

rank(#{counts := [{Size, _, _} | _] = Counts, spread := Spread}, Small) ->
    Differences = tuple_to_list(by_event(fun spread/1, Counts)),
    case lists:sum([max(0, D - S) || {D, S} <- lists:zip(Differences, tuple_to_list(Spread))]) of
        Beyond when Beyond > Small -> {-Beyond, -Size};
        _ -> {0, -Size}
    end.

%% @doc The rows as lines of cells, with a heading, for VMs of these names.
-spec columns([binary()], [row()]) -> [[unicode:chardata()]].
columns(VMs, Rows) ->
    Heading = [[What, VM] || What <- ["instructions, ", "D1 misses, ", "LL misses, "], VM <- VMs],
    [[~"function" | Heading] ++ [~"runs"] | [cells(Row) || Row <- Rows]].

cells(#{function := Name, counts := Counts, spread := Spread}) ->
    [Name | [count(element(Event, C), element(Event, Spread)) || Event <- [1, 2, 3], C <- Counts]]
        ++ [agreement(Spread)].

count(Count, 0) -> integer_to_binary(Count);
count(Count, _Spread) -> ["~", integer_to_binary(Count)].

agreement({0, 0, 0}) -> ~"equal";
agreement({0, D1, LL}) -> io_lib:format("misses vary by ~b", [max(D1, LL)]);
agreement({Instructions, _, _}) -> io_lib:format("vary by ~b", [Instructions]).
