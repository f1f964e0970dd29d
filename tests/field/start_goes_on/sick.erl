%% The start of an application recovers thousands of stores, one after the other, each in the start of a process.
-module(sick).
-export([start/0, start/2, stop/1, init/1, start_store/1, init_store/1]).

start() ->
    ok = application:load({application, broker, [{applications, [kernel, stdlib]}, {mod, {?MODULE, []}}]}),
    _ = spawn(fun() -> application:ensure_all_started(broker) end),
    %% The node is not new any more.
    {UpMs, _} = erlang:statistics(wall_clock),
    timer:sleep(max(500, 10_000 - UpMs)),
    ok.

start(normal, []) ->
    {ok, Supervisor} = supervisor:start_link({local, store_sup}, ?MODULE, []),
    ok = recover(4000),
    {ok, Supervisor}.

stop(_) -> ok.

recover(0) -> ok;
recover(Left) ->
    {ok, _} = supervisor:start_child(store_sup, [Left]),
    recover(Left - 1).

init([]) -> {ok, {#{strategy => simple_one_for_one}, [#{id => store, start => {?MODULE, start_store, []}}]}}.

start_store(Number) -> proc_lib:start_link(?MODULE, init_store, [Number]).

init_store(_) ->
    timer:sleep(35),
    proc_lib:init_ack({ok, self()}),
    receive stop -> ok end.
