%% Runs on a node with a dam whose server is on another, or with a sender whose dam is on another.
-module(dam_test_remote).

-export([run/1, send/1, dam/1, lose/1, replace/1]).

-include_lib("stdlib/include/assert.hrl").

run(There) ->
    true = net_kernel:connect_node(There),
    Self = self(),
    Server = spawn(There, fun Loop() -> receive {m, N} -> Self ! {took, N}, Loop(); stop -> ok; _ -> Loop() end end),
    by_pid(Server),
    told_of_its_exit(Server),
    by_name(There),
    suspended(There).

%% A plain process, by acknowledgements that never come.
by_pid(Server) ->
    {ok, Dam} = dam:start_link(Server, #{high => 3, credit => ack, recover_ms => 20}),
    [ok = dam:send(Dam, {m, N}) || N <- lists:seq(1, 10)],
    ok = dam:flush(Dam, 10_000),
    ?assertEqual(lists:seq(1, 10), [receive {took, N} -> N after 5_000 -> error(missing) end || _ <- lists:seq(1, 10)]),
    ok = dam:stop(Dam).

%% It lives, and nobody here can see that.
told_of_its_exit(Server) ->
    {ok, Dam} = dam:start_link(Server, #{credit => ack}),
    ok = is_up(dam:info(Dam), Dam),
    Dam ! {'EXIT', Server, boom},
    ok = dam:send(Dam, {m, 0}),
    ?assertEqual(0, receive {took, N} -> N after 5_000 -> error(missing) end),
    ?assertMatch(#{delivered := 2}, dam:info(Dam)),
    ok = dam:stop(Dam).

is_up(#{server := undefined}, Dam) ->
    ok = timer:sleep(5),
    is_up(dam:info(Dam), Dam);
is_up(_, _) -> ok.

by_name(There) ->
    {ok, Dam} = dam:start_link({named_there, There}, #{high => 3, retry_ms => 10}),
    [ok = dam:send(Dam, {m, N}) || N <- lists:seq(1, 10)],
    {ok, _} = erpc:call(There, gen_server, start, [{local, named_there}, dam_test_gen, [], []]),
    ok = dam:flush(Dam, 10_000),
    ?assertMatch(#{delivered := 10, lost := 0, server_queue := 0}, dam:info(Dam)),
    ok = dam:stop(Dam).

suspended(There) ->
    {ok, Server} = erpc:call(There, gen_server, start, [dam_test_gen, [], []]),
    {ok, Dam} = dam:start_link(Server, #{high => 3}),
    ok = sys:suspend(Server),
    [ok = dam:send(Dam, {m, N}) || N <- lists:seq(1, 10)],
    timer:sleep(100),
    {messages, Messages} = erpc:call(There, erlang, process_info, [Server, messages]),
    ?assertEqual([{m, 1}, {m, 2}, {m, 3}], [Message || {m, _} = Message <- Messages]),
    ok = sys:resume(Server),
    ok = dam:flush(Dam, 10_000),
    ok = dam:stop(Dam).

%% By the dam's name there and by its pid.
send(There) ->
    Named = dam_there(There),
    ?assertEqual([ok, ok, ok], [dam:send(Named, 1), dam:send_priority(Named, 2), dam:send_async(Named, 3)]),
    ?assertEqual({error, noproc}, dam:send({no_such_dam, There}, 4)),
    ?assertMatch(#{received := 3}, dam:info(Named)),
    ok = dam:flush(Named, 5_000).

%% The name of a dam that is started there.
dam_there(There) ->
    true = net_kernel:connect_node(There),
    Self = self(),
    Dam = spawn(There, ?MODULE, dam, [Self]),
    receive {Dam, started} -> ok after 5_000 -> error(no_dam) end,
    {dam_there, There}.

%% A dam and its server, which ends with this node.
dam(Test) ->
    Server = spawn_link(fun Loop() -> receive {system, From, Request} -> gen:reply(From, {error, Request}), Loop(); _ -> Loop() end end),
    {ok, _} = dam:start_link({local, dam_there}, Server, #{high => 3}),
    Test ! {self(), started},
    receive stop -> ok end.

%% The sender is blocked when the connection is lost, and its message is still delivered.
lose(There) ->
    Named = dam_there(There),
    ok = dam:configure(Named, #{server => spawn(There, timer, sleep, [infinity]), high => 1, limit => 1}),
    ok = dam:send(Named, 1),
    ok = dam:send(Named, 2),
    {Sender, Monitor} = spawn_monitor(fun() -> exit(dam:send(Named, 3)) end),
    ok = waits(Named),
    true = erlang:disconnect_node(There),
    receive {'DOWN', Monitor, process, Sender, Told} -> ?assertEqual({error, noconnection}, Told) after 5_000 -> error(waits_still) end.

%% The server that was replaced ends when the connection is back. The lost connection alone says nothing about it.
replace(There) ->
    true = net_kernel:connect_node(There),
    Server = spawn(There, timer, sleep, [infinity]),
    {ok, Dam} = dam:start_link(Server, #{credit => ack, retry_ms => 20}),
    ok = is_up(dam:info(Dam), Dam),
    [ok = dam:send(Dam, N) || N <- [1, 2, 3]],
    ok = dam:configure(Dam, #{server => no_such_server}),
    {Flush, Monitor} = spawn_monitor(fun() -> exit(dam:flush(Dam, infinity)) end),
    true = erlang:disconnect_node(There),
    receive {'DOWN', Monitor, process, Flush, Early} -> error({early, Early}) after 100 -> ok end,
    true = net_kernel:connect_node(There),
    true = exit(Server, kill),
    receive {'DOWN', Monitor, process, Flush, Told} -> ?assertEqual(ok, Told) after 5_000 -> error(waits_still) end,
    ?assertMatch(#{lost := 3, delivered := 3}, dam:info(Dam)),
    ok = dam:stop(Dam).

waits(Dam) ->
    case dam:info(Dam) of
        #{waiting := 1} -> ok;
        _ ->
            ok = timer:sleep(5),
            waits(Dam)
    end.
