%% Somebody traced all calls and messages of all processes, and never stopped: the tracer drops what it gets.
-module(sick).
-export([start/0, tracer/0, pair/0, echo/0, work/1]).

start() ->
    [spawn(?MODULE, pair, []) || _ <- lists:seq(1, 20)],
    Tracer = spawn(?MODULE, tracer, []),
    register(old_tracer, Tracer),
    _ = erlang:trace(existing, true, [call, send, 'receive', {tracer, Tracer}]),
    _ = erlang:trace(new, true, [call, send, 'receive', {tracer, Tracer}]),
    _ = erlang:trace_pattern({?MODULE, work, 1}, true, [local]),
    timer:sleep(500),
    ok.

tracer() -> receive _ -> tracer() end.

pair() -> ask(spawn_link(?MODULE, echo, [])).
ask(Echo) -> Echo ! {self(), ping}, receive {Echo, pong} -> _ = work(10), timer:sleep(2), ask(Echo) end.
echo() -> receive {From, ping} -> From ! {self(), pong}, echo() end.
work(0) -> ok;
work(N) -> work(N - 1).
