%% @doc Whether a comparison fails its call, for automatic checks of performance: `--fail-if "slower 2%"'.
-module(ertslab_fail_if).

-export([found/2, check/2, judged/2, ended/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: {program, Name :: binary(), Label :: binary(), Ratio :: number(), ertslab_option_types:bound()}
                | {places, Names :: [string(), ...]} | {no_run, Label :: binary(), Metric :: binary()}
                | {no_ratio, Label :: binary(), Metric :: binary()}
                | {results, pos_integer(), ertslab_option_types:bound(), First :: first()}.
%% The first result beyond the bound. `params' is empty for a result over all cases.
-type first() :: #{metric := binary(), unit := binary(), params := ertslab_result:params(), label := binary(), baseline := binary(),
                   ratio := number() | none}.

%% @doc The rows of a result that are beyond the bound, each with the parameters of its case: their verdict is `changed', and
%% so is their ratio. Rows of the control and rows that are void or unsure are never included, so neither are those that differ from
%% the baseline, but not from the control. Where the fastest runs and the medians disagree, both must be beyond it. A count that
%% changed from 0 has no ratio, and is beyond every bound.
-spec found(ertslab_option_types:bound(), ertslab_result:summary()) -> [{ertslab_result:params(), ertslab_result:row()}].
found(Bound, #{cases := Cases, overall := Overall, plan := #{control := Control}}) ->
    [{Params, Row} || {Params, Rows} <- [{#{}, Overall} | [{Params, Rows} || #{params := Params, rows := Rows} <- Cases]],
                      #{verdict := changed, label := Label, ratio := Ratio} = Row <- Rows,
                      Label =/= Control, beyond(Bound, Ratio), agrees(Bound, Row)].

agrees(Bound, #{other := #{disagrees := true, ratio := #{estimate := Other}}, ratio := #{estimate := Ratio}}) ->
    beyond(Bound, Other) andalso (Other > 1) =:= (Ratio > 1);
agrees(_, #{}) -> true.

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
%% if an arm has no result, or the baseline's is 0, so that the arm may be beyond it.
-spec check(map(), ertslab_result:summary()) -> ok.
check(#{fail_if := Bound}, #{plan := #{baseline_label := Baseline}} = Summary) ->
    case found(Bound, Summary) of
        [] -> all_judged(Baseline, Summary);
        [{Params, Row} | _] = Rows -> ertslab_error:beyond(?MODULE, {results, length(Rows), Bound, first(Baseline, Params, Row)})
    end;
check(#{}, _) -> ok.

first(Baseline, Params, #{metric := Metric, unit := Unit, label := Label, ratio := Ratio}) ->
    #{metric => Metric, unit => Unit, params => Params, label => Label, baseline => Baseline, ratio => estimate(Ratio)}.

all_judged(Baseline, #{cases := Cases}) ->
    case [{no_run, Label, Metric} || #{rows := Rows} <- Cases, #{metric := Metric, label := Label, runs := 0} <- Rows]
        ++ [{no_ratio, Label, Metric} || #{rows := Rows} <- Cases, #{metric := Metric, label := Label, value := Value, ratio := none} <- Rows,
                                         is_number(Value), Value > 0, lists:any(fun(Row) -> is_zero(Row, Baseline, Metric) end, Rows)] of
        [] -> ok;
        [Reason | _] -> ertslab_error:failure(?MODULE, Reason)
    end.

is_zero(#{metric := Metric, label := Label, value := Value}, Baseline, OfMetric) ->
    Metric =:= OfMetric andalso Label =:= Baseline andalso is_number(Value) andalso Value == 0.

estimate(#{estimate := Ratio}) -> Ratio;
estimate(none) -> none.

-spec format_error(reason()) -> unicode:chardata().
format_error({program, Name, Label, Ratio, Bound}) ->
    io_lib:format("~ts: '~ts' needs ~.3f times the processor time of the baseline, beyond the bound of --fail-if '~ts'",
                  [Name, Label, Ratio, written(Bound)]);
format_error({places, Names}) -> ["results are beyond the bound of --fail-if in ", lists:join(", ", Names), "."];
format_error({no_run, Label, Metric}) -> ["no run of ", Label, " ended with ", Metric, ", so --fail-if cannot be judged."];
format_error({no_ratio, Label, Metric}) ->
    ["the baseline has a ", Metric, " of 0, and ", Label, " has not: there is no ratio, so --fail-if cannot be judged."];
format_error({results, Number, {Kind, Share}, #{metric := Metric, params := Params} = First}) ->
    io_lib:format("~ts ~ts by at least ~ts. First result: metric ~ts~ts: ~ts.",
                  [results(Number), direction(Kind), percent(Share), Metric, of_case(Params), compared(First)]).

results(1) -> "1 result is";
results(Number) -> io_lib:format("~b results are", [Number]).

direction(slower) -> "slower";
direction(changed) -> "slower or faster".

of_case(Params) when map_size(Params) =:= 0 -> "";
of_case(Params) -> [", ", ertslab_report_data:params(Params)].

compared(#{label := Label, baseline := Baseline, ratio := none}) ->
    io_lib:format("the value of '~ts' is not 0, and that of '~ts' is 0", [Label, Baseline]);
compared(#{unit := <<"ns">>, label := Label, baseline := Baseline, ratio := Ratio}) ->
    io_lib:format("'~ts' needs ~.3f times the time of '~ts'", [Label, float(Ratio), Baseline]);
compared(#{label := Label, baseline := Baseline, ratio := Ratio}) ->
    io_lib:format("the value of '~ts' is ~.3f times that of '~ts'", [Label, float(Ratio), Baseline]).

written(Bound) -> ertslab_option_types:written(ertslab_option_types:bound(), Bound).

percent(Share) -> string:replace(ertslab_option_types:written(ertslab_option_types:percentage(), Share), "%", " %").
