%% The server of a tunnel writes frames to a program that no longer reads its input: it is suspended, and 60 callers wait for it.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, routes/1]).

start() ->
    {ok, _} = gen_server:start({local, tun_device}, ?MODULE, [], []),
    _ = [spawn(?MODULE, routes, [N]) || N <- lists:seq(1, 60)],
    timer:sleep(1000),
    ok.

%% It ends with its node.
init([]) -> {ok, open_port({spawn_executable, "/bin/sleep"}, [{args, ["100"]}, binary, {packet, 4}])}.

handle_call({frame, Data}, _, Program) ->
    true = erlang:port_command(Program, Data),
    {reply, ok, Program}.

handle_cast(_, Program) -> {noreply, Program}.

routes(N) ->
    ok = gen_server:call(tun_device, {frame, <<N:32, 0:11200>>}, infinity),
    timer:sleep(5),
    routes(N).
