%% Ten orders have the ten connections of a pool, and each waits for the server of numbers, which waits for a connection to write the next
%% number. 140 orders wait for a connection. The pool monitors those that have one.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, order/0]).

start() ->
    {ok, _} = gen_server:start({local, db_pool}, ?MODULE, {free, 10}, []),
    {ok, _} = gen_server:start({local, numbers}, ?MODULE, numbers, []),
    _ = [spawn(?MODULE, order, []) || _ <- lists:seq(1, 150)],
    timer:sleep(500),
    ok.

order() ->
    in_transaction(fun() ->
                           timer:sleep(100),
                           gen_server:call(numbers, next, infinity)
                   end).

in_transaction(Fun) ->
    connection = gen_server:call(db_pool, checkout, infinity),
    Result = Fun(),
    gen_server:cast(db_pool, {checkin, self()}),
    Result.

init({free, Count}) -> {ok, {Count, queue:new(), #{}}};
init(numbers) -> {ok, 0}.

handle_call(next, _From, Last) ->
    in_transaction(fun() -> timer:sleep(1) end),
    {reply, Last + 1, Last + 1};
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
