%% @doc From ETS tables to signs: large ones, those that are kept fixed, keys with many rows, and those for which many wait. Pure.
-module(diagnose_tables).

-export([of_node/1, rows_a_second/3, only_growing/1, is_fast/2]).

-export_type([grown/0]).

-import(diagnose_sign, [sign/4]).
-import(diagnose_wording, [is_kept_fixed/1]).

-include("../diagnose_bounds.hrl").

%% What a table has, and gets a second.
-type grown() :: #{name := atom(), owner := binary(), size | bytes | rows_a_second | bytes_a_second := non_neg_integer(),
                   reads | fell => non_neg_integer()}.

%% @doc The signs of all tables.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) -> fixed_tables(Look) ++ [of_otp(Sign) || Sign <- large_or_growing(Look) ++ rows_of_one_key(Look) ++ contended_tables(Look)].

of_otp(#{kind := Kind, evidence := #{name := _, owner := _} = Table, advice := Advice} = Sign) ->
    Sign#{advice := unicode:characters_to_binary(diagnose_otp_servers:of_table(Kind, Table, Advice))};
of_otp(Sign) -> Sign.

%% A table that grows explains what all together have.
large_or_growing(Look) ->
    Growing = growing(Look),
    case {large_table(Look, Growing), Growing} of
        {[], [_ | _]} ->
            [sign(large_ets_table, Evidence, [ended_advice(Evidence), grows_advice(Evidence)], diagnose_proof:look())
             || Of <- Growing, Evidence <- [with_ended(Of, Look)]];
        {[], []} -> large_tables(Look);
        {[_ | _] = Large, _} -> Large
    end.

with_ended(#{name := Name, owner := Owner} = Evidence, #{tables := #{largest := Tables}}) ->
    case [maps:with([keys_of_ended, keys_of_processes], Table) || #{name := N, owner := O} = Table <- Tables, N =:= Name, O =:= Owner] of
        [Ended | _] -> maps:merge(Evidence, Ended);
        [] -> Evidence
    end;
with_ended(Evidence, #{}) -> Evidence.

%% A table that grows may lose rows all the same: whoever deletes some misses others, or has too many.
grows_advice(Rates) ->
    [case Rates of
         #{fell := Fell} when Fell > 0 ->
             "Rows are deleted, but fewer than are inserted. Who deletes them falls behind, or misses some: those under another key, those"
             " that an update leaves when it inserts a new row, or all but the last row of a process that ends.";
         #{} ->
             "Rows are inserted all the time, and no deletion was seen. Find out who should delete them: that process may wait, have"
             " failed, or not exist, or it deletes too few."
     end,
     " A table needs a limit by size or age (a time in each row, and a process that deletes old rows), and the limit must hold also"
     " while those who take the rows hang. A cache that is being filled grows until it is full, which is no fault."].

%% Those that only grow, and fast, with what they have and get.
growing(#{memory := #{total := Total}} = Look) ->
    Fast = [Table || Table <- only_growing(Look), is_fast(Table, Total)],
    [Table#{total_bytes => Total} || Table <- lists:uniq(Fast ++ left_behind(Look, Total))];
growing(#{}) -> [].

%% Rows of processes that have ended come and stay, though others leave in time, and there may be fewer for a moment. A day is soon enough.
left_behind(#{growing := [_ | _] = Tables} = Look, Total) ->
    [Table || #{bytes_a_second := More} = Table <- lists:append([grown(Seen) || Seen <- Tables]), More * ?DAY_S >= Total,
              #{keys_of_ended := Ended, keys_of_processes := Asked} <- [with_ended(Table, Look)], 2 * Ended >= Asked];
left_behind(#{}, _Total) -> [].

%% @doc Whether it has much of all memory, and gets as much as that within the time.
-spec is_fast(#{bytes := non_neg_integer(), bytes_a_second := integer(), _ => _}, Total :: non_neg_integer()) -> boolean().
is_fast(#{bytes := Bytes, bytes_a_second := More}, Total) ->
    Bytes >= ?GROWING_BYTES andalso 4 * Bytes >= Total andalso More * ?GROWS_TO_LIMIT_S >= Total.

%% @doc Tables that had more rows all the time, and for long.
-spec only_growing(diagnose_types:look()) -> [grown()].
only_growing(#{growing := [_ | _] = Tables}) ->
    lists:append([grown(Seen) || #{looks := Looks} = Seen <- Tables, diagnose_counts:never_fell([Rows || {_, Rows, _} <- Looks])]);
only_growing(#{}) -> [].

grown(#{name := Name, owner := Owner, node_ms := NodeMs, looks := [_ | _] = Looks} = Seen) ->
    {_, Rows, Bytes} = lists:last(Looks),
    [(maps:with([reads, fell], Seen))#{name => Name, owner => Owner, bytes => Bytes, size => Rows, rows_a_second => RowsASecond,
                                       bytes_a_second => diagnose_counts:growth([{Ms, B} || {Ms, _, B} <- Looks])}
     || RowsASecond <- [diagnose_counts:growth([{Ms, R} || {Ms, R, _} <- Looks])], RowsASecond > 0,
        not was_just_begun(1000 * Rows / RowsASecond, NodeMs), not is_log(Owner)];
grown(#{looks := []}) -> [].

%% @doc How many more rows such a table has each second, where it has at no look fewer than before.
-spec rows_a_second(atom(), Owner :: binary(), diagnose_types:look()) -> #{} | #{rows_a_second := pos_integer()}.
rows_a_second(Name, Owner, #{growing := [_ | _] = Tables}) ->
    maps:from_list([{rows_a_second, Growth}
                    || #{name := N, owner := O, looks := Looks} <- Tables, N =:= Name, O =:= Owner,
                       diagnose_counts:never_fell([Rows || {_, Rows, _} <- Looks]),
                       Growth <- [diagnose_counts:growth([{Ms, Rows} || {Ms, Rows, _} <- Looks])], Growth > 0]);
rows_a_second(_, _, #{}) -> #{}.

%% A log that is kept in a table until it is on disk fills one after the other, for some seconds each. At this pace the table has been
%% filled for so long; on a node that is as young, nobody can tell.
was_just_begun(FilledMs, NodeMs) -> FilledMs < ?FILLED_MS andalso FilledMs < ?YOUNG_TABLE * NodeMs.

%% The server of ra, by which RabbitMQ's quorum queues replicate, whose tables have what is not in its files yet: at most some 64 MB each.
is_log(Owner) -> binary:match(Owner, <<"(ra_log_ets)">>) =/= nomatch.

%% One table, those of one name, or all of them.
large_tables(#{tables := #{largest := Tables, named := Named, bytes := Bytes}, memory := #{total := Total}} = Look) ->
    case {large_table(Look, []), [One || #{bytes := Of} = One <- Named, Of >= ?MOST_BYTES, 2 * Of >= Total]} of
        {[_ | _] = Signs, _} -> Signs;
        {[], [_ | _] = Same} -> [tables_sign(maps:with([name, count, bytes, owner], One), Total) || One <- Same];
        {[], []} ->
            Largest = [maps:with([name, bytes, size, owner], One) || One <- Tables],
            [tables_sign(#{name => several, bytes => Bytes, largest => Largest}, Total)
             || Bytes >= ?MOST_BYTES, 2 * Bytes >= Total]
    end;
large_tables(Look) -> large_table(Look, []).

tables_sign(Evidence, Total) ->
    sign(large_ets_table, Evidence#{total_bytes => Total},
         "If they are meant to be that large and do not grow, leave them. Otherwise find out who inserts and who deletes:"
         " tables that only grow need a limit by size or age. Rows that many tables"
         " hold belong in one table, or in binaries, which are not copied.",
         diagnose_proof:look()).

large_table(#{tables := #{largest := Tables}, memory := #{total := Total}}, Growing) ->
    [sign(large_ets_table,
          maps:merge((maps:with([name, bytes, size, owner, type, protection, characters, index_of,
                                 keys_of_ended, keys_of_processes], Table))
                         #{total_bytes => max(Bytes, Total)}, Rates),
          ["A list has 16 bytes for each character, a binary 1: store binaries (unicode:characters_to_binary/1). "
           || #{characters := Part} <- [Table], Part >= ?CHARACTERS]
          ++ [ended_advice(Table),
              case map_size(Rates) of
                  0 -> "If it is meant to be that large and does not grow (ets:info/1 shows its size), leave it. Otherwise find out who"
                       " inserts and who deletes: a table that only grows needs a limit by size or age (a time in each row, and a process that"
                       " deletes old rows).";
                  _ -> grows_advice(Rates)
              end,
              " Large values stored as binaries are not copied at each look-up."], diagnose_proof:look())
     || #{name := Name, owner := Owner, bytes := Bytes} = Table <- Tables, Bytes >= ?MOST_BYTES, 2 * Bytes >= Total,
        Rates <- lists:sublist([maps:with([reads, fell, rows_a_second, bytes_a_second], One)
                                || #{name := N, owner := O} = One <- Growing, N =:= Name, O =:= Owner] ++ [#{}], 1)];
large_table(#{}, _Growing) -> [].

ended_advice(Table) ->
    ["Have its owner monitor the processes, and delete all their rows when they end (a demonitor or unlink before the last row is gone"
     " leaves it). "
     || #{keys_of_ended := Ended, keys_of_processes := Asked} <- [Table], ?LEFT_ROWS * Ended >= Asked].

%% Whoever goes through a table keeps it fixed meanwhile. Where several do, one after the other, it is told of them.
fixed_tables(#{tables := #{largest := Tables}, suspects := Suspects}) ->
    [sign(fixed_ets_table, maps:with([name, bytes, size, owner, fixed_ms, fixed_by], Table),
          ["While a process keeps it fixed (ets:safe_fixtable/2, or a fold that still runs), deleted rows and their binaries stay in"
           " memory, and the table gets slow, since its hash table does not grow. ", release_advice(Table)],
          diagnose_proof:look())
     || #{bytes := Bytes} = Table <- Tables, is_kept_fixed(Table), Bytes >= ?FIXED_BYTES,
        [Times || #{table_scans := #{times := Times}} <- Suspects, Times > 0] =:= []];
fixed_tables(#{}) -> [].

%% mnesia_tm keeps a table fixed for transactions that go through it, and forgets that of one that is killed (otp#11517).
release_advice(#{fixed_by := By}) ->
    case lists:all(fun(Owner) -> binary:match(Owner, <<"(mnesia_tm)">>) =/= nomatch end, By) of
        true ->
            "mnesia does it for a transaction that goes through the table (mnesia:first/1, next/2, foldl/3, select/4). If none runs for"
            " that long (mnesia:info/0), one was killed, and mnesia releases the table only when it is restarted on this node. Do not kill"
            " a process in a transaction (exit(Pid, kill), a task with a time-out): have the transaction itself stop after a while, or go"
            " through the table without one.";
        false -> "Release each safe_fixtable(Table, true) with false, in an after clause."
    end.

rows_of_one_key(#{tables := #{largest := Tables}}) ->
    [sign(rows_of_one_key, maps:with([name, type, size, owner, same_key, index_of], Table),
          ["In a bag each insertion compares the new row with all rows of its key; a duplicate_bag does not. " || Type =:= bag]
          ++ ["delete_object/2 and match_delete/2 go over all rows of the key, and a look-up copies them all. Put the value that"
              " distinguishes these rows into the key: use an ordered_set with the key {Key, Id}. ets:select/2 with a bound Key, or"
              " ets:next/2, then reads the rows of one Key."],
          diagnose_proof:look())
     || #{same_key := Rows, type := Type} = Table <- Tables,
        Rows >= case Type of bag -> ?SAME_KEY; duplicate_bag -> ?SAME_KEY_DUPLICATES end];
rows_of_one_key(#{}) -> [].

contended_tables(#{tables := #{slowest := Tables, own_ns := Own}}) ->
    [sign(contended_ets_table, (maps:with([name, size, owner, type, lookup_ns, index_of], Table))#{own_ns => Own},
          "Many write to it at the same time, and it has one lock. Make it with {write_concurrency, auto} and decentralized_counters,"
          " use counters for numbers, or several tables by a hash of the key.", diagnose_proof:look())
     || #{lookup_ns := Ns} = Table <- Tables, Ns >= ?CONTENDED_NS, Ns >= ?CONTENDED_RATIO * Own, not is_kept_fixed(Table)];
contended_tables(#{}) -> [].
