%% @doc The processor time that a process of the operating system has taken.
-module(program_cpu).

-export([nanoseconds/1, taken/2]).

%% @doc Of all its threads, in nanoseconds, by the kernel's scheduler. (What threads took that have ended is not in it: an
%% emulator's threads live as long as the emulator.)
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

%% @doc What the process takes while a function works, and that function's result.
-spec taken(OsPid :: pos_integer(), fun(() -> Result)) -> {Nanoseconds :: non_neg_integer(), Result}.
taken(OsPid, Fun) ->
    Before = nanoseconds(OsPid),
    Result = Fun(),
    {nanoseconds(OsPid) - Before, Result}.
