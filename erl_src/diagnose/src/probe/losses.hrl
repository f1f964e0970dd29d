%%% What the system drops before the node gets it: attempts to connect for which a socket that listens has no room, and packets of UDP. And
%%% how a process that works reads its sockets.

-define(LOSS_MS, 20).
-define(ASKED_LISTENERS, 20).
-define(ASKED_UDP, 200).
-define(READ_MS, 200).
-define(READ_SOCKETS, 10).
%% The state of a socket that listens. Linux gives what waits to be accepted, and the backlog, where it has other numbers of connections.
-define(LISTENS, 10).
-define(BACKLOG_MOST, 28).
%% Numbers of 32 bits of a socket's memory (SO_MEMINFO): its level and number, and where the buffer's size and the packets dropped are.
-define(SO_MEMINFO, {1, 55, 36}).
-define(RCVBUF, 4).
-define(DROPS, 32).

%% @doc How many attempts to connect the system has dropped until then, which sockets of this node were full meanwhile, and from which
%% sockets of UDP packets were dropped.
-spec losses(integer()) -> diagnose_types:losses() | unknown.
losses(Until) ->
    Began = now_ms(),
    case few_ports() of
        unknown -> unknown;
        Ports ->
            Refused = refused(),
            Udp = lists:sublist([{Port, dropped(Port), packets(Port)} || Port <- Ports, {_, "udp_inet"} <- [erlang:port_info(Port, name)]],
                                ?ASKED_UDP),
            {Looks, Full} = full_until(Until, 0, listeners(of_tcp(Ports)), #{}),
            #{ms => max(1, now_ms() - Began), looks => Looks, refused => rise(Refused, refused()),
              full => [with_owner(Port, #{backlog => Backlog, times => Times}) || {Port, {Backlog, Times}} <- maps:to_list(Full)],
              udp => lists:append([lossy(Port, rise(Before, dropped(Port)), rise(Came, packets(Port))) || {Port, Before, Came} <- Udp])}
    end.

%% No more is known of one that was closed meanwhile.
rise(Before, After) when is_integer(Before), is_integer(After) -> max(0, After - Before);
rise(_, _) -> 0.

lossy(_Port, 0, _Came) -> [];
lossy(Port, Dropped, Came) ->
    case of_open(fun(One) -> prim_inet:getopts(One, [active, read_packets]) end, Port) of
        {ok, [{active, Active}, {read_packets, Packets}]} ->
            [with_owner(Port, #{dropped => Dropped, came => Came, active => Active, read_packets => Packets,
                                buffer => number_in(Port, ?SO_MEMINFO, ?RCVBUF)})];
        _ -> []
    end.

with_owner(Port, What) ->
    Number = case of_open(fun prim_inet:sockname/1, Port) of {ok, {_, N}} when is_integer(N) -> N; _ -> 0 end,
    case erlang:port_info(Port, connected) of
        {_, Owner} -> What#{port => Number, pid => pid_text(Owner), name => registered_as(Owner), label => labelled_apart(Owner)};
        undefined -> What#{port => Number, pid => <<>>, name => '', label => unknown}
    end.

dropped(Port) -> number_in(Port, ?SO_MEMINFO, ?DROPS).

packets(Port) ->
    case of_open(fun(One) -> {ok, moved(One, recv_cnt)} end, Port) of
        {ok, Count} -> Count;
        _ -> unknown
    end.

%% A number of 32 bits in such an option of a socket.
number_in(Port, Option, At) ->
    case option_of(Port, Option) of
        Bytes when byte_size(Bytes) >= At + 4 -> number_at(Bytes, At);
        _ -> unknown
    end.

option_of(Port, {Level, Option, Size}) ->
    case of_open(fun(One) -> prim_inet:getopts(One, [{raw, Level, Option, Size}]) end, Port) of
        {ok, [{raw, _, _, Bytes}]} -> Bytes;
        _ -> <<>>
    end.

number_at(Bytes, At) -> binary:decode_unsigned(binary:part(Bytes, At, 4), erlang:system_info(endian)).

listeners(Ports) -> lists:sublist([Port || Port <- Ports, full_of(Port) =/= none], ?ASKED_LISTENERS).

%% The backlog of a socket that listens, and whether as many or more wait.
full_of(Port) ->
    case option_of(Port, ?TCP_INFO) of
        Info when byte_size(Info) >= ?BACKLOG_MOST + 4, binary_part(Info, 0, 1) =:= <<?LISTENS>> ->
            {Waiting, Most} = {number_at(Info, ?UNACKED), number_at(Info, ?BACKLOG_MOST)},
            {Most, Waiting > 0 andalso Waiting >= Most};
        _ -> none
    end.

full_until(_Until, Looks, [], Full) -> {Looks, Full};
full_until(Until, Looks, Ports, Full) ->
    Now = lists:foldl(fun(Port, Counts) ->
                              case full_of(Port) of
                                  {Most, true} -> Counts#{Port => {Most, 1 + element(2, maps:get(Port, Counts, {Most, 0}))}};
                                  _ -> Counts
                              end
                      end, Full, Ports),
    case now_ms() + ?LOSS_MS < Until of
        true ->
            wait(?LOSS_MS),
            full_until(Until, Looks + 1, Ports, Now);
        false -> {Looks + 1, Now}
    end.

%% How many attempts were dropped since a socket had no room: of all programs that share the network with this one.
refused() ->
    case prim_file:read_file("/proc/self/net/netstat") of
        {ok, Text} -> counter_of(<<"ListenOverflows">>, lines(Text));
        {error, _} -> unknown
    end.

%% @doc A number of such a text: a line of names is before each line of numbers.
-spec counter_of(binary(), [binary()]) -> non_neg_integer() | unknown.
counter_of(Name, [Names, Numbers | Lines]) ->
    case lists:keyfind(Name, 1, pairs(words(Names), words(Numbers))) of
        {_, Text} -> number(Text, 0);
        false -> counter_of(Name, Lines)
    end;
counter_of(_, _) -> unknown.

pairs([Name | Names], [Text | Texts]) -> [{Name, Text} | pairs(Names, Texts)];
pairs(_, _) -> [].

words(Line) -> binary:split(Line, <<" ">>, [global, trim_all]).

%% @doc How often some processes read, for a while, and what they get.
-spec reads([pid()]) -> [diagnose_types:reads()].
reads(Pids) ->
    Began = now_ms(),
    Before = [{Pid, Sockets} || Pid <- Pids, [_ | _] = Sockets <- [[{Port, Seen} || Port <- sockets_of(Pid), Seen <- [read_of(Port)],
                                                                                   Seen =/= unknown]]],
    _ = Before =/= [] andalso wait(?READ_MS),
    Ms = max(1, now_ms() - Began),
    lists:append([most_read(Pid, Ms, [{Now - Count, NowBytes - Bytes, Port}
                                      || {Port, {Count, Bytes}} <- Sockets, {Now, NowBytes} <- [read_of(Port)], Now > Count])
                  || {Pid, Sockets} <- Before]).

sockets_of(Pid) ->
    case process_info(Pid, links) of
        {_, Links} -> lists:sublist(of_tcp([Port || Port <- Links, is_port(Port)]), ?READ_SOCKETS);
        undefined -> []
    end.

read_of(Port) ->
    case of_open(fun(One) -> prim_inet:getstat(One, [recv_cnt, recv_oct]) end, Port) of
        {ok, [{recv_cnt, Count}, {recv_oct, Bytes}]} -> {Count, Bytes};
        _ -> unknown
    end.

most_read(_Pid, _Ms, []) -> [];
most_read(Pid, Ms, Read) ->
    {Count, Bytes, Port} = lists:max(Read),
    case of_open(fun(One) -> prim_inet:getopts(One, [buffer, active, packet]) end, Port) of
        {ok, [{buffer, Buffer}, {active, Active}, {packet, Packet}]} ->
            [#{pid => pid_text(Pid), ms => Ms, count => Count, bytes => Bytes, buffer => Buffer, active => Active, packet => Packet}];
        _ -> []
    end.
