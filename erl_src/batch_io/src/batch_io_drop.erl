%% @doc Putting a message into the buffer, and what becomes of it where that is full.
-module(batch_io_drop).

-export([write/4]).

%% The writer drops the oldest at once, so this is for one that gets no time.
-define(SHED_MS, 1000).

%% @doc Inserts the message, or counts it as dropped. `closed': neither, since the
%% buffer is no more.
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
    case lists:any(fun is_self/1, [batch_io_buffer:writer(Buffer), Leader]) of
        true -> drop(Buffer);
        false -> full(Drop, Buffer, Client, Bytes, Text)
    end.

%% The writer and the device would wait for themselves, where they log by the handler that they serve.
is_self(Name) when is_atom(Name) -> whereis(Name) =:= self();
is_self(Pid) -> Pid =:= self().

full(newest, Buffer, _, _, _) -> drop(Buffer);
full(oldest, Buffer, Client, Bytes, Text) -> again(shed, now_ms() + ?SHED_MS, Buffer, Client, Bytes, Text);
full({block, Ms}, Buffer, Client, Bytes, Text) -> again(room, now_ms() + Ms, Buffer, Client, Bytes, Text).

%% Others may take the room that is made.
again(How, Deadline, Buffer, Client, Bytes, Text) ->
    case batch_io_waiting:want(batch_io_buffer:writer(Buffer), How, Bytes, max(0, Deadline - now_ms())) of
        room ->
            case batch_io_buffer:put(Buffer, Client, Bytes, Text) of
                full -> again(How, Deadline, Buffer, Client, Bytes, Text);
                Inserted -> Inserted
            end;
        _ -> drop(Buffer)
    end.

now_ms() -> erlang:monotonic_time(millisecond).
