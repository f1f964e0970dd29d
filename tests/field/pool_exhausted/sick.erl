%% 600 requests wait for a connection of a pool whose ten were lent and never came back. The pool's mailbox is empty: it has them in its state.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, request/0]).

start() ->
    {ok, _} = gen_server:start({local, db_pool}, ?MODULE, 10, []),
    [spawn(?MODULE, request, []) || _ <- lists:seq(1, 610)],
    timer:sleep(300),
    ok.

request() ->
    connection = gen_server:call(db_pool, checkout, infinity),
    receive checkin -> gen_server:cast(db_pool, checkin) end.

init(Free) -> {ok, {Free, queue:new()}}.
handle_call(checkout, _, {Free, Waiting}) when Free > 0 -> {reply, connection, {Free - 1, Waiting}};
handle_call(checkout, From, {0, Waiting}) -> {noreply, {0, queue:in(From, Waiting)}}.
handle_cast(checkin, {Free, Waiting}) -> {noreply, {Free + 1, Waiting}}.
