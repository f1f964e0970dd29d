%% @doc RabbitMQ at work: messages through a classic and a quorum queue.
%%
%% The main metric is the processor time of the server for a fixed number of messages. Beside it stand the time that they took and
%% the 99th percentile of a message's latency, which also depend on the load on the other core.
-module(exp_rabbitmq).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, program/1, teardown/1]).

-define(QUEUES, #{<<"classic">> => classic, <<"quorum">> => quorum}).
-define(TIMEOUT_MS, 60_000).

-spec info() -> ertslab_experiment:info().
info() ->
    judge_turns:info(
      #{title => "RabbitMQ, messages published and consumed",
        shows => "the effect of a change to the VM on a broker",
        origin => "rabbitmq-server as Debian trixie packages it; 'Memory matters' (2010) began with it",
        programs => program_packages:versions("rabbitmq"),
        parameters =>
            [#{name => messages, min => 100, max => 100_000, quick => [500], full => [1000],
               doc => "messages in a round, by two publishers to two consumers"},
             #{name => bytes, min => 12, max => 1_000_000, quick => [100], full => [100], doc => "size of a message"}],
        metrics => [#{name => classic_cpu, doc => "processor time of the server, for the messages of a round through a classic queue"},
                    #{name => classic_time, doc => "the time of that round"},
                    #{name => classic_p99, doc => "the 99th percentile of the time from publisher to consumer in that round"},
                    #{name => quorum_cpu, doc => "processor time of the server, through a quorum queue of one node"},
                    #{name => quorum_time, doc => "the time of that round"},
                    #{name => quorum_p99, doc => "the 99th percentile of the time from publisher to consumer in that round"},
                    #{name => memory, doc => "memory of the server afterwards, with all its processes collected", unit => bytes}]}).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{messages := Messages, bytes := Bytes}) ->
    Place = program_place:new("rabbitmq"),
    Server = rabbitmq_server:start(Place),
    Load = rabbitmq_load:start(Place, #{port => rabbitmq_server:address(Server), queues => ?QUEUES, bytes => Bytes, consumed => true}),
    #{place => Place, server => Server, load => Load, messages => Messages, beside => round_notes:new()}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {integer(), map() | none}.
run(classic_cpu, State) -> round(<<"classic">>, classic_time, classic_p99, State);
run(quorum_cpu, State) -> round(<<"quorum">>, quorum_time, quorum_p99, State);
run(memory, #{server := Server}) -> {program_memory:bytes(rabbitmq_server:program(Server)), none};
run(Metric, #{beside := Beside}) -> {round_notes:noted(Beside, Metric), none}.

round(Queue, TimeMetric, P99Metric, #{server := Server, load := Load, messages := Messages, beside := Beside} = State) ->
    Work = fun() ->
                   {Counts, #{time := Time, p99 := P99}} = rabbitmq_load:round(Load, Queue, Messages, ?TIMEOUT_MS),
                   {Counts, #{TimeMetric => Time, P99Metric => P99}}
           end,
    {Cpu, Counts} = judge_turns:taken(Beside, program(State), Work),
    {Cpu, Counts#{errors => rabbitmq_server:errors(Server)}}.

-spec verify(atom(), map() | none, map()) -> ok | {wrong, term()}.
verify(Metric, Counts, #{messages := Messages}) when Metric =:= classic_cpu; Metric =:= quorum_cpu ->
    ertslab_experiment:expect(#{messages => Messages, twice => 0, errors => []}, Counts);
verify(_, none, _) -> ok.

-spec program(map()) -> pos_integer().
program(#{server := Server}) -> program_node:os_pid(rabbitmq_server:program(Server)).

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
