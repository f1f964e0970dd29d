%% @doc Runs that the machine disturbed, and the measurements that replace them.
%%
%% The rule is set before the first run and never looks at a measured value: a
%% run is disturbed when, while it ran, the hypervisor took away over 1 % of
%% its time (and over 20 ms), other programs used over 10 % of a core (and over
%% 50 ms), or the machine read pages back from swap. A pair with a disturbed
%% run is measured again, whole, once, after all others. In each case at most a quarter of
%% the pairs are replaced, the first ones. The disturbed pair stays in
%% samples.jsonl and is left out of the analysis.
-module(ertslab_disturbed).

-export([reasons/2, replacements/2, runs/2, left_out/2, is_left_out/3, run_case/1]).
-export_type([left_out/0]).
-export_type([replacement/0]).

%% replaced_by: the number of the pair that replaces it, `none' for pairs beyond the quarter.
-type replacement() :: #{'case' := ertslab_schedule:run_case(), pair := pos_integer(),
                         why := [binary()], replaced_by := pos_integer() | none}.
-type left_out() :: #{{ertslab_schedule:run_case(), pos_integer()} => true}.

-define(STOLEN_SHARE, 0.01).
-define(STOLEN_MS, 20).
-define(OTHERS_SHARE, 0.10).
-define(OTHERS_MS, 50).
-define(REPLACED_SHARE, 0.25).

%% @doc Why a run of that many milliseconds counts as disturbed; the empty list if it does not.
-spec reasons(ertslab_readings:readings(), number()) -> [binary()].
reasons(#{steal_ms := Stolen, others_ms := Others, swapped_in := Pages}, Duration) ->
    [<<"the hypervisor took time away">> || over(Stolen, Duration, ?STOLEN_SHARE, ?STOLEN_MS)]
        ++ [<<"other programs ran">> || over(Others, Duration, ?OTHERS_SHARE, ?OTHERS_MS)]
        ++ [<<"the machine swapped">> || over(Pages, Duration, 0, 0)].

over(null, _, _, _) -> false;
over(Value, Duration, Share, Least) -> Value > Least andalso Value > Share * Duration.

%% @doc The disturbed pairs of the plan's own schedule, by case and pair.
-spec replacements(ertslab_session:plan(), [ertslab_session:run_line()]) -> [replacement()].
replacements(#{pairs := Pairs} = Plan, Runs) ->
    Why = lists:foldl(fun why/2, #{}, Runs),
    ByCase = maps:groups_from_list(fun({{Case, _}, _}) -> Case end,
                                   [Entry || {{_, Pair}, _} = Entry <- lists:sort(maps:to_list(Why)),
                                             Pair =< Pairs]),
    [#{'case' => Case, pair => Pair, why => lists:usort(Reasons),
       replaced_by => replaced_by(Plan, Index)}
     || {_, Entries} <- lists:sort(maps:to_list(ByCase)),
        {Index, {{Case, Pair}, Reasons}} <- lists:enumerate(Entries)].

why(#{<<"disturbed">> := [_ | _] = Reasons, <<"case">> := Case, <<"pair">> := Pair}, Why) ->
    maps:update_with({run_case(Case), Pair}, fun(Others) -> Reasons ++ Others end, Reasons, Why);
why(_, Why) -> Why.

%% @doc The case of a run, as read from a file.
-spec run_case(non_neg_integer() | binary()) -> ertslab_schedule:run_case().
run_case(<<"all">>) -> all;
run_case(Case) -> Case.

%% If nothing is measured again, as for floors, the record still lists what was disturbed.
replaced_by(#{replace_disturbed := false}, _Index) -> none;
replaced_by(#{pairs := Pairs}, Index) ->
    case Index =< ceil(?REPLACED_SHARE * Pairs) of
        true -> Pairs + Index;
        false -> none
    end.

%% @doc The replacing runs, numbered after those of the schedule.
-spec runs(ertslab_session:plan(), [replacement()]) -> [ertslab_schedule:run()].
runs(Plan, Replacements) ->
    ertslab_schedule:replacing(Plan, [{Pair, Case} || #{'case' := Case, replaced_by := Pair} <- Replacements,
                                                      Pair =/= none]).

%% @doc The pairs that are not analysed: those whose replacement was measured.
-spec left_out([replacement()], [ertslab_session:run_line()]) -> left_out().
left_out(Replacements, Runs) ->
    Measured = maps:from_list([{{run_case(Case), Pair}, true} || #{<<"case">> := Case, <<"pair">> := Pair} <- Runs]),
    maps:from_list([{{Case, Pair}, true} || #{'case' := Case, pair := Pair, replaced_by := By} <- Replacements,
                                            is_map_key({Case, By}, Measured)]).

%% @doc Whether a pair of a case is not analysed.
-spec is_left_out(non_neg_integer(), pos_integer(), left_out()) -> boolean().
is_left_out(Case, Pair, LeftOut) -> is_map_key({Case, Pair}, LeftOut) orelse is_map_key({all, Pair}, LeftOut).
