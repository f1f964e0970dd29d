%% @doc Several builds of each variant, which differ only in the order in which
%% their object files were linked.
%%
%% That order moves code relative to cache sets and branch predictors, and can
%% change the speed by more than a patch does (Mytkowicz et al. 2009, Producing
%% wrong data without doing anything obviously wrong). One build a variant is one
%% draw of that luck; with several, the pairs take them in turn, and the ratios
%% by build show whether the luck matters.
-module(ertslab_builds).

-export([chosen/2, of_pair/2, ids/1, by_build/3, warnings/2]).
-export_type([build/0, by_build/0]).

-type build() :: #{build_id := binary(), sha256 := binary(), executable := file:filename()}.
%% `ratio' is the median of the build's pairs, as a ratio to the baseline.
-type by_build() :: #{build := pos_integer(), ratio := float(), pairs := pos_integer()}.

-define(LEVEL, 0.05).

%% @doc The VM with the first so many of its builds. Fails where not so many are
%% there. With one it is the ordinary build, and the VM names no others.
-spec chosen(ertslab_vm:vm(), pos_integer()) -> ertslab_vm:vm().
chosen(VM, 1) -> maps:remove(builds, VM);
chosen(#{name := Name, release := Release} = VM, Wanted) ->
    Chosen = lists:sublist(maps:get(builds, VM, []), Wanted),
    length([File || #{executable := File} <- Chosen, filelib:is_regular(File)]) =:= Wanted orelse
        ertslab_error:failure("~ts of OTP ~b is not built ~b times; './build.sh otp --otp ~b --builds ~b'"
                              " does that.", [Name, Release, Wanted, Release, Wanted]),
    VM#{builds => Chosen}.

%% @doc The VM as that pair runs it: pair 1 on the first build, and so on in turn.
-spec of_pair(ertslab_vm:vm(), pos_integer()) -> ertslab_vm:vm().
of_pair(#{builds := Builds} = VM, Pair) ->
    maps:merge(VM, lists:nth(number(Pair, length(Builds)), Builds));
of_pair(VM, _Pair) -> VM.

number(Pair, Builds) -> (Pair - 1) rem Builds + 1.

%% @doc The build ids that runs of this VM may bear.
-spec ids(#{build_id := binary(), builds => [build()], _ => _}) -> [binary(), ...].
ids(#{builds := Builds}) -> [Id || #{build_id := Id} <- Builds];
ids(#{build_id := Id}) -> [Id].

%% @doc What the pairs of each build say, from the values of the baseline and of
%% an arm by pair; `builds_p' is the p value of {@link ertslab_kruskal:p/1}. Empty for one build.
-spec by_build(#{pos_integer() => number()}, #{pos_integer() => number()}, pos_integer()) ->
          #{builds => [by_build()], builds_p => float()}.
by_build(_Base, _Own, 1) -> #{};
by_build(Base, Own, Builds) ->
    Logs = maps:groups_from_list(fun({Pair, _}) -> number(Pair, Builds) end, fun({_, Log}) -> Log end,
                                 [{Pair, math:log(Value) - math:log(maps:get(Pair, Base))}
                                  || {Pair, Value} <- maps:to_list(Own), is_map_key(Pair, Base)]),
    #{builds => [#{build => Build, ratio => math:exp(ertslab_stats:median(Of)), pairs => length(Of)}
                 || {Build, Of} <- lists:sort(maps:to_list(Logs))],
      builds_p => ertslab_kruskal:p(maps:values(Logs))}.

%% @doc A sentence for each row whose builds disagree: by more than chance
%% explains at 5 %, divided by the number of rows that are looked at
%% (Bonferroni), and by more than the smallest change of interest. The width of
%% the row's interval is no measure for it: the medians of a few pairs each are
%% often further apart than that by chance alone.
-spec warnings(ertslab_session:plan(), [{ertslab_experiment:params(), [map()]}]) -> [binary()].
warnings(#{same_within := Bound}, Cases) ->
    Rows = [{Params, Row} || {Params, Rows} <- Cases, #{builds := [_, _ | _]} = Row <- Rows],
    [ertslab_error:text(sentence(Params, Row))
     || {Params, #{builds := Builds, builds_p := P} = Row} <- Rows,
        P * length(Rows) < ?LEVEL, spread(Builds) >= 1 + Bound];
warnings(#{}, _) -> [].

ratios(Builds) -> [Ratio || #{ratio := Ratio} <- Builds].

spread(Builds) -> lists:max(ratios(Builds)) / lists:min(ratios(Builds)).

sentence(Params, #{metric := Metric, label := Label, builds := Builds}) ->
    io_lib:format("Layout matters: ~ts of ~ts (~ts) is ~.3f on one build and ~.3f on another, more than"
                  " chance explains; the interval holds for these ~b builds only.",
                  [Metric, Label, ertslab_table:params(Params), lists:min(ratios(Builds)),
                   lists:max(ratios(Builds)), length(Builds)]).
