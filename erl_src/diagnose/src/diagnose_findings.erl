%% @doc Groups the signs by their subject: a process, a group of like processes, or the node. Each subject is reported once. Pure.
-module(diagnose_findings).

-export([findings/2, count/1]).

-include("diagnose_bounds.hrl").

-define(NAMED, 3).

%% @doc The findings of a look, what hurts most first.
-spec findings(diagnose_types:look(), [diagnose_types:scan()]) -> [diagnose_types:finding()].
findings(#{groups := Groups} = Seen, Scans) ->
    Look = labelled(Seen),
    Kinds = by_label(Groups),
    Singles = maps:groups_from_list(fun({#{label := Label}, _}) -> Label end, singles(Look, Scans)),
    Labels = lists:usort(maps:keys(Kinds) ++ maps:keys(Singles)) -- [unknown],
    Found = [process(One) || One <- maps:get(unknown, Singles, [])]
        ++ [Finding || is_list(Groups), #{label := unknown} = Group <- Groups,
                       Finding <- alike(unknown, [], diagnose_heaps:estimated(Group), Look)]
        ++ [Finding || Label <- Labels,
                       Finding <- alike(Label, maps:get(Label, Singles, []), maps:get(Label, Kinds, none), Look)]
        ++ [#{subject => node, signs => Signs} || [_ | _] = Signs <- [diagnose_signs:of_node(Look)]],
    Cut = cut_off([Signs || {_, Signs} <- lists:append(maps:values(Singles))]),
    [shown(at_least(One, Cut)) || One <- lists:sort(fun(One, Other) -> rank(One) =< rank(Other) end, Found)].

%% Of each sort only so many processes are looked at closer: where as many show a sign, others may, too.
cut_off(Signs) ->
    Counts = maps:groups_from_list(fun(Kind) -> Kind end, [Kind || Of <- Signs, #{kind := Kind} <- Of]),
    [Kind || {Kind, Same} <- maps:to_list(Counts), length(Same) >= ?KEPT].

at_least(#{subject := #{group := #{count := Count} = Group}, signs := Signs} = Finding, Cut) ->
    case [Kind || #{kind := Kind, evidence := #{alike := Alike}} <- Signs, Alike =:= Count, lists:member(Kind, Cut)] of
        [] -> Finding;
        _ -> Finding#{subject := #{group => Group#{at_least => true}}}
    end;
at_least(Finding, _Cut) -> Finding.

%% Advice has names of the node, too.
shown(#{signs := Signs} = Finding) ->
    Finding#{signs := [Sign#{advice := diagnose_wording:printable(Advice)} || #{advice := Advice} = Sign <- Signs]}.

%% What a process is cannot be asked of one with a large heap before OTP 26.2: then it is what those of its kind are, of which some
%% were collected.
labelled(#{groups := unknown} = Look) -> Look;
labelled(#{suspects := Suspects, groups := Groups} = Look) ->
    Labels = maps:from_list([{Pid, Label} || #{label := Label, kin := Kin} <- Groups, Pid <- Kin]),
    Look#{suspects := [case Suspect of
                           #{label := unknown, pid := Pid} -> Suspect#{label := maps:get(Pid, Labels, unknown)};
                           _ -> Suspect
                       end || Suspect <- Suspects]}.

%% @doc How many things were found, as a reader counts them: one subject may show several signs.
-spec count([diagnose_types:finding()]) -> non_neg_integer().
count(Findings) -> lists:sum([length(Signs) || #{signs := Signs} <- Findings]).

rank(#{signs := [#{kind := Kind} | _]}) -> place(Kind).

place(Kind) -> length(lists:takewhile(fun(Other) -> Other =/= Kind end, diagnose_signs:kinds())).

in_order(Signs) -> lists:sort(fun(#{kind := One}, #{kind := Other}) -> place(One) =< place(Other) end, Signs).

%% Of processes that were started in two ways, or whose heaps differ much, the kind can be the same.
by_label(unknown) -> #{};
by_label(Groups) ->
    maps:map(fun(_, [First | Others]) -> lists:foldl(fun sum/2, First, Others) end,
             maps:groups_from_list(fun(#{label := Label}) -> Label end,
                                   [diagnose_heaps:estimated(Group) || #{label := Label} = Group <- Groups, Label =/= unknown])).

sum(#{members := Members, deepest := Deepest, garbage := Garbage, asked := Asked, equal := Equal, binaries := Binaries, live := Live} = Group,
    #{members := M, deepest := D, garbage := G, asked := A, equal := E, binaries := B, live := L} = Sum) ->
    (add([count, heap_bytes, used_bytes, laden, laden_bytes, deep, messages, behind, behind_messages, ready, suspended], Group, Sum))
        #{members := lists:sublist(M ++ Members, ?NAMED), deepest := max(Deepest, D),
          garbage := both([processes, heap_bytes, alive_bytes, unneeded_bytes, collected], Garbage, G),
          asked := both([processes, heap_bytes, alive_bytes, collected], Asked, A),
          equal := larger(Equal, E),
          live := both([processes, held_bytes, binaries, references, heap_bytes, asked], Live, L),
          binaries := both([processes, held_bytes, gives_back, binaries, references, heap_bytes, collected], Binaries, B)}.

add(Keys, One, Sum) -> maps:merge(Sum, maps:from_list([{Key, maps:get(Key, One) + maps:get(Key, Sum)} || Key <- Keys])).

%% Those of another size are other data.
larger(none, Estimate) -> Estimate;
larger(#{alive_bytes := Bytes} = One, #{alive_bytes := B}) when Bytes > B -> One;
larger(One, none) -> One;
larger(_, Other) -> Other.

both(_, none, Estimate) -> Estimate;
both(_, Estimate, none) -> Estimate;
both(Keys, One, Other) -> add(Keys, One, maps:merge(maps:with([steady], One), Other)).

%% Each process of which anything is known, with its signs.
singles(#{suspects := Suspects, unresponsive := Unresponsive} = Look, Scans) ->
    Faults = diagnose_known_faults:faults(),
    Seen = [{Suspect, diagnose_signs:of_process(Suspect, [Scan || #{pid := P} = Scan <- Scans, P =:= Pid], Look, Faults)}
            || #{pid := Pid} = Suspect <- Suspects]
        ++ [{Parent, diagnose_starts:of_parent(Parent, Look)} || #{starts := #{parents := Parents}} <- [Look], Parent <- Parents]
        ++ [{Server, diagnose_waits:of_stall(Server, Look)} || Server <- maps:get(stalls, Look)]
        ++ [{Server, diagnose_waits:of_ending(Server, Look)} || Server <- maps:get(endings, Look)]
        ++ [{Parent, diagnose_starts:of_lasting(Parent, Look)} || #{starts := #{lasting := All}} <- [Look], Parent <- All]
        ++ [{Parent#{label => unknown}, diagnose_collections:of_births(Parent, maps:get(starts, Look)) ++ diagnose_starts:of_births(Look)}
            || #{births := #{pid := Pid} = Parent} <- [Look], not diagnose_starts:is_restarting(Pid, Look)]
        ++ [{One#{label => unknown}, diagnose_waits:of_unresponsive(One)} || One <- Unresponsive]
        ++ [{Server, diagnose_work:of_lookups(Lookups)}
            || #{lookups := #{} = Lookups} <- [Look], #{name := code_server} = Server <- Suspects]
        ++ [{Called, diagnose_waits:of_awaited(Called)} || #{pid := _} = Called <- maps:get(awaited, Look)]
        ++ [{Run, diagnose_busy:of_long_run(Run, Look)} || Run <- diagnose_work_time:long_runs(Look)]
        ++ [{Holder, diagnose_counts:of_links(Holder, Look)} || #{links := #{holders := Holders}} <- [Look], Holder <- Holders]
        ++ [{One, diagnose_counts:of_dictionary(One)} || #{links := #{dictionaries := All}} <- [Look], One <- All],
    Processes = maps:groups_from_list(fun({#{pid := Pid}, _}) -> Pid end, [One || {_, [_ | _]} = One <- Seen]),
    [{(maps:with([pid, name], Process))#{label => hd([L || {#{label := L}, _} <- Same, L =/= unknown] ++ [unknown])},
      told_once(lists:append([Signs || {_, Signs} <- Same]))} || [{Process, _} | _] = Same <- maps:values(Processes)].

%% Whose messages are told of is not told of again by those that have sent them. What holds a server up is told of before how long its
%% callers wait.
told_once(Signs) ->
    case [Sign || #{kind := deep_mailbox} = Sign <- Signs] of
        [] ->
            case [Sign || #{kind := Kind, evidence := Evidence} = Sign <- Signs, is_cause(Kind), not is_map_key(kept_ms, Evidence)] of
                [] -> Signs;
                _ -> [Sign || #{evidence := Evidence} = Sign <- Signs, not is_map_key(kept_ms, Evidence)]
            end;
        _ -> [Sign || #{kind := Kind, evidence := Evidence} = Sign <- Signs, Kind =/= awaited orelse is_map_key(for, Evidence)]
    end.

is_cause(Kind) -> not lists:member(Kind, [idle_heap, large_heap, uncollected_garbage, binary_leak, many_monitors, large_dictionary,
                                          message_queue_data, equal_heaps, spread_list, promoted_garbage, binary_pressure, small_start]).

process({Process, Signs}) -> #{subject => #{process => maps:with([pid, name], Process)}, signs => in_order(Signs)}.

%% Nothing, one process as itself, or several as what they are.
alike(Label, Singles, Group, Look) ->
    Shared = [Sign || Group =/= none, Sign <- diagnose_signs:of_group(Group, Look), not is_of_states(Sign, Singles)],
    case {Shared, Singles, Group} of
        {[], [], _} -> [];
        {[], [One], none} -> [process(One)];
        {[], [One], #{}} -> case concerned(Singles, Group) of 1 -> [process(One)]; Count -> [group(Label, Count, Group, Singles, [])] end;
        {[], _, _} ->
            case are_all_of_other_names(Singles, Group) of
                true -> [process(One) || One <- Singles];
                false -> [group(Label, concerned(Singles, Group), Group, Singles, [])]
            end;
        {_, _, #{count := 1, members := [Member | _]}} ->
            [process({Member, Shared ++ lists:append([without(Shared, Signs) || {_, Signs} <- Singles])})];
        {_, _, #{}} ->
            Count = lists:max([concerned(Singles, Group) | [Processes || #{evidence := #{processes := Processes}} <- Shared]]),
            [group(Label, Count, Group, Singles, Shared)]
    end.

%% Most of these heaps are those of members that ask for the state of others.
is_of_states(#{kind := Kind, evidence := #{heap_bytes := All}}, Singles) when Kind =:= idle_heap; Kind =:= uncollected_garbage ->
    2 * lists:sum([Heap || {_, #{evidence := #{heap_bytes := Heap}}} <- of_kind(states_asked_for, Singles)]) >= All;
is_of_states(#{}, _Singles) -> false.

%% The same function is not the same work where each has a name of its own, which differs in more than a number.
are_all_of_other_names(Singles, Group) ->
    Stems = [lists:filter(fun(Char) -> Char < $0 orelse Char > $9 end, atom_to_list(Name)) || {#{name := Name}, _} <- Singles],
    length(lists:usort(Stems)) =:= length(Singles)
        andalso not lists:member("", Stems)
        andalso concerned(Singles, Group) =:= length(Singles).

%% So many processes of the kind: where a mailbox is deep, or who sends is held up, more than were looked at closer.
concerned(Singles, none) -> length(Singles);
concerned(Singles, #{deep := Deep, behind := Behind, suspended := Suspended}) ->
    lists:max([length(Singles)]
              ++ [Deep + Behind || _ <- of_kind(deep_mailbox, Singles)]
              ++ [Suspended || _ <- of_kind(suspended, Singles)]).

of_kind(Kind, Singles) -> [{Process, Sign} || {Process, Signs} <- Singles, #{kind := K} = Sign <- Signs, K =:= Kind].

%% A sign of a whole kind is not reported again for one of its processes.
without(Shared, Signs) ->
    Told = lists:append([case Kind of
                             uncollected_garbage -> [uncollected_garbage, idle_heap];
                             _ -> [Kind]
                         end || #{kind := Kind} <- Shared]),
    [Sign || #{kind := Kind} = Sign <- Signs, not lists:member(Kind, Told)].

group(Label, Count, Group, Singles, Shared) ->
    Kept = [{Process, Signs} || {Process, All} <- Singles, [_ | _] = Signs <- [without(Shared, All)]],
    Kinds = lists:uniq([Kind || {_, Signs} <- Kept, #{kind := Kind} <- Signs]),
    Members = case Kept of [] -> maps:get(members, Group); _ -> [maps:with([pid, name], Process) || {Process, _} <- Kept] end,
    #{subject => #{group => #{label => diagnose_wording:label(Label), count => Count, members => lists:sublist(Members, ?NAMED)}},
      signs => in_order(Shared ++ [worst(of_kind(Kind, Kept), Group) || Kind <- Kinds])}.

%% The sign of the one with most, and how many showed one.
worst(Signs, Group) ->
    [{Process, #{kind := Kind, evidence := Evidence} = Sign} | _] =
        lists:sort(fun({_, #{evidence := One}}, {_, #{evidence := Other}}) -> size_of(One) >= size_of(Other) end, Signs),
    (diagnose_busy:of_many(Sign, length(Signs)))#{
      evidence := maps:merge(Evidence#{worst => maps:with([pid, name], Process), alike => length(Signs)}, together(Kind, Group))}.

size_of(#{messages := Messages}) when is_integer(Messages) -> Messages;
size_of(#{unused_bytes := Bytes}) -> Bytes;
size_of(#{stack_bytes := Bytes}) -> Bytes;
size_of(#{held_bytes := Bytes}) -> Bytes;
size_of(#{longest_ms := Ms}) -> Ms;
size_of(#{spent_ms := Ms}) -> Ms;
size_of(#{keys := Keys}) -> Keys;
size_of(#{}) -> 0.

together(deep_mailbox, #{deep := Deep, messages := Messages, behind := Behind, behind_messages := Fewer}) ->
    #{processes => Deep + Behind, messages_together => Messages + Fewer};
together(suspended, #{suspended := Suspended}) -> #{processes => Suspended};
together(_, _) -> #{}.
