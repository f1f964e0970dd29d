%% What the experiments declare for the commands of ertslab exists.
-module(declared_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, judges_are_experiments_with_these_metrics/1, the_self_test_compares_experiments/1, the_flood_has_its_functions/1]).

all() -> [judges_are_experiments_with_these_metrics, the_self_test_compares_experiments, the_flood_has_its_functions].

judges_are_experiments_with_these_metrics(_) ->
    [Judges] = ertslab_declared:all(judges),
    ?assertNotEqual([], Judges),
    [begin
         #{metrics := Metrics} = ok(Name, Params),
         ?assertEqual({Name, []}, {Name, Deciding -- [Metric || #{name := Metric} <- Metrics]})
     end || {Name, [_ | _] = Deciding, Params} <- Judges].

the_self_test_compares_experiments(_) ->
    [begin
         {Name, Params} = ertslab_declared:one(Key),
         ok(Name, Params)
     end || Key <- [selftest_machine, selftest_record]].

%% The info of an experiment that has these parameters.
ok(Name, Params) ->
    Info = ertslab_parameters:info(ertslab_parameters:module(Name)),
    ?assertMatch([_ | _], ertslab_parameters:cases(Info, full, Params)),
    Info.

the_flood_has_its_functions(_) ->
    Flood = ertslab_declared:one(flood),
    {module, Flood} = code:ensure_loaded(Flood),
    [?assert(erlang:function_exported(Flood, Function, Arity), {Function, Arity})
     || {Function, Arity} <- ertslab_flood:behaviour_info(callbacks)].
