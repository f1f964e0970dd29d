%% @doc The processor time of a process of the operating system.
-module(program_cpu).

-export([nanoseconds/1, taken/2]).

%% @doc The processor time of all its threads, in nanoseconds, from the kernel's scheduler. (It lacks threads that have ended,
%% but an emulator's threads live as long as the emulator.)
-spec nanoseconds(OsPid :: pos_integer()) -> non_neg_integer().
nanoseconds(OsPid) ->
    Tasks = filename:join(["/proc", integer_to_list(OsPid), "task"]),
    {ok, Threads} = file:list_dir(Tasks),
    lists:sum([of_thread(filename:join([Tasks, Thread, "schedstat"])) || Thread <- Threads]).

of_thread(File) ->
    case file:read_file(File) of
        {ok, Line} -> binary_to_integer(hd(binary:split(Line, <<" ">>)));
        {error, _} -> 0
    end.

%% @doc The processor time of the process while a function runs, and that function's result.
-spec taken(OsPid :: pos_integer(), fun(() -> Result)) -> {Nanoseconds :: non_neg_integer(), Result}.
taken(OsPid, Fun) ->
    Before = nanoseconds(OsPid),
    Result = Fun(),
    {nanoseconds(OsPid) - Before, Result}.
