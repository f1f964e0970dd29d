%%% Memory of native functions that garbage keeps: a reference to a resource is a few words, so a process that has dropped many of them is
%%% not collected, though each has megabytes outside of the VM's allocators. Collecting idle processes tells which.

%% So long at most; so many processes are asked, and those that did little in between are collected, so many with the largest heaps.
-define(RESOURCES_MS, 2000).
-define(ASKED_FOR_RESOURCES, 2000).
-define(IDLE_MS, 100).
-define(COLLECTED_FOR_RESOURCES, 100).
%% More than any heap that is collected here.
-define(FREED_BYTES, 10_000_000).
%% It is given back so soon; where it is, that may go on for so long.
-define(FREES_MS, 2).
-define(SETTLE_MS, 10).
-define(SETTLES, 30).

%% Where native functions have most of the memory, what collecting gives back of it.
with_freed(#{native := Bytes} = Elsewhere, Pids, true, Deadline) when is_integer(Bytes), Bytes >= ?MOST_BYTES ->
    Until = min(Deadline, now_ms() + ?RESOURCES_MS),
    case memory() of
        #{total := Total} when Bytes >= Total ->
            case within(fun() -> freed_natively(Pids, Until - 2 * ?SETTLES * ?SETTLE_MS) end, Until) of
                Freed when is_list(Freed) -> Elsewhere#{freed => Freed};
                silent -> Elsewhere
            end;
        _ -> Elsewhere
    end;
with_freed(Elsewhere, _, _, _) -> Elsewhere.

%% @doc Which of these processes gave memory of native functions back when they were collected, and how much. Only such as are idle, and
%% have a small heap, are touched.
-spec freed_natively([pid()], integer()) -> [#{pid := binary(), name := atom(), bytes := pos_integer()}].
freed_natively(Pids, Until) ->
    Before = [{Words, {Pid, {Reductions, now_ms()}}}
              || Pid <- lists:sublist(Pids, ?ASKED_FOR_RESOURCES), Pid =/= self(),
                 [{_, Reductions}, {_, Words}] <- [process_info(Pid, [reductions, total_heap_size])]],
    wait(?IDLE_MS),
    %% What is garbage needs room.
    Idle = [Pid || {_, {Pid, Seen}} <- ranked(length(Before), Before), is_idle(Pid, Seen)],
    Freed = freed_by(lists:sublist(Idle, ?COLLECTED_FOR_RESOURCES), Until, resident(), native(), []),
    [#{pid => pid_text(Pid), name => registered_as(Pid), bytes => Bytes} || {Bytes, Pid} <- ranked(?LARGEST, Freed)].

%% What the kernel tells is read after each; what the VM's allocators have takes longer to add up.
freed_by([Pid | Others], Until, Resident, Native, Freed) when is_integer(Resident), is_integer(Native) ->
    case now_ms() < Until andalso is_small(process_info(Pid, [max_heap_size, total_heap_size])) andalso erlang:garbage_collect(Pid) of
        true ->
            wait(?FREES_MS),
            case resident() of
                Now when is_integer(Now), Resident - Now >= ?FREED_BYTES ->
                    ok = settled_memory(Now, ?SETTLES),
                    case native() of
                        Left when is_integer(Left), Native - Left >= ?FREED_BYTES ->
                            freed_by(Others, Until, resident(), Left, [{Native - Left, Pid} | Freed]);
                        Left -> freed_by(Others, Until, Now, Left, Freed)
                    end;
                Now -> freed_by(Others, Until, Now, Native, Freed)
            end;
        false -> freed_by(Others, Until, Resident, Native, Freed)
    end;
freed_by(_, _, _, _, Freed) -> Freed.

%% The VM ends resources after the collection, one after the other: what goes on being given back is of the same process.
settled_memory(_, 0) -> ok;
settled_memory(Before, Left) ->
    wait(?SETTLE_MS),
    case resident() of
        Now when is_integer(Now), Before - Now >= ?FREED_BYTES div 10 -> settled_memory(Now, Left - 1);
        _ -> ok
    end.

is_small([_, {_, Words}] = Info) -> erlang:system_info(wordsize) * Words =< ?COLLECTED_BYTES andalso may_be_collected(Info);
is_small(undefined) -> false.
