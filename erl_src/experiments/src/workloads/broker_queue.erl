%% @doc A queue as a message broker has them: it takes messages, keeps them in order,
%% gives each to a consumer and forgets it when that one has acknowledged it.
%%
%% What waits is kept in a `queue', and what was given out in a map until it is
%% acknowledged. After every 1,000 messages it looks how long it is, as a broker
%% does for its statistics.
-module(broker_queue).
-behaviour(gen_server).

-export([start_link/0, publish/2, synchronise/1, get/1, acknowledge/2, report/1, hibernate/1]).
-export([init/1, handle_call/3, handle_cast/2]).
-export_type([message/0]).

%% Its number counts the messages that were published before it.
-type message() :: {Number :: non_neg_integer(), Payload :: binary()}.
-type state() :: #{waiting := queue:queue(kept()), given := #{non_neg_integer() => kept()},
                   next := non_neg_integer(), reported := non_neg_integer()}.
%% A message with what a broker knows of it.
-record(kept, {number :: non_neg_integer(), key :: binary(), properties :: [{atom(), term()}],
               persistent = false :: boolean(), delivered = 0 :: non_neg_integer(), payload :: binary()}).
-type kept() :: #kept{}.

-define(REPORT_EVERY, 1000).

-spec start_link() -> pid().
start_link() ->
    {ok, Pid} = gen_server:start_link(?MODULE, [], []),
    Pid.

%% @doc Adds a message; does not wait.
-spec publish(pid(), binary()) -> ok.
publish(Queue, Payload) -> gen_server:cast(Queue, {publish, Payload}).

%% @doc Waits until what was sent to the queue before is done.
-spec synchronise(pid()) -> ok.
synchronise(Queue) -> gen_server:call(Queue, synchronise, infinity).

%% @doc The message that waits longest, to be acknowledged.
-spec get(pid()) -> message() | empty.
get(Queue) -> gen_server:call(Queue, get, infinity).

%% @doc Lets the queue forget a message that it has given; does not wait.
-spec acknowledge(pid(), non_neg_integer()) -> ok.
acknowledge(Queue, Number) -> gen_server:cast(Queue, {acknowledge, Number}).

%% @doc How many messages wait and how many were given and not acknowledged, with
%% the time in nanoseconds that the queue took to count those that wait.
-spec report(pid()) -> {Nanoseconds :: integer(), {Waiting :: non_neg_integer(), Given :: non_neg_integer()}}.
report(Queue) -> gen_server:call(Queue, report, infinity).

%% @doc Lets the queue hibernate, as it does when it is idle.
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
    Kept = #kept{number = Next, key = ~"orders.new", properties = [{priority, Next rem 10}, {expires, never}],
                 payload = Payload},
    {noreply, reported(State#{waiting := queue:in(Kept, Waiting), next := Next + 1})};
handle_cast({acknowledge, Number}, #{given := Given} = State) ->
    {noreply, State#{given := maps:remove(Number, Given)}};
handle_cast(hibernate, State) -> {noreply, State, hibernate}.

reported(#{next := Next, waiting := Waiting} = State) when Next rem ?REPORT_EVERY =:= 0 ->
    State#{reported := queue:len(Waiting)};
reported(State) -> State.
