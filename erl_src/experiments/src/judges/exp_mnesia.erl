%% @doc Mnesia at work: transactions of a bank.
-module(exp_mnesia).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, program/1, teardown/1]).

-define(TIMEOUT_MS, 60_000).

-spec info() -> ertslab_experiment:info().
info() ->
    judge_turns:info(
      #{title => "mnesia, transactions",
        shows => "the effect of a change to the VM on a database: locks, messages between processes, ETS and a log on disc",
        origin => "OTP's own mnesia",
        parameters =>
            [#{name => transactions, min => 100, max => 1_000_000, quick => [500], full => [5000],
               doc => "transactions in a round, by eight clients in the same VM"}],
        metrics => [#{name => cpu, doc => "processor time of the VM, for the transactions of a round"},
                    #{name => time, doc => "the time of that round"},
                    #{name => p99, doc => "the 99th percentile of the time of a transaction in that round"},
                    #{name => memory, doc => "memory of the VM afterwards, with all its processes collected", unit => bytes}]}).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{transactions := Transactions}) ->
    ok = program_packages:whole_otp(),
    Place = program_place:new("mnesia"),
    #{place => Place, bank => mnesia_bank:start(Place), transactions => Transactions, beside => round_notes:new()}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {integer(), {program_messages:counts(), mnesia_bank:books()} | none}.
run(cpu, #{bank := Bank, transactions := Transactions, beside := Beside} = State) ->
    {Cpu, Counts} = judge_turns:taken(Beside, program(State), fun() -> mnesia_bank:round(Bank, Transactions, ?TIMEOUT_MS) end),
    {Cpu, {Counts, mnesia_bank:books(Bank)}};
run(memory, #{bank := Bank}) -> {program_memory:bytes(Bank), none};
run(Metric, #{beside := Beside}) -> {round_notes:noted(Beside, Metric), none}.

-spec verify(atom(), {program_messages:counts(), mnesia_bank:books()} | none, map()) -> ok | {wrong, term()}.
verify(cpu, Result, #{transactions := Transactions}) ->
    ertslab_experiment:expect({mnesia_bank:whole(Transactions), mnesia_bank:balanced(Transactions)}, Result);
verify(_, none, _) -> ok.

-spec program(map()) -> pos_integer().
program(#{bank := Bank}) -> program_node:os_pid(Bank).

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
