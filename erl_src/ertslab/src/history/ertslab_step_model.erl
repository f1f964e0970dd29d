%% @doc Estimates at which commit of a history a program became slower, from readings of some of the commits. Pure.
%%
%% Each measured commit has a log ratio to one build, the anchor, with its standard error. Four hypotheses are
%% compared: nothing changed; one step at some commit; two steps; a drift over the whole history. In each of them
%% every build, the anchor included, also has a lasting deviation of its own, because its code is laid out
%% differently. The size of these deviations is not known, so several sizes are weighed.
%%
%% The model is linear with normal noise, so the likelihood of a hypothesis is that of a linear model whose
%% coefficients (the anchor's deviation, the steps) have normal priors. It is computed observation by observation
%% (Bishop 2006, Pattern Recognition and Machine Learning, 3.3 and 3.5).
-module(ertslab_step_model).

-export([belief/2, chances/1, credible/2, before/2, pooled/1]).
-export_type([measured/0, belief/0, gap/0]).

%% `commit' counts from 1, which is the first commit after the good one.
-type measured() :: #{commit := pos_integer(), log_ratio := float(), error := float()}.
%% The commits between two measured neighbours, including the second, which the readings cannot tell apart.
-type gap() :: {First :: pos_integer(), Last :: pos_integer()}.
%% The probabilities of the four hypotheses. `holds': for each gap, the probability that a step is in it; `first':
%% that the first step is in it. `size': the largest log ratio that was measured.
-type belief() :: #{none := float(), one := float(), two := float(), drift := float(),
                    holds := [{gap(), float()}], first := [{gap(), float()}], size := float()}.

%% Prior probabilities. Nobody bisects without a reason, so that of no change is low.
-define(PRIOR_NONE, 0.2).
-define(PRIOR_ONE, 0.5).
-define(PRIOR_TWO, 0.15).
-define(PRIOR_DRIFT, 0.15).
%% The standard deviation of steps, as a log ratio. If the largest measured change is more than ?STEPS of them, they are larger:
%% else two steps, or a drift, would explain a large step better than one.
-define(STEP, 0.05).
-define(STEPS, 3).
%% Standard deviations of the effect of layout on a build, with their prior probabilities.
-define(LAYOUT, [{0.001, 0.35}, {0.003, 0.35}, {0.01, 0.2}, {0.03, 0.1}]).

%% @doc The posterior belief about a history of that many commits.
-spec belief(pos_integer(), [measured()]) -> belief().
belief(Commits, Measured) ->
    Gaps = gaps(Commits, Measured),
    Size = step_size(Measured),
    Step = max(?STEP, Size / ?STEPS),
    Weighed = [{Story, Steps, log_sum([math:log(Prior * Chance) + evidence(columns(Steps), Step, Layout, Measured)
                                       || {Layout, Chance} <- ?LAYOUT])}
               || {Story, Steps, Prior} <- stories(Gaps, Commits), Prior > 0],
    Total = log_sum([Log || {_, _, Log} <- Weighed]),
    Chances = [{Story, Steps, math:exp(Log - Total)} || {Story, Steps, Log} <- Weighed],
    Of = fun(Wanted) -> lists:sum([Chance || {Story, _, Chance} <- Chances, Story =:= Wanted]) end,
    #{none => Of(none), one => Of(one), two => Of(two), drift => Of(drift), size => Size,
      holds => [{Gap, lists:sum([Chance || {_, Steps, Chance} <- Chances, lists:member({step, Gap}, Steps)])} || Gap <- Gaps],
      first => [{Gap, lists:sum([Chance || {_, [{step, G} | _], Chance} <- Chances, G =:= Gap])} || Gap <- Gaps]}.

gaps(Commits, Measured) ->
    Ends = lists:usort([Commits | [Commit || #{commit := Commit} <- Measured]]),
    lists:zip([1 | [End + 1 || End <- lists:droplast(Ends)]], Ends).

length_of({First, Last}) -> Last - First + 1.

%% Each hypothesis with its steps and its prior probability.
stories(Gaps, Commits) ->
    Pairs = max(1, Commits * (Commits - 1) div 2),
    [{none, [], ?PRIOR_NONE}, {drift, [{drift, Commits}], ?PRIOR_DRIFT}]
        ++ [{one, [{step, Gap}], ?PRIOR_ONE * length_of(Gap) / Commits} || Gap <- Gaps]
        ++ [{two, [{step, A}, {step, B}], ?PRIOR_TWO * pairs(A, B) / Pairs} || A <- Gaps, B <- Gaps, A =< B].

pairs(Gap, Gap) -> length_of(Gap) * (length_of(Gap) - 1) div 2;
pairs(A, B) -> length_of(A) * length_of(B).

%% The factors of the coefficients at a commit.
columns(Steps) -> fun(Commit) -> [1.0 | [column(Step, Commit) || Step <- Steps]] end.

column({step, {_, Last}}, Commit) when Commit >= Last -> 1.0;
column({step, _}, _) -> 0.0;
column({drift, Commits}, Commit) -> Commit / Commits.

%% The log likelihood of the readings. Two readings of one commit have the same layout, so they are pooled.
evidence(Columns, Step, Layout, Measured) ->
    Width = length(Columns(1)),
    Prior = [[case {I, J} of {1, 1} -> Layout * Layout; {I, I} -> Step * Step; _ -> 0.0 end || J <- lists:seq(1, Width)]
             || I <- lists:seq(1, Width)],
    {_, _, Log} = lists:foldl(fun(#{commit := Commit, log_ratio := Y, error := Error}, State) ->
                                      observed(Columns(Commit), Y, Error * Error + Layout * Layout, State)
                              end, {[0.0 || _ <- Prior], Prior, 0.0}, pooled(Measured)),
    Log.

observed(X, Y, Variance, {Mean, Covariance, Log}) ->
    PX = [dot(Row, X) || Row <- Covariance],
    S = Variance + dot(X, PX),
    Surprise = Y - dot(X, Mean),
    Gain = [Part / S || Part <- PX],
    {[M + G * Surprise || {M, G} <- lists:zip(Mean, Gain)],
     [[C - G * P || {C, P} <- lists:zip(Row, PX)] || {Row, G} <- lists:zip(Covariance, Gain)],
     Log - 0.5 * (math:log(2 * math:pi() * S) + Surprise * Surprise / S)}.

dot(A, B) -> lists:sum(lists:zipwith(fun(X, Y) -> X * Y end, A, B)).

%% @doc The readings of each commit pooled into one.
-spec pooled([measured()]) -> [measured()].
pooled(Measured) ->
    Groups = maps:groups_from_list(fun(#{commit := Commit}) -> Commit end, Measured),
    [mean(Commit, Readings) || {Commit, Readings} <- lists:sort(maps:to_list(Groups))].

mean(Commit, Readings) ->
    Weights = [1 / (Error * Error) || #{error := Error} <- Readings],
    Sum = lists:sum(Weights),
    #{commit => Commit, error => 1 / math:sqrt(Sum),
      log_ratio => dot(Weights, [Y || #{log_ratio := Y} <- Readings]) / Sum}.

log_sum(Logs) ->
    Most = lists:max(Logs),
    Most + math:log(lists:sum([math:exp(Log - Most) || Log <- Logs])).

%% The largest change from the good commit that was measured.
step_size([]) -> ?STEP;
step_size(Measured) ->
    Ratios = [Y || #{log_ratio := Y} <- pooled(Measured)],
    lists:max([abs(Y) || Y <- Ratios]).

%% @doc For each commit the probability that a step is there.
-spec chances(belief()) -> [{pos_integer(), float()}].
chances(#{holds := Holds}) ->
    [{Commit, Chance / length_of(Gap)} || {{First, Last} = Gap, Chance} <- Holds, Commit <- lists:seq(First, Last)].

%% @doc The smallest set of commits that has that share of the probability of all steps, in the order of the commits.
-spec credible(belief(), float()) -> [pos_integer()].
credible(Belief, Share) ->
    Chances = chances(Belief),
    lists:sort(taken(lists:reverse(lists:keysort(2, Chances)), Share * lists:sum([Chance || {_, Chance} <- Chances]))).

taken([{Commit, Share} | Others], Wanted) when Wanted > 1.0e-9 -> [Commit | taken(Others, Wanted - Share)];
taken(_, _) -> [].

%% @doc The probability that the change began at that commit or earlier.
-spec before(belief(), pos_integer()) -> float().
before(#{first := First, drift := Drift}, Commit) ->
    {_, Commits} = element(1, lists:last(First)),
    min(1.0, lists:sum([Chance * share(Gap, Commit) || {Gap, Chance} <- First]) + Drift * Commit / Commits).

share({First, Last} = Gap, Commit) -> max(0, min(Commit, Last) - First + 1) / length_of(Gap).
