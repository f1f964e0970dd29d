%% @doc Callers that wait for room: how they ask the writer, and the queue in which the writer keeps
%% them.
-module(batch_io_waiting).

-export([want/3, want/4, new/0, add/4, is_empty/1, let_in/2, refuse/1]).
-export_type([waiting/0]).

%% One caller is admitted for so many free slots.
-define(SLOTS_EACH, 8).

-opaque waiting() :: queue:queue({Alias :: reference(), Bytes :: non_neg_integer(), DeadlineMs :: integer()}).

%% @doc Waits until there is room for a message of that many bytes. With `shed' the oldest messages
%% are dropped for it, with `room' the device makes it. `refused' means that there will be no room.
-spec want(Writer :: atom(), shed | room, Bytes :: non_neg_integer(), Ms :: non_neg_integer()) -> room | refused | late.
want(Writer, How, Bytes, Ms) ->
    case whereis(Writer) of
        undefined -> refused;
        Pid ->
            Alias = monitor(process, Pid, [{alias, reply_demonitor}]),
            Pid ! {How, Alias, Bytes, now_ms() + Ms},
            receive
                {Alias, Answer} -> Answer;
                {'DOWN', Alias, process, _, _} -> refused
            after Ms -> withdraw(Alias)
            end
    end.

%% @doc For callers that waited while 0.1.0 was upgraded and then found no room.
-spec want(shed | room, Bytes :: non_neg_integer(), Ms :: non_neg_integer()) -> room | refused | late.
want(How, Bytes, Ms) -> want(batch_io_writer, How, Bytes, Ms).

withdraw(Alias) ->
    _ = demonitor(Alias, [flush]),
    receive {Alias, _} -> late after 0 -> late end.

-spec new() -> waiting().
new() -> queue:new().

-spec is_empty(waiting()) -> boolean().
is_empty(Waiting) -> queue:is_empty(Waiting).

%% @doc Adds a caller, and removes those at the head whose deadline has passed. Such callers do not
%% sign off, so with a device that hangs the queue would grow without end.
-spec add(Alias :: reference(), Bytes :: non_neg_integer(), DeadlineMs :: integer(), waiting()) -> waiting().
add(Alias, Bytes, Deadline, Waiting) -> queue:in({Alias, Bytes, Deadline}, in_time(now_ms(), Waiting)).

in_time(Now, Waiting) ->
    case queue:peek(Waiting) of
        {value, {_, _, Deadline}} when Deadline =< Now -> in_time(Now, queue:drop(Waiting));
        _ -> Waiting
    end.

%% @doc Tells some callers that there is room, after removing those at the head whose deadline has passed.
%% Only a few at a time, because each fills what it can and those that find no room left wait again.
%% Waking as many callers as there were slots made 64 writers with room for 100 messages take twice
%% the time of io:format.
-spec let_in(waiting(), batch_io_buffer:buffer()) -> waiting().
let_in(Waiting, Buffer) ->
    #{slots := Slots} = batch_io_buffer:options(Buffer),
    {Held, _} = batch_io_buffer:held(Buffer),
    let_in(max(1, (Slots - Held) div ?SLOTS_EACH), 0, in_time(now_ms(), Waiting), Buffer).

let_in(0, _Bytes, Waiting, _Buffer) -> Waiting;
let_in(Number, Bytes, Waiting, Buffer) ->
    case queue:out(Waiting) of
        {empty, _} -> Waiting;
        {{value, {Alias, More, _}}, Rest} ->
            case batch_io_buffer:has_room(1, Bytes + More, Buffer) of
                true ->
                    Alias ! {Alias, room},
                    let_in(Number - 1, Bytes + More, Rest, Buffer);
                false -> Waiting
            end
    end.

%% @doc Tells all callers that there will be no room.
-spec refuse(waiting()) -> waiting().
refuse(Waiting) ->
    lists:foreach(fun({Alias, _, _}) -> Alias ! {Alias, refused} end, queue:to_list(Waiting)),
    new().

now_ms() -> erlang:monotonic_time(millisecond).
