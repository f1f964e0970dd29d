%%% What a process has that is not on the node, and waits for: a program, or the other side of a socket.

%% So many ports and processes that are linked to it are looked at.
-define(FEW_OUTSIDE, 50).

%% What it has for the world outside, where it waits in a function that its loop has called, and calls no process: its program, or the
%% process that reads from a socket for it. Of several nobody knows which. Its links may be many.
outside(Pid) ->
    case process_info(Pid, [status, current_stacktrace]) of
        [{_, waiting}, {_, [{Module, _, _, _} | _] = Stack}] ->
            case lists:member(Module, ?WAITS_OF_OTP) orelse is_main_loop([frame(Frame) || Frame <- Stack]) of
                true -> [];
                false -> [One || [One] <- [apart(fun() -> programs_and_readers(process_info(Pid, [links, monitors])) end)]]
            end;
        _ -> []
    end.

programs_and_readers([{_, Links}, _] = Near) ->
    case [Program || Port <- lists:sublist([One || One <- Links, is_port(One)], ?FEW_OUTSIDE), Program <- program_of(Port)] of
        [] -> lists:append([reads_from(Pid) || Pid <- lists:sublist(lists:usort(near(Near)), ?FEW_OUTSIDE)]);
        Programs ->
            [#{pid => list_to_binary(erlang:port_to_list(Port)), name => '', in => none, for => program, label => unknown, at => Name}
             || {Port, _, Name} <- Programs]
    end;
programs_and_readers(undefined) -> [].

reads_from(Pid) ->
    case process_info(Pid, [status, current_stacktrace]) of
        [{_, waiting}, {_, Stack}] ->
            [#{pid => pid_text(Pid), name => registered_as(Pid), in => own_frame(Stack), for => data, label => unknown, at => peer_of(Pid)}
             || lists:any(fun({Module, Function, _, _}) -> lists:member({Module, Function}, ?READING) end,
                          lists:sublist(Stack, ?SENDS_AMONG))];
        _ -> []
    end.

%% Whom its socket is connected to, if it has one.
peer_of(Pid) ->
    case tcp_ports(Pid) of
        [Port] -> peer(Port);
        _ -> unknown
    end.

tcp_ports(Pid) ->
    case process_info(Pid, links) of
        {_, Links} ->
            [Port || Port <- lists:sublist([One || One <- Links, is_port(One)], ?FEW_OUTSIDE),
                     erlang:port_info(Port, name) =:= {name, "tcp_inet"}];
        undefined -> []
    end.

%% The server of dets has each file opened by a process of its own, and takes other requests meanwhile. That process repairs a file that was
%% not closed.
repairs_for(Pid) ->
    case whereis(dets) of
        Pid -> lists:sublist([One || Table <- newest_tables(whereis(dets_sup)), One <- repairs(Table)], 1);
        _ -> []
    end.

newest_tables(Supervisor) when is_pid(Supervisor) ->
    case apart(fun() -> lists:sublist(lists:reverse(lists:sort(linked(Supervisor))), ?FEW_OUTSIDE) end) of
        lost -> [];
        Newest -> Newest
    end;
newest_tables(undefined) -> [].

repairs(Table) ->
    case process_info(Table, current_stacktrace) of
        {_, Stack} ->
            [#{pid => pid_text(Table), name => '', in => In, for => repair, label => unknown}
             || In <- lists:sublist([frame(Frame) || {Module, _, _, _} = Frame <- Stack, lists:member(Module, [dets_v9, file_sorter])], 1)];
        undefined -> []
    end.
