%%% Processes that live for less than the look, and have much of the memory meanwhile: nobody can ask them at its end.

-define(PASSING_MS, 100).
-define(ASKED_PASSING, 200).

%% @doc The largest of those that were started since the look began, or that ended since: what they were, the largest heap that each was
%% seen with, and where. Large: those that were there before. They are only asked while processes have much.
-spec passing([pid()], integer()) -> [{pid(), diagnose_types:suspect()}].
passing(Large, Until) ->
    case erlang:system_info(process_count) =< ?ALL_LINKS of
        true ->
            Seen = passing(Until, maps:from_keys(processes() -- Large, true), Large, #{}),
            Passed = [{Heap, {Pid, One}} || {Pid, #{heap := Heap} = One} <- maps:to_list(Seen),
                                            not (lists:member(Pid, Large) andalso is_process_alive(Pid))],
            [{Pid, passed(Pid, One)} || {_, {Pid, One}} <- ranked(?KEPT, Passed)];
        false -> []
    end.

passing(Until, Old, Asked, Seen) ->
    Now = case erlang:memory(processes) >= ?MOST_BYTES of true -> lists:foldl(fun passing_by/2, Seen, Asked); false -> Seen end,
    wait(?PASSING_MS),
    case now_ms() < Until of
        true -> passing(Until, Old, lists:sublist([Pid || Pid <- processes(), not is_map_key(Pid, Old)], ?ASKED_PASSING), Now);
        false -> Now
    end.

passing_by(Pid, Seen) ->
    case depth(Pid) < ?DEEP andalso process_info(Pid, [garbage_collection_info, status, initial_call, current_stacktrace]) of
        [{_, Info}, {_, Status}, {_, Call}, {_, Stack}] ->
            case sizes(Info) of
                #{heap := Heap, used := Used} when 2 * Heap >= ?MOST_BYTES ->
                    #{heap := Most, samples := Samples} =
                        Before = maps:get(Pid, Seen, #{heap => 0, used => 0, label => began_with(Pid, Call, Stack), samples => []}),
                    Now = Before#{samples := [{Status, [frame(Frame) || Frame <- lists:sublist(Stack, ?FRAMES)]} | Samples]},
                    Seen#{Pid => case Heap > Most of true -> Now#{heap := Heap, used := Used}; false -> Now end};
                #{} -> Seen
            end;
        _ -> Seen
    end.

passed(Pid, #{heap := Heap, used := Used, label := Label, samples := Samples}) ->
    Row = of_row(#{pid => Pid, depth => 0, status => waiting, only => work}, #{}),
    Row#{reductions := 0.0, label := Label, heap_bytes := Heap, used_bytes := Used, samples := alike(Samples), passes => true}.
