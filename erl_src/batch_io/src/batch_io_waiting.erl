%% @doc Callers that want room: how they ask the writer for it, and those that wait,
%% as the writer keeps them.
-module(batch_io_waiting).

-export([want/3, want/4, new/0, add/4, is_empty/1, let_in/2, refuse/1]).
-export_type([waiting/0]).

%% One is let in for so many free slots.
-define(SLOTS_EACH, 8).

-opaque waiting() :: queue:queue({Alias :: reference(), Bytes :: non_neg_integer(), DeadlineMs :: integer()}).

%% @doc Waits until there is room for a message of so many bytes, which the oldest
%% make (`shed') or the device. `refused' where there will not be.
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

%% @doc For a caller that has waited while 0.1.0 was upgraded, and has found no room after that.
-spec want(shed | room, Bytes :: non_neg_integer(), Ms :: non_neg_integer()) -> room | refused | late.
want(How, Bytes, Ms) -> want(batch_io_writer, How, Bytes, Ms).

withdraw(Alias) ->
    _ = demonitor(Alias, [flush]),
    receive {Alias, _} -> late after 0 -> late end.

-spec new() -> waiting().
new() -> queue:new().

-spec is_empty(waiting()) -> boolean().
is_empty(Waiting) -> queue:is_empty(Waiting).

%% @doc One more, and without those that wait no more, who say nothing: else they
%% would become more and more before a device that hangs.
-spec add(Alias :: reference(), Bytes :: non_neg_integer(), DeadlineMs :: integer(), waiting()) -> waiting().
add(Alias, Bytes, Deadline, Waiting) -> queue:in({Alias, Bytes, Deadline}, in_time(now_ms(), Waiting)).

in_time(Now, Waiting) ->
    case queue:peek(Waiting) of
        {value, {_, _, Deadline}} when Deadline =< Now -> in_time(Now, queue:drop(Waiting));
        _ -> Waiting
    end.

%% @doc Tells some that there is room, where there is. Few at a time, since each
%% fills what it can, and those who find nothing left come again: waking as many as
%% there were slots made 64 writers with room for 100 messages take twice the time
%% of io:format.
-spec let_in(waiting(), batch_io_buffer:buffer()) -> waiting().
let_in(Waiting, Buffer) ->
    #{slots := Slots} = batch_io_buffer:options(Buffer),
    {Held, _} = batch_io_buffer:held(Buffer),
    let_in(max(1, (Slots - Held) div ?SLOTS_EACH), 0, Waiting, Buffer).

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

%% @doc Tells all that there will be no room.
-spec refuse(waiting()) -> waiting().
refuse(Waiting) ->
    lists:foreach(fun({Alias, _, _}) -> Alias ! {Alias, refused} end, queue:to_list(Waiting)),
    new().

now_ms() -> erlang:monotonic_time(millisecond).
