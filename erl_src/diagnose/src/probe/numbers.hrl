%%% Which processes and ports were started since a moment, by their numbers. The VM gives numbers one after the other until it has gone
%%% through its table once; then the newest are found without a list of all. Afterwards a new one has the place of one that ended: the
%%% numbers still go up where all live for the same time, though not by one, and jump up and down where they do not. Then two lists are
%%% compared, where there are not too many; and what starts and ends between them is not seen.

%% So many processes are listed at each look.
-define(COMPARED, 3_000).
%% So many of the steps go up where numbers are in order.
-define(GOING_UP, 0.9).

%% The newest number, and where numbers are used again, all processes.
-type moment() :: {Newest :: string(), first_round | [pid()] | too_many}.
%% How far the newest number has gone, with the two that this function starts; how far from one to the next of these; and how many were
%% started by list, as far as they live.
-type step() :: {integer(), integer(), first_round | non_neg_integer() | too_many}.

-spec moment() -> moment().
moment() -> moment(first_round).

moment(first_round) ->
    Newest = newest(),
    case is_first_round(number(Newest), process_limit) of
        true -> {Newest, first_round};
        false -> moment(listed())
    end;
moment(Listed) -> {newest(), Listed}.

listed() ->
    case erlang:system_info(process_count) =< ?COMPARED of
        true -> processes();
        false -> too_many
    end.

%% @doc Some of those that were started since, at most so many; how many they were; and the moment now.
-spec started_since(moment(), pos_integer()) -> {[pid()], step(), moment()}.
started_since({Before, Listed}, Most) ->
    {Newest, Now} = Moment = case Listed of first_round -> moment(); _ -> moment(listed()) end,
    Step = number(Newest) - number(Before),
    Gap = number(newest()) - number(Newest),
    case Now of
        first_round -> {between(Before, Newest, Most), {Step, Gap, first_round}, Moment};
        _ when is_list(Listed), is_list(Now) ->
            New = Now -- Listed,
            {lists:sublist(New, Most), {Step, Gap, length(New)}, Moment};
        _ -> {[], {Step, Gap, case Listed of first_round -> 0; _ -> too_many end}, Moment}
    end.

%% @doc How many were started in these steps: by number where these are in order, by list otherwise. From the second round on it is by the
%% medians, since a step may go from the end of the table to its beginning.
-spec started([step()]) -> non_neg_integer() | unknown.
started([]) -> 0;
started(Steps) ->
    {Numbers, Gaps, Listed} = lists:unzip3(Steps),
    Count = length(Steps),
    IsFirst = lists:all(fun(By) -> By =:= first_round end, Listed),
    AreInOrder = length([N || N <- Numbers, N > 0]) >= ?GOING_UP * Count,
    case middle(Gaps) of
        _ when IsFirst -> max(0, lists:sum(Numbers) - 2 * Count);
        Gap when AreInOrder, Gap > 0 -> max(0, Count * (middle(Numbers) div Gap - 2));
        _ -> started_by_list([case By of first_round -> max(0, Number - 2); _ -> By end || {Number, _, By} <- Steps])
    end.

started_by_list(Counts) ->
    case lists:member(too_many, Counts) of
        true -> unknown;
        false -> lists:sum(Counts)
    end.

%% @doc A number of the second round is that of the first and the size of the table.
-spec is_first_round(non_neg_integer(), process_limit | port_limit) -> boolean().
is_first_round(Number, Limit) -> Number < erlang:system_info(Limit).

%% Of a process that ends at once.
newest() -> pid_to_list(spawn(fun() -> ok end)).

number(Text) ->
    [_, Number, _] = string:lexemes(Text, "<.>"),
    list_to_integer(Number).

between(Before, Newest, Most) ->
    Last = number(Newest) - 1,
    Count = max(0, min(Most, Last - number(Before))),
    [list_to_pid("<0." ++ integer_to_list(N) ++ ".0>") || N <- lists:seq(Last - Count + 1, Last)].

port_number(Port) ->
    [_, _, Number] = string:lexemes(erlang:port_to_list(Port), "<.>"),
    list_to_integer(Number).
