%% Runs in real VMs, of an experiment that behaves as badly as it is told to.
-module(ertslab_runner_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, good_runs_have_all_samples/1, exception_costs_its_run/1, halt_costs_its_run/1,
         hang_costs_its_run/1, wrong_result_costs_its_run/1, finished_runs_are_not_repeated/1,
         fresh_vm_for_each_run/1, started_vm_is_the_variant/1]).

all() ->
    [good_runs_have_all_samples, exception_costs_its_run, halt_costs_its_run, hang_costs_its_run,
     wrong_result_costs_its_run, finished_runs_are_not_repeated, fresh_vm_for_each_run,
     started_vm_is_the_variant].

good_runs_have_all_samples(Config) ->
    #{samples := Samples, runs := Runs} = ran(Config, ?FUNCTION_NAME, [0]),
    ?assertEqual(2, length(Runs)),
    ?assertEqual([{Run, Iteration} || Run <- [1, 2], Iteration <- [1, 2, 3]],
                 lists:sort([{R, I} || #{~"run" := R, ~"iteration" := I} <- Samples])).

exception_costs_its_run(Config) -> costs_its_run(Config, ?FUNCTION_NAME, 1, ~"toy_raises").

halt_costs_its_run(Config) -> costs_its_run(Config, ?FUNCTION_NAME, 2, ~"the VM ended").

hang_costs_its_run(Config) -> costs_its_run(Config, ?FUNCTION_NAME, 3, ~"no answer in time").

wrong_result_costs_its_run(Config) -> costs_its_run(Config, ?FUNCTION_NAME, 4, ~"wrong_result").

%% The good case beside the bad one is measured all the same.
costs_its_run(Config, Name, Behaviour, Reason) ->
    #{samples := Samples, runs := Runs} = ran(Config, Name, [0, Behaviour]),
    Crashed = [Text || #{~"outcome" := ~"crashed", ~"reason" := Text} <- Runs],
    ?assertEqual(2, length(Crashed)),
    [?assertMatch({_, _}, binary:match(Text, Reason), Text) || Text <- Crashed],
    ?assertEqual(6, length(Samples)).

finished_runs_are_not_repeated(Config) ->
    Dir = dir(Config, ?FUNCTION_NAME),
    Plan = plan([0]),
    Session = ertslab_session:open(Dir, Plan, false),
    ok = ertslab_session:append(Session, [#{type => run, run => 1, outcome => ok}]),
    ok = ertslab_session:close(Session),
    ok = ertslab_runner:run_all(ertslab_session:open(Dir, Plan, false), fun quiet/4),
    #{runs := Runs} = ertslab_session:read(Dir),
    ?assertEqual([1, 2], [N || #{~"run" := N} <- Runs]).

fresh_vm_for_each_run(_) ->
    Pids = [os_pid() || _ <- [1, 2]],
    ?assertEqual(2, length(lists:usort(Pids))),
    [?assertNot(filelib:is_dir("/proc/" ++ Pid)) || Pid <- Pids].

os_pid() ->
    {ok, #{os_pid := OsPid} = Running} = ertslab_vm:start(vm(~"stock")),
    ok = ertslab_vm:stop(Running),
    OsPid.

started_vm_is_the_variant(_) ->
    Other = (vm(~"stock"))#{executable := "/nowhere/beam.stock.smp"},
    ?assertMatch({error, {wrong_emulator, _}}, ertslab_vm:start(Other)).

ran(Config, Name, Behaviours) ->
    Dir = dir(Config, Name),
    Session = ertslab_session:open(Dir, plan(Behaviours), false),
    ok = ertslab_runner:run_all(Session, fun quiet/4),
    ok = ertslab_session:close(Session),
    ertslab_session:read(Dir).

quiet(_, _, _, _) -> ok.

plan(Behaviours) ->
    Arms = [#{label => Name, variant => Name, params => #{}, vm => vm(Name)}
            || Name <- [~"stock", ~"stock_copy"]],
    #{experiment => ~"toy", module => exp_toy, pairs => 1, seed => 1, seed_given => true,
      cases => [#{behaviour => B} || B <- Behaviours], arms => Arms, timeout_ms => 2000,
      metrics => [#{name => work, unit => ns}], command => [], format => 1}.

vm(Name) -> ertslab_vm:find(Name, hd(ertslab_vm:releases())).

dir(Config, Name) -> filename:join(proplists:get_value(priv_dir, Config), Name).
