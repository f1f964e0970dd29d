%% @doc How often `bisect' names a wrong commit, and at what cost, on simulated histories. Pure.
%%
%% Each history has 64 commits, of which a tenth do not build. Each build has a lasting deviation from its layout,
%% each reading has an error. For comparison there is plain bisection: halving, with a t test at the 5 % level in each
%% step and no further check.
-module(ertslab_bisect_trial).

-export([report/4, render/1]).
-export_type([report/0]).

-define(COMMITS, 64).
-define(UNBUILDABLE, 0.1).
-define(LAYOUT, 0.003).
-define(ERROR, 0.004).
-define(SIGNIFICANT, 1.96).
%% The smallest change that is reported.
-define(BOUND, 0.01).
-define(LIMIT, 26).
-define(BUILD_S, 75).
-define(MEASURE_S, 60).

%% Counts of answers, and sums of builds and readings, for `bisect' or for plain bisection.
-type outcome() :: #{right | wrong | no_change | several | unsure | builds | readings := non_neg_integer()}.
-type report() :: #{histories := pos_integer(), seed := integer(), ok := boolean(),
                    kinds := [#{kind := binary(), ok := boolean(), ours := outcome(), plain := outcome()}]}.

%% @doc Simulates that many histories of each kind.
-spec report(pos_integer(), integer(), Workers :: pos_integer(), fun((pos_integer(), pos_integer()) -> _)) -> report().
report(Histories, Seed, Workers, Progress) ->
    Kinds = lists:enumerate([{step, 0.02}, {step, 0.05}, drift, two_steps, none]),
    Items = [{Stream, Kind, Number} || {Stream, Kind} <- Kinds, Number <- lists:seq(1, Histories)],
    Outcomes = ertslab_parallel:map(fun({Stream, Kind, Number}) -> {Stream, both(Kind, {Seed, Stream, Number})} end,
                                    Items, Workers, Progress),
    Rows = [judged(Kind, Histories, [Both || {S, Both} <- Outcomes, S =:= Stream]) || {Stream, Kind} <- Kinds],
    #{histories => Histories, seed => Seed, kinds => Rows, ok => lists:all(fun(#{ok := Ok}) -> Ok end, Rows)}.

judged(Kind, Histories, Both) ->
    {Ours, Plain} = lists:unzip(Both),
    Sum = #{wrong := Wrong} = ertslab_trial:merged([empty() | Ours]),
    #{kind => name(Kind), ours => Sum, plain => ertslab_trial:merged([empty() | Plain]),
      ok => ertslab_selftest_rates:rate(Wrong, Histories)}.

empty() -> #{right => 0, wrong => 0, no_change => 0, several => 0, unsure => 0, builds => 0, readings => 0}.

name({step, Size}) -> ertslab_text:binary(io_lib:format("one step of ~b %", [round(100 * Size)]));
name(two_steps) -> <<"two steps of 3 %">>;
name(drift) -> <<"a drift of 4 %">>;
name(none) -> <<"no change">>.

%% The history and its random numbers are drawn first, so that both methods see the same history.
both(Kind, Seed) ->
    History = history(Kind, rand:seed_s(exsss, Seed)),
    {ours(History), plain(History)}.

history(Kind, Random0) ->
    {Steps, Random1} = steps(Kind, Random0),
    {Layouts, Random2} = normals(?COMMITS + 1, ?LAYOUT, Random1),
    {Draws, Random} = lists:mapfoldl(fun(_, R) -> rand:uniform_s(R) end, Random2, lists:seq(1, ?COMMITS - 1)),
    #{steps => [At || {At, _} <- Steps], random => Random,
      unbuildable => [Commit || {Commit, Draw} <- lists:enumerate(Draws), Draw < ?UNBUILDABLE],
      levels => list_to_tuple([level(Kind, Steps, Commit) + Layout || {Commit, Layout} <- lists:enumerate(0, Layouts)])}.

steps({step, Size}, Random0) ->
    {At, Random} = rand:uniform_s(?COMMITS, Random0),
    {[{At, Size}], Random};
steps(two_steps, Random0) ->
    {A, Random1} = rand:uniform_s(?COMMITS - 1, Random0),
    {B, Random} = rand:uniform_s(?COMMITS - A, Random1),
    {[{A, 0.03}, {A + B, 0.03}], Random};
steps(_, Random) -> {[], Random}.

level(drift, _, Commit) -> 0.04 * Commit / ?COMMITS;
level(_, Steps, Commit) -> lists:sum([Size || {At, Size} <- Steps, Commit >= At]).

normals(Count, Deviation, Random0) ->
    lists:mapfoldl(fun(_, R0) -> {Z, R} = rand:normal_s(R0), {Z * Deviation, R} end, Random0, lists:seq(1, Count)).

%% A reading of one build against another; 0 is the good one.
reading(Commit, Beside, #{levels := Levels, random := Random0} = History) ->
    {Z, Random} = rand:normal_s(Random0),
    {element(Commit + 1, Levels) - element(Beside + 1, Levels) + ?ERROR * Z, History#{random := Random}}.

ours(#{unbuildable := Unbuildable} = History) ->
    ours(#{commits => ?COMMITS, measured => [], unbuildable => Unbuildable, built => [], build_s => ?BUILD_S,
           measure_s => ?MEASURE_S, bound => ?BOUND, limit => ?LIMIT}, History).

ours(#{measured := Measured, built := Built} = State, History0) ->
    case ertslab_bisection:next(State) of
        {{measure, Commit}, _} ->
            {Ratio, History} = reading(Commit, 0, History0),
            ours(State#{measured := [#{commit => Commit, log_ratio => Ratio, error => ?ERROR} | Measured],
                        built := lists:usort([Commit | Built])}, History);
        {{found, #{parent := Parent} = Found}, _} ->
            cost(verified(Found, History0), length(Measured) + 1, lists:usort([0, Parent | Built]));
        {{unsure, _}, _} -> cost(unsure, length(Measured), [0 | Built]);
        {Answer, _} -> cost(Answer, length(Measured), [0 | Built])
    end.

%% Before the culprit is named, it is measured against its parent, and against the control, which is the parent as well. The errors
%% of the two ratios have a correlation of 1/2, since they have the runs of the culprit in common.
verified(#{among := Among, parent := Parent, culprit := Culprit}, #{steps := Steps, levels := Levels} = History0) ->
    {Ratio, History} = reading(Culprit, Parent, History0),
    True = element(Culprit + 1, Levels) - element(Parent + 1, Levels),
    {Other, _} = reading(Culprit, Parent, History),
    ToControl = True + (Ratio - True) / 2 + math:sqrt(3 / 4) * (Other - True),
    case abs(Ratio) >= ?BOUND andalso lists:all(fun(R) -> is_significant(R, Ratio) end, [Ratio, ToControl]) of
        true -> named(Among, Steps);
        false -> unsure
    end.

is_significant(Ratio, Side) -> Ratio * Side > 0 andalso abs(Ratio) > ?SIGNIFICANT * ?ERROR.

named(Among, Steps) ->
    case [Commit || Commit <- Among, lists:member(Commit, Steps)] of
        [] -> wrong;
        [_ | _] -> right
    end.

cost(Answer, Readings, Built) -> (empty())#{Answer => 1, readings => Readings, builds => length(Built)}.

plain(#{unbuildable := Unbuildable, steps := Steps} = History0) ->
    {Ratio, History} = reading(?COMMITS, 0, History0),
    case is_slower(Ratio) of
        false -> cost(no_change, 1, [0, ?COMMITS]);
        true ->
            {Found, Readings} = halved(0, ?COMMITS, Unbuildable, History, 1),
            cost(named(Found, Steps), Readings, lists:seq(0, Readings))
    end.

halved(Good, Bad, Unbuildable, History0, Readings) ->
    Middle = (Good + Bad) / 2,
    case lists:sort([{abs(Commit - Middle), Commit} || Commit <- lists:seq(Good + 1, Bad - 1) -- Unbuildable]) of
        [] -> {lists:seq(Good + 1, Bad), Readings};
        [{_, Commit} | _] ->
            {Ratio, History} = reading(Commit, 0, History0),
            case is_slower(Ratio) of
                true -> halved(Good, Commit, Unbuildable, History, Readings + 1);
                false -> halved(Commit, Bad, Unbuildable, History, Readings + 1)
            end
    end.

is_slower(Ratio) -> Ratio > ?SIGNIFICANT * ?ERROR.

%% @doc The report as text.
-spec render(report()) -> iodata().
render(#{histories := Histories, seed := Seed, kinds := Kinds}) ->
    [io_lib:format("~b histories of each kind, seed ~b: ~b commits, a tenth of which do not build; a build deviates by"
                   " ~.1f %, a reading errs by ~.1f %.~n~n", [Histories, Seed, ?COMMITS, 100 * ?LAYOUT, 100 * ?ERROR]),
     io_lib:format("~-20ts~10ts~8ts~11ts~11ts~9ts~8ts~10ts  ~n",
                   ["history", "named", "wrong", "no change", "not one", "unsure", "builds", "readings"]),
     [[line(Kind, Ours, Histories), verdict(Ok), "\n", line(<<"  plain bisection">>, Plain, Histories), "\n"]
      || #{kind := Kind, ours := Ours, plain := Plain, ok := Ok} <- Kinds]].

line(Name, #{right := Right, wrong := Wrong, no_change := None, several := Several, unsure := Unsure,
             builds := Builds, readings := Readings}, N) ->
    io_lib:format("~-20ts~9.1f%~7.1f%~10.1f%~10.1f%~8.1f%~8.1f~10.1f",
                  [Name | [100 * Count / N || Count <- [Right, Wrong, None, Several, Unsure]]] ++ [Builds / N, Readings / N]).

verdict(true) -> "  ok";
verdict(false) -> "  not ok: more than 5 % wrong".
