%% The handler of the logger while its writer, its file's process and those who log are killed at random moments, its file is moved,
%% and its options change: who logs goes on, the handler comes back, and each message is in the file or counted as dropped.
-module(batch_io_handler_chaos_SUITE).

-include_lib("kernel/include/logger.hrl").
-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, init_per_suite/1, end_per_suite/1, laws_hold_among_kills/1]).

-define(HANDLER, chaos).
-define(CLIENTS, 8).
-define(MOST_SLOTS, 300).
-define(REST_ONE_IN, 10).

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [laws_hold_among_kills].

%% What OTP reports of each kill goes through the handler, too, and nowhere else.
init_per_suite(Config) ->
    Levels = [{Id, Level} || #{id := Id, level := Level} <- logger:get_handler_config()],
    [ok = logger:set_handler_config(Id, level, none) || {Id, _} <- Levels],
    [{levels, Levels} | Config].

end_per_suite(Config) ->
    _ = logger:remove_handler(?HANDLER),
    [ok = logger:set_handler_config(Id, level, Level) || {Id, Level} <- proplists:get_value(levels, Config)].

laws_hold_among_kills(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "chaos.log"),
    Snapshot = endurance_chaos:snapshot(),
    Ledger = ets:new(?MODULE, [public, {write_concurrency, true}]),
    ok = logger:add_handler(?HANDLER, batch_io_handler, handler(File)),
    Clients = endurance_chaos:supervise(clients(File, Ledger)),
    Kills = endurance_chaos:run(kinds(Clients)),
    ?assertEqual(true, endurance_chaos:all_finished(Clients, Ledger)),
    ?assert(endurance_chaos:until(fun is_settled/0), {batch_io_handler:info(?HANDLER), Kills}),
    ?assertEqual([], endurance_chaos:faults(Ledger)),
    ok = log(0, 1),
    ?assertEqual(ok, batch_io_handler:filesync(?HANDLER)),
    Info = batch_io_handler:info(?HANDLER),
    Lines = lines(File),
    ?assertEqual([], [{Law, Info, counts(Ledger)} || {Law, false} <- laws(Info, Lines, Ledger)]),
    ok = logger:remove_handler(?HANDLER),
    ok = gen_server:stop(Clients),
    Comment = comment(Kills, Info, Lines),
    true = ets:delete(Ledger),
    ?assertEqual([], endurance_chaos:left(Snapshot)),
    {comment, Comment}.

handler(File) ->
    #{config => #{type => {file, File}, slots => ?MOST_SLOTS, flush_ms => 1},
      level => info, formatter => {logger_formatter, #{template => [msg, "\n"], single_line => true}}}.

comment(Kills, Info, Lines) ->
    lists:flatten(io_lib:format("~b s; killed ~0p; ~0p; in the file ~b",
                                [endurance_chaos:seconds(), Kills, maps:with([total, sent, dropped, errors], Info), length(Lines)])).

%% What was in the hand of who was killed is counted as dropped after a while.
is_settled() ->
    _ = batch_io_handler:filesync(?HANDLER),
    maps:with([held, bytes, in_flight], batch_io_handler:info(?HANDLER)) =:= #{held => 0, bytes => 0, in_flight => 0}.

%% Who is there

clients(File, Ledger) ->
    [endurance_chaos:client(tuner, Ledger, fun() -> tune(Ledger) end),
     endurance_chaos:client(mover, Ledger, fun() -> move(File, Ledger) end)
     | [endurance_chaos:client(Nth, Ledger, fun() -> client(Ledger) end) || Nth <- lists:seq(1, ?CLIENTS)]].

%% The handler's supervisor gives up after the tenth restart within ten seconds.
kinds(Clients) ->
    [{writer, 3, 4, fun() -> endurance_chaos:named([batch_io_handler_chaos]) end},
     {file, 3, 4, fun() -> endurance_chaos:named([batch_io_file_chaos]) end},
     {client, 3, infinity, fun() -> endurance_chaos:alive(Clients) end}].

%% Each has a number that no other had before it, and notes what it is about to log.
client(Ledger) ->
    Client = erlang:unique_integer([positive]),
    true = ets:insert(Ledger, {{client, Client}, 0}),
    log_on(Client, Ledger).

log_on(Client, Ledger) ->
    case endurance_chaos:is_over(Ledger) of
        true -> finished(Client, Ledger);
        false ->
            ok = log(Client, ets:update_counter(Ledger, {client, Client}, 1)),
            _ = [timer:sleep(1) || endurance_chaos:chance(?REST_ONE_IN)],
            log_on(Client, Ledger)
    end.

log(Client, N) -> ?LOG_NOTICE("client ~b ~b", [Client, N]).

%% No answer has come that it did not wait for, and nothing is monitored any more.
finished(Client, Ledger) ->
    case process_info(self(), [messages, monitors]) of
        [{messages, []}, {monitors, []}] -> true = ets:insert(Ledger, {{finished, Client}});
        Left -> endurance_chaos:fault({left_at_the_client, Left}, Ledger)
    end.

%% Where there is no writer just now the change is refused.
tune(Ledger) ->
    _ = logger:update_handler_config(?HANDLER, config,
                                     #{drop => endurance_chaos:one_of([newest, oldest, {block, 0}, {block, 200}]),
                                       slots => endurance_chaos:one_of([1, 50, ?MOST_SLOTS, ?MOST_SLOTS]),
                                       page_size => endurance_chaos:one_of([1, 200, 4096])}),
    ok = timer:sleep(rand:uniform(20)),
    endurance_chaos:is_over(Ledger) orelse tune(Ledger).

%% As a program that rotates logs does. The names sort by time.
move(File, Ledger) ->
    _ = file:rename(File, File ++ io_lib:format(".~20..0b", [erlang:system_time()])),
    ok = timer:sleep(300),
    endurance_chaos:is_over(Ledger) orelse move(File, Ledger).

%% Laws

%% A client that was killed may have noted one that it did not log.
laws(#{sent := Sent, dropped := Dropped}, Lines, Ledger) ->
    #{attempted := Attempted, killed := Killed} = counts(Ledger),
    ByClient = by_client(Lines),
    Told = lists:sum([told(Line) || Line <- Lines]),
    Written = lists:sum([length(Numbers) || _ := Numbers <- ByClient]),
    [{handler_is_there, is_map_key(0, ByClient)},
     {written_or_dropped, Attempted =< Written + Dropped + Killed},
     {nothing_else_is, Written =< Attempted + 1},
     {sent_is_in_the_file, Sent =< length(Lines)},
     {in_order_and_once, lists:all(fun(Numbers) -> Numbers =:= lists:usort(Numbers) end, maps:values(ByClient))},
     {told_at_most_once, Told =< Dropped}].

counts(Ledger) ->
    Clients = ets:select(Ledger, [{{{client, '$1'}, '$2'}, [], [{{'$1', '$2'}}]}]),
    #{attempted => lists:sum([N || {_, N} <- Clients]),
      killed => length([Client || {Client, _} <- Clients, not ets:member(Ledger, {finished, Client})])}.

%% Where it was moved just now there is none of the first name.
lines(File) -> lists:append([lines_of(Name) || Name <- lists:sort(filelib:wildcard(File ++ ".*")) ++ filelib:wildcard(File)]).

lines_of(File) ->
    {ok, Text} = file:read_file(File),
    binary:split(Text, ~"\n", [global, trim]).

by_client(Lines) ->
    maps:groups_from_list(fun({Client, _}) -> Client end, fun({_, N}) -> N end,
                          [{binary_to_integer(Client), binary_to_integer(N)}
                           || <<"client ", Numbers/binary>> <- Lines, [Client, N] <- [binary:split(Numbers, ~" ")]]).

told(~"1 message of handler chaos was dropped") -> 1;
told(Line) ->
    case binary:split(Line, ~" messages of handler chaos were dropped") of
        [Number, <<>>] -> binary_to_integer(Number);
        _ -> 0
    end.
