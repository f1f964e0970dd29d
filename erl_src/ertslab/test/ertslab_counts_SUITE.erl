%% What becomes of the files of cachegrind.
-module(ertslab_counts_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, reads_a_file/1, adds_what_was_inlined/1, reads_left_out_zeros/1,
         keeps_names_with_blanks/1, refuses_what_is_cut_off/1, refuses_what_is_not_cachegrinds/1,
         equal_runs_are_exact/1, varying_runs_say_by_how_much/1, a_function_of_one_vm_only/1,
         differences_come_before_size/1, shows_exact_and_varying_counts/1]).

all() ->
    [reads_a_file, adds_what_was_inlined, reads_left_out_zeros, keeps_names_with_blanks,
     refuses_what_is_cut_off, refuses_what_is_not_cachegrinds, equal_runs_are_exact,
     varying_runs_say_by_how_much, a_function_of_one_vm_only, differences_come_before_size,
     shows_exact_and_varying_counts].

-define(HEAD, "desc: I1 cache:         32768 B, 64 B, 8-way associative\n"
              "cmd: beam -S 1:1\n"
              "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw \n").

reads_a_file(_) ->
    ?assertEqual({ok, #{~"f" => {7, 3, 6}}, {7, 3, 6}},
                 parse([?HEAD, "fl=a.c\nfn=f\n12 7 9 1 9 1 2 9 2 3\n",
                        "summary: 7 9 1 9 1 2 9 2 3\n"])).

adds_what_was_inlined(_) ->
    ?assertEqual({ok, #{~"f" => {11, 0, 0}, ~"g" => {5, 0, 0}}, {16, 0, 0}},
                 parse([?HEAD, "fl=a.c\nfn=f\n1 1 0 0 0 0 0 0 0 0\n2 2 0 0 0 0 0 0 0 0\nfn=g\n"
                        "9 5 0 0 0 0 0 0 0 0\nfl=b.h\nfn=f\n3 8 0 0 0 0 0 0 0 0\n",
                        "summary: 16 0 0 0 0 0 0 0 0\n"])).

reads_left_out_zeros(_) ->
    ?assertEqual({ok, #{~"f" => {4, 2, 0}}, {4, 2, 0}},
                 parse([?HEAD, "fl=a.c\nfn=f\n1 4 0 0 3 2\nsummary: 4 0 0 3 2\n"])).

keeps_names_with_blanks(_) ->
    {ok, Functions, _} = parse([?HEAD, "fl=???\nfn=f(int, char)\n0 1\nsummary: 1\n"]),
    ?assertEqual([~"f(int, char)"], maps:keys(Functions)).

refuses_what_is_cut_off(_) ->
    ?assertEqual(error, parse([?HEAD, "fl=a.c\nfn=f\n1 1 0 0 0 0 0 0 0 0\n"])),
    ?assertEqual(error, parse([?HEAD, "fl=a.c\nfn=f\n1 1 x\nsummary: 1\n"])).

refuses_what_is_not_cachegrinds(_) ->
    ?assertEqual(error, parse("")),
    ?assertEqual(error, parse("1 2 3\n")).

equal_runs_are_exact(_) ->
    Run = {#{~"f" => {5, 2, 1}}, {9, 3, 2}},
    ?assertEqual([#{function => ~"f", counts => [{5, 2, 1}], spread => {0, 0, 0}}],
                 ertslab_counts:rows([[Run, Run, Run]])),
    ?assertMatch(#{counts := [{9, 3, 2}], spread := {0, 0, 0}}, ertslab_counts:whole([[Run, Run]])).

varying_runs_say_by_how_much(_) ->
    Runs = [{#{~"f" => {I, 2, LL}}, {9, 3, 2}} || {I, LL} <- [{5, 1}, {8, 7}, {6, 1}]],
    ?assertEqual([#{function => ~"f", counts => [{6, 2, 1}], spread => {3, 0, 6}}],
                 ertslab_counts:rows([Runs])).

a_function_of_one_vm_only(_) ->
    ?assertEqual([#{function => ~"f", counts => [{0, 0, 0}, {5, 0, 0}], spread => {0, 0, 0}}],
                 ertslab_counts:rows([[{#{}, {5, 0, 0}}], [{#{~"f" => {5, 0, 0}}, {5, 0, 0}}]])).

differences_come_before_size(_) ->
    Before = #{~"large" => {900, 0, 0}, ~"changed" => {50, 0, 0}, ~"noise" => {60, 0, 0}},
    After = Before#{~"changed" := {80, 0, 0}, ~"noise" := {90, 0, 0}},
    Noisy = After#{~"noise" := {60, 0, 0}},
    Rows = ertslab_counts:rows([[{Before, {1010, 0, 0}} || _ <- [1, 2]],
                                [{After, {1040, 0, 0}}, {Noisy, {1040, 0, 0}}]]),
    ?assertEqual([~"changed", ~"large", ~"noise"], [Name || #{function := Name} <- Rows]).

shows_exact_and_varying_counts(_) ->
    Rows = [#{function => ~"f", counts => [{5, 2, 1}, {6, 3, 1}], spread => {0, 0, 0}},
            #{function => ~"g", counts => [{5, 2, 1}, {6, 3, 1}], spread => {0, 4, 0}},
            #{function => ~"h", counts => [{5, 2, 1}, {6, 3, 1}], spread => {7, 4, 0}}],
    ?assertEqual([[~"function", ~"instructions, a", ~"instructions, b", ~"D1 misses, a",
                   ~"D1 misses, b", ~"LL misses, a", ~"LL misses, b", ~"runs"],
                  [~"f", ~"5", ~"6", ~"2", ~"3", ~"1", ~"1", ~"equal"],
                  [~"g", ~"5", ~"6", ~"~2", ~"~3", ~"1", ~"1", ~"misses vary by 4"],
                  [~"h", ~"~5", ~"~6", ~"~2", ~"~3", ~"1", ~"1", ~"vary by 7"]],
                 [[iolist_to_binary(Cell) || Cell <- Line]
                  || Line <- ertslab_counts:columns([~"a", ~"b"], Rows)]).

parse(Text) -> ertslab_cachegrind_out:parse(iolist_to_binary(Text)).
