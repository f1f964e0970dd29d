%% @doc Whether a comparison fails its call, for automatic checks of performance: `--fail-if "slower 2%"'.
-module(ertslab_fail_if).

-export([found/2, check/2, judged/2, ended/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: {program, Name :: binary(), Label :: binary(), Ratio :: number(), ertslab_option_types:bound()}
                | {places, Names :: [string(), ...]} | {no_run, Label :: binary(), Metric :: binary()}
                | {results, pos_integer(), ertslab_option_types:bound(), Metric :: binary(), Label :: binary(), Ratio :: number() | none}.

%% @doc The rows of a result that are beyond the bound: their verdict is `changed', and so is their
%% ratio. Rows of the control and rows that are void or unsure are never included. A count that changed from 0 has no
%% ratio, and is beyond every bound.
-spec found(ertslab_option_types:bound(), ertslab_result:summary()) -> [ertslab_result:row()].
found(Bound, #{cases := Cases, overall := Overall, plan := #{control := Control}}) ->
    [Row || #{verdict := changed, label := Label, ratio := Ratio} = Row <- Overall ++ lists:append([Rows || #{rows := Rows} <- Cases]),
            Label =/= Control, beyond(Bound, Ratio)].

beyond(_, none) -> true;
beyond(Bound, #{estimate := Ratio}) -> beyond(Bound, Ratio);
beyond({slower, Share}, Ratio) -> Ratio >= 1 + Share;
beyond({changed, Share}, Ratio) -> Ratio >= 1 + Share orelse Ratio =< 1 / (1 + Share).

%% @doc An error for each judgement of a program that is beyond the bound in the options.
-spec judged(map(), [ertslab_judges_page:judgement()]) -> [ertslab_error:error()].
judged(#{fail_if := Bound}, Judgements) ->
    [{?MODULE, {program, Name, Label, Ratio, Bound}}
     || #{outcome := Outcome, role := compared, name := Name, label := Label, estimate := Ratio} <- Judgements,
        Outcome =:= faster orelse Outcome =:= slower, beyond(Bound, Ratio)];
judged(#{}, _) -> [].

%% @doc Ends a call that measured in several places. The status is 3 if results of some places are beyond the bound,
%% which each place has reported already; otherwise it is 1 if some places failed. A failure never hides a result
%% beyond the bound.
-spec ended(Beyond :: [string()], Failed :: [ertslab_error:error()]) -> ok.
ended([], []) -> ok;
ended([], Failed) -> ertslab_error:several(failure, Failed);
ended(Beyond, Failed) -> ertslab_error:several(beyond, Failed ++ [{?MODULE, {places, Beyond}}]).

%% @doc Ends the call with status 3 if results are beyond the bound in the options, and with status 1
%% if an arm has no result and so may be beyond it.
-spec check(map(), ertslab_result:summary()) -> ok.
check(#{fail_if := Bound}, Summary) ->
    case found(Bound, Summary) of
        [] -> all_measured(Summary);
        [#{metric := Metric, label := Label, ratio := Ratio} | _] = Rows ->
            ertslab_error:beyond(?MODULE, {results, length(Rows), Bound, Metric, Label, estimate(Ratio)})
    end;
check(#{}, _) -> ok.

all_measured(#{cases := Cases}) ->
    case [{Metric, Label} || #{rows := Rows} <- Cases, #{metric := Metric, label := Label, runs := 0} <- Rows] of
        [] -> ok;
        [{Metric, Label} | _] -> ertslab_error:failure(?MODULE, {no_run, Label, Metric})
    end.

estimate(#{estimate := Ratio}) -> Ratio;
estimate(none) -> none.

-spec format_error(reason()) -> unicode:chardata().
format_error({program, Name, Label, Ratio, Bound}) ->
    io_lib:format("~ts of ~ts is ~.3f of the baseline's, beyond --fail-if ~ts", [Name, Label, Ratio, written(Bound)]);
format_error({places, Names}) -> ["results are beyond --fail-if in ", lists:join(", ", Names), "."];
format_error({no_run, Label, Metric}) -> ["no run of ", Label, " ended with ", Metric, ", so --fail-if cannot be judged."];
format_error({results, Number, Bound, Metric, Label, Ratio}) ->
    io_lib:format("~b results are beyond --fail-if ~ts; the first: ~ts of ~ts is ~ts.",
                  [Number, written(Bound), Metric, Label, of_the_baseline(Ratio)]).

written(Bound) -> ertslab_option_types:written(ertslab_option_types:bound(), Bound).

of_the_baseline(none) -> "not 0 as the baseline's";
of_the_baseline(Ratio) -> io_lib:format("~.3f of the baseline's", [float(Ratio)]).
