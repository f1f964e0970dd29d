%%% Memory of native functions that garbage keeps: a reference to a resource is a few words, so a process that has dropped many of them is
%%% not collected, though each has megabytes outside of the VM's allocators. Collecting idle processes tells which.

%% So long at most; so many processes are asked, and those that did little in between are collected, so many of them.
-define(RESOURCES_MS, 1500).
-define(ASKED_FOR_RESOURCES, 2000).
-define(IDLE_MS, 100).
-define(COLLECTED_FOR_RESOURCES, 200).
%% More than any heap that is collected here.
-define(FREED_BYTES, 10_000_000).

%% Where native functions have most of the memory, what collecting gives back of it.
with_freed(#{native := Bytes} = Elsewhere, Pids, true, Deadline) when is_integer(Bytes), Bytes >= ?MOST_BYTES ->
    Until = min(Deadline, now_ms() + ?RESOURCES_MS),
    case memory() of
        #{total := Total} when Bytes >= Total ->
            case within(fun() -> freed_natively(Pids, Until - ?ANSWER_MS) end, Until) of
                Freed when is_list(Freed) -> Elsewhere#{freed => Freed};
                silent -> Elsewhere
            end;
        _ -> Elsewhere
    end;
with_freed(Elsewhere, _, _, _) -> Elsewhere.

%% @doc Which of these processes gave memory of native functions back when they were collected, and how much. Only such as are idle, and have
%% a small heap, are touched.
-spec freed_natively([pid()], integer()) -> [#{pid := binary(), name := atom(), bytes := pos_integer()}].
freed_natively(Pids, Until) ->
    Before = [{Pid, {Reductions, now_ms()}} || Pid <- lists:sublist(Pids, ?ASKED_FOR_RESOURCES), Pid =/= self(),
                                               {_, Reductions} <- [process_info(Pid, reductions)]],
    wait(?IDLE_MS),
    Idle = [Pid || {Pid, Seen} <- Before, is_idle(Pid, Seen)],
    Freed = freed_by(lists:sublist(Idle, ?COLLECTED_FOR_RESOURCES), Until, resident(), native(), []),
    [#{pid => pid_text(Pid), name => registered_as(Pid), bytes => Bytes} || {Bytes, Pid} <- ranked(?LARGEST, Freed)].

%% What the kernel tells is read after each; what the VM's allocators have takes longer to add up.
freed_by([Pid | Others], Until, Resident, Native, Freed) when is_integer(Resident), is_integer(Native) ->
    case now_ms() < Until andalso is_small(process_info(Pid, [max_heap_size, total_heap_size])) andalso erlang:garbage_collect(Pid) of
        true ->
            case resident() of
                Now when is_integer(Now), Resident - Now >= ?FREED_BYTES ->
                    case native() of
                        Left when is_integer(Left), Native - Left >= ?FREED_BYTES ->
                            freed_by(Others, Until, Now, Left, [{Native - Left, Pid} | Freed]);
                        Left -> freed_by(Others, Until, Now, Left, Freed)
                    end;
                Now -> freed_by(Others, Until, Now, Native, Freed)
            end;
        false -> freed_by(Others, Until, Resident, Native, Freed)
    end;
freed_by(_, _, _, _, Freed) -> Freed.

is_small([_, {_, Words}] = Info) -> erlang:system_info(wordsize) * Words =< ?COLLECTED_BYTES andalso may_be_collected(Info);
is_small(undefined) -> false.
