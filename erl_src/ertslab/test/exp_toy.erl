%% @doc An experiment for the tests: quick, and as bad as its parameter says.
-module(exp_toy).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

info() ->
    #{title => "a toy", shows => "nothing", origin => "the tests",
      vms => [~"stock", ~"stock_copy"],
      parameters => [#{name => behaviour, min => 0, max => 6, quick => [0], full => [0],
                       doc => "0 good, 1 raises, 2 halts the VM, 3 hangs, 4 answers wrongly,"
                              " 5 the VM segfaults, 6 the VM stops answering"}],
      metrics => [#{name => work, doc => "some work"}],
      contrasts => [],
      estimator => typical, rounds => none, run_ms => 0,
      warm_up => 1, iterations => 3, timeout_ms => 2000}.

setup(#{behaviour := Behaviour}) -> Behaviour.

prepare(work, Behaviour) -> Behaviour.

run(work, 0) -> ertslab_experiment:timed(fun() -> lists:sum(lists:seq(1, 1000)) end);
run(work, 1) -> error(toy_raises);
run(work, 2) -> halt(9);
run(work, 3) -> timer:sleep(infinity);
run(work, 4) -> {1, wrong};
run(work, 5) -> signalled("SEGV");
run(work, 6) -> signalled("STOP").

signalled(Signal) ->
    _ = os:cmd("kill -" ++ Signal ++ " " ++ os:getpid()),
    timer:sleep(infinity).

verify(work, 500500, _) -> ok;
verify(work, Other, _) -> {wrong, Other}.

teardown(_) -> ok.
