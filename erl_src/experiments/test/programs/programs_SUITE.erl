%% What programs of others are started with, given work by and measured by; and that nothing of them is left.
%% RabbitMQ is there where `./build.sh programs rabbitmq' has fetched it, which `./build.sh test' does.
-module(programs_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([held_place/1]).
-export([all/0, place_goes_with_its_processes/1, place_goes_when_its_vm_is_killed/1, cores_are_halves/1, processor_time_is_counted/1,
         ninety_nine_of_a_hundred/1, lost_and_doubled_messages_are_counted/1, messages_of_xmpp_are_found_in_parts/1,
         what_a_command_lacks_is_said/1, dead_program_is_said/1, lost_message_is_wrong/1, what_was_not_fetched_is_said/1,
         part_of_otp_is_said/1,
         records_are_those_of_the_client/1,
         rabbitmq_delivers/1, streams_deliver/1, busy_rabbitmq_is_not_said_to_be_sick/1, broken_rabbitmq_names_its_log/1, cowboy_answers/1,
         mnesia_commits/1, transaction_in_part_is_wrong/1,
         ports_are_none_that_clients_get/1]).

all() ->
    [place_goes_with_its_processes, place_goes_when_its_vm_is_killed, cores_are_halves, processor_time_is_counted,
     ninety_nine_of_a_hundred, lost_and_doubled_messages_are_counted, messages_of_xmpp_are_found_in_parts,
     what_a_command_lacks_is_said, dead_program_is_said, lost_message_is_wrong, what_was_not_fetched_is_said, part_of_otp_is_said,
     records_are_those_of_the_client,
     rabbitmq_delivers, streams_deliver, busy_rabbitmq_is_not_said_to_be_sick, broken_rabbitmq_names_its_log, cowboy_answers,
     mnesia_commits, transaction_in_part_is_wrong,
     ports_are_none_that_clients_get].

place_goes_with_its_processes(_) ->
    Place = program_place:new("test"),
    Folder = program_place:folder(Place),
    ok = file:write_file(filename:join(Folder, "file"), "something"),
    OsPid = sleeper(),
    ok = program_place:guard(Place, OsPid),
    ok = program_place:remove(Place),
    ?assertNot(filelib:is_dir(Folder)),
    ?assert(ended(OsPid)).

%% Such a one may be gone before the server listens.
ports_are_none_that_clients_get(_) ->
    {ok, Range} = file:read_file("/proc/sys/net/ipv4/ip_local_port_range"),
    [First, _] = [binary_to_integer(Word) || Word <- string:lexemes(Range, "\t \n")],
    Ports = [program_place:free_port() || _ <- lists:seq(1, 100)],
    ?assertEqual([], [Port || Port <- Ports, Port < 1024 orelse Port >= First]),
    ?assert(length(lists:usort(Ports)) > 90).

%% The one who would clean up gets no chance to.
place_goes_when_its_vm_is_killed(_) ->
    {ok, Peer, _} = peer:start(#{connection => standard_io, args => ["-pa" | code:get_path()]}),
    OsPid = sleeper(),
    {Folder, Log} = peer:call(Peer, ?MODULE, held_place, [OsPid]),
    ?assert(filelib:is_dir(Folder)),
    _ = os:cmd("kill -9 " ++ peer:call(Peer, os, getpid, [])),
    ?assert(eventually(fun() -> not filelib:is_dir(Folder) end)),
    ?assert(ended(OsPid)),
    ?assertNot(filelib:is_file(Log)).

held_place(OsPid) ->
    Caller = self(),
    _ = spawn(fun() ->
                      Place = program_place:new("test"),
                      ok = program_place:guard(Place, OsPid),
                      Caller ! {made, program_place:folder(Place), program_place:log(Place)},
                      timer:sleep(infinity)
              end),
    receive {made, Folder, Log} -> {Folder, Log} end.

sleeper() ->
    Port = open_port({spawn_executable, "/bin/sleep"}, [{args, ["1000"]}]),
    {os_pid, OsPid} = erlang:port_info(Port, os_pid),
    OsPid.

ended(OsPid) -> eventually(fun() -> not runs(OsPid) end).

%% One that ended, and that nobody has asked about, is still in the list.
runs(OsPid) ->
    case file:read_file(lists:concat(["/proc/", OsPid, "/stat"])) of
        {ok, Stat} -> re:run(Stat, "\\) Z ") =:= nomatch;
        {error, _} -> false
    end.

eventually(Fun) -> eventually(Fun, 200).

eventually(Fun, 0) -> Fun();
eventually(Fun, Left) -> Fun() orelse begin timer:sleep(25), eventually(Fun, Left - 1) end.

cores_are_halves(_) ->
    case {program_cores:pinned(measured, ["program"]), program_cores:pinned(fixed, ["program"])} of
        {["program"], ["program"]} -> ok;
        {[_, "-c", First, "program"], [_, "-c", Second, "program"]} ->
            ?assertEqual([], [Core || Core <- string:lexemes(First, ","), lists:member(Core, string:lexemes(Second, ","))])
    end.

%% Work takes time, and waiting takes none of it.
processor_time_is_counted(_) ->
    Self = list_to_integer(os:getpid()),
    {Working, _} = program_cpu:taken(Self, fun() -> lists:sum(lists:seq(1, 3_000_000)) end),
    {Waiting, ok} = program_cpu:taken(Self, fun() -> timer:sleep(1) end),
    ?assert(Working > 0),
    ?assert(Waiting >= 0).

ninety_nine_of_a_hundred(_) ->
    ?assertEqual(99, program_latency:p99(lists:reverse(lists:seq(1, 100)))),
    ?assertEqual(7, program_latency:p99([7])),
    ?assertEqual(0, program_latency:p99([])),
    Histogram = program_latency:histogram(),
    ?assertEqual(#{count => 0, p99 => 0}, program_latency:noted(Histogram)),
    _ = [ok = program_latency:note(Histogram, 1000 * N - 1) || N <- lists:seq(1, 100)],
    ?assertEqual(#{count => 100, p99 => 99_000}, program_latency:noted(Histogram)),
    _ = [ok = program_latency:note(Histogram, 10_000_000) || _ <- lists:seq(1, 100)],
    ?assertEqual(#{count => 200, p99 => 2_000_000}, program_latency:noted(Histogram)).

lost_and_doubled_messages_are_counted(_) ->
    Round = fun(Came) -> element(1, program_messages:round(3, fun(_) -> ok end, fun() -> [{Number, 1} || Number <- Came] end)) end,
    ?assertEqual(#{messages => 3, twice => 0}, Round([2, 1, 3])),
    ?assertEqual(#{messages => 2, twice => 1}, Round([2, 1, 2])),
    ?assertEqual(#{messages => 0, twice => 0}, Round([])).

messages_of_xmpp_are_found_in_parts(_) ->
    Message = fun(Number) -> iolist_to_binary(["<message to='a'><body>", integer_to_list(Number), " -5</body></message>"]) end,
    ?assertEqual({[{1, -5}, {2, -5}], <<>>}, xmpp_session:messages(<<(Message(1))/binary, (Message(2))/binary>>)),
    <<Begin:20/binary, Rest/binary>> = Message(7),
    ?assertEqual({[], Begin}, xmpp_session:messages(Begin)),
    ?assertEqual({[{7, -5}], <<"<me">>}, xmpp_session:messages(<<Begin/binary, Rest/binary, "<me">>)).

what_a_command_lacks_is_said(_) ->
    Place = program_place:new("test"),
    ?assertMatch(<<"no-such-program is missing", _/binary>>, said(fun() -> program_command:output(Place, ["no-such-program"], 1000) end)),
    ?assertMatch(<<"ls ended badly (2)", _/binary>>, said(fun() -> program_command:output(Place, ["ls", "/no/such/file"], 5000) end)),
    ?assertMatch(<<"sleep ended badly (timeout)", _/binary>>, said(fun() -> program_command:output(Place, ["sleep", "1000"], 50) end)),
    ok = program_place:remove(Place).

dead_program_is_said(_) ->
    Place = program_place:new("test"),
    Program = program_node:start(Place, #{emulator => fixed}),
    ?assertEqual(3, program_node:call(Program, erlang, '+', [1, 2])),
    _ = os:cmd(lists:concat(["kill -9 ", program_node:os_pid(Program)])),
    ?assertMatch(<<"the program has ended; its log is ", _/binary>>,
                 said(fun() -> program_node:call(Program, erlang, '+', [1, 2]) end)),
    ok = program_place:remove(Place).

lost_message_is_wrong(_) ->
    State = #{messages => 100},
    Whole = #{messages => 100, twice => 0, errors => []},
    [begin
         ?assertEqual(ok, Module:verify(Metric, Whole, State)),
         [?assertMatch({wrong, _}, Module:verify(Metric, Other, State))
          || Other <- [Whole#{messages := 99}, Whole#{twice := 1}, Whole#{errors := [~"[error] x"]}]]
     end || {Module, Metric} <- [{exp_rabbitmq, classic_cpu}, {exp_rabbitmq, quorum_cpu}, {exp_rabbitmq_stream, cpu},
                                 {exp_rabbitmq_stream, copied}, {exp_ejabberd, cpu}]].

what_was_not_fetched_is_said(_) ->
    ?assertMatch(~"nothing is not here; './build.sh programs nothing' fetches it", said(fun() -> program_packages:folder("nothing") end)).

part_of_otp_is_said(Config) ->
    Root = proplists:get_value(priv_dir, Config),
    ok = program_packages:whole_otp(Root),
    ok = file:write_file(filename:join(Root, "first_part"), ""),
    ?assertEqual(iolist_to_binary(["only a part of OTP is built; './build.sh otp --otp ", erlang:system_info(otp_release),
                                   " --vm stock' builds the rest"]),
                 said(fun() -> program_packages:whole_otp(Root) end)).

said(Fun) ->
    try Fun() of
        Result -> {no_error, Result}
    catch error:{cannot_run, Sentence} -> unicode:characters_to_binary(Sentence)
    end.

%% Their fields and defaults, but for what this project's loads set themselves.
records_are_those_of_the_client(_) ->
    Headers = lists:append([filelib:wildcard(filename:join(rabbitmq_server:plugins(), Name))
                            || Name <- ["amqp_client-*/include/amqp_client.hrl", "rabbit_common-*/include/rabbit_framing.hrl"]]),
    Theirs = lists:append([Forms || Header <- Headers, {ok, Forms} <- [epp:parse_file(Header, [])]]),
    Ours = filename:join([code:lib_dir(experiments), "src", "programs", "amqp.hrl"]),
    {ok, Own} = epp:parse_file(Ours, []),
    Names = fun(Forms) -> #{Name => [field(Field) || Field <- Fields] || {attribute, _, record, {Name, Fields}} <- Forms} end,
    ?assertEqual(Names(Own), maps:with(maps:keys(Names(Own)), Names(Theirs))).

field({record_field, _, {atom, _, Name}}) -> Name;
field({record_field, _, {atom, _, Name}, _}) -> Name;
field({typed_record_field, Field, _}) -> field(Field).

rabbitmq_delivers(_) ->
    Before = in_memory(),
    [begin
         #{samples := Samples} = ertslab_worker:run(exp_rabbitmq, #{messages => Messages, bytes => Bytes}),
         ?assertMatch([_, _, _, _, _, _, _], Samples),
         ?assertEqual([], [Metric || {Metric, Values} <- Samples, Value <- Values, Value =< 0])
     end || {Messages, Bytes} <- [{1000, 100}, {100, 12}, {100, 300_000}]],
    ?assertEqual(Before, in_memory()).

%% Messages that fill a frame, and that do not; the last frame is not full.
streams_deliver(_) ->
    Before = in_memory(),
    [begin
         #{samples := Samples} = ertslab_worker:run(exp_rabbitmq_stream, #{bytes => Bytes, messages => 150}),
         ?assertMatch([_, _, _, _, _, _, _], Samples),
         ?assertEqual([], [Metric || {Metric, Values} <- Samples, Value <- Values, Metric =/= sweeps, Value =< 0])
     end || Bytes <- [16, 100_000]],
    ?assertEqual(Before, in_memory()).

%% It diagnoses itself at work: both queues have publishers and consumers meanwhile.
busy_rabbitmq_is_not_said_to_be_sick(_) ->
    Place = program_place:new("test"),
    #{program := Program, address := Port} = rabbitmq_server:start(Place),
    ok = program_node:call(Program, code, add_pathsa, [[filename:dirname(code:which(Module)) || Module <- [diagnose, mailbox_audit]]]),
    Queues = #{<<"classic">> => classic, <<"quorum">> => quorum},
    Load = rabbitmq_load:start(Place, #{port => Port, queues => Queues, consumed => true}),
    Working = spawn_monitor(fun() -> work(Load, maps:keys(Queues)) end),
    Reports = [program_node:call(Program, diagnose, node, [#{budget => 5000}]) || _ <- lists:seq(1, 3)],
    {Worker, Monitor} = Working,
    Worker ! stop,
    receive {'DOWN', Monitor, process, Worker, Reason} -> ?assertEqual(normal, Reason) end,
    ok = program_place:remove(Place),
    Findings = [case Report of {ok, #{findings := Found}} -> Found; _ -> Report end || Report <- Reports],
    ?assertEqual([[], [], []], Findings),
    [?assert(Looked > 200) || {ok, #{look := #{processes := #{looked := Looked}}}} <- Reports].

work(Load, [Queue | Queues]) ->
    {#{messages := 1000}, _} = rabbitmq_load:round(Load, Queue, 1000, 60_000),
    receive stop -> ok
    after 0 -> work(Load, Queues ++ [Queue])
    end.

in_memory() -> lists:sort(filelib:wildcard("/dev/shm/ertslab_*")).

%% Its log stays for the reader, and nothing else.
broken_rabbitmq_names_its_log(_) ->
    Place = program_place:new("test"),
    ok = file:write_file(filename:join(program_place:folder(Place), "CONFIG_FILE.conf"), "no_such_key = 1\n"),
    Sentence = said(fun() -> rabbitmq_server:start(Place) end),
    {match, [Log]} = re:run(Sentence, "its log is (\\S+)$", [{capture, all_but_first, list}]),
    ?assert(filelib:is_regular(Log)),
    ok = program_place:remove(Place),
    ?assertNot(filelib:is_regular(Log)).

cowboy_answers(_) ->
    #{samples := [{cpu, _}, {time, _}, {p99, _}]} = ertslab_worker:run(exp_web, #{requests => 200}).

mnesia_commits(_) ->
    Before = in_memory(),
    #{samples := [{cpu, _}, {time, _}, {p99, _}, {memory, _}] = Samples} = ertslab_worker:run(exp_mnesia, #{transactions => 6000}),
    ?assertEqual([], [Metric || {Metric, Values} <- Samples, Value <- Values, Value =< 0]),
    ?assertEqual(Before, in_memory()).

transaction_in_part_is_wrong(_) ->
    Verify = fun(Result) -> exp_mnesia:verify(cpu, Result, #{transactions => 1000}) end,
    Whole = mnesia_bank:whole(1000),
    Books = mnesia_bank:balanced(1000),
    ?assertEqual(ok, Verify({Whole, Books})),
    [?assertMatch({wrong, _}, Verify(Other))
     || Other <- [{Whole#{messages := 999}, Books}, {Whole, Books#{balance := 1}}, {Whole, Books#{movements := 3}}]].
