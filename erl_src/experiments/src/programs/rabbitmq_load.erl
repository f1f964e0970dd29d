%% @doc A load for RabbitMQ through its own Erlang client, in a VM that is the same for all measured variants.
%%
%% Two publishers and two consumers have a connection each. A message is its number, the time of sending, and zeros. A round ends
%% when every message has been consumed. The round's result counts the messages that came, and those that came twice.
-module(rabbitmq_load).

-include("amqp.hrl").

-export([start/2, round/4, publish/3, get/3]).
%% Called in the VM of the load.
-export([connect/1, run_round/3, run_publish/3, run_get/3]).
-export_type([load/0]).

-opaque load() :: #{program := program_node:program(), clients := pid()}.
-type queue() :: binary().

-define(CLIENTS, 2).
-define(MESSAGE_BYTES, 100).
%% Of the number and the time of a message.
-define(HEAD_BYTES, 12).
-define(PREFETCH, 200).
-define(ACK_EVERY, 50).
-define(MESSAGE_TIMEOUT_MS, 30_000).

%% @doc Starts the VM, connects, and declares the queues, with consumers if they are wanted. bytes: of a message, 12 or more, 100 by
%% default.
-spec start(program_place:place(), #{port := inet:port_number(), queues := #{queue() => classic | quorum}, consumed := boolean(),
                                     bytes => pos_integer()}) -> load().
start(Place, Wanted) ->
    Program = program_node:start(Place, #{emulator => fixed, environment => [{"ERL_LIBS", rabbitmq_server:plugins()}]}),
    Clients = program_node:call(Program, ?MODULE, connect, [Wanted], ?MESSAGE_TIMEOUT_MS),
    #{program => Program, clients => Clients}.

%% @doc Sends messages through a queue. Returns the counts, the total time, and the 99th percentile of a message's latency, in
%% nanoseconds.
-spec round(load(), queue(), Messages :: pos_integer(), Timeout :: timeout()) ->
          {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
round(#{program := Program, clients := Clients}, Queue, Messages, Timeout) ->
    program_node:call(Program, ?MODULE, run_round, [Clients, Queue, Messages], Timeout).

%% @doc Puts messages into a queue without consumers, and returns when the server has confirmed them.
-spec publish(load(), queue(), Messages :: pos_integer()) -> ok.
publish(#{program := Program, clients := Clients}, Queue, Messages) ->
    program_node:call(Program, ?MODULE, run_publish, [Clients, Queue, Messages]).

%% @doc Fetches messages from a queue one by one. Returns how many there were.
-spec get(load(), queue(), Messages :: pos_integer()) -> non_neg_integer().
get(#{program := Program, clients := Clients}, Queue, Messages) ->
    program_node:call(Program, ?MODULE, run_get, [Clients, Queue, Messages]).

%% @doc A process that holds the connections of the publishers, and receives the consumers' reports.
-spec connect(map()) -> pid().
connect(#{port := Port, queues := Queues, consumed := Consumed} = Wanted) ->
    Padding = <<0:((maps:get(bytes, Wanted, ?MESSAGE_BYTES) - ?HEAD_BYTES) * 8)>>,
    {ok, _} = application:ensure_all_started(amqp_client),
    program_holder:start(fun() ->
                                 Publishers = [channel(Port) || _ <- lists:seq(1, ?CLIENTS)],
                                 ok = maps:foreach(fun(Queue, Type) -> declare(hd(Publishers), Queue, Type) end, Queues),
                                 _ = [consumer(Port, Queue) || Consumed, Queue <- maps:keys(Queues), _ <- lists:seq(1, ?CLIENTS)],
                                 {Publishers, Padding}
                         end).

channel(Port) ->
    Plain = fun(Mechanism, State, Params) -> program_library:call(amqp_auth_mechanisms, plain, [Mechanism, State, Params]) end,
    Params = #amqp_params_network{port = Port, auth_mechanisms = [Plain]},
    {ok, Connection} = program_library:call(amqp_connection, start, [Params]),
    {ok, Channel} = program_library:call(amqp_connection, open_channel, [Connection]),
    Channel.

called(Channel, Method) -> program_library:call(amqp_channel, call, [Channel, Method]).

declare(Channel, Queue, Type) ->
    Arguments = [{<<"x-queue-type">>, longstr, atom_to_binary(Type)}],
    {'queue.declare_ok', Queue, _, _} = called(Channel, #'queue.declare'{queue = Queue, durable = true, arguments = Arguments}),
    ok.

%% A process that consumes from the queue and reports each message to the holder.
consumer(Port, Queue) ->
    Holder = self(),
    Pid = spawn_link(fun() ->
                             Channel = channel(Port),
                             {'basic.qos_ok'} = called(Channel, #'basic.qos'{prefetch_count = ?PREFETCH}),
                             _ = program_library:call(amqp_channel, subscribe, [Channel, #'basic.consume'{queue = Queue}, self()]),
                             receive #'basic.consume_ok'{} -> Holder ! {consumes, self()} end,
                             consume(Channel, Holder, 1)
                     end),
    receive {consumes, Pid} -> Pid end.

consume(Channel, Holder, Count) ->
    receive
        {#'basic.deliver'{delivery_tag = Tag}, #amqp_msg{payload = <<Number:32, SentAt:64/signed, _/bits>>}} ->
            Took = erlang:monotonic_time() - SentAt,
            ok = case Count rem ?ACK_EVERY of
                     0 -> program_library:call(amqp_channel, cast, [Channel, #'basic.ack'{delivery_tag = Tag, multiple = true}]);
                     _ -> ok
                 end,
            Holder ! {came, Number, Took},
            consume(Channel, Holder, Count + 1)
    end.

%% @doc See `round/4'.
-spec run_round(pid(), queue(), pos_integer()) -> {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
run_round(Clients, Queue, Messages) ->
    program_holder:ask(Clients, fun({Publishers, Padding}) ->
        program_messages:round(Messages,
                               fun(Number) -> publish_one(lists:nth(1 + Number rem ?CLIENTS, Publishers), Queue, Number, Padding) end,
                               fun() -> came(Messages) end)
                                end).

publish_one(Channel, Queue, Number, Padding) ->
    Payload = <<Number:32, (erlang:monotonic_time()):64, Padding/binary>>,
    ok = program_library:call(amqp_channel, cast, [Channel, #'basic.publish'{routing_key = Queue}, #amqp_msg{payload = Payload}]).

%% Fewer messages than expected mean that some were lost.
came(0) -> [];
came(Left) ->
    receive {came, Number, Took} -> [{Number, Took} | came(Left - 1)]
    after ?MESSAGE_TIMEOUT_MS -> []
    end.

%% @doc See `publish/3'.
-spec run_publish(pid(), queue(), pos_integer()) -> ok.
run_publish(Clients, Queue, Messages) ->
    program_holder:ask(Clients, fun({[Channel | _], Padding}) ->
        {'confirm.select_ok'} = called(Channel, #'confirm.select'{}),
        lists:foreach(fun(Number) -> publish_one(Channel, Queue, Number, Padding) end, lists:seq(1, Messages)),
        true = program_library:call(amqp_channel, wait_for_confirms, [Channel, ?MESSAGE_TIMEOUT_MS div 1000]),
        ok
                                end).

%% @doc See `get/3'.
-spec run_get(pid(), queue(), pos_integer()) -> non_neg_integer().
run_get(Clients, Queue, Messages) ->
    program_holder:ask(Clients, fun({[Channel | _], _}) -> length([got || _ <- lists:seq(1, Messages), got(Channel, Queue)]) end).

got(Channel, Queue) ->
    case called(Channel, #'basic.get'{queue = Queue, no_ack = true}) of
        {#'basic.get_ok'{}, _} -> true;
        _ -> false
    end.
