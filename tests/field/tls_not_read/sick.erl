%% News go to 20 clients over TLS. The clients do not read, so each publisher waits for the process of its connection, which waits in
%% a send.
-module(sick).
-export([start/0, listens/1, publishes/0, connects/1]).

start() ->
    {ok, _} = application:ensure_all_started(ssl),
    Starter = self(),
    spawn(?MODULE, listens, [Starter]),
    receive {ready, Port} -> ok end,
    _ = [spawn(?MODULE, connects, [Port]) || _ <- lists:seq(1, 20)],
    timer:sleep(3000),
    ok.

listens(Starter) ->
    Key = [{key, {namedCurve, secp256r1}}, {digest, sha256}],
    Chain = #{root => Key, intermediates => [], peer => Key},
    #{server_config := Certificate} = public_key:pkix_test_data(#{server_chain => Chain, client_chain => Chain}),
    {ok, Listening} = ssl:listen(0, [binary, {active, false}, {backlog, 100}, {ip, {127, 0, 0, 1}}, {verify, verify_none}
                                     | lists:keydelete(verify, 1, Certificate)]),
    {ok, {_, Port}} = ssl:sockname(Listening),
    Starter ! {ready, Port},
    accepts(Listening).

accepts(Listening) ->
    {ok, Accepted} = ssl:transport_accept(Listening),
    Publisher = spawn(?MODULE, publishes, []),
    ok = ssl:controlling_process(Accepted, Publisher),
    Publisher ! Accepted,
    accepts(Listening).

publishes() ->
    receive
        Accepted ->
            {ok, Socket} = ssl:handshake(Accepted),
            publishes(Socket)
    end.

publishes(Socket) ->
    ok = ssl:send(Socket, binary:copy(<<"news ">>, 1000)),
    publishes(Socket).

connects(Port) ->
    {ok, Socket} = ssl:connect({127, 0, 0, 1}, Port, [{active, false}, {verify, verify_none}]),
    receive close -> ssl:close(Socket) end.
