%% @doc Whether a comparison fails its call, for machines that watch over speed: `--fail-if "slower 2%"'.
-module(ertslab_fail_if).

-export([parsed/1, found/2, check/2]).
-export_type([bound/0]).

%% What must not be, and from which relative change on.
-type bound() :: {slower | changed, Share :: float()}.

%% @doc The bound that the words say.
-spec parsed(string()) -> bound().
parsed(Text) ->
    case re:run(Text, "^\\s*(slower|changed)\\s+(\\d+(?:\\.\\d+)?)\\s*%\\s*$", [{capture, all_but_first, list}]) of
        {match, [Kind, Digits]} -> {list_to_existing_atom(Kind), share(Digits)};
        nomatch -> ertslab_error:usage("--fail-if ~ts: write 'slower 2%' or 'changed 2%'", [Text])
    end.

share(Digits) ->
    {Number, []} = string:to_float(case lists:member($., Digits) of true -> Digits; false -> Digits ++ ".0" end),
    Number / 100.

%% @doc The rows that are so: those whose verdict is `changed' and whose ratio is beyond the bound. The control, and
%% what is void or unsure, never are.
-spec found(bound(), ertslab_result:summary()) -> [ertslab_result:row()].
found(Bound, #{cases := Cases, overall := Overall, plan := #{control := Control}}) ->
    [Row || #{verdict := changed, label := Label, ratio := #{estimate := Ratio}} = Row
                <- Overall ++ lists:append([Rows || #{rows := Rows} <- Cases]),
            Label =/= Control, beyond(Bound, Ratio)].

beyond({slower, Share}, Ratio) -> Ratio >= 1 + Share;
beyond({changed, Share}, Ratio) -> Ratio >= 1 + Share orelse Ratio =< 1 / (1 + Share).

%% @doc Ends the call with status 3 and a sentence where there are such, which the options name.
-spec check(map(), ertslab_result:summary()) -> ok.
check(#{fail_if := Text}, Summary) ->
    case found(parsed(Text), Summary) of
        [] -> ok;
        [#{metric := Metric, label := Label, ratio := #{estimate := Ratio}} | _] = Rows ->
            ertslab_error:beyond("~b results are beyond --fail-if ~ts; the first: ~ts of ~ts is ~.3f of the baseline's.",
                                 [length(Rows), Text, Metric, Label, Ratio])
    end;
check(#{}, _) -> ok.
