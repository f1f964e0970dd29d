%% Each request to the service for invoices is made over a connection of its own.
-module(sick).
-export([start/0, accepts/1, invoices/2]).

start() ->
    {ok, _} = application:ensure_all_started(ssl),
    Certificate = [{digest, sha256}, {key, {namedCurve, secp256r1}}],
    Chain = #{root => Certificate, intermediates => [], peer => Certificate},
    #{server_config := Config} = public_key:pkix_test_data(#{server_chain => Chain, client_chain => Chain}),
    {ok, Listener} = ssl:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}, {backlog, 100} | Config]),
    {ok, {_, Port}} = ssl:sockname(Listener),
    Owner = self(),
    %% Who starts the node ends, and a listener ends with its owner.
    ok = ssl:controlling_process(Listener, spawn(fun() -> receive stop -> Owner end end)),
    _ = [spawn(?MODULE, accepts, [Listener]) || _ <- lists:seq(1, 16)],
    Count = counters:new(1, []),
    ok = persistent_term:put(invoices, Count),
    _ = [spawn(?MODULE, invoices, [Port, Count]) || _ <- lists:seq(1, 16)],
    ok.

accepts(Listener) ->
    {ok, Waiting} = ssl:transport_accept(Listener),
    case ssl:handshake(Waiting, 5000) of
        {ok, Socket} ->
            {ok, <<"invoice">>} = ssl:recv(Socket, 7, 5000),
            ok = ssl:send(Socket, <<"paid">>),
            ssl:close(Socket);
        {error, _} -> ok
    end,
    accepts(Listener).

invoices(Port, Count) ->
    {ok, Socket} = ssl:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {verify, verify_none}]),
    ok = ssl:send(Socket, <<"invoice">>),
    {ok, <<"paid">>} = ssl:recv(Socket, 4, 5000),
    ok = ssl:close(Socket),
    ok = counters:add(Count, 1, 1),
    invoices(Port, Count).
