%% What an experiment may say of itself, and what is wrong otherwise.
-module(ertslab_experiment_info_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, all_experiments_are_good/1, what_is_missing_is_named/1, what_is_bad_is_named/1, a_file_is_refused_before_it_is_measured/1,
         a_file_that_does_not_load_is_refused/1]).

all() -> [all_experiments_are_good, what_is_missing_is_named, what_is_bad_is_named, a_file_is_refused_before_it_is_measured,
          a_file_that_does_not_load_is_refused].

all_experiments_are_good(_) ->
    Infos = [{Name, ertslab_parameters:info(Module)}
             || Name <- ertslab_parameters:names(), Module <- [ertslab_parameters:module(Name)],
                {module, Module} =:= code:ensure_loaded(Module), erlang:function_exported(Module, info, 0)],
    ?assert(length(Infos) > 20),
    [?assertEqual({Name, none}, {Name, ertslab_experiment_info:problem(Info)}) || {Name, Info} <- Infos].

what_is_missing_is_named(_) ->
    Good = exp_toy:info(),
    [?assertEqual("has no " ++ atom_to_list(Key), said(maps:remove(Key, Good)))
     || Key <- [title, shows, origin, vms, parameters, metrics, contrasts, estimator, rounds, warm_up, iterations, timeout_ms]],
    ?assertEqual("gives no map", said([])).

what_is_bad_is_named(_) ->
    Good = exp_toy:info(),
    [Parameter] = maps:get(parameters, Good),
    [?assertMatch({Key, Value, "gives a bad " ++ _}, {Key, Value, said(Good#{Key => Value})})
     || {Key, Values} <- [{title, [toy, 5, [toy], [-1]]}, {vms, [["stock"], stock]}, {estimator, [mean, "floor"]}, {rounds, [turns]},
                          {metrics, [[], [work], [#{name => "work", doc => ""}], [#{name => work}], #{},
                                     [#{name => work, doc => "", unit => "ns"}]]},
                          {contrasts, [[#{name => c, over => work, under => other, says => ""}], none]},
                          {parameters, [[Parameter#{quick := []}], [Parameter#{full := [7]}], [maps:remove(max, Parameter)], [#{}], #{}]},
                          {iterations, [0, 1.5]}, {timeout_ms, [infinity]}, {warm_up, [-1]}, {run_ms, [none]}, {plot_over, [work]}],
        Value <- Values].

said(Info) -> lists:flatten(ertslab_experiment_info:problem(Info)).

%% Until then a wrong estimator was seen only after all runs.
a_file_is_refused_before_it_is_measured(Config) ->
    Estimators = lists:join(", ", [atom_to_list(Name) || Name <- ertslab_estimate:names()]),
    [begin
         File = filename:join(proplists:get_value(priv_dir, Config), "exp_" ++ Name ++ ".erl"),
         ok = file:write_file(File, ["-module(exp_", Name, ").\n-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).\n"
                                     "setup(_) -> ok.\nprepare(_, S) -> S.\nrun(_, _) -> {1, 1}.\n"
                                     "verify(_, _, _) -> ok.\nteardown(_) -> ok.\n"
                                     "info() -> ", Info, ".\n"]),
         {failure, {ertslab_experiment_source, _} = Error} = (catch ertslab_experiment_source:named(#{experiment => File})),
         ok = forget("exp_" ++ Name ++ ".beam"),
         ?assertEqual(unicode:characters_to_binary([File, ": info/0 ", Says, "."]), ertslab_error:sentence(Error))
     end || {Name, Info, Says} <- [{"raises", "error(oops)", "fails: oops"}, {"throws", "throw(oops)", "fails: oops"},
                                   {"exits", "exit(normal)", "fails: it exited (normal)"}, {"empty", "#{}", "has no title"},
                                   {"mean", "(exp_toy:info())#{estimator => mean}", ["gives a bad estimator: choose from ", Estimators]}]].

%% It compiles.
a_file_that_does_not_load_is_refused(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "exp_unloadable.erl"),
    ok = file:write_file(File, "-module(exp_unloadable).\n-export([info/0]).\n-on_load(l/0).\nl() -> no.\ninfo() -> #{}.\n"),
    {failure, Error} = try ertslab_experiment_source:named(#{experiment => File}) catch throw:Thrown -> Thrown end,
    ok = forget("exp_unloadable.beam"),
    ?assertEqual({ertslab_experiment_source, {does_not_load, File, on_load_failure}}, Error).

%% Other suites go through all experiments on the code path.
forget(Beam) ->
    [ok, ok] = [file:delete(filename:join([ertslab_experiment_source:folder()] ++ Below ++ [Beam])) || Below <- [[], ["oldest"]]],
    ok.
