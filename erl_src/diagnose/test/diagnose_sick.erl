%% Each sickness once, as a process of a node that is to be looked at, and healthy processes beside them.
-module(diagnose_sick).
-behaviour(gen_server).

-export([plant/0, scanning/0, deep/0, waits_behind/1, spread/0, collecting/0, idle/0, leaking/0, fragmented/0, on_heap/0,
         healthy/1, echo/1, large/1, collectors/1, receiving/0, listening/0, collects_small/0,
         short_lives/0, begins_large/0, plant_many/0, sessions/1, scattered/1, shards/1, monitoring/0, churning/0, churning_large/1,
         timers/1, held_up/0, leaving/0, spinning/0,
         table/0, written_by/1, many_deep/1, leave/1, makes_room/0, polling/0, plant_held_back/0, stacked/1, computes/0, asks_for_ever/1]).

-export([waits_for_ever/0, spins/1, spinning/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(SICK, [scanning, deep, spread, collecting, idle, leaking, fragmented, on_heap]).

%% The last one leaves holes that others would fill.
plant() ->
    [ok = ?MODULE:Sickness() || Sickness <- (?SICK -- [fragmented]) ++ [fragmented]],
    ok.

%% Asks a server time and again, with messages before the answer. On a heap so large that it does not collect meanwhile, which
%% on a fast machine would be a sickness more.
scanning() ->
    Server = spawn(fun answering/0),
    started(sick_scanning, fun() -> fill(20_000) end, fun() -> asks(Server) end, [{min_heap_size, 2_000_000}]).

answering() -> receive {From, ask} -> From ! {self(), answer}, answering() end.

asks(Server) ->
    _ = ask(Server),
    asks(Server).

ask(Server) ->
    Server ! {self(), ask},
    receive {Server, answer} -> ok end,
    put(asked, true).

%% Reads from a socket, with messages before the answer.
receiving() ->
    {ok, Listening} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, Port} = inet:port(Listening),
    Make = fun() ->
                   {ok, Client} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]),
                   {ok, Server} = gen_tcp:accept(Listening),
                   ok = fill(200_000),
                   {Client, Server}
           end,
    started(sick_receiving, Make, fun echoed/1, []).

echoed({Client, Server} = Sockets) ->
    ok = gen_tcp:send(Client, "?"),
    {ok, "?"} = gen_tcp:recv(Server, 1),
    echoed(Sockets).

deep() -> started(sick_deep, fun() -> fill(5000) end, fun sleep/0, []).

%% As many messages as asked for.
waits_behind(Messages) -> started(sick_waiting, fun() -> fill(Messages) end, fun sleep/0, []).

%% Looks at nothing.
sleep() -> receive after infinity -> ok end.

fill(0) -> ok;
fill(Left) -> self() ! {waits, Left}, fill(Left - 1).

%% A list whose cells were dense, spread by hibernation.
spread() ->
    {ok, _} = gen_server:start({local, sick_spread}, ?MODULE, spread, [{hibernate_after, 10}]),
    ok.

init({session, Cells}) -> {ok, length([{N} || N <- lists:seq(1, Cells)])};
init({shard, Binaries}) -> {ok, [binary:part(Whole, 10, 70) || N <- lists:seq(1, Binaries), Whole <- [binary:copy(<<N:64>>, 8000)]]};
init(spread) -> {ok, [erlang:make_tuple(14, N) || N <- lists:seq(1, 50_000)]};
init(large) -> {ok, lists:seq(1, 2_000_000)};
init(healthy) -> {ok, []}.

handle_call(echo, _, State) -> {reply, echo, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(_, State) -> {noreply, State}.

%% Much that lives, and full sweeps of it: half of its time, on a machine of any speed.
collecting() ->
    started(sick_collecting, fun() -> [{N} || N <- lists:seq(1, 1_000_000)] end, fun collects_half_its_time/1, []).

collects_half_its_time(Live) ->
    Began = erlang:monotonic_time(millisecond),
    true = garbage_collect(),
    receive after erlang:monotonic_time(millisecond) - Began -> collects_half_its_time(Live) end.

collects(Live) ->
    true = garbage_collect(),
    receive after 100 -> collects(Live) end.

%% A heap that is no longer needed, and that a collection gives back: less than is garbage in processes alike.
idle() -> started(sick_idle, fun() -> process_flag(min_heap_size, 233) end, fun sleep/0, [{min_heap_size, 1_500_000}]).

%% Small parts that keep large binaries.
leaking() -> started(sick_leaking, fun() -> [part(N) || N <- lists:seq(1, 200)] end, fun sleep_with/1, []).

part(N) ->
    <<Part:100/binary, _/binary>> = binary:copy(<<N:64>>, 25_000),
    Part.

sleep_with(Held) -> receive Held -> Held end.

%% One binary of eight stays.
fragmented() ->
    Make = fun() -> [Kept || N <- lists:seq(1, 4000), Kept <- [binary:copy(<<N:64>>, 4000)]] end,
    Keep = fun(All) -> [Binary || {N, Binary} <- lists:enumerate(All), N rem 16 =:= 0] end,
    started(sick_fragmented, fun() -> Kept = Keep(Make()), true = garbage_collect(), Kept end, fun sleep_with/1, []).

%% Collects while messages wait on its heap.
on_heap() -> started(sick_on_heap, fun() -> fill(10_000) end, fun collects_often/1, [{message_queue_data, on_heap}]).

%% For some hundredths of its time.
collects_often(Live) ->
    true = garbage_collect(),
    receive after 1 -> collects_often(Live) end.

%% Is back when what was to be made is made.
started(Name, Make, Then, Options) ->
    Client = self(),
    Pid = spawn_opt(fun() -> register(Name, self()), Made = Make(), Client ! {self(), made}, lives(Then, Made) end, Options),
    receive {Pid, made} -> ok end.

lives(none, Made) -> collects(Made);
lives(Then, _) when is_function(Then, 0) -> Then();
lives(Then, Made) -> Then(Made).

%% So many servers that wait.
healthy(Count) ->
    _ = [{ok, _} = gen_server:start(?MODULE, healthy, []) || _ <- lists:seq(1, Count)],
    ok.

%% Has a large heap because that was asked for, and does not need it now.
begins_large() -> started(sick_begins_large, fun() -> ok end, fun sleep/0, [{min_heap_size, 1_000_000}]).

%% So many servers with much in their state.
large(Count) ->
    _ = [{ok, _} = gen_server:start({local, list_to_atom(lists:concat([sick_large_, N]))}, ?MODULE, large, []) || N <- lists:seq(1, Count)],
    ok.

%% So many processes that do nothing else.
collectors(Count) ->
    _ = [spawn(fun() -> collects_always([{N} || N <- lists:seq(1, 60_000)]) end) || _ <- lists:seq(1, Count)],
    ok.

collects_always(Live) ->
    true = garbage_collect(),
    collects_always(Live).

%% Far more often than is counted.
collects_small() -> started(sick_collects_small, fun() -> small end, fun collects_always/1, []).

%% A process for each request, each with a heap that grows.
listening() -> started(sick_listening, fun() -> listening end, fun listens/1, []).

listens(State) ->
    {_, Monitor} = spawn_monitor(fun() -> exit({shutdown, length([{row, N, [N]} || N <- lists:seq(1, 2000)])}) end),
    receive {'DOWN', Monitor, process, _, _} -> listens(State) end.

%% So many pairs of a server and a client that keep each other busy.
echo(Pairs) ->
    _ = [spawn(fun() -> {ok, Server} = gen_server:start(?MODULE, healthy, []), echoes(Server) end) || _ <- lists:seq(1, Pairs)],
    ok.

echoes(Server) ->
    echo = gen_server:call(Server, echo),
    echoes(Server).

%% Processes that end all the time.
short_lives() ->
    _ = [spawn(fun() -> receive after N rem 50 -> ok end end) || N <- lists:seq(1, 1000)],
    receive after 20 -> short_lives() end.

%% What concerns the node, or many processes together.
plant_many() ->
    ok = sessions(40),
    ok = shards(20),
    ok = monitoring(),
    ok = held_up(),
    ok = leaving(),
    ok = many_deep(30),
    timers(300_000).

%% What keeps others waiting, or lies beside all heaps.
plant_held_back() ->
    ok = started(sick_stacked, fun() -> ok end, fun() -> stacked(1_500_000) end, []),
    ok = started(sick_behind, fun() -> fill(300) end, fun ?MODULE:computes/0, []),
    ok = started(sick_pool, fun() -> ok end, fun keeps_callers/0, []),
    _ = [spawn(?MODULE, asks_for_ever, [sick_pool]) || _ <- lists:seq(1, 200)],
    ok = started(sick_reloading, fun() -> ok end, fun() -> reloads(0) end, []),
    started(sick_pages, fun pages/0, fun sleep/0, []).

%% Each round leaves something on the stack.
stacked(0) -> sleep();
stacked(N) ->
    try stacked(N - 1)
    catch throw:Why -> {N, Why}
    end.

%% One of its messages at a time; another comes for it.
computes() ->
    receive {waits, _} = Message -> self() ! Message end,
    _ = lists:sum(lists:seq(1, 20_000)),
    computes().

keeps_callers() -> receive _ -> keeps_callers() end.

asks_for_ever(Server) -> gen_server:call(Server, ask, infinity).

reloads(N) ->
    {ok, sick_reloaded, Beam} = compile:forms([{attribute, 1, module, sick_reloaded}, {attribute, 1, export, [{n, 0}]},
                                               {function, 1, n, 0, [{clause, 1, [], [], [{integer, 1, N}]}]}]),
    _ = code:purge(sick_reloaded),
    {module, _} = code:load_binary(sick_reloaded, "none", Beam),
    receive after 100 -> reloads(N + 1) end.

pages() ->
    sick_pages = ets:new(sick_pages, [named_table]),
    _ = [ets:insert(sick_pages, {N, binary:copy(<<N:64>>, 8000)}) || N <- lists:seq(1, 2500)],
    true = garbage_collect(),
    ok.

%% Each keeps what its first work left: more than a megabyte, of which nothing lives.
sessions(Count) ->
    _ = [{ok, _} = gen_server:start(?MODULE, {session, 60_000}, []) || _ <- lists:seq(1, Count)],
    ok.

%% The same, each started by another process.
scattered(Count) ->
    Self = self(),
    [receive {Parent, started} -> ok end
     || _ <- lists:seq(1, Count), Parent <- [spawn(fun() -> ok = sessions(1), Self ! {self(), started} end)]],
    ok.

%% Each holds parts of large binaries.
shards(Count) ->
    _ = [{ok, _} = gen_server:start(?MODULE, {shard, 50}, []) || _ <- lists:seq(1, Count)],
    ok.

%% One process is monitored time and again.
monitoring() ->
    Watched = spawn(?MODULE, waits_for_ever, []),
    started(sick_monitoring, fun() -> [monitor(process, Watched) || _ <- lists:seq(1, 20_000)], ok end, fun sleep/0, []).

waits_for_ever() -> receive never -> ok end.

%% A persistent term is put anew all the time.
churning() -> started(sick_churning, fun() -> ok end, fun() -> churns(1) end, []).

churns(N) ->
    ok = persistent_term:put({?MODULE, churned}, [N]),
    receive after 20 -> churns(N + 1) end.

%% One of 20 MB, which others read.
churning_large(Spinners) ->
    _ = [spawn(?MODULE, spinning, [N]) || N <- lists:seq(1, Spinners)],
    started(sick_churning, fun() -> process_flag(priority, high) end, fun() -> churns_large(1) end, []).

churns_large(N) ->
    ok = persistent_term:put({?MODULE, churned_large}, [N | lists:seq(1, 1_250_000)]),
    true = garbage_collect(),
    receive after 150 -> churns_large(N + 1) end.

spinning(N) -> spinning(N + 1).

timers(Count) ->
    Start = fun() -> _ = [erlang:send_after(3_600_000, self(), {over, N}) || N <- lists:seq(1, Count)], ok end,
    started(sick_timers, Start, fun sleep/0, []).

%% Sends to a program that does not read.
held_up() -> started(sick_held_up, fun() -> open_port({spawn, "sleep 100"}, []) end, fun sends/1, []).

sends(Port) ->
    true = port_command(Port, binary:copy(<<0>>, 10_000)),
    sends(Port).

%% Starts processes that never end, so many a second that the VM's limit is near: by the clock, however busy the machine is.
leaving() -> started(sick_leaving, fun() -> erlang:monotonic_time(millisecond) end, fun leaves/1, []).

leaves(Since) ->
    Now = erlang:monotonic_time(millisecond),
    _ = [spawn(?MODULE, waits_for_ever, []) || _ <- lists:seq(1, 2 * (Now - Since))],
    receive after 10 -> leaves(Now) end.

%% So many that wait for ever, or as many as there can be.
leave(0) -> ok;
leave(Left) ->
    try spawn(?MODULE, waits_for_ever, []) of
        _ -> leave(Left - 1)
    catch error:system_limit -> ok
    end.

%% One of those is ended, and its place in the table is free again.
makes_room() ->
    [Pid | _] = [Pid || Pid <- processes(), process_info(Pid, current_function) =:= {current_function, {?MODULE, waits_for_ever, 0}}],
    Monitor = monitor(process, Pid),
    exit(Pid, kill),
    receive {'DOWN', Monitor, process, _, _} -> ok end.

%% So many processes alike with messages that nobody takes.
many_deep(Count) ->
    Deep = [spawn(?MODULE, waits_for_ever, []) || _ <- lists:seq(1, Count)],
    _ = [Pid ! {'$gen_cast', {line, N}} || Pid <- Deep, N <- lists:seq(1, 3000)],
    ok.

spinning() -> started(sick_spinning, fun() -> ok end, fun() -> spins(0) end, []).

spins(N) -> spins(N + 1).

%% A table that is most of what the node has.
table() ->
    started(sick_table, fun() ->
                                Table = ets:new(sick_rows, [public, named_table]),
                                [true = ets:insert(Table, {N, lists:seq(1, 100)}) || N <- lists:seq(1, 100_000)],
                                true = garbage_collect()
                        end, fun sleep/0, []).

%% So many processes write to one table.
written_by(Writers) ->
    started(sick_counters, fun() -> ets:new(sick_counters, [public, named_table]) end, fun sleep/0, []),
    %% While a large row is copied there the table is locked, also on cores that hand a lock over fast. To wait for a lock
    %% costs no reductions: without other work nobody else would run for long.
    _ = [spawn(fun() -> writes({N, erlang:make_tuple(5000, N)}) end) || N <- lists:seq(1, Writers)],
    ok.

writes(Row) ->
    true = ets:insert(sick_counters, Row),
    true = erlang:bump_reductions(100),
    writes(Row).

%% Looks for what is urgent before each message, behind many.
polling() ->
    started(sick_polling, fun() -> fill(50_000) end, fun polls/0, [{min_heap_size, 2_000_000}]).

polls() ->
    receive urgent -> ok
    after 0 -> ok
    end,
    self() ! {waits, again},
    receive _ -> polls() end.
