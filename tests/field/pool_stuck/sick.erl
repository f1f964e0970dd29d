%% The process of a pool connects to a host that does not answer, itself: all who want a connection wait in its mailbox.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, Pool} = gen_server:start({local, http_pool}, ?MODULE, [], []),
    _ = [spawn(fun() -> gen_server:call(Pool, {checkout, "api.example", N}, infinity) end) || N <- lists:seq(1, 4000)],
    timer:sleep(500),
    ok.

%% It listens, and accepts nobody; so the answer to what is sent never comes.
init([]) -> gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}]).
handle_call({checkout, _, _}, _, Listen) ->
    {ok, Port} = inet:port(Listen),
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]),
    {reply, gen_tcp:recv(Socket, 0), Listen}.
handle_cast(_, Listen) -> {noreply, Listen}.
