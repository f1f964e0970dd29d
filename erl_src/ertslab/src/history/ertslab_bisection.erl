%% @doc Chooses the commit to measure next, and decides when the commit that made it slower is known. Pure, so that
%% real and simulated histories are treated the same.
-module(ertslab_bisection).

-export([next/1]).
-export_type([state/0, step/0]).

%% `unbuildable' and `built' are commits, counted from 1, of a history of `commits'. `build_s' and `measure_s' are
%% costs in seconds. A log ratio below `bound' is no change. `limit' is the largest number of readings.
-type state() :: #{commits := pos_integer(), measured := [ertslab_step_model:measured()], unbuildable := [pos_integer()],
                   built := [pos_integer()], build_s := number(), measure_s := number(), bound := float(), limit := pos_integer()}.
%% `found': `among' are the commits of which one made it slower (several if those between do not build). `parent' is
%% the last commit before them that builds, 0 for the good one; `culprit' is the first one from them on that builds.
-type step() :: {measure, pos_integer()} | no_change | several | {unsure, [pos_integer()]}
              | {found, #{among := [pos_integer(), ...], parent := non_neg_integer(), culprit := pos_integer()}}.

-define(SURE, 0.95).

%% @doc The next step. The bad commit is measured first: if it is as fast as the good one, there is nothing to search
%% for.
-spec next(state()) -> {step(), ertslab_step_model:belief()}.
next(#{commits := Commits, measured := Measured} = State) ->
    Belief = ertslab_step_model:belief(Commits, Measured),
    {step(Belief, State), Belief}.

step(_, #{measured := [], commits := Commits}) -> {measure, Commits};
step(#{two := Two, drift := Drift, holds := Holds} = Belief, State) ->
    case {is_same(State), Two + Drift >= ?SURE, [Gap || {Gap, Chance} <- Holds, Chance >= ?SURE, is_closed(Gap, State)]} of
        {true, _, _} -> no_change;
        {false, true, _} -> several;
        {false, false, [Gap | _]} -> {found, found(Gap, State)};
        {false, false, []} ->
            case is_exhausted(State) of
                true -> {found, found(likeliest(Holds), State)};
                false -> more(Belief, State)
            end
    end.

%% Whether the bad commit equals the good one within the bound, by a 90 % interval (Schuirmann 1987), as in any
%% comparison.
is_same(#{measured := Measured, commits := Commits, bound := Bound}) ->
    [#{log_ratio := Ratio, error := Error}] = [M || #{commit := Commit} = M <- ertslab_step_model:pooled(Measured), Commit =:= Commits],
    abs(Ratio) + 1.64 * Error < Bound.

%% Whether there are at least two readings for each commit that builds. Then only steps and effects of layout remain,
%% and measuring the likeliest commit against its parent decides.
is_exhausted(#{commits := Commits, measured := Measured, unbuildable := Unbuildable}) ->
    Buildable = lists:seq(1, Commits) -- Unbuildable,
    Buildable -- [Commit || #{commit := Commit} <- Measured] =:= [] andalso length(Measured) >= 2 * length(Buildable).

likeliest(Holds) ->
    {Gap, _} = lists:last(lists:keysort(2, Holds)),
    Gap.

%% No other commit in the gap can be measured. Its last one was measured.
is_closed({First, Last}, #{unbuildable := Unbuildable}) -> lists:seq(First, Last - 1) -- Unbuildable =:= [].

found({First, Last}, #{unbuildable := Unbuildable}) ->
    #{among => lists:seq(First, Last), culprit => Last,
      parent => hd([Commit || Commit <- lists:seq(First - 1, 0, -1), not lists:member(Commit, Unbuildable)])}.

more(Belief, #{measured := Measured, limit := Limit}) when length(Measured) >= Limit ->
    {unsure, ertslab_step_model:credible(Belief, ?SURE)};
more(Belief, #{commits := Commits, unbuildable := Unbuildable} = State) ->
    {_, Best} = lists:max([{taught(Commit, Belief, State) / cost(Commit, State), Commit}
                           || Commit <- lists:seq(1, Commits), not lists:member(Commit, Unbuildable)]),
    {measure, Best}.

%% The expected information of a reading, in bits: whether the step lies before the commit, as far as noise lets one
%% see it. (The factor is not the information of a normal channel but a bound of similar form, 0 without a signal and
%% 1 without noise.) Each earlier reading of the commit halves it, because the commit's layout stays the same.
taught(Commit, #{size := Size} = Belief, #{measured := Measured}) ->
    Times = length([again || #{commit := C} <- Measured, C =:= Commit]),
    Signal = Size / noise(Measured),
    bits(ertslab_step_model:before(Belief, Commit)) * (1 - math:exp(-Signal * Signal / 2)) * math:pow(0.5, Times).

noise(Measured) -> lists:max([0.001 | [Error || #{error := Error} <- Measured]]).

bits(Chance) when Chance =< 0.0; Chance >= 1.0 -> 0.0;
bits(Chance) -> -(Chance * math:log2(Chance) + (1 - Chance) * math:log2(1 - Chance)).

cost(Commit, #{built := Built, build_s := Build, measure_s := Measure}) ->
    case lists:member(Commit, Built) of
        true -> Measure;
        false -> Build + Measure
    end.
