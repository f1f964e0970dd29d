%% @doc The correctness gate: before anything is timed, each arm of a comparison
%% runs each case once, and variants must compute the same. A fast wrong answer
%% is worth nothing, and one that is found after an hour has cost that hour.
-module(ertslab_output_check).

-export([check/2, differing/1]).

-type outputs() :: [{Label :: binary(), [{Metric :: atom(), Digest :: binary()}]}].

%% @doc Runs every arm of every case once. Fails with a sentence where one does
%% not end well, or where the outputs of two variants differ (the values of a
%% swept parameter may lead to different outputs).
-spec check(ertslab_session:plan(), fun((non_neg_integer(), pos_integer()) -> ok)) -> ok.
check(#{rounds := cases, cases := Cases, arms := Arms} = Plan, Progress) ->
    ByArm = [begin
                 ok = Progress(Index, length(Arms)),
                 {Label, outputs(Plan, Arm, Cases)}
             end || {Index, #{label := Label} = Arm} <- lists:enumerate(0, Arms)],
    lists:foreach(fun({Index, Case}) ->
                          ok = same(Plan, Case, [{Label, lists:nth(Index, Outputs)} || {Label, Outputs} <- ByArm])
                  end, lists:enumerate(Cases));
check(#{cases := Cases, arms := Arms} = Plan, Progress) ->
    lists:foreach(fun({Index, Case}) ->
                          ok = Progress(Index, length(Cases)),
                          ok = same(Plan, Case, [{Label, hd(outputs(Plan, Arm, [Case]))} || #{label := Label} = Arm <- Arms])
                  end, lists:enumerate(0, Cases)).

same(#{swept := Swept}, Case, Outputs) ->
    case differing(Outputs) of
        {Metric, Label, Other} when Swept =:= null ->
            ertslab_error:failure("~ts of ~ts is not that of ~ts (~ts): these variants do not compute"
                                  " the same, so nothing was timed.",
                                  [Metric, Other, Label, ertslab_text:params(Case)]);
        _ -> ok
    end.

%% Those of each case, from one VM.
outputs(#{timeout_ms := Timeout} = Plan, #{vm := VM, label := Label} = Arm, Cases) ->
    case ertslab_vm:start(VM) of
        {ok, Running} ->
            try [case_outputs(Plan, Running, Arm, Case, Timeout) || Case <- Cases]
            after ertslab_vm:stop(Running)
            end;
        {error, Reason} -> failed(VM, Label, hd(Cases), Reason)
    end.

case_outputs(#{module := Module}, Running, #{vm := VM, params := Params, label := Label}, Case, Timeout) ->
    case ertslab_vm:call(Running, ertslab_worker, outputs, [Module, maps:merge(Case, Params)], Timeout) of
        {ok, Outputs} -> Outputs;
        {error, Reason} -> failed(VM, Label, Case, Reason)
    end.

-spec failed(ertslab_inventory:vm(), binary(), ertslab_experiment:params(), term()) -> no_return().
failed(VM, Label, Case, Reason) ->
    ok = ertslab_vm:must_answer(VM),
    ertslab_error:failure("~ts did not end well (~ts): ~ts. Nothing was timed.",
                          [Label, ertslab_text:params(Case), ertslab_error:reason_text(Reason)]).

%% @doc The first metric whose output differs from the first arm's, with the two
%% labels.
-spec differing(outputs()) -> {Metric :: atom(), First :: binary(), Other :: binary()} | none.
differing([{First, Expected} | Others]) ->
    case [{Metric, First, Other} || {Other, Got} <- Others,
                                    {{Metric, A}, {Metric, B}} <- lists:zip(Expected, Got), A =/= B] of
        [Difference | _] -> Difference;
        [] -> none
    end.
