%% Each way of copying gives the term that it was given.
-module(exp_term_copies_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_shape_comes_back/1, every_metric_is_measured/1, no_collection_is_timed/1, wrong_copy_is_noticed/1]).

all() -> [every_shape_comes_back, every_metric_is_measured, no_collection_is_timed, wrong_copy_is_noticed].

every_shape_comes_back(_) ->
    [begin
         State = exp_term_copies:setup(#{shape => Shape, size => Size}),
         {Time, Hash} = exp_term_copies:run(Metric, State),
         ?assert(Time > 0),
         ?assertEqual({Shape, Size, Metric, erlang:phash2(exp_gc_shapes:shape(Shape, Size))}, {Shape, Size, Metric, Hash})
     end || Shape <- exp_gc_shapes:shapes(), Size <- [100, 3000], Metric <- metrics()].

every_metric_is_measured(_) ->
    #{samples := Samples} = ertslab_worker:run(exp_term_copies, #{shape => trees, size => 2000}),
    ?assertEqual(metrics(), [Metric || {Metric, [_ | _]} <- Samples]).

%% The copies of the shape that shares most fit on the heap as well.
no_collection_is_timed(_) ->
    [begin
         {Pid, Monitor} =
             spawn_opt(fun() ->
                               _ = exp_term_copies:copier(Metric, Shape, 2000),
                               {garbage_collection, Info} = process_info(self(), garbage_collection),
                               exit({collections, proplists:get_value(minor_gcs, Info)})
                       end, [monitor, {min_heap_size, exp_term_copies:heap_words(2000)}]),
         receive {'DOWN', Monitor, process, Pid, Reason} -> ?assertEqual({Shape, Metric, {collections, 0}}, {Shape, Metric, Reason}) end
     end || Shape <- exp_gc_shapes:shapes(), Metric <- metrics()].

wrong_copy_is_noticed(_) ->
    State = exp_term_copies:setup(#{shape => tuples, size => 100}),
    ?assertEqual(ok, exp_term_copies:verify(send, erlang:phash2(exp_gc_shapes:shape(tuples, 100)), State)),
    ?assertMatch({wrong, _}, exp_term_copies:verify(send, erlang:phash2(exp_gc_shapes:shape(tuples, 106)), State)).

metrics() ->
    #{metrics := Metrics} = exp_term_copies:info(),
    [Name || #{name := Name} <- Metrics].
