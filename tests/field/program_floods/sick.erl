%% A program of the operating system writes some thousands of lines a second, each of which is a message to the owner of its port, who works
%% on each for a millisecond.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    {ok, Reader} = gen_server:start({local, sensor_reader}, ?MODULE, [], []),
    until_behind(Reader),
    ok.

until_behind(Reader) ->
    case process_info(Reader, message_queue_len) of
        {_, Depth} when Depth > 4000 -> ok;
        _ -> timer:sleep(100), until_behind(Reader)
    end.

%% It ends with its node.
init([]) ->
    ok = file:write_file("sensor_daemon", "#!/bin/sh\n"
                         "trap '' PIPE\n"
                         "while :; do i=0; while [ $i -lt 100 ]; do echo temperature:$i:ok || exit; i=$((i+1)); done; sleep 0.03; done\n"),
    ok = file:change_mode("sensor_daemon", 8#755),
    {ok, open_port({spawn_executable, filename:absname("sensor_daemon")}, [binary, {line, 1000}])}.

handle_call(_, _, Port) -> {noreply, Port}.
handle_cast(_, Port) -> {noreply, Port}.
handle_info({Port, {data, {eol, Line}}}, Port) ->
    _ = [binary:split(Line, [<<":">>, <<"|">>], [global]) || _ <- lists:seq(1, 1000)],
    {noreply, Port}.
