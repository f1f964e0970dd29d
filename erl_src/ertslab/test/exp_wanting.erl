%% @doc The toy experiment, wanting a module that is nowhere.
-module(exp_wanting).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

info() -> (exp_toy:info())#{loads => [exp_toy, nowhere_nif]}.

setup(Params) -> exp_toy:setup(Params).
prepare(Metric, State) -> exp_toy:prepare(Metric, State).
run(Metric, State) -> exp_toy:run(Metric, State).
verify(Metric, Result, State) -> exp_toy:verify(Metric, Result, State).
teardown(State) -> exp_toy:teardown(State).
