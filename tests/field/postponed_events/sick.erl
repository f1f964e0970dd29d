%% A connection that never comes up postpones all that is to be sent: its mailbox is empty, and its heap has everything.
-module(sick).
-behaviour(gen_statem).
-export([start/0, init/1, callback_mode/0, connecting/3]).

start() ->
    {ok, Pid} = gen_statem:start({local, smtp_session}, ?MODULE, [], []),
    [gen_statem:cast(Pid, {deliver, N, [{header, N, K} || K <- lists:seq(1, 20)]}) || N <- lists:seq(1, 300_000)],
    ok = gen_statem:call(Pid, sync, infinity),
    ok.

init([]) -> {ok, connecting, none}.
callback_mode() -> state_functions.
connecting({call, From}, sync, _) -> {keep_state_and_data, [{reply, From, ok}]};
connecting(cast, {deliver, _, _}, _) -> {keep_state_and_data, [postpone]}.
