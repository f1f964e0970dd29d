%%% Sockets of TCP that were opened since the look before, and are not connected: attempts to connect to where nobody accepts, again and again.

%% What an attempt goes through in OTP.
-define(CONNECTING, [prim_inet, inet, inet_tcp, inet6_tcp, local_tcp, gen_tcp, inet_db, tls_socket, ssl, ssl_gen_statem, ssh, ssh_sftp,
                     ssh_connection_handler]).

%% fresh: the attempts of the last look. Who has not ended its attempt by the next one waits for an answer, and does not begin again.
-type attempts() :: #{connected | answered := non_neg_integer(), fresh | ended := [{port(), pid(), [diagnose_types:frame()]}]}.

-spec no_attempts() -> attempts().
no_attempts() -> #{connected => 0, answered => 0, fresh => [], ended => []}.

-spec attempts(New :: [port()], Now :: [port()], attempts()) -> attempts().
attempts(New, Now, #{connected := Connected, answered := Answered, fresh := Fresh, ended := Ended}) ->
    Seen = [{Port, Name, attempt(Name, Port)} || Port <- New, {_, Name} <- [erlang:port_info(Port, name)]],
    #{connected => Connected + length([1 || {_, _, connected} <- Seen]), answered => Answered + length(Seen),
      fresh => [{Port, Owner, connects_in(Owner)} || {Port, _, attempt} <- Seen, {_, Owner} <- [erlang:port_info(Port, connected)]],
      ended => [One || {Port, _, _} = One <- Fresh, not lists:member(Port, Now)] ++ Ended}.

attempt("tcp_inet", Port) ->
    case prim_inet:getstatus(Port) of
        {ok, Status} ->
            case [lists:member(Flag, Status) || Flag <- [connected, listen]] of
                [true, _] -> connected;
                [false, true] -> other;
                [false, false] -> attempt
            end;
        {error, _} -> other
    end;
attempt(_, _) -> other.

connects_in(Owner) ->
    case process_info(Owner, current_stacktrace) of
        {_, [{Module, _, _, _} | _] = Stack} ->
            Beyond = lists:dropwhile(fun({M, _, _, _}) -> lists:member(M, ?CONNECTING) end, Stack),
            [frame(Frame) || lists:member(Module, ?CONNECTING), Frame <- lists:sublist(Beyond, 1)];
        _ -> []
    end.

%% What they tell, of all ports that were opened.
-spec attempts_of(attempts(), Opened :: non_neg_integer(), Ms :: pos_integer()) -> map().
attempts_of(#{connected := Connected, answered := Answered, ended := Ended}, Opened, Ms) ->
    Owners = [Owner || {_, Owner, _} <- Ended],
    #{seen => length(Ended), connected => Connected, processes => length(lists:usort(Owners)),
      a_second => round(1000 * Opened * ratio(length(Ended), Answered) / Ms),
      in => [{In, Count} || {Count, In} <- most_frequent(lists:append([In || {_, _, In} <- Ended]))],
      owners => [{pid_text(Owner), registered_as(Owner), Count} || {Count, Owner} <- most_frequent(Owners)],
      labels => labels_of(Owners)}.
