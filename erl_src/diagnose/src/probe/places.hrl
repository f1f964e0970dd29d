%%% Where processes wait inside of what they do: what a request that takes long waits for, though no process waits as long as a look lasts.

-define(ASKED_PLACES, 300).
-define(PLACED_PROCESSES, 50_000).
%% So many of a sample that wait in one place at both looks are told of, and so many places.
-define(PLACES, 3).
%% So many of them tell which host they wait for.
-define(ASKED_PEERS, 5).
%% Of so many of them it is asked who waits for them, each time so many; twice, so long apart.
-define(ASKED_BEHIND, 20).
-define(BEHIND_EACH, 100).
-define(BEHIND_MS, 100).
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
              most => [placed(Place, Count, Each, [One || {One, Was} <- Then, {Again, Is} <- waits_in(One), Again =:= Place,
                                                          Is - Was =< stayed(Frames, Did)], [One || {One, _} <- Now])
                       || {Count, {{Frames, _} = Place, Then, Now}}
                              <- ranked(?PLACES, [{min(round(Each * length(Then)), round(EachLater * length(Now))), {Place, Then, Now}}
                                                  || {Place, Then} <- maps:to_list(Before), length(Then) >= ?PLACED,
                                                     #{Place := Now} <- [After], length(Now) >= ?PLACED])]};
        false -> too_many
    end.

%% Of so many in that place, those that have stayed there, and those that are there now.
placed({Frames, Called}, Count, Each, Stay, Now) ->
    At = peer_of_all(Called, lists:sublist(Stay ++ Now, ?ASKED_PEERS)),
    Place = #{count => Count, stay => round(Each * length(Stay)), label => labelled_apart(hd(Now)), in => Frames,
              for => case Called of {answer, _} -> called_as(Called); _ -> none end, at => At},
    case Called =:= data andalso At =/= unknown andalso length(Stay) >= ?PLACED
        andalso apart(fun() -> {behind(Stay), lists:all(fun is_in_callback/1, lists:sublist(Stay, ?ASKED_PEERS))} end) of
        {#{} = Behind, Serves} -> Place#{behind => Behind, serves => Serves};
        _ -> Place
    end.

%% Whether it is a server that has not come back to its loop.
is_in_callback(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, Stack} -> lists:any(fun({Module, Function, _, _}) ->
                                        lists:member(Module, [gen_server, gen_statem]) andalso lists:member(Function, ?HANDLES)
                                end, Stack);
        undefined -> false
    end.

%% @doc How many wait for the answers of these, and in vain: beside one for each of them, which may be whose request it is, those that wait
%% behind that one, and those that wait for the process that has lent them, which monitors most of them, or of those whose request it is.
-spec behind([pid()]) -> #{count := non_neg_integer(), pool := #{pid := binary(), name := atom()} | none}.
behind(Pids) ->
    Each = [callers_now(Pid) || Pid <- lists:sublist(Pids, ?ASKED_BEHIND)],
    Direct = lists:usort(lists:append(Each)),
    Queued = Direct -- [First || [First | _] <- Each],
    {Pool, Waiting} = case lender(lists:sublist(Pids, ?ASKED_BEHIND), Direct) of
                          none -> {none, []};
                          One -> {#{pid => pid_text(One), name => registered_as(One)}, callers_now(One) -- (Pids ++ Direct)}
                      end,
    Before = [{One, Done} || One <- lists:usort(Queued ++ Waiting), Done <- done(One)],
    wait(?BEHIND_MS),
    #{count => length(same_calls(Before, 0)), pool => Pool}.

callers_now(Pid) -> [One || One <- lists:sublist(callers(Pid), ?BEHIND_EACH), waits_in_call(One)].

%% Who is monitored by one process together with most others.
lender(Pids, Direct) ->
    case [One || Some <- [Pids, lists:sublist(Direct, ?ASKED_BEHIND)], length(Some) >= ?PLACED,
                 {Times, One} <- most_frequent(lists:append([lists:sublist(callers(Pid), ?BEHIND_EACH) || Pid <- Some])),
                 2 * Times > length(Some), not lists:member(One, Direct)] of
        [First | _] -> First;
        [] -> none
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

%% The processes of a look are none of the node's.
waits_in(Pid) ->
    case process_info(Pid, [status, reductions, current_stacktrace]) of
        [{_, Status}, {_, Done}, {_, [_ | _] = Stack}] ->
            [{{place(Stack), called_from(Pid, Stack)}, Done}
             || not lists:keymember(?MODULE, 1, Stack), % of a look
                not is_main_loop(without_sleep([frame(Frame) || Frame <- Stack])), settled(Pid, Status, ?ASKED_AGAIN) =:= waiting];
        _ -> []
    end.

%% What sleeps in its main loop does so until its next round.
without_sleep([{Module, sleep, 1}, Frame | Below]) when Module =:= timer; Module =:= 'Elixir.Process' -> [Frame | Below];
without_sleep(Stack) -> Stack.

%% Whose answer it waits for, if that is of this node, or whether for data of a socket, or of a host that httpc has asked.
called_from(Pid, [{gen, do_call, _, _} | _] = Stack) ->
    case not lists:keymember(ssl, 1, Stack) andalso process_info(Pid, monitors) of
        {_, Monitors} ->
            case called_in(Stack, [Monitored || {process, Monitored} <- Monitors]) of
                [{answer, _} = Called] -> Called;
                _ -> none
            end;
        _ -> none % with TLS, each has a process of its own
    end;
called_from(_, Stack) ->
    case [F || {M, F, _, _} <- lists:sublist(Stack, ?SENDS_AMONG), lists:member({M, F}, [{httpc, handle_answer} | ?READING])] of
        [handle_answer | _] -> httpc;
        [_ | _] -> data;
        [] -> none
    end.

%% The other side of the sockets from which all of these want data, or of the one of the process that they wait for. Clients of this node
%% have a port each.
peer_of_all({answer, Pid}, _) -> peer_apart(fun() -> peer_of(Pid) end);
peer_of_all(httpc, _) -> peer_apart(fun peer_of_httpc/0);
peer_of_all(data, Pids) ->
    peer_apart(fun() ->
                       %% Some of those that do not stay may have ended by now.
                       Peers = [peer_lent_to(Pid) || Pid <- Pids],
                       case lists:usort(Peers) -- [unknown] of
                           [Peer] -> Peer;
                           _ -> unknown
                       end
               end);
peer_of_all(none, Pids) ->
    peer_apart(fun() ->
                       case lists:usort([peer_read_by(Pid) || Pid <- Pids]) of
                           [Peer] -> Peer;
                           _ -> unknown
                       end
               end).

%% Who reads may have its socket from the pool that monitors it.
peer_lent_to(Pid) ->
    case peer_of(Pid) of
        unknown ->
            case lists:usort([Peer || One <- lists:sublist(callers(Pid), ?HOLDERS), Peer <- peers_of(One)]) of
                [Peer] -> Peer;
                _ -> unknown
            end;
        Peer -> Peer
    end.

%% httpc has a process for each connection.
peer_of_httpc() ->
    case lists:usort([Peer || Sup <- [whereis(httpc_handler_sup)], is_pid(Sup), One <- linked(Sup), Peer <- peers_of(One)]) of
        [Peer] -> Peer;
        _ -> unknown
    end.

peers_of(Pid) -> lists:usort([peer(Port) || Port <- tcp_ports(Pid)]) -- [<<"tcp_inet">>].

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
