%% @doc Callers that wait for room: how they ask the writer, and the order in which the writer keeps
%% them.
-module(batch_io_waiting).

-export([want/3, want/4, new/0, add/5, is_empty/1, let_in/2, refuse/1, from_0_1/1, to_0_1/1]).
-export_type([waiting/0, caller/0]).

%% One caller is admitted for so many free slots.
-define(SLOTS_EACH, 8).

%% Ordered by the deadline, which a caller keeps when it asks again. So one that is told of room and finds it taken comes back to its
%% place. The number orders those of one millisecond.
-opaque waiting() :: gb_sets:set({DeadlineMs :: integer(), Nth :: integer(), Alias :: reference(), Bytes :: non_neg_integer(), caller()}) |
                     waiting_0_1(). % while a state of 0.1.0 is converted
%% Code of 0.1.0 does not tell who waits.
-type caller() :: pid() | unknown.
-type waiting_0_1() :: queue:queue({Alias :: reference(), Bytes :: non_neg_integer(), DeadlineMs :: integer()}).

%% @doc Waits until there is room for a message of that many bytes. With `shed' the oldest messages
%% are dropped for it, with `room' the device makes it. `refused' means that there will be no room.
-spec want(Writer :: atom(), shed | room, Bytes :: non_neg_integer(), DeadlineMs :: integer()) -> room | refused | late.
want(Writer, How, Bytes, Deadline) ->
    case whereis(Writer) of
        undefined -> refused;
        Pid ->
            Alias = monitor(process, Pid, [{alias, reply_demonitor}]),
            Pid ! {How, Alias, Bytes, Deadline, self()},
            receive
                {Alias, Answer} -> Answer;
                {'DOWN', Alias, process, _, _} -> refused
            after max(0, Deadline - now_ms()) -> withdraw(Alias)
            end
    end.

%% @doc For callers that waited while 0.1.0 was upgraded and then found no room.
-spec want(shed | room, Bytes :: non_neg_integer(), Ms :: non_neg_integer()) -> room | refused | late.
want(How, Bytes, Ms) -> want(batch_io_writer, How, Bytes, now_ms() + Ms).

withdraw(Alias) ->
    _ = demonitor(Alias, [flush]),
    receive {Alias, _} -> late after 0 -> late end.

-spec new() -> waiting().
new() -> gb_sets:new().

-spec is_empty(waiting()) -> boolean().
is_empty(Waiting) -> gb_sets:is_empty(Waiting).

%% @doc Adds a caller. The writer looks for room then, which removes those that wait no more.
-spec add(Alias :: reference(), Bytes :: non_neg_integer(), DeadlineMs :: integer(), caller(), waiting()) -> waiting().
add(Alias, Bytes, Deadline, Caller, Waiting) ->
    gb_sets:add_element({Deadline, erlang:unique_integer([monotonic]), Alias, Bytes, Caller}, Waiting).

%% A caller that was killed would hold up those behind it until its deadline.
without_gone(Waiting) ->
    case gb_sets:is_empty(Waiting) orelse waits(gb_sets:smallest(Waiting)) of
        true -> Waiting;
        false ->
            {_, Rest} = gb_sets:take_smallest(Waiting),
            without_gone(Rest)
    end.

waits({Deadline, _, _, _, Caller}) -> Deadline > now_ms() andalso (Caller =:= unknown orelse is_process_alive(Caller)).

%% @doc Tells the first callers that there is room, and removes those at the head that wait no more. Such callers do not sign off, so with
%% a device that hangs the set would grow without end.
%% Only a few at a time, because each fills what it can and those that find no room left wait again.
%% Waking as many callers as there were slots made 64 writers with room for 100 messages take twice
%% the time of io:format.
-spec let_in(waiting(), batch_io_buffer:buffer()) -> waiting().
let_in(Waiting, Buffer) ->
    #{slots := Slots} = batch_io_buffer:options(Buffer),
    {Held, _} = batch_io_buffer:held(Buffer),
    let_in(max(1, (Slots - Held) div ?SLOTS_EACH), 0, without_gone(Waiting), Buffer).

let_in(0, _Bytes, Waiting, _Buffer) -> Waiting;
let_in(Number, Bytes, Waiting, Buffer) ->
    case gb_sets:is_empty(Waiting) of
        true -> Waiting;
        false ->
            {{_, _, Alias, More, _}, Rest} = gb_sets:take_smallest(Waiting),
            case answer(More, Bytes, Buffer) of
                room ->
                    Alias ! {Alias, room},
                    let_in(Number - 1, Bytes + More, without_gone(Rest), Buffer);
                refused ->
                    Alias ! {Alias, refused},
                    let_in(Number, Bytes, without_gone(Rest), Buffer);
                none -> Waiting
            end
    end.

%% A lower limit may have come since the caller asked. It would hold up those behind it, though it gets no room ever.
answer(More, Bytes, Buffer) ->
    #{bytes := Most} = batch_io_buffer:options(Buffer),
    case batch_io_buffer:has_room(1, Bytes + More, Buffer) of
        true -> room;
        false when More > Most -> refused;
        false -> none
    end.

%% @doc Tells all callers that there will be no room.
-spec refuse(waiting()) -> waiting().
refuse(Waiting) ->
    lists:foreach(fun({_, _, Alias, _, _}) -> Alias ! {Alias, refused} end, gb_sets:to_list(Waiting)),
    new().

%% @doc Converts what version 0.1.0 had.
-spec from_0_1(waiting()) -> waiting().
from_0_1(Waiting) ->
    lists:foldl(fun({Alias, Bytes, Deadline}, Added) -> add(Alias, Bytes, Deadline, unknown, Added) end, new(), queue:to_list(Waiting)).

%% @doc Converts it for version 0.1.0.
-spec to_0_1(waiting()) -> waiting().
to_0_1(Waiting) -> queue:from_list([{Alias, Bytes, Deadline} || {Deadline, _, Alias, Bytes, _} <- gb_sets:to_list(Waiting)]).

now_ms() -> erlang:monotonic_time(millisecond).
