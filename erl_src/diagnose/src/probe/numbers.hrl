%%% Which processes and ports were started since a moment, by their numbers. The VM gives numbers one after the other until it has gone
%%% through its table once; then the newest are found without a list of all. Afterwards a new one has the place of one that ended: the
%%% numbers still go up where all live for the same time, though not by one, and jump up and down where they do not. Then two lists are
%%% compared, where there are not too many; and what starts and ends between them is not seen.

%% So many processes are listed at each look.
-define(COMPARED, 3_000).
%% So many of the steps go up where numbers are in order.
-define(GOING_UP, 0.9).
%% So many bits of a process are its number, and the others its serial, in the releases before 26 and since.
-define(OLD_NUMBER_BITS, 15).
-define(NUMBER_BITS, 28).

%% The newest number, and where numbers are used again, all processes.
-type moment() :: {Newest :: non_neg_integer(), first_round | [pid()] | too_many}.
%% How far the newest number has gone, with those that this function starts; how far it goes from one process to the next, where numbers are
%% used again; and how many were started by list, as far as they live.
-type step() :: {integer(), integer(), first_round | non_neg_integer() | too_many}.

-spec moment() -> moment().
moment() -> moment(first_round).

%% Once the first round is over, it does not come again.
moment(first_round) ->
    Newest = newest(),
    case is_first_round(Newest, process_limit) of
        true -> {Newest, first_round};
        false -> moment(over)
    end;
moment(_) ->
    Listed = listed(), % so that this function's own is not among them
    {newest(), Listed}.

listed() ->
    case erlang:system_info(process_count) =< ?COMPARED of
        true -> processes();
        false -> too_many
    end.

%% @doc Some of those that were started since, at most so many; how many they were; and the moment now.
-spec started_since(moment(), pos_integer()) -> {[pid()], step(), moment()}.
started_since({Before, Listed}, Most) ->
    case moment(Listed) of
        {Newest, first_round} = Moment -> {between(Before, Newest, Most), {Newest - Before, 1, first_round}, Moment};
        {Newest, Now} = Moment ->
            Gap = newest() - Newest, % at once: others are started, too
            {New, By} = new(Listed, Now),
            %% Who lives for a moment only is gone when the list is there.
            Newer = case is_list(Listed) of true -> (between(Newest - Most, Newest, Most) -- Listed) -- New; false -> [] end,
            {lists:sublist(New, Most) ++ Newer, {Newest - Before, Gap, By}, Moment}
    end.

%% Those of the list now that were not in the one before, and how many. Of the first round there is no list.
new(Listed, Now) when is_list(Listed), is_list(Now) ->
    New = Now -- Listed,
    {New, length(New)};
new(first_round, Now) when is_list(Now) -> {[], 0};
new(_, _) -> {[], too_many}.

%% @doc How many were started in these steps: by number where these are in order, by list otherwise. From the second round on it is by the
%% steps that go up, since one may go from the end of the table to its beginning, or on by all of it.
-spec started([step()]) -> non_neg_integer() | too_many.
started([]) -> 0;
started(Steps) ->
    {Numbers, Gaps, Listed} = lists:unzip3(Steps),
    Count = length(Steps),
    IsFirst = lists:all(fun(By) -> By =:= first_round end, Listed),
    AreInOrder = length([N || N <- Numbers, N > 0]) >= ?GOING_UP * Count,
    case middle(Gaps) of
        _ when IsFirst -> max(0, lists:sum(Numbers) - Count);
        Gap when AreInOrder, Gap > 0 ->
            Jump = erlang:system_info(process_limit) div 4,
            lists:sum([max(0, Number div Gap - 2) || Number <- Numbers, Number < Jump]);
        _ ->
            case are_unlisted(Steps) of
                true -> too_many;
                false -> lists:sum([case By of first_round -> max(0, Number - 1); _ -> By end || {Number, _, By} <- Steps])
            end
    end.

%% @doc Whether processes were left out, since there are too many to list them.
-spec are_unlisted([step()]) -> boolean().
are_unlisted(Steps) -> lists:any(fun({_, _, By}) -> By =:= too_many end, Steps).

%% @doc A number of the second round is that of the first and the size of the table.
-spec is_first_round(non_neg_integer(), process_limit | port_limit) -> boolean().
is_first_round(Number, Limit) -> Number < erlang:system_info(Limit).

%% The number of a process that ends at once.
newest() -> number(spawn(fun() -> ok end)).

number(Pid) ->
    [_, Number, Serial] = string:lexemes(pid_to_list(Pid), "<.>"),
    (list_to_integer(Serial) bsl number_bits()) bor list_to_integer(Number).

process(Number) ->
    Bits = number_bits(),
    list_to_pid(lists:append(["<0.", integer_to_list(Number band ((1 bsl Bits) - 1)), ".", integer_to_list(Number bsr Bits), ">"])).

number_bits() ->
    case release() of
        Release when Release < 26 -> ?OLD_NUMBER_BITS;
        _ -> ?NUMBER_BITS
    end.

between(Before, Newest, Most) -> [process(N) || N <- lists:seq(max(Before + 1, Newest - Most), Newest - 1)].

port_number(Port) ->
    [_, _, Number] = string:lexemes(erlang:port_to_list(Port), "<.>"),
    list_to_integer(Number).
