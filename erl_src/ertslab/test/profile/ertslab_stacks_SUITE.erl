%% What becomes of the text of perf.
-module(ertslab_stacks_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, folds_from_the_root/1, merges_schedulers/1, keeps_other_threads_apart/1,
         keeps_blanks_in_names/1, names_what_has_no_symbol/1, keeps_inlined_frames/1,
         takes_a_sample_without_frames/1, takes_no_samples/1, lets_no_semicolon_into_a_frame/1,
         drops_shared_code_of_the_jit_between_functions/1, counts_recursion_once/1,
         sorts_by_self/1, difference_has_both_counts/1, reads_counters/1]).

all() ->
    [folds_from_the_root, merges_schedulers, keeps_other_threads_apart, keeps_blanks_in_names,
     names_what_has_no_symbol, keeps_inlined_frames, takes_a_sample_without_frames,
     takes_no_samples, lets_no_semicolon_into_a_frame,
     drops_shared_code_of_the_jit_between_functions, counts_recursion_once, sorts_by_self,
     difference_has_both_counts, reads_counters].

folds_from_the_root(_) ->
    ?assertEqual(~"beam;outer;inner 1\n", folded(~"beam \n\t  11 inner\n\t  22 outer\n\n")).

merges_schedulers(_) ->
    ?assertEqual(~"erts_sched;f 2\n", folded(~"erts_sched_1 \n\t1 f\n\nerts_sched_12 \n\t1 f\n\n")).

keeps_other_threads_apart(_) ->
    ?assertEqual(~"async_1;f 1\nerts_dcpus;f 1\n",
                 folded(~"async_1 \n\t1 f\n\nerts_dcpus_2 \n\t1 f\n\n")).

keeps_blanks_in_names(_) ->
    ?assertEqual(~"my thread;f(int, char) 1\n", folded(~"my thread \n\t  7f f(int, char)\n\n")).

names_what_has_no_symbol(_) ->
    ?assertEqual(~"beam;[unknown];[unknown] 1\n", folded(~"beam \n\t  1\n\t  2 [unknown]\n\n")).

keeps_inlined_frames(_) ->
    ?assertEqual(~"beam;f;g (inlined) 1\n", folded(~"beam \n\t1 g (inlined)\n\t1 f\n\n")).

takes_a_sample_without_frames(_) ->
    Stacks = ertslab_stacks:parse(~"beam \n\nbeam \n\t1 f\n\n"),
    ?assertEqual(#{[~"beam"] => 1, [~"beam", ~"f"] => 1}, Stacks),
    ?assertEqual([~"f"], [F || #{function := F} <- ertslab_stacks:hottest(Stacks)]),
    ?assertEqual(2, ertslab_stacks:total(Stacks)).

takes_no_samples(_) ->
    ?assertEqual(#{}, ertslab_stacks:parse(~"")),
    ?assertEqual(#{}, ertslab_stacks:parse(~"\n")).

lets_no_semicolon_into_a_frame(_) ->
    ?assertEqual(~"beam;$m:'a,b'/0 1\n", folded(~"beam \n\t1 $m:'a;b'/0\n\n")).

drops_shared_code_of_the_jit_between_functions(_) ->
    ?assertEqual(~"beam;$m:f/1;length 1\n",
                 folded(~"beam \n\t1 length\n\t2 $global::i_length_shared\n\t3 $m:f/1\n\n")),
    ?assertEqual(~"beam;$m:f/1;$global::i_length_shared 1\n",
                 folded(~"beam \n\t2 $global::i_length_shared\n\t3 $m:f/1\n\n")).

counts_recursion_once(_) ->
    ?assertEqual([#{function => ~"f", self => 3, total => 3}],
                 ertslab_stacks:hottest(#{[~"t", ~"f", ~"f", ~"f"] => 3})).

sorts_by_self(_) ->
    ?assertEqual([#{function => ~"b", self => 4, total => 4},
                  #{function => ~"c", self => 2, total => 2},
                  #{function => ~"a", self => 1, total => 7}],
                 ertslab_stacks:hottest(#{[~"t", ~"a"] => 1, [~"t", ~"a", ~"b"] => 4,
                                          [~"u", ~"a", ~"c"] => 2})).

difference_has_both_counts(_) ->
    ?assertEqual(~"t;gone 3 0\nt;new 0 2\nt;same 5 4\n",
                 iolist_to_binary(ertslab_stacks:difference(
                                    #{[~"t", ~"same"] => 5, [~"t", ~"gone"] => 3},
                                    #{[~"t", ~"same"] => 4, [~"t", ~"new"] => 2}))).

reads_counters(_) ->
    ?assertEqual([{~"cycles", null}, {~"instructions", null}, {~"task-clock", 6.25},
                  {~"page-faults", 42}],
                 ertslab_sampler:parse_counters(
                   ~"""
                   # started on Sat Nov 21 10:00:00 2026

                   <not supported>;;cycles;0;100.00;;
                   <not counted>;;instructions:u;0;0.00;;
                   6.25;msec;task-clock:u;93014;100.00;0.000;CPUs utilized
                   42;;page-faults;93014;100.00;0.000;/sec

                   """)).

folded(Text) -> iolist_to_binary(ertslab_stacks:folded(ertslab_stacks:parse(Text))).
