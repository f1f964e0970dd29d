%% @doc A load for RabbitMQ's streams, in a VM that is the same for all measured variants.
%%
%% One publisher and one consumer have a connection each, with the codec that comes with RabbitMQ. The publisher sends frames of up to
%% a hundred messages, and waits while the server has not confirmed ten thousand. A message holds its number, the time of sending,
%% and zeros. A round ends when the consumer has every message.
-module(rabbitmq_stream_load).

-export([start/2, round/3]).
%% Called in the VM of the load.
-export([connect/1, run_round/2]).
-export_type([load/0]).

-opaque load() :: #{program := program_node:program(), clients := pid()}.

-define(STREAM, <<"stream">>).
%% How much the server keeps, and in files of which size.
-define(KEPT, #{<<"max-length-bytes">> => <<"100000000">>, <<"stream-max-segment-size-bytes">> => <<"20000000">>}).
-define(ID, 1).
-define(BATCH, 100).
%% A frame may have 1 MB.
-define(BATCH_BYTES, 500_000).
-define(UNCONFIRMED, 10_000).
%% Chunks that the server may send before the consumer asks for more, as stream-perf-test has it.
-define(CREDIT, 10).
-define(OK, 1).
-define(TIMEOUT_MS, 30_000).

%% @doc Starts the VM, connects, and makes the stream. A message has at least 16 bytes.
-spec start(program_place:place(), #{port := inet:port_number(), bytes := pos_integer()}) -> load().
start(Place, Wanted) ->
    Program = program_node:start(Place, #{emulator => fixed, environment => [{"ERL_LIBS", rabbitmq_server:plugins()}]}),
    Clients = program_node:call(Program, ?MODULE, connect, [Wanted], ?TIMEOUT_MS),
    #{program => Program, clients => Clients}.

%% @doc Sends messages through the stream. Returns the counts, the total time, and the 99th percentile of a message's latency, in
%% nanoseconds.
-spec round(load(), Messages :: pos_integer(), Timeout :: timeout()) ->
          {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
round(#{program := Program, clients := Clients}, Messages, Timeout) ->
    program_node:call(Program, ?MODULE, run_round, [Clients, Messages], Timeout).

%% @doc A process that holds the connection of the publisher.
-spec connect(#{port := inet:port_number(), bytes := pos_integer()}) -> pid().
connect(#{port := Port, bytes := Bytes}) ->
    program_holder:start(fun() ->
                                 Publisher = opened(Port),
                                 _ = asked(Publisher, {create_stream, ?STREAM, ?KEPT}),
                                 {Socket, Codec} = asked(Publisher, {declare_publisher, ?ID, <<>>, ?STREAM}),
                                 Unconfirmed = counters:new(1, []),
                                 Hears = fun() -> hears(Socket, Codec, fun(Command) -> confirmed(Command, Unconfirmed) end) end,
                                 Confirmed = spawn_link(Hears),
                                 ok = gen_tcp:controlling_process(Socket, Confirmed),
                                 #{socket => Socket, bytes => Bytes, unconfirmed => Unconfirmed, consumer => consumer(Port)}
                         end).

%% @doc See `round/3'.
-spec run_round(pid(), pos_integer()) -> {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
run_round(Clients, Messages) ->
    program_holder:ask(Clients, fun(#{bytes := Bytes, consumer := Consumer} = Publisher) ->
        Batch = max(1, min(?BATCH, ?BATCH_BYTES div Bytes)),
        program_messages:round(Messages,
                               fun(Number) when Number rem Batch =:= 1; Batch =:= 1 ->
                                       publish(Publisher, lists:seq(Number, min(Messages, Number + Batch - 1)));
                                  (_) -> ok
                               end,
                               fun() -> came(Consumer, Messages) end)
                                end).

publish(#{socket := Socket, bytes := Bytes, unconfirmed := Unconfirmed} = Publisher, Numbers) ->
    case counters:get(Unconfirmed, 1) > ?UNCONFIRMED of
        true -> receive after 1 -> publish(Publisher, Numbers) end;
        false ->
            ok = counters:add(Unconfirmed, 1, length(Numbers)),
            ok = gen_tcp:send(Socket, codec(frame, [{publish, ?ID, length(Numbers), [message(Number, Bytes) || Number <- Numbers]}]))
    end.

%% Its first bit says that it is no batch of messages.
message(Number, Bytes) -> <<Number:64, 0:1, Bytes:31, Number:64, (erlang:monotonic_time()):64/signed, 0:((Bytes - 16) * 8)>>.

confirmed({publish_confirm, ?ID, Numbers}, Unconfirmed) -> counters:sub(Unconfirmed, 1, length(Numbers));
confirmed(heartbeat, _) -> ok.

%% Fewer messages than expected mean that some were lost.
came(Consumer, Messages) ->
    Reference = make_ref(),
    Consumer ! {wanted, self(), Reference, Messages},
    receive {Reference, Came} -> Came
    after ?TIMEOUT_MS -> []
    end.

%% A process that has what came since it was last asked.
consumer(Port) ->
    Holder = self(),
    Pid = spawn_link(fun() ->
                             {Socket, Codec} = asked(opened(Port), {subscribe, ?ID, ?STREAM, next, ?CREDIT}),
                             Collector = spawn_link(fun() -> collect([], 0) end),
                             Holder ! {collector, self(), Collector},
                             hears(Socket, Codec, fun(Command) -> delivered(Command, Socket, Collector) end)
                     end),
    receive {collector, Pid, Collector} -> Collector after ?TIMEOUT_MS -> exit(no_consumer) end.

delivered({deliver, ?ID, Chunk}, Socket, Collector) ->
    Now = erlang:monotonic_time(),
    ok = gen_tcp:send(Socket, codec(frame, [{credit, ?ID, 1}])),
    Collector ! {came, [{Number, Now - SentAt} || {Number, SentAt} <- entries(Chunk)]},
    ok;
delivered(heartbeat, _, _) -> ok.

%% A chunk of osiris: its header, and the messages, each after its size.
entries(<<5:4, _:4, _Type, _Entries:16, _Records:32, _Time:64, _Epoch:64, _First:64, _Crc:32, Size:32, _Trailer:32, Filter:8, _:24,
          Rest/bits>>) ->
    <<_:Filter/binary, Messages:Size/binary, _/bits>> = Rest,
    [{Number, SentAt} || <<0:1, Bytes:31, Message:Bytes/binary>> <= Messages, <<Number:64, SentAt:64/signed, _/bits>> <- [Message]].

collect(Came, Count) ->
    receive
        {came, More} -> collect([More | Came], Count + length(More));
        {wanted, From, Reference, Messages} -> wanted(From, Reference, Messages, Came, Count)
    end.

wanted(From, Reference, Messages, Came, Count) when Count < Messages ->
    receive {came, More} -> wanted(From, Reference, Messages, [More | Came], Count + length(More)) end;
wanted(From, Reference, _, Came, _) ->
    From ! {Reference, lists:append(Came)},
    collect([], 0).

%% A connection, by the user that a new RabbitMQ has.
opened(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {nodelay, true}]),
    New = {Socket, codec(init, [none])},
    Known = lists:foldl(fun(Request, Connection) -> asked(Connection, Request) end, New,
                        [{peer_properties, #{}}, sasl_handshake, {sasl_authenticate, <<"PLAIN">>, <<0, "guest", 0, "guest">>}]),
    {{tune, FrameMax, _}, Tuned} = next(Known),
    ok = gen_tcp:send(Socket, codec(frame, [{response, 0, {tune, FrameMax, 0}}])),
    asked(Tuned, {open, <<"/">>}).

%% The connection after the answer to a request.
asked({Socket, _} = Connection, Request) ->
    ok = gen_tcp:send(Socket, codec(frame, [{request, 1, Request}])),
    {{response, 1, Answer}, After} = next(Connection),
    {_, ?OK} = {Request, element(2, Answer)},
    After.

next({Socket, Codec}) ->
    case codec(next_command, [Codec]) of
        {Command, Left} -> {Command, {Socket, Left}};
        empty ->
            {ok, Data} = gen_tcp:recv(Socket, 0, ?TIMEOUT_MS),
            next({Socket, codec(incoming_data, [Data, Codec])})
    end.

%% Calls the function with each command that comes. What ends the connection ends the load.
hears(Socket, Codec, Fun) ->
    {Commands, Left} = codec(all_commands, [Codec]),
    ok = lists:foreach(Fun, Commands),
    {ok, Data} = gen_tcp:recv(Socket, 0),
    hears(Socket, codec(incoming_data, [Data, Left]), Fun).

codec(Function, Args) -> program_library:call(rabbit_stream_core, Function, Args).
