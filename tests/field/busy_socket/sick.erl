%% A client stopped reading. Whoever sends to it is suspended by the socket, and the messages for the connection wait.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, Port} = inet:port(Listen),
    spawn(fun() -> {ok, _} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]), receive stop -> ok end end),
    {ok, Socket} = gen_tcp:accept(Listen),
    {ok, Connection} = gen_server:start({local, ws_connection}, ?MODULE, Socket, []),
    ok = gen_tcp:controlling_process(Socket, Connection),
    _ = [gen_server:cast(Connection, {push, N}) || N <- lists:seq(1, 5000)],
    spawn(fun() -> link(Listen), receive stop -> ok end end),
    timer:sleep(1000),
    ok.

init(Socket) -> {ok, Socket}.
handle_call(_, _, Socket) -> {reply, ok, Socket}.
handle_cast({push, N}, Socket) ->
    true = erlang:port_command(Socket, binary:copy(<<N:32>>, 8192)),
    {noreply, Socket}.
