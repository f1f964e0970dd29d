%% An importer reads a stream by a socket with the small buffer that was the default up to OTP 27, so each message has 1,460 bytes, and each
%% of them takes a call of inet:setopts/2. It only counts the lines.
-module(sick).
-export([start/0, small/0]).

start() ->
    {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {buffer, 1460}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listens),
    spawn(fun() ->
                  {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {sndbuf, 1_000_000}]),
                  sends(Socket, binary:copy(<<"shop;order;42;1\n">>, 50_000))
          end),
    Importer = spawn(fun() -> receive {go, Socket} -> reads(Socket, 0) end end),
    true = register(importer, Importer),
    {ok, Socket} = gen_tcp:accept(Listens),
    ok = gen_tcp:controlling_process(Socket, Importer),
    Importer ! {go, Socket},
    timer:sleep(300),
    ok.

sends(Socket, Text) ->
    ok = gen_tcp:send(Socket, Text),
    sends(Socket, Text).

reads(Socket, Lines) ->
    ok = inet:setopts(Socket, [{active, once}]),
    receive {tcp, Socket, Data} -> reads(Socket, Lines + length(binary:matches(Data, <<"\n">>))) end.

%% Whether it gets small pieces, and many.
small() ->
    [Socket] = [Port || Port <- erlang:ports(), erlang:port_info(Port, connected) =:= {connected, whereis(importer)}],
    {ok, [{recv_cnt, Before}]} = inet:getstat(Socket, [recv_cnt]),
    timer:sleep(500),
    {ok, [{recv_cnt, Now}, {recv_avg, Mean}]} = inet:getstat(Socket, [recv_cnt, recv_avg]),
    Now - Before > 1000 andalso Mean < 2000.
