%% What becomes of the files of cachegrind.
-module(ertslab_cachegrind_counts_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, reads_a_file/1, reads_branches/1, adds_what_was_inlined/1, reads_left_out_zeros/1,
         keeps_names_with_blanks/1, refuses_what_is_cut_off/1, refuses_what_is_not_cachegrinds/1,
         equal_runs_are_exact/1, varying_runs_say_by_how_much/1, a_function_of_one_vm_only/1,
         differences_come_before_size/1, shows_exact_and_varying_counts/1]).

all() ->
    [reads_a_file, reads_branches, adds_what_was_inlined, reads_left_out_zeros, keeps_names_with_blanks,
     refuses_what_is_cut_off, refuses_what_is_not_cachegrinds, equal_runs_are_exact,
     varying_runs_say_by_how_much, a_function_of_one_vm_only, differences_come_before_size,
     shows_exact_and_varying_counts].

-define(HEAD, "desc: I1 cache:         32768 B, 64 B, 8-way associative\n"
              "cmd: beam -S 1:1\n"
              "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw \n").

reads_a_file(_) ->
    ?assertEqual({ok, #{~"f" => counts([7, 3, 6])}, counts([7, 3, 6])},
                 parse([?HEAD, "fl=a.c\nfn=f\n12 7 9 1 9 1 2 9 2 3\n",
                        "summary: 7 9 1 9 1 2 9 2 3\n"])).

%% In the order in which valgrind writes its events.
reads_branches(_) ->
    Counts = #{instructions => 7, d1_misses => 3, ll_misses => 6, branches => 44, mispredictions => 22},
    ?assertEqual({ok, #{~"f" => Counts}, Counts},
                 parse(["events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim \n"
                        "fl=a.c\nfn=f\n12 7 9 1 9 1 2 9 2 3 40 20 4 2\n"
                        "summary: 7 9 1 9 1 2 9 2 3 40 20 4 2\n"])).

adds_what_was_inlined(_) ->
    ?assertEqual({ok, #{~"f" => counts([11]), ~"g" => counts([5])}, counts([16])},
                 parse([?HEAD, "fl=a.c\nfn=f\n1 1 0 0 0 0 0 0 0 0\n2 2 0 0 0 0 0 0 0 0\nfn=g\n"
                        "9 5 0 0 0 0 0 0 0 0\nfl=b.h\nfn=f\n3 8 0 0 0 0 0 0 0 0\n",
                        "summary: 16 0 0 0 0 0 0 0 0\n"])).

reads_left_out_zeros(_) ->
    ?assertEqual({ok, #{~"f" => counts([4, 2, 0])}, counts([4, 2, 0])},
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
    Run = {#{~"f" => counts([5, 2, 1])}, counts([9, 3, 2])},
    ?assertEqual([#{function => ~"f", counts => [counts([5, 2, 1])], spread => counts([])}],
                 ertslab_cachegrind_counts:rows([[Run, Run, Run]])),
    ?assertEqual(#{function => ~"(all)", counts => [counts([9, 3, 2])], spread => counts([])},
                 ertslab_cachegrind_counts:whole([[Run, Run]])).

varying_runs_say_by_how_much(_) ->
    Runs = [{#{~"f" => counts([I, 2, LL])}, counts([9, 3, 2])} || {I, LL} <- [{5, 1}, {8, 7}, {6, 1}]],
    ?assertEqual([#{function => ~"f", counts => [counts([6, 2, 1])], spread => counts([3, 0, 6])}],
                 ertslab_cachegrind_counts:rows([Runs])).

a_function_of_one_vm_only(_) ->
    Five = counts([5]),
    ?assertEqual([#{function => ~"f", counts => [counts([]), Five], spread => counts([])}],
                 ertslab_cachegrind_counts:rows([[{#{}, Five}], [{#{~"f" => Five}, Five}]])).

differences_come_before_size(_) ->
    Before = #{~"large" => counts([900]), ~"changed" => counts([50]), ~"noise" => counts([60])},
    After = Before#{~"changed" := counts([80]), ~"noise" := counts([90])},
    Noisy = After#{~"noise" := counts([60])},
    Rows = ertslab_cachegrind_counts:rows([[{Before, counts([1010])} || _ <- [1, 2]],
                                [{After, counts([1040])}, {Noisy, counts([1040])}]]),
    ?assertEqual([~"changed", ~"large", ~"noise"], [Name || #{function := Name} <- Rows]).

shows_exact_and_varying_counts(_) ->
    Rows = [#{function => Name, spread => counts(Spread),
              counts => [counts([5, 2, 1, 4, 2]), counts([6, 3, 1, 4, 1])]}
            || {Name, Spread} <- [{~"f", []}, {~"g", [0, 4, 0]}, {~"h", [7, 4, 0]}, {~"i", [0, 4, 0, 0, 5]}]],
    ?assertEqual([[~"function", ~"instructions, a", ~"instructions, b", ~"D1 misses, a",
                   ~"D1 misses, b", ~"LL misses, a", ~"LL misses, b", ~"branches, a", ~"branches, b",
                   ~"mispredictions, a", ~"mispredictions, b", ~"runs"],
                  [~"f", ~"5", ~"6", ~"2", ~"3", ~"1", ~"1", ~"4", ~"4", ~"2", ~"1", ~"equal"],
                  [~"g", ~"5", ~"6", ~"~2", ~"~3", ~"1", ~"1", ~"4", ~"4", ~"2", ~"1", ~"D1 misses vary by 4"],
                  [~"h", ~"~5", ~"~6", ~"~2", ~"~3", ~"1", ~"1", ~"4", ~"4", ~"2", ~"1", ~"vary by 7"],
                  [~"i", ~"5", ~"6", ~"~2", ~"~3", ~"1", ~"1", ~"4", ~"4", ~"~2", ~"~1",
                   ~"mispredictions vary by 5"]],
                 [[iolist_to_binary(Cell) || Cell <- Line]
                  || Line <- ertslab_cachegrind_counts:columns([~"a", ~"b"], Rows)]).

parse(Text) -> ertslab_cachegrind_out:parse(iolist_to_binary(Text)).

%% The counts of the first events; the others are 0.
counts(Values) -> maps:from_list(lists:zip(ertslab_cachegrind_events:names(), Values, {pad, {none, 0}})).
