%% The laws of dams while their servers, their helpers, those who send to them, and one of the dams
%% are killed at random moments.
-module(dam_chaos_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, init_per_suite/1, end_per_suite/1, laws_hold_among_kills/1]).
-export([start_dam/3]).

-define(HIGH, 20).
-define(LIMIT, 50).
-define(SENDERS, 3).
-define(FLUSH_MS, 60_000).
-define(REST_ONE_IN, 10).
-define(FLUSH_ONE_IN, 200).

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [laws_hold_among_kills].

init_per_suite(Config) -> endurance_chaos:silence(Config).

end_per_suite(Config) -> endurance_chaos:end_silence(Config).

%% The last one is killed too. Acknowledgements are lost only with their server here, so there nothing
%% need be recovered.
dams() ->
    #{chaos_sys => #{credit => sys, policy => {block, infinity}},
      chaos_deadline => #{credit => sys, policy => {block, 5}},
      chaos_ack => #{credit => ack, policy => drop_newest, recover_ms => 3_600_000},
      chaos_poll => #{credit => poll, policy => drop_oldest, poll_ms => 1},
      chaos_mortal => #{credit => sys, policy => {block, infinity}}}.

immortal() -> maps:keys(dams()) -- [chaos_mortal].

laws_hold_among_kills(_) ->
    Snapshot = endurance_chaos:snapshot(),
    Ledger = ets:new(dam_chaos, [public, {write_concurrency, true}]),
    Dams = endurance_chaos:supervise(lists:append([dam_and_server(Dam, Ledger) || Dam <- maps:keys(dams())])),
    First = endurance_chaos:named(immortal()),
    Clients = endurance_chaos:supervise(clients(Ledger)),
    Kills = endurance_chaos:run(kinds(Clients)),
    ?assertEqual(true, endurance_chaos:all_finished(Clients, Ledger)),
    ?assert(endurance_chaos:until(fun() -> length(endurance_chaos:named(maps:keys(dams()))) =:= map_size(dams()) end)),
    Flushed = [{Dam, dam:flush(Dam, ?FLUSH_MS)} || Dam <- maps:keys(dams())],
    ?assertEqual([{Dam, ok} || {Dam, _} <- Flushed], Flushed),
    Infos = [{Dam, dam:info(Dam)} || Dam <- maps:keys(dams())],
    ?assertEqual([], endurance_chaos:faults(Ledger)),
    ?assertEqual([], [{Law, Dam, Info} || {Dam, Info} <- Infos, {Law, false} <- laws(Dam, Info, Ledger)]),
    ?assertEqual(First, endurance_chaos:named(immortal())),
    Comment = comment(Kills, Infos, Ledger),
    [ok = gen_server:stop(Supervisor) || Supervisor <- [Clients, Dams]],
    true = ets:delete(Ledger),
    ?assertEqual([], endurance_chaos:left(Snapshot)),
    {comment, Comment}.

comment(Kills, Infos, Ledger) ->
    Sum = fun(Key) -> lists:sum([maps:get(Key, Info) || {_, Info} <- Infos]) end,
    lists:flatten(io_lib:format("~b s; killed ~0p; messages of the dams that are left: received ~b, delivered ~b, lost ~b;"
                                " taken in all ~b",
                                [endurance_chaos:seconds(), Kills, Sum(received), Sum(delivered), Sum(lost),
                                 lists:sum([taken(Dam, Ledger) || Dam <- maps:keys(dams())])])).

%% Who is there

dam_and_server(Dam, Ledger) ->
    #{Dam := Own} = dams(),
    Options = Own#{high => ?HIGH, limit => ?LIMIT, retry_ms => 1, events => events(Ledger)},
    [#{id => {dam, Dam}, start => {?MODULE, start_dam, [Dam, Options, Ledger]}, shutdown => 6000},
     #{id => {server, Dam}, start => {dam_chaos_server, start_link, [server(Dam), Dam, Options, Ledger]}}].

clients(Ledger) ->
    [endurance_chaos:client(auditor, Ledger, fun() -> audit(Ledger) end)
     | [endurance_chaos:client({Dam, Nth}, Ledger, fun() -> sender(Dam, Ledger) end)
        || Dam <- maps:keys(dams()), Nth <- lists:seq(1, ?SENDERS)]].

server(Dam) -> list_to_atom(atom_to_list(Dam) ++ "_server").

start_dam(Dam, Options, Ledger) ->
    _ = ets:update_counter(Ledger, {dams, Dam}, 1, {{dams, Dam}, 0}),
    dam:start_link({local, Dam}, server(Dam), Options).

%% Sometimes it fails.
events(Ledger) ->
    fun(Event, _, _) ->
            not endurance_chaos:chance(20) orelse error(planned),
            ets:update_counter(Ledger, {event, Event}, 1, {{event, Event}, 0})
    end.

kinds(Clients) ->
    [{server, 3, infinity, fun() -> endurance_chaos:named([server(Dam) || Dam <- maps:keys(dams())]) end},
     {watch, 3, infinity, fun() -> helpers(dam_watch) end},
     {events, 1, infinity, fun() -> helpers(dam_events) end},
     {client, 3, infinity, fun() -> endurance_chaos:alive(Clients) end},
     {dam, 1, infinity, fun() -> endurance_chaos:named([chaos_mortal]) end}].

helpers(Module) -> [Pid || Dam <- endurance_chaos:named(maps:keys(dams())), Pid <- links(Dam), begins_in(Module, Pid)].

links(Pid) ->
    case process_info(Pid, links) of
        {links, Links} -> [Link || Link <- Links, is_pid(Link)];
        undefined -> []
    end.

begins_in(Module, Pid) ->
    case proc_lib:translate_initial_call(Pid) of
        {Module, _, _} -> true;
        _ -> false
    end.

%% Clients

%% Each has a number that no other had before it, and notes what it is about to send.
sender(Dam, Ledger) ->
    Sender = erlang:unique_integer([positive]),
    true = ets:insert(Ledger, {{sender, Sender}, Dam, 0}),
    send(Sender, Dam, Ledger).

send(Sender, Dam, Ledger) ->
    case endurance_chaos:is_over(Ledger) of
        true -> finished(Sender, Ledger);
        false ->
            N = ets:update_counter(Ledger, {sender, Sender}, {3, 1}),
            {Lane, Function} = way(rand:uniform(5)),
            ok = result(dam:Function(Dam, {Sender, Lane, N}), Dam, Ledger),
            _ = [timer:sleep(1) || endurance_chaos:chance(?REST_ONE_IN)],
            _ = [flush(Dam) || endurance_chaos:chance(?FLUSH_ONE_IN)],
            send(Sender, Dam, Ledger)
    end.

way(1) -> {priority, send_priority};
way(2) -> {normal, send_async};
way(_) -> {normal, send}.

result(ok, _, _) -> ok;
result({error, Reason}, Dam, Ledger) ->
    _ = ets:update_counter(Ledger, {refused, Dam, Reason}, 1, {{refused, Dam, Reason}, 0}),
    ok.

%% The one that is killed ends it, or is not there.
flush(Dam) ->
    try dam:flush(Dam, rand:uniform(20))
    catch exit:{_, {dam, flush, _}} when Dam =:= chaos_mortal -> ok
    end.

%% No answer has come that it did not wait for, and nothing is monitored any more.
finished(Sender, Ledger) ->
    case process_info(self(), [messages, monitors]) of
        [{messages, []}, {monitors, []}] -> true = ets:insert(Ledger, {{finished, Sender}});
        Left -> endurance_chaos:fault({left_at_the_sender, Left}, Ledger)
    end.

%% What a dam says of itself adds up at any time.
audit(Ledger) ->
    _ = [audit(Dam, Ledger) || Dam <- maps:keys(dams())],
    ok = timer:sleep(1),
    endurance_chaos:is_over(Ledger) orelse audit(Ledger).

audit(Dam, Ledger) ->
    try dam:info(Dam) of
        #{server_queue := With} = Info ->
            accounts(Info) andalso With =< ?HIGH orelse endurance_chaos:fault({accounts, Dam, Info}, Ledger)
    catch
        exit:{timeout, _} -> ok; % it only says that the machine is busy
        exit:_ when Dam =:= chaos_mortal -> ok
    end.

accounts(#{received := Received, delivered := Delivered, queue := Queue, waiting := Waiting, dropped := Dropped}) ->
    Received =:= Delivered + Queue + Waiting + lists:sum(maps:values(Dropped)).

%% Laws

%% Of the one that was killed only its order and bound are known, as its counts went with it.
laws(chaos_mortal, Info, _) -> [{empty, is_empty(Info)}, {accounts, accounts(Info)}];
laws(Dam, #{received := Received, delivered := Delivered, lost := Lost, dropped := Dropped} = Info, Ledger) ->
    {Attempted, Killed} = attempted(Dam, Ledger),
    Missing = Delivered - taken(Dam, Ledger),
    %% The one that a server had in its hand when it died was in no mailbox.
    Deaths = ets:lookup_element(Ledger, {servers, Dam}, 2) - 1,
    [{empty, is_empty(Info)},
     {accounts, accounts(Info)},
     {received, Received =< Attempted andalso Received >= Attempted - Killed},
     {lost, Missing >= 0 andalso Missing =< Lost + Deaths},
     {refusals_are_drops, lists:all(fun({Reason, N}) -> N =< maps:get(Reason, Dropped, 0) end, refused(Dam, Ledger))}].

is_empty(#{queue := Queue, waiting := Waiting, server_queue := With}) -> {Queue, Waiting, With} =:= {0, 0, 0}.

%% A sender that was killed may have noted one that it did not send.
attempted(Dam, Ledger) ->
    Senders = ets:select(Ledger, [{{{sender, '$1'}, Dam, '$2'}, [], [{{'$1', '$2'}}]}]),
    {lists:sum([N || {_, N} <- Senders]),
     length([Sender || {Sender, _} <- Senders, not ets:member(Ledger, {finished, Sender})])}.

taken(Dam, Ledger) -> lists:sum(ets:select(Ledger, [{{{taken, Dam, '_', '_'}, '_', '$1'}, [], ['$1']}])).

refused(Dam, Ledger) -> ets:select(Ledger, [{{{refused, Dam, '$1'}, '$2'}, [], [{{'$1', '$2'}}]}]).
