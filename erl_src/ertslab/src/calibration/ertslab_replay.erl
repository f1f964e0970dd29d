%% @doc Applies all estimators to the same comparisons, in simulated and in recorded noise: how often each reports a
%% change that does not exist, and how often one that does.
-module(ertslab_replay).

-export([all/1, comparisons/2, counts/4, judged/2]).
-export_type([trial/0, result/0]).

-type noise() :: ertslab_noise:name() | ertslab_recording:recording().
-type trial() :: #{noise := noise(), effect := float(), pairs := pos_integer()}.
%% The shares of comparisons that said `changed' (with an effect: in its direction) and that were void, by the names
%% of the estimators. `ok': at most 5 % are false.
-type result() :: #{noise := binary(), effect := float(), pairs := pos_integer(), comparisons := pos_integer(),
                    void := #{ertslab_estimate:name() => float()}, ok := boolean(), _ => _}.

-define(PAIRS, 30).
-define(EFFECTS, [0.0, 0.01, 0.02, 0.05]).

%% @doc All combinations of noise and effect, with effects from none to 5 %.
-spec all([ertslab_recording:recording()]) -> [trial()].
all(Recordings) ->
    [#{noise => Noise, effect => Effect, pairs => ?PAIRS}
     || Noise <- ertslab_noise:names() ++ Recordings, Effect <- ?EFFECTS].

%% @doc The number of comparisons of a trial, given the number wanted. For those with an effect a fifth is enough.
-spec comparisons(trial(), pos_integer()) -> pos_integer().
comparisons(#{effect := +0.0}, Wanted) -> Wanted;
comparisons(#{}, Wanted) -> max(1, Wanted div 5).

%% @doc The counts of the comparisons with numbers in a range, as in {@link ertslab_trial:counts/4}.
-spec counts(trial(), Seed :: integer(), Stream :: integer(), {pos_integer(), pos_integer()}) -> ertslab_trial:counts().
counts(Trial, Seed, Stream, {From, To}) ->
    ertslab_trial:merged([comparison(Trial, {Seed, Stream, Number}) || Number <- lists:seq(From, To)]).

comparison(#{effect := Effect} = Trial, Seed) ->
    Drawn = ertslab_simulation:comparison(Trial#{order => paired}, Seed),
    Counts = [{Key, Count} || Estimator <- ertslab_estimate:names(),
                              {Key, Count} <- by(Estimator, Effect, ertslab_simulation:summary(Drawn, Estimator))],
    maps:from_list([{comparisons, 1} | Counts]).

by(Estimator, Effect, #{cases := [#{rows := Rows}], void := Void}) ->
    [{{changed, Estimator}, count(found(Effect, Rows))}, {{void, Estimator}, count(Void =/= [])}].

%% Without an effect: whether any row is called changed. With an effect: whether its row is, in its direction.
found(+0.0, Rows) -> lists:any(fun(#{verdict := Verdict}) -> Verdict =:= changed end, Rows);
found(_, Rows) ->
    lists:any(fun(#{metric := <<"first">>, label := <<"variant">>, verdict := changed, ratio := #{estimate := Estimate}}) -> Estimate < 1;
                 (#{}) -> false
              end, Rows).

count(true) -> 1;
count(false) -> 0.

%% @doc The trial with its rates, and whether these are within the promised limits.
-spec judged(trial(), ertslab_trial:counts()) -> result().
judged(#{noise := Noise, effect := Effect, pairs := Pairs}, #{comparisons := N} = Counts) ->
    Rate = fun(What, Estimator) -> maps:get({What, Estimator}, Counts) / N end,
    By = fun(What) -> maps:from_list([{Name, Rate(What, Name)} || Name <- ertslab_estimate:names()]) end,
    maps:merge(By(changed),
               #{noise => name(Noise), effect => Effect, pairs => Pairs, comparisons => N, void => By(void),
                 ok => Effect > 0 orelse lists:all(fun(Name) -> ertslab_selftest_rates:rate(maps:get({changed, Name}, Counts), N) end,
                                                   [Name || Name <- ertslab_estimate:names(), ertslab_estimate:is_promised(Name)])}).

name(#{name := Name}) -> Name;
name(Name) -> atom_to_binary(Name).
