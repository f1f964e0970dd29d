%% @doc An experiment for the tests: its values are the machine's time, so that they tell when each was measured.
-module(exp_clock).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

info() -> (exp_toy:info())#{title := "a clock", rounds := arms, warm_up := 1}.

setup(Params) -> exp_toy:setup(Params).

prepare(work, Behaviour) -> Behaviour.

%% The warm-up is good in any case.
run(work, Behaviour) when Behaviour =/= 0 ->
    case put(?MODULE, warm) of
        undefined -> run(work, 0);
        warm -> exp_toy:run(work, Behaviour)
    end;
run(work, 0) ->
    timer:sleep(1),
    {os:system_time(microsecond), 500500}.

verify(Metric, Result, State) -> exp_toy:verify(Metric, Result, State).

teardown(_) -> ok.
