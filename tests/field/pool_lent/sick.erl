%% Ten jobs have borrowed the ten connections of a pool and hang: each reads from a server that does not answer, without a time-out. 150
%% requests wait for a connection. The pool monitors those that have one.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, exports/1, request/0]).

start() ->
    {ok, _} = gen_server:start({local, db_pool}, ?MODULE, 10, []),
    {ok, Listening} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {backlog, 100}]),
    {ok, Port} = inet:port(Listening),
    true = register(other_side, spawn(fun() -> accepts(Listening, []) end)),
    ok = gen_tcp:controlling_process(Listening, whereis(other_side)),
    other_side ! go,
    _ = [spawn(?MODULE, exports, [Port]) || _ <- lists:seq(1, 10)],
    timer:sleep(300),
    _ = [spawn(?MODULE, request, []) || _ <- lists:seq(1, 150)],
    timer:sleep(300),
    ok.

accepts(Listening, Sockets) ->
    receive go -> ok after 0 -> ok end,
    case gen_tcp:accept(Listening) of
        {ok, Socket} -> accepts(Listening, [Socket | Sockets]);
        {error, _} -> accepts(Listening, Sockets)
    end.

exports(Port) ->
    connection = gen_server:call(db_pool, checkout, infinity),
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]),
    {ok, _} = gen_tcp:recv(Socket, 0),
    gen_server:cast(db_pool, {checkin, self()}).

request() ->
    connection = gen_server:call(db_pool, checkout, infinity),
    gen_server:cast(db_pool, {checkin, self()}),
    timer:sleep(rand:uniform(100)),
    request().

init(Free) -> {ok, {Free, queue:new(), #{}}}.

handle_call(checkout, {Pid, _}, {Free, Waiting, Lent}) when Free > 0 -> {reply, connection, {Free - 1, Waiting, lent(Pid, Lent)}};
handle_call(checkout, From, {0, Waiting, Lent}) -> {noreply, {0, queue:in(From, Waiting), Lent}}.

handle_cast({checkin, Pid}, {Free, Waiting, Lent}) ->
    {Monitor, Left} = maps:take(Pid, Lent),
    true = demonitor(Monitor, [flush]),
    case queue:out(Waiting) of
        {empty, _} -> {noreply, {Free + 1, Waiting, Left}};
        {{value, {Next, _} = From}, Rest} ->
            gen_server:reply(From, connection),
            {noreply, {Free, Rest, lent(Next, Left)}}
    end.

handle_info({'DOWN', _, process, Pid, _}, State) -> handle_cast({checkin, Pid}, State).

lent(Pid, Lent) -> Lent#{Pid => monitor(process, Pid)}.
