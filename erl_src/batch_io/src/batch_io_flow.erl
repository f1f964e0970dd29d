%% @doc The path of messages from the tables to the device, and the processes that wait for it, as
%% functions from one state of the writer to the next. Without timers, and nothing here waits.
-module(batch_io_flow).

-include("batch_io_state.hrl").

-export([write/1, fill/1, oldest/1, done/2, answer/1, forget_late/1, shed/2, dropped/3]).

%% With `oldest', this share of the slots is freed at once.
-define(SHED_SHARE, 16).

%% @doc Gives the device as many pages as it can take. The tables are emptied at most once, and only
%% if there is a page or the writer may not wait for one. Emptying them repeatedly while callers
%% insert would find a message or two each time, and block the callers at the table's lock.
-spec write(#state{}) -> #state{}.
write(State) -> write(look, State).

write(Tables, #state{device = Device} = State) ->
    case batch_io_device:is_ready(Device) of
        true -> write(Tables, cut(State), State);
        false -> State
    end.

cut(#state{queue = Queue, buffer = Buffer}) -> batch_io_page:cut(Queue, batch_io_buffer:page_limits(Buffer)).

write(Tables, {pass, Item, Rest}, #state{device = Device} = State) ->
    write(Tables, without(Rest, 1, State#state{device = batch_io_device:pass(Item, Device)}));
write(Tables, {full, Page, Rest}, State) -> write(Tables, page(Page, Rest, State));
write(look, Short, #state{buffer = Buffer} = State) ->
    case may_wait(State) andalso not batch_io_buffer:is_page(Buffer) of
        true -> write(seen, Short, State);
        false -> write(seen, fill(State))
    end;
write(seen, Short, State) -> write_short(Short, State).

%% Drops are reported with the next page, or alone if there is none. They are not reported alone to
%% a device that has just failed, because that would be repeated without end.
write_short(empty, #state{buffer = Buffer, failure = Failure} = State) ->
    case untold(Buffer) > 0 andalso not is_failing(Failure) of
        true -> page({0, 0, []}, [], State);
        false -> State#state{hurry = false}
    end;
write_short({partial, Page, Rest}, State) ->
    case may_wait(State) of
        true -> State;
        false -> page(Page, Rest, State#state{hurry = false})
    end.

%% If a page is being written, its answer makes room for waiting callers, so the writer may wait.
may_wait(#state{hurry = true}) -> false;
may_wait(#state{flushers = [_ | _]}) -> false;
may_wait(#state{device = Device, waiting = Waiting}) ->
    batch_io_device:is_writing(Device) orelse batch_io_waiting:is_empty(Waiting).

is_failing({now, _}) -> true;
is_failing(_) -> false.

page({Slots, Bytes, _} = Page, Rest, #state{buffer = Buffer, device = Device, next = Next, since = Since} = State) ->
    Untold = max(0, untold(Buffer)),
    %% Counted before the page is sent, so that no later writer reports these drops again.
    ok = batch_io_buffer:add(told, Untold, Buffer),
    ok = batch_io_buffer:add(in_flight, Slots, Buffer),
    Written = batch_io_device:write(Page, {Next, Slots, Bytes, Since, Untold}, line(Untold, Buffer), Device),
    without(Rest, Slots, State#state{device = Written}).

untold(Buffer) -> batch_io_buffer:get(dropped, Buffer) - batch_io_buffer:get(told, Buffer).

line(0, _) -> <<>>;
line(Dropped, Buffer) ->
    case batch_io_buffer:options(Buffer) of
        #{tell := {Module, Function, Arguments}} -> apply(Module, Function, [Dropped | Arguments]);
        #{} when Dropped =:= 1 -> <<"batch_io: 1 message was dropped\n">>;
        #{} -> <<"batch_io: ", (integer_to_binary(Dropped))/binary, " messages were dropped\n">>
    end.

%% The queue without the first messages, which are sent or dropped.
without([], Gone, #state{next = Next} = State) -> State#state{queue = [], next = Next + Gone, since = 0};
without(Rest, Gone, #state{next = Next} = State) -> State#state{queue = Rest, next = Next + Gone}.

%% @doc Adds everything that callers have inserted to the queue.
-spec fill(#state{}) -> #state{}.
fill(#state{buffer = Buffer, queue = Queue, since = Since} = State) ->
    Now = erlang:monotonic_time(),
    Before = batch_io_buffer:get(since, Buffer),
    Taken = batch_io_buffer:take(Buffer),
    ok = batch_io_buffer:set(since, Now, Buffer),
    case {Queue, Taken} of
        {_, []} -> State;
        {[], _} -> State#state{queue = Taken, since = Before};
        _ -> State#state{queue = Queue ++ Taken, since = Since}
    end.

%% @doc The time since which the oldest message waits, 0 for none.
-spec oldest(#state{}) -> integer().
oldest(#state{device = Device, since = Since}) ->
    case batch_io_device:oldest(Device) of
        none -> Since;
        {_, Earlier} -> Earlier
    end.

%% @doc Handles an answer of the device.
-spec done(none | tuple(), #state{}) -> #state{}.
done(none, State) -> State;
done({passed, Ref, Server, Reply}, State) ->
    Server ! {passed, Ref, Reply},
    State;
done({written, Note}, State) -> answered(sent, Note, works(State));
done({{failed, Reason}, Note}, #state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:add(errors, 1, Buffer),
    ok = batch_io_buffer:add(told, -untold_again(Reason, Note), Buffer),
    answered(dropped, Note, State#state{failure = failure(Reason)}).

%% A former device that was given up says nothing about the current one.
failure(no_answer) -> {before, no_answer};
failure(Reason) -> {now, Reason}.

works(#state{failure = {now, Reason}} = State) -> State#state{failure = {before, Reason}};
works(State) -> State.

%% A device that died or was given up may have written the page and the line in it. If the device
%% answered that it did not write the page, the drops are reported again.
untold_again(Reason, _) when Reason =:= terminated; Reason =:= no_answer -> 0;
untold_again(_, {_, _, _, _, Told}) -> Told.

answered(As, {_, Slots, Bytes, _, _}, #state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:add(in_flight, -Slots, Buffer),
    ok = batch_io_buffer:settle(As, Slots, Bytes, Buffer),
    State.

%% @doc Answers flushes whose messages the device has, and admits waiting callers if there is room.
-spec answer(#state{}) -> #state{}.
answer(#state{device = Device} = State) ->
    case batch_io_device:is_open(Device) of
        true -> answer_waiting(answer_flushers(State));
        false -> refuse(State)
    end.

answer_flushers(#state{flushers = []} = State) -> State;
answer_flushers(#state{flushers = Flushers, device = Device, next = Next} = State) ->
    Reached = case batch_io_device:oldest(Device) of
                  {From, _} -> From;
                  none -> Next
              end,
    {Done, Left} = lists:splitwith(fun({Mark, _, _, _}) -> Mark =< Reached end, Flushers),
    lists:foreach(fun({_, Errors, From, _}) -> gen_server:reply(From, flushed(Errors, State)) end, Done),
    State#state{flushers = Left}.

%% @doc Forgets flushes whose caller waits no more. With a device that hangs they would stay.
-spec forget_late(#state{}) -> #state{}.
forget_late(#state{flushers = Flushers} = State) ->
    Now = erlang:monotonic_time(millisecond),
    State#state{flushers = [Flusher || {_, _, {Pid, _}, Deadline} = Flusher <- Flushers, Deadline > Now, waits(Pid)]}.

waits(Pid) -> node(Pid) =/= node() orelse is_process_alive(Pid).

flushed(Errors, #state{buffer = Buffer, failure = Failure}) ->
    case batch_io_buffer:get(errors, Buffer) of
        Errors -> ok;
        _ -> {error, element(2, Failure)}
    end.

answer_waiting(#state{waiting = Waiting, buffer = Buffer} = State) ->
    State#state{waiting = batch_io_waiting:let_in(Waiting, Buffer)}.

%% Without a device, nobody waits.
refuse(#state{queue = Queue, flushers = Flushers, waiting = Waiting, failure = Failure} = State) ->
    lists:foreach(fun({_, _, From, _}) -> gen_server:reply(From, {error, no_device(Failure)}) end, Flushers),
    {Passing, Entries} = lists:partition(fun(Item) -> element(1, Item) =:= pass end, Queue),
    lists:foreach(fun({pass, Ref, Server, _}) -> Server ! {passed, Ref, {error, terminated}} end, Passing),
    State#state{queue = Entries, flushers = [], waiting = batch_io_waiting:refuse(Waiting)}.

no_device(none) -> terminated;
no_device({_, Reason}) -> Reason.

%% @doc Drops the oldest messages to make room for a message of that many bytes.
-spec shed(Bytes :: non_neg_integer(), #state{}) -> {room | refused, #state{}}.
shed(Bytes, #state{buffer = Buffer, queue = Queue} = State) ->
    #{slots := Slots} = batch_io_buffer:options(Buffer),
    Share = max(1, Slots div ?SHED_SHARE),
    case batch_io_buffer:has_room(Share, Bytes, Buffer) of
        true -> {room, State};
        false -> was_shed(drop_oldest(Queue, Share, Bytes, {0, 0}, []), State)
    end.

was_shed({{0, _}, _}, State) -> {refused, State};
was_shed({{Slots, Bytes}, Left}, State) -> {room, without(Left, Slots, dropped(Slots, Bytes, State))}.

drop_oldest([{pass, _, _, _} = Item | Rest], Slots, Bytes, Dropped, Kept) ->
    drop_oldest(Rest, Slots, Bytes, Dropped, [Item | Kept]);
drop_oldest([{_, Size, _} | Rest], Slots, Bytes, {Number, Freed}, Kept) when Number < Slots; Freed < Bytes ->
    drop_oldest(Rest, Slots, Bytes, {Number + 1, Freed + Size}, Kept);
drop_oldest(Rest, _, _, Dropped, Kept) -> {Dropped, lists:reverse(Kept, Rest)}.

%% @doc Counts held messages that are gone as dropped.
-spec dropped(Slots :: integer(), Bytes :: integer(), #state{}) -> #state{}.
dropped(Slots, Bytes, #state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:settle(dropped, Slots, Bytes, Buffer),
    State.
