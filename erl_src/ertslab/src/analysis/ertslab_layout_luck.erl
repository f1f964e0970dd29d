%% @doc Whether a result depends on the order in which object files were linked: the ratios of the pairs of each
%% build ({@link ertslab_builds}), and a warning if the builds disagree. Pure.
-module(ertslab_layout_luck).

-export([by_build/3, warnings/2]).
-export_type([by_build/0]).

%% `ratio' is the median of the build's pairs, as a ratio to the baseline.
-type by_build() :: #{build := pos_integer(), ratio := float(), pairs := pos_integer()}.

-define(LEVEL, 0.05).

%% @doc The ratio of each build's pairs, from the values of the baseline and of
%% an arm by pair. `builds_p' is the p value of {@link ertslab_kruskal:p/1}. Empty for one build.
-spec by_build(#{pos_integer() => number()}, #{pos_integer() => number()}, pos_integer()) ->
          #{builds => [by_build()], builds_p => float()}.
by_build(_Base, _Own, 1) -> #{};
by_build(Base, Own, Builds) ->
    Logs = maps:groups_from_list(fun({Pair, _}) -> ertslab_builds:number(Pair, Builds) end, fun({_, Log}) -> Log end,
                                 [{Pair, math:log(Value) - math:log(maps:get(Pair, Base))}
                                  || {Pair, Value} <- maps:to_list(Own), is_map_key(Pair, Base)]),
    #{builds => [#{build => Build, ratio => math:exp(ertslab_stats:median(Of)), pairs => length(Of)}
                 || {Build, Of} <- lists:sort(maps:to_list(Logs))],
      builds_p => ertslab_kruskal:p(maps:values(Logs))}.

%% @doc A sentence for each row whose builds disagree by more than chance
%% explains at 5 %, divided by the number of tested rows
%% (Bonferroni), and by more than the smallest change of interest. The width of
%% the row's interval is no bound for it: the medians of a few pairs each are
%% often further apart than that by chance alone.
-spec warnings(ertslab_session:plan(), [{ertslab_experiment:params(), [map()]}]) -> [binary()].
warnings(#{same_within := Bound}, Cases) ->
    Rows = [{Params, Row} || {Params, Rows} <- Cases, #{builds := [_, _ | _]} = Row <- Rows],
    [ertslab_text:binary(sentence(Params, Row))
     || {Params, #{builds := Builds, builds_p := P} = Row} <- Rows,
        P * length(Rows) < ?LEVEL, spread(Builds) >= 1 + Bound];
warnings(#{}, _) -> [].

ratios(Builds) -> [Ratio || #{ratio := Ratio} <- Builds].

spread(Builds) -> lists:max(ratios(Builds)) / lists:min(ratios(Builds)).

sentence(Params, #{metric := Metric, label := Label, builds := Builds}) ->
    io_lib:format("Layout matters: ~ts of ~ts (~ts) is ~.3f on one build and ~.3f on another, more than"
                  " chance explains; the interval holds for these ~b builds only.",
                  [Metric, Label, ertslab_text:params(Params), lists:min(ratios(Builds)),
                   lists:max(ratios(Builds)), length(Builds)]).
