%% The resolver of the system does not answer, and 300 processes want to know the address of a host.
-module(sick).
-export([start/0, asks/1, resolver/0]).

start() ->
    _ = inet:gethostbyname("localhost"),
    Pids = lists:join(" ", resolver()),
    ok = file:write_file("resolver", Pids),
    [] = os:cmd("kill -STOP " ++ Pids),
    _ = [spawn(?MODULE, asks, [N]) || N <- lists:seq(1, 300)],
    timer:sleep(500),
    ok.

%% The programs that ask the system, which are children of the port.
resolver() ->
    Programs = [Port || Port <- erlang:ports(), {name, Name} <- [erlang:port_info(Port, name)], filename:basename(Name) =:= "inet_gethost"],
    lists:append([[integer_to_list(Pid) | string:lexemes(os:cmd("pgrep -P " ++ integer_to_list(Pid)), "\n")]
                  || Port <- Programs, {os_pid, Pid} <- [erlang:port_info(Port, os_pid)]]).

asks(N) -> inet:gethostbyname("host" ++ integer_to_list(N) ++ ".localhost"), asks(N).
