%% @doc ejabberd from Debian's package, on the VM that is measured: one node without distribution, loopback only, and clients
%% without accounts.
-module(ejabberd_server).

-export([start/1, errors/1]).
-export_type([server/0]).

-type server() :: #{program := program_node:program(), address := inet:port_number(), log := file:filename()}.

-define(START_TIMEOUT_MS, 60_000).

%% @doc Starts it and waits until it is ready.
-spec start(program_place:place()) -> server().
start(Place) ->
    Folder = program_place:folder(Place),
    Log = program_place:log(Place),
    Port = program_place:free_port(),
    Config = filename:join(Folder, "ejabberd.yml"),
    ok = file:write_file(Config, config(Port)),
    Program = program_node:start(Place, #{emulator => measured, words => words(Folder),
                                          environment => [{"ERL_LIBS", own() ++ ":" ++ erlang_libraries()}, {"LD_LIBRARY_PATH", own()},
                                                          {"EJABBERD_CONFIG_PATH", Config},
                                                          {"EJABBERD_LOG_PATH", Log}, {"SPOOL_DIR", Folder}]}),
    case program_node:call(Program, application, ensure_all_started, [ejabberd], ?START_TIMEOUT_MS) of
        {ok, _} -> #{program => Program, address => Port, log => Log};
        {error, _} -> error({cannot_run, ["ejabberd does not start; its log is ", Log]})
    end.

%% ejabberd itself, and the C libraries that its own are linked with, which are newer than those of Debian bookworm.
own() ->
    [Own] = program_packages:files("ejabberd", "usr/lib/*-linux-gnu"),
    Own.

erlang_libraries() -> filename:join(program_packages:folder("ejabberd"), "usr/lib/erlang/lib").

words(Folder) -> ["-boot", "no_dot_erlang", "-mnesia", "dir", io_lib:write_string(filename:join(Folder, "spool"))].

config(Port) ->
    ["hosts: [localhost]\n"
     "loglevel: warning\n"
     "auth_method: [anonymous]\n"
     "anonymous_protocol: sasl_anon\n"
     "allow_multiple_connections: true\n"
     "disable_sasl_mechanisms: [digest-md5]\n"
     "listen:\n"
     "  - port: ", integer_to_list(Port), "\n"
     "    ip: \"127.0.0.1\"\n"
     "    module: ejabberd_c2s\n"
     "    access: all\n"
     "modules:\n"
     "  mod_caps: {}\n"
     "  mod_carboncopy: {}\n"
     "  mod_client_state: {}\n"
     "  mod_disco: {}\n"
     "  mod_ping: {}\n"
     "  mod_roster: {}\n"
     "  mod_stream_mgmt: {}\n"].

%% @doc The lines of its log that report errors.
-spec errors(server()) -> [binary()].
errors(#{log := Log}) -> program_place:lines_with(Log, "\\[(error|critical|alert|emergency)\\]").
