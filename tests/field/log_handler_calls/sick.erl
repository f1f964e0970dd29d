%% A handler of logger hands each event to a server by a call, and the server sends it to a service that is slow: whoever logs waits.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, log/2, request/0]).

start() ->
    {ok, _} = gen_server:start({local, log_shipper}, ?MODULE, [], []),
    ok = logger:add_handler(shipper, ?MODULE, #{level => notice}),
    ok = logger:set_primary_config(level, notice),
    ok = logger:remove_handler(default),
    _ = [spawn(?MODULE, request, []) || _ <- lists:seq(1, 120)],
    timer:sleep(500),
    ok.

request() ->
    timer:sleep(rand:uniform(100)),
    logger:notice("served"),
    request().

log(Event, _Config) -> gen_server:call(log_shipper, {log, Event}, infinity).

init([]) -> {ok, []}.
handle_call({log, _}, _, State) ->
    ships(),
    {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.

ships() -> timer:sleep(60).
