%% @doc Predicts what a budget of time allows. A few pairs are measured first; their duration and spread show how many
%% pairs fit and how small an effect these will detect. The pilot's values are not analysed: the number of pairs
%% depends on their duration only, never on what they show about the variants.
-module(ertslab_pilot).

-export([must_fit/2, must_fit/3, plan/3, render/2, run_length/5, levels/2, spread/3, smallest_effects/4]).
-export_type([budget/0]).

%% effects: for each metric the smallest relative change that 8 of 10 such comparisons find, estimated from the spread
%% of the pilot's few pairs.
-type budget() :: #{pairs := non_neg_integer(), pair_ms := pos_integer(), run_ms := non_neg_integer(),
                    levels := #{run := float() | none, value := float() | none},
                    effects := [#{metric := atom(), effect := float()}]}.

-define(PILOT_PAIRS, ertslab_plan:pilot_pairs()).
%% The maximum of `--pairs' too.
-define(MOST_PAIRS, 10_000).
%% No VM starts faster.
-define(LEAST_START_MS, 50).
%% The lengths of a run to choose from.
-define(RUN_LENGTHS_MS, [250, 500, 1000, 2000]).
%% If a run measured for more than this multiple of its time, something else than its time ended it.
-define(BEYOND, 1.2).
%% The pilot's largest share of the budget, calculated as if starting took no time.
-define(PILOT_SHARE, 0.4).
%% If arms take turns, the budget keeps room for this multiple of the pairs that the statistics need.
-define(MORE_PAIRS, 1.5).

%% @doc Refuses a budget (milliseconds) that is too small on any machine, before anything is started.
-spec must_fit(ertslab_session:plan(), integer()) -> ok.
must_fit(#{run_ms := RunMs} = Plan, Budget) ->
    must_fit(Plan, Budget, ertslab_plan:runs_of_pair(Plan) * (?LEAST_START_MS + min(RunMs, hd(?RUN_LENGTHS_MS)))).

%% @doc The same if a pair is known to take at least that many milliseconds.
-spec must_fit(ertslab_session:plan(), integer(), pos_integer()) -> ok.
must_fit(#{budget := Given} = Plan, Budget, PairMs) ->
    _ = ertslab_plan:with_pairs(Plan#{budget := Given#{pair_ms => PairMs}}, max(0, Budget div PairMs - ?PILOT_PAIRS)),
    ok.

%% @doc Measures the pilot and predicts what the rest of the budget (milliseconds) allows. The progress function is
%% called as by {@link ertslab_runner:run_all/2}.
-spec plan(ertslab_session:plan(), integer(), ertslab_runner:progress()) -> budget().
plan(#{run_ms := RunMs} = Plan, Left, Progress) ->
    Started = erlang:monotonic_time(millisecond),
    PilotMs = pilot_ms(RunMs, ?PILOT_SHARE * Left / ?PILOT_PAIRS / ertslab_plan:runs_of_pair(Plan)),
    Lines = ertslab_runner:pilot(Plan#{pairs => ?PILOT_PAIRS, run_ms := PilotMs}, Progress),
    Spent = max(1, erlang:monotonic_time(millisecond) - Started),
    bought(Plan, PilotMs, Spent / ?PILOT_PAIRS, ertslab_plan:used_share() * max(0, Left - Spent), Lines).

bought(Plan, PilotMs, PairMs, Left, Lines) ->
    Least = ertslab_plan:least_pairs(Plan),
    #{run_ms := Chosen, pair_ms := ChosenMs} = Bought = run_length(Plan, PilotMs, PairMs, Left / Least, Lines),
    Pairs = min(?MOST_PAIRS, floor(Left / ChosenMs)),
    Bought#{pairs => Pairs, levels => levels(Plan, Lines), effects => effects(Plan, PilotMs, Chosen, Pairs, Lines)}.

%% Up to twice the default length of a run, to show what shorter runs would have given, but within a share of the
%% budget. Runs of exact counts keep their length.
pilot_ms(0, _) -> 0;
pilot_ms(RunMs, Most) -> lists:max([hd(?RUN_LENGTHS_MS) | [Ms || Ms <- ?RUN_LENGTHS_MS, Ms =< 2 * RunMs, Ms =< Most]]).

%% @doc The length of a run that gets the most precision out of the budget. Longer runs mean fewer of them. So for
%% each length, the variance between the pilot's runs, cut down to that length, is multiplied by the cost of such a
%% run, and the smallest product wins (Kalibera and Jones 2013, with measured values in place of a model). The speed
%% of a machine persists for many rounds, so a longer run need not vary less. If for some lengths a pair takes at most
%% `MostMs', only these are considered.
%%
%% Arms that take turns are measured for as long as their VMs take to start. Three pairs cannot tell whether starts or
%% rounds vary more. With three RabbitMQs it was the rounds (medians of 27 of them differed by 4.6 % from start to
%% start, where 20 % / sqrt 27 is 3.8 %), with Elixir's compiler it was the starts (7 % for three rounds, where 6 % /
%% sqrt 3 is 3.5 %). If starts have the variance s^2 and the cost S, and rounds r^2 and R, then one unit of precision
%% costs 2 (s^2 S + r^2 R). The optimum is (s sqrt S + r sqrt R)^2. So this rule costs at most twice the optimum,
%% provided that the budget has room for it and the least number of rounds does not take longer.
-spec run_length(ertslab_session:plan(), PilotMs :: non_neg_integer(), PairMs :: number(), MostMs :: number() | infinity, [map()]) ->
          #{run_ms := non_neg_integer(), pair_ms := pos_integer()}.
run_length(_Plan, 0, PairMs, _, _Lines) -> #{run_ms => 0, pair_ms => max(1, round(PairMs))};
run_length(#{rounds := arms} = Plan, PilotMs, PairMs, MostMs, Lines) ->
    Room = floor((MostMs / ?MORE_PAIRS - PairMs) / ertslab_plan:runs_of_pair(Plan)),
    Measured = measured_at_least(PilotMs, Lines),
    Starting = floor(PairMs / ertslab_plan:runs_of_pair(Plan)) - Measured,
    case min(Room, Starting - Measured) of
        Longer when Longer > 0 -> #{run_ms => Measured + Longer, pair_ms => round(PairMs + Longer * ertslab_plan:runs_of_pair(Plan))};
        _ -> #{run_ms => PilotMs, pair_ms => round(PairMs)}
    end;
run_length(Plan, PilotMs, PairMs, MostMs, Lines) ->
    Saved = saved(PilotMs, Lines),
    Lengths = [{math:pow(Spread, 2) * Takes, Takes, Ms}
               || Ms <- ?RUN_LENGTHS_MS, Ms =< PilotMs,
                  Takes <- [PairMs - ertslab_plan:runs_of_pair(Plan) * Saved(Ms)],
                  Spread <- [typical_spread(Plan, shortened(Lines, Ms, PilotMs))], is_float(Spread)],
    {Takes, Best} = case {lists:sort([Length || {_, Takes, _} = Length <- Lengths, Takes =< MostMs]), Lengths} of
                        {[{_, T, Ms} | _], _} -> {T, Ms};
                        {[], [_ | _]} -> lists:min([{T, Ms} || {_, T, Ms} <- Lengths]);
                        {[], []} -> {PairMs, PilotMs}
                    end,
    #{run_ms => Best, pair_ms => max(1, round(Takes))}.

typical_spread(#{metrics := Metrics} = Plan, Lines) ->
    case [Spread || #{name := Name} <- Metrics, Spread <- [spread(Plan, Name, Lines)], is_float(Spread)] of
        [] -> none;
        Spreads -> ertslab_stats:median(Spreads)
    end.

%% The effects that this number of pairs will show. For runs longer than the pilot's, the spread is assumed to shrink
%% as if the additional rounds were independent.
effects(#{metrics := Metrics, control := Control} = Plan, PilotMs, Chosen, Pairs, Lines) ->
    Longer = math:sqrt(max(1, Chosen / max(1, measured_at_least(PilotMs, Lines)))),
    smallest_effects([{Name, scaled(spread(Plan, Name, shortened(Lines, min(Chosen, PilotMs), PilotMs)), Longer)}
                      || #{name := Name} <- Metrics], Pairs, ertslab_plan:comparisons(Plan), Control =/= null).

scaled(none, _) -> none;
scaled(Spread, By) -> Spread / By.

%% How much earlier a shorter run would end. A run that ended on time or earlier, with enough values, shrinks in
%% proportion. A run that went on beyond its time to reach the least number of rounds would save nothing.
saved(PilotMs, Lines) ->
    case measured(PilotMs, Lines) of
        Took when Took > ?BEYOND * PilotMs -> fun(_) -> 0 end;
        Took -> fun(Ms) -> Took * (1 - Ms / PilotMs) end
    end.

%% How long a run of the pilot measured.
measured(PilotMs, Lines) ->
    case [Ms || #{type := run, measured_ms := Ms} <- Lines] of
        [] -> PilotMs;
        Measured -> round(ertslab_stats:median(Measured))
    end.

%% The run's set time, or longer if the least number of rounds took longer.
measured_at_least(PilotMs, Lines) -> max(PilotMs, measured(PilotMs, Lines)).

%% The values that a shorter run would have measured.
shortened(Lines, Ms, PilotMs) ->
    [case Line of
         #{type := sample, values := Values} -> Line#{values := lists:sublist(Values, max(1, length(Values) * Ms div max(1, PilotMs)))};
         #{} -> Line
     end || Line <- Lines].

%% @doc The variation between runs, and of values within a run. Each is the median, over all results, of the standard
%% deviation of the logs.
-spec levels(ertslab_session:plan(), [map()]) -> #{run := float() | none, value := float() | none}.
levels(#{estimator := Estimator}, Lines) ->
    %% Each run for itself: what the arms of a pair have in common is part of how the runs differ.
    Runs = ertslab_run_numbers:of_runs(Estimator, none, fun(Run) -> Run end,
                                       maps:from_list([{{{Case, Metric, Arm}, Pair}, Values}
                                                       || #{type := sample, 'case' := Case, metric := Metric, arm := Arm, pair := Pair,
                                                            values := Values} <- Lines])),
    Numbers = maps:groups_from_list(fun({{Key, _}, _}) -> Key end, fun({_, #{value := Number}}) -> Number end, maps:to_list(Runs)),
    #{run => typical_deviation(maps:values(Numbers)),
      value => typical_deviation([Values || #{values := Values} <- maps:values(Runs)])}.

typical_deviation(Groups) ->
    case [pooled([[math:log(Number) || Number <- Group]]) || [_, _ | _] = Group <- Groups, lists:min(Group) > 0] of
        [] -> none;
        Deviations -> ertslab_stats:median(Deviations)
    end.

%% @doc The prediction as text.
-spec render(Given :: binary(), budget()) -> iolist().
render(Given, #{pairs := Pairs, pair_ms := PairMs, run_ms := RunMs, levels := Levels, effects := Effects}) ->
    [io_lib:format("A pair takes ~.1f s~ts, so ~ts is enough for ~b pairs.~n", [PairMs / 1000, measuring(RunMs), Given, Pairs]),
     [io_lib:format("  Noise in the pilot: ~.1f % between the runs of an arm, ~.1f % between the values of a run.~n", [100 * Run, 100 * Value])
      || #{run := Run, value := Value} <- [Levels], is_float(Run), is_float(Value)],
     [io_lib:format("  A change of ~ts by ~.1f % gets the verdict changed in 8 of 10 such comparisons.~n",
                    [Metric, 100 * Effect])
      || #{metric := Metric, effect := Effect} <- Effects]].

measuring(0) -> "";
measuring(Ms) -> io_lib:format(" (each run measures for ~.2f s)", [Ms / 1000]).

%% @doc The standard deviation of the log ratios to the baseline, pooled over
%% cases and arms; `none' where too little was measured.
-spec spread(ertslab_session:plan(), atom(), [map()]) -> float() | none.
spread(#{baseline := Baseline, estimator := Estimator, rounds := Rounds}, Metric, Lines) ->
    OfRuns = maps:from_list([{{Case, Arm, Pair}, Of}
                             || #{type := sample, metric := M, 'case' := Case, arm := Arm, pair := Pair, values := Of} <- Lines,
                                M =:= Metric]),
    Numbers = ertslab_run_numbers:of_runs(Estimator, Rounds, fun({Case, _Arm, Pair}) -> {Case, Pair} end, OfRuns),
    %% A value of 0 or less has no ratio.
    Values = maps:from_list([{Run, Number} || {Run, #{value := Number}} <- maps:to_list(Numbers), Number > 0]),
    Logs = maps:groups_from_list(
             fun({Group, _}) -> Group end, fun({_, Log}) -> Log end,
             [{{Case, Arm}, log_ratio(Own, maps:get({Case, Baseline, Pair}, Values))}
              || {{Case, Arm, Pair}, Own} <- maps:to_list(Values), Arm =/= Baseline,
                 is_map_key({Case, Baseline, Pair}, Values)]),
    pooled(maps:values(Logs)).

log_ratio(Own, Base) -> math:log(Own) - math:log(Base).

pooled(Groups) ->
    Squares = lists:append([deviations(Group) || Group <- Groups]),
    case length(Squares) - length(Groups) of
        Freedom when Freedom > 0 -> math:sqrt(lists:sum(Squares) / Freedom);
        _ -> none
    end.

deviations(Group) ->
    Mean = lists:sum(Group) / length(Group),
    [(Log - Mean) * (Log - Mean) || Log <- Group].

%% @doc The smallest relative changes that this number of pairs shows, corrected for that number of simultaneous
%% comparisons, beside a control or without one.
-spec smallest_effects([{atom(), float() | none}], non_neg_integer(), pos_integer(), Control :: boolean()) ->
          [#{metric := atom(), effect := float()}].
smallest_effects(Spreads, Pairs, Comparisons, Control) ->
    [#{metric => Metric, effect => ertslab_verdict:smallest_effect(Spread, Pairs, Comparisons, Control)}
     || {Metric, Spread} <- Spreads, Spread =/= none, Pairs > 0].
