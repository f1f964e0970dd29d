%% @doc The process of a dam.
%%
%% It takes every message in order, so it never scans its own mailbox, and it keeps its mailbox off
%% the heap. It is a plain loop and not a gen_server, because most messages are only sent on. It
%% sends on up to 64 messages before it looks at anything else.
-module(dam_proxy).

-export([start_link/2, init/2]).
-export([run/1, system_continue/3, system_terminate/4, system_get_state/1, system_replace_state/2, system_code_change/4]).

-include("dam_state.hrl").
-include("dam_timeout.hrl").

%% The number of messages between two checks of credit, limits and the dam's own mailbox.
-define(LOOK, 64).
%% After this time without messages the server is asked how far it is, so that info/1 and the count
%% of lost messages are right.
-define(IDLE_MS, 20).
-define(IS_LANE(Lane), (Lane =:= normal orelse Lane =:= priority)).

%% @doc Starts the process, with checked options.
-spec start_link(dam_types:name() | undefined, map()) -> {ok, pid()} | {error, term()}.
start_link(Name, Options) ->
    proc_lib:start_link(?MODULE, init, [Name, Options], infinity, [{message_queue_data, off_heap}]).

-spec init(dam_types:name() | undefined, map()) -> no_return().
init(Name, #{server := Server} = Options) ->
    process_flag(trap_exit, true),
    case registered(Name) of
        ok when is_pid(Server), node(Server) =:= node() ->
            is_process_alive(Server) orelse failed({error, noproc}),
            begin_with(Options);
        ok -> begin_with(Options);
        {error, _} = Error -> failed(Error)
    end.

-spec failed({error, term()}) -> no_return().
failed(Error) -> proc_lib:init_fail(Error, {exit, normal}).

registered(undefined) -> ok;
registered({local, Name}) ->
    try register(Name, self()) of true -> ok
    catch error:badarg -> {error, {already_started, whereis(Name)}}
    end;
registered({global, Name}) -> registered({via, global, Name});
registered({via, Module, Name}) ->
    case Module:register_name(Name, self()) of
        yes -> ok;
        no -> {error, {already_started, Module:whereis_name(Name)}}
    end.

-spec begin_with(map()) -> no_return().
begin_with(#{high := High, low := Low, credit := Credit, poll_ms := PollMs, events := Callback} = Options) ->
    [Parent | _] = get('$ancestors'),
    Dam = #dam{parent = parent(Parent), options = Options, credit = Credit, watch = dam_watch:start_link(PollMs),
               events = dam_events:start_link(Callback), window = dam_window:new(High, Low),
               queue = dam_queue:new(Options)},
    proc_lib:init_ack({ok, self()}),
    run(dam_link:connect(Dam)).

parent(Pid) when is_pid(Pid) -> Pid;
parent(Name) -> whereis(Name).

%% The loop

%% @private Called with the module's name, so that a dam leaves old code at its next message or timer. One that gets none stays there.
-spec run(#dam{}) -> no_return().
run(Dam) ->
    Next = flushed(dam_link:armed(dam_flow:settle(Dam))),
    #dam{pid = Pid, window = Window, queue = Queue, end_reason = End} = Next,
    case dam_queue:length(Queue) of
        0 when End =/= undefined -> finish(End, Next);
        0 when is_pid(Pid) -> pass(Pid, min(?LOOK, dam_window:grant(Window)), Next);
        _ -> hold(?LOOK, [], Next)
    end.

pass(_, 0, Dam) -> hold(?LOOK, [], Dam);
pass(Pid, Granted, #dam{window = Window} = Dam) ->
    Idle = case dam_window:is_asked(Window) of
               true -> infinity;
               false -> ?IDLE_MS
           end,
    pass(Pid, Granted, Granted, Idle, Dam).

%% No message is held, and Left more may be sent.
pass(_, 0, Granted, _, Dam) -> ?MODULE:run(passed(Granted, Dam));
pass(Pid, Left, Granted, Idle, Dam) ->
    receive
        {'$dam', Message} ->
            Pid ! Message,
            pass(Pid, Left - 1, Granted, ?IDLE_MS, Dam);
        Other -> handle(Other, passed(Granted - Left, Dam))
    after Idle -> ?MODULE:run(asked(passed(Granted - Left, Dam)))
    end.

passed(N, #dam{window = Window, received = Received} = Dam) ->
    dam_flow:ask(Dam#dam{window = dam_window:sent(N, Window), received = Received + N}).

%% Asks the server even if no step is complete.
asked(#dam{window = Window, credit = Credit, pid = Pid, watch = Watch} = Dam) ->
    {Covered, Asked} = dam_window:asked(Window),
    ok = dam_flow:ask(Credit, Pid, Covered, Watch),
    Dam#dam{window = Asked}.

%% Messages are held. Those already in the mailbox are taken together.
hold(Left, Messages, Dam) ->
    Wait = case Messages of
               [] -> infinity;
               _ -> 0
           end,
    receive
        {'$dam', Message} when Left > 1 -> hold(Left - 1, [Message | Messages], Dam);
        Other -> handle(Other, dam_flow:arrive_all(lists:reverse(Messages), Dam))
    after Wait -> ?MODULE:run(dam_flow:arrive_all(lists:reverse(Messages), Dam))
    end.

-spec handle(term(), #dam{}) -> no_return().
handle({system, {Client, _} = From, Request}, #dam{parent = Parent} = Dam) when is_pid(Client) ->
    sys:handle_system_msg(Request, From, Parent, ?MODULE, [], dam_state:fields(Dam));
handle(Message, Dam) -> ?MODULE:run(handled(Message, Dam)).

handled({'$dam', Message}, Dam) -> dam_flow:arrive(normal, force, Message, Dam);
handled({'$dam_async', Message}, Dam) -> dam_flow:arrive(normal, limited, Message, Dam);
handled({'$dam_priority', Message}, Dam) -> dam_flow:arrive(priority, force, Message, Dam);
handled({'$dam_call', Ref, Request} = Message, Dam) when is_reference(Ref) -> known(called(Request, Ref, Dam), Message, Dam);
handled({'$dam_ack', N}, Dam) when is_integer(N), N > 0 -> acknowledged(N, Dam);
handled({'$dam_watch', News} = Message, Dam) -> known(news(News, Dam), Message, Dam);
handled({timeout, Timer, {'$dam', What}} = Message, Dam) when is_reference(Timer) -> known(timed_out(What, Timer, Dam), Message, Dam);
handled({'DOWN', Monitor, process, _, Reason}, #dam{monitor = Monitor} = Dam) when is_reference(Monitor) ->
    dam_link:down(Reason, Dam);
handled({'DOWN', Monitor, process, _, Reason}, #dam{left_monitor = Monitor} = Dam) when is_reference(Monitor) ->
    dam_link:left_down(Reason, Dam);
handled({'EXIT', Pid, Reason}, Dam) -> exited(Pid, Reason, Dam);
handled(Message, Dam) -> forwarded(Message, Dam).

%% A message that only looks like one of the dam's own is for the server.
known(unknown, Message, Dam) -> forwarded(Message, Dam);
known(Next, _, _) -> Next.

forwarded(Message, Dam) -> dam_flow:arrive(normal, limited, Message, Dam).

acknowledged(N, #dam{credit = ack, window = Window} = Dam) -> Dam#dam{window = dam_window:acknowledged(N, Window)};
acknowledged(_, Dam) -> Dam.

%% Messages of the watch and of timers

%% run/1 reads the answer. Whoever answers is not silent, even if a look came between question and answer.
news(answered, Dam) -> Dam#dam{silent = 0};
%% The server may have ended since it was found suspended.
news(suspended, #dam{pid = undefined} = Dam) -> Dam;
news(suspended, #dam{window = Window} = Dam) -> asked(Dam#dam{window = dam_window:ask_again(Window)});
news({length, Pid, Covered, Length}, Dam) when is_integer(Covered) -> dam_link:length_known(Pid, Covered, Length, Dam);
news({server, Server, Pid}, Dam) when is_pid(Pid); Pid =:= undefined -> dam_link:looked_up(Server, Pid, Dam);
news(_, _) -> unknown.

timed_out(tell_drops, _, Dam) -> dam_flow:tell_drops(Dam);
timed_out(connect, Timer, #dam{retry = Timer} = Dam) -> dam_link:retried(Dam);
timed_out(look, _, Dam) -> dam_link:look(Dam);
timed_out({sender, Lane}, Timer, Dam) when ?IS_LANE(Lane) -> dam_flow:expired({Lane, Timer}, Dam);
timed_out({flush, Ref}, _, Dam) -> gave_up(Ref, Dam);
timed_out(stop, _, #dam{end_reason = Reason} = Dam) when Reason =/= undefined -> finish(Reason, Dam);
timed_out(_, _, _) -> unknown.

%% Requests

called({send, Lane, Message}, Ref, Dam) when ?IS_LANE(Lane) -> dam_flow:called(Lane, Ref, Message, now_ms(), Dam);
%% Of a sender that runs the code before that with the time.
called({send, Lane, Message, Sender}, Ref, Dam) -> called({send, Lane, Message, Sender, now_ms()}, Ref, Dam);
%% Blocked, the server would take nothing, and all would wait for ever. So its message is held beyond the limit.
called({send, Lane, Message, Server, SentMs}, Ref, #dam{pid = Server} = Dam) when ?IS_LANE(Lane), is_integer(SentMs) ->
    dam_flow:called_by_server(Lane, Ref, Message, Dam);
called({send, Lane, Message, Sender, SentMs}, Ref, Dam) when ?IS_LANE(Lane), is_pid(Sender), is_integer(SentMs) ->
    dam_flow:called(Lane, Ref, Message, SentMs, Dam);
called(info, Ref, #dam{queue = Queue} = Dam) ->
    ok = answer(Ref, dam_info:of_dam(Dam)),
    Dam#dam{last_queue = dam_queue:length(Queue)};
called({configure, Changes}, Ref, Dam) when is_map(Changes) -> configured(Changes, Ref, Dam);
called({flush, Timeout}, Ref, Dam) when ?IS_TIMEOUT(Timeout) -> waits(Timeout, Ref, Dam);
called({stop, Timeout}, Ref, #dam{stopping = Stopping} = Dam) when ?IS_TIMEOUT(Timeout) ->
    stopped(normal, Timeout, Dam#dam{stopping = [Ref | Stopping]});
called(_, _, _) -> unknown.

now_ms() -> erlang:monotonic_time(millisecond).

waits(Timeout, Ref, #dam{end_reason = undefined, flushers = Flushers} = Dam) ->
    Dam#dam{flushers = [{Ref, timer(Timeout, {flush, Ref}), held} | Flushers], flush_seen = none};
waits(_, Ref, Dam) ->
    ok = answer(Ref, {error, stopping}),
    Dam.

answer(Ref, Reply) ->
    Ref ! {Ref, Reply},
    ok.

timer(infinity, _) -> undefined;
timer(Timeout, What) -> dam_flow:start_timer(Timeout, What).

with_policy(Before, #dam{options = #{policy := Before}} = Dam) -> Dam;
with_policy(_, Dam) -> dam_flow:ask_anew(Dam).

configured(Changes, Ref, #dam{options = Options, window = Window, queue = Queue} = Dam) ->
    case changed(Changes, Options) of
        {ok, #{high := High, low := Low} = New} ->
            ok = answer(Ref, ok),
            Changed = Dam#dam{options = New, window = dam_window:configure(High, Low, Window),
                              queue = dam_queue:configure(New, Queue)},
            reconnected(Changes, with_policy(maps:get(policy, Options), Changed));
        {error, _} = Error ->
            ok = answer(Ref, Error),
            Dam
    end.

changed(#{server := Server}, _Options) when Server =:= self() -> {error, dam_options:own_name(Server)};
changed(#{server := Server} = Changes, Options) when is_pid(Server), node(Server) =:= node() ->
    case is_process_alive(Server) of
        true -> dam_options:change(Changes, Options);
        false -> {error, dam_options:ended(Server)}
    end;
changed(Changes, Options) -> dam_options:change(Changes, Options).

reconnected(#{server := _}, Dam) -> dam_link:change_server(Dam);
reconnected(#{}, Dam) -> Dam.

%% A flush waits until no message is held, and then until the server has taken everything sent.
%% Flushers are checked only when that can have changed, because there may be many of them, left by
%% clients that were killed.
flushed(#dam{flushers = []} = Dam) -> Dam;
flushed(#dam{left = {_, Window}} = Dam) ->
    %% Until the other server is found, it may be the same one, which has not taken everything.
    case dam_window:outstanding(Window) of
        0 -> flushed_by_now(Dam);
        _ -> Dam
    end;
flushed(Dam) -> flushed_by_now(Dam).

flushed_by_now(#dam{window = Window, queue = Queue, flush_seen = Seen} = Dam) ->
    Empty = dam_queue:length(Queue) =:= 0,
    case {Empty, dam_window:done(Window)} of
        Seen -> eager(Empty, Dam);
        Now -> eager(Empty, flushed(Empty, Dam#dam{flush_seen = Now}))
    end.

flushed(Empty, #dam{flushers = Flushers, window = Window} = Dam) ->
    Marked = [{Ref, Timer, marked(Empty, Mark, Window)} || {Ref, Timer, Mark} <- Flushers],
    {Done, Left} = lists:partition(fun({_, _, Mark}) -> Mark =< dam_window:done(Window) end, Marked),
    _ = [flush_answer(Ref, Timer, ok) || {Ref, Timer, _} <- Done],
    Dam#dam{flushers = Left}.

marked(true, held, Window) -> dam_window:count(Window);
marked(_, Mark, _) -> Mark.

eager(true, #dam{flushers = [_ | _], window = Window, pid = Pid} = Dam) when is_pid(Pid) ->
    case dam_window:is_asked(Window) of
        true -> Dam;
        false -> asked(Dam)
    end;
eager(_, Dam) -> Dam.

flush_answer(Ref, Timer, Reply) ->
    _ = [erlang:cancel_timer(Timer) || is_reference(Timer)],
    answer(Ref, Reply).

gave_up(Ref, #dam{flushers = Flushers} = Dam) ->
    case lists:keytake(Ref, 1, Flushers) of
        {value, _, Others} ->
            ok = answer(Ref, {error, deadline}),
            Dam#dam{flushers = Others};
        false -> Dam
    end.

%% The end

exited(Parent, Reason, #dam{parent = Parent, options = #{stop_ms := StopMs}} = Dam) ->
    stopped(Reason, StopMs, Dam);
exited(Pid, Reason, Dam) ->
    Of = exit_of(Pid, Dam),
    exited_elsewhere(Of =/= other andalso not is_process_alive(Pid), Of, {'EXIT', Pid, Reason}, Dam).

exit_of(Pid, #dam{watch = Watch, events = Events}) ->
    case {dam_watch:is_process(Pid, Watch), dam_events:is_process(Pid, Events)} of
        {true, _} -> watch;
        {_, true} -> events;
        _ -> other
    end.

%% An exit signal cannot be told from a message of the same form, so it is forwarded like any message, but for that of a helper that
%% has ended. That of the server says nothing: its monitor tells of its end.
exited_elsewhere(false, _, Message, Dam) -> forwarded(Message, Dam);
exited_elsewhere(true, watch, _, Dam) -> dam_link:watched_anew(Dam);
exited_elsewhere(true, events, _, #dam{events = Events, options = #{events := Callback}} = Dam) ->
    Dam#dam{events = dam_events:start_again(Callback, Events)}.

%% Held messages are still sent to the server, until the timeout.
stopped(Reason, Timeout, #dam{end_reason = End} = Dam) ->
    _ = timer(Timeout, stop),
    case End of
        undefined -> dam_flow:sent_away(stopping, Dam#dam{end_reason = Reason});
        _ -> Dam
    end.

%% The flag stays raised, so that a sender with the pid of a dead dam asks, and gets noproc.
-spec finish(term(), #dam{}) -> no_return().
finish(Reason, #dam{flushers = Flushers, stopping = Stopping} = Dam) ->
    ok = dam_flag:raise(self()),
    #dam{events = Events, watch = Watch} = Empty = dam_flow:tell_drops(dam_flow:drop_held(stopped, Dam)),
    _ = dam_flow:event([dam, stop], maps:with([received, delivered, lost], dam_info:of_dam(Empty)),
                       #{reason => Reason}, Empty),
    ok = dam_events:stop(Events),
    ok = dam_watch:stop(Watch),
    _ = [flush_answer(Ref, Timer, {error, stopping}) || {Ref, Timer, _} <- Flushers],
    _ = [answer(Ref, handed_over(Empty)) || Ref <- Stopping],
    exit(Reason).

%% Whether no held message was dropped at the end.
handed_over(#dam{dropped = Dropped}) when is_map_key(stopped, Dropped); is_map_key(server_down, Dropped) -> {error, deadline};
handed_over(_) -> ok.

%% For sys, which has the fields of the state. So they may be continued by a version with other fields.

-spec system_continue(pid(), [sys:dbg_opt()], dam_state:fields()) -> no_return().
system_continue(_Parent, _Debug, Fields) -> ?MODULE:run(dam_state:of_fields(Fields)).

-spec system_terminate(term(), pid(), [sys:dbg_opt()], dam_state:fields()) -> no_return().
system_terminate(Reason, _Parent, _Debug, Fields) -> finish(Reason, dam_state:of_fields(Fields)).

-spec system_get_state(dam_state:fields()) -> {ok, #dam{}}.
system_get_state(Fields) -> {ok, dam_state:of_fields(Fields)}.

-spec system_replace_state(fun((#dam{}) -> #dam{}), dam_state:fields()) -> {ok, #dam{}, dam_state:fields()}.
system_replace_state(Fun, Fields) ->
    Next = Fun(dam_state:of_fields(Fields)),
    {ok, Next, dam_state:fields(Next)}.

%% @doc The state of 0.2.0 and before, which is no map, is refused. Such a dam ends when it is resumed.
-spec system_code_change(term(), module(), term(), term()) -> {ok, dam_state:fields()} | {error, unknown_state}.
system_code_change(Fields, _Module, _OldVersion, _Extra) when is_map(Fields) -> {ok, Fields};
system_code_change(_, _, _, _) -> {error, unknown_state}.
