%%% Which ports fill the mailboxes of their owners: programs of the system, and sockets whose data come as messages.

%% So many ports of these processes are asked, with so long between: data may come in bursts.
-define(FLOODING, 500).
-define(FLOODED_MS, 300).

%% @doc The ports of these processes that got data meanwhile as messages, those with most first. The owner of a port is known without
%% asking the process.
-spec floods([pid()]) -> [diagnose_types:flood()].
floods(Pids) ->
    Own = lists:sublist([{Port, Pid} || erlang:system_info(port_count) =< ?MOST_NAMED_PORTS, Port <- erlang:ports(),
                                        {connected, Pid} <- [erlang:port_info(Port, connected)], lists:member(Pid, Pids)], ?FLOODING),
    Before = [{Port, Pid, Bytes} || {Port, Pid} <- Own, Bytes <- input(Port)],
    Began = now_ms(),
    wait(?FLOODED_MS),
    Got = [{1000 * (Now - Bytes) div max(1, now_ms() - Began), {Port, Pid}}
           || {Port, Pid, Bytes} <- Before, Now <- input(Port), Now > Bytes],
    [#{pid => pid_text(Pid), port => list_to_binary(erlang:port_to_list(Port)), 'of' => Of, name => Name, bytes_a_second => Pace}
     || {Pace, {Port, Pid}} <- ranked(?LARGEST, Got), {name, Driver} <- [erlang:port_info(Port, name)],
        {Of, Name} <- flooding(Driver, Port)].

%% Sockets count by themselves. Other drivers may take that request for one of their own.
input(Port) ->
    case erlang:port_info(Port, name) of
        {name, Inet} when Inet =:= "tcp_inet"; Inet =:= "udp_inet" ->
            case prim_inet:getstat(Port, [recv_oct]) of
                {ok, [{recv_oct, Bytes}]} -> [Bytes];
                {error, _} -> []
            end;
        {name, _} -> [Bytes || {input, Bytes} <- [erlang:port_info(Port, input)]];
        undefined -> []
    end.

%% A socket of another mode gives no more than its owner has asked for.
flooding("tcp_inet", Port) -> [{tcp, peer(Port)} || is_active(Port)];
flooding("udp_inet", Port) -> [{udp, local(Port)} || is_active(Port)];
flooding("sctp_inet", _Port) -> [];
flooding(Command, _Port) -> [{program, program(Command)}].

is_active(Port) -> prim_inet:getopts(Port, [active]) =:= {ok, [{active, true}]}.

local(Port) -> address(prim_inet:sockname(Port), <<"udp_inet">>).
