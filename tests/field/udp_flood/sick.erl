%% A receiver of metrics takes packets as messages, as many as come, and works on each for longer than they take to come.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    {ok, Receiver} = gen_server:start({local, statsd_server}, ?MODULE, [], []),
    Port = gen_server:call(Receiver, port),
    spawn(fun() -> {ok, Socket} = gen_udp:open(0), sends(Socket, Port, Receiver) end),
    timer:sleep(2000),
    ok.

%% No more than 30,000 wait, so that the node lives long enough to be looked at.
sends(Socket, Port, Receiver) ->
    _ = [gen_udp:send(Socket, {127, 0, 0, 1}, Port, <<"shop.requests:1|c">>) || _ <- lists:seq(1, 100)],
    case process_info(Receiver, message_queue_len) of
        {_, Depth} when Depth > 30_000 -> timer:sleep(200);
        _ -> timer:sleep(1)
    end,
    sends(Socket, Port, Receiver).

init([]) ->
    gen_udp:open(0, [binary, {active, true}, {ip, {127, 0, 0, 1}}, {recbuf, 1_000_000}]).

handle_call(port, _, Socket) -> {ok, Port} = inet:port(Socket), {reply, Port, Socket}.
handle_cast(_, Socket) -> {noreply, Socket}.
handle_info({udp, _, _, _, Packet}, Socket) ->
    _ = [binary:split(Packet, [<<":">>, <<"|">>], [global]) || _ <- lists:seq(1, 300)],
    {noreply, Socket}.
