%% @doc The correctness gate: before anything is timed, each arm of a comparison
%% runs each case once, and variants must compute the same. A fast wrong answer
%% is worth nothing, and one that is found after an hour has cost that hour.
-module(ertslab_gate).

-export([check/2, differing/1]).

-type outputs() :: [{Label :: binary(), [{Metric :: atom(), Digest :: binary()}]}].

%% @doc Runs every arm of every case once. Fails with a sentence where one does
%% not end well, or where the outputs of two variants differ (the values of a
%% swept parameter may lead to different outputs).
-spec check(ertslab_session:plan(), fun((non_neg_integer(), pos_integer()) -> ok)) -> ok.
check(#{cases := Cases} = Plan, Progress) ->
    lists:foreach(fun({Index, Case}) ->
                          ok = Progress(Index, length(Cases)),
                          check_case(Plan, Case)
                  end, lists:enumerate(0, Cases)).

check_case(#{arms := Arms, swept := Swept} = Plan, Case) ->
    Outputs = [{Label, outputs(Plan, Arm, Case)} || #{label := Label} = Arm <- Arms],
    case differing(Outputs) of
        {Metric, Label, Other} when Swept =:= null ->
            ertslab_error:failure("~ts of ~ts is not that of ~ts (~ts): these variants do not compute"
                                  " the same, so nothing was timed.",
                                  [Metric, Other, Label, ertslab_table:params(Case)]);
        _ -> ok
    end.

outputs(#{module := Module, timeout_ms := Timeout}, #{vm := VM, params := Params, label := Label}, Case) ->
    case ertslab_vm:in_fresh(VM, [], ertslab_measure, outputs, [Module, maps:merge(Case, Params)], Timeout) of
        {ok, Outputs} -> Outputs;
        {error, Reason} ->
            ok = ertslab_vm:must_answer(VM),
            ertslab_error:failure("~ts did not end well (~ts): ~ts. Nothing was timed.",
                                  [Label, ertslab_table:params(Case), ertslab_runner:reason_text(Reason)])
    end.

%% @doc The first metric whose output differs from the first arm's, with the two
%% labels.
-spec differing(outputs()) -> {Metric :: atom(), First :: binary(), Other :: binary()} | none.
differing([{First, Expected} | Others]) ->
    case [{Metric, First, Other} || {Other, Got} <- Others,
                                    {{Metric, A}, {Metric, B}} <- lists:zip(Expected, Got), A =/= B] of
        [Difference | _] -> Difference;
        [] -> none
    end.
