%% A connection that does not come up changes between two states, and postpones all requests in both.
-module(sick).
-behaviour(gen_statem).
-export([start/0, init/1, callback_mode/0, handle_event/4]).

start() ->
    {ok, Connection} = gen_statem:start({local, connection}, ?MODULE, [], []),
    [gen_statem:cast(Connection, {request, N}) || N <- lists:seq(1, 60_000)],
    timer:sleep(500),
    ok.

callback_mode() -> handle_event_function.

init([]) -> {ok, connecting, none, [{state_timeout, 200, over}]}.

handle_event(state_timeout, over, connecting, Data) -> {next_state, waiting, Data, [{state_timeout, 200, over}]};
handle_event(state_timeout, over, waiting, Data) -> {next_state, connecting, Data, [{state_timeout, 200, over}]};
handle_event(cast, {request, _}, _, _) -> {keep_state_and_data, postpone}.
