%% @doc RabbitMQ from Debian's package, on the VM that is measured: one node, loopback only, without plugins or with the one for streams.
-module(rabbitmq_server).

-export([start/1, with_streams/1, address/1, program/1, plugins/0, queue_process/2, stream_writer/1, errors/1]).
-export_type([server/0]).

-type server() :: #{program := program_node:program(), address := inet:port_number(), log := file:filename()}.

-define(NEWEST_RELEASE, 27).
-define(NODE, "rabbit@localhost").
-define(BOOT_TIMEOUT_MS, 60_000).

%% @doc Starts it and waits until it is ready. Its address is that of AMQP.
-spec start(program_place:place()) -> server().
start(Place) ->
    Port = program_place:free_port(),
    started(Place, Port, Port, []).

%% @doc The same with the protocol for streams. Its address is that of this protocol.
-spec with_streams(program_place:place()) -> server().
with_streams(Place) ->
    ok = file:write_file(filename:join(program_place:folder(Place), "ENABLED_PLUGINS_FILE"), "[rabbitmq_stream].\n"),
    Port = program_place:free_port(),
    started(Place, Port, program_place:free_port(),
            ["-rabbitmq_stream", "tcp_listeners", io_lib:format("[{\"127.0.0.1\",~b}]", [Port]), "advertised_host", "\"127.0.0.1\""]).

started(Place, Address, Port, Words) ->
    ok = runs_on(list_to_integer(erlang:system_info(otp_release))),
    Folder = program_place:folder(Place),
    Log = program_place:log(Place),
    EpmdPort = epmd(Place),
    Program = program_node:start(Place, #{emulator => measured, environment => environment(Folder, Log, Port, EpmdPort),
                                          words => words(EpmdPort) ++ [lists:flatten(Word) || Word <- Words]}),
    _ = program_node:call(Program, rabbit, boot, [], ?BOOT_TIMEOUT_MS),
    case program_node:call(Program, rabbit, is_running, []) of
        true -> #{program => Program, address => Address, log => Log};
        false -> error({cannot_run, ["RabbitMQ does not start; its log is ", Log]})
    end.

%% On OTP 29 this RabbitMQ stops during its start, in khepri.
runs_on(Release) when Release =< ?NEWEST_RELEASE -> ok;
runs_on(Release) ->
    error({cannot_run, io_lib:format("this RabbitMQ does not run on OTP ~b; compare it on ~b", [Release, ?NEWEST_RELEASE])}).

%% An epmd of its own, since RabbitMQ asks it for other nodes.
epmd(Place) ->
    Port = program_place:free_port(),
    Epmd = filename:join(os:getenv("BINDIR"), "epmd"),
    Started = open_port({spawn_executable, Epmd}, [{args, ["-port", integer_to_list(Port), "-address", "127.0.0.1"]}, hide]),
    {os_pid, OsPid} = erlang:port_info(Started, os_pid),
    ok = program_place:guard(Place, OsPid),
    Port.

environment(Folder, Log, Port, EpmdPort) ->
    In = fun(Name) -> filename:join(Folder, Name) end,
    [{"ERL_EPMD_PORT", integer_to_list(EpmdPort)},
     {"ERL_LIBS", plugins()},
     {"ERL_MAX_ETS_TABLES", "50000"},
     {"SYS_PREFIX", Folder},
     {"RABBITMQ_HOME", filename:dirname(plugins())},
     {"RABBITMQ_NODENAME", ?NODE},
     {"RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"},
     {"RABBITMQ_NODE_PORT", integer_to_list(Port)},
     {"RABBITMQ_DIST_PORT", integer_to_list(program_place:free_port())},
     {"RABBITMQ_PLUGINS_DIR", plugins()},
     {"RABBITMQ_LOGS", Log},
     {"RABBITMQ_LOG_BASE", Folder}
     | [{"RABBITMQ_" ++ Name, In(Name)} || Name <- ["MNESIA_BASE", "ENABLED_PLUGINS_FILE", "CONFIG_FILE", "ADVANCED_CONFIG_FILE",
                                                    "CONF_ENV_FILE", "GENERATED_CONFIG_DIR", "FEATURE_FLAGS_FILE", "PID_FILE"]]].

%% The flags of rabbitmq-server's script, and epmd's port, which `erl' would take from the environment and pass on.
words(EpmdPort) ->
    ["-epmd_port", integer_to_list(EpmdPort), "-boot", "start_sasl", "-syslog", "logger", "[]", "-syslog", "syslog_error_logger", "false",
     "-kernel", "prevent_overlapping_partitions", "false"].

%% @doc The folder of its applications and of its client's.
-spec plugins() -> file:filename().
plugins() ->
    [Plugins] = program_packages:files("rabbitmq", "usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins"),
    Plugins.

%% @doc Its port.
-spec address(server()) -> inet:port_number().
address(#{address := Port}) -> Port.

%% @doc Its VM.
-spec program(server()) -> program_node:program().
program(#{program := Program}) -> Program.

%% @doc The process of a queue, in its VM.
-spec queue_process(server(), Queue :: binary()) -> pid().
queue_process(#{program := Program}, Queue) ->
    Name = program_node:call(Program, rabbit_misc, r, [<<"/">>, queue, Queue]),
    {ok, Record} = program_node:call(Program, rabbit_amqqueue, lookup, [Name]),
    program_node:call(Program, amqqueue, get_pid, [Record]).

%% @doc The process that writes the only stream, in its VM.
-spec stream_writer(server()) -> pid().
stream_writer(#{program := Program}) ->
    [{_, Writer, _, _}] = program_node:call(Program, supervisor, which_children, [osiris_server_sup]),
    Writer.

%% @doc The lines of its log that report errors.
-spec errors(server()) -> [binary()].
errors(#{log := Log}) -> program_place:lines_with(Log, "\\[(error|critical|alert|emergency)\\]").
