%% @doc Puts a message into the buffer, and decides what happens if the buffer is full.
-module(batch_io_drop).

-export([write/4]).

%% The writer drops the oldest messages at once, and the caller waits for that. This timeout is for a writer that is not scheduled or is
%% suspended. Each caller that finds the buffer full then waits so long.
-define(SHED_MS, 1000).

%% @doc Inserts the message, or counts it as dropped. `closed' means that it did neither, because
%% the buffer is closed or gone.
-spec write(batch_io_buffer:buffer(), Client :: pid(), Bytes :: non_neg_integer(), Text) -> ok | dropped | closed
              when Text :: binary() | {io:format(), [term()]}.
write(Buffer, Client, Bytes, Text) ->
    case batch_io_buffer:put(Buffer, Client, Bytes, Text) of
        ok -> ok;
        closed -> closed;
        full -> full(Buffer, Client, Bytes, Text);
        too_large -> drop(Buffer)
    end.

drop(Buffer) ->
    ok = batch_io_buffer:add(dropped, 1, Buffer),
    dropped.

full(Buffer, Client, Bytes, Text) ->
    #{drop := Drop, leader := Leader} = batch_io_buffer:options(Buffer),
    NeverWait = [batch_io_buffer:writer(Buffer), Leader, logger, logger_sup],
    case lists:any(fun(Name) -> is_one_of(Name, [self(), Client]) end, NeverWait) orelse is_below_logger() of
        true -> drop(Buffer);
        false -> full(Drop, Buffer, Client, Bytes, Text)
    end.

%% These processes must not wait for room, neither themselves nor by the server that writes for them.
%% The writer and the device would wait for themselves if they log through the handler that they
%% serve, or write to the group leader whose pages they take. The logger and its supervisor wait for
%% the processes below that supervisor, and would block every process that adds, changes or removes
%% a handler.
is_one_of(Name, Pids) when is_atom(Name) -> lists:member(whereis(Name), Pids);
is_one_of(Pid, Pids) -> lists:member(Pid, Pids).

is_below_logger() ->
    case get('$ancestors') of
        [_ | _] = Ancestors -> is_among(logger_sup, Ancestors);
        _ -> false
    end.

%% A process may put anything there, such as a list without an end.
is_among(Name, [Name | _]) -> true;
is_among(Name, [_ | Names]) -> is_among(Name, Names);
is_among(_, _) -> false.

full(newest, Buffer, _, _, _) -> drop(Buffer);
full(oldest, Buffer, Client, Bytes, Text) -> again(shed, now_ms() + ?SHED_MS, Buffer, Client, Bytes, Text);
full({block, Ms}, Buffer, Client, Bytes, Text) -> again(room, now_ms() + Ms, Buffer, Client, Bytes, Text).

%% Tries again, because other callers may take the room that was made. With the deadline it keeps its place. The writer judges by the
%% options of now, so the caller must, too: with those of before it would not find the room that
%% larger limits made, and ask again at once.
again(How, Deadline, Buffer, Client, Bytes, Text) ->
    Writer = batch_io_buffer:writer(Buffer),
    case batch_io_waiting:want(Writer, How, Bytes, Deadline) of
        room -> inserted(How, Deadline, batch_io_buffer:current(Writer), Client, Bytes, Text);
        _ -> drop(Buffer)
    end.

inserted(_, _, undefined, _, _, _) -> closed;
inserted(How, Deadline, Buffer, Client, Bytes, Text) ->
    case batch_io_buffer:put(Buffer, Client, Bytes, Text) of
        full -> again(How, Deadline, Buffer, Client, Bytes, Text);
        too_large -> drop(Buffer);
        Inserted ->
            %% Others that were told of room run first. Otherwise the next messages of this caller would take it.
            true = erlang:yield(),
            Inserted
    end.

now_ms() -> erlang:monotonic_time(millisecond).
