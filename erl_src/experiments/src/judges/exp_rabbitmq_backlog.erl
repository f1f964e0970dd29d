%% @doc The case of 2010 on today's RabbitMQ: messages are fetched one by one from a queue with a backlog, before and after
%% its process has hibernated. The lengths of the lists in that process are measured too, since hibernation spreads long lists.
%%
%% A queue's process hibernates when it was idle for a while: one second at first, later up to ten.
-module(exp_rabbitmq_backlog).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, program/1, teardown/1]).

-define(QUEUE, <<"backlog">>).
-define(HIBERNATION_MS, 30_000).

-spec info() -> ertslab_experiment:info().
info() ->
    judge_turns:info(
      #{title => "RabbitMQ, basic.get from a backlog",
        shows => "whether hibernation still slows a queue of RabbitMQ, as it did in 2010",
        origin => "'Memory matters - even in Erlang' (2010), on rabbitmq-server as Debian trixie packages it",
        programs => program_packages:versions("rabbitmq"),
        loads => [cons_spacing],
        parameters =>
            [#{name => backlog, min => 100, max => 1_000_000, quick => [5000], full => [100_000],
               doc => "messages of 100 bytes that wait in the queue"},
             #{name => gets, min => 10, max => 10_000, quick => [100], full => [2000], doc => "messages that are fetched"}],
        metrics => [#{name => get_hibernated,
                      doc => "processor time of the server for such a message, just after the queue's process has hibernated"},
                    #{name => get, doc => "the same from a queue at work"},
                    #{name => list_cells, doc => "average cells of a list in the queue's process", unit => cells}],
        contrasts => [#{name => hibernation, over => get_hibernated, under => get,
                        says => "processor time of a get after hibernation to before"}],
        warm_up => 1,
        timeout_ms => 300_000}).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{backlog := Backlog, gets := Gets}) ->
    Place = program_place:new("rabbitmq"),
    #{program := Program, address := Port} = Server = rabbitmq_server:start(Place),
    Load = rabbitmq_load:start(Place, #{port => Port, queues => #{?QUEUE => classic}, consumed => false}),
    ok = rabbitmq_load:publish(Load, ?QUEUE, Backlog),
    #{place => Place, program => Program, load => Load, gets => Gets, queue => rabbitmq_server:queue_process(Server, ?QUEUE)}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

%% Hibernation comes first in a round, because the queue is mostly idle while the other arms have their turns. The fetched
%% messages are put back at the end of the round, since the server then stays busy for a while.
-spec run(atom(), map()) -> {number(), Fetched :: non_neg_integer() | none}.
run(get_hibernated, State) ->
    ok = hibernated(State, erlang:monotonic_time(millisecond) + ?HIBERNATION_MS),
    fetched(State);
run(get, State) -> fetched(State);
run(list_cells, #{program := Program, queue := Queue, load := Load, gets := Gets}) ->
    #{cells := Cells, lists := Lists} = program_node:call(Program, cons_spacing, of_state, [Queue]),
    ok = rabbitmq_load:publish(Load, ?QUEUE, 2 * Gets),
    {Cells / max(1, Lists), none}.

fetched(#{load := Load, gets := Gets} = State) ->
    {Cpu, Fetched} = program_cpu:taken(program(State), fun() -> rabbitmq_load:get(Load, ?QUEUE, Gets) end),
    {Cpu / Gets, Fetched}.

hibernated(#{program := Program, queue := Queue} = State, Until) ->
    case program_node:call(Program, erlang, process_info, [Queue, current_function]) of
        {current_function, {erlang, hibernate, _}} -> ok;
        _ ->
            erlang:monotonic_time(millisecond) < Until orelse error({cannot_run, "the queue's process does not hibernate"}),
            timer:sleep(50),
            hibernated(State, Until)
    end.

-spec verify(atom(), non_neg_integer() | none, map()) -> ok | {wrong, term()}.
verify(list_cells, none, _) -> ok;
verify(_, Fetched, #{gets := Gets}) -> ertslab_experiment:expect(Gets, Fetched).

-spec program(map()) -> pos_integer().
program(#{program := Program}) -> program_node:os_pid(Program).

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
