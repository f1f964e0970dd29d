%% @doc The toy experiment, with time for a busy machine: no hang is expected.
-module(exp_patient).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

info() -> (exp_toy:info())#{title := "a patient toy", timeout_ms := 60_000}.

setup(Params) -> exp_toy:setup(Params).
prepare(Metric, State) -> exp_toy:prepare(Metric, State).
run(Metric, State) -> exp_toy:run(Metric, State).
verify(Metric, Result, State) -> exp_toy:verify(Metric, Result, State).
teardown(State) -> exp_toy:teardown(State).
