%% A gen_event that formats each event itself; its 25,000 clients are in synchronous mode, and all of them wait.
-module(sick).
-behaviour(gen_event).
-export([start/0, init/1, handle_event/2, handle_call/2, logs/1]).

start() ->
    {ok, _} = gen_event:start({local, log_event}),
    ok = gen_event:add_handler(log_event, ?MODULE, []),
    _ = [spawn(?MODULE, logs, [N]) || N <- lists:seq(1, 25_000)],
    timer:sleep(1000),
    ok.

logs(N) -> ok = gen_event:sync_notify(log_event, {line, N, lists:duplicate(40, {some, "text", N})}), logs(N).

init(_) -> {ok, []}.
handle_call(_, State) -> {ok, ok, State}.
handle_event({line, N, What}, State) -> _ = iolist_to_binary(io_lib:format("~p ~80p~n", [N, What])), {ok, State}.
