%% @doc The trials of the self-test and their counts.
%%
%% A trial is one kind of comparison drawn many times: identical arms in some kind of noise, or a variant of known
%% effect. Each comparison has its own seed, so a range of them can be counted independently of the rest.
-module(ertslab_trial).

-export([all/0, counts/4, merged/1]).
-export_type([trial/0, counts/0]).

-type trial() :: #{kind := identical | power, noise := ertslab_noise:name(),
                   pairs := pos_integer(), effect := float()}.

%% `comparisons' is the number drawn. For identical arms: `changed' counts comparisons in which a row is called
%% changed; `void' those whose control is; `pooled' and `sequential' those that the wrong analyses call changed;
%% `rows' all rows, and `same' the rows called the same. With an effect, for its row: `changed' (in the right
%% direction), `void', `same'.
-type counts() :: #{atom() => non_neg_integer()}.

-define(PAIRS, 20).
-define(POWER_PAIRS, [10, 20, 40]).
-define(POWER_EFFECTS, [0.01, 0.02, 0.05, 0.10]).

%% @doc All trials, in the order of the report.
-spec all() -> [trial()].
all() ->
    [#{kind => identical, noise => Noise, pairs => ?PAIRS, effect => 0.0}
     || Noise <- ertslab_noise:names()]
        ++ [#{kind => power, noise => independent, pairs => Pairs, effect => Effect}
            || Pairs <- ?POWER_PAIRS, Effect <- ?POWER_EFFECTS].

%% @doc The counts of the comparisons with numbers in a range. `Stream' separates the trials of one seed.
-spec counts(trial(), Seed :: integer(), Stream :: integer(), {pos_integer(), pos_integer()}) ->
          counts().
counts(Trial, Seed, Stream, {From, To}) ->
    merged([comparison(Trial, {Seed, Stream, Number}) || Number <- lists:seq(From, To)]).

%% @doc The sum of counts.
-spec merged([counts()]) -> counts().
merged(Counts) ->
    lists:foldl(fun(One, Sum) -> maps:merge_with(fun(_, A, B) -> A + B end, One, Sum) end,
                #{}, Counts).

comparison(#{kind := identical} = Trial, Seed) ->
    Paired = ertslab_simulation:comparison(Trial#{order => paired}, Seed),
    Sequential = ertslab_simulation:comparison(Trial#{order => sequential}, Seed),
    Rows = rows(Summary = ertslab_simulation:summary(Paired)),
    #{comparisons => 1,
      changed => count(any_changed(Rows)),
      void => count(is_void(Summary)),
      rows => length(Rows),
      same => length([same || #{verdict := same} <- Rows]),
      pooled => count(ertslab_naive_analysis:any_changed(Paired)),
      sequential => count(differs(ertslab_simulation:summary(Sequential)))};
comparison(#{kind := power} = Trial, Seed) ->
    Summary = ertslab_simulation:summary(
                ertslab_simulation:comparison(Trial#{order => paired}, Seed)),
    [#{verdict := Verdict, ratio := #{estimate := Estimate}}] =
        [Row || #{metric := <<"first">>, label := <<"variant">>} = Row <- rows(Summary)],
    #{comparisons => 1,
      changed => count(Verdict =:= changed andalso Estimate < 1),
      void => count(is_void(Summary)),
      same => count(Verdict =:= same)}.

%% The rows that are judged: all except the baseline's.
rows(#{cases := [#{rows := Rows}]}) -> [Row || #{ratio := #{}} = Row <- Rows].

any_changed(Rows) -> lists:any(fun(#{verdict := Verdict}) -> Verdict =:= changed end, Rows).

is_void(#{void := Void}) -> Void =/= [].

differs(Summary) -> is_void(Summary) orelse any_changed(rows(Summary)).

count(true) -> 1;
count(false) -> 0.
