%% A supervisor has nine servers with garbage and one of another kind, whose heap is mostly unused and of which more lives.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, server/2, works/2]).

start() ->
    Self = self(),
    spawn(fun() -> {ok, _} = supervisor:start_link({local, sick_sup}, ?MODULE, []), Self ! started, receive stop -> ok end end),
    receive started -> ok end,
    timer:sleep(500).

init([]) ->
    Children = [#{id => N, start => {?MODULE, server, [Kind, N]}}
                || {Kind, N} <- [{sick_a, N} || N <- lists:seq(1, 9)] ++ [{sick_b, 10}]],
    {ok, {#{}, Children}}.

server(Kind, N) -> proc_lib:start_link(?MODULE, works, [Kind, N]).

%% What a gen_server of another module leaves.
works(Kind, _) ->
    put('$initial_call', {Kind, init, 1}),
    State = case Kind of sick_a -> garbage(); sick_b -> mostly_garbage() end,
    proc_lib:init_ack({ok, self()}),
    waits(State).

garbage() -> length([{X} || X <- lists:seq(1, 150_000)]).

mostly_garbage() ->
    Kept = [{X} || X <- lists:seq(1, 70_000)],
    _ = length([{X} || X <- lists:seq(1, 600_000)]),
    _ = process_flag(min_heap_size, 2_000_000),
    true = garbage_collect(),
    _ = process_flag(min_heap_size, 233),
    Kept.

waits(State) -> receive {State} -> ok end.
