%% @doc What a reader must know in addition to the numbers.
-module(ertslab_warnings).

-export([all/5]).

%% @doc A sentence for each warning, the most important first.
-spec all(ertslab_session:plan(), [ertslab_session:run_line()], [ertslab_disturbed:replacement()],
          [map()], [ertslab_result:row()]) -> [binary()].
all(Plan, Runs, Disturbed, Steady, Rows) ->
    [ertslab_text:binary(Sentence)
     || Sentence <- quick(Plan) ++ differing_control(Plan, Rows) ++ maps:get(notes, Plan, []) ++ alike(Plan) ++ made(Plan)
            ++ crashed(Runs) ++ disturbed(Plan, Runs, Disturbed)
            ++ [unsteady(Plan, Result) || #{steady := false} = Result <- Steady]].

quick(#{exact := false, quick := true, pairs := Pairs}) ->
    [io_lib:format("This is a quick comparison: ~b pairs, and no correction for the number"
                   " of verdicts. Confirm it without --quick.", [Pairs])];
quick(_) -> [].

differing_control(#{quick := true, control := Control}, Rows) ->
    case [changed || #{label := Label, verdict := changed} <- Rows, Label =:= Control] of
        [] -> [];
        Differing ->
            [io_lib:format("The control itself differs in ~b of its results, by chance or by noise. Without"
                           " --quick that could make the comparison void.",
                           [length(Differing)])]
    end;
differing_control(_, _) -> [].

%% Finds arms with two names but the same file, flags and code. The control is meant to be that and is left out.
alike(#{arms := Arms, control := Control}) ->
    Known = [{Label, {Params, maps:with([build_id, sha256, flags, code, modules], VM)}}
             || #{label := Label, params := Params, vm := #{sha256 := _} = VM} <- Arms, Label =/= Control],
    [io_lib:format("~ts is the same as ~ts: the same emulator with the same flags and code. What differs there is noise.",
                   [Label, First])
     || {Nth, {Label, What}} <- lists:enumerate(Known), {First, Same} <- lists:sublist(Known, Nth - 1), Same =:= What].

%% Differences of arms that are not of one root.
made(#{arms := Arms}) -> ertslab_emulator_facts:differing([{Label, Made} || #{label := Label, made := Made} <- Arms]).

crashed(Runs) ->
    case [Run || #{<<"outcome">> := <<"crashed">>} = Run <- Runs] of
        [] -> [];
        [#{<<"label">> := Label, <<"reason">> := Reason} | _] = Crashed ->
            [io_lib:format("~b of ~b runs did not end well and are left out; the first was ~ts: ~ts.",
                           [length(Crashed), length(Runs), Label, Reason])]
    end.

%% Counts are not affected by disturbances.
disturbed(#{exact := true}, _, _) -> [];
disturbed(Plan, Runs, Disturbed) ->
    case [Reasons || #{<<"disturbed">> := [_ | _] = Reasons} <- Runs] of
        [] -> [];
        All ->
            Why = lists:join(", ", lists:usort(lists:append(All))),
            [io_lib:format("~b of ~b runs were disturbed (~ts)~ts.",
                           [length(All), length(Runs), Why, replaced(Plan, Disturbed)])]
    end.

replaced(#{replace_disturbed := true}, Disturbed) ->
    io_lib:format("; ~b pairs were left out and measured again, ~b beyond the limit were kept",
                  [length([D || #{replaced_by := By} = D <- Disturbed, By =/= none]),
                   length([D || #{replaced_by := none} = D <- Disturbed])]);
replaced(_, _) -> "".

unsteady(#{cases := Cases}, #{'case' := Case, metric := Metric, from := From, ratio := Ratio, arms := Arms, alike := Alike}) ->
    io_lib:format("No steady state: ~ts~ts is ~.1f % ~ts from iteration ~b on~ts.",
                  [Metric, of_case(lists:nth(Case + 1, Cases)), abs(Ratio - 1) * 100,
                   case Ratio > 1 of true -> "slower"; false -> "faster" end, From, in_arms([R || #{ratio := R} <- Arms], Alike)]).

%% An experiment may have no parameters.
of_case(Params) when map_size(Params) =:= 0 -> "";
of_case(Params) -> [" (", ertslab_text:params(Params), ")"].

in_arms([_, _ | _], true) -> ", in all arms alike. The verdict covers both parts of a run";
in_arms([_, _ | _] = Ratios, false) ->
    io_lib:format(", and not alike in all arms (~.3f to ~.3f of the values before). Runs of another length may give another verdict",
                  [lists:min(Ratios), lists:max(Ratios)]);
in_arms(_, _) -> "".
