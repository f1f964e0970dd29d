%% Webhooks are sent by those that got one of six places of a pool, without a time-out, and one partner takes the requests and says nothing:
%% soon the six wait for it, and all others for a place.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, partner/1, orders/2]).

-define(PLACES, 6).

start() ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, Port} = inet:port(Listen),
    ok = gen_tcp:controlling_process(Listen, spawn(?MODULE, partner, [Listen])),
    {ok, _} = gen_server:start({local, webhooks}, ?MODULE, [], []),
    _ = [spawn(?MODULE, orders, [Port, N]) || N <- lists:seq(1, 20)],
    timer:sleep(500).

partner(Listen) ->
    {ok, Socket} = gen_tcp:accept(Listen),
    _ = spawn(?MODULE, partner, [Listen]),
    receive stop -> gen_tcp:close(Socket) end.

orders(Port, N) ->
    ok = gen_server:call(webhooks, place, infinity),
    _ = post(Port, N),
    gen_server:cast(webhooks, {back, self()}),
    orders(Port, N).

post(Port, N) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    ok = gen_tcp:send(Socket, ["POST /orders/", integer_to_list(N), " HTTP/1.1\r\n\r\n"]),
    {ok, Answer} = gen_tcp:recv(Socket, 0),
    ok = gen_tcp:close(Socket),
    Answer.

init([]) -> {ok, {#{}, []}}.

handle_call(place, {Pid, _}, {Lent, Waiting}) when map_size(Lent) < ?PLACES -> {reply, ok, {Lent#{Pid => monitor(process, Pid)}, Waiting}};
handle_call(place, From, {Lent, Waiting}) -> {noreply, {Lent, Waiting ++ [From]}}.

handle_cast({back, Pid}, {Lent, Waiting}) ->
    {Monitor, Rest} = maps:take(Pid, Lent),
    true = demonitor(Monitor, [flush]),
    case Waiting of
        [{Next, _} = From | Others] ->
            gen_server:reply(From, ok),
            {noreply, {Rest#{Next => monitor(process, Next)}, Others}};
        [] -> {noreply, {Rest, []}}
    end.
