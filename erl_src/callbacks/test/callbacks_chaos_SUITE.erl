%% The laws of callbacks while workers, keepers, processes that are held and those who watch are
%% killed at random moments.
-module(callbacks_chaos_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, init_per_suite/1, end_per_suite/1, laws_hold_among_kills/1]).

-define(CLIENTS, 6).
-define(WORKERS, 2).
-define(HOLD_MS, 5).

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [laws_hold_among_kills].

init_per_suite(Config) -> endurance_chaos:silence(Config).

end_per_suite(Config) ->
    _ = application:stop(callbacks),
    _ = application:unload(callbacks),
    endurance_chaos:end_silence(Config).

laws_hold_among_kills(_) ->
    Snapshot = endurance_chaos:snapshot(),
    Ledger = ets:new(callbacks_chaos, [public, {write_concurrency, true}]),
    ok = start(),
    Own = length(own_processes()),
    Clients = endurance_chaos:supervise([endurance_chaos:client(Nth, Ledger, fun() -> callbacks_chaos_client:start(Ledger) end)
                                       || Nth <- lists:seq(1, ?CLIENTS)]),
    Kills = endurance_chaos:run(kinds(Clients)),
    ?assertEqual(true, endurance_chaos:all_finished(Clients, Ledger)),
    ok = all_begun(),
    Timers = timers(),
    ?assert(endurance_chaos:until(fun all_ended/0), {callbacks:info(), Kills}),
    ?assertEqual([], endurance_chaos:faults(Ledger)),
    ?assert(endurance_chaos:until(fun adds_up/0), callbacks:info()),
    ?assert(endurance_chaos:until(fun() -> kept() =:= [nothing() || _ <- lists:seq(1, ?WORKERS)] end), kept()),
    ?assert(endurance_chaos:until(fun() -> length(own_processes()) =:= Own end), own_processes()),
    ?assert(endurance_chaos:until(fun() -> [Timer || Timer <- Timers, erlang:read_timer(Timer) =/= false] =:= [] end)),
    Comment = comment(Kills, Ledger),
    ok = gen_server:stop(Clients),
    ok = application:stop(callbacks),
    true = ets:delete(Ledger),
    ?assertEqual([], endurance_chaos:left(Snapshot)),
    {comment, Comment}.

comment(Kills, Ledger) ->
    lists:flatten(io_lib:format("~b s; killed ~0p; callbacks ~0p; messages ~b",
                                [endurance_chaos:seconds(), Kills,
                                 maps:from_list(ets:select(Ledger, [{{{spawned, '$1'}, '$2'}, [], [{{'$1', '$2'}}]}])),
                                 ets:lookup_element(Ledger, messages, 2, 0)])).

start() ->
    ok = loaded(application:load(callbacks)),
    ok = application:set_env(callbacks, workers, ?WORKERS),
    ok = application:set_env(callbacks, hold_ms, ?HOLD_MS),
    application:start(callbacks).

loaded(ok) -> ok;
loaded({error, {already_loaded, callbacks}}) -> ok.

%% The library's supervisor gives up after the hundredth restart within ten seconds. One that is held
%% takes its keeper with it while its worker is being replaced.
kinds(Clients) ->
    [{worker, 3, 40, fun() -> pids(fun callbacks_route:worker_name/1) end},
     {keeper, 2, 30, fun() -> pids(fun callbacks_route:keeper_name/1) end},
     {held, 2, 20, fun held/0},
     {client, 1, infinity, fun() -> endurance_chaos:alive(Clients) end}].

pids(Name) -> endurance_chaos:named([Name(Worker) || Worker <- lists:seq(1, ?WORKERS)]).

held() -> lists:append([select(Rows, [{{'_', {held, '$1'}, '_'}, [], ['$1']}]) || Rows <- tables(callbacks)]).

tables(Name) -> [Table || Table <- ets:all(), ets:info(Table, name) =:= Name].

%% Its keeper may be killed meanwhile.
select(Table, Pattern) ->
    try ets:select(Table, Pattern)
    catch error:badarg -> []
    end.

%% They would all end with the application.
own_processes() ->
    Leader = process_info(whereis(callbacks_sup), group_leader),
    [{Pid, process_info(Pid, [current_stacktrace, dictionary])}
     || Pid <- processes(), process_info(Pid, group_leader) =:= Leader].

%% What was spawned before has begun, on each worker.
all_begun() -> lists:foreach(fun has_begun/1, lists:seq(1, ?WORKERS)).

%% Again where it was lost with its worker.
has_begun(Worker) ->
    Id = callbacks:spawn(Worker, fun() -> {wait, fun(go) -> done end} end),
    Reference = callbacks:monitor(Id),
    ok = callbacks:send(Id, go),
    receive
        {{callback_down, Id}, Reference, process, _, normal} -> ok;
        {{callback_down, Id}, Reference, process, _, _} -> has_begun(Worker)
    end.

%% The callbacks of clients that were killed are still there.
all_ended() ->
    _ = [callbacks:exit(Id, over) || Id <- callbacks:all()],
    maps:with([alive, held], callbacks:info()) =:= #{alive => 0, held => []}.

%% A row is gone before it is counted.
adds_up() ->
    #{spawned := Spawned, done := Done, failed := Failed} = callbacks:info(),
    Spawned =:= Done + Failed.

timers() ->
    Sleeps = {{'_', {sleep, '$1', '_'}, '_'}, [], ['$1']},
    Waits = {{'_', {wait, '_', '$1', '_'}, '_'}, [], ['$1']},
    lists:append([select(Rows, [Sleeps, Waits]) || Rows <- tables(callbacks)]).

%% What each keeper has: rows, messages, processes, and what is to be told.
kept() ->
    [begin
         #{rows := Rows, messages := Messages, held := Held, watched := Watched} = sys:get_state(Keeper),
         {monitors, Monitors} = process_info(Keeper, monitors),
         {ets:info(Rows, size), ets:info(Messages, size), map_size(Held), map_size(Watched), Monitors}
     end || Keeper <- pids(fun callbacks_route:keeper_name/1)].

nothing() -> {0, 0, 0, 0, []}.
