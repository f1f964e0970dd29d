%%% Where processes wait inside of what they do: what a request that takes long waits for, though no process waits as long as a look lasts.

-define(ASKED_PLACES, 300).
-define(PLACED_PROCESSES, 50_000).
%% So many of a sample that wait in one place at both looks are told of, and so many places.
-define(PLACED, 10).
-define(PLACES, 3).
%% So many of them tell which host they wait for.
-define(ASKED_PEERS, 5).
%% Of the functions that lead there, one of each module.
-define(CALLED_FROM, 4).

%% @doc Of a sample of the processes at each of two looks, where those wait that are not in their main loop: of a place the least of both
%% looks counts. `stay' are those of the first sample that did nothing meanwhile.
-spec places(integer()) -> diagnose_types:places() | too_many.
places(Until) ->
    case erlang:system_info(process_count) =< ?PLACED_PROCESSES of
        true ->
            Began = now_ms(),
            Control = control(),
            {Each, Before} = placed(),
            wait(max(0, Until - now_ms())),
            Did = control_did(Control),
            {EachLater, After} = placed(),
            #{ms => max(1, now_ms() - Began),
              most => [#{count => Count,
                         stay => round(Each * length([1 || {One, Was} <- Then, {Again, Is} <- waits_in(One), Again =:= {Frames, Called},
                                                           Is - Was =< stayed(Frames, Did)])),
                         label => labelled_apart(Pid), in => Frames, for => case Called of none -> none; _ -> called_as(Called) end,
                         at => peer_of_all(Called, [One || {One, _} <- lists:sublist(Then, ?ASKED_PEERS)])}
                       || {Count, {{Frames, Called}, [{Pid, _} | _] = Then}}
                              <- ranked(?PLACES, [{min(round(Each * length(Then)), round(EachLater * length(Now))), {Place, Then}}
                                                  || {Place, Then} <- maps:to_list(Before), length(Then) >= ?PLACED,
                                                     #{Place := Now} <- [After], length(Now) >= ?PLACED])]};
        false -> too_many
    end.

%% Who waits for a lock of global or of mnesia may try again and again.
stayed([{Module, Function, _} | _], _) when Module =:= global, Function =:= random_sleep; Module =:= mnesia_tm -> ?ASKED_REDUCTIONS;
stayed(_, Did) -> ?STAYED_REDUCTIONS + Did.

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
    case not lists:keymember(ssl, 1, Stack) andalso process_info(Pid, monitors) of
        {_, Monitors} ->
            case called_in(Stack, [Monitored || {process, Monitored} <- Monitors]) of
                [{answer, _} = Called] -> Called;
                _ -> none
            end;
        _ -> none % with TLS, each has a process of its own
    end;
called_from(_, _) -> none.

%% The other side of the sockets from which all of these want data, or of the one of the process that they wait for. Clients of this node
%% have a port each.
peer_of_all({answer, Pid}, _) -> peer_apart(fun() -> peer_of(Pid) end);
peer_of_all(none, Pids) ->
    peer_apart(fun() ->
                       case lists:usort([peer_read_by(Pid) || Pid <- Pids]) of
                           [Peer] -> Peer;
                           _ -> unknown
                       end
               end).

%% Links may be many. A socket that listens has no other side.
peer_apart(Ask) -> case apart(fun() -> {peer, Ask()} end) of {peer, Peer} when Peer =/= <<"tcp_inet">> -> Peer; _ -> unknown end.

%% By TLS another process has the socket.
peer_read_by(Pid) ->
    case {reads_from(Pid), process_info(Pid, [current_stacktrace, monitors])} of
        {[#{at := Peer}], _} -> Peer;
        {[], [{_, Stack}, {_, [{process, Reader}]}]} when is_pid(Reader), node(Reader) =:= node() ->
            case lists:keymember(ssl, 1, Stack) of true -> peer_of(Reader); false -> unknown end;
        _ -> unknown
    end.

%% @doc The functions that lead to where it waits, the innermost first: of each module the innermost one, and of OTP's behaviours none.
-spec place([{module(), atom(), arity(), term()}, ...]) -> [diagnose_types:frame(), ...].
place(Stack) ->
    Own = [frame(Frame) || {Module, _, _, _} = Frame <- Stack,
                           not lists:member(Module, ?WAITS_OF_OTP), not lists:member(Module, ?BEHAVIOURS)],
    case lists:uniq(fun({Module, _, _}) -> Module end, Own) of
        [] -> [frame(hd(Stack))];
        Modules -> lists:sublist(Modules, ?CALLED_FROM)
    end.
