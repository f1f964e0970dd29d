%% @doc A web server at work: cowboy, asked by h2load.
-module(exp_web).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-define(TIMEOUT_MS, 60_000).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "cowboy, asked by h2load",
      shows => "what a change to the VM does to a web server",
      origin => "cowboy as Debian trixie packages it with rabbitmq-server",
      programs => program_packages:versions("rabbitmq"),
      vms => [~"stock", ~"stock_copy", ~"tuned"],
      parameters =>
          [#{name => requests, min => 100, max => 1_000_000, quick => [500], full => [2000],
             doc => "requests in a round, over four connections of HTTP/1.1"}],
      metrics => [#{name => cpu, doc => "processor time of the server, for the requests of a round"},
                  #{name => time, doc => "the time of that round"},
                  #{name => p99, doc => "the 99th percentile of the time of a request in that round"}],
      contrasts => [],
      estimator => floor,
      rounds => metrics,
      warm_up => 3,
      iterations => 1,
      run_ms => 5000,
      visit_us => 0,
      timeout_ms => 120_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{requests := Requests}) ->
    Place = program_place:new("web"),
    (web_server:start(Place))#{place => Place, requests => Requests, beside => ets:new(?MODULE, [public])}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

%% What stands beside the processor time is kept for the visits that come next.
-spec run(atom(), map()) -> {integer(), http_load:answers() | none}.
run(cpu, #{place := Place, program := Program, url := Url, requests := Requests, beside := Table}) ->
    {Cpu, {Answers, Beside}} = program_cpu:taken(program_node:os_pid(Program),
                                                 fun() -> http_load:round(Place, Url, Requests, ?TIMEOUT_MS) end),
    true = ets:insert(Table, maps:to_list(Beside)),
    {Cpu, Answers};
run(Beside, #{beside := Table}) -> {ets:lookup_element(Table, Beside, 2), none}.

-spec verify(atom(), http_load:answers() | none, map()) -> ok | {wrong, term()}.
verify(cpu, Answers, #{requests := Requests}) -> ertslab_experiment:expect(#{<<"200">> => Requests}, Answers);
verify(_, none, _) -> ok.

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
