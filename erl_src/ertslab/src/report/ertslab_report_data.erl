%% @doc The data behind a report: one folder of a comparison, read and checked.
%%
%% All checks for wrong or missing contents of the files are made here, so that the modules that print can rely on the
%% types. Folders of older versions lack some parts; these are empty lists or `none'.
-module(ertslab_report_data).

-include_lib("kernel/include/file.hrl").

-export([read/1, of_summary/1]).
-export_type([data/0, row/0, ratio/0, folder_case/0, point/0, object/0]).

-type object() :: #{binary() => term()}.
%% `low' and `high' bound the interval of 95 %; `none' where the ratio is exact
%% or the pairs are too few.
-type ratio() :: #{estimate := number(), low := number() | none, high := number() | none,
                   exact := boolean()}.
%% `value' is by the plan's estimator. `other' is the ratio by the other estimator, and whether the two disagree.
-type other() :: #{estimator := ertslab_estimate:name(), ratio := ratio(), disagrees := boolean()}.
%% `slope' is the interval of a value that is a slope. `floor' is the interval of the A/A control for the same case
%% and metric. `builds' is the ratio of each layout if there were several. `quick': from few pairs, so its verdict is a guess.
-type row() :: #{metric := binary(), label := binary(), role := baseline | control | compared,
                 unit := binary(), value := number() | none, other := other() | none, ratio := ratio() | none,
                 slope := {number(), number()} | none, verdict := binary(), more := none | pos_integer() | more_than_1000,
                 floor := {number(), number()} | none, builds := [number()], quick => true}.
-type folder_case() :: #{index := non_neg_integer(), params := binary(), rows := [row()],
                         contrasts := [{Label :: binary(), Says :: binary(), ratio()}]}.
%% One run's number for a metric, by the plan's estimator, and the values that it was made from. `aside' marks a pair
%% that was measured again, which the analysis leaves out.
-type point() :: #{run := pos_integer(), arm := non_neg_integer(), value := number(),
                   iterations := [number(), ...], aside := boolean()}.
-type data() :: #{dir := file:filename(), name := binary(), measured := binary(),
                  plan := object(), arms := [object()], cases := [folder_case()],
                  overall := [folder_case()],
                  baseline := binary(), control := binary() | none, same_within := float(),
                  void := [binary()], warnings := [binary()], crashed := [object()],
                  steady := [object()], disturbed := [object()], memory := [object()],
                  speed := [ertslab_speeds:point()], speeds := binary() | none, runs := [object()], manifest := object() | none,
                  points := #{{non_neg_integer(), binary()} => [point()]}}.

%% The bound of folders whose plan does not name one.
-define(SAME_WITHIN, 0.01).

%% @doc Reads a folder, or returns a sentence that says why it cannot be reported.
-spec read(file:filename()) -> {ok, data()} | {error, binary()}.
read(Dir) ->
    try {ok, folder(Dir, filelib:is_regular(file(Dir, "summary.json")))}
    catch throw:{failure, Sentence} -> {error, Sentence}
    end.

%% @doc The same from the contents of a summary file alone. What only the folder has is missing: the runs and their
%% values, and what the VMs were built from.
-spec of_summary(object()) -> data().
of_summary(Summary) -> (data({"", <<"">>}, Summary, #{}, []))#{manifest => none, points => #{}}.

file(Dir, Name) -> ertslab_session:file(Dir, Name).

folder(Dir, true) ->
    Summary = supported(decode(file(Dir, "summary.json")), file(Dir, "summary.json")),
    Session = optional(file(Dir, "session.json"), #{}),
    #{samples := Samples, runs := Runs} = ertslab_session:read(Dir),
    Manifest = optional(file(Dir, "manifest.json"), none),
    #{disturbed := Disturbed, plan := Plan} = Data =
        shaped(fun() -> data({Dir, modified(file(Dir, "summary.json"))}, Summary, Session, Runs) end, "~ts is not the summary of a comparison.",
               file(Dir, "summary.json")),
    Points = shaped(fun() -> points(Plan, Samples, Runs, Disturbed) end, "~ts holds a line that is no sample of a run.",
                    file(Dir, "samples.jsonl")),
    Data#{manifest => Manifest, points => Points};
folder(Dir, false) ->
    case {filelib:is_dir(Dir), filelib:is_regular(file(Dir, "session.json"))} of
        {false, _} -> ertslab_error:failure("~ts: there is no such folder.", [Dir]);
        {true, false} ->
            ertslab_error:failure("~ts is no folder of a comparison: it has neither summary.json"
                                  " nor session.json.", [Dir]);
        {true, true} -> unfinished(Dir)
    end.

%% A mismatch means that ertslab did not write this file.
shaped(Read, Complaint, File) ->
    try Read()
    catch error:_ -> ertslab_error:failure(Complaint, [File])
    end.

-spec unfinished(file:filename()) -> no_return().
unfinished(Dir) ->
    Session = supported(decode(file(Dir, "session.json")), file(Dir, "session.json")),
    Words = [Word || Word <- list(<<"command">>, Session), is_binary(Word)],
    Current = ertslab_session:format(),
    {Says, More} = to_finish(maps:get(<<"format">>, Session, Current), Current),
    ertslab_error:failure("~ts is a comparison that ~ts: ~ts",
                          [Dir, Says, ertslab_report_value:command(Words, [<<"--out">>, ertslab_error:text(Dir) | More])]).

%% Runs that an older ertslab made cannot be mixed with runs of this one.
to_finish(Older, Current) when Older < Current -> {"an older ertslab did not finish; begin it anew with", [<<"--force">>]};
to_finish(_, _) -> {"is not finished; finish it with", []}.

optional(File, Default) ->
    case filelib:is_regular(File) of
        true -> object(decode(File), File);
        false -> Default
    end.

decode(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            try decoded(Text)
            catch error:Reason:Stack ->
                    ertslab_error:failure("~ts, line ~b: ~ts.",
                                          [File, line(Text, position(Stack)), damage(Reason)])
            end;
        {error, Reason} ->
            ertslab_error:failure("cannot read ~ts: ~ts.", [File, file:format_error(Reason)])
    end.

%% Rejects integers that are too large to become a float.
decoded(Text) ->
    {Value, ok, Rest} = json:decode(Text, ok, #{integer => fun computable/1}),
    true = string:is_empty(string:trim(Rest)),
    Value.

computable(Digits) ->
    Integer = binary_to_integer(Digits),
    true = is_float(float(Integer)),
    Integer.

damage(unexpected_end) -> "the file is cut off here";
damage(_) -> "this is no JSON".

%% The place where stdlib's parser stopped, which it gives in the extra information of its error.
position([{_, _, _, Info} | _]) ->
    case proplists:get_value(error_info, Info) of
        #{cause := #{position := Position}} -> Position;
        _ -> end_of_file
    end.

line(Text, end_of_file) -> line(string:trim(Text, trailing), byte_size(string:trim(Text, trailing)));
line(Text, Position) ->
    length(binary:matches(binary:part(Text, 0, min(Position, byte_size(Text))), <<"\n">>)) + 1.

object(Object, _File) when is_map(Object) -> Object;
object(_, File) -> ertslab_error:failure("~ts holds no JSON object.", [File]).

%% A plan carries a format number, as a summary does.
supported(Object0, File) ->
    Object = object(Object0, File),
    Current = ertslab_session:format(),
    Formats = [Format || #{<<"format">> := Format} <- [Object, maps:get(<<"plan">>, Object, #{})]],
    case [Format || Format <- Formats, not is_integer(Format) orelse Format < 1 orelse Format > Current] of
        [] -> Object;
        [Other | _] ->
            ertslab_error:failure("~ts has the format ~0tp, and this ertslab reads formats up to ~b;"
                                  " read it with the version that wrote it, or a newer one.",
                                  [File, Other, Current])
    end.

data({Dir, Measured}, #{<<"plan">> := Plan0, <<"arms">> := Arms0, <<"cases">> := Cases} = Summary, Session, Runs) ->
    #{<<"baseline_label">> := Baseline} = Plan = plan(Plan0),
    Arms = arms(Arms0, list(<<"arms">>, Session)),
    Control = control(Plan, Arms, Baseline),
    #{dir => Dir, name => ertslab_error:text(filename:basename(filename:absname(Dir))),
      measured => Measured,
      plan => Plan, arms => Arms, baseline => Baseline, control => Control,
      same_within => number_or(?SAME_WITHIN, maps:get(<<"same_within">>, Plan, null)),
      cases => [as_guessed(Plan, folder_case(Index, Case, {Baseline, Control}))
                || {Index, Case} <- lists:enumerate(0, Cases)],
      overall => [as_guessed(Plan, Case) || Case <- overall(length(Cases), objects(<<"overall">>, Summary), {Baseline, Control})],
      void => texts(<<"void">>, Summary), warnings => texts(<<"warnings">>, Summary),
      crashed => objects(<<"crashed">>, Summary), disturbed => objects(<<"disturbed">>, Summary),
      steady => objects(<<"steady">>, Summary), memory => objects(<<"memory">>, Summary),
      speed => ertslab_speeds:of_runs(Runs),
      speeds => speeds(maps:get(<<"speeds">>, Summary, null)), runs => in_order(Runs)}.

%% Only a machine with exactly two speeds gets a sentence.
speeds(#{<<"speeds">> := 2, <<"apart">> := Apart, <<"slow_share">> := Share, <<"changing_ms">> := Changing})
  when is_number(Apart), is_number(Share), is_number(Changing) orelse Changing =:= null ->
    ertslab_speeds:says(#{speeds => 2, apart => Apart, slow_share => Share, changing_ms => Changing});
speeds(_) -> none.

%% Checks the fields that every plan has, and their types.
plan(#{<<"experiment">> := Experiment, <<"title">> := Title, <<"otp">> := Version, <<"pairs">> := Pairs, <<"seed">> := Seed,
       <<"machine">> := #{}, <<"baseline_label">> := Baseline} = Plan)
  when is_binary(Experiment), is_binary(Title), is_binary(Version), is_integer(Pairs), is_integer(Seed),
       is_binary(Baseline) ->
    Plan#{<<"labelled">> => text_or(<<"variant">>, maps:get(<<"labelled">>, Plan, null)),
          <<"estimator">> => ertslab_estimate:of_text(maps:get(<<"estimator">>, Plan, null)),
          <<"swept">> => text_or(null, maps:get(<<"swept">>, Plan, null)),
          <<"metrics">> => [Metric || #{<<"name">> := Name, <<"doc">> := Doc} = Metric <- list(<<"metrics">>, Plan),
                                   is_binary(Name), is_binary(Doc)]}.

text_or(_, Text) when is_binary(Text) -> Text;
text_or(Default, _) -> Default.

number_or(_, Number) when is_number(Number) -> Number;
number_or(Default, _) -> Default.

list(Key, Object) ->
    case Object of
        #{Key := List} when is_list(List) -> List;
        #{} -> []
    end.

texts(Key, Object) -> [ertslab_report_value:value(Text) || Text <- list(Key, Object)].

objects(Key, Object) -> [Element || #{} = Element <- list(Key, Object)].

in_order(Runs) -> lists:sort(fun(#{<<"run">> := A}, #{<<"run">> := B}) -> A =< B end, Runs).

%% Only the plan says which VM an arm has.
arms(Arms, Planned) ->
    VMs = maps:from_list([{Label, VM} || #{<<"label">> := Label, <<"vm">> := #{} = VM} <- Planned]),
    [arm(Arm, VMs) || Arm <- Arms].

arm(#{<<"label">> := Label, <<"variant">> := Variant, <<"params">> := #{}} = Arm, VMs)
  when is_binary(Label), is_binary(Variant) ->
    Arm#{<<"vm">> => maps:get(Label, VMs, #{})}.

%% If the plan names no control, it is the arm that runs the baseline's own emulator with the same parameters.
control(#{<<"control">> := Label}, _, _) when is_binary(Label) -> Label;
control(#{}, Arms, Baseline) ->
    Same = [{Id, Params} || #{<<"label">> := Label, <<"build_id">> := Id, <<"params">> := Params} <- Arms,
                            Label =:= Baseline],
    case [Label || #{<<"label">> := Label, <<"build_id">> := Id, <<"params">> := Params} <- Arms,
                   Label =/= Baseline, lists:member({Id, Params}, Same)] of
        [Label | _] -> Label;
        [] -> none
    end.

modified(File) ->
    {ok, #file_info{mtime = {{Y, Mo, D}, {H, Mi, _}}}} = file:read_file_info(File, [{time, universal}]),
    ertslab_error:text(io_lib:format("~4..0b-~2..0b-~2..0b ~2..0b:~2..0b", [Y, Mo, D, H, Mi])).

folder_case(Index, #{<<"params">> := Params, <<"rows">> := Rows0} = Case, Roles) ->
    Rows = [row(Row, Roles) || Row <- Rows0],
    Floors = maps:from_list([{Metric, {Low, High}}
                             || #{role := control, metric := Metric,
                                  ratio := #{low := Low, high := High}} <- Rows, is_number(Low)]),
    #{index => Index, params => params(Params),
      rows => [with_floor(Row, Floors) || Row <- Rows],
      contrasts => [{Label, Says, Ratio}
                    || #{<<"label">> := Label, <<"says">> := Says, <<"ratio">> := R} <- list(<<"contrasts">>, Case),
                       is_binary(Label), is_binary(Says), Ratio <- [ratio(R)], Ratio =/= none]}.

%% The results over all cases are shown as an additional case.
overall(_, [], _) -> [];
overall(Cases, Rows, Roles) ->
    Case = folder_case(Cases, #{<<"params">> => #{}, <<"rows">> => Rows}, Roles),
    [Case#{params := ertslab_report_value:format("overall, the geometric mean over ~b cases", [Cases])}].

%% Counts need no pairs to be sure.
as_guessed(#{<<"quick">> := true} = Plan, #{rows := Rows} = Case) when map_get(<<"exact">>, Plan) =/= true ->
    Case#{rows := [Row#{quick => true} || Row <- Rows]};
as_guessed(_, Case) -> Case.

with_floor(#{floor := none, metric := Metric} = Row, Floors) ->
    Row#{floor := maps:get(Metric, Floors, none)};
with_floor(Row, _) -> Row.

params(Params) ->
    ertslab_error:text(lists:join("  ", [[Name, "=", ertslab_report_value:value(Value)]
                                         || {Name, Value} <- lists:sort(maps:to_list(Params))])).

row(#{<<"metric">> := Metric, <<"label">> := Label, <<"ratio">> := Ratio, <<"verdict">> := Verdict} = Row, Roles) when is_binary(Metric), is_binary(Label), is_binary(Verdict) ->
    #{metric => Metric, label => Label, role => role(Label, Roles),
      unit => text_or(<<"ns">>, maps:get(<<"unit">>, Row, <<"ns">>)), value => number(value(Row)),
      other => other(maps:get(<<"other">>, Row, null)), ratio => ratio(Ratio),
      verdict => Verdict, more => more(maps:get(<<"more_pairs">>, Row, none)),
      slope => limits(maps:get(<<"slope">>, Row, null)), floor => limits(maps:get(<<"floor">>, Row, null)),
      builds => [Of || #{<<"ratio">> := Of} <- list(<<"builds">>, Row), is_number(Of)]}.

%% Format 1 had medians only.
value(#{<<"value">> := Value}) -> Value;
value(#{<<"median">> := Median}) -> Median.

other(#{<<"estimator">> := Estimator, <<"ratio">> := Ratio, <<"disagrees">> := Disagrees}) when is_boolean(Disagrees) ->
    case ratio(Ratio) of
        none -> none;
        Known -> #{estimator => ertslab_estimate:of_text(Estimator), ratio => Known, disagrees => Disagrees}
    end;
other(_) -> none.

role(Label, {Label, _}) -> baseline;
role(Label, {_, Label}) -> control;
role(_, _) -> compared.

%% The atoms of the summary are strings in its file.
number(Value) when is_number(Value) -> Value;
number(Value) when is_binary(Value); Value =:= null -> none.

more(<<"more_than_1000">>) -> more_than_1000;
more(Pairs) when is_integer(Pairs) -> Pairs;
more(_) -> none.

limits(#{<<"low">> := Low, <<"high">> := High}) when is_number(Low), is_number(High) -> {Low, High};
limits(_) -> none.

ratio(#{<<"estimate">> := Estimate} = Ratio) when is_number(Estimate) ->
    {Low, High} = case limits(Ratio) of none -> {none, none}; Both -> Both end,
    #{estimate => Estimate, exact => maps:get(<<"exact">>, Ratio, false) =:= true, low => Low, high => High};
ratio(Ratio) when is_binary(Ratio); Ratio =:= null -> none.

%% The runs' numbers in the order of the runs, computed from the same values as the table.
points(#{<<"estimator">> := Estimator} = Plan, Samples, Runs, Disturbed) ->
    LeftOut = ertslab_disturbed:left_out(
                [#{'case' => ertslab_disturbed:run_case(Case), pair => Pair, why => [], replaced_by => By}
                 || #{<<"case">> := Case, <<"pair">> := Pair, <<"replaced_by">> := By} <- Disturbed], Runs),
    Values = ertslab_samples:by_run(
               fun(#{<<"case">> := Case, <<"metric">> := Metric, <<"run">> := Run, <<"arm">> := Arm, <<"pair">> := Pair})
                     when is_integer(Run), is_integer(Arm) ->
                       {{Case, Metric}, {Pair, Run}, Arm, ertslab_disturbed:is_left_out(Case, Pair, LeftOut)}
               end, Samples),
    %% In the same way as ertslab_summary.
    Shown = ertslab_estimate:compared(Estimator, rounds(Plan), fun({Series, {Pair, _}, _, _}) -> {Series, Pair} end, Values),
    maps:groups_from_list(
      fun({{Series, _, _, _}, _}) -> Series end,
      fun({{_, {_, Run}, Arm, IsAside}, OfRun}) ->
              #{run => Run, arm => Arm, value => ertslab_estimate:of_run(Estimator, OfRun),
                iterations => ertslab_slope:numbers(OfRun), aside => IsAside}
      end, lists:sort(fun({{_, {_, A}, _, _}, _}, {{_, {_, B}, _, _}, _}) -> A =< B end, maps:to_list(Shown))).

%% In older folders the arms never took turns.
rounds(#{<<"rounds">> := <<"arms">>}) -> arms;
rounds(#{<<"rounds">> := <<"cases">>}) -> cases;
rounds(#{<<"rounds">> := <<"metrics">>}) -> metrics;
rounds(#{}) -> none.
