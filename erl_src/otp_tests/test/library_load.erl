%% Work for the modules of OTP's libraries that patches change: starts of processes, the code server, disk logs and
%% sockets, asked by processes in whose mailboxes messages wait, and whose answers are looked at.
-module(library_load).

-export([worker/3, child/2]).

-define(WAITING, 150).
-define(LOOPBACK, {127, 0, 0, 1}).

%% @doc Works until it is told to stop: `{calls, N}'. Messages that waited at the start are there at the end, and no other.
-spec worker(file:filename(), pos_integer(), non_neg_integer()) -> {calls, non_neg_integer()}.
worker(Folder, Nth, Traps) ->
    true = process_flag(trap_exit, Traps =:= 1) =:= false,
    Waiting = [{waiting, N} || N <- lists:seq(1, Nth rem 2 * ?WAITING)],
    _ = [self() ! Message || Message <- Waiting],
    Calls = calls(filename:join(Folder, integer_to_list(Nth)), 0),
    {messages, Waiting} = process_info(self(), messages),
    {calls, Calls}.

calls(File, Done) ->
    receive
        stop -> Done
    after 0 ->
            ok = call(endurance_chaos:one_of([start, fail, crash, code, log, tcp, udp, hand_over, closed]), File),
            calls(File, Done + 1)
    end.

call(start, _) ->
    {ok, Pid} = proc_lib:start(?MODULE, child, [self(), {ok, ready}]),
    Monitor = monitor(process, Pid),
    Pid ! stop,
    receive {'DOWN', Monitor, process, Pid, normal} -> ok end;
call(fail, _) ->
    {{error, no}, Monitor} = proc_lib:start_monitor(?MODULE, child, [self(), fail]),
    receive {'DOWN', Monitor, process, _, normal} -> ok end;
call(crash, _) ->
    {error, normal} = proc_lib:start(?MODULE, child, [self(), crash]),
    ok;
call(code, _) ->
    [_ | _] = code:get_path(),
    {file, _} = code:is_loaded(lists),
    ok;
call(log, File) ->
    {ok, Log} = disk_log:open([{name, File}, {file, File}]),
    ok = disk_log:log(Log, {any, File}),
    {_, [_ | _]} = disk_log:chunk(Log, start),
    ok = disk_log:truncate(Log),
    ok = disk_log:close(Log);
call(tcp, _) ->
    {Listen, Client, Server} = connected([{active, false}]),
    ok = gen_tcp:send(Client, ~"to server"),
    {ok, ~"to server"} = gen_tcp:recv(Server, 9),
    closed([Client, Server, Listen]);
call(closed, _) ->
    {Listen, Client, Server} = connected([{active, true}]),
    ok = gen_tcp:close(Server),
    receive {tcp_closed, Client} = Message -> self() ! Message end,
    closed([Client, Listen]);
call(hand_over, _) ->
    {Listen, Client, Server} = connected([{active, once}]),
    ok = gen_tcp:send(Server, ~"x"),
    receive {tcp, Client, _} = Message -> self() ! Message end,
    Self = self(),
    {Owner, Monitor} = spawn_monitor(fun() -> own(Self) end),
    ok = gen_tcp:controlling_process(Client, Owner),
    Owner ! {owner, Client},
    receive {?MODULE, Owner, ~"x"} -> ok end,
    receive {'DOWN', Monitor, process, Owner, normal} -> ok end,
    closed([Server, Listen]);
call(udp, _) ->
    {ok, Socket} = gen_udp:open(0, [binary, {ip, ?LOOPBACK}, {active, false}]),
    {ok, Port} = inet:port(Socket),
    ok = gen_udp:send(Socket, ?LOOPBACK, Port, ~"x"),
    {ok, {_, Port, ~"x"}} = gen_udp:recv(Socket, 1),
    ok = gen_udp:close(Socket).

connected(Options) ->
    {ok, Listen} = gen_tcp:listen(0, [binary, {ip, ?LOOPBACK}, {active, false}]),
    {ok, Port} = inet:port(Listen),
    {ok, Client} = gen_tcp:connect(?LOOPBACK, Port, [binary | Options]),
    {ok, Server} = gen_tcp:accept(Listen),
    {Listen, Client, Server}.

closed(Sockets) ->
    _ = [ok = gen_tcp:close(Socket) || Socket <- Sockets],
    ok.

%% What came before is there when the socket is.
own(From) ->
    Socket = receive {owner, Owned} -> Owned end,
    receive {tcp, Socket, Data} -> From ! {?MODULE, self(), Data} after 0 -> error(lost) end,
    ok = gen_tcp:close(Socket).

%% @private
child(_, crash) -> exit(normal);
child(Parent, fail) -> proc_lib:init_fail(Parent, {error, no}, {exit, normal});
child(Parent, {ok, ready}) ->
    proc_lib:init_ack(Parent, {ok, self()}),
    receive stop -> ok end.
