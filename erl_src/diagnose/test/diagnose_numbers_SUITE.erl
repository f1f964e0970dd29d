%% What is started is counted where the VM gives numbers for the second time: then they jump. A small table is soon gone through.
-module(diagnose_numbers_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, few_starts_are_few/1, closed_ports_are_counted_once/1, loops_are_counted_in_any_round/1,
         many_starts_are_seen/1, ports_are_counted/1, numbers_in_order_are_counted/1,
         many_processes_are_not_listed/1]).
%% There.
-export([goes_through/0, starts_of/2, starts_of_none/0, ports_of/1, tries/0]).

-define(TABLE, 1024).

all() ->
    [few_starts_are_few, many_starts_are_seen, ports_are_counted, closed_ports_are_counted_once,
     loops_are_counted_in_any_round, numbers_in_order_are_counted,
     many_processes_are_not_listed].

few_starts_are_few(_) ->
    {Label, #{a_second := Started, most := Most}} = in_a_small_table([[goes_through, []], [starts_of, [50, 100]]]),
    ?assert(Started < 50),
    ?assertMatch(#{labels := [{Label, _} | _]}, Most).

many_starts_are_seen(_) ->
    {Label, #{a_second := Started, most := Most}} = in_a_small_table([[goes_through, []], [starts_of, [1, 50]]]),
    ?assert(Started > 100),
    ?assertMatch(#{labels := [{Label, _} | _]}, Most).

numbers_in_order_are_counted(_) ->
    {_, #{a_second := Started}} = in_a_small_table([[starts_of, [50, 0]]]),
    ?assert(Started >= 10 andalso Started < 100).

ports_are_counted(_) ->
    #{started_a_second := Started, seen := Seen} = in_a_small_table([[goes_through, []], [ports_of, [20]]]),
    ?assert(Seen >= 5),
    ?assert(Started =< 60).

%% The one that was the last at the look before may have been closed since. Here the numbers are those of the first round.
closed_ports_are_counted_once(_) ->
    Ports = [open_port({spawn_driver, "ram_file_drv"}, []) || _ <- lists:seq(1, 5)],
    [Second, _, _, Last] = [lists:last(string:lexemes(erlang:port_to_list(Port), "<.>")) || Port <- tl(Ports)],
    [First, Newest] = [list_to_integer(Number) || Number <- [Second, Last]],
    ?assertEqual({Newest - First, Newest}, diagnose_probe:opened(First, Ports)),
    ?assertEqual({{5, Newest}, {0, none}}, {diagnose_probe:opened(none, Ports), diagnose_probe:opened(none, [])}),
    lists:foreach(fun erlang:port_close/1, Ports).

%% What is opened and closed at once gets its numbers in order. Those of others jump up and down, and past those that stay.
loops_are_counted_in_any_round(_) ->
    Order = lists:seq(200_000 + 40 * 400, 200_000, -400),
    Leaps = [Number + 10_000 * (Number div 205_000) || Number <- Order],
    [?assertEqual({Numbers, Opened}, {Numbers, diagnose_probe:opened_in_order(Numbers, Held, 65_536)})
     || {Numbers, Held, Opened} <- [{Order, 0, 16_000}, {Leaps, 0, 16_000}, {Order, 32_768, 8000}, {lists:sublist(Order, 8), 0, 0},
                                    {[65_536 + erlang:phash2(N, 65_536) || N <- lists:seq(1, 40)], 0, 0}, {[], 0, 0}]],
    #{started_a_second := Started, seen := 0, connects := #{a_second := Tries}} = in_a_small_table([[goes_through, []], [tries, []]]),
    ?assertEqual(0, Started),
    ?assert(Tries > 100).

many_processes_are_not_listed(_) ->
    Process = fun() -> receive stop -> ok end end,
    {ok, Peer, _} = vm(integer_to_list(4 * ?TABLE)),
    _ = peer:call(Peer, lists, foreach, [fun(_) -> spawn(fun() -> ok end), erlang:yield() end, lists:seq(1, 5 * ?TABLE)]),
    _ = peer:call(Peer, lists, foreach, [fun(_) -> spawn(Process) end, lists:seq(1, 3100)]),
    ?assertMatch(Starts when Starts =:= too_many; map_get(a_second, Starts) < 50 andalso map_get(unlisted, Starts),
                 peer:call(Peer, ?MODULE, starts_of_none, [])),
    ok = peer:stop(Peer).

%% The result of the last of these calls, which are made in one process of a new VM.
in_a_small_table(Calls) ->
    {ok, Peer, _} = vm(integer_to_list(?TABLE)),
    Result = lists:foldl(fun([Name, Args], _) -> peer:call(Peer, ?MODULE, Name, Args, 60_000) end, none, Calls),
    ok = peer:stop(Peer),
    Result.

vm(Table) ->
    Libraries = [filename:dirname(code:which(Module)) || Module <- [?MODULE, diagnose_probe]],
    peer:start(#{connection => standard_io, args => ["+P", Table, "+Q", Table | lists:append([["-pa", Dir] || Dir <- Libraries])]}).

%% Both tables, three times. Those that live longer give their numbers back out of order.
goes_through() ->
    ok = lists:foreach(fun(N) ->
                               spawn(fun() -> timer:sleep(N * 7919 rem 50) end),
                               N rem 20 =:= 0 andalso timer:sleep(1)
                       end, lists:seq(1, 3 * ?TABLE)),
    ok = lists:foreach(fun(_) -> port_close(open_port({spawn_driver, "ram_file_drv"}, [])) end, lists:seq(1, 3 * ?TABLE)),
    timer:sleep(100).

%% Nobody accepts.
tries() ->
    {ok, Closed} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Closed),
    ok = gen_tcp:close(Closed),
    Tries = [spawn(fun Try() -> _ = gen_tcp:connect({127, 0, 0, 1}, Port, []), Try() end) || _ <- lists:seq(1, 5)],
    Seen = diagnose_probe:programs(erlang:monotonic_time(millisecond) + 2000),
    _ = [exit(Pid, kill) || Pid <- Tries],
    Seen.

starts_of_none() -> diagnose_probe:starts([], erlang:monotonic_time(millisecond) + 500).

%% A process is started each so many milliseconds, and lives for so many.
starts_of(Each, Lives) ->
    Starter = spawn(fun() -> starts_each(Each, Lives) end),
    timer:sleep(200),
    Seen = diagnose_probe:starts([], erlang:monotonic_time(millisecond) + 1000),
    exit(Starter, kill),
    {{timer, sleep, 1}, Seen}.

starts_each(Each, Lives) ->
    _ = spawn(timer, sleep, [Lives]),
    timer:sleep(Each),
    starts_each(Each, Lives).

%% Programs of the system, one each so many milliseconds.
ports_of(Each) ->
    Starter = spawn(fun() -> opens_each(Each) end),
    timer:sleep(200),
    Seen = diagnose_probe:programs(erlang:monotonic_time(millisecond) + 1000),
    exit(Starter, kill),
    Seen.

opens_each(Each) ->
    _ = open_port({spawn_executable, os:find_executable("sleep")}, [{args, ["0.2"]}]),
    timer:sleep(Each),
    opens_each(Each).
