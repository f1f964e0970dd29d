%% @doc The path of messages through a dam: accepted, sent on to the server as far as the window
%% allows, or dropped. It also decides whether senders must ask first.
-module(dam_flow).

-export([arrive/4, arrive_all/2, called/5, called_by_server/4, expired/2, ask_anew/1, settle/1, ask/1, ask/4]).
-export([drop/3, drop_held/2, sent_away/2, tell_drops/1]).
-export([event/3, event/4, start_timer/2, now_us/0]).

-include("dam_state.hrl").

%% The flag is also raised if the dam's own mailbox has as many messages as the limit. These are the
%% lowest and the highest such mark.
-define(MAILBOX_LEAST, 64).
-define(MAILBOX_MOST, 10_000).
-define(TELL_MS, 100).

%% @doc Handles a message whose sender does not wait. `force' holds the message even if the dam has
%% become full meanwhile.
-spec arrive(dam_queue:lane_name(), force | limited, term(), #dam{}) -> #dam{}.
arrive(Lane, Mode, Message, #dam{received = Received} = Dam) ->
    case taken(Lane, Mode, Message, Dam#dam{received = Received + 1}) of
        {ok, Next} -> Next;
        {refused, Reason, Next} -> drop(Reason, 1, Next)
    end.

%% @doc Handles a list of messages for the normal lane, as arrive/4 does.
-spec arrive_all([term()], #dam{}) -> #dam{}.
arrive_all([Message | Messages], Dam) -> arrive_all(Messages, arrive(normal, force, Message, Dam));
arrive_all([], Dam) -> Dam.

%% @doc Handles a message whose sender waits for a reply since SentMs.
-spec called(dam_queue:lane_name(), reference(), term(), SentMs :: integer(), #dam{}) -> #dam{}.
called(Lane, Ref, Message, SentMs, #dam{received = Received} = Dam) ->
    asked(Lane, Ref, Message, SentMs, Dam#dam{received = Received + 1}).

asked(Lane, Ref, Message, SentMs, Dam) ->
    case dam_callers:size(callers(Lane, Dam)) > 0 of
        true -> blocked(Lane, Ref, Message, SentMs, Dam);
        false -> answered_for(Lane, limited, Ref, Message, SentMs, Dam)
    end.

%% @doc After a change of the policy: each blocked sender is treated as if it had sent its message now.
-spec ask_anew(#dam{}) -> #dam{}.
ask_anew(Dam) -> lists:foldl(fun ask_anew/2, Dam, [priority, normal]).

ask_anew(Lane, Dam) ->
    lists:foldl(fun({Timer, Ref, Message}, Before) ->
                        _ = erlang:cancel_timer(Timer),
                        asked(Lane, Ref, Message, now_ms(), Before)
                end, with_callers(Lane, dam_callers:new(), Dam), dam_callers:to_list(callers(Lane, Dam))).

%% @doc Handles a message of the server itself, which must not wait. With the policy block it is held beyond the limit.
-spec called_by_server(dam_queue:lane_name(), reference(), term(), #dam{}) -> #dam{}.
called_by_server(Lane, Ref, Message, #dam{received = Received} = Dam) ->
    answered_for(Lane, force, Ref, Message, now_ms(), Dam#dam{received = Received + 1}).

answered_for(Lane, Mode, Ref, Message, SentMs, Dam) ->
    case taken(Lane, Mode, Message, Dam) of
        {ok, Next} ->
            ok = answer(Ref, ok),
            Next;
        {refused, full, Next} -> blocked(Lane, Ref, Message, SentMs, Next);
        {refused, Reason, Next} -> refused(Reason, Ref, Next)
    end.

blocked(Lane, Ref, Message, SentMs, #dam{options = #{policy := {block, Ms}}, end_reason = undefined} = Dam) ->
    case left(Ms, SentMs) of
        0 -> refused(deadline, Ref, Dam);
        Left -> with_callers(Lane, dam_callers:add(sender_timer(Left, Lane), Ref, Message, callers(Lane, Dam)), Dam)
    end;
blocked(_, Ref, _, _, Dam) -> refused(full, Ref, Dam).

%% The request may have waited in the dam's mailbox.
left(infinity, _) -> infinity;
left(Ms, SentMs) -> min(Ms, max(0, SentMs + Ms - now_ms())).

sender_timer(infinity, _) -> make_ref();
sender_timer(Left, Lane) -> start_timer(Left, {sender, Lane}).

refused(Reason, Ref, Dam) ->
    ok = answer(Ref, {error, Reason}),
    drop(Reason, 1, Dam).

%% @doc Refuses a blocked sender whose time is over.
-spec expired({dam_queue:lane_name(), reference()}, #dam{}) -> #dam{}.
expired({Lane, Timer}, Dam) ->
    case dam_callers:take(Timer, callers(Lane, Dam)) of
        {Ref, Callers} ->
            ok = answer(Ref, {error, deadline}),
            drop(deadline, 1, with_callers(Lane, Callers, Dam));
        error -> Dam
    end.

answer(Ref, Reply) ->
    Ref ! {Ref, Reply},
    ok.

callers(priority, #dam{priority_callers = Callers}) -> Callers;
callers(normal, #dam{normal_callers = Callers}) -> Callers.

with_callers(priority, Callers, Dam) -> Dam#dam{priority_callers = Callers};
with_callers(normal, Callers, Dam) -> Dam#dam{normal_callers = Callers}.

%% Sends the message on to the server if no other message waits before it.
taken(_, _, _, #dam{end_reason = Reason} = Dam) when Reason =/= undefined -> {refused, stopping, Dam};
taken(Lane, Mode, Message, #dam{pid = Pid, window = Window, queue = Queue} = Dam) ->
    case is_pid(Pid) andalso dam_queue:length(Queue) =:= 0 andalso dam_window:grant(Window) > 0 of
        true ->
            Pid ! Message,
            {ok, ask(Dam#dam{window = dam_window:sent(1, Window)})};
        false -> held(Lane, mode(Mode, Dam), Message, Dam)
    end.

%% A message that was sent before its sender could see the flag is kept beyond the limit only with
%% the policy block, which loses nothing.
mode(force, #dam{options = #{policy := {block, _}}}) -> force;
mode(_, _) -> limited.

held(Lane, Mode, Message, #dam{queue = Queue} = Dam) ->
    case dam_queue:in(Lane, Message, now_us(), Mode, Queue) of
        {accepted, [], Next} -> {ok, Dam#dam{queue = Next}};
        {accepted, [Reason | _] = Dropped, Next} -> {ok, drop(Reason, length(Dropped), Dam#dam{queue = Next})};
        {refused, Reason} -> {refused, Reason, Dam}
    end.

%% @doc Brings a dam up to date after each event: sends held messages, admits blocked senders, sets
%% the flag.
-spec settle(#dam{}) -> #dam{}.
settle(Dam) ->
    Released = release(caught_up(Dam)),
    Relieved = dam_queue:is_relieved(Released#dam.queue),
    flagged(Relieved, release(admit(normal, admit(priority, Released)))).

caught_up(#dam{watch = Watch, window = Window} = Dam) ->
    Answered = dam_watch:answered(Watch),
    case Answered > dam_window:done(Window) of
        true -> Dam#dam{window = dam_window:done(Answered, Window), silent = 0};
        false -> Dam
    end.

%% Sends held messages as far as the window allows.
release(#dam{pid = undefined} = Dam) -> Dam;
release(#dam{pid = Pid, window = Window, queue = Queue} = Dam) ->
    Held = dam_queue:length(Queue),
    case min(Held, dam_window:grant(Window)) of
        0 -> ask(Dam);
        N ->
            {Entries, Shed, Rest} = dam_queue:take(N, now_us(), Queue),
            Sent = send_all(Entries, Pid, 0),
            Next = ask(Dam#dam{window = dam_window:sent(Sent, Window), queue = Rest}),
            release(drop(codel, Shed, Next))
    end.

send_all([{Message, _, _, _} | Entries], Pid, Sent) ->
    Pid ! Message,
    send_all(Entries, Pid, Sent + 1);
send_all([], _, Sent) -> Sent.

%% @doc Asks the server how far it is, if a question is due.
-spec ask(#dam{}) -> #dam{}.
ask(#dam{window = Window, pid = Pid, watch = Watch, credit = Credit} = Dam) ->
    case is_pid(Pid) andalso dam_window:to_ask(Window) of
        true ->
            {Covered, Asked} = dam_window:asked(Window),
            ask(Credit, Pid, Covered, Watch),
            Dam#dam{window = Asked};
        false -> Dam
    end.

%% @doc Asks the server in the way that `credit' tells.
-spec ask(sys | poll | ack, pid(), non_neg_integer(), dam_watch:watch()) -> ok.
ask(sys, Pid, Covered, Watch) -> dam_watch:probe(Pid, Covered, Watch);
ask(poll, Pid, Covered, Watch) -> dam_watch:poll(Pid, Covered, Watch);
ask(ack, _, _, _) -> ok.

%% Blocked senders are admitted together, once half of the limit is free. So a sender blocks once
%% for many messages.
admit(Lane, #dam{queue = Queue} = Dam) ->
    case dam_callers:size(callers(Lane, Dam)) > 0 andalso dam_queue:is_relieved(Lane, Queue) of
        true -> admit_all(Lane, Dam);
        false -> Dam
    end.

admit_all(Lane, Dam) ->
    case dam_callers:out(callers(Lane, Dam)) of
        empty -> Dam;
        {{Timer, Ref, Message}, Callers} ->
            admit_one(Lane, Ref, Message, Timer, with_callers(Lane, Callers, Dam), Dam)
    end.

admit_one(Lane, Ref, Message, Timer, Admitting, Waiting) ->
    case taken(Lane, limited, Message, Admitting) of
        {refused, full, _} -> Waiting;
        {refused, Reason, Next} ->
            ok = answered(Timer, Ref, {error, Reason}),
            admit_all(Lane, drop(Reason, 1, Next));
        {ok, Next} ->
            ok = answered(Timer, Ref, ok),
            admit_all(Lane, Next)
    end.

answered(Timer, Ref, Reply) ->
    _ = erlang:cancel_timer(Timer),
    answer(Ref, Reply).

%% The dam's own mailbox counts too: a sender that asks has to wait until the dam has processed it.
flagged(Relieved, #dam{raised = Raised, queue = Queue, options = #{limit := Limit}} = Dam) ->
    {message_queue_len, Mailbox} = process_info(self(), message_queue_len),
    Mark = max(?MAILBOX_LEAST, min(Limit, ?MAILBOX_MOST)),
    Full = Mailbox >= Mark orelse dam_queue:is_full(Queue) orelse are_blocked(Dam),
    if Full ->
            %% Raised again each time, because another dam may have overwritten the flag.
            ok = dam_flag:raise(self()),
            overloaded(Raised, Dam);
       Raised, Relieved, Mailbox =< Mark div 2 ->
            ok = dam_flag:lower(self()),
            event([dam, overload, stop], #{queue => dam_queue:length(Queue)}, Dam#dam{raised = false});
       true -> Dam
    end.

overloaded(true, Dam) -> Dam;
overloaded(false, #dam{queue = Queue} = Dam) ->
    event([dam, overload, start], #{queue => dam_queue:length(Queue), bytes => dam_queue:bytes(Queue)},
          Dam#dam{raised = true}).

are_blocked(#dam{priority_callers = Priority, normal_callers = Normal}) ->
    dam_callers:size(Priority) > 0 orelse dam_callers:size(Normal) > 0.

%% @doc Counts dropped messages. An event reports them within 100 ms.
-spec drop(dam_types:reason(), non_neg_integer(), #dam{}) -> #dam{}.
drop(_, 0, Dam) -> Dam;
drop(Reason, N, #dam{dropped = Dropped, untold = Untold} = Dam) ->
    telling(Dam#dam{dropped = add(Reason, N, Dropped), untold = add(Reason, N, Untold)}).

add(Reason, N, Counts) -> maps:update_with(Reason, fun(Count) -> Count + N end, N, Counts).

telling(#dam{telling = false, events = Events} = Dam) when Events =/= undefined ->
    _ = start_timer(?TELL_MS, tell_drops),
    Dam#dam{telling = true};
telling(Dam) -> Dam.

%% @doc Emits events for the messages dropped since the last such event.
-spec tell_drops(#dam{}) -> #dam{}.
tell_drops(#dam{untold = Untold} = Dam) ->
    Told = maps:fold(fun(Reason, N, Next) -> event([dam, drop], #{count => N}, #{reason => Reason}, Next) end,
                     Dam, Untold),
    Told#dam{untold = #{}, telling = false}.

%% @doc Drops all held messages and refuses all blocked senders.
-spec drop_held(dam_types:reason(), #dam{}) -> #dam{}.
drop_held(Reason, #dam{queue = Queue, options = Options} = Dam) ->
    Held = dam_queue:length(Queue),
    Away = sent_away(Reason, Dam),
    drop(Reason, Held, Away#dam{queue = dam_queue:new(Options)}).

%% @doc Refuses all blocked senders.
-spec sent_away(dam_types:reason(), #dam{}) -> #dam{}.
sent_away(Reason, Dam) -> sent_away(normal, Reason, sent_away(priority, Reason, Dam)).

sent_away(Lane, Reason, Dam) ->
    Callers = dam_callers:to_list(callers(Lane, Dam)),
    _ = [answered(Timer, Ref, {error, Reason}) || {Timer, Ref, _} <- Callers],
    drop(Reason, length(Callers), with_callers(Lane, dam_callers:new(), Dam)).

%% @doc Passes an event to the user's function.
-spec event([atom(), ...], #{atom() => number()}, #dam{}) -> #dam{}.
event(Event, Measurements, Dam) -> event(Event, Measurements, #{}, Dam).

-spec event([atom(), ...], #{atom() => number()}, #{atom() => term()}, #dam{}) -> #dam{}.
event(Event, Measurements, Metadata, #dam{events = Events, options = #{server := Server}} = Dam) ->
    ok = dam_events:emit(Event, Measurements, Metadata#{dam => self(), server => Server}, Events),
    Dam.

%% @doc Starts a timer of the dam itself.
-spec start_timer(non_neg_integer(), term()) -> reference().
start_timer(Ms, What) -> erlang:start_timer(Ms, self(), {'$dam', What}).

-spec now_us() -> integer().
now_us() -> erlang:monotonic_time(microsecond).

now_ms() -> erlang:monotonic_time(millisecond).
