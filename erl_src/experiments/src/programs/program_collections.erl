%% @doc The collections of one process of a program, traced.
-module(program_collections).

-export([while/3]).
%% Called in the program.
-export([traced/1]).

%% @doc Those while a function runs, and its result.
-spec while(program_node:program(), pid(), fun(() -> Result)) -> {[collection_events:collection()], Result}.
while(Program, Process, Work) ->
    Tracer = program_node:call(Program, ?MODULE, traced, [Process]),
    Result = Work(),
    {program_node:call(Program, collection_events, collections, [Tracer]), Result}.

%% @doc The process that keeps the events.
-spec traced(pid()) -> pid().
traced(Process) ->
    Tracer = collection_events:start_link(),
    true = unlink(Tracer),
    ok = collection_events:trace(Tracer, Process),
    Tracer.
