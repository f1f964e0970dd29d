%% @doc A queue like that of a message broker: it takes messages, keeps them in order,
%% gives each to a consumer and forgets it when the consumer has acknowledged it.
%%
%% Waiting messages are kept in a `queue', and those that were given out in a map until they are
%% acknowledged. After every 1,000 messages it computes its length, as a broker
%% does for its statistics.
-module(broker_queue).
-behaviour(gen_server).

-export([start_link/0, publish/2, synchronise/1, get/1, acknowledge/2, report/1, hibernate/1]).
-export([init/1, handle_call/3, handle_cast/2]).
-export_type([message/0]).

%% The number of a message is the number of messages that were published before it.
-type message() :: {Number :: non_neg_integer(), Payload :: binary()}.
-type state() :: #{waiting := queue:queue(kept()), given := #{non_neg_integer() => kept()},
                   next := non_neg_integer(), reported := non_neg_integer()}.
%% A message with a broker's metadata.
-record(kept, {number :: non_neg_integer(), key :: binary(), properties :: [{atom(), term()}],
               persistent = false :: boolean(), delivered = 0 :: non_neg_integer(), payload :: binary()}).
-type kept() :: #kept{}.

-define(REPORT_EVERY, 1000).

-spec start_link() -> pid().
start_link() ->
    {ok, Pid} = gen_server:start_link(?MODULE, [], []),
    Pid.

%% @doc Adds a message, without waiting.
-spec publish(pid(), binary()) -> ok.
publish(Queue, Payload) -> gen_server:cast(Queue, {publish, Payload}).

%% @doc Waits until the queue has handled all earlier messages of the caller.
-spec synchronise(pid()) -> ok.
synchronise(Queue) -> gen_server:call(Queue, synchronise, infinity).

%% @doc The message that waits longest. It must then be acknowledged.
-spec get(pid()) -> message() | empty.
get(Queue) -> gen_server:call(Queue, get, infinity).

%% @doc Lets the queue forget a message that it has given out, without waiting.
-spec acknowledge(pid(), non_neg_integer()) -> ok.
acknowledge(Queue, Number) -> gen_server:cast(Queue, {acknowledge, Number}).

%% @doc How many messages wait, how many are given out and not acknowledged, and the time in
%% nanoseconds that the queue took to count those that wait.
-spec report(pid()) -> {Nanoseconds :: integer(), {Waiting :: non_neg_integer(), Given :: non_neg_integer()}}.
report(Queue) -> gen_server:call(Queue, report, infinity).

%% @doc Lets the queue hibernate, as it would when idle.
-spec hibernate(pid()) -> ok.
hibernate(Queue) -> gen_server:cast(Queue, hibernate).

-spec init([]) -> {ok, state()}.
init([]) -> {ok, #{waiting => queue:new(), given => #{}, next => 0, reported => 0}}.

-spec handle_call(synchronise | get | report, gen_server:from(), state()) -> {reply, term(), state()}.
handle_call(synchronise, _From, State) -> {reply, ok, State};
handle_call(report, _From, #{waiting := Waiting, given := Given} = State) ->
    {Nanoseconds, Length} = ertslab_experiment:timed(fun() -> queue:len(Waiting) end),
    {reply, {Nanoseconds, {Length, map_size(Given)}}, State};
handle_call(get, _From, #{waiting := Waiting, given := Given} = State) ->
    case queue:out(Waiting) of
        {{value, #kept{number = Number, delivered = Times, payload = Payload} = Kept}, Rest} ->
            {reply, {Number, Payload},
             State#{waiting := Rest, given := Given#{Number => Kept#kept{delivered = Times + 1}}}};
        {empty, _} -> {reply, empty, State}
    end.

-spec handle_cast({publish, binary()} | {acknowledge, non_neg_integer()} | hibernate, state()) ->
          {noreply, state()} | {noreply, state(), hibernate}.
handle_cast({publish, Payload}, #{waiting := Waiting, next := Next} = State) ->
    Kept = #kept{number = Next, key = <<"orders.new">>, properties = [{priority, Next rem 10}, {expires, never}],
                 payload = Payload},
    {noreply, reported(State#{waiting := queue:in(Kept, Waiting), next := Next + 1})};
handle_cast({acknowledge, Number}, #{given := Given} = State) ->
    {noreply, State#{given := maps:remove(Number, Given)}};
handle_cast(hibernate, State) -> {noreply, State, hibernate}.

reported(#{next := Next, waiting := Waiting} = State) when Next rem ?REPORT_EVERY =:= 0 ->
    State#{reported := queue:len(Waiting)};
reported(State) -> State.
