%%% The node itself: what there is of each kind and how much there may be, memory, timers, tables, persistent terms, connections,
%%% run queues. Nothing here is a signal to a process.

%% So many tables, ports and persistent terms are looked at.
-define(MOST_TABLES, 50_000).
-define(PORTS, 10_000).
-define(TERMS, 20_000).
%% To hash so much takes a twentieth of a second; then it rests for so many times as long.
-define(TERM_BYTES, 64_000_000).
-define(HASHED_MS, 1000).
-define(REST, 4).
-define(BETWEEN_LOOKS_MS, 100).
-define(LARGEST, 3).
-define(KEY_BYTES, 500).
%% Look-ups of a key that is not there, in some bursts: while others write, they wait for its lock.
-define(BURSTS, 4).
-define(LOOKUPS, 10).
-define(LOOKED_UP, 1000).
-define(SLOWEST, 3).
%% More than a process has there of its own (760 on OTP 27).
-define(PROCESS_BYTES, 900).
-define(MESSAGE_BYTES, 64).

%% @doc How many there are and how many there may be.
-spec counts() -> #{processes | ports | atoms | tables => {non_neg_integer(), pos_integer()}, modules => pos_integer()}.
counts() ->
    #{processes => {erlang:system_info(process_count), erlang:system_info(process_limit)},
      ports => {erlang:system_info(port_count), erlang:system_info(port_limit)},
      atoms => {erlang:system_info(atom_count), erlang:system_info(atom_limit)},
      tables => {erlang:system_info(ets_count), erlang:system_info(ets_limit)},
      modules => length(erlang:loaded())}.

%% @doc The counts time and again until then, with the milliseconds from the beginning.
-spec growth(integer()) -> [diagnose_types:counts()].
growth(Until) -> grown(now_ms(), Until, []).

grown(Began, Until, Counts) ->
    Now = [{now_ms() - Began, counts()} | Counts],
    case now_ms() < Until of
        true ->
            wait(?BETWEEN_LOOKS_MS),
            grown(Began, Until, Now);
        false -> lists:reverse(Now)
    end.

%% @doc Bytes of what the VM has for timers, monitors and links: they share an allocator with the processes' own structures, and with
%% a reference to each of so many messages that wait.
-spec small_bytes(non_neg_integer()) -> non_neg_integer().
small_bytes(Messages) ->
    Instances = case erlang:system_info({allocator_sizes, fix_alloc}) of false -> []; List -> List end,
    max(0, sum_sizes(Instances) - ?PROCESS_BYTES * erlang:system_info(process_count) - ?MESSAGE_BYTES * Messages).

sum_sizes(Instances) ->
    lists:sum([element(2, Size) || {instance, _, Sorts} <- Instances, {Sort, Sizes} <- Sorts,
                                   Sort =:= mbcs orelse Sort =:= mbcs_pool orelse Sort =:= sbcs,
                                   {blocks, Blocks} <- Sizes, {_, Kinds} <- Blocks, Size <- Kinds, element(1, Size) =:= size]).

%% @doc The largest tables, and of those that all may write to and that have one lock the ones whose look-ups take longest, with
%% the nanoseconds that nine of ten take at most, beside those of a table of our own.
-spec tables() -> diagnose_types:tables().
tables() ->
    {All, Skipped} = at_most(?MOST_TABLES, ets:all()),
    {Words, Largest} = lists:foldl(fun larger/2, {0, []}, All),
    {Shared, NotTimed} = at_most(?LOOKED_UP, [Table || Table <- All, has_one_lock(Table)]),
    Own = ets:new(own, [public]),
    [{Own, OwnNs} | Times] = lookups([Own | Shared]),
    true = ets:delete(Own),
    #{looked => length(All), skipped => Skipped, not_timed => NotTimed, own_ns => OwnNs, bytes => erlang:system_info(wordsize) * Words,
      largest => [One || {_, Table} <- Largest, One <- table(Table)],
      slowest => [One#{lookup_ns => Ns} || {Ns, Table} <- ranked(?SLOWEST, [{Ns, Table} || {Table, Ns} <- Times]), One <- table(Table)]}.

larger(Table, {Sum, Largest}) ->
    case ets:info(Table, memory) of
        undefined -> {Sum, Largest};
        Words -> {Sum + Words, ranked(?LARGEST, [{Words, Table} | Largest])}
    end.

ranked(Most, Values) -> lists:sublist(lists:reverse(lists:keysort(1, Values)), Most).

has_one_lock(Table) -> ets:info(Table, protection) =:= public andalso ets:info(Table, write_concurrency) =:= false.

%% All tables in each round, so that a moment in which the machine did something else costs each one value. The first round
%% after a pause only fills the caches: it alone would be a tenth of the values.
lookups(Tables) ->
    Round = fun() -> [{Table, lookup_ns(Table)} || Table <- Tables] end,
    Bursts = [begin wait(?BETWEEN_MS), _ = Round(), [Round() || _ <- lists:seq(1, ?LOOKUPS)] end || _ <- lists:seq(1, ?BURSTS)],
    Times = maps:groups_from_list(fun({Table, _}) -> Table end, fun({_, Ns}) -> Ns end, lists:append(lists:append(Bursts))),
    [{Table, lists:nth(?BURSTS * ?LOOKUPS * 9 div 10, lists:sort(maps:get(Table, Times)))} || Table <- Tables].

lookup_ns(Table) ->
    Began = erlang:monotonic_time(),
    _ = try ets:member(Table, {?MODULE, none}) catch error:badarg -> gone end,
    erlang:convert_time_unit(erlang:monotonic_time() - Began, native, nanosecond).

at_most(Most, List) ->
    Length = length(List),
    {lists:sublist(List, Most), max(0, Length - Most)}.

table(Table) ->
    case ets:info(Table) of
        undefined -> [];
        Info ->
            [#{memory := Words, owner := Owner, name := Name} = All] = [maps:from_list(Info)],
            [(maps:with([size, type, protection, read_concurrency, write_concurrency], All))
                 #{name => Name, bytes => Words * erlang:system_info(wordsize), owner => pid_text(Owner)}]
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
            #{looks => Looks, count => map_size(Changes), terms => [#{term => maps:get(Hash, Keys, '...'), times => Times} || {Times, Hash} <- Most]}
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
    case apart(fun() -> maps:from_list([{Hash, small_key(Key)} || {Key, _} <- persistent_term:get(), Hash <- [hash(Key)], lists:member(Hash, Hashes)]) end) of
        #{} = Keys -> Keys;
        lost -> #{}
    end.

%% Not linked: who asks may be a helper, which traps no exits.
-dialyzer({nowarn_function, apart/1}). % what it found is its exit
apart(Fun) ->
    {priority, Priority} = process_info(self(), priority),
    {Helper, Monitor} = spawn_opt(fun() -> exit({answer, Fun()}) end,
                                  [monitor, {priority, Priority}, {max_heap_size, #{size => ?LIST_WORDS, kill => true, error_logger => false}}]),
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
    #{skipped => Skipped,
      waiting => [#{port => list_to_binary(erlang:port_to_list(Port)), bytes => Bytes,
                    to => case Connections of #{Port := Node} -> atom_to_binary(Node, utf8); #{} -> program(Name) end}
                  || {Port, Name, _, Bytes} <- Seen, Bytes > 0],
      names => [{program(Name), Count} || {Count, Name} <- most_frequent([Name || {_, Name, _, _} <- Seen])],
      owners => [{pid_text(Owner), registered_as(Owner), Count} || {Count, Owner} <- most_frequent([Owner || {_, _, Owner, _} <- Seen])]}.

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
    Instances = case erlang:system_info({allocator_sizes, Name}) of false -> []; List -> List end,
    Multi = [Sizes || {instance, _, Sorts} <- Instances, {Sort, Sizes} <- Sorts, Sort =:= mbcs orelse Sort =:= mbcs_pool],
    #{allocator => Name, carrier_bytes => lists:sum([element(2, S) || Sizes <- Multi, S <- Sizes, element(1, S) =:= carriers_size]),
      block_bytes => lists:sum([element(2, Size) || Sizes <- Multi, {blocks, Blocks} <- Sizes, {_, Kinds} <- Blocks,
                                                    Size <- Kinds, element(1, Size) =:= size])}.
