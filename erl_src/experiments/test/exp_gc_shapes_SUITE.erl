%% The shapes are what they say, and the experiment runs on each.
-module(exp_gc_shapes_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_shape_is_measured/1, shapes_are_about_as_large/1, changed_term_is_noticed/1,
         each_iteration_hibernates/1]).

all() ->
    [every_shape_is_measured, shapes_are_about_as_large, changed_term_is_noticed, each_iteration_hibernates].

every_shape_is_measured(_) ->
    #{metrics := Metrics} = exp_gc_shapes:info(),
    [begin
         #{samples := Samples} = ertslab_worker:run(exp_gc_shapes, #{shape => Shape, size => 3000}),
         ?assertEqual([Name || #{name := Name} <- Metrics], [Name || {Name, [_ | _]} <- Samples])
     end || Shape <- exp_gc_shapes:shapes()].

%% Half or twice as many words are near enough to compare collections.
shapes_are_about_as_large(_) ->
    [begin
         Words = erts_debug:size(exp_gc_shapes:shape(Shape, 10_000)),
         ?assert(Words > 4000 andalso Words < 22_000, {Shape, Words})
     end || Shape <- exp_gc_shapes:shapes()].

changed_term_is_noticed(_) ->
    ?assertMatch({wrong, _}, exp_gc_shapes:verify(traverse, 7, #{values => {1, 8}})).

%% The owner is awake before it is asked to hibernate, so that what is seen
%% afterwards is that hibernation and not the one before.
each_iteration_hibernates(_) ->
    #{owner := Owner} = State = exp_gc_shapes:setup(#{shape => tuples, size => 10_000}),
    [begin
         Owner ! {self(), awake},
         receive {Owner, ok} -> ?assertNot(cons_spacing_report:hibernates(Owner)) end,
         ?assertMatch({_, true}, exp_gc_shapes:run(hibernate, State)),
         ?assert(cons_spacing_report:hibernates(Owner))
     end || _ <- lists:seq(1, 10)],
    ok = exp_gc_shapes:teardown(State).
