%% The laws of batch_io while its writer, its server, its device and those who write are killed
%% at random moments, and its options change.
-module(batch_io_chaos_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, init_per_suite/1, end_per_suite/1, laws_hold_among_kills/1]).

-define(CLIENTS, 8).
-define(MOST_SLOTS, 300).
-define(BYTES, 20_000).
-define(REST_ONE_IN, 10).

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [laws_hold_among_kills].

init_per_suite(Config) -> endurance_chaos:silence(Config).

end_per_suite(Config) ->
    _ = application:stop(batch_io),
    endurance_chaos:end_silence(Config).

laws_hold_among_kills(_) ->
    Snapshot = endurance_chaos:snapshot(),
    Ledger = ets:new(batch_io_chaos, [public, {write_concurrency, true}]),
    Device = endurance_chaos:supervise([endurance_chaos:process(device, fun() -> batch_io_chaos_device:start(Ledger) end)]),
    ?assert(endurance_chaos:until(fun() -> whereis(batch_io_chaos_device:name()) =/= undefined end)),
    ok = batch_io:start(#{leader => batch_io_chaos_device:name(), bytes => ?BYTES, slots => ?MOST_SLOTS, flush_ms => 1}),
    Own = length(own_processes()),
    Clients = endurance_chaos:supervise(clients(Ledger)),
    Kills = endurance_chaos:run(kinds(Clients)),
    ?assertEqual(true, endurance_chaos:all_finished(Clients, Ledger)),
    ?assert(endurance_chaos:until(fun is_settled/0), {batch_io:info(), Kills}),
    Info = batch_io:info(),
    ?assertEqual([], endurance_chaos:faults(Ledger)),
    ?assertEqual([], [{Law, Info, counts(Ledger)} || {Law, false} <- laws(Info, Ledger)]),
    Comment = comment(Kills, Info, Ledger),
    ?assert(endurance_chaos:until(fun() -> length(own_processes()) =:= Own end), own_processes()),
    {ok, Last} = batch_io:stop(),
    ?assertEqual(settled(Info), settled(Last)),
    [ok = gen_server:stop(Supervisor) || Supervisor <- [Clients, Device]],
    true = ets:delete(Ledger),
    ?assertEqual([], endurance_chaos:left(Snapshot)),
    {comment, Comment}.

comment(Kills, Info, Ledger) ->
    lists:flatten(io_lib:format("~b s; killed ~0p; ~0p; on the device ~b",
                                [endurance_chaos:seconds(), Kills, maps:with([total, sent, dropped, errors], Info),
                                 maps:get(written, counts(Ledger))])).

%% What was in the hand of who was killed is counted as dropped after a while.
is_settled() ->
    _ = batch_io:flush(1000),
    maps:with([held, bytes, in_flight], batch_io:info()) =:= #{held => 0, bytes => 0, in_flight => 0}.

%% They would all end with the application.
own_processes() ->
    Leader = process_info(whereis(batch_io_sup), group_leader),
    [Pid || Pid <- processes(), process_info(Pid, group_leader) =:= Leader].

settled(Info) -> maps:with([total, sent, dropped, held], Info).

%% Who is there

clients(Ledger) ->
    [endurance_chaos:client(auditor, Ledger, fun() -> audit(Ledger) end),
     endurance_chaos:client(tuner, Ledger, fun() -> tune(Ledger) end)
     | [endurance_chaos:client(Nth, Ledger, fun() -> client(Ledger) end) || Nth <- lists:seq(1, ?CLIENTS)]].

%% The library's supervisor gives up after the tenth restart within ten seconds.
%% A device that is gone is looked for ten times a second, and nothing is written meanwhile.
kinds(Clients) ->
    [{writer, 3, 4, fun() -> endurance_chaos:named([batch_io_writer]) end},
     {server, 3, 4, fun() -> endurance_chaos:named([batch_io]) end},
     {device, 1, 20, fun() -> endurance_chaos:named([batch_io_chaos_device:name()]) end},
     {client, 3, infinity, fun() -> endurance_chaos:alive(Clients) end}].

%% Clients

%% Each has a number that no other had before it, and notes what it is about to write.
client(Ledger) ->
    Client = erlang:unique_integer([positive]),
    true = ets:insert(Ledger, {{client, Client}, 0, 0}),
    write(Client, Ledger).

write(Client, Ledger) ->
    case endurance_chaos:is_over(Ledger) of
        true -> finished(Client, Ledger);
        false ->
            N = ets:update_counter(Ledger, {client, Client}, {2, 1}),
            ok = write(rand:uniform(6), ["~b ~b ~ts~n", [Client, N, batch_io_chaos_device:text(Client, N)]], Client, Ledger),
            _ = [timer:sleep(1) || endurance_chaos:chance(?REST_ONE_IN)],
            ok = ask(rand:uniform(200)),
            write(Client, Ledger)
    end.

%% By the library, as text, and by io to its server, of which nobody knows what it has done with
%% the last request when it is killed.
write(1, Arguments, _, _) -> batch_io:put_chars(apply(io_lib, format, Arguments));
write(2, Arguments, Client, Ledger) ->
    try apply(io, format, [batch_io | Arguments])
    catch error:_ ->
            _ = ets:update_counter(Ledger, {client, Client}, {3, 1}),
            ok
    end;
write(_, Arguments, _, _) -> apply(batch_io, format, Arguments).

ask(1) ->
    _ = batch_io:flush(20),
    ok;
ask(2) ->
    _ = try io:get_line(batch_io, "") catch error:_ -> no_server end,
    ok;
ask(_) -> ok.

%% No answer has come that it did not wait for, and nothing is monitored any more.
finished(Client, Ledger) ->
    case process_info(self(), [messages, monitors]) of
        [{messages, []}, {monitors, []}] -> true = ets:insert(Ledger, {{finished, Client}});
        Left -> endurance_chaos:fault({left_at_the_client, Left}, Ledger)
    end.

%% No more is held than may be, at any time.
audit(Ledger) ->
    #{held := Held, bytes := Bytes} = Info = batch_io:info(),
    Held =< ?MOST_SLOTS andalso Bytes =< ?BYTES orelse endurance_chaos:fault({bound, Info}, Ledger),
    ok = timer:sleep(1),
    endurance_chaos:is_over(Ledger) orelse audit(Ledger).

tune(Ledger) ->
    _ = batch_io:set_options(#{drop => endurance_chaos:one_of([newest, oldest, {block, 0}, {block, 200}]),
                               slots => endurance_chaos:one_of([1, 50, ?MOST_SLOTS, ?MOST_SLOTS]),
                               page_size => endurance_chaos:one_of([1, 200, 4096]),
                               format => endurance_chaos:one_of([caller, device])}),
    ok = timer:sleep(rand:uniform(20)),
    endurance_chaos:is_over(Ledger) orelse tune(Ledger).

%% Laws

%% A client that was killed may have noted one that it did not write.
laws(#{total := Total, sent := Sent}, Ledger) ->
    #{attempted := Attempted, unsure := Unsure, killed := Killed, written := Written} = counts(Ledger),
    [{total, Total =< Attempted andalso Total >= Attempted - Unsure - Killed},
     {sent_is_on_the_device, Sent =< Written},
     {nothing_else_is, Written =< Total}].

counts(Ledger) ->
    Clients = ets:select(Ledger, [{{{client, '$1'}, '$2', '$3'}, [], [{{'$1', '$2', '$3'}}]}]),
    #{attempted => lists:sum([N || {_, N, _} <- Clients]),
      unsure => lists:sum([N || {_, _, N} <- Clients]),
      killed => length([Client || {Client, _, _} <- Clients, not ets:member(Ledger, {finished, Client})]),
      written => lists:sum(ets:select(Ledger, [{{{written, '_'}, '_', '$1'}, [], ['$1']}]))}.
