%%% Which processes and ports were started since a moment, by their numbers. The VM gives numbers one after the other until it has gone
%%% through its table once; then the newest are found without a list of all. Afterwards a new one has the place of one that ended, so
%%% numbers jump up and down. Then two lists are compared, where there are not too many, and what starts and ends between them is not seen.

%% So many processes are listed at each look.
-define(COMPARED, 3_000).

-type moment() :: {newest, Text :: string()} | {listed, [pid()]}.

%% @doc `unknown' where numbers are used again and there are too many processes to list them.
-spec moment() -> moment() | unknown.
moment() ->
    Newest = newest(),
    case is_first_round(number(Newest), process_limit) of
        true -> {newest, Newest};
        false -> listed()
    end.

listed() ->
    case erlang:system_info(process_count) =< ?COMPARED of
        true -> {listed, processes()};
        false -> unknown
    end.

%% @doc Those that were started since, at most so many, how many they were (of a list: those that live), and the moment now. Their number
%% does not count those that this function starts.
-spec started_since(moment(), pos_integer()) -> {[pid()], non_neg_integer(), moment()} | unknown.
started_since({newest, Before}, Most) ->
    case moment() of
        {newest, Newest} = Now -> {between(Before, Newest, Most), max(0, number(Newest) - number(Before) - 1), Now};
        {listed, _} = Now -> {[], 0, Now};
        unknown -> unknown
    end;
started_since({listed, Before}, Most) ->
    case listed() of
        {listed, Now} ->
            New = Now -- Before,
            {lists:sublist(New, Most), length(New), {listed, Now}};
        unknown -> unknown
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
