%% @doc RabbitMQ's streams at work: messages from one publisher to one consumer.
%%
%% The main metric is the processor time of the server for a fixed number of messages. Beside it stand the time that they took and
%% the 99th percentile of a message's latency, which also depend on the load on the other core; and what the collections of the stream's
%% writer copied, which depends on how many messages it takes at a time.
-module(exp_rabbitmq_stream).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, program/1, teardown/1]).

%% So many bytes in a round, however large its messages are.
-define(BYTES, 32_000_000).
-define(TIMEOUT_MS, 60_000).

-spec info() -> ertslab_experiment:info().
info() ->
    judge_turns:info(
      #{title => "RabbitMQ, messages through a stream",
        shows => "the effect of a change to the VM, or of its flags, on the writer and the readers of a stream",
        origin => "rabbitmq/osiris#167: the writer gains 8 to 32 % by fullsweep_after=0",
        programs => program_packages:versions("rabbitmq"),
        parameters =>
            [#{name => bytes, min => 16, max => 320_000, quick => [1000], full => [100, 1000, 100_000],
               doc => "size of a message"},
             #{name => messages, min => 100, max => 1_000_000, quick => [2000], full => [50_000],
               doc => "messages in a round, by a publisher to a consumer; fewer where they would be more than 32 MB"}],
        metrics => [#{name => cpu, doc => "processor time of the server, for the messages of a round"},
                    #{name => time, doc => "the time of that round"},
                    #{name => p99, doc => "the 99th percentile of the time from publisher to consumer in that round"},
                    #{name => peak, doc => "the most resident memory of the server in that round", unit => bytes},
                    #{name => copied, unit => words,
                      doc => "words that the collections of the stream's writer copied, for each message of a round that is traced"},
                    #{name => sweeps, unit => collections, doc => "full sweeps of the writer in that round"},
                    #{name => memory, doc => "memory of the server afterwards, with all its processes collected", unit => bytes}]}).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{bytes := Bytes, messages := Messages}) ->
    Place = program_place:new("rabbitmq"),
    Server = rabbitmq_server:with_streams(Place),
    Load = rabbitmq_stream_load:start(Place, #{port => rabbitmq_server:address(Server), bytes => Bytes}),
    #{place => Place, server => Server, load => Load, messages => max(100, min(Messages, ?BYTES div Bytes)), beside => round_notes:new()}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {number(), map() | none}.
run(cpu, #{server := Server, load := Load, messages := Messages, beside := Beside} = State) ->
    Work = fun() ->
                   {Peak, {Counts, Others}} =
                       program_memory:peak(program(State), fun() -> rabbitmq_stream_load:round(Load, Messages, ?TIMEOUT_MS) end),
                   {Counts, Others#{peak => Peak}}
           end,
    {Cpu, Counts} = judge_turns:taken(Beside, program(State), Work),
    {Cpu, Counts#{errors => rabbitmq_server:errors(Server)}};
run(copied, #{server := Server, load := Load, messages := Messages, beside := Beside}) ->
    {Collections, {Counts, _}} = program_collections:while(rabbitmq_server:program(Server), rabbitmq_server:stream_writer(Server),
                                                           fun() -> rabbitmq_stream_load:round(Load, Messages, ?TIMEOUT_MS) end),
    #{full := Sweeps} = collection_events:counts(Collections),
    ok = round_notes:note(Beside, #{sweeps => Sweeps}),
    {lists:sum([Words || #{copied := Words} <- Collections]) / Messages, Counts#{errors => rabbitmq_server:errors(Server)}};
run(memory, #{server := Server}) -> {program_memory:bytes(rabbitmq_server:program(Server)), none};
run(Metric, #{beside := Beside}) -> {round_notes:noted(Beside, Metric), none}.

-spec verify(atom(), map() | none, map()) -> ok | {wrong, term()}.
verify(Metric, Counts, #{messages := Messages}) when Metric =:= cpu; Metric =:= copied ->
    ertslab_experiment:expect(#{messages => Messages, twice => 0, errors => []}, Counts);
verify(_, none, _) -> ok.

-spec program(map()) -> pos_integer().
program(#{server := Server}) -> program_node:os_pid(rabbitmq_server:program(Server)).

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
