%% A server asks a program of the operating system for each login, and waits for its answer, which takes 0.2 s. Sixty sessions log in.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, session/1]).

start() ->
    {ok, _} = gen_server:start({local, auth_by_program}, ?MODULE, [], []),
    _ = [spawn(?MODULE, session, [N]) || N <- lists:seq(1, 60)],
    timer:sleep(500).

%% It ends with its node.
init([]) ->
    ok = file:write_file("auth_check", "#!/bin/sh\nwhile read user; do sleep 0.2; echo yes; done\n"),
    ok = file:change_mode("auth_check", 8#755),
    {ok, open_port({spawn_executable, filename:absname("auth_check")}, [binary, {line, 100}])}.

handle_call({auth, User}, _, Program) ->
    port_command(Program, [User, $\n]),
    {reply, result(Program), Program}.

handle_cast(_, Program) -> {noreply, Program}.

result(Program) -> receive {Program, {data, {eol, Answer}}} -> Answer =:= <<"yes">> after 60_000 -> false end.

session(N) ->
    true = gen_server:call(auth_by_program, {auth, integer_to_list(N)}, infinity),
    session(N).
