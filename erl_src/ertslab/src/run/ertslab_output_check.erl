%% @doc Checks correctness before anything is timed: each arm of a comparison runs each case once, and all variants
%% must compute the same. A fast wrong answer is worthless, and finding it after an hour would waste that hour.
-module(ertslab_output_check).

-export([check/2, differing/1, at_fault/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {differs, Metric :: atom(), Label :: binary(), Baseline :: binary(), ertslab_experiment:params()}
                | {ended, Label :: binary(), ertslab_experiment:params(), Why :: term()}.
-type outputs() :: [{Label :: binary(), [{Metric :: atom(), ertslab_digest:digest()}]}].

%% @doc Runs every arm of every case once. Fails if one does not end normally, or if the outputs of
%% two variants differ (values of a swept parameter may give different outputs). Returns notes for the reader:
%% expressions whose values differ, and outputs too large to be compared whole.
-spec check(ertslab_session:plan(), fun((non_neg_integer(), pos_integer()) -> ok)) -> [binary()].
check(#{rounds := cases, cases := Cases, arms := Arms} = Plan, Progress) ->
    ByArm = [begin
                 ok = Progress(Index, length(Arms)),
                 {Label, outputs(Plan, Arm, Cases)}
             end || {Index, #{label := Label} = Arm} <- lists:enumerate(0, Arms)],
    notes([compared(Plan, Case, [{Label, lists:nth(Index, Outputs)} || {Label, Outputs} <- ByArm])
           || {Index, Case} <- lists:enumerate(Cases)]);
check(#{cases := Cases, arms := Arms} = Plan, Progress) ->
    notes([begin
               ok = Progress(Index, length(Cases)),
               compared(Plan, Case, [{Label, hd(outputs(Plan, Arm, [Case]))} || #{label := Label} = Arm <- Arms])
           end || {Index, Case} <- lists:enumerate(0, Cases)]).

notes(OfCases) -> [ertslab_text:binary(Note) || Note <- lists:uniq(lists:append(OfCases))].

compared(#{swept := Swept}, _Case, _Outputs) when Swept =/= null -> [];
compared(#{outputs := noted, control := Control}, _Case, Outputs) -> differing_values(Control, Outputs) ++ compared_in_part(Outputs);
compared(#{}, Case, Outputs) ->
    case differing(Outputs) of
        {Metric, Label, Other} ->
            ertslab_error:failure(?MODULE, {differs, Metric, Other, Label, Case});
        none -> compared_in_part(Outputs)
    end.

%% Expressions may differ in their values. If the control's value differs too, it depends on time or chance.
differing_values(Control, [{First, Value} | Others]) ->
    case [Label || {Label, Other} <- Others, Other =/= Value] of
        [] -> [];
        Differing ->
            case lists:member(Control, Differing) of
                true -> [["'", First, "' gives another value each time, so its value was not compared."]];
                false -> [["'", Label, "' gives another value than '", First, "'."] || Label <- Differing]
            end
    end.

compared_in_part([{First, Outputs} | _]) ->
    [io_lib:format("~ts of ~ts is too large to be compared whole; a part of it was.", [Metric, First])
     || {Metric, {in_part, _}} <- Outputs].

%% The outputs of each case, all from one VM.
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
    ertslab_error:failure(?MODULE, {ended, Label, Case, Reason}).

-spec format_error(reason()) -> unicode:chardata().
format_error({differs, Metric, Label, Baseline, Case}) ->
    io_lib:format("the arms ~ts and ~ts compute different results of the metric ~ts~ts, so nothing was timed. Only arms with the same"
                  " result are compared: if the order does not count, let run/2 sort its result after the timed part.",
                  [Baseline, Label, Metric, of_case(Case)]);
format_error({ended, Label, Case, Why}) ->
    [Label, " did not end well", of_case(Case), ": ", ertslab_crash:says(Why), ". Nothing was timed."].

of_case(Case) when map_size(Case) =:= 0 -> "";
of_case(Case) -> [" (", ertslab_text:params(Case), ")"].

%% @doc The label of the arm that did not end well, or differs from the arm before it.
-spec at_fault(reason()) -> binary().
at_fault({differs, _Metric, Label, _Baseline, _Case}) -> Label;
at_fault({ended, Label, _Case, _Why}) -> Label.

%% @doc The first metric whose output differs from the first arm's, with the labels of both arms.
-spec differing(outputs()) -> {Metric :: atom(), First :: binary(), Other :: binary()} | none.
differing([{First, Expected} | Others]) ->
    case [{Metric, First, Other} || {Other, Got} <- Others,
                                    {{Metric, A}, {Metric, B}} <- lists:zip(Expected, Got), A =/= B] of
        [Difference | _] -> Difference;
        [] -> none
    end.
