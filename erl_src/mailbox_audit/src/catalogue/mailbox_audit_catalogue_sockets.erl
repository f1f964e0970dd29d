%% @doc Calls that are timed: TCP, UDP and what inet knows, all over loopback.
-module(mailbox_audit_catalogue_sockets).

-export([entries/0, connected/1, close/1]).

-define(LOOPBACK, {127, 0, 0, 1}).
-define(OF_SOCKET, [{inet_backend, socket}]).

%% @doc The entries, each with its cause where it scans.
-spec entries() -> [mailbox_audit_timed:entry()].
entries() -> tcp() ++ tcp_of_socket() ++ udp() ++ inet().

tcp() ->
    [#{name => "gen_tcp:listen/2", call => fun(_) -> listening([]) end, finish => fun close_one/2},
     #{name => "gen_tcp:connect/3", setup => fun() -> listening([]) end, cleanup => fun gen_tcp:close/1,
       call => fun(Listening) -> connect(Listening, []) end,
       finish => fun(Listening, Socket) -> {ok, Other} = gen_tcp:accept(Listening), close({Socket, Other}) end,
       cause => driver_cause("connect_cmd/3")},
     #{name => "gen_tcp:accept/1", setup => fun() -> listening([]) end, cleanup => fun gen_tcp:close/1,
       prepare => fun(Listening) -> {Listening, connect(Listening, [])} end,
       call => fun({Listening, _}) -> {ok, Socket} = gen_tcp:accept(Listening), Socket end,
       finish => fun({_, One}, Other) -> close({One, Other}) end,
       cause => driver_cause("accept0/3")},
     #{name => "gen_tcp:send/2", setup => fun() -> connected([]) end, cleanup => fun close/1,
       call => fun({Sender, _}) -> ok = gen_tcp:send(Sender, "text") end,
       finish => fun({_, Receiver}, _) -> {ok, _} = gen_tcp:recv(Receiver, 4) end},
     #{name => "gen_tcp:recv/2", setup => fun() -> connected([]) end, cleanup => fun close/1,
       prepare => fun({Sender, _} = Sockets) -> ok = gen_tcp:send(Sender, "text"), Sockets end,
       call => fun({_, Receiver}) -> {ok, _} = gen_tcp:recv(Receiver, 4) end,
       cause => driver_cause("recv0/3")},
     #{name => "gen_tcp:shutdown/2", prepare => fun(_) -> connected([]) end,
       call => fun({Sender, _}) -> ok = gen_tcp:shutdown(Sender, write) end,
       finish => fun(Sockets, _) -> close(Sockets) end},
     #{name => "gen_tcp:close/1", prepare => fun(_) -> connected([]) end,
       call => fun({One, _}) -> ok = gen_tcp:close(One) end,
       finish => fun({_, Other}, _) -> gen_tcp:close(Other) end, cause => close_cause("inet:tcp_close/1")},
     #{name => "gen_tcp:controlling_process/2", setup => fun() -> {connected([]), idle()} end,
       cleanup => fun({Sockets, Pid}) -> unlink(Pid), exit(Pid, kill), close(Sockets) end,
       prepare => fun({{_, Receiver}, Pid}) -> {Receiver, Pid} end,
       call => fun({Socket, Pid}) -> ok = gen_tcp:controlling_process(Socket, Pid) end,
       finish => fun({Socket, Pid}, _) -> back(Socket, Pid) end,
       cause => "inet:tcp_sync_input/3 searches with 'after 0' for data from the socket, and matches only the port, not a reference"}].

tcp_of_socket() ->
    [#{name => "gen_tcp:connect/3 (inet_backend socket)", setup => fun() -> listening(?OF_SOCKET) end,
       cleanup => fun gen_tcp:close/1, call => fun(Listening) -> connect(Listening, ?OF_SOCKET) end,
       finish => fun(Listening, Socket) -> {ok, Other} = gen_tcp:accept(Listening), close({Socket, Other}) end,
       cause => "the call starts a gen_statem for the socket: proc_lib:sync_start/2 waits for {ack, Pid, _} from this process"},
     #{name => "gen_tcp:recv/2 (inet_backend socket)", setup => fun() -> connected(?OF_SOCKET) end,
       cleanup => fun close/1,
       prepare => fun({Sender, _} = Sockets) -> ok = gen_tcp:send(Sender, "text"), Sockets end,
       call => fun({_, Receiver}) -> {ok, _} = gen_tcp:recv(Receiver, 4) end}].

udp() ->
    [#{name => "gen_udp:open/2", call => fun(_) -> {ok, Socket} = gen_udp:open(0, [{ip, ?LOOPBACK}]), Socket end,
       finish => fun(_, Socket) -> gen_udp:close(Socket) end},
     #{name => "gen_udp:send/4", setup => fun two_udp/0, cleanup => fun close_udp/1,
       call => fun({One, _, Port}) -> ok = gen_udp:send(One, ?LOOPBACK, Port, "text") end,
       finish => fun({_, Other, _}, _) -> {ok, _} = gen_udp:recv(Other, 4) end},
     #{name => "gen_udp:recv/2", setup => fun two_udp/0, cleanup => fun close_udp/1,
       prepare => fun({One, _, Port} = Sockets) -> ok = gen_udp:send(One, ?LOOPBACK, Port, "text"), Sockets end,
       call => fun({_, Other, _}) -> {ok, _} = gen_udp:recv(Other, 4) end,
       cause => driver_cause("recvfrom0/3")},
     #{name => "gen_udp:close/1",
       prepare => fun(_) -> {ok, Socket} = gen_udp:open(0, [{ip, ?LOOPBACK}]), Socket end,
       call => fun(Socket) -> ok = gen_udp:close(Socket) end, cause => close_cause("inet:udp_close/1")}].

inet() ->
    [#{name => "inet:getaddr/2", call => fun(_) -> {ok, _} = inet:getaddr("localhost", inet) end},
     #{name => "inet:gethostname/0", call => fun(_) -> {ok, _} = inet:gethostname() end,
       cause => close_cause("inet:udp_close/1")},
     #{name => "inet:getifaddrs/0", call => fun(_) -> {ok, _} = inet:getifaddrs() end,
       cause => close_cause("inet:udp_close/1")},
     #{name => "inet:setopts/2", setup => fun() -> connected([]) end, cleanup => fun close/1,
       call => fun({Socket, _}) -> ok = inet:setopts(Socket, [{nodelay, true}]) end},
     #{name => "inet:getopts/2", setup => fun() -> connected([]) end, cleanup => fun close/1,
       call => fun({Socket, _}) -> {ok, _} = inet:getopts(Socket, [nodelay]) end},
     #{name => "inet:peername/1, sockname/1", setup => fun() -> connected([]) end, cleanup => fun close/1,
       call => fun({Socket, _}) -> {ok, _} = inet:peername(Socket), {ok, _} = inet:sockname(Socket) end}].

driver_cause(Function) ->
    "prim_inet:" ++ Function ++ " waits for {inet_async, Socket, Number, _}: the number comes from the driver, and"
        " is not a reference".

close_cause(Function) ->
    Function ++ " and prim_inet:close_port/1 search with 'after 0' for messages from the closed socket, and match only the port, not a reference".

listening(Backend) ->
    {ok, Listening} = gen_tcp:listen(0, Backend ++ [{ip, ?LOOPBACK}, {active, false}, {backlog, 128}]),
    Listening.

connect(Listening, Backend) ->
    {ok, Port} = inet:port(Listening),
    {ok, Socket} = gen_tcp:connect(?LOOPBACK, Port, Backend ++ [{active, false}]),
    Socket.

%% @doc Two sockets that are connected, made with those first options.
-spec connected([gen_tcp:option()]) -> {gen_tcp:socket(), gen_tcp:socket()}.
connected(Backend) ->
    Listening = listening(Backend),
    Socket = connect(Listening, Backend),
    {ok, Other} = gen_tcp:accept(Listening),
    ok = gen_tcp:close(Listening),
    {Socket, Other}.

%% @doc Closes both.
-spec close({gen_tcp:socket(), gen_tcp:socket()}) -> ok.
close({One, Other}) ->
    ok = gen_tcp:close(One),
    ok = gen_tcp:close(Other).

close_one(_, Socket) -> gen_tcp:close(Socket).

two_udp() ->
    [One, Other] = [begin
                        {ok, Socket} = gen_udp:open(0, [{ip, ?LOOPBACK}, {active, false}]),
                        Socket
                    end || _ <- [1, 2]],
    {ok, Port} = inet:port(Other),
    {One, Other, Port}.

close_udp({One, Other, _Port}) ->
    ok = gen_udp:close(One),
    ok = gen_udp:close(Other).

%% A process that gives a socket back to its caller.
idle() -> spawn_link(fun give_back/0).

give_back() ->
    receive
        {Client, Socket} ->
            ok = gen_tcp:controlling_process(Socket, Client),
            Client ! {self(), Socket},
            give_back()
    end.

back(Socket, Pid) ->
    Pid ! {self(), Socket},
    receive {Pid, Socket} -> ok end.
