%%% How processes of one kind and one parent, such as shards or the workers of a pool, share their work.

-define(SHARED_MS, 300).
-define(SHARERS, 4).
-define(MOST_SHARERS, 256).
%% Those that are started one after the other may each start so many others.
-define(STARTED_BETWEEN, 8).

%% @doc Of each of these processes that has others of its kind and its parent: the part of the reductions of all of them that it did
%% meanwhile, and the part of the messages that wait for it.
-spec shares([{pid(), diagnose_types:suspect()}]) -> [diagnose_types:share()].
shares(Suspects) ->
    Parents = [{Parent, Suspect} || {Pid, _} = Suspect <- Suspects, {parent, Parent} <- [process_info(Pid, parent)], is_pid(Parent)],
    Known = maps:from_list([{Parent, []} || {Parent, _} <- Parents]),
    Children = case erlang:system_info(process_count) =< ?ALL_LINKS of
                   true -> lists:foldl(fun with_parent/2, Known, processes());
                   false -> Known
               end,
    Kinds = [{Pid, kind_with(Pid, Suspect, maps:get(Parent, Children) -- [Pid])} || {Parent, {Pid, Suspect}} <- Parents],
    Before = [{Pid, Label, [{One, work(One)} || One <- [Pid | Others]]}
              || {Pid, {Label, Others}} <- Kinds, length(Others) >= ?SHARERS - 1],
    _ = Before =/= [] andalso wait(?SHARED_MS),
    [share(Pid, Label, [{One, {Now - Was, Depth}}
                        || {One, {Was, _}} <- Works, {Now, Depth} <- [work(One)], is_integer(Was), is_integer(Now)])
     || {Pid, Label, Works} <- Before].

with_parent(Pid, Children) ->
    case process_info(Pid, parent) of
        {parent, Parent} when is_map_key(Parent, Children) -> maps:update_with(Parent, fun(All) -> [Pid | All] end, Children);
        _ -> Children
    end.

%% Of a process with a deep mailbox the kind is unknown before OTP 26.2: then it is that of all the others, if it is in its code.
kind_with(_Pid, _Suspect, Others) when length(Others) >= ?MOST_SHARERS -> none;
kind_with(_Pid, #{label := Label, samples := Samples}, Others) ->
    Labels = [{Other, labelled(Other)} || Other <- Others],
    case {Label, lists:usort([Is || {_, Is} <- Labels])} of
        {unknown, [{Module, _, _} = Is]} ->
            case lists:any(fun({_, Stack, _}) -> lists:keymember(Module, 1, Stack) end, Samples) of
                true -> {Is, Others};
                false -> none
            end;
        {unknown, _} -> none;
        {_, _} -> {Label, [Other || {Other, Is} <- Labels, Is =:= Label]}
    end.

work(Pid) ->
    case process_info(Pid, [reductions, message_queue_len]) of
        [{_, Reductions}, {_, Depth}] -> {Reductions, Depth};
        undefined -> {ended, 0}
    end.

share(Pid, Label, Works) ->
    {Own, Messages} = proplists:get_value(Pid, Works, {0, 0}),
    #{pid => pid_text(Pid), label => Label, count => length(Works), messages => Messages,
      shards => are_shards([{One, registered_as(One)} || {One, _} <- Works]),
      of_messages => ratio(Messages, lists:sum([Depth || {_, {_, Depth}} <- Works])),
      reductions => 1000 * Own div ?SHARED_MS, of_reductions => ratio(Own, lists:sum([Done || {_, {Done, _}} <- Works]))}.

%% @doc Whether processes alike look as if a key divided work among them: their names differ by a number alone; or, where they have no
%% names, they were started one right after the other. The rooms of a chat have a name each, or come and go.
-spec are_shards([{pid(), atom()}]) -> boolean().
are_shards(All) ->
    case lists:usort([without_digits(Name) || {_, Name} <- All]) of
        [[]] ->
            Numbers = [number(Pid) || {Pid, _} <- All],
            lists:max(Numbers) - lists:min(Numbers) =< ?STARTED_BETWEEN * length(All);
        [_] -> true;
        _ -> false
    end.

without_digits(Name) -> [Char || Char <- atom_to_list(Name), Char < $0 orelse Char > $9].
