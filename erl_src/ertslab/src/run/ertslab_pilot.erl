%% @doc What a budget of time will buy: a few pairs are measured first, and their
%% duration and spread tell how many pairs fit and how small an effect those
%% will show. The pilot's values are not analysed, and the number of pairs
%% depends on their duration only, never on what they say about the variants.
-module(ertslab_pilot).

-export([plan/3, render/2, run_length/5, levels/2, spread/3, smallest_effects/3]).
-export_type([budget/0]).

%% effects: for each metric the smallest relative change that is found in 8 of
%% 10 such comparisons, by the spread of the pilot's few pairs.
-type budget() :: #{pairs := non_neg_integer(), pair_ms := pos_integer(), run_ms := non_neg_integer(),
                    levels := #{run := float() | none, value := float() | none},
                    effects := [#{metric := atom(), effect := float()}]}.

-define(PILOT_PAIRS, 3).
%% Among these a run's length is chosen.
-define(RUN_LENGTHS_MS, [250, 500, 1000, 2000]).
%% A run that took so many times its time was not ended by it.
-define(BEYOND, 1.2).
%% Of the budget, at most, where starting takes no time.
-define(PILOT_SHARE, 0.4).
%% By how much there are more pairs than the statistics want, where arms take turns.
-define(MORE_PAIRS, 1.5).
%% Of the budget, so that pairs that must be measured again have room too.
-define(USED_SHARE, 0.9).

%% @doc Measures the pilot and says what the rest of the budget (milliseconds)
%% will buy. The progress is told as to {@link ertslab_runner:run_all/2}.
-spec plan(ertslab_session:plan(), integer(), ertslab_runner:progress()) -> budget().
plan(#{run_ms := RunMs} = Plan, Left, Progress) ->
    Started = erlang:monotonic_time(millisecond),
    PilotMs = pilot_ms(RunMs, ?PILOT_SHARE * Left / ?PILOT_PAIRS / runs(Plan)),
    Lines = ertslab_runner:pilot(Plan#{pairs => ?PILOT_PAIRS, run_ms := PilotMs}, Progress),
    Spent = max(1, erlang:monotonic_time(millisecond) - Started),
    bought(Plan, PilotMs, Spent / ?PILOT_PAIRS, ?USED_SHARE * max(0, Left - Spent), Lines).

bought(Plan, PilotMs, PairMs, Left, Lines) ->
    Least = ertslab_plan:least_pairs(Plan),
    #{run_ms := Chosen, pair_ms := ChosenMs} = Bought = run_length(Plan, PilotMs, PairMs, Left / Least, Lines),
    Pairs = floor(Left / ChosenMs),
    Bought#{pairs => Pairs, levels => levels(Plan, Lines), effects => effects(Plan, PilotMs, Chosen, Pairs, Lines)}.

%% Up to twice as long as runs are by themselves, and long enough to tell what a shorter one would have given, within
%% a share of the budget; where values are counted, runs stay as they are.
pilot_ms(0, _) -> 0;
pilot_ms(RunMs, Most) -> lists:max([hd(?RUN_LENGTHS_MS) | [Ms || Ms <- ?RUN_LENGTHS_MS, Ms =< 2 * RunMs, Ms =< Most]]).

%% The runs of a pair.
runs(#{rounds := cases, arms := Arms}) -> length(Arms);
runs(#{cases := Cases, arms := Arms}) -> length(Arms) * length(Cases).

%% @doc The length of a run that gets most out of the budget. Of a run that is twice as long
%% there are fewer; so for each length the variance between the pilot's runs, cut down
%% to it, is multiplied by what a run of it costs, and the smallest product wins
%% (Kalibera and Jones 2013, with what was measured in place of a model). The speed of a
%% machine lasts for many rounds, so that a longer run need not vary less. Of the lengths of which a pair takes
%% `MostMs' at most, where there is one.
%%
%% Arms that take turns are measured for as long as their VMs take to start. Three pairs do not tell what varies more, starts or rounds:
%% rounds with three RabbitMQs (medians of 27 of them differed by 4.6 % from start to start, where 20 % / sqrt 27 is 3.8 %), starts with
%% Elixir's compiler (7 % for three rounds, where 6 % / sqrt 3 is 3.5 %). With variances s^2 of starts and r^2 of rounds, which cost S and R,
%% that takes 2 (s^2 S + r^2 R) for a unit of precision, where (s sqrt S + r sqrt R)^2 is the least: twice as much at most, where the
%% budget has room for it and the least number of rounds does not take longer.
-spec run_length(ertslab_session:plan(), PilotMs :: non_neg_integer(), PairMs :: number(), MostMs :: number() | infinity, [map()]) ->
          #{run_ms := non_neg_integer(), pair_ms := pos_integer()}.
run_length(_Plan, 0, PairMs, _, _Lines) -> #{run_ms => 0, pair_ms => max(1, round(PairMs))};
run_length(#{rounds := arms} = Plan, PilotMs, PairMs, MostMs, Lines) ->
    Room = floor((MostMs / ?MORE_PAIRS - PairMs) / runs(Plan)),
    Measured = measured_at_least(PilotMs, Lines),
    Starting = floor(PairMs / runs(Plan)) - Measured,
    case min(Room, Starting - Measured) of
        Longer when Longer > 0 -> #{run_ms => Measured + Longer, pair_ms => round(PairMs + Longer * runs(Plan))};
        _ -> #{run_ms => PilotMs, pair_ms => round(PairMs)}
    end;
run_length(Plan, PilotMs, PairMs, MostMs, Lines) ->
    Saved = saved(PilotMs, Lines),
    Lengths = [{math:pow(Spread, 2) * Takes, Takes, Ms}
               || Ms <- ?RUN_LENGTHS_MS, Ms =< PilotMs,
                  Takes <- [PairMs - runs(Plan) * Saved(Ms)],
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

%% What so many pairs will show. Of longer runs than the pilot's the spread is taken to be smaller as with more rounds that
%% do not depend on each other.
effects(#{metrics := Metrics} = Plan, PilotMs, Chosen, Pairs, Lines) ->
    Longer = math:sqrt(max(1, Chosen / max(1, measured_at_least(PilotMs, Lines)))),
    smallest_effects([{Name, scaled(spread(Plan, Name, shortened(Lines, min(Chosen, PilotMs), PilotMs)), Longer)}
                      || #{name := Name} <- Metrics], Pairs, ertslab_plan:comparisons(Plan)).

scaled(none, _) -> none;
scaled(Spread, By) -> Spread / By.

%% By how much a run would be over sooner, were it shorter. One that had enough values before its time was up is
%% shorter in proportion; one that went on beyond its time, for the least number of rounds, saves nothing.
saved(PilotMs, Lines) ->
    case measured(PilotMs, Lines) of
        Took when Took > ?BEYOND * PilotMs -> fun(_) -> 0 end;
        Took -> fun(Ms) -> Took * (1 - Ms / PilotMs) end
    end.

%% For how long a run of the pilot measured.
measured(PilotMs, Lines) ->
    case [Ms || #{type := run, measured_ms := Ms} <- Lines] of
        [] -> PilotMs;
        Measured -> round(ertslab_stats:median(Measured))
    end.

%% Its own time, or longer where the least number of rounds took longer.
measured_at_least(PilotMs, Lines) -> max(PilotMs, measured(PilotMs, Lines)).

%% The values that a shorter run would have had.
shortened(Lines, Ms, PilotMs) ->
    [case Line of
         #{type := sample, values := Values} -> Line#{values := lists:sublist(Values, max(1, length(Values) * Ms div max(1, PilotMs)))};
         #{} -> Line
     end || Line <- Lines].

%% @doc How much runs differ from each other and values within a run, each as the median over
%% all results of the deviation of the logs.
-spec levels(ertslab_session:plan(), [map()]) -> #{run := float() | none, value := float() | none}.
levels(#{estimator := Estimator}, Lines) ->
    Samples = [{{Case, Metric, Arm}, ertslab_slope:numbers(Values)}
               || #{type := sample, 'case' := Case, metric := Metric, arm := Arm, values := Values} <- Lines],
    Numbers = maps:groups_from_list(fun({Key, _}) -> Key end,
                                    fun({_, Values}) -> ertslab_estimator:of_run(Estimator, Values) end, Samples),
    #{run => typical_deviation(maps:values(Numbers)), value => typical_deviation([Values || {_, Values} <- Samples])}.

typical_deviation(Groups) ->
    case [pooled([[math:log(Number) || Number <- Group]]) || [_, _ | _] = Group <- Groups, lists:min(Group) > 0] of
        [] -> none;
        Deviations -> ertslab_stats:median(Deviations)
    end.

%% @doc What the budget buys, in words.
-spec render(string(), budget()) -> iolist().
render(Given, #{pairs := Pairs, pair_ms := PairMs, run_ms := RunMs, levels := Levels, effects := Effects}) ->
    [io_lib:format("A pair takes ~.1f s~ts, so ~ts is enough for ~b pairs.~n", [PairMs / 1000, measuring(RunMs), Given, Pairs]),
     [io_lib:format("  the runs of an arm differ by ~.1f %, the values of a run by ~.1f %~n", [100 * Run, 100 * Value])
      || #{run := Run, value := Value} <- [Levels], is_float(Run), is_float(Value)],
     [io_lib:format("  smallest change that will be seen in ~ts, 8 times out of 10: ~.1f %~n",
                    [Metric, 100 * Effect])
      || #{metric := Metric, effect := Effect} <- Effects]].

measuring(0) -> "";
measuring(Ms) -> io_lib:format(" (each run measures for ~.2f s)", [Ms / 1000]).

%% @doc The standard deviation of the log ratios to the baseline, pooled over
%% cases and arms; `none' where too little was measured.
-spec spread(ertslab_session:plan(), atom(), [map()]) -> float() | none.
spread(#{baseline := Baseline, estimator := Estimator} = Plan, Metric, Lines) ->
    %% What is 0 or less has no ratio.
    OfRuns = #{{Case, Arm, Pair} => Of
               || #{type := sample, metric := M, 'case' := Case, arm := Arm, pair := Pair, values := Of} <- Lines, M =:= Metric},
    Values = #{Run => Number || Run := Of <- without_turns(Plan, OfRuns),
                                Number <- [ertslab_estimator:of_run(Estimator, Of)], Number > 0},
    Logs = maps:groups_from_list(
             fun({Group, _}) -> Group end, fun({_, Log}) -> Log end,
             [{{Case, Arm}, log_ratio(Own, maps:get({Case, Baseline, Pair}, Values))}
              || {{Case, Arm, Pair}, Own} <- maps:to_list(Values), Arm =/= Baseline,
                 is_map_key({Case, Baseline, Pair}, Values)]),
    pooled(maps:values(Logs)).

%% As the verdict will be of: see ertslab_summary.
without_turns(#{rounds := arms, estimator := typical}, OfRuns) ->
    ertslab_turn_effect:removed(fun({Case, _Arm, Pair}) -> {Case, Pair} end, OfRuns);
without_turns(#{}, OfRuns) -> OfRuns.

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

%% @doc The smallest relative changes that so many pairs show with so many
%% comparisons at once.
-spec smallest_effects([{atom(), float() | none}], non_neg_integer(), pos_integer()) ->
          [#{metric := atom(), effect := float()}].
smallest_effects(Spreads, Pairs, Comparisons) ->
    [#{metric => Metric, effect => ertslab_verdict:smallest_effect(Spread, Pairs, Comparisons)}
     || {Metric, Spread} <- Spreads, Spread =/= none, Pairs > 0].
