%% @doc The process that takes what callers have put into the buffer and writes it
%% to the device, a page at a time. It waits for nobody: answers, callers that want
%% room and devices that end are messages among others.
-module(batch_io_writer).
-behaviour(gen_server).

-export([start_link/0, flush/1, set_options/1, pass/2]).
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2, handle_info/2, terminate/2]).

%% How often a device that is gone is looked for, by its name.
-define(OPEN_MS, 100).
%% What is counted as held, and is nowhere and does not come for this long, was a
%% caller's that was killed, or the writer's before this one.
-define(LOST_MS, 250).
%% How long it goes on when it is stopped: for what the device has not answered,
%% and for callers that were about to insert.
-define(DRAIN_MS, 5000).
-define(CALLERS_MS, 100).
-define(POLL_MS, 10).
%% The share of the room that is made at once where the oldest are dropped.
-define(SHED_SHARE, 16).
%% Those that were woken for room may wait no more, so others are after a while.
-define(AGAIN_MS, 1).
-define(HEAP_WORDS, 100_000).

%% next: the number of the first in the queue. since: when that may have come.
%% hurry: what is there goes out, a full page or not. lingers, looks, asks: there
%% is a timer for it.
-record(state, {buffer :: batch_io_buffer:buffer(), device :: batch_io_device:device(),
                queue = [] :: [batch_io_page:item()], next = 0 :: non_neg_integer(), since = 0 :: integer(),
                hurry = false :: boolean(), lingers = false :: boolean(),
                looks = false :: boolean(), asks = false :: boolean(),
                suspect = none :: none | {term(), non_neg_integer()},
                failure = none :: term(),
                flushers = [] :: [flusher()], waiting = batch_io_waiting:new() :: batch_io_waiting:waiting()}).
-type flusher() :: {Mark :: non_neg_integer(), Errors :: non_neg_integer(), gen_server:from()}.

-spec start_link() -> gen_server:start_ret().
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

%% @doc Waits until the device has all that was inserted before.
-spec flush(timeout()) -> ok | {error, term()}.
flush(Ms) ->
    try gen_server:call(?MODULE, flush, Ms)
    catch
        exit:{timeout, _} -> {error, timeout};
        exit:_ -> {error, not_started}
    end.

-spec set_options(#{term() => term()}) -> ok | {error, batch_io_options:problem() | not_started}.
set_options(Given) ->
    try gen_server:call(?MODULE, {options, Given}, infinity)
    catch exit:_ -> {error, not_started}
    end.

%% @doc Sends a request on, after all that was inserted before. The device's answer
%% comes to the caller as `{passed, Ref, Reply}', as does an error of this process
%% unless that is killed.
-spec pass(reference(), Request :: term()) -> ok.
pass(Ref, Request) -> gen_server:cast(?MODULE, {pass, Ref, self(), Request}).

-spec init([]) -> {ok, #state{}, {continue, start}}.
init([]) ->
    _ = process_flag(trap_exit, true),
    %% It works only for what others have done, and those are held up without it.
    _ = process_flag(priority, high),
    %% What passes through is garbage soon, and is not copied where there is room.
    _ = process_flag(min_heap_size, ?HEAP_WORDS),
    Buffer = batch_io_buffer:current(),
    ok = batch_io_buffer:reopen(Buffer),
    ok = batch_io_buffer:set(in_flight, 0, Buffer),
    #{leader := Leader} = batch_io_buffer:options(Buffer),
    Device = batch_io_device:new(Leader),
    {ok, #state{buffer = Buffer, device = Device}, {continue, start}}.

-spec handle_continue(start, #state{}) -> {noreply, #state{}}.
handle_continue(start, State) ->
    ok = look_for_device(State),
    {noreply, pump(State)}.

-spec handle_call(term(), gen_server:from(), #state{}) -> {noreply, #state{}} | {reply, term(), #state{}}.
handle_call(flush, From, State) ->
    #state{next = Next, queue = Queue, flushers = Flushers, buffer = Buffer} = Filled = fill(State),
    Flusher = {Next + length(Queue), batch_io_buffer:get(errors, Buffer), From},
    {noreply, pump(Filled#state{flushers = [Flusher | Flushers]})};
handle_call({options, Given}, _From, #state{buffer = Buffer, device = Device} = State) ->
    case batch_io_options:change(batch_io_buffer:options(Buffer), Given) of
        {ok, #{leader := Leader} = Options} ->
            Changed = batch_io_buffer:with_options(Options, Buffer),
            ok = batch_io_buffer:publish(Changed),
            Open = State#state{buffer = Changed, device = batch_io_device:change(Leader, Device)},
            ok = look_for_device(Open),
            {reply, ok, pump(Open)};
        {error, _} = Error -> {reply, Error, State}
    end.

-spec handle_cast(term(), #state{}) -> {noreply, #state{}}.
handle_cast({pass, _, _, _} = Item, State) ->
    #state{queue = Queue} = Filled = fill(State),
    {noreply, pump(Filled#state{queue = Queue ++ [Item]})}.

-spec handle_info(term(), #state{}) -> {noreply, #state{}}.
handle_info({io_reply, Ref, Reply}, #state{device = Device} = State) ->
    {Done, Answered} = batch_io_device:reply(Ref, Reply, Device),
    {noreply, pump(done(Done, State#state{device = Answered}))};
handle_info(page, State) -> {noreply, pump(State)};
handle_info(first, #state{waiting = Waiting} = State) ->
    {noreply, case batch_io_waiting:is_empty(Waiting) of
                  true -> linger(State);
                  false -> pump(State)
              end};
handle_info(lingered, State) -> {noreply, pump(State#state{lingers = false, hurry = true})};
handle_info(again, State) -> {noreply, pump(State#state{asks = false})};
handle_info({room, Alias, Bytes, Deadline}, #state{waiting = Waiting} = State) ->
    {noreply, pump(State#state{waiting = batch_io_waiting:add(Alias, Bytes, Deadline, Waiting)})};
handle_info({shed, Alias, Bytes, _}, State) ->
    {Answer, Shed} = shed(Bytes, fill(State)),
    Alias ! {Alias, Answer},
    {noreply, pump(Shed)};
handle_info({'DOWN', Monitor, process, _, _}, #state{device = Device} = State) ->
    {Lost, Left} = batch_io_device:down(Monitor, Device),
    Closed = lists:foldl(fun done/2, State#state{device = batch_io_device:open(Left)}, Lost),
    ok = look_for_device(Closed),
    {noreply, pump(Closed)};
handle_info(open, #state{device = Device} = State) ->
    Opened = State#state{device = batch_io_device:open(Device)},
    ok = look_for_device(Opened),
    {noreply, pump(Opened)};
handle_info(look, State) -> {noreply, pump(lost(State#state{looks = false}))};
handle_info(_, State) -> {noreply, State}.

look_for_device(#state{device = Device}) ->
    case batch_io_device:is_open(Device) of
        true -> ok;
        false -> after_ms(?OPEN_MS, open)
    end.

after_ms(Ms, Message) ->
    _ = erlang:send_after(Ms, self(), Message),
    ok.

%% Writes what can be written, answers who waits, and rests or lingers where
%% nothing comes by itself.
pump(#state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:busy(Buffer),
    Written = answer(write(State)),
    ok = batch_io_buffer:set(oldest, oldest(Written), Buffer),
    rest(Written).

%% The tables are emptied once at most, and only where there is a page or there is
%% no waiting for one: looking again and again while callers insert finds a message
%% or two, and holds them up at the table's lock.
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

%% Drops are told with the next page, or alone where there is none.
write_short(empty, #state{buffer = Buffer} = State) ->
    case untold(Buffer) > 0 of
        true -> page({0, 0, []}, [], State);
        false -> State#state{hurry = false}
    end;
write_short({partial, Page, Rest}, State) ->
    case may_wait(State) of
        true -> State;
        false -> page(Page, Rest, State#state{hurry = false})
    end.

%% Callers that want room are helped by the answer to what was sent before, too.
may_wait(#state{hurry = true}) -> false;
may_wait(#state{flushers = [_ | _]}) -> false;
may_wait(#state{device = Device, waiting = Waiting}) ->
    batch_io_device:is_writing(Device) orelse batch_io_waiting:is_empty(Waiting).

page({Slots, Bytes, _} = Page, Rest, #state{buffer = Buffer, device = Device, next = Next, since = Since} = State) ->
    Untold = max(0, untold(Buffer)),
    %% Before it is on its way, so that no writer after this one tells it again.
    ok = batch_io_buffer:add(told, Untold, Buffer),
    ok = batch_io_buffer:add(in_flight, Slots, Buffer),
    Written = batch_io_device:write(Page, {Next, Slots, Bytes, Since}, line(Untold), Device),
    without(Rest, Slots, State#state{device = Written}).

untold(Buffer) -> batch_io_buffer:get(dropped, Buffer) - batch_io_buffer:get(told, Buffer).

line(0) -> <<>>;
line(Dropped) -> <<"batch_io: ", (integer_to_binary(Dropped))/binary, " messages were dropped\n">>.

%% The queue without the first, which have gone.
without([], Gone, #state{next = Next} = State) -> State#state{queue = [], next = Next + Gone, since = 0};
without(Rest, Gone, #state{next = Next} = State) -> State#state{queue = Rest, next = Next + Gone}.

%% The queue with all that callers have inserted.
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

oldest(#state{device = Device, since = Since}) ->
    case batch_io_device:oldest(Device) of
        none -> Since;
        {_, Earlier} -> Earlier
    end.

done(none, State) -> State;
done({passed, Ref, Server, Reply}, State) ->
    Server ! {passed, Ref, Reply},
    State;
done({written, Note}, State) -> answered(sent, Note, State);
done({{failed, Reason}, Note}, #state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:add(errors, 1, Buffer),
    answered(dropped, Note, State#state{failure = Reason}).

answered(As, {_, Slots, Bytes, _}, #state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:add(in_flight, -Slots, Buffer),
    ok = batch_io_buffer:settle(As, Slots, Bytes, Buffer),
    State.

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
    {Done, Left} = lists:partition(fun({Mark, _, _}) -> Mark =< Reached end, Flushers),
    lists:foreach(fun({_, Errors, From}) -> gen_server:reply(From, flushed(Errors, State)) end, Done),
    State#state{flushers = Left}.

flushed(Errors, #state{buffer = Buffer, failure = Failure}) ->
    case batch_io_buffer:get(errors, Buffer) of
        Errors -> ok;
        _ -> {error, Failure}
    end.

answer_waiting(#state{waiting = Waiting, buffer = Buffer} = State) ->
    State#state{waiting = batch_io_waiting:let_in(Waiting, Buffer)}.

%% Without a device nobody waits.
refuse(#state{queue = Queue, flushers = Flushers, waiting = Waiting, failure = Failure} = State) ->
    lists:foreach(fun({_, _, From}) -> gen_server:reply(From, {error, no_device(Failure)}) end, Flushers),
    {Passing, Entries} = lists:partition(fun(Item) -> element(1, Item) =:= pass end, Queue),
    lists:foreach(fun({pass, Ref, Server, _}) -> Server ! {passed, Ref, {error, terminated}} end, Passing),
    State#state{queue = Entries, flushers = [], waiting = batch_io_waiting:refuse(Waiting)}.

no_device(none) -> terminated;
no_device(Failure) -> Failure.

rest(#state{device = Device} = State) ->
    case batch_io_device:is_open(Device) andalso not batch_io_device:is_writing(Device) of
        true -> rest_idle(State);
        false -> State
    end.

rest_idle(#state{queue = Queue, buffer = Buffer} = State) ->
    case batch_io_buffer:rest(Queue =:= [], Buffer) of
        resting -> look(ask_again(State));
        lingering -> linger(State);
        busy -> pump(State)
    end.

ask_again(#state{asks = Asks, waiting = Waiting} = State) ->
    case Asks orelse batch_io_waiting:is_empty(Waiting) of
        true -> State;
        false ->
            ok = after_ms(?AGAIN_MS, again),
            State#state{asks = true}
    end.

linger(#state{lingers = true} = State) -> State;
linger(#state{buffer = Buffer} = State) ->
    #{flush_ms := Ms} = batch_io_buffer:options(Buffer),
    ok = after_ms(Ms, lingered),
    State#state{lingers = true}.

%% Makes room for a message of so many bytes.
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

dropped(Slots, Bytes, #state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:settle(dropped, Slots, Bytes, Buffer),
    State.

%% What is held and nowhere is looked at twice.
look(#state{looks = true} = State) -> State;
look(#state{buffer = Buffer} = State) ->
    case batch_io_buffer:held(Buffer) of
        {0, 0} -> State#state{suspect = none};
        _ ->
            ok = after_ms(?LOST_MS, look),
            State#state{looks = true}
    end.

lost(#state{buffer = Buffer, next = Next, suspect = Suspect} = State) ->
    {Slots, Bytes} = Held = batch_io_buffer:held(Buffer),
    case is_quiet(State) of
        true when Suspect =:= {Held, Next} -> (dropped(Slots, Bytes, State))#state{suspect = none};
        true -> State#state{suspect = {Held, Next}};
        false -> State#state{suspect = none}
    end.

is_quiet(#state{queue = Queue, device = Device, buffer = Buffer}) ->
    Queue =:= [] andalso batch_io_device:oldest(Device) =:= none andalso batch_io_buffer:is_empty(Buffer).

%% When it is stopped it writes what there is. When it fails, what callers have
%% put into the tables meanwhile is for the next writer.
-spec terminate(term(), #state{}) -> ok.
terminate(shutdown, #state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:close(Buffer),
    ok = batch_io_buffer:withdraw(),
    _ = drain(now_ms() + ?DRAIN_MS, State),
    {Slots, Bytes} = batch_io_buffer:held(Buffer),
    _ = dropped(Slots, Bytes, State),
    batch_io_buffer:set(in_flight, 0, Buffer);
terminate(_, #state{queue = Queue, device = Device} = State) ->
    Taken = [Size || {batch_io_buffer, Size, _} <- Queue],
    _ = dropped(length(Taken), lists:sum(Taken), State),
    lists:foreach(fun({_, Slots, Bytes, _}) -> dropped(Slots, Bytes, State) end, batch_io_device:unanswered(Device)).

drain(Deadline, #state{buffer = Buffer, device = Device} = State) ->
    Written = answer(write(fill(State#state{hurry = true}))),
    Done = batch_io_buffer:held(Buffer) =:= {0, 0} orelse not batch_io_device:is_open(Device),
    Sooner = sooner(Deadline, Written),
    case max(0, Sooner - now_ms()) of
        Left when Done; Left =:= 0 -> Written;
        Left ->
            receive Message -> drain(Sooner, drained(Message, Written))
            after min(Left, ?POLL_MS) -> drain(Sooner, Written)
            end
    end.

drained(Message, State) ->
    {noreply, After} = handle_info(Message, State),
    After.

sooner(Deadline, State) ->
    case is_quiet(State) of
        true -> min(Deadline, now_ms() + ?CALLERS_MS);
        false -> Deadline
    end.

now_ms() -> erlang:monotonic_time(millisecond).
