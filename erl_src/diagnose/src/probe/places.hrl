%%% Where processes wait inside of what they do: what a request that takes long waits for, though no process waits as long as a look lasts.

-define(ASKED_PLACES, 300).
-define(PLACED_PROCESSES, 50_000).
%% So many of a sample that wait in one place at both looks are told of, and so many places.
-define(PLACED, 10).
-define(PLACES, 3).
%% Of the functions that lead there, one of each module.
-define(CALLED_FROM, 4).

%% @doc Of a sample of the processes at each of two looks, where those wait that are not in their main loop: of a place the least of both
%% looks counts. `stay' are those of the first sample that did nothing meanwhile.
-spec places(integer()) -> diagnose_types:places() | too_many.
places(Until) ->
    case erlang:system_info(process_count) =< ?PLACED_PROCESSES of
        true ->
            Began = now_ms(),
            {Each, Before} = placed(),
            wait(max(0, Until - now_ms())),
            {EachLater, After} = placed(),
            #{ms => max(1, now_ms() - Began),
              most => [#{count => Count,
                         stay => round(Each * length([1 || {One, Was} <- Then, Is <- done(One), Is - Was =< ?ASKED_REDUCTIONS])),
                         label => labelled_apart(Pid), in => Frames, for => case Called of none -> none; _ -> called_as(Called) end}
                       || {Count, {{Frames, Called}, [{Pid, _} | _] = Then}}
                              <- ranked(?PLACES, [{min(round(Each * length(Then)), round(EachLater * length(Now))), {Place, Then}}
                                                  || {Place, Then} <- maps:to_list(Before), length(Then) >= ?PLACED,
                                                     #{Place := Now} <- [After], length(Now) >= ?PLACED])]};
        false -> too_many
    end.

%% How many processes each of the sample stands for, and who waits where, with the reductions until then.
placed() ->
    All = processes(),
    Asked = some(?ASKED_PLACES, All),
    {length(All) / length(Asked),
     maps:groups_from_list(fun({Place, _}) -> Place end, fun({_, One}) -> One end,
                           [{Place, {Pid, Done}} || Pid <- Asked, {Place, Done} <- waits_in(Pid)])}.

waits_in(Pid) ->
    case process_info(Pid, [status, reductions, current_stacktrace]) of
        [{_, Status}, {_, Done}, {_, [_ | _] = Stack}] ->
            [{{place(Stack), called_from(Pid, Stack)}, Done}
             || not is_main_loop([frame(Frame) || Frame <- Stack]), settled(Pid, Status, ?ASKED_AGAIN) =:= waiting];
        _ -> []
    end.

%% Whose answer it waits for, if that is of this node.
called_from(Pid, [{gen, do_call, _, _} | _] = Stack) ->
    case process_info(Pid, monitors) of
        {_, Monitors} ->
            case called_in(Stack, [Monitored || {process, Monitored} <- Monitors]) of
                [{answer, _} = Called] -> Called;
                _ -> none
            end;
        undefined -> none
    end;
called_from(_, _) -> none.

%% @doc The functions that lead to where it waits, the innermost first: of each module the innermost one, and of OTP's behaviours none.
-spec place([{module(), atom(), arity(), term()}, ...]) -> [diagnose_types:frame(), ...].
place(Stack) ->
    Own = [frame(Frame) || {Module, _, _, _} = Frame <- Stack,
                           not lists:member(Module, ?WAITS_OF_OTP), not lists:member(Module, ?BEHAVIOURS)],
    case lists:uniq(fun({Module, _, _}) -> Module end, Own) of
        [] -> [frame(hd(Stack))];
        Modules -> lists:sublist(Modules, ?CALLED_FROM)
    end.
