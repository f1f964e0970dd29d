%% Each event connects to the host of a partner in a process of its own, and the name server takes questions and answers none.
-module(sick).
-export([start/0, name_server/1, deliver/1, events/0]).

start() ->
    Starter = self(),
    _ = spawn(?MODULE, name_server, [Starter]),
    Port = receive {port, P} -> P end,
    ok = inet_db:set_lookup([dns]),
    ok = inet_db:res_option(resolv_conf, ""), % else the system's own are read again
    ok = inet_db:res_option(nameservers, [{{127, 0, 0, 1}, Port}]),
    _ = [spawn(?MODULE, deliver, [N]) || N <- lists:seq(1, 200)],
    register(events, spawn(?MODULE, events, [])),
    timer:sleep(1000),
    ok.

name_server(Starter) ->
    {ok, Socket} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, Port} = inet:port(Socket),
    Starter ! {port, Port},
    receive stop -> ok end.

events() ->
    _ = spawn(?MODULE, deliver, [rand:uniform(50)]),
    timer:sleep(100),
    events().

deliver(N) ->
    case gen_tcp:connect("hooks" ++ integer_to_list(N) ++ ".partner.example", 443, [{active, false}]) of
        {ok, Socket} -> gen_tcp:close(Socket);
        {error, _} ->
            timer:sleep(200),
            deliver(N)
    end.
