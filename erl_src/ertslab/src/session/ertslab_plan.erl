%% @doc What a comparison is going to measure: its arms, cases and pairs, as it
%% is written to session.json before the first run.
-module(ertslab_plan).

-export([compare/1, sweep/1, time/1, with_pairs/2, comparisons/1, duration/1]).

-define(QUICK_PAIRS, 6).
-define(EXACT_PAIRS, 3).
-define(LEAST_PAIRS, 10).
%% Many short runs rather than few long ones, where starting one costs little: the more pairs, the smaller a p value
%% can be, and it is multiplied by the number of all results.
-define(FLOOR_PAIRS, 45).
-define(LARGE_FLOOR_PAIRS, 30).
-define(TYPICAL_PAIRS, 20).
-define(RUN_MS, 1000).
-define(QUICK_RUN_MS, 300).
-define(LEVEL, 0.05).
-define(SAME_WITHIN, 0.01).

%% @doc The plan of `ertslab compare'.
-spec compare(map()) -> ertslab_session:plan().
compare(#{experiment := Name} = Options) ->
    Module = ertslab_parameters:module(Name),
    Info = ertslab_parameters:info(Module),
    {Arms, Control} = ertslab_arms:of_options(Options, Info),
    plan(Options, Module, Info, Arms, #{labelled => ~"variant", swept => null, control => Control}).

%% @doc The plan of `ertslab sweep': the arms are values of one parameter, and
%% the first of them once more as the control.
-spec sweep(map()) -> ertslab_session:plan().
sweep(#{experiment := Name, over := Over} = Options) ->
    Module = ertslab_parameters:module(Name),
    #{parameters := Parameters} = Info = ertslab_parameters:info(Module),
    VM = ertslab_arms:one(Options, "--over"),
    {Parameter, Values} = swept(Info, Over),
    [First | Rest] = [#{label => arm_label(Parameter, Value), variant => maps:get(name, VM),
                        params => #{Parameter => Value}, vm => VM} || Value <- Values],
    {Controls, Control} = control_arm(First, Options),
    Others = Info#{parameters := [P || #{name := N} = P <- Parameters, N =/= Parameter]},
    plan(Options, Module, Others, [First | Controls ++ Rest],
         #{labelled => ~"value", swept => Parameter, control => Control}).

%% @doc The plan of `ertslab time': the arms are expressions, on each VM.
-spec time(map()) -> ertslab_session:plan().
time(#{expressions := Texts} = Options) ->
    Name = ertslab_expressions:experiment(Texts, maps:get(init, Options, "")),
    Module = ertslab_parameters:module(Name),
    VMs = ertslab_arms:named(Options),
    [First | Rest] = [#{label => expression_label(Text, Label, VMs), variant => maps:get(name, VM),
                        params => #{expression => Nth}, vm => VM}
                      || {Label, VM} <- VMs, {Nth, Text} <- lists:enumerate(Texts)],
    Rest =/= [] orelse ertslab_error:usage("a comparison wants two expressions, or two VMs", []),
    {Controls, Control} = control_arm(First, Options),
    plan(Options#{experiment => Name}, Module, ertslab_parameters:info(Module), [First | Controls ++ Rest],
         #{labelled => ~"expression", swept => null, control => Control}).

expression_label(Text, _, [_]) -> ertslab_error:text(Text);
expression_label(Text, Label, _) -> ertslab_error:text([Text, " on ", Label]).

control_arm(_First, #{no_control := true}) -> {[], null};
control_arm(First, _) ->
    #{label := Label} = Control = ertslab_arms:control_of(First),
    {[Control], Label}.

arm_label(Parameter, Value) -> ertslab_error:text(io_lib:format("~ts=~p", [Parameter, Value])).

swept(Info, Over) ->
    Cases = ertslab_parameters:cases(Info, quick, [Over]),
    Parameter = list_to_existing_atom(hd(string:split(Over, "="))),
    case lists:uniq([maps:get(Parameter, Case) || Case <- Cases]) of
        [_, _ | _] = Values -> {Parameter, Values};
        _ -> ertslab_error:usage("--over ~ts: a sweep wants at least two values", [Over])
    end.

%% The cases that each run has in its VM.
held(#{rounds := cases}, Cases, Arms) -> [[maps:merge(Case, Params) || Case <- Cases] || #{params := Params} <- Arms];
held(#{}, Cases, Arms) -> [[maps:merge(Case, Params)] || Case <- Cases, #{params := Params} <- Arms].

plan(Options, Module, Info, Arms0, Labels) ->
    Arms = ertslab_arms:told_apart(Arms0),
    Quick = maps:get(quick, Options, false),
    Exact = maps:get(exact, Info, false),
    #{title := Title, metrics := Metrics, contrasts := Contrasts, timeout_ms := Timeout} = Info,
    [#{vm := VM, label := BaselineLabel} | _] = Arms,
    ok = same_code(VM, Module),
    Cases = ertslab_parameters:cases(Info, size(Labels, Quick), maps:get(param, Options, [])),
    ok = ertslab_memory_needs:check(Module, held(Info, Cases, Arms), VM),
    Plan = maps:merge(
             maps:merge(Labels, maps:with([programs], Info)),
             #{format => ertslab_session:format(), experiment => ertslab_error:text(maps:get(experiment, Options)),
               module => Module, title => ertslab_error:text(Title),
               otp => versions(Arms), quick => Quick, exact => Exact,
               estimator => estimator(Options, Info), rounds => maps:get(rounds, Info),
               run_ms => run_ms(Info, Quick),
               overall => maps:get(overall, Info, false), plot_over => plot_over(Labels, Info),
               same_within => same_within(Options), budget => budget(Options),
               %% A floor is of the runs that nothing disturbed, so no others are made for it.
               replace_disturbed => not (Quick orelse Exact) andalso estimator(Options, Info) =:= typical,
               builds => builds(Options),
               seed => maps:get(seed, Options, rand:uniform(1 bsl 31)),
               seed_given => is_map_key(seed, Options),
               cases => Cases,
               arms => Arms, baseline => 0, baseline_label => BaselineLabel,
               metrics => [#{name => N, doc => ertslab_error:text(D), unit => maps:get(unit, M, ns)}
                           || #{name := N, doc := D} = M <- Metrics],
               contrasts => [C#{says := ertslab_error:text(S)} || #{says := S} = C <- Contrasts],
               timeout_ms => Timeout, host => address(VM),
               machine => ertslab_vm:on_its_machine(VM, ertslab_host, machine, []),
               manifest => ertslab_arms:manifest(Arms),
               command => [ertslab_error:text(Word) || Word <- maps:get(words, Options)]}),
    case Options of
        #{budget := _} -> Plan#{pairs => ?LEAST_PAIRS};
        #{} -> with_pairs(Plan, pairs(Options, Plan))
    end.

versions(Arms) ->
    iolist_to_binary(lists:join(", ", lists:uniq([Version || #{vm := #{version := Version}} <- Arms]))).

%% A sweep has a picture of its own.
plot_over(#{swept := null}, #{plot_over := Parameter}) -> Parameter;
plot_over(#{}, _Info) -> null.

address(#{host := #{address := Address}}) -> ertslab_error:text(Address);
address(#{}) -> null.

%% Of several builds the floor would be that of the luckiest one.
estimator(#{builds := Builds}, _Info) when Builds > 1 -> typical;
estimator(_Options, #{estimator := Estimator}) -> Estimator.

%% How long a run measures, in milliseconds.
run_ms(Info, Quick) ->
    Ms = maps:get(run_ms, Info, ?RUN_MS),
    case Quick of
        true -> min(Ms, ?QUICK_RUN_MS);
        false -> Ms
    end.

%% How many layouts of each variant the pairs take in turn.
builds(Options) -> maps:get(builds, Options, 1).

%% Another machine measures with its own checkout, which must be the same.
same_code(#{host := #{address := Address, dir := Dir}} = VM, Module) ->
    ok = same_otp(Address, VM),
    case ertslab_vm:on_its_machine(VM, ertslab_worker, fingerprint, [Module]) =:=
        ertslab_worker:fingerprint(Module) of
        true -> ok;
        false ->
            ertslab_error:failure("~ts: the ertslab in ~ts is not the same as this one; bring both to"
                                  " one commit and run './build.sh erl'.", [Address, Dir])
    end;
same_code(#{}, _Module) -> ok.

same_otp(Address, #{release := Release, version := There}) ->
    case [V || #{release := R, version := V} <- ertslab_inventory:installed(), R =:= Release] of
        [Here | _] when Here =/= There ->
            ertslab_error:failure("~ts has OTP ~ts, and here it is ~ts; build the same on both.",
                                  [Address, There, Here]);
        _ -> ok
    end.

%% A sweep has many arms, so it tries few cases unless some are asked for.
size(#{swept := null}, false) -> full;
size(#{}, _Quick) -> quick.

budget(#{budget := _, pairs := _}) -> ertslab_error:usage("give --budget or --pairs, not both", []);
budget(#{budget := _, quick := true}) -> ertslab_error:usage("give --budget or --quick, not both", []);
budget(#{budget := Text}) ->
    _ = duration(Text),
    #{given => ertslab_error:text(Text)};
budget(#{}) -> null.

same_within(#{same_within := Text}) ->
    case re:run(Text, "^(\\d+(?:\\.\\d+)?)%$", [{capture, all_but_first, list}]) of
        {match, [Digits]} -> within(Text, number(Digits) / 100);
        nomatch -> no_percentage(Text)
    end;
same_within(#{}) -> ?SAME_WITHIN.

number(Digits) ->
    case string:to_float(Digits) of
        {Float, _} when is_float(Float) -> Float;
        {error, no_float} -> list_to_integer(Digits)
    end.

within(_Text, Share) when Share > 0, Share < 1 -> Share;
within(Text, _Share) -> no_percentage(Text).

-spec no_percentage(string()) -> no_return().
no_percentage(Text) ->
    ertslab_error:usage("--same-within ~ts: a percentage above 0% and below 100% is wanted, as 2%",
                        [Text]).

pairs(#{pairs := _, quick := true}, _) -> ertslab_error:usage("give --pairs or --quick, not both", []);
pairs(#{pairs := Pairs}, _) -> Pairs;
pairs(#{}, #{exact := true}) -> ?EXACT_PAIRS;
pairs(#{}, #{quick := true}) -> ?QUICK_PAIRS;
pairs(#{}, #{estimator := typical}) -> ?TYPICAL_PAIRS;
pairs(#{}, #{rounds := cases}) -> ?FLOOR_PAIRS;
pairs(#{}, #{}) -> ?LARGE_FLOOR_PAIRS.

%% @doc The plan with so many pairs, which must be enough for a verdict.
-spec with_pairs(ertslab_session:plan(), non_neg_integer()) -> ertslab_session:plan().
with_pairs(#{builds := Builds}, Pairs) when Builds > 1, Builds > Pairs ->
    ertslab_error:usage("--builds ~b: with ~b pairs, not every build would be measured", [Builds, Pairs]);
with_pairs(Plan, Pairs) ->
    case least_pairs(Plan) of
        Least when Pairs >= Least -> Plan#{pairs => Pairs};
        Least -> too_few(Plan, Pairs, Least)
    end.

%% Holm multiplies each p by the number of comparisons: with fewer pairs than this no
%% verdict could ever be `changed'.
least_pairs(#{exact := true}) -> ?EXACT_PAIRS;
least_pairs(#{quick := true}) -> ?QUICK_PAIRS;
least_pairs(#{estimator := Estimator} = Plan) ->
    max(?LEAST_PAIRS, ertslab_estimator:min_pairs(Estimator, 1 - ?LEVEL / comparisons(Plan))).

%% @doc How many ratios are judged together.
-spec comparisons(ertslab_session:plan()) -> pos_integer().
comparisons(#{cases := Cases, metrics := Metrics, arms := Arms} = Plan) ->
    (length(Cases) + overalls(Plan)) * length(Metrics) * (length(Arms) - 1).

overalls(#{overall := true, exact := false, cases := [_, _ | _]}) -> 1;
overalls(#{}) -> 0.

-spec too_few(ertslab_session:plan(), non_neg_integer(), pos_integer()) -> no_return().
too_few(#{exact := true}, Pairs, Least) ->
    ertslab_error:usage("--pairs ~b: at least ~b runs show that a count is exact", [Pairs, Least]);
too_few(#{budget := #{given := Given}} = Plan, Pairs, Least) ->
    ertslab_error:usage("--budget ~ts is enough for ~b pairs, and the statistics want at least ~b for"
                        " these ~b comparisons; give more time, or fewer variants and cases",
                        [Given, Pairs, Least, comparisons(Plan)]);
too_few(Plan, Pairs, Least) ->
    ertslab_error:usage("--pairs ~b: the statistics want at least ~b for these ~b comparisons"
                        " (or --quick: ~b pairs and a first impression)",
                        [Pairs, Least, comparisons(Plan), ?QUICK_PAIRS]).

%% @doc Seconds, minutes or hours ("90s", "20m", "1h") in milliseconds.
-spec duration(string()) -> pos_integer().
duration(Text) ->
    case string:to_integer(Text) of
        {Number, Unit} when is_integer(Number), Number > 0 -> Number * unit(Unit, Text);
        _ -> no_duration(Text)
    end.

unit("s", _) -> 1000;
unit("m", _) -> 60_000;
unit("h", _) -> 3_600_000;
unit(_, Text) -> no_duration(Text).

-spec no_duration(string()) -> no_return().
no_duration(Text) -> ertslab_error:usage("'~ts' is no duration; write 90s, 20m or 1h", [Text]).
