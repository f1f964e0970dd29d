%% @doc The process that takes messages from the buffer and writes them to the device, a page at a
%% time. It never blocks: answers of the device, callers that want room and devices that end are
%% messages like any other.
-module(batch_io_writer).
-behaviour(gen_server).

-include("batch_io_state.hrl").

-export([start_link/0, start_link/1, flush/2, set_options/3, pass/2]).
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3]).

%% How often a device that is gone is looked up by its name.
-define(OPEN_MS, 100).
%% How long a device that is the leader no more has for the pages that it was given.
-define(FORMER_MS, 3000).
%% Messages that count as held but are nowhere, and do not appear for this long, belonged to a
%% caller or a previous writer that was killed.
-define(LOST_MS, 250).
%% How long the writer continues when it is stopped: for requests that the device has not answered,
%% and for callers that were about to insert.
-define(DRAIN_MS, 5000).
-define(CALLERS_MS, 100).
-define(POLL_MS, 10).
%% Callers that were told of room may have stopped waiting. After this time others are told.
-define(AGAIN_MS, 1).
%% Flushes whose caller waits no more are looked for at most this often. For each of many that flush or give up, it would be looked at all.
-define(FORGET_MS, 100).
%% Whether the timer for this runs. It is no field of the state, which is of the same form in all versions.
-define(FORGETS, '$forgets').
%% How long the answer to a change of options may take from the writer to the caller.
-define(ANSWER_MS, 500).
-define(HEAP_WORDS, 100_000).

%% @equiv start_link(batch_io_writer)
-spec start_link() -> gen_server:start_ret().
start_link() -> start_link(?MODULE).

%% @doc Starts the writer of that name, for the buffer published for that name.
-spec start_link(Writer :: atom()) -> gen_server:start_ret().
start_link(Writer) -> gen_server:start_link({local, Writer}, ?MODULE, Writer, []).

%% @doc Waits until the device has everything that was inserted before.
-spec flush(Writer :: atom(), timeout()) -> ok | {error, term()}.
flush(Writer, Ms) ->
    try gen_server:call(Writer, {flush, deadline(Ms)}, Ms)
    catch
        exit:{timeout, _} ->
            ok = gen_server:cast(Writer, late),
            {error, timeout};
        exit:_ -> {error, not_started}
    end.

deadline(infinity) -> infinity;
deadline(Ms) -> now_ms() + Ms.

%% @doc Changes options. After `{error, timeout}' they are not changed later.
-spec set_options(Writer :: atom(), #{term() => term()}, timeout()) -> ok | {error, batch_io_options:problem() | not_started | timeout}.
set_options(Writer, Given, Ms) ->
    try gen_server:call(Writer, {options, Given, deadline(Ms)}, with_answer(Ms))
    catch
        exit:{timeout, _} -> {error, timeout};
        exit:_ -> {error, not_started}
    end.

%% An answer that is given at the deadline arrives before the caller gives up.
with_answer(infinity) -> infinity;
with_answer(Ms) -> Ms + ?ANSWER_MS.

%% @doc Passes a request on, after everything that was inserted before. The caller gets the device's
%% answer as `{passed, Ref, Reply}'. It gets an error of this process in the same way, unless this
%% process is killed.
-spec pass(reference(), Request :: term()) -> ok.
pass(Ref, Request) -> gen_server:cast(?MODULE, {pass, Ref, self(), Request}).

-spec init(Writer :: atom()) -> {ok, #state{}, {continue, start}}.
init(Writer) ->
    _ = process_flag(trap_exit, true),
    %% It only does work that other processes caused, and they are blocked without it.
    _ = process_flag(priority, high),
    %% Messages become garbage soon. A large heap avoids copying them in collections.
    _ = process_flag(min_heap_size, ?HEAP_WORDS),
    Buffer = batch_io_buffer:resume(Writer),
    ok = batch_io_buffer:set(in_flight, 0, Buffer),
    #{leader := Leader} = batch_io_buffer:options(Buffer),
    Device = batch_io_device:new(Leader),
    {ok, #state{buffer = Buffer, device = Device}, {continue, start}}.

-spec handle_continue(start, #state{}) -> {noreply, #state{}}.
handle_continue(start, State) ->
    ok = look_for_device(true, State),
    {noreply, pump(State)}.

-spec handle_call(term(), gen_server:from(), #state{}) -> {noreply, #state{}} | {reply, term(), #state{}}.
handle_call(flush, From, State) -> handle_call({flush, infinity}, From, State); % of the code of 0.1.0
handle_call({flush, Deadline}, From, State) when is_integer(Deadline); Deadline =:= infinity ->
    #state{next = Next, queue = Queue, flushers = Flushers, buffer = Buffer} = Filled =
        batch_io_flow:fill(forget_late(State)), % a caller that was killed says nothing
    Flusher = {Next + length(Queue), batch_io_buffer:get(errors, Buffer), From, Deadline},
    {noreply, pump(Filled#state{flushers = Flushers ++ [Flusher]})};
handle_call({options, Given}, From, State) -> handle_call({options, Given, infinity}, From, State); % of the code of 0.1.0
handle_call({options, Given, Deadline}, _From, #state{buffer = Buffer} = State) when is_integer(Deadline); Deadline =:= infinity ->
    case Deadline > now_ms() andalso batch_io_options:change(batch_io_buffer:options(Buffer), Given) of
        {ok, Options} -> {reply, ok, with_options(Options, State)};
        {error, _} = Error -> {reply, Error, State};
        false -> {reply, {error, timeout}, State} % its caller says that nothing was changed
    end;
handle_call(_, _From, State) -> {reply, {error, request}, State}.

with_options(#{leader := Leader} = Options, #state{buffer = Buffer, device = Device} = State) ->
    Changed = batch_io_buffer:with_options(Options, Buffer),
    ok = batch_io_buffer:publish(Changed),
    Open = State#state{buffer = Changed, device = batch_io_device:change(Leader, Device)},
    ok = give_up_later(batch_io_device:current(Device), Open),
    ok = look_for_device(batch_io_device:is_open(Device), Open),
    pump(Open).

-spec handle_cast(term(), #state{}) -> {noreply, #state{}}.
handle_cast({pass, Ref, Server, _} = Item, State) when is_reference(Ref), is_pid(Server) ->
    #state{queue = Queue} = Filled = batch_io_flow:fill(State),
    {noreply, pump(Filled#state{queue = Queue ++ [Item]})};
handle_cast(late, State) -> {noreply, forget_late(State)};
handle_cast(_, State) -> {noreply, State}.

-spec handle_info(term(), #state{}) -> {noreply, #state{}}.
handle_info({io_reply, Ref, Reply}, #state{device = Device} = State) ->
    {Done, Answered} = batch_io_device:reply(Ref, Reply, Device),
    {noreply, pump(batch_io_flow:done(Done, State#state{device = Answered}))};
handle_info(page, State) -> {noreply, pump(State)};
handle_info(first, #state{waiting = Waiting} = State) ->
    {noreply, case batch_io_waiting:is_empty(Waiting) of
                  true -> linger(State);
                  false -> pump(State)
              end};
handle_info(lingered, State) -> {noreply, pump(State#state{lingers = false, hurry = true})};
handle_info(again, State) -> {noreply, pump(State#state{asks = false})};
handle_info({room, Alias, Bytes, Deadline}, State) -> wants(Alias, Bytes, Deadline, unknown, State); % of the code of 0.1.0
handle_info({room, Alias, Bytes, Deadline, Caller}, State) when is_pid(Caller), node(Caller) =:= node() ->
    wants(Alias, Bytes, Deadline, Caller, State);
handle_info({shed, Alias, Bytes, Deadline}, State) -> handle_info({shed, Alias, Bytes, Deadline, unknown}, State); % of the code of 0.1.0
handle_info({shed, Alias, Bytes, _, _}, State) when is_reference(Alias), is_integer(Bytes) ->
    {Answer, Shed} = batch_io_flow:shed(Bytes, batch_io_flow:fill(State)),
    Alias ! {Alias, Answer},
    {noreply, pump(Shed)};
handle_info({'DOWN', Monitor, process, _, _}, #state{device = Device} = State) ->
    {Lost, Left} = batch_io_device:down(Monitor, Device),
    Closed = lists:foldl(fun batch_io_flow:done/2, State#state{device = batch_io_device:open_again(Left)}, Lost),
    ok = look_for_device(batch_io_device:is_open(Device), Closed),
    {noreply, pump(Closed)};
handle_info({give_up, Former, Pid}, #state{device = Device} = State) when is_reference(Former), is_pid(Pid) ->
    {GivenUp, Left} = batch_io_device:give_up(Former, Pid, Device),
    {noreply, pump(lists:foldl(fun batch_io_flow:done/2, State#state{device = Left}, GivenUp))};
handle_info(forget, State) ->
    _ = erase(?FORGETS),
    {noreply, batch_io_flow:forget_late(State)};
handle_info(open, #state{device = Device} = State) ->
    Opened = State#state{device = batch_io_device:open(Device)},
    ok = look_for_device(true, Opened),
    {noreply, pump(Opened)};
handle_info(look, State) -> {noreply, pump(lost(State#state{looks = false}))};
handle_info(_, State) -> {noreply, State}.

%% What is malformed comes from elsewhere.
wants(Alias, Bytes, Deadline, Caller, #state{waiting = Waiting} = State)
  when is_reference(Alias), is_integer(Bytes), is_integer(Deadline) ->
    {noreply, pump(State#state{waiting = batch_io_waiting:add(Alias, Bytes, Deadline, Caller, Waiting)})};
wants(_, _, _, _, State) -> {noreply, State}.

forget_late(#state{flushers = []} = State) -> State;
forget_late(State) ->
    case get(?FORGETS) of
        true -> State;
        undefined ->
            ok = after_ms(?FORGET_MS, forget),
            _ = put(?FORGETS, true),
            batch_io_flow:forget_late(State)
    end.

%% While there is no device, the message `open' comes from time to time. If there was none before, it comes already.
look_for_device(WasOpen, #state{device = Device}) ->
    case WasOpen andalso not batch_io_device:is_open(Device) of
        true -> after_ms(?OPEN_MS, open);
        false -> ok
    end.

give_up_later(none, _) -> ok;
give_up_later({Monitor, Pid} = Before, #state{device = Device}) ->
    case batch_io_device:current(Device) of
        Before -> ok;
        _ -> after_ms(?FORMER_MS, {give_up, Monitor, Pid})
    end.

after_ms(Ms, Message) ->
    _ = erlang:send_after(Ms, self(), Message),
    ok.

%% Writes what can be written, answers waiting callers, and rests or lingers if no event is due that
%% would continue.
pump(#state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:busy(Buffer),
    Written = batch_io_flow:answer(batch_io_flow:write(State)),
    ok = batch_io_buffer:set(oldest, batch_io_flow:oldest(Written), Buffer),
    rest(Written).

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

%% Messages that are held but nowhere are looked for twice before they count as lost.
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
        true when Suspect =:= {Held, Next} -> (batch_io_flow:dropped(Slots, Bytes, State))#state{suspect = none};
        true -> State#state{suspect = {Held, Next}};
        false -> State#state{suspect = none}
    end.

is_quiet(#state{queue = Queue, device = Device, buffer = Buffer}) ->
    Queue =:= [] andalso batch_io_device:oldest(Device) =:= none andalso batch_io_buffer:is_empty(Buffer).

%% When the writer is stopped, it writes everything held. When it fails, it leaves the messages in
%% the tables to the next writer.
-spec terminate(term(), #state{}) -> ok.
terminate(shutdown, #state{buffer = Buffer} = State) ->
    ok = batch_io_buffer:close(Buffer),
    ok = batch_io_buffer:withdraw(batch_io_buffer:writer(Buffer)),
    _ = drain(now_ms() + ?DRAIN_MS, State),
    {Slots, Bytes} = batch_io_buffer:held(Buffer),
    _ = batch_io_flow:dropped(Slots, Bytes, State),
    batch_io_buffer:set(in_flight, 0, Buffer);
terminate(_, #state{queue = Queue, device = Device} = State) ->
    Taken = [Size || {batch_io_buffer, Size, _} <- Queue],
    _ = batch_io_flow:dropped(length(Taken), lists:sum(Taken), State),
    lists:foreach(fun({_, Slots, Bytes, _, _}) -> batch_io_flow:dropped(Slots, Bytes, State) end, batch_io_device:unanswered(Device)).

%% @doc Converts the state for an upgrade from that version, or a downgrade to it.
%% src/batch_io.appup.src names the version. That of 0.1.0 had the newest flush first.
-spec code_change(term() | {down, term()}, #state{}, Version :: string()) -> {ok, #state{}}.
code_change({down, _}, #state{failure = Failure, device = Device, flushers = Flushers, waiting = Waiting} = State, "0.1.0") ->
    {ok, State#state{failure = reason(Failure), device = batch_io_device:to_0_1(Device), waiting = batch_io_waiting:to_0_1(Waiting),
                     flushers = [{Mark, Errors, From} || {Mark, Errors, From, _} <- lists:reverse(Flushers)]}};
code_change(_, #state{failure = Failure, device = Device, flushers = Flushers, waiting = Waiting} = State, "0.1.0") ->
    {ok, State#state{failure = failure(Failure), device = batch_io_device:from_0_1(Device), waiting = batch_io_waiting:from_0_1(Waiting),
                     flushers = [erlang:append_element(Flusher, infinity) || Flusher <- lists:reverse(Flushers)]}};
code_change(_, State, _) -> {ok, State}.

%% 0.1.0 kept only the reason.
failure(none) -> none;
failure(Reason) -> {before, Reason}.

reason(none) -> none;
reason({_, Reason}) -> Reason.

drain(Deadline, #state{buffer = Buffer, device = Device} = State) ->
    Written = batch_io_flow:answer(batch_io_flow:write(batch_io_flow:fill(State#state{hurry = true}))),
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
