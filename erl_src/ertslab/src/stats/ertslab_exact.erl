%% @doc What is counted and not timed: distances, words, misses. No statistics
%% are wanted, since a count that is any good comes out the same in every run;
%% one that does not is called varying, and nothing is said of it.
-module(ertslab_exact).

-export([compared/3]).
-export_type([compared/0]).

%% ratio: to the baseline; `none' for the baseline itself, where it is zero, and
%% where nothing can be said. Verdict `none': too few runs, or the baseline.
-type compared() :: #{ratio := #{estimate := float(), exact := true} | none,
                      verdict := same | changed | varying | none,
                      more_pairs := none}.

-define(LEAST_RUNS, 3).

%% @doc Compares the values of an arm with those of the baseline arm, one of
%% each run; the flag says whether it is the baseline itself.
-spec compared([number()], [number()], boolean()) -> compared().
compared(Base, Own, IsBaseline) ->
    Verdict = verdict(lists:usort(Base), lists:usort(Own), IsBaseline,
                      min(length(Base), length(Own)) >= ?LEAST_RUNS),
    #{ratio => ratio(Verdict, Base, Own), verdict => Verdict, more_pairs => none}.

verdict(_, _, _, false) -> none;
verdict(_, [_, _ | _], _, true) -> varying;
verdict(_, _, true, true) -> none;
verdict([_, _ | _], _, false, true) -> varying;
verdict([Same], [Same], false, true) -> same;
verdict(_, _, false, true) -> changed.

ratio(Verdict, [Base | _], [Own | _]) when Verdict =:= same orelse Verdict =:= changed, Base /= 0 ->
    #{estimate => Own / Base, exact => true};
ratio(_, _, _) -> none.
