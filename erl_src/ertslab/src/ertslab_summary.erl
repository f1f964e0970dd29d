%% @doc From raw samples to verdicts. Pure: the plan and the lines of
%% samples.jsonl go in, the contents of summary.json come out.
%%
%% A run gives one number a metric, the median of its iterations; two arms are
%% compared by the ratios of the pairs in which both have a number. Iterations
%% are never pooled: that finds differences where there are none. A value that
%% is a list of points [N, Value] gives its slope over N.
-module(ertslab_summary).

-export([make/2]).
-export_type([summary/0, row/0]).

-type summary() :: #{atom() => term()}.
%% `ratio' is to the baseline arm: below 1 is faster. It is `none' for the
%% baseline itself and where too few pairs are left. `slope' is the interval of
%% a slope, its bounds the medians of those of the runs.
-type row() :: #{metric := binary(), label := binary(), median := float() | none,
                 slope => #{low := ertslab_stats:limit(), high := ertslab_stats:limit()},
                 unit := atom(), runs := non_neg_integer(), ratio := map() | none,
                 verdict := atom(), more_pairs := term()}.

-define(CONFIDENCE, 0.95).

-spec make(ertslab_session:plan(), #{samples := [ertslab_session:sample()],
                                     runs := [ertslab_session:run_line()]}) -> summary().
make(#{cases := Cases} = Plan, #{samples := Samples, runs := Runs}) ->
    Values = run_values(Samples),
    Compared = judged(Plan, [case_rows(Plan, Values, Index) || Index <- indexes(Cases)]),
    #{format => 1,
      plan => maps:without([arms, module], Plan),
      arms => [maps:without([vm], Arm#{build_id => maps:get(build_id, VM)})
               || #{vm := VM} = Arm <- maps:get(arms, Plan)],
      cases => [#{params => Params, rows => Rows, contrasts => contrasts(Plan, Values, Index)}
                || {Index, Params, Rows} <- lists:zip3(indexes(Cases), Cases, Compared)],
      crashed => [maps:with([~"run", ~"pair", ~"label", ~"params", ~"reason"], Run)
                  || #{~"outcome" := ~"crashed"} = Run <- Runs],
      warnings => warnings(Plan, Runs)}.

indexes(List) -> lists:seq(0, length(List) - 1).

%% {Case, Arm, Metric} => #{Pair => the values of the run's iterations}
run_values(Samples) ->
    ByRun = maps:groups_from_list(
              fun(#{~"case" := Case, ~"arm" := Arm, ~"metric" := Metric, ~"pair" := Pair}) ->
                      {{Case, Arm, Metric}, Pair}
              end,
              fun(#{~"value" := Value}) -> Value end, Samples),
    maps:fold(fun({Key, Pair}, Iterations, Acc) ->
                      maps:update_with(Key, fun(Pairs) -> Pairs#{Pair => Iterations} end,
                                       #{Pair => Iterations}, Acc)
              end, #{}, ByRun).

case_rows(#{metrics := Metrics, arms := Arms} = Plan, Values, Case) ->
    [row(Plan, Values, Case, Metric, IndexedArm)
     || Metric <- Metrics, IndexedArm <- lists:enumerate(0, Arms)].

row(#{baseline := Baseline, exact := Exact}, Values, Case, #{name := Metric, unit := Unit},
    {Arm, #{label := Label, params := Overrides}}) ->
    Own = pairs_of(Values, Case, Arm, Metric),
    Base = pairs_of(Values, Case, Baseline, Metric),
    Row = #{metric => Metric, label => Label, params => Overrides, runs => map_size(Own),
            median => median_or_none(maps:values(Own)), unit => Unit},
    Sloped = maps:merge(Row, slope_bounds(iterations(Values, Case, Arm, Metric))),
    case Exact of
        true ->
            maps:merge(Sloped, ertslab_exact:compared(maps:values(Base), maps:values(Own),
                                                   Arm =:= Baseline));
        false -> Sloped#{ratio => ratio_to(Base, Own, Arm =:= Baseline)}
    end.

iterations(Values, Case, Arm, Metric) ->
    maps:get({Case, Arm, atom_to_binary(Metric)}, Values, #{}).

%% Pair => the one number of its run
pairs_of(Values, Case, Arm, Metric) ->
    maps:map(fun(_Pair, Iterations) -> ertslab_stats:median([number(Value) || Value <- Iterations]) end,
             iterations(Values, Case, Arm, Metric)).

number(Points) when is_list(Points) -> maps:get(estimate, slope(Points));
number(Number) -> Number.

slope(Points) -> ertslab_slope:theil_sen([{N, Value} || [N, Value] <- Points], ?CONFIDENCE).

slope_bounds(Pairs) ->
    case [slope(Value) || Iterations <- maps:values(Pairs), Value <- Iterations, is_list(Value)] of
        [] -> #{};
        Slopes -> #{slope => #{low => middle([Low || #{low := Low} <- Slopes]),
                               high => middle([High || #{high := High} <- Slopes])}}
    end.

middle(Limits) ->
    case lists:member(too_few, Limits) of
        true -> too_few;
        false -> ertslab_stats:median(Limits)
    end.

median_or_none([]) -> none;
median_or_none(List) -> ertslab_stats:median(List).

ratio_to(_Base, _Own, true) -> none;
ratio_to(Base, Own, false) -> paired_ratio(Base, Own).

%% Ratio of two metrics or arms over the pairs that both have.
paired_ratio(Under, Over) ->
    Pairs = lists:sort(maps:keys(maps:intersect(Under, Over))),
    case length(Pairs) >= ertslab_stats:min_pairs(?CONFIDENCE) of
        true ->
            Of = fun(Numbers) -> [float(maps:get(Pair, Numbers)) || Pair <- Pairs] end,
            ertslab_stats:ratio(Of(Under), Of(Over));
        false -> none
    end.

%% Holm's correction over all that is printed, where there are enough pairs
%% for it ever to say `changed'; a quick comparison goes without, and says so.
judged(#{exact := true}, RowsByCase) -> RowsByCase;
judged(#{quick := Quick}, RowsByCase) ->
    Ps = [P || Rows <- RowsByCase, #{ratio := #{p := P}} <- Rows],
    Adjusted = case Quick of true -> Ps; false -> ertslab_stats:holm(Ps) end,
    {Judged, []} = lists:mapfoldl(
                     fun(Rows, Left) -> lists:mapfoldl(fun judge/2, Left, Rows) end,
                     Adjusted, RowsByCase),
    Judged.

judge(#{ratio := none} = Row, Adjusted) ->
    {Row#{verdict => none, more_pairs => none}, Adjusted};
judge(#{ratio := Ratio0} = Row, [P | Adjusted]) ->
    Ratio = Ratio0#{p_adjusted => P},
    {maps:merge(Row#{ratio := Ratio}, ertslab_verdict:verdict(Ratio, #{})), Adjusted}.

contrasts(#{contrasts := Contrasts, arms := Arms}, Values, Case) ->
    [#{name => Name, says => ertslab_error:text(Says), label => Label,
       ratio => paired_ratio(pairs_of(Values, Case, Arm, Under),
                             pairs_of(Values, Case, Arm, Over))}
     || #{name := Name, says := Says, over := Over, under := Under} <- Contrasts,
        {Arm, #{label := Label}} <- lists:enumerate(0, Arms)].

warnings(Plan, Runs) ->
    quick_warning(Plan) ++ crash_warning(Runs) ++ steal_warning(Runs).

quick_warning(#{exact := true}) -> [];
quick_warning(#{quick := true, pairs := Pairs}) ->
    [ertslab_error:text(
       io_lib:format("This is a quick comparison: ~b pairs, and no correction for the number"
                     " of verdicts. Believe it after one without --quick.", [Pairs]))];
quick_warning(#{quick := false}) -> [].

crash_warning(Runs) ->
    case [Run || #{~"outcome" := ~"crashed"} = Run <- Runs] of
        [] -> [];
        [#{~"label" := Label, ~"reason" := Reason} | _] = Crashed ->
            [ertslab_error:text(
               io_lib:format("~b of ~b runs did not end well and are left out; the first was ~ts: ~ts.",
                             [length(Crashed), length(Runs), Label, Reason]))]
    end.

%% A core that the hypervisor took away for more than a tick in a hundred.
steal_warning(Runs) ->
    case [Run || Run <- Runs, was_stolen_from(Run)] of
        [] -> [];
        Stolen ->
            [ertslab_error:text(
               io_lib:format("During ~b of ~b runs the hypervisor took over 1 % of the time away.",
                             [length(Stolen), length(Runs)]))]
    end.

was_stolen_from(#{~"host" := #{~"steal_ticks" := Ticks}, ~"duration_ms" := Duration})
  when is_integer(Ticks) ->
    Ticks * 10 > Duration * 0.01;
was_stolen_from(_) -> false.
