%% @doc Compares values that are counted and not timed: distances, words, misses. This needs no
%% statistics, since a useful count is the same in every run. A count that is not the same
%% is reported as `varying', without a ratio.
-module(ertslab_exact).

-export([compared/3]).
-export_type([compared/0]).

%% ratio: to the baseline; `none' for the baseline itself, for a baseline of zero, and
%% for counts that vary. Verdict `none': too few runs, or the baseline.
-type compared() :: #{ratio := #{estimate := float(), exact := true} | none,
                      verdict := same | changed | varying | none,
                      more_pairs := none}.

-define(LEAST_RUNS, 3).

%% @doc Compares the values of an arm with those of the baseline arm, one value for
%% each run. The flag says whether the arm is the baseline itself.
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
