%% A server asks a directory for each login by a process that has the connection, as eldap's does. The directory takes the request and says
%% nothing. Sixty sessions log in.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, directory/1, connection/2, session/1]).

start() ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, Port} = inet:port(Listen),
    ok = gen_tcp:controlling_process(Listen, spawn(?MODULE, directory, [Listen])),
    {ok, _} = gen_server:start({local, directory_auth}, ?MODULE, Port, []),
    _ = [spawn(?MODULE, session, [N]) || N <- lists:seq(1, 60)],
    timer:sleep(500).

directory(Listen) ->
    {ok, Socket} = gen_tcp:accept(Listen),
    receive stop -> gen_tcp:close(Socket) end.

init(Port) -> {ok, spawn_link(?MODULE, connection, [self(), Port])}.

handle_call({auth, User}, _, Connection) ->
    {reply, bind(Connection, User), Connection}.

handle_cast(_, Connection) -> {noreply, Connection}.

bind(Connection, User) ->
    Connection ! {bind, self(), User},
    receive {Connection, Answer} -> Answer end.

connection(Owner, Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    binds(Owner, Socket).

binds(Owner, Socket) ->
    receive {bind, Owner, User} -> ok = gen_tcp:send(Socket, [User, $\n]) end,
    Owner ! {self(), answer(Socket)},
    binds(Owner, Socket).

answer(Socket) -> {ok, Answer} = gen_tcp:recv(Socket, 0, infinity), Answer.

session(N) -> gen_server:call(directory_auth, {auth, integer_to_list(N)}, infinity).
