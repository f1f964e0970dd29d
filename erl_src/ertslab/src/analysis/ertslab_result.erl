%% @doc The result of a comparison, which is the contents of summary.json.
%%
%% There is one shape of it, from {@link ertslab_summary} to the table, the page and the pictures: keys, and the words
%% that are listed here, are atoms; names of metrics, arms and parameters are text, since others choose them. The file
%% has the same shape in JSON. {@link decode/1} is the only reader of it. Pure.
-module(ertslab_result).

-export([format/0, encode/1, decode/1, plan/2, arm/1, with_origin/3, built/1, run/1, params/1, role/2]).
-export_type([summary/0, plan/0, arm/0, result_case/0, row/0, verdict/0, ratio/0, interval/0, other/0, contrast/0, role/0, params/0, run/0,
              crashed/0, steady/0, origin/0, built/0, object/0]).

%% What JSON calls an object.
-type object() :: #{binary() => term()}.
-type params() :: #{binary() => number() | binary()}.
%% `overall' are rows over all cases, `memory' the memory of the VMs, `crashed' the runs that ended badly, `speeds' those of
%% the machine, `runs' all runs with what the machine did meanwhile, in order. `built': what the VMs were built from.
-type summary() :: #{format := pos_integer(), plan := plan(), arms := [arm()], cases := [result_case()],
                     overall := [row()], void := [binary()], warnings := [binary()],
                     speeds := ertslab_speeds:speeds() | none, speed_series := ertslab_speed_series:series() | none,
                     steady := [steady()], disturbed := [ertslab_disturbed:replacement()], memory := [ertslab_run_memory:row()],
                     crashed := [crashed()], runs := [run()], built := built(), paths => #{atom() => binary()}}.
%% The plan of the session without what only a run needs. Some keys are missing in older folders.
-type plan() :: #{experiment := binary(), title := binary(), otp := binary(), pairs := integer(), seed := integer(),
                  baseline_label := binary(), control := binary() | null, labelled := binary(), swept := binary() | null,
                  plot_over := binary() | null, cases := [params()], metrics := [#{name := binary(), doc := binary(), unit := binary()}],
                  contrasts := [#{name := binary(), over := binary(), under := binary(), says := binary()}],
                  estimator := ertslab_estimate:name(), rounds := ertslab_experiment:rounds(), quick := boolean(), exact := boolean(),
                  overall := boolean(), same_within := float(), machine := #{atom() => term()},
                  budget := #{given := binary(), _ => _} | null, preflight := [#{what := binary(), state := binary(), says := binary()}],
                  programs := [binary()], command := [binary()], notes := [binary()], atom() => term()}.
%% `vm' is what is known of the origin of the emulator. Texts are as the build wrote them.
-type arm() :: #{label := binary(), variant := binary(), params := params(), build_id := binary(), builds := [binary()], vm := origin()}.
-type origin() :: #{description => binary(), options => binary(), version => binary(), compiler => binary(), flavour => binary(),
                    patches => [#{name := binary(), sha256 := binary()}]}.
-type built() :: #{version => binary(), sha256 => binary(), compiler => binary(), configure => binary()}.
-type result_case() :: #{params := params(), rows := [row()], contrasts := [contrast()]}.
-type contrast() :: #{name := binary(), says := binary(), label := binary(), ratio := ratio() | none}.
-type role() :: baseline | control | compared.
-type interval() :: #{low := ertslab_stats:limit() | none, high := ertslab_stats:limit() | none}.
%% The bounds are of the intervals of 95 % and 90 %. If all runs agree on a count, the ratio is exact and has no interval.
-type ratio() :: #{estimate := number(), exact => boolean(), low => ertslab_stats:limit() | none, high => ertslab_stats:limit() | none,
                   atom() => term()}.
%% `value' and `ratio' come from the experiment's estimator. The ratio is to the
%% baseline arm: below 1 is faster. It is `none' for the baseline itself and if
%% too few pairs are left. `other' is the same by the other estimator, and says
%% whether the two disagree, which means that their intervals do not overlap. `slope' is the interval of
%% a slope; its bounds are the medians of the runs' bounds. `points' are the medians of
%% the values at each N. `floor' is the interval
%% of the control's ratio. `to_control' is the ratio of a compared arm to the control in the same pairs, and `none' in other rows,
%% without a control, and of exact counts: if it does not confirm a change, the verdict is `unsure' and `more_pairs' is `none'.
%% `void' holds a sentence for each metric in which the
%% control differs from the baseline; then every verdict is `void'. `builds'
%% is present if the pairs took several builds in turn; `builds_p' is the p value of
%% the hypothesis that the builds are alike. `numbers' are the numbers of the runs, which `value' and `ratio' are made from,
%% except of those that are aside; `iterations' the distribution of their single values. Rows over all cases have neither.
-type row() :: #{metric := binary(), label := binary(), role := role(), params := params(), value := number() | none,
                 unit := binary(), runs := non_neg_integer(), ratio := ratio() | none, floor := interval() | none,
                 to_control := ratio() | none, verdict := verdict(), more_pairs := pos_integer() | more_than_1000 | none,
                 numbers := [ertslab_run_numbers:shown()], iterations := ertslab_run_numbers:iterations() | none,
                 other => other(), slope => interval(), points => [[number()]],
                 builds => [ertslab_layout_luck:by_build()], builds_p => float()}.
-type verdict() :: changed | same | unsure | void | varying | none.
-type other() :: #{estimator := ertslab_estimate:name(), value := number() | none, ratio := ratio() | none, disagrees := boolean()}.
%% `says' is in folders of the past only.
-type steady() :: #{'case' := non_neg_integer(), metric := binary(), steady := boolean(), from => pos_integer(), ratio => float(),
                    arms => [#{label := binary(), ratio := float()}], alike => boolean(), says => binary()}.
-type crashed() :: #{run := pos_integer(), label := binary(), reason := binary(), pair => pos_integer(), params => params()}.
%% `host' has the readings of the machine that could be made.
-type run() :: #{run := pos_integer(), label := binary(), outcome := binary(), disturbed := [binary()], host := #{atom() => number()},
                 pair => pos_integer(), arm => non_neg_integer(), 'case' => ertslab_schedule:run_case(), duration_ms => number()}.

%% It is 3 since a summary holds the numbers of the runs. The plan and the samples have a format of their own.
-define(FORMAT, 3).
%% The bound of folders whose plan does not name one.
-define(SAME_WITHIN, 0.01).
-define(VERDICTS, [changed, same, unsure, void, varying, none]).
-define(OF_MACHINE, [cpu, cores, memory_kib, kernel, governor, virtual]).
-define(READINGS, [load, cpu_pressure, steal_ticks, steal_ms, swapped_in, frequency_khz, others_ms, voluntary_switches,
                   involuntary_switches, minor_faults, major_faults, padding]).
%% No log of a ratio of times is larger.
-define(MOST_LOG, 100).
%% Values of the plan that are kept as they are.
-define(KEPT, [format, code, baseline, run_ms, replace_disturbed, builds, timeout_ms, seed_given, outputs, host, gate]).
-define(RATIO, [low, high, low90, high90, sd_log]).

%% @doc The number of the format that this ertslab writes.
-spec format() -> pos_integer().
format() -> ?FORMAT.

%% @doc A result as JSON.
-spec encode(summary()) -> binary().
encode(Summary) -> iolist_to_binary(ertslab_json:format(Summary)).

%% @doc The result that a decoded summary.json holds, also one of an older format; what only newer ones have is then empty.
%% Anything that is not a summary is an error.
-spec decode(object()) -> summary().
decode(#{<<"plan">> := Plan0, <<"arms">> := Arms0, <<"cases">> := Cases} = Object) ->
    Plan = plan(Plan0, Arms0),
    Speeds = speeds(maps:get(<<"speeds">>, Object, null)),
    with_paths(
      #{format => maps:get(<<"format">>, Object, 1), plan => Plan, arms => [arm(Arm) || Arm <- Arms0],
        cases => [result_case(Case, Plan) || Case <- Cases],
        overall => rows(list(<<"overall">>, Object), Plan),
        void => texts(<<"void">>, Object), warnings => texts(<<"warnings">>, Object),
        speeds => Speeds, speed_series => series(maps:get(<<"speed_series">>, Object, null), Speeds),
        steady => [steady(Line) || Line <- list(<<"steady">>, Object)],
        disturbed => [disturbed(Pair) || Pair <- list(<<"disturbed">>, Object)],
        memory => [memory(Line) || Line <- list(<<"memory">>, Object)],
        crashed => [crashed(Run) || Run <- list(<<"crashed">>, Object)],
        runs => [run(Run) || Run <- list(<<"runs">>, Object)],
        built => of_texts([version, sha256, compiler, configure], maps:get(<<"built">>, Object, #{}))},
      Object).

with_paths(Summary, #{<<"paths">> := #{} = Paths}) -> Summary#{paths => of_texts([samples, plan, plot], Paths)};
with_paths(Summary, #{}) -> Summary.

%% The plan

%% @doc The plan of a decoded file, with its decoded arms.
-spec plan(object(), [object()]) -> plan().
plan(#{<<"experiment">> := Experiment, <<"title">> := Title, <<"otp">> := Version, <<"pairs">> := Pairs, <<"seed">> := Seed,
       <<"machine">> := #{} = Machine, <<"baseline_label">> := Baseline} = Plan, Arms)
  when is_binary(Experiment), is_binary(Title), is_binary(Version), is_integer(Pairs), is_integer(Seed), is_binary(Baseline) ->
    (known(?KEPT, Plan))#{
      experiment => Experiment, title => Title, otp => Version, pairs => Pairs, seed => Seed, baseline_label => Baseline,
      machine => known(?OF_MACHINE, Machine), control => control(Plan, Arms, Baseline),
      labelled => text(<<"labelled">>, Plan, <<"variant">>), swept => text(<<"swept">>, Plan, null),
      plot_over => text(<<"plot_over">>, Plan, null),
      cases => [params(Params) || #{} = Params <- list(<<"cases">>, Plan)],
      metrics => [#{name => Name, doc => text(<<"doc">>, Metric, <<"">>), unit => text(<<"unit">>, Metric, <<"ns">>)}
                  || #{<<"name">> := Name} = Metric <- list(<<"metrics">>, Plan), is_binary(Name)],
      contrasts => [#{name => Name, over => Over, under => Under, says => Says}
                    || #{<<"name">> := Name, <<"over">> := Over, <<"under">> := Under, <<"says">> := Says} <- list(<<"contrasts">>, Plan)],
      estimator => ertslab_estimate:of_text(maps:get(<<"estimator">>, Plan, null)), rounds => rounds(maps:get(<<"rounds">>, Plan, null)),
      quick => is_true(<<"quick">>, Plan), exact => is_true(<<"exact">>, Plan), overall => is_true(<<"overall">>, Plan),
      same_within => bound(maps:get(<<"same_within">>, Plan, null)), budget => budget(maps:get(<<"budget">>, Plan, null)),
      preflight => [maps:merge(#{what => <<"">>, state => <<"">>, says => <<"">>}, of_texts([what, state, says], Check))
                    || #{} = Check <- list(<<"preflight">>, Plan)],
      programs => texts(<<"programs">>, Plan), command => texts(<<"command">>, Plan), notes => texts(<<"notes">>, Plan)}.

%% If the plan names no control, it is the arm that runs the baseline's own emulator with the same parameters.
control(#{<<"control">> := Label}, _, _) when is_binary(Label) -> Label;
control(#{<<"control">> := null, <<"format">> := Format}, _, _) when Format >= 2 -> null;
control(#{}, Arms, Baseline) ->
    Same = [{Id, Params} || #{<<"label">> := Label, <<"build_id">> := Id, <<"params">> := Params} <- Arms, Label =:= Baseline],
    case [Label || #{<<"label">> := Label, <<"build_id">> := Id, <<"params">> := Params} <- Arms,
                   Label =/= Baseline, lists:member({Id, Params}, Same)] of
        [Label | _] when is_binary(Label) -> Label;
        [] -> null
    end.

%% In older folders nothing took turns.
rounds(Text) -> word([arms, cases, metrics], Text, none).

bound(Bound) when is_number(Bound), Bound > 0, Bound < 1 -> Bound;
bound(_) -> ?SAME_WITHIN.

budget(#{<<"given">> := Given} = Budget) when is_binary(Given) ->
    Effects = [#{metric => Metric, effect => Effect} || #{<<"metric">> := Metric, <<"effect">> := Effect} <- list(<<"effects">>, Budget)],
    (known([pairs, pair_ms, run_ms], Budget))#{given => Given, effects => Effects,
                                               levels => known([run, value], maps:get(<<"levels">>, Budget, #{}))};
budget(Given) when is_binary(Given) -> #{given => Given};
budget(_) -> null.

%% @doc An arm of a decoded file.
-spec arm(object()) -> arm().
arm(#{<<"label">> := Label, <<"variant">> := Variant, <<"params">> := #{} = Params} = Arm) when is_binary(Label), is_binary(Variant) ->
    #{label => Label, variant => Variant, params => params(Params), build_id => text(<<"build_id">>, Arm, <<"unknown">>),
      builds => texts(<<"builds">>, Arm), vm => origin(maps:get(<<"vm">>, Arm, #{}))}.

origin(VM) ->
    Patches = [#{name => Name, sha256 => Sum} || #{<<"name">> := Name, <<"sha256">> := Sum} <- list(<<"patches">>, VM),
                                                 is_binary(Name), is_binary(Sum)],
    maps:merge(of_texts([description, options, version, compiler, flavour], VM),
               maps:from_list([{patches, Patches} || #{<<"patches">> := List} <- [VM], is_list(List)])).

%% @doc The arm with the origin of its emulator, from what the plan knows of the emulator and from the manifest of its
%% build, all decoded. Arms of different roots are listed in the manifest by their labels.
-spec with_origin(object(), VM :: object(), Manifest :: object()) -> object().
with_origin(#{<<"label">> := Label, <<"variant">> := Variant} = Arm, #{} = VM, #{<<"variants">> := #{} = Variants}) ->
    Arm#{<<"vm">> => maps:merge(VM, maps:get(Label, Variants, maps:get(Variant, Variants, #{})))};
with_origin(Arm, VM, _) -> Arm#{<<"vm">> => VM}.

%% @doc What a decoded manifest says of all VMs of its build.
-spec built(Manifest :: object()) -> built().
built(Manifest) ->
    maps:merge(of_texts([version, sha256], maps:get(<<"source">>, Manifest, #{})), of_texts([compiler, configure], Manifest)).

%% Results

result_case(#{<<"params">> := #{} = Params, <<"rows">> := Rows} = Case, Plan) ->
    #{params => params(Params), rows => rows(Rows, Plan),
      contrasts => [#{name => text(<<"name">>, Contrast, <<"">>), says => Says, label => Label, ratio => ratio(Ratio)}
                    || #{<<"label">> := Label, <<"says">> := Says, <<"ratio">> := Ratio} = Contrast <- list(<<"contrasts">>, Case),
                       is_binary(Label), is_binary(Says)]}.

rows(Rows, Plan) -> with_ratios_to_control(Plan, with_floors([row(Row, Plan) || Row <- Rows])).

row(#{<<"metric">> := Metric, <<"label">> := Label, <<"ratio">> := Ratio, <<"verdict">> := Verdict} = Row, Plan)
  when is_binary(Metric), is_binary(Label) ->
    lists:foldl(
      fun maps:merge/2,
      #{metric => Metric, label => Label, role => role(Label, Plan), params => params(maps:get(<<"params">>, Row, #{})),
        unit => text(<<"unit">>, Row, <<"ns">>), runs => count(maps:get(<<"runs">>, Row, 0)), value => number(value(Row)),
        ratio => ratio(Ratio), floor => interval(maps:get(<<"floor">>, Row, none)), verdict => word(?VERDICTS, Verdict),
        more_pairs => more(maps:get(<<"more_pairs">>, Row, none)),
        numbers => [run_number(Number) || Number <- list(<<"numbers">>, Row)],
        iterations => iterations(maps:get(<<"iterations">>, Row, <<"none">>))},
      [#{to_control => ratio(ToControl)} || #{<<"to_control">> := ToControl} <- [Row]]
      ++ [#{other => other(Other)} || #{<<"other">> := #{} = Other} <- [Row]]
      ++ [#{slope => interval(Slope)} || #{<<"slope">> := #{} = Slope} <- [Row]]
      ++ [#{points => [point(Point) || Point <- Points]} || #{<<"points">> := Points} <- [Row]]
      ++ [#{builds => [by_build(Build) || Build <- Builds]} || #{<<"builds">> := Builds} <- [Row]]
      ++ [#{builds_p => P} || #{<<"builds_p">> := P} <- [Row], is_number(P)]).

%% Format 1 had medians only.
value(#{<<"value">> := Value}) -> Value;
value(#{<<"median">> := Median}) -> Median.

%% @doc What an arm is in a comparison.
-spec role(Label :: binary(), #{baseline_label := binary(), control := binary() | null, _ => _}) -> role().
role(Label, #{baseline_label := Label}) -> baseline;
role(Label, #{control := Label}) -> control;
role(_, #{}) -> compared.

%% Older folders have the interval of the control in its own row only.
with_floors(Rows) ->
    Floors = maps:from_list([{Metric, #{low => Low, high => High}}
                             || #{role := control, metric := Metric, ratio := #{low := Low, high := High}} <- Rows, is_number(Low)]),
    [with_floor(Row, Floors) || Row <- Rows].

with_floor(#{floor := none, role := Role, metric := Metric} = Row, Floors) when Role =/= control ->
    Row#{floor := maps:get(Metric, Floors, none)};
with_floor(Row, _) -> Row.

%% Folders of a time when no change had to be confirmed lack the ratio to the control. For changes, which it decides, it is made from
%% the numbers of the runs, if the folder holds them. Rows over all cases have no numbers, so their verdicts stay.
with_ratios_to_control(Plan, Rows) ->
    Controls = maps:from_list([{Metric, by_pair(Row)} || #{role := control, metric := Metric} = Row <- Rows]),
    [case Row of
         #{to_control := _} -> Row;
         #{metric := Metric} -> ertslab_verdict:beside_control(Row#{to_control => to_control(Plan, Row, maps:get(Metric, Controls, #{}))})
     end || Row <- Rows].

to_control(#{exact := false, estimator := Estimator}, #{role := compared, verdict := changed} = Row, Control) ->
    ertslab_estimate:paired_ratio(Estimator, Control, by_pair(Row));
to_control(#{}, #{}, _) -> none.

by_pair(#{numbers := Numbers}) -> maps:from_list([{Pair, Value} || #{pair := Pair, value := Value, aside := false} <- Numbers]).

ratio(#{<<"estimate">> := Estimate} = Ratio) when is_number(Estimate) ->
    lists:foldl(fun maps:merge/2, #{estimate => Estimate},
                [#{Key => limit(Limit)} || Key <- ?RATIO, {ok, Limit} <- [maps:find(atom_to_binary(Key), Ratio)]]
                ++ [#{exact => true} || #{<<"exact">> := true} <- [Ratio]]
                ++ [maps:filter(fun(_, Number) -> is_number(Number) end, known([p, p_adjusted, pairs], Ratio))]);
ratio(Ratio) when is_binary(Ratio); Ratio =:= null -> none.

limit(Limit) when is_number(Limit) -> Limit;
limit(Text) -> word([too_few], Text, none).

interval(#{<<"low">> := Low, <<"high">> := High}) -> #{low => limit(Low), high => limit(High)};
interval(_) -> none.

other(#{<<"estimator">> := Estimator, <<"ratio">> := Ratio, <<"disagrees">> := Disagrees} = Other) when is_boolean(Disagrees) ->
    #{estimator => ertslab_estimate:of_text(Estimator), value => number(maps:get(<<"value">>, Other, null)), ratio => ratio(Ratio),
      disagrees => Disagrees}.

more(Pairs) when is_integer(Pairs), Pairs > 0 -> Pairs;
more(Text) -> word([more_than_1000], Text, none).

run_number(#{<<"run">> := Run, <<"pair">> := Pair, <<"value">> := Value, <<"iterations">> := Iterations, <<"aside">> := Aside})
  when is_integer(Run), is_integer(Pair), is_number(Value), is_integer(Iterations), is_boolean(Aside) ->
    #{run => Run, pair => Pair, value => Value, iterations => Iterations, aside => Aside}.

iterations(#{<<"number">> := Number, <<"mean">> := Mean, <<"deviation">> := Deviation, <<"median">> := Median, <<"q99">> := Q99})
  when is_integer(Number), is_number(Mean), is_number(Median), is_number(Q99) ->
    #{number => Number, mean => Mean, deviation => number(Deviation), median => Median, q99 => Q99};
iterations(Text) when is_binary(Text) -> none.

point([N, Value] = Point) when is_number(N), is_number(Value) -> Point.

by_build(#{<<"build">> := Build, <<"ratio">> := Ratio, <<"pairs">> := Pairs}) when is_number(Ratio) ->
    #{build => Build, ratio => Ratio, pairs => Pairs}.

%% What was seen beside the results

speeds(#{<<"speeds">> := Number, <<"fast_ns">> := Fast, <<"slow_ns">> := Slow, <<"apart">> := Apart, <<"slow_share">> := Share,
         <<"changing_ms">> := Changing, <<"within">> := Within, <<"points">> := Points, <<"mean_stay_ms">> := Stay})
  when is_number(Fast), is_number(Slow), is_number(Apart), is_number(Share), is_number(Within), is_integer(Points) ->
    #{speeds => case Number of <<"unknown">> -> unknown; _ when Number =:= 1; Number =:= 2 -> Number end,
      fast_ns => Fast, slow_ns => Slow, apart => Apart, slow_share => Share, within => Within, points => Points,
      changing_ms => number_or_null(Changing),
      mean_stay_ms => maps:from_list([{Speed, number_or_null(maps:get(atom_to_binary(Speed), Stay))} || Speed <- [fast, slow]])};
speeds(_) -> none.

series(#{<<"span">> := Span, <<"low">> := Low, <<"high">> := High, <<"columns">> := [_ | _] = Columns, <<"bins">> := [_ | _] = Bins},
       #{fast_ns := Fast, slow_ns := Slow})
  when is_number(Span), Span >= 1, is_number(Low), Low > -?MOST_LOG, is_number(High), High < ?MOST_LOG, Low < High,
       Fast > 0, Slow > 0 ->
    #{span => Span, low => Low, high => High, columns => [column(Column) || Column <- Columns], bins => [count(Bin) || Bin <- Bins]};
series(_, _) -> none.

column([Number, Low, Median, High] = Column) when is_integer(Number), is_number(Low), is_number(Median), is_number(High) -> Column.

steady(#{<<"case">> := Case, <<"metric">> := Metric, <<"steady">> := Steady} = Line) when is_integer(Case), is_binary(Metric) ->
    lists:foldl(fun maps:merge/2, #{'case' => Case, metric => Metric, steady => Steady =:= true},
                [#{from => From, ratio => Ratio}
                 || #{<<"from">> := From, <<"ratio">> := Ratio} <- [Line], is_integer(From), is_number(Ratio)]
                ++ [#{arms => [#{label => Label, ratio => Ratio} || #{<<"label">> := Label, <<"ratio">> := Ratio} <- list(<<"arms">>, Line),
                                                                    is_binary(Label), is_number(Ratio)],
                      alike => Alike} || #{<<"alike">> := Alike} <- [Line], is_boolean(Alike)]
                ++ [#{says => Says} || #{<<"says">> := Says} <- [Line], is_binary(Says)]).

disturbed(#{<<"case">> := Case, <<"pair">> := Pair, <<"replaced_by">> := By} = Line) when is_integer(Pair) ->
    #{'case' => ertslab_disturbed:run_case(Case), pair => Pair, why => texts(<<"why">>, Line),
      replaced_by => case By of _ when is_integer(By) -> By; _ -> none end}.

memory(#{<<"case">> := Case, <<"label">> := Label, <<"what">> := What, <<"median">> := Median} = Line)
  when is_binary(Label), is_binary(What), is_number(Median) ->
    #{'case' => ertslab_disturbed:run_case(Case), label => Label, what => What, median => Median,
      unit => text(<<"unit">>, Line, <<"bytes">>), runs => count(maps:get(<<"runs">>, Line, 0))}.

crashed(#{<<"run">> := Run, <<"label">> := Label, <<"reason">> := Reason} = Line) when is_binary(Label), is_binary(Reason) ->
    maps:merge((known([pair], Line))#{run => Run, label => Label, reason => Reason},
               maps:from_list([{params, params(Params)} || #{<<"params">> := #{} = Params} <- [Line]])).

%% @doc A run of a decoded file, either of a summary or of samples.jsonl.
-spec run(object()) -> run().
run(#{<<"run">> := Run} = Line) when is_integer(Run) ->
    maps:merge((known([pair, arm, duration_ms], Line))#{
                 run => Run, label => text(<<"label">>, Line, <<"unknown">>), outcome => text(<<"outcome">>, Line, <<"">>),
                 disturbed => texts(<<"disturbed">>, Line), host => readings(Line)},
               maps:from_list([{'case', ertslab_disturbed:run_case(Case)} || #{<<"case">> := Case} <- [Line]])).

%% In a line of samples.jsonl the padding stands beside the readings, since it was given to the run.
readings(Line) ->
    Host = case Line of
               #{<<"host">> := #{} = Readings} -> Readings;
               #{} -> #{}
           end,
    maps:filter(fun(_, Value) -> is_number(Value) end, known(?READINGS, maps:merge(maps:with([<<"padding">>], Line), Host))).

%% Parts

%% @doc Parameters with their names and words as text, from a plan or a decoded file.
-spec params(#{atom() | binary() => term()}) -> params().
params(Params) -> maps:from_list([{named(Name), Value} || {Name, Value0} <- maps:to_list(Params), {ok, Value} <- [param(Value0)]]).

named(Name) when is_atom(Name) -> atom_to_binary(Name);
named(Name) when is_binary(Name) -> Name.

param(Value) when is_number(Value); is_binary(Value) -> {ok, Value};
param(Value) when is_atom(Value) -> {ok, atom_to_binary(Value)};
param(_) -> none.

%% The known keys of an object, as they are.
known(Keys, Object) ->
    maps:from_list([{Key, Value} || Key <- Keys, {ok, Value} <- [maps:find(atom_to_binary(Key), Object)]]).

of_texts(Keys, Object) -> maps:filter(fun(_, Value) -> is_binary(Value) end, known(Keys, Object)).

%% The word that the text is one of; an error if it is none and there is no default.
word(Words, Text) ->
    [Word] = [Word || Word <- Words, atom_to_binary(Word) =:= Text],
    Word.

word(Words, Text, Default) ->
    case [Word || Word <- Words, atom_to_binary(Word) =:= Text] of
        [Word] -> Word;
        [] -> Default
    end.

text(Key, Object, Default) ->
    case Object of
        #{Key := Text} when is_binary(Text) -> Text;
        #{} -> Default
    end.

list(Key, Object) ->
    case Object of
        #{Key := List} when is_list(List) -> List;
        #{} -> []
    end.

texts(Key, Object) -> [Text || Text <- list(Key, Object), is_binary(Text)].

is_true(Key, Object) -> maps:get(Key, Object, false) =:= true.

count(Number) when is_integer(Number), Number >= 0 -> Number.

number(Value) when is_number(Value) -> Value;
number(Value) when is_binary(Value); Value =:= null -> none.

number_or_null(Value) when is_number(Value); Value =:= null -> Value.
