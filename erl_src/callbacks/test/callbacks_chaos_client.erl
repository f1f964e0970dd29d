%% A client of callbacks_chaos_SUITE: starts callbacks of all sorts, sends them messages, watches and
%% ends them, and looks whether it is told of each end once, and of no end that was none.
-module(callbacks_chaos_client).

-export([start/1]).

-define(MOST_ALIVE, 30).
-define(SORTS, [collector, collector, collector, collector, short, failing, nonsense, sleeper, late, slow, blocked, watcher]).
-define(SLOW_MS, 15).

%% watched: what each monitor is on. sent: how many messages to each callback. again: monitors
%% on those of whose end it had been told.
-record(client, {ledger :: ets:table(), watched = #{} :: #{reference() => callbacks:id()},
                 collectors = #{} :: #{callbacks:id() => Sent :: non_neg_integer()},
                 again = #{} :: #{reference() => term()}}).

start(Ledger) -> work(#client{ledger = Ledger}).

work(#client{ledger = Ledger} = Client) ->
    case endurance_chaos:is_over(Ledger) of
        true -> finish(Client);
        false -> work(told(act(rand:uniform(20), Client)))
    end.

act(N, Client) when N =< 4 -> spawn_one(Client);
act(5, Client) -> with_one(fun callbacks:exit/2, Client);
act(6, #client{watched = Watched} = Client) ->
    case one_of(maps:values(Watched)) of
        none -> Client;
        Id -> Client#client{watched = Watched#{callbacks:monitor(Id) => Id}}
    end;
act(7, Client) ->
    ok = timer:sleep(1),
    Client;
act(_, Client) -> send(Client).

spawn_one(#client{watched = Watched} = Client) when map_size(Watched) >= ?MOST_ALIVE ->
    with_one(fun callbacks:exit/2, Client);
spawn_one(#client{ledger = Ledger, watched = Watched, collectors = Collectors} = Client) ->
    Sort = one_of(?SORTS),
    {Id, Reference} = callbacks:spawn_monitor(sort(Sort, Ledger, one_of(maps:values(Watched)))),
    _ = ets:update_counter(Ledger, {spawned, Sort}, 1, {{spawned, Sort}, 0}),
    Client#client{watched = Watched#{Reference => Id},
                  collectors = case Sort of
                                   collector -> Collectors#{Id => 0};
                                   _ -> Collectors
                               end}.

with_one(Fun, #client{watched = Watched} = Client) ->
    case one_of(maps:values(Watched)) of
        none -> Client;
        Id ->
            ok = Fun(Id, over),
            Client
    end.

one_of([]) -> none;
one_of(Values) -> endurance_chaos:one_of(Values).

send(#client{collectors = Collectors, ledger = Ledger} = Client) ->
    case one_of(maps:keys(Collectors)) of
        none -> Client;
        Id ->
            N = maps:get(Id, Collectors) + 1,
            ok = callbacks:send(Id, N),
            _ = ets:update_counter(Ledger, messages, 1, {messages, 0}),
            Client#client{collectors = Collectors#{Id := N}}
    end.

%% What callbacks do

sort(collector, Ledger, _) -> fun() -> collect(0, Ledger) end;
sort(short, _, _) -> fun() -> {next, fun() -> done end} end;
sort(failing, _, _) -> fun() -> error(planned) end;
sort(nonsense, _, _) -> fun() -> nonsense end;
sort(sleeper, _, _) -> fun() -> {sleep, 60_000, fun() -> done end} end;
sort(late, _, _) -> fun() -> {wait, fun(_) -> done end, 20, fun() -> done end} end;
sort(slow, _, _) -> fun() -> timer:sleep(?SLOW_MS), done end;
sort(blocked, _, _) -> fun() -> Never = make_ref(), receive Never -> done end end;
sort(watcher, _, none) -> fun() -> done end;
sort(watcher, _, Id) ->
    fun() ->
            Reference = callbacks:monitor(Id),
            {wait, fun({{callback_down, _}, Of, process, _, _}) when Of =:= Reference -> done end}
    end.

%% Takes numbers, each one more than the last, in different ways.
collect(Last, Ledger) -> collect(Last rem 11, Last, Ledger).

collect(3, Last, Ledger) -> {sleep, 1, fun() -> wait(Last, Ledger) end};
collect(5, Last, Ledger) -> {next, fun() -> wait(Last, Ledger) end};
collect(7, Last, Ledger) -> {wait, fun(N) -> collected(N, Last, Ledger) end, 1, fun() -> wait(Last, Ledger) end};
collect(9, Last, Ledger) when Last rem 7 =:= 0 ->
    timer:sleep(?SLOW_MS),
    wait(Last, Ledger);
collect(_, Last, Ledger) -> wait(Last, Ledger).

wait(Last, Ledger) -> {wait, fun(N) -> collected(N, Last, Ledger) end}.

collected({last, Client, Reference}, Last, _) ->
    Client ! {Reference, Last},
    {wait, fun(_) -> done end};
collected(N, Last, Ledger) ->
    N =:= Last + 1 orelse endurance_chaos:fault({lost_or_overtaken, Last, N}, Ledger),
    collect(N, Ledger).

%% What it is told

told(Client) ->
    receive {{callback_down, Id}, Reference, process, _, Reason} -> told(told(Id, Reference, Reason, Client))
    after 0 -> Client
    end.

told(Id, Reference, Reason, #client{watched = Watched, again = Again, collectors = Collectors, ledger = Ledger} = Client) ->
    case {Watched, Again} of
        {#{Reference := Id}, _} ->
            watch_again(Id, Reason, Client#client{watched = maps:remove(Reference, Watched),
                                                  collectors = maps:remove(Id, Collectors)});
        {_, #{Reference := First}} ->
            is_end_of_worker(Reason) orelse endurance_chaos:fault({was_no_end, First, Reason}, Ledger),
            Client#client{again = maps:remove(Reference, Again)};
        _ ->
            endurance_chaos:fault({told_twice, Id, Reason}, Ledger),
            Client
    end.

%% Of one that is said to have ended with its worker nothing may come any more.
watch_again(Id, Reason, #client{again = Again} = Client) ->
    case is_end_of_worker(Reason) of
        true -> Client#client{again = Again#{callbacks:monitor(Id) => Reason}};
        false -> Client
    end.

%% Others who monitor the callback are told so too, when it had ended before.
is_end_of_worker(noproc) -> true;
is_end_of_worker(killed) -> true;
is_end_of_worker({worker_down, _}) -> true;
is_end_of_worker(_) -> false.

%% The end

%% Those that are alive have all their messages. Then all are ended, and it is told of each.
finish(#client{collectors = Collectors} = Client) ->
    After = maps:fold(fun complete/3, told(Client), Collectors),
    _ = [callbacks:exit(Id, over) || Id <- maps:values(After#client.watched)],
    ended(await_all(After)).

complete(Id, Sent, #client{collectors = Left, ledger = Ledger} = Client) when is_map_key(Id, Left) ->
    Reference = callbacks:monitor(Id),
    ok = callbacks:send(Id, {last, self(), Reference}),
    receive
        {Reference, Last} ->
            true = erlang:demonitor(Reference, [flush]),
            Last =:= Sent orelse endurance_chaos:fault({lost, Id, Last, Sent}, Ledger),
            Client;
        {{callback_down, Id}, Reference, process, _, _} -> Client
    end;
complete(_, _, Client) -> Client.

await_all(#client{watched = Watched, again = Again} = Client) when map_size(Watched) =:= 0, map_size(Again) =:= 0 -> Client;
await_all(Client) ->
    receive {{callback_down, Id}, Reference, process, _, Reason} -> await_all(told(Id, Reference, Reason, Client)) end.

%% Who would be told twice has been: nothing of it runs any more.
ended(#client{ledger = Ledger}) ->
    case process_info(self(), [messages, monitors]) of
        [{messages, []}, {monitors, []}] -> true;
        Left -> endurance_chaos:fault({left_at_the_client, Left}, Ledger)
    end.
