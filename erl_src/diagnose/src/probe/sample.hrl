%%% What lives, by collecting some idle members of a kind of processes; the binaries that they hold, each counted once; and who has
%%% many monitors or links. Bounded in number, bytes and time.

%% Kinds that have so much are worth to be told of; so many of them, the largest first. Of some there is a sample, so long for each.
-define(SAMPLED_HEAP, 8_000_000).
-define(SAMPLED_HELD, 32_000_000).
-define(TOLD_GROUPS, 40).
-define(SAMPLED_GROUPS, 12).
-define(MANY_READY, 20).
%% So many ports of one process are asked for what they queue.
-define(OWN_PORTS, 100).
%% Where binaries are most of a node, members of so many kinds are asked for those that they refer to.
-define(REFERRING, 4).
-define(SAMPLE_MS, 1500).
-define(COLLECTED, 6).
%% To be asked by this look takes some.
-define(ASKED_REDUCTIONS, 1000).
%% One that does not do more in a second works a little, for what comes now and then. Of so small a heap a collection takes a millisecond at
%% most.
-define(STEADY_REDUCTIONS, 20_000).
-define(STEADY_BYTES, 1_000_000).
%% Some questions take one each, and to get an answer and to call again takes 10 or more. So many of those that wait do so in one call all
%% the time: some of the others may have been collected meanwhile, by this look.
-define(SAME_CALL_REDUCTIONS, 8).
-define(SAME_CALLS, 0.7).
%% Over a whole look the other parts of it ask a process, too: some ten times. A call alone takes as much.
-define(STAYED_REDUCTIONS, 18).
%% So many of the callers are watched, whether they still wait in the same call.
-define(TURNS_ASKED, 100).
%% To take a call takes more; callers that were only collected have made none.
-define(TAKEN_REDUCTIONS, 8).
%% A new process comes to its receive within.
-define(TO_REST_MS, 10).
%% A process that was asked for its binaries or its messages answers with a copy of the words.
-define(SHAPED_DEPTH, 50_000).
-define(SHAPED_BYTES, 3_000_000).
%% A heap may be so many times as large as what is on it.
-define(ROOMY, 16).
%% So much may be copied besides, if each message refers to the largest persistent term or constant. Of so much of persistent terms in all
%% the largest is looked for.
-define(COPIED_TERMS, 200_000_000).
-define(SIZED_TERMS, 20_000_000).
-define(SHAPES, 200).
-define(FEW_SHAPES, 3).
%% What the VM itself has beside code, atoms, binaries and tables, at most: 4 MB in OTP 25, 10 MB in OTP 29.
-define(SYSTEM_BYTES, 16_000_000).
%% What a place in the table of processes takes, at most.
-define(PLACE_BYTES, 16).
-define(MONITORS_MADE, 20).
-define(LINKS_MS, 1500).
-define(EXACT_LINKS, 100_000).
-define(ALL_LINKS, 20_000).
%% So much has a dictionary of some ten thousand keys beside the heap.
-define(DICTIONARY_BYTES, 160_000).
%% Of so many large kinds some are asked whether they wait for the answer to a call.
-define(CALLING_GROUPS, 12).
-define(AWAITED_MS, 1000).
%% A send is among so many of the first frames.
-define(SENDS_AMONG, 3).
%% So often a server is looked at, to see it wait for its next message; so long those that wait for one which does are watched.
-define(AT_REST_LOOKS, 5).
-define(MEANWHILE_MS, 2000).
%% So often it is seen whether processes still try to get a lock.
-define(TRYING_MS, 50).
%% So many locks and those that wait for them are asked for.
-define(LOCKS, 5000).
%% So many other nodes are asked whether they answer at all, for so long.
-define(ASKED_NODES, 20).
-define(NODE_MS, 800).
%% So many of the same kind that do not wait for it are asked what they are, and so many of them what they do; of those that it monitors,
%% too.
-define(ALIKE_ASKED, 50).
-define(HOLDERS, 8).
%% Who waits there waits for a time, or for the other side of a connection.
-define(WAITS_OF_OTP, [timer, prim_inet, prim_socket, socket, gen_tcp, gen_udp, inet_tcp, erlang, gen_server, gen_statem, gen_event,
                       proc_lib, 'Elixir.Process', 'Elixir.GenServer', 'Elixir.Agent']).

%% What waits below these waits for another host to answer a request, to accept a connection or to go on with one. The last is below the
%% first ones, too.
-define(WAITS_FOR_HOST, [{httpc, handle_answer}, {gen_tcp, connect}, {ssl, connect}, {gun, await}, {gun, await_body}, {gun, await_up},
                         {ssl_gen_statem, handshake}]).

%% @doc The kinds of processes that are worth telling of, the largest first: with a name, and what a sample of idle members gave
%% back where that was asked for; and which of those that were looked at closer belong to it. Then how many more there are, and what of
%% idle processes was not looked at.
-spec groups(#{term() => group()}, [row()], #{pid() => ids()}, boolean(), integer(), #{pid() => atom()}) ->
          {[diagnose_types:group()], Left :: non_neg_integer(), diagnose_types:unlooked() | not_asked}.
groups(Groups, Rows, Held, IsCollecting, Until, Names) ->
    Limit = erlang:system_info(process_limit),
    Kinds = maps:to_list(kinds(Groups, Limit)),
    {Largest, Left} = at_most(?TOLD_GROUPS, lists:sort(fun({_, One}, {_, Other}) -> is_larger(One, Other) end,
                                                       [Kind || {_, One} = Kind <- Kinds, is_worth(One, Limit)])),
    Sampled = [{Key, sample(One, min(Until, now_ms() + ?SAMPLE_MS))} || IsCollecting, {Key, One} <- sampled_first(Largest)],
    Refers = referring(Largest, memory(), min(Until, now_ms() + ?SAMPLE_MS)),
    Samples = maps:from_list(told_once(Sampled, maps:merge(Held, maps:from_list([{Pid, ids(before, #{before => Back})}
                                                                                 || {_, All} <- Refers, {Pid, Back} <- All])))),
    Kin = maps:groups_from_list(fun(Row) -> key(Row, Names) end, Rows),
    Told = lists:append([told(Key, One#{refers => proplists:get_value(Key, Refers, [])}, maps:get(Key, Samples, not_asked),
                              maps:get(Key, Kin, []), Names) || {Key, One} <- Largest]),
    Unlooked = case IsCollecting of
                   true -> unlooked([{One, is_looked_at(maps:get(Key, Samples, not_asked)), vast_ones(One)} || {Key, One} <- Kinds]);
                   false -> not_asked
               end,
    {Told, Left, Unlooked}.

%% @doc Binaries that several kinds hold are told of with the first of them, and are free when nobody that was asked has them any more.
%% Suspects: what those have that were looked at closer.
-spec told_once([{Key, Sample}], Suspects :: #{pid() => ids()}) -> [{Key, Sample}]
              when Key :: term(),
                   Sample :: #{holding := [{pid(), #{before | 'after' := #{binaries := map() | unknown, _ => _}} | busy}], _ => _}.
told_once(Samples, Suspects) ->
    Holding = [{Pid, Back} || {_, #{holding := All}} <- Samples, {Pid, #{} = Back} <- All],
    Before = [{Pid, ids(before, Back)} || {Pid, Back} <- Holding],
    Left = lists:foldl(fun maps:merge/2, #{}, [ids('after', Back) || {_, Back} <- Holding]
                                              ++ maps:values(maps:without([Pid || {Pid, _} <- Holding], Suspects))),
    {Told, _} = lists:mapfoldl(fun({Key, #{holding := All} = Sample}, Known) ->
                                       Own = lists:foldl(fun({_, #{} = Back}, Ids) -> maps:merge(Ids, ids(before, Back));
                                                            (_, Ids) -> Ids
                                                         end, #{}, All),
                                       Members = [Pid || {Pid, _} <- All],
                                       {{Key, Sample#{holding := [{Pid, once(Back, Known, Left)} || {Pid, Back} <- All],
                                                      shared => [pid_text(Pid)
                                                                 || {Pid, Ids} <- Before, not lists:member(Pid, Members),
                                                                    2 * bytes_of(maps:with(maps:keys(Own), Ids)) > bytes_of(Own)]}},
                                        maps:merge(Known, Own)}
                               end, #{}, Samples),
    Told.

%% Of the kinds that may have most of a node whose memory is mostly binaries: what some of the members refer to, those that work, too. After
%% idle ones were collected, that is what lives. Each binary counts with the first kind, as for the samples.
referring(Kinds, #{binary := Bytes, total := Total}, Until) when Bytes >= ?MOST_BYTES, 2 * Bytes >= Total ->
    Most = ranked(?REFERRING, [{Held, Kind} || {_, #{held := Held}} = Kind <- Kinds, Held >= ?SAMPLED_HELD]),
    Told = told_once([{Key, #{holding => [{Pid, #{before => Back, 'after' => Back}}
                                          || {_, Pid, _, _} <- Holders, Back <- [within(fun() -> refers(Pid) end, Until)], is_map(Back)]}}
                      || {_, {Key, #{holders := Holders}}} <- Most], #{}),
    [{Key, [{Pid, Back} || {Pid, #{before := Back}} <- Holding]} || {Key, #{holding := Holding}} <- Told];
referring(_Kinds, _Memory, _Until) -> [].

%% A heap of this size has so many references at most that a list of them fits into the memory of a helper, or ends it.
refers(Pid) ->
    case depth(Pid) < ?DEEP andalso held(Pid) of
        #{used := Used, binaries := unknown} = Held when Used =< ?COLLECTED_BYTES -> Held#{binaries := references(Pid)};
        Held -> Held
    end.

ids(When, Back) ->
    case maps:get(When, Back) of
        #{binaries := #{some := Ids}} -> Ids;
        #{} -> #{}
    end.

bytes_of(Ids) -> lists:sum(maps:values(Ids)).

once(busy, _Known, _Left) -> busy;
once(#{before := #{binaries := #{some := Some} = Binaries} = Before, 'after' := #{binaries := #{some := Rest} = Kept} = After} = Back,
     Known, Left) ->
    Own = maps:without(maps:keys(Known), Some),
    Stay = maps:with(maps:keys(Left), Own),
    Back#{before := Before#{binaries := Binaries#{some := Own, bytes := less(Binaries, bytes_of(Some) - bytes_of(Own))}},
          'after' := After#{binaries := Kept#{some := Stay, bytes := less(Kept, bytes_of(Rest) - bytes_of(Stay))}}};
once(Back, _Known, _Left) -> Back.

less(#{bytes := Bytes}, Fewer) -> max(0, Bytes - Fewer).

%% @doc Kinds that are too small to be told of are counted together, so that what many of them hold is seen: those that began
%% with the same function, then those of one size, then all.
-spec kinds(#{term() => group()}, pos_integer()) -> #{term() => group()}.
kinds(Groups, Limit) ->
    lists:foldl(fun(Wider, All) ->
                        maps:fold(fun(Key, One, Kinds) ->
                                          As = case is_worth(One, Limit) of true -> Key; false -> Wider(Key) end,
                                          maps:update_with(As, fun(Others) -> joined(Others, One) end, One, Kinds)
                                  end, #{}, All)
                end, Groups, [fun({Call, _}) -> {Call, any} end,
                              fun({{_, Size}, _}) -> {{any, Size}, any} end,
                              fun(_) -> {{any, any}, any} end]).

%% @doc Those of which there is a sample: with most to give back.
-spec sampled_first([{term(), group()}]) -> [{term(), group()}].
sampled_first(Kinds) ->
    Ranked = lists:sort(fun({A, _}, {B, _}) -> A >= B end,
                        [{max(Large, Held), Kind} || {_, #{large_heap := Large, held := Held}} = Kind <- Kinds]),
    [Kind || {_, Kind} <- lists:sublist(Ranked, ?SAMPLED_GROUPS)].

%% Who was asked and works has no garbage that waits.
is_looked_at(#{answered := Answered}) -> Answered > 0;
is_looked_at(not_asked) -> false.

%% @doc What idle processes hold of which nothing is known: of kinds without a sample, and of those too large to be collected, as far
%% as those that were asked are idle. Of the binaries it is what they may be at most.
-spec unlooked([{group(), IsLookedAt :: boolean(), {Idle :: [pid()], Asked :: non_neg_integer()}}]) -> diagnose_types:unlooked().
unlooked(Kinds) ->
    Seen = [unlooked_of(One, IsLookedAt, Vast) || {One, IsLookedAt, Vast} <- Kinds],
    Sum = fun(Key) -> lists:sum([maps:get(Key, One) || One <- Seen]) end,
    #{processes => Sum(processes), heap_bytes => Sum(heap_bytes), held_bytes => Sum(held_bytes),
      too_large => lists:sublist([pid_text(Pid) || {_, _, {Idle, _}} <- Kinds, Pid <- Idle], ?FEW_SHAPES)}.

unlooked_of(#{large := Large, large_heap := Heap, holding := Holding, held := Held,
              vast := Vast, vast_heap := VastHeap, vast_held := VastHeld},
            IsLookedAt, {Idle, Asked}) ->
    Share = ratio(length(Idle), Asked),
    Left = is(not IsLookedAt),
    #{processes => Left * max(Large, Holding) + ceil(Share * Vast),
      heap_bytes => Left * Heap + round(Share * VastHeap),
      held_bytes => Left * Held + round(Share * VastHeld)}.

%% One that does not answer may be idle.
vast_ones(#{vasts := []}) -> {[], 0};
vast_ones(#{vasts := Vasts}) ->
    Rows = maps:from_list([{Pid, {Reductions, At}} || {_, Pid, Reductions, At} <- Vasts]),
    Answers = answers(maps:keys(Rows), fun(Pid) -> is_idle(Pid, maps:get(Pid, Rows)) end, now_ms() + ?ANSWER_MS),
    {[Pid || {Pid, {Answer, _}} <- Answers, Answer =/= false], length(Answers)}.

is_worth(#{count := Count, heap := Heap, held := Held, laden_held := Laden, deep := Deep, behind := Behind, suspended := Suspended,
           ready := Ready}, Limit) ->
    Suspended > 0 orelse Ready >= ?MANY_READY orelse Heap >= ?SAMPLED_HEAP orelse Held >= ?SAMPLED_HELD
        orelse Laden >= ?SAMPLED_HELD orelse Deep + Behind > 0 orelse Count >= ?MANY_LINKS orelse 2 * Count >= Limit.

%% A deep mailbox comes first; whoever has one has no known heap.
is_larger(#{deep := A, behind := E, heap := H, held := B}, #{deep := C, behind := F, heap := I, held := D}) ->
    {A + E, max(H, B)} >= {C + F, max(I, D)}.

%% One parent may have started processes of several kinds: then each is told of with its part, as far as the members that were asked tell.
told(Key, #{some := Any, larges := Larges, holders := Holders} = One, Sample, Kin, Names) ->
    Pids = lists:uniq([Pid || {_, Pid, _, _} <- Larges ++ Holders ++ Any] ++ [Pid || #{pid := Pid} <- Kin]),
    IsMany = maps:get(count, One) >= ?MANY_READY,
    Answers = answers(Pids, fun(Pid) -> {ok, labelled(Pid), [Frame || IsMany, Frame <- stands_in(Pid)]} end, now_ms() + ?ANSWER_MS),
    Asked = maps:from_list([{Pid, case Answer of {ok, Label, _} -> Label; _ -> unknown end} || {Pid, {Answer, _}} <- Answers]),
    Labels = maps:merge(Asked, maps:from_list([{Pid, labelled_soon(Pid)} || #{pid := Pid} <- Kin, maps:get(Pid, Asked, unknown) =:= unknown])),
    [with_stand(Part, [Frame || {_, {{ok, Label, Frames}, _}} <- Answers, lists:member(maps:get(label, Part), [Label, unknown]),
                                Frame <- Frames])
     || Part <- parts(Key, One, case Sample of not_asked -> not_asked; #{} -> maps:remove(answered, Sample) end, {Kin, Labels}, Names)].

%% Where it is in its own code, or waits for something in it. A loop of a behaviour tells nothing.
stands_in(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, [_ | _] = Stack} ->
            {Module, _, _} = Frame = own_frame(Stack),
            [Frame || not lists:member(Module, ?WAITS_OF_OTP), not lists:member(Module, ?BEHAVIOURS)];
        _ -> []
    end.

%% Where most of some members are.
with_stand(#{label := Label} = Part, Frames) ->
    case most_frequent(Frames) of
        [{_, Frame} | _] when Frame =/= Label -> Part#{in => Frame};
        _ -> Part
    end.

%% @doc A kind of processes by what its members are. One of which that is not known, and that was looked at closer, is what those are whose
%% heaps, before they were collected, were as its own; else it is left out, and is told of by itself.
-spec parts(term(), group(), not_asked | #{large | holding := [{pid(), map() | busy}], shared => [binary()]},
            {[row()], #{pid() => mfa() | unknown}}, #{pid() => atom()}) -> [diagnose_types:group()].
parts({{Call, _}, _}, All, Sample, {Kin, Asked}, Names) ->
    Sure = maps:filter(fun(_, Label) -> Label =/= unknown end, Asked),
    Kinds = lists:usort(maps:values(Sure)),
    Unknown = [Row || #{pid := Pid} = Row <- Kin, not is_map_key(Pid, Sure)],
    Likely = [{Pid, Label} || #{pid := Pid} = Row <- Unknown,
                              [Label] <- [[L || L <- Kinds, is_as(Row, [P || {P, Is} <- maps:to_list(Sure), Is =:= L], Sample)]]],
    Strange = [Row || #{pid := Pid} = Row <- Unknown, not lists:keymember(Pid, 1, Likely)],
    Labels = maps:merge(maps:without([Pid || #{pid := Pid} <- Strange], Asked), maps:from_list(Likely)),
    Known = [{Pid, Label} || {Pid, Label} <- maps:to_list(Labels), Label =/= unknown],
    case {Kinds, told_apart(Call, Kinds, Known, map_size(Labels))} of
        {[Label], _} -> [part(Label, without(Strange, All), Sample, Labels, Kin, Names) || maps:get(count, All) > length(Strange)];
        {_, [_ | _] = Apart} ->
            [part(Label, One, Sample, maps:from_list([Pair || {_, L} = Pair <- Known, L =:= Label]), Kin, Names)
             || Label <- Apart, One <- [of_kind(Label, All, Sample, Kin, Known)], maps:get(count, One) > 0];
        _ -> [part(unknown, All, Sample, maps:map(fun(_, _) -> unknown end, Asked), Kin, Names)]
    end.

%% Of all that are in no kind worth telling of, those kinds that each are a quarter, where they are nearly all.
told_apart(any, Kinds, Known, Drawn) ->
    Many = [{Kind, Count} || Kind <- Kinds, Count <- [length([1 || {_, Label} <- Known, Label =:= Kind])], 4 * Count >= Drawn],
    case 4 * lists:sum([Count || {_, Count} <- Many]) >= 3 * Drawn of
        true -> [Kind || {Kind, _} <- Many];
        false -> []
    end;
told_apart(_, [_, _ | _] = Kinds, _Known, _Drawn) -> Kinds;
told_apart(_, _, _, _) -> [].

%% What is known of those that were looked at closer, and the part that they are of the others by those that were drawn by chance.
of_kind(Label, All, Sample, Kin, Known) ->
    Others = [Pair || {Pid, _} = Pair <- Known, not lists:any(fun(#{pid := P}) -> P =:= Pid end, Kin)],
    Share = ratio(length([1 || {_, L} <- Others, L =:= Label]), length(Others)),
    [Large, Holding] = [share(Label, Share, Key, maps:get(Kind, Sample, []), Others)
                        || Sample =/= not_asked, {Kind, Key} <- [{large, heap}, {holding, held}]]
        ++ [Share || Sample =:= not_asked, _ <- [large, holding]],
    lists:foldl(fun(Row, One) -> joined(One, group(Row)) end,
                scaled(Share, Large, Holding, without(Kin, All)),
                [Row || #{pid := Pid} = Row <- Kin, lists:member({Pid, Label}, Known)]).

%% Of the bytes that were collected.
share(Label, Share, Key, Collected, Others) ->
    Bytes = [{L, B} || {Pid, #{before := #{Key := B}}} <- Collected, {P, L} <- Others, P =:= Pid],
    case lists:sum([B || {_, B} <- Bytes]) of
        0 -> Share;
        Sum -> lists:sum([B || {L, B} <- Bytes, L =:= Label]) / Sum
    end.

scaled(Share, Large, Holding, All) ->
    maps:map(fun(Key, Value) when Key =:= large; Key =:= large_heap -> round(Large * Value);
                (Key, Value) when Key =:= holding; Key =:= held; Key =:= holding_heap -> round(Holding * Value);
                (Key, Value) when Key =:= deepest; is_list(Value) -> Value;
                (_, Value) -> round(Share * Value)
             end, All).

is_as(#{depth := Depth}, _Pids, _Sample) when Depth >= ?DEEP -> true;
is_as(#{heap := Heap, used := Used}, Pids, #{large := Large}) ->
    Before = [B || {Pid, #{before := B}} <- Large, lists:member(Pid, Pids)],
    is_among(Heap, [Bytes || #{heap := Bytes} <- Before]) andalso is_among(Used, [Bytes || #{used := Bytes} <- Before]);
is_as(_, _, not_asked) -> false.

is_among(_, []) -> false;
is_among(Bytes, Seen) -> 3 * Bytes >= 2 * lists:min(Seen) andalso 2 * Bytes =< 3 * lists:max(Seen).

without(Rows, All) ->
    lists:foldl(fun(Row, Left) ->
                        One = group(Row),
                        maps:map(fun(Key, Value) when Key =:= deepest; is_list(Value) -> Value;
                                    (Key, Value) -> max(0, Value - maps:get(Key, One))
                                 end, Left)
                end, All, Rows).

%% Members: those of this kind, and those that may be of it.
part(Label, #{count := Count, heap := Heap, used := Used, large := Large, large_heap := LargeHeap,
              holding := Holding, held := Held, holding_heap := HoldingHeap, laden := Laden, laden_held := LadenHeld,
              deep := Deep, messages := Messages, deepest := Deepest, behind := Behind, behind_messages := BehindMessages,
              ready := Ready, suspended := Suspended, larges := Larges, holders := Holders} = One, Sample, Members, Kin, Names) ->
    Pids = [Pid || {Pid, L} <- maps:to_list(Members), L =:= Label],
    Refers = [Back || {Pid, Back} <- maps:get(refers, One, []), is_map_key(Pid, Members)],
    (maps:from_list([{refers, add(Refers)} || Refers =/= []]))
    #{label => Label, count => Count, heap_bytes => Heap, used_bytes => Used, large => Large, large_heap_bytes => LargeHeap,
      holding => Holding, held_bytes => Held, holding_heap_bytes => HoldingHeap, laden => Laden, laden_bytes => LadenHeld,
      deep => Deep, messages => Messages, deepest => Deepest,
      behind => Behind, behind_messages => BehindMessages, ready => Ready, suspended => Suspended,
      sample => case Sample of
                    not_asked -> not_asked;
                    #{} -> #{large => summed(large, Sample, Larges, Members), holding => summed(holding, Sample, Holders, Members)}
                end,
      kin => [pid_text(Pid) || #{pid := Pid} <- Kin, is_map_key(Pid, Members)],
      members => [#{pid => pid_text(Pid), name => maps:get(Pid, Names, '')} || Pid <- lists:sublist(Pids, ?FEW_SHAPES)]}.

labelled(Pid) ->
    case process_info(Pid, initial_call) of
        {_, Call} -> label(Pid, #{initial_call => Call});
        undefined -> unknown
    end.

depth(Pid) ->
    case process_info(Pid, message_queue_len) of
        {_, Depth} -> Depth;
        undefined -> ?DEEP
    end.

%% Some of those with a large heap and some that hold binaries, drawn by chance; also those that work, as those do that give no
%% answer. And how many answered.
sample(#{larges := Larges, holders := Holders}, Until) ->
    [Large, Holding] = [[{Pid, {Reductions, At}} || {_, Pid, Reductions, At} <- lists:sublist(Some, ?COLLECTED)]
                        || Some <- [Larges, Holders]],
    Rows = maps:from_list(Large ++ Holding),
    Back = answers(maps:keys(Rows), fun(Pid) -> gave_back(Pid, maps:get(Pid, Rows)) end, Until),
    Seen = [{Pid, case Answer of silent -> busy; _ -> Answer end} || {Pid, {Answer, _}} <- Back, Answer =/= gone],
    #{answered => length([1 || {_, {Answer, _}} <- Back, Answer =/= silent]),
      large => [One || {Pid, _} = One <- Seen, lists:keymember(Pid, 1, Large)],
      holding => [{Pid, case Answer of #{steady := _} -> busy; _ -> Answer end}
                  || {Pid, Answer} <- Seen, lists:keymember(Pid, 1, Holding)]}.

%% Another one that was not collected, where there is one, is what a proof collects. None is of another kind.
summed(Kind, Sample, Drawn, Members) ->
    Own = [One || {Pid, _} = One <- maps:get(Kind, Sample), is_map_key(Pid, Members)],
    Collected = [One || {_, #{}} = One <- Own],
    Same = [Pid || {_, Pid, _, _} <- Drawn, is_map_key(Pid, Members)],
    case {Collected, [Pid || Pid <- Same, not lists:keymember(Pid, 1, Collected)]} of
        {[], _} -> none;
        {[{First, _} | _], Others} ->
            (maps:from_list([{steady, true} || [_ | _] <- [[S || {_, #{steady := S}} <- Collected]]]))
            #{shared => lists:sublist(maps:get(shared, Sample, []), ?FEW_SHAPES),
              collected => length(Collected), working => length(Own) - length(Collected), another => pid_text(lists:last([First | Others])),
              before => add([B || {_, #{before := B}} <- Collected]), 'after' => add([A || {_, #{'after' := A}} <- Collected])}
    end.

%% @doc What a process gave back. Only who is idle and has a small heap is touched: nothing waits for it while it collects. One that
%% hibernates has been collected: what it holds it holds on to. Of one that works a little, what its old generation has is looked at.
-spec gave_back(pid(), {Reductions :: non_neg_integer(), At :: integer()}) -> map() | busy | gone.
gave_back(Pid, Before) ->
    case rests(Pid, Before) of
        idle -> collected(Pid);
        steady -> left_old(Pid);
        hibernates -> case held(Pid) of gone -> gone; Held -> #{before => Held, 'after' => Held} end;
        no -> busy
    end.

%% One that hibernates has no garbage.
is_idle(Pid, Before) -> rests(Pid, Before) =:= idle.

rests(Pid, {Reductions, At}) ->
    case process_info(Pid, [status, message_queue_len, reductions, current_function]) of
        [{_, waiting = Status}, {_, 0}, {_, Now}, {_, Function}] ->
            Most = fun(ASecond) -> ?ASKED_REDUCTIONS + ASecond * (now_ms() - At) div 1000 end,
            case {Now - Reductions =< Most(?IDLE_REDUCTIONS), Now - Reductions =< Most(?STEADY_REDUCTIONS)} of
                {true, _} -> case hibernates(#{status => Status, current_function => Function}) of true -> hibernates; false -> idle end;
                {false, true} -> steady;
                {false, false} -> no
            end;
        _ -> no
    end.

%% Its minor collections leave that. They clear the young generation by themselves, which is as large again soon.
left_old(Pid) ->
    case process_info(Pid, garbage_collection_info) of
        {_, Info} ->
            #{heap := Heap, old := Old, used := Used} = sizes(Info),
            case 2 * Old >= Heap andalso Used =< ?STEADY_BYTES andalso collected(Pid) of
                #{'after' := #{heap := Left} = After} = Back -> Back#{'after' := After#{heap := max(Left, Heap - Old)}, steady => true};
                _ -> busy
            end;
        undefined -> gone
    end.

collected(Pid) ->
    case {may_be_collected(process_info(Pid, [max_heap_size, total_heap_size])), held(Pid)} of
        {true, #{used := Used} = Before} when Used =< ?COLLECTED_BYTES ->
            _ = erlang:garbage_collect(Pid),
            case held(Pid) of
                #{} = After -> #{before => Before, 'after' => case queues_data(Pid) of
                                                                true -> maps:merge(After, maps:with([held, binaries], Before));
                                                                false -> After
                                                            end};
                gone -> gone
            end;
        _ -> gone
    end.

%% Its ports have data to send, and refer to these binaries, too: what it no longer refers to is not free.
queues_data(Pid) ->
    case process_info(Pid, links) of
        {_, Links} ->
            lists:any(fun(Port) -> erlang:port_info(Port, queue_size) > {queue_size, 0} end,
                      lists:sublist([One || One <- Links, is_port(One)], ?OWN_PORTS));
        undefined -> false
    end.

%% @doc Whether no full sweep brings the process over its max_heap_size, which would end it. The heap that it makes counts beside the
%% heaps that it has.
-spec may_be_collected([{max_heap_size | total_heap_size, term()}] | undefined) -> boolean().
may_be_collected([{max_heap_size, #{size := 0}}, _]) -> true;
may_be_collected([{max_heap_size, #{size := Most}}, {total_heap_size, Words}]) -> 3 * Words =< Most;
may_be_collected(undefined) -> false.

held(Pid) ->
    case process_info(Pid, garbage_collection_info) of
        {_, Info} ->
            #{used := Used} = Sizes = sizes(Info),
            (maps:with([heap, used, held], Sizes))#{binaries => binaries(Pid, 0, Used)};
        undefined -> gone
    end.

%% Sums over the members. A binary that several of them hold counts once, as far as the first of each tell.
add(Members) ->
    Known = [One || #{binaries := #{}} = One <- Members],
    Used = [Bytes || #{used := Bytes} <- Members],
    #{heap_bytes => total(heap, Members), used_bytes => lists:sum(Used), held_bytes => total(held, Members),
      least_used_bytes => lists:min(Used), most_used_bytes => lists:max(Used),
      binaries => case Known of
                      [] -> unknown;
                      _ -> #{members => length(Known), charged_bytes => total(held, Known), references => of_binaries(references, Known),
                             count => of_binaries(count, Known), bytes => round(alone(Known) * of_binaries(bytes, Known))}
                  end}.

total(Key, Members) -> lists:sum([maps:get(Key, One) || One <- Members]).

of_binaries(Key, Members) -> lists:sum([maps:get(Key, Binaries) || #{binaries := Binaries} <- Members]).

%% The part of their binaries that is not told of by another of them, too.
alone(Members) ->
    Some = [Ids || #{binaries := #{some := Ids}} <- Members],
    All = lists:foldl(fun maps:merge/2, #{}, Some),
    ratio(lists:sum(maps:values(All)), max(1, lists:sum([lists:sum(maps:values(Ids)) || Ids <- Some]))).

%% @doc Who has been called by many that still wait, by what the members of large kinds that were drawn monitor inside a function that
%% waits for one answer; a process of another node, or what erpc runs there, too; and who gives out the locks that many wait for.
-spec awaited(#{term() => group()}, #{pid() => atom()}, integer()) -> [diagnose_types:awaited()].
awaited(Groups, Names, Deadline) ->
    Many = [{Count, Some} || #{count := Count, some := Some} <- calling(Groups), Count >= ?NOT_READ],
    Large = lists:sublist(lists:reverse(lists:keysort(1, Many)), ?CALLING_GROUPS),
    Asked = [{Pid, {Reductions, At}} || {_, Some} <- Large, {_, Pid, Reductions, At} <- Some],
    Rows = maps:from_list(Asked),
    Answered = answers(maps:keys(Rows), fun(Pid) -> calls(Pid, maps:get(Pid, Rows)) end, now_ms() + ?ANSWER_MS),
    Answers = maps:from_list([{Pid, Answer} || {Pid, {Answer, _}} <- Answered]),
    Calls = lists:append([called(Count, [maps:get(Pid, Answers, no) || {_, Pid, _, _} <- Some]) || {Count, Some} <- Large]),
    Found = [{Called, One}
             || {Called, Same} <- maps:to_list(maps:groups_from_list(fun({Called, _}) -> Called end, fun({_, Call}) -> Call end, Calls)),
                lists:sum([Count || #{count := Count} <- Same]) >= least_awaited(Called),
                Most <- [most_calling(Called, [Pid || {Pid, {Whom, _, _}} <- maps:to_list(Answers), lists:member(Called, Whom)])],
                Most >= least_awaited(Called), One <- awaited_one(Called, lowered(Most, Same), Names)],
    still_awaited(Found, Answers, min(Deadline - ?ANSWER_MS, now_ms() + ?MEANWHILE_MS)).

%% @doc How many may wait for the answer of a process: no more than monitor it, if those that were drawn do. A kind may have members that
%% wait for something else, so what is drawn of it may tell of too many.
-spec most_calling(term(), [pid()]) -> non_neg_integer() | infinity.
most_calling({answer, Pid}, Drawn) when node(Pid) =:= node() ->
    Callers = callers(Pid),
    case Drawn -- Callers of
        [] -> length(Callers);
        _ -> infinity
    end;
most_calling(_, _) -> infinity.

%% @doc Counts of kinds, with no more in all.
-spec lowered(non_neg_integer() | infinity, [#{count := non_neg_integer(), _ => _}]) -> [#{count := non_neg_integer(), _ => _}].
lowered(Most, Calls) ->
    case lists:sum([Count || #{count := Count} <- Calls]) of
        All when All > Most -> [Call#{count := max(1, Count * Most div All)} || #{count := Count} = Call <- Calls];
        _ -> Calls
    end.

%% Those whose callers wait in the same call until then, and what is seen of them meanwhile.
still_awaited([], _Answers, _Until) -> [];
still_awaited(Found, Answers, Until) ->
    Control = control(),
    Before = [{Called, [{Pid, Done} || {Pid, {Whom, _, _}} <- maps:to_list(Answers), lists:member(Called, Whom), Done <- done(Pid)]}
              || {Called, _} <- Found, is_tuple(Called), lists:member(element(1, Called), [answer, far])],
    Watched = [{Called, One, begun(fun() -> meanwhile(Called, One, Until) end)} || {Called, One} <- Found],
    All = [{Called, with_meanwhile(One, answered(Helper, Until + ?ANSWER_MS))} || {Called, One, Helper} <- Watched],
    _ = Before =/= [] andalso wait(max(0, Until - now_ms())),
    OfControl = control_did(Control),
    [One || {Called, One} <- All, are_same_calls(proplists:get_value(Called, Before, []), OfControl)].

%% Another process that only waits, and what it was made to do until now.
control() ->
    Control = spawn_link(fun() -> receive stop -> ok end end),
    ok = wait(?TO_REST_MS),
    {Control, lists:sum(done(Control))}.

control_did({Control, Began}) ->
    Did = lists:sum(done(Control)) - Began,
    true = unlink(Control),
    true = exit(Control, kill),
    Did.

%% @doc Whether these have done nothing since they had so many reductions, or no more than another process that only waits: the VM has each
%% do something where a module is purged, for example. The consumers of a queue of work, and those that wait for a pool for a moment, wait
%% at most looks, too: each time in another call.
-spec are_same_calls([{pid(), Reductions :: non_neg_integer()}], non_neg_integer()) -> boolean().
are_same_calls(Before, OfControl) ->
    length(same_calls(Before, OfControl)) >= ?SAME_CALLS * length(Before).

same_calls(Before, OfControl) -> [Pid || {Pid, Then} <- Before, Now <- done(Pid), Now - Then =< ?SAME_CALL_REDUCTIONS + 2 * OfControl].

done(Pid) -> [Reductions || {_, Reductions} <- [process_info(Pid, reductions)]].

with_meanwhile(One, #{} = Seen) -> maps:merge(One, Seen);
with_meanwhile(One, _) -> One.

meanwhile({answer, Pid}, One, Until) when node(Pid) =:= node() ->
    case global_locks_of(Pid) of
        [_ | _] = Before ->
            wait(max(0, Until - now_ms())),
            case global_locks_of(Pid) of
                Before -> locked_meanwhile(Pid, Until);
                _ -> none
            end;
        [] -> answered_meanwhile(Pid, One, Until)
    end;
meanwhile({lock, Server}, _One, Until) ->
    case registered_as(Server) of
        global_name_server ->
            Before = global_locks(),
            Locked = locked_meanwhile(Server, Until),
            Standby = standby(Until),
            maps:merge(without_passing(Locked, [pid_text(Pid) || Pid <- holders_of(Before -- (Before -- global_locks()))]), Standby);
        _ -> locked_meanwhile(Server, Until)
    end;
meanwhile(_, _, _) -> none.

locked_meanwhile(Server, Until) ->
    Name = registered_as(Server),
    %% First, since the rest may take all of the time.
    Nodes = which_answer(lists:sublist(nodes_of_locks(Name), ?ASKED_NODES)),
    Queue = lock_queue(Name),
    Holders = lock_holders(Name, Queue, Until),
    #{for => lock, holds => [holder(Pid) || Pid <- Holders], nodes => locked_on(Name, Holders, Queue, Nodes)}.

%% Where a lock is kept all the time, who has another one for a moment holds up nobody.
without_passing(Locked, []) -> Locked;
without_passing(#{holds := Holders} = Locked, Keeping) ->
    Locked#{holds := [One || #{pid := Pid} = One <- Holders, lists:member(Pid, Keeping)]}.

%% @doc Of locks of global: how many are kept until then, as that of a leader is, how many processes try to get one, and for how many of
%% these others wait. tries: of those that tried at first, how many got one meanwhile or gave up, and at how many looks no lock was still
%% kept since the look before.
-spec standby(integer()) -> #{standby => #{locks | waiting | needed := non_neg_integer(), tries := map()}}.
standby(Until) ->
    Began = now_ms(),
    Before = global_locks(),
    Trying = some(?TURNS_ASKED, [Pid || Pid <- all_of_few(), tries_for_global(Pid)]),
    {Stay, Looks} = still_trying(Trying, Until, []),
    Locks = ordsets:intersection(ordsets:from_list(Before), ordsets:from_list(global_locks())),
    case [Pid || Pid <- all_of_few(), tries_for_global(Pid)] of
        [] -> #{}; % there are too many processes
        Waiting -> #{standby => #{locks => length(Locks), waiting => length(Waiting),
                                  needed => length([Pid || Pid <- lists:sublist(Waiting, ?TURNS_ASKED), is_needed(Pid)]),
                                  tries => #{asked => length(Trying), moved => length(Trying) - length(Stay), ms => max(1, now_ms() - Began),
                                             looks => length(Looks) - 1, free => given_back(Looks)}}}
    end.

given_back([Now | [Before | _] = Looks]) -> is(Now -- (Now -- Before) =:= []) + given_back(Looks);
given_back([_]) -> 0.

%% Who got a lock does something else soon, and was seen there; a try takes hardly any time.
still_trying(Trying, Until, Looks) ->
    wait(max(1, min(?TRYING_MS, Until - now_ms()))),
    Now = [Pid || Pid <- Trying, is_at_global(Pid)],
    All = [global_locks() | Looks],
    case now_ms() < Until of
        true -> still_trying(Now, Until, All);
        false -> {Now, All}
    end.

is_at_global(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, [{global, Function, _, _} | _]} -> Function =:= random_sleep;
        {_, Stack} -> lists:any(fun({Module, Function, _, _}) -> Module =:= global andalso is_set_lock(Function) end, Stack);
        undefined -> false
    end.

%% set_lock1/3 and others are of single releases. Who has the lock is in trans.
is_set_lock(Function) -> lists:prefix("set_lock", atom_to_list(Function)).

tries_for_global(Pid) ->
    case process_info(Pid, current_function) of
        {_, {global, Function, _}} -> Function =:= random_sleep;
        _ -> false
    end.

%% It has messages or a port, or somebody waits for its answer.
is_needed(Pid) ->
    case process_info(Pid, [message_queue_len, links, monitored_by]) of
        [{_, Messages}, {_, Links}, {_, By}] ->
            Messages > 0 orelse lists:any(fun is_port/1, Links)
                orelse lists:any(fun(One) -> is_pid(One) andalso node(One) =:= node() andalso waits_in_call(One) end,
                                 lists:sublist(By, ?HOLDERS));
        undefined -> false
    end.

waits_in_call(Pid) -> process_info(Pid, current_function) =:= {current_function, {gen, do_call, 4}}.

%% Who registers a global name asks the name server, which waits for the lock of all nodes with it.
global_locks_of(Pid) -> case registered_as(Pid) of global_name_server -> lists:sublist(global_locks(), ?LARGEST); _ -> [] end.

%% @doc A queue of work whose idle workers wait for its answer, and a pool that does not get back what it has lent, both wait for their next
%% message. Who comes new to wait, and who was answered and hangs, is told, since nothing else tells them apart; and how many of its callers
%% no longer wait in the same call until then, and how many who did not wait do.
-spec answered_meanwhile(pid(), #{kinds := [{mfa() | unknown, pos_integer()}], _ => _}, integer()) -> map().
answered_meanwhile(Pid, #{kinds := Kinds}, Until) ->
    IsAtRest = is_at_rest(Pid, ?AT_REST_LOOKS),
    Began = now_ms(),
    Control = control(),
    Before = callers(Pid),
    Asked = [{One, Done} || One <- some(?TURNS_ASKED, Before), lists:keymember(labelled(One), 1, Kinds), Done <- done(One)],
    Others = alike_beside(Before),
    {Count, Monitored} = monitored_beside(Pid, Before),
    Then = lists:sum(done(Pid)),
    wait(max(0, Until - now_ms())),
    Now = callers(Pid),
    Taken = max(0, lists:sum(done(Pid)) - Then) div ?TAKEN_REDUCTIONS,
    Ended = [One || {One, _} <- Asked, not is_process_alive(One)],
    Other = length(Asked) - length(Ended) - length(same_calls(Asked, control_did(Control))),
    Seen = #{watched_ms => max(1, now_ms() - Began),
             turns => #{asked => length(Asked), moved => length(Ended) + min(Other, Taken),
                        back => length([One || {One, _} <- Others, lists:member(One, Now)])}},
    case IsAtRest of
        true -> Seen#{at_rest => true, came => came(Now), holders => without_first(at_rest(Others, Now)),
                      monitored => with_count(Count, Pid, at_rest(Monitored, Now))};
        false -> Seen
    end.

without_first(none) -> none;
without_first(Some) -> maps:remove(first, Some).

%% And for whom one of them waits in turn, which may be for the server itself.
with_count(_Count, _Server, none) -> none;
with_count(Count, Server, #{first := First} = Some) ->
    (maps:remove(first, Some))#{count => Count, asks => asks_in_turn(First, [First, Server])}.

%% @doc Who waits for locks of mnesia, by its locker, which gives the tables of all: it is asked once, and where these are not large.
-spec lock_queue(atom()) -> [tuple()] | none.
lock_queue(mnesia_locker) ->
    case lists:all(fun(Table) -> ets:info(Table, size) =< ?LOCKS end, [mnesia_held_locks, mnesia_lock_queue]) of
        true -> of_locker(get_lock_queue);
        false -> none
    end;
lock_queue(_) -> none.

%% Who has the locks that others wait for.
lock_holders(mnesia_locker, Queue, Until) when is_list(Queue) -> of_transactions(Queue, Until);
lock_holders(global_name_server, _, _) -> lists:sublist(holders_of(global_locks()), ?LARGEST);
lock_holders(_, _, _) -> [].

holders_of(Locks) -> [Pid || {_, {Pid, _}} <- Locks].

%% Each with its holder and the monitor of that, which is another one where a lock was given back and taken again, if by the same process.
global_locks() ->
    case ets:info(global_locks, size) of
        Size when is_integer(Size), Size =< ?LOCKS ->
            [{Id, lists:last(Of)} || {Id, _, [_ | _] = Of} <- ets:tab2list(global_locks)];
        _ -> []
    end.

%% Each that waits knows for whom. Those that try again and again wait for nobody: then who has one all the time is meant.
of_transactions(Queue, Until) ->
    Waiting = maps:from_list([{Id, true} || {_, _, _, Id, _} <- Queue]),
    Ids = case [For || {_, _, _, _, For} <- Queue, not is_map_key(For, Waiting)] of
              [_ | _] = Roots -> Roots;
              [] ->
                  Before = lists:usort(ids_with_locks()),
                  wait(max(0, Until - now_ms())),
                  After = ids_with_locks(),
                  [Id || Id <- Before, lists:member(Id, After)]
          end,
    [Pid || {_, {tid, _, Pid}} <- most_frequent(Ids), is_pid(Pid)].

%% Other nodes that may keep a lock from those that wait for it here.
nodes_of_locks(mnesia_locker) -> state_of(mnesia_gvar, {current, db_nodes}) -- [node()];
nodes_of_locks(Name) -> lists:usort([node(Pid) || Pid <- lock_holders(Name, none, 0)]) -- [node()].

%% As net_adm:ping/1 asks, but of all at a time, without a new connection, and without a wait for one that is full.
which_answer([]) -> [];
which_answer(Nodes) ->
    case apart(fun() ->
                       Asked = [{Node, asked_node(Node)} || Node <- Nodes],
                       Until = now_ms() + ?NODE_MS,
                       [#{node => Node, answers => has_answered(Ref, Until)} || {Node, Ref} <- Asked]
               end) of
        lost -> [];
        Answers -> Answers
    end.

asked_node(Node) ->
    Ref = make_ref(),
    case erlang:send({net_kernel, Node}, {'$gen_call', {self(), Ref}, {is_auth, node()}}, [noconnect, nosuspend]) of
        ok -> Ref;
        _ -> none
    end.

has_answered(none, _Until) -> false;
has_answered(Ref, Until) -> receive {Ref, _} -> true after max(0, Until - now_ms()) -> false end.

%% @doc The node of who has a lock; and those of mnesia for which a process waits that has one here, as if nobody has one: of these rather
%% those that do not answer.
-spec locked_on(atom(), [pid()], Queue :: [tuple()] | none, [Node]) -> [Node] when Node :: #{node := node(), answers := boolean()}.
locked_on(mnesia_locker, Holders, Queue, [_ | _] = Nodes) ->
    case {waits_for_nodes(Holders, Queue), [One || #{answers := false} = One <- Nodes]} of
        {false, _} -> nodes_of(Holders, Nodes);
        {true, []} -> lists:sublist(Nodes, ?LARGEST);
        {true, Silent} -> lists:sublist(Silent, ?LARGEST)
    end;
locked_on(_Name, Holders, _Queue, Nodes) -> nodes_of(Holders, Nodes).

nodes_of(Pids, Nodes) -> [One || #{node := Node} = One <- Nodes, lists:member(Node, [node(Pid) || Pid <- Pids])].

waits_for_nodes(_, none) -> false;
waits_for_nodes([], Queue) -> Queue =:= [];
waits_for_nodes(Holders, Queue) ->
    Queued = [Pid || {_, _, _, {tid, _, Pid}, _} <- Queue],
    lists:any(fun waits_for_node/1, [Pid || Pid <- Holders, node(Pid) =:= node()] -- Queued).

%% A lock of another node, or its vote for a commit.
waits_for_node(Pid) ->
    case process_info(Pid, current_function) of
        {_, {mnesia_locker, Function, _}} -> Function =/= loop;
        {_, {mnesia_tm, Function, _}} -> lists:member(Function, [rec_all, rec_dirty, get_dirty_reply]);
        _ -> false
    end.

ids_with_locks() -> [Id || {_, _, Id} <- of_locker(get_held_locks)].

%% An application of its own, which need not be there.
of_locker(Function) -> mnesia_locker:Function().

%% One may be of another node.
holder(Pid) when node(Pid) =:= node() ->
    #{pid => pid_text(Pid), name => registered_as(Pid), label => labelled_apart(Pid),
      in => case apart(fun() -> process_info(Pid, current_stacktrace) end) of {_, [_ | _] = Stack} -> own_frame(Stack); _ -> none end};
holder(Pid) -> #{pid => pid_text(Pid), name => '', label => unknown, in => none}.

%% Rather what calls OTP than OTP.
own_frame(Stack) ->
    case [frame(Frame) || {Module, _, _, _} = Frame <- Stack, not lists:member(Module, [gen | ?WAITS_OF_OTP])] of
        [Own | _] -> Own;
        [] -> first_frame(Stack)
    end.

%% @doc Whether a server is seen waiting for its next message, whatever that is, with none left: it has taken all that it was asked. Not one
%% that waits inside of what it does, or that sys:suspend/1 stopped.
-spec is_at_rest(pid(), Looks :: pos_integer()) -> boolean().
is_at_rest(Pid, Looks) ->
    case process_info(Pid, [message_queue_len, status, current_stacktrace]) of
        [{_, 0}, {_, waiting}, {_, Stack}] -> is_main_loop([frame(Frame) || Frame <- Stack]);
        undefined -> false;
        _ when Looks > 1 ->
            wait(?BETWEEN_MS),
            is_at_rest(Pid, Looks - 1);
        _ -> false
    end.

%% The loop of a behaviour, or a function that a process without one began with: what waits below another function waits for something else.
is_main_loop([{Module, Function, _} | Below] = Stack) ->
    case lists:any(fun is_own_frame/1, Stack) of
        false when Module =:= sys; Module =:= gen; Module =:= proc_lib, ?WAITS_FOR_START(Function) -> false;
        false -> true;
        true ->
            is_own_frame(hd(Stack)) andalso not lists:member(Module, ?WAITS_OF_OTP)
                andalso lists:all(fun({M, _, _}) -> M =:= proc_lib end, Below)
    end;
is_main_loop([]) -> true. % it hibernates

is_own_frame({erlang, hibernate, _}) -> false;
is_own_frame({Module, _, _}) -> not lists:member(Module, ?BEHAVIOURS).

%% Those that have called it monitor it.
callers(Pid) ->
    case process_info(Pid, monitored_by) of
        {_, By} -> [One || One <- By, is_pid(One), node(One) =:= node()];
        undefined -> []
    end.

%% Started after this process was, as long as the numbers of processes only go up.
came(Callers) ->
    case moment() of
        {_, first_round} -> length([One || One <- Callers, One > self()]);
        _ -> 0
    end.

%% Some of the kinds of those that wait, which do not wait for it: with what they have done until now.
alike_beside(Callers) ->
    First = lists:sublist(Callers, ?FEW_SHAPES),
    Kinds = lists:usort([Kind || One <- First, Kind <- [kind_key(One)], Kind =/= undefined]),
    Labels = lists:usort([Label || One <- First, Label <- [labelled(One)], Label =/= unknown]),
    Are = maps:from_list([{One, caller} || One <- Callers]),
    Beside = lists:sublist([One || One <- all_of_few(), not is_map_key(One, Are), lists:member(kind_key(One), Kinds)], ?ALIKE_ASKED),
    with_reductions([One || One <- Beside, lists:member(labelled(One), Labels)]).

%% @doc Whom it monitors, and who does not wait for it, as a pool does with those that it has lent something to: how many, and some of them.
%% Who is linked to it, too, is rather a part of it.
-spec monitored_beside(pid(), Callers :: [pid()]) -> {Count :: non_neg_integer(), [{pid(), Reductions :: non_neg_integer()}]}.
monitored_beside(Pid, Callers) ->
    case process_info(Pid, [monitors, links]) of
        [{_, Monitors}, {_, Links}] ->
            Others = maps:from_keys(Callers ++ Links, true),
            Beside = [One || {process, One} <- Monitors, is_pid(One), node(One) =:= node(), not is_map_key(One, Others)],
            {length(Beside), with_reductions(Beside)};
        undefined -> {0, []}
    end.

with_reductions(Pids) -> [{One, Reductions} || One <- lists:sublist(Pids, ?HOLDERS), {_, Reductions} <- [process_info(One, reductions)]].

kind_key(Pid) -> process_info(Pid, [initial_call, parent]).

%% How many of these were asked, how many of them did nothing but to be asked, and where most of those wait: for their next message, or
%% inside of what they do.
at_rest([], _) -> none;
at_rest(Others, Callers) ->
    Seen = [{waits_at(Stack), is_main_loop([frame(Frame) || Frame <- Stack]), One}
            || {One, Before} <- Others, not lists:member(One, Callers),
               [{_, waiting}, {_, Now}, {_, [_ | _] = Stack}] <- [process_info(One, [status, reductions, current_stacktrace])],
               Now - Before =< ?ASKED_REDUCTIONS],
    case most_frequent([{In, IsInLoop} || {In, IsInLoop, _} <- Seen]) of
        [{Times, {In, IsInLoop}} | _] ->
            [First | _] = [One || {I, L, One} <- Seen, {I, L} =:= {In, IsInLoop}],
            #{asked => length(Others), waiting => Times, in => In, in_loop => IsInLoop, first => First};
        [] -> none
    end.

%% The code server has on_load functions run in processes of their own: then that function, which tells the module.
waits_at(Stack) ->
    case lists:splitwith(fun(Frame) -> not is_of_on_load(Frame) end, Stack) of
        {[_ | _] = Above, [_ | _]} -> frame(lists:last(Above));
        _ -> own_frame(Stack)
    end.

is_of_on_load({code_server, Function, _, _}) -> binary:match(atom_to_binary(Function, utf8), <<"on_load">>) =/= nomatch;
is_of_on_load(_) -> false.

least_awaited({far, Node, _}) ->
    case is_connected(Node) of
        true -> ?AWAITED;
        false -> ?AWAITED_FEW
    end;
least_awaited({answer, Pid}) ->
    case registered_as(Pid) of
        code_server -> ?AWAITED_FEW; % nobody waits there for work
        _ -> ?AWAITED
    end;
least_awaited({host, _}) -> ?AWAITED;
least_awaited({socket, _}) -> ?NOT_READ;
least_awaited({lock, _}) -> ?AWAITED_FEW;
least_awaited(name_servers) -> ?AWAITED_FEW.

is_connected(Node) -> lists:member(Node, nodes(connected)).

%% @doc Kinds whatever the size of their heaps: who waits for the same may have come to it with more or less.
-spec calling(#{term() => group()}) -> [group()].
calling(Groups) ->
    maps:values(maps:fold(fun({{Call, _Size}, Parent}, One, Kinds) ->
                                  maps:update_with({Call, Parent}, fun(Others) -> joined(Others, One) end, One, Kinds)
                          end, #{}, Groups)).

%% It has done nothing since the look at all but to be asked.
calls(Pid, {Reductions, At}) ->
    Ms = now_ms() - At,
    case process_info(Pid, [status, reductions, current_stacktrace, monitors, initial_call]) of
        [{_, waiting}, {_, Now}, {_, [_ | _] = Stack}, {_, Monitors}, {_, Call}] when Ms >= ?AWAITED_MS ->
            Called = called_or_sent(Stack, [Monitored || {process, Monitored} <- Monitors]),
            case Called =/= [] andalso Now - Reductions =< ?ASKED_REDUCTIONS + tries(Called, Ms) of
                true -> {lists:usort(Called), Ms, label(Pid, #{initial_call => Call})};
                false -> no
            end;
        _ -> no
    end.

%% Who sends by TLS waits for a process of its connection, as by many libraries, and that one waits for the socket.
called_or_sent(Stack, Monitored) ->
    case sends_in(Stack) of
        [] ->
            Called = called_in(Stack, Monitored),
            Called ++ lists:usort([Sends || {answer, Pid} <- Called, {_, Its} <- [process_info(Pid, current_stacktrace)],
                                            Sends <- sends_in(Its)]);
        Sends -> Sends
    end.

sends_in(Stack) -> lists:sublist([{socket, frame(Frame)} || {Module, Function, _, _} = Frame <- lists:sublist(Stack, ?SENDS_AMONG),
                                                            lists:member({Module, Function}, ?SENDING)], 1).

%% Who waits for a lock or for a name server may try again and again.
tries([{lock, _} | _], Ms) -> ?IDLE_REDUCTIONS * Ms div 1000;
tries([name_servers], Ms) -> ?IDLE_REDUCTIONS * Ms div 1000;
tries(_, _) -> 0.

first_frame([{timer, sleep, _, _}, Frame | _]) -> frame(Frame);
first_frame([Frame | _]) -> frame(Frame).

%% @doc Whom a process waits for: by the function, or since it monitors one process only, in a function that is of another module than the
%% one that called it, as libraries do that have protocols of their own. A loop of its own has no caller, and a task monitors its owner.
-spec called_in([tuple()], [pid() | {atom(), node()}]) ->
          [name_servers | {host, diagnose_types:frame()} | {answer | lock, pid()} | {far, node(), pid() | atom()}].
called_in(Stack, Monitored) ->
    %% Who connects to a host waits for its address before.
    Connecting = [frame(Frame) || Known <- ?WAITS_FOR_HOST, {M, F, _, _} = Frame <- Stack, Known =:= {M, F},
                                  not lists:keymember(inet_gethost_native, 1, Stack)],
    case {lists:keymember(inet_res, 1, Stack), Connecting} of
        {true, _} -> [name_servers];
        {false, [Function | _]} -> [{host, Function}];
        {false, []} -> called_by(Stack, Monitored)
    end.

called_by(Stack, Monitored) ->
    case {waits_for(first_frame(Stack), Monitored), Stack, Monitored} of
        {[_ | _] = Called, _, _} -> Called;
        {[], [{Module, _, _, _}, {Caller, _, _, _} | _], [One]} when Module =/= Caller ->
            Modules = [M || {M, _, _, _} <- Stack],
            case lists:member(Module, ?WAITS_OF_OTP)
                orelse lists:member(Caller, [proc_lib | ?BEHAVIOURS])
                orelse lists:member('Elixir.Task.Supervised', Modules) of
                true -> [];
                false -> called_one(One)
            end;
        _ -> []
    end.

%% Functions that wait for one answer. Those of a lock monitor nobody, or sleep and try again.
-spec waits_for(diagnose_types:frame(), [pid() | {atom(), node()}]) -> [{answer | lock, pid()} | {far, node(), pid() | atom()}].
waits_for({gen, do_call, _}, Monitored) -> lists:flatmap(fun called_one/1, Monitored);
waits_for({dets, req, _}, Monitored) -> lists:flatmap(fun called_one/1, Monitored);
waits_for({'Elixir.DBConnection.Holder', checkout_call, _}, Monitored) -> lists:flatmap(fun called_one/1, Monitored);
waits_for({inet_gethost_native, main_loop, _}, _) -> [];
waits_for({inet_gethost_native, _, _}, _) -> [{answer, Resolver} || Resolver <- [whereis(inet_gethost_native)], is_pid(Resolver)];
waits_for({erpc, call, _}, []) -> [{far, Node, erpc} || [Node] <- [pending_nodes(sys_dist)]];
waits_for({erpc, call, _}, Monitored) -> [{far, node(One), erpc} || One <- Monitored, is_pid(One), node(One) =/= node()];
waits_for({mnesia_locker, loop, _}, _) -> [];
waits_for({mnesia_locker, _, _}, _) -> lock_of(mnesia_locker);
waits_for({mnesia_tm, restart, _}, _) -> lock_of(mnesia_locker);
waits_for({global, random_sleep, _}, _) -> lock_of(global_name_server);
waits_for(_, _) -> [].

%% @doc The nodes to which a connection is being made, by the table of net_kernel. Until there is one, the process that erpc has started
%% there is in no list of monitors. Of several such nodes none is known to be the one.
-spec pending_nodes(ets:table()) -> [node()].
pending_nodes(Table) ->
    try ets:select(Table, [{'$1', [{'=:=', {element, 4, '$1'}, pending}], [{element, 2, '$1'}]}])
    catch error:badarg -> [] % this node has no name
    end.

lock_of(Name) -> [{lock, Server} || Server <- [whereis(Name)], is_pid(Server)].

called_one(Pid) when is_pid(Pid), node(Pid) =:= node() -> [{answer, Pid}];
called_one(Pid) when is_pid(Pid) -> [{far, node(Pid), Pid}];
called_one({Name, Node}) when Node =:= node() -> [{answer, Pid} || Pid <- [whereis(Name)], is_pid(Pid)];
called_one({Name, Node}) -> [{far, Node, Name}].

%% @doc Of those that were drawn and answered some wait for the same one, or for sockets: so do as many of all.
-spec called(pos_integer(), [{[Called], Ms, Label} | no | silent]) -> [{Called, #{count := non_neg_integer(), ms := Ms, label := Label}}]
              when Called :: term(), Ms :: non_neg_integer(), Label :: mfa() | unknown.
called(Count, All) ->
    Answers = [Answer || Answer <- All, Answer =/= silent],
    case most_called([One || {Called, _, _} <- Answers, One <- Called]) of
        [{Times, Most} | _] when Times > 1; length(Answers) =:= 1 -> % each may wait for one of its own
            Same = [{Ms, Label} || {Called, Ms, Label} <- Answers, lists:member(Most, Called)],
            {Ms, Label} = lists:min(Same),
            [{Most, #{count => Count * Times div length(Answers), ms => Ms, label => Label}}];
        _ -> []
    end.

%% Those that wait for one process wait for it, and not each for a socket.
most_called(Called) ->
    case most_frequent(Called) of
        [{Times, {socket, _}}, {Times, Other} | _] -> [{Times, Other}];
        Ranked -> Ranked
    end.

awaited_one({socket, Function}, Calls, _Names) -> [(waiting(Calls))#{socket => Function}];
awaited_one({far, Node, What}, Calls, _Names) ->
    [(waiting(Calls))#{far => Node, connected => is_connected(Node),
                       called => case What of _ when is_pid(What) -> pid_text(What); _ -> atom_to_binary(What, utf8) end}];
awaited_one({host, Function}, Calls, _Names) -> [(waiting(Calls))#{host => Function}];
awaited_one(name_servers, Calls, _Names) ->
    Servers = [Server || Option <- [nameservers, alt_nameservers], Server <- inet_db:res_option(Option)],
    [(waiting(Calls))#{name_servers => [unicode:characters_to_binary([inet:ntoa(Address), ":", integer_to_list(Port)])
                                        || {Address, Port} <- Servers]}];
awaited_one({For, Pid}, Calls, Names) ->
    case within(fun() -> process_info(Pid, [message_queue_len, status, current_stacktrace]) end, now_ms() + ?AT_ONCE_MS) of
        [{_, Depth}, {_, Status}, {_, Stack}] ->
            [(waiting(Calls))#{for => For, pid => pid_text(Pid), name => maps:get(Pid, Names, ''), label => labelled_soon(Pid),
                               depth => Depth, status => Status, in => [frame(Frame) || Frame <- lists:sublist(Stack, ?FRAMES)]}];
        _ -> []
    end.

%% How many wait, how long at least, and of which kinds they are.
waiting(Calls) ->
    #{count => lists:sum([Count || #{count := Count} <- Calls]), ms => lists:min([Ms || #{ms := Ms} <- Calls]),
      kinds => [{Label, Count} || #{label := Label, count := Count} <- Calls]}.

labelled_soon(Pid) -> case within(fun() -> labelled(Pid) end, now_ms() + ?AT_ONCE_MS) of silent -> unknown; Label -> Label end.

%% @doc Whether one of the two youngest messages still waits after a tenth of a second. Where none does, none waits long: the process keeps
%% up with those who send, who wait for each other by a credit or a window. The very youngest may be the answer that the process itself
%% waits for, and takes at once. (Of messages that are equal it cannot be told.)
-spec stays(pid(), Constant :: non_neg_integer()) -> boolean() | unknown.
stays(Pid, Constant) ->
    case hashes(Pid, Constant) of
        unknown -> unknown;
        Before ->
            wait(?STAYS_MS),
            case hashes(Pid, Constant) of
                unknown -> unknown;
                After -> lists:any(fun(Hash) -> lists:member(Hash, After) end, lists:sublist(lists:reverse(Before), 2))
            end
    end.

%% The oldest first.
hashes(Pid, Constant) ->
    case messages(Pid, depth(Pid), Constant) of
        Messages when is_list(Messages) -> [erlang:phash2(Message, 1 bsl 32) || Message <- Messages];
        _ -> unknown
    end.

%% All that wait, as a copy. What the process has in all says how large that may be; to say it the VM goes over the messages (50,000 of
%% them take a millisecond). Constants and persistent terms are in no process, but each message that refers to one has a copy of it there.
messages(Pid, Depth, Constant) ->
    case copied_bytes(Pid, Depth) of
        Bytes when Bytes =< ?SHAPED_BYTES ->
            case Depth * max(Constant, least_of_terms(Depth)) =< ?COPIED_TERMS andalso process_info(Pid, messages) of
                {_, Messages} -> Messages;
                undefined -> ended;
                false -> too_large
            end;
        ended -> ended;
        _ -> too_large
    end.

%% What the process has. Much of that may be room on its heap: what is used of it, with the messages in fragments, is the most that such
%% messages can take, and the list of them. Messages off the heap are in neither.
copied_bytes(Pid, Depth) ->
    case process_info(Pid, [memory, message_queue_data]) of
        [{_, Bytes}, {_, on_heap}] when Bytes > ?SHAPED_BYTES, Bytes =< ?ROOMY * ?SHAPED_BYTES ->
            case process_info(Pid, garbage_collection_info) of
                {_, Info} -> maps:get(used, sizes(Info)) + 2 * Depth * erlang:system_info(wordsize);
                undefined -> ended
            end;
        [{_, Bytes}, _] -> Bytes;
        undefined -> ended
    end.

%% The bytes of the largest persistent term, or of all of them where that is little enough, or too much to go over. Those of OTP itself
%% and of this application are in no message.
least_of_terms(Depth) ->
    #{memory := All} = persistent_term:info(),
    case Depth * All =< ?COPIED_TERMS orelse All > ?SIZED_TERMS of
        true -> All;
        false ->
            erlang:system_info(wordsize)
                * lists:max([0 | [erts_debug:flat_size(Term) || {Key, Term} <- persistent_term:get(), not is_in_no_message(Key)]])
    end.

is_in_no_message({prim_socket, _}) -> true;
is_in_no_message({erl_features, _}) -> true;
is_in_no_message({diagnose_node, _, _, _}) -> true;
is_in_no_message(Key) -> Key =:= diagnose_known_faults.

%% @doc What waits in a mailbox, by tags and arities of a sample, never by contents: of one that is not too large to be copied. A constant
%% that each message refers to has so many bytes at most.
-spec shapes(pid(), non_neg_integer(), Constant :: non_neg_integer()) -> [{binary(), pos_integer()}] | too_large | not_looked.
shapes(_Pid, Depth, _Constant) when Depth < ?HELD_UP -> not_looked;
shapes(Pid, Depth, Constant) when Depth =< ?SHAPED_DEPTH ->
    case messages(Pid, Depth, Constant) of
        Messages when is_list(Messages) -> shapes_of(Messages);
        ended -> not_looked;
        too_large -> too_large
    end;
shapes(_Pid, _Depth, _Constant) -> too_large.

shapes_of(Messages) ->
    Counts = lists:foldl(fun(Message, Sum) -> maps:update_with(shape(Message), fun(Times) -> Times + 1 end, 1, Sum) end, #{},
                         some(?SHAPES, Messages)),
    lists:sublist(lists:reverse(lists:keysort(2, maps:to_list(Counts))), ?FEW_SHAPES).

%% @doc About so many of a list, or up to twice as many, drawn by chance: even steps are in step with what comes in turns, as the three
%% processes of each connection do. Without a copy of the list, which may be long; by the places, since what is there may be large.
-spec some(Most :: pos_integer(), [One]) -> [One].
some(Most, All) -> by_lot(max(1, length(All) div Most), 1, All).

by_lot(_Of, _Nth, []) -> [];
by_lot(Of, Nth, [One | Rest]) ->
    case erlang:phash2(Nth, Of) of
        0 -> [One | by_lot(Of, Nth + 1, Rest)];
        _ -> by_lot(Of, Nth + 1, Rest)
    end.

%% @doc What is told of a message: its tag where that is an atom, else the sort of term, and how many elements it has. (The modules
%% that format terms may not be loaded.)
-spec shape(term()) -> binary().
shape({'$gen_call', _From, Request}) -> iolist_to_binary(["call of ", shape(Request)]);
shape({'$gen_cast', Request}) -> iolist_to_binary(["cast of ", shape(Request)]);
shape(Message) when is_tuple(Message), tuple_size(Message) > 0 ->
    Rest = case tuple_size(Message) of
               Size when Size > 5 -> [", ... (", integer_to_list(Size), ")"];
               Size -> lists:duplicate(Size - 1, ", _")
           end,
    iolist_to_binary([${, tag(element(1, Message)), Rest, $}]);
shape(Message) -> iolist_to_binary([tag(Message)]).

tag(Term) when is_atom(Term) -> atom_to_binary(Term, utf8);
tag(Term) when is_pid(Term) -> "pid";
tag(Term) when is_reference(Term) -> "reference";
tag(Term) when is_port(Term) -> "port";
tag(Term) when is_binary(Term) -> "binary";
tag(Term) when is_number(Term) -> "number";
tag(Term) when is_map(Term) -> "map";
tag(Term) when is_list(Term) -> "list";
tag(Term) when is_tuple(Term) -> "tuple";
tag(Term) when is_function(Term) -> "fun";
tag(_) -> "term".

%% @doc What of the memory of processes is in none of them, as the messages of timers are until these are sent: of two looks at all of
%% them, the one with less. Only asked where there may be much, and few messages, since each process goes over its own to say what it has.
-spec beside_processes(#{memory := #{atom() => integer()} | unknown, heap_bytes | messages := non_neg_integer(), skipped := map(), _ => _},
                       integer()) -> diagnose_types:processes_beside() | not_needed | unknown.
beside_processes(#{memory := #{processes := Bytes}, heap_bytes := Heap, messages := Messages, skipped := Skipped}, Until)
  when Bytes - Heap >= ?MOST_BYTES, Messages =< ?SHAPED_DEPTH ->
    case maps:without([ended], Skipped) =:= #{} andalso erlang:system_info(process_count) =< ?ALL_LINKS of
        true -> known(within(fun least_beside/0, min(Until, now_ms() + ?LINKS_MS)));
        false -> not_needed
    end;
beside_processes(#{}, _Until) -> not_needed.

least_beside() ->
    First = beside_now(),
    wait(?STAYS_MS),
    case beside_now() of
        #{bytes := Bytes} = Last when Bytes =< map_get(bytes, First) -> Last;
        #{} -> First
    end.

%% The table of processes is of no process, either.
beside_now() ->
    Table = ?PLACE_BYTES * erlang:system_info(process_limit),
    Before = erlang:memory(processes),
    Each = [Bytes || Pid <- processes(), {_, Bytes} <- [process_info(Pid, memory)]],
    Sum = lists:sum(Each),
    #{bytes => max(0, min(Before, erlang:memory(processes)) - Sum - Table), of_processes => Sum, count => length(Each)}.

%% @doc Who has many monitors and links: what a process has beside its heap says it, which is a signal to each. The most telling come
%% first: those with a name. A dictionary is beside the heap, too. So they are counted, or, where that is too long a list, the VM has
%% the memory for them.
-spec links(silent | #{bif_timer | monitor | link => integer()}, #{atom() => integer()} | unknown, [pid()], integer()) ->
          diagnose_types:links() | unknown.
links(silent, _Memory, _Pids, _Until) -> unknown;
links(Used, Memory, Pids, Until) ->
    Each = link_bytes(whereis(init)),
    Found = extra(Pids, fun beside_heap/1, min(Until, now_ms() + ?LINKS_MS), Until),
    Bytes = maps:get(monitor, Used, 0) + maps:get(link, Used, 0) + beyond_system(Memory),
    #{timer_bytes => max(0, maps:get(bif_timer, Used, 0)),
      holders => holders(Bytes, Each, Found),
      dictionaries => [One || {Extra, Pid} <- ranked(?KEPT, Found), Extra >= ?DICTIONARY_BYTES,
                              One <- dictionary(Pid, Extra, Each, Bytes)]}.

%% Monitors by name have no fixed size, and are in no sum but that of the system.
beyond_system(#{system := System} = Memory) ->
    max(0, System - lists:sum([maps:get(Part, Memory) || Part <- [atom, binary, code, ets]]) - ?SYSTEM_BYTES);
beyond_system(unknown) -> 0.

%% @doc The process with its dictionary, where that has most of what lies beside its heap: neither messages, nor monitors and links. The
%% dictionary has one to two words there for each key. Where links may be too many to be counted, those of the whole node may be its own.
%% They are not counted: to be read it is copied, and what its values share becomes as many copies (of 2 MB some became 6 GB).
-spec dictionary(pid(), pos_integer(), pos_integer(), non_neg_integer()) -> [map()].
dictionary(Pid, Extra, Each, All) ->
    Depth = depth(Pid),
    Links = case Depth =:= 0 andalso counted_links(Pid, Extra div Each) of
                #{} = Counts -> Each * lists:sum(maps:values(Counts));
                _ -> All
            end,
    case Extra - Links of
        Bytes when Depth =:= 0, Bytes >= ?DICTIONARY_BYTES ->
            [#{pid => pid_text(Pid), name => registered_as(Pid), label => labelled(Pid), bytes => Bytes}];
        _ -> []
    end.

holders(Bytes, Each, Found) ->
    [Holder || {Extra, Pid} <- ranked(?KEPT, Found), Extra div Each >= ?MANY_LINKS,
               Extra div Each =< ?EXACT_LINKS orelse Extra =< Bytes, Holder <- holder(Pid, Extra div Each)].

%% @doc What a monitor takes on each side: 64 bytes in OTP 25, 72 in OTP 27.
-spec link_bytes(Monitored :: pid()) -> pos_integer().
link_bytes(Monitored) ->
    Before = beside(self()),
    Monitors = [monitor(process, Monitored) || _ <- lists:seq(1, ?MONITORS_MADE)],
    After = beside(self()),
    _ = [demonitor(Monitor, [flush]) || Monitor <- Monitors],
    max(1, (After - Before) div ?MONITORS_MADE).

%% @doc What these have beside their heaps, asked by the hundred until the first moment, each by a process of its own. A process that
%% has much there goes over all of it to say so: who did not answer then is asked again, until the second moment.
-spec extra([pid()], fun((pid()) -> non_neg_integer() | unknown), integer(), integer()) -> [{pos_integer(), pid()}].
extra(Pids, Ask, Until, Deadline) ->
    {Found, Silent} = by_the_hundred(Pids, Ask, Until, {[], []}),
    Found ++ [{Extra, Pid} || {Pid, {Extra, _}} <- answers(lists:sublist(Silent, ?KEPT), Ask, now_ms() + max(0, Deadline - now_ms()) div 2),
                              is_integer(Extra), Extra > 0].

by_the_hundred([], _Ask, _Until, Seen) -> Seen;
by_the_hundred(Pids, Ask, Until, {Found, Silent} = Seen) ->
    case now_ms() < Until of
        true ->
            {Some, Rest} = lists:split(min(100, length(Pids)), Pids),
            Answers = answers(Some, Ask, min(Until, now_ms() + ?ANSWER_MS)),
            by_the_hundred(Rest, Ask, Until, {[{Extra, Pid} || {Pid, {Extra, _}} <- Answers, is_integer(Extra), Extra > 0] ++ Found,
                                              [Pid || {Pid, {silent, _}} <- Answers] ++ Silent});
        false -> Seen
    end.

%% Not of a deep mailbox, whose messages are in the same sum.
beside_heap(Pid) ->
    case depth(Pid) < ?DEEP andalso beside(Pid) of
        Bytes when is_integer(Bytes) -> max(0, Bytes - 3 * ?PROCESS_BYTES);
        _ -> unknown
    end.

%% @doc Bytes that a process has beside its heap. While one works, the VM counts its stack twice at some looks.
-spec beside(pid()) -> integer() | unknown.
beside(Pid) ->
    case process_info(Pid, [memory, total_heap_size, stack_size, status]) of
        [{_, Bytes}, {_, Words}, _, {_, waiting}] -> Bytes - erlang:system_info(wordsize) * Words;
        [{_, Bytes}, {_, Words}, {_, Stack}, _] -> Bytes - erlang:system_info(wordsize) * (Words + Stack);
        undefined -> unknown
    end.

holder(Pid, About) ->
    [#{pid => pid_text(Pid), name => registered_as(Pid),
       label => labelled(Pid), about => About, exactly => counted_links(Pid, About)}].

%% Where they are not too many: the lists of all are a copy.
counted_links(Pid, About) when About =< ?EXACT_LINKS ->
    case apart(fun() ->
                       case process_info(Pid, [monitors, monitored_by, links]) of
                           undefined -> #{};
                           Kinds -> maps:from_list([{Kind, length(Of)} || {Kind, Of} <- Kinds])
                       end
               end) of
        #{monitors := _} = Counts -> Counts;
        _ -> unknown
    end;
counted_links(_Pid, _About) -> unknown.
