%% A hundred servers get messages that they do not know, and log each as an error with its state. Whoever collects the log takes 60 kB a
%% second, so the handler of logger has those wait that log.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    [] = os:cmd("rm -f events; mkfifo events"),
    Collects = "while [ $(head -c 3000 | wc -c) -gt 0 ]; do sleep 0.05; done < events",
    _ = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Collects]}]),
    ok = logger:remove_handler(default),
    ok = logger:add_handler(default, logger_std_h, #{config => #{file => "events", modes => [raw, append], filesync_repeat_interval => no_repeat}}),
    Servers = [element(2, {ok, _} = gen_server:start(?MODULE, [], [])) || _ <- lists:seq(1, 100)],
    _ = spawn(fun() -> sends(Servers) end),
    timer:sleep(2000),
    ok.

sends(Servers) ->
    _ = [Server ! {udp_passive, port} || Server <- Servers],
    timer:sleep(20),
    sends(Servers).

init([]) -> {ok, #{readings => lists:seq(1, 50)}}.
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(Message, State) ->
    logger:error("unexpected message ~p in state ~p", [Message, State]),
    {noreply, State}.
