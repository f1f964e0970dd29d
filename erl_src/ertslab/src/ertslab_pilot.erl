%% @doc What a budget of time will buy: a few pairs are measured first, and their
%% duration and spread tell how many pairs fit and how small an effect those
%% will show. The pilot's values are not analysed, and the number of pairs
%% depends on their duration only, never on what they say about the variants.
-module(ertslab_pilot).

-export([duration/1, plan/3, render/2, spread/3, smallest_effects/3]).
-export_type([budget/0]).

%% effects: for each metric the smallest relative change that is found in 8 of
%% 10 such comparisons.
-type budget() :: #{pairs := pos_integer(), pair_ms := pos_integer(),
                    effects := [#{metric := atom(), effect := float()}]}.

-define(PILOT_PAIRS, 3).
%% Of the budget, so that pairs that must be measured again have room too.
-define(USED_SHARE, 0.9).

%% @doc Seconds, minutes or hours ("90s", "20m", "1h") in milliseconds.
-spec duration(string()) -> pos_integer().
duration(Text) ->
    case string:to_integer(Text) of
        {Number, Unit} when is_integer(Number), Number > 0 -> Number * unit(Unit, Text);
        _ -> no_duration(Text)
    end.

unit("s", _) -> 1000;
unit("m", _) -> 60_000;
unit("h", _) -> 3_600_000;
unit(_, Text) -> no_duration(Text).

-spec no_duration(string()) -> no_return().
no_duration(Text) -> ertslab_error:usage("'~ts' is no duration; write 90s, 20m or 1h", [Text]).

%% @doc Measures the pilot and says what the rest of the budget (milliseconds)
%% will buy. The progress is told as to {@link ertslab_runner:run_all/2}.
-spec plan(ertslab_session:plan(), pos_integer(), ertslab_runner:progress()) -> budget().
plan(#{metrics := Metrics} = Plan, Left, Progress) ->
    Started = erlang:monotonic_time(millisecond),
    Lines = ertslab_runner:pilot(Plan#{pairs => ?PILOT_PAIRS}, Progress),
    Spent = max(1, erlang:monotonic_time(millisecond) - Started),
    PairMs = max(1, Spent div ?PILOT_PAIRS),
    Pairs = floor(?USED_SHARE * max(0, Left - Spent) / PairMs),
    #{pairs => Pairs, pair_ms => PairMs,
      effects => smallest_effects([{Name, spread(Plan, Name, Lines)} || #{name := Name} <- Metrics],
                                  Pairs, ertslab_plan:comparisons(Plan))}.

%% @doc What the budget buys, in words.
-spec render(string(), budget()) -> iolist().
render(Given, #{pairs := Pairs, pair_ms := PairMs, effects := Effects}) ->
    [io_lib:format("A pair takes ~.1f s, so ~ts is enough for ~b pairs.~n", [PairMs / 1000, Given, Pairs]),
     [io_lib:format("  smallest change that will be seen in ~ts, 8 times out of 10: ~.1f %~n",
                    [Metric, 100 * Effect])
      || #{metric := Metric, effect := Effect} <- Effects]].

%% @doc The standard deviation of the log ratios to the baseline, pooled over
%% cases and arms; `none' where too little was measured.
-spec spread(ertslab_session:plan(), atom(), [map()]) -> float() | none.
spread(#{baseline := Baseline}, Metric, Lines) ->
    Iterations = maps:groups_from_list(
                   fun(#{'case' := Case, arm := Arm, pair := Pair}) -> {Case, Arm, Pair} end,
                   fun(#{value := Value}) -> Value end,
                   [Line || #{type := sample, metric := M} = Line <- Lines, M =:= Metric]),
    %% What is 0 or less has no ratio.
    Values = #{Key => Number || Key := Run <- Iterations, Number <- [run_number(Run)], Number > 0},
    Logs = maps:groups_from_list(
             fun({Group, _}) -> Group end, fun({_, Log}) -> Log end,
             [{{Case, Arm}, log_ratio(Own, maps:get({Case, Baseline, Pair}, Values))}
              || {{Case, Arm, Pair}, Own} <- maps:to_list(Values), Arm =/= Baseline,
                 is_map_key({Case, Baseline, Pair}, Values)]),
    pooled(maps:values(Logs)).

log_ratio(Own, Base) -> math:log(Own) - math:log(Base).

run_number(Values) -> ertslab_stats:median(ertslab_slope:numbers(Values)).

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
