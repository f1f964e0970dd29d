%% @doc The memory of a program's VM.
-module(program_memory).

-export([bytes/1, settled_bytes/1, peak/2]).
-export([collected/0]).

-define(SETTLE_MS, 500).
-define(TRIES, 10).

%% @doc The bytes of its processes, tables and binaries, after a full collection of each of its processes.
-spec bytes(program_node:program()) -> pos_integer().
bytes(Program) -> program_node:call(Program, ?MODULE, collected, []).

%% @doc The same when it no longer changes, since a program does not report when its start has ended.
-spec settled_bytes(program_node:program()) -> pos_integer().
settled_bytes(Program) -> settled(Program, bytes(Program), ?TRIES).

settled(_, Bytes, 0) -> Bytes;
settled(Program, Before, Left) ->
    timer:sleep(?SETTLE_MS),
    case bytes(Program) of
        Before -> Before;
        Other -> settled(Program, Other, Left - 1)
    end.

%% @doc The most bytes of memory that a process of the operating system had resident while a function ran, and the function's result.
%% From VmHWM in /proc/PID/status, which 5 in /proc/PID/clear_refs resets (proc(5)).
-spec peak(OsPid :: pos_integer(), fun(() -> Result)) -> {pos_integer(), Result}.
peak(OsPid, Work) ->
    Folder = "/proc/" ++ integer_to_list(OsPid),
    ok = case file:write_file(filename:join(Folder, "clear_refs"), "5") of
             ok -> ok;
             {error, Why} ->
                 error({cannot_run, ["the peak of a program's memory cannot be reset (/proc/PID/clear_refs): ", file:format_error(Why)]})
         end,
    Result = Work(),
    {ok, Status} = file:read_file(filename:join(Folder, "status")),
    {match, [KiB]} = re:run(Status, "^VmHWM:\\s*([0-9]+) kB$", [multiline, {capture, all_but_first, binary}]),
    {1024 * binary_to_integer(KiB), Result}.

%% @doc Called in the program's VM.
-spec collected() -> pos_integer().
collected() ->
    _ = [garbage_collect(Process) || Process <- processes()],
    lists:sum([erlang:memory(Kind) || Kind <- [processes_used, ets, binary]]).
