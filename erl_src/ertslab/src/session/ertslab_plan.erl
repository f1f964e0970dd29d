%% @doc The plan of a comparison: its arms, cases and pairs, as they
%% are written to session.json before the first run.
-module(ertslab_plan).

-export([of_call/1, compare/1, sweep/1, time/1, check/1, check_pairs/4, with_pairs/2, least_pairs/1, comparisons/1, runs_of_pair/1,
         measuring_ms/1, pilot_pairs/0, used_share/0]).
-export([format_error/1]).
-export_type([reason/0]).

-type reason() :: no_comparison | {expression_twice, Label :: binary()} | {one_value, Name :: string()}
                | {other_code, Address :: string(), Dir :: file:filename()}
                | {other_otp, Address :: string(), There :: binary(), Here :: binary()}
                | {not_both, Option :: string(), Other :: string()}
                | {too_many_builds, Builds :: pos_integer(), Pairs :: non_neg_integer()}
                | {too_few_to_be_exact, Pairs :: non_neg_integer(), Least :: pos_integer()}
                | {too_little_time, Given :: binary(), Pairs :: non_neg_integer(), PairMs :: number(), Least :: pos_integer(),
                   Comparisons :: pos_integer()}
                | {too_few_pairs, Pairs :: non_neg_integer(), Least :: pos_integer(), Comparisons :: pos_integer()}.

%% The part of a plan that its number of pairs depends on.
-type extent() :: #{exact := boolean(), quick := boolean(), overall := boolean(), estimator := ertslab_estimate:name(), cases := [_],
                    metrics := [_], arms := [_], _ => _}.

-define(QUICK_PAIRS, 6).
-define(EXACT_PAIRS, 3).
-define(LEAST_PAIRS, 10).
%% Of a budget, this many pairs are the pilot, and this share of what is left is planned for; the rest is for pairs that
%% must be measured again.
-define(PILOT_PAIRS, 3).
-define(USED_SHARE, 0.9).
%% A budget that is proposed has room for what comes before the pilot, and for pairs that take longer than the pilot's.
-define(ROOM, 1.25).
-define(RUN_MS, 1000).
-define(QUICK_RUN_MS, 300).
-define(LEVEL, 0.05).
-define(SAME_WITHIN, 0.01).

%% @doc The plan of a call.
-spec of_call(map()) -> ertslab_session:plan().
of_call(#{command := compare} = Options) -> compare(Options);
of_call(#{command := sweep} = Options) -> sweep(Options);
of_call(#{command := time} = Options) -> time(Options).

%% @doc The plan of `ertslab compare'.
-spec compare(map()) -> ertslab_session:plan().
compare(#{experiment := Name} = Options) ->
    Module = ertslab_parameters:module(Name),
    ertslab_experiment_source:is_elsewhere(Module) orelse ertslab_experiment_parts:are_here(Module) orelse
        ertslab_paths:wants_the_lab(["the experiment ", Name]),
    Info = ertslab_parameters:info(Module),
    {Arms, Control} = ertslab_arms:of_options(Options, Info),
    plan(Options, Module, Info, Arms, #{labelled => <<"variant">>, swept => null, control => Control}).

%% @doc The plan of `ertslab sweep': the arms are values of one parameter, and
%% the first value once more as the control.
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
         #{labelled => <<"value">>, swept => Parameter, control => Control}).

%% @doc The plan of `ertslab time': the arms are expressions, each on each VM.
-spec time(map()) -> ertslab_session:plan().
time(#{expressions := Given} = Options) ->
    Texts = [ertslab_expressions:source(Text) || Text <- Given],
    Name = ertslab_expressions:experiment(Texts, ertslab_expressions:source(maps:get(init, Options, ""))),
    Module = ertslab_parameters:module(Name),
    VMs = ertslab_arms:named(Options),
    [First | Rest] = [#{label => expression_label(Text, Label, VMs), variant => maps:get(name, VM),
                        params => #{expression => Nth}, vm => VM}
                      || {Label, VM} <- VMs, {Nth, Text} <- lists:enumerate(Texts)],
    Rest =/= [] orelse ertslab_error:usage(?MODULE, no_comparison),
    Labels = [Label || #{label := Label} <- [First | Rest]],
    _ = [ertslab_error:usage(?MODULE, {expression_twice, Label})
         || Label <- Labels -- lists:uniq(Labels)],
    {Controls, Control} = control_arm(First, Options),
    plan(Options#{experiment => Name}, Module, ertslab_parameters:info(Module), [First | Controls ++ Rest],
         #{labelled => <<"expression">>, swept => null, control => Control, outputs => noted}).

expression_label(Text, _, [_]) -> ertslab_expressions:on_one_line(Text);
expression_label(Text, Label, _) -> ertslab_text:binary([ertslab_expressions:on_one_line(Text), " on ", Label]).

control_arm(_First, #{no_control := true}) -> {[], null};
control_arm(First, _) ->
    #{label := Label} = Control = ertslab_arms:control_of(First),
    {[Control], Label}.

arm_label(Parameter, Value) -> ertslab_text:binary(io_lib:format("~ts=~p", [Parameter, Value])).

swept(Info, {Name, _} = Over) ->
    Cases = ertslab_parameters:cases(Info, quick, [Over]),
    Parameter = list_to_existing_atom(Name),
    case lists:uniq([maps:get(Parameter, Case) || Case <- Cases]) of
        [_, _ | _] = Values -> {Parameter, Values};
        _ -> ertslab_error:usage(?MODULE, {one_value, Name})
    end.

%% The cases that are in memory at once: those of a run, or of all arms that take turns.
held(#{rounds := cases}, Cases, Arms) -> [[maps:merge(Case, Params) || Case <- Cases] || #{params := Params} <- Arms];
held(#{rounds := arms}, Cases, Arms) -> [[maps:merge(Case, Params) || #{params := Params} <- Arms] || Case <- Cases];
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
             #{format => ertslab_session:format(), experiment => ertslab_text:binary(maps:get(experiment, Options)),
               module => Module, code => ertslab_experiment_source:digest(Module), title => ertslab_text:binary(Title),
               otp => versions(Arms), quick => Quick, exact => Exact,
               estimator => estimator(Options, Info), rounds => maps:get(rounds, Info),
               run_ms => run_ms(Info, Quick),
               overall => maps:get(overall, Info, false), plot_over => plot_over(Labels, Info),
               same_within => maps:get(same_within, Options, ?SAME_WITHIN), budget => budget(Options),
               replace_disturbed => not (Quick orelse Exact)
                   andalso ertslab_estimate:is_replacing_disturbed(estimator(Options, Info), maps:get(rounds, Info)),
               builds => builds(Options),
               seed => maps:get(seed, Options, rand:uniform(1 bsl 31)),
               seed_given => is_map_key(seed, Options),
               cases => Cases,
               arms => Arms, baseline => 0, baseline_label => BaselineLabel,
               metrics => [#{name => N, doc => ertslab_text:binary(D), unit => maps:get(unit, M, ns)}
                           || #{name := N, doc := D} = M <- Metrics],
               contrasts => [C#{says := ertslab_text:binary(S)} || #{says := S} = C <- Contrasts],
               timeout_ms => Timeout, host => address(VM),
               machine => ertslab_vm:on_its_machine(VM, ertslab_host, machine, []),
               manifest => ertslab_arms:manifest(Arms),
               command => [ertslab_text:binary(Word) || Word <- ertslab_call:words(Options)]}),
    case Options of
        #{budget := _} -> Plan#{pairs => ?LEAST_PAIRS};
        #{} -> with_pairs(Plan, pairs(Options, Plan))
    end.

versions(Arms) ->
    iolist_to_binary(lists:join(", ", lists:uniq([Version || #{vm := #{version := Version}} <- Arms]))).

%% A sweep has a plot of its own.
plot_over(#{swept := null}, #{plot_over := Parameter}) -> Parameter;
plot_over(#{}, _Info) -> null.

address(#{host := #{address := Address}}) -> ertslab_text:binary(Address);
address(#{}) -> null.

estimator(#{builds := Builds}, #{estimator := Estimator}) when Builds > 1 -> ertslab_estimate:for_builds(Estimator);
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
    case ertslab_vm:on_its_machine(VM, ertslab_fingerprint, of_code, [Module]) =:=
        ertslab_fingerprint:of_code(Module) of
        true -> ok;
        false -> ertslab_error:failure(?MODULE, {other_code, Address, Dir})
    end;
same_code(#{}, _Module) -> ok.

same_otp(Address, #{release := Release, version := There}) ->
    case [V || #{release := R, version := V} <- ertslab_inventory:installed(), R =:= Release] of
        [Here | _] when Here =/= There -> ertslab_error:failure(?MODULE, {other_otp, Address, There, Here});
        _ -> ok
    end.

%% A sweep has many arms, so by default it tries few cases.
size(#{swept := null}, false) -> full;
size(#{}, _Quick) -> quick.

budget(#{budget := _, pairs := _}) -> ertslab_error:usage(?MODULE, {not_both, "--budget", "--pairs"});
budget(#{budget := _, quick := true}) -> ertslab_error:usage(?MODULE, {not_both, "--budget", "--quick"});
budget(#{budget := Ms}) -> #{given => ertslab_text:binary(ertslab_option_types:written(ertslab_option_types:duration(), Ms))};
budget(#{}) -> null.

%% @doc Refuses options that exclude each other, or want what is not here, as far as that does not depend on the experiment.
-spec check(map()) -> ok.
check(Options) ->
    _ = [ertslab_paths:is_checkout() orelse ertslab_paths:wants_the_lab(["--", string:replace(atom_to_list(Name), "_", "-")])
         || Name <- [otp, builds | ertslab_call:of_machines()], is_map_key(Name, Options)],
    _ = {budget(Options), pairs(Options, #{exact => true})},
    ok.

pairs(#{pairs := _, quick := true}, _) -> ertslab_error:usage(?MODULE, {not_both, "--pairs", "--quick"});
pairs(#{pairs := Pairs}, _) -> Pairs;
pairs(#{}, #{exact := true}) -> ?EXACT_PAIRS;
pairs(#{}, #{quick := true}) -> ?QUICK_PAIRS;
pairs(#{}, #{estimator := Estimator, rounds := Rounds}) -> ertslab_estimate:pairs(Estimator, Rounds).

%% @doc The plan with that many pairs, which must be enough for a verdict.
-spec with_pairs(ertslab_session:plan(), non_neg_integer()) -> ertslab_session:plan().
with_pairs(#{builds := Builds}, Pairs) when Builds > 1, Builds > Pairs ->
    ertslab_error:usage(?MODULE, {too_many_builds, Builds, Pairs});
with_pairs(Plan, Pairs) ->
    ok = enough(Plan, Pairs),
    Plan#{pairs => Pairs}.

%% @doc Refuses options that allow too few pairs, before there are VMs to compare: that many arms, for these cases.
-spec check_pairs(map(), Info :: map(), Cases :: [ertslab_experiment:params()], Arms :: pos_integer()) -> ok.
check_pairs(#{budget := _}, _, _, _) -> ok;
check_pairs(Options, #{metrics := Metrics, rounds := Rounds} = Info, Cases, Arms) ->
    Extent = #{exact => maps:get(exact, Info, false), quick => maps:get(quick, Options, false), overall => maps:get(overall, Info, false),
               estimator => estimator(Options, Info), rounds => Rounds,
               cases => Cases, metrics => Metrics, arms => lists:duplicate(Arms, arm)},
    enough(Extent, pairs(Options, Extent)).

-spec enough(extent(), non_neg_integer()) -> ok.
enough(Extent, Pairs) ->
    case least_pairs(Extent) of
        Least when Pairs >= Least -> ok;
        Least -> too_few(Extent, Pairs, Least)
    end.

%% @doc The least number of pairs. Holm multiplies each p by the number of comparisons: with fewer pairs no
%% verdict could ever be `changed'.
-spec least_pairs(extent()) -> pos_integer().
least_pairs(#{exact := true}) -> ?EXACT_PAIRS;
least_pairs(#{quick := true}) -> ?QUICK_PAIRS;
least_pairs(#{estimator := Estimator} = Plan) ->
    max(?LEAST_PAIRS, ertslab_estimate:min_pairs(Estimator, 1 - ?LEVEL / comparisons(Plan))).

%% @doc How many ratios are judged together.
-spec comparisons(extent()) -> pos_integer().
comparisons(#{cases := Cases, metrics := Metrics, arms := Arms} = Plan) ->
    (length(Cases) + overalls(Plan)) * length(Metrics) * (length(Arms) - 1).

%% @doc How many pairs of a budget are the pilot.
-spec pilot_pairs() -> pos_integer().
pilot_pairs() -> ?PILOT_PAIRS.

%% @doc The share of what the pilot leaves of a budget that is planned for.
-spec used_share() -> float().
used_share() -> ?USED_SHARE.

%% @doc How many runs a pair has.
-spec runs_of_pair(ertslab_session:plan()) -> pos_integer().
runs_of_pair(#{rounds := cases, arms := Arms}) -> length(Arms);
runs_of_pair(#{cases := Cases, arms := Arms}) -> length(Arms) * length(Cases).

%% @doc How long the runs of a pair measure after their setup, unless their least number of values takes longer.
-spec measuring_ms(ertslab_session:plan()) -> non_neg_integer().
measuring_ms(#{run_ms := RunMs} = Plan) -> runs_of_pair(Plan) * RunMs.

overalls(#{overall := true, exact := false, cases := [_, _ | _]}) -> 1;
overalls(#{}) -> 0.

-spec too_few(extent(), non_neg_integer(), pos_integer()) -> no_return().
too_few(#{exact := true}, Pairs, Least) -> ertslab_error:usage(?MODULE, {too_few_to_be_exact, Pairs, Least});
too_few(#{budget := #{given := Given, pair_ms := PairMs}} = Plan, Pairs, Least) ->
    ertslab_error:usage(?MODULE, {too_little_time, Given, Pairs, PairMs, Least, comparisons(Plan)});
too_few(Plan, Pairs, Least) -> ertslab_error:usage(?MODULE, {too_few_pairs, Pairs, Least, comparisons(Plan)}).

-spec format_error(reason()) -> unicode:chardata().
format_error(no_comparison) -> "a comparison needs two expressions, or two VMs";
format_error({expression_twice, Label}) ->
    ["'", Label, "' is given twice; the first expression is measured twice in any case, as the control"];
format_error({one_value, Name}) -> ["--over ", Name, ": a sweep needs at least two values"];
format_error({other_code, Address, Dir}) -> [Address, ": the ertslab in ", Dir, " is not the same as this one."];
format_error({other_otp, Address, There, Here}) ->
    [Address, " has OTP ", There, ", and here it is ", Here, "; build the same on both."];
format_error({not_both, Option, Other}) -> ["give ", Option, " or ", Other, ", not both"];
format_error({too_many_builds, Builds, Pairs}) ->
    io_lib:format("--builds ~b: with ~b pairs, not every build would be measured", [Builds, Pairs]);
format_error({too_few_to_be_exact, Pairs, Least}) ->
    io_lib:format("--pairs ~b: at least ~b runs show that a count is exact", [Pairs, Least]);
format_error({too_little_time, Given, Pairs, PairMs, Least, Comparisons}) ->
    io_lib:format("--budget ~ts is enough for the pilot and ~b pairs of ~.1f s, but ~ts at least ~b pairs; give ~ts or more,"
                  " or fewer variants and cases",
                  [Given, Pairs, PairMs / 1000, need(Comparisons), Least,
                   written_budget(?ROOM * (?PILOT_PAIRS + Least / ?USED_SHARE) * PairMs)]);
format_error({too_few_pairs, Pairs, Least, Comparisons}) ->
    io_lib:format("--pairs ~b: ~ts at least ~b pairs (or use --quick: ~b pairs, a smoke test)",
                  [Pairs, need(Comparisons), Least, ?QUICK_PAIRS]).

need(1) -> "1 result needs";
need(Results) -> io_lib:format("~b results need", [Results]).

%% In full seconds, or in full minutes from two minutes on.
written_budget(Ms) when Ms =< 120_000 -> duration(ceil(Ms / 1000) * 1000);
written_budget(Ms) -> duration(ceil(Ms / 60_000) * 60_000).

duration(Ms) -> ertslab_option_types:written(ertslab_option_types:duration(), Ms).
