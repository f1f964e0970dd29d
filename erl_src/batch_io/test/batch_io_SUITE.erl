%% What is written arrives as io would have written it, in order, once; what is not
%% is counted; and whoever dies or hangs harms nobody else.
-module(batch_io_SUITE).

-include_lib("stdlib/include/assert.hrl").
-include_lib("proper/include/proper.hrl").

-compile([export_all, nowarn_export_all]).

all() -> [{group, Where} || Where <- [writing, dropping, dying, serving, options, laws]].

groups() ->
    [{writing, [], [leaves_all_to_io_where_not_started, writes_what_io_writes, bad_format_fails_in_the_caller,
                    bad_characters_fail_in_the_caller, page_is_not_exceeded, large_message_goes_alone,
                    small_page_goes_after_a_while, unformatted_pages, order_of_each_client,
                    latin1_device_is_not_harmed, other_devices_are_left_to_io, leader_has_a_name]},
     {dropping, [], [newest_are_dropped, oldest_are_dropped, block_waits_for_room, larger_limits_let_in, device_never_waits,
                     block_ends_at_its_deadline, killed_ones_hold_up_nobody, late_ones_hold_up_nobody,
                     waiting_ones_keep_their_order, one_caller_leaves_room_for_the_next, late_ones_are_forgotten,
                     place_is_kept_if_the_room_is_taken, who_never_fits_holds_up_nobody,
                     larger_than_the_buffer, bytes_are_bounded, parts_keep_no_whole,
                     bound_holds_with_many_writers,
                     device_errors_are_counted, oldest_is_as_old_as_it_is]},
     {dying, [], [named_device_comes_back, name_of_the_device_goes_to_a_port, node_of_the_device_is_gone, device_of_another_node_comes_back,
                  looks_for_a_device_do_not_pile_up, device_is_replaced, hanging_device_is_left,
                  slow_device_is_left, device_by_another_name_is_not_left, device_that_is_back_is_not_left,
                  flushes_that_ended_are_forgotten, many_flush_at_a_time, dead_device_blocks_nobody, hanging_device_blocks_nobody,
                  writer_is_killed, drops_are_told_once, killed_writer_counts_nothing_twice, callers_are_killed,
                  late_caller_is_counted_once, supervisor_is_killed, supervisor_gives_up,
                  supervisor_of_ones_own_gives_up, writer_is_terminated, writer_is_started_anew, stop_writes_all, stop_among_writers,
                  stop_without_device]},
     {serving, [], [group_leader, input_comes_after_output, answered_request_leaves_no_monitor, input_ends_with_the_device,
                    several_requests,
                    encodings, bad_requests, no_list_of_requests_is_refused, options_that_end_a_device_are_refused,
                    encoding_set_among_others, requests_are_judged_before_one_is_passed, function_of_passed_requests_is_called_once,
                    reading_that_ends_a_device_is_refused, any_request_is_answered, no_request_ends_a_file,
                    junk_harms_nobody, function_that_ends_its_caller, function_that_does_not_return, functions_share_their_time,
                    killed_clients_leave_nothing, server_is_full]},
     {options, [], [bad_options, bad_times, changed_options, environment, options_end_with_the_application, one_of_several_starts,
                    started_below_a_supervisor, nothing_is_left_of_a_failed_start, start_without_its_file]},
     {laws, [], [laws_on_each_release]}].

init_per_testcase(_, Config) -> [{device, recorder:start()} | Config].

end_per_testcase(_, Config) ->
    _ = application:stop(batch_io),
    undefined = whereis(batch_io_sup),
    exit(proplists:get_value(device, Config), kill).

start(Config, Options) ->
    Device = proplists:get_value(device, Config),
    ok = batch_io:start(maps:merge(#{leader => Device, flush_ms => 2}, Options)),
    Device.

%% Writing

leaves_all_to_io_where_not_started(Config) ->
    Device = proplists:get_value(device, Config),
    Leader = group_leader(),
    true = group_leader(Device, self()),
    ok = batch_io:format("a"),
    ok = batch_io:format("~p", [b]),
    ok = batch_io:format(Device, "~p", [c]),
    ok = batch_io:put_chars("d"),
    ok = batch_io:put_chars(Device, "e"),
    true = group_leader(Leader, self()),
    ?assertEqual(~"abcde", recorder:text(Device)),
    ?assertEqual(not_started, batch_io:info()),
    ?assertEqual({error, not_started}, batch_io:flush()),
    ?assertEqual({error, not_started}, batch_io:stop()).

writes_what_io_writes(Config) ->
    Device = start(Config, #{}),
    Calls = [{"~p ~w ~b~n", [1, 2, 3]}, {"~s|~s|~s", [~"abc", "def", ghi]}, {"~ts", [[1024, 8364]]},
             {"~ts", [<<1024/utf8>>]}, {"~ts", [<<255, 97>>]}, {"~s", [<<233>>]}, {"~ts~ts", [<<195>>, <<169>>]},
             {"~5.2.0b ~10s ~c ~*c", [1, "x", $a, 3, $b]}, {~"~p", [{a, "b", [~"c"]}]}, {abc, []},
             {"\x{400}~~", []}, {"", []}, {"~tp", [["\x{400}"]]}, {"~p", [1.5]}, {"~s", [["a", [<<"b">> | <<"c">>]]]}],
    [ok = batch_io:format(Format, Arguments) || {Format, Arguments} <- Calls],
    ok = batch_io:put_chars([~"x", "y", 1024]),
    ok = batch_io:flush(),
    Expected = [io_lib:format(Format, Arguments) || {Format, Arguments} <- Calls] ++ ["xy", 1024],
    ?assertEqual(unicode:characters_to_binary(Expected), recorder:text(Device)).

bad_format_fails_in_the_caller(Config) ->
    Device = start(Config, #{}),
    [begin
         ok = batch_io:set_options(#{format => Who}),
         ok = batch_io:format("~p,", [first]),
         [?assertError(badarg, batch_io:format(Format, Arguments))
          || {Format, Arguments} <- [{"~s", [[1024]]}, {"~p", []}, {"", [1]}, {"~b", [a]}, {"~", []}, {"~q", [1]},
                                     {"~p", none}, {"~s", [1]}, {"~ts", [[-1]]}, {[a], []}, {"~ts", [[16#D800]]},
                                     {{}, []}]],
         ok = batch_io:format("~p,", [last])
     end || Who <- [caller, device]],
    ok = batch_io:flush(),
    ?assertEqual(~"first,last,first,last,", recorder:text(Device)),
    ?assertMatch(#{total := 4, sent := 4}, batch_io:info()).

bad_characters_fail_in_the_caller(Config) ->
    Device = start(Config, #{}),
    [?assertError(badarg, batch_io:put_chars(Chars)) || Chars <- [[-1], a, [16#D800], <<255>>, [$a, b]]],
    ok = batch_io:put_chars("good"),
    ok = batch_io:flush(),
    ?assertEqual(~"good", recorder:text(Device)).

page_is_not_exceeded(Config) ->
    Device = start(Config, #{page_size => 100, flush_ms => 50}),
    [ok = batch_io:format("~30.b~n", [N]) || N <- lists:seq(1, 100)],
    ok = batch_io:flush(),
    Sizes = [byte_size(Text) || {put_chars, unicode, Text} <- recorder:requests(Device)],
    ?assertEqual(3100, lists:sum(Sizes)),
    ?assert(lists:max(Sizes) =< 100),
    ?assert(length(Sizes) =< 40).

large_message_goes_alone(Config) ->
    Device = start(Config, #{page_size => 100, flush_ms => 1000}),
    Large = binary:copy(~"x", 5000),
    [ok = batch_io:put_chars(Text) || Text <- [~"a", Large, ~"b", ~"c"]],
    ok = batch_io:flush(),
    ?assertMatch([~"a", Large, _ | _], [Text || {put_chars, unicode, Text} <- recorder:requests(Device)]),
    ?assertEqual(<<"a", Large/binary, "bc">>, recorder:text(Device)).

%% Nobody flushes, and the page is far from full.
small_page_goes_after_a_while(Config) ->
    Device = start(Config, #{flush_ms => 20}),
    [ok = batch_io:put_chars("x") || _ <- [1, 2, 3]],
    ok = until(fun() -> recorder:text(Device) =:= ~"xxx" end),
    ?assertMatch([_], recorder:requests(Device)).

unformatted_pages(Config) ->
    Device = start(Config, #{format => device, flush_ms => 1000}),
    [ok = batch_io:format(Format, Arguments)
     || {Format, Arguments} <- [{"~p~n", [{a, b}]}, {"~ts", ["c"]}, {"~c", [$d]}, {"~10w", [e]}, {"~w", [f]}]],
    ok = batch_io:flush(),
    ?assertEqual([{requests, [{put_chars, unicode, io_lib, format, ["~p~n", [{a, b}]]},
                              {put_chars, unicode, io_lib, format, ["~ts", ["c"]]},
                              {put_chars, unicode, ~"d         e"},
                              {put_chars, unicode, io_lib, format, ["~w", [f]]}]}],
                 recorder:requests(Device)).

order_of_each_client(Config) ->
    Device = start(Config, #{drop => {block, 60_000}, slots => 50, page_size => 200}),
    Write = fun(Client) -> [ok = batch_io:format("~b ~b~n", [Client, N]) || N <- lists:seq(1, 200)] end,
    ok = each(20, Write),
    ok = batch_io:flush(),
    ?assertEqual([{Client, lists:seq(1, 200)} || Client <- lists:seq(1, 20)], by_client(recorder:text(Device))),
    ?assertMatch(#{total := 4000, sent := 4000, dropped := 0, held := 0}, batch_io:info()).

%% A file in Latin-1 ends where io gives it another character.
latin1_device_is_not_harmed(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "latin1"),
    {ok, Device} = file:open(File, [write]),
    ok = batch_io:start(#{leader => Device}),
    [begin
         ok = batch_io:set_options(#{format => By}),
         [ok = batch_io:format("~ts", [Text]) || Text <- ["abc\n", [$d, 233], [1024], [$x, 16#1F600], "e"]],
         ok = batch_io:flush()
     end || By <- [caller, device]],
    Text = <<"abc\nd", 233, "\\x{400}x\\x{1F600}e">>,
    ?assertEqual({ok, <<Text/binary, Text/binary>>}, file:read_file(File)),
    ?assert(is_process_alive(Device)).

other_devices_are_left_to_io(Config) ->
    Device = start(Config, #{}),
    Other = recorder:start(),
    ok = batch_io:format(Other, "~p", [1]),
    ok = batch_io:put_chars(Other, "2"),
    ?assertEqual(~"12", recorder:text(Other)),
    [ok = batch_io:put_chars(Leader, "3") || Leader <- [Device, batch_io, standard_io]],
    ok = batch_io:flush(),
    ?assertEqual(~"333", recorder:text(Device)).

%% Whichever of pid and name the leader is given by, and the caller. The order is that of the calls.
leader_has_a_name(_) ->
    [begin
         Device = named(recorder:start()),
         ok = batch_io:start(#{leader => leader_by(How, Device), flush_ms => 100}),
         ok = batch_io:put_chars("1"),
         [ok = batch_io:put_chars(By, Text) || {By, Text} <- [{a_device, "2"}, {Device, "3"}]],
         ok = by_other_leader(fun() -> batch_io:put_chars(standard_io, "4") end),
         ok = batch_io:format(a_device, "~b", [5]),
         ok = batch_io:put_chars("6"),
         ok = batch_io:flush(),
         ?assertEqual({How, ~"123456"}, {How, recorder:text(Device)}),
         {ok, _} = batch_io:stop(),
         ok = recorder:stop(Device)
     end || How <- [pid, name]].

leader_by(pid, Device) -> Device;
leader_by(name, _) -> a_device.

by_other_leader(Write) ->
    Leader = group_leader(),
    true = group_leader(recorder:start(), self()),
    Written = Write(),
    true = group_leader(Leader, self()),
    Written.

%% Dropping

newest_are_dropped(Config) ->
    Device = held(Config, #{slots => 10, drop => newest}),
    [ok = batch_io:format("~b,", [N]) || N <- lists:seq(1, 100)],
    ?assertMatch(#{total := 100, held := 10, dropped := 90}, batch_io:info()),
    ok = recorder:release(Device),
    ok = batch_io:flush(),
    {Written, 90} = without_lines(Device),
    ?assertEqual(~"1,2,3,4,5,6,7,8,9,10,", Written),
    ?assertMatch(#{total := 100, held := 0, sent := 10, dropped := 90}, batch_io:info()).

%% What is in flight is with the device; of the rest the newest stay.
oldest_are_dropped(Config) ->
    Device = held(Config, #{slots => 10, drop => oldest}),
    [ok = batch_io:format("~b,", [N]) || N <- lists:seq(1, 100)],
    ?assertMatch(#{total := 100, held := Held, dropped := Dropped} when Held =< 10 andalso Dropped =:= 100 - Held,
                 batch_io:info()),
    ok = recorder:release(Device),
    ok = batch_io:flush(),
    {Written, Dropped} = without_lines(Device),
    Numbers = [binary_to_integer(N) || N <- binary:split(Written, ~",", [global, trim_all])],
    ?assertEqual(Numbers, lists:usort(Numbers)),
    ?assertEqual(lists:seq(100 - 2, 100), lists:nthtail(length(Numbers) - 3, Numbers)),
    ?assertEqual(100, Dropped + length(Numbers)).

block_waits_for_room(Config) ->
    Device = held(Config, #{slots => 10, drop => {block, 60_000}}),
    Test = self(),
    _ = spawn_link(fun() ->
                           [ok = batch_io:format("~b,", [N]) || N <- lists:seq(1, 100)],
                           Test ! written
                   end),
    ok = until(fun() -> maps:get(held, batch_io:info()) =:= 10 end),
    receive written -> error(has_not_waited) after 50 -> ok end,
    ok = recorder:release(Device),
    receive written -> ok after 5000 -> error(waits_still) end,
    ok = batch_io:flush(),
    ?assertEqual(iolist_to_binary([[integer_to_list(N), ","] || N <- lists:seq(1, 100)]), recorder:text(Device)).

%% Who waits finds the room that larger limits make, at once and before the device answers.
larger_limits_let_in(Config) ->
    _ = held(Config, #{slots => 10, drop => {block, 60_000}}),
    Test = self(),
    _ = spawn_link(fun() ->
                           [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 20)],
                           Test ! written
                   end),
    ok = until(fun() -> maps:get(held, batch_io:info()) =:= 10 end),
    ok = batch_io:set_options(#{slots => 100}),
    receive written -> ok after 5000 -> error(waits_still) end,
    ?assertMatch(#{total := 20, held := 20, dropped := 0}, batch_io:info()).

%% It would wait for itself: neither what it writes itself, nor what the server writes for it.
device_never_waits(Config) ->
    Device = held(Config, #{slots => 1, drop => {block, 60_000}}),
    ok = batch_io:put_chars("x"),
    Test = self(),
    _ = spawn_link(fun() -> Test ! {written, batch_io_drop:write(batch_io_buffer:current(), Device, 1, <<"y">>)} end),
    receive {written, Result} -> ?assertEqual(dropped, Result) after 5000 -> error(waits) end,
    ?assertMatch(#{held := 1, dropped := 1}, batch_io:info()).

%% The one that was killed waits for more room than there is, the one behind it for less.
killed_ones_hold_up_nobody(Config) ->
    Device = held_with_950_bytes(Config, 60_000),
    {Killed, _} = waits_to_write(binary:copy(~"k", 900)),
    exit(Killed, kill),
    only_the_last_one_gets_room(Device).

%% The same if it has given up, and lives.
late_ones_hold_up_nobody(Config) ->
    Device = held_with_950_bytes(Config, 2000),
    Test = self(),
    Late = spawn_link(fun() -> Test ! {gave_up, batch_io:put_chars(binary:copy(~"k", 900))}, receive never -> ok end end),
    ok = until(fun() -> waits_for_room(Late) end),
    ok = batch_io:set_options(#{drop => {block, 60_000}}),
    only_the_last_one_gets_room(Device, fun() -> receive {gave_up, ok} -> ok end end).

%% Two pages are on their way.
held_with_950_bytes(Config, Ms) ->
    Device = held(Config, #{bytes => 1000, page_size => 600, slots => 100, drop => {block, Ms}}),
    ok = batch_io:put_chars(binary:copy(~"x", 600)),
    ok = until(fun() -> maps:get(in_flight, batch_io:info()) =:= 1 end),
    ok = batch_io:put_chars(binary:copy(~"y", 350)),
    Device.

only_the_last_one_gets_room(Device) -> only_the_last_one_gets_room(Device, fun() -> ok end).

%% The first page is written, so 650 bytes are free.
only_the_last_one_gets_room(Device, Before) ->
    Last = waits_to_write(binary:copy(~"z", 100)),
    ok = Before(),
    ok = recorder:release_one(Device),
    ok = ended(Last),
    ?assertMatch(#{bytes := 450}, batch_io:info()),
    ok = recorder:release(Device),
    {ok, #{sent := 3}} = batch_io:stop().

waits_for_room(Pid) ->
    process_info(Pid, [status, current_function]) =:= [{status, waiting}, {current_function, {batch_io_waiting, want, 4}}].

%% Each comes after the one before it. All of them wait for longer than it takes until the last one is there.
waiting_ones_keep_their_order(Config) ->
    Device = full_by_one(Config),
    Letters = lists:seq($a, $l),
    Waiting = [waits_to_write([Letter]) || Letter <- Letters],
    ok = recorder:release(Device),
    [ended(Each) || Each <- Waiting],
    ok = batch_io:flush(),
    ?assertEqual(list_to_binary([$0 | Letters]), recorder:text(Device)),
    ?assertMatch(#{sent := 13, dropped := 0}, batch_io:info()).

%% Both are told of the room. On one scheduler the first would fill all of it before the next one runs.
one_caller_leaves_room_for_the_next(Config) ->
    Device = held(Config, #{slots => 64, drop => {block, 60_000}}),
    %% The first page has a quarter of the slots, so that much room comes at once, which is enough for both.
    true = erlang:suspend_process(whereis(batch_io_writer)),
    _ = [ok = batch_io:put_chars("0") || _ <- lists:seq(1, 64)],
    true = erlang:resume_process(whereis(batch_io_writer)),
    ok = until(fun() -> maps:get(in_flight, batch_io:info()) >= 16 end),
    Written = counters:new(2, []),
    Writes = fun(Nth) -> [begin ok = batch_io:put_chars("1"), counters:add(Written, Nth, 1) end || _ <- lists:seq(1, 32)] end,
    [{First, _}, {Second, _}] = Waiting = [waits_for_room_in(fun() -> Writes(Nth) end) || Nth <- [1, 2]],
    Schedulers = erlang:system_flag(schedulers_online, 1),
    ok = recorder:release_one(Device),
    Both = fun() -> [counters:get(Written, Nth) || Nth <- [1, 2]] end,
    ok = until(fun() -> lists:sum(Both()) =:= 16 andalso waits_for_room(First) andalso waits_for_room(Second) end),
    1 = erlang:system_flag(schedulers_online, Schedulers),
    ?assertNot(lists:member(0, Both())),
    ok = recorder:release(Device),
    [ended(Each) || Each <- Waiting].

%% It is told of the room and does not run until another one has taken that.
place_is_kept_if_the_room_is_taken(Config) ->
    Device = full_by_one(Config),
    [{First, _}, {Second, _}] = Before = [waits_to_write(Text) || Text <- ["1", "2"]],
    true = erlang:suspend_process(First),
    ok = recorder:release_one(Device),
    ok = until(fun() -> not is_process_alive(Second) end),
    Last = waits_to_write("3"),
    true = erlang:resume_process(First),
    ok = until(fun() -> waits_for_room(First) andalso process_info(First, message_queue_len) =:= {message_queue_len, 0} end),
    _ = sys:get_state(batch_io_writer),
    ok = recorder:release(Device),
    [ended(Each) || Each <- [Last | Before]],
    ok = batch_io:flush(),
    ?assertEqual(~"0213", recorder:text(Device)).

%% The device has the one message that the buffer holds.
full_by_one(Config) ->
    Device = held(Config, #{slots => 1, drop => {block, 60_000}}),
    ok = batch_io:put_chars("0"),
    ok = until(fun() -> maps:get(in_flight, batch_io:info()) =:= 1 end),
    Device.

waits_to_write(Text) -> waits_for_room_in(fun() -> batch_io:put_chars(Text) end).

waits_for_room_in(Work) ->
    {Pid, _} = Waiting = spawn_monitor(Work),
    ok = timer:sleep(10),
    ok = until(fun() -> waits_for_room(Pid) end),
    Waiting.

ended({Pid, Monitor}) ->
    receive {'DOWN', Monitor, process, Pid, Reason} -> ?assertEqual(normal, Reason)
    after 5000 -> error(waits_still)
    end.

%% The limit became lower than its message while it waited.
who_never_fits_holds_up_nobody(Config) ->
    Device = held(Config, #{bytes => 1000, page_size => 100, slots => 100, drop => {block, 60_000}}),
    ok = batch_io:put_chars(binary:copy(~"x", 600)),
    ok = until(fun() -> maps:get(in_flight, batch_io:info()) =:= 1 end),
    [Large, Small] = [waits_to_write(binary:copy(Text, Size)) || {Text, Size} <- [{~"l", 900}, {~"s", 500}]],
    ok = batch_io:set_options(#{bytes => 800}),
    ok = ended(Large),
    ?assertMatch(#{held := 1, dropped := 1}, batch_io:info()),
    ok = recorder:release(Device),
    ok = ended(Small).

block_ends_at_its_deadline(Config) ->
    _ = held(Config, #{slots => 1, drop => {block, 30}}),
    ok = batch_io:format("first"),
    Before = erlang:monotonic_time(millisecond),
    ok = batch_io:format("second"),
    ?assert(erlang:monotonic_time(millisecond) - Before >= 30),
    ?assertMatch(#{total := 2, held := 1, dropped := 1}, batch_io:info()),
    ?assertEqual({messages, []}, process_info(self(), messages)).

%% Who waits no more before a device that hangs is forgotten.
late_ones_are_forgotten(Config) ->
    _ = held(Config, #{slots => 1, drop => {block, 0}}),
    [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 500)],
    Waiting = [gb_sets:size(Field) || Field <- tuple_to_list(sys:get_state(batch_io_writer)),
                                      is_tuple(Field), gb_sets:is_set(Field)],
    ?assertMatch([Few] when Few < 100, Waiting),
    ?assertMatch(#{total := 500, held := 1, dropped := 499}, batch_io:info()).

%% It never fits, so nobody waits for it.
larger_than_the_buffer(Config) ->
    Device = start(Config, #{bytes => 100, drop => {block, 60_000}}),
    ok = batch_io:put_chars(binary:copy(~"x", 101)),
    ok = batch_io:put_chars(binary:copy(~"y", 100)),
    ok = batch_io:flush(),
    ?assertMatch({<<"yyyy", _/binary>>, 1}, without_lines(Device)),
    ?assertMatch(#{sent := 1, dropped := 1}, batch_io:info()).

bytes_are_bounded(Config) ->
    Device = held(Config, #{bytes => 100, page_size => 20}),
    [ok = batch_io:put_chars(~"0123456") || _ <- lists:seq(1, 30)],
    ?assertMatch(#{total := 30, held := 14, bytes := 98, dropped := 16}, batch_io:info()),
    ok = recorder:release(Device),
    ok = batch_io:flush(),
    ?assertMatch(#{held := 0, bytes := 0, sent := 14}, batch_io:info()).

%% A part of a binary is held alone, whoever formats, and wherever in the arguments it is.
parts_keep_no_whole(Config) ->
    Device = held(Config, #{bytes => 100_000}),
    ok = batch_io:put_chars("."),
    Writes = [fun batch_io:put_chars/1, fun(Part) -> batch_io:put_chars([Part]) end,
              fun(Part) -> batch_io:format("~ts", [Part]) end, fun(Part) -> batch_io:format("~s", [Part]) end,
              fun(Part) -> batch_io:format("~0p", [{1, [#{a => Part}]}]) end,
              fun(Part) -> batch_io:format("~0tp", [fun() -> Part end]) end,
              fun(Part) -> io:put_chars(batch_io, Part) end],
    [begin
         ok = batch_io:set_options(#{format => Who}),
         Before = erlang:memory(binary),
         ok = each(1, fun(_) -> [ok = Write(binary:part(binary:copy(~"x", 1_000_000), 0, 100)) || _ <- lists:seq(1, 20)] end),
         true = garbage_collect(whereis(batch_io)),
         true = garbage_collect(whereis(batch_io_writer)),
         ?assert(erlang:memory(binary) - Before < 5_000_000, {Who, Write})
     end || Who <- [caller, device], Write <- Writes],
    ?assertMatch(#{dropped := 0, held := 281}, batch_io:info()),
    ok = recorder:release(Device),
    ok = batch_io:flush().

bound_holds_with_many_writers(Config) ->
    _ = start(Config, #{slots => 7, drop => newest}),
    Test = self(),
    Watcher = spawn_link(fun() -> watch(0, Test) end),
    ok = each(30, fun(_) -> [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 300)] end),
    Watcher ! enough,
    receive {most, Most} -> ?assert(Most =< 7) end,
    ok = batch_io:flush(),
    ?assertMatch(#{total := 9000, held := 0}, batch_io:info()).

watch(Most, Test) ->
    receive enough -> Test ! {most, Most}
    after 0 -> watch(max(Most, maps:get(held, batch_io:info())), Test)
    end.

device_errors_are_counted(Config) ->
    Device = start(Config, #{}),
    ok = recorder:fail(Device, enospc),
    [ok = batch_io:format("~b", [N]) || N <- [1, 2, 3]],
    ?assertEqual({error, enospc}, batch_io:flush()),
    #{total := 3, sent := 0, dropped := 3, errors := Errors} = batch_io:info(),
    ?assert(Errors >= 1),
    ok = recorder:fail(Device, none),
    ok = batch_io:put_chars("4"),
    ok = batch_io:flush(),
    ?assertMatch({_, Told} when Told =< 3, without_lines(Device)),
    ?assertMatch(#{total := 4, sent := 1, dropped := 3, held := 0}, batch_io:info()).

oldest_is_as_old_as_it_is(Config) ->
    Device = held(Config, #{slots => 10, drop => newest}),
    ?assertMatch(#{oldest_ms := 0}, batch_io:info()),
    [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 10)],
    ok = timer:sleep(100),
    ?assertMatch(#{oldest_ms := Ms} when Ms >= 100 andalso Ms < 10_000, batch_io:info()),
    ok = recorder:release(Device),
    ok = batch_io:flush(),
    ?assertMatch(#{oldest_ms := 0, in_flight := 0}, batch_io:info()).

%% Dying

named_device_comes_back(_) ->
    First = recorder:start(),
    true = register(a_device, First),
    ok = batch_io:start(#{leader => a_device, flush_ms => 1}),
    ok = batch_io:put_chars("first"),
    ok = batch_io:flush(),
    ok = recorder:stop(First),
    ok = batch_io:put_chars("second"),
    Second = recorder:start(),
    true = register(a_device, Second),
    ok = until(fun() -> recorder:text(Second) =:= ~"second" end),
    ok = recorder:stop(Second).

%% What the first device did not confirm is lost with it, and what waited is not.
%% Of which no process can be the device.
name_of_the_device_goes_to_a_port(_) ->
    First = named(recorder:start()),
    ok = batch_io:start(#{leader => a_device, flush_ms => 0}),
    Writer = whereis(batch_io_writer),
    Monitor = monitor(process, First),
    ok = recorder:stop(First),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    Port = open_port({spawn, "cat"}, []),
    true = register(a_device, Port),
    ok = until(fun() -> batch_io:flush() =:= {error, terminated} end),
    ok = batch_io:put_chars("kept"),
    %% The name has been looked up since.
    Writer ! open,
    ?assertEqual({error, terminated}, batch_io:flush()),
    true = port_close(Port),
    Second = named(recorder:start()),
    ok = until(fun() -> recorder:text(Second) =:= ~"kept" end),
    ?assertEqual(Writer, whereis(batch_io_writer)),
    ok = recorder:stop(Second).

named(Device) ->
    true = register(a_device, Device),
    Device.

%% Nobody waits for it, and it is not looked for without a pause: five times take four pauses.
node_of_the_device_is_gone(_) ->
    ok = batch_io:start(#{leader => of_another_node(), slots => 2, drop => {block, 600_000}}),
    ?assertEqual({error, terminated}, batch_io:flush(infinity)),
    [ok = batch_io:put_chars("x") || _ <- [1, 2, 3]],
    ?assertMatch(#{held := 2, dropped := 1}, batch_io:info()),
    ?assertEqual({error, terminated}, batch_io:flush(infinity)),
    ?assert(duration(5, fun({'DOWN', _, process, _, _}) -> true; (_) -> false end) >= 4 * 100).

%% A pid as one of a node that has never been there.
of_another_node() ->
    Node = ~"device@nowhere.invalid",
    binary_to_term(<<131, 88, 119, (byte_size(Node)), Node/binary, 1:32, 0:32, 1:32>>).

%% How many milliseconds pass while so many such messages come to the writer.
duration(Number, IsOne) ->
    Writer = whereis(batch_io_writer),
    1 = erlang:trace(Writer, true, ['receive', monotonic_timestamp]),
    Times = [time_of_one(Writer, IsOne) || _ <- lists:seq(1, Number)],
    1 = erlang:trace(Writer, false, ['receive']),
    erlang:convert_time_unit(lists:last(Times) - hd(Times), native, millisecond).

time_of_one(Writer, IsOne) ->
    receive
        {trace_ts, Writer, 'receive', Message, Time} ->
            case IsOne(Message) of
                true -> Time;
                false -> time_of_one(Writer, IsOne)
            end
    end.

%% It counts as there when it answers.
device_of_another_node_comes_back(_) ->
    Device = batch_io_device:new(of_another_node()),
    ?assert(batch_io_device:is_open(Device)),
    {[none], Gone} = batch_io_device:down(monitor_that_fired(), Device),
    ?assertEqual(Gone, batch_io_device:open_again(Gone)),
    Asked = batch_io_device:open(Gone),
    ?assertEqual({false, false, Asked}, {batch_io_device:is_open(Asked), batch_io_device:is_ready(Asked), batch_io_device:open(Asked)}),
    [Ref] = maps:keys(element(tuple_size(Asked), Asked)),
    {none, There} = batch_io_device:reply(Ref, [{encoding, unicode}], Asked),
    ?assertEqual({true, true}, {batch_io_device:is_open(There), batch_io_device:is_ready(There)}),
    _ = monitor_that_fired(),
    %% Version 0.1.0 knows nothing of this.
    ?assertEqual(batch_io_device:to_0_1(Gone), batch_io_device:to_0_1(batch_io_device:to_0_1(Gone))),
    ?assertNotEqual(Gone, batch_io_device:to_0_1(Gone)).

monitor_that_fired() -> receive {'DOWN', Monitor, process, _, _} -> Monitor end.

looks_for_a_device_do_not_pile_up(_) ->
    Device = named(recorder:start()),
    ok = batch_io:start(#{leader => a_device}),
    ok = recorder:stop(Device),
    ok = until(fun() -> batch_io:flush() =:= {error, terminated} end),
    [ok = batch_io:set_options(#{slots => Slots}) || Slots <- lists:seq(1, 200)],
    ?assert(duration(10, fun(Message) -> Message =:= open end) >= 8 * 100).

device_is_replaced(Config) ->
    First = held(Config, #{page_size => 1}),
    [ok = batch_io:format("~b,", [N]) || N <- lists:seq(1, 10)],
    ok = until(fun() -> maps:get(in_flight, batch_io:info()) =:= 2 end),
    ok = recorder:stop(First),
    ?assertEqual({error, terminated}, batch_io:flush()),
    ?assertMatch(#{held := 8, dropped := 2, in_flight := 0}, batch_io:info()),
    Second = recorder:start(),
    ok = batch_io:set_options(#{leader => Second}),
    ok = batch_io:flush(),
    ?assertEqual({~"3,4,5,6,7,8,9,10,", 2}, without_lines(Second)),
    ?assertMatch(#{total := 10, held := 0, dropped := 2, sent := 8}, batch_io:info()),
    ok = recorder:stop(Second).

%% The pages that it was given are dropped some seconds later. Others waited for them without end.
hanging_device_is_left(Config) ->
    First = held(Config, #{page_size => 1}),
    Reader = spawn(fun() -> io:get_line(batch_io, "") end),
    ok = until(fun() -> monitors() =:= 2 end),
    [ok = batch_io:format("~b,", [N]) || N <- lists:seq(1, 10)],
    ok = until(fun() -> maps:get(in_flight, batch_io:info()) =:= 2 end),
    Second = recorder:start(),
    ok = batch_io:set_options(#{leader => Second}),
    ?assertEqual({error, no_answer}, batch_io:flush(10_000)),
    ok = batch_io:put_chars("11,"),
    ok = batch_io:flush(),
    ?assertEqual({~"3,4,5,6,7,8,9,10,11,", 2}, without_lines(Second)),
    ?assertMatch(#{total := 11, held := 0, in_flight := 0, dropped := 2, sent := 9}, batch_io:info()),
    %% A reader still waits. Of the pages, what the device answers now counts for nothing.
    ?assert(is_process_alive(Reader)),
    ok = recorder:release(First),
    ok = until(fun() -> not is_process_alive(Reader) end),
    ok = batch_io:flush(),
    ?assertMatch(#{total := 11, held := 0, dropped := 2, sent := 9}, batch_io:info()),
    ok = recorder:stop(Second).

%% One that answers in time has written its pages.
slow_device_is_left(Config) ->
    First = held(Config, #{page_size => 1}),
    [ok = batch_io:format("~b,", [N]) || N <- lists:seq(1, 10)],
    ok = until(fun() -> maps:get(in_flight, batch_io:info()) =:= 2 end),
    Second = recorder:start(),
    ok = batch_io:set_options(#{leader => Second}),
    ok = recorder:release(First),
    ok = batch_io:flush(infinity),
    ?assertEqual({~"1,2,", ~"3,4,5,6,7,8,9,10,"}, {recorder:text(First), recorder:text(Second)}),
    ?assertMatch(#{total := 10, held := 0, dropped := 0, sent := 10}, batch_io:info()),
    ok = recorder:stop(Second).

%% It is the same process, and still writes. Its pages counted as dropped.
device_by_another_name_is_not_left(Config) ->
    stays_after(Config, fun(Device) ->
                                true = register(the_device, Device),
                                ok = batch_io:set_options(#{leader => the_device})
                        end).

%% Another one was the leader meanwhile.
device_that_is_back_is_not_left(Config) ->
    Other = recorder:start(),
    ok = recorder:hold(Other),
    stays_after(Config, fun(Device) -> [ok = batch_io:set_options(#{leader => Leader}) || Leader <- [Other, Device, Other, Device]] end),
    ok = recorder:stop(Other).

stays_after(Config, Change) ->
    Device = held(Config, #{page_size => 1}),
    [ok = batch_io:format("~b,", [N]) || N <- lists:seq(1, 10)],
    ok = until(fun() -> maps:get(in_flight, batch_io:info()) =:= 2 end),
    _ = Change(Device),
    ok = timer:sleep(3500), % longer than a former device has
    ?assertMatch(#{in_flight := 2, held := 10, dropped := 0}, batch_io:info()),
    ok = recorder:release(Device),
    ?assertEqual(ok, batch_io:flush(10_000)),
    ?assertEqual(~"1,2,3,4,5,6,7,8,9,10,", recorder:text(Device)),
    ?assertMatch(#{total := 10, held := 0, in_flight := 0, dropped := 0, sent := 10}, batch_io:info()).

%% Whether by their time or with their process, which is noticed with the next that ends.
flushes_that_ended_are_forgotten(Config) ->
    _ = held(Config, #{}),
    ok = batch_io:put_chars("x"),
    Killed = spawn(fun() -> batch_io:flush(infinity) end),
    Waiting = spawn(fun() -> batch_io:flush(infinity) end),
    ok = until(fun() -> lists:sort(flushers()) =:= lists:sort([Killed, Waiting]) end),
    true = exit(Killed, kill),
    [{error, timeout} = batch_io:flush(0) || _ <- lists:seq(1, 100)],
    ok = until(fun() -> flushers() =:= [Waiting] end),
    true = exit(Waiting, kill).

%% Each flush looked at all others: eight times as many took 64 times the work.
many_flush_at_a_time(Config) ->
    _ = held(Config, #{}),
    ok = batch_io:put_chars("x"),
    Few = work_of_flushes(1000),
    Many = work_of_flushes(8000),
    ?assertMatch({Work, OfMore} when OfMore < 24 * Work, {Few, Many}).

work_of_flushes(Number) ->
    Before = reductions(),
    Clients = [spawn(fun() -> batch_io:flush(60_000) end) || _ <- lists:seq(1, Number)],
    ok = until(fun() -> length(flushers()) >= Number end),
    Work = reductions() - Before,
    [true = exit(Client, kill) || Client <- Clients],
    ok = until(fun() -> _ = batch_io:flush(0), flushers() =:= [] end),
    Work.

reductions() -> element(2, process_info(whereis(batch_io_writer), reductions)).

flushers() ->
    Lists = [Field || Field <- tuple_to_list(sys:get_state(batch_io_writer)), is_list(Field)],
    [Pid || Flusher <- lists:append(Lists), {Pid, _} <- tuple_to_list(Flusher), is_pid(Pid)].

dead_device_blocks_nobody(Config) ->
    Device = start(Config, #{slots => 5, drop => {block, 60_000}}),
    ok = recorder:stop(Device),
    ok = until(fun() -> batch_io:flush() =:= {error, terminated} end),
    [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 50)],
    ?assertMatch(#{total := 50, held := 5, dropped := 45}, batch_io:info()),
    ok = batch_io:set_options(#{drop => oldest}),
    ok = batch_io:put_chars("y"),
    ?assertMatch(#{total := 51, held := 5, dropped := 46}, batch_io:info()).

hanging_device_blocks_nobody(Config) ->
    Device = held(Config, #{slots => 5}),
    [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 50)],
    ?assertEqual({error, timeout}, batch_io:flush(20)),
    ok = batch_io:set_options(#{slots => 6}),
    ok = batch_io:put_chars("y"),
    ?assertMatch(#{held := 6}, batch_io:info()),
    ok = recorder:release(Device),
    ok = batch_io:flush().

%% What lies in the tables is there for the next writer; what the first one had is
%% counted as dropped, some time later.
writer_is_killed(Config) ->
    Device = held(Config, #{page_size => 1, slots => 50}),
    [ok = batch_io:format("~b,", [N]) || N <- lists:seq(1, 10)],
    ok = until(fun() -> maps:get(in_flight, batch_io:info()) =:= 2 end),
    Writer = whereis(batch_io_writer),
    true = exit(Writer, kill),
    ok = until(fun() -> is_pid(whereis(batch_io_writer)) andalso whereis(batch_io_writer) =/= Writer end),
    [ok = batch_io:format("~b,", [N]) || N <- lists:seq(11, 20)],
    ok = recorder:release(Device),
    ok = batch_io:flush(),
    ok = until(fun() -> maps:get(held, batch_io:info()) =:= 0 end),
    #{total := 20, sent := Sent, dropped := Dropped} = batch_io:info(),
    ?assertEqual(20, Sent + Dropped),
    ?assert(Sent >= 10).

%% The next writer tells only of those that are new.
drops_are_told_once(Config) ->
    Device = held(Config, #{slots => 10}),
    [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 100)],
    ok = recorder:release(Device),
    ok = batch_io:flush(),
    ?assertMatch({_, 90}, without_lines(Device)),
    Writer = whereis(batch_io_writer),
    true = exit(Writer, kill),
    ok = until(fun() -> is_pid(whereis(batch_io_writer)) andalso whereis(batch_io_writer) =/= Writer end),
    ok = batch_io:put_chars("y"),
    ok = batch_io:flush(),
    ?assertEqual({~"xxxxxxxxxxy", 90}, without_lines(Device)).

%% Wherever it is killed while it counts.
killed_writer_counts_nothing_twice(Config) ->
    {ok, Options} = batch_io_options:complete(#{leader => proplists:get_value(device, Config)}),
    Buffer = batch_io_buffer:new(Options),
    [begin
         {Counting, Monitor} = spawn_monitor(fun() -> count_forever(Round, Buffer) end),
         ok = timer:sleep(1),
         true = exit(Counting, kill),
         receive {'DOWN', Monitor, process, Counting, killed} -> ok end,
         {Slots, 0} = batch_io_buffer:held(Buffer),
         ?assertEqual({Round, 0}, {Round, batch_io_buffer:get(sent, Buffer) + Slots})
     end || Round <- lists:seq(1, 300)].

count_forever(Round, Buffer) ->
    true = erlang:bump_reductions(Round),
    ok = batch_io_buffer:settle(sent, 1, 0, Buffer),
    count_forever(Round, Buffer).

%% Whatever they left behind is free again, and all that was counted adds up.
callers_are_killed(Config) ->
    Device = start(Config, #{slots => 100, drop => {block, 1000}}),
    Write = fun Write(N) -> ok = batch_io:format("~b~n", [N]), Write(N + 1) end,
    [begin
         Writers = [spawn(fun() -> Write(0) end) || _ <- lists:seq(1, 10)],
         ok = timer:sleep(2),
         [exit(Writer, kill) || Writer <- Writers]
     end || _ <- lists:seq(1, 20)],
    ok = batch_io:put_chars("last\n"),
    ok = batch_io:flush(),
    ok = until(fun() -> maps:get(held, batch_io:info()) =:= 0 end),
    #{sent := Sent, dropped := Dropped, total := Total, bytes := 0} = batch_io:info(),
    {Written, _} = without_lines(Device),
    ?assertEqual({Total, Sent}, {Sent + Dropped, length(binary:matches(Written, ~"\n"))}).

%% One that is held up between counting its message and inserting it is taken for dead.
late_caller_is_counted_once(Config) ->
    Device = start(Config, #{}),
    Buffer = batch_io_buffer:current(),
    ok = count_as_held(1, 7, Buffer),
    ok = until(fun() -> batch_io:flush() =:= ok andalso maps:get(dropped, batch_io:info()) =:= 1 end),
    ok = batch_io:put_chars("1234567"),
    ok = count_as_held(-1, -7, Buffer),
    ok = until(fun() -> batch_io:flush() =:= ok andalso maps:get(held, batch_io:info()) =:= 0 end),
    ?assertMatch({~"1234567", _}, without_lines(Device)),
    ?assertMatch(#{total := 1, sent := 1, dropped := 0, bytes := 0}, batch_io:info()).

count_as_held(Slots, Bytes, Buffer) ->
    ok = batch_io_buffer:settle(sent, -Slots, -Bytes, Buffer),
    batch_io_buffer:add(sent, Slots, Buffer).

supervisor_is_killed(Config) ->
    Device = start(Config, #{}),
    Supervisor = whereis(batch_io_sup),
    Monitor = monitor(process, Supervisor),
    true = exit(Supervisor, kill),
    receive {'DOWN', Monitor, process, Supervisor, _} -> ok end,
    Leader = group_leader(),
    true = group_leader(Device, self()),
    ok = batch_io:format("~p", [1]),
    ok = batch_io:put_chars("2"),
    true = group_leader(Leader, self()),
    ?assertEqual(~"12", recorder:text(Device)),
    ok = until(fun() -> whereis(batch_io_sup) =:= undefined andalso whereis(batch_io_writer) =:= undefined end).

%% It gives up on a writer that is killed again and again, and the application is stopped.
supervisor_gives_up(Config) ->
    _ = held(Config, #{slots => 5}),
    ok = gives_up_when_full(),
    ok = until(fun() -> batch_io:info() =:= not_started end),
    ?assertEqual(~"written", by_group_leader(fun() -> batch_io:put_chars("written") end)).

%% The next writer goes on with the buffer, whatever ended the one before.
writer_is_terminated(Config) ->
    Device = start(Config, #{slots => 77}),
    ok = batch_io:set_options(#{slots => 78}),
    [begin
         ok = batch_io:put_chars("x"),
         Writer = whereis(batch_io_writer),
         ok = sys:terminate(Writer, Reason),
         ok = until(fun() -> not lists:member(whereis(batch_io_writer), [undefined, Writer]) end)
     end || Reason <- [shutdown, normal, {shutdown, planned}, failed]],
    ok = batch_io:put_chars("y"),
    ok = batch_io:flush(),
    ?assertMatch(#{slots := 78}, batch_io:options()),
    ?assertNotEqual(nomatch, string:find(recorder:text(Device), "y")).

%% Without a writer io has it, and who asks batch_io is answered.
writer_is_started_anew(Config) ->
    Device = start(Config, #{}),
    Server = whereis(batch_io),
    ok = supervisor:terminate_child(batch_io_sup, batch_io_writer),
    ?assertEqual(~"io", by_group_leader(fun() -> batch_io:put_chars("io") end)),
    [?assertEqual({error, terminated}, request(Request)) || Request <- [{put_chars, unicode, "x"}, getopts, {requests, []}]],
    {ok, _} = supervisor:restart_child(batch_io_sup, batch_io_writer),
    ok = io:put_chars(batch_io, "y"),
    ok = batch_io:flush(),
    ?assertEqual({Server, ~"y"}, {whereis(batch_io), recorder:text(Device)}).

%% Nobody makes room any more, so io has it.
supervisor_of_ones_own_gives_up(Config) ->
    Device = proplists:get_value(device, Config),
    _ = process_flag(trap_exit, true),
    {ok, _} = batch_io:start_link(#{leader => Device, slots => 5}),
    ok = batch_io:flush(),
    ok = recorder:hold(Device),
    ok = gives_up_when_full(),
    ?assertEqual(~"written", by_group_leader(fun() -> batch_io:put_chars("written") end)).

gives_up_when_full() ->
    [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 6)],
    Monitor = monitor(process, batch_io_sup),
    Killer = spawn_link(fun kill_writers/0),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    true = unlink(Killer),
    true = exit(Killer, kill),
    ok.

kill_writers() ->
    _ = [exit(Writer, kill) || Writer <- [whereis(batch_io_writer)], is_pid(Writer)],
    ok = timer:sleep(1),
    kill_writers().

by_group_leader(Write) ->
    Leader = group_leader(),
    Recorder = recorder:start(),
    true = group_leader(Recorder, self()),
    ok = Write(),
    true = group_leader(Leader, self()),
    Text = recorder:text(Recorder),
    ok = recorder:stop(Recorder),
    Text.

stop_writes_all(Config) ->
    Device = start(Config, #{flush_ms => 60_000}),
    ok = each(10, fun(Client) -> [ok = batch_io:format("~b ~b~n", [Client, N]) || N <- lists:seq(1, 50)] end),
    {ok, Info} = batch_io:stop(),
    ?assertMatch(#{total := 500, sent := 500, held := 0}, Info),
    ?assertEqual([{Client, lists:seq(1, 50)} || Client <- lists:seq(1, 10)], by_client(recorder:text(Device))).

%% What comes too late for the buffer is written by io, to the writers' group leader.
stop_among_writers(Config) ->
    Device = start(Config, #{}),
    Leader = recorder:start(),
    Test = self(),
    Write = fun Write(Client, N) ->
                    ok = batch_io:format("~b ~b~n", [Client, N]),
                    receive enough -> Test ! {self(), N} after 0 -> Write(Client, N + 1) end
            end,
    Writers = [spawn_link(fun() -> true = group_leader(Leader, self()), Write(Client, 1) end)
               || Client <- lists:seq(1, 8)],
    ok = timer:sleep(20),
    {ok, #{sent := Sent, dropped := Dropped, held := 0}} = batch_io:stop(),
    ok = timer:sleep(5),
    Calls = [begin Writer ! enough, receive {Writer, N} -> N end end || Writer <- Writers],
    {Buffered, _} = without_lines(Device),
    Lines = fun(Text) -> length(binary:matches(Text, ~"\n")) end,
    ?assertEqual({Sent, lists:sum(Calls)}, {Lines(Buffered), Sent + Dropped + Lines(recorder:text(Leader))}),
    ok = recorder:stop(Leader).

stop_without_device(Config) ->
    Device = held(Config, #{}),
    [ok = batch_io:put_chars("x") || _ <- [1, 2, 3]],
    ok = recorder:stop(Device),
    ?assertMatch({ok, #{total := 3, sent := 0, dropped := 3, held := 0}}, batch_io:stop()).

%% Serving

group_leader(Config) ->
    Device = start(Config, #{flush_ms => 1000}),
    ok = recorder:answers(Device, #{{get_line, unicode, "> "} => "typed\n"}),
    Test = self(),
    {_, Monitor} =
        spawn_monitor(fun() ->
                              true = group_leader(whereis(batch_io), self()),
                              ok = io:format("~p ", [1]),
                              ok = batch_io:format("~p ", [2]),
                              ok = io:put_chars("3 "),
                              Test ! {line, io:get_line("> ")},
                              Test ! {options, io:getopts()},
                              ok = io:setopts([{encoding, latin1}]),
                              Test ! {options, io:getopts()},
                              ?assertError(badarg, io:format("~s", [[1024]])),
                              ok = io:format("4")
                      end),
    receive {'DOWN', Monitor, process, _, Reason} -> ?assertEqual(normal, Reason) end,
    ok = batch_io:flush(),
    ?assertEqual(~"1 2 3 4", recorder:text(Device)),
    receive {line, Line} -> ?assertEqual("typed\n", Line) end,
    ?assertEqual([[{encoding, unicode}], [{encoding, latin1}]],
                 [receive {options, Options} -> Options end || _ <- [1, 2]]).

%% A prompt before a question is there when the question is asked.
input_comes_after_output(Config) ->
    Device = start(Config, #{flush_ms => 60_000}),
    ok = recorder:answers(Device, #{{get_chars, unicode, "", 1} => eof}),
    ok = batch_io:format("question"),
    ?assertEqual(eof, io:get_chars(batch_io, "", 1)),
    ok = io:format(batch_io, "~ts", ["more"]),
    ok = batch_io:flush(),
    ?assertMatch([{put_chars, unicode, ~"question"}, {answered, _}, {put_chars, unicode, ~"more"}],
                 recorder:requests(Device)).

%% A shell reads line after line.
answered_request_leaves_no_monitor(Config) ->
    Device = start(Config, #{}),
    ok = recorder:answers(Device, #{{get_chars, unicode, "", 1} => eof}),
    Monitors = fun() -> length(element(2, process_info(whereis(batch_io), monitors))) end,
    Before = Monitors(),
    [?assertEqual(eof, io:get_chars(batch_io, "", 1)) || _ <- lists:seq(1, 100)],
    ok = until(fun() -> Monitors() =:= Before end).

input_ends_with_the_device(Config) ->
    Device = held(Config, #{}),
    Reader = fun(Client) -> Client ! {read, io:get_line(batch_io, "")} end,
    Test = self(),
    _ = spawn_link(fun() -> Reader(Test) end),
    receive {read, _} -> error(read_from_silence) after 50 -> ok end,
    ok = recorder:stop(Device),
    receive {read, Read} -> ?assertEqual({error, terminated}, Read) after 5000 -> error(reads_still) end,
    ?assertEqual({error, terminated}, io:get_line(batch_io, "")).

several_requests(Config) ->
    Device = start(Config, #{}),
    ok = recorder:answers(Device, #{{requests, [{put_chars, unicode, ~"c"}, getopts]} => opts}),
    ?assertEqual(ok, io:request(batch_io, {requests, [{put_chars, unicode, "a"}, {put_chars, "b"}]})),
    ?assertEqual(opts, request({requests, [{put_chars, unicode, "c"}, getopts]})),
    ?assertMatch({error, _}, request({requests, [{put_chars, unicode, "d"}, {put_chars, unicode, [-1]},
                                                 {put_chars, unicode, "e"}]})),
    ok = batch_io:flush(),
    ?assertEqual(~"abd", recorder:text(Device)).

encodings(Config) ->
    Device = start(Config, #{}),
    [?assertEqual(ok, request(Request))
     || Request <- [{put_chars, latin1, <<233>>}, {put_chars, unicode, <<233/utf8>>}, {put_chars, <<233>>},
                    {put_chars, latin1, io_lib, format, ["~s", [<<233>>]]}, {put_chars, io_lib, format, ["~p", [1]]}]],
    ok = batch_io:flush(),
    ?assertEqual(<<233/utf8, 233/utf8, 233/utf8, 233/utf8, "1">>, recorder:text(Device)).

%% Nobody else notices.
bad_requests(Config) ->
    Device = start(Config, #{}),
    Server = whereis(batch_io),
    [?assertMatch({error, _}, request(Request))
     || Request <- [{put_chars, unicode, [-1]}, {put_chars, latin1, [1024, b]}, {put_chars, other, "a"},
                    {put_chars, unicode, erlang, exit, [kill]}, {put_chars, unicode, no_such_module, f, []},
                    {put_chars, unicode, erlang, throw, [a]}, {put_chars, unicode, io_lib, format, ["~p", []]},
                    {put_chars, unicode, io_lib, format, [a, b]}]],
    Server ! {io_request, none, none, getopts},
    Server ! nonsense,
    ok = gen_server:cast(Server, nonsense),
    {error, request} = gen_server:call(Server, nonsense),
    ok = io:put_chars(batch_io, "good"),
    ok = batch_io:flush(),
    ?assertEqual({Server, ~"good"}, {whereis(batch_io), recorder:text(Device)}).

%% OTP's files end by such a list, and with them what others have written.
no_list_of_requests_is_refused(Config) ->
    Device = start(Config, #{}),
    Before = processes_of_it(),
    Put = {put_chars, unicode, "x"},
    [?assertEqual({Requests, {error, request}}, {Requests, request({requests, Requests})})
     || Requests <- [[Put | improper], [Put | Put], not_a_list, #{}, [Put, {requests, [Put | improper]}], [{requests, {}}, getopts],
                     [{get_line, unicode, ""}, {requests, [Put | improper]}]]],
    ?assertEqual(ok, request({requests, [Put, {requests, [{requests, []}, Put, {requests, [Put]}]}, Put]})),
    ok = batch_io:flush(),
    ?assertEqual({Before, ~"xxxx"}, {processes_of_it(), recorder:text(Device)}).

%% Whatever else is asked with them. The file would end, and with it what others write.
options_that_end_a_device_are_refused(Config) ->
    {ok, File} = file:open(filename:join(proplists:get_value(priv_dir, Config), "options"), [write, read]),
    _ = start([{device, File} | Config], #{}),
    [?assertEqual({Request, {error, request}}, {Request, request(Request)})
     || Options <- [[{encoding, latin1} | improper], [binary | improper], improper, [{binary, junk}]],
        Request <- [{setopts, Options}, {requests, [getopts, {setopts, Options}]},
                    {requests, [{requests, [{setopts, Options}]}, getopts]}]],
    [?assertEqual(ok, request({setopts, Options})) || Options <- [[], [binary], [{binary, false}, {encoding, unicode}]]],
    ?assertMatch({error, _}, request({setopts, [unknown]})),
    ?assert(is_process_alive(File)),
    ok = file:close(File).

%% The file would end by a character that it cannot write, were it not asked anew.
encoding_set_among_others(Config) ->
    Name = filename:join(proplists:get_value(priv_dir, Config), "encoding"),
    {ok, File} = file:open(Name, [write, {encoding, unicode}]),
    _ = start(Config, #{leader => File}),
    ok = request({requests, [{setopts, [{encoding, latin1}]}]}),
    ok = io:put_chars(batch_io, "\x{400}"),
    ok = batch_io:flush(),
    ?assertEqual({ok, ~"\\x{400}"}, file:read_file(Name)).

%% The file would end, and with it what others write.
requests_are_judged_before_one_is_passed(Config) ->
    _ = start(Config, #{}),
    Put = fun(Chars) -> {put_chars, unicode, Chars} end,
    Bad = [a | b],
    Cyrillic = <<1024/utf8>>,
    [begin
         ok = batch_io:set_options(#{format => Who}),
         ?assertEqual({Requests, Encoding, Who, Answer, {ok, <<Text/binary, "kept">>}},
                      {Requests, Encoding, Who, Given, Written})
     end || {Encoding, Requests, Answer, Text} <-
                [{unicode, [getopts, Put(Bad)], {error, Put(Bad)}, ~""},
                 {unicode, [getopts, {put_chars, junk, "x"}], {error, request}, ~""},
                 {unicode, [Put("x"), {requests, [getopts, {requests, [Put([-1])]}]}], {error, Put([-1])}, ~""},
                 {unicode, [getopts, {put_chars, unicode, io_lib, format, ["~p", []]}], {error, format}, ~""},
                 {latin1, [getopts, {put_chars, latin1, [1024]}], {error, {put_chars, latin1, [1024]}}, ~""},
                 {latin1, [{setopts, []}, Put([1024, 233])], ok, <<"\\x{400}", 233>>},
                 {latin1, [{setopts, []}, {put_chars, unicode, io_lib, format, ["~ts", [[1024]]]}], ok, ~"\\x{400}"},
                 {latin1, [{setopts, []}, {requests, [Put([1024])]}, {put_chars, <<233>>}], ok, <<"\\x{400}", 233>>},
                 {unicode, [{setopts, [{encoding, latin1}]}, Put([1024])], ok, ~"\\x{400}"},
                 {unicode, [Put([1024]), {setopts, [binary, latin1, unicode]}, Put([1024])], ok, <<Cyrillic/binary, "\\x{400}">>},
                 {latin1, [Put([1024]), {setopts, [unicode]}, {setopts, [binary]}, Put([1024])], ok, <<"\\x{400}", Cyrillic/binary>>},
                 {latin1, [{setopts, [{encoding, utf8}]}, Put([1024])], ok, Cyrillic},
                 {unicode, [Put("a"), getopts, {requests, []}], ok, ~"a"},
                 {unicode, [{requests, [getopts, Put(~"b")]}, Put("c")], ok, ~"bc"}],
            Who <- [caller, device],
            {Given, Written} <- [on_file(Config, Encoding, {requests, Requests})]].

%% What the request is answered by a new file, and what the file has when something was written after it.
on_file(Config, Encoding, Request) ->
    Name = filename:join(proplists:get_value(priv_dir, Config), "requests"),
    _ = file:delete(Name),
    {ok, File} = file:open(Name, [read, write, {encoding, Encoding}]),
    ok = batch_io:set_options(#{leader => File}),
    Answer = request(Request),
    ok = batch_io:put_chars("kept"),
    Flushed = batch_io:flush(),
    ?assertEqual({Request, ok, true}, {Request, Flushed, is_process_alive(File)}),
    ok = file:close(File),
    {Answer, file:read_file(Name)}.

%% By the library, and not by the device again.
function_of_passed_requests_is_called_once(Config) ->
    _ = start(Config, #{}),
    Told = {put_chars, unicode, ?MODULE, tells, [self()]},
    ?assertEqual({ok, {ok, ~"toldkept"}}, on_file(Config, unicode, {requests, [{setopts, []}, Told]})),
    ?assertEqual({messages, [called]}, process_info(self(), messages)),
    receive called -> ok end.

tells(Test) ->
    Test ! called,
    "told".

%% The file would end, and with it what others write.
reading_that_ends_a_device_is_refused(Config) ->
    _ = start(Config, #{}),
    Many = lists:duplicate(254, a),
    [?assertEqual({Request, Encoding, {error, request}}, {Request, Encoding, element(1, on_file(Config, Encoding, Request))})
     || Bad <- [{get_until, unicode, "", a, b, c}, {get_until, "", a, b, c}, {get_until, other, "", io_lib, collect_line, []},
                {get_until, unicode, "", io_lib, collect_line, [a | b]}, {get_until, unicode, "", "io_lib", collect_line, []},
                {get_until, unicode, "", io_lib, {}, []}, {get_until, unicode, "", ?MODULE, reads_nothing, Many},
                {get_line, other, ""}, {get_chars, other, "", 0}, {get_chars, unicode, "", 1 bsl 70}, {get_chars, "", 1 bsl 62}],
        Request <- [Bad, {requests, [getopts, Bad]}],
        Encoding <- [latin1, unicode]],
    [?assertEqual({Request, eof, {ok, ~"kept"}}, list_to_tuple([Request | tuple_to_list(on_file(Config, unicode, Request))]))
     || Request <- [{get_until, unicode, "", ?MODULE, reads_nothing, []}, {get_until, "", ?MODULE, reads_nothing, []},
                    {get_line, unicode, ""}, {get_line, ""}, {get_chars, latin1, "", 3}, {get_chars, "", 3}]],
    ?assertMatch({{error, get_chars}, _}, on_file(Config, unicode, {get_chars, unicode, "", -1})).

reads_nothing(_, _) -> {done, eof, []}.

no_request_ends_a_file(Config) ->
    _ = start(Config, #{}),
    Before = processes_of_it(),
    Law = ?FORALL({Encoding, Request}, {proper_types:oneof([latin1, unicode]), any_request()},
                  begin
                      {_, {ok, _}} = on_file(Config, Encoding, Request),
                      processes_of_it() =:= Before
                  end),
    ?assertEqual(true, proper:counterexample(Law, [{numtests, 1000}, quiet, {max_size, 15}])),
    ?assertMatch(#{dropped := 0, held := 0, errors := 0}, batch_io:info()).

any_request_is_answered(Config) ->
    _ = start(Config, #{}),
    Before = processes_of_it(),
    Law = ?FORALL(Request, any_request(),
                  begin
                      ok = batch_io:put_chars("kept"),
                      _ = request(Request),
                      ok =:= batch_io:flush() andalso processes_of_it() =:= Before
                  end),
    ?assertEqual(true, proper:counterexample(Law, [{numtests, 1000}, quiet, {max_size, 15}])),
    ?assertMatch(#{dropped := 0, held := 0, errors := 0}, batch_io:info()).

any_request() ->
    Any = proper_types:any(),
    Chars = proper_types:oneof([Any, "text", <<"text">>, [16#D800], ["a" | b], [1024, 233]]),
    Encoding = proper_types:oneof([latin1, unicode, Any]),
    Number = proper_types:oneof([Any, 3, 1 bsl 70]),
    Options = proper_types:oneof([Any, [], [latin1], [{encoding, unicode}], [{binary, false}, {encoding, utf8}], [{encoding, utf16}]]),
    One = proper_types:oneof([Any, {}, {put_chars, Any, Chars}, {put_chars, unicode, Chars}, {put_chars, Chars},
                              {put_chars, unicode, io_lib, format, [Any, Any]}, {put_chars, unicode, io_lib, Any, Any},
                              {put_chars, Any, Any, Any, Any}, {put_chars, erlang, exit, [Any]}, {setopts, Options},
                              {get_line, Encoding, Any}, {get_line, Any}, {get_chars, Encoding, Any, Number}, {get_chars, Any, Number},
                              get_until(Encoding), {get_geometry, Any}, getopts, {requests, []}, {requests, Any}]),
    proper_types:oneof([One, {requests, proper_types:list(One)},
                        ?LET({Ones, Tail}, {proper_types:list(One), Any}, {requests, Ones ++ Tail})]).

%% Without functions that fail: a file ends by them, and nobody but the file can know it.
get_until(Encoding) ->
    Any = proper_types:any(),
    ?SUCHTHAT({get_until, _, _, Module, Function, Arguments},
              {get_until, Encoding, Any, proper_types:oneof([?MODULE, Any]), proper_types:oneof([reads_nothing, Any]),
               proper_types:oneof([[], Any])},
              {Module, Function, Arguments} =:= {?MODULE, reads_nothing, []}
                  orelse not (is_atom(Module) andalso is_atom(Function) andalso is_proper(Arguments))).

is_proper(Term) when length(Term) >= 0 -> true;
is_proper(_) -> false.

%% What is held by the writer would go with it.
junk_harms_nobody(Config) ->
    Device = start(Config, #{slots => 1000}),
    Before = processes_of_it(),
    ok = recorder:hold(Device),
    [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 100)],
    [begin
         ?assertEqual({error, request}, gen_server:call(Process, junk)),
         [ok = gen_server:cast(Process, Junk) || Junk <- [junk, {pass, a, b, c}, {pass, make_ref(), b, c}, {pass, a, self(), c}]],
         [Process ! Junk || Junk <- [junk, {room, a, b, c}, {room, make_ref(), a, b}, {room, make_ref(), 1, 2, c},
                                     {room, a, b, c, self()}, {shed, none, 1, 2}, {shed, make_ref(), a, b},
                                     {io_reply, make_ref(), ok}, {io_reply, a, b}, {io_request, self(), make_ref(), getopts},
                                     {passed, a, b}, {'DOWN', make_ref(), process, self(), killed},
                                     {'EXIT', self(), killed}, {timeout, make_ref(), x}, {make_ref(), ok}]]
     end || Process <- [batch_io, batch_io_writer]],
    ?assertEqual({error, {not_a_map, [{slots, 1}]}}, batch_io:set_options([{slots, 1}])),
    ?assertEqual({error, {not_a_map, junk}}, batch_io:start_link(junk)),
    ?assertEqual("the options must be a map, not junk", batch_io:format_error({not_a_map, junk})),
    ok = recorder:release(Device),
    ok = batch_io:flush(),
    ?assertEqual({Before, binary:copy(~"x", 100)}, {processes_of_it(), recorder:text(Device)}),
    ?assertMatch(#{sent := 100, dropped := 0}, batch_io:info()).

processes_of_it() -> [whereis(Name) || Name <- [batch_io_sup, batch_io, batch_io_writer]].

%% Others wait for it, but not for ever, and each gets its answers in order.
function_that_does_not_return(Config) ->
    Device = start(Config, #{}),
    Before = processes_of_it(),
    Self = self(),
    _ = spawn_link(fun() -> Self ! {hung, request({put_chars, unicode, timer, sleep, [infinity]}, 10_000)} end),
    timer:sleep(50),
    ?assertEqual(ok, request({put_chars, unicode, "after"}, 10_000)),
    ?assertEqual({error, sleep}, receive {hung, Answer} -> Answer after 10_000 -> still_waits end),
    ok = batch_io:flush(),
    ?assertEqual({Before, ~"after"}, {processes_of_it(), recorder:text(Device)}).

%% Each of them alone would have the time.
functions_share_their_time(Config) ->
    Device = start(Config, #{}),
    Self = self(),
    Slow = {put_chars, unicode, ?MODULE, slow, []},
    _ = spawn_link(fun() -> Self ! {slow, request({requests, [Slow, {requests, [Slow, Slow]}, Slow]}, 10_000)} end),
    timer:sleep(50),
    ?assertEqual(ok, request({put_chars, unicode, "after"}, 5_500)),
    ?assertEqual({error, slow}, receive {slow, Answer} -> Answer after 1_000 -> still_waits end),
    ok = batch_io:flush(),
    ?assertEqual([~"", ~"slowslow"], lists:sort(binary:split(recorder:text(Device), ~"after"))). % in any order

slow() ->
    ok = timer:sleep(2_000),
    "slow".

%% By a signal, which no `try' sees.
function_that_ends_its_caller(Config) ->
    Device = start(Config, #{}),
    Before = processes_of_it(),
    [?assertEqual({Does, {error, does}}, {Does, request({put_chars, unicode, ?MODULE, does, [Does]})})
     || Does <- [kill_itself, link_to_one_that_dies, exit, forge_a_result]],
    ?assertEqual(ok, request({put_chars, unicode, ?MODULE, does, [take_all_messages]})),
    ok = batch_io:flush(),
    ?assertEqual({Before, ~"taken"}, {processes_of_it(), recorder:text(Device)}).

does(kill_itself) ->
    exit(self(), kill),
    receive never -> ok end;
does(link_to_one_that_dies) ->
    _ = spawn_link(fun() -> exit(planned) end),
    receive never -> ok end;
does(exit) -> exit(normal);
does(forge_a_result) ->
    exit(self(), {batch_io_protocol, junk}),
    receive never -> ok end;
does(take_all_messages) -> receive _ -> does(take_all_messages) after 0 -> "taken" end.

%% Though the device never answers what they asked.
killed_clients_leave_nothing(Config) ->
    _ = held(Config, #{}),
    Clients = [spawn(fun() -> io:get_line(batch_io, "") end) || _ <- lists:seq(1, 50)],
    ok = until(fun() -> monitors() =:= 100 end),
    [exit(Client, kill) || Client <- Clients],
    ok = until(fun() -> monitors() =:= 0 end),
    ?assertEqual(0, map_size(sys:get_state(batch_io))).

monitors() ->
    {monitors, Monitors} = process_info(whereis(batch_io), monitors),
    length(Monitors).

server_is_full(Config) ->
    _ = held(Config, #{slots => 3, drop => newest}),
    [?assertEqual(ok, io:put_chars(batch_io, "x")) || _ <- lists:seq(1, 10)],
    ?assertMatch(#{held := 3, dropped := 7}, batch_io:info()).

request(Request) -> request(Request, 5_000).

request(Request, Ms) ->
    Ref = make_ref(),
    whereis(batch_io) ! {io_request, self(), Ref, Request},
    receive {io_reply, Ref, Reply} -> Reply after Ms -> error(no_reply) end.

%% Options

bad_options(Config) ->
    Dead = recorder:start(),
    ok = recorder:stop(Dead),
    Bad = [{slots, 0}, {slots, -1}, {slots, 3_000_000}, {slots, 1.5}, {bytes, 0}, {bytes, 1 bsl 36}, {page_size, 0},
           {page_size, none}, {flush_ms, -1}, {drop, random}, {drop, {block, -1}}, {drop, {block, infinity}},
           {format, maybe_}, {leader, 17}, {leader, batch_io}, {leader, batch_io_writer}, {leader, batch_io_sup}],
    [?assertMatch({error, {bad_option, Name, Value}}, batch_io:start(#{Name => Value})) || {Name, Value} <- Bad],
    ?assertEqual({error, {dead_leader, Dead}}, batch_io:start(#{leader => Dead})),
    ?assertEqual({error, {dead_leader, nobody}}, batch_io:start_link(#{leader => nobody})),
    ?assertEqual({error, {unknown_option, page}}, batch_io:start(#{page => 1})),
    ?assertEqual({error, not_started}, batch_io:set_options(#{slots => 1})),
    _ = start(Config, #{}),
    Before = batch_io:options(),
    [?assertMatch({error, _}, batch_io:set_options(#{flush_ms => 7, Name => Value}))
     || {Name, Value} <- [{leader, whereis(batch_io)}, {leader, whereis(batch_io_writer)}, {leader, Dead} | Bad]],
    ?assertEqual(Before, batch_io:options()),
    [?assertEqual([], [Line || Line <- string:split(batch_io:format_error(Problem), "\n", all), length(Line) < 20])
     || Problem <- [{bad_option, Name, Value} || {Name, Value} <- Bad]
            ++ [{dead_leader, Dead}, {unknown_option, page}]].

bad_times(Config) ->
    _ = start(Config, #{}),
    [?assertError(function_clause, batch_io:flush(Ms)) || Ms <- [-1, soon, 1.5, 1 bsl 40]],
    ok = batch_io:flush(infinity),
    ok = batch_io:flush(1 bsl 32 - 1).

changed_options(Config) ->
    _ = held(Config, #{slots => 100, page_size => 1}),
    [ok = batch_io:put_chars("x") || _ <- lists:seq(1, 10)],
    ok = batch_io:set_options(#{slots => 5}),
    ok = batch_io:put_chars("y"),
    ?assertMatch(#{held := 10, dropped := 1}, batch_io:info()),
    Second = recorder:start(),
    ok = batch_io:set_options(#{slots => 100, leader => Second, page_size => 1000}),
    ok = until(fun() -> maps:get(sent, batch_io:info()) =:= 8 end),
    ?assertMatch(#{held := 2, in_flight := 2}, batch_io:info()),
    ?assertMatch({~"xxxxxxxx", 1}, without_lines(Second)),
    ok = recorder:stop(Second).

environment(Config) ->
    ok = application:set_env([{batch_io, [{slots, 77}, {leader, proplists:get_value(device, Config)}]}]),
    ok = batch_io:start(#{page_size => 99}),
    ?assertMatch(#{slots := 77, page_size := 99}, batch_io:options()),
    {ok, _} = batch_io:stop(),
    ok = application:start(batch_io),
    ok = application:stop(batch_io),
    ok = application:set_env(batch_io, slots, none),
    ?assertMatch({error, _}, batch_io:start(#{})),
    [ok = application:unset_env(batch_io, Name) || Name <- [slots, leader]].

%% Those of a call of start/1 are not those of a later start, and those of a refused call are no one's.
options_end_with_the_application(Config) ->
    _ = start(Config, #{slots => 77}),
    ?assertEqual({error, {already_started, batch_io}}, batch_io:start(#{slots => 7})),
    ?assertMatch(#{slots := 77}, batch_io:options()),
    {ok, _} = batch_io:stop(),
    ?assertEqual(undefined, batch_io_buffer:latest(batch_io_writer)),
    ok = application:start(batch_io),
    ?assertMatch(#{slots := 40_000, leader := user}, batch_io:options()),
    {ok, _} = batch_io:stop(),
    true = register(batch_io_sup, self()),
    ?assertMatch({error, _}, batch_io:start(#{slots => 7})),
    true = unregister(batch_io_sup),
    ?assertEqual(undefined, application:get_env(batch_io, given)).

%% The one that is told so has its options.
one_of_several_starts(Config) ->
    Device = proplists:get_value(device, Config),
    [begin
         Starters = [spawn_monitor(fun() ->
                                           receive go -> ok end,
                                           exit({Slots, batch_io:start(#{leader => Device, slots => Slots})})
                                   end) || Slots <- lists:seq(1, 4)],
         [Pid ! go || {Pid, _} <- Starters],
         Results = [receive {'DOWN', Monitor, process, Pid, Result} -> Result end || {Pid, Monitor} <- Starters],
         {[{Slots, ok}], Refused} = lists:partition(fun({_, Result}) -> Result =:= ok end, Results),
         ?assertMatch(#{slots := Slots}, batch_io:options()),
         ?assertEqual([{error, {already_started, batch_io}}], lists:usort([Result || {_, Result} <- Refused])),
         {ok, _} = batch_io:stop()
     end || _ <- lists:seq(1, 50)].

nothing_is_left_of_a_failed_start(_) ->
    process_flag(trap_exit, true),
    true = register(batch_io, self()),
    ?assertMatch({error, _}, batch_io:start_link(#{})),
    true = unregister(batch_io),
    ?assertEqual({not_started, undefined}, {batch_io:info(), batch_io_buffer:latest(batch_io_writer)}).

started_below_a_supervisor(Config) ->
    Device = proplists:get_value(device, Config),
    Test = self(),
    {Owner, Monitor} =
        spawn_monitor(fun() ->
                              {ok, Supervisor} = batch_io:start_link(#{leader => Device}),
                              ok = batch_io:put_chars("x"),
                              Test ! {self(), Supervisor},
                              receive after infinity -> ok end
                      end),
    Supervisor = receive {Owner, Pid} -> Pid end,
    Gone = monitor(process, Supervisor),
    true = exit(Owner, shutdown),
    receive {'DOWN', Monitor, process, Owner, _} -> ok end,
    receive {'DOWN', Gone, process, Supervisor, _} -> ok end,
    ?assertEqual({not_started, ~"x"}, {batch_io:info(), recorder:text(Device)}).

%% Help

%% A device that answers nothing more after it was asked for its encoding.
held(Config, Options) ->
    Device = start(Config, Options),
    ok = batch_io:flush(),
    ok = recorder:hold(Device),
    Device.

each(Number, Work) ->
    Workers = [spawn_monitor(fun() -> Work(Nth) end) || Nth <- lists:seq(1, Number)],
    lists:foreach(fun({Pid, Monitor}) -> receive {'DOWN', Monitor, process, Pid, Reason} -> normal = Reason end end,
                  Workers).

by_client(Text) ->
    Pairs = [list_to_tuple([binary_to_integer(Word) || Word <- binary:split(Line, ~" ")])
             || Line <- binary:split(Text, ~"\n", [global, trim])],
    [{Client, [N || {C, N} <- Pairs, C =:= Client]} || Client <- lists:usort([C || {C, _} <- Pairs])].

%% The text without the lines on drops, and how many those count.
without_lines(Device) ->
    Line = "batch_io: (?|(1) message was|([0-9]+) messages were) dropped\n",
    Text = recorder:text(Device),
    Told = case re:run(Text, Line, [global, {capture, [1], binary}]) of
               {match, Numbers} -> lists:sum([binary_to_integer(N) || [N] <- Numbers]);
               nomatch -> 0
           end,
    {re:replace(Text, Line, "", [global, {return, binary}]), Told}.

until(Condition) -> until(Condition, erlang:monotonic_time(millisecond) + 10_000).

until(Condition, Deadline) ->
    case Condition() of
        true -> ok;
        false ->
            ?assert(erlang:monotonic_time(millisecond) < Deadline),
            ok = timer:sleep(5),
            until(Condition, Deadline)
    end.

%% The modules are loaded, batch_io.app is not found.
start_without_its_file(_) ->
    Paths = [Path || Path <- code:get_path(), filelib:is_file(filename:join(Path, "batch_io.app"))],
    _ = application:unload(batch_io),
    [true = code:del_path(Path) || Path <- Paths],
    try ?assertMatch({error, {_, "batch_io.app"}}, batch_io:start())
    after ok = code:add_pathsa(Paths)
    end,
    ok = batch_io:start(),
    {ok, _} = batch_io:stop().

%% Laws

laws_on_each_release(_) ->
    Paths = [filename:dirname(code:which(Module)) || Module <- [proper, ?MODULE, batch_io]],
    Releases = ertslab_inventory:releases(),
    ?assertMatch([_ | _], Releases),
    [?assertEqual({Release, [ok, ok, ok, ok]}, {Release, laws(ertslab_inventory:find(~"stock", Release), lists:usort(Paths))})
     || Release <- Releases],
    {comment, lists:concat(["on ", length(Releases), " releases"])}.

laws(VM, Paths) ->
    {ok, Running} = ertslab_vm:start(VM, ["-kernel", "logger_level", "none", "-pa" | Paths], []),
    try [holds(Running, Property, Cases)
         || {Property, Cases} <- [{prop_text_is_that_of_io, 500}, {prop_sure_means_that_io_takes_it, 500},
                                  {prop_laws, 60}, {prop_laws_with_restarts, 8}]]
    after ertslab_vm:stop(Running)
    end.

holds(Running, Property, Cases) ->
    Options = [{numtests, Cases}, quiet, long_result],
    case ertslab_vm:call(Running, proper, quickcheck, [prop_batch_io:Property(), Options], 120_000) of
        {ok, true} -> ok;
        {_, Counterexample} -> {Property, Counterexample}
    end.
