%% Every driver writes just what it is given, says what goes wrong, and lets go of
%% everything whenever its port, its owner or its users end.
-module(port_drivers_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([suite/0, all/0, init_per_testcase/2, end_per_testcase/2]).
-export([file_is_as_written/1, random_data_is_written/1, appends_or_begins_anew/1, counts/1,
         data_that_is_none_is_badarg/1, bad_calls_are_errors/1, sink_that_cannot_be_opened/1,
         full_disk/1, write_after_close_is_closed/1, untagged_is_the_owners/1,
         others_write_through_tagged_and_control/1, many_writers_lose_nothing/1,
         mailbox_stays_as_it_was/1, owner_killed_in_mid_job/1, closed_in_mid_job/1,
         closed_while_waiting_for_the_answer/1, caller_killed_in_mid_job/1, busy_port/1,
         unloaded_while_open/1, driver_goes_with_its_users/1, bad_tag_ends_the_port/1,
         binaries_are_let_go/1, works_without_a_pool/1, as_many_ports_as_there_may_be/1]).
-export([write_once/4, open_beyond_the_limit/0]).

suite() -> [{timetrap, {seconds, 20}}].

all() ->
    [file_is_as_written, random_data_is_written, appends_or_begins_anew, counts,
     data_that_is_none_is_badarg, bad_calls_are_errors, sink_that_cannot_be_opened,
     full_disk, write_after_close_is_closed, untagged_is_the_owners,
     others_write_through_tagged_and_control, many_writers_lose_nothing,
     mailbox_stays_as_it_was, owner_killed_in_mid_job, closed_in_mid_job,
     closed_while_waiting_for_the_answer, caller_killed_in_mid_job, busy_port,
     unloaded_while_open, driver_goes_with_its_users, bad_tag_ends_the_port,
     binaries_are_let_go, works_without_a_pool, as_many_ports_as_there_may_be].

-define(PIPE_BYTES, 65_536).

init_per_testcase(Case, Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), atom_to_list(Case)),
    [{file, File} | Config].

%% Nothing of a case may be left to the next one.
end_per_testcase(_, _) -> await(fun() -> loaded() =:= [] end).

%% The VM has drivers of its own.
loaded() ->
    {ok, Names} = erl_ddll:loaded_drivers(),
    [Name || Driver <- port_drivers:drivers(), Name <- [atom_to_list(Driver) ++ "_drv"], lists:member(Name, Names)].

file_is_as_written(Config) ->
    File = file(Config),
    Parts = [~"a line\n", "", <<>>, [$a, [~"b" | ~"c"]], binary:copy(~"0123456789", 7), lists:duplicate(1000, $x),
             [binary:copy(<<N>>, 70) || N <- lists:seq(0, 255)],
             lists:duplicate(5000, [$c, binary:copy(~"r", 64)])],
    [begin
         {ok, Handle} = port_drivers:open(Driver, File, #{}),
         [?assertEqual(ok, port_drivers:write(Handle, Part)) || Part <- Parts],
         ?assertEqual({ok, iolist_to_binary(Parts)}, file:read_file(File)),
         ok = port_drivers:close(Handle)
     end || Driver <- port_drivers:drivers()].

random_data_is_written(Config) ->
    File = file(Config),
    [begin
         {ok, Handle} = port_drivers:open(Driver, File, #{}),
         Written = [begin Data = random_data(4), ok = port_drivers:write(Handle, Data), Data end
                    || _ <- lists:seq(1, 200)],
         ok = port_drivers:close(Handle),
         ?assertEqual({ok, iolist_to_binary(Written)}, file:read_file(File))
     end || Driver <- port_drivers:drivers()].

random_data(0) -> [rand:uniform(256) - 1];
random_data(Depth) ->
    case rand:uniform(4) of
        1 -> rand:bytes(rand:uniform(200));
        2 -> [];
        3 -> [random_data(Depth - 1) | rand:bytes(rand:uniform(70))];
        4 -> [random_data(Depth - 1) || _ <- lists:seq(1, rand:uniform(5))]
    end.

appends_or_begins_anew(Config) ->
    File = file(Config) ++ "_ä",
    [begin
         ok = write_once(Driver, File, #{}, ~"first"),
         ok = write_once(Driver, File, #{append => true}, ~" second"),
         ?assertEqual({ok, ~"first second"}, file:read_file(File)),
         ok = write_once(Driver, native(File), #{append => false}, ~"third"),
         ?assertEqual({ok, ~"third"}, file:read_file(File))
     end || Driver <- port_drivers:drivers()].

%% As the system has it, which is no UTF-8 with LANG=C.
native(Name) -> unicode:characters_to_binary(Name, unicode, file:native_name_encoding()).

write_once(Driver, File, Options, Data) ->
    {ok, Handle} = port_drivers:open(Driver, File, Options),
    ok = port_drivers:write(Handle, Data),
    port_drivers:close(Handle).

counts(_) ->
    [begin
         {ok, Handle} = port_drivers:open(Driver, "/dev/null", #{}),
         [ok = port_drivers:write(Handle, ~"seventy") || _ <- lists:seq(1, 10)],
         ?assertEqual(#{writes => 10, bytes => 70, errors => 0, jobs => 0}, settled(Handle)),
         ?assertEqual({name, atom_to_list(Driver) ++ "_drv"}, erlang:port_info(port_drivers:port(Handle), name)),
         ok = port_drivers:close(Handle),
         ?assertEqual({error, closed}, port_drivers:counters(Handle))
     end || Driver <- port_drivers:drivers()].

%% A job is on its way until just after its answer was sent.
settled(Handle) ->
    await(fun() -> #{jobs := Jobs} = port_drivers:counters(Handle), Jobs =:= 0 end),
    port_drivers:counters(Handle).

data_that_is_none_is_badarg(_) ->
    [begin
         {ok, Handle} = port_drivers:open(Driver, "/dev/null", #{}),
         ?assertEqual({error, badarg}, port_drivers:write(Handle, [no_data])),
         ?assertEqual(ok, port_drivers:write(Handle, ~"data")),
         ok = port_drivers:close(Handle)
     end || Driver <- port_drivers:drivers()].

bad_calls_are_errors(_) ->
    ?assertEqual({error, {unknown_driver, fly}}, port_drivers:open(fly, "/dev/null", #{})),
    ?assertEqual({error, {unknown_options, #{appendix => true}}},
                 port_drivers:open(async, "/dev/null", #{appendix => true})),
    ?assertEqual({error, {unknown_options, #{append => 1}}}, port_drivers:open(async, "/dev/null", #{append => 1})),
    ?assertEqual({error, badarg}, port_drivers:open(async, {no_name}, #{})),
    [?assertEqual({error, badarg}, port_drivers:open(Driver, Name, #{}))
     || Driver <- port_drivers:drivers(), Name <- [~"/dev/null\0", "/dev/null\0", "/dev/\0null", ["/dev/", 0]]].

sink_that_cannot_be_opened(Config) ->
    Folder = proplists:get_value(priv_dir, Config),
    Pipe = pipe(Config),
    [begin
         ?assertEqual({error, enoent}, port_drivers:open(Driver, filename:join(Folder, "none/file"), #{})),
         ?assertEqual({error, enoent}, port_drivers:open(Driver, "", #{})),
         ?assertEqual({error, eisdir}, port_drivers:open(Driver, Folder, #{})),
         ?assertEqual({error, enxio}, port_drivers:open(Driver, Pipe, #{}))
     end || Driver <- port_drivers:drivers()],
    ?assertEqual([], [Port || Port <- erlang:ports(), {name, Name} <- [erlang:port_info(Port, name)],
                              lists:suffix("_drv", Name)]).

full_disk(_) ->
    [begin
         {ok, Handle} = port_drivers:open(Driver, "/dev/full", #{}),
         ?assertEqual({error, enospc}, port_drivers:write(Handle, ~"data")),
         ?assertEqual({error, enospc}, port_drivers:write(Handle, ~"more")),
         ?assertEqual(#{writes => 0, bytes => 0, errors => 2, jobs => 0}, settled(Handle)),
         ok = port_drivers:close(Handle)
     end || Driver <- port_drivers:drivers()].

write_after_close_is_closed(_) ->
    [begin
         {ok, Handle} = port_drivers:open(Driver, "/dev/null", #{}),
         ok = port_drivers:close(Handle),
         ?assertEqual({error, closed}, port_drivers:write(Handle, ~"data")),
         ?assertEqual(ok, port_drivers:close(Handle))
     end || Driver <- port_drivers:drivers()],
    ?assertEqual({messages, []}, process_info(self(), messages)).

untagged_is_the_owners(_) ->
    [begin
         {ok, Handle} = port_drivers:open(Driver, "/dev/null", #{}),
         ?assertEqual({error, not_owner}, elsewhere(fun() -> port_drivers:write(Handle, ~"data") end)),
         ?assertEqual({error, not_owner}, elsewhere(fun() -> port_drivers:close(Handle) end)),
         ok = port_drivers:close(Handle)
     end || Driver <- [async, output]].

others_write_through_tagged_and_control(Config) ->
    [begin
         {ok, Handle} = port_drivers:open(Driver, file(Config), #{}),
         ?assertEqual(ok, elsewhere(fun() -> port_drivers:write(Handle, ~"data") end)),
         ?assertEqual({ok, ~"data"}, file:read_file(file(Config))),
         ok = port_drivers:close(Handle)
     end || Driver <- [tagged, control]].

elsewhere(Fun) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({answer, Fun()}) end),
    receive {'DOWN', Monitor, process, Pid, {answer, Answer}} -> Answer end.

%% More of them than make the port busy.
many_writers_lose_nothing(Config) ->
    [begin
         {ok, Handle} = port_drivers:open(Driver, file(Config), #{}),
         Writers = [spawn_monitor(fun() -> [ok = port_drivers:write(Handle, <<Nth:32, N:32>>)
                                            || N <- lists:seq(1, 20)] end)
                    || Nth <- lists:seq(1, 200)],
         [receive {'DOWN', Monitor, process, Pid, normal} -> ok end || {Pid, Monitor} <- Writers],
         ?assertMatch(#{writes := 4000, bytes := 32_000, errors := 0}, settled(Handle)),
         {ok, Written} = file:read_file(file(Config)),
         Pairs = [{Nth, N} || <<Nth:32, N:32>> <= Written],
         ?assertEqual([{Nth, N} || Nth <- lists:seq(1, 200), N <- lists:seq(1, 20)], lists:keysort(1, Pairs)),
         ok = port_drivers:close(Handle)
     end || Driver <- [tagged, control]].

mailbox_stays_as_it_was(_) ->
    Waiting = [{junk, N, self()} || N <- lists:seq(1, 1000)],
    [self() ! Message || Message <- Waiting],
    [begin
         {ok, Handle} = port_drivers:open(Driver, "/dev/null", #{}),
         [ok = port_drivers:write(Handle, ~"data") || _ <- lists:seq(1, 10)],
         ok = port_drivers:close(Handle)
     end || Driver <- port_drivers:drivers()],
    ?assertEqual({messages, Waiting}, process_info(self(), messages)).

%% A pipe that is full keeps the job in the pool's thread until somebody reads.
owner_killed_in_mid_job(Config) ->
    [begin
         {Reader, Data, Handle, Owner} = stuck(Driver, Config),
         Port = port_drivers:port(Handle),
         Monitor = monitor(port, Port),
         exit(Owner, kill),
         receive {'DOWN', Monitor, port, Port, _} -> ok end,
         ?assertEqual(Data, drained(Reader, byte_size(Data)))
     end || Driver <- [async, tagged]].

closed_in_mid_job(Config) ->
    [begin
         {Reader, Data, Handle, Owner} = stuck(Driver, Config),
         true = port_close(port_drivers:port(Handle)),
         Monitor = monitor(process, Owner),
         receive {'DOWN', Monitor, process, Owner, Reason} -> ?assertEqual({wrote, {error, closed}}, Reason) end,
         ?assertEqual({error, closed}, port_drivers:counters(Handle)),
         ?assertEqual(Data, drained(Reader, byte_size(Data)))
     end || Driver <- [async, tagged]].

%% Who waits for an answer that will not come is told, however deep its mailbox.
closed_while_waiting_for_the_answer(Config) ->
    {Reader, Data, Handle, Owner} = stuck(async, Config),
    [Owner ! {junk, N} || N <- lists:seq(1, 1000)],
    Monitor = monitor(process, Owner),
    true = port_close(port_drivers:port(Handle)),
    receive {'DOWN', Monitor, process, Owner, Reason} -> ?assertEqual({wrote, {error, closed}}, Reason) end,
    ?assertEqual(Data, drained(Reader, byte_size(Data))).

%% The port stays, for it is another's.
caller_killed_in_mid_job(Config) ->
    Reader = reader(Config),
    {ok, Handle} = port_drivers:open(tagged, pipe(Config), #{}),
    Data = binary:copy(~"x", 2 * ?PIPE_BYTES),
    {Caller, Monitor} = spawn_monitor(fun() -> port_drivers:write(Handle, Data) end),
    await(fun() -> in_flight(Handle) =:= 1 end),
    exit(Caller, kill),
    receive {'DOWN', Monitor, process, Caller, killed} -> ok end,
    ?assertEqual(Data, drain(Reader, byte_size(Data))),
    ?assertMatch(#{writes := 1, errors := 0}, settled(Handle)),
    ?assertEqual(ok, port_drivers:write(Handle, ~"more")),
    ok = port_drivers:close(Handle),
    ok = file:close(Reader).

busy_port(Config) ->
    Reader = reader(Config),
    {ok, Handle} = port_drivers:open(async, pipe(Config), #{}),
    Port = port_drivers:port(Handle),
    Data = binary:copy(~"x", 2 * ?PIPE_BYTES),
    Sent = [true || true <- [port_command(Port, Data, [nosuspend]) || _ <- lists:seq(1, 100)]],
    ?assertEqual(64, length(Sent)),
    ?assertEqual(false, port_command(Port, Data, [nosuspend])),
    %% The control operations are not for a busy port to refuse.
    ?assertEqual(64, in_flight(Handle)),
    drain(Reader, 64 * byte_size(Data)),
    [receive {Port, {data, ~"ok"}} -> ok end || _ <- Sent],
    ?assertEqual(true, port_command(Port, ~"again", [nosuspend])),
    receive {Port, {data, ~"ok"}} -> ok end,
    ?assertMatch(#{writes := 65, errors := 0}, settled(Handle)),
    ok = port_drivers:close(Handle),
    ok = file:close(Reader).

unloaded_while_open(Config) ->
    [begin
         {ok, Handle} = port_drivers:open(Driver, file(Config), #{}),
         ok = erl_ddll:unload(atom_to_list(Driver) ++ "_drv"),
         ?assertEqual(ok, port_drivers:write(Handle, ~"still there")),
         ?assertEqual({ok, ~"still there"}, file:read_file(file(Config))),
         true = unlink(port_drivers:port(Handle)),
         true = port_close(port_drivers:port(Handle)),
         await(fun() -> loaded() =:= [] end)
     end || Driver <- port_drivers:drivers()].

%% The code stays for as long as a job runs in it.
driver_goes_with_its_users(Config) ->
    {Reader, Data, _, Owner} = stuck(async, Config),
    {ok, Other} = port_drivers:open(async, "/dev/null", #{}),
    exit(Owner, kill),
    ok = port_drivers:close(Other),
    ?assertEqual(Data, drained(Reader, byte_size(Data))),
    await(fun() -> loaded() =:= [] end).

bad_tag_ends_the_port(_) ->
    process_flag(trap_exit, true),
    [begin
         {ok, Handle} = port_drivers:open(tagged, "/dev/null", #{}),
         Port = port_drivers:port(Handle),
         true = port_command(Port, Nonsense),
         receive {'EXIT', Port, Reason} -> ?assertEqual(bad_tag, Reason) end,
         ?assertEqual({error, closed}, port_drivers:write(Handle, ~"data")),
         ok = port_drivers:close(Handle),
         ok = erl_ddll:unload("tagged_drv")
     end || Nonsense <- [~"", ~"x", <<100:16, "short">>, <<0:16>>, <<3:16, "nonsense">>]],
    process_flag(trap_exit, false).

%% A job keeps the binary and not a copy, and no longer than it lasts.
binaries_are_let_go(Config) ->
    [begin
         Reader = reader(Config),
         {ok, Handle} = port_drivers:open(Driver, pipe(Config), #{}),
         Data = binary:copy(~"x", 2 * ?PIPE_BYTES),
         ?assertEqual(1, references(Data)),
         Port = port_drivers:port(Handle),
         true = port_command(Port, tagged(Driver, Data)),
         await(fun() -> in_flight(Handle) =:= 1 end),
         ?assertEqual(2, references(Data)),
         drain(Reader, byte_size(Data)),
         ?assertMatch(#{errors := 0}, settled(Handle)),
         ?assertEqual(1, references(Data)),
         ok = port_drivers:close(Handle),
         ok = file:close(Reader)
     end || Driver <- [async, tagged]],
    receive {_Port, {data, ~"ok"}} -> ok end,
    receive {here, ok} -> ok end.

tagged(async, Data) -> Data;
tagged(tagged, Data) ->
    Tag = term_to_binary(here),
    [<<(byte_size(Tag)):16>>, Tag | Data].

references(Binary) ->
    true = garbage_collect(),
    {binary, Binaries} = process_info(self(), binary),
    Size = byte_size(Binary),
    [References] = lists:usort([References || {_, S, References} <- Binaries, S =:= Size]),
    References.

%% With +A 0 the VM does the job, and answers, before port_command/2 returns.
works_without_a_pool(Config) ->
    Path = [filename:dirname(code:which(Module)) || Module <- [port_drivers, ?MODULE]],
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, args => ["+A", "0", "-pa" | Path]}),
    [begin
         ?assertEqual(ok, peer:call(Peer, ?MODULE, write_once, [Driver, file(Config), #{}, ~"data"])),
         ?assertEqual({ok, ~"data"}, file:read_file(file(Config)))
     end || Driver <- port_drivers:drivers()],
    peer:stop(Peer).

%% An owner whose write of more than a pipe holds is on its way and cannot end.
stuck(Driver, Config) ->
    Reader = reader(Config),
    Test = self(),
    Data = binary:copy(~"x", 2 * ?PIPE_BYTES),
    Owner = spawn(fun() ->
                          {ok, Handle} = port_drivers:open(Driver, pipe(Config), #{}),
                          Test ! {self(), Handle},
                          exit({wrote, port_drivers:write(Handle, Data)})
                  end),
    Handle = receive {Owner, H} -> H end,
    await(fun() -> in_flight(Handle) =:= 1 end),
    {Reader, Data, Handle, Owner}.

in_flight(Handle) ->
    #{jobs := Jobs} = port_drivers:counters(Handle),
    Jobs.

pipe(Config) ->
    Pipe = file(Config) ++ ".pipe",
    [] = os:cmd("test -p '" ++ Pipe ++ "' || mkfifo '" ++ Pipe ++ "'"),
    Pipe.

%% Opened for both, so that it does not wait for a writer.
reader(Config) ->
    {ok, Reader} = file:open(pipe(Config), [read, write, raw, binary]),
    Reader.

drained(Reader, Bytes) ->
    Data = drain(Reader, Bytes),
    ok = file:close(Reader),
    Data.

drain(Reader, Bytes) -> iolist_to_binary(drain_parts(Reader, Bytes)).

drain_parts(_Reader, 0) -> [];
drain_parts(Reader, Bytes) ->
    {ok, Part} = file:read(Reader, Bytes),
    [Part | drain_parts(Reader, Bytes - byte_size(Part))].

file(Config) -> proplists:get_value(file, Config).

await(Condition) -> await(Condition, 2_000).

await(Condition, Left) ->
    case Condition() of
        true -> ok;
        false when Left > 0 -> timer:sleep(5), await(Condition, Left - 5);
        false -> error(never)
    end.

%% Nothing stays loaded of what could not be opened.
as_many_ports_as_there_may_be(_) ->
    Path = [filename:dirname(code:which(Module)) || Module <- [port_drivers, ?MODULE]],
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, args => ["+Q", "1024", "-pa" | Path]}),
    ?assertEqual({lists:duplicate(4, {error, system_limit}), []}, peer:call(Peer, ?MODULE, open_beyond_the_limit, [])),
    peer:stop(Peer).

open_beyond_the_limit() ->
    Ports = ports([]),
    Opened = [port_drivers:open(Driver, "/dev/null", #{}) || Driver <- port_drivers:drivers()],
    lists:foreach(fun erlang:port_close/1, Ports),
    {Opened, loaded()}.

ports(Ports) ->
    try open_port({spawn_driver, "udp_inet"}, []) of
        Port -> ports([Port | Ports])
    catch error:system_limit -> Ports
    end.
