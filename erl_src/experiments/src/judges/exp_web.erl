%% @doc A web server at work: cowboy, with requests from h2load.
-module(exp_web).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, program/1, teardown/1]).

-define(TIMEOUT_MS, 60_000).

-spec info() -> ertslab_experiment:info().
info() ->
    judge_turns:info(
      #{title => "cowboy, requested by h2load",
        shows => "the effect of a change to the VM on a web server",
        origin => "cowboy as Debian trixie packages it with rabbitmq-server",
        programs => program_packages:versions("rabbitmq"),
        parameters =>
            [#{name => requests, min => 100, max => 1_000_000, quick => [500], full => [2000],
               doc => "requests in a round, over four connections of HTTP/1.1"}],
        metrics => [#{name => cpu, doc => "processor time of the server, for the requests of a round"},
                    #{name => time, doc => "the time of that round"},
                    #{name => p99, doc => "the 99th percentile of the time of a request in that round"}]}).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{requests := Requests}) ->
    Place = program_place:new("web"),
    (web_server:start(Place))#{place => Place, requests => Requests, beside => round_notes:new()}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {integer(), http_load:answers() | none}.
run(cpu, #{place := Place, url := Url, requests := Requests, beside := Beside} = State) ->
    judge_turns:taken(Beside, program(State), fun() -> http_load:round(Place, Url, Requests, ?TIMEOUT_MS) end);
run(Metric, #{beside := Beside}) -> {round_notes:noted(Beside, Metric), none}.

-spec verify(atom(), http_load:answers() | none, map()) -> ok | {wrong, term()}.
verify(cpu, Answers, #{requests := Requests}) -> ertslab_experiment:expect(#{<<"200">> => Requests}, Answers);
verify(_, none, _) -> ok.

-spec program(map()) -> pos_integer().
program(#{program := Program}) -> program_node:os_pid(Program).

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
