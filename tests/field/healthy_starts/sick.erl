%% A supervisor starts and ends children that do their work, of which some fail; workers take what they need; a port's program is asked many
%% times; rows are looked up by the key in a large table, a page of figures lists a small one, and a worker of priority high rests.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, child/1, works/1, asks/0, program/1, looks_up/1, lists_small/0, rare/0, urgent/0, collects/0]).

start() ->
    ok = logger:set_primary_config(level, none),
    {ok, Sup} = supervisor:start_link({local, tasks}, ?MODULE, []),
    true = unlink(Sup),
    Self = self(),
    spawn(fun() ->
                  accounts = ets:new(accounts, [named_table, public, ordered_set, {read_concurrency, true}]),
                  true = ets:insert(accounts, [{{N rem 5000, N}, open} || N <- lists:seq(1, 100_000)]),
                  nodes = ets:new(nodes, [named_table, public]),
                  true = ets:insert(nodes, [{N, up} || N <- lists:seq(1, 300)]),
                  Self ! made,
                  erlang:hibernate(timer, sleep, [infinity])
          end),
    receive made -> ok end,
    _ = [spawn(?MODULE, Function, Args) || {Function, Args} <- [{asks, []}, {looks_up, [1]}, {lists_small, []}, {rare, []}, {urgent, []}, {collects, []}]],
    _ = [spawn(fun() -> program(open_port({spawn, "cat"}, [binary])) end) || _ <- [1, 2, 3]],
    timer:sleep(500),
    ok.

init([]) -> {ok, {#{strategy => simple_one_for_one}, [#{id => task, start => {?MODULE, child, []}, restart => temporary}]}}.

child(N) -> {ok, proc_lib:spawn_link(?MODULE, works, [N])}.

%% One of twenty fails.
works(N) ->
    timer:sleep(30),
    _ = N rem 20 =:= 0 andalso exit(bad_request).

asks() ->
    _ = [{ok, _} = supervisor:start_child(tasks, [N]) || N <- [erlang:unique_integer([positive])], N > 0],
    {Pid, Monitor} = spawn_monitor(fun() -> timer:sleep(5), exit({answer, 42}) end),
    receive {'DOWN', Monitor, process, Pid, {answer, 42}} -> ok end,
    timer:sleep(20),
    asks().

program(Port) ->
    true = port_command(Port, <<"question">>),
    receive {Port, {data, _}} -> timer:sleep(20) end,
    program(Port).

looks_up(N) ->
    _ = [ets:select(accounts, [{{{M rem 5000, '$1'}, '_'}, [], ['$1']}]) || M <- lists:seq(N, N + 50)],
    timer:sleep(5),
    looks_up(N + 51).

lists_small() ->
    300 = length(ets:tab2list(nodes)),
    timer:sleep(20),
    lists_small().

%% All rows are counted each ten seconds.
rare() ->
    timer:sleep(10_000),
    _ = ets:select_count(accounts, [{{'_', open}, [], [true]}]),
    rare().

urgent() ->
    _ = process_flag(priority, high),
    _ = lists:sum(lists:seq(1, 100)),
    timer:sleep(10),
    urgent().

%% After large work, for itself.
collects() ->
    _ = length(lists:seq(1, 50_000)),
    true = erlang:garbage_collect(),
    timer:sleep(300),
    collects().
