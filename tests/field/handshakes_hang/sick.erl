%% Clients connect to a server over TLS and never send a byte. Each process that serves one waits for the handshake, without a time-out.
-module(sick).
-export([start/0, listens/1, serves/0]).

start() ->
    {ok, _} = application:ensure_all_started(ssl),
    Starter = self(),
    spawn(?MODULE, listens, [Starter]),
    Port = receive {ready, Ready} -> Ready end,
    Client = spawn(fun() ->
                           Starter ! {clients, [gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]) || _ <- lists:seq(1, 300)]},
                           receive stop -> ok end
                   end),
    true = register(clients, Client),
    receive {clients, _} -> ok end,
    timer:sleep(1000),
    ok.

listens(Starter) ->
    Key = [{key, {namedCurve, secp256r1}}, {digest, sha256}],
    Chain = #{root => Key, intermediates => [], peer => Key},
    #{server_config := Certificate} = public_key:pkix_test_data(#{server_chain => Chain, client_chain => Chain}),
    {ok, Listening} = ssl:listen(0, [binary, {active, false}, {backlog, 500}, {ip, {127, 0, 0, 1}}, {verify, verify_none}
                                     | lists:keydelete(verify, 1, Certificate)]),
    {ok, {_, Port}} = ssl:sockname(Listening),
    Starter ! {ready, Port},
    accepts(Listening).

accepts(Listening) ->
    {ok, Accepted} = ssl:transport_accept(Listening),
    Server = spawn(?MODULE, serves, []),
    ok = ssl:controlling_process(Accepted, Server),
    Server ! Accepted,
    accepts(Listening).

serves() ->
    receive
        Accepted ->
            {ok, Socket} = ssl:handshake(Accepted),
            answers(Socket)
    end.

answers(Socket) ->
    {ok, Request} = ssl:recv(Socket, 0),
    ok = ssl:send(Socket, Request),
    answers(Socket).
