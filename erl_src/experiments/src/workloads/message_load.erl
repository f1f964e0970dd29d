%% @doc A receiving process, and long-lived processes that send to it again and
%% again, for the experiment on `message_queue_data'.
%%
%% All of them live as long as the load. In each round every sender sends its
%% share of the messages, and the receiver takes them in one of several ways.
-module(message_load).

-export([start/1, round/2, waiting/1, stop/1, receivers/0, payloads/0, passed_by/1, bytes/1]).
-export([receiver/1, sender/2, collections/1]).
-export_type([load/0, options/0, look/0, taken/0]).

-type options() :: #{senders := pos_integer(), messages := pos_integer(), payload := atom(),
                     receiver := atom(), passed_by := non_neg_integer(), queue := on_heap | off_heap, scope := receiver | all}.
-type load() :: #{receiver := pid(), senders := [pid(), ...], options := options()}.
%% What a round measures: only its time; also the age of each message when
%% it is taken; or also the time of the receiver's collections.
-type look() :: time | age | collections.
%% How many messages were taken, and how many are left then.
-type taken() :: {non_neg_integer(), non_neg_integer()}.

%% A `collecting' receiver forces a collection after this many messages.
-define(COLLECT_EVERY, 1000).
%% Messages that a sender sends before it yields.
-define(TURN, 100).
%% Elements of the list that a slow receiver builds for each message.
-define(WORK, 100).
-define(BYTES_A_MESSAGE, 260).

%% @doc The bytes that so many short waiting messages need, collections included: the highest RSS grew by 205 for
%% each of a million on the heap, and by 117 off it (OTP 29.1.1).
-spec bytes(non_neg_integer()) -> non_neg_integer().
bytes(Messages) -> Messages * ?BYTES_A_MESSAGE.

%% @doc The ways to receive: `fast' takes each message as it comes and does
%% nothing; `slow' builds a list of 100 elements for each; `backlog' is slow and
%% begins when all messages wait; `selective' takes them past others, which nobody takes;
%% `collecting' is fast, begins when all wait, and forces a collection after each 1,000.
-spec receivers() -> [atom(), ...].
receivers() -> [fast, slow, backlog, selective, collecting].

%% @doc The payloads: a `small' one is an integer, a `large' one a list of 100
%% of them (200 words to copy), a `binary' one of 1,000 bytes, which is shared.
-spec payloads() -> [atom(), ...].
payloads() -> [small, large, binary].

%% @doc Starts a load, linked to the caller.
-spec start(options()) -> load().
start(#{queue := Queue, scope := Scope, senders := Count, receiver := How} = Options) ->
    Receiver = spawn_opt(?MODULE, receiver, [How], [link, {message_queue_data, Queue}]),
    Others = maps:get(Scope, #{receiver => on_heap, all => Queue}),
    Senders = [spawn_opt(?MODULE, sender, [Receiver, payload(maps:get(payload, Options))],
                         [link, {message_queue_data, Others}])
               || _ <- lists:seq(1, Count)],
    lists:foreach(fun(Nth) -> Receiver ! {passed_by, Nth} end, lists:seq(1, passed_by(Options))),
    #{receiver => Receiver, senders => Senders, options => Options}.

%% @doc How many messages wait all the time because nobody takes them.
-spec passed_by(options()) -> non_neg_integer().
passed_by(#{receiver := selective, passed_by := Messages}) -> Messages;
passed_by(#{}) -> 0.

payload(small) -> 1;
payload(large) -> lists:seq(1, 100);
payload(binary) -> binary:copy(<<1>>, 1000).

%% @doc Lets all messages be sent and taken once. Returns nanoseconds for each message:
%% of the round's time, of its age, or of collections.
-spec round(look(), load()) -> {float(), taken()}.
round(Look, #{receiver := Receiver, options := #{messages := Messages}} = Load) ->
    Tracer = traced(Look, Receiver),
    {Time, {Ages, Taken}} = ertslab_experiment:timed(fun() -> exchange(Load) end),
    {message_queue_len, Waiting} = process_info(Receiver, message_queue_len),
    {value(Look, Time, Ages, Tracer) / Messages, {Taken, Waiting}}.

value(time, Time, _Ages, _Tracer) -> Time;
value(age, _Time, Ages, _Tracer) -> Ages;
value(collections, _Time, _Ages, Tracer) -> collected(Tracer).

exchange(#{receiver := Receiver, options := #{receiver := How, messages := Messages}} = Load)
  when How =:= backlog; How =:= collecting ->
    ok = send_all(Load),
    term_owner:ask(Receiver, {take, Messages});
exchange(#{receiver := Receiver, options := #{messages := Messages}} = Load) ->
    Receiver ! {self(), {take, Messages}},
    ok = send_all(Load),
    receive {Receiver, Answer} -> Answer end.

send_all(#{senders := Senders, options := #{messages := Messages}}) ->
    Count = length(Senders),
    lists:foreach(fun({Nth, Sender}) -> Sender ! {self(), {send, ertslab_experiment:share(Messages, Count, Nth)}} end,
                  lists:enumerate(Senders)),
    lists:foreach(fun(Sender) -> receive {Sender, sent} -> ok end end, Senders).

%% @doc The bytes of the receiver for each message when all of them wait.
-spec waiting(load()) -> {float(), taken()}.
waiting(#{receiver := Receiver, options := #{messages := Messages}} = Load) ->
    Before = memory(Receiver),
    ok = send_all(Load),
    Full = memory(Receiver),
    {_, Taken} = term_owner:ask(Receiver, {take, Messages}),
    {message_queue_len, Left} = process_info(Receiver, message_queue_len),
    {(Full - Before) / Messages, {Taken, Left}}.

memory(Receiver) ->
    true = garbage_collect(Receiver),
    {memory, Bytes} = process_info(Receiver, memory),
    Bytes.

%% @doc Ends all processes of a load.
-spec stop(load() | none) -> ok.
stop(none) -> ok;
stop(#{receiver := Receiver, senders := Senders}) ->
    lists:foreach(fun term_owner:stop/1, [Receiver | Senders]).

%% @doc The receiving process. It takes as many messages as it is told.
-spec receiver(atom()) -> no_return().
receiver(How) ->
    receive
        {Client, {take, Messages}} -> Client ! {self(), take(How, Messages, Messages, 0)}
    end,
    receiver(How).

take(_How, 0, Messages, Ages) -> {Ages, Messages};
take(How, Left, Messages, Ages) ->
    SentAt = receive {message, At, _Payload} -> At end,
    ok = handle(How, Left),
    take(How, Left - 1, Messages, Ages + age(SentAt)).

age(SentAt) -> erlang:monotonic_time(nanosecond) - SentAt.

handle(How, _) when How =:= fast; How =:= selective -> ok;
handle(collecting, Left) when Left rem ?COLLECT_EVERY =:= 0 ->
    true = garbage_collect(),
    ok;
handle(collecting, _) -> ok;
handle(_Slow, Left) ->
    Left = lists:foldl(fun max/2, 0, lists:seq(Left - ?WORK, Left)),
    ok.

%% @doc A sending process. It sends the payload as often as it is told.
-spec sender(pid(), term()) -> no_return().
sender(Receiver, Payload) ->
    receive
        {Client, {send, Messages}} ->
            send(Receiver, Payload, Messages),
            Client ! {self(), sent}
    end,
    sender(Receiver, Payload).

send(_Receiver, _Payload, 0) -> ok;
send(Receiver, Payload, Left) ->
    Receiver ! {message, erlang:monotonic_time(nanosecond), Payload},
    Left rem ?TURN =/= 0 orelse erlang:yield(),
    send(Receiver, Payload, Left - 1).

traced(collections, Receiver) ->
    Tracer = spawn_link(?MODULE, collections, [0]),
    1 = erlang:trace(Receiver, true, [garbage_collection, monotonic_timestamp, {tracer, Tracer}]),
    {Receiver, Tracer};
traced(_, _Receiver) -> none.

collected({Receiver, Tracer}) ->
    1 = erlang:trace(Receiver, false, [garbage_collection]),
    Reference = erlang:trace_delivered(Receiver),
    receive {trace_delivered, Receiver, Reference} -> ok end,
    Time = term_owner:ask(Tracer, collected),
    ok = term_owner:stop(Tracer),
    erlang:convert_time_unit(Time, native, nanosecond).

%% @doc Adds up the time of the traced collections.
-spec collections(integer()) -> no_return().
collections(Sum) ->
    receive
        {trace_ts, _Pid, Begin, _Info, At} when Begin =:= gc_minor_start; Begin =:= gc_major_start ->
            collections(Sum - At);
        {trace_ts, _Pid, _End, _Info, At} ->
            collections(Sum + At);
        {Client, collected} ->
            Client ! {self(), Sum},
            collections(Sum)
    end.
