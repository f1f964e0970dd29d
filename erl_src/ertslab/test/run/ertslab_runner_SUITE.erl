%% Runs in real VMs, of an experiment that behaves as badly as it is told to.
-module(ertslab_runner_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, good_runs_have_all_samples/1, exception_costs_its_run/1, halt_costs_its_run/1,
         hang_costs_its_run/1, wrong_result_costs_its_run/1, segfault_costs_its_run/1,
         stopped_vm_costs_its_run/1, finished_runs_are_not_repeated/1, fresh_vm_for_each_run/1,
         started_vm_is_the_variant/1, vm_that_does_not_start_is_an_error/1, process_that_is_killed_is_told_of/1,
         function_that_exits_is_told_of/1, missing_function_is_told_of/1,
         each_pair_runs_its_build/1,
         run_of_all_cases_has_samples_of_each/1, a_bad_case_costs_the_run_of_all/1, run_notes_the_speed/1,
         arms_take_turns/1, a_bad_arm_leaves_the_turns_to_the_others/1,
         what_a_vm_prints_is_not_on_standard_output/1]).

all() ->
    [good_runs_have_all_samples, exception_costs_its_run, halt_costs_its_run, hang_costs_its_run,
     wrong_result_costs_its_run, segfault_costs_its_run, stopped_vm_costs_its_run,
     finished_runs_are_not_repeated, fresh_vm_for_each_run, started_vm_is_the_variant,
     vm_that_does_not_start_is_an_error, process_that_is_killed_is_told_of, function_that_exits_is_told_of, missing_function_is_told_of,
     each_pair_runs_its_build, run_of_all_cases_has_samples_of_each,
     a_bad_case_costs_the_run_of_all, run_notes_the_speed,
     arms_take_turns, a_bad_arm_leaves_the_turns_to_the_others,
     what_a_vm_prints_is_not_on_standard_output].

good_runs_have_all_samples(Config) ->
    #{samples := Samples, runs := Runs} = ran(Config, ?FUNCTION_NAME, [0]),
    ?assertEqual(2, length(Runs)),
    ?assertEqual([{1, 3}, {2, 3}], lists:sort([{R, length(Values)} || #{~"run" := R, ~"values" := Values} <- Samples])).

exception_costs_its_run(Config) -> costs_its_run(Config, ?FUNCTION_NAME, 1, ~"toy_raises").

halt_costs_its_run(Config) -> costs_its_run(Config, ?FUNCTION_NAME, 2, ~"the VM ended").

hang_costs_its_run(Config) -> costs_its_run(Config, ?FUNCTION_NAME, 3, ~"no answer in time").

wrong_result_costs_its_run(Config) -> costs_its_run(Config, ?FUNCTION_NAME, 4, ~"wrong_result").

segfault_costs_its_run(Config) -> costs_its_run(Config, ?FUNCTION_NAME, 5, ~"the VM ended").

%% Not even its pipe is read any more, and still it is gone afterwards.
stopped_vm_costs_its_run(Config) ->
    costs_its_run(Config, ?FUNCTION_NAME, 6, ~"no answer in time"),
    ?assertEqual([], stopped_processes()).

%% Among those that this VM has started, as other tests stop others.
stopped_processes() ->
    Status = #{Pid => {Parent, Stopped} || File <- filelib:wildcard("/proc/[0-9]*/stat"), {ok, Text} <- [file:read_file(File)],
                                           {match, [Pid, State, Parent]} <- [re:run(Text, "^([0-9]+) .*\\) (.) ([0-9]+) ",
                                                                                    [{capture, all_but_first, list}])],
                                           Stopped <- [State =:= "T"]},
    [Pid || Pid := {_, true} <- Status, is_below(Pid, os:getpid(), Status)].

is_below(Pid, Ancestor, Status) ->
    case Status of
        #{Pid := {Ancestor, _}} -> true;
        #{Pid := {Parent, _}} -> is_below(Parent, Ancestor, Status);
        #{} -> false
    end.

%% The good case beside the bad one is measured all the same.
costs_its_run(Config, Name, Behaviour, Reason) ->
    #{samples := Samples, runs := Runs} = ran(Config, Name, [0, Behaviour]),
    Crashed = [Text || #{~"outcome" := ~"crashed", ~"reason" := Text} <- Runs],
    ?assertEqual(2, length(Crashed)),
    [?assertMatch({_, _}, binary:match(Text, Reason), Text) || Text <- Crashed],
    ?assertEqual([3, 3], [length(Values) || #{~"values" := Values} <- Samples]).

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

%% It ends before it can be asked what it is.
vm_that_does_not_start_is_an_error(Config) ->
    Root = dir(Config, ?FUNCTION_NAME),
    Erl = filename:join([Root, "bin", "erl"]),
    ok = filelib:ensure_dir(Erl),
    [begin
         ok = file:write_file(Erl, ["#!/bin/sh\n", Script]),
         ok = file:change_mode(Erl, 8#755),
         {error, Reason} = ertslab_vm:start((vm(~"stock"))#{root := Root}),
         ?assertEqual(~"the VM ended", ertslab_crash:says(Reason))
     end || Script <- ["exit 3\n", "kill -SEGV $$\n", "sleep 0.3; kill -SEGV $$\n"]].

%% `peer' has no clause for it.
process_that_is_killed_is_told_of(_) ->
    {ok, Running} = ertslab_vm:start(vm(~"stock")),
    {ok, Tokens, _} = erl_scan:string("exit(self(), kill)."),
    {ok, Exprs} = erl_parse:parse_exprs(Tokens),
    {error, Reason} = ertslab_vm:call(Running, erl_eval, exprs, [Exprs, []], 60_000),
    ok = ertslab_vm:stop(Running),
    ?assertEqual(~"its process was ended (killed)", ertslab_crash:says(Reason)).

%% The reasons are those with which a lost VM is told of, too.
function_that_exits_is_told_of(_) ->
    {ok, Running} = ertslab_vm:start(vm(~"stock")),
    Said = fun(Function, Args) ->
                   {error, Reason} = ertslab_vm:call(Running, erlang, Function, Args, 60_000),
                   ertslab_crash:says(Reason)
           end,
    [?assertEqual(Text, Said(exit, [Reason]))
     || {Text, Reason} <- [{~"it exited (normal)", normal}, {~"it exited (noproc)", noproc},
                           {~"it exited ({exit_status,3})", {exit_status, 3}},
                           {~"it exited (timeout)", timeout}, {~"it exited (oops)", oops},
                           {~"it exited ({noproc,{gen_server,call,[nobody,ping]}})", {noproc, {gen_server, call, [nobody, ping]}}}]],
    ?assertEqual(~"the VM ended", Said(halt, [0])),
    ?assertEqual(~"the VM ended", Said(self, [])),
    ok = ertslab_vm:stop(Running).

missing_function_is_told_of(_) ->
    {ok, Running} = ertslab_vm:start(vm(~"stock")),
    {error, Reason} = ertslab_vm:call(Running, lists, map, [fun lists:no_such_function/1, [1]], 60_000),
    ok = ertslab_vm:stop(Running),
    ?assertEqual(~"there is no function lists:no_such_function/1", ertslab_crash:says(Reason)).

%% A variant of its own stands for a second build: another file to start.
each_pair_runs_its_build(Config) ->
    Files = [maps:with([build_id, sha256, executable], vm(Name)) || Name <- [~"stock", ~"prefetch"]],
    #{arms := [Arm0 | _]} = Plan = plan([0]),
    Arm = Arm0#{vm := (vm(~"stock"))#{builds => Files}},
    #{runs := Runs} = ran_plan(dir(Config, ?FUNCTION_NAME), Plan#{arms := [Arm], pairs := 3}),
    [First, Second] = [Id || #{build_id := Id} <- Files],
    ?assertEqual([{1, First}, {2, Second}, {3, First}],
                 [{Pair, Id} || #{~"pair" := Pair, ~"build_id" := Id, ~"outcome" := ~"ok"} <- Runs]).

%% Of two cases and metrics in each of two arms; their values are numbered over all of them.
run_of_all_cases_has_samples_of_each(Config) ->
    #{samples := Samples, runs := Runs} = ran_plan(dir(Config, ?FUNCTION_NAME), together(exp_recorder, [#{id => 1}, #{id => 2}])),
    ?assertMatch([#{~"run" := 1, ~"case" := ~"all", ~"outcome" := ~"ok", ~"params" := #{}},
                  #{~"run" := 2, ~"case" := ~"all", ~"outcome" := ~"ok"}], Runs),
    ?assertEqual([0, 1], lists:sort([Arm || #{~"arm" := Arm} <- Runs])),
    ?assertEqual([{Run, Case, Metric, [Number]}
                  || Run <- [1, 2],
                     {Number, {Case, Metric}} <- lists:enumerate([{0, ~"first"}, {0, ~"second"}, {1, ~"first"}, {1, ~"second"}])],
                 [{Run, Case, Metric, Values}
                  || #{~"run" := Run, ~"case" := Case, ~"metric" := Metric, ~"values" := Values} <- Samples]).

a_bad_case_costs_the_run_of_all(Config) ->
    Plan = together(exp_toy, [#{behaviour => Behaviour} || Behaviour <- [0, 2]]),
    ?assertMatch(#{samples := [], runs := [#{~"outcome" := ~"crashed", ~"reason" := ~"the VM ended"}, #{~"outcome" := ~"crashed"}]},
                 ran_plan(dir(Config, ?FUNCTION_NAME), Plan)).

%% When, in milliseconds since the epoch, and how many nanoseconds the same work took.
run_notes_the_speed(Config) ->
    #{runs := Runs} = ran(Config, ?FUNCTION_NAME, [0]),
    [?assertMatch([[At, Ns] | _] when At >= Started andalso At =< Started + Took andalso is_integer(Ns) andalso Ns > 0, Speed)
     || #{~"speed" := Speed, ~"started_ms" := Started, ~"duration_ms" := Took} <- Runs],
    %% Beside how long it measured, without what the VM takes.
    [?assert(Measured >= 0 andalso Measured =< Took) || #{~"measured_ms" := Measured, ~"duration_ms" := Took} <- Runs],
    ?assertMatch([#{~"speed" := _, ~"measured_ms" := _}, #{~"speed" := _, ~"measured_ms" := _}], Runs).

%% The rounds of each are among those of the other, and the VMs are fresh for each pair.
arms_take_turns(Config) ->
    #{samples := Samples, runs := Runs} = ran_plan(dir(Config, ?FUNCTION_NAME), turns([#{}, #{}])),
    ?assertMatch([{1, ~"ok"}, {2, ~"ok"}, {3, ~"ok"}, {4, ~"ok"}], [{N, Outcome} || #{~"run" := N, ~"outcome" := Outcome} <- Runs]),
    %% What the others took is not known.
    ?assertEqual([null], lists:usort([Others || #{~"host" := #{~"others_ms" := Others}} <- Runs])),
    [begin
         [{FirstA, LastA}, {FirstB, LastB}] =
             [{hd(Values), lists:last(Values)} || #{~"pair" := P, ~"values" := Values} <- Samples, P =:= Pair],
         ?assert(FirstA < LastB andalso FirstB < LastA),
         [?assert(length(Values) >= 3) || #{~"values" := Values} <- Samples]
     end || Pair <- [1, 2]],
    %% A clock that one VM set does not go on in the next.
    [{LastOfFirst, FirstOfSecond}] = [{lists:max(lists:append([V || #{~"pair" := 1, ~"values" := V} <- Samples])),
                                       lists:min(lists:append([V || #{~"pair" := 2, ~"values" := V} <- Samples]))}],
    ?assert(LastOfFirst < FirstOfSecond).

a_bad_arm_leaves_the_turns_to_the_others(Config) ->
    [begin
         #{samples := Samples, runs := Runs} =
             ran_plan(dir(Config, lists:concat([?FUNCTION_NAME, Behaviour])), (turns([#{}, #{behaviour => Behaviour}]))#{pairs := 1}),
         ?assertMatch([#{~"arm" := 0}], Samples),
         [Text] = [Text || #{~"outcome" := ~"crashed", ~"reason" := Text} <- Runs],
         ?assertMatch({_, _}, binary:match(Text, Reason), Text)
     end || {Behaviour, Reason} <- [{1, ~"toy_raises"}, {2, ~"the VM ended"}, {3, ~"no answer in time"}, {4, ~"wrong_result"}]],
    ?assertEqual([], stopped_processes()).

turns(Params) ->
    #{arms := Arms} = Plan = plan([0]),
    Plan#{module := exp_clock, rounds := arms, pairs := 2, run_ms := 20, timeout_ms := 3000,
          arms := [Arm#{params := Own} || {Arm, Own} <- lists:zip(Arms, Params)]}.

together(Module, Cases) ->
    #{metrics := Metrics} = Module:info(),
    (plan([]))#{module := Module, rounds := cases, cases := Cases, metrics := [#{name => Name, unit => ns} || #{name := Name} <- Metrics]}.

ran(Config, Name, Behaviours) -> ran_plan(dir(Config, Name), plan(Behaviours)).

ran_plan(Dir, Plan) ->
    Session = ertslab_session:open(Dir, Plan, false),
    ok = ertslab_runner:run_all(Session, fun quiet/4),
    ok = ertslab_session:close(Session),
    ertslab_session:read(Dir).

quiet(_, _, _, _) -> ok.

plan(Behaviours) ->
    Arms = [#{label => Name, variant => Name, params => #{}, vm => vm(Name)}
            || Name <- [~"stock", ~"stock_copy"]],
    #{experiment => ~"toy", module => exp_toy, pairs => 1, seed => 1, seed_given => true,
      cases => [#{behaviour => B} || B <- Behaviours], arms => Arms, timeout_ms => 2000,
      metrics => [#{name => work, unit => ns}], command => [], format => 2,
      estimator => typical, rounds => none, run_ms => 0}.

vm(Name) -> ertslab_inventory:find(Name, hd(ertslab_inventory:releases())).

dir(Config, Name) -> filename:join(proplists:get_value(priv_dir, Config), Name).

%% There the answer of a call is, which machines read.
what_a_vm_prints_is_not_on_standard_output(_) ->
    Own = group_leader(),
    Leader = spawn_link(fun() -> answers([]) end),
    group_leader(Leader, self()),
    try
        {ok, Running} = ertslab_vm:start(vm(~"stock")),
        ?assertEqual(Leader, group_leader()),
        ?assertEqual({ok, ok}, ertslab_vm:call(Running, io, put_chars, ["printed by a VM\n"], 5000)),
        %% Elixir starts only where this is answered.
        ?assertEqual({ok, ok}, ertslab_vm:call(Running, io, setopts, [[{encoding, unicode}]], 5000)),
        ertslab_vm:stop(Running),
        Leader ! {asked, self()},
        ?assertEqual([{setopts, [{encoding, unicode}]}], receive {asked, Requests} -> Requests end)
    after group_leader(Own, self())
    end.

answers(Requests) ->
    receive
        {io_request, Client, ReplyAs, Request} ->
            Client ! {io_reply, ReplyAs, ok},
            answers([Request | Requests]);
        {asked, Pid} -> Pid ! {asked, Requests}
    end.
