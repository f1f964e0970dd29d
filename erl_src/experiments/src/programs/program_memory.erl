%% @doc What a program's VM holds.
-module(program_memory).

-export([bytes/1]).
-export([collected/0]).

%% @doc All that its allocators have given out, after a full collection of each of its processes.
-spec bytes(program_node:program()) -> pos_integer().
bytes(Program) -> program_node:call(Program, ?MODULE, collected, []).

%% @doc Called in the program's VM.
-spec collected() -> pos_integer().
collected() ->
    lists:foreach(fun(Process) -> true = garbage_collect(Process) orelse true end, processes()),
    erlang:memory(total).
