%%% The node itself: what there is of each kind and how much there may be, memory, timers, tables, persistent terms, connections,
%%% run queues. Nothing here is a signal to a process.

%% So many tables, ports and persistent terms are looked at.
-define(MOST_TABLES, 50_000).
%% Of so many tables the owners are counted.
-define(OWNED_TABLES, 5000).
-define(PORTS, 10_000).
-define(TERMS, 20_000).
%% To hash so much takes a twentieth of a second; then it rests for so many times as long.
-define(TERM_BYTES, 64_000_000).
-define(HASHED_MS, 1000).
-define(REST, 4).
-define(BETWEEN_LOOKS_MS, 100).
-define(LOOKS_FOR_FILES, 3).
-define(COUNTED_FILES, 5000).
%% So many processes are asked whether they have a file, and so many of these who opened it.
-define(ASKED_FOR_FILES, 1000).
-define(ASKED_FILES, 50).
-define(LARGEST, 3).
-define(COUNTED_ROWS, 200_000).
-define(KEY_BYTES, 500).
%% Look-ups of a key that is not there, in some bursts: while others write, they wait for its lock.
-define(BURSTS, 4).
-define(LOOKUPS, 10).
-define(LOOKED_UP, 1000).
-define(SLOWEST, 3).
%% So many names of tables are told apart. Of so many tables so many rows are read, where somebody must hold many binaries.
-define(TABLE_NAMES, 2000).
-define(TABLES_IN_SLICE, 1000).
-define(READ_TABLES, 40).
-define(READ_ROWS, 10).
%% Of a large table with rows of at most so many bytes on average so many rows are read, to see how much of them is lists of characters.
-define(ROWS_FOR_TEXTS, 20).
-define(ROW_BYTES, 20_000).
%% So many keys at each end tell whether they name processes that live, and so long a key may be.
-define(ASKED_KEYS, 10).
-define(PARTS_OF_KEY, 5).
%% Of so many rows of a bag.
-define(ROWS_FOR_PIDS, 2000).
%% So many reads of the size of a table, a millisecond apart, at each look.
-define(SIZE_READS, 10).
%% A list of fewer is no text.
-define(TEXT_LENGTH, 8).
%% What rows have of their binaries is a part if it is so small; so many terms of them are gone through.
-define(PART_OF, 5).
-define(GONE_THROUGH, 20_000).
%% So many sockets say how large their buffers are.
-define(ASKED_BUFFERS, 100).
-define(BETWEEN_DIGESTS_MS, 500).
%% So many processes are asked whether they are in old code.
-define(ASKED_FOR_CODE, 5000).
-define(ASKED_TRACED, 200).
-define(NIF_MODULES, 10).
%% More than a process has there of its own (760 on OTP 27).
-define(PROCESS_BYTES, 900).
%% No carrier for many blocks is larger by default.
-define(CARRIER, 8_388_608).

%% @doc How many there are and how many there may be.
-spec counts() -> #{processes | ports | atoms | tables => {non_neg_integer(), pos_integer()}, modules => pos_integer(),
                     sockets => non_neg_integer()}.
counts() ->
    #{processes => {erlang:system_info(process_count), erlang:system_info(process_limit)},
      ports => {erlang:system_info(port_count), erlang:system_info(port_limit)},
      atoms => {erlang:system_info(atom_count), erlang:system_info(atom_limit)},
      tables => {erlang:system_info(ets_count), erlang:system_info(ets_limit)},
      sockets => own_sockets(),
      modules => length(erlang:loaded())}.

%% Those of the module socket, which are no ports. Not every emulator has it.
own_sockets() ->
    try prim_socket:info() of
        #{counters := #{num_sockets := Count}} -> Count;
        _ -> 0
    catch error:_ -> 0
    end.

%% @doc The counts time and again until then, with the milliseconds from the beginning. To count files takes a thread for files, which may
%% all be taken, and a list of all. The last counts also say what some of the files are that were not open at first.
-spec growth(integer(), CountFiles :: boolean()) -> [diagnose_types:counts()].
growth(Until, CountFiles) -> grown(now_ms(), Until, case CountFiles of true -> open_files(); false -> [] end, []).

grown(Began, Until, FilesBefore, Counts) ->
    Files = case FilesBefore =/= [] andalso length(Counts) rem ?LOOKS_FOR_FILES =:= 0 andalso files() of
                {Count, Limit} when Count =< ?COUNTED_FILES -> #{files => {Count, Limit}};
                _ -> #{}
            end,
    Now = [{now_ms() - Began, maps:merge(counts(), Files)} | Counts],
    case now_ms() < Until of
        true ->
            wait(?BETWEEN_LOOKS_MS),
            grown(Began, Until, FilesBefore, Now);
        false ->
            [{Ms, Last} | Before] = Now,
            lists:reverse([{Ms, Last#{new_files => new_files(FilesBefore)}} | Before])
    end.

open_files() ->
    case prim_file:list_dir("/proc/self/fd") of
        {ok, Names} when length(Names) =< ?COUNTED_FILES -> Names;
        _ -> []
    end.

new_files([]) -> [];
new_files(Before) ->
    New = open_files() -- Before,
    [{File, Times} || {Times, File} <- most_frequent([file_of(Name) || Name <- lists:sublist(New, ?ASKED_FILES)])].

%% A socket has no name but a number.
file_of(Name) ->
    case prim_file:read_link_all("/proc/self/fd/" ++ Name) of
        {ok, "socket:" ++ _} -> socket;
        {ok, File} -> file_text(File);
        {error, _} -> closed
    end.

%% @doc A name that is not UTF-8 is a binary; each of its bytes is a character then.
-spec file_text(file:filename_all()) -> binary().
file_text(File) ->
    case unicode:characters_to_binary(File) of
        Text when is_binary(Text) -> Text;
        _ -> unicode:characters_to_binary(File, latin1)
    end.

%% @doc The rows and the bytes of the largest tables time and again until then. Of many tables none has much.
-spec growing_tables(integer()) -> [diagnose_types:growing()].
growing_tables(Until) ->
    case erlang:system_info(ets_count) =< ?OWNED_TABLES of
        true ->
            {Most, Bytes} = case are_mostly_binaries(memory()) of
                                true -> {?KEPT, ?SMALL_HELD}; % its rows may be few, and refer to much
                                false -> {?LARGEST, ?LARGE_TABLE_BYTES} % one that is gone through all the time may be small
                            end,
            Words = Bytes div erlang:system_info(wordsize),
            Largest = ranked(Most, [{Size, Table} || Table <- ets:all(), Size <- [ets:info(Table, memory)],
                                                         is_integer(Size), Size >= Words]),
            grown_tables([Table || {_, Table} <- Largest], now_ms(), Until, [], []);
        false -> []
    end.

are_mostly_binaries(#{binary := Bytes, total := Total}) -> Bytes >= ?HELD_BYTES andalso 2 * Bytes >= Total;
are_mostly_binaries(unknown) -> false.

grown_tables([], _Began, _Until, _Seen, _Reads) -> [];
grown_tables(Tables, Began, Until, Seen, Reads) ->
    Now = [{Table, {now_ms() - Began, ets:info(Table, size), ets:info(Table, memory)}} || Table <- Tables],
    case now_ms() < Until of
        true ->
            Fewer = [{Table, Fell} || Table <- Tables, Fell <- fewer(Table, ets:info(Table, size), ?SIZE_READS, Until)],
            wait(?BETWEEN_LOOKS_MS),
            grown_tables(Tables, Began, Until, [Now | Seen], Fewer ++ Reads);
        false ->
            All = lists:append(lists:reverse([Now | Seen])),
            [#{name => Name, owner => owner(Owner), node_ms => element(1, erlang:statistics(wall_clock)),
               reads => length(Fewer), fell => length([Fell || {_, true} = Fell <- Fewer]),
               looks => [{Ms, Rows, Words * erlang:system_info(wordsize)}
                         || {Of, {Ms, Rows, Words}} <- All, Of =:= Table, is_integer(Rows), is_integer(Words)]}
             || Table <- Tables, Owner <- [ets:info(Table, owner)], is_pid(Owner), Name <- [ets:info(Table, name)],
                Fewer <- [[Read || {Of, _} = Read <- Reads, Of =:= Table]]]
    end.

%% Whether it has fewer rows than at the read before, which shows a deletion: between two looks, what is inserted hides that.
fewer(Table, Before, Left, Until) when Left > 0, is_integer(Before) ->
    wait(1),
    case now_ms() < Until andalso ets:info(Table, size) of
        Rows when is_integer(Rows) -> [Rows < Before | fewer(Table, Rows, Left - 1, Until)];
        _ -> []
    end;
fewer(_, _, _, _) -> [].

%% @doc How many transactions of mnesia were committed until then, how many begun again, and what went to its log; `none' where it does not
%% run. Its counters are in a table that all may read.
-spec transactions(integer()) -> diagnose_types:transactions() | none.
transactions(Until) ->
    Began = now_ms(),
    case transactions() of
        none -> none;
        {Commits, Restarts, Logged} ->
            Overloads = overloads(Until, 0),
            case transactions() of
                {Later, More, Longer} ->
                    #{commits => max(0, Later - Commits), restarts => max(0, More - Restarts), logged => max(0, Longer - Logged),
                      threshold => log_threshold(), overloads => Overloads, ms => max(1, now_ms() - Began)};
                none -> none
            end
    end.

transactions() ->
    try list_to_tuple([ets:lookup_element(mnesia_stats, Counter, 2) || Counter <- [trans_commits, trans_restarts, trans_log_writes]])
    catch error:badarg -> none
    end.

%% At how many looks until then mnesia had found that a dump of its log was due while another one went on.
overloads(Until, Count) ->
    wait(min(?BETWEEN_LOOKS_MS, max(0, Until - now_ms()))),
    Now = Count + is(try ets:lookup_element(mnesia_gvar, {overload, mnesia_dump_log}, 2) catch error:badarg -> false end),
    case now_ms() < Until of
        true -> overloads(Until, Now);
        false -> Now
    end.

log_threshold() ->
    try ets:lookup_element(mnesia_gvar, dump_log_write_threshold, 2)
    catch error:badarg -> unknown
    end.

%% @doc Bytes of timers, monitors and links that are in use: each thread of the VM counts its blocks of fixed size by their type
%% (erlang:memory/0 adds up the same answers). A thread that gave back what another took counts below zero, by which its answer wraps
%% around; the sum is right. Empty where there is no such allocator (+MFe false).
-dialyzer({nowarn_function, small_things/0}). % the item is the one of erlang:memory/0 alone
-spec small_things() -> #{bif_timer | monitor | link => integer()}.
small_things() ->
    Ref = make_ref(),
    true = erlang:system_info({memory_internal, Ref, [fix_alloc]}),
    small_things(Ref, erts_internal:no_aux_work_threads() - 1, #{}).

small_things(_Ref, 0, Sum) -> Sum;
small_things(Ref, Threads, Sum) ->
    receive {Ref, _, Instances} -> small_things(Ref, Threads - 1, lists:foldl(fun added/2, Sum, of_fixed_size(Instances))) end.

of_fixed_size(Instances) ->
    [{Type, Used} || {fix_alloc, _, Account} <- Instances, Fixed <- Account, element(1, Fixed) =:= fix_types,
                     {Type, _, Used} <- element(tuple_size(Fixed), Fixed), Type =:= bif_timer orelse Type =:= monitor orelse Type =:= link].

added({Type, Used}, Sum) -> maps:update_with(Type, fun(Before) -> Before + signed(Used) end, signed(Used), Sum).

signed(Used) when Used >= 1 bsl 63 -> Used - 1 bsl 64;
signed(Used) -> Used.

%% @doc The largest tables, the names that most have, and of those that all may write to and that have one lock the ones whose look-ups
%% take longest, with the nanoseconds that nine of ten take at most, beside those of a table of our own.
-spec tables() -> diagnose_types:tables().
tables() ->
    {All, Skipped} = at_most(?MOST_TABLES, ets:all()),
    #{words := Words, largest := Largest, names := Names, lost := Lost} = sized(All, #{words => 0, largest => [], names => #{}, lost => 0}),
    {Shared, NotTimed} = shared(All, ?LOOKED_UP, []),
    Owners = owners(lists:sublist(All, ?OWNED_TABLES)),
    Looked = length(All),
    true = erlang:garbage_collect(), % the list of all, before there are lists of times
    Own = ets:new(own, [public]),
    [{Own, OwnNs} | Times] = lookups([Own | Shared]),
    true = ets:delete(Own),
    #{looked => Looked - Lost, skipped => Skipped, lost => Lost, not_timed => NotTimed, own_ns => OwnNs,
      bytes => erlang:system_info(wordsize) * Words, owners => Owners,
      largest => [texts(Table, One) || {_, Table} <- Largest, One <- table(Table)], named => named(Names),
      slowest => [One#{lookup_ns => Ns} || {Ns, Table} <- ranked(?SLOWEST, [{Ns, Table} || {Table, Ns} <- Times]), One <- table(Table)]}.

%% A slice by a process of its own each: whoever has the list of them all has room for little else.
sized([], Seen) -> Seen;
sized(Tables, #{words := W, largest := L, names := N, lost := Lost} = Seen) ->
    {Slice, Rest} = lists:split(min(?TABLES_IN_SLICE, length(Tables)), Tables),
    case apart(fun() -> lists:foldl(fun larger/2, {0, [], #{}}, Slice) end) of
        {Words, Largest, Names} ->
            sized(Rest, Seen#{words := W + Words, largest := ranked(?LARGEST, Largest ++ L),
                              names := maps:fold(fun(Name, {Count, Of, Table}, All) -> same_name(Name, Count, Of, Table, All) end,
                                                 N, Names)});
        lost -> sized(Rest, Seen#{lost := Lost + length(Slice)})
    end.

%% Who owns most of these tables, and how many were asked.
owners(Tables) ->
    case apart(fun() -> most_frequent([Owner || Table <- Tables, Owner <- [ets:info(Table, owner)], is_pid(Owner)]) end) of
        Most when is_list(Most) ->
            #{asked => length(Tables), most => [{pid_text(Owner), registered_as(Owner), Count} || {Count, Owner} <- Most]};
        lost -> #{asked => 0, most => []}
    end.

larger(Table, {Sum, Largest, Names}) ->
    case {ets:info(Table, memory), ets:info(Table, name)} of
        {Words, Name} when is_integer(Words), Name =/= undefined ->
            {Sum + Words, ranked(?LARGEST, [{Words, Table} | Largest]), same_name(Name, 1, Words, Table, Names)};
        _ -> {Sum, Largest, Names}
    end.

same_name(Name, Count, Words, Table, Names) ->
    case Names of
        #{Name := {C, W, First}} -> Names#{Name := {C + Count, W + Words, First}};
        #{} when map_size(Names) < ?TABLE_NAMES -> Names#{Name => {Count, Words, Table}};
        #{} -> Names
    end.

%% Names of several tables, those with most memory and those with most tables; and who owns one of them.
named(Names) ->
    Several = [{Count, Words, Name, Table} || {Name, {Count, Words, Table}} <- maps:to_list(Names), Count > 1],
    Of = fun(Ones) -> ranked(?LARGEST, [{Words, One} || {_, Words, _, _} = One <- Ones]) end,
    [#{name => Name, count => Count, bytes => Words * erlang:system_info(wordsize), owner => owner(ets:info(Table, owner))}
     || {_, {Count, Words, Name, Table}} <- lists:usort(Of(Several) ++ Of(ranked_by_count(Several)))].

ranked_by_count(Several) -> lists:sublist(lists:reverse(lists:sort(Several)), ?LARGEST).

owner(Pid) when is_pid(Pid) -> owner(pid_text(Pid), registered_as(Pid));
owner(_) -> <<"nobody">>.

owner(Text, '') -> Text;
owner(Text, Name) -> iolist_to_binary([Text, " (", atom_to_binary(Name, utf8), ")"]).

%% @doc Which tables hold so many bytes of binaries, by some rows of those with most rows, which are read without what is on the heap
%% of others. A private table cannot be read. Many of one name count together; and where no name has many of them, all that were read do.
-spec in_tables(non_neg_integer()) -> #{bytes := non_neg_integer(), tables := [#{name | rows | bytes := term()}]}.
in_tables(Bytes) ->
    {All, _} = at_most(?MOST_TABLES, ets:all()),
    Sizes = [{Size, {Name, Table}} || Table <- All, Size <- [ets:info(Table, size)], is_integer(Size), Size > 0,
                                      Name <- [ets:info(Table, name)], Name =/= undefined],
    OfName = maps:groups_from_list(fun({_, {Name, _}}) -> Name end, fun({Size, _}) -> Size end, Sizes),
    Read = [{Name, {Size * Held div ?READ_ROWS, case Parts of not_all -> not_all; _ -> Size * Parts div ?READ_ROWS end, Size, Table}}
            || {Size, {Name, Table}} <- ranked(?READ_TABLES, Sizes), {Held, Parts} <- [binary_bytes(Table)], Held > 0],
    Named = [of_name(Name, Of, maps:get(Name, OfName))
             || {Name, Of} <- maps:to_list(maps:groups_from_list(fun({Name, _}) -> Name end, fun({_, One}) -> One end, Read))],
    Sum = fun(Key) -> lists:sum([maps:get(Key, One) || One <- Named]) end,
    Most = case [One || #{bytes := Held} = One <- Named, 10 * Held >= Bytes] of
               [] -> [#{name => several, count => length(Read), rows => Sum(rows), bytes => Sum(bytes)} || 2 * Sum(bytes) >= Bytes];
               Some -> Some
           end,
    #{bytes => Bytes,
      tables => [One#{bytes := min(Bytes, Held)} || {Held, One} <- ranked(?LARGEST, [{Held, One} || #{bytes := Held} = One <- Most])]}.

%% Of many tables of a name only some were read.
of_name(Name, Read, Sizes) ->
    Rows = lists:sum([Size || {_, _, Size, _} <- Read]),
    Held = lists:sum([Of || {Of, _, _, _} <- Read]),
    case {Read, Sizes} of
        {[{_, Parts, _, Table}], [_]} ->
            maps:merge((maps:with([fixed_ms], fixed(Table)))#{name => Name, rows => Rows, bytes => Held}, slices(Parts, Held));
        {_, _} ->
            All = lists:sum(Sizes),
            #{name => Name, count => length(Sizes), rows => All, bytes => Held * All div Rows}
    end.

%% @doc The sockets of TCP that have a buffer for what they receive, and the bytes of these, by what some say that are drawn by chance:
%% each connection may have several sockets, which come in turn.
-spec buffers() -> #{sockets := pos_integer(), bytes := non_neg_integer()} | none.
buffers() ->
    case few_ports() of
        unknown -> none;
        Ports ->
            Sockets = of_tcp(Ports),
            Asked = some(?ASKED_BUFFERS, Sockets),
            case [Bytes || Port <- Asked, Bytes <- buffer(Port)] of
                [] -> none;
                Each -> #{sockets => length(Sockets) * length(Each) div length(Asked),
                          bytes => length(Sockets) * lists:sum(Each) div length(Asked)}
            end
    end.

%% The driver makes the buffer when it tries to read, and keeps it until something comes. With {active, true} it tries only when something
%% has come.
buffer(Port) ->
    case {prim_inet:getstatus(Port), prim_inet:getopts(Port, [active, buffer])} of
        {{ok, Status}, {ok, [{active, Active}, {buffer, Bytes}]}} ->
            [Bytes || lists:member(connected, Status), Active =/= true, Active =/= false orelse is_read(Port)];
        _ -> []
    end.

is_read(Port) ->
    [true || {_, Owner} <- [erlang:port_info(Port, connected)],
             {_, {prim_inet, recv0, _}} <- [process_info(Owner, current_function)]] =/= [].

%% Neighbours may have parts of one binary that many share: so all parts together are compared.
slices(Parts, Held) when is_integer(Parts), ?PART_OF * Parts =< Held -> #{slices => Parts};
slices(_, _) -> #{}.

%% Of the first rows, as if there were as many as are read; in a process of its own, which has no others.
binary_bytes(Table) ->
    case apart(fun() -> read_binaries(Table, first_key(Table), ?READ_ROWS, []) end) of
        {Bytes, not_all, Rows} when Rows > 0 -> {Bytes * ?READ_ROWS div Rows, not_all};
        {Bytes, Parts, Rows} when Rows > 0 -> {Bytes * ?READ_ROWS div Rows, Parts * ?READ_ROWS div Rows};
        _ -> {0, not_all}
    end.

read_binaries(_Table, Key, Left, Rows) when Key =:= '$end_of_table'; Left =:= 0 ->
    {binary, Held} = process_info(self(), binary),
    Bytes = lists:sum([Size || {_, Size, _} <- lists:ukeysort(1, Held)]),
    {Bytes, parts(Rows), length(Rows)}; % they live until now
read_binaries(Table, Key, Left, Rows) ->
    Found = try ets:lookup(Table, Key) catch error:badarg -> [] end,
    read_binaries(Table, next_key(Table, Key), Left - 1, Found ++ Rows).

%% Bytes of the binaries that terms refer to, as they see them; `not_all' where there are too many terms, or funs, which hide theirs.
parts(Rows) ->
    case lists:foldl(fun parts/2, {0, ?GONE_THROUGH}, Rows) of
        not_all -> not_all;
        {Bytes, _} -> Bytes
    end.

parts(_, not_all) -> not_all;
parts(Part, {_, 0}) when Part =/= [] -> not_all;
parts(Fun, _) when is_function(Fun) -> not_all;
parts(Map, _) when is_map(Map), map_size(Map) > ?GONE_THROUGH -> not_all;
parts(Part, {Sum, Left}) when is_bitstring(Part) -> {Sum + byte_size(Part), Left - 1};
parts(Tuple, {Sum, Left}) when is_tuple(Tuple) -> parts_of(1, Tuple, {Sum, Left - 1});
parts([Head | Tail], Seen) -> parts(Tail, parts(Head, Seen));
parts(Map, {Sum, Left}) when is_map(Map) -> lists:foldl(fun parts/2, {Sum, Left - 1}, maps:to_list(Map));
parts(_, {Sum, Left}) -> {Sum, max(0, Left - 1)}.

parts_of(_, _, not_all) -> not_all;
parts_of(Nth, Tuple, Seen) when Nth > tuple_size(Tuple) -> Seen;
parts_of(Nth, Tuple, Seen) -> parts_of(Nth + 1, Tuple, parts(element(Nth, Tuple), Seen)).

first_key(Table) -> try ets:first(Table) catch error:badarg -> '$end_of_table' end.
next_key(Table, Key) -> try ets:next(Table, Key) catch error:badarg -> '$end_of_table' end.

%% @doc Files that the program of the VM has open, sockets included, and how many it may have.
-spec files() -> {non_neg_integer(), pos_integer()} | unknown.
files() ->
    case {prim_file:list_dir("/proc/self/fd"), max_files(erlang:system_info(check_io))} of
        {{ok, Names}, Limit} when is_integer(Limit), Limit > 0 -> {length(Names), Limit};
        _ -> unknown
    end.

%% @doc Of a sample of processes that have a file open for another one, who opened these files: each monitors its owner.
-spec file_owners([pid()]) -> diagnose_types:file_owners().
file_owners(Pids) ->
    Files = [Pid || Pid <- some(?ASKED_FOR_FILES, Pids),
                    process_info(Pid, current_function) =:= {current_function, {file_io_server, server_loop, 1}}],
    Owners = [Owner || Pid <- some(?ASKED_FILES, Files), {_, [{process, Owner} | _]} <- [process_info(Pid, monitors)], is_pid(Owner)],
    #{asked => length(Owners),
      most => [{pid_text(Owner), registered_as(Owner), Count} || {Count, Owner} <- most_frequent(Owners)],
      labels => labels_of(Owners)}.

%% A set of files for each poll thread, or one.
max_files([{Key, _} | _] = Info) when is_atom(Key) -> proplists:get_value(max_fds, Info, unknown);
max_files([Info | _]) when is_list(Info) -> max_files(Info);
max_files(_) -> unknown.

%% @doc Which modules are loaded anew, by the digests of their code, until then.
-spec reloads(integer()) -> diagnose_types:reloads().
reloads(Until) -> reloads(Until, digests(), #{}, 0).

reloads(Until, Were, Changes, Looks) ->
    wait(min(?BETWEEN_DIGESTS_MS, max(0, Until - now_ms()))),
    Now = digests(),
    Changed = changed(Were, Now, Changes),
    case now_ms() < Until of
        true -> reloads(Until, Now, Changed, Looks + 1);
        false ->
            Most = ranked(?LARGEST, [{Times, Module} || {Module, Times} <- maps:to_list(Changed)]),
            #{looks => Looks + 1,
              modules => [#{module => Module, times => Times} || {Times, Module} <- Most],
              in => []}
    end.

%% @doc How often old code is purged that stays: which modules, who asks for it, and which of these processes are in that code, or come back
%% there. Only those are asked whether they keep it. `unknown' where the code server is traced already.
-spec purges([pid()]) -> diagnose_types:purges() | unknown.
purges(Pids) ->
    case asked_for_purges() of
        #{modules := Modules, by := By} = Asked ->
            Stay = stay([One || {Module, _} = One <- Modules, erlang:check_old_code(Module)]),
            Old = [Module || {Module, _} <- Stay],
            Asked#{modules := Stay,
                   by := [process_in(Pid, In) || {_, {Pid, In}} <- most_frequent(By)],
                   kept_by => lists:sublist([process_in(Pid, In) || Pid <- lists:sublist(Pids, ?ASKED_FOR_CODE),
                                                                    In <- keeps_code(Pid, Old)], ?LARGEST)};
        unknown -> unknown
    end.

%% Of a module that is loaded again and again the next old code is there soon after a purge.
stay([]) -> [];
stay(Modules) ->
    case loaded_anew([Module || {Module, _} <- Modules]) of
        unknown -> [];
        Loaded -> [One || {Module, _} = One <- Modules, not lists:member(Module, Loaded)]
    end.

keeps_code(Pid, Modules) ->
    case process_info(Pid, current_stacktrace) of
        {_, Stack} ->
            lists:sublist([frame(Frame) || {Module, _, _, _} = Frame <- Stack, lists:member(Module, Modules),
                                           erlang:check_process_code(Pid, Module, [{allow_gc, false}]) =:= true], 1);
        undefined -> []
    end.

digests() -> maps:from_list([{Module, erlang:phash2(digest(Module))} || Module <- erlang:loaded()]).

digest(Module) -> try erlang:get_module_info(Module, md5) catch error:_ -> none end.

%% @doc How many of these processes somebody traces, with what flags and to whom; and whether new processes are.
-spec traced([pid()]) -> #{asked | traced := non_neg_integer(), new := boolean(), flags := [atom()], tracer := binary() | unknown}.
traced(Pids) ->
    {Asked, _} = at_most(?ASKED_TRACED, lists:uniq(Pids)),
    Traced = [Flags || Pid <- Asked, [_ | _] = Flags <- [lists:append(trace_info(Pid, flags))]],
    New = lists:append(trace_info(new_processes, flags)),
    Tracers = [Tracer || Pid <- Asked ++ [new_processes], Tracer <- trace_info(Pid, tracer), is_pid(Tracer) orelse is_port(Tracer)],
    #{asked => length(Asked), traced => length(Traced), new => New =/= [], flags => lists:sort(lists:uniq(lists:append([New | Traced]))),
      tracer => case Tracers of
                    [Pid | _] when is_pid(Pid) -> owner(Pid);
                    [Port | _] -> list_to_binary(erlang:port_to_list(Port));
                    [] -> unknown
                end}.

%% Of each session that traces it. One may have ended meanwhile.
trace_info(Which, Item) ->
    Infos = [fun() -> erlang:trace_info(Which, Item) end
             | [fun() -> apply(trace, info, [Session, Which, Item]) end || Session <- other_sessions(Which)]],
    [Value || Info <- Infos, {_, Value} <- [try Info() catch error:badarg -> undefined end], Value =/= undefined].

ranked(Most, Values) -> lists:sublist(lists:reverse(lists:keysort(1, Values)), Most).

has_one_lock(Table) -> ets:info(Table, protection) =:= public andalso ets:info(Table, write_concurrency) =:= false.

%% All tables in each round, so that a moment in which the machine did something else costs each one value. The first round
%% after a pause only fills the caches: it alone would be a tenth of the values.
lookups(Tables) ->
    Round = fun() -> [lookup_ns(Table) || Table <- Tables] end,
    Bursts = [begin wait(?BETWEEN_MS), _ = Round(), [Round() || _ <- lists:seq(1, ?LOOKUPS)] end || _ <- lists:seq(1, ?BURSTS)],
    at_most_of(Tables, lists:append(Bursts)).

at_most_of([], _) -> [];
at_most_of([Table | Tables], Rounds) ->
    Ns = lists:nth(?BURSTS * ?LOOKUPS * 9 div 10, lists:sort([hd(Times) || Times <- Rounds])),
    [{Table, Ns} | at_most_of(Tables, [tl(Times) || Times <- Rounds])].

lookup_ns(Table) ->
    Began = erlang:monotonic_time(),
    _ = try ets:member(Table, {?MODULE, none}) catch error:badarg -> gone end,
    erlang:convert_time_unit(erlang:monotonic_time() - Began, native, nanosecond).

%% Those that all may write to and that have one lock: so many of them, and how many others there are.
shared([], _, Shared) -> {Shared, 0};
shared(Tables, 0, Shared) -> {Shared, others(Tables, 0)};
shared([Table | Tables], Left, Shared) ->
    case has_one_lock(Table) of
        true -> shared(Tables, Left - 1, [Table | Shared]);
        false -> shared(Tables, Left, Shared)
    end.

others([], Count) -> Count;
others([Table | Tables], Count) -> others(Tables, Count + is(has_one_lock(Table))).

%% A list that is short enough is not copied.
at_most(Most, List) ->
    case length(List) of
        Length when Length =< Most -> {List, 0};
        Length -> {lists:sublist(List, Most), Length - Most}
    end.

table(Table) ->
    case ets:info(Table) of
        undefined -> [];
        Info ->
            [#{memory := Words, owner := Owner, name := Name} = All] = [maps:from_list(Info)],
            [(lists:foldl(fun maps:merge/2, maps:with([size, type, protection, read_concurrency, write_concurrency], All),
                          [fixed(Table), same_key(Table, All), index_of(Table, Name), of_ended(Table, All)]))
                 #{name => Name, bytes => Words * erlang:system_info(wordsize), owner => owner(Owner)}]
    end.

%% How many of some keys that name processes, or of their rows, name one that has ended: the first and the last ones, of which nothing else
%% is kept. In an ordered_set the first are of the oldest.
of_ended(Table, #{size := Size, type := Type, protection := Protection, memory := Words} = All)
  when Size >= ?SCANNED_ROWS, Protection =/= private ->
    IsRead = maps:get(compressed, All, false) =:= false andalso Words * erlang:system_info(wordsize) =< ?ROW_BYTES * Size,
    case apart(fun() ->
                       Named = [is_process_alive(Pid) || Pid <- named_in(Type, IsRead, Table)],
                       {length([Alive || Alive <- Named, not Alive]), length(Named)}
               end) of
        {Ended, Named} when Named >= ?ASKED_KEYS -> #{keys_of_ended => Ended, keys_of_processes => Named};
        _ -> #{}
    end;
of_ended(_, #{}) -> #{}.

%% A look-up in a bag copies all rows of the key, so the VM gives of each row the process alone. The first rows of a key are its newest:
%% some of many are drawn.
named_in(Type, true, Table) when Type =:= bag; Type =:= duplicate_bag ->
    Parts = [{element, Position, '$_'} || Position <- lists:seq(1, ?PARTS_OF_KEY)],
    Clauses = [{'_', [{is_pid, Part}], [Part]} || Part <- Parts ++ [{element, 1, Part} || Part <- Parts]] ++ [{'_', [], [none]}],
    {Seen, _} = ets:select(Table, Clauses, ?ROWS_FOR_PIDS),
    some(2 * ?ASKED_KEYS, [Pid || Pid <- Seen, is_pid(Pid), node(Pid) =:= node()]);
named_in(Type, IsRead, Table) ->
    Last = case Type of ordered_set -> keys(Table, ets:last(Table), fun ets:prev/2, ?ASKED_KEYS); _ -> [] end,
    [Pid || Key <- keys(Table, ets:first(Table), fun ets:next/2, ?ASKED_KEYS) ++ Last,
            Pid <- named_by_row(named_by(Key), IsRead, Table, Key)].

keys(_Table, Key, _Next, Left) when Key =:= '$end_of_table'; Left =:= 0 -> [];
keys(Table, Key, Next, Left) -> [Key | keys(Table, try Next(Table, Key) catch error:badarg -> '$end_of_table' end, Next, Left - 1)].

named_by(Pid) when is_pid(Pid), node(Pid) =:= node() -> [Pid];
named_by(Key) when is_tuple(Key), tuple_size(Key) =< ?PARTS_OF_KEY ->
    lists:sublist([Pid || Pid <- tuple_to_list(Key), is_pid(Pid), node(Pid) =:= node()], 1);
named_by(_) -> [].

%% A key that names none is of a row that may: one of its first elements alone is copied at a time.
named_by_row([], true, Table, Key) ->
    lists:sublist([Pid || Position <- lists:seq(2, ?PARTS_OF_KEY),
                          Pid <- try ets:lookup_element(Table, Key, Position) of Part -> named_by(Part) catch error:badarg -> [] end], 1);
named_by_row(Named, _IsRead, _Table, _Key) -> Named.

%% mnesia has the tables of its indices by the names of those that they are for. Of a record, the first element is its name.
index_of(Table, mnesia_index) ->
    try
        {[[Of, Position]], _} = ets:match(mnesia_gvar, {{'$1', {index, '$2'}}, Table}, 1),
        Attribute = lists:nth(Position - 1, ets:lookup_element(mnesia_gvar, {Of, attributes}, 2)),
        #{index_of => iolist_to_binary([atom_to_binary(Attribute, utf8), " of ", atom_to_binary(Of, utf8)])}
    catch error:_ -> #{}
    end;
index_of(_Table, _Name) -> #{}.

%% How much of some rows is lists of characters: of which nothing else is kept or told.
texts(Table, #{size := Size, bytes := Bytes} = Seen) when Bytes >= ?MOST_BYTES, Bytes =< ?ROW_BYTES * Size ->
    case ets:info(Table, compressed) =:= false
        andalso apart(fun() -> texts_of(some_rows(Table)) end) of
        {Texts, All} when All > 0 -> Seen#{characters => Texts / All};
        _ -> Seen
    end;
texts(_Table, Seen) -> Seen.

%% A private table cannot be read.
some_rows(Table) -> try element(1, ets:select(Table, [{'_', [], ['$_']}], ?ROWS_FOR_TEXTS)) catch error:badarg -> [] end.

%% @doc The words of the lists of characters or bytes in these rows, and the words of all.
-spec texts_of([tuple()]) -> {non_neg_integer(), non_neg_integer()}.
texts_of(Rows) -> {texts_in(Rows, 0), erts_debug:flat_size(Rows)}.

texts_in([Term | Rest], Sum) -> texts_in(Rest, Sum + text_words(Term));
texts_in(_, Sum) -> Sum.

text_words(List) when is_list(List) ->
    case text_length(List, 0, #{words => 0, beyond => 0, blanks => 0}) of
        Length when Length >= ?TEXT_LENGTH -> 2 * Length;
        _ -> texts_in(List, 0)
    end;
text_words(Tuple) when is_tuple(Tuple) -> texts_in(tuple_to_list(Tuple), 0);
text_words(Map) when is_map(Map) -> texts_in(maps:to_list(Map), 0);
text_words(_) -> 0.

%% 0 where it is none. Small integers are no text: in a text each element can be printed, and most are letters, digits or blanks. One in
%% any other language has some blanks, too.
text_length([Char | Rest], Length, Seen) when is_integer(Char), Char >= 0, Char < 16#20000, Char < 16#D800 orelse Char >= 16#F900 ->
    case char_sort(Char) of
        none -> 0;
        Sort -> text_length(Rest, Length + 1, maps:update_with(Sort, fun(Count) -> Count + 1 end, 0, Seen))
    end;
text_length([], Length, #{words := Words, beyond := Beyond, blanks := Blanks})
  when 4 * (Words + Beyond + Blanks) >= 3 * Length, Beyond =:= 0 orelse 32 * Blanks >= Length -> Length;
text_length(_, _, _) -> 0.

char_sort(Char) when Char =:= $\s; Char =:= $\n -> blanks;
char_sort(Char) when Char >= $a, Char =< $z; Char >= $A, Char =< $Z; Char >= $0, Char =< $9 -> words;
char_sort(Char) when Char > $\s, Char < 127; Char =:= $\t; Char =:= $\r -> marks;
char_sort(Char) when Char >= 128 -> beyond;
char_sort(_) -> none.

%% How many rows of a bag are at most in one place of the table: those of a key, and the few that have it by chance. To count them keeps
%% writers away for about two microseconds for each hundred rows, so large tables are left alone.
same_key(Table, #{type := Type, size := Size}) when Type =:= bag orelse Type =:= duplicate_bag, Size >= ?SAME_KEY, Size =< ?COUNTED_ROWS ->
    case ets:info(Table, stats) of
        %% Of a table that is kept fixed, rows that were deleted are counted, too: of those there are none.
        Stats when is_tuple(Stats), tuple_size(Stats) >= 7, is_integer(element(6, Stats)), element(7, Stats) =:= 0 ->
            #{same_key => element(6, Stats)};
        _ -> #{}
    end;
same_key(_, #{}) -> #{}.

%% For how long without a break, and by whom now: rows that are deleted meanwhile stay, but not those of an ordered_set. Without a
%% process it is a select that is just running, and the time is that of another one.
fixed(Table) ->
    case {ets:info(Table, type), ets:info(Table, safe_fixed_monotonic_time)} of
        {Type, {Since, [_ | _] = By}} when Type =/= ordered_set ->
            #{fixed_ms => erlang:convert_time_unit(erlang:monotonic_time() - Since, native, millisecond),
              fixed_by => [owner(pid_text(Pid), registered_as(Pid)) || {Pid, _} <- lists:sublist(By, ?LARGEST)]};
        _ -> #{}
    end.

pid_text(Pid) -> list_to_binary(pid_to_list(Pid)).

%% @doc Looks at the persistent terms until then, and counts for each how often it was found replaced. No look keeps a term: the VM
%% copies it to whoever still has it when it is put anew, and that may be all the memory that a helper may have. So each look has
%% a process of its own that gives hashes, and one that was ended since that happened meanwhile does not count.
-spec churn(integer()) -> diagnose_types:terms() | unknown.
churn(Until) ->
    Began = now_ms(),
    churned(hashes(), Began, Until, #{}, 0).

churned(too_many, _, _, _, _) -> too_many;
churned(Was, Began, Until, Changes, Looks) ->
    wait(min(max(?BETWEEN_LOOKS_MS, ?REST * (now_ms() - Began)), max(0, Until - now_ms()))),
    case now_ms() < Until of
        true ->
            Again = now_ms(),
            case {Was, hashes()} of
                {_, lost} -> churned(Was, Again, Until, Changes, Looks);
                {#{}, #{} = Now} -> churned(Now, Again, Until, changed(Was, Now, Changes), Looks + 1);
                {_, Now} -> churned(Now, Again, Until, Changes, Looks)
            end;
        false when Looks =:= 0 -> unknown;
        false ->
            Most = ranked(?LARGEST, [{Times, Hash} || {Hash, Times} <- maps:to_list(Changes)]),
            Keys = keys([Hash || {_, Hash} <- Most]),
            #{looks => Looks, count => map_size(Changes),
              terms => [#{term => maps:get(Hash, Keys, '...'), times => Times} || {Times, Hash} <- Most]}
    end.

%% @doc The hashes of all values by those of their keys. A value that is put anew is another one: to put an equal one does nothing.
-spec hashes() -> #{non_neg_integer() => non_neg_integer()} | too_many | lost.
hashes() ->
    case persistent_term:info() of
        #{count := Count, memory := Bytes} when Count =< ?TERMS, Bytes =< ?TERM_BYTES ->
            apart(fun() -> maps:from_list([{hash(Key), hash(Value)} || {Key, Value} <- persistent_term:get()]) end);
        #{} -> too_many
    end.

hash(Term) -> erlang:phash2(Term, 1 bsl 32).

keys([]) -> #{};
keys(Hashes) ->
    case apart(fun() ->
                       maps:from_list([{Hash, small_key(Key)}
                                       || {Key, _} <- persistent_term:get(), Hash <- [hash(Key)], lists:member(Hash, Hashes)])
               end) of
        #{} = Keys -> Keys;
        lost -> #{}
    end.

%% Not linked: who asks may be a helper, which traps no exits.
-dialyzer({nowarn_function, apart/1}). % what it found is its exit
apart(Fun) ->
    {priority, Priority} = process_info(self(), priority),
    {Helper, Monitor} = spawn_opt(fun() -> exit({answer, Fun()}) end,
                                  [monitor, {priority, Priority},
                                   {max_heap_size, #{size => ?LIST_WORDS, kill => true, error_logger => false}}]),
    receive
        {'DOWN', Monitor, process, _, {answer, Answer}} -> Answer;
        {'DOWN', Monitor, process, _, _} -> lost
    after ?HASHED_MS ->
            exit(Helper, kill),
            receive {'DOWN', Monitor, process, _, _} -> lost end
    end.

%% Whoever asked puts it into words: the modules that do may not be loaded here.
small_key(Key) ->
    case erlang:external_size(Key) of
        Bytes when Bytes =< ?KEY_BYTES -> Key;
        _ -> '...'
    end.

changed(Were, Now, Changes) ->
    maps:fold(fun(Key, Value, All) ->
                      case Were of
                          #{Key := Was} when Was =/= Value -> All#{Key => 1 + maps:get(Key, All, 0)};
                          #{} -> All
                      end
              end, Changes, Now).

%% @doc The ports: whom the bytes are for that wait in some, what most of them are, and who owns most. One that does not answer is
%% not among them.
-spec ports() -> diagnose_types:ports().
ports() ->
    Connections = maps:from_list([{Port, Node} || {Node, Port} <- erlang:system_info(dist_ctrl), is_port(Port)]),
    {Ports, Skipped} = at_most(?PORTS, erlang:ports()),
    Seen = [{Port, Name, Owner, Bytes}
            || Port <- Ports, {name, Name} <- [erlang:port_info(Port, name)], {connected, Owner} <- [erlang:port_info(Port, connected)],
               {queue_size, Bytes} <- [erlang:port_info(Port, queue_size)]],
    #{skipped => Skipped, connection_limit => erlang:system_info(dist_buf_busy_limit),
      waiting => [#{port => list_to_binary(erlang:port_to_list(Port)), bytes => Bytes,
                    socket => Name =:= "tcp_inet" andalso not is_map_key(Port, Connections),
                    connection => is_map_key(Port, Connections),
                    owner => pid_text(Owner),
                    program => is_program(Port),
                    to => case Connections of
                              #{Port := Node} -> atom_to_binary(Node, utf8);
                              #{} when Rank =< ?LARGEST, Name =:= "tcp_inet" -> peer(Port);
                              #{} -> reader(Name)
                          end}
                  || {Rank, {Bytes, {Port, Name, Owner}}} <- lists:enumerate(ranked(?PORTS, [{Bytes, {Port, Name, Owner}}
                                                                                              || {Port, Name, Owner, Bytes} <- Seen,
                                                                                                 Bytes > 0]))],
      names => [{program(Name), Count} || {Count, Name} <- most_frequent([Name || {_, Name, _, _} <- Seen])],
      owners => [{pid_text(Owner), registered_as(Owner), Count} || {Count, Owner} <- most_frequent([Owner || {_, _, Owner, _} <- Seen])]}.

%% It may be closed meanwhile.
is_program(Port) -> case erlang:port_info(Port, os_pid) of {_, Pid} -> is_integer(Pid); undefined -> false end.

%% Whoever is at the other end of a socket.
peer(Port) -> address(prim_inet:peername(Port), <<"tcp_inet">>).

address({ok, {Address, Number}}, _) when tuple_size(Address) =:= 4; tuple_size(Address) =:= 8 ->
    unicode:characters_to_binary([inet:ntoa(Address), ":", integer_to_list(Number)]);
address(_, Otherwise) -> Otherwise.

%% A port of file descriptors is named by both of its own.
reader("0/1") -> <<"standard output">>;
reader("2/2") -> <<"standard error">>;
reader(Name) -> program(Name).

%% The name of a program's port is its whole command line, in which there may be anything.
program(Name) ->
    Command = lists:takewhile(fun(Char) -> Char =/= $\s end, Name),
    unicode:characters_to_binary(lists:reverse(lists:takewhile(fun(Char) -> Char =/= $/ end, lists:reverse(Command)))).

most_frequent(Values) ->
    Counts = lists:foldl(fun(Value, Sums) -> maps:update_with(Value, fun(Count) -> Count + 1 end, 1, Sums) end, #{}, Values),
    ranked(?LARGEST, [{Count, Value} || {Value, Count} <- maps:to_list(Counts)]).

registered_as(Pid) ->
    case process_info(Pid, registered_name) of
        {_, Name} -> Name;
        _ -> ''
    end.

%% A process, and where it was seen.
process_in(Pid, In) -> #{pid => pid_text(Pid), name => registered_as(Pid), in => In}.

%% @doc How the emulator was built and started.
-spec emulator() -> diagnose_types:emulator().
emulator() ->
    Allocators = erlang:system_info(alloc_util_allocators),
    #{interprets => erlang:system_info(emu_flavor) =/= jit andalso has_jit(erlang:system_info(system_architecture)),
      build => erlang:system_info(build_type),
      off => [Name || Name <- Allocators, erlang:system_info({allocator_sizes, Name}) =:= false],
      blockers => [owner(Pid) || Item <- [multi_scheduling_blockers, normal_multi_scheduling_blockers],
                                 Pid <- lists:uniq(erlang:system_info(Item))]}.

has_jit(Architecture) -> lists:any(fun(Name) -> lists:prefix(Name, Architecture) end, ["x86_64", "amd64", "aarch64", "arm64", "win32"]).

%% @doc How many processors the machine, or the quota of the VM's control group, lets the VM have. The VM reads the quota when it
%% starts, of versions 1 and 2 of control groups. The file is of version 2, and tells of one that was set since.
-spec processors() -> pos_integer() | unknown.
processors() ->
    least_known([erlang:system_info(logical_processors_available), erlang:system_info(cpu_quota),
                 quota(prim_file:read_file("/sys/fs/cgroup/cpu.max"))]).

%% @doc The least of these that are known.
-spec least_known([pos_integer() | unknown]) -> pos_integer() | unknown.
least_known(Counts) -> case [Count || Count <- Counts, is_integer(Count)] of [] -> unknown; Known -> lists:min(Known) end.

%% Microseconds of processor time for each period, or max.
-spec quota({ok, binary()} | {error, term()}) -> pos_integer() | unknown.
quota({ok, Text}) ->
    case binary:split(Text, [<<" ">>, <<"\n">>], [global]) of
        [Quota, Period | _] ->
            case {number(Quota, 0), number(Period, 0)} of
                {Us, Of} when Us > 0, Of > 0 -> (Us + Of - 1) div Of;
                _ -> unknown
            end;
        _ -> unknown
    end;
quota({error, _}) -> unknown.

%% @doc In how many of how many periods the quota of the VM's control group was used up until now, and for how many microseconds in all its
%% threads were stopped then, those of each processor counted. `unknown' without a quota, and where no file tells it.
-spec throttled() -> {Periods :: non_neg_integer(), Throttled :: non_neg_integer(), Us :: non_neg_integer()} | unknown.
throttled() ->
    Groups = case prim_file:read_file("/proc/self/cgroup") of {ok, Text} -> own_groups(Text); _ -> [] end,
    %% In a container the group of the VM is the root of what is mounted there.
    Files = [lists:append(["/sys/fs/cgroup", Controller, Path, "/cpu.stat"])
             || Controller <- ["", "/cpu", "/cpu,cpuacct"], Path <- Groups ++ [""]],
    first_throttled([Stat || File <- Files, {ok, Stat} <- [prim_file:read_file(File)]]).

%% Version 2 has one line with no controller; version 1 one for each.
own_groups(Text) ->
    lists:uniq([binary_to_list(Path) || Line <- binary:split(Text, <<"\n">>, [global]),
                                        [_, Controllers, Path] <- [binary:split(Line, <<":">>, [global])],
                                        Controllers =:= <<>> orelse lists:member(<<"cpu">>, binary:split(Controllers, <<",">>, [global]))]).

first_throttled([]) -> unknown;
first_throttled([Stat | Others]) ->
    case throttled_by(Stat) of
        {Periods, _, _} = Throttled when Periods > 0 -> Throttled;
        _ -> first_throttled(Others)
    end.

%% @doc The same by the text of cpu.stat: version 1 has nanoseconds.
-spec throttled_by(binary()) -> {non_neg_integer(), non_neg_integer(), non_neg_integer()} | unknown.
throttled_by(Stat) ->
    Counts = maps:from_list([{Name, number(Value, 0)} || Line <- binary:split(Stat, <<"\n">>, [global]),
                                                         [Name, Value] <- [binary:split(Line, <<" ">>)]]),
    case Counts of
        #{<<"nr_periods">> := Periods, <<"nr_throttled">> := Times, <<"throttled_usec">> := Us} -> {Periods, Times, Us};
        #{<<"nr_periods">> := Periods, <<"nr_throttled">> := Times, <<"throttled_time">> := Ns} -> {Periods, Times, Ns div 1000};
        #{} -> unknown
    end.

%% @doc The same between two looks.
-spec throttled_since(Throttled, Throttled) -> diagnose_types:throttled() | none
              when Throttled :: {non_neg_integer(), non_neg_integer(), non_neg_integer()} | unknown.
throttled_since({Periods, Times, Us}, {Later, More, Longer}) when Later > Periods ->
    #{periods => Later - Periods, throttled => max(0, More - Times), ms => max(0, Longer - Us) div 1000};
throttled_since(_, _) -> none.

%% @doc Bytes that the program of the VM has and none of its allocators: what native code, and the libraries that it uses, took from
%% the system. (Files that are mapped are not among them.) It is told by Linux alone.
-spec native() -> non_neg_integer() | unknown.
native() ->
    case resident() of
        unknown -> unknown;
        Bytes -> max(0, Bytes - allocated() - cached())
    end.

resident() ->
    case prim_file:read_file("/proc/self/status") of
        {ok, Status} ->
            case binary:split(Status, <<"RssAnon:">>) of
                [_, Rest] -> 1024 * number(Rest, 0);
                [_] -> unknown
            end;
        {error, _} -> unknown
    end.

number(<<Space, Rest/bits>>, 0) when Space =:= $\s; Space =:= $\t -> number(Rest, 0);
number(<<Digit, Rest/bits>>, Sum) when Digit >= $0, Digit =< $9 -> number(Rest, 10 * Sum + Digit - $0);
number(_, Sum) -> Sum.

%% In carriers of all kinds.
allocated() ->
    lists:sum([element(2, Size) || Name <- erlang:system_info(alloc_util_allocators), {_, _, Sorts} <- instances(Name),
                                   {Sort, Sizes} <- Sorts, Sort =:= mbcs orelse Sort =:= mbcs_pool orelse Sort =:= sbcs,
                                   Size <- Sizes, element(1, Size) =:= carriers_size]).

%% At most: the VM keeps some segments that it gave up last, of which it tells the number alone. A process with a large heap that is
%% collected all the time has ten of its size there.
cached() ->
    Segments = lists:sum([Count || {instance, _, Info} <- counters(mseg_alloc), {memkind, Kind} <- Info, {status, Status} <- Kind,
                                   {cached_segments, Count} <- Status]),
    Sizes = [Most || Name <- erlang:system_info(alloc_util_allocators), {_, _, Sorts} <- instances(Name), {sbcs, Sizes} <- Sorts,
                     {carriers_size, _, _, Most} <- Sizes],
    Segments * lists:max([?CARRIER | Sizes]).

counters(Name) -> case erlang:system_info({allocator, Name}) of false -> []; Instances -> Instances end.

instances(Name) -> case erlang:system_info({allocator_sizes, Name}) of false -> []; Instances -> Instances end.

%% @doc Memory that is in no process, table or binary. Of two looks at what native code has the least: large blocks that the VM has just
%% given up stay its own for a moment.
-spec elsewhere(non_neg_integer() | unknown, non_neg_integer() | unknown) -> diagnose_types:elsewhere().
elsewhere(Before, After) ->
    Native = case lists:member(unknown, [Before, After]) of true -> unknown; false -> min(Before, After) end,
    #{count := Count, memory := Bytes} = persistent_term:info(),
    #{native => Native, terms => Bytes, count => Count,
      nifs => case is_integer(Native) andalso Native >= ?MOST_BYTES of true -> with_native_code(); false -> [] end,
      keys => case Bytes >= ?MOST_BYTES andalso Count =< ?TERMS of true -> key_shapes(); false -> [] end}.

%% Those of OTP's own applications keep no memory of their own.
with_native_code() ->
    Own = [prim_file, prim_buffer, prim_net, prim_socket, prim_tty, zlib, erl_tracer, crypto, asn1rt_nif, socket_registry, dyntrace,
           erts_debug, re, unicode, persistent_term],
    lists:sublist([Module || Module <- erlang:loaded(), not lists:member(Module, Own), has_native_code(Module)], ?NIF_MODULES).

%% It may be gone by now.
has_native_code(Module) -> try erlang:get_module_info(Module, nifs) =/= [] catch error:badarg -> false end.

%% In a process of its own: no term is kept longer.
key_shapes() ->
    case apart(fun() -> most_frequent([shape(Key) || {Key, _} <- persistent_term:get()]) end) of
        [_ | _] = Most -> [{Shape, Times} || {Times, Shape} <- Most];
        _ -> []
    end.

%% @doc What each allocator has in carriers of several blocks, and in blocks therein.
-spec carriers() -> [diagnose_types:carriers()].
carriers() -> [allocator(Name) || Name <- erlang:system_info(alloc_util_allocators)].

%% @doc Of two looks at the carriers, the fuller one: what is only empty for a moment is not unused.
-spec at_both([diagnose_types:carriers()], [diagnose_types:carriers()]) -> [diagnose_types:carriers()].
at_both(Before, After) ->
    Was = maps:from_list([{Name, Both} || #{allocator := Name} = Both <- Before]),
    [fuller(Now, maps:get(Name, Was, Now)) || #{allocator := Name} = Now <- After].

fuller(#{carrier_bytes := C, block_bytes := B} = Now, #{carrier_bytes := Carrier, block_bytes := Blocks}) ->
    Now#{carrier_bytes := min(C, Carrier), block_bytes := max(B, Blocks)}.

allocator(Name) ->
    Multi = [Sizes || {instance, _, Sorts} <- instances(Name), {Sort, Sizes} <- Sorts, Sort =:= mbcs orelse Sort =:= mbcs_pool],
    #{allocator => Name, carrier_bytes => lists:sum([element(2, S) || Sizes <- Multi, S <- Sizes, element(1, S) =:= carriers_size]),
      block_bytes => lists:sum([element(2, Size) || Sizes <- Multi, {blocks, Blocks} <- Sizes, {_, Kinds} <- Blocks,
                                                    Size <- Kinds, element(1, Size) =:= size])}.

%% @doc What was mapped for heaps until now: page faults of the whole VM, segments that eheap_alloc took or changed, the size from which
%% on a block has a carrier of its own, and when that was. `unknown' without a /proc as Linux has it, or without that allocator.
-spec mapped() -> {non_neg_integer(), non_neg_integer(), pos_integer(), integer()} | unknown.
mapped() ->
    Heaps = [Info || {instance, _, Info} <- counters(eheap_alloc)],
    case {prim_file:read_file("/proc/self/stat"), [Bytes || Info <- Heaps, {options, Options} <- Info, {sbct, Bytes} <- Options]} of
        {{ok, Stat}, [Threshold | _]} ->
            %% The name of the program may contain blanks, and is in parentheses.
            [_State, _Parent, _Group, _Session, _Terminal, _Foreground, _Flags, Faults | _] =
                binary:split(lists:last(binary:split(Stat, <<") ">>, [global])), <<" ">>, [global]),
            Segments = [1_000_000_000 * Giga + Count
                        || Info <- Heaps, {calls, Calls} <- Info, {Name, Giga, Count} <- Calls,
                           Name =:= mseg_alloc orelse Name =:= mseg_realloc],
            {binary_to_integer(Faults), lists:sum(Segments), Threshold, now_ms()};
        {_, _} -> unknown
    end.

%% @doc The same between two looks.
-spec mapped_since(Mapped, Mapped) -> diagnose_types:mapped() | unknown
              when Mapped :: {non_neg_integer(), non_neg_integer(), pos_integer(), integer()} | unknown.
mapped_since({Faults, Segments, Threshold, Began}, {Later, More, _, Ended}) ->
    #{faults => max(0, Later - Faults), segments => max(0, More - Segments), own_carrier => Threshold, ms => max(1, Ended - Began)};
mapped_since(_, _) -> unknown.
