%% 30 processes call the server of a connection, which hangs in a send without a timeout, since the other side does not read.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, sends/0]).

start() ->
    {ok, _} = gen_server:start({local, kafka_conn}, ?MODULE, [], []),
    _ = [spawn(?MODULE, sends, []) || _ <- lists:seq(1, 30)],
    timer:sleep(500),
    ok.

sends() -> gen_server:call(kafka_conn, {send, <<0:800000>>}, infinity).

init([]) ->
    {ok, Listen} = gen_tcp:listen(0, [binary, {active, false}, {recbuf, 10000}]),
    {ok, Port} = inet:port(Listen),
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {sndbuf, 10000}]),
    {ok, Broker} = gen_tcp:accept(Listen),
    {ok, {Socket, Listen, Broker}}.

handle_call({send, Data}, _, {Socket, _, _} = State) ->
    ok = gen_tcp:send(Socket, Data),
    {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.
