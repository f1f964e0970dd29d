%% @doc The processes that run the callbacks of each worker: the worker itself, and held processes.
%% A table of the supervisor lists them, so that they can be ended even if their keeper was killed.
-module(callbacks_processes).

-export([new/0, add/2, remove/1, end_all/1]).

%% @doc An empty table, which the caller owns.
-spec new() -> ok.
new() ->
    ?MODULE = ets:new(?MODULE, [named_table, public]),
    ok.

%% @doc Adds a process of the worker with that number.
-spec add(pos_integer(), pid()) -> ok.
add(Number, Pid) ->
    true = ets:insert(?MODULE, {Pid, Number}),
    ok.

-spec remove(pid()) -> ok.
remove(Pid) ->
    true = ets:delete(?MODULE, Pid),
    ok.

%% @doc Ends the processes of the worker with that number, and waits until they have ended.
-spec end_all(pos_integer()) -> ok.
end_all(Number) ->
    Pids = ets:select(?MODULE, [{{'$1', Number}, [], ['$1']}]),
    Monitors = [{monitor(process, Pid), exit(Pid, kill)} || Pid <- Pids],
    _ = [receive {'DOWN', Monitor, process, _, _} -> ok end || {Monitor, true} <- Monitors],
    lists:foreach(fun remove/1, Pids).
