%% @doc Both estimators on the same comparisons, in made-up and in recorded noise: how often each
%% finds what is not there, and what is.
-module(ertslab_replay).

-export([all/1, comparisons/2, counts/4, judged/2]).
-export_type([trial/0, result/0]).

-type noise() :: ertslab_noise:name() | ertslab_recording:recording().
-type trial() :: #{noise := noise(), effect := float(), pairs := pos_integer()}.
%% How many of so many comparisons said `changed' and (with an effect: in its direction)
%% how many were void, by each estimator. `ok': false ones are at most 5 %.
-type result() :: #{noise := binary(), effect := float(), pairs := pos_integer(), comparisons := pos_integer(),
                    typical := float(), floor := float(), void := #{typical := float(), floor := float()}, ok := boolean()}.

-define(PAIRS, 30).
-define(EFFECTS, [0.0, 0.01, 0.02, 0.05]).

%% @doc Each kind of noise with each effect, from none to 5 %.
-spec all([ertslab_recording:recording()]) -> [trial()].
all(Recordings) ->
    [#{noise => Noise, effect => Effect, pairs => ?PAIRS}
     || Noise <- ertslab_noise:names() ++ Recordings, Effect <- ?EFFECTS].

%% @doc How many comparisons a trial draws where so many are wanted: of those with an effect a fifth is enough.
-spec comparisons(trial(), pos_integer()) -> pos_integer().
comparisons(#{effect := +0.0}, Wanted) -> Wanted;
comparisons(#{}, Wanted) -> max(1, Wanted div 5).

%% @doc The counts of the comparisons from one number to another, as
%% {@link ertslab_trial:counts/4}.
-spec counts(trial(), Seed :: integer(), Stream :: integer(), {pos_integer(), pos_integer()}) -> ertslab_trial:counts().
counts(Trial, Seed, Stream, {From, To}) ->
    ertslab_trial:merged([comparison(Trial, {Seed, Stream, Number}) || Number <- lists:seq(From, To)]).

comparison(#{effect := Effect} = Trial, Seed) ->
    Drawn = ertslab_simulation:comparison(Trial#{order => paired}, Seed),
    Counts = [{Key, Count} || Estimator <- [typical, floor],
                              {Key, Count} <- by(Estimator, Effect, ertslab_simulation:summary(Drawn, Estimator))],
    maps:from_list([{comparisons, 1} | Counts]).

by(Estimator, Effect, #{cases := [#{rows := Rows}], void := Void}) ->
    [{{changed, Estimator}, count(found(Effect, Rows))}, {{void, Estimator}, count(Void =/= [])}].

%% Without an effect, anything that is called changed; with one, its row, in its direction.
found(+0.0, Rows) -> lists:any(fun(#{verdict := Verdict}) -> Verdict =:= changed end, Rows);
found(_, Rows) ->
    lists:any(fun(#{metric := first, label := ~"variant", verdict := changed, ratio := #{estimate := Estimate}}) -> Estimate < 1;
                 (#{}) -> false
              end, Rows).

count(true) -> 1;
count(false) -> 0.

%% @doc The trial with its rates, and whether the floor's are what was promised.
-spec judged(trial(), ertslab_trial:counts()) -> result().
judged(#{noise := Noise, effect := Effect, pairs := Pairs}, #{comparisons := N} = Counts) ->
    Rate = fun(What, Estimator) -> maps:get({What, Estimator}, Counts) / N end,
    #{noise => name(Noise), effect => Effect, pairs => Pairs, comparisons => N,
      typical => Rate(changed, typical), floor => Rate(changed, floor),
      void => #{typical => Rate(void, typical), floor => Rate(void, floor)},
      ok => Effect > 0 orelse ertslab_selftest_rates:rate(maps:get({changed, floor}, Counts), N)}.

name(#{name := Name}) -> Name;
name(Name) -> atom_to_binary(Name).
