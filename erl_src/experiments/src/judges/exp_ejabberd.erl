%% @doc ejabberd at work: sessions that wait, and a few that talk.
-module(exp_ejabberd).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, program/1, teardown/1]).

-define(TIMEOUT_MS, 60_000).

-spec info() -> ertslab_experiment:info().
info() ->
    judge_turns:info(
      #{title => "ejabberd, messages between sessions",
        shows => "the effect of a change to the VM on a server with a process or two for each user",
        origin => "ejabberd as Debian trixie packages it",
        programs => program_packages:versions("ejabberd"),
        parameters =>
            [#{name => sessions, min => 1, max => 20_000, quick => [50], full => [300],
               doc => "idle sessions, in addition to ten that exchange messages"},
             #{name => messages, min => 100, max => 100_000, quick => [500], full => [500],
               doc => "messages in a round"}],
        metrics => [#{name => cpu, doc => "processor time of the server, for the messages of a round"},
                    #{name => time, doc => "the time of that round"},
                    #{name => p99, doc => "the 99th percentile of the time from session to session in that round"},
                    #{name => session_memory, doc => "memory of the server for each idle session, with all its processes"
                          " collected", unit => bytes}]}).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{sessions := Sessions, messages := Messages}) ->
    Place = program_place:new("ejabberd"),
    #{program := Program, address := Port} = Server = ejabberd_server:start(Place),
    Load = xmpp_load:start(Place, Port),
    Before = program_memory:settled_bytes(Program),
    ok = xmpp_load:wait(Load, Port, Sessions),
    #{place => Place, server => Server, load => Load, sessions => Sessions, messages => Messages, before => Before,
      beside => round_notes:new()}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {number(), map() | none}.
run(cpu, #{server := Server, load := Load, messages := Messages, beside := Beside} = State) ->
    {Cpu, Counts} = judge_turns:taken(Beside, program(State), fun() -> xmpp_load:round(Load, Messages, ?TIMEOUT_MS) end),
    {Cpu, Counts#{errors => ejabberd_server:errors(Server)}};
run(session_memory, #{server := #{program := Program}, sessions := Sessions, before := Before}) ->
    {(program_memory:bytes(Program) - Before) / Sessions, none};
run(Metric, #{beside := Beside}) -> {round_notes:noted(Beside, Metric), none}.

-spec verify(atom(), map() | none, map()) -> ok | {wrong, term()}.
verify(cpu, Counts, #{messages := Messages}) ->
    ertslab_experiment:expect(#{messages => Messages, twice => 0, errors => []}, Counts);
verify(_, none, _) -> ok.

-spec program(map()) -> pos_integer().
program(#{server := #{program := Program}}) -> program_node:os_pid(Program).

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
