%% A writer that runs goes from version 0.1.0 to this one, and back, with all that it has in hand.
-module(batch_io_upgrade_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, from_0_1_0/1, back_to_0_1_0/1, waiting_ones_stay/1, caller_that_waits/1, instructions_name_all_modules/1]).

-define(MESSAGES, 100).

all() -> [from_0_1_0, back_to_0_1_0, waiting_ones_stay, caller_that_waits, instructions_name_all_modules].

%% Of each 25 messages, the first are with the device, which has not answered, and the others are in the writer's queue.
from_0_1_0(_) ->
    Device = with_pages_on_the_way(),
    _ = sys:replace_state(batch_io_writer, fun old/1),
    ok = upgraded("any"),
    ok = recorder:release(Device),
    ok = batch_io:flush(),
    ?assertMatch(#{sent := ?MESSAGES, dropped := 1, held := 0, errors := 1}, batch_io:info()),
    ?assertEqual(lists:seq(1, ?MESSAGES), written(Device)),
    stop(Device).

back_to_0_1_0(_) ->
    Device = with_pages_on_the_way(),
    {Flush, Monitor} = spawn_monitor(fun() -> exit(batch_io:flush(infinity)) end),
    ok = until_flushed(Flush),
    Old = old(sys:get_state(batch_io_writer)),
    ok = upgraded({down, "any"}),
    ?assertEqual(Old, sys:get_state(batch_io_writer)),
    ok = upgraded("any"),
    ok = recorder:release(Device),
    ok = batch_io:flush(),
    receive {'DOWN', Monitor, process, Flush, Flushed} -> ?assertEqual(ok, Flushed) end,
    ?assertMatch(#{sent := ?MESSAGES, held := 0}, batch_io:info()),
    stop(Device).

%% As 0.1.0 had them: in their order, and without their pids.
waiting_ones_stay(_) ->
    Device = recorder:start(),
    ok = batch_io:start(#{leader => Device, slots => 1, drop => {block, 60_000}}),
    ok = recorder:hold(Device),
    ok = batch_io:put_chars("0"),
    Callers = [waits_to_write(Text) || Text <- ["1", "2", "3"]],
    ok = sys:suspend(batch_io_writer),
    ok = changed({down, "any"}),
    ?assertMatch([[{_, 1, _}, {_, 1, _}, {_, 1, _}]],
                 [queue:to_list(Field) || Field <- tuple_to_list(sys:get_state(batch_io_writer)), queue:is_queue(Field), Field =/= []]),
    ok = changed("any"),
    ok = sys:resume(batch_io_writer),
    ok = recorder:release(Device),
    [receive {'DOWN', Monitor, process, _, Reason} -> ?assertEqual(normal, Reason) after 5_000 -> error(waits) end || Monitor <- Callers],
    ok = batch_io:flush(),
    ?assertEqual(<<"0123">>, recorder:text(Device)),
    stop(Device).

%% Returns when the writer has the caller.
waits_to_write(Text) ->
    Before = number_of_waiting(),
    {_, Monitor} = spawn_monitor(fun() -> batch_io:put_chars(Text) end),
    ok = until_more_wait(Before),
    Monitor.

until_more_wait(Before) ->
    case number_of_waiting() of
        Before -> until_more_wait(Before);
        _ -> ok
    end.

number_of_waiting() ->
    [Number] = [gb_sets:size(Field) || Field <- tuple_to_list(sys:get_state(batch_io_writer)), is_tuple(Field), gb_sets:is_set(Field)],
    Number.

%% Until the writer has the flush of that process.
until_flushed(Flush) ->
    Lists = [Field || Field <- tuple_to_list(sys:get_state(batch_io_writer)), is_list(Field)],
    case lists:member(Flush, [Pid || {_, _, {Pid, _}, _} <- lists:append(Lists)]) of
        true -> ok;
        false -> until_flushed(Flush)
    end.

%% It calls what 0.1.0 called.
caller_that_waits(_) ->
    Device = recorder:start(),
    ok = batch_io:start(#{leader => Device}),
    ?assertEqual(room, batch_io_waiting:want(room, 1, 5000)),
    [batch_io_writer ! {How, erlang:alias([reply]), 1, erlang:monotonic_time(millisecond) + 5000} || How <- [room, shed]],
    [receive {Alias, Answer} when is_reference(Alias) -> ?assertEqual(room, Answer) after 5000 -> error(no_answer) end || _ <- [1, 2]],
    ?assertEqual(ok, gen_server:call(batch_io_writer, flush)),
    ?assertEqual(ok, gen_server:call(batch_io_writer, {options, #{slots => 7}})),
    ?assertMatch(#{slots := 7}, batch_io:options()),
    stop(Device).

instructions_name_all_modules(_) ->
    Ebin = filename:dirname(code:which(batch_io)),
    {ok, [{application, _, App}]} = file:consult(filename:join(Ebin, "batch_io.app")),
    {ok, [{To, [{"0.1.0", Up}], [{"0.1.0", Down}]}]} = file:consult(filename:join(filename:dirname(Ebin), "src/batch_io.appup.src")),
    ?assertEqual(proplists:get_value(vsn, App), To),
    %% This is what it was.
    Same = [batch_io_page],
    [?assertEqual(lists:sort(proplists:get_value(modules, App) -- Same), lists:sort([element(2, One) || One <- All])) || All <- [Up, Down]].

%% One message has failed, some are with the device, and the others are in the writer's queue.
with_pages_on_the_way() ->
    Device = recorder:start(),
    ok = batch_io:start(#{leader => Device, page_size => 40, slots => 1000}),
    ok = recorder:fail(Device, enospc),
    ok = batch_io:put_chars("fails\n"),
    {error, enospc} = batch_io:flush(),
    ok = recorder:fail(Device, none),
    ok = recorder:hold(Device),
    [ok = batch_io:format("~b~n", [N]) || N <- lists:seq(1, ?MESSAGES)],
    {error, timeout} = batch_io:flush(50),
    #{in_flight := InFlight} = batch_io:info(),
    ?assert(InFlight > 0 andalso InFlight < ?MESSAGES),
    Device.

upgraded(Version) ->
    ok = sys:suspend(batch_io_writer),
    Changed = changed(Version),
    ok = sys:resume(batch_io_writer),
    Changed.

changed(Version) -> sys:change_code(batch_io_writer, batch_io_writer, Version, "0.1.0").

%% The state as 0.1.0 had it: of a failure the reason alone, of a page on its way four things, of a
%% flush three. Nobody waits.
old(State) -> list_to_tuple([old_field(Field) || Field <- tuple_to_list(State)]).

old_field({When, Reason}) when When =:= now; When =:= before -> Reason;
old_field(Device) when element(1, Device) =:= device ->
    Sent = maps:map(fun(_, {Monitor, {page, Note}}) -> {Monitor, {page, erlang:delete_element(5, Note)}};
                       (_, Request) -> Request
                    end, element(tuple_size(Device), Device)),
    setelement(tuple_size(Device), Device, Sent);
old_field({0, nil}) -> queue:new();
old_field([_ | _] = List) -> [old_flusher(Item) || Item <- List];
old_field(Field) -> Field.

old_flusher({Mark, Errors, {Pid, _} = From, _}) when is_pid(Pid) -> {Mark, Errors, From};
old_flusher(Item) -> Item.

written(Device) -> [binary_to_integer(Line) || <<Digit, _/binary>> = Line <- string:lexemes(recorder:text(Device), "\n"), Digit =< $9].

stop(Device) ->
    {ok, _} = batch_io:stop(),
    recorder:stop(Device).
