%% As a handler of the logger: what is logged arrives as OTP's own handler writes it, in order, and what does not is counted
%% and told; whatever becomes of the device, who logs goes on.
-module(batch_io_handler_SUITE).

-include_lib("kernel/include/logger.hrl").
-include_lib("stdlib/include/assert.hrl").
-include_lib("proper/include/proper.hrl").

-compile([export_all, nowarn_export_all]).

all() ->
    [writes_what_otp_writes, formatter_writes_what_otp_writes, level_and_filters, metadata, wrong_config_is_refused, pipe_is_refused,
     pipe_by_another_name_is_refused, standard_output_is_taken,
     is_there_at_boot,
     options_change_while_it_runs, file_that_is_moved_is_made_anew, file_that_is_moved_while_it_is_opened, formatter_that_fails,
     any_metadata_leaves_the_handler, any_process_dictionary_leaves_the_handler, error_inside_is_a_dropped_event, any_formatter_leaves_the_handler,
     order_of_64_writers, drops_are_told_by_the_formatter, hanging_device_blocks_nobody, hanging_device_blocks_as_asked,
     removed_before_a_hanging_device, device_that_dies, disk_that_is_full, writer_is_killed, file_process_is_killed,
     writer_that_fails_waits_for_nobody, logger_waits_for_no_room, writer_is_terminated, file_dies_while_removed, gives_up,
     gives_up_and_is_told_of, two_at_once, names_that_begin_alike, file_stays_where_it_was, change_without_a_writer,
     change_with_a_late_writer, nothing_is_left_of_a_failed_start].

%% Of what is logged here nothing goes elsewhere.
init_per_testcase(_, Config) ->
    Device = recorder:start(),
    ok = logger:update_primary_config(#{level => info}),
    [{device, Device}, {file, filename:join(proplists:get_value(priv_dir, Config), "log." ++ unique())} | Config].

end_per_testcase(_, Config) ->
    _ = [logger:remove_handler(Id) || Id <- [ours, ours_file, other, otp]],
    ok = logger:update_primary_config(#{level => notice}),
    exit(proplists:get_value(device, Config), kill),
    [] = [Id || {Id, _, _, _} <- supervisor:which_children(logger_sup), lists:prefix("batch_io", atom_to_list(Id))].

unique() -> integer_to_list(erlang:unique_integer([positive])).

%% Only what this test logs, so that no report of OTP's is counted.
add(Config) -> add(Config, #{}).

add(Config, More) ->
    Handler = #{filters => [{only_ours, {fun ?MODULE:is_ours/2, none}}], filter_default => stop,
                formatter => {logger_formatter, #{template => [msg, "\n"], single_line => true}}, config => Config},
    logger:add_handler(ours, batch_io_handler, maps:merge(Handler, More)).

is_ours(#{meta := #{ours := true}} = Event, _) -> Event;
is_ours(_, _) -> stop.

log(Format, Arguments) -> ?LOG_INFO(Format, Arguments, #{ours => true}).

to_device(Config) -> #{type => {device, proplists:get_value(device, Config)}, flush_ms => 2}.

to_file(Config) -> #{type => {file, proplists:get_value(file, Config)}, flush_ms => 2}.

recorded(Config) -> string:lexemes(recorder:text(proplists:get_value(device, Config)), "\n").

lines(Config) -> {ok, Text} = file:read_file(proplists:get_value(file, Config)), binary:split(Text, ~"\n", [global, trim]).

%% What is written

writes_what_otp_writes(Config) ->
    Template = [time, " ", level, " ", pid, " ", mfa, ":", line, " ", msg, "\n"],
    Formatter = {logger_formatter, #{template => Template, legacy_header => false}},
    File = proplists:get_value(file, Config),
    ok = add(to_file(Config), #{formatter => Formatter}),
    ok = logger:add_handler(otp, logger_std_h,
                            #{filters => [{only_ours, {fun ?MODULE:is_ours/2, none}}], filter_default => stop,
                              formatter => Formatter, config => #{file => File ++ ".otp", burst_limit_enable => false}}),
    [?LOG(Level, Format, Arguments, #{ours => true})
     || {Level, Format, Arguments} <- [{error, "~p ~ts", [{a, ~"b"}, "\x{400}\x{20ac}"]}, {info, "two~nlines", []}]],
    ?LOG_WARNING("text", #{ours => true}),
    ?LOG_NOTICE(#{a => report, of_things => [1, 2]}, #{ours => true}),
    ok = batch_io_handler:filesync(ours),
    ok = logger_std_h:filesync(otp),
    {ok, Written} = file:read_file(File ++ ".otp"),
    ?assertNotEqual(~"", Written),
    ?assertEqual({ok, Written}, file:read_file(File)).

formatter_writes_what_otp_writes(_) ->
    ?assert(proper:quickcheck(prop_batch_io_formatter:prop_writes_what_otp_writes(), [{numtests, 2000}, quiet, {max_size, 20}])).

level_and_filters(Config) ->
    ok = add(to_device(Config), #{level => warning}),
    log("too low", []),
    ?LOG_ERROR("high enough", #{ours => true}),
    ?LOG_ERROR("another's", #{}),
    ok = batch_io_handler:filesync(ours),
    ?assertEqual([~"high enough"], recorded(Config)).

metadata(Config) ->
    ok = add(to_device(Config), #{formatter => {logger_formatter, #{template => [request, " ", msg, "\n"]}}}),
    ok = logger:update_process_metadata(#{request => "r1"}),
    log("done", []),
    ok = logger:unset_process_metadata(),
    ok = batch_io_handler:filesync(ours),
    ?assertEqual([~"r1 done"], recorded(Config)).

formatter_that_fails(Config) ->
    ok = add(to_device(Config), #{formatter => {no_such_formatter, #{}}}),
    log("~p", [lost_not]),
    ok = batch_io_handler:filesync(ours),
    ?assertMatch([_], recorded(Config)),
    ?assertNotEqual(nomatch, string:find(recorder:text(proplists:get_value(device, Config)), "lost_not")).

%% Each event is written, whatever its metadata, its report and what becomes of that; and the handler is there for the next.
any_metadata_leaves_the_handler(Config) ->
    Template = [time, " ", level, " ", pid, mfa, file, line, domain, " ", msg, "\n"],
    ok = add(to_device(Config), #{formatter => {logger_formatter, #{template => Template}}}),
    Law = ?FORALL({Level, Message, Meta}, {any_level(), any_message(), any_metadata()}, is_written(Level, Message, Meta, Config)),
    alone(fun() ->
                  ?assertEqual(true, proper:counterexample(Law, [{numtests, 1000}, quiet, {max_size, 15}])),
                  ok = logger:set_handler_config(ours, formatter, {batch_io_formatter, #{template => [time, " ", msg, "\n"]}}),
                  ?assertEqual(true, proper:counterexample(Law, [{numtests, 300}, quiet, {max_size, 15}]))
          end).

%% Nor what the process that logs has in its dictionary, where the library or OTP keep something of their own; also when the buffer is full.
any_process_dictionary_leaves_the_handler(Config) ->
    ok = add((to_device(Config))#{slots => 1, drop => {block, 1}},
             #{formatter => {batch_io_formatter, #{template => [time, " ", msg, "\n"]}}}),
    Entries = [{Key, Value} || Key <- ['$ancestors', '$initial_call', '$batch_io_second', '$callback'],
                               Value <- [[a | b], [self() | logger_sup], junk, [], {a, b, c}, 7, [[]], #{}]],
    alone(fun() ->
                  ok = recorder:hold(proplists:get_value(device, Config)),
                  [?assertMatch({Entry, normal}, {Entry, logged_with(Entry)}) || Entry <- Entries],
                  ?assert(lists:member(ours, logger:get_handler_ids())),
                  #{total := Total, dropped := Dropped} = batch_io_handler:info(ours),
                  ?assertEqual({length(Entries), true}, {Total, Dropped > 0}),
                  ok = recorder:release(proplists:get_value(device, Config))
          end).

%% As one that was changed by hand: the logger would remove it.
error_inside_is_a_dropped_event(Config) ->
    ok = add(to_device(Config), #{}),
    {ok, Handler} = logger_config:get(logger, ours), % with its writer
    ?assertEqual(ok, batch_io_handler:log(#{level => error, msg => {string, "lost"}, meta => #{time => 0}}, maps:remove(id, Handler))),
    ?assertMatch(#{dropped := 1}, batch_io_handler:info(ours)).

logged_with({Key, Value}) ->
    {Pid, Monitor} = spawn_monitor(fun() -> put(Key, Value), log("kept", []) end),
    receive {'DOWN', Monitor, process, Pid, Reason} -> Reason
    after 10_000 -> error({stuck, process_info(Pid, current_stacktrace)})
    end.

%% Other handlers, among them Common Test's own, are not asked to bear what ours has to.
alone(Fun) ->
    Others = [{Id, Level} || #{id := Id, level := Level} <- logger:get_handler_config(), Id =/= ours],
    [ok = logger:set_handler_config(Id, level, none) || {Id, _} <- Others],
    try Fun()
    after [ok = logger:set_handler_config(Id, level, Level) || {Id, Level} <- Others]
    end.

any_formatter_leaves_the_handler(Config) ->
    ok = add(to_device(Config), #{formatter => {?MODULE, #{}}}),
    Keeps = fun(N, Does) -> ?assert(is_written(error, {string, "kept " ++ integer_to_list(N)}, #{does => Does}, Config)) end,
    [alone(fun() -> Keeps(N, Does) end)
     || {N, Does} <- lists:enumerate([{raise, error}, {raise, exit}, {raise, throw}, {return, [16#D800]}, {return, not_chars},
                                      {return, [$a | b]}, {return, <<255, 254>>}, {return, 7}, {return, fun() -> ok end},
                                      {return, [$a, -1]}])],
    Text = recorder:text(proplists:get_value(device, Config)),
    [?assertNotEqual(nomatch, string:find(Text, "kept " ++ integer_to_list(N) ++ "\""), Text) || N <- lists:seq(1, 10)].

%% A formatter.
check_config(_) -> ok.
format(#{meta := #{does := {raise, Class}}}, _) -> erlang:raise(Class, broken, []);
format(#{meta := #{does := {return, Text}}}, _) -> Text.

is_written(Level, Message, Meta, Config) ->
    Before = length(recorded(Config)),
    ok = log_message(Level, Message, maps:put(ours, true, Meta)),
    ok = batch_io_handler:filesync(ours),
    #{dropped := Dropped} = batch_io_handler:info(ours),
    %% Metadata may have line ends, too; and what tells of a dropped line is a line itself.
    {length(recorded(Config)) > Before, Dropped, lists:member(ours, logger:get_handler_ids())} =:= {true, 0, true}.

log_message(Level, {report, Report}, Meta) -> logger:log(Level, Report, Meta);
log_message(Level, {string, Text}, Meta) -> logger:log(Level, Text, Meta);
log_message(Level, {Format, Arguments}, Meta) -> logger:log(Level, Format, Arguments, Meta).

any_level() -> proper_types:oneof([info, notice, warning, error, critical, alert, emergency]).

any_message() ->
    proper_types:oneof([{string, "text"}, {string, [16#D800]}, {string, [a, $b]}, {"~p~n~ts", [proper_types:any(), "x"]}, {"~q", []},
                        {"~s", [[1024]]}, {"~p", []},
                        {report, [{a, proper_types:any()}]}, {report, ?LET(Value, proper_types:any(), #{key => Value})}]).

%% But gl, which logger itself wants to be a process: else the call fails before any handler is asked.
any_metadata() ->
    Key = proper_types:oneof([time, pid, mfa, file, line, domain, report_cb, error_logger]),
    ?LET(Pairs, proper_types:list({Key, any_value()}), maps:from_list(Pairs)).

any_value() ->
    proper_types:oneof([proper_types:any(), -1, 1 bsl 70, -(1 bsl 62), 1.0e300, ?LET(N, proper_types:pos_integer(), N * 1_000_000),
                        fun(_) -> error(broken) end, fun(_) -> {"~p", []} end, fun(_) -> junk end, fun(_) -> {"~p", [a | b]} end,
                        fun(_, _) -> exit(broken) end, fun(_, _) -> [16#D800] end, fun(_, _) -> "two\nlines" end,
                        fun logger:format_report/1]).

two_at_once(Config) ->
    ok = add(to_device(Config)),
    ok = logger:add_handler(other, batch_io_handler, #{config => to_file(Config), level => none}),
    log("one", []),
    ok = batch_io_handler:filesync(ours),
    ?assertMatch({#{total := 1, sent := 1}, #{total := 0}}, {batch_io_handler:info(ours), batch_io_handler:info(other)}),
    ok = logger:remove_handler(ours),
    ?assertEqual(not_started, batch_io_handler:info(ours)),
    ?assertEqual({error, not_started}, batch_io_handler:filesync(ours)),
    [?assertEqual({Id, not_started, {error, not_started}}, {Id, batch_io_handler:info(Id), batch_io_handler:filesync(Id)})
     || Id <- [17, "ours", ~"ours", [], {ours}]].

names_that_begin_alike(Config) ->
    File = proplists:get_value(file, Config),
    Handlers = [{ours, File}, {ours_file, File ++ ".2"}],
    [ok = logger:add_handler(Id, batch_io_handler, #{config => #{type => {file, Name}}, level => none}) || {Id, Name} <- Handlers],
    [ok = logger:remove_handler(Id) || {Id, _} <- Handlers].

%% Whatever folder the node works in when the file is made anew.
file_stays_where_it_was(Config) ->
    {ok, Before} = file:get_cwd(),
    File = proplists:get_value(file, Config),
    ok = file:set_cwd(filename:dirname(File)),
    try
        ok = add((to_file(Config))#{type => {file, filename:basename(File)}})
    after
        ok = file:set_cwd(Before)
    end,
    log("here", []),
    ok = batch_io_handler:filesync(ours),
    ?assertEqual([~"here"], lines(Config)).

%% What it is given

%% Whoever opens one waits until somebody reads it, here the logger; or the file process, if the file becomes one later.
pipe_is_refused(Config) ->
    #{type := {file, File}} = ToFile = to_file(Config),
    [] = os:cmd("mkfifo " ++ File),
    ok = is_refused_as_pipe(File),
    ok = file:delete(File),
    ok = add(ToFile),
    log("before", []),
    ok = batch_io_handler:filesync(ours),
    ok = file:delete(File),
    [] = os:cmd("mkfifo " ++ File),
    ok = timer:sleep(1100), % the file is looked for once a second
    log("into the pipe", []),
    ?assertEqual({error, is_pipe}, batch_io_handler:filesync(ours)),
    ok = file:delete(File),
    log("after", []),
    ok = batch_io_handler:filesync(ours),
    ?assertMatch([_Dropped, ~"after"], lines(Config)).

is_refused_as_pipe(File) ->
    Self = self(),
    _ = spawn_link(fun() -> Self ! {added, add(#{type => {file, File}})} end),
    Added = receive {added, Result} -> Result after 5_000 -> hangs end,
    %% Lets it go on.
    {ok, Reader} = file:open(File, [raw, read, write]),
    ok = file:close(Reader),
    {error, {handler_not_added, {batch_io_handler, Text}}} = Added,
    ?assertNotEqual(nomatch, string:find(Text, "pipe"), Text),
    ok.

%% A name of bytes that are no UTF-8, one that begins as that of a stream of the VM, and a link.
pipe_by_another_name_is_refused(Config) ->
    #{type := {file, File}} = to_file(Config),
    [] = os:cmd("mkfifo " ++ File ++ " $(printf '" ++ File ++ "\\377')"),
    ok = file:make_symlink(File, File ++ ".link"),
    Latin1 = <<(list_to_binary(File))/binary, 255>>,
    [ok = is_refused_as_pipe(Name) || Name <- [Latin1, "/proc/self/fd/../../.." ++ File, File ++ ".link"]].

%% As in a container, whose standard output is a pipe. There the file of the log may be a link.
standard_output_is_taken(Config) ->
    #{type := {file, Link}} = to_file(Config),
    ok = file:make_symlink("/dev/stdout", Link),
    [standard_output_is_taken_as(Name) || Name <- ["/dev/stdout", "/dev/fd/1", Link]].

standard_output_is_taken_as(Name) ->
    Call = io_lib:format("ok = logger:add_handler(own, batch_io_handler, #{config => #{type => {file, \"~ts\"}}}),"
                         " logger:error(\"a line of ~~ts\", [<<\"its own\">>]), ok = batch_io_handler:filesync(own), halt().", [Name]),
    Erl = filename:join([code:root_dir(), "bin", "erl"]),
    Ebin = filename:dirname(code:which(batch_io_handler)),
    Said = os:cmd(lists:flatten(io_lib:format("~ts -noshell -pa ~ts -eval '~ts' 2>&1 | cat", [Erl, Ebin, Call]))),
    ?assertMatch({match, [_, _]}, re:run(Said, "a line of its own", [global]), {Name, Said}). % the default handler writes it, too

wrong_config_is_refused(Config) ->
    [begin
         {error, {handler_not_added, {batch_io_handler, Text}}} = add(Wrong),
         ?assertNotEqual(nomatch, string:find(Text, Word), Text)
     end || {Wrong, Word} <- [{#{type => nowhere}, "standard_io"}, {#{type => {file, "/proc/none/log"}}, "cannot write"},
                              {#{slots => 0}, "slots"}, {#{leader => user}, "no option leader"}, {#{drop => now}, "newest"},
                              {#{type => {device, no_such_process}}, "not alive"}, {none, "a map"}]],
    ?assertMatch({error, {not_found, ours}}, logger:get_handler_config(ours)),
    %% The names of its processes would be no atoms.
    Long = list_to_atom(lists:duplicate(239, $a)),
    {error, {handler_not_added, {batch_io_handler, "the id of the handler" ++ _}}} = logger:add_handler(Long, batch_io_handler, #{}),
    ?assertEqual({not_started, {error, not_started}}, {batch_io_handler:info(Long), batch_io_handler:filesync(Long)}),
    Longest = list_to_atom(lists:duplicate(238, $a)),
    ok = logger:add_handler(Longest, batch_io_handler, #{config => to_file(Config)}),
    ok = logger:remove_handler(Longest),
    ok = add(to_device(Config)).

options_change_while_it_runs(Config) ->
    ok = add((to_device(Config))#{slots => 7}),
    ok = logger:update_handler_config(ours, config, #{flush_ms => 3}),
    {ok, #{config := Updated}} = logger:get_handler_config(ours),
    ?assertMatch(#{slots := 7, flush_ms := 3, drop := newest}, Updated),
    ?assertNot(is_map_key(writer, Updated)),
    ok = logger:set_handler_config(ours, config, #{flush_ms => 4}),
    {ok, #{config := Set}} = logger:get_handler_config(ours),
    ?assertMatch(#{slots := 40_000, flush_ms := 4}, Set),
    ?assertMatch({error, {batch_io_handler, _}}, logger:update_handler_config(ours, config, #{type => standard_io})),
    ?assertMatch({error, {batch_io_handler, _}}, logger:update_handler_config(ours, config, #{drop => later})),
    ok = logger:update_handler_config(ours, #{level => error, config => #{slots => 1}}),
    Device = proplists:get_value(device, Config),
    ok = recorder:hold(Device),
    [?LOG_ERROR("~b", [N], #{ours => true}) || N <- lists:seq(1, 5)],
    ?assertMatch(#{total := 5, held := 1, dropped := 4}, batch_io_handler:info(ours)),
    ok = recorder:release(Device).

%% What is said to be changed is changed.
%% What was refused is not changed when the writer goes on.
change_with_a_late_writer(Config) ->
    ok = add(to_device(Config)),
    Writer = batch_io_handler_config:writer(ours),
    ok = sys:suspend(Writer),
    {error, {batch_io_handler, Text}} = logger:update_handler_config(ours, config, #{slots => 7}),
    ok = sys:resume(Writer),
    ?assertNotEqual(nomatch, string:find(Text, "did not answer in time")),
    _ = sys:get_state(Writer),
    ?assertMatch(#{slots := 40_000}, batch_io_buffer:options(batch_io_buffer:current(Writer))),
    {ok, #{config := #{slots := 40_000}}} = logger:get_handler_config(ours),
    ?assertEqual(ok, logger:update_handler_config(ours, config, #{slots => 8})),
    ?assertMatch(#{slots := 8}, batch_io_buffer:options(batch_io_buffer:current(Writer))).

change_without_a_writer(Config) ->
    ok = add(to_device(Config)),
    ok = give_up(),
    {error, {batch_io_handler, Text}} = logger:update_handler_config(ours, config, #{slots => 7}),
    ?assertNotEqual(nomatch, string:find(Text, "writer is not there")),
    {ok, #{config := #{slots := 40_000}}} = logger:get_handler_config(ours).

%% As sys.config has it, before any application is there, and still there when they have ended.
is_there_at_boot(Config) ->
    File = proplists:get_value(file, Config),
    Handlers = [{handler, default, batch_io_handler, #{config => #{type => {file, File}}}}],
    {ok, Peer, _} = peer:start(#{connection => standard_io,
                                 args => ["-pa", filename:dirname(code:which(batch_io_handler)),
                                          "-kernel", "logger", lists:flatten(io_lib:format("~0p", [Handlers]))]}),
    Monitor = monitor(process, Peer),
    ok = peer:call(Peer, logger, error, ["at boot"]),
    ok = peer:cast(Peer, init, stop, []),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    ?assert(lists:member(~"at boot", lines(Config))).

file_that_is_moved_is_made_anew(Config) ->
    File = proplists:get_value(file, Config),
    ok = add(to_file(Config)),
    log("first", []),
    ok = batch_io_handler:filesync(ours),
    ok = file:rename(File, File ++ ".1"),
    ok = timer:sleep(1100), % the file is looked for once a second
    log("second", []),
    ok = batch_io_handler:filesync(ours),
    ?assertEqual([~"second"], lines(Config)),
    ?assertEqual({ok, ~"first\n"}, file:read_file(File ++ ".1")).

%% It is moved again and again while twenty files are opened.
file_that_is_moved_while_it_is_opened(Config) ->
    Name = proplists:get_value(file, Config),
    Files = [Name ++ "." ++ integer_to_list(N) || N <- lists:seq(1, 20)],
    Opened = [begin
                  Stop = atomics:new(1, []),
                  {Mover, Monitor} = spawn_monitor(fun() -> move(File, Stop) end),
                  {ok, Device} = batch_io_file:start_link(list_to_atom("batch_io_file_moved" ++ unique()), File),
                  ok = io:put_chars(Device, "first\n"),
                  ok = atomics:put(Stop, 1, 1),
                  receive {'DOWN', Monitor, process, Mover, _} -> ok end,
                  Device
              end || File <- Files],
    ok = timer:sleep(1100),
    [ok = io:put_chars(Device, "second\n") || Device <- Opened],
    ?assertEqual([], [File || File <- Files, not filelib:is_regular(File)]),
    [ok = gen_server:stop(Device) || Device <- Opened].

move(File, Stop) ->
    _ = prim_file:rename(File, File ++ ".moved"),
    atomics:get(Stop, 1) =:= 1 orelse move(File, Stop).

%% What goes wrong

order_of_64_writers(Config) ->
    ok = add((to_file(Config))#{drop => {block, 60_000}, slots => 100}),
    ok = by_64(fun(Writer) -> [log("~b ~b", [Writer, N]) || N <- lists:seq(1, 200)] end),
    ok = batch_io_handler:filesync(ours),
    ?assertMatch(#{sent := 12_800, dropped := 0}, batch_io_handler:info(ours)),
    ?assertEqual(maps:from_keys(lists:seq(1, 64), lists:seq(1, 200)), by_writer(lines(Config))).

by_64(Work) ->
    Running = [spawn_monitor(fun() -> Work(Writer) end) || Writer <- lists:seq(1, 64)],
    lists:foreach(fun({Pid, Monitor}) -> receive {'DOWN', Monitor, process, Pid, normal} -> ok end end, Running).

by_writer(Lines) ->
    maps:groups_from_list(fun hd/1, fun lists:last/1,
                          [[binary_to_integer(Number) || Number <- binary:split(Line, ~" ")] || Line <- Lines]).

%% Each that is not there is in the number that a line of the handler's own form tells.
drops_are_told_by_the_formatter(Config) ->
    ok = add((to_device(Config))#{slots => 50}, #{formatter => {logger_formatter, #{template => [level, "|", msg, "\n"]}}}),
    Device = proplists:get_value(device, Config),
    ok = recorder:hold(Device),
    [log("~b", [N]) || N <- lists:seq(1, 100)],
    ok = recorder:release(Device),
    ok = batch_io_handler:filesync(ours),
    #{sent := Sent, dropped := Dropped} = batch_io_handler:info(ours),
    ?assertEqual({100, 50}, {Sent + Dropped, Sent}),
    Told = [Line || <<"warning|", Line/binary>> <- recorded(Config)],
    ?assertEqual(Dropped, lists:sum([binary_to_integer(hd(binary:split(Line, ~" "))) || Line <- Told])),
    ?assertEqual([], lists:usort([lists:last(binary:split(Line, ~" ")) || Line <- Told])
                         -- [~"message of handler ours was dropped", ~"messages of handler ours were dropped"]),
    ?assertEqual(Sent, length([Line || <<"info", _/binary>> = Line <- recorded(Config)])).

hanging_device_blocks_nobody(Config) ->
    ok = add((to_device(Config))#{slots => 10}),
    ok = recorder:hold(proplists:get_value(device, Config)),
    ok = by_64(fun(_) -> [log("x", []) || _ <- lists:seq(1, 100)] end),
    ?assertMatch(#{total := 6400, held := 10, dropped := 6390}, batch_io_handler:info(ours)).

%% Each of them waits once, and the message that would come after it is dropped at its deadline too.
hanging_device_blocks_as_asked(Config) ->
    ok = add((to_device(Config))#{slots => 1, drop => {block, 50}}),
    ok = recorder:hold(proplists:get_value(device, Config)),
    log("first", []),
    {Microseconds, _} = timer:tc(fun() -> log("second", []) end),
    ?assert(Microseconds >= 49_000), % its clock counts whole milliseconds
    ?assertMatch(#{total := 2, dropped := 1}, batch_io_handler:info(ours)).

%% Who logs meanwhile does not wait for the end of the removal.
removed_before_a_hanging_device(Config) ->
    ok = add(to_device(Config)),
    Device = proplists:get_value(device, Config),
    ok = recorder:hold(Device),
    log("held", []),
    {Removing, Monitor} = spawn_monitor(fun() -> ok = logger:remove_handler(ours) end),
    ok = until(fun() -> batch_io_handler:info(ours) =:= not_started end),
    log("lost", []),
    ?assert(is_process_alive(Removing)),
    ok = recorder:release(Device),
    receive {'DOWN', Monitor, process, _, Reason} -> ?assertEqual(normal, Reason) end,
    ?assertEqual([~"held", ~"1 message of handler ours was dropped"], recorded(Config)).

device_that_dies(Config) ->
    First = recorder:start(),
    true = register(log_device, First),
    ok = add((to_device(Config))#{type => {device, log_device}}),
    log("to the first", []),
    ok = batch_io_handler:filesync(ours),
    ok = recorder:stop(First),
    log("between", []),
    Second = recorder:start(),
    true = register(log_device, Second),
    ok = until(fun() -> batch_io_handler:filesync(ours) =:= ok end),
    ?assertEqual(~"between\n", recorder:text(Second)),
    ok = recorder:stop(Second).

%% /dev/full is a disk that has no room; with another file under that name there is some.
disk_that_is_full(Config) ->
    File = proplists:get_value(file, Config),
    ok = file:make_symlink("/dev/full", File),
    ok = add(to_file(Config)),
    [log("~b", [N]) || N <- lists:seq(1, 10)],
    ?assertEqual({error, enospc}, batch_io_handler:filesync(ours)),
    ?assertMatch(#{dropped := 10, sent := 0, errors := Errors} when Errors > 0, batch_io_handler:info(ours)),
    ok = file:delete(File),
    ok = timer:sleep(1100),
    log("there is room", []),
    ok = batch_io_handler:filesync(ours),
    ?assertEqual([~"10 messages of handler ours were dropped", ~"there is room"], lines(Config)).

writer_is_killed(Config) ->
    ok = add(to_file(Config)),
    [begin
         log("~b", [N]),
         N rem 10 =:= 0 andalso kill(batch_io_handler_ours)
     end || N <- lists:seq(1, 50)],
    ok = until(fun() -> batch_io_handler:filesync(ours) =:= ok andalso settled() end),
    counted(50, Config).

file_process_is_killed(Config) ->
    ok = add(to_file(Config)),
    [begin
         log("~b", [N]),
         N rem 10 =:= 0 andalso kill(batch_io_file_ours)
     end || N <- lists:seq(1, 50)],
    ok = until(fun() -> batch_io_handler:filesync(ours) =:= ok andalso settled() end),
    counted(50, Config).

settled() -> maps:get(held, batch_io_handler:info(ours)) =:= 0.

%% All are in the file, in order, or are counted as dropped.
counted(Total, Config) ->
    #{total := Total, sent := Sent} = batch_io_handler:info(ours),
    Numbers = [binary_to_integer(Line) || Line <- lines(Config), string:find(Line, "dropped") =:= nomatch],
    ?assertEqual(lists:usort(Numbers), Numbers),
    ?assert(length(Numbers) >= Sent),
    ?assert(Sent > 0).

kill(Name) ->
    Pid = whereis(Name),
    exit(Pid, kill),
    ok = until(fun() -> is_pid(whereis(Name)) andalso whereis(Name) =/= Pid end),
    true.

%% What OTP logs of it finds the buffer full, and that it waits for is itself.
writer_that_fails_waits_for_nobody(Config) ->
    ok = add((to_device(Config))#{slots => 1, drop => {block, 20_000}}, #{filters => [], filter_default => log}),
    ok = recorder:hold(proplists:get_value(device, Config)),
    ?LOG_ERROR("first", #{}),
    Writer = whereis(batch_io_handler_ours),
    {_, Monitor} = spawn_monitor(fun() -> sys:terminate(Writer, test) end),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    ok = until(fun() -> not lists:member(whereis(batch_io_handler_ours), [Writer, undefined]) end),
    ok = recorder:release(proplists:get_value(device, Config)).

%% What the logger's supervisor says finds the buffer full, and who adds or removes a handler waits for that supervisor.
logger_waits_for_no_room(Config) ->
    ok = add((to_device(Config))#{slots => 1, drop => {block, 60_000}}, of_all()),
    ok = recorder:hold(proplists:get_value(device, Config)),
    ?LOG_ERROR("first", #{}),
    logger_sup ! unexpected,
    ?assertMatch([_ | _], gen_server:call(logger_sup, which_children, 10_000)),
    ?assertMatch(#{dropped := Dropped} when Dropped > 0, batch_io_handler:info(ours)),
    ok = recorder:release(proplists:get_value(device, Config)).

of_all() -> #{filters => [], filter_default => log}.

%% Its supervisor says so while nothing can be written. The next writer writes on, and tells of what was lost.
writer_is_terminated(Config) ->
    ok = add(to_file(Config), of_all()),
    log("before", []),
    ok = logger:update_handler_config(ours, config, #{slots => 77}),
    Writer = whereis(batch_io_handler_ours),
    ok = sys:terminate(Writer, shutdown),
    ok = until(fun() -> not lists:member(whereis(batch_io_handler_ours), [Writer, undefined]) end),
    %% It answers once its buffer is open, which is after its name is registered. What is logged between is dropped.
    _ = sys:get_state(batch_io_handler_ours),
    log("after", []),
    ok = batch_io_handler:filesync(ours),
    Lines = lines(Config),
    ?assertEqual([~"before", ~"after"], [Line || Line <- Lines, lists:member(Line, [~"before", ~"after"])]),
    #{dropped := Dropped} = batch_io_handler:info(ours),
    ?assert(Dropped > 0),
    ?assert(lists:member(case Dropped of
                             1 -> ~"1 message of handler ours was dropped";
                             _ -> <<(integer_to_binary(Dropped))/binary, " messages of handler ours were dropped">>
                         end, Lines)),
    ?assertMatch(#{slots := 77}, batch_io_buffer:options(batch_io_buffer:current(batch_io_handler_ours))).

%% Its supervisor says so when the writer is gone, and is waited for by the one that removes the handler.
file_dies_while_removed(Config) ->
    ok = add(to_file(Config), of_all()),
    File = whereis(batch_io_file_ours),
    true = erlang:suspend_process(File),
    log("held", []),
    {_, Monitor} = spawn_monitor(fun() -> ok = logger:remove_handler(ours) end),
    ok = until(fun() -> batch_io_handler:info(ours) =:= not_started end),
    true = exit(File, kill),
    receive {'DOWN', Monitor, process, _, Reason} -> ?assertEqual(normal, Reason) end,
    log("nobody hangs", []).

%% It is removed with the next message, and OTP's own handlers stay.
gives_up(Config) ->
    ok = add(to_file(Config)),
    ok = give_up(),
    log("x", []),
    ok = until(fun is_removed/0).

is_removed() -> logger:get_handler_config(ours) =:= {error, {not_found, ours}}.

%% By the logger's supervisor, which who removes it waits for.
gives_up_and_is_told_of(Config) ->
    ok = add(to_file(Config), of_all()),
    ok = give_up(),
    ok = until(fun is_removed/0),
    ok = add(to_file(Config)),
    log("again", []),
    ok = batch_io_handler:filesync(ours),
    ?assertEqual(~"again", lists:last(lines(Config))).

give_up() ->
    [{_, Supervisor, _, _}] = [Child || {batch_io_handler_ours, _, _, _} = Child <- supervisor:which_children(logger_sup)],
    exit(Supervisor, kill),
    until(fun() -> whereis(batch_io_handler_ours) =:= undefined end).

until(Is) -> until(Is, 500).

until(Is, Left) when Left > 0 ->
    case Is() of
        true -> ok;
        false ->
            ok = timer:sleep(10),
            until(Is, Left - 1)
    end.

nothing_is_left_of_a_failed_start(Config) ->
    true = register(batch_io_file_ours, self()),
    ?assertMatch({error, {handler_not_added, _}}, add(to_file(Config))),
    true = unregister(batch_io_file_ours),
    ?assertEqual({not_started, undefined}, {batch_io_handler:info(ours), batch_io_buffer:latest(batch_io_handler_ours)}),
    ok = add(to_file(Config)).
