%% Processes that write rows of random terms to the same tables at the same time, and read them in
%% all ways there are. Each row bears the hash of what it holds, so whoever reads it can tell.
-module(term_tables).

-export([tables/0, worker/2]).
-export_type([table/0]).

-type table() :: ets:table().

-define(KEYS, 50).
-define(ALL, {'_', '_', '_', '_'}).

%% @doc A table of each kind: by its keys, by how rows are kept, by what writers do to each other.
-spec tables() -> [table()].
tables() ->
    [ets:new(?MODULE, [public, Type, {write_concurrency, Concurrent} | Compressed])
     || Type <- [set, ordered_set, bag, duplicate_bag],
        Compressed <- [[], [compressed]],
        Concurrent <- [false, true, auto]].

%% @doc Writes and reads until it is told to stop: `{rows, N}' is how many rows were read as they were written.
-spec worker([table()], non_neg_integer()) -> {rows, non_neg_integer()}.
worker(Tables, Rows) ->
    receive
        stop -> {rows, Rows}
    after 0 ->
            Table = endurance_chaos:one_of(Tables),
            Read = act(endurance_chaos:one_of([insert, insert, insert, insert_new, delete, take, lookup, lookup_element, member,
                                               select, select_reverse, match_object, chunks, replace, delete_object, fold]),
                       Table, ets:info(Table, type)),
            worker(Tables, Rows + Read)
    end.

act(insert, Table, _) ->
    true = ets:insert(Table, [row() || _ <- lists:seq(1, rand:uniform(3))]),
    0;
act(insert_new, Table, _) ->
    _ = ets:insert_new(Table, row()),
    0;
act(delete, Table, _) ->
    true = ets:delete(Table, key()),
    0;
act(take, Table, _) -> intact(ets:take(Table, key()));
act(lookup, Table, _) -> intact(ets:lookup(Table, key()));
act(lookup_element, Table, Type) when Type =:= set; Type =:= ordered_set ->
    %% A row of its own, which nobody else replaces between the two.
    Key = {self(), own},
    {Key, Hash, Term, _} = Row = row(Key),
    true = ets:insert(Table, Row),
    {Hash, Term} = {ets:lookup_element(Table, Key, 2), ets:lookup_element(Table, Key, 3)},
    true = ets:delete(Table, Key),
    1;
act(lookup_element, _, _) -> 0;
act(member, Table, _) ->
    _ = ets:member(Table, key()),
    0;
act(select, Table, _) -> intact(ets:select(Table, [{?ALL, [], ['$_']}]));
act(select_reverse, Table, _) ->
    intact(ets:select_reverse(Table, [{{'$1', '$2', '$3', '$4'}, [], [{{'$1', '$2', '$3', '$4'}}]}]));
act(match_object, Table, _) -> intact(ets:match_object(Table, setelement(1, ?ALL, key())));
act(chunks, Table, _) ->
    true = ets:safe_fixtable(Table, true),
    Read = chunks(ets:select(Table, [{?ALL, [], ['$_']}], 7), 0),
    true = ets:safe_fixtable(Table, false),
    Read;
act(replace, Table, Type) when Type =/= bag ->
    _ = ets:select_replace(Table, [{{key(), '$1', '$2', '$3'}, [], [{{{element, 1, '$_'}, '$1', '$2', {{'$3', replaced}}}}]}]),
    0;
act(replace, _, _) -> 0;
act(delete_object, Table, _) ->
    case ets:lookup(Table, key()) of
        [] -> 0;
        [Row | _] = Rows ->
            true = ets:delete_object(Table, Row),
            intact(Rows)
    end;
act(fold, Table, _) -> ets:foldl(fun(Row, Read) -> Read + intact([Row]) end, 0, Table).

chunks('$end_of_table', Read) -> Read;
chunks({Rows, Continuation}, Read) -> chunks(ets:select(Continuation), Read + intact(Rows)).

intact(Rows) ->
    [Hash =:= hash(Term) orelse error({damaged, Key, erts_debug:flat_size(Term)}) || {Key, Hash, Term, _} <- Rows],
    length(Rows).

%% Some keys are equal in tables that are ordered, and some are no immediates.
key() ->
    case rand:uniform(?KEYS) of
        N when N rem 3 =:= 0 -> {N, <<N:800>>};
        N when N rem 3 =:= 1 -> float(N);
        N -> N
    end.

row() -> row(key()).

row(Key) ->
    Term = random_terms:term(),
    {Key, hash(Term), Term, written}.

hash(Term) -> erlang:md5(term_to_binary(Term, [deterministic])).
